// Repeated calls with the simulation's objects: arrays and states are found by name and identity and validated only
// once.
#pragma once
#include <cmath>
#include <deque>

#include "array_layout.h"
#include "bound_plan.h"

namespace actuators {

// True if each container still holds the listed objects. Each item is a pair of a dict or list, and a tuple.
inline bool unchanged(const py::list& watched) {
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

class Calls {
  public:
    // Each name is a tuple of a name and its aliases. If a `watched` container has changed, a call returns at once.
    // `timed` laws need a time step.
    Calls(const std::vector<py::object>& plans, const std::vector<py::object>& state_names,
          const std::vector<py::object>& control_names, const py::list& watched, bool stateful, bool timed)
        : kept_(plans), watched_(watched), stateful_(stateful), timed_(timed) {
        for (const py::object& plan : plans) plans_.push_back(&plan.cast<BoundPlan&>());
        for (const auto& one : state_names) names_.push_back({false, one.cast<py::tuple>()});
        for (const auto& one : control_names) names_.push_back({true, one.cast<py::tuple>()});
        order_.assign(plans_.begin(), plans_.end());
        // all callers lock plans in the same order
        std::sort(order_.begin(), order_.end());
        if (std::adjacent_find(order_.begin(), order_.end()) != order_.end()) refuse("plans", "all different");
    }

    // Unbinds the arrays that this object keeps alive.
    ~Calls() {
        for (BoundPlan* one : plans_) {
            const auto mine = [](const auto& kept, uint64_t serial) {
                return std::any_of(kept.begin(), kept.end(), [&](const auto& each) { return each->serial == serial; });
            };
            const Turn turn(one->plan.busy());
            if (mine(frames_, one->bound)) one->plan.release_arrays(), one->bound = 0;
            if (mine(pairs_, one->used)) one->plan.release_states(), one->used = 0;
        }
    }
    Calls(const Calls&) = delete;
    Calls& operator=(const Calls&) = delete;

    // Actuators own their calls, which watch actuators: a reference cycle for Python's garbage collector.
    static void setup(PyHeapTypeObject* heap_type) {
        PyTypeObject* const type = &heap_type->ht_type;
        type->tp_flags |= Py_TPFLAGS_HAVE_GC;
        type->tp_traverse = [](PyObject* self, visitproc visit, void* arg) {
            Py_VISIT(Py_TYPE(self));
            if (!py::detail::is_holder_constructed(self)) return 0;
            const auto& calls = py::cast<Calls&>(py::handle(self));
            Py_VISIT(calls.watched_.ptr());
            for (const auto& kept : calls.frames_) {
                for (const py::object& one : kept->objects) Py_VISIT(one.ptr());
                Py_VISIT(kept->alive.ptr());
            }
            for (const auto& pair : calls.pairs_) {
                Py_VISIT(pair->watched.ptr());
                Py_VISIT(pair->alive.ptr());
            }
            return 0;
        };
        // only `watched` can close the cycle
        type->tp_clear = [](PyObject* self) {
            if (!py::detail::is_holder_constructed(self)) return 0;
            auto& calls = py::cast<Calls&>(py::handle(self));
            const py::object gone = std::move(calls.watched_);
            calls.over_ = true;
            return 0;
        };
    }

    bool is_current() const { return !over_ && unchanged(watched_); }

    // Step all plans if the given objects are known; returns true if it did.
    bool step(py::handle sim_state, py::handle sim_control, py::handle now, py::handle after, py::handle dt) {
        double seconds = 0;
        if (!dt.is_none()) {
            seconds = PyFloat_AsDouble(dt.ptr());
            if (seconds == -1.0 && PyErr_Occurred()) {
                // the validating path reports the error
                if (!PyErr_ExceptionMatches(PyExc_OverflowError) && !PyErr_ExceptionMatches(PyExc_TypeError))
                    throw py::error_already_set();
                PyErr_Clear();
                return false;
            }
        }
        if (dt.is_none() ? timed_ : !(std::isfinite(seconds) && seconds >= 0)) return false;
        if (!is_current()) return false;
        // held by this call, since another thread may add frames while this one waits for a plan
        const std::shared_ptr<const Kept> frame = find_frame(sim_state, sim_control);
        if (!frame) return false;
        const std::shared_ptr<const Pair> states = stateful_ ? find_states(now, after) : nullptr;
        if (stateful_ && !states) return false;
        if (plans_.size() == 1) {
            const Turn turn(plans_[0]->plan.busy());
            bind(*frame, states.get());
            plans_[0]->run_now(Phase::kWhole, static_cast<float>(seconds));
        } else {
            const std::vector<std::unique_ptr<Turn>> turns = take_turns();
            bind(*frame, states.get());
            run_together(static_cast<float>(seconds));
        }
        return true;
    }

    // Add arrays by the objects they were found in, state and control, in the order of the names.
    void add_frame(const std::vector<py::object>& objects, const std::vector<std::vector<std::string>>& names,
                   const std::vector<std::vector<py::object>>& arrays,
                   const std::vector<std::vector<py::object>>& indices) {
        if (objects.size() != names_.size()) refuse("objects", "one per name");
        if (names.size() != plans_.size() || arrays.size() != plans_.size() || indices.size() != plans_.size())
            refuse("arrays", "those of each plan");
        const auto kept = std::make_shared<Kept>();
        for (size_t k = 0; k < plans_.size(); ++k)
            kept->frames.push_back(plans_[k]->frame(names[k], arrays[k], indices[k]));
        kept->objects = objects;
        for (const py::object& one : objects) kept->layouts.emplace_back(one.ptr());
        kept->alive = py::make_tuple(arrays, indices);
        kept->serial = BoundPlan::next_serial();
        frames_.push_back(kept);
        {
            const std::vector<std::unique_ptr<Turn>> turns = take_turns();
            bind(*kept, nullptr);
        }
        // destroyed last, when nothing points to the oldest frame
        std::shared_ptr<Kept> gone;
        if (frames_.size() > kMost) {
            gone = std::move(frames_.front());
            frames_.pop_front();
        }
    }

    // Add states by the objects they were given as.
    void add_states(const py::object& now, const py::object& after, const std::vector<py::object>& bound_now,
                    const std::vector<py::object>& bound_after, const py::list& watched) {
        if (bound_now.size() != plans_.size() || bound_after.size() != plans_.size())
            refuse("states", "one per actuator");
        const auto pair = std::make_shared<Pair>(Pair{elements(now),
                                                      elements(after),
                                                      {},
                                                      {},
                                                      watched,
                                                      py::make_tuple(held(now), held(after), bound_now, bound_after),
                                                      0});
        for (size_t k = 0; k < plans_.size(); ++k) {
            const auto& read = bound_now[k].cast<const BoundState&>();
            const auto& write = bound_after[k].cast<const BoundState&>();
            plans_[k]->require(read);
            plans_[k]->require(write);
            pair->read.push_back(read.state);
            pair->write.push_back(write.state);
        }
        std::deque<std::shared_ptr<Pair>> gone;
        for (auto one = pairs_.begin(); one != pairs_.end();) {
            // same objects with changed contents
            if ((*one)->now == pair->now && (*one)->after == pair->after) {
                gone.push_back(std::move(*one));
                one = pairs_.erase(one);
            } else {
                ++one;
            }
        }
        if (pairs_.size() >= kMost) {
            gone.push_back(std::move(pairs_.front()));
            pairs_.pop_front();
        }
        pair->serial = BoundPlan::next_serial();
        pairs_.push_back(pair);
        const std::vector<std::unique_ptr<Turn>> turns = take_turns();
        use(*pair);
    }

  private:
    static constexpr size_t kMost = 4;
    struct Name {
        bool of_control;
        py::tuple names;
    };
    struct Kept {
        std::vector<py::object> objects;
        std::vector<ArrayLayout> layouts;
        std::vector<Frame> frames;
        py::object alive;
        uint64_t serial = 0;
    };
    struct Pair {
        std::vector<PyObject*> now, after;
        std::vector<State> read, write;
        py::list watched;
        py::object alive;
        uint64_t serial = 0;
    };

    // An attribute of an object or a value of a dict; null if missing.
    static PyObject* attribute(PyObject* source, PyObject* name) {
        if (PyDict_Check(source)) {
            PyObject* const found = PyDict_GetItemWithError(source, name);
            if (!found && PyErr_Occurred()) throw py::error_already_set();
            Py_XINCREF(found);
            return found;
        }
        PyObject* found = nullptr;
#if PY_VERSION_HEX >= 0x030D0000
        if (PyObject_GetOptionalAttr(source, name, &found) < 0) throw py::error_already_set();
#else
        if (_PyObject_LookupAttr(source, name, &found) < 0) throw py::error_already_set();
#endif
        return found;
    }

    std::shared_ptr<const Kept> find_frame(py::handle sim_state, py::handle sim_control) {
        py::object found[2 * kEnds];
        if (names_.size() > 2 * kEnds) return nullptr;
        for (size_t k = 0; k < names_.size(); ++k) {
            PyObject* const source = (names_[k].of_control ? sim_control : sim_state).ptr();
            for (const py::handle name : names_[k].names) {
                found[k] = py::reinterpret_steal<py::object>(attribute(source, name.ptr()));
                if (found[k] && !found[k].is_none()) break;
            }
            if (!found[k]) found[k] = py::none();
        }
        const auto is = [&](const Kept& kept) {
            for (size_t k = 0; k < names_.size(); ++k)
                if (!kept.objects[k].is(found[k]) || !kept.layouts[k].holds(found[k].ptr())) return false;
            return true;
        };
        for (const auto& kept : frames_)
            if (is(*kept)) return kept;
        return nullptr;
    }

    static std::vector<PyObject*> elements(const py::object& states) {
        if (!PyTuple_Check(states.ptr()) && !PyList_Check(states.ptr())) return {states.ptr()};
        std::vector<PyObject*> all;
        for (const py::handle one : states) all.push_back(one.ptr());
        return all;
    }

    // Keeps the states alive: a list may drop its items.
    static py::object held(const py::object& states) { return PyList_Check(states.ptr()) ? py::tuple(states) : states; }

    static bool is(py::handle states, const std::vector<PyObject*>& known) {
        if (!PyTuple_Check(states.ptr()) && !PyList_Check(states.ptr()))
            return known.size() == 1 && states.ptr() == known[0];
        if (PySequence_Fast_GET_SIZE(states.ptr()) != static_cast<Py_ssize_t>(known.size())) return false;
        for (size_t k = 0; k < known.size(); ++k)
            if (PySequence_Fast_GET_ITEM(states.ptr(), k) != known[k]) return false;
        return true;
    }

    std::shared_ptr<const Pair> find_states(py::handle now, py::handle after) {
        for (const auto& pair : pairs_)
            if (is(now, pair->now) && is(after, pair->after)) return unchanged(pair->watched) ? pair : nullptr;
        return nullptr;
    }

    std::vector<std::unique_ptr<Turn>> take_turns() const {
        std::vector<std::unique_ptr<Turn>> turns;
        for (BoundPlan* one : order_) turns.push_back(std::make_unique<Turn>(one->plan.busy()));
        return turns;
    }

    // Bind all plans to these states; the caller holds their locks.
    void use(const Pair& pair) {
        for (size_t k = 0; k < plans_.size(); ++k) {
            if (plans_[k]->used == pair.serial) continue;
            plans_[k]->plan.use(pair.read[k], pair.write[k]);
            plans_[k]->used = pair.serial;
        }
    }

    void bind(const Kept& kept, const Pair* states) {
        if (states) use(*states);
        for (size_t k = 0; k < plans_.size(); ++k) {
            if (plans_[k]->bound == kept.serial) continue;
            plans_[k]->plan.bind_indices(kept.frames[k]);
            plans_[k]->bound = kept.serial;
        }
        if (feeding_ == kept.serial) return;
        feeding_ = kept.serial;
        feeds_ = false;
        for (const BoundPlan* from : plans_)
            for (const BoundPlan* to : plans_) feeds_ |= plans_.size() > 1 && from->plan.feeds(to->plan);
    }

    // Everything is validated before anything is written.
    void run_together(float dt) {
        for (BoundPlan* one : plans_) one->plan.check(Phase::kWhole);
        int64_t blocks = 0;
        for (BoundPlan* one : plans_) {
            one->plan.begin(Phase::kWhole, dt);
            blocks = std::max(blocks, one->plan.blocks());
            // an actuator reads what earlier actuators have written
            if (feeds_) one->plan.run_blocks(0, one->plan.blocks()), one->plan.finish();
        }
        if (feeds_) return;
        // block by block across actuators, since their joints often share cache lines
        for (int64_t block = 0; block < blocks; ++block)
            for (BoundPlan* one : plans_)
                if (block < one->plan.blocks()) one->plan.run_blocks(block, block + 1);
        for (BoundPlan* one : plans_) one->plan.finish();
    }

    std::vector<py::object> kept_;
    std::vector<BoundPlan*> plans_, order_;
    std::vector<Name> names_;
    py::list watched_;
    bool stateful_, timed_, feeds_ = false, over_ = false;
    std::deque<std::shared_ptr<Kept>> frames_;
    std::deque<std::shared_ptr<Pair>> pairs_;
    // serial number of the frame that `feeds_` refers to
    uint64_t feeding_ = 0;
};

// `Calls.step` as a function of its five arguments.
inline py::object caller(const py::object& calls) {
    const Fast step = [](PyObject* self, PyObject* const* given, Py_ssize_t count) -> PyObject* {
        return translated([&]() -> PyObject* {
            if (count != 5) throw py::type_error("step takes five arguments: state, control, both states and dt");
            return PyBool_FromLong(kept_by<Calls*>(self)->step(given[0], given[1], given[2], given[3], given[4]));
        });
    };
    static PyMethodDef method = fast("step", step, "Step if all arguments are known; return True if it did.");
    return made_fast(method, calls, std::make_unique<Calls*>(&calls.cast<Calls&>()));
}

}  // namespace actuators
