"""Picture of a recording: panels of position, effort, motion, and states of motors."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..plots.style import COLORS, GREY, ORANGE, PLAIN, RED, SHADE, THIN, caption, key, label_ends, line_of, panels
from ..plots.units import are_mixed, heading
from .statistics import intervals

if TYPE_CHECKING:
    from ..plots.style import Axes, Figure

# computed efforts are cut off beyond this many times the others, which would be flat lines
_SHOWN = 2.0


def draw(
    robot: str,
    joints: Sequence[str],
    time: np.ndarray,
    shown: Mapping[str, np.ndarray],
    max_efforts: np.ndarray,
    turns: Sequence[bool | None] | None = None,
) -> Figure:
    """Draw the recorded signals of joints of a robot, `(steps, joints)` by name, over `time`, `(steps,)` [s].

    `max_efforts`, `(joints,)`, are plain limits, NaN for none; `turns` is False for joints that slide, None if unknown.
    """
    efforts = "computed_efforts", "motor_efforts", "applied_efforts", "passive_efforts", "limited_by"
    rows = [
        (3, _has_any(shown, "positions", "position_targets"), _draw_position),
        (3, _has_any(shown, *efforts), functools.partial(_draw_effort, max_efforts)),
        (2, _has_gear(shown), _draw_shaft),
        (2, _has_any(shown, "power", "velocities"), _draw_motion),
        *(
            (2, any(np.any(shown.get(name, 0)) for name in panel.signals), functools.partial(_draw_states, panel))
            for panel in _STATES
        ),
    ]
    there = [(height, drawn) for height, is_there, drawn in rows if is_there]
    heights = [height for height, _ in there] or [3]
    headline = f"{robot}: {joints[0]}" if len(joints) == 1 else robot
    whole, axes = panels(10, sum(heights), headline, rows=len(heights), heights=heights)
    axes[-1].set_xlabel("time [s]")
    for panel, (_, drawn) in zip(axes, there, strict=False):
        drawn(_Curves(panel, joints, time, turns), shown)
    return whole


@dataclass(frozen=True)
class _States:
    """A panel of states of motors: title, unit of the scale, and words of signals by name, the main one first."""

    title: str
    unit: str
    signals: Mapping[str, str]


_STATES = (
    _States("Current", "current [A]", {"currents": "current"}),
    _States("Voltage", "voltage [V]", {"terminal_voltages": "winding", "supply_voltages": "supply"}),
    _States("Temperature", "temperature [°C]", {"winding_temperatures": "winding", "housing_temperatures": "housing"}),
)


def _has_any(shown: Mapping[str, np.ndarray], *names: str) -> bool:
    return any(name in shown for name in names)


def _draw_states(panel: _States, curves: _Curves, shown: Mapping[str, np.ndarray]) -> None:
    """Draw the main signal of a panel, for one joint also the others."""
    there = [name for name in panel.signals if name in shown and shown[name].any()]
    for number, name in enumerate(there[: None if curves.alone else 1]):
        curves.add(shown[name], panel.signals[name], True, {"linewidth": PLAIN}, number)
    words = "" if curves.alone else f", {panel.signals[there[0]]}" if len(panel.signals) > 1 else ""
    curves.finish(f"{panel.title}{words}", panel.unit)


class _Curves:
    """Curves of a panel, one or more per joint."""

    def __init__(
        self, axes: Axes, joints: Sequence[str], time: np.ndarray, turns: Sequence[bool | None] | None
    ) -> None:
        self.turns = turns
        self.axes, self.joints, self.time, self.alone = axes, joints, time, len(joints) == 1
        self.labels: list[tuple[np.ndarray, str, str]] = []
        # styles of lines, and colors of areas, by the words for them
        self.lines: dict[str, Mapping[str, Any]] = {}
        self.areas: dict[str, str] = {}

    def add(self, values: np.ndarray, word: str, is_main: bool, style: Mapping[str, object], first: int = 0) -> None:
        """Plot a quantity, `(steps, joints)`, in colors from the `first` on; grey if not the main one of one joint."""
        for column, joint in enumerate(self.joints):
            own = {"color": GREY} if self.alone and not is_main else line_of(first + column)
            self.axes.plot(self.time, values[:, column], **{**own, **style})
            if self.alone or is_main:
                self.labels.append((values[:, column], word if self.alone else joint, own["color"]))

    def finish(self, title: str, ylabel: str, quantity: str | None = None) -> None:
        """Add title, axis label with the unit of `quantity`, or joint labels with theirs, curve labels, and key."""
        caption(self.axes, title)
        self.scale(ylabel, quantity)
        label_ends(self.axes, self.labels)
        key(self.axes, self.lines, self.areas)

    def scale(self, ylabel: str, quantity: str | None) -> None:
        """Set the axis label, with the unit of a quantity, or that of each joint to the labels if they differ."""
        self.axes.set_ylabel(ylabel if quantity is None else heading(ylabel, quantity, self.turns))
        if quantity is not None and self.turns is not None and are_mixed(self.turns):
            units = {name: heading("", quantity, [kind]) for name, kind in zip(self.joints, self.turns, strict=True)}
            self.labels = [(values, f"{name}{units[name]}", color) for values, name, color in self.labels]


def _draw_position(curves: _Curves, shown: Mapping[str, np.ndarray]) -> None:
    if "position_targets" in shown:
        style = {"linestyle": "--", "linewidth": THIN, "drawstyle": "steps-post"}
        curves.add(shown["position_targets"], "target", False, style)
        if not curves.alone:
            curves.lines["target"] = {"linestyle": "--", "linewidth": THIN}
    if curves.alone and "delayed_position_targets" in shown and not _alike(shown):
        style = {"linestyle": ":", "linewidth": 1.4, "drawstyle": "steps-post"}
        curves.add(shown["delayed_position_targets"], "delayed target", False, style)
    if "positions" in shown:
        curves.add(shown["positions"], "position", True, {"linewidth": PLAIN})
    curves.finish("Position", "position", "position")


def _draw_effort(max_efforts: np.ndarray, curves: _Curves, shown: Mapping[str, np.ndarray]) -> None:
    # computed efforts of a geared motor are on its shaft, in a panel of its own
    computed, main = None if _has_gear(shown) else shown.get("computed_efforts"), _main_effort(shown)
    if computed is not None:
        _add_computed(curves, computed)
    if main is not None:
        curves.add(shown[main], main.partition("_")[0], True, {"linewidth": PLAIN})
    if curves.alone and _has_friction(shown):
        curves.add(shown["passive_efforts"], "friction", True, {"linewidth": PLAIN}, COLORS.index(ORANGE))
    _add_limits(curves, max_efforts)
    title = ["Effort before friction" if main == "motor_efforts" and not curves.alone else "Effort"]
    if computed is not None:
        title += _zoom(curves.axes, computed, computed if main is None else shown[main], max_efforts)
    _shade_causes(curves, shown)
    curves.finish("; ".join(title), "effort", "effort")


def _add_limits(curves: _Curves, max_efforts: np.ndarray) -> None:
    """Draw the limits of the effort of one joint."""
    if curves.alone and curves.labels and np.isfinite(max_efforts[0]):
        for limit in (max_efforts[0], -max_efforts[0]):
            curves.axes.axhline(limit, color=GREY, linestyle="--", linewidth=THIN)
        curves.labels.append((max_efforts, "limit", GREY))


def _shade_causes(curves: _Curves, shown: Mapping[str, np.ndarray]) -> None:
    """Shade the time in which clamps limit the effort of one joint, or friction holds it."""
    if "limited_by" in shown:
        limited_by = shown["limited_by"][:, 0]
        clamps = sorted({*limited_by.tolist()} - {""})
        _shade(curves, limited_by != "", RED, f"limited by {', '.join(clamps)}")
    if "sticking" in shown:
        _shade(curves, shown["sticking"][:, 0], GREY, "sticks")


def _draw_shaft(curves: _Curves, shown: Mapping[str, np.ndarray]) -> None:
    """Draw the efforts of motors before their gears."""
    computed, main = shown.get("computed_efforts"), shown["shaft_efforts"]
    title = ["Effort on the motor's shaft, before the gear"]
    if computed is not None:
        _add_computed(curves, computed)
    curves.add(main, "shaft", True, {"linewidth": PLAIN})
    if computed is not None:
        title += _zoom(curves.axes, computed, main, np.full(1, np.nan))
    curves.finish("; ".join(title), "effort [N·m]")


def _has_gear(shown: Mapping[str, np.ndarray]) -> bool:
    """Return True if the motor of a joint has another effort than the joint."""
    return "shaft_efforts" in shown and not np.array_equal(shown["shaft_efforts"], shown["motor_efforts"])


def _add_computed(curves: _Curves, computed: np.ndarray) -> None:
    """Draw what control laws ask for; of several joints in their colors, which the key explains."""
    style = {"linewidth": THIN, "alpha": 1 if curves.alone else 0.6}
    curves.add(computed, "computed", False, style)
    if not curves.alone:
        curves.lines["before the clamps"] = style


def _has_friction(shown: Mapping[str, np.ndarray]) -> bool:
    return "passive_efforts" in shown and bool(shown["passive_efforts"].any())


def _main_effort(shown: Mapping[str, np.ndarray]) -> str | None:
    """Return the name of the effort to draw: that of the motor where friction acts, otherwise the applied one."""
    first = "motor_efforts" if _has_friction(shown) else "applied_efforts"
    return next((name for name in (first, "applied_efforts") if name in shown), None)


def _zoom(axes: Axes, computed: np.ndarray, applied: np.ndarray, max_efforts: np.ndarray) -> list[str]:
    """Cut off computed efforts far beyond the others, and return the words for it."""
    others = [*np.abs(applied[np.isfinite(applied)]).ravel(), *max_efforts[np.isfinite(max_efforts)]]
    reach, most = _SHOWN * max(others, default=0.0), float(np.max(np.abs(computed), initial=0.0))
    if not 0 < reach < most:
        return []
    axes.set_ylim(-reach, reach)
    return [f"computed reaches {most:.4g}, beyond the panel"]


def _shade(curves: _Curves, mask: np.ndarray, color: str, word: str) -> None:
    """Shade the time in which a mask of the steps of one joint is true, if any; the key has the word for it."""
    if not (curves.alone and mask.any()):
        return
    time = curves.time
    edges = np.r_[time, 2 * time[-1] - time[-2] if len(time) > 1 else time[-1]]
    for first, last in intervals(mask):
        curves.axes.axvspan(edges[first], edges[last], color=color, alpha=SHADE, linewidth=0)
    curves.areas[word] = color


def _draw_motion(first: _Curves, shown: Mapping[str, np.ndarray]) -> None:
    """Draw power, beside the velocity for one joint; the power of several joints, or else the velocity."""
    words = {"power": ("power [W]", None), "velocities": ("velocity", "velocity")}
    there = [name for name in words if name in shown][: 2 if first.alone else 1]
    caption(first.axes, " and ".join(words[name][0].partition(" ")[0] for name in there).capitalize())
    for number, name in enumerate(there):
        curves = _Curves(first.axes.twinx(), first.joints, first.time, first.turns) if number else first
        panel = curves.axes
        curves.add(shown[name], name, True, {"linewidth": PLAIN}, number)
        curves.scale(*words[name])
        if len(there) == 2:
            # each scale in the color of its curve, with zero in the middle
            panel.spines["right" if number else "left"].set_visible(True)
            panel.yaxis.label.set_color(COLORS[number])
            panel.tick_params(axis="y", colors=COLORS[number])
            panel.spines[["top"]].set_visible(False)
            panel.margins(x=0)
            reach = max(map(abs, panel.get_ylim()))
            panel.set_ylim(-reach, reach)
        elif not first.alone:
            label_ends(panel, curves.labels)


def _alike(shown: Mapping[str, np.ndarray]) -> bool:
    """Return True if the delay changes no target."""
    targets = shown.get("position_targets")
    return targets is not None and np.array_equal(targets, shown["delayed_position_targets"], equal_nan=True)
