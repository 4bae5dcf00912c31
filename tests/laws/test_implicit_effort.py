"""Efforts at the end of the step: the fixed point, joints of any gain that settle, friction, states and faults."""

import contextlib
import functools
from collections.abc import Callable, Sequence

import isaacsim.core.experimental.actuators as aa
import numpy as np
import oracle
import pytest
from isaacsim.core.experimental.actuators.base import native
from isaacsim.core.experimental.actuators.laws.contract.coupling import inertias_of
from isaacsim.core.experimental.actuators.loops import actuated
from one_inertia import state_of
from refusals import cases

DT = float(np.float32(0.005))
COUNT = 1000


def joints_of(stages: list, inertia: np.ndarray | float, load=None, **mode: float) -> aa.ActuatedArrays:
    """Robots of one joint with efforts at the end of the step, that know inertia and load unless this is None."""
    inertia = np.atleast_1d(inertia)
    arrays = aa.ActuatedArrays(["j"], {"j": [*stages, aa.ImplicitConfig(**mode)]}, len(inertia))
    arrays.set_mass_matrix(inertia[:, None, None])
    if load is not None:
        arrays.set_loads(-np.asarray(load)[:, None], are_whole=True)
    return arrays


def column(values) -> np.ndarray:
    return np.ascontiguousarray(np.asarray(values, np.float32).reshape(-1, 1))


def bisected(residual: Callable[[np.ndarray], np.ndarray], most: float = 1e6) -> np.ndarray:
    low, high = np.full(COUNT, -most), np.full(COUNT, most)
    for _ in range(100):
        middle = (low + high) / 2
        above = residual(middle) > 0
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return (low + high) / 2


