// Published signals: states that laws of the next step read as signals, and their sums per robot.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "row_values.h"

namespace actuators {

// A state, and the signal that has its value from the start of a step.
struct Published {
    // index of the state array, and the ascending slots of the law
    size_t array = 0;
    std::vector<int32_t> slots;
    // (robots, slots of the plan)
    float* signal = nullptr;
    // value of the signal while the state is unknown, unless that is a parameter
    float neutral = 0;
    const RowValues* unset = nullptr;
    // (robots, slots with the law): state before the step
    const float* state = nullptr;
    // the law, and the number of the state in it, if some of its states may rest
    const struct Use* law = nullptr;
    int number = 0;

    // Publish for robots [first, last) of a plan with `width` slots.
    void publish(int64_t first, int64_t last, int64_t width) const {
        const auto count = static_cast<int64_t>(slots.size());
        int unknown = 0;
        for (int64_t robot = first; robot < last; ++robot) {
            const float* const from = state + robot * count;
            float* const to = signal + robot * width;
            for (int64_t k = 0; k < count; ++k) {
                to[slots[k]] = from[k] == from[k] ? from[k] : neutral;
                unknown |= from[k] != from[k];
            }
        }
        if (unknown) publish_unset(first, last, width);
    }

    // Publish the parameter, if there is one, where the state is unknown: in the first step and after a reset.
    void publish_unset(int64_t first, int64_t last, int64_t width) const {
        if (!unset) return;
        const auto count = static_cast<int64_t>(slots.size());
        for (int64_t robot = first; robot < last; ++robot)
            for (int64_t k = 0; k < count; ++k)
                if (state[robot * count + k] != state[robot * count + k])
                    signal[robot * width + slots[k]] = unset->at(robot, slots[k], width);
    }
};

// Sum of a signal over some slots of each robot, in order, written to all slots of the robot.
struct Total {
    const float* signal = nullptr;
    std::vector<int32_t> slots;
    float* total = nullptr;

    // Compute the sums of robots [first, last) of a plan with `width` slots.
    void add_up(int64_t first, int64_t last, int64_t width) const {
        for (int64_t robot = first; robot < last; ++robot) {
            const float* const from = signal + robot * width;
            float* const to = total + robot * width;
            float sum = 0.0f;
            for (const int32_t slot : slots) sum += from[slot];
            for (int64_t slot = 0; slot < width; ++slot) to[slot] = sum;
        }
    }
};

}  // namespace actuators
