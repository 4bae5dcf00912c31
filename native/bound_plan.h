// A plan bound to Python arrays: validated when they are bound, kept alive while the plan points to them.
#pragma once
#include <array>
#include <atomic>
#include <chrono>
#include <limits>
#include <map>

#include "arguments.h"
#include "array_layout.h"
#include "bound_network.h"
#include "loops.h"
#include "tape.h"

namespace actuators {

// State of a plan, in NumPy arrays.
class BoundState {
  public:
    BoundState(const std::vector<py::object>& buffers, const py::object& pushes, const py::object& write_idx,
               const std::vector<py::object>& laws) {
        if (!buffers.empty()) {
            if (buffers.size() != kCommands) refuse("buffers", "three, of position, velocity and effort commands");
            const char* const names[] = {"buffer_pos", "buffer_vel", "buffer_act"};
            for (int c = 0; c < kCommands; ++c) {
                auto array = typed<float>(names[c], buffers[c]);
                if (array.ndim() != 2 || array.shape(0) < 1)
                    refuse(std::string(names[c]) + " has shape " + text(array.attr("shape")), "(depth, N), depth >= 1");
                const int64_t width = array.shape(1);
                const int64_t pitch =
                    array.shape(0) > 1 ? array.strides(0) / static_cast<py::ssize_t>(sizeof(float)) : width;
                if (c && (array.shape(0) != state.depth || width != size || pitch != state.pitch))
                    refuse(names[c], "shaped and laid out like buffer_pos");
                if ((width > 1 && array.strides(1) != sizeof(float)) || pitch < width)
                    refuse(names[c], "contiguous within a row, its rows one after the other");
                if (!array.writeable()) refuse(names[c], "writeable");
                state.depth = array.shape(0), state.pitch = pitch, size = width;
                state.rows[c] = static_cast<float*>(array.mutable_data());
            }
            state.pushes = written<int32_t>("num_pushes", pushes, {size});
            state.write_idx = written<int32_t>("write_idx", write_idx, {1});
        }
        for (size_t k = 0; k < laws.size(); ++k) {
            const std::string name = "number " + std::to_string(k) + " that is remembered";
            const auto array = typed<float>(name, laws[k]);
            state.laws.push_back(written<float>(name, laws[k], {array.shape(), array.shape() + array.ndim()}));
            sizes.push_back(array.size());
        }
        kept = py::make_tuple(buffers, pushes, write_idx, laws);
    }

    State state;
    int64_t size = 0;  // row length of the ring
    std::vector<int64_t> sizes;
    py::object kept;
};

class BoundPlan {
  public:
    // number of bound arrays: signals and efforts
    static constexpr size_t kArrays = kSignals + 1;

    using Members = std::vector<std::tuple<std::string, std::vector<int>, std::vector<int32_t>>>;

    // network; column, steps back, history, offset and scale of each feature; columns of the histories and their steps;
    // scale and offset of the output; slots; true if the first step fills the histories
    using Networks = std::vector<std::tuple<py::object, std::vector<std::tuple<int, int64_t, int64_t, float, float>>,
                                            std::vector<int>, int64_t, float, float, std::vector<int32_t>, bool>>;

    BoundPlan(const std::string& label, int64_t robots, int64_t slots, const std::vector<float>& neutral,
              const Members& controllers, const Members& limits, const std::vector<int32_t>& delayed, int64_t depth,
              const Networks& networks, const Members& feedback,
              const std::vector<std::tuple<size_t, int64_t, bool>>& late)
        : plan(label, robots, slots, neutral, members(controllers), members(limits), delayed, depth, members(networks),
               members(feedback), lates(late)),
          label_(label) {
        py::list kept;
        for (const auto& one : networks) kept.append(std::get<0>(one));
        kept_["networks"] = kept;
    }

