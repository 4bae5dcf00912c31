"""Command delay in seconds or between steps, constant or redrawn.

    delay in steps = steps + seconds/dt + drawn                drawn  an integer from 0 to random_steps, each as likely

A draw is due in the first step after a reset, and `redraw_steps` steps after the one before; the first of these
periods has a random length, so that robots draw at different steps. It is left out with `hold_probability`, but for the
first. A draw is a function of seed, number of the robot and number of the draw: all joints of a robot with equal
parameters have the same delay. Numbers of draws go on over a reset.

Edges: one step of `redraw_steps` draws at each step; with `random_steps` of 0 the delay is constant. Commands that are
not finite do not enter the past.
Source: DelayBuffer of mjlab 1.0 (lags, hold probability, update period and phase), with draws of our own.
"""

# wp.func returns what Warp says
# pyright: reportReturnType=false

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import ClassVar

import warp as wp

from ..specs.late import LateConfig, TimedDelayConfig
from .contract.functions import nearest, uniform
from .contract.late import LateComponent
from .contract.law import UNSET

MOST_DRAWS = wp.constant(8388608.0)
"""Number of draws after which they repeat."""


@wp.func
def floored(x: float) -> float:
    """Return the largest integer up to `x`, for |x| <= 2²²."""
    near = nearest(x)
    return near - 1.0 if near > x else near


@wp.func
def timed_prepare(
    seconds: float,
    steps: float,
    random_steps: float,
    redraw_steps: float,
    hold_probability: float,
    seed: float,
    dt: float,
):
    """Return the constant part of the delay in steps, and the parameters of the draws."""
    return steps + seconds / dt, random_steps, redraw_steps, hold_probability, seed


@wp.func
def timed_lag(
    dt: float,
    robot_number: float,
    drawn: float,
    steps_left: float,
    draws: float,
    lag: float,
    random_steps: float,
    redraw_steps: float,
    hold_probability: float,
    seed: float,
):
    """Return the delay in steps, the drawn part, the steps until the next draw, and the number of draws."""
    first = wp.isnan(drawn)
    due = first or steps_left < 0.5
    number = draws + 1.0 if draws < MOST_DRAWS else 0.0
    count = number if due else draws
    is_drawn = random_steps > 0.0
    chance = uniform(seed, robot_number, 2.0 * count + 1.0) if is_drawn else 0.0
    redrawn = first or (due and chance >= hold_probability)
    among = floored(uniform(seed, robot_number, 2.0 * count) * (random_steps + 1.0)) if is_drawn else 0.0
    kept = among if redrawn else drawn
    left = floored(chance * redraw_steps) if first else (redraw_steps - 1.0 if due else steps_left - 1.0)
    return lag + kept, kept, left, count


class DelayTimed(LateComponent):
    """Command delay of `N` actuators in seconds or between steps.

    Args:
        seconds: Delay [s], shape `(N,)`.
        steps: Delay in physics steps, added to it, shape `(N,)`.
        random_steps: Largest number of steps that is drawn and added, shape `(N,)`.
        redraw_steps: Number of steps between two draws, shape `(N,)`.
        hold_probability: Probability with which a draw is left out, shape `(N,)`.
        seed: Seed of the draws, an integer, shape `(N,)`.
        max_steps: For how many steps of delay the past is kept; 0 for one that stays 0.
    """

    KIND: ClassVar[str] = "delay"
    PARAMETERS: ClassVar[tuple[str, ...]] = (
        "seconds",
        "steps",
        "random_steps",
        "redraw_steps",
        "hold_probability",
        "seed",
    )
    NEUTRAL: ClassVar[tuple[float, ...]] = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0)
    STATE: ClassVar[tuple[str, ...]] = ("drawn", "steps_left", "draws")
    START: ClassVar[Mapping[str, float]] = {"drawn": UNSET}
    KEPT: ClassVar[Collection[str]] = ("draws",)
    ASKS: ClassVar[tuple[str, ...]] = ("robot_number",)
    USUAL: ClassVar[Mapping[str, float]] = {"random_steps": 0.0}
    LATE: ClassVar[tuple[str, ...]] = ("earlier_position_targets", "earlier_velocity_targets", "earlier_feedforward")
    STEPS: ClassVar[str] = "steps"
    SECONDS: ClassVar[str] = "seconds"
    CONFIG: ClassVar[type[LateConfig]] = TimedDelayConfig
    PREPARE = timed_prepare
    LAW = timed_lag
