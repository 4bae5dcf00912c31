"""Read action graphs off a stage: `OmniGraph` prims and their nodes, as plain data."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from pxr import Gf, Sdf, Usd

from .articulation import on_stage
from .readable import readable

GRAPH, NODE = "OmniGraph", "OmniGraphNode"
VARIABLE = "graph:variable:"
_PORTS = ("inputs:", "outputs:", "state:")

# where OmniGraph's name of a type does not follow from that of USD
_IRREGULAR = {"quath": "quath[4]", "quatf": "quatf[4]", "quatd": "quatd[4]", "frame4d": "frame[4]", "asset": "any"}


@dataclass(frozen=True)
class GraphAttribute:
    """An attribute or relationship of a graph or of one of its nodes.

    Args:
        type: As OmniGraph names it, `double[3][]` for instance; `target` for relationships. Execution attributes and
            those whose type was still open are a `uint` and a `token`.
        value: Plain: numbers, text, tuples and lists of them, NumPy arrays. None when nobody set it.
        sources: Paths of the attributes it is connected to.
        layer: Where its strongest opinion is.
    """

    type: str
    value: Any
    sources: tuple[str, ...]
    layer: str


@dataclass(frozen=True)
class NodePrim:
    """An `OmniGraphNode` prim.

    Args:
        path: Of the prim.
        type: Its `node:type`; empty when not authored.
        ports: Inputs, outputs and state by full name, `inputs:stepDt` for instance.
    """

    path: str
    type: str
    ports: dict[str, GraphAttribute]


@dataclass(frozen=True)
class GraphPrim:
    """An `OmniGraph` prim.

    Args:
        path: Of the prim.
        settings: Its own attributes by name, `evaluator:type` for instance.
        variables: By name.
        nodes: In stage order.
    """

    path: str
    settings: dict[str, GraphAttribute]
    variables: dict[str, GraphAttribute]
    nodes: list[NodePrim]


@readable
def read_graphs(stage: Usd.Stage) -> list[GraphPrim]:
    """Return every graph that is active and loaded, in stage order."""
    prims = Usd.PrimRange(stage.GetPseudoRoot(), on_stage)
    return [_read_graph(prim) for prim in prims if prim.GetTypeName() == GRAPH]


def _read_graph(prim: Usd.Prim) -> GraphPrim:
    own = {found.GetName(): _read(found) for found in prim.GetAuthoredAttributes()}
    variables = {name.removeprefix(VARIABLE): read for name, read in own.items() if name.startswith(VARIABLE)}
    settings = {name: read for name, read in own.items() if not name.startswith(VARIABLE)}
    nodes = [NodePrim(str(node.GetPath()), _node_type(node), dict(_ports(node))) for node in _nodes(prim)]
    return GraphPrim(str(prim.GetPath()), settings, variables, nodes)


def _nodes(graph: Usd.Prim) -> Iterator[Usd.Prim]:
    """The nodes below a graph, those of a graph inside it left out."""
    prims: Any = iter(Usd.PrimRange(graph, on_stage))
    for prim in prims:
        if prim.GetTypeName() == NODE:
            yield prim
        elif prim != graph and prim.GetTypeName() == GRAPH:
            prims.PruneChildren()


def _node_type(node: Usd.Prim) -> str:
    attribute = node.GetAttribute("node:type")
    return str(attribute.Get() or "") if attribute else ""


def _ports(node: Usd.Prim) -> Iterator[tuple[str, GraphAttribute]]:
    for found in node.GetAuthoredProperties():
        if found.GetName().startswith(_PORTS):
            yield found.GetName(), _read(found)


def _read(found: Usd.Property) -> GraphAttribute:
    layer = f"layer {found.GetPropertyStack(Usd.TimeCode.Default())[0].layer.GetDisplayName()}"
    if isinstance(found, Usd.Relationship):
        targets = tuple(str(path) for path in found.GetTargets())
        return GraphAttribute("target", targets or None, (), layer)
    assert isinstance(found, Usd.Attribute)
    sources = tuple(str(path) for path in found.GetConnections())
    return GraphAttribute(ogn_type(str(found.GetTypeName())), _plain(found.Get(Usd.TimeCode.Default())), sources, layer)


def ogn_type(usd_type: str) -> str:
    """Return OmniGraph's name of a USD type, `double[3][]` of `double3[]`; `any` for what it does not know."""
    element, array, _ = usd_type.partition("[]")
    if element in _IRREGULAR:
        return _IRREGULAR[element] + array
    found = re.fullmatch(r"(?P<base>u?int64|[a-zA-Z]+)(?P<count>[234]?)(?P<letter>[hfd]?)", element)
    if found is None:
        return "any"
    count = f"[{found['count']}]" if found["count"] else ""
    return found["base"].lower() + found["letter"] + count + array


def _plain(value: Any) -> Any:
    """A value without USD's types; quaternions as OmniGraph has them, real part last."""
    if isinstance(value, Gf.Quatd | Gf.Quatf | Gf.Quath):
        return (*value.GetImaginary(), value.GetReal())
    if isinstance(value, Sdf.AssetPath):
        return value.path
    if isinstance(value, Sdf.TimeCode):
        return value.GetValue()
    if isinstance(value, Sdf.PathExpression):
        return value.GetText()
    # of an unregistered type there is no value but its text, which nodes refuse
    if value is None or isinstance(value, bool | int | float | str | Sdf.UnregisteredValue):
        return value
    # vectors, matrices and arrays; text stays as it is
    plain = list(value)
    return plain if plain and isinstance(plain[0], str) else np.array(value)
