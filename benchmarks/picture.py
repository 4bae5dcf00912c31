"""The picture of a run: time of a step over the number of robots, one panel per pipeline."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from isaacsim.core.experimental.actuators.tools.plots import style

from .candidates import SECTIONS, STREAM, Known
from .measure import Case
from .problem import PIPELINES, ROBOTS

# what the key says in place of a name
_WORDS = {STREAM: "memory bandwidth alone"}
_PEERS = (style.BLUE, style.RED, style.GREEN, style.PINK, style.ORANGE, style.SKY)
_STYLES: dict[str, dict[str, Any]] = {
    Known.OURS: {"color": style.BLACK, "linewidth": style.THICK, "zorder": 3},
    STREAM: {"color": style.GREY, "linewidth": style.THIN, "linestyle": ":"},
}


def draw(cases: Sequence[Case], path: Path) -> None:
    """Save the picture of the first measured robot, preferably on the engine."""
    first = cases[0]
    chosen = [c for c in cases if (c.section, c.robot, c.per_robot) == (first.section, first.robot, first.per_robot)]
    pipelines = [name for name in PIPELINES if any(case.pipeline == name for case in chosen)]
    # a place is left for the key
    columns = min(4, len(pipelines) + 1)
    rows = math.ceil((len(pipelines) + 1) / columns)
    joints = ROBOTS[first.robot]
    count = joints.num_columns - joints.first
    whose = "parameters of each robot" if first.per_robot else "shared parameters"
    title = f"{SECTIONS[first.section][0]}, {count} joints, {whose}: lower is faster"
    drawn, panels = style.panels(3.7 * columns, 3.4 * rows, title, rows=rows, columns=columns)
    lines: dict[str, Any] = {}
    for number, (panel, pipeline) in enumerate(zip(panels, pipelines, strict=False)):
        style.caption(panel, pipeline)
        panel.set(xscale="log", yscale="log")
        lines |= _draw_panel(panel, [case for case in chosen if case.pipeline == pipeline])
        if number % columns == 0:
            panel.set_ylabel("time of a step [µs]")
        if number + columns >= len(pipelines):
            panel.tick_params(labelbottom=True)
            panel.set_xlabel("robots")
    for panel in panels[len(pipelines) :]:
        panel.set_axis_off()
    panels[-1].legend(lines.values(), lines.keys(), loc="center", frameon=False)
    style.save(drawn, path)


def _draw_panel(panel: Any, cases: Sequence[Case]) -> dict[str, Any]:
    """Draw the results, ours above the others; return the curves by name."""
    names = list(dict.fromkeys(name for case in cases for name in case.outcomes))
    peers, lines = iter(_PEERS), {}
    for name in names:
        points = sorted(
            (case.num_robots, seconds * 1e6) for case in cases if (seconds := case.outcomes[name].seconds) is not None
        )
        line = _STYLES.get(name) or {"color": next(peers), "linewidth": style.PLAIN}
        if not points:
            continue
        sizes, times = np.array(points).reshape(-1, 2).T
        (lines[_WORDS.get(name, name)],) = panel.plot(sizes, times, marker="o", markersize=3.5, clip_on=False, **line)
    sizes = sorted({case.num_robots for case in cases})
    panel.set_xticks(sizes, [f"{size // 1024}k" if size >= 1024 else f"{size}" for size in sizes])
    panel.minorticks_off()
    return lines
