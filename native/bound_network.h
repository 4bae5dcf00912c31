// A network bound to Python arrays: laid out once, evaluated on validated arrays.
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
        {"sign", Code::kSign},
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
        int64_t end = 0;
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
            const auto add = [&](int64_t outputs, std::vector<Source> sources, std::vector<int64_t> biases) {
                int64_t inputs = 0;
                for (const Source& source : sources) inputs += source.width;
                maps_.push_back({outputs, end, std::move(sources), std::move(biases)});
                end += packed_size(outputs, inputs);
            };
            // captured by name: C++17 lambdas cannot capture structured bindings
            const auto take = [&, &name = name, start = start](int64_t count) {
                if (!fits(start, count, numbers.size())) refuse("instruction " + name, "one whose numbers are there");
            };
            starts_.push_back(end);
            if (i.code == Code::kLinear) {
                take(width * (first_width + 1));
                add(width, {{start, first_width}}, {start + width * first_width});
            } else if (i.code == Code::kLstm) {
                const int64_t rows = 4 * hidden, hh = start + rows * first_width, bias = hh + rows * hidden;
                take(rows * (first_width + hidden + 1));
                add(rows, {{start, first_width}, {hh, hidden}}, {bias});
            } else if (i.code == Code::kGru) {
                const int64_t rows = 3 * hidden, hh = start + rows * first_width, b_ih = hh + rows * hidden;
                const int64_t b_hh = b_ih + rows, n = 2 * hidden;
                take(rows * (first_width + hidden + 2));
                add(n, {{start, first_width}, {hh, hidden}}, {b_ih, b_hh});
                add(hidden, {{start + n * first_width, first_width}}, {b_ih + n});
                add(hidden, {{hh + n * hidden, hidden}}, {b_hh + n});
            } else {
                const int64_t count = i.code == Code::kConstant ? width
                                      : i.code == Code::kClamp  ? 2
                                      : i.code == Code::kElu || i.code == Code::kLeakyRelu || i.code == Code::kSoftplus
                                          ? 1
                                          : 0;
                take(count);
                plain_.push_back({end, start, count});
                end += count;
            }
            // each instruction starts at a cache line
            end = (end + 15) / 16 * 16;
            network_.instructions.push_back(i);
        }
        network_.numbers = Aligned<float>(end);
        for (size_t k = 0; k < starts_.size(); ++k)
            network_.instructions[k].numbers = network_.numbers.data() + starts_[k];
        count_ = numbers.size();
        set(numbers);
        columns_ = Aligned<float>(columns * kBatch);
    }

    const Network& network() const { return network_; }

    // Replace the parameters; takes effect at the next evaluation.
    void set(const Read<float>& numbers) {
        if (numbers.size() != count_) refuse("numbers of a network", "as many as it was made of");
        const Turn turn(busy_);
        const float* const from = numbers.data();
        for (const Plain& one : plain_) std::copy_n(from + one.from, one.count, network_.numbers.data() + one.to);
        each_weight([&](float& packed, int64_t number) { packed = from[number]; },
                    [&](float& packed, int64_t number, bool first) { packed = (first ? 0.0f : packed) + from[number]; },
                    network_.numbers.data());
    }

    // Accumulate gradients of packed parameters into the original layout; only for linear maps.
    void unpack(float* packed, float* numbers) const {
        each_weight([&](float& from, int64_t number) { numbers[number] += from; },
                    [&](float& from, int64_t number, bool) { numbers[number] += from; }, packed);
    }
    int64_t count() const { return count_; }
    const char* variant() const { return variant_.name; }

    // The validated arrays of an evaluation.
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
    // number of rows from which on an evaluation releases the GIL
    static constexpr int64_t kLong = 1024;

    // A validated state of shape (layers, rows, hidden size).
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

    // Start and width of the weights of one source among the parameters, row-major.
    struct Source {
        int64_t start, width;
    };
    // A linear map of sources, the start of its packed parameters, and the starts of its biases, which are summed.
    struct Map {
        int64_t outputs, packed;
        std::vector<Source> sources;
        std::vector<int64_t> biases;
    };
    struct Plain {
        int64_t to, from, count;
    };

    // Visit each parameter of a linear map: its packed position, as `linear` in network_block.h reads it, and its
    // original position.
    template <class Weight, class Bias>
    void each_weight(const Weight& weight, const Bias& bias, float* packed) const {
        for (const Map& map : maps_) {
            float* to = packed + map.packed;
            for (int64_t panel = 0; panel < map.outputs; panel += kPanel)
                for (const Source& source : map.sources)
                    for (int64_t k = 0; k < source.width; ++k, to += kPanel)
                        for (int64_t o = panel; o < std::min(panel + kPanel, map.outputs); ++o)
                            weight(to[o - panel], source.start + o * source.width + k);
            for (const int64_t start : map.biases)
                for (int64_t o = 0; o < map.outputs; ++o) bias(to[o], start + o, start == map.biases[0]);
        }
    }

    const Variant& variant_;
    Network network_;
    std::vector<int64_t> starts_;
    std::vector<Map> maps_;
    std::vector<Plain> plain_;
    int64_t count_ = 0;
    Aligned<float> columns_;
    std::mutex busy_;
};

// A repeated evaluation on fixed arrays.
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