DC_MOTOR = aa.DCMotorClampingConfig(30.0, 10.0, 23.0)
LIMITS = {
    "none": ([], lambda effort, q, v: effort),
    "constant": ([aa.MaxEffortClampingConfig(15.0)], lambda effort, q, v: np.clip(effort, -15, 15)),
    "motor": ([DC_MOTOR], lambda effort, q, v: np.vectorize(oracle.dc_motor_clamp)(effort, v, 30.0, 10.0, 23.0)),
    "motor without a speed curve": (
        [aa.DCMotorClampingConfig(np.inf, 10.0, 23.0)],
        lambda effort, q, v: np.clip(effort, -23, 23),
    ),
    "motor that a limit follows": (
        [DC_MOTOR, aa.MaxEffortClampingConfig(18.0)],
        lambda effort, q, v: np.clip(np.vectorize(oracle.dc_motor_clamp)(effort, v, 30.0, 10.0, 23.0), -18, 18),
    ),
    "table": (
        [aa.PositionBasedClampingConfig([-2.0, 0.0, 2.0], [5.0, 20.0, 8.0])],
        lambda effort, q, v: np.clip(
            effort, -np.interp(q, [-2, 0, 2], [5, 20, 8]), np.interp(q, [-2, 0, 2], [5, 20, 8])
        ),
    ),
}


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("modes", [(True, True), (True, False)], ids=["one mode", "two modes"])
def test_friction_is_told_of_a_whole_load_by_the_simulator_alone(modes, whole) -> None:
    """The load of the mode is an estimate, of which friction takes half; its inertia is that of its own joint."""
    motor, mode = [aa.PDControlConfig(0.0, 0.0), aa.FrictionConfig(coulomb=1e3)], [aa.ImplicitConfig()]
    motors = {name: [*motor, *mode] if ends else motor for name, ends in zip("ab", modes, strict=True)}
    arrays = aa.ActuatedArrays(["a", "b"], motors)
    masses = np.array([[0.3, 0.1], [0.1, 0.2]])
    arrays.set_mass_matrix(masses)
    arrays.set_loads([0.0, 0.0], are_whole=whole)
    still = np.zeros((1, 2), np.float32)
    found = arrays.step(still, still + 1.0, still, DT)
    alone, coupled = inertias_of(masses)
    known = np.where(np.array(modes) | (not whole), coupled, alone)
    np.testing.assert_allclose(found[0], -(1.0 if whole else 0.5) * known / DT, rtol=1e-5)


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("gains", [(25.0, 0.5), (2000.0, 20.0), (20000.0, 100.0)], ids=str)
@pytest.mark.parametrize("limit", LIMITS)
def test_effort_is_that_of_the_end_of_the_step(gains, limit, rng) -> None:
    (kp, kd), (stages, limited) = gains, LIMITS[limit]
    q, qd, target, speed, fed, load = (
        np.float32(rng.normal(size=COUNT) * most).astype(float) for most in (1, 4, 1, 2, 3, 5)
    )
    inertia = np.float32(10.0 ** rng.uniform(-3, 0, COUNT)).astype(float)
    arrays = joints_of([aa.PDControlConfig(kp, kd), *stages], inertia, load)
    found = arrays.step(*map(column, (q, qd, target)), DT, qd_target=column(speed), feedforward=column(fed))

    def residual(effort: np.ndarray) -> np.ndarray:
        after = qd + DT * (effort + load) / inertia
        position = q + DT * after
        demand = oracle.pd_effort(position, after, target, speed, fed, kp, kd, 0.0)
        return limited(demand, position, after) - effort

    wanted = bisected(residual)
    # the position has 24 bits, of which the stiffness makes an effort
    np.testing.assert_allclose(found[:, 0], wanted, rtol=5e-5, atol=1e-5 + 2e-7 * kp)


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("gains", [(25.0, 0.5), (2000.0, 20.0), (20000.0, 100.0)], ids=str)
@cases(
    "limit, limits",
    (1e9, []),
    (15.0, [aa.MaxEffortClampingConfig(15.0)]),
    (15.0, [aa.PositionBasedClampingConfig([-9.0, 9.0], [15.0, 15.0])]),
    ids=["free", "one sweep", "stages"],
)
def test_what_a_simulator_takes_over_is_the_law_as_a_line(gains, limit, limits, rng, monkeypatch) -> None:
    # as with a simulator
    monkeypatch.setattr(actuated, "require_no_damping_in_engine", lambda entries: None)
    (kp, kd), inertia = gains, np.float32(10.0 ** rng.uniform(-3, 0, COUNT)).astype(float)
    q, qd, target, load = (np.float32(rng.normal(size=COUNT) * most).astype(float) for most in (1, 4, 1, 5))
    motor = [aa.PDControlConfig(kp, kd), *limits]
    effort = joints_of(motor, inertia, load).step(*map(column, (q, qd, target)), DT)[:, 0]
    arrays = joints_of(motor, inertia, load, in_engine=True)
    np.testing.assert_array_equal(arrays.step(*map(column, (q, qd, target)), DT)[:, 0], effort)
    damping, whole = (state_of(arrays, name).ravel() for name in ("engine_damping", "previous_effort"))
    after, tangent = qd + DT * (effort + load) / inertia, kd + DT * kp
    np.testing.assert_allclose(whole - damping * after, effort, rtol=1e-4, atol=1e-3 * tangent)
    line = effort + tangent * (after - qd)
    held = np.clip(kp * (target - q - DT * qd) - kd * qd, -limit, limit)
    bent = effort + np.clip((held - effort) / (after - qd), 0, tangent) * (after - qd)
    wanted = np.where(np.abs(effort) >= limit * (1 - 1e-4), effort, bent)
    # a bend of a hundredth, or of as much as 1e-5 rad, is none
    slack = 0.015 * (np.abs(line) + np.abs(held)) + 1.5e-5 * tangent / DT
    assert (np.abs(whole - damping * qd - wanted) <= slack).all()
    assert (damping >= 0).all() and (damping <= tangent * 1.001).all()
    if not limits:
        np.testing.assert_allclose(damping, tangent, rtol=1e-3)


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("gains", [(25.0, 40.0, 0.5), (2000.0, 500.0, 20.0)], ids=str)
@pytest.mark.parametrize("limit", [np.inf, 15.0])
def test_setpoint_that_moves_slowly_is_that_of_the_end_of_the_step(gains, limit, rng) -> None:
    (kp, ki, kd), rate, most = gains, 2.0, 0.4
    law = aa.SlewedPIDControlConfig(kp, ki, kd, max_rate=rate, integral_max=most)
    inertia = np.float32(10.0 ** rng.uniform(-2, 0, COUNT)).astype(float)
    q, qd = (np.float32(rng.normal(size=COUNT)).astype(float) for _ in range(2))
    arrays = joints_of([law, aa.MaxEffortClampingConfig(limit)], inertia, np.zeros(COUNT))

    def solved(effort: np.ndarray, given: Sequence, kept: Sequence) -> tuple[np.ndarray, ...]:
        position, velocity, wish = given
        after = velocity + DT * effort / inertia
        signals = position + DT * after, after, wish, 0.0, 0.0, DT
        return oracle.slewed_pid_law(*signals, *kept, np.zeros(COUNT), kp, ki, kd, rate, most, 0.0)[:3]

    kept = np.zeros(COUNT), np.full(COUNT, np.nan)
    for step in range(30):
        target = np.float32(q + rng.normal(size=COUNT) * (0.02 if step % 2 else 1.0)).astype(float)
        found = arrays.step(*map(column, (q, qd, target)), DT)[:, 0]
        law_at = functools.partial(solved, given=(q, qd, target), kept=kept)
        wanted = bisected(lambda effort, law_at=law_at: np.clip(law_at(effort)[0], -limit, limit) - effort)
        np.testing.assert_allclose(found, wanted, rtol=5e-5, atol=1e-4 + 5e-7 * kp)
        kept = law_at(wanted)[1:]
        qd = np.float32(qd + DT * wanted / inertia).astype(float)
        q = np.float32(q + DT * qd).astype(float)


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("limit", [1e9, 20.0], ids=["free", "limited"])
@pytest.mark.parametrize("friction", [(1.0, 0.0), (0.0, 0.3), (3.0, 0.3)], ids=str)
def test_friction_is_solved_with_the_motor(friction, limit, rng) -> None:
    (coulomb, viscous), (kp, kd) = friction, (400.0, 5.0)
    q, qd, target, load = (np.float32(rng.normal(size=COUNT) * most).astype(float) for most in (1, 4, 1, 5))
    inertia = np.float32(10.0 ** rng.uniform(-2, 0, COUNT)).astype(float)
    stages = [
        aa.PDControlConfig(kp, kd),
        aa.MaxEffortClampingConfig(limit),
        aa.FrictionConfig(coulomb, viscous=viscous),
    ]
    found = joints_of(stages, inertia, load).step(*map(column, (q, qd, target)), DT)[:, 0]

    def total(after: np.ndarray) -> np.ndarray:
        demand = kp * (target - q - DT * after) - kd * after
        return np.clip(demand, -limit, limit) - viscous * after - coulomb * np.sign(after)

    after = bisected(lambda v: qd + DT * (total(v) + load) / inertia - v, 1e3)
    np.testing.assert_allclose(found, inertia * (after - qd) / DT - load, rtol=1e-4, atol=2e-3)


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("told", [True, False], ids=["told", "felt"])
@pytest.mark.parametrize("factor", [0.5, 1.0])
@pytest.mark.slow
def test_joint_of_any_gain_settles_where_an_explicit_one_rests(factor, told) -> None:
    """Stability numbers 0.5 … 1000 with a load, the inertia right or half of it: no sag, and no vibration."""
    inertia, load = 0.02, 5.0
    kp = np.array([0.5, 2.0, 20.0, 200.0, 1000.0]) * 2 * inertia / DT**2
    motor = [aa.PDControlConfig(0.0, 0.0)]
    arrays = joints_of(motor, np.full(5, inertia * factor), np.full(5, load) if told else None)
    controller = arrays.actuators[0].controller
    controller.kp.assign(kp.astype(np.float32))
    controller.kd.assign((kp * DT / 2).astype(np.float32))
    q, qd, target = np.zeros(5), np.zeros(5), column(np.full(5, 0.5))
    for step in range(1500):
        effort = np.array(arrays.step(column(q), column(qd), target, DT), float)[:, 0]
        qd = qd + DT * (effort + load) / inertia
        q = q + DT * qd
        if step > 1300:
            # a position has 24 bits
            assert np.abs(qd).max() < 3e-5
    np.testing.assert_allclose(q - 0.5, load / kp, rtol=1e-4, atol=1e-7)
    assert not arrays.faults


