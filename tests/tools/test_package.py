"""The packaged extension: everything that Kit needs of it and that can be checked without Kit."""

import ast
import importlib.util
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from pathlib import Path
from types import ModuleType

import pytest
from fakes.extension_loader import BUNDLED
from interpreters import VERSIONS, written
from places import REPOSITORY
from refusals import cases, refused
from start_in_kit import STARTED, started, started_with_nodes

NAME = "isaacsim.core.experimental.actuators"
HERE = sys.version_info[:2]
CORE = f"core{sysconfig.get_config_var('EXT_SUFFIX')}"
MODULE = Path(*NAME.split("."))
PACKAGE_KEYS = [
    *("version", "title", "description", "category", "keywords", "authors"),
    *("changelog", "readme", "preview_image", "icon"),
]
FILE_KEYS = ["changelog", "readme", "preview_image", "icon"]
# what must be there, besides what the manifest names
FILES = [
    *("LICENSE", "NOTICE", "config/python_api.md", "ogn/nodes.json", "docs/Differences.md"),
    *("data/robots/pendulum.usda", "data/robots/franka_panda.usda"),
    *(f"{MODULE.as_posix()}/files/usd/schemas/{name}" for name in ("plugInfo.json", "generatedSchema.usda")),
    f"standalone_examples/api/{NAME}/drive_from_usd.py",
]
NAMESPACES = ["isaacsim", "isaacsim/core", "isaacsim/core/experimental"]
LEFTOVERS = ["__pycache__", "*.pyc", "*.egg-info", "*.so.*", "*.o", "*.tmp", "*.orig", ".*", "MUJOCO_LOG.TXT", "*.log"]
TEXTS = {
    *(".h", ".ipynb", ".json", ".lua", ".md", ".ogn", ".py", ".pyi", ".rst", ".svg", ".toml", ".typed", ".usda"),
    *(".xml", ""),
}
# a PD step on arrays, with what Kit brings and without what it does not
STEP = """
import sys
for name in ("mujoco", "newton"):
    sys.modules[name] = None
import numpy as np
import warp as wp
import isaacsim.core.experimental.actuators as ea
from isaacsim.core.experimental.actuators.simulators.arrays import ArraysHost

host = ArraysHost(["a", "b"], 2)
with ea.use_host(host):
    robots = ea.Articulation("/Robot_.*")
    gains = [wp.array([value, value], dtype=wp.float32, device="cpu") for value in (10.0, 2.0)]
    motor = ea.ActuatorConfig(ea.ControllerPD(*gains))
    actuators = ea.ArticulationActuators.from_actuators("/Robot_.*", [(motor, "b")])
    host.play()
    robots.set_dof_velocities([[0.0, 1.0], [0.0, 0.0]])
    robots.set_dof_position_targets([[0.0, 0.5], [0.0, -1.0]])
    robots.set_dof_velocity_targets(0.0)
    host.step(0.01)
    assert ea.__file__.startswith(sys.argv[1]), ea.__file__
    # 10 * 0.5 - 2 * 1 and 10 * -1
    assert_array_equal(robots.get_dof_efforts().numpy(), [[0, 3], [0, -10]])
    print(actuators.engine)
"""
IMPORTS = """
import importlib, pkgutil, sys
import isaacsim.core.experimental.actuators as package

# what Kit brings, and libraries of extras
ABSENT = (
    *("carb", "omni", "isaacsim.core.experimental.prims", "isaacsim.core.simulation_manager"),
    *("ovphysx", "stable_baselines3"),
)
modules, for_others = [package], 0
for _, name, _ in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
    try:
        modules.append(importlib.import_module(name))
    except ModuleNotFoundError as error:
        assert error.name.startswith(ABSENT), error
        for_others += 1
print(for_others + sum(module.__file__.endswith(".py") for module in modules))
print([module.__name__ for module in modules if not module.__file__.startswith(sys.argv[1])])
"""


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("package_script", REPOSITORY / "tools" / "package.py")
    assert spec is not None and spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


