"""MuJoCo's `dcmotor` on a hinge or slide as a motor: controller, winding, heat, limit, gear, cogging, friction.

Numbers are packed in three lists of ten; positions and forces are those before the gear g, l = g·q. A gear other than 1
is a transmission, before which all numbers are those of the file; cogging and friction are those of the joint:

    dynprm   L/R, rate of the current, thermal resistance, heat capacity, ambient temperature, σ₀, σ₁, slew, I_max, 0
    gainprm  R, K, temperature coefficient of R, its reference temperature, kp, ki, kd, V_max, 0, 0
    biasprm  cogging: amplitude, periods, phase; LuGre: Coulomb and static level, Stribeck velocity; 0 …

A control in volts is the feedforward of the motor, in volts, whatever else the motor has. A torque command
τ = kp·(u − l) + ki·∫(u − l) + kd·(u_v − l̇) + u_ff becomes the voltage (R/K)·τ + K·l̇ within ±V_max, R at the reference
temperature. Our resistance is that at 25 °C, and our gains are by so much smaller or larger.
0 stands for no limit. Differences: the integral of our controller has the error of the same step, MuJoCo's that of the
step before; the setpoint of a slew rate starts at the position of the joint, MuJoCo's at 0; our limit of the effort
acts before cogging and friction, MuJoCo's after them; in the first step our winding has 25 °C, MuJoCo's the ambient
temperature.
Source: compiled models of MuJoCo 4.0, an attribute at a time; its XML reference, actuator/dcmotor.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from . import configs
from .motors import MotorConfig
from .transmission import TransmissionConfig

INPUTS: Final = {"pos": 1, "vel": 2, "ff": 4, "voltage": 8, "none": 16}
"""Bits of the inputs of an actuator, by MuJoCo's words."""

Bounds = tuple[float, float]


@dataclass(frozen=True)
class DCMotor:
    """A `dcmotor` of MuJoCo as it is packed.

    `dynamics`, `gain` and `bias` are `dynprm` (ten numbers, missing ones 0), `gainprm` and `biasprm`; `inputs` has bits
    of `INPUTS`, `forces` bounds the force, and `controls` the first control.
    """

    dynamics: Sequence[float]
    gain: Sequence[float]
    bias: Sequence[float]
    inputs: int = INPUTS["voltage"]
    gear: float = 1.0
    forces: Bounds | None = None
    controls: Bounds | None = None

    def __post_init__(self) -> None:
        for name in ("dynamics", "gain", "bias"):
            given = [float(one) for one in getattr(self, name)]
            object.__setattr__(self, name, (*given, *[0.0] * (10 - len(given))))

    @property
    def problem(self) -> str:
        """Why no motor stands for it; empty if one does."""
        in_volts = bool(self.inputs & INPUTS["voltage"])
        if in_volts and self.inputs != INPUTS["voltage"]:
            return "a DC motor that adds a voltage to its controller"
        if self.gain[4] and not self.inputs & INPUTS["pos"]:
            return "a DC motor whose position setpoint is fixed at 0"
        if not self.gear:
            return "a DC motor with the gear 0"
        if not self.gain[0] > 0.0:
            return f"a DC motor with the resistance {self.gain[0]:g}"
        return self._asymmetry

    @property
    def _asymmetry(self) -> str:
        """Bounds that are not symmetric, in words; empty for none."""
        if self.forces is not None and self.forces[0] != -self.forces[1]:
            return f"its forcerange {self.forces[0]:g} … {self.forces[1]:g} is not symmetric"
        in_volts = self.inputs == INPUTS["voltage"]
        if in_volts and self.controls is not None and self.controls[0] != -self.controls[1]:
            low, high = self.controls
            return f"its ctrlrange {low:g} … {high:g}, which limits the voltage, is not symmetric"
        return ""


@dataclass(frozen=True)
class Imported:
    """The motor of a `dcmotor`, and in words what of it the motor has not."""

    motor: MotorConfig
    lost: list[str] = field(default_factory=list[str])


def imported(actuator: DCMotor, properties: dict[str, float | None], limit: float = math.inf) -> Imported:
    """Return the motor that does the same; targets are those of the joint, a voltage that of the motor."""
    stages: list[configs.Config] = [*_windings(actuator), *_heats(actuator)]
    own: dict[str, Any] = dict(properties)
    clamps = _clamps(actuator, limit)
    controller = _controller(actuator) or (configs.PDControlConfig(0.0, 0.0) if clamps else None)
    if controller is not None and actuator.gear != 1.0:
        targets = "motor" if actuator.inputs == INPUTS["voltage"] else "joint"
        stages.append(TransmissionConfig(actuator.gear, targets=targets))
    amplitude, periods, phase = actuator.bias[:3]
    if amplitude:
        turned = math.pi * (amplitude * actuator.gear < 0.0)
        stages.append(configs.CoggingConfig(abs(amplitude * actuator.gear), periods * actuator.gear, phase + turned))
    if bristles := _bristles(actuator, own.get("viscous_friction") or 0.0):
        # the stage is the whole friction of the joint
        stages.append(bristles)
        own |= {"friction": None, "viscous_friction": None}
    motor = MotorConfig(controller, clamps, others=stages, **own)
    return Imported(motor, _lost(actuator, bool(bristles and properties.get("friction"))))


