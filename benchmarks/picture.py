"""The picture of a run: how many times as long as ours a step of the others takes, over the number of robots."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from isaacsim.core.experimental.actuators.tools.plots import style

from .candidates import STREAM, Known
from .measure import Case
from .problem import ROBOTS

_COLORS = (style.BLUE, style.RED, style.GREEN, style.PINK, style.ORANGE, style.SKY)


def draw(cases: Sequence[Case], path: Path) -> None:
    """Save the picture of the first measured robot: a line for each candidate, the mean over pipelines, and a band."""
    first = cases[0]
    chosen = [c for c in cases if (c.section, c.robot, c.per_robot) == (first.section, first.robot, first.per_robot)]
    sizes = sorted({case.num_robots for case in chosen})
    names = list(dict.fromkeys(name for case in chosen for name in case.outcomes))
    columns = ROBOTS[first.robot]
    drawn, (panel,) = style.panels(9, 4.6)
    panel.set(xscale="log", yscale="log", xlabel="robots", ylabel="time of a step, as a multiple of ours")
    shown, labels = [], [(np.ones(1), "ours", style.BLACK)]
    for name, color in zip((one for one in names if one not in (Known.OURS, STREAM)), _COLORS, strict=False):
        ratios = [[case.ratio(name) for case in chosen if case.num_robots == size] for size in sizes]
        found = [np.array([one for one in at if one is not None]) for at in ratios]
        if not all(len(one) for one in found):
            continue
        means = np.array([np.exp(np.log(one).mean()) for one in found])
        panel.fill_between(sizes, [one.min() for one in found], [one.max() for one in found], color=color, alpha=0.12)
        panel.plot(sizes, means, color=color, linewidth=style.THICK, marker="o", markersize=4, clip_on=False)
        shown += [float(one) for each in found for one in each]
        labels.append((means, name, color))
    panel.axhline(1.0, color=style.BLACK, linewidth=style.THICK)
    panel.set_xticks(sizes, [f"{size // 1024}k" if size >= 1024 else f"{size}" for size in sizes])
    panel.minorticks_off()
    style.label_ends(panel, labels)
    if shown:
        drawn.suptitle(
            f"A step of others takes {min(shown):.2g} to {float(f'{max(shown):.2g}'):,.0f} times as long",
            x=0.01,
            ha="left",
            fontweight="bold",
        )
    pipelines = len({case.pipeline for case in chosen})
    style.caption(
        panel, f"{columns.num_columns - columns.first} joints; line: mean over {pipelines} pipelines, band: all of them"
    )
    style.save(drawn, path)
