"""The motors of a robot as plain data, by pattern of joint names.

A number of a motor is one for all its joints, a dictionary by pattern, or in Python an array with one value per robot,
or per robot and joint. Tables and paths are shared by all joints.
"""

from __future__ import annotations

import dataclasses
import math
import numbers
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from ..base.errors import shown
from .configs import (
    ClampingConfig,
    Config,
    ControlConfig,
    DCMotorClampingConfig,
    DelayConfig,
    ElectricalConfig,
    EnvelopeClampingConfig,
    FrictionConfig,
    MaxEffortClampingConfig,
    PDControlConfig,
    ServoControlConfig,
)
from .distributions import Uniform
from .engine_friction import is_friction
from .fields import Parameter, complaint, conflicts, parameter, parameters_of
from .patterns import pattern_problem
from .stages import NAMED, Staged, kind_of, parts_of, places_of

if TYPE_CHECKING:
    pass

# figures of a data sheet
_POSITIVE = Parameter("", "float", "", None, lower=0.0, above=True)
_NOT_NEGATIVE = Parameter("", "float", "", None, lower=0.0)
_SHARE = Parameter("", "float", "", None, lower=0.0, above=True, upper=1.0)


@dataclass
class MotorConfig(Staged):
    """The motor of a joint: control law, effort limits, delay and further stages, and properties of the joint itself.

    Units are those of the joint, rad and N·m for a revolute one, m and N for a prismatic one. With a transmission,
    control law, winding and limits are in units of the motor. Values are checked on use, not here.
    """

    controller: ControlConfig | None = None
    """The control law; None keeps the simulator's drive."""
    clamping: list[ClampingConfig] = field(default_factory=list[ClampingConfig])
    """Effort limits, applied in canonical order, maximum effort last."""
    delay: DelayConfig | None = None
    """Command delay, or None."""
    armature: float | dict[str, float] | None = parameter(
        None, attribute="newton:armature", type="float", unit="kg·m² or kg", fallback=0.0, lower=0.0
    )
    """Inertia of the rotor at the joint [kg·m² or kg], or by pattern; None keeps that of the robot."""
    friction: float | dict[str, float] | None = parameter(
        None, attribute="newton:friction", type="float", unit="N·m or N", fallback=0.0, lower=0.0
    )
    """Dry friction of the joint [N·m or N], or by pattern; None keeps that of the robot."""
    others: list[Config] = field(default_factory=list[Config])
    """Stages of other kinds, applied in the order of `KINDS`, and in canonical order within a kind."""
    viscous_friction: float | dict[str, float] | None = parameter(
        None, attribute="newton:damping", type="float", unit="N·m·s/rad or N·s/m", fallback=0.0, lower=0.0
    )
    """Viscous friction of the joint [N·m·s/rad or N·s/m], or by pattern; None keeps that of the robot."""
    intervals: dict[str, tuple[float, float]] = field(default_factory=dict[str, tuple[float, float]])
    """90 % intervals of identified values by the names that `randomize` takes, such as `coulomb`. They have no effect;
    `from_identified` makes distributions of them."""

    def __post_init__(self) -> None:
        self.controller, self.others = self.with_switches()

    @classmethod
    def from_datasheet(
        cls,
        stall_torque: float,
        no_load_speed: float,
        gear_ratio: float = 1.0,
        rotor_inertia: float = 0.0,
        *,
        max_torque: float | None = None,
        efficiency: float = 1.0,
        kp: float | dict[str, float],
        kd: float | dict[str, float],
        friction: float | dict[str, float] | None = None,
        delay_steps: int | dict[str, int] | None = None,
    ) -> MotorConfig:
        """Return a PD-controlled DC motor with the limits and the armature that its data sheet implies at the joint.

        The figures are those of the rotor, before the gear; give those of a whole servo with `gear_ratio=1`. Efforts
        are multiplied by `gear_ratio · efficiency`, speeds divided by `gear_ratio`, and the armature is
        `rotor_inertia · gear_ratio²`; `specs/datasheet.py` has equations, sources and conversions of units.

        Args:
            stall_torque: Torque of the held rotor at the voltage used [N·m].
            no_load_speed: Speed of the free rotor at that voltage [rad/s].
            gear_ratio: Turns of the rotor per turn of the joint; radians per metre for a joint that slides.
            rotor_inertia: Inertia of the rotor, and of what turns with it, at the rotor [kg·m²].
            max_torque: Largest torque at any speed that current or gear allow, at the rotor [N·m]; None means the
                stall torque.
            efficiency: Share of the torque that the gear passes on, in (0, 1]. It holds in both directions of power,
                so losses help to brake in reality and do not here.
            kp: Stiffness at the joint [N·m/rad or N/m], or by pattern.
            kd: Damping at the joint [N·m·s/rad or N·s/m], or by pattern.
            friction: Dry friction at the joint [N·m or N], or by pattern; None leaves that of the robot.
            delay_steps: Command delay [physics steps], or by pattern; None means none.

        Raises:
            ValueError: A figure is not finite or out of range; a line for each.

        Example:
            >>> motor = MotorConfig.from_datasheet(2.0, 300.0, 10.0, 1e-4, max_torque=1.5, kp=80.0, kd=2.0)
            >>> motor.clamping
            [DCMotorClampingConfig(saturation_effort=20.0, velocity_limit=30.0, max_motor_effort=15.0)]
            >>> motor.armature
            0.01
        """
        figures = {
            "stall_torque": (stall_torque, _POSITIVE),
            "no_load_speed": (no_load_speed, _POSITIVE),
            "gear_ratio": (gear_ratio, _POSITIVE),
            "rotor_inertia": (rotor_inertia, _NOT_NEGATIVE),
            "efficiency": (efficiency, _SHARE),
        }
        if max_torque is not None:
            figures["max_torque"] = (max_torque, _POSITIVE)
        if problems := [why for name, (value, rule) in figures.items() if (why := complaint(name, value, rule))]:
            raise ValueError("\n".join(problems))
        passed_on = gear_ratio * efficiency
        limit = DCMotorClampingConfig(
            saturation_effort=stall_torque * passed_on,
            velocity_limit=no_load_speed / gear_ratio,
            max_motor_effort=(stall_torque if max_torque is None else max_torque) * passed_on,
        )
        return cls._with_pd(limit, rotor_inertia * gear_ratio**2, kp, kd, friction, delay_steps)

    @classmethod
    def from_catalogue(
        cls,
        name: str,
        *,
        kp: float | dict[str, float],
        kd: float | dict[str, float],
        friction: float | dict[str, float] | None = None,
        delay_steps: int | dict[str, int] | None = None,
    ) -> MotorConfig:
        """Return a PD-controlled motor with the published figures of a real one.

        The limit is the envelope of the motor where it is published. Otherwise it is that of a DC motor where stall
        torque and no-load speed are published or follow from the winding, and the largest torque where not. The largest
        speed limits nothing. Without a published armature, the robot keeps its own.

        Args:
            name: As in `specs/motor_catalogue.py`, which has figures and sources; `motor_figures` returns them.
            kp: Stiffness [N·m/rad], or by pattern.
            kd: Damping [N·m·s/rad], or by pattern.
            friction: Dry friction [N·m], or by pattern; None takes the published one with the viscous friction, or
                leaves that of the robot.
            delay_steps: Command delay [physics steps], or by pattern; None means none.

        Raises:
            ValueError: There is no such motor, no limit of it is published, or a number is out of range.

        Example:
            >>> MotorConfig.from_catalogue("mini_cheetah", kp=20.0, kd=0.5).clamping
            [MaxEffortClampingConfig(max_effort=17.0)]
        """
        # loaded on demand: most robots need none of these figures
        from .motor_catalogue import motor_figures

        figures = motor_figures(name)
        line, largest = figures.line, figures.max_torque
        corner, end = figures.full_effort_speed, figures.no_load_speed
        limit: ClampingConfig
        if corner is not None and end is not None and largest is not None:
            limit = EnvelopeClampingConfig.from_unitree(corner, end, largest, figures.braking_torque)
        elif line is not None:
            limit = DCMotorClampingConfig(*line, min(math.inf if largest is None else largest, line[0]))
        elif largest is not None:
            limit = MaxEffortClampingConfig(largest)
        else:
            raise ValueError(
                f"motor = {name!r}: must have a published torque limit, and has none. Build a MotorConfig from "
                "motor_figures and the limit of its drive."
            )
        made = cls._with_pd(limit, figures.armature, kp, kd, friction, delay_steps)
        if friction is None:
            made.friction, made.viscous_friction = figures.friction, figures.viscous_friction
        return made

    @classmethod
    def from_bam(
        cls,
        path_or_dict: str | os.PathLike[str] | Mapping[str, object],
        *,
        servo: str = "",
        kp: float | None = None,
        voltage: float | None = None,
        quadratic_when_opposed: bool = True,
        unused: dict[str, object] | None = None,
    ) -> MotorConfig:
        """Return a hobby servo that BAM identified: its firmware, winding, friction and armature.

        Args:
            path_or_dict: A parameter file of BAM, or its content, also `BamActuatorCfg` of Isaac Lab as a dictionary or
                the values of newton's `NewtonBamDriveAPI`; `specs/bam.py` lists the names.
            servo: Name in `ServoControlConfig.of` of the servo whose firmware takes the place of values that the
                parameters lack, by default that which they name under `actuator`.
            kp: Gain of the firmware, in place of that of the parameters.
            voltage: Voltage of the battery [V], in place of that of the parameters, `vin`.
            quadratic_when_opposed: As in `FrictionConfig.from_bam`.
            unused: Takes what has no place in a motor, by name. None means a warning.

        Raises:
            ValueError: Parameters are missing or out of range; a line for each.
            OSError: The file cannot be read.

        Warns:
            UserWarning: Parameters without a place, by name.

        The armature is also the assumed inertia of the friction, for simulators that give none: it is a part of the
        true one. With a `backlash`, the rotor is a mass of its own behind an `ElasticTransmissionConfig`, and the joint
        has no armature.

        Example:
            >>> motor = MotorConfig.from_bam({"model": "m1", "kt": 0.387, "R": 4.02, "armature": 0.0018,
            ...     "friction_base": 0.0128, "friction_viscous": 0.0037}, servo="XL330", kp=200.0)
            >>> motor.controller.kp, motor.others[0].command, motor.armature
            (200.0, 'voltage', 0.0018)
        """
        # most programs read no such file
        from .bam import friction_of_bam, play_of, servo_of_bam, taken

        friction: dict[str, Any]
        friction, rest = friction_of_bam(path_or_dict, parameters_of(FrictionConfig))
        winding, firmware, rest = servo_of_bam(rest, servo)
        firmware |= {name: value for name, value in {"kp": kp, "voltage": voltage}.items() if value is not None}
        armature, backlash = taken(rest, "armature"), taken(rest, "backlash")
        friction |= {"assumed_inertia": armature or 0.0, "quadratic_when_opposed": quadratic_when_opposed}
        others: list[Config] = [
            ElectricalConfig(**winding, voltage=firmware["voltage"], command="voltage"),
            FrictionConfig(**friction),
        ]
        if backlash:
            # the rotor is a mass of its own
            others.insert(1, play_of(backlash, armature or 0.0))
            armature = None
        made = cls(controller=ServoControlConfig(**firmware), armature=armature, others=others)
        if problems := problems_of(made, "bam"):
            raise ValueError("\n".join(problems))
        if unused is not None:
            unused.update(rest)
        elif rest:
            warnings.warn(
                f"from_bam: {', '.join(map(str, rest))} have no place in a motor. Pass unused={{}}, which takes them.",
                stacklevel=2,
            )
        return made

    @classmethod
    def _with_pd(
        cls, limit: ClampingConfig, armature: float | None, kp: Any, kd: Any, friction: Any, delay_steps: Any
    ) -> MotorConfig:
        made = cls(
            controller=PDControlConfig(kp=kp, kd=kd),
            clamping=[limit],
            delay=None if delay_steps is None else DelayConfig(delay_steps),
            armature=armature,
            friction=friction,
        )
        if problems := problems_of(made, "motor"):
            raise ValueError("\n".join(problems))
        return made


