"""The figures of the catalogue: each from its source, and consistent with each other."""

import math
from dataclasses import fields

import isaacsim.core.experimental.actuators as aa
import pytest
from isaacsim.core.experimental.actuators.specs.motor_catalogue import MOTORS, MotorFigures, motor_figures

# X1, X2, Y1, Y2, Fs, Fd, armature of unitree_rl_lab
UNITREE = {
    "unitree_go2hv": (13.5, 30.0, 20.2, 23.4, None, None, None),
    "unitree_n5010_16": (27.0, 41.5, 9.5, 17.0, None, None, None),
    "unitree_n5020_16": (30.86, 40.13, 24.8, 31.9, 0.6, 0.06, 0.003609725),
    "unitree_w4010_25": (15.3, 24.76, 4.8, 8.6, 0.6, 0.06, 0.00425),
    "unitree_n7520_14_3": (22.63, 35.52, 71.0, 83.3, 1.6, 0.16, 0.01017752),
    "unitree_n7520_22_5": (14.5, 22.7, 111.0, 131.0, 2.4, 0.24, 0.025101925),
    "unitree_m107_15": (14.0, 25.6, 150.0, 182.8, None, None, 0.063259741),
    "unitree_m107_24": (8.8, 16.0, 240.0, 292.5, None, None, 0.160478022),
}
# torque constant, resistance, armature, voltage of BAM
WINDINGS = {
    "dynamixel_xl330": (0.366013, 2.81139, 0.00180774, 7.5),
    "dynamixel_xl320": (1.00883, 31.5859, 0.00116299, 7.5),
    "dynamixel_mx64": (1.60168, 2.31640, 0.0122659, 15.0),
    "dynamixel_mx106": (2.20983, 2.03366, 0.0260162, 15.0),
    "feetech_sts3215": (1.21164, 2.67617, 0.0284034, 7.4),
    "erob80_50": (4.89677, 1.07349, 0.361740, None),
    "erob80_100": (9.39630, None, 1.13510, None),
}
# stall or largest torque, no-load or largest speed, gear
OTHERS = {
    "anydrive_3": ("stall_torque", 120.0, "no_load_speed", 7.5, None),
    "damiao_dm_j4310_2ec": ("max_torque", 7.0, "max_speed", 20.943951, 10.0),
    "damiao_dm_j4340_2ec": ("max_torque", 27.0, "max_speed", 5.4977871, 40.0),
    "feetech_sts3215_12v": ("stall_torque", 2.941995, "no_load_speed", 4.7123890, 345.0),
    "tmotor_ak10_9": ("max_torque", 48.0, "max_speed", None, 9.0),
    "tmotor_ak80_9": ("max_torque", 18.0, "max_speed", None, 9.0),
    "unitree_go2_hip": ("max_torque", 23.7, "max_speed", 30.1, None),
    "unitree_go2_knee": ("max_torque", 45.43, "max_speed", 15.7, None),
}


@pytest.mark.parametrize("name", UNITREE)
def test_motors_of_unitree(name) -> None:
    x1, x2, y1, y2, static, viscous, armature = UNITREE[name]
    figures = motor_figures(name)
    assert (figures.full_effort_speed, figures.no_load_speed) == (x1, x2)
    assert (figures.max_torque, figures.braking_torque) == (y1, y2)
    assert (figures.friction, figures.viscous_friction, figures.armature) == (static, viscous, armature)
    motor = aa.MotorConfig.from_catalogue(name, kp=1.0, kd=0.1)
    assert motor.clamping == [aa.EnvelopeClampingConfig.from_unitree(x1, x2, y1, y2)]
    assert (motor.friction, motor.viscous_friction, motor.armature) == (static, viscous, armature)
    assert aa.MotorConfig.from_catalogue(name, kp=1.0, kd=0.1, friction=0.5).friction == 0.5


def test_armatures_of_unitree_are_those_of_their_gears() -> None:
    for name, (rotor, carrier, output), (first, second) in (
        ("unitree_n5020_16", (0.139e-4, 0.017e-4, 0.169e-4), (1 + 46 / 18, 1 + 56 / 16)),
        ("unitree_n7520_14_3", (0.489e-4, 0.098e-4, 0.533e-4), (4.5, 1 + 48 / 22)),
        ("unitree_n7520_22_5", (0.489e-4, 0.109e-4, 0.738e-4), (4.5, 5.0)),
        ("unitree_w4010_25", (0.068e-4, 0.0, 0.0), (5.0, 5.0)),
    ):
        armature = rotor * (first * second) ** 2 + carrier * second**2 + output
        assert motor_figures(name).armature == pytest.approx(armature, rel=1e-6), name
    for same, other in (("unitree_5020", "unitree_n5020_16"), ("unitree_7520_14", "unitree_n7520_14_3")):
        assert motor_figures(same).armature == pytest.approx(motor_figures(other).armature, rel=1e-6)


