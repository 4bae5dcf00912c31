"""Config of the winding of a motor and its driver."""

from __future__ import annotations

import functools
import math
import numbers
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from .brushless import Commutation, Connection, Constant, Windings, equal_winding
from .config import Config
from .fields import choice_of, described, parameter, required

_winding = functools.partial(described, "electrical", lower=0.0)


@dataclass
class ElectricalConfig(Config):
    """The winding of a motor and its driver, between the controller and the limits: `L·di/dt = V − R·i − K·v`.

    A demanded effort asks for the voltage `(R/K)·effort + K·v`. While that voltage lies within the supply, the driver
    regulates the current and the effort is the demanded one. Beyond, the supply limits the current, at the velocity
    that the step ends with. Values are those at the joint: a torque constant Kt before a gear of ratio N is N·Kt.
    Limits act on the effort of the winding: they do not change its current, so a limit of the driver is `max_current`,
    not a `MaxEffortClampingConfig`. The schema is our own.
    """

    SCHEMA: ClassVar[str] = "ActuatorElectricalAPI"
    KIND: ClassVar[str] = "electrical"

    torque_constant: float = required(**_winding("torqueConstant", "N·m/A or N/A", None, above=True))
    """Effort per current K at the joint [N·m/A or N/A], which is also its back-EMF [V·s/rad or V·s/m]."""
    resistance: float = required(**_winding("resistance", "Ω", None, above=True))
    """Resistance R of the winding at 25 °C [Ω]."""
    inductance: float = parameter(**_winding("inductance", "H", 0.0))
    """Inductance L of the winding [H]; 0 for a current that follows at once, best where L/R is below a quarter step."""
    voltage: float = parameter(**_winding("voltage", "V", math.inf, above=True, infinite=True))
    """Voltage of the supply [V]; that of a `SupplyConfig` counts where there is one. inf means no limit."""
    max_current: float = parameter(**_winding("maxCurrent", "A", math.inf, infinite=True))
    """Largest current that the driver demands [A]; a derating for temperature scales it. inf means no limit."""
    max_current_rate: float = parameter(**_winding("maxCurrentRate", "A/s", math.inf, infinite=True))
    """Largest change of the current that the driver demands [A/s]; inf means no limit."""
    temperature_coefficient: float = parameter(**_winding("temperatureCoefficient", "1/K", 0.0))
    """Increase of the resistance with the temperature of the winding from 25 °C on [1/K]; 0 for that of its heat."""
    magnet_coefficient: float = parameter(**_winding("magnetCoefficient", "1/K", 0.0))
    """Decrease of the torque constant with the temperature of the magnets from 25 °C on [1/K]; about 0.0011."""
    command: str = parameter(**choice_of("electrical", "command", "effort", "voltage"))
    """Result of the controller: `"effort"`, or `"voltage"` [V] as `ServoControlConfig` does."""
    driver: str = parameter(**choice_of("electrical", "driver", "on", "open", "shorted"))
    """`"on"`, or off with the winding open, without current, or shorted, which brakes with K²·v/R."""
    discretization: str = parameter(**choice_of("electrical", "discretization", "mean", "mujoco"))
    """Effort of a step: of the `"mean"` current, or as in MuJoCo's `dcmotor`, of the last one at the first velocity."""
    driver_resistance: float = parameter(**_winding("driverResistance", "Ω", 0.0))
    """Resistance of the driver and its leads, in series with the winding, which it does not warm [Ω]."""
    saturation_current: float = parameter(**_winding("saturationCurrent", "A", math.inf, above=True, infinite=True))
    """Knee i_s of the torque [A], by saturated iron: K(i) = K/√(1 + (i/i_s)²), unknown to the driver; inf for none."""
    bandwidth: float = parameter(**_winding("bandwidth", "Hz", math.inf, above=True, infinite=True))
    """Bandwidth of the current loop of a winding whose inductance is not named [Hz]; inf for one without lag."""
    dead_zone: float = parameter(**_winding("deadZone", "A", 0.0))
    """Change of the demanded current up to which the driver leaves the current alone [A]."""

    @classmethod
    def from_pmsm(
        cls,
        torque_constant: float,
        resistance: float,
        voltage: float = math.inf,
        *,
        resistance_of: Windings,
        commutation: Commutation,
        constant_of: Constant = "amplitude",
        connection: Connection = "star",
        gear_ratio: float = 1.0,
        inductance: float = 0.0,
        max_current: float = math.inf,
        **others: Any,
    ) -> Self:
        """Return the DC winding that is equal to the three phases of a brushless motor.

        `specs/brushless.py` has the equations. Currents are then amplitudes of a phase current, or with block
        commutation those of the DC side; voltages are those of the equal winding, with sine commutation 0.866 of the
        DC side: give `SupplyConfig` that voltage, too.

        Args:
            torque_constant: Torque per current of the rotor [N·m/A], with block commutation that of the data sheet.
            resistance: Resistance at 25 °C [Ω], between two terminals or of one phase.
            voltage: Voltage of the DC side [V]; inf for no limit.
            resistance_of: `"line_to_line"`, between two terminals, or `"phase"`; also of the inductance.
            commutation: `"sine"`, field-oriented, or `"block"`, of six steps.
            constant_of: The current of `torque_constant` and `max_current`: its `"amplitude"`, or `"rms"`.
            connection: `"star"` or `"delta"`, which says what a phase is.
            gear_ratio: Turns of the rotor per turn of the joint.
            inductance: Inductance [H], as `resistance`.
            max_current: Largest current of the driver [A], as `constant_of` says.
            others: Further fields of `ElectricalConfig`.

        Raises:
            ValueError: A word is none of its convention, or block commutation has an effective value.

        Example:
            >>> winding = ElectricalConfig.from_pmsm(0.1, 0.2, 48.0, resistance_of="phase", commutation="sine")
            >>> round(winding.resistance, 3), round(winding.voltage, 2)
            (0.3, 41.57)
        """
        equal = equal_winding(
            torque_constant,
            resistance,
            voltage,
            inductance,
            resistance_of=resistance_of,
            connection=connection,
            constant_of=constant_of,
            commutation=commutation,
        )
        most = max_current * equal.pop("current")
        equal["torque_constant"] *= gear_ratio
        return cls(**equal, max_current=most, **others)

    def conflicts(self) -> list[str]:
        """Return what of the current loop and the step of MuJoCo does not go together."""
        own = {"driver_resistance": 0.0, "saturation_current": math.inf, "bandwidth": math.inf, "dead_zone": 0.0}
        loop = ("bandwidth", "dead_zone")
        given = {name: value for name, none in own.items() if not _is(value := getattr(self, name), none)}
        if _says(self.discretization, "mujoco"):
            return [
                f"{name} = {value!r}: must be left out with the step of MuJoCo, which has none. Leave out either."
                for name, value in given.items()
            ]
        if _says(self.command, "voltage"):
            return [
                f"{name} = {given[name]!r}: must be left out where the command is a voltage. Leave it out, or command "
                "efforts."
                for name in loop
                if name in given
            ]
        if "bandwidth" in given and not _is(self.inductance, 0.0):
            return [
                f"bandwidth = {self.bandwidth!r} beside inductance = {self.inductance!r}: must be one of both, as "
                "either is the lag of the current. Leave one out."
            ]
        return []


def _says(value: object, word: str) -> bool:
    # the second choice of two, as a word or its place
    return value == word if isinstance(value, str) else isinstance(value, numbers.Real) and float(value) == 1.0


def _is(value: object, none: float) -> bool:
    # values by joint or robot are checked by the law
    return not isinstance(value, numbers.Real) or float(value) == none
