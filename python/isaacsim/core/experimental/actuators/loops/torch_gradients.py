"""Gradients of `ActuatedArrays` for Torch: a `torch.autograd.Function` around the step.

What the actuators remember goes from step to step as one tensor, which holds no numbers: its gradients are those of the
delays' rings and of the laws' states, and it keeps the steps in their order. Only here is that tensor known.
"""

# pyright: reportMissingImports=false

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import warp as wp

from .. import native
from ..pipeline.assembly import Assembly
from ..pipeline.gradients import Pipeline, require_gradients
from ..pipeline.plan import Placed

_SIGNALS = 5


@dataclass(eq=False)
class _Part:
    """One actuator: its gradients, where it stands, and which piece of the tensor of states is its own."""

    step: Any
    placed: Placed
    pipeline: Pipeline
    # its columns, and its places in the flattened arrays
    columns: list[int]
    places: np.ndarray
    first: int
    # of the three rings and of what its laws remember; axis 1 runs over the joints where there are several
    shapes: list[tuple[int, ...]]

    @property
    def size(self) -> int:
        """Numbers that it remembers."""
        return sum(map(math.prod, self.shapes))

    def split(self, remembered: np.ndarray | None) -> list[Any]:
        """Its piece of a flat array: the three rings, then the states of its laws; None for each without one."""
        if remembered is None:
            return [None] * len(self.shapes)
        pieces, at = [], self.first
        for shape in self.shapes:
            pieces.append(remembered[at : at + math.prod(shape)].reshape(shape))
            at += pieces[-1].size
        return pieces


@dataclass(eq=False)
class _Taken:
    """What a step noted, and what its gradients have to be like."""

    notes: list[Any]
    shapes: list[Any]
    names: tuple[str, ...]


