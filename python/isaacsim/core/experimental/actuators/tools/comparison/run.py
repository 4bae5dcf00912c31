"""Run a side: its values as the simulator has them, and its motion."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...base.errors import SimulationDivergedError
from ...engine.faults import in_words
from ...extension.articulation_actuators import ArticulationActuators
from ...simulators.port import turning
from ...simulators.simulation import Simulation
from ...specs.motors import MotorConfig
from ..trials.trial import steps_in
from .motion import Motion
from .plan import Plan
from .side import Side, opened

if TYPE_CHECKING:
    from ...simulators.physics_articulation import PhysicsArticulation

_FRICTION = "get_dof_friction_properties"
# names of `Side.properties`, and where they are: getter of the articulation, number among what it returns
PROPERTIES = {
    "stiffness": ("get_dof_gains", 0),
    "damping": ("get_dof_gains", 1),
    "armature": ("get_dof_armatures", None),
    "static friction": (_FRICTION, 0),
    "dynamic friction": (_FRICTION, 1),
    "viscous friction": (_FRICTION, 2),
    "effort limit": ("get_dof_max_efforts", None),
    "velocity limit": ("get_dof_max_velocities", None),
    "lower limit": ("get_dof_limits", 0),
    "upper limit": ("get_dof_limits", 1),
}
# simulators return huge numbers for no limit
_NO_LIMIT = 1e30


@dataclass(frozen=True, eq=False)
class Link:
    """Inertia of a link.

    Args:
        mass: Mass [kg].
        com: Center of mass in the frame of the link [m], shape `(3,)`.
        inertia: Inertia about the center of mass, along the axes of the link [kg·m²], shape `(9,)`.
    """

    mass: float
    com: np.ndarray
    inertia: np.ndarray


@dataclass(frozen=True, eq=False)
class Values:
    """Values of a side as its simulator has them after play. Joints have the names of the comparison.

    Args:
        dt: Physics step [s].
        order: Names of all joints in the order of the simulator, those of the file.
        motors: Motors by joint.
        properties: Values by property and joint, SI; infinite for no limit. The properties are `stiffness` and
            `damping` of drives, `armature`, `static friction`, `dynamic friction`, `viscous friction`, `effort limit`,
            `velocity limit`, `lower limit` and `upper limit`.
        links: Inertias by link.
        places: Effect of each joint in the pose of the file, which identifies it whatever its name: type, limits, and
            sum of its columns of all Jacobians, shape `(9,)`.
        gravity: Efforts that balance gravity at the start, by joint [N·m or N].
        inertias: Diagonal of the mass matrix at the start, by joint [kg·m² or kg].
    """

    dt: float
    order: tuple[str, ...]
    motors: Mapping[str, MotorConfig]
    properties: Mapping[str, Mapping[str, float]]
    links: Mapping[str, Link]
    places: Mapping[str, np.ndarray]
    gravity: Mapping[str, float]
    inertias: Mapping[str, float]


@dataclass(frozen=True, eq=False)
class Run:
    """A simulation of a side.

    Args:
        side: The side.
        values: Its values, as its simulator has them.
        motion: Its motion.
        faults: Inputs or efforts that were not finite, in words.
    """

    side: Side
    values: Values
    motion: Motion
    faults: tuple[str, ...] = ()


def run(side: Side, plan: Plan) -> Run:
    """Simulate a side that follows a plan, from its start."""
    with opened(side) as (simulation, robot, actuators):
        simulation.play()
        columns = [robot.dof_names.index(side.own(name)) for name in plan.joints]
        jacobians = robot.get_jacobian_matrices().numpy()[0].astype(float)[..., -robot.num_dofs :]
        limits = [np.nan_to_num(one.numpy()[0].astype(float), posinf=0.0, neginf=0.0) for one in robot.get_dof_limits()]
        linear = np.array([float(one.name == "Translation") for one in robot.dof_types])
        moved = (np.abs(jacobians) > 1e-6).any(axis=1).sum(axis=0)
        all_of = np.vstack([linear, *limits, moved, jacobians.sum(axis=0)])
        places = {name: all_of[:, column] for name, column in zip(plan.joints, columns, strict=True)}
        _set(side, robot)
        # at rest at the start of the plan
        positions, targets = (getattr(robot, f"get_dof_position{name}")().numpy().copy() for name in ("s", "_targets"))
        positions[0, columns] = plan.start
        targets[0, columns] = plan.start
        robot.set_dof_positions(positions)
        robot.set_dof_velocities(np.zeros_like(positions))
        robot.set_dof_velocity_targets(np.zeros_like(positions))
        robot.set_dof_position_targets(targets)
        values = _values(side, robot, plan, columns, places)
        motion = _move(simulation, robot, actuators, plan, columns)
        return Run(side, values, motion, () if actuators is None else tuple(map(in_words, actuators.faults)))


def _set(side: Side, robot: PhysicsArticulation) -> None:
    """Set the properties and inertias of a side."""
    for getter in dict.fromkeys(PROPERTIES[name][0] for name in side.properties):
        given = {
            PROPERTIES[name][1] or 0: one for name, one in side.properties.items() if PROPERTIES[name][0] == getter
        }
        _set_together(side, robot, getter, given)
    if not side.links:
        return
    at = list(map(list(robot.link_names).index, side.links))
    links = list(side.links.values())
    robot.set_link_masses(np.array([[one.mass for one in links]]), link_indices=at)
    robot.set_link_coms(np.array([[one.com for one in links]]), link_indices=at)
    robot.set_link_inertias(np.array([[one.inertia for one in links]]), link_indices=at)


def _set_together(
    side: Side, robot: PhysicsArticulation, getter: str, given: Mapping[int, Mapping[str, float]]
) -> None:
    """Set values that an articulation returns together, by their numbers among them; the others stay."""
    names = list(robot.dof_names)
    at = sorted({names.index(joint) for values in given.values() for joint in values})
    found = getattr(robot, getter)()
    parts = [one.numpy().copy() for one in (found if isinstance(found, tuple) else (found,))]
    for part, values in given.items():
        for joint, value in values.items():
            parts[part][0, names.index(joint)] = value
    if getter == _FRICTION and side.engine != "physx":
        # which has one dry friction
        parts[0] = parts[1]
    setter: Callable[..., None] = getattr(robot, getter.replace("get_", "set_", 1))
    setter(*(np.ascontiguousarray(part[:, at]) for part in parts), dof_indices=at)


def _move(
    simulation: Simulation,
    robot: PhysicsArticulation,
    actuators: ArticulationActuators | None,
    plan: Plan,
    columns: list[int],
) -> Motion:
    """Step a robot that plays along a plan."""
    steps = max(1, steps_in(plan.seconds, simulation.dt))
    time = np.arange(steps + 1) * simulation.dt
    found = np.full((3, steps + 1, len(columns)), np.nan)
    wanted, targets = plan.targets(time), robot.get_dof_position_targets().numpy().copy()
    driven = [] if actuators is None else list(actuators.actuated_dof_indices)
    efforts, diverged = np.full(robot.num_dofs, np.nan), None
    for row in range(steps + 1):
        motion = robot.get_dof_positions(), robot.get_dof_velocities()
        found[:, row] = (*(one.numpy()[0, columns] for one in motion), efforts[columns])
        if row == steps:
            break
        targets[0, columns] = wanted[row]
        robot.set_dof_position_targets(targets)
        try:
            simulation.step()
        except SimulationDivergedError:
            diverged = float(time[row])
            break
        if actuators is not None:
            efforts[driven] = np.asarray(actuators.applied_efforts)[0]
    kinds = turning(robot)
    turns = None if kinds is None else [kinds[column] for column in columns]
    return Motion(plan.joints, time, wanted, found[0], found[1], found[2], diverged, turns)


def _values(
    side: Side, robot: PhysicsArticulation, plan: Plan, columns: list[int], places: Mapping[str, np.ndarray]
) -> Values:
    """Return what a robot that plays has."""

    def by_joint(values: np.ndarray) -> dict[str, float]:
        return dict(zip(plan.joints, values[columns].tolist(), strict=True))

    properties = {}
    for name, (getter, part) in PROPERTIES.items():
        found = getattr(robot, getter)()
        values = (found if part is None else found[part]).numpy()[0].astype(float)
        properties[name] = by_joint(np.where(np.abs(values) > _NO_LIMIT, np.copysign(np.inf, values), values))
    masses, (coms, _), inertias = robot.get_link_masses(), robot.get_link_coms(), robot.get_link_inertias()
    numbers = (one.numpy()[0].astype(float) for one in (masses, coms, inertias))
    rows = zip(robot.link_names, *numbers, strict=True)
    links = {name: Link(float(mass), com, inertia) for name, mass, com, inertia in rows}
    motors = {name: motor for name in plan.joints if (motor := side.motor(name)) is not None}
    gravity = robot.get_dof_gravity_compensation_forces().numpy()[0].astype(float)
    diagonal = np.diagonal(robot.get_mass_matrices().numpy()[0]).astype(float)[-robot.num_dofs :]
    return Values(
        side.dt, tuple(robot.dof_names), motors, properties, links, places, by_joint(gravity), by_joint(diagonal)
    )
