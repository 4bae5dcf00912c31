// Efforts at the end of the step, see laws/implicit_effort.py: laws on the position and velocity there, with the
// slope of the effort by the final velocity, which moves the position, too.
#pragma once
#include "dual.h"
#include "sweep.h"

namespace ACTUATORS_VARIANT {

inline float* end_array(const Problem& p, const Block& b, int array) {
    return b.derived + (p.end_arrays + array) * b.pitch;
}

using Number = Dual<float>;
inline Number constant(float value) {
    return {value, {}};
}
inline Number moving(float value, float rate) {
    return {value, {rate, false}};
}
inline float slope_of(Number found) {
    return found.d.zero ? 0.0f : found.d.by;
}

// What joints do in a step without their motors.
template <class Law, class A, class S, class T>
struct FreeLoop;
template <class Law, size_t... A, size_t... S, size_t... T>
struct FreeLoop<Law, std::index_sequence<A...>, std::index_sequence<S...>, std::index_sequence<T...>> {
    template <class At>
    FLATTENED static void run(int64_t count, const At at, const float* q, const float* qd, float dt,
                              float* RESTRICT free, float* RESTRICT gain, Numbers<A>... asked, State<S>... state,
                              Numbers<T>... taken) {
        INDEPENDENT
        for (int64_t n = 0; n < count; ++n) {
            const int64_t i = at(n);
            const auto found = Law::template end<float>(q[i], qd[i], dt, asked[i]..., state[n]..., taken[i]...);
            free[i] = found.at[0], gain[i] = found.at[1];
        }
    }

    static void run(const Problem& p, const Block& b, const Use& use) {
        const Arrays<Law> own(use, b);
        over_elements(p, use, [&](const auto at) {
            run(b.robots * use.slots, at, b.input[kPosition], b.input[kVelocity], p.dt, end_array(p, b, kFreeVelocity),
                end_array(p, b, kGain), own.asked[A]..., own.state[S]..., own.taken[T]...);
        });
    }
};

// A controller on the signals of the end of the step: its efforts and their slopes, or only its states.
template <class Law, bool STATES, class A, class S, class T>
struct LawAtEnd;
template <class Law, bool STATES, size_t... A, size_t... S, size_t... T>
struct LawAtEnd<Law, STATES, std::index_sequence<A...>, std::index_sequence<S...>, std::index_sequence<T...>> {
    template <class At>
    FLATTENED static void run(int64_t count, const At at, const float* q, const float* qd, const float* q_target,
                              const float* qd_target, const float* feedforward, const float* dt,
                              float* RESTRICT efforts, float* RESTRICT slopes, Numbers<A>... asked, State<S>... state,
                              Numbers<T>... taken) {
        INDEPENDENT
        for (int64_t n = 0; n < count; ++n) {
            const int64_t i = at(n);
            const auto found =
                Law::template law<Number>(moving(q[i], dt[i]), moving(qd[i], 1.0f), constant(q_target[i]),
                                          constant(qd_target[i]), constant(feedforward[i]), constant(dt[i]),
                                          constant(asked[i])..., constant(state[n])..., constant(taken[i])...);
            Finite all;
            all.add(q[i], qd[i], q_target[i], qd_target[i], feedforward[i]);
            (add_signal(all, Law::kAsks[A], asked[i]), ...);
            add_results<Law>(all, found);
            if constexpr (STATES) {
                ((state[n] = all.chosen(found.at[Law::kResults + S].value, state[n])), ...);
            } else {
                efforts[i] = all.or_nan(found.at[0].value);
                slopes[i] = slope_of(found.at[0]);
            }
        }
    }

