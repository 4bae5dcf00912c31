"""The public `Actuator`: arrays, indices, states and accumulation, compared with the oracle and newton.

Every test runs twice: on the core, and with array stages.
"""

from types import SimpleNamespace

import isaacsim.core.experimental.actuators as aa
import numpy as np
import oracle
import pytest
import warp as wp
from isaacsim.core.experimental.actuators.base.quiet_warp import quiet_warp
from isaacsim.core.experimental.actuators.engine.actuator import PlannedActuator
from refusals import cases, refused
from warp_arrays import floats, indices

N, DT = 4, 0.01
pytestmark = pytest.mark.usefixtures("backend")


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


def pd(kp: float = 10.0, kd: float = 1.0) -> aa.ControllerPD:
    return aa.ControllerPD(full(kp), full(kd))


def pid_with_everything() -> aa.Actuator:
    steps = wp.array([0, 1, 2, 3], dtype=wp.int32, device="cpu")
    clamps = [
        aa.ClampingDCMotor(full(20.0), full(2.0), full(15.0)),
        aa.ClampingPositionBased(None, [-1.0, 0.0, 1.0], [5.0, 20.0, 10.0]),
        aa.ClampingMaxEffort(full(12.0)),
    ]
    return aa.Actuator(
        indices(range(N)), aa.ControllerPID(full(9), full(40), full(1), full(0.1)), aa.Delay(steps, 3), clamps
    )


def with_bad_numbers(rng: np.random.Generator, *sources) -> None:
    for array in (array for source in sources for name, array in vars(source).items() if name != "joint_f"):
        values = array.numpy()
        values[rng.random(values.shape) < 0.1] = rng.choice([np.nan, np.inf, -np.inf])


def memory_of(state) -> list[np.ndarray]:
    return [array.numpy() for array in (*vars(state.delay_state).values(), state.controller_state.integral)]


@pytest.mark.parametrize("bad", [True, False])
@pytest.mark.parametrize("in_place", [True, False])
def test_everything_agrees_with_the_oracle(in_place, bad, rng) -> None:
    clamps = [("dc", 20.0, 2.0, 15.0), ("table", [-1.0, 0.0, 1.0], [5.0, 20.0, 10.0]), ("max", 12.0)]
    joints = [oracle.Joint(9.0, 1.0, 40.0, 0.1, clamps=clamps, delay_steps=lag) for lag in range(N)]
    actuator = pid_with_everything()
    now = actuator.state()
    after = now if in_place else actuator.state()
    for step in range(80):
        if step in (20, 33):
            now.reset(wp.array([False, True, True, False], dtype=wp.bool, device="cpu"))
            for joint in joints[1:3]:
                joint.reset()
        if step == 40:
            now.reset()
            for joint in joints:
                joint.reset()
        state, control = frame(rng)
        if bad:
            with_bad_numbers(rng, state, control)
        actuator.step(state, control, now, after, DT)
        arrays = [*vars(state).values(), *list(vars(control).values())[:3]]
        signals = np.array([array.numpy() for array in arrays])
        expected = [joint.step(*signals[:, i], DT) for i, joint in enumerate(joints)]
        np.testing.assert_allclose(control.joint_f.numpy(), expected, atol=1e-4, rtol=0)
        now, after = after, now


def test_states_in_place_and_in_turn_hold_the_same_bits(rng) -> None:
    actuators = pid_with_everything(), pid_with_everything()
    one, (now, after) = actuators[0].state(), (actuators[1].state(), actuators[1].state())
    for _ in range(30):
        state, control = frame(rng)
        with_bad_numbers(rng, state, control)
        other = SimpleNamespace(**vars(control) | {"joint_f": full(0)})
        actuators[0].step(state, control, one, one, DT)
        actuators[1].step(state, other, now, after, DT)
        np.testing.assert_array_equal(control.joint_f.numpy(), other.joint_f.numpy())
        np.testing.assert_equal(memory_of(one), memory_of(after))
        now, after = after, now


def test_current_state_is_untouched(rng) -> None:
    actuator = pid_with_everything()
    now, after = actuator.state(), actuator.state()
    for _ in range(7):
        actuator.step(*frame(rng), now, after, DT)
        now, after = after, now
    before = [values.copy() for values in memory_of(now)]
    results = []
    state, control = frame(rng)
    control.joint_act.numpy()[1] = np.nan
    for _ in range(2):
        control.joint_f.zero_()
        actuator.step(state, control, now, after, DT)
        results.append(control.joint_f.numpy().copy())
    np.testing.assert_array_equal(*results)
    np.testing.assert_equal(memory_of(now), before)


