"""`actuators stability`: whether a robot will vibrate, and what would cure it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import tyro

from ..simulation import Simulation
from .command import Answer, Command, Table
from .opened import columns_of, opened, require_actuators

_ROBOT = {
    "robot": "robot",
    "verdict": "is",
    "margin": "margin",
    "spectral_radius": "spectral radius",
    "largest_step": "largest step [s]",
}
_JOINT = {
    "robot": "robot",
    "joint": "joint",
    "kp": "kp",
    "kd": "kd",
    "ki": "ki",
    "inertia": "inertia",
    "margin": "margin",
    "armature": "armature",
    "smallest_armature": "smallest armature",
    "largest_step": "largest step [s]",
}


@dataclass(kw_only=True)
class Stability(Command):
    """Say whether the actuators of a robot make it vibrate, and what would cure it."""

    file: tyro.conf.Positional[Path]
    """USD (.usd, .usda, .usdc, .usdz), MJCF (.xml, .mjcf) or URDF (.urdf) file."""
    config: Path | None = None
    """Motors by pattern of joint names, .yaml, .yml, .toml or .json, in place of those of the file."""
    dt: float | None = None
    """Physics step [s]; by default that of the file, 1/240 for USD."""
    robot: str | None = None
    """Path of the robot, or of a prim above several equal ones; by default all."""
    engine: Literal["mujoco", "physx"] = "mujoco"
    """What computes physics: each has its limits, for they step positions differently."""

    def answer(self) -> Answer:
        """See the class."""
        with opened(Simulation(self.file, self.dt, engine=self.engine), self.robot, self.config, told=False) as one:
            actuators = require_actuators(one, self.file)
            one.simulation.play()
            found, columns = actuators.stability(), columns_of(_JOINT, one.robots)
        robots = [
            dataclasses.asdict(robot) | {"verdict": "stable" if robot.stable else "vibrating"} for robot in found.robots
        ]
        notes = [
            "margin: what all gains may be multiplied by; below 1 it vibrates, and at 0 only more damping or a "
            "smaller step helps. smallest armature and largest step: either would do."
        ]
        if found.unknown:
            notes.append(
                f"Nothing is known of {', '.join(found.unknown)}: a network or a law of one's own drives them."
            )
        return Answer(
            [
                Table("robots", _ROBOT, robots, title=f"{self.file}, dt = {found.dt:.6g} s"),
                Table("joints", columns, list(map(dataclasses.asdict, found.joints))),
            ],
            notes,
            not found.stable,
        )
