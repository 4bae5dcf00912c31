// New arrays in each call: those that lie as the ones before did are read and written where they are, and nothing else
// changes.
#pragma once
#include "bound_plan.h"
#include "seen.h"

namespace actuators {

// An array of a call that others like it may take the place of.
class End {
  public:
    End(PyObject* array, bool output) : type_(py::type::of(array)), lie_(array), output_(output) {
        // a type is recognized by its address
        if (lie_.way() == Lie::Way::kNumpy) descr_ = py::reinterpret_borrow<py::array>(array).dtype();
        // what reads such a tensor has to change the sign
        if (lie_.way() == Lie::Way::kTable) is_neg_ = py::getattr(type_, "is_neg", py::none());
    }

    // Whether others can be told to be like it.
    bool good() const { return lie_.known() && !(output_ && lie_.way() == Lie::Way::kBuffer); }

    // Where an array begins that is like it, null for any other; `held` is what was kept last.
    float* find(PyObject* array, const PyObject* held) const {
        if (Py_TYPE(array) != reinterpret_cast<PyTypeObject*>(type_.ptr())) return nullptr;
        const void* data;
        if (!lie_.find(array, data) || !data || reinterpret_cast<uintptr_t>(data) % sizeof(float)) return nullptr;
        if (output_ && lie_.way() == Lie::Way::kNumpy &&
            !(py::detail::array_proxy(array)->flags & py::detail::npy_api::NPY_ARRAY_WRITEABLE_))
            return nullptr;
        if (array != held && !is_neg_.is_none()) {
            const auto negative = py::reinterpret_steal<py::object>(PyObject_CallOneArg(is_neg_.ptr(), array));
            if (!negative) PyErr_Clear();
            if (negative.ptr() != Py_False) return nullptr;
        }
        return static_cast<float*>(const_cast<void*>(data));
    }

    // What keeps its memory, which libraries of the buffer protocol may give away otherwise.
    py::object keep(PyObject* array) const {
        if (lie_.way() != Lie::Way::kBuffer) return py::reinterpret_borrow<py::object>(array);
        auto view = py::reinterpret_steal<py::object>(PyMemoryView_FromObject(array));
        if (!view) throw py::error_already_set();
        return view;
    }

    const Lie& lie() const { return lie_; }

  private:
    py::object type_, descr_, is_neg_ = py::none();
    Lie lie_;
    bool output_;
};

// Arrays of a call in the place of those that a plan is bound to.
class Followed {
  public:
    Followed(BoundPlan& plan, const py::tuple& given) : plan_(plan) {
        if (given.size() != BoundPlan::kArrays) refuse("given", "five signals and the efforts, None for one left out");
        for (size_t k = 0; k < BoundPlan::kArrays; ++k)
            ends_[k] = given[k].is_none() ? nullptr : std::make_unique<End>(given[k].ptr(), k == kSignals);
    }

    bool good() const {
        return std::all_of(std::begin(ends_), std::end(ends_), [](const auto& end) { return !end || end->good(); });
    }

    // From now on as long as nobody binds the plan to others; it is bound to the arrays that these are.
    void begin() {
        for (size_t k = 0; k < BoundPlan::kArrays; ++k) {
            const py::handle bound = plan_.array(k);
            if (!bound || !py::isinstance<py::array>(bound)) refuse("plan", "one that was just bound to columns");
            if (ends_[k] && !ends_[k]->lie().is(py::reinterpret_borrow<py::array>(bound)))
                refuse("given[" + std::to_string(k) + "]", "the array that is bound");
        }
        const Turn turn(plan_.plan.busy());
        plan_.bound = serial_ = BoundPlan::next_serial();
    }

    // Whether the plan reads and writes these arrays now.
    bool follow(PyObject* const* arrays) const {
        if (plan_.bound != serial_) return false;
        float* data[BoundPlan::kArrays] = {};
        std::array<py::object, BoundPlan::kArrays> next;
        bool moved = false;
        for (size_t k = 0; k < BoundPlan::kArrays; ++k) {
            if (!ends_[k]) {
                if (arrays[k] != Py_None) return false;
                continue;
            }
            if (!(data[k] = ends_[k]->find(arrays[k], plan_.array(k)))) return false;
            moved |= data[k] != data_[k];
            next[k] = ends_[k]->keep(arrays[k]);
        }
        if (moved && overlaps(data)) return false;
        float* inputs[kSignals];
        std::copy_n(data, kSignals, inputs);
        if (!plan_.move_columns(serial_, next, inputs, data[kSignals])) return false;
        std::copy_n(data, BoundPlan::kArrays, data_);
        return true;
    }

  private:
    // Whether efforts might be written into a part of an input, and not number by number.
    bool overlaps(float* const (&data)[BoundPlan::kArrays]) const {
        if (!ends_[kSignals]) return false;
        const auto begins = [&](size_t k) { return reinterpret_cast<uintptr_t>(data[k]); };
        const auto ends = [&](size_t k) { return begins(k) + ends_[k]->lie().bytes(); };
        for (size_t k = 0; k < kSignals; ++k) {
            if (!ends_[k] || begins(k) >= ends(kSignals) || begins(kSignals) >= ends(k)) continue;
            if (data[k] != data[kSignals] || !ends_[k]->lie().like(ends_[kSignals]->lie())) return true;
        }
        return false;
    }

    BoundPlan& plan_;
    std::unique_ptr<End> ends_[BoundPlan::kArrays];
    uint64_t serial_ = 0;
    mutable float* data_[BoundPlan::kArrays] = {};
};

// A function that binds a plan to arrays that lie as these do, which it is bound to, if it can: it tells whether. None
// where arrays like these cannot be told from others.
inline py::object follower(const py::object& plan, const py::tuple& given) {
    auto followed = std::make_unique<Followed>(plan.cast<BoundPlan&>(), given);
    if (!followed->good()) return py::none();
    const Fast follow = [](PyObject* self, PyObject* const* arrays, Py_ssize_t count) -> PyObject* {
        try {
            return PyBool_FromLong(count == BoundPlan::kArrays && kept_by<Followed>(self).follow(arrays));
        } catch (py::error_already_set& error) {
            error.restore();
        } catch (const std::exception& error) {
            PyErr_SetString(PyExc_RuntimeError, error.what());
        }
        return nullptr;
    };
    static PyMethodDef method = fast("follow", follow, "Whether these arrays are read and written from now on.");
    followed->begin();
    return made_fast(method, plan, std::move(followed));
}

}  // namespace actuators
