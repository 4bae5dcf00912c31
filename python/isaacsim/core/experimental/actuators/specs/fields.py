"""One description per authored parameter: USD attribute, type, range, fallback and unit.

Authoring, parsing and the constructors all check a value against the same description, so a rule is written once.
"""

from __future__ import annotations

import dataclasses
import math
import numbers
import struct
import unicodedata
from collections.abc import Iterable, Mapping, Sized
from pathlib import PurePath
from typing import Any, Final, Literal

JOINT: Final = "joint"
"""Stands for the effort limit of the joint itself, in the place of a number."""
UNKNOWN_JOINT: Final = (
    "the effort limit of its joint is not known here. Give a number, or pass the motor to from_configs or add_motors."
)
FLOAT32_MAX = 3.4028234663852886e38
_NO_TABLES = (str, bytes, bytearray, Mapping)


@dataclasses.dataclass(frozen=True)
class Parameter:
    """What one parameter of a config may be."""

    attribute: str
    """USD attribute the value is stored in."""
    type: Literal["float", "int", "float[]", "asset"]
    """USD value type."""
    unit: str
    """Unit of a rotary joint, then of a linear one."""
    fallback: Any
    """Value of the USD schema when the attribute is not authored; None means it has to be."""
    lower: float = -math.inf
    """Smallest value allowed, inclusive unless `above` says otherwise."""
    above: bool = False
    """Whether values must be greater than `lower`, not equal to it."""
    upper: float = math.inf
    """Largest value allowed, inclusive."""
    infinite: bool = False
    """Whether +inf is allowed; it switches the parameter's effect off."""
    most: int | None = None
    """Largest number of elements; None means any."""
    or_joint: bool = False
    """Whether `JOINT` may stand in its place, until the joint is known."""
    bounds: Literal["", "effort", "speed"] = ""
    """What it bounds in either direction: efforts along the motion, or the speed without load; empty for neither."""
    earlier: str = ""
    """Attribute that files of version 0.2 store the value in; empty where it is the same."""

    @property
    def dimension(self) -> tuple[int, int]:
        """Powers of an effort and of a position in the unit; time is in seconds everywhere."""
        linear = self.unit.rpartition(" or ")[2]
        if linear == "kg":
            return 1, -1
        return int(linear.startswith("N")), (linear.startswith("m")) - ("/m" in linear or "/(m" in linear)

    @property
    def rule(self) -> str:
        """The range in words, for error messages."""
        if self.type == "asset":
            return "must be the path of a file"
        kind = "an integer" if self.type == "int" else "a number" if self.infinite else "finite"
        if self.type == "float[]":
            kind = "numbers, each finite"
        bounds: list[str] = []
        if self.lower > -math.inf:
            bounds.append(f"{'>' if self.above else '>='} {self.lower:g}")
        if self.upper < math.inf:
            bounds.append(f"<= {self.upper:g}")
        precision = "" if self.type == "int" else " in single precision"
        off = " (inf switches it off)" if self.infinite else ""
        few = "" if self.most is None else f", {self.most} of them at most"
        return f"must be {' and '.join([kind, *bounds])}{precision}{off}{few}"

    def accepts(self, value: Any) -> bool:
        """Whether `value` has the right type and lies in the range; NaN never does."""
        if self.type == "asset":
            return isinstance(value, str | PurePath) and storable(str(value))
        if self.type == "float[]":
            # an iterator could be read only once, a mapping has no order of its own
            if not hasattr(value, "__getitem__") or not isinstance(value, Iterable) or isinstance(value, _NO_TABLES):
                return False
            try:
                if self.most is not None and isinstance(value, Sized) and len(value) > self.most:
                    return False
                numbers_given: list[Any] = list(value)  # pyright: ignore[reportUnknownArgumentType]
            except TypeError:
                return False
            return all(self._accepts_number(number) for number in numbers_given)
        return self._accepts_number(value)

    def means_joint(self, value: Any) -> bool:
        """Whether `value` asks for the limit of the joint itself."""
        return self.or_joint and isinstance(value, str) and value == JOINT

    def _accepts_number(self, value: Any) -> bool:
        if isinstance(value, bool) or not isinstance(value, numbers.Integral if self.type == "int" else numbers.Real):
            return False
        # numpy counts durations among the integers
        if isinstance(value, numbers.Integral) and not hasattr(value, "__index__"):
            return False
        try:
            number = float(value)
        except OverflowError:
            return False
        if math.isinf(number):
            return self.infinite and number > 0
        if abs(number) > FLOAT32_MAX or not self.lower <= number <= self.upper:
            return False
        # a tiny number is zero once it is stored
        return not self.above or struct.unpack("f", struct.pack("f", number))[0] > self.lower


def parameter(default: Any = dataclasses.MISSING, /, **description: Any) -> Any:
    """Return a dataclass field that carries its `Parameter` description."""
    return dataclasses.field(default=default, metadata={"parameter": Parameter(**description)})


def parameters_of(config: Any) -> dict[str, Parameter]:
    """The described fields of a config class or instance, by field name, in declaration order."""
    return {f.name: f.metadata["parameter"] for f in dataclasses.fields(config) if "parameter" in f.metadata}


def violations(config: Any, subject: str) -> list[str]:
    """One message per field of `config` whose value breaks its rule; empty when all is well."""
    checked = (
        complaint(f"{subject}.{name}", getattr(config, name), described)
        for name, described in parameters_of(config).items()
    )
    return [found for found in checked if found] or conflicts(config, subject)


def complaint(subject: str, value: Any, described: Parameter, *, of_motor: bool = False) -> str | None:
    """What is wrong with a value, or None; that of a motor meets its joint later, and may be left to it."""
    if described.accepts(value):
        return None
    if described.means_joint(value):
        return None if of_motor else f"{subject} = {value!r}: {UNKNOWN_JOINT}"
    either = f", or {JOINT!r} for that of the joint" if of_motor and described.or_joint else ""
    return f"{subject} = {shown(value)}: {described.rule}{either}. Give a value in that range."


def shown(value: Any) -> str:
    """A value for a message, of bounded length."""
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:200]}…"


def conflicts(config: Any, subject: str) -> list[str]:
    """What is wrong between fields of `config` that are each good alone."""
    return [f"{subject}.{problem}" for problem in getattr(config, "conflicts", list[str])()]


def storable(text: str) -> bool:
    """Whether files can hold `text`: something beside blanks, no control characters, no half of a surrogate pair."""
    return bool(text.strip()) and not any(unicodedata.category(character) in ("Cc", "Cs") for character in text)
