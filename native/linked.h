// Linkages of a block: signals of joints become those of the shafts, and efforts of the shafts those at the joints.
#pragma once
#include <algorithm>
#include <cstring>
#include <utility>

#include "lanes.h"
#include "linkage.h"
#include "sweep.h"

namespace ACTUATORS_VARIANT {

// Sums over linked elements of some arrays, `pitch` apart; angles, which take turns with slopes, have an offset. Reads
// and writes whole vectors; what it reads of other elements is not in a sum. A sum of nothing is -0, which leaves each
// number as it is.
template <int... N>
NOINLINE inline void sum_linked(std::integer_sequence<int, N...>, const Sums& sums, Sums::Kind kind, const float* from,
                                float* to, int64_t pitch, int64_t size) {
    const Lanes nothing = splat<Lanes>(-0.0f);
    const int64_t* const shifts = sums.shifts.data();
    const int64_t count = static_cast<int64_t>(sums.shifts.size());
    for (int64_t i = 0, at = 0; i < size; i += kLanes) {
        const float* weights = sums.weights_at(kind, at);
        const Lanes offset = load(sums.offsets[kind].data() + at);
        Lanes sum[] = {(static_cast<void>(N), nothing)...};
        for (int64_t k = 0; k < count; ++k, weights += Sums::kTile) {
            const Lanes weight = load(weights);
            const float* const linked = from + i + shifts[k];
            ((sum[N] += pick(weight == weight, weight * load(linked + N * pitch), nothing)), ...);
        }
        if (sizeof...(N) > 1) ((sum[N] += N % 2 ? nothing : offset), ...);
        (std::memcpy(to + i + N * pitch, &sum[N], sizeof sum[N]), ...);
        at = at + kLanes == sums.length ? 0 : at + kLanes;
    }
}
template <int COUNT>
using AtOnce = std::make_integer_sequence<int, COUNT>;

// Angles of the shafts of a table, and their change with each of its joints.
template <int N>
struct Shafts {
    float angle[N], slope[N][N];

    // Interpolate between the nodes around a position; beyond the table the slopes at its end hold.
    Shafts(const Linkage& of, const float* q) {
        int cell[2] = {};
        float part[2] = {}, beyond[N];
        for (int j = 0; j < N; ++j) {
            const float last = static_cast<float>(of.rows[j] - 1);
            const float at = (q[j] - of.lower[j]) * of.per_spacing[j];
            // false for NaN, which then is in the results
            const float inside = at >= 0.0f ? (at <= last ? at : last) : 0.0f;
            cell[j] = std::min(static_cast<int>(inside), of.rows[j] - 2);
            part[j] = inside - static_cast<float>(cell[j]);
            beyond[j] = (at - inside) * of.spacing[j];
        }
        constexpr int kWidth = N * (1 + N);
        const int columns = N == 2 ? of.rows[1] : 1;
        const float* const low = of.nodes.data() + (static_cast<int64_t>(cell[0]) * columns + cell[1]) * kWidth;
        const float* const high = low + static_cast<int64_t>(columns) * kWidth;
        float values[kWidth];
        for (int n = 0; n < kWidth; ++n) {
            float first = low[n], second = high[n];
            if (N == 2) {
                first += (low[n + kWidth] - low[n]) * part[1];
                second += (high[n + kWidth] - high[n]) * part[1];
            }
            values[n] = first + (second - first) * part[0];
        }
        for (int i = 0; i < N; ++i) {
            angle[i] = values[i * (1 + N)];
            for (int j = 0; j < N; ++j) slope[i][j] = values[i * (1 + N) + 1 + j];
            for (int j = 0; j < N; ++j) angle[i] += slope[i][j] * beyond[j];
        }
    }

    // Change of a shaft with changes of the joints.
    float turned(int i, const float* v) const {
        float sum = slope[i][0] * v[0];
        for (int j = 1; j < N; ++j) sum += slope[i][j] * v[j];
        return sum;
    }

