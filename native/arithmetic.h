// Primitives of the generated laws. V is float, or a vector of floats where the compiler supports them.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace ACTUATORS_VARIANT {

constexpr float kMax = std::numeric_limits<float>::max();
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// The results of a function with several results.
template <class V, int N>
struct Values {
    V at[N > 0 ? N : 1];
};

// An ordered list of types.
template <class... T>
struct List {
    static constexpr int kCount = sizeof...(T);
};

// A number broadcast to all lanes.
template <class V>
inline V splat(float x) {
    return x - V{};
}
template <>
inline float splat<float>(float x) {
    return x;
}

// Negation as in Warp: the negative of zero is positive zero.
template <class V>
inline V negative(V x) {
    return splat<V>(0.0f) - x;
}

inline float magnitude(float x) {
    return std::fabs(x);
}
// the sign of a NaN or a zero does not affect any comparison
template <class V>
inline V magnitude(V x) {
    return x < splat<V>(0.0f) ? -x : x;
}

// Correctly rounded in each lane, as IEEE 754 requires.
inline float square_root(float x) {
    return std::sqrt(x);
}
template <class V>
inline V square_root(V x) {
    for (size_t lane = 0; lane < sizeof(V) / sizeof(float); ++lane) x[lane] = std::sqrt(x[lane]);
    return x;
}

inline uint32_t bits_of(float x) {
    uint32_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
}
inline float float_of(uint32_t bits) {
    float x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}

// Adding it to an integer puts that integer into the low bits of the sum.
constexpr float kToInteger = 12582912.0f;

// 2^n of an integer n from -126 to 127.
inline float power_of_two(float n) {
    return float_of((bits_of(n + kToInteger) - bits_of(kToInteger) + 127) << 23);
}

// m and e with x = m 2^e and sqrt(1/2) <= m < sqrt(2), of a positive finite number.
inline Values<float, 2> mantissa_and_exponent(float x) {
    const bool tiny = x < std::numeric_limits<float>::min();
    const uint32_t bits = bits_of(tiny ? x * 4294967296.0f : x);
    const float m = float_of((bits & 0x007fffff) | 0x3f800000);
    const float e = float_of((bits >> 23) + bits_of(kToInteger)) - kToInteger - (tiny ? 159.0f : 127.0f);
    const bool large = m >= 1.4142135623730951f;
    return {{large ? m * 0.5f : m, large ? e + 1.0f : e}};
}

// 32 bits of which each depends on all that are given.
inline uint32_t mixed(uint32_t bits) {
    const uint32_t state = bits * 747796405u + 2891336453u;
    const uint32_t word = ((state >> ((state >> 28) + 4)) ^ state) * 277803737u;
    return (word >> 22) ^ word;
}

// A random number in [0, 1) that three integers from 0 to 2^24 determine, see laws/contract/functions.py.
inline float uniform(float seed, float place, float count) {
    const auto bits = [](float x) { return static_cast<uint32_t>(static_cast<int32_t>(x)); };
    const uint32_t found = mixed(mixed(mixed(bits(seed)) + bits(place)) + bits(count));
    return static_cast<float>(static_cast<int32_t>(found >> 8)) * 5.9604644775390625e-08f;
}

// The same in each lane.
template <class V>
inline V uniform(V seed, V place, V count) {
    for (size_t lane = 0; lane < sizeof(V) / sizeof(float); ++lane)
        seed[lane] =
            uniform(static_cast<float>(seed[lane]), static_cast<float>(place[lane]), static_cast<float>(count[lane]));
    return seed;
}
template <class V>
inline V power_of_two(V n) {
    for (size_t lane = 0; lane < sizeof(V) / sizeof(float); ++lane) n[lane] = power_of_two(static_cast<float>(n[lane]));
    return n;
}
template <class V>
inline Values<V, 2> mantissa_and_exponent(V x) {
    V m{}, e{};
    for (size_t lane = 0; lane < sizeof(V) / sizeof(float); ++lane) {
        const auto found = mantissa_and_exponent(static_cast<float>(x[lane]));
        m[lane] = found.at[0], e[lane] = found.at[1];
    }
    return {{m, e}};
}

// Numbers with their derivatives, see dual.h.
template <class V>
struct Dual;

// Lane-wise selection of one of two values.
template <class V, class C>
inline V pick(C first, V one, V other) {
    return first ? one : other;
}

// True in each lane whose number is finite.
template <class V>
inline auto finite(V x) {
    return magnitude(x) <= splat<V>(kMax);
}

// Branch-free selection by a bit mask. With a branch, compilers duplicate all code after it and do not vectorize the
// surrounding loop.
inline float chosen(bool first, float one, float other) {
    uint32_t a, b;
    std::memcpy(&a, &one, sizeof a);
    std::memcpy(&b, &other, sizeof b);
    const uint32_t mask = first ? ~uint32_t{0} : 0;
    const uint32_t bits = (a & mask) | (b & ~mask);
    std::memcpy(&one, &bits, sizeof bits);
    return one;
}

// The value if `good`, else NaN. Setting all bits makes any value a NaN.
inline float nan_unless(bool good, float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    bits |= good ? 0 : ~uint32_t{0};
    std::memcpy(&value, &bits, sizeof bits);
    return value;
}
template <class V, class C>
inline V nan_unless(C good, V value) {
    return good ? value : splat<V>(kNaN);
}

// True while all numbers that were added are finite: one operation a number, where a comparison takes three, and
// selection by a mask that is no comparison, either.
class Finite {
  public:
    // no loop: compilers do not vectorize one around it
    template <class... Numbers>
    void add(Numbers... numbers) {
        (add_one(numbers), ...);
    }
    // all bits where a number is not finite: where `rest_` is not zero, but NaN
    int32_t mask() const { return static_cast<int32_t>(bits_of(rest_) << 1) >> 31; }
    float or_nan(float value) const { return float_of(bits_of(value) | mask()); }
    float chosen(float one, float other) const {
        const uint32_t bad = mask();
        return float_of((bits_of(one) & ~bad) | (bits_of(other) & bad));
    }

  private:
    void add_one(float number) {
#ifdef __FMA__
        rest_ = __builtin_fmaf(number, 0.0f, rest_);
#else
        rest_ += number - number;
#endif
    }
    template <class V>
    void add_one(const Dual<V>& number) {
        add_one(number.value);
    }

    float rest_ = 0.0f;
};

}  // namespace ACTUATORS_VARIANT