def test_integral_is_that_of_the_end_of_the_step() -> None:
    arrays = joints_of([aa.PIDControlConfig(200.0, 50.0, 5.0)], np.full(1, 0.05), np.zeros(1))
    q, qd, target = (column([one]) for one in (0.1, 1.0, 0.4))
    effort = float(arrays.step(q, qd, target, DT)[0, 0])
    after = 1.0 + DT * effort / 0.05
    integral = DT * (0.4 - 0.1 - DT * after)
    np.testing.assert_allclose(state_of(arrays, "integral"), integral, rtol=1e-5)
    np.testing.assert_allclose(effort, 200 * (0.3 - DT * after) - 5 * after + 50 * integral, rtol=1e-5)


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("has_mode", [False, True], ids=["of its own", "of a neighbour"])
def test_friction_sees_states_once(has_mode) -> None:
    """It evaluates motors again: with the current of before, whose rate is limited here, or the integral of before."""
    winding = aa.ElectricalConfig(torque_constant=0.5, resistance=0.4, max_current_rate=1.0)
    motor, mode = [aa.PDControlConfig(10.0, 1.0), winding], aa.ImplicitConfig(assumed_inertia=0.1)
    friction = aa.FrictionConfig(coulomb=0.0 if not has_mode else 0.2, assumed_inertia=0.1)
    motors = {
        "a": [*motor, *([] if has_mode else [friction]), mode],
        "b": [aa.PDControlConfig(1.0, 1.0), friction, mode],
    }
    arrays, target = aa.ActuatedArrays(["a", "b"], motors), np.full(2, 0.5, np.float32)
    zero = np.zeros(2, np.float32)
    efforts = [float(arrays.step(zero, zero, target, DT)[0]) for _ in range(3)]
    np.testing.assert_allclose(efforts, 0.5 * 1.0 * DT * np.arange(1, 4), rtol=1e-5)


