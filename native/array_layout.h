// Recognition of arrays by identity and layout. NumPy and Torch can change the memory, type, shape and strides of an
// array in place.
#pragma once
#include <algorithm>
#include <cstring>
#include <memory>

#include "arguments.h"

namespace actuators {

// Memory layout of an array: of NumPy, of a library with the DLPack 1.3 C exchange API such as Torch, or with the
// buffer protocol such as JAX on the CPU. Other arrays are assumed unchanged.
class ArrayLayout {
  public:
    enum class Protocol { kNone, kNumpy, kTable, kBuffer };

    explicit ArrayLayout(PyObject* array) {
        if (py::isinstance<py::array>(array))
            protocol_ = Protocol::kNumpy;
        else if ((look_ = look_of(array)))
            protocol_ = Protocol::kTable;
        else if (PyObject_CheckBuffer(array))
            protocol_ = Protocol::kBuffer;
        known_ = look(array, [this](const void* data, uint64_t type, int axes, const auto* shape, const auto* steps) {
            data_ = data, type_ = type;
            numbers_.assign(shape, shape + axes);
            numbers_.insert(numbers_.end(), steps, steps + axes);
            return true;
        });
        // for example an array on a GPU
        if (protocol_ == Protocol::kBuffer && !known_) protocol_ = Protocol::kNone;
    }

    // True if the layout and address of the array are unchanged.
    bool holds(PyObject* array) const {
        const void* data;
        return protocol_ == Protocol::kNone || (find(array, data) && data == data_);
    }

    // True if an array of the same class has this type, shape and strides; sets `data` to its address.
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
    Protocol protocol() const { return protocol_; }

    // True if it is a float array on the CPU that views the same memory as these NumPy rows.
    bool is(const py::array& rows) const {
        const size_t axes = numbers_.size() / 2, left_out = 2 - axes;
        if (!known_ || axes < 1 || axes > 2 || data_ != rows.data() || (left_out && rows.shape(0) != 1)) return false;
        for (size_t k = 0; k < axes; ++k)
            if (numbers_[k] != rows.shape(left_out + k) ||
                (numbers_[k] > 1 && unit() * numbers_[axes + k] != rows.strides(left_out + k)))
                return false;
        if (protocol_ == Protocol::kNumpy) return rows.dtype().equal(py::handle(reinterpret_cast<PyObject*>(type_)));
        if (protocol_ == Protocol::kTable) return type_ == type_of(2, 32, 1, 1);
        return type_ == type_of("f") || type_ == type_of("=f") || type_ == type_of("@f");
    }

    // Size of the memory range in bytes, if `is` holds.
    int64_t bytes() const {
        const size_t axes = numbers_.size() / 2;
        int64_t last = 0;
        for (size_t k = 0; k < axes; ++k) last += (numbers_[k] - 1) * numbers_[axes + k] * unit();
        return last + static_cast<int64_t>(sizeof(float));
    }

    // True if arrays with the same address view the same elements.
    bool like(const ArrayLayout& other) const { return protocol_ == other.protocol_ && numbers_ == other.numbers_; }

  private:
    // `DLTensor`, and the function table of `__dlpack_c_exchange_api__`, as DLPack defines them
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

    // Encoding of a type; 0 for a format that is too long.
    static uint64_t type_of(uint64_t code, uint64_t bits, uint64_t lanes, int32_t device) {
        return code | bits << 8 | lanes << 16 | static_cast<uint64_t>(device) << 32;
    }
    static uint64_t type_of(const char* format) {
        uint64_t type = 0;
        if (format && std::strlen(format) < sizeof(type)) std::memcpy(&type, format, std::strlen(format));
        return type;
    }

    // Unit of strides in bytes; DLPack counts floats, the others bytes.
    int64_t unit() const { return protocol_ == Protocol::kTable ? sizeof(float) : 1; }

    // Call with address, type, number of axes, shape and strides; false if these are unavailable.
    template <class Call>
    bool look(PyObject* array, const Call& call) const {
        if (protocol_ == Protocol::kNumpy) {
            const auto* now = py::detail::array_proxy(array);
            return call(now->data, reinterpret_cast<uintptr_t>(now->descr), now->nd, now->dimensions, now->strides);
        }
        if (protocol_ == Protocol::kTable) {
            Tensor now{};
            if (look_(array, &now)) {
                PyErr_Clear();
                return false;
            }
            const uint64_t type = type_of(now.code, now.bits, now.lanes, now.device);
            return now.steps &&
                   call(static_cast<const char*>(now.data) + now.offset, type, now.axes, now.shape, now.steps);
        }
        if (protocol_ == Protocol::kNone) return false;
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

    Protocol protocol_ = Protocol::kNone;
    int (*look_)(void*, Tensor*) = nullptr;
    bool known_ = false;
    const void* data_ = nullptr;
    uint64_t type_ = 0;
    std::vector<int64_t> numbers_;
};

// A C function with bound data, called in each step without the overhead of pybind11.
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
// The result of `call`; an exception becomes the Python error that pybind11 would raise.
template <class Call>
PyObject* translated(const Call& call) {
    try {
        return call();
    } catch (py::error_already_set& error) {
        error.restore();
    } catch (...) {
        py::detail::try_translate_exceptions();
    }
    return nullptr;
}

// A function that returns True if it is called with these arrays and their layout is unchanged.
inline py::object recognizer(const py::tuple& given) {
    using Layouts = std::vector<ArrayLayout>;
    const Fast recognize = [](PyObject* self, PyObject* const* arrays, Py_ssize_t count) -> PyObject* {
        PyObject* const known = PyTuple_GET_ITEM(self, 0);
        const auto& layouts = kept_by<Layouts>(self);
        bool same = count == PyTuple_GET_SIZE(known);
        for (Py_ssize_t k = 0; same && k < count; ++k) same = arrays[k] == PyTuple_GET_ITEM(known, k);
        for (Py_ssize_t k = 0; same && k < count; ++k) same = layouts[k].holds(arrays[k]);
        return PyBool_FromLong(same);
    };
    static PyMethodDef method =
        fast("recognize", recognize, "Return True if the arrays are known and their layout is unchanged.");
    auto layouts = std::make_unique<Layouts>();
    for (const py::handle one : given) layouts->emplace_back(one.ptr());
    return made_fast(method, given, std::move(layouts));
}

}  // namespace actuators
