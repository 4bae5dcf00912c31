"""`python -m isaacsim.core.experimental.actuators`: the console command `actuators`."""

from __future__ import annotations

from .commands.main import main

if __name__ == "__main__":
    raise SystemExit(main())
