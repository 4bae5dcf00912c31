"""The documentation builds without a warning, and shows what it should."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from places import REPOSITORY
from refusals import cases

# the pages are built once for all of them
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the web pages, built by the command of `./repo.sh docs`."""
    pytest.importorskip("furo", reason="the tools that build the pages are not installed: extra docs")
    folder = tmp_path_factory.mktemp("docs")
    found = re.search(r"python\.sh (-m sphinx .*) docs _build/docs", (REPOSITORY / "repo.sh").read_text())
    assert found is not None
    options = [*found[1].split(), "--doctree-dir", str(folder / "doctrees")]
    command = [sys.executable, *options, str(REPOSITORY / "docs"), str(folder / "pages")]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "pages"


def text(page: Path) -> str:
    return re.sub(r"<[^>]+>", "", page.read_text("utf-8"))


@cases("source", *[path.relative_to(REPOSITORY / "docs") for path in REPOSITORY.glob("docs/**/*.md")])
def test_page_is_reached_from_the_first(pages, source) -> None:
    link = "#" if source.stem == "index" else source.with_suffix(".html").as_posix()
    assert f'href="{link}"' in (pages / "index.html").read_text("utf-8")


@cases(
    "page, code",
    ("set_up_from_python", "LAW = sliding_mode"),
    ("set_up_from_python", "set_dof_feedforward_effort_targets(arm.get_dof_gravity_compensation_forces())"),
    ("author_and_parse_usd", "ea.add_actuator(ARM, name, name, pd,"),
    ("author_and_parse_usd", "arm.set_dof_position_targets(TARGETS, dof_indices=joints)"),
    ("drive_from_omnigraph", "OmniGraphNode"),
    ("bring_your_own_loop", "actuators.step_actuators(model.opt.timestep)"),
    ("learn_an_actuator", "LAW = friction"),
    ("learn_an_actuator", "return ActuatorLog(DT, *rows, turns=True)"),
    ("learn_an_actuator", "trained.report(FOLDER, test=other)"),
    ("learn_an_actuator", "ea.NeuralControlConfig(network.name)"),
    ("tips", "felt.append("),
    ("tips", "inertia).max(axis=1)"),
)
def test_tutorial_shows_the_code_of_its_example(pages, page, code) -> None:
    shown = text(pages / "tutorials" / f"{page}.html")
    assert code in shown and "# docs: " not in shown


@cases("words", "Experimental.", "not affiliated with NVIDIA", "As a dependency")
def test_overview_says(pages, words) -> None:
    assert words in text(pages / "Overview.html")


def test_api_shows_docstrings(pages) -> None:
    assert "The actuators: from USD in stage order" in text(pages / "api" / "articulation_actuators.html")


def test_api_links_to_the_source(pages) -> None:
    page = (pages / "api" / "articulation_actuators.html").read_text("utf-8")
    link = "_modules/isaacsim/core/experimental/actuators/extension/articulation_actuators.html"
    assert f'href="../{link}#ArticulationActuators"' in page and (pages / link).exists()


def test_api_hides_private_parameters(pages) -> None:
    shown = text(pages / "api" / "articulation_actuators.html")
    assert "effort_mode=None)" in shown and "_skip_discovery" not in shown
