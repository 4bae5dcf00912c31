"""Config of the position loop of a hobby servo, and its rule about the winding behind it.

Error gains: Rhoban/bam 1b5a1ce. That of the XL330 is a count of 885 per 256 counts of gain times encoder, which its log
of the PWM confirms.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, Final, Self

from ..base.errors import shown
from .config import Config, ControlConfig
from .electrical import ElectricalConfig
from .fields import described, entries_of, parameter, parameters_of, required
from .stages import Staged

PRESETS: Final[dict[str, dict[str, float]]] = {
    "MX": {"kp": 32.0, "error_gain": 0.158, "voltage": 15.0, "max_duty": 0.9625},
    "XL320": {"kp": 32.0, "error_gain": 0.05048199, "voltage": 7.5},
    "XL330": {"kp": 400.0, "error_gain": 4096.0 / (2.0 * math.pi) / (256.0 * 885.0), "voltage": 7.5},
    "STS3215": {"kp": 32.0, "error_gain": 0.166, "voltage": 7.4, "max_duty": 0.97},
    "STS3215-12V": {"kp": 32.0, "error_gain": 0.166, "voltage": 12.0, "max_duty": 0.97},
}
"""Values of servos by name of the series: gain from the factory, error gain, nominal voltage, largest duty."""
TICKS: Final = {"MX": 4096, "XL320": 1228.8, "XL330": 4096, "STS3215": 4096, "STS3215-12V": 4096}
"""Ticks of a turn, by name of the series; an XL320 has 1024 in 300°."""
REGISTERS: Final = {"MX": {"kd": 8.0 * 4.0 / 1000.0, "ki": 8.0 * 1000.0 / 2048.0}}
"""`kd` and `ki` per count of the registers D and I, where the maker publishes them.

