"""Write the manifest of the node types and a reference page for each node, from the `.ogn` files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from isaacsim.core.experimental.actuators.extension.action_graphs import nodes as nodes_package
from isaacsim.core.experimental.actuators.extension.action_graphs.omnigraph.ogn_file import (
    NodeDescription,
    Port,
    read_ogn,
)

ROOT = Path(__file__).parents[1]
EXTENSION = "isaacsim.core.experimental.actuators"
NODES = Path(nodes_package.__path__[0])


def outputs() -> dict[Path, str]:
    """Return the text of every generated file."""
    nodes = [read_ogn(file) for file in sorted(NODES.glob("*.ogn"))]
    pages = {ROOT / "docs" / "nodes" / f"{node.name.rpartition('.')[2]}.md": page(node) for node in nodes}
    return {ROOT / "ogn" / "nodes.json": manifest(nodes), **pages}


def manifest(nodes: list[NodeDescription]) -> str:
    """Return the manifest from which OmniGraph knows node types of extensions that are not loaded yet."""
    entries = {
        node.name: {
            "description": node.keys["description"],
            "version": node.keys["version"],
            "uiName": node.keys["uiName"],
            "extension": EXTENSION,
            "language": node.keys["language"],
        }
        for node in nodes
    }
    return json.dumps({"nodes": entries}, indent=4, ensure_ascii=False) + "\n"


def page(node: NodeDescription) -> str:
    """Return the reference page of a node."""
    keys = node.keys
    scheduling = ", ".join(f"`{hint}`" for hint in keys["scheduling"])
    facts = f"Node type `{node.name}`, version {keys['version']}, {keys['language']}, scheduling {scheduling}."
    parts = [f"# {keys['uiName']}", node.description, facts]
    for group in ("inputs", "outputs"):
        parts += [f"## {group.capitalize()}", table(node.group(group))]
    return "\n\n".join(parts) + "\n"


def table(ports: list[Port]) -> str:
    """Return one row per port."""
    rows = [("Port", "Name in the editor", "Type", "Default", "Description")]
    rows += [
        (f"`{port.name}`", port.ui_name, f"`{port.type.text}`", default_of(port), port.description) for port in ports
    ]
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]])


def default_of(port: Port) -> str:
    """Return a default as the editor shows it, and an empty text for outputs and ports without one."""
    if port.group == "outputs" or port.type.base in ("execution", "target"):
        return ""
    value: Any = port.default
    return f"`{json.dumps(value.tolist() if port.type.is_array else value)}`"
