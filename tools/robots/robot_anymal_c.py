"""ANYmal C, twelve joints, free base."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import cos, pi, sin

from robot_spec import (
    DARK_GREY,
    ORIGIN,
    STEEL,
    Axis,
    Ball,
    Box,
    Inertia,
    Joint,
    Link,
    Robot,
    Rod,
    Vec3,
    stand_on_ground,
)

Body = tuple[float, Vec3, Inertia]
"""Mass [kg], center of mass [m], (ixx, iyy, izz, ixy, ixz, iyz) [kg·m²]."""

# source of all values down to FOOT_RADIUS: anymal_c_simple_description, anymal.urdf (BSD, copyright 2020 ANYbotics);
# links joined by fixed joints are merged into the moving link that carries them (drives, shells, sensors, feet)
BASE: Body = (
    26.37317,
    (-0.017793943, -0.00017817, 0.008504339),
    (0.216711743, 1.785161689, 1.83369945, 0.009223811, 0.058933189, -0.000163778),
)

# legs on one diagonal are equal, those on the other diagonal are mirrored
HIP_LF_RH: Body = (
    2.781,
    (0.056660626, -0.015293969, -0.008297843),
    (0.003295526, 0.005044349, 0.005726904, -0.000010388, 0.000107062, -0.000319492),
)
HIP_RF_LH: Body = (
    2.781,
    (0.056763323, 0.015293969, -0.008297843),
    (0.003295526, 0.00504617, 0.005728725, -0.000011005, -0.000109121, 0.000319492),
)
THIGH_LF_RH: Body = (
    3.071,
    (0.030814718, 0.0000465, -0.245695734),
    (0.029563794, 0.029904049, 0.004861085, 0.000044292, 0.004142426, 0.00009448),
)
THIGH_RF_LH: Body = (
    3.071,
    (0.030814718, 0.0000465, -0.245695734),
    (0.029563794, 0.029904049, 0.004861085, 0.000044396, 0.004142426, 0.000114794),
)
SHANK_LF_RH: Body = (
    0.58842,
    (0.005461999, -0.061252769, -0.080659781),
    (0.010161141, 0.00881038, 0.001549784, -0.000053571, -0.00002266, -0.001819354),
)
SHANK_RF_LH: Body = (
    0.58842,
    (0.005461999, 0.061252769, -0.080659781),
    (0.010161141, 0.00881038, 0.001549784, 0.000053571, -0.00002266, 0.001819354),
)

MAX_EFFORT = 80.0
"""[N·m]."""
MAX_VELOCITY = 7.5
"""[rad/s]."""
FULL_TURNS = (-9.42477796077, 9.42477796077)
"""Limits of hip flexion and knee [rad]."""
KNEE_XYZ: Vec3 = (0.1003, 0.0, -0.285)
"""Knee in the thigh frame [m]; its frame is parallel to the thigh's."""

# the hip frame is tilted by ±150° about X; before that turn the published offset of its flexion joint is
# (±0.0599, ±0.08381, 0) [m]
HIP_TILT = 5 * pi / 6
FLEXION_X, FLEXION_Y = 0.0599, 0.08381 * cos(HIP_TILT)
FLEXION_Z = -0.08381 * sin(HIP_TILT)

FOOT_RADIUS = 0.03
"""[m]. The published sphere sits 0.0225 m above the foot frame; here it is centered on that frame."""

ARMATURE = 0.06
"""Reflected rotor inertia of every joint [kg·m²]; not published."""
FRICTION = 0.8
"""Friction of feet and ground; own value."""
RED: Vec3 = (0.62, 0.10, 0.08)


@dataclass(frozen=True)
class Leg:
    """Parameters of one leg."""

    name: str
    hip: Body
    thigh: Body
    shank: Body
    abduction_xyz: Vec3
    """Hip abduction joint in the base frame [m]."""
    abduction_rpy: Vec3
    """[rad]."""
    abduction_axis: Axis
    abduction_limits: tuple[float, float]
    """[rad]."""
    flexion_xyz: Vec3
    """Hip flexion joint in the hip frame [m]."""
    flexion_rpy: Vec3
    """[rad]."""
    flexion_axis: Axis
    """Also of the knee."""
    foot: Vec3
    """Foot frame in the shank frame [m]: the published (±0.08795, ±0.01305, -0.33797), turned by ∓90° about Z."""
    stance: tuple[float, float, float]
    """Joint positions abduction, flexion, knee [rad]; own values."""