    template <class At>
    static void run(const Block& b, const Use& use, const At at, float* efforts, float* slopes) {
        const Arrays<Law> own(use, b);
        const Inputs in(b);
        run(b.robots * use.slots, at, in.q, in.qd, in.q_target, in.qd_target, in.feedforward, in.dt, efforts, slopes,
            own.asked[A]..., own.state[S]..., own.taken[T]...);
    }
};

template <class Law, bool STATES>
void law_at_end(const Problem& p, const Block& b, const Use& use, float* efforts) {
    over_elements(p, use, [&](const auto at) {
        LawAtEnd<Law, STATES, Asked<Law>, States<Law>, Taken<Law>>::run(b, use, at, efforts, end_array(p, b, kSlope));
    });
}

// A stage on the signals of the block, with its states.
template <class Stage>
void stage_of_elements(const Problem& p, const Block& b, const Use& use, float* efforts) {
    if (use.every && p.layout != Layout::kGaps)
        run_stage<Stage>(p, b, use, b.size, [](int64_t n) { return n; }, efforts, efforts);
    else
        stage_by_places<Stage>(p, b, use, efforts);
}

// A stage on position and velocity of the end of the step, without its states: replaces efforts and slopes.
template <class Stage, class A, class S, class T>
struct StageAtEnd;
template <class Stage, size_t... A, size_t... S, size_t... T>
struct StageAtEnd<Stage, std::index_sequence<A...>, std::index_sequence<S...>, std::index_sequence<T...>> {
    // curves move with the velocity, and with the position, as their slopes tell
    template <size_t N>
    static Number taken_at(const float* taken, const float* slopes, int64_t pitch, int64_t i, float qd, float dt) {
        if constexpr (N < Stage::kPrepared) {
            return constant(taken[i]);
        } else {
            constexpr int kOver = Stage::kOver[N - Stage::kPrepared];
            const float slope = slopes[(N - Stage::kPrepared) * pitch + i];
            const float rate = kOver == kOverPosition ? dt : kOver == kOverSpeed && qd < 0.0f ? -1.0f : 1.0f;
            return moving(taken[i], slope * rate);
        }
    }

    template <class At>
    FLATTENED static void run(int64_t count, const At at, const float* q, const float* qd, float dt,
                              const float* curve_slopes, int64_t pitch, float* efforts, float* slopes,
                              Numbers<A>... asked, State<S>... state, Numbers<T>... taken) {
        INDEPENDENT
        for (int64_t n = 0; n < count; ++n) {
            const int64_t i = at(n);
            const auto found = Stage::template law<Number>(
                moving(efforts[i], slopes[i]), moving(q[i], dt), moving(qd[i], 1.0f), constant(dt),
                constant(asked[i])..., constant(state[n])..., taken_at<T>(taken, curve_slopes, pitch, i, qd[i], dt)...);
            Finite all;
            all.add(efforts[i]);
            (add_signal(all, Stage::kAsks[A], asked[i]), ...);
            add_results<Stage>(all, found);
            efforts[i] = all.or_nan(found.at[0].value);
            slopes[i] = slope_of(found.at[0]);
        }
    }

