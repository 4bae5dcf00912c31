"""OmniGraph as far as the node meets it: execution states, the registry of node types, its code generator, and how it
finds nodes in extensions.

Where Kit's Python differs from plain values, so does this: execution states compare with nothing but themselves,
targets are path objects, arrays of tokens are NumPy arrays of text, and a node type can be registered once only.
"""

from __future__ import annotations

import enum
import importlib
import sys
import types
from dataclasses import dataclass, field

import numpy as np
import pytest
from fakes.extension_loader import ExtensionManager, Known
from isaacsim.core.experimental.actuators.extension.action_graphs.omnigraph import database, ogn_file


class ExecutionAttributeState(enum.Enum):
    """As bound from C++: no integers."""

    DISABLED = 0
    ENABLED = 1
    ENABLED_AND_PUSH = 2
    LATENT_PUSH = 3
    LATENT_FINISH = 4


class UsdrtPath:
    """A target as `usdrt.Sdf.Path`: text only through its getter."""

    def __init__(self, text: str) -> None:
        self._text = text

    def GetString(self) -> str:
        return self._text


class KitDatabase(database.Database):
    omni_graph: OmniGraph

    @classmethod
    def register(cls, node_class: type) -> None:
        super().register(node_class)
        if cls.DESCRIPTION.name in cls.omni_graph.registered:
            raise AssertionError(f"{cls.DESCRIPTION.name} is registered twice")
        cls.omni_graph.registered[cls.DESCRIPTION.name] = cls
        cls.omni_graph.metadata[cls.DESCRIPTION.name] = {}

    @classmethod
    def deregister(cls) -> None:
        del cls.omni_graph.registered[cls.DESCRIPTION.name]
        del cls.omni_graph.metadata[cls.DESCRIPTION.name]

    def read(self, name: str):
        value, kind = super().read(name), self.DESCRIPTION.ports[name].type
        if kind.base == "execution":
            return ExecutionAttributeState(value)
        if kind.base == "target":
            return [UsdrtPath(path) for path in value]
        return np.array(value, str) if kind.is_array and kind.base == "token" else value

    def write(self, name: str, value) -> None:
        """Take execution states of OmniGraph only; the runner's booleans are pulses."""
        if isinstance(value, ExecutionAttributeState):
            value = value.value
        elif self.DESCRIPTION.ports[name].type.base == "execution" and isinstance(value, enum.Enum):
            assert value.value == 0, f"{value!r}: must be an ExecutionAttributeState of omni.graph.core"
        super().write(name, value)


class NodeInterfaceWrapper:
    """A parsed `.ogn` text. There is no file, hence no folder that other files could be found in."""

    def __init__(self, text: str, extension: str) -> None:
        self.node_interface = ogn_file.parse_ogn(text, extension)
        assert {"categoryDefinitions", "icon"}.isdisjoint(self.node_interface.keys)


@dataclass
class GeneratorConfiguration:
    node_file_path: str | None
    node_interface: ogn_file.NodeDescription
    extension: str
    module: str
    base_name: str
    destination_directory: str | None


class MetadataKeys:
    ICON_PATH = "__icon"


@dataclass
class NodeType:
    metadata: dict[str, str]

    def set_metadata(self, key: str, value: str) -> bool:
        self.metadata[key] = value
        return True

    def get_metadata(self, key: str) -> str | None:
        return self.metadata.get(key)


@dataclass
class OmniGraph:
    registered: dict = field(default_factory=dict)
    interfaces: dict[str, ogn_file.NodeDescription] = field(default_factory=dict)
    metadata: dict[str, dict[str, str]] = field(default_factory=dict)
    # what was found in an extension, by its id
    found: dict[str, list] = field(default_factory=dict)

    def get_registered_nodes(self) -> list[str]:
        return list(self.registered)

    def get_node_type(self, name: str) -> NodeType:
        return NodeType(self.metadata[name])

    def hear_of(self, manager: ExtensionManager) -> None:
        """Look for nodes in every extension that is enabled from now on, and let go of them with it."""
        manager.on_enabled.append(self._look_into)
        manager.on_disabling.append(self._forget)

    def _look_into(self, extension: Known) -> None:
        if not any(name.startswith("omni.graph-") for name in extension.solved):
            return
        for entry in extension.modules:
            # whatever the entry's path is
            for file in sorted(extension.path.joinpath(*entry["name"].split(".")).rglob("*.ogn")):
                description = ogn_file.read_ogn(file)
                name = f"{file.stem}Database"
                self.interfaces[name] = description
                module = types.ModuleType(f"{entry['name']}.ogn.{name}")
                made = self.make_database(name)
                setattr(module, name, made)
                sys.modules[module.__name__] = module
                place = ".".join(file.relative_to(extension.path).with_suffix("").parts)
                made.register(getattr(importlib.import_module(place), file.stem))
                icon = file.parent / description.keys["icon"]
                self.get_node_type(description.name).set_metadata(MetadataKeys.ICON_PATH, str(icon))
                self.found.setdefault(extension.id, []).append(made)

    def _forget(self, extension: Known) -> None:
        for made in self.found.pop(extension.id, []):
            made.deregister()

    def generate_python(self, configuration: GeneratorConfiguration) -> str:
        assert configuration.node_file_path is None and configuration.destination_directory is None
        name = f"{configuration.base_name}Database"
        self.interfaces[name] = configuration.node_interface
        return f"import omni.graph.core as og\n{name} = og.make_database({name!r})\n"

    def make_database(self, name: str):
        made = database.make_database(name, self.interfaces[name], KitDatabase)
        made.omni_graph = self
        return made

    def modules(self) -> dict[str, types.ModuleType]:
        core = {
            "ExecutionAttributeState": ExecutionAttributeState,
            "Severity": database.Severity,
            "ReadOnlyError": database.ReadOnlyError,
            "get_registered_nodes": self.get_registered_nodes,
            "get_node_type": self.get_node_type,
            "make_database": self.make_database,
        }
        tools = {
            "MetadataKeys": MetadataKeys,
            "NodeInterfaceWrapper": NodeInterfaceWrapper,
            "GeneratorConfiguration": GeneratorConfiguration,
            "generate_python": self.generate_python,
        }
        contents = {"omni": {}, "omni.graph": {}, "omni.graph.core": core, "omni.graph.tools": {}}
        made = {}
        for name, members in {**contents, "omni.graph.tools.ogn": tools}.items():
            made[name] = types.ModuleType(name)
            vars(made[name]).update(members, __path__=[])
        return made


def install(monkeypatch: pytest.MonkeyPatch) -> OmniGraph:
    """Put the fake where `import omni.graph.core` finds it, beside whatever else of `omni` is there."""
    fake = OmniGraph()
    for name, module in fake.modules().items():
        if name == "omni" and name in sys.modules:
            continue
        monkeypatch.setitem(sys.modules, name, module)
        parent, _, child = name.rpartition(".")
        if parent:
            monkeypatch.setattr(sys.modules[parent], child, module, raising=False)
    return fake
