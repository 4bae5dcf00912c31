"""Overlays that correct files: they have fewer findings, and the files do not change."""

import math

import isaacsim.core.experimental.actuators as aa
import pytest
from isaacsim.core.experimental.actuators.files.usd.schema import attributes_of
from isaacsim.core.experimental.actuators.tools.inspection.fix import fix
from places import ROBOTS
from pxr import Usd, UsdGeom, UsdPhysics
from robot_files import OF_EXTENSION, OF_SHOULDER, SHOULDER, edited, motor, number, renamed, schema, without

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


def test_overlay_lints_cleaner_and_the_file_stays(tmp_path, capfd) -> None:
    """All corrections that need no guess are made; missing damping is not."""
    folder = tmp_path / "not the working directory"
    folder.mkdir()
    file, overlay = edited(folder, *BROKEN), folder / "fixed.usda"
    before, found = file.read_bytes(), aa.lint(file)
    assert len({finding.rule for finding in found}) == 5
    fixed, left = fix(file, overlay)
    assert file.read_bytes() == before
    assert {finding.rule for finding in fixed} == {
        *("without-effect", "drive-and-actuator", "limit-above-joint", "stall-below-peak")
    }
    assert [finding.rule for finding in left] == ["undamped"] == [finding.rule for finding in aa.lint(overlay)]
    assert capfd.readouterr().err == "", "USD has nothing to warn of"


def test_overlay_says_what_it_corrects_and_nothing_else(tmp_path) -> None:
    """In the SI values that the file meant, with its own units and up axis."""
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


def test_overlay_keeps_the_units_of_the_stage(tmp_path) -> None:
    """A limit is written in the units of a stage in centimetres."""
    edits = (
        lambda stage: stage.SetMetadata("metersPerUnit", 0.01),
        number(SHOULDER, "drive:angular:physics:maxForce", 40.0),
    )
    file, overlay = edited(tmp_path, *edits), tmp_path / "fixed.usda"
    fixed, left = fix(file, overlay)
    assert ([finding.rule for finding in fixed], left) == (["limit-above-joint"], [])
    stage = Usd.Stage.Open(str(overlay))
    assert math.isclose(stage.GetPrimAtPath(OF_SHOULDER).GetAttribute("newton:maxEffort").Get(), 40.0, rel_tol=1e-6)


@pytest.mark.parametrize(
    "applied", ["newtonActuatorDelayAPI", "NewtonActuatorDelay\u200bAPI", "N\u0435wtonActuatorDelay"]
)
def test_schema_that_looks_like_another_is_replaced(tmp_path, applied) -> None:
    """A misspelled schema is replaced by the closest one, with any characters."""
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


@pytest.mark.parametrize("beside", [True, False])
def test_schemas_of_earlier_names_are_renamed(tmp_path, beside) -> None:
    """Joints keep their prims, with stand-ins or without, which are added."""
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


def test_drive_of_a_misspelt_actuator_is_left(tmp_path) -> None:
    """The drive is stiffer than a kp of 0, which is a mistake: the actuator has to be corrected first, by hand."""
    file, overlay = edited(tmp_path, *MISSPELT, STIFF), tmp_path / "fixed.usda"
    fixed, left = fix(file, overlay)
    found = {finding.rule: finding for finding in left}
    assert fixed == [] and found.keys() >= {"without-effect", "drive-and-actuator"} and not overlay.exists()
    assert found["drive-and-actuator"].remedy.startswith("Correct the actuator first")


def test_what_else_follows_from_a_doubtful_actuator_is_left(tmp_path) -> None:
    """Its limit, its stand-ins, and the drive beside a rejected value."""
    limit = (without(f"{OF_SHOULDER}.newton:maxEffort"), number(OF_SHOULDER, "newton:maxEfort", 20.0))
    geared = (motor("shoulder", aa.GearedPDControlConfig(8.0, 0.8, 5.0), aa.MaxEffortClampingConfig(60.0)), *MISSPELT)
    refused = (number(OF_SHOULDER, "newton:kp", -400.0), STIFF)
    for at, edits in enumerate((limit, geared, refused)):
        fixed, left = fix(edited(tmp_path, *edits, name=f"{at}.usda"), tmp_path / "fixed.usda")
        assert fixed == [] and any(finding.where == OF_SHOULDER for finding in left)


def test_nothing_to_correct_writes_nothing(tmp_path) -> None:
    """A correct file, or one in which all corrections would be guesses."""
    file, overlay = edited(tmp_path, number(OF_SHOULDER, "newton:kd", 0.0)), tmp_path / "fixed.usda"
    fixed, left = fix(file, overlay)
    assert (fixed, [finding.rule for finding in left]) == ([], ["undamped"])
    assert not overlay.exists()


def test_places_that_are_refused(tmp_path) -> None:
    """The file itself, another format, and a file without layers."""
    file = edited(tmp_path, *BROKEN)
    with pytest.raises(ValueError, match="stays as it is"):
        fix(file, file)
    with pytest.raises(ValueError, match="must end in"):
        fix(file, tmp_path / "fixed.txt")
    with pytest.raises(ValueError, match="not USD"):
        fix(ROBOTS / "arm_2dof.xml", tmp_path / "fixed.usda")


def test_an_overlay_is_replaced(tmp_path) -> None:
    """The overlay of an overlay has the same corrections."""
    file, overlay = edited(tmp_path, *BROKEN), tmp_path / "fixed.usda"
    first = fix(file, overlay)
    text = overlay.read_text()
    assert fix(file, overlay) == first
    assert overlay.read_text() == text
