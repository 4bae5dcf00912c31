"""The laws in float64, one page, written from the formulas of `components/` and nothing else: decides who is right."""

from collections.abc import Callable

import numpy as np

LAWS: dict[str, Callable[..., tuple]] = {}
"""By component class: the law of whole columns, from signals, state and parameters as they are given to users.

Controllers take `(q, qd, q_target, qd_target, feedforward, dt, *state, *parameters)`, clamps `(effort, q, qd, dt,
*state, *parameters, *curve values)`; the effort is returned first, then the new state.
"""

MOTORS: dict[str, Callable[..., tuple]] = {}
"""By component class of a transmission: the five signals of the motor.

They take those of the joint, `(q, qd, q_target, qd_target, feedforward, *state, *parameters)`.
"""


OTHERS: dict[tuple[str, str], Callable[..., tuple]] = {}
"""By component class and name, the other functions of laws: `FELT`, `TICK` and `END`.

They take what these take, and the parameters as they are given to users in the place of prepared numbers.
"""


def law_of(component: str) -> Callable[[Callable], Callable]:
    def register(function: Callable) -> Callable:
        LAWS[component] = function
        return function

    return register


def motor_of(component: str) -> Callable[[Callable], Callable]:
    def register(function: Callable) -> Callable:
        MOTORS[component] = function
        return function

    return register


def other_of(component: str, name: str) -> Callable[[Callable], Callable]:
    def register(function: Callable) -> Callable:
        OTHERS[component, name] = function
        return function

    return register


def pd_effort(q, qd, q_target, qd_target, feedforward, kp, kd, const_effort):
    """PD law [N·m or N], element by element."""
    return const_effort + feedforward + kp * (q_target - q) + kd * (qd_target - qd)


def max_effort_clamp(effort, max_effort):
    """Symmetric limit [N·m or N]."""
    return np.minimum(np.maximum(effort, -max_effort), max_effort)


def pid_integral(integral, q, q_target, dt, integral_max):
    """Integral [rad·s or m·s] after one step."""
    return np.minimum(np.maximum(integral + (q_target - q) * dt, -integral_max), integral_max)


def pid_effort(q, qd, q_target, qd_target, feedforward, kp, ki, kd, const_effort, integral):
    """PID law [N·m or N] with the updated integral."""
    return pd_effort(q, qd, q_target, qd_target, feedforward, kp, kd, const_effort) + ki * integral


def dc_motor_clamp(effort, qd, saturation_effort, velocity_limit, max_motor_effort):
    """DC-motor limit [N·m or N] of one joint, written with the corner velocity, unlike the code."""
    if np.isinf(saturation_effort) or np.isinf(velocity_limit):
        lower, upper = -saturation_effort, saturation_effort
    elif saturation_effort == 0:
        lower = upper = 0.0
    else:
        corner = velocity_limit * (1 + max_motor_effort / saturation_effort)
        v = min(max(qd, -corner), corner)
        lower, upper = (saturation_effort * (sign - v / velocity_limit) for sign in (-1, 1))
    lower, upper = max(lower, -max_motor_effort), min(upper, max_motor_effort)
    return min(max(effort, lower), upper)


def dry_friction_level(tau_m, tau_e, qd, K_c, K_cs, qd_s, alpha, K_m, K_e, K_ms, K_es, K_mq, K_eq, opposed):
    """Model M6 of Duclusaud et al., ICRA 2025, with the Stribeck part K_cs above the Coulomb level K_c."""
    s = np.exp(-((np.abs(qd) / qd_s) ** alpha))
    quadratic = np.where(np.abs(tau_e) > np.abs(tau_m), K_mq * tau_m**2, K_eq * tau_e**2)
    quadratic = np.where((opposed > 0.5) & (np.sign(tau_e) == np.sign(tau_m)), 0, quadratic)
    gearbox = np.abs(K_e * tau_e - K_m * tau_m)
    return K_c + gearbox + s * (K_cs + np.abs(K_es * tau_e - K_ms * tau_m) + quadratic)


def friction_step(level, effort, qd, h, inertia, viscous, tau_e, whole, f, qd_before, u_before):
    mass, most = inertia + h * viscous, h * level
    # black box: the velocity after the step if all that acted before stayed, then the friction that slows it by half
    free = (inertia * (2 * qd - qd_before) + h * (effort - u_before)) / mass
    p = f * h
    p_after = np.minimum(np.maximum(p - mass * free / 2, -most), most)
    u = effort - viscous * (free + (p_after - p) / mass)
    felt = u + p_after / h, p_after / h, qd, u
    # the load is told: the step of Moreau, v+ = sign(v_f)·max(|v_f| - h·F/J, 0)
    free = (inertia * qd + h * (effort + tau_e)) / mass
    after = np.sign(free) * np.maximum(np.abs(free) - most / mass, 0)
    dry = np.where(after == 0, -mass * free, -most * np.sign(free)) / h
    u = effort - viscous * after
    told_load = np.where(after == 0, -inertia * qd / h - tau_e, u + dry), dry, qd, u
    return tuple(np.where(whole > 0.5, one, other) for one, other in zip(told_load, felt, strict=True))


def step_before(effort, qd, h, inertia, load, whole, f, qd_before, u_before):
    """Load, velocity and effort of the step before; an estimate of 1/2 keeps the velocity of the joint."""
    qd_before = np.where(np.isnan(qd_before) | (whole > 0), qd, qd_before)
    u_before = np.where(whole > 0, load - f, np.where(np.isnan(u_before), effort, u_before))
    return np.where(whole > 0, -load, inertia * (qd - qd_before) / h - u_before - f), qd_before, u_before


def inertia_of(told, assumed):
    return np.where(told > 0, told, np.where(assumed > 0, assumed, np.nan))


def stepped_inertia(inertia, coupled, whole):
    """Inertia of a step by itself: diag(1/stepped) bounds M⁻¹, but where the load tells what the other joints do."""
    return np.where((coupled > 0) & (whole <= 0.5), coupled, inertia)


