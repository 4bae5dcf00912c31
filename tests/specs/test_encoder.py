"""Config of an encoder."""

import math

import pytest
from isaacsim.core.experimental.actuators import EncoderConfig, PDControlConfig
from isaacsim.core.experimental.actuators.specs.motors import MotorConfig, motor_of, problems_of
from refusals import cases, refused


def problem(config) -> list[str]:
    return problems_of(motor_of([PDControlConfig(1.0, 0.0), config]), "motor")


def test_bits_are_steps_of_a_turn() -> None:
    assert EncoderConfig.from_bits(12, latency=0.008) == EncoderConfig(2 * math.pi / 4096, latency=0.008)
    assert EncoderConfig.from_bits(1).resolution == math.pi and EncoderConfig.from_bits(32).resolution > 0.0


@pytest.mark.parametrize("bits", [0, -1, 33, 12.0, True, "12", None])
def test_bits_out_of_range_are_refused(bits) -> None:
    refused(ValueError, lambda: EncoderConfig.from_bits(bits), r"bits = .*: must be an integer >= 1 and <= 32")


def test_defaults_measure_what_there_is() -> None:
    encoder = EncoderConfig()
    assert problem(encoder) == [] and motor_of([PDControlConfig(1.0, 0.0), encoder]).sensing == (encoder,)
    assert encoder.delay_parts() == (0.0, 0.0) and EncoderConfig(latency=0.1, latency_steps=2).delay_parts() == (2, 0.1)


@cases(
    "values, words",
    ({"resolution": -1.0}, "resolution = -1.0: must be finite and >= 0"),
    ({"noise": math.nan}, "noise = nan: must be finite and >= 0"),
    ({"bias": math.inf}, "bias = inf: must be finite"),
    ({"latency": 1.5}, "latency = 1.5: must be finite and >= 0 and <= 1"),
    ({"latency_steps": 4097}, "latency_steps = 4097: must be finite and >= 0 and <= 4096"),
    ({"velocity": "estimate"}, "velocity = 'estimate': must be one of 'difference', 'register'"),
    ({"side": "gear"}, "side = 'gear': must be one of 'joint', 'motor'"),
    ({"seed": 0.5}, "seed = 0.5: must be an integer"),
    ({"seed": -1}, "seed = -1: must be an integer"),
    ({"velocity_filter": -0.1}, "velocity_filter = -0.1: must be finite and >= 0"),
    ({"max_steps": 5000}, "max_steps = 5000: must be an integer and >= 0 and <= 4096"),
    ({"latency_steps": 5, "max_steps": 4}, "max_steps = 4: must be 0, or at least the delay in steps, 5"),
)
def test_values_out_of_range_are_refused(values, words) -> None:
    (found,) = problem(EncoderConfig(**values))
    assert words in found and found.startswith("motor.feedback")


def test_a_motor_has_one_encoder() -> None:
    with pytest.raises((TypeError, ValueError), match=r"one feedback|feedback"):
        MotorConfig(**motor_of([PDControlConfig(1.0, 0.0), EncoderConfig(), EncoderConfig()]).__dict__)
