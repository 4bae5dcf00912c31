"""Frequency response of one joint: the loop of `loop.py` for a sine, exactly as it is stepped.

    v⁺ = v + dt·τ/I      q⁺ = q + dt·((1 − w)·v + w·v⁺)      hence, with z = exp(j·2π·f·dt),
    V/T = (dt/I)/(z − 1)      Q/T = dt·(1 − w + w·z)/(z − 1)·V/T
    open loop     L = kp·Q/T + kd·V/T + ki·dt·z/(z − 1)·Q/T
    closed loop   z⁻ᵈ·(kp + ki·dt·z/(z − 1))·(Q/T) / (1 + L)

The hold of the effort between steps is included, without approximation. A delay of d steps applies to targets and not
to feedback, so it turns the phase of the closed loop and does not change the margins.
"""

from __future__ import annotations

import math

import numpy as np

from ..plots.bode import FrequencyResponse
from .loop import Loop

_POINTS = 4000
# lowest frequency, relative to the natural one
_BELOW = 0.01
# tolerance of a crossing, which lies between points
_NEAR = 0.01


def frequency_response(
    joint: str,
    gains: tuple[float, float, float],
    inertia: float,
    dt: float,
    delay_steps: float = 0,
    velocity_weight: float = 1.0,
) -> FrequencyResponse:
    """Return the frequency response of a joint's loop.

    Args:
        joint: Its name.
        gains: kp [N·m/rad or N/m], kd [N·m·s/rad or N·s/m] and ki [N·m/(rad·s) or N/(m·s)].
        inertia: Inertia at the motor [kg·m² or kg].
        dt: Physics step [s].
        delay_steps: Delay of commands [physics steps].
        velocity_weight: Velocity weight of the simulator, see `stability_of`.

    Raises:
        ValueError: There is no gain, or the inertia or step is not > 0.
    """
    kp, kd, ki = gains
    if not (inertia > 0 and dt > 0 and max(kp, kd, ki) > 0):
        raise ValueError(
            f"{joint}: kp = {kp:g}, kd = {kd:g}, ki = {ki:g}, inertia {inertia:g}, dt = {dt:g}: must have a gain, and "
            "inertia and step > 0. A loop that is open has no margins."
        )
    half = 0.5 / dt
    slowest = max(math.sqrt(kp / inertia), kd / inertia, (ki / inertia) ** (1 / 3)) / (2 * math.pi)
    frequencies = np.geomspace(min(_BELOW * slowest, 0.1 * half), half, _POINTS)
    loop, followed = _responses(frequencies, gains, inertia, dt, velocity_weight)
    crossover, margin = _phase_margin(frequencies, loop)
    factor = Loop(np.array([[1.0 / inertia]]), np.array([[kp], [kd], [ki]]), velocity_weight).margin(dt)
    turn = _phase_crossover(frequencies, loop, factor)
    level = np.abs(followed)
    falls = np.flatnonzero((level[:-1] >= math.sqrt(0.5)) & (level[1:] < math.sqrt(0.5)))
    delayed = followed * np.exp(-2j * math.pi * frequencies * dt * delay_steps)
    bandwidth = float(frequencies[falls[-1]]) if len(falls) and factor >= 1 else None
    return FrequencyResponse(joint, frequencies, loop, delayed, factor, turn, margin, crossover, bandwidth)


def _responses(
    frequencies: np.ndarray, gains: tuple[float, float, float], inertia: float, dt: float, weight: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the open loop, and the closed loop without a delay."""
    kp, kd, ki = gains
    z = np.exp(2j * math.pi * frequencies * dt)
    # the highest frequency reverses at each step, exactly
    z[-1] = -1.0
    summed = dt * z / (z - 1)
    velocity = dt / inertia / (z - 1)
    position = dt * (1 - weight + weight * z) / (z - 1) * velocity
    loop = kp * position + kd * velocity + ki * summed * position
    return loop, (kp + ki * summed) * position / (1 + loop)


def _phase_margin(frequencies: np.ndarray, loop: np.ndarray) -> tuple[float | None, float | None]:
    """Return the frequency at which the open loop falls below 1, and the phase margin there [deg]."""
    level = np.log(np.abs(loop))
    falls = np.flatnonzero((level[:-1] >= 0) & (level[1:] < 0))
    if not len(falls):
        return None, None
    at = falls[-1]
    share = level[at] / (level[at] - level[at + 1])
    phase = np.unwrap(np.angle(loop[at : at + 2]))
    turned = math.degrees(phase[0] + share * (phase[1] - phase[0]))
    ends = np.log(frequencies[at : at + 2])
    return float(np.exp(ends[0] + share * (ends[1] - ends[0]))), (turned % 360.0) - 180.0


def _phase_crossover(frequencies: np.ndarray, loop: np.ndarray, factor: float) -> float | None:
    """Return the frequency at which the open loop times `factor` is -1."""
    real, imaginary = np.real(loop), np.imag(loop)
    turns = np.flatnonzero((imaginary[:-1] * imaginary[1:] < 0) & (real[:-1] < 0))
    # at the highest frequency it is real
    nearest = min([*turns.tolist(), len(loop) - 1], key=lambda place: abs(factor * real[place] + 1.0))
    return float(frequencies[nearest]) if abs(factor * real[nearest] + 1.0) < _NEAR else None
