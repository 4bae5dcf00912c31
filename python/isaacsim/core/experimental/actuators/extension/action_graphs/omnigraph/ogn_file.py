"""A node type and its ports: read from an `.ogn` file, or listed in Python."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .ogn_types import OgnType, parse_type

GROUPS = ("inputs", "outputs", "state")


@dataclass(frozen=True)
class Port:
    """One attribute of a node; `ui_name` is what users read, and an optional one may stay without a value."""

    group: str
    name: str
    type: OgnType
    default: Any
    optional: bool
    ui_name: str
    description: str


@dataclass(frozen=True)
class NodeDescription:
    """Content of an `.ogn` file: ports by full name, `inputs:stepDt` for instance, and all keys but comments."""

    name: str
    ports: dict[str, Port]
    keys: dict[str, Any]

    @property
    def description(self) -> str:
        """Description of the node."""
        return text_of(self.keys["description"])

    def group(self, group: str) -> list[Port]:
        """The ports of a group in the order of the file."""
        return [port for port in self.ports.values() if port.group == group]


def read_ogn(file: Path) -> NodeDescription:
    """Read an `.ogn` file, see `parse_ogn`."""
    return parse_ogn(file.read_text(encoding="utf-8"), str(file))


def parse_ogn(text: str, where: str) -> NodeDescription:
    """Return the description in the text of an `.ogn` file; messages begin with `where`."""
    nodes = _without_comments(json.loads(text))
    if len(nodes) != 1:
        raise ValueError(f"{where}: {len(nodes)} nodes: must hold exactly one. Give each a file of its own.")
    ((name, keys),) = nodes.items()
    return describe(name, keys, where)


def describe(name: str, keys: dict[str, Any], where: str) -> NodeDescription:
    """Return the description of a node type that has the keys of an `.ogn` file; messages begin with `where`."""
    ports = {}
    for group in GROUPS:
        for port_name, declared in keys.get(group, {}).items():
            full_name = f"{group}:{port_name}"
            try:
                kind = parse_type(declared["type"])
                default = kind.convert(declared["default"]) if "default" in declared else kind.default()
                optional, ui_name = declared.get("optional", False), declared.get("uiName", port_name)
                ports[full_name] = Port(
                    group, port_name, kind, default, optional, ui_name, text_of(declared["description"])
                )
            except (KeyError, ValueError) as error:
                raise ValueError(f"{where}: {full_name}: {error}") from error
    return NodeDescription(name, ports, keys)


def text_of(description: str | list[str]) -> str:
    """Return a description as one line; a list is one line per string."""
    return description if isinstance(description, str) else " ".join(description)


def _without_comments(value: object) -> Any:
    """Leave out what starts with a dollar sign."""
    if isinstance(value, dict):
        return {key: _without_comments(item) for key, item in value.items() if not key.startswith("$")}
    return value


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
