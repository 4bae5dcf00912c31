"""The configs a user writes: plain mutable dataclasses, one per USD schema.

Units are those of the joint: rad, rad/s and N·m for a revolute one, m, m/s and N for a prismatic one; never degrees.
Constructors do not check values, but for the table of `PositionBasedClampingConfig`; authoring and parsing do, against
the field descriptions.
Source: newton-usd-schemas 0.6.0.
"""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, ClassVar, Literal, Self, Unpack

from .brake import BrakeConfig
from .command import CommandLagConfig, EffortLagConfig, WrapConfig
from .config import MAX_TABLE_ROWS, ClampingConfig, Config, ControlConfig, PassiveConfig, checked_table, table_conflicts
from .electrical import ElectricalConfig
from .encoder import EncoderConfig
from .engine_friction import engine_problems
from .envelope import EnvelopeClampingConfig
from .fields import Description, described, parameter, parameters_of, required
from .implicit import ImplicitConfig
from .late import MAX_DELAY_STEPS, EffortDelayConfig, TimedDelayConfig
from .linkage import LinkageConfig
from .motor_losses import LossesConfig
from .rate import RateConfig
from .servo import ServoControlConfig, StartupPDControlConfig
from .shaft import ShaftFrictionConfig, ShaftInertiaConfig
from .slewed import SlewedPIDControlConfig
from .stepper import StepperControlConfig
from .supply import SupplyConfig
from .thermal import ThermalConfig
from .transmission import ElasticTransmissionConfig, TransmissionConfig


def _of_newton(name: str, unit: str, fallback: object, /, **rule: Unpack[Description]) -> Description:
    """The description of a number in an attribute of newton."""
    return described("", "", unit, fallback, **rule) | {"attribute": f"newton:{name}"}


# what several laws have is described once
_KP = _of_newton("kp", "N·m/rad or N/m", 0.0, lower=0.0)
_KI = _of_newton("ki", "N·m/(rad·s) or N/(m·s)", 0.0, lower=0.0)
_KD = _of_newton("kd", "N·m·s/rad or N·s/m", 0.0, lower=0.0)
_CONST = _of_newton("constEffort", "N·m or N", 0.0)
_INTEGRAL_MAX = _of_newton("integralMax", "rad·s or m·s", math.inf, lower=0.0, infinite=True)
_STALL = _of_newton("saturationEffort", "N·m or N", math.inf, lower=0.0, infinite=True, bounds="effort")
_NO_LOAD = _of_newton("velocityLimit", "rad/s or m/s", math.inf, lower=0.0, above=True, infinite=True, bounds="speed")
_PEAK = _STALL | {"attribute": "newton:maxMotorEffort", "or_joint": True}


def _own(space: str, name: str, described: Description) -> Description:
    """The description of a value in an attribute of our own, which was one of newton's in older files."""
    return described | {"attribute": f"actuator:{space}:{name}", "earlier": f"newton:{name}"}


_GEAR = _own("geared", "gear", _of_newton("gear", "", 1.0))


def _integral_gain(ki: float, integral_max: float) -> float:
    """An integral that may not grow does nothing."""
    return ki * (integral_max > 0.0)


@dataclass
class PDControlConfig(ControlConfig):
    """Proportional-derivative control with a constant bias: `effort = const + feedforward + kp·e + kd·ė`."""

    SCHEMA: ClassVar[str] = "NewtonPDControlAPI"

    kp: float = required(**_KP)
    """Proportional gain (stiffness) [N·m/rad or N/m]."""
    kd: float = required(**_KD)
    """Derivative gain (damping) [N·m·s/rad or N·s/m]."""
    const_effort: float = parameter(**_CONST)
    """Effort added at every step [N·m or N]."""

    def gains_at_joint(self) -> tuple[float, float, float]:
        """Proportional, derivative and integral gain, seen from the joint."""
        return self.kp, self.kd, 0.0


