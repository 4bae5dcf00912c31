"""Earlier import paths of modules that moved: each returns the module at its current path.

An earlier path emits a `DeprecationWarning` and is removed in 1.3, except for those of the documented extension.
A module is the same object under both paths. It is imported when one of them is.
"""

from __future__ import annotations

import importlib
import sys
import warnings
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from types import CodeType, ModuleType
from typing import Any

# names of rooms and modules at earlier paths by the room that has them now; the longest match counts
_NOW_IN = {
    "base": "callers components.quiet_warp components.warp_cache cores errors extras memory native saving "
    "untraced values version",
    "compat": "impl",
    "engine": "actuator_set",
    "engine.gradients": "components.network_gradients pipeline.encoder_gradients pipeline.given_laws "
    "pipeline.gradient_recorder pipeline.held_gradients pipeline.implicit_gradients pipeline.late_gradients "
    "pipeline.step.gradient_kernels pipeline.step.warp_gradients",
    "engine.implicit": "pipeline.coupled_friction pipeline.damping_requests pipeline.engine_damping "
    "pipeline.group_effort pipeline.group_solver pipeline.joint_space_response pipeline.linear_network "
    "pipeline.mujoco_coordinates pipeline.smooth_friction pipeline.trial_laws",
    "engine.random": "pipeline.law_numbers pipeline.random_numbers pipeline.randomization",
    "engine.step": "pipeline.physics_step",
    "extension": "action_graphs articulation_actuators attachment sharding",
    "extension.action_graphs": "nodes",
    "files": "motor_files networks pipeline.parse usd",
    "laws.contract": "components.base components.catalogue components.coupling components.curve "
    "components.friction_step components.functions components.late components.law components.newton_classes "
    "components.product components.ranges",
    "laws.networks": "components.network_law components.network_run components.neural networks.calls "
    "networks.checkpoint networks.evaluator networks.features networks.metadata networks.network networks.program "
    "networks.torch_network networks.warp_evaluator networks.warp_gradients networks.weights",
    "simulators": "authoring drives motor_properties simulation",
    "simulators.scene": "usd.two_values",
    "tools": "pipeline.feedback",
}
# current path by earlier path, within the package
EARLIER = {
    **{"components": "laws", "hosts": "simulators", "pipeline": "engine", "toolbox": "tools"},
    **dict.fromkeys(("impl.clamping_builders", "impl.controller_builders", "impl.delay_builder"), "compat.impl"),
    **{"pipeline.gradients": "engine.gradients.actuator_gradients", "usd.physics": "simulators.scene"},
    **{"components.device": "base.quiet_warp", "pipeline.friction": "engine.handed_over"},
    **{name: f"{room}.{name.rpartition('.')[2]}" for room, names in _NOW_IN.items() for name in names.split()},
}
# what is outside the package now
OUTSIDE = {
    "toolbox.parity": "run `./python.sh -m benchmarks.parity` in the repository, or import `benchmarks.parity` there"
}
# paths of the documented extension, which stay
STAY = ("impl", "nodes")

# name of the package, with a dot
_PREFIX = f"{__name__.rsplit('.', 2)[0]}."


class EarlierPaths:
    """Finder of modules by their earlier paths."""

    @staticmethod
    def find_spec(fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Return the spec of a module by its earlier path, else None; ModuleNotFoundError if it left the package."""
        if not fullname.startswith(_PREFIX):
            return None
        earlier = fullname.removeprefix(_PREFIX)
        if earlier in OUTSIDE:
            raise ModuleNotFoundError(f"{fullname} is no longer in the package: {OUTSIDE[earlier]}.", name=fullname)
        current = _current(earlier)
        spec = None if current is None else _spec(_PREFIX + current)
        if spec is None:
            return None
        loader = _Alias(fullname, spec.name, warns=earlier.partition(".")[0] not in STAY)
        return ModuleSpec(fullname, loader, is_package=spec.submodule_search_locations is not None)


class _Alias(Loader):
    """Loader of the module at the current path."""

    def __init__(self, earlier: str, current: str, warns: bool) -> None:
        self._earlier, self._current, self._warns = earlier, current, warns

    def create_module(self, spec: ModuleSpec) -> None:
        """Let the import system create a module, which `exec_module` replaces."""

    def exec_module(self, module: ModuleType) -> None:
        """Replace the created module with the one at the current path."""
        if self._warns:
            warnings.warn(
                f"{self._earlier} is deprecated and will be removed in 1.3: use {self._current}.",
                DeprecationWarning,
                stacklevel=2,
            )
        sys.modules[self._earlier] = importlib.import_module(self._current)

    def get_code(self, fullname: str) -> CodeType | None:
        """Return the code at the current path, for `python -m`."""
        spec: Any = _spec(self._current)
        return spec.loader.get_code(self._current)


def support_earlier_paths() -> None:
    """Put the finder before those that search folders; it replaces that of a reloaded package."""
    others = [finder for finder in sys.meta_path if getattr(finder, "__module__", None) != __name__]
    finder: Any = EarlierPaths
    sys.meta_path[:] = [finder, *others]


def _current(earlier: str) -> str | None:
    """Return the current path of a module by its earlier path, None if it has not moved."""
    room = earlier
    while room:
        if room in EARLIER:
            return EARLIER[room] + earlier.removeprefix(room)
        room = room.rpartition(".")[0]
    return None


def _spec(name: str) -> ModuleSpec | None:
    # imported here, because most programs use no earlier path
    from importlib.util import find_spec

    return find_spec(name)
