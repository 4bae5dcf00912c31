"""An articulation over plain arrays, with the method names of Isaac Sim.

Hosts keep the state of all joints in flat float32 arrays, robot after robot; an articulation is a selection of robots.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Protocol

import numpy as np
import warp as wp

from ..base.errors import HostError
from ..base.values import ArrayLike, Indices, as_integers, broadcast, grouped, resolve_indices
from ..specs.arguments import names_of
from ..specs.roots import Roots, no_match, no_pattern
from .dof_access import DofAccess
from .port import Buffers, JointViews, nothing, require_same_joints
from .transfer import warp_copy

if TYPE_CHECKING:
    from ..files.usd.handles import Stage


@dataclass(frozen=True)
class Robot:
    """One robot in a host's arrays; `path` is the articulation root, unique in a host."""

    path: str
    # joint path and name of each axis
    dof_paths: tuple[str, ...]
    dof_names: tuple[str, ...]
    # root path and joint paths of the robot on the stage that this one is a copy of
    prototype: tuple[str, tuple[str, ...]]
    env: int
    # of its first joint in the flat arrays
    offset: int
    # USD's name of each: `angular`, `linear`, or `transX` … `rotZ` of a many-axis joint
    axes: tuple[str, ...] = ()
    # the root first, then breadth-first
    links: tuple[str, ...] = ()
    # inside the robot, in the order of the links; none for a base that is fixed or floats
    joints: tuple[str, ...] = ()
    # the root link is free in the world
    floating: bool = False


@dataclass(frozen=True)
class DofArrays:
    """State of all joints of a host, each a flat float32 array."""

    positions: np.ndarray
    velocities: np.ndarray
    position_targets: np.ndarray
    velocity_targets: np.ndarray
    efforts: np.ndarray
    stiffnesses: np.ndarray
    dampings: np.ndarray

    @classmethod
    def zeros(cls, size: int) -> DofArrays:
        """Return arrays of `size` zeros."""
        return cls(**{field.name: _zeros(size) for field in fields(cls)})


@dataclass(frozen=True)
class RootArrays:
    """State of all root links of a host, float32, a row per robot; see `Buffers`."""

    poses: np.ndarray
    velocities: np.ndarray
    gravity: np.ndarray

    @classmethod
    def zeros(cls, robots: int) -> RootArrays:
        """Return arrays of zeros for so many robots."""
        return cls(*(np.zeros((robots, columns), np.float32) for columns in (7, 6, 3)))


def name_in(path: str) -> str:
    """Return the last segment of a prim path."""
    return path.rsplit("/", 1)[-1]


def _zeros(size: int) -> np.ndarray:
    """A float32 array that begins with a cache line, of 16 numbers: vectors read from it do not cross lines."""
    memory = np.zeros(size + 16, np.float32)
    start = -memory.ctypes.data % 64 // memory.itemsize
    return memory[start : start + size]


class DofBackend(Protocol):
    """Requirements of `ArrayArticulation` on its host."""

    generation: int
    """Changes whenever robots or arrays are replaced."""

    def robots(self) -> list[Robot]:
        """All robots, known before physics runs."""
        ...

    def arrays(self) -> DofArrays | None:
        """The arrays, or None while physics does not run."""
        ...

    def write_state(self, name: str, at: np.ndarray) -> None:
        """`positions` or `velocities` were set by a user, at the places `at` of the flat array."""

    def write_gains(self) -> None:
        """Gains in the arrays were set by a user."""


