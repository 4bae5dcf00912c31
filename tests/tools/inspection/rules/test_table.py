"""Each rule of the linter has a file that breaks it and no other, and files that nearly break it."""

import math
import re
import shutil
from pathlib import Path

import isaacsim.core.experimental.actuators as aa
import pytest
from isaacsim.core.experimental.actuators.files.usd.fallbacks import MARK
from isaacsim.core.experimental.actuators.tools.inspection.lint import RULES, fix
from neural_twin import random_network, write_network
from places import ROBOTS
from pxr import Sdf, Usd
from robot_files import (
    ARM,
    EXTENSION,
    OF_EXTENSION,
    OF_SHOULDER,
    SHOULDER,
    Edit,
    edited,
    integer,
    motor,
    number,
    renamed,
    schema,
    target,
    without,
)
from small_stages import wrist

DT = 1 / 240
_DC = (
    schema(OF_SHOULDER, "NewtonDCMotorClampingAPI"),
    number(OF_SHOULDER, "newton:saturationEffort", 30.0),
    number(OF_SHOULDER, "newton:velocityLimit", 10.0),
)
_GEARED = motor("shoulder", aa.GearedPDControlConfig(8.0, 0.8, 5.0), aa.MaxEffortClampingConfig(60.0))


def armature_of(value: float) -> tuple[Edit, Edit]:
    first, second = (number(SHOULDER, name, value) for name in ("physxJointAxis:angular:armature", "newton:armature"))
    return first, second


_RUBBING = (schema(OF_SHOULDER, "ActuatorFrictionAPI"), number(OF_SHOULDER, "actuator:friction:coulomb", 5.0))


def _encoder(resolution: float) -> tuple[Edit, Edit]:
    return schema(OF_SHOULDER, "ActuatorEncoderAPI"), number(OF_SHOULDER, "actuator:encoder:resolution", resolution)


def go1(stage: Usd.Stage) -> None:
    """The Go1 takes the place of the arm."""
    layer = stage.GetRootLayer()
    shutil.copy(ROBOTS / "unitree_go1_meshes.usdc", Path(layer.realPath).parent)
    layer.TransferContent(Sdf.Layer.FindOrOpen(str(ROBOTS / "unitree_go1.usda")))


def geared(ratio: float, motor: float = 60.0, **values) -> Edit:
    """The shoulder has a motor behind a gear, of a largest effort at the joint; its armature is that of the rotor."""

    def author(stage: Usd.Stage) -> None:
        law = aa.PDControlConfig(200.0 / ratio**2, 20.0 / ratio**2)
        stages = [law, aa.MaxEffortClampingConfig(motor / abs(ratio)), aa.TransmissionConfig(ratio, **values)]
        aa.add_motors(ARM, {"shoulder": stages}, stage=stage, overwrite_existing=True)

    return author


def learned(stage: Usd.Stage) -> None:
    """A network drives the shoulder."""
    file = Path(stage.GetRootLayer().realPath).with_name("net.safetensors")
    write_network(file, random_network("mlp", 2), {"model_type": "mlp"})
    motor("shoulder", aa.NeuralControlConfig("./net.safetensors"), aa.MaxEffortClampingConfig(60.0))(stage)


def unmarked(stage: Usd.Stage) -> None:
    """The shoulder has no mark of fallbacks, as in files of version 0.9 and before."""
    stage.GetPrimAtPath(SHOULDER).ClearCustomDataByKey(MARK)


