"""Write the graph files of `data/graphs`.

    ./python.sh tools/write_graphs.py [OUTDIR]      # default: data/graphs

Each file references a robot of `../robots` and adds an action graph as Kit would save it. The output is reproducible
for one version of USD.
"""

# the type stubs of USD do not know the lookup of a type by name
# pyright: reportCallIssue=false

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pxr import Gf, Sdf, Usd, UsdGeom

FOLDER = Path(__file__).resolve().parents[1] / "data" / "graphs"
GRAPH = Sdf.Path("/World/ActionGraph")
ORIGIN_NOTE = "Written by tools/write_graphs.py; change that, not this file."
ON_DEMAND = "pipelineStageOnDemand"
CONTROLLER = "isaacsim.core.nodes.IsaacArticulationController"
ACTUATORS = "isaacsim.core.experimental.actuators.ArticulationActuators"

# one node: type, version, and ports by full name with their USD type and value; a value that is a Sdf.Path is a
# connection from there, an execution is written as its USD type, "uint"
Node = tuple[str, int, dict[str, tuple[str, Any]]]


def at(attribute: str) -> Sdf.Path:
    """Return the path of a node's attribute, `Node.outputs:port`."""
    return GRAPH.AppendPath(attribute)


def robot_at(path: str) -> Node:
    """Return the robot's path, for several nodes."""
    return "omni.graph.nodes.ConstantString", 1, {"inputs:value": ("string", path)}


def number(value: float) -> Node:
    """Return a constant in single precision."""
    return "omni.graph.nodes.ConstantFloat", 1, {"inputs:value": ("float", value)}


PULSED = {"inputs:execIn": ("uint", at("OnPlaybackTick.outputs:tick"))}
ROBOT = {"inputs:robotPath": ("string", at("RobotPath.inputs:value"))}
TICK: Node = (
    "omni.graph.action.OnPlaybackTick",
    2,
    {
        "outputs:tick": ("uint", None),
        **{f"outputs:{name}": ("double", None) for name in ("deltaSeconds", "frame", "time")},
    },
)
STEP: Node = (
    "isaacsim.core.nodes.OnPhysicsStep",
    1,
    {
        "outputs:step": ("uint", None),
        **{f"outputs:{name}": ("double", None) for name in ("deltaSimulationTime", "deltaSystemTime")},
    },
)

# by file: description, robot, pipeline stage of the graph, and nodes
GRAPHS: dict[str, tuple[str, str, str, dict[str, Node]]] = {
    "pd_from_usd": (
        "Each frame sets the targets of an arm; the PD actuators in its file pull it there before every physics step.",
        "franka_panda",
        "pipelineStageSimulation",
        {
            "OnPlaybackTick": TICK,
            "RobotPath": robot_at("/World/Panda"),
            "ArticulationActuators": (ACTUATORS, 1, PULSED | ROBOT),
            "ArticulationController": (
                CONTROLLER,
                1,
                {
                    **PULSED,
                    **ROBOT,
                    "inputs:jointNames": ("token[]", [f"panda_joint{joint}" for joint in range(1, 8)]),
                    # rad
                    "inputs:positionCommand": ("double[]", [0.6, 0.2, -0.6, -1.4, 0.6, 2.2, 1.4]),
                },
            ),
        },
    ),
    "manual_stepping": (
        "Each physics step sets a pendulum's target and steps its actuators by hand, with the duration of the step.",
        "pendulum",
        ON_DEMAND,
        {
            "OnPhysicsStep": STEP,
            "RobotPath": robot_at("/World/Pendulum"),
            # targets first, so that the actuators of the same step use them
            "InOrder": (
                "omni.graph.action.Sequence",
                1,
                {
                    "inputs:execIn": ("uint", at("OnPhysicsStep.outputs:step")),
                    "outputs:a": ("uint", None),
                    "outputs:b": ("uint", None),
                },
            ),
            "ArticulationController": (
                CONTROLLER,
                1,
                {
                    "inputs:execIn": ("uint", at("InOrder.outputs:a")),
                    **ROBOT,
                    # rad
                    "inputs:positionCommand": ("double[]", [0.5]),
                },
            ),
            "ArticulationActuators": (
                ACTUATORS,
                1,
                {
                    "inputs:execIn": ("uint", at("InOrder.outputs:b")),
                    **ROBOT,
                    "inputs:autoStepPrePhysics": ("bool", False),
                    "inputs:stepDt": ("double", at("OnPhysicsStep.outputs:deltaSimulationTime")),
                },
            ),
        },
    ),
    "feedforward": (
        "Constants as feedforward: what holds a two-joint arm level against gravity, so that the PD law need not.",
        "arm_2dof",
        "pipelineStageSimulation",
        {
            "OnPlaybackTick": TICK,
            "RobotPath": robot_at("/World/Arm"),
            # N·m and N
            "Shoulder": number(-8.829),
            "Extension": number(0.0),
            "Efforts": (
                "omni.graph.nodes.ConstructArray",
                1,
                {
                    "inputs:arraySize": ("int", 2),
                    "inputs:arrayType": ("token", "float[]"),
                    "inputs:input0": ("token", at("Shoulder.inputs:value")),
                    "inputs:input1": ("token", at("Extension.inputs:value")),
                    "outputs:array": ("token", None),
                },
            ),
            "ArticulationActuators": (
                ACTUATORS,
                1,
                {**PULSED, **ROBOT, "inputs:feedforwardCommand": ("float[]", at("Efforts.outputs:array"))},
            ),
        },
    ),
}


