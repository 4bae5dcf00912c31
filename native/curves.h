// Values of curves over position, velocity or speed, by the generated laws. The few rows of a short curve are passed by
// a whole vector at a time: in the loop over rows a compiler would not vectorise the loop over elements around it.
// Those of a long one are found by a grid.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstring>

#include "lanes.h"
#include "sweep.h"

namespace ACTUATORS_VARIANT {

static_assert(kLanes <= kRepeated, "a vector is wider than the numbers are repeated");

inline Lanes value_at(Lanes x, const Curve& curve) {
    // from the first row on, each row that is passed gives where the curve bends
    Lanes point = load(curve.rows), value = load(curve.rows + kRepeated), slope{};
    for (int row = 0; row < curve.count; ++row) {
        const float* numbers = curve.rows + 3 * kRepeated * row;
        const auto bend = curve_row<Lanes>(x, point, value, slope, load(numbers), load(numbers + kRepeated),
                                           load(numbers + 2 * kRepeated));
        point = bend.at[0], value = bend.at[1], slope = bend.at[2];
    }
    return curve_value<Lanes>(x, point, value, slope);
}

// The values at `size` places of a curve of many rows.
inline void found_values_at(const Grid& grid, const float* x, float* out, int64_t size) {
    // so many are looked for together that none waits for the memory of another
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
            out[i + k] = curve_value<float>(q[k], row[0], row[1], row[2]);
        }
    }
}

// The values at `size` places; both arrays are read and written beyond their end up to a whole vector.
inline void values_at(const Curve& curve, const float* x, float* out, int64_t size) {
    if (curve.grid) return found_values_at(*curve.grid, x, out, size);
    for (int64_t i = 0; i < size; i += kLanes) {
        const Lanes value = value_at(load(x + i), curve);
        std::memcpy(out + i, &value, sizeof value);
    }
}

// The value of each element of a block by its curve; infinite without one. `inputs` and `values` are scratch memory.
inline void look_up(const std::vector<Curve>& curves, int over, const Block& b, float* out, float* inputs,
                    float* values) {
    const float* const x = b.input[over == kOverPosition ? kPosition : kVelocity];
    const auto read = [over](float number) { return over == kOverSpeed ? std::fabs(number) : number; };
    if (curves.empty() || curves[0].places) std::fill(out, out + b.size, kInfinity);
    for (const Curve& curve : curves) {
        if (!curve.places) {
            // not beyond the end of the articulation's array
            const int64_t direct = over == kOverSpeed ? 0 : b.size - b.size % kLanes;
            values_at(curve, x, out, direct);
            std::transform(x + direct, x + b.size, inputs, read);
            values_at(curve, inputs, out + direct, b.size - direct);
            continue;
        }
        const int64_t count = b.robots * curve.slots;
        for (int64_t k = 0; k < count; ++k) inputs[k] = read(x[curve.places[k]]);
        values_at(curve, inputs, values, count);
        for (int64_t k = 0; k < count; ++k) out[curve.places[k]] = values[k];
    }
}

// The values of all curves of some laws, at what the laws see of a block.
inline void look_up_all(const Use* uses, size_t count, const Block& b, float* inputs, float* values) {
    for (const Use* one = uses; one != uses + count; ++one) {
        const Use& use = *one;
        for (int n = 0; n < use.curve_count; ++n)
            look_up(use.curves[n], use.over[n], b, b.derived + (use.curve + n) * b.pitch, inputs, values);
    }
}

}  // namespace ACTUATORS_VARIANT
