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

from ..components.network_law import NetworkLaw
from ..memory import numpy_view, warp_view
from ..networks.network import Network
from ..networks.weights import Weights
from ..pipeline.assembly import Assembly
from ..pipeline.gradients import Pipeline, refuse, require_gradients
from ..pipeline.plan import Placement
from ..pipeline.step.native import NativeStep

_SIGNALS = 5


@dataclass(eq=False)
class _Network:
    """A network that some of the actuators have, called by the first joint that it drives."""

    joint: str
    law: NetworkLaw
    weights: Weights
    # compiled, in the steps and on the way back with the numbers that it has
    steps: list[Any]
    back: dict[Any, np.ndarray]

    @property
    def names(self) -> dict[str, str]:
        """Name of each weight among all parameters, and in the network."""
        return {f"{self.joint}.{name}": name for name in self.weights.shapes}

    def change(self, values: Mapping[str, np.ndarray]) -> None:
        """Step with these numbers from now on."""
        self.weights.change(values)
        for core in self.steps:
            core.set(self.weights.numbers)

    def go_back(self, core: Any, numbers: np.ndarray) -> None:
        """Let the way back be that of a step with these numbers."""
        if self.back.get(core) is not numbers:
            core.set(numbers)
            self.back[core] = numbers


@dataclass(eq=False)
class _Part:
    """One actuator: its gradients, where it stands, and which piece of the tensor of states is its own."""

    step: Any
    placement: Placement
    pipeline: Pipeline
    # its columns, and its places in the flattened arrays
    columns: list[int]
    places: np.ndarray
    first: int
    # the network that is its controller, if it is one
    network: _Network | None
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
    # of the network of each part
    numbers: list[np.ndarray | None]
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
        self._networks: list[_Network] = []
        first = 0
        for joints, step in assembly.parts:
            label = step.plan.labels[0] if hasattr(step, "plan") else "actuators"
            if not assembly.device.is_cpu:
                where = f"tensors must be on the CPU for gradients in Torch, and the actuators are on {assembly.device}"
                refuse(label, f"{where}. Leave it out, or step an Actuator on a wp.Tape")
            require_gradients(label, step)
            if asked := list(step.plan.asked):
                why = f"in Torch the signals {asked}, which its laws ask for, have no gradients"
                refuse(label, f"{why}. Leave it out, or step an Actuator on a wp.Tape")
            if step.plan.networks and not isinstance(step, NativeStep):
                why = "in Torch a network has gradients in the native core only, which knows no law of one's own"
                refuse(label, f"{why}. Leave it out, or step an Actuator on a wp.Tape")
            for placement in step.plan.placements:
                pipeline = Pipeline(step, placement.slots)
                columns = [assembly.columns[joints[slot]] for slot in placement.slots]
                rows = np.arange(assembly.num_robots)[:, None] * num_dofs
                places = (rows + np.asarray(columns)).ravel().astype(np.uint32)
                shapes: list[tuple[int, ...]] = [(pipeline.depth, pipeline.count)] * (3 if pipeline.depth else 0)
                for _, _, one, _ in pipeline.remembered(placement):
                    shapes.append(one.shape_of(pipeline.count))
                network = self._network_of(step, pipeline, step.plan.dof_names[placement.slots[0]])
                part = _Part(step, placement, pipeline, columns, places, first, network, shapes)
                self._parts.append(part)
                first += part.size
        self._size = first
        # the tensor of states after the last step, None where nothing goes back
        self._remembered: Any = None

    @property
    def parameters(self) -> list[str]:
        """Names of all parameters, weights of networks aside."""
        return list(dict.fromkeys(name for part in self._parts for name, _ in part.pipeline.rows))

    def weights(self, column: int) -> dict[str, Any]:
        """Copies of the weights of the network that drives a column, requiring gradients; none without one."""
        network = next((part.network for part in self._parts if column in part.columns), None)
        if network is None:
            return {}
        values = {name: network.weights.of(inner, network.weights.numbers) for name, inner in network.names.items()}
        return {name: self._torch.tensor(array, requires_grad=True) for name, array in values.items()}

    def network(self, column: int) -> tuple[Network, dict[str, Any]]:
        """The network that drives a column with its weights as they are now, and what its file says besides."""
        network = next(part.network for part in self._parts if column in part.columns)
        controller = next(actuator.controller for actuator, columns in self._actuators() if column in columns)
        assert network is not None
        return network.weights.network(), controller.checkpoint.metadata

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
        """Give the actuators these parameters from the next step on.

        Returns:
            The same as tensors `(robots, DOFs)`; weights as they are.

        Raises:
            ValueError: No actuator has one of that name, or it has another shape, type or range.
        """
        found: dict[str, Any] = {}
        shape = self._assembly.num_robots, self._num_dofs
        weights: dict[str, tuple[_Network, str]] = {}
        for network in self._networks if parameters else ():
            weights |= {name: (network, inner) for name, inner in network.names.items()}
        changed: dict[_Network, dict[str, np.ndarray]] = {}
        for name, given in parameters.items():
            if name not in weights and name not in self.parameters:
                raise ValueError(
                    f"parameter {name!r}: must be one of {[*self.parameters, *weights]}. Correct the name."
                )
            if not isinstance(given, self._torch.Tensor) or given.dtype is not self._torch.float32:
                raise ValueError(f"parameter {name!r} = {given!r}: must be a tensor of float32. Convert it.")
            if name in weights:
                network, inner = weights[name]
                changed.setdefault(network, {})[inner] = _weight(name, given, network.weights.shapes[inner])
                found[name] = given
                continue
            try:
                found[name] = given.expand(shape)
            except RuntimeError as error:
                raise ValueError(
                    f"parameter {name!r} has shape {tuple(given.shape)}: must be one that {shape}, (robots, DOFs), can "
                    "be made of. Reshape it."
                ) from error
        for network, arrays in changed.items():
            network.change(arrays)
        for name in [one for one in found if one not in weights]:
            self._set_parameter(name, found[name].detach().numpy())
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

    # inside

    def _set_parameter(self, name: str, values: np.ndarray) -> None:
        """Give all components that have a parameter these values, `(robots, DOFs)`."""
        for actuator, columns in self._actuators():
            for component in actuator.stages:
                if name in component.PARAMETERS:
                    setattr(component, name, warp_view(np.ascontiguousarray(values[:, columns]).ravel()))

    # inside, for the function

    def forward(self, dt: float, run: Any, names: tuple[str, ...], tensors: Sequence[Any]) -> tuple[Any, Any, _Taken]:
        """Efforts, the tensor of states, and what was noted."""
        signals = [None if one is None else _flat(one) for one in tensors[:_SIGNALS]]
        notes = [self._note(part, signals, dt) for part in self._parts]
        efforts = run().clone()
        remembered = self._torch.zeros(()).expand(self._size)
        shapes = [None if one is None else one.shape for one in tensors]
        numbers = [part.network and part.network.weights.numbers for part in self._parts]
        return efforts, remembered, _Taken(notes, numbers, shapes, names)

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
        for part, note, numbers in zip(self._parts, taken.notes, taken.numbers, strict=True):
            by_numbers = None
            if part.network is not None and numbers is not None:
                part.network.go_back(part.pipeline.network_core, numbers)
                if any(named.get(name) is not None for name in part.network.names):
                    by_numbers = np.zeros_like(numbers)
            given = {
                name: np.zeros(part.pipeline.count, np.float32)
                for name, _ in part.pipeline.rows
                if named.get(name) is not None
            }
            states, places = part.split(remembered), part.places
            part.pipeline.notes.back(
                note,
                [efforts, None],
                places,
                signals,
                [places] * _SIGNALS,
                [given.get(name) for name, _ in part.pipeline.rows],
                states,
                states,
                by_numbers,
            )
            if part.network is not None and by_numbers is not None:
                for name, inner in part.network.names.items():
                    if named.get(name) is not None:
                        named[name].numpy()[...] += part.network.weights.of(inner, by_numbers)
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
                rings = [np.ascontiguousarray(numpy_view(getattr(now, name))[:, at]) for name in _BUFFERS]
                lag = pipeline.values_of(plan.lag)
            remembered = pipeline.remembered(part.placement)
            laws = [np.ascontiguousarray(numpy_view(now.laws[law][k])[at]) for law, k, _, at in remembered]
            none = np.zeros(0, np.int32)
            pushes = numpy_view(now.num_pushes)[pipeline.places(plan.delayed)] if pipeline.depth else none
            state = pipeline.state(rings, pushes, numpy_view(now.write_idx), laws)
        return pipeline.notes.note(signals, [places] * _SIGNALS, pipeline.values(), state, lag, dt)

    def _network_of(self, step: NativeStep, pipeline: Pipeline, joint: str) -> _Network | None:
        """What is known here of the network of an actuator."""
        law = pipeline.network
        if law is None:
            return None
        found = next((one for one in self._networks if one.law == law), None)
        if found is None:
            found = _Network(joint, law, Weights(law.data), [], {})
            self._networks.append(found)
        core = step.networks[[one.law for one in step.plan.networks].index(law)]
        if core not in found.steps:
            found.steps.append(core)
        return found

    def _actuators(self) -> list[tuple[Any, list[int]]]:
        """Each actuator and its columns."""
        columns = iter(self._assembly.columns)
        return [(one, [next(columns) for _ in one.dof_names]) for one in self._assembly.actuators]


_BUFFERS = ("buffer_pos", "buffer_vel", "buffer_act")


def _flat(tensor: Any) -> np.ndarray:
    """A tensor as NumPy has it, row after row; over the same memory where its rows lie so."""
    return tensor.detach().contiguous().numpy().reshape(-1)


def _weight(name: str, given: Any, shape: tuple[int, ...]) -> np.ndarray:
    """A weight as NumPy has it."""
    if tuple(given.shape) != shape:
        raise ValueError(
            f"parameter {name!r} has shape {tuple(given.shape)}: must be {shape}. Take those of weights()."
        )
    values = given.detach().numpy()
    if not np.isfinite(values).all():
        raise ValueError(f"parameter {name!r}: must be finite. Train with a smaller learning rate.")
    return values


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
