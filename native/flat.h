// Actuators over flat arrays of anybody's, one after the other in one call: signals are gathered by index arrays,
// efforts added by index arrays. What actuators remember comes from outside: a state to read and one to write, maybe
// the same.
#pragma once
#include <set>

namespace {

// A one-dimensional array, its elements any distance apart; empty without one.
template <class T>
struct Strided {
    Strided() = default;
    Strided(const std::string& name, const py::object& given) : kept(given) {
        if (given.is_none()) return;
        if (!py::isinstance<py::array>(given)) refuse(name + " = " + text(given), "a NumPy array");
        auto array = given.cast<py::array>();
        if (!array.dtype().is(py::dtype::of<T>()))
            refuse(name + " has dtype " + text(array.dtype()), text(py::dtype::of<T>()));
        if (array.ndim() != 1 || array.strides(0) % static_cast<py::ssize_t>(sizeof(T)))
            refuse(name + " has shape " + text(array.attr("shape")), "one-dimensional, of whole numbers in a row");
        writeable = array.writeable();
        data = static_cast<T*>(const_cast<void*>(array.data()));
        step = array.strides(0) / static_cast<py::ssize_t>(sizeof(T));
        size = array.shape(0);
    }
    bool given() const { return kept && !kept.is_none(); }
    T& operator[](int64_t at) const { return data[at * step]; }

    bool is(const Strided& other) const { return data == other.data && step == other.step; }
    // Whether the two may have memory in common.
    bool overlaps(const Strided& other) const {
        const auto [from, to] = range();
        const auto [other_from, other_to] = other.range();
        return from < other_to && other_from < to;
    }
    std::pair<const T*, const T*> range() const {
        if (!size) return {data, data};
        return {std::min(data, data + (size - 1) * step), std::max(data, data + (size - 1) * step) + 1};
    }

    py::object kept;
    T* data = nullptr;
    int64_t step = 1, size = 0;
    bool writeable = false;
};

using Index = Strided<uint32_t>;

// The arrays of a simulation, by number.
class Frame {
  public:
    // each is (name, array or None)
    explicit Frame(const std::vector<std::pair<std::string, py::object>>& arrays) {
        for (const auto& [name, array] : arrays) {
            names.push_back(name);
            columns.emplace_back(name, array);
        }
    }

    std::vector<std::string> names;
    std::vector<Strided<float>> columns;
};

// What a list of actuators remembers, as `Delay.State` and the state of a PID law hold it.
class Memory {
  public:
    struct Part {
        float* integral = nullptr;
        float* rows[3] = {nullptr, nullptr, nullptr};
        int32_t *pushes = nullptr, *newest = nullptr;
        int64_t count = 0, depth = 0;
    };

    // each is (number of joints, integral or None, ring or None); a ring is three buffers, pushes and the newest row
    explicit Memory(const std::vector<std::tuple<int64_t, py::object, std::vector<py::object>>>& states) {
        for (const auto& [count, integral, ring] : states) {
            Part part;
            part.count = count;
            if (!integral.is_none()) part.integral = own<float>("integral", integral, {count});
            if (!ring.empty()) {
                if (ring.size() != 5) refuse("ring", "three buffers, num_pushes and write_idx");
                part.depth = py::len(ring[0]);
                if (part.depth < 1) refuse("depth of the delay's buffers", ">= 1");
                const char* names[] = {"buffer_pos", "buffer_vel", "buffer_act"};
                for (int c = 0; c < 3; ++c) part.rows[c] = own<float>(names[c], ring[c], {part.depth, count});
                part.pushes = own<int32_t>("num_pushes", ring[3], {count});
                part.newest = own<int32_t>("write_idx", ring[4], {1});
            }
            parts.push_back(part);
        }
    }

    std::vector<Part> parts;

  private:
    template <class T>
    T* own(const char* name, const py::object& given, std::vector<py::ssize_t> shape) {
        auto array = checked<T>(name, given, std::move(shape));
        kept_.push_back(array);
        return array.mutable_data();
    }

