// Arrays recognized when they are given again: the same objects, lying as they lay. NumPy and Torch let memory, type,
// shape and strides of an array change in place.
#pragma once
#include <algorithm>
#include <cstring>
#include <memory>

#include "arguments.h"

namespace actuators {

// How an array lies in memory: of NumPy, of a library with a table of DLPack 1.3, as Torch is, or with Python's buffer
// protocol, as JAX has it on the CPU. Others are taken to lie as they did.
class Lie {
  public:
    enum class Way { kNone, kNumpy, kTable, kBuffer };

    explicit Lie(PyObject* array) {
        if (py::isinstance<py::array>(array))
            way_ = Way::kNumpy;
        else if ((look_ = look_of(array)))
            way_ = Way::kTable;
        else if (PyObject_CheckBuffer(array))
            way_ = Way::kBuffer;
        known_ = look(array, [this](const void* data, uint64_t type, int axes, const auto* shape, const auto* steps) {
            data_ = data, type_ = type;
            numbers_.assign(shape, shape + axes);
            numbers_.insert(numbers_.end(), steps, steps + axes);
            return true;
        });
        // one on a GPU, say
        if (way_ == Way::kBuffer && !known_) way_ = Way::kNone;
    }

    // Whether the array that this was made of lies as it did then.
    bool holds(PyObject* array) const {
        const void* data;
        return way_ == Way::kNone || (find(array, data) && data == data_);
    }

    // Whether an array of the same class has this type, shape and strides, and where it begins.
    bool find(PyObject* array, const void*& data) const {
        return known_ &&
               look(array, [&](const void* now, uint64_t type, int axes, const auto* shape, const auto* steps) {
                   data = now;
                   return type == type_ && numbers_.size() == 2 * static_cast<size_t>(axes) &&
                          std::equal(shape, shape + axes, numbers_.begin()) &&
                          std::equal(steps, steps + axes, numbers_.begin() + axes);
               });
    }

    bool known() const { return known_; }
    Way way() const { return way_; }

    // Whether it is of floats on the CPU, row after row of a plan's robots, and lies where the rows do that NumPy has.
    bool is(const py::array& rows) const {
        const size_t axes = numbers_.size() / 2, left_out = 2 - axes;
        if (!known_ || axes < 1 || axes > 2 || data_ != rows.data() || (left_out && rows.shape(0) != 1)) return false;
        for (size_t k = 0; k < axes; ++k)
            if (numbers_[k] != rows.shape(left_out + k) ||
                (numbers_[k] > 1 && unit() * numbers_[axes + k] != rows.strides(left_out + k)))
                return false;
        if (way_ == Way::kNumpy) return rows.dtype().equal(py::handle(reinterpret_cast<PyObject*>(type_)));
        if (way_ == Way::kTable) return type_ == type_of(2, 32, 1, 1);
        return type_ == type_of("f") || type_ == type_of("=f") || type_ == type_of("@f");
    }

    // From its first byte to behind its last one, where `is` holds.
    int64_t bytes() const {
        const size_t axes = numbers_.size() / 2;
        int64_t last = 0;
        for (size_t k = 0; k < axes; ++k) last += (numbers_[k] - 1) * numbers_[axes + k] * unit();
        return last + static_cast<int64_t>(sizeof(float));
    }

    // Whether two that begin at the same place are each number of both alike.
    bool like(const Lie& other) const { return way_ == other.way_ && numbers_ == other.numbers_; }

  private:
    // `DLTensor`, and the table behind `__dlpack_c_exchange_api__`: what DLPack says they consist of
    struct Tensor {
        void* data;
        int32_t device, device_id, axes;
        uint8_t code, bits;
        uint16_t lanes;
        int64_t *shape, *steps;
        uint64_t offset;
    };
    struct Table {
        uint32_t major, minor;
        const Table* before;
        void* others[3];
        int (*look)(void*, Tensor*);
    };

    static int (*look_of(PyObject* array))(void*, Tensor*) {
        const py::object given =
            py::getattr(reinterpret_cast<PyObject*>(Py_TYPE(array)), "__dlpack_c_exchange_api__", py::none());
        const void* const found = PyCapsule_GetPointer(given.ptr(), "dlpack_exchange_api");
        if (!found) PyErr_Clear();
        auto* table = static_cast<const Table*>(found);
        while (table && table->major != 1) table = table->before;
        return table ? table->look : nullptr;
    }

