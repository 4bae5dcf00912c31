"""Actuator cfgs of Isaac Lab, explicit ones: with gains and limits as numbers, none left to the robot's drives."""

from __future__ import annotations

from collections.abc import Sequence

from .losses import Loss, losses_of
from .python_text import Cfg, module_text, pd_fields
from .robot import ExportedJoint, ExportedRobot

SAYS = frozenset(
    {"kp", "kd", "max_effort", "dc_motor", "delay_steps", "armature", "friction", "viscous_friction", "velocity_limit"}
)


def lab_text(robot: ExportedRobot, losses: Sequence[str]) -> str:
    """Return the module.

    Args:
        robot: The robot.
        losses: What it does not say, a sentence each.
    """
    return module_text(robot, losses, "isaaclab.actuators", "joint_names_expr", _cfg)


def losses(robot: ExportedRobot) -> list[Loss]:
    """Return the losses; there is no class with the limit of a DC motor and a delay."""
    both = [
        Loss(joint.name, f"command delay beside a DC-motor limit (delay_steps = {joint.features['delay_steps']})")
        for joint in robot.joints
        if joint.has_gains and {"dc_motor", "delay_steps"} <= joint.features.keys()
    ]
    # a cfg has all but the limits of the robot's own model
    return losses_of(robot, SAYS | {"position_limits"}, SAYS - {"velocity_limit"}) + both


def _cfg(joint: ExportedJoint) -> Cfg | None:
    if not joint.has_gains:
        return None
    said = joint.given
    fields, name = pd_fields(joint), "IdealPDActuatorCfg"
    if "dc_motor" in said:
        name = "DCMotorCfg"
    elif "delay_steps" in said:
        name = "DelayedPDActuatorCfg"
        fields |= {"min_delay": int(said["delay_steps"]), "max_delay": int(said["delay_steps"])}
    fields |= {"velocity_limit_sim": said["velocity_limit"]} if "velocity_limit" in said else {}
    fields |= {"armature": said["armature"]} if "armature" in said else {}
    if "friction" in said:
        fields |= {"friction": said["friction"], "dynamic_friction": said["friction"]}
    fields |= {"viscous_friction": said["viscous_friction"]} if "viscous_friction" in said else {}
    return name, fields
