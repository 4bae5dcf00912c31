"""Database classes made from `.ogn` files: defaults, read-only inputs, state, messages."""

import gc
import re
from typing import Any

import numpy as np
import pytest
from isaacsim.core.experimental.actuators.extension.action_graphs.nodes.OgnArticulationActuators import (
    OgnArticulationActuators,
)
from isaacsim.core.experimental.actuators.extension.action_graphs.omnigraph import database
from isaacsim.core.experimental.actuators.extension.action_graphs.omnigraph.ogn_file import parse_ogn
from isaacsim.core.experimental.actuators.extension.action_graphs.omnigraph.ogn_types import ExecutionAttributeState
from refusals import cases


class Recorder:
    ended: list[tuple[Any, int]]

    @staticmethod
    def internal_state() -> list[str]:
        return []

    @staticmethod
    def compute(db) -> bool:
        return True


@pytest.fixture
def recorder() -> type[database.Database]:
    text = """{"x.Recorder": {"$comment": "is left out", "description": "Records.",
        "inputs": {"execIn": {"type": "execution", "description": "pulse"},
                   "values": {"type": "float[]", "default": [1, 2], "description": "numbers", "$note": 3}},
        "outputs": {"execOut": {"type": "execution", "description": "pulse"},
                    "sums": {"type": "double[]", "description": "numbers"},
                    "names": {"type": "token[]", "description": "texts"}},
        "state": {"count": {"type": "int", "default": 5, "description": "a number"}}}}"""
    made = database.make_database("RecorderDatabase", parse_ogn(text, "recorder.ogn"))
    made.register(type("Recorder", (Recorder,), {"ended": []}))
    return made


def test_comments_are_left_out(recorder) -> None:
    assert "$" not in str(recorder.DESCRIPTION)


def test_database_class_is_made_once() -> None:
    assert database.node_database(OgnArticulationActuators) is database.node_database(OgnArticulationActuators)


def test_inputs_have_their_defaults(recorder) -> None:
    db = recorder(database.Node("/G/n"))
    assert db.inputs.values.tolist() == [1.0, 2.0] and db.inputs.values.dtype == np.float32
    assert db.state.count == 5 and db.outputs.sums.size == 0


def test_input_arrays_are_read_only(recorder) -> None:
    with pytest.raises(ValueError, match="read-only"):
        recorder(database.Node("/G/n")).inputs.values[0] = 3.0


def test_inputs_are_read_only(recorder) -> None:
    with pytest.raises(database.ReadOnlyError, match=re.escape("</G/n>.inputs:values: a node cannot set its inputs")):
        recorder(database.Node("/G/n")).inputs.values = [3.0]


def test_outputs_are_assigned_or_sized_and_filled(recorder) -> None:
    db = recorder(database.Node("/G/n"))
    db.outputs.names = ["hip"]
    db.outputs.sums_size = 2
    db.outputs.sums[:] = [1, 2]
    assert db.outputs.names_size == 1 and db.read("outputs:sums").tolist() == [1.0, 2.0]
    db.outputs.names_size = 2
    db.outputs.names[:] = ["a long name", "b"]
    assert list(db.outputs.names) == ["a long name", "b"]


def test_state_is_kept_between_runs(recorder) -> None:
    db = recorder(database.Node("/G/n"))
    db.state.count = db.state.count + 1
    db.evaluate()
    assert db.state.count == 6


@cases("name", "vlues", "values_length", "execIn_size")
def test_unknown_port_is_refused_with_a_list(recorder, name) -> None:
    with pytest.raises(AttributeError, match=re.escape("no such port. Available: ['execIn', 'values']")):
        getattr(recorder(database.Node("/G/n")).inputs, name)


def test_wrong_value_names_node_and_port(recorder) -> None:
    with pytest.raises(ValueError, match=re.escape("</G/n>.outputs:sums = 'x': must be double[].")):
        recorder(database.Node("/G/n")).outputs.sums = "x"


def test_pulse_lasts_for_one_run(recorder, monkeypatch) -> None:
    db, seen = recorder(database.Node("/G/n")), []

    def compute(db) -> bool:
        seen.append((db.inputs.execIn, db.outputs.execOut))
        db.outputs.execOut = ExecutionAttributeState.ENABLED
        return True

    monkeypatch.setattr(recorder.NODE_TYPE_CLASS, "compute", staticmethod(compute))
    assert db.evaluate("execIn") and db.evaluate() and seen == [(1, 0), (0, 0)] and db.node.get_compute_count() == 2


def test_exception_in_a_node_is_its_error(recorder, monkeypatch) -> None:
    db = recorder(database.Node("/G/n"))
    monkeypatch.setattr(recorder.NODE_TYPE_CLASS, "compute", staticmethod(lambda db: 1 / 0))
    assert not db.evaluate("execIn")
    (message,) = db.node.get_compute_messages(database.Severity.ERROR)
    assert message.startswith("</G/n>: compute raised:") and "ZeroDivisionError" in message


@cases(
    "method, severity",
    ("log_error", database.Severity.ERROR),
    ("log_warn", database.Severity.WARNING),
    ("log_warning", database.Severity.WARNING),
    ("log_info", database.Severity.INFO),
)
def test_messages_have_their_severity(recorder, method, severity) -> None:
    db = recorder(database.Node("/G/n"))
    getattr(db, method)("hot")
    getattr(db, method)("cold", add_context=False)
    assert db.node.get_compute_messages(severity) == ["</G/n>: hot", "cold"]


def test_messages_are_those_of_the_last_run(recorder) -> None:
    node = database.Node("/G/n")
    assert not node.log_compute_message(database.Severity.ERROR, "hot")
    assert node.log_compute_message(database.Severity.ERROR, "hot")
    node.begin_compute()
    assert node.get_compute_messages(database.Severity.ERROR) == []
    assert node.log_compute_message(database.Severity.ERROR, "hot")
    node.begin_compute()
    node.begin_compute()
    assert not node.log_compute_message(database.Severity.ERROR, "hot")


def test_state_belongs_to_node_and_instance(recorder) -> None:
    node, other = database.Node("/G/n"), database.Node("/G/n")
    db = recorder(node)
    db.per_instance_state.append("mine")
    assert recorder.get_internal_state(node, 0) == recorder.per_instance_internal_state(node) == ["mine"]
    assert db.internal_state == ["mine"] and db.shared_state == recorder.shared_internal_state(node) == []
    assert recorder(other).per_instance_state == [] and recorder(node, 1).per_instance_state == []


def test_two_node_types_share_no_state(recorder) -> None:
    node = database.Node("/G/n")
    recorder.get_internal_state(node, 0).append("mine")
    assert not database.node_database(OgnArticulationActuators).get_internal_state(node, 0).initialized


def test_hook_runs_before_the_state_is_dropped(recorder, monkeypatch) -> None:
    node, last = database.Node("/G/n"), []
    recorder.get_internal_state(node, 0).append("mine")

    def release_instance(node, graph_instance_id: int) -> None:
        last.append(list(recorder.get_internal_state(node, graph_instance_id)))

    monkeypatch.setattr(recorder.NODE_TYPE_CLASS, "release_instance", staticmethod(release_instance), raising=False)
    recorder.release_instance(node)
    assert last == [["mine"]] and recorder.get_internal_state(node, 0) == []


def test_state_goes_with_its_node(recorder) -> None:
    node = database.Node("/G/n")
    recorder.get_internal_state(node, 0)
    before = len(recorder._states)
    del node
    gc.collect()
    assert (before, len(recorder._states)) == (1, 0)