def _controller(actuator: DCMotor) -> configs.ControlConfig | None:
    kp, ki, kd = actuator.gain[4:7]
    if actuator.inputs == INPUTS["voltage"]:
        # without gain it hands on its feedforward, a voltage
        return configs.ServoControlConfig(kp=0.0, error_gain=0.0, voltage=_supply(actuator, 1.0))
    share = actuator.gain[0] / _resistance_at_25(actuator)
    kp, ki, kd = kp * share, ki * share, kd * share
    most = _unlimited(actuator.dynamics[8]) if ki else math.inf
    if _is_slewed(actuator):
        return configs.SlewedPIDControlConfig(kp, ki, kd, actuator.dynamics[7], most)
    if ki:
        return configs.PIDControlConfig(kp, ki, kd, most)
    return None if actuator.inputs == INPUTS["none"] and not actuator.gain[1] else configs.PDControlConfig(kp, kd)


def _is_slewed(actuator: DCMotor) -> bool:
    return actuator.dynamics[7] > 0.0 and bool(actuator.inputs & INPUTS["pos"])


def _clamps(actuator: DCMotor, limit: float) -> list[configs.ClampingConfig]:
    """Return the limit of the effort, if there is any; that of the joint is one before the gear, too."""
    most = min(limit / abs(actuator.gear), math.inf if actuator.forces is None else actuator.forces[1])
    return [configs.MaxEffortClampingConfig(most)] if math.isfinite(most) else []


def _windings(actuator: DCMotor) -> list[configs.Config]:
    resistance, constant, coefficient = actuator.gain[:3]
    if not constant:
        return []
    at_25 = _resistance_at_25(actuator)
    lag, rate = actuator.dynamics[:2]
    in_volts = actuator.inputs == INPUTS["voltage"]
    return [
        configs.ElectricalConfig(
            torque_constant=constant,
            resistance=at_25,
            # the time constant is that of a winding which is not warm
            inductance=lag * at_25,
            voltage=_supply(actuator, math.inf) if in_volts else _unlimited(actuator.gain[7]),
            # without an inductance MuJoCo has no such limit
            max_current_rate=_unlimited(rate) if lag else math.inf,
            temperature_coefficient=coefficient * resistance / at_25,
            command="voltage" if in_volts else "effort",
            driver="shorted" if actuator.inputs == INPUTS["none"] else "on",
            discretization="mujoco",
        )
    ]


def _heats(actuator: DCMotor) -> list[configs.Config]:
    resistance, capacity, ambient = actuator.dynamics[2:5]
    cold, constant, coefficient = actuator.gain[:3]
    if not (resistance > 0.0 and constant):
        return []
    at_25 = _resistance_at_25(actuator)
    return [
        configs.ThermalConfig(
            winding_capacity=capacity,
            winding_resistance=resistance,
            ambient=ambient,
            motor_constant=constant / math.sqrt(at_25),
            temperature_coefficient=coefficient * cold / at_25,
            discretization="mujoco_inductance" if actuator.dynamics[0] else "mujoco",
        )
    ]


def _resistance_at_25(actuator: DCMotor) -> float:
    """Return the resistance at 25 °C [Ω]; the file has that at its reference temperature."""
    resistance, _, coefficient, reference = actuator.gain[:4]
    return resistance * (1.0 + coefficient * (25.0 - reference))


def _supply(actuator: DCMotor, otherwise: float) -> float:
    return actuator.controls[1] if actuator.controls is not None else otherwise


def _bristles(actuator: DCMotor, viscous: float) -> configs.LuGreFrictionConfig | None:
    """Return the friction at the joint, together with the viscous friction of the joint; None without bristles."""
    gear = abs(actuator.gear)
    stiffness, damping = (one * gear**2 for one in actuator.dynamics[5:7])
    coulomb, static, speed = actuator.bias[3:6]
    if not stiffness:
        return None
    fastest = {"stribeck_velocity": speed / gear} if speed else {}
    return configs.LuGreFrictionConfig(
        stiffness, damping, viscous, coulomb * gear, static * gear, **fastest, mujoco_discretization=True
    )


def _lost(actuator: DCMotor, has_dry_friction: bool) -> list[str]:
    beside = actuator.bias[0] or actuator.dynamics[5]
    found = {
        "the voltage of its feedforward at another temperature than 25 °C": bool(actuator.inputs & INPUTS["ff"])
        and _resistance_at_25(actuator) != actuator.gain[0],
        "the slew rate of a control that is no position": actuator.dynamics[7] > 0.0 and not _is_slewed(actuator),
        "a limit of the force that includes cogging and friction": actuator.forces is not None and beside,
        "the range of its setpoint": actuator.controls is not None and actuator.inputs != INPUTS["voltage"],
        "the frictionloss of its joint beside bristles": has_dry_friction,
    }
    return [words for words, is_lost in found.items() if is_lost]


def _unlimited(value: float) -> float:
    """Return a limit of MuJoCo, of which 0 is none."""
    return value or math.inf
