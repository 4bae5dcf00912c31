"""Gradients through rates and effort delays, compared with central differences in float64."""

import isaacsim.core.experimental.actuators as actuators
import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators import (
    ActuatedArrays,
    Actuator,
    EffortDelayConfig,
    NeuralControlConfig,
    PDControlConfig,
    RateConfig,
)
from late_rollout import LateRollout, array, assert_same, in_place, one_each, swapped
from neural_twin import random_network, write_network

GAINS = {"kp": (5.0, 20.0), "ki": (5.0, 20.0), "kd": (0.5, 2.0), "integral_max": (0.02, 2.0), "max_effort": (2.0, 15.0)}
MOTOR = {"saturation_effort": (4.0, 20.0), "velocity_limit": (1.0, 4.0), "max_motor_effort": (2.0, 12.0)}
LATE = {"EffortDelayTimed seconds": (0.001, 0.03), "EffortDelayTimed steps": (0.1, 1.4)}
# periods of one to four steps, of which the last three are not due in every step
RATE = {"decimation": (0.6, 4.4), "phase": (0.0, 1.0)}
FRICTION = {
    "EffortDelayTimed seconds": (0.0001, 0.003),
    "EffortDelayTimed steps": (0.1, 1.4),
    "bristle_stiffness": (5.0, 20.0),
    "bristle_damping": (0.1, 0.5),
    "coulomb": (0.1, 1.0),
    "static": (1.0, 2.0),
    "stribeck_velocity": (0.5, 2.0),
    "viscous": (0.1, 1.0),
    "stribeck_exponent": (1.5, 2.5),
    "assumed_inertia": (0.001, 0.01),
}
WHOLE = "decimation", "velocity"
# when a controller runs jumps with these
WITHOUT = ("decimation", "frequency", "phase", "random_steps", "redraw_steps", "hold_probability", "seed", "targets")
WITHOUT += ("resolution", "velocity_resolution", "velocity")


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("states", [swapped, in_place, one_each])
@pytest.mark.parametrize("law", ["RateHold", "EffortDelayTimed"])
def test_every_gradient_is_that_of_central_differences(law, states) -> None:
    rollout = LateRollout(["ControllerPID", law, "ClampingMaxEffort"], GAINS | LATE | RATE, seed=1, whole=WHOLE)
    expected = rollout.differences()
    efforts, found = rollout.on_tape(states)
    assert 0 < (np.abs(efforts) == rollout.values["ClampingMaxEffort max_effort"]).sum() < efforts.size
    np.testing.assert_allclose(efforts, rollout.acting, atol=1e-4)
    # in a step in which the controller does not run, nothing is read
    unread = expected["joint_target_q 1"] == 0
    assert (0 < unread.sum() < 24) if law == "RateHold" else (np.abs(expected[f"{law} seconds"]) > 1e-3).mean() > 0.8
    assert_same(found, expected, WITHOUT)


@pytest.mark.parametrize("states", [swapped, in_place])
def test_rate_that_steps_do_not_divide(states) -> None:
    """Controllers get the period as their step, which is 2.4 physics steps."""
    ranges = GAINS | {"frequency": (1 / 0.048, 1 / 0.048), "decimation": (1.0, 1.0)}
    rollout = LateRollout(["ControllerPID", "RateHold", "ClampingMaxEffort"], ranges, steps=12, seed=2)
    assert_same(rollout.on_tape(states)[1], rollout.differences(), WITHOUT)


