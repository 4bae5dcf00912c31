"""Realistic actuators for simulated robots: *delay → controller → clamping*, per joint, read from the USD file.

Public names load on first use, so importing the package costs next to nothing; type checkers read `__init__.pyi`.
"""

from __future__ import annotations

import functools
import importlib
import sys
from typing import Any

from .base.version import __version__ as __version__
from .compat.moved import support_earlier_paths as _support_earlier_paths
from .extension.entry import Extension as Extension

_support_earlier_paths()

# laws and their configs are found in the catalogue
_OTHERS = {
    "ActuatedArrays": "loops.arrays",
    "ActuatedModel": "loops.newton_model",
    "ActuatedWorlds": "loops.mujoco_warp",
    "Actuator": "engine.actuator",
    "ActuatorConfig": "engine.entry",
    "ActuatorGroup": "engine.actuator_group",
    "ActuatorParsed": "files.parse",
    "Articulation": "simulators.current",
    "ArticulationActuators": "extension.articulation_actuators",
    "Buzz": "tools.stability.buzz",
    "Clamping": "laws.contract.base",
    "ComponentKind": "files.parse",
    "Controller": "laws.contract.base",
    "Distribution": "specs.distributions",
    "Extension": "extension.entry",
    "Finding": "tools.inspection.findings",
    "FrictionTable": "tools.recording.statistics",
    "Host": "simulators.port",
    "InspectedActuator": "tools.inspection.described",
    "InspectedJoint": "tools.inspection.described",
    "InspectedOwnValue": "tools.inspection.described",
    "InspectedRobot": "tools.inspection.described",
    "InspectedValue": "tools.inspection.described",
    "JointFriction": "tools.recording.statistics",
    "JointMotor": "tools.recording.statistics",
    "JointSpaceResponse": "engine.implicit.joint_space_response",
    "JointStability": "tools.stability.table",
    "LogUniform": "specs.distributions",
    "MotorConfig": "specs.motors",
    "MotorDataSheet": "specs.motor_datasheet",
    "MotorTable": "tools.recording.statistics",
    "MujocoSimulation": "simulators.mujoco.own_model",
    "Normal": "specs.distributions",
    "PhysicsBus": "simulators.port",
    "RobotStability": "tools.stability.table",
    "SchemaNames": "files.parse",
    "ServoCalibration": "specs.lerobot",
    "Recording": "tools.recording.recording",
    "Saturation": "tools.recording.statistics",
    "SaturationTable": "tools.recording.statistics",
    "Shard": "extension.sharding",
    "Simulation": "simulators.simulation",
    "Stability": "tools.stability.table",
    "Tuned": "tools.tuning.tuned",
    "TunedJoint": "tools.tuning.tuned",
    "Uniform": "specs.distributions",
    "View": "tools.viewing.view",
    "add_actuator": "simulators.authoring",
    "add_motors": "simulators.authoring",
    "allow_checkpoints": "files.networks.trust",
    "buzz": "tools.stability.buzz",
    "convert_checkpoint": "files.networks.convert",
    "drive_newton_model": "loops.newton_model",
    "inspect_robots": "tools.inspection.inspect",
    "lint": "tools.inspection.lint",
    "load_lerobot_calibration": "specs.lerobot",
    "load_metadata": "files.networks.load",
    "load_motors": "files.motor_files.files",
    "motor_figures": "specs.motor_catalogue",
    "motor_from_datasheet": "specs.motor_datasheet",
    "motors_of": "simulators.authoring",
    "motors_of_model": "simulators.mujoco.model_actuators",
    "parse_actuator_prim": "files.parse",
    "plot_bode": "tools.trials.bode",
    "plot_envelope": "tools.trials.envelope",
    "register_actuator_component": "files.parse",
    "save_motors": "files.motor_files.files",
    "stability_of": "tools.stability.table",
    "to_newton": "compat.to_newton",
    "trust_checkpoints": "files.networks.trust",
    "tune": "tools.tuning.tune",
    "use_host": "simulators.current",
    "use_stage": "simulators.current",
}


@functools.cache
def _home() -> dict[str, str]:
    """The module of each public name: `__init__.pyi` in a form that costs nothing until it is used."""
    from .laws.contract.catalogue import LAWS, laws, snake_case
    from .specs.configs import CONFIGS

    configs = {config.__name__: "specs.configs" for config in CONFIGS}
    components = {law.name: f"laws.{law.module}" for law in laws() if law.name}
    neural = {name: f"laws.{snake_case(name)}" for law in LAWS for name in law.by_network.values()}
    return dict(sorted((_OTHERS | configs | components | neural).items()))


@functools.cache
def _later() -> dict[str, str]:
    """Public names by those that newton.actuators has for them from 1.6 on."""
    from .laws.contract.catalogue import later_name

    return {later: name for name in _home() if (later := later_name(name)) != name}


def __dir__() -> list[str]:
    """Public names; in Kit what is loaded, for its loader takes each of them, to look for entry points."""
    return sorted(globals() if "carb" in sys.modules else {"__version__", *_home()})


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    if name == "__all__":
        return list(_home())
    here = name if name in _home() else _later().get(name)
    if here is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_home()[here]}"), here)
    globals()[name] = value
    return value
