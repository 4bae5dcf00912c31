"""Names of joint axes; needs no USD."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

# of joints with several
MANY = ("transX", "transY", "transZ", "rotX", "rotY", "rotZ")


def axis_in(dof_name: str) -> str:
    """The axis in the name of a DOF, `joint:axis`; empty for that of a joint with one."""
    return dof_name.partition(":")[2]


def address(joint: str, dof_name: str) -> str:
    """Joint and axis of a DOF in one text, `/Robot/hip` or `/Robot/hip:rotX`."""
    return ":".join(filter(None, (joint, axis_in(dof_name))))


def told_apart(dof_names: Sequence[str], joints: Sequence[str]) -> list[str]:
    """Names of DOFs, with the address in place of a name that several have."""
    count = Counter(dof_names)
    return [name if count[name] == 1 else address(path, name) for path, name in zip(joints, dof_names, strict=True)]


def is_angular(axis: str) -> bool:
    """Whether an axis turns."""
    return axis == "angular" or axis.startswith("rot")
