"""Config of the rate of a controller."""

import math

from isaacsim.core.experimental.actuators import DelayConfig, MaxEffortClampingConfig, PDControlConfig, RateConfig
from isaacsim.core.experimental.actuators.specs.configs import TimedDelayConfig, in_own_steps
from isaacsim.core.experimental.actuators.specs.motors import motor_of, problems_of
from refusals import cases

PD = PDControlConfig(1.0, 0.0)


@cases(
    "config, words",
    (RateConfig(decimation=0), "rate.decimation = 0: must be an integer and >= 1 and <= 4096"),
    (RateConfig(decimation=2.5), "rate.decimation = 2.5: must be an integer"),  # pyright: ignore
    (RateConfig(frequency=-1.0), "rate.frequency = -1.0: must be finite and >= 0"),
    (RateConfig(frequency=math.inf), "rate.frequency = inf: must be finite and >= 0"),
    (RateConfig(phase=1.5), "rate.phase = 1.5: must be finite and >= 0 and <= 1"),
)
def test_values_out_of_range_are_refused(config, words) -> None:
    (found,) = problems_of(motor_of([PD, config]), "motor")
    assert words in found


def test_rate_is_behind_the_controller_and_before_limits() -> None:
    limit, rate = MaxEffortClampingConfig(1.0), RateConfig(4)
    assert motor_of([limit, rate, PD]).stages == (PD, rate, limit)


def test_delay_counts_the_steps_of_the_controller() -> None:
    assert in_own_steps([DelayConfig(2), PD, RateConfig(4)]) == [TimedDelayConfig(steps=2), PD, RateConfig(4)]
    assert in_own_steps([DelayConfig(2), PD]) == [DelayConfig(2), PD]
