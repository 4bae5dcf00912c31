"""The environment of the examples: Isaac Sim if its Python runs them, embedded physics otherwise.

Import this first: it starts Isaac Sim, whose modules can only be imported afterwards.
"""

import argparse
import sys
import tempfile
import tomllib
from collections.abc import Callable
from pathlib import Path

NAME = "isaacsim.core.experimental.actuators"
ROOT = Path(__file__).parent.parents[1]
# True if a running Kit executes the example (`--exec`); Kit continues afterwards
INSIDE = "omni.kit.app" in sys.modules


# docs: begin launch
def launch_arguments(links: Path) -> list[str]:
    """Return the arguments that make Isaac Sim load this folder instead of its bundled extension of the same name.

    A later replacement is impossible, and without a version Isaac Sim loads the bundled extension.
    """
    folder = ROOT.parent
    if ROOT.name != NAME:
        # Kit names an extension after its folder: a clone with another name gets a link
        folder = links
        (folder / NAME).symlink_to(ROOT, target_is_directory=True)
    version = tomllib.loads((ROOT / "config" / "extension.toml").read_text())["package"]["version"]
    return ["--ext-folder", str(folder), "--enable", f"{NAME}-{version}"]


APP = None
if not INSIDE:
    try:
        from isaacsim import SimulationApp
    except ImportError:
        # no Isaac Sim
        pass
    else:
        LINKS = tempfile.TemporaryDirectory()
        arguments = launch_arguments(Path(LINKS.name))
        # a fast shutdown would always end the process with exit code 0
        APP = SimulationApp({"headless": True, "fast_shutdown": False, "extra_args": arguments})
# docs: end launch

if not INSIDE:
    from isaacsim.core.experimental.actuators.tools.interrupts import without_traceback

    without_traceback()
if INSIDE or APP:
    from .isaac_sim import Articulation, World
else:
    from .embedded import Articulation, World

__all__ = ["INSIDE", "Articulation", "World", "parse", "run"]


def parse(description: str | None, picture: str) -> argparse.Namespace:
    """Return the options `engine` and `plot`; Isaac Sim handles the other arguments."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--engine", help="mujoco or physx; in Isaac Sim physx or newton")
    parser.add_argument("--plot", default=picture, help="path of the picture")
    return parser.parse_known_args()[0] if INSIDE or APP else parser.parse_args()


def run(main: Callable[[], int]) -> None:
    """Run an example and end the process with its exit code; close Isaac Sim if this module started it."""
    try:
        code = main()
    finally:
        if APP:
            APP.close()
    if not INSIDE:
        raise SystemExit(code)
