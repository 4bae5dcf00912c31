"""The cfg classes, with the names, fields and defaults of Isaac Lab 3.0 and the limits of 2.3, which are deprecated.

A number holds for all joints of the group; a dictionary maps regular expressions, which match names of joints in full,
to numbers. `resolve.py` has the rules for None.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

from ...laws.networks.metadata import HistoryFill
from .models import (
    ActuatorBase,
    ActuatorNetGRU,
    ActuatorNetLSTM,
    ActuatorNetMLP,
    DCMotor,
    DelayedPDActuator,
    IdealPDActuator,
    ImplicitActuator,
    RemotizedPDActuator,
)
from .resolve import EARLIER, Rules

Value = float | dict[str, float] | None
Normalization = tuple[float, float] | None


@dataclass(kw_only=True)
class ActuatorBaseCfg:
    """The common base of actuator cfgs; units are those of the joint."""

    class_type: Any = None
    """The model, built by `cfg.class_type(cfg, joint_names, joint_ids, num_envs, device, ...)`."""
    joint_names_expr: Sequence[str]
    """Regular expressions of the joints in the group, matched in full."""
    stiffness: Value
    """Proportional gain [N·m/rad or N/m]; None means that of the robot's drive."""
    damping: Value
    """Derivative gain [N·m·s/rad or N·s/m]; None means that of the robot's drive."""
    effort_limit: Value = None
    """Deprecated: `actuator_effort_limit`, of an implicit model `joint_effort_limit`."""
    velocity_limit: Value = None
    """Deprecated: `actuator_velocity_limit`."""
    effort_limit_sim: Value = None
    """Deprecated: `joint_effort_limit`."""
    velocity_limit_sim: Value = None
    """Deprecated: `joint_velocity_limit`."""
    armature: Value = None
    """Inertia of the rotor at the joint [kg·m² or kg]."""
    friction: Value = None
    """Static friction of the joint [N·m or N]."""
    dynamic_friction: Value = None
    """Dynamic friction of the joint [N·m or N]."""
    viscous_friction: Value = None
    """Viscous friction of the joint [N·m·s/rad or N·s/m]."""
    actuator_effort_limit: Value = None
    """Largest effort of the motor [N·m or N]; of an implicit model by the rules of 3.0 only, to be read."""
    actuator_velocity_limit: Value = None
    """Largest speed of the motor [rad/s or m/s]."""
    joint_effort_limit: Value = None
    """Effort at which the solver cuts drives and the efforts of explicit models [N·m or N]."""
    joint_velocity_limit: Value = None
    """Largest speed of the joint in the solver [rad/s or m/s]."""
    rules: Rules | None = None
    """Rules of Isaac Lab for its values, see `resolve.py`; None for those of `documentation`."""

    def replace(self, **changes: object) -> Self:
        """Return a copy with other values."""
        return dataclasses.replace(self, **changes)

    def copy(self) -> Self:
        """Return a deep copy."""
        return copy.deepcopy(self)


@dataclass(kw_only=True)
class ImplicitActuatorCfg(ActuatorBaseCfg):
    """Joints that the solver's own drive moves."""

    class_type: type[ActuatorBase] = ImplicitActuator


@dataclass(kw_only=True)
class IdealPDActuatorCfg(ActuatorBaseCfg):
    """PD control with an effort limit."""

    class_type: type[ActuatorBase] = IdealPDActuator
    gear_ratio: float | dict[str, float] = 1.0
    """Turns of the motor per turn of the joint: `actuator_effort_limit` and `saturation_effort` of the cfg are
    multiplied by it, `actuator_velocity_limit` divided. It is in the formulas of Isaac Lab's pages, and not in its
    cfgs."""


@dataclass(kw_only=True)
class DCMotorCfg(IdealPDActuatorCfg):
    """PD control of a DC motor, whose effort falls with speed; `actuator_velocity_limit` is its speed without load."""

    class_type: type[ActuatorBase] = DCMotor
    saturation_effort: float | dict[str, float]
    """Stall effort of the motor [N·m or N]."""


@dataclass(kw_only=True)
class DelayedPDActuatorCfg(IdealPDActuatorCfg):
    """PD control of delayed commands; each robot has a number of steps that is drawn at its resets."""

    class_type: type[ActuatorBase] = DelayedPDActuator
    min_delay: int = 0
    """Smallest delay [physics steps]."""
    max_delay: int = 0
    """Largest delay [physics steps]."""


@dataclass(kw_only=True)
class RemotizedPDActuatorCfg(DelayedPDActuatorCfg):
    """PD control with delay, and an effort limit that depends on the position of the joint."""

    class_type: type[ActuatorBase] = RemotizedPDActuator
    joint_parameter_lookup: Sequence[Sequence[float]]
    """Rows of position [rad or m], transmission ratio, which is not used, and largest effort [N·m or N]."""


