"""Train an actuator network on a log, and compare it with the true actuator on a quadruped.

./python.sh -m pip install --editable ".[train]"
./python.sh standalone_examples/learned_actuator.py [--kind mlp|lstm|gru] [--quick] [--plot out.png]
"""

import argparse
from pathlib import Path

import isaacsim.core.experimental.actuators as ea
import numpy as np
import warp as wp
from bench import DT, KD, KP, known_actuator, record, rms
from bench.quadruped import ROBOT, author, drive
from isaacsim.core.experimental.actuators.base.extras import needs
from isaacsim.core.experimental.actuators.tools.interrupts import without_traceback
from isaacsim.core.experimental.actuators.tools.plots import style
from isaacsim.core.experimental.actuators.tools.training import train_actuator
from rich.console import Console
from rich.table import Table

# largest effort error relative to RMS, on the test log and on the robot; largest position error on the robot [rad]
FOLDER, TOLERANCE, QUICK_TOLERANCE, APART = Path("learned_actuator"), 0.05, 0.10, 0.01


def draw(path: str, driven: dict[str, tuple[list[str], np.ndarray, np.ndarray]]) -> None:
    knee = driven["true"][0].index("LF_KFE")
    q, efforts = (np.stack([one[which][:, knee] for one in driven.values()], axis=1) for which in (1, 2))
    time = DT * np.arange(len(q))
    drawn, panels = style.panels(10, 8, "Knee of a quadruped: its actuator and two models of it", rows=3)
    style.lines(panels[0], time, efforts[:, :1], colors=[style.GREY], **style.BROAD)
    style.key(panels[0], {"true actuator": style.BROAD})
    for panel, values in zip(panels, (efforts, efforts - efforts[:, :1], 1000 * (q - q[:, :1])), strict=True):
        style.lines(panel, time, values[:, 1:], list(driven)[1:], [style.RED, style.BLUE])
    panels[0].set(ylabel="effort [N·m]")
    panels[1].set(ylabel="effort error [N·m]")
    panels[2].set(ylabel="position error [mrad]", xlabel="time [s]")
    style.save(drawn, path)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kind", default="mlp", choices=["mlp", "lstm", "gru"], help="kind of network")
    parser.add_argument("--quick", action="store_true", help="shorter logs and fewer epochs: less accurate")
    parser.add_argument("--plot", default="learned_actuator.png", help="path of the picture")
    options = parser.parse_args()
    network = FOLDER / "actuator.safetensors"
    seconds, epochs, tolerance = (8.0, 40, QUICK_TOLERANCE) if options.quick else (20.0, 100, TOLERANCE)
    with needs("This example", "train", SystemExit):
        import torch  # noqa: F401
    # docs: begin train
    log, other = record(seed=1, seconds=seconds), record(seed=2, seconds=seconds)
    trained = train_actuator(log, options.kind, epochs=epochs)
    trained.report(FOLDER, test=other)
    trained.save(network)
    # docs: end train
    table = Table(
        "on", "position error \\[rad]", "effort error \\[N·m]", "of effort RMS", title="RMS error of the models"
    )
    for name, errors in {**trained.errors, "test log": trained.errors_on(other)}.items():
        table.add_row(name, "", f"{errors.rms:.2f}", f"{errors.relative:.2%}")
    gains = [wp.full(1, gain, dtype=wp.float32, device="cpu") for gain in (KP, KD)]
    driven = {
        "true": drive(ROBOT, known_actuator(1)),
        "PD alone": drive(ROBOT, ea.ActuatorConfig(ea.ControllerPD(*gains))),
    }
    driven["learned"] = drive(author(network))
    _, positions, efforts = driven["true"]
    for name, where in (("learned", "quadruped"), ("PD alone", "quadruped, PD")):
        off, effort_off = rms(driven[name][1] - positions), rms(driven[name][2] - efforts)
        table.add_row(where, f"{off:.4f}", f"{effort_off:.2f}", f"{effort_off / rms(efforts):.2%}")
    Console().print(table)
    draw(options.plot, driven)
    off, effort_off = rms(driven["learned"][1] - positions), rms(driven["learned"][2] - efforts) / rms(efforts)
    good = max(trained.errors_on(other).relative, effort_off) < tolerance and off < APART
    told = f"efforts within {tolerance:.0%} of their RMS, positions within {APART} rad"
    print(f"{'ok' if good else 'FAILED'}: {told}; see {options.plot} and {FOLDER}/training.png")
    return 0 if good else 1


if __name__ == "__main__":
    without_traceback()
    raise SystemExit(main())
