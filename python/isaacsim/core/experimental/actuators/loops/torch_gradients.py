"""Gradients of `ActuatedArrays` for Torch: a `torch.autograd.Function` around the step.

The states of the actuators are represented by one tensor without numbers, which is passed from step to step: its
gradients are those of the delays' rings and of the laws' states, and it keeps the steps in order.
"""

# pyright: reportMissingImports=false

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.memory import numpy_view, warp_view
from ..engine.actuator import Actuator
from ..engine.assembly import Assembly
from ..engine.gradients.actuator_gradients import Pipeline, require_gradients
from ..engine.gradients.gradient_recorder import States, StepGradients, StepInputs, refuse
from ..engine.linkages import PlannedLinkage
from ..engine.plan import Placement
from ..engine.step.native import NativeStep
from ..laws.contract.law import LawClass
from ..laws.networks.network import Network
from ..laws.networks.network_law import NetworkLaw
from ..laws.networks.weights import Weights
from ..specs.signals import SIGNALS
from .shaft_gradients import ShaftGradients

if TYPE_CHECKING:
    from torch import Tensor

    from ..engine.step.interface import Step

_SIGNALS = 5


@dataclass(eq=False)
class _Network:
    """A network of some of the actuators, named by the first joint that it drives."""

    joint: str
    law: NetworkLaw
    weights: Weights
    # compiled, in the steps and on the way back with its numbers
    steps: list[Any]
    back: dict[Any, np.ndarray]

    @property
    def names(self) -> dict[str, str]:
        """Names of the weights among all parameters, and in the network."""
        return {f"{self.joint}.{name}": name for name in self.weights.shapes}

    def change(self, values: Mapping[str, np.ndarray]) -> None:
        """Use these numbers from the next step on."""
        self.weights.change(values)
        for core in self.steps:
            core.set(self.weights.numbers)

    def add(self, numbers: np.ndarray, named: Mapping[str, np.ndarray]) -> None:
        """Add gradients by its numbers to those by its weights, as far as these are needed."""
        for name, inner in self.names.items():
            if name in named:
                named[name][...] += self.weights.of(inner, numbers)

    def go_back(self, core: Any, numbers: np.ndarray) -> None:
        """Use these numbers on the way back."""
        if self.back.get(core) is not numbers:
            core.set(numbers)
            self.back[core] = numbers


@dataclass(eq=False)
class _Part:
    """One actuator: its gradients, its columns, and its piece of the tensor of states."""

    step: Step
    placement: Placement
    pipeline: Pipeline
    # its columns, and its places in the flattened arrays
    columns: list[int]
    places: np.ndarray
    first: int
    # the network that is its controller, if it is one
    network: _Network | None
    # of the three rings and of the states of its laws; axis 1 runs over the joints if there are several axes
    shapes: list[tuple[int, ...]]

    @property
    def size(self) -> int:
        """Number of its states."""
        return sum(map(math.prod, self.shapes))

    def split(self, states: np.ndarray | None) -> list[Any]:
        """Return its pieces of a flat array: the three rings, then the states of its laws; Nones of None."""
        if states is None:
            return [None] * len(self.shapes)
        pieces, at = [], self.first
        for shape in self.shapes:
            pieces.append(states[at : at + math.prod(shape)].reshape(shape))
            at += pieces[-1].size
        return pieces

    def go_back(self, note: object, numbers: np.ndarray | None, gradients: _Gradients) -> None:
        """Add the gradients of the step of a note to those for its inputs, with the weights that it had then."""
        named, pipeline = gradients.named, self.pipeline
        by_numbers = None
        if self.network is not None and numbers is not None:
            self.network.go_back(pipeline.network_core, numbers)
            by_numbers = np.zeros_like(numbers) if named.keys() & self.network.names else None
        given = {name: np.zeros(pipeline.count, np.float32) for name, _ in pipeline.rows if name in named}
        states = self.split(gradients.states)
        by = StepGradients(
            efforts=[gradients.efforts, None],
            effort_index=self.places,
            signals=gradients.signals,
            indices=[self.places] * _SIGNALS,
            parameters=pipeline.in_order(given),
            after=states,
            before=states,
            numbers=by_numbers,
        )
        pipeline.recorder.back(note, by)
        if self.network is not None and by_numbers is not None:
            self.network.add(by_numbers, named)
        for name, values in given.items():
            named[name][:, self.columns] += values.reshape(-1, len(self.columns))


