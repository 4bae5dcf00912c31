"""The classes of newton-actuators 0.1.1, made here of controller, clamp and delay, give the same efforts.

Where the older library means something else, both are held to known numbers.
"""

from collections.abc import Callable
from types import SimpleNamespace

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
import warp as wp
from closeness import assert_close
from peers import newton_actuators
from refusals import cases
from warp_arrays import floats, indices

peer = newton_actuators()
N, SIZE, DT, LAG = 6, 11, 0.01, 4
TABLE = [-1.0, -0.5, 0.0, 0.0, 0.4, 1.0], [5.0, 80.0, 60.0, 20.0, 20.0, 5.0]


@pytest.fixture(autouse=True)
def _on_cpu():
    with wp.ScopedDevice("cpu"):
        yield


def delay(steps: int, count: int = N) -> aa.Delay:
    return aa.Delay(wp.full(count, steps, dtype=wp.int32, device="cpu"), steps)


def pd(p: SimpleNamespace) -> aa.ControllerPD:
    return aa.ControllerPD(p.kp, p.kd, p.const)


# class -> how it is made of parameters, and what it is made of here
TWINS: dict[str, tuple[Callable, Callable[[SimpleNamespace], tuple]]] = {
    "ActuatorPD": (
        lambda at, out, p: peer.ActuatorPD(at, out, p.kp, p.kd, p.limit, p.const),
        lambda p: (pd(p), None, aa.ClampingMaxEffort(p.limit)),
    ),
    "ActuatorPID": (
        lambda at, out, p: peer.ActuatorPID(at, out, p.kp, p.ki, p.kd, p.limit, p.integral_max, p.const),
        lambda p: (aa.ControllerPID(p.kp, p.ki, p.kd, p.integral_max, p.const), None, aa.ClampingMaxEffort(p.limit)),
    ),
    "ActuatorDCMotor": (
        lambda at, out, p: peer.ActuatorDCMotor(at, out, p.kp, p.kd, p.limit, p.stall, p.no_load_speed, p.const),
        lambda p: (pd(p), None, aa.ClampingDCMotor(p.stall, p.no_load_speed, p.limit)),
    ),
    "ActuatorDelayedPD": (
        lambda at, out, p: peer.ActuatorDelayedPD(at, out, p.kp, p.kd, LAG, p.limit, p.const),
        lambda p: (pd(p), delay(LAG), aa.ClampingMaxEffort(p.limit)),
    ),
    "ActuatorRemotizedPD": (
        lambda at, out, p: peer.ActuatorRemotizedPD(at, out, p.kp, p.kd, LAG, *TABLE, p.const),
        lambda p: (pd(p), delay(LAG), aa.ClampingPositionBased(None, *TABLE)),
    ),
}


@pytest.mark.parametrize("extras", [True, False], ids=["bias and feedforward", "neither"])
@pytest.mark.parametrize("name", list(TWINS))
def test_same_efforts(name, extras, rng) -> None:
    """200 random steps on picked entries of wider arrays, efforts added up, a reset on the way.

    Speeds stay below no load, and no effort is asked of a delay that is not full: beyond, the libraries differ.
    """
    parameters = {
        "kp": rng.uniform(0, 90, N),
        "ki": rng.uniform(0, 900, N),
        "kd": rng.uniform(0, 9, N),
        "integral_max": rng.uniform(0, 0.05, N),
        "limit": rng.uniform(10, 60, N),
        "stall": rng.uniform(20, 90, N),
        "no_load_speed": rng.uniform(2, 4, N),
        "const": rng.normal(size=N),
    }
    p = SimpleNamespace(**{key: floats(values) for key, values in parameters.items()})
    if not extras:
        p.const = None
    at, out = (indices(rng.permutation(SIZE)[:N]) for _ in range(2))
    make_theirs, make_ours = TWINS[name]
    controller, lag, clamp = make_ours(p)
    actuators = make_theirs(at, out, p), aa.Actuator(at, controller, lag, [clamp], effort_indices=out)
    states = [[actuator.state(), actuator.state()] for actuator in actuators]
    age = 0
    for step in range(200):
        if step == 120:
            age = 0
            for now, _ in states:
                if now is not None:
                    now.reset()
        state = SimpleNamespace(joint_q=floats(rng.normal(size=SIZE)), joint_qd=floats(rng.uniform(-2, 2, SIZE)))
        control = SimpleNamespace(
            joint_target_pos=floats(rng.normal(size=SIZE)), joint_target_vel=floats(rng.normal(size=SIZE))
        )
        if extras:
            control.joint_act = floats(rng.normal(size=SIZE))
        before = rng.normal(size=SIZE).astype(np.float32)
        found = []
        for actuator, pair in zip(actuators, states, strict=True):
            control.joint_f = floats(before)
            actuator.step(state, control, *pair, DT)
            found.append(control.joint_f.numpy())
            pair.reverse()
        theirs, ours = found
        if lag is None or age >= LAG:
            # the largest summand, kp·(q* − q), sets the rounding
            assert_close(ours, theirs.astype(np.float64), np.full(SIZE, 400.0))
            assert (theirs != before).sum() == N
        age += 1