    template <class At>
    static void run(const Problem& p, const Block& b, const Use& use, const At at, float* efforts) {
        const Arrays<Stage> own(use, b);
        run(b.robots * use.slots, at, b.input[kPosition], b.input[kVelocity], p.dt, end_array(p, b, kCurveSlopes),
            b.pitch, efforts, end_array(p, b, kSlope), own.asked[A]..., own.state[S]..., own.taken[T]...);
    }
};

template <class Stage>
void stage_at_end(const Problem& p, const Block& b, const Use& use, float* efforts) {
    over_elements(p, use, [&](const auto at) {
        StageAtEnd<Stage, Asked<Stage>, States<Stage>, Taken<Stage>>::run(p, b, use, at, efforts);
    });
}

// ---- one sweep

// How an effort falls between the velocities of the end and the start of a step, where limits bend it: by the chord,
// which exceeds none of them in between, however much the joint yields. Else by the slope.
constexpr float kBend = 1e-2f, kResolved = 1e-5f;
inline float chord(float at_end, float held, float slope, float end_qd, float qd, float dt) {
    const float expected = at_end + slope * (qd - end_qd), off = magnitude(held - expected), apart = end_qd - qd;
    const float across = chosen(apart != 0.0f, (at_end - held) / chosen(apart != 0.0f, apart, 1.0f), slope);
    const float bounded = chosen(across < slope, slope, chosen(across > 0.0f, 0.0f, across));
    // positions are rounded
    const bool bends = off > kBend * (magnitude(held) + magnitude(expected)) - kResolved * slope / dt;
    return chosen(bends, bounded, slope);
}

// What the engine tells a mode in the place of a signal that it asks for.
template <int SIGNAL>
inline float told(float asked, float damping, float end_qd) {
    return SIGNAL == kMotorDamping ? damping : SIGNAL == kMotorLift ? damping * end_qd : asked;
}

// True if a simulator takes over how the effort of any joint falls with the final velocity: the mode's last parameter.
template <class Mode>
bool hands_over(const Use& use, const Arrays<Mode>& mode, int64_t size) {
    constexpr int kInEngine = Mode::kPrepared - 1;
    if (use.is_shared(kInEngine)) return use.shared[kInEngine] != 0.0f;
    return !all_are(mode.taken[kInEngine], 0.0f, size);
}

// Slope of an effort by the final velocity; one that is above zero, or not known, counts as zero.
inline float bounded_slope(float slope) {
    return chosen(slope < 0.0f && slope >= -kMax, slope, 0.0f);
}

// Largest number of times that a stage is evaluated, and relative change at which its effort is solved.
constexpr int kMostRounds = 24;
constexpr float kNear = 1e-4f;

// Above zero while two efforts are nearer to each other than `kNear`.
inline float nearness(float one, float other) {
    return kNear * (magnitude(one) + magnitude(other)) - magnitude(one - other);
}

// Above zero while a motor has the effort of its line, of which positions that are rounded are a part.
inline float nearness_to_line(float effort, float change, float found) {
    return kNear * (magnitude(effort) + magnitude(change) + magnitude(found)) - magnitude(found - (effort + change));
}

// All bits below zero. It is the sign of a number, for GCC vectorizes no loop over a condition of Newton's method.
inline int32_t is_apart(float nearness) {
    return static_cast<int32_t>(bits_of(nearness)) >> 31;
}

// A step of Newton's method from `x`, given what a stage makes of it and the slope of that.
inline float newton_step(float x, float found, float slope, float gain) {
    const float yielding = slope * gain;
    // a sum would lose the sign of a zero
    return chosen(yielding == 0.0f || found == x, found, x + (found - x) / (1.0f - yielding));
}

// The next effort to be tried for a law, within a bracket.
struct Tried {
    float effort, low, high;
    bool settled;
};

// The same, or the middle of the bracket where that leaves it.
inline Tried improved(float x, float found, float slope, float gain, float low, float high) {
    const bool rises = found - x > 0.0f;
    const float lowest = chosen(rises, x, low), highest = chosen(rises, high, x);
    const float newton = newton_step(x, found, slope, gain);
    // true without a bracket, too
    const bool inside = !(newton <= lowest || newton >= highest);
    const bool settled = !(nearness(newton, x) < 0.0f);
    return {chosen(settled || inside, newton, 0.5f * lowest + 0.5f * highest), lowest, highest, settled};
}

// What an element does without its motor, its start, and whether its load is whole.
struct Start {
    float q, qd, free, gain, dt, whole;
};

// An effort, and its slope by the final velocity.
struct Solution {
    float effort, slope;
};

// A stage without states, signals or curves of its own.
template <class Stage, size_t... T>
inline Number stage_at(Number effort, float q, float qd, float dt, const Arrays<Stage>& own, int64_t i,
                       std::index_sequence<T...>) {
    return Stage::template law<Number>(effort, moving(q + dt * qd, dt), moving(qd, 1.0f), constant(dt),
                                       constant(own.taken[T][i])...)
        .at[0];
}

// The end of the step behind a limit that is a line over the velocity, given that of the line before it. Both fall with
// the effort, as they do with the velocity, so the solution of their minimum is the minimum of their solutions: the
// limit gets the velocity without the motor, and bounds that are solved.
inline Solution solved_at_end(const Solution& before, const Start& at, const Arrays<ClampingDCMotor>& own, int64_t i) {
    const float stall = own.taken[0][i], factor = own.taken[1][i];
    // without a factor the effort may be infinite
    const float bound = chosen(factor > 0.0f, stall / (1.0f + stall * factor * at.gain), stall);
    const float effort =
        ClampingDCMotor::law(before.effort, at.q, at.free, at.dt, bound, factor, own.taken[2][i]).at[0];
    const float line = before.effort + before.slope * (at.gain * (effort - before.effort));
    const Number there =
        stage_at(moving(line, before.slope), at.q, at.free + at.gain * effort, at.dt, own, i, Taken<ClampingDCMotor>{});
    return {effort, bounded_slope(slope_of(there))};
}

// True for a limit that is solved so.
template <class Limit>
constexpr bool kIsSolved = std::is_same_v<Limit, ClampingDCMotor>;

// Replace efforts and slopes by those behind such a limit.
inline void all_solved_at_end(const Problem& p, const Block& b, const Use& use, float* RESTRICT efforts) {
    const Arrays<ClampingDCMotor> own(use, b);
    const float *const qd = b.input[kVelocity], *const free = end_array(p, b, kFreeVelocity),
                       *const gain = end_array(p, b, kGain);
    float* RESTRICT const slopes = end_array(p, b, kSlope);
    over_elements(p, use, [&](const auto at) {
        for (int64_t n = 0; n < b.robots * use.slots; ++n) {
            const int64_t i = at(n);
            const Solution found =
                solved_at_end({efforts[i], slopes[i]}, {0.0f, qd[i], free[i], gain[i], p.dt, 0.0f}, own, i);
            // a limit may hide an effort that is not finite
            efforts[i] = nan_unless(finite(efforts[i]) & finite(found.effort), found.effort);
            slopes[i] = found.slope;
        }
    });
}

// What friction is told of the load of a joint with an effort at the end of the step, see specs/signals.py.
inline float whole_or_estimated(float whole) {
    return chosen(whole > 0.5f, whole, 0.5f);
}

// How often a motor with friction behind it is taken as a line.
constexpr int kMostLines = 4;

// A controller that is a line, limits without states or curves, friction of the joint or `Given` for none, and the
// effort mode of all elements, one element after the other.
template <class Law, class Mode, class Joint, class... Stages>
struct EndSweep {
    static_assert(((Stages::kStates + Stages::kAsked + Stages::kCurves == 0) && ...) && !Law::kAsked && !Law::kCurves);
    static constexpr bool kRubs = !std::is_same_v<Joint, Given>;
    // an element may take more rounds: friction moves the motor to another limit
    static constexpr bool kBends = kRubs && sizeof...(Stages);

