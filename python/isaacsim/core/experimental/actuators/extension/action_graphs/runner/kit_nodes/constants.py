"""Constants: the value is an input, and other nodes are wired to that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...omnigraph.node_ports import NodePorts

if TYPE_CHECKING:
    from ...omnigraph.database import Database


def _compute(db: Database) -> bool:
    """Nothing to compute: the value is there."""
    del db
    return True


def _constant(name: str, kind: str) -> type:
    """A node class with one input."""
    ports = NodePorts(inputs={"value": kind})
    return type(name, (), {"PORTS": ports, "compute": staticmethod(_compute), "__doc__": f"One {kind}."})


CONSTANTS = {
    name: _constant(name, name.removeprefix("Constant").lower())
    for name in ("ConstantBool", "ConstantDouble", "ConstantFloat", "ConstantInt", "ConstantString", "ConstantToken")
}
