"""Broken crates are refused before USD opens them, and sound ones are not."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from isaacsim.core.experimental.actuators import inspect_robots, lint
from isaacsim.core.experimental.actuators.usd.crate import CrateError, require_sound
from places import ROBOTS
from pxr import Gf, Sdf, Vt

ELSEWHERE = 1 << 40


def everything() -> Sdf.Layer:
    """A layer with a value of each type, alone, in arrays short and long, and over time; and all that refers."""
    layer = Sdf.Layer.CreateAnonymous(".usda")
    prim = Sdf.CreatePrimInLayer(layer, "/A")
    kinds = (getattr(Sdf.ValueTypeNames, name) for name in dir(Sdf.ValueTypeNames) if name[0].isupper())
    for number, kind in enumerate(kind for kind in kinds if isinstance(kind, Sdf.ValueTypeName)):
        for count in (0, 15, 16, 40) if kind.isArray else (1,):
            attribute = Sdf.AttributeSpec(prim, f"a{number}_{count}", kind)
            value = kind.defaultValue
            if value is not None and str(kind) not in ("group", "opaque"):
                attribute.default = type(value)([kind.scalarType.defaultValue] * count) if kind.isArray else value
                for time in range(3):
                    layer.SetTimeSample(attribute.path, time, attribute.default)
    for name, values in (("i", range(3000)), ("l", [k % 3 / 10 for k in range(3000)]), ("f", np.arange(300) ** 1.5)):
        kind = Sdf.ValueTypeNames.IntArray if name == "i" else Sdf.ValueTypeNames.FloatArray
        Sdf.AttributeSpec(prim, name, kind).default = (Vt.IntArray if name == "i" else Vt.FloatArray)(list(values))
    prim.customData = {"a": 1, "b": {"c": {"d": "x", "e": Vt.IntArray([1, 2, 3])}, "f": 2.5}}
    other = Sdf.CreatePrimInLayer(layer, "/B")
    offset = Sdf.LayerOffset(1, 2)
    other.referenceList.prependedItems = [Sdf.Reference("", "/A", offset, {"k": 1, "m": {"n": "s"}})]
    other.referenceList.deletedItems = [Sdf.Reference("", "/C"), Sdf.Reference("", "/D", offset, {"k": Gf.Vec3d(1)})]
    other.payloadList.prependedItems = [Sdf.Payload("", "/A", offset), Sdf.Payload("", "/C")]
    other.payloadList.appendedItems = [Sdf.Payload("", "/E")]
    other.inheritPathList.explicitItems = ["/C", "/D"]
    targets = Sdf.RelationshipSpec(other, "targets").targetPathList
    targets.prependedItems, targets.appendedItems = ["/A", "/B"], ["/C"]
    for name in "xyz":
        Sdf.VariantSpec(Sdf.VariantSetSpec(other, f"set_{name}"), name)
        other.variantSelections[f"set_{name}"] = name
    layer.subLayerPaths = ["./x.usda", "./y.usda"]
    layer.subLayerOffsets[0] = offset
    layer.customLayerData = {"z": {"y": {"x": {"w": 1}}}, "words": Vt.StringArray(["a", "b"])}
    return layer


def crate_of(layer: Sdf.Layer, folder: Path) -> bytes:
    file = folder / "crate.usdc"
    assert layer.Export(str(file))
    return file.read_bytes()


def tree(count: int, depth: int = 1) -> Sdf.Layer:
    """A layer with some prims in one another, and some beside one another in the last."""
    layer = Sdf.Layer.CreateAnonymous(".usda")
    path = Sdf.Path.absoluteRootPath
    for _ in range(depth):
        path = path.AppendChild("a")
    Sdf.CreatePrimInLayer(layer, path)
    for number in range(count):
        Sdf.AttributeSpec(layer.GetPrimAtPath(path), f"x{number}", Sdf.ValueTypeNames.Float).default = number / 7
    return layer


def sections(data: bytes) -> dict[str, tuple[int, int, int]]:
    """Place in the table of contents, start and size of each section."""
    (contents,) = struct.unpack_from("<q", data, 16)
    (count,) = struct.unpack_from("<Q", data, contents)
    found = {}
    for number in range(count):
        at = contents + 8 + 32 * number
        name, start, size = struct.unpack_from("<16sqq", data, at)
        found[name.rstrip(b"\0").decode()] = (at, start, size)
    return found


def with_number(data: bytes, at: int, number: int, kind: str = "<Q") -> bytes:
    changed = bytearray(data)
    struct.pack_into(kind, changed, at, number)
    return bytes(changed)


def with_section(data: bytes, name: str, content: bytes) -> bytes:
    """The crate with another section, at its end."""
    at, _, _ = sections(data)[name]
    changed = bytearray(data) + content
    struct.pack_into("<qq", changed, at + 16, len(data), len(content))
    return bytes(changed)


def compressed(content: bytes) -> bytes:
    """As LZ4 has it: one block, all of which is there as it is."""
    size = len(content) - 15
    lengths = b"" if size < 0 else b"\xff" * (size // 255) + bytes([size % 255])
    block = b"\0" + bytes([min(len(content), 15) << 4]) + lengths + content
    return struct.pack("<Q", len(block)) + block


def integers(numbers: list[int]) -> bytes:
    """As differences of 32 bits each."""
    codes = bytearray((len(numbers) + 3) // 4)
    for place in range(len(numbers)):
        codes[place // 4] |= 3 << 2 * (place % 4)
    differences = np.diff(np.array([0, *numbers], np.int64)).astype("<i4")
    return compressed(bytes(4) + bytes(codes) + differences.tobytes())


def with_jumps(data: bytes, jumps: list[int]) -> bytes:
    """The crate with another tree of paths."""
    count = len(jumps)
    head = struct.pack("<QQ", count, count) + integers(list(range(count))) + integers([1] * count)
    return with_section(data, "PATHS", head + integers(jumps))


def with_value(data: bytes, kind: int, content: Callable[[int], bytes], bits: int = 0) -> bytes:
    """The crate with one value, of a type and written at the end."""
    at = len(data)
    made = data + content(at)
    value = struct.pack("<Q", bits << 56 | kind << 48 | at)
    return with_section(made, "FIELDS", struct.pack("<Q", 1) + integers([0]) + compressed(value))


def dictionary(at: int, depth: int, width: int) -> bytes:
    """Dictionaries in one another, each entry of one the same next one."""
    made = b""
    for level in range(depth):
        size = 8 + 20 * width
        following = 31 << 48 | at + size * (level + 1)
        made += struct.pack("<Q", width) + struct.pack("<IqQ", 0, 8, following) * width
    return made + struct.pack("<Q", 0)


def check(data: bytes) -> None:
    require_sound(np.frombuffer(data, np.uint8))


@pytest.fixture
def crate(tmp_path: Path) -> bytes:
    return crate_of(tree(30), tmp_path)


# sound


@pytest.mark.parametrize("robot", sorted(ROBOTS.glob("*.usd[ac]")), ids=lambda file: file.name)
def test_robots_are_sound(robot: Path, tmp_path: Path) -> None:
    """All files of this repository, those that are text as crates."""
    check(crate_of(Sdf.Layer.FindOrOpen(str(robot)), tmp_path))


def test_values_of_all_types_are_sound(tmp_path: Path) -> None:
    """And all that refers to others."""
    check(crate_of(everything(), tmp_path))


@pytest.mark.parametrize("layer", [tree(0), tree(1), tree(3000), tree(1, depth=300)])
def test_trees_are_sound(layer: Sdf.Layer, tmp_path: Path) -> None:
    """Broad and deep ones."""
    check(crate_of(layer, tmp_path))


def test_what_the_other_tests_change_is_sound(crate: bytes) -> None:
    """Sections written here are read as USD's own are."""
    check(with_jumps(crate, [-1, 2, -2, -1, 0, -2]))
    check(with_value(crate, 31, lambda at: dictionary(at, 5, 2)))
    check(with_value(crate, 8, lambda at: struct.pack("<Q", 3) + bytes(12), bits=0x80))


