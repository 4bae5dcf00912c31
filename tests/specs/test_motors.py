"""A motor is said once, by configs or by its data sheet."""

import math

import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators.specs.configs import (
    ClampingConfig,
    DCMotorClampingConfig,
    DelayConfig,
    ForeignConfig,
    MaxEffortClampingConfig,
    NeuralControlConfig,
    PDControlConfig,
    PositionBasedClampingConfig,
)
from isaacsim.core.experimental.actuators.specs.datasheet import from_rpm, no_load_speed, stall_torque
from isaacsim.core.experimental.actuators.specs.motor_catalogue import MOTORS, MotorFigures, motor_figures
from isaacsim.core.experimental.actuators.specs.motors import MotorConfig, motor_of, problems_of
from refusals import cases, refused

PD = PDControlConfig(80.0, 2.0)
LIMIT = MaxEffortClampingConfig(40.0)


def test_a_list_of_configs_is_a_motor() -> None:
    own = ForeignConfig("OwnAPI", "clamping", {})
    curve = DCMotorClampingConfig(120.0, 20.0, 80.0)
    assert motor_of([DelayConfig(2), LIMIT, PD, curve, own]) == MotorConfig(PD, [LIMIT, curve, own], DelayConfig(2))
    assert motor_of(()) == MotorConfig()
    motor = MotorConfig(PD)
    assert motor_of(motor) is motor


@cases(
    "value, error, message",
    ([PD, PD], ValueError, "motor has 2 controllers, PDControlConfig and PDControlConfig: must be at most one"),
    ([DelayConfig(1), DelayConfig(2)], ValueError, "motor has 2 delays"),
    (PD, TypeError, "motor = PDControlConfig.*Put it into a list"),
    ([PD, 3.0], TypeError, "motor has 3.0: must be a MotorConfig or a list of configs"),
    ([MotorConfig()], TypeError, "motor has MotorConfig"),
    ("pd", TypeError, "motor = 'pd': must be a MotorConfig or a list of configs"),
    (None, TypeError, "motor = None"),
    (MotorConfig(controller=LIMIT), TypeError, r"MotorConfig.controller = MaxEffort.*of that kind"),  # pyright: ignore[reportArgumentType]
    (MotorConfig(delay=2), TypeError, "MotorConfig.delay = 2"),  # pyright: ignore[reportArgumentType]
    (MotorConfig(clamping=[PD]), TypeError, "MotorConfig.clamping = PDControl"),  # pyright: ignore[reportArgumentType]
)
def test_what_is_no_motor_is_refused(value, error, message) -> None:
    refused(error, lambda: motor_of(value), message)


def test_good_values_are_let_be() -> None:
    array = np.array([[1.0, 2.0], [3.0, 4.0]])
    on_warp = wp.array([1.0, 2.0], dtype=wp.float32, device="cpu")
    by_pattern = {".*": 3, "knee": math.inf}
    clamps: list[ClampingConfig] = [MaxEffortClampingConfig(by_pattern), PositionBasedClampingConfig([0.0], [1.0])]
    motor = MotorConfig(PDControlConfig(array, on_warp), clamps, DelayConfig(np.array([1, 2])), {".*": 0.1}, 0)  # pyright: ignore[reportArgumentType]
    assert problems_of(motor, "motor") == []
    assert problems_of(MotorConfig(NeuralControlConfig("a.onnx")), "motor") == []


def test_every_bad_value_is_told_with_its_place() -> None:
    gains = {"a": -1.0, "(": 3.0, "c": {"d": 1.0}}
    table = PositionBasedClampingConfig([0.0, 1.0], [1.0, 1.0])
    table.lookup_positions.append(0.5)
    motor = MotorConfig(
        PDControlConfig(gains, np.array([[1.0, math.nan], [math.inf, 2.0]])),  # pyright: ignore[reportArgumentType]
        [LIMIT, table],
        DelayConfig([1, 2.5]),  # pyright: ignore[reportArgumentType]
        armature=-0.1,
        friction={},
    )
    assert [line.split(":")[0] for line in problems_of(motor, "m")] == [
        *("m.armature = -0.1", "m.friction = {}", "m.controller.kp", "m.controller.kp['a'] = -1.0"),
        *("m.controller.kp['c'] = {'d'", "m.controller.kd[0][1] = nan", "m.controller.kd[1][0] = inf"),
        *("m.clamping[1].lookup_positions has 3 values, lookup_efforts 2", "m.delay.delay_steps[1] = 2.5"),
    ]


