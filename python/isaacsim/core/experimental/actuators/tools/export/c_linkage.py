"""Linkages in C: signals of several joints become those of the shafts of their motors, and efforts go the other way.

The functions are those of `native/linkage.h`, operation by operation.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ...engine.entry import entry_from_spec
from ...engine.linkages import PlannedLinkage, plan_linkages
from ...engine.motors import resolve_motors
from ...specs.linkage import MOST_JOINTS
from ...specs.motors import MotorConfig
from ...specs.stages import KINDS
from .c_literals import c_float
from .robot import ExportedJoint


def linkages_of(joints: Sequence[ExportedJoint]) -> list[PlannedLinkage]:
    """Return the linkages of joints in DOF order; their slots are the numbers of these.

    Raises:
        ValueError: A joint of a linkage has no motor of it, or the motors do not determine the joints; a line for each.
    """
    motors = {joint.name: joint.motor for joint in joints if joint.motor is not None}
    # a motor with that alone on which its linkage depends
    linked = {
        name: MotorConfig(motor.controller, others=[one for one in motor.others if KINDS[one.KIND].is_before_joint])
        for name, motor in motors.items()
        if any(KINDS[one.KIND].couples for one in motor.others)
    }
    names = [joint.name for joint in joints]
    found = resolve_motors(linked, names, names, 1)
    if idle := [motor.pattern for motor in found if motor.pattern not in linked]:
        raise ValueError(
            f"joint {idle[0]!r} must have an actuator with a LinkageConfig. Export the file or the "
            "motors of the robot, which have one."
        )
    entries = [entry_from_spec(one.spec, 1, "cpu") for one in found if one.spec is not None]
    return plan_linkages(entries, names)


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


_TEXTS: dict[str, str] = {
    "linkage": """\
typedef struct {
    int count, own[most], pulls[most];
    float matrix[most][most], inverse[most][most], offset[most], inertia[most];
    float lower[most], spacing[most], per_spacing[most];
    int rows[most];
    const float *nodes; /* none for a linear one */
} @linkage;""",
    "shafts": "typedef struct { float angle[most], slope[most][most]; } @shafts;",
    "shafts_in_table": """\
/* between the nodes around a position; beyond the table the slopes at its end hold */
static inline void @shafts_in_table(const @linkage *of, const float q[], @shafts *found) {
    const int n = of->count, width = n * (1 + n), next = n == 2 ? width : 0, columns = n == 2 ? of->rows[1] : 1;
    int cell[most] = {0};
    float part[most] = {0.0f}, beyond[most] = {0.0f};
    for (int j = 0; j < n; ++j) {
        const float last = (float)(of->rows[j] - 1), at = (q[j] - of->lower[j]) * of->per_spacing[j];
        const float inside = at >= 0.0f ? (at <= last ? at : last) : 0.0f;
        cell[j] = (int)inside;
        if (cell[j] > of->rows[j] - 2) cell[j] = of->rows[j] - 2;
        part[j] = inside - (float)cell[j];
        beyond[j] = (at - inside) * of->spacing[j];
    }
    const float *low = of->nodes + (cell[0] * columns + cell[1]) * width, *high = low + columns * width;
    for (int i = 0; i < n; ++i)
        for (int k = 0; k <= n; ++k) {
            const int at = i * (1 + n) + k;
            const float first = low[at] + (low[at + next] - low[at]) * part[1];
            const float second = high[at] + (high[at + next] - high[at]) * part[1];
            *(k ? &found->slope[i][k - 1] : &found->angle[i]) = first + (second - first) * part[0];
        }
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) found->angle[i] += found->slope[i][j] * beyond[j];
}""",
    "shafts_at": """\
/* angles of the shafts, and their change with each joint */
static inline @shafts @shafts_at(const @linkage *of, const float q[]) {
    @shafts found;
    if (of->nodes) {
        @shafts_in_table(of, q, &found);
        return found;
    }
    for (int i = 0; i < of->count; ++i) {
        found.angle[i] = of->matrix[i][0] * q[0];
        for (int j = 1; j < of->count; ++j) found.angle[i] += of->matrix[i][j] * q[j];
        found.angle[i] += of->offset[i];
        memcpy(found.slope[i], of->matrix[i], sizeof found.slope[i]);
    }
    return found;
}""",
    "turned": """\
