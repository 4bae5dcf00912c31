"""Positions of the same robot on two sides, joint by joint."""

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
class TwoMotions:
    """Two motions of the same joints, and the second one with all causes put equal.

    Args:
        title: Title of the picture.
        names: Names of the two sides.
        joints: Names of the joints.
        time: [s], shape `(samples,)`.
        target: Position targets [rad or m], shape `(samples, joints)`.
        first: Positions on the first side [rad or m], same shape.
        second: Positions on the second side [rad or m], same shape.
        errors: Differences [rad or m], same shape.
        remaining: Differences with all causes put equal [rad or m], same shape.
        parted: Time at which the motions part [s]; None if they do not.
        turns: Which joints turn; None where that is unknown.
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


def draw_two_motions(found: TwoMotions) -> Figure:
    """Draw target and both positions of each joint over time, and the differences below.

    Raises:
        ModuleNotFoundError: Matplotlib is missing.
    """
    count = len(found.joints)
    drawn, axes = panels(10, 4.2 * count, found.title, rows=2 * count, heights=[3, 1.4] * count)
    for column, joint in enumerate(found.joints):
        units = units_of(None if found.turns is None else [found.turns[column]])
        position, below = axes[2 * column : 2 * column + 2]
        target, first, second = (values[:, column] for values in (found.target, found.first, found.second))
        position.plot(found.time, target, color=GREY, linewidth=THIN, linestyle="--", drawstyle="steps-post")
        position.plot(found.time, first, color=BLUE, **BROAD)
        position.plot(found.time, second, color=RED, linewidth=PLAIN)
        position.set_ylabel(f"position [{units.position}]")
        caption(position, joint)
        label_ends(position, [(target, "target", GREY), (first, found.names[0], BLUE), (second, found.names[1], RED)])
        errors, remaining = 1000 * found.errors[:, column], 1000 * found.remaining[:, column]
        below.plot(found.time, errors, color=RED, linewidth=PLAIN)
        below.plot(found.time, remaining, color=GREY, linewidth=THIN)
        below.set_ylabel(f"difference\n[{units.milli}]")
        label_ends(below, [(errors, "as they are", RED), (remaining, "causes equal", GREY)])
        if found.parted is not None:
            for panel in (position, below):
                panel.axvline(found.parted, color=GREY, linewidth=THIN, linestyle=":")
    axes[-1].set_xlabel("time [s]")
    return drawn
