"""Default state of an articulation, stored and restored on request."""

from __future__ import annotations

import numpy as np
import warp as wp

from ..base.values import ArrayLike, Indices, broadcast, resolve_indices
from .body_state import BodyState
from .copied import warp_copy

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
            self._reset_roots(rows, pattern[: len(_ROOT)])
            self._reset_dofs(rows, pattern[len(_ROOT) :].reshape(len(_DOFS), -1))

    # inside

    def _reset_roots(self, rows: np.ndarray, known: np.ndarray) -> None:
        """Set the root values of some robots that are known."""
        root = [self._default_state[name][rows] if has else None for name, has in zip(_ROOT, known, strict=True)]
        if known[:2].any():
            self.set_world_poses(*root[:2], indices=rows)
        if known[2:].any():
            self.set_velocities(*root[2:], indices=rows)

    def _reset_dofs(self, rows: np.ndarray, known: np.ndarray) -> None:
        """Set the DOF values of some robots that are known."""
        for name, has in zip(_DOFS, known, strict=True):
            columns = np.flatnonzero(has)
            if columns.size:
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
