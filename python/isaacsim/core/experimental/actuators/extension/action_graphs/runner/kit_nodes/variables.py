"""Variables of the graph, read and written by nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...omnigraph.node_ports import NodePorts
from ...omnigraph.ogn_types import ExecutionAttributeState

if TYPE_CHECKING:
    from ...omnigraph.database import Database

_WHICH = {"variableName": "token", "graph": "target", "targetPath": "token"}


class ReadVariable:
    """The value of a variable."""

    PORTS = NodePorts(inputs=_WHICH, outputs={"value": "any"})

    @staticmethod
    def compute(db: Database) -> bool:
        """Read."""
        db.outputs.value = db.get_variable(_name(db))
        return True


class WriteVariable:
    """Sets a variable when pulsed."""

    PORTS = NodePorts(
        inputs={"execIn": "execution", **_WHICH, "value": "any"}, outputs={"execOut": "execution", "value": "any"}
    )

    @staticmethod
    def compute(db: Database) -> bool:
        """Write, and go on."""
        name = _name(db)
        db.set_variable(name, db.inputs.value)
        db.outputs.value = db.get_variable(name)
        db.outputs.execOut = ExecutionAttributeState.ENABLED
        return True


def _name(db: Database) -> str:
    """The variable's name, of this graph and no other."""
    own = db.node.graph.path
    if elsewhere := {*db.inputs.graph, db.inputs.targetPath} - {"", own}:
        raise ValueError(
            f"variables of <{min(elsewhere)}>: must be those of <{own}>. Leave graph and targetPath empty."
        )
    return db.inputs.variableName
