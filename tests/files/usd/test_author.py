"""`add_actuator` writes exactly one prim into the edit target, or nothing at all."""

import math
import warnings
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path, PurePosixPath, PureWindowsPath
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from isaacsim.core.experimental.actuators.base.errors import HostError
from isaacsim.core.experimental.actuators.files.usd.discover import actuator_paths, discover
from isaacsim.core.experimental.actuators.laws.contract.catalogue import class_of
from isaacsim.core.experimental.actuators.simulators.arrays import ArraysHost
from isaacsim.core.experimental.actuators.simulators.authoring import add_actuator
from isaacsim.core.experimental.actuators.simulators.current import use_host, use_stage
from isaacsim.core.experimental.actuators.specs.actuator_spec import ActuatorSpec
from isaacsim.core.experimental.actuators.specs.configs import (
    CONFIGS,
    DCMotorClampingConfig,
    DelayConfig,
    FrictionConfig,
    MaxEffortClampingConfig,
    NeuralControlConfig,
    PDControlConfig,
    PIDControlConfig,
    PositionBasedClampingConfig,
)
from isaacsim.core.experimental.actuators.specs.fields import FLOAT32_MAX
from pxr import Sdf, Usd
from refusals import cases, refused

ROOT = "/World/Robot"
HIP, SLIDE = f"{ROOT}/joints/hip", f"{ROOT}/joints/slide"
PATH = f"{ROOT}/Actuators/act"
PD = PDControlConfig(20.0, 2.0)
BOT = """#usda 1.0
def Xform "Bot" {
    def PhysicsRevoluteJoint "wheel" {}
    def Scope "Tools" {}
}
"""
BASE = """#usda 1.0
(
    subLayers = [@SUBLAYER@]
)
def Xform "World" {
    def Xform "Robot" (
        prepend apiSchemas = ["PhysicsArticulationRootAPI"]
        variants = {
            string gear = "soft"
        }
        prepend variantSets = "gear"
    ) {
        def Scope "joints" {
            def PhysicsRevoluteJoint "hip" {}
            def PhysicsPrismaticJoint "slide" {}
            def PhysicsFixedJoint "weld" {}
            def PhysicsSphericalJoint "ball" {}
            def PhysicsRevoluteJoint "twin" {}
        }
        def Xform "arm" {
            def PhysicsRevoluteJoint "twin" {}
            def Xform "hand" (
                instanceable = true
                prepend references = @BOT@</Bot>
            ) {}
        }
        variantSet "gear" = {
            "soft" {
            }
            "hard" {
            }
        }
    }
    def Xform "Other" {
        def PhysicsRevoluteJoint "elbow" {}
    }
    def Xform "Linked" (
        prepend references = @BOT@</Bot>
    ) {
        def Scope "Actuators" (
            prepend references = @BOT@</Bot/Tools>
        ) {}
    }
    def Xform "Stamp" (
        instanceable = true
        prepend references = @BOT@</Bot>
    ) {}
    def Xform "Asleep" (
        active = false
    ) {
        def PhysicsRevoluteJoint "hip" {}
    }
}
"""


@pytest.fixture
def stage() -> Usd.Stage:
    """A robot in the root layer, an empty layer below it, and a referenced file."""
    return make_stage()


def make_stage() -> Usd.Stage:
    bot = Sdf.Layer.CreateAnonymous("bot.usda")
    bot.ImportFromString(BOT)
    below = Sdf.Layer.CreateAnonymous("below.usda")
    root = Sdf.Layer.CreateAnonymous("root.usda")
    root.ImportFromString(BASE.replace("SUBLAYER", below.identifier).replace("@BOT@", f"@{bot.identifier}@"))
    return Usd.Stage.Open(root)


def author(stage: Usd.Stage, **changes) -> Usd.Prim:
    """`add_actuator` with good arguments, some of them changed."""
    arguments = {"articulation_root": ROOT, "target_names": "hip", "name": "act", "controller": PD, "stage": stage}
    return add_actuator(**(arguments | changes))


def texts(stage: Usd.Stage) -> dict[str, str]:
    return {layer.identifier: layer.ExportToString() for layer in stage.GetUsedLayers()}


def prim_text(stage: Usd.Stage) -> str:
    return stage.GetRootLayer().GetPrimAtPath(PATH).GetAsText()


def layer_below(stage: Usd.Stage) -> Sdf.Layer:
    return Sdf.Layer.Find(stage.GetRootLayer().subLayerPaths[0])


def in_layer(stage: Usd.Stage, layer: Sdf.Layer):
    return Usd.EditContext(stage, Usd.EditTarget(layer))


def variant_target(stage: Usd.Stage, variant: str) -> Usd.EditTarget:
    gear = stage.GetPrimAtPath(ROOT).GetVariantSets().GetVariantSet("gear")
    gear.SetVariantSelection(variant)
    return gear.GetVariantEditTarget()