@dataclass
class PIDControlConfig(ControlConfig):
    """PD control with an integral term: `effort = const + feedforward + kp·e + ki·I + kd·ė`."""

    SCHEMA: ClassVar[str] = "NewtonPIDControlAPI"

    kp: float = required(**_KP)
    """Proportional gain [N·m/rad or N/m]."""
    ki: float = required(**_KI)
    """Integral gain [N·m/(rad·s) or N/(m·s)]."""
    kd: float = required(**_KD)
    """Derivative gain [N·m·s/rad or N·s/m]."""
    integral_max: float = parameter(**_INTEGRAL_MAX)
    """Largest integral in either direction [rad·s or m·s], not an effort; inf means no limit."""
    const_effort: float = parameter(**_CONST)
    """Effort added at every step [N·m or N]."""

    def gains_at_joint(self) -> tuple[float, float, float]:
        """Proportional, derivative and integral gain, seen from the joint."""
        return self.kp, self.kd, _integral_gain(self.ki, self.integral_max)


@dataclass
class GearedPDControlConfig(ControlConfig):
    """PD control of the motor before a gear: targets, gains, bias and feedforward are the motor's.

    `effort = gear·(const + feedforward + kp·e + kd·ė)`, where `e = target − gear·position`. The schema is our own.
    """

    SCHEMA: ClassVar[str] = "ActuatorGearedPDControlAPI"
    EARLIER_SCHEMA: ClassVar[str] = "ArticulationGearedPDControlAPI"

    kp: float = required(**_own("geared", "kp", _KP))
    """Proportional gain at the motor [N·m/rad or N/m]."""
    kd: float = required(**_own("geared", "kd", _KD))
    """Derivative gain at the motor [N·m·s/rad or N·s/m]."""
    gear: float = parameter(**_GEAR)
    """Turns of the motor per turn of the joint; negative where it turns the other way."""
    const_effort: float = parameter(**_own("geared", "constEffort", _CONST))
    """Effort added at the motor at every step [N·m or N]."""

    def gains_at_joint(self) -> tuple[float, float, float]:
        """Proportional, derivative and integral gain, seen from the joint."""
        return self.kp * self.gear**2, self.kd * self.gear**2, 0.0


@dataclass
class GearedPIDControlConfig(ControlConfig):
    """PID control of the motor before a gear: targets, gains, integral, bias and feedforward are the motor's.

    `effort = gear·(const + feedforward + kp·e + ki·I + kd·ė)`, where `e = target − gear·position`. The schema is our
    own.
    """

    SCHEMA: ClassVar[str] = "ActuatorGearedPIDControlAPI"
    EARLIER_SCHEMA: ClassVar[str] = "ArticulationGearedPIDControlAPI"

    kp: float = required(**_own("geared", "kp", _KP))
    """Proportional gain at the motor [N·m/rad or N/m]."""
    ki: float = required(**_own("geared", "ki", _KI))
    """Integral gain at the motor [N·m/(rad·s) or N/(m·s)]."""
    kd: float = required(**_own("geared", "kd", _KD))
    """Derivative gain at the motor [N·m·s/rad or N·s/m]."""
    integral_max: float = parameter(**_own("geared", "integralMax", _INTEGRAL_MAX))
    """Largest integral in either direction [rad·s or m·s], not an effort; inf means no limit."""
    gear: float = parameter(**_GEAR)
    """Turns of the motor per turn of the joint; negative where it turns the other way."""
    const_effort: float = parameter(**_own("geared", "constEffort", _CONST))
    """Effort added at the motor at every step [N·m or N]."""

    def gains_at_joint(self) -> tuple[float, float, float]:
        """Proportional, derivative and integral gain, seen from the joint."""
        integral = _integral_gain(self.ki, self.integral_max)
        return self.kp * self.gear**2, self.kd * self.gear**2, integral * self.gear**2


@dataclass
class NeuralControlConfig(ControlConfig):
    """A neural network as control law, stored in a file; the `model_type` in it chooses the controller."""

    SCHEMA: ClassVar[str] = "NewtonNeuralControlAPI"

    model_path: str | PurePath = required(**_of_newton("modelPath", "", None, type="asset"))
    """Path of the model file."""


@dataclass
class MaxEffortClampingConfig(ClampingConfig):
    """Symmetric effort limit: `|effort| <= max_effort`."""

    SCHEMA: ClassVar[str] = "NewtonMaxEffortClampingAPI"

    max_effort: float | Literal["joint"] = required(**_PEAK | {"attribute": "newton:maxEffort"})
    """Largest effort in either direction [N·m or N]; inf means no limit, `"joint"` that of the joint itself."""


