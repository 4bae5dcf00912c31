/* What the header of a robot's motors takes from here: each block behind those that it uses, and only if something uses
   it. `ROBOT_` becomes the name of the robot, and MOST the number of joints that a linkage moves at most. */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

typedef struct { float position, velocity, position_target, velocity_target, feedforward; } ROBOT_signals;

static inline float ROBOT_negative(float x) { return 0.0f - x; }

static inline float ROBOT_magnitude(float x) { return fabsf(x); }

static inline float ROBOT_square_root(float x) { return sqrtf(x); }

static inline int ROBOT_finite(float x) { return fabsf(x) <= FLT_MAX; }

static inline int ROBOT_all_finite(const float x[], int count) {
    int good = 1;
    for (int k = 0; k < count; ++k) good &= ROBOT_finite(x[k]);
    return good;
}

static inline int ROBOT_known(ROBOT_signals of) {
    const float x[] = {of.position, of.velocity, of.position_target, of.velocity_target, of.feedforward};
    return ROBOT_all_finite(x, 5);
}

static inline float ROBOT_pick(int first, float one, float other) { return first ? one : other; }

static inline float ROBOT_nan_unless(int good, float value) { return good ? value : NAN; }

static inline uint32_t ROBOT_bits_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float ROBOT_float_of(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* 2^n of an integer n from -126 to 127 */
static inline float ROBOT_power_of_two(float n) {
    return ROBOT_float_of((ROBOT_bits_of(n + 12582912.0f) - ROBOT_bits_of(12582912.0f) + 127u) << 23);
}

/* m and e with x = m 2^e and sqrt(1/2) <= m < sqrt(2), of a positive finite number */
static inline ROBOT_values_2 ROBOT_mantissa_and_exponent(float x) {
    const int tiny = x < FLT_MIN;
    const uint32_t bits = ROBOT_bits_of(tiny ? x * 4294967296.0f : x);
    const float m = ROBOT_float_of((bits & 0x007fffffu) | 0x3f800000u);
    const float e = ROBOT_float_of((bits >> 23) + ROBOT_bits_of(12582912.0f)) - 12582912.0f - (tiny ? 159.0f : 127.0f);
    const int large = (double)m >= 1.4142135623730951;
    return (ROBOT_values_2){{large ? m * 0.5f : m, large ? e + 1.0f : e}};
}

/* 32 bits of which each depends on all that are given */
static inline uint32_t ROBOT_mixed(uint32_t bits) {
    const uint32_t state = bits * 747796405u + 2891336453u;
    const uint32_t word = ((state >> ((state >> 28) + 4u)) ^ state) * 277803737u;
    return (word >> 22) ^ word;
}

/* a random number in [0, 1) that three integers from 0 to 2^24 determine */
static inline float ROBOT_uniform(float seed, float place, float count) {
    const uint32_t of_place = ROBOT_mixed(ROBOT_mixed((uint32_t)(int32_t)seed) + (uint32_t)(int32_t)place);
    return (float)(int32_t)(ROBOT_mixed(of_place + (uint32_t)(int32_t)count) >> 8) * 5.9604644775390625e-08f;
}

/* Here stand the functions of the laws. */

/* rows of point, value and slope behind the point */
typedef struct { const float (*rows)[3]; int count; } ROBOT_table;

/* The value at x: on the line of the last row whose point is below x, that of the first row before it. */
static inline float ROBOT_table_at(ROBOT_table table, float x) {
    int passed = 0, end = table.count;
    while (passed < end) {
        const int middle = (passed + end) / 2;
        if (x > table.rows[middle][0]) passed = middle + 1;
        else end = middle;
    }
    const float *row = table.rows[passed ? passed - 1 : 0];
    return ROBOT_curve_value(x, row[0], row[1], passed ? row[2] : 0.0f);
}

typedef struct { float commands[ROBOT_DEPTH][3]; int row, begun; } ROBOT_ring;

/* The command of `steps` steps ago; the first good one stands for all before it. A number that is not finite is not
   kept: the one before it is, and there is no effort in that step. */
static inline void ROBOT_late(ROBOT_ring *ring, int steps, ROBOT_signals *joint) {
    const float command[3] = {joint->position_target, joint->velocity_target, joint->feedforward};
    const float *before = ring->commands[(ring->row + steps - 1) % steps];
    const int good = ROBOT_all_finite(command, 3);
    float late[3], *at = ring->commands[ring->row];
    if (!ring->begun && good) {
        for (int k = 0; k < steps; ++k) memcpy(ring->commands[k], command, sizeof late);
        ring->begun = 1;
    }
    memcpy(late, at, sizeof late);
    for (int c = 0; c < 3; ++c) at[c] = ROBOT_finite(command[c]) ? command[c] : before[c];
    joint->position_target = good ? late[0] : NAN;
    joint->velocity_target = good ? late[1] : NAN;
    joint->feedforward = good ? late[2] : NAN;
    ring->row = (ring->row + 1) % steps;
}

/* Replaces values by those of `lag` steps ago, between two steps on a line, of rings of `depth` rows each; the first
   ones stand for all before them. Returns the newest row, which is NaN before the first. */
static inline float ROBOT_act_late(float rings[], int depth, float newest, float lag, float values[], int count) {
    const float most = (float)(depth - 2), below = lag < most ? lag : most, bounded = below > 0.0f ? below : 0.0f;
    const int steps = (int)bounded, row = newest < (float)(depth - 1) ? (int)newest + 1 : 0;
    const float rest = bounded - (float)steps;
    for (int r = 0; r < count; ++r, rings += depth) {
        for (int k = 0; newest != newest && k < depth; ++k) rings[k] = values[r];
        rings[row] = values[r];
        const float one = rings[(row - steps + depth) % depth], other = rings[(row - steps - 1 + depth) % depth];
        values[r] = one + rest * (other - one);
    }
    return (float)row;
}

typedef struct {
    int count, own[MOST], pulls[MOST];
    float matrix[MOST][MOST], inverse[MOST][MOST], offset[MOST], inertia[MOST];
    float lower[MOST], spacing[MOST], per_spacing[MOST];
    int rows[MOST];
    const float *nodes; /* none for a linear one */
} ROBOT_linkage;

typedef struct { float angle[MOST], slope[MOST][MOST]; } ROBOT_shafts;

/* between the nodes around a position; beyond the table the slopes at its end hold */
static inline void ROBOT_shafts_in_table(const ROBOT_linkage *of, const float q[], ROBOT_shafts *found) {
    const int n = of->count, width = n * (1 + n), next = n == 2 ? width : 0, columns = n == 2 ? of->rows[1] : 1;
    int cell[MOST] = {0};
    float part[MOST] = {0.0f}, beyond[MOST] = {0.0f};
    for (int j = 0; j < n; ++j) {
        const float last = (float)(of->rows[j] - 1), at = (q[j] - of->lower[j]) * of->per_spacing[j];
        const float inside = at >= 0.0f ? (at <= last ? at : last) : 0.0f;
        cell[j] = (int)inside;
        if (cell[j] > of->rows[j] - 2) cell[j] = of->rows[j] - 2;
        part[j] = inside - (float)cell[j];
        beyond[j] = (at - inside) * of->spacing[j];
    }
    const float *low = of->nodes + (cell[0] * columns + cell[1]) * width, *high = low + columns * width;
    for (int i = 0; i < n; ++i)
        for (int k = 0; k <= n; ++k) {
            const int at = i * (1 + n) + k;
            const float first = low[at] + (low[at + next] - low[at]) * part[1];
            const float second = high[at] + (high[at + next] - high[at]) * part[1];
            *(k ? &found->slope[i][k - 1] : &found->angle[i]) = first + (second - first) * part[0];
        }
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) found->angle[i] += found->slope[i][j] * beyond[j];
}