_CALF = "/World/Go1/Actuators/_calf_joint"
# a file for each rule, and words of the finding
BROKEN: dict[str, tuple[tuple[Edit, ...], str]] = {
    "unusable-actuator": ((number(OF_SHOULDER, "newton:kp", -5.0),), "newton:kp = -5.0"),
    "without-effect": ((number(OF_SHOULDER, "newton:kpp", 5.0),), "newton:kpp"),
    "two-values": (
        (number(SHOULDER, "newton:armature", 0.5), number(SHOULDER, "physxJoint:armature", 0.25)),
        "newton:armature = 0.5 and physxJoint:armature = 0.25 (SI) mean the same and differ",
    ),
    "earlier-name": (
        (_GEARED, renamed(OF_SHOULDER, ("ActuatorGearedPDControlAPI", "ArticulationGearedPDControlAPI"))),
        "applies ArticulationGearedPDControlAPI, as ActuatorGearedPDControlAPI was called until version 0.9",
    ),
    "several-targets": (
        (without(OF_EXTENSION), target(OF_SHOULDER, EXTENSION)),
        "drives 2 joints. newton and Isaac Sim drive the first, shoulder, and leave extension limp",
    ),
    "no-stand-in": (
        (schema(OF_SHOULDER, "ActuatorDCMotorCutoffClampingAPI"), *_DC[1:]),
        "ActuatorDCMotorCutoffClampingAPI, which newton does not know: it leaves it out",
    ),
    "refused-elsewhere": (
        (schema(OF_SHOULDER, "NewtonActuatorDelayAPI"), integer(OF_SHOULDER, "newton:delaySteps", 0)),
        "a delay of 0: newton refuses the file",
    ),
    "approximated": (
        (_GEARED,),
        "at shoulder, newton and Isaac Sim go by NewtonPDControlAPI instead of ActuatorGearedPDControlAPI: they "
        "take targets and feedforward at the joint",
    ),
    "friction-fallback": (
        (schema(OF_SHOULDER, "ActuatorFrictionAPI"), number(OF_SHOULDER, "actuator:friction:coulomb", 0.5))
        + (number(SHOULDER, "newton:friction", 0.25),),
        f"newton:damping = 0 (SI), and ActuatorFrictionAPI of <{OF_SHOULDER}> coulomb = 0.5, viscous = 0",
    ),
    "unmarked-fallback": (
        (geared(100.0, rotor_inertia=1e-4), unmarked),
        "without a mark, as in files of version 0.9 and before: shoulder (armature). They count as the joints' own",
    ),
    "undriven-joint": ((without(OF_EXTENSION),), "extension has no actuator"),
    "drive-and-actuator": ((number(SHOULDER, "drive:angular:physics:stiffness", 4.0),), "stiffness 229.183"),
    "no-effort-limit": (
        (lambda stage: stage.GetPrimAtPath(OF_SHOULDER).RemoveAppliedSchema("NewtonMaxEffortClampingAPI"),)
        + (without(f"{OF_SHOULDER}.newton:maxEffort"),),
        "no effort limit, and that of its joint shoulder, 60 N·m",
    ),
    "limit-above-joint": ((number(SHOULDER, "drive:angular:physics:maxForce", 40.0),), "limit of 60 N·m"),
    "limits-in-radians": (
        (number(SHOULDER, "physics:lowerLimit", -1.57), number(SHOULDER, "physics:upperLimit", 1.57)),
        "from -1.57° to 1.57°",
    ),
    "speed-in-degrees": ((number(SHOULDER, "newton:velocityLimit", math.degrees(573.0)),), "573 rad/s, 5.47e+03 rpm"),
    "speed-in-radians": ((number(SHOULDER, "newton:velocityLimit", 4.7),), "0.08203 rad/s"),
    "gains-in-degrees": ((number(OF_SHOULDER, "newton:kp", math.radians(200.0)),), "17.2 rad, 985°: too soft"),
    "undamped": ((number(OF_SHOULDER, "newton:kd", 0.0),), "kp = 200 with kd = 0"),
    "stall-below-peak": (
        (*_DC, number(OF_SHOULDER, "newton:maxMotorEffort", 50.0)),
        "saturation_effort = 30 is below max_motor_effort = 50",
    ),
    "zero-limit": ((number(OF_SHOULDER, "newton:maxEffort", 0.0),), "never gives any effort"),
    "huge-value": (
        (number(OF_EXTENSION, "newton:maxEffort", 2e5), without(f"{EXTENSION}.drive:linear:physics:maxForce")),
        "max_effort = 200000",
    ),
    "long-delay": (
        (schema(OF_SHOULDER, "NewtonActuatorDelayAPI"), integer(OF_SHOULDER, "newton:delaySteps", 300)),
        "delay of up to 300 steps is 1.25 s",
    ),
    "stuck-joint": ((number(SHOULDER, "newton:friction", 60.0),), "dry friction of 60 N·m"),
    "knee-without-linkage": (
        (go1, number(_CALF, "newton:maxEffort", 23.5)),
        "RL_calf_joint, RR_calf_joint have the limit of the hips, 23.5 N·m, which is that of the motor. Through the "
        "linkage of the knee it is 35.55 (unitree_go1_knee) N·m",
    ),
    "unread-supply": (
        (schema(OF_SHOULDER, "ActuatorSupplyAPI"), number(OF_SHOULDER, "actuator:supply:voltage", 24.0)),
        "no actuator has a winding",
    ),
    "unread-derating": (
        (
            schema(OF_SHOULDER, "ActuatorThermalAPI"),
            number(OF_SHOULDER, "actuator:thermal:windingCapacity", 20.0),
            number(OF_SHOULDER, "actuator:thermal:windingResistance", 1.0),
            number(OF_SHOULDER, "actuator:thermal:motorConstant", 0.5),
            number(OF_SHOULDER, "actuator:thermal:deratingStart", 80.0),
            number(OF_SHOULDER, "actuator:thermal:maxTemperature", 120.0),
        ),
        "its temperature derates the motor",
    ),
    "transmission-armature": (
        (geared(100.0, rotor_inertia=1e-4), *armature_of(0.9)),
        f"armature of 0.9 kg·m², and the transmission of <{OF_SHOULDER}> comes to 1, ratio²·rotor_inertia = 100²·",
    ),
    "unstable-gains": ((number(OF_SHOULDER, "newton:kd", 500.0),), "shoulder will vibrate at dt = 0.004167 s"),
    "unchecked-gains": ((learned,), "the stability of shoulder at dt = 0.004167 s is not checked: behind a network"),
    "gains-against-inertia": ((number(OF_EXTENSION, "newton:kp", 1e-3),), "extension swings at 0.00"),
    "assumed-inertia-too-large": (
        (*_RUBBING, number(OF_SHOULDER, "actuator:friction:assumedInertia", 0.8)),
        "assumed_inertia = 0.8 is 2.34 times the inertia of joint shoulder, 0.342",
    ),
    "unresolved-spring": (
        (
            schema(OF_SHOULDER, "ActuatorElasticTransmissionAPI"),
            number(OF_SHOULDER, "actuator:transmission:ratio", 50.0),
            number(OF_SHOULDER, "actuator:transmission:rotorInertia", 1e-4),
            number(OF_SHOULDER, "actuator:transmission:stiffness", 1e4),
            number(SHOULDER, "newton:armature", 0.25),
        ),
        "the spring of joint shoulder, 1e+04, has h·ω = 1.1",
    ),
    "coarse-encoder": (_encoder(0.01), "moves the effort by 48 at dt = 0.004167 s, 80% of its limit: with kd = 20 it"),
}
# files that are correct and look similar
GOOD: dict[str, tuple[Edit, ...]] = {
    "drive of the actuator's gains": (
        number(SHOULDER, "drive:angular:physics:stiffness", math.radians(200.0)),
        number(SHOULDER, "drive:angular:physics:damping", math.radians(20.0)),
    ),
    "drive alone": (without(OF_SHOULDER), number(SHOULDER, "drive:angular:physics:stiffness", 4.0)),
    "joint that follows": (without(OF_SHOULDER), schema(SHOULDER, "NewtonMimicAPI")),
    "limit of the joint": (number(OF_SHOULDER, "newton:maxEffort", 59.0),),
    "limit of the joint behind a gear": (geared(-50.0, 59.9, rotor_inertia=1e-5),),
    "armature within a few percent": (geared(100.0, rotor_inertia=1e-4), *armature_of(0.96)),
    "small range": (number(SHOULDER, "physics:lowerLimit", -4.0), number(SHOULDER, "physics:upperLimit", 4.0)),
    "fast joint without stops": (
        number(SHOULDER, "newton:velocityLimit", math.degrees(573.0)),
        without(f"{SHOULDER}.physics:upperLimit"),
    ),
    "slow joint": (number(SHOULDER, "newton:velocityLimit", 12.0),),
    "soft motor": (number(OF_SHOULDER, "newton:kp", 7.0),),
    "damped joint": (number(OF_SHOULDER, "newton:kd", 0.0), number(SHOULDER, "newton:damping", 1.0)),
    "motor without a peak": _DC,
    "large": (number(OF_EXTENSION, "newton:maxEffort", 9e4), without(f"{EXTENSION}.drive:linear:physics:maxForce")),
    "not a second": (schema(OF_SHOULDER, "NewtonActuatorDelayAPI"), integer(OF_SHOULDER, "newton:delaySteps", 200)),
    "friction": (number(SHOULDER, "newton:friction", 50.0),),
    "weak knee": (go1, number(_CALF, "newton:maxEffort", 20.0)),
}
# the same at a physics step
GOOD_IN_MOTION: dict[str, tuple[Edit, ...]] = {
    "fine encoder": _encoder(0.001),
    "filtered encoder": (*_encoder(0.01), number(OF_SHOULDER, "actuator:encoder:velocityFilter", 0.04)),
    "slow controller": (
        *_encoder(0.002),
        schema(OF_SHOULDER, "ActuatorRateAPI"),
        integer(OF_SHOULDER, "actuator:rate:decimation", 2),
    ),
    "friction that holds it": (*_encoder(0.01), number(SHOULDER, "newton:friction", 50.0)),
    "no effort": (*_encoder(0.01), number(OF_SHOULDER, "newton:maxEffort", 0.0)),
}
IN_MOTION = (
    "unstable-gains",
    "unchecked-gains",
    "gains-against-inertia",
    "assumed-inertia-too-large",
    "unresolved-spring",
    "coarse-encoder",
)
# rules on laws of ours, which newton does not have
_OURS = (
    *("unread-supply", "unread-derating", "transmission-armature", "earlier-name"),
    *("assumed-inertia-too-large", "unresolved-spring", "unmarked-fallback", "unchecked-gains", "coarse-encoder"),
)
# a law of ours has several names, others approximate it or refuse its file, and a file by hand has no marks
_OF_OURS = {"approximated", "unmarked-fallback", "refused-elsewhere"}