def reference_target(stage: Usd.Stage, path: str) -> Usd.EditTarget:
    node = stage.GetPrimAtPath(path).GetPrimIndex().rootNode.children[0]
    return Usd.EditTarget(node.layerStack.layers[0], node)


def test_writes_the_documented_prim(stage):
    root = Sdf.Layer.CreateAnonymous("plain.usda")
    root.ImportFromString(
        '#usda 1.0\n\ndef Xform "R"\n{\n    def PhysicsRevoluteJoint "a"\n    {\n    }\n\n'
        '    def PhysicsPrismaticJoint "b"\n    {\n    }\n}\n\n'
    )
    author(
        Usd.Stage.Open(root),
        articulation_root="/R",
        target_names=["b", "a"],
        controller=PDControlConfig(20, 2.5),
        clamping=[MaxEffortClampingConfig(math.inf)],
        delay=DelayConfig(3),
    )
    assert (
        root.ExportToString()
        == """#usda 1.0

def Xform "R"
{
    def PhysicsRevoluteJoint "a"
    {
    }

    def PhysicsPrismaticJoint "b"
    {
    }

    def Scope "Actuators"
    {
        def NewtonActuator "act" (
            prepend apiSchemas = ["NewtonPDControlAPI", "NewtonMaxEffortClampingAPI", "NewtonActuatorDelayAPI"]
        )
        {
            custom float newton:constEffort = 0
            custom int newton:delaySteps = 3
            custom float newton:kd = 2.5
            custom float newton:kp = 20
            custom float newton:maxEffort = inf
            custom rel newton:targets = [
                </R/b>,
                </R/a>,
            ]
        }
    }
}

"""
    )


@cases(
    "parts, schemas",
    ({}, ["NewtonPDControlAPI"]),
    ({"clamping": []}, ["NewtonPDControlAPI"]),
    ({"clamping": (MaxEffortClampingConfig(1),)}, ["NewtonPDControlAPI", "NewtonMaxEffortClampingAPI"]),
    ({"delay": DelayConfig(0)}, ["NewtonPDControlAPI", "NewtonActuatorDelayAPI"]),
)
def test_applies_one_schema_per_config(stage, parts, schemas):
    assert list(author(stage, **parts).GetPrimTypeInfo().GetAppliedAPISchemas()) == schemas


def test_writes_friction_as_a_stage_of_its_own(stage):
    friction = FrictionConfig(coulomb=0.5, stribeck_velocity=0.25, motor_load=0.125, quadratic_when_opposed=True)
    prim = add_actuator(ROOT, "hip", "act", PD, friction=friction, stage=stage)
    assert discover(stage, ROOT, [HIP])[0].stages == (PD, friction)
    attribute = prim.GetAttribute("actuator:friction:quadraticWhenOpposed")
    assert (attribute.GetTypeName(), attribute.Get()) == ("bool", True)
    with pytest.raises(TypeError, match="friction = DelayConfig"):
        add_actuator(ROOT, "slide", "wrong", PD, friction=DelayConfig(2), stage=stage)


def test_returns_the_prim(stage):
    assert author(stage) == stage.GetPrimAtPath(PATH)


@cases("value", 3, 3.0, np.float16(3), np.float32(3), np.float64(3), np.int64(3), np.uint8(3), Fraction(3), ids=repr)
def test_writes_gains_as_float(stage, value):
    attribute = author(stage, controller=PDControlConfig(value, 0)).GetAttribute("newton:kp")
    assert (attribute.GetTypeName(), attribute.Get()) == ("float", 3.0)


@cases("value", 3, np.int32(3), np.int64(3), np.uint8(3), ids=repr)
def test_writes_steps_as_int(stage, value):
    attribute = author(stage, delay=DelayConfig(value)).GetAttribute("newton:delaySteps")
    assert (attribute.GetTypeName(), attribute.Get()) == ("int", 3)


@cases("path", "nets/knee.onnx", PurePosixPath("nets/knee.onnx"), PureWindowsPath(r"nets\knee.onnx"))
def test_writes_the_model_path_as_asset(stage, path):
    attribute = author(stage, controller=NeuralControlConfig(path)).GetAttribute("newton:modelPath")
    assert (attribute.GetTypeName(), attribute.Get().path) == ("asset", "nets/knee.onnx")


@cases("table", [0, 1], (0.0, 1.0), np.array([0, 1]), np.float32([0, 1]), [Fraction(0), np.int8(1)], range(2), ids=repr)
def test_writes_any_table_as_float_array(stage, table):
    config = PositionBasedClampingConfig([0.0, 1.0], [2.0, 3.0])
    config.lookup_positions = table
    attribute = author(stage, clamping=[config]).GetAttribute("newton:lookupPositions")
    assert (attribute.GetTypeName(), list(attribute.Get())) == ("float[]", [0.0, 1.0])


