"""Configs of what acts late."""

import numpy as np
from isaacsim.core.experimental.actuators import DelayConfig, EffortDelayConfig, PDControlConfig, TimedDelayConfig
from isaacsim.core.experimental.actuators.specs.late import MAX_DELAY_SECONDS, MAX_DELAY_STEPS, SHORTEST_STEP
from isaacsim.core.experimental.actuators.specs.motors import motor_of, problems_of
from refusals import cases


def problem(config) -> list[str]:
    return problems_of(motor_of([PDControlConfig(1.0, 0.0), config]), "motor")


def test_longest_delay_is_kept_at_the_shortest_step() -> None:
    assert MAX_DELAY_SECONDS <= MAX_DELAY_STEPS * SHORTEST_STEP
    assert float(np.float32(MAX_DELAY_SECONDS)) == MAX_DELAY_SECONDS
    for config in (TimedDelayConfig(MAX_DELAY_SECONDS), EffortDelayConfig(MAX_DELAY_SECONDS)):
        assert problem(config) == []


def test_parts_of_delays() -> None:
    assert DelayConfig(3).delay_parts() == (3, 0.0)
    assert TimedDelayConfig(0.01, 1.5, random_steps=4).delay_parts() == (5.5, 0.01)
    assert EffortDelayConfig(0.01, 1.5).delay_parts() == (1.5, 0.01)


@cases(
    "config, words",
    (TimedDelayConfig(seconds=-0.1), "delay.seconds = -0.1: must be finite and >= 0"),
    (TimedDelayConfig(seconds=1.1), "delay.seconds = 1.1: must be finite and >= 0 and <= 1"),
    (TimedDelayConfig(steps=5000.0), "delay.steps = 5000.0: must be finite and >= 0 and <= 4096"),
    (TimedDelayConfig(random_steps=1.5), "delay.random_steps = 1.5: must be an integer"),  # pyright: ignore
    (TimedDelayConfig(redraw_steps=0), "delay.redraw_steps = 0: must be an integer and >= 1"),
    (TimedDelayConfig(hold_probability=1.01), "delay.hold_probability = 1.01: must be finite and >= 0 and <= 1"),
    (TimedDelayConfig(seed=2**21), "delay.seed = 2097152: must be an integer"),
    (TimedDelayConfig(steps=2, random_steps=3, max_steps=4), "delay.max_steps = 4: must be 0, or at least"),
    (EffortDelayConfig(steps=-1.0), "effort_delay.steps = -1.0: must be finite and >= 0"),
    (EffortDelayConfig(steps=2.5, max_steps=2), "effort_delay.max_steps = 2: must be 0, or at least the delay"),
)
def test_values_out_of_range_are_refused(config, words) -> None:
    (found,) = problem(config)
    assert words in found


def test_values_by_joint_and_robot() -> None:
    for value in ({"hip": 0.01, "knee": 0.02}, np.array([[0.01], [0.02]])):
        assert problem(TimedDelayConfig(seconds=value)) == []  # pyright: ignore[reportArgumentType]
