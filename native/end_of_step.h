// Efforts at the end of the step, see components/implicit_effort.py: laws on the position and velocity there, with the
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

// A controller that is a line, at most a constant limit, and the effort mode of all elements: solved in closed form.
template <class Law, class Mode, class A, class S, class T, class L, class M>
struct EndSweep;
template <class Law, class Mode, size_t... A, size_t... S, size_t... T, size_t... L, size_t... M>
struct EndSweep<Law, Mode, std::index_sequence<A...>, std::index_sequence<S...>, std::index_sequence<T...>,
                std::index_sequence<L...>, std::index_sequence<M...>> {
    // Of a mode that hands nothing over, the last of `N` states or parameters is zero, and not read, checked or kept.
    template <bool HANDS, size_t K, size_t N>
    static constexpr bool kUsed = HANDS || K + 1 < N;

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

    template <bool HANDS>
    FLATTENED static bool run(int64_t size, float dt, const float* q, const float* qd, const float* q_target,
                              const float* qd_target, const float* feedforward, float* RESTRICT out,
                              Numbers<A>... asked, State<S>... state, Numbers<T>... taken, Numbers<L>... gains,
                              Numbers<M>... most) {
        int32_t bad = 0;
        INDEPENDENT
        for (int64_t i = 0; i < size; ++i) {
            const auto end = Mode::template end<float>(q[i], qd[i], dt, asked[i]...,
                                                       number<kUsed<HANDS, S, sizeof...(S)>>(state, i)...,
                                                       number<kUsed<HANDS, T, sizeof...(T)>>(taken, i)...);
            const float free = end.at[0], gain = end.at[1];
            const auto found = Law::template law<Number>(moving(q[i] + dt * free, dt), moving(free, 1.0f),
                                                         constant(q_target[i]), constant(qd_target[i]),
                                                         constant(feedforward[i]), constant(dt), constant(gains[i])...);
            const float slope = slope_of(found.at[0]), falling = slope < 0.0f ? slope : 0.0f;
            float effort = found.at[0].value / (1.0f - falling * gain);
            const float whole = effort;
            ((effort = ClampingMaxEffort::law(effort, q[i], qd[i], dt, most[i]).at[0]), ...);
            const float end_qd = free + gain * effort;
            float damping = 0.0f;
            if constexpr (HANDS) {
                const float slope_there = chosen(effort == whole, falling, 0.0f);
                float held = whole + falling * (qd[i] - (free + gain * whole));
                ((held = ClampingMaxEffort::law(held, q[i], qd[i], dt, most[i]).at[0]), ...);
                damping = -chord(effort, held, slope_there, end_qd, qd[i], dt);
            }
            const auto next = Mode::template law<float>(
                effort, q[i], qd[i], dt, told<Mode::kAsks[A]>(asked[i], damping, end_qd)...,
                number<kUsed<HANDS, S, sizeof...(S)>>(state, i)..., number<kUsed<HANDS, T, sizeof...(T)>>(taken, i)...);
            // a law that reads all signals is not finite without them; a limit may hide that
            static_assert(Law::kReads[0] && Law::kReads[1] && Law::kReads[2] && Law::kReads[3] && Law::kReads[4]);
            Finite all;
            (add_to<(HANDS || !is_of_engine(Mode::kAsks[A]))>(all, told<Mode::kAsks[A]>(asked[i], damping, end_qd)),
             ...);
            (add_to<kUsed<HANDS, S, sizeof...(S)>>(all, next.at[S]), ...);
            // what is found last is added last; a velocity is finite only with its effort
            all.add(whole, end_qd);
            (keep<kUsed<HANDS, S, sizeof...(S)>>(state, i, all, next.at[S]), ...);
            out[i] = all.or_nan(effort);
            bad |= all.mask();
        }
        return bad != 0;
    }

    static bool run(const Problem& p, const Block& b) {
        const Use& mode = p.limits[p.ends];
        const Arrays<Mode> own(mode, b);
        const Arrays<Law> law(p.controllers[0], b);
        const Inputs in(b);
        const float* most[sizeof...(M) + 1] = {};
        for (size_t k = 0; k < sizeof...(M); ++k) most[k] = taken(p.limits[0], static_cast<int>(k), b);
        const auto swept = [&](auto hands) {
            return run<decltype(hands)::value>(b.size, p.dt, in.q, in.qd, in.q_target, in.qd_target, in.feedforward,
                                               b.efforts, own.asked[A]..., own.state[S]..., own.taken[T]...,
                                               law.taken[L]..., most[M]...);
        };
        return hands_over(mode, own, b.size) ? swept(std::true_type{}) : swept(std::false_type{});
    }
};

// The sweep of these laws and `LIMITS` constant limits before the mode.
template <class Law, class Mode, int LIMITS>
bool end_sweep(const Problem& p, const Block& b) {
    return EndSweep<Law, Mode, Asked<Mode>, States<Mode>, Taken<Mode>, Taken<Law>,
                    std::make_index_sequence<LIMITS>>::run(p, b);
}

// The sweep of a plan, if it has one.
template <class... Stages>
Sweep find_end_sweep(List<Stages...>, const Problem& p) {
    const size_t count = p.limits.size();
    if (p.controllers.size() != 1 || p.controllers[0].law != number_in<ControllerPD>(Controllers{}) ||
        !p.controllers[0].every || !p.limits[p.ends].every || count > 2)
        return nullptr;
    if (count == 2 && p.limits[0].law != number_in<ClampingMaxEffort>(EffortStages{})) return nullptr;
    Sweep found = nullptr;
    const auto look = [&](auto one) {
        using Mode = typename decltype(one)::type;
        if constexpr (Mode::kEnds)
            if (p.limits[p.ends].law == number_in<Mode>(EffortStages{}))
                found = count == 2 ? end_sweep<ControllerPD, Mode, 1> : end_sweep<ControllerPD, Mode, 0>;
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