    std::vector<py::object> kept_;
};

class Flat {
  public:
    // Add an actuator of `indices` (of velocities, positions, position targets or None, efforts). `arrays` says which
    // ones of a frame are its five signals, its efforts and its efforts before the limits, -1 for none. `parameters`
    // are kp, kd, bias, ki and the largest integral, None for zero; `limits` are pairs of a kind and its parameters or
    // table; `record` is where fault codes, their steps, the number of steps and efforts before the limits go.
    void add(const std::string& label, const std::vector<py::object>& indices, const std::vector<int>& arrays,
             bool integral, const std::vector<py::object>& parameters, const py::object& lag,
             const std::vector<std::pair<int, std::vector<py::object>>>& limits,
             const std::vector<py::object>& record) {
        if (indices.size() != kIndices || arrays.size() != kArrays || parameters.size() != 5 || record.size() != 4)
            refuse("an actuator", "of 4 index arrays, 7 arrays, 5 parameters and 4 records");
        auto part = std::make_unique<Part>();
        part->label = label;
        part->count = indices[kVelocities].is_none() ? 0 : py::len(indices[kVelocities]);
        for (int k = 0; k < kIndices; ++k) {
            part->indices[k] = sized<uint32_t>(kIndexNames[k], indices[k], *part);
            if (k != kTargets && !part->indices[k].given()) refuse(kIndexNames[k], "an array");
        }
        std::copy(arrays.begin(), arrays.end(), part->arrays);
        part->lag = sized<int32_t>("delay_steps", lag, *part);
        part->fault = checked<int32_t>("fault codes", record[0], {part->count});
        part->fault_step = checked<int64_t>("fault steps", record[1], {part->count});
        part->steps = checked<int64_t>("steps", record[2], {part->count});
        part->computed = checked<float>("computed", record[3], {part->count});

        for (Problem* p : {&part->law, &part->clamps}) {
            p->robots = part->count;
            p->slots = p->period = 1;
            p->robots_per_block = std::min(std::max<int64_t>(1, part->count), kTogether);
            std::fill_n(p->pitch, static_cast<int>(kSignals), 1);
            p->efforts_pitch = 1;
            p->columns = &kFirst;
            p->faults = &found_;
            p->guard = &guard_;
        }
        Problem &law = part->law, &clamps = part->clamps;
        law.integral_slots = integral;
        Row* const rows[] = {&law.kp, &law.kd, &law.bias, &law.ki, &law.integral_max};
        for (int row = 0; row < 5; ++row) *rows[row] = row_of(*part, kRowNames[row], parameters[row]);
        law.efforts = clamps.handover.efforts = part->computed.mutable_data();
        clamps.phase = Phase::kLimit;
        int before = 3;
        for (const auto& [kind, values] : limits) {
            if (kind <= before) clamps.limits.emplace_back();
            before = kind;
            add_limit(*part, clamps.limits.back(), kind, values);
        }
        for (int k = 0; k < kArrays; ++k)
            if (arrays[k] >= 0) (k < kOut ? read_ : written_).insert(arrays[k]);
        if (part->count > longest_) {
            longest_ = part->count;
            dense_ = Aligned<float>(kDense * pitch());
        }
        parts_.push_back(std::move(part));
    }

