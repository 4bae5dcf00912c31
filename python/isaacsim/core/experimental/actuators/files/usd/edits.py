"""Corrections in an overlay, as plain data in SI units; needs no USD."""

from __future__ import annotations

from dataclasses import dataclass

from ...specs.configs import Config


@dataclass(frozen=True)
class ParameterEdit:
    """A new value of a parameter of an actuator prim.

    Args:
        prim: Path of the prim.
        config: Its law with the new value and the other values unchanged.
        field: The parameter.
    """

    prim: str
    config: Config
    field: str


@dataclass(frozen=True)
class PropertyEdit:
    """A new value of a property of a joint.

    Args:
        joint: Path of the joint prim.
        axis: Name of the axis, see `files.usd.joint_properties`.
        name: Name of the property, see `files.usd.joint_properties`.
        value: Value [SI].
    """

    joint: str
    axis: str
    name: str
    value: float


@dataclass(frozen=True)
class SchemaEdit:
    """A schema of a prim that is replaced.

    Args:
        prim: Path of the prim.
        schema: The applied schema.
        instead: The new one.
    """

    prim: str
    schema: str
    instead: str


@dataclass(frozen=True)
class SplitEdit:
    """A prim with several targets, split into a prim for each.

    Args:
        prim: Path of the prim.
    """

    prim: str


@dataclass(frozen=True)
class StandInEdit:
    """A prim that gets stand-ins for its laws, for readers that do not know these.

    Args:
        prim: Path of the prim.
        configs: Its laws, in the order of application.
    """

    prim: str
    configs: tuple[Config, ...]


Edit = ParameterEdit | PropertyEdit | SchemaEdit | SplitEdit | StandInEdit
