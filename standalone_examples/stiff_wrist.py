"""Stiff wrist: the same gains explicit and implicit, and what an encoder that is 12 ms late leaves of them.

./python.sh standalone_examples/stiff_wrist.py [--plot out.png]
"""

import argparse
import tempfile
from pathlib import Path

import isaacsim.core.experimental.actuators as ea
import numpy as np
from isaacsim.core.experimental.actuators.tools.interrupts import without_traceback
from isaacsim.core.experimental.actuators.tools.plots import style

# a hand of 150 g on a forearm, which carries 0.5 kg at 8 cm
WRIST = """<mujoco model="wrist"><worldbody><body name="forearm" pos="0 0 1"><geom type="capsule" fromto="-.2 0 0 0 0 0"
size=".03" contype="0"/><body name="hand"><joint name="pitch" axis="0 1 0" armature="5e-4"/><geom type="box" mass=".15"
size=".03 .03 .02" pos=".03 0 0" contype="0"/><geom name="load" type="sphere" mass=".5" size=".02" pos=".08 0 0"
contype="0"/></body></body></worldbody></mujoco>"""
DT, SECONDS, TURN, LIMIT = 0.005, 1.0, 0.3, 4.0  # step [s], duration [s], target [rad], effort limit [N·m]
# docs: begin stiff
STIFF, SOFT = ea.PDControlConfig(kp=200.0, kd=4.0), ea.PDControlConfig(kp=2.6, kd=0.16)
WAYS = {
    "stiff, explicit": [STIFF],
    "stiff, implicit": [STIFF, ea.ImplicitConfig()],
    "soft, encoder 12 ms late": [SOFT, ea.ImplicitConfig(), ea.EncoderConfig(latency=0.012)],
}


def move(file: Path, stages: list[object]) -> tuple[ea.Stability, np.ndarray, np.ndarray]:
    """Return the stability before the motion, and position [rad] and velocity [rad/s] over time."""
    with ea.Simulation(file, DT) as sim:
        sim.play()
        limit = ea.MaxEffortClampingConfig(LIMIT)
        actuators = ea.ArticulationActuators.from_configs("/forearm", {"pitch": [*stages, limit]})
        told = actuators.stability()
        ea.Articulation("/forearm").set_dof_position_targets(TURN)
        with actuators.record() as log:
            sim.step(round(SECONDS / DT))
    return told, log.positions[:, 0, 0], log.velocities[:, 0, 0]
    # docs: end stiff


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plot", default="stiff_wrist.png", help="path of the picture")
    picture, last = parser.parse_args().plot, round(0.2 / DT)
    with tempfile.TemporaryDirectory() as folder:
        (file := Path(folder) / "wrist.xml").write_text(WRIST)
        tables, angles, speeds = zip(*(move(file, stages) for stages in WAYS.values()), strict=True)
    for name, table in zip(WAYS, tables, strict=True):
        print(f"{name}: {table}\n")
    margins = [f"{table.robots[0].margin:.2g}".replace("inf", "∞") for table in tables]
    labels = [f"{name}: margin {margin}" for name, margin in zip(WAYS, margins, strict=True)]
    time, colors = DT * np.arange(1, len(angles[0]) + 1), (style.RED, style.BLUE, style.GREEN)
    drawn, (top, bottom) = style.panels(11, 7, "A light wrist that carries 0.5 kg, at 200 Hz", rows=2)
    top.set(ylabel="angle [rad]")
    bottom.set(xlabel="time [s]", ylabel="speed [rad/s]")
    style.mark(top, "target", y=TURN)
    style.lines(top, time, np.transpose(angles), labels, colors)
    style.lines(bottom, time, np.transpose(speeds), list(WAYS), colors)
    style.save(drawn, picture)
    moving = np.abs(speeds)[:, -last:].max(axis=1)
    errors = np.abs(np.array(angles)[:, -1] - TURN)
    print("largest speed in the last 0.2 s [rad/s]:", dict(zip(WAYS, moving.round(4).tolist(), strict=True)))
    print("distance from the target at the end [mrad]:", dict(zip(WAYS, (1e3 * errors).round(1).tolist(), strict=True)))
    good = [table.stable for table in tables] == [False, True, True]
    good &= moving[0] > 1.0 > 0.02 > moving[1:].max() and errors[1] < 0.003
    print(f"{'ok' if good else 'FAILED'}: stiff gains are at rest where they are implicit; see {picture}")
    return 0 if good else 1


if __name__ == "__main__":
    without_traceback()
    raise SystemExit(main())