@law_of("PassiveFriction")
def friction_law(
    effort, _q, qd, h, told, load, whole, coupled, s, lift, f, qd_before, u_before, coulomb, viscous, static, *rest
):
    """Dry friction of the level of model M6, and viscous friction."""
    v_s, alpha, assumed, K_m, K_e, K_ms, K_es, K_mq, K_eq, opposed = rest
    inertia = inertia_of(told, assumed)
    tau_e, qd_before, u_before = step_before(effort, qd, h, inertia, load, whole, f, qd_before, u_before)
    excess = np.maximum(static - coulomb, 0)
    loads = K_m, K_e, K_ms, K_es, K_mq, K_eq, opposed
    level = dry_friction_level(effort, tau_e, qd, coulomb, excess, v_s, alpha, *loads)
    # a motor whose effort falls with the final velocity, effort + lift - s·v+, damps as viscous friction does
    viscous = viscous + np.maximum(s, 0)
    inertia = stepped_inertia(inertia, coupled, whole)
    return friction_step(level, effort + lift, qd, h, inertia, viscous, tau_e, whole, f, qd_before, u_before)


@law_of("PassiveFrictionCurve")
def friction_curve_law(effort, _q, qd, h, told, load, whole, coupled, s, lift, f, qd_before, u_before, assumed, level):
    inertia = stepped_inertia(inertia_of(told, assumed), coupled, whole)
    tau_e, qd_before, u_before = step_before(effort, qd, h, inertia, load, whole, f, qd_before, u_before)
    return friction_step(level, effort + lift, qd, h, inertia, np.maximum(s, 0), tau_e, whole, f, qd_before, u_before)


@law_of("PassiveBrake")
def brake_law(effort, _q, qd, h, told, load, whole, coupled, s, lift, level, f, qd_before, u_before, *parameters):
    """Dry friction of a level that ramps between none and the torque of the brake."""
    torque, release, engage, engaged, assumed = parameters
    wanted = np.where(engaged > 0.5, torque, 0)
    up, down = (np.where(one > 0, torque * h / np.where(one > 0, one, 1), np.inf) for one in (engage, release))
    level = np.where(np.isnan(level), wanted, np.maximum(np.clip(wanted, level - down, level + up), 0))
    inertia = stepped_inertia(inertia_of(told, assumed), coupled, whole)
    tau_e, qd_before, u_before = step_before(effort, qd, h, inertia, load, whole, f, qd_before, u_before)
    damping = np.maximum(s, 0)
    total, *kept = friction_step(level, effort + lift, qd, h, inertia, damping, tau_e, whole, f, qd_before, u_before)
    return total, level, *kept


@law_of("PassiveLuGreFriction")
def lu_gre_law(effort, _q, qd, h, told, load, whole, coupled, s, lift, z, qd_before, before, s0, s1, s2, *rest):
    """LuGre friction: the bristles of Canudas de Wit et al., 1995, exactly over a step of constant speed."""
    coulomb, static, v_s, assumed, as_mujoco, K_m, K_e = rest
    inertia = inertia_of(told, assumed)
    acting, _, _ = step_before(effort, qd, h, inertia, load, whole, 0, qd_before, before)
    gear = np.where((K_m != 0) | (K_e != 0), np.abs(K_e * acting - K_m * effort), 0)
    g = np.maximum(coulomb + gear + np.maximum(static - coulomb, 0) * np.exp(-((qd / v_s) ** 2)), 1e-30)
    a = np.maximum(-s0 * np.abs(qd) / g, -1e30)
    grown = np.where(a * h == 0, h, np.expm1(a * h) / np.where(a == 0, 1, a))
    z_after = z + grown * (qd + a * z)
    # semi-implicit: damping at the velocity after the step, under all that acts
    inertia = stepped_inertia(inertia, coupled, whole)
    tau_e, _, _ = step_before(effort, qd, h, inertia, load, whole, 0, qd_before, before)
    drag = s1 * np.exp(a * h) * (1 - np.clip(s0 * z / g, -1, 1) * np.sign(qd))
    bristles = -s0 * z_after - s1 * grown / h * (qd + a * z)
    # as `friction_law` has it
    falling = s2 + np.maximum(s, 0)
    after = (inertia * qd + h * (effort + lift + tau_e + bristles + drag * qd)) / (inertia + h * (drag + falling))
    implicit = effort + lift + bristles - drag * (after - qd) - falling * after
    # MuJoCo: all of it now
    now = effort - s0 * z - s1 * (qd + a * z) - s2 * qd
    total = np.where(as_mujoco > 0.5, now, implicit)
    return total, z_after, qd, total


@law_of("TransmissionGear")
def gear_law(effort, _q, _qd, _dt, ratio, offset, of_motor):
    """Effort behind a rigid gear, of the power `effort·ratio·velocity` of the motor."""
    # signals of the motor, which a gear turns as the joint, do not enter
    del offset, of_motor
    return (effort * ratio,)


@law_of("ShaftInertia")
def shaft_inertia_law(effort, _q, qd, h, told, rotor, qd_before, f_before, J, assumed):
    """Rotor and joints with one velocity after the step: J·w+ = J·w + h·(effort - f), I·w+ = I·qd + h·(tau_e + f)."""
    inertia = inertia_of(told, assumed)
    rotor, qd_before = (np.where(np.isnan(one), qd, one) for one in (rotor, qd_before))
    f_before = np.where(np.isnan(f_before), effort, f_before)
    # with tau_e = I·(qd - qd_before)/h - f_before
    after = (J * rotor + inertia * (2 * qd - qd_before) + h * (effort - f_before)) / (J + inertia)
    by_joints = inertia * (after - (2 * qd - qd_before)) / h + f_before
    f = np.where(J < inertia, effort - J * (after - rotor) / h, by_joints)
    return f, after, qd, f