    // Step all actuators in their order. Everything is looked through before anything is written.
    void step(const Frame& frame, const Memory& now, const Memory& after, float dt) {
        if (now.parts.size() != parts_.size() || after.parts.size() != parts_.size())
            refuse("states", "one per actuator");
        for (size_t k = 0; k < parts_.size(); ++k) {
            require_arrays(*parts_[k], frame);
            require_state(*parts_[k], now.parts[k], after.parts[k]);
        }
        for (size_t k = 0; k < parts_.size(); ++k) begin(*parts_[k], now.parts[k], after.parts[k], dt);
        if (feeds_back(frame)) {
            // an actuator sees what those before it have written
            for (const auto& part : parts_) run(*part, frame, 0, part->count);
        } else {
            // some joints of all actuators at a time, as they often share cache lines
            for (int64_t first = 0; first < longest_; first += kTogether)
                for (const auto& part : parts_)
                    if (first < part->count) run(*part, frame, first, std::min(first + kTogether, part->count));
        }
        for (const auto& part : parts_)
            if (part->lag.given()) *part->after.newest = static_cast<int32_t>(part->next);
    }

  private:
    enum { kVelocities, kPositions, kTargets, kEfforts, kIndices };
    enum { kOut = kSignals, kComputedOut, kArrays };
    // dense arrays: signals, commands of this step, efforts, integrals before
    enum { kCommands = kSignals, kEffort = kCommands + 3, kIntegral, kDense };
    static constexpr const char* kIndexNames[] = {"indices", "pos_indices", "target_pos_indices", "effort_indices"};
    static constexpr const char* kRowNames[] = {"kp", "kd", "const_effort", "ki", "integral_max"};
    static constexpr int32_t kFirst = 0;

    struct Part {
        std::string label;
        int64_t count = 0;
        Index indices[kIndices];
        int arrays[kArrays];
        Strided<int32_t> lag;
        py::array_t<int32_t> fault;
        py::array_t<int64_t> fault_step, steps;
        py::array_t<float> computed;
        // the step without limits, whose efforts are the computed ones, and the limits of those
        Problem law, clamps;
        // parameters that are not contiguous, and where they are copied to
        std::vector<std::pair<Strided<float>, Aligned<float>>> scattered;
        std::vector<Strided<float>> in_place;
        std::vector<Aligned<float>> tables;
        // of the step that runs: states, and the rows of the delay's ring last written and written now
        Memory::Part now, after;
        int64_t newest = 0, next = 0;
    };

    // joints of an actuator that are stepped at a time
    static constexpr int64_t kTogether = 64;

    template <class T>
    static Strided<T> sized(const char* name, const py::object& given, const Part& part) {
        Strided<T> array(part.label + ": " + name, given);
        if (array.given() && array.size != part.count)
            refuse(part.label + ": " + name + " has " + std::to_string(array.size) + " elements",
                   std::to_string(part.count) + ", one per joint");
        return array;
    }

    static Row row_of(Part& part, const char* name, const py::object& given) {
        static const Aligned<float> zeros(kTogether);
        Strided<float> values = sized<float>(name, given, part);
        if (!values.given()) return {zeros.data(), nullptr};
        part.in_place.push_back(values);
        if (values.step == 1) return {nullptr, values.data};
        part.scattered.emplace_back(values, Aligned<float>(part.count));
        return {nullptr, part.scattered.back().second.data()};
    }

    static void add_limit(Part& part, Limits& limits, int kind, const std::vector<py::object>& values) {
        const size_t expected[] = {3, 2, 1};
        if (kind < 0 || kind > 2 || values.size() != expected[kind])
            refuse("limit of kind " + std::to_string(kind),
                   "0 (DC motor) with 3 parameters, 1 (table) with 2 columns or 2 (max effort) with 1 parameter");
        if (kind == 0) {
            limits.dc_motor = true;
            limits.stall = row_of(part, "saturation_effort", values[0]);
            limits.no_load_velocity = row_of(part, "velocity_limit", values[1]);
            limits.peak = row_of(part, "max_motor_effort", values[2]);
        } else if (kind == 1) {
            limits.table = true;
            const Strided<float> positions("lookup_positions", values[0]), efforts("lookup_efforts", values[1]);
            if (positions.size < 1 || positions.size != efforts.size)
                refuse("table", "as many efforts as positions, at least one");
            part.tables.push_back(table_rows(positions, efforts, positions.size));
            limits.tables.push_back({static_cast<int>(positions.size), part.tables.back().data(), nullptr, 1});
        } else {
            limits.max_effort = true;
            limits.largest = row_of(part, "max_effort", values[0]);
        }
    }

