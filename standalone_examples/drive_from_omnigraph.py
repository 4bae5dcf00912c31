"""Drive a 7-joint arm from an action graph: open a ready-made one, change it, run it, in Kit or without.

./python.sh standalone_examples/drive_from_omnigraph.py [--plot out.png], inside Kit: --exec with this file
"""

import argparse
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from pxr import Sdf, Usd

READY_MADE = Path(__file__).parents[1] / "data" / "graphs" / "pd_from_usd.usda"
FILE = Path("drive_from_omnigraph.usda")
TARGETS = [0.5, -0.1, -0.5, -1.6, 0.5, 1.9, 1.2]  # rad
HOLDING = [0.0, -19.155, 1.153, 18.329, 0.493, 1.542, -0.049]  # N·m: what gravity asks for at the targets
STEPS, TOLERANCE = 720, 0.01


# docs: begin change
def change() -> None:
    """Give the graph other targets, and what holds the arm there against gravity, and save it to a file of its own."""
    stage = Usd.Stage.Open(str(READY_MADE))
    graph = stage.GetPrimAtPath("/World/ActionGraph")
    graph.GetChild("ArticulationController").GetAttribute("inputs:positionCommand").Set(TARGETS)
    actuators = graph.GetChild("ArticulationActuators")
    actuators.CreateAttribute("inputs:feedforwardCommand", Sdf.ValueTypeNames.FloatArray).Set(HOLDING)
    stage.Export(str(FILE))
    # docs: end change


# docs: begin run
def run() -> tuple[np.ndarray, list[str]]:
    """Return the joint positions [rad] over time, and what failed in the graph; outside Kit."""
    from isaacsim.core.experimental.actuators import Articulation, Simulation
    from isaacsim.core.experimental.actuators.graphs import GraphRunner

    with Simulation(FILE) as sim, GraphRunner(sim) as runner:
        arm, positions = Articulation("/World/Panda"), []
        sim.play()
        for _ in range(STEPS):
            runner.run()
            positions.append(arm.get_dof_positions().numpy()[0])
        return np.array(positions), runner.errors
    # docs: end run


def play() -> None:
    """Open the file in the Kit that this runs in, and press Play: its own OmniGraph runs the graph."""
    from omni import timeline, usd

    usd.get_context().open_stage(str(FILE.resolve()))
    timeline.get_timeline_interface().play()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plot", default="drive_from_omnigraph.png", help="where the picture goes")
    change()
    if "omni.kit.app" in sys.modules:
        play()
        return 0
    positions, failed = run()
    plt.plot(np.arange(STEPS) / 240, positions - TARGETS, label=[f"joint {i}" for i in range(1, 8)])
    plt.legend()
    plt.gca().set(xlabel="time [s]", ylabel="position - target [rad]", title="Each joint reaches its target")
    plt.savefig(picture := parser.parse_args().plot)
    reached = not failed and bool((np.abs(positions[-1] - TARGETS) < TOLERANCE).all())
    print(f"{'ok' if reached else 'FAILED'}: errors below {TOLERANCE} rad, no node failed; see {picture}", *failed)
    return 0 if reached else 1


if __name__ == "__main__":
    raise SystemExit(main())