    template <class Stage>
    static Solution limited(const Solution& before, const Start& at, const Arrays<Stage>& own, int64_t i) {
        if constexpr (kIsSolved<Stage>) {
            return solved_at_end(before, at, own, i);
        } else {
            static_assert(!Stage::kReads[1] && !Stage::kReads[2], "a limit that is tried");
            const Number found =
                stage_at(moving(before.effort, before.slope), at.q, at.qd, at.dt, own, i, Taken<Stage>{});
            return {found.value, slope_of(found)};
        }
    }

    // What friction asks for, of a joint under a motor that has a final velocity without friction.
    template <int SIGNAL>
    static float told_joint(const Solution& motor, float motor_qd, const Start& at) {
        switch (SIGNAL) {
            case kInertia:
            case kCoupledInertia:
                return at.dt / at.gain;
            case kLoad:
                return (at.qd - at.free) / at.gain;
            case kLoadIsWhole:
                return whole_or_estimated(at.whole);
            case kMotorDamping:
                return -motor.slope;
            default:
                return -motor.slope * motor_qd;
        }
    }
    template <Form FORM, size_t... A, size_t... S, size_t... T>
    static auto friction(const Solution& motor, float motor_qd, const Start& at, const Arrays<Joint>& own, int64_t i,
                         std::index_sequence<A...>, std::index_sequence<S...>, std::index_sequence<T...>) {
        using Loop = StageLoop<Joint, FORM, Asked<Joint>, States<Joint>, Taken<Joint>>;
        return Joint::law(motor.effort, at.q, at.qd, at.dt, told_joint<Joint::kAsks[A]>(motor, motor_qd, at)...,
                          own.state[S][i]..., Loop::template value_at<T>(own.taken[T], i)...);
    }