@law_of("ShaftFriction")
def shaft_friction_law(effort, _q, qd, h, told, f, qd_before, u_before, coulomb, viscous, load, assumed):
    inertia = inertia_of(told, assumed)
    tau_e, qd_before, u_before = step_before(effort, qd, h, inertia, 0, 0, f, qd_before, u_before)
    level = coulomb + load * np.abs(effort)
    return friction_step(level, effort, qd, h, inertia, viscous, tau_e, 0, f, qd_before, u_before)


@law_of("LinkageShaft")
def shaft_law(effort, _q, _qd, _dt):
    return (effort,)


@law_of("ImplicitEffort")
def effort_mode_law(effort, _q, qd, h, told, load, _whole, coupled, damping, lift, rubs, *given):
    """What the next step has to know; `tests/laws/contract/test_implicit_effort.py` has the mode as a whole."""
    qd_before, whole_before, rest, damped, assumed, share, in_engine = given
    inertia = np.where(coupled > 0, coupled, np.where(told > 0, told / 2, np.where(assumed > 0, assumed, np.nan)))
    # the effort of the step before, whose fall with the velocity a simulator may have had
    u_before = np.where(np.isnan(whole_before), 0, whole_before - damped * qd)
    # what moved the joint in the step before, besides its motor and the load that is told
    seen = inertia * (qd - qd_before) / h - u_before + load
    followed = np.where(rubs > 0.5, 1, share * np.where(told > inertia, inertia / told, 1) ** 2)
    rest = np.where(np.isnan(qd_before), 0, rest + followed * (seen - rest))
    return qd, effort + np.where(in_engine > 0.5, lift, 0), rest, np.where(in_engine > 0.5, damping, 0)


@other_of("ImplicitEffort", "END")
def end_without_motor(q, qd, h, told, load, whole, coupled, *others):
    """Velocity after the step without the motor, under the load and what else acts, and its change per effort."""
    inertia = np.where(coupled > 0, coupled, inertia_of(told / 2, others[-3]))
    rest = effort_mode_law(0, q, qd, h, told, load, whole, coupled, *others)[2]
    gain = h / inertia
    return qd + gain * (np.where(whole > 0.5, 0, rest) - load), gain


@other_of("TransmissionGear", "FELT")
def felt_through_gear(inertia, load, whole, coupled, N, _offset, _of_motor):
    return inertia / N**2, load / N, whole, coupled / N**2


@other_of("TransmissionElastic", "FELT")
def felt_by_rotor(
    _inertia, _load, _whole, _coupled, _th, _thd, _qd_before, f_before, N, _offset, _of_motor, Jr, *_rest
):
    return Jr, f_before / N, 0.0, Jr


@law_of("PassiveCogging")
def cogging_law(effort, q, _qd, _dt, amplitude, periods, phase):
    """Cogging with the sign of MuJoCo's `dcmotor`; angles that float32 does not resolve are none."""
    angle = periods * q + phase
    return (effort + amplitude * np.sin(np.where(np.abs(angle) < 2.0**24, angle, 0)),)


@law_of("PassiveRipple")
def ripple_law(effort, q, _qd, _dt, amplitude, periods, phase):
    """The effort times one and a wave; angles that float32 does not resolve have none."""
    angle = periods * q + phase
    return (effort * (1 + np.where(np.abs(angle) < 2.0**24, amplitude * np.cos(angle), 0)),)


@motor_of("TransmissionGear")
def gear_signals(q, qd, q_target, qd_target, feedforward, N, offset, of_motor):
    """A rigid gear: N turns of the motor per turn of the joint; targets of the motor are taken as they are."""
    joint = N * q_target + offset, N * qd_target, feedforward / N
    own = q_target, qd_target, feedforward
    targets = (np.where(of_motor > 0.5, first, second) for first, second in zip(own, joint, strict=True))
    return N * q + offset, N * qd, *targets


@motor_of("TransmissionElastic")
def rotor_signals(q, qd, q_target, qd_target, feedforward, th, thd, _qd_before, _f_before, N, offset, of_motor, *_rest):
    th, thd = np.where(np.isnan(th), q, th), np.where(np.isnan(thd), qd, thd)
    return N * th + offset, N * thd, *gear_signals(q, qd, q_target, qd_target, feedforward, N, offset, of_motor)[2:]