Motors = Mapping[str, MotorConfig | Sequence[Config]]
"""Motors by pattern of joint names; a list of configs stands for a `MotorConfig` of them."""


def motor_of(value: object) -> MotorConfig:
    """Return the motor that a `MotorConfig` or a list of configs describes."""
    wanted = "must be a MotorConfig or a list of configs"
    if isinstance(value, MotorConfig):
        _require_kinds(value)
        return value
    if isinstance(value, Config):
        raise TypeError(f"motor = {shown(value)}: {wanted}. Put it into a list.")
    if not isinstance(value, list | tuple):
        raise TypeError(f"motor = {shown(value)}: {wanted}. Pass one of these.")
    given = cast(Sequence[object], value)
    for one in given:
        if not isinstance(one, Config):
            raise TypeError(f"motor has {shown(one)}: {wanted}. Pass configs such as PDControlConfig(kp=80.0, kd=2.0).")
    return MotorConfig(**parts_of(given, "motor"))


def with_friction_stage(motor: MotorConfig) -> MotorConfig:
    """Return a motor with a friction stage in place of the friction of its joint, of which it has all.

    A motor without friction, or with a friction stage, is returned as it is.
    """
    given = {"coulomb": motor.friction, "viscous": motor.viscous_friction}
    values: dict[str, Any] = {name: value for name, value in given.items() if value}
    if not values or any(map(is_friction, motor.others)):
        return motor
    others = [*motor.others, FrictionConfig(**values)]
    return dataclasses.replace(motor, friction=None, viscous_friction=None, others=others)


