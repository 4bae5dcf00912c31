"""Draw `data/rest_energy.png`: the energy of a quadruped that stands and of an arm that holds, for a minute.

./python.sh -m pip install --editable ".[physx]"
./python.sh tools/draw_rest.py
"""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from isaacsim.core.experimental.actuators import (
    Articulation,
    ArticulationActuators,
    FrictionConfig,
    PDControlConfig,
    Simulation,
)
from isaacsim.core.experimental.actuators.tools.plots import style
from pxr import Usd, UsdGeom, UsdPhysics

DATA = Path(__file__).resolve().parents[1] / "data"
TARGET = DATA / "rest_energy.png"
ENGINES = {"mujoco": "MuJoCo", "physx": "PhysX"}
DT, SECONDS, GRAVITY = 0.005, 60, 9.81
# least that is drawn [J]
FLOOR = 1e-10


class Robot(NamedTuple):
    """Robot that its motors hold."""

    title: str
    file: str
    path: str
    gains: dict[str, PDControlConfig]
    friction: FrictionConfig


ROBOTS = (
    Robot(
        "Go1 stands",
        "unitree_go1.usda",
        "/World/Go1",
        {".*_calf_joint": PDControlConfig(80.0, 2.0), ".*_(hip|thigh)_joint": PDControlConfig(60.0, 1.5)},
        FrictionConfig(coulomb=0.4, viscous=0.05, static=0.6, stribeck_velocity=0.2),
    ),
    Robot(
        "SO-101 holds its arm out",
        "so101.usda",
        "/World/SO101",
        {".*": PDControlConfig(17.8, 0.6)},
        FrictionConfig(coulomb=0.052, viscous=0.059),
    ),
)


def stage(robot: Robot) -> Usd.Stage:
    """Return a stage with the robot, without the friction of its file, on a floor."""
    made = Usd.Stage.CreateInMemory()
    UsdGeom.SetStageMetersPerUnit(made, 1.0)
    UsdGeom.SetStageUpAxis(made, UsdGeom.Tokens.z)
    UsdPhysics.Scene.Define(made, "/World/scene").CreateGravityMagnitudeAttr(GRAVITY)
    prim = UsdGeom.Xform.Define(made, robot.path).GetPrim()
    prim.GetReferences().AddReference(str(DATA / "robots" / robot.file), robot.path)
    UsdPhysics.CollisionAPI.Apply(UsdGeom.Plane.Define(made, "/World/floor").GetPrim())
    for child in Usd.PrimRange(prim):
        for name in ("staticFrictionEffort", "dynamicFrictionEffort"):
            attribute = child.GetAttribute(f"physxJointAxis:angular:{name}")
            if attribute:
                attribute.Set(0.0)
    return made


def motors(robot: Robot, names: list[str], inertias: np.ndarray) -> dict[str, list]:
    """Return a PD law and friction by joint."""
    found: dict[str, list] = {}
    for name, inertia in zip(names, inertias.tolist(), strict=True):
        gains = next(gains for pattern, gains in robot.gains.items() if re.fullmatch(pattern, name))
        found[name] = [gains, dataclasses.replace(robot.friction, assumed_inertia=inertia)]
    return found


def height(articulation: Any) -> np.ndarray:
    """Return the height of each link's center of mass [m]."""
    places, turns = (array.numpy()[0].astype(np.float64) for array in articulation.get_link_world_poses())
    centers = articulation.get_link_coms()[0].numpy()[0]
    w, axis = turns[:, :1], turns[:, 1:]
    turned = centers + 2 * np.cross(axis, np.cross(axis, centers) + w * centers)
    return (places + turned)[:, 2]


def energies(robot: Robot, engine: str) -> tuple[np.ndarray, np.ndarray]:
    """Return potential and kinetic energy over time [J].

    The kinetic energy is that of the joints, with velocities from positions: those that PhysX returns of joints that
    carry a robot on its feet have an error of 5 mrad/s, also without friction.
    """
    seen = []
    with Simulation(stage(robot), DT, engine=engine) as sim:
        articulation = Articulation(robot.path)
        sim.play()
        masses = articulation.get_mass_matrices().numpy()[0].astype(np.float64)
        inertias = 1 / np.diag(np.linalg.inv(masses))[-articulation.num_dofs :]
        weights = GRAVITY * articulation.get_link_masses().numpy()[0]
        target = articulation.get_dof_positions().numpy()[0]
        sim.stop()
        held = motors(robot, articulation.dof_names, inertias)
        actuators = ArticulationActuators.from_configs(robot.path, held)
        sim.play()
        articulation.set_dof_position_targets(target)
        for _ in range(round(SECONDS / DT)):
            sim.step()
            seen.append((weights @ height(articulation), articulation.get_dof_positions().numpy()[0]))
        assert not actuators.faults
    potential, positions = (np.array(values, np.float64) for values in zip(*seen, strict=True))
    velocities = np.diff(positions, axis=0, prepend=positions[:1]) / DT
    return potential, 0.5 * np.einsum("ti,ij,tj->t", velocities, masses[-len(target) :, -len(target) :], velocities)


def windows(values: np.ndarray) -> np.ndarray:
    """Return the largest magnitude in each half second."""
    return np.abs(values).reshape(2 * SECONDS, -1).max(axis=1)


def main() -> None:
    """Draw the picture."""
    drawn, (panel,) = style.panels(9, 4.2, "Joints with friction come to rest within ten seconds, and stay there")
    time, last = 0.5 * np.arange(1, 2 * SECONDS + 1), round(10 / DT)
    panel.set(xlabel="time [s]", ylabel="kinetic energy of the joints [J]", yscale="log", ylim=(FLOOR, 1))
    curves = {}
    for robot in ROBOTS:
        for engine, name in ENGINES.items():
            potential, kinetic = energies(robot, engine)
            print(
                f"{robot.title}, {name}, last 10 s: potential energy within {np.ptp(potential[-last:]):.1e} J,", end=" "
            )
            print(f"kinetic energy at most {kinetic[-last:].max():.1e} J")
            curves[f"{robot.title}, {name}"] = np.maximum(windows(kinetic), FLOOR)
    style.caption(panel, f"largest in each half second; what is less is drawn at {FLOOR:g} J")
    style.lines(panel, time, np.array(list(curves.values())).T, list(curves), linewidth=style.THICK)
    style.save(drawn, TARGET)


if __name__ == "__main__":
    main()
