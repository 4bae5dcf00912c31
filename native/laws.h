// The laws as scalar functions, the twins of the wp.func in components/: the same operations in the same order.
// Everything is branch-free, so that a loop over them vectorises; NaN is handed on, never lost in a minimum.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>

namespace ACTUATORS_VARIANT {

constexpr float kMax = std::numeric_limits<float>::max();
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

inline bool finite(float x) {
    return std::fabs(x) <= kMax;
}

// Whether the bounds are an interval, which NaN and inverted ones are not.
inline bool interval(float lower, float upper) {
    return lower <= upper;
}

// The value within an interval; NaN stays NaN.
inline float within(float value, float lower, float upper) {
    const float raised = lower > value ? lower : value;
    return upper < raised ? upper : raised;
}

// The value within the bounds; NaN when it is NaN or the bounds are no interval.
inline float bounded(float value, float lower, float upper) {
    return interval(lower, upper) ? within(value, lower, upper) : kNaN;
}

inline float pd_effort(float q, float qd, float q_target, float qd_target, float ff, float kp, float kd, float bias) {
    return bias + ff + kp * (q_target - q) + kd * (qd_target - qd);
}

inline float pid_integral(float integral, float q, float q_target, float dt, float integral_max) {
    return bounded(integral + (q_target - q) * dt, -integral_max, integral_max);
}

inline float pid_effort(float q, float qd, float q_target, float qd_target, float ff, float kp, float ki, float kd,
                        float bias, float integral) {
    return bias + ff + kp * (q_target - q) + ki * integral + kd * (qd_target - qd);
}

struct Bounds {
    float lower, upper;
};

// What the velocity is multiplied by to give the speed ratio. It is zero where the curve is off or flat, so that
// neither inf * 0 nor 0 * inf comes up, and NaN where a parameter is out of range.
inline float speed_factor(float stall, float no_load_velocity, float peak) {
    const float inverse = 1.0f / no_load_velocity;
    const float bounded_inverse = inverse > kMax ? kMax : inverse;
    const bool sloped = stall > 0.0f && stall <= kMax;
    return no_load_velocity > 0.0f && peak >= 0.0f ? (sloped ? bounded_inverse : 0.0f) : kNaN;
}

inline Bounds dc_motor_bounds(float velocity, float stall, float factor, float peak) {
    const float ratio = velocity * factor;
    const float falling = stall * (-1.0f - ratio), rising = stall * (1.0f - ratio);
    return {within(falling, -peak, peak), within(rising, -peak, peak)};
}

}  // namespace ACTUATORS_VARIANT
