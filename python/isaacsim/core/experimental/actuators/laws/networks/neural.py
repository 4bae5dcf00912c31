"""Base class of controllers with a network: file, features and state.

    effort = network(features) · effort_scale + effort_mean

Feedforward, bias and, unless a GRU has it as an input, the target velocity are ignored. Each class defines its
features; a plan runs them as a `NetworkLaw`, with the network in C++ on the CPU and in Warp elsewhere. A network with
custom inputs computes arrays between the phases of a step instead.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, ClassVar, cast

import warp as wp

from ..contract.base import Component, Controller, clear_kernel, require_mask
from ..contract.catalogue import is_built_in
from .checkpoint import Checkpoint, CheckpointPath
from .metadata import check_metadata
from .network import Kind, Network
from .network_law import NetworkLaw
from .network_run import NetworkRun

TORCH_FORMATS = ("pt2", "state dict", "torchscript")
"""Torch's file formats, see `Checkpoint.format`."""

# methods that a subclass does not override if the law is its whole computation
_COMPUTATION = ("compute", "state", "update_state", "is_stateful")


def checkpoint_at(
    path: str | os.PathLike[str], metadata: Mapping[str, object] | None = None, trusted: bool = False
) -> Checkpoint:
    """Return the network of a file; see `load_checkpoint`, which the laws do without until a path is given."""
    from ...files.networks.load import load_checkpoint

    return load_checkpoint(path, metadata, trusted)