LEGS = (
    Leg(
        name="LF",
        hip=HIP_LF_RH,
        thigh=THIGH_LF_RH,
        shank=SHANK_LF_RH,
        abduction_xyz=(0.2999, 0.104, 0.0),
        abduction_rpy=(HIP_TILT, 0.0, 0.0),
        abduction_axis="X",
        abduction_limits=(-0.72, 0.49),
        flexion_xyz=(FLEXION_X, FLEXION_Y, FLEXION_Z),
        flexion_rpy=(pi, pi / 6, -pi / 2),
        flexion_axis="X",
        foot=(0.01305, -0.08795, -0.33797),
        stance=(0.0, 0.4, -0.8),
    ),
    Leg(
        name="RF",
        hip=HIP_RF_LH,
        thigh=THIGH_RF_LH,
        shank=SHANK_RF_LH,
        abduction_xyz=(0.2999, -0.104, 0.0),
        abduction_rpy=(-HIP_TILT, 0.0, 0.0),
        abduction_axis="X",
        abduction_limits=(-0.49, 0.72),
        flexion_xyz=(FLEXION_X, -FLEXION_Y, FLEXION_Z),
        flexion_rpy=(pi, pi / 6, pi / 2),
        flexion_axis="-X",
        foot=(0.01305, 0.08795, -0.33797),
        stance=(0.0, 0.4, -0.8),
    ),
    Leg(
        name="LH",
        hip=HIP_RF_LH,
        thigh=THIGH_RF_LH,
        shank=SHANK_RF_LH,
        abduction_xyz=(-0.2999, 0.104, 0.0),
        abduction_rpy=(-HIP_TILT, 0.0, -pi),
        abduction_axis="-X",
        abduction_limits=(-0.72, 0.49),
        flexion_xyz=(FLEXION_X, -FLEXION_Y, FLEXION_Z),
        flexion_rpy=(pi, pi / 6, pi / 2),
        flexion_axis="X",
        foot=(0.01305, 0.08795, -0.33797),
        stance=(0.0, -0.4, 0.8),
    ),
    Leg(
        name="RH",
        hip=HIP_LF_RH,
        thigh=THIGH_LF_RH,
        shank=SHANK_LF_RH,
        abduction_xyz=(-0.2999, -0.104, 0.0),
        abduction_rpy=(HIP_TILT, 0.0, -pi),
        abduction_axis="-X",
        abduction_limits=(-0.49, 0.72),
        flexion_xyz=(FLEXION_X, FLEXION_Y, FLEXION_Z),
        flexion_rpy=(pi, pi / 6, -pi / 2),
        flexion_axis="-X",
        foot=(0.01305, -0.08795, -0.33797),
        stance=(0.0, -0.4, 0.8),
    ),
)

# own geometry; only this box of the base and the feet collide
BASE_SHAPES = (
    Box(ORIGIN, (0.60, 0.25, 0.20), RED, collides=True),
    Box((0.36, 0.0, 0.0), (0.16, 0.22, 0.17), DARK_GREY),
    Box((-0.36, 0.0, 0.0), (0.16, 0.22, 0.17), DARK_GREY),
    Rod((-0.32, 0.0, 0.085), (-0.32, 0.0, 0.19), 0.06, STEEL, round_ends=False),
    Rod((0.25, 0.0, 0.105), (-0.15, 0.0, 0.105), 0.018, DARK_GREY),
)


def _leg_links(leg: Leg) -> Iterator[Link]:
    yield Link(f"{leg.name}_HIP", *leg.hip, (Rod(ORIGIN, leg.flexion_xyz, 0.055, DARK_GREY),))
    knee_z = KNEE_XYZ[2]
    thigh_x = 0.05  # the thigh's bar runs between hip and knee drive
    yield Link(
        f"{leg.name}_THIGH",
        *leg.thigh,
        (
            Rod((-0.04, 0.0, 0.0), (0.095, 0.0, 0.0), 0.06, STEEL, round_ends=False),
            Rod((thigh_x, 0.0, 0.0), (thigh_x, 0.0, knee_z), 0.036, RED),
            Rod((0.005, 0.0, knee_z), (0.09, 0.0, knee_z), 0.052, DARK_GREY, round_ends=False),
        ),
    )
    foot_x, foot_y, _ = leg.foot
    # the shank is a lever away from the knee, then a straight tube down to the foot
    lever_end = (foot_x, foot_y, 0.0)
    yield Link(
        f"{leg.name}_SHANK",
        *leg.shank,
        (
            Rod((foot_x, 0.0, 0.0), lever_end, 0.030, STEEL),
            Rod(lever_end, leg.foot, 0.0175, DARK_GREY),
            Ball(leg.foot, FOOT_RADIUS, DARK_GREY, collides=True),
        ),
    )


def _leg_joints(leg: Leg) -> Iterator[Joint]:
    mounts: tuple[tuple[str, str, str, Axis, Vec3, Vec3, tuple[float, float]], ...] = (
        ("HAA", "base", "HIP", leg.abduction_axis, leg.abduction_xyz, leg.abduction_rpy, leg.abduction_limits),
        ("HFE", f"{leg.name}_HIP", "THIGH", leg.flexion_axis, leg.flexion_xyz, leg.flexion_rpy, FULL_TURNS),
        ("KFE", f"{leg.name}_THIGH", "SHANK", leg.flexion_axis, KNEE_XYZ, ORIGIN, FULL_TURNS),
    )
    for (name, parent, child, axis, xyz, rpy, limits), position in zip(mounts, leg.stance, strict=True):
        yield Joint(
            f"{leg.name}_{name}",
            parent,
            f"{leg.name}_{child}",
            axis,
            xyz,
            rpy,
            limits=limits,
            max_effort=MAX_EFFORT,
            max_velocity=MAX_VELOCITY,
            armature=ARMATURE,
            position=position,
        )


ROBOT = stand_on_ground(
    Robot(
        file="anymal_c",
        name="Anymal",
        documentation=(
            "ANYmal C: free base, twelve revolute joints, standing with its feet on the ground plane.\n"
            "Masses, inertias, frames, limits and efforts: anymal_c_simple_description, anymal.urdf\n"
            "(BSD, copyright 2020 ANYbotics), links behind fixed joints merged into the link that carries them.\n"
            "Armature, friction, stance, the base's box collider and the drawn shapes are own figures."
        ),
        fixed_base=False,
        ground_friction=FRICTION,
        links=(Link("base", *BASE, BASE_SHAPES), *(link for leg in LEGS for link in _leg_links(leg))),
        joints=tuple(joint for leg in LEGS for joint in _leg_joints(leg)),
    )
)
