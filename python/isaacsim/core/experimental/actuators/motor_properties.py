"""Hand what motors add to their joints, armature and friction for two, to the simulator, and give it back.

As with drives, several wrappers may be of one joint: the first to come notes what the joint had, the last to leave
restores it, unless somebody set something else since. Notes are kept per physics and forgotten when it stops: play
reads the joints from the stage again.
"""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable, Sequence
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
class _Note:
    """A property of one joint: what it was before, and what was set."""

    before: np.ndarray
    set: np.float32
    owners: weakref.WeakSet[Any] = field(default_factory=weakref.WeakSet)


@dataclass(frozen=True)
class _Access:
    """Getter and setter of an articulation, and what one value stands for there; rows of a property are its parts."""

    getter: str
    setter: str
    parts: int
    first: int = 0
    """Which of what the getter returns and the setter takes is the first part."""
    options: tuple[tuple[str, Any], ...] = ()
    """What else the setter is told."""

    def read(self, articulation: Any) -> np.ndarray:
        """Values, shape `(parts, robots, DOFs)`."""
        found = getattr(articulation, self.getter)()
        found = found if isinstance(found, tuple) else (found,)
        return np.array([as_numpy(part) for part in found[self.first :][: self.parts]])

    def is_offered(self, articulation: Any) -> bool:
        """Whether the articulation has it."""
        return hasattr(articulation, self.getter) and hasattr(articulation, self.setter)

    def write(self, articulation: Any, values: np.ndarray, columns: Sequence[int]) -> None:
        """Set values, shape `(parts, robots, DOFs)`, in some columns."""
        self.set(articulation, [np.ascontiguousarray(part[:, columns]) for part in values], columns)

    def set(
        self, articulation: Any, parts: Sequence[np.ndarray], columns: Sequence[int], rows: np.ndarray | None = None
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


def read_property(articulation: Any, name: str) -> np.ndarray | None:
    """Values of a property, `(robots, DOFs)`; None where the articulation does not tell them."""
    access = _ACCESS[name]
    return access.read(articulation)[0] if hasattr(articulation, access.getter) else None


def effort_limits(articulation: Any) -> np.ndarray | None:
    """Effort limits of joints [N·m or N], `(robots, DOFs)`, inf for none; None where they are not told."""
    found = read_property(articulation, "effort_limit_sim")
    # PhysX tells the largest number of single precision
    return None if found is None else np.where(found > _NO_LIMIT, np.inf, found)


_NO_LIMIT = 1e36
_taken: weakref.WeakKeyDictionary[Any, dict[tuple[str, str], _Note]] = weakref.WeakKeyDictionary()


def set_properties(
    owner: Any, bus: PhysicsBus, articulation: ArticulationPort, given: Sequence[tuple[JointValues, list[int]]]
) -> None:
    """Set properties of joints, each in the columns beside it, and note what they were.

    Warns, with the names of the joints, where the articulation has no such property.
    """
    notes = _taken.setdefault(physics_of(bus), {})
    paths = axis_paths(articulation)
    for name, access in _ACCESS.items():
        mine = [(one, columns) for one, columns in given if one.name == name]
        if not mine:
            continue
        if not access.is_offered(articulation):
            joints = ", ".join(joint for one, _ in mine for _, joint in one.axes)
            warnings.warn(
                f"{owner!r}: {name} of joints {joints} has no effect: {type(articulation).__name__} has no "
                f"{access.setter}. Author it in the robot's file, or leave it out.",
                stacklevel=7,
            )
            continue
        before = access.read(articulation)
        after = before.copy()
        for one, columns in mine:
            after[:, :, columns] = one.values
        columns = sorted(column for _, of_one in mine for column in of_one)
        try:
            access.write(articulation, after, columns)
        except HostError as error:
            # of one limit only: who has the setter may still have no such thing
            if name != "velocity_limit_sim":
                raise
            joints = ", ".join(joint for one, _ in mine for _, joint in one.axes)
            warnings.warn(f"{owner!r}: {name} of joints {joints} has no effect: {error}", stacklevel=7)
            continue
        for row, of_row in enumerate(paths):
            for column in columns:
                note = notes.setdefault((name, of_row[column]), _Note(before[:, row, column], after[0, row, column]))
                if not np.array_equal(before[:, row, column], np.broadcast_to(note.set, access.parts)):
                    # somebody set another value since: that is the one to restore
                    note.before = before[:, row, column]
                note.set = after[0, row, column]
                note.owners.add(owner)


class DrawnProperties:
    """Armature and friction that are drawn at random, again and again, and given back as the others are.

    Args:
        owner: Who draws them.
        bus: Physics events.
        articulation: The robots.
    """

    def __init__(self, owner: Any, bus: PhysicsBus, articulation: ArticulationPort) -> None:
        # the owner holds it
        self._owner, self._bus, self._articulation = weakref.ref(owner), bus, articulation
        # what stands in the simulator, `(robots, DOFs)`, and in which columns it was drawn
        self._drawn: dict[str, tuple[np.ndarray, list[int]]] = {}

    def problem(self, name: str) -> str:
        """Why a property cannot be drawn, as the end of a message; empty where it can."""
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
            # notes of what they were, once
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

    def note(self) -> bool:
        """Note what was drawn last as what was set: where that still holds, `restore_properties` restores.

        Returns:
            Whether anything was drawn.
        """
        notes = _taken.get(physics_of(self._bus), {})
        for name, (values, columns) in self._drawn.items():
            for row, paths in enumerate(axis_paths(self._articulation)):
                for column in columns:
                    if (note := notes.get((name, paths[column]))) is not None:
                        note.set = values[row, column]
        return bool(self._drawn)

    def forget(self) -> None:
        """Physics has stopped: what was drawn is gone with it."""
        self._drawn = {}


def restore_properties(owner: Any, bus: PhysicsBus, articulation: ArticulationPort) -> None:
    """Give joints that no other wrapper is of the properties they had, where these are still what was set."""
    if not bus.ready:
        # physics is just stopping, and others were told before the owner
        return forget_properties(bus)
    notes = _taken.get(physics_of(bus), {})
    place = {
        path: (row, column) for row, of_row in enumerate(axis_paths(articulation)) for column, path in enumerate(of_row)
    }
    mine = {key: note for key, note in notes.items() if owner in note.owners and key[1] in place}

    def restore(name: str) -> None:
        access = _ACCESS[name]
        freed = {place[path]: note for (of, path), note in mine.items() if of == name and set(note.owners) == {owner}}
        if freed:
            values = access.read(articulation)
            for (row, column), note in freed.items():
                if (values[:, row, column] == note.set).all():
                    values[:, row, column] = note.before
            access.write(articulation, values, sorted({column for _, column in freed}))
        for key, note in mine.items():
            if key[0] == name:
                note.owners.discard(owner)
                if not note.owners:
                    del notes[key]

    parts: list[Callable[[], None]] = [lambda name=name: restore(name) for name in _ACCESS]
    do_all(parts)


def forget_properties(bus: PhysicsBus) -> None:
    """Physics has stopped: the notes of this bus are void."""
    _taken.pop(physics_of(bus), None)
