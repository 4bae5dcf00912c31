"""Draw the README's first picture, `opening.png`: a robot with ideal drives and with its motors.

./python.sh tools/draw_opening.py [PICTURE]
"""

# the type stubs of USD do not know the element type of vectors
# pyright: reportArgumentType=false

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from isaacsim.core.experimental.actuators import (
    Articulation,
    ArticulationActuators,
    DCMotorClampingConfig,
    DelayConfig,
    PDControlConfig,
    Simulation,
    motor_figures,
)
from isaacsim.core.experimental.actuators.tools.plots import style
from pxr import Gf, Usd, UsdGeom, UsdPhysics

DATA = Path(__file__).resolve().parents[1] / "data"
# gains of both, command delay of the motors [steps], physics step [s]
KP, KD, DELAY, DT = 80.0, 2.0, 3, 0.002
# crouch, jump, land: end time [s], front and hind thighs and calves [rad]
COMMANDS = (
    (0.6, (1.6, -2.55, 1.6, -2.55)),
    (0.76, (0.7, -1.4, 0.45, -0.95)),
    (np.inf, (0.9, -1.8, 0.9, -1.8)),
)
PUSH, BEGIN, END, SHOWN = (0.6, 0.76), 0.5, 1.2, 0.98
MOTORS = {".*_(hip|thigh)_joint": "unitree_go1_hip", ".*_calf_joint": "unitree_go1_knee"}
KNEE = "RL_calf_joint"
IDEAL, MOTOR = "ideal drives", "real motors"
COLORS = {IDEAL: style.RED, MOTOR: style.BLUE}
# positions of the labels in the picture
NAMED = {IDEAL: (0.3, 0.8), MOTOR: (0.84, 0.62)}
PLACES = {IDEAL: -0.55, MOTOR: 0.45}
# labels beside points; shown speeds, of the speed limit
BESIDE: dict[str, Any] = {"textcoords": "offset points", "annotation_clip": False}
BEYOND = 1.2


def stage() -> Usd.Stage:
    """Return a stage with the robot twice, on a floor."""
    made = Usd.Stage.CreateInMemory()
    UsdGeom.SetStageMetersPerUnit(made, 1.0)
    UsdGeom.SetStageUpAxis(made, UsdGeom.Tokens.z)
    UsdPhysics.Scene.Define(made, "/World/scene").CreateGravityMagnitudeAttr(9.81)
    for number, place in enumerate(PLACES.values()):
        robot = UsdGeom.Xform.Define(made, f"/World/robot_{number}")
        robot.GetPrim().GetReferences().AddReference(str(DATA / "robots" / "unitree_go1.usda"), "/World/Go1")
        robot.AddTranslateOp().Set(Gf.Vec3d(place, 0.0, 0.0))
    UsdPhysics.CollisionAPI.Apply(UsdGeom.Plane.Define(made, "/World/floor").GetPrim())
    return made


def motors(real: bool) -> dict[str, list[Any]]:
    """Return motors with equal gains, with the limits and the delay of the real ones."""
    found = {}
    for joints, name in MOTORS.items():
        figures = motor_figures(name)
        limits = DCMotorClampingConfig(figures.max_torque, figures.max_speed, figures.max_torque)
        found[joints] = [PDControlConfig(KP, KD), *([limits, DelayConfig(DELAY)] if real else [])]
    return found