    // The end of the step: effort and velocity of the joint, the motor there, the next states of friction, and all bits
    // if it may not be solved yet.
    struct End {
        float effort, qd;
        Solution motor;
        Values<float, Joint::kStates> states;
        int32_t open;
    };

    // Friction, with the motor as a line: `motor_at` gives the motor at the velocity where friction leaves the joint,
    // and if that is not on the line, it is the next one. The last time the motor keeps its effort, so that no limit is
    // exceeded.
    template <Form FORM, bool ALONE, class MotorAt>
    static End joint_at_end(Solution motor, const Start& at, const Arrays<Joint>& own, int64_t i,
                            const MotorAt& motor_at) {
        End end{motor.effort, at.free + at.gain * motor.effort, motor, {}, 0};
        if constexpr (kRubs) {
            for (int round = 0; round < (ALONE ? kMostLines : 1); ++round) {
                const bool is_last = round + 1 == kMostLines;
                if (is_last) motor.slope = 0.0f;
                const float before = end.qd;
                const auto found =
                    friction<FORM>(motor, before, at, own, i, Asked<Joint>{}, States<Joint>{}, Taken<Joint>{});
                end.effort = found.at[0], end.qd = at.free + at.gain * end.effort;
                for (int s = 0; s < Joint::kStates; ++s) end.states.at[s] = found.at[Joint::kResults + s];
                const Solution there = motor_at(end.qd);
                const float change = motor.slope * (end.qd - before);
                end.open = is_apart(nearness_to_line(motor.effort, change, there.effort));
                end.motor = {there.effort, is_last ? 0.0f : there.slope};
                if (ALONE && !end.open) break;
                motor = there;
            }
        }
        return end;
    }

    // Of a mode that hands nothing over, the last of `N` states or parameters is zero, and not read, checked or kept.
    template <bool HANDS, size_t K, size_t N>
    static constexpr bool kUsed = HANDS || K + 1 < N;
    // Its first two states are velocity and effort, without which no velocity at the end is finite.
    template <bool HANDS, size_t S, size_t N>
    static constexpr bool kChecked = kUsed<HANDS, S, N> && (HANDS || S > 1);

    template <bool USED>
    static float number(const float* from, int64_t i) {
        if constexpr (USED)
            return from[i];
        else
            return 0.0f;
    }
    template <bool USED>
    static void keep(float* state, int64_t i, const Finite& all, float found) {
        if constexpr (USED) state[i] = all.chosen(found, state[i]);
    }
    template <bool USED>
    static void add_to(Finite& all, float number) {
        if constexpr (USED) all.add(number);
    }

    // All bits of an outcome where it is so.
    struct Outcome {
        int32_t bad, open;
    };

