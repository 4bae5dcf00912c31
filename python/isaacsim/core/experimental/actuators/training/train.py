"""From a log to a network: Adam on the squared error of the effort, the last part of the log kept for validation.

    minimise mean((network(features) − effort / effort_scale)²)

Split by time: nothing that is learned or scaled by comes from the last part, which only says when to stop and which
weights to keep. An MLP learns from rows with their history, a recurrent network from windows, each begun with an empty
memory and some rows to fill it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..extras import needs
from ..networks.metadata import MOST_STEPS, Metadata
from ..networks.network import GRUCell, Kind, Linear, LSTMCell, Network, Operation, Unary
from ..specs.arguments import number_of, require_type
from .features import features_of
from .log import ActuatorLog
from .trained import TrainedActuator

# rows of a recurrent network's window that count, after those that fill its memory
_WINDOW = 50
# rows, or windows, per step of Adam
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
    """Learn a network that gives the efforts of a log from its position errors and velocities.

    The same log and arguments give the same network on the same machine, unless `max_seconds` ends it. One thread is
    used, as several would be slower, and the random generator of the process is left as it was.

    Args:
        log: What was measured.
        kind: "mlp", whose memory is the history it is given, "lstm" or "gru".
        hidden: Width of each hidden layer, those of an LSTM or GRU equally wide; None: two of 32, of these one.
        input_idx: Steps ago at which an MLP looks, 0 the current one; should reach back beyond the actuator's delay.
        warm_up: Rows that fill the memory of an LSTM or GRU before errors count; those of an MLP follow from
            `input_idx`.
        validation: Share of the log, at its end, that is not learned from.
        epochs: Times that the log is gone through at most; the learning rate falls to zero over them.
        patience: Epochs without a smaller validation error after which training ends.
        max_seconds: Time [s] after which training ends with the epoch; None: any.
        learning_rate: Of Adam at the start.
        seed: Of weights and of the order in which the log is gone through.
        progress: Show a progress bar.

    Raises:
        TypeError: An argument is of another type.
        ValueError: An argument is out of range, or the log is too short or says nothing.
        ModuleNotFoundError: Torch is missing, or for the progress bar rich.
    """
    require_type("log", log, ActuatorLog, "an ActuatorLog")
    hidden = _several("hidden", hidden) if hidden is not None else (32, 32) if kind == "mlp" else (32,)
    input_idx = _several("input_idx", input_idx)
    settings = {name: value for name, value in locals().items() if name not in ("log", "progress")}
    _check(**settings)
    torch = _torch()
    warm_up = max(input_idx) if kind == "mlp" else warm_up
    cut = round(log.steps * (1 - validation))
    need = warm_up + (1 if kind == "mlp" else _WINDOW)
    for name, rows, least in (("training", cut, need), ("validation", log.steps - cut, warm_up + 1)):
        if rows < least:
            raise ValueError(f"log leaves {rows} steps for {name}: must be {least} at least. Log for longer.")
    learned, validated = log.cut(0, cut), log.cut(cut, log.steps)
    said = _metadata_of(learned, kind, input_idx)
    sets = [_tensors_of(part, said) for part in (learned, validated)]
    # of the errors that are told, the unit is the RMS of the effort
    units = [
        (said.effort_scale * said.effort_std)
        / float(np.sqrt(np.mean(np.square(part.effort[warm_up:], dtype=np.float64))))
        for part in (learned, validated)
    ]

    history: list[list[float]] = []
    best, kept, stopped_by, start = 0, {}, "epochs", time.perf_counter()
    with _one_thread(torch), torch.random.fork_rng(devices=[]), _bar(epochs, progress) as show:
        torch.manual_seed(seed)
        model = _model(kind, sets[0][0].shape[2], hidden)
        adam = torch.optim.Adam(model.parameters(), learning_rate)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(adam, epochs)
        for epoch in range(epochs):
            total = count = 0.0
            for x, y in _batches(kind, *sets[0], warm_up):
                adam.zero_grad(set_to_none=True)
                loss = torch.mean(torch.square(_outputs(model, x)[-len(y) :] - y))
                loss.backward()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                adam.step()
                total, count = total + float(loss.detach()) * y.numel(), count + y.numel()
            schedule.step()
            with torch.no_grad():
                x, y = sets[1]
                missed = float(torch.mean(torch.square(_outputs(model, x)[warm_up:] - y[warm_up:])))
            history.append(
                [float(np.sqrt(loss)) * unit for loss, unit in zip((total / count, missed), units, strict=True)]
            )
            if not kept or history[epoch][1] < history[best][1]:
                best, kept = epoch, {name: values.clone() for name, values in model.state_dict().items()}
            show(epoch + 1, history[epoch][1], history[best][1])
            if epoch - best >= patience:
                stopped_by = "patience"
                break
            if max_seconds is not None and time.perf_counter() - start >= max_seconds:
                stopped_by = "max_seconds"
                break
    seconds = time.perf_counter() - start
    network = _network_of(
        kind, sets[0][0].shape[2], {name: values.numpy() for name, values in kept.items()}, len(hidden)
    )
    settings |= {"seconds": round(seconds, 1), "torch": str(torch.__version__)}
    metadata = _json_of(said, network)
    return TrainedActuator(network, metadata, log, cut, warm_up, np.array(history), best, stopped_by, settings)


def _check(
    *,
    kind: str,
    hidden: tuple[int, ...],
    input_idx: tuple[int, ...],
    warm_up: int,
    validation: float,
    epochs: int,
    patience: int,
    max_seconds: float | None,
    learning_rate: float,
    seed: int,
) -> None:
    """Refuse arguments that are out of range, by name."""

    def must(fits: bool, name: str, value: object, rule: str) -> None:
        if not fits:
            raise ValueError(f"{name} = {value!r}: must be {rule}. Correct the argument.")

    must(isinstance(kind, str) and kind in _BATCH, "kind", kind, "mlp, lstm or gru")
    must(
        bool(hidden) and all(_whole(width, 1) for width in hidden), "hidden", hidden, "whole numbers > 0, one at least"
    )
    must(kind == "mlp" or len(set(hidden)) == 1, "hidden", hidden, "equal numbers for an LSTM or GRU")
    rule = f"different whole numbers from 0 to {MOST_STEPS - 1}, one at least"
    fit = bool(input_idx) and all(_whole(step, 0) and step < MOST_STEPS for step in input_idx)
    must(fit and len(set(input_idx)) == len(input_idx), "input_idx", input_idx, rule)
    must(0 < number_of("validation", validation) < 1, "validation", validation, "a share between 0 and 1")
    for name, value, least in (
        ("warm_up", warm_up, 0),
        ("epochs", epochs, 1),
        ("patience", patience, 1),
        ("seed", seed, 0),
    ):
        must(_whole(value, least), name, value, f"a whole number >= {least}")
    seconds = 1.0 if max_seconds is None else number_of("max_seconds", max_seconds)
    must(seconds > 0, "max_seconds", max_seconds, "a number of seconds > 0, or None")
    must(0 < number_of("learning_rate", learning_rate) < 1, "learning_rate", learning_rate, "between 0 and 1")


def _several(name: str, given: Any) -> tuple[Any, ...]:
    """The entries of a list, which is no longer than any can be."""
    require_type(name, given, Sequence, "a list of whole numbers")
    if len(given) > MOST_STEPS:
        raise ValueError(f"{name} has {len(given)} entries: must have at most {MOST_STEPS}. Take some out.")
    return tuple(given)


def _whole(value: object, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _metadata_of(log: ActuatorLog, kind: Kind, input_idx: tuple[int, ...]) -> Metadata:
    """Inputs and scales that bring what was measured to the size of 1."""
    signals = {"position error": log.position_error, "velocity": log.velocity, "effort": log.effort}
    for name, values in signals.items():
        if not np.ptp(values):
            raise ValueError(
                f"{name} is {values.flat[0]} in all of the training part: must vary, or there is nothing to learn. "
                "Move the joint while it is logged."
            )
    if kind == "gru":
        means, deviations = zip(
            *((_mean(values), _size(values - _mean(values))) for values in signals.values()), strict=True
        )
        return Metadata(
            "gru",
            input_mean=means[:2],
            input_std=deviations[:2],
            effort_mean=means[2],
            effort_std=deviations[2],
            sample_dt=log.dt,
        )
    position, velocity, effort = (_size(values) for values in signals.values())
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


def _size(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(np.square(values, dtype=np.float64))))


def _json_of(said: Metadata, network: Network) -> dict[str, Any]:
    """Metadata as files have them."""
    if said.model_type == "gru":
        inputs = {"mean": said.input_mean, "std": said.input_std}
        return {
            "model_type": "gru",
            "num_layers": network.num_layers,
            "hidden_size": network.hidden_size,
            "input_columns": list(said.input_columns),
            "normalization": {
                "inputs": {name: dict(zip(said.input_columns, values, strict=True)) for name, values in inputs.items()},
                "targets": {"mean": {"torque": said.effort_mean}, "std": {"torque": said.effort_std}},
            },
            "sample_dt_s": said.sample_dt,
        }
    about: dict[str, Any] = {"input_order": said.input_order, "input_idx": list(said.input_idx)}
    if said.model_type == "lstm":
        about = {"num_layers": network.num_layers, "hidden_size": network.hidden_size}
    scales = {name: getattr(said, name) for name in ("pos_scale", "vel_scale", "effort_scale", "sample_dt")}
    return {"model_type": said.model_type, **about, **scales}


# what knows Torch


def _torch() -> Any:
    with needs("Training", "train"):
        import torch  # pyright: ignore[reportMissingImports]
    return torch


@contextmanager
def _one_thread(torch: Any) -> Iterator[None]:
    """One thread for Torch meanwhile: networks this small are slower on several, and their bits depend on how many."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _tensors_of(log: ActuatorLog, said: Metadata) -> tuple[Any, Any]:
    """Features `(steps, joints, inputs)` and efforts `(steps, joints)` of the size of 1."""
    efforts = (log.effort - np.float32(said.effort_mean)) / np.float32(said.effort_scale * said.effort_std)
    return _torch().from_numpy(features_of(log, said)), _torch().from_numpy(efforts)


