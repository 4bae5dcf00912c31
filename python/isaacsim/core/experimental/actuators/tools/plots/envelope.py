"""Effort envelope of a motor: effort over speed, and over position if a limit depends on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .style import COLORS, GREY, SHADE, THICK, THIN, caption, dress, figure, label_ends
from .units import Units, units_of, with_unit

if TYPE_CHECKING:
    from .style import Axes, Figure

Bounds = np.ndarray
"""Lowest and highest effort [N·m or N] at each point, shape `(2, points)`; NaN for no bound."""


@dataclass(frozen=True)
class Envelope:
    """Bounds of the effort by the stages after a control law, at the joint."""

    joint: str
    # ascending, as `positions`, shape `(points,)`
    velocities: np.ndarray
    # of all stages in sequence, at `position`
    whole: Bounds
    # of each stage alone, by name
    clamps: Mapping[str, Bounds]
    # of the joint [rad or m]
    position: float
    # empty if bounds do not depend on them
    positions: np.ndarray
    # of all stages at these positions, at standstill
    over_position: Bounds
    # command delay in physics steps and in seconds, NaN if the step is unknown
    delay_steps: float
    delay: float
    # largest effort of the joint's own drive, which the actuator replaces; inf for none
    drive_limit: float
    # of the transmission; 1 without one, NaN for an unknown one
    ratio: float = 1.0
    # else it slides; None if unknown
    turns: bool | None = None

    @property
    def units(self) -> Units:
        """Units of the joint."""
        return units_of([self.turns])

    @property
    def stall_effort(self) -> float | None:
        """Largest effort at standstill [N·m or N]; None for no bound."""
        effort = float(np.interp(0.0, self.velocities, self.whole[1]))
        return effort if np.isfinite(effort) else None

    @property
    def corner_speed(self) -> float | None:
        """Speed [rad/s or m/s] up to which the stall effort is available; None if it always is, or has no bound."""
        if self.stall_effort is None:
            return None
        ahead = self.velocities >= 0
        speeds, efforts = self.velocities[ahead], self.whole[1][ahead]
        falling = np.flatnonzero(efforts < self.stall_effort * (1 - 1e-6))
        if not len(falling):
            return None
        first, before = falling[0], max(0, falling[0] - 1)
        slope = efforts[min(first + 1, len(efforts) - 1)] - efforts[first]
        # between two points of the grid it leaves the constant part linearly, or at once
        back = (self.stall_effort - efforts[first]) / slope * (speeds[1] - speeds[0]) if slope < 0 else -np.inf
        corner = float(np.clip(speeds[first] + back, speeds[before], speeds[first]))
        # 0 if it falls from standstill
        return corner if corner > 1e-3 * speeds[1] else 0.0

    @property
    def no_load_speed(self) -> float | None:
        """Speed [rad/s or m/s] at which no effort along the motion remains; None if there is none."""
        ahead = self.velocities >= 0
        speeds, efforts = self.velocities[ahead], self.whole[1][ahead]
        zero = np.flatnonzero(efforts <= 0)
        if not len(zero):
            return None
        first = zero[0]
        if first < 2:
            return float(speeds[first])
        # between two points of the grid it falls linearly, or at once
        slope = efforts[first - 1] - efforts[first - 2]
        onward = -efforts[first - 1] / slope * (speeds[1] - speeds[0]) if slope < 0 else np.inf
        return float(np.clip(speeds[first - 1] + onward, speeds[first - 1], speeds[first]))


def draw_envelope(found: Envelope) -> Figure:
    """Draw effort over speed, and position if needed: all clamps, and thin lines for those that are not the whole."""
    wide = len(found.positions) > 0
    drawn = figure(10, 9 if wide else 5.6, f"{found.joint}: effort envelope")
    # over speed and over position: they share no axis
    panels = list(drawn.subplots(2 if wide else 1, 1, squeeze=False)[:, 0])
    dress(panels)
    words = []
    if not np.isfinite(found.whole).any():
        words.append("Nothing limits its effort")
    words.append(_words_of_delay(found))
    if np.isfinite(found.drive_limit):
        words.append(f"limit of the drive it replaces: {with_unit(f'{found.drive_limit:.4g}', found.units.effort)}")
    if found.ratio != 1.0:
        # a ratio that is unknown has no words
        words.append(
            "at the joint" + (f", behind a gear of ratio {found.ratio:.4g}" if found.ratio == found.ratio else "")
        )
    if len(found.positions):
        words.append(f"at position {with_unit(f'{found.position:.3g}', found.units.position)}")
    caption(panels[0], "; ".join([words[0][0].upper() + words[0][1:], *words[1:]]))
    _draw_speed(panels[0], found)
    if wide:
        _area(panels[1], found.positions, found.over_position)
        caption(panels[1], "At standstill, over the position")
        panels[1].set_xlabel(f"position [{found.units.position}]")
        panels[1].set_ylabel(f"effort [{found.units.effort}]")
        _fit(panels[1], [found.over_position])
        label_ends(panels[1], [(found.over_position[1], "envelope", COLORS[0])])
    return drawn


def _draw_speed(panel: Axes, found: Envelope) -> None:
    panel.axhline(0.0, color=GREY, linewidth=0.8)
    panel.axvline(0.0, color=GREY, linewidth=0.8)
    _area(panel, found.velocities, found.whole)
    # a clamp that equals the whole shares its line
    alone = [name for name, bounds in found.clamps.items() if np.allclose(bounds, found.whole, equal_nan=True)]
    labels = [(found.whole[1], "\n= ".join(["envelope", *alone]), COLORS[0])]
    for number, (name, bounds) in enumerate(found.clamps.items()):
        if name in alone:
            continue
        color = COLORS[1 + number % (len(COLORS) - 1)]
        for bound in bounds:
            panel.plot(found.velocities, bound, color=color, linewidth=THIN, linestyle=(0, (5, 5)), zorder=4)
        labels.append((bounds[1], name, color))
    panel.set_xlabel(f"velocity [{found.units.velocity}]")
    panel.set_ylabel(f"effort [{found.units.effort}]")
    _fit(panel, [found.whole, *found.clamps.values()])
    _mark(panel, found)
    label_ends(panel, labels)


def _mark(panel: Axes, found: Envelope) -> None:
    """Mark stall effort, corner speed and no-load speed."""
    stall, corner, idle = found.stall_effort, found.corner_speed, found.no_load_speed
    points: list[tuple[float, float, str, tuple[int, int]]] = []
    if stall is not None:
        points.append((0.0, stall, f"stall effort {with_unit(f'{stall:.4g}', found.units.effort)}", (-6, 8)))
        if corner:
            points.append((corner, stall, f"corner speed {with_unit(f'{corner:.3g}', found.units.velocity)}", (6, 8)))
    if idle is not None:
        points.append((idle, 0.0, f"no-load speed {with_unit(f'{idle:.3g}', found.units.velocity)}", (8, 8)))
    corners = (0.99, 0.97, "driving"), (0.01, 0.97, "braking"), (0.01, 0.03, "driving"), (0.99, 0.03, "braking")
    for x, y, text in corners:
        sides: Any = {"ha": "right" if x > 0.5 else "left", "va": "top" if y > 0.5 else "bottom"}
        panel.text(x, y, text, transform=panel.transAxes, color=GREY, fontstyle="italic", fontsize="small", **sides)
    for x, y, text, (right, up) in points:
        panel.plot(x, y, "o", color=COLORS[0], markersize=6, zorder=5)
        side = "right" if right < 0 else "left"
        panel.annotate(text, (x, y), (right, up), textcoords="offset points", color=COLORS[0], ha=side, zorder=6)


def _area(panel: Axes, over: np.ndarray, bounds: Bounds) -> None:
    panel.fill_between(over, bounds[0], bounds[1], color=COLORS[0], alpha=SHADE, linewidth=0)
    for bound in bounds:
        panel.plot(over, bound, color=COLORS[0], linewidth=1.6 * THICK, zorder=3)


def _fit(panel: Axes, drawn: list[Bounds]) -> None:
    """Set the scale of the effort; a single clamp far beyond the whole is cut off."""
    largest = [float(np.nanmax(np.abs(bounds))) for bounds in drawn if np.isfinite(bounds).any()]
    if largest:
        reach = 1.25 * min(max(largest), 2.5 * (largest[0] or max(largest)))
        panel.set_ylim(-reach, reach)


def _words_of_delay(found: Envelope) -> str:
    if not (found.delay_steps or found.delay > 0.0):
        return "commands act at once"
    seconds = f" = {1000 * found.delay:.3g} ms" if np.isfinite(found.delay) else ""
    idle = found.no_load_speed
    far = ""
    if idle and np.isfinite(found.delay):
        far = f", {idle * found.delay:.2g} {found.units.position} at no-load speed"
    plural = "s" if found.delay_steps > 1 else ""
    steps = f"{found.delay_steps:.3g} step{plural}" if found.delay_steps else "some steps"
    return f"commands act {steps} late{seconds}{far}"
