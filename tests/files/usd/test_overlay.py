"""Layers over files: what is edited, and what is refused."""

import pytest
from isaacsim.core.experimental.actuators import MaxEffortClampingConfig
from isaacsim.core.experimental.actuators.files.usd.edits import ParameterEdit, PropertyEdit, SchemaEdit
from isaacsim.core.experimental.actuators.files.usd.overlay import write_overlay
from pxr import Sdf, Usd
from robot_files import OF_SHOULDER, SHOULDER, edited


def test_each_kind_of_edit(tmp_path) -> None:
    """A parameter, a property of a joint in its own units, and a schema; of a parameter, the smaller value."""
    file, overlay = edited(tmp_path), tmp_path / "sub" / "over.usda"
    overlay.parent.mkdir()
    edits = [
        ParameterEdit(OF_SHOULDER, MaxEffortClampingConfig(20.0), "max_effort"),
        ParameterEdit(OF_SHOULDER, MaxEffortClampingConfig(30.0), "max_effort"),
        PropertyEdit(SHOULDER, "angular", "upper_limits", 1.0),
        SchemaEdit(OF_SHOULDER, "NewtonPDControlAPI", "NewtonPIDControlAPI"),
    ]
    write_overlay(file, overlay, edits)
    stage = Usd.Stage.Open(str(overlay))
    assert stage.GetRootLayer().subLayerPaths == ["../robot.usda"]
    prim = stage.GetPrimAtPath(OF_SHOULDER)
    assert prim.GetAttribute("newton:maxEffort").Get() == 20.0
    assert prim.GetPrimTypeInfo().GetAppliedAPISchemas() == ["NewtonPIDControlAPI", "NewtonMaxEffortClampingAPI"]
    assert stage.GetPrimAtPath(SHOULDER).GetAttribute("physics:upperLimit").Get() == pytest.approx(57.29578)


def test_several_schemas_of_a_prim(tmp_path) -> None:
    """The second does not undo the first."""
    file, overlay = edited(tmp_path), tmp_path / "over.usda"
    pairs = [("NewtonPDControlAPI", "A"), ("NewtonMaxEffortClampingAPI", "B")]
    write_overlay(file, overlay, [SchemaEdit(OF_SHOULDER, *pair) for pair in pairs])
    stage = Usd.Stage.Open(str(overlay))
    assert stage.GetPrimAtPath(OF_SHOULDER).GetPrimTypeInfo().GetAppliedAPISchemas() == ["A", "B"]


def test_a_layer_of_the_file_is_not_replaced(tmp_path) -> None:
    """Neither the file nor one that it is made of."""
    below = edited(tmp_path, name="below.usda")
    above = Sdf.Layer.CreateNew(str(tmp_path / "above.usda"))
    above.subLayerPaths.append("below.usda")
    above.Save()
    before = below.read_bytes()
    for place in ("above.usda", "below.usda"):
        with pytest.raises(ValueError, match="stays as it is"):
            write_overlay(tmp_path / "above.usda", tmp_path / place, [])
    assert below.read_bytes() == before
