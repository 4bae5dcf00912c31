// The Python side of the core: checks every argument, owns what a step needs, picks the instruction set.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#ifdef __linux__
#include <sys/mman.h>
#endif

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string>

#include "core.h"
#include "helper.h"
#include "laws_alone.h"

namespace py = pybind11;
using namespace actuators;

namespace {

constexpr float kInfinity = INFINITY;
constexpr int64_t kBlock = 384;
constexpr size_t kHugePage = size_t{1} << 21;
// floats between rows of the delay ring: a multiple of a page would send them all to the same lines of the cache
constexpr int64_t kStagger = 272;
// a step shorter than this does not let other Python threads in: switching would cost more than it
constexpr int64_t kWorthReleasing = 8192;
// elements from which on a helper is of use, and into how many chunks they are cut
constexpr int64_t kWorthHelping = 65536, kChunks = 16;

const std::vector<const Variant*>& variants() {
#ifdef ACTUATORS_X86
    static const std::vector<const Variant*> all = {&kAvx512, &kAvx2, &kBaseline};
#else
    static const std::vector<const Variant*> all = {&kBaseline};
#endif
    return all;
}

const Variant& choose_variant() {
    const char* wanted = std::getenv("ACTUATORS_ISA");
    std::string known;
    for (const Variant* one : variants()) {
        known += std::string(known.empty() ? "" : ", ") + one->name;
        if (wanted && *wanted ? wanted == std::string(one->name) : one->available()) {
            if (!one->available())
                throw std::invalid_argument(std::string("ACTUATORS_ISA = ") + wanted +
                                            ": this processor lacks it. Unset it, or take baseline.");
            return *one;
        }
    }
    throw std::invalid_argument(std::string("ACTUATORS_ISA = ") + wanted + ": must be one of " + known + ".");
}

// Memory aligned to cache lines, zero at first.
template <class T>
class Aligned {
  public:
    Aligned() = default;
    explicit Aligned(size_t size, T value = T{}) : size_(size) {
        const size_t bytes = (size * sizeof(T) + 63) / 64 * 64;
        const std::align_val_t alignment{bytes >= kHugePage ? kHugePage : 64};
        data_ = {static_cast<T*>(::operator new(bytes ? bytes : 64, alignment)), Free{alignment}};
#ifdef __linux__
        // many rows far apart would need more small pages than a processor keeps track of
        if (bytes >= kHugePage) madvise(data_.get(), bytes, MADV_HUGEPAGE);
#endif
        std::fill(data_.get(), data_.get() + size, value);
    }
    T* data() const { return data_.get(); }
    size_t size() const { return size_; }
    T& operator[](size_t at) const { return data_.get()[at]; }

  private:
    struct Free {
        std::align_val_t alignment{64};
        void operator()(T* memory) const { ::operator delete(memory, alignment); }
    };
    std::unique_ptr<T, Free> data_;
    size_t size_ = 0;
};

[[noreturn]] void refuse(const std::string& subject, const std::string& rule) {
    throw std::invalid_argument(subject + ": must be " + rule + ".");
}

std::string text(const py::handle& value) {
    return py::str(value).cast<std::string>();
}

template <class T>
py::array_t<T> checked(const std::string& name, const py::object& given, std::vector<py::ssize_t> shape) {
    if (!py::isinstance<py::array>(given)) refuse(name + " = " + text(given), "a NumPy array");
    const auto array = given.cast<py::array>();
    if (!array.dtype().is(py::dtype::of<T>()))
        refuse(name + " has dtype " + text(array.dtype()), text(py::dtype::of<T>()));
    const std::vector<py::ssize_t> has(array.shape(), array.shape() + array.ndim());
    if (has != shape || !(array.flags() & py::array::c_style))
        refuse(name + " has shape " + text(py::tuple(py::cast(has))),
               "contiguous, of shape " + text(py::tuple(py::cast(shape))));
    return given.cast<py::array_t<T>>();
}

// Position, effort and slope of each row of a table as the step reads them.
template <class Column>
Aligned<float> table_rows(const Column& positions, const Column& efforts, int64_t count) {
    Aligned<float> rows(3 * kRepeated * count);
    for (int64_t row = 0; row < count; ++row) {
        float slope = 0.0f;
        if (row + 1 < count) {
            const double width = static_cast<double>(positions[row + 1]) - positions[row];
            slope = static_cast<float>((static_cast<double>(efforts[row + 1]) - efforts[row]) / width);
            // a step, and what is as good as one
            if (!(width > 0) || !std::isfinite(slope)) slope = 0.0f;
        }
        float* numbers = rows.data() + 3 * kRepeated * row;
        std::fill_n(numbers, kRepeated, positions[row]);
        std::fill_n(numbers + kRepeated, kRepeated, efforts[row]);
        std::fill_n(numbers + 2 * kRepeated, kRepeated, slope);
    }
    return rows;
}

// Holds a mutex. Who waits for it lets other Python threads go on, for its holder may need one of them to finish.
class Turn {
  public:
    explicit Turn(std::mutex& mutex) : mutex_(mutex) {
        if (mutex_.try_lock()) return;
        const py::gil_scoped_release release;
        mutex_.lock();
    }
    ~Turn() { mutex_.unlock(); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

  private:
    std::mutex& mutex_;
};

class Core {
  public:
    Core(int64_t robots, int64_t slots, const std::vector<bool>& integral, const std::vector<bool>& delayed,
         int64_t depth, const std::vector<int>& stages, const std::vector<py::tuple>& tables)
        : variant_(choose_variant()), stages_(stages) {
        if (robots < 1 || slots < 1)
            refuse("robots x slots = " + std::to_string(robots) + " x " + std::to_string(slots), "at least 1 x 1");
        if (robots > (int64_t{1} << 40) / slots) refuse("robots x slots", "fewer");
        if (static_cast<int64_t>(integral.size()) != slots || static_cast<int64_t>(delayed.size()) != slots)
            refuse("integral and delayed", "one flag per slot");
        if (depth < 1) refuse("depth = " + std::to_string(depth), ">= 1");
        p_.robots = robots;
        p_.slots = slots;
        for (int64_t slot = 0; slot < slots; ++slot) {
            if (integral[slot]) integral_slots_.push_back(static_cast<int32_t>(slot));
            if (delayed[slot]) delayed_slots_.push_back(static_cast<int32_t>(slot));
        }
        p_.integral_slots = static_cast<int64_t>(integral_slots_.size());
        p_.delayed_slots = static_cast<int64_t>(delayed_slots_.size());
        integral_ = Aligned<float>(robots * p_.integral_slots);
        p_.integral = integral_.data();
        p_.ring.depth = depth_ = depth;
        p_.ring.row_size = robots * p_.delayed_slots;
        p_.ring.pitch = (p_.ring.row_size + 15) / 16 * 16 + (p_.ring.row_size > kBlock ? kStagger : 0);
        ring_ = Aligned<float>(3 * depth * p_.ring.pitch);
        for (int c = 0; c < 3; ++c) p_.ring.rows[c] = ring_.data() + c * depth * p_.ring.pitch;
        fresh_.assign(robots, 1);
        latched_.assign((robots * slots + 63) / 64, 0);
        rows_.resize(kControlRows + 3 * stages.size());
        for (size_t row = 0; row < rows_.size(); ++row) rows_[row].values.assign(slots, neutral(row));
        lag_.assign(slots, 0);
        for (const int kind : stages)
            if (kind < 0 || kind > 2)
                refuse("stage = " + std::to_string(kind), "0 (DC motor), 1 (table) or 2 (max effort)");
        for (const py::tuple& one : tables) add_table(one);
        p_.guard = &guard_;
        p_.faults = &found_;
        p_.waiting = &waiting_;
    }