def test_every_rule_is_tested() -> None:
    assert list(BROKEN) == list(RULES) and all(rule.__doc__ for rule in RULES.values())


@pytest.mark.parametrize("rule", BROKEN)
def test_rule_is_broken_alone(rule, tmp_path) -> None:
    edits, words = BROKEN[rule]
    found = aa.lint(edited(tmp_path, *edits), DT if rule in IN_MOTION else None)
    ignored = _OF_OURS - {rule} if rule in _OURS else set[str]()
    (finding,) = (one for one in found if one.rule not in ignored)
    assert finding.rule == rule and words in finding.problem and finding.remedy.endswith((".", "?"))
    assert finding.where.startswith(("/World/Arm", "/World/Go1/"))
    severities = {"unusable-actuator": "error", "unstable-gains": "error"}
    severities |= dict.fromkeys(("approximated", "earlier-name", "unmarked-fallback", "unchecked-gains"), "note")
    assert finding.severity == severities.get(rule, "warning")


@pytest.mark.parametrize("static", [0.0, 0.75])
def test_a_fallback_that_fits_is_a_note(static, tmp_path) -> None:
    """It says which friction acts where; that of PhysX may be the breakaway level. `--fix` makes others fit."""
    friction = aa.FrictionConfig(0.5, 0.25, static)

    def author(stage: Usd.Stage) -> None:
        authored = {"others": [friction], "overwrite_existing": True, "stage": stage}
        aa.add_actuator(ARM, "shoulder", "shoulder", aa.PDControlConfig(200.0, 20.0), **authored)

    file = edited(tmp_path, without(OF_SHOULDER), author)
    (finding,) = (one for one in aa.lint(file) if one.rule == "friction-fallback")
    assert (finding.severity, finding.where, finding.edits) == ("note", SHOULDER, ())
    assert "newton:friction = 0.5, newton:damping = 0.25 (SI)" in finding.problem
    assert not [one for one in aa.lint(file) if one.rule == "approximated"]
    other = edited(tmp_path, without(OF_SHOULDER), author, number(SHOULDER, "newton:friction", 3.0), name="other.usda")
    fixed, left = fix(other, tmp_path / "fixed.usda")
    assert "friction-fallback" in [one.rule for one in fixed]
    assert [one.severity for one in left if one.rule == "friction-fallback"] == ["note"]


