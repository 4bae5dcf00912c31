// Copies between columns of float and double arrays: synchronize a host and its mirrors.
#pragma once
#include <cmath>
#include <optional>

#include "arguments.h"

namespace actuators {

// A two-dimensional array of float or double with any strides.
struct Matrix {
    Matrix(const py::object& given, bool target) : array(given) {
        if (!py::isinstance<py::array>(given)) refuse(text(given), "a NumPy array");
        auto found = given.cast<py::array>();
        wide = found.dtype().equal(py::dtype::of<double>());
        if (!wide && !found.dtype().equal(py::dtype::of<float>()))
            refuse("array of " + text(found.dtype()), "float32 or float64");
        if (found.ndim() != 2) refuse("array of shape " + text(found.attr("shape")), "two-dimensional");
        if (target && !found.writeable()) refuse("target", "writeable");
        data = static_cast<char*>(target ? found.mutable_data() : const_cast<void*>(found.data()));
        rows = found.shape(0), columns = found.shape(1);
        row_pitch = found.strides(0), column_pitch = found.strides(1);
    }

    void require(const std::vector<int32_t>& chosen) const {
        for (const int32_t column : chosen)
            if (column < 0 || column >= columns)
                refuse("column = " + std::to_string(column), "below " + std::to_string(columns));
    }

    // True if rows are contiguous and aligned.
    bool whole() const {
        const int64_t size = wide ? 8 : 4;
        return column_pitch == size && row_pitch % size == 0 && reinterpret_cast<uintptr_t>(data) % size == 0;
    }

    // A row; requires `whole`.
    template <class T>
    T* row(int64_t number) const {
        return reinterpret_cast<T*>(data + number * row_pitch);
    }

    py::object array;
    char* data;
    int64_t rows, columns, row_pitch, column_pitch;
    bool wide;
};

class Transfer {
  public:
    // each item is (source, source columns, target, target columns); columns are matched in order
    Transfer(const std::vector<py::tuple>& items, const py::object& watched) {
        if (!watched.is_none()) {
            watched_.emplace(watched, false);
            if (!watched_->wide || !watched_->whole()) refuse("watched", "float64, contiguous within a row");
        }
        for (const py::tuple& item : items) {
            if (item.size() != 4) refuse("item", "(source, columns, target, columns)");
            Item made{Matrix(item[0], false), Matrix(item[2], true), item[1].cast<std::vector<int32_t>>(),
                      item[3].cast<std::vector<int32_t>>(), false};
            if (made.from_columns.size() != made.to_columns.size())
                refuse("columns", "as many of the source as of the target");
            if (made.from.rows != made.to.rows) refuse("target", "of as many rows as the source");
            made.from.require(made.from_columns);
            made.to.require(made.to_columns);
            made.even =
                made.from.whole() && made.to.whole() && neighbours(made.from_columns) && neighbours(made.to_columns);
            items_.push_back(std::move(made));
        }
    }

    // Run all copies; returns true if all watched numbers are finite.
    bool run() const {
        for (const Item& item : items_) {
            if (item.from.wide) {
                item.to.wide ? copy<double, double>(item) : copy<double, float>(item);
            } else {
                item.to.wide ? copy<float, double>(item) : copy<float, float>(item);
            }
        }
        return !watched_ || is_finite(*watched_);
    }

  private:
    struct Item {
        Matrix from, to;
        std::vector<int32_t> from_columns, to_columns;
        // true if source and target columns are contiguous
        bool even = false;
    };

    static bool is_finite(const Matrix& watched) {
        for (int64_t row = 0; row < watched.rows; ++row) {
            const double* numbers = watched.row<const double>(row);
            // becomes NaN if any number is not finite
            double nothing = 0.0;
            for (int64_t k = 0; k < watched.columns; ++k) nothing += numbers[k] * 0.0;
            if (std::isnan(nothing)) return false;
        }
        return true;
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
                const From* from = item.from.row<const From>(row) + item.from_columns[0];
                To* to = item.to.row<To>(row) + item.to_columns[0];
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
    std::optional<Matrix> watched_;
};

}  // namespace actuators
