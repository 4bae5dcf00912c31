"""What a stage is made of is looked at before USD opens it."""

from __future__ import annotations

import os
import re
import struct
from pathlib import Path

import pytest
from isaacsim.core.experimental.actuators import inspect_robots
from isaacsim.core.experimental.actuators.usd.parts import open_parts
from isaacsim.core.experimental.actuators.usd.stage import open_stage
from pipe_files import needs_pipes
from pxr import Sdf, Usd, UsdUtils

NAMED = {
    "sublayer": "(\n subLayers = [@./{0}@]\n)",
    "reference": 'def "A" (references = @./{0}@) {{}}',
    "payload": 'def "A" (prepend payload = @./{0}@</B>) {{}}',
    "variant": 'def "A" (\n variants = {{ string v = "y" }}\n prepend variantSets = "v"\n) {{\n'
    'variantSet "v" = {{\n "x" {{\n}}\n "y" {{\n def "B" (references = @./{0}@) {{}}\n }}\n }}\n}}\n',
}


def broken_crate(file: Path) -> None:
    """A crate that would hold too many strings."""
    layer = Sdf.Layer.CreateNew(str(file))
    Sdf.CreatePrimInLayer(layer, "/B")
    layer.Save()
    del layer
    data = bytearray(file.read_bytes())
    contents = int.from_bytes(data[16:24], "little")
    entry = data.index(b"STRINGS\0", contents)
    start = int.from_bytes(data[entry + 16 : entry + 24], "little")
    data[start : start + 8] = (1 << 40).to_bytes(8, "little")
    file.write_bytes(data)


@pytest.mark.parametrize("ending", ["usda", "usdc"])
@pytest.mark.parametrize("arc", NAMED)
def test_broken_part_is_named(arc: str, ending: str, tmp_path: Path) -> None:
    """However a layer comes to it, text or crate, and through another layer."""
    broken_crate(tmp_path / "broken.usdc")
    middle, top = tmp_path / f"middle.{ending}", tmp_path / "top.usda"
    layer = Sdf.Layer.CreateAnonymous(".usda")
    layer.ImportFromString("#usda 1.0\n" + NAMED[arc].format("broken.usdc"))
    layer.Export(str(middle))
    del layer
    top.write_text(f"#usda 1.0\n(\n subLayers = [@./{middle.name}@]\n)\n")
    said = f"{top}: {tmp_path / 'broken.usdc'}: USD cannot read this file (its section STRINGS cannot hold"
    with pytest.raises(ValueError, match=re.escape(said)):
        open_stage(top)


@pytest.mark.parametrize("deep", [False, True])
def test_broken_layer_of_a_package_is_named(deep: bool, tmp_path: Path) -> None:
    """The first, which is the package, and one that it names."""
    good, part = tmp_path / "good.usdc", tmp_path / "part.usdc"
    broken_crate(part)
    bytes_of_part = part.read_bytes()
    part.unlink()
    layer = Sdf.Layer.CreateNew(str(part))
    Sdf.CreatePrimInLayer(layer, "/B")
    layer.Save()
    del layer
    good_bytes = part.read_bytes()
    top = part
    if deep:
        top = tmp_path / "top.usda"
        top.write_text("#usda 1.0\n" + NAMED["sublayer"].format("part.usdc"))
    package = tmp_path / "package.usdz"
    assert UsdUtils.CreateNewUsdzPackage(str(top), str(package)), good
    packed = package.read_bytes()
    assert packed.count(good_bytes) == 1
    package.write_bytes(packed.replace(good_bytes, bytes_of_part))
    with pytest.raises(ValueError, match=r"package\.usdz.*\(its section STRINGS cannot hold"):
        open_stage(package)


@needs_pipes
@pytest.mark.parametrize("arc", NAMED)
def test_part_that_is_a_pipe_is_refused(arc: str, tmp_path: Path) -> None:
    """USD would wait for its other end."""
    os.mkfifo(tmp_path / "pipe.usda")
    top = tmp_path / "top.usda"
    top.write_text("#usda 1.0\n" + NAMED[arc].format("pipe.usda"))
    with pytest.raises(ValueError, match=r"pipe\.usda: USD cannot read this file \(it must be a file, not a device"):
        open_stage(top)


@pytest.mark.parametrize("kind", ["prims", "path"])
def test_text_that_is_too_deep_is_refused(kind: str, tmp_path: Path) -> None:
    """A hundred thousand prims in one another would fill the stack of USD."""
    deep = {
        "prims": 'def "a" {\n' * 100_000 + "}\n" * 100_000,
        "path": f'def "a" {{ pathExpression x = "{"(" * 50_000}" }}',
    }
    file = tmp_path / "deep.usda"
    file.write_text("#usda 1.0\n" + deep[kind])
    with pytest.raises(ValueError, match=r"deep\.usda: USD cannot read this file .* nests \d+ deep, more than 1000"):
        open_stage(file)


def test_parts_are_opened_once(tmp_path: Path) -> None:
    """Layers that name one another come to an end."""
    one, two = tmp_path / "one.usda", tmp_path / "two.usda"
    one.write_text('#usda 1.0\ndef "A" (references = [@./two.usda@</B>, @./missing.usda@]) {}\n')
    two.write_text('#usda 1.0\ndef "B" {\n def "C" (references = @./one.usda@</A>) {}\n}\n')
    assert [Path(layer.realPath).name for layer in open_parts(str(one))] == ["one.usda", "two.usda"]