    void share(size_t row, const py::object& values) {
        const auto array = checked<float>("values of row " + std::to_string(row), values, {p_.slots});
        const Turn turn(busy_);
        at(row).values.assign(array.data(), array.data() + p_.slots);
        at(row).own = py::none();
        changed_ = true;
    }

    void own(size_t row, const py::object& values) {
        checked<float>("values of row " + std::to_string(row), values, {p_.robots, p_.slots});
        const Turn turn(busy_);
        at(row).own = values;
        changed_ = true;
    }

    void share_lag(const py::object& values) {
        const auto array = checked<int32_t>("lag", values, {p_.slots});
        const Turn turn(busy_);
        lag_.assign(array.data(), array.data() + p_.slots);
        own_lag_ = py::none();
        changed_ = true;
    }

    void own_lag(const py::object& values) {
        checked<int32_t>("lag", values, {p_.robots, p_.slots});
        const Turn turn(busy_);
        own_lag_ = values;
        changed_ = true;
    }

    void bind(const std::vector<py::object>& inputs, const py::object& efforts, const std::vector<int32_t>& columns) {
        if (inputs.size() != kSignals) refuse("inputs", "positions, velocities, both targets and feedforward");
        if (static_cast<int64_t>(columns.size()) != p_.slots) refuse("columns", "one per slot");
        std::vector<py::object> kept = inputs;
        kept.push_back(efforts);
        const Turn turn(busy_);
        Problem next = p_;
        for (int s = 0; s <= kSignals; ++s) {
            const bool output = s == kSignals;
            const std::string name = output ? "efforts" : "input " + std::to_string(s);
            if (!py::isinstance<py::array>(kept[s])) refuse(name + " = " + text(kept[s]), "a NumPy array");
            auto array = kept[s].cast<py::array>();
            if (!array.dtype().is(py::dtype::of<float>()))
                refuse(name + " has dtype " + text(array.dtype()), "float32");
            if (array.ndim() != 2 || array.shape(0) != p_.robots)
                refuse(name + " has shape " + text(array.attr("shape")), "(robots, DOFs)");
            if (array.strides(1) != sizeof(float) && array.shape(1) > 1) refuse(name, "contiguous within a row");
            if (array.strides(0) % static_cast<py::ssize_t>(sizeof(float)) || array.strides(0) < 0)
                refuse(name, "made of rows a multiple of 4 bytes apart");
            if (output && !array.writeable()) refuse(name, "writeable");
            for (const int32_t column : columns)
                if (column < 0 || column >= array.shape(1))
                    refuse("column = " + std::to_string(column),
                           "one of the " + std::to_string(array.shape(1)) + " columns of " + name);
            const int64_t pitch = array.strides(0) / static_cast<py::ssize_t>(sizeof(float));
            if (output) {
                if (p_.robots > 1 && pitch < array.shape(1)) refuse(name, "made of rows that do not overlap");
                next.efforts = static_cast<float*>(array.mutable_data());
                next.efforts_pitch = pitch;
            } else {
                next.input[s] = static_cast<const float*>(array.data());
                next.pitch[s] = pitch;
            }
        }
        std::vector<int32_t> sorted = columns;
        std::sort(sorted.begin(), sorted.end());
        if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) refuse("columns", "all different");
        p_ = next;
        arrays_ = kept;
        columns_ = columns;
        changed_ = true;
    }