    // An element: its effort, and the states of controller, friction and mode.
    template <bool HANDS, Form FORM, bool ALONE, size_t... A, size_t... S, size_t... T, size_t... L, size_t... K,
              size_t... J>
    static Outcome element(int64_t i, const Inputs& in, float dt, float* RESTRICT out, const Arrays<Mode>& mode,
                           const Arrays<Law>& law, const Arrays<Joint>& joint, std::index_sequence<A...>,
                           std::index_sequence<S...>, std::index_sequence<T...>, std::index_sequence<L...>,
                           std::index_sequence<K...>, std::index_sequence<J...>, const Arrays<Stages>&... stages) {
        const float q = in.q[i], qd = in.qd[i];
        const auto before = Mode::template end<float>(q, qd, dt, mode.asked[A][i]...,
                                                      number<kUsed<HANDS, S, sizeof...(S)>>(mode.state[S], i)...,
                                                      number<kUsed<HANDS, T, sizeof...(T)>>(mode.taken[T], i)...);
        static_assert(Mode::kAsks[kLoadIsWhole] == kLoadIsWhole);
        const Start at{q, qd, before.at[0], before.at[1], dt, mode.asked[kLoadIsWhole][i]};
        const auto commanded = [&](auto end_q, auto end_qd) {
            using V = decltype(end_q);
            return Law::template law<V>(end_q, end_qd, V{in.q_target[i]}, V{in.qd_target[i]}, V{in.feedforward[i]},
                                        V{dt}, V{law.state[K][i]}..., V{law.taken[L][i]}...);
        };
        const auto command_at = [&](float end_qd) {
            const Number found = commanded(moving(q + dt * end_qd, dt), moving(end_qd, 1.0f)).at[0];
            return Solution{found.value, bounded_slope(slope_of(found))};
        };
        const auto motor_at = [&](float end_qd) {
            Solution found = command_at(end_qd);
            [[maybe_unused]] const auto limit = [&](const auto& own, auto taken) {
                const Number limited = stage_at(moving(found.effort, found.slope), q, end_qd, dt, own, i, taken);
                found = {limited.value, bounded_slope(slope_of(limited))};
            };
            (limit(stages, Taken<Stages>{}), ...);
            return found;
        };
        const Solution line = command_at(at.free);
        const float whole = line.effort / (1.0f - line.slope * at.gain);
        Solution motor{whole, line.slope};
        ((motor = limited(motor, at, stages, i)), ...);
        const End end = joint_at_end<FORM, ALONE>(motor, at, joint, i, motor_at);
        float damping = 0.0f;
        if constexpr (HANDS) {
            damping = -chord(end.motor.effort, motor_at(qd).effort, end.motor.slope, end.qd, qd, dt);
        }
        const auto next =
            Mode::template law<float>(end.effort, q, qd, dt, told<Mode::kAsks[A]>(mode.asked[A][i], damping, end.qd)...,
                                      number<kUsed<HANDS, S, sizeof...(S)>>(mode.state[S], i)...,
                                      number<kUsed<HANDS, T, sizeof...(T)>>(mode.taken[T], i)...);
        // a law that reads all signals is not finite without them; a limit may hide that
        static_assert(Law::kReads[0] && Law::kReads[1] && Law::kReads[2] && Law::kReads[3] && Law::kReads[4]);
        Finite all;
        (add_to<(HANDS || !is_of_engine(Mode::kAsks[A]))>(all, told<Mode::kAsks[A]>(mode.asked[A][i], damping, end.qd)),
         ...);
        (add_to<kChecked<HANDS, S, sizeof...(S)>>(all, next.at[S]), ...);
        // what is found last is added last
        (all.add(end.states.at[J]), ...);
        if constexpr (kRubs || sizeof...(Stages) > 0) all.add(whole);
        all.add(end.qd);
        if constexpr (kBends && !ALONE) all.add(float_of(end.open));
        if constexpr (sizeof...(K) > 0) {
            const auto after = commanded(q + dt * end.qd, end.qd);
            (all.add(after.at[Law::kResults + K]), ...);
            (keep<true>(law.state[K], i, all, after.at[Law::kResults + K]), ...);
        }
        (keep<true>(joint.state[J], i, all, end.states.at[J]), ...);
        (keep<kUsed<HANDS, S, sizeof...(S)>>(mode.state[S], i, all, next.at[S]), ...);
        out[i] = all.or_nan(end.effort);
        return {all.mask(), end.open};
    }

    template <bool HANDS, Form FORM, bool ALONE>
    static Outcome element(int64_t i, const Inputs& in, float dt, float* RESTRICT out, const Arrays<Mode>& mode,
                           const Arrays<Law>& law, const Arrays<Joint>& joint, const Arrays<Stages>&... stages) {
        return element<HANDS, FORM, ALONE>(i, in, dt, out, mode, law, joint, Asked<Mode>{}, States<Mode>{},
                                           Taken<Mode>{}, Taken<Law>{}, States<Law>{}, States<Joint>{}, stages...);
    }

