"""Patterns that would take too long are refused, those that people write are not."""

import json

import pytest
from isaacsim.core.experimental.actuators import load_motors
from isaacsim.core.experimental.actuators.specs.patterns import assigned, pattern_problem, ways

SLOW = [
    "(a+)+$",
    "(a|a)*$",
    "(a|aa)+b",
    "((a*)*)*b",
    "(?:a?){50}b",
    "a?" * 30 + "b",
    ".*.*.*.*b",
    "(?=(a+)+b).*",
    "(?>(a+)+b)",
    "(x)?(?(1)a|(a+)+)b",
    "(a{0,30}){0,30}b",
    "(.*a){25}b",
    "(.*?,)+?b",
]
GOOD = [
    "hip",
    ".*",
    ".*_(HAA|HFE)",
    "(.*_)?knee(_.*)?",
    "[LR][FH]_.*_joint[0-9]+",
    "panda_joint[1-7]",
    "(?:left|right)_(?:hip|knee)_.*",
    "(FL|FR)_(hip|thigh|calf)_joint",
    ".*_.*_.*",
]


@pytest.mark.parametrize("pattern", SLOW)
def test_what_would_take_years_is_refused(pattern) -> None:
    """It is told, and not tried: this test would not come back."""
    found, problems = assigned([pattern], ["a" * 60], "motors", every=False)
    assert found == {} and len(problems) == 1 and "can take years to try" in problems[0]


@pytest.mark.parametrize("pattern", GOOD)
def test_what_people_write_is_taken(pattern) -> None:
    assert pattern_problem(pattern) is None


@pytest.mark.parametrize("pattern", [".*.*.*b", "a?" * 20 + "b", "(a|b|ab)(.*)(.+)b", "(?:a?){20}b", "(.*,)?(.*,)?b"])
def test_what_is_taken_comes_back(pattern) -> None:
    """On a name that is as unfortunate as it is long."""
    assert pattern_problem(pattern) is None
    assigned([pattern], ["a" * 100], "motors")


def test_a_file_with_such_a_pattern_is_refused(tmp_path) -> None:
    """For a motor, and for one of its values."""
    law = {"controller": {"law": "pd", "kp": 1.0, "kd": 1.0}}
    file = tmp_path / "motors.json"
    for motors in ({"(a+)+$": law}, {".*": {"controller": law["controller"] | {"kp": {"(a+)+$": 1.0}}}}):
        file.write_text(json.dumps(motors))
        with pytest.raises(ValueError, match="can take years to try"):
            load_motors(file)


def test_ways_are_counted() -> None:
    """Parts multiply, alternatives add."""
    assert [ways(one) for one in ("ab", "a|bc", "a{2,4}", "(ab|c)d?", ".*x.*")] == [1, 2, 3, 4, 101**2]