    void step(float dt) { run(Phase::kWhole, dt); }

    // A step in two halves, with what `hand_over` names between them.
    void command(float dt) { run(Phase::kCommand, dt); }
    void limit() { run(Phase::kLimit, p_.dt); }

    // After `command`: the state is what it was before.
    void take_back() {
        const Turn turn(busy_);
        if (!before_.taken) throw std::runtime_error("no command to take back. Call command() first.");
        std::copy_n(before_.integral.data(), integral_.size(), integral_.data());
        std::copy_n(before_.ring.data(), ring_.size(), ring_.data());
        fresh_ = before_.fresh;
        waiting_ = before_.waiting;
        any_fresh_ = true;
        p_.ring.head = before_.head;
        before_.taken = false;
    }

    // Lay down five signals, fault codes of the inputs and efforts before the limits between the halves of a step.
    void hand_over(const std::vector<py::object>& signals, const py::object& bad, const py::object& efforts) {
        if (signals.size() != kSignals) refuse("signals", "positions, velocities, both targets and feedforward");
        Handover next;
        for (int s = 0; s < kSignals; ++s)
            next.signals[s] =
                checked<float>("signal " + std::to_string(s), signals[s], {p_.robots, p_.slots}).mutable_data();
        next.bad = checked<int32_t>("bad", bad, {p_.robots, p_.slots}).mutable_data();
        next.efforts = checked<float>("efforts", efforts, {p_.robots, p_.slots}).mutable_data();
        std::vector<py::object> kept = signals;
        kept.insert(kept.end(), {bad, efforts});
        const Turn turn(busy_);
        p_.handover = next;
        handed_over_ = kept;
        before_.integral = Aligned<float>(integral_.size());
        before_.ring = Aligned<float>(ring_.size());
        changed_ = true;
    }

    // Seconds per step without Python in between.
    double time_steps(int count, float dt) {
        const auto start = std::chrono::steady_clock::now();
        for (int k = 0; k < count; ++k) step(dt);
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / count;
    }

    void reset(const std::optional<std::vector<int64_t>>& robots) {
        const Turn turn(busy_);
        if (!robots) {
            std::fill(fresh_.begin(), fresh_.end(), 1);
            faults_.clear();
            std::fill(latched_.begin(), latched_.end(), 0);
            p_.step = 0;
        } else {
            for (const int64_t robot : *robots)
                if (robot < 0 || robot >= p_.robots)
                    refuse("robot = " + std::to_string(robot), "below " + std::to_string(p_.robots));
            for (const int64_t robot : *robots) fresh_[robot] = 1;
            const auto forgotten = std::remove_if(faults_.begin(), faults_.end(), [&](const Fault& fault) {
                if (std::find(robots->begin(), robots->end(), fault.robot) == robots->end()) return false;
                const int64_t element = fault.robot * p_.slots + fault.slot;
                latched_[element / 64] &= ~(uint64_t{1} << element % 64);
                return true;
            });
            faults_.erase(forgotten, faults_.end());
        }
        any_fresh_ = true;
    }

    py::list faults() const {
        py::list all;
        const Turn turn(busy_);
        for (const Fault& fault : faults_) all.append(py::make_tuple(fault.robot, fault.slot, fault.code, fault.step));
        return all;
    }

    py::dict save() const {
        py::dict saved;
        const Turn turn(busy_);
        saved["integral"] = py::array_t<float>(integral_.size(), integral_.data());
        saved["ring"] = py::array_t<float>(ring_.size(), ring_.data());
        saved["head"] = numbers({p_.ring.head, p_.step, p_.ring.swaps});
        saved["fresh"] = py::array_t<uint8_t>(fresh_.size(), fresh_.data());
        saved["waiting"] = numbers(waiting_);
        std::vector<int64_t> flat;
        for (const Fault& fault : faults_) flat.insert(flat.end(), {fault.robot, fault.slot, fault.code, fault.step});
        saved["faults"] = numbers(flat);
        return saved;
    }

