// Values of a parameter of a plan: one per slot, or one per robot and slot.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace actuators {

// Adjacent slots of a piece: start in the row, start in the piece, and count.
struct Run {
    int32_t slot, place, count;
};

// Parameter values of one actuator, (robots, joints), in the user's memory.
struct Piece {
    const float* values = nullptr;
    int64_t count = 0;
    std::vector<Run> runs;
};

struct RowValues {
    // per slot
    std::vector<float> values;
    // (robots, slots), if every robot has its own; those of pieces are not in it
    const float* own = nullptr;
    float neutral = 0;
    std::vector<Piece> pieces;

    // Value of one slot of a plan with `width` slots, of one robot.
    float at(int64_t robot, int32_t slot, int64_t width) const {
        if (!own) return values[slot];
        for (const Piece& piece : pieces)
            for (const Run& run : piece.runs)
                if (slot >= run.slot && slot < run.slot + run.count)
                    return piece.values[robot * piece.count + run.place + slot - run.slot];
        return own[robot * width + slot];
    }
};

}  // namespace actuators