def test_fallbacks_without_marks_are_one_note(tmp_path) -> None:
    def author(stage: Usd.Stage) -> None:
        for joint, level in (("shoulder", 0.5), ("extension", 0.25)):
            motor = [aa.PDControlConfig(200.0, 20.0), aa.FrictionConfig(level, 0.125)]
            aa.add_motors(ARM, {joint: motor}, stage=stage, overwrite_existing=True)

    def bare(stage: Usd.Stage) -> None:
        for joint in (SHOULDER, EXTENSION):
            stage.GetPrimAtPath(joint).ClearCustomDataByKey(MARK)

    def found(*edits: Edit) -> list[str]:
        file = edited(tmp_path, author, *edits, name=f"{len(list(tmp_path.iterdir()))}.usda")
        return [one.problem for one in aa.lint(file) if one.rule == "unmarked-fallback"]

    (problem,) = found(bare)
    assert ": shoulder (friction); extension (friction). They count" in problem
    (problem,) = found(bare, number(EXTENSION, "newton:friction", 1.0))
    assert ": shoulder (friction). They count" in problem and not found()


def test_limits_and_gains_before_a_linkage_are_those_of_its_shaft(tmp_path) -> None:
    tendon = [aa.PDControlConfig(40.0, 4.0), aa.LinkageConfig.tendon({"shoulder": 1.0, "extension": 0.8})]
    found = [
        {one.rule: one.problem for one in aa.lint(ROBOTS / "arm_2dof.usda", config={"shoulder": motor})}
        for motor in (tendon, [*tendon, aa.MaxEffortClampingConfig(60.0)])
    ]
    assert "has no effort limit" in found[0].pop("no-effort-limit") and found[0] == found[1]
    stiff = edited(tmp_path, number(SHOULDER, "drive:angular:physics:stiffness", 4.0))
    (finding,) = (one for one in aa.lint(stiff, config={"shoulder": tendon}) if one.rule == "drive-and-actuator")
    assert "with at the shaft: kp 40, kd 4." in finding.problem


