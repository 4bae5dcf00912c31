"""Names of joint axes; needs no USD."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

# axes of joints with several
MANY = ("transX", "transY", "transZ", "rotX", "rotY", "rotZ")


def axis_in(dof_name: str) -> str:
    """The axis in the name of a DOF, `joint:axis`; empty for a joint with one axis."""
    return dof_name.partition(":")[2]


def address(joint: str, dof_name: str) -> str:
    """Address of a DOF, `/Robot/hip` or `/Robot/hip:rotX`."""
    return ":".join(filter(None, (joint, axis_in(dof_name))))


def disambiguate(dof_names: Sequence[str], joints: Sequence[str]) -> list[str]:
    """Names of DOFs, with the address for names that several have."""
    count = Counter(dof_names)
    return [name if count[name] == 1 else address(path, name) for path, name in zip(joints, dof_names, strict=True)]


def is_angular(axis: str) -> bool:
    """Return True if an axis turns."""
    return axis == "angular" or axis.startswith("rot")
