// Gradients of the efforts of one actuator: the inputs of a step are recorded, and the chain rule is applied backward
// through limits, controller, transmission, sensor and delay to the signals. The laws are those of the step, on duals;
// see dual.h. A controller may be a network, see network_gradients.cpp.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "law_in_block.h"
#include "plan.h"

namespace actuators {

inline bool is_finite(float value) {
    return std::fabs(value) <= std::numeric_limits<float>::max();
}

// Number of elements of whole vectors.
inline int64_t whole_of(int64_t count) {
    return (count + 15) / 16 * 16;
}

// An array, null if missing, gathered by an index; contiguous elements without an index.
struct Scattered {
    float* data = nullptr;
    int64_t stride = 1;
    const uint32_t* index = nullptr;
    int64_t index_stride = 1;
    bool contiguous() const { return !index && stride == 1; }
    float& operator[](int64_t k) const { return data[(index ? index[k * index_stride] : k) * stride]; }

    void read(int64_t first, int64_t count, float* to) const {
        if (!data)
            std::fill_n(to, count, 0.0f);
        else if (contiguous())
            std::copy_n(data + first, count, to);
        else if (stride == 1 && index_stride == 1)
            for (int64_t k = 0; k < count; ++k) to[k] = data[index[first + k]];
        else
            for (int64_t k = 0; k < count; ++k) to[k] = (*this)[first + k];
    }
    // scalar with an index, which may contain duplicates
    void add(const float* from, int64_t first, int64_t count) const {
        if (!data) return;
        float* const to = data + first;
        if (contiguous())
            for (int64_t k = 0; k < count; ++k) to[k] += from[k];
        else
            for (int64_t k = 0; k < count; ++k) (*this)[first + k] += from[k];
    }
    void clear(int64_t first, int64_t count) const {
        if (!data) return;
        if (contiguous())
            std::fill_n(data + first, count, 0.0f);
        else
            for (int64_t k = 0; k < count; ++k) (*this)[first + k] = 0.0f;
    }
};

// Record of a step for the backward pass.
struct Noted {
    // signals with the delayed commands, NaN for joints whose current commands were not finite; states, the network
    // state last
    Aligned<float> numbers;
    // parameters, shared by consecutive steps with equal values
    std::shared_ptr<const std::vector<float>> parameters;
    float dt = 0;
    // ---- delay
    int64_t newest = 0;
    // row of the ring of each delayed command, -1 for the current command
    std::vector<int32_t> from;
    // number of rows that hold a command, kFresh if the first command fills the ring, kEmpty if that command was not
    // good
    std::vector<int32_t> held;
    bool full = true;
    // bit mask of finite commands per element; empty if all are finite
    std::vector<uint8_t> finite;
};
constexpr int32_t kFresh = 0, kEmpty = -1;

// Laws whose results are parameters, which a caller computed before: of a controller, its effort; of a sensor, position
// and velocity.
constexpr const char *kGivenEffort = "GivenEffort", *kGivenMeasurement = "GivenMeasurement";
constexpr int kSensed = 2;

// Gradients that are read, and gradients that are accumulated.
struct GradientArrays {
    Scattered efforts, computed;
    // gradients of positions, velocities and commands
    Scattered signals[kSignals];
    std::vector<Scattered> parameters;
    // gradients of the state after the step, consumed and zeroed, and of the state before it
    float *network_after[kNetworkStates] = {}, *network_before[kNetworkStates] = {};
    // gradient of the packed network parameters, accumulated; null for none
    float* numbers = nullptr;
    std::vector<Scattered> states_after, states_before;
    float *rows_after[kCommands] = {}, *rows_before[kCommands] = {};
    int64_t pitch_after[kCommands] = {}, pitch_before[kCommands] = {};
};

class Gradients {
  public:
    // rows of each curve of a law
    using Curves = std::vector<std::vector<float>>;
    // `first_parameter` and `first_state` are indices among those of all laws
    struct Law {
        LawFunction function = LawFunction::kController;
        int number = 0, parameters = 0, states = 0, first_parameter = 0, first_state = 0;
        bool converts = false;
        // results are parameters
        bool given = false;
        Curves curves;
    };