@dataclass
class DCMotorClampingConfig(ClampingConfig):
    """Four-quadrant effort limit of a DC motor: what it can give falls with speed."""

    SCHEMA: ClassVar[str] = "NewtonDCMotorClampingAPI"

    saturation_effort: float = required(**_STALL)
    """Stall effort [N·m or N]; inf switches the speed curve off."""
    velocity_limit: float = required(**_NO_LOAD)
    """No-load speed [rad/s or m/s]; inf switches the speed curve off."""
    max_motor_effort: float | Literal["joint"] = required(**_PEAK)
    """Largest effort at any speed [N·m or N]; inf means no limit, `"joint"` that of the joint itself."""

    def idle(self) -> dict[str, str]:
        """The velocity limit, where there is no stall effort."""
        if math.isinf(self.saturation_effort) and math.isfinite(self.velocity_limit):
            return {
                "velocity_limit": "an infinite newton:saturationEffort switches the speed curve off. Author the stall "
                "effort."
            }
        return {}


@dataclass
class DCMotorCutoffClampingConfig(ClampingConfig):
    """Effort limit of a DC motor that is cut off at no-load speed: beyond it the motor gives nothing, and never brakes.

    `DCMotorClampingConfig` goes on falling there. This is what newton-actuators and Isaac Lab until 2.1 did; the schema
    is our own.
    """

    SCHEMA: ClassVar[str] = "ActuatorDCMotorCutoffClampingAPI"
    EARLIER_SCHEMA: ClassVar[str] = "ArticulationDCMotorCutoffClampingAPI"

    saturation_effort: float = required(**_own("cutoff", "saturationEffort", _STALL))
    """Stall effort [N·m or N]; inf leaves `max_motor_effort` up to no-load speed, and nothing from there on."""
    velocity_limit: float = required(**_own("cutoff", "velocityLimit", _NO_LOAD))
    """No-load speed [rad/s or m/s]; inf switches the speed dependence off."""
    max_motor_effort: float | Literal["joint"] = required(**_own("cutoff", "maxMotorEffort", _PEAK))
    """Largest effort at any speed [N·m or N]; inf means no limit, `"joint"` that of the joint itself."""


@dataclass
class PositionBasedClampingConfig(ClampingConfig):
    """Symmetric effort limit that depends on the joint position, as a table.

    Behind a transmission, too, positions and efforts are those of the joint.

    Raises:
        ValueError: The table is empty or has more than 100 000 rows, its columns differ in length, positions decrease,
            or an effort is negative.
    """

    SCHEMA: ClassVar[str] = "NewtonPositionBasedClampingAPI"
    COORDINATES: ClassVar[str] = "joint"

    lookup_positions: list[float] = required(
        **_of_newton("lookupPositions", "rad or m", (), type="float[]", most=MAX_TABLE_ROWS)
    )
    """Positions [rad or m], not decreasing, 100 000 at most."""
    lookup_efforts: list[float] = required(
        **_of_newton("lookupEfforts", "N·m or N", (), type="float[]", lower=0.0, most=MAX_TABLE_ROWS, bounds="effort")
    )
    """Largest effort at each position [N·m or N]."""

    def __post_init__(self) -> None:
        self.lookup_positions, self.lookup_efforts = checked_table(self, "lookup_positions", "lookup_efforts")

    def conflicts(self) -> list[str]:
        """Return the problems of the two columns."""
        return table_conflicts(self, "lookup_positions", "lookup_efforts")


def _of_friction(name: str, unit: str, fallback: object, /, **rule: Unpack[Description]) -> Description:
    return described("friction", name, unit, fallback) | {"lower": 0.0} | rule


def _of_lu_gre(name: str, unit: str, fallback: object, /, **rule: Unpack[Description]) -> Description:
    return _of_friction(name, unit, fallback, **rule) | {"attribute": f"actuator:luGre:{name}"}


def _assumed_inertia(space: str) -> Description:
    """The description of an inertia that is used where the simulator provides none."""
    return _of_friction("", "kg·m² or kg", 0.0) | {"attribute": f"actuator:{space}:assumedInertia"}


