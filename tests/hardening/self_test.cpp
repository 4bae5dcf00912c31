// Every generated law, every function of networks, and gradients of laws and of
// two small networks, on many numbers, special ones among them: a line per
// function with a sum over the bits of its results. The same on every processor
// and from every compiler, see platforms.py.
#include <cstdio>
#include <random>
#include <utility>

#include "functions.h"
#include "generated_laws.h"
#include "law_in_block.h"

namespace ACTUATORS_VARIANT {

// in gradients.cpp
void law_forward(actuators::LawFunction function, int law,
                 const actuators::LawInBlock &block, int64_t size);
void law_backward(actuators::LawFunction function, int law,
                  const actuators::LawInBlock &block, int64_t size);
// in network_gradients.cpp
void network_forward(const actuators::NetworkInBlock &block);
void network_backward(const actuators::NetworkInBlock &block);

} // namespace ACTUATORS_VARIANT

using namespace actuators;
using namespace ACTUATORS_VARIANT;

namespace {

constexpr int kRounds = 200000;
int failures = 0;

std::mt19937 source(20261122);

float number_of_any_kind() {
  static const float special[] = {0.0f,      -0.0f,      1.0f,   -1.0f,
                                  kMax,      -kMax,      1e-45f, 1e-38f,
                                  kInfinity, -kInfinity, kNaN,   88.7f};
  const uint32_t bits = source();
  if (bits % 16 == 0)
    return special[bits / 16 % 12];
  if (bits % 16 < 4) {
    // any bits at all
    const uint32_t other = source();
    float x;
    std::memcpy(&x, &other, sizeof x);
    return x;
  }
  return (static_cast<float>(bits) * 0x1p-32f - 0.5f) * 40.0f;
}

struct Sum {
  uint64_t value = 14695981039346656037u;
  void add(float x) {
    uint32_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    // processors differ in the sign and the payload of what is not a number
    if (x != x)
      bits = 0x7fc00000u;
    value = (value ^ bits) * 1099511628211u;
  }
  void add(const float *numbers, int64_t count) {
    for (int64_t k = 0; k < count; ++k)
      add(numbers[k]);
  }
  void print(const char *kind, const char *name) const {
    std::printf("%-9s %-22s %016llx\n", kind, name,
                static_cast<unsigned long long>(value));
  }
};

template <class Law, size_t... K, size_t... P>
void try_law(std::index_sequence<K...>, std::index_sequence<P...>) {
  Sum law, prepared;
  for (int round = 0; round < kRounds; ++round) {
    float in[Law::kArguments + 1];
    for (float &x : in)
      x = number_of_any_kind();
    const auto results = Law::law(in[K]...);
    for (int k = 0; k < 1 + Law::kStates; ++k)
      law.add(results.at[k]);
    const auto values = Law::prepare(in[P]..., 0.01f);
    for (int k = 0; k < Law::kPrepared; ++k)
      prepared.add(values.at[k]);
  }
  law.print("law", Law::kName);
  prepared.print("prepare", Law::kName);
}

template <class... Law> void try_laws(List<Law...>) {
  (try_law<Law>(std::make_index_sequence<Law::kArguments>(),
                std::make_index_sequence<Law::kParameters>()),
   ...);
}

float lane(Floats x, int which) {
  float numbers[kLanes];
  std::memcpy(numbers, &x, sizeof x);
  return numbers[which];
}

// lanes of a vector give what numbers one by one give
void try_lanes() {
  for (int round = 0; round < kRounds; ++round) {
    Floats x[9];
    float numbers[9][kLanes];
    for (int k = 0; k < 9; ++k) {
      for (float &number : numbers[k])
        number = number_of_any_kind();
      std::memcpy(&x[k], numbers[k], sizeof x[k]);
    }
    const Floats effort =
        pd_effort(x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8]);
    const Floats limited = dc_motor_clamp(x[0], x[1], x[2], x[3], x[4], x[5]);
    for (int i = 0; i < kLanes; ++i) {
      const auto n = [&](int k) { return numbers[k][i]; };
      Sum lanes, alone;
      lanes.add(lane(effort, i)), lanes.add(lane(limited, i));
      alone.add(
          pd_effort(n(0), n(1), n(2), n(3), n(4), n(5), n(6), n(7), n(8)));
      alone.add(dc_motor_clamp(n(0), n(1), n(2), n(3), n(4), n(5)));
      failures += lanes.value != alone.value;
    }
  }
  std::printf("lanes that differ from numbers one by one: %d\n", failures);
}

void try_function(const char *name, Floats (*function)(Floats)) {
  Sum sum;
  for (int round = 0; round < kRounds; round += 16) {
    float numbers[16];
    for (float &x : numbers)
      x = number_of_any_kind();
    for (int first = 0; first < 16; first += kLanes) {
      Floats x;
      std::memcpy(&x, numbers + first, sizeof x);
      x = function(x);
      for (int i = 0; i < kLanes; ++i)
        sum.add(lane(x, i));
    }
  }
  sum.print("function", name);
}

