"""The part of a graph that its nodes can access."""

from __future__ import annotations

from .clock import Clock
from .variables import Variables


class Scope:
    """The path, the variables and the time of a graph.

    Args:
        path: Prim path of the graph.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.variables = Variables(path)
        self.clock = Clock()
