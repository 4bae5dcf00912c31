"""Measured and simulated positions of a log, joint by joint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .style import BLUE, BROAD, GREY, PLAIN, RED, THIN, caption, label_ends, panels

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
    """

    title: str
    joints: Sequence[str]
    time: np.ndarray
    command: np.ndarray
    measured: np.ndarray
    simulated: np.ndarray


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
        position.set_ylabel("position [rad or m]")
        caption(position, f"{joint}: mean absolute error {np.abs(errors[:, column]).mean():.3g} mrad or mm")
        label_ends(position, [(target, "target", GREY), (measured, "measured", RED), (simulated, "simulated", BLUE)])
        residual.axhline(0.0, color=GREY, linewidth=THIN)
        residual.plot(found.time, errors[:, column], color=BLUE, linewidth=PLAIN)
        residual.set_ylabel("error\n[mrad or mm]")
    axes[-1].set_xlabel("time [s]")
    return drawn
