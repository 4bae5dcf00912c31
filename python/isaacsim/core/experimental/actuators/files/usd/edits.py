"""Corrections in an overlay, as plain data in SI units; needs no USD."""

from __future__ import annotations

from dataclasses import dataclass

from ...specs.configs import Config


@dataclass(frozen=True)
class ParameterEdit:
    """A new value of a parameter of an actuator prim: its law with the new value and the other values unchanged."""

    prim: str
    config: Config
    field: str


@dataclass(frozen=True)
class PropertyEdit:
    """A new value [SI] of a property of a joint; axis and property are named as in `files.usd.joint_properties`."""

    joint: str
    axis: str
    name: str
    value: float


@dataclass(frozen=True)
class SchemaEdit:
    """An applied schema of a prim that is replaced by another one."""

    prim: str
    schema: str
    instead: str


@dataclass(frozen=True)
class SplitEdit:
    """A prim with several targets, split into a prim for each."""

    prim: str


@dataclass(frozen=True)
class StandInEdit:
    """A prim that gets stand-ins for its laws, in the order of application, for readers that do not know these."""

    prim: str
    configs: tuple[Config, ...]


Edit = ParameterEdit | PropertyEdit | SchemaEdit | SplitEdit | StandInEdit
