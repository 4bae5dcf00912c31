"""What a stage says reaches the efforts, however the robot is laid out and composed."""

from __future__ import annotations

from pathlib import Path

import pytest
from isaacsim.core.experimental.actuators import (
    Articulation,
    ArticulationActuators,
    DelayConfig,
    PDControlConfig,
    Simulation,
    add_actuator,
    add_motors,
    motors_of,
    use_host,
)
from isaacsim.core.experimental.actuators.hosts.arrays import ArraysHost
from pxr import Sdf, Usd, UsdPhysics
from small_stages import SmallStage, pendulum

ROBOT, HIP, KNEE = "/World/Robot", "/World/Robot/joints/hip", "/World/Robot/joints/knee"
ACT = f"{ROBOT}/Actuators/act"
STIFF = PDControlConfig(10.0, 0.0)


def robot_stage(root: str = ROBOT) -> Usd.Stage:
    """A robot with two hinges whose articulation root is the prim at `root`."""
    stage = Usd.Stage.CreateInMemory()
    stage.DefinePrim(f"{ROBOT}/base", "Xform")
    for path in (HIP, KNEE):
        UsdPhysics.RevoluteJoint.Define(stage, path)
    UsdPhysics.FixedJoint.Define(stage, f"{ROBOT}/joints/fix")
    UsdPhysics.ArticulationRootAPI.Apply(stage.GetPrimAtPath(root))
    return stage


def efforts(stage: Usd.Stage, root: str = ROBOT, joints: tuple[str, str] = (HIP, KNEE), steps: int = 1) -> list:
    """Efforts of each step, hip then knee, while both targets grow by 1 rad a step."""
    host = ArraysHost(["hip", "knee"], path=root, stage=stage, dof_paths=joints)
    seen = []
    with use_host(host):
        wrapper = ArticulationActuators(root)
        host.play()
        for step in range(steps):
            host.arrays().position_targets[:] = step + 1.0
            host.step(0.01)
            seen.append(host.arrays().efforts.ravel().tolist())
        wrapper.close()
    return seen


@pytest.mark.parametrize("root", [ROBOT, f"{ROBOT}/base", f"{ROBOT}/joints/fix"])
def test_articulation_root_may_be_robot_link_or_joint(root):
    """Drive what `add_actuator` wrote at the robot, whichever prim is the articulation root."""
    stage = robot_stage(root)
    add_actuator(ROBOT, "knee", "act", STIFF, stage=stage)
    assert efforts(stage, root) == [[0.0, 10.0]]


@pytest.mark.parametrize(
    ("steps", "knee"),
    [(0, [10.0, 20.0, 30.0]), (1, [10.0, 10.0, 20.0]), (2, [10.0, 10.0, 10.0]), (None, [10.0, 10.0, 20.0])],
)
def test_delay_of_the_stage(steps, knee):
    """Delay by the authored steps, 0 among them, and by the schema's 1 where none are authored."""
    stage = robot_stage()
    prim = add_actuator(ROBOT, "knee", "act", STIFF, delay=DelayConfig(steps or 0), stage=stage)
    if steps is None:
        prim.RemoveProperty("newton:delaySteps")
    assert [effort for _, effort in efforts(stage, steps=3)] == knee


def test_all_targets_are_driven():
    """Drive every target of a prim."""
    stage = robot_stage()
    add_actuator(ROBOT, ["knee", "hip"], "act", STIFF, stage=stage)
    assert efforts(stage) == [[10.0, 10.0]]


def test_forwarded_target_is_driven():
    """Drive the joint behind a relationship that is targeted itself."""
    stage = robot_stage()
    prim = add_actuator(ROBOT, "hip", "act", STIFF, stage=stage)
    prim.CreateRelationship("joint").SetTargets([KNEE])
    prim.GetRelationship("newton:targets").SetTargets([f"{ACT}.joint"])
    assert efforts(stage) == [[0.0, 10.0]]


@pytest.mark.parametrize("instanceable", [True, False])
def test_referenced_robot_is_driven(instanceable):
    """Drive a robot that is referenced from a file, instanced or not."""
    source = robot_stage()
    add_actuator(ROBOT, "knee", "act", STIFF, stage=source)
    stage = Usd.Stage.CreateInMemory()
    copy = stage.DefinePrim("/Copy")
    copy.GetReferences().AddReference(source.GetRootLayer().identifier, ROBOT)
    copy.SetInstanceable(instanceable)
    assert efforts(stage, "/Copy", ("/Copy/joints/hip", "/Copy/joints/knee")) == [[0.0, 10.0]]


def test_robots_share_the_prims_of_the_first():
    """Read the first robot's prims only; another value at a copy has no effect."""
    stage = robot_stage()
    add_actuator(ROBOT, "knee", "act", STIFF, stage=stage)
    for number in range(2):
        Sdf.CopySpec(stage.GetRootLayer(), ROBOT, stage.GetRootLayer(), f"{ROBOT}_{number}")
    stage.GetPrimAtPath(f"{ROBOT}_1/Actuators/act").GetAttribute("newton:kp").Set(99.0)
    host = ArraysHost(["hip", "knee"], 2, path=ROBOT, stage=stage)
    with use_host(host):
        wrapper = ArticulationActuators(f"{ROBOT}_.*")
        host.play()
        host.arrays().position_targets[:] = 1.0
        host.step(0.01)
        assert host.arrays().efforts.ravel().tolist() == [0.0, 10.0, 0.0, 10.0]
        wrapper.close()


