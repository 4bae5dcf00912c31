"""Joints of an MJCF or URDF file that other actuators or equalities move."""

# MuJoCo ships no type stubs
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

from .address import element_name
from .own_library import mujoco


def other_actuators(spec: mujoco.MjSpec) -> dict[str, str]:
    """Names of actuators that are left in a file, by the joint or else the thing they act on."""
    return {actuator.target: actuator.name or actuator.target for actuator in spec.actuators}


def followers(spec: mujoco.MjSpec) -> set[str]:
    """Names of joints that an equality ties to others."""
    joint = mujoco.mjtEq.mjEQ_JOINT
    return {equality.name1 for equality in spec.equalities if equality.type == joint and equality.active}


def followers_of_model(model: mujoco.MjModel) -> set[str]:
    """Names of joints that an equality ties to others."""
    is_active = (model.eq_type == int(mujoco.mjtEq.mjEQ_JOINT)) & (model.eq_active0 != 0)
    return {element_name(model, "joint", joint) for joint in model.eq_obj1id[is_active]}