def test_finds_a_joint_inside_an_instance(stage):
    prim = author(stage, target_names="wheel")
    assert prim.GetRelationship("newton:targets").GetTargets() == [Sdf.Path(f"{ROOT}/arm/hand/wheel")]


@cases("names", ["slide", "hip"], ("slide", "hip"), iter(["slide", "hip"]), ids=["list", "tuple", "iterator"])
def test_keeps_the_order_of_targets(stage, names):
    prim = author(stage, target_names=names)
    assert prim.GetRelationship("newton:targets").GetTargets() == [Sdf.Path(SLIDE), Sdf.Path(HIP)]


def test_accepts_a_path_object_as_root(stage):
    assert author(stage, articulation_root=Sdf.Path(ROOT)).GetPath() == Sdf.Path(PATH)


def test_keeps_an_existing_parent(stage):
    stage.DefinePrim(f"{ROOT}/Actuators", "Xform")
    author(stage)
    assert stage.GetPrimAtPath(f"{ROOT}/Actuators").GetTypeName() == "Xform"


def test_second_actuator_joins_the_first(stage):
    author(stage)
    author(stage, name="other", target_names="slide")
    assert actuator_paths(stage) == [PATH, f"{ROOT}/Actuators/other"]


@cases("place", "same layer", "layer below")
def test_defines_a_parent_that_is_a_mere_over(stage, place):
    """Author a prim that traversal finds although only an `over` of its parent exists."""
    Sdf.CreatePrimInLayer(stage.GetRootLayer() if place == "same layer" else layer_below(stage), f"{ROOT}/Actuators")
    author(stage)
    assert actuator_paths(stage) == [PATH]


def test_overwrites_the_whole_prim(stage):
    author(stage, delay=DelayConfig(3), clamping=[MaxEffortClampingConfig(5)])
    stage.DefinePrim(f"{PATH}/child")
    author(stage, target_names="slide", overwrite_existing=True)
    fresh = make_stage()
    author(fresh, target_names="slide")
    assert prim_text(stage) == prim_text(fresh)


def test_overwrite_is_free_to_find_nothing(stage):
    assert author(stage, overwrite_existing=True).GetPath() == Sdf.Path(PATH)


def test_uses_the_current_stage(stage):
    with use_host(ArraysHost(["hip"], path=ROOT, stage=stage)):
        add_actuator(ROOT, "hip", "act", PD)
    assert actuator_paths(stage) == [PATH]


@cases("host", nullcontext(), use_host(ArraysHost(["hip"])), ids=["no host", "host without stage"])
def test_needs_a_stage(host):
    with host, pytest.raises(HostError, match=r"`stage=\.\.\.`.*use_stage\(.*Simulation\(.*use_host\("):
        add_actuator(ROOT, "hip", "act", PD)


@cases("wrong", "robot.usda", Path("robot.usda"), 5, Sdf.Layer, ROOT, ids=repr)
def test_stage_is_an_open_one(wrong):
    with pytest.raises(TypeError, match=r"stage = .*: must be a Usd.Stage. Open one: `stage=Usd.Stage.Open\(path\)`"):
        add_actuator(ROOT, "hip", "act", PD, stage=wrong)


def test_uses_the_stage_made_current(stage):
    with use_stage(stage):
        add_actuator(ROOT, "hip", "act", PD)
    assert actuator_paths(stage) == [PATH]


TARGETS: dict[str, Callable[[Usd.Stage], Usd.EditTarget]] = {
    "root": lambda stage: Usd.EditTarget(stage.GetRootLayer()),
    "session": lambda stage: Usd.EditTarget(stage.GetSessionLayer()),
    "below": lambda stage: Usd.EditTarget(layer_below(stage)),
    "selected variant": lambda stage: variant_target(stage, "soft"),
}
every_target = cases("target", *TARGETS.values(), ids=TARGETS)


@every_target
def test_edits_nothing_but_the_edit_target(stage, target):
    edit_target = target(stage)
    before = texts(stage)
    with Usd.EditContext(stage, edit_target):
        author(stage)
    after = texts(stage)
    assert [layer for layer in before if after[layer] != before[layer]] == [edit_target.GetLayer().identifier]


@every_target
def test_discovery_finds_what_an_edit_target_holds(stage, target):
    with Usd.EditContext(stage, target(stage)):
        author(stage)
    assert discover(stage, ROOT, [HIP, SLIDE]) == [ActuatorSpec(PATH, (HIP,), PD)]


@every_target
def test_overwrites_in_every_edit_target(stage, target):
    with Usd.EditContext(stage, target(stage)):
        author(stage)
        author(stage, controller=PDControlConfig(7, 1), overwrite_existing=True)
    assert discover(stage, ROOT, [HIP, SLIDE]) == [ActuatorSpec(PATH, (HIP,), PDControlConfig(7.0, 1.0))]


