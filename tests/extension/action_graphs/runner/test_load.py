"""Loading graphs: defaults, and every problem of a stage at once."""

import re

import numpy as np
import pytest
from graph_stages import (
    ACTUATORS,
    CONTROLLER,
    GRAPH,
    ON_DEMAND,
    SETTINGS,
    STEP,
    TICK,
    graph,
    node,
    pulse,
    stage_with,
    wire,
)
from isaacsim.core.experimental.actuators.extension.action_graphs.omnigraph.ogn_types import parse_type
from isaacsim.core.experimental.actuators.extension.action_graphs.runner import Graph, GraphError, load_graphs
from isaacsim.core.experimental.actuators.extension.action_graphs.runner.load import has_graphs
from refusals import cases, refused

CONSTANT = "omni.graph.nodes.ConstantDouble"
PURE, RECORD = "test.Pure", "test.Record"


def load(nodes: str, settings: str = SETTINGS) -> Graph:
    (loaded,) = load_graphs(stage_with(graph(nodes, settings=settings)))
    return loaded


def issues(*graphs: str) -> tuple[str, ...]:
    with pytest.raises(GraphError) as caught:
        load_graphs(stage_with(*graphs))
    return caught.value.issues


def issue(nodes: str, settings: str = SETTINGS) -> str:
    """The one thing that is wrong with a graph, layers left out: those in memory have no name."""
    (found,) = issues(graph(nodes, settings=settings))
    return re.sub(r"layer \S+usda", "layer x", found)


def test_values_are_those_authored_else_defaults() -> None:
    loaded = load(node("Motors", ACTUATORS, "custom double inputs:stepDt = 0.5", "custom string inputs:robotPath"))
    assert loaded.read(f"{GRAPH}/Motors.inputs:stepDt") == 0.5
    assert loaded.read(f"{GRAPH}/Motors.inputs:robotPath") == ""
    assert loaded.read(f"{GRAPH}/Motors.inputs:autoStepPrePhysics") is True


def test_value_of_a_connected_input_does_not_count() -> None:
    """Kit leaves old values behind; the wire wins, even over one that would be wrong."""
    stale = wire("string inputs:stepDt", "D.inputs:value").replace("\n", " = 'old'\n", 1)
    assert load(node("D", CONSTANT) + node("M", ACTUATORS, stale)).nodes


def test_stage_without_graphs_has_none() -> None:
    assert load_graphs(stage_with()) == []


def test_several_graphs_are_in_stage_order() -> None:
    first, second = load_graphs(stage_with(graph(node("A", TICK)), graph(node("A", TICK), name="Second")))
    assert (first.path, second.path) == (GRAPH, "/World/Second") and list(second.nodes) == ["/World/Second/A"]


@cases("stage", "Simulation", "PreRender", "PostRender", "OnDemand")
def test_pipeline_stage_says_whether_it_is_on_demand(stage) -> None:
    assert load("", f'{SETTINGS}\n token pipelineStage = "pipelineStage{stage}"').on_demand == (stage == "OnDemand")


def test_variables_have_values_and_defaults() -> None:
    variables = (
        "custom double[] graph:variable:pose = [1, 2]\n custom int graph:variable:count\n"
        "custom pathExpression graph:variable:paths = '/World//'"
    )
    found = load("", f"{SETTINGS}\n {variables}").variables
    np.testing.assert_array_equal(found.read("pose"), [1, 2])
    assert (found.read("count"), found.read("paths")) == (0, "/World//")


def test_missing_file_is_said(tmp_path) -> None:
    refused(FileNotFoundError, lambda: load_graphs(tmp_path / "none.usda"), "no such file")


def test_unknown_type_is_one_issue_with_what_is_known() -> None:
    found = issue(node("T", f"{TICK}s") + node("C", CONTROLLER, pulse("T.outputs:tick")))
    assert found.startswith(f"<{GRAPH}/T>.node:type = '{TICK}s': must be a node type known outside Kit.")
    assert f"Did you mean {TICK}?" in found and f"{ACTUATORS}, {CONTROLLER}," in found
    assert "register_node_type" in found


