"""Actuator cfgs of mjlab 1.6: `IdealPdActuatorCfg` and `DcMotorActuatorCfg`, each with a delay."""

from __future__ import annotations

from collections.abc import Sequence

from .python_text import Cfg, module_text, pd_fields
from .robot import ExportedJoint, ExportedRobot

SAYS = frozenset({"kp", "kd", "max_effort", "dc_motor", "delay_steps", "armature", "friction", "viscous_friction"})
_OF_JOINT = {"armature": "armature", "friction": "frictionloss", "viscous_friction": "viscous_damping"}


def mjlab_text(robot: ExportedRobot, losses: Sequence[str]) -> str:
    """Return the module.

    Args:
        robot: The robot.
        losses: What it does not say, a sentence each.
    """
    return module_text(robot, losses, "mjlab.actuator", "target_names_expr", _cfg)


def _cfg(joint: ExportedJoint) -> Cfg | None:
    if not joint.has_gains:
        return None
    said = joint.given
    fields, name = pd_fields(joint), "DcMotorActuatorCfg" if "dc_motor" in said else "IdealPdActuatorCfg"
    if "delay_steps" in said:
        fields |= {"delay_min_lag": int(said["delay_steps"]), "delay_max_lag": int(said["delay_steps"])}
    fields |= {theirs: said[own] for own, theirs in _OF_JOINT.items() if own in said}
    return name, fields