    // Solve the elements that are open.
    template <bool HANDS>
    NOINLINE static int32_t finish(const Block& b, float dt, const Arrays<Mode> mode, const Arrays<Law> law,
                                   const Arrays<Joint> joint, const Arrays<Stages>... stages) {
        const Inputs in(b);
        int32_t bad = 0;
        for (int64_t i = 0; i < b.size; ++i)
            if (bits_of(b.found[i]))
                bad |= element<HANDS, Form::kGeneral, true>(i, in, dt, b.efforts, mode, law, joint, stages...).bad;
        return bad;
    }

    template <bool HANDS, Form FORM>
    static bool over(const Block& b, float dt, const Arrays<Mode> mode, const Arrays<Law> law,
                     const Arrays<Joint> joint, const Arrays<Stages>... stages) {
        const Inputs in(b);
        float *RESTRICT const out = b.efforts, *RESTRICT const found = b.found;
        const int64_t size = b.size;
        int32_t bad = 0, open = 0;
        INDEPENDENT
        for (int64_t i = 0; i < size; ++i) {
            const Outcome outcome = element<HANDS, FORM, false>(i, in, dt, out, mode, law, joint, stages...);
            if constexpr (kBends) {
                // what is open is bad or not in `finish`
                bad |= outcome.bad & ~outcome.open;
                open |= outcome.open;
                found[i] = float_of(outcome.open);
            } else {
                bad |= outcome.bad;
            }
        }
        if constexpr (kBends)
            if (open) bad |= finish<HANDS>(b, dt, mode, law, joint, stages...);
        return bad != 0;
    }

    template <bool HANDS, Form FORM>
    NOINLINE FLATTENED static bool run(const Block& b, float dt, const Arrays<Mode> mode, const Arrays<Law> law,
                                       const Arrays<Joint> joint, const Arrays<Stages>... stages) {
        return over<HANDS, FORM>(b, dt, mode, law, joint, stages...);
    }
    static constexpr Form kShortForm = kRubs ? Form::kUsual : Form::kGeneral;
    NOINLINE FLATTENED SHORT_VECTORS static bool run_short(const Block& b, float dt, const Arrays<Mode> mode,
                                                           const Arrays<Law> law, const Arrays<Joint> joint,
                                                           const Arrays<Stages>... stages) {
        return over<false, kShortForm>(b, dt, mode, law, joint, stages...);
    }

    template <Form FORM, size_t... N>
    static bool run_numbered(const Problem& p, const Block& b, const Arrays<Joint>& joint, std::index_sequence<N...>) {
        const Use& use = p.limits[p.ends];
        const Arrays<Mode> mode(use, b);
        const Arrays<Law> law(p.controllers[0], b);
        auto* chosen_run = run<false, FORM>;
        // in its rarer forms a short loop is as a long one, which saves compiling it
        if constexpr (FORM == kShortForm)
            if (b.size < kShort) chosen_run = run_short;
        if (hands_over(use, mode, b.size)) chosen_run = run<true, Form::kGeneral>;
        return chosen_run(b, p.dt, mode, law, joint, Arrays<Stages>(p.limits[N], b)...);
    }