ROBOTIS e-Manual, MX-28, control table: Kp = P/8, Kd = D·4/1000 s, Ki = I·1000/2048 per s. From knowledge, not looked
up.
"""

_servo = functools.partial(described, "servo", lower=0.0)


@dataclass
class ServoControlConfig(ControlConfig):
    """The position loop in the firmware of a hobby servo: `duty = error_gain·kp·(q* − q)`, within `±max_duty`.

    Its result is a voltage, duty times battery, so `ElectricalConfig(command="voltage")` has to follow. The schema is
    our own.

    Example:
        >>> ServoControlConfig.of("XL330", kp=200.0).voltage
        7.5
    """

    SCHEMA: ClassVar[str] = "ActuatorServoControlAPI"
    IN_VOLTS: ClassVar[bool] = True

    kp: float = required(**_servo("kp", "", None))
    """Proportional gain as in the register of the servo."""
    error_gain: float = required(**_servo("errorGain", "1/rad or 1/m", None))
    """Duty per position error at a gain of 1 [1/rad or 1/m]; `PRESETS` has those of some servos."""
    voltage: float = required(**_servo("voltage", "V", None, above=True))
    """Voltage of the battery [V]; that of a `SupplyConfig` counts where there is one."""
    max_duty: float = parameter(**_servo("maxDuty", "", 1.0, upper=1.0))
    """Largest duty in either direction, from 0 to 1."""
    min_duty: float = parameter(**_servo("minDuty", "", 0.0, upper=1.0))
    """Smallest duty in either direction that is not 0, the punch or startup force of some servos."""
    deadband: float = parameter(**_servo("deadband", "rad or m", 0.0))
    """Position error up to which the error counts as 0 [rad or m]."""
    kd: float = parameter(**_servo("kd", "s", 0.0))
    """Derivative gain [s], with the units of `kp`."""
    max_duty_rate: float = parameter(**_servo("maxDutyRate", "1/s", math.inf, infinite=True))
    """Largest change of the duty [1/s]; inf means no limit."""
    profile_velocity: float = parameter(
        **_servo("profileVelocity", "rad/s or m/s", math.inf, above=True, infinite=True)
    )
    """Largest velocity of the setpoint [rad/s or m/s]; inf means no limit."""
    profile_acceleration: float = parameter(
        **_servo("profileAcceleration", "rad/s² or m/s²", math.inf, above=True, infinite=True)
    )
    """Largest acceleration of the setpoint [rad/s² or m/s²]; inf means no limit.

    With both limits infinite the setpoint is the target.
    """
    ki: float = parameter(**_servo("ki", "1/s", 0.0))
    """Integral gain [1/s], with the units of `kp`; its duty is bounded by `max_duty`."""

    def conflicts(self) -> list[str]:
        """Return what is wrong with the two limits of the duty; the law keeps to the largest, also joint by joint."""
        if all(isinstance(one, Real) for one in (self.min_duty, self.max_duty)) and self.min_duty > self.max_duty:
            return [f"min_duty = {self.min_duty!r}: must be at most max_duty, {self.max_duty!r}. Correct either."]
        if all(isinstance(one, Real) for one in (self.kp, self.kd)) and self.kd > self.kp > 0.0:
            return [
                f"kd = {self.kd!r}: is in seconds, with the units of kp, and must be at most kp, {self.kp!r}. Give the "
                "register D as ServoControlConfig.of(series, d=…), or a time."
            ]
        return []

    @classmethod
    def of(
        cls,
        series: str,
        *,
        p: float | None = None,
        d: float | None = None,
        i: float | None = None,
        deadband_ticks: float | None = None,
        **values: object,
    ) -> Self:
        """Return the config of a servo.

        Args:
            series: Name in `PRESETS`: `"MX"`, `"XL320"`, `"XL330"`, `"STS3215"` or `"STS3215-12V"`.
            p: Register of the proportional gain, the same as `kp`.
            d: Register of the derivative gain, of a series in `REGISTERS`.
            i: Register of the integral gain, of a series in `REGISTERS`.
            deadband_ticks: Register of the dead band [ticks of the encoder].
            values: Fields that differ from the preset, such as `kp` or `voltage`.

        Raises:
            ValueError: The name is unknown, a field is given twice, or no maker publishes what a register means.

        Example:
            >>> ServoControlConfig.of("MX", p=32, d=10, deadband_ticks=1).kd
            0.32
        """
        if series not in PRESETS:
            raise ValueError(f"series = {shown(series)}: must be one of {', '.join(PRESETS)}. Correct the name.")
        scales = {"kp": 1.0, "deadband": 2.0 * math.pi / TICKS[series], **REGISTERS.get(series, {})}
        given = {"kp": ("p", p), "kd": ("d", d), "ki": ("i", i), "deadband": ("deadband_ticks", deadband_ticks)}
        for field, (register, count) in given.items():
            if count is None:
                continue
            if field in values:
                raise ValueError(f"{register} = {count!r} and {field} = {values[field]!r}: must be one. Remove either.")
            if field not in scales and count:
                raise ValueError(
                    f"{register} = {count!r}: must be left out for {series}, whose maker does not publish what a count "
                    f"of it means. Give {field} [{parameters_of(cls)[field].unit}] as identified, or 0."
                )
            values[field] = count * scales.get(field, 0.0)
        numbers: dict[str, Any] = {**PRESETS[series], **values}
        return cls(**numbers)

    def gains_with(self, winding: ElectricalConfig) -> tuple[float, float, float]:
        """Proportional, derivative and integral gain behind a winding, its back-EMF as damping.

        Values may be arrays. They are slopes: limits, deadband and inductance are not in them.
        """
        per_volt = winding.torque_constant / winding.resistance
        per_unit = per_volt * self.voltage * self.error_gain
        return per_unit * self.kp, per_unit * self.kd + per_volt * winding.torque_constant, per_unit * self.ki


@dataclass
class StartupPDControlConfig(ControlConfig):
    """PD control with a startup force: `effort = const + feedforward + kp·e + startup·sign(e) + kd·ė`.

    Many servos have a register for it, *minimum startup force* or *punch*, so that small errors are not lost in
    friction. The schema is our own.
    """

    SCHEMA: ClassVar[str] = "ActuatorStartupPDControlAPI"

    kp: float = required(**described("startupPd", "kp", "N·m/rad or N/m", 0.0, lower=0.0))
    """Proportional gain [N·m/rad or N/m]."""
    kd: float = required(**described("startupPd", "kd", "N·m·s/rad or N·s/m", 0.0, lower=0.0))
    """Derivative gain [N·m·s/rad or N·s/m]."""
    startup: float = parameter(**described("startupPd", "startup", "N·m or N", 0.0, lower=0.0))
    """Effort towards the target, whatever its distance [N·m or N]; the joint chatters if it is above its friction."""
    const_effort: float = parameter(**described("startupPd", "constEffort", "N·m or N", 0.0))
    """Effort added at every step [N·m or N]."""

    def gains_at_joint(self) -> tuple[float, float, float]:
        """Proportional, derivative and integral gain, seen from the joint; without the startup force."""
        return self.kp, self.kd, 0.0


def gains_of(staged: Staged, config_of: Callable[[object], object]) -> tuple[Any, ...] | None:
    """Return proportional, derivative and integral gain of some stages, those of the motor before a transmission.

    None for what has none.
    """
    controller = None if staged.controller is None else config_of(staged.controller)
    if isinstance(controller, ServoControlConfig):
        winding = config_of(found) if (found := _winding(staged)) is not None else None
        return controller.gains_with(winding) if isinstance(winding, ElectricalConfig) else None
    return controller.gains_at_joint() if isinstance(controller, Config) else None


def voltage_problems(staged: Staged, subject: str) -> list[str]:
    """Return what is wrong between a controller and a winding: both are in volts, or neither.

    Controllers and windings that the host program registered may be either.
    """
    controller, winding = staged.controller, _winding(staged)
    if not isinstance(controller, ControlConfig) or not isinstance(winding, ElectricalConfig | None):
        return []
    commands = {"effort"}
    if winding is not None:
        commands = {parameters_of(winding)["command"].word(one) for one in entries_of(winding.command)}
    has, wants = type(controller).__name__, 'ElectricalConfig(command="voltage")'
    if controller.IN_VOLTS and commands != {"voltage"}:
        return [f"{subject} has {has}, which returns a voltage, without {wants}: must have one. Add it."]
    if not controller.IN_VOLTS and "voltage" in commands:
        return [
            f"{subject} has {wants} and {has}, which returns an effort: must have a ServoControlConfig. Use one, or "
            "remove the command."
        ]
    return []


def _winding(staged: Staged) -> object:
    return next((stage for kind, stage in staged.by_kind if kind == "electrical"), None)
