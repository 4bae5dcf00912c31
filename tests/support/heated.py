"""Made-up laws that publish what others read in the next step: heat and derating, power and the voltage it leaves."""

import dataclasses
from typing import ClassVar

import numpy as np
import warp as wp
from isaacsim.core.experimental.actuators import Clamping, ControllerPD
from isaacsim.core.experimental.actuators.engine.entry import ActuatorEntry
from isaacsim.core.experimental.actuators.laws.contract.base import Electrical, Supply, Thermal
from isaacsim.core.experimental.actuators.laws.contract.catalogue import Law
from isaacsim.core.experimental.actuators.laws.contract.law import UNSET, started, within
from isaacsim.core.experimental.actuators.specs.configs import Config

NAMES = ("hip", "knee", "ankle", "toe")
ROBOTS, DT = 3, 0.01
AMBIENT = wp.constant(25.0)


@wp.func
def warmed(
    effort: float,
    position: float,
    velocity: float,
    dt: float,
    heat: float,
    share: float,
    gain: float,
    loss: float,
    hottest: float,
):
    before = started(heat, AMBIENT)
    now = before + dt * (gain * effort * effort - loss * (before - AMBIENT)) + 0.0 * (position + velocity + share)
    return now, within((hottest - now) / (hottest - AMBIENT), 0.1, 1.0)


class ThermalWinding(Thermal):
    PARAMETERS: ClassVar = ("gain", "loss", "hottest")
    NEUTRAL: ClassVar = (0.0, 0.0, 100.0)
    STATE: ClassVar = ("heat", "share")
    START: ClassVar = {"heat": UNSET, "share": 1.0}
    KEPT: ClassVar = ("heat",)
    PUBLISHES: ClassVar = {"temperature": "heat", "derating": "share"}
    LAW = warmed


@wp.func
def derated_winding(effort: float, position: float, velocity: float, derating: float, most: float):
    return within(effort, -most * derating, most * derating)


class ClampingDerated(Clamping):
    PARAMETERS: ClassVar = ("most",)
    ASKS: ClassVar = ("derating",)
    LAW = derated_winding


@wp.func
def sagged(effort: float, position: float, velocity: float, supply_voltage: float, per_volt: float):
    return within(effort, -per_volt * supply_voltage, per_volt * supply_voltage)


class ClampingSagged(Clamping):
    """A limit that shrinks with the voltage; without a supply there is none."""

    PARAMETERS: ClassVar = ("per_volt",)
    ASKS: ClassVar = ("supply_voltage",)
    LAW = sagged


@wp.func
def metered(effort: float, position: float, velocity: float, dt: float, drawn: float, resistance: float):
    power = wp.abs(effort * velocity) + resistance * effort * effort
    return effort, power + 0.0 * (position + dt + started(drawn, 0.0))


class ElectricalMetered(Electrical):
    PARAMETERS: ClassVar = ("resistance",)
    STATE: ClassVar = ("drawn",)
    START: ClassVar = {"drawn": UNSET}
    PUBLISHES: ClassVar = {"power": "drawn"}
    LAW = metered


@wp.func
def drained(
    effort: float,
    position: float,
    velocity: float,
    dt: float,
    robot_power: float,
    volts: float,
    open_circuit: float,
    resistance: float,
):
    found = open_circuit - resistance * robot_power / open_circuit + 0.0 * (effort + position + velocity + dt)
    return found + 0.0 * started(volts, 0.0)


class SupplyDrained(Supply):
    PARAMETERS: ClassVar = ("open_circuit", "resistance")
    NEUTRAL: ClassVar = (1.0, 0.0)
    STATE: ClassVar = ("volts",)
    START: ClassVar = {"volts": UNSET}
    ASKS: ClassVar = ("robot_power",)
    PUBLISHES: ClassVar = {"supply_voltage": "volts"}
    LAW = drained


LAWS = (ThermalWinding, ClampingDerated, ClampingSagged, ElectricalMetered, SupplyDrained)
"""All of them."""


def lines() -> list[Law]:
    made = []
    for law in LAWS:
        said = {"KIND": law.KIND, "SCHEMA": f"{law.__name__}API"}
        config = dataclasses.make_dataclass(f"{law.__name__}Config", [], bases=(Config,), namespace=said)
        made.append(Law(config, law.__name__))
    return made


NUMBERS = {
    "hip": {"kp": 60.0, "most": 20.0, "per_volt": 1.2, "gain": 0.4, "resistance": 0.3},
    "knee": {"kp": 80.0, "most": 30.0, "per_volt": 0.9, "gain": 0.2, "resistance": 0.2},
    "ankle": {"kp": 40.0, "most": 15.0, "per_volt": 0.5, "gain": 0.9, "resistance": 0.7},
    "toe": {"kp": 25.0, "most": 9.0, "per_volt": 0.4, "gain": 1.5, "resistance": 0.1},
}
"""Of each joint."""
LOSS, HOTTEST, OPEN, INNER = 0.5, 40.0, 24.0, 0.3


def entry(name: str, device="cpu", *, supplied: bool = True, more=()) -> ActuatorEntry:
    def of(value: float) -> wp.array:
        return wp.full(ROBOTS, value, dtype=wp.float32, device=device)

    number = NUMBERS[name]
    others = [ElectricalMetered(of(number["resistance"])), *more]
    limits = [ClampingDerated(of(number["most"]))]
    others.append(ThermalWinding(of(number["gain"]), of(LOSS), of(HOTTEST)))
    if supplied:
        limits.append(ClampingSagged(of(number["per_volt"])))
        others.append(SupplyDrained(of(OPEN), of(INNER)))
    return ActuatorEntry(f"/A/{name}", (name,), ControllerPD(of(number["kp"]), of(1.0)), limits, None, others=others)


def draw(rng: np.random.Generator, faults: bool = True) -> np.ndarray:
    """Inputs `(5, robots, joints)`, some of them not finite."""
    inputs = 0.4 * rng.normal(size=(5, ROBOTS, len(NAMES))).astype(np.float32)
    if faults:
        bad = rng.random(inputs.shape) < 0.01
        inputs[bad] = rng.choice([np.nan, np.inf, -np.inf], size=bad.sum())
    return inputs
