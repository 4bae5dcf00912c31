"""Step response, beside that of an ideal drive."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .style import BLUE, GREY, ORANGE, PLAIN, RED, SHADE, THICK, THIN, caption, dress, figure, label_ends, mark, panels
from .units import units_of, with_unit

if TYPE_CHECKING:
    from .style import Axes, Figure

# settling tolerance, of the distance
SETTLED = 0.02
# plotted time, of the settling time of both, and its smallest value [s]
_LONGER, _SHORTEST = 1.6, 0.1
# panels beside each other
_COLUMNS = 5
# efforts of the ideal drive are cut off beyond this many times those of the motor
_SHOWN = 2.0


@dataclass(frozen=True)
class Response:
    """One joint after a jump of its target at time 0, `(steps,)` from shortly before; no friction if not passive."""

    time: np.ndarray
    target: np.ndarray
    position: np.ndarray
    effort: np.ndarray
    friction: np.ndarray | None = None

    @property
    def start(self) -> float:
        """Position at the jump."""
        return float(self.position[np.searchsorted(self.time, 0.0)])

    @property
    def final(self) -> float:
        """Final position, the mean of the last tenth."""
        return float(self.position[-max(1, len(self.position) // 10) :].mean())

    @property
    def rise_time(self) -> float | None:
        """Time from 10 % to 90 % of the distance [s]; None if it did not move."""
        way = self._way()
        if way is None:
            return None
        after = self.time >= 0
        times = [self.time[after][np.argmax(way[after] >= share)] for share in (0.1, 0.9)]
        return float(times[1] - times[0])

    @property
    def overshoot(self) -> float | None:
        """Overshoot, of the distance, >= 0; None if it did not move."""
        way = self._way()
        return None if way is None else max(0.0, float(way.max()) - 1.0)

    @property
    def settling_time(self) -> float | None:
        """Time after which it stays within 2 % of the distance [s]; None if it does not settle or move."""
        way = self._way()
        if way is None:
            return None
        outside = np.flatnonzero((np.abs(way - 1.0) > SETTLED) & (self.time >= 0))
        # the last tenth is the reference
        if len(outside) and outside[-1] >= 0.9 * len(way):
            return None
        return float(self.time[outside[-1] + 1]) if len(outside) else 0.0

    def _way(self) -> np.ndarray | None:
        """Return the share of the distance from start to end."""
        reach = self.final - self.start
        jump = abs(float(self.target[-1] - self.target[0]))
        return (self.position - self.start) / reach if abs(reach) > SETTLED * jump else None


@dataclass(frozen=True)
class StepResponse:
    """A joint's step response, and that of an ideal drive in its place: the same gains without delay and clamps.

    `bounds` are the lowest and highest effort within the clamps at each step, `(2, steps)`, NaN for none. A joint that
    does not turn slides; None if that is unknown.
    """

    joint: str
    actual: Response
    ideal: Response
    bounds: np.ndarray
    turns: bool | None = None


def draw_step_response(found: StepResponse) -> Figure:
    """Draw position and effort over time, until both have settled; ModuleNotFoundError if Matplotlib is missing."""
    drawn, (position, effort) = panels(10, 7, f"{found.joint}: step response", rows=2, heights=[3, 2])
    actual, ideal, units = found.actual, found.ideal, units_of([found.turns])
    last = float(found.actual.time[-1])
    needed = [last if one.settling_time is None else one.settling_time for one in (found.actual, found.ideal)]
    end = min(last, max(_SHORTEST, _LONGER * max(needed)))
    shown = slice(0, int(np.searchsorted(found.actual.time, end, side="right")))
    time = actual.time[shown]
    position.plot(time, actual.target[shown], color=GREY, linewidth=THIN, linestyle="--", drawstyle="steps-post")
    position.plot(time, ideal.position[shown], color=RED, linewidth=THIN)
    position.plot(time, actual.position[shown], color=BLUE, linewidth=THICK)
    ends = [(actual.target, "target", GREY), (ideal.position, "ideal drive", RED), (actual.position, "actuator", BLUE)]
    position.set_ylabel(f"position [{units.position}]")
    caption(position, "\n".join(_words(actual, ideal)))
    effort.plot(time, ideal.effort[shown], color=RED, linewidth=THIN, drawstyle="steps-post")
    effort.plot(time, actual.effort[shown], color=BLUE, linewidth=THICK, drawstyle="steps-post")
    for bound in found.bounds:
        effort.plot(time, bound[shown], color=GREY, linewidth=THIN, linestyle="--")
    efforts = [(ideal.effort, "ideal drive", RED), (actual.effort, "actuator", BLUE), (found.bounds[1], "limit", GREY)]
    if actual.friction is not None:
        effort.plot(time, actual.friction[shown], color=ORANGE, linewidth=PLAIN, drawstyle="steps-post")
        efforts.append((actual.friction, "friction", ORANGE))
    effort.set_ylabel(f"effort [{units.effort}]")
    effort.set_xlabel("time since the jump [s]")
    caption(effort, "; ".join(["Effort", *_fit(effort, found, shown)]))
    position.set_xlim(time[0], time[-1])
    for panel, labels in ((position, ends), (effort, efforts)):
        label_ends(panel, [(values[shown], name, color) for values, name, color in labels])
    return drawn


def draw_step_bands(steps: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> Figure:
    """Draw steps of joints from 0 to 1, times [s] and positions `(samples, poses)`: the median and all poses."""
    columns = min(len(steps), _COLUMNS)
    rows = -(-len(steps) // columns)
    drawn = figure(max(2.6 * columns, 6.0), 1.9 * rows + 0.6, "Steps of each joint: median, and all poses")
    grid = list(drawn.subplots(rows, columns, sharey=True, squeeze=False).flat)
    dress(grid)
    for panel in grid[len(steps) :]:
        panel.set_visible(False)
    for panel, (joint, (time, curves)) in zip(grid, steps.items(), strict=False):
        mark(panel, y=1.0)
        if curves.size:
            panel.fill_between(time, curves.min(axis=1), curves.max(axis=1), color=BLUE, alpha=2 * SHADE, linewidth=0)
            panel.plot(time, np.median(curves, axis=1), color=BLUE, linewidth=PLAIN)
        panel.set_title(joint, loc="left", fontsize="small")
        panel.tick_params(labelsize="x-small")
    grid[(rows - 1) * columns].set_xlabel("time since the step [s]", fontsize="small")
    return drawn


def _fit(panel: Axes, found: StepResponse, shown: slice) -> list[str]:
    """Fit the panel to limits and the motor's effort, and return the words for a cut-off ideal drive."""
    inside = np.r_[found.actual.effort[shown], found.bounds[:, shown].ravel()]
    most = float(np.abs(found.ideal.effort[shown]).max())
    reach = float(np.nanmax(np.abs(inside)))
    panel.fill_between(found.actual.time[shown], *found.bounds[:, shown], color=GREY, alpha=SHADE / 2, linewidth=0)
    if 0 < _SHOWN * reach < most:
        panel.set_ylim(-_SHOWN * reach, _SHOWN * reach)
        return [f"the ideal drive reaches {with_unit(f'{most:.4g}', units_of([found.turns]).effort)}, beyond the panel"]
    reach = 1.1 * max(reach, most)
    panel.set_ylim(-reach, reach)
    return []


def _words(actual: Response, ideal: Response) -> list[str]:
    words = []
    for name, one in (("Actuator", actual), ("Ideal drive", ideal)):
        if one.rise_time is None or one.overshoot is None:
            words.append(f"{name}: does not move")
            continue
        settled = "not settled" if one.settling_time is None else f"settled after {one.settling_time:.3g} s"
        words.append(f"{name}: rises in {one.rise_time:.3g} s, overshoot {100 * one.overshoot:.3g} %, {settled}")
    return words