def test_missing_type_is_an_issue() -> None:
    found = issue('def OmniGraphNode "N" { }')
    assert found.startswith(f"<{GRAPH}/N>.node:type is not authored: must name a node type.")


@cases(
    "port, message",
    ('string inputs:stepDt = "fast"', "inputs:stepDt = 'fast': must be double. Give numbers. It is in layer x."),
    ("double[] inputs:stepDt = [1, 2]", "inputs:stepDt = array([1., 2.]): must be double. Give shape ()."),
    ("rel inputs:stepDt = </World>", "inputs:stepDt = ('/World',): must be double."),
    ("double inputs:robotPath = 1", "inputs:robotPath = 1.0: must be string. Give strings."),
    ("string[] inputs:robotPath = ['a']", "inputs:robotPath = ['a']: must be string. Give strings."),
    ("int inputs:autoStepPrePhysics = 2", "inputs:autoStepPrePhysics = 2: must be bool. Give booleans."),
    ("double[] inputs:feedforwardCommand = [1e40]", "must be float[]. Give numbers in"),
    ("int64[] inputs:indices = [3000000000]", "must be int[]. Give numbers in"),
)
def test_wrong_value_is_an_issue(port, message) -> None:
    found = issue(node("M", ACTUATORS, f"custom {port}"))
    assert found.startswith(f"<{GRAPH}/M>.inputs:") and message in found


def test_input_that_is_not_there_is_warned_of() -> None:
    with pytest.warns(UserWarning, match=f"<{GRAPH}/T>: inputs:more, inputs:most have no effect: {TICK}"):
        load(node("T", TICK, "custom int inputs:most = 1", "custom int inputs:more = 1", "custom int inputs:unset"))


@cases("port", "double outputs:time = 3", "double outputs:unknown = 3", "int state:count = 1")
def test_saved_outputs_and_state_do_not_count(port) -> None:
    assert load(node("T", TICK, f"custom {port}")).read(f"{GRAPH}/T.outputs:time") == 0.0


def wired(port: str, source: str) -> str:
    sources = node("T", TICK) + node("D", CONSTANT) + node("S", "omni.graph.nodes.ConstantToken")
    return sources + node("M", ACTUATORS, wire(port, source))


@cases(
    "port, source, message",
    ("uint inputs:execIn", "Tick.outputs:tick", f"there is no such node in <{GRAPH}>."),
    ("uint inputs:execIn", "T.outputs:tock", f"{TICK} has no such port here. Did you mean outputs:tick?"),
    ("uint inputs:execInn", "T.outputs:tick", f"{ACTUATORS} has no such input here. Did you mean inputs:execIn?"),
    ("uint outputs:execOut", "T.outputs:tick", f"{ACTUATORS} has no such input here."),
    ("uint inputs:execIn", "T.outputs:time", "that is double, must be execution."),
    ("uint inputs:execIn", "M.inputs:resetIn", "an execution starts at an output."),
    ("double inputs:stepDt", "T.outputs:tick", "that is execution, must be double."),
    ("double inputs:stepDt", "S.inputs:value", "that is token, must be double."),
    ("double inputs:stepDt", "M.outputs:appliedEfforts", "that is double[], must be double."),
    (
        "float[] inputs:feedforwardCommand",
        "M.outputs:appliedEfforts",
        "that is double[], must be float[]. Put a ToFloat between them.",
    ),
)
def test_wrong_wire_is_an_issue(port, source, message) -> None:
    found = issue(wired(port, source))
    name = port.split()[1]
    start = f"<{GRAPH}/M>.{name} (layer x) is connected to <{GRAPH}/{source}>: {message}"
    assert found.startswith(start) and found.endswith("Correct the connection or remove it.")


