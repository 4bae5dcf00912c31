"""`ActuatorGroup`: the same results as its actuators one by one, on the core and with array stages."""

from collections.abc import Callable
from types import SimpleNamespace

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
import warp as wp
from warp_arrays import floats, indices

DT = 0.01
# every test runs with each engine
pytestmark = pytest.mark.usefixtures("backend")


def frame(rng: np.random.Generator, positions: int, velocities: int) -> tuple[SimpleNamespace, SimpleNamespace]:
    """Random signals of a robot with a floating base, which has more positions than velocities."""
    state = SimpleNamespace(joint_q=floats(rng.normal(size=positions)), joint_qd=floats(rng.normal(size=velocities)))
    control = SimpleNamespace(
        joint_target_pos=floats(rng.normal(size=positions)),
        joint_target_vel=floats(rng.normal(size=velocities)),
        joint_act=floats(rng.normal(size=velocities)),
        joint_f=floats(np.zeros(velocities)),
        computed=floats(np.zeros(velocities)),
    )
    return state, control


class Halving(aa.Clamping):
    def modify_forces(self, src_forces: wp.array, dst_forces: wp.array, *_, device=None) -> None:
        dst_forces.assign(src_forces.numpy() / 2)


def pd(rng: np.random.Generator, count: int, clamps=(), **options) -> aa.Actuator:
    """PD of some joints, one column of `count` robots with 3 joints behind a floating base of 7 and 6 columns."""
    rows, joint = np.arange(count), options.pop("joint", 0)
    gains = aa.ControllerPD(floats(rng.uniform(5, 20, count)), floats(rng.uniform(0.5, 2, count)))
    at, pos_at = indices(rows * 9 + 6 + joint), indices(rows * 10 + 7 + joint)
    return aa.Actuator(at, gains, options.pop("delay", None), clamps, pos_indices=pos_at, **options)


def various(seed: int) -> list[aa.Actuator]:
    """Three joints of 150 robots, a fourth actuator on a few of them; each of another kind."""
    rng = np.random.default_rng(seed)
    dc = aa.ClampingDCMotor(*(floats(np.full(150, value)) for value in (20, 2, 15)))
    table = aa.ClampingPositionBased(None, [-1.0, 0.0, 1.0], [5.0, 20.0, 10.0])
    lags = wp.array(rng.integers(0, 4, 150), dtype=wp.int32, device="cpu")
    pid = aa.ControllerPID(*(floats(rng.uniform(0.1, value, 150)) for value in (20, 50, 2, 0.2)))
    at, pos_at = np.arange(150) * 9 + 8, np.arange(150) * 10 + 9
    few = rng.permutation(150)[:7]
    return [
        pd(rng, 150, [dc, aa.ClampingMaxEffort(floats(np.full(150, 9)))], control_computed_output_attr="computed"),
        pd(rng, 150, [table, dc, table], joint=1, delay=aa.Delay(lags, 4)),
        aa.Actuator(
            indices(at), pid, aa.Delay(lags, 3), pos_indices=indices(pos_at), target_pos_indices=indices(pos_at)
        ),
        aa.Actuator(
            indices(at[few]), aa.ControllerPD(floats(np.ones(7)), floats(np.ones(7))), effort_indices=indices(few)
        ),
    ]


def compare(make: Callable[[], list[aa.Actuator]], steps: int = 12, bad: bool = False) -> aa.ActuatorGroup:
    """Step two equal lists of actuators, one as a group, and require the same bits everywhere."""
    rng, group, singly = np.random.default_rng(9), aa.ActuatorGroup(make()), make()
    states = [group.state(), group.state()]
    pairs = [[one.state(), one.state()] for one in singly]
    for _ in range(steps):
        state, control = frame(rng, 1500, 1350)
        for array in [*vars(state).values(), *list(vars(control).values())[:3]] if bad else ():
            array.numpy()[rng.random(len(array)) < 0.02] = np.nan
        other = SimpleNamespace(**vars(control) | {name: floats(np.zeros(1350)) for name in ("joint_f", "computed")})
        group.step(state, control, *states, DT)
        for one, pair in zip(singly, pairs, strict=True):
            one.step(state, other, *pair, DT)
            pair.reverse()
        states.reverse()
        for name in ("joint_f", "computed"):
            np.testing.assert_array_equal(getattr(control, name).numpy(), getattr(other, name).numpy())
    for mine, (after, _) in zip(states[0], pairs, strict=True):
        for part in ("delay_state", "controller_state"):
            for name, array in vars(getattr(mine, part, None) or SimpleNamespace()).items():
                np.testing.assert_array_equal(array.numpy(), getattr(getattr(after, part), name).numpy())
    assert group.faults == [fault for one in singly for fault in one.faults] and bool(group.faults) == bad
    return group


@pytest.mark.parametrize("bad", [True, False])
def test_group_is_its_actuators_one_after_the_other(bad) -> None:
    compare(lambda: various(1), bad=bad)


def test_actuator_with_an_own_clamp_keeps_its_place() -> None:
    def make() -> list[aa.Actuator]:
        made, rng = various(2), np.random.default_rng(3)
        return [*made[:2], pd(rng, 150, [Halving()], joint=1), *made[2:], pd(rng, 150, [Halving()])]

    compare(make)


