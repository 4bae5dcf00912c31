"""`actuators doctor`: installed and missing parts, and a core with wrong results."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from isaacsim.core.experimental.actuators import native
from isaacsim.core.experimental.actuators.extras import LIBRARIES, install_command
from isaacsim.core.experimental.actuators.toolbox.commands import doctor
from isaacsim.core.experimental.actuators.toolbox.commands.answer import Answer
from isaacsim.core.experimental.actuators.toolbox.commands.arguments import Doctor


def rows(answer: Answer, name: str) -> list[Any]:
    return [row for table in answer.tables if table.name == name for row in table.rows]


def test_all_is_well() -> None:
    """All instruction sets are tested, and each library of an extra is listed once."""
    answer = doctor.answer(Doctor())
    assert not answer.is_wrong
    assert len(rows(answer, "tests")) == max(len(native.core.variants()) if native.core else 1, 1)
    named = [row["library"] for row in rows(answer, "libraries")]
    assert set(named) == {"numpy", "warp", *(name for names in LIBRARIES.values() for name in names)}
    assert len(named) == len(set(named))
    (mujoco,) = [row for row in rows(answer, "libraries") if row["library"] == "mujoco"]
    assert mujoco["version"][0].isdigit()


def test_missing_library_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the first extra that includes it."""
    monkeypatch.setattr(doctor, "find_spec", lambda name: None if name == "mujoco" else object())
    (row,) = [row for row in rows(doctor.answer(Doctor()), "libraries") if row["library"] == "mujoco"]
    assert row["version"] is None
    assert row["command"] == install_command("sim")


@pytest.mark.parametrize("variant", ["first", "last"])
def test_wrong_efforts_are_found(variant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the engine in use, and of another instruction set."""
    variants = native.core.variants() if native.core else [None]
    if variant == "last" and len(variants) == 1:
        pytest.skip("There is one instruction set only.")
    broken, run = variants[0 if variant == "first" else -1], doctor._run

    def broken_run(pipeline: str, on: str | None) -> np.ndarray:
        return run(pipeline, on) * (1.01 if on == broken else 1.0)

    monkeypatch.setattr(doctor, "_run", broken_run)
    answer = doctor.answer(Doctor())
    assert answer.is_wrong
    failed = [row["test"] for row in rows(answer, "tests") if row["result"] != "passed"]
    assert any(str(broken or "Warp") in test for test in failed)


def test_without_the_core_warp_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A note says that it is slower."""
    monkeypatch.setattr(doctor.native, "core", None)
    answer = doctor.answer(Doctor())
    assert not answer.is_wrong
    assert {"what": "engine", "value": "Warp"} in rows(answer, "here")
    (note,) = answer.notes
    assert note.startswith(("The native core is present but not loaded", "No native core for Python"))
    assert sys.version.split()[0] in rows(answer, "here")[1]["value"]