@dataclass(eq=False)
class _Gradients:
    """Gradients of a step: those by its efforts, and arrays to which the others are added."""

    efforts: np.ndarray
    # by positions, velocities, both targets and feedforward; None for those not needed
    signals: list[np.ndarray | None]
    # by parameters and weights that are needed
    named: dict[str, np.ndarray]
    # by states, flat: those after the step, and then those before
    states: np.ndarray | None


@dataclass(eq=False)
class _Taken:
    """Notes of a step, and the form of its gradients."""

    notes: list[object]
    # of the network of each part
    numbers: list[np.ndarray | None]
    shapes: list[tuple[int, ...] | None]
    names: tuple[str, ...]
    # whether efforts of shafts reach the joints; None without linkages
    acting: np.ndarray | None


class TorchGradients:
    """Steps with gradients in Torch; a `NotImplementedError` if a law has none, a `ModuleNotFoundError` without it."""

    def __init__(self, assembly: Assembly, num_dofs: int) -> None:
        import torch

        self._torch, self._assembly, self._num_dofs = torch, assembly, num_dofs
        self._parts: list[_Part] = []
        self._networks: list[_Network] = []
        self._size = 0
        linkages: list[tuple[PlannedLinkage, list[int]]] = []
        for joints, step in assembly.parts:
            self._require_gradients(step)
            for linkage in getattr(step.plan, "linkages", ()):
                linkages.append((linkage, [assembly.columns[joints[slot]] for slot in linkage.slots]))
            for placement in step.plan.placements:
                part = self._part(step, placement, [assembly.columns[joints[slot]] for slot in placement.slots])
                self._parts.append(part)
                self._size += part.size
        self._shafts = ShaftGradients(linkages, num_dofs)
        # the tensor of states after the last step, None if there are no gradients
        self._states: Tensor | None = None

    def _require_gradients(self, step: Step) -> None:
        """Raise unless a step has gradients in Torch."""
        label = step.plan.labels[0] if hasattr(step, "plan") else "actuators"
        remedy = "Leave it out, or step an Actuator on a wp.Tape"
        device = self._assembly.device
        if not device.is_cpu:
            where = f"tensors must be on the CPU for gradients in Torch, and the actuators are on {device}"
            refuse(label, f"{where}. {remedy}")
        require_gradients(label, step, linked=True)
        # signals of an effort mode are constants here
        laws = [law for law, _ in step.plan.laws if law.END is None]
        if asked := [name for name in step.plan.asked if _has_gradient(name, laws)]:
            why = f"in Torch the signals {asked}, which its laws ask for, have no gradients"
            refuse(label, f"{why}. {remedy}")
        if step.plan.networks and not isinstance(step, NativeStep):
            why = "in Torch a network has gradients in the native core only, which knows no law of one's own"
            refuse(label, f"{why}. {remedy}")

    def _part(self, step: Any, placement: Placement, columns: list[int]) -> _Part:
        """Return one actuator of a step, whose joints are in some columns."""
        pipeline = Pipeline(step, placement.slots)
        rows = np.arange(self._assembly.num_robots)[:, None] * self._num_dofs
        places = (rows + np.asarray(columns)).ravel().astype(np.uint32)
        shapes: list[tuple[int, ...]] = [(pipeline.depth, pipeline.count)] * (3 if pipeline.depth else 0)
        shapes += [one.shapes_of(pipeline.count)[k] for _, k, one, _ in pipeline.law_states(placement)]
        network = self._network_of(step, pipeline, step.plan.dof_names[placement.slots[0]])
        return _Part(step, placement, pipeline, columns, places, self._size, network, shapes)

    @property
    def parameters(self) -> list[str]:
        """Names of all parameters, weights of networks aside."""
        return list(dict.fromkeys(name for part in self._parts for name, _ in part.pipeline.rows))

    def weights(self, column: int) -> dict[str, Tensor]:
        """Return copies of the weights of the network of a column, which require gradients; none without network."""
        network = next((part.network for part in self._parts if column in part.columns), None)
        if network is None:
            return {}
        values = {name: network.weights.of(inner, network.weights.numbers) for name, inner in network.names.items()}
        return {name: self._torch.tensor(array, requires_grad=True) for name, array in values.items()}

    def network(self, column: int) -> tuple[Network, dict[str, object]]:
        """Return the network of a column with its current weights, and the metadata of its file."""
        network = next(part.network for part in self._parts if column in part.columns)
        controller = next(actuator.controller for actuator, columns in self._actuators() if column in columns)
        assert network is not None
        return network.weights.network(), controller.checkpoint.metadata

    def wants(self, tensors: Sequence[Tensor | None]) -> bool:
        """Return True if a step with these tensors needs gradients."""
        if not self._torch.is_grad_enabled():
            return False
        return self._states is not None or any(getattr(one, "requires_grad", False) for one in tensors)

    def forget(self, robots: object = None) -> None:
        """Stop gradients here; of some robots, those by their states."""
        if self._states is None:
            return
        if robots is None:
            self._states = None
            return
        kept = np.ones(self._size, np.float32)
        for part in self._parts:
            for piece in part.split(kept):
                before = piece.shape[: piece.ndim > 1]
                by_robot = piece.reshape(*before, self._assembly.num_robots, -1)
                by_robot[(*[slice(None)] * len(before), robots)] = 0
        self._states = self._states * self._torch.from_numpy(kept)

    def set(self, parameters: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Set parameters and return them, `(robots, DOFs)` but weights; a `ValueError` for what does not fit."""
        found: dict[str, Tensor] = {}
        weights: dict[str, tuple[_Network, str]] = {}
        for network in self._networks if parameters else ():
            weights |= {name: (network, inner) for name, inner in network.names.items()}
        changed: dict[_Network, dict[str, np.ndarray]] = {}
        for name, given in parameters.items():
            self._require_parameter(name, given, weights)
            if name in weights:
                network, inner = weights[name]
                changed.setdefault(network, {})[inner] = _weight(name, given, network.weights.shapes[inner])
                found[name] = given
            else:
                found[name] = self._expanded(name, given)
        # nothing is changed before all are checked
        for network, arrays in changed.items():
            network.change(arrays)
        for name in [one for one in found if one not in weights]:
            self._set_parameter(name, found[name].detach().numpy())
        return found

    def _require_parameter(self, name: str, given: Any, weights: Mapping[str, object]) -> None:
        if name not in weights and name not in self.parameters:
            raise ValueError(f"parameter {name!r}: must be one of {[*self.parameters, *weights]}. Correct the name.")
        if not isinstance(given, self._torch.Tensor) or given.dtype is not self._torch.float32:
            raise ValueError(f"parameter {name!r} = {given!r}: must be a tensor of float32. Convert it.")

    def _expanded(self, name: str, given: Tensor) -> Tensor:
        """Return a parameter as `(robots, DOFs)`."""
        shape = self._assembly.num_robots, self._num_dofs
        try:
            return given.expand(shape)
        except RuntimeError as error:
            raise ValueError(
                f"parameter {name!r} has shape {tuple(given.shape)}: must be one that {shape}, (robots, DOFs), can "
                "be made of. Reshape it."
            ) from error

    def step(
        self, signals: Sequence[Tensor | None], parameters: Mapping[str, Tensor], dt: float, run: Callable[[], Tensor]
    ) -> Tensor:
        """Step, and return the efforts that `run` returns as a new tensor.

        Signals are positions, velocities, both targets and feedforward, None for zero; parameters are those of `set`.
        """
        names = tuple(parameters)
        efforts, states = _function().apply(self, dt, run, names, self._states, *signals, *parameters.values())
        self._states = states if self._size and states.requires_grad else None
        return efforts

    def _set_parameter(self, name: str, values: np.ndarray) -> None:
        """Set a parameter of all components that have it, `(robots, DOFs)`."""
        for actuator, columns in self._actuators():
            for component in actuator.stages:
                if name in component.PARAMETERS:
                    setattr(component, name, warp_view(np.ascontiguousarray(values[:, columns]).ravel()))

    # inside, for the function

    def forward(
        self, dt: float, run: Callable[[], Tensor], names: tuple[str, ...], tensors: Sequence[Tensor | None]
    ) -> tuple[Tensor, Tensor, _Taken]:
        """Return efforts, the tensor of states, and the notes."""
        signals = [None if one is None else _flat(one) for one in tensors[:_SIGNALS]]
        signals = self._shafts.of_joints(signals, self._assembly.num_robots)
        notes = [self._note(part, signals, dt) for part in self._parts]
        efforts = run().clone()
        for part, note in zip(self._parts, notes, strict=True):
            part.pipeline.finish(note, part.step.now)
        states = self._torch.zeros(()).expand(self._size)
        shapes = [None if one is None else one.shape for one in tensors]
        numbers = [part.network and part.network.weights.numbers for part in self._parts]
        return efforts, states, _Taken(notes, numbers, shapes, names, self._acting(notes))

    def _acting(self, notes: Sequence[object]) -> np.ndarray | None:
        """Return whether the efforts of shafts of a step reach the joints, `(robots, columns)`; None without any."""
        if not self._shafts:
            return None
        efforts = np.zeros((self._assembly.num_robots, self._num_dofs), np.float32)
        for part, note in zip(self._parts, notes, strict=True):
            efforts.reshape(-1)[part.places] = part.pipeline.recorder.efforts(note)[0]
        return self._shafts.acting(efforts)

    def backward(self, taken: _Taken, by_efforts: Tensor, by_after: Tensor, needed: Sequence[bool]) -> tuple[Any, ...]:
        """Return the gradients by states before the step and by tensors, None for those not needed."""
        found = self._zeros(taken.shapes, needed[1:])
        named = {name: one for name, one in zip(taken.names, found[_SIGNALS:], strict=True) if one is not None}
        # in place: gradients by the states after the step become those by the states before
        before = by_after.clone() if self._size else None
        gradients = _Gradients(
            efforts=self._shafts.by_shafts(_flat(by_efforts), taken.acting),
            signals=[None if one is None else _flat(one) for one in found[:_SIGNALS]],
            named={name: one.numpy() for name, one in named.items()},
            states=None if before is None else before.numpy(),
        )
        for part, note, numbers in zip(self._parts, taken.notes, taken.numbers, strict=True):
            part.go_back(note, numbers, gradients)
        self._shafts.back_to_joints(gradients.signals, taken.acting)
        return (before if needed[0] else None, *found)

    def _zeros(self, shapes: Sequence[tuple[int, ...] | None], needed: Sequence[bool]) -> list[Tensor | None]:
        """Return tensors of zeros, None for those not needed."""
        wanted = zip(shapes, needed, strict=True)
        return [self._torch.zeros(shape) if shape is not None and one else None for shape, one in wanted]

    def _note(self, part: _Part, signals: list[np.ndarray | None], dt: float) -> object:
        pipeline, places = part.pipeline, part.places
        state, lag = None, None
        now, plan = part.step.now, part.step.plan
        if part.size:
            rings = []
            if pipeline.depth:
                at = pipeline.places(plan.delayed)
                rings = [np.ascontiguousarray(numpy_view(getattr(now, name))[:, at]) for name in _BUFFERS]
                lag = pipeline.values_of(plan.lag)
            states = pipeline.law_states(part.placement)
            laws = [np.ascontiguousarray(numpy_view(now.laws[law][k])[at]) for law, k, _, at in states]
            none = np.zeros(0, np.int32)
            pushes = numpy_view(now.num_pushes)[pipeline.places(plan.delayed)] if pipeline.depth else none
            state = States(rings, pushes, numpy_view(now.write_idx), laws)
        return pipeline.recorder.note(StepInputs(signals, [places] * _SIGNALS, pipeline.values(), state, lag, dt))

    def _network_of(self, step: NativeStep, pipeline: Pipeline, joint: str) -> _Network | None:
        """Return the network of an actuator, or None."""
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

    def _actuators(self) -> list[tuple[Actuator, list[int]]]:
        """Return each actuator and its columns."""
        columns = iter(self._assembly.columns)
        return [(one, [next(columns) for _ in one.dof_names]) for one in self._assembly.actuators]


def _has_gradient(name: str, laws: Sequence[LawClass]) -> bool:
    """Return True if a signal would need gradients: one of these laws asks for it, and it is no number of joints."""
    return not SIGNALS[name].is_number and any(name in law.ASKS for law in laws)


_BUFFERS = ("buffer_pos", "buffer_vel", "buffer_act")


def _flat(tensor: Tensor) -> np.ndarray:
    """Return a tensor as a flat NumPy array; over the same memory if it is contiguous."""
    return tensor.detach().contiguous().numpy().reshape(-1)


def _weight(name: str, given: Tensor, shape: tuple[int, ...]) -> np.ndarray:
    """Return a weight as a NumPy array."""
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
        def forward(ctx: Any, owner: Any, dt: float, run: Any, names: Any, states: Any, *tensors: Tensor) -> Any:
            efforts, after, ctx.taken = owner.forward(dt, run, names, tensors)
            ctx.owner = owner
            return efforts, after

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx: Any, *given: Tensor) -> tuple[Tensor | None, ...]:
            by_efforts, by_after = given
            by_tensors = ctx.owner.backward(ctx.taken, by_efforts, by_after, ctx.needs_input_grad[4:])
            return (None, None, None, None, *by_tensors)

    return Step
