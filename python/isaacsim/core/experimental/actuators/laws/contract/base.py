"""Base classes of components, with the interface of newton.actuators 1.2.

A parameter of a component has one float32 value per actuator (`wp.array`, shape `(N,)`). Values are validated before
they reach a constructor; constructors check shapes only, because reading a device array would synchronize.

A subclass either computes arrays itself, or declares its law as a scalar `wp.func` (`LAW`, see `law.py`). With a law it
inherits the other methods, and a plan runs the law fused with the built-in laws.

The state of a component is an object with Warp arrays as attributes. One axis of each array runs over the actuators, so
that a plan can restore or reset single joints. It is the last axis by default. A component sets it by `STATE_AXIS = 1`,
and a state class sets it per array by `ACTUATOR_AXIS = {"hidden": 1, "counts": 0}`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar, Protocol, Self

import numpy as np
import numpy.typing as npt
import warp as wp

from ...base.errors import NotCopied, shown
from ...specs.arguments import require_type
from ...specs.config import Config
from ...specs.fields import parameters_of, violations
from .curve import curves_over, rows_of
from .law import NEWEST, UNSET, clamping_kernel, controller_kernel, keeping_states, prepares_for_dt, state_names


class ParameterSource(Protocol):
    """The plans that own the parameters of components."""

    def parameter(self, component: Component, attribute: str) -> wp.array:
        """Materialize a parameter, and return its live values, one per robot and target."""
        ...

    def read_parameter(self, component: Component, attribute: str) -> np.ndarray:
        """Return a copy of the values of a parameter as a NumPy array, without materializing it."""
        ...

    def copied(self, component: Component, attribute: str) -> wp.array:
        """Return a copy of the values of a parameter as a Warp array."""
        ...

    def assign(self, component: Component, attribute: str, values: object) -> None:
        """Copy an array, one value per robot and target, into a parameter; it acts at the next step."""


class Component(NotCopied):
    """Base class of all stages of an actuator."""

    _INSTEAD = "Make another one, of its config or of the arrays that read() gives; configs can be copied and pickled."

    KIND: ClassVar[str]
    """Kind of stage, of `specs/stages.py`."""
    CONFIG: ClassVar[type[Config] | None] = None
    """Config with the fallbacks and rules of its parameters; without one, `resolve_arguments` asks for all."""
    PARAMETERS: ClassVar[tuple[str, ...]] = ()
    """Attributes with one value per actuator; the plan replaces them by live views of its own memory."""
    NEUTRAL: ClassVar[tuple[float, ...]] = ()
    """Value of each parameter with which the law does nothing; by default 0 for controllers, inf for clamps."""
    STATE: ClassVar[tuple[str, ...]] = ()
    """Names of the states of `LAW`, one number each."""
    START: ClassVar[Mapping[str, float]] = {}
    """Initial and reset values by name of the state, zero by default; see also `UNSET` in `law.py`."""
    KEPT: ClassVar[Collection[str]] = ()
    """Names in `STATE` that a reset keeps.

    A mapping from these names to others in `STATE` keeps them at the joints where the other state is not zero.
    """
    ADDED: ClassVar[Collection[str]] = ()
    """Names in `STATE` that saved states of earlier versions lack; they then are as after a reset."""
    COORDINATES: ClassVar[str] = ""
    """"joint" for a stage that acts there although its kind acts at the motor."""
    STATE_AXIS: ClassVar[int] = -1
    """Axis of state arrays that runs over the actuators, unless `ACTUATOR_AXIS` of the state class names another."""
    ASKS: ClassVar[tuple[str, ...]] = ()
    """Signals of `specs/signals.py` that `LAW` takes besides those of its kind; outside a plan they are neutral."""
    PUBLISHES: ClassVar[Mapping[str, str]] = {}
    """By name of a signal, the name in `STATE` of its value in the next step; `UNSET` becomes what `UNSET_AS` says.

    Only laws in a plan get the signal.
    """
    UNSET_AS: ClassVar[Mapping[str, str]] = {}
    """By name of a published state, the parameter that is published while it is `UNSET`; else the neutral value is."""
    RECORDED: ClassVar[Mapping[str, str]] = {}
    """By name of a signal of recordings, of `OF_STATES`, the name in `STATE` of its value after the step."""
    CURVES: ClassVar[Mapping[str, str]] = {}
    """Input of each curve whose value `LAW` takes, by name of the curve: "position", "velocity" or "speed".

    The names alone, as a tuple, stand for curves over the position. See `curve`.
    """
    USUAL: ClassVar[Mapping[str, float]] = {}
    """Values that most joints have, by the name of an argument of `LAW`: a signal of `ASKS`, or one after the state.

    The core compiles the law a second time with these values as constants, for joints that have all of them. The
    results are the same; a law that branches on such an argument skips the other branch.
    """
    COSTLY: ClassVar[tuple[str, ...]] = ()
    """Names in `USUAL` whose other values make the law slow, such as the exponent of a power.

    The core compiles the law once more with these alone as constants, for joints that have them and another usual value
    not.
    """
    COMMON: ClassVar[tuple[str, ...]] = ()
    """Names in `USUAL` beside values that often differ, and cost little: the core compiles the law with these, too."""
    RESTING: ClassVar[Mapping[str, Collection[str]]] = {}
    """By name in `STATE`, the names in `USUAL` with whose values the state rests: of a group that is absent.

    Whatever it was before, the law then gives it the same value in each step, and takes nothing else from it. After the
    first such step the core neither computes nor touches it. For laws that return nothing but their state.
    """
    LATE: ClassVar[tuple[str, ...]] = ()
    """Names of rings of past results, one per result, if the law says how late its results act; see `late.py`."""
    PREPARE: ClassVar[Any] = None
    """Scalar `wp.func` from the parameters to the arguments of `LAW`; None if these are the parameters themselves.

    With a last argument `dt` it also gets the physics step [s].
    """
    LAW: ClassVar[Any] = None
    """The law as a scalar `wp.func`; None if a method of the subclass computes arrays."""
    MOTOR: ClassVar[Any] = None
    """Scalar `wp.func` from five signals of the joint to those of the motor; transmissions only. See `law.py`."""
    TICK: ClassVar[Any] = None
    """Scalar `wp.func` that says whether the controller runs in a step; rates only. See `law.py`."""
    END: ClassVar[Any] = None
    """Scalar `wp.func` that returns what a joint does in a step without its motor; effort modes only. See `law.py`."""
    FELT: ClassVar[Any] = None
    """Scalar `wp.func` from `FELT_SIGNALS` of the joint to those that the motor feels; transmissions only."""
    _NEUTRAL: ClassVar[float] = 0.0

    parameter_source: ParameterSource | None = None
    """Owner of the parameters, if a plan runs the law of this component."""
    # True while an open wrapper runs this component; another wrapper uses a copy
    _in_use = False
    # the built-in class with the law of a class that was made from a class of another library
    _runs_as: ClassVar[type[Component] | None] = None
    # rows of its curves on a device, for the kernel of the law
    _rows: tuple[wp.array, ...] = ()

    class State(NotCopied):
        """State of a law: float32 arrays `(N,)` by name."""

        _INSTEAD = "Take another one of state(), and assign this one to it or copy its arrays."

        ACTUATOR_AXIS: ClassVar[dict[str, int]] = {}
        """Axis that runs over the actuators, by name of the array; `STATE_AXIS` of the component for the others."""
        START: ClassVar[Mapping[str, float]] = {}
        """Reset values by name of the array, zero by default."""
        KEPT: ClassVar[Collection[str]] = ()
        """Names of the arrays that a reset keeps; as a mapping, where the array of the other name is not zero."""

        def __init__(self, **arrays: wp.array) -> None:
            vars(self).update(arrays)

        def reset(self, mask: wp.array | None = None) -> None:
            """Reset the actuators in `mask`, bool `(N,)`, all by default; ValueError for another type or shape."""
            keepers = keeping_states(self.KEPT)
            for name, array in vars(self).items():
                if name in self.KEPT and name not in keepers:
                    continue
                start = self.START.get(name, 0.0)
                if mask is None and name not in keepers:
                    array.fill_(start)
                    continue
                chosen = mask if mask is not None else wp.ones(len(array), dtype=wp.bool, device=array.device)
                require_mask(chosen, len(array), array.device, name)
                kept = getattr(self, keepers[name]) if name in keepers else None
                inputs = [chosen, 1, start, kept]
                wp.launch(clear_kernel, len(array), inputs, [array], device=array.device, record_tape=False)

    def __init_subclass__(cls, **options: object) -> None:
        """Validate `CURVES`, and give the state class `START` and `KEPT`."""
        super().__init_subclass__(**options)
        if "CURVES" in vars(cls):
            cls.CURVES = curves_over(cls.__name__, cls.CURVES)
        if (cls.START or cls.KEPT or cls.LATE) and "State" not in vars(cls):
            start, kept = cls.START, cls.KEPT
            if cls.LATE:
                # rings without a newest row are empty
                start, kept = {NEWEST: UNSET, **start}, (*kept, *cls.LATE)
            names = {"__module__": cls.__module__, "__qualname__": f"{cls.__qualname__}.State"}
            axes = dict.fromkeys(cls.LATE, 1)
            cls.State = type("State", (cls.State,), {"START": start, "KEPT": kept, "ACTUATOR_AXIS": axes, **names})

    def __init__(self, *values: wp.array | None, **named: wp.array | None) -> None:
        """Set one array per parameter, in their order or by name; None means zero.

        Raises:
            TypeError: An array is missing.
            ValueError: The arrays differ in shape.
        """
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
        for name, array in present.items():
            reference = next(iter(present))
            if array.shape != present[reference].shape:
                raise ValueError(
                    f"{name} has shape {array.shape}: must be that of {reference}, {present[reference].shape}. "
                    "Give one value per actuator."
                )

    def __getattr__(self, name: str) -> wp.array:
        # reading a parameter that the plan owns materializes it
        if name in type(self).PARAMETERS and self.parameter_source is not None:
            return self.parameter_source.parameter(self, name)
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}.")

    def __setattr__(self, name: str, value: object) -> None:
        # the plan reads its own memory: another array as the attribute would have no effect
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
        values = ", ".join(f"{name}={_range_text(self, name)}" for name in self._given())
        return f"{type(self).__name__}({values})"

    def _given(self) -> list[str]:
        # not by getattr, which would materialize parameters of a plan
        held = self if self.parameter_source is not None else None
        return [name for name in type(self).PARAMETERS if vars(self).get(name, held) is not None]

    def read(self, parameter: str) -> np.ndarray:
        """Return a copy of a parameter's values, shape `(N,)`.

        Unlike reading the attribute, it does not materialize a parameter that all robots share.

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
        """Return copies of the values of all parameters with values, by name; see `read`."""
        return {name: self.read(name) for name in self._given()}

    @classmethod
    def from_config(cls, config: Any, num_actuators: int, device: wp.DeviceLike) -> Self:
        """Return the component of a config, each value repeated for `num_actuators` actuators; see `repeated`."""
        described = parameters_of(config)
        values = {name: described[name].number(getattr(config, name)) for name in cls.PARAMETERS}
        return cls(**{name: repeated(value, num_actuators, device) for name, value in values.items()})

    @classmethod
    def resolve_arguments(cls, args: dict[str, object]) -> dict[str, object]:
        """Fill the defaults of `CONFIG` into raw arguments and check them; without it, all are required.

        Raises:
            ValueError: A value is missing or out of range.
        """
        if cls.CONFIG is not None:
            require_type("args", args, Mapping, "a dictionary")
            described = {name: one for name, one in parameters_of(cls.CONFIG).items() if one.of_law}
            resolved: dict[str, Any] = {name: args.get(name, one.fallback) for name, one in described.items()}
            if problems := violations(cls.CONFIG(**resolved), cls.CONFIG.__name__):
                raise ValueError("\n".join(problems))
            return {name: described[name].number(value) for name, value in resolved.items()}
        if missing := list(itertools.filterfalse(args.__contains__, cls.PARAMETERS)):
            raise ValueError(f"{cls.__name__} lacks {missing}: has to be given. Author it or give it a default.")
        return {name: args[name] for name in cls.PARAMETERS}

    @classmethod
    def neutral(cls) -> tuple[float, ...]:
        """Value of each parameter with which the law does nothing."""
        return cls.NEUTRAL or (cls._NEUTRAL,) * len(cls.PARAMETERS)

    def curve(self, name: str) -> tuple[Sequence[float], Sequence[float]]:
        """Return points, not decreasing, and values of one of `CURVES`.

        Points are in [rad or m] over the position, in [rad/s or m/s] over velocity and speed.

        Raises:
            NotImplementedError: The class has no curves.
        """
        raise NotImplementedError(f"{type(self).__name__} has no curve {name!r}. Override curve.")

    def finalize(self, device: wp.DeviceLike, num_actuators: int) -> None:
        """Allocate arrays that depend on the device and the number of actuators; called once."""

    def _curves_on(self, device: wp.DeviceLike) -> tuple[wp.array, ...]:
        """The rows of its curves on a device; allocated here if a subclass overrides `finalize`."""
        if len(self._rows) != len(self.CURVES):
            rows = (rows_of(self, name) for name in self.CURVES)
            self._rows = tuple(wp.array(one, dtype=wp.float32, device=device) for one in rows)
        return self._rows

    def compile(self) -> None:
        """Prepare the first step, after `finalize`; without it the first step takes longer."""

    def is_stateful(self) -> bool:
        """Return True if the component has a state."""
        return bool(state_names(type(self)))

    @property
    def depth(self) -> int:
        """Number of rows of its rings of past results; 0 without them."""
        return 0

    def state(self, num_actuators: int, device: wp.DeviceLike) -> Any:
        """Return a fresh state, or None without state."""
        names = state_names(type(self))
        if not names:
            return None
        rings = {name: wp.zeros((self.depth, num_actuators), dtype=wp.float32, device=device) for name in self.LATE}
        arrays = dict(zip(names, _zeros(len(names), num_actuators, device), strict=True))
        fresh = self.State(**arrays | rings)
        for name, start in self.State.START.items():
            getattr(fresh, name).fill_(start)
        return fresh


