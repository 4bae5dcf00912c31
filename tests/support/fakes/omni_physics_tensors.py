"""`omni.physics.tensors`: articulation views on the arrays of the engine."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import warp as wp
from fakes.physics import Physics


class DofType(enum.IntEnum):
    Invalid = 0
    Rotation = 1
    Translation = 2


@dataclass(frozen=True)
class Metatype:
    dof_names: list[str]

    @property
    def dof_count(self) -> int:
        return len(self.dof_names)


class SimulationView:
    """Views on everything simulated now; dead after stop."""

    def __init__(self, physics: Physics, spare_dofs: int = 0) -> None:
        self.physics, self.spare_dofs = physics, spare_dofs
        self._session = physics.session

    @property
    def is_valid(self) -> bool:
        return self.physics.is_loaded and self.physics.session == self._session

    def create_articulation_view(self, pattern: str | list[str]) -> ArticulationView:
        return ArticulationView(self, [pattern] if isinstance(pattern, str) else list(pattern))


def access(name: str) -> tuple[Callable, Callable]:
    def get(self: ArticulationView) -> wp.array:
        return self._get(name)

    def set(self: ArticulationView, data: wp.array, indices: wp.array) -> None:
        self._set(name, data, indices)

    return get, set


class ArticulationView:
    """Full getters return the view's own buffer, at the same address each time; setters write whole rows."""

    def __init__(self, simulation: SimulationView, paths: list[str]) -> None:
        self._simulation, physics = simulation, simulation.physics
        self._rows = physics.rows(paths)
        robots = [physics.robots[path] for path in paths if path in physics.robots]
        self.prim_paths = [robot.path for robot in robots]
        self.count = len(robots)
        self.is_homogeneous = len({robot.dof_names for robot in robots}) <= 1
        self.shared_metatype = Metatype(list(robots[0].dof_names) if robots else [])
        self.max_dofs = max((len(robot.dof_paths) for robot in robots), default=0) + simulation.spare_dofs
        spare = [""] * simulation.spare_dofs
        self.dof_paths = [[*robot.dof_paths, *spare] for robot in robots]
        self._buffers: dict[str, np.ndarray] = {}

    get_dof_positions, set_dof_positions = access("positions")
    get_dof_velocities, set_dof_velocities = access("velocities")
    get_dof_position_targets, set_dof_position_targets = access("position_targets")
    get_dof_velocity_targets, set_dof_velocity_targets = access("velocity_targets")
    get_dof_actuation_forces, set_dof_actuation_forces = access("actuation_forces")
    get_dof_stiffnesses, set_dof_stiffnesses = access("stiffnesses")
    get_dof_dampings, set_dof_dampings = access("dampings")

    def _get(self, name: str) -> wp.array:
        source = self._live(name)
        buffer = self._buffers.setdefault(name, np.zeros((self.count, self.max_dofs), np.float32))
        width = self.max_dofs - self._simulation.spare_dofs
        buffer[:, :width] = source[self._rows, :width]
        return wp.array(buffer, dtype=wp.float32, device="cpu", copy=False)

    def _set(self, name: str, data: wp.array, indices: wp.array) -> None:
        target, physics = self._live(name), self._simulation.physics
        if data.dtype != wp.float32 or data.shape != (self.count, self.max_dofs) or indices.dtype != wp.int32:
            raise TypeError(f"set_dof_{name}: data {data.dtype} {data.shape}, indices {indices.dtype}")
        physics.writes_while_stopping += physics.is_stopping
        width = self.max_dofs - self._simulation.spare_dofs
        for row in indices.numpy():
            target[self._rows[row], :width] = data.numpy()[row, :width]

    def _live(self, name: str) -> np.ndarray:
        physics = self._simulation.physics
        if not self._simulation.is_valid or not physics.deleted.isdisjoint(self.prim_paths):
            raise RuntimeError("simulation view was invalidated")
        return physics.arrays[name]
