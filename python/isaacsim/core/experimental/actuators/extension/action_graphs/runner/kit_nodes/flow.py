"""Control flow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...omnigraph.node_ports import NodePorts
from ...omnigraph.ogn_types import ExecutionAttributeState

if TYPE_CHECKING:
    from ...omnigraph.database import Database


class Branch:
    """Continues at one of two outputs, depending on a condition."""

    PORTS = NodePorts(
        inputs={"execIn": "execution", "condition": "bool"}, outputs={"execTrue": "execution", "execFalse": "execution"}
    )

    @staticmethod
    def compute(db: Database) -> bool:
        """Fire one of the two."""
        if db.inputs.condition:
            db.outputs.execTrue = ExecutionAttributeState.ENABLED
        else:
            db.outputs.execFalse = ExecutionAttributeState.ENABLED
        return True


class Sequence:
    """Continues at all its outputs, one after the other, each to its end; a graph may add outputs."""

    PORTS = NodePorts(
        inputs={"execIn": "execution"}, outputs={"a": "execution", "b": "execution"}, more=(r"outputs:\w+", "execution")
    )

    @staticmethod
    def compute(db: Database) -> bool:
        """Fire them all; the runner follows one after the other."""
        for port in db.DESCRIPTION.group("outputs"):
            setattr(db.outputs, port.name, ExecutionAttributeState.ENABLED)
        return True
