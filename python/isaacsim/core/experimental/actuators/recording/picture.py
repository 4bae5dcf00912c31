"""A recording as a picture: position, effort, and what the motor does with it, one under the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..plots.style import APART, COLORS, GREY, PLAIN, RED, SHADE, THIN, caption, label_ends, panels

if TYPE_CHECKING:
    from ..plots.style import Axes, Figure

# computed efforts are shown as far as this many times the others, beyond they would crush them
_SHOWN = 2.0


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
    efforts = {"computed_efforts", "applied_efforts", "limited_by"} & set(shown)
    position = bool({"positions", "position_targets"} & set(shown))
    motion = bool({"power", "velocities"} & set(shown))
    heights = [height for height, there in ((3, position), (3, efforts), (2, motion)) if there] or [3]
    headline = f"{robot}: {joints[0]}" if len(joints) == 1 else robot
    whole, axes = panels(10, sum(heights), headline, rows=len(heights), heights=heights)
    axes[-1].set_xlabel("time [s]")
    if position:
        _draw_position(axes.pop(0), joints, time, shown)
    if efforts:
        _draw_effort(axes.pop(0), joints, time, shown, max_efforts)
    if motion:
        _draw_motion(axes.pop(0), joints, time, shown)
    return whole


def _draw_position(axes: Axes, joints: Sequence[str], time: np.ndarray, shown: Mapping[str, np.ndarray]) -> None:
    alone, labels = len(joints) == 1, []
    kinds = {
        "position_targets": ("target", {"linestyle": "--", "linewidth": THIN}),
        "delayed_position_targets": ("delayed target", {"linestyle": ":", "linewidth": 1.4}),
        "positions": ("position", {"linewidth": PLAIN}),
    }
    if not alone or _alike(shown, "position_targets", "delayed_position_targets"):
        del kinds["delayed_position_targets"]
    for name, (label, style) in kinds.items():
        for column, joint in enumerate(joints):
            if name not in shown:
                continue
            color = COLORS[column % len(COLORS)] if name == "positions" or not alone else GREY
            values = shown[name][:, column]
            axes.plot(time, values, color=color, drawstyle="default" if name == "positions" else "steps-post", **style)
            if alone or name == "positions":
                labels.append((values, label if alone else joint, color))
    axes.set_ylabel("position [rad or m]")
    caption(axes, "Position" if alone else "Position, dashed: target")
    label_ends(axes, labels)


def _draw_effort(
    axes: Axes, joints: Sequence[str], time: np.ndarray, shown: Mapping[str, np.ndarray], max_efforts: np.ndarray
) -> None:
    alone, labels = len(joints) == 1, []
    title = ["Effort"] if alone else ["Effort, thin: before the clamps"]
    for column, joint in enumerate(joints):
        color = COLORS[column % len(COLORS)]
        if "computed_efforts" in shown:
            values = shown["computed_efforts"][:, column]
            axes.plot(time, values, color=GREY if alone else color, linewidth=THIN, alpha=1 if alone else 0.6)
            if alone:
                labels.append((values, "computed", GREY))
        if "applied_efforts" in shown:
            values = shown["applied_efforts"][:, column]
            axes.plot(time, values, color=color, linewidth=PLAIN)
            labels.append((values, "applied" if alone else joint, color))
    applied = shown.get("applied_efforts", shown.get("computed_efforts"))
    if applied is not None:
        told = [*np.abs(applied[np.isfinite(applied)]).ravel(), *max_efforts[np.isfinite(max_efforts)]]
        if alone and np.isfinite(max_efforts[0]):
            for limit in (max_efforts[0], -max_efforts[0]):
                axes.axhline(limit, color=GREY, linestyle="--", linewidth=THIN)
            labels.append((max_efforts, "limit", GREY))
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
            axes.axvspan(edges[first], edges[last], color=RED, alpha=SHADE, linewidth=0)
        if clamps := sorted({*said.tolist()} - {""}):
            title.append(f"shaded: limited by {', '.join(clamps)}")
    axes.set_ylabel("effort [N·m or N]")
    caption(axes, "; ".join(title))
    label_ends(axes, labels)


def _draw_motion(axes: Axes, joints: Sequence[str], time: np.ndarray, shown: Mapping[str, np.ndarray]) -> None:
    """Power, beside the velocity where there is one joint; of several joints the power, or else the velocity."""
    what = {"power": ("power", "power [W]"), "velocities": ("velocity", "velocity [rad/s or m/s]")}
    there = [name for name in what if name in shown]
    if len(joints) > 1:
        there = there[:1]
    title = [what[name][0] for name in there]
    caption(axes, " and ".join(title).capitalize())
    panels = [axes, axes.twinx()] if len(there) == 2 else [axes]
    for number, (panel, name) in enumerate(zip(panels, there, strict=False)):
        panel.set_ylabel(what[name][1])
        labels = []
        for column, joint in enumerate(joints):
            color = COLORS[(column + number) % len(COLORS)]
            panel.plot(time, shown[name][:, column], color=color, linewidth=PLAIN)
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
            label_ends(panel, labels, 1.5 * APART)


def _centre(axes: Axes) -> None:
    """Let zero be in the middle, so that two scales share it."""
    reach = max(map(abs, axes.get_ylim()))
    axes.set_ylim(-reach, reach)


def _alike(shown: Mapping[str, np.ndarray], first: str, second: str) -> bool:
    return first in shown and second in shown and np.array_equal(shown[first], shown[second], equal_nan=True)
