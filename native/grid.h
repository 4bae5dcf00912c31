// Where the rows of a curve are found: a grid of equal cells over the positions, as many as rows. Between the rows of
// its cell a position is found by halving; in evenly spaced tables a cell has one or two.
#pragma once
#include <cstdint>
#include <vector>

namespace actuators {

// Below so many rows of a curve, all of them are passed one by one, a vector of positions at a time.
constexpr int kFewRows = 24;

struct Grid {
    float first = 0.0f, scale = 0.0f, last_cell = 0.0f;
    // most rows that a cell has
    int span = 0;
    // rows before each cell
    std::vector<int32_t> before;
    // of the rows, and beyond their end as many infinite ones as a cell may have
    std::vector<float> points;
    // per number of rows passed: point, value, slope; before the first one the slope is 0
    std::vector<float> rows;

    // `numbers` are point, value and slope of each of `count` rows, whose points do not decrease.
    Grid(const float* numbers, int64_t count);
};

// The cell of a position. Rounded or not, cells do not decrease as positions grow, hence rows of other cells need no
// look. Static, for each instruction set has its own.
static inline int cell_of(float position, float first, float scale, float last_cell) {
    const float at = (position - first) * scale;
    // NaN is in the first cell
    const float above = at > 0.0f ? at : 0.0f;
    return static_cast<int>(above < last_cell ? above : last_cell);
}

}  // namespace actuators