ROBOT = """#usda 1.0
def "A" (
    {selects}
    prepend variantSets = "hand"
) {{
    variantSet "hand" = {{
        "none" {{
        }}
        "gripper" (prepend payload = @./{part}@) {{
            variantSet "side" = {{
                "left" {{
                    def "B" (references = @./{part}@</B>) {{}}
                }}
            }}
        }}
    }}
}}
"""
NONE, GRIPPER, ANY = (f'variants = {{ string hand = "{name}" }}' for name in ("none", "gripper", "`${HAND}`"))


def robot(folder: Path, part: str, selects: str, ending: str = "usda") -> Path:
    """A robot with variants, one of which refers to a part."""
    layer = Sdf.Layer.CreateAnonymous(".usda")
    layer.ImportFromString(ROBOT.format(selects=selects, part=part))
    assert layer.Export(str(folder / f"robot.{ending}"))
    return folder / f"robot.{ending}"


@pytest.mark.parametrize("ending", ["usda", "usdc"])
@pytest.mark.parametrize("selects", [NONE, "", 'variants = { string side = "left" }'])
def test_variant_that_nothing_selects_is_let_be(selects: str, ending: str, tmp_path: Path) -> None:
    """As USD does, whatever it refers to, and whether that is there."""
    broken_crate(tmp_path / "broken.usdc")
    for part in ("broken.usdc", "missing.usda"):
        stage = open_stage(robot(tmp_path, part, selects, ending))
        assert stage.GetPrimAtPath("/A").GetVariantSet("hand").GetVariantNames() == ["gripper", "none"]


@pytest.mark.parametrize("ending", ["usda", "usdc"])
@pytest.mark.parametrize("above", [GRIPPER, ANY])
@pytest.mark.parametrize("within", [NONE, GRIPPER])
def test_variant_that_any_layer_selects_is_looked_at(above: str, within: str, ending: str, tmp_path: Path) -> None:
    """Before the layer that has it is known, or after; also by an expression."""
    broken_crate(tmp_path / "broken.usdc")
    file = robot(tmp_path, "broken.usdc", within, ending)
    first, last, top = (tmp_path / name for name in ("first.usda", "last.usda", "top.usda"))
    first.write_text(f'#usda 1.0\nover "A" ({above}) {{}}\n')
    last.write_text('#usda 1.0\ndef "C" {}\n')
    for names in ((first, file, last), (last, file, first)):
        layers = ", ".join(f"@./{name.name}@" for name in names)
        top.write_text(f"#usda 1.0\n(\n subLayers = [{layers}]\n)\n")
        with pytest.raises(ValueError, match=r"top\.usda: .*broken\.usdc: USD cannot read this file \(its section STR"):
            open_stage(top)


def test_variant_that_will_be_selected_is_looked_at(tmp_path: Path) -> None:
    """By the one who asks, and by USD where nobody does."""
    broken_crate(tmp_path / "broken.usdc")
    file = robot(tmp_path, "broken.usdc", "")
    with pytest.raises(ValueError, match=r"broken\.usdc: USD cannot read"):
        inspect_robots(file, variants={"hand": "gripper"})
    before = Usd.Stage.GetGlobalVariantFallbacks()
    Usd.Stage.SetGlobalVariantFallbacks({"hand": ["gripper"]})
    try:
        with pytest.raises(ValueError, match=r"broken\.usdc: USD cannot read"):
            open_stage(file)
    finally:
        Usd.Stage.SetGlobalVariantFallbacks(before)


def test_variant_in_a_variant_is_followed_once_both_are_selected(tmp_path: Path) -> None:
    """The inner one, by what the outer one selects."""
    text = """#usda 1.0
    def "A" (
        {selects}
        prepend variantSets = "v"
    ) {{
        variantSet "v" = {{
            "x" (
                variants = {{ string w = "y" }}
                prepend variantSets = "w"
            ) {{
                variantSet "w" = {{
                    "y" {{
                        def "B" (references = @./part.usda@) {{}}
                    }}
                    "z" {{
                        def "B" (references = @./other.usda@) {{}}
                    }}
                }}
            }}
        }}
    }}
    """
    for name in ("part", "other"):
        (tmp_path / f"{name}.usda").write_text('#usda 1.0\n(\n defaultPrim = "P"\n)\ndef "P" {}\n')
    for number, (selects, found) in enumerate({"": [], 'variants = { string v = "x" }': ["part.usda"]}.items()):
        file = tmp_path / f"top{number}.usda"
        file.write_text(text.format(selects=selects))
        assert [Path(layer.realPath).name for layer in open_parts(str(file))] == [file.name, *found]


# of a name in the table of a crate: its place, and what it is; the last is the type of a prim
@pytest.mark.parametrize(
    ("place", "said"),
    [
        (0, "</> would have a prim that is called ';-)'"),
        (1, "</> would have a prim that is called ''"),
        (2, "</> would have something of the same name twice"),
        (4, "</primChildren> would be a prim of it, and is not there"),
        (5, "</> would have a prim that is called '..'"),
    ],
)
def test_crate_with_prims_that_cannot_be_is_refused(place: int, said: str, tmp_path: Path) -> None:
    """USD would read what is not there, or go round for ever."""
    file = tmp_path / "broken.usdc"
    layer = Sdf.Layer.CreateNew(str(file))
    for name in "AB":
        Sdf.CreatePrimInLayer(layer, f"/{name}").typeName = ".."
    layer.Save()
    del layer
    data = bytearray(file.read_bytes())
    # the first value behind the header: how many children the root has, and the names of them
    assert struct.unpack_from("<QII", data, 88) == (2, 2, 3)
    struct.pack_into("<I", data, 100, place)
    file.write_bytes(data)
    with pytest.raises(ValueError, match=re.escape(f"{file}: USD cannot read this file ({said})")):
        open_stage(file)
