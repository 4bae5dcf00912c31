"""Isaac Sim: physics as its `SimulationManager` announces it, the robots of its `Articulation`, on any physics."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING

import carb  # pyright: ignore[reportMissingImports]
import omni.timeline  # pyright: ignore[reportMissingImports]
from isaacsim.core.experimental.prims import Articulation  # pyright: ignore[reportMissingImports]
from isaacsim.core.simulation_manager import (  # pyright: ignore[reportMissingImports]
    IsaacEvents,
    SimulationManager,
)

from ...base.callers import weakly
from ..port import require_same_joints
from .events import KitBus, context_stage, find_robots, log_errors, on_event, on_stage_change, on_timeline

if TYPE_CHECKING:
    from ...files.usd.handles import Stage

# what Isaac Sim does, and its articulations, has order 0
_AFTER_ISAAC_SIM = 1


class IsaacSimArticulation(Articulation):
    """Isaac Sim's articulation of all robots that the paths match; another stage ends it."""

    # so do the physics of Kit compute
    in_stage_units = True
    # the simulation view it was last notified of
    _notified_view: object = None
    _has_warned = False

    def __init__(self, host: IsaacSimHost, paths: str | Sequence[str]) -> None:
        self._bus, self._stage_changes = host.bus, host.bus.stage_changes
        # Isaac Sim takes the first root below a path, and only asserts where there is none
        super().__init__(find_robots(host.stage, paths))
        require_same_joints(self.paths, [[path.rsplit("/", 1)[1] for path in row] for row in self.dof_paths])

    @property
    def device(self) -> str:
        """Device of physics, which Isaac Sim's own `_device` holds after play only."""
        return str(SimulationManager.get_device() or self._device)

    @property
    def valid(self) -> bool:
        """True if the robots are on the stage, and the stage is the one they were made on."""
        return self._stage_changes == self._bus.stage_changes and super().valid

    def _on_physics_ready(self, event: object) -> None:
        super()._on_physics_ready(event)
        self._notified_view = SimulationManager.get_physics_simulation_view()

    def notify_ready(self, view: object) -> None:
        """Notify the articulation that physics is ready if Isaac Sim has not: its callback may be overwritten."""
        was_notified = self._notified_view is None or self._notified_view is view
        if not self.valid or (was_notified and self.is_physics_tensor_entity_valid()):
            return
        if not self._has_warned:
            self._has_warned = True
            carb.log_warn(
                f"articulation <{self.paths[0]}>: its callbacks in Isaac Sim were overwritten, for "
                "SimulationManager.enable_default_callbacks() numbers callbacks from 0 again. Its actuators tell it of "
                "physics from now on. Call that function before anything registers callbacks."
            )
        self._on_physics_ready(None)


class IsaacSimHost:
    """The simulation of the Isaac Sim application, by the events of its `SimulationManager`.

    Not by the manager, which drops callbacks, and numbers them so that one may overwrite another.
    """

    is_isaac_sim = True

    def __init__(self) -> None:
        self._view = SimulationManager.get_physics_simulation_view()
        self._articulations: weakref.WeakSet[IsaacSimArticulation] = weakref.WeakSet()
        self.bus = KitBus(self._is_running)
        self._subscriptions = [
            on_event(IsaacEvents.PHYSICS_READY.value, weakly(self._on_ready), order=_AFTER_ISAAC_SIM),
            on_timeline(omni.timeline.TimelineEventType.STOP, weakly(self._on_stop), order=_AFTER_ISAAC_SIM),
            *on_stage_change(weakly(self._on_stage_change)),
        ]

    @property
    def stage(self) -> Stage | None:
        """The stage that is current in Isaac Sim, which need not be the one that Kit has open, or None."""
        try:
            import isaacsim.core.experimental.utils.stage as stage_utils  # pyright: ignore[reportMissingImports]
        except ModuleNotFoundError as error:
            if error.name not in ("isaacsim.core.experimental.utils", "isaacsim.core.experimental.utils.stage"):
                raise
            return context_stage()
        try:
            return stage_utils.get_current_stage(backend="usd")
        except ValueError:
            # there is none
            return None

    def articulation(self, paths: str | Sequence[str]) -> IsaacSimArticulation:
        """The robots at `paths`; a `ValueError` if nothing matches or the robots differ in their joints."""
        robots = IsaacSimArticulation(self, paths)
        self._articulations.add(robots)
        return robots

    def close(self) -> None:
        """Take all callbacks out."""
        self._subscriptions.clear()
        self._view = None
        self.bus.emit_stop()

    def _is_running(self) -> bool:
        """True if the simulation view of the last ready event still exists."""
        return self._view is not None and SimulationManager.get_physics_simulation_view() is self._view

    def _on_ready(self, _event: object) -> None:
        self._view = SimulationManager.get_physics_simulation_view()
        for robots in tuple(self._articulations):
            log_errors(robots.notify_ready, self._view)
        self.bus.emit_ready()

    def _on_stop(self, _event: object) -> None:
        self._view = None
        self.bus.emit_stop()

    def _on_stage_change(self) -> None:
        self._view = None
        self.bus.forget()
