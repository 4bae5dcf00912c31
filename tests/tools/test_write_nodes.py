"""The manifest of the node types and their reference pages, as `tools/write_nodes.py` writes them."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import isaacsim.core.experimental.actuators.nodes as nodes
import pytest
from isaacsim.core.experimental.actuators.omnigraph.ogn_file import read_ogn
from places import REPOSITORY

FILE = Path(nodes.__path__[0]) / "OgnArticulationActuators.ogn"


@pytest.fixture(scope="module")
def generate() -> ModuleType:
    spec = importlib.util.spec_from_file_location("write_nodes", REPOSITORY / "tools" / "write_nodes.py")
    assert spec is not None and spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


def test_generated_files_are_up_to_date(generate: ModuleType) -> None:
    """They say what the `.ogn` file says now."""
    for path, text in generate.generated().items():
        assert path.read_text("utf-8") == text, f"{path.name} is stale. Run ./python.sh tools/write_nodes.py"


def test_every_port_is_on_the_reference_page(generate: ModuleType) -> None:
    """With its type and what it is for."""
    page = next(text for path, text in generate.generated().items() if path.suffix == ".md")
    rows = re.findall(r"^\| `(\w+)` \| [^|]+ \| `([^`]+)` \| [^|]* \| [^|]+ \|$", page, re.MULTILINE)
    assert rows == [(port.name, port.type.text) for port in read_ogn(FILE).ports.values()]