class Controller(Component):
    """A law that computes an effort from targets and measurements."""

    KIND: ClassVar[str] = "controller"
    SHARED_PARAMS: ClassVar[set[str]] = set()
    custom_inputs: tuple[str, ...] = ()
    """Names of arrays of the caller that `compute` gets as `custom_inputs`, float32, one number per joint axis.

    They are attributes of the control object, or set by `set_custom_input`; `compute` gets None for a missing one. A
    controller with custom inputs overrides `compute`.
    """
    _new_state: tuple[wp.array, ...] = ()

    def finalize(self, device: wp.DeviceLike, num_actuators: int) -> None:
        """Allocate the state that `compute` passes to `update_state`, and copy the curves to the device."""
        self._new_state = _zeros(len(self.STATE), num_actuators, device)
        self._rows = ()
        self._curves_on(device)

    @classmethod
    def kernel(cls) -> wp.Kernel:
        """Return the kernel of `LAW` alone."""
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
        state: object,
        dt: float | None,
        device: wp.DeviceLike = None,
    ) -> None:
        """Write the efforts [N·m or N] of all actuators into `forces`, shape `(N,)`; `state` is only read.

        Raises:
            NotImplementedError: The class has no `LAW` and does not override the method.
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

    def prepare_implicit(
        self,
        positions: wp.array,
        velocities: wp.array,
        target_pos: wp.array,
        target_vel: wp.array,
        pos_indices: wp.array,
        vel_indices: wp.array,
        target_pos_indices: wp.array,
        target_vel_indices: wp.array,
        drive_state: object,
        dt: float,
        inv_mass: wp.array | None = None,
        device: wp.DeviceLike = None,
    ) -> None:
        """Change parameters before a step in the implicit effort mode; the arguments are those of newton.

        An override gets `custom_inputs` too if the controller has some, and `inv_mass`, the response of each joint to
        its own impulse [1/(kg·m²) or 1/kg], shape `(N,)`.
        """

    def is_graphable(self) -> bool:
        """Return True if `compute` can be captured in a CUDA graph."""
        return True

    def update_state(self, current_state: object, next_state: object) -> None:
        """Write the state after this step into `next_state`."""
        for name, array in zip(self.STATE, self._new_state, strict=True):
            wp.copy(getattr(next_state, name), array)


class Feedback(Component):
    """A sensor: position and velocity that the controller gets; a `LAW` that only plans run."""

    KIND: ClassVar[str] = "feedback"


class Command(Component):
    """A law that changes targets and feedforward before the controller; a `LAW` that only plans run."""

    KIND: ClassVar[str] = "command"


class EffortStage(Component):
    """A law that changes the effort."""

    SHARED_PARAMS: ClassVar[set[str]] = set()

    def finalize(self, device: wp.DeviceLike, num_actuators: int) -> None:
        """Copy the curves to the device, for `modify_forces`."""
        self._rows = ()
        self._curves_on(device)

    @classmethod
    def kernel(cls) -> wp.Kernel:
        """Return the kernel of `LAW` alone."""
        return clamping_kernel(cls)

    def modify_forces(
        self,
        src_forces: wp.array,
        dst_forces: wp.array,
        positions: wp.array,
        velocities: wp.array,
        pos_indices: wp.array,
        vel_indices: wp.array,
        device: wp.DeviceLike = None,
    ) -> None:
        """Write the changed efforts [N·m or N] into `dst_forces`; both arrays have shape `(N,)`.

        Raises:
            NotImplementedError: The class has no `LAW` and does not override the method, or the law has a state or is
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


