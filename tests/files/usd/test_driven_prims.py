"""Values of a stage reach the efforts, for robots of any layout and composition."""

from collections.abc import Sequence

import isaacsim.core.experimental.actuators as aa
import pytest
from isaacsim.core.experimental.actuators.base.errors import ActuatorParseError
from isaacsim.core.experimental.actuators.files.usd import schema
from isaacsim.core.experimental.actuators.files.usd.discover import discover
from isaacsim.core.experimental.actuators.simulators.arrays import ArraysHost
from pxr import Sdf, Usd, UsdGeom, UsdPhysics
from refusals import cases, refused
from small_stages import SmallStage, pendulum

ROBOT, HIP, KNEE = "/World/Robot", "/World/Robot/joints/hip", "/World/Robot/joints/knee"
# robots with motors for some joints only
pytestmark = pytest.mark.filterwarnings("ignore:.* have no motor, and nothing else moves them")
ACT = f"{ROBOT}/Actuators/act"
STIFF = aa.PDControlConfig(10.0, 0.0)


def robot_stage(root: str = ROBOT) -> Usd.Stage:
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
    with aa.use_host(host):
        wrapper = aa.ArticulationActuators(root)
        host.play()
        for step in range(steps):
            host.arrays().position_targets[:] = step + 1.0
            host.step(0.01)
            seen.append(host.arrays().efforts.ravel().tolist())
        wrapper.close()
    return seen


@cases("root", ROBOT, f"{ROBOT}/base", f"{ROBOT}/joints/fix")
def test_articulation_root_may_be_robot_link_or_joint(root):
    stage = robot_stage(root)
    aa.add_actuator(ROBOT, "knee", "act", STIFF, stage=stage)
    assert efforts(stage, root) == [[0.0, 10.0]]


def test_robots_keep_values_of_their_own():
    stage = robot_stage()
    aa.add_actuator(ROBOT, "knee", "act", STIFF, stage=stage)
    for number in range(2):
        Sdf.CopySpec(stage.GetRootLayer(), ROBOT, stage.GetRootLayer(), f"{ROBOT}_{number}")
    stage.GetPrimAtPath(f"{ROBOT}_1/Actuators/act").GetAttribute("newton:kp").Set(99.0)
    host = ArraysHost(["hip", "knee"], 2, path=ROBOT, stage=stage)
    with aa.use_host(host):
        wrapper = aa.ArticulationActuators(f"{ROBOT}_.*")
        host.play()
        host.arrays().position_targets[:] = 1.0
        host.step(0.01)
        assert host.arrays().efforts.ravel().tolist() == [0.0, 10.0, 0.0, 99.0]
        wrapper.close()


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


@cases("root", "/World/Arm/Geometry/base", "/World/Arm/Geometry", "/World/Arm/Physics/fix")
def test_robot_whose_joints_are_beside_its_root_is_driven(root) -> None:
    pytest.importorskip("mujoco", reason="the embedded simulator is not installed")
    motors = {"shoulder": [STIFF], ".*bow": [aa.PDControlConfig(4.0, 0.0)]}
    for way in ("prims", "motors", "configs"):
        with aa.Simulation(converted(root)) as sim:
            robot = aa.Articulation("/World/Arm")
            if way == "prims":
                for name in ("shoulder", "elbow"):
                    aa.add_actuator(robot.paths[0], name, name, motors[".*bow" if name == "elbow" else name][0])
            elif way == "motors":
                aa.add_motors(robot.paths[0], motors)
            if way != "configs":
                assert aa.motors_of(sim.stage, robot.paths[0]).keys() == {"shoulder", "elbow"}
            wrapped = (
                aa.ArticulationActuators.from_configs(robot.paths[0], motors)
                if way == "configs"
                else aa.ArticulationActuators(robot.paths[0])
            )
            with wrapped:
                sim.play()
                robot.set_dof_position_targets(1.0)
                sim.step()
                assert robot.get_dof_efforts().numpy().tolist() == [[10.0, 4.0]]


