"""Load graphs from the `OmniGraph` prims of a stage: nodes, wires and the order in which they compute.

Node types and their classes are registered here. Only the running program can add to them; a stage cannot.
"""

from __future__ import annotations

import itertools
import os
import re
import warnings
from collections.abc import Collection, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

from ....base.errors import did_you_mean
from ....files.usd.graph import GraphPrim, NodePrim, read_graphs
from ....files.usd.stage import open_stage
from ....specs.arguments import require_type
from ..nodes.OgnArticulationActuators import OgnArticulationActuators
from ..omnigraph.database import Database, make_database, node_database
from ..omnigraph.ogn_file import NodeDescription, NodePorts, Port
from ..omnigraph.ogn_types import parse_type
from .graph import Graph, GraphError, GraphNode
from .kit_nodes import KIT_NODES

if TYPE_CHECKING:
    from ....files.usd.handles import Stage

_ON_DEMAND = "pipelineStageOnDemand"
# default and allowed values of the settings of a graph
_SETTINGS = {
    "evaluator:type": ("push", ["execution"]),
    "evaluationMode": ("Automatic", ["Automatic", "Standalone"]),
    "pipelineStage": (
        "pipelineStageSimulation",
        ["pipelineStageSimulation", "pipelineStagePreRender", "pipelineStagePostRender", _ON_DEMAND],
    ),
}


def has_graphs(source: str | os.PathLike[str] | Stage) -> bool:
    """Return True if a USD file or stage has an active action graph; FileNotFoundError if there is no such file."""
    return bool(read_graphs(open_stage(source)))


def load_graphs(source: str | os.PathLike[str] | Stage) -> list[Graph]:
    """Return the action graphs of a USD file or stage, in stage order."""
    issues: list[str] = []
    graphs = [_graph(prim, issues) for prim in read_graphs(open_stage(source))]
    if issues:
        raise GraphError(issues)
    return graphs


def _graph(prim: GraphPrim, issues: list[str]) -> Graph:
    """Return a graph, which must not run where `issues` gets any problem."""
    graph = Graph(prim.path, _settings(prim, issues)["pipelineStage"] == _ON_DEMAND)
    for name, variable in prim.variables.items():
        try:
            graph.variables.declare(name, parse_type(_known(variable.type)), variable.value)
        except ValueError as error:
            issues.append(f"{error} It is in {variable.layer}.")
    for node in prim.nodes:
        if (database := _database(node, issues)) is not None:
            graph.nodes[node.path] = _node(node, database, graph, issues)
    for node in prim.nodes:
        if node.path in graph.nodes:
            wire(node, prim, graph, issues)
    put_in_order(graph, issues)
    return graph


def _settings(prim: GraphPrim, issues: list[str]) -> dict[str, str]:
    """The settings of a graph."""
    settings = {}
    for name, (default, allowed) in _SETTINGS.items():
        authored = prim.settings.get(name)
        value, where = (authored.value, authored.layer) if authored is not None else (None, "not authored")
        settings[name] = str(value) if value is not None and str(value) else default
        if settings[name] not in allowed:
            issues.append(
                f"<{prim.path}>.{name} = {settings[name]!r} ({where}): must be {' or '.join(allowed)} outside Kit. "
                "Change it or deactivate the graph."
            )
    return settings


def _database(node: NodePrim, issues: list[str]) -> type[Database] | None:
    """The database class of a node, with the ports that the node adds to its type."""
    if not node.type:
        issues.append(
            f"<{node.path}>.node:type is not authored: must name a node type. Author it or deactivate the node."
        )
        return None
    try:
        base = _databases[node.type]
    except KeyError:
        issues.append(
            f"<{node.path}>.node:type = {node.type!r}: must be a node type known outside Kit. "
            f"{did_you_mean(node.type, sorted(_databases))} Deactivate the node, or give your own type to "
            "register_node_type."
        )
        return None
    if not (added := _added_ports(node, base)):
        return base
    description = base.DESCRIPTION
    ports = description.ports | added
    made = make_database(base.__name__, NodeDescription(description.name, ports, description.keys))
    made.register(base.NODE_TYPE_CLASS)
    return made


