"""OmniGraph runs the action graphs of the stage that Kit has open: as much of it as the ready-made graphs need."""

from fakes.kit_world import KitWorld
from fakes.omni_graph import OmniGraph
from fakes.omni_usd import StageEventType
from isaacsim.core.experimental.actuators.extension.action_graphs.omnigraph.database import Node
from pxr import Usd

TICK = "omni.graph.action.OnPlaybackTick"
CONSTANT = "omni.graph.nodes.ConstantString"
CONTROLLER = "isaacsim.core.nodes.IsaacArticulationController"


class ActionGraphs:
    def __init__(self, world: KitWorld, omni_graph: OmniGraph) -> None:
        self._world, self._omni_graph = world, omni_graph
        self._nodes: dict[str, Node] = {}
        self._databases: dict = {}
        observe, name = world.dispatcher.observe_event, world.usd_context.stage_event_name
        self._subscriptions = [
            observe(event_name=name(StageEventType.OPENED), on_event=lambda _: self._read()),
            observe(event_name=name(StageEventType.CLOSING), on_event=lambda _: self._release()),
        ]

    def node(self, path: str) -> Node:
        return self._nodes[path]

    def frame(self) -> None:
        stage = self._world.usd_context.get_stage()
        for path in self._nodes:
            for wire in stage.GetPrimAtPath(path).GetAttribute("inputs:execIn").GetConnections():
                if _type(stage.GetPrimAtPath(wire.GetPrimPath())) == TICK:
                    self._compute(stage.GetPrimAtPath(path))

    def _read(self) -> None:
        for prim in self._world.usd_context.get_stage().Traverse():
            if prim.GetTypeName() == "OmniGraphNode":
                path = prim.GetPath().pathString
                self._nodes[path] = Node(path)
                if (kind := _type(prim)) not in (TICK, CONSTANT, CONTROLLER):
                    # a type that nobody has registered
                    assert kind in self._omni_graph.registered, f"OmniGraph does not know {kind}"
                    self._databases[path] = self._omni_graph.registered[kind](self._nodes[path])

    def _release(self) -> None:
        for database in self._databases.values():
            database.NODE_TYPE_CLASS.release_instance(database.node, 0)
        self._databases.clear()
        self._nodes.clear()

    def _compute(self, prim: Usd.Prim) -> None:
        path = prim.GetPath().pathString
        names = [name for name in prim.GetPropertyNames() if name.startswith("inputs:") and name != "inputs:execIn"]
        inputs = {name: _value(prim, name) for name in names}
        if path in self._databases:
            for name, value in inputs.items():
                self._databases[path].write(name, value)
            self._databases[path].evaluate("execIn")
        else:
            robot = self._world.articulation_class(inputs["inputs:robotPath"])
            columns = robot.get_dof_indices(list(inputs["inputs:jointNames"]))
            robot.set_dof_position_targets(list(inputs["inputs:positionCommand"]), dof_indices=columns)


def _type(node: Usd.Prim) -> str:
    return node.GetAttribute("node:type").Get()


def _value(node: Usd.Prim, name: str):
    attribute = node.GetAttribute(name)
    for source in attribute.GetConnections():
        attribute = node.GetStage().GetAttributeAtPath(source)
    return attribute.Get()
