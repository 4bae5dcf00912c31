"""The functions in C of stages: the bits of the core for each kind and law, in the coordinates of joint and motor."""

from math import inf, nan

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from c_headers import needs_compiler, steps_alike
from isaacsim.core.experimental.actuators.laws.contract import catalogue
from isaacsim.core.experimental.actuators.tools.export.c_stage import LINES
from isaacsim.core.experimental.actuators.tools.export.robot import read_robot
from places import ROBOTS

ARM = ROBOTS / "arm_2dof.usda"
PD = aa.PDControlConfig(80.0, 2.0)
MOST = aa.MaxEffortClampingConfig(25.0)
WINDING = aa.ElectricalConfig(0.06, 0.9, 2e-4, voltage=24.0, max_current=18.0)
GEAR = aa.TransmissionConfig(9.1, offset=0.2)
BACK = aa.TransmissionConfig(-7.3, targets="motor", efficiency=0.8, backdriving_efficiency=0.75)
SPRING = aa.ElasticTransmissionConfig(
    8.3, rotor_inertia=2e-4, stiffness=700.0, damping=0.4, backlash=0.02, rotor_damping=1e-4, assumed_inertia=0.05
)
STIFF = aa.ElasticTransmissionConfig(-8.3, offset=0.1, rotor_inertia=2e-4, stiffness=3e6, assumed_inertia=0.05)
FRICTION = aa.FrictionConfig(1.1, 0.3, 2.0, 0.07, 1.7, assumed_inertia=0.02, motor_load=0.1, external_load=0.05)
WEAK = aa.PDControlConfig(0.9, 0.03)
AT_MOTOR = [WEAK, aa.DCMotorClampingConfig(4.1, 60.0, 3.0), aa.MaxEffortClampingConfig(2.5)]
CURVE = aa.PositionBasedClampingConfig([-0.5, -0.1, 0.2, 0.2, 0.6], [3.0, 20.0, 31.0, 8.0, 14.0])
LONG = aa.PositionBasedClampingConfig(np.linspace(-1.1, 1.3, 501).tolist(), (10 + 9 * np.sin(np.arange(501))).tolist())
NOISY = aa.EncoderConfig.from_bits(12, bias=0.01, noise=0.003, latency=0.0071, velocity_filter=0.006, seed=5)
REGISTER = aa.EncoderConfig(noise=0.002, velocity="register", velocity_resolution=0.11, latency_steps=2.5)
OF_MOTOR = aa.EncoderConfig(noise=0.01, side="motor")
TICKS = aa.EncoderConfig.from_bits(12, latency_steps=1, side="motor", noise=0.01)
LATE = aa.EffortDelayConfig(0.0093)
MOTORS = {
    "pid": [aa.PIDControlConfig(80.0, 11.0, 2.0, 0.02, 0.1), aa.MaxEffortClampingConfig(30.0)],
    "geared_pd": [aa.GearedPDControlConfig(1.3, 0.01, -9.0), aa.MaxEffortClampingConfig(20.0)],
    "geared_pid": [aa.GearedPIDControlConfig(1.3, 0.2, 0.01, 0.5, -9.0), aa.MaxEffortClampingConfig(20.0)],
    "servo": [
        aa.ServoControlConfig(32, 0.16, 12.0, deadband=0.01, kd=0.02, profile_velocity=6.0, profile_acceleration=90.0),
        aa.ElectricalConfig(1.6, 5.1, voltage=12.0, command="voltage"),
    ],
    "slewed_pid": [aa.SlewedPIDControlConfig(80.0, 11.0, 2.0, 3.0, 0.02, 0.1), aa.MaxEffortClampingConfig(30.0)],
    "startup": [aa.StartupPDControlConfig(80.0, 2.0, 3.0, 0.1), aa.MaxEffortClampingConfig(30.0)],
    "cut_off": [PD, aa.DCMotorCutoffClampingConfig(33.0, 4.7, 21.0)],
    "winding": [PD, aa.ElectricalConfig(0.6, 0.9, 2e-3, voltage=24.0, max_current=38.0), MOST],
    "cogging": [PD, MOST, aa.CoggingConfig(0.4, 21.0, 0.3)],
    "lu_gre": [PD, MOST, aa.LuGreFrictionConfig(900.0, 3.0, 0.2, 1.0, 1.7, 0.08, assumed_inertia=0.03)],
    "cable": [PD, MOST, aa.ShaftFrictionConfig(1.1, 0.3, 0.1, 0.02), aa.ShaftInertiaConfig(0.05, 0.02)],
    "as_mujoco": [PD, MOST, aa.LuGreFrictionConfig(900.0, 3.0, 0.2, 1.0, 1.7, 0.08, mujoco_discretization=True)],
    "without_controller": [FRICTION, aa.CoggingConfig(0.4, 21.0, 0.3)],
    "geared": [*AT_MOTOR, GEAR],
    "geared_back": [*AT_MOTOR, BACK, FRICTION],
    "losses": [*AT_MOTOR, BACK, aa.FrictionConfig(assumed_inertia=0.02)],
    "winding_and_gear": [WEAK, aa.DelayConfig(2), WINDING, aa.MaxEffortClampingConfig(0.7), GEAR],
    "elastic": [*AT_MOTOR, SPRING],
    "stiff": [*AT_MOTOR, STIFF, FRICTION],
    "winding_and_spring": [WEAK, WINDING, SPRING],
    "table": [PD, CURVE],
    "long_table": [PD, LONG, MOST],
    "table_behind_a_gear": [*AT_MOTOR, CURVE, GEAR],
    "envelope": [
        PD,
        aa.EnvelopeClampingConfig(
            [-6.0, -1.0, 0.0, 2.0, 2.0, 9.0],
            [40.0, 35.0, 30.0, 24.0, 19.0, 4.0],
            stall_effort=44.0,
            no_load_velocity=11.0,
            nominal_voltage=24.0,
            max_power=50.0,
            max_driving_effort=28.0,
        ),
    ],
    "envelope_without_table": [PD, aa.EnvelopeClampingConfig(stall_effort=44.0, no_load_velocity=11.0, max_power=50.0)],
    "envelope_at_the_motor": [WEAK, aa.EnvelopeClampingConfig([-30.0, 0.0, 20.0, 80.0], [3.0, 2.0, 1.5, 0.2]), GEAR],
    "friction_curve": [PD, MOST, aa.FrictionCurveConfig([0.0, 0.1, 2.0, 9.0], [2, 1.1, 1, 1.9], assumed_inertia=0.02)],
    "encoder": [PD, NOISY, MOST],
    "register": [PD, REGISTER, MOST],
    "plain_encoder": [PD, aa.EncoderConfig(bias=0.02), MOST],
    "encoder_and_delay": [PD, REGISTER, aa.DelayConfig(3), MOST, FRICTION],
    "encoder_of_the_joint": [*AT_MOTOR, NOISY, GEAR],
    "encoder_of_the_motor": [*AT_MOTOR, TICKS, BACK, FRICTION],
    "encoder_before_a_spring": [*AT_MOTOR, NOISY, SPRING],
    "encoder_behind_a_spring": [*AT_MOTOR, OF_MOTOR, SPRING],
    "commands": [PD, REGISTER, aa.WrapConfig(2.0), aa.CommandLagConfig(0.02), aa.TimedDelayConfig(0.0101), MOST],
    "commands_before_a_gear": [*AT_MOTOR, aa.WrapConfig(2.0), aa.CommandLagConfig(0.02), GEAR],
    "effort_lag": [PD, aa.EffortLagConfig(0.01), aa.RateConfig(3), MOST],
    "stepper": [aa.StepperControlConfig(0.5, 20.0, 0.02), aa.CoggingConfig.of_detents(20, 0.05)],
    "brake": [PD, FRICTION, aa.BrakeConfig(1.5, engage_time=0.1, engaged=True, assumed_inertia=0.02)],
    "losses_of_bristles": [PD, aa.LuGreFrictionConfig(80, 2, motor_load=0.2, external_load=0.1, assumed_inertia=0.02)],
    "timed_delay": [PD, aa.TimedDelayConfig(0.0101), MOST],
    "drawn_delay": [PD, aa.TimedDelayConfig(0.002, random_steps=4, redraw_steps=7, hold_probability=0.3, seed=5), MOST],
    "heat": [
        PD,
        aa.ElectricalConfig(0.6, 0.9, voltage=48.0, temperature_coefficient=0.0039, magnet_coefficient=0.001),
        aa.ThermalConfig.i2t(9.0, 30.0, 0.4),
        aa.EnvelopeClampingConfig([-6.0, 0.0, 9.0], [40.0, 30.0, 4.0]),
    ],
    "heat_in_the_cold": [
        PD,
        FRICTION,
        aa.ElectricalConfig(0.6, 0.9, voltage=9.0, temperature_coefficient=0.0039, magnet_coefficient=0.001),
        aa.ThermalConfig(9.0, 1.5, 40.0, 4.0, ambient=-30.0, derating_start=60.0, max_temperature=90.0),
    ],
    "losses_of_motor": [
        PD,
        WINDING,
        aa.LossesConfig(0.02, 1e-3, 0.1, 2e-3, 0.2, idle_power=2.0, flux_speed=3.0, flux_loss=9.0),
        aa.ThermalConfig(9.0, 1.5, 40.0, 4.0, max_temperature=60.0, magnet_share=0.4, magnet_time=3.0),
        aa.RippleConfig(0.2, 9.0),
    ],
    "driver": [
        PD,
        aa.ElectricalConfig(
            *(0.6, 0.9), voltage=30.0, driver_resistance=0.1, saturation_current=20.0, bandwidth=90.0, dead_zone=0.5
        ),
    ],
    "heat_and_gear": [*AT_MOTOR, WINDING, aa.ThermalConfig.i2t(0.4, 1.5, 0.3), GEAR, FRICTION],
    "rate": [aa.PIDControlConfig(80.0, 11.0, 2.0, 0.02, 0.1), aa.RateConfig(3), MOST],
    "rate_in_hertz": [PD, NOISY, aa.RateConfig(frequency=97.0, phase=0.4), MOST, FRICTION],
    "rate_around_all": [*AT_MOTOR, REGISTER, aa.DelayConfig(2), aa.RateConfig(4), LATE, WINDING, SPRING],
    "rate_of_a_motor": [*AT_MOTOR, OF_MOTOR, aa.RateConfig(2), BACK, FRICTION],
    "effort_delay": [PD, LATE, MOST],
    "effort_delay_and_gear": [*AT_MOTOR, aa.EffortDelayConfig(steps=1.25), aa.TimedDelayConfig(steps=0.5), GEAR],
}
# by step, the row of the signals and what stands there: positions, velocities, targets and feedforward
BAD = {0: (3, nan), 50: (0, nan), 60: (1, inf), 200: (2, nan), 210: (3, -inf), 220: (4, nan)}
# rows of the tables above
ROWS = {100: (0, 0.2), 110: (0, -0.5), 120: (0, 0.6), 130: (1, 2.0), 140: (1, -6.0), 150: (1, 0.0), 160: (1, -2.0)}
HUGE = {230: (0, 3e38), 240: (1, -3e38), 250: (2, 3e38), 260: (4, -3e38), 270: (0, 1e-41), 280: (1, -0.0)}


