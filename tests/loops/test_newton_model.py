"""Actuators on a model of newton: where its joints are found, and newton's own actuators beside ours."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
import warp as wp
from own_components import Loaded
from refusals import cases, refused

DT = 0.01
PD = [aa.PDControlConfig(10.0, 1.0)]


def flat(values, dtype=wp.float32) -> wp.array:
    return wp.array(values, dtype=dtype, device="cpu")


def model_of(joints: list[tuple[str, int, int]], robots: int = 2, **changes):
    q = np.cumsum([0, *(coordinates for _, coordinates, _ in joints * robots)])
    qd = np.cumsum([0, *(axes for _, _, axes in joints * robots)])
    told = {
        "device": wp.get_device("cpu"),
        "articulation_label": [f"/World/env_{n}/robot" for n in range(robots)],
        "articulation_start": flat(np.arange(robots + 1) * len(joints), wp.int32),
        "joint_label": [f"/World/env_{n}/robot/{name}" for n in range(robots) for name, _, _ in joints],
        "joint_q_start": flat(q, wp.int32),
        "joint_qd_start": flat(qd, wp.int32),
    }
    gains = {"joint_target_ke": 3, "joint_target_kd": 4, "joint_armature": 0.5, "joint_friction": 0.25}
    return SimpleNamespace(**told | {name: flat(np.full(qd[-1], value)) for name, value in gains.items()} | changes)


LEG = [("root", 7, 6), ("hip", 1, 1), ("gimbal", 2, 2), ("knee", 1, 1)]


def state_of(model, **changes):
    num_q, num_qd = int(model.joint_q_start.numpy()[-1]), int(model.joint_qd_start.numpy()[-1])
    arrays = {"joint_q": flat(np.arange(num_q)), "joint_target_q": flat(np.zeros(num_q))}
    arrays |= {name: flat(np.zeros(num_qd)) for name in ("joint_qd", "joint_target_qd", "joint_act")}
    return SimpleNamespace(**arrays | {"joint_f": flat(np.full(num_qd, 7.0))} | changes)


def test_joints_behind_a_free_base_are_found() -> None:
    """Positions stand one further than velocities there, and only driven joints get efforts."""
    model = model_of(LEG)
    actuated = aa.ActuatedModel(model, {"hip|gimbal:1|knee": PD})
    assert actuated.dof_names[6:] == ["hip", "gimbal:0", "gimbal:1", "knee"]
    assert actuated.articulation_labels == ["/World/env_0/robot", "/World/env_1/robot"]
    state = state_of(model)
    actuated.step(state, state, DT)
    # 11 coordinates and 10 axes each
    expected = np.full(20, 7.0)
    for robot in range(2):
        for axis in (6, 8, 9):
            expected[10 * robot + axis] = -10 * (11 * robot + axis + 1)
    np.testing.assert_array_equal(state.joint_f.numpy(), expected)


def test_targets_velocities_and_feedforward_are_read() -> None:
    model = model_of(LEG)
    actuated, state = aa.ActuatedModel(model, {"knee": PD}), state_of(model)
    before = 10 * state.joint_q.numpy()[[10, 21]]
    for name, gain, at in (("joint_target_q", 10, [10, 21]), ("joint_qd", -1, [9, 19]), ("joint_act", 1, [9, 19])):
        values = getattr(state, name).numpy()
        values[at] = 2.0, 3.0
        getattr(state, name).assign(values)
        actuated.step(state, state, DT)
        before -= gain * np.array([2.0, 3.0])
        np.testing.assert_allclose(state.joint_f.numpy()[[9, 19]], -before)


def test_column_of_the_caller_stands_by_joint() -> None:
    """Where the joint stands among all of its robot, though only driven ones are looked at."""
    model = model_of(LEG)
    actuated, state = aa.ActuatedModel(model, [(aa.ActuatorConfig(Loaded()), "knee")]), state_of(model)
    actuated.set_custom_input("load", np.arange(20, dtype=np.float32).reshape(2, 10))
    actuated.step(state, state, DT)
    assert state.joint_f.numpy()[[9, 19]].tolist() == [-9.0, -19.0]


def test_efforts_are_those_of_the_end_of_the_step_in_the_implicit_mode() -> None:
    """Of the joint that the pattern names: kp = 10 and kd = 1 at rest at q, of a joint with the inertia I.

    τ = −10 (q + h v) − v and v = h τ/I make τ = −10 q/(1 + 10 h²/I + h/I).
    """
    model = model_of(LEG)
    actuated = aa.ActuatedModel(model, {"hip": PD, "knee": PD}, effort_mode={"knee": "implicit"})
    actuated.set_mass_matrix(0.02 * np.eye(len(actuated.dof_names)))
    state, inertia = state_of(model), 0.02
    actuated.step(state, state, DT)
    q = state.joint_q.numpy()[[10, 21]]
    np.testing.assert_allclose(state.joint_f.numpy()[[9, 19]], -10 * q / (1 + (10 * DT**2 + DT) / inertia), rtol=1e-6)
    np.testing.assert_array_equal(state.joint_f.numpy()[[6, 16]], -10 * state.joint_q.numpy()[[7, 18]])
    with pytest.raises(ValueError, match="effort_mode = 'late': must be one of 'explicit', 'implicit'"):
        aa.ActuatedModel(model_of(LEG), {"knee": PD}, effort_mode="late")  # pyright: ignore[reportArgumentType]


def test_older_names_are_found() -> None:
    """Keys before labels, and targets of positions as long as velocities, before newton 1.3."""
    model = model_of(LEG)
    model.joint_key, model.articulation_key = model.joint_label, model.articulation_label
    del model.joint_label, model.articulation_label
    actuated = aa.ActuatedModel(model, {"knee": PD})
    state = state_of(model)
    del state.joint_target_q, state.joint_target_qd, state.joint_act
    state.joint_target_pos, state.joint_target_vel = flat(np.arange(20) * 100.0), flat(np.zeros(20))
    actuated.step(state, state, DT)
    assert state.joint_f.numpy()[[9, 19]].tolist() == [10 * (900 - 10), 10 * (1900 - 21)]


def test_states_that_take_turns_stay_bound() -> None:
    model = model_of(LEG)
    actuated, states = aa.ActuatedModel(model, {"knee": PD}), [state_of(model) for _ in range(2)]
    control = state_of(model)
    for state in states:
        actuated.step(state, control, DT)
    actuated._bind = lambda *_: pytest.fail("looked at again")
    for state, position in zip(states * 2, (1.0, 2.0, 3.0, 4.0), strict=True):
        state.joint_q.fill_(position)
        actuated.step(state, control, DT)
        assert control.joint_f.numpy()[9] == -10 * position


def test_drives_of_the_model_rest_until_close() -> None:
    model = model_of(LEG)
    names = ("joint_target_ke", "joint_target_kd", "joint_armature", "joint_friction")
    before = [getattr(model, name).numpy().copy() for name in names]
    motors = {"knee": aa.MotorConfig(PD[0], armature=0.125), "hip": aa.MotorConfig(friction=2.0)}
    with aa.ActuatedModel(model, motors) as actuated:
        ke, kd, armature, friction = (getattr(model, name).numpy() for name in names)
        assert np.flatnonzero(ke == 0).tolist() == np.flatnonzero(kd == 0).tolist() == [9, 19]
        assert armature.tolist() == [0.5] * 9 + [0.125] + [0.5] * 9 + [0.125]
        assert np.flatnonzero(friction != 0.25).tolist() == [6, 16] and friction[6] == 2.0
    for name, values in zip(names, before, strict=True):
        np.testing.assert_array_equal(getattr(model, name).numpy(), values)
    refused(RuntimeError, lambda: actuated.step(state_of(model), state_of(model), DT), "is closed")


def test_friction_acts_once() -> None:
    model = model_of(LEG)
    model.joint_damping = flat(np.full(20, 0.125))
    before = model.joint_friction.numpy().copy(), model.joint_damping.numpy().copy()
    motors = {
        "hip": [*PD, aa.FrictionConfig(0.5, 0.75, assumed_inertia=0.1)],
        "knee": [*PD, aa.FrictionConfig(0.5, 0.75, in_engine=True)],
    }
    with aa.ActuatedModel(model, motors):
        for array, inside, own in ((model.joint_friction, 0.5, 0.25), (model.joint_damping, 0.75, 0.125)):
            assert array.numpy().tolist() == [*[own] * 6, 0.0, own, own, inside] * 2
    np.testing.assert_array_equal([model.joint_friction.numpy(), model.joint_damping.numpy()], before)


def test_models_of_earlier_newton_have_no_damping_of_joints() -> None:
    with aa.ActuatedModel(model_of(LEG), {"hip": [*PD, aa.FrictionConfig(0.5, 0.75, assumed_inertia=0.1)]}):
        pass
    with pytest.raises(ValueError, match="has no joint_damping"):
        aa.ActuatedModel(model_of(LEG), {"hip": [*PD, aa.FrictionConfig(0.5, 0.75, in_engine=True)]})


def test_a_solver_with_one_dry_friction_has_no_breakaway_level() -> None:
    friction = aa.FrictionConfig(0.5, static=0.75, in_engine=True)
    with pytest.raises(ValueError, match=r"in_engine = True of joints hip: static must be coulomb"):
        aa.ActuatedModel(model_of(LEG), {"hip": [*PD, friction]})


@cases(
    "joints, changes, arguments, message",
    (LEG, {}, {"motors": {"ankle": PD}}, "ankle"),
    (LEG, {}, {"articulations": "arm"}, "articulations = 'arm': must match one of"),
    (LEG, {}, {"motors": {"root:3": PD}}, "joint 'root:3': must have one position per axis"),
    ([("hip", 1, 1), ("ball", 4, 3), ("knee", 1, 1)], {}, {}, r"joints \['knee'\] stand behind a ball or free"),
    (LEG, {"articulation_start": flat([0, 4, 7], wp.int32)}, {}, "must be those of '/World/env_0/robot'"),
    (LEG, {"joint_label": None}, {}, "SimpleNamespace has no joint_label: must be a finalized newton.Model"),
)
def test_models_that_do_not_fit_are_refused(joints, changes, arguments, message) -> None:
    model = model_of(joints, **changes)
    refused(ValueError, lambda: aa.ActuatedModel(model, **{"motors": {"hip|knee": PD}} | arguments), message)
    assert (model.joint_target_ke.numpy() == 3).all()


def test_robots_that_stand_unevenly_are_refused() -> None:
    joints = [("knee", 1, 1), ("knee", 1, 1), ("other", 1, 1), ("knee", 1, 1)]
    model = model_of(joints, 1, articulation_label=["a", "a", "b", "a"])
    model.articulation_start = flat([0, 1, 2, 3, 4], wp.int32)
    with pytest.raises(ValueError, match=r"articulations \['a', 'a', 'a'\] …: must stand evenly spaced"):
        aa.ActuatedModel(model, {"knee": PD}, articulations="a")
    assert aa.ActuatedModel(model, {"other": PD}, articulations="b").num_robots == 1


@cases(
    "changes, message",
    ({"joint_f": None}, "'joint_f' is None: must be an array"),
    ({"joint_q": flat(np.zeros(3))}, "joint_q has 3 numbers of float32: must be 22 of float32"),
    ({"joint_qd": flat(np.zeros(20), wp.float64)}, "joint_qd has 20 numbers of float64: must be 20 of float32"),
)
def test_arrays_that_do_not_fit_are_refused(changes: dict[str, Any], message: str) -> None:
    model = model_of(LEG)
    state = state_of(model, **changes)
    refused(ValueError, lambda: aa.ActuatedModel(model, {"knee": PD}).step(state, state, DT), message)


GOALS = np.linspace(-1.0, 1.0, 6, dtype=np.float32)


def arm(newton, worlds: int):
    one, inertia, up = newton.ModelBuilder(), wp.mat33(np.eye(3, dtype=np.float32) * 0.1), wp.quat_identity()
    links = [one.add_link(mass=1.0, inertia=inertia) for _ in range(2)]
    ends = [wp.transform((0.0, 0.0, z), up) for z in (-0.5, 0.5)]
    hip = one.add_joint_revolute(-1, links[0], axis=(0, 1, 0), label="hip", child_xform=ends[1])
    between = {"parent_xform": ends[0], "child_xform": ends[1]}
    knee = one.add_joint_revolute(links[0], links[1], axis=(0, 1, 0), label="knee", **between)
    one.add_articulation([hip, knee], label="arm")
    builder = newton.ModelBuilder()
    builder.replicate(one, worlds)
    return builder


def swung(newton, model, act: Callable[[Any, Any], None], goals: list[np.ndarray]) -> np.ndarray:
    """Efforts that `act` writes in each step of a solver whose states take turns."""
    solver = newton.solvers.SolverFeatherstone(model)
    state, following, control = model.state(), model.state(), model.control()
    targets = getattr(control, "joint_target_q", None)
    targets = control.joint_target_pos if targets is None else targets
    efforts = []
    for wanted in goals:
        targets.assign(wanted)
        act(state, control)
        efforts.append(control.joint_f.numpy().copy())
        solver.step(state, following, control, None, 0.002)
        state, following = following, state
    return np.array(efforts)


def test_arms_of_newton_are_driven_by_the_law() -> None:
    newton = pytest.importorskip("newton")
    model = arm(newton, 3).finalize(device="cpu")
    before = model.joint_target_ke.numpy().copy(), model.joint_armature.numpy().copy()
    motors = {
        "hip|knee": aa.MotorConfig(aa.PDControlConfig(20.0, 2.0), [aa.MaxEffortClampingConfig(5.0)], armature=0.25)
    }
    with aa.ActuatedModel(model, motors) as actuated:
        assert actuated.dof_names == ["hip", "knee"] and actuated.num_robots == 3
        assert not model.joint_target_ke.numpy().any() and (model.joint_armature.numpy() == 0.25).all()
        seen = []

        def act(state, control) -> None:
            seen.append(20 * (GOALS - state.joint_q.numpy()) - 2 * state.joint_qd.numpy())
            actuated.step(state, control, 0.002)

        efforts = swung(newton, model, act, [GOALS] * 200)
    np.testing.assert_allclose(efforts, np.clip(seen, -5.0, 5.0), rtol=0, atol=1e-5)
    assert (np.abs(efforts) == 5.0).any() and np.ptp(efforts, axis=0).max() > 1
    for name, values in zip(("joint_target_ke", "joint_armature"), before, strict=True):
        np.testing.assert_array_equal(getattr(model, name).numpy(), values)


def test_efforts_are_those_of_newtons_own_actuators() -> None:
    newton = pytest.importorskip("newton")
    if not hasattr(newton, "actuators") or not hasattr(newton.actuators, "DrivePD"):
        pytest.skip("this newton has no actuators of its own")
    own = newton.actuators
    recorded = []
    for ours in (True, False):
        builder = arm(newton, 3)
        for dof in () if ours else range(6):
            limit = [(own.ClampingMaxEffort, {"max_effort": 5.0})]
            builder.add_actuator(own.DrivePD, dof, limit, kp=20.0, kd=2.0)
        model = builder.finalize(device="cpu")
        motor = [aa.PDControlConfig(20.0, 2.0), aa.MaxEffortClampingConfig(5.0)]
        actuated = aa.ActuatedModel(model, {"hip|knee": motor}) if ours else None

        def act(state, control, model=model, actuated=actuated) -> None:
            if actuated is not None:
                actuated.step(state, control, 0.002)
            else:
                control.joint_f.zero_()
                for actuator in model.actuators:
                    actuator.step(state, control, dt=0.002)

        recorded.append(swung(newton, model, act, [GOALS] * 200))
    ours_recorded, newtons = recorded
    assert (np.abs(newtons) == 5.0).any() and (np.abs(newtons) < 5.0).any()
    np.testing.assert_allclose(ours_recorded, newtons, rtol=0, atol=1e-6)


def test_newtons_own_actuators_are_stepped_by_our_plan() -> None:
    newton = pytest.importorskip("newton")
    own = getattr(newton, "actuators", None)
    if own is None:
        pytest.skip("this newton has no actuators of its own")
    law = vars(own).get("DrivePID") or vars(own)["ControllerPID"]
    recorded = []
    for ours in (True, False):
        builder = arm(newton, 3)
        for dof in range(6):
            limit = [(own.ClampingMaxEffort, {"max_effort": 5.0})]
            builder.add_actuator(law, dof, limit, dof % 3 or None, kp=20.0, ki=3.0, kd=2.0, integral_max=1.0)
        model = builder.finalize(device="cpu")
        assert len(model.actuators) == 2
        group = aa.drive_newton_model(model) if ours else None
        mine = group.state() if group else None
        states = [[one.state(), one.state()] for one in model.actuators]

        def act(state, control, model=model, group=group, mine=mine, states=states) -> None:
            control.joint_f.zero_()
            if group is not None:
                group.step(state, control, mine, mine, 0.002)
            else:
                for actuator, both in zip(model.actuators, states, strict=True):
                    actuator.step(state, control, *both, dt=0.002)
                    both.reverse()

        recorded.append(swung(newton, model, act, [GOALS * np.float32(1 + step % 7) for step in range(100)]))
    found, expected = recorded
    assert (np.abs(expected) == 5.0).any() and (np.abs(expected) < 5.0).any()
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)


def test_model_without_actuators_is_refused() -> None:
    for model in (SimpleNamespace(actuators=[]), SimpleNamespace()):
        with pytest.raises(ValueError, match="SimpleNamespace has no actuators: must have one at least"):
            aa.drive_newton_model(model)