@pytest.mark.usefixtures("backend")
@pytest.mark.slow
def test_all_together() -> None:
    laws = ["FeedbackEncoder", "DelayTimed", "ControllerPID", "RateHold", "EffortDelayTimed", "ClampingDCMotor"]
    ranges = GAINS | MOTOR | LATE | RATE | {"ratio": (0.5, 3.0), "offset": (-0.5, 0.5), "bias": (-0.3, 0.3)}
    ranges |= {"latency": (0.001, 0.02), "latency_steps": (0.1, 0.9), "velocity_filter": (0.01, 0.05)}
    ranges |= {"velocity": (0.0, 1.0), "DelayTimed seconds": (0.001, 0.02), "DelayTimed steps": (0.1, 0.9)}
    ranges |= {"noise": (0.06, 0.1)}
    rollout = LateRollout([*laws, "TransmissionGear"], ranges, steps=12, seed=3, whole=WHOLE)
    expected = rollout.differences()
    efforts, found = rollout.on_tape()
    np.testing.assert_allclose(efforts, rollout.acting, atol=1e-4)
    assert_same(found, expected, WITHOUT)


@pytest.mark.usefixtures("backend")
@pytest.mark.slow("Warp")
def test_friction_behind_the_effort_keeps_its_own_state() -> None:
    laws = ["ControllerPID", "RateHold", "EffortDelayTimed", "PassiveLuGreFriction"]
    rollout = LateRollout(laws, GAINS | RATE | FRICTION, dt=0.002, seed=4, whole=WHOLE)
    expected = rollout.differences()
    assert np.abs(expected["PassiveLuGreFriction bristle_stiffness"]).max() > 1e-3
    assert_same(rollout.on_tape(in_place)[1], expected, WITHOUT)


@pytest.mark.usefixtures("backend")
@pytest.mark.slow("Warp")
def test_delay_in_whole_steps_is_one_in_steps() -> None:
    laws = ["ControllerPID", "EffortDelayTimed", "PassiveLuGreFriction"]
    ranges = GAINS | FRICTION | {"DelayTimed steps": (2.0, 2.0)}
    timed, whole = (LateRollout([*first, *laws], ranges, dt=0.002, seed=4) for first in (["DelayTimed"], []))
    whole.values = {name: value for name, value in timed.values.items() if not name.startswith("DelayTimed")}
    whole.weights = timed.weights
    efforts, expected = timed.on_tape()
    found = whole.on_tape(delay=actuators.Delay(array(np.full(24, 2), False, wp.int32), 3))
    np.testing.assert_array_equal(found[0], efforts)
    assert expected["PassiveLuGreFriction bristle_stiffness"].any()
    assert_same(found[1], {name: expected[name] for name in found[1]})


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("name", ["joint_q", "joint_target_q", "max_effort"])
def test_fault_has_no_gradient(name) -> None:
    found = []
    for bad in (False, True):
        laws = ["ControllerPID", "RateHold", "ClampingMaxEffort"]
        rollout = LateRollout(laws, GAINS | {"decimation": (2.0, 4.0)}, seed=5, steps=6, whole=WHOLE)
        rollout.values["RateHold decimation"][5] = 4.0
        limit = rollout.values["ClampingMaxEffort max_effort"]
        limit[5] = np.nan if bad and name == "max_effort" else 100.0
        if bad and name != "max_effort":
            rollout.values[f"{name} 2"][5] = np.nan
        found.append(rollout.on_tape())
    good = np.arange(24) != 5
    for key, values in found[1][1].items():
        assert np.isfinite(values).all(), key
        np.testing.assert_array_equal(values[good], found[0][1][key][good], err_msg=key)
    # the clock stands still in the step with the fault, so that the next computation is one later
    acting = 0.0 if name == "max_effort" else float(rollout.weights[[0, 1, 3, 4], 5].sum())
    assert found[1][1]["joint_act 0"][5] == pytest.approx(acting, rel=1e-5)
    assert found[0][1]["joint_act 0"][5] == pytest.approx(float(rollout.weights[:4, 5].sum()), rel=1e-5)
    assert bool(found[1][1]["joint_act 5"][5]) == (name != "max_effort")


