"""The wrapper on the host of arrays: construction, stepping, feedforward, faults, end of life."""

import gc
from pathlib import Path

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators import ActuatorConfig, ArticulationActuators, ControllerPD
from isaacsim.core.experimental.actuators.base.errors import HostError
from isaacsim.core.experimental.actuators.simulators.arrays import ArraysHost
from pxr import Usd, UsdPhysics
from refusals import cases, refused
from stages import stage_of

NAMES = ["shoulder", "elbow", "wrist"]
ROBOTS = 4
DT = 0.01


def full(value: float, dtype=wp.float32) -> wp.array:
    return wp.full(ROBOTS, value, dtype=dtype, device="cpu")


def config(kp: float = 10.0, kd: float = 1.0, limit: float | None = None, delay: int | None = None) -> ActuatorConfig:
    return ActuatorConfig(
        ControllerPD(full(kp), full(kd)),
        [] if limit is None else [aa.ClampingMaxEffort(full(limit))],
        None if delay is None else aa.Delay(full(delay, wp.int32), delay),
    )


@pytest.fixture
def host():
    """Four robots of three joints, drives with gains, physics running."""
    made = ArraysHost(NAMES, ROBOTS)
    with aa.use_host(made):
        made.play()
        made.arrays().stiffnesses[:] = np.arange(12) + 1
        made.arrays().dampings[:] = (np.arange(12) + 1) / 8
        yield made


def robot_stage() -> Usd.Stage:
    """A robot with a prim for each joint, with a gain of 1 and a delay of up to two steps."""
    stage = Usd.Stage.CreateInMemory()
    for name in NAMES:
        UsdPhysics.RevoluteJoint.Define(stage, f"/Robot/joints/{name}")
        aa.add_actuator("/Robot", name, name, aa.PDControlConfig(1.0, 0.0), delay=aa.DelayConfig(2), stage=stage)
    return stage


@pytest.fixture
def wrapper(host: ArraysHost):
    pairs = [(config(20, limit=5.0), "wrist"), (config(delay=2), "shoulder")]
    with ArticulationActuators.from_actuators("/Robot_.*", pairs) as made:
        yield made


def efforts(host: ArraysHost) -> np.ndarray:
    return host.arrays().efforts.reshape(ROBOTS, 3).copy()


def test_from_actuators_are_in_joint_order(wrapper) -> None:
    assert [actuator.label for actuator in wrapper.actuators] == ["shoulder", "wrist"]
    assert wrapper.actuated_dof_indices == [0, 2]


def test_step_writes_owned_columns_only(host, wrapper) -> None:
    host.arrays().efforts[:] = 7.0
    host.arrays().position_targets[:] = 0.1
    host.step(DT)
    np.testing.assert_allclose(efforts(host), np.tile([1.0, 7.0, 2.0], (ROBOTS, 1)), rtol=1e-6)


def test_applied_efforts_are_those_of_the_last_step(host, wrapper) -> None:
    assert (wrapper.applied_efforts == np.zeros((ROBOTS, 2))).all()
    host.arrays().position_targets[:] = 0.1
    host.step(DT)
    applied = wrapper.applied_efforts
    np.testing.assert_allclose(applied, np.tile([1.0, 2.0], (ROBOTS, 1)), rtol=1e-6)
    host.arrays().position_targets[:] = 3.0
    host.step(DT)
    assert (wrapper.applied_efforts[:, 1] == 5.0).all() and (applied[:, 1] < 5.0).all()
    host.stop()
    assert (wrapper.applied_efforts == np.zeros((ROBOTS, 2))).all()


def test_clamp_limits_the_effort(host, wrapper) -> None:
    """kp · error = 60, limit 5."""
    host.arrays().position_targets[:] = 3.0
    host.step(DT)
    assert (efforts(host)[:, 2] == 5.0).all()


def test_delay_counts_physics_steps(host, wrapper) -> None:
    acting = []
    for target in range(1, 6):
        host.arrays().position_targets[:] = target
        host.step(DT)
        acting.append(float(efforts(host)[0, 0]) / 10)
    assert acting == pytest.approx([1, 1, 1, 2, 3])


@pytest.fixture
def robot():
    made = ArraysHost(NAMES, stage=robot_stage())
    with aa.use_host(made):
        made.play()
        made.arrays().position_targets[:] = 0.1
        yield made


def test_gains_are_tuned_joint_by_joint(robot) -> None:
    with ArticulationActuators("/Robot") as wrapper:
        for column, actuator in zip(wrapper.actuated_dof_indices, wrapper.actuators, strict=True):
            actuator.controller.kp.assign([10.0 * (column + 1)])
            actuator.controller.kd.assign([0.0])
            actuator.delay.delay_steps.assign([0])
        robot.step(DT)
        np.testing.assert_allclose(wrapper.applied_efforts, [[1.0, 2.0, 3.0]], rtol=1e-6)


