"""Initial positions of joints, and warnings of those outside the limits; needs no USD."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence

from ...files.usd.words import listed
from ...specs.arguments import number_of, require_type
from ...specs.patterns import assigned
from .scene import Axis

# tolerance of joint limits for initial positions [rad or m]
OFF = 1e-3
# remedy on a stage
BEGIN_ELSEWHERE = (
    "Author the joint state that they shall begin in, `state:angular:physics:position` in degrees or "
    "`state:linear:physics:position`, or call set_dof_positions after play()."
)


def warn_of_beginnings(
    where: str, joints: Iterable[tuple[str, float, float, float]], remedy: str, *, stacklevel: int
) -> None:
    """Warn once of all joints that begin outside their limits.

    Args:
        where: The file and a colon; empty if the joints are paths.
        joints: Name, position, lower and upper limit of each [rad or m].
        remedy: How to change initial positions, a sentence.
        stacklevel: That of the caller.
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
    """Set initial positions of joints, and their position targets with them.

    Args:
        axes: Of all robots.
        positions: [rad or m] by pattern of names.

    Raises:
        ValueError: A pattern is invalid or matches nothing, several match a joint, or a position is outside its limits;
            a line for each problem, and nothing is changed.
    """
    require_type("initial_positions", positions, Mapping, "a dictionary of positions by pattern of joint names")
    values = {pattern: number_of(f"initial_positions[{pattern!r}]", value) for pattern, value in positions.items()}
    names = list(dict.fromkeys(axis.name for axis in axes))
    patterns, problems = assigned(values, names, "initial_positions", every=False)
    begun = [(axis, values[patterns[axis.name]]) for axis in axes if axis.name in patterns]
    problems += [problem for axis, value in begun if (problem := _problem(axis, value))]
    if problems:
        raise ValueError("\n".join(problems))
    for axis, value in begun:
        axis.position, axis.position_target = value, value


def _problem(axis: Axis, value: float) -> str:
    if math.isfinite(value) and axis.lower - OFF <= value <= axis.upper + OFF:
        return ""
    unit = "m" if axis.linear else "rad"
    return (
        f"initial_positions: {axis.name} = {value:g}: must be within its limits, {axis.lower:.4g} … {axis.upper:.4g} "
        f"{unit}. Correct it."
    )
