"""The values of each joint after play: in the file, in a configuration, as applied, and the rule that decides."""

from __future__ import annotations

import functools
import itertools
import math
import os
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ...base.values import as_numpy
from ...compat.isaac_lab.resolve import EXPLICIT_EFFORT_LIMIT_SIM
from ...compat.isaac_lab.stages import groups_of
from ...compat.isaac_lab.table import Row
from ...engine.actuator import Actuator
from ...engine.motors import Motor, resolve_motors
from ...extension.articulation_actuators import ArticulationActuators
from ...laws.contract import catalogue
from ...simulators.motor_properties import effort_limits, read_property
from ...simulators.port import ArticulationPort
from ...simulators.simulation import Simulation
from ...specs.arguments import path_of
from ...specs.configs import Config
from ...specs.engine_friction import is_friction, is_in_engine
from ...specs.fields import parameters_of
from ...specs.linkage import LinkageConfig
from ...specs.motors import Motors
from ...specs.stages import KINDS, kind_of, without_idle
from ...specs.transmission import armature
from ..feedback import feedback_gains, largest_efforts
from .described import (
    JOINT_UNITS,
    InspectedActuator,
    InspectedJoint,
    InspectedRobot,
    at_shaft,
    gains,
    largest_effort,
    law_of,
    unit_of,
    values_of,
)
from .inspect import inspect_robots

if TYPE_CHECKING:
    from ...files.usd.handles import Stage

# names of the simulator's properties in `motor_properties`
_APPLIED = {
    "effort_limit": "effort_limit_sim",
    "velocity_limit": "velocity_limit_sim",
    "armature": "armature",
    "friction": "friction",
    "viscous_friction": "viscous_friction",
}
_SAME = 1e-5


@dataclass(frozen=True)
class Resolved:
    """One property of one joint, in SI; None for an absent value."""

    robot: str
    joint: str
    # kp, kd, actuator_limit, effort_limit (of the joint), velocity_limit, armature, friction, viscous_friction, or a
    # parameter of another stage than control laws and limits, `delay.delay_steps`
    property: str
    unit: str
    file: float | None
    config: float | None
    # after play; infinite for no limit
    applied: float | None
    # what decides; an actuator or a motor switches the joint's drive off
    rule: str
    # True for a parameter of a stage that is nowhere set to another value than its default
    is_default: bool = False


def resolve(file: str | os.PathLike[str], config: Motors | None = None) -> list[Resolved]:
    """Return for each joint the values in the file, in a configuration, and as applied after play.

    The file is opened with MuJoCo and `ArticulationActuators`, or its `from_configs` for a configuration. MuJoCo's own
    actuators of an MJCF file become joint drives, as in any simulation; `motors_of` has them as a configuration.
    """
    path = path_of("file", file)
    robots = inspect_robots(path)
    rows: list[Resolved] = []
    with warnings.catch_warnings():
        # the table shows which joints have no motor
        warnings.simplefilter("ignore", UserWarning)
        with Simulation(path) as sim:
            wrappers = [_wrapper(sim, robot.path, config) for robot in robots]
            sim.play()
            for robot, wrapper in zip(robots, wrappers, strict=True):
                rows += _Rows(robot, wrapper, config, sim.stage).all()
    return rows


def _wrapper(sim: Simulation, path: str, config: Motors | None) -> ArticulationActuators:
    return ArticulationActuators(path) if config is None else ArticulationActuators.from_configs(path, config)