    // The controller is a law, a network without shared columns, a given effort, or none, which gives zero effort.
    // `limits` are the stages after it, those behind a transmission at the joint; `curves` holds the curves of the
    // controller, of each of these stages, and of the sensor. Without a sensor its name is empty.
    Gradients(int64_t elements, const std::string& controller, std::optional<NetworkMember> network,
              const std::vector<std::string>& limits, std::vector<Curves> curves, int64_t depth,
              const std::string& sensor)
        : elements_(elements),
          pitch_(whole_of(elements)),
          depth_(depth),
          network_(std::move(network)),
          has_law_(!network_ && !controller.empty() && controller != kGivenEffort),
          stages_(limits.size() + 1) {
        if (elements < 1) refuse("elements", "at least 1");
        if (stages_ + !sensor.empty() != curves.size())
            refuse("curves", "those of the controller, of each limit, and of the sensor");
        if (!has_law_ && !curves[0].empty()) refuse("curves of the controller", "none without a law");
        if (network_) network_->use.rows = elements;
        if (has_law_)
            laws_.push_back(law(controller, LawFunction::kController, std::move(curves[0])));
        else
            laws_.push_back(controller == kGivenEffort ? given(1) : Law{});
        for (size_t n = 1; n < stages_; ++n) {
            laws_.push_back(law(limits[n - 1], LawFunction::kStage, std::move(curves[n])));
            if (!laws_[n].converts) continue;
            if (transmission_) refuse("limits", "with one transmission at most");
            transmission_ = n;
        }
        if (sensor == kGivenMeasurement)
            laws_.push_back(given(kSensed));
        else if (!sensor.empty())
            laws_.push_back(law(sensor, LawFunction::kSensor, std::move(curves[stages_])));
        for (Law& one : laws_) {
            one.first_parameter = parameters_, one.first_state = states_;
            parameters_ += one.parameters, states_ += one.states;
        }
    }

    int64_t elements() const { return elements_; }
    int64_t depth() const { return depth_; }
    int parameters() const { return parameters_; }
    int states() const { return states_; }
    // number of state arrays of the network, and the size of each
    int network_arrays() const { return network_ ? network_->use.arrays : 0; }
    int64_t network_size() const { return network_ ? network_->use.pieces * network_->use.each * elements_ : 0; }

    // Record the inputs of a step before it runs. The ring is that of `state`, if there is a delay.
    std::unique_ptr<Noted> note(const Scattered (&signals)[kSignals], const std::vector<Scattered>& parameters,
                                const State& state, const int32_t* lag, int64_t lag_stride, float dt);
    // Compute the efforts of a recorded step, and those before the limits; NaN on a fault.
    void efforts_of(const Noted& noted, float* efforts, float* computed) const;
    // Accumulate gradients, given those of the efforts and of the state after the step.
    void back(const Noted& noted, const GradientArrays& arrays);
    // Return the memory of a record to the pool.
    void let_go(Noted& noted) {
        const std::lock_guard<std::mutex> lock(guard_);
        if (pool_.size() < kPooled) pool_.push_back(std::move(noted.numbers));
    }

  private:
    static constexpr size_t kPooled = 64;
    // Signals in a block as a law reads them, and their gradients.
    struct Frame {
        const float* values[kSignals] = {};
        float* by[kSignals] = {};
    };
    // A function of a law in a block.
    struct Call {
        LawFunction function;
        int law;
        LawInBlock block;
    };
    // Memory of a block, `kGradientBlock` numbers per array.
    struct Scratch {
        // efforts after each law, and the signals that sensor and transmission return
        float *efforts, *found;
        // gradients of the effort, of these signals, and of signals of the joint, parameters and states
        float *by_effort, *by_found, *by_inputs;
    };
    // number of the signals that sensor and transmission return
    int found() const { return (has_sensor() ? kSensed : 0) + (transmission_ ? kSignals + 2 : 0); }
    bool has_sensor() const { return laws_.size() > stages_; }