def write_graphs(folder: Path) -> Iterator[Path]:
    """Write every graph into `folder`, and return the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, (documentation, robot, pipeline_stage, nodes) in GRAPHS.items():
        layer = Sdf.Layer.CreateAnonymous(".usda")
        stage = Usd.Stage.Open(layer)
        layer.documentation = f"{documentation}\n{ORIGIN_NOTE}"
        UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z)
        UsdGeom.SetStageMetersPerUnit(stage, 1.0)
        stage.SetDefaultPrim(stage.DefinePrim("/World", "Xform"))
        author_graph(stage, pipeline_stage, nodes)
        # the reference resolves at the location of the file, not on this stage
        del stage
        Sdf.CreatePrimInLayer(layer, "/World").referenceList.Prepend(Sdf.Reference(f"../robots/{robot}.usda"))
        layer.Export(str(folder / f"{name}.usda"))
        yield folder / f"{name}.usda"


def author_graph(stage: Usd.Stage, pipeline_stage: str, nodes: dict[str, Node]) -> None:
    """Define the graph and its nodes."""
    graph = stage.DefinePrim(GRAPH, "OmniGraph")
    for name, value in {
        "evaluationMode": "Automatic",
        "evaluator:type": "execution",
        "fabricCacheBacking": "Shared",
        "pipelineStage": pipeline_stage,
    }.items():
        graph.CreateAttribute(name, Sdf.ValueTypeNames.Token, custom=False).Set(value)
    graph.CreateAttribute("fileFormatVersion", Sdf.ValueTypeNames.Int2, custom=False).Set(Gf.Vec2i(1, 9))
    for name, (node_type, version, ports) in nodes.items():
        prim = stage.DefinePrim(GRAPH.AppendChild(name), "OmniGraphNode")
        prim.CreateAttribute("node:type", Sdf.ValueTypeNames.Token, custom=False).Set(node_type)
        prim.CreateAttribute("node:typeVersion", Sdf.ValueTypeNames.Int, custom=False).Set(version)
        for port, (kind, value) in ports.items():
            attribute = prim.CreateAttribute(port, Sdf.ValueTypeNames.Find(kind), custom=True)
            if kind == "uint":
                attribute.SetCustomDataByKey("isExecution", True)
            if isinstance(value, Sdf.Path):
                attribute.AddConnection(value)
            elif value is not None:
                attribute.Set(value)


if __name__ == "__main__":
    for written in write_graphs(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER):
        print(written)
