// Grid over the positions of a curve, with as many equal cells as rows. The rows of a cell are searched by bisection;
// with evenly spaced points, a cell has one or two rows.
#pragma once
#include <cstdint>
#include <vector>

namespace actuators {

// Curves with fewer rows are evaluated row by row, on whole vectors.
constexpr int kFewRows = 24;

struct Grid {
    float first = 0.0f, scale = 0.0f, last_cell = 0.0f;
    // largest number of rows in a cell
    int span = 0;
    // number of rows before each cell
    std::vector<int32_t> before;
    // positions of the rows, padded with infinity by the largest number of rows in a cell
    std::vector<float> points;
    // point, value and slope per number of rows passed; before the first row the slope is 0
    std::vector<float> rows;

    // `numbers` holds point, value and slope of `count` rows, in order of non-decreasing points.
    Grid(const float* numbers, int64_t count);
};

// Cell of a position. Cells are monotonic in position even with rounding, so rows of other cells need no search.
// Static, since each instruction set has its own copy.
static inline int cell_of(float position, float first, float scale, float last_cell) {
    const float at = (position - first) * scale;
    // NaN maps to the first cell
    const float above = at > 0.0f ? at : 0.0f;
    return static_cast<int>(above < last_cell ? above : last_cell);
}

}  // namespace actuators