/* angles of the shafts, and their change with each joint */
static inline ROBOT_shafts ROBOT_shafts_at(const ROBOT_linkage *of, const float q[]) {
    ROBOT_shafts found;
    if (of->nodes) {
        ROBOT_shafts_in_table(of, q, &found);
        return found;
    }
    for (int i = 0; i < of->count; ++i) {
        found.angle[i] = of->matrix[i][0] * q[0];
        for (int j = 1; j < of->count; ++j) found.angle[i] += of->matrix[i][j] * q[j];
        found.angle[i] += of->offset[i];
        memcpy(found.slope[i], of->matrix[i], sizeof found.slope[i]);
    }
    return found;
}

static inline float ROBOT_turned(const ROBOT_shafts *now, int i, const float v[], int count) {
    float sum = now->slope[i][0] * v[0];
    for (int j = 1; j < count; ++j) sum += now->slope[i][j] * v[j];
    return sum;
}

/* efforts of the shafts that have given efforts at the joints */
static inline void ROBOT_efforts_of_shafts(const ROBOT_linkage *of, const ROBOT_shafts *now, const float joint[], float shaft[]) {
    if (!of->nodes) {
        for (int i = 0; i < of->count; ++i) {
            shaft[i] = of->inverse[0][i] * joint[0];
            for (int j = 1; j < of->count; ++j) shaft[i] += of->inverse[j][i] * joint[j];
        }
    } else if (of->count == 1) {
        shaft[0] = joint[0] / now->slope[0][0];
    } else {
        const float determinant = now->slope[0][0] * now->slope[1][1] - now->slope[0][1] * now->slope[1][0];
        shaft[0] = (now->slope[1][1] * joint[0] - now->slope[1][0] * joint[1]) / determinant;
        shaft[1] = (now->slope[0][0] * joint[1] - now->slope[0][1] * joint[0]) / determinant;
    }
}