    // Take over what `save` returned; sizes are checked first.
    void restore(const py::dict& saved) {
        const auto integral =
            checked<float>("integral", saved["integral"], {static_cast<py::ssize_t>(integral_.size())});
        const auto ring = checked<float>("ring", saved["ring"], {static_cast<py::ssize_t>(ring_.size())});
        const auto fresh = checked<uint8_t>("fresh", saved["fresh"], {static_cast<py::ssize_t>(fresh_.size())});
        const auto head = numbers_of(saved, "head"), waiting = numbers_of(saved, "waiting"),
                   faults = numbers_of(saved, "faults");
        if (head.size() != 3 || head[0] < 0 || head[0] >= depth_ - (head[2] ? 1 : 0))
            refuse("head", "a row of the delay ring and a step");
        for (const int64_t element : waiting)
            if (element < 0 || element >= p_.ring.row_size) refuse("waiting", "delayed elements");
        for (size_t k = 0; k + 3 < faults.size(); k += 4)
            if (faults[k] < 0 || faults[k] >= p_.robots || faults[k + 1] < 0 || faults[k + 1] >= p_.slots)
                refuse("faults", "of these robots");
        const Turn turn(busy_);
        std::copy(integral.data(), integral.data() + integral_.size(), integral_.data());
        std::copy(ring.data(), ring.data() + ring_.size(), ring_.data());
        fresh_.assign(fresh.data(), fresh.data() + fresh_.size());
        any_fresh_ = true;
        p_.ring.head = head[0];
        p_.step = head[1];
        // the next step brings it into the form it wants
        p_.ring.swaps = head[2] != 0;
        p_.ring.depth = depth_ - (p_.ring.swaps ? 1 : 0);
        changed_ = true;
        waiting_ = waiting;
        faults_.clear();
        std::fill(latched_.begin(), latched_.end(), 0);
        for (size_t k = 0; k + 3 < faults.size(); k += 4)
            latch({faults[k], static_cast<int32_t>(faults[k + 1]), static_cast<int32_t>(faults[k + 2]), faults[k + 3]});
    }

    // Record the effort before the limits and the stage that changed it last, in arrays (robots, slots), or stop.
    void observe(const py::object& computed, const py::object& limited_by) {
        if (!computed.is_none()) {
            checked<float>("computed", computed, {p_.robots, p_.slots});
            checked<uint8_t>("limited_by", limited_by, {p_.robots, p_.slots});
        }
        const Turn turn(busy_);
        observed_ = {computed, limited_by};
        p_.computed = computed.is_none() ? nullptr : computed.cast<py::array_t<float>>().mutable_data();
        p_.limited_by = computed.is_none() ? nullptr : limited_by.cast<py::array_t<uint8_t>>().mutable_data();
        changed_ = true;
    }

    std::string variant() const { return variant_.name; }

    std::string layout() {
        if (changed_) prepare();
        return p_.layout == Layout::kDirect ? "direct" : p_.layout == Layout::kGaps ? "gaps" : "gather";
    }

    // Bytes held beyond the arrays bound.
    size_t memory() const {
        size_t bytes = integral_.size() * 4 + scratch_.size() * 4 + fresh_.size() + latched_.size() * 8;
        bytes += ring_.size() * 4;
        for (const auto& pattern : patterns_) bytes += pattern.size() * 4;
        return bytes;
    }

  private:
    enum ControlRow { kKp, kKd, kBias, kKi, kIntegralMax, kControlRows };

    struct RowValues {
        std::vector<float> values;
        py::object own = py::none();
    };

    struct TableValues {
        int stage;
        std::vector<float> positions, efforts;
        // slots that use it; empty when all do
        std::vector<int32_t> slots;
        // as the step reads them
        Aligned<float> rows;
        std::vector<int32_t> places;
    };

    static float neutral(size_t row) { return row < kControlRows ? 0.0f : kInfinity; }

    static py::array_t<int64_t> numbers(const std::vector<int64_t>& values) {
        return py::array_t<int64_t>(values.size(), values.data());
    }

    static std::vector<int64_t> numbers_of(const py::dict& saved, const char* name) {
        const auto array = saved[name].cast<py::array_t<int64_t, py::array::c_style>>();
        return std::vector<int64_t>(array.data(), array.data() + array.size());
    }

    RowValues& at(size_t row) {
        if (row >= rows_.size()) refuse("row = " + std::to_string(row), "below " + std::to_string(rows_.size()));
        return rows_[row];
    }

    void add_table(const py::tuple& given) {
        if (given.size() != 4) refuse("table", "(stage, positions, efforts, slots)");
        TableValues t{
            given[0].cast<int>(), given[1].cast<std::vector<float>>(), given[2].cast<std::vector<float>>(), {}, {}, {}};
        const auto used = given[3].cast<std::vector<bool>>();
        const size_t count = t.positions.size();
        if (!count || t.efforts.size() != count) refuse("table", "as many efforts as positions, at least one");
        if (t.stage < 0 || t.stage >= static_cast<int>(stages_.size()) || stages_[t.stage] != 1)
            refuse("stage of a table", "a table stage");
        if (!used.empty() && static_cast<int64_t>(used.size()) != p_.slots)
            refuse("slots of a table", "one flag per slot");
        for (size_t slot = 0; slot < used.size(); ++slot)
            if (used[slot]) t.slots.push_back(static_cast<int32_t>(slot));
        if (!used.empty() && t.slots.empty()) return;
        t.rows = table_rows(t.positions, t.efforts, static_cast<int64_t>(count));
        tables_.push_back(std::move(t));
    }