@pytest.fixture(scope="module")
def packaged(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder, nothing = tmp_path_factory.mktemp("packages"), str(tmp_path_factory.mktemp("nothing"))
    command = [sys.executable, str(REPOSITORY / "tools" / "package.py"), "--folder", str(folder), "--here"]
    # to build a core takes minutes
    alone = os.environ | {"PATH": nothing, "PYENV_ROOT": nothing}
    done = subprocess.run(command, env=alone, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    (path,) = folder.iterdir()
    return path, done.stdout


@pytest.fixture(scope="module")
def root(packaged: tuple[Path, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("exts")
    with zipfile.ZipFile(packaged[0]) as archive:
        archive.extractall(folder)
    return folder / NAME


@pytest.fixture(scope="module")
def manifest(root: Path) -> dict:
    return tomllib.loads((root / "config" / "extension.toml").read_text("utf-8"))


def run(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python with the extension's root as import root; without `site` there is no editable install."""
    paths = [str(root), sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(dict.fromkeys(paths)), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-S", *arguments]
    return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, timeout=240, check=False)


def has_core(packaged: tuple[Path, str]) -> bool:
    return not packaged[0].name.endswith("-pure.zip")


@pytest.mark.slow
def test_one_folder_named_like_the_extension(packaged) -> None:
    with zipfile.ZipFile(packaged[0]) as archive:
        assert {name.split("/")[0] for name in archive.namelist()} == {NAME}


def test_same_files_give_the_same_bytes(packaged, script, tmp_path) -> None:
    cores = {HERE: script.core_for(sys.executable, here=True)} if has_core(packaged) else {}
    assert script.package(tmp_path, cores).read_bytes() == packaged[0].read_bytes()


def test_archive_is_named_after_its_version(packaged, manifest) -> None:
    assert packaged[0].name.startswith(f"{NAME}-{manifest['package']['version']}-")


def test_listing_names_every_folder_and_how_to_use_it(packaged, root) -> None:
    path, printed = packaged
    assert all(place.name in printed for place in root.iterdir())
    unzip = re.search(rf"unzip -q (\S*{re.escape(path.name)}) -d (\S+)\n", printed)
    assert unzip is not None and os.path.samefile(path, unzip[1])
    newest = re.fullmatch(rf"{re.escape(NAME)}-([\d.]+)-.*", path.name)
    assert newest is not None and f"isaac-sim.sh --ext-folder {unzip[2]} --enable {NAME}-{newest[1]}\n" in printed
    arguments = f'["--ext-folder", "{unzip[2]}", "--enable", "{NAME}-{newest[1]}"]'
    assert f'SimulationApp({{"extra_args": {arguments}}})\n' in printed


def test_printed_command_starts_this_version(packaged, root) -> None:
    (enabled,) = re.findall(r"isaac-sim\.sh .* --enable (\S+)\n", packaged[1])
    assert started(root, enabled)["runs"] == enabled
    bundled = started(root, NAME)
    assert (bundled["runs"], bundled["entry points"], bundled["log"]) == (BUNDLED, 0, [])


def test_package_says_which_cores_it_has(packaged, root) -> None:
    there = [HERE] if has_core(packaged) else []
    assert ("-cp{}{}-".format(*HERE) in packaged[0].name) == bool(there)
    for text in (packaged[1], (root / "docs" / "Overview.md").read_text("utf-8")):
        has = f"This package has the native core for Python {written(HERE)} on {sysconfig.get_platform()}."
        assert (has in text) == bool(there)
        for version in VERSIONS:
            lacks = f"No native core for Python {written(version)} in this package: Warp steps instead"
            assert (lacks in text) == (version not in there)
    assert packaged[1].count("(no interpreter with headers of it was found)") == 2


def test_one_package_has_the_cores_of_several_pythons(script, tmp_path) -> None:
    names = {version: "core.cpython-{}{}-x86_64-linux-gnu.so".format(*version) for version in VERSIONS}
    path = script.package(tmp_path, {version: script.Core(name, b"core") for version, name in names.items()})
    assert "-cp311.cp312.cp313-" in path.name
    with zipfile.ZipFile(path) as archive:
        native = {name for name in archive.namelist() if name.endswith(".so")}
        assert native == {f"{NAME}/{MODULE.as_posix()}/native/{name}" for name in names.values()}
        page = archive.read(f"{NAME}/docs/Overview.md").decode()
    assert "native core for Python 3.11, 3.12 and 3.13 on" in page and "No native core" not in page


def test_what_cannot_be_built_is_said(script, tmp_path, monkeypatch, capsys) -> None:
    failed = subprocess.CompletedProcess([], 1, "", "error: no C++ compiler")
    monkeypatch.setattr(script, "all_found", lambda: {VERSIONS[0]: "/some/python"})
    monkeypatch.setattr(script, "answer", lambda *_: ".other-python.so")
    monkeypatch.setattr(script.subprocess, "run", lambda *_, **__: failed)
    monkeypatch.setattr(sys, "argv", ["package.py", "--folder", str(tmp_path)])
    script.main()
    (path,) = tmp_path.iterdir()
    assert path.name.endswith("-pure.zip")
    assert not any(name.endswith((".so", ".pyd")) for name in zipfile.ZipFile(path).namelist())
    said = capsys.readouterr()
    assert "no C++ compiler" in said.err
    assert "3.11 in this package: Warp steps instead (/some/python does not build one, see above)." in said.out
    assert "3.12 in this package: Warp steps instead (no interpreter with headers of it was found)." in said.out


@cases(
    "wanted, said",
    ("3.12", "no Python 3.12 with headers was found on the path or among pyenv's. Name its interpreter."),
    ("/no/python", "/no/python: must be an interpreter of Python 3.11, 3.12, 3.13 with its headers."),
    ("3.13", "does not build one"),
)
def test_what_is_asked_for_and_cannot_be_had_makes_no_package(script, tmp_path, monkeypatch, wanted, said) -> None:
    failed = subprocess.CompletedProcess([], 1, "", "")
    monkeypatch.setattr(script, "all_found", lambda: {(3, 13): sys.executable})
    monkeypatch.setattr(script, "SUFFIX", "print('.other-python.so')")
    monkeypatch.setattr(script.subprocess, "run", lambda *_, **__: failed)
    monkeypatch.setattr(script, "answer", lambda *_: ".other-python.so")
    monkeypatch.setattr(sys, "argv", ["package.py", "--folder", str(tmp_path), "--python", wanted])
    refused(SystemExit, script.main, re.escape(said))
    assert list(tmp_path.iterdir()) == []


def test_core_is_built_once_and_again_when_its_source_changes(script, tmp_path, monkeypatch) -> None:
    builds = []

    def build(command: list[str], *, env: dict[str, str], **_: object) -> subprocess.CompletedProcess[str]:
        assert command[command.index("--python") + 1] == sys.executable and env["ACTUATORS_CORE"] == "required"
        builds.append(command)
        with zipfile.ZipFile(Path(command[command.index("--wheel-dir") + 1]) / "some.whl", "w") as wheel:
            wheel.writestr(f"{MODULE.as_posix()}/native/core.other-python.so", f"built {len(builds)}")
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(script, "answer", lambda *_: ".other-python.so")
    monkeypatch.setattr(script, "ROOT", tmp_path)
    monkeypatch.setattr(script.subprocess, "run", build)
    (tmp_path / "native").mkdir()
    for name in ("setup.py", "native/step.cpp"):
        (tmp_path / name).touch()
    assert [script.core_for(sys.executable).content for _ in range(2)] == [b"built 1"] * 2
    later = (tmp_path / "_build" / "cores" / "core.other-python.so").stat().st_mtime + 1
    os.utime(tmp_path / "native" / "step.cpp", (later, later))
    assert script.core_for(sys.executable).content == b"built 2"


@cases("here", False, True)
def test_core_of_the_clone_is_taken_on_demand(script, tmp_path, monkeypatch, here) -> None:
    monkeypatch.setattr(script, "answer", lambda *_: ".so")
    monkeypatch.setattr(script, "ROOT", tmp_path)
    monkeypatch.setattr(script, "_built", lambda *_: b"all instruction sets")
    native = tmp_path / "python" / script.NATIVE
    native.mkdir(parents=True)
    (tmp_path / "setup.py").touch()
    (native / "core.so").write_bytes(b"of this processor")
    expected = b"of this processor" if here else b"all instruction sets"
    assert script.core_for(sys.executable, here=here).content == expected


@cases(
    "platform, systems",
    ("linux-aarch64", ["linux-aarch64"]),
    ("win-amd64", ["windows-x86_64"]),
    ("macosx-14.0-arm64", ["linux-x86_64", "linux-aarch64", "windows-x86_64"]),
)
@pytest.mark.slow
def test_package_with_cores_is_for_their_system(script, tmp_path, monkeypatch, platform, systems) -> None:
    monkeypatch.setattr(script, "PLATFORM", platform)
    for cores in ({HERE: script.Core("core.some.so", b"core")}, {}):
        with zipfile.ZipFile(script.package(tmp_path, cores)) as archive:
            manifest = tomllib.loads(archive.read(f"{NAME}/config/extension.toml").decode())
        known = ["linux-x86_64", "linux-aarch64", "windows-x86_64"]
        assert manifest["package"]["target"] == {"platform": systems if cores else known}


@cases("key", *PACKAGE_KEYS)
def test_manifest_has(manifest, key) -> None:
    assert manifest["package"][key]


@cases("key", *FILE_KEYS)
def test_manifest_file_exists(root, manifest, key) -> None:
    assert (root / manifest["package"][key]).is_file()


def test_documentation_pages_exist(root, manifest) -> None:
    assert [page for page in manifest["documentation"]["pages"] if not (root / page).is_file()] == []


def test_version_is_that_of_the_changelog(root, manifest) -> None:
    newest = re.search(r"^## \[(.+?)\] - \d{4}-\d\d-\d\d$", (root / "docs/CHANGELOG.md").read_text(), re.MULTILINE)
    assert newest is not None and newest[1] == manifest["package"]["version"]


def test_icon_is_square(root, manifest) -> None:
    assert struct.unpack(">II", (root / manifest["package"]["icon"]).read_bytes()[:24][16:24]) == (256, 256)


def test_modules_lie_under_the_root(root, manifest) -> None:
    for module in manifest["python"]["module"]:
        assert "path" not in module
        place = root.joinpath(*module["name"].split("."))
        assert (place / "__init__.py").is_file() or place.with_suffix(".py").is_file(), module


@cases("name", *FILES)
def test_file_is_packaged(root, name) -> None:
    assert (root / name).is_file()


@cases("folder", *NAMESPACES)
def test_shared_namespace_stays_open(root, folder) -> None:
    assert (root / folder).is_dir() and not (root / folder / "__init__.py").exists()


def _nodes(root: Path) -> list[tuple[Path, str, dict]]:
    files = sorted(root.rglob("*.ogn"))
    texts = [(file, json.loads(file.read_text("utf-8"))) for file in files]
    return [(file, *item) for file, text in texts for item in text.items() if item[0][0] != "$"]


def test_node_type_has_its_full_name(root) -> None:
    assert [name for _, name, _ in _nodes(root)] == [f"{NAME}.ArticulationActuators"]


def test_node_class_is_named_like_its_file(root) -> None:
    for file, *_ in _nodes(root):
        tree = ast.parse(file.with_suffix(".py").read_text("utf-8"))
        assert file.stem in [item.name for item in tree.body if isinstance(item, ast.ClassDef)]
    assert _nodes(root)


def test_node_lies_in_a_listed_module(root, manifest) -> None:
    listed = [root.joinpath(*module["name"].split(".")) for module in manifest["python"]["module"]]
    assert _nodes(root) and all(any(file.is_relative_to(place) for place in listed) for file, *_ in _nodes(root))


def test_kit_finds_the_node_by_itself(root) -> None:
    said = started_with_nodes(root, root)
    icon = root / MODULE / "extension" / "action_graphs" / "nodes" / "icons" / "articulation_actuators.svg"
    assert said["nodes"] == {f"{NAME}.ArticulationActuators": str(icon)} and icon.is_file()
    assert (said["subscriptions"], said["left"]) == (0, [])
    assert "extension.action_graphs.nodes.registration" not in said["ours"]


def test_start_imports_nothing_heavy(root) -> None:
    said = started(root)
    print(f"{said['modules']} modules in {said['seconds'] * 1e3:.1f} ms")
    assert said["ours"] == STARTED and said["others"] == []
    assert (said["entry points"], said["subscriptions"], said["left"]) == (1, 0, [])


def test_node_list_agrees_with_the_nodes(root) -> None:
    listed = json.loads((root / "ogn" / "nodes.json").read_text("utf-8"))["nodes"]
    nodes = _nodes(root)
    assert sorted(listed) == sorted(name for _, name, _ in nodes)
    for _, name, node in nodes:
        assert listed[name]["extension"] == NAME
        shared = [key for key in ("description", "version", "uiName") if key in node]
        assert [listed[name][key] for key in shared] == [node[key] for key in shared]
        assert listed[name]["language"].lower() == node["language"].lower()


@cases("pattern", *LEFTOVERS)
def test_no_leftovers(root, pattern) -> None:
    assert list(root.rglob(pattern)) == []


def test_what_lies_around_is_left(script, tmp_path, monkeypatch) -> None:
    native = f"python/{MODULE.as_posix()}/native"
    for name in ("robot.usda", ".swp", "__pycache__/a.py", ".cache/b.md", "c.pyc"):
        (place := tmp_path / "data" / name).parent.mkdir(parents=True, exist_ok=True)
        place.touch()
    (tmp_path / native).mkdir(parents=True)
    (tmp_path / native / "core.cpython-999-some-linux.so").touch()
    monkeypatch.setattr(script, "ROOT", tmp_path)
    assert sorted(script.contents()) == ["data/robot.usda"]


def test_only_the_core_is_not_in_git(root, script) -> None:
    if not (REPOSITORY / ".git").exists():
        pytest.skip("not a git checkout")
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    known = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout.splitlines()
    places = {re.sub(rf"^{source}(?=/|$)", place, path) for source, place in script.PLACES.items() for path in known}
    there = {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}
    assert {Path(path).name for path in there - places} <= {CORE}


def test_tests_are_those_that_kit_runs(root) -> None:
    tests = [path.relative_to(root / MODULE).as_posix() for path in root.rglob("*test*.py")]
    assert sorted(tests) == ["tests/test_in_kit.py"] and not (root / "tests").exists()


def test_no_file_names_this_machine(root) -> None:
    here = [f"{path}/".encode() for path in (REPOSITORY, sys.prefix, root.parent) if str(path) != "/usr"]
    for path in filter(Path.is_file, root.rglob("*")):
        assert [one for one in here if one in path.read_bytes()] == [], path


def test_text_is_text(root) -> None:
    binary = [path for path in root.rglob("*") if path.is_file() and path.suffix not in TEXTS]
    assert {path.suffix for path in binary} <= {".png", ".pyd", ".so", ".usdc"}
    for path in root.rglob("*"):
        if path.is_file() and path.suffix in TEXTS:
            assert b"\r" not in path.read_bytes().decode("utf-8").encode(), path


def test_links_and_includes_resolve(root) -> None:
    missing = []
    for page in (root / "docs").rglob("*.md"):
        text = page.read_text("utf-8")
        missing += [
            (page.name, link)
            for link in re.findall(r"\]\((?!\w+:)([^)#]+)\)", text)
            if not (page.parent / link).exists()
        ]
    assert missing == []


@pytest.mark.slow
def test_every_module_is_imported_from_the_root(root) -> None:
    done = run(root, "-c", IMPORTS, str(root))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-2:] == [str(len(list((root / MODULE).rglob("*.py")))), "[]"]


@pytest.mark.slow
def test_step_gives_the_right_efforts(root, packaged) -> None:
    done = run(root, "-c", STEP, str(root))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].startswith("native" if has_core(packaged) else "warp")


@pytest.mark.slow
def test_example_runs_from_the_package(root, tmp_path) -> None:
    example = root / "standalone_examples" / "api" / NAME / "drive_from_python.py"
    done = run(root, str(example), "--plot", str(tmp_path / "picture.png"))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    shutil.copy(REPOSITORY / "repo.sh", tmp_path)
    (tmp_path / "python.sh").write_text('#!/usr/bin/env bash\necho "$PWD: $*"\n')
    (tmp_path / "python.sh").chmod(0o755)
    return tmp_path


def repo(repository: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(repository / "repo.sh"), *arguments]
    return subprocess.run(command, cwd="/", capture_output=True, text=True, timeout=60, check=False)


def test_repo_package_passes_arguments_on(repository) -> None:
    assert repo(repository, "package", "--folder", "x").stdout == f"{repository}: tools/package.py --folder x\n"


def test_repo_docs_fails_on_warnings(repository) -> None:
    printed = repo(repository, "docs").stdout
    assert "-m sphinx" in printed and "--fail-on-warning" in printed and "docs _build/docs" in printed


@cases("arguments", [], ["build"])
def test_repo_lists_its_commands(repository, arguments) -> None:
    done = repo(repository, *arguments)
    assert done.returncode == 2 and "./repo.sh package" in done.stderr and "./repo.sh docs" in done.stderr


def test_cores_of_this_clone_are_those_of_its_python(script, monkeypatch) -> None:
    monkeypatch.setattr(script, "all_found", lambda: pytest.fail("looked for others"))
    monkeypatch.setattr(script, "core_for", lambda interpreter, here: script.Core(interpreter, b""))
    cores, reasons = script.cores_for(None, here=True)
    assert cores == {HERE: script.Core(sys.executable, b"")} and reasons.keys() == set(VERSIONS) - {HERE}
