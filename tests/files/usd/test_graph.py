"""Reading `OmniGraph` prims: every form that Kit writes them in."""

import numpy as np
from graph_stages import GRAPH, SETTINGS, graph, node, stage_with, wire
from isaacsim.core.experimental.actuators.files.usd.graph import GraphPrim, NodePrim, ogn_type, read_graphs
from refusals import cases

# as Kit saves a graph: API schemas, positions in the editor, open types, targets, list edits, allowed tokens
SAVED = f"""
def OmniGraphNode "OnPlaybackTick" ( prepend apiSchemas = ["NodeGraphNodeAPI"] ) {{
    token node:type = "omni.graph.action.OnPlaybackTick"
    int node:typeVersion = 2
    custom double outputs:deltaSeconds
    custom uint outputs:tick ( customData = {{ bool isExecution = 1 }} )
    uniform token ui:nodegraph:node:expansionState = "open"
    uniform float2 ui:nodegraph:node:pos = (-120, 40)
}}
def OmniGraphNode "Targets" {{
    token node:type = "omni.graph.nodes.ConstructArray"
    custom token inputs:arrayType = "double[]" ( allowedTokens = ["auto", "double[]"] )
    custom token inputs:input0
    prepend token inputs:input0.connect = <{GRAPH}/Pose.inputs:value>
    custom double inputs:input1 = -0.4
    custom token outputs:array ( customData = {{ dictionary omni = {{ dictionary graph = {{
        string resolvedType = "double[]" }} }} }} )
}}
def OmniGraphNode "Controller" {{
    token node:type = "isaacsim.core.nodes.IsaacArticulationController"
    custom uint inputs:execIn
    prepend uint inputs:execIn.connect = [<{GRAPH}/OnPlaybackTick.outputs:tick>, <{GRAPH}/Other.outputs:execOut>]
    uint inputs:plain.connect = <{GRAPH}/OnPlaybackTick.outputs:tick>
    custom string inputs:robotPath
    custom rel inputs:targetPrim = </World/Robot> ( customData = {{ dictionary omni = {{ dictionary graph = {{
        string relType = "target" }} }} }} )
    custom token[] inputs:jointNames = ["a", "b"]
    custom double[] inputs:positionCommand = []
}}
def "ComputeGraphSettings" ( active = false ) {{
    custom token evaluator:type = "push"
}}
def "Backdrop" {{
    custom token inputs:text = "no node"
}}
"""
TYPES = {
    **{name: name for name in ("string", "token", "float[]", "int64", "uint64[]", "half", "timecode")},
    "double3": "double[3]",
    "double3[]": "double[3][]",
    "half2": "half[2]",
    "color3f": "colorf[3]",
    "point3f[]": "pointf[3][]",
    "texCoord2d": "texcoordd[2]",
    "matrix4d": "matrixd[4]",
    "frame4d": "frame[4]",
    "quatf": "quatf[4]",
    "quatd[]": "quatd[4][]",
    "asset": "any",
}
# as written in USD, and as nodes get it
VALUES: list[tuple] = [
    ("bool", "1", True),
    ("int", "-3", -3),
    ("double", "0.25", 0.25),
    ("string", '"text"', "text"),
    ("token[]", '["a", "b"]', ["a", "b"]),
    ("asset", "@./file.usda@", "./file.usda"),
    ("timecode", "2.5", 2.5),
    ("double3", "(1, 2, 3)", [1, 2, 3]),
    ("float[]", "[1, 2]", [1, 2]),
    ("int[]", "[]", []),
    ("double3[]", "[(1, 2, 3), (4, 5, 6)]", [[1, 2, 3], [4, 5, 6]]),
    ("matrix2d", "((1, 2), (3, 4))", [[1, 2], [3, 4]]),
    # the real part is first in USD text, last in OmniGraph
    ("quatf", "(1, 2, 3, 4)", [2, 3, 4, 1]),
    ("quatd[]", "[(1, 2, 3, 4)]", [[2, 3, 4, 1]]),
    ("pathExpression", '"/World//"', "/World//"),
]


