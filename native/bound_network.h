// A network for Python: laid out once, then evaluated on arrays that are looked through.
#pragma once
#include <unordered_map>

#include "arguments.h"
#include "network.h"
#include "variants.h"

namespace actuators {

inline Code code_of(const std::string& name) {
    static const std::unordered_map<std::string, Code> known = {
        {"constant", Code::kConstant}, {"copy", Code::kCopy},       {"linear", Code::kLinear},
        {"lstm", Code::kLstm},         {"gru", Code::kGru},         {"add", Code::kAdd},
        {"sub", Code::kSub},           {"mul", Code::kMul},         {"div", Code::kDiv},
        {"minimum", Code::kMinimum},   {"maximum", Code::kMaximum}, {"pow", Code::kPow},
        {"abs", Code::kAbs},           {"clamp", Code::kClamp},     {"elu", Code::kElu},
        {"erf", Code::kErf},           {"exp", Code::kExp},         {"leaky_relu", Code::kLeakyRelu},
        {"log", Code::kLog},           {"neg", Code::kNeg},         {"reciprocal", Code::kReciprocal},
        {"relu", Code::kRelu},         {"sigmoid", Code::kSigmoid}, {"softplus", Code::kSoftplus},
        {"softsign", Code::kSoftsign}, {"sqrt", Code::kSqrt},       {"tanh", Code::kTanh},
    };
    const auto found = known.find(name);
    if (found == known.end()) refuse("instruction = " + name, "one that networks have");
    return found->second;
}

class BoundNetwork {
  public:
    // name, out, width, first, first_width, second, second_width, numbers, layer
    using Line = std::tuple<std::string, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t>;

    BoundNetwork(int64_t inputs, int64_t columns, int64_t output, int64_t layers, int64_t hidden, int states,
                 const std::vector<Line>& lines, const Read<float>& numbers)
        : variant_(choose_variant()) {
        constexpr int64_t kMost = 1 << 20;
        const auto fits = [](int64_t start, int64_t width, int64_t size) {
            return start >= 0 && width >= 0 && width <= size && start <= size - width;
        };
        if (!fits(inputs, 1, kMost) || !fits(columns, 1, kMost) || !fits(layers, 1, kMost) || !fits(hidden, 1, kMost) ||
            states < 0 || states > kNetworkStates || !fits(output, 1, columns) ||
            !fits(inputs, 2 * states * layers * hidden, columns))
            refuse("layout of a network", "one that fits into its columns");
        network_.inputs = inputs;
        network_.columns = columns;
        network_.output = output;
        network_.layers = layers;
        network_.hidden = hidden;
        network_.states = states;
        std::vector<float> packed;
        std::vector<size_t> starts;
        for (const Line& line : lines) {
            const auto& [name, out, width, first, first_width, second, second_width, start, layer] = line;
            const Instruction i{code_of(name), out, width, first, first_width, second, second_width, layer, nullptr};
            const bool recurrent = i.code == Code::kLstm || i.code == Code::kGru;
            const bool wants = states == (i.code == Code::kLstm ? 2 : 1);
            const bool binary = i.code >= Code::kAdd && i.code <= Code::kPow;
            const bool as_wide =
                i.code == Code::kConstant || i.code == Code::kLinear || recurrent ||
                (binary ? (first_width == width || first_width == 1) && (second_width == width || second_width == 1)
                        : first_width == width);
            if (!fits(out, width, columns) || !fits(first, first_width, columns) ||
                !fits(second, second_width, columns) || !as_wide ||
                (recurrent && (!wants || width != hidden || !fits(layer, 1, layers) || second_width < 4 * hidden)))
                refuse("instruction " + name, "one that fits into the columns of its network");
            const auto take = [&](int64_t at, int64_t count) {
                if (at < 0 || !fits(start, at + count, numbers.size()))
                    refuse("instruction " + name, "one whose numbers are there");
                return numbers.data() + start + at;
            };
            starts.push_back(packed.size());
            if (i.code == Code::kLinear) {
                pack(width, {{take(0, width * first_width), first_width}}, {take(width * first_width, width)}, packed);
            } else if (i.code == Code::kLstm) {
                const int64_t rows = 4 * hidden, ih = rows * first_width, hh = rows * hidden;
                pack(rows, {{take(0, ih), first_width}, {take(ih, hh), hidden}}, {take(ih + hh, rows)}, packed);
            } else if (i.code == Code::kGru) {
                const int64_t rows = 3 * hidden, ih = rows * first_width, hh = rows * hidden;
                const float *const w_ih = take(0, ih), *const w_hh = take(ih, hh), *const b_ih = take(ih + hh, rows),
                                   *const b_hh = take(ih + hh + rows, rows);
                const int64_t n = 2 * hidden;
                pack(n, {{w_ih, first_width}, {w_hh, hidden}}, {b_ih, b_hh}, packed);
                pack(hidden, {{w_ih + n * first_width, first_width}}, {b_ih + n}, packed);
                pack(hidden, {{w_hh + n * hidden, hidden}}, {b_hh + n}, packed);
            } else {
                const int64_t count = i.code == Code::kConstant ? width
                                      : i.code == Code::kClamp  ? 2
                                      : i.code == Code::kElu || i.code == Code::kLeakyRelu || i.code == Code::kSoftplus
                                          ? 1
                                          : 0;
                const float* const from = take(0, count);
                packed.insert(packed.end(), from, from + count);
            }
            // each begins a line of the cache
            packed.resize((packed.size() + 15) / 16 * 16);
            network_.instructions.push_back(i);
        }
        network_.numbers = Aligned<float>(packed.size());
        std::copy(packed.begin(), packed.end(), network_.numbers.data());
        for (size_t k = 0; k < starts.size(); ++k)
            network_.instructions[k].numbers = network_.numbers.data() + starts[k];
        columns_ = Aligned<float>(columns * kBatch);
    }

