"""Isaac Sim: the physics events of its `SimulationManager`, the robots of its `Articulation`, on any physics."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from isaacsim.core.experimental.prims import Articulation  # pyright: ignore[reportMissingImports]
from isaacsim.core.simulation_manager import (  # pyright: ignore[reportMissingImports]
    IsaacEvents,
    SimulationEvent,
    SimulationManager,
)

from ...usd.articulation import match_roots
from ..bus import weakly
from .events import KitBus, current_roots, current_stage, on_stage_change

# Isaac Sim's own callbacks, those of its articulations among them, have order 0
_AFTER_ARTICULATIONS = 1
_BEFORE_ISAAC_SIM, _AFTER_ISAAC_SIM = -1000, 1000


class IsaacSimArticulation(Articulation):
    """Isaac Sim's articulation, which here finds its robots again when the stage changed."""

    _is_gone = False

    def __init__(self, paths: str | Sequence[str], generation: int) -> None:
        self._patterns, self._generation = paths, generation
        super().__init__(paths)

    @property
    def device(self) -> str:
        """Where physics computes; Isaac Sim's own `_device` says so after play only."""
        return str(SimulationManager.get_device() or self._device)

    @property
    def valid(self) -> bool:
        """Whether the robots are on the stage."""
        return not self._is_gone and super().valid

    def renew(self, generation: int) -> None:
        """Find the robots again, unless the stage is the same and they are still there."""
        if self._generation == generation and self.valid:
            return
        self._is_gone = True
        # wrappers see that robots are not valid
        with contextlib.suppress(Exception):
            match_roots(self._patterns, current_roots())
            # in place, for users hold it; the callbacks that the constructor registers are gone too
            super().__init__(self._patterns)
            self._is_gone, self._generation = False, generation


class IsaacSimHost:
    """The simulation of the Isaac Sim application."""

    def __init__(self) -> None:
        self._view = SimulationManager.get_physics_simulation_view()
        self._articulations: weakref.WeakSet[IsaacSimArticulation] = weakref.WeakSet()
        self._uids: list[int] = []
        # Isaac Sim clears all callbacks when the stage changes, and numbers the next ones from 0 again
        self._generation = 0
        self.bus = KitBus(self._is_running, self._listen)
        self._stage_events = [
            *on_stage_change(weakly(self._forget), order=_BEFORE_ISAAC_SIM),
            *on_stage_change(weakly(self._begin_again), order=_AFTER_ISAAC_SIM),
        ]
        self._register()

    @property
    def stage(self) -> Any:
        """The stage that Kit has open, or None."""
        return current_stage()

    def articulation(self, paths: str | Sequence[str]) -> IsaacSimArticulation:
        """The robots at `paths`.

        Raises:
            ValueError: Nothing matches.
        """
        try:
            robots = IsaacSimArticulation(paths, self._generation)
        except Exception:
            # says what there is; Isaac Sim only asserts
            match_roots(paths, current_roots())
            raise
        self._articulations.add(robots)
        return robots

    def close(self) -> None:
        """Take all callbacks out."""
        self._stage_events.clear()
        for uid in self._uids:
            SimulationManager.deregister_callback(uid)
        self._uids.clear()
        self._view = None
        self.bus.emit_stop()

    # inside

    def _is_running(self) -> bool:
        """Whether the simulation view that was there at the last ready event still is."""
        return self._view is not None and SimulationManager.get_physics_simulation_view() is self._view

    def _register(self) -> None:
        ready, stopped = IsaacEvents.PHYSICS_READY, SimulationEvent.SIMULATION_STOPPED
        self._uids = [
            SimulationManager.register_callback(self._heard(weakly(self._on_ready)), ready, order=_AFTER_ARTICULATIONS),
            SimulationManager.register_callback(
                self._heard(weakly(self._on_stop)), stopped, order=_AFTER_ARTICULATIONS
            ),
        ]

    def _listen(self, callback: Callable[..., None]) -> Callable[[], None]:
        generation = self._generation
        uid = SimulationManager.register_callback(self._heard(callback), SimulationEvent.PHYSICS_PRE_STEP, order=0)

        def unlisten() -> None:
            # from another generation, the number may be somebody else's by now
            if generation == self._generation:
                SimulationManager.deregister_callback(uid)

        return unlisten

    def _heard(self, call: Callable[..., None]) -> Callable[..., None]:
        """A function that makes the call until the stage changes, should Isaac Sim keep it longer."""
        host, generation = weakref.ref(self), self._generation

        def heard(*args: Any) -> None:
            if (living := host()) is not None and living._generation == generation:
                call(*args)

        return heard

    def _on_ready(self, _event: Any) -> None:
        self._view = SimulationManager.get_physics_simulation_view()
        for robots in tuple(self._articulations):
            robots.renew(self._generation)
        self.bus.emit_ready()

    def _on_stop(self, _event: Any) -> None:
        self._view = None
        self.bus.emit_stop()

    def _forget(self, _opened: bool) -> None:
        """The stage changes: what was registered is void."""
        self._generation += 1
        self._uids.clear()
        self._view = None
        self.bus.emit_stop()

    def _begin_again(self, opened: bool) -> None:
        """Isaac Sim has cleared its callbacks: register anew."""
        if opened:
            self._register()
