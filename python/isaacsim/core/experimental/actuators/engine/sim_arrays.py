"""Arrays of a simulation, found by name on its state and control objects."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping

from ..base.memory import Tensor

# newton renamed the targets in 1.3; arrays are found under both names
_OTHER_NAME = {
    "joint_target_pos": "joint_target_q",
    "joint_target_vel": "joint_target_qd",
    "joint_target_q": "joint_target_pos",
    "joint_target_qd": "joint_target_vel",
}


def names_of(name: str) -> tuple[str, ...]:
    """The names under which an array may be found."""
    return (name, _OTHER_NAME[name]) if name in _OTHER_NAME else (name,)


def find_arrays(source: object, names: Iterable[str]) -> list[Tensor]:
    """Return the arrays of an object or mapping with these names, or their other names; None for a missing one."""
    get = source.get if isinstance(source, Mapping) else functools.partial(getattr, source)
    arrays = []
    for name in names:
        found = (get(one, None) for one in names_of(name))
        arrays.append(next((array for array in found if array is not None), None))
    return arrays


def missing(source: object, name: str) -> ValueError:
    """Return the error of a missing array."""
    if not isinstance(source, Mapping) and hasattr(source, name):
        return ValueError(f"{type(source).__name__}: {name!r} is None: must be an array. Assign it before the step.")
    names = " or ".join(map(repr, names_of(name)))
    return ValueError(f"{type(source).__name__} has no array {names}. Give it one, or name another attribute.")
