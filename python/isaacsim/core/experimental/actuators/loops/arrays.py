"""`ActuatedArrays`: actuators on arrays of NumPy, Warp, Torch or JAX, in a loop of one's own."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import warp as wp

from ..base.memory import Array, Tensor, apart, overlap
from ..base.saving import whole_file
from ..base.untraced import leave_out, untraced
from ..base.values import Indices
from ..engine.step.binding import Columns
from ..specs.arguments import path_of
from ..specs.effort_modes import EffortModes
from .actuated import Actuated, AnyMotors
from .foreign import AnyArray, copied_back, given_back, is_immutable, library, recognizer, taken, viewed

if TYPE_CHECKING:
    import numpy as np

    from .torch_gradients import TorchGradients

_NAMES = ("q", "qd", "q_target", "qd_target", "feedforward", "out")
# number of sets of arrays that stay bound if they can only be recognized by identity
_KEPT = 4
_INFINITY = float("inf")


_Array = TypeVar("_Array", bound=AnyArray)

Given = tuple[AnyArray, AnyArray, AnyArray, AnyArray | None, AnyArray | None, AnyArray | None]
"""Positions, velocities, both targets, feedforward and efforts, None for absent ones."""


@dataclass(eq=False, slots=True)
class _Bound:
    """The binding of a set of arrays."""

    bindings: list[Columns]
    # its own efforts in the caller's form; None if that is made after each step, or `out` was given
    result: Tensor
    # True for the same arrays with the same layout, as some can be reshaped and stay the same objects; or True for
    # others with the same layout, which it binds
    recognize: Callable[..., bool]


class ActuatedArrays(Actuated):
    """Actuators on arrays of one's own: positions, velocities and targets in, efforts out.

    Arrays are of NumPy, Warp, Torch, JAX or any other library with DLPack, float32, of shape `(num_robots, DOFs)`, or
    `(DOFs,)` of one robot; rows may have any pitch. They are read in place, on `device`, without copies. On the CPU,
    new arrays of NumPy, Torch and JAX with the layout of the step before are about as fast as the same ones; of other
    libraries and on a GPU, arrays that are given again are recognized and new ones are slower.

    Args:
        dof_names: Names of the joints, one per column.
        motors: Motors by pattern of joint names, as for `ArticulationActuators.from_configs`, or pairs of an
            `ActuatorConfig` and a joint name, as for `from_actuators`. Armature and friction of motors are in
            `joint_properties`, for the simulator.
        num_robots: Number of rows.
        device: Device of the arrays, as Warp names it.
        requires_grad: Whether efforts of tensors that require gradients have them, by positions, velocities, targets,
            feedforward and the parameters of `step`; on the CPU, with Torch. Gradients propagate through the states of
            laws, networks and delays to the last `reset` or `detach`.
        effort_mode: "explicit", as a motor controller computes efforts, or "implicit", those of the end of the physics
            step, which are stable at any gain; for all joints, or by pattern. None keeps what the motors have. The
            inertia of joints is that of `set_mass_matrix`, or else of `ImplicitConfig`.

    Raises:
        ValueError: A joint name or pattern that does not fit, no motor, or an array of the wrong length.
        NotImplementedError: `requires_grad` is True for what has no gradients: a component that computes by code of its
            own instead of a `LAW`, a network that Torch runs or that takes a column of the caller's, a network without
            the native core, or a GPU.
        ModuleNotFoundError: `requires_grad` is True, and Torch is not installed.

    Example:
        >>> import numpy as np
        >>> from isaacsim.core.experimental.actuators import ActuatedArrays, PDControlConfig
        >>> leg = ActuatedArrays(["hip", "knee"], {"knee": [PDControlConfig(80.0, 2.0)]})
        >>> q, qd, target = np.zeros((3, 2), np.float32)
        >>> target[:] = 0.5
        >>> print(leg.step(q, qd, target, 0.005))
        [ 0. 40.]
    """

    def __init__(
        self,
        dof_names: Sequence[str],
        motors: AnyMotors,
        num_robots: int = 1,
        *,
        device: object = "cpu",
        requires_grad: bool = False,
        effort_mode: EffortModes | None = None,
    ) -> None:
        super().__init__(dof_names, motors, num_robots, device, effort_mode)
        self._gradients: TorchGradients | None = None
        if requires_grad:
            # imports Torch
            from .torch_gradients import TorchGradients

            self._gradients = TorchGradients(self._assembly, len(self._names))
        self._shape = self._num_robots, len(self._names)
        # without a reference to self, which is collected when unreferenced
        self._view = functools.partial(viewed, shape=self._shape)
        self._nothing = self._zeros()
        self._own = self._zeros()
        # those of the step before; see `_Bound`
        self._recognize: Callable[..., bool] = _nothing_known
        self._result: Tensor = None
        # by the identity of arrays, which their recognizer keeps alive
        self._bound: dict[tuple[int, ...], _Bound] = {}
        # the efforts in the form of each library and number of dimensions
        self._forms: dict[tuple[str, int], Tensor] = {}

    @untraced
    def step(
        self,
        q: _Array,
        qd: AnyArray,
        q_target: AnyArray,
        dt: float,
        *,
        qd_target: AnyArray | None = None,
        feedforward: AnyArray | None = None,
        out: _Array | None = None,
        parameters: Mapping[str, object] | None = None,
    ) -> _Array:
        """Compute the efforts of the coming physics step.

        Tensors of Torch that require gradients are detached unless this was made with `requires_grad`. On a GPU the
        work is queued on Warp's stream, which is synchronized with the default stream of other libraries.

        Args:
            q: Positions [rad or m].
            qd: Velocities [rad/s or m/s].
            q_target: Position targets [rad or m].
            dt: Physics step [s].
            qd_target: Velocity targets [rad/s or m/s]; None means 0.
            feedforward: Efforts that are passed through delay, controller and clamps [N·m or N]; None means 0.
            out: Array for the efforts; columns without a motor are not changed. It may be one of the other arrays, and
                must not overlap one partly. None means an array of its own.
            parameters: Tensors of Torch by name of a parameter, as `kp`, for all actuators with one of that name from
                now on, of a shape that expands to `(robots, DOFs)`; weights of networks by the names of `weights`. For
                those made with `requires_grad`.

        Returns:
            The efforts [N·m or N], of the library and shape of `q`, on `device`, 0 without a motor: `out`, or the same
            array in each step. For JAX, whose arrays are immutable, and with gradients, a new one each time.

        Raises:
            ValueError: By name: an array has another shape, type, device or layout, `out` is one of JAX or given with
                gradients, a parameter does not fit, or `dt` is not a finite number > 0.
            RuntimeError: It was closed.
        """
        if self._gradients is not None:
            return self._step_back(self._gradients, (q, qd, q_target, qd_target, feedforward, out), dt, parameters)
        if parameters is not None:
            raise ValueError("parameters: must be given to actuators made with requires_grad = True. Make them so.")
        if self._recognize(q, qd, q_target, qd_target, feedforward, out) and 0.0 < dt < _INFINITY:
            self._assembly.step(dt)
            if out is not None:
                return out
            return self._copied(q) if self._result is None else self._result
        return self._step((q, qd, q_target, qd_target, feedforward, out), dt)

    def detach(self) -> None:
        """Stop gradients here, as between two parts of a long run."""
        if self._gradients is not None:
            self._gradients.forget()

    def weights(self, dof_name: str) -> dict[str, Tensor]:
        """Return the current weights of the network that drives a joint.

        Args:
            dof_name: Name of the joint. Joints whose motors have the same network have the same weights.

        Returns:
            Tensors of Torch that require gradients, copies, by names that begin with that of the network's first joint:
            `knee.1.weight`. They act when passed to `step` among its `parameters`.

        Raises:
            ValueError: There is no such joint, it has no network, or this was made without `requires_grad`.
        """
        if self._gradients is None:
            raise ValueError("weights: must be asked of actuators made with requires_grad = True. Make them so.")
        if dof_name not in self._names:
            raise ValueError(f"dof_name = {dof_name!r}: must be one of {list(self._names)}. Correct the name.")
        found = self._gradients.weights(self._names.index(dof_name))
        if not found:
            raise ValueError(f"dof_name = {dof_name!r}: must be a joint that a network drives. Name another.")
        return found

    def save_network(self, dof_name: str, path: str | os.PathLike[str]) -> None:
        """Write the network that drives a joint with its current weights, for `NeuralControlConfig`.

        Args:
            dof_name: Name of the joint.
            path: `.safetensors`, or `.onnx` with the extra `nets`.

        Raises:
            ValueError: As `weights`, or the path has another extension, or the package for it is missing.
            OSError: It cannot be written; an existing file stays.
        """
        # imported on use
        from ..files.networks.convert import WRITERS

        write = WRITERS.get(path_of("path", path).suffix.lower())
        if write is None:
            raise ValueError(f"{path}: must end with {' or '.join(WRITERS)}. Rename the file.")
        self.weights(dof_name)
        assert self._gradients is not None
        with whole_file(path) as written:
            written.write_bytes(write(*self._gradients.network(self._names.index(dof_name))))

    @untraced
    def reset(self, *, indices: Indices = None) -> None:
        """Reset delays, integrals and faults.

        Args:
            indices: Robot indices or mask; None means all. A mask that is a Warp array on the GPU of the actuators
                stays there, without synchronization.

        Raises:
            ValueError: An index is out of range.
            RuntimeError: It was closed.
        """
        super().reset(indices=indices)
        if self._gradients is not None:
            self._gradients.forget(None if indices is None else self._chosen(indices))

    def restore_state(self, saved: Mapping[str, np.ndarray]) -> None:
        """Restore what `save_state` returned; see `ActuatorSet.restore_state`. Gradients stop here."""
        super().restore_state(saved)
        self.detach()

    def close(self) -> None:
        """Release the arrays and the given components, which keep their values."""
        # so that the next step checks
        self._recognize, self._bound = _nothing_known, {}
        super().close()

    def _step(self, given: Given, dt: float) -> Tensor:
        # Torch may have been imported since
        leave_out()
        return self._step_anew(given, dt)

    @untraced
    def _step_anew(self, given: Given, dt: float) -> Tensor:
        self._require_step(dt)
        self._take(given)
        self._assembly.step(dt)
        if given[5] is not None:
            return given[5]
        return self._copied(given[0]) if self._result is None else self._result

    @untraced
    def _step_back(
        self, gradients: TorchGradients, given: Given, dt: float, parameters: Mapping[str, object] | None
    ) -> Tensor:
        """Step with gradients in Torch, if any are needed."""
        self._require_step(dt)
        named = gradients.set(parameters or {})
        if not gradients.wants((*given[:5], *named.values())):
            gradients.forget()
            return self._step(given, dt)
        if given[5] is not None:
            raise ValueError(
                "out: must not be given where there are gradients, for each step has its own. Leave it out."
            )
        if odd := [
            name for name, one in zip(_NAMES, given, strict=True) if one is not None and library(one) != "torch"
        ]:
            raise ValueError(f"{odd[0]}: must be a tensor of Torch where there are gradients. Convert it.")
        # checked before anything is recorded
        self._take(given)
        result = self._result

        def run() -> Tensor:
            self._assembly.step(dt)
            return result

        return gradients.step(given[:5], named, dt, run)

    def _take(self, given: Given) -> None:
        """Bind these arrays from now on."""
        if self._recognize(*given):
            return
        # after an error nothing is recognized
        self._recognize = _nothing_known
        key = tuple(map(id, given))
        bound = self._bound.get(key)
        if bound is not None and bound.recognize(*given):
            self._assembly.rebind(bound.bindings)
        else:
            bound = self._bind(given)
            self._assembly.rebind(bound.bindings)
            follow = self._assembly.follower(given, self._view)
            if follow is not None:
                bound.recognize = follow
            elif not is_immutable(given[0]):
                # immutable arrays are not given again
                self._bound[key] = bound
                if len(self._bound) > _KEPT:
                    del self._bound[next(iter(self._bound))]
        self._result, self._recognize = bound.result, bound.recognize

    def _bind(self, given: Given) -> _Bound:
        """Return the binding of arrays; a `ValueError` names one that does not fit."""
        q, out = given[0], given[5]
        inputs = [
            self._nothing if array is None and k > 2 else self._rows(array, _NAMES[k])
            for k, array in enumerate(given[:5])
        ]
        if out is not None:
            if is_immutable(out):
                raise ValueError("out is an array of JAX: must be one that can be written to. Leave it out.")
            efforts, result = self._rows(out, "out"), None
            for array, name in zip(inputs, _NAMES, strict=False):
                if overlap(efforts, array):
                    raise ValueError(
                        f"out overlaps {name}: must share no memory with it, or be the same array. Give another."
                    )
        else:
            efforts, result = self._own, None if is_immutable(q) else self._form(q)
        bindings = self._assembly.bindings(self._columns, inputs, efforts, _NAMES)
        return _Bound(bindings, result, recognizer(given))

    def _rows(self, array: object, name: str) -> Array:
        """Return an array as one of NumPy or Warp, with a row per robot."""
        rows = taken(array, name)
        shape = tuple(rows.shape)
        if self._num_robots == 1 and shape == self._shape[1:]:
            rows = rows.reshape(self._shape)
        elif shape != self._shape:
            also = f" or {self._shape[1:]}" if self._num_robots == 1 else ""
            raise ValueError(f"{name} has shape {shape}: must be (robots, DOFs) = {self._shape}{also}. Reshape it.")
        return rows

    def _form(self, like: AnyArray) -> Tensor:
        """Return its own efforts, of the library and number of dimensions of an array."""
        key = library(like), like.ndim
        if key not in self._forms:
            self._forms[key] = given_back(self._own_like(like), like)
        return self._forms[key]

    def _copied(self, like: AnyArray) -> Tensor:
        """Return a copy of its own efforts, of the library and number of dimensions of an array."""
        return copied_back(self._own_like(like), like)

    def _own_like(self, like: AnyArray) -> Array:
        """Return its own efforts with as many dimensions as an array."""
        return self._own if like.ndim == 2 else self._own.reshape(self._shape[1:])

    def _zeros(self) -> Array:
        if self._device.is_cpu:
            return apart(self._shape)
        return wp.zeros(self._shape, dtype=wp.float32, device=self._device)


def _nothing_known(*_: object) -> bool:
    return False
