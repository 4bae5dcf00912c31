"""Drive a 7-joint arm by the actuators in its own USD file: author, save, reopen, drive.

./python.sh standalone_examples/drive_from_usd.py [--plot out.png]
"""

import argparse
import tempfile
from pathlib import Path

import isaacsim.core.experimental.actuators as ea
import matplotlib.pyplot as plt
import numpy as np
from pxr import Usd
from rich.console import Console
from rich.table import Table

ROBOT = Path(__file__).parents[1] / "data" / "robots" / "franka_panda.usda"
ARM = "/World/Panda"
# half a radian or more away from the pose in the file, on every joint
TARGETS = np.array([0.6, 0.2, -0.6, -1.4, 0.6, 2.2, 1.4])
STEPS, TOLERANCE = 720, 0.01


# docs: begin author
def author(path: Path) -> None:
    """Give the wrist stiffer actuators with a delayed command, and save the robot to a file of its own."""
    stage = Usd.Stage.Open(str(ROBOT))
    pd, limit, delay = ea.PDControlConfig(kp=120.0, kd=12.0), [ea.MaxEffortClampingConfig(12.0)], ea.DelayConfig(3)
    for name in ("panda_joint5", "panda_joint6", "panda_joint7"):
        ea.add_actuator(ARM, name, name, pd, clamping=limit, delay=delay, overwrite_existing=True, stage=stage)
    stage.Export(str(path))
    # docs: end author


# docs: begin drive
def drive(path: Path) -> tuple[list[str], np.ndarray, np.ndarray, np.ndarray]:
    """Return joint names, positions [rad] and efforts [N·m] over time, and effort limits [N·m]."""
    positions, efforts = [], []
    with ea.Simulation(path) as sim:
        arm, actuators = ea.Articulation(ARM), ea.ArticulationActuators(ARM)
        sim.play()
        sim.bus.on_pre_step(lambda dt, context: efforts.append(arm.get_dof_efforts().numpy()[0]), order=1)
        arm.set_dof_position_targets(TARGETS)
        for _ in range(STEPS):
            # what holds the arm against gravity; the PD law adds what moves it
            actuators.set_dof_feedforward_effort_targets(arm.get_dof_gravity_compensation_forces())
            sim.step()
            positions.append(arm.get_dof_positions().numpy()[0])
        limits = np.array([actuator.clamping[0].max_effort.numpy()[0] for actuator in actuators.actuators])
        return arm.dof_names, np.array(positions), np.array(efforts), limits
    # docs: end drive


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plot", default="drive_from_usd.png", help="where the picture goes")
    picture = parser.parse_args().plot
    with tempfile.TemporaryDirectory() as folder:
        author(Path(folder) / "arm.usda")
        names, positions, efforts, limits = drive(Path(folder) / "arm.usda")
    errors, peaks = np.abs(positions[-1] - TARGETS), np.abs(efforts).max(axis=0)

    table = Table(
        "joint", "target \\[rad]", "error \\[rad]", "peak effort [N·m]", "limit [N·m]", title="Panda after 3 s"
    )
    for row in zip(names, TARGETS, errors, peaks, limits, strict=True):
        table.add_row(row[0], f"{row[1]:.2f}", f"{row[2]:.5f}", f"{row[3]:.1f}", f"{row[4]:.0f}")
    Console().print(table)
    figure, (top, bottom) = plt.subplots(2, 1, sharex=True, figsize=(9, 6), layout="constrained")
    time = np.arange(STEPS) / 240
    top.plot(time, positions - TARGETS, label=names)
    top.set(ylabel="position - target [rad]", title="Each joint reaches its target …")
    top.legend(ncols=4, fontsize="small")
    bottom.plot(time, efforts / limits)
    bottom.set(xlabel="time [s]", ylabel="effort / limit", title="… and no effort exceeds its limit")
    figure.savefig(picture, dpi=120)
    reached = bool((errors < TOLERANCE).all() and (peaks <= limits).all())
    print(f"{'ok' if reached else 'FAILED'}: errors below {TOLERANCE} rad, efforts within limits; see {picture}")
    return 0 if reached else 1


if __name__ == "__main__":
    raise SystemExit(main())
