"""The manifest of the node types and their reference pages, as they follow from the `.ogn` files."""

import re
from pathlib import Path

import isaacsim.core.experimental.actuators.extension.action_graphs.nodes as nodes
import node_pages
from isaacsim.core.experimental.actuators.extension.action_graphs.omnigraph.ogn_file import read_ogn

FILE = Path(nodes.__path__[0]) / "OgnArticulationActuators.ogn"


def test_every_port_is_on_the_reference_page() -> None:
    page = next(text for path, text in node_pages.outputs().items() if path.suffix == ".md")
    rows = re.findall(r"^\| `(\w+)` \| [^|]+ \| `([^`]+)` \| [^|]* \| [^|]+ \|$", page, re.MULTILINE)
    assert rows == [(port.name, port.type.text) for port in read_ogn(FILE).ports.values()]
