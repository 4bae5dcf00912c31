"""Stages with an action graph, written as USD text."""

from places import ROBOTS
from pxr import Sdf, Usd

GRAPH = "/World/ActionGraph"
SETTINGS = 'token evaluator:type = "execution"'
ON_DEMAND = f'{SETTINGS}\n token pipelineStage = "pipelineStageOnDemand"'
TICK, STEP = "omni.graph.action.OnPlaybackTick", "isaacsim.core.nodes.OnPhysicsStep"
CONTROLLER, STATE = "isaacsim.core.nodes.IsaacArticulationController", "isaacsim.core.nodes.IsaacArticulationState"
ACTUATORS = "isaacsim.core.experimental.actuators.ArticulationActuators"


def node(name: str, node_type: str, *ports: str) -> str:
    lines = "\n".join(ports)
    return f'def OmniGraphNode "{name}" {{ token node:type = "{node_type}"\n int node:typeVersion = 1\n {lines}\n }}\n'


def wire(port: str, *sources: str) -> str:
    """A port, `uint inputs:execIn`, connected from `Node.outputs:port` of the same graph."""
    ends = ", ".join(f"<../{source}>" for source in sources)
    return f"custom {port}\n prepend {port}.connect = [{ends}]"


def pulse(source: str) -> str:
    return wire("uint inputs:execIn", source)


def graph(nodes: str, *, settings: str = SETTINGS, name: str = "ActionGraph") -> str:
    return f'def OmniGraph "{name}" {{\n {settings}\n {nodes}\n }}\n'


def stage_with(*graphs: str, robot: str | None = None) -> Usd.Stage:
    reference = f"( prepend references = @{(ROBOTS / robot).as_posix()}.usda@ )" if robot else ""
    layer = Sdf.Layer.CreateAnonymous(".usda")
    world = f'def Xform "World" {reference} {{\n {"".join(graphs)} }}'
    assert layer.ImportFromString(f'#usda 1.0\n(\n metersPerUnit = 1\n upAxis = "Z"\n)\n{world}')
    return Usd.Stage.Open(layer)
