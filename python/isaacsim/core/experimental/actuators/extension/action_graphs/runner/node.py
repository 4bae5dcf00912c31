"""A node in a graph: its values and wires, and what it sees of the graph: path, variables and time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..omnigraph.database import Database, Node, Severity
from ..omnigraph.ogn_types import ExecutionAttributeState, OgnType


class Variables:
    """Values by name, each of a type that stays; the path of their graph is for messages."""

    def __init__(self, graph_path: str) -> None:
        self.writes = 0
        self._graph_path = graph_path
        self._types: dict[str, OgnType] = {}
        self._values: dict[str, object] = {}

    def declare(self, name: str, kind: OgnType, value: object) -> None:
        """Add a variable; ValueError if the value is not of that type."""
        self._types[name] = kind
        self.write(name, kind.default() if value is None else value)

    def read(self, name: str) -> Any:
        """Return a value; ValueError if there is no such variable, with those there are."""
        self._require(name)
        return self._values[name]

    def write(self, name: str, value: object) -> None:
        """Set a value; ValueError if there is no such variable, or it is of another type."""
        self._require(name)
        try:
            self._values[name] = self._types[name].convert(value)
        except (TypeError, ValueError) as error:
            raise ValueError(f"<{self._graph_path}>.graph:variable:{name} = {error}") from error
        self.writes += 1

    def _require(self, name: str) -> None:
        if name not in self._types:
            raise ValueError(
                f"variable {name!r}: not in <{self._graph_path}>. Available: {list(self._types)}. Correct the name, or "
                f"add an attribute graph:variable:{name} to the graph."
            )


@dataclass(frozen=True)
class Clock:
    """Simulated time, of this play and in total, duration of an evaluation [s], and frames, at one evaluation."""

    time: float = 0.0
    delta: float = 0.0
    frame: float = 0.0
    total_time: float = 0.0


class Scope:
    """The path, the variables and the time of a graph."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.variables = Variables(path)
        self.clock = Clock()


class GraphNode(Node):
    """A node of a graph, with the database of its type and what it sees of the graph."""

    def __init__(self, path: str, database: type[Database], graph: Scope) -> None:
        super().__init__(path)
        self.graph = graph
        self.db = database(self)
        self.variables = graph.variables
        # by input: the node it is wired to, and that node's port
        self.wires: dict[str, tuple[GraphNode, str]] = {}
        # by execution output: the nodes it pulses, each with the inputs
        self.followers: dict[str, dict[GraphNode, list[str]]] = {}
        # the pure nodes that its inputs depend on, in an order to compute them
        self.upstream: list[GraphNode] = []
        executions = {port.group for port in database.DESCRIPTION.ports.values() if port.type.base == "execution"}
        # events start an execution, pure nodes take no part in any
        self.is_event = executions == {"outputs"}
        self.is_pure = not executions

    @property
    def path(self) -> str:
        """Prim path."""
        return self._path

    def run(self, *fired: str) -> bool:
        """Read the wires of the inputs and compute, with some execution inputs pulsed; return whether that worked."""
        try:
            for port, (source, name) in self.wires.items():
                self.db.write(port, source.db.read(name))
        except ValueError as error:
            self.db.log_error(str(error), add_context=False)
            return False
        done = self.db.evaluate(*fired)
        if not done and not self.get_compute_messages(Severity.ERROR):
            self.db.log_error("compute returned False.")
        for port in self.followers if done else ():
            if (state := self.db.read(port)) not in (ExecutionAttributeState.DISABLED, ExecutionAttributeState.ENABLED):
                self.db.log_error(f"{port} = {state.name}: must be ENABLED or DISABLED outside Kit. Use one of them.")
                return False
        return done

    def pulsed(self) -> Iterator[tuple[GraphNode, list[str]]]:
        """Followers on the execution outputs that the node fired, in the order of its ports."""
        for port, nodes in self.followers.items():
            if self.db.read(port):
                yield from nodes.items()