def test_limits_before_a_gear_are_compared_at_the_joint(tmp_path) -> None:
    file = edited(tmp_path, geared(-50.0, 90.0, rotor_inertia=1e-4), *armature_of(0.1))
    found = {one.rule: one for one in aa.lint(file)}
    assert found.keys() == {"limit-above-joint", "transmission-armature", "approximated"}
    assert "limit of 90 N·m, and its joint shoulder one of 60 N·m" in found["limit-above-joint"].problem
    assert "go without ActuatorTransmissionAPI, by newton's values" in found["approximated"].problem
    fixed, left = fix(file, tmp_path / "fixed.usda")
    assert {one.rule for one in fixed} == {"limit-above-joint", "transmission-armature"}
    assert {one.rule for one in left} == {"approximated"}
    stage = Usd.Stage.Open(str(tmp_path / "fixed.usda"))
    assert stage.GetPrimAtPath(OF_SHOULDER).GetAttribute("newton:maxEffort").Get() == pytest.approx(60.0)
    (motor,) = (one for name, one in aa.motors_of(str(tmp_path / "fixed.usda")).items() if name == "shoulder")
    assert motor.clamping[0].max_effort == pytest.approx(60.0 / 50.0) and motor.armature == pytest.approx(0.25)


def test_gains_that_would_do_are_said(tmp_path) -> None:
    (finding,) = aa.lint(edited(tmp_path, *BROKEN["unstable-gains"][0]), DT)
    kp, kd = map(float, re.findall(r"here to kp = ([\d.]+), kd = ([\d.]+)\.", finding.remedy)[0])
    gains = (number(OF_SHOULDER, "newton:kp", kp), number(OF_SHOULDER, "newton:kd", kd))
    assert aa.lint(edited(tmp_path, *gains, name="mended.usda"), DT) == []