@law_of("ElectricalWinding")
def winding_law(effort, _q, qd, h, inertia, load, whole, coupled, T, T_h, rise, derating, supply, portion, i, *others):
    """Winding at a constant voltage over a step, current-regulated within the supply."""
    _volts, _power, _loss, qd_before, u_before, K, R, L, *rest = others
    config_supply, most, rate, of_copper, of_magnet, in_volts, driver, as_mujoco, R_on, knee, bandwidth, dead = rest
    R25, R_w = R, R * np.maximum(1 + of_copper * (T - 25), 0.01)
    K = K * np.maximum(1 - of_magnet * (T_h + rise - 25), 0.01)
    R = R_w + R_on
    lags = np.isfinite(bandwidth)
    theirs = (R_on == 0) & np.isinf(knee) & ~lags & (dead == 0)
    good = np.where(((as_mujoco > 0.5) & ~theirs) | (lags & (L > 0)), np.nan, 1.0)
    # the time constant of MuJoCo is that of a cold winding, and so are the voltages of its drive
    R_drive = np.where(as_mujoco > 0.5, R25, R)
    x = np.where(lags, 2 * np.pi * h * np.where(lags, bandwidth, 0), h * R_drive / np.where(L > 0, L, np.nan))
    is_late = lags | (L > 0)
    left = np.where(is_late, np.exp(-x), 0)
    share = np.where(is_late, -np.expm1(-x), 1)
    m = np.where(is_late, share / x, 0)
    V = np.where(supply <= 3.4028234663852886e38, np.maximum(supply, 0), config_supply)
    V = np.where(driver > 1.5, 0, V)
    inertia = np.where(coupled > 0, coupled, inertia / 2)
    implicit = (inertia > 0) & (as_mujoco < 0.5)
    a = np.where(implicit, h / np.where(inertia > 0, inertia, 1), 0)
    # what else acts on the joint: told, or seen in the step before, where a motor at its supply can hold it
    stall = K * (V + K * np.abs(qd)) / np.where(R > 0, R, 1)
    gained = np.where(np.isnan(qd_before), 0, qd - qd_before)
    largest = np.where(whole > 0.5, np.inf, stall)
    else_acts = np.clip(np.where(whole > 0, -load, inertia * gained / h - u_before), -largest, largest)
    free = np.where(implicit, qd + a * else_acts, qd)

    def constant_of(current):
        return K / np.sqrt(1 + (current / knee) ** 2)

    # V = R i_inf + K v+, v+ = free + a K (i_inf (1 - m) + i m), solved for the current that a voltage leads to
    K_before = constant_of(i)

    def current_of(volts):
        return (volts - K_before * free - K_before * a * K_before * m * i) / (R + K_before * a * K_before * (1 - m))

    def mean_of(volts):
        return (volts - K_before * free) / (R + a * K_before**2)

    asked = np.where(
        in_volts > 0.5, current_of(effort), effort / K * np.where(R > 0, R_drive / np.where(R > 0, R, 1), 1)
    )
    limit = np.where((derating >= 1) | np.isinf(most), most, most * np.maximum(derating, 0))
    # MuJoCo limits the rate at the start of a step with inductance, and after the voltage
    as_theirs = (as_mujoco > 0.5) & (L > 0)
    change = rate * np.where(as_theirs, L / np.where(R_drive > 0, R_drive, 1), h)
    shared = asked * np.minimum(portion, 1)
    shared = np.where((dead > 0) & (np.abs(shared - i) <= dead), i, shared)
    wanted = np.clip(np.clip(shared, -limit, limit), i - change, i + change)
    is_current = (in_volts < 0.5) | (wanted != asked)
    mean_wanted = wanted * (1 - m) + i * m
    K_wanted = constant_of(mean_wanted)
    needed = R * np.where(lags, mean_wanted, wanted) + K_wanted * (free + a * K_wanted * mean_wanted)
    needed = np.where(is_current, needed, effort)
    volts = np.clip(needed, -V, V)
    regulated = is_current & (np.abs(needed) <= V)
    limited = np.where(lags, mean_of(volts), current_of(volts))
    bounded = np.where(needed > 0, np.minimum(limited, wanted), np.maximum(limited, wanted))
    limited = np.where(np.isfinite(knee) & is_current & (needed != 0), bounded, limited)
    settled = np.where(regulated, wanted, limited)
    settled = np.where(as_theirs, np.clip(settled, i - change, i + change), settled)
    after = settled * share + i * left
    after = np.where(lags, np.where(regulated, np.clip(after, mean_of(-V), mean_of(V)), limited), after)
    cut = lags & ~regulated
    mean = np.where(as_mujoco > 0.5, after, np.where(cut, limited, settled * (1 - m) + i * m))
    K_used = np.where(regulated, K_wanted, K_before)
    # less than the supply where the demand is less than what it could give
    own = R * np.where(lags, mean, settled) + K_used * (free + a * K_used * mean)
    volts = np.where(np.isfinite(knee) & is_current & ~regulated, own, volts)
    # the mean of the square of a current that decays
    spread = (i - settled) ** 2 * (np.where(is_late, -np.expm1(-2 * x) / (2 * x), 0) - m**2)
    spread = np.where((as_mujoco > 0.5) | cut, 0, spread)
    total = K_used * mean
    power = volts * mean - total * np.where(implicit, free + a * total - qd, 0) / 2 + np.where(lags, R * spread, 0)
    around = np.where(is_late & (mean**2 > 0), np.clip(spread / np.where(mean**2 > 0, mean**2, 1), 0, 3), 0)
    is_open = (driver > 0.5) & (driver < 1.5)
    loss = R_w / np.where(np.isfinite(knee), K_used, K) ** 2 * (1 + np.where(is_open, 0, around))
    found = (total, after, volts, power), (0, 0, K * qd, 0)
    given, *states = (np.where(is_open, off, on) * good for on, off in zip(*found, strict=True))
    return given, *states, loss * good, qd, given


@law_of("LossesOfMotor")
def losses_law(effort, _q, qd, _h, _power, _housing, _flux, k_h, k_e, F, b, gear, share, idle, flux_speed, flux_loss):
    """Iron by hysteresis and eddy currents, heat of friction and gear, and the current that weakens a field."""
    v = np.abs(qd)
    iron = k_h * v + k_e * v**2
    flux = np.where(v > flux_speed, flux_loss * (1 - flux_speed / np.where(v > 0, v, 1)) ** 2, 0)
    return iron + flux + idle, iron + share * (F * v + b * v**2 + gear * np.abs(effort * qd)), flux


