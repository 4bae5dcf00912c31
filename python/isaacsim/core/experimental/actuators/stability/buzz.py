"""Recognise joints that buzz in a recording: a tone that stands out of their motion and does not die away."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..specs.arguments import number_of
from ..values import as_numbers

# share of the power of fast motion that a tone holds, and of its strength in the first half that the second has
_SHARE, _LASTING = 0.6, 0.5
# swings of a tone that a recording holds at least, and samples
_SWINGS, _SAMPLES = 10, 40


@dataclass(frozen=True)
class Buzz:
    """A joint that swings to and fro on and on.

    Args:
        joint: Its column in the recording.
        frequency: Of the tone [Hz]; half the rate of the recording where it turns round at each sample.
        amplitude: Of the tone, from the middle to a peak [rad or m].
    """

    joint: int
    frequency: float
    amplitude: float


def buzz(positions: Any, dt: float, *, threshold: float = 1e-5) -> list[Buzz]:
    """Return the joints of a recording that buzz, the strongest first.

    Leave out the part in which the robot moves to its place: slow motion is taken out, and a motion that dies away is
    no buzz, but jumps in the middle hide one.

    Args:
        positions: Of each physics step, shape `(steps, joints)` or `(steps,)` [rad or m].
        dt: Time between them [s].
        threshold: Smallest amplitude that counts; default 1e-5 [rad or m].

    Raises:
        ValueError: There are fewer than 40 steps, a position is not finite, or `dt` is not a finite number > 0.

    Example:
        >>> import numpy as np
        >>> from isaacsim.core.experimental.actuators import buzz
        >>> time = np.arange(0.0, 2.0, 0.005)
        >>> (found,) = buzz(0.5 * time + 0.01 * np.sin(2 * np.pi * 30.0 * time), 0.005)
        >>> print(found.joint, round(found.frequency), round(found.amplitude, 3))
        0 30 0.01
    """
    if not (math.isfinite(number_of("dt", dt)) and dt > 0):
        raise ValueError(f"dt = {dt}: must be a finite number of seconds > 0.")
    least = number_of("threshold", threshold)
    recorded = as_numbers(positions, "positions").astype(float)
    recorded = recorded[:, None] if recorded.ndim == 1 else recorded
    if recorded.ndim != 2 or len(recorded) < _SAMPLES or not np.isfinite(recorded).all():
        raise ValueError(
            f"positions of shape {recorded.shape}: must be (steps, joints) with {_SAMPLES} steps or more, all finite. "
            "Record longer."
        )
    found = [_tone(column, joint, dt) for joint, column in enumerate(recorded.T)]
    loud = [one for one in found if one is not None and one.amplitude >= least]
    return sorted(loud, key=lambda one: -one.amplitude)


def _tone(column: np.ndarray, joint: int, dt: float) -> Buzz | None:
    """The tone of one joint, if it lasts and stands out."""
    count = len(column)
    time = np.linspace(-1.0, 1.0, count)
    moved = column - np.polynomial.Polynomial.fit(time, column, 3)(time)
    # windowed, for the recording ends in mid-swing
    spectrum = np.fft.rfft(moved * np.hanning(count))
    bins = np.arange(len(spectrum))
    # what is slower is motion
    power = np.where(bins < _SWINGS, 0.0, np.abs(spectrum) ** 2)
    # a tone is as wide as the window makes it
    near = np.abs(bins - int(power.argmax())) <= 2
    tone = np.fft.irfft(np.where(near, spectrum, 0.0), count)
    first, last = (float(np.linalg.norm(half)) for half in (tone[: count // 2], tone[count // 2 :]))
    if power[near].sum() <= _SHARE * power.sum() or last < _LASTING * first:
        return None
    frequency = float((power * bins)[near].sum() / power[near].sum() / (count * dt))
    # in the middle the window is 1
    return Buzz(joint, frequency, float(np.abs(tone).max()))
