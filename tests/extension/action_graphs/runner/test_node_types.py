"""Node types of users."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from graph_stages import ACTUATORS, GRAPH, TICK, graph, node, pulse, stage_with
from isaacsim.core.experimental.actuators.extension.action_graphs import runner
from isaacsim.core.experimental.actuators.extension.action_graphs import runner as graphs
from refusals import cases, refused

OGN = """{"my.extension.Scale": {"description": "Scales.",
    "inputs": {"execIn": {"type": "execution", "description": "pulse"},
               "factor": {"type": "double", "default": 3, "description": "factor"},
               "number": {"type": "double", "description": "number"}},
    "outputs": {"sum": {"type": "double", "description": "products so far"}}}}"""
CODE = """
class OgnScale:
    @staticmethod
    def internal_state():
        return {"sum": 0.0}

    @staticmethod
    def compute(db):
        db.per_instance_state["sum"] += db.inputs.factor * db.inputs.number
        db.outputs.sum = db.per_instance_state["sum"]
        return True

    @staticmethod
    def release_instance(node, graph_instance_id):
        released.append(node.get_prim_path())

released = []
"""


@pytest.fixture
def extension(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator:
    """A module with a node class, and its `.ogn` file beside it, as an extension has them."""
    (tmp_path / "OgnScale.py").write_text(CODE)
    (tmp_path / "OgnScale.ogn").write_text(OGN)
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("OgnScale")
    del sys.modules["OgnScale"]


def scaling(node_type: str = "my.extension.Scale") -> runner.Graph:
    scale = node("S", node_type, pulse("T.outputs:tick"), "custom double inputs:number = 2")
    (made,) = runner.load_graphs(stage_with(graph(node("T", TICK) + scale)))
    return made


def test_own_node_runs_unchanged(extension) -> None:
    runner.register_node_type("my.extension.Scale", extension.OgnScale)
    made = scaling()
    made.evaluate()
    made.evaluate()
    assert made.read(f"{GRAPH}/S.outputs:sum") == 12.0 and made.errors == []
    made.close()
    assert extension.released == [f"{GRAPH}/S"]


def test_stage_alone_brings_no_node(extension) -> None:
    refused(runner.GraphError, scaling, r"my\.extension\.Scale")


def test_nodes_of_one_type_remember_apart(extension) -> None:
    runner.register_node_type("my.extension.Scale", extension.OgnScale)
    first, second = scaling(), scaling()
    first.evaluate()
    first.evaluate()
    second.evaluate()
    assert [made.read(f"{GRAPH}/S.outputs:sum") for made in (first, second)] == [12.0, 6.0]


def test_type_can_be_registered_again() -> None:
    for factor in (2.0, 5.0):

        class Times:
            PORTS = runner.NodePorts(
                inputs={"execIn": "execution", "number": "double", "factor": ("double", factor)},
                outputs={"sum": "double"},
            )

            @staticmethod
            def compute(db) -> bool:
                db.outputs.sum = db.inputs.factor * db.inputs.number
                return True

        runner.register_node_type("my.extension.Times", Times)
    made = scaling("my.extension.Times")
    made.evaluate()
    assert made.read(f"{GRAPH}/S.outputs:sum") == 10.0


@cases("name", TICK, ACTUATORS)
def test_shipped_type_is_refused(name, extension) -> None:
    refused(ValueError, lambda: runner.register_node_type(name, extension.OgnScale), "is a shipped one")


def test_class_without_compute_is_refused() -> None:
    with pytest.raises(ValueError, match=r"Nothing: must have a static method compute\(db\) -> bool"):
        runner.register_node_type("my.extension.Nothing", type("Nothing", (), {}))


def test_class_without_ports_is_refused(extension, tmp_path) -> None:
    (tmp_path / "OgnScale.ogn").unlink()
    refused(
        FileNotFoundError, lambda: runner.register_node_type("my.extension.Scale", extension.OgnScale), r"OgnScale\.ogn"
    )


@cases("port", "number", ("double", "many"))
def test_wrong_port_is_refused_by_name(port) -> None:
    ports = runner.NodePorts(inputs={"x": port})
    with pytest.raises(ValueError, match=r"^my\.extension\.Wrong: inputs:x: "):
        node_type = type("Wrong", (), {"PORTS": ports, "compute": staticmethod(lambda db: True)})
        runner.register_node_type("my.extension.Wrong", node_type)


def test_kit_finds_nothing_to_register() -> None:
    """An `.ogn` file in this package would make Kit register a node type that is not ours."""
    folder = Path(graphs.__path__[0])
    assert list(folder.rglob("*.py")) and not list(folder.rglob("*.ogn"))
