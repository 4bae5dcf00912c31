// Validation of Python arguments: type, shape, layout and writeability. No unchecked memory is accessed.
#pragma once
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "plan.h"

namespace py = pybind11;

namespace actuators {

inline std::string text(const py::handle& value) {
    return py::str(value).cast<std::string>();
}

// An aligned array of one type in native byte order.
template <class T>
py::array typed(const std::string& name, const py::object& given) {
    if (!py::isinstance<py::array>(given)) refuse(name + " = " + text(given), "a NumPy array");
    auto array = given.cast<py::array>();
    // compared by value: arrays from files or other processes have their own dtype objects
    if (!array.dtype().equal(py::dtype::of<T>()))
        refuse(name + " has dtype " + text(array.dtype()), text(py::dtype::of<T>()));
    bool aligned = reinterpret_cast<uintptr_t>(array.data()) % sizeof(T) == 0;
    for (py::ssize_t axis = 0; axis < array.ndim(); ++axis)
        aligned &= array.shape(axis) < 2 || array.strides(axis) % static_cast<py::ssize_t>(sizeof(T)) == 0;
    if (!aligned) refuse(name, "aligned, its numbers a multiple of " + std::to_string(sizeof(T)) + " bytes apart");
    return array;
}

// Numbers to read, of any shape; copied if they have another type, gaps or no alignment.
template <class T>
using Read = py::array_t<T, py::array::c_style | py::detail::npy_api::NPY_ARRAY_ALIGNED_>;

// A contiguous array of the given shape.
template <class T>
py::array_t<T> checked(const std::string& name, const py::object& given, std::vector<py::ssize_t> shape) {
    const py::array array = typed<T>(name, given);
    const std::vector<py::ssize_t> has(array.shape(), array.shape() + array.ndim());
    if (has != shape || !(array.flags() & py::array::c_style))
        refuse(name + " has shape " + text(py::tuple(py::cast(has))),
               "contiguous, of shape " + text(py::tuple(py::cast(shape))));
    return given.cast<py::array_t<T>>();
}

template <class T>
T* written(const std::string& name, const py::object& given, std::vector<py::ssize_t> shape) {
    auto array = checked<T>(name, given, std::move(shape));
    if (!array.writeable()) refuse(name, "writeable");
    return array.mutable_data();
}

// A one-dimensional array with any stride.
template <class T>
struct Strided {
    Strided(const std::string& name, const py::object& given, bool output = false) {
        auto array = typed<T>(name, given);
        if (array.ndim() != 1) refuse(name + " has shape " + text(array.attr("shape")), "one-dimensional");
        if (output && !array.writeable()) refuse(name, "writeable");
        data = static_cast<T*>(const_cast<void*>(array.data()));
        size = array.shape(0);
        stride = size > 1 ? array.strides(0) / static_cast<py::ssize_t>(sizeof(T)) : 1;
    }
    T* data;
    int64_t size, stride;
};

// A (robots, DOFs) array; `columns` are the columns that are read or written.
struct Columns {
    Columns(const std::string& name, const py::object& given, int64_t robots, const std::vector<int32_t>& columns,
            bool output) {
        auto array = typed<float>(name, given);
        if (array.ndim() != 2 || array.shape(0) != robots)
            refuse(name + " has shape " + text(array.attr("shape")), "(robots, DOFs)");
        if (array.shape(1) > 1 && array.strides(1) != sizeof(float)) refuse(name, "contiguous within a row");
        if (array.strides(0) < 0) refuse(name, "made of rows in ascending order");
        if (output && !array.writeable()) refuse(name, "writeable");
        for (const int32_t column : columns)
            if (column < 0 || column >= array.shape(1))
                refuse("column = " + std::to_string(column),
                       "one of the " + std::to_string(array.shape(1)) + " columns of " + name);
        pitch = robots > 1 ? array.strides(0) / static_cast<py::ssize_t>(sizeof(float)) : array.shape(1);
        if (output && robots > 1 && pitch < array.shape(1)) refuse(name, "made of rows that do not overlap");
        data = static_cast<float*>(const_cast<void*>(array.data()));
    }
    float* data;
    int64_t pitch;
};

// Lock of a mutex. Waiting releases the GIL, since the holder of the mutex may need another Python thread to finish.
// While it is held, no Python object may be created or destroyed: that can run arbitrary code, which may step the plan.
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

}  // namespace actuators
