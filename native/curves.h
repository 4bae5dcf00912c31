// Values of curves over position, velocity or speed, from the generated laws. Short curves are evaluated row by row on
// whole vectors, since compilers do not vectorize across elements around a loop over rows. Long curves use a grid.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstring>

#include "lanes.h"
#include "sweep.h"

namespace ACTUATORS_VARIANT {

static_assert(kLanes <= kRepeated, "a vector is wider than the numbers are repeated");

// SLOPES: their slopes instead of their values.
template <bool SLOPES>
inline Lanes value_at(Lanes x, const Curve& curve) {
    // each row passed gives the current bend of the curve
    Lanes point = load(curve.rows), value = load(curve.rows + kRepeated), slope{};
    for (int row = 0; row < curve.count; ++row) {
        const float* numbers = curve.rows + 3 * kRepeated * row;
        const auto bend = curve_row<Lanes>(x, point, value, slope, load(numbers), load(numbers + kRepeated),
                                           load(numbers + 2 * kRepeated));
        point = bend.at[0], value = bend.at[1], slope = bend.at[2];
    }
    return SLOPES ? slope : curve_value<Lanes>(x, point, value, slope);
}

// Values of a curve with many rows at `size` positions.
template <bool SLOPES>
inline void found_values_at(const Grid& grid, const float* x, float* out, int64_t size) {
    // number of interleaved searches, which hides memory latency
    constexpr int kTogether = 64;
    const float *const points = grid.points.data(), first = grid.first, scale = grid.scale, last = grid.last_cell;
    const int32_t* const before = grid.before.data();
    int32_t passed[kTogether];
    for (int64_t i = 0; i < size; i += kTogether) {
        const int count = static_cast<int>(std::min<int64_t>(kTogether, size - i));
        const float* const q = x + i;
        for (int k = 0; k < count; ++k) passed[k] = before[cell_of(q[k], first, scale, last)];
        int left = grid.span;
        for (int half = left / 2; half > 0; half = left / 2) {
            for (int k = 0; k < count; ++k) passed[k] += q[k] > points[passed[k] + half - 1] ? half : 0;
            left -= half;
        }
        for (int k = 0; k < count; ++k) {
            const float* const row = grid.rows.data() + 3 * (passed[k] + (q[k] > points[passed[k]] ? 1 : 0));
            out[i + k] = SLOPES ? row[2] : curve_value<float>(q[k], row[0], row[1], row[2]);
        }
    }
}

// Values at `size` positions; both arrays are accessed past their end, up to a whole vector.
template <bool SLOPES>
inline void values_at(const Curve& curve, const float* x, float* out, int64_t size) {
    if (curve.grid) return found_values_at<SLOPES>(*curve.grid, x, out, size);
    for (int64_t i = 0; i < size; i += kLanes) {
        const Lanes value = value_at<SLOPES>(load(x + i), curve);
        std::memcpy(out + i, &value, sizeof value);
    }
}

// Curve values of each element of a block, infinite without a curve; or their slopes, zero without one. `inputs` and
// `values` are scratch memory.
template <bool SLOPES = false>
inline void look_up(const CurveUse& use, const Block& b, float* out, float* inputs, float* values) {
    const float* const x = b.input[use.over == kOverPosition ? kPosition : kVelocity];
    const bool speed = use.over == kOverSpeed;
    const auto make_speeds = [=](int64_t count) {
        for (int64_t k = 0; k < count; ++k) inputs[k] = std::fabs(inputs[k]);
    };
    if (use.rows.empty() || use.rows[0].places) std::fill(out, out + b.size, SLOPES ? 0.0f : kInfinity);
    for (const Curve& curve : use.rows) {
        if (!curve.places) {
            const int64_t direct = speed ? 0 : b.size - b.size % kLanes;
            values_at<SLOPES>(curve, x, out, direct);
            // copied, to avoid reading past the end of the articulation's array
            std::copy(x + direct, x + b.size, inputs);
            if (speed) make_speeds(b.size);
            values_at<SLOPES>(curve, inputs, out + direct, b.size - direct);
            continue;
        }
        const int64_t count = b.robots * curve.slots;
        for (int64_t k = 0; k < count; ++k) inputs[k] = x[curve.places[k]];
        if (speed) make_speeds(count);
        values_at<SLOPES>(curve, inputs, values, count);
        for (int64_t k = 0; k < count; ++k) out[curve.places[k]] = values[k];
    }
}

}  // namespace ACTUATORS_VARIANT
