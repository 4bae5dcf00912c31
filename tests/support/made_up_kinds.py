"""A kind of stages that nobody knows, with one law; a law for kinds that none that ships has; a law of friction."""

import dataclasses
import sys

import pytest
import warp as wp
from isaacsim.core.experimental.actuators.files.motor_files import files
from isaacsim.core.experimental.actuators.files.usd import author, schema
from isaacsim.core.experimental.actuators.laws.contract import base, catalogue
from isaacsim.core.experimental.actuators.laws.passive_friction_curve import PassiveFrictionCurve, friction_of_curve
from isaacsim.core.experimental.actuators.specs import configs, stages
from isaacsim.core.experimental.actuators.specs.configs import Config, PassiveConfig
from isaacsim.core.experimental.actuators.specs.fields import parameter
from other_laws import replace_laws

MADE_UP = stages.Kind("windage", "Windage", "a made-up law", ("effort", "position", "velocity"), many=True, alone=True)
"""Nothing but this line says what kind it is."""


@wp.func
def resisted(effort: float, position: float, velocity: float, dt: float, felt: float, resistance: float):
    now = 0.5 * felt + 0.5 * velocity
    return effort - resistance * now + 0.0 * (position + dt), now


@wp.func
def felt_late(position: float, velocity: float, dt: float, felt: float, resistance: float):
    now = 0.5 * felt + 0.5 * velocity
    return position + 0.0 * dt, now - 0.01 * resistance * velocity, now


@wp.func
def warmed(effort: float, position: float, velocity: float, dt: float, felt: float, resistance: float):
    return 0.5 * felt + 0.5 * resistance * wp.abs(effort) + 0.0 * (position + velocity + dt)


@wp.func
def moved(
    position: float,
    velocity: float,
    position_target: float,
    velocity_target: float,
    feedforward: float,
    felt: float,
    resistance: float,
):
    return position, velocity, position_target, velocity_target, feedforward + 0.0 * (felt + resistance)


def _law_of(kind: stages.Kind):
    if kind.senses:
        return felt_late
    return resisted if kind.changes_effort else warmed


def made_up_law(kind: stages.Kind) -> catalogue.Law:
    """A law of a sensor, or after the controller, with a parameter with unit and a state that may be published."""
    name = f"{kind.family}Resistance"
    described = {
        **{"attribute": f"actuator:{kind.name}Resistance:resistance", "type": "float", "lower": 0.0, "fallback": 0.0},
        "unit": "N·m·s/rad or N·s/m",
    }
    config = dataclasses.make_dataclass(
        f"Resistance{kind.family}Config",
        [("resistance", float, parameter(0.0, **described))],
        bases=(Config,),
        namespace={"SCHEMA": f"Actuator{kind.family}ResistanceAPI", "KIND": kind.name},
    )
    family = getattr(base, kind.family, base.EffortStage)
    own = {
        **{"KIND": kind.name, "PARAMETERS": ("resistance",), "STATE": ("felt",), "NEUTRAL": (0.0,)},
        **{"LAW": _law_of(kind), "PUBLISHES": {} if kind.gives else {"temperature": "felt"}},
        "MOTOR": moved if kind.converts else None,
    }
    return _law(name, family, own, config)


def made_up_friction() -> catalogue.Law:
    """A law of friction of one level, whose config and class say no more than any law of friction has to."""
    fields = [
        (
            name,
            float,
            parameter(0.0, attribute=f"actuator:grip:{named}", type="float", unit=unit, fallback=0.0, lower=0.0),
        )
        for name, named, unit in (("grip", "grip", "N·m or N"), ("assumed_inertia", "assumedInertia", "kg·m² or kg"))
    ]
    config = dataclasses.make_dataclass(
        "GripConfig", fields, bases=(PassiveConfig,), namespace={"SCHEMA": "ActuatorGripAPI"}
    )
    of_curve = PassiveFrictionCurve
    own = {
        **{"PARAMETERS": ("assumed_inertia", "grip"), "NEUTRAL": (1.0, 0.0), "LAW": friction_of_curve},
        **{"ASKS": of_curve.ASKS, "STATE": of_curve.STATE, "START": of_curve.START},
    }
    return _law("PassiveGrip", base.Passive, own, config)


def _law(name: str, family: type, own: dict, config) -> catalogue.Law:
    module = type(sys)(f"{catalogue.PACKAGE}.{catalogue.snake_case(name)}")
    setattr(module, name, type(name, (family,), own | {"__module__": module.__name__, "__doc__": "A made-up law."}))
    sys.modules[module.__name__] = module
    return catalogue.Law(config, name)


def add_to_table(patch: pytest.MonkeyPatch, kind: stages.Kind, law: catalogue.Law) -> None:
    if kind.name not in stages.KINDS:
        patch.setitem(stages.KINDS, kind.name, kind)
        patch.setitem(stages._PLACES, kind.name, len(stages._PLACES))
        listed = (*(name for name in stages.KINDS if name != "delay"), "delay")
        for module in (stages, files):
            patch.setattr(module, "LISTED", listed)
    config = law.config
    for module in (configs, author, schema, files):
        patch.setattr(module, "CONFIGS", (*configs.CONFIGS, config) if module is configs else configs.CONFIGS)
    patch.setitem(schema.CONFIG_BY_SCHEMA, config.SCHEMA, config)
    for attribute in schema.attributes_of(config).values():
        patch.setitem(schema._SCHEMAS_OF, attribute, [config.SCHEMA])
        patch.setattr(schema, "_NAMESPACES", {*schema._NAMESPACES, attribute.rpartition(":")[0]})
    laws = files.LAWS | {kind.name: {**files.LAWS.get(kind.name, {}), files.law_name(config): config}}
    patch.setattr(files, "LAWS", {name: laws[name] for name in stages.LISTED if name in laws})
    replace_laws(patch, (*catalogue.LAWS, law))
