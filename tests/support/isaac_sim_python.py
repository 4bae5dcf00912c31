"""What `./python.sh` of Isaac Sim does, on the stand-ins: `isaac_sim_python.py KIND RECORDING SCRIPT [arguments]`.

With `--exec` before the script, Kit runs already, with the extension that the script lies in, and executes the script.
"""

import runpy
import sys
import tomllib
from pathlib import Path

from fakes.kit_world import PACKAGE
from fakes.simulation_app import IsaacSimPython

_, kind, recording, *sys.argv = sys.argv
process = IsaacSimPython(kind, Path(recording))
# the folder of this file makes way for that of the script, where Python has it; Kit has none
sys.path.append(sys.path.pop(0))
if sys.argv[0] == "--exec":
    sys.argv = sys.argv[1:]
    root = next(folder for folder in Path(sys.argv[0]).parents if folder.name == PACKAGE)
    version = tomllib.loads((root / "config" / "extension.toml").read_text())["package"]["version"]
    process.start(["--ext-folder", str(root.parent), "--enable", f"{PACKAGE}-{version}"])
    runpy.run_path(sys.argv[0], run_name="__main__")
    for _ in range(240):
        process.world.app.update()
    process.end()
else:
    sys.path.insert(0, str(Path(sys.argv[0]).parent.resolve()))
    runpy.run_path(sys.argv[0], run_name="__main__")
