// What the generated laws stand on. V is float, or a vector of floats where the compiler has them.
#pragma once
#include <cmath>
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

inline float magnitude(float x) {
    return std::fabs(x);
}
// by its sign; what becomes of the sign of a NaN or a zero tells in no comparison
template <class V>
inline V magnitude(V x) {
    return x < splat<V>(0.0f) ? -x : x;
}

// Whether a number is neither infinite nor NaN, lane by lane.
template <class V>
inline auto finite(V x) {
    return magnitude(x) <= splat<V>(kMax);
}

}  // namespace ACTUATORS_VARIANT
