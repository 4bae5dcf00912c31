"""The robot to export: its joints in DOF order, each with its motor and the features of it."""

from __future__ import annotations

import contextlib
import functools
import math
import os
import warnings
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.motors import motors_by_joint
from ...laws.contract.catalogue import snake_case
from ...simulators.authoring import motors_of_robot
from ...simulators.binding import Binding
from ...simulators.motor_properties import effort_limits, read_property, values_of_author
from ...simulators.simulation import Simulation
from ...specs.arguments import HAVE_MOTORS, path_of
from ...specs.configs import (
    CommandLagConfig,
    Config,
    DCMotorClampingConfig,
    DelayConfig,
    ForeignConfig,
    MaxEffortClampingConfig,
    PDControlConfig,
    PIDControlConfig,
    RateConfig,
    SlewedPIDControlConfig,
    StartupPDControlConfig,
)
from ...specs.engine_friction import beyond_levels, is_friction, is_in_engine, portable_levels
from ...specs.fields import parameters_of
from ...specs.late import TimedDelayConfig
from ...specs.motors import MotorConfig, Motors
from ...specs.stages import is_geared, is_linked, parts_of, without_idle
from ...specs.transmission import armature

if TYPE_CHECKING:
    from ...simulators.physics_articulation import PhysicsArticulation

FEATURES = {
    "kp": "proportional gain",
    "kd": "derivative gain",
    "ki": "integral gain",
    "integral_max": "limit of the integral",
    "const_effort": "constant effort",
    "max_rate": "largest velocity of the setpoint",
    "max_effort": "largest effort",
    "dc_motor": "DC-motor limit",
    "delay_steps": "command delay",
    "time_constant": "first-order lag of the commands",
    "armature": "armature",
    "friction": "dry friction",
    "static_friction": "static friction",
    "viscous_friction": "viscous friction",
    "position_limits": "position limits",
    "velocity_limit": "speed limit",
}
"""Properties of motors and joints that targets other than our own files may store, with their names in messages."""

AT_MOTOR = frozenset({"kp", "kd", "ki", "integral_max", "const_effort", "max_rate", "max_effort", "dc_motor"})
"""Features that are those of the motor where a joint `is_geared`."""

OF_JOINT = frozenset({"armature", "friction", "static_friction", "viscous_friction"})
"""Features that a real joint has by itself."""

_PROPERTIES = ("armature", "friction", "viscous_friction")
# features whose intervals have other names
_LEVELS = {"coulomb": "friction", "static": "static_friction", "viscous": "viscous_friction"}
_FRICTION = frozenset({"friction", "viscous_friction"})
_STRIBECK = ("stribeck_velocity", "stribeck_exponent")
_UNLIMITED = 1e30
# of steps, below which a delay is a whole number of them
_DIGITS = 4
_WHOLE = (
    *(PDControlConfig, PIDControlConfig, SlewedPIDControlConfig),
    *(MaxEffortClampingConfig, DCMotorClampingConfig, DelayConfig, CommandLagConfig),
)


# fields of laws that features say in part
_IN_PART: dict[type[Config], tuple[str, ...]] = {
    TimedDelayConfig: ("seconds", "steps"),
    StartupPDControlConfig: ("kp", "kd", "const_effort"),
}