class Rate(EffortStage):
    """How often the controller, and what comes before it, run: the laws `LAW`, which holds the effort, and `TICK`."""

    KIND: ClassVar[str] = "rate"


class EffortDelay(EffortStage):
    """A delay of the effort between the controller and the motor; a `LAW` that only plans run."""

    KIND: ClassVar[str] = "effort_delay"


class EffortLag(EffortStage):
    """A lag of the effort between controller and motor."""

    KIND: ClassVar[str] = "effort_lag"


class EffortMode(Component):
    """When efforts are computed: the laws `LAW`, which remembers, and `END`; plans run it."""

    KIND: ClassVar[str] = "effort_mode"


class Electrical(EffortStage):
    """The winding of a motor: effort from the commanded effort."""

    KIND: ClassVar[str] = "electrical"


class Clamping(EffortStage):
    """A limit on the effort."""

    KIND: ClassVar[str] = "clamping"
    _NEUTRAL: ClassVar[float] = math.inf


class Losses(Component):
    """Losses of the motor beside the heat of its current; a `LAW` that returns its state, which plans run."""

    KIND: ClassVar[str] = "losses"


class Thermal(Component):
    """Temperature of the motor under its effort after all limits; a `LAW` that returns its state, which plans run."""

    KIND: ClassVar[str] = "thermal"


