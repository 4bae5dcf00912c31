"""A network that Torch runs, because nobody else knows what it computes and the host program trusts its file.

The only place that loads or runs anything with Torch, which is imported in functions. What a file holds is tried once
when it is loaded: how it wants to be called, and that it computes every actuator by itself.
"""

from __future__ import annotations

import copy
import io
import itertools
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_args

import numpy as np
import warp as wp

from ..errors import NetworkError
from ..extras import needs
from .calls import Calls
from .metadata import read_sidecar
from .network import Kind
from .state_dict import LEGACY
from .torch_archive import Archive, entry_names
from .torch_pickle import load

_EXTRA = "metadata.json"
# what a dict that was saved with `torch.save` may hold its module as
_HOLDERS = ("model", "module", "network", "net")
_KINDS: tuple[Kind, ...] = get_args(Kind)
# more than one, to tell rows from steps of time
_TRIED_ROWS = 3


def can_run(kind: str, data: bytes) -> bool:
    """Whether a file of a format holds something that Torch might run; tensors alone are nothing of the kind."""
    if kind not in _LOADERS:
        return False
    if data.startswith(LEGACY):
        return True
    if kind != "state dict":
        return bool(entry_names(data))
    try:
        archive = Archive(data)
        pickled = archive.read("data.pkl")
    except NetworkError:
        return False
    try:
        load(pickled, lambda key: archive.read(f"data/{key}"))
    except NetworkError:
        return True
    return False


