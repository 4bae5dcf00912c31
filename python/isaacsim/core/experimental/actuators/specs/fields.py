"""Descriptions of authored parameters: USD attribute, type, range, fallback and unit.

Authoring, parsing and constructors check a value against the same description.
"""

from __future__ import annotations

import dataclasses
import math
import numbers
import struct
import unicodedata
from collections.abc import Iterable, Mapping, Sized
from pathlib import PurePath
from typing import Any, Final, Literal, TypeAlias, TypedDict, Unpack, cast

from ..base.errors import shown

JOINT: Final = "joint"
"""Value that means the effort limit of the joint itself."""
UNKNOWN_JOINT: Final = (
    "the effort limit of its joint is not known here. Give a number, or pass the motor to from_configs or add_motors."
)
ValueType: TypeAlias = Literal["float", "int", "bool", "token", "float[]", "token[]", "asset"]
_RULES = {"asset": "must be the path of a file", "bool": "must be True or False", "token[]": "must be a list of names"}
FLOAT32_MAX = 3.4028234663852886e38
# exponents of effort and of position of linear units that do not follow from their spelling
_OTHER_DIMENSIONS = {"kg": (1, -1), "1/N": (-1, 0), "V/N": (-1, 0), "W": (1, 1)}
_NO_TABLES = (str, bytes, bytearray, Mapping)


class Description(TypedDict, total=False):
    """Fields of a `Parameter`, or some of them."""

    attribute: str
    type: ValueType
    unit: str
    fallback: object
    lower: float
    above: bool
    upper: float
    infinite: bool
    most: int | None
    or_joint: bool
    bounds: Literal["", "effort", "speed"]
    of_law: bool
    choices: tuple[str, ...]
    earlier: str


@dataclasses.dataclass(frozen=True)
class Parameter:
    """Description of one parameter of a config."""

    attribute: str
    """USD attribute that stores the value."""
    type: ValueType
    """USD value type."""
    unit: str
    """Units: of a revolute joint, then of a prismatic one."""
    fallback: Any
    """Value where the attribute is not authored; None means that it must be authored."""
    lower: float = -math.inf
    """Smallest allowed value; exclusive if `above` is True."""
    above: bool = False
    """True if values must be greater than `lower`."""
    upper: float = math.inf
    """Largest allowed value."""
    infinite: bool = False
    """True if +inf is allowed; it disables the effect of the parameter."""
    most: int | None = None
    """Largest number of elements; None means no limit."""
    or_joint: bool = False
    """True if `JOINT` is allowed until the joint is known."""
    bounds: Literal["", "effort", "speed"] = ""
    """Quantity that it bounds in both directions: effort, or speed without load; empty for none."""
    of_law: bool = True
    """True if the law takes it; False if it selects where or how the law runs."""
    choices: tuple[str, ...] = ()
    """Values of a token; the law takes the position in this list."""
    earlier: str = ""
    """Attribute of the value in older files; empty if it is the same."""

    @property
    def is_single(self) -> bool:
        """True if a value is one number or flag, which may differ from joint to joint."""
        return self.type in ("float", "int", "bool", "token")

    def number(self, value: object) -> Any:
        """Return a value as the law takes it: a token as its position among the choices, others unchanged."""
        return self.choices.index(value) if isinstance(value, str) and value in self.choices else value

    def word(self, value: Any) -> Any:
        """Return a value as users write it: the token at a position among the choices, others unchanged."""
        return value if isinstance(value, str) or not self.choices else self.choices[int(value)]

    @property
    def dimension(self) -> tuple[int, int]:
        """Exponents of effort and of position in the unit; time is always in seconds."""
        linear = self.unit.rpartition(" or ")[2]
        if linear in _OTHER_DIMENSIONS:
            return _OTHER_DIMENSIONS[linear]
        return int(linear.startswith("N")), (linear.startswith("m")) - ("/m" in linear or "/(m" in linear)

    @property
    def rule(self) -> str:
        """The rule in words, for error messages."""
        if self.choices:
            return f"must be one of {', '.join(map(repr, self.choices))}"
        if self.type in _RULES:
            return _RULES[self.type]
        precision = "" if self.type == "int" else " in single precision"
        off = " (inf switches it off)" if self.infinite else ""
        few = "" if self.most is None else f", {self.most} of them at most"
        return f"must be {' and '.join([self._kind_in_words, *self._bounds_in_words])}{precision}{off}{few}"

    @property
    def _kind_in_words(self) -> str:
        if self.type == "float[]":
            return "numbers, each finite"
        if self.type == "int":
            return "an integer"
        return "a number" if self.infinite else "finite"

    @property
    def _bounds_in_words(self) -> list[str]:
        lower = [f"{'>' if self.above else '>='} {self.lower:g}"] if self.lower > -math.inf else []
        return lower + ([f"<= {self.upper:g}"] if self.upper < math.inf else [])

    def accepts(self, value: object) -> bool:
        """Return True if `value` has the right type and is in range; NaN never is."""
        if self.type == "asset":
            return isinstance(value, str | PurePath) and storable(str(value))
        if self.type == "bool":
            return isinstance(value, bool) or real_of(value, numbers.Real) in (0.0, 1.0)
        if self.type in ("float[]", "token[]"):
            return self._accepts_table(value)
        if isinstance(value, str):
            return value in self.choices
        return self._accepts_number(value)

    def means_joint(self, value: object) -> bool:
        """Return True if `value` means the limit of the joint itself."""
        return self.or_joint and isinstance(value, str) and value == JOINT

    def _accepts_table(self, value: object) -> bool:
        # an iterator can be read only once, and a mapping has no order
        if not hasattr(value, "__getitem__") or not isinstance(value, Iterable) or isinstance(value, _NO_TABLES):
            return False
        try:
            if self.most is not None and isinstance(value, Sized) and len(value) > self.most:
                return False
            accepts = _is_name if self.type == "token[]" else self._accepts_number
            return all(map(accepts, value))  # pyright: ignore[reportUnknownArgumentType]
        except TypeError:
            return False

    def _accepts_number(self, value: object) -> bool:
        number = real_of(value, numbers.Integral if self.type == "int" else numbers.Real)
        if number is None:
            return False
        if self.choices:
            return number in range(len(self.choices))
        if math.isinf(number):
            return self.infinite and number > 0
        # a file may have an end of the range rounded
        lower, upper = min(self.lower, in_single(self.lower)), max(self.upper, in_single(self.upper))
        if abs(number) > FLOAT32_MAX or not lower <= number <= upper:
            return False
        # a tiny number is stored as zero
        return not self.above or in_single(number) > self.lower