def test_a_data_sheet_gives_limits_and_armature_behind_the_gear() -> None:
    """By hand: 2 N·m · 10 · 0.75 = 15, 1.5 N·m · 7.5 = 11.25, 300 rad/s / 10 = 30, 0.5e-4 kg·m² · 100 = 0.005."""
    motor = MotorConfig.from_datasheet(
        *(2.0, 300.0, 10.0, 0.5e-4), max_torque=1.5, efficiency=0.75, kp=80.0, kd=2.0, friction=0.3, delay_steps=2
    )
    assert motor.armature == pytest.approx(0.005, rel=1e-15)
    assert motor == MotorConfig(
        PDControlConfig(80.0, 2.0), [DCMotorClampingConfig(15.0, 30.0, 11.25)], DelayConfig(2), motor.armature, 0.3
    )


def test_a_data_sheet_of_a_whole_servo_is_taken_as_it_is() -> None:
    motor = MotorConfig.from_datasheet(4.0, 5.0, kp={".*": 1.0}, kd=0.0)
    assert motor.clamping == [DCMotorClampingConfig(4.0, 5.0, 4.0)]
    assert (motor.armature, motor.friction, motor.delay) == (0.0, None, None)


def test_impossible_figures_are_all_told() -> None:
    with pytest.raises(ValueError) as caught:
        MotorConfig.from_datasheet(-1.0, 0.0, math.inf, math.nan, max_torque=0.0, efficiency=1.5, kp=1.0, kd=1.0)
    lines = str(caught.value).splitlines()
    names = ["stall_torque", "no_load_speed", "gear_ratio", "rotor_inertia", "efficiency", "max_torque"]
    assert [line.split(" = ")[0] for line in lines] == names and "> 0 and <= 1" in lines[4]
    refused(ValueError, lambda: MotorConfig.from_datasheet(1.0, 1.0, kp=-1.0, kd=1.0), r"motor.controller.kp = -1.0")


def test_what_data_sheets_print_is_converted() -> None:
    """By hand: 60 rpm is one turn a second; 0.05 N·m/A at 24 V and 0.6 Ω stalls at 2 N·m and runs at 480 rad/s."""
    assert from_rpm(60.0) == pytest.approx(2 * math.pi, rel=1e-15)
    assert stall_torque(0.05, 24.0, 0.6) == pytest.approx(2.0, rel=1e-15)
    assert no_load_speed(0.05, 24.0) == pytest.approx(480.0, rel=1e-15)
    # of a speed constant of 100 rpm/V, Kt is 60/(2π·100)
    assert no_load_speed(60 / (math.tau * 100), 10.0) == pytest.approx(from_rpm(1000.0), rel=1e-15)


def test_each_figure_of_the_catalogue_has_its_source() -> None:
    for name, figures in MOTORS.items():
        texts = ("used_in", "sources", "motor")
        known = {field: value for field, value in vars(figures).items() if field not in texts}
        given = {field: value for field, value in known.items() if value is not None}
        assert set(given) == set(figures.sources), name
        assert all(value > 0 for value in given.values()), name
        assert all(len(source) > 10 for source in figures.sources.values()), name


def test_every_motor_of_the_catalogue_drives_something() -> None:
    for name, figures in MOTORS.items():
        if figures.line is None and figures.max_torque is None:
            continue
        motor = MotorConfig.from_catalogue(name, kp=1.0, kd=0.1)
        (limit,) = motor.clamping
        assert math.isfinite(min(limit.bounds("effort").values())), name
        assert problems_of(motor, name) == []


def test_figures_of_the_catalogue() -> None:
    """By hand, from the sources: 46 rpm; two planetary stages of 32/9 and 9/2 before a rotor of 0.139 kg·cm²."""
    servo = MotorConfig.from_catalogue("dynamixel_xm430_w350", kp=1.0, kd=0.1, delay_steps=3)
    (limit,) = servo.clamping
    assert isinstance(limit, DCMotorClampingConfig)
    assert (limit.saturation_effort, limit.max_motor_effort) == (4.1, 4.1)
    assert limit.velocity_limit == pytest.approx(4.817108735504349, rel=1e-12)
    assert (servo.armature, servo.delay) == (None, DelayConfig(3))
    assert MotorConfig.from_catalogue("mini_cheetah", kp=1.0, kd=1.0).armature == 0.0023
    assert motor_figures("unitree_5020").gear_ratio == pytest.approx(16.0, rel=1e-15)
    assert motor_figures("unitree_5020").armature == pytest.approx(0.003609725, rel=1e-12)
    assert isinstance(motor_figures("franka_panda_arm"), MotorFigures)


def test_an_unknown_motor_is_named_with_those_that_sound_like_it() -> None:
    refused(ValueError, lambda: motor_figures("minicheeta"), r"motor = 'minicheeta'.*Did you mean mini_cheetah\?$")
    refused(ValueError, lambda: MotorConfig.from_catalogue("???", kp=1.0, kd=1.0), r"or MotorConfig\.from_datasheet")