def test_payload_that_is_not_loaded_is_named_where_its_joints_are_missed(tmp_path) -> None:
    pendulum().stage.Export(str(tmp_path / "arm.usda"))
    made = SmallStage()
    made.root("/World/Base")
    made.stage.DefinePrim("/World/Base/arm").GetPayloads().AddPayload(str(tmp_path / "arm.usda"), "/World/Robot")
    made.stage.Unload("/World/Base/arm")
    told = r"The payload of </World/Base/arm> is not loaded: `stage\.Load\('/World/Base/arm'\)`\.$"
    with pytest.raises(ValueError, match=rf"joint 'hinge': not of .* Available: \[\]\. {told}"):
        aa.add_actuator("/World/Base", "hinge", "act", STIFF, stage=made.stage)
    with pytest.raises(ValueError, match=rf"no such prim on the stage\. .* {told}"):
        aa.add_actuator("/World/Base/arm/base", "hinge", "act", STIFF, stage=made.stage)
    with pytest.raises(ValueError, match=rf"'hinge' matches no joint: .* {told}"):
        aa.add_motors("/World/Base", {"hinge": [STIFF]}, stage=made.stage)
    refused(ValueError, lambda: aa.motors_of(made.stage, "/World/Arm"), rf"'/World/Arm' matches none .* {told}")
    with aa.use_host(ArraysHost(["hip"], path="/World/Base", stage=made.stage)):
        refused(ValueError, lambda: aa.Articulation("/World/Arm"), rf"'/World/Arm' matches none .* {told}")


def test_joints_of_one_name_are_told_apart_by_path() -> None:
    stage = robot_stage()
    UsdPhysics.RevoluteJoint.Define(stage, f"{ROBOT}/other/knee")
    with pytest.raises(ValueError, match=rf"'knee': name found 2 times: \['{KNEE}', '{ROBOT}/other/knee'\]\. Give"):
        aa.add_actuator(ROBOT, "knee", "act", STIFF, stage=stage)
    aa.add_actuator(ROBOT, KNEE, "act", STIFF, stage=stage)
    assert efforts(stage) == [[0.0, 10.0]]
    prims = aa.add_motors(ROBOT, {"hip|knee": [STIFF]}, stage=stage, overwrite_existing=True)
    targets = [str(path) for prim in prims for path in prim.GetRelationship("newton:targets").GetTargets()]
    assert targets == [HIP, KNEE, f"{ROBOT}/other/knee"]


def test_actuator_built_in_python_goes_by_path_where_joints_share_a_name() -> None:
    paths = [HIP, KNEE, f"{ROBOT}/other/knee"]
    pd = aa.ActuatorConfig(STIFF)
    with aa.use_host(ArraysHost(["hip", "knee", "knee"], path=ROBOT, dof_paths=paths)):
        with pytest.raises(ValueError, match=rf"joint 'knee': not in .* '{KNEE}', '{ROBOT}/other/knee'\]"):
            aa.ArticulationActuators.from_actuators(ROBOT, [(pd, "knee")])
        with aa.ArticulationActuators.from_actuators(ROBOT, [(pd, paths[2])]) as actuators:
            assert actuators.actuated_dof_indices == [2]


WRIST = "/World/Robot/wrist"


def wrist(free: tuple[str, ...] = ("rotX", "rotZ")) -> Usd.Stage:
    """An arm with a hinge, and a generic joint with these axes behind it."""
    made = pendulum()
    made.body("/World/Robot/hand")
    made.joint(WRIST, "", "/World/Robot/bob", "/World/Robot/hand")
    for axis in ("transX", "transY", "transZ", "rotX", "rotY", "rotZ"):
        limit = UsdPhysics.LimitAPI.Apply(made.stage.GetPrimAtPath(WRIST), axis)
        limit.CreateLowAttr(-90.0 if axis in free else 1.0)
        limit.CreateHighAttr(90.0 if axis in free else -1.0)
    return made.stage


def targets(prim: Usd.Prim) -> list[str]:
    return [str(path) for path in prim.GetRelationship("newton:targets").GetTargets()]


