"""Every snippet of README, docs and docstrings runs."""

import doctest
import importlib
import pkgutil
import re
import runpy
import shlex
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import isaacsim
import isaacsim.core.experimental.actuators as package
import pytest
from fakes.extension_loader import BUNDLED_VERSION
from isaacsim.core.experimental.actuators.tools.commands.arguments import SUBCOMMANDS
from isaacsim.core.experimental.actuators.tools.commands.main import main
from physics_engines import installed
from places import REPOSITORY
from pxr import Sdf
from robot_files import SHOULDER, edited, number

PAGES = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").rglob("*.md"))]
SNIPPETS = [
    pytest.param(code, id=f"{page.name}-{number}")
    for page in PAGES
    # those of examples run with these
    for number, code in enumerate(
        re.findall(r"(?<! -->\n)^```python\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)
    )
]
TOML = [
    pytest.param(text, id=f"{page.name}-{number}")
    for page in PAGES
    for number, text in enumerate(re.findall(r"^```toml\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE))
]
# commands of the console command, by the page that shows them
COMMANDS = [
    pytest.param(command, id=f"{page.name}-{number}")
    for page in PAGES
    for number, command in enumerate(
        re.findall(
            r"^\./actuators (\w+ .*)$",
            "".join(re.findall(r"^```sh\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)),
            re.MULTILINE,
        )
    )
]
MOTORS = "shoulder:\n  controller: {law: pd, kp: 80.0, kd: 4.0}\n  armature: 0.01\n"
MOTOR_FILES = [
    pytest.param(text, id=f"{page.name}-{count}")
    for page in PAGES
    for count, text in enumerate(re.findall(r"^```yaml\n(.*?)^```", page.read_text("utf-8"), re.DOTALL | re.MULTILINE))
]
# robots of Isaac Lab on pages, whose files are read and not run
LAB_ROBOTS = [
    text for page in PAGES for text in re.findall(r"^```py\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)
]
# snippets that need an extra, by what they import, and the library it brings
NEEDS = {"tools.training import": "torch", "import torch": "torch", "import mujoco, mujoco_warp": "mujoco_warp"}
# modules that import Kit, or libraries that are missing
OPTIONAL = {"ovphysx": "simulators.physx", "stable_baselines3": "tools.environments.stable_baselines"}
ABSENT = ["extension.entry", "simulators.kit", "tests", *(OPTIONAL[name] for name in OPTIONAL if not find_spec(name))]
MODULES = [
    name
    for _, name, _ in pkgutil.walk_packages(package.__path__, package.__name__ + ".")
    if not name.startswith(tuple(f"{package.__name__}.{absent}" for absent in ABSENT))
]
# a quadruped, as far as the pages name its joints
LEG = """<robot name="go2"><link name="base">{0}</link><link name="thigh">{0}</link><link name="calf">{0}</link>
<joint name="FL_thigh_joint" type="continuous"><parent link="base"/><child link="thigh"/><axis xyz="0 1 0"/></joint>
<joint name="FL_calf_joint" type="continuous"><parent link="thigh"/><child link="calf"/><axis xyz="0 1 0"/></joint>
</robot>""".format('<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>')


@pytest.fixture(autouse=True)
def _in_the_repository(monkeypatch: pytest.MonkeyPatch):
    """Snippets name files from the repository's root; what they edit in memory is undone."""
    monkeypatch.chdir(REPOSITORY)
    yield
    for file in (REPOSITORY / "data" / "robots").glob("*.usda"):
        if (layer := Sdf.Layer.Find(str(file))) is not None and layer.dirty:
            layer.Reload(force=True)


@pytest.fixture(autouse=True)
def launched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    arguments: list[str] = []
    monkeypatch.setattr(isaacsim, "SimulationApp", lambda config: arguments.extend(config["extra_args"]), raising=False)
    return arguments


def test_there_are_snippets() -> None:
    assert len(SNIPPETS) >= 8 and len(TOML) >= 2 and len(COMMANDS) >= 6


# pages show robots that vibrate, too, and what is lost of a file
@pytest.mark.filterwarnings("ignore:.*will vibrate at dt", "ignore:.*USD has no place for")
@pytest.mark.parametrize("code", SNIPPETS)
def test_snippet_runs(code, tmp_path, launched, capsys, monkeypatch) -> None:
    if missing := [library for words, library in NEEDS.items() if words in code and find_spec(library) is None]:
        pytest.skip(f"{missing[0]} is not installed")
    for there in REPOSITORY.iterdir():
        (tmp_path / there.name).symlink_to(there)
    monkeypatch.chdir(tmp_path)
    script = tmp_path / "snippet.py"
    script.write_text(code)
    runpy.run_path(str(script))
    wanted = ["--enable", f"{package.__name__}-{package.__version__}"] if "SimulationApp" in code else []
    assert launched[-2:] == wanted


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.slow
def test_command_runs(command, tmp_path, monkeypatch) -> None:
    if "--view" in command:
        pytest.skip("a window is not opened here")
    (tmp_path / "data").symlink_to(REPOSITORY / "data")
    edited(tmp_path, number(SHOULDER, "drive:angular:physics:maxForce", 40.0))
    (tmp_path / "motors.yaml").write_text(MOTORS)
    (tmp_path / "legs.yaml").write_text(MOTORS.replace("shoulder", ".*_joint"))
    (tmp_path / "go2.urdf").write_text(LEG)
    (tmp_path / "arm_lab.py").write_text(*LAB_ROBOTS)
    monkeypatch.chdir(tmp_path)
    if "physx" in command:
        installed("physx")
    if "newton" in command and find_spec("mujoco_warp") is None:
        pytest.skip("mujoco_warp is not installed")
    assert main(shlex.split(command)) == int(command.startswith(("diff", "compare")))


@pytest.mark.slow
def test_quickstart_runs(tmp_path, monkeypatch) -> None:
    (tmp_path / "data").symlink_to(REPOSITORY / "data")
    monkeypatch.chdir(tmp_path)
    page = (REPOSITORY / "docs" / "tutorials" / "quickstart.md").read_text("utf-8")
    (motors,) = re.findall(r"<<'END'\n(.*?)^END$", page, re.DOTALL | re.MULTILINE)
    Path("real.yaml").write_text(motors)
    commands = re.findall(r"^\./actuators (.*)$", page, re.MULTILINE)
    assert [main(shlex.split(command)) for command in commands] == [0] * len(commands)
    (robot,) = package.inspect_robots("motors.usda")
    values = robot.actuators[0].values
    assert values["friction", "coulomb"].value == pytest.approx(0.15, rel=0.05)
    assert values["PD", "kd"].value == pytest.approx(1.5, rel=0.01)
    assert robot.joint("hinge").value("armature") == pytest.approx(0.01, rel=0.05)


@pytest.mark.slow
def test_own_law_is_stored_and_opened(tmp_path) -> None:
    page = (REPOSITORY / "docs" / "tutorials" / "your_own_law.md").read_text("utf-8")
    law, store = re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    (tmp_path / "my_law.py").write_text(law)
    (tmp_path / "store.py").write_text(store + "stage.Export('own.usda')\n")
    (tmp_path / "data").symlink_to(REPOSITORY / "data")
    commands = re.findall(r"^\./(actuators .*)$", page, re.MULTILINE)

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, *words], cwd=tmp_path, capture_output=True, text=True, check=False)

    assert run("store.py").returncode == 0
    module = ["-m", package.__name__]
    shown, moved = (run(*module, *shlex.split(command)[1:]) for command in commands)
    assert shown.returncode == 0 and "SlidingMode" in shown.stdout and "strength" in shown.stdout, shown
    assert moved.returncode == 0, moved
    without = run(*module, "inspect", "own.usda")
    assert without.returncode == 1 and "unusable" in without.stdout and "AcmeSlidingModeAPI" in without.stdout
    (tmp_path / "my_law.py").write_text("raise KeyError('no')")
    failed = run(*module, "inspect", "own.usda", "--plugin", "my_law.py")
    assert failed.returncode == 1
    assert failed.stderr == "error: plugin my_law.py: KeyError: 'no'. Correct it, or leave --plugin out.\n"


@pytest.mark.parametrize("text", MOTOR_FILES)
def test_motor_file_of_a_page_is_read(text, tmp_path) -> None:
    path = tmp_path / "motors.yaml"
    path.write_text(text)
    assert package.load_motors(path)


@pytest.mark.parametrize("text", TOML)
def test_dependency_asks_for_a_version_that_exists(text) -> None:
    assert tomllib.loads(text)["dependencies"] in [
        {package.__name__: {"version": package.__version__}},
        {package.__name__: {"version": BUNDLED_VERSION, "exact": True}},
    ]


def test_readme_snippet_prints_the_targets(capsys) -> None:
    code, *_ = re.findall(r"^```python\n(.*?)^```", PAGES[0].read_text(), re.DOTALL | re.MULTILINE)
    exec(compile(code, "snippet", "exec"), {"__name__": "snippet"})
    assert "[[ 0.6  0.2 -0.6 -1.4  0.6  2.2  1.4]]" in capsys.readouterr().out


def test_readme_snippets_fit_twelve_lines() -> None:
    snippets = re.findall(r"^```python\n(.*?)^```", PAGES[0].read_text(), re.DOTALL | re.MULTILINE)
    assert len(snippets) == 3 and all(len(code.splitlines()) <= 12 for code in snippets)


@pytest.mark.filterwarnings("ignore:.*USD has no place for")
@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples_run(name) -> None:
    module = importlib.import_module(name)
    source = Path(module.__file__ or "")
    if source.suffix == ".py" and ">>>" not in source.read_text("utf-8"):
        # the finder would look at every object
        return
    failed, _ = doctest.testmod(module, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert failed == 0


def test_docstrings_have_examples() -> None:
    finder = doctest.DocTestFinder()
    public = (package.ArticulationActuators, package.Simulation, package.add_actuator)
    assert all(any(test.examples for test in finder.find(thing)) for thing in public)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_and_commands_name_real_files(page) -> None:
    text = page.read_text()
    targets = [target for target in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in target]
    missing = [target for target in targets if not (page.parent / target).exists()]
    scripts = re.findall(r"\./python\.sh ((?!-)[^\s`]+)", text)
    missing += [script for script in scripts if not (REPOSITORY / script).exists()]
    commands = re.findall(r"^    (\w+)\)", (REPOSITORY / "repo.sh").read_text(), re.MULTILINE)
    missing += [command for command in re.findall(r"\./repo\.sh (\w+)", text) if command not in commands]
    assert not missing


@pytest.mark.parametrize("command", SUBCOMMANDS)
def test_page_of_the_shell_lists_every_command(command) -> None:
    page = (REPOSITORY / "docs" / "tutorials" / "from_the_shell.md").read_text()
    (link,) = re.findall(rf"^\| `{command}` \| .+ \| (?:below|\[[^]]+\]\(([^)]+)\).*) \|$", page, re.MULTILINE)
    shown = (REPOSITORY / "docs" / "tutorials" / link).read_text() if link else page
    assert re.search(rf"actuators {command}\b", shown)


def test_table_of_places_names_real_files() -> None:
    rows = re.findall(r"^\| (?:the|what) [^|]+ \| (.+) \|$", (REPOSITORY / "CONTRIBUTING.md").read_text(), re.MULTILINE)
    files = [file for row in rows for file in re.findall(r"`([\w/]+(?:\.\w+|/schemas))`", row) if "()" not in file]
    assert len(rows) >= 28 and len(files) >= len(rows) and not_there(files) == []


def not_there(files: list[str]) -> list[str]:
    roots = (REPOSITORY, REPOSITORY / "native", Path(package.__path__[0]))
    return [file for file in files if not any((root / file).exists() for root in roots)]


def test_way_of_a_step_names_real_files() -> None:
    text = (REPOSITORY / "docs" / "How_a_step_works.md").read_text()
    files = re.findall(r"`((?:[\w]+/)*\w+\.(?:py|h|cpp|md))`", text)
    assert len(files) > 30 and not_there(files) == [] and len(text.splitlines()) <= 120


@pytest.mark.parametrize("page", PAGES[1:], ids=lambda page: page.name)
def test_commands_run_from_a_clone(page) -> None:
    shown = re.findall(r"^```(?:sh|bash)\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)
    assert not re.findall(r"^(?:actuators|\./python\.sh -m isaacsim\S+actuators) .*$", "".join(shown), re.MULTILINE)
