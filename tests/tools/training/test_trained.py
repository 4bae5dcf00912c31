"""Results of training, made by hand: predictions are those at run time; files and reports are correct."""

import builtins
import json
import re
import sys
from dataclasses import replace
from types import SimpleNamespace

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
import warp as wp
from actuator_logs import DT, KD, KP, pd_log
from isaacsim.core.experimental.actuators.files.networks.load import load_checkpoint
from isaacsim.core.experimental.actuators.laws.networks.network import Linear, Network
from isaacsim.core.experimental.actuators.tools.training import ActuatorLog, TrainedActuator, report
from neural_twin import random_network
from refusals import cases, refused

SCALES = {"pos_scale": 2.0, "vel_scale": 0.25, "effort_scale": 20.0, "sample_dt": DT}
COLUMNS = ["position_error", "velocity"]
NORMALIZATION = {
    "inputs": {"mean": {"position_error": 0.1, "velocity": -0.2}, "std": {"position_error": 0.5, "velocity": 3.0}},
    "targets": {"mean": {"torque": 1.5}, "std": {"torque": 12.0}},
}
ABOUT = {
    "mlp": {"model_type": "mlp", "input_order": "pos_vel", "input_idx": [0, 3, 1], **SCALES},
    "lstm": {"model_type": "lstm", "num_layers": 2, "hidden_size": 8, **SCALES},
    "gru": {"model_type": "gru", "input_columns": COLUMNS, "normalization": NORMALIZATION, "sample_dt_s": DT},
}
CONTROLLERS = {"mlp": aa.ControllerNeuralMLP, "lstm": aa.ControllerNeuralLSTM, "gru": aa.ControllerNeuralGRU}


def trained(network: Network, metadata: dict, log: ActuatorLog, warm_up: int = 5) -> TrainedActuator:
    settings = {"hidden": (8,), "input_idx": (0, 1), "patience": 4, "max_seconds": 9, "seed": 3, "seconds": 1.5}
    history = np.array([[0.5, 0.6], [0.2, 0.3], [0.1, 0.4]])
    settings |= {"torch": "2.0"}
    return TrainedActuator(network, metadata, log, 1000, warm_up, history, 1, "patience", settings)


@pytest.fixture
def pd() -> TrainedActuator:
    """A network that equals the PD law of the log, plus 0.5 N·m."""
    network = Network(2, (Linear(0, np.float32([[KP / 40, -KD / 5]]), np.float32([0.5 / 20])),))
    return trained(network, {"model_type": "mlp", "input_order": "pos_vel", "input_idx": [0], **SCALES}, pd_log(1))


@cases("kind", *ABOUT)
def test_prediction_is_what_the_controller_gives(kind, tmp_path) -> None:
    network = random_network(kind, 6 if kind == "mlp" else 2, layers=1 if kind == "gru" else 2)
    log = pd_log(2, 300, 3)
    one = trained(network, ABOUT[kind], log)
    one.save(tmp_path / "net.safetensors")
    places = wp.array(np.arange(3), dtype=wp.uint32, device="cpu")
    actuator = aa.Actuator(places, CONTROLLERS[kind](tmp_path / "net.safetensors"))
    states = [actuator.state(), actuator.state()]
    found = []
    for row in range(log.steps):
        signals = (log.position, log.velocity, log.position_target)
        q, qd, target = (wp.array(values[row], dtype=wp.float32, device="cpu") for values in signals)
        efforts = wp.zeros(3, dtype=wp.float32, device="cpu")
        control = SimpleNamespace(joint_target_pos=target, joint_target_vel=wp.zeros_like(q), joint_f=efforts)
        actuator.step(SimpleNamespace(joint_q=q, joint_qd=qd), control, *states, dt=DT)
        states.reverse()
        found.append(efforts.numpy())
    assert np.ptp(found) > 1.0
    np.testing.assert_allclose(one.predict(log), found, rtol=0, atol=2e-5 * np.abs(found).max())


def test_errors(pd) -> None:
    """0.5 N·m everywhere, and the effort of each part; rows without their past do not count."""
    assert set(pd.errors) == {"training", "validation"}
    for name, rows in {"training": slice(5, 1000), "validation": slice(1005, None)}.items():
        effort = float(np.sqrt(np.mean(np.square(pd.log.effort[rows], dtype=np.float64))))
        found = pd.errors[name]
        assert (found.rms, found.largest) == pytest.approx((0.5, 0.5), rel=1e-4)
        assert (found.effort_rms, found.relative) == pytest.approx((effort, 0.5 / effort), rel=1e-4)
    refused(ValueError, lambda: pd.errors_on(pd.log.cut(0, 5)), "log has 5 steps: must have more than warm_up, 5")