@pytest.mark.parametrize("name", WINDINGS)
def test_windings(name) -> None:
    """Stall torque K·V/R and no-load speed V/K follow, and are the limit; without a limit there is no motor."""
    constant, resistance, armature, voltage = WINDINGS[name]
    figures = motor_figures(name)
    assert (figures.torque_constant, figures.resistance, figures.armature) == (constant, resistance, armature)
    assert figures.voltage == voltage
    if voltage is None or resistance is None:
        assert figures.line is None
        with pytest.raises(ValueError, match=f"motor = '{name}': must have a published torque limit"):
            aa.MotorConfig.from_catalogue(name, kp=1.0, kd=0.1)
        return
    stall, no_load = figures.line or (math.nan, math.nan)
    assert (stall, no_load) == pytest.approx((constant * voltage / resistance, voltage / constant), rel=1e-12)
    motor = aa.MotorConfig.from_catalogue(name, kp=1.0, kd=0.1)
    assert motor.clamping == [aa.DCMotorClampingConfig(stall, no_load, stall)]


@pytest.mark.parametrize("name", OTHERS)
def test_other_motors(name) -> None:
    torque, most, speed, fastest, gear = OTHERS[name]
    figures = motor_figures(name)
    assert getattr(figures, torque) == most
    assert getattr(figures, speed) == (fastest if fastest is None else pytest.approx(fastest))
    assert figures.gear_ratio == gear


def test_limits_of_the_others() -> None:
    """ANYdrive's line with its peak; a largest torque; friction of a servo."""
    expected = [aa.DCMotorClampingConfig(120.0, 7.5, 80.0)]
    assert aa.MotorConfig.from_catalogue("anydrive_3", kp=1.0, kd=0.1).clamping == expected
    wanted = [aa.MaxEffortClampingConfig(45.43)]
    assert aa.MotorConfig.from_catalogue("unitree_go2_knee", kp=1.0, kd=0.1).clamping == wanted
    servo = aa.MotorConfig.from_catalogue("feetech_sts3215", kp=1.0, kd=0.1)
    assert (servo.friction, servo.viscous_friction) == (0.0523930, 0.0590852)
    assert motor_figures("tmotor_ak80_9").armature == pytest.approx(0.0049167)


def test_winding_of_the_servo_at_12_volts_agrees_with_its_sheet() -> None:
    servo = motor_figures("feetech_sts3215_12v")
    assert servo.torque_constant and servo.resistance and servo.efficiency and servo.backlash
    assert (12.0 - 0.18 * servo.resistance) / servo.torque_constant * 60 / (2 * math.pi) == pytest.approx(45.0)
    assert servo.efficiency * servo.torque_constant * 2.7 == pytest.approx(30 * 0.0980665)
    assert math.degrees(servo.backlash) == pytest.approx(1.0)


def test_knees_are_their_motors_through_a_linkage() -> None:
    knees = {name: figures for name, figures in MOTORS.items() if figures.motor}
    assert set(knees) == {"unitree_go1_knee", "unitree_go2_knee"}
    for name, knee in knees.items():
        motor = motor_figures(knee.motor)
        assert knee.max_torque == pytest.approx((motor.max_torque or math.nan) * (knee.linkage_ratio or 0.0)), name
        assert knee.max_speed == pytest.approx((motor.max_speed or math.nan) / (knee.linkage_ratio or 0.0), rel=0.01)
    assert motor_figures("unitree_go2_knee").linkage_ratio == pytest.approx(1.917, abs=5e-4)


def test_every_motor_is_checked_somewhere() -> None:
    before = {"anymal_c", "dynamixel_xl430_w250", "dynamixel_xm430_w350", "franka_panda_arm", "franka_panda_wrist"}
    before |= {"mini_cheetah", "unitree_5020", "unitree_7520_14", "unitree_go1_hip", "unitree_go1_knee"}
    assert {*UNITREE, *WINDINGS, *OTHERS, *before} == set(MOTORS)
    assert all(one.name in ("used_in", "sources", "motor") or one.default is None for one in fields(MotorFigures))
