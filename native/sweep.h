// Law and limits over the elements of a block: one loop, generated from the laws by templates.
//
// Common sequences of limits run in one sweep; others run one by one through scratch memory, with the same laws and
// bit-identical results. A result that is not finite becomes NaN after the law and after each limit, and every law
// propagates NaN: a limit never turns a bad effort into a good one.
#pragma once
#include <tuple>
#include <utility>

#include "first.h"
#include "generated_laws.h"
#include "late.h"
#include "loops.h"
#include "problem.h"

namespace ACTUATORS_VARIANT {

using namespace actuators;

// Common combinations, in canonical order. Laws that are not listed get their own sweep.
using UsualLaws = List<ControllerPD, ControllerPID>;
using UsualLimits =
    List<List<ClampingMaxEffort>, List<ClampingDCMotor>, List<ClampingPositionBased>,
         List<ClampingDCMotor, ClampingMaxEffort>, List<ClampingPositionBased, ClampingMaxEffort>,
         List<ClampingDCMotor, ClampingPositionBased>, List<ClampingDCMotor, ClampingPositionBased, ClampingMaxEffort>>;

// Stands for a law if efforts are given.
struct Given {
    static constexpr int kStates = 0;
};

// ---- loops

// Fewer elements than this are a short loop. Vectors of such loops are short: of the 12 joints of a robot none is left
// over for a loop without vectors.
constexpr int64_t kShort = 16;

// A loop over `count` elements, `Loop::over(count, more...)`.
template <class Loop, class... More>
FLATTENED auto in_long_vectors(int64_t count, More... more) {
    return Loop::over(count, more...);
}
template <class Loop, class... More>
FLATTENED SHORT_VECTORS auto in_short_vectors(int64_t count, More... more) {
    return Loop::over(count, more...);
}
template <class Loop, class... More>
auto loop(int64_t count, More... more) {
    return count < kShort ? in_short_vectors<Loop>(count, more...) : in_long_vectors<Loop>(count, more...);
}

// ---- indices of laws

template <class Law, class... Laws>
constexpr int number_in(List<Laws...>) {
    int number = -1, at = 0;
    ((number = std::is_same_v<Law, Laws> ? at : number, ++at), ...);
    return number;
}

template <class Law>
constexpr bool is_controller = number_in<Law>(Controllers{}) >= 0;

// True if the loop of a law saves its state before the step, which a fault of a later stage restores. What follows all
// limits is usually the last stage, whose state nothing restores.
template <class Law>
constexpr bool keeps_state = Law::kStates > 0 && !Law::kFollows && !is_controller<Law>;

// ---- arguments of a law

// Array of a prepared parameter of a law.
inline const float* taken(const Use& use, int k, const Block& b) {
    return use.in_scratch && use.scratch[k] >= 0 ? b.derived + use.scratch[k] * b.pitch : use.rows[k].at(b.first);
}

// Array of a signal that a law asks for.
inline const float* asked(const Use& use, int k, const Block& b) {
    return use.felt[k] ? b.derived + use.felt[k] * b.pitch : use.asked[k] + b.first;
}

// Arrays that a law reads and writes in a block; `kept` are those in which it saves its states.
template <class Law>
struct Arrays {
    static constexpr int kTaken = Law::kPrepared + Law::kCurves;
    const float* taken[kTaken ? kTaken : 1];
    float* state[Law::kStates ? Law::kStates : 1];
    float* kept[Law::kStates ? Law::kStates : 1] = {};
    const float* asked[Law::kAsked ? Law::kAsked : 1];
    Arrays(const Use& use, const Block& b) {
        for (int k = 0; k < Law::kPrepared; ++k) taken[k] = use.rows[k].at(b.first);
        for (int k = 0; use.in_scratch && k < Law::kPrepared; ++k) taken[k] = ACTUATORS_VARIANT::taken(use, k, b);
        for (int k = 0; k < Law::kCurves; ++k) taken[Law::kPrepared + k] = b.derived + (use.curve + k) * b.pitch;
        for (int k = 0; k < Law::kStates; ++k) state[k] = use.state[k] + b.first_robot * use.slots;
        for (int k = 0; keeps_state<Law> && k < Law::kStates; ++k)
            kept[k] = b.kept + (use.kept_at + k * use.slots) * b.robots;
        for (int k = 0; k < Law::kAsked; ++k) asked[k] = ACTUATORS_VARIANT::asked(use, k, b);
    }
};
template <>
struct Arrays<Given> {};

// Signals of a block, and its efforts before limits.
struct Inputs {
    const float *q, *qd, *q_target, *qd_target, *feedforward, *given, *dt;
    explicit Inputs(const Block& b)
        : q(b.input[kPosition]),
          qd(b.input[kVelocity]),
          q_target(b.input[kPositionTarget]),
          qd_target(b.input[kVelocityTarget]),
          feedforward(b.input[kFeedforward]),
          given(b.given),
          dt(b.dt) {}
};

template <class Law, size_t... A, size_t... S, size_t... T>
inline auto law_at(const Inputs& in, const Arrays<Law>& own, int64_t i, int64_t k, float dt, std::index_sequence<A...>,
                   std::index_sequence<S...>, std::index_sequence<T...>) {
    return Law::law(in.q[i], in.qd[i], in.q_target[i], in.qd_target[i], in.feedforward[i], dt, own.asked[A][i]...,
                    own.state[S][k]..., own.taken[T][i]...);
}

template <class Limit, size_t... A, size_t... S, size_t... T>
inline auto limit_at(float effort, const Inputs& in, const Arrays<Limit>& own, int64_t i, int64_t k,
                     std::index_sequence<A...>, std::index_sequence<S...>, std::index_sequence<T...>) {
    return Limit::law(effort, in.q[i], in.qd[i], in.dt[i], own.asked[A][i]..., own.state[S][k]..., own.taken[T][i]...);
}

// True if all of `size` numbers are `value`.
inline bool all_are(const float* numbers, float value, int64_t size) {
    int32_t others = 0;
    for (int64_t i = 0; i < size; ++i) others |= static_cast<int32_t>(numbers[i] != value);
    return !others;
}

// Which values of a law are constants in its loop: none, those that cost much to compute with otherwise, or all usual
// ones. States that such values leave where they are rest: the loop does not touch them.
enum class Form { kGeneral, kCheap, kCommon, kUsual };

template <class Stage, Form FORM>
struct Constants;
template <class Stage>
struct Constants<Stage, Form::kCheap> {
    static constexpr bool kExist = Stage::kHasCostly;
    static constexpr auto &kTaken = Stage::kCostly, &kAsked = Stage::kCostlyAsked;
    static constexpr uint32_t kResting = Stage::kResting[0];
};
template <class Stage>
struct Constants<Stage, Form::kCommon> {
    static constexpr bool kExist = Stage::kHasCommon;
    static constexpr auto &kTaken = Stage::kCommon, &kAsked = Stage::kCommonAsked;
    static constexpr uint32_t kResting = Stage::kResting[1];
};
template <class Stage>
struct Constants<Stage, Form::kUsual> {
    static constexpr bool kExist = Stage::kHasUsual;
    static constexpr auto &kTaken = Stage::kUsual, &kAsked = Stage::kUsualAsked;
    static constexpr uint32_t kResting = Stage::kResting[2];
};

constexpr bool is_none(float constant) {
    return constant != constant;
}

// True if the parameters of a block have the constants of a form. What robots share is known beforehand.
template <class Stage, Form FORM, size_t... K>
inline bool have_taken(const Use& use, const Block& b, std::index_sequence<K...>) {
    constexpr auto& taken = Constants<Stage, FORM>::kTaken;
    if (!(use.shared_forms >> static_cast<int>(FORM) & 1)) return false;
    return use.all_shared ||
           ((is_none(taken[K]) || use.is_shared(K) || all_are(ACTUATORS_VARIANT::taken(use, K, b), taken[K], b.size)) &&
            ...);
}

// True if a block has the constants of a form.
template <class Stage, Form FORM, size_t... K, size_t... A>
inline bool have_constants(const Use& use, const Block& b, std::index_sequence<K...> parameters,
                           std::index_sequence<A...>) {
    constexpr auto& constants = Constants<Stage, FORM>::kAsked;
    return have_taken<Stage, FORM>(use, b, parameters) &&
           ((is_none(constants[A]) || (use.is_still[A] && constants[A] == 0.0f) ||
             all_are(asked(use, A, b), constants[A], b.size)) &&
            ...);
}
template <class Stage, Form FORM>
inline bool have_constants(const Use& use, const Block& b) {
    return have_constants<Stage, FORM>(use, b, std::make_index_sequence<Stage::kPrepared>{},
                                       std::make_index_sequence<Stage::kAsked>{});
}

template <Form FORM>
using FormConstant = std::integral_constant<Form, FORM>;

// True if the states that a form leaves alone rest: a step in the general form has brought them there, see
// `Use::rests`.
template <class Stage>
inline bool at_rest(const Use& use, const Block& b, Form form) {
    if constexpr (Stage::kResting[2] == 0) return true;
    uint8_t& rest = use.rests[b.number];
    const auto number = static_cast<uint8_t>(form);
    const bool rests = rest >> 1 == number;
    rest = static_cast<uint8_t>(number << 1 | rests);
    return rests;
}

// Call with the form that has the most constants of those that a block has, up to `FORM`.
template <class Stage, Form FORM = Form::kUsual, class Run>
inline auto with_constants(const Use& use, const Block& b, const Run& run) {
    if constexpr (FORM == Form::kGeneral) {
        at_rest<Stage>(use, b, FORM);
        return run(FormConstant<FORM>{});
    } else {
        if constexpr (Constants<Stage, FORM>::kExist)
            if (have_constants<Stage, FORM>(use, b))
                return at_rest<Stage>(use, b, FORM) ? run(FormConstant<FORM>{}) : run(FormConstant<Form::kGeneral>{});
        return with_constants<Stage, static_cast<Form>(static_cast<int>(FORM) - 1)>(use, b, run);
    }
}

template <class Law>
using Asked = std::make_index_sequence<Law::kAsked>;
template <class Law>
using States = std::make_index_sequence<Law::kStates>;
template <class Law>
using Taken = std::make_index_sequence<Arrays<Law>::kTaken>;

// True if all results and the next state of a law are finite.
template <class Law, class Result>
inline bool is_good(const Result& found) {
    bool good = true;
    for (int r = 0; r < Law::kResults + Law::kStates; ++r) good = good & finite(found.at[r]);
    return good;
}

// Add all results and the next state of a law.
template <class Result, size_t... R>
inline void add_results(Finite& all, const Result& found, std::index_sequence<R...>) {
    all.add(found.at[R]...);
}
template <class Law, class Result>
inline void add_results(Finite& all, const Result& found) {
    add_results(all, found, std::make_index_sequence<Law::kResults + Law::kStates>{});
}

// True if a requested signal has a valid value.
inline bool signal_is_good(int signal, float value) {
    return kUnbounded[signal] ? value >= -kMax : finite(value);
}
inline void add_signal(Finite& all, int signal, float value) {
    all.add(kUnbounded[signal] && value > kMax ? kMax : value);
}

// True if the requested signals of a law are good.
template <class Law>
inline bool asked_is_good(const Arrays<Law>& own, int64_t i) {
    bool good = true;
    for (int k = 0; k < Law::kAsked; ++k) good = good & signal_is_good(Law::kAsks[k], own.asked[k][i]);
    return good;
}

// Write the next state if `good`.
template <class Law, class Result>
inline void store_state(const Result& found, bool good, const Arrays<Law>& own, int64_t k) {
    for (int s = 0; s < Law::kStates; ++s) own.state[s][k] = chosen(good, found.at[Law::kResults + s], own.state[s][k]);
}

// Write the next state where all is finite.
template <class Law, class Kept>
inline void write_state(const Finite& all, float next, float* state, Kept kept) {
    if constexpr (keeps_state<Law>) *kept = *state;
    *state = all.chosen(next, *state);
}

// An effort before the guard.
struct Raw {
    float effort;
    bool good;
};

// True if the results of a law for element `i` and all signals are good.
template <class Law, class Result>
inline bool is_good(const Result& found, const Inputs& in, const Arrays<Law>& own, int64_t i) {
    bool good = is_good<Law>(found) & asked_is_good(own, i);
    // signals that the law does not read must be good, too
    if constexpr (!Law::kReads[kPosition]) good = good & finite(in.q[i]);
    if constexpr (!Law::kReads[kVelocity]) good = good & finite(in.qd[i]);
    if constexpr (!Law::kReads[kPositionTarget]) good = good & finite(in.q_target[i]);
    if constexpr (!Law::kReads[kVelocityTarget]) good = good & finite(in.qd_target[i]);
    if constexpr (!Law::kReads[kFeedforward]) good = good & finite(in.feedforward[i]);
    return good;
}

// Effort of a law for element `i`, the `k`-th element of the law; writes the state.
template <class Law>
inline Raw effort_of(const Inputs& in, const Arrays<Law>& own, int64_t i, int64_t k, float dt) {
    const auto found = law_at<Law>(in, own, i, k, dt, Asked<Law>{}, States<Law>{}, Taken<Law>{});
    const bool good = is_good<Law>(found, in, own, i);
    store_state<Law>(found, good, own, k);
    return {found.at[0], good};
}
template <>
inline Raw effort_of<Given>(const Inputs& in, const Arrays<Given>&, int64_t i, int64_t, float) {
    return {in.given[i], finite(in.given[i])};
}

template <class Law>
constexpr bool has_state = Law::kStates > 0;
template <>
constexpr bool has_state<Given> = false;

// True if an effort may be finite without being good.
template <class Law>
constexpr bool may_hide = Law::kStates > 0 || Law::kAsked > 0 ||
                          !(Law::kReads[0] && Law::kReads[1] && Law::kReads[2] && Law::kReads[3] && Law::kReads[4]);
template <>
constexpr bool may_hide<Given> = false;

// Effort after some limits; the last one is not guarded yet.
inline Raw limited(Raw raw, const Inputs&, int64_t) {
    return raw;
}
template <class Limit, class... More>
inline Raw limited(Raw raw, const Inputs& in, int64_t i, const Arrays<Limit>& own, const Arrays<More>&... more) {
    const float effort = nan_unless(raw.good, raw.effort);
    float result = limit_at<Limit>(effort, in, own, i, i, Asked<Limit>{}, States<Limit>{}, Taken<Limit>{}).at[0];
    if constexpr (Limit::kAsked > 0) result = nan_unless(asked_is_good(own, i), result);
    return limited({result, finite(result)}, in, i, more...);
}

// ---- sweeps

template <class Law, bool MASKED, class... Limits>
inline bool swept(const Block& b, const Arrays<Law> law, const Arrays<Limits>... limits) {
    const Inputs in(b);
    const int32_t* RESTRICT driven = b.driven;
    float* RESTRICT out = b.efforts;
    const int64_t size = b.size;
    int32_t bad = 0;
    INDEPENDENT
    for (int64_t i = 0; i < size; ++i) {
        Raw raw;
        if constexpr (has_state<Law> && sizeof...(Limits) > 0) {
            // a fault of a limit keeps the state
            const auto found = law_at<Law>(in, law, i, i, in.dt[i], Asked<Law>{}, States<Law>{}, Taken<Law>{});
            raw = limited({found.at[0], is_good<Law>(found, in, law, i)}, in, i, limits...);
            store_state<Law>(found, finite(raw.effort), law, i);
        } else {
            raw = limited(effort_of<Law>(in, law, i, i, in.dt[i]), in, i, limits...);
        }
        if constexpr (may_hide<Law> && sizeof...(Limits) == 0) raw.effort = nan_unless(raw.good, raw.effort);
        const auto [effort, good] = raw;
        // a bitwise OR of bools: clang does not vectorize a choice between 0 and -1
        if constexpr (MASKED) {
            bad |= driven[i] & static_cast<int32_t>(!good);
            if (driven[i]) out[i] = effort;
        } else {
            bad |= static_cast<int32_t>(!good);
            out[i] = effort;
        }
    }
    return bad != 0;
}

// Arrays of the law that all elements have.
template <class Law>
inline Arrays<Law> arrays_of_all(const Problem& p, const Block& b) {
    if constexpr (std::is_same_v<Law, Given>)
        return {};
    else
        return {p.controllers[p.route.law_of_all], b};
}

// A sweep of a short loop; a longer one is faster where it is called.
template <class Law, bool MASKED, class... Limits>
NOINLINE FLATTENED SHORT_VECTORS bool short_swept(const Block& b, const Arrays<Law> law,
                                                  const Arrays<Limits>... limits) {
    return swept<Law, MASKED, Limits...>(b, law, limits...);
}

template <class Law, bool MASKED, class... Limits, size_t... N>
FLATTENED bool sweep_numbered(const Problem& p, const Block& b, std::index_sequence<N...>) {
    const Arrays<Law> law = arrays_of_all<Law>(p, b);
    if (b.size < kShort)
        return short_swept<Law, MASKED, Limits...>(b, law, Arrays<Limits>(p.limits[b.limit + N], b)...);
    return swept<Law, MASKED, Limits...>(b, law, Arrays<Limits>(p.limits[b.limit + N], b)...);
}

template <class Law, bool MASKED, class... Limits>
bool sweep(const Problem& p, const Block& b) {
    return sweep_numbered<Law, MASKED, Limits...>(p, b, std::index_sequence_for<Limits...>{});
}

// In the place of an array that a loop does not touch.
struct Nothing {};

// The loop of a stateful stage: `at(n)` is the position of its `n`-th element. Arrays are arguments of their own, and
// all is inlined: compilers do not vectorize a loop over arrays in a struct, nor one with calls. A stage keeps its
// state if its input or result is not finite.
template <class Stage, Form FORM, class A, class S, class T>
struct StageLoop;
template <size_t>
using Numbers = const float*;
template <size_t>
using State = float*;
template <class Stage, Form FORM, size_t... A, size_t... S, size_t... T>
struct StageLoop<Stage, FORM, std::index_sequence<A...>, std::index_sequence<S...>, std::index_sequence<T...>> {
    // The constant in the place of a parameter or a signal, NaN for none.
    template <size_t N>
    static constexpr float constant_taken() {
        if constexpr (FORM != Form::kGeneral && N < Stage::kPrepared)
            return Constants<Stage, FORM>::kTaken[N];
        else
            return kNaN;
    }
    template <size_t N>
    static constexpr float constant_asked() {
        if constexpr (FORM != Form::kGeneral)
            return Constants<Stage, FORM>::kAsked[N];
        else
            return kNaN;
    }
    template <size_t N>
    static constexpr bool rests() {
        if constexpr (FORM != Form::kGeneral)
            return Constants<Stage, FORM>::kResting >> N & 1;
        else
            return false;
    }
    template <size_t N, class Array>
    static float value_at(Array taken, int64_t i) {
        if constexpr (is_none(constant_taken<N>()))
            return taken[i];
        else
            return constant_taken<N>();
    }
    template <size_t N, class Array>
    static float asked_at(Array asked, int64_t i) {
        if constexpr (is_none(constant_asked<N>()))
            return asked[i];
        else
            return constant_asked<N>();
    }
    // a state that rests has no effect
    template <size_t N, class Array>
    static float state_at(Array state, int64_t n) {
        if constexpr (rests<N>())
            return 0.0f;
        else
            return state[n];
    }
    // a constant is finite
    template <size_t N, class Array>
    static void add_asked(Finite& all, Array asked, int64_t i) {
        if constexpr (is_none(constant_asked<N>())) add_signal(all, Stage::kAsks[N], asked[i]);
    }
    template <size_t N, class Result>
    static void add_state(Finite& all, const Result& found) {
        if constexpr (!rests<N>()) all.add(found.at[Stage::kResults + N]);
    }
    template <size_t N, class Result, class Array, class Kept>
    static void write(const Finite& all, const Result& found, Array state, Kept kept, int64_t n) {
        if constexpr (rests<N>())
            return;
        else if constexpr (keeps_state<Stage>)
            write_state<Stage>(all, found.at[Stage::kResults + N], state + n, kept + n);
        else
            write_state<Stage>(all, found.at[Stage::kResults + N], state + n, kept);
    }

