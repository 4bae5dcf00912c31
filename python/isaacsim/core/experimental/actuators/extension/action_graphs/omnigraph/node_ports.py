"""The ports of a node type, listed in Python instead of an `.ogn` file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .ogn_file import NodeDescription, describe

# type, or type and default
Declared = str | tuple[str, object]


@dataclass(frozen=True)
class NodePorts:
    """The ports of a node class, in its attribute `PORTS`.

    Args:
        inputs: Types by name, `"double[]"` for instance, or pairs of type and default.
        outputs: Likewise.
        more: Full names that a graph may add, as a regular expression, and their type.
    """

    inputs: Mapping[str, Declared] = field(default_factory=dict)
    outputs: Mapping[str, Declared] = field(default_factory=dict)
    more: tuple[str, str] | None = None

    def describe(self, node_type: str) -> NodeDescription:
        """Return the description that an `.ogn` file with these ports has.

        Raises:
            ValueError: A type is unknown, or a default is of another type.
        """
        groups = {"inputs": self.inputs, "outputs": self.outputs}
        keys = {group: {name: _keys(port) for name, port in ports.items()} for group, ports in groups.items()}
        return describe(node_type, {"description": "", **keys}, node_type)


def _keys(declared: Declared) -> dict[str, object]:
    if isinstance(declared, str):
        return {"type": declared, "description": ""}
    return {"type": declared[0], "default": declared[1], "description": ""}
