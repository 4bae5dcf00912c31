"""Bind actuators to any simulator: what its articulation or bus does not offer is supplied here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import warp as wp

from ..errors import HostError
from .port import ArticulationPort, Buffers, require_members
from .values import as_numpy

_STATE = ("positions", "velocities", "position_targets", "velocity_targets")


class Binding:
    """An articulation as actuators see it, see `ArticulationExtras` for what it may leave out.

    Args:
        articulation: The robots.

    Raises:
        HostError: It lacks a member of `ArticulationPort`.
    """

    def __init__(self, articulation: ArticulationPort) -> None:
        require_members(articulation, ArticulationPort)
        self.articulation = articulation
        given = getattr(articulation, "device", None) or getattr(articulation, "_device", None)
        self.device = str(given or "cpu")

    @property
    def num_robots(self) -> int:
        """Number of rows."""
        return len(self.articulation.paths)

    @property
    def prototype_path(self) -> str:
        """Path on the stage of the robot that all rows are like."""
        return getattr(self.articulation, "prototype_path", None) or self.articulation.paths[0]

    @property
    def prototype_dof_paths(self) -> list[str]:
        """Paths on the stage of the prototype's joints."""
        return list(getattr(self.articulation, "prototype_dof_paths", None) or self.articulation.dof_paths[0])

    def envs_to_rows(self, env_ids: Sequence[int]) -> list[int]:
        """Rows that belong to the given environments."""
        convert = getattr(self.articulation, "envs_to_rows", list)
        return convert(env_ids)

    def buffers(self, columns: Sequence[int]) -> Buffers:
        """The articulation's own arrays, or copies that its getters fill and its effort setter takes.

        Args:
            columns: Of the actuated joints; no other column of the efforts is set.
        """
        own = getattr(self.articulation, "buffers", None)
        return own() if own is not None else self._copies(sorted(columns))

    def _copies(self, columns: list[int]) -> Buffers:
        robots = self.articulation
        shape = (self.num_robots, robots.num_dofs)
        device = wp.get_device(self.device)
        state = {name: wp.zeros(shape, dtype=wp.float32, device=device) for name in _STATE}
        efforts = wp.zeros(shape, dtype=wp.float32, device=device)
        # Warp copies views of picked rows and columns, which its types do not say
        grid = [wp.array(picked, dtype=wp.int32, device=device) for picked in (list(range(shape[0])), columns)]
        actuated: Any = wp.indexedarray(efforts, grid)
        packed = wp.zeros((shape[0], len(columns)), dtype=wp.float32, device=device)

        def refresh() -> None:
            for name, array in state.items():
                array.assign(_float32(getattr(robots, f"get_dof_{name}")(), shape, f"get_dof_{name}()"))

        def commit() -> None:
            wp.copy(packed, actuated)
            robots.set_dof_efforts(packed.numpy() if device.is_cpu else packed, dof_indices=columns)

        return Buffers(**state, efforts=efforts, refresh=refresh, commit=commit)


def _float32(values: Any, shape: tuple[int, int], getter: str) -> Any:
    """What a getter returned, as something a Warp array takes over.

    Raises:
        HostError: It has another shape.
    """
    if not (isinstance(values, wp.array) and values.dtype == wp.float32):
        # what float32 cannot hold is infinite then, and faults the joint
        with np.errstate(over="ignore"):
            values = as_numpy(values).astype(np.float32, copy=False)
    if tuple(values.shape) != shape:
        raise HostError(f"{getter} returned shape {tuple(values.shape)}: must be (robots, DOFs) = {shape}. Reshape it.")
    return values
