// A law or network of an actuator in a block of elements, for gradients.
#pragma once
#include "problem.h"

namespace actuators {

// Elements per call of a law's gradient; a multiple of every vector width.
constexpr int64_t kGradientBlock = 512;

// Functions of laws: a controller, a stage after it, a sensor, and those of a transmission, which is also a stage:
// motor signals for the controller, and the true position and velocity of the motor.
enum class LawFunction { kController, kStage, kSensor, kCommandedMotor, kTrueMotor };

// A law in a block of elements. Gradients are accumulated unless stated otherwise; every array is padded to a whole
// vector.
struct LawInBlock {
    const float* signals[kSignals] = {};
    const float* parameters[kMost] = {};
    const float* states[kMost] = {};
    // point, value and slope of the rows of its curves
    const float* curves[kMostCurves] = {};
    int64_t curve_rows[kMostCurves] = {};
    float dt = 0;
    // input effort of a limit, output effort of the law
    const float* given = nullptr;
    float* effort = nullptr;
    // output signals of a sensor or transmission, and their gradients
    float* found[kSignals] = {};
    const float* by_found[kSignals] = {};
    // effort after the last limit; if it is not finite, no law has written its state
    const float* last = nullptr;
    // gradient of the output effort; a limit replaces it by that of its input effort
    float* by_effort = nullptr;
    float* by_signals[kSignals] = {};
    float* by_parameters[kMost] = {};
    // gradients of the states after the step, replaced by those of the states before
    float* by_states[kMost] = {};
};

// A network in a block of at most `kBatch` elements. Its columns must not share memory, since the backward pass reads
// the forward results.
struct NetworkInBlock {
    const NetworkUse* use = nullptr;
    int64_t first = 0, count = 0;
    const float* signals[kSignals] = {};
    // states of all elements before the step
    float* state[kNetworkStates] = {};
    float* effort = nullptr;
    const float* by_effort = nullptr;
    float* by_signals[kSignals] = {};
    // gradients of the states after the step, consumed and zeroed, and of those before; of all elements, null for none
    float* by_after[kNetworkStates] = {};
    float* by_before[kNetworkStates] = {};
    // columns of a block, and their gradients
    float *columns = nullptr, *by_columns = nullptr;
    // gradients of the packed parameters of linear maps, `kRepeated` partial sums each; null for none
    float* by_numbers = nullptr;
    // zero for elements with a good step, else NaN
    float* guard = nullptr;
};

}  // namespace actuators
