"""`actuators convert`: MJCF or URDF file to USD, with motors."""

from __future__ import annotations

import warnings

from ...base.extras import needs
from ...base.saving import whole_file
from ...simulators.authoring import add_motors
from .answer import Answer, Table
from .arguments import Convert
from .opened import motors_in, simulate

_DOFS = {"robot": "robot", "dof": "DOF", "joint": "joint"}


def answer(arguments: Convert) -> Answer:
    """Answer `actuators convert`; ValueError if the file is none of these, or motors do not fit."""
    motors = motors_in(arguments.motors)
    with needs("actuators convert", "usd"):
        from ...files.usd.articulation import articulation_roots, dof_names, joint_orders
        from ...files.usd.stage import open_stage
    notes = [f"The robots are in {arguments.target}."]
    with simulate(arguments, arguments.source) as simulation, whole_file(arguments.target) as written:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            simulation.save_usd(written)
        stage = open_stage(written)
        roots = articulation_roots(stage)
        # robots are children of /World, and a prim below may be the root
        robots = ["/".join(root.split("/")[:3]) for root in roots]
        orders = dict(zip(robots, (dof_names(stage, order) for order in joint_orders(stage, roots)), strict=True))
        if motors is not None:
            prims = [prim for robot in robots for prim in add_motors(robot, motors, stage=stage)]
            stage.GetRootLayer().Save()
            notes.append(f"They have {len(prims)} actuators, those of {arguments.motors}.")
    rows = [
        {"robot": robot, "dof": number, "joint": name}
        for robot, names in orders.items()
        for number, name in enumerate(names)
    ]
    # what is lost is the last line that one reads
    notes += [str(one.message) for one in said]
    is_wrong = bool(said) and not arguments.lossy
    return Answer([Table("dofs", _DOFS, rows, title=str(arguments.target))], notes, is_wrong)
