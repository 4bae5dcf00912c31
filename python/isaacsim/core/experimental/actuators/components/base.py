"""Contracts of the three component families, as in newton.actuators 1.2.

A component holds one float32 value per actuator (`wp.array`, shape `(N,)`). Values are validated before they reach a
constructor; constructors check shapes only, because reading a device array back would synchronise.

A subclass either computes arrays itself, or offers its law as a scalar `wp.func` (`LAW`, see `law.py`): then the rest
of the contract is inherited, and a plan runs it fused with the built-in laws.

What a component remembers is an object with Warp arrays as attributes. One axis of each array runs over the actuators,
so that a plan can hold or reset those of one joint: the last one, unless the component says `STATE_AXIS = 1`, or the
state class says so array by array: `ACTUATOR_AXIS = {"hidden": 1, "counts": 0}`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Protocol, Self

import numpy as np
import warp as wp

from ..errors import NotCopied
from ..specs.arguments import require_type
from ..specs.fields import parameters_of, shown, violations
from .curve import curves_over, rows_of
from .law import clamping_kernel, controller_kernel, prepares_for_dt


class ParameterSource(Protocol):
    """A plan that holds the parameters of components."""

    def parameter(self, component: Any, attribute: str) -> wp.array:
        """The live values of a parameter, one per robot and target; from now on robots may differ."""
        ...

    def read_parameter(self, component: Any, attribute: str) -> np.ndarray:
        """The values of a parameter, copied."""
        ...

    def copied(self, component: Any, attribute: str) -> wp.array:
        """The values of a parameter in an array of their own."""
        ...

    def assign(self, component: Any, attribute: str, values: Any) -> None:
        """Copy an array into a parameter, one value per robot and target; it acts at the next step.

        Raises:
            TypeError: It is no Warp array, or one of another type.
            ValueError: It has another length.
        """
        ...


class Component(NotCopied):
    """What controllers, clamps and delays have in common."""

    _INSTEAD = "Make another one, of its config or of the arrays that read() gives; configs can be copied and pickled."

    KIND: ClassVar[str]
    """Kind of stage, of `specs/stages.py`."""
    PARAMETERS: ClassVar[tuple[str, ...]] = ()
    """Attributes that hold one value per actuator; the plan replaces them by live views of its own storage."""
    NEUTRAL: ClassVar[tuple[float, ...]] = ()
    """Value of each parameter with which the law does nothing; empty means 0 for controllers, inf for clamps."""
    STATE: ClassVar[tuple[str, ...]] = ()
    """Names of what `LAW` remembers, one number each."""
    START: ClassVar[Mapping[str, float]] = {}
    """Initial and reset values by name of the state, zero by default; see also `UNSET` in `law.py`."""
    KEPT: ClassVar[tuple[str, ...]] = ()
    """Those in `STATE` that a reset leaves as they are."""
    STATE_AXIS: ClassVar[int] = -1
    """Axis of each state array that runs over the actuators, where the state class does not say otherwise."""
    ASKS: ClassVar[tuple[str, ...]] = ()
    """Signals that `LAW` takes beyond those of its kind, of `specs/signals.py`; by itself it gets neutral ones."""
    PUBLISHES: ClassVar[Mapping[str, str]] = {}
    """By name of a signal, which of `STATE` is its value in the next step; an `UNSET` one stands for the neutral value.

    Laws get it in a plan only.
    """
    CURVES: ClassVar[Mapping[str, str]] = {}
    """Curves that `LAW` takes the values of: what each runs over by its name, "position", "velocity" or "speed".

    A tuple of names is taken, too: they run over the position. See `curve`.
    """
    PREPARE: ClassVar[Any] = None
    """Scalar `wp.func` from the parameters to what `LAW` takes of them, or None when it takes them as they are.

    One that takes `dt` behind the parameters is given the physics step [s].
    """
    LAW: ClassVar[Any] = None
    """The law as a scalar `wp.func`, or None when a method of the subclass computes arrays."""
    MOTOR: ClassVar[Any] = None
    """Scalar `wp.func` from five signals of the joint to those of the motor; transmissions only. See `law.py`."""
    _NEUTRAL: ClassVar[float] = 0.0

    parameter_source: ParameterSource | None = None
    """The plan that runs this component, if one does and knows its law."""
    # an open wrapper runs this component: another one takes a copy
    _in_use = False
    # the built-in class whose law a class made from another library's has
    _runs_as: ClassVar[Any] = None
    # rows of its curves on a device, for the law by itself
    _rows: tuple[wp.array, ...] = ()

    class State(NotCopied):
        """What a law remembers: float32 arrays `(N,)` by name."""

        _INSTEAD = "Take another one of state(), and assign this one to it or copy its arrays."

        ACTUATOR_AXIS: ClassVar[dict[str, int]] = {}
        """Axis that runs over the actuators, by name of the array; `STATE_AXIS` of the component for the others."""
        START: ClassVar[Mapping[str, float]] = {}
        """Reset values by name of the array, zero by default."""
        KEPT: ClassVar[tuple[str, ...]] = ()
        """Names of the arrays that a reset leaves as they are."""

        def __init__(self, **arrays: wp.array) -> None:
            vars(self).update(arrays)

        def reset(self, mask: wp.array | None = None) -> None:
            """Start over where `mask`, bool `(N,)`, is true; everywhere by default.

            Raises:
                ValueError: The mask is of another type or shape.
            """
            for name, array in vars(self).items():
                if name in self.KEPT:
                    continue
                start = self.START.get(name, 0.0)
                if mask is None:
                    array.fill_(start)
                else:
                    require_mask(mask, len(array), array.device, name)
                    inputs = [mask, 1, start]
                    wp.launch(clear_kernel, len(array), inputs, [array], device=array.device, record_tape=False)

    def __init_subclass__(cls, **options: Any) -> None:
        """Tell the class's states what a reset does to them, and check what its curves run over."""
        super().__init_subclass__(**options)
        if "CURVES" in vars(cls):
            cls.CURVES = curves_over(cls.__name__, cls.CURVES)
        if (cls.START or cls.KEPT) and "State" not in vars(cls):
            cls.State = type("State", (cls.State,), {"START": cls.START, "KEPT": cls.KEPT})

    def __init__(self, *values: wp.array | None, **named: wp.array | None) -> None:
        """Take one array per parameter, in their order or by name; None means zero."""
        given = dict(zip(self.PARAMETERS, values, strict=False)) | named
        if len(values) + len(named) != len(self.PARAMETERS) or set(given) != set(self.PARAMETERS):
            raise TypeError(
                f"{type(self).__name__} takes the arrays {self.PARAMETERS}, got {len(values)} and {sorted(named)}. "
                "Give each once, or write a constructor."
            )
        for name in self.PARAMETERS:
            setattr(self, name, given[name])
        present = {name: array for name, array in given.items() if array is not None}
        require_arrays(self, **present)
        for reference, expected in list(present.items())[:1]:
            require_same_shape(reference, expected, **present)

    def __getattr__(self, name: str) -> Any:
        # a parameter that the plan holds once for all robots gets an array when somebody asks for it
        if name in type(self).PARAMETERS and self.parameter_source is not None:
            return self.parameter_source.parameter(self, name)
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}.")

    def __setattr__(self, name: str, value: Any) -> None:
        # the plan reads parameters where it holds them: an array put beside them would only seem to act
        if self.parameter_source is None or name.startswith("_"):
            super().__setattr__(name, value)
        elif name in type(self).PARAMETERS:
            self.parameter_source.assign(self, name, value)
        else:
            known = ", ".join(type(self).PARAMETERS) or "none"
            raise AttributeError(
                f"{type(self).__name__}.{name} cannot be set: the plan that runs it is compiled. Its parameters can, "
                f"{known}."
            )

    def __repr__(self) -> str:
        told = ", ".join(f"{name}={_told(self, name)}" for name in self._given())
        return f"{type(self).__name__}({told})"

    def _given(self) -> list[str]:
        """Names of the parameters that have values: one that is optional may be None."""
        # what the plan holds is not asked for as an array, which would be made
        held = self if self.parameter_source is not None else None
        return [name for name in type(self).PARAMETERS if vars(self).get(name, held) is not None]

    def read(self, parameter: str) -> np.ndarray:
        """Return a copy of a parameter's values, shape `(N,)`.

        Unlike the attribute of that name it leaves a parameter that all robots share as it is, one value per joint.

        Raises:
            ValueError: There is no array of that name.
        """
        require_type("parameter", parameter, str, "the name of a parameter")
        if parameter in type(self).PARAMETERS and parameter not in vars(self) and self.parameter_source is not None:
            return self.parameter_source.read_parameter(self, parameter)
        held = getattr(self, parameter, None)
        if not isinstance(held, wp.array):
            known = ", ".join(type(self).PARAMETERS)
            raise ValueError(f"parameter = {shown(parameter)}: must be an array of the component, {known}. Name one.")
        return held.numpy().copy()

    def read_all(self) -> dict[str, np.ndarray]:
        """Return copies of the values of all parameters that have some, by name; see `read`."""
        return {name: self.read(name) for name in self._given()}

    @classmethod
    def from_config(cls, config: Any, num_actuators: int, device: Any) -> Self:
        """Return the component of a config, each value repeated for `num_actuators` actuators; see `repeated`."""
        return cls(**{name: repeated(getattr(config, name), num_actuators, device) for name in cls.PARAMETERS})

    @classmethod
    def resolve_arguments(cls, args: dict[str, Any]) -> dict[str, Any]:
        """Fill defaults into raw arguments and check their values; without an override, all are required.

        Raises:
            ValueError: A value is missing or out of range.
        """
        if missing := [name for name in cls.PARAMETERS if name not in args]:
            raise ValueError(f"{cls.__name__} lacks {missing}: has to be given. Author it or give it a default.")
        return {name: args[name] for name in cls.PARAMETERS}

    @classmethod
    def neutral(cls) -> tuple[float, ...]:
        """The value of each parameter with which the law does nothing."""
        return cls.NEUTRAL or (cls._NEUTRAL,) * len(cls.PARAMETERS)

    def curve(self, name: str) -> tuple[Sequence[float], Sequence[float]]:
        """Return points, not decreasing, and values of one of `CURVES`.

        Points are [rad or m] over the position, [rad/s or m/s] over velocity and speed.

        Raises:
            NotImplementedError: The class has none.
        """
        raise NotImplementedError(f"{type(self).__name__} has no curve {name!r}. Override curve.")

    def finalize(self, device: Any, num_actuators: int) -> None:
        """Allocate what depends on the device and the number of actuators; called once."""

    def _curves_on(self, device: Any) -> tuple[wp.array, ...]:
        """The rows of its curves; a subclass with a `finalize` of its own may not have put them on the device."""
        if len(self._rows) != len(self.CURVES):
            rows = (rows_of(self, name) for name in self.CURVES)
            self._rows = tuple(wp.array(one, dtype=wp.float32, device=device) for one in rows)
        return self._rows

    def compile(self) -> None:
        """Make what the first step needs, once `finalize` was called; steps do without it, and take longer once."""

    def is_stateful(self) -> bool:
        """Whether anything is remembered from one step to the next."""
        return bool(self.STATE)

    def state(self, num_actuators: int, device: Any) -> Any:
        """Return a fresh state, or None where nothing is remembered."""
        if not self.STATE:
            return None
        fresh = self.State(**dict(zip(self.STATE, _zeros(len(self.STATE), num_actuators, device), strict=True)))
        for name, start in self.START.items():
            getattr(fresh, name).fill_(start)
        return fresh


