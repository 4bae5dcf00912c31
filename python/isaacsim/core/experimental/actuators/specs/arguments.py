"""Arguments of public functions, looked at before anything is done with them."""

from __future__ import annotations

from numbers import Real
from typing import Any

from .fields import shown


def number_of(name: str, value: Any) -> float:
    """The number that an argument is; an array of no dimensions is one too.

    Raises:
        TypeError: It is none.
        ValueError: It is too large.
    """
    is_scalar = getattr(value, "shape", None) == () and getattr(getattr(value, "dtype", None), "kind", "") in "biuf"
    if not (isinstance(value, Real) or is_scalar):
        raise TypeError(f"{name} = {shown(value)}: must be a number, not {type(value).__name__}. Give one.")
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{name} = {shown(value)}: is too large. Give a smaller number.") from None


def names_of(name: str, given: Any, what: str = "a name") -> list[str]:
    """The texts that an argument is: one, or several.

    Raises:
        TypeError: It is something else.
    """
    if isinstance(given, str):
        return [given]
    found: list[str] = []
    try:
        # not all at once: there may be very many things that are no texts
        for one in given:
            if not isinstance(one, str):
                break
            found.append(one)
        else:
            return found
    except TypeError:
        pass
    kind = type(given).__name__
    raise TypeError(f"{name} = {shown(given)}: must be {what} or a list of them, not {kind}. Give one.")


def require_type(name: str, given: Any, wanted: type | tuple[type, ...], what: str) -> None:
    """Refuse an argument that is of another type.

    Raises:
        TypeError: It is.
    """
    if not isinstance(given, wanted):
        raise TypeError(f"{name} = {shown(given)}: must be {what}, not {type(given).__name__}. Give one.")
