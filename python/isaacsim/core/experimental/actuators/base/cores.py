"""Native cores by their file names: one for each Python, and nothing is loaded to know them."""

from __future__ import annotations

import os
import re
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

FOLDER = Path(__file__).parent / "native"


def missing_core(folder: Path = FOLDER) -> str | None:
    """Return a message if `folder` has no core for this Python; None if it has one."""
    names = sorted(path.name for path in folder.glob("core.*"))
    if any(f"core{suffix}" in names for suffix in EXTENSION_SUFFIXES):
        return None
    if os.environ.get("ACTUATORS_CORE") == "off":
        return "ACTUATORS_CORE=off: Warp steps instead of the native core, slower. Unset the variable to have the core."
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    # core.cpython-312-x86_64-linux-gnu.so, core.cp312-win_amd64.pyd
    tags = [re.match(r"core\.(?:cpython-|cp)(\d)(\d+)-", name) for name in names]
    others = sorted({(int(tag[1]), int(tag[2])) for tag in tags if tag})
    there = f", though for {', '.join(f'{major}.{minor}' for major, minor in others)}" if others else ""
    return (
        f"No native core for Python {here} in this package{there}: Warp steps instead, slower. Build it with a C++17 "
        f"compiler: './repo.sh package --python {here}' for Kit, 'pip install' elsewhere."
    )