    // The law of an element; in two turns, `kept` is where the value of the first is.
    template <bool FIRST, class... More>
    static auto in_turn(float* kept, More... more) {
        const auto found = Stage::law(LoopNumber<FIRST>{more, kept, true}...);
        Values<float, Stage::kResults + Stage::kStates> values;
        for (int r = 0; r < Stage::kResults + Stage::kStates; ++r) values.at[r] = found.at[r].value;
        return values;
    }
    template <class... More>
    static auto law(float* kept, More... more) {
        if constexpr (Stage::kFirst > 0)
            return in_turn<false>(kept, more...);
        else
            return Stage::law(more...);
    }

    // Types of the arrays that the loop touches.
    template <size_t N>
    using AskedArray = std::conditional_t<is_none(constant_asked<N>()), const float*, Nothing>;
    template <size_t N>
    using TakenArray = std::conditional_t<is_none(constant_taken<N>()), const float*, Nothing>;
    template <size_t N>
    using StateArray = std::conditional_t<rests<N>(), Nothing, float*>;
    template <size_t N>
    using KeptArray = std::conditional_t<rests<N>() || !keeps_state<Stage>, Nothing, float*>;

    template <size_t N>
    static AskedArray<N> asked_array(const Use& use, const Block& b) {
        if constexpr (is_none(constant_asked<N>()))
            return asked(use, N, b);
        else
            return {};
    }
    template <size_t N>
    static TakenArray<N> taken_array(const Use& use, const Block& b) {
        if constexpr (!is_none(constant_taken<N>()))
            return {};
        else if constexpr (N < Stage::kPrepared)
            return taken(use, N, b);
        else
            return b.derived + (use.curve + N - Stage::kPrepared) * b.pitch;
    }
    template <size_t N>
    static StateArray<N> state_array(const Use& use, const Block& b) {
        if constexpr (rests<N>())
            return {};
        else
            return use.state[N] + b.first_robot * use.slots;
    }
    template <size_t N>
    static KeptArray<N> kept_array(const Use& use, const Block& b) {
        if constexpr (rests<N>() || !keeps_state<Stage>)
            return {};
        else
            return b.kept + (use.kept_at + N * use.slots) * b.robots;
    }