@cases(
    "port, source",
    ("uint inputs:execIn", "T.outputs:tick"),
    ("double inputs:stepDt", "T.outputs:deltaSeconds"),
    ("double inputs:stepDt", "F.inputs:value"),
    ("string inputs:robotPath", "S.inputs:value"),
    ("float[] inputs:feedforwardCommand", "A.outputs:array"),
)
def test_fitting_wire_is_none(port, source) -> None:
    more = node("F", "omni.graph.nodes.ConstantFloat") + node("A", "omni.graph.nodes.ConstructArray")
    assert load(more + wired(port, source))


def test_wire_between_graphs_is_an_issue() -> None:
    (found,) = issues(graph(node("T", TICK)), graph(node("M", ACTUATORS, pulse("T.outputs:tick")), name="Second"))
    assert "there is no such node in </World/Second>" in found


def test_two_wires_to_one_value_are_an_issue() -> None:
    text = wire("double inputs:stepDt", "D.inputs:value", "T.outputs:time")
    found = issue(node("T", TICK) + node("D", CONSTANT) + node("M", ACTUATORS, text))
    assert found.startswith(f"<{GRAPH}/M>.inputs:stepDt (layer x) has 2 connections: must have one.")


def test_execution_in_a_circle_is_an_issue(runs) -> None:
    """It would never end."""
    text = wire("uint inputs:execIn", "T.outputs:tick", "B.outputs:execOut")
    found = issue(node("T", TICK) + node("A", RECORD, text) + node("B", RECORD, pulse("A.outputs:execOut")))
    assert found.startswith(f"<{GRAPH}>: execution runs in a circle, {GRAPH}/") and f"{GRAPH}/A → {GRAPH}/B" in found


def test_data_in_a_circle_is_an_issue(runs) -> None:
    text = [wire("token inputs:value", f"{name}.outputs:value") for name in ("A", "B", "C")]
    found = issue(node("A", PURE, text[1]) + node("B", PURE, text[0]))
    assert found.startswith(f"<{GRAPH}>: data runs in a circle, ")
    assert f"{GRAPH}/C → {GRAPH}/C" in issue(node("C", PURE, text[2]))


def test_data_may_come_back_through_an_execution(runs) -> None:
    back = wire("token inputs:value", "P.outputs:value")
    forth = wire("token inputs:value", "A.outputs:value")
    assert load(node("T", TICK) + node("A", RECORD, pulse("T.outputs:tick"), back) + node("P", PURE, forth))


@cases(
    "settings, message",
    ('token evaluator:type = "push"', "evaluator:type = 'push' (layer x): must be execution outside Kit."),
    ("", "evaluator:type = 'push' (not authored): must be execution outside Kit."),
    (f'{SETTINGS}\n token evaluationMode = "Instanced"', "evaluationMode = 'Instanced' (layer x): must be Automatic"),
    (f'{SETTINGS}\n token pipelineStage = "later"', "pipelineStage = 'later' (layer x): must be pipelineStageSim"),
)
def test_unsupported_setting_is_an_issue(settings, message) -> None:
    found = issue("", settings)
    assert found.startswith(f"<{GRAPH}>.{message}") and found.endswith("Change it or deactivate the graph.")


def test_physics_steps_need_a_graph_on_demand() -> None:
    """As in Isaac Sim, where the node would stay silent."""
    assert f"<{GRAPH}>.pipelineStage must be pipelineStageOnDemand" in issue(node("S", STEP))
    assert load(node("S", STEP), ON_DEMAND).runs_at_physics_steps


def test_all_problems_of_all_graphs_come_at_once() -> None:
    first = graph(node("A", "no.such.Type") + node("M", ACTUATORS, "custom token inputs:stepDt = 'x'"))
    with pytest.raises(GraphError) as caught:
        load_graphs(stage_with(first, graph("", settings="", name="Second")))
    assert [text.split(">")[0] for text in caught.value.issues] == [f"<{GRAPH}/A", f"<{GRAPH}/M", "</World/Second"]
    assert str(caught.value).splitlines() == list(caught.value.issues)


