"""Events: frames and physics steps. They happen whenever their graph is evaluated."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ...omnigraph.node_ports import NodePorts
from ...omnigraph.ogn_types import ExecutionAttributeState

if TYPE_CHECKING:
    from ...omnigraph.database import Database

_TIMES = {"time": "double", "deltaSeconds": "double", "frame": "double"}


class OnPlaybackTick:
    """Each frame while physics runs."""

    PORTS = NodePorts(outputs={"tick": "execution", **_TIMES})

    @staticmethod
    def compute(db: Database) -> bool:
        """Tick."""
        _tell_time(db)
        db.outputs.tick = ExecutionAttributeState.ENABLED
        return True


class OnTick:
    """Each frame, or the first of every `framePeriod`; physics always runs here."""

    PORTS = NodePorts(
        inputs={"framePeriod": "uint", "onlyPlayback": ("bool", True)},
        outputs={"tick": "execution", **_TIMES, "absoluteSimTime": "double", "isPlaying": "bool"},
    )

    @staticmethod
    def internal_state() -> dict[str, int]:
        """Return how many frames there were."""
        return {"frames": 0}

    @staticmethod
    def compute(db: Database) -> bool:
        """Tick when it is time."""
        _tell_time(db)
        db.outputs.absoluteSimTime = db.node.graph.clock.total_time
        db.outputs.isPlaying = True
        state = db.per_instance_state
        if state["frames"] % max(1, db.inputs.framePeriod) == 0:
            db.outputs.tick = ExecutionAttributeState.ENABLED
        state["frames"] += 1
        return True


class OnPhysicsStep:
    """Before each physics step, so that efforts act in that step."""

    PORTS = NodePorts(outputs={"step": "execution", "deltaSimulationTime": "double", "deltaSystemTime": "double"})
    # its graph is evaluated at physics steps, and must be on demand
    DEMANDS_PHYSICS_STEPS = True

    @staticmethod
    def internal_state() -> dict[str, float]:
        """Return when the step before was, by the computer's clock [s]."""
        return {}

    @staticmethod
    def compute(db: Database) -> bool:
        """Tell both times, and fire."""
        now = time.perf_counter()
        db.outputs.deltaSimulationTime = db.node.graph.clock.delta
        db.outputs.deltaSystemTime = now - db.per_instance_state.get("before", now)
        db.per_instance_state["before"] = now
        db.outputs.step = ExecutionAttributeState.ENABLED
        return True


def _tell_time(db: Database) -> None:
    clock = db.node.graph.clock
    db.outputs.time, db.outputs.deltaSeconds, db.outputs.frame = clock.time, clock.delta, clock.frame
