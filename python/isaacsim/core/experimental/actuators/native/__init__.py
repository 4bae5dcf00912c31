"""The compiled core, or None where it was not built; its source is `native/` in the repository."""

from __future__ import annotations

from typing import Any

core: Any
try:
    from . import core  # pyright: ignore[reportAttributeAccessIssue]
except ImportError:
    core = None
