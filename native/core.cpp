// The step, compiled once per instruction set with its own ACTUATORS_VARIANT namespace.
//
// A block runs through: inputs, delay, law, limits, faults. The common pipelines take one sweep over the block; what
// is less common (integrals of some slots only, clamps in another order, telemetry) goes through scratch memory with
// the same laws, hence the same bits. A fault is rare: a sweep only notices that there is one, and the block is looked
// through again.
#include "core.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <cstring>

#include "laws.h"

#if defined(__clang__)
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define INDEPENDENT _Pragma("GCC ivdep")
#else
#define INDEPENDENT
#endif
#if defined(_MSC_VER)
#define RESTRICT __restrict
#else
#define RESTRICT __restrict__
#endif

namespace ACTUATORS_VARIANT {

using namespace actuators;

enum Source { kPd, kPid, kGiven };

struct Block {
    int64_t first_robot, robots;
    // number of its first element among all, and of elements; where its part of shared and own arrays begins
    int64_t first, size;
    // read from: contiguous, `size` each; targets are the delayed ones after the delay
    const float* input[kSignals];
    const float* now[3];
    float* efforts;
    const int32_t* driven;
};

// Law and one sweep of limits; returns whether any effort is not finite.
template <Source SOURCE, bool DC_MOTOR, bool TABLE, bool MAX_EFFORT, bool MASKED>
bool sweep(const Problem& p, const Block& b, const Limits& limits, const float* given, const float* table,
           const float* factors, float* out_efforts) {
    const int64_t e = b.first;
    const float *RESTRICT q = b.input[kPosition], *RESTRICT qd = b.input[kVelocity];
    const float *RESTRICT q_target = b.input[kPositionTarget], *RESTRICT qd_target = b.input[kVelocityTarget];
    const float *RESTRICT ff = b.input[kFeedforward], *RESTRICT raw = given, *RESTRICT limit_of = table;
    const float *RESTRICT kp = p.kp.at(e), *RESTRICT kd = p.kd.at(e), *RESTRICT bias = p.bias.at(e);
    const float *RESTRICT ki = p.ki.at(e), *RESTRICT integral_max = p.integral_max.at(e);
    const float *RESTRICT stall = limits.stall.at(e), *RESTRICT factor = factors;
    const float *RESTRICT peak = limits.peak.at(e), *RESTRICT largest = limits.largest.at(e);
    float* RESTRICT integral = SOURCE == kPid ? p.integral + e : nullptr;
    const int32_t* RESTRICT driven = b.driven;
    float* RESTRICT out = out_efforts;
    const float dt = p.dt;
    int32_t bad = 0;
    INDEPENDENT
    for (int64_t i = 0; i < b.size; ++i) {
        float effort;
        bool good;
        if constexpr (SOURCE == kPd) {
            effort = pd_effort(q[i], qd[i], q_target[i], qd_target[i], ff[i], kp[i], kd[i], bias[i]);
            good = finite(effort);
        } else if constexpr (SOURCE == kPid) {
            const float before = integral[i];
            const float after = pid_integral(before, q[i], q_target[i], dt, integral_max[i]);
            effort = pid_effort(q[i], qd[i], q_target[i], qd_target[i], ff[i], kp[i], ki[i], kd[i], bias[i], after);
            good = finite(effort);
            integral[i] = good ? after : before;
        } else {
            effort = raw[i];
            good = finite(effort);
        }
        if constexpr (DC_MOTOR) {
            const Bounds bounds = dc_motor_bounds(qd[i], stall[i], factor[i], peak[i]);
            good = good & interval(bounds.lower, bounds.upper);
            effort = within(effort, bounds.lower, bounds.upper);
            good = good & finite(effort);
        }
        if constexpr (TABLE) {
            good = good & interval(-limit_of[i], limit_of[i]);
            effort = within(effort, -limit_of[i], limit_of[i]);
        }
        if constexpr (MAX_EFFORT) {
            good = good & interval(-largest[i], largest[i]);
            effort = within(effort, -largest[i], largest[i]);
        }
        // a limit must not make a good effort of a bad one: only the guard sees this NaN
        effort = good ? effort : kNaN;
        if constexpr (MASKED) {
            bad |= driven[i] & (good ? 0 : 1);
            if (driven[i]) out[i] = effort;
        } else {
            bad |= good ? 0 : 1;
            out[i] = effort;
        }
    }
    return bad != 0;
}

using Sweep = bool (*)(const Problem&, const Block&, const Limits&, const float*, const float*, const float*, float*);

template <Source SOURCE, bool MASKED>
Sweep pick(bool dc_motor, bool table, bool max_effort) {
    static constexpr Sweep known[] = {
        sweep<SOURCE, false, false, false, MASKED>, sweep<SOURCE, false, false, true, MASKED>,
        sweep<SOURCE, false, true, false, MASKED>,  sweep<SOURCE, false, true, true, MASKED>,
        sweep<SOURCE, true, false, false, MASKED>,  sweep<SOURCE, true, false, true, MASKED>,
        sweep<SOURCE, true, true, false, MASKED>,   sweep<SOURCE, true, true, true, MASKED>,
    };
    return known[(dc_motor ? 4 : 0) + (table ? 2 : 0) + (max_effort ? 1 : 0)];
}

Sweep pick(Source source, bool masked, bool dc_motor = false, bool table = false, bool max_effort = false) {
    if (source == kPd)
        return masked ? pick<kPd, true>(dc_motor, table, max_effort) : pick<kPd, false>(dc_motor, table, max_effort);
    if (source == kPid)
        return masked ? pick<kPid, true>(dc_motor, table, max_effort) : pick<kPid, false>(dc_motor, table, max_effort);
    return masked ? pick<kGiven, true>(dc_motor, table, max_effort) : pick<kGiven, false>(dc_motor, table, max_effort);
}

// ---- motors

void speed_factors(const float* RESTRICT stall, const float* RESTRICT no_load_velocity, const float* RESTRICT peak,
                   float* RESTRICT out, int64_t size) {
    INDEPENDENT
    for (int64_t i = 0; i < size; ++i) out[i] = speed_factor(stall[i], no_load_velocity[i], peak[i]);
}

// The speed factors of a block's motors, computed in scratch memory where robots have parameters of their own.
const float* factors_of(const Limits& limits, const Block& b, float* scratch) {
    if (!limits.dc_motor || limits.speed_factors) return limits.speed_factors;
    const int64_t e = b.first;
    speed_factors(limits.stall.at(e), limits.no_load_velocity.at(e), limits.peak.at(e), scratch, b.size);
    return scratch;
}

// ---- lookup tables

#if defined(__AVX512F__)
constexpr int kLanes = 16;
#elif defined(__AVX2__)
constexpr int kLanes = 8;
#else
constexpr int kLanes = 4;
#endif

#if defined(__GNUC__)
typedef float Lanes __attribute__((vector_size(kLanes * 4)));
#else
typedef float Lanes;
#endif
constexpr int kWidth = sizeof(Lanes) / sizeof(float);
static_assert(kWidth <= kRepeated, "a vector is wider than the numbers are repeated");

inline Lanes load(const float* from) {
    Lanes lanes;
    std::memcpy(&lanes, from, sizeof lanes);
    return lanes;
}

// Limit at each position: the last row passed gives where the curve bends, its value and its slope.
inline Lanes table_limit(Lanes q, const Table& t) {
    Lanes at = load(t.rows), value = load(t.rows + kRepeated), slope{};
    for (int row = 0; row < t.count; ++row) {
        const float* numbers = t.rows + 3 * kRepeated * row;
        const Lanes position = load(numbers);
        const auto passed = q > position;
        at = passed ? position : at;
        value = passed ? load(numbers + kRepeated) : value;
        slope = passed ? load(numbers + 2 * kRepeated) : slope;
    }
    return value + (q - at) * slope;
}

// The limits of `size` elements; both arrays are written and read beyond their end up to a whole vector.
void table_limits(const Table& t, const float* q, float* out, int64_t size) {
    for (int64_t i = 0; i < size; i += kWidth) {
        const Lanes limit = table_limit(load(q + i), t);
        std::memcpy(out + i, &limit, sizeof limit);
    }
}

// The limit of each element of a block by its table; infinite without one.
void look_up(const Limits& limits, const Block& b, float* out, float* const* scratch) {
    const float* q = b.input[kPosition];
    float *position = scratch[0], *limit = scratch[1];
    if (limits.tables.empty() || limits.tables[0].places) std::fill(out, out + b.size, kInfinity);
    for (const Table& t : limits.tables) {
        if (!t.places) {
            const int64_t whole = b.size - b.size % kWidth;
            table_limits(t, q, out, whole);
            // not beyond the end of the articulation's array
            std::copy(q + whole, q + b.size, position);
            table_limits(t, position, out + whole, b.size - whole);
            continue;
        }
        const int64_t count = b.robots * t.slots;
        for (int64_t k = 0; k < count; ++k) position[k] = q[t.places[k]];
        table_limits(t, position, limit, count);
        for (int64_t k = 0; k < count; ++k) out[t.places[k]] = limit[k];
    }
}

// ---- delay

// Write a signal to the newest row, return whether all of it is finite.
bool push(const float* RESTRICT now, float* RESTRICT row, int64_t size) {
    int32_t bad = 0;
    INDEPENDENT
    for (int64_t i = 0; i < size; ++i) {
        bad |= finite(now[i]) ? 0 : 1;
        row[i] = now[i];
    }
    return bad == 0;
}

inline int64_t row_of(const Ring& ring, int64_t lag) {
    const int64_t row = ring.head - lag;
    return row < 0 ? row + ring.depth : row;
}

// The lag all elements share, or -1.
inline int64_t one_lag(const Ring& ring, const int32_t* RESTRICT lag, int64_t count) {
    int32_t differ = 0;
    INDEPENDENT
    for (int64_t k = 0; k < count; ++k) differ |= lag[k] ^ lag[0];
    return differ ? -1 : std::clamp<int64_t>(lag[0], 0, ring.depth - 1);
}

// Where the delayed command of each element is: its row, times the size of a row.
void find_rows(const Ring& ring, const int32_t* RESTRICT lag, const int32_t* RESTRICT places, int64_t count,
               int64_t* RESTRICT from) {
    const int32_t head = static_cast<int32_t>(ring.head), depth = static_cast<int32_t>(ring.depth);
    for (int64_t k = 0; k < count; ++k) {
        const int32_t steps = lag[places[k]];
        const int32_t kept = steps < 0 ? 0 : steps >= depth ? depth - 1 : steps;
        const int32_t row = head - kept;
        from[k] = (row < 0 ? row + depth : row) * ring.pitch + k;
    }
}

// What is not finite never enters: the command before it is held.
void hold_commands(const Problem& p, int64_t from, int64_t count) {
    const Ring& ring = p.ring;
    const int64_t before = row_of(ring, ring.depth > 1 ? 1 : 0);
    for (int c = 0; c < 3; ++c) {
        float* newest = ring.rows[c] + ring.head * ring.pitch + from;
        const float* older = ring.rows[c] + before * ring.pitch + from;
        for (int64_t k = 0; k < count; ++k)
            if (!finite(newest[k])) newest[k] = finite(older[k]) ? older[k] : 0.0f;
    }
}

// Write this step's targets to the ring and read the delayed ones, all elements with one lag; whether all is finite.
bool delay_alike(const Problem& p, Block& b, int64_t lag) {
    const Ring& ring = p.ring;
    const int64_t from = b.first_robot * p.delayed_slots, newest = ring.head * ring.pitch + from;
    bool good = true;
    for (int c = 0; c < 3; ++c) {
        good &= push(b.now[c], ring.rows[c] + newest, b.size);
        b.input[kPositionTarget + c] = ring.rows[c] + row_of(ring, lag) * ring.pitch + from;
    }
    if (!good) hold_commands(p, from, b.size);
    return good;
}

// The same where all elements have the longest lag: the oldest row becomes the newest.
bool delay_swapped(const Problem& p, Block& b, float* const* scratch) {
    const Ring& ring = p.ring;
    const int64_t from = b.first_robot * p.delayed_slots;
    bool good = true;
    for (int c = 0; c < 3; ++c) {
        const float* RESTRICT now = b.now[c];
        float* RESTRICT row = ring.rows[c] + ring.head * ring.pitch + from;
        float* RESTRICT delayed = scratch[c];
        int32_t bad = 0;
        INDEPENDENT
        for (int64_t i = 0; i < b.size; ++i) {
            bad |= finite(now[i]) ? 0 : 1;
            delayed[i] = row[i];
            row[i] = now[i];
        }
        b.input[kPositionTarget + c] = delayed;
        if (!bad) continue;
        good = false;
        // as in hold_commands; a ring of one row held the command before in that row
        const float* older = ring.depth > 1 ? ring.rows[c] + row_of(ring, 1) * ring.pitch + from : delayed;
        for (int64_t i = 0; i < b.size; ++i)
            if (!finite(row[i])) row[i] = finite(older[i]) ? older[i] : 0.0f;
    }
    return good;
}

// The same where some elements are delayed, or each by a lag of its own.
bool delay_apart(const Problem& p, Block& b, const int64_t* RESTRICT rows_of, float* const* scratch) {
    const Ring& ring = p.ring;
    const int64_t count = b.robots * p.delayed_slots, from = b.first_robot * p.delayed_slots;
    const int32_t* RESTRICT places = p.delayed_places;
    const float *now_0 = b.now[0], *now_1 = b.now[1], *now_2 = b.now[2];
    float *ring_0 = ring.rows[0] + from, *ring_1 = ring.rows[1] + from, *ring_2 = ring.rows[2] + from;
    const int64_t newest = ring.head * ring.pitch;
    int32_t bad = 0;
    for (int64_t k = 0; k < count; ++k) {
        const float first = now_0[places[k]], second = now_1[places[k]], third = now_2[places[k]];
        bad |= finite(first) & finite(second) & finite(third) ? 0 : 1;
        ring_0[newest + k] = first;
        ring_1[newest + k] = second;
        ring_2[newest + k] = third;
    }
    if (bad) hold_commands(p, from, count);
    for (int c = 0; c < 3; ++c) {
        if (count < b.size) std::memcpy(scratch[c], b.now[c], b.size * sizeof(float));
        b.input[kPositionTarget + c] = scratch[c];
    }
    float *RESTRICT out_0 = scratch[0], *RESTRICT out_1 = scratch[1], *RESTRICT out_2 = scratch[2];
    for (int64_t k = 0; k < count; ++k) {
        const int64_t row = rows_of[k];
        const int32_t i = places[k];
        out_0[i] = ring_0[row];
        out_1[i] = ring_1[row];
        out_2[i] = ring_2[row];
    }
    return !bad;
}

// Replace the block's targets by the delayed ones; returns whether every target of this step is finite.
bool delay(const Problem& p, Block& b, float* const* scratch) {
    const Ring& ring = p.ring;
    if (ring.swaps) return delay_swapped(p, b, scratch);
    int64_t uniform = ring.uniform;
    const int32_t* lag = ring.own_lag ? ring.own_lag + b.first : ring.shared_lag;
    if (p.delayed_slots == p.slots && p.layout != Layout::kGaps) {
        if (uniform < 0 && ring.own_lag) uniform = one_lag(ring, lag, b.size);
        if (uniform >= 0) return delay_alike(p, b, uniform);
    }
    int64_t* const rows_of = reinterpret_cast<int64_t*>(scratch[3]);
    // lags that robots share are found once for all blocks, see step_blocks
    if (ring.own_lag) find_rows(ring, lag, p.delayed_places, b.robots * p.delayed_slots, rows_of);
    return delay_apart(p, b, rows_of, scratch);
}

// ---- a block

// The law of the slots that have an integral, where not all have one.
void integrate_some(const Problem& p, const Block& b, float* RESTRICT efforts, float* RESTRICT found) {
    const int64_t count = b.robots * p.integral_slots;
    const int32_t* RESTRICT places = p.integral_places;
    const float *RESTRICT q = b.input[kPosition], *RESTRICT qd = b.input[kVelocity];
    const float *RESTRICT q_target = b.input[kPositionTarget], *RESTRICT qd_target = b.input[kVelocityTarget];
    const float *RESTRICT ff = b.input[kFeedforward], *RESTRICT kp = p.kp.at(b.first), *RESTRICT kd = p.kd.at(b.first);
    const float *RESTRICT bias = p.bias.at(b.first), *RESTRICT ki = p.ki.at(b.first);
    const float* RESTRICT integral_max = p.integral_max.at(b.first);
    float* RESTRICT integral = p.integral + b.first_robot * p.integral_slots;
    const float dt = p.dt;
    INDEPENDENT
    for (int64_t k = 0; k < count; ++k) {
        const int32_t i = places[k];
        const float before = integral[k], after = pid_integral(before, q[i], q_target[i], dt, integral_max[i]);
        const float effort =
            pid_effort(q[i], qd[i], q_target[i], qd_target[i], ff[i], kp[i], ki[i], kd[i], bias[i], after);
        found[k] = effort;
        integral[k] = finite(effort) ? after : before;
    }
    for (int64_t k = 0; k < count; ++k) efforts[places[k]] = found[k];
}

// One sweep per kind of limit, to see which of them changes an effort.
bool watch_limits(const Problem& p, const Block& b, float* const* scratch) {
    static const Limits none;
    float *here = scratch[0], *there = scratch[1], *table = scratch[2];
    std::memset(p.limited_by + b.first, 0, b.size);
    uint8_t stage = 0;
    for (const Limits& limits : p.limits) {
        if (limits.table) look_up(limits, b, table, scratch + 3);
        const float* factors = factors_of(limits, b, scratch[6]);
        const bool stages[] = {limits.dc_motor, limits.table, limits.max_effort};
        for (int kind = 0; kind < 3; ++kind) {
            if (!stages[kind]) continue;
            pick(kGiven, false, kind == 0, kind == 1, kind == 2)(p, b, limits, here, table, factors, there);
            ++stage;
            for (int64_t i = 0; i < b.size; ++i)
                if (there[i] != here[i]) p.limited_by[b.first + i] = stage;
            std::swap(here, there);
        }
    }
    return pick(kGiven, b.driven != nullptr)(p, b, none, here, nullptr, nullptr, b.efforts);
}

// Efforts before the limits.
void command(const Problem& p, Block b, Source source, float* efforts, float* found) {
    static const Limits none;
    b.driven = nullptr;
    pick(source, false)(p, b, none, nullptr, nullptr, nullptr, efforts);
    if (p.integral_slots && source == kPd) integrate_some(p, b, efforts, found);
}

// All limits of the efforts in the first scratch array; returns whether any effort is not finite.
bool limit(const Problem& p, const Block& b, float* const* scratch) {
    static const Limits none;
    float *here = scratch[0], *there = scratch[1], *table = scratch[2];
    if (p.computed) {
        std::memcpy(p.computed + b.first, here, b.size * sizeof(float));
        return watch_limits(p, b, scratch);
    }
    Block all = b;
    all.driven = nullptr;
    for (size_t k = 0; k + 1 < p.limits.size(); ++k) {
        const Limits& limits = p.limits[k];
        if (limits.table) look_up(limits, b, table, scratch + 3);
        const Sweep sweep = pick(kGiven, false, limits.dc_motor, limits.table, limits.max_effort);
        sweep(p, all, limits, here, table, factors_of(limits, b, scratch[6]), there);
        std::swap(here, there);
    }
    const Limits& last = p.limits.empty() ? none : p.limits.back();
    if (last.table) look_up(last, b, table, scratch + 3);
    const Sweep sweep = pick(kGiven, b.driven != nullptr, last.dc_motor, last.table, last.max_effort);
    return sweep(p, b, last, here, table, factors_of(last, b, scratch[6]), b.efforts);
}

int32_t fault_of(const float* const* signals, int64_t i) {
    int32_t code = 0;
    for (int s = 0; s < kSignals; ++s) code |= finite(signals[s][i]) ? 0 : 1 << s;
    return code;
}

// Find the faults of a block, set their efforts to zero.
void find_faults(const Problem& p, const Block& b, const float* const* signals) {
    const std::lock_guard<std::mutex> lock(*p.guard);
    for (int64_t i = 0; i < b.size; ++i) {
        const int64_t place = i % p.period;
        const int32_t slot = p.slot_of ? p.slot_of[place] : static_cast<int32_t>(place);
        if (slot < 0) continue;
        const int32_t code = fault_of(signals, i);
        if (!code && finite(b.efforts[i])) continue;
        b.efforts[i] = 0.0f;
        p.faults->push_back({b.first_robot + i / p.period, slot, code ? code : kEffortFault, p.step});
    }
}

// A joint whose command is not finite keeps its integral, though the law saw an older command.
void hold_integrals(const Problem& p, const Block& b, const float* const* signals, const float* before) {
    float* integral = p.integral + b.first_robot * p.integral_slots;
    for (int64_t k = 0; k < b.robots * p.integral_slots; ++k) {
        const int32_t i = p.integral_places[k];
        for (int s = kPositionTarget; s < kSignals; ++s)
            if (!finite(signals[s][i])) integral[k] = before[k];
    }
}

// Lay down what stands between the phases; the efforts are there already.
void hand_over(const Problem& p, const Block& b, const float* const* signals) {
    const Handover& to = p.handover;
    for (int s = 0; s < kSignals; ++s) {
        const float* RESTRICT from = b.input[s];
        float* RESTRICT kept = to.signals[s] + b.first;
        for (int64_t i = 0; i < b.size; ++i) kept[i] = finite(from[i]) ? from[i] : kept[i];
    }
    for (int64_t i = 0; i < b.size; ++i) {
        const int32_t code = fault_of(signals, i);
        to.bad[b.first + i] = code;
        if (code) to.efforts[b.first + i] = kNaN;
    }
}

#if defined(__AVX2__)
// As many whole rows as can be read beyond their last column; returns how many. Writes beyond its last element too.
int64_t copy_eights(const Problem& p, const Block& b, int s, const float* from, float* to) {
    const auto load = [](const int32_t* at) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at)); };
    // after the last row there may be no memory
    const int64_t rows = std::min(b.robots, p.robots - 1 - b.first_robot), pitch = p.pitch[s], slots = p.slots;
    // the last eight first: it writes into the next row, whose own come later
    for (int64_t k = p.pick_count - 1; k >= 0; --k) {
        const Pick& pick = p.picks[k];
        const __m256i lanes_0 = load(pick.lane[0]), lanes_1 = load(pick.lane[1]);
        const __m256 second = _mm256_castsi256_ps(load(pick.second));
        for (int64_t row = 0; row < rows; ++row) {
            const float* const here = from + row * pitch;
            const __m256 window_0 = _mm256_permutevar8x32_ps(_mm256_loadu_ps(here + pick.begin[0]), lanes_0);
            const __m256 window_1 = _mm256_permutevar8x32_ps(_mm256_loadu_ps(here + pick.begin[1]), lanes_1);
            _mm256_storeu_ps(to + row * slots + 8 * k, _mm256_blendv_ps(window_0, window_1, second));
        }
    }
    return rows;
}
#else
int64_t copy_eights(const Problem&, const Block&, int, const float*, float*) {
    return 0;
}
#endif

