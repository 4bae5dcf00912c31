"""A pattern means the joints whose whole name it matches, and each joint is meant once."""

import inspect
import sys

import pytest
from isaacsim.core.experimental.actuators.specs.patterns import MAX_PATTERN, assigned, by_joint, pattern_problem

LEGS = ["LF_HAA", "LF_HFE", "LF_KFE", "RF_HAA"]


def test_a_pattern_matches_whole_names() -> None:
    """`LF_K` alone is not the knee of the left front leg."""
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
    """Joints left out, joints matched twice, patterns that match nothing and what is no pattern, each by name."""
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


@pytest.mark.parametrize(
    "bad", ["", "  ", "a\n", "\ud800", "(", "[", "[[a]", "*", "a{1", "x" * (MAX_PATTERN + 1), 3, None]
)
def test_what_is_no_pattern_is_said(bad) -> None:
    """Also what is no text at all."""
    if bad == "a{1":
        # Python takes it literally
        assert pattern_problem(bad) is None
    else:
        assert "must be a regular expression" in (pattern_problem(bad) or "")


def test_a_pattern_too_deep_for_python_is_said() -> None:
    """How deep that is depends on how deep the caller is."""
    before = sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(len(inspect.stack()) + 100)
        said = pattern_problem("(" * 240 + ")" * 240)
    finally:
        sys.setrecursionlimit(before)
    assert "must be a regular expression" in (said or "")


def test_a_number_is_one_for_all_joints() -> None:
    """In the order of the joints, whatever the order of the patterns."""
    assert by_joint(3.0, LEGS, "kp") == [3.0] * 4
    assert by_joint({".*KFE": 1.0, ".*HAA": 2.0, "LF_HFE": 3.0}, LEGS, "kp") == [2.0, 3.0, 1.0, 2.0]


def test_joints_left_out_have_no_number() -> None:
    """Nothing stands in for what is not said."""
    with pytest.raises(ValueError, match=r"^kp: LF_HFE, LF_KFE are matched by none of '\.\*HAA'"):
        by_joint({".*HAA": 2.0}, LEGS, "kp")
