"""Drive a 7-joint arm from an action graph: open a graph, change it, and run it, with or without Isaac Sim.

./python.sh standalone_examples/drive_from_omnigraph.py [--engine mujoco|physx|newton] [--plot out.png]
"""

from world import INSIDE, Articulation, World, parse, run  # first import: starts Isaac Sim if it is installed

# isort: split
from pathlib import Path

import isaacsim.core.experimental.actuators as ea
import numpy as np
from isaacsim.core.experimental.actuators.tools.interrupts import until_interrupted
from isaacsim.core.experimental.actuators.tools.plots import style
from pxr import Usd

READY_MADE = Path(__file__).parents[1] / "data" / "graphs" / "pd_from_usd.usda"
FILE = Path("drive_from_omnigraph.usda")
ARM, JOINTS = "/World/Panda", [f"panda_joint{number}" for number in range(1, 8)]
TARGETS = [0.5, -0.1, -0.5, -1.6, 0.5, 1.9, 1.2]  # rad
FRAMES, TOLERANCE = 240, 0.01


# docs: begin change
def change() -> None:
    """Set new targets in the graph, add integral action against gravity, and save both to a new file."""
    # flattened to one layer, so that referenced prims can be replaced
    stage = Usd.Stage.Open(Usd.Stage.Open(str(READY_MADE)).Flatten())
    graph = stage.GetPrimAtPath("/World/ActionGraph")
    graph.GetChild("ArticulationController").GetAttribute("inputs:positionCommand").Set(TARGETS)
    for name, kp, limit in zip(JOINTS, [400.0] * 4 + [100.0] * 3, [87.0] * 4 + [12.0] * 3, strict=True):
        # the integral contributes at most a third of the limit
        pid = ea.PIDControlConfig(kp, ki=3 * kp, kd=kp / 10, integral_max=limit / 9 / kp)
        clamping = [ea.MaxEffortClampingConfig(limit)]
        ea.add_actuator(ARM, name, name, pid, clamping=clamping, overwrite_existing=True, stage=stage)
    stage.Export(str(FILE))
    # docs: end change


# docs: begin drive
def drive(sim: World) -> tuple[np.ndarray, np.ndarray]:
    """Return times [s] and joint positions [rad] after each frame; the graph drives the arm."""
    arm, times, positions = Articulation(ARM), [], []
    sim.play()
    for _ in until_interrupted(range(FRAMES)):
        sim.frame()
        times.append(sim.time)
        positions.append(arm.get_dof_positions(dof_indices=arm.get_dof_indices(JOINTS)).numpy()[0])
    return np.array(times), np.array(positions)
    # docs: end drive


def main() -> int:
    options = parse(__doc__, "drive_from_omnigraph.png")
    change()
    if INSIDE:
        # the frames of the running Kit
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
