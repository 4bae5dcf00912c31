"""Style of all plots: colors, lines, axes, and labels at the ends of curves."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...base.extras import needs
from ...base.saving import require_place, whole_file
from ...specs.arguments import path_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# the color-blind safe palette of Okabe and Ito, without yellow, which is invisible on white
BLUE, RED, GREEN, PINK, ORANGE, SKY, BLACK = COLORS = (
    *("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"),
)
GREY = "#555555"
"""Color of targets, limits and references."""
THICK, PLAIN, THIN = 2.2, 1.6, 1.0
"""Widths of lines: main curve, compared curves, others."""
BROAD: dict[str, Any] = {"linewidth": 5.0, "alpha": 0.35}
"""Style of a curve below another one."""
DASHED: dict[str, Any] = {"color": GREY, "linestyle": "--", "linewidth": THIN}
"""Style of targets, limits and thresholds."""
DOTS: dict[str, Any] = {"color": "black", "linestyle": "", "marker": ".", "markersize": 2.5, "zorder": 3}
"""Style of points of a reference on top of curves."""
SHADE = 0.12
"""Opacity of areas."""

_DPI = 110
# of curves beyond those that colors tell apart
_DASHES = "-", (0, (6, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2))
# smallest distance of labels, of the height of a panel, and in inches by their size
_APART, _LINES = 0.075, {"small": 0.16, "xx-small": 0.11}
# ends that no eye tells apart, of the height of a panel
_ALIKE = 0.004
# more labels than that are small
_MANY = 14
# settling tolerance of curves, of their range, and plotted time, of the settling time
_RESTS, _LONGER = 0.02, 1.6


def figure(width: float, height: float, headline: str | None = None) -> Figure:
    """Return an empty figure of a size in inches, which belongs to no window and to no state of pyplot."""
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
    """Return a figure [inch] with a headline and panels row by row; columns share the x axis, rows the y axis."""
    drawn = figure(width, height, headline)
    grid = drawn.subplots(rows, columns, sharex="col", sharey="row", squeeze=False, height_ratios=heights)
    dress(grid.flat)
    return drawn, list(grid.flat)


def dress(panels: Iterable[Axes]) -> None:
    """Set axes and grid of panels."""
    for panel in panels:
        panel.spines[["top", "right"]].set_visible(False)
        panel.grid(alpha=0.25)
        panel.set_axisbelow(True)
        panel.margins(x=0)


def caption(panel: Axes, text: str) -> None:
    """Set the title of a panel."""
    panel.set_title(text, loc="left", fontsize="medium")


def key(panel: Axes, lines: Mapping[str, Mapping[str, object]], areas: Mapping[str, str] | None = None) -> None:
    """Explain styles of lines and colors of areas, by the words for them, to the right of the title of a panel."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    shown: list[Any] = [Line2D([], [], **{"color": GREY, **line, "label": word}) for word, line in lines.items()]
    shown += [Patch(color=color, alpha=2 * SHADE, linewidth=0, label=word) for word, color in (areas or {}).items()]
    if shown:
        place: dict[str, Any] = {"loc": "lower right", "bbox_to_anchor": (1.0, 1.0), "borderaxespad": 0.1}
        panel.legend(handles=shown, ncols=len(shown), frameon=False, fontsize="small", **place)


def mark(panel: Axes, words: str | None = None, *, x: float | None = None, y: float | None = None) -> None:
    """Draw a dashed line across a panel, upright at `x` or level at `y`, and explain it beside the title."""
    for draw, place in ((panel.axvline, x), (panel.axhline, y)):
        if place is not None:
            draw(place, **DASHED)
    if words is not None:
        key(panel, {words: DASHED})


def until_rest(time: np.ndarray, curves: np.ndarray) -> slice:
    """Return the rows until all curves, a column each, have settled, and a little longer; all rows if one does not."""
    reach = np.ptp(curves, axis=0)
    moving = np.flatnonzero((np.abs(curves - curves[-1]) > _RESTS * reach).any(axis=1))
    rests = time[moving[-1]] if len(moving) else time[0]
    return slice(0, int(np.searchsorted(time, _LONGER * rests, side="right")))


def shades(count: int) -> list[str]:
    """Return colors of a family of curves, from dark to light."""
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    return [to_hex(colormaps["viridis"](place)) for place in np.linspace(0.0, 0.85, count)]


def line_of(number: int) -> dict[str, Any]:
    """Return color and dashes of one of many curves, of which 28 differ."""
    again, color = divmod(number, len(COLORS))
    return {"color": COLORS[color], "linestyle": _DASHES[again % len(_DASHES)]}


