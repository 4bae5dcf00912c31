"""Linkages in C: signals of several joints become those of the shafts of their motors, and efforts go the other way.

The functions, in `library.h`, are those of `native/linkage.h`, operation by operation.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ...engine.entry import entry_from_spec
from ...engine.linkages import PlannedLinkage, plan_linkages
from ...engine.motors import resolve_motors
from ...specs.motors import MotorConfig
from ...specs.stages import KINDS, is_linked
from .c_literals import c_float
from .robot import ExportedJoint


def linkages_of(joints: Sequence[ExportedJoint]) -> list[PlannedLinkage]:
    """Return the linkages of joints in DOF order; their slots are the numbers of these.

    Raises ValueError if a joint has no motor of its linkage, or motors do not determine the joints; a line for each.
    """
    names, linked = [joint.name for joint in joints], _linked(joints)
    found = resolve_motors(linked, names, names, 1)
    if idle := [motor.pattern for motor in found if motor.pattern not in linked]:
        raise ValueError(
            f"joint {idle[0]!r} must have an actuator with a LinkageConfig. Export the file or the "
            "motors of the robot, which have one."
        )
    entries = [entry_from_spec(one.spec, 1, "cpu") for one in found if one.spec is not None]
    return plan_linkages(entries, names)


def _linked(joints: Iterable[ExportedJoint]) -> dict[str, MotorConfig]:
    """Return the motors of linkages by joint, with that alone on which their linkage depends."""
    motors = {joint.name: joint.motor for joint in joints if joint.motor is not None and is_linked(joint.motor)}
    return {
        name: MotorConfig(motor.controller, others=[one for one in motor.others if KINDS[one.KIND].is_before_joint])
        for name, motor in motors.items()
    }


def linkage_text(number: int, linkage: PlannedLinkage, joints: Iterable[str]) -> str:
    """Return the constants of a linkage; names of its joints are as a comment can have them."""
    count, is_table = len(linkage.slots), bool(len(linkage.nodes))
    rows = {
        "joints": f"{count}",
        "own commands": _array(int(one) for one in linkage.own),
        "pulls only": _array(int(one) for one in linkage.pulls),
        "slopes": _square(linkage.matrix),
        "inverse": _square(linkage.inverse),
        "angles at 0 [rad]": _floats(linkage.offset),
        "inertias of rotors [kg·m²]": _floats(linkage.inertia),
        "table: first positions [rad or m]": _floats(linkage.lower),
        "distances": _floats(linkage.spacing),
        "their inverse": _floats(linkage.per_spacing),
        "numbers of positions": _array(int(one) for one in linkage.rows),
        "nodes": f"@nodes_{number}" if is_table else "0",
    }
    lines = [f"static const @linkage @linkage_{number} = {{ /* {', '.join(joints)} */"]
    lines += (f"    {value}, /* {words} */" for words, value in rows.items())
    return "\n".join([*(_nodes(number, linkage.nodes, count) if is_table else []), *lines, "};"])


def _nodes(number: int, nodes: np.ndarray, count: int) -> list[str]:
    head = f"static const float @nodes_{number}[] = {{ /* per node the angle of each shaft, then its slopes */"
    rows = nodes.reshape(-1, count * (1 + count))
    return [head, *(f"    {', '.join(map(c_float, row))}," for row in rows), "};"]


def _square(matrix: np.ndarray) -> str:
    return _array(_floats(row) for row in matrix)


def _floats(values: np.ndarray) -> str:
    return _array(map(c_float, values))


def _array(values: Iterable[object]) -> str:
    return f"{{{', '.join(map(str, values))}}}"
