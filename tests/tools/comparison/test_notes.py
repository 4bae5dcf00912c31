"""Notes on a comparison."""

import dataclasses
import math
from pathlib import Path

import pytest
from isaacsim.core.experimental.actuators import FrictionConfig, MotorConfig, PDControlConfig
from isaacsim.core.experimental.actuators.base.native import core
from isaacsim.core.experimental.actuators.tools.comparison.compare import Comparison, compare
from isaacsim.core.experimental.actuators.tools.comparison.notes import (
    Row,
    hints,
    most_of,
    notes_on,
    rows_of,
    summary,
    text,
)
from isaacsim.core.experimental.actuators.tools.comparison.plan import plan_of
from isaacsim.core.experimental.actuators.tools.comparison.side import Side, both_driven_alike, side_of
from isaacsim.core.experimental.actuators.tools.export import export, read_robot
from refusals import cases
from seeded_faults import ARM, ARM_XML

pytestmark = pytest.mark.skipif(core is None, reason="the native core is not built")


def test_the_largest_first() -> None:
    assert most_of({"a": 1.0, "b": 3.0, "c": 2.0, "d": 0.0}) == ["b", "c", "a"]


def noted(first: Side, second: Side, given: tuple[Side, Side] | None = None) -> tuple[str, Comparison]:
    plan = plan_of(first, second, seconds=0.5)
    found = compare(first, second, plan)
    return "\n".join(notes_on(found, plan, given or (first, second), [])), found


def test_what_no_cause_explains_is_named_by_what_it_changes(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("robot") / "moon.xml"
    path.write_text(ARM_XML.read_text().replace('timestep="0.002"', 'timestep="0.002" gravity="0 0 -1.6"'))
    text, found = noted(side_of(ARM_XML), side_of(path))
    assert found.unexplained > 0.9 and "In the same pose, the effort against gravity of shoulder is" in text
    assert "geometry, masses or gravity of the files differ" in text and "the inertia of" not in text


def test_motors_that_the_other_file_cannot_hold_come_first(tmp_path: Path) -> None:
    motors = {".*": [PDControlConfig(200.0, 20.0), FrictionConfig(0.5, 0.25, motor_load=0.1)]}
    curve = "Stribeck, load and curve parts of law passive friction of 2 joints (motor_load 0.1): shoulder, extension."
    export(read_robot(ARM_XML, motors), "mjcf", exported := tmp_path / "exported.xml", lossy=True)
    given = "exported.xml has given motors here; those that it has itself are not compared."
    for first, second, more in (
        (side_of(ARM, motors), side_of(exported), []),
        (side_of(exported), side_of(ARM, motors), []),
        (side_of(ARM, motors), side_of(exported, motors), [given]),
    ):
        text, _ = noted(*both_driven_alike(first, second)[:2], (first, second))
        found = text.splitlines()
        assert found[: 1 + len(more)] == [f"exported.xml cannot hold: {curve}", *more]
        assert found[1 + len(more)].startswith("The motions ")
    text, _ = noted(side_of(ARM_XML, motors), side_of(ARM_XML, motors))
    assert "cannot hold" not in text


@pytest.mark.slow
def test_a_side_that_diverges_and_a_joint_of_one_side() -> None:
    wild = side_of(ARM, {".*": MotorConfig(PDControlConfig(1e9, 0.0))})
    text, _ = noted(dataclasses.replace(side_of(ARM), joints=("shoulder",)), wild)
    assert "The second simulation diverged at" in text and "Only the second has extension: not compared." in text


def test_joints_with_equal_values_share_a_row() -> None:
    found = {("a", "kp"): (1.0, 2.0), ("b", "kp"): (1.0, 2.0), ("b", "kd"): (3.0, None), ("", "dt"): (0.1, 0.2)}
    rows = rows_of(found)
    assert rows == [Row(("a", "b"), "kp", 1.0, 2.0), Row(("b",), "kd", 3.0, None), Row((), "dt", 0.1, 0.2)]
    assert summary(rows, second=False) == "kp 1; kd 3; dt 0.1"
    assert summary(rows, second=True) == "kp 2; kd none; dt 0.2"
    assert summary([*rows, *rows], second=True).endswith("dt 0.2; …")


def test_values() -> None:
    assert text(math.inf) == "∞"
    assert text([1.0, 2.0, 3.0]) == "1, 2, 3" and text([1.0, 0, 0, 0, 2.0, 0, 0, 0, 3.0]) == "1, 2, 3"


@cases("factor", 180 / math.pi, math.pi / 180)
def test_degrees_are_told_by_their_factor(factor: float) -> None:
    (hint,) = hints([Row(("knee",), "PD.kp", 20.0, 20.0 * factor)])
    assert "degrees in place of radians?" in hint and "knee" in hint


def test_a_limit_that_is_none() -> None:
    (hint,) = hints([Row(("knee",), "max effort.max_effort", 20.0, 1e9)])
    assert "no limit?" in hint


@cases("row", Row(("a",), "kp", 1.0, 50.0), Row(("a",), "kp", 0.0, 57.3), Row(("a",), "kp", None, 1))
def test_other_values_have_no_hint(row: Row) -> None:
    assert hints([row]) == []