@dataclass(frozen=True)
class ExportedJoint:
    """A joint with its motor, in SI.

    Args:
        name: Name of the DOF.
        is_linear: True if it slides.
        motor: The motor with numbers of this joint; None if it has none.
        features: Values that are set, by name: `kp`, `kd`, `ki`, `integral_max`, `const_effort`, `max_rate`,
            `max_effort`, `dc_motor` (stall effort, no-load speed, peak effort), `delay_steps`, `time_constant`,
            `armature`, `friction`, `static_friction` (only where it is above `friction`), `viscous_friction`,
            `position_limits` (lowest, highest; infinite for none) and `velocity_limit`. Friction is also that of a
            stage, as far as these say it; armature also that of the rotor of a transmission.
        laws: Kind and name, as in motor files, of laws that these features cannot say wholly: `feedback encoder`.
        zeros: Armature and friction that given motors set to 0, by name; they are no features.
        delay: Command delay that is not a number of physics steps by itself [s]; `delay_steps` is rounded up.
    """

    name: str
    is_linear: bool
    motor: MotorConfig | None
    features: dict[str, Any]
    laws: tuple[str, ...]
    zeros: tuple[str, ...] = ()
    delay: float = 0.0

    def value(self, feature: str) -> float:
        """Return the value of a feature that is one number (SI); 0 if it is not set."""
        return float(self.features.get(feature, 0.0))

    def stated(self, names: Mapping[str, str]) -> dict[str, str]:
        """Return features that are one number and set, zeros of given motors included, as text.

        Args:
            names: Names in a target by those of the features.
        """
        return {name: text_of(float(self.given[own])) for own, name in names.items() if own in self.given}

    @property
    def given(self) -> dict[str, Any]:
        """Features and zeros of given motors; a value that a cfg omits is that of the robot."""
        return dict.fromkeys(self.zeros, 0.0) | self.features

    @property
    def intervals(self) -> dict[str, tuple[float, float]]:
        """90 % intervals of identified values, by feature, or by the name that `randomize` takes."""
        own = {} if self.motor is None else self.motor.intervals
        return {_LEVELS.get(name, name): pair for name, pair in own.items()}

    @property
    def is_geared(self) -> bool:
        """True if its motor moves it through a gear or a linkage: gains and limits are not those of the joint."""
        return self.motor is not None and is_geared(self.motor)

    @property
    def has_gains(self) -> bool:
        """True if its control law is a PD or PID at the joint."""
        return "kp" in self.features and not self.is_geared

    @property
    def position_limits(self) -> tuple[float, float] | None:
        """Lowest and highest position [rad or m], of a joint that has both."""
        found = self.features.get("position_limits")
        return None if found is None or max(map(abs, found)) >= _UNLIMITED else found

    @property
    def largest_effort(self) -> float:
        """Largest effort at any speed [N·m or N]; inf for no limit, and where the limit is not one of the joint."""
        if self.is_geared:
            return math.inf
        stall, _, peak = self.features.get("dc_motor", (math.inf, math.inf, math.inf))
        most = min(float(self.features.get("max_effort", math.inf)), peak)
        # a motor that brakes can give more than at rest, up to its peak
        return most if math.isfinite(most) else stall


@dataclass(frozen=True)
class ExportedRobot:
    """A robot to export.

    Args:
        name: Name of the file it is from, without its ending.
        path: Path of the robot in it.
        joints: Its joints, in DOF order.
        file: The file it is from; None means none.
        dt: Physics step, in which delays are counted [s].
        led: Names of joints that couplings and tendons move.
        is_given: True if its motors are not those of the file.
    """

    name: str
    path: str
    joints: tuple[ExportedJoint, ...]
    file: Path | None = None
    dt: float = math.nan
    led: Collection[str] = ()
    is_given: bool = True

    @property
    def motors(self) -> dict[str, MotorConfig]:
        """The motors by the names of their joints."""
        return {joint.name: joint.motor for joint in self.joints if joint.motor is not None}


def read_robot(
    file: str | os.PathLike[str], config: Motors | None = None, robot: str | None = None, dt: float | None = None
) -> ExportedRobot:
    """Return the robot of a file with its motors.

    Args:
        file: Path of a USD, MJCF or URDF file.
        config: Motors by pattern of joint names in place of those of the file; None means those of the file.
        robot: Path of the robot in the file; None means the only one.
        dt: Physics step of the other system [s], in which delays in seconds are counted; None means that of the file.

    Raises:
        ValueError: The file has several robots and `robot` is None, cannot be simulated, its motors cannot be used, or
            `dt` is no physics step.
        FileNotFoundError: The file does not exist.
    """
    path = path_of("file", file)
    with warnings.catch_warnings(), contextlib.ExitStack() as stack:
        warnings.filterwarnings("ignore", HAVE_MOTORS)
        simulation = stack.enter_context(Simulation(path, dt))
        # the losses name joints without a motor
        warnings.simplefilter("ignore", UserWarning)
        found = simulation.articulation("/" if robot is None else robot)
        if len(found.paths) != 1:
            raise ValueError(
                f"{path}: has {len(found.paths)} robots, {', '.join(found.paths)}: must be one. "
                "Give its path by --robot."
            )
        given = motors_of_robot(simulation, found.paths[0]) if config is None else config
        joints = tuple(_joints(found, simulation, given, is_given=config is not None))
        led = Binding(found).following_dofs(simulation.stage, [one.name for one in joints if one.motor is not None])
        return ExportedRobot(
            Path(path).stem, found.paths[0], joints, Path(path), simulation.dt, led, config is not None
        )


