"""The picture of a run: time of a step over the number of robots, one panel per pipeline."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .candidates import SECTIONS, STREAM, Known
from .measure import Case
from .problem import PIPELINES

_STYLES: dict[str, dict[str, Any]] = {
    Known.OURS: {"color": "black", "linewidth": 2.8, "zorder": 3},
    STREAM: {"color": "gray", "linestyle": ":"},
}


def draw(cases: Sequence[Case], path: Path) -> None:
    """Save the picture of the first robot measured, on the engine when that was measured."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    first = cases[0]
    chosen = [c for c in cases if (c.section, c.robot, c.per_robot) == (first.section, first.robot, first.per_robot)]
    pipelines = [name for name in PIPELINES if any(case.pipeline == name for case in chosen)]
    # the last panel is for the legend
    columns = min(4, len(pipelines) + 1)
    rows = math.ceil((len(pipelines) + 1) / columns)
    size = (4 * columns, 3.4 * rows)
    figure, grid = pyplot.subplots(rows, columns, figsize=size, sharey=True, squeeze=False, layout="constrained")
    for axes, pipeline in zip(grid.flat, pipelines, strict=False):
        _draw_panel(axes, pipeline, [case for case in chosen if case.pipeline == pipeline])
    for axes in grid.flat[len(pipelines) :]:
        axes.axis("off")
    grid.flat[-1].legend(*grid.flat[0].get_legend_handles_labels(), loc="center", frameon=False)
    figure.supxlabel("robots")
    figure.supylabel("CPU time per step [µs]")
    figure.suptitle(f"{SECTIONS[first.section][0]}, robot {first.robot}, shared parameters")
    figure.savefig(path, dpi=120)
    pyplot.close(figure)


def _draw_panel(axes: Any, title: str, cases: Sequence[Case]) -> None:
    names = list(dict.fromkeys(name for case in cases for name in case.outcomes))
    for number, name in enumerate(names):
        points = sorted(
            (case.num_robots, seconds * 1e6) for case in cases if (seconds := case.outcomes[name].seconds) is not None
        )
        style = {"color": f"C{number - 1}", "linewidth": 1.3, **_STYLES.get(name, {})}
        axes.plot([x for x, _ in points], [y for _, y in points], marker="o", markersize=3.5, label=name, **style)
    axes.set(xscale="log", yscale="log", title=title)
    sizes = sorted({case.num_robots for case in cases})
    axes.set_xticks(sizes, [f"{size // 1024}k" if size >= 1024 else f"{size}" for size in sizes])
    axes.minorticks_off()
    axes.grid(alpha=0.3)