def test_gains_are_copied_into_the_only_element(robot) -> None:
    """As programs for real robots do: by the joint that `indices` names, with `wp.copy`."""
    gains = wp.array([30.0, 20.0, 10.0], dtype=wp.float32, device="cpu")
    with ArticulationActuators("/Robot") as wrapper:
        for actuator in wrapper.actuators:
            (column,) = actuator.indices.numpy().tolist()
            wp.copy(actuator.controller.kp, gains[column : column + 1])
        robot.step(DT)
        np.testing.assert_allclose(wrapper.applied_efforts, [[3.0, 2.0, 1.0]], rtol=1e-6)


def test_reset_of_environments_resets_their_actuators(host, wrapper) -> None:
    for target in (1.0, 2.0):
        host.arrays().position_targets[:] = target
        host.step(DT)
    host.bus.emit_reset([1])
    host.arrays().position_targets[:] = 3.0
    host.step(DT)
    np.testing.assert_allclose(efforts(host)[:, 0] / 10, [1, 3, 1, 1])


@cases(
    "indices, fresh",
    (None, [0, 1, 2, 3]),
    (2, [2]),
    ([3, 0], [0, 3]),
    ([], []),
    (np.array([False, True, True, False]), [1, 2]),
    (wp.array([1], dtype=wp.int32, device="cpu"), [1]),
)
def test_reset_takes_robots(indices, fresh, host: ArraysHost, wrapper: ArticulationActuators) -> None:
    host.arrays().velocities[2::3] = np.nan
    for target in (1.0, 2.0):
        host.arrays().position_targets[:] = target
        host.step(DT)
    wrapper.reset(indices=indices)
    assert [fault.robot for fault in wrapper.faults] == [robot for robot in range(ROBOTS) if robot not in fresh]
    host.arrays().position_targets[:] = 3.0
    host.step(DT)
    np.testing.assert_allclose(efforts(host)[:, 0] / 10, [3.0 if robot in fresh else 1.0 for robot in range(ROBOTS)])


@cases("indices", 4, -1, [0, 9], [True], 0.5)
def test_reset_of_unknown_robots_is_refused(indices, wrapper) -> None:
    refused(ValueError, lambda: wrapper.reset(indices=indices), "robot")


def test_reset_of_some_robots_keeps_the_error(host, wrapper) -> None:
    refused(ValueError, lambda: host.step(-1.0), "step_dt")
    wrapper.reset(indices=[0, 1])
    refused(ValueError, lambda: wrapper.step_actuators(DT), "step_dt")


def test_disable_stops_automatic_steps(host, wrapper) -> None:
    host.arrays().position_targets[:] = 0.1
    wrapper.disable_auto_step_pre_physics()
    wrapper.disable_auto_step_pre_physics()
    host.step(DT)
    assert not efforts(host).any()
    wrapper.step_actuators(DT)
    assert efforts(host).any()
    host.arrays().efforts[:] = 0.0
    wrapper.enable_auto_step_pre_physics()
    host.step(DT)
    assert efforts(host).any()


def test_enabling_twice_steps_once(host, wrapper) -> None:
    before = host.bus.num_callbacks
    wrapper.enable_auto_step_pre_physics()
    assert host.bus.num_callbacks == before


def test_feedforward_takes_subsets_and_stays(host, wrapper) -> None:
    wrapper.set_dof_feedforward_effort_targets([1.5], indices=2, dof_indices=[2])
    efforts_of_first = wp.array([[2.5]], dtype=wp.float32, device="cpu")
    wrapper.set_dof_feedforward_effort_targets(efforts_of_first, indices=np.arange(4) == 0, dof_indices=2)
    wrapper.reset()
    host.step(DT)
    np.testing.assert_array_equal(efforts(host)[:, 2], [2.5, 0, 1.5, 0])


def test_feedforward_passes_delay_and_clamp(host, wrapper) -> None:
    host.step(DT)
    wrapper.set_dof_feedforward_effort_targets(8.0)
    seen = []
    for _ in range(3):
        host.step(DT)
        seen.append(efforts(host)[0].tolist())
    assert seen == [[0, 0, 5], [0, 0, 5], [8, 0, 5]]


