"""The linter as a function."""

import math
from pathlib import Path

import isaacsim.core.experimental.actuators as aa
import pytest
from isaacsim.core.experimental.actuators import lint
from isaacsim.core.experimental.actuators.files.usd.schema import attributes_of
from isaacsim.core.experimental.actuators.tools.inspection.findings import split_message
from isaacsim.core.experimental.actuators.tools.inspection.lint import fix
from places import ROBOTS
from pxr import Sdf, Usd, UsdGeom, UsdPhysics
from refusals import cases, refused
from robot_files import ARM, OF_EXTENSION, OF_SHOULDER, SHOULDER, edited, motor, number, renamed, schema, without


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    usd, xml = tmp_path / "broken.usda", tmp_path / "broken.xml"
    usd.write_text("#usda 1.0\ndef {")
    xml.write_text("<mujoco><worldbody><body/></worldbody></mujoc>")
    for file in (usd, xml):
        (finding,) = lint(file)
        assert (finding.rule, finding.severity, finding.where) == ("unreadable-file", "error", str(file))
        assert "\n" not in finding.problem and not finding.problem.startswith(str(file)) and finding.remedy
    refused(FileNotFoundError, lambda: lint(tmp_path / "nothing.usda"))
    (motors := tmp_path / "motors.yaml").write_text("hip: {armature: 0.1}")
    assert [one.remedy for one in lint(motors)] == ["Give motors beside it, by --config or load_motors()."]


def test_files_without_robots(tmp_path: Path) -> None:
    Usd.Stage.CreateNew(str(tmp_path / "empty.usda")).Save()
    (finding,) = lint(tmp_path / "empty.usda")
    assert finding.rule == "no-robot"


@cases("dt", 0.0, -1.0, float("nan"), float("inf"))
def test_a_step_that_is_none_is_refused(dt: float) -> None:
    refused(ValueError, lambda: lint("nothing.usda", dt), "dt = ")


def test_what_cannot_be_simulated_is_told_with_a_step(tmp_path: Path) -> None:
    file = edited(
        tmp_path,
        number(f"{ARM}/boom", "physics:mass", -1.0),
        lambda stage: stage.GetPrimAtPath(f"{ARM}/boom").GetAttribute("physics:mass").Set(float("nan")),
        number(OF_SHOULDER, "newton:kd", 0.0),
    )
    assert {finding.rule for finding in lint(file)} == {"undamped"}
    assert {finding.rule for finding in lint(file, 0.004)} == {"undamped", "not-simulated"}
    tendon = aa.LinkageConfig.tendon({"shoulder": 1.0, "extension": 0.8})
    limit, mode = aa.MaxEffortClampingConfig(9.0), aa.ImplicitConfig(in_engine=True)
    motors = {"shoulder": [aa.PDControlConfig(4.0, 0.4), limit, tendon, mode]}
    (finding,) = lint(ROBOTS / "arm_2dof.usda", 0.004, motors)
    assert finding.rule == "not-simulated" and "must be a fixed tendon of the model" in finding.problem
    with pytest.raises(ValueError, match="'toe' matches no joint"):
        # it is not the file that is wrong
        lint(ROBOTS / "arm_2dof.usda", config={"toe": motors["shoulder"]})


def test_of_broken_robots_stability_is_not_asked(tmp_path: Path) -> None:
    (finding,) = lint(edited(tmp_path, number(OF_SHOULDER, "newton:kp", -1.0)), 0.004)
    assert finding.rule == "unusable-actuator"


def test_a_joint_of_an_unusable_actuator_is_told_once(tmp_path: Path) -> None:
    def bare(stage: Usd.Stage) -> None:
        stage.GetPrimAtPath(OF_SHOULDER).SetMetadata("apiSchemas", Sdf.TokenListOp())

    assert {finding.rule for finding in lint(edited(tmp_path, bare))} == {"unusable-actuator", "without-effect"}