def run() -> tuple[np.ndarray, dict[str, dict[str, np.ndarray]]]:
    """Return a snapshot, and by robot: time, trunk height, knee velocity and knee effort."""
    found: dict[str, dict[str, list[float]]] = {name: {"t": [], "z": [], "v": [], "effort": []} for name in PLACES}
    with Simulation(stage(), DT) as sim:
        robots = {name: Articulation(f"/World/robot_{number}") for number, name in enumerate(PLACES)}
        driven = {
            name: ArticulationActuators.from_configs(f"/World/robot_{number}", motors(name == MOTOR))
            for number, name in enumerate(PLACES)
        }
        sim.play()
        picture = None
        names = robots[MOTOR].dof_names
        knee = names.index(KNEE)
        while sim.time < END:
            angles = next(angles for until, angles in COMMANDS if sim.time < until)
            targets = [0.0 if "hip" in name else angles[2 * (name[0] == "R") + ("calf" in name)] for name in names]
            for robot in robots.values():
                robot.set_dof_position_targets(targets)
            speeds = {name: float(robot.get_dof_velocities().numpy()[0, knee]) for name, robot in robots.items()}
            sim.step()
            for name, robot in robots.items():
                told = found[name]
                told["t"].append(sim.time)
                told["z"].append(float(robot.get_world_poses()[0].numpy()[0, 2]))
                # the effort of a step uses the velocity before it
                told["v"].append(speeds[name])
                told["effort"].append(float(robot.get_dof_efforts().numpy()[0, knee]))
            if picture is None and sim.time >= SHOWN:
                picture = sim.render(1500, 1300, azimuth=97.0, elevation=-6.0)
        assert picture is not None
        assert not any(one.faults for one in driven.values())
    return picture, {name: {key: np.array(values) for key, values in told.items()} for name, told in found.items()}


def draw(path: Path) -> None:
    """Draw the picture."""
    picture, found = run()
    drawn = style.figure(13.0, 5.6)
    grid = drawn.add_gridspec(2, 2, width_ratios=(1.15, 1.0))
    scene, height, plane = (drawn.add_subplot(place) for place in (grid[:, 0], grid[0, 1], grid[1, 1]))
    scene.imshow(picture)
    scene.set_axis_off()
    for name, place in NAMED.items():
        scene.text(*place, name, color=COLORS[name], ha="center", fontweight="bold", transform=scene.transAxes)
    style.caption(scene, f"Unitree Go1 after the same command, {SHOWN:g} s")
    style.dress((height, plane))
    for name, told in found.items():
        height.plot(told["t"], told["z"], color=COLORS[name], lw=style.THICK)
        push = (told["t"] > PUSH[0] - DT / 2) & (told["t"] < PUSH[1]) & (told["effort"] > 0)
        plane.plot(told["v"][push], told["effort"][push], color=COLORS[name], lw=style.THICK)
    height.set(xlim=(BEGIN, END), xlabel="time [s]", ylabel="height of the trunk [m]")
    style.label_ends(height, [(told["z"], name, COLORS[name]) for name, told in found.items()])
    figures = motor_figures(MOTORS[".*_calf_joint"])
    peak, fastest = figures.max_torque, figures.max_speed
    assert peak is not None and fastest is not None
    tops = {name: int(told["effort"].argmax()) for name, told in found.items()}
    highest = max(found[name]["effort"][top] for name, top in tops.items())
    plane.fill([0.0, fastest, 0.0], [peak, 0.0, 0.0], color=style.GREY, alpha=style.SHADE, lw=0)
    plane.annotate("available motor torque", (0.4, 4.0), color=style.GREY, fontsize="small")
    # the simulator holds the joint at this speed, also with ideal drives
    plane.axvline(fastest, color=style.GREY, linestyle="--", linewidth=style.THIN)
    limit = f"speed limit\nof the joint\n{fastest:.3g} rad/s"
    plane.annotate(limit, (fastest, highest), (6, 0), color=style.GREY, fontsize="small", va="top", **BESIDE)
    for name, told in found.items():
        speed, torque = told["v"][tops[name]], told["effort"][tops[name]]
        plane.annotate(
            f"{name}: {torque:.0f} N·m", (speed, torque), (6, 3), color=COLORS[name], fontsize="small", **BESIDE
        )
    plane.set(xlim=(0.0, BEYOND * fastest), ylim=(0.0, 1.15 * highest))
    plane.set(xlabel="velocity of a knee during the push [rad/s]", ylabel="torque [N·m]")
    style.caption(height, "The same robot, the same command, the same gains")
    style.save(drawn, path)


if __name__ == "__main__":
    where = Path(sys.argv[1]) if len(sys.argv) > 1 else DATA / "opening.png"
    draw(where)
    print(where)