def efforts_of(actuators: tuple, speeds, targets, states: list[list] | None = None) -> list[list[float]]:
    count, found = np.size(speeds), []
    state = SimpleNamespace(joint_q=floats(np.zeros(count)), joint_qd=floats(speeds))
    for actuator, pair in zip(actuators, states or [[], []], strict=True):
        control = SimpleNamespace(joint_target_pos=floats(targets), joint_target_vel=floats(np.zeros(count)))
        control.joint_f = floats(np.zeros(count))
        actuator.step(state, control, *pair)
        found.append(control.joint_f.numpy().tolist())
    return found


def motors(count: int, stall: float) -> tuple:
    """DC motors with a no-load speed of 10 and a limit of 50."""
    at, (kp, kd, top, peak, speed) = indices(range(count)), (floats([v] * count) for v in (1, 0, stall, 50, 10))
    clamp = aa.ClampingDCMotor(top, speed, peak)
    return peer.ActuatorDCMotor(at, at, kp, kd, peak, top, speed), aa.Actuator(
        at, aa.ControllerPD(kp, kd), clamping=[clamp]
    )


@cases(
    "target, theirs, ours",
    (1000, [50, 50, 0, 0, 0, 0, 0], [50, 50, 0, -20, -50, -50, -50]),
    (0, [0, 0, 0, 0, 0, 0, 0], [0, 0, 0, -20, -50, -50, -50]),
)
def test_beyond_no_load_speed_the_motor_brakes_and_theirs_lets_go(target, theirs, ours) -> None:
    """The schema's curve goes on below zero; the older library cut it there."""
    speeds = [0, 5, 10, 12, 15, 20, 100]
    found = efforts_of(motors(len(speeds), 100), speeds, [target] * len(speeds))
    np.testing.assert_allclose(found, [theirs, ours], atol=1e-4)


def test_infinite_stall_effort_switches_the_curve_off_and_theirs_keeps_the_speed_limit() -> None:
    assert efforts_of(motors(3, np.inf), [0, 5, 15], [1000] * 3) == [[50, 50, 0], [50, 50, 50]]


def test_delay_gives_the_first_command_until_it_is_full_and_theirs_nothing() -> None:
    at, one, zero, limit = indices([0]), floats([1]), floats([0]), floats([1000])
    actuators = (
        peer.ActuatorDelayedPD(at, at, one, zero, 2, limit),
        aa.Actuator(at, aa.ControllerPD(one, zero), delay(2, 1), [aa.ClampingMaxEffort(limit)]),
    )
    states = [[actuator.state(), actuator.state()] for actuator in actuators]
    for _ in range(2):
        found = []
        for target in (10, 20, 30, 40, 50):
            found.append(np.ravel(efforts_of(actuators, [0], [target], states)))
            for pair in states:
                pair.reverse()
        assert np.transpose(found).tolist() == [[0, 0, 10, 20, 30], [10, 10, 10, 20, 30]]
        for now, _ in states:
            now.reset()