class PhysicsBackend(DofBackend, Protocol):
    """Further requirements on hosts with embedded physics. All but the first two hold while physics runs only.

    Positions are [m], quaternions (w, x, y, z), velocities [m/s] and [rad/s], all in the world frame. The linear
    velocity of a link is that of its center of mass. With a floating base, the first six of a robot's coordinates are
    the linear and the angular velocity of its root link; its DOFs follow. Robots are given by index in `robots`.
    """

    engine: str
    """Name of the simulator, for messages."""

    stage: Stage | None
    """The USD stage; None where there is none."""

    def property_of_file(self, name: str) -> np.ndarray:
        """A property of `PROPERTIES` in `files.usd.joint_properties` as a file has it, flat, without a stage."""
        ...

    def read_property(self, name: str) -> np.ndarray:
        """A property of `PROPERTIES` in `files.usd.joint_properties` in force, SI, flat; ±inf is no limit.

        Properties that physics does not use have their authored values. Gains and targets are in `arrays` instead.
        """
        ...

    def write_properties(self, values: Mapping[str, np.ndarray], at: np.ndarray) -> None:
        """Set such properties at places of the flat arrays, all or none; a `HostError` if physics cannot have them."""

    def harden_friction(self, at: np.ndarray, hard: bool) -> None:
        """Keep dry frictions as hard as physics allows at the places `at` of the flat arrays, or end that."""

    def gravity_efforts(self) -> np.ndarray:
        """Efforts that balance gravity, flat."""
        ...

    def coriolis_efforts(self) -> np.ndarray:
        """Efforts that balance Coriolis and centrifugal forces, flat."""
        ...

    def mass_matrices(self, robots: np.ndarray) -> np.ndarray:
        """Square, of the coordinates, `(robots, coordinates, coordinates)`."""
        ...

    def velocity_weights(self, robots: np.ndarray) -> np.ndarray:
        """Weights of the velocity after a step in the step of positions, `(robots,)`."""
        ...

    def jacobians(self, robots: np.ndarray) -> np.ndarray:
        """Jacobians of the links without a fixed root, linear rows first, `(robots, links, 6, coordinates)`."""
        ...

    def incoming_forces(self, robots: np.ndarray) -> np.ndarray:
        """Force [N] and torque [N·m] of the joint that carries each link, in its frame there, `(robots, links, 6)`."""
        ...

    def projected_forces(self) -> np.ndarray:
        """Incoming forces projected on the joints' axes, flat."""
        ...

    def link_masses(self, robots: np.ndarray) -> np.ndarray:
        """Masses [kg], `(robots, links)`."""
        ...

    def link_coms(self, robots: np.ndarray) -> np.ndarray:
        """Centres of mass and their principal axes in the link frame, `(robots, links, 7)`."""
        ...

    def link_inertias(self, robots: np.ndarray) -> np.ndarray:
        """Inertias about the centers of mass [kg m²], along the axes of the link frame, `(robots, links, 3, 3)`."""
        ...

    def write_link_inertias(self, robots: np.ndarray, links: np.ndarray, values: Mapping[str, np.ndarray]) -> None:
        """Set masses of links until physics stops; a `HostError` if physics cannot change them while it runs.

        Values are any of `masses`, `(robots, links)`; `places`, of the centers of mass and their principal axes in the
        link frame, `(robots, links, 7)`; `moments` about these axes, `(robots, links, 3)`.
        """

    @property
    def gravity(self) -> np.ndarray:
        """Acceleration of free fall [m/s²], `(3,)`."""
        ...

    def link_poses(self, robots: np.ndarray) -> np.ndarray:
        """Position and quaternion of each link, `(robots, links, 7)`."""
        ...

    def link_velocities(self, robots: np.ndarray) -> np.ndarray:
        """Linear and angular velocity of each link, `(robots, links, 6)`."""
        ...

    def root_arrays(self) -> RootArrays | None:
        """Arrays of the root links that follow physics; None where there are none."""
        ...

    def root_poses(self, robots: np.ndarray) -> np.ndarray:
        """Poses of the root links, `(robots, 7)`."""
        ...

    def root_velocities(self, robots: np.ndarray) -> np.ndarray:
        """Velocities of the root links, `(robots, 6)`."""
        ...

    def write_root_poses(self, robots: np.ndarray, poses: np.ndarray) -> None:
        """Place root links; joints and velocities stay. A `HostError` if one cannot be placed; then none is."""

    def write_root_velocities(self, robots: np.ndarray, velocities: np.ndarray) -> None:
        """Set velocities of root links; a `HostError` if a base does not float; then none is set."""

    def observe_contacts(self, observer: object, robots: np.ndarray, links: Sequence[int]) -> None:
        """Compute contact forces of links while the observer lives, or end it for none; a `HostError` if it cannot."""

    def contact_forces(self, robots: np.ndarray, links: Sequence[int]) -> np.ndarray:
        """Contact forces [N] of the last step, world, `(robots, links, 3)`; a `HostError` for links not observed."""
        ...


