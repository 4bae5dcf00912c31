// What the generated laws stand on. V is float, or a vector of floats where the compiler has them.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace ACTUATORS_VARIANT {

constexpr float kMax = std::numeric_limits<float>::max();
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// The results of a function that has several.
template <class V, int N>
struct Values {
    V at[N > 0 ? N : 1];
};

// Types in their order.
template <class... T>
struct List {
    static constexpr int kCount = sizeof...(T);
};

// One number for every lane.
template <class V>
inline V splat(float x) {
    return x - V{};
}
template <>
inline float splat<float>(float x) {
    return x;
}

// As Warp has it: of zero there is no negative one.
template <class V>
inline V negative(V x) {
    return splat<V>(0.0f) - x;
}

inline float magnitude(float x) {
    return std::fabs(x);
}
// by its sign; what becomes of the sign of a NaN or a zero tells in no comparison
template <class V>
inline V magnitude(V x) {
    return x < splat<V>(0.0f) ? -x : x;
}

// Rounded correctly, in each lane: IEEE 754 asks for that.
inline float square_root(float x) {
    return std::sqrt(x);
}
template <class V>
inline V square_root(V x) {
    for (size_t lane = 0; lane < sizeof(V) / sizeof(float); ++lane) x[lane] = std::sqrt(x[lane]);
    return x;
}

// Numbers with their derivative, see dual.h.
template <class V>
struct Dual;

// One of two values, lane by lane.
template <class V, class C>
inline V pick(C first, V one, V other) {
    return first ? one : other;
}

// Whether a number is neither infinite nor NaN, lane by lane.
template <class V>
inline auto finite(V x) {
    return magnitude(x) <= splat<V>(kMax);
}

// A choice by bits. Where a compiler sees two branches it follows each through all that comes after, and the loop
// around them is no longer one of vectors.
inline float chosen(bool first, float one, float other) {
    uint32_t a, b;
    std::memcpy(&a, &one, sizeof a);
    std::memcpy(&b, &other, sizeof b);
    const uint32_t mask = first ? ~uint32_t{0} : 0;
    const uint32_t bits = (a & mask) | (b & ~mask);
    std::memcpy(&one, &bits, sizeof bits);
    return one;
}

// The value, NaN unless it is good: all bits of a NaN are set, whatever the value was.
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

}  // namespace ACTUATORS_VARIANT
