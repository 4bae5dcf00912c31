"""What goes into a network at each row of a log, by the words of its metadata, as at run time."""

from __future__ import annotations

import numpy as np

from ..networks.features import COLUMNS, Feature
from ..networks.metadata import HistoryFill, Metadata
from .log import ActuatorLog


def features_of(log: ActuatorLog, said: Metadata) -> np.ndarray:
    """Inputs of a network, float32 `(steps, joints, inputs)`; before the first row is what `history_fill` says."""
    return np.stack([_values_of(log, feature, said.history_fill) for feature in said.features], axis=2)


def _values_of(log: ActuatorLog, feature: Feature, fill: HistoryFill) -> np.ndarray:
    # a log holds no target velocity, so that no column that is trained on has one
    signals = log.position, log.velocity, log.position_target
    parts = [factor * signal for factor, signal in zip(COLUMNS[feature.column], signals, strict=False) if factor]
    column, values = np.sum(parts, axis=0), np.zeros_like(log.velocity)
    if fill == "first":
        values[:] = column[0]
    values[feature.back :] = column[: len(values) - feature.back]
    return (values - np.float32(feature.offset)) * np.float32(feature.scale)