@law_of("ThermalTwoNode")
def two_node_law(effort, _q, _qd, h, published, flux, P_h, T_w, T_h, rest_w, rest_h, *others):
    """Winding and housing as two nodes, by the eigenvalues of the symmetric form of the network, exact over the step.

    The rounding errors of the two temperatures are those of float32, so they are NaN here, for no comparison.
    """
    _derating, _kept, rise, rest_m, before, C_w, R_w, C_h, R_h, T_a, K, a, T_1, T_max, *rest = others
    share, kept, discretization, share_m, t_m = rest
    T_w, T_h = (np.where(np.isnan(one), T_a, one) for one in (T_w, T_h))
    T_m = T_h + rest_h + rise
    power = np.where(discretization > 1.5, before, effort) ** 2 * np.where(
        np.isfinite(K), np.maximum(1 + a * (T_w - 25), 0) / K**2, published
    )
    power = power + flux
    q = (T_w - T_h) / R_w
    flows = np.stack([power - q, q + P_h - (T_h - T_a) / R_h], axis=-1)
    # C^-1/2 times the conductances times C^-1/2
    root = np.stack([C_w**-0.5, C_h**-0.5], axis=-1)
    G = np.stack([np.stack([1 / R_w, -1 / R_w], axis=-1), np.stack([-1 / R_w, 1 / R_w + 1 / R_h], axis=-1)], axis=-2)
    S = root[..., :, None] * G * root[..., None, :]
    good = np.isfinite(S).all(axis=(-2, -1))
    rates, V = np.linalg.eigh(np.where(good[..., None, None], S, 0))
    z = np.maximum(rates, 0) * np.asarray(h)[..., None]
    mean = np.where(z > 0, -np.expm1(-z) / np.where(z > 0, z, 1), 1) * np.asarray(h)[..., None]
    V = root[..., :, None] * V
    gained = np.einsum("...ij,...j,...kj,...k->...i", V, mean, V, flows)
    # explicit Euler, as in MuJoCo
    explicit = np.stack([flows[..., 0] / C_w, flows[..., 1] / C_h], axis=-1) * np.asarray(h)[..., None]
    gained = np.where((np.asarray(discretization) > 0.5)[..., None], explicit, gained)
    after = np.stack([T_w + rest_w, T_h + rest_h], axis=-1) + gained
    after = np.where(good[..., None], after, np.nan)
    errors = np.full_like(T_w, np.nan)
    T_1 = np.where(np.isinf(T_1), T_max - 10, T_1)
    part = np.clip((T_max - after[..., 0]) / (T_max - T_1), 0, 1)
    derating = np.where(np.isinf(T_max), 1, np.where(T_1 < T_max, share + part * (1 - share), np.nan))
    # magnets between both, of the mean of the step
    before_m = T_h + rest_h + share_m * (T_w - T_h)
    after_m = after[..., 1] + share_m * (after[..., 0] - after[..., 1])
    lag = np.where(t_m > 0, -np.expm1(-h / np.where(t_m > 0, t_m, 1)), 1)
    magnet = np.where(t_m > 0, T_m + rest_m + lag * ((before_m + after_m) / 2 - T_m), after_m)
    return after[..., 0], after[..., 1], errors, errors, derating, kept, magnet - after[..., 1], errors, effort


@law_of("SupplyBattery")
def battery_law(effort, _q, _qd, h, P, P_more, total_effort, _V, _magnitude, _brake, c, rest, portion, *parameters):
    """Thévenin source with a linear sag: V = U − R·i at P = V·i, up to the largest power that it can give."""
    V_0, R, g, V_min, regenerates, V_max, R_b, Q, c_0, V_e, c_k, V_k, P_max, i_max = parameters
    c = np.clip(np.where(np.isnan(c), c_0, c), 0, 1)
    bent = c_k > 0
    curve = np.where(
        bent & (c < c_k), V_e + (V_k - V_e) * c / np.where(bent, c_k, 1), V_k + (V_0 - V_k) * (c - c_k) / (1 - c_k)
    )
    curve = np.where(bent, curve, V_e + (V_0 - V_e) * c)
    ordered = (V_e <= np.where(bent, V_k, V_0)) & (~bent | (V_k <= V_0))
    bad = (np.isfinite(Q) & ~ordered) | (V_max < V_0) | (V_min > V_0)
    U = np.maximum(np.where(np.isfinite(Q), curve, V_0) - g * total_effort, V_min)
    drawn = P + P_more
    P = np.where(regenerates > 0.5, drawn, np.maximum(drawn, 0))
    largest = np.where(R > 0, U**2 / np.where(R > 0, 4 * R, 1), np.inf)
    V = U / 2 + np.sqrt(np.maximum(U**2 / 4 - R * np.minimum(P, largest), 0))
    # a resistor that is on all the time: V²/R_b + V (V - U)/R = -P
    on = V > V_max
    k = 1 + R / np.where(R_b > 0, R_b, np.nan)
    burdened = np.where(R_b > 0, (U + np.sqrt(U**2 - 4 * k * R * np.minimum(P, 0))) / (2 * k), 0)
    V = np.maximum(np.where(on, np.maximum(V_max, burdened), V), V_min)
    taken = np.where(on, V * (V - U) / np.where(R > 0, R, 1), -P)
    brake = np.maximum(-drawn, 0) - np.maximum(taken, 0)
    after = c + rest - h * (drawn + brake) / np.where(V > 0, V, 1) / (3600 * Q)
    most = np.minimum(P_max, i_max * V)
    share = np.where((drawn > 0) & np.isfinite(most), portion * np.sqrt(most / np.where(drawn > 0, drawn, 1)), 1)
    found = V, np.abs(effort), brake, np.clip(after, 0, 1), np.full_like(V, np.nan), np.clip(share, 1e-3, 1)
    return tuple(np.where(bad, np.nan, one) for one in found)


@law_of("TransmissionElastic")
def elastic_law(effort, q, qd, h, told, load, whole, th, thd, qd_before, f_before, N, _offset, _targets, *rest):
    """Rotor and joint with a spring and a gap between them, by the linear equations of an implicit step."""
    Jr, k, c, backlash, br, assumed = rest
    # nothing is lighter than 1e-20
    inertia = np.maximum(inertia_of(told, assumed), 1e-20)
    th, thd, qd_before = (np.where(np.isnan(one), now, one) for one, now in ((th, q), (thd, qd), (qd_before, qd)))
    k, c, beta = np.minimum(k, inertia / (2 * h) ** 2), np.minimum(c, inertia / (4 * h)), backlash / 2
    tau_e = np.where(whole > 0, -load, inertia * (qd - qd_before) / h - f_before)
    J, d = np.maximum(N**2 * Jr, 1e-20), th - q
    M = J + h * N**2 * br
    # momenta without spring, and where that leads
    P, Q = J * thd + h * N * effort, inertia * qd + h * tau_e
    free = d + h * (P / M - Q / inertia)
    edge = np.minimum(np.maximum(free, -beta), beta)
    # M·w + h·f = P, inertia·v - h·f = Q, f = k·(d - edge + ahead·h·(w - v)) + c·(w - v), by Cramer's rule
    e = d - edge
    product = h**2 * k * (1 / M + 1 / inertia)
    theta = 0.9 * np.minimum(np.maximum((16 * product - 1) / 3, 0), 1)
    a = np.where((backlash > 0) & (e * (free - edge) < 0), 1.0, theta) * h * k + c
    det = M * inertia + h * a * (M + inertia)
    f = (M * inertia * k * e + a * (inertia * P - M * Q)) / det
    w = ((inertia + h * a) * P - h * inertia * k * e + h * a * Q) / det
    v = ((M + h * a) * Q + h * (M * k * e + a * P)) / det
    # teeth that would stop before they touch end where they do: d + h·(w - v) = edge
    early = (d + h * (w - v) - edge) * (free - edge) < 0
    stop, at_stop = (free - edge) * M * inertia / (h**2 * (M + inertia)), (P + Q - inertia * e / h) / (M + inertia)
    gap, pulls = backlash > 0, f * (free - edge) <= 0
    f, w = (
        np.where(gap & early, touch, np.where(gap & pulls, apart, spring))
        for apart, touch, spring in ((0, stop, f), (P / M, at_stop, w))
    )
    is_light = J <= 1e-20
    f = np.where(is_light, N * effort, f)
    return f, np.where(is_light, q, th + h * w), np.where(is_light, qd, w), qd, f


