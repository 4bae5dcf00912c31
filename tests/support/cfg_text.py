"""Runs the text of cfgs that an export made."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest


def cfgs_of(text: str, package: str, classes: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """`ACTUATORS` of a text, with classes in place of those of a package."""
    parts = package.split(".")
    for count in range(1, len(parts) + 1):
        monkeypatch.setitem(sys.modules, ".".join(parts[:count]), ModuleType(".".join(parts[:count])))
    vars(sys.modules[package]).update(classes)
    scope: dict[str, Any] = {}
    exec(compile(text, "<export>", "exec"), scope)
    return scope["ACTUATORS"]
