"""`actuators stability`: stability margins of a robot, and remedies for vibration."""

from __future__ import annotations

import dataclasses

from ..stability.table import IMPLICIT_REMEDY, cures_of, late_joints
from .answer import Answer, Table
from .arguments import Stability
from .opened import columns_of, opened, require_actuators, simulate

_ROBOT = {
    "robot": "robot",
    "verdict": "verdict",
    "margin": "margin",
    "spectral_radius": "spectral radius",
    "largest_step": "largest step [s]",
}
_JOINT = {
    "robot": "robot",
    "joint": "joint",
    "effort_mode": "effort mode",
    "kp": "kp",
    "kd": "kd",
    "ki": "ki",
    "latency": "latency [s]",
    "inertia": "inertia",
    "margin": "margin",
    "armature": "armature",
    "smallest_armature": "smallest armature",
    "largest_step": "largest step [s]",
}


def answer(arguments: Stability) -> Answer:
    """Answer `actuators stability`."""
    with opened(
        simulate(arguments, arguments.file, arguments.dt, engine=arguments.engine),
        arguments.robot,
        arguments.config,
        warn=False,
    ) as one:
        actuators = require_actuators(one, arguments.file)
        one.simulation.play()
        found, columns = actuators.stability(), columns_of(_JOINT, one.robots)
    if not any(joint.latency for joint in found.joints):
        del columns["latency"]
    if all(joint.effort_mode == "explicit" for joint in found.joints):
        del columns["effort_mode"]
    robots = [
        dataclasses.asdict(robot) | {"verdict": "stable" if robot.stable else "vibrating"} for robot in found.robots
    ]
    notes = [
        "margin: the gain margin, the factor by which all gains may grow; below 1 it vibrates, and at 0 only more "
        "damping or a smaller step helps. smallest armature: the smallest with which the robot is stable, if all "
        "joints have theirs. largest step: the largest stable physics step, of the robot or of the joint alone."
    ]
    notes += [
        f"<{robot.robot}> would be stable with {cures}." for robot in found.robots if (cures := cures_of(found, robot))
    ]
    notes += [
        f"<{robot.robot}> would be stable with {IMPLICIT_REMEDY}, its efforts those of the end of the step."
        for robot in found.robots
        if robot.implicit_helps
    ]
    notes += late_joints(found)
    if found.sensed:
        notes.append(
            f"Explicit: {', '.join(found.sensed)}. Their actuators are implicit, but their controllers get what a "
            "sensor measured before the step, so that their gains have a limit."
        )
    if found.unknown:
        notes.append(
            f"Unknown: {', '.join(found.unknown)}, driven by a network, a law of one's own or none, or implicit and of "
            "an inertia that is not known."
        )
    if found.left_out:
        notes.append(f"Left out: {', '.join(found.left_out)}, which change efforts and are not in the equations.")
    notes += [f"<{one.robot}> may chatter: {one}. {one.remedy}" for one in found.chatter]
    return Answer(
        [
            Table("robots", _ROBOT, robots, title=f"{arguments.file}, dt = {found.dt:.6g} s"),
            Table("joints", columns, list(map(dataclasses.asdict, found.joints))),
        ],
        notes,
        not found.stable or bool(found.chatter),
    )