def _level_conflicts(static: object, coulomb: object) -> list[str]:
    # of values by joint or robot, a static level below that of motion means the level of motion
    if not (isinstance(static, float | int) and isinstance(coulomb, float | int)):
        return []
    if 0.0 < static < coulomb:
        return [f"static = {static!r}: must be at least coulomb, {coulomb!r}, or 0 for that. Correct either."]
    return []


@dataclass
class FrictionConfig(PassiveConfig):
    """Dry friction with the Stribeck effect and terms that grow with the load, and viscous friction, after all limits.

    A joint that slides at speed v is held back by `level + viscous·|v|`. A joint at rest stays at rest below `level`:

    `level = coulomb + |external_load·τ_e − motor_load·τ_m| + s·(static − coulomb + |stribeck_external_load·τ_e −
    stribeck_motor_load·τ_m| + Q)`, `s = exp(−(|v|/stribeck_velocity)^stribeck_exponent)`

    τ_m is the effort of the motor at the joint, τ_e what else acts on the joint. Q is `quadratic_external_load·τ_e²`
    where the motor drives, `|τ_e| ≤ |τ_m|`, and `quadratic_motor_load·τ_m²` where it is driven. These are the models
    M1 … M6 of BAM (Duclusaud et al., ICRA 2025): M1 has `coulomb` and `viscous`; M2 adds the Stribeck effect; M3 has
    equal `motor_load` and `external_load`, M4 also equal `stribeck_motor_load` and `stribeck_external_load`; M5 has
    different ones; M6 adds Q. The schema is our own. The law needs the effective inertia of the joint.
    """

    SCHEMA: ClassVar[str] = "ActuatorFrictionAPI"

    coulomb: float = parameter(**_of_friction("coulomb", "N·m or N", 0.0))
    """Dry friction at high speed [N·m or N]."""
    viscous: float = parameter(**_of_friction("viscous", "N·m·s/rad or N·s/m", 0.0))
    """Viscous friction [N·m·s/rad or N·s/m]."""
    static: float = parameter(**_of_friction("static", "N·m or N", 0.0))
    """Breakaway level of a joint at rest [N·m or N], at least `coulomb`; 0 means `coulomb`."""
    stribeck_velocity: float = parameter(**_of_friction("stribeckVelocity", "rad/s or m/s", 0.1, above=True))
    """Speed scale of the transition from `static` to `coulomb` [rad/s or m/s]."""
    stribeck_exponent: float = parameter(**_of_friction("stribeckExponent", "", 2.0, above=True))
    """Exponent of the transition."""
    assumed_inertia: float = parameter(**_of_friction("assumedInertia", "kg·m² or kg", 0.0))
    """Effective inertia of the joint [kg·m² or kg] where the simulator provides none, or mass matrices alone.

    Too small an estimate is safe, twice the true one chatters. With 0 mass matrices are read in each step; where there
    are none, every step is a fault.
    """
    motor_load: float = parameter(**_of_friction("motorLoad", "", 0.0, lower=-1.0))
    """Dry friction per effort of the motor, at any speed; negative for some gears near self-locking."""
    external_load: float = parameter(**_of_friction("externalLoad", "", 0.0, lower=-1.0))
    """Dry friction per external effort, at any speed."""
    stribeck_motor_load: float = parameter(**_of_friction("stribeckMotorLoad", "", 0.0))
    """Dry friction per effort of the motor at rest, which the Stribeck effect takes away."""
    stribeck_external_load: float = parameter(**_of_friction("stribeckExternalLoad", "", 0.0))
    """Dry friction per external effort at rest, which the Stribeck effect takes away."""
    quadratic_motor_load: float = parameter(**_of_friction("quadraticMotorLoad", "1/(N·m) or 1/N", 0.0))
    """Dry friction at rest per square of the effort of a motor that is driven [1/(N·m) or 1/N]."""
    quadratic_external_load: float = parameter(**_of_friction("quadraticExternalLoad", "1/(N·m) or 1/N", 0.0))
    """Dry friction at rest per square of the external effort on a motor that drives [1/(N·m) or 1/N]."""
    quadratic_when_opposed: bool = parameter(**described("friction", "quadraticWhenOpposed", "", False, type="bool"))
    """True if Q is zero where τ_m and τ_e have equal signs, as in BAM's code; its documentation has no such rule."""
    in_engine: bool = parameter(**described("friction", "inEngine", "", False, type="bool", of_law=False))
    """True if the simulator computes the friction, in place of this stage.

    The simulator gets `coulomb`, `static` and `viscous` when the actuators attach, and its former friction when they
    are closed. Other parts of the law do not exist there and have to keep their defaults; the level falls from
    `static` to `coulomb` as soon as the joint moves.
    """

    sweeps: int = parameter(**described("friction", "sweeps", "", 0, type="int", lower=0, upper=100, of_law=False))
    """Number of Gauss-Seidel sweeps with the mass matrix of the robot after each step; 0 for friction joint by joint.

    Joints that move each other more than themselves, such as those of a light chain, rest sooner with it. It needs a
    simulator with mass matrices, in CPU memory, and takes far longer than the law. The largest number counts.
    """

    def conflicts(self) -> list[str]:
        """Return what is wrong with the two levels of dry friction, and what a simulator cannot represent."""
        return _level_conflicts(self.static, self.coulomb) or engine_problems(self)

    @classmethod
    def from_bam(
        cls,
        path_or_dict: str | os.PathLike[str] | Mapping[str, object],
        *,
        quadratic_when_opposed: bool = True,
        unused: dict[str, object] | None = None,
    ) -> Self:
        """Return the friction of a motor that BAM identified, model M1 … M6.

        Args:
            path_or_dict: A parameter file of BAM, or its content. `BamMotorCfg` and `BamActuatorCfg` of Isaac Lab as
                dictionaries have the same names; `specs/bam.py` lists them.
            quadratic_when_opposed: Reading of the quadratic term of M6; true is that of BAM's code, which its numbers
                were fitted with, false that of its documentation and of Isaac Lab.
            unused: Takes what else the parameters have, by name: `armature`, which `MotorConfig(armature=…)` takes,
                `kt` and `R` of the winding, `error_gain` and other values of the firmware. None means a warning.

        Raises:
            ValueError: It holds no parameters of BAM, or some out of range; a line for each.
            OSError: The file cannot be read.

        Warns:
            UserWarning: Parameters that are not friction, by name.

        Example:
            >>> rest = {}
            >>> motor = {"model": "m2", "kt": 1.6, "friction_base": 0.01, "friction_viscous": 0.02,
            ...          "friction_stribeck": 0.12, "dtheta_stribeck": 2.5, "alpha": 0.8}
            >>> friction = FrictionConfig.from_bam(motor, unused=rest)
            >>> friction.static, rest
            (0.13, {'kt': 1.6})
        """
        # most programs read no such file
        from .bam import friction_of_bam

        values: dict[str, Any]
        values, rest = friction_of_bam(path_or_dict, parameters_of(cls))
        if unused is not None:
            unused.update(rest)
        elif rest:
            warnings.warn(
                f"from_bam: {', '.join(map(str, rest))} are not friction, so FrictionConfig does not have them. Pass "
                "unused={}, which takes them, and give armature to MotorConfig.",
                stacklevel=2,
            )
        return cls(**values, quadratic_when_opposed=quadratic_when_opposed)


