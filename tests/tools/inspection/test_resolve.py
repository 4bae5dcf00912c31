"""Applied values after play, and their rules."""

import math

import isaacsim.core.experimental.actuators as aa
import pytest
from isaacsim.core.experimental.actuators.base.errors import ActuatorParseError
from isaacsim.core.experimental.actuators.compat.isaac_lab import DCMotorCfg, ImplicitActuatorCfg, to_usd
from isaacsim.core.experimental.actuators.tools.inspection.resolve import Resolved, resolve, resolve_groups
from places import ROBOTS
from refusals import cases, refused
from robot_files import ARM as ARM_PATH
from robot_files import OF_SHOULDER, SHOULDER, edited, number, without

pytest.importorskip("mujoco", reason="the embedded simulator is not installed")
ARM = ROBOTS / "arm_2dof.usda"


def table(rows: list[Resolved]) -> dict[tuple[str, str], Resolved]:
    return {(row.joint, row.property): row for row in rows}


@cases("file", *sorted([*ROBOTS.glob("*.usda"), ROBOTS / "arm_2dof.xml"]), ids=lambda file: file.name)
def test_of_a_file_alone_its_values_hold(file) -> None:
    rows = resolve(file)
    assert rows
    for row in rows:
        assert row.config is None
        if row.file is not None and row.applied is not None:
            assert row.applied == pytest.approx(row.file, rel=1e-5), row
        elif row.applied is not None:
            assert row.rule in ("default", "nothing drives it")
    plain = {*"kp kd actuator_limit effort_limit velocity_limit armature friction viscous_friction".split()}
    assert {row.property for row in rows} - {"delay.delay_steps"} == plain
    actuators = [one for robot in aa.inspect_robots(file) for one in robot.actuators]
    delayed = {joint for one in actuators if one.delay for joint in one.joints}
    assert {row.joint for row in rows if row.property == "delay.delay_steps"} == delayed


def test_stages_without_a_row_of_their_own_have_their_parameters() -> None:
    rows = table(resolve(ARM, {".*": [aa.PDControlConfig(80.0, 4.0), aa.DelayConfig(3)]}))
    found = rows["shoulder", "delay.delay_steps"]
    assert (found.file, found.config, found.applied, found.unit) == (None, 3.0, 3.0, "physics steps")
    rubbing = [aa.PDControlConfig(80.0, 4.0), aa.FrictionConfig(0.5)]
    rows = [row for row in resolve(ARM, {"shoulder": rubbing}) if row.property.startswith("friction.")]
    # people do not see the others
    assert [row.property for row in rows if not row.is_default] == ["friction.coulomb"] and len(rows) > 10


def test_friction_is_that_of_the_stage_or_of_the_simulator() -> None:
    for in_engine, applied, rule in ((True, 0.5, "computed by the simulator"), (False, 0.0, "which replaces it")):
        motor = [aa.PDControlConfig(80.0, 4.0), aa.FrictionConfig(0.5, 0.25, in_engine=in_engine)]
        found = table(resolve(ARM, {".*": motor}))
        rows = [found["shoulder", name] for name in ("friction", "viscous_friction")]
        assert [row.applied for row in rows] == [applied, applied / 2]
        assert [row.rule for row in rows] == [f"friction stage, {rule}"] * 2


def test_a_configuration_takes_the_place_of_actuators() -> None:
    motor = aa.MotorConfig(aa.PDControlConfig(80.0, 4.0), [aa.MaxEffortClampingConfig(70.0)], armature=0.01)
    found = table(resolve(ARM, {"shoulder": motor}))
    kp, limit = found["shoulder", "kp"], found["shoulder", "actuator_limit"]
    assert (kp.file, kp.config, kp.applied, kp.unit) == (200.0, 80.0, 80.0, "N·m/rad")
    assert kp.rule == "configuration"
    assert (limit.file, limit.config, limit.applied) == (60.0, 70.0, 70.0)
    assert limit.rule.endswith("the joint's 60 bounds its drive only")
    armature = found["shoulder", "armature"]
    assert (armature.file, armature.config, armature.rule) == (None, 0.01, "configuration")
    assert armature.applied == pytest.approx(0.01)
    left = found["extension", "kp"]
    assert (left.file, left.config, left.applied) == (2000.0, None, 0.0)
    assert left.rule == "no motor: drive of the file"
    assert found["extension", "actuator_limit"].applied is None


def test_geared_motor_is_resolved_at_the_joint() -> None:
    gear = aa.TransmissionConfig(-10.0, rotor_inertia=1e-4)
    motor = aa.MotorConfig(aa.PDControlConfig(0.8, 0.04), [aa.MaxEffortClampingConfig(5.0)], others=[gear])
    found = table(resolve(ARM, {"shoulder": motor}))
    for name, value in {"kp": 80.0, "kd": 4.0, "actuator_limit": 50.0}.items():
        row = found["shoulder", name]
        assert (row.config, row.applied) == (pytest.approx(value), pytest.approx(value))
    armature = found["shoulder", "armature"]
    assert armature.applied == pytest.approx(0.01) and armature.rule.startswith("rotor of the transmission")
    assert found["shoulder", "transmission.ratio"].applied == -10.0