def test_next_state_may_be_any_other(rng) -> None:
    actuator = pid_with_everything()
    now, after, third = actuator.state(), actuator.state(), actuator.state()
    for _ in range(5):
        actuator.step(*frame(rng), now, after, DT)
        now, after = after, now
    state, control = frame(rng)
    actuator.step(state, control, now, third, DT)
    actuator.step(state, control, now, after, DT)
    np.testing.assert_equal(memory_of(third), memory_of(after))


def test_efforts_are_added(rng) -> None:
    actuator = aa.Actuator(indices(range(N)), pd())
    state, control = frame(rng)
    actuator.step(state, control)
    once = control.joint_f.numpy().copy()
    actuator.step(state, control)
    np.testing.assert_allclose(control.joint_f.numpy(), 2 * once, rtol=1e-6)


def test_computed_effort_is_the_one_before_the_clamps(rng) -> None:
    actuator = aa.Actuator(
        indices(range(N)), pd(1000.0), None, [aa.ClampingMaxEffort(full(0.5))], control_computed_output_attr="computed"
    )
    state, control = frame(rng)
    control.computed = floats(np.zeros(N))
    actuator.step(state, control)
    assert (np.abs(control.joint_f.numpy()) == 0.5).all() and (np.abs(control.computed.numpy()) > 0.5).all()


