"""Joints that begin outside their limits; needs no USD."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

from ..words import listed

# how far a joint may be outside its limits, in rad or m, before anybody is told
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