@cases(
    "wanted, given, fits",
    ("double", "float", True),
    ("double", "int", True),
    ("int64", "int", True),
    ("float", "double", False),
    ("int", "double", False),
    ("int", "bool", False),
    ("bool", "int", False),
    ("double[]", "float[]", True),
    ("double[]", "double", False),
    ("double[3]", "double[4]", False),
    ("vectord[3]", "double[3]", True),
    ("token", "string", True),
    ("token[]", "token", False),
    ("string", "double", False),
    ("target", "token", False),
    ("execution", "uint", False),
    ("any", "double[3][]", True),
    ("float[]", "any", True),
)
def test_type_takes_what_it_can_hold_exactly(wanted, given, fits) -> None:
    assert parse_type(wanted).takes(parse_type(given)) == fits


def test_open_type_copies_arrays() -> None:
    given = np.zeros(2)
    converted = parse_type("any").convert(given)
    given[:] = 1.0
    np.testing.assert_array_equal(converted, [0.0, 0.0])


def test_file_tells_whether_it_has_graphs(tmp_path) -> None:
    stage = stage_with(graph(node("T", TICK)))
    assert has_graphs(stage)
    stage.GetPrimAtPath(GRAPH).SetActive(False)
    assert not has_graphs(stage)
    stage.Export(str(tmp_path / "none.usda"))
    assert not has_graphs(tmp_path / "none.usda")


def nested(what: str, depth: int) -> str:
    """A node in a graph, that many levels deep: in scopes, in graphs, or in nodes, the graph around them or inside."""
    head, bottom = f'def OmniGraph "G" {{\n {SETTINGS}\n', node("N", CONSTANT)
    opening = {
        "scopes": 'def Scope "S" {\n',
        "scopes around": 'def Scope "S" {\n',
        "graphs": head,
        "nodes": f'def OmniGraphNode "N" {{ token node:type = "{CONSTANT}"\n',
    }[what]
    middle = opening * depth
    return (middle + head if what == "scopes around" else head + middle) + bottom + "}\n" * (depth + 1)


@cases("what, graphs, nodes", ("scopes", 1, 1), ("scopes around", 1, 1), ("graphs", 901, 1), ("nodes", 1, 901))
def test_deep_file_is_loaded(what, graphs, nodes, tmp_path) -> None:
    file = tmp_path / "deep.usda"
    file.write_text("#usda 1.0\n" + nested(what, 900))
    loaded = load_graphs(file)
    assert (len(loaded), sum(len(one.nodes) for one in loaded)) == (graphs, nodes)


@cases("what", "scopes", "scopes around", "graphs", "nodes")
@pytest.mark.slow
def test_graph_that_is_too_deep_is_refused(what, tmp_path) -> None:
    file = tmp_path / "deep.usda"
    file.write_text("#usda 1.0\n" + nested(what, 50_000))
    with pytest.raises(ValueError, match=r"deep\.usda: OmniGraph(Node)? '\w+' nests \d+ deep: must be at most 1000"):
        load_graphs(file)


@pytest.mark.usefixtures("runs")
def test_long_chain_of_wires_is_no_deep_one() -> None:
    wired = [wire("double inputs:value", f"N{at}.outputs:value") for at in range(1199)]
    chain = node("N0", PURE) + "".join(node(f"N{at + 1}", PURE, one) for at, one in enumerate(wired))
    loaded = load(chain + node("Last", RECORD, wire("double inputs:value", "N1199.outputs:value")))
    assert [one.path for one in loaded.nodes[f"{GRAPH}/Last"].upstream] == [f"{GRAPH}/N{at}" for at in range(1200)]
    assert sum(len(one.upstream) for one in loaded.nodes.values()) == 1200