    Law law(const std::string& name, LawFunction function, Curves curves) const;
    static Law given(int results) {
        Law one;
        one.parameters = results, one.given = true;
        return one;
    }
    LawInBlock block_of(const Law& law, const Frame& frame, const Noted& noted, const Scratch& scratch,
                        int64_t first) const;
    std::vector<Call> calls(const Noted& noted, const Scratch& scratch, int64_t first) const;
    void control(const std::vector<Call>& calls, NetworkInBlock& network, int64_t first, int64_t count) const;
    void read_efforts(const GradientArrays& arrays, const LawInBlock& last, NetworkInBlock& network, float* by_computed,
                      int64_t first, int64_t count) const;
    Scratch scratch_in(Aligned<float>& memory) const;
    NetworkInBlock network_in(Aligned<float>& memory, const Noted& noted, const GradientArrays& arrays) const;
    std::vector<Call> forward_block(const Noted& noted, const Scratch& scratch, NetworkInBlock& network, int64_t first,
                                    int64_t count) const;
    void back_block(const Noted& noted, const GradientArrays& arrays, const Scratch& scratch, NetworkInBlock& network,
                    int64_t first, int64_t count) const;
    void note_delay(Noted& noted, const State& state, const int32_t* lag, int64_t lag_stride) const;
    void back_delay(const Noted& noted, const GradientArrays& arrays, int64_t first, int64_t count,
                    float* const* by_command) const;
    void back_ring(const Noted& noted, const GradientArrays& arrays, int c, int64_t k, float& by_command) const;
    float* signal(const Noted& noted, int s) const { return noted.numbers.data() + s * pitch_; }
    float* state(const Noted& noted, int s) const { return noted.numbers.data() + (kSignals + s) * pitch_; }
    float* network_state(const Noted& noted, int s) const { return state(noted, states_) + s * network_size(); }
    NetworkInBlock network_block(const Noted& noted, const GradientArrays& arrays) const;
    int64_t row_of(int64_t newest, int64_t lag) const { return (newest + 1 - lag + depth_) % depth_; }