def lines(
    panel: Axes,
    x: npt.ArrayLike,
    curves: np.ndarray,
    names: Sequence[str] | None = None,
    colors: Sequence[str] | None = None,
    **line: Any,
) -> None:
    """Draw curves, `(points, curves)` over x `(points,)` or a column each, with labels at their ends.

    `panel` has its other curves and final scales. `colors` are repeated as needed, by default those of `line_of`;
    `line` has other properties of Matplotlib's lines.
    """
    styles = [
        line_of(number) if colors is None else {"color": colors[number % len(colors)]}
        for number in range(curves.shape[-1])
    ]
    places = np.broadcast_to(np.transpose(x), curves.T.shape)
    for place, curve, style in zip(places, curves.T, styles, strict=True):
        panel.plot(place, curve, **{**style, "linewidth": PLAIN, **line})
    shown = [style["color"] for style in styles]
    label_ends(panel, list(zip(curves.T, names or [], shown, strict=names is not None)))


def bands(panel: Axes, x: npt.ArrayLike, samples: np.ndarray, of: str, shares: Sequence[int] = (50, 90, 100)) -> None:
    """Draw the distribution of samples `(points, samples)` as a median and bands of shares [%], with labels."""
    median = np.median(samples, axis=1)
    labels = [(median, "median", BLUE)]
    for share in shares:
        low, high = np.percentile(samples, [50 - share / 2, 50 + share / 2], axis=1)
        panel.fill_between(x, low, high, color=BLUE, alpha=1.5 * SHADE, linewidth=0)
        labels.insert(0, (high, f"{share} % of {of}" if share < 100 else f"all {of}", BLUE))
    panel.plot(x, median, color=BLUE, linewidth=THICK)
    label_ends(panel, labels)


def label_ends(panel: Axes, labels: Sequence[tuple[np.ndarray, str, object]]) -> None:
    """Write labels to the right of the ends of curves, in their colors and without overlap, in the order of the ends.

    Ends beyond the panel count; labels of equal ends keep their order, the first on top.
    """
    ends = []
    # Matplotlib computes scales on request
    panel.get_ylim()
    for number, (values, *_) in enumerate(labels):
        finite = values[np.isfinite(values)]
        if len(finite):
            place = panel.transAxes.inverted().transform(panel.transData.transform((1.0, float(finite[-1]))))[1]
            ends.append((float(place), number))
    ends = _ordered(ends)
    inside = np.clip([place for place, _ in ends], 0.0, 1.0)
    size = "small" if len(ends) <= _MANY else "xx-small"
    drawn = panel.figure
    assert drawn is not None
    apart = max(_APART, _LINES[size] / float(panel.bbox.height / drawn.dpi))
    places = separate(inside.tolist(), min(apart, 1.0 / max(1, len(ends) - 1)))
    for place, (_, number) in zip(places, ends, strict=True):
        _, text, color = labels[number]
        panel.annotate(
            text, (1, place), (5, 0), "axes fraction", "offset points", color=color, va="center", fontsize=size
        )


def _ordered(ends: Sequence[tuple[float, int]]) -> list[tuple[float, int]]:
    """Return ends and numbers of their curves in ascending order, equal ones at their mean, the last curve first."""
    groups: list[list[tuple[float, int]]] = []
    for place, number in sorted(ends):
        if groups and place - groups[-1][0][0] <= _ALIKE:
            groups[-1].append((place, number))
        else:
            groups.append([(place, number)])
    means = [float(np.mean([place for place, _ in group])) for group in groups]
    return [
        (mean, number)
        for mean, group in zip(means, groups, strict=True)
        for number in sorted((number for _, number in group), reverse=True)
    ]


def separate(places: Sequence[float], apart: float) -> np.ndarray:
    """Return ascending places between 0 and 1 with a smallest distance, moved as little as possible."""
    # isotonic regression: neighbors that are too close share the space around their mean
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
        require_picture(path)
        # some formats raise other errors on a full disk
        content = io.BytesIO()
        drawn.savefig(content, format=Path(path).suffix[1:].lower())
        with whole_file(path) as written:
            written.write_bytes(content.getvalue())
    return drawn


def require_picture(path: str | os.PathLike[str] | None) -> None:
    """Raise if no picture could be saved to a path; None asks for none."""
    if path is None:
        return
    with needs("A plot", "examples"):
        from matplotlib.backends.backend_agg import FigureCanvasAgg
    require_place(path_of("path", path))
    known = [f".{one}" for one in FigureCanvasAgg.get_supported_filetypes()]
    if Path(path).suffix.lower() not in known:
        raise ValueError(f"{path}: must end with {', '.join(known)}. Rename the file.")
