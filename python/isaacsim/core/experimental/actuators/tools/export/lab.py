"""Actuator cfgs of Isaac Lab 3.0, explicit ones: with gains and limits as numbers, none left to the robot's drives."""

from __future__ import annotations

from collections.abc import Sequence

from .losses import Loss, losses_of, lost_intervals, of_feature
from .python_text import Cfg, Event, module_text, pd_fields
from .robot import OF_JOINT, ExportedJoint, ExportedRobot

SAYS = frozenset({"kp", "kd", "max_effort", "dc_motor", "delay_steps", "velocity_limit"}) | OF_JOINT
_RANGES = {"kp": "stiffness_distribution_params", "kd": "damping_distribution_params"}
_DRAWS = frozenset({*_RANGES, "armature", "friction"})
_LIMITS = {name: f"actuator_{name}" for name in ("effort_limit", "velocity_limit")}
# the limit of joints where there is none
_UNLIMITED = 1e9


def lab_text(robot: ExportedRobot, losses: Sequence[str]) -> str:
    """Return the module, with what it does not say, a sentence each."""
    imports = ["from isaaclab.envs import mdp", "from isaaclab.managers import EventTermCfg, SceneEntityCfg"]
    return module_text(robot, losses, "isaaclab.actuators", "joint_names_expr", _cfg, _events, imports)


def losses(robot: ExportedRobot) -> list[Loss]:
    """Return the losses; there is no class with the limit of a DC motor and a delay."""
    both = [
        of_feature(joint, "delay_steps", "command delay beside a DC-motor limit")
        for joint in robot.joints
        if joint.has_gains and {"dc_motor", "delay_steps"} <= joint.features.keys()
    ]
    # a cfg has all but the limits of the robot's own model
    said = losses_of(robot, SAYS | {"position_limits"}, SAYS - {"velocity_limit"})
    return said + both + lost_intervals(robot, _DRAWS)


def _cfg(joint: ExportedJoint) -> Cfg | None:
    if not joint.has_gains:
        return None
    said = joint.given
    fields, name = {_LIMITS.get(key, key): value for key, value in pd_fields(joint).items()}, "IdealPDActuatorCfg"
    # the limit of the joint would cut efforts again
    fields["joint_effort_limit"] = min(fields["actuator_effort_limit"], _UNLIMITED)
    if "dc_motor" in said:
        name = "DCMotorCfg"
    elif "delay_steps" in said:
        name = "DelayedPDActuatorCfg"
        fields |= {"min_delay": int(said["delay_steps"]), "max_delay": int(said["delay_steps"])}
    fields |= {"joint_velocity_limit": said["velocity_limit"]} if "velocity_limit" in said else {}
    fields |= {"armature": said["armature"]} if "armature" in said else {}
    if "friction" in said:
        fields |= {"friction": said.get("static_friction", said["friction"]), "dynamic_friction": said["friction"]}
    fields |= {"viscous_friction": said["viscous_friction"]} if "viscous_friction" in said else {}
    return name, fields


def _events(joint: ExportedJoint, _: int) -> list[Event]:
    """Return the events that draw in the intervals of a joint.

    One range is that of static, dynamic and viscous friction, so that it has to be one of factors.
    """
    found, joint_term = list[Event](), "mdp.randomize_joint_parameters"
    if gains := {theirs: joint.intervals[own] for own, theirs in _RANGES.items() if own in joint.intervals}:
        found.append(Event("gains", "mdp.randomize_actuator_gains", "reset", gains))
    if "armature" in joint.intervals:
        ranges = {"armature_distribution_params": joint.intervals["armature"]}
        found.append(Event("armature", joint_term, "startup", ranges))
    if "friction" in joint.intervals and (nominal := joint.value("friction")):
        low, high = joint.intervals["friction"]
        ranges = {"friction_distribution_params": (low / nominal, high / nominal)}
        found.append(Event("friction", joint_term, "startup", ranges, "scale"))
    return found
