"""Set joint properties of motors, such as armature and friction, in the simulator, and restore them afterwards.

As with drives, several wrappers may share a joint: the first one stores the joint's values, and the last one to detach
restores them, unless other values were set since. Values are stored per physics and dropped when it stops: play reads
the joints from the stage again.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import warnings
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.callers import level_outside
from ..base.errors import HostError, do_all
from ..base.values import as_numpy
from ..engine.handed_over import JointValues
from .binding import Binding
from .drives import axis_paths, physics_of
from .port import ArticulationPort, Host, PhysicsBus

if TYPE_CHECKING:
    from ..files.usd.handles import Stage


@dataclass
class _Change:
    """A property of one joint: its former value and the value that was set, each of all parts."""

    before: np.ndarray
    set: np.ndarray
    is_hardened: bool = False
    owners: weakref.WeakSet[object] = field(default_factory=weakref.WeakSet)


@dataclass(frozen=True)
class _Access:
    """Getter and setter of an articulation for a property, which consists of one or more of the values they handle."""

    getter: str
    setter: str
    parts: int
    first: int = 0
    """Index of the first of these values among those of the getter and setter."""
    options: tuple[tuple[str, object], ...] = ()
    """Further keyword arguments of the setter."""

    def read(self, articulation: object) -> np.ndarray:
        """Values, shape `(parts, robots, DOFs)`."""
        found = getattr(articulation, self.getter)()
        found = found if isinstance(found, tuple) else (found,)
        return np.array([as_numpy(part) for part in found[self.first :][: self.parts]])

    def write_changed(
        self, articulation: object, before: np.ndarray, after: np.ndarray, columns: Sequence[int]
    ) -> None:
        """Set values, shape `(parts, robots, DOFs)`, in those of some columns where they differ from what is there."""
        if changed := [column for column in columns if (before[:, :, column] != after[:, :, column]).any()]:
            self.set(articulation, [np.ascontiguousarray(part[:, changed]) for part in after], changed)

    def set(
        self, articulation: object, parts: Sequence[np.ndarray], columns: Sequence[int], rows: np.ndarray | None = None
    ) -> None:
        """Set parts `(rows, columns)`; None means all rows."""
        given = [None] * self.first + [*parts]
        where = {} if rows is None else {"indices": rows}
        getattr(articulation, self.setter)(*given, **where, dof_indices=list(columns), **dict(self.options))


_FRICTION = "get_dof_friction_properties", "set_dof_friction_properties"
_GAINS = "get_dof_gains", "set_dof_gains"
_NO_DEFAULTS = (("update_default_gains", False),)
_ACCESS = {
    "armature": _Access("get_dof_armatures", "set_dof_armatures", 1),
    # dry friction is static and dynamic there
    "friction": _Access(*_FRICTION, 2),
    # of groups, see compat/isaac_lab
    "static_friction": _Access(*_FRICTION, 1),
    "dynamic_friction": _Access(*_FRICTION, 1, 1),
    "viscous_friction": _Access(*_FRICTION, 1, 2),
    "effort_limit_sim": _Access("get_dof_max_efforts", "set_dof_max_efforts", 1),
    "velocity_limit_sim": _Access("get_dof_max_velocities", "set_dof_max_velocities", 1),
    "stiffness": _Access(*_GAINS, 1, 0, _NO_DEFAULTS),
    "damping": _Access(*_GAINS, 1, 1, _NO_DEFAULTS),
}


def values_of_author(host: Host, robots: Binding, axes: Sequence[tuple[str, str]]) -> list[JointValues]:
    """Properties that the author gave joints (prototype path, name) whose actuators on the stage are replaced."""
    if host.stage is None or not axes:
        return []
    from ..files.usd.motors import own_properties

    there = [axis for axis in axes if host.stage.GetPrimAtPath(axis[0])]
    reads_mjc = getattr(robots.articulation, "READS_MJC", False)
    found = own_properties(host.stage, there, si=not robots.in_stage_units, of_mujoco=reads_mjc)
    values = []
    for name, (marked, own) in found.items():
        differ = np.flatnonzero((marked != own).any(axis=0))
        own, marked = own[:, None, differ], marked[:, None, differ]
        values.append(JointValues(name, [there[at] for at in differ], own, "author", in_place_of=marked))
    return values


def no_friction(host: Host, robots: Binding, axes: Sequence[tuple[str, str]]) -> list[JointValues]:
    """Joint properties of joints whose friction a stage computes; warns of friction that the simulator may add."""
    if not axes:
        return []
    if (problem := unsettable(robots.articulation, "friction")) and host.stage is not None:
        from ..files.usd.fallbacks import with_friction

        if kept := with_friction(host.stage, axes):
            warnings.warn(
                f"joints {', '.join(kept)} have a friction stage, and friction on the stage that the simulator may "
                f"add: {problem} Remove newton:friction, newton:damping and the like from them for this simulator.",
                stacklevel=level_outside(),
            )
    return [JointValues(name, list(axes), 0.0, "stage") for name in ("friction", "viscous_friction")]


def require_engine_friction(owner: object, articulation: object, given: Sequence[JointValues]) -> None:
    """Raise for friction of the simulator, by a `HostError` that names the joints, where none can be set."""
    for one in given:
        if one.origin == "engine" and (problem := unsettable(articulation, one.name)):
            raise _engine_error(owner, ", ".join(joint for _, joint in one.axes), problem)


def read_property(articulation: object, name: str) -> np.ndarray | None:
    """Return the values of a property, `(robots, DOFs)`; None where the articulation has no getter."""
    access = _ACCESS[name]
    return access.read(articulation)[0] if hasattr(articulation, access.getter) else None


def effort_limits(articulation: ArticulationPort, stage: Stage | None) -> np.ndarray | None:
    """Effort limits of joints [N·m or N], `(robots, DOFs)`, inf for none; None where there is no getter.

    On `stage`, limits may be fallbacks of actuators, which are none of the joints.
    """
    found = read_property(articulation, "effort_limit_sim")
    if found is None:
        return None
    # PhysX returns the largest float32 for no limit
    found = np.where(found > _NO_LIMIT, np.inf, found)
    if stage is None:
        return found
    from ..files.usd.motors import own_effort_limits

    robots = Binding(articulation)
    names, joints = articulation.dof_names, robots.prototype_dof_paths
    return own_effort_limits(found, stage, joints, names, si=not robots.in_stage_units)


_NO_LIMIT = 1e36
# later ones override
_ORIGINS = "author", "stage", "motor", "engine"
_REMEDIES = {
    "author": (
        "stays that of the replaced actuator",
        "Author the motor in place of that actuator, by add_motors(overwrite_existing=True).",
    ),
    "motor": ("has no effect", "Author it in the robot's file, or leave it out."),
}
# relative, a few units in the last place
_ROUNDED = 1e-6
_taken: weakref.WeakKeyDictionary[object, dict[tuple[str, str], _Change]] = weakref.WeakKeyDictionary()


def set_properties(
    owner: object, bus: PhysicsBus, articulation: ArticulationPort, given: Sequence[tuple[JointValues, list[int]]]
) -> None:
    """Set joint properties in columns, and store former values; a `HostError` names friction that must be computed."""
    given = _with_dry_frictions(given, one=getattr(articulation, "ONE_DRY_FRICTION", False))
    for name, origin in itertools.product(_ACCESS, _ORIGINS):
        mine = [(one, columns) for one, columns in given if (one.name, one.origin) == (name, origin)]
        if not mine:
            continue
        if problem := _why_unset(owner, bus, articulation, mine):
            joints = ", ".join(joint for one, _ in mine for _, joint in one.axes)
            if origin == "engine":
                raise _engine_error(owner, joints, problem)
            if origin in _REMEDIES:
                what, remedy = _REMEDIES[origin]
                warnings.warn(f"{owner!r}: {name} of joints {joints} {what}: {problem} {remedy}", stacklevel=7)


def _with_dry_frictions(
    given: Sequence[tuple[JointValues, list[int]]], *, one: bool
) -> list[tuple[JointValues, list[int]]]:
    """Values with both dry frictions as one property, which PhysX compares; with `one`, the dynamic one alone."""
    parts = {(values.name, tuple(columns)): values.values for values, columns in given}
    found: list[tuple[JointValues, list[int]]] = []
    for values, columns in given:
        static, dynamic = (parts.get((name, tuple(columns))) for name in ("static_friction", "dynamic_friction"))
        if static is None or dynamic is None or values.name not in ("static_friction", "dynamic_friction"):
            found.append((values, columns))
        elif values.name == "static_friction":
            both = np.array(np.broadcast_arrays(dynamic if one else static, dynamic))
            found.append((dataclasses.replace(values, name="friction", values=both), columns))
    return found


def unsettable(articulation: object, name: str) -> str:
    """Return why a property cannot be set, empty if it can."""
    access = _ACCESS[name]
    is_offered = hasattr(articulation, access.getter) and hasattr(articulation, access.setter)
    return "" if is_offered else f"{type(articulation).__name__} has no {access.setter}."


def _engine_error(owner: object, joints: str, problem: str) -> HostError:
    """Return the error of friction that the simulator cannot compute."""
    return HostError(
        f"{owner!r}: FrictionConfig.in_engine = True of joints {joints}: {problem} Otherwise set in_engine = False, "
        "for the actuator to compute the friction."
    )


def _why_unset(
    owner: object, bus: PhysicsBus, articulation: ArticulationPort, given: Sequence[tuple[JointValues, list[int]]]
) -> str:
    """Set one property of joints where that can be; return why it cannot, empty if it was set."""
    (first, _), *_ = given
    if problem := unsettable(articulation, first.name):
        return problem
    try:
        _set_property(owner, bus, articulation, given)
    except HostError as error:
        # a simulator may have the setter of this limit without having the limit
        if first.name != "velocity_limit_sim" and first.origin != "engine":
            raise
        return str(error)
    return ""


def _set_property(
    owner: object, bus: PhysicsBus, articulation: ArticulationPort, given: Sequence[tuple[JointValues, list[int]]]
) -> None:
    """Set one property of joints, and store their former values; a `HostError` if the simulator refuses the values."""
    (first, _), *_ = given
    access = _ACCESS[first.name]
    before = access.read(articulation)
    after = before.copy()
    for one, columns in given:
        after[:, :, columns] = wanted_values(one, before[:, :, columns])
    columns = sorted(column for _, of_one in given for column in of_one)
    access.write_changed(articulation, before, after, columns)
    hardens = (first.name, first.origin) == ("friction", "engine") and _harden(articulation, True, columns)
    changes = _taken.setdefault(physics_of(bus), {})
    for row, of_row in enumerate(axis_paths(articulation)):
        for column in columns:
            now, wanted = before[:, row, column], after[:, row, column]
            change = changes.setdefault((first.name, of_row[column]), _Change(now, wanted))
            if not _are_same(now, change.set):
                # a value that was set since is the one to restore
                change.before = now
            change.set = wanted
            change.is_hardened |= hardens
            change.owners.add(owner)


def wanted_values(one: JointValues, now: np.ndarray) -> Any:
    """Return the values that joints are to have, which have these now, `(parts, robots, joints)`."""
    if one.in_place_of is None:
        return one.values
    is_there = np.isclose(now, one.in_place_of, rtol=_ROUNDED, atol=0.0).all(axis=0)
    return np.where(is_there, one.values, now)


def _are_same(found: np.ndarray, set_before: np.ndarray) -> bool:
    """Return True if values are those that were set: PhysX rounds some, which it has per degree."""
    return np.allclose(found, set_before, rtol=_ROUNDED, atol=0.0)


def _harden(articulation: object, on: bool, columns: Sequence[int]) -> bool:
    """Keep dry frictions hard, or end that; return True if the simulator has softer ones."""
    if (harden := getattr(articulation, "harden_friction", None)) is None:
        return False
    harden(on, dof_indices=list(columns))
    return True


class DrawnProperties:
    """Armature and friction that their owner draws at random repeatedly, and restored like the others."""

    def __init__(self, owner: object, bus: PhysicsBus, articulation: ArticulationPort) -> None:
        # the owner holds it
        self._owner, self._bus, self._articulation = weakref.ref(owner), bus, articulation
        # values in the simulator, `(robots, DOFs)`, and the columns that were drawn
        self._drawn: dict[str, tuple[np.ndarray, list[int]]] = {}

    def problem(self, name: str) -> str:
        """Return why a property cannot be drawn, as the end of a message; empty if it can."""
        problem = unsettable(self._articulation, name)
        return f"{problem} Leave it out" if problem else ""

    def read(self, name: str) -> np.ndarray | None:
        """Values in force, float32 `(robots, DOFs)`; None while physics does not run."""
        return _ACCESS[name].read(self._articulation)[0] if self._bus.ready else None

    def write(self, name: str, rows: np.ndarray, columns: list[int], values: np.ndarray) -> None:
        """Set values `(rows, columns)`."""
        access = _ACCESS[name]
        if name not in self._drawn or self._drawn[name][1] != columns:
            joints = axis_paths(self._articulation)[0]
            now = access.read(self._articulation)[0].copy()
            given = JointValues(name, [(joints[at], joints[at]) for at in columns], now[:, columns])
            # stores the former values, once
            set_properties(self._owner(), self._bus, self._articulation, [(given, columns)])
            self._drawn[name] = now, columns
        drawn = self._drawn[name][0]
        every = len(rows) == len(drawn)
        if every and columns == list(range(drawn.shape[1])):
            drawn[:] = values
        else:
            drawn[rows[:, None], columns] = values
        parts = [np.ascontiguousarray(values)] * access.parts
        access.set(self._articulation, parts, columns, None if every else rows)

    def store(self) -> bool:
        """Store what was drawn last as what was set, so that `restore_properties` replaces it; True if any."""
        changes = _taken.get(physics_of(self._bus), {})
        for name, (values, columns) in self._drawn.items():
            for row, paths in enumerate(axis_paths(self._articulation)):
                for column in columns:
                    if (change := changes.get((name, paths[column]))) is not None:
                        change.set = np.full_like(change.set, values[row, column])
        return bool(self._drawn)

    def forget(self) -> None:
        """Drop the drawn values, which end with physics."""
        self._drawn = {}


def restore_properties(owner: object, bus: PhysicsBus, articulation: ArticulationPort) -> None:
    """Restore the properties of joints without another owner where they still have the values that were set."""
    if not bus.ready:
        # physics is stopping, and other listeners were called first
        return forget_properties(bus)
    changes = _taken.get(physics_of(bus), {})
    place = {
        path: (row, column) for row, of_row in enumerate(axis_paths(articulation)) for column, path in enumerate(of_row)
    }
    mine = {key: change for key, change in changes.items() if owner in change.owners and key[1] in place}

    def restore(name: str) -> None:
        own = {path: change for (of, path), change in mine.items() if of == name}
        freed = {place[path]: change for path, change in own.items() if set(change.owners) == {owner}}
        if freed:
            _restore_values(articulation, name, freed)
        for path, change in own.items():
            change.owners.discard(owner)
            if not change.owners:
                del changes[name, path]

    do_all(functools.partial(restore, name) for name in _ACCESS)


def _restore_values(articulation: ArticulationPort, name: str, freed: Mapping[tuple[int, int], _Change]) -> None:
    """Restore a property, by row and column, where it still has the values that were set."""
    access = _ACCESS[name]
    now = access.read(articulation)
    values = now.copy()
    for (row, column), change in freed.items():
        if _are_same(now[:, row, column], change.set):
            values[:, row, column] = change.before
    access.write_changed(articulation, now, values, sorted({column for _, column in freed}))
    if hardened := sorted({column for (_, column), change in freed.items() if change.is_hardened}):
        _harden(articulation, False, hardened)


def forget_properties(bus: PhysicsBus) -> None:
    """Drop the stored values of a bus whose physics has stopped."""
    _taken.pop(physics_of(bus), None)
