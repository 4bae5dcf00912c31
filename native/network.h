// What evaluating a network works on. A block is 32 actuators; a column holds a number of each of them, side by side,
// so that weights are broadcast and nothing is gathered.
#pragma once
#include <cstdint>
#include <vector>

#include "memory.h"

namespace actuators {

constexpr int kBatch = 32;
// outputs of a linear map whose weights lie together
constexpr int kPanel = 8;
constexpr int kNetworkStates = 2;

enum class Code : int {
    kConstant,
    kCopy,
    kLinear,
    kLstm,
    kGru,
    kAdd,
    kSub,
    kMul,
    kDiv,
    kMinimum,
    kMaximum,
    kPow,
    kAbs,
    kClamp,
    kElu,
    kErf,
    kExp,
    kLeakyRelu,
    kLog,
    kNeg,
    kReciprocal,
    kRelu,
    kSigmoid,
    kSign,
    kSoftplus,
    kSoftsign,
    kSqrt,
    kTanh,
    kCodes
};

// Columns that an instruction writes and reads, and its numbers: those of linear maps are panels, see `pack`.
struct Instruction {
    Code code;
    int64_t out, width, first, first_width, second, second_width, layer;
    const float* numbers;
};

// A network laid out; columns begin with the input, the states and what the states become.
struct Network {
    int64_t inputs, columns, output, layers, hidden;
    int states;
    std::vector<Instruction> instructions;
    Aligned<float> numbers;
};

// Recurrent state: numbers of a row lie side by side, rows and layers any distance apart.
struct Remembered {
    const float* now = nullptr;
    float* after = nullptr;
    int64_t now_layer = 0, now_row = 0, after_layer = 0, after_row = 0;
};

// Arrays of one evaluation; pitches in numbers.
struct NetworkRows {
    const float* x;
    int64_t x_row;
    float* y;
    int64_t y_row;
    Remembered state[kNetworkStates];
    int64_t count;
};

// Numbers of a linear map of `inputs` as it is read: panels of `kPanel` outputs, each input after input, then biases.
inline int64_t packed_size(int64_t outputs, int64_t inputs) {
    return (outputs + kPanel - 1) / kPanel * kPanel * (inputs + 1);
}

}  // namespace actuators
