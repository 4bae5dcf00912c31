"""The generated list of the public API, and the page that documents it, name everything that is public."""

from __future__ import annotations

import importlib.util
import re
from types import ModuleType

import isaacsim.core.experimental.actuators as package
import pytest
from places import REPOSITORY


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    """The script that writes the list."""
    spec = importlib.util.spec_from_file_location(
        "generate_python_api", REPOSITORY / "config" / "generate_python_api.py"
    )
    assert spec is not None and spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


def test_list_is_up_to_date(generator: ModuleType) -> None:
    """A change of the public API is a change of the list."""
    committed = (REPOSITORY / "config" / "python_api.md").read_text("utf-8")
    assert generator.listing() == committed, "run ./python.sh config/generate_python_api.py"


@pytest.mark.parametrize("name", package.__all__)
def test_list_names(generator: ModuleType, name: str) -> None:
    """Every public name is in the list, once."""
    assert len(re.findall(rf"^- `(?:class|def) {name}\b", generator.listing(), re.MULTILINE)) == 1


@pytest.mark.parametrize(
    "line",
    [
        "def set_dof_feedforward_effort_targets(self, target_feedforward_efforts: Any, *, indices: Any = None, "
        "dof_indices: Any = None) -> None",
        "property actuated_dof_indices: list[int]",
        "integral_max: float = inf",
        "clamping: list[Clamping] = …",
        "PARAMETERS: ClassVar[tuple[str, ...]] = ('max_effort',)",
        "CLAMPING = 'clamping'",
    ],
)
def test_list_shows(generator: ModuleType, line: str) -> None:
    """Signatures with defaults, properties, fields, constants and members, as written in the source."""
    assert f"    - `{line}`\n" in generator.listing()


def test_list_names_nothing_of_this_process(generator: ModuleType) -> None:
    """No address, and no set, whose order changes."""
    assert re.findall(r" at 0x\w+| = \{", generator.listing()) == []


@pytest.mark.parametrize("name", package.__all__)
def test_documentation_describes(name: str) -> None:
    """Every public name has its place on the page of the API."""
    page = (REPOSITORY / "docs" / "api.rst").read_text("utf-8")
    assert re.search(rf"^\.\. auto(?:class|function):: {name}$", page, re.MULTILINE), f"add {name} to docs/api.rst"
