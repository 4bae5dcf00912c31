"""Read the action graphs of a stage as plain data: `OmniGraph` prims and their nodes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from pxr import Gf, Sdf, Usd

from ...base.errors import UnsupportedSceneError
from .articulation import on_stage
from .usd_errors import reports_usd_errors

GRAPH, NODE = "OmniGraph", "OmniGraphNode"
VARIABLE = "graph:variable:"
DEEPEST = 1000
"""Levels of prims at which graphs and nodes may be: reading takes time with the square of the depth."""
_PORTS = ("inputs:", "outputs:", "state:")

# OmniGraph's names of types that do not follow from USD's
_IRREGULAR = {"quath": "quath[4]", "quatf": "quatf[4]", "quatd": "quatd[4]", "frame4d": "frame[4]", "asset": "any"}


@dataclass(frozen=True)
class GraphAttribute:
    """An attribute or relationship of a graph or of one of its nodes, with the layer of its strongest opinion.

    The type is OmniGraph's, such as `double[3][]`, and `target` for relationships; execution attributes are `uint`,
    those of an unresolved type `token`. The value is numbers, text, tuples and lists of them, or a NumPy array, None if
    not set. Sources are the paths of the connected attributes.
    """

    type: str
    value: Any
    sources: tuple[str, ...]
    layer: str


@dataclass(frozen=True)
class NodePrim:
    """An `OmniGraphNode` prim: its `node:type`, empty if not authored, and ports by full name, as `inputs:stepDt`."""

    path: str
    type: str
    ports: dict[str, GraphAttribute]


@dataclass(frozen=True)
class GraphPrim:
    """An `OmniGraph` prim: settings by name, as `evaluator:type`, variables by name, and nodes in stage order."""

    path: str
    settings: dict[str, GraphAttribute]
    variables: dict[str, GraphAttribute]
    nodes: list[NodePrim]


@reports_usd_errors
def read_graphs(stage: Usd.Stage) -> list[GraphPrim]:
    """Every graph that is active and loaded, in stage order; an `UnsupportedSceneError` if nested too deep."""
    prims = Usd.PrimRange(stage.GetPseudoRoot(), on_stage)
    return [_read_graph(prim) for prim in prims if prim.GetTypeName() == GRAPH]


def _require_shallow(prim: Usd.Prim) -> None:
    depth = prim.GetPath().pathElementCount
    if depth > DEEPEST:
        raise UnsupportedSceneError(
            f"{prim.GetStage().GetRootLayer().GetDisplayName()}: {prim.GetTypeName()} {prim.GetName()!r} nests {depth} "
            f"deep: must be at most {DEEPEST}. Move it up."
        )


def _read_graph(prim: Usd.Prim) -> GraphPrim:
    _require_shallow(prim)
    own = {found.GetName(): _read(found) for found in prim.GetAuthoredAttributes()}
    variables = {name.removeprefix(VARIABLE): read for name, read in own.items() if name.startswith(VARIABLE)}
    settings = {name: read for name, read in own.items() if not name.startswith(VARIABLE)}
    nodes = [NodePrim(str(node.GetPath()), _node_type(node), dict(_ports(node))) for node in _nodes(prim)]
    return GraphPrim(str(prim.GetPath()), settings, variables, nodes)


def _nodes(graph: Usd.Prim) -> Iterator[Usd.Prim]:
    prims: Any = iter(Usd.PrimRange(graph, on_stage))
    for prim in prims:
        if prim.GetTypeName() == NODE:
            _require_shallow(prim)
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
        return GraphAttribute("target", tuple(str(path) for path in found.GetTargets()) or None, (), layer)
    assert isinstance(found, Usd.Attribute)
    sources = tuple(str(path) for path in found.GetConnections())
    return GraphAttribute(ogn_type(str(found.GetTypeName())), _plain(found.Get(Usd.TimeCode.Default())), sources, layer)


def ogn_type(usd_type: str) -> str:
    """Return OmniGraph's name of a USD type, `double[3][]` for `double3[]`; `any` for unknown types."""
    element, array, _ = usd_type.partition("[]")
    if element in _IRREGULAR:
        return _IRREGULAR[element] + array
    found = re.fullmatch(r"(?P<base>u?int64|[a-zA-Z]+)(?P<count>[234]?)(?P<letter>[hfd]?)", element)
    if found is None:
        return "any"
    count = f"[{found['count']}]" if found["count"] else ""
    return found["base"].lower() + found["letter"] + count + array


def _plain(value: Any) -> Any:
    """A value without USD's types; quaternions have the real part last, as in OmniGraph."""
    if isinstance(value, Gf.Quatd | Gf.Quatf | Gf.Quath):
        return (*value.GetImaginary(), value.GetReal())
    if isinstance(value, Sdf.AssetPath):
        return value.path
    if isinstance(value, Sdf.TimeCode):
        return value.GetValue()
    if isinstance(value, Sdf.PathExpression):
        return value.GetText()
    # a value of an unregistered type is its text, which nodes refuse
    if value is None or isinstance(value, bool | int | float | str | Sdf.UnregisteredValue):
        return value
    # vectors, matrices and arrays; text stays as it is
    plain = list(value)
    return plain if plain and isinstance(plain[0], str) else np.array(value)