def mixed(bits):
    """Output function PCG-RXS-M-XS 32/32 of O'Neill's PCG paper, after one step of the generator with its constants."""
    most = 2**32 - 1
    state = (bits * 747796405 + 2891336453) & most
    word = (((state >> ((state >> 28) + 4)) ^ state) * 277803737) & most
    return (word >> 22) ^ word


def uniform(seed, place, count):
    """The upper 24 of 32 bits, as a fraction, of a hash of three integers."""
    seed, place, count = (
        np.rint(np.asarray(one, float)).astype(np.int64).astype(object) for one in (seed, place, count)
    )
    bits = mixed((mixed((mixed(seed) + place) & (2**32 - 1)) + count) & (2**32 - 1))
    return np.asarray(bits >> 8, float) / 2**24


def gaussian(seed, place, count):
    radius = np.sqrt(-2 * np.log1p(-uniform(seed, place, count)))
    return radius * np.cos(2 * np.pi * uniform(seed, place, np.asarray(count) + 1))


def quantized(value, resolution):
    """The nearest multiple, up to 2²² of them."""
    step = np.where(resolution > 0, resolution, 1)
    return np.where((resolution > 0) & (np.abs(value / step) < 2**22), np.rint(value / step) * step, value)


@law_of("FeedbackEncoder")
def encoder_law(q, qd, h, place, q_before, v_before, count, resolution, bias, noise, latency, steps, register, *rest):
    velocity_resolution, T, seed = rest
    q_m = quantized(q + bias + np.where(noise > 0, noise * gaussian(seed, place, count), 0), resolution)
    difference = (q_m - q_before) / h
    difference = np.where(np.abs(difference) <= np.finfo(np.float32).max, difference, qd)
    u = np.where(register > 0.5, quantized(qd, velocity_resolution), difference)
    u = np.where(np.isnan(q_before), qd, u)
    v_before = np.where(np.isnan(v_before), u, v_before)
    v_m = (T * v_before + h * u) / (T + h)
    return q_m, v_m, steps + latency / h, q_m, v_m, np.where(count < 2**23 - 2, count + 2, 0)


@law_of("DelayTimed")
def timed_delay_law(h, robot, drawn, left, draws, seconds, steps, most, period, hold, seed):
    first = np.isnan(drawn)
    due = first | (left < 0.5)
    draws = np.where(due, np.where(draws < 2**23, draws + 1, 0), draws)
    chance = uniform(seed, robot, 2 * draws + 1)
    among = np.floor(uniform(seed, robot, 2 * draws) * (np.rint(most) + 1))
    drawn = np.where(first | (due & (chance >= hold)), among, drawn)
    left = np.where(first, np.floor(chance * np.rint(period)), np.where(due, np.rint(period), left) - 1)
    return steps + seconds / h + drawn, drawn, left, draws


@law_of("CommandWrap")
def wrap_law(q, _qd, q_target, qd_target, feedforward, _h, turns, period, hysteresis):
    """The target by the shorter way round; the side is kept up to a hysteresis beyond half a turn."""
    apart, turns = q_target - q, np.rint(turns)
    kept = np.abs(apart + turns * period) <= period / 2 + hysteresis
    # in single precision, which decides which side is the shorter one
    shorter = -np.rint((np.float32(apart) * (np.float32(1) / np.float32(period))).astype(float))
    added = np.where(kept & ~np.isnan(turns), turns, shorter)
    added = np.where(np.abs(added) < 2**22, added, np.nan)
    return q_target + added * period, qd_target, feedforward, added


def lagged(y, u, h, T):
    """Solution of T·dy/dt = u − y after a step, u held."""
    return np.where(T == 0, u, u + (y - u) * np.exp(-h / np.where(T == 0, 1, T)))


@law_of("CommandLag")
def command_lag_law(q, _qd, q_target, qd_target, feedforward, h, was_q, was_qd, was_effort, T):
    """Commands that follow with a time constant, first from the position of the joint and from 0."""
    was = np.where(np.isnan(was_q), q, was_q), was_qd, was_effort
    found = [lagged(y, u, h, T) for y, u in zip(was, (q_target, qd_target, feedforward), strict=True)]
    return *found, *found


@law_of("EffortLagFirstOrder")
def effort_lag_law(effort, _q, _qd, h, was, T):
    found = lagged(was, effort, h, T)
    return found, found


@law_of("ControllerStepper")
def stepper_law(q, qd, q_target, qd_target, feedforward, _h, holding, steps, kd):
    """The static torque curve of a stepper, whose period is four full steps, and damping."""
    angle = steps / 4 * (q_target - q)
    field = holding * np.sin(np.where(np.abs(angle) < 2.0**24, angle, 0))
    return (feedforward + field + kd * (qd_target - qd),)


