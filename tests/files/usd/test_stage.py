"""Stages are opened with clear errors, refused in other units, and watched for edits."""

import gc
import re
import weakref
from pathlib import Path

import pytest
from isaacsim.core.experimental.actuators.base.errors import UnsupportedSceneError
from isaacsim.core.experimental.actuators.files.usd.stage import (
    StageEdits,
    disable_collisions,
    open_stage,
    require_meters,
    require_si,
    select_variants,
)
from isaacsim.core.experimental.actuators.specs.arguments import ROBOT_FILES
from pxr import Sdf, Usd, UsdGeom, UsdPhysics
from refusals import cases, refused

PLAIN = '#usda 1.0\ndef Xform "World"\n{\n    def Xform "A"\n    {\n    }\n    def Xform "B"\n    {\n    }\n}\n'


@pytest.fixture
def file(tmp_path) -> Path:
    path = tmp_path / "plain.usda"
    path.write_text(PLAIN)
    return path


@pytest.fixture
def stage() -> Usd.Stage:
    layer = Sdf.Layer.CreateAnonymous("plain.usda")
    layer.ImportFromString(PLAIN)
    return Usd.Stage.Open(layer)


def paths(stage: Usd.Stage) -> list[str]:
    return [str(prim.GetPath()) for prim in stage.Traverse(Usd.TraverseInstanceProxies(Usd.PrimDefaultPredicate))]


def texts(stage: Usd.Stage) -> list[str]:
    return [layer.ExportToString() for layer in stage.GetUsedLayers()]


ARCS = {
    "reference": ('def "World" {\ndef "A" (references = @./b.usda@) {}\n}', "</World/A>: Could not open asset @"),
    "payload": ('def "World" {\ndef "A" (payload = @./b.usda@</B>) {}\n}', "</World/A>: Could not open asset @"),
    "prim": ('def "World" {\ndef "A" (references = </B>) {}\n}', "</World/A>: Unresolved reference prim path @"),
    "address": ('def "World" (references = @https://host.invalid/b.usd@) {}', "</World>: Could not open asset @"),
    "sublayer": ('( subLayers = [@./b.usda@] )\ndef "World" {}', "</>: Could not load sublayer @"),
}


@cases("arc", *ARCS)
def test_missing_part_is_an_error(arc, file, capfd):
    text, message = ARCS[arc]
    file.write_text(f"#usda 1.0\n{text}\n")
    with pytest.raises(FileNotFoundError, match=re.escape(f"{file}: {message}")) as caught:
        open_stage(file)
    assert str(caught.value).endswith("must be there. Put it there, or deactivate the prim.")
    assert capfd.readouterr() == ("", "")
    if arc != "sublayer":
        other = file.with_name("other.usda")
        inactive = text.replace("(", "(\nactive = false\n", 1).replace(") {}", "\n) {}", 1)
        other.write_text(f"#usda 1.0\n{inactive}\n")
        assert open_stage(other)


BROKEN = {"usda": b"#usda 1.0\ndef {", "usdc": b"PXR-USDC" + bytes(100)}
SELECTED = """#usda 1.0
def "A" (
    variants = {{ string hand = "{0}" }}
    prepend variantSets = "hand"
) {{
    variantSet "hand" = {{
        "none" {{
        }}
        "gripper" {{
            def "B" (references = @./b.usda@) {{}}
        }}
    }}
}}
"""


@cases("ending", *BROKEN)
@cases("arc", "reference", "payload", "sublayer", "variant")
def test_broken_part_is_named(arc, ending, file, capfd):
    text = SELECTED.format("gripper") if arc == "variant" else f"#usda 1.0\n{ARCS[arc][0]}\n"
    file.write_text(text.replace("b.usda", f"broken.{ending}"))
    broken = file.with_name(f"broken.{ending}")
    broken.write_bytes(BROKEN[ending])
    with pytest.raises(FileNotFoundError, match=f"{re.escape(str(file))}: .*{re.escape(str(broken))}") as caught:
        open_stage(file)
    assert "\n" not in str(caught.value) and capfd.readouterr() == ("", "")


