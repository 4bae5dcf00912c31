"""Runs the text of cfgs that an export made."""

import sys
from types import ModuleType

import pytest


def cfgs_of(text: str, package: str, classes: dict, monkeypatch: pytest.MonkeyPatch) -> dict:
    parts = package.split(".")
    for count in range(1, len(parts) + 1):
        monkeypatch.setitem(sys.modules, ".".join(parts[:count]), ModuleType(".".join(parts[:count])))
    vars(sys.modules[package]).update(classes)
    scope = {}
    exec(compile(text, "<export>", "exec"), scope)
    return scope["ACTUATORS"]


def events_of(text: str, package: str, modules: list[str], monkeypatch: pytest.MonkeyPatch) -> dict[str, dict]:
    class Names:
        def __init__(self, name: str) -> None:
            self._name = name

        def __getattr__(self, name: str) -> str:
            return f"{self._name}.{name}"

    def of_module(name: str):
        if name in ("mdp", "dr"):
            return Names(name)
        return {"SceneEntityCfg": lambda robot, **where: (robot, where), "EventTermCfg": dict}.get(name, dict)

    for name in [package, *(f"{package}.{one}" for one in ["envs", *modules])]:
        module = ModuleType(name)
        module.__getattr__ = of_module
        monkeypatch.setitem(sys.modules, name, module)
    scope = {}
    exec(compile(text, "<export>", "exec"), scope)
    return scope["EVENTS"]
