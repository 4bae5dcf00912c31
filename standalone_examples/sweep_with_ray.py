"""Sweep stiffness, damping and strength of a pendulum's motor, with Ray on several processes or in one process.

./python.sh standalone_examples/sweep_with_ray.py [--workers 2] [--plot out.png]    # --workers 0 needs no Ray
"""

import argparse
import os
from pathlib import Path

import isaacsim.core.experimental.actuators as ea
import numpy as np
from isaacsim.core.experimental.actuators.base.extras import needs
from isaacsim.core.experimental.actuators.tools.interrupts import without_traceback
from isaacsim.core.experimental.actuators.tools.plots import style
from rich.console import Console
from rich.progress import track
from rich.table import Table

ROBOT, PENDULUM = Path(__file__).parents[1] / "data" / "robots" / "pendulum.usda", "/World/Pendulum"
TARGET, BAND, DT, STEPS, INERTIA, TOLERANCE = 0.5, 0.02, 1 / 240, 720, 0.26, 0.01  # [rad], -, [s], -, [kg·m²], -
COLUMNS = ["stiffness", "damping", "strength", "settled", "overshoot", "saturated"]
SETTINGS = np.stack(np.meshgrid(np.geomspace(4, 40, 12), np.geomspace(0.5, 5, 12), [4, 6, 9, 20]), -1).reshape(-1, 3)


# docs: begin simulate
def simulate(settings: np.ndarray) -> np.ndarray:
    """Return a row of `COLUMNS` per setting: time [s] to settle, overshoot, share of time at the limit."""
    (kp, kd, strength), seen = settings.T, []
    motors = {"hinge": [ea.PDControlConfig(kp, kd), ea.MaxEffortClampingConfig(strength)]}
    try:
        with ea.Simulation(ROBOT, DT, num_envs=len(settings)) as sim:
            robot, actuators = ea.Articulation(PENDULUM), ea.ArticulationActuators.from_configs(PENDULUM, motors)
            sim.play()
            robot.set_dof_position_targets(TARGET)
            for _ in range(STEPS):
                actuators.set_dof_feedforward_effort_targets(robot.get_dof_gravity_compensation_forces())
                sim.step()
                seen.append([robot.get_dof_positions().numpy()[:, 0], robot.get_dof_efforts().numpy()[:, 0]])
    except Exception as error:
        raise RuntimeError(f"{COLUMNS[:3]} from {settings.min(0)} to {settings.max(0)}: {error}") from error
    angles, efforts = np.array(seen).swapaxes(0, 1)
    outside, overshoot = abs(angles / TARGET - 1) > BAND, np.maximum(angles.max(0) / TARGET - 1, 0)
    settled = np.where(outside[-1], np.inf, DT * (STEPS - outside[::-1].argmax(0)))
    return np.column_stack([settings, settled, overshoot, (abs(efforts) > 0.999 * strength).mean(0)])
    # docs: end simulate


# docs: begin sweep
def sweep(parts: list[np.ndarray], workers: int) -> np.ndarray:
    """Return the rows of all parts, from worker processes or the cluster at RAY_ADDRESS; 0 is this process."""
    if workers == 0:
        return np.concatenate([simulate(part) for part in track(parts, "Sweeping")])
    with needs("A sweep without --workers 0", "ray", SystemExit):
        import ray
    with ray.init() if "RAY_ADDRESS" in os.environ else ray.init("local", num_cpus=workers):
        tasks = [ray.remote(simulate).remote(part) for part in parts]
        return np.concatenate([ray.get(task) for task in track(tasks, "Sweeping")])
    # docs: end sweep


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=2, help="number of processes; 0 runs without Ray")
    parser.add_argument("--plot", default="sweep_with_ray.png", help="path of the picture; all rows are in a .csv file")
    options = parser.parse_args()
    rows = np.array(sorted(sweep(np.array_split(SETTINGS, 12), options.workers), key=lambda row: tuple(row[3:])))
    np.savetxt(Path(options.plot).with_suffix(".csv"), rows, "%.17g", ",", header=",".join(COLUMNS), comments="")
    table = Table(*COLUMNS, title=f"The best 10 of {len(rows)} motors")
    for row in rows[:10]:
        table.add_row(*[f"{value:.3f}" for value in row])
    Console().print(table)
    grid, limits = rows[np.lexsort(rows[:, :3].T)].reshape(4, 12, 12, -1), ["4 N·m", "6 N·m", "9 N·m", "20 N·m"]
    drawn, (panel,) = style.panels(9, 5, "Stiffer motors settle sooner, and need more than 4 N·m from 12 N·m/rad on")
    panel.set(xlabel="stiffness [N·m/rad]", ylabel="settled after, at the best damping [s]")
    style.lines(panel, grid[0, 0, :, 0], np.nanmin(grid[..., 3], axis=1).T, limits)
    style.save(drawn, options.plot)
    kp, kd, _, _, overshoot, _ = rows[rows[:, 5] == 0].T
    off = abs(overshoot - np.exp(-np.pi / np.tan(np.arccos(np.minimum(kd / np.sqrt(4 * kp * INERTIA), 0.999))))).max()
    print(f"{'ok' if off < TOLERANCE else 'FAILED'}: overshoot within {off:.4f} of the closed form; see {options.plot}")
    return int(off >= TOLERANCE)


if __name__ == "__main__":
    without_traceback()
    raise SystemExit(main())
