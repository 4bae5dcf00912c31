"""Arguments are looked at where they come in."""

import numpy as np
import pytest
from isaacsim.core.experimental.actuators.specs.arguments import names_of, number_of, require_type


@pytest.mark.parametrize("value", [1, 0.5, True, np.float32(2), np.array(3), np.int64(-1)])
def test_numbers_are_taken(value):
    """Take numbers of Python and of NumPy."""
    assert number_of("dt", value) == float(value)


@pytest.mark.parametrize("value", [None, "1", b"1", [1.0], np.ones(1), np.array("1"), 1j, {}, object])
def test_what_is_no_number_is_named(value):
    """Refuse anything else, naming the argument and its type."""
    with pytest.raises(TypeError, match=f"dt = .*must be a number, not {type(value).__name__}"):
        number_of("dt", value)


def test_number_beyond_floats_is_refused():
    """Refuse an integer that no float can hold."""
    with pytest.raises(ValueError, match="too large"):
        number_of("dt", 10**400)


def test_names_are_one_or_several():
    """Take a text, and lists, arrays and generators of texts."""
    assert names_of("names", "a") == ["a"]
    assert names_of("names", (one for one in "ab")) == names_of("names", np.array(["a", "b"])) == ["a", "b"]


@pytest.mark.parametrize(
    "given", [None, 1, b"ab", [1], ["a", 2], range(10**12), np.broadcast_to(0.0, 10**12), object()]
)
def test_what_are_no_names_is_refused(given):
    """Refuse anything else, however much of it there is."""
    with pytest.raises(TypeError, match=f"names = .*must be a name or a list of them, not {type(given).__name__}"):
        names_of("names", given)


def test_other_type_is_named():
    """Say what is wanted, and what was given."""
    require_type("engine", "mujoco", str, "a text")
    with pytest.raises(TypeError, match="engine = 3: must be a text, not int"):
        require_type("engine", 3, str, "a text")
