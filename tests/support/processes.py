"""Programs that are run to their end, and what they said."""

import subprocess
from typing import Any


def ran(command: list, *, check: bool = False, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=check, **options)