class ArrayArticulation(DofAccess):
    """The robots of a host that match some paths; see `Articulation`.

    Getters return new Warp arrays on the CPU, float32, shape `(robots, DOFs)` of the indices asked for. Setters take
    scalars, lists, NumPy or Warp arrays that broadcast to that shape. Indices are integers or boolean masks; None means
    all. Everything but paths and names needs running physics and raises `HostError` without.
    """

    def __init__(self, backend: DofBackend, paths: str | Sequence[str]) -> None:
        self._backend = backend
        self._patterns = paths
        self._viewed: DofArrays | None = None
        self._views: dict[str, np.ndarray] = {}
        self._resolve()

    # metadata

    def __len__(self) -> int:
        return len(self._current())

    @property
    def paths(self) -> list[str]:
        """Articulation root of each row."""
        return [robot.path for robot in self._current()]

    @property
    def prototype_path(self) -> str:
        """Path on the stage of the robot that all rows are like."""
        return self._current()[0].prototype[0]

    @property
    def prototype_dof_paths(self) -> list[str]:
        """Paths on the stage of the prototype's joints."""
        return list(self._current()[0].prototype[1])

    @property
    def num_dofs(self) -> int:
        """Number of joint axes per row, those of a floating base not counted."""
        return len(self._current()[0].dof_names)

    @property
    def dof_names(self) -> list[str]:
        """Names of the joint axes, breadth-first; an axis of a many-axis joint is named `joint:axis`."""
        return list(self._current()[0].dof_names)

    @property
    def dof_paths(self) -> list[list[str]]:
        """Joint path of each axis of each row."""
        return [list(robot.dof_paths) for robot in self._current()]

    @property
    def device(self) -> str:
        """Device of `buffers()`."""
        return "cpu"

    def envs_to_rows(self, env_ids: Sequence[int]) -> list[int]:
        """Rows that belong to the given environments.

        Raises:
            ValueError: They are no integers.
        """
        self._current()
        return np.flatnonzero(np.isin(self._envs, as_integers(env_ids, "environment"))).tolist()

    # efforts and drives

    def get_dof_efforts(self, *, indices: Indices = None, dof_indices: Indices = None) -> wp.array:
        """Efforts [N·m or N] that were set last."""
        return self._get("efforts", indices, dof_indices)

    def set_dof_efforts(self, efforts: ArrayLike, *, indices: Indices = None, dof_indices: Indices = None) -> None:
        """Set efforts [N·m or N]; they act in every physics step until others are set, a reset or a stop."""
        self._set("efforts", efforts, indices, dof_indices)

    def buffers(self) -> Buffers:
        """Positions, velocities, targets and efforts in place, float32, `(robots, DOFs)`: no getter, no copy.

        Where the selected robots are evenly spaced, as copies of an environment are, these are views of the
        simulator's arrays; else copies that `refresh()` reads and `commit()` writes. Targets and efforts may be
        written; positions and velocities are set by `set_dof_positions` and `set_dof_velocities` only. The arrays live
        from play to stop.

        Raises:
            HostError: Physics is not running.
        """
        arrays, at = self._live(), self._at
        names = ("positions", "velocities", "position_targets", "velocity_targets", "efforts")
        if views := self._views_of(arrays):
            return Buffers(**{name: views[name] for name in names}, refresh=nothing, commit=nothing)
        copies = {name: getattr(arrays, name)[at] for name in names}

        def refresh() -> None:
            for name in names:
                copies[name][:] = getattr(arrays, name)[at]

        def commit() -> None:
            for name in ("position_targets", "velocity_targets", "efforts"):
                getattr(arrays, name)[at] = copies[name]

        return Buffers(**copies, refresh=refresh, commit=commit)

    def _following(self, mirrors: Mapping[str, np.ndarray]) -> JointViews:
        """Views of other flat mirrors for the selected robots, or copies."""
        at, shape = self._at, self._at.shape
        if (even := self._spacing()) is not None:
            return JointViews({name: _rows(array, *even, shape) for name, array in mirrors.items()}, nothing)
        copies = {name: array[at] for name, array in mirrors.items()}

        def refresh() -> None:
            for name, array in mirrors.items():
                copies[name][:] = array[at]

        return JointViews(copies, refresh)

    def _resolve(self) -> None:
        """Match the paths against the host's robots as they are now."""
        generation, robots = self._backend.generation, self._backend.robots()
        # by the robots' own paths or by that of their prototype
        copies = grouped((robot.prototype[0], row) for row, robot in enumerate(robots))
        own, prototypes = Roots(robot.path for robot in robots), Roots(copies)
        picked: dict[int, None] = {}
        for pattern in names_of("articulation paths", self._patterns, "a path"):
            hits = own.find(pattern)
            if not hits:
                hits = sorted(row for hit in prototypes.find(pattern) for row in copies[prototypes.paths[hit]])
            if not hits:
                stage = getattr(self._backend, "stage", None)
                raise no_match(pattern, prototypes.paths, _unloaded(stage), has_prims=stage is not None)
            picked |= dict.fromkeys(hits)
        if not picked:
            raise no_pattern()
        self._take([robots[i] for i in picked])
        self._numbers = np.array(list(picked))
        # not before: what failed to match is matched again
        self._generation = generation

    def _take(self, rows: list[Robot]) -> None:
        """Select robots."""
        require_same_joints([robot.path for robot in rows], [robot.dof_names for robot in rows])
        self._robots, self._viewed = rows, None
        self._at = np.array([robot.offset for robot in rows])[:, None] + np.arange(len(rows[0].dof_names))
        self._envs = np.array([robot.env for robot in rows])

    def _current(self) -> list[Robot]:
        if self._generation != self._backend.generation:
            self._resolve()
        return self._robots

    def _live(self) -> DofArrays:
        arrays = self._backend.arrays()
        if arrays is None:
            raise HostError("physics is not running: joints are read and written between play and stop. Call play().")
        self._current()
        return arrays

    def _index(self, indices: Indices, dof_indices: Indices) -> np.ndarray:
        rows = resolve_indices(indices, len(self._robots), "robot")
        columns = resolve_indices(dof_indices, self._at.shape[1], "DOF")
        # the usual case, and faster
        return self._at[:, columns] if indices is None else self._at[rows[:, None], columns]

    def _get(self, name: str, indices: Indices, dof_indices: Indices) -> wp.array:
        arrays = self._live()
        if indices is None and dof_indices is None and (views := self._views_of(arrays)):
            return warp_copy(views[name])
        return warp_copy(getattr(arrays, name)[self._index(indices, dof_indices)])

    def _set(self, name: str, values: ArrayLike, indices: Indices, dof_indices: Indices) -> None:
        arrays = self._live()
        if indices is None and dof_indices is None and (views := self._views_of(arrays)):
            views[name][...] = broadcast(values, self._at.shape, name)
            return
        at = self._index(indices, dof_indices)
        getattr(arrays, name)[at] = broadcast(values, at.shape, name)

    def _set_all(self, given: Mapping[str, ArrayLike | None], indices: Indices, dof_indices: Indices) -> None:
        arrays, at = self._live(), self._index(indices, dof_indices)
        # all are checked before any is set
        rows = {name: broadcast(values, at.shape, name) for name, values in given.items() if values is not None}
        for name, values in rows.items():
            getattr(arrays, name)[at] = values
        self._backend.write_gains()

    def _views_of(self, arrays: DofArrays) -> dict[str, np.ndarray]:
        """A view of the rows of each array; none where the robots are not evenly spaced. Made once per play."""
        if self._viewed is not arrays:
            self._viewed, self._views = arrays, {}
            if (even := self._spacing()) is not None:
                for field in fields(arrays):
                    self._views[field.name] = _rows(getattr(arrays, field.name), *even, self._at.shape)
        return self._views

    def _spacing(self) -> tuple[int, int] | None:
        """Offset of the first robot in the mirrors, and the pitch; None where robots are not evenly spaced."""
        shape, first = self._at.shape, self._at[:, 0] if self._at.size else np.zeros(len(self._at), int)
        pitch = int(first[1] - first[0]) if len(first) > 1 else shape[1]
        start = int(first[0])
        even = pitch >= shape[1] and np.array_equal(first, start + pitch * np.arange(len(first)))
        return (start, pitch) if even else None

    def _read(self, read: Callable[[np.ndarray], np.ndarray], indices: Indices) -> np.ndarray:
        """Values of some robots; of none, an empty array of the same shape per robot."""
        numbers = self._picked(indices)
        return read(numbers) if len(numbers) else read(self._numbers[:1])[:0]

    def _picked(self, indices: Indices) -> np.ndarray:
        """Numbers of the robots asked for."""
        self._live()
        return self._numbers[resolve_indices(indices, len(self._robots), "robot")]

    def _state_was_set(self, name: str, indices: Indices, dof_indices: Indices) -> None:
        self._backend.write_state(name, self._index(indices, dof_indices))


def _unloaded(stage: Stage | None) -> list[str]:
    """Payloads that may hold a robot."""
    if stage is None:
        return []
    from ..files.usd.articulation import unloaded_payloads

    return unloaded_payloads(stage)


def _rows(flat: np.ndarray, start: int, pitch: int, shape: tuple[int, int]) -> np.ndarray:
    """A writable view of evenly spaced rows of a flat array."""
    step = flat.itemsize
    return np.lib.stride_tricks.as_strided(flat[start:], shape, (pitch * step, step))
