"""The table of robots: one that is as its original behaves, and what is not is found, hangs included."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from places import REPOSITORY, ROBOTS

WHERE = os.environ | {"PYTHONPATH": str(REPOSITORY / "python")}


def table(place: Path, *options: str) -> tuple[dict[str, dict[str, Any]], str]:
    """What was found about the robots at a place, by name, and what was printed."""
    result = place / "result.json"
    command = [sys.executable, "-m", "tests.robots", place, "--only", ".usda", "--json", result, *options]
    done = subprocess.run(command, capture_output=True, text=True, cwd=REPOSITORY, env=WHERE, check=True)
    return {row["name"]: row for row in json.loads(result.read_text())}, done.stdout


def test_a_robot_behaves_as_its_original_and_another_does_not(tmp_path: Path) -> None:
    """The second arm differs from the original beside it in all that is compared."""
    usd, xml = ((ROBOTS / f"arm_2dof.{end}").read_text() for end in ("usda", "xml"))
    other = xml.replace('mass="2"', 'mass="3"').replace('range="0 0.4"', 'range="0 0.5" damping="1"')
    coupled = '<equality><joint joint1="extension" joint2="shoulder" polycoef="0.2 0 0 0 0"/></equality>'
    for name, original in (("same", xml), ("other", other.replace("</mujoco>", f"{coupled}</mujoco>"))):
        (tmp_path / f"{name}.usda").write_text(usd)
        (tmp_path / f"{name}.xml").write_text(original)
    rows, printed = table(tmp_path)
    assert rows["same.usda"]["wrong"] == []
    assert rows["same.usda"]["found"]["driven"] == 2
    found = [reason.split()[0] for reason in rows["other.usda"]["wrong"]]
    assert found == ["mass", "bias", "range", "friction", "coupling"]
    assert "opens 2 of 2 that MuJoCo opens, behaves 1 of 2" in printed


def test_a_process_that_does_not_end_is_a_line_of_the_table(tmp_path: Path) -> None:
    """The robot is given less time than Python needs to start."""
    (tmp_path / "arm.usda").write_text((ROBOTS / "pendulum.usda").read_text())
    rows, printed = table(tmp_path, "--seconds", "0.01")
    assert rows["arm.usda"]["wrong"] == ["start: no end after 0.01 s: "]
    assert "opens 0 of 1" in printed