@law_of("EffortDelayTimed")
def effort_delay_law(effort, _q, _qd, h, seconds, steps):
    return effort, steps + seconds / h


def period_of(h, decimation, frequency):
    """Physics steps between two computations of a controller, whole up to rounding of the step."""
    n = np.minimum(np.where(frequency > 0, 1 / (np.where(frequency > 0, frequency, 1) * h), decimation), 2**22)
    return np.maximum(np.where(np.abs(n - np.rint(n)) < 1e-6 * n, np.rint(n), n), 1)


@other_of("RateHold", "TICK")
def rate_is_due(h, clock, _held, decimation, frequency, _phase):
    return (np.where(np.isnan(clock) | (clock + 1 >= period_of(h, decimation, frequency) - 1e-3), 1, 0),)


@law_of("RateHold")
def rate_law(effort, _q, _qd, h, clock, held, decimation, frequency, phase):
    n = period_of(h, decimation, frequency)
    due = np.isnan(clock) | (clock + 1 >= n - 1e-3)
    after = np.where(np.isnan(clock), phase * n, np.where(due, clock + 1 - n, clock + 1))
    acting = np.where(due, effort, held)
    return acting, after, acting


@law_of("ControllerPD")
def pd_law(q, qd, q_target, qd_target, feedforward, _dt, kp, kd, const_effort):
    return (pd_effort(q, qd, q_target, qd_target, feedforward, kp, kd, const_effort),)


@law_of("ControllerPID")
def pid_law(q, qd, q_target, qd_target, feedforward, dt, integral, kp, ki, kd, integral_max, const_effort):
    integral = pid_integral(integral, q, q_target, dt, integral_max)
    return pid_effort(q, qd, q_target, qd_target, feedforward, kp, ki, kd, const_effort, integral), integral


@law_of("ControllerGearedPD")
def geared_pd_law(q, qd, q_target, qd_target, feedforward, _dt, kp, kd, gear, const_effort):
    """PD control of the motor: its positions are the joint's times the gear, the joint's efforts its own times it."""
    return (gear * pd_effort(gear * q, gear * qd, q_target, qd_target, feedforward, kp, kd, const_effort),)


@law_of("ControllerGearedPID")
def geared_pid_law(q, qd, q_target, qd_target, feedforward, dt, integral, kp, ki, kd, integral_max, gear, const_effort):
    q, qd = gear * q, gear * qd
    integral = pid_integral(integral, q, q_target, dt, integral_max)
    motor = pid_effort(q, qd, q_target, qd_target, feedforward, kp, ki, kd, const_effort, integral)
    return gear * motor, integral


def profile_of(target, setpoint, velocity, h, top, a):
    """Trapezoid of velocity: braking distance v²/(2a) + v·h/2 of steps of a·h, never beyond the target in one step."""
    left = target - setpoint
    # the root of the braking distance, where there is an acceleration
    root = np.sqrt((a * h / 2) ** 2 + 2 * a * np.abs(left)) - a * h / 2
    cancels = np.isinf(a) | (8 * np.abs(left) < 1e-8 * a * h**2)
    fastest = np.minimum(np.where(cancels, np.inf, root), np.abs(left) / h)
    wanted = np.sign(left) * np.minimum(fastest, top)
    moved = np.minimum(np.maximum(wanted, velocity - a * h), velocity + a * h)
    absent = np.isinf(top) & np.isinf(a)
    return np.where(absent, target, setpoint + h * moved), np.where(absent, 0, moved)


@law_of("ControllerStartupPD")
def startup_pd_law(q, qd, q_target, qd_target, feedforward, _dt, kp, kd, startup, const_effort):
    return (pd_effort(q, qd, q_target, qd_target, feedforward, kp, kd, const_effort) + startup * np.sign(q_target - q),)


@law_of("ControllerSlewedPID")
def slewed_pid_law(q, qd, q_target, qd_target, feedforward, dt, integral, setpoint, rest, kp, ki, kd, rate, *others):
    """PID control of a target that is approached at a limited velocity.

    The rounding error is that of float32, so it is NaN here, for no comparison; the next step has none.
    """
    setpoint, rest = np.where(np.isnan(setpoint), q, setpoint), np.where(np.isnan(rest), 0, rest)
    ahead = q_target - setpoint
    setpoint = np.where(np.abs(ahead) <= rate * dt, q_target, setpoint + rest + np.sign(ahead) * rate * dt)
    found = pid_law(q, qd, setpoint, qd_target, feedforward, dt, integral, kp, ki, kd, *others)
    return *found, setpoint, np.full_like(setpoint, np.nan)


@law_of("ControllerServo")
def servo_law(q, qd, q_target, qd_target, feedforward, h, told, duty, setpoint, velocity, integral, *parameters):
    """Duty of the firmware times the voltage of the battery, and a voltage of the caller's own."""
    kp, gain, battery, most, least, band, kd, rate, top, a, ki = parameters
    setpoint = np.where(np.isnan(setpoint), q, setpoint)
    setpoint, velocity = profile_of(q_target, setpoint, velocity, h, top, a)
    error = np.where(np.abs(setpoint - q) <= band, 0, setpoint - q)
    integral = np.where(gain * ki > 0, np.clip(integral + gain * ki * error * h, -most, most), 0)
    wanted = gain * (kp * error + kd * (qd_target + velocity - qd)) + integral
    wanted = np.sign(wanted) * np.minimum(np.maximum(np.abs(wanted), least), most)
    duty = np.minimum(np.maximum(wanted, duty - rate * h), duty + rate * h)
    return duty * np.where(np.isinf(told), battery, told) + feedforward, duty, setpoint, velocity, integral


@law_of("ClampingMaxEffort")
def max_effort_law(effort, _q, _qd, _dt, max_effort):
    return (max_effort_clamp(effort, max_effort),)


@law_of("ClampingDCMotor")
def dc_motor_law(effort, _q, qd, _dt, saturation_effort, velocity_limit, max_motor_effort):
    rows = zip(effort, qd, saturation_effort, velocity_limit, max_motor_effort, strict=True)
    return (np.array([dc_motor_clamp(*row) for row in rows]),)


