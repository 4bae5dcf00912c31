"""Libraries of extras, and the error of a missing one."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import Distribution

# by the names that are imported; pyproject.toml has the distributions
_USD = ("pxr", "newton_usd_schemas")
LIBRARIES: dict[str, tuple[str, ...]] = {
    "usd": _USD,
    "sim": (*_USD, "mujoco"),
    "mujoco": ("mujoco",),
    "physx": (*_USD, "ovphysx", "ovstage"),
    "newton": ("newton",),
    "nets": ("onnx",),
    "files": ("yaml", "tomli_w"),
    "parquet": ("pyarrow",),
    "rerun": ("rerun",),
    "bags": ("rosbags",),
    "examples": ("matplotlib", "rich"),
    "cli": (*_USD, "mujoco", "tyro", "matplotlib", "rich"),
    "view": (*_USD, "mujoco", "viser"),
    "train": ("torch", "matplotlib", "rich"),
    "gym": (*_USD, "mujoco", "gymnasium", "matplotlib", "rich"),
    "baselines": (*_USD, "mujoco", "gymnasium", "matplotlib", "rich", "torch", "stable_baselines3"),
    "ray": ("ray",),
    "identify": (*_USD, "mujoco", "tyro", "matplotlib", "rich", "scipy"),
}
# distributions whose name is not that of what is imported
DISTRIBUTIONS: dict[str, str] = {
    "pxr": "usd-core",
    "newton_usd_schemas": "newton-usd-schemas",
    "ovstage": "ovphysx",
    "yaml": "pyyaml",
    "tomli_w": "tomli-w",
    "rerun": "rerun-sdk",
    "stable_baselines3": "stable-baselines3",
}
_NAME = "articulation-actuators"
# root of the clone that the package may be in
_ROOT = (Path(__file__).parent / "../../../../../..").resolve()


@contextlib.contextmanager
def needs(subject: str, extra: str, error: type[BaseException] = ModuleNotFoundError) -> Iterator[None]:
    """Turn an import that fails inside a `with` block into the command that installs the extra."""
    try:
        yield
    except ImportError as missing:
        library = (missing.name or "").partition(".")[0]
        if library not in LIBRARIES[extra]:
            raise
        if isinstance(missing, ModuleNotFoundError) and missing.name == library:
            why, remedy = f"{library}, which is not installed", install_command(extra)
        else:
            why, remedy = f"{library}, which is too old or broken ({missing})", repair_command(library)
        raised = error(f"{subject} needs {why}. Run `{remedy}`.")
        if isinstance(raised, ImportError):
            raised.name = missing.name
        raise raised from missing


def install_command(extra: str) -> str:
    """Return the command that installs an extra, for the location of the package."""
    if (_ROOT / "python.sh").is_file() and (_ROOT / "pyproject.toml").is_file():
        inside = Path.cwd() == _ROOT
        script = "./python.sh" if inside else str(_ROOT / "python.sh")
        # python.sh installs into the clone's own environment; another one has its own pip
        pip = f"{script} -m pip" if Path(sys.prefix) == _ROOT / ".venv" else "pip"
        return f"{pip} install -e '{'.' if inside else _ROOT}[{extra}]'"
    # loads Python's network code, which an error only needs
    from importlib.metadata import PackageNotFoundError, distribution

    with contextlib.suppress(PackageNotFoundError):
        wanted = f"{_NAME}[{extra}]"
        if (origin := _origin(distribution(_NAME))) is not None:
            return f"pip install '{wanted} @ {origin}'" if origin else f"pip install '{wanted}'"
    # an extension folder, or a wheel that is gone: the libraries themselves
    names: list[str] = [DISTRIBUTIONS.get(name, name) for name in LIBRARIES[extra]]
    return f"pip install {' '.join(dict.fromkeys(names))}"


def repair_command(library: str) -> str:
    """Command that replaces a broken library; its owner first: a wheel upgraded in place removes newer files."""
    owners = owners_of(library) or [DISTRIBUTIONS.get(library, library)]
    install = install_command(next(extra for extra, names in LIBRARIES.items() if library in names))
    return f"{install.partition(' install ')[0]} uninstall -y {' '.join(owners)} && {install}"


def owners_of(library: str) -> list[str]:
    """Return the names of the installed distributions that have files of a library, sorted."""
    from importlib.metadata import packages_distributions

    return sorted(set(packages_distributions().get(library, [])))


def _origin(installed: Distribution) -> str | None:
    """Return where a distribution was installed from: a URL, nothing for an index, None where that is gone."""
    from urllib.parse import urlparse
    from urllib.request import url2pathname

    text = installed.read_text("direct_url.json")
    if text is None:
        return ""
    said = json.loads(text)
    url, control = said["url"], said.get("vcs_info")
    if control is not None:
        url = f"{control['vcs']}+{url}@{control['commit_id']}"
    parts = urlparse(url)
    return None if parts.scheme == "file" and not Path(url2pathname(parts.path)).exists() else url