def test_another_step_is_refused(pd) -> None:
    signals = (pd.log.position, pd.log.velocity, pd.log.position_target, pd.log.effort)
    with pytest.raises(ValueError, match=r"log\.dt = 0\.004 s: .* trained for, 0\.005 s"):
        pd.predict(ActuatorLog(0.004, *signals))


@cases("extension", ".safetensors", ".onnx")
@cases("kind", *ABOUT)
def test_file_predicts_the_same(kind, extension, tmp_path) -> None:
    if extension == ".onnx":
        pytest.importorskip("onnx", reason="ONNX files need onnx, which is not installed")
    log = pd_log(3, 100)
    one = trained(random_network(kind, 6 if kind == "mlp" else 2, layers=1 if kind == "gru" else 2), ABOUT[kind], log)
    one.save(tmp_path / f"net{extension}")
    read = load_checkpoint(tmp_path / f"net{extension}")
    assert {key: read.metadata[key] for key in ABOUT[kind]} == ABOUT[kind]
    again = trained(read.network, read.metadata, log)
    np.testing.assert_array_equal(again.predict(log), one.predict(log), strict=True)


def test_other_extension_refused(pd, tmp_path) -> None:
    refused(ValueError, lambda: pd.save(tmp_path / "net.pt"), r"net\.pt: must end with \.onnx or \.safetensors")
    assert not list(tmp_path.iterdir())


@cases("part", "validation", "test")
@pytest.mark.slow
def test_report(part, pd, tmp_path) -> None:
    pytest.importorskip("matplotlib", reason="the report draws with matplotlib, which is not installed")
    test = pd_log(4) if part == "test" else None
    picture = pd.report(tmp_path / "new" / "folder", test)
    assert picture == tmp_path / "new" / "folder" / "training.png" and picture.read_bytes().startswith(b"\x89PNG")
    said = json.loads(picture.with_suffix(".json").read_text("utf-8"))
    assert list(said["errors"]) == ["training", "validation", *(["test"] if test else [])]
    assert said["errors"]["validation"]["rms"] == pd.errors["validation"].rms
    assert (said["log"]["cut"], said["settings"]["seed"], said["best_epoch"]) == (1000, 3, 2)
    page = picture.with_suffix(".md").read_text("utf-8")
    for name in said["errors"]:
        (row,) = re.findall(rf"^\| {name} \| 0\.5 \| (.*?)% ", page, re.MULTILINE)
        assert float(row) == pytest.approx(100 * said["errors"][name]["relative"], abs=0.006)
    said = "4 epochs had no smaller validation error; the weights of epoch 2 were kept. Seed 3"
    assert said in " ".join(page.split())


@cases("turns, unit", (True, "N·m"), (False, "N"), (None, "N·m or N"))
def test_report_has_the_units_of_its_log(turns, unit, pd, tmp_path, monkeypatch) -> None:
    pytest.importorskip("matplotlib", reason="the report draws with matplotlib, which is not installed")
    drawn = []
    monkeypatch.setattr(report, "save", lambda figure, path: drawn.append(figure))
    replace(pd, log=replace(pd.log, turns=turns)).report(tmp_path)
    labels = {panel.get_xlabel() for panel in drawn[0].axes} | {panel.get_ylabel() for panel in drawn[0].axes}
    assert {f"{word} [{unit}]" for word in ("effort", "error", "measured", "predicted")} <= labels
    assert f"Efforts in {unit}. " in (tmp_path / "training.md").read_text("utf-8")


def test_report_without_matplotlib(pd, tmp_path, monkeypatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)

    def without_matplotlib(name: str, *rest):
        if name.partition(".")[0] == "matplotlib":
            raise ModuleNotFoundError("No module named 'matplotlib'", name="matplotlib")
        return imported(name, *rest)

    imported = builtins.__import__
    monkeypatch.setattr(builtins, "__import__", without_matplotlib)
    refused(ModuleNotFoundError, lambda: pd.report(tmp_path), r"pip install .*\[train\]'")
