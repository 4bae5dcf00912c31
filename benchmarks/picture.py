"""The picture of a run: time of a step over the number of robots, one panel per pipeline."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from isaacsim.core.experimental.actuators.toolbox.plots import style

from .candidates import SECTIONS, STREAM, Known
from .measure import Case
from .problem import PIPELINES

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
    columns = min(4, len(pipelines))
    rows = math.ceil(len(pipelines) / columns)
    title = f"{SECTIONS[first.section][0]}, robot {first.robot}, shared parameters: CPU time of a step over robots"
    drawn, panels = style.panels(4.6 * columns, 3.6 * rows, title, rows=rows, columns=columns)
    for panel, pipeline in zip(panels, pipelines, strict=False):
        style.caption(panel, pipeline)
        panel.set(xscale="log", yscale="log")
        panel.set_ylabel("CPU time per step [µs]" if panel in panels[::columns] else "")
    for panel in panels[len(pipelines) :]:
        panel.set_axis_off()
    # also above an empty panel
    for panel in panels[len(pipelines) - columns : len(pipelines)]:
        panel.tick_params(labelbottom=True)
        panel.set_xlabel("robots")
    labels = [_draw_panel(panel, [c for c in chosen if c.pipeline == p]) for panel, p in zip(panels, pipelines)]  # noqa: B905
    # panels of a row share their scale, which is known when all are drawn
    for panel, ends in zip(panels, labels, strict=False):
        style.label_ends(panel, ends)
    style.save(drawn, path)


def _draw_panel(panel: Any, cases: Sequence[Case]) -> list[tuple[np.ndarray, str, str]]:
    """Draw the results; return the names of the curves and their end points."""
    names, labels = list(dict.fromkeys(name for case in cases for name in case.outcomes)), []
    peers = iter(_PEERS)
    for name in names:
        points = sorted(
            (case.num_robots, seconds * 1e6) for case in cases if (seconds := case.outcomes[name].seconds) is not None
        )
        line = _STYLES.get(name) or {"color": next(peers), "linewidth": style.PLAIN}
        sizes, times = np.array(points).reshape(-1, 2).T
        panel.plot(sizes, times, marker="o", markersize=3.5, clip_on=False, **line)
        labels.append((times, name, line["color"]))
    sizes = sorted({case.num_robots for case in cases})
    panel.set_xticks(sizes, [f"{size // 1024}k" if size >= 1024 else f"{size}" for size in sizes])
    panel.minorticks_off()
    return labels