class _Rows:
    """The rows of one robot."""

    def __init__(
        self, robot: InspectedRobot, wrapper: ArticulationActuators, config: Motors | None, stage: Stage | None
    ) -> None:
        self._robot, self._wrapper, self._with_config = robot, wrapper, config is not None
        names = list(wrapper.articulation.dof_names)
        self._motors = {} if config is None else _by_joint(config, wrapper.articulation, stage)
        self._applied = {
            name: dict(zip(names, as_numpy(values)[0].tolist(), strict=True))
            for name in (*_APPLIED.values(), "stiffness", "damping")
            if (values := read_property(wrapper.articulation, name)) is not None
        }
        self._running = {name: (one, at) for one in wrapper.actuators for at, name in enumerate(one.dof_names)}
        self._actuated = {name: limits for actuator in wrapper.actuators for name, limits in _applied_to(actuator)}

    def all(self) -> Iterator[Resolved]:
        """Iterate over the rows, joint by joint."""
        for joint in self._robot.joints:
            yield from self._gains(joint)
            yield self._limit(joint)
            for name in _APPLIED:
                yield self._property(joint, name)
            yield from self._stages(joint)

    def _stages(self, joint: InspectedJoint) -> Iterator[Resolved]:
        """Iterate over the parameters of stages without rows of their own: all but control laws and limits."""
        both = self._actuator(joint), self._motor(joint.name)
        stages = [[] if one is None else [*without_idle(one)] for one in both]
        of_file, of_config = map(_numbers_of, stages)
        running = _running(*self._running[joint.name]) if joint.name in self._running else {}
        # a joint that the linkage of another moves also runs placeholders, which no motor has
        laws = set(map(law_of, itertools.chain(*stages)))
        applied = {key: value for key, value in running.items() if key[0].partition(".")[0] in laws}
        defaults = _defaults_of(itertools.chain(*stages))
        for name, unit in dict.fromkeys([*of_file, *of_config, *applied]):
            values = [numbers.get((name, unit)) for numbers in (of_file, of_config, applied)]
            usual = defaults.get(name, math.nan)
            is_default = all(value is None or math.isclose(value, usual, rel_tol=_SAME) for value in values)
            file, config, now = values
            where = self._robot.path, joint.name, name, unit_of(unit, joint.linear)
            yield Resolved(*where, file, config, now, self._whose(joint), is_default)

    def _gains(self, joint: InspectedJoint) -> Iterator[Resolved]:
        actuator, motor = self._actuator(joint), self._motor(joint.name)
        drive = joint.value("drive_stiffness"), joint.value("drive_damping")
        of_file, of_config = _gains_of(actuator, drive), _gains_of(motor, (None, None))
        applied = self._applied_gains(joint.name)
        rules = [self._whose(joint)] * 2
        if joint.name in self._actuated and (actuator or motor):
            without = self._at_shaft(joint) or "its law has no gains"
            rules = [without if one is None else rule for one, rule in zip(applied, rules, strict=True)]
        for at, (name, drive) in enumerate({"kp": "drive_stiffness", "kd": "drive_damping"}.items()):
            unit = JOINT_UNITS[drive][joint.linear]
            yield Resolved(self._robot.path, joint.name, name, unit, of_file[at], of_config[at], applied[at], rules[at])

    def _applied_gains(self, joint: str) -> list[float | None]:
        """Return kp and kd of the actuator of a joint, of its drive if it has none; None for a law without gains."""
        if joint in self._actuated:
            return [None if math.isnan(gain) else gain for gain in self._actuated[joint][:2]]
        return [self._applied[name].get(joint) for name in ("stiffness", "damping")]

    def _limit(self, joint: InspectedJoint) -> Resolved:
        actuator, motor = self._actuator(joint), self._motor(joint.name)
        unit = JOINT_UNITS["effort_limit"][joint.linear]
        given = [None if one is None else largest_effort(one) for one in (actuator, motor)]
        applied = self._actuated[joint.name][2] if joint.name in self._actuated else None
        rule = self._whose(joint) if applied is not None or joint.driven_by == "MJCF actuator" else "no actuator"
        of_joint = self._applied["effort_limit_sim"].get(joint.name, math.inf)
        if shaft := self._at_shaft(joint):
            given, applied, rule = [None, None], None, shaft
        elif applied is not None and of_joint < applied * (1 - _SAME):
            rule += f"; the joint's {of_joint:g} bounds its drive only"
        return Resolved(self._robot.path, joint.name, "actuator_limit", unit, given[0], given[1], applied, rule)

    def _property(self, joint: InspectedJoint, name: str) -> Resolved:
        value = joint.values[name]
        motor, at = self._motors.get(joint.name, (None, 0))
        given = None if motor is None else _of_joint(motor.properties.get(name), at)
        applied = self._applied.get(_APPLIED[name], {}).get(joint.name)
        acting = self._acting(joint) or InspectedActuator(joint.name, (), "")
        stage = next(filter(is_friction, acting.stages), None) if "friction" in name else None
        if stage is not None:
            rule = (
                "friction stage, computed by the simulator"
                if is_in_engine(stage)
                else "friction stage, which replaces it"
            )
        elif name == "armature" and armature(acting) is not None:
            rule = "rotor of the transmission, times ratio²"
        elif given is not None:
            rule = "configuration"
        elif value.said:
            rule = f"file ({value.source})"
        else:
            rule = "default"
        of_file = float(value.value) if value.said else None
        return Resolved(self._robot.path, joint.name, name, value.unit, of_file, given, applied, rule)

    def _acting(self, joint: InspectedJoint) -> InspectedActuator | None:
        """Return what acts on a joint after play."""
        return self._motor(joint.name) if self._with_config else self._actuator(joint)

    def _at_shaft(self, joint: InspectedJoint) -> str:
        """Return in words what the motor of a joint has at the shaft of its linkage; empty without one."""
        acting = self._acting(joint) or self._running.get(joint.name, (None, 0))[0]
        return "" if acting is None else at_shaft(acting)

    def _whose(self, joint: InspectedJoint) -> str:
        """Return the rule that decides what drives a joint."""
        if joint.name in self._motors and joint.name in self._actuated:
            return "configuration"
        if joint.name in self._actuated:
            return "actuator of the file"
        if self._with_config:
            return "no motor: drive of the file"
        if joint.driven_by == "MJCF actuator":
            # as `run` has it: the physics moves a joint by its drive, and no program sets other controls
            return "actuator of the file, as joint drive" if any(self._applied_gains(joint.name)) else "with control 0"
        return "drive of the file" if joint.driven_by == "USD drive" else "nothing drives it"

    def _actuator(self, joint: InspectedJoint) -> InspectedActuator | None:
        return next((one for one in self._robot.actuators if one.path == joint.driver), None)

    def _motor(self, name: str) -> InspectedActuator | None:
        """Return the motor of a joint in the configuration, with the numbers of this joint."""
        motor, at = self._motors.get(name, (None, 0))
        if motor is None or motor.spec is None:
            return None
        return InspectedActuator(motor.pattern, (name,), "", **motor.of_joint(at).each(lambda config: config))


