"""A network that Torch runs, because it cannot be read as data and the host program trusts its file.

The only module that loads or runs anything with Torch, which is imported in functions. When a file is loaded, its
module is called once to find its calling convention and to check that it computes every actuator independently.
"""

from __future__ import annotations

import contextlib
import copy
import io
import itertools
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_args

import numpy as np
import warp as wp

from ...base.errors import NetworkError
from ...base.extras import needs
from ...base.memory import Tensor
from .calls import Array, Calls, Device
from .metadata import read_sidecar
from .network import NUM_STATES, Kind

# Torch is not installed where types are checked
Torch = Any
Module = Any
# a module, the metadata of its file, and those that the file implies
Loaded = tuple[Module, dict[str, object], dict[str, object]]

_EXTRA = "metadata.json"
# keys under which a dict of `torch.save` may hold its module
_HOLDERS = ("model", "module", "network", "net")
_KINDS: tuple[Kind, ...] = get_args(Kind)
# more than one, to distinguish rows from steps of time
_TRIED_ROWS = 3


def load_with_torch(kind: str, data: bytes, given: Mapping[str, object]) -> tuple[TorchNetwork, dict[str, object]]:
    """Load a trusted file with Torch, and return its network and metadata."""
    with needs("What is not recognised", "train", NetworkError):
        torch = _torch()
    with warnings.catch_warnings():
        # Torch recommends other formats
        warnings.simplefilter("ignore")
        try:
            module, own, seen = _LOADERS[kind](torch, data)
        except NetworkError:
            raise
        except Exception as error:
            raise NetworkError(f"PyTorch cannot load it ({_first_line(error)}). Save it anew.") from error
        if not isinstance(module, torch.nn.Module):
            raise NetworkError(
                f"PyTorch finds {type(module).__name__} in it: must be a module, which says what is computed. Give the "
                "metadata that are missing, or save the module itself."
            )
        return TorchNetwork(module, {**seen, **own, **given}), own


