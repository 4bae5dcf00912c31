"""Drive an arm with Isaac Lab groups, print their resolution, write them to the robot's file, and drive it from there.

./python.sh standalone_examples/from_isaac_lab.py [--usd out.usda] [--plot out.png]
"""

import argparse
from pathlib import Path

import isaacsim.core.experimental.actuators as ea
import numpy as np
from isaacsim.core.experimental.actuators.compat import isaac_lab as lab
from isaacsim.core.experimental.actuators.tools.interrupts import without_traceback
from isaacsim.core.experimental.actuators.tools.plots import style
from rich.console import Console
from rich.table import Table

ROBOT, ARM = Path(__file__).parents[1] / "data" / "robots" / "franka_panda.usda", "/World/Panda"
GOAL, STEPS = [0.6, 0.2, -0.6, -1.4, 0.6, 2.2, 1.4], 720  # [rad] by `dof_names`, at 240 Hz
# docs: begin groups
SHOULDER = lab.DCMotorCfg(
    joint_names_expr=["panda_joint[1-4]"],
    stiffness=600.0,  # N·m/rad
    damping=50.0,  # N·m·s/rad
    saturation_effort=120.0,  # N·m
    actuator_velocity_limit=4.0,  # rad/s
    actuator_effort_limit=87.0,
    armature=0.3,  # kg·m²
)
FOREARM = lab.IdealPDActuatorCfg(
    joint_names_expr=["panda_joint[5-6]"], stiffness=200.0, damping=15.0, actuator_effort_limit=12.0, armature=0.1
)
HAND = lab.ImplicitActuatorCfg(joint_names_expr=["panda_joint7"], stiffness=50.0, damping=5.0)
GROUPS = {"shoulder": SHOULDER, "forearm": FOREARM, "hand": HAND}
# docs: end groups


def drive(source: Path, groups: dict | None) -> tuple[list[str], np.ndarray, list]:
    """Return joint names, positions [rad] on the way to the goal, and the rows of the resolution table."""
    with ea.Simulation(source) as sim:
        arm = ea.Articulation(ARM)
        actuators = ea.ArticulationActuators.from_groups(ARM, groups) if groups else ea.ArticulationActuators(ARM)
        sim.play()
        arm.set_dof_position_targets(GOAL)
        path = np.zeros((STEPS, 7))
        for positions in path:
            sim.step()
            positions[:] = arm.get_dof_positions().numpy()[0]
        return arm.dof_names, path, list(actuators.resolution_table().rows) if groups else []


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--usd", default="from_isaac_lab.usda", help="path of the robot file with its actuators")
    parser.add_argument("--plot", default="from_isaac_lab.png", help="path of the picture")
    options = parser.parse_args()
    names, by_groups, rows = drive(ROBOT, GROUPS)
    table = Table("group", "property", "joint", "robot", "cfg", "applied", title="Where cfgs and robot differ")
    for row in rows:
        said = "not specified" if row.cfg_value is None else f"{row.cfg_value:g}"
        table.add_row(row.group, row.property, row.name, f"{row.usd_value:g}", said, f"{row.applied:g}")
    Console().print(table)
    # docs: begin usd
    with ea.Simulation(ROBOT) as sim:
        lost = lab.to_usd(GROUPS, sim.stage, ARM, overwrite_existing=True)
        sim.stage.Export(options.usd)
    _, by_file, _ = drive(Path(options.usd), None)
    # docs: end usd
    for line in lost:
        print(f"only in the file's attribute: {line}")
    shown = style.until_rest(time := np.arange(STEPS) / 240, by_file)
    drawn, (panel,) = style.panels(9, 5, "Groups of Isaac Lab and the file made of them move the arm alike")
    panel.set(xlabel="time [s]", ylabel="position [rad]")
    style.lines(panel, time[shown], by_groups[shown], **style.BROAD)
    style.lines(panel, time[shown], by_file[shown], names, linewidth=style.THIN)
    style.key(panel, {"Isaac Lab groups": style.BROAD, "file": {"linewidth": style.THIN}})
    style.save(drawn, options.plot)
    apart, moved = np.abs(by_groups - by_file).max(), np.abs(by_groups[-1] - by_groups[0]).max()
    good = apart < 1e-5 and moved > 0.3
    print(f"{'ok' if good else 'FAILED'}: within {apart:.1e} rad of each other; see {options.usd}, {options.plot}")
    return int(not good)


if __name__ == "__main__":
    without_traceback()
    raise SystemExit(main())
