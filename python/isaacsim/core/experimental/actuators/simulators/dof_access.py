"""The per-joint methods of an articulation, with Isaac Sim's names, over arrays accessed by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import warp as wp

from ..base.errors import NotCopied
from ..base.values import ArrayLike, Indices
from ..files.usd.axes import disambiguate
from ..specs.arguments import names_of


def span(paths: Sequence[str]) -> str:
    """Return a short name of some robots: the path of the only one, or those of the first and the last."""
    return paths[0] if len(paths) == 1 else f"{paths[0]} … {paths[-1]}"


class DofAccess(NotCopied):
    """Base class of the articulations of several hosts; a subclass knows where the arrays are."""

    _INSTEAD = "Hand the articulation itself on, or make another one of the same paths."

    # implemented by subclasses

    @property
    def paths(self) -> list[str]:
        """Articulation root of each row."""
        raise NotImplementedError

    @property
    def dof_names(self) -> list[str]:
        """Names of the joint axes."""
        raise NotImplementedError

    @property
    def dof_paths(self) -> list[list[str]]:
        """Joint path of each axis of each row."""
        raise NotImplementedError

    def _get(self, name: str, indices: Indices, dof_indices: Indices) -> wp.array:
        raise NotImplementedError

    def _set(self, name: str, values: ArrayLike, indices: Indices, dof_indices: Indices) -> None:
        raise NotImplementedError

    def _set_all(self, given: Mapping[str, ArrayLike | None], indices: Indices, dof_indices: Indices) -> None:
        """Set the arrays that are not None."""
        for name, values in given.items():
            if values is not None:
                self._set(name, values, indices, dof_indices)

    def _state_was_set(self, name: str, indices: Indices, dof_indices: Indices) -> None:
        """Pass on positions or velocities that were set; does nothing by default."""

    def __repr__(self) -> str:
        return f"<Articulation of {span(self.paths)}: {len(self.dof_names)} DOFs x {len(self.paths)} robots>"

    # joints

    def get_dof_indices(self, names: str | Sequence[str]) -> wp.array:
        """Return the columns of the named joints, int32; joints that share a name are named by their paths.

        Raises:
            ValueError: There is no such joint; the message lists the joints.
        """
        known = disambiguate(self.dof_names, getattr(self, "prototype_dof_paths", None) or self.dof_paths[0])
        wanted = names_of("names", names)
        for name in wanted:
            if name not in known:
                raise ValueError(f"joint {name!r}: not in <{self.paths[0]}>. Available: {known}.")
        return wp.array([known.index(name) for name in wanted], dtype=wp.int32, device="cpu")

    # state

    def get_dof_positions(self, *, indices: Indices = None, dof_indices: Indices = None) -> wp.array:
        """Positions [rad or m]."""
        return self._get("positions", indices, dof_indices)

    def set_dof_positions(self, positions: ArrayLike, *, indices: Indices = None, dof_indices: Indices = None) -> None:
        """Set positions [rad or m], and the position targets to the same values."""
        self._set("positions", positions, indices, dof_indices)
        self._set("position_targets", positions, indices, dof_indices)
        self._state_was_set("positions", indices, dof_indices)

    def get_dof_velocities(self, *, indices: Indices = None, dof_indices: Indices = None) -> wp.array:
        """Velocities [rad/s or m/s]."""
        return self._get("velocities", indices, dof_indices)

    def set_dof_velocities(
        self, velocities: ArrayLike, *, indices: Indices = None, dof_indices: Indices = None
    ) -> None:
        """Set velocities [rad/s or m/s], and the velocity targets to the same values."""
        self._set("velocities", velocities, indices, dof_indices)
        self._set("velocity_targets", velocities, indices, dof_indices)
        self._state_was_set("velocities", indices, dof_indices)

    def get_dof_position_targets(self, *, indices: Indices = None, dof_indices: Indices = None) -> wp.array:
        """Position targets [rad or m]."""
        return self._get("position_targets", indices, dof_indices)

    def set_dof_position_targets(
        self, positions: ArrayLike, *, indices: Indices = None, dof_indices: Indices = None
    ) -> None:
        """Set position targets [rad or m], of joint drives and actuators alike."""
        self._set("position_targets", positions, indices, dof_indices)

    def get_dof_velocity_targets(self, *, indices: Indices = None, dof_indices: Indices = None) -> wp.array:
        """Velocity targets [rad/s or m/s]."""
        return self._get("velocity_targets", indices, dof_indices)

    def set_dof_velocity_targets(
        self, velocities: ArrayLike, *, indices: Indices = None, dof_indices: Indices = None
    ) -> None:
        """Set velocity targets [rad/s or m/s], of joint drives and actuators alike."""
        self._set("velocity_targets", velocities, indices, dof_indices)

    # drives

    def get_dof_gains(self, *, indices: Indices = None, dof_indices: Indices = None) -> tuple[wp.array, wp.array]:
        """Stiffnesses [N·m/rad or N/m] and dampings [N·m·s/rad or N·s/m] of the joint drives."""
        return self._get("stiffnesses", indices, dof_indices), self._get("dampings", indices, dof_indices)

    def set_dof_gains(
        self,
        stiffnesses: ArrayLike | None = None,
        dampings: ArrayLike | None = None,
        *,
        indices: Indices = None,
        dof_indices: Indices = None,
        update_default_gains: bool = True,
    ) -> None:
        """Set stiffnesses, dampings or both of the joint drives; there are no stored defaults to update."""
        self._set_all({"stiffnesses": stiffnesses, "dampings": dampings}, indices, dof_indices)
