"""A node in a graph: its values and its wires."""

from __future__ import annotations

from collections.abc import Iterator

from ..omnigraph.database import Database, Node, Severity
from ..omnigraph.ogn_types import ExecutionAttributeState
from .scope import Scope


class GraphNode(Node):
    """A node of a graph.

    Args:
        path: Prim path.
        database: Of its node type.
        graph: What it sees of the graph it belongs to.
    """

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
        """Take over what the inputs are wired to, and compute; return whether that worked.

        Args:
            fired: Execution inputs that are pulsed.
        """
        try:
            for port, (source, name) in self.wires.items():
                self.db.write(port, source.db.read(name))
        except ValueError as error:
            self.db.log_error(str(error), add_context=False)
            return False
        done = self.db.evaluate(*fired)
        if not done and not self.get_compute_messages(Severity.ERROR):
            self.db.log_error("compute returned False.")
        return done and self._fires_plainly()

    def pulsed(self) -> Iterator[tuple[GraphNode, list[str]]]:
        """Followers on the execution outputs that the node fired, in the order of its ports."""
        for port, nodes in self.followers.items():
            if self.db.read(port):
                yield from nodes.items()

    def _fires_plainly(self) -> bool:
        """True if each execution output is either enabled or disabled."""
        for port in self.followers:
            if (state := self.db.read(port)) not in (ExecutionAttributeState.DISABLED, ExecutionAttributeState.ENABLED):
                self.db.log_error(f"{port} = {state.name}: must be ENABLED or DISABLED outside Kit. Use one of them.")
                return False
        return True
