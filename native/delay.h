// Delay of commands. A step reads the row written `lag` steps ago, then writes its commands to the row after the
// newest; a lag of zero is the current command. Every row holds a command: the first good one after a reset fills all
// rows, see plan.h.
#pragma once
#include <algorithm>
#include <cstring>

#include "sweep.h"

namespace ACTUATORS_VARIANT {

inline int64_t next_row(const Ring& ring) {
    return ring.newest + 1 == ring.depth ? 0 : ring.newest + 1;
}

// The row written `lag` steps ago, for 1 <= lag <= depth.
inline int64_t row_of(const Ring& ring, int64_t lag) {
    const int64_t row = ring.newest + 1 - lag;
    return row < 0 ? row + ring.depth : row;
}

// The common lag of an array, clamped to the ring, or -1 if the lags differ.
inline int64_t one_lag(const Ring& ring, const int32_t* RESTRICT lag, int64_t count) {
    int32_t differ = 0;
    INDEPENDENT
    for (int64_t k = 0; k < count; ++k) differ |= lag[k] ^ lag[0];
    return differ ? -1 : std::clamp<int64_t>(lag[0], 0, ring.depth);
}

// Position in the ring of the delayed command of each element, -1 for the current command. With SOME_NOW, lags are
// arbitrary; otherwise they are in the ring and nonzero.
template <bool SOME_NOW>
inline void find_rows(const Ring& ring, const int32_t* RESTRICT lag, const int32_t* RESTRICT places, int64_t count,
                      int64_t* RESTRICT from) {
    const int32_t newest = static_cast<int32_t>(ring.newest), depth = static_cast<int32_t>(ring.depth);
    for (int64_t k = 0; k < count; ++k) {
        const int32_t steps = lag[places[k]];
        const int32_t row = newest + 1 - (SOME_NOW && steps > depth ? depth : steps);
        const int64_t found = (row < 0 ? row + depth : row) * ring.pitch + k;
        from[k] = SOME_NOW && steps <= 0 ? -1 : found;
    }
}

// True if all three commands are finite.
inline bool all_finite(const float* const* now, int64_t i) {
    return finite(now[0][i]) & finite(now[1][i]) & finite(now[2][i]);
}

// Replace written commands that are not finite by the previous command. A joint with such a command keeps its state, so
// its delayed commands become NaN for the law. `before` holds the rows written last, `places` the elements of the
// block, null for all.
NOINLINE inline void hold_commands(const Problem& p, const Block& b, const float* const* now,
                                   const float* const* before, float* const* delayed, const int32_t* places) {
    const Ring& ring = p.ring;
    const int64_t from = b.first_robot * p.delayed_slots, count = b.robots * p.delayed_slots;
    const int64_t written = next_row(ring) * ring.pitch + from;
    for (int64_t k = 0; k < count; ++k) {
        const int64_t i = places ? places[k] : k;
        if (all_finite(now, i)) continue;
        const bool begun = ring.pushes[from + k] > 0;
        for (int c = 0; c < kCommands; ++c) {
            if (!finite(now[c][i])) ring.rows[c][written + k] = begun ? before[c][k] : 0.0f;
            delayed[c][i] = kNaN;
        }
    }
}

// All elements have the same lag, shorter than the ring: delayed commands are read in place.
NOINLINE inline bool delay_alike(const Problem& p, Block& b, const float* const* now, int64_t lag,
                                 float* const* delayed) {
    const Ring& ring = p.ring;
    const int64_t from = b.first_robot * p.delayed_slots, written = next_row(ring) * ring.pitch + from;
    const float* before[kCommands];
    int32_t bad = 0;
    for (int c = 0; c < kCommands; ++c) {
        const float* RESTRICT command = now[c];
        float* RESTRICT row = ring.rows[c] + written;
        INDEPENDENT
        for (int64_t i = 0; i < b.size; ++i) {
            bad |= finite(command[i]) ? 0 : -1;
            row[i] = command[i];
        }
        if (lag) b.input[kPositionTarget + c] = ring.rows[c] + row_of(ring, lag) * ring.pitch + from;
        before[c] = ring.rows[c] + ring.newest * ring.pitch + from;
    }
    if (!bad) return false;
    for (int c = 0; c < kCommands; ++c) {
        std::memcpy(delayed[c], b.input[kPositionTarget + c], b.size * sizeof(float));
        b.input[kPositionTarget + c] = delayed[c];
    }
    hold_commands(p, b, now, before, delayed, nullptr);
    return true;
}

// All elements have the longest lag: the row read is the row to be written.
NOINLINE inline bool delay_swapped(const Problem& p, Block& b, const float* const* now, float* const* delayed) {
    const Ring& ring = p.ring;
    const int64_t from = b.first_robot * p.delayed_slots, written = next_row(ring) * ring.pitch + from;
    const float* before[kCommands];
    int32_t bad = 0;
    for (int c = 0; c < kCommands; ++c) {
        const float* RESTRICT command = now[c];
        float* RESTRICT row = ring.rows[c] + written;
        float* RESTRICT out = delayed[c];
        INDEPENDENT
        for (int64_t i = 0; i < b.size; ++i) {
            bad |= finite(command[i]) ? 0 : -1;
            out[i] = row[i];
            row[i] = command[i];
        }
        b.input[kPositionTarget + c] = out;
        // in a ring of one row, the previous command is the one just read
        before[c] = ring.depth == 1 ? out : ring.rows[c] + ring.newest * ring.pitch + from;
    }
    if (bad) hold_commands(p, b, now, before, delayed, nullptr);
    return bad;
}

// Some elements are delayed, or lags differ.
template <bool SOME_NOW>
NOINLINE bool delay_scattered(const Problem& p, Block& b, const float* const* now, const int64_t* RESTRICT from_row,
                              float* const* delayed, float* const* before) {
    const Ring& ring = p.ring;
    const int64_t count = b.robots * p.delayed_slots, from = b.first_robot * p.delayed_slots;
    const int64_t written = next_row(ring) * ring.pitch;
    const int32_t* RESTRICT places = p.delayed_places;
    const float *now_0 = now[0], *now_1 = now[1], *now_2 = now[2];
    float *ring_0 = ring.rows[0] + from, *ring_1 = ring.rows[1] + from, *ring_2 = ring.rows[2] + from;
    for (int c = 0; c < kCommands; ++c) {
        if (count < b.size) std::memcpy(delayed[c], now[c], b.size * sizeof(float));
        b.input[kPositionTarget + c] = delayed[c];
        // a ring of one row overwrites the previous row
        if (ring.depth == 1) std::memcpy(before[c], ring.rows[c] + from, count * sizeof(float));
    }
    float *RESTRICT out_0 = delayed[0], *RESTRICT out_1 = delayed[1], *RESTRICT out_2 = delayed[2];
    int32_t bad = 0;
    for (int64_t k = 0; k < count; ++k) {
        const int32_t i = places[k];
        const int64_t row = from_row[k];
        const float first = now_0[i], second = now_1[i], third = now_2[i];
        bad |= finite(first) & finite(second) & finite(third) ? 0 : -1;
        out_0[i] = SOME_NOW && row < 0 ? first : ring_0[row];
        out_1[i] = SOME_NOW && row < 0 ? second : ring_1[row];
        out_2[i] = SOME_NOW && row < 0 ? third : ring_2[row];
        ring_0[written + k] = first;
        ring_1[written + k] = second;
        ring_2[written + k] = third;
    }
    if (!bad) return false;
    const float* older[kCommands];
    for (int c = 0; c < kCommands; ++c)
        older[c] = ring.depth == 1 ? before[c] : ring.rows[c] + ring.newest * ring.pitch + from;
    hold_commands(p, b, now, older, delayed, places);
    return true;
}

// Replace a block's commands by the delayed ones; returns true if any current command is not finite. `before` is
// scratch memory for three rows, `rows` for positions in the ring, precomputed if robots share their lags.
inline bool delay(const Problem& p, Block& b, float* const* delayed, float* const* before, int64_t* rows) {
    const Ring& ring = p.ring;
    const float* now[kCommands];
    std::copy(b.input + kPositionTarget, b.input + kSignals, now);
    const int32_t* lag = ring.own_lag ? ring.own_lag + b.first : ring.shared_lag;
    if (p.delayed_slots == p.slots && p.layout != Layout::kGaps) {
        int64_t uniform = ring.uniform;
        if (uniform < 0 && ring.own_lag) uniform = one_lag(ring, lag, b.size);
        if (uniform == ring.depth) return delay_swapped(p, b, now, delayed);
        if (uniform >= 0) return delay_alike(p, b, now, uniform, delayed);
    }
    if (ring.own_lag) find_rows<true>(ring, lag, p.delayed_places, b.robots * p.delayed_slots, rows);
    return (ring.some_now ? delay_scattered<true> : delay_scattered<false>)(p, b, now, rows, delayed, before);
}

}  // namespace ACTUATORS_VARIANT
