"""Intended differences of laws, and how far each goes; see `Difference`."""

from __future__ import annotations

import math

import numpy as np
from isaacsim.core.experimental.actuators.specs.configs import (
    DCMotorClampingConfig,
    DelayConfig,
    FrictionConfig,
    PIDControlConfig,
)

from .laws import DT, INERTIA, Motor, stage
from .peer import Difference
from .signals import LARGEST_ERROR, Signals

# a joint that is this many times faster than one that its friction can stop in a step slides in every simulator
_SLIDES = 4.0


def _beyond_no_load(motor: Motor, given: Signals, _: int) -> np.ndarray:
    fastest = stage(motor, DCMotorClampingConfig).velocity_limit
    return np.where(np.abs(given.velocities) > fastest, math.inf, 0.0)


def _until_full(motor: Motor, given: Signals, step: int) -> np.ndarray:
    is_filling = step < stage(motor, DelayConfig).delay_steps
    return np.full(given.positions.shape, math.inf if is_filling else 0.0)


def _integral_of_a_step(motor: Motor, given: Signals, _: int) -> np.ndarray:
    error = given.position_targets.astype(np.float64) - given.positions
    return stage(motor, PIDControlConfig).ki * np.abs(error) * DT


def _integral_of_two_steps(motor: Motor, given: Signals, step: int) -> np.ndarray:
    # beyond its limit by the largest error of a step before
    return _integral_of_a_step(motor, given, step) + stage(motor, PIDControlConfig).ki * LARGEST_ERROR * DT


def _near_rest(motor: Motor, given: Signals, _: int) -> np.ndarray:
    level = stage(motor, FrictionConfig).coulomb
    stopped = np.abs(given.velocities) * INERTIA / DT <= _SLIDES * level
    # both are within the level
    return np.where(stopped, 2.0 * level, 0.0)


_OLDER = "tutorials/migrate_from_newton_actuators.md"
NO_BRAKE = Difference(_OLDER, "DC motor", "beyond no-load speed", _beyond_no_load)
NO_FIRST_COMMAND = Difference(_OLDER, "Delay", "until the delay is full", _until_full)
INTEGRAL = Difference("From_MuJoCo.md", "Integral", "by the integral of one step's error at most", _integral_of_a_step)
INTEGRAL_BEYOND = Difference(
    "From_MuJoCo.md", "Integral", "by the integral of two steps' errors at most", _integral_of_two_steps
)
REST = Difference("From_MuJoCo.md", "Friction at rest", "at joints that friction stops or nearly stops", _near_rest)
