#pragma once
#include "arithmetic.h"
namespace ACTUATORS_VARIANT {
template <class V> inline V within(V value, V lower, V upper) {
    const V raised = lower > value ? lower : value;
    return upper < raised ? upper : raised;
}
template <class V> inline V bounded(V value, V lower, V upper) {
    return valid(within(value, lower, upper), lower <= upper);
}
template <class V> inline V curve_value(V position, V point, V value, V slope) { return value + (position - point) * slope; }
template <class V> inline Values<V, 3> curve_row(V position, V point, V value, V slope, V rp, V rv, V rs) {
    const auto passed = position > rp;
    return {{passed ? rp : point, passed ? rv : value, passed ? rs : slope}};
}
struct ControllerPD {
    static constexpr const char* kName = "ControllerPD";
    static constexpr int kParameters = 3, kPrepared = 3, kStates = 0, kCurves = 0;
    static constexpr bool kPrepares = false;
    static constexpr bool kReads[] = {true, true, true, true, true};
    static inline Values<float, 1> law(float q, float qd, float qt, float qdt, float ff, float, float kp, float kd, float bias) {
        return {{bias + ff + kp * (qt - q) + kd * (qdt - qd)}};
    }
    static inline Values<float, 3> prepare(float a, float b, float c) { return {{a, b, c}}; }
};
struct ControllerPID {
    static constexpr const char* kName = "ControllerPID";
    static constexpr int kParameters = 5, kPrepared = 5, kStates = 1, kCurves = 0;
    static constexpr bool kPrepares = false;
    static constexpr bool kReads[] = {true, true, true, true, true};
    static inline Values<float, 2> law(float q, float qd, float qt, float qdt, float ff, float dt, float integral, float kp, float ki, float kd, float most, float bias) {
        const float error = qt - q;
        const float now = bounded(integral + error * dt, -most, most);
        return {{bias + ff + kp * error + ki * now + kd * (qdt - qd), now}};
    }
    static inline Values<float, 5> prepare(float a, float b, float c, float d, float e) { return {{a, b, c, d, e}}; }
};
struct ClampingDCMotor {
    static constexpr const char* kName = "ClampingDCMotor";
    static constexpr int kParameters = 3, kPrepared = 3, kStates = 0, kCurves = 0;
    static constexpr bool kPrepares = true;
    static constexpr bool kReads[] = {true, false, true};
    static inline Values<float, 1> law(float effort, float, float velocity, float, float stall, float factor, float peak) {
        const float ratio = velocity * factor;
        const float lower = bounded(stall * (-1.0f - ratio), -peak, peak), upper = bounded(stall * (1.0f - ratio), -peak, peak);
        return {{bounded(effort, lower, upper)}};
    }
    static inline Values<float, 3> prepare(float stall, float v0, float peak) {
        const float inverse = 1.0f / v0;
        const float bi = inverse > kMax ? kMax : inverse;
        const bool sloped = (stall > 0.0f) & (stall <= kMax);
        return {{stall, valid(sloped ? bi : 0.0f, (v0 > 0.0f) & (peak >= 0.0f)), peak}};
    }
};
struct ClampingPositionBased {
    static constexpr const char* kName = "ClampingPositionBased";
    static constexpr int kParameters = 0, kPrepared = 0, kStates = 0, kCurves = 1;
    static constexpr bool kPrepares = false;
    static constexpr bool kReads[] = {true, true, false};
    static inline Values<float, 1> law(float effort, float, float, float, float limit) { return {{bounded(effort, -limit, limit)}}; }
    static inline Values<float, 0> prepare();
};
struct ClampingMaxEffort {
    static constexpr const char* kName = "ClampingMaxEffort";
    static constexpr int kParameters = 1, kPrepared = 1, kStates = 0, kCurves = 0;
    static constexpr bool kPrepares = false;
    static constexpr bool kReads[] = {true, false, false};
    static inline Values<float, 1> law(float effort, float, float, float, float max) { return {{bounded(effort, -max, max)}}; }
    static inline Values<float, 1> prepare(float a) { return {{a}}; }
};
using Controllers = List<ControllerPD, ControllerPID>;
using Clamps = List<ClampingDCMotor, ClampingPositionBased, ClampingMaxEffort>;
}
