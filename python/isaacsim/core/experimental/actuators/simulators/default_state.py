"""Poses, velocities, masses and forces of links, and a default state that is stored and restored on request."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import warp as wp

from ..base.values import ArrayLike, Indices, broadcast, resolve_indices
from .articulation import ArrayArticulation, PhysicsBackend
from .port import Buffers
from .rotations import matrices, quaternion_of, seen_from, unit
from .transfer import warp_copy

# arrays of `Buffers`, and those of `RootArrays` that they are
_OF_ROOTS = {"root_poses": "poses", "root_velocities": "velocities", "projected_gravity": "gravity"}


class BodyState(ArrayArticulation):
    """Root links by Isaac Sim's names, and all links; they need running physics.

    Isaac Sim reaches links with `RigidPrim(link_paths)`; here, the articulation has methods for them. Everything is
    in the world frame. Quaternions are (w, x, y, z); linear velocities are those of the center of mass.
    """

    _backend: PhysicsBackend

    # root links

    def get_world_poses(self, *, indices: Indices = None) -> tuple[wp.array, wp.array]:
        """Positions [m], shape `(robots, 3)`, and quaternions, `(robots, 4)`, of the root links."""
        return _split(self._of_roots("poses", indices))

    def set_world_poses(
        self, positions: ArrayLike | None = None, orientations: ArrayLike | None = None, *, indices: Indices = None
    ) -> None:
        """Place the root links, and the robots with them; joint positions and all velocities stay.

        Args:
            positions: [m], shape `(robots, 3)`; None leaves them.
            orientations: Quaternions, `(robots, 4)`, of any length but 0; None leaves them.
            indices: Rows; None means all.

        Raises:
            HostError: A root link hangs on a joint that moves.
        """
        robots = self._picked(indices)
        poses = self._backend.root_poses(robots)
        if positions is not None:
            poses[:, :3] = broadcast(positions, (len(robots), 3), "positions")
        if orientations is not None:
            poses[:, 3:] = _turns(broadcast(orientations, (len(robots), 4), "orientations").astype(float))
        self._backend.write_root_poses(robots, poses)

    def get_velocities(self, *, indices: Indices = None) -> tuple[wp.array, wp.array]:
        """Linear [m/s] and angular [rad/s] velocities of the root links, shape `(robots, 3)` each."""
        return _split(self._of_roots("velocities", indices))

    def set_velocities(
        self,
        linear_velocities: ArrayLike | None = None,
        angular_velocities: ArrayLike | None = None,
        *,
        indices: Indices = None,
    ) -> None:
        """Set velocities of the root links; what is None stays.

        Args:
            linear_velocities: [m/s], shape `(robots, 3)`.
            angular_velocities: [rad/s], `(robots, 3)`.
            indices: Rows; None means all.

        Raises:
            HostError: A base does not float.
        """
        robots = self._picked(indices)
        velocities = self._backend.root_velocities(robots)
        if linear_velocities is not None:
            velocities[:, :3] = broadcast(linear_velocities, (len(robots), 3), "linear_velocities")
        if angular_velocities is not None:
            velocities[:, 3:] = broadcast(angular_velocities, (len(robots), 3), "angular_velocities")
        self._backend.write_root_velocities(robots, velocities)

    def get_linear_velocities(self, *, indices: Indices = None) -> wp.array:
        """Linear velocities [m/s] of the root links, shape `(robots, 3)`."""
        return self.get_velocities(indices=indices)[0]

    def set_linear_velocities(self, velocities: ArrayLike, *, indices: Indices = None) -> None:
        """Set linear velocities [m/s] of the root links; see `set_velocities`."""
        self.set_velocities(linear_velocities=velocities, indices=indices)

    def get_angular_velocities(self, *, indices: Indices = None) -> wp.array:
        """Angular velocities [rad/s] of the root links, shape `(robots, 3)`."""
        return self.get_velocities(indices=indices)[1]

    def set_angular_velocities(self, velocities: ArrayLike, *, indices: Indices = None) -> None:
        """Set angular velocities [rad/s] of the root links; see `set_velocities`."""
        self.set_velocities(angular_velocities=velocities, indices=indices)

    def get_projected_gravity(self, *, indices: Indices = None) -> wp.array:
        """Direction of gravity in the frames of the root links, shape `(robots, 3)`: a policy's sense of what is down.

        Unit vectors, (0, 0, -1) for a robot that stands upright; zeros where the stage has no gravity.

        Args:
            indices: Rows; None means all.
        """
        return warp_copy(self._of_roots("gravity", indices))

    def buffers(self) -> Buffers:
        """Joint arrays as without root links, and those of the root links where the simulator keeps them, to be read.

        Raises:
            HostError: Physics is not running.
        """
        views, arrays, numbers = super().buffers(), self._backend.root_arrays(), self._numbers
        if arrays is None:
            return views
        steps = np.unique(np.diff(numbers))
        if len(steps) <= 1 and (not steps.size or steps[0] > 0):
            rows: Any = slice(numbers[0], numbers[-1] + 1, steps[0] if steps.size else 1)
            return replace(views, **{name: getattr(arrays, own)[rows] for name, own in _OF_ROOTS.items()})
        copies = {name: getattr(arrays, own)[numbers] for name, own in _OF_ROOTS.items()}

        def refresh() -> None:
            views.refresh()
            for name, own in _OF_ROOTS.items():
                copies[name][:] = getattr(arrays, own)[numbers]

        return replace(views, **copies, refresh=refresh)

    # links

    def get_link_world_poses(
        self, *, indices: Indices = None, link_indices: Indices = None
    ) -> tuple[wp.array, wp.array]:
        """Positions [m], shape `(robots, links, 3)`, and quaternions, `(robots, links, 4)`, of the links."""
        return _split(self._collect(self._backend.link_poses, indices, link_indices))

    def get_link_velocities(
        self, *, indices: Indices = None, link_indices: Indices = None
    ) -> tuple[wp.array, wp.array]:
        """Linear [m/s] and angular [rad/s] velocities of the links, shape `(robots, links, 3)` each."""
        return _split(self._collect(self._backend.link_velocities, indices, link_indices))

    def get_link_masses(self, *, indices: Indices = None, link_indices: Indices = None) -> wp.array:
        """Masses [kg], shape `(robots, links)`."""
        return warp_copy(self._collect(self._backend.link_masses, indices, link_indices))

    def get_link_coms(self, *, indices: Indices = None, link_indices: Indices = None) -> tuple[wp.array, wp.array]:
        """Centers of mass [m] in link frames, `(robots, links, 3)`, and quaternions of their principal axes."""
        return _split(self._collect(self._backend.link_coms, indices, link_indices))

    def get_link_inertias(self, *, indices: Indices = None, link_indices: Indices = None) -> wp.array:
        """Inertias [kg m²] about the centers of mass, along the axes of the link frames, shape `(robots, links, 9)`."""
        found = self._collect(self._backend.link_inertias, indices, link_indices)
        return warp_copy(found.reshape(*found.shape[:2], 9))

    def get_link_incoming_joint_force(
        self, *, indices: Indices = None, link_indices: Indices = None
    ) -> tuple[wp.array, wp.array]:
        """Forces [N] and torques [N·m] that joints exert on the links they carry, shape `(robots, links, 3)` each.

        They are given in the frame that the joint has in the link, about its origin; in that of the link's axes where
        MuJoCo read the robot from URDF or MJCF. When they act: see `get_dof_projected_joint_forces`. Zero for a root
        that floats.

        Args:
            indices: Rows; None means all.
            link_indices: Links; None means all.
        """
        return _split(self._collect(self._backend.incoming_forces, indices, link_indices))

    def set_link_masses(self, masses: ArrayLike, *, indices: Indices = None, link_indices: Indices = None) -> None:
        """Set masses [kg], shape `(robots, links)`, until physics stops; inertias stay as they are.

        Raises:
            HostError: Not with PhysX.
            ValueError: A mass is not > 0; a link that has none may keep it.
        """
        robots, links = self._links_asked(indices, link_indices)
        given = broadcast(masses, (len(robots), len(links)), "masses").astype(float)
        now = self._collect(self._backend.link_masses, indices, links)
        if len(wrong := np.argwhere(~(np.isfinite(given) & ((given > 0) | ((given == 0) & (now == 0)))))):
            row, column = wrong[0]
            raise ValueError(f"masses[{row}, {column}] = {given[row, column]:g}: must be finite and > 0. Correct it.")
        self._backend.write_link_inertias(robots, links, {"masses": given})

    def set_link_coms(
        self,
        positions: ArrayLike | None = None,
        orientations: ArrayLike | None = None,
        *,
        indices: Indices = None,
        link_indices: Indices = None,
    ) -> None:
        """Set centers of mass and their principal axes in the link frames, until physics stops; what is None stays.

        Args:
            positions: [m], shape `(robots, links, 3)`.
            orientations: Quaternions, `(robots, links, 4)`, of any length but 0.
            indices: Rows; None means all.
            link_indices: Links; None means all.

        Raises:
            HostError: Not with PhysX.
        """
        robots, links = self._links_asked(indices, link_indices)
        shape = len(robots), len(links)
        places = self._collect(self._backend.link_coms, indices, links)
        if positions is not None:
            places[..., :3] = broadcast(positions, (*shape, 3), "positions")
        if not np.isfinite(places).all():
            raise ValueError("positions: must be finite. Correct them.")
        if orientations is not None:
            flat = broadcast(orientations, (*shape, 4), "orientations").reshape(-1, 4)
            places[..., 3:] = _turns(flat).reshape(*shape, 4)
        self._backend.write_link_inertias(robots, links, {"places": places})

    def set_link_inertias(self, inertias: ArrayLike, *, indices: Indices = None, link_indices: Indices = None) -> None:
        """Set inertias [kg m²] about the centers of mass, along the link's axes, `(robots, links, 9)`, until stop.

        Raises:
            HostError: Not with PhysX.
            ValueError: An inertia is one that no body can have; a link that has none may keep it.
        """
        robots, links = self._links_asked(indices, link_indices)
        shape = len(robots), len(links)
        given = broadcast(inertias, (*shape, 9), "inertias").astype(float).reshape(*shape, 3, 3)
        places = self._collect(self._backend.link_coms, indices, links)
        now = self._collect(self._backend.link_inertias, indices, links)
        kept = np.abs(given - now).max(axis=(2, 3)) == 0
        for place in np.argwhere(~kept).tolist():
            one = given[tuple(place)]
            rule = "must be finite, symmetric and positive, no moment above the sum of the others"
            if np.isfinite(one).all() and np.allclose(one, one.T, rtol=1e-5, atol=1e-9 * np.abs(one).max()):
                moments = np.linalg.eigvalsh(one)
                if moments[0] > 0 and moments[2] <= (1 + 1e-5) * (moments[0] + moments[1]):
                    continue
            raise ValueError(f"inertias[{place[0]}, {place[1]}]: {rule}. Correct it.")
        moments = np.empty((*shape, 3))
        moved = False
        for place in np.ndindex(shape):
            axes = matrices(places[place][None, 3:])[0]
            along = axes.T @ given[place] @ axes
            moments[place] = np.diag(along)
            if np.abs(along - np.diag(np.diag(along))).max() > 1e-6 * np.abs(along).max():
                moments[place], turn = np.linalg.eigh(given[place])
                places[place][3:] = quaternion_of(turn * np.linalg.det(turn))
                moved = True
        self._backend.write_link_inertias(robots, links, {"moments": moments} | ({"places": places} if moved else {}))

    def _of_roots(self, name: str, indices: Indices) -> np.ndarray:
        """Poses, velocities, or the direction of gravity, of the root links of the robots asked for."""
        robots = self._picked(indices)
        if (arrays := self._backend.root_arrays()) is not None:
            return getattr(arrays, name)[robots]
        if name == "gravity":
            return seen_from(self._backend.root_poses(robots)[:, 3:], unit(self._backend.gravity))
        return getattr(self._backend, f"root_{name}")(robots)

    def _links_asked(self, indices: Indices, link_indices: Indices) -> tuple[np.ndarray, np.ndarray]:
        """Numbers of robots, and of links, asked for."""
        return self._picked(indices), resolve_indices(link_indices, len(self._robots[0].links), "link")

    def _collect(self, read: Callable[[np.ndarray], np.ndarray], indices: Indices, link_indices: Indices) -> np.ndarray:
        """Values of some links of some robots."""
        found = self._read(read, indices)
        if link_indices is None:
            return found
        return found[:, resolve_indices(link_indices, len(self._robots[0].links), "link")]


def _turns(quaternions: np.ndarray) -> np.ndarray:
    """Quaternions of length 1."""
    lengths = np.linalg.norm(quaternions, axis=1, keepdims=True)
    if (wrong := np.flatnonzero(~(lengths >= 1e-6))).size:
        raise ValueError(f"orientations[{wrong[0]}] has length 0: must be a quaternion (w, x, y, z). Correct it.")
    return quaternions / lengths


def _split(both: np.ndarray) -> tuple[wp.array, wp.array]:
    """The first three numbers along the last axis, and the rest."""
    return warp_copy(both[..., :3]), warp_copy(both[..., 3:])


# in the order of `get_default_state`, with the number of components per robot where it is not per DOF
_ROOT = {"positions": 3, "orientations": 4, "linear_velocities": 3, "angular_velocities": 3}
_DOFS = ("dof_positions", "dof_velocities", "dof_efforts")


class DefaultState(BodyState):
    """The default state; NaN marks values without a default."""

    def set_default_state(
        self,
        positions: ArrayLike | None = None,
        orientations: ArrayLike | None = None,
        linear_velocities: ArrayLike | None = None,
        angular_velocities: ArrayLike | None = None,
        dof_positions: ArrayLike | None = None,
        dof_velocities: ArrayLike | None = None,
        dof_efforts: ArrayLike | None = None,
        *,
        indices: Indices = None,
        dof_indices: Indices = None,
    ) -> None:
        """Store a state for `reset_to_default_state`; arguments that are None keep their stored values.

        Args:
            positions: Of the root links [m], shape `(robots, 3)`.
            orientations: Of the root links, quaternions (w, x, y, z), `(robots, 4)`.
            linear_velocities: Of the root links [m/s], `(robots, 3)`.
            angular_velocities: Of the root links [rad/s], `(robots, 3)`.
            dof_positions: [rad or m], `(robots, DOFs)`.
            dof_velocities: [rad/s or m/s], `(robots, DOFs)`.
            dof_efforts: [N·m or N], `(robots, DOFs)`.
            indices: Rows; None means all.
            dof_indices: Columns; None means all.
        """
        given = dict(zip(_ROOT, (positions, orientations, linear_velocities, angular_velocities), strict=True))
        given |= dict(zip(_DOFS, (dof_positions, dof_velocities, dof_efforts), strict=True))
        places = {name: self._place(name, indices, dof_indices) for name in given}
        rows = {
            name: broadcast(values, places[name][0].shape[:1] + places[name][1].shape[-1:], name)
            for name, values in given.items()
            if values is not None
        }
        for name, values in rows.items():
            self._default_state[name][places[name]] = values

    def get_default_state(self, *, indices: Indices = None, dof_indices: Indices = None) -> tuple[wp.array | None, ...]:
        """Return the stored values in the order of the arguments of `set_default_state`; None where there are none."""
        found = []
        for name in (*_ROOT, *_DOFS):
            place = self._place(name, indices, dof_indices)
            values = self._default_state[name]
            known = not np.isnan(values).all()
            found.append(warp_copy(values[place]) if known else None)
        return tuple(found)

    def reset_to_default_state(self) -> None:
        """Put the robots into the default state, as far as it is stored.

        Raises:
            HostError: Physics is not running, or a root link cannot be moved.
        """
        self._live()
        # a root value is set where all its components are known, a DOF value where it is known itself
        known = {name: ~np.isnan(values) for name, values in self._default_state.items()}
        given = [known[name].all(axis=1, keepdims=True) for name in _ROOT] + [known[name] for name in _DOFS]
        # robots with the same values known are set together
        patterns, which = np.unique(np.hstack(given), axis=0, return_inverse=True)
        for number, pattern in enumerate(patterns):
            rows = np.flatnonzero(which.ravel() == number)
            of_root, of_dofs = pattern[: len(_ROOT)], pattern[len(_ROOT) :].reshape(len(_DOFS), -1)
            root = [self._default_state[name][rows] if has else None for name, has in zip(_ROOT, of_root, strict=True)]
            if of_root[:2].any():
                self.set_world_poses(*root[:2], indices=rows)
            if of_root[2:].any():
                self.set_velocities(*root[2:], indices=rows)
            for name, has in zip(_DOFS, of_dofs, strict=True):
                if len(columns := np.flatnonzero(has)):
                    values = self._default_state[name][np.ix_(rows, columns)]
                    getattr(self, f"set_{name}")(values, indices=rows, dof_indices=columns)

    def _resolve(self) -> None:
        super()._resolve()
        shapes = {name: (len(self._robots), numbers) for name, numbers in _ROOT.items()}
        shapes |= dict.fromkeys(_DOFS, self._at.shape)
        kept = getattr(self, "_default_state", {})
        if not (kept and all(kept[name].shape == shape for name, shape in shapes.items())):
            self._default_state = {name: np.full(shape, np.nan, np.float32) for name, shape in shapes.items()}

    def _place(self, name: str, indices: Indices, dof_indices: Indices) -> tuple[np.ndarray, ...]:
        """Rows and columns of a stored array."""
        rows = resolve_indices(indices, len(self), "robot")
        columns = resolve_indices(dof_indices, self.num_dofs, "DOF") if name in _DOFS else np.arange(_ROOT[name])
        return np.ix_(rows, columns)
