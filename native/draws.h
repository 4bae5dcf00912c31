// Random values of many parameters of many robots in one pass.
//
// A number depends only on the key of its draw, the robot and the robot's draw count, not on other robots or their
// order. `engine/random/random_numbers.py` implements the same in NumPy.
#pragma once
#include <cmath>

#include "arguments.h"

namespace actuators {

// Finalizer of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
inline uint64_t mixed(uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

// Quantile of the standard normal distribution, accurate to 1.2e-9 (P. J. Acklam's rational approximation).
inline double normal_quantile(double p) {
    constexpr double a[] = {-3.969683028665376e+01, 2.209460984245205e+02,  -2.759285104469687e+02,
                            1.383577518672690e+02,  -3.066479806614716e+01, 2.506628277459239e+00};
    constexpr double b[] = {-5.447609879822406e+01, 1.615858368580409e+02, -1.556989798598866e+02,
                            6.680131188771972e+01, -1.328068155288572e+01};
    constexpr double c[] = {-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
                            -2.549732539343734e+00, 4.374664141464968e+00,  2.938163982698783e+00};
    constexpr double d[] = {7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00, 3.754408661907416e+00};
    constexpr double low = 0.02425;
    if (p < low || p > 1 - low) {
        const double q = std::sqrt(-2 * std::log(p < low ? p : 1 - p));
        const double x = (((((c[0] * q + c[1]) * q + c[2]) * q + c[3]) * q + c[4]) * q + c[5]) /
                         ((((d[0] * q + d[1]) * q + d[2]) * q + d[3]) * q + 1);
        return p < low ? x : -x;
    }
    const double q = p - 0.5, r = q * q;
    return (((((a[0] * r + a[1]) * r + a[2]) * r + a[3]) * r + a[4]) * r + a[5]) * q /
           (((((b[0] * r + b[1]) * r + b[2]) * r + b[3]) * r + b[4]) * r + 1);
}

class Draws {
  public:
    enum Kind { kUniform, kLogUniform, kNormal };
    enum Operation { kSet, kScale, kAdd };

    // each item is (target values, nominal values, kind, operation, a, b, key, true if each draw of a robot gives a new
    // number); arrays are (robots,), a and b are the bounds of a uniform distribution, or mean and standard deviation
    explicit Draws(const std::vector<py::tuple>& items, int64_t robots) : robots_(robots) {
        for (const py::tuple& given : items) {
            if (given.size() != 8) refuse("item", "of eight parts");
            Item item;
            item.keep = given;
            if (!py::isinstance<py::array>(given[0])) refuse("values", "a NumPy array");
            auto out = given[0].cast<py::array>();
            item.whole = out.dtype().equal(py::dtype::of<int32_t>());
            if (!item.whole && !out.dtype().equal(py::dtype::of<float>())) refuse("values", "float32 or int32");
            require(out, "values");
            item.out = static_cast<char*>(out.mutable_data());
            item.pitch = out.strides(0);
            const auto nominal = typed<float>("nominal", given[1]);
            require(nominal, "nominal");
            item.nominal = static_cast<const char*>(nominal.data());
            item.nominal_pitch = nominal.strides(0);
            const int kind = given[2].cast<int>(), operation = given[3].cast<int>();
            if (kind < kUniform || kind > kNormal || operation < kSet || operation > kAdd)
                refuse("item", "of a kind and operation that there is");
            if (item.whole && kind != kUniform) refuse("distribution of whole numbers", "uniform");
            item.kind = static_cast<Kind>(kind), item.operation = static_cast<Operation>(operation);
            item.a = given[4].cast<double>(), item.b = given[5].cast<double>();
            item.key = given[6].cast<uint64_t>(), item.each = given[7].cast<bool>();
            items_.push_back(std::move(item));
        }
    }

    // Draw for some robots, whose global indices start at `first`; `counts` holds the draw count of each robot.
    void draw(const Read<int64_t>& rows, const Read<int64_t>& counts, int64_t first) const {
        if (counts.size() != robots_) refuse("counts", "one per robot");
        std::vector<uint64_t> once, again;
        for (py::ssize_t k = 0; k < rows.size(); ++k) {
            const int64_t row = rows.data()[k];
            if (row < 0 || row >= robots_) refuse("robot = " + std::to_string(row), "one of the robots");
            const uint64_t robot = mixed(static_cast<uint64_t>(first) + static_cast<uint64_t>(row));
            once.push_back(mixed(robot));
            again.push_back(mixed(robot ^ static_cast<uint64_t>(counts.data()[row])));
        }
        for (const Item& item : items_) item.draw(rows.data(), item.each ? again : once);
    }

  private:
    struct Item {
        void draw(const int64_t* rows, const std::vector<uint64_t>& bases) const {
            whole ? draw_as<int32_t>(rows, bases) : draw_as<float>(rows, bases);
        }

        // the conversion of NumPy on most processors, without undefined behavior
        template <class Number>
        static Number number_of(double x) {
            if (std::is_same_v<Number, int32_t> && !(x > -2147483649.0 && x < 2147483648.0)) return INT32_MIN;
            return static_cast<Number>(x);
        }

        template <class Number>
        void draw_as(const int64_t* rows, const std::vector<uint64_t>& bases) const {
            const auto each_of = [&](const auto& number) {
                if (operation == kSet) return put<Number>(rows, bases, number, [](double x, double) { return x; });
                if (operation == kAdd)
                    return put<Number>(rows, bases, number, [](double x, double n) { return n + x; });
                put<Number>(rows, bases, number, [](double x, double n) { return n * x; });
            };
            const double a = this->a, b = this->b;
            if (whole) return each_of([=](double u) { return std::floor(a + u * (b - a)); });
            if (kind == kUniform) return each_of([=](double u) { return a + u * (b - a); });
            if (kind == kLogUniform) return each_of([=](double u) { return std::exp(a + u * (b - a)); });
            constexpr double from = 0.0013498980316300933, to = 1 - from;
            each_of([=](double u) { return a + b * normal_quantile(from + u * (to - from)); });
        }

        template <class Number, class Draw, class Operate>
        void put(const int64_t* rows, const std::vector<uint64_t>& bases, const Draw& number,
                 const Operate& operate) const {
            for (size_t k = 0; k < bases.size(); ++k) {
                const double u = static_cast<double>(mixed(bases[k] ^ key) >> 11) * 0x1p-53;
                float from;
                std::memcpy(&from, nominal + rows[k] * nominal_pitch, sizeof from);
                const Number value = number_of<Number>(operate(number(u), from));
                std::memcpy(out + rows[k] * pitch, &value, sizeof value);
            }
        }

        py::object keep;
        char* out = nullptr;
        const char* nominal = nullptr;
        int64_t pitch = 0, nominal_pitch = 0;
        Kind kind = kUniform;
        Operation operation = kSet;
        double a = 0, b = 0;
        uint64_t key = 0;
        bool whole = false, each = true;
    };

    void require(const py::array& array, const std::string& what) const {
        if (array.ndim() != 1 || array.shape(0) != robots_) refuse(what, "one per robot");
        if (what == "values" && !array.writeable()) refuse(what, "writeable");
    }

    int64_t robots_;
    std::vector<Item> items_;
};

}  // namespace actuators
