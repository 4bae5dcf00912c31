"""How a graph runs: order, laziness, failures, variables."""

import logging
import re
from typing import Any

from graph_stages import GRAPH, SETTINGS, TICK, graph, node, pulse, stage_with, wire
from isaacsim.core.experimental.actuators.extension.action_graphs import runner
from isaacsim.core.experimental.actuators.extension.action_graphs.omnigraph.ogn_types import ExecutionAttributeState
from isaacsim.core.experimental.actuators.extension.action_graphs.runner.graph import MAX_RUNS
from refusals import cases, refused

RECORD, PURE = "test.Record", "test.Pure"
SEQUENCE = "omni.graph.action.Sequence"
Runs = list[tuple[str, Any]]


def loaded(*nodes: str, settings: str = SETTINGS) -> runner.Graph:
    (made,) = runner.load_graphs(stage_with(graph("".join(nodes), settings=settings)))
    return made


def evaluate(*nodes: str, settings: str = SETTINGS) -> runner.Graph:
    made = loaded(*nodes, settings=settings)
    made.evaluate()
    return made


def record(name: str, source: str, *ports: str) -> str:
    return node(name, RECORD, pulse(source), *ports)


def names(runs: Runs) -> str:
    return "".join(name for name, _ in runs)


def test_execution_goes_depth_first(runs) -> None:
    pulsed = {"A": "T.outputs:tick", "D": "T.outputs:tick", "B": "A.outputs:execOut", "C": "B.outputs:execOut"}
    evaluate(node("T", TICK), *(record(name, port) for name, port in pulsed.items()))
    assert names(runs) == "ABCD"


def test_sequence_finishes_one_output_before_the_next(runs) -> None:
    evaluate(
        node("T", TICK),
        record("C", "S.outputs:c"),
        record("Z", "B.outputs:execOut"),
        record("B", "S.outputs:b"),
        record("A", "S.outputs:a"),
        node("S", SEQUENCE, pulse("T.outputs:tick"), "custom uint outputs:c (customData = { bool isExecution = 1 })"),
    )
    assert names(runs) == "ABZC"


def test_fan_in_runs_once_for_each_pulse(runs) -> None:
    fan_in = wire("uint inputs:execIn", "A.outputs:execOut", "B.outputs:execOut")
    evaluate(node("T", TICK), record("A", "T.outputs:tick"), record("B", "T.outputs:tick"), node("C", RECORD, fan_in))
    assert names(runs) == "ACBC"


def test_one_pulse_to_two_inputs_is_one_run(runs) -> None:
    evaluate(node("T", TICK), node("A", RECORD, pulse("T.outputs:tick"), wire("uint inputs:second", "T.outputs:tick")))
    assert names(runs) == "A"


def test_each_event_is_asked_once(runs) -> None:
    ticks = [node(name, TICK) for name in "STU"]
    made = loaded(*ticks[:2], record("A", "T.outputs:tick"), record("B", "S.outputs:tick"), ticks[2])
    made.evaluate()
    made.evaluate()
    assert (names(runs), made.evaluations, made.pulses) == ("BABA", 2, 4)


def test_long_chain_runs(runs) -> None:
    chain = [record("N0", "T.outputs:tick"), *(record(f"N{i}", f"N{i - 1}.outputs:execOut") for i in range(1, 1500))]
    evaluate(node("T", TICK), *chain)
    assert len(runs) == 1500


def doubling(count: int) -> str:
    ends = [wire("uint inputs:execIn", f"S{i}.outputs:a", f"S{i}.outputs:b") for i in range(count - 1)]
    return "".join(node(f"S{i}", SEQUENCE, end) for i, end in enumerate([pulse("T.outputs:tick"), *ends]))


def test_pulses_that_double_end_in_one_error(monkeypatch) -> None:
    """Forty nodes would run 2⁴⁰ times; ten run as often as they double."""
    loaded(node("T", TICK), doubling(10)).evaluate()
    assert MAX_RUNS == 20_000
    monkeypatch.setattr("isaacsim.core.experimental.actuators.extension.action_graphs.runner.graph.MAX_RUNS", 2000)
    made = loaded(node("T", TICK), doubling(40))
    for _ in range(2):
        refused(runner.GraphError, made.evaluate, rf"^<{GRAPH}>: nodes run more than 2000 times in one evaluation")


def test_pure_nodes_count_among_the_runs(runs, monkeypatch) -> None:
    monkeypatch.setattr("isaacsim.core.experimental.actuators.extension.action_graphs.runner.graph.MAX_RUNS", 3)
    value = wire("token inputs:value", "P.outputs:value")
    made = loaded(node("T", TICK), node("P", PURE), record("A", "T.outputs:tick", value))
    made.evaluate()
    made.evaluate()
    assert names(runs) == "PAPA"
    made = loaded(
        node("T", TICK), node("P", PURE), record("A", "T.outputs:tick", value), record("B", "A.outputs:execOut")
    )
    refused(runner.GraphError, made.evaluate, f"the last <{GRAPH}/B>")


