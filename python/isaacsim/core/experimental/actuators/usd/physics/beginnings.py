"""Joints that begin outside their limits; needs no USD."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence

from ...specs.arguments import number_of, require_type
from ...specs.patterns import assigned
from ..words import listed
from .scene import Axis

# tolerance of joint limits for initial positions [rad or m]
OFF = 1e-3
# what to do on a stage
BEGIN_ELSEWHERE = (
    "Author the joint state that they shall begin in, `state:angular:physics:position` in degrees or "
    "`state:linear:physics:position`, or call set_dof_positions after play()."
)


def warn_of_beginnings(
    where: str, joints: Iterable[tuple[str, float, float, float]], remedy: str, *, stacklevel: int
) -> None:
    """Warn once of all joints that begin outside their limits.

    Args:
        where: The file, or nothing where the joints are paths.
        joints: Name, position, lower and upper limit of each [rad or m].
        remedy: How to begin elsewhere.
        stacklevel: Of the warning, from here.
    """
    outside = [
        f"{name} ({position:.4g}, limits {lower:.4g} … {upper:.4g})"
        for name, position, lower, upper in joints
        if not lower - OFF <= position <= upper + OFF
    ]
    if outside:
        warnings.warn(
            f"{where}joints begin outside their limits, in rad or m, and are pushed back at once: {listed(outside)}. "
            f"{remedy}",
            stacklevel=stacklevel + 1,
        )


def begin_at(axes: Sequence[Axis], positions: Mapping[str, float]) -> None:
    """Let joints begin at given positions, and their position targets with them.

    Args:
        axes: Of all robots.
        positions: [rad or m] by pattern of names.

    Raises:
        ValueError: A pattern is none or matches nothing, several match a joint, or a position is outside its limits;
            a line for each problem, and nothing is changed.
    """
    require_type("initial_positions", positions, Mapping, "a dictionary of positions by pattern of joint names")
    values = {pattern: number_of(f"initial_positions[{pattern!r}]", value) for pattern, value in positions.items()}
    names = list(dict.fromkeys(axis.name for axis in axes))
    patterns, problems = assigned(values, names, "initial_positions", every=False)
    begun = [(axis, values[patterns[axis.name]]) for axis in axes if axis.name in patterns]
    problems += [
        f"initial_positions: {axis.name} = {value:g}: must be within its limits, {axis.lower:.4g} … {axis.upper:.4g} "
        f"{'m' if axis.linear else 'rad'}. Correct it."
        for axis, value in begun
        if not (math.isfinite(value) and axis.lower - OFF <= value <= axis.upper + OFF)
    ]
    if problems:
        raise ValueError("\n".join(problems))
    for axis, value in begun:
        axis.position, axis.position_target = value, value