class Controller(Component):
    """A law that turns targets and measurements into an effort."""

    KIND: ClassVar[str] = "controller"
    SHARED_PARAMS: ClassVar[set[str]] = set()
    custom_inputs: tuple[str, ...] = ()
    """Names of arrays of the caller's that `compute` takes as `custom_inputs`, float32, one number per joint axis.

    They are looked for on the control object, or given by `set_custom_input`; of one that is not there `compute` gets
    None. A controller with names overrides `compute`.
    """
    _new_state: tuple[wp.array, ...] = ()

    def finalize(self, device: Any, num_actuators: int) -> None:
        """Allocate the state that `compute` hands to `update_state`, and put the curves on the device."""
        self._new_state = _zeros(len(self.STATE), num_actuators, device)
        self._rows = ()
        self._curves_on(device)

    @classmethod
    def kernel(cls) -> wp.Kernel:
        """The kernel of `LAW` by itself."""
        return controller_kernel(cls)

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
            NotImplementedError: The class has neither a `LAW` nor a method of its own.
        """
        if self.LAW is None:
            raise NotImplementedError(f"{type(self).__name__} has no law. Give it LAW, or override compute.")
        signals = (positions, velocities, target_pos, target_vel, feedforward)
        indices = (pos_indices, vel_indices, target_pos_indices, target_vel_indices)
        before = [getattr(state, name) for name in self.STATE]
        parameters = [getattr(self, name) for name in self.PARAMETERS]
        timed = self.STATE or prepares_for_dt(type(self))
        device = device or forces.device
        inputs = [*signals, *indices, 0.0 if dt is None and not timed else dt, *before, *parameters]
        wp.launch(
            self.kernel(),
            dim=len(forces),
            inputs=inputs + [*self._curves_on(device)],
            outputs=[*self._new_state, forces],
            device=device,
        )

    def is_graphable(self) -> bool:
        """Whether `compute` can be captured in a CUDA graph."""
        return True

    def update_state(self, current_state: Any, next_state: Any) -> None:
        """Write the state after this step into `next_state`."""
        for name, array in zip(self.STATE, self._new_state, strict=True):
            wp.copy(getattr(next_state, name), array)


class Feedback(Component):
    """What the controller sees of the joint: position and velocity as a sensor gives them; a `LAW`, in a plan only."""

    KIND: ClassVar[str] = "feedback"


class EffortStage(Component):
    """A law that makes another effort of the one it gets."""

    SHARED_PARAMS: ClassVar[set[str]] = set()

    def finalize(self, device: Any, num_actuators: int) -> None:
        """Put the curves on the device, for `modify_forces`."""
        self._rows = ()
        self._curves_on(device)

    @classmethod
    def kernel(cls) -> wp.Kernel:
        """The kernel of `LAW` by itself."""
        return clamping_kernel(cls)

    def modify_forces(
        self,
        src_forces: wp.array,
        dst_forces: wp.array,
        positions: wp.array,
        velocities: wp.array,
        pos_indices: wp.array,
        vel_indices: wp.array,
        device: Any = None,
    ) -> None:
        """Write the efforts after it [N·m or N] into `dst_forces`; both arrays have shape `(N,)`.

        Raises:
            NotImplementedError: The class has neither a `LAW` nor a method of its own, or the law has a state or is
                prepared for the physics step.
        """
        if self.LAW is None:
            raise NotImplementedError(f"{type(self).__name__} has no law. Give it LAW, or override modify_forces.")
        if self.STATE or prepares_for_dt(type(self)):
            why = f"remembers {self.STATE}" if self.STATE else "is prepared for the physics step"
            raise NotImplementedError(
                f"{type(self).__name__} {why}, which modify_forces has no place for: it runs in a "
                "plan only. Give it to ArticulationActuators or Actuator."
            )
        device = device or dst_forces.device
        wp.launch(
            self.kernel(),
            dim=len(dst_forces),
            inputs=[src_forces, positions, velocities, pos_indices, vel_indices]
            + [*(getattr(self, name) for name in self.PARAMETERS), *self._curves_on(device)],
            outputs=[dst_forces],
            device=device,
        )


class Electrical(EffortStage):
    """What the winding of a motor makes of the effort that is asked for."""

    KIND: ClassVar[str] = "electrical"


class Clamping(EffortStage):
    """A limit on the effort."""

    KIND: ClassVar[str] = "clamping"
    _NEUTRAL: ClassVar[float] = math.inf


class Thermal(Component):
    """How warm the motor gets of its effort after all limits; a `LAW` that returns its state, in a plan only."""

    KIND: ClassVar[str] = "thermal"


class Supply(Component):
    """Supply voltage under the electrical power of the robot; a `LAW` that returns only its state, in a plan only."""

    KIND: ClassVar[str] = "supply"


class Transmission(EffortStage):
    """A transmission between motor and joint, such as a gear: the laws `LAW` and `MOTOR`.

    Control law, electrical law and limits of the actuator work in the coordinates of its motor then. The other stages
    have laws, too.
    """

    KIND: ClassVar[str] = "transmission"


class Passive(EffortStage):
    """What a joint adds to the effort of its motor: friction, cogging."""

    KIND: ClassVar[str] = "passive"


@wp.kernel
def clear_kernel(mask: wp.array[bool], each: int, start: float, values: wp.array[float]):
    """Start over where the mask is true; each of those it stands for has so many numbers side by side."""
    n = wp.tid()
    if mask[(n / each) % mask.shape[0]]:  # pyright: ignore
        values[n] = start  # pyright: ignore[reportIndexIssue]


def _zeros(count: int, num_actuators: int, device: Any) -> tuple[wp.array, ...]:
    return tuple(wp.zeros(num_actuators, dtype=wp.float32, device=device) for _ in range(count))


def require_same_shape(reference: str, expected: wp.array, **arrays: wp.array | None) -> None:
    """Raise a `ValueError` that names the first array whose shape differs from that of `reference`."""
    for name, array in arrays.items():
        if array is not None and array.shape != expected.shape:
            raise ValueError(
                f"{name} has shape {array.shape}: must be that of {reference}, {expected.shape}. "
                "Give one value per actuator."
            )


def require_given(component: Component, *names: str) -> None:
    """Raise a `ValueError` that names the first of these parameters without an array."""
    require_arrays(component, **{name: getattr(component, name) for name in names})


def require_arrays(component: Component, **arrays: Any) -> None:
    """Raise a `ValueError` that names the first of these parameters that is no array."""
    for name, array in arrays.items():
        if not hasattr(array, "shape") or not hasattr(array, "dtype"):
            raise ValueError(
                f"{type(component).__name__}: {name} = {array!r}: must be an array, one value per actuator. Give it."
            )


def check_type(owner: str, name: str, array: Any) -> None:
    """Raise a `ValueError` unless an array of a parameter, of Warp or NumPy, holds numbers of its type."""
    dtype, expected = dtype_of(array), "int32" if name == "delay_steps" else "float32"
    if dtype != expected:
        raise ValueError(f"{owner}: {name} has dtype {dtype}: must be {expected}. Make the array of that type.")


def dtype_of(array: Any) -> np.dtype:
    """The type of the numbers of a NumPy or Warp array."""
    return np.dtype(wp.dtype_to_numpy(array.dtype)) if isinstance(array, wp.array) else array.dtype


def require_mask(mask: Any, num_actuators: int, device: Any, name: str = "") -> None:
    """Raise a `ValueError` unless `mask` is a Warp array of bool, one per actuator, on the device of array `name`."""
    remedy = "Pass one value per actuator, or None for all."
    if not isinstance(mask, wp.array) or mask.dtype is not wp.bool or mask.ndim != 1:
        has = f"of {mask.dtype} {mask.shape}" if isinstance(mask, wp.array) else repr(mask)
        raise ValueError(f"mask {has}: must be a one-dimensional Boolean array of Warp. {remedy}")
    if len(mask) != num_actuators:
        rule = f"mask length ({len(mask)}) must match {name} length ({num_actuators})"
        raise ValueError(f"{rule if name else f'mask has length {len(mask)}: must be {num_actuators}'}. {remedy}")
    if mask.device != device:
        raise ValueError(f"mask device {mask.device} must match {name or 'state'} device {device}. {remedy}")


def actuator_axis(component: Any, state: Any, name: str) -> int:
    """The axis of the state array `name` that runs over the actuators, for components of any origin."""
    axes = getattr(type(state), "ACTUATOR_AXIS", {})
    return axes.get(name, getattr(component, "STATE_AXIS", -1))


def repeated(value: Any, count: int, device: Any, dtype: Any = wp.float32) -> wp.array:
    """Return a new array of `count` numbers, robot-major: one for all, or one per joint, or per robot and joint."""
    row_by_row = np.resize(np.asarray(value, wp.dtype_to_numpy(dtype)), count)
    return wp.array(row_by_row, dtype=dtype, device=device)


def resolved_scalars(config_type: type, args: dict[str, Any]) -> dict[str, Any]:
    """Return `args` over the fallbacks of `config_type`, checked against its descriptions; other keys are dropped.

    Raises:
        ValueError: A value breaks its rule.
    """
    require_type("args", args, Mapping, "a dictionary")
    described = {name: one for name, one in parameters_of(config_type).items() if one.of_law}
    resolved = {name: args.get(name, one.fallback) for name, one in described.items()}
    if problems := violations(config_type(**resolved), config_type.__name__):
        raise ValueError("\n".join(problems))
    return resolved


def _told(component: Component, parameter: str) -> str:
    """The value of a parameter, or the range of its values; a device that captures a graph is not asked."""
    given = vars(component).get(parameter)
    if isinstance(given, wp.array) and wp.get_device(str(given.device)).is_capturing:
        return "…"
    values = component.read(parameter)
    if not len(values):
        return "-"
    lowest, highest = values.min(), values.max()
    return f"{lowest:g}" if lowest == highest else f"{lowest:g}…{highest:g}"
