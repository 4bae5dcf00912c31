"""Shows what joints do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...omnigraph.node_ports import NodePorts
from .robots import SELECTION, selected_joints

if TYPE_CHECKING:
    from ...omnigraph.database import Database


class IsaacArticulationState:
    """Positions [rad or m] and velocities [rad/s or m/s] of joints, robot after robot.

    Efforts, forces and torques, which Isaac Sim measures, are not available.
    """

    PORTS = NodePorts(
        inputs={"execIn": "execution", **SELECTION},
        outputs={"jointNames": "token[]", "jointPositions": "double[]", "jointVelocities": "double[]"},
    )

    @staticmethod
    def compute(db: Database) -> bool:
        """Read them."""
        robots, joints = selected_joints(db)
        db.outputs.jointPositions = robots.get_dof_positions(dof_indices=joints).numpy().ravel()
        db.outputs.jointVelocities = robots.get_dof_velocities(dof_indices=joints).numpy().ravel()
        db.outputs.jointNames = [robots.dof_names[joint] for joint in joints]
        return True