def load_with_torch(kind: str, data: bytes, given: Mapping[str, Any]) -> tuple[TorchNetwork, dict[str, Any]]:
    """Run what a trusted file holds, and return it with its metadata.

    Args:
        kind: Format, "torchscript", "pt2" or "state dict"; the last one for all that `torch.save` wrote.
        data: The file itself, which may do whatever a program can.
        given: Metadata that go before the file's.

    Raises:
        NetworkError: There is no Torch, it cannot load the file, or what it loads is no network that can be called.
    """
    with needs("What is not recognised", "train", NetworkError):
        torch = _torch()
    with warnings.catch_warnings():
        # Torch would rather have other files
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
    """Stands where a `Network` does, with one output per actuator; Torch computes it.

    Its `forward` takes `x`, float32 `(rows, inputs)`, and returns `(rows,)` or `(rows, 1)`. With a recurrent layer it
    takes `x` as `(rows, 1, inputs)` or `(1, rows, inputs)` and the states, `(layers, rows, hidden size)` each, for an
    LSTM as a pair or one after the other; it returns the output and the states, likewise.

    Args:
        module: A `torch.nn.Module`; becomes float32 and evaluates.
        metadata: `model_type`; of an MLP `input_idx`, of a GRU `input_columns`; `num_layers` and `hidden_size` where
            the module has no LSTM or GRU that would tell them.

    Raises:
        NetworkError: It cannot be called so, or computes one row from another.
    """

    def __init__(self, module: Any, metadata: Mapping[str, Any]) -> None:
        self._module = _evaluating(module)
        self.kind: Kind = "mlp"
        """What it remembers: nothing, hidden and cell state, or hidden state."""
        self.num_layers = self.hidden_size = 0
        """Number of recurrent layers, and width of the hidden state of each."""
        self._take_sizes(metadata)
        self.inputs = self._count_inputs(metadata)
        """Width of the input."""
        self._form = self._find_form()

    @property
    def num_states(self) -> int:
        """Number of arrays that it remembers."""
        return {"mlp": 0, "gru": 1, "lstm": 2}[self.kind]

    def evaluator(self, rows: int, device: Any = "cpu") -> TorchEvaluator:
        """Return what evaluates it on arrays of so many rows, see `Evaluator`."""
        return TorchEvaluator(self, rows, device)

    def module_on(self, device: Any) -> Any:
        """Return the module with its numbers on a device of Torch."""
        return self._module if str(device) == "cpu" else copy.deepcopy(self._module).to(device)

    def call(self, module: Any, x: Any, states: Sequence[Any]) -> tuple[Any, list[Any]]:
        """Return output `(rows,)` and new states of a module of this network; Torch's tensors all.

        Raises:
            NetworkError: It returns something else.
        """
        return self._call(self._form, module, x, states)

    def traced(self) -> bytes:
        """Return a TorchScript file of the operations of one call, as far as these do not depend on numbers.

        Raises:
            NetworkError: Torch cannot trace it.
        """
        torch = _torch()
        x = torch.linspace(-0.5, 0.5, _TRIED_ROWS * self.inputs).reshape(_TRIED_ROWS, self.inputs)
        states = [torch.zeros(self.num_layers, _TRIED_ROWS, self.hidden_size) for _ in range(self.num_states)]
        rows_first, packed = self._form
        given = x if not states else x[:, None] if rows_first else x[None]
        file = io.BytesIO()
        with torch.no_grad(), warnings.catch_warnings():
            # of branches; what comes of them is compared with what Torch computes
            warnings.simplefilter("ignore")
            try:
                example = (given, tuple(states)) if packed else (given, *states)
                torch.jit.save(torch.jit.trace(self._module, example, check_trace=False), file)
            except Exception as error:
                raise NetworkError(f"PyTorch cannot trace it ({_first_line(error)}). Change the network.") from error
        return file.getvalue()

    # inside

    def _take_sizes(self, metadata: Mapping[str, Any]) -> None:
        """Kind and sizes: what metadata say, else what the module has."""
        # a network may be called after its layer, which is the one that knows how many of it there are
        layers = [(_layer_name(one), one) for one in self._module.modules() if hasattr(one, "num_layers")]
        recurrent = next(((name, one) for name, one in layers if name in ("lstm", "gru")), None)
        kind = metadata.get("model_type", recurrent[0] if recurrent else "mlp")
        if kind not in _KINDS:
            raise NetworkError(f"metadata model_type = {kind!r:.100}: must be {', '.join(_KINDS)}. Correct it.")
        self.kind = kind
        if kind == "mlp":
            return
        for key in ("num_layers", "hidden_size"):
            size = metadata.get(key, getattr(recurrent[1], key, None) if recurrent else None)
            if type(size) is not int or size < 1:
                raise NetworkError(
                    f"metadata {key} = {size!r:.100}: must be a whole number > 0, for the module does not tell it. "
                    "Say it in a JSON file of the same name beside it."
                )
            setattr(self, key, size)

    def _count_inputs(self, metadata: Mapping[str, Any]) -> int:
        key, per, default = {"mlp": ("input_idx", 2, 1), "gru": ("input_columns", 1, 2)}.get(self.kind, ("", 2, 1))
        listed = metadata.get(key)
        # anything but a list is refused where metadata are checked
        return per * (len(listed) if isinstance(listed, list | tuple) and listed else default)

    def _find_form(self) -> tuple[bool, bool]:
        """How it wants to be called, found by doing so: whether rows come first, and whether states are one argument.

        Raises:
            NetworkError: In none of the known ways, or one row's output depends on others or on earlier calls.
        """
        torch = _torch()
        x = torch.linspace(-0.5, 0.5, _TRIED_ROWS * self.inputs).reshape(_TRIED_ROWS, self.inputs)
        states = [torch.zeros(self.num_layers, _TRIED_ROWS, self.hidden_size) for _ in range(self.num_states)]
        packed = (True, False) if self.kind == "lstm" else (False,)
        problem: Exception | None = None
        for form in itertools.product((True, False) if states else (True,), packed):
            try:
                first = self._call(form, self._module, x, states)
            except Exception as error:
                # the usual form first, whose problem is the one to tell
                problem = problem or error
                continue
            other = x.clone()
            other[0] += 1.0
            second = self._call(form, self._module, other, states)
            rest = [(y[1:], *(state[:, 1:] for state in new)) for y, new in (first, second)]
            if not all(torch.allclose(*pair, rtol=1e-5, atol=1e-6, equal_nan=True) for pair in zip(*rest, strict=True)):
                raise NetworkError(
                    "forward computes a row from others, from earlier calls or at random: every actuator must be "
                    "computed by itself, what is remembered being passed and returned. Change the network."
                )
            return form
        keys = {"mlp": "input_idx", "lstm": "model_type, num_layers and hidden_size", "gru": "input_columns"}[self.kind]
        one = f"x (rows, {'1, ' if states else ''}{self.inputs})"
        others = [f"{name} ({self.num_layers}, rows, {self.hidden_size})" for name in "hc"[: len(states)]]
        raise NetworkError(
            f"forward does not work on {', '.join([one, *others])} ({_first_line(problem)}): must, and return one "
            f"output per row{' and the states' if states else ''}. Correct the metadata, {keys}, or the network"
            f"{', which may not be bidirectional' if states else ''}."
        ) from problem

    def _call(self, form: tuple[bool, bool], module: Any, x: Any, states: Sequence[Any]) -> tuple[Any, list[Any]]:
        torch = _torch()
        rows_first, packed = form
        # copies, for it may write into what it is given
        before = [state.clone() for state in states]
        given = x.clone() if not states else (x[:, None] if rows_first else x[None]).clone()
        with torch.no_grad():
            returned = module(given, tuple(before)) if packed else module(given, *before)
        output, *new = returned if isinstance(returned, list | tuple) else (returned,)
        if len(new) == 1 and isinstance(new[0], list | tuple):
            new = list(new[0])
        shapes = [tuple(state.shape) for state in states]
        if (
            not isinstance(output, torch.Tensor)
            or output.numel() != len(x)
            or [tuple(state.shape) if isinstance(state, torch.Tensor) else None for state in new] != shapes
        ):
            has = [tuple(one.shape) if isinstance(one, torch.Tensor) else type(one).__name__ for one in (output, *new)]
            raise NetworkError(f"forward returned {', '.join(map(str, has))} for {len(x)} rows")
        return output.reshape(-1), new


