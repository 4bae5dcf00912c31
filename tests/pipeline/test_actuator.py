"""The public `Actuator`: arrays, indices, states and accumulation, against the oracle and newton."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import oracle
import pytest
import warp as wp
from isaacsim.core.experimental.actuators import (
    Actuator,
    ClampingDCMotor,
    ClampingMaxEffort,
    ClampingPositionBased,
    ControllerPD,
    ControllerPID,
    Delay,
)
from isaacsim.core.experimental.actuators.components.quiet_warp import quiet_warp

N, DT = 4, 0.01


def floats(values: Any) -> wp.array:
    return wp.array(np.asarray(values, np.float32), dtype=wp.float32, device="cpu")


def indices(values: Any) -> wp.array:
    return wp.array(np.asarray(values), dtype=wp.uint32, device="cpu")


def full(value: float) -> wp.array:
    return floats(np.full(N, value))


def frame(rng: np.random.Generator, size: int = N) -> tuple[SimpleNamespace, SimpleNamespace]:
    """Random state and control objects with newton 1.2 names, and an effort array of zeros."""
    state = SimpleNamespace(joint_q=floats(rng.normal(size=size)), joint_qd=floats(rng.normal(size=size)))
    control = SimpleNamespace(
        joint_target_pos=floats(rng.normal(size=size)),
        joint_target_vel=floats(rng.normal(size=size)),
        joint_act=floats(rng.normal(size=size)),
        joint_f=floats(np.zeros(size)),
    )
    return state, control


def pd(kp: float = 10.0, kd: float = 1.0) -> ControllerPD:
    return ControllerPD(full(kp), full(kd))


def pid_with_everything() -> Actuator:
    steps = wp.array([0, 1, 2, 3], dtype=wp.int32, device="cpu")
    clamps = [
        ClampingDCMotor(full(20.0), full(2.0), full(15.0)),
        ClampingPositionBased(None, [-1.0, 0.0, 1.0], [5.0, 20.0, 10.0]),
        ClampingMaxEffort(full(12.0)),
    ]
    return Actuator(indices(range(N)), ControllerPID(full(9), full(40), full(1), full(0.1)), Delay(steps, 3), clamps)


def oracle_with_everything() -> list[oracle.Joint]:
    clamps = [("dc", 20.0, 2.0, 15.0), ("table", [-1.0, 0.0, 1.0], [5.0, 20.0, 10.0]), ("max", 12.0)]
    return [oracle.Joint(9.0, 1.0, 40.0, 0.1, clamps=clamps, delay_steps=lag) for lag in range(N)]


@pytest.mark.parametrize("in_place", [True, False])
def test_everything_agrees_with_the_oracle(in_place: bool, rng: np.random.Generator) -> None:
    """PID, four different delays and three clamps, with alternating states and with one, and resets by mask."""
    actuator, joints = pid_with_everything(), oracle_with_everything()
    now = actuator.state()
    after = now if in_place else actuator.state()
    for step in range(50):
        if step in (20, 33):
            now.reset(wp.array([False, True, True, False], dtype=wp.bool, device="cpu"))
            for joint in joints[1:3]:
                joint.reset()
        if step == 40:
            now.reset()
            for joint in joints:
                joint.reset()
        state, control = frame(rng)
        actuator.step(state, control, now, after, DT)
        arrays = [*vars(state).values(), *list(vars(control).values())[:3]]
        signals = np.array([array.numpy() for array in arrays])
        expected = [joint.step(*signals[:, i], DT) for i, joint in enumerate(joints)]
        np.testing.assert_allclose(control.joint_f.numpy(), expected, atol=1e-4, rtol=0)
        now, after = after, now


def test_current_state_is_untouched(rng: np.random.Generator) -> None:
    """What the step remembers goes into the next state alone, however often the current one is stepped from."""
    actuator = pid_with_everything()
    now, after = actuator.state(), actuator.state()
    for _ in range(7):
        actuator.step(*frame(rng), now, after, DT)
        now, after = after, now
    parts = [*vars(now.delay_state).values(), now.controller_state.integral]
    before = [array.numpy().copy() for array in parts]
    results = []
    state, control = frame(rng)
    for _ in range(2):
        control.joint_f.zero_()
        actuator.step(state, control, now, after, DT)
        results.append(control.joint_f.numpy().copy())
    np.testing.assert_array_equal(*results)
    for array, copy in zip(parts, before, strict=True):
        np.testing.assert_array_equal(array.numpy(), copy)


def test_delay_of_two_gives_the_command_of_two_steps_ago() -> None:
    """Targets 10, 20, 30, 40, 50 act as 10, 10, 10, 20, 30."""
    actuator = Actuator(indices([0]), ControllerPD(floats([1]), floats([0])), Delay(wp.array([2], dtype=int), 2))
    now, after, acting = actuator.state(), actuator.state(), []
    for target in (10, 20, 30, 40, 50):
        control = SimpleNamespace(joint_target_pos=floats([target]), joint_target_vel=floats([0]), joint_f=floats([0]))
        actuator.step(SimpleNamespace(joint_q=floats([0]), joint_qd=floats([0])), control, now, after)
        acting.append(float(control.joint_f.numpy()[0]))
        now, after = after, now
    assert acting == [10, 10, 10, 20, 30]


def test_efforts_are_added(rng: np.random.Generator) -> None:
    """Two steps without clearing give twice the effort."""
    actuator = Actuator(indices(range(N)), pd())
    state, control = frame(rng)
    actuator.step(state, control)
    once = control.joint_f.numpy().copy()
    actuator.step(state, control)
    np.testing.assert_allclose(control.joint_f.numpy(), 2 * once, rtol=1e-6)


def test_computed_effort_is_the_one_before_the_clamps(rng: np.random.Generator) -> None:
    """It goes to an array of its own."""
    actuator = Actuator(
        indices(range(N)), pd(1000.0), None, [ClampingMaxEffort(full(0.5))], control_computed_output_attr="computed"
    )
    state, control = frame(rng)
    control.computed = floats(np.zeros(N))
    actuator.step(state, control)
    assert (np.abs(control.joint_f.numpy()) == 0.5).all()
    assert (np.abs(control.computed.numpy()) > 0.5).all()


def test_index_arrays_pick_and_place(rng: np.random.Generator) -> None:
    """A floating base has more positions than velocities; targets as long as the positions are indexed alike."""
    position_at, velocity_at, effort_at = np.array([9, 7]), np.array([8, 6]), np.array([1, 0])
    for long_targets in (True, False):
        state = SimpleNamespace(joint_q=floats(rng.normal(size=10)), joint_qd=floats(rng.normal(size=9)))
        control = SimpleNamespace(
            joint_target_pos=floats(rng.normal(size=10 if long_targets else 9)),
            joint_target_vel=floats(rng.normal(size=9)),
            joint_f=floats([100, 100, 100]),
        )
        actuator = Actuator(
            indices(velocity_at),
            ControllerPD(floats([2, 3]), floats([0.5, 0.25])),
            pos_indices=indices(position_at),
            effort_indices=indices(effort_at),
        )
        actuator.step(state, control)
        q, qd = state.joint_q.numpy()[position_at], state.joint_qd.numpy()[velocity_at]
        q_target = control.joint_target_pos.numpy()[position_at if long_targets else velocity_at]
        effort = oracle.pd_effort(
            q, qd, q_target, control.joint_target_vel.numpy()[velocity_at], 0, [2, 3], [0.5, 0.25], 0
        )
        np.testing.assert_allclose(control.joint_f.numpy(), [100 + effort[1], 100 + effort[0], 100], rtol=1e-6)


def test_position_targets_stand_where_their_own_indices_say(rng: np.random.Generator) -> None:
    """Even where they are as many as the positions."""
    state, control = frame(rng, 5)
    actuator = Actuator(indices([0]), ControllerPD(floats([3]), floats([0])), target_pos_indices=indices([4]))
    control.joint_act = None
    actuator.step(state, control)
    expected = 3 * (control.joint_target_pos.numpy()[4] - state.joint_q.numpy()[0])
    np.testing.assert_allclose(control.joint_f.numpy(), [expected, 0, 0, 0, 0], rtol=1e-6)


@pytest.mark.parametrize("names", [("joint_target_pos", "joint_target_vel"), ("joint_target_q", "joint_target_qd")])
@pytest.mark.parametrize("as_mapping", [True, False])
def test_both_names_of_the_targets_are_found(names: tuple[str, str], as_mapping: bool) -> None:
    """Control objects of newton 1.2 and of later versions serve alike, as do mappings."""
    control: Any = dict(zip((*names, "joint_f"), (full(2), full(0), full(0)), strict=True))
    state: Any = {"joint_q": full(0), "joint_qd": full(0)}
    out = control["joint_f"]
    if not as_mapping:
        control, state = SimpleNamespace(**control), SimpleNamespace(**state)
    Actuator(indices(range(N)), pd()).step(state, control)
    assert (out.numpy() == 20).all()


def test_stateless_actuator_has_no_state() -> None:
    """PD without delay remembers nothing."""
    actuator = Actuator(indices(range(N)), pd())
    assert (actuator.is_stateful(), actuator.state(), actuator.is_graphable()) == (False, None, True)


def test_missing_states_and_arrays_are_named(rng: np.random.Generator) -> None:
    """A stateful actuator needs both states; an absent array is named."""
    with pytest.raises(ValueError, match="requires both"):
        pid_with_everything().step(*frame(rng), dt=DT)
    state, control = frame(rng)
    del control.joint_target_vel
    with pytest.raises(ValueError, match="joint_target_vel"):
        Actuator(indices(range(N)), pd()).step(state, control)


def test_index_arrays_of_another_shape_are_refused() -> None:
    """The message names the array and both shapes."""
    with pytest.raises(ValueError, match=r"pos_indices shape \(2,\).*\(4,\)"):
        Actuator(indices(range(N)), pd(), pos_indices=indices([0, 1]))


def test_gradients_are_refused() -> None:
    """Said plainly until they are there."""
    with pytest.raises(NotImplementedError, match="requires_grad"):
        Actuator(indices(range(N)), pd(), requires_grad=True)


def test_agrees_with_newton(rng: np.random.Generator) -> None:
    """The same components, indices and signals over 200 steps, resets by mask included."""
    with quiet_warp():
        peer = pytest.importorskip("newton.actuators", reason="newton is not installed")
    ours = pid_with_everything()
    theirs = peer.Actuator(
        indices(range(N)),
        peer.DrivePID(full(9), full(40), full(1), full(0.1)),
        delay=peer.Delay(wp.array([0, 1, 2, 3], dtype=wp.int32, device="cpu"), 3),
        clamping=[
            peer.ClampingDCMotor(full(20.0), full(2.0), full(15.0)),
            peer.ClampingPositionBased(lookup_positions=(-1.0, 0.0, 1.0), lookup_efforts=(5.0, 20.0, 10.0)),
            peer.ClampingMaxEffort(full(12.0)),
        ],
    )
    states = [[ours.state(), ours.state()], [theirs.state(), theirs.state()]]
    mask = wp.array([True, False, True, False], dtype=wp.bool, device="cpu")
    for step in range(200):
        state, control = frame(rng)
        control.joint_target_q, control.joint_target_qd = control.joint_target_pos, control.joint_target_vel
        found = []
        for actuator, pair in zip((ours, theirs), states, strict=True):
            if step % 50 == 49:
                pair[0].reset(mask)
            control.joint_f = floats(np.zeros(N))
            actuator.step(state, control, *pair, dt=DT)
            pair.reverse()
            found.append(control.joint_f.numpy())
        np.testing.assert_allclose(*found, atol=1e-4, rtol=0)


def test_wrapper_shows_actuators_that_say_where_they_stand() -> None:
    """Indices are robot-major into flattened `(robots, DOFs)` arrays."""
    from isaacsim.core.experimental.actuators import ActuatorConfig, ArticulationActuators, use_host
    from isaacsim.core.experimental.actuators.hosts.memory import MemoryHost

    host = MemoryHost(["hip", "knee", "ankle"], N)
    with use_host(host):
        wrapper = ArticulationActuators.from_actuators("/Robot_.*", [(ActuatorConfig(pd()), "knee")])
        (actuator,) = wrapper.actuators
        assert actuator is wrapper.actuators[0]
        assert actuator.indices.numpy().tolist() == [1, 4, 7, 10]
        wrapper.close()