@dataclass(kw_only=True)
class BamMotorCfg:
    """A motor that BAM identified, see `specs/bam.py`; values are those of the joint."""

    model: str
    """Model of its friction, `m1` to `m6`."""
    kt: float
    """Torque constant [N·m/A]."""
    resistance: float
    """Resistance of the winding [Ω]."""
    error_gain: float
    """Duty per error and gain of the firmware [1/rad]."""
    max_pwm: float = 1.0
    """Largest duty."""
    max_current: float = 0.0
    """Largest current of the firmware [A]; 0 for none."""
    friction_base: float
    """Coulomb friction [N·m]."""
    friction_viscous: float
    """Viscous friction [N·m·s/rad]."""
    friction_stribeck: float = 0.0
    """Excess of the static friction [N·m]."""
    dtheta_stribeck: float = 1.0
    """Stribeck velocity [rad/s]."""
    alpha: float = 1.0
    """Exponent of the Stribeck curve."""
    load_friction_motor: float = 0.0
    """Friction per effort of the motor."""
    load_friction_external: float = 0.0
    """Friction per external effort."""
    load_friction_motor_stribeck: float = 0.0
    """The same at rest, beside it."""
    load_friction_external_stribeck: float = 0.0
    """The same at rest, beside it."""
    load_friction_motor_quad: float = 0.0
    """Friction at rest per squared effort of the motor [1/(N·m)]."""
    load_friction_external_quad: float = 0.0
    """Friction at rest per squared external effort [1/(N·m)]."""


@dataclass(kw_only=True)
class BamActuatorCfg(ActuatorBaseCfg):
    """A hobby servo of Isaac Lab's development branch: firmware, whose gains it has, winding, friction and delay."""

    stiffness: Value = None
    damping: Value = None
    motor: BamMotorCfg
    """Its motor, also as a dictionary."""
    kp_fw: float
    """Gain of the firmware."""
    vin: float
    """Voltage of the supply [V]."""
    vin_range: tuple[float, float] | None = None
    """Range of a voltage that is drawn at random; not run here."""
    vin_drop_gain_range: tuple[float, float] | None = None
    """Range of the voltage drop per effort of the robot; not run here."""
    vin_min: float | None = None
    """Voltage that such a drop leaves [V]."""
    min_delay: int = 0
    """Smallest delay [physics steps]."""
    max_delay: int = 0
    """Largest delay [physics steps]."""
    delay_hold_prob: float = 0.0
    """Probability that a delay is kept when it is drawn again; not run here."""
    delay_update_period: int = 0
    """Steps after which a delay is drawn again; not run here, where that happens at resets."""
    stiff_frictionloss: bool = True
    """Treatment of the friction by a simulator, which computes none here."""

    def __post_init__(self) -> None:
        if isinstance(self.motor, Mapping):
            self.motor = BamMotorCfg(**self.motor)


@dataclass(kw_only=True)
class BamBacklashActuatorCfg(BamActuatorCfg):
    """A hobby servo whose encoder is on the motor, with free play between motor and joint.

    That of Isaac Lab's development branch has its play as a joint of its own and is refused.
    """

    backlash: float | dict[str, float]
    """Whole free play [rad]."""


@dataclass(kw_only=True)
class ActuatorNetLSTMCfg(DCMotorCfg):
    """A recurrent network with the limits of a DC motor."""

    class_type: type[ActuatorBase] = ActuatorNetLSTM
    stiffness: Value = None
    damping: Value = None
    network_file: str
    """Path of the network's file."""


@dataclass(kw_only=True)
class ActuatorNetMLPCfg(DCMotorCfg):
    """A feedforward network over the history of position error and velocity, with the limits of a DC motor."""

    class_type: type[ActuatorBase] = ActuatorNetMLP
    stiffness: Value = None
    damping: Value = None
    network_file: str
    """Path of the network's file."""
    pos_scale: float
    """Scale of position errors."""
    vel_scale: float
    """Scale of velocities."""
    torque_scale: float
    """Scale of the output."""
    input_order: Literal["pos_vel", "vel_pos"]
    """Which comes first."""
    input_idx: Iterable[int]
    """Steps back of each feature, 0 the current one."""
    history_fill: HistoryFill = "zeros"
    """History after a reset: `zeros`, as in Isaac Lab, or `first`, the values of the first step."""


@dataclass(kw_only=True)
class ActuatorNetGRUCfg(IdealPDActuatorCfg):
    """A recurrent network of gated units, of Isaac Lab's development branch, with a largest effort.

    Normalizations are mean and standard deviation; None stands for 0 and 1.
    """

    class_type: type[ActuatorBase] = ActuatorNetGRU
    stiffness: Value = None
    damping: Value = None
    network_file: str
    """Path of the network's file."""
    pos_error_normalization: Normalization = None
    """Of position errors [rad or m]."""
    vel_normalization: Normalization = None
    """Of velocities [rad/s or m/s]."""
    output_normalization: Normalization = None
    """Of efforts [N·m or N]."""


def of_fields(name: str, fields: Mapping[str, object]) -> ActuatorBaseCfg:
    """Return the cfg with a class's name from fields in a file, with limits of 2.3 by their names of 3.0."""
    given = dict(fields)
    later = EARLIER | ({"effort_limit": "joint_effort_limit"} if name == "ImplicitActuatorCfg" else {})
    for old, new in later.items():
        # both stay where both are given, to be compared
        if old in given and given.get(new) is None:
            given[new] = given.pop(old)
    return globals()[name](**given)
