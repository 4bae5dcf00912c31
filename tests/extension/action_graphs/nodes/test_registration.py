"""Registering the node where Kit does not find it, and taking it back; with OmniGraph's documented surface."""

import importlib
import json
import sys
from pathlib import Path

import pytest
from fakes import omni_graph
from fakes.extension_loader import ExtensionManager
from isaacsim.core.experimental.actuators import PDControlConfig, __version__, add_actuator, use_host
from isaacsim.core.experimental.actuators.extension.action_graphs.nodes import registration
from isaacsim.core.experimental.actuators.extension.action_graphs.nodes.OgnArticulationActuators import (
    GENERATED,
    OgnArticulationActuators,
)
from isaacsim.core.experimental.actuators.extension.action_graphs.nodes.state import release_all
from isaacsim.core.experimental.actuators.extension.action_graphs.omnigraph import database
from isaacsim.core.experimental.actuators.simulators.arrays import ArraysHost
from places import REPOSITORY
from pxr import Usd, UsdPhysics
from warm_python import warm_python

EXT_ID = f"isaacsim.core.experimental.actuators-{__version__}"


@pytest.fixture
def graph(monkeypatch: pytest.MonkeyPatch):
    made = omni_graph.install(monkeypatch)
    yield made
    release_all()
    registration.take_back()
    assert made.registered == {} and GENERATED not in sys.modules


@pytest.fixture
def host():
    stage = Usd.Stage.CreateInMemory()
    UsdPhysics.ArticulationRootAPI.Apply(stage.DefinePrim("/World/Leg", "Xform"))
    UsdPhysics.RevoluteJoint.Define(stage, "/World/Leg/joints/knee")
    add_actuator("/World/Leg", "knee", "knee", PDControlConfig(10.0, 0.0), stage=stage)
    made = ArraysHost(["knee"], path="/World/Leg", stage=stage)
    with use_host(made):
        made.play()
        made.arrays().stiffnesses[:] = 7.0
        yield made


def test_without_omni_graph_nothing_happens() -> None:
    assert registration.register_if_missing(EXT_ID) == "no OmniGraph"


def test_missing_node_is_registered_once(graph) -> None:
    assert [registration.register_if_missing(EXT_ID) for _ in range(2)] == ["registered", "found"]
    assert graph.get_registered_nodes() == [registration.NODE_TYPE]


def test_node_found_by_kit_stays_kits(graph) -> None:
    graph.registered[registration.NODE_TYPE] = object()
    assert registration.register_if_missing(EXT_ID) == "found"
    registration.take_back()
    assert graph.registered.pop(registration.NODE_TYPE) is not None


def test_extension_may_come_back(graph) -> None:
    registration.register_if_missing(EXT_ID)
    registration.take_back()
    assert graph.registered == {} and registration.register_if_missing(EXT_ID) == "registered"


def test_type_name_does_not_depend_on_the_folder(graph) -> None:
    """A clone called otherwise still serves graphs that name the documented type."""
    registration.register_if_missing("my-clone-1.0.0")
    assert graph.get_registered_nodes() == [registration.NODE_TYPE]


def test_registered_text_has_its_category(graph) -> None:
    registration.register_if_missing(EXT_ID)
    keys = graph.registered[registration.NODE_TYPE].DESCRIPTION.keys
    assert keys["categories"] == {"newtonActuators": "Newton Actuators"}
    file = Path(importlib.import_module(OgnArticulationActuators.__module__).__file__).with_suffix(".ogn")
    (original,) = json.loads(file.read_text("utf-8")).values()
    others = original.keys() - {"categories", "categoryDefinitions", "icon"}
    assert keys.keys() == others | {"categories"} and all(keys[name] == original[name] for name in others)


def test_registered_node_has_its_icon(graph) -> None:
    registration.register_if_missing(EXT_ID)
    icon = graph.get_node_type(registration.NODE_TYPE).get_metadata(omni_graph.MetadataKeys.ICON_PATH)
    assert icon is not None and Path(icon).is_absolute() and Path(icon).suffix == ".svg" and Path(icon).is_file()


