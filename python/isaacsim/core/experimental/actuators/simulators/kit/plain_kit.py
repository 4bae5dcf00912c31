"""Kit without Isaac Sim: steps of `omni.physics.core` or `omni.physx`, robots of `omni.physics.tensors`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import omni.physics.tensors  # pyright: ignore[reportMissingImports]
import omni.timeline  # pyright: ignore[reportMissingImports]
import warp as wp

from ...base.callers import weakly
from ...base.errors import HostError
from ...base.values import ArrayLike, Indices, broadcast, resolve_indices
from ...files.usd.articulation import dof_names, joint_orders
from ..dof_access import DofAccess
from ..port import require_same_joints
from .events import BEFORE_OTHERS, KitBus, context_stage, find_robots, on_stage_change, on_timeline


class KitHost:
    """The simulation of a Kit application. Physics is ready with the first step after play."""

    is_isaac_sim = False

    def __init__(self) -> None:
        # changes whenever robots and joints may have
        self.generation = 0
        self.view: Any = None
        self.bus = KitBus(lambda: self.view is not None)
        kinds = omni.timeline.TimelineEventType
        self._subscriptions = [
            on_timeline(kinds.PLAY, weakly(self._on_play)),
            on_timeline(kinds.STOP, weakly(self._on_stop), order=BEFORE_OTHERS),
            *on_stage_change(weakly(self._on_stage_change)),
        ]
        if omni.timeline.get_timeline_interface().is_playing():
            self._on_play()

    @property
    def stage(self) -> Any:
        """The stage that Kit has open, or None."""
        return context_stage()

    def articulation(self, paths: str | Sequence[str]) -> KitArticulation:
        """The robots at `paths`; a `ValueError` if nothing matches or the robots differ in their joints."""
        return KitArticulation(self, paths)

    def close(self) -> None:
        """Take all callbacks out."""
        self._subscriptions.clear()
        self._on_stop()

    def _on_play(self, _event: object = None) -> None:
        # play after a pause too
        if self.view is None:
            self.bus.begin_with_next_step(self._begin)

    def _begin(self) -> None:
        self.view = omni.physics.tensors.create_simulation_view("warp")
        self.generation += 1
        self.bus.emit_ready()

    def _on_stop(self, _event: object = None) -> None:
        self._invalidate()
        self.bus.emit_stop()

    def _on_stage_change(self) -> None:
        self._invalidate()
        self.bus.forget()

    def _invalidate(self) -> None:
        """There is nothing to read or write any more."""
        self.view = None
        self.generation += 1


class KitArticulation(DofAccess):
    """Robots of a Kit application, until another stage is opened; see `Articulation`.

    Before play, joints are known from the stage; while physics runs, they are those of the simulator, in its order.
    """

    # so do the physics of Kit compute
    in_stage_units = True

    def __init__(self, host: KitHost, paths: str | Sequence[str]) -> None:
        self._host, self._patterns = host, paths
        self._stage_changes = host.bus.stage_changes
        self._resolve()

    def __len__(self) -> int:
        return len(self.paths)

    @property
    def paths(self) -> list[str]:
        """Articulation root of each row."""
        self._resolve_again()
        return list(self._paths)

    @property
    def valid(self) -> bool:
        """True if the robots are on the stage, and the stage is the one they were made on."""
        stage = None if self._has_ended() else self._host.stage
        return stage is not None and all(stage.GetPrimAtPath(path) for path in self._paths)

    @property
    def dof_paths(self) -> list[list[str]]:
        """Joint path of each axis of each row."""
        self._resolve_again()
        return [list(row) for row in self._dof_paths]

    @property
    def dof_names(self) -> list[str]:
        """Names of the joint axes."""
        self._resolve_again()
        return list(self._dof_names)

    @property
    def num_dofs(self) -> int:
        """Number of joint axes per row."""
        return len(self.dof_names)

    @property
    def device(self) -> str:
        """Device of physics; the CPU until it runs."""
        self._resolve_again()
        return "cpu" if self._view is None or self._has_ended() else str(self._view.get_dof_positions().device)

    # efforts and drives

    def get_dof_efforts(self, *, indices: Indices = None, dof_indices: Indices = None) -> wp.array:
        """Efforts set last [N·m or N]."""
        return self._get("actuation_forces", indices, dof_indices)

    def set_dof_efforts(self, efforts: ArrayLike, *, indices: Indices = None, dof_indices: Indices = None) -> None:
        """Set efforts [N·m or N]; they act until they are set again."""
        self._set("actuation_forces", efforts, indices, dof_indices)

    def _has_ended(self) -> bool:
        return self._stage_changes != self._host.bus.stage_changes

    def _resolve_again(self) -> None:
        """Resolve again after play and stop, which may change robots and joints, unless the stage has changed."""
        if self._generation != self._host.generation and not self._has_ended():
            self._resolve()

    def _resolve(self) -> None:
        """Find robots and joints as they are now."""
        stage, generation = self._host.stage, self._host.generation
        paths = find_robots(stage, self._patterns)
        view = None if self._host.view is None else self._host.view.create_articulation_view(paths)
        if view is not None and view.count != len(paths):
            raise ValueError(
                f"articulation paths {self._patterns!r}: physics runs without some of {paths}. Play again."
            )
        # a view is as wide as the widest robot needs
        dof_paths = joint_orders(stage, paths) if view is None else [list(filter(None, row)) for row in view.dof_paths]
        names = [dof_names(stage, row) for row in dof_paths]
        require_same_joints(paths, names)
        self._paths, self._dof_paths, self._dof_names, self._view = paths, dof_paths, names[0], view
        self._generation = generation

    def _live(self) -> Any:
        if self._has_ended():
            raise HostError(
                f"articulation paths {self._patterns!r}: another stage was opened since. Make a new articulation."
            )
        self._resolve_again()
        if self._view is None:
            raise HostError(
                "physics is not running: joints are read and written from the first physics step after play until stop."
            )
        return self._view

    def _get(self, name: str, indices: Indices, dof_indices: Indices) -> wp.array:
        full = getattr(self._live(), f"get_dof_{name}")()
        if indices is None and dof_indices is None:
            return full[:, : len(self._dof_names)]
        rows, columns = self._grid(indices, dof_indices, full.device)
        picked = wp.zeros((len(rows), len(columns)), dtype=wp.float32, device=full.device)
        # Warp copies indexed arrays, but its types do not allow it
        grid: Any = wp.indexedarray(full, [rows, columns])
        wp.copy(picked, grid)
        return picked

    def _set(self, name: str, values: ArrayLike, indices: Indices, dof_indices: Indices) -> None:
        view = self._live()
        full = getattr(view, f"get_dof_{name}")()
        rows, columns = self._grid(indices, dof_indices, full.device)
        shape = (len(rows), len(columns))
        # what is there already is not read back from a GPU
        if not (isinstance(values, wp.array) and values.device == full.device and tuple(values.shape) == shape):
            values = wp.array(broadcast(values, shape, name), dtype=wp.float32, device=full.device)
        grid: Any = wp.indexedarray(full, [rows, columns])
        wp.copy(grid, values)
        getattr(view, f"set_dof_{name}")(full, rows)

    def _grid(self, indices: Indices, dof_indices: Indices, device: wp.DeviceLike) -> list[wp.array]:
        picked = (
            resolve_indices(indices, len(self._paths), "robot"),
            resolve_indices(dof_indices, len(self._dof_names), "DOF"),
        )
        return [wp.array(axis.astype(np.int32), dtype=wp.int32, device=device) for axis in picked]