@dataclass
class FrictionCurveConfig(PassiveConfig):
    """Dry friction of a level that was measured over speed, as a table, added after all limits.

    A joint that slides is held back by the level at its speed, also by what of it grows with the speed. A joint at rest
    stays at rest below the level at speed 0. The schema is our own. The law needs the effective inertia of the joint.

    Raises:
        ValueError: The table is empty or has more than 100 000 rows, its columns differ in length, speeds decrease or
            are negative, or an effort is negative.
    """

    SCHEMA: ClassVar[str] = "ActuatorFrictionCurveAPI"

    lookup_speeds: list[float] = required(
        **described("frictionCurve", "lookupSpeeds", "rad/s or m/s", (), type="float[]", lower=0.0, most=MAX_TABLE_ROWS)
    )
    """Speeds [rad/s or m/s], not decreasing, 100 000 at most."""
    lookup_efforts: list[float] = required(
        **described("frictionCurve", "lookupEfforts", "N·m or N", (), type="float[]", lower=0.0, most=MAX_TABLE_ROWS)
    )
    """Dry friction at each speed [N·m or N]."""
    assumed_inertia: float = parameter(**_assumed_inertia("frictionCurve"))
    """Effective inertia of the joint [kg·m² or kg] where the simulator provides none; see `FrictionConfig`."""

    def __post_init__(self) -> None:
        self.lookup_speeds, self.lookup_efforts = checked_table(self, "lookup_speeds", "lookup_efforts")

    def conflicts(self) -> list[str]:
        """Return the problems of the two columns."""
        return table_conflicts(self, "lookup_speeds", "lookup_efforts")


