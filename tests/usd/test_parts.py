"""What a stage is made of is looked at before USD opens it."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from isaacsim.core.experimental.actuators.usd.parts import open_parts
from isaacsim.core.experimental.actuators.usd.stage import open_stage
from pxr import Sdf, UsdUtils

NAMED = {
    "sublayer": "(\n subLayers = [@./{0}@]\n)",
    "reference": 'def "A" (references = @./{0}@) {{}}',
    "payload": 'def "A" (prepend payload = @./{0}@</B>) {{}}',
    "variant": 'def "A" (\n variants = {{ string v = "x" }}\n prepend variantSets = "v"\n) {{\n'
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


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
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