class TorchEvaluator:
    """Evaluates with Torch, in place on the arrays it is given; see `Evaluator`. Cannot be part of a CUDA graph.

    How far results of a row depend on the number of rows is up to Torch, which may round otherwise.

    Args:
        network: What to compute.
        rows: Number of actuators.
        device: Warp device of the arrays; NumPy arrays do on the CPU.
    """

    name = "torch"

    def __init__(self, network: TorchNetwork, rows: int, device: Any = "cpu") -> None:
        self._network, self._device = network, wp.get_device(device)
        self._module = network.module_on(wp.device_to_torch(self._device))
        shaped: Any = network
        self._calls = Calls(shaped, rows, self._device, self._bind)

    def evaluate(self, x: Any, y: Any, state_in: Sequence[Any] = (), state_out: Sequence[Any] = ()) -> None:
        """Compute the outputs of all rows, see `Evaluator`."""
        self._calls.find(x, y, state_in, state_out)()

    def _bind(self, x: Any, y: Any, state_in: list[Any], state_out: list[Any]) -> Callable[[], None]:
        torch = _torch()
        x, y = _as_torch(x), _as_torch(y)
        before, after = ([_as_torch(state) for state in states] for states in (state_in, state_out))

        def run() -> None:
            try:
                outputs, new = self._network.call(self._module, x, before)
            except Exception as error:
                raise NetworkError(f"PyTorch fails at {len(x)} rows: {_first_line(error)}.") from error
            # 0 in a row that is finite, NaN in others
            wrong = outputs * 0.0 + (x * 0.0).sum(1)
            for state in new:
                wrong = wrong + (state * 0.0).sum((0, 2))
            # all of it before anything is written: old and new may be the same memory
            fine = (wrong == 0.0)[:, None]
            kept = [torch.where(fine, now, then) for now, then in zip(new, before, strict=True)]
            torch.add(outputs, wrong, out=y)
            for place, state in zip(after, kept, strict=True):
                place.copy_(state)

        def run_beside_warp() -> None:
            with torch.cuda.stream(wp.stream_to_torch(self._device)):
                run()

        return run if self._device.is_cpu else run_beside_warp


def _torch() -> Any:
    import torch  # pyright: ignore[reportMissingImports]

    return torch


def _from_torchscript(torch: Any, data: bytes) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    extra = {_EXTRA: ""}
    module = torch.jit.load(io.BytesIO(data), map_location="cpu", _extra_files=extra)
    return module, _metadata_in(extra), {}


def _from_export(torch: Any, data: bytes) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    extra = {_EXTRA: ""}
    program = torch.export.load(io.BytesIO(data), extra_files=extra)
    # the layers are gone, and what the graph takes tells instead
    taken = set(program.graph_signature.user_inputs)
    shapes = [node.meta["val"].shape for node in program.graph.nodes if node.op == "placeholder" and node.name in taken]
    seen: dict[str, Any] = {}
    if len(shapes) in (2, 3):
        seen = {"model_type": "gru" if len(shapes) == 2 else "lstm"}
        sizes = zip(("num_layers", "hidden_size"), (shapes[1][0], shapes[1][-1]), strict=True)
        seen |= {key: int(size) for key, size in sizes if isinstance(size, int)}
    return program.module(), _metadata_in(extra), seen


def _from_pickle(torch: Any, data: bytes) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    held = torch.load(io.BytesIO(data), map_location="cpu", weights_only=False)
    if not isinstance(held, Mapping):
        return held, {}, {}
    own = held.get("metadata") or {}
    if not isinstance(own, Mapping) or not all(isinstance(key, str) for key in own):
        raise NetworkError("metadata of the file is no dict: must be. Save the file anew.")
    return next((held[name] for name in _HOLDERS if name in held), held), dict(own), {}


_LOADERS: dict[str, Callable[[Any, bytes], tuple[Any, dict[str, Any], dict[str, Any]]]] = {
    "torchscript": _from_torchscript,
    "pt2": _from_export,
    "state dict": _from_pickle,
}


def _metadata_in(extra: Mapping[str, str | bytes]) -> dict[str, Any]:
    return read_sidecar(extra[_EXTRA], _EXTRA) if extra[_EXTRA] else {}


def _evaluating(module: Any) -> Any:
    """A module in float32 whose layers of training are off, where it can be told so."""
    module.float()
    try:
        module.eval()
    except NotImplementedError:
        # what was exported is as it was then
        pass
    for parameter in module.parameters():
        parameter.requires_grad_(False)
    return module


def _layer_name(module: Any) -> str:
    """Name of a layer's class in lower case; a scripted one remembers that of its own."""
    return getattr(module, "original_name", type(module).__name__).lower()


def _as_torch(array: Any) -> Any:
    """The same memory as a tensor of Torch."""
    if isinstance(array, wp.array) and not wp.get_device(array.device).is_cpu:
        return wp.to_torch(array, requires_grad=False)
    with warnings.catch_warnings():
        # it is only read from where it is read-only
        warnings.simplefilter("ignore")
        return _torch().from_numpy(array if isinstance(array, np.ndarray) else array.numpy())


def _first_line(error: BaseException | None) -> str:
    """What an error says, shortly: Torch adds pages."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [repr(error)]
    # of TorchScript the last line says what happened, after where it did
    said = lines[-1] if re.match(r"The following operation failed", lines[0]) else lines[0]
    return said[:300].rstrip(".:")
