"""Isaac Lab's own actuator modules, from the wheel `isaaclab`, with stand-ins for what needs Kit.

The environment variable ISAACLAB_WHEEL names the folder into which the wheel was unpacked:
`pip download --no-deps isaaclab==2.3.2.post1`, or with Python 3.12 and `lazy_loader` and `prettytable` installed
`isaaclab==3.0.0`, then `unzip -d FOLDER`. An installed wheel does as well.
"""

import importlib
import importlib.metadata
import io
import os
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

SOURCES = {"2.3": Path("isaaclab", "source", "isaaclab"), "3.0": Path()}


def source() -> tuple[str, Path] | None:
    given = os.environ.get("ISAACLAB_WHEEL")
    if given is None:
        try:
            given = str(importlib.metadata.distribution("isaaclab").locate_file(""))
        except importlib.metadata.PackageNotFoundError:
            return None
    there = {version: Path(given) / path for version, path in SOURCES.items()}
    return next((one for one in there.items() if (one[1] / "isaaclab" / "actuators").is_dir()), None)


def load(version: str | None = None):
    """Names of `isaaclab.actuators`, `ArticulationActions`, and the version, any by default; skips without them."""
    pytest.importorskip("torch", reason="PyTorch is not installed, with which Isaac Lab computes")
    if (found := source()) is None:
        pytest.skip("the wheel isaaclab is neither installed nor named by ISAACLAB_WHEEL: nothing to compare with")
    if found[0] != (version or found[0]):
        pytest.skip(f"the wheel isaaclab is that of {found[0]}")
    return (_load_2_3 if found[0] == "2.3" else _load_3_0)(found[1])


def _names(version: str):
    actuators, types = (importlib.import_module(f"isaaclab.{name}") for name in ("actuators", "utils.types"))
    names = {name: getattr(actuators, name) for name in dir(actuators) if not name.startswith("_")}
    return SimpleNamespace(**names, ArticulationActions=types.ArticulationActions, version=version)


def _local_files() -> ModuleType:
    assets = sys.modules["isaaclab.utils.assets"] = ModuleType("isaaclab.utils.assets")
    assets.read_file = lambda path: io.BytesIO(Path(path).read_bytes())
    return assets


def _load_3_0(source: Path):
    if sys.version_info < (3, 12):
        pytest.skip("Isaac Lab 3.0 needs Python 3.12")
    for name in ("lazy_loader", "prettytable"):
        pytest.importorskip(name)
    if str(source) not in sys.path:
        # behind everything, for the wheel brings much else
        sys.path.append(str(source))
        _local_files()
    return _names("3.0")


def _load_2_3(source: Path):
    mine = {name: module for name, module in sys.modules.items() if name.partition(".")[0] == "isaaclab"}
    if not mine:
        for name in ("isaaclab", "isaaclab.utils"):
            # without what its __init__ imports
            package = sys.modules[name] = ModuleType(name)
            package.__path__ = [str(source.joinpath(*name.split(".")))]
        utils = sys.modules["isaaclab.utils"]
        utils.assets = _local_files()
        for part in ("array", "string", "dict", "configclass", "buffers", "interpolation", "types"):
            module = importlib.import_module(f"isaaclab.utils.{part}")
            vars(utils).update({name: value for name, value in vars(module).items() if not name.startswith("_")})
        # the module is called as the function in it
        utils.configclass = sys.modules["isaaclab.utils.configclass"].configclass
    return _names("2.3")
