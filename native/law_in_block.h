// A law of an actuator in a block of elements, as its gradients see it.
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
    // rows of point, value and slope
    const float* curve = nullptr;
    int64_t curve_rows = 0;
    float dt = 0;
    // the effort that a limit gets, the effort that a law gives
    const float* given = nullptr;
    float* effort = nullptr;
    // gradient of the effort; of a limit it is then that of the effort it got
    float* by_effort = nullptr;
    float* by_signals[kSignals] = {};
    float* by_parameters[kMost] = {};
    // of the states it leaves, then of those it found
    float* by_states[kMost] = {};
};

}  // namespace actuators