def test_actuator_sees_what_the_one_before_it_wrote() -> None:
    def make() -> list[aa.Actuator]:
        rng = np.random.default_rng(4)
        backwards = indices((np.arange(150) * 9 + 6)[::-1].copy())
        return [
            pd(rng, 150, control_output_attr="computed", effort_indices=backwards),
            pd(rng, 150, control_feedforward_attr="computed"),
            pd(rng, 150, joint=1, control_feedforward_attr="joint_f"),
            pd(rng, 150, control_feedforward_attr="joint_f"),
        ]

    compare(make)


def test_two_actuators_add_to_one_place(rng) -> None:
    actuators = [pd(rng, 3), pd(rng, 3, [aa.ClampingMaxEffort(floats([1, 1, 1]))])]
    state, control = frame(rng, 30, 27)
    alone = []
    for one in actuators:
        control.joint_f.zero_()
        one.step(state, control)
        alone.append(control.joint_f.numpy().copy())
    control.joint_f.fill_(100)
    aa.ActuatorGroup(actuators).step(state, control)
    np.testing.assert_allclose(control.joint_f.numpy(), 100 + alone[0] + alone[1], rtol=1e-6)


def test_component_put_in_later_acts(rng) -> None:
    actuators = [pd(rng, 4), pd(rng, 4, joint=1)]
    group, (state, control) = aa.ActuatorGroup(actuators), frame(rng, 40, 36)

    def efforts() -> np.ndarray:
        control.joint_f.zero_()
        group.step(state, control)
        return control.joint_f.numpy().copy()

    whole = efforts()
    actuators[0].clamping.append(Halving())
    halved = efforts()
    actuators[0].step(state, control)
    actuators[0].clamping.clear()
    assert (halved[6::9] == whole[6::9] / 2).all() and (halved[7::9] == whole[7::9]).all()
    np.testing.assert_array_equal(efforts(), whole)


def test_states_are_one_per_actuator() -> None:
    group = aa.ActuatorGroup(various(1))
    assert [state is not None for state in group.state()] == [False, True, True, False]
    assert group.is_stateful() and group.is_graphable()
    stateless = aa.ActuatorGroup(various(1)[:1])
    assert (stateless.is_stateful(), stateless.state()) == (False, [None])


def test_reset_by_mask_starts_some_joints_over(rng) -> None:
    gains = aa.ControllerPID(*(floats(np.full(3, value)) for value in (0, 1, 0, 100)))
    group = aa.ActuatorGroup([aa.Actuator(indices([0, 1, 2]), gains)])
    now, after = group.state(), group.state()
    signals = {name: floats([0, 0, 0]) for name in ("joint_q", "joint_qd", "joint_target_vel")}
    control = signals | {"joint_target_pos": floats([1, 2, 3])}
    for step in range(3):
        if step == 2:
            now[0].reset(wp.array([False, True, False], dtype=wp.bool, device="cpu"))
        control["joint_f"] = floats([0, 0, 0])
        group.step(signals, control, now, after, 1.0)
        now, after = after, now
    assert control["joint_f"].numpy().tolist() == [3, 2, 9]


def test_faults_of_all_are_listed_and_cleared(rng) -> None:
    group = aa.ActuatorGroup([pd(rng, 2, label=f"/R/{joint}", joint=joint) for joint in range(3)])
    state, control = frame(rng, 20, 18)
    state.joint_q.numpy()[19] = np.nan
    control.joint_target_vel.numpy()[6] = np.inf
    group.step(state, control)
    found = [(fault.label, fault.robot, fault.inputs) for fault in group.faults]
    assert found == [("/R/0", 0, ("velocity target",)), ("/R/2", 1, ("position",))]
    group.clear_faults()
    assert group.faults == []


def test_mistakes_are_refused_before_anything_is_stepped(rng) -> None:
    group, (state, control) = aa.ActuatorGroup(various(1)), frame(rng, 1500, 1350)
    states = group.state()
    with pytest.raises(ValueError, match="next_states has 3 states: must have 4"):
        group.step(state, control, states, states[:3], DT)
    for lacking in ((None, states), (states, [*states[:2], None, None])):
        with pytest.raises(ValueError, match="requires both"):
            group.step(state, control, *lacking, DT)
    assert not control.joint_f.numpy().any()
    del control.joint_target_vel
    with pytest.raises(ValueError, match="SimpleNamespace has no array 'joint_target_qd' or 'joint_target_vel'"):
        group.step(state, control, states, states, DT)
    assert not control.joint_f.numpy().any()


def test_actuator_listed_twice_is_refused(rng) -> None:
    actuator = pd(rng, 1)
    with pytest.raises(ValueError, match="listed twice"):
        aa.ActuatorGroup([actuator, actuator])


def test_group_of_nobody_does_nothing(rng) -> None:
    state, control = frame(rng, 10, 9)
    for actuators in ([], [pd(rng, 0), pd(rng, 0, [aa.ClampingMaxEffort(floats([]))])]):
        group = aa.ActuatorGroup(actuators)
        group.step(state, control)
        assert not control.joint_f.numpy().any() and group.faults == []
