"""Actuator cfgs of mjlab 1.6: `IdealPdActuatorCfg` and `DcMotorActuatorCfg`, each with a delay."""

from __future__ import annotations

from collections.abc import Sequence

from .losses import Loss, losses_of, lost_intervals
from .python_text import Cfg, Event, module_text, pd_fields
from .robot import ExportedJoint, ExportedRobot

SAYS = frozenset({"kp", "kd", "max_effort", "dc_motor", "delay_steps", "armature", "friction", "viscous_friction"})
_DRAWS = {"armature": "dr.joint_armature", "friction": "dr.joint_friction", "viscous_friction": "dr.joint_damping"}
_OF_JOINT = {"armature": "armature", "friction": "frictionloss", "viscous_friction": "viscous_damping"}


def mjlab_text(robot: ExportedRobot, losses: Sequence[str]) -> str:
    """Return the module, with what it does not say, a sentence each."""
    imports = ["from mjlab.envs.mdp import dr", "from mjlab.managers import EventTermCfg, SceneEntityCfg"]
    return module_text(robot, losses, "mjlab.actuator", "target_names_expr", _cfg, _events, imports)


def losses(robot: ExportedRobot) -> list[Loss]:
    """Return the losses; limits are those of the robot's own model."""
    of_model = {"position_limits", "velocity_limit"}
    return losses_of(robot, SAYS | of_model, SAYS) + lost_intervals(robot, {"kp", "kd", *_DRAWS})


def _cfg(joint: ExportedJoint) -> Cfg | None:
    if not joint.has_gains:
        return None
    said = joint.given
    fields, name = pd_fields(joint), "DcMotorActuatorCfg" if "dc_motor" in said else "IdealPdActuatorCfg"
    if "delay_steps" in said:
        fields |= {"delay_min_lag": int(said["delay_steps"]), "delay_max_lag": int(said["delay_steps"])}
    fields |= {theirs: said[own] for own, theirs in _OF_JOINT.items() if own in said}
    return name, fields


def _events(joint: ExportedJoint, number: int) -> list[Event]:
    """Return the events that draw in the intervals of a joint; gains are drawn of a cfg, both of them."""
    found, own = list[Event](), joint.intervals
    if {"kp", "kd"} & own.keys():
        values = {name: (joint.value(name), joint.value(name)) for name in ("kp", "kd")} | own
        ranges = {"kp_range": values["kp"], "kd_range": values["kd"]}
        found.append(Event("gains", "dr.pd_gains", "reset", ranges, entity=f"actuator_ids=[{number}]"))
    for name, function in _DRAWS.items():
        if name in own and name in joint.features:
            found.append(Event(name, function, "startup", {"ranges": own[name]}))
    return found
