"""Gradients of joints that stick: those of a smooth surrogate, with the efforts of the law."""

from collections.abc import Mapping

import isaacsim.core.experimental.actuators as aa
import numpy as np
import oracle
import pytest
import warp as wp
from isaacsim.core.experimental.actuators.engine.implicit.smooth_friction import smooth_law
from isaacsim.core.experimental.actuators.laws.contract import catalogue

N, DT = 64, 0.005
SPEEDS, LEVELS = [0.0, 0.3, 1.0], [1.5, 0.8, 1.1]
Values = dict[str, np.ndarray]


def array(values, dtype=wp.float32) -> wp.array:
    return wp.array(np.asarray(values), dtype=dtype, device="cpu", requires_grad=dtype is wp.float32)


def numbers(kind: str, seed: int = 0) -> Values:
    """Inputs of one step of joints that stick, slide, and are about to."""
    rng = np.random.default_rng(seed)
    ranges = {"target": (-3, 3), "velocity": (-0.5, 0.5), "inertia": (0.05, 0.2), "load": (-1, 1)}
    ranges |= {"dry_effort": (-1, 1), "previous_velocity": (-0.5, 0.5), "previous_effort": (-3, 3), "kp": (0.5, 1.5)}
    if kind == "friction":
        ranges |= {"coulomb": (0.5, 1), "viscous": (0.1, 0.5), "static": (1.1, 1.6), "stribeck_velocity": (0.2, 0.5)}
        ranges |= {"motor_load": (0.05, 0.1), "stribeck_external_load": (0.05, 0.1)}
    return {name: rng.uniform(*ends, N).astype(np.float32) for name, ends in ranges.items()}


def surrogate(given: Mapping[str, np.ndarray], whole: bool) -> np.ndarray:
    """Efforts with f⁺ = F·tanh(w/F), in the equations of the law, float64."""
    motor, speed, mass = given["kp"] * given["target"], given["velocity"], given["inertia"]
    before, effort_before, carried = given["previous_velocity"], given["previous_effort"], given["dry_effort"]
    others = -given["load"] if whole else mass * (speed - before) / DT - effort_before - carried
    if "coulomb" in given:
        viscous, shares = given["viscous"], (given["motor_load"], 0.0, 0.0, given["stribeck_external_load"], 0.0, 0.0)
        excess, bend = given["static"] - given["coulomb"], (given["stribeck_velocity"], 2.0)
        level = oracle.dry_friction_level(motor, others, speed, given["coulomb"], excess, *bend, *shares, 0.0)
    else:
        viscous, level = 0.0, np.interp(np.abs(speed), SPEEDS, LEVELS)
    damped = mass + DT * viscous
    if whole:
        free, carried = (mass * speed + DT * (motor + others)) / damped, 0.0
        wanted = -damped * free / DT
    else:
        free = (mass * (2 * speed - before) + DT * (motor - effort_before)) / damped
        wanted = carried - damped * free / DT / 2
    dry = level * np.tanh(wanted / level)
    return motor - viscous * (free + DT * (dry - carried) / damped) + dry


def made(kind: str, given: Values, **more) -> tuple[aa.Actuator, Values]:
    if kind == "friction":
        usual = dict(zip(aa.PassiveFriction.PARAMETERS, aa.PassiveFriction.NEUTRAL, strict=True))
        values = {name: array(given.get(name, np.full(N, one, np.float32))) for name, one in usual.items()}
        stage = aa.PassiveFriction(**values)
    else:
        values, stage = {}, aa.PassiveFrictionCurve(SPEEDS, LEVELS, array(np.ones(N)))
    values["kp"] = array(given["kp"])
    law = aa.ControllerPD(values["kp"], array(np.zeros(N)))
    return aa.Actuator(array(np.arange(N), wp.uint32), law, others=[stage], requires_grad=True, **more), values


