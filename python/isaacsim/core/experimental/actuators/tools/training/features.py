"""Inputs of a network for the rows of a log, by its metadata, as at run time."""

from __future__ import annotations

import numpy as np

from ...laws.networks.features import COLUMNS, Feature
from ...laws.networks.metadata import HistoryFill, Metadata
from .log import ActuatorLog


def features_of(log: ActuatorLog, metadata: Metadata) -> np.ndarray:
    """Return inputs of a network, float32 `(steps, joints, inputs)`; `history_fill` decides on those before the log."""
    return np.stack([_values_of(log, feature, metadata.history_fill) for feature in metadata.features], axis=2)


def _values_of(log: ActuatorLog, feature: Feature, fill: HistoryFill) -> np.ndarray:
    # a log has no target velocity
    signals = log.position, log.velocity, log.position_target
    parts = [factor * signal for factor, signal in zip(COLUMNS[feature.column], signals, strict=False) if factor]
    column, values = np.sum(parts, axis=0), np.zeros_like(log.velocity)
    if fill == "first":
        values[:] = column[0]
    values[feature.back :] = column[: len(values) - feature.back]
    return (values - np.float32(feature.offset)) * np.float32(feature.scale)