    // The first of two loops, see first.h.
    template <class At>
    FLATTENED static void run_first(int64_t count, const At at, const float* given, float* kept, const float* q,
                                    const float* qd, float dt, AskedArray<A>... asked, StateArray<S>... state,
                                    TakenArray<T>... taken) {
        INDEPENDENT
        for (int64_t n = 0; n < count; ++n) {
            const int64_t i = at(n);
            in_turn<true>(kept + n, given[n], q[i], qd[i], dt, asked_at<A>(asked, i)..., state_at<S>(state, n)...,
                          value_at<T>(taken, i)...);
        }
    }

    // `given` and `out` in the order of `at`; true if any result is bad
    template <class At>
    static bool over(int64_t count, const At at, const float* given, float* out, float* lag, const float* q,
                     const float* qd, float dt, AskedArray<A>... asked, StateArray<S>... state, KeptArray<S>... kept,
                     TakenArray<T>... taken) {
        int32_t bad = 0;
        INDEPENDENT
        for (int64_t n = 0; n < count; ++n) {
            const int64_t i = at(n);
            const auto result = law(lag + n, given[n], q[i], qd[i], dt, asked_at<A>(asked, i)...,
                                    state_at<S>(state, n)..., value_at<T>(taken, i)...);
            Finite all;
            all.add(given[n]);
            (add_asked<A>(all, asked, i), ...);
            add_results(all, result, std::make_index_sequence<Stage::kResults>{});
            (add_state<S>(all, result), ...);
            (write<S>(all, result, state, kept, n), ...);
            out[n] = all.or_nan(Stage::kGives ? result.at[0] : given[n]);
            if constexpr (Stage::kLate > 0) lag[n] = result.at[Stage::kGives];
            bad |= all.mask();
        }
        return bad != 0;
    }