def stepped(kind: str, given: Values, whole: bool, **more) -> tuple[np.ndarray, Values]:
    actuator, found = made(kind, given, **more)
    actuator.signals["inertia"].assign(given["inertia"])
    actuator.signals["load"].assign(given["load"])
    actuator.signals["load_is_whole"].fill_(float(whole))
    now, after = actuator.state(), actuator.state()
    (held,) = [one for one in now._law_states() if one is not None]
    found |= {name: getattr(held, name) for name in aa.PassiveFriction.STATE}
    for name in aa.PassiveFriction.STATE:
        found[name].assign(given[name])
    signals = {"joint_q": np.zeros(N), "joint_qd": given["velocity"], "joint_target_q": given["target"]}
    none = dict.fromkeys(("joint_target_qd", "joint_f"), np.zeros(N))
    control = {name: array(value) for name, value in (signals | none).items()}
    with wp.Tape() as tape:
        actuator.step(control, control, now, after, DT)
    efforts = control["joint_f"].numpy().copy()
    control["joint_f"].grad.fill_(1.0)
    tape.backward()
    found |= {"target": control["joint_target_q"], "velocity": control["joint_qd"]}
    return efforts, {name: one.grad.numpy() for name, one in found.items() if name in given}


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("kind", ["friction", "curve"])
def test_gradients_are_those_of_the_surrogate(kind, whole) -> None:
    given = numbers(kind)
    efforts, found = stepped(kind, given, whole, smooth_stick=True)
    exact, width = {name: value.astype(float) for name, value in given.items()}, 1e-6
    # efforts are those of the law, which the surrogate differs from
    assert (np.abs(efforts - surrogate(exact, whole)) > 1e-3).any()
    for name, values in found.items():
        ends = [surrogate(exact | {name: exact[name] + sign * width}, whole) for sign in (1, -1)]
        expected = (ends[0] - ends[1]) / (2 * width)
        scale = max(1.0, float(np.abs(expected).max()))
        np.testing.assert_allclose(values, expected, atol=2e-4 * scale, err_msg=name)


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("kind", ["friction", "curve"])
def test_efforts_are_those_of_the_law(kind, whole) -> None:
    given = numbers(kind, seed=1)
    (hard, zero), (soft, leaking) = (stepped(kind, given, whole, smooth_stick=one) for one in (False, True))
    np.testing.assert_array_equal(hard.view(np.int32), soft.view(np.int32))
    if whole:
        sticks = zero["target"] == 0.0
        assert 2 < sticks.sum() < N - 5 and (leaking["target"][sticks] > 0.0).all()


def test_descent_frees_a_joint_that_sticks() -> None:
    found = {}
    for smooth in (False, True):
        given = numbers("curve") | {"kp": np.ones(N, np.float32), "target": np.full(N, 0.5, np.float32)}
        given |= {name: np.zeros(N, np.float32) for name in ("velocity", "load")}
        for _ in range(60):
            efforts, by = stepped("curve", given, True, smooth_stick=smooth)
            # as much effort as turns the joint, beyond the friction
            given["target"] -= 0.5 * (efforts - 1.0) * by["target"]
        found[smooth] = efforts
    assert (found[False] == 0.0).all()
    np.testing.assert_allclose(found[True], 1.0, atol=0.01)


def test_option_without_what_it_changes_is_refused() -> None:
    law, indices = aa.ControllerPD(array(np.ones(N)), array(np.ones(N))), array(np.arange(N), wp.uint32)
    with pytest.raises(ValueError, match=r"smooth_stick = True: must be with requires_grad = True"):
        aa.Actuator(indices, law, smooth_stick=True)
    clamp = aa.ClampingMaxEffort(array(np.ones(N)))
    words = r"leg: smooth_stick = True: must be with ShaftFriction, PassiveFriction, Pass"
    with pytest.raises(ValueError, match=words):
        aa.Actuator(indices, law, clamping=[clamp], requires_grad=True, smooth_stick=True, label="leg")


def test_each_smooth_law_has_the_arguments_of_the_other() -> None:
    found = {law.name: smooth_law(law.component) for law in catalogue.laws() if law.name is not None}
    assert {name for name, smooth in found.items() if smooth} == {
        *("PassiveBrake", "PassiveFriction", "PassiveFrictionCurve", "ShaftFriction")
    }
    for hard in (aa.PassiveBrake, aa.PassiveFriction, aa.PassiveFrictionCurve, aa.ShaftFriction):
        smooth = smooth_law(hard)
        assert smooth is not None and smooth is smooth_law(hard)
        assert (smooth.STATE, smooth.ASKS, smooth.PARAMETERS) == (hard.STATE, hard.ASKS, hard.PARAMETERS)
        assert smooth.LAW is not hard.LAW
