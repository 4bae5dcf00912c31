"""Isaac Lab: the actuator models of `isaaclab.actuators`, from its own files.

Its packages start Isaac Sim when they are imported. Its models and what they use of `isaaclab.utils` need Torch alone,
so that these files are imported without the `__init__` of their packages, and unchanged.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import importlib
import sys
from collections.abc import Collection, Iterator
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
from isaacsim.core.experimental.actuators.specs.configs import (
    DelayConfig,
    PDControlConfig,
    PositionBasedClampingConfig,
)

from .laws import Motor, Step, limit_fields, stage
from .peer import Make, NotComparableError
from .signals import Signals
from .tensors import tensor

_NAME = "isaaclab"
_UTILITIES = ("array", "string", "dict", "configclass", "buffers", "interpolation", "types")
# base classes, and configuration
_NO_LAWS = ("ActuatorBase",)


def laws() -> list[str]:
    """Return the names of its models."""
    _classes()
    text = (_folder() / "actuators" / "__init__.py").read_text("utf-8")
    imports = [item for item in ast.parse(text).body if isinstance(item, ast.ImportFrom)]
    names = [alias.name for item in imports for alias in item.names]
    return [name for name in names if name not in _NO_LAWS and not name.endswith("Cfg")]


def model(name: str) -> Make:
    """Return what makes one of its models."""

    def make(motor: Motor, robots: int, _: Collection[str]) -> Step:
        lab = _classes()
        cfg = getattr(lab, f"{name}Cfg")(joint_names_expr=[".*"], **_fields(motor))
        theirs = getattr(lab, name)(cfg, ["joint"], slice(None), robots, "cpu")
        # draws its delay, which is that of the cfg
        theirs.reset(slice(None))

        def step(given: Signals) -> np.ndarray:
            q, qd, *command = (
                tensor(one[:, None])
                for one in (given.positions, given.velocities, given.position_targets, given.velocity_targets)
            )
            action = lab.ArticulationActions(*command, tensor(given.feedforward[:, None]))
            return theirs.compute(action, q, qd).joint_efforts.numpy()[:, 0]

        return step

    return make


def _fields(motor: Motor) -> dict[str, object]:
    """Return the fields of its cfg for a motor."""
    law = stage(motor, PDControlConfig)
    found: dict[str, object] = {"stiffness": law.kp, "damping": law.kd, **limit_fields(motor)}
    for one in motor:
        if isinstance(one, DelayConfig):
            found |= {"min_delay": one.delay_steps, "max_delay": one.delay_steps}
        elif isinstance(one, PositionBasedClampingConfig):
            rows = zip(one.lookup_positions, one.lookup_efforts, strict=True)
            found["joint_parameter_lookup"] = [[position, 1.0, effort] for position, effort in rows]
    return found


def _folder() -> Path:
    """Return the folder of the package `isaaclab` within the installed one.

    Raises:
        NotComparableError: There are no actuator models.
    """
    spec = find_spec(_NAME)
    for place in (spec.submodule_search_locations or ()) if spec is not None else ():
        for folder in (Path(place), Path(place, "source", _NAME, _NAME)):
            if (folder / "actuators" / "actuator_pd.py").is_file():
                return folder
    raise NotComparableError("without the files of isaaclab.actuators, which this installation does not have")


@functools.cache
def _classes() -> Any:
    """Return its models, cfgs and `ArticulationActions` by name."""
    folder = _folder()
    with _without_packages(folder) as utils:
        for part in _UTILITIES:
            module = importlib.import_module(f"{_NAME}.utils.{part}")
            vars(utils).update({name: one for name, one in vars(module).items() if not name.startswith("_")})
        # the package has the function of the module's name
        utils.configclass = sys.modules[f"{_NAME}.utils.configclass"].configclass  # pyright: ignore
        modules = [importlib.import_module(f"{_NAME}.{part}") for part in ("actuators.actuator_pd", "utils.types")]
        modules.append(importlib.import_module(f"{_NAME}.actuators.actuator_pd_cfg"))
    return SimpleNamespace(**{name: one for module in modules for name, one in vars(module).items()})


@contextlib.contextmanager
def _without_packages(folder: Path) -> Iterator[ModuleType]:
    """Have packages without their `__init__` inside a `with` block, and what was imported before after it.

    Yields:
        The package of utilities.
    """

    def taken() -> dict[str, ModuleType]:
        return {name: sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] == _NAME}

    before = taken()
    try:
        for name in (_NAME, f"{_NAME}.utils", f"{_NAME}.actuators"):
            package = sys.modules[name] = ModuleType(name)
            package.__path__ = [str(folder.joinpath(*name.split(".")[1:]))]
        yield sys.modules[f"{_NAME}.utils"]
    finally:
        taken()
        sys.modules.update(before)
