"""Training of networks: Adam on the squared error of the effort, with the last part of the log for validation.

    minimise mean((network(features) − effort / effort_scale)²)

The split is by time: the last part decides when to stop and which weights to keep, and contributes to neither weights
nor scales. An MLP is trained on rows with their history, a recurrent network on windows, each from an initial state of
zero with some rows of warm-up.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import numpy as np

from ...base.extras import needs
from ...base.memory import Tensor
from ...laws.networks.metadata import MOST_STEPS, Metadata
from ...laws.networks.network import GRUCell, Kind, Linear, LSTMCell, Network, Operation, Unary
from ...laws.networks.torch_network import Module
from ...specs.arguments import number_of, require_type
from .log import ActuatorLog, features_of
from .trained import TrainedActuator, rms_of

# rows of a recurrent network's window that count, after those of warm-up
_WINDOW = 50
# rows, or windows, per batch
_BATCH = {"mlp": 512, "lstm": 32, "gru": 32}


def train_actuator(
    log: ActuatorLog,
    kind: Kind = "mlp",
    *,
    hidden: Sequence[int] | None = None,
    input_idx: Sequence[int] = (0, 1, 2, 3, 4),
    warm_up: int = 20,
    validation: float = 0.2,
    epochs: int = 100,
    patience: int = 25,
    max_seconds: float | None = None,
    learning_rate: float = 0.01,
    seed: int = 0,
    progress: bool = True,
) -> TrainedActuator:
    """Train a network that predicts the efforts of a log from its position errors and velocities.

    The same log and arguments give the same network on the same machine, unless `max_seconds` ends it. Training uses
    one thread, as several would be slower, and does not change the random generator of the process.

    Args:
        log: The measurements.
        kind: "mlp", with a history of inputs, "lstm" or "gru".
        hidden: Width of each hidden layer, equal for an LSTM or GRU; None: (32, 32) for an MLP, else (32,).
        input_idx: Steps back of the inputs of an MLP, 0 the current one; should exceed the delay of the actuator.
        warm_up: Rows of an LSTM or GRU before errors count; that of an MLP follows from `input_idx`.
        validation: Share of the log, at its end, for validation.
        epochs: Largest number of epochs; the learning rate falls to zero over them.
        patience: Number of epochs without a smaller validation error after which training ends.
        max_seconds: Time [s] after which training ends with the epoch; None for no limit.
        learning_rate: Learning rate of Adam at the start.
        seed: Seed of initial weights and of the order of samples.
        progress: Show a progress bar.

    Raises:
        TypeError: An argument has another type.
        ValueError: An argument is out of range, or the log is too short or constant.
        ModuleNotFoundError: Torch is missing, or for the progress bar rich.
    """
    require_type("log", log, ActuatorLog, "an ActuatorLog")
    if hidden is None:
        hidden = (32, 32) if kind == "mlp" else (32,)
    hidden = _several("hidden", hidden)
    input_idx = _several("input_idx", input_idx)
    settings = {name: value for name, value in locals().items() if name not in ("log", "progress")}
    _check(settings)
    torch = _torch()
    warm_up = max(input_idx) if kind == "mlp" else warm_up
    cut = _cut(log, kind, validation, warm_up)
    parts = log.cut(0, cut), log.cut(cut, log.steps)
    metadata = _metadata_of(parts[0], kind, input_idx)
    stopped_by, start, last = "epochs", time.perf_counter(), np.inf if max_seconds is None else max_seconds
    with _one_thread(torch), torch.random.fork_rng(devices=[]), _bar(epochs, progress) as show:
        torch.manual_seed(seed)
        fit = _Fit(kind, hidden, parts, metadata, warm_up, epochs, learning_rate)
        for epoch in range(epochs):
            show(epoch + 1, fit.run_epoch(), fit.history[fit.best][1])
            if epoch - fit.best >= patience:
                stopped_by = "patience"
                break
            if time.perf_counter() - start >= last:
                stopped_by = "max_seconds"
                break
    network = _network_of(kind, fit.inputs, fit.weights(), len(hidden))
    settings |= {"seconds": round(time.perf_counter() - start, 1), "torch": str(torch.__version__)}
    about, history = _json_of(metadata, network), np.array(fit.history)
    return TrainedActuator(network, about, log, cut, warm_up, history, fit.best, stopped_by, settings)


class _Fit:
    """A model in training, with its optimizer, its errors and its best weights; errors count after `warm_up` rows."""

    def __init__(
        self,
        kind: Kind,
        hidden: tuple[int, ...],
        parts: Sequence[ActuatorLog],
        metadata: Metadata,
        warm_up: int,
        epochs: int,
        learning_rate: float,
    ) -> None:
        self._torch, self._warm_up = _torch(), warm_up
        self._kind: Kind = kind
        scale = metadata.effort_scale * metadata.effort_std
        # normalized, `(steps, joints, inputs)` and `(steps, joints)`
        tensor = self._torch.from_numpy
        efforts = [(part.effort - np.float32(metadata.effort_mean)) / np.float32(scale) for part in parts]
        self._sets = [(tensor(features_of(part, metadata)), tensor(y)) for part, y in zip(parts, efforts, strict=True)]
        self._units = [scale / rms_of(part.effort[warm_up:]) for part in parts]
        self.inputs = int(self._sets[0][0].shape[2])
        """Number of inputs."""
        self._model = _model(kind, self.inputs, hidden)
        self._adam = self._torch.optim.Adam(self._model.parameters(), learning_rate)
        self._schedule = self._torch.optim.lr_scheduler.CosineAnnealingLR(self._adam, epochs)
        self.history: list[tuple[float, float]] = []
        """RMS errors of training and validation after each epoch, over the RMS of the effort."""
        self.best = 0
        """Epoch with the smallest error of validation."""
        self._kept: dict[str, Any] = {}

    def run_epoch(self) -> float:
        """Train for one epoch, and return the error of validation."""
        torch = self._torch
        total = count = 0.0
        for x, y in _batches(self._kind, *self._sets[0], self._warm_up):
            self._adam.zero_grad(set_to_none=True)
            loss = torch.mean(torch.square(_outputs(self._model, x)[-len(y) :] - y))
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self._model.parameters(), 1.0)
            self._adam.step()
            total, count = total + float(loss.detach()) * y.numel(), count + y.numel()
        self._schedule.step()
        with torch.no_grad():
            x, y = self._sets[1]
            missed = float(torch.mean(torch.square(_outputs(self._model, x)[self._warm_up :] - y[self._warm_up :])))
        self.history.append((float(np.sqrt(total / count)) * self._units[0], float(np.sqrt(missed)) * self._units[1]))
        if not self._kept or self.history[-1][1] < self.history[self.best][1]:
            self.best = len(self.history) - 1
            self._kept = {name: values.clone() for name, values in self._model.state_dict().items()}
        return self.history[-1][1]

    def weights(self) -> dict[str, np.ndarray]:
        """Return the best weights by name."""
        return {name: values.numpy() for name, values in self._kept.items()}


def _cut(log: ActuatorLog, kind: Kind, validation: float, warm_up: int) -> int:
    """Return the first row of validation; ValueError if a part is too short."""
    cut = round(log.steps * (1 - validation))
    need = warm_up + (1 if kind == "mlp" else _WINDOW)
    for name, rows, least in (("training", cut, need), ("validation", log.steps - cut, warm_up + 1)):
        if rows < least:
            raise ValueError(f"log leaves {rows} steps for {name}: must be {least} at least. Log for longer.")
    return cut


def _check(settings: Mapping[str, Any]) -> None:
    """Raise if an argument is out of range, by name."""
    kind, hidden, steps, seconds = (settings[name] for name in ("kind", "hidden", "input_idx", "max_seconds"))
    widths, counts = "whole numbers > 0, one at least", {"warm_up": 0, "epochs": 1, "patience": 1, "seed": 0}
    rule = f"different whole numbers from 0 to {MOST_STEPS - 1}, one at least"
    rules = [
        ("kind", isinstance(kind, str) and kind in _BATCH, "mlp, lstm or gru"),
        ("hidden", _are_whole(hidden, 1), widths),
        ("hidden", kind == "mlp" or len(set(hidden)) == 1, "equal numbers for an LSTM or GRU"),
        ("input_idx", _are_whole(steps, 0, MOST_STEPS) and len(set(steps)) == len(steps), rule),
        ("validation", 0 < number_of("validation", settings["validation"]) < 1, "a share between 0 and 1"),
        *((name, _are_whole([settings[name]], least), f"a whole number >= {least}") for name, least in counts.items()),
        ("max_seconds", seconds is None or number_of("max_seconds", seconds) > 0, "a number of seconds > 0, or None"),
        ("learning_rate", 0 < number_of("learning_rate", settings["learning_rate"]) < 1, "between 0 and 1"),
    ]
    for name, fits, rule in rules:
        if not fits:
            raise ValueError(f"{name} = {settings[name]!r}: must be {rule}. Correct the argument.")


def _are_whole(values: Sequence[object], least: int, below: float = math.inf) -> bool:
    """Return True if there are values, all of them whole numbers in a range."""
    numbers = [one for one in values if isinstance(one, int) and not isinstance(one, bool)]
    return len(numbers) == len(values) > 0 and all(least <= one < below for one in numbers)


def _several(name: str, given: Any) -> tuple[int, ...]:
    """Return the entries of a list of bounded length."""
    require_type(name, given, Sequence, "a list of whole numbers")
    if len(given) > MOST_STEPS:
        raise ValueError(f"{name} has {len(given)} entries: must have at most {MOST_STEPS}. Take some out.")
    return tuple(given)


def _metadata_of(log: ActuatorLog, kind: Kind, input_idx: tuple[int, ...]) -> Metadata:
    """Return inputs and scales that normalize the measurements."""
    signals = {"position error": log.position_error, "velocity": log.velocity, "effort": log.effort}
    for name, values in signals.items():
        if not np.ptp(values):
            raise ValueError(
                f"{name} is {values.flat[0]} in all of the training part: must vary, or there is nothing to learn. "
                "Move the joint while it is logged."
            )
    if kind == "gru":
        pairs = [(_mean(values), rms_of(values - _mean(values))) for values in signals.values()]
        means, deviations = zip(*pairs, strict=True)
        return Metadata(
            "gru",
            input_mean=means[:2],
            input_std=deviations[:2],
            effort_mean=means[2],
            effort_std=deviations[2],
            sample_dt=log.dt,
        )
    position, velocity, effort = (rms_of(values) for values in signals.values())
    return Metadata(
        kind,
        input_idx=input_idx if kind == "mlp" else (0,),
        pos_scale=1 / position,
        vel_scale=1 / velocity,
        effort_scale=effort,
        sample_dt=log.dt,
    )


def _mean(values: np.ndarray) -> float:
    return float(np.mean(values, dtype=np.float64))


def _json_of(metadata: Metadata, network: Network) -> dict[str, object]:
    """Return metadata in the format of files."""
    if metadata.model_type == "gru":
        inputs = {"mean": metadata.input_mean, "std": metadata.input_std}
        return {
            "model_type": "gru",
            "num_layers": network.num_layers,
            "hidden_size": network.hidden_size,
            "input_columns": list(metadata.input_columns),
            "normalization": {
                "inputs": {
                    name: dict(zip(metadata.input_columns, values, strict=True)) for name, values in inputs.items()
                },
                "targets": {"mean": {"torque": metadata.effort_mean}, "std": {"torque": metadata.effort_std}},
            },
            "sample_dt_s": metadata.sample_dt,
        }
    about: dict[str, object] = {"input_order": metadata.input_order, "input_idx": list(metadata.input_idx)}
    if metadata.model_type == "lstm":
        about = {"num_layers": network.num_layers, "hidden_size": network.hidden_size}
    scales = {name: getattr(metadata, name) for name in ("pos_scale", "vel_scale", "effort_scale", "sample_dt")}
    return {"model_type": metadata.model_type, **about, **scales}


# Torch


def require_torch() -> None:
    """Raise a ModuleNotFoundError that says what to install if Torch is missing."""
    _torch()


def _torch() -> ModuleType:
    with needs("Training", "train"):
        import torch  # pyright: ignore[reportMissingImports]
    return torch


@contextmanager
def _one_thread(torch: ModuleType) -> Iterator[None]:
    """Run Torch on one thread: small networks are slower on several, and results depend on the number."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _model(kind: Kind, inputs: int, hidden: tuple[int, ...]) -> Module:
    """Return a model of Torch; `_network_of` uses the names of its weights."""
    nn = _torch().nn
    if kind == "mlp":
        widths = (inputs, *hidden)
        layers = [nn.Sequential(nn.Linear(*pair), nn.Softsign()) for pair in zip(widths, hidden, strict=False)]
        return nn.ModuleDict({"body": nn.Sequential(*layers), "head": nn.Linear(hidden[-1], 1)})
    body = {"lstm": nn.LSTM, "gru": nn.GRU}[kind](inputs, hidden[0], len(hidden))
    return nn.ModuleDict({"body": body, "head": nn.Linear(hidden[-1], 1)})


