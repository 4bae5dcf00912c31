"""Resolution table of the Isaac Lab groups that a stage keeps."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass

from ...compat.isaac_lab.resolve import EXPLICIT_EFFORT_LIMIT_SIM
from ...compat.isaac_lab.stages import groups_of
from ...compat.isaac_lab.table import Row
from ...extension.articulation_actuators import ArticulationActuators
from ...simulators.simulation import Simulation
from ...specs.arguments import path_of
from .inspect import inspect_robots


@dataclass(frozen=True)
class GroupedValue:
    """A property that a cfg lacks, or has with another value than the robot; in SI.

    Args:
        robot: Path of the robot.
        group: Name of the group.
        joint: Name of the joint.
        property: Name of the field of the cfg.
        file: Value of the robot.
        config: Value of the cfg; None if absent.
        applied: The value that is used.
        rule: The reason.
    """

    robot: str
    group: str
    joint: str
    property: str
    file: float
    config: float | None
    applied: float
    rule: str


def resolve_groups(file: str | os.PathLike[str]) -> list[GroupedValue]:
    """Return the resolution table of the groups that a stage keeps, by the rules of Isaac Lab's documentation.

    Args:
        file: Path of a USD file that `compat.isaac_lab.to_usd` wrote groups into.

    Raises:
        FileNotFoundError: No such file.
        ValueError: The file has no groups, or cannot be simulated.
        HostError: The simulator is not installed.
    """
    path, rows = path_of("file", file), list[GroupedValue]()
    with warnings.catch_warnings():
        # joints in no group are not in the table either
        warnings.simplefilter("ignore", UserWarning)
        with Simulation(path) as sim:
            if sim.stage is None:
                raise ValueError(f"{path}: keeps no groups, for it is not USD. Give motors instead, --config.")
            sim.play()
            for robot in inspect_robots(path):
                with ArticulationActuators.from_groups(robot.path, groups_of(sim.stage, robot.path)) as wrapper:
                    rows += [_value(robot.path, row) for row in wrapper.resolution_table().rows]
    return rows


def _value(robot: str, row: Row) -> GroupedValue:
    rule = "unspecified: that of the robot" if row.cfg_value is None else "cfg of the group"
    if row.property == "effort_limit_sim" and row.applied == EXPLICIT_EFFORT_LIMIT_SIM:
        rule = "explicit: Isaac Lab leaves the limit to the model"
    return GroupedValue(robot, row.group, row.name, row.property, row.usd_value, row.cfg_value, row.applied, rule)