@cases("way", "prims", "motors", "configs")
def test_every_axis_of_a_joint_is_driven_by_its_name(way) -> None:
    pytest.importorskip("mujoco", reason="the embedded simulator is not installed")
    laws = {"hinge": STIFF, "wrist:rotX": aa.PDControlConfig(4.0, 0.0), "wrist:rot[YZ]": aa.PDControlConfig(3.0, 0.0)}
    motors = {joints: [law] for joints, law in laws.items()}
    stage = wrist()
    if way == "prims":
        aa.add_actuator(ROBOT, ["wrist:rotZ"], "spin", motors["wrist:rot[YZ]"][0], stage=stage)
        prim = aa.add_actuator(ROBOT, ["hinge", f"{WRIST}:rotX"], "both", STIFF, stage=stage)
        assert targets(prim) == ["/World/Robot/hinge", f"{WRIST}.rotX"]
        aa.add_motors(ROBOT, motors, stage=stage, overwrite_existing=True)
    elif way == "motors":
        assert [(prim.GetName(), targets(prim)) for prim in aa.add_motors(ROBOT, motors, stage=stage)] == [
            *(("hinge", ["/World/Robot/hinge"]), ("wrist_rotX", [f"{WRIST}.rotX"]), ("wrist_rotZ", [f"{WRIST}.rotZ"]))
        ]
    with aa.Simulation(stage) as sim:
        robot = aa.Articulation(ROBOT)
        assert robot.dof_names == ["hinge", "wrist:rotX", "wrist:rotZ"]
        from_configs = way == "configs"
        with aa.ArticulationActuators.from_configs(ROBOT, motors) if from_configs else aa.ArticulationActuators(ROBOT):
            sim.play()
            robot.set_dof_position_targets([[0.1, 0.2, 0.3]])
            sim.step()
            assert robot.get_dof_efforts().numpy()[0].tolist() == pytest.approx([1.0, 0.8, 0.9])


def test_axes_come_back_as_they_went_in() -> None:
    stage = wrist()
    around_z = aa.MotorConfig(STIFF, armature=0.25, friction=1.0)
    motors = {"wrist:rotX": aa.MotorConfig(STIFF, armature=0.5), "wrist:rotZ": around_z}
    aa.add_motors(ROBOT, motors, stage=stage)
    assert aa.motors_of(stage) == motors
    other = Usd.Stage.CreateInMemory()
    other.DefinePrim("/Hand").GetReferences().AddReference(stage.GetRootLayer().identifier, ROBOT)
    assert aa.motors_of(other) == motors
    paths = [parsed.target_path for prim in other.Traverse() if (parsed := aa.parse_actuator_prim(prim))]
    assert paths == ["/Hand/wrist.rotX", "/Hand/wrist.rotZ"]


def test_only_axis_of_a_generic_joint_is_the_joint() -> None:
    stage = wrist(("rotY",))
    for name in ("wrist", "wrist:rotY"):
        prim = aa.add_actuator(ROBOT, name, "act", STIFF, stage=stage, overwrite_existing=True)
        assert targets(prim) == [WRIST]
    prim.GetRelationship("newton:targets").SetTargets([f"{WRIST}.rotY"])
    assert aa.motors_of(stage) == {"wrist": aa.MotorConfig(STIFF)}


@cases(
    "name, target, says",
    ("wrist", "", "says no axis of"),
    ("wrist:rotY", ".rotY", "no such axis of"),
    ("wrist:angular", ".angular", "no such axis of"),
)
def test_axis_that_is_meant_has_to_be_said(name, target, says) -> None:
    stage = wrist()
    has = r"joint 'wrist', which has rotX, rotZ\. Name 'wrist:rotX' for instance\."
    refused(ValueError, lambda: aa.add_actuator(ROBOT, name, "act", STIFF, stage=stage), rf"'{name}': {says} {has}")
    prim = aa.add_actuator(ROBOT, "wrist:rotX", "act", STIFF, stage=stage)
    prim.GetRelationship("newton:targets").SetTargets([f"{WRIST}{target}"])
    for read in (lambda: aa.motors_of(stage), lambda: aa.parse_actuator_prim(prim)):
        with pytest.raises(ActuatorParseError) as caught:
            read()
        (issue,) = caught.value.issues
        assert issue == (
            f"<{ACT}>.newton:targets = <{WRIST}{target}>: {says} the joint, which has rotX, rotZ. Target "
            f"<{WRIST}.rotX> for instance."
        )


def test_one_axis_has_one_actuator() -> None:
    stage = wrist()
    aa.add_actuator(ROBOT, "wrist:rotX", "one", STIFF, stage=stage)
    aa.add_motors(ROBOT, {"wrist:rotZ": [STIFF]}, stage=stage)
    assert aa.motors_of(stage).keys() == {"wrist:rotX", "wrist:rotZ"}
    already = rf"joint <{WRIST}> \(wrist:rotX\) is driven by <{ROBOT}/Actuators/one> already"
    refused(ValueError, lambda: aa.add_motors(ROBOT, {"wrist:rotX": [STIFF]}, stage=stage), already)
    aa.add_actuator(ROBOT, "wrist:rotX", "two", STIFF, stage=stage)
    with pytest.raises(ActuatorParseError, match=rf"= <{WRIST}\.rotX>: already driven by <{ROBOT}/Actuators/one>"):
        aa.motors_of(stage)


