#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
namespace ACTUATORS_VARIANT {
constexpr float kMax = std::numeric_limits<float>::max();
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
inline bool finite(float x) { return std::fabs(x) <= kMax; }
inline float valid(float value, bool ok) {
    uint32_t bits;
    std::memcpy(&bits, &value, 4);
    bits |= ok ? 0u : 0x7fffffffu;
    std::memcpy(&value, &bits, 4);
    return value;
}
template <class V, int N> struct Values { V at[N]; };
template <class... Laws> struct List {};
}