@needs_compiler
@pytest.mark.parametrize("name", MOTORS)
@pytest.mark.slow
def test_stages_have_the_bits_of_the_core(name, tmp_path) -> None:
    """Over 400 steps of random signals, some far beyond the limits and some not finite, beside another joint."""
    motors = {"shoulder": MOTORS[name], "extension": [PD, NOISY, LONG]}
    efforts = steps_alike(read_robot(ARM, motors), tmp_path, bad=BAD | ROWS | HUGE)
    assert not efforts[[*BAD], 0].any() and efforts[[*BAD], 1].all()
    # before the huge numbers
    assert np.count_nonzero(efforts[:230, 0]) > 200


@needs_compiler
@pytest.mark.parametrize("name", ["encoder", "elastic", "timed_delay", "winding_and_spring", "rate_in_hertz"])
def test_other_steps_of_time(name, tmp_path) -> None:
    motors = {"shoulder": MOTORS[name], "extension": MOTORS["register"]}
    assert steps_alike(read_robot(ARM, motors), tmp_path, 150, dt=0.0007).any(axis=1).all()


@needs_compiler
def test_random_numbers_count_driven_joints(tmp_path) -> None:
    alone = steps_alike(read_robot(ARM, {"extension": [PD, NOISY]}), tmp_path, 100)
    assert not alone[:, 0].any() and alone[:, 1].all()
    assert not np.array_equal(alone[:, 1], steps_alike(read_robot(ARM, {".*": [PD, NOISY]}), tmp_path, 100)[:, 1])


def test_every_law_of_a_kind_in_the_table_is_compared() -> None:
    compared = {type(stage) for stages in MOTORS.values() for stage in stages}
    assert {law.config for law in catalogue.laws() if law.kind in LINES} - compared == {aa.LinkageConfig}