def _model(kind: Kind, inputs: int, hidden: tuple[int, ...]) -> Any:
    """What Torch trains; `_network_of` knows the names of its weights."""
    nn = _torch().nn
    if kind == "mlp":
        widths = (inputs, *hidden)
        layers = [nn.Sequential(nn.Linear(*pair), nn.Softsign()) for pair in zip(widths, hidden, strict=False)]
        return nn.ModuleDict({"body": nn.Sequential(*layers), "head": nn.Linear(hidden[-1], 1)})
    body = {"lstm": nn.LSTM, "gru": nn.GRU}[kind](inputs, hidden[0], len(hidden))
    return nn.ModuleDict({"body": body, "head": nn.Linear(hidden[-1], 1)})


def _outputs(model: Any, x: Any) -> Any:
    """Outputs `(steps, rows)` of inputs `(steps, rows, inputs)`, from an empty memory on."""
    values = model["body"](x)
    return model["head"](values[0] if isinstance(values, tuple) else values)[..., 0]


def _batches(kind: Kind, x: Any, y: Any, warm_up: int) -> Iterator[tuple[Any, Any]]:
    """One epoch in random order: inputs `(steps, rows, inputs)` and the efforts of the last of these steps."""
    torch, batch = _torch(), _BATCH[kind]
    if kind == "mlp":
        x, y = x[warm_up:].flatten(0, 1), y[warm_up:].flatten()
        for rows in torch.randperm(len(y)).split(batch):
            yield x[rows][None], y[rows][None]
        return
    length = warm_up + _WINDOW
    # windows lie elsewhere in each epoch
    free = len(x) - length + 1
    starts = torch.arange(int(torch.randint(min(_WINDOW, free), ())), free, _WINDOW)
    joints = torch.arange(x.shape[1])
    windows = torch.cartesian_prod(starts, joints)
    for rows in windows[torch.randperm(len(windows))].split(batch):
        steps = rows[:, 0] + torch.arange(length)[:, None]
        yield x[steps, rows[:, 1]], y[steps[warm_up:], rows[:, 1]]


def _network_of(kind: Kind, inputs: int, weights: dict[str, np.ndarray], layers: int) -> Network:
    """The trained weights as data."""
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
    """A progress bar, as what is called after each epoch with its number, its error and the best one."""
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
