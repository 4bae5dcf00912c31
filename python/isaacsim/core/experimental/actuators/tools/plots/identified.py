"""Positions of the same robot twice, joint by joint: measured and simulated, or on two sides of a comparison."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .style import BLUE, BROAD, GREY, PLAIN, RED, THIN, caption, label_ends, panels
from .units import Units, units_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .style import Figure

# positions, their label and color
_Curve = tuple[np.ndarray, str, str]


@dataclass(frozen=True, eq=False)
class Comparison:
    """A log and the simulation of the same commands: positions `(samples, joints)` [rad or m] over `time` [s]."""

    title: str
    joints: Sequence[str]
    time: np.ndarray
    command: np.ndarray
    measured: np.ndarray
    simulated: np.ndarray
    # else a joint slides; None if that is unknown
    turns: Sequence[bool | None] | None = None


@dataclass(frozen=True, eq=False)
class TwoMotions:
    """Two motions of the same joints, named sides, and their difference with all causes put equal, `remaining`.

    Positions, targets and differences are `(samples, joints)` [rad or m]. They part at a time [s], or do not (None). A
    joint that does not turn slides; None if that is unknown.
    """

    title: str
    names: tuple[str, str]
    joints: Sequence[str]
    time: np.ndarray
    target: np.ndarray
    first: np.ndarray
    second: np.ndarray
    errors: np.ndarray
    remaining: np.ndarray
    parted: float | None
    turns: Sequence[bool | None] | None = None


def draw_comparison(found: Comparison) -> Figure:
    """Draw target, measured and simulated position of each joint over time, and the error below."""
    drawn, axes = _panels(found)
    errors = 1000 * (found.simulated - found.measured)
    curves = (found.command, "target", GREY), (found.measured, "measured", RED), (found.simulated, "simulated", BLUE)
    for column, joint, units, position, below in _positions(found, axes, curves):
        caption(position, f"{joint}: mean absolute error {np.abs(errors[:, column]).mean():.3g} {units.milli}")
        below.axhline(0.0, color=GREY, linewidth=THIN)
        below.plot(found.time, errors[:, column], color=BLUE, linewidth=PLAIN)
        below.set_ylabel(f"error\n[{units.milli}]")
    return drawn


def draw_two_motions(found: TwoMotions) -> Figure:
    """Draw target and both positions of each joint over time, and the differences below."""
    drawn, axes = _panels(found)
    curves = (found.target, "target", GREY), (found.first, found.names[0], BLUE), (found.second, found.names[1], RED)
    for column, joint, units, position, below in _positions(found, axes, curves):
        caption(position, joint)
        errors, remaining = 1000 * found.errors[:, column], 1000 * found.remaining[:, column]
        below.plot(found.time, errors, color=RED, linewidth=PLAIN)
        below.plot(found.time, remaining, color=GREY, linewidth=THIN)
        below.set_ylabel(f"difference\n[{units.milli}]")
        label_ends(below, [(errors, "as they are", RED), (remaining, "causes equal", GREY)])
        if found.parted is not None:
            for panel in (position, below):
                panel.axvline(found.parted, color=GREY, linewidth=THIN, linestyle=":")
    return drawn


def _panels(found: Comparison | TwoMotions) -> tuple[Figure, list[Axes]]:
    """Return a figure with two panels for each joint."""
    count = len(found.joints)
    drawn, axes = panels(10, 4.2 * count, found.title, rows=2 * count, heights=[3, 1.4] * count)
    axes[-1].set_xlabel("time [s]")
    return drawn, axes


def _positions(
    found: Comparison | TwoMotions, axes: Sequence[Axes], curves: Sequence[_Curve]
) -> Iterator[tuple[int, str, Units, Axes, Axes]]:
    """Draw target, reference and other positions of each joint; yield column, name and units of it, and its panels."""
    for column, joint in enumerate(found.joints):
        position, below = axes[2 * column : 2 * column + 2]
        units = units_of(None if found.turns is None else [found.turns[column]])
        target, first, second = ((values[:, column], label, color) for values, label, color in curves)
        position.plot(found.time, target[0], color=target[2], linewidth=THIN, linestyle="--", drawstyle="steps-post")
        position.plot(found.time, first[0], color=first[2], **BROAD)
        position.plot(found.time, second[0], color=second[2], linewidth=PLAIN)
        position.set_ylabel(f"position [{units.position}]")
        yield column, joint, units, position, below
        label_ends(position, [target, first, second])
