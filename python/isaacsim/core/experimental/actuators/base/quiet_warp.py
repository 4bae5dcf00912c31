"""Warp and its devices without messages; a program that wants those of its start calls `warp.init()` itself, before."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import tempfile
from collections.abc import Iterator

import warp as wp

from . import warp_cache  # noqa: F401
from .errors import shown

# what its library says of a machine without a GPU, beside the log
_NO_DRIVER = b"Could not find or load the NVIDIA CUDA driver"


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


def start_warp() -> None:
    """Start Warp without its banner and without its warning that there is no GPU; nothing if it runs already."""
    context = sys.modules.get("warp._src.context") or sys.modules["warp.context"]
    if context.runtime is not None:
        return
    with contextlib.ExitStack() as stack:
        try:
            kept = stack.enter_context(tempfile.TemporaryFile())
            stderr = os.dup(2)
        except OSError:
            # no folder for temporary files, or no standard error
            with quiet_warp():
                return wp.init()
        os.dup2(kept.fileno(), 2)
        try:
            with quiet_warp():
                wp.init()
        finally:
            os.dup2(stderr, 2)
            os.close(stderr)
            kept.seek(0)
            for line in kept:
                if _NO_DRIVER not in line:
                    os.write(2, line)


def device_of(given: object) -> wp.Device:
    """Return the Warp device of a name; None means Warp's current device."""
    if given is not None and not isinstance(given, (str, wp.Device)):
        raise TypeError(f"device = {shown(given)}: must be the name of a device, not {type(given).__name__}. Give one.")
    start_warp()
    try:
        return wp.get_device(given)
    except (ValueError, RuntimeError):
        available = ", ".join(map(repr, map(str, wp.get_devices())))
        raise ValueError(f"device = {shown(given)}: must be one of {available}. Correct the name.") from None
