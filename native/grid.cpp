#include "grid.h"

#include <algorithm>
#include <limits>

namespace actuators {

Grid::Grid(const float* numbers, int64_t count)
    : first(numbers[0]), last_cell(static_cast<float>(count - 1)), before(count), points(count), rows(3 * count + 3) {
    scale = last_cell / (numbers[3 * count - 3] - first);
    rows[0] = numbers[0], rows[1] = numbers[1], rows[2] = 0.0f;
    std::copy_n(numbers, 3 * count, rows.data() + 3);
    std::vector<int32_t> in_cell(count);
    for (int64_t row = 0; row < count; ++row) {
        points[row] = numbers[3 * row];
        ++in_cell[cell_of(points[row], first, scale, last_cell)];
    }
    for (int64_t cell = 1; cell < count; ++cell) before[cell] = before[cell - 1] + in_cell[cell - 1];
    span = *std::max_element(in_cell.begin(), in_cell.end());
    points.resize(count + span, std::numeric_limits<float>::infinity());
}

}  // namespace actuators