def test_index_arrays_pick_and_place(rng) -> None:
    """A floating base has more positions than velocities; targets as long as the positions are indexed alike."""
    position_at, velocity_at, effort_at = np.array([9, 7]), np.array([8, 6]), np.array([1, 0])
    for long_targets in (True, False):
        state = SimpleNamespace(joint_q=floats(rng.normal(size=10)), joint_qd=floats(rng.normal(size=9)))
        control = SimpleNamespace(
            joint_target_pos=floats(rng.normal(size=10 if long_targets else 9)),
            joint_target_vel=floats(rng.normal(size=9)),
            joint_f=floats([100, 100, 100]),
        )
        actuator = aa.Actuator(
            indices(velocity_at),
            aa.ControllerPD(floats([2, 3]), floats([0.5, 0.25])),
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


def test_position_targets_stand_where_their_own_indices_say(rng) -> None:
    state, control = frame(rng, 5)
    actuator = aa.Actuator(indices([0]), aa.ControllerPD(floats([3]), floats([0])), target_pos_indices=indices([4]))
    control.joint_act = None
    actuator.step(state, control)
    expected = 3 * (control.joint_target_pos.numpy()[4] - state.joint_q.numpy()[0])
    np.testing.assert_allclose(control.joint_f.numpy(), [expected, 0, 0, 0, 0], rtol=1e-6)


@pytest.mark.parametrize("names", [("joint_target_pos", "joint_target_vel"), ("joint_target_q", "joint_target_qd")])
@pytest.mark.parametrize("as_mapping", [True, False])
def test_both_names_of_the_targets_are_found(names, as_mapping) -> None:
    control = dict(zip((*names, "joint_f"), (full(2), full(0), full(0)), strict=True))
    state = {"joint_q": full(0), "joint_qd": full(0)}
    out = control["joint_f"]
    if not as_mapping:
        control, state = SimpleNamespace(**control), SimpleNamespace(**state)
    aa.Actuator(indices(range(N)), pd()).step(state, control)
    assert (out.numpy() == 20).all()


def test_stateless_actuator_has_no_state() -> None:
    actuator = aa.Actuator(indices(range(N)), pd())
    assert (actuator.is_stateful(), actuator.state(), actuator.is_graphable()) == (False, None, True)


def test_missing_states_and_arrays_are_named(rng) -> None:
    refused(ValueError, lambda: pid_with_everything().step(*frame(rng), dt=DT), "requires both")
    state, control = frame(rng)
    del control.joint_target_vel
    refused(ValueError, lambda: aa.Actuator(indices(range(N)), pd()).step(state, control), "joint_target_vel")


def test_index_arrays_of_another_shape_are_refused() -> None:
    with pytest.raises(ValueError, match=r"pos_indices shape \(2,\).*\(4,\)"):
        aa.Actuator(indices(range(N)), pd(), pos_indices=indices([0, 1]))


def test_efforts_of_one_place_are_summed() -> None:
    actuator = aa.Actuator(
        indices([0, 1, 2]), aa.ControllerPD(floats([1, 1, 1]), full(0)[:3]), effort_indices=indices([1, 1, 0])
    )
    state = SimpleNamespace(joint_q=floats([0, 0, 0]), joint_qd=floats([0, 0, 0]))
    control = SimpleNamespace(
        joint_target_pos=floats([1, 2, 4]), joint_target_vel=floats([0, 0, 0]), joint_f=floats([10, 20])
    )
    actuator.step(state, control)
    assert control.joint_f.numpy().tolist() == [14, 23]


def test_arrays_may_have_gaps(rng) -> None:
    state, control = frame(rng)
    apart = {name: spread(array) for name, array in {**vars(state), **vars(control)}.items()}
    limit = aa.ClampingMaxEffort(full(3))
    aa.Actuator(indices(range(N)), pd(), None, [limit]).step(state, control)
    gains = aa.ControllerPD(spread(full(10)), spread(full(1)))
    at = wp.array(np.repeat(np.arange(N), 2), dtype=wp.uint32, device="cpu")[::2]
    aa.Actuator(at, gains, None, [aa.ClampingMaxEffort(spread(full(3)))]).step(apart, apart)
    np.testing.assert_array_equal(apart["joint_f"].numpy(), control.joint_f.numpy())


def spread(array: wp.array) -> wp.array:
    return floats(np.stack([array.numpy(), np.full(len(array), 77)], axis=1).ravel())[::2]


@pytest.mark.parametrize("given", ["written", "replaced"])
@pytest.mark.parametrize("attribute", ["kp", "kd", "ki", "integral_max", "const_effort", "delay_steps", "max_effort"])
def test_parameters_are_live(attribute, given, rng) -> None:
    def made(**values: float) -> aa.Actuator:
        gains = {"kp": 9.0, "ki": 40.0, "kd": 1.0, "integral_max": 0.001, "const_effort": 0.5}
        clamps = [aa.ClampingMaxEffort(full(values.get("max_effort", 30.0)))]
        delay = aa.Delay(wp.full(N, int(values.get("delay_steps", 2)), dtype=wp.int32, device="cpu"), 3)
        law = aa.ControllerPID(**{name: full(values.get(name, value)) for name, value in gains.items()})
        return aa.Actuator(indices(range(N)), law, delay, clamps)

    changed, new = made(), made(**{attribute: 3.0})
    states = [[one.state(), one.state()] for one in (changed, new)]
    (owner, target) = ((one.delay, one.controller, one.clamping[0]) for one in (changed, new))
    owner, target = (next(part for part in one if attribute in vars(part)) for one in (owner, target))
    for step, (state, control) in enumerate([frame(rng) for _ in range(8)]):
        if step == 4:
            if given == "written":
                getattr(owner, attribute).fill_(3)
            else:
                setattr(owner, attribute, wp.clone(getattr(target, attribute)))
            # from here on the other one remembers the same
            for mine, other in zip(memory_of(states[0][0]), memory_of(states[1][0]), strict=True):
                other[:] = mine
        found = []
        for actuator, pair in zip((changed, new), states, strict=True):
            control.joint_f = full(0)
            actuator.step(state, control, *pair, dt=DT)
            pair.reverse()
            found.append(control.joint_f.numpy())
        # before that they differ
        assert step < 3 or np.array_equal(*found) == (step >= 4)


def test_indices_are_live(rng) -> None:
    state, control = frame(rng)
    actuator = aa.Actuator(indices([0]), aa.ControllerPD(floats([3]), floats([0])))
    actuator.step(state, control)
    actuator.indices.assign(np.array([2], np.uint32))
    actuator.step(state, control)
    assert (control.joint_f.numpy() != 0).tolist() == [True, False, True, False]


def test_clamps_act_in_the_order_of_the_list() -> None:
    """A motor beyond its no-load speed brakes with 50, of which a limit that comes after it leaves 20."""
    state = SimpleNamespace(joint_q=full(0), joint_qd=full(15))
    control = SimpleNamespace(joint_target_pos=full(1), joint_target_vel=full(0), joint_f=full(0))
    for order, expected in ((1, -20), (-1, -50)):
        clamps = [aa.ClampingDCMotor(full(100), full(10), full(50)), aa.ClampingMaxEffort(full(20))]
        control.joint_f.zero_()
        aa.Actuator(indices(range(N)), pd(1000.0, 0.0), None, clamps[::order]).step(state, control)
        assert (control.joint_f.numpy() == expected).all()


def test_clamps_may_be_added_later(rng) -> None:
    state, control = frame(rng)
    actuator = aa.Actuator(indices(range(N)), pd(1000.0))
    actuator.step(state, control)
    actuator.clamping.append(aa.ClampingMaxEffort(full(0.5)))
    control.joint_f.zero_()
    actuator.step(state, control)
    assert (np.abs(control.joint_f.numpy()) == 0.5).all()


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@cases(
    "name, word",
    ("joint_q", "position"),
    ("joint_qd", "velocity"),
    ("joint_target_pos", "position target"),
    ("joint_target_vel", "velocity target"),
    ("joint_act", "feedforward"),
)
def test_bad_input_stops_one_joint_for_one_step(name, word, value, rng) -> None:
    results = []
    for bad in (False, True):
        actuator = pid_with_everything()
        actuator.label, actuator.dof_names = "/World/R/Actuators/knee", ("left", "right")
        now, after = actuator.state(), actuator.state()
        again = np.random.default_rng(5)
        efforts = []
        for step in range(6):
            state, control = frame(again)
            if bad and step == 3:
                held = now.controller_state.integral.numpy()[2]
                getattr(control if hasattr(control, name) else state, name).numpy()[2] = value
            actuator.step(state, control, now, after, DT)
            if bad and step == 3:
                assert control.joint_f.numpy()[2] == 0 and actuator.computed_efforts.numpy()[2] == 0
                assert after.controller_state.integral.numpy()[2] == held
            efforts.append(control.joint_f.numpy())
            now, after = after, now
        results.append(np.delete(efforts, 2, axis=1))
    np.testing.assert_array_equal(*results)
    (fault,) = actuator.faults
    assert (fault.label, fault.dof_name, fault.robot) == ("/World/R/Actuators/knee", "left", 1)
    assert (fault.step, fault.inputs) == (3, (word,))


@pytest.mark.parametrize("clamp", [None, aa.ClampingMaxEffort])
def test_effort_that_is_not_finite_is_a_fault(clamp) -> None:
    gains = aa.ControllerPD(floats([1, np.inf, np.nan, 3e38]), full(0))
    actuator = aa.Actuator(indices(range(N)), gains, None, [clamp(full(5))] if clamp else None)
    control = SimpleNamespace(joint_target_pos=full(2), joint_target_vel=full(0), joint_f=full(1))
    actuator.step(SimpleNamespace(joint_q=full(0), joint_qd=full(0)), control)
    assert control.joint_f.numpy().tolist() == [3, 1, 1, 1]
    expected = [("", robot, ("effort",)) for robot in (1, 2, 3)]
    assert [(fault.dof_name, fault.robot, fault.inputs) for fault in actuator.faults] == expected


def test_limit_that_is_no_number_is_a_fault() -> None:
    actuator = aa.Actuator(indices(range(N)), pd(), None, [aa.ClampingMaxEffort(floats([5, np.nan, -1, 5]))])
    control = SimpleNamespace(joint_target_pos=full(2), joint_target_vel=full(0), joint_f=full(0))
    actuator.step(SimpleNamespace(joint_q=full(0), joint_qd=full(0)), control)
    assert control.joint_f.numpy().tolist() == [5, 0, 0, 5] and [fault.robot for fault in actuator.faults] == [1, 2]


def test_first_fault_is_kept_until_faults_are_cleared(rng) -> None:
    actuator = aa.Actuator(indices(range(N)), pd())
    assert actuator.faults == []
    for name in ("joint_q", "joint_qd", "joint_q"):
        state, control = frame(rng)
        getattr(state, name).numpy()[0] = np.nan
        actuator.step(state, control)
        if name == "joint_qd":
            assert [(fault.step, fault.inputs) for fault in actuator.faults] == [(0, ("position",))]
            actuator.clear_faults()
            assert actuator.faults == []
    assert [(fault.step, fault.inputs) for fault in actuator.faults] == [(0, ("position",))]


def test_state_whose_arrays_were_replaced_is_read_anew(rng) -> None:
    actuator = pid_with_everything()
    now, after = actuator.state(), actuator.state()
    state, control = frame(rng)
    actuator.step(state, control, now, after, DT)
    once = control.joint_f.numpy().copy()
    now.controller_state.integral = full(100)
    control.joint_f.zero_()
    actuator.step(state, control, now, after, DT)
    assert (control.joint_f.numpy() != once).any()


@pytest.mark.slow
def test_agrees_with_newton(rng) -> None:
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
    from isaacsim.core.experimental.actuators import ActuatorConfig, ArticulationActuators, use_host
    from isaacsim.core.experimental.actuators.simulators.arrays import ArraysHost

    with use_host(ArraysHost(["hip", "knee", "ankle"], N)):
        wrapper = ArticulationActuators.from_actuators("/Robot_.*", [(ActuatorConfig(pd()), "knee")])
        (actuator,) = wrapper.actuators
        assert actuator is wrapper.actuators[0] and actuator.indices.numpy().tolist() == [1, 4, 7, 10]
        wrapper.close()


def test_actuator_of_a_plan_compiles_no_step_of_its_own() -> None:
    numbers = wp.ones(2, dtype=wp.float32, device="cpu", requires_grad=True)
    indices = wp.array([0, 1], dtype=wp.uint32, device="cpu")
    found = [
        kind(indices, aa.ControllerPD(numbers, numbers), requires_grad=True) for kind in (aa.Actuator, PlannedActuator)
    ]
    assert [one._compiled.step is None for one in found] == [False, True]