    template <class At>
    static bool run(const Problem& p, const Block& b, const Use& use, int64_t count, const At at, const float* given,
                    float* out) {
        static_assert(!Stage::kFirst || (Stage::kFirst == 1 && !Stage::kLate), "one array for either");
        if constexpr (Stage::kFirst > 0)
            run_first(count, at, given, b.lag, b.input[kPosition], b.input[kVelocity], p.dt, asked_array<A>(use, b)...,
                      state_array<S>(use, b)..., taken_array<T>(use, b)...);
        return loop<StageLoop>(count, at, given, out, b.lag, b.input[kPosition], b.input[kVelocity], p.dt,
                               asked_array<A>(use, b)..., state_array<S>(use, b)..., kept_array<S>(use, b)...,
                               taken_array<T>(use, b)...);
    }
};

template <class Stage, class At>
bool run_stage(const Problem& p, const Block& b, const Use& use, int64_t count, const At at, const float* given,
               float* out) {
    static_assert(Stage::kResting[2] == 0 || !Stage::kGives, "others run in several ways");
    // elements without the stage have neutral values, which are usual ones
    const bool bad = with_constants<Stage>(use, b, [&](auto form) {
        return StageLoop<Stage, form(), Asked<Stage>, States<Stage>, Taken<Stage>>::run(p, b, use, count, at, given,
                                                                                        out);
    });
    if (bad) disturb(use, b.number);
    return bad;
}

// A stateful stage that all elements have.
template <class Stage>
bool stage_sweep(const Problem& p, const Block& b) {
    return run_stage<Stage>(p, b, p.limits[b.limit], b.size, [](int64_t n) { return n; }, b.given, b.efforts);
}

// Find the fused sweep of a law with a sequence of limits; returns true if it matches.
template <class Law, bool MASKED, class... Limits>
bool offer(List<Limits...>, const Use* limits, int count, Sweep& found) {
    if (count != static_cast<int>(sizeof...(Limits))) return false;
    const int numbers[] = {number_in<Limits>(EffortStages{})..., -1};
    for (int k = 0; k < count; ++k)
        if (limits[k].law != numbers[k]) return false;
    found = sweep<Law, MASKED, Limits...>;
    return true;
}

template <class Law, bool MASKED, class... Usual>
Sweep find_fused(List<Usual...>, const Use* limits, int count) {
    Sweep found = nullptr;
    (void)(offer<Law, MASKED>(Usual{}, limits, count, found) || ...);
    return found;
}

// Sweep of limits without a law: a common sequence, or a single limit.
template <bool MASKED, class... All>
Sweep find_limits(List<All...>, const Use* limits, int count) {
    if (!count) return sweep<Given, MASKED>;
    if (Sweep fused = find_fused<Given, MASKED>(UsualLimits{}, limits, count)) return fused;
    Sweep found = nullptr;
    const auto alone = [&](auto one) {
        using Limit = typename decltype(one)::type;
        if constexpr (Limit::kStates + Limit::kLate == 0)
            offer<Given, MASKED>(List<Limit>{}, limits, count, found);
        else if constexpr (!MASKED)
            if (count == 1 && limits[0].law == number_in<Limit>(EffortStages{})) found = stage_sweep<Limit>;
    };
    (alone(std::common_type<All>{}), ...);
    return found;
}

// Sweep of a law with common limits, or without limits.
template <bool MASKED, class... Laws>
Sweep find_whole(List<Laws...>, int law, const Use* limits, int count) {
    Sweep found = nullptr;
    const auto with = [&](auto one) {
        using Law = typename decltype(one)::type;
        if (number_in<Law>(Controllers{}) != law) return;
        if (!count) found = sweep<Law, MASKED>;
        if constexpr (number_in<Law>(UsualLaws{}) >= 0) {
            if (count) found = find_fused<Law, MASKED>(UsualLimits{}, limits, count);
        }
    };
    (with(std::common_type<Laws>{}), ...);
    return found;
}

// True for a stage that depends on the position or velocity.
template <class... Stages>
bool moves_with_joint(List<Stages...>, int law) {
    static constexpr bool all[] = {
        (Stages::kCurves > 0 || Stages::kStates > 0 || Stages::kReads[1] || Stages::kReads[2])...};
    return all[law];
}

// ---- gather and scatter

// A law on some elements: results are stored in `found`, then scattered. Without ONE_STEP, controllers have time steps
// of their own.
template <class Law, bool ONE_STEP>
void law_by_places(const Problem& p, const Block& b, const Use& use, float* RESTRICT efforts) {
    const int64_t count = b.robots * use.slots;
    const int32_t* RESTRICT places = use.places;
    const Inputs in(b);
    const Arrays<Law> own(use, b);
    float* RESTRICT found = b.found;
    const float dt = p.dt;
    INDEPENDENT
    for (int64_t k = 0; k < count; ++k) {
        const Raw raw = effort_of<Law>(in, own, places[k], k, ONE_STEP ? dt : in.dt[places[k]]);
        found[k] = nan_unless(raw.good, raw.effort);
    }
    for (int64_t k = 0; k < count; ++k) efforts[places[k]] = found[k];
}

// A stage on some elements.
template <class Stage>
void stage_by_places(const Problem& p, const Block& b, const Use& use, float* RESTRICT efforts) {
    const int64_t count = b.robots * use.slots;
    const int32_t* RESTRICT places = use.places;
    float* RESTRICT found = b.found;
    for (int64_t n = 0; n < count; ++n) found[n] = efforts[places[n]];
    run_stage<Stage>(p, b, use, count, [places](int64_t n) -> int64_t { return places[n]; }, found, found);
    for (int64_t n = 0; n < count; ++n) efforts[places[n]] = found[n];
}

// Call with the position in the block of each element of a law.
template <class Run>
void over_elements(const Problem& p, const Use& use, const Run& run) {
    const int32_t* const places = use.places;
    if (use.every && p.layout != Layout::kGaps)
        run([](int64_t n) { return n; });
    else
        run([places](int64_t n) -> int64_t { return places[n]; });
}

// The loop of a law before controllers, see `StageLoop`: sensed positions and velocities, or the lag of commands; NaN
// and unchanged state on a fault.
template <class Law, Form FORM, class A, class S, class T>
struct SensorLoop;
template <class Law, Form FORM, size_t... A, size_t... S, size_t... T>
struct SensorLoop<Law, FORM, std::index_sequence<A...>, std::index_sequence<S...>, std::index_sequence<T...>> {
    using Loop = StageLoop<Law, FORM, std::index_sequence<A...>, std::index_sequence<S...>, std::index_sequence<T...>>;