@cases("part", "broken", "missing")
def test_part_of_another_variant_is_not_read(part, file):
    file.with_name("broken.usda").write_bytes(BROKEN["usda"])
    file.write_text(SELECTED.format("none").replace("b.usda", f"{part}.usda"))
    assert open_stage(file).GetPrimAtPath("/A").GetVariantSet("hand").GetVariantNames() == ["gripper", "none"]


def test_many_missing_parts_are_counted(file):
    prims = "\n".join(f'def "P{number}" (references = @./{number}.usda@) {{}}' for number in range(20))
    file.write_text(f"#usda 1.0\n{prims}\n")
    lines = refused(FileNotFoundError, lambda: open_stage(file)).splitlines()
    assert len(lines) == 6 and lines[-1] == f"{file}: 15 more are missing."


@cases("kind", str, Path)
def test_opens_a_file(file, kind):
    assert paths(open_stage(kind(file))) == ["/World", "/World/A", "/World/B"]


def test_opens_a_relative_path(file, monkeypatch):
    monkeypatch.chdir(file.parent)
    assert paths(open_stage(file.name))[0] == "/World"


def test_takes_a_stage_as_it_is(stage):
    assert open_stage(stage) is stage


def test_missing_file_is_named(tmp_path):
    text = refused(FileNotFoundError, lambda: open_stage(tmp_path / "nothing.usda"))
    assert text == (f"{tmp_path / 'nothing.usda'}: no such file. Give the path of {ROBOT_FILES}.")


