"""Robots and joints selected by the inputs of a node."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .....simulators.current import Articulation

if TYPE_CHECKING:
    from .....simulators.physics_articulation import PhysicsArticulation
    from ...omnigraph.database import Database

# inputs that select robots and joints
SELECTION = {"targetPrim": "target", "robotPath": "string", "jointNames": "token[]", "jointIndices": "int[]"}


def selected_joints(db: Database) -> tuple[PhysicsArticulation, np.ndarray]:
    """Return the articulation and the columns that `SELECTION` picks: by name, else by index, else all.

    Raises:
        ValueError: There is no such robot or joint, or none is named.
        HostError: No simulation is open.
    """
    paths = db.inputs.robotPath or list(db.inputs.targetPrim)
    if not paths:
        raise ValueError("robotPath is empty, and so is targetPrim: one must name the robot. Set robotPath.")
    robots = Articulation(paths)
    if len(names := db.inputs.jointNames):
        return robots, robots.get_dof_indices([str(name) for name in names]).numpy()
    return robots, db.inputs.jointIndices if len(db.inputs.jointIndices) else np.arange(robots.num_dofs)