void copy_in(const Problem& p, const Block& b, int s, float* RESTRICT to) {
    const float* RESTRICT from = p.input[s] + b.first_robot * p.pitch[s];
    int64_t robot = p.pick_count && p.pitch[s] >= 8 ? copy_eights(p, b, s, from, to) : 0;
    from += robot * p.pitch[s], to += robot * p.slots;
    for (; robot < b.robots; ++robot, from += p.pitch[s], to += p.slots)
        for (int64_t slot = 0; slot < p.slots; ++slot) to[slot] = from[p.columns[slot]];
}

void copy_out(const Problem& p, const Block& b) {
    const float* RESTRICT from = b.efforts;
    float* RESTRICT to = p.efforts + b.first_robot * p.efforts_pitch;
    for (int64_t robot = 0; robot < b.robots; ++robot, from += p.slots, to += p.efforts_pitch)
        for (int64_t slot = 0; slot < p.slots; ++slot) to[p.columns[slot]] = from[slot];
}

// What a block is before its inputs are found.
Block block_of(const Problem& p, int64_t number) {
    Block b{};
    b.first_robot = number * p.robots_per_block;
    b.robots = std::min(p.robots_per_block, p.robots - b.first_robot);
    b.first = b.first_robot * p.period;
    b.size = b.robots * p.period;
    return b;
}

