// Backward pass of networks, block by block and instruction by instruction, compiled once per instruction set.
//
// Columns keep their forward results, since they share no memory. Rows are independent: rows that are not good are
// corrected at the end. Slopes at kinks are those of Torch: 0 for |x| and ReLU at 0, one half for each of two equal
// numbers.
#include "network_block.h"

#include <array>
#include <vector>

#include "law_in_block.h"

namespace ACTUATORS_VARIANT {

namespace {

// ---- linear maps

// Gradients of the sources of a linear map, see `linear`.
void linear_back(float* by_first, int64_t first_width, float* by_second, int64_t second_width, int64_t outputs,
                 const float* numbers, int lanes, const float* by_out) {
    const int64_t inputs = first_width + second_width;
    for (int64_t o = 0; o < outputs; o += kPanel) {
        const int64_t count = std::min<int64_t>(kPanel, outputs - o);
        for (int row = 0; row < lanes; row += kLanes) {
            Floats by[kPanel] = {};
            for (int64_t j = 0; j < count; ++j) by[j] = at(by_out + (o + j) * kBatch + row);
            const float* weights = numbers + o * inputs;
            for (int64_t k = 0; k < inputs; ++k, weights += kPanel) {
                float* const to = k < first_width ? by_first + k * kBatch : by_second + (k - first_width) * kBatch;
                Floats sum = at(to + row);
                UNROLL
                for (int j = 0; j < kPanel; ++j) sum = multiply_add(all(weights[j]), by[j], sum);
                at(to + row) = sum;
            }
        }
    }
}

// Gradients of its parameters.
void numbers_back(const Sources& from, int64_t outputs, int lanes, const float* by_out, float* by_numbers) {
    const int64_t inputs = from.first_width + from.second_width;
    float* to = by_numbers;
    for (int64_t o = 0; o < outputs; o += kPanel)
        for (int64_t k = 0; k < inputs; ++k, to += kPanel * kRepeated) {
            const float* const x =
                k < from.first_width ? from.first + k * kBatch : from.second + (k - from.first_width) * kBatch;
            for (int64_t j = 0; j < std::min<int64_t>(kPanel, outputs - o); ++j) {
                Floats sum = at(to + j * kRepeated);
                for (int row = 0; row < lanes; row += kLanes)
                    sum = multiply_add(at(by_out + (o + j) * kBatch + row), at(x + row), sum);
                at(to + j * kRepeated) = sum;
            }
        }
    for (int64_t o = 0; o < outputs; ++o, to += kRepeated)
        for (int row = 0; row < lanes; row += kLanes) at(to) += at(by_out + o * kBatch + row);
}

// ---- elementwise functions

// `slope` takes the source and the result
template <class Slope>
void each_back(const Slope& slope, const Instruction& i, int lanes, const float* columns, float* by) {
    for (int64_t k = 0; k < i.width * kBatch; k += kBatch)
        for (int row = 0; row < lanes; row += kLanes) {
            const int64_t from = i.first * kBatch + k + row, out = i.out * kBatch + k + row;
            at(by + from) += at(by + out) * slope(at(columns + from), at(columns + out));
        }
}

// `slopes` takes both sources and the result
template <class Slopes>
void each_pair_back(const Slopes& slopes, const Instruction& i, int lanes, const float* columns, float* by) {
    const int64_t first_step = i.first_width > 1 ? kBatch : 0, second_step = i.second_width > 1 ? kBatch : 0;
    for (int64_t k = 0; k < i.width; ++k)
        for (int row = 0; row < lanes; row += kLanes) {
            const int64_t first = i.first * kBatch + k * first_step + row;
            const int64_t second = i.second * kBatch + k * second_step + row, out = (i.out + k) * kBatch + row;
            const auto found = slopes(at(columns + first), at(columns + second), at(columns + out));
            const Floats by_out = at(by + out);
            at(by + first) += by_out * found.at[0];
            at(by + second) += by_out * found.at[1];
        }
}

struct Pair {
    Floats at[2];
};

// Gradient of the selected source, half for each if they are equal.
template <class C>
inline Pair chosen_one(C first, C both) {
    const Floats one = first ? all(1.0f) : all(0.0f);
    return {{both ? all(0.5f) : one, both ? all(0.5f) : all(1.0f) - one}};
}

// ---- recurrent layers, whose gate columns hold pre-activations

inline Floats sigmoid_slope(Floats y) {
    return y * (all(1.0f) - y);
}
inline Floats tanh_slope(Floats y) {
    return all(1.0f) - y * y;
}

void lstm_back(const Network& n, const Instruction& i, int lanes, float* columns, float* by, float* by_numbers) {
    const int64_t size = n.hidden * kBatch;
    const float* const gates = columns + i.second * kBatch;
    float* const by_gates = by + i.second * kBatch;
    const float* const cell = before(n, columns, 1, i.layer);
    const float* const new_cell = becoming(n, columns, 1, i.layer);
    float* const by_cell = before(n, by, 1, i.layer);
    const float* const by_new_hidden = becoming(n, by, 0, i.layer);
    const float* const by_new_cell = becoming(n, by, 1, i.layer);
    for (int64_t start = 0; start < size; start += kBatch)
        for (int64_t k = start; k < start + lanes; k += kLanes) {
            const Floats input = sigmoid_of(at(gates + k)), forget = sigmoid_of(at(gates + size + k));
            const Floats change = tanh_of(at(gates + 2 * size + k)), output = sigmoid_of(at(gates + 3 * size + k));
            const Floats shown = tanh_of(at(new_cell + k)), by_hidden = at(by_new_hidden + k);
            const Floats by_c = at(by_new_cell + k) + by_hidden * output * tanh_slope(shown);
            at(by_gates + k) = by_c * change * sigmoid_slope(input);
            at(by_gates + size + k) = by_c * at(cell + k) * sigmoid_slope(forget);
            at(by_gates + 2 * size + k) = by_c * input * tanh_slope(change);
            at(by_gates + 3 * size + k) = by_hidden * shown * sigmoid_slope(output);
            at(by_cell + k) += by_c * forget;
        }
    linear_back(by + i.first * kBatch, i.first_width, before(n, by, 0, i.layer), n.hidden, 4 * n.hidden, i.numbers,
                lanes, by_gates);
    if (by_numbers)
        numbers_back({columns + i.first * kBatch, before(n, columns, 0, i.layer), i.first_width, n.hidden},
                     4 * n.hidden, lanes, by_gates, by_numbers);
}

void gru_back(const Network& n, const Instruction& i, int lanes, float* columns, float* by, float* by_numbers) {
    const int64_t size = n.hidden * kBatch;
    const float* const gates = columns + i.second * kBatch;
    float* const by_gates = by + i.second * kBatch;
    const float* const hidden = before(n, columns, 0, i.layer);
    float *const by_x = by + i.first * kBatch, *const by_hidden = before(n, by, 0, i.layer);
    const float* const by_new = becoming(n, by, 0, i.layer);
    for (int64_t start = 0; start < size; start += kBatch)
        for (int64_t k = start; k < start + lanes; k += kLanes) {
            const Floats r = sigmoid_of(at(gates + k)), z = sigmoid_of(at(gates + size + k));
            const Floats of_hidden = at(gates + 3 * size + k), by_h = at(by_new + k);
            const Floats candidate = tanh_of(at(gates + 2 * size + k) + r * of_hidden);
            const Floats by_sum = by_h * (all(1.0f) - z) * tanh_slope(candidate);
            at(by_gates + k) = by_sum * of_hidden * sigmoid_slope(r);
            at(by_gates + size + k) = by_h * (at(hidden + k) - candidate) * sigmoid_slope(z);
            at(by_gates + 2 * size + k) = by_sum;
            at(by_gates + 3 * size + k) = by_sum * r;
            at(by_hidden + k) += by_h * z;
        }
    const float* numbers = i.numbers;
    const int64_t of_both = packed_size(2 * n.hidden, i.first_width + n.hidden);
    const int64_t of_x = packed_size(n.hidden, i.first_width);
    linear_back(by_x, i.first_width, by_hidden, n.hidden, 2 * n.hidden, numbers, lanes, by_gates);
    linear_back(by_x, i.first_width, nullptr, 0, n.hidden, numbers + of_both, lanes, by_gates + 2 * size);
    linear_back(by_hidden, n.hidden, nullptr, 0, n.hidden, numbers + of_both + of_x, lanes, by_gates + 3 * size);
    if (!by_numbers) return;
    const float* const x = columns + i.first * kBatch;
    numbers_back({x, hidden, i.first_width, n.hidden}, 2 * n.hidden, lanes, by_gates, by_numbers);
    by_numbers += of_both * kRepeated;
    numbers_back({x, x, i.first_width, 0}, n.hidden, lanes, by_gates + 2 * size, by_numbers);
    by_numbers += of_x * kRepeated;
    numbers_back({hidden, hidden, n.hidden, 0}, n.hidden, lanes, by_gates + 3 * size, by_numbers);
}

// ---- an instruction

void run_back(const Network& n, const Instruction& i, int lanes, float* columns, float* by, float* by_numbers) {
    const float* const c = i.numbers;
    if (by_numbers) by_numbers += (c - n.numbers.data()) * kRepeated;
    const auto unary = [&](const auto& slope) { each_back(slope, i, lanes, columns, by); };
    const auto binary = [&](const auto& slopes) { each_pair_back(slopes, i, lanes, columns, by); };
    const Floats zero = all(0.0f), one = all(1.0f);
    switch (i.code) {
        case Code::kConstant:
        case Code::kCodes:
            return;
        case Code::kCopy:
            return unary([&](Floats, Floats) { return one; });
        case Code::kLinear: {
            const float *const x = columns + i.first * kBatch, *const by_out = by + i.out * kBatch;
            if (by_numbers) numbers_back({x, x, i.first_width, 0}, i.width, lanes, by_out, by_numbers);
            return linear_back(by + i.first * kBatch, i.first_width, nullptr, 0, i.width, c, lanes, by_out);
        }
        case Code::kLstm:
            return lstm_back(n, i, lanes, columns, by, by_numbers);
        case Code::kGru:
            return gru_back(n, i, lanes, columns, by, by_numbers);
        case Code::kAdd:
            return binary([&](Floats, Floats, Floats) { return Pair{{one, one}}; });
        case Code::kSub:
            return binary([&](Floats, Floats, Floats) { return Pair{{one, -one}}; });
        case Code::kMul:
            return binary([](Floats x, Floats y, Floats) { return Pair{{y, x}}; });
        case Code::kDiv:
            return binary([&](Floats, Floats y, Floats quotient) { return Pair{{one / y, -quotient / y}}; });
        case Code::kMinimum:
            return binary([](Floats x, Floats y, Floats) { return chosen_one(x < y, x == y); });
        case Code::kMaximum:
            return binary([](Floats x, Floats y, Floats) { return chosen_one(x > y, x == y); });
        case Code::kPow:
            return binary([](Floats x, Floats y, Floats power) {
                const Floats by_base = number_by_number(
                    x, y, [](float base, float exponent) { return exponent * pow_of(base, exponent - 1.0f); });
                const Floats by_exponent = number_by_number(
                    x, power, [](float base, float found) { return found == 0.0f ? 0.0f : found * std::log(base); });
                return Pair{{y == all(0.0f) ? all(0.0f) : by_base, by_exponent}};
            });
        case Code::kAbs:
            return unary([&](Floats x, Floats) { return x > zero ? one : x < zero ? -one : zero; });
        case Code::kClamp:
            return unary([&, lower = all(c[0]), upper = all(c[1])](Floats x, Floats) {
                const Floats within = x > upper ? zero : one;
                return x < lower ? zero : within;
            });
        case Code::kElu:
            return unary([&, alpha = all(c[0])](Floats x, Floats y) { return x > zero ? one : y + alpha; });
        case Code::kErf:
            return unary([](Floats x, Floats) { return all(1.1283791670955126f) * exp_of(-x * x); });
        case Code::kExp:
            return unary([](Floats, Floats y) { return y; });
        case Code::kLeakyRelu:
            return unary([&, slope = all(c[0])](Floats x, Floats) { return x > zero ? one : slope; });
        case Code::kLog:
            return unary([&](Floats x, Floats) { return one / x; });
        case Code::kNeg:
            return unary([&](Floats, Floats) { return -one; });
        case Code::kReciprocal:
            return unary([](Floats, Floats y) { return -y * y; });
        case Code::kRelu:
            return unary([&](Floats x, Floats) { return x > zero ? one : zero; });
        case Code::kSigmoid:
            return unary([](Floats, Floats y) { return sigmoid_slope(y); });
        case Code::kSign:
            return unary([&](Floats, Floats) { return zero; });
        case Code::kSoftplus:
            return unary([beta = all(c[0])](Floats x, Floats) { return sigmoid_of(x * beta); });
        case Code::kSoftsign:
            return unary([&](Floats x, Floats) {
                const Floats below = one + absolute(x);
                return one / (below * below);
            });
        case Code::kSqrt:
            return unary([](Floats, Floats y) { return all(0.5f) / y; });
        case Code::kTanh:
            return unary([](Floats, Floats y) { return tanh_slope(y); });
    }
}

// ---- states

// Move gradients of recurrent states after the step into their columns.
void after_in(const NetworkInBlock& b, int lanes) {
    const Network& n = *b.use->network;
    for (int s = 0; s < n.states; ++s)
        for (int64_t layer = 0; layer < n.layers && b.by_after[s]; ++layer) {
            float* const rows = b.by_after[s] + (layer * b.use->rows + b.first) * n.hidden;
            rows_in(rows, n.hidden, b.count, n.hidden, lanes, becoming(n, b.by_columns, s, layer));
            std::fill_n(rows, b.count * n.hidden, 0.0f);
        }
}

// Accumulate gradients of recurrent states before the step from their columns.
void before_out(const NetworkInBlock& b) {
    const Network& n = *b.use->network;
    for (int s = 0; s < n.states; ++s)
        for (int64_t layer = 0; layer < n.layers && b.by_before[s]; ++layer) {
            float* const rows = b.by_before[s] + (layer * b.use->rows + b.first) * n.hidden;
            // reuses columns as scratch memory
            float* const found = becoming(n, b.by_columns, s, layer);
            rows_out(before(n, b.by_columns, s, layer), b.count, n.hidden, found, n.hidden);
            for (int64_t k = 0; k < b.count * n.hidden; ++k) rows[k] += found[k];
        }
}

// Backward pass of histories, see `roll`: gradients shift back by one step, those of the newest values to their
// columns.
void roll_back(const NetworkInBlock& b, float (*by_column)[kBatch]) {
    const NetworkUse& use = *b.use;
    for (size_t h = 0; h < use.history.size(); ++h) {
        if (!b.by_after[h]) continue;
        for (int64_t step = 0; step < use.steps; ++step) {
            float* const after = b.by_after[h] + step * use.rows + b.first;
            float* const before = b.by_before[h] ? b.by_before[h] + step * use.rows + b.first : nullptr;
            const float* const state_arrays = step ? b.state[h] + (step - 1) * use.rows + b.first : nullptr;
            for (int64_t row = 0; row < b.count; ++row) {
                const float taken = after[row];
                after[row] = 0.0f;
                const bool good = b.guard[row] == 0.0f;
                if (good && (!step || (use.first_fills && is_unset(state_arrays[row]))))
                    by_column[use.history[h]][row] += taken;
                else if (before)
                    before[row - (good ? use.rows : 0)] += taken;
            }
        }
    }
}

}  // namespace

void network_forward(const NetworkInBlock& b) {
    static constexpr std::array<int32_t, kBatch> kInOrder = [] {
        std::array<int32_t, kBatch> places{};
        for (int k = 0; k < kBatch; ++k) places[k] = k;
        return places;
    }();
    Signals signals;
    Guard guard;
    signals.take(b.signals, kInOrder.data(), b.count, lanes_of(b.count), guard);
    compute(*b.use, b.state, signals, b.first, b.count, b.columns, guard, b.effort);
    std::memcpy(b.guard, guard.rows, sizeof guard.rows);
}

void network_backward(const NetworkInBlock& b) {
    const NetworkUse& use = *b.use;
    const Network& n = *use.network;
    const int lanes = lanes_of(b.count);
    const int64_t state_arrays = n.states * n.layers * n.hidden * kBatch;
    float* const by = b.by_columns;
    std::fill_n(by, n.columns * kBatch, 0.0f);
    after_in(b, lanes);
    // a row that is not good, or padding, has no gradient and keeps its states
    const auto good = [&](int64_t row) { return row < b.count && b.guard[row] == 0.0f; };
    bool all_good = true;
    for (int row = 0; row < (b.by_numbers ? lanes : b.count); ++row) all_good = all_good && good(row);
    float* const becomes = by + n.inputs * kBatch + state_arrays;
    const std::vector<float> held(becomes, becomes + (all_good ? 0 : state_arrays));
    for (int row = 0; row < lanes && !all_good; ++row) {
        if (good(row)) continue;
        for (int64_t k = row; k < state_arrays; k += kBatch) becomes[k] = 0.0f;
        // 1 keeps all slopes finite, so that parameter gradients stay finite
        for (int64_t k = row; k < n.columns * kBatch; k += kBatch) b.columns[k] = 1.0f;
    }
    for (int row = 0; row < b.count; ++row)
        if (good(row)) by[n.output * kBatch + row] += b.by_effort[row] * use.scale;
    for (size_t k = n.instructions.size(); k-- > 0;) run_back(n, n.instructions[k], lanes, b.columns, by, b.by_numbers);
    for (int row = 0; row < b.count && !all_good; ++row) {
        if (good(row)) continue;
        for (int64_t k = 0; k < n.inputs; ++k) by[k * kBatch + row] = 0.0f;
        for (int64_t k = row; k < state_arrays; k += kBatch) by[n.inputs * kBatch + k] = held[k];
    }
    before_out(b);
    float by_column[kColumns][kBatch] = {};
    roll_back(b, by_column);
    for (size_t f = 0; f < use.features.size(); ++f) {
        const Feature& feature = use.features[f];
        const int64_t at = (feature.back - 1) * use.rows + b.first;
        const float* const state_arrays = feature.back ? b.state[feature.history] + at : nullptr;
        float* const history = feature.back ? b.by_before[feature.history] : nullptr;
        for (int64_t row = 0; row < b.count; ++row) {
            const float value = by[f * kBatch + row] * feature.scale;
            if (!feature.back || (use.first_fills && is_unset(state_arrays[row])))
                by_column[feature.column][row] += value;
            else if (history)
                history[at + row] += value;
        }
    }
    for (int64_t row = 0; row < b.count; ++row) {
        b.by_signals[kPosition][row] += by_column[kOfPosition][row] - by_column[kOfError][row];
        b.by_signals[kPositionTarget][row] += by_column[kOfTarget][row] + by_column[kOfError][row];
        b.by_signals[kVelocity][row] += by_column[kOfVelocity][row] - by_column[kOfVelocityError][row];
        b.by_signals[kVelocityTarget][row] += by_column[kOfTargetVelocity][row] + by_column[kOfVelocityError][row];
    }
}

}  // namespace ACTUATORS_VARIANT