@dataclass
class LuGreFrictionConfig(PassiveConfig):
    """Friction of LuGre: dry friction whose bristles bend before they slide, and viscous friction, after all limits.

    For parity with MuJoCo, and where motion before sliding matters. `FrictionConfig` rests exactly, costs less, and
    takes longer steps in a chain of joints. A joint that slides at speed v is held back by
    `coulomb + |external_load·τ_e − motor_load·τ_m| + (static − coulomb)·exp(−(v/v_s)²) + viscous·|v|`, where v_s is
    `stribeck_velocity`, τ_m the effort of the motor at the joint and τ_e what else acts on it. The terms of the load
    are losses of gears with hysteresis, as strain wave and cycloid gears have it: without a jump where the velocity
    changes its sign. The schema is our own. The law needs the effective inertia of the joint.
    """

    SCHEMA: ClassVar[str] = "ActuatorLuGreFrictionAPI"

    bristle_stiffness: float = parameter(**_of_lu_gre("bristleStiffness", "N·m/rad or N/m", 0.0))
    """Stiffness σ₀ of the bristles [N·m/rad or N/m]."""
    bristle_damping: float = parameter(**_of_lu_gre("bristleDamping", "N·m·s/rad or N·s/m", 0.0))
    """Damping σ₁ of the bristles [N·m·s/rad or N·s/m]; below 2·√(σ₀·inertia) they swing."""
    viscous: float = parameter(**_of_lu_gre("viscous", "N·m·s/rad or N·s/m", 0.0))
    """Viscous friction σ₂ [N·m·s/rad or N·s/m]."""
    coulomb: float = parameter(**_of_lu_gre("coulomb", "N·m or N", 0.0))
    """Dry friction at high speed [N·m or N]."""
    static: float = parameter(**_of_lu_gre("static", "N·m or N", 0.0))
    """Dry friction of a joint that begins to slide [N·m or N], at least `coulomb`; 0 means `coulomb`."""
    stribeck_velocity: float = parameter(**_of_lu_gre("stribeckVelocity", "rad/s or m/s", 0.1, above=True))
    """Speed scale of the transition from `static` to `coulomb` [rad/s or m/s]."""
    assumed_inertia: float = parameter(**_assumed_inertia("luGre"))
    """Effective inertia of the joint [kg·m² or kg] where the simulator provides none; see `FrictionConfig`."""
    mujoco_discretization: bool = parameter(**described("luGre", "mujocoDiscretization", "", False, type="bool"))
    """True for the step of MuJoCo's `dcmotor`: friction of the velocity before the step, for equal numbers."""
    motor_load: float = parameter(**_of_lu_gre("motorLoad", "", 0.0, lower=-1.0))
    """Dry friction per effort of the motor; negative for some gears near self-locking."""
    external_load: float = parameter(**_of_lu_gre("externalLoad", "", 0.0, lower=-1.0))
    """Dry friction per external effort."""

    def conflicts(self) -> list[str]:
        """Return what is wrong with the two levels of dry friction."""
        return _level_conflicts(self.static, self.coulomb)


@dataclass
class CoggingConfig(PassiveConfig):
    """Cogging, an effort that repeats with the position, `amplitude·sin(periods·q + phase)`, added after all limits.

    Its sign is that of MuJoCo's `dcmotor`. The schema is our own.
    """

    SCHEMA: ClassVar[str] = "ActuatorCoggingAPI"
    IS_FRICTION: ClassVar[bool] = False

    amplitude: float = parameter(**described("cogging", "amplitude", "N·m or N", 0.0, lower=0.0))
    """Largest effort [N·m or N]."""
    periods: float = parameter(**described("cogging", "periods", "1/rad or 1/m", 0.0))
    """Periods per turn of the joint; of a joint that slides, 2π over the length of a period [1/rad or 1/m]."""
    phase: float = parameter(**described("cogging", "phase", "rad", 0.0))
    """Phase at position zero [rad]."""

    @classmethod
    def of_detents(cls, count: float, effort: float, at: float = 0.0) -> Self:
        """Return detents: positions that a joint falls into, as those of a knob, or of a stepper without current.

        Args:
            count: Detents per turn; of a joint that slides, 2π over the distance of two [1/m].
            effort: Largest effort that a detent holds [N·m or N].
            at: Position of one of them [rad or m].

        Example:
            >>> knob = CoggingConfig.of_detents(24, 0.02)
            >>> round(knob.amplitude * math.sin(knob.periods * 0.01 + knob.phase), 6)
            -0.004754
        """
        return cls(effort, count, math.remainder(math.pi - count * at, 2.0 * math.pi))


