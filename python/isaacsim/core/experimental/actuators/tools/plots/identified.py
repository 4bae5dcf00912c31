"""Measured and simulated positions of a log, joint by joint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .style import BLUE, BROAD, GREY, PLAIN, RED, THIN, caption, label_ends, panels
from .units import units_of

if TYPE_CHECKING:
    from .style import Figure


@dataclass(frozen=True, eq=False)
class Comparison:
    """A log and the simulation of the same commands.

    Args:
        title: Title of the picture.
        joints: Names of the joints.
        time: [s], shape `(samples,)`.
        command: Position targets [rad or m], shape `(samples, joints)`.
        measured: Measured positions [rad or m], same shape.
        simulated: Simulated positions [rad or m], same shape.
        turns: Whether each joint turns; else it slides; None if that is unknown.
    """

    title: str
    joints: Sequence[str]
    time: np.ndarray
    command: np.ndarray
    measured: np.ndarray
    simulated: np.ndarray
    turns: Sequence[bool | None] | None = None


def draw_comparison(found: Comparison) -> Figure:
    """Draw target, measured and simulated position of each joint over time, and the error below.

    Raises:
        ModuleNotFoundError: Matplotlib is missing.
    """
    count = len(found.joints)
    drawn, axes = panels(10, 4.2 * count, found.title, rows=2 * count, heights=[3, 1.4] * count)
    errors = 1000 * (found.simulated - found.measured)
    for column, joint in enumerate(found.joints):
        position, residual = axes[2 * column : 2 * column + 2]
        target, measured, simulated = (values[:, column] for values in (found.command, found.measured, found.simulated))
        position.plot(found.time, target, color=GREY, linewidth=THIN, linestyle="--", drawstyle="steps-post")
        position.plot(found.time, measured, color=RED, **BROAD)
        position.plot(found.time, simulated, color=BLUE, linewidth=PLAIN)
        units = units_of(None if found.turns is None else [found.turns[column]])
        position.set_ylabel(f"position [{units.position}]")
        caption(position, f"{joint}: mean absolute error {np.abs(errors[:, column]).mean():.3g} {units.milli}")
        label_ends(position, [(target, "target", GREY), (measured, "measured", RED), (simulated, "simulated", BLUE)])
        residual.axhline(0.0, color=GREY, linewidth=THIN)
        residual.plot(found.time, errors[:, column], color=BLUE, linewidth=PLAIN)
        residual.set_ylabel(f"error\n[{units.milli}]")
    axes[-1].set_xlabel("time [s]")
    return drawn
