// What laws publish: numbers that they remember, which laws of the next step read as signals, and sums over robots.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace actuators {

// A number that a law remembers, and the signal that has its value from the start of a step on.
struct Published {
    // which array of a state, and which slots have the law, ascending
    size_t array = 0;
    std::vector<int32_t> slots;
    // (robots, slots of the plan)
    float* signal = nullptr;
    // the signal where the number is not known yet
    float neutral = 0;
    // (robots, slots that have the law): what the step finds
    const float* state = nullptr;

    // Publish it for robots [first, last) of a plan of `width` slots.
    void publish(int64_t first, int64_t last, int64_t width) const {
        const auto count = static_cast<int64_t>(slots.size());
        for (int64_t robot = first; robot < last; ++robot) {
            const float* const from = state + robot * count;
            float* const to = signal + robot * width;
            for (int64_t k = 0; k < count; ++k) to[slots[k]] = from[k] == from[k] ? from[k] : neutral;
        }
    }
};

// The sum of a signal over some slots of each robot, in their order, for all slots of the robot.
struct Total {
    const float* signal = nullptr;
    std::vector<int32_t> slots;
    float* total = nullptr;

    // Add up for robots [first, last) of a plan of `width` slots.
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
