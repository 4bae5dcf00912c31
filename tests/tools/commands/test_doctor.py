"""`actuators doctor`: installed and missing parts, and a core with wrong results."""

import re
import sys

import numpy as np
import pytest
from isaacsim.core.experimental.actuators.base import native
from isaacsim.core.experimental.actuators.base.extras import LIBRARIES, install_command
from isaacsim.core.experimental.actuators.tools.commands import doctor
from isaacsim.core.experimental.actuators.tools.commands.answer import Answer
from isaacsim.core.experimental.actuators.tools.commands.arguments import Doctor
from refusals import cases


def rows(answer: Answer, name: str) -> list:
    return [row for table in answer.tables if table.name == name for row in table.rows]


@pytest.mark.slow
def test_all_is_well() -> None:
    answer = doctor.answer(Doctor())
    assert not answer.is_wrong
    assert len(rows(answer, "tests")) == max(len(native.core.variants()) if native.core else 1, 1)
    named = [row["library"] for row in rows(answer, "libraries")]
    assert set(named) == {"numpy", "warp", *(name for names in LIBRARIES.values() for name in names)}
    assert len(named) == len(set(named))
    (mujoco,) = [row for row in rows(answer, "libraries") if row["library"] == "mujoco"]
    assert mujoco["version"][0].isdigit()


def test_missing_library_says_how_to_get_it(monkeypatch) -> None:
    monkeypatch.setattr(doctor, "_import_errors", lambda names: {})
    monkeypatch.setattr(doctor, "find_spec", lambda name: None if name == "mujoco" else object())
    (row,) = [row for row in rows(doctor.answer(Doctor()), "libraries") if row["library"] == "mujoco"]
    assert row["version"] is None and row["command"] == install_command("sim")


@cases(
    "content, said",
    ("", "ModuleNotFoundError: No module named 'mujoco._specs'."),
    ("from mujoco._structs import MjModel", "ModuleNotFoundError: No module named 'mujoco._structs'."),
    ("raise ImportError('undefined symbol: mj_step.\\n  in x')", "ImportError: undefined symbol: mj_step. in x."),
    ("import os; os._exit(139)", "its import ends Python with code 139."),
)
def test_broken_library_is_named_with_its_repair(content, said, tmp_path, monkeypatch) -> None:
    (tmp_path / "mujoco").mkdir()
    (tmp_path / "mujoco" / "__init__.py").write_text(content)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(doctor, "find_spec", lambda name: name in ("mujoco", "pxr", "newton_usd_schemas") or None)
    answer = doctor.answer(Doctor())
    assert answer.is_wrong
    (note,) = answer.notes
    assert re.fullmatch(
        rf"mujoco \d\S* cannot be used: {re.escape(said)} Run `(.* -m )?pip uninstall -y mujoco( mujoco-\w+)* && "
        r"(.* -m )?pip install .*\[sim\].*`\.",
        note,
    )


def test_two_owners_of_a_library(monkeypatch) -> None:
    """Wheels of which one brings the other are one owner, as those of MuJoCo 4."""
    monkeypatch.setattr(doctor, "_import_errors", lambda names: {})
    monkeypatch.setattr(doctor, "owners_of", lambda name: ["matplotlib", "numpy", "tyro"] if name == "pxr" else [])
    (note,) = doctor.answer(Doctor()).notes
    assert note.startswith("pxr has files of matplotlib and tyro: must be of one of them")


def test_extra_in_part(monkeypatch) -> None:
    monkeypatch.setattr(doctor, "_import_errors", lambda names: {})
    there = {"pxr", "newton_usd_schemas", "ovphysx", "yaml", "scipy"}
    monkeypatch.setattr(doctor, "find_spec", lambda name: name in there or None)
    answer = doctor.answer(Doctor())
    assert answer.is_wrong
    said = f"The extra physx lacks ovstage: all of it must be there. Run `{install_command('physx')}`."
    assert answer.notes == [said]


@cases("variant", "first", "last")
def test_wrong_efforts_are_found(variant, monkeypatch) -> None:
    variants = native.core.variants() if native.core else [None]
    if variant == "last" and len(variants) == 1:
        pytest.skip("There is one instruction set only.")
    broken, run = variants[0 if variant == "first" else -1], doctor._run

    def broken_run(pipeline: str, on: str | None) -> np.ndarray:
        return run(pipeline, on) * (1.01 if on == broken else 1.0)

    monkeypatch.setattr(doctor, "_run", broken_run)
    monkeypatch.setattr(doctor, "_faults", list)
    answer = doctor.answer(Doctor())
    assert answer.is_wrong
    failed = [row["test"] for row in rows(answer, "tests") if row["result"] != "passed"]
    assert any(str(broken or "Warp") in test for test in failed)


def test_without_the_core_warp_runs(monkeypatch) -> None:
    monkeypatch.setattr(doctor.native, "core", None)
    monkeypatch.setattr(doctor, "_faults", list)
    answer = doctor.answer(Doctor())
    assert not answer.is_wrong and {"what": "engine", "value": "Warp"} in rows(answer, "here")
    (note,) = answer.notes
    assert note.startswith(("The native core is present but not loaded", "No native core for Python"))
    assert sys.version.split()[0] in rows(answer, "here")[1]["value"]
