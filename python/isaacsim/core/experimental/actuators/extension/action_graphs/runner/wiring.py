"""Connect the nodes of a graph as its stage authors it, and find the order in which they compute."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from graphlib import CycleError, TopologicalSorter

from ....files.usd.graph import GraphPrim, NodePrim
from .error import did_you_mean
from .graph import Graph
from .node import GraphNode


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


def put_in_order(graph: Graph, issues: list[str]) -> None:
    """Order the ports of each node and the pure nodes it depends on; report cycles."""
    nodes = list(graph.nodes.values())
    _order_executions(nodes, issues)
    needs = {node: [source for source, _ in node.wires.values() if source.is_pure] for node in nodes}
    pure = _sorted({node: needs[node] for node in nodes if node.is_pure}, "data", issues)
    place = {node: at for at, node in enumerate(pure)}
    for node in nodes:
        # pure nodes run for others only
        upstream = set() if node.is_pure else _behind(node, needs)
        node.upstream = sorted(upstream & place.keys(), key=place.__getitem__)


def _order_executions(nodes: Sequence[GraphNode], issues: list[str]) -> None:
    """Put the followers of each node into the order of its ports."""
    pulsed_by: dict[GraphNode, list[GraphNode]] = {node: [] for node in nodes}
    for node in nodes:
        node.followers = {port: node.followers[port] for port in node.db.DESCRIPTION.ports if port in node.followers}
        for end in itertools.chain.from_iterable(node.followers.values()):
            pulsed_by[end].append(node)
    _sorted(pulsed_by, "execution", issues)


def _behind(node: GraphNode, needs: Mapping[GraphNode, Sequence[GraphNode]]) -> set[GraphNode]:
    """All nodes that a node depends on, without recursion: chains may have thousands of nodes."""
    waiting, found = list(needs[node]), set[GraphNode]()
    while waiting:
        source = waiting.pop()
        if source not in found:
            found.add(source)
            waiting += needs[source]
    return found


def _sorted(before: dict[GraphNode, list[GraphNode]], what: str, issues: list[str]) -> list[GraphNode]:
    """Nodes in topological order; none where there is a cycle, which is reported."""
    try:
        return list(TopologicalSorter(before).static_order())
    except CycleError as error:
        circle = " → ".join(node.path for node in error.args[1])
        issues.append(f"<{error.args[1][0].graph.path}>: {what} runs in a circle, {circle}. Disconnect one of them.")
        return []
