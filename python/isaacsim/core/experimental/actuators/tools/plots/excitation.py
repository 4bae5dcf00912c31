"""Commands of an excitation over time, and how a robot is predicted to move under them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .style import BLUE, GREY, PLAIN, THIN, caption, key, label_ends, lines, panels
from .units import units_of

if TYPE_CHECKING:
    from .style import Figure

# a limit is drawn if it is within the motion, or this share of its range beyond
_NEAR = 0.5


@dataclass(frozen=True, eq=False)
class Prediction:
    """Commands [rad or m] and the predicted motion, speed and effort; arrays are `(samples, joints)`.

    Speeds and efforts are shares of their limits, of which `used` is the largest. Limits of positions are
    `(2, joints)`, infinite for none. `begins` has the kind of motion by the time at which it begins [s]. A joint that
    does not turn slides; None if that is unknown.
    """

    title: str
    joints: Sequence[str]
    time: np.ndarray
    command: np.ndarray
    positions: np.ndarray
    speeds: np.ndarray
    efforts: np.ndarray
    limits: np.ndarray
    begins: Mapping[float, str]
    used: float
    turns: Sequence[bool] | None = None


def draw_prediction(found: Prediction) -> Figure:
    """Draw command and predicted position of each joint, and speeds and efforts as shares of their limits."""
    count = len(found.joints)
    drawn, axes = panels(11, 1.9 * count + 4.4, found.title, rows=count + 2, heights=[*[1.9] * count, 2.0, 2.0])
    for column, joint in enumerate(found.joints):
        panel, command, position = axes[column], found.command[:, column], found.positions[:, column]
        panel.plot(found.time, command, color=GREY, linewidth=THIN, linestyle="--", drawstyle="steps-post")
        panel.plot(found.time, position, color=BLUE, linewidth=PLAIN)
        near = _NEAR * np.ptp(position)
        for limit in found.limits[:, column]:
            if position.min() - near < limit < position.max() + near:
                panel.axhline(limit, color=GREY, linewidth=THIN, linestyle=":")
        units = units_of(None if found.turns is None else [bool(found.turns[column])])
        panel.set_ylabel(f"position [{units.position}]")
        caption(panel, joint)
        label_ends(panel, [(command, "command", GREY), (position, "predicted", BLUE)])
    for panel, shares, words in ((axes[-2], found.speeds, "Speed"), (axes[-1], found.efforts, "Effort")):
        panel.axhline(100.0 * found.used, color=GREY, linewidth=THIN, linestyle=":")
        panel.set_ylim(0.0, 105.0)
        lines(panel, found.time, 100.0 * shares, found.joints, linewidth=THIN)
        panel.set_ylabel(f"{words.lower()} [%]")
        caption(panel, f"{words}, share of the limit")
        key(panel, {f"used at most, {found.used:.0%}": {"linewidth": THIN, "linestyle": ":"}})
    for panel in axes:
        for time in found.begins:
            panel.axvline(time, color=GREY, linewidth=THIN, alpha=0.5)
    for time, kind in found.begins.items():
        axes[0].annotate(
            kind, (time, 1.0), (3, -9), axes[0].get_xaxis_transform(), "offset points", color=GREY, fontsize="small"
        )
    axes[-1].set_xlabel("time [s]")
    return drawn
