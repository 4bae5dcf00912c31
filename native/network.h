// Data of a network evaluation. A block is 32 actuators; a column holds one number per actuator contiguously, so that
// weights are broadcast and nothing is gathered.
#pragma once
#include <cstdint>
#include <vector>

#include "memory.h"

namespace actuators {

constexpr int kBatch = 32;
// outputs per panel, whose weights are contiguous
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

// An instruction: its output and input columns, and its parameters; linear maps use panels, see `packed_size`.
struct Instruction {
    Code code;
    int64_t out, width, first, first_width, second, second_width, layer;
    const float* numbers;
};

// A network after layout; the columns start with the input, the states and the new states.
struct Network {
    int64_t inputs, columns, output, layers, hidden;
    int states;
    std::vector<Instruction> instructions;
    Aligned<float> numbers;
};

// Recurrent state: contiguous within a row; rows and layers have any stride.
struct Remembered {
    const float* now = nullptr;
    float* after = nullptr;
    int64_t now_layer = 0, now_row = 0, after_layer = 0, after_row = 0;
};

// Arrays of one evaluation; strides in floats.
struct NetworkRows {
    const float* x;
    int64_t x_row;
    float* y;
    int64_t y_row;
    Remembered state[kNetworkStates];
    int64_t count;
};

// Size of a packed linear map of `inputs`: panels of `kPanel` outputs, input by input, then biases.
inline int64_t packed_size(int64_t outputs, int64_t inputs) {
    return (outputs + kPanel - 1) / kPanel * kPanel * (inputs + 1);
}

}  // namespace actuators
