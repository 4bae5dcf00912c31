"""Result of a training: a network that needs no Torch, its errors, and its log."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ...base.saving import whole_file
from ...files.networks.convert import WRITERS
from ...laws.networks.evaluator import make_evaluator
from ...laws.networks.metadata import check_metadata
from ...laws.networks.network import Network
from .log import ActuatorLog, features_of
from .report import Curves, write_report


@dataclass(frozen=True)
class Errors:
    """Errors of predicted efforts.

    Args:
        rms: Root mean square of the error [N·m or N].
        largest: Largest error [N·m or N].
        effort_rms: Root mean square of the measured effort [N·m or N].
    """

    rms: float
    largest: float
    effort_rms: float

    @property
    def relative(self) -> float:
        """RMS of the error over RMS of the effort."""
        return self.rms / self.effort_rms if self.effort_rms else math.inf


@dataclass(frozen=True, eq=False)
class TrainedActuator:
    """A network trained on a log.

    Args:
        network: The network.
        metadata: Metadata of its file: `model_type`, inputs, scales, `sample_dt` [s].
        log: The log.
        cut: First row of the log for validation.
        warm_up: Number of rows after a start, with unknown past, which do not count in training and errors.
        history: Errors over effort RMS after each epoch, of training and validation, float64 `(epochs, 2)`; that of
            training is the mean over the epoch, in which the network changes.
        best_epoch: Row of `history` with the smallest validation error, whose weights are kept.
        stopped_by: Reason for the end of training: "epochs", "patience" or "max_seconds".
        settings: Arguments of training by name, and versions.
    """

    network: Network
    metadata: Mapping[str, Any]
    log: ActuatorLog
    cut: int
    warm_up: int
    history: np.ndarray
    best_epoch: int
    stopped_by: str
    settings: Mapping[str, object]

    @cached_property
    def errors(self) -> dict[str, Errors]:
        """Errors on both parts of the log, "training" and "validation"."""
        parts = {"training": (0, self.cut), "validation": (self.cut, self.log.steps)}
        return {name: self.errors_on(self.log.cut(*part)) for name, part in parts.items()}

    @property
    def sample_dt(self) -> float:
        """Step that it was trained for [s]; required of simulations."""
        dt = check_metadata(self.metadata, self.network).sample_dt
        assert dt is not None
        return dt

    def predict(self, log: ActuatorLog) -> np.ndarray:
        """Return the efforts [N·m or N] that the network predicts for a log, float32 `(steps, joints)`.

        It starts as after a reset and is evaluated as in a simulation, without Torch.

        Raises:
            ValueError: The log has another step than the one it was trained for.
        """
        metadata = check_metadata(self.metadata, self.network)
        if not math.isclose(log.dt, self.sample_dt, rel_tol=1e-5):
            raise ValueError(
                f"log.dt = {log.dt} s: must be the step that the network was trained for, {self.sample_dt} s. "
                "Resample the log."
            )
        inputs = np.ascontiguousarray(features_of(log, metadata))
        _, joints, columns = inputs.shape
        outputs = np.empty(inputs.shape[:2], np.float32)
        if self.network.kind == "mlp":
            # without state, all rows at once
            make_evaluator(self.network, outputs.size).evaluate(inputs.reshape(-1, columns), outputs.reshape(-1))
        else:
            evaluator = make_evaluator(self.network, joints)
            shape = (self.network.num_layers, joints, self.network.hidden_size)
            states = [np.zeros(shape, np.float32) for _ in range(2 if self.network.kind == "lstm" else 1)]
            # the same arrays at each step, which the evaluator checks once
            x, y = np.empty_like(inputs[0]), np.empty(joints, np.float32)
            for step, row in enumerate(inputs):
                x[:] = row
                evaluator.evaluate(x, y, states, states)
                outputs[step] = y
        scale = metadata.effort_scale * metadata.effort_std
        return outputs * np.float32(scale) + np.float32(metadata.effort_mean)

    def errors_on(self, log: ActuatorLog) -> Errors:
        """Return the errors of the network on a log, without its first `warm_up` rows.

        Raises:
            ValueError: The log has another step than the one it was trained for, or no more rows than `warm_up`.
        """
        if log.steps <= self.warm_up:
            raise ValueError(f"log has {log.steps} steps: must have more than warm_up, {self.warm_up}. Log for longer.")
        measured = log.effort[self.warm_up :].astype(np.float64)
        error = self.predict(log)[self.warm_up :] - measured
        return Errors(rms_of(error), float(np.abs(error).max()), rms_of(measured))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the network and its metadata, for `NeuralControlConfig` and the controllers.

        Args:
            path: `.safetensors`, or `.onnx` with the extra `nets`.

        Raises:
            ValueError: The name has another extension, or the package for it is missing.
        """
        write = WRITERS.get(Path(path).suffix.lower())
        if write is None:
            raise ValueError(f"{path}: must end with {' or '.join(WRITERS)}. Rename the file.")
        with whole_file(path) as written:
            written.write_bytes(write(self.network, self.metadata))

    def report(self, folder: str | os.PathLike[str], test: ActuatorLog | None = None) -> Path:
        """Write `training.png`, predicted against measured efforts, and `training.md` and `.json` with the errors.

        Args:
            folder: Folder of the report; created if absent.
            test: Another log for the picture; None: the validation part of the log.

        Returns:
            Path of the picture.

        Raises:
            ModuleNotFoundError: Matplotlib is missing.
            ValueError: The test log has another step than the one it was trained for, or too few rows.
        """
        part, log = ("test", test) if test is not None else ("validation", self.log.cut(self.cut, self.log.steps))
        errors = {**self.errors, part: self.errors_on(log)}
        content = {
            "kind": self.network.kind,
            "sample_dt": self.sample_dt,
            "log": {"steps": self.log.steps, "joints": self.log.joints, "cut": self.cut, "turns": self.log.turns},
            "warm_up": self.warm_up,
            "errors": {name: vars(one) | {"relative": one.relative} for name, one in errors.items()},
            "epochs": len(self.history),
            "best_epoch": self.best_epoch + 1,
            "stopped_by": self.stopped_by,
            "settings": dict(self.settings),
            "metadata": dict(self.metadata),
            "history": self.history.tolist(),
        }
        first = self.warm_up + (self.cut if test is None else 0)
        efforts = log.effort[self.warm_up :], self.predict(log)[self.warm_up :]
        return write_report(Path(folder), content, Curves(part, first * self.sample_dt, *efforts))


def rms_of(values: np.ndarray) -> float:
    """Root mean square in double precision."""
    return float(np.sqrt(np.mean(np.square(values, dtype=np.float64))))
