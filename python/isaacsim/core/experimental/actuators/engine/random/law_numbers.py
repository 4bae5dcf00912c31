"""Random numbers of laws in NumPy, as `laws/contract/functions.py` draws them."""

from __future__ import annotations

import numpy as np


def uniform(seed: np.ndarray, place: np.ndarray, count: np.ndarray) -> np.ndarray:
    """Return random numbers in [0, 1), float32, that three integers from 0 to 2²⁴ determine: the same bits."""
    bits = _mixed(_whole(seed))
    bits = _mixed(bits + _whole(place))
    bits = _mixed(bits + _whole(count))
    return (bits >> np.uint32(8)).astype(np.float32) * np.float32(2.0**-24)


def gaussian(seed: np.ndarray, place: np.ndarray, count: np.ndarray) -> np.ndarray:
    """Return normally distributed random numbers, float32, that three integers determine, to a few units in 1e-7."""
    first, second = (uniform(seed, place, one).astype(np.float64) for one in (count, count + 1.0))
    return (np.sqrt(-2.0 * np.log1p(-first)) * np.cos(2.0 * np.pi * second)).astype(np.float32)


def _whole(values: np.ndarray) -> np.ndarray:
    return np.asarray(values).astype(np.int64).astype(np.uint32)


def _mixed(bits: np.ndarray) -> np.ndarray:
    state = bits * np.uint32(747796405) - np.uint32(1403630843)
    word = ((state >> ((state >> np.uint32(28)) + np.uint32(4))) ^ state) * np.uint32(277803737)
    return (word >> np.uint32(22)) ^ word