void point_at_arrays(const Problem& p, Block& b) {
    const int32_t column = p.columns[0];
    for (int s = 0; s < kSignals; ++s) b.input[s] = p.input[s] + b.first_robot * p.pitch[s] + column;
    b.efforts = p.efforts + b.first_robot * p.efforts_pitch + column;
}

const Limits& only_limits(const Problem& p) {
    static const Limits none;
    return p.limits.empty() ? none : p.limits[0];
}

void step_block(const Problem& p, int64_t number, Source source, bool plain, float* const* scratch) {
    Block b = block_of(p, number);
    if (p.layout == Layout::kGather) {
        for (int s = 0; s < kSignals; ++s) copy_in(p, b, s, scratch[s]), b.input[s] = scratch[s];
        b.efforts = scratch[kSignals];
    } else {
        point_at_arrays(p, b);
        if (p.layout == Layout::kGaps) {
            // the last row ends with its last driven column
            const bool last = b.first_robot + b.robots == p.robots;
            if (last) b.size -= p.period - (p.columns[p.slots - 1] - p.columns[0] + 1);
            b.driven = p.driven;
        }
    }
    const float* signals[kSignals];
    std::copy(b.input, b.input + kSignals, signals);
    std::copy(b.input + kPositionTarget, b.input + kSignals, b.now);

    bool bad = false, late = false;
    if (p.phase != Phase::kLimit) {
        bad = late = p.delayed_slots && !delay(p, b, scratch + 6);
        const int64_t integrals = b.robots * p.integral_slots;
        if (late) std::copy_n(p.integral + b.first_robot * p.integral_slots, integrals, scratch[16]);
    }
    float* const* more = scratch + 11;
    if (p.phase == Phase::kCommand) {
        command(p, b, source, p.handover.efforts + b.first, more[1]);
    } else if (p.phase == Phase::kLimit) {
        std::copy_n(p.handover.efforts + b.first, b.size, more[0]);
        bad = limit(p, b, more);
    } else if (plain) {
        const Limits& limits = only_limits(p);
        float* table = scratch[13];
        if (limits.table) look_up(limits, b, table, scratch + 14);
        const Sweep whole = pick(source, b.driven != nullptr, limits.dc_motor, limits.table, limits.max_effort);
        bad |= whole(p, b, limits, nullptr, table, factors_of(limits, b, scratch[17]), b.efforts);
    } else {
        command(p, b, source, more[0], more[1]);
        bad |= limit(p, b, more);
    }
    if (late) hold_integrals(p, b, signals, scratch[16]);
    if (p.phase == Phase::kCommand) return hand_over(p, b, signals);
    if (bad) find_faults(p, b, signals);
    if (p.layout == Layout::kGather) copy_out(p, b);
}

