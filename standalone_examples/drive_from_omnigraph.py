"""Drive a 7-joint arm from an action graph: write the graph into the robot's USD file, and play it inside Kit.

./python.sh standalone_examples/drive_from_omnigraph.py [--plot out.png], inside Kit: --exec with this file
"""

import argparse
import sys
from pathlib import Path

import matplotlib.pyplot as plt
from pxr import Gf, Sdf, Usd

ROBOT, FILE = Path(__file__).parents[1] / "data" / "robots" / "franka_panda.usda", Path("drive_from_omnigraph.usda")

# docs: begin graph
GRAPH = Sdf.Path("/World/ActionGraph")
TICK, PATH = GRAPH.AppendPath("OnPlaybackTick.outputs:tick"), GRAPH.AppendPath("RobotPath.inputs:value")
SETTINGS = {"evaluator:type": "execution", "evaluationMode": "Automatic", "fabricCacheBacking": "Shared"}
WIRED = {"inputs:execIn": ("uint", TICK), "inputs:robotPath": ("string", PATH)}
TARGETS = {
    "inputs:jointNames": ("token[]", [f"panda_joint{i}" for i in range(1, 8)]),
    "inputs:positionCommand": ("double[]", [0.6, 0.2, -0.6, -1.4, 0.6, 2.2, 1.4]),  # rad
}
# type, version, and ports with their USD type and value; an execution is a uint, a path as value is a wire from there
NODES = {
    "OnPlaybackTick": ("omni.graph.action.OnPlaybackTick", 2, {"outputs:tick": ("uint", None)}),
    "RobotPath": ("omni.graph.nodes.ConstantString", 1, {"inputs:value": ("string", "/World/Panda")}),
    "ArticulationActuators": ("isaacsim.core.experimental.actuators.ArticulationActuators", 1, WIRED),
    "ArticulationController": ("isaacsim.core.nodes.IsaacArticulationController", 1, WIRED | TARGETS),
}


def build(stage: Usd.Stage) -> list[Usd.Prim]:
    """Add the graph and return its nodes: each tick pulses the arm's actuators and sets the targets they pull to."""
    graph = stage.DefinePrim(GRAPH, "OmniGraph")
    for name, value in SETTINGS.items():
        graph.CreateAttribute(name, Sdf.ValueTypeNames.Token, custom=False).Set(value)
    graph.CreateAttribute("fileFormatVersion", Sdf.ValueTypeNames.Int2, custom=False).Set(Gf.Vec2i(1, 9))
    for node, (node_type, version, ports) in NODES.items():
        prim = stage.DefinePrim(GRAPH.AppendChild(node), "OmniGraphNode")
        facts = {"node:type": ("token", node_type), "node:typeVersion": ("int", version)}
        for name, (kind, value) in {**facts, **ports}.items():
            attribute = prim.CreateAttribute(name, Sdf.ValueTypeNames.Find(kind), custom=not name.startswith("node:"))
            if kind == "uint":
                attribute.SetCustomDataByKey("isExecution", True)
            if isinstance(value, Sdf.Path):
                attribute.AddConnection(value)
            elif value is not None:
                attribute.Set(value)
    return graph.GetChildren()
    # docs: end graph


def play() -> None:
    """Open the file in the Kit that this runs in, and press Play: its OmniGraph runs the graph."""
    from omni import timeline, usd

    usd.get_context().open_stage(str(FILE.resolve()))
    timeline.get_timeline_interface().play()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plot", default="drive_from_omnigraph.png", help="where the picture goes")
    stage = Usd.Stage.Open(str(ROBOT))
    nodes = build(stage)
    stage.Export(str(FILE))
    wires = [f"{c} → {a.GetPath()}" for n in nodes for a in n.GetAttributes() for c in a.GetConnections()]
    plt.figure(figsize=(8, 2)).text(0.5, 0.5, "\n".join(wires), linespacing=2, ha="center", va="center")
    plt.savefig(parser.parse_known_args()[0].plot)
    print(f"ok: {FILE} holds the arm and a graph of {len(nodes)} nodes and {len(wires)} wires")
    if "omni.kit.app" in sys.modules:
        play()
    else:
        print("Run this in Isaac Sim to play it. What runs graphs outside Kit comes in the next version.")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