    // Where position targets stand: as positions do where there are as many of them.
    static const Index& targets_of(const Part& part, const Frame& frame) {
        if (part.indices[kTargets].given()) return part.indices[kTargets];
        const bool alike =
            frame.columns[part.arrays[kPositionTarget]].size == frame.columns[part.arrays[kPosition]].size;
        return part.indices[alike ? kPositions : kVelocities];
    }

    // The index array of each array of a frame.
    static const Index& index_of(const Part& part, const Frame& frame, int array) {
        if (array == kPosition) return part.indices[kPositions];
        if (array == kPositionTarget) return targets_of(part, frame);
        return part.indices[array < kOut ? kVelocities : kEfforts];
    }

    static void require_arrays(const Part& part, const Frame& frame) {
        // each index array is looked through once, against the shortest of its arrays
        std::pair<const Index*, int> shortest[kArrays];
        int count = 0;
        for (int k = 0; k < kArrays; ++k) {
            const int number = part.arrays[k];
            if (number >= static_cast<int>(frame.columns.size())) refuse(part.label + ": arrays", "of the frame");
            if (number < 0 || !frame.columns[number].given()) {
                if (k == kFeedforward || k == kComputedOut) continue;
                refuse(part.label + ": array " + std::to_string(k), "there");
            }
            if (k >= kOut && !frame.columns[number].writeable) refuse(frame.names[number], "writeable");
            const Index& index = index_of(part, frame, k);
            int at = 0;
            while (at < count && !shortest[at].first->is(index)) ++at;
            if (at == count) shortest[count++] = {&index, number};
            if (frame.columns[number].size < frame.columns[shortest[at].second].size) shortest[at].second = number;
        }
        for (int k = 0; k < count; ++k) {
            const Index& index = *shortest[k].first;
            const auto& array = frame.columns[shortest[k].second];
            uint32_t largest = 0;
            for (int64_t i = 0; i < part.count; ++i) largest = std::max(largest, index[i]);
            if (part.count && largest >= array.size)
                refuse(part.label + ": index " + std::to_string(largest) + " into " + frame.names[shortest[k].second],
                       "below " + std::to_string(array.size) + ", its length");
        }
    }

    static void require_state(const Part& part, const Memory::Part& now, const Memory::Part& after) {
        const bool integral = part.law.integral_slots > 0, delayed = part.lag.given();
        if (integral && (now.count != part.count || after.count != part.count || !now.integral || !after.integral))
            refuse(part.label + ": controller_state", "one of this actuator, with an integral");
        if (delayed && (now.count != part.count || after.count != part.count || !now.depth || now.depth != after.depth))
            refuse(part.label + ": delay_state", "one of this actuator, both of the same depth");
    }

    // Whether anything is read where something is written.
    bool feeds_back(const Frame& frame) const {
        for (const int to : written_)
            for (const int from : read_)
                if (frame.columns[to].overlaps(frame.columns[from])) return true;
        return false;
    }

    // What is not done joint by joint.
    static void begin(Part& part, const Memory::Part& now, const Memory::Part& after, float dt) {
        part.now = now;
        part.after = after;
        part.law.dt = dt;
        for (auto& [values, copy] : part.scattered)
            for (int64_t i = 0; i < part.count; ++i) copy[i] = values[i];
        if (part.law.integral_slots) {
            if (after.integral != now.integral) std::copy_n(now.integral, part.count, after.integral);
            part.law.integral = after.integral;
        }
        if (!part.lag.given()) return;
        for (int c = 0; c < 3; ++c)
            if (after.rows[c] != now.rows[c]) std::copy_n(now.rows[c], now.depth * part.count, after.rows[c]);
        // written by others: not to be trusted with a place in memory
        part.newest = (*now.newest % now.depth + now.depth) % now.depth;
        part.next = (part.newest + 1) % now.depth;
    }