class Supply(Component):
    """Supply voltage under the electrical power of the robot; a `LAW` that returns its state, which plans run."""

    KIND: ClassVar[str] = "supply"


class Transmission(EffortStage):
    """A transmission between motor and joint, such as a gear: the laws `LAW` and `MOTOR`.

    Control law, electrical law and limits of such an actuator work in the coordinates of its motor. All its stages have
    a `LAW`.
    """

    KIND: ClassVar[str] = "transmission"


class Shaft(EffortStage):
    """What acts on a shaft that moves several joints, before these: friction of a tendon, inertia."""

    KIND: ClassVar[str] = "shaft"


class Linkage(EffortStage):
    """The linkage between the shafts of some motors and their joints; only plans run it, on all its joints together."""

    KIND: ClassVar[str] = "linkage"


class Passive(EffortStage):
    """An effort of the joint that is added to the effort of its motor: friction, cogging."""

    KIND: ClassVar[str] = "passive"


@wp.kernel
def clear_kernel(mask: wp.array[bool], each: int, start: float, kept: wp.array[float], values: wp.array[float]):
    """Reset values of masked actuators, each with `each` consecutive values, but for those where `kept` is not zero."""
    n = wp.tid()
    if mask[(n / each) % mask.shape[0]]:  # pyright: ignore
        if kept:
            values[n] = values[n] if kept[n] != 0.0 else start  # pyright: ignore
        else:
            values[n] = start  # pyright: ignore[reportIndexIssue]