void step_blocks(const Problem& p, int64_t first, int64_t last, float* scratch) {
    const Source source = p.integral_slots == p.slots && p.layout != Layout::kGaps ? kPid : kPd;
    const bool plain = (source == kPid || !p.integral_slots) && p.limits.size() <= 1 && !p.computed && !p.limited_by;
    const Limits& limits = only_limits(p);
    if (p.phase == Phase::kWhole && plain && p.layout == Layout::kDirect && !p.delayed_slots && !limits.table &&
        !(limits.dc_motor && !limits.speed_factors)) {
        // one sweep is all there is to a block
        const Sweep whole = pick(source, false, limits.dc_motor, false, limits.max_effort);
        for (int64_t number = first; number < last; ++number) {
            Block b = block_of(p, number);
            point_at_arrays(p, b);
            if (whole(p, b, limits, nullptr, nullptr, limits.speed_factors, b.efforts)) find_faults(p, b, b.input);
        }
        return;
    }
    float* parts[kScratchArrays];
    const int64_t size = (p.robots_per_block * p.period + 15) / 16 * 16;
    for (int part = 0; part < kScratchArrays; ++part) parts[part] = scratch + part * size;
    if (p.delayed_slots && !p.ring.own_lag && !p.ring.swaps) {
        const int64_t count = p.robots_per_block * p.delayed_slots;
        find_rows(p.ring, p.ring.shared_lag, p.delayed_places, count, reinterpret_cast<int64_t*>(parts[9]));
    }
    for (int64_t number = first; number < last; ++number) step_block(p, number, source, plain, parts);
}

// ---- what memory allows, for the benchmarks

template <int COUNT>
void add_up(const float* const* inputs, float* RESTRICT out, int64_t size) {
    const float* RESTRICT in[COUNT];
    for (int k = 0; k < COUNT; ++k) in[k] = inputs[k];
    INDEPENDENT
    for (int64_t i = 0; i < size; ++i) {
        float sum = in[0][i];
        for (int k = 1; k < COUNT; ++k) sum += in[k][i];
        out[i] = sum;
    }
}

void stream(const float* const* inputs, int count, float* output, int64_t size) {
    if (count == 5) return add_up<5>(inputs, output, size);
    if (count == 8) return add_up<8>(inputs, output, size);
    return add_up<1>(inputs, output, size);
}

bool available() {
#if defined(__AVX512F__)
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
#elif defined(__AVX2__)
    return __builtin_cpu_supports("avx2");
#else
    return true;
#endif
}

}  // namespace ACTUATORS_VARIANT

namespace actuators {
const Variant ACTUATORS_SYMBOL{ACTUATORS_NAME, ACTUATORS_VARIANT::available, ACTUATORS_VARIANT::step_blocks,
                               ACTUATORS_VARIANT::speed_factors, ACTUATORS_VARIANT::stream};
}
