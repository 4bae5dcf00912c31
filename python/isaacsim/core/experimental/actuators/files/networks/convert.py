"""Conversion of a checkpoint to ONNX or safetensors: the new file is kept if it computes what the old one does."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ...base.errors import NetworkError
from ...base.saving import whole_file
from ...laws.networks.checkpoint import Checkpoint
from ...laws.networks.evaluator import make_evaluator
from ...laws.networks.metadata import read_sidecar, write_json
from ...laws.networks.network import NUM_STATES, Network
from ...laws.networks.torch_network import TorchNetwork
from ...specs.arguments import path_of
from . import onnx, safetensors
from .load import load_checkpoint, read_file, sidecar_of

WRITERS = {".onnx": onnx.write, ".safetensors": safetensors.write}
TOLERANCE = 1e-6
# Torch sums in another order
TORCH_TOLERANCE = 1e-5
# factors of the inputs; results are compared for each of them, else the largest would hide the others
SCALES = (0.0, 0.01, 1.0, 100.0, 1e6)
ROWS, STEPS = 16, 20


@dataclass(frozen=True)
class Comparison:
    """Largest difference of the compared outputs and states of two networks, per the largest at inputs of that size."""

    difference: float
    outputs: int


def convert_checkpoint(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    metadata: Mapping[str, object] | None = None,
    *,
    trusted: bool = False,
) -> Comparison:
    """Write the network of a file to another file, in a format that any program can read as data.

    The new file is read again and compared with the old one on random inputs, over several steps from a random state;
    if they differ by more than 1e-6 of the largest value, no file is written, and an existing file is kept. Metadata
    are in the new file, including those of a JSON file beside the old one and `metadata`; no JSON file is written.

    Args:
        source: A file of any format, decided by content.
        target: `.onnx` (needs the package onnx) or `.safetensors`. It may exist; a link is followed.
        metadata: Goes before the metadata of the old file.
        trusted: Whether Torch may run a file that cannot be read, to trace its operations; the two may then differ by
            1e-5.

    Returns:
        How the two compare.

    Raises:
        NetworkError: A `ValueError`; the old file cannot be read, the new one would be of another format, cannot hold
            everything of the old one, or computes something else.
        OSError: A file cannot be read or written.
    """
    path_of("source", source)
    name = str(path_of("target", target))
    place = os.path.realpath(name)
    ending = os.path.splitext(place)[1]
    if (write := WRITERS.get(ending.lower())) is None:
        raise NetworkError(f"{name}: must end in {' or '.join(WRITERS)}, which say what to write. Rename the target.")
    if os.path.lexists(place) and not os.path.isfile(place):
        raise NetworkError(f"{name}: must be a regular file. Give the path of a file to write.")
    if not os.path.isdir(os.path.dirname(place)):
        raise FileNotFoundError(errno.ENOENT, "No such folder", os.path.dirname(place))
    old = load_checkpoint(source, metadata, trusted)
    try:
        # numbers as they are in the new file
        said = json.loads(write_json(old.metadata))
        data = write(_recorded(old.network), old.metadata)
    except NetworkError as error:
        raise NetworkError(f"{name}: {error}") from None
    for path in dict.fromkeys((name, place)):
        _check_sidecar(path, said)
    with whole_file(name) as temporary:
        temporary.write_bytes(data)
        new = load_checkpoint(temporary)
        _check_metadata(said, new, name)
        comparison = compare(old.network, new.network)
        most = TORCH_TOLERANCE if isinstance(old.network, TorchNetwork) else TOLERANCE
        if comparison.difference > most:
            raise NetworkError(
                f"{name} would differ by {comparison.difference:.2g} of the largest value: must be {most:g} at "
                f"most. Convert to {' or '.join(WRITERS.keys() - {ending.lower()})}, and report this."
            )
    return comparison


def _recorded(network: Network | TorchNetwork) -> Network:
    """A network as data, traced if Torch computes it."""
    if isinstance(network, Network):
        return network
    from . import torch_formats

    found = torch_formats.read(network.traced(), {})
    assert found is not None
    return found[0]


def compare(first: Network | TorchNetwork, second: Network | TorchNetwork) -> Comparison:
    """Compare two networks on random inputs of sizes 0 to 1e6, over several steps from the same random states.

    A `NetworkError` says that their inputs or states differ, or that no output is finite.
    """
    sizes = [(one.kind, one.inputs, one.num_layers, one.hidden_size) for one in (first, second)]
    if sizes[0] != sizes[1]:
        raise NetworkError(f"networks are {sizes[0]} and {sizes[1]}: must take and remember the same. Report this.")
    rng = np.random.default_rng(0)
    rows = len(SCALES) * ROWS
    scales = np.repeat(np.array(SCALES, np.float32), ROWS)[:, None]
    shape = (first.num_layers, rows, first.hidden_size)
    states = [rng.uniform(-1, 1, shape).astype(np.float32) for _ in range(NUM_STATES[first.kind])]
    both = [(make_evaluator(one, rows), np.zeros(rows, np.float32), [*map(np.copy, states)]) for one in (first, second)]
    difference, finite = 0.0, 0
    for _ in range(STEPS):
        x = rng.normal(size=(rows, first.inputs)).astype(np.float32) * scales
        for evaluator, y, now in both:
            evaluator.evaluate(x, y, now, now)
        (_, y, now), (_, other_y, other_now) = both
        finite += int(np.isfinite(y).sum())
        for one, other in zip((y[None, :, None], *now), (other_y[None, :, None], *other_now), strict=True):
            for group in np.split(np.arange(rows), len(SCALES)):
                difference = max(difference, _difference(one[:, group], other[:, group]))
    if not finite:
        raise NetworkError("network gives no finite output for random inputs: cannot be compared. Train it again.")
    return Comparison(difference, STEPS * rows)


def _difference(one: np.ndarray, other: np.ndarray) -> float:
    """Largest difference relative to the largest number; infinite if they are not finite at the same places."""
    finite = np.isfinite(one)
    if not np.array_equal(finite, np.isfinite(other)):
        return np.inf
    one, other = one[finite].astype(np.float64), other[finite].astype(np.float64)
    difference = np.abs(one - other).max(initial=0.0)
    return float(difference / np.abs(one).max()) if difference and one.any() else np.inf if difference else 0.0


def _check_metadata(said: Mapping[str, object], new: Checkpoint, name: str) -> None:
    """Check that the new file has the metadata of the old one, except names of inputs and outputs of an ONNX file."""
    lost = [key for key, value in said.items() if key not in onnx.NAMES and new.metadata.get(key) != value]
    if lost:
        raise NetworkError(f"{name}: metadata {', '.join(lost)[:200]} would be lost. Convert to another format.")


def _check_sidecar(name: str, said: Mapping[str, object]) -> None:
    """Check that a JSON file beside the new file, which goes before it, holds nothing else."""
    beside = sidecar_of(name)
    if beside is None or not os.path.lexists(beside):
        return
    there = read_sidecar(read_file(beside), beside)
    if wrong := [key for key, value in there.items() if key not in said or said[key] != value]:
        raise NetworkError(
            f"{beside} says otherwise of {', '.join(wrong)[:200]}: it would go before what {name} says. Remove it, or "
            "give the target another name."
        )