    template <class... Rest>
    static auto sensed(float q, float qd, float dt, Rest... rest) {
        if constexpr (Law::kGives > 0)
            return Law::law(q, qd, dt, rest...);
        else
            return Law::law(dt, rest...);
    }

    template <class At>
    static void over(int64_t count, const At at, const float* q, const float* qd, const float* dt,
                     float* RESTRICT positions, float* RESTRICT velocities, float* RESTRICT lag, Numbers<A>... asked,
                     State<S>... state, State<S>... kept, Numbers<T>... taken) {
        INDEPENDENT
        for (int64_t n = 0; n < count; ++n) {
            const int64_t i = at(n);
            const auto found = sensed(q[i], qd[i], dt[i], Loop::template asked_at<A>(asked, i)..., state[n]...,
                                      Loop::template value_at<T>(taken, i)...);
            Finite all;
            if constexpr (Law::kGives > 0) all.add(q[i], qd[i]);
            (Loop::template add_asked<A>(all, asked, i), ...);
            add_results<Law>(all, found);
            (write_state<Law>(all, found.at[Law::kResults + S], state + n, kept + n), ...);
            if constexpr (Law::kGives > 0) {
                positions[i] = all.or_nan(found.at[0]);
                velocities[i] = all.or_nan(found.at[1]);
            }
            if constexpr (Law::kLate > 0) lag[n] = all.or_nan(found.at[Law::kGives]);
        }
    }

