"""Names of joint axes; needs no USD."""

from __future__ import annotations

# of joints with several
MANY = ("transX", "transY", "transZ", "rotX", "rotY", "rotZ")


def axis_in(dof_name: str) -> str:
    """The axis in the name of a DOF, `joint:axis`; empty for that of a joint with one."""
    return dof_name.partition(":")[2]


def is_angular(axis: str) -> bool:
    """Whether an axis turns."""
    return axis == "angular" or axis.startswith("rot")
