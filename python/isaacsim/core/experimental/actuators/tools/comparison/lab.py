"""The groups of a robot in Isaac Lab as motors and properties of joints, for a side of a comparison.

The laws are those of `compat.isaac_lab`, with the values that its rules give: joints of explicit groups have motors,
and those of implicit groups the drives of the simulator with the gains and limits of the cfg.
"""

from __future__ import annotations

import atexit
import dataclasses
import functools
import math
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...compat.isaac_lab.articulations import groups_in
from ...compat.isaac_lab.groups import joints_of_groups, resolved_of, uncovered
from ...compat.isaac_lab.kinds import IMPLICIT, NETWORKS
from ...compat.isaac_lab.motors import delay_range, metadata_of, motor_of_group, not_in_network
from ...compat.isaac_lab.resolve import Resolved, Rules
from ...engine.motors import resolve_motors
from ...files.networks.convert import convert_checkpoint
from ...specs.configs import ClampingConfig, MaxEffortClampingConfig, PDControlConfig
from ...specs.engine_friction import is_friction
from ...specs.motors import MotorConfig

if TYPE_CHECKING:
    from ...compat.isaac_lab.kinds import Cfg

OF_JOINTS = {
    "velocity_limit_sim": "velocity limit",
    "armature": "armature",
    "friction": "static friction",
    "dynamic_friction": "dynamic friction",
    "viscous_friction": "viscous friction",
}
"""Properties of a side that are those of its joints, by field of the cfg."""
OF_DRIVES = {"stiffness": "stiffness", "damping": "damping", "effort_limit_sim": "effort limit"}
"""Properties of a side that are those of its drives, by field of the cfg."""
_DRY = ("friction", "dynamic_friction")


@dataclass(frozen=True)
class LabMotors:
    """The groups of a robot, joint by joint: motors of explicit ones, drives as motors of implicit ones.

    `properties` are values other than in the robot's file, SI, by property of a side and joint; joints in no group are
    `uncovered`; `remarks` say what a comparison simulates in another way than Isaac Lab.
    """

    motors: dict[str, MotorConfig]
    drives: dict[str, MotorConfig]
    properties: dict[str, dict[str, float]]
    uncovered: list[str]
    remarks: list[str]


def lab_motors(
    groups: object,
    names: list[str],
    robot: Mapping[str, np.ndarray],
    there: Mapping[str, np.ndarray],
    rules: Rules | None,
    *,
    one_dry_friction: bool,
) -> LabMotors:
    """Return the motors of groups."""
    problems: list[str] = []
    of_groups = joints_of_groups(groups_in(groups), names, problems)
    if problems:
        raise ValueError("\n".join(problems))
    found = LabMotors({}, {}, {}, uncovered(of_groups, names), [])
    for group, resolved in resolved_of(of_groups, names, robot, rules).items():
        cfg, columns = of_groups[group]
        # a motor puts those of the author back, and a drive does not
        own = there if resolved.model == IMPLICIT else robot
        joints = _Joints(resolved, {name: values[0, columns] for name, values in own.items()}, one_dry_friction)
        if resolved.model == IMPLICIT:
            given = [joints.drive(at) for at in range(len(columns))]
            found.drives.update(zip(resolved.names, given, strict=True))
        else:
            given = _motors(cfg, resolved)
            found.motors.update((name, joints.motor(given[at], at)) for at, name in enumerate(resolved.names))
            found.remarks.extend(_remarks(group, cfg, resolved))
        for at, motor in enumerate(given):
            for name, value in joints.properties(motor, at):
                found.properties.setdefault(name, {})[resolved.names[at]] = value
    return found


def drive_of(stiffness: float, damping: float, effort_limit: float) -> MotorConfig:
    """Return the motor with the effect of a drive."""
    return MotorConfig(PDControlConfig(stiffness, damping), _without_infinity([MaxEffortClampingConfig(effort_limit)]))


def _motors(cfg: Cfg, resolved: Resolved) -> list[MotorConfig]:
    """Return the motor of each joint of an explicit group."""
    names = resolved.names
    if resolved.model in NETWORKS and not_in_network(cfg, resolved.model):
        target = Path(_folder(), f"{len(list(Path(_folder()).iterdir()))}_{Path(cfg.network_file).stem}.safetensors")
        convert_checkpoint(cfg.network_file, target, metadata_of(cfg, resolved.model))
        cfg = cfg.replace(network_file=str(target))
    motor = motor_of_group(cfg, resolved)
    motor = dataclasses.replace(motor, clamping=_without_infinity(motor.clamping))
    (fitted,) = resolve_motors({"|".join(map(re.escape, names)): motor}, names, names, 1)
    return [fitted.of_joint(at) for at in range(len(names))]


def _without_infinity(limits: list[ClampingConfig]) -> list[ClampingConfig]:
    """Return limits without those that are none, as motors without a limit are."""
    return [one for one in limits if not isinstance(one, MaxEffortClampingConfig) or one.max_effort != math.inf]


@functools.cache
def _folder() -> str:
    """Return a folder for files of this process, which removes it at its end."""
    folder = tempfile.mkdtemp(prefix="actuators_lab_")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _remarks(group: str, cfg: object, resolved: Resolved) -> Iterator[str]:
    """Yield what a comparison simulates in another way."""
    low, high = delay_range(cfg, resolved)
    if low != high:
        yield f"Isaac Lab draws a delay of {low} to {high} steps for the group {group} at each reset: {high} here."


@dataclass(frozen=True)
class _Joints:
    """The values of the joints of a group."""

    resolved: Resolved
    own: Mapping[str, np.ndarray]
    one_dry_friction: bool

    def drive(self, at: int) -> MotorConfig:
        """Return the motor with the effect of the drive of a joint."""
        return drive_of(*(self._value(field, at) for field in OF_DRIVES))

    def motor(self, motor: MotorConfig, at: int) -> MotorConfig:
        """Return the motor of a joint, with armature and friction of the cfg."""
        return dataclasses.replace(motor, **{field: self._value(field, at) for field in self._of_motor(motor, at)})

    def properties(self, motor: MotorConfig, at: int) -> Iterator[tuple[str, float]]:
        """Yield the properties of a joint that are not those of the robot's file, nor those of its motor."""
        is_driven = self.resolved.model == IMPLICIT
        left_out = set[str]() if is_driven else set(self._of_motor(motor, at))
        left_out |= {"dynamic_friction"} if "friction" in left_out else set()
        for field, name in (OF_JOINTS | OF_DRIVES if is_driven else OF_JOINTS).items():
            value = self._value(field, at)
            if field not in left_out and value != self.own[field][at]:
                yield name, value

    def _of_motor(self, motor: MotorConfig, at: int) -> list[str]:
        """Return the fields of a motor that the cfg has; a friction stage is the whole friction."""
        found = ["armature"]
        if not any(map(is_friction, motor.stages)):
            is_one = self._value("friction", at) == self._value("dynamic_friction", at)
            found += ["viscous_friction", *(["friction"] if is_one else [])]
        said = self.resolved.specified | ({"friction"} if self.resolved.specified.intersection(_DRY) else set())
        return [field for field in found if field in said]

    def _value(self, field: str, at: int) -> float:
        """Return a value of a joint."""
        if self.one_dry_friction and field in _DRY:
            # the one that the cfg has, the dynamic one of both
            field = "dynamic_friction" if "dynamic_friction" in self.resolved.specified else "friction"
        return self.resolved.values[field][0, at].item()
