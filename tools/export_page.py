"""Write the table of laws of `docs/tutorials/out_to_the_robot.md` from exports that are read back."""

from __future__ import annotations

import math
import sys
import tempfile
from pathlib import Path

from isaacsim.core.experimental.actuators.tools.export.c_carried import refused
from isaacsim.core.experimental.actuators.tools.export.robot import FEATURES
from isaacsim.core.experimental.actuators.tools.export.targets import TARGETS
from public_names import filled

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tests" / "support"))
# the rows and readers of the test of the round trip
from round_trip import PD, Row, difference, read_back, robot_of, rows  # noqa: E402  # pyright: ignore[reportMissingImports]

PAGE = ROOT / "docs" / "tutorials" / "out_to_the_robot.md"


def outputs() -> dict[Path, str]:
    """Return the page with the updated table."""
    lines = [["kind", "law", *(f"`{name}`" for name in TARGETS)], ["---"] * (2 + len(TARGETS))]
    with tempfile.TemporaryDirectory() as folder:
        for row in rows(Path(folder)):
            lines.append([row.kind, f"`{row.law}`", *(_cell(row, target, Path(folder)) for target in TARGETS)])
    table = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    text = PAGE.read_text("utf-8")
    return {PAGE: filled(PAGE, text, "<!-- generated: laws -->\n", table, "<!-- end of generated -->")}


def _cell(row: Row, target: str, folder: Path) -> str:
    """Return what a target has of a law: all, a part, a motor without it, nothing, or that it is left to the robot."""
    robot, line, base = row.robot, TARGETS[target], robot_of([PD])
    if target == "c":
        return "-" if any(any(refused(joint)) for joint in robot.joints) else "yes"
    usual = () if row.kind == "controller" else {one.what for one in line.losses(base)}
    losses, left = ([one.what for one in named(robot)] for named in (line.losses, line.left))
    if not set(losses).difference(usual):
        return "left" if left else "yes"
    joint = robot.joints[0]
    kept = {name for name in joint.features if not any(one.startswith(FEATURES[name]) for one in losses + left)}
    kept |= {"max_effort"} if math.isfinite(joint.largest_effort) else set()
    if not kept & line.says:
        return "-"
    own = kept if row.kind == "controller" else kept - base.joints[0].features.keys()
    share = difference(robot, read_back(robot, target, folder))
    differs = f"{100.0 * share:.0f} %" if share >= 0.01 else "< 1 %"
    return f"{'part' if own & line.says else 'without'}, {differs}"
