"""What the controllers with a network have in common: where it comes from, its step, and what is remembered.

    effort = network(features) · effort_scale + effort_offset

Feedforward, bias and, but for what a GRU asks for, the target velocity are ignored. The features are those of each
class. They compute arrays, so they run between the two phases of a step.
"""

# kernels read arrays as numbers
# pyright: reportArgumentType=false, reportIndexIssue=false, reportGeneralTypeIssues=false
# pyright: reportAssignmentType=false

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import fields
from typing import Any, ClassVar

import warp as wp

from ..networks.checkpoint import Checkpoint
from ..networks.evaluator import Evaluator, make_evaluator
from ..networks.load import load_checkpoint
from ..networks.metadata import check_metadata
from ..networks.network import Kind
from ..networks.torch_network import TorchNetwork
from .base import Component, Controller, require_mask

wp.set_module_options({"enable_backward": False})

# how far the physics step may be from the one that a network was trained for, as in newton 1.8
_DT_RELATIVE, _DT_ABSOLUTE = 1e-5, 1e-9


@wp.kernel
def _clear_kernel(mask: wp.array[bool], values: wp.array3d[float]):
    outer, n, inner = wp.tid()
    if mask[n]:
        values[outer, n, inner] = 0.0


@wp.kernel
def _scale_kernel(outputs: wp.array[float], scale: float, offset: float, forces: wp.array[float]):
    n = wp.tid()
    forces[n] = outputs[n] * scale + offset


class NetworkState(Component.State):
    """What a network remembers: arrays whose axis 1 runs over the actuators."""

    def reset(self, mask: wp.array | None = None) -> None:
        """Set everything to zero where `mask`, bool `(N,)`, is true; everywhere by default.

        Raises:
            ValueError: The mask is of another type or shape.
        """
        for array in vars(self).values():
            if mask is None:
                array.zero_()
            else:
                require_mask(mask, array.shape[1], array.device)
                dense = array.reshape((*array.shape[:2], math.prod(array.shape[2:])))
                wp.launch(_clear_kernel, dense.shape, [mask], [dense], device=array.device)


