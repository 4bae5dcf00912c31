"""The simulated time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...omnigraph.node_ports import NodePorts

if TYPE_CHECKING:
    from ...omnigraph.database import Database


class IsaacReadSimulationTime:
    """Simulated time [s], of this play when `resetOnStop` is set, else of all."""

    PORTS = NodePorts(inputs={"resetOnStop": "bool"}, outputs={"simulationTime": "double"})

    @staticmethod
    def compute(db: Database) -> bool:
        """Tell it."""
        clock = db.node.graph.clock
        db.outputs.simulationTime = clock.time if db.inputs.resetOnStop else clock.total_time
        return True
