"""Python text of cfgs: joints with equal fields in one cfg, names and comments that are no code."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from .robot import ExportedJoint, ExportedRobot, text_of

Cfg = tuple[str, Mapping[str, float | int]]
"""Name of the class, and its fields but for the names of joints."""
# joints with equal fields and intervals
_Groups = dict[tuple[str, tuple[tuple[str, float | int], ...], str], list[ExportedJoint]]


@dataclass(frozen=True)
class Event:
    """A term of an event manager: `function` draws values of joints from `ranges` (smallest, largest), by argument."""

    # for the name of the term
    what: str
    function: str
    # `startup` or `reset`
    mode: str
    ranges: Mapping[str, tuple[float, float]]
    # `abs` or `scale`
    operation: str = "abs"
    # argument of `SceneEntityCfg`; empty for the joints
    entity: str = ""


def module_text(
    robot: ExportedRobot,
    losses: Sequence[str],
    package: str,
    names_field: str,
    cfg_of: Callable[[ExportedJoint], Cfg | None],
    events_of: Callable[[ExportedJoint, int], Sequence[Event]],
    imports: Sequence[str],
) -> str:
    """Return a module with `ACTUATORS`, a dictionary of cfgs by name, and `JOINT_NAMES`, the DOF order.

    Robots with intervals of identified values also get `EVENTS`, a dictionary of event terms by name.
    """
    groups: _Groups = {}
    for joint in robot.joints:
        if found := cfg_of(joint):
            groups.setdefault((found[0], tuple(found[1].items()), repr(joint.intervals)), []).append(joint)
    classes = sorted({name for name, _, _ in groups})
    events = [line for at, some in enumerate(groups.values()) for line in _events(some, events_of(some[0], at))]
    needed = [f"from {package} import {', '.join(classes)}", *(imports if events else []), ""] if classes else []
    lines = [
        *map(_comment, [f"Motors of {robot.name}.", *losses]),
        "",
        *needed,
        "JOINT_NAMES = [",
        *(f"    {joint.name!a}," for joint in robot.joints),
        "]",
        "",
        "ACTUATORS = {",
        *_cfgs(groups, names_field),
        "}",
        *(["", "EVENTS = {", *events, "}"] if events else []),
        "",
    ]
    return "\n".join(lines)


def _cfgs(groups: _Groups, names_field: str) -> Iterator[str]:
    """Yield the lines of the cfgs."""
    for (name, fields, _), joints in groups.items():
        yield f"    {joints[0].name!a}: {name}("
        yield f"        {names_field}=({_expressions(joints)},),"
        yield from (f"        {field}={_number(value)}," for field, value in fields)
        yield "    ),"


def _expressions(joints: Sequence[ExportedJoint]) -> str:
    return ", ".join(ascii(re.escape(joint.name)) for joint in joints)


def _events(joints: Sequence[ExportedJoint], events: Sequence[Event]) -> list[str]:
    """Return the lines of the events of joints."""
    lines: list[str] = []
    for event in events:
        entity = event.entity or f"joint_names=[{_expressions(joints)}]"
        lines += [
            f"    {f'{joints[0].name} {event.what}'!a}: EventTermCfg(",
            f"        func={event.function},",
            f'        mode="{event.mode}",',
            "        params={",
            f'            "asset_cfg": SceneEntityCfg("robot", {entity}),',
            f'            "operation": "{event.operation}",',
            *(f'            "{name}": ({", ".join(map(_number, pair))}),' for name, pair in event.ranges.items()),
            "        },",
            "    ),",
        ]
    return lines


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


def _comment(text: str) -> str:
    """Return text as a comment on one line, of printable characters."""
    return "# " + "".join(one if one.isprintable() else " " for one in text)