    // A type as a number, 0 for one that is too long.
    static uint64_t type_of(uint64_t code, uint64_t bits, uint64_t lanes, int32_t device) {
        return code | bits << 8 | lanes << 16 | static_cast<uint64_t>(device) << 32;
    }
    static uint64_t type_of(const char* format) {
        uint64_t type = 0;
        if (format && std::strlen(format) < sizeof(type)) std::memcpy(&type, format, std::strlen(format));
        return type;
    }

    // Bytes that strides are counted in; those of DLPack count floats.
    int64_t unit() const { return way_ == Way::kTable ? sizeof(float) : 1; }

    // Call with address, type, number of axes, shape and strides; false where they cannot be told.
    template <class Call>
    bool look(PyObject* array, const Call& call) const {
        if (way_ == Way::kNumpy) {
            const auto* now = py::detail::array_proxy(array);
            return call(now->data, reinterpret_cast<uintptr_t>(now->descr), now->nd, now->dimensions, now->strides);
        }
        if (way_ == Way::kTable) {
            Tensor now{};
            if (look_(array, &now)) {
                PyErr_Clear();
                return false;
            }
            const uint64_t type = type_of(now.code, now.bits, now.lanes, now.device);
            return now.steps &&
                   call(static_cast<const char*>(now.data) + now.offset, type, now.axes, now.shape, now.steps);
        }
        if (way_ == Way::kNone) return false;
        Py_buffer now;
        if (PyObject_GetBuffer(array, &now, PyBUF_RECORDS_RO)) {
            PyErr_Clear();
            return false;
        }
        const uint64_t type = type_of(now.format);
        const bool good = type && call(now.buf, type, now.ndim, now.shape, now.strides);
        PyBuffer_Release(&now);
        return good;
    }

    Way way_ = Way::kNone;
    int (*look_)(void*, Tensor*) = nullptr;
    bool known_ = false;
    const void* data_ = nullptr;
    uint64_t type_ = 0;
    std::vector<int64_t> numbers_;
};

// A function of C with what it keeps, without pybind11 in between, as it is called in each step.
using Fast = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t);
inline PyMethodDef fast(const char* name, Fast call, const char* says) {
    return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(call)), METH_FASTCALL, says};
}
template <class Kept>
py::object made_fast(PyMethodDef& method, const py::object& object, std::unique_ptr<Kept> kept) {
    const py::capsule held(kept.get(), [](void* given) { delete static_cast<Kept*>(given); });
    kept.release();
    PyObject* const made = PyCFunction_NewEx(&method, py::make_tuple(object, held).ptr(), nullptr);
    if (!made) throw py::error_already_set();
    return py::reinterpret_steal<py::object>(made);
}
template <class Kept>
Kept& kept_by(PyObject* self) {
    return *static_cast<Kept*>(PyCapsule_GetPointer(PyTuple_GET_ITEM(self, 1), nullptr));
}

// A function that tells whether it is called with these arrays, lying as they lie now.
inline py::object recognizer(const py::tuple& given) {
    using Lies = std::vector<Lie>;
    const Fast recognize = [](PyObject* self, PyObject* const* arrays, Py_ssize_t count) -> PyObject* {
        PyObject* const known = PyTuple_GET_ITEM(self, 0);
        const auto& lies = kept_by<Lies>(self);
        bool same = count == PyTuple_GET_SIZE(known);
        for (Py_ssize_t k = 0; same && k < count; ++k) same = arrays[k] == PyTuple_GET_ITEM(known, k);
        for (Py_ssize_t k = 0; same && k < count; ++k) same = lies[k].holds(arrays[k]);
        return PyBool_FromLong(same);
    };
    static PyMethodDef method =
        fast("recognize", recognize, "Whether these arrays were given before, and lie as they lay.");
    auto lies = std::make_unique<Lies>();
    for (const py::handle one : given) lies->emplace_back(one.ptr());
    return made_fast(method, given, std::move(lies));
}

}  // namespace actuators
