"""Report of an identification: a page of HTML, and a picture of measured and simulated positions."""

from __future__ import annotations

import base64
import io
import math
import os
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from ...base.saving import require_place, whole_file
from ...specs.arguments import path_of
from ..plots.identified import Comparison, draw_comparison
from ..plots.style import require_picture, save
from .identified import ColumnUse, Estimate, Identified, Replay
from .output import error_words, interval_words, unit_at_joint, units_of_errors
from .verdict import Verdict, verdicts

if TYPE_CHECKING:
    from ..plots.style import Figure

_STYLE = (
    "body{font:15px/1.5 sans-serif;max-width:70em;margin:2em auto;padding:0 1em;color:#222}"
    "table{border-collapse:collapse}th,td{padding:.25em .8em;border-bottom:1px solid #ddd;text-align:left}"
    "img{max-width:100%}.chosen{background:#e6f1f8;font-weight:bold}"
)


def plot_identified(identified: Identified, path: str | os.PathLike[str] | None = None) -> Figure:
    """Plot target, measured and simulated positions of each joint, for the first held-out log, or the first log.

    Args:
        identified: Result of `identify`.
        path: Picture to write, with an extension that Matplotlib knows, such as `.png` or `.svg`; None writes none.

    Returns:
        The figure of Matplotlib.

    Raises:
        ValueError: There is no log to draw, or Matplotlib does not know the extension.
        ModuleNotFoundError: Matplotlib is missing.
        OSError: The file cannot be written.
    """
    if path is not None:
        require_picture(path)
    replays = identified.replays
    if not replays:
        raise ValueError("identified.replays = (): must hold a log to draw. Identify with replays.")
    one = next((replay for replay in replays if replay.held_out), replays[0])
    log = one.log
    title = f"{Path(identified.robot).stem}, {log.source}, {'held out' if one.held_out else 'fitted'}"
    past = log.time - log.time[0]
    found = Comparison(title, log.joints, past, log.command, log.position, one.positions, one.turns)
    return save(draw_comparison(found), path)


def write_report(identified: Identified, path: str | os.PathLike[str]) -> None:
    """Write a page of HTML that needs no other file: errors, models, estimates, warnings, and a picture.

    Args:
        identified: Result of `identify`.
        path: File to write, ending in `.html` or `.htm`; an existing one is replaced.

    Raises:
        ValueError: The path has another ending.
        ModuleNotFoundError: Matplotlib is missing.
        OSError: The file cannot be written.
    """
    place = path_of("path", path)
    if place.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"{place}: must end in .html, .htm. Rename it.")
    require_place(place)
    page = "\n".join(_page(identified))
    with whole_file(place) as written:
        written.write_text(page, "utf-8")


def _page(identified: Identified) -> Iterable[str]:
    name = escape(Path(identified.robot).name)
    yield f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>Motors of {name}</title>'
    yield f"<style>{_STYLE}</style></head><body><h1>Motors of {name}, identified from logs</h1>"
    found, shipped = _milli(identified.error), _milli(identified.shipped)
    unit = units_of_errors(identified).milli
    yield (
        f"<p>Mean absolute position error {error_words(identified)}: <b>{found} {unit}</b>; with the motors of the "
        f"robot file {shipped}. Identified in {identified.seconds:.3g} s.</p>"
    )
    heads = ("joint", "verdict", f"error before [{unit}]", f"error [{unit}]", "what changed", "what is left")
    yield "<h2>Joints</h2>"
    yield from _table(heads, map(_verdict, verdicts(identified)))
    yield from _list("Warnings", identified.warnings)
    if identified.replays:
        content = io.BytesIO()
        plot_identified(identified).savefig(content, format="png")
        code = base64.b64encode(content.getvalue()).decode()
        yield '<h2>Measured and simulated</h2><img alt="Measured and simulated positions" '
        yield f'src="data:image/png;base64,{code}"><h2>Logs</h2>'
        yield from _table(("log", "use", "duration [s]", f"error [{unit}]"), map(_log, identified.replays))
    yield "<h2>Models</h2><p>Each joint by itself; the chosen model is marked.</p>"
    chosen = [model.name == identified.chosen for model in identified.models]
    scores = [
        (model.name, str(len(model.parameters)), _milli(model.training), _milli(model.validation), "chosen" * is_chosen)
        for model, is_chosen in zip(identified.models, chosen, strict=True)
    ]
    heads = ("model", "parameters", f"training error [{unit}]", f"validation error [{unit}]", "")
    yield from _table(heads, scores, chosen)
    if identified.columns:
        yield "<h2>Columns of the logs</h2><p>On the fitted logs, each joint by itself.</p>"
        heads = ("joint", "column", "unit", "standard deviation", "simulated - measured, RMS", "")
        units = [unit_at_joint(identified, one) for one in identified.columns]
        yield from _table(heads, map(_column, identified.columns, units))
    yield from _list("Networks", identified.networks)
    yield "<h2>Estimates</h2>"
    heads = ("joint", "parameter", "value ± standard error", "90 % interval", "unit", "start", "")
    units = [unit_at_joint(identified, one) for one in identified.estimates]
    yield from _table(heads, map(_estimate, identified.estimates, units))
    yield "</body></html>"


def _list(title: str, lines: Sequence[str]) -> Iterable[str]:
    if lines:
        yield f"<h2>{title}</h2><ul>"
        yield from (f"<li>{escape(line)}</li>" for line in lines)
        yield "</ul>"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]], marked: Sequence[bool] = ()) -> Iterable[str]:
    yield "<table><tr>" + "".join(f"<th>{escape(one)}</th>" for one in heads) + "</tr>"
    for number, row in enumerate(rows):
        of = ' class="chosen"' if number < len(marked) and marked[number] else ""
        yield f"<tr{of}>" + "".join(f"<td>{escape(one)}</td>" for one in row) + "</tr>"
    yield "</table>"


def _verdict(one: Verdict) -> tuple[str, ...]:
    errors = _milli(one.before), _milli(one.error)
    return one.joint, one.word or "at rest", *errors, one.changed, one.look


def _log(one: Replay) -> tuple[str, ...]:
    use = "held out" if one.held_out else "fitted"
    return one.log.source, use, f"{one.log.duration:.3g}", _milli(float(one.errors.mean()))


def _column(one: ColumnUse, unit: str) -> tuple[str, ...]:
    if one.unused:
        return one.joint, one.name, unit, "-", "-", f"not fitted: {one.unused}"
    return one.joint, one.name, unit, f"{one.size:.3g}", f"{one.error:.3g}", "fitted"


def _estimate(one: Estimate, unit: str) -> tuple[str, ...]:
    value = f"{one.value:.4g} ± {one.standard_error:.2g}" if math.isfinite(one.standard_error) else f"{one.value:.4g}"
    return one.joint, one.name, value, interval_words(one), unit, f"{one.start:.4g}", "at a bound" * one.is_at_bound


def _milli(error: float) -> str:
    """Return an error in mrad or mm; a hyphen for none."""
    return f"{1000 * error:.3g}" if math.isfinite(error) else "-"
