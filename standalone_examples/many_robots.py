"""Move 1024 arms to 1024 random poses at once, and measure the speed.

./python.sh standalone_examples/many_robots.py [--robots 1024] [--plot out.png]
"""

import argparse
import time
from pathlib import Path

import isaacsim.core.experimental.actuators as ea
import numpy as np
from isaacsim.core.experimental.actuators.tools.interrupts import until_interrupted, without_traceback
from isaacsim.core.experimental.actuators.tools.plots import style
from rich.console import Console
from rich.table import Table

ROBOT = Path(__file__).parents[1] / "data" / "robots" / "franka_panda.usda"
ARM = "/World/Panda"
STEPS, REACH, TOLERANCE = 360, 0.6, 0.01


def drive(robots: int) -> tuple[list[str], np.ndarray, float]:
    """Return joint names, errors [rad] of shape (steps, robots, joints), and the wall time of the steps [s]."""
    random = np.random.default_rng(7)
    errors = []
    with ea.Simulation(ROBOT, num_envs=robots) as sim:
        # one articulation, one wrapper: robots are rows
        arms, actuators = ea.Articulation(ARM), ea.ArticulationActuators(ARM)
        sim.play()
        start = arms.get_dof_positions().numpy()
        targets = start + random.uniform(-REACH, REACH, start.shape)
        arms.set_dof_position_targets(targets)
        begin = time.perf_counter()
        for _ in until_interrupted(range(STEPS)):
            # feedforward carries the weight of the arms; the PD law moves them
            actuators.set_dof_feedforward_effort_targets(arms.get_dof_gravity_compensation_forces())
            sim.step()
            errors.append(np.abs(arms.get_dof_positions().numpy() - targets))
        return arms.dof_names, np.array(errors), time.perf_counter() - begin


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--robots", type=int, default=1024, help="number of arms")
    parser.add_argument("--plot", default="many_robots.png", help="path of the picture")
    options = parser.parse_args()
    robots, picture = options.robots, options.plot
    names, errors, wall = drive(robots)

    table = Table(
        "joint", "median error \\[mrad]", "worst error \\[mrad]", title=f"{robots} arms after {len(errors) / 240:g} s"
    )
    for name, of_joint in zip(names, errors[-1].T, strict=True):
        table.add_row(name, f"{1e3 * np.median(of_joint):.4f}", f"{1e3 * of_joint.max():.4f}")
    Console().print(table)
    rate = len(errors) / wall
    print(f"{rate:,.0f} steps/s, {robots * rate:,.0f} robot-steps/s: physics, gravity and actuators")

    drawn, (panel,) = style.panels(9, 5, f"{robots} Panda arms moving to random poses")
    panel.set(yscale="log", xlabel="time [s]", ylabel="error of the worst joint [rad]")
    style.bands(panel, (np.arange(len(errors)) + 1) / 240, errors.max(axis=2), "robots")
    style.mark(panel, "tolerance", y=TOLERANCE)
    style.save(drawn, picture)
    reached = bool((errors[-1] < TOLERANCE).all())
    print(f"{'ok' if reached else 'FAILED'}: all {errors[-1].size} joints within {TOLERANCE} rad; see {picture}")
    return 0 if reached else 1


if __name__ == "__main__":
    without_traceback()
    raise SystemExit(main())