def test_pure_nodes_compute_before_who_needs_them(runs) -> None:
    evaluate(
        record("A", "T.outputs:tick", wire("token inputs:value", "R.outputs:value")),
        node("R", PURE, wire("token inputs:value", "Q.outputs:value")),
        node("Q", PURE, wire("token inputs:value", "P.outputs:value")),
        node("P", PURE, "custom double inputs:value = 2.5"),
        node("T", TICK),
    )
    assert runs == [("P", 2.5), ("Q", 2.5), ("R", 2.5), ("A", 2.5)]


def test_pure_node_computes_once_a_pulse(runs) -> None:
    shared = wire("token inputs:value", "P.outputs:value")
    made = loaded(
        node("T", TICK),
        node("P", PURE),
        node("Q", PURE, shared, wire("token inputs:other", "P.outputs:value")),
        record("A", "T.outputs:tick", shared),
        record("B", "T.outputs:tick", wire("token inputs:value", "Q.outputs:value")),
    )
    made.evaluate()
    assert names(runs) == "PAQB"
    made.evaluate()
    assert names(runs) == "PAQB" * 2


def test_pure_node_computes_again_when_its_source_ran(runs) -> None:
    made = loaded(
        node("T", TICK),
        record("B", "T.outputs:tick", wire("token inputs:value", "P.outputs:value")),
        record("A", "B.outputs:execOut", "custom int inputs:value = 1"),
        node("P", PURE, wire("token inputs:value", "A.outputs:value")),
        record("C", "A.outputs:execOut", wire("token inputs:value", "P.outputs:value")),
    )
    made.evaluate()
    assert runs == [("P", None), ("B", None), ("A", 1), ("P", 1), ("C", 1)]


def test_pure_node_that_nobody_reached_does_not_compute(runs) -> None:
    evaluate(
        node("T", TICK),
        node("Branch", "omni.graph.action.Branch", pulse("T.outputs:tick"), "custom bool inputs:condition = 1"),
        record("Yes", "Branch.outputs:execTrue"),
        record("No", "Branch.outputs:execFalse", wire("token inputs:value", "P.outputs:value")),
        node("P", PURE),
    )
    assert names(runs) == "Yes"


def test_value_that_does_not_fit_fails_the_node(runs) -> None:
    made = evaluate(
        node("T", TICK),
        node("P", PURE, "custom string inputs:value = 'text'"),
        node(
            "B", "omni.graph.action.Branch", pulse("T.outputs:tick"), wire("bool inputs:condition", "P.outputs:value")
        ),
        record("A", "B.outputs:execFalse"),
    )
    assert made.errors == [f"<{GRAPH}/B>.inputs:condition = 'text': must be bool. Give booleans."]
    assert names(runs) == "P"


@cases("how, said", ("return", "compute returned False."), ("raise", "compute raised: ArithmeticError: no way"))
def test_failure_stops_what_is_behind_and_nothing_else(runs, how, said) -> None:
    made = loaded(
        node("T", TICK),
        record("A", "T.outputs:tick", f"custom token inputs:fails = '{how}'"),
        record("B", "A.outputs:execOut"),
        record("C", "T.outputs:tick"),
    )
    for _ in range(3):
        made.evaluate()
    assert names(runs) == "ACACAC"
    (message,) = made.errors
    assert message.startswith(f"<{GRAPH}/A>: {said}")


def test_failed_pure_node_stops_who_needs_it(runs) -> None:
    needed = wire("token inputs:value", "P.outputs:value")
    made = evaluate(
        node("T", TICK),
        node("P", PURE, "custom token inputs:fails = 'return'"),
        node("Q", PURE, needed),
        record("A", "T.outputs:tick", wire("token inputs:value", "Q.outputs:value")),
        record("B", "T.outputs:tick", needed),
        record("C", "T.outputs:tick"),
    )
    assert names(runs) == "PC" and [message.split(">")[0] for message in made.errors] == [f"<{GRAPH}/P"]


def test_error_is_logged_once_and_different_ones_each(runs, caplog) -> None:
    made = loaded(node("T", TICK), record("A", "T.outputs:tick", "custom token inputs:fails = 'return'"))
    with caplog.at_level(logging.ERROR):
        made.evaluate()
        made.evaluate()
        made.write(f"{GRAPH}/A.inputs:fails", "raise")
        made.evaluate()
    assert len(caplog.records) == len(made.errors) == 2


