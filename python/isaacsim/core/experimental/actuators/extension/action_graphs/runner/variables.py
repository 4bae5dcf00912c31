"""The variables of a graph."""

from __future__ import annotations

from typing import Any

from ..omnigraph.ogn_types import OgnType


class Variables:
    """Values by name, each of a type that stays.

    Args:
        graph_path: Of the graph they belong to, for messages.
    """

    def __init__(self, graph_path: str) -> None:
        self.writes = 0
        self._graph_path = graph_path
        self._types: dict[str, OgnType] = {}
        self._values: dict[str, object] = {}

    def declare(self, name: str, kind: OgnType, value: object) -> None:
        """Add a variable.

        Raises:
            ValueError: The value is not of that type.
        """
        self._types[name] = kind
        self.write(name, kind.default() if value is None else value)

    def read(self, name: str) -> Any:
        """Return a value.

        Raises:
            ValueError: There is no such variable; the message lists those there are.
        """
        self._require(name)
        return self._values[name]

    def write(self, name: str, value: object) -> None:
        """Set a value.

        Raises:
            ValueError: There is no such variable, or it is of another type.
        """
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