class TorchNetwork:
    """A network of one output per actuator that Torch computes, used in place of a `Network`.

    Its `forward` takes `x`, float32 `(rows, inputs)`, and returns `(rows,)` or `(rows, 1)`. With a recurrent layer it
    takes `x` as `(rows, 1, inputs)` or `(1, rows, inputs)` and the states, `(layers, rows, hidden size)` each, for an
    LSTM as a pair or one after the other; it returns the output and the states, likewise.

    The module is put into float32 and evaluation mode. Metadata are `model_type`; of an MLP `input_idx`, of a GRU
    `input_columns`; `num_layers` and `hidden_size` if the module has no LSTM or GRU that holds them.
    """

    def __init__(self, module: Module, metadata: Mapping[str, object]) -> None:
        self._module = module
        module.float()
        # an exported module keeps its mode
        with contextlib.suppress(NotImplementedError):
            module.eval()
        for parameter in module.parameters():
            parameter.requires_grad_(False)
        self.kind: Kind
        self.kind, self.num_layers, self.hidden_size = self._sizes(metadata)
        """Kind, number of recurrent layers, and width of the hidden state of each."""
        key, per, default = {"mlp": ("input_idx", 2, 1), "gru": ("input_columns", 1, 2)}.get(self.kind, ("", 2, 1))
        listed = metadata.get(key)
        # the check of metadata refuses anything but a list
        self.inputs = per * (len(listed) if isinstance(listed, list | tuple) and listed else default)
        """Width of the input."""
        self._form = self._find_form()

    @property
    def num_states(self) -> int:
        """Number of state arrays."""
        return NUM_STATES[self.kind]

    def evaluator(self, rows: int, device: Device = "cpu") -> TorchEvaluator:
        """Return an evaluator for arrays of this many rows, see `Evaluator`."""
        return TorchEvaluator(self, rows, device)

    def module_on(self, device: object) -> Module:
        """Return the module with its parameters on a device of Torch."""
        return self._module if str(device) == "cpu" else copy.deepcopy(self._module).to(device)

    def call(self, module: Module, x: Tensor, states: Sequence[Tensor]) -> tuple[Tensor, list[Tensor]]:
        """Return output `(rows,)` and new states of a module of this network."""
        return self._call(self._form, module, x, states)

    def traced(self) -> bytes:
        """Return a TorchScript file of the operations of one call, as far as these do not depend on numbers."""
        torch = _torch()
        x, states = self._example()
        rows_first, packed = self._form
        given = x if not states else x[:, None] if rows_first else x[None]
        file = io.BytesIO()
        with torch.no_grad(), warnings.catch_warnings():
            # about branches; the result is compared with the module afterwards
            warnings.simplefilter("ignore")
            try:
                example = (given, tuple(states)) if packed else (given, *states)
                torch.jit.save(torch.jit.trace(self._module, example, check_trace=False), file)
            except Exception as error:
                raise NetworkError(f"PyTorch cannot trace it ({_first_line(error)}). Change the network.") from error
        return file.getvalue()

    def _sizes(self, metadata: Mapping[str, object]) -> tuple[Kind, int, int]:
        # a network may have the name of its layer, which is the one that has a number of layers
        recurrent = [module for module in self._module.modules() if hasattr(module, "num_layers")]
        # a scripted layer has the name of its original
        layers = {getattr(one, "original_name", type(one).__name__).lower(): one for one in recurrent}
        found = next((name for name in layers if name in ("lstm", "gru")), "mlp")
        kind = metadata.get("model_type", found)
        if kind not in _KINDS:
            raise NetworkError(f"metadata model_type = {kind!r:.100}: must be {', '.join(_KINDS)}. Correct it.")
        if kind == "mlp":
            return kind, 0, 0
        layer = layers.get(found)
        return kind, _size("num_layers", metadata, layer), _size("hidden_size", metadata, layer)

    def _example(self) -> tuple[Tensor, list[Tensor]]:
        torch = _torch()
        x = torch.linspace(-0.5, 0.5, _TRIED_ROWS * self.inputs).reshape(_TRIED_ROWS, self.inputs)
        return x, [torch.zeros(self.num_layers, _TRIED_ROWS, self.hidden_size) for _ in range(self.num_states)]

    def _find_form(self) -> tuple[bool, bool]:
        """Find the calling convention by trying: whether rows come first, and whether states are one argument."""
        x, states = self._example()
        packed = (True, False) if self.kind == "lstm" else (False,)
        problem: Exception | None = None
        for form in itertools.product((True, False) if states else (True,), packed):
            try:
                first = self._call(form, self._module, x, states)
            except Exception as error:
                # the usual form comes first, and its problem is reported
                problem = problem or error
            else:
                self._check_rows(form, x, states, first)
                return form
        raise self._no_form(problem, bool(states)) from problem

    def _no_form(self, problem: Exception | None, recurrent: bool) -> NetworkError:
        keys = {"mlp": "input_idx", "lstm": "model_type, num_layers and hidden_size", "gru": "input_columns"}[self.kind]
        one = f"x (rows, {'1, ' if recurrent else ''}{self.inputs})"
        others = [f"{name} ({self.num_layers}, rows, {self.hidden_size})" for name in "hc"[: self.num_states]]
        return NetworkError(
            f"forward does not work on {', '.join([one, *others])} ({_first_line(problem)}): must, and return one "
            f"output per row{' and the states' if recurrent else ''}. Correct the metadata, {keys}, or the network"
            f"{', which may not be bidirectional' if recurrent else ''}."
        )

    def _check_rows(
        self, form: tuple[bool, bool], x: Tensor, states: list[Tensor], first: tuple[Tensor, list[Tensor]]
    ) -> None:
        """Check that a change of one row changes no other."""
        other = x.clone()
        other[0] += 1.0
        second = self._call(form, self._module, other, states)
        rest = [(y[1:], *(state[:, 1:] for state in new)) for y, new in (first, second)]
        close = _torch().allclose
        if not all(close(*pair, rtol=1e-5, atol=1e-6, equal_nan=True) for pair in zip(*rest, strict=True)):
            raise NetworkError(
                "forward computes a row from others, from earlier calls or at random: every actuator must be "
                "computed by itself, what is remembered being passed and returned. Change the network."
            )

    def _call(
        self, form: tuple[bool, bool], module: Module, x: Tensor, states: Sequence[Tensor]
    ) -> tuple[Tensor, list[Tensor]]:
        rows_first, packed = form
        # copies, because the module may write into its arguments
        before = [state.clone() for state in states]
        given = x.clone() if not states else (x[:, None] if rows_first else x[None]).clone()
        with _torch().no_grad():
            returned = module(given, tuple(before)) if packed else module(given, *before)
        output, *new = returned if isinstance(returned, list | tuple) else (returned,)
        if len(new) == 1 and isinstance(new[0], list | tuple):
            new = list(new[0])
        _check_shapes([output, *new], len(x), states)
        return output.reshape(-1), new


