"""An action graph that runs."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any

from ....base.errors import did_you_mean
from ..omnigraph.database import Severity
from .error import GraphError
from .node import Clock, GraphNode, Scope

_log = logging.getLogger(__name__)

# each node that pulses the next twice doubles how often what is behind it runs: forty would take for ever
MAX_RUNS = 20_000


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