def _zeros(count: int, num_actuators: int, device: wp.DeviceLike) -> tuple[wp.array, ...]:
    return tuple(wp.zeros(num_actuators, dtype=wp.float32, device=device) for _ in range(count))


def require_given(component: Component, *names: str) -> None:
    """Raise a `ValueError` that names the first of these parameters without an array."""
    require_arrays(component, **{name: getattr(component, name) for name in names})


def require_arrays(component: Component, **arrays: object) -> None:
    """Raise a `ValueError` that names the first of these parameters which is no array."""
    for name, array in arrays.items():
        if not hasattr(array, "shape") or not hasattr(array, "dtype"):
            raise ValueError(
                f"{type(component).__name__}: {name} = {array!r}: must be an array, one value per actuator. Give it."
            )


def check_type(owner: str, name: str, array: Any) -> None:
    """Raise a `ValueError` unless a Warp or NumPy array has the type of the parameter."""
    dtype, expected = dtype_of(array), "int32" if name == "delay_steps" else "float32"
    if dtype != expected:
        raise ValueError(f"{owner}: {name} has dtype {dtype}: must be {expected}. Make the array of that type.")


def dtype_of(array: wp.array | np.ndarray) -> np.dtype:
    """Return the type of the numbers of a NumPy or Warp array."""
    return np.dtype(wp.dtype_to_numpy(array.dtype)) if isinstance(array, wp.array) else array.dtype


