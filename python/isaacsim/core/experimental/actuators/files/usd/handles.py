"""Types of USD for annotations outside this room, which alone imports USD."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from pxr import Usd

    Stage: TypeAlias = Usd.Stage
    Prim: TypeAlias = Usd.Prim
