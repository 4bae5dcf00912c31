"""Robots that friction holds, pushed once, and one that stands: how fast they still move, and how far they drift."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import isaacsim.core.experimental.actuators as aa
import numpy as np
from isaacsim.core.experimental.actuators.specs.config import Config
from isaacsim.core.experimental.actuators.specs.effort_modes import EffortModes
from places import ROBOTS
from pxr import Sdf, Usd

ARM, BASE = "/World/SO101", "link_0"
# share of friction that a load has which no actuator knows of
LOAD = 0.2


class Rest(NamedTuple):
    rms: float
    """Root mean square of the velocities of all joints [rad/s]."""
    drift: float
    """Largest change of a joint's position [rad]."""


class Stand(NamedTuple):
    rms: float
    """Root mean square of the velocities of all joints [rad/s]."""
    alternating: float
    """Share of steps in which a velocity changes its sign."""
    sunk: float
    """Descent of the base since the start [m]."""


class Held(NamedTuple):
    friction: np.ndarray
    """Level by joint, 1.5 times the gravity torque and a little [N·m]."""
    inertia: np.ndarray
    """Effective inertia by joint [kg·m²]."""
    masses: np.ndarray
    """Mass matrix [kg·m²]."""
    gravity: np.ndarray
    """Effort of gravity by joint [N·m]."""


def so101() -> Usd.Stage:
    opened = Usd.Stage.Open(str(ROBOTS / "so101.usda"))
    for joint in opened.GetPrimAtPath(f"{ARM}/Physics").GetChildren():
        for name in ("staticFrictionEffort", "dynamicFrictionEffort"):
            joint.CreateAttribute(f"physxJointAxis:angular:{name}", Sdf.ValueTypeNames.Float).Set(0.0)
    return opened


def chain(folder: Path, armature: float, links: int = 6) -> Path:
    inertial = "<inertial pos='.1 0 0' mass='.5' diaginertia='1e-4 2e-3 2e-3'/>"
    text = ""
    for number in reversed(range(links)):
        joint = f"<joint name='hinge_{number}' axis='0 1 0' armature='{armature}'/>"
        place = ".2 0 0" if number else "0 0 0"
        turn = f"0 {17 - 7 * number} 0"
        text = f"<body name='link_{number}' pos='{place}' euler='{turn}'>{joint}{inertial}{text}</body>"
    path = folder / f"chain_{armature}.xml"
    path.write_text(f"<mujoco><worldbody>{text}</worldbody></mujoco>")
    return path


def held(sim: aa.Simulation, path: str) -> Held:
    sim.play()
    robot = aa.Articulation(path)
    gravity = -robot.get_dof_gravity_compensation_forces().numpy()[0].astype(np.float64)
    masses = robot.get_mass_matrices().numpy()[0].astype(np.float64)
    sim.stop()
    inertia = 1 / np.diag(np.linalg.inv(masses))
    return Held(1.5 * np.abs(gravity) + 0.05, inertia, masses, gravity)


def motors(names: list[str], robot: Held, sweeps: int = 0) -> dict[str, list[aa.FrictionConfig]]:
    levels = zip(names, robot.friction.tolist(), robot.inertia.tolist(), strict=True)
    return {
        name: [aa.FrictionConfig(coulomb=level, assumed_inertia=inertia, sweeps=sweeps)]
        for name, level, inertia in levels
    }


def speeds(count: int) -> np.ndarray:
    """Return the velocities that a push gives to joints, turned one way and the other [rad/s]."""
    return np.resize([0.4, -0.3], count)


def measured(step: Callable[[], tuple[np.ndarray, np.ndarray]], dt: float, seconds: float) -> Rest:
    last = round(1 / dt)
    for _ in range(round(seconds / dt) - last - 1):
        step()
    before, _ = step()
    found = [step() for _ in range(last)]
    velocities = np.array([velocity for _, velocity in found])
    moved = np.abs(np.array([position for position, _ in found]) - before).max()
    return Rest(float(np.sqrt((velocities**2).mean())), float(moved))


def rest(
    source: Usd.Stage | Path, path: str, engine: str, dt: float, load: float, seconds: float = 4.0, sweeps: int = 0
) -> Rest:
    """Push a robot of a simulator and return how it rests, with a load on every joint as a share of its friction."""
    with aa.Simulation(source, dt, engine=engine) as sim:
        robot = aa.Articulation(path)
        friction = held(sim, path)
        actuators = aa.ArticulationActuators.from_configs(path, motors(robot.dof_names, friction, sweeps))
        if load:
            # after the actuators, which do not see it
            extra = load * friction.friction
            efforts = robot.get_dof_efforts
            sim.bus.on_pre_step(lambda *_: robot.set_dof_efforts(efforts().numpy() + extra), order=1)
        sim.play()
        robot.set_dof_velocities(speeds(robot.num_dofs))

        def step() -> tuple[np.ndarray, np.ndarray]:
            sim.step()
            return robot.get_dof_positions().numpy()[0], robot.get_dof_velocities().numpy()[0]

        found = measured(step, dt, seconds)
        assert not actuators.faults
        return found


def rest_on_arrays(names: list[str], robot: Held, dt: float, load: float, seconds: float = 4.0) -> Rest:
    """Push a robot with this mass matrix and gravity, computed here in float64, and return how it rests."""
    friction = aa.ActuatedArrays(names, motors(names, robot))
    push = robot.gravity + load * robot.friction
    position, velocity = np.zeros(len(names)), speeds(len(names))
    q, qd, target = np.zeros((3, 1, len(names)), np.float32)

    def step() -> tuple[np.ndarray, np.ndarray]:
        q[:], qd[:] = position, velocity
        velocity[:] += dt * np.linalg.solve(robot.masses, friction.step(q, qd, target, dt)[0] + push)
        position[:] += dt * velocity
        return position.copy(), velocity.copy()

    found = measured(step, dt, seconds)
    assert not friction.faults
    return found


def humanoid(
    mode: EffortModes, kick: float = 0.0, friction: Config | None = None, dt: float = 0.005, seconds: float = 4.0
) -> Stand:
    """Let the G1 stand with friction, after a `kick` [rad/s] up and down in turn, and return how still it stands."""
    file = ROBOTS / "unitree_g1.usda"
    with warnings.catch_warnings(), aa.Simulation(file, dt) as sim:
        # it has no such friction in its file
        warnings.simplefilter("ignore")
        rubbing = friction or aa.FrictionConfig(0.5)
        motors = {name: [*motor.stages, rubbing] for name, motor in aa.motors_of(str(file)).items()}
        actuators = aa.ArticulationActuators.from_configs("/World/G1", motors, effort_mode=mode)
        sim.play()
        robot = actuators.articulation
        robot.set_dof_position_targets(robot.get_dof_positions().numpy().copy())
        robot.set_dof_velocities(np.resize([kick, -kick], robot.num_dofs))
        height, velocities = robot.get_world_poses()[0].numpy()[0, 2], []
        for _ in range(round(seconds / dt)):
            sim.step()
            velocities.append(robot.get_dof_velocities().numpy()[0].copy())
        assert not actuators.faults
        last = np.array(velocities[-round(1 / dt) :])
        alternating = float((last[1:] * last[:-1] < 0).mean())
        sunk = float(height - robot.get_world_poses()[0].numpy()[0, 2])
    return Stand(float(np.sqrt((last**2).mean())), alternating, sunk)
