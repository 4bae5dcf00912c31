"""The parameters that identification can fit, and where they are in a motor."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from ...specs.configs import (
    CONFIGS,
    CommandLagConfig,
    Config,
    ControlConfig,
    DelayConfig,
    EffortLagConfig,
    ElasticTransmissionConfig,
    ElectricalConfig,
    FrictionConfig,
    PDControlConfig,
    ServoControlConfig,
    StartupPDControlConfig,
    SupplyConfig,
    TimedDelayConfig,
    TransmissionConfig,
)
from ...specs.encoder import EncoderConfig
from ...specs.engine_friction import is_friction
from ...specs.fields import Parameter, parameters_of
from ...specs.motors import MotorConfig
from ...specs.transmission import transmission_among

# a parameter that the table lacks changes in steps of this share of its range
_SHARE = 0.05


@dataclass(frozen=True)
class Fitted:
    """A line of the table; `unit` is empty for none."""

    unit: str
    bounds: tuple[float, float]
    # where a fit starts if the motor has none, and about which a known spread lies
    start: float
    # typical size of a change
    scale: float
    # kind and field, `passive.coulomb`; the first is read, all are set; empty for what is of the joint
    places: tuple[str, ...] = ()
    # config that a motor without such a stage gets; None if it must have one
    law: type[Config] | None = None
    # standard deviation about `start` that is known before a fit; infinite if nothing is
    spread: float = math.inf

    @property
    def kind(self) -> str:
        """Kind of the stage that has it; empty for what is of the joint."""
        return self.places[0].partition(".")[0] if self.places else ""

    @property
    def fields(self) -> tuple[str, ...]:
        """Names of the fields of its stage."""
        return tuple(place.partition(".")[2] for place in self.places)


def _load(*fields: str) -> Fitted:
    """Return a share of a load that dry friction adds."""
    return Fitted("", (0.0, 1.0), 0.05, 0.05, tuple(f"passive.{field}" for field in fields), FrictionConfig)


def _spring(unit: str, bounds: tuple[float, float], start: float, scale: float, field: str) -> Fitted:
    """Return a number of a spring between rotor and joint."""
    return Fitted(unit, bounds, start, scale, (f"transmission.{field}",), ElasticTransmissionConfig)


PARAMETERS = {
    "armature": Fitted("kg·m² or kg", (1e-5, 2.0), 0.01, 0.01),
    "delay": Fitted("s", (0.0, 0.1), 0.005, 0.005, ("delay.seconds",), TimedDelayConfig),
    "encoder_bias": Fitted("rad or m", (-0.2, 0.2), 0.0, 0.02, ("feedback.bias",), EncoderConfig, 0.1),
    "kp": Fitted("N·m/rad or N/m", (0.0, 1e5), 20.0, 5.0, ("controller.kp",)),
    "kd": Fitted("N·m·s/rad or N·s/m", (0.0, 1e4), 0.5, 0.2, ("controller.kd",)),
    "torque_constant": Fitted("N·m/A or N/A", (1e-3, 100.0), 0.5, 0.1, ("electrical.torque_constant",)),
    "resistance": Fitted("Ω", (1e-2, 100.0), 2.0, 0.5, ("electrical.resistance",)),
    "supply_resistance": Fitted("Ω", (0.0, 10.0), 0.1, 0.1, ("supply.resistance",), SupplyConfig),
    "max_effort": Fitted("N·m or N", (0.0, 1e4), 10.0, 1.0, ("clamping.max_effort",)),
    "command_lag": Fitted("s", (0.0, 0.5), 0.02, 0.01, ("command.time_constant",), CommandLagConfig),
    "effort_lag": Fitted("s", (0.0, 0.5), 0.01, 0.01, ("effort_lag.time_constant",), EffortLagConfig),
    "viscous": Fitted("N·m·s/rad or N·s/m", (0.0, 100.0), 0.05, 0.1, ("passive.viscous",), FrictionConfig),
    "coulomb": Fitted("N·m or N", (0.0, 100.0), 0.05, 0.1, ("passive.coulomb",), FrictionConfig),
    "breakaway": Fitted("N·m or N", (0.0, 100.0), 0.02, 0.05, ("passive.static",), FrictionConfig),
    "stribeck_velocity": Fitted("rad/s or m/s", (0.005, 5.0), 0.1, 0.1, ("passive.stribeck_velocity",), FrictionConfig),
    "startup": Fitted("N·m or N", (0.0, 100.0), 0.05, 0.1, ("controller.startup",), StartupPDControlConfig),
    "rotor_inertia": _spring("kg·m² or kg", (1e-5, 2.0), 0.01, 0.01, "rotor_inertia"),
    "stiffness": _spring("N·m/rad or N/m", (1.0, 1e5), 200.0, 50.0, "stiffness"),
    "spring_damping": _spring("N·m·s/rad or N·s/m", (0.0, 100.0), 0.1, 0.1, "damping"),
    "backlash": _spring("rad or m", (0.0, 0.5), 0.005, 0.005, "backlash"),
    "load_friction": _load("motor_load", "external_load"),
    "motor_load": _load("motor_load"),
    "external_load": _load("external_load"),
    "stribeck_motor_load": _load("stribeck_motor_load"),
    "stribeck_external_load": _load("stribeck_external_load"),
    "quadratic_motor_load": _load("quadratic_motor_load"),
    "quadratic_external_load": _load("quadratic_external_load"),
}
"""The parameters by name. `breakaway` is by how much the static level exceeds the Coulomb level."""

OF_LOG = ("armature", "delay", "encoder_bias")
"""Parameters that a rollout applies to inertias, commands and positions; the others are those of laws."""

SPRING = ("rotor_inertia", "stiffness", "spring_damping", "backlash")
"""Parameters of a rotor behind a spring, which has the armature of the joint."""

GAINS = ("kp", "kd", "torque_constant", "resistance")
"""Gains of the controller and the winding, which are fitted only on demand."""


@functools.cache
def _numbers() -> dict[str, dict[str, Parameter]]:
    """Return the numbers of stages by kind and field."""
    found: dict[str, dict[str, Parameter]] = {}
    for config in CONFIGS:
        numbers = {name: one for name, one in parameters_of(config).items() if one.type == "float"}
        found.setdefault(config.KIND, {}).update({**numbers, **found.get(config.KIND, {})})
    return {kind: numbers for kind, numbers in found.items() if numbers}


def rule_of(name: str, bounds: tuple[float, float] | None = None) -> Fitted:
    """Return the line of a parameter, or that of any number of a stage by its kind and field."""
    if name in PARAMETERS:
        rule = PARAMETERS[name]
        return rule if bounds is None else dataclasses.replace(rule, bounds=bounds)
    kind, _, field = name.partition(".")
    kinds = _numbers()
    found = kinds.get(kind, {}).get(field)
    if found is None:
        of_stages = ", ".join(f"{one} ({', '.join(kinds[one])})" for one in (kinds if kind not in kinds else [kind]))
        named = f"one of {', '.join(PARAMETERS)}, or " * (kind not in kinds)
        raise ValueError(f"{name}: must be {named}KIND.FIELD of a number of a stage: {of_stages}. Correct the name.")
    if bounds is None:
        raise ValueError(f"{name}: has no usual range: must have bounds. Give them.")
    low, high = bounds
    return Fitted(found.unit, bounds, 0.5 * (low + high), _SHARE * (high - low), (name,))


def _stage_of(motor: MotorConfig, rule: Fitted) -> Config | None:
    """Return the stage of a motor that has a parameter."""
    wanted = rule.law or Config
    for stage in motor.stages:
        if stage.KIND == rule.kind and isinstance(stage, wanted) and hasattr(stage, rule.fields[0]):
            return stage
    return None


def _volts(motor: MotorConfig) -> float:
    """Return the voltage of the supply of a motor [V]; infinite if it does not matter to it."""
    supplied = [stage for stage in motor.stages if isinstance(stage, ElectricalConfig | ServoControlConfig)]
    return min((_number(stage.voltage, "voltage") for stage in supplied), default=math.inf)


def _rotor_of(motor: MotorConfig) -> TransmissionConfig | None:
    """Return the transmission of a motor that has the inertia of its rotor."""
    return next((one for one in motor.stages if isinstance(one, TransmissionConfig) and one.rotor_inertia), None)


def other_friction(motor: MotorConfig) -> Config | None:
    """Return the friction of a motor that is of another law than `FrictionConfig`; None if it has none."""
    return next((one for one in motor.stages if is_friction(one) and not isinstance(one, FrictionConfig)), None)


def has_place(motor: MotorConfig, name: str) -> bool:
    """Return whether a parameter can be set in a motor.

    Supplies need windings, the rotor behind a spring is no armature, other laws of friction are no `FrictionConfig`.
    """
    if name == "armature":
        rotor = _rotor_of(motor)
        return rotor is None or rotor.IS_RIGID
    rule = rule_of(name, (0.0, 1.0))
    if rule.law is FrictionConfig and other_friction(motor) is not None:
        return False
    if _stage_of(motor, rule) is not None:
        return True
    if rule.law is ElasticTransmissionConfig:
        return transmission_among(motor.stages) is None
    return _new_stage(motor, rule) is not None


def value_of(motor: MotorConfig, name: str) -> float:
    """Return a parameter of a motor of one joint; NaN if the motor does not have it."""
    if name == "armature":
        rotor = _rotor_of(motor)
        if rotor is None:
            return math.nan if motor.armature is None else _number(motor.armature, name)
        ratio, inertia = _number(rotor.ratio, "ratio"), _number(rotor.rotor_inertia, "rotor_inertia")
        return ratio**2 * inertia if rotor.IS_RIGID else 0.0
    rule = rule_of(name, (0.0, 1.0))
    stage = _stage_of(motor, rule)
    if stage is None:
        return math.nan
    found = _number(getattr(stage, rule.fields[0]), name)
    if name == "breakaway" and isinstance(stage, FrictionConfig):
        return max(found - _number(stage.coulomb, name), 0.0)
    return found


def with_values(motor: MotorConfig, values: Mapping[str, float]) -> MotorConfig:
    """Return a motor with these parameters, and the stages that they need."""
    changed = dataclasses.replace(motor, clamping=list(motor.clamping), others=list(motor.others))
    # a breakaway is on top of a Coulomb level, and a spring takes the armature and turns the encoder to the rotor
    for name in sorted(values, key=lambda one: (one == "breakaway") - (one in SPRING)):
        if name == "armature":
            # that of the rotor in the transmission; a joint behind a spring has none
            rotor = _rotor_of(changed)
            if rotor is not None and rotor.IS_RIGID:
                inertia = values[name] / _number(rotor.ratio, "ratio") ** 2
                changed.others[changed.others.index(rotor)] = dataclasses.replace(rotor, rotor_inertia=inertia)
            else:
                changed.armature = values[name] if rotor is None else None
        else:
            _set(changed, name, values[name])
    return changed


def with_inertia(motor: MotorConfig, inertia: float) -> MotorConfig:
    """Return a motor whose friction assumes an inertia [kg·m² or kg] if it assumes none yet."""
    others: list[Config] = [
        dataclasses.replace(cast(Any, one), assumed_inertia=inertia)
        if is_friction(one) and getattr(one, "assumed_inertia", None) == 0.0
        else one
        for one in motor.others
    ]
    return dataclasses.replace(motor, others=others)


def _set(motor: MotorConfig, name: str, value: float) -> None:
    rule = rule_of(name, (0.0, 1.0))
    stage = _stage_of(motor, rule)
    if stage is None:
        stage = _made(motor, name, rule)
        if rule.kind == "delay":
            motor.delay = cast(DelayConfig, stage)
        elif rule.kind == "controller":
            motor.controller = cast(ControlConfig, stage)
        else:
            motor.others.append(stage)
    given = dict.fromkeys(rule.fields, value)
    if isinstance(stage, FrictionConfig):
        given = _friction(stage, given)
    made: Any = dataclasses.replace(cast(Any, stage), **given)
    if motor.controller is stage:
        motor.controller = made
    elif motor.delay is stage:
        motor.delay = made
    else:
        part: list[Any] = motor.clamping if stage in motor.clamping else motor.others
        part[part.index(stage)] = made


def _made(motor: MotorConfig, name: str, rule: Fitted) -> Config:
    """Return the stage that a motor lacks."""
    if rule.law is FrictionConfig and (friction := other_friction(motor)) is not None:
        fields = ", ".join(f"passive.{field}" for field, one in parameters_of(friction).items() if one.type == "float")
        raise ValueError(
            f"{name}: the motor has {type(friction).__name__}: must be a number of that, {fields}. Correct the name, "
            "and give bounds."
        )
    if (stage := _new_stage(motor, rule)) is None:
        wanted = "winding with a voltage" if rule.law else f"stage of the kind {rule.kind} with {rule.fields[0]}"
        raise ValueError(f"{name}: the motor has no {wanted}: must have one for it to be fitted. Add it.")
    return stage


def _new_stage(motor: MotorConfig, rule: Fitted) -> Config | None:
    """Return the stage that a motor gets for a parameter that it lacks; None if it cannot have it."""
    if rule.law is EncoderConfig:
        # rollouts have the velocity of the joint; without an encoder a controller sees the rotor
        is_elastic = isinstance(transmission_among(motor.stages), ElasticTransmissionConfig)
        return EncoderConfig(velocity="register", side="motor" if is_elastic else "joint")
    if rule.law is SupplyConfig:
        return SupplyConfig(volts) if math.isfinite(volts := _volts(motor)) else None
    if rule.law is StartupPDControlConfig:
        if not isinstance(pd := motor.controller, PDControlConfig):
            return None
        return StartupPDControlConfig(pd.kp, pd.kd, const_effort=pd.const_effort)
    if rule.law is ElasticTransmissionConfig:
        inertia, stiffness = PARAMETERS["rotor_inertia"].start, PARAMETERS["stiffness"].start
        return ElasticTransmissionConfig(1.0, rotor_inertia=inertia, stiffness=stiffness)
    return None if rule.law is None else rule.law()


def _friction(stage: FrictionConfig, given: dict[str, float]) -> dict[str, float]:
    """Return the fields of friction whose static level is at least the Coulomb level."""
    coulomb = given.get("coulomb", _number(stage.coulomb, "coulomb"))
    if "static" in given:
        return given | {"static": given["static"] + coulomb}
    return given | {"static": 0.0} if coulomb > _number(stage.static, "static") else given


def _number(value: object, name: str) -> float:
    if isinstance(value, int | float):
        return float(value)
    raise ValueError(f"{name} = {value!r}: must be one number. Give each joint a motor of its own.")


def fields_of(names: Sequence[str], values: Mapping[str, float]) -> dict[str, float]:
    """Return values by kind of stage and field, for some parameters; those of `OF_LOG` have none."""
    found = {place: values[name] for name in names if name not in OF_LOG for place in rule_of(name, (0.0, 1.0)).places}
    if "passive.static" in found:
        found["passive.static"] += found["passive.coulomb"]
    return found
