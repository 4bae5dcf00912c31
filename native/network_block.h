// Building blocks of a network evaluation, compiled once per instruction set: linear maps, functions, recurrent layers,
// loads and stores of rows.
//
// Sums run over the bias and then the inputs in order, independent of the number of rows, so results are bit-identical.
#pragma once
#include "problem.h"

#include <algorithm>

#include "functions.h"

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace ACTUATORS_VARIANT {

using namespace actuators;

inline Floats& at(float* column) {
    return *reinterpret_cast<Floats*>(column);
}
inline Floats at(const float* column) {
    return *reinterpret_cast<const Floats*>(column);
}

// vectors per tile, summed together
constexpr int kVectors = 2;
constexpr int kTile = kVectors * kLanes;
static_assert(kBatch % kTile == 0, "a block is made of whole tiles");
// outputs per tile, limited by the registers
#if defined(__AVX512F__)
constexpr int kOutputs = 8;
#else
constexpr int kOutputs = 4;
#endif
static_assert(kPanel % kOutputs == 0, "a panel is made of whole tiles");

#if defined(__GNUC__) && !defined(__clang__)
#define UNROLL _Pragma("GCC unroll 16")
#else
#define UNROLL
#endif

// ---- linear maps

template <int OUTPUTS>
inline void add_products(Floats (&sums)[OUTPUTS][kVectors], const float* from, int64_t inputs, const float*& weights) {
    for (int64_t k = 0; k < inputs; ++k, from += kBatch, weights += kPanel) {
        Floats x[kVectors];
        UNROLL
        for (int v = 0; v < kVectors; ++v) x[v] = at(from + v * kLanes);
        UNROLL
        for (int o = 0; o < OUTPUTS; ++o) {
            const Floats weight = all(weights[o]);
            UNROLL
            for (int v = 0; v < kVectors; ++v) sums[o][v] = multiply_add(weight, x[v], sums[o][v]);
        }
    }
}

struct Sources {
    const float *first, *second;
    int64_t first_width, second_width;
};

template <int OUTPUTS>
void tile(const Sources& from, const float* weights, const float* biases, float* out) {
    Floats sums[OUTPUTS][kVectors];
    UNROLL
    for (int o = 0; o < OUTPUTS; ++o) UNROLL
    for (int v = 0; v < kVectors; ++v) sums[o][v] = all(biases[o]);
    add_products<OUTPUTS>(sums, from.first, from.first_width, weights);
    add_products<OUTPUTS>(sums, from.second, from.second_width, weights);
    UNROLL
    for (int o = 0; o < OUTPUTS; ++o) UNROLL
    for (int v = 0; v < kVectors; ++v) at(out + o * kBatch + v * kLanes) = sums[o][v];
}

template <int OUTPUTS>
void tile_of(int64_t outputs, const Sources& from, const float* weights, const float* biases, float* out) {
    if constexpr (OUTPUTS > 1)
        if (outputs < OUTPUTS) return tile_of<OUTPUTS - 1>(outputs, from, weights, biases, out);
    tile<OUTPUTS>(from, weights, biases, out);
}

// weights * [first, second] + biases
inline void linear(const Sources& from, int64_t outputs, const float* numbers, int lanes, float* out) {
    const int64_t inputs = from.first_width + from.second_width;
    const float* const biases = numbers + (outputs + kPanel - 1) / kPanel * kPanel * inputs;
    for (int64_t o = 0; o < outputs; o += kOutputs) {
        const float* const weights = numbers + o / kPanel * kPanel * inputs + o % kPanel;
        for (int row = 0; row < lanes; row += kTile)
            tile_of<kOutputs>(outputs - o, {from.first + row, from.second + row, from.first_width, from.second_width},
                              weights, biases + o, out + o * kBatch + row);
    }
}

// ---- elementwise functions

template <class Function>
void each(const Function& function, const float* from, int64_t width, int lanes, float* out) {
    for (int64_t k = 0; k < width; ++k, from += kBatch, out += kBatch)
        for (int row = 0; row < lanes; row += kLanes) at(out + row) = function(at(from + row));
}

template <class Function>
void each_pair(const Function& function, const Instruction& i, int lanes, float* columns) {
    const float *first = columns + i.first * kBatch, *second = columns + i.second * kBatch;
    const int64_t first_step = i.first_width > 1 ? kBatch : 0, second_step = i.second_width > 1 ? kBatch : 0;
    float* out = columns + i.out * kBatch;
    for (int64_t k = 0; k < i.width; ++k, first += first_step, second += second_step, out += kBatch)
        for (int row = 0; row < lanes; row += kLanes) at(out + row) = function(at(first + row), at(second + row));
}

// ---- recurrent layers

// Columns of the state of a layer before the step; `becoming` returns those after it.
inline float* before(const Network& n, float* columns, int state, int64_t layer) {
    return columns + (n.inputs + (state * n.layers + layer) * n.hidden) * kBatch;
}
inline float* becoming(const Network& n, float* columns, int state, int64_t layer) {
    return before(n, columns, n.states + state, layer);
}

inline void lstm(const Network& n, const Instruction& i, int lanes, float* columns) {
    const int64_t size = n.hidden * kBatch;
    float* const gates = columns + i.second * kBatch;
    linear({columns + i.first * kBatch, before(n, columns, 0, i.layer), i.first_width, n.hidden}, 4 * n.hidden,
           i.numbers, lanes, gates);
    const float* const cell = before(n, columns, 1, i.layer);
    float *const new_hidden = becoming(n, columns, 0, i.layer), *const new_cell = becoming(n, columns, 1, i.layer);
    // saturates the gates to the last bit, and keeps the product of three denominators finite
    constexpr float kMost = 30.0f;
    for (int64_t start = 0; start < size; start += kBatch) {
        for (int64_t k = start; k < start + lanes; k += kLanes) {
            const Floats input = sigmoid_below(at(gates + k), kMost);
            const Floats forget = sigmoid_below(at(gates + size + k), kMost);
            const Floats change = tanh_above(at(gates + 2 * size + k)), change_below = change + all(2.0f);
            // one division for three quotients
            const Floats both = input * change_below, one = all(1.0f) / (both * forget);
            const Floats c = at(cell + k) * (both * one) + change * (forget * one);
            const Floats output = sigmoid_below(at(gates + 3 * size + k), kMost);
            const Floats e = tanh_above(c);
            at(new_cell + k) = c;
            at(new_hidden + k) = e / ((e + all(2.0f)) * output);
        }
    }
}

inline void gru(const Network& n, const Instruction& i, int lanes, float* columns) {
    const int64_t size = n.hidden * kBatch;
    float* const gates = columns + i.second * kBatch;
    const float *const x = columns + i.first * kBatch, *const hidden = before(n, columns, 0, i.layer);
    const int64_t both = i.first_width + n.hidden;
    const float* numbers = i.numbers;
    linear({x, hidden, i.first_width, n.hidden}, 2 * n.hidden, numbers, lanes, gates);
    numbers += packed_size(2 * n.hidden, both);
    linear({x, x, i.first_width, 0}, n.hidden, numbers, lanes, gates + 2 * size);
    numbers += packed_size(n.hidden, i.first_width);
    linear({hidden, hidden, n.hidden, 0}, n.hidden, numbers, lanes, gates + 3 * size);
    float* const new_hidden = becoming(n, columns, 0, i.layer);
    for (int64_t start = 0; start < size; start += kBatch) {
        for (int64_t k = start; k < start + lanes; k += kLanes) {
            const Floats r = sigmoid_of(at(gates + k)), z = sigmoid_of(at(gates + size + k));
            const Floats candidate = tanh_of(at(gates + 2 * size + k) + r * at(gates + 3 * size + k));
            at(new_hidden + k) = (all(1.0f) - z) * candidate + z * at(hidden + k);
        }
    }
}

// ---- an instruction

inline void run(const Network& n, const Instruction& i, int lanes, float* columns) {
    const float* const from = columns + i.first * kBatch;
    const float* const c = i.numbers;
    float* const out = columns + i.out * kBatch;
    const auto unary = [&](const auto& function) { each(function, from, i.width, lanes, out); };
    const auto binary = [&](const auto& function) { each_pair(function, i, lanes, columns); };
    switch (i.code) {
        case Code::kConstant:
            for (int64_t k = 0; k < i.width; ++k) std::fill_n(out + k * kBatch, lanes, c[k]);
            return;
        case Code::kCopy:
            return unary([](Floats x) { return x; });
        case Code::kLinear:
            return linear({from, from, i.first_width, 0}, i.width, c, lanes, out);
        case Code::kLstm:
            return lstm(n, i, lanes, columns);
        case Code::kGru:
            return gru(n, i, lanes, columns);
        case Code::kAdd:
            return binary([](Floats x, Floats y) { return x + y; });
        case Code::kSub:
            return binary([](Floats x, Floats y) { return x - y; });
        case Code::kMul:
            return binary([](Floats x, Floats y) { return x * y; });
        case Code::kDiv:
            return binary([](Floats x, Floats y) { return x / y; });
        // NaN if either argument is NaN
        case Code::kMinimum:
            return binary([](Floats x, Floats y) {
                const Floats least = y < x ? y : x;
                return y != y ? y : least;
            });
        case Code::kMaximum:
            return binary([](Floats x, Floats y) {
                const Floats most = y > x ? y : x;
                return y != y ? y : most;
            });
        case Code::kPow:
            return binary([](Floats x, Floats y) {
                return number_by_number(x, y, [](float base, float exponent) { return pow_of(base, exponent); });
            });
        case Code::kAbs:
            return unary(absolute);
        case Code::kClamp:
            return unary([lower = c[0], upper = c[1]](Floats x) { return between(x, lower, upper); });
        case Code::kElu:
            return unary([alpha = all(c[0])](Floats x) { return elu_of(x, alpha); });
        case Code::kErf:
            return unary(erf_of);
        case Code::kExp:
            return unary(exp_of);
        case Code::kLeakyRelu:
            return unary([slope = all(c[0])](Floats x) { return x > all(0.0f) ? x : x * slope; });
        case Code::kLog:
            return unary(log_of);
        case Code::kNeg:
            return unary([](Floats x) { return -x; });
        case Code::kReciprocal:
            return unary([](Floats x) { return all(1.0f) / x; });
        case Code::kRelu:
            return unary([](Floats x) { return at_least(x, all(0.0f)); });
        case Code::kSigmoid:
            return unary(sigmoid_of);
        case Code::kSign:
            return unary([](Floats x) {
                const Floats below = x < all(0.0f) ? all(-1.0f) : x;
                return x > all(0.0f) ? all(1.0f) : below;
            });
        case Code::kSoftplus:
            return unary([beta = all(c[0])](Floats x) { return softplus_of(x * beta) / beta; });
        case Code::kSoftsign:
            return unary([](Floats x) { return x / (all(1.0f) + absolute(x)); });
        case Code::kSqrt:
            return unary([](Floats x) {
                float numbers[kLanes];
                std::memcpy(numbers, &x, sizeof x);
                for (int lane = 0; lane < kLanes; ++lane) numbers[lane] = std::sqrt(numbers[lane]);
                std::memcpy(&x, numbers, sizeof x);
                return x;
            });
        case Code::kTanh:
            return unary(tanh_of);
        case Code::kCodes:
            return;
    }
}

// ---- loads and stores of rows

#if defined(__SSE__)
// Transpose a 4 x 4 tile.
inline void turn(const float* from, int64_t from_pitch, float* to, int64_t to_pitch) {
    __m128 a = _mm_loadu_ps(from), b = _mm_loadu_ps(from + from_pitch), c = _mm_loadu_ps(from + 2 * from_pitch),
           d = _mm_loadu_ps(from + 3 * from_pitch);
    _MM_TRANSPOSE4_PS(a, b, c, d);
    _mm_storeu_ps(to, a);
    _mm_storeu_ps(to + to_pitch, b);
    _mm_storeu_ps(to + 2 * to_pitch, c);
    _mm_storeu_ps(to + 3 * to_pitch, d);
}
constexpr int64_t kTurned = 4;
#else
inline void turn(const float* from, int64_t, float* to, int64_t) {
    *to = *from;
}
constexpr int64_t kTurned = 1;
#endif

// Transpose a matrix, by tiles where possible.
inline void transpose(const float* from, int64_t from_pitch, int64_t rows, int64_t width, float* to, int64_t to_pitch) {
    const int64_t even_rows = rows / kTurned * kTurned, even_width = width / kTurned * kTurned;
    for (int64_t row = 0; row < even_rows; row += kTurned)
        for (int64_t k = 0; k < even_width; k += kTurned)
            turn(from + row * from_pitch + k, from_pitch, to + k * to_pitch + row, to_pitch);
    for (int64_t row = 0; row < rows; ++row)
        for (int64_t k = row < even_rows ? even_width : 0; k < width; ++k)
            to[k * to_pitch + row] = from[row * from_pitch + k];
}

// Load rows into columns; missing rows are zero.
inline void rows_in(const float* rows, int64_t pitch, int64_t count, int64_t width, int lanes, float* columns) {
    transpose(rows, pitch, count, width, columns, kBatch);
    for (int64_t k = 0; k < width && count < lanes; ++k)
        std::fill(columns + k * kBatch + count, columns + k * kBatch + lanes, 0.0f);
}

inline void rows_out(const float* columns, int64_t count, int64_t width, float* rows, int64_t pitch) {
    transpose(columns, kBatch, width, count, rows, pitch);
}

// Zero per row, NaN if any watched number of the row is not finite.
struct Guard {
    Floats rows[kBatch / kLanes] = {};
    void watch(const float* column, int64_t width, int lanes) {
        for (int64_t k = 0; k < width; ++k, column += kBatch)
            for (int v = 0; v < lanes / kLanes; ++v) {
                const Floats x = at(column + v * kLanes);
                rows[v] += x - x;
            }
    }
};

inline int lanes_of(int64_t count) {
    return static_cast<int>((count + kTile - 1) / kTile * kTile);
}

inline void states_in(const Network& n, const Remembered* states, int64_t first, int64_t count, float* columns) {
    for (int s = 0; s < n.states; ++s)
        for (int64_t layer = 0; layer < n.layers; ++layer)
            rows_in(states[s].now + layer * states[s].now_layer + first * states[s].now_row, states[s].now_row, count,
                    n.hidden, lanes_of(count), before(n, columns, s, layer));
}

// Run all instructions; returns the output column.
inline float* run_all(const Network& n, int lanes, float* columns, Guard& guard) {
    for (const Instruction& instruction : n.instructions) run(n, instruction, lanes, columns);
    guard.watch(becoming(n, columns, 0, 0), n.states * n.layers * n.hidden, lanes);
    float* const output = columns + n.output * kBatch;
    guard.watch(output, 1, lanes);
    return output;
}

// ---- networks in a step

// True if ascending places are consecutive.
inline bool neighbours(const int32_t* places, int64_t count) {
    return places[count - 1] - places[0] == count - 1;
}

// Columns of signals of some elements of a block, padded with zeros; signals that are not finite, including
// feedforward, set the guard.
struct Signals {
    alignas(64) float columns[kColumns][kBatch];
    void take(const float* const (&input)[kSignals], const int32_t* places, int64_t count, int lanes, Guard& guard) {
        alignas(64) float found[kSignals][kBatch];
        for (int s = 0; s < kSignals; ++s) {
            if (neighbours(places, count))
                std::copy_n(input[s] + places[0], count, found[s]);
            else
                for (int64_t row = 0; row < count; ++row) found[s][row] = input[s][places[row]];
            std::fill(found[s] + count, found[s] + lanes, 0.0f);
            guard.watch(found[s], 1, lanes);
        }
        for (int row = 0; row < lanes; row += kLanes) {
            const Floats q = at(found[kPosition] + row), qd = at(found[kVelocity] + row);
            const Floats q_target = at(found[kPositionTarget] + row), qd_target = at(found[kVelocityTarget] + row);
            at(columns[kOfPosition] + row) = q;
            at(columns[kOfTarget] + row) = q_target;
            at(columns[kOfError] + row) = q_target - q;
            at(columns[kOfVelocity] + row) = qd;
            at(columns[kOfTargetVelocity] + row) = qd_target;
            at(columns[kOfVelocityError] + row) = qd_target - qd;
        }
    }
};

// True if an entry of a history that the first step fills is unset. Resets write positive zeros; measured zeros are
// stored as negative zeros.
inline bool is_unset(float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return !bits;
}

// Efforts of some elements from their signals; `first` is the position of the first element in the states. The guard
// marks good rows.
inline void compute(const NetworkUse& use, float* const (&state)[kNetworkStates], const Signals& signals, int64_t first,
                    int64_t count, float* columns, Guard& guard, float* efforts) {
    const Network& n = *use.network;
    const int lanes = lanes_of(count);
    float* column = columns;
    for (const Feature& feature : use.features) {
        alignas(64) float earlier[kBatch] = {};
        const float* from = signals.columns[feature.column];
        if (feature.back) {
            const float* const rows = state[feature.history] + (feature.back - 1) * use.rows + first;
            for (int64_t row = 0; row < count; ++row)
                earlier[row] = use.first_fills && is_unset(rows[row]) ? from[row] : rows[row];
            from = earlier;
        }
        for (int row = 0; row < lanes; row += kLanes)
            at(column + row) = (at(from + row) - all(feature.offset)) * all(feature.scale);
        column += kBatch;
    }
    Remembered states[kNetworkStates];
    for (int s = 0; s < n.states; ++s) states[s] = {state[s], nullptr, use.rows * n.hidden, n.hidden, 0, 0};
    states_in(n, states, first, count, columns);
    guard.watch(columns, n.inputs, lanes);
    const float* const output = run_all(n, lanes, columns, guard);
    for (int row = 0; row < lanes; row += kLanes)
        at(efforts + row) = at(output + row) * all(use.scale) + all(use.offset);
    guard.watch(efforts, 1, lanes);
    for (int v = 0; v < lanes / kLanes; ++v) at(efforts + v * kLanes) += guard.rows[v];
}

}  // namespace ACTUATORS_VARIANT
