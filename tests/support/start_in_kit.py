"""Start and stop the extension in a folder as a plain Kit does, in a process of its own, and print what that did.

python -E -S start_in_kit.py <folder>            # without any library: they are refused
python start_in_kit.py <folder> --nodes          # with OmniGraph, which looks for nodes
"""

import json
import os
import subprocess
import sys
import sysconfig
import time
import types
from pathlib import Path

from fakes.carb import Settings
from fakes.extension_loader import BUNDLED, ExtensionManager

PACKAGE = "isaacsim.core.experimental.actuators"
# whoever imports one of these fails, even where it is installed
ABSENT = ("mujoco", "newton", "newton_usd_schemas", "matplotlib", "torch", "warp", "numpy", "pxr")
# what a plain Kit has of what we depend on
KITS = ("omni.graph-1.141.0", "omni.usd-1.12.0", "omni.warp.core-1.8.0")
# modules of the package that a start imports in any case
STARTED = [
    *("base", "base.cores", "base.version", "compat", "compat.moved", "extension", "extension.entry"),
    *("files", "files.usd"),
]


def started(folder: Path, enable: str = "") -> dict:
    """Return what a start with `--enable`, of this version unless given, and a stop did without any library."""
    return _run(["-E", "-S"], [str(folder), enable], {})


def started_with_nodes(folder: Path, import_root: Path) -> dict:
    paths = [str(import_root), sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    return _run(["-S"], [str(folder), "", "--nodes"], {"PYTHONPATH": os.pathsep.join(dict.fromkeys(paths))})


def _run(options: list[str], arguments: list[str], environment: dict[str, str]) -> dict:
    command = [sys.executable, "-B", *options, __file__, *arguments]
    done = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


class IExt:
    """`omni.ext.IExt`."""


def main(folder: Path, enable: str, *, nodes: bool) -> None:
    log: list[str] = []
    manager = ExtensionManager()
    app = types.SimpleNamespace(get_extension_manager=lambda: manager)
    settings = Settings()
    kit: dict[str, dict] = {"carb": {"log_info": log.append}, "omni": {}, "omni.kit": {}}
    kit["carb.settings"] = {"get_settings": lambda: settings}
    _provide(kit | {"omni.ext": {"IExt": IExt}, "omni.kit.app": {"get_app": lambda: app}})
    manager.provide(*KITS, BUNDLED)
    ext_id = manager.add(folder, PACKAGE)
    graph = None
    if nodes:
        from fakes.omni_graph import OmniGraph

        graph = OmniGraph()
        _provide({name: vars(module) for name, module in graph.modules().items() if name != "omni"})
        graph.hear_of(manager)
    else:
        sys.modules.update(dict.fromkeys(ABSENT))
    before, began = set(sys.modules), time.perf_counter()
    manager.launch([BUNDLED], [enable or ext_id])
    seconds, imported = time.perf_counter() - began, set(sys.modules) - before
    # too late: one of the name runs
    assert not manager.set_extension_enabled_immediate(ext_id, True)
    running = {
        "runs": manager.get_enabled_extension_id(PACKAGE),
        "entry points": len(manager.running(ext_id)),
        "subscriptions": len(manager.hooks),
    }
    found = {name: keys["__icon"] for name, keys in graph.metadata.items()} if graph else {}
    manager.set_extension_enabled_immediate(ext_id, False)
    left = [*(graph.registered if graph else []), *(hook.name for hook in manager.hooks)]
    ours = {name for name in imported if f"{name}.".startswith(f"{PACKAGE}.") or f"{PACKAGE}.".startswith(f"{name}.")}
    said = {
        "seconds": seconds,
        "modules": len(imported),
        "ours": [name.removeprefix(f"{PACKAGE}.") for name in sorted(ours) if name.startswith(f"{PACKAGE}.")],
        "others": sorted(name for name in imported - ours if name.partition(".")[0] not in sys.stdlib_module_names),
        "nodes": found,
        "left": left,
        "log": log,
    }
    print(json.dumps(said | running))


def _provide(modules: dict[str, dict]) -> None:
    for name, members in sorted(modules.items()):
        sys.modules[name] = types.ModuleType(name)
        vars(sys.modules[name]).update(members)
        above, _, last = name.rpartition(".")
        if above:
            setattr(sys.modules[above], last, sys.modules[name])


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], nodes="--nodes" in sys.argv)
