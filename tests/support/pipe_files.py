"""Files that are pipes: nobody waits for what another program may write into them."""

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

needs_pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")


def require_refused(read: Callable, file: Path) -> None:
    os.mkfifo(file)
    with pytest.raises(ValueError, match=rf"{re.escape(file.name)}: must be a file, not a device or a pipe"):
        read(file)
