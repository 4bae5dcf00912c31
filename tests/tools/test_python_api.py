"""The generated list of the public API, and the pages that document it, name everything that is public."""

from __future__ import annotations

import re

import isaacsim.core.experimental.actuators as package
import pytest
import python_api
from places import REPOSITORY


@pytest.mark.parametrize("name", package.__all__)
def test_list_names(name: str) -> None:
    """Every public name is in the list, once."""
    assert len(re.findall(rf"^- `(?:class|def) {name}\b", python_api.listing(), re.MULTILINE)) == 1


@pytest.mark.parametrize(
    "line",
    [
        "def set_dof_feedforward_effort_targets(self, target_feedforward_efforts: ArrayLike, *, "
        "indices: Indices = None, dof_indices: Indices = None) -> None",
        "property actuated_dof_indices: list[int]",
        "integral_max: float = inf",
        "clamping: list[Clamping | ClampingConfig] = …",
        "PARAMETERS: ClassVar[tuple[str, ...]] = ('max_effort',)",
        "CLAMPING = 'clamping'",
    ],
)
def test_list_shows(line: str) -> None:
    """Signatures with defaults, properties, fields, constants and members, as written in the source."""
    assert f"    - `{line}`\n" in python_api.listing()


def test_list_names_nothing_of_this_process() -> None:
    """No address, and no set, whose order changes."""
    assert re.findall(r" at 0x\w+| = \{", python_api.listing()) == []


@pytest.mark.parametrize("name", package.__all__)
def test_documentation_describes(name: str) -> None:
    """Every public name is on one page of the API reference."""
    pages = "".join(page.read_text("utf-8") for page in (REPOSITORY / "docs" / "api").glob("*.rst"))
    assert len(re.findall(rf"^\.\. auto(?:class|function):: {name}$", pages, re.MULTILINE)) == 1
