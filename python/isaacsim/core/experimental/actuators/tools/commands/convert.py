"""`actuators convert`: MJCF or URDF file to USD, with motors."""

from __future__ import annotations

import warnings
from pathlib import Path

from ...base.extras import needs
from ...base.saving import whole_file
from ...simulators.authoring import add_motors
from .answer import Answer, Table
from .arguments import Convert
from .opened import motors_in, simulate

_DOFS = {"robot": "robot", "dof": "DOF", "joint": "joint"}


def answer(arguments: Convert) -> Answer:
    """Answer `actuators convert`; ValueError if the file is none of these, or motors do not fit."""
    target, motors = _target(arguments), motors_in(arguments.motors)
    with needs("actuators convert", "usd"):
        from ...files.usd.articulation import articulation_roots, dof_names, joint_orders
        from ...files.usd.stage import open_stage
    notes = [f"The robots are in {target}."]
    with simulate(arguments, arguments.source) as simulation, whole_file(target) as written:
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
    return Answer([Table("dofs", _DOFS, rows, title=str(target))], notes, is_wrong)


def _target(arguments: Convert) -> Path:
    """Return the file to write, which is named in one of two ways."""
    paths = [path for path in (arguments.target, arguments.out) if path is not None]
    if len(paths) != 1:
        raise ValueError(f"{len(paths)} files to write are named: must be one. Name it by -o, or behind the file.")
    return paths[0]