def _added_ports(node: NodePrim, database: type[Database]) -> dict[str, Port]:
    """The ports of a node beyond those of its type, as far as the type allows more."""
    declared: NodePorts | None = getattr(database.NODE_TYPE_CLASS, "PORTS", None)
    if declared is None or declared.more is None:
        return {}
    pattern, kind = declared.more[0], parse_type(declared.more[1])
    return {
        full_name: Port(group, name, kind, kind.default(), True, name, "")
        for full_name in node.ports
        if full_name not in database.DESCRIPTION.ports and re.fullmatch(pattern, full_name)
        for group, _, name in [full_name.partition(":")]
    }


def _node(node: NodePrim, database: type[Database], graph: Graph, issues: list[str]) -> GraphNode:
    """Return a node with the values that the stage gives its ports."""
    made = GraphNode(node.path, database, graph)
    known = database.DESCRIPTION.ports
    # a connection overrides a value
    values = {name: port for name, port in node.ports.items() if port.value is not None and not port.sources}
    for name, authored in values.items():
        if name in known and _takes_value(known[name]):
            try:
                made.db.write(name, authored.value)
            except ValueError as error:
                issues.append(f"{error} It is in {authored.layer}.")
    _warn_of_unknown(node, values, known)
    if getattr(database.NODE_TYPE_CLASS, "DEMANDS_PHYSICS_STEPS", False) and not graph.on_demand:
        issues.append(
            f"<{node.path}> needs a graph that is evaluated at physics steps: <{graph.path}>.pipelineStage must be "
            f"{_ON_DEMAND}. Author that."
        )
    return made


def _known(kind: str) -> str:
    """The type of a variable, or `any` where OmniGraph has no such type."""
    try:
        return parse_type(kind).text
    except ValueError:
        return "any"


def wire(node: NodePrim, prim: GraphPrim, graph: Graph, issues: list[str]) -> None:
    """Connect the inputs of a node."""
    end = graph.nodes[node.path]
    for name, authored in node.ports.items():
        where = f"<{node.path}>.{name} ({authored.layer})"
        sources = []
        for source in authored.sources:
            path, _, port = source.rpartition(".")
            if path in graph.nodes:
                problem = _wire_problem(end, name, graph.nodes[path], port)
                sources += [] if problem else [(graph.nodes[path], port)]
            elif path in (there := [other.path for other in prim.nodes]):
                # a node of an unknown type was reported already
                continue
            else:
                problem = f"there is no such node in <{graph.path}>. {did_you_mean(path, there)}"
            if problem:
                issues.append(f"{where} is connected to <{source}>: {problem} Correct the connection or remove it.")
        _connect(end, name, sources, where, issues)


def _connect(end: GraphNode, name: str, sources: list[tuple[GraphNode, str]], where: str, issues: list[str]) -> None:
    if not sources:
        return
    if end.db.DESCRIPTION.ports[name].type.base == "execution":
        for source, port in sources:
            source.followers.setdefault(port, {}).setdefault(end, []).append(name)
    elif len(sources) > 1:
        issues.append(f"{where} has {len(sources)} connections: must have one. Only executions come together.")
    else:
        end.wires[name] = sources[0]


def _wire_problem(end: GraphNode, name: str, source: GraphNode, port: str) -> str | None:
    """Why a wire cannot be, or None."""
    ends, starts = end.db.DESCRIPTION.ports, source.db.DESCRIPTION.ports
    if name not in ends or not name.startswith("inputs:"):
        inputs = [port for port in ends if port.startswith("inputs:")]
        return f"{end.db.DESCRIPTION.name} has no such input here. {did_you_mean(name, inputs)}"
    if port not in starts:
        return f"{source.db.DESCRIPTION.name} has no such port here. {did_you_mean(port, starts)}"
    wanted, given = ends[name].type, starts[port].type
    if wanted.base == given.base == "execution" and not port.startswith("outputs:"):
        return "an execution starts at an output."
    if not wanted.takes(given):
        hint = " Put a ToFloat between them." if (given.base, wanted.base) == ("double", "float") else ""
        return f"that is {given.text}, must be {wanted.text}.{hint}"
    return None


def _takes_value(port: Port) -> bool:
    # outputs are computed, and executions are pulsed
    return port.group != "outputs" and port.type.base != "execution"


def _warn_of_unknown(node: NodePrim, values: Collection[str], known: Collection[str]) -> None:
    """Warn of inputs with a value that a node outside Kit does not have."""
    inputs = [name for name in known if name.startswith("inputs:")]
    if unknown := [name for name in values if name.startswith("inputs:") and name not in inputs]:
        warnings.warn(
            f"<{node.path}>: {', '.join(unknown)} have no effect: {node.type} outside Kit has {', '.join(inputs)}. "
            "Remove them, or run the graph in Kit.",
            stacklevel=3,
        )