def real_of(value: object, wanted: type) -> float | None:
    """Return a number of the wanted type as a float, or None for anything else and for integers too large for one."""
    # NumPy counts durations as integers
    is_duration = isinstance(value, numbers.Integral) and not hasattr(value, "__index__")
    if isinstance(value, bool) or is_duration or not isinstance(value, wanted):
        return None
    try:
        return float(value)  # pyright: ignore[reportArgumentType]
    except OverflowError:
        return None


def in_single(number: float) -> float:
    """Return a number in single precision; ±inf beyond its range."""
    try:
        return struct.unpack("f", struct.pack("f", number))[0]
    except OverflowError:
        return math.copysign(math.inf, number)


def _is_name(value: object) -> bool:
    return isinstance(value, str) and storable(value)


def parameter(default: object = dataclasses.MISSING, /, **description: Unpack[Description]) -> Any:
    """Return a dataclass field that carries its `Parameter` description; its default is the fallback, unless given."""
    described = Parameter(**description)
    default = described.fallback if default is dataclasses.MISSING else default
    return dataclasses.field(default=default, metadata={"parameter": described})


def required(**description: Unpack[Description]) -> Any:
    """Return a dataclass field that carries its `Parameter` description, and has no default."""
    return dataclasses.field(metadata={"parameter": Parameter(**description)})


def described(space: str, name: str, unit: str, fallback: object, /, **rule: Unpack[Description]) -> Description:
    """Return the description of a number in the attribute `actuator:space:name`."""
    return {"attribute": f"actuator:{space}:{name}", "type": "float", "unit": unit, "fallback": fallback, **rule}


def choice_of(space: str, name: str, *choices: str) -> Description:
    """Return the description of a choice in the attribute `actuator:space:name`, the first by default."""
    return described(space, name, "", choices[0], type="token", choices=choices)


def parameters_of(config: Any) -> dict[str, Parameter]:
    """Return the descriptions of a config class or instance, by field name, in declaration order."""
    return {f.name: f.metadata["parameter"] for f in dataclasses.fields(config) if "parameter" in f.metadata}


def violations(config: object, subject: str) -> list[str]:
    """Return one message per field of `config` that breaks its rule."""
    checked = (
        complaint(f"{subject}.{name}", getattr(config, name), described)
        for name, described in parameters_of(config).items()
    )
    return [found for found in checked if found] or conflicts(config, subject)


def complaint(subject: str, value: object, described: Parameter, *, of_motor: bool = False) -> str | None:
    """Return what is wrong with a value, or None. A value of a motor may refer to its joint, which is known later."""
    if described.accepts(value):
        return None
    if described.means_joint(value):
        return None if of_motor else f"{subject} = {value!r}: {UNKNOWN_JOINT}"
    either = f", or {JOINT!r} for that of the joint" if of_motor and described.or_joint else ""
    return f"{subject} = {shown(value)}: {described.rule}{either}. Give a value in that range."


def conflicts(config: object, subject: str) -> list[str]:
    """Return contradictions between fields of `config` that are valid one by one."""
    return [f"{subject}.{problem}" for problem in getattr(config, "conflicts", list[str])()]


def storable(text: str) -> bool:
    """Return True if files can hold `text`: not only spaces, no control characters, no lone surrogates."""
    return bool(text.strip()) and not any(unicodedata.category(character) in ("Cc", "Cs") for character in text)


def entries_of(value: Any) -> list[Any]:
    """Return the single values of one: a number or word itself, or those by pattern, of a list or of an array."""
    if isinstance(value, Mapping | list | tuple):
        several = cast(Iterable[Any], value.values() if isinstance(value, Mapping) else value)
        return [entry for one in several for entry in entries_of(one)]
    if hasattr(value, "shape"):
        return (value.numpy() if hasattr(value, "numpy") else value).ravel().tolist()
    return [value]
