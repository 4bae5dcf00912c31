"""Catalogue of real motors: published figures with their sources; None means not published.

All figures are at the joint, behind the gear, in SI units. The largest speed is the one that the maker or a robot
description states; it is not the no-load speed of a torque-speed line. With a full-effort speed, the figures are those
of `EnvelopeClampingConfig.from_unitree`. Torque constant, resistance and voltage describe the winding.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping
from dataclasses import dataclass

from .arguments import require_type
from .datasheet import from_rpm, no_load_speed, stall_torque


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
    """Largest torque at any speed, with a braking torque where the motor drives [N·m]."""
    max_speed: float | None = None
    """Largest speed [rad/s]."""
    gear_ratio: float | None = None
    """Turns of the rotor per turn of the joint."""
    armature: float | None = None
    """Reflected inertia of rotor and gear at the joint [kg·m²]."""
    full_effort_speed: float | None = None
    """Speed up to which the largest torques are available [rad/s]; from there they fall to 0 at the no-load speed."""
    braking_torque: float | None = None
    """Largest torque where the motor brakes [N·m]."""
    friction: float | None = None
    """Dry friction [N·m]."""
    viscous_friction: float | None = None
    """Viscous friction [N·m·s/rad]."""
    torque_constant: float | None = None
    """Torque per current at the joint, also its back-EMF [N·m/A]."""
    resistance: float | None = None
    """Resistance of the winding [Ω]."""
    voltage: float | None = None
    """Voltage of the supply [V]."""
    efficiency: float | None = None
    """Share of the torque of winding and ratio that arrives at the joint."""
    backlash: float | None = None
    """Whole free play at the joint [rad]."""
    stiffness: float | None = None
    """Stiffness of gear and case at the joint [N·m/rad]."""
    linkage_ratio: float | None = None
    """Turns of the output of `motor` per turn of the joint, where a linkage lies between them."""
    motor: str = ""
    """Name of the motor that drives the joint through that linkage, in this catalogue."""

    @property
    def line(self) -> tuple[float, float] | None:
        """Stall torque [N·m] and no-load speed [rad/s]: published, or those of the winding; None if not known."""
        if self.stall_torque is not None and self.no_load_speed is not None:
            return self.stall_torque, self.no_load_speed
        if self.torque_constant is None or self.resistance is None or self.voltage is None:
            return None
        stall = stall_torque(self.torque_constant, self.voltage, self.resistance)
        return stall, no_load_speed(self.torque_constant, self.voltage)


def _all_from(source: str, used_in: str, motor: str = "", **figures: float) -> MotorFigures:
    return MotorFigures(used_in, dict.fromkeys(figures, source), motor=motor, **figures)


def _of_unitree(
    used_in: str,
    limits: tuple[float, float, float, float],
    losses: tuple[float, float] | None = None,
    armature: float | None = None,
    note: str = "",
) -> MotorFigures:
    """Return the figures of a class of unitree_rl_lab: X1, X2, Y1, Y2, then Fs and Fd."""
    names = ("full_effort_speed", "no_load_speed", "max_torque", "braking_torque")
    figures = dict(zip(names, limits, strict=True))
    figures |= {} if losses is None else dict(zip(("friction", "viscous_friction"), losses, strict=True))
    figures |= {} if armature is None else {"armature": armature}
    return _all_from(f"{_RL_LAB}{note}", used_in, "", **figures)


def _planetary(inertias: tuple[float, float, float], first: float, second: float) -> float:
    """Inertia [kg·m²] at the output of two planetary stages, from that of rotor, first and second carrier."""
    rotor, carrier, output = inertias
    return rotor * (first * second) ** 2 + carrier * second**2 + output


_PANDA = "franka_description, panda.urdf, joint limits (Apache-2.0, Franka Emika)"
_GO1 = "unitree_ros, go1_description/urdf/go1.urdf: joint limits, inertia of the rotor links; gear 6, as in mjlab 1.6.0"
_G1 = "mjlab 1.6.0, asset_zoo/robots/unitree_g1/g1_constants.py: motor specifications from Unitree"
_GO2 = "unitree_ros, go2_description/urdf/go2_description.urdf: joint limits"
_RL_LAB = "unitree_rl_lab, source/unitree_rl_lab/assets/robots/unitree_actuators.py (Unitree Robotics)"
_BAM = "Rhoban/bam 1b5a1ce, bam/params, identified (Duclusaud et al., ICRA 2025)"
_DAMIAO = "Damiao, data sheet of the motor, rated 24 V"
_STS3215_12V = (
    "Feetech, data sheet of STS3215-C018 at 12 V: 30 kg·cm, 2.7 A, 45 rpm, 1:345. From knowledge, not looked up"
)
_CUBEMARS = "CubeMars (T-Motor), product page of the motor, Specifications"

MOTORS: Mapping[str, MotorFigures] = {
    "anydrive_3": _all_from(
        "Isaac Lab, isaaclab_assets/robots/anymal.py, ANYDRIVE_3_SIMPLE_ACTUATOR_CFG (BSD-3-Clause)",
        "all joints of ANYmal C, as simulated by Isaac Lab",
        stall_torque=120.0,
        no_load_speed=7.5,
        max_torque=80.0,
    ),
    "anymal_c": _all_from(
        "anymal_c_simple_description, anymal.urdf, joint limits (BSD, ANYbotics 2020)",
        "all joints of ANYmal C",
        max_torque=80.0,
        max_speed=7.5,
    ),
    "damiao_dm_j4310_2ec": _all_from(
        _DAMIAO, "small arms; wrists of OpenArm", max_torque=7.0, max_speed=from_rpm(200.0), gear_ratio=10.0
    ),
    "damiao_dm_j4340_2ec": _all_from(
        _DAMIAO, "arms; elbows of OpenArm", max_torque=27.0, max_speed=from_rpm(52.5), gear_ratio=40.0
    ),
    "dynamixel_mx64": _all_from(
        f"{_BAM}, model M6; 15 V as identified",
        "arms and small humanoids",
        torque_constant=1.60168,
        resistance=2.31640,
        voltage=15.0,
        armature=0.0122659,
    ),
    "dynamixel_mx106": _all_from(
        f"{_BAM}, model M6; 15 V as identified",
        "arms and small humanoids",
        torque_constant=2.20983,
        resistance=2.03366,
        voltage=15.0,
        armature=0.0260162,
    ),
    "dynamixel_xl320": _all_from(
        f"{_BAM}, model M6; 7.5 V as identified",
        "small arms and hands",
        torque_constant=1.00883,
        resistance=31.5859,
        voltage=7.5,
        armature=0.00116299,
    ),
    "dynamixel_xl330": _all_from(
        f"{_BAM}, model M6; 7.5 V as identified",
        "small arms and legs",
        torque_constant=0.366013,
        resistance=2.81139,
        voltage=7.5,
        armature=0.00180774,
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
    "erob80_50": _all_from(
        f"{_BAM}, model M6",
        "industrial arms, harmonic gear of 50",
        torque_constant=4.89677,
        resistance=1.07349,
        armature=0.361740,
        gear_ratio=50.0,
    ),
    "erob80_100": _all_from(
        f"{_BAM}, model M6",
        "industrial arms, harmonic gear of 100",
        torque_constant=9.39630,
        armature=1.13510,
        gear_ratio=100.0,
    ),
    "feetech_sts3215": _all_from(
        f"{_BAM}, model M1, at 7.4 V",
        "SO-100 and SO-101, LeKiwi",
        torque_constant=1.21164,
        resistance=2.67617,
        voltage=7.4,
        armature=0.0284034,
        friction=0.0523930,
        viscous_friction=0.0590852,
    ),
    "feetech_sts3215_12v": MotorFigures(
        "SO-101 with a 12 V supply",
        dict.fromkeys(("stall_torque", "no_load_speed", "gear_ratio", "voltage", "resistance"), _STS3215_12V)
        | {
            "torque_constant": f"{_STS3215_12V}; from its no-load speed and current, 45 rpm at 0.18 A",
            "efficiency": f"{_STS3215_12V}; its stall torque over that of the winding",
            "backlash": "TheRobotStudio SO-ARM100, simulation of the SO-101: play of ±0.5°",
        },
        stall_torque=30.0 * 0.0980665,
        no_load_speed=from_rpm(45.0),
        gear_ratio=345.0,
        voltage=12.0,
        resistance=12.0 / 2.7,
        torque_constant=(12.0 - 0.18 * 12.0 / 2.7) / from_rpm(45.0),
        efficiency=30.0 * 0.0980665 / (2.7 * (12.0 - 0.18 * 12.0 / 2.7) / from_rpm(45.0)),
        backlash=math.radians(1.0),
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
    "tmotor_ak10_9": _all_from(_CUBEMARS, "legs and exoskeletons", max_torque=48.0, gear_ratio=9.0),
    "tmotor_ak80_9": _all_from(
        _CUBEMARS,
        "legs and exoskeletons; rotor inertia of 607 g·cm²",
        max_torque=18.0,
        gear_ratio=9.0,
        armature=607e-7 * 9.0**2,
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
        "unitree_go1_hip",
        max_torque=35.55,
        max_speed=20.06,
        gear_ratio=9.0,
        armature=0.000111842 * 9.0**2,
        linkage_ratio=1.5,
    ),
    "unitree_go2_hip": _all_from(_GO2, "hips and thighs of the Unitree Go2", max_torque=23.7, max_speed=30.1),
    "unitree_go2_knee": _all_from(
        _GO2,
        "knees of the Unitree Go2, through a linkage of 1.917, the ratio of the torques",
        "unitree_go2_hip",
        max_torque=45.43,
        max_speed=15.7,
        linkage_ratio=45.43 / 23.7,
    ),
    "unitree_go2hv": _of_unitree("type Go2HV", (13.5, 30.0, 20.2, 23.4)),
    "unitree_m107_15": _of_unitree(
        "type M107-15",
        (14.0, 25.6, 150.0, 182.8),
        armature=0.063259741,
        note="; some forks have a braking torque of 102.8",
    ),
    "unitree_m107_24": _of_unitree("type M107-24", (8.8, 16.0, 240.0, 292.5), armature=0.160478022),
    "unitree_n5010_16": _of_unitree("type N5010-16", (27.0, 41.5, 9.5, 17.0)),
    "unitree_n5020_16": _of_unitree(
        "type N5020-16; arms and ankles of the Unitree G1", (30.86, 40.13, 24.8, 31.9), (0.6, 0.06), 0.003609725
    ),
    "unitree_n7520_14_3": _of_unitree(
        "type N7520-14.3; hip pitch, hip yaw and waist yaw of the Unitree G1",
        (22.63, 35.52, 71.0, 83.3),
        (1.6, 0.16),
        0.01017752,
    ),
    "unitree_n7520_22_5": _of_unitree(
        "type N7520-22.5; hip roll and knees of the Unitree G1", (14.5, 22.7, 111.0, 131.0), (2.4, 0.24), 0.025101925
    ),
    "unitree_w4010_25": _of_unitree(
        "type W4010-25; wrists of the Unitree G1", (15.3, 24.76, 4.8, 8.6), (0.6, 0.06), 0.00425
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
