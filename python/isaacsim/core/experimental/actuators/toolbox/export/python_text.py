"""Python text of cfgs: joints with equal fields in one cfg, names and comments that are no code."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence

from .numbers_as_text import text_of
from .robot import ExportedJoint, ExportedRobot

Cfg = tuple[str, Mapping[str, float | int]]
"""Name of the class, and its fields but for the names of joints."""


def module_text(
    robot: ExportedRobot,
    losses: Sequence[str],
    package: str,
    names_field: str,
    cfg_of: Callable[[ExportedJoint], Cfg | None],
) -> str:
    """Return a module with `ACTUATORS`, a dictionary of cfgs by name, and `JOINT_NAMES`, the DOF order.

    Args:
        robot: The robot.
        losses: What it does not say, a sentence each.
        package: Where the classes are.
        names_field: Field with the names of joints, as regular expressions.
        cfg_of: Returns the cfg of a joint; None if there is none.
    """
    groups: dict[tuple[str, tuple[tuple[str, float | int], ...]], list[str]] = {}
    for joint in robot.joints:
        if found := cfg_of(joint):
            groups.setdefault((found[0], tuple(found[1].items())), []).append(joint.name)
    classes = sorted({name for name, _ in groups})
    lines = [
        f"# {_in_comment(f'Motors of {robot.name}.')}",
        *(f"# {_in_comment(loss)}" for loss in losses),
        "",
        *([f"from {package} import {', '.join(classes)}", ""] if classes else []),
        "JOINT_NAMES = [",
        *(f"    {joint.name!a}," for joint in robot.joints),
        "]",
        "",
        "ACTUATORS = {",
    ]
    for (name, fields), joints in groups.items():
        expressions = ", ".join(ascii(re.escape(joint)) for joint in joints)
        lines.append(f"    {joints[0]!a}: {name}(")
        lines.append(f"        {names_field}=({expressions},),")
        lines += [f"        {field}={_number(value)}," for field, value in fields]
        lines.append("    ),")
    return "\n".join([*lines, "}", ""])


def pd_fields(joint: ExportedJoint) -> dict[str, float | int]:
    """Return the fields of a PD law and of the limits of its motor, which Isaac Lab and mjlab name alike."""
    said = joint.features
    fields: dict[str, float | int] = {"stiffness": said["kp"], "damping": said["kd"]}
    fields["effort_limit"] = joint.largest_effort
    if "dc_motor" in said:
        stall, no_load, peak = said["dc_motor"]
        # the stall effort is no limit beyond no-load speed, where the motor brakes
        fields["effort_limit"] = min(peak, float(said.get("max_effort", peak)))
        fields |= {"saturation_effort": stall, "velocity_limit": no_load}
    return fields


def _number(value: float) -> str:
    if isinstance(value, int):
        return str(value)
    if math.isinf(value):
        return 'float("inf")'
    text = text_of(value)
    return text if "." in text or "e" in text else f"{text}.0"


def _in_comment(text: str) -> str:
    """Return text on one line, of printable characters."""
    return "".join(one if one.isprintable() else " " for one in text)
