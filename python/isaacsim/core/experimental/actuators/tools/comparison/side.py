"""`Side`: one of two simulations of the same robot, and its settings."""

from __future__ import annotations

import dataclasses
import functools
import os
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.errors import HostError
from ...base.extras import needs
from ...compat.isaac_lab.groups import values_of, with_own_values
from ...compat.isaac_lab.resolve import Rules
from ...engine.motors import motors_by_joint
from ...extension.articulation_actuators import ArticulationActuators
from ...simulators.authoring import motors_of
from ...simulators.binding import Binding
from ...simulators.motor_properties import effort_limits, values_of_author
from ...simulators.simulation import Simulation
from ...specs.arguments import MODEL_FILES
from ...specs.effort_modes import explicit, in_effort_mode
from ...specs.motors import MotorConfig, Motors
from .lab import OF_DRIVES, drive_of, lab_motors

if TYPE_CHECKING:
    from ...simulators.mujoco.newton_reader import NewtonReading
    from ...simulators.physics_articulation import PhysicsArticulation


_MUTED = (
    r".*(will vibrate at dt|may chatter|have no effort limit|have no motor and keep|no actuator found)",
    # a remedy for a step that is not the one of interest
    r".*would be stable with",
)
_NEWTON = "newton"
ENGINES = ("mujoco", "physx", "mujoco_warp", _NEWTON)
"""Simulators that can be compared."""

_NOT_LAB = "The motors of Isaac Lab's cfgs are this package's implementation of its models; Isaac Lab does not run."
_IDLE = "Joints without a motor in the configuration keep their drives, and actuators of their file do not act"
_OF_JOINT = {"armature": None, "friction": None, "viscous_friction": None}


@dataclass(frozen=True)
class Side:
    """A robot file in a simulator, with its motors and all settings that differ from the file.

    Names are those of the joints and links in this file.

    Args:
        file: Path of the robot file.
        engine: Simulator, as `Simulation` names it, or `newton`.
        dt: Physics step [s].
        motors: Motors by joint. A joint without a motor, or whose motor has no control law, keeps its drive.
        drives: For each joint that a drive moves, the motor with the same effect.
        joints: Names of all joints, in the order of the simulator.
        order: Joint of this file by the joint of the comparison in whose place it moves; empty if names agree.
        properties: Values to set after play, SI, by property and joint; the properties are those of `Values`.
        links: Inertias to set after play, a `Link` by name.
        contacts: False disables contacts.
        remarks: What its motors leave out of what they are made of, a sentence each.
    """

    file: str
    engine: str
    dt: float
    motors: Mapping[str, MotorConfig]
    drives: Mapping[str, MotorConfig]
    joints: tuple[str, ...]
    order: Mapping[str, str] = field(default_factory=dict)
    properties: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    links: Mapping[str, Any] = field(default_factory=dict)
    contacts: bool = True
    remarks: tuple[str, ...] = ()

    def own(self, joint: str) -> str:
        """Return the joint here that moves in the place of a joint of the comparison."""
        return self.order.get(joint, joint)

    def motor(self, joint: str) -> MotorConfig | None:
        """Return the motor of a joint of the comparison; None for a drive or nothing."""
        return self.motors.get(self.own(joint))

    def has_motor(self, joint: str) -> bool:
        """Return True if a control law of the package drives a joint of the comparison, and no drive."""
        motor = self.motor(joint)
        return motor is not None and motor.controller is not None

    def with_motors(self, motors: Mapping[str, MotorConfig]) -> Side:
        """Return the side with other motors of some joints of the comparison."""
        return dataclasses.replace(
            self, motors={**self.motors, **{self.own(name): one for name, one in motors.items()}}
        )

    def with_property(self, name: str, values: Mapping[str, float]) -> Side:
        """Return the side with values of a property at some joints of the comparison."""
        given = {self.own(joint): value for joint, value in values.items()}
        before = self.properties.get(name, {})
        return dataclasses.replace(self, properties={**self.properties, name: {**before, **given}})