def _outputs(model: Module, x: Tensor) -> Tensor:
    """Return outputs `(steps, rows)` of inputs `(steps, rows, inputs)`, from an initial state of zero."""
    values = model["body"](x)
    return model["head"](values[0] if isinstance(values, tuple) else values)[..., 0]


def _batches(kind: Kind, x: Tensor, y: Tensor, warm_up: int) -> Iterator[tuple[Tensor, Tensor]]:
    """Iterate over an epoch in random order: inputs `(steps, rows, inputs)` and the efforts of the last steps."""
    torch, batch = _torch(), _BATCH[kind]
    if kind == "mlp":
        x, y = x[warm_up:].flatten(0, 1), y[warm_up:].flatten()
        for rows in torch.randperm(len(y)).split(batch):
            yield x[rows][None], y[rows][None]
        return
    length = warm_up + _WINDOW
    # windows start elsewhere in each epoch
    free = len(x) - length + 1
    starts = torch.arange(int(torch.randint(min(_WINDOW, free), ())), free, _WINDOW)
    joints = torch.arange(x.shape[1])
    windows = torch.cartesian_prod(starts, joints)
    for rows in windows[torch.randperm(len(windows))].split(batch):
        steps = rows[:, 0] + torch.arange(length)[:, None]
        yield x[steps, rows[:, 1]], y[steps[warm_up:], rows[:, 1]]


