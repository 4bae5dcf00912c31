"""Registers the node with OmniGraph where Kit does not find it by itself: in a clone.

Kit looks for `.ogn` files below the root of an extension, at the import path of its modules. In a clone they lie below
`python/`; there the same database class is generated and registered here.
"""

from __future__ import annotations

import inspect
import json
import sys
import types
from pathlib import Path
from typing import Any, Literal

NODE_TYPE = "isaacsim.core.experimental.actuators.ArticulationActuators"

# the database class registered here, if any, and subscriptions to enabling and disabling of OmniGraph
_registered: list[Any] = []
_subscriptions: list[object] = []


def keep_registered(ext_id: str, manager: Any) -> None:
    """Register the node of an extension, `name-version`, now and again whenever OmniGraph is enabled later."""
    subscription = manager.subscribe_to_extension_enable(
        on_enable_fn=lambda _: register_if_missing(ext_id),
        on_disable_fn=lambda _: _deregister(),
        ext_name="omni.graph",
        hook_name=f"{NODE_TYPE} is registered",
    )
    _subscriptions.append(subscription)
    register_if_missing(ext_id)


def register_if_missing(ext_id: str) -> Literal["no OmniGraph", "found", "registered"]:
    """Register the node of an extension, `name-version`, unless OmniGraph knows it."""
    try:
        import omni.graph.core as og  # pyright: ignore[reportMissingImports]
        import omni.graph.tools.ogn as ogn  # pyright: ignore[reportMissingImports]
    except ModuleNotFoundError:
        return "no OmniGraph"
    if NODE_TYPE in og.get_registered_nodes():
        return "found"
    from .OgnArticulationActuators import GENERATED, OgnArticulationActuators

    extension = ext_id.partition("-")[0]
    # the keys of the `.ogn` file without references to other files: text alone has no folder
    folder = Path(inspect.getfile(OgnArticulationActuators)).parent
    keys = json.loads((folder / f"{OgnArticulationActuators.__name__}.ogn").read_text(encoding="utf-8"))[NODE_TYPE]
    icon = folder / keys.pop("icon")
    definitions = json.loads((folder / keys.pop("categoryDefinitions")).read_text(encoding="utf-8"))
    keys["categories"] = definitions["categoryDefinitions"]
    wrapper = ogn.NodeInterfaceWrapper(json.dumps({NODE_TYPE: keys}), extension)
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
    og.get_node_type(NODE_TYPE).set_metadata(ogn.MetadataKeys.ICON_PATH, str(icon))
    return "registered"


def take_back() -> None:
    """Take back what was registered and subscribed to here; a node that Kit found is Kit's."""
    _subscriptions.clear()
    _deregister()


def _deregister() -> None:
    from .OgnArticulationActuators import GENERATED

    while _registered:
        sys.modules.pop(GENERATED, None)
        _registered.pop().deregister()