    template <class At>
    static void run(const Block& b, const Use& use, const Arrays<Law>& own, const At at, float* out) {
        loop<SensorLoop>(b.robots * use.slots, at, b.input[kPosition], b.input[kVelocity], b.dt, out, out + b.pitch,
                         b.lag, own.asked[A]..., own.state[S]..., own.kept[S]..., own.taken[T]...);
    }
};

// The loop of a law of commands, see `StageLoop`: commands that it replaces, of what sensors measured; NaN and
// unchanged state on a fault.
template <class Law, Form FORM, class A, class S, class T>
struct CommandLoop;
template <class Law, Form FORM, size_t... A, size_t... S, size_t... T>
struct CommandLoop<Law, FORM, std::index_sequence<A...>, std::index_sequence<S...>, std::index_sequence<T...>> {
    using Loop = StageLoop<Law, FORM, std::index_sequence<A...>, std::index_sequence<S...>, std::index_sequence<T...>>;

    template <class At>
    static void over(int64_t count, const At at, const float* q, const float* qd, const float* dt,
                     float* RESTRICT q_target, float* RESTRICT qd_target, float* RESTRICT feedforward,
                     Numbers<A>... asked, State<S>... state, State<S>... kept, Numbers<T>... taken) {
        INDEPENDENT
        for (int64_t n = 0; n < count; ++n) {
            const int64_t i = at(n);
            const float third = q_target[i], fourth = qd_target[i], last = feedforward[i];
            const auto found =
                Law::law(q[i], qd[i], third, fourth, last, dt[i], Loop::template asked_at<A>(asked, i)..., state[n]...,
                         Loop::template value_at<T>(taken, i)...);
            Finite all;
            all.add(q[i], qd[i], third, fourth, last);
            (Loop::template add_asked<A>(all, asked, i), ...);
            add_results<Law>(all, found);
            (write_state<Law>(all, found.at[Law::kResults + S], state + n, kept + n), ...);
            q_target[i] = all.or_nan(found.at[0]);
            qd_target[i] = all.or_nan(found.at[1]);
            feedforward[i] = all.or_nan(found.at[2]);
        }
    }