class StateArray:
    """An array of a `NetworkState`: a Warp array, or a tensor over the same memory if `AS_TENSORS` is True."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, state: NetworkState | None, owner: type | None = None) -> Any:
        # default of the field of the dataclass
        if state is None:
            return None
        array = vars(state)[self._name]
        return wp.to_torch(array) if state.AS_TENSORS and array is not None else array

    def __set__(self, state: NetworkState, value: Any) -> None:
        if value is not None and type(value).__module__.partition(".")[0] == "torch":
            state.__class__ = _with_tensors(type(state))
            value = wp.from_torch(value.contiguous())
        vars(state)[self._name] = value


class NetworkState(Component.State):
    """State of a network: arrays whose axis 1 runs over the actuators."""

    AS_TENSORS: ClassVar[bool] = False
    """True if its attributes are Torch tensors."""

    def reset(self, mask: wp.array | None = None) -> None:
        """Zero the state of the actuators in `mask`, bool `(N,)`; of all by default."""
        for name, array in vars(self).items():
            if array is None:
                raise ValueError(f"{type(self).__name__} has no {name} to reset: must have one. Take state().")
            if mask is None:
                array.zero_()
            else:
                require_mask(mask, array.shape[1], array.device)
                each = array.size // (array.shape[0] * array.shape[1])
                flat = array.flatten()
                wp.launch(
                    clear_kernel, array.size, [mask, each, 0.0, None], [flat], device=array.device, record_tape=False
                )


class ControllerNeural(Controller):
    """A control law that is a network; subclasses define its inputs.

    Args:
        model_path: Path of the file, or a checkpoint.
        metadata: Metadata that override those of the file and of a JSON file beside it.
        trusted: True if Torch may run a file of unknown layout.

    Raises:
        ValueError: The file cannot be read, has no network of this kind, or its metadata cannot be used; or metadata
            are given for a checkpoint.
        OSError: There is no such file.
    """

    SHARED_PARAMS: ClassVar[set[str]] = {"model_path"}
    STATE_AXIS: ClassVar[int] = 1
    IMPLICIT_JACOBIAN_MARGIN: ClassVar[float] = 0.1
    """How regular equations stay in the implicit effort mode, at least; see `engine/implicit/linear_network.py`."""
    NETWORK: ClassVar[Kind]
    """Kind of network."""
    HISTORY: ClassVar[tuple[str, ...]] = ()
    """Columns whose last values are the arrays of `State`; none for a recurrent network."""
    State: ClassVar[Any]

    def __init__(
        self,
        model_path: str | os.PathLike[str] | Checkpoint,
        *,
        metadata: Mapping[str, object] | None = None,
        trusted: bool = False,
    ) -> None:
        self.model_path = model_path
        self.given_metadata = {} if metadata is None else dict(metadata)
        """Metadata that the program passed, which the file may lack."""
        read = model_path.checkpoint if isinstance(model_path, CheckpointPath) else model_path
        if metadata is not None and isinstance(read, Checkpoint):
            raise ValueError(
                f"{type(self).__name__}: metadata = {metadata!r:.100}: must be None, for the network was read already "
                "with what its file says. Give the path of the file as a plain text."
            )
        self.checkpoint = read if isinstance(read, Checkpoint) else checkpoint_at(read, metadata, trusted)
        self.network, self._num_actuators = self.checkpoint.network, 0
        self._device: wp.DeviceLike = None
        if self.network.kind != self.NETWORK:
            raise ValueError(
                f"{self._subject}: the network is of kind {self.network.kind}, no {self.NETWORK.upper()}: must be "
                f"{self.NETWORK}. Use the controller of that kind."
            )
        self.metadata = check_metadata(self.checkpoint.metadata, self.network)
        self.custom_inputs = self.metadata.custom_inputs

    def __repr__(self) -> str:
        path = "…" if isinstance(self.model_path, Checkpoint) else str(self.model_path)
        return f"{type(self).__name__}(model_path={path!r})"

    @classmethod
    def resolve_arguments(cls, args: dict[str, object]) -> dict[str, object]:
        """Return `model_path`.

        Raises:
            ValueError: It is missing or empty.
        """
        if not args.get("model_path"):
            raise ValueError(f"{cls.__name__} requires a non-empty 'model_path'. Give the path of a network file.")
        return {"model_path": args["model_path"]}

    @property
    def effort_scale(self) -> float:
        """Factor of the output of the network."""
        return self.metadata.effort_scale

    @property
    def effort_mean(self) -> float:
        """Offset that is added to the scaled output [N·m or N]."""
        return self.metadata.effort_mean

    @cached_property
    def law(self) -> NetworkLaw:
        """The network as the law of a plan."""
        features = self.metadata.features
        steps = max(feature.back for feature in features) + 1
        names = tuple(field.name for field in fields(self.State))
        numbers = self.effort_scale, self.effort_mean, self.metadata.sample_dt
        histories = self.HISTORY, steps, self.metadata.history_fill == "first"
        return NetworkLaw(self.network, features, names, *histories, *numbers, self._subject)

    @property
    def network_law(self) -> NetworkLaw | None:
        """The law that a plan runs instead of `compute`.

        None if Torch runs the network, if it has custom inputs, or if a subclass overrides the computation.
        """
        own = type(self)
        built_in = next(base for base in own.__mro__ if is_built_in(base))
        alike = all(getattr(own, name) is getattr(built_in, name) for name in _COMPUTATION)
        return self.law if alike and isinstance(self.network, Network) and not self.custom_inputs else None

    def is_stateful(self) -> bool:
        """Return True: networks have a state."""
        return True

    def is_graphable(self) -> bool:
        """Return True if a CUDA graph can capture a step, which requires that Torch does not run the network."""
        return isinstance(self.network, Network)

    def finalize(self, device: wp.DeviceLike, num_actuators: int) -> None:
        """Set device and number of actuators; arrays are allocated on first use."""
        self._num_actuators, self._device = num_actuators, device
        vars(self).pop("_run", None)

    def state(self, num_actuators: int, device: wp.DeviceLike) -> Any:
        """Return a fresh state.

        Its arrays are Warp arrays. For a file in one of Torch's formats they are tensors over the same memory if the
        program has imported Torch, as in newton.
        """
        shape, device = self.law.state_shape(num_actuators), wp.get_device(device)
        tensors = "torch" in sys.modules and self.checkpoint.format in TORCH_FORMATS
        fresh = (wp.zeros(shape, dtype=wp.float32, device=device) for _ in self.law.STATE)
        return self.State(*(map(wp.to_torch, fresh) if tensors else fresh))

    def compile(self) -> None:
        """Allocate the arrays of `compute`.

        Raises:
            RuntimeError: `finalize` was not called.
        """
        _ = self._run

    def compute(
        self,
        positions: wp.array,
        velocities: wp.array,
        target_pos: wp.array,
        target_vel: wp.array,
        feedforward: wp.array | None,
        pos_indices: wp.array,
        vel_indices: wp.array,
        target_pos_indices: wp.array,
        target_vel_indices: wp.array,
        forces: wp.array,
        state: object,
        dt: float | None,
        device: wp.DeviceLike = None,
        *,
        custom_inputs: Mapping[str, wp.array | None] | None = None,
    ) -> None:
        """Write the efforts [N·m or N] of all actuators into `forces`, shape `(N,)`; `state` is only read.

        Raises:
            ValueError: `dt` is not the step that the network was trained for, or there is no state.
            RuntimeError: `finalize` was not called, or a custom input is missing.
        """
        run = self._run
        self.law.require_dt(dt)
        before = self._arrays(state, "current")
        custom = None
        for name in self.custom_inputs:
            custom = (custom_inputs or {}).get(name)
            if custom is None:
                raise RuntimeError(
                    f"{self._subject}: no array was supplied for input column {name!r}: must be one number per joint "
                    "axis. Give it under that name, as an attribute of the control object or by set_custom_input."
                )
        signals = positions, velocities, target_pos, target_vel
        indices = pos_indices, vel_indices, target_pos_indices, target_vel_indices
        run.compute(signals, indices, before, custom)
        wp.copy(forces, run.efforts)

    def update_state(self, current_state: object, next_state: object) -> None:
        """Write the state after this step into `next_state`, unless it is None.

        Raises:
            RuntimeError: `compute` was not called before.
            ValueError: A state is no state of this controller.
        """
        if next_state is not None:
            self._run.advance(self._arrays(current_state, "current"), self._arrays(next_state, "next"))

    @cached_property
    def _run(self) -> NetworkRun:
        if self._device is None:
            raise RuntimeError(f"{self._subject}: compute comes after finalize. Call finalize(device, num_actuators).")
        return NetworkRun(self.law, self._num_actuators, self._device)

    def _arrays(self, state: object, which: str) -> list[wp.array]:
        found = [vars(state).get(name) for name in self.law.STATE] if state is not None else [None]
        if None in found:
            raise ValueError(f"{self._subject} has no {which} drive state: must be one of its own. Take state().")
        return cast("list[wp.array]", found)

    @property
    def _subject(self) -> str:
        whose = f"network {self.checkpoint.digest[:12]}" if self.model_path is self.checkpoint else self.model_path
        return f"{type(self).__name__}({whose})"


@functools.cache
def _with_tensors(state: type[NetworkState]) -> type[NetworkState]:
    if state.AS_TENSORS:
        return state
    members = {"__module__": state.__module__, "__qualname__": state.__qualname__, "AS_TENSORS": True}
    return dataclass(eq=False)(type(state.__name__, (state,), members))
