"""`isaacsim.core.experimental.prims.Articulation` of Isaac Sim 6."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import warp as wp
from fakes.omni_physics_tensors import ArticulationView, DofType
from fakes.physics import ON_STAGE, articulations, read_joint, write_joint
from fakes.simulation_manager import IsaacEvents
from pxr import Usd, UsdPhysics

if TYPE_CHECKING:
    from fakes.kit_world import KitWorld


class Articulation:
    """Robots by path, with a class for each world, on the stage while physics rests; other fields keep what is set."""

    world: ClassVar[KitWorld]

    @classmethod
    def of(cls, world: KitWorld) -> type[Articulation]:
        return type(cls.__name__, (cls,), {"world": world})

    def __init__(
        self,
        paths: str | list[str],
        *,
        resolve_paths: bool = True,
        positions=None,
        translations=None,
        orientations=None,
        scales=None,
        reset_xform_op_properties: bool = False,
    ) -> None:
        stage = self.world.stage_utils.get_current_stage(backend="usd")
        given = [paths] if isinstance(paths, str) else list(paths)
        found = [hit for path in given for hit in _resolve(stage, path)] if resolve_paths else given
        if None in found:
            raise TypeError("expected a path, got None")
        self._paths = found
        self._prims = [stage.GetPrimAtPath(path) for path in found]
        known = {robot.path: robot for robot in articulations(stage)}
        self._robots = [known[path] for path in found]
        self._device = wp.get_device("cpu")
        self._view: ArticulationView | None = None
        self._fields: dict[str, np.ndarray] = {}
        manager = self.world.simulation_manager
        self._callback_ids = [
            manager.register_callback(self._on_physics_ready, IsaacEvents.PHYSICS_READY),
            manager.register_callback(self._on_timeline_stop, IsaacEvents.TIMELINE_STOP),
            manager.register_callback(self._on_prim_deletion, IsaacEvents.PRIM_DELETION),
        ]
        if manager.get_physics_simulation_view() is not None:
            self._on_physics_ready(None)

    def _on_physics_ready(self, event) -> None:
        simulation = self.world.simulation_manager.get_physics_simulation_view()
        assert simulation is not None, "no simulation view"
        self._view = simulation.create_articulation_view(self._paths)
        self._device = self.world.simulation_manager.get_device()

    def _on_timeline_stop(self, event) -> None:
        self._view, self._device = None, wp.get_device("cpu")

    def _on_prim_deletion(self, path: str) -> None:
        if path == "/" or any(own == path or own.startswith(path + "/") for own in self._paths):
            self._view = None

    def __len__(self) -> int:
        return len(self._paths)

    @property
    def paths(self) -> list[str]:
        return self._paths

    @property
    def prims(self) -> list[Usd.Prim]:
        return self._prims

    @property
    def valid(self) -> bool:
        return all(prim.IsValid() for prim in self._prims)

    @property
    def num_dofs(self) -> int:
        return len(self._robots[-1].dof_paths)

    @property
    def dof_names(self) -> list[str]:
        return list(self._robots[-1].dof_names)

    @property
    def dof_paths(self) -> list[list[str]]:
        return [list(robot.dof_paths) for robot in self._robots]

    @property
    def dof_types(self) -> list[DofType]:
        return [_type(self._prims[0].GetStage().GetPrimAtPath(path)) for path in self._robots[0].dof_paths]

    @property
    def num_joints(self) -> int:
        return self.num_dofs

    @property
    def joint_names(self) -> list[str]:
        return self.dof_names

    @property
    def joint_paths(self) -> list[list[str]]:
        return self.dof_paths

    @property
    def num_links(self) -> int:
        return self.num_dofs + 1

    @property
    def link_names(self) -> list[str]:
        return ["base", *(f"{name}_link" for name in self.dof_names)]

    @property
    def link_paths(self) -> list[list[str]]:
        return [[f"{path}/{name}" for name in self.link_names] for path in self._paths]

    def is_physics_tensor_entity_valid(self) -> bool:
        return self._view is not None and self._view._simulation.is_valid

    def get_dof_indices(self, names: str | list[str]) -> wp.array:
        columns = {name: column for column, name in enumerate(self.dof_names)}
        wanted = [names] if isinstance(names, str) else names
        for name in wanted:
            assert name in columns, f"{name} not in {list(columns)}"
        return wp.array([columns[name] for name in wanted], dtype=wp.int32, device=self._device)

    def get_dof_positions(self, *, indices=None, dof_indices=None) -> wp.array:
        return self._get("positions", indices, dof_indices)

    def set_dof_positions(self, positions, *, indices=None, dof_indices=None) -> None:
        self._set("positions", positions, indices, dof_indices)
        self._set("position_targets", positions, indices, dof_indices)

    def get_dof_velocities(self, *, indices=None, dof_indices=None) -> wp.array:
        return self._get("velocities", indices, dof_indices)

    def set_dof_velocities(self, velocities, *, indices=None, dof_indices=None) -> None:
        self._set("velocities", velocities, indices, dof_indices)
        self._set("velocity_targets", velocities, indices, dof_indices)

    def get_dof_efforts(self, *, indices=None, dof_indices=None) -> wp.array:
        return self._get("actuation_forces", indices, dof_indices)

    def set_dof_efforts(self, efforts, *, indices=None, dof_indices=None) -> None:
        self._set("actuation_forces", efforts, indices, dof_indices)

    def get_dof_position_targets(self, *, indices=None, dof_indices=None) -> wp.array:
        return self._get("position_targets", indices, dof_indices)

    def set_dof_position_targets(self, positions, *, indices=None, dof_indices=None) -> None:
        self._set("position_targets", positions, indices, dof_indices)

    def get_dof_velocity_targets(self, *, indices=None, dof_indices=None) -> wp.array:
        return self._get("velocity_targets", indices, dof_indices)

    def set_dof_velocity_targets(self, velocities, *, indices=None, dof_indices=None) -> None:
        self._set("velocity_targets", velocities, indices, dof_indices)

    def set_dof_gains(
        self, stiffnesses=None, dampings=None, *, indices=None, dof_indices=None, update_default_gains: bool = True
    ) -> None:
        assert stiffnesses is not None or dampings is not None, "both 'stiffnesses' and 'dampings' are None"
        defaults = self._default_gains
        for part, (name, values) in enumerate((("stiffnesses", stiffnesses), ("dampings", dampings))):
            if values is not None:
                self._set(name, values, indices, dof_indices)
                if update_default_gains:
                    rows, columns = self._grid(indices, dof_indices)
                    defaults[np.ix_(rows, columns, [part])] = _numpy(values)[..., None]

    def get_dof_gains(self, *, indices=None, dof_indices=None) -> tuple[wp.array, wp.array]:
        return self._get("stiffnesses", indices, dof_indices), self._get("dampings", indices, dof_indices)

    def switch_dof_control_mode(self, mode: str, *, indices=None, dof_indices=None) -> None:
        if mode not in ("position", "velocity", "effort"):
            raise ValueError(f"invalid mode {mode}")
        rows, columns = self._grid(indices, dof_indices)
        stiffnesses, dampings = (self._default_gains[np.ix_(rows, columns, [part])][..., 0] for part in (0, 1))
        self._set("stiffnesses", stiffnesses * (mode == "position"), indices, dof_indices)
        self._set("dampings", dampings * (mode != "effort"), indices, dof_indices)

    def get_dof_armatures(self, *, indices=None, dof_indices=None) -> wp.array:
        return self._get("armatures", indices, dof_indices)

    def set_dof_armatures(self, armatures, *, indices=None, dof_indices=None) -> None:
        self._set("armatures", armatures, indices, dof_indices)

    def get_dof_limits(self, *, indices=None, dof_indices=None) -> tuple[wp.array, wp.array]:
        return self._get("lower_limits", indices, dof_indices), self._get("upper_limits", indices, dof_indices)

    def set_dof_limits(self, lower=None, upper=None, *, indices=None, dof_indices=None) -> None:
        for name, values in (("lower_limits", lower), ("upper_limits", upper)):
            if values is not None:
                self._set(name, values, indices, dof_indices)

    def get_dof_friction_properties(self, *, indices=None, dof_indices=None) -> tuple[wp.array, ...]:
        return tuple(self._read(f"friction_{n}", indices, dof_indices) for n in range(3))

    def set_dof_friction_properties(
        self, static_frictions=None, dynamic_frictions=None, viscous_frictions=None, *, indices=None, dof_indices=None
    ) -> None:
        for n, values in enumerate((static_frictions, dynamic_frictions, viscous_frictions)):
            self._keep(f"friction_{n}", values, indices, dof_indices)

    def get_dof_drive_model_properties(self, *, indices=None, dof_indices=None) -> tuple[wp.array, ...]:
        return tuple(self._read(f"drive_model_{n}", indices, dof_indices) for n in range(3))

    def set_dof_drive_model_properties(
        self,
        speed_effort_gradients=None,
        maximum_actuator_velocities=None,
        velocity_dependent_resistances=None,
        *,
        indices=None,
        dof_indices=None,
    ) -> None:
        given = (speed_effort_gradients, maximum_actuator_velocities, velocity_dependent_resistances)
        for n, values in enumerate(given):
            self._keep(f"drive_model_{n}", values, indices, dof_indices)

    def get_dof_max_efforts(self, *, indices=None, dof_indices=None) -> wp.array:
        return self._get("max_efforts", indices, dof_indices)

    def set_dof_max_efforts(self, max_efforts, *, indices=None, dof_indices=None) -> None:
        self._set("max_efforts", max_efforts, indices, dof_indices)

    def get_dof_max_velocities(self, *, indices=None, dof_indices=None) -> wp.array:
        return self._get("max_velocities", indices, dof_indices)

    def set_dof_max_velocities(self, max_velocities, *, indices=None, dof_indices=None) -> None:
        self._set("max_velocities", max_velocities, indices, dof_indices)

    # dynamics, of joints with unit inertia and no gravity

    def get_dof_projected_joint_forces(self, *, indices=None, dof_indices=None) -> wp.array:
        return self._get("actuation_forces", indices, dof_indices)

    def get_dof_gravity_compensation_forces(self, *, indices=None, dof_indices=None) -> wp.array:
        self._require_tensors()
        return self._read("gravity", indices, dof_indices)

    def get_dof_coriolis_and_centrifugal_compensation_forces(self, *, indices=None, dof_indices=None) -> wp.array:
        self._require_tensors()
        return self._read("coriolis", indices, dof_indices)

    def get_mass_matrices(self, *, indices=None) -> wp.array:
        return self._per_robot(np.eye(self.num_dofs), indices)

    def get_jacobian_matrices(self, *, indices=None) -> wp.array:
        return self._per_robot(np.zeros((self.num_links, 6, self.num_dofs)), indices)

    def get_link_masses(self, *, indices=None, link_indices=None) -> wp.array:
        return self._per_robot(np.ones(self.num_links), indices, live=False)

    def get_link_coms(self, *, indices=None, link_indices=None) -> wp.array:
        return self._per_robot(np.zeros((self.num_links, 3)), indices)

    def get_link_inertias(self, *, indices=None, link_indices=None) -> wp.array:
        return self._per_robot(np.ones((self.num_links, 9)), indices)

    @functools.cached_property
    def _default_gains(self) -> np.ndarray:
        return np.stack([self._authored(name) for name in ("stiffnesses", "dampings")], axis=-1)

    def _require_tensors(self) -> ArticulationView:
        assert self.is_physics_tensor_entity_valid(), "physics tensor entity is not valid"
        assert self._view is not None
        return self._view

    def _get(self, name: str, indices, dof_indices) -> wp.array:
        grid = np.ix_(*self._grid(indices, dof_indices))
        if name in ON_STAGE and not self.is_physics_tensor_entity_valid():
            return self._array(self._authored(name)[grid])
        full = self._require_tensors()._get(name)
        if indices is None and dof_indices is None:
            return full
        return self._array(full.numpy()[grid])

    def _set(self, name: str, values, indices, dof_indices) -> None:
        rows, columns = self._grid(indices, dof_indices)
        given = np.broadcast_to(_numpy(values), (len(rows), len(columns)))
        if name in ON_STAGE and not self.is_physics_tensor_entity_valid():
            for at in np.ndindex(given.shape):
                write_joint(self._joint(rows[at[0]], columns[at[1]]), name, given[at])
            return
        view = self._require_tensors()
        full = view._get(name)
        full.numpy()[np.ix_(rows, columns)] = given
        view._set(name, full, wp.array(rows, dtype=wp.int32, device="cpu"))

    def _joint(self, row: int, column: int) -> Usd.Prim:
        return self._prims[row].GetStage().GetPrimAtPath(self._robots[row].dof_paths[column])

    def _authored(self, name: str) -> np.ndarray:
        rows = [[read_joint(self._joint(row, i), name) for i in range(self.num_dofs)] for row in range(len(self))]
        return np.array(rows, np.float32).reshape(len(self), self.num_dofs)

    def _read(self, name: str, indices, dof_indices) -> wp.array:
        field = self._fields.setdefault(name, np.zeros((len(self), self.num_dofs), np.float32))
        return self._array(field[np.ix_(*self._grid(indices, dof_indices))])

    def _keep(self, name: str, values, indices, dof_indices) -> None:
        if values is not None:
            self._read(name, None, None)
            self._fields[name][np.ix_(*self._grid(indices, dof_indices))] = _numpy(values)

    def _per_robot(self, values: np.ndarray, indices, live: bool = True) -> wp.array:
        if live:
            self._require_tensors()
        return self._array(np.tile(values, (len(self._rows(indices, len(self))), *[1] * values.ndim)))

    def _grid(self, indices, dof_indices) -> tuple[np.ndarray, np.ndarray]:
        return self._rows(indices, len(self)), self._rows(dof_indices, self.num_dofs)

    @staticmethod
    def _rows(indices, count: int) -> np.ndarray:
        return np.arange(count) if indices is None else _numpy(indices).astype(np.int32).ravel()

    def _array(self, values: np.ndarray) -> wp.array:
        return wp.array(values, dtype=wp.float32, device=self._device)


def _numpy(values) -> np.ndarray:
    return values.numpy() if isinstance(values, wp.array) else np.asarray(values)


def _type(joint: Usd.Prim) -> DofType:
    for kind, found in (("angular", DofType.Rotation), ("linear", DofType.Translation)):
        if UsdPhysics.DriveAPI.Get(joint, kind):
            return found
    return DofType.Invalid


def _resolve(stage: Usd.Stage, pattern: str) -> list[str | None]:
    """Each segment is a regular expression; the first articulation root at or below each hit."""
    segments = pattern.strip("/").split("/")
    hits = [stage.GetPseudoRoot()]
    for segment in segments:
        hits = [child for prim in hits for child in prim.GetChildren() if re.fullmatch(segment, child.GetName())]
    assert hits, f"no prim matches {pattern}"
    found: list[str | None] = []
    for hit in hits:
        roots = [prim for prim in Usd.PrimRange(hit) if prim.HasAPI(UsdPhysics.ArticulationRootAPI)]
        found.append(str(roots[0].GetPath()) if roots else None)
    return found