    // Networks in the representation of a plan.
    static std::vector<NetworkMember> members(const Networks& given) {
        std::vector<NetworkMember> all;
        for (const auto& [bound, features, history, steps, scale, offset, slots, first_fills] : given) {
            const Network& network = bound.cast<const BoundNetwork&>().network();
            NetworkMember member;
            NetworkUse& use = member.use;
            use.network = &network;
            use.scale = scale, use.offset = offset, use.steps = steps, use.first_fills = first_fills;
            const auto column_of = [](int column) {
                if (column < 0 || column >= kColumns) refuse("column of a network", "one that is known");
                return static_cast<Column>(column);
            };
            for (const int column : history) use.history.push_back(column_of(column));
            const auto kept = static_cast<int64_t>(history.size());
            if (kept > kNetworkStates || (kept && network.states) || steps < 1 || steps > (1 << 16))
                refuse("histories of a network", "two at most, of 1 to 65536 steps, and none of a recurrent one");
            for (const auto& [column, back, number, shift, factor] : features) {
                if (back < 0 || back >= steps || (back && (number < 0 || number >= kept)))
                    refuse("feature of a network", "one that is remembered");
                use.features.push_back({column_of(column), back, number, shift, factor});
            }
            if (static_cast<int64_t>(features.size()) != network.inputs)
                refuse("features of a network", "as many as its inputs");
            member.slots = slots;
            use.arrays = kept ? static_cast<int>(kept) : network.states;
            use.pieces = kept ? steps : network.layers;
            use.each = kept ? 1 : network.hidden;
            all.push_back(std::move(member));
        }
        return all;
    }

    // ---- parameters

    void share(size_t row, const py::object& values) {
        const auto array = checked<float>(name_of(row), values, {plan.slots()});
        give("row " + std::to_string(row), py::none(), [&] { plan.share(row, array.data()); });
    }

    void own(size_t row, const py::object& values) {
        const auto array = checked<float>(name_of(row), values, {plan.robots(), plan.slots()});
        give("row " + std::to_string(row), values, [&] { plan.own(row, array.data()); });
    }

    void share_lag(const py::object& values) {
        const auto array = checked<int32_t>("lag", values, {plan.slots()});
        give("lag", py::none(), [&] { plan.share_lag(array.data()); });
    }

    void own_lag(const py::object& values) {
        int32_t* const data = written<int32_t>("lag", values, {plan.robots(), plan.slots()});
        give("lag", values, [&] { plan.own_lag(data); });
    }

    void own_piece(size_t row, const py::object& values, const std::vector<int32_t>& slots) {
        const auto array = checked<float>(name_of(row), values, piece_shape(slots));
        give_piece(values, [&] { plan.own_piece(row, array.data(), slots); });
    }

    void own_lag_piece(const py::object& values, const std::vector<int32_t>& slots) {
        const auto array = checked<int32_t>("lag", values, piece_shape(slots));
        give_piece(values, [&] { plan.own_lag_piece(array.data(), slots); });
    }

    void give_signal(size_t number, const py::object& values) {
        const std::string name = "signal " + std::to_string(number);
        const auto array = checked<float>(name, values, {plan.robots(), plan.slots()});
        give(name, values, [&] { plan.give_signal(number, array.data()); });
    }

    // Publish a state array as this signal; while it is unknown, a row of parameters, or a number where `row` is -1.
    void add_published(size_t array, const py::object& signal, float neutral, int row) {
        float* const data = written<float>("published signal", signal, signal_shape());
        give("published " + std::to_string(kept_.size()), signal,
             [&] { plan.add_published(array, data, neutral, row); });
    }

    // Each item holds a signal, the slots to sum, and the array of sums.
    void set_totals(const std::vector<std::tuple<py::object, std::vector<int32_t>, py::object>>& given) {
        std::vector<Total> totals;
        py::list kept;
        for (const auto& [signal, slots, total] : given) {
            const auto array = checked<float>("signal of a total", signal, signal_shape());
            totals.push_back({array.data(), slots, written<float>("total", total, signal_shape())});
            kept.append(py::make_tuple(signal, total));
        }
        give("totals", kept, [&] { plan.set_totals(std::move(totals)); });
    }

    // Each item holds slots, whether commands are the motor's own, whether it only pulls, numbers of a linear linkage,
    // sizes and nodes of a table.
    using GivenLinkage = std::tuple<std::vector<int32_t>, std::vector<bool>, std::vector<bool>,
                                    std::vector<std::vector<float>>, std::vector<int>, std::vector<float>>;
    void set_linkages(const std::vector<GivenLinkage>& given) {
        std::vector<Linkage> linkages;
        for (const auto& [slots, own, pulls, numbers, rows, nodes] : given)
            linkages.push_back(made(slots, own, pulls, numbers, rows, nodes));
        give("linkages", py::none(), [&] { plan.set_linkages(std::move(linkages)); });
    }

