"""Arguments are looked at where they come in."""

from pathlib import Path

import numpy as np
import pytest
from isaacsim.core.experimental.actuators.specs.arguments import (
    flag_of,
    names_of,
    number_of,
    path_of,
    require_type,
    whole_of,
)
from refusals import cases, refused


@pytest.mark.parametrize("value", [1, 0.5, True, np.float32(2), np.array(3), np.int64(-1)])
def test_numbers_are_taken(value):
    assert number_of("dt", value) == float(value)


@pytest.mark.parametrize("value", [None, "1", b"1", [1.0], np.ones(1), np.array("1"), 1j, {}, object])
def test_what_is_no_number_is_named(value):
    refused(TypeError, lambda: number_of("dt", value), f"dt = .*must be a number, not {type(value).__name__}")


def test_number_beyond_floats_is_refused():
    refused(ValueError, lambda: number_of("dt", 10**400), "too large")


def test_names_are_one_or_several():
    assert names_of("names", "a") == ["a"]
    assert names_of("names", (one for one in "ab")) == names_of("names", np.array(["a", "b"])) == ["a", "b"]


@cases("given", None, 1, b"ab", [1], ["a", 2], range(10**12), np.broadcast_to(0.0, 10**12), object())
def test_what_are_no_names_is_refused(given):
    with pytest.raises(TypeError, match=f"names = .*must be a name or a list of them, not {type(given).__name__}"):
        names_of("names", given)


@pytest.mark.parametrize("given", ["a/b", Path("a") / "b"])
def test_paths_are_taken(given):
    assert path_of("file", given) == Path("a/b")


@pytest.mark.parametrize("given", [None, 3, b"ab", ["a"], object()])
def test_what_is_no_path_is_refused(given):
    with pytest.raises(TypeError, match=f"file = .*must be the path of a file, not {type(given).__name__}"):
        path_of("file", given)


@pytest.mark.parametrize("given", ["a\0b", "x" * 4097, "\ud800"])
def test_what_no_file_can_be_called_is_refused(given):
    refused(ValueError, lambda: path_of("file", given), r"file = .*must be a path that a system can have")


@pytest.mark.parametrize("value", [True, False, 0, 1, np.True_, np.array(False)])
def test_flags_are_taken(value):
    assert flag_of("on", value) is bool(value)


@pytest.mark.parametrize("value", [None, "x", [], np.ones(2), np.zeros(0)])
def test_what_is_no_flag_is_refused(value):
    refused(TypeError, lambda: flag_of("on", value), f"on = .*must be True or False, not {type(value).__name__}")


def test_whole_numbers_have_a_least():
    assert whole_of("steps", np.int64(3)) == whole_of("steps", 3, 3) == 3
    refused(ValueError, lambda: whole_of("steps", 2, 3), "steps = 2: must be an integer >= 3")
    for odd in (2.0, "2", None, np.float16(2), [2]):
        with pytest.raises(TypeError, match=r"steps = .*must be an integer >= 0"):
            whole_of("steps", odd)


def test_other_type_is_named():
    require_type("engine", "mujoco", str, "a text")
    refused(TypeError, lambda: require_type("engine", 3, str, "a text"), "engine = 3: must be a text, not int")
