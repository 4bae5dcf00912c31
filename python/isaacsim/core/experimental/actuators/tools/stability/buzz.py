"""Detection of vibrating joints in a recording: a sustained tone that dominates their fast motion."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...base.values import ArrayLike, as_numbers
from ...specs.arguments import number_of
from .loop import require_step

# smallest share of a tone in the power of fast motion, and smallest ratio of its second half to its first
_SHARE, _LASTING = 0.6, 0.5
# smallest number of periods of a tone, and of samples
_SWINGS, _SAMPLES = 10, 40


@dataclass(frozen=True)
class Buzz:
    """A joint that vibrates.

    Args:
        joint: Its column in the recording.
        frequency: Of the tone [Hz]; half the sampling rate if it reverses at each sample.
        amplitude: Of the tone, from the middle to a peak [rad or m].
    """

    joint: int
    frequency: float
    amplitude: float


def buzz(positions: ArrayLike, dt: float, *, threshold: float = 1e-5) -> list[Buzz]:
    """Return the vibrating joints of a recording, the largest amplitude first.

    Leave out the start, in which the robot moves to its pose: slow motion is removed and decaying motion is ignored,
    but jumps within the recording hide a vibration.

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
    require_step(dt)
    least = number_of("threshold", threshold)
    samples = as_numbers(positions, "positions").astype(float)
    samples = samples[:, None] if samples.ndim == 1 else samples
    if samples.ndim != 2 or len(samples) < _SAMPLES or not np.isfinite(samples).all():
        raise ValueError(
            f"positions of shape {samples.shape}: must be (steps, joints) with {_SAMPLES} steps or more, all finite. "
            "Record longer."
        )
    found = [_tone(column, joint, dt) for joint, column in enumerate(samples.T)]
    loud = [one for one in found if one is not None and one.amplitude >= least]
    return sorted(loud, key=lambda one: -one.amplitude)


def _tone(column: np.ndarray, joint: int, dt: float) -> Buzz | None:
    """Return the tone of one joint, or None if it decays or does not dominate."""
    count = len(column)
    time = np.linspace(-1.0, 1.0, count)
    moved = column - np.polynomial.Polynomial.fit(time, column, 3)(time)
    # windowed, as the recording ends within a period
    spectrum = np.fft.rfft(moved * np.hanning(count))
    bins = np.arange(len(spectrum))
    # lower frequencies are motion
    power = np.where(bins < _SWINGS, 0.0, np.abs(spectrum) ** 2)
    # width of a tone in the spectrum of the window
    near = np.abs(bins - int(power.argmax())) <= 2
    tone = np.fft.irfft(np.where(near, spectrum, 0.0), count)
    first, last = (float(np.linalg.norm(half)) for half in (tone[: count // 2], tone[count // 2 :]))
    if power[near].sum() <= _SHARE * power.sum() or last < _LASTING * first:
        return None
    frequency = float((power * bins)[near].sum() / power[near].sum() / (count * dt))
    # in the middle the window is 1
    return Buzz(joint, frequency, float(np.abs(tone).max()))
