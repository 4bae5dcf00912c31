"""Where the examples run: in Isaac Sim when its Python runs them, with embedded physics elsewhere.

Import this before anything else: it starts Isaac Sim, and only then can what Isaac Sim brings be imported.
"""

import argparse
import sys
import tempfile
import tomllib
from collections.abc import Callable
from pathlib import Path

NAME = "isaacsim.core.experimental.actuators"
ROOT = Path(__file__).parent.parents[1]
# whether a Kit that runs already executes the example (`--exec`); it goes on afterwards
INSIDE = "omni.kit.app" in sys.modules


# docs: begin launch
def launch_arguments(links: Path) -> list[str]:
    """Return what makes Isaac Sim load this folder in place of the extension of the same name that it bundles.

    Later it cannot be replaced any more, and without its version the bundled one is taken.
    """
    folder = ROOT.parent
    if ROOT.name != NAME:
        # an extension is called like its folder: a clone of another name gets a link
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
        # a fast shutdown would end the process with exit code 0, whatever the example found
        APP = SimulationApp({"headless": True, "fast_shutdown": False, "extra_args": arguments})
# docs: end launch

if INSIDE or APP:
    from .isaac_sim import Articulation, World
else:
    from .embedded import Articulation, World

__all__ = ["INSIDE", "Articulation", "World", "parse", "run"]


def parse(description: str | None, picture: str) -> argparse.Namespace:
    """Return what the command line says, `engine` and `plot`; the rest of it is Isaac Sim's."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--engine", help="mujoco or physx; in Isaac Sim physx or newton")
    parser.add_argument("--plot", default=picture, help="where the picture goes")
    return parser.parse_known_args()[0] if INSIDE or APP else parser.parse_args()


def run(main: Callable[[], int]) -> None:
    """Run an example and end the process with its exit code, Isaac Sim too if it was started here."""
    try:
        code = main()
    finally:
        if APP:
            APP.close()
    if not INSIDE:
        raise SystemExit(code)
