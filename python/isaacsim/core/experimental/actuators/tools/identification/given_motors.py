"""The motors of the joints of a robot, from its file or from what a user gives, for identification to start from."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from ...simulators.authoring import motors_of_robot
from ...simulators.simulation import Simulation
from ...specs.motors import MotorConfig, with_friction_stage
from ...specs.patterns import first_matching
from .shafts import linkage_of


def given_motors(
    robot: str | os.PathLike[str], motors: Mapping[str, MotorConfig] | None, joints: Sequence[str]
) -> dict[str, MotorConfig]:
    """Return motors of joints with friction stages, other motors, and what is passive where a shaft moves a joint."""
    with Simulation(robot) as simulation:
        names = list(simulation.articulation("/").dof_names)
        found = motors_of_robot(simulation, friction_stages=True) if motors is None else motors
    found = {pattern: with_friction_stage(motor) for pattern, motor in found.items()}
    chosen, passive = _first_of(found, names, driven=True), _first_of(found, names, driven=False)
    moved = {joint for linkage in filter(None, map(linkage_of, chosen.values())) for joint in linkage.joints}
    if missing := [name for name in joints if name not in moved.union(chosen)]:
        raise ValueError(
            f"{robot}: {', '.join(missing)}: no motor with a control law: must have one, for identification starts "
            "from its gains. Describe the motors in a file, and give it."
        )
    return chosen | {name: motor for name, motor in passive.items() if name in moved.difference(chosen)}


def _first_of(motors: Mapping[str, MotorConfig], names: Sequence[str], driven: bool) -> dict[str, MotorConfig]:
    """Return the first motor of each joint by patterns, of those with a control law or of those without."""
    some = {pattern: motor for pattern, motor in motors.items() if (motor.controller is not None) == driven}
    return {name: motor for name in names if (motor := first_matching(some, name)) is not None}