/* Signals of the shafts of motors, of those of their joints; commands that are a motor's own stay as they are. */
static inline void ROBOT_link_in(const ROBOT_linkage *of, const ROBOT_signals joints[], ROBOT_signals shafts[]) {
    float q[MOST], v[MOST], q_target[MOST], v_target[MOST], given[MOST], feedforward[MOST];
    for (int j = 0; j < of->count; ++j) {
        q[j] = joints[j].position, v[j] = joints[j].velocity, given[j] = joints[j].feedforward;
        q_target[j] = joints[j].position_target, v_target[j] = joints[j].velocity_target;
    }
    const ROBOT_shafts now = ROBOT_shafts_at(of, q), wanted = ROBOT_shafts_at(of, q_target);
    ROBOT_efforts_of_shafts(of, &now, given, feedforward);
    for (int i = 0; i < of->count; ++i) {
        shafts[i] = joints[i];
        shafts[i].position = now.angle[i];
        shafts[i].velocity = ROBOT_turned(&now, i, v, of->count);
        if (of->own[i]) continue;
        shafts[i].position_target = wanted.angle[i];
        shafts[i].velocity_target = ROBOT_turned(&wanted, i, v_target, of->count);
        shafts[i].feedforward = feedforward[i];
    }
}

/* Efforts at the joints, of those of the shafts, without what accelerates the rotors as the slopes change. */
static inline void ROBOT_link_out(const ROBOT_linkage *of, const ROBOT_signals joints[], float dt, float effort[]) {
    float q[MOST], v[MOST], ahead[MOST], found[MOST];
    for (int j = 0; j < of->count; ++j) {
        q[j] = joints[j].position, v[j] = joints[j].velocity;
        ahead[j] = q[j] + dt * v[j];
    }
    const ROBOT_shafts now = ROBOT_shafts_at(of, q);
    for (int i = 0; i < of->count; ++i)
        if (of->pulls[i] && effort[i] < 0.0f) effort[i] = 0.0f;
    int turns = 0;
    for (int i = 0; of->nodes && i < of->count; ++i) turns |= of->inertia[i] != 0.0f;
    if (turns) {
        const ROBOT_shafts then = ROBOT_shafts_at(of, ahead);
        for (int i = 0; i < of->count; ++i) {
            float change = (then.slope[i][0] - now.slope[i][0]) * v[0];
            for (int j = 1; j < of->count; ++j) change += (then.slope[i][j] - now.slope[i][j]) * v[j];
            effort[i] -= of->inertia[i] * (change / dt);
        }
    }
    for (int j = 0; j < of->count; ++j) {
        found[j] = now.slope[0][j] * effort[0];
        for (int i = 1; i < of->count; ++i) found[j] += now.slope[i][j] * effort[i];
    }
    memcpy(effort, found, of->count * sizeof(float));
}

/* The effort, with the states of the step; zero without them if it is not finite. */
static inline float ROBOT_settled(float effort, float state[], const float next[], int count) {
    if (!ROBOT_finite(effort)) return 0.0f;
    memcpy(state, next, count * sizeof(float));
    return effort;
}
