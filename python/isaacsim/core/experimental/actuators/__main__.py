"""`python -m isaacsim.core.experimental.actuators`: the console command `actuators`."""

from __future__ import annotations

# absolute: it also runs as `graphs.__main__`, its earlier path
from isaacsim.core.experimental.actuators.tools.commands.main import main

if __name__ == "__main__":
    raise SystemExit(main())
