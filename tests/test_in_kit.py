"""What a running Kit tests, in stand-ins: Kit's test runner finds it, and it passes."""

import importlib
import io
import pkgutil
import sys
import unittest
from types import ModuleType

from fakes import omni_graph
from fakes.kit_world import PACKAGE, KitWorld
from isaacsim.core.experimental.actuators import __version__

EXT_ID = f"{PACKAGE}-{__version__}"


def modules_of_tests() -> list[ModuleType]:
    """What Kit's runner imports: `tests` of a listed module, and the test modules in it where that asks for them."""
    package = importlib.import_module(f"{PACKAGE}.tests")
    assert package.scan_for_test_modules is True
    names = [name for _, name, _ in pkgutil.iter_modules(package.__path__) if name.startswith("test_")]
    return [importlib.import_module(f"{package.__name__}.{name}") for name in names]


def test_what_kit_tests_passes(monkeypatch) -> None:
    with KitWorld("kit-core") as world:
        graph = omni_graph.install(monkeypatch)
        world.app.manager.provide("omni.graph-1.141.0", "omni.usd-1.12.0", "omni.warp.core-1.8.0")
        graph.hear_of(world.app.manager)
        # the package was imported outside Kit before, without its base class
        package, extension = importlib.import_module(PACKAGE), importlib.import_module(f"{PACKAGE}.extension.entry")
        monkeypatch.setattr(package, "Extension", extension.Extension)
        world.app.manager.set_extension_enabled_immediate(EXT_ID, True)
        modules = modules_of_tests()
        loader, said = unittest.TestLoader(), io.StringIO()
        suite = unittest.TestSuite(loader.loadTestsFromModule(module) for module in modules)
        result = unittest.TextTestRunner(said, verbosity=2).run(suite)
        world.app.manager.set_extension_enabled_immediate(EXT_ID, False)
        for module in modules:
            del sys.modules[module.__name__]
    assert result.testsRun == 5 and result.wasSuccessful(), said.getvalue()
    assert graph.registered == {} and world.app.manager.hooks == []
