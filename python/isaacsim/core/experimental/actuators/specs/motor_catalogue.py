"""Catalogue of real motors: published figures with their sources; None means not published.

All figures are at the joint, behind the gear, in SI units. The largest speed is the one that the maker or a robot
description states; it is not the no-load speed of a torque-speed line.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass

from .arguments import require_type
from .datasheet import from_rpm


@dataclass(frozen=True)
class MotorFigures:
    """Published figures of a motor with its gear."""

    used_in: str
    """Robots and joints that use it."""
    sources: Mapping[str, str]
    """Source of each figure, by name."""
    stall_torque: float | None = None
    """Torque of the held joint [N·m]."""
    no_load_speed: float | None = None
    """Speed of the free joint [rad/s]."""
    max_torque: float | None = None
    """Largest torque at any speed [N·m]."""
    max_speed: float | None = None
    """Largest speed [rad/s]."""
    gear_ratio: float | None = None
    """Turns of the rotor per turn of the joint."""
    armature: float | None = None
    """Reflected inertia of rotor and gear at the joint [kg·m²]."""


def _all_from(source: str, used_in: str, **figures: float) -> MotorFigures:
    """Return figures from one source."""
    return MotorFigures(used_in, dict.fromkeys(figures, source), **figures)


def _planetary(inertias: tuple[float, float, float], first: float, second: float) -> float:
    """Inertia [kg·m²] at the output of two planetary stages, from that of rotor, first and second carrier."""
    rotor, carrier, output = inertias
    return rotor * (first * second) ** 2 + carrier * second**2 + output


_PANDA = "franka_description, panda.urdf, joint limits (Apache-2.0, Franka Emika)"
_GO1 = "unitree_ros, go1_description/urdf/go1.urdf: joint limits, inertia of the rotor links; gear 6, as in mjlab 1.6.0"
_G1 = "mjlab 1.6.0, asset_zoo/robots/unitree_g1/g1_constants.py: motor specifications from Unitree"

MOTORS: Mapping[str, MotorFigures] = {
    "anymal_c": _all_from(
        "anymal_c_simple_description, anymal.urdf, joint limits (BSD, ANYbotics 2020)",
        "all joints of ANYmal C",
        max_torque=80.0,
        max_speed=7.5,
    ),
    "dynamixel_xl430_w250": _all_from(
        "ROBOTIS e-Manual, XL430-W250, Specifications, at 12.0 V",
        "small arms and hands",
        stall_torque=1.5,
        no_load_speed=from_rpm(61.0),
        gear_ratio=258.5,
    ),
    "dynamixel_xm430_w350": _all_from(
        "ROBOTIS e-Manual, XM430-W350, Specifications, at 12.0 V",
        "small arms and hands",
        stall_torque=4.1,
        no_load_speed=from_rpm(46.0),
        gear_ratio=353.5,
    ),
    "franka_panda_arm": _all_from(_PANDA, "joints 1 to 4 of the Franka Panda", max_torque=87.0, max_speed=2.175),
    "franka_panda_wrist": _all_from(_PANDA, "joints 5 to 7 of the Franka Panda", max_torque=12.0, max_speed=2.61),
    "mini_cheetah": _all_from(
        "B. Katz, J. Di Carlo, S. Kim, Mini Cheetah: A Platform for Pushing the Limits of Dynamic Quadruped Control, "
        "ICRA 2019, table of actuator parameters, at 24 V",
        "all joints of the MIT Mini Cheetah; knees through a belt besides",
        max_torque=17.0,
        max_speed=40.0,
        gear_ratio=6.0,
        armature=0.0023,
    ),
    "unitree_5020": _all_from(
        _G1,
        "shoulders, elbows and wrist roll of the Unitree G1",
        max_torque=25.0,
        max_speed=37.0,
        gear_ratio=(1 + 46 / 18) * (1 + 56 / 16),
        armature=_planetary((0.139e-4, 0.017e-4, 0.169e-4), 1 + 46 / 18, 1 + 56 / 16),
    ),
    "unitree_7520_14": _all_from(
        _G1,
        "hip pitch, hip yaw and waist yaw of the Unitree G1",
        max_torque=88.0,
        max_speed=32.0,
        gear_ratio=4.5 * (1 + 48 / 22),
        armature=_planetary((0.489e-4, 0.098e-4, 0.533e-4), 4.5, 1 + 48 / 22),
    ),
    "unitree_go1_hip": _all_from(
        _GO1,
        "hips and thighs of the Unitree Go1",
        max_torque=23.7,
        max_speed=30.1,
        gear_ratio=6.0,
        armature=0.000111842 * 6.0**2,
    ),
    "unitree_go1_knee": _all_from(
        _GO1,
        "knees of the Unitree Go1, through a linkage of 1.5",
        max_torque=35.55,
        max_speed=20.06,
        gear_ratio=9.0,
        armature=0.000111842 * 9.0**2,
    ),
}
"""Figures by name."""


def motor_figures(name: str) -> MotorFigures:
    """Return the published figures of a motor.

    Args:
        name: A key of `MOTORS`.

    Raises:
        TypeError: The name is no string.
        ValueError: The name is unknown; the message suggests similar ones.

    Example:
        >>> motor_figures("mini_cheetah").max_torque
        17.0
    """
    require_type("name", name, str, "the name of a motor")
    if name in MOTORS:
        return MOTORS[name]
    close = difflib.get_close_matches(str(name)[:100], MOTORS, n=3, cutoff=0.4)
    meant = f"Did you mean {' or '.join(close)}?" if close else "Use one of these, or MotorConfig.from_datasheet."
    raise ValueError(f"motor = {name!r}: must be one of {', '.join(MOTORS)}. {meant}")
