// Laws forward and backward over a block of elements, compiled once per instruction set: generated laws on vectors, and
// on duals of vectors.
#include <utility>

#include "dual.h"
#include "lanes.h"
#include "law_in_block.h"
#include "variants.h"

namespace ACTUATORS_VARIANT {

using namespace actuators;

namespace {

// zero derivatives are only removed if everything is inlined
#if defined(__GNUC__)
#define EVERYTHING_INLINED __attribute__((flatten))
#else
#define EVERYTHING_INLINED
#endif

inline void store(Lanes lanes, float* to) {
    std::memcpy(to, &lanes, sizeof lanes);
}
inline void add(Lanes lanes, float* to) {
    store(load(to) + lanes, to);
}

template <class Law, class... Laws>
constexpr bool among(List<Laws...>) {
    return (std::is_same_v<Law, Laws> || ...);
}

// Motor signals of a transmission as a law that writes no state: all signals, or the true position and velocity, for
// which commands are zero.
template <class Law, int COUNT>
struct Motor {
    static constexpr int kResults = COUNT, kGives = COUNT, kLate = 0, kParameters = Law::kParameters,
                         kPrepared = Law::kPrepared, kStates = Law::kStates, kCurves = 0, kAsked = Law::kAsked;
    static constexpr const auto &kOver = Law::kOver, &kAsks = Law::kAsks;

    template <class V, class... More>
    static inline auto law(V q, V qd, V q_target, V qd_target, V feedforward, V, More... more) {
        return Law::template motor<V>(q, qd, q_target, qd_target, feedforward, more...);
    }
    template <class V, class... Numbers>
    static inline auto prepare(Numbers... numbers) {
        return Law::template prepare<V>(numbers...);
    }
};
template <class Law>
struct Motor<Law, 2> : Motor<Law, kSignals> {
    static constexpr int kResults = 2, kGives = 2;