def test_damping_for_a_latency_is_said(tmp_path) -> None:
    edits = schema(OF_SHOULDER, "ActuatorEncoderAPI"), number(OF_SHOULDER, "actuator:encoder:latency", 0.15)
    (finding,) = (one for one in aa.lint(edited(tmp_path, *edits), DT) if one.rule == "unstable-gains")
    assert finding.problem.endswith("latency 0.15 s.") and finding.remedy == "Damp it with more than kd = 30."


_IMPLICIT = schema(OF_SHOULDER, "ActuatorImplicitAPI")


def test_effort_mode_is_a_remedy_of_gains_and_mends_them(tmp_path) -> None:
    stiff = number(OF_SHOULDER, "newton:kd", 500.0)
    (finding,) = aa.lint(edited(tmp_path, stiff), DT)
    assert 'or use effort_mode="implicit", or multiply all gains by' in finding.remedy
    findings = aa.lint(edited(tmp_path, stiff, _IMPLICIT, name="implicit.usda"), DT)
    assert {one.severity for one in findings} <= {"note"}
    late = edited(tmp_path, stiff, _IMPLICIT, schema(OF_SHOULDER, "ActuatorEncoderAPI"), name="late.usda")
    (finding,) = (one for one in aa.lint(late, DT) if one.severity == "error")
    assert finding.rule == "unstable-gains" and "implicit" not in finding.remedy


@pytest.mark.parametrize(("assumed", "told"), [(0.3, False), (0.5, True)])
def test_effort_mode_may_assume_the_inertia_and_no_more(assumed, told, tmp_path) -> None:
    edits = (*_RUBBING, number(OF_SHOULDER, "actuator:friction:assumedInertia", 0.8), _IMPLICIT)
    edits += (number(OF_SHOULDER, "actuator:implicit:assumedInertia", assumed),)
    found = [one for one in aa.lint(edited(tmp_path, *edits), DT) if one.severity != "note"]
    assert [one.rule for one in found] == ["assumed-inertia-too-large"] * told
    for one in found:
        assert "assumed_inertia = 0.5 is 1.46 times the inertia of joint shoulder, 0.342" in one.problem
        assert "its effort at the end of the step chatters on simulators that provide no inertia" in one.problem
        assert one.remedy == "Give at most the inertia; less is safe."


@pytest.mark.parametrize("name", GOOD)
def test_what_is_in_order_is_let_be(name, tmp_path) -> None:
    assert [one for one in aa.lint(edited(tmp_path, *GOOD[name]), None) if one.rule != "approximated"] == []


@pytest.mark.parametrize("name", GOOD_IN_MOTION)
def test_what_is_in_order_at_a_step_is_let_be(name, tmp_path) -> None:
    found = {one.rule for one in aa.lint(edited(tmp_path, *GOOD_IN_MOTION[name]), DT)} - _OF_OURS
    assert found <= {"zero-limit"}, "a limit of 0 has a rule of its own"


@pytest.mark.parametrize("side", ["joint", "motor"])
def test_encoders_of_motors_of_a_program_are_looked_at(side) -> None:
    encoder = aa.EncoderConfig(resolution=0.01 if side == "joint" else 0.1, side=side)
    gear = [aa.TransmissionConfig(10.0, rotor_inertia=1e-4)] if side == "motor" else []
    motors = {"shoulder": [aa.PDControlConfig(200.0, 20.0), aa.MaxEffortClampingConfig(60.0), encoder, *gear]}
    found = [one.problem for one in aa.lint(ROBOTS / "arm_2dof.usda", DT, motors) if one.rule == "coarse-encoder"]
    assert len(found) == 1 and "moves the effort by" in found[0]