@law_of("ClampingDCMotorCutoff")
def dc_motor_cutoff_law(effort, _q, qd, _dt, saturation_effort, velocity_limit, max_motor_effort):
    efforts = []
    for wanted, v, stall, top, peak in zip(
        effort, qd, saturation_effort, velocity_limit, max_motor_effort, strict=True
    ):
        share = 0.0 if np.isinf(top) else v / top
        upper = min(stall * (1 - share), peak) if share < 1 else 0.0
        lower = -min(stall * (1 + share), peak) if share > -1 else 0.0
        efforts.append(min(max(wanted, lower), upper))
    return (np.array(efforts),)


def envelope_most(table, along, derating, max_power, max_driving_effort):
    """Largest effort [N·m or N] at a velocity along it, whatever the voltage is."""
    left = np.clip(derating, 0, 1)
    most, driving = (
        np.where(left > 0, limit * np.where(left > 0, left, 1), 0) for limit in (table, max_driving_effort)
    )
    by_power = np.where(along > 1e-18, max_power / np.where(along > 0, along, 1), np.inf)
    return np.where(along > 0, np.minimum(np.minimum(most, driving), by_power), most)


@law_of("ClampingEnvelope")
def envelope_law(effort, _q, qd, _dt, derating, voltage, stall, no_load, nominal, power, driving, forward, backward):
    """Envelope of a table, given its values at the velocity and at its opposite, and of a line in volts."""
    most = envelope_most(forward, qd, derating, power, driving)
    least = -envelope_most(backward, -qd, derating, power, driving)
    scaled = (nominal > 0) & np.isfinite(nominal) & np.isfinite(voltage)
    # the effort of a winding at V volts, with V as its share of the nominal voltage
    share = np.where(scaled, np.maximum(voltage, 0) / np.where(scaled, nominal, 1), 1)
    back_emf = np.where(np.isinf(no_load), 0, qd / no_load)
    finite = np.where(np.isinf(stall), 0, stall)
    upper = np.where(np.isinf(stall), np.inf, finite * (share - back_emf))
    lower = np.where(np.isinf(stall), -np.inf, finite * (-share - back_emf))
    upper, lower = (np.minimum(np.maximum(bound, least), most) for bound in (upper, lower))
    return (np.minimum(np.maximum(effort, lower), upper),)


@law_of("ClampingPositionBased")
def position_based_law(effort, _q, _qd, _dt, limit):
    return (max_effort_clamp(effort, limit),)


def table_limit(q, positions, efforts):
    """Limit [N·m or N] of one joint from a table."""
    row = sum(position < q for position in positions)
    if row in (0, len(positions)):
        return efforts[min(row, len(positions) - 1)]
    share = (q - positions[row - 1]) / (positions[row] - positions[row - 1])
    return efforts[row - 1] + share * (efforts[row] - efforts[row - 1])


class Joint:
    """One joint: delay, PD or PID, and clamps in order, in float64.

    `clamps` holds `("max", max_effort)`, `("dc", saturation_effort, velocity_limit, max_motor_effort)` or
    `("table", positions, efforts)`.
    """

    def __init__(self, kp, kd, ki=None, integral_max=np.inf, const_effort=0.0, clamps=(), delay_steps=0) -> None:
        self.gains = kp, ki, kd, const_effort
        self.integral_max, self.clamps, self.delay_steps = integral_max, clamps, delay_steps
        self.reset()

    def reset(self) -> None:
        self.integral, self.commands = 0.0, []

    def step(self, q, qd, q_target, qd_target, feedforward, dt=1.0):
        """Return the effort; with an input that is not finite 0, and of a command what is not is held from before."""
        inputs = [float(x) for x in (q, qd, q_target, qd_target, feedforward)]
        command = inputs[2:]
        if self.commands:
            command = [new if np.isfinite(new) else old for new, old in zip(command, self.commands[-1], strict=True)]
        if np.isfinite(command).all():
            self.commands.append(command)
        if not np.isfinite(inputs).all():
            return 0.0
        command = self.commands[max(len(self.commands) - 1 - int(self.delay_steps), 0)]
        kp, ki, kd, const = self.gains
        if ki is None:
            effort = pd_effort(*inputs[:2], *command, kp, kd, const)
        else:
            self.integral = pid_integral(self.integral, inputs[0], command[0], dt, self.integral_max)
            effort = pid_effort(*inputs[:2], *command, kp, ki, kd, const, self.integral)
        for kind, *values in self.clamps:
            if kind == "max":
                effort = max_effort_clamp(effort, *values)
            elif kind == "dc":
                effort = dc_motor_clamp(effort, inputs[1], *values)
            else:
                effort = max_effort_clamp(effort, table_limit(inputs[0], *values))
        return effort


class Pipeline:
    """Delay, PD and limit for arrays of joints, each with its own parameters, in float64."""

    def __init__(self, kp, kd, const_effort=0.0, max_effort=np.inf, delay_steps=0) -> None:
        self.kp, self.kd, const, self.max_effort, delay = (
            np.asarray(value) for value in np.broadcast_arrays(kp, kd, const_effort, max_effort, delay_steps)
        )
        flat = zip(*(p.ravel() for p in (self.kp, self.kd, const, self.max_effort, delay)), strict=True)
        self.joints = [Joint(p, d, const_effort=c, clamps=[("max", m)], delay_steps=n) for p, d, c, m, n in flat]

    def reset(self, mask) -> None:
        for joint, masked in zip(self.joints, np.ravel(mask), strict=True):
            if masked:
                joint.reset()

    def step(self, q, qd, q_target, qd_target, feedforward):
        inputs = zip(*(np.ravel(x) for x in (q, qd, q_target, qd_target, feedforward)), strict=True)
        efforts = [joint.step(*values) for joint, values in zip(self.joints, inputs, strict=True)]
        return np.reshape(efforts, np.shape(q))