def _require_kinds(motor: MotorConfig) -> None:
    for kind, stage in motor.by_kind:
        if not (isinstance(stage, Config) and kind_of(stage) == kind):
            place = kind or "others"
            raise TypeError(f"MotorConfig.{place} = {shown(stage)}: must be a config of that kind. Pass one of those.")
    if named := [stage for stage in motor.others if kind_of(stage) in NAMED]:
        raise TypeError(
            f"MotorConfig.others has {shown(named[0])}: must hold stages without a name of their own. Give it as "
            f"{kind_of(named[0])}."
        )


def interval_problems(intervals: object, subject: str) -> list[str]:
    """Return what is wrong with the `intervals` of a motor, a line each; they may be of any type."""
    if not isinstance(intervals, Mapping):
        return [f"{subject} = {shown(intervals)}: must be intervals by name. Write name: [low, high]."]
    return [
        f"{subject}.{name} = {shown(pair)}: must be two finite numbers that do not fall. Correct it."
        for name, pair in cast(Mapping[object, Any], intervals).items()
        if not (type(pair) in (list, tuple) and len(pair) == 2 and not Uniform(*pair).problems())
    ]


def problems_of(motor: MotorConfig, subject: str) -> list[str]:
    """Return one message per value of a motor that breaks its rule, also inside dictionaries and arrays."""
    problems = [
        found
        for name, described in parameters_of(motor).items()
        if (value := getattr(motor, name)) is not None
        for found in _complaints(f"{subject}.{name}", value, described)
    ]
    problems += interval_problems(motor.intervals, f"{subject}.intervals")
    for place, config in places_of(motor):
        where = f"{subject}.{place}"
        single = [
            found
            for name, described in parameters_of(config).items()
            for found in _complaints(f"{where}.{name}", getattr(config, name), described)
        ]
        problems += single or conflicts(config, where)
    return problems