class TorchEvaluator:
    """Evaluates with Torch, in place on its arrays; see `Evaluator`. Cannot be part of a CUDA graph.

    Torch may round results of a row differently for another number of rows.
    """

    name = "torch"

    def __init__(self, network: TorchNetwork, rows: int, device: Device = "cpu") -> None:
        self._network, self._device = network, wp.get_device(device)
        self._module = network.module_on(wp.device_to_torch(self._device))
        self._calls = Calls(network, rows, self._device, self._bind)

    def evaluate(self, x: Array, y: Array, state_in: Sequence[Array] = (), state_out: Sequence[Array] = ()) -> None:
        """Compute the outputs of all rows, see `Evaluator`."""
        self._calls.find(x, y, state_in, state_out)()

    def _bind(self, of_x: Array, of_y: Array, state_in: list[Array], state_out: list[Array]) -> Callable[[], None]:
        torch = _torch()
        x, y = _as_torch(of_x), _as_torch(of_y)
        before, after = ([_as_torch(state) for state in states] for states in (state_in, state_out))

        def run() -> None:
            try:
                outputs, new = self._network.call(self._module, x, before)
            except Exception as error:
                raise NetworkError(f"PyTorch fails at {len(x)} rows: {_first_line(error)}.") from error
            # 0 in a finite row, NaN in others
            wrong = outputs * 0.0 + (x * 0.0).sum(1)
            for state in new:
                wrong = wrong + (state * 0.0).sum((0, 2))
            # computed before anything is written: old and new state may be the same memory
            fine = (wrong == 0.0)[:, None]
            kept = [torch.where(fine, now, then) for now, then in zip(new, before, strict=True)]
            torch.add(outputs, wrong, out=y)
            for place, state in zip(after, kept, strict=True):
                place.copy_(state)

        def run_beside_warp() -> None:
            with torch.cuda.stream(wp.stream_to_torch(self._device)):
                run()

        return run if self._device.is_cpu else run_beside_warp


def _torch() -> Torch:
    import torch  # pyright: ignore[reportMissingImports]

    return torch


def _from_torchscript(torch: Torch, data: bytes) -> Loaded:
    extra = {_EXTRA: ""}
    module = torch.jit.load(io.BytesIO(data), map_location="cpu", _extra_files=extra)
    return module, _metadata_in(extra), {}


def _from_export(torch: Torch, data: bytes) -> Loaded:
    extra = {_EXTRA: ""}
    program = torch.export.load(io.BytesIO(data), extra_files=extra)
    # an exported program has no layers; the inputs of its graph give their sizes
    taken = set(program.graph_signature.user_inputs)
    shapes = [node.meta["val"].shape for node in program.graph.nodes if node.op == "placeholder" and node.name in taken]
    seen: dict[str, object] = {}
    if len(shapes) in (2, 3):
        seen = {"model_type": "gru" if len(shapes) == 2 else "lstm"}
        sizes = zip(("num_layers", "hidden_size"), (shapes[1][0], shapes[1][-1]), strict=True)
        seen |= {key: int(size) for key, size in sizes if isinstance(size, int)}
    return program.module(), _metadata_in(extra), seen


def _from_pickle(torch: Torch, data: bytes) -> Loaded:
    held = torch.load(io.BytesIO(data), map_location="cpu", weights_only=False)
    if not isinstance(held, Mapping):
        return held, {}, {}
    own = held.get("metadata") or {}
    if not isinstance(own, Mapping) or not all(isinstance(key, str) for key in own):
        raise NetworkError("metadata of the file is no dict: must be. Save the file anew.")
    return next((held[name] for name in _HOLDERS if name in held), held), dict(own), {}


_LOADERS: dict[str, Callable[[Torch, bytes], Loaded]] = {
    "torchscript": _from_torchscript,
    "pt2": _from_export,
    "state dict": _from_pickle,
}


def _metadata_in(extra: Mapping[str, str | bytes]) -> dict[str, object]:
    return read_sidecar(extra[_EXTRA], _EXTRA) if extra[_EXTRA] else {}


def _check_shapes(returned: Sequence[Tensor], rows: int, states: Sequence[Tensor]) -> None:
    has = [_shape(one) for one in returned]
    fits = isinstance(has[0], tuple) and math.prod(has[0]) == rows
    if not fits or has[1:] != [_shape(state) for state in states]:
        raise NetworkError(f"forward returned {', '.join(map(str, has))} for {rows} rows")


def _size(key: str, metadata: Mapping[str, object], layer: Module | None) -> int:
    size = metadata.get(key, getattr(layer, key, None))
    if type(size) is not int or size < 1:
        raise NetworkError(
            f"metadata {key} = {size!r:.100}: must be a whole number > 0, for the module does not tell it. "
            "Say it in a JSON file of the same name beside it."
        )
    return size


def _shape(value: Tensor) -> tuple[int, ...] | str:
    return tuple(value.shape) if isinstance(value, _torch().Tensor) else type(value).__name__


def _as_torch(array: Array) -> Tensor:
    if isinstance(array, wp.array) and not wp.get_device(array.device).is_cpu:
        return wp.to_torch(array, requires_grad=False)
    with warnings.catch_warnings():
        # a read-only array is only read
        warnings.simplefilter("ignore")
        return _torch().from_numpy(array if isinstance(array, np.ndarray) else array.numpy())


def _first_line(error: BaseException | None) -> str:
    """The line of an error that describes the problem; Torch adds pages."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [repr(error)]
    # TorchScript describes the problem in the last line, after the place
    line = lines[-1] if lines[0].startswith("The following operation failed") else lines[0]
    return line[:300].rstrip(".:")
