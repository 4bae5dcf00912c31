"""Actuator cfgs, models and groups of Isaac Lab, on our plan; nothing of Isaac Lab is imported.

cfgs      the cfg classes, with Isaac Lab's names and fields; objects of its own classes work too
resolve   the value of each joint: the robot's or the cfg's
table     the differences, as the table that Isaac Lab prints
motors    cfgs in our laws
servos    cfgs of hobby servos in our laws
models    the classes that cfgs build: `compute` and `reset` on arrays
collection  groups on arrays of all joints, as the collection of Isaac Lab 3.0
groups    the groups of a robot, for `ArticulationActuators.from_groups`
load      groups from files of Python, read by `python_text` and not run
articulations  an `ArticulationCfg`: its groups, and the initial state of its joints
"""

from __future__ import annotations

from .cfgs import (
    ActuatorBaseCfg,
    ActuatorNetGRUCfg,
    ActuatorNetLSTMCfg,
    ActuatorNetMLPCfg,
    BamActuatorCfg,
    BamBacklashActuatorCfg,
    BamMotorCfg,
    DCMotorCfg,
    DelayedPDActuatorCfg,
    IdealPDActuatorCfg,
    ImplicitActuatorCfg,
    RemotizedPDActuatorCfg,
)
from .collection import ActuatorCollection, read_group_parameter, write_group_parameter
from .load import load_groups
from .models import (
    ActuatorBase,
    ActuatorNetGRU,
    ActuatorNetLSTM,
    ActuatorNetMLP,
    ArticulationActions,
    DCMotor,
    DelayedPDActuator,
    IdealPDActuator,
    ImplicitActuator,
    RemotizedPDActuator,
)
from .stages import groups_of, to_usd
from .table import ResolutionTable, Row

__all__ = [
    "ActuatorBase",
    "ActuatorBaseCfg",
    "ActuatorCollection",
    "ActuatorNetGRU",
    "ActuatorNetGRUCfg",
    "ActuatorNetLSTM",
    "ActuatorNetLSTMCfg",
    "ActuatorNetMLP",
    "ActuatorNetMLPCfg",
    "ArticulationActions",
    "BamActuatorCfg",
    "BamBacklashActuatorCfg",
    "BamMotorCfg",
    "DCMotor",
    "DCMotorCfg",
    "DelayedPDActuator",
    "DelayedPDActuatorCfg",
    "IdealPDActuator",
    "IdealPDActuatorCfg",
    "ImplicitActuator",
    "ImplicitActuatorCfg",
    "RemotizedPDActuator",
    "RemotizedPDActuatorCfg",
    "ResolutionTable",
    "Row",
    "groups_of",
    "load_groups",
    "read_group_parameter",
    "to_usd",
    "write_group_parameter",
]
