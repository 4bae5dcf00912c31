"""Draw `data/real_arm.png`, and print the tables of `docs/tutorials/real_arm.md`: a real SO-101 and its simulation.

./python.sh tools/draw_arm.py LOGS [--motors motors.usda] [--all all.usda]

LOGS is a folder of logs of the arm: motors are identified from those in its folder `fit`, or taken from a file that was
written before, and judged on those in its folder `judge`. Intervals are those of motors from all logs.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from isaacsim.core.experimental.actuators import Simulation
from isaacsim.core.experimental.actuators.specs.motors import MotorConfig
from isaacsim.core.experimental.actuators.tools.identification.given_motors import given_motors
from isaacsim.core.experimental.actuators.tools.identification.identified import Replay
from isaacsim.core.experimental.actuators.tools.identification.identify import identify
from isaacsim.core.experimental.actuators.tools.identification.log import MotorLog
from isaacsim.core.experimental.actuators.tools.identification.logs.read import read_logs
from isaacsim.core.experimental.actuators.tools.identification.parts import replay
from isaacsim.core.experimental.actuators.tools.plots import style
from pxr import Usd, UsdGeom, UsdPhysics
from scipy.spatial import ConvexHull

DATA = Path(__file__).resolve().parents[1] / "data"
ROBOT, TARGET = DATA / "robots" / "so101.usda", DATA / "real_arm.png"
JOINTS = ("shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll")
# links of the gripper, heights of the table that are tried, from the base [m], and the log that tells which one
TIPS, HEIGHTS, TOUCHING = ("gripper_link", "moving_jaw_so101_v1_link"), (-0.05, -0.052, -0.054, -0.056), "random"
FREE, TOUCHED = "fast_transitions", "figure_eight"
SHIPPED, IDENTIFIED, TABLE = "as shipped", "identified", "identified, with a table"
COLORS = {SHIPPED: style.RED, IDENTIFIED: style.BLUE, TABLE: style.GREEN}
MEASURED = {"color": style.BLACK, **style.BROAD}


def meshes(stage: Usd.Stage) -> Iterator[tuple[str, Usd.Prim]]:
    """Yield the meshes of the gripper, each with the name of its link."""
    for prim in stage.Traverse():
        if prim.GetTypeName() == "Mesh" and prim.GetParent().GetName() in TIPS:
            yield prim.GetParent().GetName(), prim


def robot_on_table(height: float) -> Usd.Stage:
    """Return a stage with the arm, whose gripper collides with a table at a height from its base [m]."""
    stage = Usd.Stage.CreateInMemory()
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z)
    UsdPhysics.Scene.Define(stage, "/World/scene")
    stage.GetPrimAtPath("/World").GetReferences().AddReference(str(ROBOT), "/World")
    table = UsdGeom.Plane.Define(stage, "/World/table")
    UsdGeom.XformCommonAPI(table).SetTranslate((0.0, 0.0, height))
    UsdPhysics.CollisionAPI.Apply(table.GetPrim())
    for _, prim in meshes(stage):
        UsdPhysics.CollisionAPI.Apply(prim)
        UsdPhysics.MeshCollisionAPI.Apply(prim).CreateApproximationAttr(UsdPhysics.Tokens.convexHull)
    return stage


def lowest(positions: np.ndarray) -> np.ndarray:
    """Return the height of the lowest point of the gripper at each row of joint positions [m]."""
    stage, poses = Usd.Stage.Open(str(ROBOT)), UsdGeom.XformCache()
    hulls = []
    for link, prim in meshes(stage):
        points = np.array(UsdGeom.Mesh(prim).GetPointsAttr().Get(), float)
        placed = points[ConvexHull(points).vertices] @ np.array(poses.GetLocalTransformation(prim)[0])[:3, :3]
        hulls.append((link, placed + np.array(poses.GetLocalTransformation(prim)[0])[3, :3]))
    heights = []
    with Simulation(ROBOT) as simulation:
        robot = simulation.articulation("/")
        simulation.play()
        for row in positions:
            robot.set_dof_positions(row[None].astype(np.float32))
            places, turns = (array.numpy()[0] for array in robot.get_link_world_poses())
            found = []
            for link, hull in hulls:
                w, x, y, z = turns[robot.link_names.index(link)]
                up = (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y))
                found.append((hull @ up).min() + places[robot.link_names.index(link), 2])
            heights.append(min(found))
    return np.array(heights)


def mean_errors(replays: Sequence[Replay]) -> np.ndarray:
    """Return the mean absolute error of each joint [mrad]."""
    return 1e3 * np.mean([one.errors[: len(JOINTS)] for one in replays], axis=0)


def print_tables(found: Mapping[str, Sequence[Replay]]) -> None:
    """Print the errors by joint and by log [mrad]."""
    print("|", *(f"{head} |" for head in ("", *JOINTS, "mean")))
    for name, replays in found.items():
        errors = mean_errors(replays)
        print(f"| {name} |", *(f"{error:.1f} |" for error in errors), f"{errors.mean():.2f} |")
    print("\n| log |", *(f"{name} |" for name in found))
    for rows in zip(*found.values(), strict=True):
        print(f"| {Path(rows[0].log.source).stem} |", *(f"{mean_errors([row]).mean():.1f} |" for row in rows))


def print_intervals(motors: Mapping[str, MotorConfig]) -> None:
    """Print the 90 % intervals of each joint (SI)."""
    names = list(dict.fromkeys(name for joint in JOINTS for name in motors[joint].intervals))
    print("\n| |", *(f"{name} |" for name in names))
    for joint in JOINTS:
        ends = (motors[joint].intervals.get(name) for name in names)
        print(f"| {joint} |", *(f"{pair[0]:.3g} … {pair[1]:.3g} |" if pair else "|" for pair in ends))


def draw_log(panels: Sequence[Any], replays: Mapping[str, Replay], joints: Sequence[str]) -> None:
    """Draw measured and simulated positions of some joints in a log, a panel each."""
    log = next(iter(replays.values())).log
    for joint, panel in zip(joints, panels, strict=True):
        j = log.joints.index(joint)
        panel.plot(log.time - log.time[0], log.command[:, j], **style.DASHED)
        panel.plot(log.time - log.time[0], log.position[:, j], **MEASURED)
        for key, found in replays.items():
            panel.plot(log.time - log.time[0], found.positions[:, j], color=COLORS[key], linewidth=style.PLAIN)
        panel.set_ylabel("[rad]")
        errors = " → ".join(f"{1e3 * found.errors[j]:.1f}" for found in replays.values())
        style.caption(panel, f"{Path(log.source).stem}, {joint}: {errors} mrad")


def draw(found: Mapping[str, Sequence[Replay]], table: float) -> None:
    """Draw a log in which the arm is free, one in which it touches the table, and the errors by joint."""
    drawn = style.figure(14, 11, "A real SO-101 and its simulation under the same commands, logs that were not fitted")
    panels = drawn.subplots(5, 2)
    style.dress(panels.flat)
    free, touched = (
        {key: next(one for one in many if name in one.log.source) for key, many in found.items()}
        for name in (FREE, TOUCHED)
    )
    lines = {key: {"color": COLORS[key]} for key in free if key != TABLE}
    draw_log(panels[:, 0], {key: free[key] for key in lines}, JOINTS)
    draw_log(panels[:3, 1], touched, JOINTS[1:4])
    style.key(panels[0, 0], lines)
    style.key(panels[1, 0], {"command": style.DASHED, "measured": MEASURED})
    style.key(panels[0, 1], {TABLE: {"color": COLORS[TABLE]}})
    log = touched[TABLE].log
    for rows, line in ((log.command, style.DASHED), (log.position, MEASURED)):
        panels[3, 1].plot(log.time[::5] - log.time[0], 1e3 * lowest(rows[::5]), **line)
    panels[3, 1].axhline(1e3 * table, color=style.GREY, linewidth=style.THICK)
    panels[3, 1].set_ylabel("[mm]")
    style.caption(panels[3, 1], f"{TOUCHED}, height of the lowest point of the gripper; line: the table")
    for panel in (panels[4, 0], panels[3, 1]):
        panel.set_xlabel("time [s]")
    bars = panels[4, 1]
    for number, (key, replays) in enumerate(found.items()):
        bars.bar(np.arange(len(JOINTS)) + 0.27 * (number - 1), mean_errors(replays), 0.25, color=COLORS[key], label=key)
    bars.set_xticks(range(len(JOINTS)), JOINTS)
    bars.set_ylabel("[mrad]")
    style.caption(bars, "mean absolute error over eight logs")
    bars.legend(frameon=False, fontsize="small")
    style.save(drawn, TARGET)


def main() -> None:
    """Identify, replay, print and draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("logs", type=Path, help="folder with the folders fit and judge")
    parser.add_argument("--motors", type=Path, help="robot with motors that were identified before")
    parser.add_argument("--all", type=Path, help="robot with motors that were identified from all logs before")
    given = parser.parse_args()
    with Simulation(ROBOT) as simulation:
        names = list(simulation.articulation("/").dof_names)
    fit, judge = (read_logs(sorted((given.logs / part).glob("*.csv")), names) for part in ("fit", "judge"))
    shipped = given_motors(ROBOT, None, names)
    motors = given_motors(given.motors, None, names) if given.motors else identify(ROBOT, fit).motors

    def replays(robot: Any, motors: Mapping[str, MotorConfig], logs: Sequence[MotorLog]) -> list[Replay]:
        return [replay(robot, motors, log.evenly(log.dt), held_out=True) for log in logs]

    touching = [log for log in fit if TOUCHING in log.source]
    errors = {z: float(mean_errors(replays(robot_on_table(z), motors, touching)).mean()) for z in HEIGHTS}
    table = min(errors, key=lambda z: errors[z])
    print(f"table at {table} m: {errors[table]:.2f} mrad in the log that tells it\n")
    found = {
        SHIPPED: replays(ROBOT, shipped, judge),
        IDENTIFIED: replays(ROBOT, motors, judge),
        TABLE: replays(robot_on_table(table), motors, judge),
    }
    print_tables(found)
    print_intervals(given_motors(given.all, None, names) if given.all else identify(ROBOT, [*fit, *judge]).motors)
    draw(found, table)


if __name__ == "__main__":
    main()
