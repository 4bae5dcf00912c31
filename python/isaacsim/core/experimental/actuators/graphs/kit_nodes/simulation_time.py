"""The simulated time."""

from __future__ import annotations

from typing import Any

from ...omnigraph.node_ports import NodePorts


class IsaacReadSimulationTime:
    """Simulated time [s], of this play when `resetOnStop` is set, else of all."""

    PORTS = NodePorts(inputs={"resetOnStop": "bool"}, outputs={"simulationTime": "double"})

    @staticmethod
    def compute(db: Any) -> bool:
        """Tell it."""
        clock = db.node.graph.clock
        db.outputs.simulationTime = clock.time if db.inputs.resetOnStop else clock.total_time
        return True
