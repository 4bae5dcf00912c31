"""The OmniGraph node *Articulation Actuators*: a thin layer over `ArticulationActuators`."""

from __future__ import annotations

import importlib
import logging
import math
import sys
import traceback
from typing import TYPE_CHECKING, Any

# absolute import: Kit may import this module by another name, but state and classes must be the shared ones
from isaacsim.core.experimental.actuators.extension.action_graphs.nodes.state import (
    OgnArticulationActuatorsInternalState,
    release_all,
)

if TYPE_CHECKING:
    from isaacsim.core.experimental.actuators.extension.action_graphs.nodes.node_actuators import NodeActuators
    from isaacsim.core.experimental.actuators.extension.action_graphs.omnigraph.database import Database
    from isaacsim.core.experimental.actuators.simulators.port import ArticulationPort

_log = logging.getLogger(__name__)

# Kit's database class is in this module
GENERATED = "isaacsim.core.experimental.actuators.ogn.OgnArticulationActuatorsDatabase"
# here, and where the documented extension has it: scripts for that import the state from there
_NAMES = (
    "isaacsim.core.experimental.actuators.extension.action_graphs.nodes.OgnArticulationActuators",
    "isaacsim.core.experimental.actuators.nodes.OgnArticulationActuators",
    "isaacsim.core.experimental.actuators.ogn.python.nodes.OgnArticulationActuators",
)


class OgnArticulationActuators:
    """Implements `OgnArticulationActuators.ogn`, which describes each input and output."""

    @staticmethod
    def internal_state() -> OgnArticulationActuatorsInternalState:
        """Return the state of a new node."""
        return OgnArticulationActuatorsInternalState()

    @staticmethod
    def release_instance(node: object, graph_instance_id: int) -> None:
        """Give the joints back to their drives when a node or its graph is deleted."""
        try:
            state = _database().get_internal_state(node, graph_instance_id)
        except Exception:
            # the graph is being deleted: actuators without references close by themselves
            return
        try:
            state.release()
        except Exception:
            _log.exception("Articulation Actuators: a deleted node could not give its robot back")

    @staticmethod
    def compute(db: Database) -> bool:
        """Handle a pulse; an error is logged with what to do, and the next pulse tries again."""
        # the same message at each failing pulse: OmniGraph shows it while the node fails, and prints it once
        try:
            return _compute(db, db.per_instance_state)
        except Exception as error:
            what = f"{type(error).__name__}: {error}"
            db.log_error(f"Articulation Actuators failed with {what}\n{traceback.format_exc()}")
            return False


def _compute(db: Database, state: OgnArticulationActuatorsInternalState) -> bool:
    enabled = _enabled()
    actuators = state.actuators
    resets = db.inputs.resetIn == enabled
    if resets and actuators is not None:
        actuators.reset()
    # reset alone makes no actuators and no step
    if resets and db.inputs.execIn != enabled:
        if actuators is not None:
            _show(db, actuators)
        return True

    robot_path = db.inputs.robotPath or [_path(target) for target in db.inputs.targetPrim]
    if not robot_path:
        db.log_error("robotPath is empty, and so is targetPrim: one must name the robot. Set robotPath.")
        return False
    step_dt = _own_step(db)
    actuators = state.update(robot_path, step_dt is None)
    _set_feedforward(db, actuators)
    actuators.require_running()
    if step_dt is not None:
        actuators.step_actuators(step_dt)
    _show(db, actuators)
    db.outputs.execOut = enabled
    return True


def _own_step(db: Database) -> float | None:
    """Return the step [s] that the node itself makes; None where actuators step before each physics step."""
    if db.inputs.autoStepPrePhysics:
        return None
    step_dt = db.inputs.stepDt
    if not (math.isfinite(step_dt) and step_dt > 0):
        raise ValueError(
            f"stepDt = {step_dt}: must be a finite number of seconds > 0 when autoStepPrePhysics is off. "
            "Connect deltaSimulationTime of On Physics Step, or enter the physics step."
        )
    return step_dt


def _set_feedforward(db: Database, actuators: NodeActuators) -> None:
    """Set the feedforward; an empty one leaves the former values."""
    inputs = db.inputs
    dof_indices = inputs.dofIndices if len(inputs.dofIndices) else None
    if len(inputs.dofNames):
        if dof_indices is not None:
            raise ValueError("dofNames and dofIndices are both given: must be one of them. Empty the other.")
        dof_indices = _columns([str(name) for name in inputs.dofNames], actuators.articulation)
    if len(inputs.feedforwardCommand):
        indices = inputs.indices if len(inputs.indices) else None
        actuators.set_dof_feedforward_effort_targets(
            inputs.feedforwardCommand, indices=indices, dof_indices=dof_indices
        )


def _columns(names: list[str], robots: ArticulationPort) -> list[int]:
    """Return the columns of joints by name."""
    known = list(robots.dof_names)
    for name in names:
        if known.count(name) != 1:
            raise ValueError(
                f"dofNames: joint {name!r} is found {known.count(name)} times in <{robots.paths[0]}>: must be there "
                f"once. Available: {known}."
            )
    return [known.index(name) for name in names]


def _show(db: Database, actuators: NodeActuators) -> None:
    """Write the outputs."""
    db.outputs.dofNames = actuators.actuated_dof_names
    db.outputs.computedEfforts = actuators.computed_efforts.ravel().astype(float)
    db.outputs.appliedEfforts = actuators.applied_efforts.ravel().astype(float)
    db.outputs.faults = [
        f"{fault.label}: joint {fault.dof_name} of <{fault.robot_path}>, step {fault.step}: "
        f"{', '.join(fault.inputs)} not finite."
        for fault in actuators.faults
    ]


def _path(target: Any) -> str:
    """Return a target's path as text; paths of usdrt have a getter for it."""
    return target.GetString() if hasattr(target, "GetString") else str(target)


def _database() -> type[Database]:
    """Return the database class: what Kit generated from the `.ogn` file, or ours where there is no Kit."""
    try:
        return importlib.import_module(GENERATED).OgnArticulationActuatorsDatabase
    except ModuleNotFoundError:
        from isaacsim.core.experimental.actuators.extension.action_graphs.omnigraph.database import node_database

        return node_database(OgnArticulationActuators)


def _enabled() -> Any:
    """Return the value of an execution attribute that is pulsed, OmniGraph's where it runs."""
    if (omni_graph := sys.modules.get("omni.graph.core")) is not None:
        return omni_graph.ExecutionAttributeState.ENABLED
    from isaacsim.core.experimental.actuators.extension.action_graphs.omnigraph.ogn_types import ExecutionAttributeState

    return ExecutionAttributeState.ENABLED


# with its package, where scripts import the module itself
importlib.import_module("isaacsim.core.experimental.actuators.nodes")
sys.modules.update(dict.fromkeys(_NAMES, sys.modules[__name__]))

# after a hot reload, what nodes of the old code drove is free for the new code
release_all()
