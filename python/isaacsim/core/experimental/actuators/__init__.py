"""Realistic actuators for simulated robots: *delay → controller → clamping*, per joint, read from the USD file.

Public names load on first use, so importing the package costs next to nothing; type checkers read `__init__.pyi`.
"""

from __future__ import annotations

import functools
import importlib
import sys
from typing import Any

from .extension import Extension as Extension
from .moved import support_earlier_paths as _support_earlier_paths
from .version import __version__ as __version__

_support_earlier_paths()

# laws and their configs are found in the catalogue
_OTHERS = {
    "ActuatedArrays": "loops.arrays",
    "ActuatedModel": "loops.newton_model",
    "ActuatedWorlds": "loops.mujoco_warp",
    "Actuator": "pipeline.actuator",
    "ActuatorConfig": "pipeline.entry",
    "ActuatorGroup": "pipeline.actuator_group",
    "ActuatorParsed": "pipeline.parse",
    "Articulation": "hosts.current",
    "ArticulationActuators": "articulation_actuators",
    "Buzz": "toolbox.stability.buzz",
    "Clamping": "components.base",
    "ComponentKind": "pipeline.parse",
    "Controller": "components.base",
    "Distribution": "specs.distributions",
    "Extension": "extension",
    "Finding": "toolbox.inspection.findings",
    "FrictionTable": "toolbox.recording.friction",
    "Host": "hosts.port",
    "InspectedActuator": "toolbox.inspection.described",
    "InspectedJoint": "toolbox.inspection.described",
    "InspectedOwnValue": "toolbox.inspection.described",
    "InspectedRobot": "toolbox.inspection.described",
    "InspectedValue": "toolbox.inspection.described",
    "JointFriction": "toolbox.recording.friction",
    "JointMotor": "toolbox.recording.motors",
    "JointSpaceResponse": "pipeline.joint_space_response",
    "JointStability": "toolbox.stability.table",
    "LogUniform": "specs.distributions",
    "MotorConfig": "specs.motors",
    "MotorDataSheet": "specs.motor_datasheet",
    "MotorTable": "toolbox.recording.motors",
    "MujocoSimulation": "hosts.mujoco.own_model",
    "Normal": "specs.distributions",
    "PhysicsBus": "hosts.port",
    "RobotStability": "toolbox.stability.table",
    "SchemaNames": "pipeline.parse",
    "ServoCalibration": "specs.lerobot",
    "Recording": "toolbox.recording.recording",
    "Saturation": "toolbox.recording.saturation",
    "SaturationTable": "toolbox.recording.saturation",
    "Shard": "sharding",
    "Simulation": "simulation",
    "Stability": "toolbox.stability.table",
    "Uniform": "specs.distributions",
    "View": "toolbox.viewing.view",
    "add_actuator": "authoring",
    "add_motors": "authoring",
    "allow_checkpoints": "networks.trust",
    "buzz": "toolbox.stability.buzz",
    "convert_checkpoint": "networks.convert",
    "drive_newton_model": "loops.newton_model",
    "inspect_robots": "toolbox.inspection.inspect",
    "lint": "toolbox.inspection.lint",
    "load_lerobot_calibration": "specs.lerobot",
    "load_metadata": "networks.load",
    "load_motors": "motor_files.files",
    "motor_figures": "specs.motor_catalogue",
    "motor_from_datasheet": "specs.motor_datasheet",
    "motors_of": "authoring",
    "motors_of_model": "hosts.mujoco.model_actuators",
    "parse_actuator_prim": "pipeline.parse",
    "plot_bode": "toolbox.trials.bode",
    "plot_envelope": "toolbox.trials.envelope",
    "register_actuator_component": "pipeline.parse",
    "save_motors": "motor_files.files",
    "stability_of": "toolbox.stability.table",
    "to_newton": "compat.to_newton",
    "trust_checkpoints": "networks.trust",
    "use_host": "hosts.current",
    "use_stage": "hosts.current",
}


@functools.cache
def _home() -> dict[str, str]:
    """The module of each public name: `__init__.pyi` in a form that costs nothing until it is used."""
    from .components.catalogue import LAWS, laws, snake_case
    from .specs.configs import CONFIGS

    configs = {config.__name__: "specs.configs" for config in CONFIGS}
    components = {law.name: f"components.{law.module}" for law in laws() if law.name}
    neural = {name: f"components.{snake_case(name)}" for law in LAWS for name in law.by_network.values()}
    return dict(sorted((_OTHERS | configs | components | neural).items()))


@functools.cache
def _later() -> dict[str, str]:
    """Public names by those that newton.actuators has for them from 1.6 on."""
    from .components.catalogue import later_name

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
