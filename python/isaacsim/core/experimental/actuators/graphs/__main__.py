"""Another name of `actuators run`: `./python.sh -m isaacsim.core.experimental.actuators.graphs run FILE.usda`."""

from ..commands.main import main

if __name__ == "__main__":
    raise SystemExit(main())