def side_of(
    file: str | os.PathLike[str],
    motors: Motors | None = None,
    *,
    engine: str = "mujoco",
    dt: float | None = None,
    groups: object = None,
    rules: Rules | None = None,
) -> Side:
    """Return a robot file in a simulator, without changes.

    With `groups`, it is Isaac Lab's model of the robot, as `compat.isaac_lab` computes it: joints of explicit groups
    have the motors of its cfgs, those of implicit groups the drives of the simulator with their gains and limits, and
    what a cfg leaves out is that of the robot. Isaac Lab itself does not run.

    Args:
        file: Path of a USD, MJCF or URDF file with one robot.
        motors: Motors by pattern of joint names; None means those of the file. Other joints keep their drives, and
            actuators of the file do not act on them.
        engine: Simulator, as `Simulation` names it: `mujoco`, `mujoco_warp` or `physx`. With `newton`, MuJoCo simulates
            what newton reads of the file.
        dt: Physics step [s]; None means that of the file.
        groups: Cfgs of Isaac Lab by name of the group, from `compat.isaac_lab.load_groups` or Isaac Lab's own, or its
            cfg of the articulation; None for no Isaac Lab.
        rules: Which value applies where cfg and robot differ, as for `ArticulationActuators.from_groups`.

    Raises:
        ValueError: The file has no robot or several, motors or groups do not fit its joints, both are given, or there
            is no such simulator.
        FileNotFoundError: The file does not exist.
        HostError: The simulator is not installed, or newton cannot read the file.
    """
    if groups is not None and motors is not None:
        raise ValueError("motors and groups are both given: must be one of them, for each moves the robot. Choose.")
    with _quiet(), _simulation(file, dt, engine) as simulation:
        robot = _only_robot(simulation, file)
        names = tuple(_reading(file).positions if engine == _NEWTON else robot.dof_names)
        dofs, limits = list(robot.dof_names), functools.partial(effort_limits, robot, simulation.stage)
        drives = motors_by_joint(explicit(motors_of(simulation)), dofs, limits)
        own = motors_by_joint(_motors_of_file(simulation, file, engine) if motors is None else motors, dofs, limits)
        idle = [] if motors is None else [name for name in _actuated(simulation, robot) if name not in own]
        if idle:
            values = values_of(robot, simulation.stage)
            drives |= {name: _drive_in(values, dofs, name) for name in idle}
        rest = {name: drive for name, drive in drives.items() if getattr(own.get(name), "controller", None) is None}
        remarks = (f"{_IDLE}: {', '.join(idle)}.",) * bool(idle)
        side = Side(os.fspath(file), engine, simulation.dt, own, rest, names, remarks=remarks)
        if groups is None:
            return side
        values = values_of(robot, simulation.stage)
        axes = list(zip(robot.prototype_dof_paths, robot.dof_names, strict=True))
        of_author = values_of_author(simulation, Binding(robot), axes)
        return _with_groups(side, groups, robot, (with_own_values(values, of_author, robot.dof_names), values), rules)


def _actuated(simulation: Simulation, robot: PhysicsArticulation) -> list[str]:
    """Return the names of the joints with actuator prims."""
    if simulation.stage is None:
        return []
    from ...files.usd.discover import discover

    specs = discover(simulation.stage, robot.prototype_path, robot.prototype_dof_paths, robot.dof_names)
    return [name for spec in specs for name in spec.dof_names]


def _drive_in(values: Mapping[str, np.ndarray], names: list[str], joint: str) -> MotorConfig:
    """Return the motor with the effect of the drive of a joint, with gains or without."""
    return drive_of(*(float(values[field][0, names.index(joint)]) for field in OF_DRIVES))


def _with_groups(
    side: Side,
    groups: object,
    robot: PhysicsArticulation,
    values: tuple[Mapping[str, np.ndarray], Mapping[str, np.ndarray]],
    rules: Rules | None,
) -> Side:
    """Return a side with groups of Isaac Lab; `values` are its properties, its author's, and the simulator's."""
    names, there = list(robot.dof_names), values[1]
    found = lab_motors(groups, names, *values, rules, one_dry_friction=getattr(robot, "ONE_DRY_FRICTION", False))
    drives = {name: one for name, one in side.drives.items() if name in found.uncovered}
    # a drive without gains stands where the motor of the file would
    for name in found.uncovered:
        if side.has_motor(name):
            drives[name] = _drive_in(there, names, name)
    remarks = [_NOT_LAB, *found.remarks]
    if found.uncovered:
        remarks.append(f"Joints in no group keep their drives: {', '.join(found.uncovered)}.")
    drives, notes = {**drives, **found.drives}, tuple(remarks)
    return dataclasses.replace(side, motors=found.motors, drives=drives, properties=found.properties, remarks=notes)


