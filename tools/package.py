"""Package the extension: one zip with one folder, which Kit loads without a build.

    ./repo.sh package

Modules lie directly under the extension's root, and the native core for the Python that runs this is inside. The same
files give the same bytes.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from collections import Counter
from pathlib import Path

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parents[1]
NAME = "isaacsim.core.experimental.actuators"
MODULE = NAME.replace(".", "/")
EXAMPLES = f"standalone_examples/api/{NAME}"
CORE = "core" + sysconfig.get_config_var("EXT_SUFFIX")

# where files and folders of the repository lie in the package
PLACES = {
    "LICENSE": "LICENSE",
    "config/extension.toml": "config/extension.toml",
    "config/python_api.md": "config/python_api.md",
    "data": "data",
    "docs": "docs",
    "ogn": "ogn",
    f"python/{MODULE}": MODULE,
    "standalone_examples": EXAMPLES,
    "tests": "tests",
}
# what only means something in the repository
LEFT_OUT = [
    *("docs/conf.py", "docs/_static/*"),
    *("tests/data/test_robots.py", "tests/nodes/test_node_files.py", "tests/tools/*.py"),
    *("tests/test_benchmarks.py", "tests/test_docs*.py", "tests/test_examples.py", "tests/test_extension_folder.py"),
    *("tests/hardening/*", "tests/installs/*.py", "tests/native/*helper*", "tests/test_extras.py", "tests/types/*.py"),
    *("tests/test_python_*.py", "tests/test_rooms.py", "tests/test_setup.py"),
]
# by place: what reads otherwise in the package, since folders lie elsewhere there
REWRITES = [
    (r"config/extension\.toml", r"\A#.*\n", "# Packaged: the modules lie directly under this extension's root.\n"),
    (r"config/extension\.toml", r'^path = "python"\n', ""),
    (r"docs/.*", r"\bstandalone_examples/(?!api/)", f"{EXAMPLES}/"),
    (rf"{EXAMPLES}/.*", r"\bstandalone_examples/(?!api/)", f"{EXAMPLES}/"),
    (rf"{EXAMPLES}/.*", r"\bparents\[1\]", "parents[3]"),
    (r"tests/.*", r'\bREPOSITORY / "python"', "REPOSITORY"),
    (r"tests/.*", r'\bREPOSITORY / "standalone_examples"', f'REPOSITORY / "{EXAMPLES}"'),
]


def contents() -> dict[str, bytes]:
    """Return what goes into the package by place, the native core aside."""
    left_out = {path for pattern in LEFT_OUT for path in ROOT.glob(pattern)}
    found = {"pytest.ini": _pytest_settings()}
    for source, place in PLACES.items():
        top = ROOT / source
        for path in [top] if top.is_file() else top.rglob("*"):
            inside = path.relative_to(top)
            hidden = any(part.startswith((".", "__pycache__")) for part in inside.parts)
            if path.is_file() and path not in left_out and not hidden and path.suffix not in (".pyc", ".so", ".pyd"):
                where = (Path(place) / inside).as_posix()
                found[where] = _rewritten(where, path.read_bytes())
    return found


def native_core() -> bytes | None:
    """Return the native core for this Python, built when it is missing; None where it cannot be built."""
    there = ROOT / "python" / MODULE / "native" / CORE
    if there.exists():
        return there.read_bytes()
    wheels = ROOT / "_build" / "wheels"
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(wheels), str(ROOT)]
    if subprocess.run(command, check=False).returncode == 0:
        newest = max(wheels.glob("*.whl"), key=lambda path: path.stat().st_mtime)
        with zipfile.ZipFile(newest) as wheel:
            if f"{MODULE}/native/{CORE}" in wheel.namelist():
                return wheel.read(f"{MODULE}/native/{CORE}")
    return None


def package(folder: Path, core: bytes | None) -> Path:
    """Write the package into `folder` and return its path; without a core its name ends in `pure`."""
    files = contents()
    if core is not None:
        files[f"{MODULE}/native/{CORE}"] = core
    version = tomllib.loads(files["config/extension.toml"].decode())["package"]["version"]
    interpreter = f"cp{sys.version_info.major}{sys.version_info.minor}"
    kind = "pure" if core is None else f"{interpreter}-{re.sub('[-.]', '_', sysconfig.get_platform())}"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{NAME}-{version}-{kind}.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for place in sorted(files):
            # a fixed date and mode: the same files give the same bytes
            entry = zipfile.ZipInfo(f"{NAME}/{place}", date_time=(1980, 1, 1, 0, 0, 0))
            entry.compress_type, entry.create_system, entry.external_attr = zipfile.ZIP_DEFLATED, 3, 0o100644 << 16
            archive.writestr(entry, files[place])
    return path


def main() -> None:
    """Package, and say what is inside and how to use it."""
    parser = argparse.ArgumentParser(description="Package the extension for Kit.")
    parser.add_argument("--folder", type=Path, default=ROOT / "_build" / "packages", help="where the package goes")
    core = native_core()
    path = package(parser.parse_args().folder, core)
    console = Console(highlight=False, soft_wrap=True)
    console.print(_listing(path))
    if core is None:
        console.print("No native core: it could not be built (is there a C++17 compiler?). Warp computes instead.")
    else:
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        console.print(f"The native core is for Python {version} on this kind of machine; elsewhere Warp computes.")
    console.print("\nUse it:\n")
    # in full: the programs below are started elsewhere
    exts = (path.parents[1] / "exts").resolve()
    console.print(f"    unzip -q {_from_here(path)} -d {exts}", markup=False)
    # Isaac Sim loads its own extension of this name unless a version is asked for, and later it is too late
    version = tomllib.loads((ROOT / "config" / "extension.toml").read_text("utf-8"))["package"]["version"]
    console.print(f"    isaac-sim.sh --ext-folder {exts} --enable {NAME}-{version}", markup=False)
    console.print("\nA plain Kit takes the same arguments; a standalone script passes them on:\n")
    arguments = ["--ext-folder", str(exts), "--enable", f"{NAME}-{version}"]
    console.print(f'    SimulationApp({{"extra_args": {json.dumps(arguments)}}})', markup=False)


def _from_here(path: Path) -> Path:
    """The path as it is typed."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def _listing(path: Path) -> Table:
    """Files and sizes by folder."""
    files, sizes = Counter[str](), Counter[str]()
    with zipfile.ZipFile(path) as archive:
        for entry in archive.infolist():
            _, *folder, name = entry.filename.split("/")
            files[folder[0] + "/" if folder else name] += 1
            sizes[folder[0] + "/" if folder else name] += entry.file_size
    table = Table("in the package", title=path.name, show_footer=True)
    table.columns[0].footer = "all, compressed"
    table.add_column("files", str(files.total()), justify="right")
    table.add_column("kB", f"{path.stat().st_size / 1e3:,.0f}", justify="right")
    for folder in sorted(files):
        table.add_row(folder, str(files[folder]), f"{sizes[folder] / 1e3:,.0f}")
    return table


def _pytest_settings() -> bytes:
    """The repository's settings for pytest, with the package's root as import root."""
    options = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["pytest"]["ini_options"]
    options["pythonpath"] = [".", *options["pythonpath"]]
    # of some lists each item has to have a line of its own
    shown = {key: "\n    ".join(["", *value]) if isinstance(value, list) else value for key, value in options.items()}
    lines = [f"{key} = {value}" for key, value in shown.items()]
    return "\n".join(["[pytest]", *lines, ""]).encode()


def _rewritten(place: str, content: bytes) -> bytes:
    for places, pattern, replacement in REWRITES:
        if re.fullmatch(places, place) and Path(place).suffix in (".md", ".py", ".rst", ".toml"):
            content = re.sub(pattern, replacement, content.decode(), flags=re.MULTILINE).encode()
    return content


if __name__ == "__main__":
    main()
