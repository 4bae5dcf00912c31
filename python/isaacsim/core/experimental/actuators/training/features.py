"""What goes into a network at each row of a log, by the words of its metadata, as at run time."""

from __future__ import annotations

import numpy as np

from ..networks.metadata import Metadata
from .log import ActuatorLog


def features_of(log: ActuatorLog, said: Metadata) -> np.ndarray:
    """Inputs of a network, float32 `(steps, joints, inputs)`; before the first row are zeros, as after a reset."""
    error, velocity = log.position_error, log.velocity
    if said.model_type == "gru":
        # of what a GRU may be given, a log holds these two
        columns = {"position_error": error, "velocity": velocity}
        inputs = [columns[name] for name in said.input_columns]
        normalised = zip(inputs, said.input_mean, said.input_std, strict=True)
        return np.stack([(values - np.float32(mean)) / np.float32(std) for values, mean, std in normalised], axis=2)
    errors = [_ago(error, back) * np.float32(said.pos_scale) for back in said.input_idx]
    velocities = [_ago(velocity, back) * np.float32(said.vel_scale) for back in said.input_idx]
    return np.stack([*errors, *velocities] if said.input_order == "pos_vel" else [*velocities, *errors], axis=2)


def _ago(values: np.ndarray, steps: int) -> np.ndarray:
    """The values so many rows earlier."""
    earlier = np.zeros_like(values)
    earlier[steps:] = values[: len(values) - steps]
    return earlier