// ---- gradients

// What a law gives forward and back, of its signals or its effort, what it asks
// for, its parameters and its states.
template <class Law> void try_gradient(LawFunction function, int number) {
  constexpr int64_t kSize = kGradientBlock, kCurve = 5;
  // the effort that comes, the effort that goes, signals, those of a motor,
  // parameters, states; then a gradient of each
  constexpr int kGiven = Law::kAsked + Law::kParameters;
  constexpr int kFound = Law::kConverts ? kSignals : 0;
  constexpr int kNumbers = 2 + kSignals + kFound + kGiven + Law::kStates;
  Aligned<float> memory(2 * kNumbers * kSize);
  Sum sum;
  for (int round = 0; round < 40; ++round) {
    for (int64_t k = 0; k < 2 * kNumbers * kSize; ++k)
      memory[k] = number_of_any_kind();
    float curve[3 * kCurve];
    for (int row = 0; row < kCurve; ++row) {
      curve[3 * row] = static_cast<float>(4 * row - 8);
      curve[3 * row + 1] = std::fabs(number_of_any_kind());
      curve[3 * row + 2] = static_cast<float>(row) - 2.0f;
    }
    float *at = memory.data();
    const auto next = [&] { return std::exchange(at, at + kSize); };
    LawInBlock block;
    for (int k = 0; k < Law::kCurves; ++k)
      block.curves[k] = curve, block.curve_rows[k] = kCurve;
    block.dt = 0.01f;
    block.given = next(), block.by_effort = next(), block.effort = next();
    block.last = block.effort;
    for (int k = 0; k < kSignals; ++k)
      block.signals[k] = next(), block.by_signals[k] = next();
    for (int k = 0; k < kFound; ++k)
      block.found[k] = next(), block.by_found[k] = next();
    for (int k = 0; k < kGiven; ++k)
      block.parameters[k] = next(), block.by_parameters[k] = next();
    for (int k = 0; k < Law::kStates; ++k)
      block.states[k] = next(), block.by_states[k] = next();
    law_forward(function, number, block, kSize);
    law_backward(function, number, block, kSize);
    sum.add(memory.data(), 2 * kNumbers * kSize);
  }
  sum.print("gradient", Law::kName);
}

template <class... Law>
void try_gradients(LawFunction function, List<Law...>) {
  int number = 0;
  const auto one = [&](auto law) {
    using Tried = typename decltype(law)::type;
    // others have no gradients
    if constexpr (Tried::kResults > 0)
      try_gradient<Tried>(function, number);
    if constexpr (Tried::kConverts) {
      try_gradient<Tried>(LawFunction::kCommandedMotor, number);
      try_gradient<Tried>(LawFunction::kTrueMotor, number);
    }
    ++number;
  };
  (one(std::common_type<Law>{}), ...);
}

// A network whose numbers are any, of moderate size.
Network network_of(int64_t inputs, int64_t columns, int64_t output,
                   int64_t hidden, int states,
                   std::vector<Instruction> instructions,
                   const std::vector<int64_t> &sizes) {
  Network network{
      inputs, columns, output, 1, hidden, states, std::move(instructions), {}};
  int64_t size = 0;
  for (const int64_t one : sizes)
    size += (one + 15) / 16 * 16;
  network.numbers = Aligned<float>(size);
  for (int64_t k = 0; k < size; ++k)
    network.numbers[k] = static_cast<float>(source()) * 0x1p-31f - 1.0f;
  const float *at = network.numbers.data();
  for (size_t k = 0; k < sizes.size(); ++k) {
    network.instructions[k].numbers = at;
    at += (sizes[k] + 15) / 16 * 16;
  }
  return network;
}