def test_variant_keeps_the_prim_to_itself(stage):
    with Usd.EditContext(stage, variant_target(stage, "soft")):
        author(stage)
    variant_target(stage, "hard")
    assert actuator_paths(stage) == []


def test_writes_targets_in_the_namespace_of_a_referenced_file(stage):
    with Usd.EditContext(stage, reference_target(stage, "/World/Linked")):
        prim = author(stage, articulation_root="/World/Linked", target_names="wheel")
    assert prim.GetRelationship("newton:targets").GetTargets() == [Sdf.Path("/World/Linked/wheel")]


CONTROL_NAMES, CLAMPING_NAMES = (
    ", ".join(config.__name__ for config in CONFIGS if config.KIND == kind) for kind in ("controller", "clamping")
)


def refusal(words: Sequence[str], error: type[Exception] = ValueError, prepare: Callable = bool, **arguments: Any):
    """Words of the message, what is raised, what is done to the stage before, and arguments that must be refused."""
    return words, error, prepare, arguments


def taken(stage: Usd.Stage) -> None:
    author(stage, clamping=[MaxEffortClampingConfig(5)])


def taken_below(stage: Usd.Stage) -> None:
    with in_layer(stage, layer_below(stage)):
        author(stage)


def taken_above(stage: Usd.Stage) -> None:
    author(stage)
    with in_layer(stage, stage.GetSessionLayer()):
        stage.OverridePrim(PATH).SetDocumentation("mine")


def taken_in_a_reference(stage: Usd.Stage) -> None:
    with Usd.EditContext(stage, reference_target(stage, "/World/Linked")):
        author(stage, articulation_root="/World/Linked", target_names="wheel")


def taken_in_an_unselected_variant(stage: Usd.Stage) -> None:
    target = variant_target(stage, "soft")
    with Usd.EditContext(stage, target):
        author(stage)
    variant_target(stage, "hard")
    stage.SetEditTarget(target)


def unselected_variant(stage: Usd.Stage) -> None:
    target = variant_target(stage, "soft")
    variant_target(stage, "hard")
    stage.SetEditTarget(target)


def unselected_variant_of_the_parent(stage: Usd.Stage) -> None:
    size = stage.DefinePrim(f"{ROOT}/Actuators").GetVariantSets().AddVariantSet("size")
    for name in ("small", "large"):
        size.AddVariant(name)
    size.SetVariantSelection("small")
    target = size.GetVariantEditTarget()
    size.SetVariantSelection("large")
    stage.SetEditTarget(target)


def muted(stage: Usd.Stage) -> None:
    # the stage keeps only weak references
    stage.below = layer_below(stage)
    stage.SetEditTarget(Usd.EditTarget(stage.below))
    stage.MuteLayer(stage.below.identifier)


def expired(stage: Usd.Stage) -> None:
    stage.SetEditTarget(Usd.EditTarget(layer_below(stage)))
    stage.MuteLayer(layer_below(stage).identifier)


def instanced_parent(stage: Usd.Stage) -> None:
    parent = stage.DefinePrim(f"{ROOT}/Actuators")
    parent.GetReferences().AddReference(reference_target(stage, "/World/Linked").GetLayer().identifier, "/Bot/Tools")
    parent.SetInstanceable(True)


