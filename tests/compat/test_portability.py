"""The same USD file gives the same efforts whether newton's parser and actuators read it or ours, for every component.

What differs on purpose is the table *The same file in newton* of `docs/Differences.md`; its tests are below.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import warp as wp
from checkpoint_files import network
from isaacsim.core.experimental.actuators import (
    ArticulationActuators,
    DCMotorClampingConfig,
    DelayConfig,
    MaxEffortClampingConfig,
    NeuralControlConfig,
    PDControlConfig,
    PIDControlConfig,
    PositionBasedClampingConfig,
    add_actuator,
    drive_newton_model,
    use_host,
)
from isaacsim.core.experimental.actuators.components.quiet_warp import quiet_warp
from isaacsim.core.experimental.actuators.hosts.arrays import ArraysHost
from isaacsim.core.experimental.actuators.networks import onnx
from pxr import Sdf, Usd

with quiet_warp(), warnings.catch_warnings():
    warnings.simplefilter("ignore")
    newton = pytest.importorskip("newton", reason="newton is not installed")

if tuple(map(int, version("newton").split(".")[:2])) < (1, 8):
    pytest.skip("the same file is compared with newton 1.8", allow_module_level=True)

STEPS, TOLERANCE, DT = 500, 1e-5, 0.01
ROOT, NAMES = "/World/Arm", ["shoulder", "extension"]
PD, PID = PDControlConfig(60.0, 4.0), PIDControlConfig(60.0, 90.0, 4.0, 0.05, 1.5)
TABLE = PositionBasedClampingConfig([-1.0, 0.0, 0.0, 2.0], [20.0, 5.0, 9.0, 40.0])
MOTORS: dict[str, tuple[Any, Sequence[Any], Any]] = {
    "pd": (PDControlConfig(60.0, 4.0, 1.5), [], None),
    "pid": (PID, [], None),
    "max effort": (PD, [MaxEffortClampingConfig(30.0)], None),
    "dc motor": (PD, [DCMotorClampingConfig(60.0, 2.0, 40.0)], None),
    "position based": (PD, [TABLE], None),
    "delay": (PD, [], DelayConfig(3)),
    # as newton runs them in authored order
    "all": (PID, [DCMotorClampingConfig(60.0, 2.0, 40.0), TABLE, MaxEffortClampingConfig(15.0)], DelayConfig(2)),
}
NETWORKS: dict[str, Mapping[str, Any]] = {
    "mlp": {"model_type": "mlp", "input_order": "vel_pos", "pos_scale": 0.5, "effort_scale": 20.0},
    "lstm": {"model_type": "lstm", "vel_scale": 0.1, "effort_scale": 15.0},
    "gru": {
        "model_type": "gru",
        "input_columns": ["position_error", "velocity"],
        "normalization": {
            "inputs": {"mean": {"position_error": 0.1, "velocity": 0.0}, "std": {"position_error": 0.5, "velocity": 2.0}},
            "targets": {"mean": {"torque": 1.0}, "std": {"torque": 9.0}},
        },
        "sample_dt_s": DT,
    },
}


def file_with(folder: Path, robots: Path, motor: tuple[Any, Sequence[Any], Any], edit: Callable[[Any], Any] = bool) -> Path:
    """A robot file with this motor on both joints, and with what `edit` does to the prim of the first."""
    stage = Usd.Stage.Open(str(robots / "arm_2dof.usda"))
    stage.RemovePrim(f"{ROOT}/Actuators")
    stage.Export(str(folder / "arm.usda"))
    stage = Usd.Stage.Open(str(folder / "arm.usda"))
    controller, clamping, delay = motor
    prims = [
        add_actuator(ROOT, name, name, controller, clamping=list(clamping), delay=delay, stage=stage)
        for name in NAMES
    ]
    edit(prims[0])
    stage.Save()
    return folder / "arm.usda"


class Theirs:
    """newton's builder, parser and actuators on one robot of the file."""

    def __init__(self, file: Path, through_ours: bool = False) -> None:
        with quiet_warp(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            builder = newton.ModelBuilder()
            builder.add_usd(str(file))
            self.model = builder.finalize(device="cpu")
        self.state, self.control = self.model.state(), self.model.control()
        labels = [label.rpartition("/")[2] for label in self.model.joint_label]
        self.columns = [int(self.model.joint_qd_start.numpy()[labels.index(name)]) for name in NAMES]
        self.group = drive_newton_model(self.model) if through_ours else None
        self.states = [[one.state(), one.state()] for one in self.model.actuators]
        self.own = self.group.state() if self.group else None

    def efforts(self, q: Any, qd: Any, q_target: Any, qd_target: Any, feedforward: Any) -> np.ndarray:
        """Those of the joints, by name."""
        given = {"joint_target_q": q_target, "joint_target_qd": qd_target, "joint_act": feedforward}
        signals = ((self.state, {"joint_q": q, "joint_qd": qd}), (self.control, given))
        for source, arrays in signals:
            for name, values in arrays.items():
                getattr(source, name).numpy()[self.columns] = values
        self.control.joint_f.zero_()
        if self.group is not None:
            self.group.step(self.state, self.control, self.own, self.own, DT)
        else:
            for actuator, states in zip(self.model.actuators, self.states, strict=True):
                actuator.step(self.state, self.control, *states, dt=DT)
                states.reverse()
        return self.control.joint_f.numpy()[self.columns]


class Ours:
    """Our parser and actuators on one robot of the file; `faults` and warnings are those of a wrapper."""

    def __init__(self, file: Path) -> None:
        stage = Usd.Stage.Open(str(file))
        paths = [f"{ROOT}/joints/{name}" for name in NAMES]
        self.host = ArraysHost(NAMES, 1, path=ROOT, stage=stage, dof_paths=paths)
        with use_host(self.host), quiet_warp():
            self.host.play()
            self.wrapper = ArticulationActuators(ROOT)

    def efforts(self, q: Any, qd: Any, q_target: Any, qd_target: Any, feedforward: Any) -> np.ndarray:
        """Those of the joints, by name."""
        arrays = self.host.arrays()
        given = {"positions": q, "velocities": qd, "position_targets": q_target, "velocity_targets": qd_target}
        for name, values in given.items():
            getattr(arrays, name)[:] = values
        self.wrapper.set_dof_feedforward_effort_targets(np.atleast_2d(feedforward))
        self.host.step(DT)
        return arrays.efforts.copy()


def motion(steps: int = STEPS) -> np.ndarray:
    """Five signals of each step, of both joints, float32."""
    rng = np.random.default_rng(8)
    signals = rng.normal(size=(steps, 5, len(NAMES)))
    signals[:, 2] = signals[:, 0] + 0.5 * signals[:, 2]
    return signals.astype(np.float32)


def compare(file: Path, through_ours: bool = False) -> None:
    """Efforts agree, by what the largest is; a wrapper holds its own to be fine."""
    theirs, ours = Theirs(file, through_ours), Ours(file)
    found = np.array([(theirs.efforts(*signals), ours.efforts(*signals)) for signals in motion()])
    ours.wrapper.close()
    assert np.ptp(found[:, 0], axis=0).min() > 1.0, "they do something"
    scale = np.abs(found[:, 0]).max()
    assert np.abs(found[:, 0] - found[:, 1]).max() <= TOLERANCE * max(1.0, scale)


@pytest.mark.parametrize("through_ours", [False, True])
@pytest.mark.parametrize("motor", MOTORS)
def test_same_file_gives_the_same_efforts(motor: str, through_ours: bool, robots: Path, tmp_path: Path) -> None:
    """500 random steps; newton's model stepped by its own actuators, and by our plan of them."""
    compare(file_with(tmp_path, robots, MOTORS[motor]), through_ours)


@pytest.mark.parametrize("kind", NETWORKS)
def test_same_network_gives_the_same_efforts(kind: str, robots: Path, tmp_path: Path) -> None:
    """From one ONNX file beside the robot."""
    pytest.importorskip("warp_nn", reason="newton runs networks by warp-nn, which is not installed")
    (tmp_path / "net.onnx").write_bytes(onnx.write(network(kind), NETWORKS[kind]))
    compare(file_with(tmp_path, robots, (NeuralControlConfig("./net.onnx"), [MaxEffortClampingConfig(25.0)], None)))
