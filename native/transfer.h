// Copies between columns of arrays whose numbers are float or double: how a host and its mirrors are kept in step.
#pragma once
#include "arguments.h"

namespace actuators {

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
                const int64_t size = end.wide ? 8 : 4;
                return end.column_pitch == size && end.row_pitch % size == 0 &&
                       reinterpret_cast<uintptr_t>(end.data) % size == 0;
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
        const bool wide = array.dtype().equal(py::dtype::of<double>());
        if (!wide && !array.dtype().equal(py::dtype::of<float>()))
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

}  // namespace actuators