def test_computed_efforts_are_those_that_are_held() -> None:
    kp, q, target = array([10.0] * 3), array([0.0] * 3), array([0.5] * 3)
    held = actuators.RateHold(array([2.0] * 3, False), None, None)
    late = actuators.EffortDelayTimed(None, array([1.0] * 3, False), max_steps=2)
    indices = array(np.arange(3), False, wp.uint32)
    law = actuators.ControllerPD(kp, array([0.0] * 3), array([0.0] * 3))
    actuator = Actuator(
        indices, law, others=[held, late], requires_grad=True, control_computed_output_attr="before", label="knee"
    )
    state, zeros = actuator.state(), array([0.0] * 3)
    outputs = [{name: array([0.0] * 3) for name in ("joint_f", "before")} for _ in range(3)]
    with wp.Tape() as tape:
        for output in outputs:
            control = {"joint_q": q, "joint_qd": zeros, "joint_target_q": target, "joint_target_qd": zeros} | output
            actuator.step(control, control, state, state, 0.01)
    assert [one["before"].numpy()[0] for one in outputs] == [5.0, 5.0, 5.0]
    for weight, output in zip((1.0, 10.0, 100.0), outputs, strict=True):
        output["before"].grad.fill_(weight)
    tape.backward()
    assert kp.grad.numpy().tolist() == [55.5] * 3


def test_network_runs_at_its_rate(tmp_path) -> None:
    torch = pytest.importorskip("torch")
    file = write_network(tmp_path / "knee.safetensors", random_network("lstm", 2, layers=2), {"effort_scale": 30.0})
    motor = {"j": [NeuralControlConfig(str(file)), RateConfig(decimation=2), EffortDelayConfig(steps=0.5, max_steps=2)]}
    rng = np.random.default_rng(8)
    given = torch.tensor(rng.normal(size=(6, 3, 4, 1)).astype(np.float32))

    def loss(targets):
        made = ActuatedArrays(["j"], motor, 4, requires_grad=True)
        # without gradients all steps return one tensor
        efforts = (made.step(q, qd, one, 0.005).double() for (q, qd, _), one in zip(given, targets, strict=True))
        return sum((k + 1) * one.sum() for k, one in enumerate(efforts))

    targets = given[:, 2].clone().requires_grad_()
    loss(targets).backward()
    assert targets.grad[::2].abs().min() > 0 and not targets.grad[1::2].any()
    for at in ((0, 1, 0), (2, 3, 0), (4, 0, 0)):
        ends = []
        for sign in (1.0, -1.0):
            moved = given[:, 2].clone()
            moved[at] += sign * 1e-2
            ends.append(float(loss(moved)))
        scale = float(targets.grad.abs().max())
        assert float(targets.grad[at]) == pytest.approx((ends[0] - ends[1]) / 2e-2, abs=5e-3 * scale)


def test_torch_has_the_gradients_of_a_rate_by_robot() -> None:
    torch = pytest.importorskip("torch")
    motors = {"hip": [PDControlConfig(20.0, 1.0), RateConfig(decimation=2)], "knee": [PDControlConfig(10.0, 1.0)]}
    arrays = ActuatedArrays(["hip", "knee"], motors, 2, requires_grad=True)
    kp, still = torch.tensor(20.0, requires_grad=True), torch.zeros(2, 2)
    targets = torch.tensor([[[1.0, 1.0]] * 2, [[2.0, 2.0]] * 2, [[3.0, 3.0]] * 2], requires_grad=True)
    efforts = [arrays.step(still, still, target, 0.005, parameters={"kp": kp}) for target in targets]
    assert [one[0].tolist() for one in efforts] == [[20.0, 20.0], [20.0, 40.0], [60.0, 60.0]]
    sum(one.sum() for one in efforts).backward()
    assert targets.grad[:, 0].tolist() == [[40.0, 20.0], [0.0, 20.0], [20.0, 20.0]]
    assert float(kp.grad) == 2 * ((1 + 1 + 3) + (1 + 2 + 3))