def test_motor_of_a_tendon_is_resolved_at_its_shaft() -> None:
    tendon = aa.LinkageConfig.tendon({"shoulder": 1.0, "extension": 2.0})
    motor = [aa.PDControlConfig(0.8, 0.0), aa.MaxEffortClampingConfig(5.0), aa.TransmissionConfig(10.0), tendon]
    found = table(resolve(ARM, {"shoulder": motor}))
    rows = [found[joint, name] for joint in ("shoulder", "extension") for name in ("kp", "kd", "actuator_limit")]
    assert [row.applied for row in rows] == [None] * 6
    rules = ["at the shaft: kp 80, limit 50"] * 3 + ["no motor of its own: a linkage moves it"] * 3
    assert [row.rule for row in rows] == rules
    shares = {key: row.config for key, row in found.items() if "coefficients" in key[1]}
    assert list(shares.values()) == [1.0, 2.0]
    # of a joint that another motor moves, no values are made up
    implicit = resolve(ARM, {"shoulder": [aa.PDControlConfig(0.8, 0.1), tendon, aa.ImplicitConfig()]})
    assert {row.joint for row in implicit if "implicit" in row.property} == {"shoulder"}


def test_a_value_by_pattern_and_a_motor_limit() -> None:
    law = aa.PDControlConfig({"shoulder": 10.0, "extension": 20.0}, 1.0)
    motor = aa.MotorConfig(law, [aa.DCMotorClampingConfig(30.0, 5.0, 25.0)])
    found = table(resolve(ARM, {".*": motor}))
    assert [found[joint, "kp"].applied for joint in ("shoulder", "extension")] == [10.0, 20.0]
    assert [found[joint, "kp"].config for joint in ("shoulder", "extension")] == [10.0, 20.0]
    assert found["shoulder", "actuator_limit"].applied == found["shoulder", "actuator_limit"].config == 25.0


def test_drives_hold_where_there_is_no_actuator(tmp_path) -> None:
    file = edited(tmp_path, without(OF_SHOULDER), number(SHOULDER, "drive:angular:physics:stiffness", 1.0))
    kp = table(resolve(file))["shoulder", "kp"]
    assert kp.file == pytest.approx(math.degrees(1.0)) and kp.applied == pytest.approx(math.degrees(1.0))
    assert kp.rule == "drive of the file"
    bare = table(resolve(edited(tmp_path, without(OF_SHOULDER), name="bare.usda")))
    assert bare["shoulder", "kp"].rule == "nothing drives it"


def test_actuators_of_mujoco_are_joint_drives_or_have_control_0() -> None:
    """As `run` has them, and `inspect` says."""
    found = table(resolve(ROBOTS / "shadow_hand.xml"))
    rows = [found["FFJ3", "kp"], found["FFJ2", "kp"], found["FFJ2", "linkage.coefficients[FFJ1]"], found["FFJ1", "kp"]]
    words = ["actuator of the file, as joint drive", "with control 0", "with control 0", "nothing drives it"]
    assert [(row.applied, row.rule) for row in rows] == list(zip([1.0, 0.0, None, 0.0], words, strict=True))
    (hand,) = aa.inspect_robots(ROBOTS / "shadow_hand.xml")
    assert {one.path for one in hand.actuators if one.pipeline.startswith("with control 0: PD(")} == {
        *("FFJ2", "MFJ2", "RFJ2", "LFJ2")
    }


def test_broken_actuators_are_an_error(tmp_path) -> None:
    """As nothing would be applied."""
    refused(ActuatorParseError, lambda: resolve(edited(tmp_path, number(OF_SHOULDER, "newton:kp", -1.0))), "newton:kp")


def test_the_limit_of_the_joint_is_a_number_there() -> None:
    taken = aa.MotorConfig(aa.PDControlConfig(80.0, 4.0), [aa.MaxEffortClampingConfig("joint")])
    found = table(resolve(ARM, {".*": taken}))
    limits = [found[joint, "actuator_limit"] for joint in ("shoulder", "extension")]
    assert [(row.config, row.applied) for row in limits] == [(60.0, 60.0), (100.0, 100.0)]
    assert limits[0].rule == "configuration"
    free = table(resolve(ARM, {".*": aa.MotorConfig(aa.PDControlConfig(80.0, 4.0))}))["shoulder", "actuator_limit"]
    assert (free.applied, free.rule.endswith("the joint's 60 bounds its drive only")) == (math.inf, True)


GROUPS = {
    "turning": DCMotorCfg(
        joint_names_expr=["shoulder"],
        stiffness=80.0,
        damping=4.0,
        saturation_effort=60.0,
        actuator_velocity_limit=10.0,
        actuator_effort_limit=40.0,
    ),
    "sliding": ImplicitActuatorCfg(joint_names_expr=["extension"], stiffness=500.0, damping=50.0),
}


def test_each_value_has_its_reason(tmp_path) -> None:
    file = edited(tmp_path, lambda stage: to_usd(GROUPS, stage, ARM_PATH, overwrite_existing=True))
    rows = {(row.joint, row.property): row for row in resolve_groups(file)}
    free = rows["shoulder", "effort_limit_sim"]
    assert (free.group, free.applied) == ("turning", 1e9)
    assert free.rule == "explicit: Isaac Lab leaves the limit to the model"
    armature = rows["extension", "armature"]
    assert (armature.group, armature.config, armature.rule) == ("sliding", None, "unspecified: that of the robot")
    assert armature.applied == armature.file and all(row.robot == ARM_PATH for row in rows.values())


@cases("file, words", ("arm_2dof.usda", "isaacLab:actuatorGroups"), ("arm_2dof.xml", "not USD"))
def test_files_without_groups_are_refused(file: str, words: str) -> None:
    refused(ValueError, lambda: resolve_groups(ROBOTS / file), words)
