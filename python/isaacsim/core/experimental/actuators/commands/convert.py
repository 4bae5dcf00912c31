"""`actuators convert`: an MJCF or URDF file as USD, with motors."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import tyro

from ..authoring import add_motors
from ..extras import needs
from ..motor_files.files import load_motors
from ..saving import whole_file
from ..simulation import Simulation
from .command import Answer, Command, Table

_DOFS = {"robot": "robot", "dof": "DOF", "joint": "joint"}


@dataclass(kw_only=True)
class Convert(Command):
    """Write an MJCF or URDF file as USD, with motors where some are given.

    The table has the DOFs of the new file in their order, which is breadth-first. Warnings name what is lost.
    """

    source: tyro.conf.Positional[Path]
    """MJCF (.xml, .mjcf) or URDF file."""
    target: tyro.conf.Positional[Path]
    """The USD file to write, .usd, .usda or .usdc; one that is there is replaced."""
    motors: Path | None = None
    """Motors by pattern of joint names, .yaml, .toml or .json, which become actuator prims of every robot."""

    def answer(self) -> Answer:
        """See the class.

        Raises:
            ValueError: The file is none of these, or motors do not fit.
        """
        motors = None if self.motors is None else load_motors(self.motors)
        with needs("actuators convert", "usd"):
            from ..usd.articulation import articulation_roots
            from ..usd.joint_order import dof_names, joint_orders
            from ..usd.stage import open_stage
        notes = [f"The robots are in {self.target}."]
        with Simulation(self.source) as simulation, whole_file(self.target) as written:
            simulation.save_usd(written)
            stage = open_stage(written)
            roots = articulation_roots(stage)
            # robots are children of /World, whichever of their prims is the root
            robots = ["/".join(root.split("/")[:3]) for root in roots]
            orders = dict(zip(robots, (dof_names(stage, order) for order in joint_orders(stage, roots)), strict=True))
            if motors is not None:
                prims = [prim for robot in robots for prim in add_motors(robot, motors, stage=stage)]
                stage.GetRootLayer().Save()
                notes.append(f"They have {len(prims)} actuators, those of {self.motors}.")
        rows = [
            {"robot": robot, "dof": number, "joint": name}
            for robot, names in orders.items()
            for number, name in enumerate(names)
        ]
        return Answer([Table("dofs", _DOFS, rows, title=str(self.target))], notes)
