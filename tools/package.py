"""Package the extension: one zip with one folder, which Kit loads without a build.

    ./repo.sh package                                   # with a native core for every supported Python that is found
    ./repo.sh package --python 3.12 /path/to/python3.11   # with these
    ./repo.sh package --here                              # with the core of this clone, for processors like this one

Modules are directly below the extension's root, with one native core for each Python version, because pybind11 does
not support the limited API. The build is reproducible.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from interpreters import VERSIONS, Version, answer, found, version_of, written
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parents[1]
NAME = "isaacsim.core.experimental.actuators"
MODULE = NAME.replace(".", "/")
EXAMPLES = f"standalone_examples/api/{NAME}"
NATIVE = f"{MODULE}/native"
PLATFORM = sysconfig.get_platform()
# Kit's names of platforms that differ from Python's
SYSTEMS = {"win-amd64": "windows-x86_64"}
# prints the file suffix of an extension module
SUFFIX = "import sysconfig; print(sysconfig.get_config_var('EXT_SUFFIX'))"
# checks that an interpreter can build an extension module
HEADERS = "import os, sysconfig; assert os.path.exists(os.path.join(sysconfig.get_path('include'), 'Python.h'))"

# locations of the repository's files and folders in the package
PLACES = {
    "LICENSE": "LICENSE",
    "NOTICE": "NOTICE",
    "config/extension.toml": "config/extension.toml",
    "config/python_api.md": "config/python_api.md",
    "data": "data",
    "docs": "docs",
    "ogn": "ogn",
    f"python/{MODULE}": MODULE,
    "standalone_examples": EXAMPLES,
}
# files that are only useful in the repository
LEFT_OUT = ["docs/conf.py", "docs/_static/*"]
# replacements by location: paths that differ in the package
REWRITES = [
    (r"config/extension\.toml", r"\A#.*\n", "# Packaged: the modules lie directly under this extension's root.\n"),
    (r"config/extension\.toml", r'^path = "python"\n', ""),
    (r"docs/.*", r"\bstandalone_examples/(?!api/)", f"{EXAMPLES}/"),
    (rf"{EXAMPLES}/.*", r"\bstandalone_examples/(?!api/)", f"{EXAMPLES}/"),
    (rf"{EXAMPLES}/.*", r"\bparents\[1\]", "parents[3]"),
]
# the part of a page that lists the native cores of the package
CORES_SAID = re.compile(rb"(?<=<!-- cores -->\n).*(?=<!-- end of cores -->)", re.DOTALL)


class NotBuilt(Exception):
    """The reason why a native core is not available."""


class Core(NamedTuple):
    """The native core for a Python version: its file name and content."""

    name: str
    content: bytes


def contents() -> dict[str, bytes]:
    """Return the content of the package by location, without native cores."""
    left_out = {path for pattern in LEFT_OUT for path in ROOT.glob(pattern)}
    files = dict[str, bytes]()
    for source, place in PLACES.items():
        top = ROOT / source
        for path in [top] if top.is_file() else top.rglob("*"):
            inside = path.relative_to(top)
            hidden = any(part.startswith((".", "__pycache__")) for part in inside.parts)
            if path.is_file() and path not in left_out and not hidden and path.suffix not in (".pyc", ".so", ".pyd"):
                where = (Path(place) / inside).as_posix()
                files[where] = _rewritten(where, path.read_bytes())
    return files


def core_for(interpreter: str, *, here: bool = False) -> Core:
    """Return the native core for the Python of an interpreter; build it if it is older than its source.

    Args:
        interpreter: Path of the interpreter.
        here: Whether the core of this clone will do, which has the instruction sets of this processor only.

    Raises:
        NotBuilt: No compiler or no network, or the source does not compile.
    """
    name = f"core{answer(interpreter, SUFFIX)}"
    newest = max(path.stat().st_mtime_ns for path in [ROOT / "setup.py", *(ROOT / "native").glob("*.[ch]*")])
    kept = ROOT / "_build" / "cores" / name
    for there in (ROOT / "python" / NATIVE / name, kept) if here else (kept,):
        if there.is_file() and there.stat().st_mtime_ns >= newest:
            return Core(name, there.read_bytes())
    print(f"building the native core by {interpreter}, once; this takes minutes", file=sys.stderr)
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_bytes(_built(interpreter, f"{NATIVE}/{name}"))
    return Core(name, kept.read_bytes())


def _built(interpreter: str, place: str) -> bytes:
    """Return a file of the wheel that an interpreter builds."""
    with TemporaryDirectory() as folder:
        pip = [sys.executable, "-m", "pip", "--python", interpreter, "wheel"]
        command = [*pip, "--quiet", "--disable-pip-version-check", "--no-deps", "--wheel-dir", folder, str(ROOT)]
        environment = os.environ | {"ACTUATORS_CORE": "required"}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            print(done.stdout, done.stderr, sep="\n", file=sys.stderr)
            raise NotBuilt(f"{interpreter} does not build one, see above")
        (wheel,) = Path(folder).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            return archive.read(place)


def cores_for(wanted: Sequence[str] | None, *, here: bool = False) -> tuple[dict[Version, Core], dict[Version, str]]:
    """Return native cores by Python version, and the reasons for missing ones.

    Args:
        wanted: Versions or paths of interpreters; None means all supported ones that are found, and this one alone if
            the cores of this clone will do, which has only that.
        here: Whether cores of this clone will do, which have the instruction sets of this processor only.

    Raises:
        NotBuilt: What is wanted is not there, or cannot be built.
    """
    own = {sys.version_info[:2]: sys.executable}
    interpreters = dict(map(_named, wanted)) if wanted else own if here else all_found()
    cores = dict[Version, Core]()
    reasons = dict.fromkeys(VERSIONS, "not asked for" if wanted else "no interpreter with headers of it was found")
    for version, interpreter in interpreters.items():
        try:
            cores[version] = core_for(interpreter, here=here)
            del reasons[version]
        except NotBuilt as error:
            if wanted:
                raise
            reasons[version] = str(error)
    return cores, reasons


def all_found() -> dict[Version, str]:
    """Return interpreters of the supported versions that can build; this one has priority."""
    here = sys.version_info[:2]
    others = found(HEADERS, tuple(version for version in VERSIONS if version != here))
    return dict(sorted((others | {here: sys.executable}).items()))


def _named(wanted: str) -> tuple[Version, str]:
    """Return version and interpreter from either of them."""
    if re.fullmatch(r"\d+\.\d+", wanted):
        for version, interpreter in all_found().items():
            if written(version) == wanted:
                return version, interpreter
        raise NotBuilt(f"no Python {wanted} with headers was found on the path or among pyenv's. Name its interpreter")
    version = version_of(wanted, HEADERS)
    if version not in VERSIONS:
        known = ", ".join(map(written, VERSIONS))
        raise NotBuilt(f"{wanted}: must be an interpreter of Python {known} with its headers. Name another one")
    return version, wanted


def package(folder: Path, cores: dict[Version, Core]) -> Path:
    """Write the package into `folder` and return its path; the file name lists the Python versions of its cores."""
    files = contents()
    files["docs/Overview.md"] = CORES_SAID.sub(f"{cores_said(cores)}\n".encode(), files["docs/Overview.md"])
    if cores and PLATFORM.startswith(("linux-", "win-")):
        target = f'platform = ["{SYSTEMS.get(PLATFORM, PLATFORM)}"]'
        manifest = files["config/extension.toml"].decode()
        files["config/extension.toml"] = re.sub(r"^platform = \[.*\]$", target, manifest, flags=re.M).encode()
    files |= {f"{NATIVE}/{core.name}": core.content for core in cores.values()}
    version = tomllib.loads(files["config/extension.toml"].decode())["package"]["version"]
    pythons = ".".join(f"cp{major}{minor}" for major, minor in sorted(cores))
    kind = f"{pythons}-{re.sub('[-.]', '_', PLATFORM)}" if cores else "pure"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{NAME}-{version}-{kind}.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for place in sorted(files):
            # a fixed date and mode make the build reproducible
            entry = zipfile.ZipInfo(f"{NAME}/{place}", date_time=(1980, 1, 1, 0, 0, 0))
            entry.compress_type, entry.create_system, entry.external_attr = zipfile.ZIP_DEFLATED, 3, 0o100644 << 16
            archive.writestr(entry, files[place])
    return path


def cores_said(cores: dict[Version, Core], reasons: dict[Version, str] | None = None) -> str:
    """Return a text about the native cores in a package and the missing ones, with reasons."""
    there = [f"This package has the native core for Python {_listed(cores)} on {PLATFORM}."] if cores else []
    for version in VERSIONS:
        if version not in cores:
            why = f" ({reasons[version]})" if reasons else ""
            there.append(f"No native core for Python {written(version)} in this package: Warp steps instead{why}.")
    return "\n".join(there)


def _listed(versions: Sequence[Version] | dict[Version, Core]) -> str:
    *others, last = [written(version) for version in sorted(versions)]
    return f"{', '.join(others)} and {last}" if others else last


def main() -> None:
    """Build the package, and print its content and its usage."""
    parser = argparse.ArgumentParser(description="Package the extension for Kit.")
    parser.add_argument("--folder", type=Path, default=ROOT / "_build" / "packages", help="folder of the package")
    text = "Python versions for native cores, by version or path of an interpreter; default all that are found"
    parser.add_argument("--python", nargs="+", metavar="PYTHON", help=text)
    text = "take the core of this clone, for its Python and processors like this one; it is compiled if it is old"
    parser.add_argument("--here", action="store_true", help=text)
    arguments = parser.parse_args()
    try:
        cores, reasons = cores_for(arguments.python, here=arguments.here)
    except NotBuilt as error:
        sys.exit(f"native core: {error}.")
    path = package(arguments.folder, cores)
    console = Console(highlight=False, soft_wrap=True)
    console.print(_listing(path))
    console.print(cores_said(cores, reasons), markup=False)
    console.print("\nUse it:\n")
    # absolute, because the programs below start in other folders
    exts = (path.parents[1] / "exts").resolve()
    console.print(f"    unzip -q {_from_here(path)} -d {exts}", markup=False)
    # without a version at launch, Isaac Sim loads its own extension of this name
    version = tomllib.loads((ROOT / "config" / "extension.toml").read_text("utf-8"))["package"]["version"]
    console.print(f"    isaac-sim.sh --ext-folder {exts} --enable {NAME}-{version}", markup=False)
    console.print("\nA plain Kit takes the same arguments; a standalone script passes them on:\n")
    arguments = ["--ext-folder", str(exts), "--enable", f"{NAME}-{version}"]
    console.print(f'    SimulationApp({{"extra_args": {json.dumps(arguments)}}})', markup=False)


def _from_here(path: Path) -> Path:
    """Return the path as typed."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def _listing(path: Path) -> Table:
    """Return a table of files and sizes by folder."""
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


def _rewritten(place: str, content: bytes) -> bytes:
    for places, pattern, replacement in REWRITES:
        if re.fullmatch(places, place) and Path(place).suffix in (".md", ".py", ".rst", ".toml"):
            content = re.sub(pattern, replacement, content.decode(), flags=re.MULTILINE).encode()
    return content


if __name__ == "__main__":
    main()
