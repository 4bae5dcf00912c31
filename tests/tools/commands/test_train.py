"""`actuators train`: a network from a log, and unusable logs."""

import json
from pathlib import Path

import numpy as np
import pytest
from isaacsim.core.experimental.actuators.tools.commands.main import main
from isaacsim.core.experimental.actuators.tools.training import ActuatorLog
from refusals import cases


def write_log(folder: Path) -> str:
    time = 0.005 * np.arange(400)
    target, position, velocity = np.sin(3 * time), np.sin(3 * time - 0.1), 3 * np.cos(3 * time - 0.1)
    effort = 20 * (target - position) - velocity
    ActuatorLog(0.005, position, velocity, target, effort, turns=True).save(folder / "log.npz")
    return str(folder / "log.npz")


def test_log_becomes_a_network(tmp_path, capsys) -> None:
    pytest.importorskip("torch", reason="training needs torch")
    log, out, report = write_log(tmp_path), tmp_path / "knee.safetensors", tmp_path / "report"
    options = ["--epochs", "3", "--test", log, "--report", str(report), "-o", str(out)]
    assert main(["train", log, *options, "--json"]) == 0
    assert [row["on"] for row in json.loads(capsys.readouterr().out)["errors"]] == ["training", "validation", "test"]
    assert main(["train", log, "--epochs", "1", "-o", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "rms [N·m]  largest [N·m]" in printed and "N·m or N" not in printed
    assert out.is_file() and (report / "training.png").is_file()


@cases("out, message", ("knee.pt", "must end with .onnx or .safetensors"), ("nowhere/knee.onnx", "nowhere"))
def test_place_is_looked_at_before_training(out, message, tmp_path, capsys) -> None:
    assert main(["train", write_log(tmp_path), "-o", str(tmp_path / out)]) == 1
    assert message in capsys.readouterr().err


def test_missing_log_is_named(tmp_path, capsys) -> None:
    assert main(["train", str(tmp_path / "no.csv"), "-o", str(tmp_path / "knee.onnx")]) == 1
    assert "no.csv" in capsys.readouterr().err