    static Linkage made(const std::vector<int32_t>& slots, const std::vector<bool>& own, const std::vector<bool>& pulls,
                        const std::vector<std::vector<float>>& numbers, const std::vector<int>& rows,
                        const std::vector<float>& nodes) {
        Linkage one;
        const size_t count = slots.size();
        const auto sizes = [&](size_t k) { return numbers[k].size() == (k < 2 ? count * count : count); };
        bool fits = count >= 1 && count <= kMostLinked && own.size() == count && pulls.size() == count &&
                    rows.size() == count && numbers.size() == 7;
        for (size_t k = 0; fits && k < numbers.size(); ++k) fits &= sizes(k);
        if (!fits || (count > 2 && !nodes.empty())) refuse("numbers of a linkage", "as many as its joints");
        one.count = static_cast<int>(count);
        one.slots = slots;
        one.nodes = nodes;
        for (size_t i = 0; i < count; ++i) {
            for (size_t j = 0; j < count; ++j) {
                one.matrix[i][j] = numbers[0][i * count + j];
                one.inverse[i][j] = numbers[1][i * count + j];
            }
            one.offset[i] = numbers[2][i];
            one.inertia[i] = numbers[3][i];
            one.own[i] = own[i], one.pulls[i] = pulls[i];
            if (i > 1) continue;
            one.lower[i] = numbers[4][i], one.spacing[i] = numbers[5][i], one.per_spacing[i] = numbers[6][i];
            if (rows[i] < 2) refuse("positions of a linkage", "at least 2");
            one.rows[i] = rows[i];
        }
        return one;
    }

    void publish() const {
        const Turn turn(plan.busy());
        plan.publish();
    }

    void start_at(const std::vector<std::tuple<float, bool, int>>& given) {
        std::vector<Plan::Start> starts;
        for (const auto& [value, kept, keeper] : given) starts.push_back({value, kept, keeper});
        const Turn turn(plan.busy());
        plan.start_at(std::move(starts));
    }

    void add_curve(size_t law, int number, const py::object& rows, const std::vector<int32_t>& slots) {
        const auto array = typed<float>("curve", rows);
        if (array.ndim() != 2) refuse("curve", "of rows of point, value and slope");
        const auto numbers = checked<float>("curve", rows, {array.shape(0), 3});
        const Turn turn(plan.busy());
        plan.add_curve(law, number, numbers.data(), array.shape(0), slots);
    }

    // ---- arrays

    void bind_columns(const std::vector<py::object>& inputs, const py::object& efforts,
                      const std::vector<int32_t>& columns) {
        if (inputs.size() != kSignals) refuse("inputs", "positions, velocities, both targets and feedforward");
        if (static_cast<int64_t>(columns.size()) != plan.slots()) refuse("columns", "one per slot");
        std::vector<int32_t> sorted = columns;
        std::sort(sorted.begin(), sorted.end());
        if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) refuse("columns", "all different");
        Source sources[kSignals];
        for (int s = 0; s < kSignals; ++s) {
            const Columns array("input " + std::to_string(s), inputs[s], plan.robots(), columns, false);
            sources[s].data = array.data;
            sources[s].pitch = array.pitch;
        }
        const Columns array("efforts", efforts, plan.robots(), columns, true);
        Sink sink;
        sink.data = array.data;
        sink.pitch = array.pitch;
        std::array<py::object, kArrays> next;
        std::copy(inputs.begin(), inputs.end(), next.begin());
        next[kSignals] = efforts;
        give("arrays", py::none(), [&] { plan.bind_columns(sources, sink, columns), bound = 0; });
        std::swap(arrays_, next);
    }

    // Replace bound arrays by others of the same layout if the columns are still bound as of `serial`; null keeps an
    // array.
    bool move_columns(uint64_t serial, std::array<py::object, kArrays>& next, float* const (&inputs)[kSignals],
                      float* efforts) {
        const Turn turn(plan.busy());
        if (bound != serial) return false;
        plan.move_columns(inputs, efforts);
        // the caller destroys the previous arrays after it releases the lock
        for (size_t k = 0; k < kArrays; ++k)
            if (next[k]) std::swap(arrays_[k], next[k]);
        return true;
    }

    // The arrays that the columns are bound to: inputs and efforts.
    py::list arrays() const {
        py::list all;
        for (const py::object& one : arrays_)
            if (one) all.append(one);
        return all;
    }
    PyObject* array(size_t k) const { return arrays_[k].ptr(); }