def test_remarks_on_a_file_are_told_once(tmp_path: Path) -> None:
    inertia = '<inertial mass="1" pos="0 0 0" diaginertia="1 1 1"/>'
    body = f'<body name="{{0}}">{inertia}<joint name="{{0}}" range="-90 90"/></body>'
    servo = '<intvelocity name="servo_{0}" joint="{0}" kp="5" actrange="-1 1"/>'
    bodies, servos = ("".join(map(text.format, "ab")) for text in (body, servo))
    file = tmp_path / "two.xml"
    file.write_text(f"<mujoco><worldbody>{bodies}</worldbody><actuator>{servos}</actuator></mujoco>")
    (finding,) = lint(file)
    assert finding.rule == "without-effect" and "'servo_a'" in finding.problem and "'servo_b'" in finding.problem


def test_a_prim_of_no_robot_is_told_once(tmp_path: Path) -> None:
    file = tmp_path / "two.usda"
    stage = Usd.Stage.CreateNew(str(file))
    for name in ("Left", "Right"):
        stage.DefinePrim(f"/World/{name}").GetReferences().AddReference(str(ROBOTS / "arm_2dof.usda"), ARM)
    door = stage.DefinePrim("/World/door", "PhysicsRevoluteJoint")
    door.GetRelationship("physics:body1").SetTargets([stage.DefinePrim("/World/leaf", "Xform").GetPath()])
    stage.DefinePrim("/World/Idle", "NewtonActuator").CreateRelationship("newton:targets").SetTargets([door.GetPath()])
    stage.GetRootLayer().Save()
    (finding,) = lint(file)
    assert (finding.rule, finding.where) == ("without-effect", "/World/Idle")


def test_messages_of_the_parser_are_split_message() -> None:
    assert split_message("</A/b>.newton:kp = -1 (layer c.usda): must be >= 0. Author a value.") == (
        "/A/b",
        "newton:kp = -1 (layer c.usda): must be >= 0.",
        "Author a value.",
    )
    assert split_message("no path here") == ("", "no path here", "")


def test_a_finding_reads_as_one_line() -> None:
    assert lint(ROBOTS / "pendulum.usda") == []
    (finding,) = lint("setup.py") if Path("setup.py").exists() else lint(__file__)
    assert str(finding).startswith("error: <") and str(finding).endswith("[unreadable-file]")


BROKEN = (
    schema(OF_SHOULDER, "NewtonDCMotorClampingAPI"),
    number(OF_SHOULDER, "newton:saturationEffort", 50.0),
    number(OF_SHOULDER, "newton:velocityLimit", 10.0),
    number(OF_SHOULDER, "newton:maxMotorEffort", 80.0),
    number(OF_SHOULDER, "newton:kd", 0.0),
    number(SHOULDER, "drive:angular:physics:stiffness", 40.0),
    number(SHOULDER, "drive:angular:physics:maxForce", 45.0),
    lambda stage: stage.GetPrimAtPath(OF_EXTENSION).RemoveAppliedSchema("NewtonPDControlAPI"),
    schema(OF_EXTENSION, "NewtonPDContrlAPI"),
)


