"""Actuators in words: `delay 3 → PD(kp=80, kd=2) → max effort 20`."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable
from pathlib import PurePath
from typing import Any, cast

from ...specs.configs import Config, ForeignConfig
from ...specs.fields import Parameter, parameters_of
from .described import DEFAULT, InspectedValue


def law_of(config: Config | type[Config]) -> str:
    """Return the word for a law, from its class; the name of the schema for one of the host program."""
    if isinstance(config, ForeignConfig):
        return config.SCHEMA
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z][a-z]+", config.stem())
    return " ".join(word if word.isupper() else word.lower() for word in words)


def pipeline_of(configs: Iterable[Config]) -> str:
    """Return the stages of an actuator in words, in order."""
    return " → ".join(map(_in_words, configs))


def values_of(config: Config, linear: bool, source: str) -> dict[str, tuple[Parameter | None, InspectedValue]]:
    """Return description and value of every parameter of a law, by name; all have the same source."""
    if isinstance(config, ForeignConfig):
        return {name: (None, InspectedValue(value, "", source)) for name, value in config.values.items()}
    return {
        name: (described, InspectedValue(_plain(getattr(config, name)), unit_of(described.unit, linear), source))
        for name, described in parameters_of(config).items()
    }


def unit_of(unit: str, linear: bool) -> str:
    """Return the unit of a joint that turns or slides, from one for both: `rad or m`."""
    angular, _, other = unit.partition(" or ")
    return other if linear and other else angular


def source_of(layer: str | None) -> str:
    """Return the source of a value."""
    return DEFAULT if layer is None else layer


def _in_words(config: Config) -> str:
    law = law_of(config)
    if isinstance(config, ForeignConfig):
        found = config.values
    else:
        found = {name: getattr(config, name) for name, _ in parameters_of(config).items()}
        usual = {one.name: one.default for one in dataclasses.fields(cast(Any, config))}
        # an empty list is none
        found = {name: value for name, value in found.items() if value != usual[name] and value != []}
    if not found:
        return law
    if len(found) == 1 and len(vars(config)) == 1:
        return f"{law} {_shown(*found.values())}"
    return f"{law}({', '.join(f'{name}={_shown(value)}' for name, value in found.items())})"


def _shown(value: object) -> str:
    if isinstance(value, PurePath | str):
        return PurePath(value).name
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, Iterable):
        values = list(value)
        return f"{len(values)} values"
    return f"{value:g}" if isinstance(value, int | float) else str(value)


def _plain(value: object) -> object:
    return str(value) if isinstance(value, PurePath) else value