    // Efforts of the shafts that have given efforts at the joints.
    void unlink(const float* joint, float* shaft) const {
        if (N == 1) {
            shaft[0] = joint[0] / slope[0][0];
            return;
        }
        constexpr int k = N - 1;
        const float determinant = slope[0][0] * slope[k][k] - slope[0][k] * slope[k][0];
        shaft[0] = (slope[k][k] * joint[0] - slope[k][0] * joint[k]) / determinant;
        shaft[k] = (slope[0][0] * joint[k] - slope[0][k] * joint[0]) / determinant;
    }
};

template <int N>
void table_in(const Block& b, const Linkage& one, float* RESTRICT shafts) {
    for (int64_t robot = 0; robot < b.robots; ++robot) {
        const int32_t* const at = one.places.data() + robot * N;
        float joint[kSignals][N], feedforward[N];
        for (int s = 0; s < kSignals; ++s)
            for (int k = 0; k < N; ++k) joint[s][k] = b.input[s][at[k]];
        const Shafts<N> now(one, joint[kPosition]), wanted(one, joint[kPositionTarget]);
        now.unlink(joint[kFeedforward], feedforward);
        for (int i = 0; i < N; ++i) {
            float* const shaft = shafts + at[i];
            shaft[kPosition * b.pitch] = now.angle[i];
            shaft[kVelocity * b.pitch] = now.turned(i, joint[kVelocity]);
            if (one.own[i]) continue;
            shaft[kPositionTarget * b.pitch] = wanted.angle[i];
            shaft[kVelocityTarget * b.pitch] = wanted.turned(i, joint[kVelocityTarget]);
            shaft[kFeedforward * b.pitch] = feedforward[i];
        }
    }
}

// Efforts at the joints, without what accelerates the rotors as the slopes change.
template <int N>
void table_out(const Block& b, const Linkage& one, float dt, float* RESTRICT efforts) {
    bool turns = false;
    for (int i = 0; i < N; ++i) turns |= one.inertia[i] != 0.0f;
    for (int64_t robot = 0; robot < b.robots; ++robot) {
        const int32_t* const at = one.places.data() + robot * N;
        float q[N], v[N], shaft[N];
        for (int k = 0; k < N; ++k) {
            q[k] = b.input[kPosition][at[k]];
            v[k] = b.input[kVelocity][at[k]];
            shaft[k] = efforts[at[k]];
        }
        const Shafts<N> now(one, q);
        if (turns) {
            for (int j = 0; j < N; ++j) q[j] += dt * v[j];
            const Shafts<N> then(one, q);
            for (int i = 0; i < N; ++i) {
                float change = (then.slope[i][0] - now.slope[i][0]) * v[0];
                for (int j = 1; j < N; ++j) change += (then.slope[i][j] - now.slope[i][j]) * v[j];
                shaft[i] -= one.inertia[i] * (change / dt);
            }
        }
        for (int j = 0; j < N; ++j) {
            float effort = now.slope[0][j] * shaft[0];
            for (int i = 1; i < N; ++i) effort += now.slope[i][j] * shaft[i];
            efforts[at[j]] = nan_unless(finite(effort), effort);
        }
    }
}

// Replace signals of linked joints by those of the shafts of their motors.
NOINLINE inline void link_in(const Problem& p, Block& b) {
    // with what is before and after, for the shifts
    float* const joints = b.derived + p.link_arrays * b.pitch;
    float* const shafts = joints + kLinkedAtOnce * b.pitch;
    const auto sum = [&](auto count, int first, Sums::Kind kind) {
        for (int n = 0; n < count; ++n) std::copy_n(b.input[first + n], b.size, joints + n * b.pitch);
        sum_linked(AtOnce<count>{}, p.sums, kind, joints, shafts + first * b.pitch, b.pitch, b.size);
    };
    if (p.sums.any_own) {
        sum(std::integral_constant<int, 2>{}, kPosition, Sums::kMeasured);
        sum(std::integral_constant<int, 2>{}, kPositionTarget, Sums::kWanted);
    } else {
        sum(std::integral_constant<int, 4>{}, kPosition, Sums::kMeasured);
    }
    sum(std::integral_constant<int, 1>{}, kFeedforward, Sums::kForward);
    for (const Linkage& one : p.linkages)
        if (one.is_table()) (one.count == 1 ? table_in<1> : table_in<2>)(b, one, shafts);
    for (int s = 0; s < kSignals; ++s) b.input[s] = shafts + s * b.pitch;
}

// Efforts of shafts without those that would push a cable, which is slack then and limits its motor.
inline void slacken(const Problem& p, const Block& b, const float* efforts, float* shafts) {
    const int32_t* const pulls = p.sums.pulls.data();
    for (int64_t first = 0; first < b.size; first += p.sums.length)
        for (int64_t k = 0; k < std::min(p.sums.length, b.size - first); ++k) {
            const float effort = efforts[first + k];
            const bool is_slack = (pulls[k] != 0) & (effort < 0.0f);
            shafts[first + k] = is_slack ? 0.0f : effort;
            if (p.limited_by && is_slack) p.limited_by[b.first + first + k] = static_cast<uint8_t>(p.linkage_stage + 1);
        }
}

// Replace efforts of shafts by those of the linked joints, whose signals the block has.
NOINLINE inline void link_out(const Problem& p, const Block& b, float* RESTRICT efforts) {
    float* RESTRICT const shafts = b.derived + p.link_arrays * b.pitch;
    slacken(p, b, efforts, shafts);
    sum_linked(AtOnce<1>{}, p.sums, Sums::kBack, shafts, efforts, b.pitch, b.size);
    for (int64_t i = 0; i < b.size; ++i) efforts[i] = nan_unless(finite(efforts[i]), efforts[i]);
    for (const Linkage& one : p.linkages)
        if (one.is_table()) (one.count == 1 ? table_out<1> : table_out<2>)(b, one, p.dt, efforts);
}

}  // namespace ACTUATORS_VARIANT
