"""The generated list of the public API, and the pages that document it, name everything that is public."""

import importlib
import re

import isaacsim.core.experimental.actuators as package
import pytest
import python_api
from api_pages import APART
from isaacsim.core.experimental.actuators.tools.export import ExportedJoint, export
from isaacsim.core.experimental.actuators.tools.export.robot import FEATURES
from isaacsim.core.experimental.actuators.tools.export.targets import TARGETS
from isaacsim.core.experimental.actuators.tools.identification import FitOptions, MotorLog
from isaacsim.core.experimental.actuators.tools.identification.log import SIGNALS
from isaacsim.core.experimental.actuators.tools.identification.models import MODELS
from isaacsim.core.experimental.actuators.tools.identification.parameters import PARAMETERS
from places import REPOSITORY
from refusals import cases


@pytest.mark.parametrize("name", package.__all__)
def test_list_names(name) -> None:
    assert len(re.findall(rf"^- `(?:class|def) {name}\b", python_api.listing(), re.MULTILINE)) == 1


@cases(
    "line",
    "def set_dof_feedforward_effort_targets(self, target_feedforward_efforts: ArrayLike, *, "
    "indices: Indices = None, dof_indices: Indices = None) -> None",
    *("property actuated_dof_indices: list[int]", "integral_max: float = inf"),
    "clamping: list[Clamping | ClampingConfig] = …",
    *("PARAMETERS: ClassVar[tuple[str, ...]] = ('max_effort',)", "CLAMPING = 'clamping'"),
)
def test_list_shows(line) -> None:
    assert f"    - `{line}`\n" in python_api.listing()


def test_list_names_nothing_of_this_process() -> None:
    assert re.findall(r" at 0x\w+| = \{", python_api.listing()) == []


@pytest.mark.parametrize("name", package.__all__)
def test_documentation_describes(name) -> None:
    pages = "".join(page.read_text("utf-8") for page in (REPOSITORY / "docs" / "api").glob("*.rst"))
    assert len(re.findall(rf"^\.\. auto(?:class|function):: {name}$", pages, re.MULTILINE)) == 1


@pytest.mark.parametrize("room", [room for room in APART if room.startswith("tools.")])
def test_room_that_programs_import_has_its_names_on_its_page(room) -> None:
    assert sorted(importlib.import_module(f"{package.__name__}.{room}").__all__) == sorted(APART[room])
    listing = python_api.listing()
    assert [name for name in APART[room] if not re.search(rf"^- `(?:class|def) {name}\b", listing, re.MULTILINE)] == []


@pytest.mark.parametrize(
    ("thing", "keys"),
    [(FitOptions, [*PARAMETERS, *MODELS]), (MotorLog, SIGNALS), (ExportedJoint, FEATURES), (export, TARGETS)],
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_docstring_names_every_key(thing, keys) -> None:
    """The page lists the keys that a program may pass, so that nobody looks for them in the source."""
    assert [key for key in keys if f"`{key}`" not in re.sub(r"\s+", " ", thing.__doc__ or "")] == []
