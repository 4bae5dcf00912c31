"""What a prim authors, whether or not USD knows the schema that it belongs to."""

from __future__ import annotations

from typing import Any

from pxr import Usd


def authored(prim: Usd.Prim, name: str, fallback: Any = None) -> Any:
    """The value of an attribute at the default time; the fallback where none is authored."""
    attribute = prim.GetAttribute(name)
    value = attribute.Get() if attribute and attribute.HasAuthoredValue() else None
    return fallback if value is None else value
