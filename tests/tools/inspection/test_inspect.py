"""Joints and motors of files, and the source of each value."""

import math
from pathlib import Path

import pytest
from isaacsim.core.experimental.actuators import InspectedRobot, Simulation, inspect_robots, lint
from isaacsim.core.experimental.actuators.tools.inspection.inspect import robots_of_model
from places import ROBOTS
from pxr import Sdf, Usd
from refusals import cases, refused
from robot_files import ARM, OF_EXTENSION, OF_SHOULDER, SHOULDER, Edit, edited, number, schema, without
from small_stages import pendulum

URDF = """<robot name="arm"><link name="base"/><link name="boom"><inertial><mass value="1"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="shoulder" type="revolute"><parent link="base"/><child link="boom"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="2" effort="30" velocity="4"/></joint></robot>"""


def robot_of(file: Path) -> InspectedRobot:
    (robot,) = inspect_robots(file)
    return robot


@cases("file", *sorted(ROBOTS.glob("*.usda")), ids=lambda file: file.name)
def test_joints_are_those_of_the_simulation(file) -> None:
    pytest.importorskip("mujoco", reason="the embedded simulator is not installed")
    with Simulation(file) as sim:
        for robot in inspect_robots(file):
            articulation = sim.articulation(robot.path)
            sim.play()
            assert [joint.name for joint in robot.joints] == articulation.dof_names
            read = {"armature": articulation.get_dof_armatures(), "effort_limit": articulation.get_dof_max_efforts()}
            read |= zip(("lower_limit", "upper_limit"), articulation.get_dof_limits(), strict=True)
            for name, values in read.items():
                assert [joint.value(name) for joint in robot.joints] == pytest.approx(values.numpy()[0], rel=1e-5)
            assert {joint.driven_by for joint in robot.joints} <= {"actuator", "another joint"}
            assert robot.problems == robot.remarks == ()


def test_mjcf_says_the_same_as_usd() -> None:
    usd, mjcf = robot_of(ROBOTS / "arm_2dof.usda"), robot_of(ROBOTS / "arm_2dof.xml")
    assert [joint.driven_by for joint in mjcf.joints] == ["MJCF actuator"] * 2
    assert [actuator.pipeline for actuator in usd.actuators] == [actuator.pipeline for actuator in mjcf.actuators]
    for joint in usd.joints:
        for name in ("lower_limit", "upper_limit", "effort_limit", "armature"):
            assert mjcf.joint(joint.name).value(name) == pytest.approx(joint.value(name))
    assert mjcf.joint("shoulder").values["upper_limit"].source == "arm_2dof.xml"
    assert mjcf.joint("shoulder").values["armature"].source == "default"


def test_motors_of_mjcf_drive_without_gains(tmp_path) -> None:
    servo, motor = '<position name="shoulder_servo" joint="shoulder" kp="200" kv="20"', '<motor joint="shoulder"'
    file = tmp_path / "arm.xml"
    file.write_text((ROBOTS / "arm_2dof.xml").read_text().replace(servo, motor))
    robot = robot_of(file)
    assert robot.joint("shoulder").driven_by == "MJCF actuator"
    assert robot.actuators[0].pipeline == "torque motor, nothing drives it → max effort 60"


def test_urdf_has_limits_and_no_drives(tmp_path) -> None:
    file = tmp_path / "arm.urdf"
    file.write_text(URDF)
    (joint,) = robot_of(file).joints
    assert (joint.driven_by, joint.driver) == ("nothing", None)
    said = [joint.value(name) for name in ("lower_limit", "upper_limit", "effort_limit", "velocity_limit")]
    assert said == [-1.0, 2.0, 30.0, 4.0]


