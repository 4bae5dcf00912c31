// New arrays at each call: arrays with the layout of the previous ones are accessed in place, without rebinding.
#pragma once
#include "array_layout.h"
#include "bound_plan.h"

namespace actuators {

// An array of a call, replaceable by arrays of the same layout.
class End {
  public:
    End(PyObject* array, bool output) : type_(py::type::of(array)), layout_(array), output_(output) {
        // a type is identified by its address
        if (layout_.protocol() == ArrayLayout::Protocol::kNumpy)
            descr_ = py::reinterpret_borrow<py::array>(array).dtype();
        // reading such a tensor requires a sign change
        if (layout_.protocol() == ArrayLayout::Protocol::kTable) is_neg_ = py::getattr(type_, "is_neg", py::none());
    }

    // True if arrays of the same layout can be identified.
    bool good() const { return layout_.known() && !(output_ && layout_.protocol() == ArrayLayout::Protocol::kBuffer); }

    // Address of an array of the same layout, null for any other; `held` is the object kept last.
    float* find(PyObject* array, const PyObject* held) const {
        if (Py_TYPE(array) != reinterpret_cast<PyTypeObject*>(type_.ptr())) return nullptr;
        const void* data;
        if (!layout_.find(array, data) || !data || reinterpret_cast<uintptr_t>(data) % sizeof(float)) return nullptr;
        if (output_ && layout_.protocol() == ArrayLayout::Protocol::kNumpy &&
            !(py::detail::array_proxy(array)->flags & py::detail::npy_api::NPY_ARRAY_WRITEABLE_))
            return nullptr;
        if (array != held && !is_neg_.is_none()) {
            const auto negative = py::reinterpret_steal<py::object>(PyObject_CallOneArg(is_neg_.ptr(), array));
            if (!negative) PyErr_Clear();
            if (negative.ptr() != Py_False) return nullptr;
        }
        return static_cast<float*>(const_cast<void*>(data));
    }

    // The object that keeps the memory alive; libraries with the buffer protocol may otherwise reuse it.
    py::object keep(PyObject* array) const {
        if (layout_.protocol() != ArrayLayout::Protocol::kBuffer) return py::reinterpret_borrow<py::object>(array);
        auto view = py::reinterpret_steal<py::object>(PyMemoryView_FromObject(array));
        if (!view) throw py::error_already_set();
        return view;
    }

    const ArrayLayout& lie() const { return layout_; }

  private:
    py::object type_, descr_, is_neg_ = py::none();
    ArrayLayout layout_;
    bool output_;
};

// Arrays of a call that replace the bound arrays of a plan.
class Rebinding {
  public:
    Rebinding(BoundPlan& plan, const py::tuple& given) : plan_(plan) {
        if (given.size() != BoundPlan::kArrays) refuse("given", "five signals and the efforts, None for one left out");
        for (size_t k = 0; k < BoundPlan::kArrays; ++k)
            ends_[k] = given[k].is_none() ? nullptr : std::make_unique<End>(given[k].ptr(), k == kSignals);
    }

    bool good() const {
        return std::all_of(std::begin(ends_), std::end(ends_), [](const auto& end) { return !end || end->good(); });
    }

    // Start following, until the plan is bound to other arrays; the plan is bound to these arrays now.
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

    // Bind the plan to these arrays if possible; returns true if it reads and writes them now.
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
    // True if efforts could partially overlap an input.
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

// A function that rebinds a plan, currently bound to `given`, to arrays of the same layout and returns true if it
// could. None if such arrays cannot be identified.
inline py::object follower(const py::object& plan, const py::tuple& given) {
    auto rebinding = std::make_unique<Rebinding>(plan.cast<BoundPlan&>(), given);
    if (!rebinding->good()) return py::none();
    const Fast follow = [](PyObject* self, PyObject* const* arrays, Py_ssize_t count) -> PyObject* {
        return translated(
            [&] { return PyBool_FromLong(count == BoundPlan::kArrays && kept_by<Rebinding>(self).follow(arrays)); });
    };
    static PyMethodDef method =
        fast("follow", follow, "Bind the plan to the arrays; return True if it reads and writes them.");
    rebinding->begin();
    return made_fast(method, plan, std::move(rebinding));
}

}  // namespace actuators
