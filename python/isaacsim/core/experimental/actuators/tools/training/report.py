"""Report of a training: errors for people and programs, and a picture of predicted and measured efforts."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...base.extras import needs
from ...base.saving import whole_file
from ..plots.style import BLUE, BROAD, GREY, PLAIN, RED, THIN, caption, dress, figure, key, label_ends, lines, save
from ..plots.units import units_of

# duration of the plot over time [s], and number of points of the scatter plot
_SHOWN, _POINTS = 3.0, 20000


@dataclass(frozen=True, eq=False)
class Curves:
    """Efforts of a part of the log from `start` [s] on, measured and predicted [N·m or N], `(steps, joints)`."""

    part: str
    start: float
    measured: np.ndarray
    predicted: np.ndarray


def write_report(folder: Path, content: dict[str, object], curves: Curves) -> Path:
    """Write picture and errors; see `TrainedActuator.report`."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (("training.json", json.dumps(content, indent=1)), ("training.md", _page(content))):
        with whole_file(folder / name) as written:
            written.write_text(text, "utf-8")
    _draw(content, curves, folder / "training.png")
    return folder / "training.png"


def _page(content: dict[str, Any]) -> str:
    """Return the errors as a page of Markdown."""
    log, settings, dt = content["log"], content["settings"], content["sample_dt"]
    rows = [
        f"| {name} | {one['rms']:.3g} | {one['relative']:.2%} | {one['largest']:.3g} | {one['effort_rms']:.3g} |"
        for name, one in content["errors"].items()
    ]
    ended = {
        "epochs": "all epochs were done",
        "patience": f"{settings['patience']} epochs had no smaller validation error",
        "max_seconds": f"{settings['max_seconds']} s were over",
    }[content["stopped_by"]]
    lines = [
        f"# {content['kind'].upper()} trained on a log",
        "",
        "![Predicted against measured effort](training.png)",
        "",
        "| part | RMS error | of effort RMS | largest error | effort RMS |",
        "|---|---|---|---|---|",
        *rows,
        "",
        f"Efforts in {units_of([log['turns']]).effort}. The first {content['warm_up']} rows of each part, with unknown "
        "past, do not count.",
        "",
        f"- Log: {log['steps']} steps of {dt:g} s, {log['joints']} joints. Trained on the first {log['cut']} steps "
        f"({log['cut'] * dt:.1f} s); the rest is for validation.",
        f"- Network: {content['kind']}, hidden layers {settings['hidden']}"
        + (f", inputs {settings['input_idx']} steps back." if content["kind"] == "mlp" else "."),
        f"- Ended after {content['epochs']} epochs and {settings['seconds']} s on one thread, as "
        f"{ended}; the weights of epoch {content['best_epoch']} were kept. Seed {settings['seed']}, "
        f"Torch {settings['torch']}.",
        "",
    ]
    return "\n".join(lines)


def _draw(content: dict[str, Any], curves: Curves, path: Path) -> None:
    """Draw effort over time of the joint with the largest error, all points, all errors, and the epochs."""
    with needs("The report", "train"):
        from matplotlib.ticker import LogLocator
    measured, predicted, dt = curves.measured, curves.predicted, content["sample_dt"]
    unit = units_of([content["log"]["turns"]]).effort
    missed = predicted - measured
    joint = int(np.argmax(np.square(missed).mean(axis=0)))
    # the interval with the largest error of this joint
    count = min(len(missed), round(_SHOWN / dt) + 1)
    sums = np.cumsum(np.r_[0.0, np.square(missed[:, joint], dtype=np.float64)])
    first = int(np.argmax(sums[count:] - sums[:-count]))
    rows = slice(first, first + count)
    time = curves.start + np.arange(first, first + count) * dt

    which = f"joint {joint} of {measured.shape[1]}" if measured.shape[1] > 1 else "the joint"
    where = "another log" if curves.part == "test" else f"the {curves.part} part of its log"
    relative = content["errors"][curves.part]["relative"]
    drawn = figure(11, 8, f"{content['kind'].upper()} on {where}: RMS error {relative:.2%} of effort RMS")
    axes = drawn.subplot_mosaic(
        [["time"] * 3, ["error"] * 3, ["points", "errors", "epochs"]], height_ratios=[3, 1.3, 3]
    )
    dress(axes.values())
    axes["time"].sharex(axes["error"])
    axes["time"].tick_params(labelbottom=False)
    axes["time"].set(ylabel=f"effort [{unit}]")
    caption(axes["time"], f"The {count * dt:.2g} s of {which} in which the error is largest")
    shown = np.stack([measured[rows, joint], predicted[rows, joint]], axis=1)
    axes["time"].plot(time, shown[:, 0], color=GREY, **BROAD)
    axes["time"].plot(time, shown[:, 1], color=BLUE, linewidth=PLAIN)
    label_ends(axes["time"], [(shown[:, 0], "measured", GREY), (shown[:, 1], "predicted", BLUE)])
    axes["error"].axhline(0, color=GREY, linewidth=THIN)
    axes["error"].set(xlabel="time [s]", ylabel=f"error [{unit}]")
    axes["error"].plot(time, missed[rows, joint], color=RED, linewidth=PLAIN)

    chosen = np.linspace(0, measured.size - 1, min(measured.size, _POINTS)).astype(int)
    ends = [float(np.min(measured)), float(np.max(measured))]
    axes["points"].plot(ends, ends, color=GREY, linewidth=THIN)
    axes["points"].plot(measured.flat[chosen], predicted.flat[chosen], ".", color=BLUE, markersize=1.5, alpha=0.3)
    axes["points"].set(xlabel=f"measured [{unit}]", ylabel=f"predicted [{unit}]")
    axes["points"].set_aspect("equal", "datalim")
    caption(axes["points"], "All joints, each row")
    axes["errors"].hist(missed.ravel(), bins=80, color=RED, log=True)
    axes["errors"].set(xlabel=f"predicted - measured [{unit}]", ylabel="rows, log scale")
    caption(axes["errors"], "All errors")
    history, best = 100 * np.array(content["history"]), content["best_epoch"]
    panel = axes["epochs"]
    panel.set(yscale="log", xlabel="epoch", ylabel="RMS error [% of effort RMS]")
    kept: dict[str, Any] = {"color": RED, "linestyle": "", "marker": "o"}
    panel.plot(best, history[best - 1, 1], clip_on=False, zorder=3, **kept)
    caption(panel, "Training")
    key(panel, {"kept weights": kept})
    lines(panel, np.arange(1, len(history) + 1), history, ["training", "validation"], [GREY, BLUE])
    # ticks at 2, 5, 10, 20, …
    panel.yaxis.set_minor_locator(LogLocator(subs=(2, 5)))
    panel.yaxis.set_major_formatter("{x:g}")
    panel.yaxis.set_minor_formatter("{x:g}")
    save(drawn, path)
