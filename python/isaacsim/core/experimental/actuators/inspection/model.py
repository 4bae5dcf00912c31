"""Robots of an MJCF or URDF file, read by MuJoCo."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..components.catalogue import in_order
from ..extras import needs
from ..specs.motors import MotorConfig
from ..specs.stages import parts_of
from .described import JOINT_UNITS, DrivenBy, InspectedActuator, InspectedJoint, InspectedRobot, InspectedValue
from .words import law_of, pipeline_of, source_of, values_of

# as the axes of a scene call them
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
    """Every robot of a file, in its order."""
    with needs("an MJCF or URDF file", "sim"):
        from ..hosts.mujoco.file_reader import read_file
        from ..hosts.mujoco.moved_by import followers, other_actuators

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        scene = read_file(path)
    remarks = tuple(str(warning.message).removeprefix(f"{path}: ") for warning in caught)
    # the motors of a URDF file stand for its limits: it has no actuators
    in_file = {} if _is_urdf(path) else scene.motors
    others, led = other_actuators(scene.spec), followers(scene.spec)
    robots: list[InspectedRobot] = []
    for articulation in scene.articulations:
        axes, file = articulation.axes, path.name
        motors = {axis.name: motor for axis in axes if (motor := _motor(in_file, axis.name)) is not None}
        actuators = tuple(_actuator(axis, motors[axis.name], file) for axis in axes if axis.name in motors)
        joints = []
        for axis in axes:
            driver = axis.name if axis.name in motors else others.get(axis.name)
            by: DrivenBy = "MJCF actuator" if driver else "another joint" if axis.name in led else "nothing"
            joints.append(_joint(axis, by, driver, file))
        # what is remarked on the file is told once
        of_file = () if robots else remarks
        robots.append(InspectedRobot(articulation.path, tuple(joints), actuators, (), of_file))
    return robots


def _motor(motors: Mapping[str, MotorConfig], joint: str) -> MotorConfig | None:
    """The motor of a joint; None where it has none."""
    return next((motor for pattern, motor in motors.items() if re.fullmatch(pattern, joint)), None)


def _is_urdf(path: Path) -> bool:
    """Whether a file is URDF, as far as it can be read at all; its endings say nothing."""
    found = re.search(rb"<(robot|mujoco)\b", path.read_bytes())
    return found is not None and found[1] == b"robot"


def _actuator(axis: Any, motor: MotorConfig, file: str) -> InspectedActuator:
    configs = in_order(motor.stages)
    values = {
        (law_of(config), name): value
        for config in configs
        for name, (_, value) in values_of(config, axis.linear, file).items()
    }
    words = pipeline_of(configs)
    if motor.controller is not None and motor.controller.gains_at_joint() == (0.0, 0.0, 0.0):
        # efforts are its control, which stays 0
        words = words.replace(pipeline_of([motor.controller]), "torque motor, nothing drives it", 1)
    return InspectedActuator(axis.name, (axis.name,), words, values=values, **parts_of(configs))


def _joint(axis: Any, by: DrivenBy, driver: str | None, file: str) -> InspectedJoint:
    values = {
        name: InspectedValue(
            (value := float(getattr(axis, field))),
            JOINT_UNITS[name][axis.linear],
            source_of(None if value == default else file),
        )
        for name, (field, default) in _FIELDS.items()
    }
    for name in ("drive_stiffness", "drive_damping"):
        # the drive of the scene stands for the actuators, which are told as such
        values[name] = InspectedValue(0.0, JOINT_UNITS[name][axis.linear], source_of(None))
    return InspectedJoint(axis.name, axis.joint, axis.usd_name, axis.linear, by, driver, values)
