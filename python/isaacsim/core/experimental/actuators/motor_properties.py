"""Set joint properties of motors, such as armature and friction, in the simulator, and restore them afterwards.

As with drives, several wrappers may share a joint: the first one stores the joint's values, and the last one to detach
restores them, unless other values were set since. Values are stored per physics and dropped when it stops: play reads
the joints from the stage again.
"""

from __future__ import annotations

import functools
import warnings
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .drives import axis_paths, physics_of
from .errors import HostError, do_all
from .hosts.port import ArticulationPort, PhysicsBus
from .values import as_numpy


@dataclass(frozen=True)
class JointValues:
    """Values that a motor gives its joints.

    Args:
        name: Of `_ACCESS`.
        axes: The joints: path on the prototype, and name.
        values: In SI units: a number, or an array `(joints,)` or `(robots, joints)`.
    """

    name: str
    axes: list[tuple[str, str]]
    values: Any


@dataclass
class _Change:
    """A property of one joint: its former value and the value that was set."""

    before: np.ndarray
    set: np.float32
    owners: weakref.WeakSet[object] = field(default_factory=weakref.WeakSet)


@dataclass(frozen=True)
class _Access:
    """Getter and setter of an articulation for a property, which consists of one or more of the values they handle."""

    getter: str
    setter: str
    parts: int
    first: int = 0
    """Index of the first of these values among those of the getter and setter."""
    options: tuple[tuple[str, Any], ...] = ()
    """Further keyword arguments of the setter."""

    def read(self, articulation: object) -> np.ndarray:
        """Values, shape `(parts, robots, DOFs)`."""
        found = getattr(articulation, self.getter)()
        found = found if isinstance(found, tuple) else (found,)
        return np.array([as_numpy(part) for part in found[self.first :][: self.parts]])

    def is_offered(self, articulation: object) -> bool:
        """Return True if the articulation has both."""
        return hasattr(articulation, self.getter) and hasattr(articulation, self.setter)

    def write(self, articulation: object, values: np.ndarray, columns: Sequence[int]) -> None:
        """Set values, shape `(parts, robots, DOFs)`, in some columns."""
        self.set(articulation, [np.ascontiguousarray(part[:, columns]) for part in values], columns)

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


def read_property(articulation: object, name: str) -> np.ndarray | None:
    """Return the values of a property, `(robots, DOFs)`; None where the articulation has no getter."""
    access = _ACCESS[name]
    return access.read(articulation)[0] if hasattr(articulation, access.getter) else None


def effort_limits(articulation: object) -> np.ndarray | None:
    """Return effort limits of joints [N·m or N], `(robots, DOFs)`, inf for none; None where there is no getter."""
    found = read_property(articulation, "effort_limit_sim")
    # PhysX returns the largest float32 for no limit
    return None if found is None else np.where(found > _NO_LIMIT, np.inf, found)


_NO_LIMIT = 1e36
_taken: weakref.WeakKeyDictionary[object, dict[tuple[str, str], _Change]] = weakref.WeakKeyDictionary()


def set_properties(
    owner: object, bus: PhysicsBus, articulation: ArticulationPort, given: Sequence[tuple[JointValues, list[int]]]
) -> None:
    """Set properties of joints in the columns given with them, and store their former values.

    Warns:
        UserWarning: The articulation has no such property; names the joints.
    """
    changes, paths = _taken.setdefault(physics_of(bus), {}), axis_paths(articulation)
    for name in _ACCESS:
        mine = [(one, columns) for one, columns in given if one.name == name]
        if mine and (problem := _set_property(owner, articulation, paths, mine, changes)):
            joints = ", ".join(joint for one, _ in mine for _, joint in one.axes)
            warnings.warn(f"{owner!r}: {name} of joints {joints} has no effect: {problem}", stacklevel=7)


def _set_property(
    owner: object,
    articulation: ArticulationPort,
    paths: Sequence[Sequence[str]],
    given: Sequence[tuple[JointValues, list[int]]],
    changes: dict[tuple[str, str], _Change],
) -> str:
    """Set one property of joints and store their former values; return why it has no effect, empty if it has."""
    name = given[0][0].name
    access = _ACCESS[name]
    if not access.is_offered(articulation):
        return f"{type(articulation).__name__} has no {access.setter}. Author it in the robot's file, or leave it out."
    before = access.read(articulation)
    after = before.copy()
    for one, columns in given:
        after[:, :, columns] = one.values
    columns = sorted(column for _, of_one in given for column in of_one)
    try:
        access.write(articulation, after, columns)
    except HostError as error:
        # a simulator may have the setter of this limit without having the limit
        if name != "velocity_limit_sim":
            raise
        return str(error)
    for row, of_row in enumerate(paths):
        for column in columns:
            change = changes.setdefault((name, of_row[column]), _Change(before[:, row, column], after[0, row, column]))
            if not np.array_equal(before[:, row, column], np.broadcast_to(change.set, access.parts)):
                # a value that was set since is the one to restore
                change.before = before[:, row, column]
            change.set = after[0, row, column]
            change.owners.add(owner)
    return ""


class DrawnProperties:
    """Armature and friction that are drawn at random repeatedly, and restored like the others.

    Args:
        owner: Who draws them.
        bus: Physics events.
        articulation: The robots.
    """

    def __init__(self, owner: object, bus: PhysicsBus, articulation: ArticulationPort) -> None:
        # the owner holds it
        self._owner, self._bus, self._articulation = weakref.ref(owner), bus, articulation
        # values in the simulator, `(robots, DOFs)`, and the columns that were drawn
        self._drawn: dict[str, tuple[np.ndarray, list[int]]] = {}

    def problem(self, name: str) -> str:
        """Return why a property cannot be drawn, as the end of a message; empty if it can."""
        access = _ACCESS[name]
        if access.is_offered(self._articulation):
            return ""
        return f"{type(self._articulation).__name__} has no {access.setter}. Leave it out"

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
        """Store the last drawn values as those that were set, so that `restore_properties` replaces them.

        Returns:
            True if anything was drawn.
        """
        changes = _taken.get(physics_of(self._bus), {})
        for name, (values, columns) in self._drawn.items():
            for row, paths in enumerate(axis_paths(self._articulation)):
                for column in columns:
                    if (change := changes.get((name, paths[column]))) is not None:
                        change.set = values[row, column]
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
            access = _ACCESS[name]
            values = access.read(articulation)
            for (row, column), change in freed.items():
                if (values[:, row, column] == change.set).all():
                    values[:, row, column] = change.before
            access.write(articulation, values, sorted({column for _, column in freed}))
        for path, change in own.items():
            change.owners.discard(owner)
            if not change.owners:
                del changes[name, path]

    do_all(functools.partial(restore, name) for name in _ACCESS)


def forget_properties(bus: PhysicsBus) -> None:
    """Drop the stored values of a bus whose physics has stopped."""
    _taken.pop(physics_of(bus), None)