BAD_NAMES = (
    *("", "a/b", "/act", "1st", "left knee", "left-knee", "..", "a.b", "a:b", "knee\n", "a\0b", "\u0308a"),
    *("\ud800", "²a", "グ リ", None, 5),
)
LINKED = {"articulation_root": "/World/Linked", "target_names": "wheel"}
AVAILABLE = "['ball', 'hip', 'slide', 'twin', 'weld', 'wheel']"
REFUSALS = {
    **{
        f"root {path!r}": refusal((f"articulation_root = {path!r}", "Give the path"), articulation_root=path)
        for path in (
            *("/World/Nobody", "World/Robot", "/", "", "/World/Robot/", "//", "..", "/World/Robot.hip", "a b"),
            *("/World/Robot\x00", "/World/\ud800", "/World/Robot{gear=soft}"),
        )
    },
    "root is None": refusal(("articulation_root = 'None'", "Give the path"), articulation_root=None),
    "root instanced": refusal(
        ("</World/Stamp>", "Author the actuator in the referenced file"),
        articulation_root="/World/Stamp",
        target_names="wheel",
    ),
    "root in an instance": refusal(
        ("</World/Robot/arm/hand/Tools>", "uninstanceable"),
        articulation_root="/World/Robot/arm/hand/Tools",
        target_names="wheel",
    ),
    "root inactive": refusal(
        ("'hip'", "</World/Asleep>", "Available: []"), articulation_root="/World/Asleep", target_names="hip"
    ),
    **{f"name {one!r}": refusal((f"name = {one!r}", "must be a USD identifier"), name=one) for one in BAD_NAMES},
    "joint unknown": refusal(("'knee'", ROOT, AVAILABLE), target_names="knee"),
    "joint as path of another robot": refusal(("'/World/Other/elbow'", AVAILABLE), target_names="/World/Other/elbow"),
    "joint of another robot": refusal(("'elbow'", AVAILABLE), target_names="elbow"),
    "joint is the root": refusal(("'Robot'", AVAILABLE), target_names="Robot"),
    "second joint unknown": refusal(("'knee'", AVAILABLE), target_names=["hip", "knee"]),
    "joint ambiguous": refusal(
        ("'twin'", "2 times", f"['{ROOT}/joints/twin', '{ROOT}/arm/twin']", "Give the path"), target_names="twin"
    ),
    "joint fixed": refusal(("'weld'", "PhysicsFixedJoint", "Name another joint"), target_names="weld"),
    "joint spherical": refusal(("'ball'", "PhysicsSphericalJoint", "Name another joint"), target_names="ball"),
    "joint twice": refusal(("'hip'", "Name each joint once"), target_names=["hip", "slide", "hip"]),
    "joint twice, by path too": refusal((f"'{HIP}'", "Name each joint once"), target_names=["hip", HIP]),
    "no joint": refusal(("target_names is empty", "Name at least one"), target_names=[]),
    **{
        f"joints {names!r}": refusal(
            (f"target_names = {names!r}", "a joint or a list of names"), error=TypeError, target_names=names
        )
        for names in (None, 5, [5], ["hip", None], [["hip"]], b"hip")
    },
    **{
        f"controller {value!r}": refusal(
            (f"controller = {value!r}", f"must be a config of a control law ({CONTROL_NAMES})"),
            error=TypeError,
            controller=value,
        )
        for value in (None, PDControlConfig, "PD", {"kp": 1.0, "kd": 1.0}, MaxEffortClampingConfig(1.0), [PD])
    },
    "clamping not in a list": refusal(
        ("clamping = MaxEffortClampingConfig(max_effort=5)", "Write clamping=[...]"),
        error=TypeError,
        clamping=MaxEffortClampingConfig(5),
    ),
    **{
        f"clamping {value!r}": refusal(
            (f"clamping = {value!r}", f"must be a config of an effort limit ({CLAMPING_NAMES})"),
            error=TypeError,
            clamping=[value],
        )
        for value in (None, 5.0, PD, DelayConfig(1), MaxEffortClampingConfig)
    },
    "clamping twice": refusal(
        ("MaxEffortClampingConfig twice", "Keep one"), clamping=[MaxEffortClampingConfig(5), MaxEffortClampingConfig(6)]
    ),
    **{
        f"delay {value!r}": refusal(
            (f"delay = {value!r}", "must be a config of a command delay (DelayConfig, TimedDelayConfig)"),
            error=TypeError,
            delay=value,
        )
        for value in (3, [DelayConfig(1)], DelayConfig, PD)
    },
    **{
        f"kp {value!r}": refusal(
            (f"PDControlConfig.kp = {value!r}", "must be finite and >= 0 in single precision", "Give a value"),
            controller=PDControlConfig(value, 1.0),
        )
        for value in (
            *(math.nan, math.inf, -math.inf, -1, -1e-30, 1e308, 10**40, True, None, "1", [1.0]),
            *(np.float32("nan"), np.float64("inf"), np.float32(-1), np.bool_(True), np.ones(1), np.array(1.0)),
            *(Decimal(1), np.timedelta64(1, "ms"), np.timedelta64(1, "s"), 1j),
        )
    },
    **{
        f"kd {value!r}": refusal(
            (f"PDControlConfig.kd = {value!r}", "must be finite and >= 0"), controller=PDControlConfig(1.0, value)
        )
        for value in (math.nan, -1.0, np.int8(-1))
    },
    **{
        f"const_effort {value!r}": refusal(
            (f"PDControlConfig.const_effort = {value!r}", "must be finite"), controller=PDControlConfig(1.0, 1.0, value)
        )
        for value in (math.nan, math.inf, -math.inf, -1e39, "0", None)
    },
    **{
        f"max_effort {value!r}": refusal(
            (f"MaxEffortClampingConfig.max_effort = {value!r}", "must be a number and >= 0", "inf switches it off"),
            clamping=[MaxEffortClampingConfig(value)],
        )
        for value in (math.nan, -math.inf, -5, 1e39, True, "inf", None, np.float64("nan"))
    },
    **{
        f"delay_steps {value!r}": refusal(
            (f"DelayConfig.delay_steps = {value!r}", "must be an integer and >= 0 and <= 4096"),
            delay=DelayConfig(value),
        )
        for value in (
            *(-1, 4097, 2**31, 2**64, 1.0, 2.5, math.nan, True, "1", None, np.float32(1), np.bool_(True)),
            *(Fraction(2), Decimal(2), np.timedelta64(2, "s"), np.timedelta64("NaT", "s")),
        )
    },
    "many bad values": refusal(
        ("PDControlConfig.kp = nan", "PDControlConfig.kd = -1", "max_effort = nan", "delay_steps = -3"),
        controller=PDControlConfig(math.nan, -1),
        clamping=[MaxEffortClampingConfig(math.nan)],
        delay=DelayConfig(-3),
    ),
    "layer locked": refusal(
        ("layer root.usda is locked", "unlock"), prepare=lambda stage: stage.GetRootLayer().SetPermissionToEdit(False)
    ),
    "name taken": refusal((f"<{PATH}> exists already", "overwrite_existing=True"), prepare=taken),
    "a name of another type": refusal(
        (f"<{PATH}> exists already",), prepare=lambda stage: stage.DefinePrim(PATH, "Xform")
    ),
    "an inactive name": refusal((f"<{PATH}> exists already",), prepare=lambda stage: author(stage).SetActive(False)),
    "name taken below": refusal((f"<{PATH}> exists already",), prepare=taken_below),
    "by reference": refusal(("</World/Linked/Actuators/act> exists already",), prepare=taken_in_a_reference, **LINKED),
    "variant not selected": refusal(
        (f"<{PATH}> would not be on the stage", "variant that is not selected", "select the variant"),
        prepare=unselected_variant,
    ),
    "variant of a parent not selected": refusal((f"<{PATH}> would not be",), prepare=unselected_variant_of_the_parent),
    "name taken in an unselected variant": refusal(
        (f"<{PATH}> would not be",), prepare=taken_in_an_unselected_variant, overwrite_existing=True
    ),
    "layer muted": refusal((f"<{PATH}> would not be on the stage", "below.usda is muted", "Unmute"), prepare=muted),
    "layer gone": refusal(("edit target of the stage has no layer", "stage.SetEditTarget("), prepare=expired),
    "outside the mask": refusal(
        (f"<{PATH}> is outside the population mask", "Extend the mask"),
        prepare=lambda stage: stage.SetPopulationMask(Usd.StagePopulationMask([f"{ROOT}/joints"])),
    ),
    "overwrite below": refusal(
        (f"<{PATH}>", "layer below.usda", "root.usda cannot remove", "set that layer as the edit target"),
        prepare=taken_below,
        overwrite_existing=True,
    ),
    "above": refusal((f"<{PATH}>", "session", "root.usda cannot remove"), prepare=taken_above, overwrite_existing=True),
    "overwrite in a reference": refusal(
        ("</World/Linked/Actuators/act>", "layer bot.usda", "root.usda cannot remove"),
        prepare=taken_in_a_reference,
        **LINKED,
        overwrite_existing=True,
    ),
    "overwrite with a bad controller": refusal(
        ("controller = None",), error=TypeError, prepare=taken, overwrite_existing=True, controller=None
    ),
    "overwrite with a bad joint": refusal(("'knee'",), prepare=taken, overwrite_existing=True, target_names="knee"),
    "overwrite with a bad value": refusal(
        ("kp = nan",), prepare=taken, overwrite_existing=True, controller=PDControlConfig(math.nan, 0)
    ),
    "parent inactive": refusal(
        (f"<{ROOT}/Actuators> is inactive", "active"),
        prepare=lambda stage: author(stage).GetParent().SetActive(False),
        overwrite_existing=True,
    ),
    "parent instanced": refusal((f"<{ROOT}/Actuators> is instanced", "uninstanceable"), prepare=instanced_parent),
    "robot out of reach": refusal(
        (f"<{PATH}>", "bot.usda", "Set an edit target that covers"),
        prepare=lambda stage: stage.SetEditTarget(reference_target(stage, "/World/Linked")),
    ),
    "joint out of reach": refusal(
        ("</World/Linked/wheel>", "bot.usda", "Set an edit target that covers"),
        prepare=lambda stage: stage.SetEditTarget(reference_target(stage, "/World/Linked/Actuators")),
        **LINKED,
    ),
}
every_refusal = cases("words, error, prepare, arguments", *REFUSALS.values(), ids=REFUSALS)


