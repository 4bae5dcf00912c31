"""Arguments of the seven constructors, each declared once: documentation, defaults and the attribute it becomes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from inspect import Parameter
from typing import Any

import warp as wp

from ...engine.actuator import Actuator as Plan


class Resolved(Enum):
    """Treatment of an argument by `resolve_arguments` if it has no default there."""

    REQUIRED = "raises if absent"
    IF_GIVEN = "passed through"
    DROPPED = "no argument there"


@dataclass
class Argument:
    """An argument of a constructor, and the attribute of the actuator: a value set there acts at the next step."""

    # its line of documentation
    meaning: str
    default: object = Parameter.empty
    # default in `resolve_arguments`, or how that treats it
    resolved: object = Resolved.DROPPED
    # part of the plan that has it: controller, clamp or plan; network for metadata of a file
    part: str = ""
    # its name there; its own name by default
    field: str = ""
    # a Warp array with one value per actuator
    is_array: bool = False
    # newton-actuators 0.1.1 has no such argument
    keyword_only: bool = False
    # returns the value of an attribute that cannot be set
    read: Callable[[Plan], object] | None = None
    name: str = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name, self.field = name, self.field or name

    @property
    def is_plain(self) -> bool:
        """True if the attribute is what was given, and acts nowhere."""
        return not self.part and self.read is None

    def _holder(self, plan: Plan) -> Any:
        return {"plan": plan, "clamp": plan.clamping[0]}.get(self.part, plan.controller)

    def __get__(self, actuator: Any, owner: type | None = None) -> Any:
        if actuator is None:
            return self
        if self.read is not None:
            return self.read(actuator._plan)
        return vars(actuator)[self.name] if self.is_plain else getattr(self._holder(actuator._plan), self.field)

    def __set__(self, actuator: Any, value: object) -> None:
        if self.read is not None or self.part == "network":
            raise AttributeError(f"{type(actuator).__name__}.{self.name} is part of its law. Make another actuator.")
        if self.is_plain:
            vars(actuator)[self.name] = value
        else:
            setattr(self._holder(actuator._plan), self.field, value)


def _array(meaning: str, resolved: object, part: str, field: str = "", default: object = Parameter.empty) -> Argument:
    return Argument(f"{meaning}, shape `(N,)`.", default, resolved, part, field, is_array=True)


def _column(meaning: str, number: int, field: str) -> Argument:
    def read(plan: Plan) -> wp.array:
        return wp.array(list(plan.clamping[0].curve("limit")[number]), dtype=wp.float32, device=plan.device)

    return Argument(meaning, resolved=Resolved.REQUIRED, part="clamp", field=field, read=read)


def _name(meaning: str, default: str, field: str = "") -> Argument:
    return Argument(f"Name of the {meaning}.", default, part="plan", field=field)


KP = _array("Proportional gain [N·m/rad or N/m]", 0.0, "controller")
KI = _array("Integral gain [N·m/(rad·s) or N/(m·s)]", 0.0, "controller")
KD = _array("Derivative gain [N·m·s/rad or N·s/m]", 0.0, "controller")
INTEGRAL_MAX = _array("Largest integral in either direction [rad·s or m·s]", math.inf, "controller")
CONSTANT_FORCE = _array("Bias [N·m or N], None means zero", 0.0, "controller", "const_effort", None)
GEAR = Argument(
    "Turns of the motor per turn of the joint, shape `(N,)`; with it all but the limit is the motor's, as in "
    "newton-actuators 0.1.0.",
    None,
    Resolved.IF_GIVEN,
    "controller",
    is_array=True,
    keyword_only=True,
    read=lambda plan: getattr(plan.controller, "gear", None),
)
MAX_FORCE = _array("Largest effort [N·m or N]", math.inf, "clamp", "max_effort")
MAX_MOTOR_FORCE = _array("Largest effort at any speed [N·m or N]", math.inf, "clamp", "max_motor_effort")
SATURATION_EFFORT = _array("Stall effort [N·m or N], inf for no slope up to no-load speed", math.inf, "clamp")
VELOCITY_LIMIT = _array("No-load speed [rad/s or m/s]", Resolved.REQUIRED, "clamp")
DELAY = Argument(
    "Physics steps, one number for all; 0 means none. There is no effort until that many have passed.",
    resolved=Resolved.REQUIRED,
    read=lambda plan: plan.delay.max_delay if plan.delay else 0,
)
LOOKUP_ANGLES = _column("Positions [rad or m], not decreasing, shape `(K,)`.", 0, "lookup_positions")
LOOKUP_TORQUES = _column("Largest effort at each of them [N·m or N], >= 0, shape `(K,)`.", 1, "lookup_efforts")

POS_SCALE = Argument("Scale of position errors.", 1.0, 1.0, "network")
VEL_SCALE = Argument("Scale of velocities.", 1.0, 1.0, "network")
TORQUE_SCALE = Argument("Scale of the output.", 1.0, 1.0, "network", "effort_scale")
INPUT_ORDER = Argument('"pos_vel" or "vel_pos", the inputs that come first.', "pos_vel", "pos_vel", "network")
INPUT_IDX = Argument("Steps back of each input, 0 is now; None means `[0]`.", None, None, "network")
NETWORK = Argument(
    "A `torch.nn.Module`, which is used as it is and set to evaluate; it takes precedence over `network_path`. That of "
    "an LSTM has its layers as `lstm` and is called as `network(x, (h, c))` with `x` of shape `(N, 1, 2)`.",
    None,
)
NETWORK_PATH = Argument(
    "File of a network; a format that is not recognized has to be trusted, see `trust_checkpoints`.",
    None,
    Resolved.REQUIRED,
)

STATE_POS = _name("positions [rad or m]", "joint_q")
STATE_VEL = _name("velocities [rad/s or m/s]", "joint_qd")
TARGET_POS = _name("position targets [rad or m]", "joint_target_pos")
TARGET_VEL = _name("velocity targets [rad/s or m/s]", "joint_target_vel")
INPUT = _name("feedforward efforts [N·m or N]; None, or absent, means none", "joint_act", "control_feedforward_attr")
OUTPUT = _name("efforts [N·m or N], which are added to", "joint_f")