    void prepare() {
        if (arrays_.empty()) throw std::runtime_error("not bound to arrays. Call bind() first.");
        const int32_t first = *std::min_element(columns_.begin(), columns_.end()),
                      last = *std::max_element(columns_.begin(), columns_.end());
        const bool neighbours = std::is_sorted(columns_.begin(), columns_.end()) && last - first + 1 == p_.slots;
        bool even = true, own = !own_lag_.is_none() || p_.computed || p_.handover.bad;
        for (const int64_t pitch : p_.pitch) even &= pitch == p_.efforts_pitch;
        for (const RowValues& row : rows_) own |= !row.own.is_none();
        if (neighbours && (p_.robots == 1 || (even && p_.efforts_pitch == p_.slots))) {
            p_.layout = Layout::kDirect;
        } else if (even && !own && !swaps() && std::is_sorted(columns_.begin(), columns_.end()) &&
                   4 * p_.slots >= p_.efforts_pitch && p_.robots > 1) {
            p_.layout = Layout::kGaps;
        } else {
            p_.layout = Layout::kGather;
        }
        p_.period = p_.layout == Layout::kGaps ? p_.efforts_pitch : p_.slots;
        p_.robots_per_block = std::min(p_.robots, std::max<int64_t>(1, kBlock / p_.period));
        p_.columns = columns_.data();
        find_picks();

        slot_of_.assign(p_.period, -1);
        for (int64_t slot = 0; slot < p_.slots; ++slot)
            slot_of_[p_.layout == Layout::kGaps ? columns_[slot] - first : slot] = static_cast<int32_t>(slot);
        p_.slot_of = slot_of_.data();
        places_of(integral_slots_, integral_places_);
        places_of(delayed_slots_, delayed_places_);
        p_.integral_places = integral_places_.data();
        p_.delayed_places = delayed_places_.data();

        patterns_.clear();
        std::vector<Row> rows;
        for (size_t row = 0; row < rows_.size(); ++row) rows.push_back(row_of(row));
        p_.kp = rows[kKp], p_.kd = rows[kKd], p_.bias = rows[kBias], p_.ki = rows[kKi],
        p_.integral_max = rows[kIntegralMax];
        std::vector<bool> every(p_.slots, true);
        driven_ = flags(every);
        p_.driven = driven_.data();
        prepare_limits(rows);
        prepare_lag();
        scratch_ =
            Aligned<float>((helped_ ? 2 : 1) * kScratchArrays * ((p_.robots_per_block * p_.period + 15) / 16 * 16));
        changed_ = false;
    }

    // The columns in eights, as long as two windows hold each eight.
    void find_picks() {
        picks_.clear();
        for (size_t first = 0; first < columns_.size(); first += 8) {
            const size_t count = std::min<size_t>(8, columns_.size() - first);
            const int32_t* columns = columns_.data() + first;
            Pick pick{};
            pick.begin[0] = pick.begin[1] = *std::min_element(columns, columns + count);
            int32_t next = INT32_MAX;
            for (size_t k = 0; k < count; ++k)
                if (columns[k] >= pick.begin[0] + 8) next = std::min(next, columns[k]);
            if (next < INT32_MAX) pick.begin[1] = next;
            for (size_t k = 0; k < count; ++k) {
                const int window = columns[k] >= pick.begin[0] + 8;
                const int64_t lane = columns[k] - pick.begin[window];
                if (lane > 7) return picks_.clear(), set_picks();
                pick.lane[window][k] = static_cast<int32_t>(lane);
                pick.second[k] = -window;
            }
            picks_.push_back(pick);
        }
        set_picks();
    }

    void set_picks() {
        p_.picks = picks_.data();
        p_.pick_count = static_cast<int64_t>(picks_.size());
    }

    // Stages go into sweeps as long as their kinds ascend.
    void prepare_limits(const std::vector<Row>& rows) {
        p_.limits.clear();
        int before = 3;
        for (size_t stage = 0; stage < stages_.size(); ++stage) {
            if (stages_[stage] <= before) p_.limits.emplace_back();
            Limits& limits = p_.limits.back();
            const Row* values = &rows[kControlRows + 3 * stage];
            before = stages_[stage];
            if (before == 0) {
                limits.dc_motor = true, limits.stall = values[0], limits.no_load_velocity = values[1],
                limits.peak = values[2];
                if (!values[0].own && !values[1].own && !values[2].own) {
                    patterns_.emplace_back(p_.robots_per_block * p_.period);
                    limits.speed_factors = patterns_.back().data();
                    variant_.speed_factors(values[0].shared, values[1].shared, values[2].shared,
                                           patterns_.back().data(), patterns_.back().size());
                }
            }
            if (before == 2) limits.max_effort = true, limits.largest = values[0];
            if (before == 1) {
                limits.table = true;
                for (TableValues& t : tables_) {
                    if (t.stage != static_cast<int>(stage)) continue;
                    places_of(t.slots, t.places);
                    limits.tables.push_back({static_cast<int>(t.positions.size()), t.rows.data(),
                                             t.slots.empty() ? nullptr : t.places.data(),
                                             static_cast<int64_t>(t.slots.size())});
                }
            }
        }
    }

    void prepare_lag() {
        Ring& ring = p_.ring;
        shared_lag_ = Aligned<int32_t>(p_.robots_per_block * p_.period);
        for (size_t i = 0; i < shared_lag_.size(); ++i) {
            const int32_t slot = slot_of_[i % p_.period];
            shared_lag_[i] = slot < 0 ? 0 : lag_[slot];
        }
        ring.shared_lag = shared_lag_.data();
        ring.own_lag = own_lag_.is_none() ? nullptr : own_lag_.cast<py::array_t<int32_t>>().data();
        ring.uniform =
            ring.own_lag || delayed_slots_.empty() ? -1 : std::clamp<int64_t>(lag_[delayed_slots_[0]], 0, depth_ - 1);
        for (const int32_t slot : delayed_slots_)
            if (lag_[slot] != lag_[delayed_slots_[0]]) ring.uniform = -1;
        arrange_ring(swaps());
    }