    template <class At>
    static void run(const Problem& p, const Block& b, const Use& use, const Arrays<Law>& own, const At at, float* out) {
        const bool* const sensed = p.route.replaced[use.at_motor].any;
        loop<CommandLoop>(b.robots * use.slots, at, sensed[kPosition] ? out : b.input[kPosition],
                          sensed[kVelocity] ? out + b.pitch : b.input[kVelocity], b.dt, out + kPositionTarget * b.pitch,
                          out + kVelocityTarget * b.pitch, out + kFeedforward * b.pitch, own.asked[A]...,
                          own.state[S]..., own.kept[S]..., own.taken[T]...);
    }
};

template <class Law>
void feedback_by_places(const Problem& p, const Block& b, const Use& use, float* out) {
    const Arrays<Law> own(use, b);
    over_elements(p, use, [&](const auto at) {
        with_constants<Law>(use, b, [&](auto form) {
            if constexpr (Law::kGives == kCommands)
                CommandLoop<Law, form(), Asked<Law>, States<Law>, Taken<Law>>::run(p, b, use, own, at, out);
            else
                SensorLoop<Law, form(), Asked<Law>, States<Law>, Taken<Law>>::run(b, use, own, at, out);
        });
        if constexpr (Law::kLate > 0) {
            // what acts late follows the signals of the joint, for a delay
            float* values[kMostLate] = {};
            const int first = Law::kGives ? 0 : kPositionTarget;
            for (int r = 0; r < Law::kLate; ++r) values[r] = out + (first + r) * b.pitch;
            act_late(b, use, p.robots * use.slots, at, values);
        }
    });
}

template <class... Laws>
Places find_feedback(List<Laws...>, int law) {
    // the list may be empty
    static constexpr Places all[] = {feedback_by_places<Laws>..., nullptr};
    return all[law];
}

// The loop of a transmission, see `StageLoop`: motor signals of its elements, NaN on a fault. All signals for the
// controller, or position and velocity for the other stages before the transmission.
template <class Law, bool COMMANDED, class A, class S, class T>
struct MotorLoop;
template <class Law, bool COMMANDED, size_t... A, size_t... S, size_t... T>
struct MotorLoop<Law, COMMANDED, std::index_sequence<A...>, std::index_sequence<S...>, std::index_sequence<T...>> {
    // A state that is unknown after a reset is so where a sensor of the joint hides it.
    template <size_t N>
    static float known(float state, int32_t is_visible) {
        if constexpr (COMMANDED && Law::kUnset[N]) return nan_unless(is_visible != 0, state);
        return state;
    }

    template <class At>
    FLATTENED static void run(int64_t count, const At at, const float* q, const float* qd, const float* q_target,
                              const float* qd_target, const float* feedforward, float* RESTRICT out_q,
                              float* RESTRICT out_qd, float* RESTRICT out_q_target, float* RESTRICT out_qd_target,
                              float* RESTRICT out_feedforward, const int32_t* visible, Numbers<A>... asked,
                              Numbers<S>... state, Numbers<T>... taken) {
        INDEPENDENT
        for (int64_t k = 0; k < count; ++k) {
            const int64_t i = at(k);
            const float third = COMMANDED ? q_target[i] : 0.0f, fourth = COMMANDED ? qd_target[i] : 0.0f,
                        last = COMMANDED ? feedforward[i] : 0.0f;
            const auto found = Law::motor(q[i], qd[i], third, fourth, last, asked[i]...,
                                          known<S>(state[k], visible[i])..., taken[i]...);
            Finite all;
            all.add(q[i], qd[i], found.at[kPosition], found.at[kVelocity]);
            (add_signal(all, Law::kAsks[A], asked[i]), ...);
            if constexpr (COMMANDED) {
                all.add(third, fourth, last);
                all.add(found.at[kPositionTarget], found.at[kVelocityTarget], found.at[kFeedforward]);
                out_q_target[i] = all.or_nan(found.at[kPositionTarget]);
                out_qd_target[i] = all.or_nan(found.at[kVelocityTarget]);
                out_feedforward[i] = all.or_nan(found.at[kFeedforward]);
            }
            out_q[i] = all.or_nan(found.at[kPosition]);
            out_qd[i] = all.or_nan(found.at[kVelocity]);
        }
    }

