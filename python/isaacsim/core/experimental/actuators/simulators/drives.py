"""Take over joint drives while actuators are attached, and restore them afterwards.

Several wrappers may drive one joint. The first one stores the drive's gains, and the last one to detach restores them.
Gains are stored per physics, usually a bus, and dropped when it stops: play reads the gains from the stage again.
"""

from __future__ import annotations

import functools
import itertools
import warnings
import weakref
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import numpy as np

from ..base.errors import do_all
from ..base.values import as_numpy, grouped
from .port import ArticulationPort, PhysicsBus


@dataclass
class _Drive:
    """Gains of a joint's drive before wrappers took it over."""

    stiffness: np.float32
    damping: np.float32
    owners: weakref.WeakSet[object] = field(default_factory=weakref.WeakSet)

    def share(self, owner: object, stiffness: np.float32, damping: np.float32) -> list[object]:
        """Take over gains that were set since, which are the ones to restore, and return the other owners."""
        if stiffness or damping:
            self.stiffness, self.damping = stiffness, damping
        return [other for other in self.owners if other is not owner]


_taken: weakref.WeakKeyDictionary[object, dict[str, _Drive]] = weakref.WeakKeyDictionary()


def physics_of(bus: PhysicsBus) -> object:
    """Return the key of the physics behind a bus, which several buses may share."""
    return getattr(bus, "physics", bus)


def take_drives(owner: object, bus: PhysicsBus, articulation: ArticulationPort, columns: list[int]) -> None:
    """Set the drive gains of the given columns to zero in all rows, and store the former gains."""
    if not columns:
        return
    drives = _taken.setdefault(physics_of(bus), {})
    stiffnesses, dampings = (as_numpy(gains) for gains in articulation.get_dof_gains())
    shared: dict[str, list[object]] = {}
    for row, paths in enumerate(axis_paths(articulation)):
        for column in columns:
            if (drive := drives.get(paths[column])) is None:
                drive = drives[paths[column]] = _Drive(stiffnesses[row, column], dampings[row, column])
            elif others := drive.share(owner, stiffnesses[row, column], dampings[row, column]):
                shared[paths[column]] = others
            drive.owners.add(owner)
    if shared:
        joint, (other, *_) = next(iter(shared.items()))
        warnings.warn(
            f"{len(shared)} joints, <{joint}> for one, are driven by two actuator wrappers, {other!r} and {owner!r}: "
            "the one that steps last wins. Close one of them or give them different joints.",
            # where the wrapper is made
            stacklevel=7,
        )
    if (silence := getattr(articulation, "silence_drives", None)) is not None:
        silence(True, dof_indices=columns)
    # the drives of a model of one's own are actuators, whose gains are not set
    if getattr(articulation, "SETTABLE_GAINS", True):
        articulation.set_dof_gains(stiffnesses=0.0, dampings=0.0, dof_indices=columns, update_default_gains=False)


def release_drives(owner: object, bus: PhysicsBus, articulation: ArticulationPort, columns: list[int]) -> None:
    """Clear efforts and restore gains of joints without another owner, if still zero; one failure stops no other."""
    if not bus.ready:
        # physics is stopping, and other listeners were called first
        return forget_drives(bus)
    drives = _taken.get(physics_of(bus), {})
    paths = axis_paths(articulation)
    freed: dict[tuple[int, int], _Drive] = {}
    for row, column in itertools.product(range(len(paths)), columns):
        if (drive := drives.get(paths[row][column])) is None:
            continue
        drive.owners.discard(owner)
        if not drive.owners:
            freed[row, column] = drive
    # actuators of a file or model act again, where a simulator has any
    silence = getattr(articulation, "silence_drives", None)
    unsilenced = () if silence is None else (functools.partial(silence, False, **grid) for grid in _grids(freed))
    steps = [lambda: _clear_efforts(articulation, freed), functools.partial(do_all, unsilenced)]
    if getattr(articulation, "SETTABLE_GAINS", True):
        steps.append(lambda: _restore_gains(articulation, columns, freed))
    do_all(steps)
    for row, column in freed:
        drives.pop(paths[row][column], None)


def clear_efforts(owner: object, bus: PhysicsBus, articulation: ArticulationPort, columns: list[int]) -> None:
    """Set the efforts of joints without another owner to zero."""
    drives = _taken.get(physics_of(bus), {})
    paths = axis_paths(articulation)
    shared = {path for path, drive in drives.items() if any(other is not owner for other in drive.owners)}
    everywhere = itertools.product(range(len(paths)), columns)
    _clear_efforts(articulation, [(row, column) for row, column in everywhere if paths[row][column] not in shared])


def _clear_efforts(articulation: ArticulationPort, freed: Collection[tuple[int, int]]) -> None:
    """Set the efforts of some joints to zero."""
    do_all(functools.partial(articulation.set_dof_efforts, 0.0, **grid) for grid in _grids(freed))


def _grids(places: Collection[tuple[int, int]]) -> list[dict[str, np.ndarray]]:
    """Group rows and columns into the indices of a few calls."""
    # rows with the same joints share a call, usually all of them
    rows_with = grouped((tuple(joints), row) for row, joints in grouped(places).items())
    return [{"indices": np.array(rows), "dof_indices": np.array(joints)} for joints, rows in rows_with.items()]


def _restore_gains(articulation: ArticulationPort, columns: list[int], freed: Mapping[tuple[int, int], _Drive]) -> None:
    """Restore the gains of drives where they are still zero; other gains were set by the user."""
    stiffnesses, dampings = (as_numpy(gains).copy() for gains in articulation.get_dof_gains())
    for at, drive in freed.items():
        if stiffnesses[at] == 0 and dampings[at] == 0:
            stiffnesses[at], dampings[at] = drive.stiffness, drive.damping
    articulation.set_dof_gains(
        stiffnesses[:, columns], dampings[:, columns], dof_indices=columns, update_default_gains=False
    )


def forget_drives(bus: PhysicsBus) -> None:
    """Drop the stored gains of a bus whose physics has stopped."""
    _taken.pop(physics_of(bus), None)


def axis_paths(articulation: ArticulationPort) -> list[list[str]]:
    """Return a unique name per row and axis; the axes of one joint share its path."""
    names = articulation.dof_names
    return [[f"{path}:{name}" for path, name in zip(row, names, strict=True)] for row in articulation.dof_paths]