def test_overlay_lints_cleaner_and_the_file_stays(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "not the working directory"
    folder.mkdir()
    file, overlay = edited(folder, *BROKEN), folder / "fixed.usda"
    before, found = file.read_bytes(), aa.lint(file)
    assert len({finding.rule for finding in found}) == 5
    fixed, left = fix(file, overlay)
    assert file.read_bytes() == before
    rules = {"without-effect", "drive-and-actuator", "limit-above-joint", "stall-below-peak"}
    assert {finding.rule for finding in fixed} == rules
    assert [finding.rule for finding in left] == ["undamped"] == [finding.rule for finding in aa.lint(overlay)]
    assert capfd.readouterr().err == "", "USD has nothing to warn of"


def test_overlay_says_what_it_corrects_and_nothing_else(tmp_path: Path) -> None:
    file, overlay = edited(tmp_path, *BROKEN), tmp_path / "fixed.usda"
    fix(file, overlay)
    stage = Usd.Stage.Open(str(overlay))
    assert stage.GetRootLayer().subLayerPaths == ["./robot.usda"]
    assert (UsdGeom.GetStageMetersPerUnit(stage), UsdPhysics.GetStageKilogramsPerUnit(stage)) == (1.0, 1.0)
    assert UsdGeom.GetStageUpAxis(stage) == "Z" and str(stage.GetDefaultPrim().GetPath()) == "/World"
    (robot,) = aa.inspect_robots(overlay)
    shoulder, extension = robot.actuators
    assert shoulder.values["DC motor", "max_motor_effort"].value == 45.0
    assert shoulder.values["max effort", "max_effort"].value == 60.0, "the other clamp is below already"
    assert extension.pipeline == "PD(kp=2000, kd=100) → max effort 100"
    assert robot.joint("shoulder").value("drive_stiffness") == 0.0


def test_overlay_keeps_the_units_of_the_stage(tmp_path: Path) -> None:
    limit = number(SHOULDER, "drive:angular:physics:maxForce", 40.0)
    edits = (lambda stage: stage.SetMetadata("metersPerUnit", 0.01), limit)
    file, overlay = edited(tmp_path, *edits), tmp_path / "fixed.usda"
    fixed, left = fix(file, overlay)
    assert ([finding.rule for finding in fixed], left) == (["limit-above-joint"], [])
    stage = Usd.Stage.Open(str(overlay))
    assert math.isclose(stage.GetPrimAtPath(OF_SHOULDER).GetAttribute("newton:maxEffort").Get(), 40.0, rel_tol=1e-6)


@cases("applied", "newtonActuatorDelayAPI", "NewtonActuatorDelay\u200bAPI", "N\u0435wtonActuatorDelay")
def test_schema_that_looks_like_another_is_replaced(tmp_path: Path, applied: str) -> None:
    file, overlay = edited(tmp_path, schema(OF_SHOULDER, applied)), tmp_path / "fixed.usda"
    fixed, left = fix(file, overlay)
    assert ([finding.rule for finding in fixed], left) == (["without-effect"], [])
    stage = Usd.Stage.Open(str(overlay))
    schemas = stage.GetPrimAtPath(OF_SHOULDER).GetPrimTypeInfo().GetAppliedAPISchemas()
    assert applied not in schemas and "NewtonActuatorDelayAPI" in schemas


RENAMED = {
    "ArticulationGearedPDControlAPI": "ActuatorGearedPDControlAPI",
    "ArticulationDCMotorCutoffClampingAPI": "ActuatorDCMotorCutoffClampingAPI",
}


@cases("beside", True, False)
def test_schemas_of_earlier_names_are_renamed(tmp_path: Path, beside: bool) -> None:
    law, clamps = aa.GearedPDControlConfig(8.0, 0.8, 5.0), (aa.DCMotorCutoffClampingConfig(50.0, 9.0, 40.0),)
    edits = [motor("shoulder", law, *clamps, aa.MaxEffortClampingConfig(60.0))]
    (today,) = (robot.actuators[0] for robot in aa.inspect_robots(edited(tmp_path, *edits, name="today.usda")))
    edits += [renamed(OF_SHOULDER, *((new, old) for old, new in RENAMED.items()))]
    # its values were those of newton's law
    edits += [without(f"{OF_SHOULDER}.{name}") for name in attributes_of(aa.DCMotorCutoffClampingConfig).values()]
    if not beside:
        edits += [without(f"{OF_SHOULDER}.actuator:standIns")]
        names = ("NewtonPDControlAPI", "NewtonDCMotorClampingAPI")
        edits += [lambda stage: [stage.GetPrimAtPath(OF_SHOULDER).RemoveAppliedSchema(name) for name in names]]
        # values of that law of newton
        edits += [without(f"{OF_SHOULDER}.newton:{name}") for name in ("kp", "kd", "constEffort")]
    file, overlay = edited(tmp_path, *edits), tmp_path / "fixed.usda"
    fixed, left = fix(file, overlay)
    assert {finding.rule for finding in fixed} == {"earlier-name"} | (set() if beside else {"no-stand-in"})
    assert {finding.rule for finding in left} == {"approximated"}
    (found,) = (robot.actuators[0] for robot in aa.inspect_robots(overlay))
    assert (found.stages, found.stand_ins, found.earlier) == (today.stages, today.stand_ins, ())
    stage = Usd.Stage.Open(str(overlay))
    assert stage.GetPrimAtPath(OF_SHOULDER).GetPrimTypeInfo().GetAppliedAPISchemas() == [
        *("ActuatorGearedPDControlAPI", "NewtonPDControlAPI"),
        *("ActuatorDCMotorCutoffClampingAPI", "NewtonDCMotorClampingAPI"),
        "NewtonMaxEffortClampingAPI",
    ]


MISSPELT = (without(f"{OF_SHOULDER}.newton:kp"), number(OF_SHOULDER, "newton:kpp", 200.0))
STIFF = number(SHOULDER, "drive:angular:physics:stiffness", math.radians(150.0))


def test_drive_of_a_misspelt_actuator_is_left(tmp_path: Path) -> None:
    """The drive is stiffer than a kp of 0, which is a mistake: the actuator has to be corrected first, by hand."""
    file, overlay = edited(tmp_path, *MISSPELT, STIFF), tmp_path / "fixed.usda"
    fixed, left = fix(file, overlay)
    found = {finding.rule: finding for finding in left}
    assert fixed == [] and found.keys() >= {"without-effect", "drive-and-actuator"} and not overlay.exists()
    assert found["drive-and-actuator"].remedy.startswith("Correct the actuator first")


def test_what_else_follows_from_a_doubtful_actuator_is_left(tmp_path: Path) -> None:
    limit = (without(f"{OF_SHOULDER}.newton:maxEffort"), number(OF_SHOULDER, "newton:maxEfort", 20.0))
    geared = (motor("shoulder", aa.GearedPDControlConfig(8.0, 0.8, 5.0), aa.MaxEffortClampingConfig(60.0)), *MISSPELT)
    for at, edits in enumerate((limit, geared, (number(OF_SHOULDER, "newton:kp", -400.0), STIFF))):
        fixed, left = fix(edited(tmp_path, *edits, name=f"{at}.usda"), tmp_path / "fixed.usda")
        assert fixed == [] and any(finding.where == OF_SHOULDER for finding in left)


def test_nothing_to_correct_writes_nothing(tmp_path: Path) -> None:
    """A correct file, or one in which all corrections would be guesses."""
    file, overlay = edited(tmp_path, number(OF_SHOULDER, "newton:kd", 0.0)), tmp_path / "fixed.usda"
    fixed, left = fix(file, overlay)
    assert (fixed, [finding.rule for finding in left]) == ([], ["undamped"]) and not overlay.exists()


def test_places_that_are_refused(tmp_path: Path) -> None:
    file = edited(tmp_path, *BROKEN)
    refused(ValueError, lambda: fix(file, file), "stays as it is")
    refused(ValueError, lambda: fix(file, tmp_path / "fixed.txt"), "must end in")
    refused(ValueError, lambda: fix(ROBOTS / "arm_2dof.xml", tmp_path / "fixed.usda"), "not USD")


def test_an_overlay_is_replaced(tmp_path: Path) -> None:
    file, overlay = edited(tmp_path, *BROKEN), tmp_path / "fixed.usda"
    first = fix(file, overlay)
    text = overlay.read_text()
    assert fix(file, overlay) == first and overlay.read_text() == text