# broken


COUNTS = {"TOKENS": (0, 8), "STRINGS": (0,), "FIELDS": (0,), "FIELDSETS": (0,), "PATHS": (0, 8), "SPECS": (0,)}


@pytest.mark.parametrize("number", [1 << 26, 1 << 31, ELSEWHERE, (1 << 64) - 1])
@pytest.mark.parametrize("name", COUNTS)
def test_counts_that_do_not_fit_are_refused(name: str, number: int, crate: bytes) -> None:
    """Each count of each section."""
    for place in COUNTS[name]:
        with pytest.raises(CrateError, match=r"cannot|would take"):
            check(with_number(crate, sections(crate)[name][1] + place, number))


@pytest.mark.parametrize("place", [16, 24])
@pytest.mark.parametrize("number", [-1, ELSEWHERE, (1 << 63) - 1])
def test_sections_outside_of_the_file_are_refused(place: int, number: int, crate: bytes) -> None:
    """Their starts and sizes."""
    for at, _, _ in sections(crate).values():
        with pytest.raises(CrateError, match=r"section '.*' would lie outside"):
            check(with_number(crate, at + place, number, "<q"))


@pytest.mark.parametrize(
    "jumps",
    [
        # each branch leads to the next in two ways
        [-1, *(1,) * 60, -2],
        [-1, *(2,) * 60, -2, -2],
        [-1, 3, 2, -2, -2],
        [-1, -1],
        [-1, 0],
        [-1, 9, -2],
    ],
)
def test_paths_that_are_reached_twice_or_nowhere_are_refused(jumps: list[int], crate: bytes) -> None:
    """Sixty that lead on in two ways each would be read 2⁶⁰ times."""
    with pytest.raises(CrateError, match="the tree of its paths leads to a path twice, or nowhere"):
        check(with_jumps(crate, jumps))


