"""An action graph that runs: its nodes with their values and wires, and what these see of it."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ....base.errors import did_you_mean
from ..omnigraph.database import Database, Node, Severity
from ..omnigraph.ogn_types import ExecutionAttributeState, OgnType

_log = logging.getLogger(__name__)

# each node that pulses the next twice doubles how often what is behind it runs: forty would take for ever
MAX_RUNS = 20_000


class GraphError(ValueError):
    """Action graphs cannot be run; `issues` lists every problem found, one line each."""

    def __init__(self, issues: Sequence[str]) -> None:
        self.issues = tuple(issues)
        super().__init__("\n".join(self.issues))

    def __reduce__(self) -> tuple[object, ...]:
        # other processes get what was given, and notes
        return type(self), (self.issues,), vars(self)


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


class Graph(Scope):
    """The nodes of one `OmniGraph` prim and the wires between them; `load_graphs` makes it.

    An evaluation asks each event whether it happened. An event that did starts a pulse, which follows the wires between
    execution ports depth first. Before a node runs, the pure nodes that its inputs depend on compute, once per pulse,
    and again only when something they read changed since. What fails stops what is behind it. An evaluation runs nodes
    20 000 times at most. With `on_demand` only physics steps evaluate it, `pipelineStageOnDemand`.
    """

    def __init__(self, path: str, on_demand: bool = False) -> None:
        super().__init__(path)
        self.on_demand = on_demand
        self.nodes: dict[str, GraphNode] = {}
        self.evaluations = 0
        self.pulses = 0
        # distinct messages of nodes that failed, in order
        self.errors: list[str] = []
        self._warned: set[str] = set()
        # of nodes, in this evaluation
        self._runs = 0
        self._computed: dict[GraphNode, tuple[tuple[object, ...], bool]] = {}

    @property
    def runs_at_physics_steps(self) -> bool:
        """True if a node demands evaluation before every physics step."""
        classes = {node.db.NODE_TYPE_CLASS for node in self.nodes.values()}
        return any(getattr(one, "DEMANDS_PHYSICS_STEPS", False) for one in classes)

    def evaluate(self, clock: Clock | None = None) -> None:
        """Run what the events start. Errors of nodes are logged, each once, and kept in `errors`."""
        self.clock = clock or self.clock
        self.evaluations += 1
        self._runs = 0
        for event in [node for node in self.nodes.values() if node.is_event]:
            self._computed.clear()
            has_happened = False
            waiting: list[tuple[GraphNode, list[str]]] = [(event, [])]
            while waiting:
                node, fired = waiting.pop()
                # pure nodes it depends on run first
                if all(map(self._compute_once, node.upstream)) and self._run_one(node, fired):
                    following = list(node.pulsed())
                    has_happened |= bool(following)
                    # the last one in is the next one out
                    waiting += reversed(following)
            self.pulses += has_happened

    def read(self, attribute: str) -> Any:
        """Return the value of a node's port as it is now."""
        node, port = self._find(attribute)
        return node.db.read(port)

    def write(self, attribute: str, value: object) -> None:
        """Set an input that no wire sets."""
        node, port = self._find(attribute)
        if not port.startswith("inputs:") or port in node.wires:
            source, output = node.wires.get(port, (node, ""))
            why = f"wired to <{source.path}.{output}>" if output else "no input"
            raise GraphError([f"<{attribute}> is {why}: only an input without a wire can be set. Set another one."])
        try:
            node.db.write(port, value)
        except ValueError as error:
            raise GraphError([str(error)]) from error

    def close(self) -> None:
        """Release the resources of the nodes, robots for example; calling it again does nothing."""
        for node in self.nodes.values():
            node.db.release_instance(node)

    def _run_one(self, node: GraphNode, fired: Iterable[str] = ()) -> bool:
        """Run a node alone, and report its messages; return True if it succeeded."""
        self._runs += 1
        if self._runs > MAX_RUNS:
            raise GraphError(
                [
                    f"<{self.path}>: nodes run more than {MAX_RUNS} times in one evaluation, the last <{node.path}>: "
                    "must be fewer. Pulse nodes once, not from several outputs of one node."
                ]
            )
        done = node.run(*fired)
        for text in node.get_compute_messages(Severity.ERROR):
            if (message := _with_path(node, text)) not in self.errors:
                self.errors.append(message)
                _log.error(message)
        for text in node.get_compute_messages(Severity.WARNING):
            if (message := _with_path(node, text)) not in self._warned:
                self._warned.add(message)
                _log.warning(message)
        return done

    def _compute_once(self, pure: GraphNode) -> bool:
        """Compute a pure node unless nothing it reads changed since it did in this pulse."""
        state = (self.variables.writes, *(source.get_compute_count() for source, _ in pure.wires.values()))
        if pure not in self._computed or self._computed[pure][0] != state:
            self._computed[pure] = (state, self._run_one(pure))
        return self._computed[pure][1]

    def _find(self, attribute: str) -> tuple[GraphNode, str]:
        path, _, port = attribute.rpartition(".")
        if (node := self.nodes.get(path)) is None:
            raise GraphError([f"<{attribute}>: no node of <{self.path}>. {did_you_mean(path, self.nodes)}"])
        if port not in (ports := node.db.DESCRIPTION.ports):
            raise GraphError([f"<{attribute}>: the node has no such port. {did_you_mean(port, ports)}"])
        return node, port


def _with_path(node: GraphNode, text: str) -> str:
    return text if text.startswith(f"<{node.path}>") else f"<{node.path}>: {text}"
