"""What a prim authors, whether or not USD knows the schema that it belongs to.

A layer may give any attribute a value of any type, whatever its schema says: what has to be a number is asked for as
one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pxr import Gf, Sdf, Tf, Usd

from ..errors import UnsupportedSceneError


def authored(prim: Usd.Prim, name: str, fallback: Any = None) -> Any:
    """The value of an attribute at the default time; the fallback where none is authored."""
    attribute = prim.GetAttribute(name)
    value = attribute.Get() if attribute and attribute.HasAuthoredValue() else None
    return fallback if value is None else value


def authored_number(prim: Usd.Prim, name: str, fallback: float) -> float:
    """The same of an attribute that holds a number.

    Raises:
        UnsupportedSceneError: It holds something else.
    """
    value = authored(prim, name, fallback)
    if not isinstance(value, int | float):
        raise other_type(prim, name, value, "a number")
    return float(value)


def authored_numbers(prim: Usd.Prim, name: str, fallback: Sequence[float], size: int | None = None) -> list[float]:
    """The same of an attribute that holds several numbers.

    Args:
        prim: Whose it is.
        name: Of the attribute.
        fallback: Where nothing is authored.
        size: How many there have to be; None means any number of them.

    Raises:
        UnsupportedSceneError: It holds something else.
    """
    value = authored(prim, name, fallback)
    try:
        # vectors of USD are sequences that Python does not know as such
        found: list[Any] = list(value)
    except (TypeError, UnicodeDecodeError):
        found = [None]
    if not all(isinstance(one, int | float) for one in found) or size not in (None, len(found)):
        raise other_type(prim, name, value, "numbers" if size is None else f"{size} numbers")
    return [float(one) for one in found]


def quaternion(prim: Usd.Prim, name: str) -> Gf.Quatd:
    """The same of an attribute that holds a rotation, of length 1; no turn where there is none, or its length is 0.

    Raises:
        UnsupportedSceneError: It holds something else.
    """
    value = authored(prim, name, Gf.Quatd(1.0))
    if not isinstance(value, Gf.Quatd | Gf.Quatf | Gf.Quath):
        raise other_type(prim, name, value, "a quaternion")
    return Gf.Quatd(value).GetNormalized() if value.GetLength() > 0 else Gf.Quatd(1.0)


def targets(prim: Usd.Prim, name: str) -> list[Sdf.Path]:
    """What a relationship of a prim leads to; nothing where there is none, or an attribute of that name."""
    try:
        relation = prim.GetRelationship(name)
        return relation.GetForwardedTargets() if relation else []
    except Tf.ErrorException:
        return []


def other_type(prim: Usd.Prim, name: str, value: Any, wanted: str) -> UnsupportedSceneError:
    """What to say of a value that is of another type than it has to be."""
    try:
        text = str(value)
    except UnicodeDecodeError:
        text = "text that is not UTF-8"
    text = " ".join(text[:120].split()) + ("…" if len(text) > 120 else "")
    return UnsupportedSceneError(
        f"<{prim.GetPath()}>.{name} = {text} ({type(value).__name__}): must be {wanted}. Correct it, or remove it."
    )