@every_refusal
def test_refusal_names_value_and_remedy(stage, words, error, prepare, arguments):
    prepare(stage)
    with pytest.raises(error, check=lambda raised: type(raised) is error) as caught:
        author(stage, **arguments)
    assert [word for word in words if word not in str(caught.value)] == []


@every_refusal
def test_refusal_leaves_every_layer_as_it_was(stage, words, error, prepare, arguments):
    prepare(stage)
    before = texts(stage)
    refused(error, lambda: author(stage, **arguments))
    assert texts(stage) == before


@cases("path", "/World/Robot/", "//", "", "a b")
def test_ill_formed_root_prints_nothing(stage, capfd, path):
    refused(ValueError, lambda: author(stage, articulation_root=path), "articulation_root")
    assert capfd.readouterr() == ("", "")


float32 = st.floats(width=32, allow_nan=False, allow_infinity=False)
gain = st.floats(min_value=0.0, width=32, allow_infinity=False)
limit = st.floats(min_value=0.0, width=32, allow_nan=False)
speed = st.floats(min_value=0.0, width=32, exclude_min=True, allow_nan=False)
paths = st.text(st.characters(exclude_categories=("Cc", "Cs")), min_size=1).filter(str.strip)
controllers = st.one_of(
    st.builds(PDControlConfig, gain, gain, float32),
    st.builds(PIDControlConfig, gain, gain, gain, limit, float32),
    st.builds(NeuralControlConfig, paths),
)
tables = st.lists(st.tuples(float32, gain), min_size=1, max_size=20).map(
    lambda rows: PositionBasedClampingConfig(sorted(position for position, _ in rows), [effort for _, effort in rows])
)
clamps = st.tuples(
    st.none() | st.builds(MaxEffortClampingConfig, limit),
    st.none() | st.builds(DCMotorClampingConfig, limit, speed, limit),
    st.none() | tables,
).flatmap(lambda some: st.permutations([clamp for clamp in some if clamp is not None]))