    const int64_t elements_, pitch_, depth_;
    const Variant& variant_ = choose_variant();
    std::optional<NetworkMember> network_;
    // true if the controller is a law
    const bool has_law_;
    // number of the laws of efforts, and which of them is the transmission, 0 for none; a sensor follows them
    const size_t stages_;
    size_t transmission_ = 0;
    std::vector<Law> laws_;
    int parameters_ = 0, states_ = 0;
    std::mutex guard_;
    std::vector<Aligned<float>> pool_;
    std::shared_ptr<const std::vector<float>> last_;
};

inline Gradients::Law Gradients::law(const std::string& name, LawFunction function, Curves curves) const {
    const std::vector<LawFacts> known = variant_.laws(function == LawFunction::kController ? LawList::kControllers
                                                      : function == LawFunction::kStage    ? LawList::kStages
                                                                                           : LawList::kFeedback);
    for (size_t number = 0; number < known.size(); ++number) {
        if (name != known[number].name) continue;
        if (!known[number].gives) refuse("law = " + name, "one that gives an effort");
        const bool good = std::all_of(curves.begin(), curves.end(),
                                      [](const auto& rows) { return !rows.empty() && rows.size() % 3 == 0; });
        if (!good || static_cast<int>(curves.size()) != known[number].curves)
            refuse("curves of " + name, std::to_string(known[number].curves) + " of rows of point, value and slope");
        // requested signals are recorded like parameters
        const int parameters = known[number].asked + known[number].parameters;
        Law found{function, static_cast<int>(number), parameters, known[number].states};
        found.converts = known[number].converts, found.curves = std::move(curves);
        return found;
    }
    refuse("law = " + name, "one of the core's");
}

// ---- forward

inline std::unique_ptr<Noted> Gradients::note(const Scattered (&signals)[kSignals],
                                              const std::vector<Scattered>& parameters, const State& state,
                                              const int32_t* lag, int64_t lag_stride, float dt) {
    auto noted = std::make_unique<Noted>();
    noted->dt = dt;
    {
        const std::lock_guard<std::mutex> lock(guard_);
        if (!pool_.empty()) noted->numbers = std::move(pool_.back()), pool_.pop_back();
    }
    if (!noted->numbers.size())
        noted->numbers = Aligned<float>((kSignals + states_) * pitch_ + network_arrays() * network_size());
    for (int s = 0; s < kSignals; ++s) signals[s].read(0, elements_, signal(*noted, s));
    const int arrays = network_arrays();
    for (int s = 0; s < arrays; ++s) std::copy_n(state.laws[s], network_size(), network_state(*noted, s));
    for (int s = 0; s < states_; ++s) std::copy_n(state.laws[arrays + s], elements_, this->state(*noted, s));
    // parameters rarely change between steps
    bool same = last_ != nullptr;
    for (size_t p = 0; p < parameters.size() && same; ++p) {
        const float* const before = last_->data() + p * pitch_;
        if (parameters[p].contiguous())
            same = !std::memcmp(before, parameters[p].data, elements_ * sizeof(float));
        else
            for (int64_t k = 0; k < elements_ && same; ++k) same = before[k] == parameters[p][k];
    }
    if (!same) {
        auto copy = std::make_shared<std::vector<float>>(parameters.size() * pitch_);
        for (size_t p = 0; p < parameters.size(); ++p) parameters[p].read(0, elements_, copy->data() + p * pitch_);
        last_ = std::move(copy);
    }
    noted->parameters = last_;
    if (lag) note_delay(*noted, state, lag, lag_stride);
    return noted;
}

inline void Gradients::note_delay(Noted& noted, const State& state, const int32_t* lag, int64_t lag_stride) const {
    float* now[kCommands];
    for (int c = 0; c < kCommands; ++c) now[c] = signal(noted, kPositionTarget + c);
    noted.newest = (*state.write_idx % depth_ + depth_) % depth_;
    noted.from.resize(elements_);
    const int32_t depth = static_cast<int32_t>(depth_);
    const bool differ = std::any_of(state.pushes, state.pushes + elements_, [&](int32_t one) { return one != depth; });
    int32_t bad = 0;
    for (int c = 0; c < kCommands; ++c)
        for (int64_t k = 0; k < elements_; ++k) bad |= !is_finite(now[c][k]);
    if (bad) noted.finite.resize(elements_);
    noted.full = !differ;
    if (differ) noted.held.resize(elements_);
    const int32_t newest = static_cast<int32_t>(noted.newest);
    for (int64_t k = 0; k < elements_; ++k) {
        const int32_t steps = std::clamp(lag[k * lag_stride], 0, depth), row = newest + 1 - steps;
        noted.from[k] = !steps ? -1 : row < 0 ? row + depth : row;
    }
    if (!bad && !differ) {
        // common case
        for (int c = 0; c < kCommands; ++c)
            for (int64_t k = 0; k < elements_; ++k)
                if (noted.from[k] >= 0) now[c][k] = state.rows[c][noted.from[k] * state.pitch + k];
        return;
    }
    for (int64_t k = 0; k < elements_; ++k) {
        uint8_t finite = 0;
        for (int c = 0; c < kCommands; ++c) finite |= std::isfinite(now[c][k]) << c;
        const int32_t pushes = std::clamp(state.pushes[k], 0, depth);
        const int32_t held = pushes ? pushes : finite == 7 ? kFresh : kEmpty;
        if (bad) noted.finite[k] = finite;
        if (differ) noted.held[k] = held;
        const int64_t steps = std::min(std::clamp(lag[k * lag_stride], 0, depth), std::max(held, 0));
        for (int c = 0; c < kCommands; ++c) {
            if (steps) now[c][k] = state.rows[c][row_of(noted.newest, steps) * state.pitch + k];
            if (finite != 7) now[c][k] = std::numeric_limits<float>::quiet_NaN();
        }
    }
}

// ---- backward

// Propagate gradients of the ring and of the delayed command to their sources; on return, `by_command` is the gradient
// of the current command.
inline void Gradients::back_ring(const Noted& noted, const GradientArrays& arrays, int c, int64_t k,
                                 float& by_command) const {
    const auto after = [&](int64_t row) -> float* {
        return arrays.rows_after[c] ? arrays.rows_after[c] + row * arrays.pitch_after[c] + k : nullptr;
    };
    const auto before = [&](int64_t row, float gradient) {
        if (arrays.rows_before[c]) arrays.rows_before[c][row * arrays.pitch_before[c] + k] += gradient;
    };
    const int64_t written = row_of(noted.newest, 0);
    std::vector<float> rows(depth_);
    for (int64_t row = 0; row < depth_; ++row)
        if (float* const gradient = after(row)) rows[row] = *gradient, *gradient = 0.0f;
    const int32_t held = noted.held[k];
    const float pushed = rows[written];
    rows[written] = 0.0f;
    float now = 0.0f;
    if (noted.finite.empty() || noted.finite[k] >> c & 1)
        now += pushed;
    else if (held != kEmpty)
        rows[noted.newest] += pushed;
    (noted.from[k] < 0 ? now : rows[noted.from[k]]) += by_command;
    by_command = now;
    // rows older than the held commands are filled with the oldest of them, or with the current command
    for (int64_t lag = 1; lag <= depth_; ++lag) {
        const int64_t row = row_of(noted.newest, lag);
        if (held == kFresh)
            by_command += rows[row];
        else if (held > 0)
            before(row_of(noted.newest, std::min<int64_t>(lag, held)), rows[row]);
    }
}

// Backward pass of the delay of a block; the ring is full in the common case.
inline void Gradients::back_delay(const Noted& noted, const GradientArrays& arrays, int64_t first, int64_t count,
                                  float* const* by_commands) const {
    const int64_t written = row_of(noted.newest, 0);
    const int32_t* const from = noted.from.data() + first;
    const uint8_t* const finite = noted.finite.empty() ? nullptr : noted.finite.data() + first;
    for (int c = 0; c < kCommands; ++c) {
        float* const by_command = by_commands[c];
        if (!noted.full) {
            for (int64_t k = 0; k < count; ++k) back_ring(noted, arrays, c, first + k, by_command[k]);
            continue;
        }
        float* const after = arrays.rows_after[c] ? arrays.rows_after[c] + first : nullptr;
        float* const before = arrays.rows_before[c] ? arrays.rows_before[c] + first : nullptr;
        const int64_t pitch_after = arrays.pitch_after[c], pitch_before = arrays.pitch_before[c];
        float pushed[kGradientBlock] = {};
        for (int64_t row = 0; row < depth_ && after; ++row) {
            float* const gradient = after + row * pitch_after;
            if (row == written)
                std::copy_n(gradient, count, pushed);
            else if (after == before)
                continue;
            else if (before)
                for (int64_t k = 0; k < count; ++k) before[row * pitch_before + k] += gradient[k];
            std::fill_n(gradient, count, 0.0f);
        }
        for (int64_t k = 0; k < count; ++k) {
            float now = pushed[k];
            if (finite && !(finite[k] >> c & 1)) {
                // the previous command was held
                if (before) before[noted.newest * pitch_before + k] += now;
                now = 0.0f;
            }
            if (from[k] < 0)
                now += by_command[k];
            else if (before)
                before[from[k] * pitch_before + k] += by_command[k];
            by_command[k] = now;
        }
    }
}

// A network as the law of a block.
inline NetworkInBlock& place(NetworkInBlock& network, const LawInBlock& law, int64_t first, int64_t count) {
    network.first = first, network.count = count;
    network.effort = law.effort, network.by_effort = law.by_effort;
    for (int s = 0; s < kSignals; ++s) network.signals[s] = law.signals[s], network.by_signals[s] = law.by_signals[s];
    return network;
}

// Effort without a controller: zero, NaN if a signal is not finite.
inline float none_at(const LawInBlock& law, int64_t k) {
    bool good = true;
    for (const float* const signal : law.signals) good = good & is_finite(signal[k]);
    return good ? 0.0f : std::numeric_limits<float>::quiet_NaN();
}

// Arrays of all elements for the backward pass of a network.
inline NetworkInBlock Gradients::network_block(const Noted& noted, const GradientArrays& arrays) const {
    NetworkInBlock block;
    block.use = &network_->use;
    for (int s = 0; s < network_arrays(); ++s) {
        block.state[s] = network_state(noted, s);
        block.by_after[s] = arrays.network_after[s], block.by_before[s] = arrays.network_before[s];
    }
    return block;
}

// A law that reads the signals of a frame.
inline LawInBlock Gradients::block_of(const Law& law, const Frame& frame, const Noted& noted, const Scratch& scratch,
                                      int64_t first) const {
    const auto gradient = [&](int k) { return scratch.by_inputs + (kSignals + k) * kGradientBlock; };
    LawInBlock one;
    one.dt = noted.dt;
    one.by_effort = scratch.by_effort;
    one.last = scratch.efforts + (stages_ - 1) * kGradientBlock;
    for (size_t k = 0; k < law.curves.size(); ++k) {
        one.curves[k] = law.curves[k].data();
        one.curve_rows[k] = static_cast<int64_t>(law.curves[k].size() / 3);
    }
    for (int s = 0; s < kSignals; ++s) one.signals[s] = frame.values[s], one.by_signals[s] = frame.by[s];
    for (int k = 0; k < law.parameters; ++k) {
        one.parameters[k] = noted.parameters->data() + (law.first_parameter + k) * pitch_ + first;
        one.by_parameters[k] = gradient(law.first_parameter + k);
    }
    for (int k = 0; k < law.states; ++k) {
        one.states[k] = state(noted, law.first_state + k) + first;
        one.by_states[k] = gradient(parameters_ + law.first_state + k);
    }
    return one;
}

// The laws of a block in the order in which they run; the last ones are those of efforts.
inline std::vector<Gradients::Call> Gradients::calls(const Noted& noted, const Scratch& scratch, int64_t first) const {
    std::vector<Call> calls;
    calls.reserve(laws_.size() + 2);
    Frame joint;
    for (int s = 0; s < kSignals; ++s)
        joint.values[s] = signal(noted, s) + first, joint.by[s] = scratch.by_inputs + s * kGradientBlock;
    int64_t place = 0;
    // `to` gets the first `count` signals from a law
    const auto convert = [&](LawFunction function, const Law& law, const Frame& from, Frame& to, int count) {
        calls.push_back({function, law.number, block_of(law, from, noted, scratch, first)});
        LawInBlock& block = calls.back().block;
        for (int s = 0; s < count; ++s, place += kGradientBlock) {
            to.values[s] = block.found[s] = scratch.found + place;
            block.by_found[s] = to.by[s] = scratch.by_found + place;
        }
    };
    Frame sensed = joint, rotor = joint;
    if (has_sensor() && laws_.back().given) {
        const LawInBlock measured = block_of(laws_.back(), joint, noted, scratch, first);
        for (int s = 0; s < kSensed; ++s)
            sensed.values[s] = measured.parameters[s], sensed.by[s] = measured.by_parameters[s];
    } else if (has_sensor()) {
        convert(LawFunction::kSensor, laws_.back(), joint, sensed, kSensed);
    }
    Frame motor = sensed;
    if (transmission_) {
        convert(LawFunction::kCommandedMotor, laws_[transmission_], sensed, motor, kSignals);
        convert(LawFunction::kTrueMotor, laws_[transmission_], joint, rotor, 2);
    }
    for (size_t n = 0; n < stages_; ++n) {
        const Frame& frame = !n ? motor : n < transmission_ ? rotor : joint;
        calls.push_back({laws_[n].function, laws_[n].number, block_of(laws_[n], frame, noted, scratch, first)});
        LawInBlock& block = calls.back().block;
        block.effort = scratch.efforts + n * kGradientBlock;
        block.given = n ? block.effort - kGradientBlock : nullptr;
    }
    return calls;
}

// Efforts before the limits.
inline void Gradients::control(const std::vector<Call>& calls, NetworkInBlock& network, int64_t first,
                               int64_t count) const {
    const size_t at = calls.size() - stages_;
    const LawInBlock& block = calls[at].block;
    const int64_t whole = whole_of(count);
    if (has_law_)
        variant_.law_forward(calls[at].function, calls[at].law, block, whole);
    else if (network_)
        variant_.network_forward(place(network, block, first, count));
    else
        for (int64_t k = 0; k < whole; ++k)
            block.effort[k] = none_at(block, k) + (laws_[0].given ? block.parameters[0][k] : 0.0f);
    if (!transmission_) return;
    // required even if no limit reads the true state of the motor, see `act_on_motors` in step.cpp
    const float* const rotor = calls[at - 1].block.found[0];
    for (int64_t k = 0; k < whole; ++k)
        block.effort[k] = is_finite(rotor[k]) ? block.effort[k] : std::numeric_limits<float>::quiet_NaN();
}

// Gradients of the efforts of a block, given its last law.
inline void Gradients::read_efforts(const GradientArrays& arrays, const LawInBlock& last, NetworkInBlock& network,
                                    float* by_computed, int64_t first, int64_t count) const {
    float* const by_effort = last.by_effort;
    arrays.efforts.read(first, count, by_effort);
    arrays.computed.read(first, count, by_computed);
    for (int64_t k = 0; k < count; ++k) {
        // an effort that is not finite was set to zero
        const bool good = is_finite(last.effort[k]);
        by_effort[k] = good ? by_effort[k] : 0.0f, by_computed[k] = good ? by_computed[k] : 0.0f;
        // and the state was kept
        if (network_ && !good) network.guard[k] = std::numeric_limits<float>::quiet_NaN();
    }
    std::fill(by_effort + count, by_effort + whole_of(count), 0.0f);
}

// Run the laws of a block, and return them.
inline std::vector<Gradients::Call> Gradients::forward_block(const Noted& noted, const Scratch& scratch,
                                                             NetworkInBlock& network, int64_t first,
                                                             int64_t count) const {
    std::vector<Call> calls = this->calls(noted, scratch, first);
    const size_t controller = calls.size() - stages_;
    for (size_t n = 0; n < calls.size(); ++n)
        if (n == controller)
            control(calls, network, first, count);
        else
            variant_.law_forward(calls[n].function, calls[n].law, calls[n].block, whole_of(count));
    return calls;
}

inline void Gradients::back_block(const Noted& noted, const GradientArrays& arrays, const Scratch& scratch,
                                  NetworkInBlock& network, int64_t first, int64_t count) const {
    const auto input = [&](int k) { return scratch.by_inputs + k * kGradientBlock; };
    const int64_t whole = whole_of(count);
    for (int k = 0; k < states_; ++k) {
        arrays.states_after[k].read(first, count, input(kSignals + parameters_ + k));
        arrays.states_after[k].clear(first, count);
    }
    const std::vector<Call> calls = forward_block(noted, scratch, network, first, count);
    const size_t controller = calls.size() - stages_;
    float* const by_effort = scratch.by_effort;
    float by_computed[kGradientBlock] = {};
    read_efforts(arrays, calls.back().block, network, by_computed, first, count);
    for (size_t n = calls.size(); n-- > 0;) {
        if (n == controller)
            for (int64_t k = 0; k < count; ++k) by_effort[k] += by_computed[k];
        if (n != controller || has_law_)
            variant_.law_backward(calls[n].function, calls[n].law, calls[n].block, whole);
        else if (network_)
            variant_.network_backward(network);
        else if (laws_[0].given)
            for (int64_t k = 0; k < count; ++k) calls[n].block.by_parameters[0][k] += by_effort[k];
    }
    if (!noted.from.empty()) {
        float* by_commands[kCommands];
        for (int c = 0; c < kCommands; ++c) by_commands[c] = input(kPositionTarget + c);
        back_delay(noted, arrays, first, count, by_commands);
    }
    for (int s = 0; s < kSignals; ++s) arrays.signals[s].add(input(s), first, count);
    for (int k = 0; k < parameters_; ++k) arrays.parameters[k].add(input(kSignals + k), first, count);
    for (int k = 0; k < states_; ++k) arrays.states_before[k].add(input(kSignals + parameters_ + k), first, count);
}

// Memory of a block.
inline Gradients::Scratch Gradients::scratch_in(Aligned<float>& memory) const {
    constexpr int64_t kSize = kGradientBlock;
    const int64_t stages = static_cast<int64_t>(stages_), inputs = kSignals + parameters_ + states_;
    memory = Aligned<float>((stages + 1 + 2 * found() + inputs) * kSize);
    Scratch scratch;
    scratch.efforts = memory.data();
    scratch.found = scratch.efforts + stages * kSize;
    scratch.by_effort = scratch.found + found() * kSize;
    scratch.by_found = scratch.by_effort + kSize;
    scratch.by_inputs = scratch.by_found + found() * kSize;
    return scratch;
}

// The network, with memory for the columns of a block, which are kept for the backward pass.
inline NetworkInBlock Gradients::network_in(Aligned<float>& memory, const Noted& noted,
                                            const GradientArrays& arrays) const {
    if (!network_) return {};
    const int64_t columns = network_->use.network->columns * kBatch;
    const int64_t numbers = arrays.numbers ? static_cast<int64_t>(network_->use.network->numbers.size()) : 0;
    NetworkInBlock network = network_block(noted, arrays);
    memory = Aligned<float>(2 * columns + kBatch + numbers * kRepeated);
    network.columns = memory.data(), network.by_columns = network.columns + columns;
    network.guard = network.by_columns + columns;
    network.by_numbers = numbers ? network.guard + kBatch : nullptr;
    return network;
}

inline void Gradients::efforts_of(const Noted& noted, float* efforts, float* computed) const {
    const int64_t most = network_ ? kBatch : kGradientBlock;
    Aligned<float> of_network, memory;
    NetworkInBlock network = network_in(of_network, noted, {});
    const Scratch scratch = scratch_in(memory);
    for (int64_t first = 0; first < elements_; first += most) {
        const int64_t count = std::min(most, elements_ - first);
        const std::vector<Call> calls = forward_block(noted, scratch, network, first, count);
        std::copy_n(calls.back().block.effort, count, efforts + first);
        std::copy_n(calls[calls.size() - stages_].block.effort, count, computed + first);
    }
}

inline void Gradients::back(const Noted& noted, const GradientArrays& arrays) {
    const int64_t most = network_ ? kBatch : kGradientBlock, inputs = kSignals + parameters_ + states_;
    Aligned<float> of_network, memory;
    NetworkInBlock network = network_in(of_network, noted, arrays);
    const Scratch scratch = scratch_in(memory);
    for (int64_t first = 0; first < elements_; first += most) {
        // gradients of results and inputs are accumulated
        std::fill_n(scratch.by_found, (found() + inputs) * kGradientBlock, 0.0f);
        back_block(noted, arrays, scratch, network, first, std::min(most, elements_ - first));
    }
    const int64_t numbers = arrays.numbers ? static_cast<int64_t>(network_->use.network->numbers.size()) : 0;
    for (int64_t k = 0; k < numbers * kRepeated; ++k) arrays.numbers[k / kRepeated] += network.by_numbers[k];
}

}  // namespace actuators
