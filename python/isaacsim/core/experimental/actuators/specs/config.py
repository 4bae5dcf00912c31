"""Base classes of the configs, and the checks of tables that several of them have."""

from __future__ import annotations

from dataclasses import Field, dataclass, field
from itertools import pairwise
from typing import ClassVar, Literal

from .fields import Parameter, complaint, conflicts, parameters_of

# a table of so many rows takes tens of megabytes in a plan
MAX_TABLE_ROWS = 100_000


class Config:
    """Values of one applied schema of an actuator prim."""

    SCHEMA: ClassVar[str]
    EARLIER_SCHEMA: ClassVar[str] = ""
    """Name of the schema in files of version 0.9 and before, read as well; empty where it is the same."""
    KIND: ClassVar[str]
    COORDINATES: ClassVar[str] = ""
    """`"joint"` for a law that acts at the joint although its kind acts at the motor; empty for the others."""

    def __init_subclass__(cls) -> None:
        """Units of its fields end its documentation: `help` shows no text of fields."""
        found = {name: one.metadata.get("parameter") for name, one in vars(cls).items() if isinstance(one, Field)}
        units = [f"`{name}` [{one.unit}]" for name, one in found.items() if one is not None and one.unit]
        cls.__doc__ = f"{cls.__doc__}\n\n    Units: {', '.join(units)}.\n" if units else cls.__doc__

    @classmethod
    def stem(cls) -> str:
        """Name of the class without its kind: `DCMotor` of `DCMotorClampingConfig`."""
        family = next(base for base in cls.__mro__ if "KIND" in vars(base))
        own = cls.__name__ if family is cls else cls.__name__.removesuffix(family.__name__)
        return own.removesuffix("Config")

    def gains_at_joint(self) -> tuple[float, float, float] | None:
        """Proportional, derivative and integral gain, seen from the joint; None for what has none.

        Values may be arrays, for this and what follows: then so are the results.
        """
        return None

    def bounds(self, of: Literal["effort", "speed"]) -> dict[str, float]:
        """Return the bounds of efforts that drive, or of speeds without load, by field; of a table the largest."""
        found = {name: (one, getattr(self, name)) for name, one in parameters_of(self).items() if one.bounds == of}
        return {name: max(value) if one.type == "float[]" else value for name, (one, value) in found.items()}

    def idle(self) -> dict[str, str]:
        """Fields whose values have no effect beside the others, and why, with what to do instead."""
        return {}


@dataclass
class ControlConfig(Config):
    """A control law."""

    KIND: ClassVar[str] = "controller"
    IN_VOLTS: ClassVar[bool] = False
    """True if the law returns a voltage, not an effort."""
    SWITCHES: ClassVar[dict[str, Parameter]] = {"wrap": Parameter("", "bool", "", False)}
    """Fields that stand for a stage beside it: no values of the law."""

    wrap: bool = field(default=False, repr=False, kw_only=True)
    """True for a continuous joint: the motor gets a `WrapConfig()`, and this is False again."""


class ClampingConfig(Config):
    """An effort limit."""

    KIND: ClassVar[str] = "clamping"


class PassiveConfig(Config):
    """An effort that the joint adds to that of its motor: friction, cogging."""

    KIND: ClassVar[str] = "passive"
    IS_FRICTION: ClassVar[bool] = True
    """True for a law that is the whole friction of its joint: the simulator computes none beside it."""


def checked_table(config: object, *columns: str) -> list[list[float]]:
    """Return the columns of a table as floats."""
    described, subject = parameters_of(config), type(config).__name__
    found = (complaint(f"{subject}.{name}", getattr(config, name), described[name]) for name in columns)
    if problems := [one for one in found if one] or conflicts(config, subject):
        raise ValueError("\n".join(problems))
    return [[float(one) for one in getattr(config, name)] for name in columns]


def table_conflicts(config: object, first: str, second: str) -> list[str]:
    """Return what is wrong between the columns of a table, the first of which must not decrease."""
    points, values = (list(getattr(config, name)) for name in (first, second))
    if len(points) != len(values) or not points:
        return [
            f"{first} has {len(points)} values, {second} {len(values)}: must be equally many, at least one. Complete "
            "the table."
        ]
    return [
        f"{first}[{row + 1}] = {after!r} comes after {before!r}: must not decrease. Sort the table."
        for row, (before, after) in enumerate(pairwise(points))
        if after < before
    ]
