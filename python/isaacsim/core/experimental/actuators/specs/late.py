"""Configs of what acts late: commands and efforts, by a time or by a number of steps, which may be redrawn."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import ClassVar, Unpack

from .config import Config
from .fields import Description, described, parameter

MAX_DELAY_STEPS = 4096
"""Largest number of physics steps of a delay: a robot file cannot ask for more memory."""
SHORTEST_STEP = 0.00025
"""Physics step [s] for which a delay in seconds keeps enough of the past, unless `max_steps` says otherwise."""
MAX_DELAY_SECONDS = 1.0
"""Longest delay [s]; exact in single precision, and within `MAX_DELAY_STEPS` of the shortest step."""


def not_negative(space: str, name: str, unit: str, fallback: object, /, **rule: Unpack[Description]) -> Description:
    """Return the description of a number that is not negative."""
    return described(space, name, unit, fallback) | {"lower": 0.0} | rule


def steps_of(space: str, name: str = "steps") -> Description:
    """Return the description of a delay in physics steps."""
    return not_negative(space, name, "physics steps", 0.0, upper=MAX_DELAY_STEPS)


def seconds_of(space: str, name: str = "seconds") -> Description:
    """Return the description of a delay in seconds."""
    return not_negative(space, name, "s", 0.0, upper=MAX_DELAY_SECONDS)


def seed_of(space: str) -> Description:
    """Return the description of the seed of random numbers."""
    return not_negative(space, "seed", "", 0, type="int", upper=2**20)


def most_of(space: str) -> Description:
    """Return the description of the number of steps that are kept."""
    return not_negative(space, "maxSteps", "physics steps", 0, type="int", upper=MAX_DELAY_STEPS, of_law=False)


class LateConfig(Config):
    """A stage whose results act late."""

    max_steps: int
    IN_STEPS: ClassVar[tuple[str, ...]] = ("steps",)
    """Names of the fields that are a number of steps of delay, which add up."""

    def delay_parts(self) -> tuple[float, float]:
        """Return the delay in steps, the largest that may be drawn, and in seconds; they add up."""
        raise NotImplementedError

    def conflicts(self) -> list[str]:
        """Return what is wrong with the number of steps that are kept; a delay in seconds depends on the step."""
        given = self.max_steps, *(getattr(self, name) for name in self.IN_STEPS)
        # values by joint or robot are cut to what is kept
        if not all(isinstance(one, Real) for one in given) or not self.max_steps or sum(given[1:]) <= self.max_steps:
            return []
        return [
            f"max_steps = {self.max_steps!r}: must be 0, or at least the delay in steps, {sum(given[1:]):g}. Raise it."
        ]


@dataclass
class TimedDelayConfig(LateConfig):
    """Command delay in seconds or between steps, constant or redrawn: targets and feedforward act that much later.

    The delay is `steps + seconds/dt + drawn`. Between two steps, commands are interpolated linearly. `drawn` is an
    integer from 0 to `random_steps`, each as likely, redrawn every `redraw_steps` steps except with probability
    `hold_probability`; all joints of a robot with the same seed and the same rule draw the same. `DelayConfig` is a
    whole constant number of steps, and the faster. The schema is our own.
    """

    SCHEMA: ClassVar[str] = "ActuatorTimedDelayAPI"
    KIND: ClassVar[str] = "delay"
    IN_STEPS: ClassVar[tuple[str, ...]] = ("steps", "random_steps")

    seconds: float = parameter(**seconds_of("timedDelay"))
    """Delay [s]."""
    steps: float = parameter(**steps_of("timedDelay"))
    """Delay in physics steps, added to `seconds`; with a `RateConfig` in steps of the controller."""
    random_steps: int = parameter(**steps_of("timedDelay", "randomSteps") | {"type": "int", "fallback": 0})
    """Largest number of physics steps that is drawn and added; 0 for a constant delay."""
    redraw_steps: int = parameter(
        **not_negative("timedDelay", "redrawSteps", "physics steps", 1, type="int", upper=2**20) | {"lower": 1}
    )
    """Number of physics steps between two draws. If it is not 1, robots draw at different steps."""
    hold_probability: float = parameter(**not_negative("timedDelay", "holdProbability", "", 0.0, upper=1.0))
    """Probability with which a draw is left out, from 0 to 1."""
    seed: int = parameter(**seed_of("timedDelay"))
    """Seed of the draws."""
    max_steps: int = parameter(**most_of("timedDelay"))
    """Number of physics steps that are kept, the longest delay; 0 for what it needs at 0.25 ms and longer."""

    def delay_parts(self) -> tuple[float, float]:
        """Return the delay in steps, the largest that may be drawn, and in seconds; they add up."""
        return self.steps + self.random_steps, self.seconds


@dataclass
class EffortDelayConfig(LateConfig):
    """Delay of the effort between the controller and the motor: what the controller returns acts that much later.

    The delay is `steps + seconds/dt`; between two steps, efforts are interpolated linearly. Limits and all that
    follows act on the delayed effort, with the present state of the joint. Unlike a command delay, it is a delay within
    the control loop, which takes stability away. The schema is our own.
    """

    SCHEMA: ClassVar[str] = "ActuatorEffortDelayAPI"
    KIND: ClassVar[str] = "effort_delay"

    seconds: float = parameter(**seconds_of("effortDelay"))
    """Delay [s]."""
    steps: float = parameter(**steps_of("effortDelay"))
    """Delay in physics steps, added to `seconds`."""
    max_steps: int = parameter(**most_of("effortDelay"))
    """Number of physics steps that are kept, the longest delay; 0 for what it needs at 0.25 ms and longer."""

    def delay_parts(self) -> tuple[float, float]:
        """Return the delay in steps and in seconds; they add up."""
        return self.steps, self.seconds
