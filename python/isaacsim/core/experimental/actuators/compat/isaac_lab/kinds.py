"""The model of a cfg, by the name of its class or of a base class, ours as Isaac Lab's."""

from __future__ import annotations

from typing import Any, TypeAlias

Cfg: TypeAlias = Any
"""A cfg of a user: of Isaac Lab, whatever its version, or of this package."""

_NOT_RUN = {
    "ActuatorNetGRUResidualCfg": "its network adds to the joint's own drive. Give the drive as ImplicitActuatorCfg, "
    "and step the network yourself as feedforward effort",
    "ActuatorGroupCfg": "groups of early Orbit are no cfgs of joints. Give its model_cfg's numbers in a cfg of "
    "compat.isaac_lab, with joint_names_expr=dof_names",
    "VariableGearRatioDCMotorCfg": "its gear ratio depends on position. Give "
    "RemotizedPDActuatorCfg with a table of limits",
    "GearedDCMotorCfg": "its fields are those of early Orbit. Give DCMotorCfg with gear_ratio",
}
"""Unsupported classes of Isaac Lab's development branch and early Orbit, with reason and replacement."""

IMPLICIT = "ImplicitActuator"
DC_MOTORS = ("DCMotor", "ActuatorNetMLP", "ActuatorNetLSTM")
"""Models with the limits of a DC motor."""
NETWORKS = ("ActuatorNetMLP", "ActuatorNetLSTM", "ActuatorNetGRU")
WITH_BACKLASH = "BamBacklashActuator"
SERVOS = ("BamActuator", WITH_BACKLASH)
"""Hobby servos, whose models only run in a group: Isaac Lab has no class for them either."""
DELAYED = ("DelayedPDActuator", "RemotizedPDActuator", *SERVOS)
_PD = ("DCMotor", "RemotizedPDActuator", "DelayedPDActuator", "IdealPDActuator")
MODELS = {f"{model}Cfg": model for model in (IMPLICIT, *NETWORKS, *_PD, WITH_BACKLASH, "BamActuator")}
"""Name of the model by name of the cfg."""


def model_of(cfg: object) -> str:
    """Return the name of the model of a cfg; ValueError if it is no such cfg."""
    names = [base.__name__ for base in type(cfg).__mro__]
    if refused := next((name for name in names if name in _NOT_RUN), None):
        raise ValueError(f"cfg = {type(cfg).__name__}: must be one of {', '.join(MODELS)}: {_NOT_RUN[refused]}.")
    model = next((MODELS[name] for name in names if name in MODELS), None)
    if model is None:
        raise ValueError(
            f"cfg = {cfg!r:.120}: must be an actuator cfg of Isaac Lab, one of {', '.join(MODELS)}. Give one of these."
        )
    return model


def has_later_names(cfg: object) -> bool:
    """Return True if a cfg has limits by their names of version 3.0, ours or Isaac Lab's own."""
    return hasattr(cfg, "actuator_effort_limit")


def is_ours(cfg: object) -> bool:
    """Return True for a cfg of this package, and of a subclass."""
    return any(base.__module__ == f"{__package__}.cfgs" for base in type(cfg).__mro__)


def require_known_model(cfg: object) -> None:
    """Raise ValueError for a cfg without joints, or with a model of the user's own, whose code would not be run."""
    if not hasattr(cfg, "joint_names_expr"):
        model_of(cfg)
        raise ValueError(
            f"{type(cfg).__name__}.joint_names_expr is missing: must name the joints. A cfg of early Orbit has other "
            "fields: motor_torque_limit / peak_motor_torque / motor_velocity_limit are effort_limit / "
            "saturation_effort / velocity_limit here. Make one of compat.isaac_lab of it."
        )
    found, class_type = model_of(cfg), getattr(cfg, "class_type", None)
    # newer versions name it: "package.module:DCMotor"
    name = class_type.rpartition(":")[2] if isinstance(class_type, str) else getattr(class_type, "__name__", found)
    # a subclass may have the name of what it extends
    extended = isinstance(class_type, type) and [one.__name__ for one in class_type.__mro__].count(found) > 1
    if name != found or extended:
        module = f"{class_type.__module__}." if extended else ""
        raise ValueError(
            f"{type(cfg).__name__}.class_type = {module}{name}: must be {found}, "
            "for the code of other models is not run. Leave it out, or step that model yourself."
        )
