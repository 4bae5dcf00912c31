"""Franka Panda, seven joints, without hand."""

from __future__ import annotations

from math import pi
from typing import NamedTuple

from robot_spec import DARK_GREY, STEEL, WHITE, Inertia, Joint, Link, Robot, Rod, Vec3


class JointFigures(NamedTuple):
    """One row of the joint table."""

    xyz: Vec3
    """[m]."""
    roll: float
    """[rad]; the frames of this arm have no pitch and no yaw."""
    limits: tuple[float, float]
    """[rad]."""
    max_effort: float
    """[N·m]."""
    max_velocity: float
    """[rad/s]."""
    stiffness: float
    """Of the soft USD drive [N·m/rad]; not a published figure."""
    damping: float
    """[N·m·s/rad]; not a published figure."""
    home: float
    """[rad]; not a published figure."""


# source: franka_description / panda.urdf (Apache-2.0), identified inertial set
# per link: mass [kg], center of mass [m], (ixx, iyy, izz, ixy, ixz, iyz) [kg·m²]
LINK_FIGURES: tuple[tuple[float, Vec3, Inertia], ...] = (
    (0.629769, (-0.041018, -0.00014, 0.049974), (0.00315, 0.00388, 0.004285, 8.2904e-07, 0.00015, 8.2299e-06)),
    (4.970684, (0.003875, 0.002081, -0.04762), (0.70337, 0.70661, 0.009117, -0.000139, 0.006772, 0.019169)),
    (0.646926, (-0.003141, -0.02872, 0.003495), (0.007962, 0.02811, 0.025995, -0.003925, 0.010254, 0.000704)),
    (3.228604, (0.027518, 0.039252, -0.066502), (0.037242, 0.036155, 0.01083, -0.004761, -0.011396, -0.012805)),
    (3.587895, (-0.05317, 0.104419, 0.027454), (0.025853, 0.019552, 0.028323, 0.007796, -0.001332, 0.008641)),
    (1.225946, (-0.011953, 0.041065, -0.038437), (0.035549, 0.029474, 0.008627, -0.002117, -0.004037, 0.000229)),
    (1.666555, (0.060149, -0.014117, -0.010517), (0.001964, 0.004354, 0.005433, 0.000109, -0.001158, 0.000341)),
    (0.735522, (0.010517, -0.004252, 0.061597), (0.012516, 0.010027, 0.004815, -0.000428, -0.001196, -0.000741)),
)

# same source; every joint turns about the Z axis of its own frame
JOINT_FIGURES = (
    JointFigures((0.0, 0.0, 0.333), 0.0, (-2.8973, 2.8973), 87.0, 2.175, 80.0, 8.0, 0.0),
    JointFigures((0.0, 0.0, 0.0), -pi / 2, (-1.7628, 1.7628), 87.0, 2.175, 80.0, 8.0, -0.4),
    JointFigures((0.0, -0.316, 0.0), pi / 2, (-2.8973, 2.8973), 87.0, 2.175, 80.0, 8.0, 0.0),
    JointFigures((0.0825, 0.0, 0.0), pi / 2, (-3.0718, -0.0698), 87.0, 2.175, 80.0, 8.0, -2.0),
    JointFigures((-0.0825, 0.384, 0.0), -pi / 2, (-2.8973, 2.8973), 12.0, 2.61, 20.0, 2.0, 0.0),
    JointFigures((0.0, 0.0, 0.0), pi / 2, (-0.0175, 3.7525), 12.0, 2.61, 20.0, 2.0, 1.6),
    JointFigures((0.088, 0.0, 0.0), pi / 2, (-2.8973, 2.8973), 12.0, 2.61, 20.0, 2.0, 0.785),
)

ARMATURE = 0.1
"""Reflected rotor inertia of every joint [kg·m²]; not published, the size commonly used for this arm."""

# own geometry: bones from each link's origin toward its neighbors, thinner from link to link
SHAPES: tuple[tuple[Rod, ...], ...] = (
    (
        Rod((0.0, 0.0, 0.0), (0.0, 0.0, 0.03), 0.095, DARK_GREY, round_ends=False),
        Rod((-0.09, 0.0, 0.05), (0.0, 0.0, 0.05), 0.05, WHITE),
        Rod((0.0, 0.0, 0.03), (0.0, 0.0, 0.14), 0.068, WHITE, round_ends=False),
    ),
    (
        Rod((0.0, 0.0, -0.19), (0.0, 0.0, 0.0), 0.062, DARK_GREY),
        Rod((0.0, -0.075, 0.0), (0.0, 0.075, 0.0), 0.064, DARK_GREY, round_ends=False),
    ),
    (
        Rod((0.0, 0.0, -0.055), (0.0, 0.0, 0.055), 0.066, WHITE, round_ends=False),
        Rod((0.0, 0.0, 0.0), (0.0, -0.19, 0.0), 0.06, WHITE),
    ),
    (
        Rod((0.0, 0.0, -0.13), (0.0, 0.0, 0.0), 0.056, DARK_GREY),
        Rod((0.0, 0.0, 0.0), (0.0825, 0.0, 0.0), 0.054, DARK_GREY),
        Rod((0.0825, -0.07, 0.0), (0.0825, 0.07, 0.0), 0.056, DARK_GREY, round_ends=False),
    ),
    (
        Rod((0.0, 0.0, -0.05), (0.0, 0.0, 0.05), 0.058, WHITE, round_ends=False),
        Rod((0.0, 0.0, 0.0), (-0.0825, 0.11, 0.0), 0.052, WHITE),
    ),
    (
        Rod((0.0, 0.0, -0.25), (0.0, 0.0, -0.14), 0.050, DARK_GREY),
        Rod((0.0, 0.0, -0.18), (0.0, 0.0, 0.0), 0.046, DARK_GREY),
    ),
    (
        Rod((0.0, 0.0, -0.055), (0.0, 0.0, 0.055), 0.048, WHITE, round_ends=False),
        Rod((0.0, 0.0, 0.0), (0.088, 0.0, 0.0), 0.044, WHITE),
    ),
    (
        Rod((0.0, 0.0, -0.03), (0.0, 0.0, 0.07), 0.042, DARK_GREY),
        # the flange face is at z = 0.107 (same source)
        Rod((0.0, 0.0, 0.07), (0.0, 0.0, 0.107), 0.045, STEEL, round_ends=False),
    ),
)


def _joint(number: int, row: JointFigures) -> Joint:
    return Joint(
        f"panda_joint{number}",
        f"panda_link{number - 1}",
        f"panda_link{number}",
        "Z",
        row.xyz,
        (row.roll, 0.0, 0.0),
        limits=row.limits,
        max_effort=row.max_effort,
        max_velocity=row.max_velocity,
        armature=ARMATURE,
        position=row.home,
        stiffness=row.stiffness,
        damping=row.damping,
    )


ROBOT = Robot(
    file="franka_panda",
    name="Panda",
    documentation=(
        "Franka Panda arm without hand, seven revolute joints, fixed base, in its home pose.\n"
        "Masses, inertias, centers of mass, frames, limits and efforts: franka_description / panda.urdf (Apache-2.0),\n"
        "identified inertial set. Armature, soft drive gains, home pose and the drawn shapes are own figures."
    ),
    links=tuple(
        Link(f"panda_link{number}", *figures, shapes)
        for number, (figures, shapes) in enumerate(zip(LINK_FIGURES, SHAPES, strict=True))
    ),
    joints=tuple(_joint(number, row) for number, row in enumerate(JOINT_FIGURES, start=1)),
)
