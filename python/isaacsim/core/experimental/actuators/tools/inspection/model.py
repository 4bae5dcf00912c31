"""Robots of an MJCF or URDF file, read by MuJoCo."""

from __future__ import annotations

import dataclasses
import math
import re
import warnings
from collections.abc import Container, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ...base.extras import needs
from ...laws.contract.catalogue import in_order
from ...specs.motors import MotorConfig
from ...specs.stages import parts_of
from .described import JOINT_UNITS, DrivenBy, InspectedActuator, InspectedJoint, InspectedRobot, InspectedValue
from .words import law_of, pipeline_of, source_of, values_of

if TYPE_CHECKING:
    from ...simulators.scene.scene import Articulation, Axis

# attribute of the axes of a scene, and its default
_FIELDS = {
    "lower_limit": ("lower", -math.inf),
    "upper_limit": ("upper", math.inf),
    "effort_limit": ("drive_limit", math.inf),
    "velocity_limit": ("max_velocity", math.inf),
    "armature": ("armature", 0.0),
    "friction": ("friction", 0.0),
    "viscous_friction": ("damping", 0.0),
}


def robots_of_model(path: Path) -> list[InspectedRobot]:
    """Return the robots of a file, in its order."""
    with needs("an MJCF or URDF file", "sim"):
        from ...simulators.mujoco.file_reader import read_file
        from ...simulators.mujoco.model_actuators import followers, other_actuators

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        scene = read_file(path)
    remarks = tuple(str(warning.message).removeprefix(f"{path}: ") for warning in caught)
    # a URDF file has no actuators: its motors are its limits
    motors = {} if _is_urdf(path) else scene.motors
    others, led = other_actuators(scene.spec), followers(scene.spec)
    robots = [_robot(articulation, motors, others, led, path.name) for articulation in scene.articulations]
    # a remark on the file is reported once
    first = {"remarks": remarks, "two_values": tuple(scene.two_values)}
    return [dataclasses.replace(robot, **first) if at == 0 else robot for at, robot in enumerate(robots)]


def _robot(
    articulation: Articulation,
    motors: Mapping[str, MotorConfig],
    others: Mapping[str, str],
    led: Container[str],
    file: str,
) -> InspectedRobot:
    """Return one robot.

    Args:
        articulation: Of the scene.
        motors: The file's motors by pattern.
        others: Actuators that are no motors of ours, by joint.
        led: Joints that follow others.
        file: Name of the file.
    """
    found = {axis.name: _motor(motors, axis.name) for axis in articulation.axes}
    actuators = [_actuator(axis, motor, file) for axis in articulation.axes if (motor := found[axis.name]) is not None]
    joints: list[InspectedJoint] = []
    for axis in articulation.axes:
        driver = others.get(axis.name) if found[axis.name] is None else axis.name
        by: DrivenBy = "MJCF actuator" if driver else "another joint" if axis.name in led else "nothing"
        joints.append(_joint(axis, by, driver, file))
    return InspectedRobot(articulation.path, tuple(joints), tuple(actuators))


def _motor(motors: Mapping[str, MotorConfig], joint: str) -> MotorConfig | None:
    return next((motor for pattern, motor in motors.items() if re.fullmatch(pattern, joint)), None)


def _is_urdf(path: Path) -> bool:
    """Return True if the root element of a file is URDF's; its extension does not determine the format."""
    found = re.search(rb"<(robot|mujoco)\b", path.read_bytes())
    return found is not None and found[1] == b"robot"


def _actuator(axis: Axis, motor: MotorConfig, file: str) -> InspectedActuator:
    configs = in_order(motor.stages)
    values = {
        (law_of(config), name): value
        for config in configs
        for name, (_, value) in values_of(config, axis.linear, file).items()
    }
    words = pipeline_of(configs)
    if motor.controller is not None and motor.controller.gains_at_joint() == (0.0, 0.0, 0.0):
        # its control input is the effort, which stays 0
        words = words.replace(pipeline_of([motor.controller]), "torque motor, nothing drives it", 1)
    return InspectedActuator(axis.name, (axis.name,), words, values=values, **parts_of(configs))


def _joint(axis: Axis, by: DrivenBy, driver: str | None, file: str) -> InspectedJoint:
    values = {
        name: InspectedValue(
            (value := float(getattr(axis, field))),
            JOINT_UNITS[name][axis.linear],
            source_of(None if value == default else file),
        )
        for name, (field, default) in _FIELDS.items()
    }
    for name in ("drive_stiffness", "drive_damping"):
        # the drive of the scene represents the actuators, which are listed as such
        values[name] = InspectedValue(0.0, JOINT_UNITS[name][axis.linear], source_of(None))
    return InspectedJoint(axis.name, axis.joint, axis.usd_name, axis.linear, by, driver, values)
