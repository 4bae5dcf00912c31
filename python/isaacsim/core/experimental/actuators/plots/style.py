"""The style of all plots: colours, lines, axes, and names written where curves end."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..extras import needs

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# colours that everybody can tell apart: Okabe and Ito, without the yellow that white swallows
BLUE, RED, GREEN, PINK, ORANGE, SKY, BLACK = COLORS = (
    *("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"),
)
GREY = "#555555"
"""Of what was asked for, of limits and of what serves to compare."""
THICK, PLAIN, THIN = 2.2, 1.6, 1.0
"""Widths of lines: what a plot is about, what it compares, and the rest."""
SHADE = 0.12
"""Opacity of areas."""
APART = 0.075
"""Least distance of labels, of the height of a panel."""

_DPI = 110
# more labels than that are small
_MANY = 14


def figure(width: float, height: float) -> Figure:
    """Return an empty figure of so many inches, that belongs to no window and leaves the caller's figures be.

    Raises:
        ModuleNotFoundError: Matplotlib is missing.
    """
    with needs("A plot", "examples"):
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    empty = Figure(figsize=(width, height), dpi=_DPI, layout="constrained")
    FigureCanvasAgg(empty)
    return empty


def dress(panels: Iterable[Axes]) -> None:
    """Give panels their axes and grid."""
    for panel in panels:
        panel.spines[["top", "right"]].set_visible(False)
        panel.grid(alpha=0.25)
        panel.set_axisbelow(True)
        panel.margins(x=0)


def headline(of: Figure, text: str) -> None:
    """Write what the figure shows above it."""
    of.suptitle(text, x=0.01, ha="left", fontweight="bold")


def caption(panel: Axes, text: str) -> None:
    """Write what a panel shows above it."""
    panel.set_title(text, loc="left", fontsize="medium")


def label_ends(panel: Axes, labels: Sequence[tuple[np.ndarray, str, Any]], apart: float = APART) -> None:
    """Write names to the right of where curves end, in their colours and not over each other.

    Args:
        panel: Its limits are final.
        labels: Values of the curve, name and colour of each.
        apart: Least distance, of the height of the panel.
    """
    ends = []
    # scales are not there before somebody asks
    panel.get_ylim()
    for values, text, color in labels:
        finite = values[np.isfinite(values)]
        if len(finite):
            place = panel.transAxes.inverted().transform(panel.transData.transform((1.0, float(finite[-1]))))[1]
            ends.append((float(np.clip(place, 0.0, 1.0)), text, color))
    ends.sort(key=lambda end: end[0])
    places = spread([end[0] for end in ends], min(apart, 1.0 / max(1, len(ends) - 1)))
    size = "small" if len(ends) <= _MANY else "xx-small"
    for place, (_, text, color) in zip(places, ends, strict=True):
        panel.annotate(
            text, (1, place), (5, 0), "axes fraction", "offset points", color=color, va="center", fontsize=size
        )


def spread(places: Sequence[float], apart: float) -> np.ndarray:
    """Return places between 0 and 1, ascending as those given, no two closer than `apart`, each moved by the least."""
    # neighbours that are too close share the room around their mean: isotonic regression
    blocks: list[list[float]] = []
    for count, place in enumerate(places):
        blocks.append([place - count * apart, 1.0])
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            (mean, size), (other, more) = blocks.pop(), blocks.pop()
            blocks.append([(mean * size + other * more) / (size + more), size + more])
    starts = np.repeat([mean for mean, _ in blocks], [int(size) for _, size in blocks])
    return np.clip(starts, 0.0, max(0.0, 1.0 - (len(places) - 1) * apart)) + apart * np.arange(len(places))


def save(drawn: Figure, path: str | os.PathLike[str] | None) -> Figure:
    """Write a figure to a file, with an extension that Matplotlib knows; None writes none. Returns the figure."""
    if path is not None:
        drawn.savefig(path)
    return drawn
