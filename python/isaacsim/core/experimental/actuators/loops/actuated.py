"""The common base of actuators in a loop of one's own, wherever their arrays come from, and changes of its model."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import warp as wp

from ..base.quiet_warp import device_of, quiet_warp
from ..base.values import ArrayLike, Indices
from ..engine.actuator_set import ActuatorSet
from ..engine.assembly import Assembly
from ..engine.entry import ActuatorEntry
from ..engine.faults import without_inertia
from ..engine.handed_over import (
    JointValues,
    handed_over,
    has_friction_stage,
    require_no_sweeps,
    rotors_of_configs,
    values_of_motors,
)
from ..engine.implicit.damping_requests import require_no_damping_in_engine
from ..engine.motors import resolve_motors
from ..engine.step.fault import Fault
from ..engine.user_components import entries_from_configs, in_joint_order
from ..laws.contract.coupling import Shafts, inertias_of
from ..specs.arguments import names_of, number_of
from ..specs.effort_modes import EffortModes, in_effort_mode
from ..specs.motors import Motors
from ..specs.signals import INERTIAS, OF_SHAFTS

if TYPE_CHECKING:
    from .model_inertias import ModelInertias


AnyMotors = Motors | Sequence[tuple[object, str]]
"""Motors by pattern, or configs and whole actuators with the names of their joints."""

_INFINITY = float("inf")


# a larger number fits into no memory
_MOST_ROBOTS = 10_000_000


def _unique(subject: str, given: Sequence[str]) -> list[str]:
    """Return names of which none occurs twice, else raise `ValueError`."""
    if isinstance(given, str):
        raise ValueError(f"{subject} = {given!r}: must be a list of names. Give [{given!r}].")
    names = names_of(subject, given)
    if repeated := [name for name in names if names.count(name) > 1]:
        raise ValueError(
            f"joint {repeated[0]!r} is found {names.count(repeated[0])} times. Give each joint a name of its own."
        )
    return names


class Actuated(ActuatorSet):
    """Base of `ActuatedArrays` and `ActuatedModel`.

    Args:
        dof_names: Names of the joint axes, one per column.
        motors: Motors by pattern of joint names, as for `ArticulationActuators.from_configs`, or pairs of an
            `ActuatorConfig` and a joint name, as for `from_actuators`.
        num_robots: Number of robots, one per row.
        device: Device of the efforts, as Warp names it.
        effort_mode: As for `ArticulationActuators`.

    Raises:
        ValueError: A joint name or pattern that does not fit, no motor, or an array of the wrong length.
    """

    _HAS_FRICTION: ClassVar[bool] = False
    """True if the simulator has friction that can be set; with arrays alone there is no simulator."""
    _INSTEAD = "Make another one of the same motors, and use save_state() and restore_state()."

    def __init__(
        self,
        dof_names: Sequence[str],
        motors: AnyMotors,
        num_robots: int,
        device: object,
        effort_mode: EffortModes | None = None,
    ) -> None:
        names = _unique("dof_names", dof_names)
        if not (1 <= (count := number_of("num_robots", num_robots)) <= _MOST_ROBOTS and count.is_integer()):
            raise ValueError(
                f"num_robots = {num_robots}: must be an integer >= 1 and <= {_MOST_ROBOTS}. Count the rows."
            )
        self._names, self._num_robots, self._device = names, int(num_robots), device_of(device)
        self._closed = False
        # names of the signals that are told, by calls and by the model, and whether laws can do without the others
        self._told: set[str] = set()
        self._inertias: ModelInertias | None = None
        # inverses of mass matrices, and loads, that were set for shafts
        self._admittances: np.ndarray | None = None
        self._loads: np.ndarray | None = None
        self._are_whole = False
        self._is_unchecked = True
        with quiet_warp():
            entries, self._properties = self._entries(motors, effort_mode)
            self._with_friction_stage = [
                names.index(name) for entry in entries if has_friction_stage(entry) for name in entry.dof_names
            ]
            # in the order of the entries
            columns = [names.index(name) for entry in entries for name in entry.dof_names]
            self._assembly = Assembly(entries, self._num_robots, self._device, columns)
            self._assembly.place(columns, len(names))

    # content

    @property
    def dof_names(self) -> list[str]:
        """Names of the joint axes, one per column."""
        return list(self._names)

    @property
    def num_robots(self) -> int:
        """Number of rows."""
        return self._num_robots

    @property
    def device(self) -> str:
        """Device of the efforts."""
        return str(self._device)

    @property
    def joint_properties(self) -> dict[str, np.ndarray]:
        """Properties of joints that motors have, `(robots, DOFs)`, for the simulator; NaN for joints without a value.

        They are `armature` [kg·m² or kg], `friction` [N·m or N] and `viscous_friction` [N·m·s/rad or N·s/m], if any.
        """
        found: dict[str, np.ndarray] = {}
        for one in self._properties:
            if one.origin == "motor":
                self._put(found, one.name, self._columns_with(one), one.values)
        return found

    @property
    def faults(self) -> list[Fault]:
        """Inputs or efforts not finite since the last reset, the first of each joint, whose effort is 0 then."""
        return self._assembly.faults()

    # state

    def reset(self, *, indices: Indices = None) -> None:
        """Reset delays, integrals and faults.

        Args:
            indices: Robot indices or mask; None means all. A mask that is a Warp array on the GPU of the actuators
                stays there, without synchronization.

        Raises:
            ValueError: An index is out of range.
            RuntimeError: It was closed.
        """
        self._require_open()
        self._forget(indices)

    # end of life

    def set_mass_matrix(self, mass_matrix: ArrayLike) -> None:
        """Set the inertia of the joints, for laws that step a joint: friction, windings and implicit efforts.

        Args:
            mass_matrix: Of the joints [kg·m² or kg], armatures included, `(DOFs, DOFs)` or `(num_robots, DOFs, DOFs)`;
                of a floating base, the Schur complement. Holds from the next step on, until it is set again.

        Raises:
            ValueError: Another shape, or not symmetric and positive definite.
        """
        self._require_open()
        given = np.asarray(mass_matrix, np.float64)
        count = len(self._names)
        if given.shape not in ((count, count), (self._num_robots, count, count)):
            raise ValueError(
                f"mass_matrix has the shape {given.shape}: must be {(count, count)} or "
                f"{(self._num_robots, count, count)}. Give rows and columns in the order of dof_names."
            )
        if not np.isfinite(given).all() or not np.allclose(given, np.swapaxes(given, -1, -2), rtol=1e-4):
            raise ValueError("mass_matrix: must be finite and symmetric. Give that of all joints, armatures included.")
        found = inertias_of(given)
        # instead of those of the model
        self._inertias = None
        for name, values in zip(INERTIAS, found, strict=True):
            self._set_signal(name, values)
        if (shafts := self._assembly.shafts) is not None:
            self._admittances = np.linalg.inv(given.reshape(-1, count, count))
            self._set_shafts(shafts)

    def set_loads(self, loads: ArrayLike, *, are_whole: bool = False) -> None:
        """Set the efforts that balance what else acts on the joints, for laws that step a joint.

        Without them a law takes the load of the step before, which the velocities tell.

        Args:
            loads: Gravity and Coriolis efforts as inverse dynamics gives them [N·m or N], `(DOFs,)` or
                `(num_robots, DOFs)`. They hold from the next step on, until they are set again.
            are_whole: True if they include contacts and the coupling of the joints.

        Raises:
            ValueError: Another shape, or a number that is not finite.
        """
        self._require_open()
        given = np.asarray(loads, np.float64)
        shape = self._num_robots, len(self._names)
        if given.shape not in (shape, shape[1:]) or not np.isfinite(given).all():
            raise ValueError(
                f"loads has the shape {given.shape}: must be finite numbers {shape[1:]} or {shape}. Give one per joint."
            )
        self._set_signal("load", given)
        self._set_signal("load_is_whole", np.full(shape[1], float(are_whole)))
        if (shafts := self._assembly.shafts) is not None:
            self._loads, self._are_whole = given.reshape(-1, shape[1]).copy(), are_whole
            self._set_shafts(shafts)

    def close(self) -> None:
        """Release the given components: they keep their values and can be used elsewhere."""
        self._closed = True
        super().close()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self._columns)} joints x {self._num_robots} robots on {self._device}>"

    def _num_dofs(self) -> int:
        return len(self._names)

    def _require_open(self) -> None:
        if self._closed:
            raise RuntimeError(f"{self!r} is closed. Make a new one.")

    def _require_step(self, dt: float) -> None:
        self._require_open()
        # false for NaN
        if not 0.0 < (dt if type(dt) is float else number_of("dt", dt)) < _INFINITY:
            raise ValueError(f"dt = {dt}: must be a finite number of seconds > 0. Give the physics step.")
        # parameters are not read while a graph is captured
        if self._is_unchecked and not (self._device.is_cuda and self._device.is_capturing):
            if problem := without_inertia(self._assembly.parts, self._told, ", or call set_mass_matrix"):
                raise ValueError(problem)
            self._is_unchecked = False

    def _entries(
        self, motors: AnyMotors, effort_mode: EffortModes | None
    ) -> tuple[list[ActuatorEntry], list[JointValues]]:
        """The actuators in the order of their first joints, and properties of joints for the simulator."""
        if isinstance(motors, Mapping):
            found = resolve_motors(motors, self._names, self._names, self._num_robots, networks=True)
            specs = [motor.spec for motor in found if motor.spec is not None]
            specs = in_effort_mode(specs, [spec.dof_names for spec in specs], effort_mode)
            made = handed_over(specs, self._num_robots, self._device, in_engine=self._HAS_FRICTION)
            entries = made.entries
            properties = [*values_of_motors(found, self._names, self._names), *made.properties]
        else:
            ordered = in_joint_order(motors, self._names, "the joints")
            entries = entries_from_configs(ordered, self._num_robots, self._device, effort_mode)
            properties = rotors_of_configs(ordered, [(name, name) for _, name in ordered])
        require_no_sweeps(entries)
        require_no_damping_in_engine(entries)
        if not entries:
            raise ValueError(f"motors = {motors!r}: must drive at least one of {self._names}. Give {{pattern: motor}}.")
        return entries, properties

    def _set_signal(self, name: str, values: np.ndarray) -> None:
        """Set a signal of all joints, `(…, DOFs)`, of the laws that ask for it."""
        self._told.add(name)
        columns = [self._names.index(one) for one in self._assembly.dof_names]
        every = np.broadcast_to(np.asarray(values, np.float32), (self._num_robots, len(self._names)))
        for joints, array in self._assembly.signals.get(name, ()):
            array.assign(np.ascontiguousarray(every[:, [columns[joint] for joint in joints]]))

    def _set_shafts(self, shafts: Shafts) -> None:
        """Set the signals of shafts, of the mass matrices and loads that were set last."""
        columns = [self._names.index(one) for one in self._assembly.dof_names]
        # without a mass matrix, the loads nearest in least squares
        inverse = np.eye(len(self._names))[None] if self._admittances is None else self._admittances
        signals = shafts.signals(inverse, columns, self._loads)
        if self._loads is not None:
            signals[OF_SHAFTS["load_is_whole"]] = signals[OF_SHAFTS["load_is_whole"]] * self._are_whole
        for name, values in signals.items():
            if self._admittances is not None or "load" in name:
                every = np.zeros((len(values), len(self._names)))
                every[:, [columns[joint] for joint in shafts.motors]] = values
                self._set_signal(name, every)

    def _follow_inertias(self, places: np.ndarray, joints: Sequence[int], rows: Sequence[int]) -> None:
        """Let inertias be those of mass matrices, if laws ask; `joints` has coordinates of axes, -1 for no joint."""
        signals = self._assembly.signals
        if signals.keys().isdisjoint(INERTIAS):
            return
        # imported here: most robots have no such laws
        from .model_inertias import ModelInertias

        real = [column for column, at in enumerate(joints) if at >= 0]
        columns = [real.index(self._names.index(name)) for name in self._assembly.dof_names]
        chosen = [joints[column] for column in real]
        self._inertias = ModelInertias(signals, columns, places, chosen, rows, self._device)

    def _put(self, found: dict[str, np.ndarray], name: str, columns: Sequence[int], values: object) -> None:
        """Set a property of some joints, NaN for the others where it is new."""
        none = np.full((self._num_robots, len(self._names)), np.nan, np.float32)
        found.setdefault(name, none)[:, columns] = values

    def _simulator_properties(self) -> dict[str, np.ndarray]:
        """Joint properties, and friction in the engine or none, for the simulator; a `ValueError` if two differ."""
        found = self.joint_properties
        for column in self._with_friction_stage:
            self._put(found, "friction", [column], 0.0)
            self._put(found, "viscous_friction", [column], 0.0)
        for one in self._properties:
            if one.origin != "engine":
                continue
            if one.name == "friction" and (one.values[0] != one.values[1]).any():
                raise ValueError(
                    f"FrictionConfig.in_engine = True of joints {', '.join(name for _, name in one.axes)}: static must "
                    "be coulomb, for the simulator has one dry friction. Remove static, or set in_engine = False."
                )
            # of dry friction, the dynamic part
            self._put(found, one.name, self._columns_with(one), one.values[1] if one.values.ndim == 3 else one.values)
        return found

    def _columns_with(self, properties: JointValues) -> list[int]:
        return [self._names.index(name) for _, name in properties.axes]


class Changes:
    """Original values of Warp arrays on any device, and further actions that restore a model.

    Both are restored when `give_back` is called, and when the owner, who makes the changes, is collected. Arrays are
    kept alive until then, as the collector frees objects of a reference cycle in any order.
    """

    def __init__(self, owner: object) -> None:
        self._returns: list[Callable[[], object]] = []
        self.give_back = weakref.finalize(owner, _give_back, self._returns)
        """Undo all changes, the last one first; idempotent."""
        # no model is used after the interpreter's exit
        self.give_back.atexit = False

    def set(self, array: wp.array, places: Any, values: object) -> None:
        """Set some numbers; `places` is an index of NumPy."""
        self.finally_do(_put, array, places, array.numpy()[places].copy())
        _put(array, places, values)

    def replace(self, holder: object, name: str, value: object) -> None:
        """Set an attribute."""
        # the holder may refer to the owner
        self.finally_do(_set_attribute, weakref.ref(holder), name, getattr(holder, name))
        setattr(holder, name, value)

    def finally_do(self, what: Callable[..., object], *arguments: object) -> None:
        """Register a call for `give_back`; it must not refer to the owner."""
        self._returns.append(functools.partial(what, *arguments))


def _give_back(returns: list[Callable[[], object]]) -> None:
    while returns:
        returns.pop()()


def _set_attribute(holder: weakref.ref[object], name: str, value: object) -> None:
    if (there := holder()) is not None:
        setattr(there, name, value)


def _put(array: wp.array, places: Any, values: object) -> None:
    numbers = array.numpy()
    numbers[places] = values
    array.assign(numbers)
