"""A recording as a picture: position, effort, and what the motor does with it, one under the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..extras import needs

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# colours that everybody can tell apart: Okabe and Ito, without the yellow that white swallows
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_LIMITED, _LIMIT = "#D55E00", "#555555"
# computed efforts are shown as far as this many times the others, beyond they would crush them
_SHOWN = 2.0
# least distance of labels, of the height of a panel
_APART = 0.075


def draw(
    robot: str, joints: Sequence[str], time: np.ndarray, shown: Mapping[str, np.ndarray], max_efforts: np.ndarray
) -> Figure:
    """Draw what there is of some joints of a robot.

    Args:
        robot: Its name.
        joints: Their names.
        time: `(steps,)` [s].
        shown: Arrays by name, `(steps, joints)`.
        max_efforts: Plain limits, `(joints,)`, NaN for none.

    Raises:
        ModuleNotFoundError: Matplotlib is missing.
    """
    with needs("A plot", "examples"):
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    # a figure of its own: the caller's backend and open figures are let be
    figure = Figure(figsize=(10, 8), dpi=110, layout="constrained")
    FigureCanvasAgg(figure)
    position, effort, motion = figure.subplots(3, 1, sharex=True, height_ratios=[3, 3, 2])
    for panel in (position, effort, motion):
        panel.spines[["top", "right"]].set_visible(False)
        panel.grid(alpha=0.25)
        panel.margins(x=0)
    alone = len(joints) == 1
    figure.suptitle(f"{robot}: {joints[0]}" if alone else robot, x=0.01, ha="left", fontweight="bold")
    _draw_position(position, joints, time, shown)
    _draw_effort(effort, joints, time, shown, max_efforts)
    _draw_motion(motion, joints, time, shown)
    motion.set_xlabel("time [s]")
    return figure


def _draw_position(axes: Axes, joints: Sequence[str], time: np.ndarray, shown: Mapping[str, np.ndarray]) -> None:
    alone, labels = len(joints) == 1, []
    kinds = {
        "position_targets": ("target", {"linestyle": "--", "linewidth": 1.0}),
        "delayed_position_targets": ("delayed target", {"linestyle": ":", "linewidth": 1.4}),
        "positions": ("position", {"linewidth": 1.8}),
    }
    if not alone or _alike(shown, "position_targets", "delayed_position_targets"):
        del kinds["delayed_position_targets"]
    for name, (label, style) in kinds.items():
        for column, joint in enumerate(joints):
            if name not in shown:
                continue
            color = COLORS[column % len(COLORS)] if name == "positions" or not alone else _LIMIT
            values = shown[name][:, column]
            axes.plot(time, values, color=color, drawstyle="default" if name == "positions" else "steps-post", **style)
            if alone or name == "positions":
                labels.append((values, label if alone else joint, color))
    axes.set_ylabel("position [rad or m]")
    axes.set_title("Position" if alone else "Position, dashed: target", loc="left", fontsize="medium")
    _label(axes, labels)


def _draw_effort(
    axes: Axes, joints: Sequence[str], time: np.ndarray, shown: Mapping[str, np.ndarray], max_efforts: np.ndarray
) -> None:
    alone, labels = len(joints) == 1, []
    title = ["Effort"] if alone else ["Effort, thin: before the clamps"]
    for column, joint in enumerate(joints):
        color = COLORS[column % len(COLORS)]
        if "computed_efforts" in shown:
            values = shown["computed_efforts"][:, column]
            axes.plot(time, values, color=_LIMIT if alone else color, linewidth=0.9, alpha=1 if alone else 0.6)
            if alone:
                labels.append((values, "computed", _LIMIT))
        if "applied_efforts" in shown:
            values = shown["applied_efforts"][:, column]
            axes.plot(time, values, color=color, linewidth=1.8)
            labels.append((values, "applied" if alone else joint, color))
    applied = shown.get("applied_efforts", shown.get("computed_efforts"))
    if applied is not None:
        told = [*np.abs(applied[np.isfinite(applied)]).ravel(), *max_efforts[np.isfinite(max_efforts)]]
        if alone and np.isfinite(max_efforts[0]):
            for limit in (max_efforts[0], -max_efforts[0]):
                axes.axhline(limit, color=_LIMIT, linestyle="--", linewidth=1.0)
            labels.append((max_efforts, "limit", _LIMIT))
        computed = np.abs(shown["computed_efforts"]) if "computed_efforts" in shown else np.zeros(1)
        reach, most = _SHOWN * max(told, default=0.0), float(np.max(computed, initial=0.0))
        if 0 < reach < most:
            axes.set_ylim(-reach, reach)
            title.append(f"computed reaches {most:.4g}, beyond the panel")
    if "limited_by" in shown and alone:
        said = shown["limited_by"][:, 0]
        edges = np.r_[time, 2 * time[-1] - time[-2] if len(time) > 1 else time[-1]]
        change = np.flatnonzero(np.diff(np.r_[False, said != "", False]))
        for first, last in zip(change[::2], change[1::2], strict=True):
            axes.axvspan(edges[first], edges[last], color=_LIMITED, alpha=0.12, linewidth=0)
        if clamps := sorted({*said.tolist()} - {""}):
            title.append(f"shaded: limited by {', '.join(clamps)}")
    axes.set_ylabel("effort [N·m or N]")
    axes.set_title("; ".join(title), loc="left", fontsize="medium")
    _label(axes, labels)


def _draw_motion(axes: Axes, joints: Sequence[str], time: np.ndarray, shown: Mapping[str, np.ndarray]) -> None:
    """Power, beside the velocity where there is one joint; of several joints the power, or else the velocity."""
    what = {"power": ("power", "power [W]"), "velocities": ("velocity", "velocity [rad/s or m/s]")}
    there = [name for name in what if name in shown]
    if len(joints) > 1:
        there = there[:1]
    title = [what[name][0] for name in there]
    axes.set_title(" and ".join(title).capitalize(), loc="left", fontsize="medium")
    panels = [axes, axes.twinx()] if len(there) == 2 else [axes]
    for number, (panel, name) in enumerate(zip(panels, there, strict=False)):
        panel.set_ylabel(what[name][1])
        labels = []
        for column, joint in enumerate(joints):
            color = COLORS[(column + number) % len(COLORS)]
            panel.plot(time, shown[name][:, column], color=color, linewidth=1.4)
            labels.append((shown[name][:, column], joint, color))
        if len(panels) == 2:
            # two scales: each axis has the colour of its curve
            panel.spines["left" if number == 0 else "right"].set_visible(True)
            panel.yaxis.label.set_color(labels[0][2])
            panel.tick_params(axis="y", colors=labels[0][2])
            panel.spines[["top"]].set_visible(False)
            panel.margins(x=0)
            _centre(panel)
        elif len(joints) > 1:
            # the panel is not as high as the others
            _label(panel, labels, 1.5 * _APART)


def _centre(axes: Axes) -> None:
    """Let zero be in the middle, so that two scales share it."""
    reach = max(map(abs, axes.get_ylim()))
    axes.set_ylim(-reach, reach)


def _alike(shown: Mapping[str, np.ndarray], first: str, second: str) -> bool:
    return first in shown and second in shown and np.array_equal(shown[first], shown[second], equal_nan=True)


def _label(axes: Axes, labels: Sequence[tuple[np.ndarray, str, Any]], apart: float = _APART) -> None:
    """Write names to the right of where curves end, in their colours and not over each other."""
    low, high = axes.get_ylim()
    ends = []
    for values, text, color in labels:
        finite = values[np.isfinite(values)]
        if len(finite):
            ends.append((float(np.clip((finite[-1] - low) / (high - low), 0.0, 1.0)), text, color))
    ends.sort(key=lambda end: end[0])
    places = np.array([end[0] for end in ends])
    # neighbours that are too close push each other away, until all have room
    for _ in range(100):
        missing = np.maximum(apart - np.diff(places), 0.0) / 2
        places[1:] += missing
        places[:-1] -= missing
    for place, (_, text, color) in zip(places, ends, strict=True):
        axes.annotate(
            text, (1, place), (5, 0), "axes fraction", "offset points", color=color, va="center", fontsize="small"
        )
