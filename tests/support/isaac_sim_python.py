"""What `./python.sh` of Isaac Sim does: `isaac_sim_python.py KIND RECORDING SCRIPT [arguments]`, on the stand-ins.

With `--exec ROOT` before the script, Kit runs already with the extension at that place, and executes the script.
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

# in place of the folder of this file, as for any script
sys.path[0] = str(Path(__file__).parent)

from fakes.simulation_app import IsaacSimPython

kind, recording, *rest = sys.argv[1:]
process = IsaacSimPython(kind, Path(recording))
root = None
if rest[0] == "--exec":
    _, root, *rest = rest
sys.argv = rest
sys.path.insert(0, str(Path(rest[0]).parent))
if root is None:
    runpy.run_path(rest[0], run_name="__main__")
else:
    version = Path(root).name.rpartition("-")
    extension = process.start(["--ext-folder", str(Path(root).parent), "--enable", f"{Path(root).name}-0.2.0"])
    runpy.run_path(rest[0], run_name="__main__")
    for _ in range(240):
        process.world.app.update()
    process.end(extension)
