"""Actuator cfgs of mjlab 1.6: `IdealPdActuatorCfg` and `DcMotorActuatorCfg`, each with a delay."""

from __future__ import annotations

from collections.abc import Sequence

from .python_text import Cfg, module_text
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
    said = joint.features
    fields: dict[str, float | int] = {"stiffness": said["kp"], "damping": said["kd"]}
    fields["effort_limit"] = joint.largest_effort
    name = "IdealPdActuatorCfg"
    if "dc_motor" in said:
        stall, no_load, peak = said["dc_motor"]
        name = "DcMotorActuatorCfg"
        fields["effort_limit"] = min(peak, float(said.get("max_effort", peak)))
        fields |= {"saturation_effort": stall, "velocity_limit": no_load}
    if "delay_steps" in said:
        fields |= {"delay_min_lag": int(said["delay_steps"]), "delay_max_lag": int(said["delay_steps"])}
    fields |= {theirs: said[own] for own, theirs in _OF_JOINT.items() if own in said}
    return name, fields