    // Flat arrays, None for a missing one; `indices` gives the position of each robot in each array, `names` is for
    // errors. The last two arrays accumulate efforts and efforts before the limits.
    Frame frame(const std::vector<std::string>& names, const std::vector<py::object>& arrays,
                const std::vector<py::object>& indices) const {
        if (names.size() != kEnds || arrays.size() != kEnds || indices.size() != kEnds)
            refuse("arrays", "five signals and two outputs, each with a name and indices");
        if (plan.slots() != 1) refuse("slots", "1 where robots are found by index");
        Frame made;
        made.names = names;
        for (size_t k = 0; k < kEnds; ++k) {
            if (arrays[k].is_none()) continue;
            const Strided<float> array(names[k], arrays[k], k >= kSignals);
            const Strided<uint32_t> index(label_ + ": indices of " + names[k], indices[k]);
            if (index.size != plan.robots())
                refuse(label_ + ": indices of " + names[k] + " has " + std::to_string(index.size) + " elements",
                       std::to_string(plan.robots()) + ", one per joint");
            const auto fill = [&](auto& end) {
                end.data = array.data;
                end.stride = array.stride, end.size = array.size;
                end.index = index.data, end.index_stride = index.stride;
            };
            k < kSignals ? fill(made.inputs[k]) : fill(made.outputs[k - kSignals]);
        }
        return made;
    }

    void bind_indices(const std::vector<std::string>& names, const std::vector<py::object>& arrays,
                      const std::vector<py::object>& indices) {
        const Frame made = frame(names, arrays, indices);
        give("arrays", py::make_tuple(arrays, indices), [&] { plan.bind_indices(made), bound = 0; });
        // swapped one by one, since destroying an array can run arbitrary code
        std::array<py::object, kArrays> gone;
        std::swap(arrays_, gone);
    }

    // States to read and to write; they may be the same.
    void use(const py::object& now, const py::object& after) {
        const auto& read = now.cast<const BoundState&>();
        const auto& write = after.cast<const BoundState&>();
        require(read);
        require(write);
        give("states", py::make_tuple(now, after), [&] { plan.use(read.state, write.state), used = 0; });
    }

    void require(const BoundState& one) const {
        if (plan.delayed() && (one.size != plan.robots() * plan.delayed() || one.state.depth != plan.depth()))
            refuse(label_ + ": delay_state of depth " + std::to_string(one.state.depth) + " for " +
                       std::to_string(one.size),
                   "one of this actuator, of depth " + std::to_string(plan.depth()) + " for " +
                       std::to_string(plan.robots() * plan.delayed()));
        std::vector<int64_t> sizes;
        for (const Plan::Kept& kept : plan.state_arrays()) sizes.push_back(kept.pieces * kept.size);
        if (one.sizes != sizes) refuse(label_ + ": state of its laws", "one of this actuator");
    }

    // Write the state between the halves of a step: five signals, fault codes of the inputs, and efforts before the
    // next limit and before all limits.
    void hand_over(const std::vector<py::object>& signals, const py::object& bad, const py::object& efforts,
                   const py::object& computed) {
        if (signals.size() != kSignals) refuse("signals", "positions, velocities, both targets and feedforward");
        Handover next;
        const std::vector<py::ssize_t> shape{plan.robots(), plan.slots()};
        for (int s = 0; s < kSignals; ++s)
            next.signals[s] = written<float>("signal " + std::to_string(s), signals[s], shape);
        next.bad = written<int32_t>("bad", bad, shape);
        next.efforts = written<float>("efforts", efforts, shape);
        next.computed = written<float>("computed", computed, shape);
        give("between", py::make_tuple(signals, bad, efforts, computed), [&] { plan.hand_over(next); });
    }

    // Write in each step what controllers get, (robots, slots) each: position, velocity and both targets.
    void measure(const std::vector<py::object>& arrays) {
        std::vector<float*> written_to;
        for (const py::object& one : arrays)
            written_to.push_back(written<float>("measured", one, {plan.robots(), plan.slots()}));
        give("measured", py::cast(arrays), [&] { plan.measure(written_to); });
    }

