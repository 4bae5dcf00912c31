"""Suppression of Warp's messages."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator

import warp as wp

from . import warp_cache  # noqa: F401


@contextlib.contextmanager
def quiet_warp() -> Iterator[None]:
    """Suppress Warp's start-up and compile messages inside a `with` block, but not its errors."""
    # log_level replaced quiet in Warp 1.15
    name, value = ("log_level", logging.ERROR) if hasattr(wp.config, "log_level") else ("quiet", True)
    before = getattr(wp.config, name)
    setattr(wp.config, name, value)
    try:
        yield
    finally:
        setattr(wp.config, name, before)