    const Network& network() const { return network_; }
    const char* variant() const { return variant_.name; }

    // Arrays of an evaluation, looked through.
    NetworkRows rows(const py::object& x, const py::object& y, const std::vector<py::object>& now,
                     const std::vector<py::object>& after) const {
        NetworkRows rows{};
        const auto array = typed<float>("x", x);
        rows.count = array.ndim() ? array.shape(0) : 0;
        const Columns in("x", x, rows.count, {static_cast<int32_t>(network_.inputs) - 1}, false);
        rows.x = in.data, rows.x_row = in.pitch;
        const Strided<float> out("y", y, true);
        if (out.size != rows.count) refuse("y has " + std::to_string(out.size) + " numbers", "one per row of x");
        rows.y = out.data, rows.y_row = out.stride;
        const auto states = static_cast<size_t>(network_.states);
        if (now.size() != states || after.size() != states)
            refuse("state", "made of " + std::to_string(states) + " arrays");
        for (size_t s = 0; s < states; ++s) {
            Remembered& state = rows.state[s];
            state.now = state_of("state_in", now[s], rows.count, false, state.now_layer, state.now_row);
            state.after = state_of("state_out", after[s], rows.count, true, state.after_layer, state.after_row);
        }
        return rows;
    }

    void evaluate(const NetworkRows& rows) {
        const Turn turn(busy_);
        if (rows.count < kLong) {
            variant_.evaluate(network_, rows, columns_.data());
        } else {
            const py::gil_scoped_release release;
            variant_.evaluate(network_, rows, columns_.data());
        }
    }

  private:
    // from here on other Python threads go on meanwhile
    static constexpr int64_t kLong = 1024;

    // Layers, rows and numbers side by side.
    float* state_of(const std::string& name, const py::object& given, int64_t count, bool output, int64_t& layer,
                    int64_t& row) const {
        auto array = typed<float>(name, given);
        if (array.ndim() != 3 || array.shape(0) != network_.layers || array.shape(1) != count ||
            array.shape(2) != network_.hidden)
            refuse(name + " has shape " + text(array.attr("shape")), "(layers, rows, hidden size)");
        if (array.shape(2) > 1 && array.strides(2) != sizeof(float)) refuse(name, "contiguous within a row");
        if (output && !array.writeable()) refuse(name, "writeable");
        layer = array.strides(0) / static_cast<py::ssize_t>(sizeof(float));
        row = array.strides(1) / static_cast<py::ssize_t>(sizeof(float));
        return static_cast<float*>(const_cast<void*>(array.data()));
    }

    // Weights of sources side by side, as `linear` in network.cpp reads them; the first bias and what is added to it.
    static void pack(int64_t outputs, const std::vector<std::pair<const float*, int64_t>>& weights,
                     const std::vector<const float*>& biases, std::vector<float>& packed) {
        for (int64_t panel = 0; panel < outputs; panel += kPanel)
            for (const auto& [weight, inputs] : weights)
                for (int64_t k = 0; k < inputs; ++k)
                    for (int64_t o = panel; o < panel + kPanel; ++o)
                        packed.push_back(o < outputs ? weight[o * inputs + k] : 0.0f);
        for (int64_t o = 0; o < (outputs + kPanel - 1) / kPanel * kPanel; ++o) {
            float bias = 0.0f;
            for (const float* one : biases) bias += o < outputs ? one[o] : 0.0f;
            packed.push_back(bias);
        }
    }

    const Variant& variant_;
    Network network_;
    Aligned<float> columns_;
    std::mutex busy_;
};

// An evaluation of given arrays, again and again.
class BoundEvaluation {
  public:
    BoundEvaluation(py::object network, const py::object& x, const py::object& y, const std::vector<py::object>& now,
                    const std::vector<py::object>& after)
        : network_(network.cast<BoundNetwork&>()),
          rows_(network_.rows(x, y, now, after)),
          alive_(py::make_tuple(network, x, y, now, after)) {}
    void run() { network_.evaluate(rows_); }

  private:
    BoundNetwork& network_;
    NetworkRows rows_;
    py::object alive_;
};

}  // namespace actuators
