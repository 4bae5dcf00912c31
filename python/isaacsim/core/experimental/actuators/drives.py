"""Take joint drives over while actuators are attached, and give them back.

Several wrappers may drive one joint. The first to come notes the drive's gains, the last to leave restores them. Notes
are kept per physics bus and forgotten when physics stops: play reads the gains from the stage again.
"""

from __future__ import annotations

import warnings
import weakref
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .hosts.port import ArticulationPort, PhysicsBus
from .hosts.values import as_numpy


@dataclass
class _Drive:
    """One joint's drive as it was before anybody took it over."""

    stiffness: np.float32
    damping: np.float32
    owners: weakref.WeakSet[Any] = field(default_factory=weakref.WeakSet)


_taken: weakref.WeakKeyDictionary[PhysicsBus, dict[str, _Drive]] = weakref.WeakKeyDictionary()


def take_drives(owner: Any, bus: PhysicsBus, articulation: ArticulationPort, columns: list[int]) -> None:
    """Set the drive gains of the given columns to zero, in all rows, and note what they were."""
    if not columns:
        return
    drives = _taken.setdefault(bus, {})
    stiffnesses, dampings = (as_numpy(gains) for gains in articulation.get_dof_gains())
    shared: dict[str, Any] = {}
    for row, paths in enumerate(_axis_paths(articulation)):
        for column in columns:
            stiffness, damping = stiffnesses[row, column], dampings[row, column]
            drive = drives.get(paths[column])
            if drive is None:
                drive = drives[paths[column]] = _Drive(stiffness, damping)
            elif stiffness or damping:
                # somebody gave the drive new gains since: those are the ones to restore
                drive.stiffness, drive.damping = stiffness, damping
            for other in drive.owners:
                if other is not owner:
                    shared[paths[column]] = other
            drive.owners.add(owner)
    if shared:
        joint, other = next(iter(shared.items()))
        warnings.warn(
            f"{len(shared)} joints, <{joint}> for one, are driven by two actuator wrappers, {other!r} and {owner!r}: "
            "the one that steps last wins. Close one of them or give them different joints.",
            # where the wrapper is made
            stacklevel=7,
        )
    articulation.set_dof_gains(stiffnesses=0.0, dampings=0.0, dof_indices=columns, update_default_gains=False)


def release_drives(owner: Any, bus: PhysicsBus, articulation: ArticulationPort, columns: list[int]) -> None:
    """Clear efforts and restore gains of joints that nobody else drives and whose gains are still zero."""
    if not bus.ready:
        # physics is just stopping, and others were told before the owner
        return forget_drives(bus)
    drives = _taken.get(bus, {})
    stiffnesses, dampings = (as_numpy(gains).copy() for gains in articulation.get_dof_gains())
    freed = np.zeros(stiffnesses.shape, bool)
    for row, paths in enumerate(_axis_paths(articulation)):
        for column in columns:
            drive = drives.get(paths[column])
            if drive is None:
                continue
            drive.owners.discard(owner)
            if drive.owners:
                continue
            drives.pop(paths[column], None)
            freed[row, column] = True
            # gains that are not zero any more were set by somebody who wants them
            if stiffnesses[row, column] == 0 and dampings[row, column] == 0:
                stiffnesses[row, column], dampings[row, column] = drive.stiffness, drive.damping
    # joints freed in the same rows go together, mostly all of them in all rows
    for rows in {rows.tobytes(): rows for rows in freed.T}.values():
        if rows.any():
            joints = np.flatnonzero((freed.T == rows).all(axis=1))
            articulation.set_dof_efforts(0.0, indices=np.flatnonzero(rows), dof_indices=joints)
    articulation.set_dof_gains(
        stiffnesses[:, columns], dampings[:, columns], dof_indices=columns, update_default_gains=False
    )


def forget_drives(bus: PhysicsBus) -> None:
    """Physics has stopped: the notes of this bus are void."""
    _taken.pop(bus, None)


def _axis_paths(articulation: ArticulationPort) -> list[list[str]]:
    """One unique text per row and axis; the axes of one joint share its path."""
    names = articulation.dof_names
    return [[f"{path}:{name}" for path, name in zip(row, names, strict=True)] for row in articulation.dof_paths]