def _gains_of(
    actuator: InspectedActuator | None, otherwise: tuple[float | None, float | None]
) -> tuple[float | None, float | None]:
    """Return kp and kd of an actuator, Nones if its law has none."""
    return otherwise if actuator is None else gains(actuator) or (None, None)


def _by_joint(config: Motors, articulation: ArticulationPort, stage: Stage | None) -> dict[str, tuple[Motor, int]]:
    """Return the motor of each joint in a configuration, and its number among those of the motor."""
    names, limits = list(articulation.dof_names), functools.partial(effort_limits, articulation, stage)
    motors = resolve_motors(config, names, names, 1, limits=limits)
    return {names[column]: (motor, at) for motor in motors for at, column in enumerate(motor.columns)}


def _has_no_row(kind: str) -> bool:
    return kind in KINDS and kind != "controller" and not KINDS[kind].is_limit


def _numbers_of(stages: Iterable[Config]) -> dict[tuple[str, str], float]:
    """Return the numbers of configs, by law and parameter, and unit."""
    found: dict[tuple[str, str], float] = {}
    for config in stages:
        for name, (described, value) in (
            values_of(config, False, "").items() if _has_no_row(kind_of(config) or "") else ()
        ):
            if isinstance(value.value, int | float) and not isinstance(value.value, bool):
                found[f"{law_of(config)}.{name}", described.unit if described else ""] = float(value.value)
        if isinstance(config, LinkageConfig):
            shares = zip(config.joints, config.coefficients, strict=False)
            found |= {(f"{law_of(config)}.coefficients[{joint}]", ""): share for joint, share in shares}
    return found


def _defaults_of(stages: Iterable[Config]) -> dict[str, float]:
    """Return the defaults of configs, by law and parameter."""
    return {
        f"{law_of(config)}.{one.name}": parameters_of(config)[one.name].number(one.default)
        for config in stages
        for one in fields(cast(Any, config))
        if one.name in parameters_of(config) and isinstance(one.default, int | float | str)
    }


def _running(actuator: Actuator, at: int) -> dict[tuple[str, str], float]:
    """Return the same of running components, for one joint of the first robot, without those of the host program."""
    found: dict[tuple[str, str], float] = {}
    for kind, component in actuator.by_kind:
        line = catalogue.law_of(type(component)) if _has_no_row(kind) else None
        for name, described in parameters_of(line.config).items() if line is not None else ():
            if line is not None and name in component.PARAMETERS and described.type in ("float", "int"):
                values = component.read(name).reshape(-1, len(actuator.dof_names))
                found[f"{law_of(line.config)}.{name}", described.unit] = float(values[0, at])
    return found


def _applied_to(actuator: Actuator) -> Iterator[tuple[str, tuple[float, float, float]]]:
    """Iterate over the joints: name, and kp, kd and the largest effort of the running components."""
    kp, kd, _ = feedback_gains(actuator, 1)[:, 0].tolist()
    yield from zip(actuator.dof_names, zip(kp, kd, largest_efforts(actuator, 1)[0].tolist(), strict=True), strict=True)


def _of_joint(value: object, at: int) -> Any:
    """Return the value of one joint; files have no values per robot."""
    return value[..., at].item() if isinstance(value, np.ndarray) else value


@dataclass(frozen=True)
class GroupedValue:
    """A property, the field of the cfg, that the cfg lacks, or has with another value than the robot, `file`; in SI."""

    robot: str
    group: str
    joint: str
    property: str
    file: float
    config: float | None
    applied: float
    rule: str


def resolve_groups(file: str | os.PathLike[str]) -> list[GroupedValue]:
    """Return the resolution table of the groups that a stage keeps, by the rules that it keeps with them."""
    path, rows = path_of("file", file), list[GroupedValue]()
    with warnings.catch_warnings():
        # joints in no group are not in the table either
        warnings.simplefilter("ignore", UserWarning)
        with Simulation(path) as sim:
            if sim.stage is None:
                raise ValueError(f"{path}: keeps no groups, for it is not USD. Give motors instead, --config.")
            sim.play()
            for robot in inspect_robots(path):
                with ArticulationActuators.from_groups(robot.path, groups_of(sim.stage, robot.path)) as wrapper:
                    rows += [_value(robot.path, row) for row in wrapper.resolution_table().rows]
    return rows


def _value(robot: str, row: Row) -> GroupedValue:
    rule = "unspecified: that of the robot" if row.cfg_value is None else "cfg of the group"
    if row.property == "effort_limit_sim" and row.applied == EXPLICIT_EFFORT_LIMIT_SIM:
        rule = "explicit: Isaac Lab leaves the limit to the model"
    rule += "" if row.rules == "documentation" else f"; rules {row.rules}"
    return GroupedValue(robot, row.group, row.name, row.property, row.usd_value, row.cfg_value, row.applied, rule)