@pytest.mark.parametrize("rule", IN_MOTION)
def test_rules_of_motion_need_a_step(rule, tmp_path) -> None:
    assert [one for one in aa.lint(edited(tmp_path, *BROKEN[rule][0])) if one.rule not in _OF_OURS] == []


@pytest.mark.parametrize("file", sorted([*ROBOTS.glob("*.usda"), ROBOTS / "arm_2dof.xml"]), ids=lambda file: file.name)
@pytest.mark.slow
def test_shipped_robots_break_none(file) -> None:
    assert aa.lint(file, DT) == []


@pytest.mark.parametrize(("level", "sticks"), [("coulomb", True), ("static", True), ("viscous", False)])
def test_friction_of_an_actuator_beyond_its_limit(level, sticks, tmp_path) -> None:
    """Dry friction at the limit of 60 N·m holds the joint, viscous friction does not; assumed inertia may be twice."""
    edits = (*_RUBBING, number(OF_SHOULDER, f"actuator:friction:{level}", 60.0))
    edits += (number(OF_SHOULDER, "actuator:friction:assumedInertia", 0.68),)
    found = [one for one in aa.lint(edited(tmp_path, *edits), DT) if one.severity != "note"]
    assert [(one.rule, one.where) for one in found] == [("stuck-joint", OF_SHOULDER)] * sticks
    assert all("has a dry friction of 60 N·m, its actuator gives at most 60" in one.problem for one in found)


def test_knees_of_another_robot_are_compared_with_all_linkages(tmp_path) -> None:
    """A Go2 with half the torque, as Isaac Lab's was (IsaacLab#7479); the name of the robot decides."""
    text = edited(tmp_path, *BROKEN["knee-without-linkage"][0]).read_text()
    expected = {
        "Go2": "it is 45.43 (unitree_go2_knee) N·m",
        "Dog": "it is 35.55 (unitree_go1_knee) or 45.43 (unitree_go2_knee) N·m",
    }
    for name, words in expected.items():
        file = tmp_path / f"{name}.usda"
        file.write_text(text.replace("/World/Go1", f"/World/{name}").replace('Xform "Go1"', f'Xform "{name}"'))
        (finding,) = aa.lint(file)
        assert finding.rule == "knee-without-linkage" and words in finding.problem


def test_values_of_mjcf_are_checked(tmp_path) -> None:
    text = (ROBOTS / "arm_2dof.xml").read_text()
    file = tmp_path / "arm.xml"
    file.write_text(text.replace('angle="radian"', 'angle="degree"'))
    assert [(one.rule, one.where) for one in aa.lint(file)] == [("limits-in-radians", "/boom/shoulder")]
    file.write_text("\n".join(line for line in text.splitlines() if "extension_servo" not in line))
    assert [(one.rule, one.where) for one in aa.lint(file)] == [("undriven-joint", "/carriage/extension")]


def test_more_that_newton_refuses(tmp_path) -> None:
    file = edited(tmp_path, schema(OF_SHOULDER, "NewtonDCMotorClampingAPI"), _DC[2])
    problems = [one.problem for one in aa.lint(file) if one.rule == "refused-elsewhere"]
    assert problems == ["has a velocity limit and no stall effort: newton refuses the file."]
    (finding,) = aa.lint(edited(tmp_path, learned, name="neural.usda"))
    assert finding.problem == "has the network net.safetensors, not an ONNX file: newton refuses the file."
    stage = wrist().stage
    aa.add_motors("/World/Arm", {"wrist:.*": [aa.PDControlConfig(10.0, 1.0)]}, stage=stage)
    stage.GetRootLayer().Export(str(tmp_path / "wrist.usda"))
    found = aa.lint(tmp_path / "wrist.usda")
    assert [(one.rule, one.severity) for one in found] == [("refused-elsewhere", "note")] * 2
