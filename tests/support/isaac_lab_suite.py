"""A plugin of pytest: Isaac Lab's own unit tests run on our models, by the rules of its version."""

import contextlib
import functools
import sys
from collections.abc import Iterator
from types import ModuleType

import isaac_lab_wheel

_lab = isaac_lab_wheel.load()

from isaacsim.core.experimental.actuators.compat import isaac_lab as ours  # noqa: E402


def _made(name: str, model, **given):
    cfg = getattr(ours, name)(**{"stiffness": None, "damping": None} | given)
    cfg.class_type = functools.partial(model, rules="code" if _lab.version == "2.3" else "3.0")
    return cfg


@contextlib.contextmanager
def _no_simulation(**_) -> Iterator:
    yield ModuleType("simulation")


def _devices() -> list[str]:
    return ["cpu"]


# its name in the tests begins as theirs do
_devices.__test__ = False


class _AppLauncher:
    def __init__(self, **_) -> None:
        self.app = None


_models = {
    "ImplicitActuatorCfg": ours.ImplicitActuator,
    "IdealPDActuatorCfg": ours.IdealPDActuator,
    "DCMotorCfg": ours.DCMotor,
    "ActuatorNetLSTMCfg": ours.ActuatorNetLSTM,
}
_actuators = {name: functools.partial(_made, name, model) for name, model in _models.items()}
for _name, _members in {
    "actuators": _actuators,
    "app": {"AppLauncher": _AppLauncher},
    "sim": {"build_simulation_context": _no_simulation},
    "test": {},
    "test.utils": {"test_devices": _devices},
}.items():
    _module = sys.modules[f"isaaclab.{_name}"] = ModuleType(f"isaaclab.{_name}")
    vars(_module).update(_members)