def _joints(
    found: PhysicsArticulation, simulation: Simulation, given: Motors, is_given: bool
) -> Iterator[ExportedJoint]:
    """Yield the joints of an articulation with their motors, `is_given` if these are not those of its file."""
    names = list(found.dof_names)
    motors = motors_by_joint(given, names, functools.partial(effort_limits, found, simulation.stage))
    properties = _own(found)
    if is_given:
        axes = [(found.prototype_dof_paths[names.index(name)], name) for name, motor in motors.items() if motor.stages]
        for one in values_of_author(simulation, Binding(found), axes):
            for (_, name), value in zip(one.axes, one.values[0, 0].tolist(), strict=True):
                properties[names.index(name)][one.name] = value
    for name, kind, own in zip(names, found.dof_types, properties, strict=True):
        is_linear = "transl" in str(kind).lower()
        yield joint_of(name, is_linear, motors.get(name), own, simulation.dt, is_given=is_given)


def _own(found: PhysicsArticulation) -> list[dict[str, float]]:
    """Return what a robot has of each of its joints, as far as the engine knows it."""
    columns = {name: read_property(found, name) for name in (*_PROPERTIES, "velocity_limit_sim")}
    columns["lower"], columns["upper"] = (limits.numpy() for limits in found.get_dof_limits())
    known = {name: map(_plain, values[0].tolist()) for name, values in columns.items() if values is not None}
    return [dict(zip(known, row, strict=True)) for row in zip(*known.values(), strict=True)]


def _plain(value: float) -> float:
    """Return a number without what a change of units leaves in single precision: 10 of 10.000001."""
    plain = float(f"{value:.6g}")
    return plain if abs(plain - value) <= 2e-7 * abs(value) else value


def joint_of(
    name: str, is_linear: bool, motor: MotorConfig | None, own: Mapping[str, float], dt: float, *, is_given: bool
) -> ExportedJoint:
    """Return a joint with the properties of its motor, else its own: armature, friction and limits, as far as known.

    `dt` is the physics step [s]; `is_given` says that the motor is not that of the file.
    """
    said = motor or MotorConfig()
    properties = _properties(said, own)
    features = _said(said) | properties | _limits(own)
    if not is_linked(said) and (rotor := armature(said)) is not None:
        features["armature"] = float(rotor)
    delay, has_steps = _delay(said, dt)
    features |= {"delay_steps": math.ceil(round(delay / dt, _DIGITS))} if delay else {}
    laws = tuple(name_of(one) for one in without_idle(said) if unsaid(one) is not None)
    exported = motor and MotorConfig(**parts_of(said.stages), **properties, intervals=said.intervals)
    zeros = tuple(sorted(_zeros(said, is_given) - features.keys()))
    return ExportedJoint(name, is_linear, exported, features, laws, zeros, 0.0 if has_steps else delay)


def _zeros(motor: MotorConfig, is_given: bool) -> set[str]:
    """Return the properties that are 0 where no feature has them, whatever those of the robot are."""
    # the motors of most files have a 0 for what they do not say; a stage is the whole friction
    zeros = {name for name in _PROPERTIES if is_given and getattr(motor, name) == 0.0}
    return zeros | (_FRICTION if any(map(is_friction, motor.stages)) else set())


def name_of(stage: Config) -> str:
    """Return kind and name of a law, as in motor files, once if they are one; of the user's own law, its schema."""
    name = stage.SCHEMA if isinstance(stage, ForeignConfig) else snake_case(type(stage).stem())
    return " ".join(dict.fromkeys((stage.KIND, name)))


def unsaid(stage: Config) -> dict[str, Any] | None:
    """Return the values of a stage that features cannot say, those at their defaults left out; None if they say all."""
    if isinstance(stage, _WHOLE) or (isinstance(stage, TimedDelayConfig) and not stage.random_steps):
        return None
    if is_friction(stage):
        return _unsaid_of_friction(stage) or None
    said = _IN_PART.get(type(stage), ())
    unsaid = {
        name: one.word(value)
        for name, one in parameters_of(type(stage)).items()
        if name not in said and (value := one.number(getattr(stage, name))) not in ([], one.number(one.fallback))
    }
    return None if said and not unsaid else unsaid