    // Record in (robots, slots) arrays the effort before the limits, the last limit that changed it, and the effort
    // after the first stages; None stops.
    void observe(const py::object& computed, const py::object& limited_by, const py::object& motor,
                 size_t motor_stages) {
        const std::vector<py::ssize_t> shape{plan.robots(), plan.slots()};
        float* efforts = computed.is_none() ? nullptr : written<float>("computed", computed, shape);
        uint8_t* by = limited_by.is_none() ? nullptr : written<uint8_t>("limited_by", limited_by, shape);
        float* behind = motor.is_none() ? nullptr : written<float>("motor", motor, shape);
        give("observed", py::make_tuple(computed, limited_by, motor),
             [&] { plan.observe(efforts, by, behind, motor_stages); });
    }

    // Start recording steps on a tape; null stops.
    void record(const std::shared_ptr<Tape>& tape) {
        const Turn turn(plan.busy());
        plan.record(tape);
    }
    void stop_recording(const std::shared_ptr<Tape>& tape) {
        const Turn turn(plan.busy());
        plan.stop_recording(tape);
    }

    // An array of a tape of this plan, (steps, robots, slots), or the duration of each step in seconds.
    py::array read(const Tape& tape, int which) const {
        if (!tape.has(which)) refuse("array = " + std::to_string(which), "one that is noted");
        // another plan may be writing to the tape
        if (tape.plan && tape.plan != &plan) refuse("tape", "one of this plan");
        std::vector<float> floats;
        std::vector<uint8_t> bytes;
        std::vector<double> dts;
        {
            const Turn turn(plan.busy());
            if (which == Tape::kDt)
                dts = tape.dts();
            else if (which < Tape::kFloats)
                floats = tape.floats(which);
            else
                bytes = tape.bytes_of(which);
        }
        if (which == Tape::kDt) return py::array_t<double>(static_cast<py::ssize_t>(dts.size()), dts.data());
        const std::vector<py::ssize_t> shape{
            static_cast<py::ssize_t>(floats.size() + bytes.size()) / (tape.robots() * tape.slots()), tape.robots(),
            tape.slots()};
        if (which < Tape::kFloats) return py::array_t<float>(shape, floats.data());
        return py::array_t<uint8_t>(shape, bytes.data());
    }

    // ---- stepping

    void run(Phase phase, float dt) {
        const Turn turn(plan.busy());
        run_now(phase, dt);
    }
    // Step while the lock is held; a long step releases the GIL.
    void run_now(Phase phase, float dt) {
        if (!plan.is_large()) return plan.run(phase, dt);
        const py::gil_scoped_release release;
        plan.run(phase, dt);
    }
    void step(float dt) {
        run(Phase::kWhole, dt);
        if (plan.has_faults() && on_fault_) tell_fault();
    }
    void command(float dt) { run(Phase::kCommand, dt); }
    void limit() { run(Phase::kLimit, 0); }

    // Call a function with what runs a whole step; no other thread steps the plan meanwhile, and none waits for Python.
    // All steps have the parameters that the first one finds.
    template <class Run>
    void run_many(const Run& run) {
        const Turn turn(plan.busy());
        const py::gil_scoped_release release;
        struct Held {
            Plan& plan;
            bool begun = false;
            ~Held() { plan.hold_parameters(false); }
        } held{plan};
        run([this, &held](float dt) {
            plan.run(Phase::kWhole, dt);
            if (!held.begun) plan.hold_parameters(true);
            held.begun = true;
        });
    }

    // Seconds per step, without Python between steps.
    double time_steps(int count, float dt) {
        const auto start = std::chrono::steady_clock::now();
        for (int k = 0; k < count; ++k) step(dt);
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / count;
    }

    // ---- state

    void reset(const std::optional<std::vector<int64_t>>& robots) {
        const Turn turn(plan.busy());
        robots ? plan.reset(*robots) : plan.reset();
    }

    void unsettle() {
        const Turn turn(plan.busy());
        plan.unsettle();
    }

    std::vector<std::tuple<int64_t, int32_t, int32_t, int64_t>> faults() const {
        std::vector<Fault> found;
        {
            const Turn turn(plan.busy());
            found = plan.faults();
        }
        std::vector<std::tuple<int64_t, int32_t, int32_t, int64_t>> all;
        for (const Fault& fault : found) all.emplace_back(fault.robot, fault.slot, fault.code, fault.step);
        return all;
    }