    // Whether all slots share the longest lag, so that the row read is the one written next.
    bool swaps() const {
        const auto longest = [this](int32_t slot) { return lag_[slot] == depth_ - 1; };
        return own_lag_.is_none() && depth_ > 1 && p_.delayed_slots == p_.slots &&
               std::all_of(delayed_slots_.begin(), delayed_slots_.end(), longest);
    }

    // Bring the delay ring into one of its two forms, with or without a row beyond the longest lag; nothing is
    // forgotten.
    void arrange_ring(bool swaps) {
        Ring& ring = p_.ring;
        if (ring.swaps == swaps) return;
        const int64_t before = ring.depth, after = depth_ - (swaps ? 1 : 0), head = ring.head;
        const std::vector<float> old(ring_.data(), ring_.data() + ring_.size());
        for (int64_t c = 0; c < 3; ++c) {
            const float* from = old.data() + c * depth_ * ring.pitch;
            for (int64_t age = 0; age < after; ++age) {
                const int64_t row = (head - std::min(age, before - 1) + before) % before;
                std::copy_n(from + row * ring.pitch, ring.row_size, ring.rows[c] + (after - 1 - age) * ring.pitch);
            }
        }
        ring.swaps = swaps;
        ring.depth = after;
        ring.head = after - 1;
    }

    void places_of(const std::vector<int32_t>& slots, std::vector<int32_t>& places) const {
        places.clear();
        for (int64_t robot = 0; robot < p_.robots_per_block; ++robot)
            for (const int32_t slot : slots) {
                const auto place = std::find(slot_of_.begin(), slot_of_.end(), slot) - slot_of_.begin();
                places.push_back(static_cast<int32_t>(robot * p_.period + place));
            }
    }

    Row row_of(size_t number) {
        const RowValues& row = rows_[number];
        if (!row.own.is_none()) return {nullptr, row.own.cast<py::array_t<float>>().data()};
        Aligned<float> pattern(p_.robots_per_block * p_.period);
        for (size_t i = 0; i < pattern.size(); ++i) {
            const int32_t slot = slot_of_[i % p_.period];
            pattern[i] = slot < 0 ? neutral(number) : row.values[slot];
        }
        patterns_.push_back(std::move(pattern));
        return {patterns_.back().data(), nullptr};
    }

    Aligned<int32_t> flags(const std::vector<bool>& slots) const {
        Aligned<int32_t> repeated(p_.robots_per_block * p_.period);
        for (size_t i = 0; i < repeated.size(); ++i) {
            const int32_t slot = slot_of_[i % p_.period];
            repeated[i] = slot >= 0 && slots[slot];
        }
        return repeated;
    }

    void run(Phase phase, float dt) {
        if (phase != Phase::kWhole && !p_.handover.bad)
            throw std::runtime_error("nothing stands between the halves of a step. Call hand_over() first.");
        if (p_.robots * p_.slots < kWorthReleasing) {
            const Turn turn(busy_);
            if (changed_) prepare();
            return run_now(phase, dt);
        }
        for (;;) {
            if (changed_) {
                const Turn turn(busy_);
                prepare();
            }
            const py::gil_scoped_release release;
            const std::lock_guard<std::mutex> lock(busy_);
            // another thread may have changed something in between
            if (!changed_) return run_now(phase, dt);
        }
    }

    void run_now(Phase phase, float dt) {
        p_.dt = dt;
        p_.phase = phase;
        if (phase == Phase::kCommand) remember();
        if (phase != Phase::kLimit) go_on();
        run_blocks();
        if (phase == Phase::kCommand) return;
        for (const Fault& fault : found_) latch(fault);
        found_.clear();
        ++p_.step;
    }

    // Keep the state for `take_back`.
    void remember() {
        std::copy_n(integral_.data(), integral_.size(), before_.integral.data());
        std::copy_n(ring_.data(), ring_.size(), before_.ring.data());
        before_.fresh = fresh_;
        before_.waiting = waiting_;
        before_.head = p_.ring.head;
        before_.taken = true;
    }

    // What a new step begins with: fresh robots, and the next row of the delay ring.
    void go_on() {
        if (any_fresh_) start_over();
        for (size_t k = 0; k < waiting_.size();) {
            if (fill(waiting_[k])) {
                waiting_[k] = waiting_.back();
                waiting_.pop_back();
            } else {
                ++k;
            }
        }
        Ring& ring = p_.ring;
        ring.head = ring.head + 1 == ring.depth ? 0 : ring.head + 1;
    }

    void run_blocks() {
        const int64_t blocks = (p_.robots + p_.robots_per_block - 1) / p_.robots_per_block;
        if (helped_ && p_.robots * p_.slots >= kWorthHelping) {
            const int64_t each = (blocks + kChunks - 1) / kChunks;
            Helper::instance().run((blocks + each - 1) / each, [this, each, blocks](int64_t chunk, int worker) {
                float* scratch = scratch_.data() + worker * static_cast<int64_t>(scratch_.size() / 2);
                variant_.step_blocks(p_, chunk * each, std::min(blocks, (chunk + 1) * each), scratch);
            });
        } else {
            variant_.step_blocks(p_, 0, blocks, scratch_.data());
        }
    }