def _complaints(subject: str, value: object, described: Parameter) -> Iterator[str]:
    found: list[tuple[str, object]]
    if not described.is_single:
        found = [(subject, value)]
    elif isinstance(value, Mapping):
        patterns: list[object] = list(cast(Mapping[object, object], value))
        yield from (f"{subject}: {shown(one)} {why}" for one in patterns if (why := pattern_problem(one)))
        if not patterns:
            yield f"{subject} = {{}}: must have a value for each joint. Give a number, or numbers by pattern."
        found = [(f"{subject}[{shown(one)}]", value[one]) for one in patterns]
    else:
        found = list(_entries(subject, value))
    yield from filter(None, (complaint(place, one, described, of_motor=True) for place, one in found))


def _entries(subject: str, value: Any) -> Iterator[tuple[str, object]]:
    if not isinstance(value, list | tuple):
        # arrays of NumPy, Torch and Warp; their scalars are numbers
        if isinstance(value, numbers.Number) or not hasattr(value, "shape"):
            yield subject, value
            return
        value = value.tolist() if hasattr(value, "tolist") else value.numpy().tolist()
        if not isinstance(value, list):
            yield subject, value
            return
    for index, one in enumerate(cast(Sequence[object], value)):
        yield from _entries(f"{subject}[{index}]", one)