def both_driven_alike(first: Side, second: Side) -> tuple[Side, Side, list[str]]:
    """Return two sides in which each joint has a motor on both or a drive on both, and the joints that changed.

    If a joint has a motor on one side only, the drive of the other side becomes a motor with its gains and its limit,
    with `ImplicitConfig`, because drives are implicit.

    Args:
        first: A side.
        second: The other side.

    Returns:
        Both sides, and the names of the joints whose drive became a motor.
    """
    changed: list[str] = []
    sides = []
    for one, other in ((first, second), (second, first)):
        mixed = [name for name in one.drives if other.has_motor(name)]
        of_drives = in_effort_mode([one.drives[name] for name in mixed], [[name] for name in mixed], "implicit")
        motors = {**one.motors, **dict(zip(mixed, of_drives, strict=True))}
        sides.append(dataclasses.replace(one, motors=motors, properties=_without_drives(one.properties, mixed)))
        changed += mixed
    return sides[0], sides[1], list(dict.fromkeys(changed))


@contextmanager
def opened(side: Side) -> Iterator[tuple[Simulation, PhysicsArticulation, ArticulationActuators | None]]:
    """Open the simulation of a side, its robot, and its actuators, if it has motors; it does not play yet."""
    with _quiet(), _simulation(side.file, side.dt, side.engine) as simulation:
        if not side.contacts:
            simulation.disable_contacts()
        robot = _only_robot(simulation, side.file)
        if not side.motors:
            yield simulation, robot, None
            return
        motors = {re.escape(name): motor for name, motor in side.motors.items()}
        with ArticulationActuators.from_configs("/", motors) as actuators:
            yield simulation, robot, actuators


@contextmanager
def _simulation(file: str | os.PathLike[str], dt: float | None, engine: str) -> Iterator[Simulation]:
    """Open a file in a simulator, or with MuJoCo as newton reads it."""
    if engine not in ENGINES:
        raise ValueError(f"engine = {engine!r}: must be one of {', '.join(ENGINES)}. Correct the name.")
    if engine != _NEWTON:
        with Simulation(file, dt, engine=engine) as simulation:
            yield simulation
        return
    reading = _reading(file)
    start = {re.escape(name): position for name, position in reading.positions.items()}
    with reading.as_file(f"{Path(file).stem}_by_newton") as mjcf:
        simulation = Simulation(mjcf, reading.dt if dt is None else dt, initial_positions=start)
    with simulation:
        yield simulation


def _reading(file: str | os.PathLike[str]) -> NewtonReading:
    with needs("engine = 'newton'", "sim", HostError):
        from ...simulators.mujoco.newton_reader import read_by_newton
    return read_by_newton(file)


def _motors_of_file(simulation: Simulation, file: str | os.PathLike[str], engine: str) -> Motors:
    """Return the motors of a file with actuators of this package: USD."""
    if simulation.stage is not None:
        return motors_of(simulation.stage)
    if engine != _NEWTON or Path(file).suffix.lower() in MODEL_FILES:
        return {}
    # newton reads properties of joints by itself, which those of motors would hide
    return {name: dataclasses.replace(motor, **_OF_JOINT) for name, motor in motors_of(file).items()}


def _without_drives(
    properties: Mapping[str, Mapping[str, float]], joints: Sequence[str]
) -> Mapping[str, Mapping[str, float]]:
    """Return properties without those of the drives of some joints."""
    kept = {
        name: {joint: value for joint, value in values.items() if name not in OF_DRIVES.values() or joint not in joints}
        for name, values in properties.items()
    }
    return {name: values for name, values in kept.items() if values}


def _only_robot(simulation: Simulation, file: str | os.PathLike[str]) -> PhysicsArticulation:
    robot = simulation.articulation("/")
    if len(robot.paths) != 1:
        raise ValueError(f"{file}: has {len(robot.paths)} robots: must have one. Give a file of one robot.")
    return robot


@contextmanager
def _quiet() -> Iterator[None]:
    """Ignore warnings on motors, which are compared as they are."""
    with warnings.catch_warnings():
        for message in _MUTED:
            warnings.filterwarnings("ignore", message)
        yield