def test_inactive_actuator_drives_nothing():
    """Leave a joint to its drive when its actuator is deactivated."""
    stage = robot_stage()
    add_actuator(ROBOT, "knee", "act", STIFF, stage=stage).SetActive(False)
    with pytest.warns(UserWarning, match="no actuator found"):
        assert efforts(stage) == [[0.0, 0.0]]


def converted(root: str) -> Usd.Stage:
    """An arm as converters of URDF write it: links and joints in scopes side by side."""
    made = SmallStage()
    for name in ("base", "upper", "fore"):
        made.body(f"/World/Arm/Geometry/{name}")
    made.joint("/World/Arm/Physics/fix", "Fixed", None, "/World/Arm/Geometry/base")
    made.joint("/World/Arm/Physics/shoulder", "Revolute", "/World/Arm/Geometry/base", "/World/Arm/Geometry/upper")
    made.joint("/World/Arm/Physics/elbow", "Revolute", "/World/Arm/Geometry/upper", "/World/Arm/Geometry/fore")
    UsdPhysics.ArticulationRootAPI.Apply(made.stage.GetPrimAtPath(root))
    return made.stage


@pytest.mark.parametrize("root", ["/World/Arm/Geometry/base", "/World/Arm/Geometry", "/World/Arm/Physics/fix"])
def test_robot_whose_joints_are_beside_its_root_is_driven(root: str) -> None:
    """By prims that are authored at its path, one by one or by pattern, and by configs."""
    pytest.importorskip("mujoco", reason="the embedded simulator is not installed")
    motors = {"shoulder": [STIFF], ".*bow": [PDControlConfig(4.0, 0.0)]}
    for way in ("prims", "motors", "configs"):
        with Simulation(converted(root)) as sim:
            robot = Articulation("/World/Arm")
            if way == "prims":
                for name in ("shoulder", "elbow"):
                    add_actuator(robot.paths[0], name, name, motors[".*bow" if name == "elbow" else name][0])
            elif way == "motors":
                add_motors(robot.paths[0], motors)
            if way != "configs":
                assert motors_of(sim.stage, robot.paths[0]).keys() == {"shoulder", "elbow"}
            wrapped = (
                ArticulationActuators.from_configs(robot.paths[0], motors)
                if way == "configs"
                else ArticulationActuators(robot.paths[0])
            )
            with wrapped:
                sim.play()
                robot.set_dof_position_targets(1.0)
                sim.step()
                assert robot.get_dof_efforts().numpy().tolist() == [[10.0, 4.0]]


def test_payload_that_is_not_loaded_is_named_where_its_joints_are_missed(tmp_path: Path) -> None:
    """Whoever looks for them, or for the robot itself."""
    pendulum().stage.Export(str(tmp_path / "arm.usda"))
    made = SmallStage()
    made.root("/World/Base")
    made.stage.DefinePrim("/World/Base/arm").GetPayloads().AddPayload(str(tmp_path / "arm.usda"), "/World/Robot")
    made.stage.Unload("/World/Base/arm")
    told = r"The payload of </World/Base/arm> is not loaded: `stage\.Load\('/World/Base/arm'\)`\.$"
    with pytest.raises(ValueError, match=rf"joint 'hinge': not of .* Available: \[\]\. {told}"):
        add_actuator("/World/Base", "hinge", "act", STIFF, stage=made.stage)
    with pytest.raises(ValueError, match=rf"no such prim on the stage\. .* {told}"):
        add_actuator("/World/Base/arm/base", "hinge", "act", STIFF, stage=made.stage)
    with pytest.raises(ValueError, match=rf"'hinge' matches no joint: .* {told}"):
        add_motors("/World/Base", {"hinge": [STIFF]}, stage=made.stage)
    with pytest.raises(ValueError, match=rf"'/World/Arm' matches none .* {told}"):
        motors_of(made.stage, "/World/Arm")
    with use_host(ArraysHost(["hip"], path="/World/Base", stage=made.stage)):
        with pytest.raises(ValueError, match=rf"'/World/Arm' matches none .* {told}"):
            Articulation("/World/Arm")


def test_joints_of_one_name_are_told_apart_by_path() -> None:
    """Which the error lists."""
    stage = robot_stage()
    UsdPhysics.RevoluteJoint.Define(stage, f"{ROBOT}/other/knee")
    with pytest.raises(ValueError, match=rf"'knee': name found 2 times: \['{KNEE}', '{ROBOT}/other/knee'\]\. Give"):
        add_actuator(ROBOT, "knee", "act", STIFF, stage=stage)
    add_actuator(ROBOT, KNEE, "act", STIFF, stage=stage)
    assert efforts(stage) == [[0.0, 10.0]]
    prim = add_motors(ROBOT, {"hip|knee": [STIFF]}, stage=stage, overwrite_existing=True)[0]
    targets = [str(path) for path in prim.GetRelationship("newton:targets").GetTargets()]
    assert targets == [HIP, KNEE, f"{ROBOT}/other/knee"]
