"""Which files a stage may name, and that nothing else is read."""

import os
import re
import sys
import warnings
from pathlib import Path

import isaacsim.core.experimental.actuators as aa
import pytest
from isaacsim.core.experimental.actuators.base.errors import ActuatorParseError
from isaacsim.core.experimental.actuators.files.networks import load, trust
from isaacsim.core.experimental.actuators.files.usd.assets import allowed, note_authored
from isaacsim.core.experimental.actuators.files.usd.discover import discover, parse_prim
from neural_twin import random_network, write_network
from pxr import Sdf, Usd, UsdPhysics, UsdUtils
from refusals import cases, refused
from torch_stand_in import StandIn, run_by_torch, unknown_file

ROOT, KNEE = "/Robot", "/Robot/joints/knee"
ACT = "/Robot/Actuators/knee"
NETWORK = random_network("mlp", 2)
__all__ = ["run_by_torch"]
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="paths of POSIX")


@pytest.fixture(autouse=True)
def _nothing_named_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trust, "_named", set())
    monkeypatch.setattr(trust, "_given", [])


def robot_file(path: Path, model: str) -> Path:
    """A robot whose knee names a network, written as text by another program."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"""#usda 1.0
(
    defaultPrim = "Robot"
    metersPerUnit = 1
)
def Xform "Robot" (prepend apiSchemas = ["PhysicsArticulationRootAPI"]) {{
    def "joints" {{
        def PhysicsRevoluteJoint "knee" {{}}
    }}
    def "Actuators" {{
        def NewtonActuator "knee" (prepend apiSchemas = ["NewtonNeuralControlAPI"]) {{
            rel newton:targets = </Robot/joints/knee>
            asset newton:modelPath = @{model}@
        }}
    }}
}}
""")
    return path


def found(file: Path):
    (spec,) = discover(Usd.Stage.Open(str(file)), ROOT, [KNEE], files=True)
    return spec.checkpoint


def issue(file: Path) -> str:
    with pytest.raises(ActuatorParseError) as caught:
        found(file)
    (only,) = caught.value.issues
    return only


@pytest.fixture
def asset(tmp_path: Path) -> Path:
    write_network(tmp_path / "asset" / "nets" / "knee.safetensors", NETWORK, {"pos_scale": 3.0})
    write_network(tmp_path / "outside" / "knee.safetensors", NETWORK, {})
    (tmp_path / "asset" / "link.safetensors").symlink_to(tmp_path / "outside" / "knee.safetensors")
    (tmp_path / "asset" / "inner.safetensors").symlink_to("nets/knee.safetensors")
    (tmp_path / "asset" / "folder").symlink_to(tmp_path / "outside")
    (tmp_path / "asset-other").mkdir()
    write_network(tmp_path / "asset-other" / "knee.safetensors", NETWORK, {})
    return tmp_path / "asset"


@cases(
    "path",
    *("nets/knee.safetensors", "./nets/knee.safetensors", "nets/../nets/knee.safetensors"),
    *("../asset/nets/knee.safetensors", "inner.safetensors", "nets//knee.safetensors"),
)
def test_file_of_the_tree_is_read(path, asset) -> None:
    assert found(robot_file(asset / "robot.usda", path)).metadata == {"pos_scale": 3.0}


def test_absolute_path_inside_the_tree_is_read(asset) -> None:
    assert found(robot_file(asset / "robot.usda", str(asset / "nets" / "knee.safetensors")))


def test_path_is_relative_to_the_layer_that_names_it(asset, tmp_path) -> None:
    robot_file(asset / "robot.usda", "nets/knee.safetensors")
    world = tmp_path / "world.usda"
    world.write_text('#usda 1.0\n(defaultPrim = "Robot")\ndef "Robot" (references = @asset/robot.usda@) {\n}\n')
    assert found(world).metadata == {"pos_scale": 3.0}


def test_package_holds_its_networks(asset, tmp_path) -> None:
    package = tmp_path / "packed" / "robot.usdz"
    package.parent.mkdir()
    robot_file(asset / "robot.usda", "./nets/knee.safetensors")
    assert UsdUtils.CreateNewUsdzPackage(str(asset / "robot.usda"), str(package))
    assert found(package).metadata == {"pos_scale": 3.0}
    world = tmp_path / "packed" / "world.usda"
    world.write_text('#usda 1.0\n(defaultPrim = "Robot")\ndef "Robot" (references = @robot.usdz@) {\n}\n')
    assert found(world).metadata == {"pos_scale": 3.0}
    beside = robot_file(tmp_path / "packed" / "beside.usda", "robot.usdz[nets/knee.safetensors]")
    assert found(beside).metadata == {"pos_scale": 3.0}
    inner = "robot.usdz[nets/none.safetensors]"
    assert inner in issue(robot_file(tmp_path / "packed" / "none.usda", inner))


def test_json_beside_the_file_adds_metadata(asset) -> None:
    (asset / "nets" / "knee.json").write_text('{"vel_scale": 5.0, "pos_scale": 4.0}')
    file = robot_file(asset / "robot.usda", "nets/knee.safetensors")
    assert found(file).metadata == {"pos_scale": 4.0, "vel_scale": 5.0}
    (asset / "nets" / "knee.json").unlink()
    (asset / "nets" / "knee.json").symlink_to("/etc/passwd")
    assert "must lie in the folder of the layer" in issue(file)


def test_same_file_is_one_network(asset, tmp_path) -> None:
    first = found(robot_file(asset / "robot.usda", "nets/knee.safetensors"))
    write_network(tmp_path / "other" / "knee.safetensors", NETWORK, {"pos_scale": 3.0})
    assert found(robot_file(tmp_path / "other" / "robot.usda", "knee.safetensors")) is first


@cases(
    "path, rule",
    ("../outside/knee.safetensors", "must lie in the folder of the layer"),
    ("nets/../../outside/knee.safetensors", "must lie in the folder of the layer"),
    ("../asset-other/knee.safetensors", "must lie in the folder of the layer"),
    ("../../../../../../../../etc/passwd", "must lie in the folder of the layer"),
    ("/etc/passwd", "must lie in the folder of the layer"),
    ("/dev/zero", "must lie in the folder of the layer"),
    ("/proc/self/environ", "must lie in the folder of the layer"),
    ("link.safetensors", "must lie in the folder of the layer"),
    ("folder/knee.safetensors", "must lie in the folder of the layer"),
    ("../packed.usdz[nets/knee.safetensors]", "must lie in the folder of the layer"),
    ("file:///etc/passwd", "must be a path of this machine"),
    ("FILE:/etc/passwd", "must be a path of this machine"),
    ("http://127.0.0.1:9/net.onnx", "must be a path of this machine"),
    ("https://127.0.0.1:9/net.onnx", "must be a path of this machine"),
    ("omniverse://host/net.onnx", "must be a path of this machine"),
    ("data:application/json,{}", "must be a path of this machine"),
    ("//host/share/net.onnx", "must be a path of this machine"),
    (r"\\\\host\\share\\net.onnx", "must be a path of this machine"),
    ("nets", "must be a regular file"),
    ("nets/pipe", "must be a regular file"),
    ("nets/none.onnx", "no such file"),
    ("nets/large.onnx", "must be at most 67108864"),
    ("robot.usda", "newton:modelPath = 'robot.usda'"),
)
def test_other_files_are_refused(path, rule, asset) -> None:
    os.mkfifo(asset / "nets" / "pipe")
    with open(asset / "nets" / "large.onnx", "wb") as large:
        large.truncate(load.LARGEST + 1)
    told = issue(robot_file(asset / "robot.usda", path))
    assert told.startswith(f"<{ACT}>.newton:modelPath = ") and "(layer robot.usda)" in told
    assert rule in told and told.rstrip(".").count(". ") >= 1 and "root:" not in told


def test_package_leads_nowhere_else(asset, tmp_path) -> None:
    for number, path in enumerate(("../asset/nets/knee.safetensors", str(asset / "nets" / "knee.safetensors"))):
        robot_file(asset / "inner.usda", path)
        package = asset / f"packed{number}.usdz"
        with Sdf.ZipFileWriter.CreateNew(str(package)) as writer:
            writer.AddFile(str(asset / "inner.usda"), "inner.usda")
        assert "newton:modelPath" in issue(package)


def test_file_that_is_no_network_is_one_issue_among_others(asset) -> None:
    file = robot_file(asset / "robot.usda", "robot.usda")
    file.write_text(file.read_text().replace("rel newton:targets = </Robot/joints/knee>", ""))
    stage = Usd.Stage.Open(str(file))
    with pytest.raises(ActuatorParseError) as caught:
        discover(stage, ROOT, [KNEE], files=True)
    assert len(caught.value.issues) == 1 or "newton:targets" in caught.value.issues[0]
    with pytest.raises(ActuatorParseError) as caught:
        parse_prim(stage.GetPrimAtPath(ACT), files=True)
    assert [("targets" in told, "modelPath" in told) for told in caught.value.issues] == [(True, False), (False, True)]


def test_metadata_that_cannot_be_used_is_an_issue(asset) -> None:
    write_network(asset / "nets" / "knee.safetensors", NETWORK, {"input_idx": [0, 1]})
    told = issue(robot_file(asset / "robot.usda", "nets/knee.safetensors"))
    assert "(layer robot.usda)" in told and "input_idx" in told


def test_program_may_name_any_file(asset, tmp_path) -> None:
    outside = tmp_path / "outside" / "knee.safetensors"
    file = robot_file(asset / "robot.usda", str(outside))
    assert "must lie in the folder of the layer" in issue(file)
    stage = Usd.Stage.CreateInMemory()
    UsdPhysics.ArticulationRootAPI.Apply(stage.DefinePrim(ROOT, "Xform"))
    UsdPhysics.RevoluteJoint.Define(stage, KNEE)
    aa.add_actuator(ROOT, "knee", "knee", aa.NeuralControlConfig(outside), stage=stage)
    (spec,) = discover(stage, ROOT, [KNEE], files=True)
    assert spec.checkpoint is not None and found(file) is spec.checkpoint


def test_file_named_by_the_program_takes_its_json_along(asset, tmp_path) -> None:
    outside = tmp_path / "outside" / "knee.safetensors"
    sidecar = outside.with_suffix(".json")
    sidecar.write_text('{"vel_scale": 5.0}')
    file = robot_file(asset / "robot.usda", str(outside))
    for permit in (aa.allow_checkpoints, aa.trust_checkpoints):
        with permit([outside]):
            assert found(file).metadata == {"vel_scale": 5.0}
    note_authored(Sdf.Layer.FindOrOpen(str(file)), str(outside))
    assert found(file).metadata == {"vel_scale": 5.0}
    sidecar.unlink()
    sidecar.symlink_to("/etc/passwd")
    assert "leads to /etc/passwd: must lie in the folder of the layer" in issue(file)


def test_layer_in_memory_has_no_folder(asset) -> None:
    stage = Usd.Stage.CreateInMemory()
    text = robot_file(asset / "robot.usda", str(asset / "nets" / "knee.safetensors")).read_text()
    stage.GetRootLayer().ImportFromString(text)
    refused(ActuatorParseError, lambda: discover(stage, ROOT, [KNEE], files=True), "a layer in memory has no folder")


def test_listed_folders_are_open_to_any_stage(asset, tmp_path) -> None:
    layer = Sdf.Layer.FindOrOpen(str(robot_file(asset / "robot.usda", "x")))
    outside = tmp_path / "outside"
    assert allowed(layer, "../outside/knee.safetensors", [outside]).path == str(outside / "knee.safetensors")
    assert allowed(layer, str(outside / "knee.safetensors"), [tmp_path]).path == str(outside / "knee.safetensors")
    refused(ValueError, lambda: allowed(layer, "../asset-other/knee.safetensors", [outside, asset]), "must lie in")


def test_link_put_in_place_after_the_check_is_not_followed(asset, tmp_path) -> None:
    checked = allowed(Sdf.Layer.FindOrOpen(str(robot_file(asset / "robot.usda", "x"))), "nets/knee.safetensors")
    (asset / "nets" / "knee.safetensors").unlink()
    (asset / "nets" / "knee.safetensors").symlink_to(tmp_path / "outside" / "knee.safetensors")
    refused(OSError, checked.read)


def test_urls_are_not_remembered(asset) -> None:
    layer = Sdf.Layer.FindOrOpen(str(robot_file(asset / "robot.usda", "x")))
    note_authored(layer, "http://127.0.0.1:9/net.onnx")
    refused(ValueError, lambda: allowed(layer, "http://127.0.0.1:9/net.onnx"), "must be a path of this machine")


def test_permitted_folder_is_open_to_any_stage_while_it_is(asset, tmp_path) -> None:
    """`allow_checkpoints` and `trust_checkpoints` alike; with the JSON file beside the network."""
    (tmp_path / "outside" / "knee.json").write_text('{"vel_scale": 5.0}')
    file = robot_file(asset / "robot.usda", "../outside/knee.safetensors")
    for permit in (aa.allow_checkpoints, aa.trust_checkpoints):
        with permit([tmp_path / "outside"]):
            assert found(file).metadata == {"vel_scale": 5.0}
        assert "must lie in the folder of the layer" in issue(file) and "allow_checkpoints" in issue(file)
    with aa.allow_checkpoints([tmp_path / "asset-other"]):
        assert "must lie in the folder of the layer" in issue(file)


def test_the_call_in_the_message_permits_it(asset, tmp_path) -> None:
    """One that can be copied: files that Isaac Lab wrote name networks in the folder for temporary files."""
    file = robot_file(asset / "robot.usda", str(tmp_path / "outside" / "knee.safetensors"))
    (call,) = re.findall(r"or permit it: (allow_checkpoints\(.*?\))\.", issue(file))
    with eval(call, {"allow_checkpoints": aa.allow_checkpoints}):
        assert found(file).metadata == {}


def test_what_is_not_recognised_is_told_with_prim_file_and_remedy(asset, run_by_torch) -> None:
    unknown_file(asset / "nets" / "unknown.pt")
    file = robot_file(asset / "robot.usda", "nets/unknown.pt")
    with aa.allow_checkpoints([asset]):
        told = issue(file)
    assert told.startswith(f"<{ACT}>.newton:modelPath = 'nets/unknown.pt' (layer robot.usda): unknown.pt: ")
    for part in ("operation ldexp", trust.CONVERT, "trusted=True", "trust_checkpoints([path])", "deactivate the prim"):
        assert part in told
    assert run_by_torch == []


def test_what_is_trusted_is_run(asset, tmp_path, run_by_torch) -> None:
    unknown = unknown_file(asset / "nets" / "unknown.pt")
    file = robot_file(asset / "robot.usda", "nets/unknown.pt")
    for path in (asset, unknown, tmp_path):
        with aa.trust_checkpoints([path]):
            assert isinstance(found(file).network, StandIn)
        assert "ldexp" in issue(file)
    with aa.trust_checkpoints([tmp_path / "outside"]):
        assert "ldexp" in issue(file)
    stage = Usd.Stage.Open(str(file))
    (spec,) = discover(stage, ROOT, [KNEE], files=True, trusted=True)
    parsed = aa.parse_actuator_prim(stage.GetPrimAtPath(ACT), trusted=True)
    assert spec.checkpoint is not None and parsed is not None
    assert parsed.controller_kwargs["model_path"].checkpoint is spec.checkpoint
    assert parsed.controller_kwargs == {"model_path": os.path.realpath(unknown)}
    assert isinstance(spec.checkpoint.network, StandIn)
    outside = robot_file(asset / "other.usda", str(unknown_file(tmp_path / "outside" / "unknown.pt")))
    with pytest.raises(ActuatorParseError, match="must lie in the folder of the layer"):
        discover(Usd.Stage.Open(str(outside)), ROOT, [KNEE], files=True, trusted=True)
    assert set(run_by_torch) == {unknown.read_bytes()}


def test_package_is_trusted_by_its_own_path(asset, tmp_path, run_by_torch) -> None:
    unknown_file(asset / "nets" / "unknown.pt")
    package = tmp_path / "packed" / "robot.usdz"
    package.parent.mkdir()
    with Sdf.ZipFileWriter.CreateNew(str(package)) as writer:
        for inner in (robot_file(asset / "robot.usda", "./nets/unknown.pt"), asset / "nets" / "unknown.pt"):
            writer.AddFile(str(inner), str(inner.relative_to(asset)))
    assert "ldexp" in issue(package)
    with aa.trust_checkpoints([package]):
        assert isinstance(found(package).network, StandIn) and "ldexp" in issue(asset / "robot.usda")
    with aa.trust_checkpoints([asset]):
        assert "ldexp" in issue(package)


def test_nothing_in_a_stage_grants_it(asset, run_by_torch) -> None:
    unknown_file(asset / "nets" / "unknown.pt")
    file = robot_file(asset / "robot.usda", "nets/unknown.pt")
    stage = Usd.Stage.Open(str(file))
    for prim in (stage.GetPrimAtPath(ACT), stage.GetPrimAtPath(ROOT)):
        for name in ("trusted", "newton:trusted", "newton:trustCheckpoints", "newton:allowUnsafeTorchCheckpoints"):
            prim.CreateAttribute(name, Sdf.ValueTypeNames.Bool).Set(True)
            prim.SetCustomDataByKey(name, True)
    stage.GetRootLayer().customLayerData = {"trusted": True, "trustCheckpoints": "/"}
    stage.GetRootLayer().Save()
    with warnings.catch_warnings():
        # of attributes that have no effect
        warnings.simplefilter("ignore")
        assert "ldexp" in issue(file)
    assert run_by_torch == []