    // Robots that were reset: no integral, and delays filled with the first command.
    void start_over() {
        for (int64_t robot = 0; robot < p_.robots; ++robot) {
            if (!fresh_[robot]) continue;
            fresh_[robot] = 0;
            std::fill_n(integral_.data() + robot * p_.integral_slots, p_.integral_slots, 0.0f);
            for (int64_t k = 0; k < p_.delayed_slots; ++k) {
                const int64_t element = robot * p_.delayed_slots + k;
                if (!fill(element) && std::find(waiting_.begin(), waiting_.end(), element) == waiting_.end())
                    waiting_.push_back(element);
            }
        }
        any_fresh_ = false;
    }

    // Write the present command to all rows of an element; a command that is not finite leaves zeros and returns false.
    bool fill(int64_t element) {
        const int64_t robot = element / p_.delayed_slots, column = columns_[delayed_slots_[element % p_.delayed_slots]];
        float command[3];
        bool good = true;
        for (int c = 0; c < 3; ++c) {
            command[c] = p_.input[kPositionTarget + c][robot * p_.pitch[kPositionTarget + c] + column];
            good &= std::isfinite(command[c]);
        }
        for (int c = 0; c < 3; ++c)
            for (int64_t row = 0; row < p_.ring.depth; ++row)
                p_.ring.rows[c][row * p_.ring.pitch + element] = good ? command[c] : 0.0f;
        return good;
    }

    // Keep the first fault of each joint and robot.
    void latch(const Fault& fault) {
        const int64_t element = fault.robot * p_.slots + fault.slot;
        uint64_t& word = latched_[element / 64];
        const uint64_t bit = uint64_t{1} << element % 64;
        if (word & bit) return;
        word |= bit;
        faults_.push_back(fault);
    }

    const Variant& variant_;
    Problem p_;
    int64_t depth_ = 1;
    std::vector<int> stages_;
    std::vector<RowValues> rows_;
    std::vector<TableValues> tables_;
    std::vector<int32_t> lag_, integral_slots_, delayed_slots_, columns_;
    py::object own_lag_ = py::none();
    std::vector<py::object> arrays_;
    // held while a step runs or what it works on changes: steps and setters may come from different threads
    mutable std::mutex busy_;
    std::pair<py::object, py::object> observed_;
    std::vector<py::object> handed_over_;
    bool changed_ = true, any_fresh_ = true;
    const bool helped_ = std::getenv("ACTUATORS_HELPER") && std::string(std::getenv("ACTUATORS_HELPER")) == "1";
    // state
    Aligned<float> integral_, ring_;
    std::vector<uint8_t> fresh_;
    std::vector<int64_t> waiting_;
    std::vector<Fault> faults_, found_;
    std::vector<uint64_t> latched_;
    struct {
        bool taken = false;
        Aligned<float> integral, ring;
        std::vector<uint8_t> fresh;
        std::vector<int64_t> waiting;
        int64_t head = 0;
    } before_;
    std::mutex guard_;
    // made by prepare
    std::vector<int32_t> slot_of_, integral_places_, delayed_places_;
    std::vector<Pick> picks_;
    std::vector<Aligned<float>> patterns_;
    Aligned<int32_t> driven_, shared_lag_;
    Aligned<float> scratch_;
};

// Copies between columns of arrays whose numbers are float or double: how a host and its mirrors are kept in step.
class Transfer {
  public:
    // each item is (source, source columns, target, target columns); columns of the two belong together
    explicit Transfer(const std::vector<py::tuple>& items) {
        for (const py::tuple& item : items) {
            if (item.size() != 4) refuse("item", "(source, columns, target, columns)");
            Item made{end_of(item[0], false), end_of(item[2], true), item[1].cast<std::vector<int32_t>>(),
                      item[3].cast<std::vector<int32_t>>(), false};
            if (made.from_columns.size() != made.to_columns.size())
                refuse("columns", "as many of the source as of the target");
            if (made.from.rows != made.to.rows) refuse("target", "of as many rows as the source");
            require(made.from_columns, made.from);
            require(made.to_columns, made.to);
            const auto whole = [](const End& end) {
                return end.column_pitch == (end.wide ? 8 : 4) && end.row_pitch % (end.wide ? 8 : 4) == 0;
            };
            made.even =
                whole(made.from) && whole(made.to) && neighbours(made.from_columns) && neighbours(made.to_columns);
            items_.push_back(std::move(made));
        }
    }

    void run() const {
        for (const Item& item : items_) {
            if (item.from.wide) {
                item.to.wide ? copy<double, double>(item) : copy<double, float>(item);
            } else {
                item.to.wide ? copy<float, double>(item) : copy<float, float>(item);
            }
        }
    }

  private:
    struct End {
        py::object array;
        char* data;
        int64_t rows, columns, row_pitch, column_pitch;
        bool wide;
    };
    struct Item {
        End from, to;
        std::vector<int32_t> from_columns, to_columns;
        // whether numbers of a row stand side by side at both ends
        bool even = false;
    };

