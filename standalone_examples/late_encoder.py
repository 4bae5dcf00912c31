"""Late encoder: the same arm with perfect feedback, and with an encoder of 12 bits that is 8 ms late.

./python.sh standalone_examples/late_encoder.py [--plot out.png]
"""

import argparse
from pathlib import Path

import isaacsim.core.experimental.actuators as ea
import numpy as np
from isaacsim.core.experimental.actuators.tools.interrupts import without_traceback
from isaacsim.core.experimental.actuators.tools.plots import style

ROBOT, ARM, LIFT = Path(__file__).parents[1] / "data" / "robots" / "so101.usda", "/World/SO101", 1
DT, SECONDS, TURN = 0.002, 1.0, 0.2  # step [s], duration [s], by how much all targets jump [rad]
# docs: begin late
STIFF, SOFT = ea.PDControlConfig(kp=400.0, kd=5.2), ea.PDControlConfig(kp=17.8, kd=0.6)
ENCODER = ea.EncoderConfig.from_bits(12, latency=0.008)
WAYS = {
    "stiff, perfect feedback": [STIFF],
    "stiff, 12 bits and 8 ms": [STIFF, ENCODER],
    "soft, 12 bits and 8 ms": [SOFT, ENCODER],
}


def move(stages: list[object]) -> tuple[ea.Stability, np.ndarray, np.ndarray]:
    """Return the stability before the motion, and positions [rad] and velocities [rad/s] of all joints over time."""
    with ea.Simulation(ROBOT, DT) as sim:
        arm, limit = ea.Articulation(ARM), ea.MaxEffortClampingConfig(3.0)
        actuators = ea.ArticulationActuators.from_configs(ARM, {".*": [*stages, limit]})
        sim.play()
        told = actuators.stability()
        arm.set_dof_position_targets(arm.get_dof_positions().numpy() + TURN)
        with actuators.record() as log:
            sim.step(round(SECONDS / DT))
    return told, log.positions[:, 0], log.velocities[:, 0]
    # docs: end late


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plot", default="late_encoder.png", help="path of the picture")
    picture, last = parser.parse_args().plot, round(0.3 / DT)
    tables, positions, velocities = zip(*map(move, WAYS.values()), strict=True)
    for name, table in zip(WAYS, tables, strict=True):
        print(f"{name}: {table}\n")
    labels = [f"{name}: margin {table.robots[0].margin:.2g}" for name, table in zip(WAYS, tables, strict=True)]
    time, colors = DT * np.arange(1, len(positions[0]) + 1), (style.BLUE, style.RED, style.GREEN)
    angles, speeds = (np.array(one)[:, :, LIFT].T for one in (positions, velocities))
    drawn, (top, bottom) = style.panels(11, 7, "One arm: perfect feedback, and feedback that is 8 ms late", rows=2)
    top.set(ylabel="angle of the shoulder lift [rad]")
    bottom.set(xlabel="time [s]", ylabel="its speed [rad/s]")
    style.lines(top, time, angles, labels, colors)
    style.lines(bottom, time, speeds, list(WAYS), colors)
    style.save(drawn, picture)
    moving = np.sqrt((np.array(velocities)[:, -last:] ** 2).mean(axis=(1, 2)))
    print("rms velocity in the last 0.3 s [rad/s]:", dict(zip(WAYS, moving.round(4).tolist(), strict=True)))
    good = [table.stable for table in tables] == [True, False, True] and moving[1] > 0.5 > 0.02 > moving[[0, 2]].max()
    print(f"{'ok' if good else 'FAILED'}: the table tells which arm vibrates; see {picture}")
    return 0 if good else 1


if __name__ == "__main__":
    without_traceback()
    raise SystemExit(main())
