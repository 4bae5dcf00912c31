"""The motors of the joints of a robot, from its file or from what a user gives, for identification to start from."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Mapping, Sequence

from ...simulators.authoring import motors_of_robot
from ...simulators.simulation import Simulation
from ...specs.motors import MotorConfig, with_friction_stage
from ...specs.stages import is_linked


def given_motors(
    robot: str | os.PathLike[str], motors: Mapping[str, MotorConfig] | None, joints: Sequence[str]
) -> dict[str, MotorConfig]:
    """Return a motor for each joint, friction as a stage of theirs, and those of other joints that have one."""
    with Simulation(robot) as simulation:
        names = list(simulation.articulation("/").dof_names)
        found = motors_of_robot(simulation, friction_stages=True) if motors is None else motors
    chosen: dict[str, MotorConfig] = {}
    for name in names:
        if (motor := _motor_of(name, found)) is not None:
            chosen[name] = motor if motors is None else with_friction_stage(motor)
    if missing := list(itertools.filterfalse(chosen.__contains__, joints)):
        raise ValueError(
            f"{robot}: {', '.join(missing)}: no motor with a control law: must have one, for identification starts "
            "from its gains. Describe the motors in a file, and give it."
        )
    if coupled := [name for name in joints if is_linked(chosen[name])]:
        raise ValueError(
            f"{robot}: {', '.join(coupled)}: motors move several joints, by a linkage: must be left out of the logs, "
            "for identification fits joints one by one. Identify such a motor on a bench, as the joint of its shaft."
        )
    return chosen


def _motor_of(joint: str, motors: Mapping[str, MotorConfig]) -> MotorConfig | None:
    """Return the first motor with a control law that a joint has by its pattern."""
    for pattern, motor in motors.items():
        if re.fullmatch(pattern, joint) and motor.controller is not None:
            return motor
    return None
