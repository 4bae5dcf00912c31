"""Drive a 7-joint arm from an action graph: open a ready-made one, change it, run it, in Isaac Sim or without.

./python.sh standalone_examples/drive_from_omnigraph.py [--engine mujoco|physx|newton] [--plot out.png]
"""

from world import INSIDE, Articulation, World, parse, run  # first of all: starts Isaac Sim, where there is one

# isort: split
from pathlib import Path

import isaacsim.core.experimental.actuators as ea
import numpy as np
from isaacsim.core.experimental.actuators.plots import style
from pxr import Usd

READY_MADE = Path(__file__).parents[1] / "data" / "graphs" / "pd_from_usd.usda"
FILE = Path("drive_from_omnigraph.usda")
ARM, JOINTS = "/World/Panda", [f"panda_joint{number}" for number in range(1, 8)]
TARGETS = [0.5, -0.1, -0.5, -1.6, 0.5, 1.9, 1.2]  # rad
FRAMES, TOLERANCE = 240, 0.01


# docs: begin change
def change() -> None:
    """Give the graph other targets and the arm integral action against gravity; save both to a file of its own."""
    # in one layer: what the file only refers to can be replaced then
    stage = Usd.Stage.Open(Usd.Stage.Open(str(READY_MADE)).Flatten())
    graph = stage.GetPrimAtPath("/World/ActionGraph")
    graph.GetChild("ArticulationController").GetAttribute("inputs:positionCommand").Set(TARGETS)
    for name, kp, limit in zip(JOINTS, [400.0] * 4 + [100.0] * 3, [87.0] * 4 + [12.0] * 3, strict=True):
        # the integral never asks for more than a third of the limit
        pid = ea.PIDControlConfig(kp, ki=3 * kp, kd=kp / 10, integral_max=limit / 9 / kp)
        clamping = [ea.MaxEffortClampingConfig(limit)]
        ea.add_actuator(ARM, name, name, pid, clamping=clamping, overwrite_existing=True, stage=stage)
    stage.Export(str(FILE))
    # docs: end change


# docs: begin drive
def drive(sim: World) -> tuple[np.ndarray, np.ndarray]:
    """Return times [s] and the joints' positions [rad] after each frame; the graph does the rest."""
    arm, times, positions = Articulation(ARM), [], []
    sim.play()
    for _ in range(FRAMES):
        sim.frame()
        times.append(sim.time)
        positions.append(arm.get_dof_positions(dof_indices=arm.get_dof_indices(JOINTS)).numpy()[0])
    return np.array(times), np.array(positions)
    # docs: end drive


def main() -> int:
    options = parse(__doc__, "drive_from_omnigraph.png")
    change()
    if INSIDE:
        # the frames are those of the Kit that this runs in
        World(FILE, engine=options.engine).play()
        return 0
    with World(FILE, engine=options.engine) as sim:
        times, positions = drive(sim)
        failed = sim.graph_errors()
    errors, shown = positions - TARGETS, style.until_rest(times, positions)
    drawn, (panel,) = style.panels(9, 5, "Each joint reaches its target")
    panel.set(xlabel="time [s]", ylabel="position - target [rad]")
    style.lines(panel, times[shown], errors[shown], JOINTS)
    style.save(drawn, options.plot)
    reached = not failed and bool((np.abs(positions[-1] - TARGETS) < TOLERANCE).all())
    print(f"{'ok' if reached else 'FAILED'}: errors below {TOLERANCE} rad, no node failed; see {options.plot}", *failed)
    return 0 if reached else 1


if __name__ == "__main__":
    run(main)
