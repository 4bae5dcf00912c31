"""What an overlay corrects, as plain data in SI units; needs no USD."""

from __future__ import annotations

from dataclasses import dataclass

from ..specs.configs import Config


@dataclass(frozen=True)
class ParameterEdit:
    """A parameter of an actuator prim that gets another value.

    Args:
        prim: Path of the prim.
        config: Its law, with the new value and the others as they are.
        field: The parameter.
    """

    prim: str
    config: Config
    field: str


@dataclass(frozen=True)
class PropertyEdit:
    """A property of a joint that gets another value.

    Args:
        joint: Path of the joint prim.
        axis: As `usd.joint_properties` has it.
        name: As `usd.joint_properties` has it.
        value: In SI.
    """

    joint: str
    axis: str
    name: str
    value: float


@dataclass(frozen=True)
class SchemaEdit:
    """A schema of a prim that gives way to another.

    Args:
        prim: Path of the prim.
        schema: What is applied.
        instead: What is meant.
    """

    prim: str
    schema: str
    instead: str


@dataclass(frozen=True)
class SplitEdit:
    """A prim with several targets, each of which gets a prim of its own.

    Args:
        prim: Path of the prim.
    """

    prim: str


@dataclass(frozen=True)
class StandInEdit:
    """A prim that gets what stands in for its laws, for readers that do not know these.

    Args:
        prim: Path of the prim.
        configs: Its laws, in the order in which they are to be applied.
    """

    prim: str
    configs: tuple[Config, ...]


Edit = ParameterEdit | PropertyEdit | SchemaEdit | SplitEdit | StandInEdit
