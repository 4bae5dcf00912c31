"""The compiled core, or None where it was not built; its source is `native/` in the repository.

A core that exists but cannot be loaded (truncated, for another system, with a missing symbol) is reported by a
RuntimeWarning, and Warp computes in its place. ACTUATORS_CORE=off disables the core.
"""

from __future__ import annotations

import os
import sys
import warnings
from importlib import import_module
from importlib.util import find_spec
from typing import Any


def _load() -> Any:
    name = f"{__name__}.core"
    spec = find_spec(name)
    if spec is None or os.environ.get("ACTUATORS_CORE") == "off":
        return None
    try:
        if spec.origin:
            with open(spec.origin, "rb") as file:
                head = file.read(64)
            if head[:5] == b"\x7fELF\x02":
                # the section table is at the end
                start, size, count = (
                    int.from_bytes(head[a:b], sys.byteorder) for a, b in ((40, 48), (58, 60), (60, 62))
                )
                if start + size * count > os.path.getsize(spec.origin):
                    raise ImportError("the file is cut short")
        return import_module(name)
    except Exception as error:
        # the loader raises ImportError, the module's own beginning anything
        warnings.warn(
            f"native core = {spec.origin}: cannot be loaded ({error}), Warp runs on the CPU instead, slower. Build it "
            "anew: './python.sh setup.py build_ext --inplace --force' in the repository, 'pip install "
            "--force-reinstall --no-deps' of the package elsewhere; ACTUATORS_CORE=off does without it.",
            RuntimeWarning,
            stacklevel=3,
        )
        return None


core: Any = _load()
