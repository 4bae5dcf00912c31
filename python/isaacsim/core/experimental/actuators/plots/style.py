"""The style of all plots: colours, lines, axes, and names written where curves end."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..extras import needs
from ..saving import require_place, whole_file
from ..specs.arguments import path_of

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
BROAD: dict[str, Any] = {"linewidth": 5.0, "alpha": 0.35}
"""Of a curve on which another one lies."""
SHADE = 0.12
"""Opacity of areas."""
APART = 0.075
"""Least distance of labels, of the height of a panel."""

_DPI = 110
# more labels than that are small
_MANY = 14
# this near, as a share of the way, to where a curve ends it rests; what is shown lasts so much longer
_RESTS, _LONGER = 0.02, 1.6


def figure(width: float, height: float, headline: str | None = None) -> Figure:
    """Return an empty figure of so many inches, that belongs to no window and leaves the caller's figures be.

    Raises:
        ModuleNotFoundError: Matplotlib is missing.
    """
    with needs("A plot", "examples"):
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    empty = Figure(figsize=(width, height), dpi=_DPI, layout="constrained")
    FigureCanvasAgg(empty)
    if headline is not None:
        empty.suptitle(headline, x=0.01, ha="left", fontweight="bold")
    return empty


def panels(
    width: float,
    height: float,
    headline: str | None = None,
    *,
    rows: int = 1,
    columns: int = 1,
    heights: Sequence[float] | None = None,
) -> tuple[Figure, list[Axes]]:
    """Return a figure and its panels, row by row; columns share the axis below, rows the one beside them.

    Args:
        width: Of the figure [inch].
        height: Likewise.
        headline: What the figure shows, written above it.
        rows: How many panels are one under the other.
        columns: How many stand side by side.
        heights: Of the rows, relative to each other.

    Raises:
        ModuleNotFoundError: Matplotlib is missing.
    """
    drawn = figure(width, height, headline)
    grid = drawn.subplots(rows, columns, sharex="col", sharey="row", squeeze=False, height_ratios=heights)
    dress(grid.flat)
    return drawn, list(grid.flat)


def dress(panels: Iterable[Axes]) -> None:
    """Give panels their axes and grid."""
    for panel in panels:
        panel.spines[["top", "right"]].set_visible(False)
        panel.grid(alpha=0.25)
        panel.set_axisbelow(True)
        panel.margins(x=0)


def caption(panel: Axes, text: str) -> None:
    """Write what a panel shows above it."""
    panel.set_title(text, loc="left", fontsize="medium")


def until_rest(time: np.ndarray, curves: np.ndarray) -> slice:
    """Return the rows that are worth showing: until all curves rest, and a little longer; all if one never does.

    Args:
        time: Ascending, the motion begins at 0, shape `(points,)`.
        curves: A column each, shape `(points, curves)`.
    """
    reach = np.ptp(curves, axis=0)
    moving = np.flatnonzero((np.abs(curves - curves[-1]) > _RESTS * reach).any(axis=1))
    rests = time[moving[-1]] if len(moving) else time[0]
    return slice(0, int(np.searchsorted(time, _LONGER * rests, side="right")))


def shades(count: int) -> list[str]:
    """Return the colours of curves that are one family, from dark to light."""
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    return [to_hex(colormaps["viridis"](place)) for place in np.linspace(0.0, 0.85, count)]


def lines(
    panel: Axes,
    x: Any,
    curves: np.ndarray,
    names: Sequence[str] | None = None,
    colors: Sequence[str] = COLORS,
    *,
    apart: float = APART,
    **line: Any,
) -> None:
    """Draw curves, and write their names where they end.

    Args:
        panel: Where; its other curves and its scales are there.
        x: Of the points, shape `(points,)`, or a column for each curve.
        curves: A column each, shape `(points, curves)`.
        names: Of the curves; None writes none.
        colors: Likewise; they start over when there are fewer.
        apart: Least distance of names, of the height of the panel.
        line: What else Matplotlib is told of the lines.
    """
    chosen = [colors[number % len(colors)] for number in range(curves.shape[-1])]
    places = np.broadcast_to(np.transpose(x), curves.T.shape)
    for place, curve, color in zip(places, curves.T, chosen, strict=True):
        panel.plot(place, curve, **{"color": color, "linewidth": PLAIN, **line})
    label_ends(panel, list(zip(curves.T, names or [], chosen, strict=names is not None)), apart)


def bands(panel: Axes, x: Any, samples: np.ndarray, of: str, shares: Sequence[int] = (50, 90, 100)) -> None:
    """Draw how samples are distributed, as a median and bands around it, and name them where they end.

    Args:
        panel: Where; its scales are there.
        x: Of the points, shape `(points,)`.
        samples: At each point, shape `(points, samples)`.
        of: What they are samples of.
        shares: How many percent of the samples lie in each band.
    """
    median = np.median(samples, axis=1)
    labels = [(median, "median", BLUE)]
    for share in shares:
        low, high = np.percentile(samples, [50 - share / 2, 50 + share / 2], axis=1)
        panel.fill_between(x, low, high, color=BLUE, alpha=1.5 * SHADE, linewidth=0)
        labels.insert(0, (high, f"{share} % of {of}" if share < 100 else f"all {of}", BLUE))
    panel.plot(x, median, color=BLUE, linewidth=THICK)
    label_ends(panel, labels)


def label_ends(panel: Axes, labels: Sequence[tuple[np.ndarray, str, Any]], apart: float = APART) -> None:
    """Write names to the right of where curves end, in their colours and not over each other.

    Those of curves that end alike stand in their order, the first on top.

    Args:
        panel: Its limits are final.
        labels: Values of the curve, name and colour of each.
        apart: Least distance, of the height of the panel.
    """
    ends = []
    # scales are not there before somebody asks
    panel.get_ylim()
    for number, (values, text, color) in enumerate(labels):
        finite = values[np.isfinite(values)]
        if len(finite):
            place = panel.transAxes.inverted().transform(panel.transData.transform((1.0, float(finite[-1]))))[1]
            place = float(np.clip(place, 0.0, 1.0))
            ends.append((round(place, 2), -number, place, text, color))
    ends.sort()
    places = spread([place for _, _, place, *_ in ends], min(apart, 1.0 / max(1, len(ends) - 1)))
    size = "small" if len(ends) <= _MANY else "xx-small"
    for place, (*_, text, color) in zip(places, ends, strict=True):
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
    """Write a figure to a file, with an extension that Matplotlib knows; None writes none. Returns the figure.

    Raises:
        OSError: The file cannot be written; nothing is left of it.
        ValueError: Matplotlib does not know the extension.
    """
    if path is not None:
        require_picture(path)
        # on a full disk some formats end in errors of another kind
        content = io.BytesIO()
        drawn.savefig(content, format=Path(path).suffix[1:].lower())
        with whole_file(path) as written:
            written.write_bytes(content.getvalue())
    return drawn


def require_picture(path: str | os.PathLike[str]) -> None:
    """Refuse a place where no picture could be saved in the end.

    Raises:
        OSError: No file can be written there.
        ValueError: Matplotlib does not know the extension.
        ModuleNotFoundError: Matplotlib is missing.
    """
    with needs("A plot", "examples"):
        from matplotlib.backends.backend_agg import FigureCanvasAgg
    require_place(path_of("path", path))
    known = [f".{one}" for one in FigureCanvasAgg.get_supported_filetypes()]
    if Path(path).suffix.lower() not in known:
        raise ValueError(f"{path}: must end with {', '.join(known)}. Rename the file.")
