"""One description per authored parameter: USD attribute, type, range, fallback and unit.

Authoring, parsing and the constructors all check a value against the same description, so a rule is written once.
"""

from __future__ import annotations

import dataclasses
import math
import numbers
from typing import Any, Literal

FLOAT32_MAX = 3.4028234663852886e38


@dataclasses.dataclass(frozen=True)
class Parameter:
    """What one parameter of a config may be."""

    attribute: str
    """USD attribute the value is stored in."""
    type: Literal["float", "int"]
    """USD value type."""
    unit: str
    """Unit of a rotary joint, then of a linear one."""
    fallback: float | int
    """Value of the USD schema when the attribute is not authored."""
    lower: float = -math.inf
    """Smallest value allowed, inclusive."""
    upper: float = math.inf
    """Largest value allowed, inclusive."""
    infinite: bool = False
    """Whether +inf is allowed; it switches the parameter's effect off."""

    @property
    def rule(self) -> str:
        """The range in words, for error messages."""
        kind = "an integer" if self.type == "int" else "a number" if self.infinite else "finite"
        bounds: list[str] = []
        if self.lower > -math.inf:
            bounds.append(f">= {self.lower:g}")
        if self.upper < math.inf:
            bounds.append(f"<= {self.upper:g}")
        precision = " in single precision" if self.type == "float" else ""
        off = " (inf switches it off)" if self.infinite else ""
        return f"must be {' and '.join([kind, *bounds])}{precision}{off}"

    def accepts(self, value: Any) -> bool:
        """Whether `value` has the right type and lies in the range; NaN never does."""
        if isinstance(value, bool) or not isinstance(value, numbers.Integral if self.type == "int" else numbers.Real):
            return False
        try:
            number = float(value)
        except OverflowError:
            return False
        if math.isinf(number):
            return self.infinite and number > 0
        return self.lower <= number <= self.upper and abs(number) <= FLOAT32_MAX


def parameter(default: Any = dataclasses.MISSING, /, **description: Any) -> Any:
    """Return a dataclass field that carries its `Parameter` description."""
    return dataclasses.field(default=default, metadata={"parameter": Parameter(**description)})


def parameters_of(config: Any) -> dict[str, Parameter]:
    """The described fields of a config class or instance, by field name, in declaration order."""
    return {f.name: f.metadata["parameter"] for f in dataclasses.fields(config) if "parameter" in f.metadata}


def violations(config: Any, subject: str) -> list[str]:
    """One message per field of `config` whose value breaks its rule; empty when all is well."""
    return [
        f"{subject}.{name} = {getattr(config, name)!r}: {described.rule}. Give a value in that range."
        for name, described in parameters_of(config).items()
        if not described.accepts(getattr(config, name))
    ]