    // Call this once, after the first step with a fault. It must not refer to the plan: nothing tells the garbage
    // collector of it.
    void on_fault(const py::object& call) { on_fault_ = call; }

    NOINLINE void tell_fault() {
        const py::object call = std::move(on_fault_);
        on_fault_ = py::object();
        call();
    }

    void set_faults(const std::vector<std::tuple<int64_t, int32_t, int32_t, int64_t>>& faults, int64_t steps) {
        std::vector<Fault> given;
        for (const auto& [robot, slot, code, step] : faults) given.push_back({robot, slot, code, step});
        const Turn turn(plan.busy());
        plan.set_faults(given, steps);
    }

    int64_t steps() const {
        const Turn turn(plan.busy());
        return plan.steps();
    }

    std::string layout() {
        const Turn turn(plan.busy());
        return plan.layout();
    }

    size_t memory() const {
        const Turn turn(plan.busy());
        return plan.memory();
    }

    // Unique identifier of a binding.
    static uint64_t next_serial() {
        static std::atomic<uint64_t> last{0};
        return ++last;
    }

    Plan plan;
    // frame or movable columns, and states bound by calls, by serial number; 0 if bound by this class
    uint64_t bound = 0, used = 0;

  private:
    static std::vector<Member> members(const Members& given) {
        std::vector<Member> all;
        for (const auto& [law, rows, slots] : given) all.push_back({law, rows, slots});
        return all;
    }

    static std::vector<Late> lates(const std::vector<std::tuple<size_t, int64_t, bool>>& given) {
        std::vector<Late> all;
        for (const auto& [law, depth, at_motor] : given) all.push_back({law, depth, at_motor});
        return all;
    }

    std::string name_of(size_t row) const {
        if (row >= plan.rows()) refuse("row = " + std::to_string(row), "below " + std::to_string(plan.rows()));
        return "values of row " + std::to_string(row);
    }

    std::vector<py::ssize_t> signal_shape() const { return {plan.robots(), plan.slots()}; }

    std::vector<py::ssize_t> piece_shape(const std::vector<int32_t>& slots) const {
        return {static_cast<py::ssize_t>(plan.robots()), static_cast<py::ssize_t>(slots.size())};
    }

    // A piece is kept alive as long as the plan.
    template <class Give>
    void give_piece(const py::object& values, const Give& tell) {
        give("piece " + std::to_string(kept_.size()), values, tell);
    }

    // Bind kept arrays to the plan; the previous ones are destroyed after nothing points to them.
    template <class Give>
    void give(const std::string& what, py::object keep, const Give& tell) {
        {
            const Turn turn(plan.busy());
            tell();
        }
        std::swap(kept_[what], keep);
    }

    std::string label_;
    py::object on_fault_;
    std::map<std::string, py::object> kept_;
    std::array<py::object, kArrays> arrays_;
};

// What steps a plan by a time step, and what checks each new one before, None for nothing. It must not refer to the
// plan: nothing tells the garbage collector of it.
struct Stepping {
    BoundPlan* plan;
    py::object check;
    double checked = 0;

    void step(double dt) {
        if (dt != checked) check_now(dt);
        plan->step(static_cast<float>(dt));
    }

    // out of line: a step with the time step of the one before does not pay for it
    NOINLINE void check_now(double dt) {
        if (!check.is_none()) check(dt);
        checked = dt;
    }
};

// A function that steps a plan by a time step, after `check` has been called with it, once per time step.
inline py::object stepper(const py::object& plan, const py::object& check) {
    const Fast step = [](PyObject* self, PyObject* const* given, Py_ssize_t count) -> PyObject* {
        return translated([&]() -> PyObject* {
            if (count != 1) throw py::type_error("step takes one argument, dt");
            double dt = PyFloat_AsDouble(given[0]);
            if (dt == -1.0 && PyErr_Occurred()) {
                // an integer too large for a double is no time step either
                if (!PyErr_ExceptionMatches(PyExc_OverflowError)) throw py::error_already_set();
                PyErr_Clear();
                dt = std::numeric_limits<double>::infinity();
            }
            kept_by<Stepping>(self).step(dt);
            Py_RETURN_NONE;
        });
    };
    static PyMethodDef method = fast("step", step, "Step by dt [s].");
    return made_fast(method, plan, std::make_unique<Stepping>(Stepping{&plan.cast<BoundPlan&>(), check}));
}

}  // namespace actuators
