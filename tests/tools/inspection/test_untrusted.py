"""Files of unknown origin are read in a child process, and each way it can fail is one finding."""

import os
import sys
from pathlib import Path

import pytest
from isaacsim.core.experimental.actuators import lint
from isaacsim.core.experimental.actuators.tools.commands.main import main
from isaacsim.core.experimental.actuators.tools.inspection.untrusted import lint_untrusted
from pipe_files import needs_pipes
from places import ROBOTS
from pxr import Sdf
from robot_files import OF_SHOULDER, edited, number

needs_limits = pytest.mark.skipif(sys.platform != "linux", reason="needs limits of address space")


def problem_of(file: Path, **limits: float) -> str:
    (finding,) = lint_untrusted(file, **limits)  # pyright: ignore[reportArgumentType]
    assert (finding.rule, finding.severity, finding.where) == ("unreadable-file", "error", str(file))
    assert "\n" not in str(finding) and finding.remedy
    return finding.problem


@pytest.mark.parametrize("dt", [None, 0.004])
@pytest.mark.slow
def test_result_is_that_of_lint(dt, tmp_path) -> None:
    assert lint_untrusted(ROBOTS / "pendulum.usda", dt) == []
    (tmp_path / "broken.usda").write_text("#usda 1.0\ndef {")
    for file in (edited(tmp_path, number(OF_SHOULDER, "newton:kp", -1.0)), tmp_path / "broken.usda"):
        found = lint(file, dt)
        assert found and list(map(str, lint_untrusted(file, dt))) == list(map(str, found))


@pytest.mark.slow
def test_error_of_the_child_is_raised(tmp_path) -> None:
    with pytest.raises(RuntimeError, match=r"nothing\.usda: no such file"):
        lint_untrusted(tmp_path / "nothing.usda")


@pytest.mark.slow
def test_crash_is_reported(tmp_path, capsys) -> None:
    """A newer USD may refuse the file instead; the command goes on with the next file."""
    layer = Sdf.Layer.CreateAnonymous(".usda")
    prim = Sdf.CreatePrimInLayer(layer, "/a")
    for at in range(30):
        Sdf.AttributeSpec(prim, f"x{at}", Sdf.ValueTypeNames.Float).default = at / 7
    file = tmp_path / "bent.usdc"
    assert layer.Export(str(file))
    data = bytearray(file.read_bytes())
    # the first value follows the header of 88 bytes: the number of root prims
    assert data[88] == 1
    data[88] = 255
    file.write_bytes(data)
    assert problem_of(file).startswith(("reading this file crashes the process (SIG", "USD cannot read this file"))
    assert main(["lint", "--untrusted", str(file), str(ROBOTS / "pendulum.usda")]) == 1
    assert "errors: 1, warnings: 0, files: 2" in capsys.readouterr().out


@needs_pipes
@pytest.mark.slow
def test_time_limit_is_reported(tmp_path) -> None:
    os.mkfifo(tmp_path / "pipe.usda")
    file = tmp_path / "top.usda"
    file.write_text("#usda 1.0\n(\n subLayers = [@./pipe.usda@]\n)\n")
    assert problem_of(file, seconds=4.0) == "reading this file takes more than 4 s."


@needs_limits
@pytest.mark.slow
def test_memory_limit_is_reported(tmp_path) -> None:
    file = tmp_path / "large.usda"
    parts = ["".join(f'def "P{at}" (references = </C{level}>) {{}}\n' for at in range(10)) for level in range(1, 10)]
    classes = [f'class "C{level}" {{\n{text}}}\n' for level, text in enumerate(parts)]
    file.write_text("#usda 1.0\n" + "".join(classes) + 'class "C9" {}\ndef "A" (references = </C0>) {}\n')
    assert problem_of(file, memory=1 << 30) == "reading this file takes more than 1.1 GB of memory."


def test_corrections_are_not_written_for_untrusted_files(tmp_path, capsys) -> None:
    """They would be read in this process."""
    file, overlay = str(ROBOTS / "pendulum.usda"), tmp_path / "fixed.usda"
    assert main(["lint", file, "--untrusted", "--fix", str(overlay)]) == 1
    assert "--fix and --untrusted: must not be given together" in capsys.readouterr().err and not overlay.exists()