def _network_of(kind: Kind, inputs: int, weights: dict[str, np.ndarray], layers: int) -> Network:
    """Return the trained weights as data."""
    operations: list[Operation] = []
    for layer in range(layers):
        at = len(operations)
        if kind == "mlp":
            names = [f"body.{layer}.0.{name}" for name in ("weight", "bias")]
            operations += [Linear(at, *(weights[name] for name in names)), Unary("softsign", at + 1)]
            continue
        names = [f"body.{name}_l{layer}" for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
        ih, hh, bias_ih, bias_hh = (weights[name] for name in names)
        if kind == "lstm":
            operations.append(LSTMCell(at, layer, ih, hh, bias_ih + bias_hh))
        else:
            operations.append(GRUCell(at, layer, ih, hh, bias_ih, bias_hh))
    head = Linear(len(operations), weights["head.weight"], weights["head.bias"])
    return Network(inputs, (*operations, head))


@contextmanager
def _bar(epochs: int, shown: bool) -> Iterator[Callable[[int, float, float], None]]:
    """Show a progress bar; the value is called after each epoch with its number, its error and the best one."""
    if not shown:
        yield lambda epoch, error, best: None
        return
    with needs("The progress bar of training", "train"):
        from rich import progress
    columns = (progress.BarColumn(), progress.MofNCompleteColumn(), progress.TimeElapsedColumn())
    with progress.Progress("training", *columns, "{task.description}") as bar:
        task = bar.add_task("", total=epochs)
        yield lambda epoch, error, best: bar.update(
            task, completed=epoch, description=f"validation {error:.2%} of effort RMS, best {best:.2%}"
        )