def put_in_order(graph: Graph, issues: list[str]) -> None:
    """Order the ports of each node and the pure nodes it depends on; report cycles."""
    nodes = list(graph.nodes.values())
    _order_pulses(nodes, issues)
    needs = {node: [source for source, _ in node.wires.values() if source.is_pure] for node in nodes}
    pure = _sorted({node: needs[node] for node in nodes if node.is_pure}, "data", issues)
    place = {node: at for at, node in enumerate(pure)}
    for node in nodes:
        # pure nodes run for others only
        upstream = set() if node.is_pure else _behind(node, needs)
        node.upstream = sorted(upstream & place.keys(), key=place.__getitem__)


def _behind(node: GraphNode, needs: Mapping[GraphNode, Sequence[GraphNode]]) -> set[GraphNode]:
    """All nodes that a node depends on, without recursion: chains may have thousands of nodes."""
    waiting, behind = list(needs[node]), set[GraphNode]()
    while waiting:
        source = waiting.pop()
        if source not in behind:
            behind.add(source)
            waiting += needs[source]
    return behind


def _order_pulses(nodes: Sequence[GraphNode], issues: list[str]) -> None:
    """Order the ports of each node as it declares them; report cycles of executions."""
    pulsed_by: dict[GraphNode, list[GraphNode]] = {node: [] for node in nodes}
    for node in nodes:
        node.followers = {port: node.followers[port] for port in node.db.DESCRIPTION.ports if port in node.followers}
        for end in itertools.chain.from_iterable(node.followers.values()):
            pulsed_by[end].append(node)
    _sorted(pulsed_by, "execution", issues)


def _sorted(before: dict[GraphNode, list[GraphNode]], what: str, issues: list[str]) -> list[GraphNode]:
    """Nodes in topological order; none where there is a cycle, which is reported."""
    try:
        return list(TopologicalSorter(before).static_order())
    except CycleError as error:
        circle = " → ".join(node.path for node in error.args[1])
        issues.append(f"<{error.args[1][0].graph.path}>: {what} runs in a circle, {circle}. Disconnect one of them.")
        return []


_databases: dict[str, type[Database]] = {}


def register_node_type(name: str, node_class: type) -> None:
    """Let graphs use a node type; registering it again replaces the class.

    Args:
        name: What `node:type` says in the stage.
        node_class: Has a static method `compute(db) -> bool`, as in Kit. Its ports are in the `.ogn` file beside its
            module, of the same name, or in its own attribute `PORTS`.

    Raises:
        TypeError: It is no name, or no class.
        ValueError: The name is that of a shipped node type, or the class is no node's.
        FileNotFoundError: There are no `PORTS` and no `.ogn` file.

    Example:
        >>> from isaacsim.core.experimental.actuators.extension.action_graphs import runner
        >>> class Double:
        ...     PORTS = runner.NodePorts(inputs={"number": ("double", 1.0)}, outputs={"result": "double"})
        ...
        ...     @staticmethod
        ...     def compute(db):
        ...         db.outputs.result = 2 * db.inputs.number
        ...         return True
        >>> runner.register_node_type("my.extension.Double", Double)
    """
    require_type("name", name, str, "the name of a node type")
    require_type("node_class", node_class, type, "a class")
    if name in _SHIPPED:
        raise ValueError(f"node type {name!r}: is a shipped one. Choose a name that begins with that of your project.")
    if not callable(getattr(node_class, "compute", None)):
        raise ValueError(f"{node_class.__name__}: must have a static method compute(db) -> bool. Add one.")
    _databases[name] = _database_of(name, node_class)


def _database_of(name: str, node_class: type) -> type[Database]:
    """Return a database class made from the ports that a class lists, else from its file."""
    ports: NodePorts | None = getattr(node_class, "PORTS", None)
    if ports is None:
        return node_database(node_class)
    made = make_database(f"{node_class.__name__}Database", ports.describe(name))
    made.register(node_class)
    return made


_SHIPPED = {"isaacsim.core.experimental.actuators.ArticulationActuators": OgnArticulationActuators, **KIT_NODES}
_databases.update({name: _database_of(name, node_class) for name, node_class in _SHIPPED.items()})
