"""The extension in the Kit that runs these tests: this version, complete, its node registered."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import omni.ext  # pyright: ignore[reportMissingImports]
import omni.graph.core as og  # pyright: ignore[reportMissingImports]
import omni.graph.tools.ogn as ogn  # pyright: ignore[reportMissingImports]
import omni.kit.app  # pyright: ignore[reportMissingImports]
import omni.kit.test  # pyright: ignore[reportMissingImports]

NAME = "isaacsim.core.experimental.actuators"
NODE_TYPE = f"{NAME}.ArticulationActuators"


class TestInKit(omni.kit.test.AsyncTestCase):
    """What only a running Kit can tell."""

    async def test_this_version_runs(self) -> None:
        """The package imported is that of the extension enabled, not a bundled one."""
        manager = omni.kit.app.get_app().get_extension_manager()
        package = importlib.import_module(NAME)
        ext_id = manager.get_enabled_extension_id(NAME)
        self.assertTrue(ext_id.startswith(f"{NAME}-{package.__version__}"), ext_id)
        self.assertTrue(Path(str(package.__file__)).is_relative_to(manager.get_extension_path(ext_id)))

    async def test_loader_meets_the_entry_point_and_imports_nothing(self) -> None:
        """Taking every name that `dir()` gives, as Kit's loader does."""
        package, before = importlib.import_module(NAME), set(sys.modules)
        found = [getattr(package, name) for name in dir(package)]
        self.assertEqual(set(sys.modules), before)
        entry_points = [one for one in found if isinstance(one, type) and issubclass(one, omni.ext.IExt)]
        self.assertEqual(entry_points, [package.Extension])

    async def test_public_names_load(self) -> None:
        """With what this Kit brings."""
        package = importlib.import_module(NAME)
        for name in package.__all__:
            self.assertTrue(getattr(package, name).__doc__, name)

    async def test_node_is_registered(self) -> None:
        """Once, under the documented name, with its icon."""
        self.assertEqual(list(og.get_registered_nodes()).count(NODE_TYPE), 1)
        self.assertTrue(og.get_node_type(NODE_TYPE).get_metadata(ogn.MetadataKeys.ICON_PATH))

    async def test_state_of_the_node_is_one_class(self) -> None:
        """By either name of its module, and in what the node itself makes."""
        here, built = (
            importlib.import_module(f"{NAME}.{place}.OgnArticulationActuators")
            for place in ("nodes", "ogn.python.nodes")
        )
        self.assertIs(here.OgnArticulationActuatorsInternalState, built.OgnArticulationActuatorsInternalState)
        self.assertIs(type(here.OgnArticulationActuators.internal_state()), built.OgnArticulationActuatorsInternalState)