@cases(
    "arguments, words",
    ({"target_feedforward_efforts": 1.0, "dof_indices": [3]}, ["DOF index 3", "0 … 2"]),
    ({"target_feedforward_efforts": 1.0, "indices": -1}, ["robot index -1", "0 … 3"]),
    ({"target_feedforward_efforts": np.nan}, ["nan", "finite"]),
    ({"target_feedforward_efforts": [1.0, 2.0]}, ["shape (2,)", "(4, 3)"]),
    ({"target_feedforward_efforts": 1.0, "indices": 0.5}, ["0.5", "integers"]),
)
def test_bad_feedforward_changes_nothing(arguments, words, host, wrapper) -> None:
    text = refused(ValueError, lambda: wrapper.set_dof_feedforward_effort_targets(**arguments))
    assert all(word in text for word in words), text
    host.step(DT)
    assert not efforts(host).any()


def test_faults_name_robot_and_joint(host, wrapper) -> None:
    host.step(DT)
    host.arrays().velocities[2 * 3 + 2] = np.nan
    host.step(DT)
    (fault,) = wrapper.faults
    assert (fault.robot_path, fault.dof_name, fault.step, fault.inputs) == ("/Robot_2", "wrist", 1, ("velocity",))
    wrapper.reset()
    assert wrapper.faults == []


@cases("dt", 0.0, -1.0, np.nan, np.inf)
def test_bad_time_step_is_refused(dt, wrapper) -> None:
    refused(ValueError, lambda: wrapper.step_actuators(dt), "step_dt")


def test_error_in_the_callback_leaves_no_effort(host, wrapper) -> None:
    host.arrays().position_targets[:] = 0.1
    host.step(DT)
    before = host.bus.num_callbacks
    refused(ValueError, lambda: host.step(-1.0), "step_dt")
    assert not efforts(host)[:, [0, 2]].any() and host.bus.num_callbacks == before - 1
    host.step(DT)
    assert not efforts(host).any()
    refused(ValueError, lambda: wrapper.step_actuators(DT), "step_dt")
    wrapper.reset()
    host.step(DT)
    assert efforts(host).any()


@cases(
    "pairs, words",
    ([(config(), "hip")], ["'hip'", "/Robot_0", "shoulder"]),
    ([(config(), "wrist"), (config(), "wrist")], ["'wrist'", "two"]),
    (
        [(ActuatorConfig(ControllerPD(*[wp.zeros(2, dtype=float, device="cpu")] * 2)), "wrist")],
        ["wrist", "has 2 elements", "must be 4"],
    ),
)
def test_bad_construction_leaves_nothing_behind(pairs: list, words: list[str], host: ArraysHost) -> None:
    gains = host.arrays().stiffnesses.copy()
    text = refused(ValueError, lambda: ArticulationActuators.from_actuators("/Robot_.*", pairs))
    assert all(word in text for word in words), text
    assert host.bus.num_callbacks == 0
    np.testing.assert_array_equal(host.arrays().stiffnesses, gains)


def test_no_host_is_one_clear_error() -> None:
    refused(HostError, lambda: ArticulationActuators("/World/Robot"), r"Simulation\(")


def test_step_before_play_says_so() -> None:
    host = ArraysHost(NAMES, ROBOTS)
    with aa.use_host(host):
        wrapper = ArticulationActuators.from_actuators("/Robot_.*", [(config(), "wrist")])
        refused(HostError, lambda: wrapper.step_actuators(DT), "play")
        host.play()
        host.step(DT)


def test_empty_wrapper_is_legal(host) -> None:
    with ArticulationActuators.from_actuators("/Robot_.*", []) as wrapper:
        wrapper.step_actuators(DT)
        assert wrapper.actuated_dof_indices == [] and host.arrays().stiffnesses.all()


def test_skipping_discovery_makes_an_empty_wrapper(robots) -> None:
    with aa.Simulation(robots / "pendulum.usda"):
        assert ArticulationActuators("/World/Pendulum", _skip_discovery=True).actuators == []


def test_one_config_serves_several_joints(host) -> None:
    shared = config(delay=1)
    with ArticulationActuators.from_actuators("/Robot_.*", [(shared, "wrist"), (shared, "elbow")]) as wrapper:
        first, second = wrapper.actuators
        first.controller.kp.fill_(99.0)
        assert (second.controller.kp.numpy() == 10.0).all()


def test_component_parameters_are_live(host, wrapper) -> None:
    host.arrays().position_targets[:] = 0.1
    wrapper.actuators[1].controller.kp.numpy()[3] = 40.0
    host.step(DT)
    np.testing.assert_allclose(efforts(host)[:, 2], [2, 2, 2, 4], rtol=1e-6)