@dataclass
class RippleConfig(PassiveConfig):
    """Ripple of the torque, in proportion to it: `effort·amplitude·cos(periods·q + phase)` is added after all limits.

    The schema is our own.
    """

    SCHEMA: ClassVar[str] = "ActuatorRippleAPI"
    IS_FRICTION: ClassVar[bool] = False

    amplitude: float = parameter(**described("ripple", "amplitude", "", 0.0, lower=0.0, upper=1.0))
    """Largest change of the effort of the motor, as a share of it."""
    periods: float = parameter(**described("ripple", "periods", "1/rad or 1/m", 0.0))
    """Periods per turn of the joint [1/rad or 1/m], such as 6 times the pole pairs times the gear ratio."""
    phase: float = parameter(**described("ripple", "phase", "rad", 0.0))
    """Phase at position zero [rad]."""


@dataclass
class DelayConfig(Config):
    """Command delay: targets and feedforward act `delay_steps` physics steps after they were set."""

    SCHEMA: ClassVar[str] = "NewtonActuatorDelayAPI"
    KIND: ClassVar[str] = "delay"

    delay_steps: int = required(
        **_of_newton("delaySteps", "physics steps", 1, type="int", lower=0, upper=MAX_DELAY_STEPS)
    )
    """Delay in physics steps; 0 means none."""

    def delay_parts(self) -> tuple[float, float]:
        """Return the delay in steps and in seconds; they add up."""
        return self.delay_steps, 0.0


def in_own_steps(stages: Iterable[Config]) -> list[Config]:
    """Return the stages of an actuator; with a rate, a delay in steps counts those of the controller."""
    given = list(stages)
    if not any(isinstance(one, RateConfig) for one in given):
        return given
    return [TimedDelayConfig(steps=one.delay_steps) if isinstance(one, DelayConfig) else one for one in given]


@dataclass
class ForeignConfig(Config):
    """Values of a prim for a component registered by the host program, under a schema of its own."""

    # its schema and kind are those of the registration, not of the class
    SCHEMA: str  # pyright: ignore[reportIncompatibleVariableOverride]
    KIND: str = field()  # pyright: ignore[reportIncompatibleVariableOverride]
    values: dict[str, object]
    """Authored `newton:*` values by parameter name, in snake case."""


_OTHERS: tuple[type[Config], ...] = (
    EncoderConfig,
    TimedDelayConfig,
    WrapConfig,
    CommandLagConfig,
    RateConfig,
    EffortDelayConfig,
    EffortLagConfig,
    SlewedPIDControlConfig,
    ServoControlConfig,
    StartupPDControlConfig,
    StepperControlConfig,
    ElectricalConfig,
    EnvelopeClampingConfig,
    LossesConfig,
    ThermalConfig,
    SupplyConfig,
    TransmissionConfig,
    ElasticTransmissionConfig,
    LinkageConfig,
    BrakeConfig,
    ShaftFrictionConfig,
    ShaftInertiaConfig,
    ImplicitConfig,
)

CONFIGS: tuple[type[Config], ...] = (
    *(
        found
        for found in tuple(globals().values())
        if isinstance(found, type) and issubclass(found, Config) and found.__module__ == __name__
        if "SCHEMA" in vars(found)
    ),
    *_OTHERS,
)
"""The class of every built-in schema: those of this file, then those of other files. All tables derive from it."""

OURS: tuple[type[Config], ...] = tuple(config for config in CONFIGS if not config.SCHEMA.startswith("Newton"))
"""Those whose schema is not newton's but our own, which we ship."""