    static End end_of(const py::object& given, bool target) {
        if (!py::isinstance<py::array>(given)) refuse(text(given), "a NumPy array");
        auto array = given.cast<py::array>();
        const bool wide = array.dtype().is(py::dtype::of<double>());
        if (!wide && !array.dtype().is(py::dtype::of<float>()))
            refuse("array of " + text(array.dtype()), "float32 or float64");
        if (array.ndim() != 2) refuse("array of shape " + text(array.attr("shape")), "two-dimensional");
        if (target && !array.writeable()) refuse("target", "writeable");
        char* data = static_cast<char*>(target ? array.mutable_data() : const_cast<void*>(array.data()));
        return {given, data, array.shape(0), array.shape(1), array.strides(0), array.strides(1), wide};
    }

    static void require(const std::vector<int32_t>& columns, const End& end) {
        for (const int32_t column : columns)
            if (column < 0 || column >= end.columns)
                refuse("column = " + std::to_string(column), "below " + std::to_string(end.columns));
    }

    static bool neighbours(const std::vector<int32_t>& columns) {
        for (size_t k = 1; k < columns.size(); ++k)
            if (columns[k] != columns[0] + static_cast<int32_t>(k)) return false;
        return !columns.empty();
    }

    template <class From, class To>
    static void copy(const Item& item) {
        const int64_t count = static_cast<int64_t>(item.from_columns.size());
        if (item.even) {
            for (int64_t row = 0; row < item.from.rows; ++row) {
                const From* from =
                    reinterpret_cast<const From*>(item.from.data + row * item.from.row_pitch) + item.from_columns[0];
                To* to = reinterpret_cast<To*>(item.to.data + row * item.to.row_pitch) + item.to_columns[0];
                for (int64_t k = 0; k < count; ++k) to[k] = static_cast<To>(from[k]);
            }
            return;
        }
        for (int64_t row = 0; row < item.from.rows; ++row) {
            const char* from = item.from.data + row * item.from.row_pitch;
            char* to = item.to.data + row * item.to.row_pitch;
            for (int64_t k = 0; k < count; ++k) {
                From value;
                std::memcpy(&value, from + item.from_columns[k] * item.from.column_pitch, sizeof value);
                const To converted = static_cast<To>(value);
                std::memcpy(to + item.to_columns[k] * item.to.column_pitch, &converted, sizeof converted);
            }
        }
    }

    std::vector<Item> items_;
};

// Seconds to read `count` arrays of `size` floats and write one, with the variant a step would take.
double time_stream(int count, int64_t size, int repetitions) {
    if ((count != 1 && count != 5 && count != 8) || size < 1 || repetitions < 1)
        refuse("count, size, repetitions", "1, 5 or 8 arrays, and positive");
    std::vector<Aligned<float>> arrays;
    for (int k = 0; k <= count; ++k) arrays.emplace_back(size, 1.0f);
    std::vector<const float*> inputs;
    for (int k = 0; k < count; ++k) inputs.push_back(arrays[k].data());
    const Variant& variant = choose_variant();
    const auto start = std::chrono::steady_clock::now();
    for (int k = 0; k < repetitions; ++k) variant.stream(inputs.data(), count, arrays[count].data(), size);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / repetitions;
}

}  // namespace

#include "flat.h"

PYBIND11_MODULE(core, m) {
    m.doc() = "The actuator step in C++; see native/ in the repository.";
    py::class_<Core>(m, "Core")
        .def(py::init<int64_t, int64_t, const std::vector<bool>&, const std::vector<bool>&, int64_t,
                      const std::vector<int>&, const std::vector<py::tuple>&>(),
             py::arg("robots"), py::arg("slots"), py::arg("integral"), py::arg("delayed"), py::arg("depth"),
             py::arg("stages"), py::arg("tables"))
        .def("share", &Core::share, py::arg("row"), py::arg("values"))
        .def("own", &Core::own, py::arg("row"), py::arg("values"))
        .def("share_lag", &Core::share_lag, py::arg("values"))
        .def("own_lag", &Core::own_lag, py::arg("values"))
        .def("bind", &Core::bind, py::arg("inputs"), py::arg("efforts"), py::arg("columns"))
        .def("step", &Core::step, py::arg("dt"))
        .def("command", &Core::command, py::arg("dt"))
        .def("limit", &Core::limit)
        .def("take_back", &Core::take_back)
        .def("hand_over", &Core::hand_over, py::arg("signals"), py::arg("bad"), py::arg("efforts"))
        .def("time_steps", &Core::time_steps, py::arg("count"), py::arg("dt"))
        .def("reset", &Core::reset, py::arg("robots") = py::none())
        .def("faults", &Core::faults)
        .def("save", &Core::save)
        .def("restore", &Core::restore, py::arg("saved"))
        .def("observe", &Core::observe, py::arg("computed"), py::arg("limited_by"))
        .def_property_readonly("variant", &Core::variant)
        .def_property_readonly("layout", &Core::layout)
        .def_property_readonly("memory", &Core::memory);
    py::class_<Transfer>(m, "Transfer")
        .def(py::init<const std::vector<py::tuple>&>(), py::arg("items"))
        .def("run", &Transfer::run);
    register_flat(m);
    register_laws(m);
    m.def("time_stream", &time_stream, py::arg("count"), py::arg("size"), py::arg("repetitions"));
    m.def("variants", [] {
        std::vector<std::string> names;
        for (const Variant* one : variants())
            if (one->available()) names.push_back(one->name);
        return names;
    });
}
