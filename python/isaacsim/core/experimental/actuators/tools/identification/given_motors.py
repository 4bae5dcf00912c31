"""The motors of the joints of a robot, from its file or from what a user gives, for identification to start from."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

import numpy as np

from ...engine.motors import Fit, Motor
from ...simulators.authoring import motors_of_robot
from ...simulators.motor_properties import effort_limits
from ...simulators.simulation import Simulation
from ...specs.motors import MotorConfig, with_friction_stage
from ...specs.patterns import places_matched
from .shafts import linkage_of


def given_motors(
    robot: str | os.PathLike[str], motors: Mapping[str, MotorConfig] | None, joints: Sequence[str]
) -> dict[str, MotorConfig]:
    """Return motors of joints with friction stages, other motors, and what is passive where a shaft moves a joint.

    Their values are numbers, `"joint"` the limit of the joint.
    """
    with Simulation(robot) as simulation:
        robots = simulation.articulation("/")
        names = list(robots.dof_names)
        limits = effort_limits(robots, simulation.stage)
        found = motors_of_robot(simulation, friction_stages=True) if motors is None else motors
    chosen, passive = _by_joint(found, names, limits)
    moved = {joint for linkage in filter(None, map(linkage_of, chosen.values())) for joint in linkage.joints}
    if missing := [name for name in joints if name not in moved.union(chosen)]:
        raise ValueError(
            f"{robot}: {', '.join(missing)}: no motor with a control law: must have one, for identification starts "
            "from its gains. Describe the motors in a file, and give it."
        )
    every = passive | chosen
    kept = moved.union(chosen).intersection(every)
    return {name: every[name] for name in names if name in kept}


def _by_joint(
    motors: Mapping[str, MotorConfig], names: Sequence[str], limits: np.ndarray | None
) -> tuple[dict[str, MotorConfig], dict[str, MotorConfig]]:
    """Return the first motor of each joint, with its numbers: of those with a control law, and of those without."""
    problems: list[str] = []
    resolved: list[Motor] = []
    for pattern, motor in motors.items():
        motor, columns = with_friction_stage(motor), places_matched(pattern, names)
        fit = Fit([names[at] for at in columns], 1, f"motors[{pattern!r}]", problems, lambda: limits, columns)
        spec = fit.spec(motor, pattern, tuple(fit.names), None)
        resolved.append(Motor(pattern, columns, spec, fit.values(motor), motor.intervals))
    if problems:
        raise ValueError("\n".join(problems))
    chosen: dict[str, MotorConfig] = {}
    passive: dict[str, MotorConfig] = {}
    for motor in resolved:
        for at, column in enumerate(motor.columns):
            own = motor.of_joint(at)
            (passive if own.controller is None else chosen).setdefault(names[column], own)
    return chosen, passive