def test_values_are_si_with_units_and_layers(tmp_path) -> None:
    below = edited(tmp_path, name="below.usda")
    above = Sdf.Layer.CreateNew(str(tmp_path / "above.usda"))
    above.subLayerPaths.append("below.usda")
    stage = Usd.Stage.Open(above)
    number(OF_SHOULDER, "newton:kd", 7.0)(stage)
    number(SHOULDER, "physics:upperLimit", 90.0)(stage)
    above.Save()
    robot = robot_of(tmp_path / "above.usda")
    values = {name: value for (_, name), value in robot.actuators[0].values.items()}
    assert (values["kd"].value, values["kd"].unit, values["kd"].source) == (7.0, "N·m·s/rad", "above.usda")
    assert (values["kp"].value, values["kp"].unit, values["kp"].source) == (200.0, "N·m/rad", below.name)
    shoulder, extension = robot.joints
    assert shoulder.value("upper_limit") == pytest.approx(math.pi / 2)
    assert shoulder.values["upper_limit"].source == "above.usda"
    assert shoulder.values["lower_limit"].source == "below.usda" and not shoulder.values["armature"].said
    assert extension.values["upper_limit"].unit == "m"


def test_stages_in_other_units_are_told_in_si(tmp_path) -> None:
    """In centimetres, torques of a file are 1e-4 N·m."""
    file = edited(tmp_path, lambda stage: stage.SetMetadata("metersPerUnit", 0.01))
    assert robot_of(file).actuators[0].values["PD", "kp"].value == pytest.approx(200e-4)
    assert robot_of(file).joint("extension").value("upper_limit") == pytest.approx(0.004)


def test_what_drives_a_joint(tmp_path) -> None:
    def driven(*edits: Edit) -> tuple[str, str | None]:
        joint = robot_of(edited(tmp_path, *edits, name=f"{len(list(tmp_path.iterdir()))}.usda")).joint("shoulder")
        return joint.driven_by, joint.driver

    def servo(stage: Usd.Stage) -> None:
        stage.DefinePrim(f"{ARM}/servo", "MjcActuator").CreateRelationship("mjc:target").SetTargets([SHOULDER])

    bare, drive = without(OF_SHOULDER), number(SHOULDER, "drive:angular:physics:damping", 1.0)
    assert driven(drive) == ("actuator", OF_SHOULDER) and driven(bare, drive, servo) == ("USD drive", None)
    assert driven(bare, servo) == ("MjcActuator", f"{ARM}/servo")
    assert driven(bare, schema(SHOULDER, "NewtonMimicAPI")) == ("another joint", None)
    assert driven(bare) == ("nothing", None)


def test_broken_prims_hide_nothing_else(tmp_path) -> None:
    file = edited(
        tmp_path,
        number(OF_SHOULDER, "newton:kp", -1.0),
        number(SHOULDER, "physics:upperLimit", math.nan),
        lambda stage: stage.GetPrimAtPath(OF_EXTENSION).SetMetadata("apiSchemas", Sdf.TokenListOp()),
    )
    robot = robot_of(file)
    assert len(robot.problems) == 3
    assert [actuator.pipeline for actuator in robot.actuators] == ["PD(kp=0, kd=20) → max effort 60", "unusable"]
    assert [joint.driven_by for joint in robot.joints] == ["actuator", "nothing"]
    assert math.isnan(robot.joints[0].value("upper_limit"))


def test_a_gear_and_a_network_in_words() -> None:
    from isaacsim.core.experimental.actuators import DelayConfig, GearedPDControlConfig, PositionBasedClampingConfig
    from isaacsim.core.experimental.actuators.tools.inspection.described import pipeline_of

    table = PositionBasedClampingConfig([0.0, 1.0], [5.0, 6.0])
    said = pipeline_of([DelayConfig(3), GearedPDControlConfig(1.0, 0.5, 6.0), table])
    assert said.startswith("delay 3 → geared PD(kp=1, kd=0.5, gear=6) → position based(lookup_positions=2 values, ")


def test_variants_are_selected(tmp_path) -> None:
    def author(stage: Usd.Stage) -> None:
        found = stage.GetPrimAtPath(ARM).GetVariantSets().AddVariantSet("motor")
        for name, kp in (("weak", 20.0), ("strong", 400.0)):
            found.AddVariant(name)
            found.SetVariantSelection(name)
            with found.GetVariantEditContext():
                number(OF_EXTENSION, "newton:constEffort", kp)(stage)
        stage.GetPrimAtPath(OF_EXTENSION).RemoveProperty("newton:constEffort")

    file = edited(tmp_path, author)
    before = file.read_bytes()
    for name, effort in (("weak", 20.0), ("strong", 400.0)):
        (robot,) = inspect_robots(file, {"motor": name})
        values = {actuator.path: actuator.values for actuator in robot.actuators}
        assert values[OF_EXTENSION]["PD", "const_effort"].value == effort
    assert file.read_bytes() == before
    refused(ValueError, lambda: inspect_robots(file, {"motor": "none"}), "must be one of")
    refused(ValueError, lambda: inspect_robots(file, {"gripper": "none"}), "no prim has it")
    refused(ValueError, lambda: inspect_robots(ROBOTS / "arm_2dof.xml", {"motor": "weak"}), "no variants")