def test_a_prim_with_several_targets_drives_each(robots) -> None:
    stage = stage_of(robots / "arm_2dof.usda")
    arm = stage.GetPrimAtPath("/World/Arm")
    for prim in arm.GetChild("Actuators").GetChildren():
        prim.SetActive(prim.GetName() == "shoulder")
    paths = ["/World/Arm/joints/shoulder", "/World/Arm/joints/extension"]
    arm.GetPrimAtPath("Actuators/shoulder").GetRelationship("newton:targets").SetTargets(paths)
    with aa.Simulation(stage, num_envs=2) as sim:
        sim.play()
        wrapper = ArticulationActuators("/World/Arm")
        (actuator,) = wrapper.actuators
        assert actuator.dof_names == ("shoulder", "extension")
        wrapper.articulation.set_dof_position_targets([[0.01, 0.02], [0.03, 0.04]])
        sim.bus.emit_pre_step(DT)
        np.testing.assert_allclose(wrapper.articulation.get_dof_efforts().numpy(), [[2.0, 4.0], [6.0, 8.0]], rtol=1e-5)


def test_garbage_collection_closes(host) -> None:
    gains = host.arrays().stiffnesses.copy()
    ArticulationActuators.from_actuators("/Robot_.*", [(config(), "wrist")])
    gc.collect()
    assert host.bus.num_callbacks == 0
    np.testing.assert_array_equal(host.arrays().stiffnesses, gains)


@cases("name", "save_state", "restore_state", "reset", "record", "randomize", "observe_efforts")
def test_a_closed_wrapper_says_so(wrapper, name) -> None:
    given: dict[str, tuple] = {"restore_state": ({},), "randomize": ({},)}
    wrapper.close()
    with pytest.raises(HostError, match=r"is closed\. Make a new one"):
        getattr(wrapper, name)(*given.get(name, ()), **({"seed": 0} if name == "randomize" else {}))


def test_step_after_close_says_so(wrapper) -> None:
    wrapper.close()
    refused(HostError, lambda: wrapper.step_actuators(DT), "closed")


def test_joints_of_the_same_name_are_told_apart_by_path() -> None:
    stage = Usd.Stage.CreateInMemory()
    UsdPhysics.ArticulationRootAPI.Apply(stage.DefinePrim("/Robot", "Xform"))
    paths = ["/Robot/left/knee", "/Robot/right/knee"]
    for path, kp in zip(paths, (1.0, 2.0), strict=True):
        UsdPhysics.RevoluteJoint.Define(stage, path)
        side = path.split("/")[2]
        prim = aa.add_actuator(f"/Robot/{side}", "knee", "motor", aa.PDControlConfig(kp, 0.0), stage=stage)
        assert str(prim.GetPath()) == f"/Robot/{side}/Actuators/motor"
    host = ArraysHost(["knee", "knee"], stage=stage, dof_paths=paths)
    with aa.use_host(host):
        wrapper = ArticulationActuators("/Robot")
        host.play()
        host.arrays().position_targets[:] = 1.0
        host.step(DT)
        assert host.arrays().efforts.tolist() == [1.0, 2.0]
        with pytest.raises(ValueError, match=r"Available: \['/Robot/left/knee', '/Robot/right/knee'\]"):
            ArticulationActuators.from_actuators("/Robot", [(config(), "knee")])
        wrapper.close()


def test_another_device_is_passed_over(host, monkeypatch) -> None:
    get_device = wp.get_device
    monkeypatch.setattr(wp, "get_device", lambda ident=None: ident if ident == "cuda:0" else get_device(ident))
    with pytest.warns(UserWarning, match=r"device = cuda:0: .* on cpu") as warned:
        wrapper = ArticulationActuators.from_actuators("/Robot_.*", [(config(20), "wrist")], device="cuda:0")
    assert wrapper.engine.startswith("native")
    assert [Path(warning.filename).name for warning in warned] == [Path(__file__).name]
    host.arrays().position_targets[:] = 0.1
    host.step(DT)
    np.testing.assert_allclose(efforts(host)[:, 2], 2.0, rtol=1e-6)


def test_limits_of_a_drive_do_not_clamp(robots) -> None:
    speeds = []
    for limit in (None, 1e-3):
        stage = Usd.Stage.Open(str(robots / "pendulum.usda"))
        joint = next(prim for prim in stage.Traverse() if prim.GetName() == "hinge" and prim.IsA("PhysicsJoint"))
        if limit is not None:
            UsdPhysics.DriveAPI.Apply(joint, "angular").CreateMaxForceAttr(limit)
        with aa.Simulation(stage) as sim:
            wrapper = ArticulationActuators("/World/Pendulum")
            sim.play()
            wrapper.articulation.set_dof_position_targets(1.0)
            sim.step()
            speeds.append(float(wrapper.articulation.get_dof_velocities().numpy()[0, 0]))
    assert speeds[0] == speeds[1] > 0.01