@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(
    controller=controllers,
    clamping=clamps,
    delay=st.none() | st.builds(DelayConfig, st.integers(0, 4096)),
    targets=st.permutations([HIP, SLIDE]).flatmap(lambda order: st.integers(1, 2).map(lambda n: order[:n])),
    name=st.from_regex(r"[A-Za-z_äグ][A-Za-z0-9_äグ]{0,20}", fullmatch=True),
)
@pytest.mark.slow
def test_reads_back_what_was_written(controller, clamping, delay, targets, name):
    stage = make_stage()
    names = [path.rsplit("/", 1)[1] for path in targets]
    author(stage, target_names=names, name=name, controller=controller, clamping=clamping, delay=delay)
    copy = Sdf.Layer.CreateAnonymous("copy.usda")
    copy.ImportFromString(stage.GetRootLayer().ExportToString())
    with warnings.catch_warnings():
        # a speed limit without a stall effort
        warnings.filterwarnings("ignore", message=".*newton:velocityLimit = .* has no effect")
        found = discover(Usd.Stage.Open(copy), ROOT, [HIP, SLIDE])
    path = f"{ROOT}/Actuators/{name}"
    assert found == [ActuatorSpec(path, tuple(targets), controller, tuple(clamping), delay)]


@settings(max_examples=100, deadline=None, derandomize=True, database=None)
@given(st.floats(0.0, FLOAT32_MAX))
def test_reads_back_the_nearest_float32(value):
    stage = make_stage()
    config = PositionBasedClampingConfig([value], [value])
    author(stage, controller=PDControlConfig(value, 0, -value), clamping=[config])
    (spec,) = discover(stage, ROOT, [HIP])
    near = float(np.float32(value))
    assert spec.controller == PDControlConfig(near, 0, -near)
    assert spec.clamping == (PositionBasedClampingConfig([near], [near]),)


@cases("value", FLOAT32_MAX, 0.1, 1e-60, 1e-40)
def test_reads_back_the_ends_of_single_precision(stage, value):
    author(stage, controller=PDControlConfig(value, 0))
    assert discover(stage, ROOT, [HIP])[0].controller.kp == float(np.float32(value))


@dataclass
class Tuned(PIDControlConfig):
    source: str = "bench 4"


def test_subclass_of_a_config_is_authored_as_that():
    stage, limit = make_stage(), DCMotorClampingConfig(100.0, 7.5, 80.0)
    add_actuator(ROOT, "hip", "act", Tuned(1.0, 2.0, 3.0), clamping=[limit], stage=stage)
    (spec,) = discover(stage, ROOT, [HIP, SLIDE])
    assert spec.controller == PIDControlConfig(1.0, 2.0, 3.0) and not isinstance(spec.controller, Tuned)
    assert class_of(Tuned(1.0, 2.0, 3.0)) is class_of(PIDControlConfig(1.0, 2.0, 3.0))

    class Twin(DCMotorClampingConfig):
        pass

    with pytest.raises(ValueError, match="Config twice: each schema can be applied once"):
        add_actuator(ROOT, "slide", "two", PD, clamping=[Twin(100.0, 7.5, 80.0), limit], stage=stage)


