"""Nodes of Kit and Isaac Sim that graphs with actuators are made of, as far as they mean something outside.

Their ports are listed in the classes: Kit would register what it finds in `.ogn` files.
"""

from __future__ import annotations

from .articulation_controller import IsaacArticulationController
from .articulation_state import IsaacArticulationState
from .constants import CONSTANTS
from .construct_array import ConstructArray
from .conversions import ToDouble, ToFloat
from .events import OnPhysicsStep, OnPlaybackTick, OnTick
from .flow import Branch, Sequence
from .simulation_time import IsaacReadSimulationTime
from .variables import ReadVariable, WriteVariable

KIT_NODES: dict[str, type] = {
    "isaacsim.core.nodes.IsaacArticulationController": IsaacArticulationController,
    "isaacsim.core.nodes.IsaacArticulationState": IsaacArticulationState,
    "isaacsim.core.nodes.IsaacReadSimulationTime": IsaacReadSimulationTime,
    "isaacsim.core.nodes.OnPhysicsStep": OnPhysicsStep,
    "omni.graph.action.Branch": Branch,
    "omni.graph.action.OnPlaybackTick": OnPlaybackTick,
    "omni.graph.action.OnTick": OnTick,
    "omni.graph.action.Sequence": Sequence,
    "omni.graph.core.ReadVariable": ReadVariable,
    "omni.graph.core.WriteVariable": WriteVariable,
    "omni.graph.nodes.ConstructArray": ConstructArray,
    "omni.graph.nodes.ToDouble": ToDouble,
    "omni.graph.nodes.ToFloat": ToFloat,
    **{f"omni.graph.nodes.{name}": constant for name, constant in CONSTANTS.items()},
}
