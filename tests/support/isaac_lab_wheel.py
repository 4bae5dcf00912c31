"""Isaac Lab's own actuator modules, from the wheel `isaaclab`, with stand-ins for what needs Kit.

The environment variable ISAACLAB_WHEEL names the folder into which the wheel was unpacked:
`pip download --no-deps isaaclab==2.3.2.post1`, then `unzip -d FOLDER`. An installed wheel does as well.
"""

import importlib
import importlib.metadata
import io
import os
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

SOURCE = Path("isaaclab", "source", "isaaclab")


def folder() -> Path | None:
    """Where the wheel's source is."""
    given = os.environ.get("ISAACLAB_WHEEL")
    if given is None:
        try:
            given = str(importlib.metadata.distribution("isaaclab").locate_file(""))
        except importlib.metadata.PackageNotFoundError:
            return None
    found = Path(given) / SOURCE
    return found if (found / "isaaclab" / "actuators").is_dir() else None


def load():
    """Names of `isaaclab.actuators`, and `ArticulationActions`; skips the test where these are not to be had."""
    pytest.importorskip("torch", reason="PyTorch is not installed, with which Isaac Lab computes")
    source = folder()
    if source is None:
        pytest.skip("the wheel isaaclab is neither installed nor named by ISAACLAB_WHEEL: nothing to compare with")
    mine = {name: module for name, module in sys.modules.items() if name.partition(".")[0] == "isaaclab"}
    if not mine:
        for name in ("isaaclab", "isaaclab.utils"):
            # without what its __init__ imports
            package = sys.modules[name] = ModuleType(name)
            package.__path__ = [str(source.joinpath(*name.split(".")))]
        utils = sys.modules["isaaclab.utils"]
        assets = ModuleType("isaaclab.utils.assets")
        assets.read_file = lambda path: io.BytesIO(Path(path).read_bytes())
        sys.modules["isaaclab.utils.assets"] = utils.assets = assets
        for part in ("array", "string", "dict", "configclass", "buffers", "interpolation", "types"):
            module = importlib.import_module(f"isaaclab.utils.{part}")
            vars(utils).update({name: value for name, value in vars(module).items() if not name.startswith("_")})
        # the module is called as the function in it
        utils.configclass = sys.modules["isaaclab.utils.configclass"].configclass
    actuators = importlib.import_module("isaaclab.actuators")
    types = importlib.import_module("isaaclab.utils.types")
    names = {name: value for name, value in vars(actuators).items() if not name.startswith("_")}
    return SimpleNamespace(**names, ArticulationActions=types.ArticulationActions)
