"""A pattern means the joints whose whole name it matches, and each joint is meant once."""

import inspect
import json
import sys

import pytest
from isaacsim.core.experimental.actuators import load_motors
from isaacsim.core.experimental.actuators.specs.patterns import MAX_PATTERN, assigned, by_joint, pattern_problem, ways
from refusals import cases

LEGS = ["LF_HAA", "LF_HFE", "LF_KFE", "RF_HAA"]


def test_a_pattern_matches_whole_names() -> None:
    assert assigned([".*_HAA|.*_HFE", "LF_KFE"], LEGS, "motors") == (
        {"LF_HAA": ".*_HAA|.*_HFE", "LF_HFE": ".*_HAA|.*_HFE", "LF_KFE": "LF_KFE", "RF_HAA": ".*_HAA|.*_HFE"},
        [],
    )
    found, problems = assigned([".*_HAA|.*_HFE", "LF_K"], LEGS, "motors")
    assert "LF_KFE" not in found
    assert problems == [
        "motors: 'LF_K' matches no joint: must match the whole name of at least one of LF_HAA, LF_HFE, LF_KFE, RF_HAA. "
        "Correct or remove it.",
        "motors: LF_KFE is matched by none of '.*_HAA|.*_HFE', 'LF_K': each joint must be matched once. Add a pattern.",
    ]


def test_all_problems_are_told_at_once() -> None:
    found, problems = assigned(["LF_.*", ".*_HAA", "LH_.*", "("], LEGS[:3] + ["waist", "neck"], "kp")
    assert found == {"LF_HFE": "LF_.*", "LF_KFE": "LF_.*"}
    beginnings = [
        "kp: '(' must be a regular expression, but missing )",
        "kp: 'LH_.*' matches no joint: must match the whole name of at least one of LF_HAA, ",
        "kp: LF_HAA is matched by 'LF_.*' and '.*_HAA': must be matched once.",
        "kp: waist, neck are matched by none of 'LF_.*', '.*_HAA', 'LH_.*', '(': each joint",
    ]
    assert len(problems) == len(beginnings)
    assert all(line.startswith(beginning) for line, beginning in zip(problems, beginnings, strict=True)), problems


@cases("bad", "", "  ", "a\n", "\ud800", "(", "[", "[[a]", "*", "a{1", "x" * (MAX_PATTERN + 1), 3, None)
def test_what_is_no_pattern_is_said(bad) -> None:
    if bad == "a{1":
        # Python takes it literally
        assert pattern_problem(bad) is None
    else:
        assert "must be a regular expression" in (pattern_problem(bad) or "")


def test_a_pattern_too_deep_for_python_is_said() -> None:
    before = sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(len(inspect.stack()) + 100)
        said = pattern_problem("(" * 240 + ")" * 240)
    finally:
        sys.setrecursionlimit(before)
    assert "must be a regular expression" in (said or "")


def test_a_number_is_one_for_all_joints() -> None:
    assert by_joint(3.0, LEGS, "kp") == [3.0] * 4
    assert by_joint({".*KFE": 1.0, ".*HAA": 2.0, "LF_HFE": 3.0}, LEGS, "kp") == [2.0, 3.0, 1.0, 2.0]


def test_joints_left_out_have_no_number() -> None:
    with pytest.raises(ValueError, match=r"^kp: LF_HFE, LF_KFE are matched by none of '\.\*HAA'"):
        by_joint({".*HAA": 2.0}, LEGS, "kp")


SLOW = [
    *("(a+)+$", "(a|a)*$", "(a|aa)+b", "((a*)*)*b", "(?:a?){50}b"),
    "a?" * 30 + "b",
    *(".*.*.*.*b", "(?=(a+)+b).*", "(?>(a+)+b)", "(x)?(?(1)a|(a+)+)b", "(a{0,30}){0,30}b", "(.*a){25}b", "(.*?,)+?b"),
]
GOOD = [
    *("hip", ".*", ".*_(HAA|HFE)", "(.*_)?knee(_.*)?", "[LR][FH]_.*_joint[0-9]+", "panda_joint[1-7]"),
    *("(?:left|right)_(?:hip|knee)_.*", "(FL|FR)_(hip|thigh|calf)_joint", ".*_.*_.*"),
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
    assert pattern_problem(pattern) is None
    assigned([pattern], ["a" * 100], "motors")


def test_a_file_with_such_a_pattern_is_refused(tmp_path) -> None:
    law = {"controller": {"law": "pd", "kp": 1.0, "kd": 1.0}}
    file = tmp_path / "motors.json"
    for motors in ({"(a+)+$": law}, {".*": {"controller": law["controller"] | {"kp": {"(a+)+$": 1.0}}}}):
        file.write_text(json.dumps(motors))
        with pytest.raises(ValueError, match="can take years to try"):
            load_motors(file)


def test_ways_are_counted() -> None:
    assert [ways(one) for one in ("ab", "a|bc", "a{2,4}", "(ab|c)d?", ".*x.*")] == [1, 2, 3, 4, 101**2]
