"""Differences in words."""

import math

import pytest
from isaacsim.core.experimental.actuators.tools.comparison.words import Row, hints, names, rows_of, summary, text


def test_joints_with_equal_values_share_a_row() -> None:
    found = {("a", "kp"): (1.0, 2.0), ("b", "kp"): (1.0, 2.0), ("b", "kd"): (3.0, None), ("", "dt"): (0.1, 0.2)}
    rows = rows_of(found)
    assert rows == [Row(("a", "b"), "kp", 1.0, 2.0), Row(("b",), "kd", 3.0, None), Row((), "dt", 0.1, 0.2)]
    assert summary(rows, second=False) == "kp 1; kd 3; dt 0.1"
    assert summary(rows, second=True) == "kp 2; kd none; dt 0.2"
    assert summary([*rows, *rows], second=True).endswith("dt 0.2; …")


def test_names_and_values() -> None:
    assert names(["a", "b", "c", "d", "e"]) == "a, b, c and 2 more"
    assert text(math.inf) == "∞"
    assert text([1.0, 2.0, 3.0]) == "1, 2, 3"
    assert text([1.0, 0, 0, 0, 2.0, 0, 0, 0, 3.0]) == "1, 2, 3"


@pytest.mark.parametrize("factor", [180 / math.pi, math.pi / 180])
def test_degrees_are_told_by_their_factor(factor) -> None:
    (hint,) = hints([Row(("knee",), "PD.kp", 20.0, 20.0 * factor)])
    assert "degrees in place of radians?" in hint
    assert "knee" in hint


def test_a_limit_that_is_none() -> None:
    (hint,) = hints([Row(("knee",), "max effort.max_effort", 20.0, 1e9)])
    assert "no limit?" in hint


@pytest.mark.parametrize(
    "row", [Row(("a",), "kp", 1.0, 50.0), Row(("a",), "kp", 0.0, 57.3), Row(("a",), "kp", None, 1)]
)
def test_other_values_have_no_hint(row) -> None:
    assert hints([row]) == []