// What a network gives forward and back, by signals, states and numbers.
// Gradients by numbers are sums over actuators, whose order depends on how many
// go at once: bits are those of one actuator, and many are compared with the
// sum of each alone.
void try_network(const char *name, const Network &network) {
  NetworkUse use;
  use.network = &network;
  use.scale = 20.0f, use.rows = kBatch;
  use.features = {{kOfError, 0, 0, 0.1f, 2.0f},
                  {kOfVelocity, 0, 0, 0.0f, 0.5f}};
  const int64_t remembered = network.hidden * kBatch,
                columns = network.columns * kBatch;
  const int64_t numbers =
      static_cast<int64_t>(network.numbers.size()) * kRepeated;
  Aligned<float> memory(2 * columns + 3 * kBatch + 2 * kSignals * kBatch +
                        3 * kNetworkStates * remembered);
  Aligned<float> by_numbers(numbers);
  std::vector<double> alone(network.numbers.size()),
      size(network.numbers.size());
  Sum sum;
  int far = 0, compared = 0;
  for (int round = 0; round < 20; ++round) {
    const int64_t count = 1 + source() % kBatch;
    Aligned<float> given(memory.size());
    for (size_t k = 0; k < given.size(); ++k)
      given[k] = number_of_any_kind();
    std::fill(alone.begin(), alone.end(), 0.0),
        std::fill(size.begin(), size.end(), 0.0);
    // each alone, then all
    for (int64_t one = 0; one <= count; ++one) {
      std::copy_n(given.data(), given.size(), memory.data());
      std::fill_n(by_numbers.data(), numbers, 0.0f);
      float *at = memory.data();
      const auto next = [&](int64_t length) {
        return std::exchange(at, at + length);
      };
      const bool all_of_them = one == count;
      NetworkInBlock block;
      block.use = &use;
      block.first = all_of_them ? 0 : one,
      block.count = all_of_them ? count : 1;
      const auto here = [&] { return next(kBatch) + block.first; };
      block.columns = next(columns), block.by_columns = next(columns),
      block.guard = next(kBatch);
      float *const effort = next(kBatch);
      block.effort = effort, block.by_effort = here(),
      block.by_numbers = by_numbers.data();
      for (int k = 0; k < kSignals; ++k)
        block.signals[k] = here(), block.by_signals[k] = here();
      for (int s = 0; s < network.states; ++s)
        block.state[s] = next(remembered), block.by_after[s] = next(remembered),
        block.by_before[s] = next(remembered);
      const float *const end = at;
      network_forward(block);
      network_backward(block);
      // the rest is what was given
      sum.add(effort, block.count);
      sum.add(effort + kBatch, end - effort - kBatch);
      for (int64_t k = 0; k < numbers; k += kRepeated) {
        double total = 0;
        for (int part = 0; part < kRepeated; ++part)
          total += by_numbers[k + part];
        if (!all_of_them) {
          sum.add(static_cast<float>(total));
          alone[k / kRepeated] += total,
              size[k / kRepeated] += std::fabs(total);
        } else {
          // where none of them is near what a float holds
          const double moderate = size[k / kRepeated];
          compared += moderate < 1e37;
          far += moderate < 1e37 && !(std::fabs(total - alone[k / kRepeated]) <=
                                      4e-6 * moderate + 1e-37);
        }
      }
    }
  }
  sum.print("gradient", name);
  failures += far + (compared == 0);
  std::printf("gradients by %d numbers of many that are not the sum of each "
              "alone: %d\n",
              compared, far);
}

void try_networks() {
  const auto columns_of = [](Code code, int64_t out, int64_t width,
                             int64_t first, int64_t first_width,
                             int64_t second = 0, int64_t second_width = 0) {
    return Instruction{code,   out,          width, first,  first_width,
                       second, second_width, 0,     nullptr};
  };
  try_network("mlp", network_of(2, 32, 31, 1, 0,
                                {columns_of(Code::kLinear, 2, 9, 0, 2),
                                 columns_of(Code::kElu, 11, 9, 2, 9),
                                 columns_of(Code::kLinear, 20, 5, 11, 9),
                                 columns_of(Code::kTanh, 25, 5, 20, 5),
                                 columns_of(Code::kLinear, 31, 1, 25, 5)},
                                {packed_size(9, 2), 1, packed_size(5, 9), 0,
                                 packed_size(1, 5)}));
  // input, states, what they become, gates, output
  constexpr int64_t kHidden = 3, kGates = 2 + 4 * kHidden,
                    kOutput = kGates + 4 * kHidden;
  try_network(
      "lstm",
      network_of(
          2, kOutput + 1, kOutput, kHidden, 2,
          {columns_of(Code::kLstm, 2 + 2 * kHidden, kHidden, 0, 2, kGates,
                      4 * kHidden),
           columns_of(Code::kLinear, kOutput, 1, 2 + 2 * kHidden, kHidden)},
          {packed_size(4 * kHidden, 2 + kHidden), packed_size(1, kHidden)}));
}

} // namespace

int main() {
  try_laws(Controllers());
  try_laws(EffortStages());
  try_function("exp", exp_of);
  try_function("sigmoid", sigmoid_of);
  try_function("tanh", tanh_of);
  try_function("log", log_of);
  try_function("softplus", softplus_of);
  try_function("erf", erf_of);
  try_function("elu", [](Floats x) { return elu_of(x, all(0.7f)); });
  try_gradients(LawFunction::kController, Controllers());
  try_gradients(LawFunction::kStage, EffortStages());
  try_networks();
  // last, for how many numbers it draws depends on the lanes
  try_lanes();
  return failures != 0;
}
