"""Attribute types: which values each takes, and what they become."""

import math
import re

import numpy as np
import pytest
from isaacsim.core.experimental.actuators.extension.action_graphs.omnigraph import ogn_types

INT32 = 2**31
# type, value given, value seen
VALUES: list[tuple] = [
    ("bool", True, True),
    ("int", 7, 7),
    ("int", np.int64(7), 7),
    ("uint64", 2**64 - 1, 2**64 - 1),
    ("double", 3, 3.0),
    ("float", 0.1, float(np.float32(0.1))),
    ("float", math.inf, math.inf),
    ("token", "knee", "knee"),
    ("string", "", ""),
    ("execution", True, ogn_types.ExecutionAttributeState.ENABLED),
    ("execution", ogn_types.ExecutionAttributeState.LATENT_PUSH, ogn_types.ExecutionAttributeState.LATENT_PUSH),
    ("target", ["/A", "/B"], ("/A", "/B")),
    ("target", "/A", ("/A",)),
    ("int[]", [], []),
    ("int[]", (1, 2), [1, 2]),
    ("double[]", np.arange(3), [0.0, 1.0, 2.0]),
    ("token[]", ["hip", "knee"], ["hip", "knee"]),
    ("float[3]", [1, 2, 3], [1.0, 2.0, 3.0]),
    ("double[3][]", [[1, 2, 3]], [[1.0, 2.0, 3.0]]),
    ("matrixd[4]", np.eye(4), np.eye(4).tolist()),
    ("any", {"what": "ever"}, {"what": "ever"}),
]
# type, value given, what the message asks for
REFUSED: list[tuple] = [
    ("bool", 1, "Give booleans"),
    ("int", 1.0, "Give integers"),
    ("int", True, "Give integers"),
    ("int", INT32, "Give numbers in -2147483648 … 2147483647"),
    ("uint", -1, "Give numbers in 0 … 4294967295"),
    ("double", "1", "Give numbers"),
    ("double", [1.0], "Give shape ()"),
    ("token", 3, "Give strings"),
    ("token[]", "knee", "Give strings"),
    ("token[]", ["knee", 3], "Give strings"),
    ("float[]", 1.0, "Give shape ('n',)"),
    ("float[]", [[1.0], [2.0]], "Give shape ('n',)"),
    ("float[]", [[1.0], [2.0, 3.0]], "Give rows of one length"),
    ("float[3]", [1, 2], "Give shape (3,)"),
    ("int[]", [1, INT32], "Give numbers in"),
    ("float", 1e39, "Give numbers in -3.4028"),
    ("half[]", [1e5], "Give numbers in -65504.0 … 65504.0"),
]
UNKNOWN_TYPES = ["real", "float[5]", "float[3", "union", "floats[]", ""]


@pytest.mark.parametrize(("declared", "given", "seen"), VALUES)
def test_value_is_seen_as_its_type(declared, given, seen) -> None:
    converted = ogn_types.parse_type(declared).convert(given)
    if isinstance(converted, np.ndarray):
        converted = converted.tolist()
    assert converted == seen and type(converted) is type(seen)


@pytest.mark.parametrize(("declared", "given", "remedy"), REFUSED)
def test_value_of_another_type_is_refused(declared, given, remedy) -> None:
    with pytest.raises(ValueError, match=re.escape(f": must be {declared}. {remedy}")):
        ogn_types.parse_type(declared).convert(given)


@pytest.mark.parametrize(("declared", "given", "seen"), VALUES)
def test_default_is_a_value_of_the_type(declared, given, seen) -> None:
    kind = ogn_types.parse_type(declared)
    np.testing.assert_equal(kind.convert(kind.default()), kind.default())


@pytest.mark.parametrize("declared", UNKNOWN_TYPES)
def test_unknown_type_is_refused(declared) -> None:
    with pytest.raises(ValueError, match="must be a type of OmniGraph"):
        ogn_types.parse_type(declared)


def test_arrays_are_copies() -> None:
    given = np.zeros(2)
    converted = ogn_types.parse_type("double[]").convert(given)
    given[:] = 1.0
    assert converted.tolist() == [0.0, 0.0]