def test_a_file_that_is_not_there() -> None:
    refused(FileNotFoundError, lambda: inspect_robots("nothing.usda"), "no such file")


def test_drives_of_another_name_and_envelopes_are_remarks(tmp_path) -> None:
    made = pendulum()
    made.drive("/World/Robot/hinge", "rotZ", stiffness=1.0)
    made.stage.GetPrimAtPath("/World/Robot/hinge").AddAppliedSchema("PhysxDrivePerformanceEnvelopeAPI:angular")
    made.attribute("/World/Robot/hinge", "physxDrivePerformanceEnvelope:angular:maxActuatorVelocity", 90.0)
    made.stage.Export(str(tmp_path / "robot.usda"))
    (robot,) = inspect_robots(tmp_path / "robot.usda")
    assert robot.joints[0].driven_by == "USD drive"
    begun = [" ".join(line.split()[:2]) for line in robot.remarks]
    assert begun == ["</World/Robot/hinge> applies", "</World/Robot/hinge>: the"]
    found = lint(tmp_path / "robot.usda")
    assert [(one.rule, one.where) for one in found] == [("without-effect", "/World/Robot/hinge")] * 2


MJCF = """<mujoco><compiler inertiafromgeom="{}"/><worldbody><body name="arm"><joint name="hinge"/>
<inertial pos="0 0 0" mass="{}" diaginertia="1 1 1"/><geom size="0.1" mass="2"/></body></worldbody></mujoco>"""
LIMITED = """<robot name="arm"><link name="base"/><link name="arm"/>
<joint name="hinge" type="{}"><parent link="base"/><child link="arm"/>
<limit lower="-1" upper="1.5" effort="{}" velocity="0"/></joint>
<ros2_control name="arm" type="system"><joint name="hinge"><command_interface name="{}">
<param name="min">{}</param><param name="max">{}</param></command_interface></joint></ros2_control></robot>"""


def found(folder: Path, text: str, ending: str) -> tuple[str, ...]:
    (file := folder / f"arm.{ending}").write_text(text)
    (robot,) = robots_of_model(file)
    return robot.two_values


@cases("option, mass, count", ("true", 3.0, 1), ("true", 2.0, 0), ("auto", 3.0, 0))
def test_masses_that_those_of_shapes_replace(option: str, mass: float, count: int, tmp_path: Path) -> None:
    lines = found(tmp_path, MJCF.format(option, mass), "xml")
    assert len(lines) == count
    expected = "<arm>: its mass by shapes = 2, as inertiafromgeom has it, and that of its <inertial> = 3 (SI) mean the"
    assert all(line.startswith(expected) for line in lines)


@cases(
    "command, low, high, told",
    ("position", -1.0, 1.5, []),
    ("position", -0.5, 0.5, []),
    ("position", -57.2957795, 1.5, ["min of its position command = -57.2958 (SI) mean the same and differ, by a"]),
    ("effort", -9.0, 9.0, []),
    ("effort", -9.0, 12.0, ["max of its effort command = 12 (SI) mean the same and differ."]),
    ("effort", "", "${most}", []),
    # a velocity of 0 is no limit
    ("velocity", -12.0, 12.0, []),
    ("stiffness", -12.0, 12.0, []),
)
def test_commands_of_ros2_control_beyond_the_limits_of_the_joint(command, low, high, told, tmp_path) -> None:
    lines = found(tmp_path, LIMITED.format("revolute", 9.0, command, low, high).replace("${most}", "most"), "urdf")
    assert len(lines) == len(told)
    for line, words in zip(lines, told, strict=True):
        assert line.startswith("<hinge>: its <limit ") and words in line