def require_mask(mask: object, num_actuators: int, device: wp.DeviceLike, name: str = "") -> None:
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


def actuator_axis(component: object, state: object, name: str) -> int:
    """Return the axis of the state array `name` that runs over the actuators, for components of any library."""
    axes = getattr(type(state), "ACTUATOR_AXIS", {})
    return axes.get(name, getattr(component, "STATE_AXIS", -1))


def repeated(value: npt.ArrayLike, count: int, device: wp.DeviceLike, dtype: type = wp.float32) -> wp.array:
    """Return an array of `count` numbers, robot-major, from one number, one per joint, or one per robot and joint."""
    values = np.asarray(value, wp.dtype_to_numpy(dtype)).ravel()
    # np.resize would make a list of as many arrays
    row_by_row = np.tile(values, -(-count // max(1, len(values))))[:count]
    return wp.array(row_by_row, dtype=dtype, device=device)


def _range_text(component: Component, parameter: str) -> str:
    """Return the value of a parameter, or the range of its values; a device that captures a graph is not read."""
    given = vars(component).get(parameter)
    if isinstance(given, wp.array) and wp.get_device(str(given.device)).is_capturing:
        return "…"
    values = component.read(parameter)
    if not len(values):
        return "-"
    lowest, highest = values.min(), values.max()
    return f"{lowest:g}" if lowest == highest else f"{lowest:g}…{highest:g}"