def test_warning_is_logged_once_and_stops_nothing(runs, caplog) -> None:
    class Warn:
        PORTS = runner.NodePorts(inputs={"execIn": "execution"}, outputs={"execOut": "execution"})

        @staticmethod
        def compute(db) -> bool:
            db.log_warn("careful")
            db.outputs.execOut = True
            return True

    runner.register_node_type("test.Warn", Warn)
    made = loaded(node("T", TICK), node("W", "test.Warn", pulse("T.outputs:tick")), record("A", "W.outputs:execOut"))
    with caplog.at_level(logging.WARNING):
        made.evaluate()
        made.evaluate()
    assert caplog.messages == [f"<{GRAPH}/W>: careful"] and names(runs) == "AA" and made.errors == []


def test_latent_execution_is_an_error(runs) -> None:
    """Nodes that work over several frames need Kit, and say so instead of doing nothing."""

    class Latent:
        PORTS = runner.NodePorts(inputs={"execIn": "execution"}, outputs={"done": "execution"})

        @staticmethod
        def compute(db) -> bool:
            db.outputs.done = ExecutionAttributeState.LATENT_PUSH
            return True

    runner.register_node_type("test.Latent", Latent)
    made = evaluate(node("T", TICK), node("L", "test.Latent", pulse("T.outputs:tick")), record("A", "L.outputs:done"))
    assert made.errors[0].startswith(f"<{GRAPH}/L>: outputs:done = LATENT_PUSH: must be ENABLED or DISABLED")
    assert runs == []


def test_read_and_write_name_a_port_by_path(runs) -> None:
    made = loaded(node("T", TICK), record("A", "T.outputs:tick"))
    made.write(f"{GRAPH}/A.inputs:value", 7)
    made.evaluate()
    assert made.read(f"{GRAPH}/A.outputs:value") == 7


@cases(
    "attribute, message",
    (f"{GRAPH}/AA.inputs:value", f"no node of <{GRAPH}>. Did you mean {GRAPH}/A?"),
    (f"{GRAPH}/A.inputs:valve", "the node has no such port. Did you mean inputs:value?"),
    ("", f"no node of <{GRAPH}>. Available: {GRAPH}/T, {GRAPH}/A"),
)
def test_unknown_path_is_an_error_with_the_nearest(runs, attribute, message) -> None:
    made = loaded(node("T", TICK), record("A", "T.outputs:tick"))
    assert refused(runner.GraphError, lambda: made.read(attribute)).startswith(f"<{attribute}>: {message}")


@cases(
    "port, value, message",
    ("outputs:value", 1, "is no input"),
    ("inputs:value", 1, f"is wired to <{GRAPH}/P.outputs:value>"),
    ("inputs:fails", 1, "inputs:fails = 1: must be token. Give strings."),
)
def test_only_free_inputs_can_be_set(runs, port, value, message) -> None:
    """A value on a wired input would be overwritten."""
    wired = wire("token inputs:value", "P.outputs:value")
    made = loaded(node("T", TICK), node("P", PURE), record("A", "T.outputs:tick", wired))
    refused(runner.GraphError, lambda: made.write(f"{GRAPH}/A.{port}", value), re.escape(message))


READ, WRITE = "omni.graph.core.ReadVariable", "omni.graph.core.WriteVariable"
COUNT = f"{SETTINGS}\n custom double graph:variable:count = 1.5"
NAMED = 'custom token inputs:variableName = "count"'


def test_variable_is_read_as_it_is_now(runs) -> None:
    made = evaluate(
        node("T", TICK),
        node("R", READ, NAMED, f"custom rel inputs:graph = <{GRAPH}>"),
        record("A", "T.outputs:tick", wire("token inputs:value", "R.outputs:value")),
        node("W", WRITE, NAMED, pulse("A.outputs:execOut"), "custom int inputs:value = 4"),
        record("B", "W.outputs:execOut", wire("token inputs:value", "R.outputs:value")),
        settings=COUNT,
    )
    assert runs == [("A", 1.5), ("B", 4.0)] and made.errors == []
    assert made.variables.read("count") == made.read(f"{GRAPH}/W.outputs:value") == 4.0


@cases(
    "ports, message",
    (['custom token inputs:variableName = "cuont"'], "variable 'cuont': not in </World/ActionGraph>. Available: "),
    ([NAMED, "custom string inputs:value = 'x'"], f"<{GRAPH}>.graph:variable:count = 'x': must be double."),
    ([NAMED, "custom rel inputs:graph = </World/Other>"], f"variables of </World/Other>: must be those of <{GRAPH}>"),
)
def test_wrong_use_of_a_variable_is_an_error(ports, message) -> None:
    made = evaluate(node("T", TICK), node("W", WRITE, pulse("T.outputs:tick"), *ports), settings=COUNT)
    assert message in made.errors[0] and made.variables.read("count") == 1.5
