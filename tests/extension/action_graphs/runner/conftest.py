"""Fixtures of the tests of graphs."""

import pytest
from isaacsim.core.experimental.actuators.extension.action_graphs.runner import NodePorts, load, register_node_type


@pytest.fixture(autouse=True)
def _own_node_types(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "_databases", dict(load._databases))


@pytest.fixture
def runs() -> list[tuple]:
    """Paths and values of `test.Record` (goes on, or fails by `fails`) and `test.Pure` nodes that ran, in order."""
    order: list[tuple] = []

    def note(db) -> bool:
        order.append((db.node.path.rpartition("/")[2], db.inputs.value))
        if db.inputs.fails == "raise":
            raise ArithmeticError("no way")
        return db.inputs.fails != "return"

    class Record:
        PORTS = NodePorts(
            inputs={"execIn": "execution", "second": "execution", "value": "any", "fails": "token"},
            outputs={"execOut": "execution", "value": "any"},
        )

        @staticmethod
        def compute(db) -> bool:
            db.outputs.value = db.inputs.value
            db.outputs.execOut = True
            return note(db)

    class Pure:
        PORTS = NodePorts(inputs={"value": "any", "other": "any", "fails": "token"}, outputs={"value": "any"})

        @staticmethod
        def compute(db) -> bool:
            db.outputs.value = db.inputs.value
            return note(db)

    register_node_type("test.Record", Record)
    register_node_type("test.Pure", Pure)
    return order