class TorchGradients:
    """Steps of actuators that Torch goes back through.

    Args:
        assembly: The actuators.
        num_dofs: Number of columns.

    Raises:
        NotImplementedError: Some of them have no gradients.
        ModuleNotFoundError: Torch is not installed.
    """

    def __init__(self, assembly: Assembly, num_dofs: int) -> None:
        import torch

        self._torch, self._assembly, self._num_dofs = torch, assembly, num_dofs
        self._parts: list[_Part] = []
        first = 0
        for joints, step in assembly.parts:
            label = step.plan.labels[0] if hasattr(step, "plan") else "actuators"
            require_gradients(label, step, assembly.device)
            for placed in step.plan.placed:
                pipeline = Pipeline(step.plan, placed.slots)
                columns = [assembly.columns[joints[slot]] for slot in placed.slots]
                rows = np.arange(assembly.num_robots)[:, None] * num_dofs
                places = (rows + np.asarray(columns)).ravel().astype(np.uint32)
                shapes: list[tuple[int, ...]] = [(pipeline.depth, pipeline.count)] * (3 if pipeline.depth else 0)
                for _, _, one, _ in pipeline.remembered(placed):
                    shapes.append(one.law.state_shape(pipeline.count) if one.is_network else (pipeline.count,))
                part = _Part(step, placed, pipeline, columns, places, first, shapes)
                self._parts.append(part)
                first += part.size
        self._size = first
        # the tensor of states after the last step, None where nothing goes back
        self._remembered: Any = None

    @property
    def parameters(self) -> list[str]:
        """Names of all parameters."""
        return list(dict.fromkeys(name for part in self._parts for name, _ in part.pipeline.rows))

    def wants(self, tensors: Sequence[Any]) -> bool:
        """Whether a step with these is one to go back through."""
        if not self._torch.is_grad_enabled():
            return False
        return self._remembered is not None or any(getattr(one, "requires_grad", False) for one in tensors)

    def forget(self, robots: Any = None) -> None:
        """Go back no further than here; of some robots, what they remember has no gradient."""
        if self._remembered is None:
            return
        if robots is None:
            self._remembered = None
            return
        kept = np.ones(self._size, np.float32)
        for part in self._parts:
            for piece in part.split(kept):
                before = piece.shape[: piece.ndim > 1]
                by_robot = piece.reshape(*before, self._assembly.num_robots, -1)
                by_robot[(*[slice(None)] * len(before), robots)] = 0
        self._remembered = self._remembered * self._torch.from_numpy(kept)

    def set(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Give the actuators these parameters from the next step on, and return them as tensors `(robots, DOFs)`.

        Raises:
            ValueError: No actuator has one of that name, or it has another shape, type or range.
        """
        found: dict[str, Any] = {}
        shape = self._assembly.num_robots, self._num_dofs
        for name, given in parameters.items():
            if name not in self.parameters:
                raise ValueError(f"parameter {name!r}: must be one of {self.parameters}. Correct the name.")
            if not isinstance(given, self._torch.Tensor) or given.dtype is not self._torch.float32:
                raise ValueError(f"parameter {name!r} = {given!r}: must be a tensor of float32. Convert it.")
            try:
                found[name] = given.expand(shape)
            except RuntimeError as error:
                raise ValueError(
                    f"parameter {name!r} has shape {tuple(given.shape)}: must be one that {shape}, (robots, DOFs), can "
                    "be made of. Reshape it."
                ) from error
            values = found[name].detach().numpy()
            for actuator, columns in self._actuators():
                for component in (actuator.controller, *actuator.clamping):
                    if name in component.PARAMETERS:
                        mine = np.ascontiguousarray(values[:, columns]).ravel()
                        setattr(component, name, wp.array(mine, dtype=wp.float32, device="cpu", copy=False))
        return found

    def step(self, signals: Sequence[Any], parameters: Mapping[str, Any], dt: float, run: Any) -> Any:
        """Step, and return the efforts as a tensor of their own.

        Args:
            signals: Positions, velocities, both targets and feedforward, None for those that are zero.
            parameters: What `set` returned.
            dt: Physics step [s].
            run: What steps with these signals and returns the efforts.
        """
        names = tuple(parameters)
        efforts, remembered = _function().apply(self, dt, run, names, self._remembered, *signals, *parameters.values())
        self._remembered = remembered if self._size and remembered.requires_grad else None
        return efforts

    # inside, for the function

    def forward(self, dt: float, run: Any, names: tuple[str, ...], tensors: Sequence[Any]) -> tuple[Any, Any, _Taken]:
        """Efforts, the tensor of states, and what was noted."""
        signals = [None if one is None else _flat(one) for one in tensors[:_SIGNALS]]
        self._assembly.pour()
        notes = [self._note(part, signals, dt) for part in self._parts]
        efforts = run().clone()
        remembered = self._torch.zeros(()).expand(self._size)
        return efforts, remembered, _Taken(notes, [None if one is None else one.shape for one in tensors], names)

    def backward(self, taken: _Taken, by_efforts: Any, by_after: Any, needed: Sequence[bool]) -> tuple[Any, ...]:
        """The gradients by states before the step and by tensors, None where none is needed."""
        torch = self._torch
        found = [
            torch.zeros(shape) if shape is not None and wanted else None
            for shape, wanted in zip(taken.shapes, needed[1:], strict=True)
        ]
        # in place: what is taken of the states after the step is given to those before
        before = by_after.clone() if self._size else None
        remembered = None if before is None else before.numpy()
        efforts = _flat(by_efforts)
        signals = [None if one is None else one.numpy().reshape(-1) for one in found[:_SIGNALS]]
        named: dict[str, Any] = dict(zip(taken.names, found[_SIGNALS:], strict=True))
        for part, note in zip(self._parts, taken.notes, strict=True):
            given = {
                name: np.zeros(part.pipeline.count, np.float32)
                for name, _ in part.pipeline.rows
                if named.get(name) is not None
            }
            states, places = part.split(remembered), part.places
            part.pipeline.core.back(
                note,
                [efforts, None],
                places,
                signals,
                [places] * _SIGNALS,
                [given.get(name) for name, _ in part.pipeline.rows],
                states,
                states,
            )
            for name, values in given.items():
                named[name].numpy()[:, part.columns] += values.reshape(-1, len(part.columns))
        return (before if needed[0] else None, *found)

    def _note(self, part: _Part, signals: list[Any], dt: float) -> Any:
        pipeline, places = part.pipeline, part.places
        state, lag = None, None
        now, plan = part.step.now, part.step.plan
        if part.size:
            rings = []
            if pipeline.depth:
                at = pipeline.places(plan.delayed)
                rings = [np.ascontiguousarray(getattr(now, name)[:, at]) for name in _BUFFERS]
                lag = pipeline.values_of(plan.lag)
            laws = [np.ascontiguousarray(now.laws[law][k][at]) for law, k, _, at in pipeline.remembered(part.placed)]
            pushes = now.num_pushes[pipeline.places(plan.delayed)] if pipeline.depth else np.zeros(0, np.int32)
            state = native.core.State(rings, pushes, now.write_idx, laws)
        return pipeline.core.note(signals, [places] * _SIGNALS, pipeline.values(), state, lag, dt)

    def _actuators(self) -> list[tuple[Any, list[int]]]:
        """Each actuator and its columns."""
        columns = iter(self._assembly.columns)
        return [(one, [next(columns) for _ in one.dof_names]) for one in self._assembly.actuators]


_BUFFERS = ("buffer_pos", "buffer_vel", "buffer_act")


def _flat(tensor: Any) -> np.ndarray:
    """A tensor as NumPy has it, row after row; over the same memory where its rows lie so."""
    return tensor.detach().contiguous().numpy().reshape(-1)


@functools.cache
def _function() -> Any:
    import torch

    class Step(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, owner: Any, dt: float, run: Any, names: Any, remembered: Any, *tensors: Any) -> Any:
            efforts, after, ctx.taken = owner.forward(dt, run, names, tensors)
            ctx.owner = owner
            return efforts, after

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx: Any, *given: Any) -> Any:
            by_efforts, by_after = given
            return (
                None,
                None,
                None,
                None,
                *ctx.owner.backward(ctx.taken, by_efforts, by_after, ctx.needs_input_grad[4:]),
            )

    return Step