    // Step the joints [first, last) of an actuator.
    void run(Part& part, const Frame& frame, int64_t first, int64_t last) {
        Problem &law = part.law, &clamps = part.clamps;
        for (int s = 0; s < kSignals; ++s) {
            gather(part, frame, s, first, last);
            law.input[s] = clamps.input[s] = dense(s);
        }
        const bool late = part.lag.given() && !delay(part, first, last);
        if (late && law.integral_slots) std::copy(law.integral + first, law.integral + last, dense(kIntegral) + first);
        const int64_t from = first / kTogether, to = (last + kTogether - 1) / kTogether;
        variant_.step_blocks(law, from, to, scratch_.data());
        const float* efforts = law.efforts;
        if (!clamps.limits.empty()) {
            efforts = clamps.efforts = dense(kEffort);
            variant_.step_blocks(clamps, from, to, scratch_.data());
        }
        if (late || !found_.empty()) find_faults(part, late, first, last);
        int64_t* const steps = part.steps.mutable_data();
        for (int64_t i = first; i < last; ++i) ++steps[i];

        scatter(efforts, frame, part.arrays[kOut], part.indices[kEfforts], first, last);
        scatter(law.efforts, frame, part.arrays[kComputedOut], part.indices[kEfforts], first, last);
    }

    // A signal of a frame; of commands that are delayed it is the one to remember.
    void gather(const Part& part, const Frame& frame, int signal, int64_t first, int64_t last) {
        float* const to = dense(now_of(part, signal));
        const int number = part.arrays[signal];
        if (number < 0 || !frame.columns[number].given()) {
            std::fill(to + first, to + last, 0.0f);
            return;
        }
        const Strided<float>& from = frame.columns[number];
        const Index& index = index_of(part, frame, signal);
        for (int64_t i = first; i < last; ++i) to[i] = from[index[i]];
    }

    static void scatter(const float* efforts, const Frame& frame, int number, const Index& index, int64_t first,
                        int64_t last) {
        if (number < 0) return;
        const Strided<float>& to = frame.columns[number];
        for (int64_t i = first; i < last; ++i) to[index[i]] += efforts[i];
    }

    // Read delayed commands, remember those of this step; whether these are all finite. One that is not does not enter
    // the ring: the command before is held, and a joint that has none yet has not begun.
    bool delay(const Part& part, int64_t first, int64_t last) {
        const Memory::Part &now = part.now, &after = part.after;
        const int64_t count = part.count, depth = now.depth;
        const float *command[3], *before[3];
        float *delayed[3], *kept[3];
        for (int c = 0; c < 3; ++c) {
            command[c] = dense(kCommands + c);
            delayed[c] = dense(kPositionTarget + c);
            before[c] = now.rows[c] + part.newest * count;
            kept[c] = after.rows[c] + part.next * count;
        }
        bool good = true;
        for (int64_t i = first; i < last; ++i) {
            const int64_t pushes = now.pushes[i], lag = std::min<int64_t>({part.lag[i], pushes, depth});
            const int64_t row = part.newest - lag + 1 + (lag > part.newest + 1 ? depth : 0);
            bool finite = true;
            for (int c = 0; c < 3; ++c) {
                const float value = command[c][i], held = pushes > 0 ? before[c][i] : 0.0f;
                // read first: the row may be the one to write
                delayed[c][i] = lag > 0 ? now.rows[c][row * count + i] : value;
                kept[c][i] = std::isfinite(value) ? value : held;
                finite &= std::isfinite(value);
            }
            after.pushes[i] = static_cast<int32_t>(finite || pushes > 0 ? std::min(pushes + 1, depth) : 0);
            good &= finite;
        }
        return good;
    }