class ControllerNeural(Controller):
    """A control law that is a network; its subclasses say what goes in.

    Args:
        model_path: Path of the file, or a checkpoint that was read already.
        trusted: Whether Torch may run a file that is not recognised.

    Raises:
        ValueError: The file cannot be read, holds no network of this kind, or its metadata cannot be used.
        OSError: There is no such file.
    """

    SHARED_PARAMS: ClassVar[set[str]] = {"model_path"}
    STATE_AXIS: ClassVar[int] = 1
    KIND: ClassVar[Kind]
    """Kind of network."""
    effort_scale: float
    """What the output of the network is multiplied with."""
    effort_mean = 0.0
    """What is added to it then [N·m or N]."""

    def __init__(self, model_path: str | os.PathLike[str] | Checkpoint, *, trusted: bool = False) -> None:
        self.model_path = model_path
        is_read = isinstance(model_path, Checkpoint)
        self.checkpoint = model_path if is_read else load_checkpoint(model_path, trusted=trusted)
        self.network, self._num_actuators = self.checkpoint.network, 0
        self._evaluator: Evaluator | None = None
        if self.network.kind != self.KIND:
            raise ValueError(
                f"{self._subject}: the network is of kind {self.network.kind}, must be {self.KIND}. Use the controller "
                "of that kind."
            )
        self.metadata = check_metadata(self.checkpoint.metadata, self.network)

    @classmethod
    def resolve_arguments(cls, args: dict[str, Any]) -> dict[str, Any]:
        """Return `model_path`.

        Raises:
            ValueError: It is missing or empty.
        """
        if not args.get("model_path"):
            raise ValueError(f"{cls.__name__} requires a non-empty 'model_path'. Give the path of a network file.")
        return {"model_path": args["model_path"]}

    def is_stateful(self) -> bool:
        """Whether anything is remembered from one step to the next: yes."""
        return True

    def is_graphable(self) -> bool:
        """Whether a step may become part of a CUDA graph: unless Torch runs the network."""
        return not isinstance(self.network, TorchNetwork)

    def finalize(self, device: Any, num_actuators: int) -> None:
        """Allocate what a step needs, and compile it."""
        self._num_actuators = num_actuators
        self._inputs = wp.zeros((num_actuators, self.network.inputs), dtype=wp.float32, device=device)
        self._outputs = wp.zeros(num_actuators, dtype=wp.float32, device=device)
        self._evaluator = make_evaluator(self.network, num_actuators, device)
        wp.get_module(__name__).load(wp.get_device(device))

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
        state: Any,
        dt: float | None,
        device: Any = None,
    ) -> None:
        """Write the efforts [N·m or N] of all actuators into `forces`, shape `(N,)`; `state` is read, not written.

        Raises:
            ValueError: `dt` is not the step that the network was trained for.
            RuntimeError: `finalize` was not called.
        """
        evaluator, device = self._ready(dt), device or forces.device
        signals = [positions, velocities, target_pos, target_vel]
        indices = [pos_indices, vel_indices, target_pos_indices, target_vel_indices]
        self._take(signals, indices, state, device)
        evaluator.evaluate(self._inputs, self._outputs, *self._recurrent(state))
        scaled = [self._outputs, self.effort_scale, self.effort_mean]
        wp.launch(_scale_kernel, self._num_actuators, scaled, [forces], device=device)

    # for subclasses

    def _take(self, signals: list[wp.array], indices: list[wp.array], state: Any, device: Any) -> None:
        """Put the features of this step into `self._inputs`.

        Args:
            signals: Positions, velocities, and their targets.
            indices: Where each of them has the actuators.
            state: What was remembered.
            device: Warp device.
        """
        raise NotImplementedError

    def _recurrent(self, state: Any) -> tuple[Sequence[wp.array], Sequence[wp.array]]:
        """What the network itself remembers, before and after this step."""
        return (), ()

    # inside

    def _ready(self, dt: float | None) -> Evaluator:
        """What evaluates; refuses a step before `finalize`, or one that the network was not trained for."""
        if self._evaluator is None:
            raise RuntimeError(f"{self._subject}: compute comes after finalize. Call finalize(device, num_actuators).")
        trained_for = self.metadata.sample_dt
        if trained_for is None:
            return self._evaluator
        if dt is None or not math.isclose(dt, trained_for, rel_tol=_DT_RELATIVE, abs_tol=_DT_ABSOLUTE):
            raise ValueError(
                f"{self._subject}: dt = {dt} s: must be the step that the network was trained for, {trained_for} s. "
                "Step physics so, or train the network for this step."
            )
        return self._evaluator

    @property
    def _subject(self) -> str:
        """What errors are about."""
        whose = f"network {self.checkpoint.digest[:12]}" if self.model_path is self.checkpoint else self.model_path
        return f"{type(self).__name__}({whose})"


class ControllerRecurrent(ControllerNeural):
    """A network that remembers by itself; the arrays of its `State` are those of its evaluator."""

    State: ClassVar[Any]

    def finalize(self, device: Any, num_actuators: int) -> None:
        """Allocate what a step needs, and compile it."""
        super().finalize(device, num_actuators)
        self._next = self.state(num_actuators, device)

    def state(self, num_actuators: int, device: Any) -> Any:
        """Return a state that remembers nothing."""
        shape = (self.network.num_layers, num_actuators, self.network.hidden_size)
        return self.State(*(wp.zeros(shape, dtype=wp.float32, device=device) for _ in fields(self.State)))

    def update_state(self, current_state: Any, next_state: Any) -> None:
        """Write the recurrent state after this step into `next_state`, if it is not None."""
        if next_state is not None:
            for after, computed in zip(*self._recurrent(next_state), strict=True):
                wp.copy(after, computed)

    def _recurrent(self, state: Any) -> tuple[Sequence[wp.array], Sequence[wp.array]]:
        names = [field.name for field in fields(self.State)]
        return [getattr(state, name) for name in names], [getattr(self._next, name) for name in names]