    template <class V, class... More>
    static inline auto law(V q, V qd, V, More... more) {
        return Law::template motor<V>(q, qd, V{}, V{}, V{}, more...);
    }
};
template <class Law>
constexpr bool is_motor = false;
template <class Law, int COUNT>
constexpr bool is_motor<Motor<Law, COUNT>> = true;

// Order of the arguments of a law: effort, position and velocity of a stage, or the signals of other laws; then states,
// requested signals and parameters. The velocity always follows the position.
template <class Law>
struct Shape {
    static constexpr bool kController = among<Law>(Controllers{}), kStage = among<Law>(EffortStages{}),
                          kMotor = is_motor<Law>;
    // a sensor has two signals
    static constexpr int kGiven = kController ? kSignals
                                  : kStage    ? 3
                                  : kMotor    ? Law::kResults
                                              : 2,
                         kStates = kGiven, kAsked = kStates + Law::kStates, kParameters = kAsked + Law::kAsked,
                         kInputs = kParameters + Law::kParameters, kAtPosition = kStage ? 1 : 0;
    // number of states that it writes
    static constexpr int kWritten = kMotor ? 0 : Law::kStates;
    // index of the input of a curve
    static constexpr int over(int curve) { return kAtPosition + (Law::kOver[curve] == kOverPosition ? 0 : 1); }
};

// Value and slope of a curve.
struct Bend {
    Lanes value, slope;
};
inline Bend bend_at(Lanes x, const float* rows, int64_t count) {
    Lanes point = splat<Lanes>(rows[0]), value = splat<Lanes>(rows[1]), slope{};
    for (int64_t row = 0; row < count; ++row) {
        const float* const numbers = rows + 3 * row;
        const auto bend = curve_row<Lanes>(x, point, value, slope, splat<Lanes>(numbers[0]), splat<Lanes>(numbers[1]),
                                           splat<Lanes>(numbers[2]));
        point = bend.at[0], value = bend.at[1], slope = bend.at[2];
    }
    return {curve_value<Lanes>(x, point, value, slope), slope};
}
// Value of a curve of a law, and its slope by the input; the slope changes sign at negative velocities if the curve is
// over speed.
template <class Law>
inline Bend bend_of(int curve, Lanes input, const LawInBlock& b) {
    const bool speed = Law::kOver[curve] == kOverSpeed;
    Bend bend = bend_at(speed ? magnitude<Lanes>(input) : input, b.curves[curve], b.curve_rows[curve]);
    if (speed) bend.slope = pick(input < splat<Lanes>(0.0f), -bend.slope, bend.slope);
    return bend;
}

// Result of a law on numbers of any type; `input` returns an input by its index in `Shape`.
template <class Law, class D, class Input, class Curve, size_t... G, size_t... A, size_t... S, size_t... P, size_t... Q,
          size_t... C>
inline auto value_of(const Input& input, const D& dt, const Curve& curve, std::index_sequence<G...>,
                     std::index_sequence<A...>, std::index_sequence<S...>, std::index_sequence<P...>,
                     std::index_sequence<Q...>, std::index_sequence<C...>) {
    using At = Shape<Law>;
    const auto prepared = Law::template prepare<D>(input(At::kParameters + static_cast<int>(P))..., dt);
    return Law::template law<D>(input(static_cast<int>(G))..., dt, input(At::kAsked + static_cast<int>(A))...,
                                input(At::kStates + static_cast<int>(S))..., prepared.at[Q]...,
                                curve(std::integral_constant<int, C>{})...);
}

// `curve` returns the value of a curve by its index.
template <class Law, class D, class Input, class Curve>
inline auto value_of(const Input& input, const D& dt, const Curve& curve) {
    return value_of<Law, D>(input, dt, curve, std::make_index_sequence<Shape<Law>::kGiven>{},
                            std::make_index_sequence<Law::kAsked>{}, std::make_index_sequence<Law::kStates>{},
                            std::make_index_sequence<Law::kParameters>{}, std::make_index_sequence<Law::kPrepared>{},
                            std::make_index_sequence<Law::kCurves>{});
}

template <class Law>
inline const float* input_array(const LawInBlock& b, int k) {
    using At = Shape<Law>;
    if (k >= At::kAsked) return b.parameters[k - At::kAsked];
    if (k >= At::kStates) return b.states[k - At::kStates];
    if (!At::kStage) return b.signals[k];
    return k ? b.signals[k - 1] : b.given;
}
// Array that accumulates the gradient of an input.
template <class Law>
inline float* gradient_array(const LawInBlock& b, int k) {
    using At = Shape<Law>;
    if (k >= At::kAsked) return b.by_parameters[k - At::kAsked];
    if (k >= At::kStates) return b.by_states[k - At::kStates];
    if (!At::kStage) return b.by_signals[k];
    return k ? b.by_signals[k - 1] : b.by_effort;
}
// Array of an output, and its gradient.
template <class Law>
inline float* output_array(const LawInBlock& b, int r) {
    return Shape<Law>::kController || Shape<Law>::kStage ? b.effort : b.found[r];
}
template <class Law>
inline const float* output_gradient(const LawInBlock& b, int r) {
    return Shape<Law>::kController || Shape<Law>::kStage ? b.by_effort : b.by_found[r];
}

// True where the inputs of a law are good: the effort of a stage, all signals of other laws, and the requested signals.
template <class Law>
inline auto good_inputs(const LawInBlock& b, int64_t i) {
    using At = Shape<Law>;
    auto good = finite(load(input_array<Law>(b, 0) + i));
    if constexpr (!At::kStage)
        for (int k = 1; k < At::kGiven; ++k) good = good & finite(load(input_array<Law>(b, k) + i));
    for (int k = 0; k < Law::kAsked; ++k) {
        const auto x = load(input_array<Law>(b, At::kAsked + k) + i);
        good = good & (kUnbounded[Law::kAsks[k]] ? x >= splat<Lanes>(-kMax) : finite(x));
    }
    return good;
}

// True where its inputs, results and new states are good; see `store_state` in sweep.h.
template <class Law, class Value>
inline auto all_good(const LawInBlock& b, int64_t i, const Value& value) {
    auto good = good_inputs<Law>(b, i) & finite(value(0));
    for (int r = 1; r < Law::kResults + Shape<Law>::kWritten; ++r) good = good & finite(value(r));
    return good;
}

template <class Law>
void forward(const LawInBlock& b, int64_t size) {
    for (int64_t i = 0; i < size; i += kLanes) {
        const auto input = [&](int k) { return load(input_array<Law>(b, k) + i); };
        const auto curve = [&](auto n) { return bend_of<Law>(n, input(Shape<Law>::over(n)), b).value; };
        const auto found = value_of<Law, Lanes>(input, splat<Lanes>(b.dt), curve);
        const auto good = all_good<Law>(b, i, [&](int r) { return found.at[r]; });
        for (int r = 0; r < Law::kResults; ++r) store(nan_unless(good, found.at[r]), output_array<Law>(b, r) + i);
    }
}

// Inputs of a vector of elements, loaded before anything is written.
template <class Law>
struct Found {
    Lanes inputs[Shape<Law>::kInputs], dt;
    Bend bends[Law::kCurves + 1] = {};
};

// The law with the derivative by input `by`, -1 for none; an integral constant makes it a function of its own.
template <class Law, class By>
inline auto derive(const Found<Law>& in, const By by) {
    const auto input = [&](int k) {
        return k == by ? Dual<Lanes>{in.inputs[k], {splat<Lanes>(1.0f), false}} : Dual<Lanes>{in.inputs[k]};
    };
    const auto curve = [&](auto n) {
        const bool runs_over = Shape<Law>::over(decltype(n)::value) == by;
        return Dual<Lanes>{in.bends[n].value,
                           runs_over ? Derivative<Lanes>{in.bends[n].slope, false} : Derivative<Lanes>{}};
    };
    return value_of<Law, Dual<Lanes>>(input, Dual<Lanes>{in.dt}, curve);
}

// Derivatives of a law with more inputs run in a loop: as functions of their own they take too long to compile.
constexpr int kMostUnrolled = 14;
template <int K>
using Input = std::integral_constant<int, K>;

template <class Law, size_t... K>
EVERYTHING_INLINED void backward(const LawInBlock& b, int64_t size, std::index_sequence<K...>) {
    using At = Shape<Law>;
    const float* const from[] = {input_array<Law>(b, K)...};
    float* const to[] = {gradient_array<Law>(b, K)...};
    for (int64_t i = 0; i < size; i += kLanes) {
        Found<Law> in{{load(from[K] + i)...}, splat<Lanes>(b.dt)};
        for (int n = 0; n < Law::kCurves; ++n) in.bends[n] = bend_of<Law>(n, in.inputs[Shape<Law>::over(n)], b);
        const auto values = derive<Law>(in, Input<-1>{});
        const auto good = all_good<Law>(b, i, [&](int r) { return values.at[r].value; }) & finite(load(b.last + i));
        // gradients of results and new states
        constexpr int kResults = Law::kResults, kValues = kResults + At::kWritten;
        Lanes by[kValues];
        for (int r = 0; r < kValues; ++r)
            by[r] = load((r < kResults ? output_gradient<Law>(b, r) : b.by_states[r - kResults]) + i);
        const auto gradient = [&](const auto& found) {
            Derivative<Lanes> sum = found.at[0].d * by[0];
            for (int r = 1; r < kValues; ++r) sum = sum + found.at[r].d * by[r];
            return pick(good, sum, Derivative<Lanes>{});
        };
        Derivative<Lanes> found[sizeof...(K)];
        if constexpr (sizeof...(K) > kMostUnrolled)
            for (int k = 0; k < static_cast<int>(sizeof...(K)); ++k) found[k] = gradient(derive<Law>(in, k));
        else
            ((found[K] = gradient(derive<Law>(in, Input<static_cast<int>(K)>{}))), ...);
        const auto leave = [&](int k) {
            if (k >= At::kStates && k < At::kStates + At::kWritten)
                // a state that was not written is the previous state
                store(pick(good, found[k].by, by[kResults + k - At::kStates]), to[k] + i);
            else if (At::kStage && k == 0)
                store(found[k].by, to[k] + i);
            else if (!found[k].zero)
                add(found[k].by, to[k] + i);
        };
        (leave(static_cast<int>(K)), ...);
    }
}

template <class Law>
void backward(const LawInBlock& b, int64_t size) {
    backward<Law>(b, size, std::make_index_sequence<Shape<Law>::kInputs>{});
}

using Run = void (*)(const LawInBlock&, int64_t);

// The passes of a law.
struct Passes {
    Run forward = nullptr, backward = nullptr;
};

// Laws without an effort, those of commands, and those whose results act late, have no gradient, see
// `require_gradients` in engine/gradients/actuator_gradients.py.
template <class Law>
constexpr Passes passes() {
    if constexpr (Law::kGives > 0 && Law::kGives != kCommands && Law::kLate == 0) return {forward<Law>, backward<Law>};
    return {};
}
template <class Law, int COUNT>
constexpr Passes motor_passes() {
    if constexpr (Law::kConverts) return passes<Motor<Law, COUNT>>();
    return {};
}

// The list may be empty.
template <class... Laws>
Passes passes_of(List<Laws...>, int law) {
    static constexpr Passes all[] = {passes<Laws>()..., {}};
    return all[law];
}
template <int COUNT, class... Laws>
Passes motor_passes_of(List<Laws...>, int law) {
    static constexpr Passes all[] = {motor_passes<Laws, COUNT>()...};
    return all[law];
}

Passes passes_of(LawFunction function, int law) {
    if (function == LawFunction::kController) return passes_of(Controllers{}, law);
    if (function == LawFunction::kStage) return passes_of(EffortStages{}, law);
    if (function == LawFunction::kSensor) return passes_of(Feedbacks{}, law);
    return function == LawFunction::kCommandedMotor ? motor_passes_of<kSignals>(EffortStages{}, law)
                                                    : motor_passes_of<2>(EffortStages{}, law);
}

// A function and its derivatives, on a number or a vector.
template <class Function, class V, size_t... K>
void function_at(const float* const* in, float* const* out, int64_t i, std::index_sequence<K...>) {
    V x[sizeof...(K)];
    for (size_t k = 0; k < sizeof...(K); ++k) std::memcpy(&x[k], in[k] + i, sizeof(V));
    const V value = Function::value(x[K]...);
    std::memcpy(out[0] + i, &value, sizeof(V));
    const auto slope = [&](size_t by) {
        const auto found =
            Function::value(Dual<V>{x[K], K == by ? Derivative<V>{splat<V>(1.0f), false} : Derivative<V>{}}...);
        std::memcpy(out[1 + by] + i, &found.d.by, sizeof(V));
    };
    (slope(K), ...);
}

template <class Function>
void function_over(const float* const* in, float* const* out, int64_t size) {
    const std::make_index_sequence<Function::kArguments> arguments;
    int64_t i = 0;
    for (; i + kLanes <= size; i += kLanes) function_at<Function, Lanes>(in, out, i, arguments);
    for (; i < size; ++i) function_at<Function, float>(in, out, i, arguments);
}

template <class... All>
std::vector<FunctionFacts> function_facts(List<All...>) {
    return {{All::kName, All::kArguments, function_over<All>}...};
}

}  // namespace

std::vector<FunctionFacts> functions() {
    return function_facts(Functions{});
}

void law_forward(LawFunction function, int law, const LawInBlock& block, int64_t size) {
    passes_of(function, law).forward(block, size);
}

void law_backward(LawFunction function, int law, const LawInBlock& block, int64_t size) {
    passes_of(function, law).backward(block, size);
}

}  // namespace ACTUATORS_VARIANT