@pytest.mark.skipif(native.core is None, reason="the native core was not built")
@pytest.mark.parametrize("in_engine", [False, True])
@pytest.mark.parametrize("robots", [1, 100])
@cases("limits", [], [15.0], [DC_MOTOR], [DC_MOTOR, 15.0], ids=["none", "constant", "motor", "both"])
@cases(
    "law, friction",
    (aa.PDControlConfig(2000.0, 20.0), []),
    (aa.PIDControlConfig(2000.0, 5000.0, 20.0), []),
    (aa.PDControlConfig(2000.0, 20.0), [aa.FrictionConfig(coulomb=2.0, viscous=0.1, static=3.0)]),
    (
        aa.PDControlConfig(2000.0, 20.0),
        [aa.FrictionConfig(coulomb=2.0, stribeck_exponent=1.5, motor_load=0.1, external_load=0.1)],
    ),
    ids=["PD", "PID", "friction", "friction of loads"],
)
def test_one_sweep_solves_what_stages_do_one_by_one(law, friction, limits, robots, in_engine, rng, monkeypatch) -> None:
    # as with a simulator
    monkeypatch.setattr(actuated, "require_no_damping_in_engine", lambda entries: None)
    names, inertia = [f"j{number}" for number in range(12)], 10.0 ** rng.uniform(-3, 0, 12)
    stages = [aa.MaxEffortClampingConfig(one) if isinstance(one, float) else one for one in limits]
    motion = rng.normal(size=(8, 3, robots, 12)).astype(np.float32) * np.float32([[[[1.0]], [[4.0]], [[1.0]]]])
    # NaN of either sign
    motion[3, 0, 0, 5], motion[5, 1, 0, 7], motion[6, 2, 0, 2] = np.nan, np.inf, -np.float32(np.nan)

    def run(recorded: bool) -> tuple[np.ndarray, dict, list]:
        arrays = aa.ActuatedArrays(
            names, {".*": [law, *stages, *friction, aa.ImplicitConfig(in_engine=in_engine)]}, robots
        )
        arrays.set_mass_matrix(np.diag(inertia))
        with arrays.record() if recorded else contextlib.nullcontext():
            efforts = [np.array(arrays.step(*map(np.ascontiguousarray, one), DT)) for one in motion]
        return np.array(efforts), dict(arrays.save_state()), list(arrays.faults)

    (one, states, faults), (other, others, wanted) = run(False), run(True)
    np.testing.assert_array_equal(one, other)
    assert faults == wanted and len(faults) == 3
    for name in states:
        np.testing.assert_array_equal(states[name], others[name], err_msg=name)


@pytest.mark.usefixtures("backend")
def test_motor_keeps_its_limit_behind_friction(rng) -> None:
    stages = [aa.PDControlConfig(20000.0, 100.0), aa.MaxEffortClampingConfig(5.0), aa.FrictionConfig(coulomb=8.0)]
    arrays = joints_of(stages, np.full(200, 0.02), rng.normal(size=200) * 9)
    q, qd, target = (column(rng.normal(size=200)) for _ in range(3))
    with arrays.record() as recording:
        arrays.step(q, qd, target, DT)
    assert np.abs(recording.motor_efforts).max() <= 5.0


@pytest.mark.usefixtures("backend")
def test_sensor_keeps_its_controller_explicit(rng) -> None:
    stages = [aa.EncoderConfig(velocity="register"), aa.PDControlConfig(400.0, 5.0)]
    arrays = joints_of(stages, np.full(60, 0.02), np.zeros(60))
    q, qd, target = (column(rng.normal(size=60)) for _ in range(3))
    np.testing.assert_allclose(arrays.step(q, qd, target, DT), 400 * (target - q) - 5 * qd, rtol=1e-5, atol=1e-4)


def test_load_that_is_not_told_is_learned_from_the_motion() -> None:
    arrays = joints_of([aa.PDControlConfig(2000.0, 10.0)], 0.1, load_share=0.5)
    zero = column([0.0])
    efforts = [float(arrays.step(zero, column([v]), zero, DT)[0, 0]) for v in (0.0, 0.01)]
    known = 0.5 * (0.1 * 0.01 / DT - efforts[0])
    free = 0.01 + DT * known / 0.1
    wanted = (2000 * -DT * free - 10 * free) / (1 + DT / 0.1 * (10 + DT * 2000))
    np.testing.assert_allclose(efforts, [0.0, wanted], rtol=1e-4)
    np.testing.assert_allclose(state_of(arrays, "unmodelled_load"), known, rtol=1e-5)
    arrays.reset()
    assert float(arrays.step(zero, column([0.01]), zero, DT)[0, 0]) != efforts[1]