def _unsaid_of_friction(stage: Config) -> dict[str, object]:
    coulomb, static, _ = portable_levels(stage)
    has_curve = static > coulomb and not is_in_engine(stage)
    shape = {name: getattr(stage, name) for name in _STRIBECK if has_curve and hasattr(stage, name)}
    return shape | beyond_levels(stage)


def _delay(motor: MotorConfig, dt: float) -> tuple[float, bool]:
    """Return the command delay of a motor [s], what is drawn at random left out, and whether it is whole steps."""
    if (delay := motor.delay) is None:
        return 0.0, True
    rate = next((one for one in motor.others if isinstance(one, RateConfig)), None)
    # with a rate, steps are those of the controller
    period = dt if rate is None else rate.period(dt)
    if isinstance(delay, DelayConfig):
        return delay.delay_steps * period, rate is None
    return delay.steps * period + delay.seconds, not delay.seconds and rate is None and delay.steps == int(delay.steps)


def _limits(own: Mapping[str, float]) -> dict[str, Any]:
    """Return the limits of a joint that are set: those of its position, and of its speed."""
    positions = own.get("lower", -math.inf), own.get("upper", math.inf)
    speed = own.get("velocity_limit_sim", math.inf)
    found: dict[str, Any] = {"position_limits": positions} if min(map(abs, positions)) < _UNLIMITED else {}
    return found | ({"velocity_limit": speed} if speed < _UNLIMITED else {})


def _properties(motor: MotorConfig, own: Mapping[str, float]) -> dict[str, Any]:
    """Return properties of a joint that are not zero: those of its motor, else its own.

    Friction is left out where a stage replaces it, and armature where a transmission has the rotor.
    """
    replaced = set(_FRICTION) if any(map(is_friction, motor.stages)) else set[str]()
    replaced |= {"armature"} if armature(motor) is not None else set()
    said = {name: own.get(name, 0.0) if (value := getattr(motor, name)) is None else value for name in _PROPERTIES}
    return {name: float(value) for name, value in said.items() if value and name not in replaced}


def _of_controller(
    law: PDControlConfig | StartupPDControlConfig | PIDControlConfig | SlewedPIDControlConfig,
) -> dict[str, Any]:
    """Return the features of a controller at the joint."""
    features = {"kp": law.kp, "kd": law.kd} | _not_zero({"const_effort": law.const_effort})
    if isinstance(law, PIDControlConfig | SlewedPIDControlConfig) and law.ki:
        features["ki"] = law.ki
        features |= {"integral_max": law.integral_max} if math.isfinite(law.integral_max) else {}
    if isinstance(law, SlewedPIDControlConfig) and math.isfinite(law.max_rate):
        features["max_rate"] = law.max_rate
    return features


def _said(motor: MotorConfig) -> dict[str, Any]:
    """Return features of the stages of a motor."""
    features: dict[str, Any] = {}
    for stage in motor.stages:
        if isinstance(stage, PDControlConfig | StartupPDControlConfig | PIDControlConfig | SlewedPIDControlConfig):
            features |= _of_controller(stage)
        elif isinstance(stage, MaxEffortClampingConfig) and math.isfinite(float(stage.max_effort)):
            features["max_effort"] = stage.max_effort
        elif isinstance(stage, DCMotorClampingConfig):
            features["dc_motor"] = (stage.saturation_effort, stage.velocity_limit, float(stage.max_motor_effort))
        elif isinstance(stage, CommandLagConfig):
            features |= _not_zero({"time_constant": stage.time_constant})
        elif is_friction(stage):
            coulomb, static, viscous = portable_levels(stage)
            levels = {"friction": coulomb, "viscous_friction": viscous, "static_friction": static * (static > coulomb)}
            features |= _not_zero(levels)
    return features


def _not_zero(values: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in values.items() if value}


def text_of(value: float) -> str:
    """Return the shortest text of the float32 next to a number: `0.1`, not `0.10000000149011612`."""
    single = np.float32(value)
    return str(int(single)) if single == np.rint(single) and abs(single) < 1e6 else str(single)