@cases(
    "config, words",
    (PIDControlConfig(1.0, math.nan, 1.0), ["PIDControlConfig.ki = nan"]),
    (PIDControlConfig(1.0, 1.0, 1.0, -1.0), ["integral_max = -1.0", ">= 0"]),
    (NeuralControlConfig(""), ["model_path = ''", "path of a file"]),
    (NeuralControlConfig(b"knee.onnx"), ["model_path = b'knee.onnx'", "path of a file"]),
    (NeuralControlConfig("knee\n.onnx"), ["model_path = 'knee\\n.onnx'", "path of a file"]),
    (NeuralControlConfig("knee\x85.onnx"), ["model_path = 'knee\\x85.onnx'", "path of a file"]),
    (NeuralControlConfig("\ud800.onnx"), ["model_path = '\\ud800.onnx'", "path of a file"]),
    (DCMotorClampingConfig(1.0, 1e-60, 1.0), ["velocity_limit = 1e-60", "> 0 in single precision"]),
    (DCMotorClampingConfig(1.0, 0.0, 1.0), ["velocity_limit = 0.0", "> 0"]),
    (DCMotorClampingConfig(-1.0, 1.0, 1.0), ["saturation_effort = -1.0"]),
)
def test_bad_values_of_every_law_are_refused(config, words):
    stage = make_stage()
    before = stage.ExportToString()
    arguments = {"controller": config} if config.KIND == "controller" else {"controller": PD, "clamping": [config]}
    text = refused(ValueError, lambda: add_actuator(ROOT, "hip", "act", **arguments, stage=stage))
    assert all(word in text for word in words), text
    assert stage.ExportToString() == before


@cases(
    "positions, efforts, words",
    ([], [], ["0 values", "at least one"]),
    ([0.0, 1.0], [1.0], ["2 values", "lookup_efforts 1"]),
    ([0.0, 1.0, 0.5], [1.0] * 3, ["lookup_positions[2] = 0.5", "must not decrease"]),
    ([0.0, math.nan], [1.0, 1.0], ["lookup_positions", "nan"]),
    ([0.0], [-1.0], ["lookup_efforts", "-1.0"]),
    ([0.0], [math.inf], ["lookup_efforts", "inf"]),
    ("01", [1.0, 2.0], ["lookup_positions = '01'"]),
    (0.0, [1.0], ["lookup_positions = 0.0"]),
    (np.array(0.0), [1.0], ["lookup_positions = array(0.)"]),
    (np.zeros((1, 1)), [1.0], ["lookup_positions = array([[0.]])"]),
    ({0.0: 1.0}, [1.0], ["lookup_positions = {0.0: 1.0}"]),
    ({0.0}, [1.0], ["lookup_positions = {0.0}"]),
    (bytearray(b"1"), [1.0], ["lookup_positions = bytearray(b'1')"]),
    ([True], [1.0], ["lookup_positions = [True]"]),
    (iter([0.0]), [1.0], ["lookup_positions = <list_iterator"]),
)
def test_bad_table_is_refused_when_made_and_when_authored(positions, efforts, words):
    with pytest.raises(ValueError) as error:
        PositionBasedClampingConfig(positions, efforts)
    assert all(word in str(error.value) for word in words), error.value
    config = PositionBasedClampingConfig([0.0], [1.0])
    config.lookup_positions, config.lookup_efforts = positions, efforts
    with pytest.raises(ValueError) as error:
        add_actuator(ROOT, "hip", "act", PD, clamping=[config], stage=make_stage())
    assert all(word in str(error.value) for word in words), error.value


@cases("place", "root", "session", "overwrite")
def test_failure_at_any_call_of_usd_leaves_every_layer_alone(stage, monkeypatch, place):
    if place == "overwrite":
        author(stage)
    if place == "session":
        stage.SetEditTarget(stage.GetSessionLayer())
    before, calls = texts(stage), {"left": 0}

    def failing(function):
        def call(*arguments):
            calls["left"] -= 1
            if calls["left"] == 0:
                raise RuntimeError("injected")
            return function(*arguments)

        return call

    spied = {name: failing(getattr(Sdf, name)) for name in ("CreatePrimInLayer", "AttributeSpec", "RelationshipSpec")}
    spied["CopySpec"] = failing(Sdf.CopySpec)
    names = {name: spied.get(name, getattr(Sdf, name)) for name in dir(Sdf) if not name.startswith("__")}
    monkeypatch.setattr("isaacsim.core.experimental.actuators.files.usd.author.Sdf", SimpleNamespace(**names))
    failures = 0
    for number in range(1, 20):
        calls["left"] = number
        try:
            author(stage, overwrite_existing=True)
        except RuntimeError:
            failures += 1
            assert texts(stage) == before
        else:
            break
    assert failures >= 5 and actuator_paths(stage)
