// A law of an actuator, or its network, in a block of elements, as its gradients see it.
#pragma once
#include "problem.h"

namespace actuators {

// Elements that one call of a law's gradient goes over; a multiple of every vector.
constexpr int64_t kGradientBlock = 512;

// A law in a block of elements. Gradients are added to where nothing else is said, and every array has room for the
// last vector.
struct LawInBlock {
    const float* signals[kSignals] = {};
    const float* parameters[kMost] = {};
    const float* states[kMost] = {};
    // rows of point, value and slope of its curves
    const float* curves[kMostCurves] = {};
    int64_t curve_rows[kMostCurves] = {};
    float dt = 0;
    // the effort that a limit gets, the effort that a law gives
    const float* given = nullptr;
    float* effort = nullptr;
    // the effort after the last limit: where it is not finite, no law has written its state
    const float* last = nullptr;
    // gradient of the effort; of a limit it is then that of the effort it got
    float* by_effort = nullptr;
    float* by_signals[kSignals] = {};
    float* by_parameters[kMost] = {};
    // of the states it leaves, then of those it found
    float* by_states[kMost] = {};
};

// A network in a block of `kBatch` elements at most. Its columns must not share places: what was computed forward is
// read on the way back.
struct NetworkInBlock {
    const NetworkUse* use = nullptr;
    int64_t first = 0, count = 0;
    const float* signals[kSignals] = {};
    // of all elements, before the step
    float* state[kNetworkStates] = {};
    float* effort = nullptr;
    const float* by_effort = nullptr;
    float* by_signals[kSignals] = {};
    // of the states after the step, taken and set to zero, and of those before it; of all elements, null for none
    float* by_after[kNetworkStates] = {};
    float* by_before[kNetworkStates] = {};
    // a block of the network's columns, and of their gradients
    float *columns = nullptr, *by_columns = nullptr;
    // by the numbers of linear maps, packed as they are and `kRepeated` sums of each; null for none
    float* by_numbers = nullptr;
    // of each element whether the step was good, zero or NaN
    float* guard = nullptr;
};

}  // namespace actuators
