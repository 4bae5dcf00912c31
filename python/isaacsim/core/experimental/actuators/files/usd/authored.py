"""Authored values of prims, whether or not USD knows their schema, with checks of their types.

A layer may give any attribute a value of any type, whatever its schema.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pxr import Gf, Sdf, Tf, Usd

from ...base.errors import UnsupportedSceneError


def authored(prim: Usd.Prim, name: str, fallback: object = None) -> Any:
    """The value of an attribute at the default time; the fallback if none is authored."""
    attribute = prim.GetAttribute(name)
    value = attribute.Get() if attribute and attribute.HasAuthoredValue() else None
    return fallback if value is None else value


def authored_number(prim: Usd.Prim, name: str, fallback: float) -> float:
    """An authored number; the fallback if none is authored.

    Raises:
        UnsupportedSceneError: The value is no number.
    """
    value = authored(prim, name, fallback)
    if not isinstance(value, int | float):
        raise other_type(prim, name, value, "a number")
    return float(value)


def authored_numbers(prim: Usd.Prim, name: str, fallback: Sequence[float], size: int | None = None) -> list[float]:
    """Several authored numbers; `size` is their required count, None for any.

    Raises:
        UnsupportedSceneError: The value is something else.
    """
    value = authored(prim, name, fallback)
    try:
        # vectors of USD are iterable, and no sequences
        found: list[Any] = list(value)
    except (TypeError, UnicodeDecodeError):
        found = [None]
    if not all(isinstance(one, int | float) for one in found) or size not in (None, len(found)):
        raise other_type(prim, name, value, "numbers" if size is None else f"{size} numbers")
    return [float(one) for one in found]


def quaternion(prim: Usd.Prim, name: str) -> Gf.Quatd:
    """The normalized rotation of an attribute; the identity if none is authored or its length is 0.

    Raises:
        UnsupportedSceneError: The value is no quaternion.
    """
    value = authored(prim, name, Gf.Quatd(1.0))
    if not isinstance(value, Gf.Quatd | Gf.Quatf | Gf.Quath):
        raise other_type(prim, name, value, "a quaternion")
    return Gf.Quatd(value).GetNormalized() if value.GetLength() > 0 else Gf.Quatd(1.0)


def targets(prim: Usd.Prim, name: str) -> list[Sdf.Path]:
    """Targets of a relationship of a prim; none if there is no such relationship."""
    try:
        relation = prim.GetRelationship(name)
        return relation.GetForwardedTargets() if relation else []
    except Tf.ErrorException:
        return []


def other_type(prim: Usd.Prim, name: str, value: object, wanted: str) -> UnsupportedSceneError:
    """The error of a value of the wrong type."""
    try:
        text = str(value)
    except UnicodeDecodeError:
        text = "text that is not UTF-8"
    text = " ".join(text[:120].split()) + ("…" if len(text) > 120 else "")
    return UnsupportedSceneError(
        f"<{prim.GetPath()}>.{name} = {text} ({type(value).__name__}): must be {wanted}. Correct it, or remove it."
    )
