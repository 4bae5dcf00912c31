"""Sets what joints are to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...omnigraph.node_ports import NodePorts
from .robots import SELECTION, selected_joints

if TYPE_CHECKING:
    from ...omnigraph.database import Database


class IsaacArticulationController:
    """Sets position targets, velocity targets and efforts of joints; what has no command stays as it is.

    Efforts act until others are set.
    """

    PORTS = NodePorts(
        inputs={
            "execIn": "execution",
            **SELECTION,
            "positionCommand": "double[]",
            "velocityCommand": "double[]",
            "effortCommand": "double[]",
        }
    )

    @staticmethod
    def compute(db: Database) -> bool:
        """Pass the commands on."""
        robots, joints = selected_joints(db)
        for command, setter in (
            ("positionCommand", robots.set_dof_position_targets),
            ("velocityCommand", robots.set_dof_velocity_targets),
            ("effortCommand", robots.set_dof_efforts),
        ):
            if len(values := getattr(db.inputs, command)):
                if len(values) != len(joints):
                    raise ValueError(
                        f"{command} has {len(values)} values for {len(joints)} joints: must have one each. "
                        "Give as many, or name the joints."
                    )
                setter(values, dof_indices=joints)
        return True