def test_paths_that_are_too_deep_are_refused(crate: bytes) -> None:
    """USD would go down to each, until its stack is full; siblings are not deep."""
    with pytest.raises(CrateError, match="its paths are 2000 deep, more than 1000"):
        check(with_jumps(crate, [-1] * 2000 + [-2]))
    check(with_jumps(crate, [-1] + [2, -2] * 2000 + [-2]))


@pytest.mark.parametrize("kind", [-63, 0, 12, 1 << 30])
def test_kinds_that_are_not_are_refused(kind: int, crate: bytes) -> None:
    """USD counts them in a table of its own, and reads what lies behind it."""
    count = struct.unpack_from("<Q", crate, sections(crate)["SPECS"][1])[0]

    def of(kinds: list[int]) -> bytes:
        numbers = integers(list(range(count))) + integers([0] * count) + integers(kinds)
        return with_section(crate, "SPECS", struct.pack("<Q", count) + numbers)

    # the root, a prim, and attributes
    kinds = [7, 6, *[1] * (count - 2)]
    check(of(kinds))
    with pytest.raises(CrateError, match=f"would be of kind {kind}, and there are 11"):
        check(of([*kinds[:-1], kind]))


def test_kinds_are_those_of_usd() -> None:
    """No more and no fewer, and one that is unknown."""
    assert sorted(kind.value for kind in Sdf.SpecType.allValues) == list(range(12))


BIG = struct.pack("<Q", 1 << 31)
VALUES: dict[str, tuple[int, Callable[[int], bytes], int, str]] = {
    "array": (24, lambda _: BIG, 0x80, "would hold 2147483648 elements"),
    "array of texts": (11, lambda _: BIG, 0x80, "would hold 2147483648 elements"),
    "compressed array": (3, lambda _: BIG, 0xA0, "an array of it would take 8.59 GB"),
    "compressed reals": (9, lambda _: BIG, 0xA0, "an array of it would take 17.2 GB"),
    "list": (41, lambda _: BIG, 0, "would hold 2147483648 elements"),
    "edits": (32, lambda _: b"\x20" + BIG, 0, "would hold 2147483648 elements"),
    "later edits": (34, lambda _: b"\x60" + struct.pack("<QI", 1, 0) + BIG, 0, "would hold 2147483648 elements"),
    "references": (35, lambda _: b"\x02" + BIG, 0, "too short|outside"),
    "samples": (46, lambda at: struct.pack("<qQqQ", 8, 1 << 62, 8, 1 << 31), 0, "would hold 2147483648 elements"),
    "dictionary": (31, lambda _: BIG, 0, "too short|outside"),
    "entry elsewhere": (31, lambda _: struct.pack("<QIqQ", 1, 0, -4, 0), 0, "outside of the file"),
    "array in a dictionary": (
        31,
        lambda at: struct.pack("<QIqQ", 1, 0, 8, 0x80 << 56 | 24 << 48 | at + 28) + BIG,
        0,
        "would hold 2147483648 elements",
    ),
    "circle": (31, lambda at: struct.pack("<QIqQ", 1, 0, 8, 31 << 48 | at), 0, "in a circle"),
    "doubling": (31, lambda at: dictionary(at, 40, 2), 0, "more often than can be followed"),
    "deep": (31, lambda at: dictionary(at, 3000, 1), 0, "100 deep"),
    "list elsewhere": (
        31,
        lambda _: struct.pack("<QIqQ", 1, 0, 8, 41 << 48 | ELSEWHERE),
        0,
        "outside of the file",
    ),
}


@pytest.mark.parametrize("kind", VALUES)
def test_values_that_do_not_fit_are_refused(kind: str, crate: bytes) -> None:
    """Counts in values, and values in values."""
    number, content, bits, said = VALUES[kind]
    with pytest.raises(CrateError, match=said):
        check(with_value(crate, number, content, bits))


def test_no_change_of_a_bit_is_another_error(crate: bytes) -> None:
    """It is sound after all, or refused."""
    for at in range(8, len(crate)):
        try:
            check(with_number(crate, at, crate[at] ^ 1 << at % 8, "B"))
        except CrateError:
            continue


@pytest.mark.parametrize("size", [8, 50, 88, 300])
def test_cut_file_is_refused(size: int, crate: bytes) -> None:
    """In its header, or behind it."""
    with pytest.raises(CrateError):
        check(crate[:size])


def test_older_versions_are_left_to_usd(crate: bytes) -> None:
    """They are laid out otherwise."""
    check(with_number(crate[:100], 8, 3 << 8, "<H"))


def test_broken_crate_is_one_error_that_names_it(crate: bytes, tmp_path: Path) -> None:
    """Wherever a file is opened."""
    file = tmp_path / "broken.usdc"
    file.write_bytes(with_jumps(crate, [-1, *(1,) * 60, -2]))
    with pytest.raises(
        ValueError, match=r"broken\.usdc: USD cannot read this file \(the tree of its paths .*Export it"
    ):
        inspect_robots(file)
    assert [finding.rule for finding in lint(file)] == ["unreadable-file"]