    static bool sweep(const Problem& p, const Block& b) {
        constexpr auto numbers = std::index_sequence_for<Stages...>{};
        if constexpr (kRubs) {
            const Use& use = p.limits[sizeof...(Stages)];
            const Arrays<Joint> joint(use, b);
            const bool is_usual = have_taken<Joint, Form::kUsual>(use, b, std::make_index_sequence<Joint::kPrepared>{});
            return is_usual ? run_numbered<Form::kUsual>(p, b, joint, numbers)
                            : run_numbered<Form::kGeneral>(p, b, joint, numbers);
        } else {
            return run_numbered<Form::kGeneral>(p, b, {}, numbers);
        }
    }
};

// Controllers, with friction or `Given`, and limits that have a sweep at the end of the step.
using LinesAtEnd = List<List<ControllerPD, Given>, List<ControllerPID, Given>, List<ControllerPD, PassiveFriction>>;
using LimitsAtEnd =
    List<List<>, List<ClampingMaxEffort>, List<ClampingDCMotor>, List<ClampingDCMotor, ClampingMaxEffort>>;

// The sweep of a plan, if it has one.
template <class Mode, class Law, class Joint, class... Stages>
void offer_at_end(List<Law, Joint>, List<Stages...>, const Problem& p, Sweep& found) {
    std::vector<int> numbers{number_in<Stages>(EffortStages{})...};
    if constexpr (!std::is_same_v<Joint, Given>) numbers.push_back(number_in<Joint>(EffortStages{}));
    numbers.push_back(number_in<Mode>(EffortStages{}));
    bool fits = p.controllers[0].law == number_in<Law>(Controllers{}) && p.limits.size() == numbers.size();
    for (size_t k = 0; fits && k < numbers.size(); ++k)
        fits = p.limits[k].law == numbers[k] && (p.limits[k].every || !p.limits[k].states);
    if (fits) found = EndSweep<Law, Mode, Joint, Stages...>::sweep;
}
template <class Mode, class... Lines, class... Limits>
void offer_all_at_end(List<Lines...>, List<Limits...>, const Problem& p, Sweep& found) {
    [[maybe_unused]] const auto with = [&](auto lines) { (offer_at_end<Mode>(lines, Limits{}, p, found), ...); };
    (with(Lines{}), ...);
}
template <class... Stages>
Sweep find_end_sweep(List<Stages...>, const Problem& p) {
    Sweep found = nullptr;
    if (p.controllers.size() != 1 || !p.controllers[0].every) return found;
    const auto look = [&](auto one) {
        using Mode = typename decltype(one)::type;
        if constexpr (Mode::kEnds) offer_all_at_end<Mode>(LinesAtEnd{}, LimitsAtEnd{}, p, found);
    };
    (look(std::common_type<Stages>{}), ...);
    return found;
}

// ---- choice of kernels

template <class... Laws>
Places find_end(List<Laws...>, int law) {
    Places found = nullptr;
    int at = 0;
    const auto look = [&](auto one) {
        using Law = typename decltype(one)::type;
        if constexpr (Law::kEnds) {
            if (at == law)
                found = [](const Problem& p, const Block& b, const Use& use, float*) {
                    FreeLoop<Law, Asked<Law>, States<Law>, Taken<Law>>::run(p, b, use);
                };
        }
        ++at;
    };
    (look(std::common_type<Laws>{}), ...);
    return found;
}

template <class... Laws>
Places find_law_at_end(List<Laws...>, int law) {
    static constexpr Places all[] = {law_at_end<Laws, false>...};
    return all[law];
}

template <class... Laws>
Places find_law_states_at_end(List<Laws...>, int law) {
    static constexpr Places all[] = {(Laws::kStates ? law_at_end<Laws, true> : nullptr)...};
    return all[law];
}

// True for a stage on the signals at the end of the step: one that changes the effort, and does not itself step the
// joint with the slope of the motor.
template <class Stage>
constexpr bool is_at_end() {
    bool found = Stage::kGives == 1 && !Stage::kConverts && !Stage::kCouples && !Stage::kLate && !Stage::kTicks;
    for (const int signal : Stage::kAsks) found &= !is_of_engine(signal);
    return found;
}

template <class... Stages>
Places find_stage_of_elements(List<Stages...>, int law) {
    static constexpr Places all[] = {stage_of_elements<Stages>...};
    return all[law];
}

// True for a controller whose effort is a line over position and velocity: one step of Newton's method solves it.
template <class... Laws>
bool is_linear(List<Laws...>, int law) {
    using Linear = List<ControllerPD, ControllerPID, ControllerGearedPD, ControllerGearedPID>;
    static constexpr bool all[] = {(number_in<Laws>(Linear{}) >= 0)...};
    return all[law];
}

template <class... Stages>
Places find_stage_at_end(List<Stages...>, int law) {
    Places found = nullptr;
    int at = 0;
    const auto look = [&](auto one) {
        using Stage = typename decltype(one)::type;
        if constexpr (is_at_end<Stage>()) {
            if (at == law) found = stage_at_end<Stage>;
        }
        ++at;
    };
    (look(std::common_type<Stages>{}), ...);
    return found;
}

}  // namespace ACTUATORS_VARIANT