def test_registered_node_runs(graph, host) -> None:
    registration.register_if_missing(EXT_ID)
    db = graph.registered[registration.NODE_TYPE](database.Node("/World/Graph/node"))
    for name, value in {"targetPrim": ["/World/Leg"], "feedforwardCommand": [2.0], "dofNames": ["knee"]}.items():
        db.write(f"inputs:{name}", value)
    assert db.evaluate("execIn"), db.node.get_compute_messages(database.Severity.ERROR)
    host.step(0.01)
    db.evaluate("execIn")
    assert db.outputs.appliedEfforts.tolist() == [2.0] and list(db.outputs.dofNames) == ["knee"]
    assert db.outputs.execOut is omni_graph.ExecutionAttributeState.ENABLED


def test_deleted_node_is_found_in_kits_database(graph, host) -> None:
    registration.register_if_missing(EXT_ID)
    db = graph.registered[registration.NODE_TYPE](database.Node("/World/Graph/node"))
    db.write("inputs:robotPath", "/World/Leg")
    db.evaluate("execIn")
    assert host.arrays().stiffnesses[0] == 0.0
    # held here, so that nothing but the hook can release it
    state = db.per_instance_state
    db.release_instance(db.node)
    assert host.arrays().stiffnesses[0] == 7.0 and not state.initialized


def test_shutdown_gives_every_robot_back(graph, host) -> None:
    registration.register_if_missing(EXT_ID)
    db = graph.registered[registration.NODE_TYPE](database.Node("/World/Graph/node"))
    db.write("inputs:robotPath", "/World/Leg")
    assert db.evaluate("execIn") and host.arrays().stiffnesses[0] == 0.0
    release_all()
    assert host.arrays().stiffnesses[0] == 7.0 and not host.bus.pre_step.entries
    assert not db.per_instance_state.initialized


@pytest.mark.parametrize("tells_at_once", [True, False])
def test_node_is_registered_at_once_and_whenever_omni_graph_comes_back(graph, tells_at_once) -> None:
    """With or without Kit's events for enabled extensions; after shutdown, no callback remains."""
    manager = ExtensionManager(tells_at_once=tells_at_once)
    manager.provide("omni.graph-1.141.0")
    manager.set_extension_enabled_immediate("omni.graph", True)
    registration.keep_registered(EXT_ID, manager)
    counts = [len(graph.registered)]
    for enabled in (False, True, False, True):
        manager.set_extension_enabled_immediate("omni.graph", enabled)
        counts.append(len(graph.registered))
    assert counts == [1, 0, 1, 0, 1] and len(manager.hooks) == 1
    registration.take_back()
    assert manager.hooks == [] and graph.registered == {}


def test_node_waits_for_omni_graph(monkeypatch) -> None:
    manager = ExtensionManager()
    manager.provide("omni.graph-1.141.0")
    registration.keep_registered(EXT_ID, manager)
    graph = omni_graph.install(monkeypatch)
    assert graph.registered == {}
    manager.set_extension_enabled_immediate("omni.graph", True)
    assert list(graph.registered) == [registration.NODE_TYPE]
    registration.take_back()
    assert graph.registered == {}


def test_example_graph_fits_the_node(tmp_path) -> None:
    """Ports of our node in the written file have the types of the `.ogn` file, and every wire has two ends."""
    assert warm_python().run([REPOSITORY / "standalone_examples" / "drive_from_omnigraph.py"]).returncode == 0
    stage = Usd.Stage.Open(str(tmp_path / "drive_from_omnigraph.usda"))
    graph = stage.GetPrimAtPath("/World/ActionGraph")
    ports = database.node_database(OgnArticulationActuators).DESCRIPTION.ports
    usd_types = {"execution": "uint"}
    for attribute in graph.GetChild("ArticulationActuators").GetAttributes():
        if not attribute.GetName().startswith("node:"):
            declared = ports[attribute.GetName()].type.text
            assert attribute.GetTypeName() == usd_types.get(declared, declared)
    wires = [
        (attribute, stage.GetAttributeAtPath(source))
        for node in graph.GetChildren()
        for attribute in node.GetAttributes()
        for source in attribute.GetConnections()
    ]
    assert len(wires) == 4 and all(sink.GetTypeName() == source.GetTypeName() for sink, source in wires)
