"""Registers the node with OmniGraph where Kit did not find it by itself, and lets go of everything at shutdown.

Kit finds the `.ogn` files of an extension that depends on `omni.graph` when it has enabled it. Where it does not, say
because the extension is laid out in a way it does not search, the node would be missing without a word; then the same
database class is generated and registered here.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import sys
import types
from pathlib import Path
from typing import Any, Literal

from . import state

NODE_TYPE = "isaacsim.core.experimental.actuators.ArticulationActuators"

# the database class that was registered here, if any, and the task that looks whether it must be
_registered: list[Any] = []
_pending: list[asyncio.Future[None]] = []


def register_after_startup(ext_id: str) -> None:
    """Call `register_if_missing` at the next update of Kit: it registers nodes only after `on_startup` returned."""
    import omni.kit.app  # pyright: ignore[reportMissingImports]

    async def look() -> None:
        await omni.kit.app.get_app().next_update_async()
        register_if_missing(ext_id)

    _pending.append(asyncio.ensure_future(look()))


def register_if_missing(ext_id: str) -> Literal["no OmniGraph", "found", "registered"]:
    """Register the node unless OmniGraph knows it.

    Args:
        ext_id: The extension as Kit names it: name, a dash, version.

    Returns:
        What was the case: there is no OmniGraph, it knows the node already, or the node was registered now.
    """
    try:
        import omni.graph.core as og  # pyright: ignore[reportMissingImports]
        import omni.graph.tools.ogn as ogn  # pyright: ignore[reportMissingImports]
    except ModuleNotFoundError:
        return "no OmniGraph"
    if NODE_TYPE in og.get_registered_nodes():
        return "found"
    from .OgnArticulationActuators import GENERATED, OgnArticulationActuators

    extension = ext_id.partition("-")[0]
    wrapper = ogn.NodeInterfaceWrapper(_self_contained(OgnArticulationActuators), extension)
    source = ogn.generate_python(
        ogn.GeneratorConfiguration(
            node_file_path=None,
            node_interface=wrapper.node_interface,
            extension=extension,
            module=extension,
            base_name=OgnArticulationActuators.__name__,
            destination_directory=None,
        )
    )
    # under the name that Kit gives it, so that the node finds it
    module = types.ModuleType(GENERATED)
    exec(compile(source, f"<{GENERATED}>", "exec"), module.__dict__)
    database = module.OgnArticulationActuatorsDatabase
    database.register(OgnArticulationActuators)
    sys.modules[GENERATED] = module
    _registered.append(database)
    return "registered"


def release_all() -> None:
    """Release what all nodes drive, and take back the registration made here; one made by Kit is Kit's."""
    from .OgnArticulationActuators import GENERATED

    while _pending:
        _pending.pop().cancel()
    state.release_all()
    while _registered:
        sys.modules.pop(GENERATED, None)
        _registered.pop().deregister()


def _self_contained(node_class: type) -> str:
    """Return the text of a node's `.ogn` file without references to other files: from text alone none can be found."""
    folder = Path(inspect.getfile(node_class)).parent
    nodes: Any = json.loads((folder / f"{node_class.__name__}.ogn").read_text(encoding="utf-8"))
    for node in nodes.values():
        del node["icon"]
        definitions = json.loads((folder / node.pop("categoryDefinitions")).read_text(encoding="utf-8"))
        node["categories"] = definitions["categoryDefinitions"]
    return json.dumps(nodes)