    // Latch what the step found, and look for commands that a delay has kept from it.
    void find_faults(Part& part, bool late, int64_t first, int64_t last) {
        for (const Fault& fault : found_) {
            const int32_t code = code_of(part, fault.robot);
            latch(part, fault.robot, code ? code : fault.code);
        }
        found_.clear();
        for (int64_t i = first; late && i < last; ++i) {
            const int32_t code = code_of(part, i);
            if (!code) continue;
            if (part.law.integral_slots) part.law.integral[i] = dense(kIntegral)[i];
            latch(part, i, code);
        }
    }

    void latch(Part& part, int64_t i, int32_t code) {
        part.law.efforts[i] = dense(kEffort)[i] = 0.0f;
        if (part.fault.at(i)) return;
        part.fault.mutable_at(i) = code;
        part.fault_step.mutable_at(i) = part.steps.at(i);
    }

    int32_t code_of(const Part& part, int64_t i) const {
        int32_t code = 0;
        for (int s = 0; s < kSignals; ++s) code |= std::isfinite(dense(now_of(part, s))[i]) ? 0 : 1 << s;
        return code;
    }

    // Where a signal of this very step is, delayed or not.
    static int now_of(const Part& part, int signal) {
        return part.lag.given() && signal >= kPositionTarget ? kCommands + signal - kPositionTarget : signal;
    }

    int64_t pitch() const { return (longest_ + 15) / 16 * 16; }
    float* dense(int number) const { return dense_.data() + number * pitch(); }

    const Variant& variant_ = choose_variant();
    std::vector<std::unique_ptr<Part>> parts_;
    std::set<int> read_, written_;
    int64_t longest_ = 0;
    Aligned<float> dense_, scratch_{kScratchArrays * static_cast<size_t>(kTogether)};
    std::vector<Fault> found_;
    std::mutex guard_;
};

// Whether containers still hold the very objects that were listed for them. Each item is a dict or list, and a tuple.
bool unchanged(const py::list& watched) {
    for (const py::handle item : watched) {
        if (!PyTuple_Check(item.ptr()) || PyTuple_GET_SIZE(item.ptr()) != 2) refuse(text(item), "a pair");
        PyObject* const container = PyTuple_GET_ITEM(item.ptr(), 0);
        PyObject* const listed = PyTuple_GET_ITEM(item.ptr(), 1);
        if (!PyTuple_Check(listed)) refuse(text(listed), "a tuple");
        const Py_ssize_t size = PyTuple_GET_SIZE(listed);
        Py_ssize_t at = 0, place = 0;
        PyObject *key, *value;
        if (PyList_Check(container)) {
            if (PyList_GET_SIZE(container) != size) return false;
            for (; at < size; ++at)
                if (PyList_GET_ITEM(container, at) != PyTuple_GET_ITEM(listed, at)) return false;
        } else {
            if (!PyDict_Check(container) || PyDict_Size(container) != size) return false;
            while (PyDict_Next(container, &place, &key, &value))
                if (value != PyTuple_GET_ITEM(listed, at++)) return false;
        }
    }
    return true;
}

void register_flat(py::module_& m) {
    py::class_<Frame>(m, "Frame")
        .def(py::init<const std::vector<std::pair<std::string, py::object>>&>(), py::arg("arrays"));
    py::class_<Memory>(m, "Memory")
        .def(py::init<const std::vector<std::tuple<int64_t, py::object, std::vector<py::object>>>&>(),
             py::arg("states"));
    py::class_<Flat>(m, "Flat")
        .def(py::init<>())
        .def("add", &Flat::add, py::kw_only(), py::arg("label"), py::arg("indices"), py::arg("arrays"),
             py::arg("integral"), py::arg("parameters"), py::arg("lag"), py::arg("limits"), py::arg("record"))
        .def("step", &Flat::step, py::arg("frame"), py::arg("now"), py::arg("after"), py::arg("dt"));
    m.def("unchanged", &unchanged, py::arg("watched"));
}

}  // namespace