def cgs(stage: Usd.Stage) -> Usd.Stage:
    UsdGeom.SetStageMetersPerUnit(stage, 0.01)
    UsdPhysics.SetStageKilogramsPerUnit(stage, 0.001)
    return stage


def sliding() -> Usd.Stage:
    stage = robot_stage()
    stage.GetPrimAtPath(KNEE).SetTypeName("PhysicsPrismaticJoint")
    return stage


def test_numbers_of_prims_are_in_the_units_of_the_stage() -> None:
    stage = cgs(sliding())
    limit = aa.MaxEffortClampingConfig(30.0)
    for name in ("hip", "knee"):
        prim = aa.add_actuator(ROBOT, name, name, STIFF, clamping=[limit], stage=stage)
        attributes = [prim.GetAttribute(f"newton:{each}").Get() for each in ("kp", "maxEffort")]
        assert attributes == ([1e8, 3e8] if name == "hip" else [1e4, 3e6])
    for target, expected in ((1.0, [10.0, 10.0]), (5.0, [30.0, 30.0])):
        host = ArraysHost(["hip", "knee"], path=ROBOT, stage=stage, dof_paths=(HIP, KNEE))
        assert driven(host, target) == [pytest.approx(expected)]

    class StageUnitsHost(ArraysHost):
        def articulation(self, paths: str | Sequence[str]):
            found = super().articulation(paths)
            found.in_stage_units = True
            return found

    host = StageUnitsHost(["hip", "knee"], path=ROBOT, stage=stage, dof_paths=(HIP, KNEE))
    assert driven(host, 2.0) == [[2e8, 2e4]]


def driven(host: ArraysHost, target: float) -> list[list[float]]:
    with aa.use_host(host), aa.ArticulationActuators(ROBOT):
        host.play()
        host.arrays().position_targets[:] = target
        host.step(0.01)
        return host.arrays().efforts.reshape(1, -1).tolist()


def test_motors_come_back_in_si_from_a_stage_in_other_units() -> None:
    made = pendulum()
    motors = {"hinge": aa.MotorConfig(aa.PDControlConfig(20.0, 2.0), armature=0.5, friction=0.25)}
    aa.add_motors(ROBOT, motors, stage=cgs(made.stage))
    assert made.stage.GetPrimAtPath(f"{ROBOT}/hinge").GetAttribute("physxJointAxis:angular:armature").Get() == 5e6
    (found,) = aa.motors_of(made.stage).values()
    assert found.controller.kp == pytest.approx(20.0) and found.controller.kd == pytest.approx(2.0)
    assert (found.armature, found.friction) == (pytest.approx(0.5), pytest.approx(0.25))


def test_prim_whose_numbers_have_no_one_unit_is_refused() -> None:
    stage = sliding()
    aa.add_actuator(ROBOT, ["hip", "knee"], "act", STIFF, stage=stage)
    assert efforts(stage) == [[10.0, 10.0]]
    says = r"PDControlConfig\.kp is of joints that turn and of joints that slide, .* Give each kind an actuator\."
    refused(ActuatorParseError, lambda: efforts(cgs(stage)), rf"<{ACT}>: {says}")
    refused(ValueError, lambda: aa.add_actuator(ROBOT, ["hip", "knee"], "other", STIFF, stage=stage), says)


def test_values_of_a_schema_of_ones_own_have_no_known_unit(monkeypatch) -> None:
    monkeypatch.setattr(schema, "_foreign", {"SpringAPI": "clamping"})
    stage = robot_stage()
    aa.add_actuator(ROBOT, "knee", "act", STIFF, stage=stage).AddAppliedSchema("SpringAPI")
    assert len(discover(stage, ROBOT, [HIP, KNEE], si=True)) == 1
    with pytest.raises(ActuatorParseError, match=rf"<{ACT}> applies SpringAPI, whose units are not known, on a stage"):
        discover(cgs(stage), ROBOT, [HIP, KNEE], si=True)