def read_one(*texts: str) -> GraphPrim:
    (read,) = read_graphs(stage_with(*texts))
    return read


def saved_node(name: str) -> NodePrim:
    return {read.path: read for read in read_one(graph(SAVED)).nodes}[f"{GRAPH}/{name}"]


def test_nodes_are_those_of_the_graph_in_stage_order() -> None:
    names = [read.path.removeprefix(f"{GRAPH}/") for read in read_one(graph(SAVED)).nodes]
    assert names == ["OnPlaybackTick", "Targets", "Controller"]


def test_node_has_type_and_ports() -> None:
    read = saved_node("OnPlaybackTick")
    assert read.type == "omni.graph.action.OnPlaybackTick"
    assert list(read.ports) == ["outputs:deltaSeconds", "outputs:tick"]


def test_connections_of_every_form_are_sources() -> None:
    ports = saved_node("Controller").ports
    assert ports["inputs:execIn"].sources == (f"{GRAPH}/OnPlaybackTick.outputs:tick", f"{GRAPH}/Other.outputs:execOut")
    assert ports["inputs:plain"].sources == (f"{GRAPH}/OnPlaybackTick.outputs:tick",)
    assert saved_node("Targets").ports["inputs:input0"].sources == (f"{GRAPH}/Pose.inputs:value",)


def test_target_is_a_value() -> None:
    target = saved_node("Controller").ports["inputs:targetPrim"]
    assert (target.type, target.value, target.sources) == ("target", ("/World/Robot",), ())


@cases("name, port", ("Controller", "inputs:robotPath"), ("Targets", "inputs:input0"))
def test_unset_value_is_none(name, port) -> None:
    assert saved_node(name).ports[port].value is None


@cases("kind, text, value", *VALUES)
def test_value_is_plain(kind, text, value) -> None:
    (read,) = read_one(graph(node("N", "t", f"custom {kind} inputs:x = {text}"))).nodes
    got = read.ports["inputs:x"].value
    assert "pxr" not in type(got).__module__
    np.testing.assert_array_equal(got, value)


@cases("usd, ogn", *TYPES.items())
def test_type_has_the_name_of_omnigraph(usd, ogn) -> None:
    assert ogn_type(usd) == ogn


def test_settings_and_variables_are_apart() -> None:
    variables = "custom double3 graph:variable:at = (1, 2, 3)\n custom int graph:variable:n"
    read = read_one(graph("", settings=f"{SETTINGS}\n {variables}"))
    assert list(read.settings) == ["evaluator:type"]
    assert {name: variable.type for name, variable in read.variables.items()} == {"at": "double[3]", "n": "int"}


def test_layer_is_named() -> None:
    stage = stage_with(graph(node("N", "t", "custom int inputs:x = 1")))
    stage.GetAttributeAtPath(f"{GRAPH}/N.inputs:x").Set(2)
    (read,) = read_graphs(stage)
    assert read.nodes[0].ports["inputs:x"].layer == f"layer {stage.GetRootLayer().GetDisplayName()}"


def test_inactive_graphs_and_nodes_are_left_out() -> None:
    stage = stage_with(graph(node("A", "t") + node("B", "t")), graph(node("C", "t"), name="Second"))
    stage.GetPrimAtPath(f"{GRAPH}/A").SetActive(False)
    stage.GetPrimAtPath("/World/Second").SetActive(False)
    (read,) = read_graphs(stage)
    assert [found.path for found in read.nodes] == [f"{GRAPH}/B"]


def test_graph_in_a_graph_keeps_its_nodes() -> None:
    inner = graph(node("Inside", "t"), name="Inner")
    first, second = read_graphs(stage_with(graph(inner + f'def Scope "Folder" {{ {node("Outside", "t")} }}')))
    assert [found.path for found in first.nodes] == [f"{GRAPH}/Folder/Outside"]
    assert [found.path for found in second.nodes] == [f"{GRAPH}/Inner/Inside"]


def test_node_without_a_type_has_none() -> None:
    text = f'def OmniGraphNode "N" {{\n {wire("int inputs:x", "M.outputs:y")}\n }}'
    assert read_one(graph(text)).nodes[0].type == ""