@cases(
    "name, content",
    ("text.usda", b"hello"),
    ("empty.usda", b""),
    ("broken.usda", b'#usda 1.0\ndef "World" {'),
    ("robot.urdf", b"<robot/>"),
    ("noise.usdc", b"PXR-USDC" + bytes(100)),
    ("noise.usdz", b"PK\3\4" + bytes(100)),
    ("noise.usd", bytes(range(256))),
    ("no_suffix", PLAIN.encode()),
)
def test_unreadable_file_is_named(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    text = refused(ValueError, lambda: open_stage(path))
    assert text.startswith(f"{path}: USD cannot read this file") and "usdchecker" in text


def test_folder_is_no_file(tmp_path):
    refused(ValueError, lambda: open_stage(tmp_path), "must be a file, not a folder or a device")


@cases("unit", 1, 1.0, 1 + 1e-12, None)
def test_metres_are_accepted(stage, unit):
    if unit is not None:
        stage.SetMetadata("metersPerUnit", float(unit))
    require_meters(stage)
    assert UsdGeom.StageHasAuthoredMetersPerUnit(stage) is (unit is not None)


@cases("unit", 0.01, 0.001, 0.3048, 1000.0, 1.001, 0.0, -1.0, float("nan"), float("inf"))
def test_other_length_units_are_refused(stage, unit):
    stage.SetMetadata("metersPerUnit", unit)
    text = refused(UnsupportedSceneError, lambda: require_meters(stage))
    words = ("plain.usda", f"metersPerUnit = {unit:g}", "Convert the asset to metres")
    assert [word for word in words if word not in text] == []


def test_kilograms_are_asked_for_where_properties_are_told_in_si(stage):
    require_si(stage)
    stage.SetMetadata("kilogramsPerUnit", 0.001)
    refused(UnsupportedSceneError, lambda: require_si(stage), r"plain\.usda: kilogramsPerUnit = 0\.001: .* Convert the")
    stage.SetMetadata("metersPerUnit", 0.01)
    refused(UnsupportedSceneError, lambda: require_si(stage), "metersPerUnit = 0\\.01")


def test_fresh_watch_has_nothing_pending(stage):
    stage.DefinePrim("/World/C")
    assert StageEdits(stage).pending is False


@cases(
    "edit",
    lambda stage: stage.DefinePrim("/World/C"),
    lambda stage: stage.RemovePrim("/World/A"),
    lambda stage: stage.GetPrimAtPath("/World/A").SetActive(False),
    lambda stage: stage.GetPrimAtPath("/World/A").CreateAttribute("x", Sdf.ValueTypeNames.Float).Set(1.0),
    lambda stage: stage.MuteLayer(stage.GetRootLayer().subLayerPaths[0]),
    lambda stage: stage.GetRootLayer().ImportFromString("#usda 1.0\n"),
    lambda stage: Sdf.CreatePrimInLayer(stage.GetSessionLayer(), "/World/A").SetInfo("active", False),
    ids=["define", "remove", "deactivate", "value", "mute", "layer", "session"],
)
def test_edit_is_noticed(stage, edit):
    below = Sdf.Layer.CreateAnonymous()
    Sdf.CreatePrimInLayer(below, "/World/A/part").specifier = Sdf.SpecifierDef
    stage.GetRootLayer().subLayerPaths.append(below.identifier)
    edits = StageEdits(stage)
    edit(stage)
    assert edits.pending is True


def test_clear_forgets_the_edits(stage):
    edits = StageEdits(stage)
    seen = []
    for _ in range(2):
        stage.DefinePrim(f"/World/C{len(seen)}")
        seen.append(edits.pending)
        edits.clear()
        seen.append(edits.pending)
    assert seen == [True, False, True, False]


def test_reading_is_no_edit(stage):
    edits = StageEdits(stage)
    paths(stage), texts(stage)
    assert edits.pending is False


def test_edit_of_another_stage_is_none(stage):
    edits = StageEdits(stage)
    other = Usd.Stage.CreateInMemory()
    other.DefinePrim("/World/A")
    assert edits.pending is False


def test_watch_is_not_kept_alive(stage):
    edits = StageEdits(stage)
    gone = weakref.ref(edits)
    del edits
    gc.collect()
    stage.DefinePrim("/World/C")
    assert gone() is None


def test_opens_what_is_on_disk(file):
    former = open_stage(file)
    text = file.read_text()
    file.write_text(text.replace('"B"', '"C"'))
    assert paths(open_stage(file)) == ["/World", "/World/A", "/World/C"]
    former.DefinePrim("/World/D")
    file.write_text(text)
    assert paths(open_stage(file)) == ["/World", "/World/A", "/World/C", "/World/D"]


def box(stage: Usd.Stage, path: str) -> UsdPhysics.CollisionAPI:
    return UsdPhysics.CollisionAPI.Apply(UsdGeom.Cube.Define(stage, path).GetPrim())


def test_every_shape_is_switched_off_for_this_stage_alone() -> None:
    stage = Usd.Stage.CreateInMemory()
    shape = box(stage, "/World/box")
    before = stage.GetRootLayer().ExportToString()
    disable_collisions(stage)
    assert shape.GetCollisionEnabledAttr().Get() is False and stage.GetRootLayer().ExportToString() == before


def test_shapes_in_instances_too() -> None:
    stage = Usd.Stage.CreateInMemory()
    box(stage, "/Prototype/box")
    instance = UsdGeom.Xform.Define(stage, "/World/copy").GetPrim()
    instance.GetReferences().AddInternalReference("/Prototype")
    instance.SetInstanceable(True)
    disable_collisions(stage)
    assert UsdPhysics.CollisionAPI(stage.GetPrimAtPath("/World/copy/box")).GetCollisionEnabledAttr().Get() is False


def stage_with(*prims: str) -> Usd.Stage:
    stage = Usd.Stage.CreateInMemory()
    for path in prims:
        found = stage.DefinePrim(path).GetVariantSets().AddVariantSet("hand")
        for name in ("none", "gripper"):
            found.AddVariant(name)
        found.SetVariantSelection("none")
    return stage


def test_every_prim_with_the_set_gets_the_variant() -> None:
    stage = stage_with("/A", "/B")
    before = stage.GetRootLayer().ExportToString()
    select_variants(stage, {"hand": "gripper"})
    for path in ("/A", "/B"):
        assert stage.GetPrimAtPath(path).GetVariantSet("hand").GetVariantSelection() == "gripper"
    assert stage.GetRootLayer().ExportToString() == before


@cases("choice, words", ({"foot": "none"}, "no prim has it"), ({"hand": "foot"}, "'gripper'"))
def test_what_is_not_there_is_refused(choice: dict[str, str], words: str) -> None:
    refused(ValueError, lambda: select_variants(stage_with("/A"), choice), words)