static inline float @turned(const @shafts *now, int i, const float v[], int count) {
    float sum = now->slope[i][0] * v[0];
    for (int j = 1; j < count; ++j) sum += now->slope[i][j] * v[j];
    return sum;
}""",
    "efforts_of_shafts": """\
/* efforts of the shafts that have given efforts at the joints */
static inline void @efforts_of_shafts(const @linkage *of, const @shafts *now, const float joint[], float shaft[]) {
    if (!of->nodes) {
        for (int i = 0; i < of->count; ++i) {
            shaft[i] = of->inverse[0][i] * joint[0];
            for (int j = 1; j < of->count; ++j) shaft[i] += of->inverse[j][i] * joint[j];
        }
    } else if (of->count == 1) {
        shaft[0] = joint[0] / now->slope[0][0];
    } else {
        const float determinant = now->slope[0][0] * now->slope[1][1] - now->slope[0][1] * now->slope[1][0];
        shaft[0] = (now->slope[1][1] * joint[0] - now->slope[1][0] * joint[1]) / determinant;
        shaft[1] = (now->slope[0][0] * joint[1] - now->slope[0][1] * joint[0]) / determinant;
    }
}""",
    "link_in": """\
/* Signals of the shafts of motors, of those of their joints; commands that are a motor's own stay as they are. */
static inline void @link_in(const @linkage *of, const @signals joints[], @signals shafts[]) {
    float q[most], v[most], q_target[most], v_target[most], given[most], feedforward[most];
    for (int j = 0; j < of->count; ++j) {
        q[j] = joints[j].position, v[j] = joints[j].velocity, given[j] = joints[j].feedforward;
        q_target[j] = joints[j].position_target, v_target[j] = joints[j].velocity_target;
    }
    const @shafts now = @shafts_at(of, q), wanted = @shafts_at(of, q_target);
    @efforts_of_shafts(of, &now, given, feedforward);
    for (int i = 0; i < of->count; ++i) {
        shafts[i] = joints[i];
        shafts[i].position = now.angle[i];
        shafts[i].velocity = @turned(&now, i, v, of->count);
        if (of->own[i]) continue;
        shafts[i].position_target = wanted.angle[i];
        shafts[i].velocity_target = @turned(&wanted, i, v_target, of->count);
        shafts[i].feedforward = feedforward[i];
    }
}""",
    "link_out": """\
/* Efforts at the joints, of those of the shafts, without what accelerates the rotors as the slopes change. */
static inline void @link_out(const @linkage *of, const @signals joints[], float dt, float effort[]) {
    float q[most], v[most], ahead[most], found[most];
    for (int j = 0; j < of->count; ++j) {
        q[j] = joints[j].position, v[j] = joints[j].velocity;
        ahead[j] = q[j] + dt * v[j];
    }
    const @shafts now = @shafts_at(of, q);
    for (int i = 0; i < of->count; ++i)
        if (of->pulls[i] && effort[i] < 0.0f) effort[i] = 0.0f;
    int turns = 0;
    for (int i = 0; of->nodes && i < of->count; ++i) turns |= of->inertia[i] != 0.0f;
    if (turns) {
        const @shafts then = @shafts_at(of, ahead);
        for (int i = 0; i < of->count; ++i) {
            float change = (then.slope[i][0] - now.slope[i][0]) * v[0];
            for (int j = 1; j < of->count; ++j) change += (then.slope[i][j] - now.slope[i][j]) * v[j];
            effort[i] -= of->inertia[i] * (change / dt);
        }
    }
    for (int j = 0; j < of->count; ++j) {
        found[j] = now.slope[0][j] * effort[0];
        for (int i = 1; i < of->count; ++i) found[j] += now.slope[i][j] * effort[i];
    }
    memcpy(effort, found, of->count * sizeof(float));
}""",
    "settled": """\
/* The effort, with the states of the step; zero without them if it is not finite. */
static inline float @settled(float effort, float state[], const float next[], int count) {
    if (!@finite(effort)) return 0.0f;
    memcpy(state, next, count * sizeof(float));
    return effort;
}""",
}

LINKAGES = {name: text.replace("[most]", f"[{MOST_JOINTS}]") for name, text in _TEXTS.items()}
"""Types and functions of linkages by name, each behind those that it uses."""