    // `out` holds a row per signal, `Block::pitch` apart
    static void run(const Problem& p, const Block& b, const Use& use, float* out) {
        const Arrays<Law> own(use, b);
        const int64_t next = b.pitch, count = b.robots * use.slots;
        over_elements(p, use, [&](const auto at) {
            run(count, at, b.input[kPosition], b.input[kVelocity], b.input[kPositionTarget], b.input[kVelocityTarget],
                b.input[kFeedforward], out, out + next, out + 2 * next, out + 3 * next, out + 4 * next, p.visible,
                own.asked[A]..., own.state[S]..., own.taken[T]...);
        });
    }
};

template <bool COMMANDED, class... Laws>
Places find_motor(List<Laws...>, int law) {
    Places found = nullptr;
    int at = 0;
    const auto look = [&](auto one) {
        using Law = typename decltype(one)::type;
        if constexpr (Law::kConverts) {
            if (at == law)
                found = [](const Problem& p, const Block& b, const Use& use, float* out) {
                    MotorLoop<Law, COMMANDED, Asked<Law>, States<Law>, std::make_index_sequence<Law::kPrepared>>::run(
                        p, b, use, out);
                };
        }
        ++at;
    };
    (look(std::common_type<Laws>{}), ...);
    return found;
}

// Signals as motors feel them, of elements with a transmission, in place.
template <class Law, size_t... F, size_t... S, size_t... T>
void felt_by_places(const Problem& p, const Block& b, const Use& use, float* out, std::index_sequence<F...>,
                    std::index_sequence<S...>, std::index_sequence<T...>) {
    const int64_t count = b.robots * use.slots;
    const int32_t* RESTRICT places = use.places;
    const Arrays<Law> own(use, b);
    for (int64_t k = 0; k < count; ++k) {
        const int32_t i = places[k];
        const auto found = Law::felt(out[F * b.pitch + i]..., own.state[S][k]..., own.taken[T][i]...);
        ((out[F * b.pitch + i] = found.at[F]), ...);
    }
}

template <class... Laws>
Places find_felt(List<Laws...>, int law) {
    Places found = nullptr;
    int at = 0;
    const auto look = [&](auto one) {
        using Law = typename decltype(one)::type;
        if constexpr (Law::kFelt) {
            if (at == law)
                found = [](const Problem& p, const Block& b, const Use& use, float* out) {
                    felt_by_places<Law>(p, b, use, out, std::make_index_sequence<kFeltSignals>{}, States<Law>{},
                                        std::make_index_sequence<Law::kPrepared>{});
                };
        }
        ++at;
    };
    (look(std::common_type<Laws>{}), ...);
    return found;
}

// Mark the elements whose controllers run in a step.
template <class Law, size_t... S, size_t... T>
void due_by_places(const Problem& p, const Block& b, const Use& use, float* due, std::index_sequence<S...>,
                   std::index_sequence<T...>) {
    const int64_t count = b.robots * use.slots;
    const int32_t* RESTRICT places = use.places;
    const Arrays<Law> own(use, b);
    const float dt = p.dt;
    if (use.every && p.layout != Layout::kGaps) {
        INDEPENDENT
        for (int64_t k = 0; k < count; ++k) due[k] = Law::tick(dt, own.state[S][k]..., own.taken[T][k]...);
        return;
    }
    for (int64_t k = 0; k < count; ++k) due[places[k]] = Law::tick(dt, own.state[S][k]..., own.taken[T][places[k]]...);
}

template <class... Laws>
Places find_due(List<Laws...>, int law) {
    Places found = nullptr;
    int at = 0;
    const auto look = [&](auto one) {
        using Law = typename decltype(one)::type;
        if constexpr (Law::kTicks) {
            if (at == law)
                found = [](const Problem& p, const Block& b, const Use& use, float* out) {
                    due_by_places<Law>(p, b, use, out, States<Law>{}, std::make_index_sequence<Law::kPrepared>{});
                };
        }
        ++at;
    };
    (look(std::common_type<Laws>{}), ...);
    return found;
}

// One time step of all controllers is not gathered.
template <class... Laws>
Places find_law_places(List<Laws...>, int law, bool one_step) {
    static constexpr Places all[] = {law_by_places<Laws, false>...}, with_one_step[] = {law_by_places<Laws, true>...};
    return (one_step ? with_one_step : all)[law];
}

template <class... Limits>
Places find_limit_places(List<Limits...>, int law) {
    static constexpr Places all[] = {stage_by_places<Limits>...};
    return all[law];
}

// ---- parameters

template <class Law, size_t... K>
void prepare_each(const float* const* parameters, float* const* prepared, int64_t size, const float* dt,
                  std::index_sequence<K...>) {
    const float* in[Law::kParameters + 1];
    float* out[Law::kPrepared];
    for (int k = 0; k < Law::kParameters; ++k) in[k] = parameters[k];
    for (int k = 0; k < Law::kPrepared; ++k) out[k] = prepared[k];
    INDEPENDENT
    for (int64_t i = 0; i < size; ++i) {
        const auto values = Law::prepare(in[K][i]..., dt[i]);
        // unchanged parameters are read in place
        for (int k = 0; k < Law::kPrepared; ++k)
            if (Law::kPasses[k] < 0) out[k][i] = values.at[k];
    }
}

template <class... Laws>
Prepare find_prepare(List<Laws...>, int law) {
    Prepare found = nullptr;
    int at = 0;
    [[maybe_unused]] const auto look = [&](auto one) {
        using Law = typename decltype(one)::type;
        if constexpr (Law::kPrepares) {
            if (at == law)
                found = [](const float* const* parameters, float* const* prepared, int64_t size, const float* dt) {
                    prepare_each<Law>(parameters, prepared, size, dt, std::make_index_sequence<Law::kParameters>{});
                };
        }
        ++at;
    };
    (look(std::common_type<Laws>{}), ...);
    return found;
}

template <class... Laws>
constexpr bool all_fit(List<Laws...>) {
    return ((Laws::kAsked + Laws::kParameters <= kMost && Laws::kAsks[0] < kMostAsked && Laws::kPrepared <= kMost &&
             Laws::kStates <= kMost && Laws::kCurves <= kMostCurves && Laws::kLate <= kMostLate) &&
            ...);
}
static_assert(all_fit(Controllers{}) && all_fit(EffortStages{}) && all_fit(Feedbacks{}),
              "a law is larger than kMost and kMostCurves in problem.h");

}  // namespace ACTUATORS_VARIANT
