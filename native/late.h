// Results of laws that act late, see laws/contract/late.py: a ring of the last results per element, each with its own
// newest row, which is NaN after a reset.
#pragma once
#include <algorithm>

#include "loops.h"
#include "problem.h"

namespace ACTUATORS_VARIANT {

using namespace actuators;

// The result `lag` steps ago, interpolated, of a ring whose newest row is `row`; `now` is what that row holds.
inline float late_value(const float* ring, int64_t pitch, int32_t row, int32_t depth, float lag, float now) {
    const float most = static_cast<float>(depth - kSpareRows);
    // a delay below zero, of an array that is not checked, is none
    const float below = lag < most ? lag : most, bounded = below > 0.0f ? below : 0.0f;
    const int32_t steps = static_cast<int32_t>(bounded);
    const float rest = bounded - static_cast<float>(steps);
    const int32_t first = row - steps, second = first - 1;
    const float one = steps ? ring[(first < 0 ? first + depth : first) * pitch] : now;
    const float other = ring[(second < 0 ? second + depth : second) * pitch];
    return one + rest * (other - one);
}

// Values of elements with the same newest row and the same lag: rows are read and written as a whole. Returns false if
// a value is not finite; nothing was written then.
template <class At>
inline bool act_alike(const Block& b, const Use& use, int64_t pitch, const At at, float* const* values) {
    const int64_t first = b.first_robot * use.slots, count = b.robots * use.slots;
    float* const newest = use.state[use.states] + first;
    int32_t bad = 0;
    for (int r = 0; r < use.late; ++r) {
        const float* const value = values[r];
        for (int64_t n = 0; n < count; ++n) bad |= static_cast<int32_t>(!finite(value[at(n)]));
    }
    if (bad) return false;
    const int64_t depth = use.depth;
    const float lag = std::min(b.lag[0], static_cast<float>(depth - kSpareRows));
    const int64_t row = newest[0] < static_cast<float>(depth - 1) ? static_cast<int64_t>(newest[0]) + 1 : 0;
    const int64_t steps = static_cast<int64_t>(lag), earlier = row - steps - 1;
    const float rest = lag - static_cast<float>(steps);
    for (int r = 0; r < use.late; ++r) {
        const auto row_at = [&](int64_t k) { return use.ring[r] + (k < 0 ? k + depth : k) * pitch + first; };
        float* const value = values[r];
        float* RESTRICT const to = row_at(row);
        INDEPENDENT
        for (int64_t n = 0; n < count; ++n) to[n] = value[at(n)];
        const float *const one = row_at(row - steps), *const other = row_at(earlier);
        INDEPENDENT
        for (int64_t n = 0; n < count; ++n) value[at(n)] = one[n] + rest * (other[n] - one[n]);
    }
    std::fill_n(newest, count, static_cast<float>(row));
    return true;
}

// Replace values of the elements of a law by those that act; `b.lag` holds by how many steps, `at(n)` is the position
// of the n-th element. Values that are not finite stay so, and are not written.
template <class At>
inline void act_late(const Block& b, const Use& use, int64_t pitch, const At at, float* const* values) {
    const int64_t first = b.first_robot * use.slots, count = b.robots * use.slots;
    // nothing is kept for a delay of zero
    if (use.depth <= kSpareRows) return;
    float* const newest = use.state[use.states] + first;
    const int32_t depth = static_cast<int32_t>(use.depth);
    int32_t differ = static_cast<int32_t>(!(b.lag[0] >= 0.0f) || !(newest[0] >= 0.0f));
    for (int64_t n = 0; n < count; ++n)
        differ |= static_cast<int32_t>((b.lag[n] != b.lag[0]) | (newest[n] != newest[0]));
    if (!differ && act_alike(b, use, pitch, at, values)) return;
    for (int64_t n = 0; n < count; ++n) {
        const int64_t i = at(n);
        float now[kMostLate];
        bool good = finite(b.lag[n]);
        for (int r = 0; r < use.late; ++r) now[r] = values[r][i], good &= finite(now[r]);
        if (!good) {
            for (int r = 0; r < use.late; ++r) values[r][i] = kNaN;
            continue;
        }
        const bool fresh = newest[n] != newest[n];
        // external memory: bounded, so that it is a valid row
        const bool follows = newest[n] >= 0.0f && newest[n] < static_cast<float>(depth - 1);
        const int32_t row = follows ? static_cast<int32_t>(newest[n]) + 1 : 0;
        for (int r = 0; r < use.late; ++r) {
            float* const ring = use.ring[r] + first + n;
            if (fresh)
                for (int32_t k = 0; k < depth; ++k) ring[k * pitch] = now[r];
            ring[row * pitch] = now[r];
            values[r][i] = late_value(ring, pitch, row, depth, b.lag[n], now[r]);
        }
        newest[n] = static_cast<float>(row);
    }
}

}  // namespace ACTUATORS_VARIANT
