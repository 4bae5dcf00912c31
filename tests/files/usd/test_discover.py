"""`discover` returns the specs of one robot's actuators, or names every problem at once."""

import ast
import itertools
import math
import os
import pickle
import sys
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from isaacsim.core.experimental.actuators import ComponentKind, ControllerPD, register_actuator_component
from isaacsim.core.experimental.actuators.base.errors import ActuatorParseError
from isaacsim.core.experimental.actuators.files.usd import schema
from isaacsim.core.experimental.actuators.files.usd.articulation import articulation_roots, axes_of
from isaacsim.core.experimental.actuators.files.usd.discover import Ownership, actuator_paths, discover, parse_prim
from isaacsim.core.experimental.actuators.simulators.authoring import add_actuator
from isaacsim.core.experimental.actuators.specs.actuator_spec import ActuatorSpec
from isaacsim.core.experimental.actuators.specs.configs import (
    CONFIGS,
    MAX_TABLE_ROWS,
    OURS,
    DelayConfig,
    ForeignConfig,
    LinkageConfig,
    MaxEffortClampingConfig,
    PDControlConfig,
)
from isaacsim.core.experimental.actuators.specs.fields import parameters_of
from processes import ran
from pxr import Sdf, Usd, UsdPhysics
from refusals import cases

ROOT = "/World/Robot"
HIP, SLIDE = f"{ROOT}/joints/hip", f"{ROOT}/joints/slide"
JOINTS = [HIP, SLIDE]
ACT = f"{ROOT}/Actuators/act"
PD, CLAMP, DELAY = "NewtonPDControlAPI", "NewtonMaxEffortClampingAPI", "NewtonActuatorDelayAPI"
TABLE = "NewtonPositionBasedClampingAPI"
KNOWN = ", ".join(sorted(config.SCHEMA for config in CONFIGS))
REMEDIES = ("Author ", "Apply ", "Use ", "Correct ", "Target ", "Deactivate ", "Complete ", "Sort ")
ROOT_API = '( prepend apiSchemas = ["PhysicsArticulationRootAPI"] )'
ROBOT = """def Xform "Robot" {robot_api} {{
    def Xform "base" {link_api} {{}}
    def Xform "leg" {{}}
    def Scope "joints" {{
        def PhysicsFixedJoint "root_joint" {joint_api} {{
            rel physics:body1 = </World/Robot/base>
        }}
        def PhysicsRevoluteJoint "hip" {{
            rel physics:body0 = </World/Robot/base>
            rel physics:body1 = </World/Robot/leg>
        }}
        def PhysicsPrismaticJoint "slide" {{
            rel physics:body0 = </World/Robot/leg>
        }}
    }}
    def Scope "Actuators" {{
{actuators}
    }}
}}
"""
LAYOUTS = {
    "robot": (ROOT, {"robot_api": ROOT_API}),
    "root link": (f"{ROOT}/base", {"link_api": ROOT_API}),
    "root joint": (f"{ROOT}/joints/root_joint", {"joint_api": ROOT_API}),
}


def actuator(
    *values: str,
    name: str = "act",
    targets: str = f"<{HIP}>",
    schemas: tuple[str, ...] = (PD, CLAMP, DELAY),
    specifier: str = "def NewtonActuator",
    metadata: str = "",
) -> str:
    applied = "prepend apiSchemas = [" + ", ".join(f'"{schema}"' for schema in schemas) + "]" if schemas else ""
    rows = [f"rel newton:targets = {targets}" if targets else "", *values]
    return f'{specifier} "{name}" (\n{applied}\n{metadata}\n)\n{{\n' + "\n".join(rows) + "\n}\n"


def robot(*actuators: str, layout: str = "robot") -> str:
    apis = {"robot_api": "", "link_api": "", "joint_api": ""} | LAYOUTS[layout][1]
    return ROBOT.format(actuators="\n".join(actuators), **apis)


def layer(text: str, name: str = "robot.usda") -> Sdf.Layer:
    made = Sdf.Layer.CreateAnonymous(name)
    made.ImportFromString(f"#usda 1.0\n{text}")
    return made


def world(*parts: str) -> str:
    return 'def Xform "World"\n{\n' + "\n".join(parts) + "\n}\n"


def stage_of(*actuators: str, layout: str = "robot") -> Usd.Stage:
    return Usd.Stage.Open(layer(world(robot(*actuators, layout=layout))))


def stacked(*layers: Sdf.Layer) -> Usd.Stage:
    root = Sdf.Layer.CreateAnonymous("top.usda")
    root.subLayerPaths = [each.identifier for each in layers]
    stage = Usd.Stage.Open(root)
    # sublayers live as long as the stage
    assert {each.identifier for each in layers} < {each.identifier for each in stage.GetUsedLayers()}
    return stage


def override(*values: str, name: str = "opinion.usda") -> Sdf.Layer:
    rows = "\n".join(values)
    for prim in ("act", "Actuators", "Robot", "World"):
        rows = f'over "{prim}"\n{{\n{rows}\n}}\n'
    return layer(rows, name)


def specs(stage: Usd.Stage, root: str = ROOT) -> list[ActuatorSpec]:
    return discover(stage, root, JOINTS)


def spec(stage: Usd.Stage) -> ActuatorSpec:
    (only,) = specs(stage)
    return only


def issues(stage: Usd.Stage, root: str = ROOT) -> tuple[str, ...]:
    with pytest.raises(ActuatorParseError) as caught:
        specs(stage, root)
    return caught.value.issues


def test_reads_every_value():
    values = ["newton:kp = 20", "newton:kd = 2", "newton:constEffort = -1", "newton:maxEffort = 10"]
    stage = stage_of(actuator(*(f"float {value}" for value in values), "int newton:delaySteps = 3"))
    motor = PDControlConfig(20.0, 2.0, -1.0), (MaxEffortClampingConfig(10.0),), DelayConfig(3)
    assert specs(stage) == [ActuatorSpec(ACT, (HIP,), *motor)]


def test_falls_back_to_the_schema():
    motor = PDControlConfig(0.0, 0.0, 0.0), (MaxEffortClampingConfig(math.inf),), DelayConfig(1)
    assert specs(stage_of(actuator())) == [ActuatorSpec(ACT, (HIP,), *motor)]


def test_leaves_out_what_is_not_applied():
    stage = stage_of(actuator("float newton:maxEffort = 1", "int newton:delaySteps = 2", schemas=(PD,)))
    with pytest.warns(UserWarning, match="no schema applied here has it"):
        found = spec(stage)
    assert (found.clamping, found.delay) == ((), None)


@cases(
    "row, part",
    ("int newton:kp = 3", PDControlConfig(3.0, 0.0)),
    ("half newton:kp = 3", PDControlConfig(3.0, 0.0)),
    ("double newton:kp = 3", PDControlConfig(3.0, 0.0)),
    ("uint64 newton:kp = 3", PDControlConfig(3.0, 0.0)),
    ("float newton:maxEffort = inf", MaxEffortClampingConfig(math.inf)),
    ("float newton:maxEffort = 0", MaxEffortClampingConfig(0.0)),
    ("int newton:delaySteps = 0", DelayConfig(0)),
    ("int newton:delaySteps = 4096", DelayConfig(4096)),
    ("int64 newton:delaySteps = 7", DelayConfig(7)),
)
def test_accepts_values_of_any_numeric_type(row, part):
    found = spec(stage_of(actuator(row)))
    assert part in (found.controller, *found.clamping, found.delay)


@pytest.mark.parametrize("row", ["int newton:kp = 3", "float newton:kp = 3"])
def test_gains_become_float(row):
    assert type(spec(stage_of(actuator(row))).controller.kp) is float


@cases(
    "row, part",
    ("float newton:kp = None", PDControlConfig(0.0, 0.0)),
    ("float newton:maxEffort = None", MaxEffortClampingConfig(math.inf)),
    ("int newton:delaySteps = None", DelayConfig(1)),
)
def test_blocked_value_falls_back(row, part):
    values = "float newton:kp = 5", "float newton:maxEffort = 5", "int newton:delaySteps = 5"
    found = spec(stacked(override(row), layer(world(robot(actuator(*values))))))
    assert part in (found.controller, *found.clamping, found.delay)


def test_strongest_opinion_wins():
    weak = layer(world(robot(actuator("float newton:kp = 5", "float newton:kd = 1"))))
    assert spec(stacked(override("float newton:kp = 6"), weak)).controller == PDControlConfig(6.0, 1.0)


SAMPLES = "float newton:kp.timeSamples = {\n0: 9,\n}"


def test_default_value_over_time_samples_is_read():
    assert spec(stacked(override("float newton:kp = 5"), layer(world(robot(actuator(SAMPLES)))))).controller.kp == 5.0


SPLINE = "double newton:kp.spline = {\n1: 9,\n}"


@pytest.mark.parametrize("row", [SAMPLES, SPLINE])
@pytest.mark.parametrize("stronger", [True, False])
def test_values_over_time_beside_a_default_value_are_named(row, stronger):
    weak = layer(world(robot(actuator(f"{row.split()[0]} newton:kp = 5", *([] if stronger else [row])))))
    stage = stacked(override(row if stronger else ""), weak)
    with pytest.warns(UserWarning) as caught:
        assert spec(stage).controller.kp == 5.0
    (warning,) = (str(each.message) for each in caught)
    assert warning.startswith(f"<{ACT}>.newton:kp (layer robot.usda) has time samples or a spline beside its default")
    assert warning.endswith("Remove what is over time.")


def test_values_over_time_that_nobody_reads_are_named_once():
    rows = ["float newton:ki = 5", "float newton:ki.timeSamples = {\n0: 9,\n}"]
    with pytest.warns(UserWarning) as caught:
        specs(stage_of(actuator(*rows)))
    (warning,) = (str(each.message) for each in caught)
    assert "no schema applied here has it" in warning and "\n" not in warning


def test_several_targets_make_one_spec():
    assert spec(stage_of(actuator(targets=f"[<{SLIDE}>, <{HIP}>]"))).targets == (SLIDE, HIP)


def test_forwarded_target_is_resolved():
    assert spec(stage_of(actuator(f"rel joint = <{SLIDE}>", targets=f"<{ACT}.joint>"))).targets == (SLIDE,)


def test_specs_come_in_stage_order():
    stage = stage_of(actuator(name="z", targets=f"<{SLIDE}>"), actuator(name="a"))
    assert [found.path.rsplit("/", 1)[1] for found in specs(stage)] == ["z", "a"]


def test_robot_without_actuators_has_no_specs():
    assert specs(stage_of()) == []


def test_reading_leaves_the_stage_alone():
    stage = stage_of(actuator("float newton:kp = 5"))
    before = [each.ExportToString() for each in stage.GetUsedLayers()]
    specs(stage)
    assert [each.ExportToString() for each in stage.GetUsedLayers()] == before


@pytest.mark.parametrize("name", ["pendulum", "arm_2dof", "franka_panda", "anymal_c"])
def test_reads_every_robot_file(robots, name):
    stage = Usd.Stage.Open(str(robots / f"{name}.usda"))
    joints = [str(prim.GetPath()) for prim in stage.Traverse() if axes_of(prim)]
    found = discover(stage, articulation_roots(stage)[0], joints)
    assert sorted(target for each in found for target in each.targets) == sorted(joints)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_finds_actuators_authored_at_the_robot(layout):
    stage = stage_of(layout=layout)
    add_actuator(ROOT, "hip", "act", PDControlConfig(5.0, 1.0), stage=stage)
    assert specs(stage, LAYOUTS[layout][0]) == [ActuatorSpec(ACT, (HIP,), PDControlConfig(5.0, 1.0))]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("targets", ["", f"<{ROOT}/joints/hp>"], ids=["no target", "misspelled target"])
def test_reports_a_lost_actuator(layout, targets):
    stage = stage_of(actuator(targets=targets), layout=layout)
    assert [issue.split(">")[0] for issue in issues(stage, LAYOUTS[layout][0])] == [f"<{ACT}"]


def test_finds_an_actuator_outside_the_robot():
    assert spec(Usd.Stage.Open(layer(world(actuator(name="far"), robot())))).path == "/World/far"


@pytest.mark.parametrize("instanceable", ["false", "true"])
def test_finds_actuators_of_referenced_robots(instanceable):
    source = layer(world(robot(actuator("float newton:kp = 5"))))
    arcs = f"instanceable = {instanceable}\nprepend references = @{source.identifier}@</World/Robot>"
    stage = Usd.Stage.Open(layer(world(*[f'def "{name}" (\n{arcs}\n)\n{{\n}}' for name in ("A", "B")]), "scene.usda"))
    assert [discover(stage, f"/World/{name}", [f"/World/{name}/joints/hip"]) for name in ("A", "B")] == [
        [
            ActuatorSpec(
                f"/World/{name}/Actuators/act",
                (f"/World/{name}/joints/hip",),
                PDControlConfig(5.0, 0.0),
                (MaxEffortClampingConfig(math.inf),),
                DelayConfig(1),
            )
        ]
        for name in ("A", "B")
    ]


def payload_stage(load: Usd.Stage.InitialLoadSet) -> Usd.Stage:
    source = layer(f'def Scope "Actuators"\n{{\n{actuator(targets="")}\n}}')
    payload = f"prepend payload = @{source.identifier}@</Actuators>"
    text = robot(f'over "act"\n{{\nrel newton:targets = <{HIP}>\n}}')
    text = text.replace('def Scope "Actuators"', f'def Scope "Actuators" (\n{payload}\n)')
    twin = f'def "Twin" {ROOT_API}\n{{\ndef "parts" (\n{payload}\n)\n{{\n}}\n}}'
    return Usd.Stage.Open(layer(world(text, twin)), load)


def test_finds_actuators_of_a_loaded_payload():
    assert spec(payload_stage(Usd.Stage.LoadAll)).path == ACT


def test_unloaded_payload_is_named():
    stage = payload_stage(Usd.Stage.LoadNone)
    with pytest.warns(UserWarning, match=f"<{ROOT}>.*: {ROOT}/Actuators[.] Load them") as caught:
        assert specs(stage) == []
    assert len(caught) == 1 and "Twin" not in str(caught[0].message)


def test_unloaded_robot_is_named():
    source = layer(world(robot(actuator())))
    text = f'def "World"\n{{\ndef "Robot" (\nprepend payload = @{source.identifier}@</World/Robot>\n)\n{{\n}}\n}}'
    with pytest.warns(UserWarning, match=f"not loaded are not read: {ROOT}"):
        assert specs(Usd.Stage.Open(layer(text), Usd.Stage.LoadNone)) == []


@pytest.mark.parametrize("strong", [True, False], ids=["sublayer over prim", "prim over sublayer"])
def test_finds_actuators_across_sublayers(strong):
    values = override("float newton:kp = 5")
    prim = layer(
        f'over "World"\n{{\nover "Robot"\n{{\nover "Actuators"\n{{\n{actuator("float newton:kd = 1")}}}\n}}\n}}'
    )
    order = (values, prim) if strong else (prim, values)
    assert spec(stacked(*order, layer(world(robot())))).controller == PDControlConfig(5.0, 1.0)


def test_muted_layer_says_nothing():
    values = override("float newton:kp = 5")
    stage = stacked(values, layer(world(robot(actuator("float newton:kp = 1")))))
    stage.MuteLayer(values.identifier)
    assert spec(stage).controller.kp == 1.0


def test_finds_an_actuator_referenced_on_its_own():
    source = layer(actuator("float newton:kp = 5", targets=""), "act.usda")
    arc = f"prepend references = @{source.identifier}@</act>"
    text = f'def "act" (\n{arc}\n)\n{{\nrel newton:targets = <{HIP}>\n}}'
    assert spec(Usd.Stage.Open(layer(world(robot(text))))).controller.kp == 5.0


def test_finds_actuators_of_the_selected_variant():
    sets = "".join(
        f'"{variant}" {{\nover "Robot"\n{{\nover "Actuators"\n{{\n{actuator(f"float newton:kp = {kp}")}\n}}\n}}\n}}\n'
        for variant, kp in (("soft", 1), ("hard", 9))
    )
    text = world(robot()).replace(
        'def Xform "World"\n{',
        'def Xform "World" (\nvariants = {\nstring v = "hard"\n}\nprepend variantSets = "v"\n)\n{\n'
        f'variantSet "v" = {{\n{sets}}}\n',
        1,
    )
    assert spec(Usd.Stage.Open(layer(text))).controller.kp == 9.0


@cases(
    "text",
    actuator("float newton:kp = nan", metadata="active = false"),
    actuator("float newton:kp = nan", specifier="over NewtonActuator"),
    actuator("float newton:kp = nan", specifier="over"),
    actuator("float newton:kp = nan", specifier="class NewtonActuator"),
    actuator("float newton:kp = nan", specifier="def"),
    actuator("float newton:kp = nan", specifier="def Scope"),
    actuator("float newton:kp = nan", specifier="def NewtonActuatorLike"),
    ids=["inactive", "typed over", "over", "class", "untyped", "other type", "similar type"],
)
def test_ignores_what_is_no_actuator(text):
    assert specs(stage_of(text)) == []


def test_ignores_actuators_below_an_inactive_parent():
    stage = stage_of(actuator("float newton:kp = nan"))
    stage.GetPrimAtPath(f"{ROOT}/Actuators").SetActive(False)
    assert specs(stage) == []


def two_robots(first: str, second: str) -> Usd.Stage:
    return Usd.Stage.Open(layer(world(robot(first), robot(second).replace("Robot", "Twin"))))


def test_each_robot_gets_its_own_actuators():
    stage = two_robots(actuator(name="left"), actuator(name="right"))
    twin = discover(stage, "/World/Twin", [joint.replace("Robot", "Twin") for joint in JOINTS])
    assert [each.path for each in specs(stage) + twin] == [f"{ROOT}/Actuators/left", "/World/Twin/Actuators/right"]


def test_wrong_actuator_of_another_robot_does_no_harm():
    assert spec(two_robots(actuator(), actuator("float newton:kp = nan", targets=""))).path == ACT


def test_lists_every_actuator_of_the_stage():
    source = layer(world(robot(actuator(targets=""))))
    text = f'def "A" (\ninstanceable = true\nprepend references = @{source.identifier}@</World/Robot>\n)\n{{\n}}'
    stage = Usd.Stage.Open(layer(world(robot(actuator(name="own")), text)))
    assert actuator_paths(stage) == [f"{ROOT}/Actuators/own", "/World/A/Actuators/act"]


VALUES = {
    # line of the prim, and a pattern of the message
    "float newton:kp = nan": "newton:kp = nan (layer robot.usda): must be finite and >= 0",
    "float newton:kp = inf": "newton:kp = inf (layer robot.usda): must be finite and >= 0",
    "float newton:kp = -inf": "newton:kp = -inf (layer robot.usda): must be finite and >= 0",
    "float newton:kp = -1": "newton:kp = -1.0 (layer robot.usda): must be finite and >= 0",
    "double newton:kp = 1e308": "newton:kp = 1e+308 (layer robot.usda): must be finite and >= 0 in single precision",
    "double newton:kp = 1e39": "newton:kp = 1e+39 (layer robot.usda): must be finite and >= 0 in single precision",
    'string newton:kp = "abc"': "newton:kp = 'abc' (layer robot.usda): must be finite",
    'token newton:kp = "inf"': "newton:kp = 'inf' (layer robot.usda): must be finite",
    "bool newton:kp = true": "newton:kp = True (layer robot.usda): must be finite",
    "asset newton:kp = @x@": "newton:kp = Sdf.AssetPath(authoredPath='x') (layer robot.usda): must be finite",
    "float[] newton:kp = [1]": "(layer robot.usda): must be finite",
    "float2 newton:kp = (1, 2)": "(layer robot.usda): must be finite",
    "timecode newton:kp = 1": "(layer robot.usda): must be finite",
    "float newton:kd = -1": "newton:kd = -1.0 (layer robot.usda): must be finite and >= 0",
    "float newton:constEffort = inf": "newton:constEffort = inf (layer robot.usda): must be finite in",
    "float newton:constEffort = nan": "newton:constEffort = nan (layer robot.usda): must be finite in",
    "float newton:maxEffort = nan": "newton:maxEffort = nan (layer robot.usda): must be a number and >= 0",
    "float newton:maxEffort = -5": "newton:maxEffort = -5.0 (layer robot.usda): must be a number and >= 0",
    "double newton:maxEffort = 1e39": "newton:maxEffort = 1e+39 (layer robot.usda): must be a number and >= 0",
    "int newton:delaySteps = -1": "newton:delaySteps = -1 (layer robot.usda): must be an integer and >= 0 and <= 4096",
    "int newton:delaySteps = 4097": "newton:delaySteps = 4097 (layer robot.usda): must be an integer",
    "int newton:delaySteps = 2147483647": "newton:delaySteps = 2147483647 (layer robot.usda): must be an integer",
    "uint64 newton:delaySteps = 18446744073709551615": "newton:delaySteps = 18446744073709551615 (layer robot.usda)",
    "float newton:delaySteps = 2": "newton:delaySteps = 2.0 (layer robot.usda): must be an integer",
    "int64 newton:delaySteps = 1099511627776": "newton:delaySteps = 1099511627776 (layer robot.usda): must be",
    "half newton:kp = 70000": "newton:kp = inf (layer robot.usda): must be finite and >= 0",
    "float newton:maxEffort = -inf": "newton:maxEffort = -inf (layer robot.usda): must be a number and >= 0",
    "matrix2d newton:kp = ((1, 0), (0, 1))": "newton:kp = Gf.Matrix2d(1.0, 0.0, 0.0, 1.0) (layer robot.usda): must be",
    'pathExpression newton:kp = "/World//"': "newton:kp = Sdf.PathExpression('/World//') (layer robot.usda): must be",
    "rel newton:kp": "newton:kp (layer robot.usda) is a relationship: must be an attribute",
    f"rel newton:kd = <{HIP}>": "newton:kd (layer robot.usda) is a relationship: must be an attribute",
    f"float newton:kp.connect = <{HIP}.physics:axis>": "newton:kp (layer robot.usda) has a connection, but no value",
    f"float newton:kd = None\nfloat newton:kd.connect = <{ACT}.x>": "newton:kd (layer robot.usda) has a connection",
    "bool newton:delaySteps = 1": "newton:delaySteps = True (layer robot.usda): must be an integer",
    "float newton:kp.timeSamples = {\n0: 5,\n}": "newton:kp (layer robot.usda) has time samples",
    "int newton:delaySteps.timeSamples = {\n0: 5,\n}": "newton:delaySteps (layer robot.usda) has time samples",
    "double newton:kp.spline = {\nbezier,\n1: 5,\n}": "newton:kp (layer robot.usda) has time samples or a spline",
    "float newton:kp.timeSamples = {\n0: 5,\n}\nfloat newton:kp = None": "newton:kp (layer robot.usda) has time",
}
PRIMS = {
    "no targets": (actuator(targets=""), "newton:targets is empty"),
    "blocked targets": (actuator(targets="None"), "newton:targets is empty"),
    "targets are an attribute": (
        actuator('string newton:targets = "hip"', targets=""),
        "newton:targets (layer robot.usda) is an attribute: must be a relationship",
    ),
    "targets are an attribute without value": (
        actuator("token newton:targets", targets=""),
        "newton:targets (layer robot.usda) is an attribute: must be a relationship",
    ),
    "targets in a circle": (actuator(f"rel loop = <{ACT}.loop>", targets=f"<{ACT}.loop>"), "newton:targets is empty"),
    "no joint": (actuator(targets=f"<{ROOT}/joints/knee>"), f"newton:targets = <{ROOT}/joints/knee>: no such prim"),
    "target is a property": (
        actuator(targets=f"<{HIP}.physics:axis>"),
        f"newton:targets = <{HIP}.physics:axis>: no such axis of the joint, which has angular",
    ),
    "target is a fixed joint": (
        actuator(targets=f"<{ROOT}/joints/root_joint>"),
        f"newton:targets = <{ROOT}/joints/root_joint>: a PhysicsFixedJoint, must be a PhysicsRevoluteJoint, a",
    ),
    "target is a body": (actuator(targets=f"<{ROOT}/base>"), f"newton:targets = <{ROOT}/base>: a Xform, must be"),
    "second target is bad": (actuator(targets=f"[<{HIP}>, <{ROOT}/base>]"), f"newton:targets = <{ROOT}/base>: a Xform"),
    "target is inactive": (
        actuator('def PhysicsRevoluteJoint "off" (active = false)\n{\n}', targets=f"<{ACT}/off>"),
        f"newton:targets = <{ACT}/off>: no such prim, or it is inactive",
    ),
    "target is a mere over": (
        actuator('over PhysicsRevoluteJoint "ghost"\n{\n}', targets=f"<{ACT}/ghost>"),
        f"newton:targets = <{ACT}/ghost>: no such prim",
    ),
    "target is itself": (actuator(targets=f"<{ACT}>"), f"newton:targets = <{ACT}>: a NewtonActuator, must be"),
    "two controllers": (
        actuator(schemas=(PD, "NewtonPIDControlAPI")),
        "has controller schemas ['NewtonPDControlAPI', 'NewtonPIDControlAPI']: must have exactly one",
    ),
    "schema twice in a list": (actuator(schemas=(PD, PD)), "has controller schemas none: must have exactly one"),
    "network without a file": (
        actuator(schemas=("NewtonNeuralControlAPI",)),
        "newton:modelPath is not authored: must be the path of a file",
    ),
    "network with a blocked file": (
        actuator("asset newton:modelPath = None", schemas=("NewtonNeuralControlAPI",)),
        "newton:modelPath is not authored: must be the path of a file",
    ),
    "network with an empty file": (
        actuator("asset newton:modelPath = @@", schemas=("NewtonNeuralControlAPI",)),
        "newton:modelPath = '' (layer robot.usda): must be the path of a file",
    ),
    "network with a number": (
        actuator("float newton:modelPath = 1", schemas=("NewtonNeuralControlAPI",)),
        "newton:modelPath = 1.0 (layer robot.usda): must be the path of a file",
    ),
    "no table": (
        actuator(schemas=(PD, TABLE)),
        "newton:lookupPositions has 0 values, newton:lookupEfforts 0: must be equally many, at least one",
    ),
    "table of unequal columns": (
        actuator("float[] newton:lookupPositions = [0, 1]", "float[] newton:lookupEfforts = [1]", schemas=(PD, TABLE)),
        "newton:lookupPositions has 2 values, newton:lookupEfforts 1: must be equally many",
    ),
    "unsorted table": (
        actuator(
            "float[] newton:lookupPositions = [3, 2, 1]",
            "float[] newton:lookupEfforts = [1, 1, 1]",
            schemas=(PD, TABLE),
        ),
        "newton:lookupPositions[1] = 2.0 comes after 3.0: must not decrease",
    ),
    "table of too many rows": (
        actuator(
            f"float[] newton:lookupPositions = {[0] * (MAX_TABLE_ROWS + 1)}",
            "float[] newton:lookupEfforts = [1]",
            schemas=(PD, TABLE),
        ),
        "must be numbers, each finite in single precision, 100000 of them at most",
    ),
    "table with nan": (
        actuator("float[] newton:lookupPositions = [0]", "float[] newton:lookupEfforts = [nan]", schemas=(PD, TABLE)),
        "newton:lookupEfforts = [nan] (layer robot.usda): must be numbers, each finite and >= 0",
    ),
    "pair instead of a table": (
        actuator(
            "float2 newton:lookupPositions = (0, 1)", "float[] newton:lookupEfforts = [1, 1]", schemas=(PD, TABLE)
        ),
        "newton:lookupPositions = Gf.Vec2f(0.0, 1.0) (layer robot.usda): must be numbers, each finite",
    ),
    "no speed": (
        actuator("float newton:velocityLimit = 0", schemas=(PD, "NewtonDCMotorClampingAPI")),
        "newton:velocityLimit = 0.0 (layer robot.usda): must be a number and > 0",
    ),
    "speed that single precision takes for zero": (
        actuator("double newton:velocityLimit = 1e-60", schemas=(PD, "NewtonDCMotorClampingAPI")),
        "newton:velocityLimit = 1e-60 (layer robot.usda): must be a number and > 0 in single precision",
    ),
    "no schema": (actuator(schemas=()), "has controller schemas none: must have exactly one"),
    "no controller": (actuator(schemas=(CLAMP, DELAY)), "has controller schemas none: must have exactly one"),
    "foreign controller": (actuator(schemas=("AcmePDControlAPI",)), "AcmePDControlAPI may be your own law."),
}
PROBLEMS = {row.split("\n")[0]: (actuator(row), says) for row, says in VALUES.items()} | PRIMS
every_problem = pytest.mark.parametrize(("text", "says"), PROBLEMS.values(), ids=PROBLEMS)


@every_problem
def test_problem_names_prim_attribute_layer_and_value(text, says):
    (issue,) = issues(stage_of(text))
    assert issue.startswith(f"<{ACT}>") and says in issue and "\n" not in issue


@every_problem
def test_problem_ends_with_a_remedy(text, says):
    (issue,) = issues(stage_of(text))
    assert any(remedy in issue.split(says)[1] for remedy in REMEDIES)


def test_long_value_is_cut():
    (issue,) = issues(stage_of(actuator(f"float[] newton:kp = {list(range(10_000))}")))
    assert len(issue) < 400 and "… (layer robot.usda): must be finite" in issue


@pytest.mark.parametrize("stronger", ["rel newton:kp", 'string newton:targets = "hip"'])
def test_stronger_layer_of_the_wrong_kind_is_named(stronger):
    (issue,) = issues(stacked(override(stronger), layer(world(robot(actuator("float newton:kp = 5"))))))
    assert f".{stronger.split()[1]} (layer opinion.usda) is a" in issue


def test_value_beats_its_connection():
    stage = stage_of(actuator("float newton:kp = 5", f"float newton:kp.connect = <{HIP}.x>"))
    assert spec(stage).controller.kp == 5.0


def test_cut_connection_falls_back():
    weak = layer(world(robot(actuator(f"float newton:kp.connect = <{HIP}.x>"))))
    assert spec(stacked(override("float newton:kp.connect = None"), weak)).controller.kp == 0.0


@cases(
    "schema",
    *("PhysxJointAPI", "AcmeControlAPI", "AcmeClampingAPI:left", "CollectionAPI:parts"),
    *("AcmePDControlAPI", "AcmeNewtonPDControlAPI", "PhysicsArticulationRootAPI", "PhysxArticulationAPI"),
    *("\u0430\u043a\u0442\u0443\u0430\u0442\u043e\u0440" * 2, "N" * 10_000),
)
def test_foreign_schema_is_ignored(schema):
    assert spec(stage_of(actuator(schemas=(PD, schema)))) == spec(stage_of(actuator(schemas=(PD,))))


def test_type_name_does_not_vouch_for_the_value():
    stage = stacked(override("float newton:kp"), layer(world(robot(actuator('string newton:kp = "abc"')))))
    attribute = stage.GetPrimAtPath(ACT).GetAttribute("newton:kp")
    assert (attribute.GetTypeName(), attribute.Get()) == ("float", "abc") and "newton:kp = 'abc'" in issues(stage)[0]


@pytest.mark.parametrize("declaration", ["float newton:kp", 'float newton:kp (\ndoc = "stiff"\n)'])
def test_problem_names_the_layer_that_holds_the_value(declaration):
    stage = stacked(override(declaration), layer(world(robot(actuator("float newton:kp = nan")))))
    assert "newton:kp = nan (layer robot.usda)" in issues(stage)[0]


def test_problem_names_the_strongest_value():
    stage = stacked(override("float newton:kp = nan"), layer(world(robot(actuator("float newton:kp = 5")))))
    assert "newton:kp = nan (layer opinion.usda)" in issues(stage)[0]


def test_joint_has_one_actuator():
    (issue,) = issues(stage_of(actuator(name="one"), actuator(name="two")))
    assert issue.startswith(
        f"<{ROOT}/Actuators/two>.newton:targets = <{HIP}>: already driven by <{ROOT}/Actuators/one>"
    )


def test_actuator_of_a_robot_drives_that_robot():
    stage = two_robots(actuator(targets="</World/Twin/joints/hip>"), "")
    expected = f"<{ACT}>.newton:targets = </World/Twin/joints/hip>: not a joint of the articulation <{ROOT}>"
    assert issues(stage)[0].startswith(expected)


def test_actuator_drives_one_robot():
    stage = two_robots(actuator(targets=f"[<{HIP}>, </World/Twin/joints/hip>]"), "")
    with pytest.raises(ActuatorParseError) as caught:
        discover(stage, "/World/Twin", [joint.replace("Robot", "Twin") for joint in JOINTS])
    assert len(issues(stage)) == 1 and f"<{HIP}>: not a joint of the articulation </World/Twin>" in str(caught.value)


def test_two_controllers_one_of_which_cannot_be_used():
    values = ("kp", 1), ("errorGain", 1), ("voltage", 5), ("maxDuty", 0.1), ("minDuty", 0.5)
    rows = [f"float actuator:servo:{name} = {value}" for name, value in values]
    (issue,) = issues(stage_of(actuator(*rows, schemas=("ActuatorServoControlAPI", PD))))
    assert "actuator:servo:minDuty = 0.5: must be at most actuator:servo:maxDuty" in issue


def test_all_problems_are_reported_at_once():
    stage = stage_of(
        actuator("float newton:kp = nan", "float newton:kd = -1", "int newton:delaySteps = -1", name="one"),
        actuator("float newton:maxEffort = nan", name="two", targets="", schemas=(CLAMP,)),
        actuator(name="three", targets=f"[<{HIP}>, <{SLIDE}>]"),
    )
    assert [issue.removeprefix(f"<{ROOT}/Actuators/").split(":")[0:2] for issue in issues(stage)] == [
        ["one>.newton", "kp = nan (layer robot.usda)"],
        ["one>.newton", "kd = -1.0 (layer robot.usda)"],
        ["one>.newton", "delaySteps = -1 (layer robot.usda)"],
        ["two>.newton", "targets is empty"],
        ["two>.newton", "maxEffort = nan (layer robot.usda)"],
        ["two> has controller schemas none", " must have exactly one. Apply one or deactivate the prim."],
        ["three>.newton", f"targets = <{HIP}>"],
    ]


def test_error_is_a_value_error_with_one_line_per_problem():
    error = ActuatorParseError(["first", "second"])
    assert isinstance(error, ValueError) and str(error).split("\n") == list(error.issues) == ["first", "second"]


HINTS = {
    # authored property, and a pattern of the warning
    "float newton:Kp = 5": "Did you mean newton:kp?",
    "float newton:kpp = 5": "Did you mean newton:kp?",
    "float newton:max_effort = 5": "Did you mean newton:maxEffort?",
    "float newton:MAXEFFORT = 5": "Did you mean newton:maxEffort?",
    "float newton:maxEfort = 5": "Did you mean newton:maxEffort?",
    "int newton:delay_steps = 5": "Did you mean newton:delaySteps?",
    "float newton:const_effort": "Did you mean newton:constEffort?",
    f"rel newton:target = <{HIP}>": "Did you mean newton:targets?",
    "float newton:ki = 5": "Apply NewtonPIDControlAPI or remove it.",
    "float newton:velocityLimit = 5": "Apply NewtonDCMotorClampingAPI or remove it.",
    "float newton:velocity_limit = 5": "mean newton:velocityLimit? Then apply NewtonDCMotorClampingAPI as well.",
    "float newton:zzz = 5": "Known are newton:targets, newton:kp, newton:kd, newton:constEffort, newton:maxEffort, "
    "newton:delaySteps. Use one of these or remove it.",
    "float newton:kp:x = 5": "Did you mean newton:kp?",
    "int newton:maxDelay = 5": "Give it the value of newton:delaySteps, which is read, or remove it.",
}


def test_delay_that_isaac_lab_authors_twice_is_one() -> None:
    """`newton:maxDelay` beside an equal `newton:delaySteps`: no warning, which would be an error here."""
    (spec,) = specs(stage_of(actuator("int newton:delaySteps = 3", "int newton:maxDelay = 3")))
    assert spec.delay == DelayConfig(3)


@pytest.mark.parametrize(("row", "hint"), HINTS.items(), ids=HINTS)
def test_property_without_effect_is_named(row, hint):
    with pytest.warns(UserWarning) as caught:
        specs(stage_of(actuator(row)))
    name = row.split()[1]
    (warning,) = (str(each.message) for each in caught)
    assert warning.startswith(f"<{ACT}>.{name} (layer robot.usda): ") and warning.endswith(hint)


@pytest.mark.parametrize("row", ["float Newton:kp = 5", "float NEWTON:kp = 5", "float n\u0435wton:kp = 5"])
def test_namespace_that_looks_like_ours_is_named(row):
    with pytest.warns(UserWarning, match=r"no schema applied here has it, .* Did you mean newton:kp\?") as caught:
        specs(stage_of(actuator(row)))
    (warning,) = (str(each.message) for each in caught)
    assert warning.isascii()


def test_hint_names_the_schemas_that_have_the_property():
    stage = stage_of(actuator("float newton:kp = 5", schemas=(CLAMP,)))
    with pytest.warns(UserWarning, match="Apply NewtonPDControlAPI or NewtonPIDControlAPI or "):
        issues(stage)


def test_one_warning_lists_all_properties_of_a_prim():
    first = actuator("float newton:Kp = 5", "float newton:Kd = 5", name="one")
    stage = stage_of(first, actuator("float newton:KP = 5", name="two", targets=f"<{SLIDE}>"))
    with pytest.warns(UserWarning) as caught:
        specs(stage)
    lines = [[line.split(" (")[0] for line in str(each.message).split("\n")] for each in caught]
    prims = [f"<{ROOT}/Actuators/{name}>" for name in ("one", "two")]
    assert lines == [[f"{prims[0]}.newton:Kd", f"{prims[0]}.newton:Kp"], [f"{prims[1]}.newton:KP"]]


def test_layer_of_a_property_without_effect_is_that_of_its_value():
    with pytest.warns(UserWarning, match="newton:Kp \\(layer opinion.usda\\)"):
        specs(stacked(override("float newton:Kp = 5"), layer(world(robot(actuator())))))


@pytest.mark.parametrize(
    "row",
    ["float physics:mass = 1", "float kp = 5", "float acme:kp = 5", "float newtonKp = 5", 'string userDocBrief = ""'],
)
def test_properties_of_others_are_not_ours(row):
    assert spec(stage_of(actuator(row))).path == ACT


UNKNOWN = {
    "misspelled": ("NewtonMaxEfortClampingAPI", f"this version knows {KNOWN}. Did you mean {CLAMP}?"),
    "with an instance name": (f"{CLAMP}:left", f"Did you mean {CLAMP}?"),
    "of a later version": ("NewtonZigzagAPI", f"this version knows {KNOWN}. Use one of these or remove it."),
    "of a later version of ours": ("ActuatorZigzagAPI", f"this version knows {KNOWN}. Use one of these or remove it."),
    "no API": ("NewtonThing", f"this version knows {KNOWN}. Use one of these or remove it."),
}


@pytest.mark.parametrize(("schema_name", "says"), UNKNOWN.values(), ids=UNKNOWN)
def test_unknown_schema_leaves_the_actuator_usable(schema_name, says):
    stage = stage_of(actuator("float newton:magic = 5", schemas=(PD, schema_name)))
    with pytest.warns(UserWarning) as warned:
        found = spec(stage)
    of_schema, of_property = (str(each.message) for each in warned)
    assert of_schema.startswith(f"<{ACT}> applies {schema_name}, which has no effect: ")
    assert says in of_schema and "own drives" not in of_schema
    assert of_property.startswith(f"<{ACT}>.newton:magic (layer robot.usda): no schema applied here has it")
    assert isinstance(found.controller, PDControlConfig) and not found.clamping


ALIKE = {
    # authored schema, as the warning shows it, and the suggestion
    "newtonPIDControlAPI": ("newtonPIDControlAPI", "NewtonPIDControlAPI"),
    "NEWTONPIDCONTROLAPI": ("NEWTONPIDCONTROLAPI", "NewtonPIDControlAPI"),
    "NewtonPIDControl": ("NewtonPIDControl", "NewtonPIDControlAPI"),
    "NewtonMaxEffortClampingApi": ("NewtonMaxEffortClampingApi", CLAMP),
    "NewtonMaxEfortClamping": ("NewtonMaxEfortClamping", CLAMP),
    "newtonActuatorDelayAPI:left": ("newtonActuatorDelayAPI:left", DELAY),
    "N\u0435wt\u043en\u0420ID\u0421ontr\u043el\u0410\u0420\u0406": (
        r"N\u0435wt\u043en\u0420ID\u0421ontr\u043el\u0410\u0420\u0406",
        "NewtonPIDControlAPI",
    ),
    "\uff2eewtonPIDControlAPI": (r"\uff2eewtonPIDControlAPI", "NewtonPIDControlAPI"),
    "NewtonPIDControl\u200bAPI": (r"NewtonPIDControl\u200bAPI", "NewtonPIDControlAPI"),
    "\ufeffNewtonPIDControlAPI": (r"\ufeffNewtonPIDControlAPI", "NewtonPIDControlAPI"),
    "NewtonPIDControlAPI ": (r"NewtonPIDControlAPI\x20", "NewtonPIDControlAPI"),
    "Newton:PIDControlAPI": ("Newton:PIDControlAPI", "NewtonPIDControlAPI"),
    "newton_pid_control_api": ("newton_pid_control_api", "NewtonPIDControlAPI"),
    "PIDControlAPI": ("PIDControlAPI", "NewtonPIDControlAPI"),
    "ActuatorDelayAPI": ("ActuatorDelayAPI", DELAY),
    "MaxEfortClampingAPI": ("MaxEfortClampingAPI", CLAMP),
    "ArticulationMaxEffortClampingAPI": ("ArticulationMaxEffortClampingAPI", CLAMP),
    "NewtonPIDControlAPI" + 500 * "\u200b": ("NewtonPIDControlAPI" + 181 * r"\u200b" + "…", "NewtonPIDControlAPI"),
}


@pytest.mark.parametrize(
    ("schema_name", "shown", "meant"), [(one, *two) for one, two in ALIKE.items()], ids=map(ascii, ALIKE)
)
def test_schema_that_looks_like_a_known_one_is_named(schema_name, shown, meant):
    with pytest.warns(UserWarning) as caught:
        found = spec(stage_of(actuator(schemas=(PD, schema_name))))
    (warning,) = (str(each.message) for each in caught)
    assert warning.startswith(f"<{ACT}> applies {shown}, which has no effect: ") and f"Did you mean {meant}?" in warning
    assert isinstance(found.controller, PDControlConfig) and not found.clamping


def test_misspelt_controller_alone_is_an_error():
    with pytest.warns(UserWarning, match=r"applies newtonPDControlAPI, .* or remove it\.$"):
        assert "has controller schemas none" in issues(stage_of(actuator(schemas=("newtonPDControlAPI",))))[0]


def test_unknown_controller_leaves_the_joint_to_its_drive():
    text = actuator(name="magic", schemas=("NewtonMagicControlAPI",))
    stage = stage_of(text, actuator(name="known", targets=f"<{SLIDE}>"))
    with pytest.warns(UserWarning, match=r"applies NewtonMagicControlAPI.*\. Its joints keep their own drives"):
        assert [found.path for found in discover(stage, ROOT, JOINTS)] == [f"{ROOT}/Actuators/known"]
    with (
        pytest.warns(UserWarning),
        pytest.raises(ActuatorParseError, match=r"'NewtonMagicControlAPI'\]: must have a controller"),
    ):
        parse_prim(stage.GetPrimAtPath(f"{ROOT}/Actuators/magic"))


@pytest.fixture
def acme(monkeypatch) -> None:
    """The host program has components for two schemas of its own, inside this test."""
    monkeypatch.setattr(schema, "_foreign", {})
    schema.accept_schema("AcmeGripAPI", "controller")
    schema.accept_schema("AcmeLagAPI", "delay")
    schema.accept_schema("AcmeSlideAPI", "controller", ("slide_force",))


def test_properties_for_a_component_of_the_host_are_not_judged(acme):
    found = spec(stage_of(actuator("float newton:gripForce = 5", schemas=("AcmeGripAPI", CLAMP))))
    assert found.controller == ForeignConfig("AcmeGripAPI", "controller", {"grip_force": 5.0})


def test_misspelt_parameter_of_a_component_of_the_host_is_named(acme):
    with pytest.warns(UserWarning, match="Did you mean newton:slideForce of AcmeSlideAPI") as warned:
        spec(stage_of(actuator("float newton:slideForce = 5\nfloat newton:slidForce = 4", schemas=("AcmeSlideAPI",))))
    (line,) = (str(each.message) for each in warned)
    assert line.startswith(f"<{ACT}>.newton:slidForce (layer robot.usda): no schema applied here has it")
    for text, says in {
        "float newton:slidForce = 4": ".newton:slidForce: AcmeSlideAPI has no such parameter, and needs newton:slide",
        "float newton:other = 4": ": AcmeSlideAPI needs newton:slideForce, which is not authored.",
    }.items():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            (issue,) = issues(stage_of(actuator(text, schemas=("AcmeSlideAPI",))))
        assert issue.startswith(f"<{ACT}>{says}") and len(caught) == ("other" in text)


def test_parameters_of_a_law_that_is_not_registered_are_not_judged():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (issue,) = issues(stage_of(actuator("float newton:slidForce = 4", schemas=("AcmeSlideAPI",))))
    assert "AcmeSlideAPI may be your own law. Use --plugin with its Python file" in issue


def test_prim_has_one_delay(acme):
    (issue,) = issues(stage_of(actuator(schemas=(PD, DELAY, "AcmeLagAPI"))))
    assert issue.startswith(
        f"<{ACT}> has delay schemas ['NewtonActuatorDelayAPI', 'AcmeLagAPI']: must have at most one"
    )


@pytest.mark.parametrize("path", ["/", ROOT, HIP])
def test_prim_that_is_no_actuator_gives_nothing(path):
    assert parse_prim(stage_of(actuator()).GetPrimAtPath(path)) is None


def test_prim_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match=r"no such prim on the stage[.] Give the path"):
        parse_prim(stage_of().GetPrimAtPath(ACT))


@pytest.mark.parametrize("specifier", ["def", "over", "class"])
def test_prim_is_parsed_wherever_it_stands(specifier):
    prim = actuator("float newton:kp = 5", specifier=f"{specifier} NewtonActuator", metadata="active = false")
    stage = stage_of(prim)
    assert parse_prim(stage.GetPrimAtPath(ACT)).controller == PDControlConfig(5.0, 0.0)


def test_actuator_of_nobody_is_named():
    parts = (robot(actuator()), robot(actuator()).replace("Robot", "Twin"), actuator(name="lost", targets=""))
    stage = Usd.Stage.Open(layer(world(*parts)))
    with pytest.warns(UserWarning, match="</World/lost> is ignored: it drives no joint of an articulation") as caught:
        assert spec(stage).path == ACT
    assert len(caught) == 1


class Trap:
    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self):
        return (open, (self.path, "w"))


def test_model_file_is_not_opened(tmp_path):
    trap, sprung = tmp_path / "trap.pt", tmp_path / "sprung"
    trap.write_bytes(pickle.dumps(Trap(str(sprung))))
    trap.chmod(0)
    found = spec(stage_of(actuator(f"asset newton:modelPath = @{trap}@", schemas=("NewtonNeuralControlAPI",))))
    assert (found.controller.model_path, sprung.exists()) == (str(trap), False)


@pytest.mark.parametrize("path", ["../../../../etc/passwd", "/nowhere/net.onnx", "http://127.0.0.1:9/net.onnx"])
def test_model_path_is_kept_as_authored(path):
    found = spec(stage_of(actuator(f"asset newton:modelPath = @{path}@", schemas=("NewtonNeuralControlAPI",))))
    assert found.controller.model_path == path


rows = st.builds(
    "{} newton:{} = {}".format,
    st.sampled_from(["float", "double", "int", "half"]),
    st.sampled_from(["kp", "kd", "constEffort", "maxEffort", "delaySteps"]),
    st.sampled_from(["0", "1", "3", "-1", "4097", "None"]),
) | st.sampled_from([*VALUES, "int newton:kp"])
prims = st.builds(
    lambda values, targets, schemas: actuator(*values, targets=targets, schemas=tuple(schemas)),
    st.lists(rows, max_size=4, unique_by=lambda row: row.split(":")[1].split()[0].split(".")[0]),
    st.sampled_from([f"<{HIP}>", f"<{SLIDE}>", f"[<{HIP}>, <{SLIDE}>]", "", "None", f"<{ROOT}/base>", "</Nowhere>"]),
    st.lists(st.sampled_from([PD, CLAMP, DELAY, "PhysxJointAPI", "NewtonMagicControlAPI"]), unique=True),
)


@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(prims)
@pytest.mark.slow
def test_any_prim_gives_a_good_spec_or_a_parse_error(text):
    try:
        with warnings.catch_warnings():
            # values of schemas that are not applied
            warnings.simplefilter("ignore", UserWarning)
            (found,) = specs(stage_of(text)) or (None,)
    except ActuatorParseError:
        return
    if found is None:
        assert "NewtonMagicControlAPI" in text and PD not in text, "no controller that is known"
        return
    parts = [found.controller, *found.clamping, *([found.delay] if found.delay else [])]
    assert all(
        described.accepts(getattr(part, name)) for part in parts for name, described in parameters_of(part).items()
    )


# schemas of our own, by the names that they have had

NUMBERS = {config: list(parameters_of(config).values()) for config in OURS}
VALUES = {"bool": "1", "float[]": "[2]", "token[]": '["j"]'}
VALUED = {
    config: [
        f"{one.type} {one.attribute} = "
        + (f'"{one.choices[-1]}"' if one.choices else f"{VALUES.get(one.type, min(2, one.upper))}")
        for one in described
    ]
    for config, described in NUMBERS.items()
}
# names and numbers that belong together
VALUED[LinkageConfig] = ['token[] actuator:linkage:joints = ["act"]', "float[] actuator:linkage:coefficients = [2]"]
BAD = {
    config: [f"float {one.attribute} = -inf" for one in described if one.type == "float"]
    for config, described in NUMBERS.items()
}


def own(config, *names, rows=()) -> str:
    """Text of an actuator that applies a schema of ours by some of its names."""
    others = () if config.KIND == "controller" else (PD,), (CLAMP,), () if config.KIND == "delay" else (DELAY,)
    return actuator(*rows, schemas=(*names, *itertools.chain.from_iterable(others)))


def said_of(text: str) -> tuple:
    problems = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = discover(stage_of(text), ROOT, JOINTS, issues=problems)
    return repr(found), problems, [str(one.message) for one in caught]


@pytest.mark.parametrize("config", [config for config in OURS if config.EARLIER_SCHEMA])
@pytest.mark.parametrize("rows", [{}, VALUED, BAD], ids=["fallbacks", "values", "problems"])
def test_earlier_name_of_a_schema_is_read_as_that_of_today(config, rows):
    today, earlier = config.SCHEMA, config.EARLIER_SCHEMA
    said = said_of(own(config, today, rows=rows.get(config, ())))
    assert config.__name__ in said[0] and bool(said[1]) is (rows is BAD) and not said[2]
    for names in ([earlier], [today, earlier], [earlier, today]):
        assert said_of(own(config, *names, rows=rows.get(config, ()))) == said


def test_earlier_name_is_no_name_to_register():
    for name in (name for config in OURS for name in (config.SCHEMA, config.EARLIER_SCHEMA) if name):
        with pytest.raises(ValueError, match=f"{name} is built in"):
            register_actuator_component(name, ControllerPD, ComponentKind.CONTROLLER)


SCRIPT = """
import sys
import warnings
if sys.argv[1] == "newton's":
    import newton_usd_schemas
if sys.argv[1] == "all":
    from isaacsim.core.experimental.actuators.files.usd.plugin import register_schemas
    register_schemas()
from pxr import Usd
from isaacsim.core.experimental.actuators.base.errors import ActuatorParseError
from isaacsim.core.experimental.actuators.files.usd.discover import discover

def read(path):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            said = repr(discover(Usd.Stage.Open(path), sys.argv[2], sys.argv[3].split()))
        except ActuatorParseError as error:
            said = str(error)
    return "\\n".join([said, *(str(each.message) for each in caught)])

registry = Usd.SchemaRegistry()
registered = [
    registry.FindConcretePrimDefinition("NewtonActuator") is not None,
    registry.FindAppliedAPIPrimDefinition("ActuatorGearedPDControlAPI") is not None,
]
print([registered, *(read(path) for path in sys.argv[4:])])
"""
GOOD = {
    f"good {values}": actuator(*values)
    for values in ((), ("float newton:kp = 5",), ("float newton:kp = None",), ("int newton:delaySteps = 0",))
}
OWN = [
    own(config, *names, rows=rows.get(config, ()))
    for config in OURS
    for names in ([config.SCHEMA], [config.SCHEMA, config.EARLIER_SCHEMA], [config.EARLIER_SCHEMA])
    for rows in ({}, VALUED, BAD)
    if all(names)
]
PLUGINS = {"none": [False, False], "newton's": [True, False], "all": [True, True]}


@pytest.fixture(scope="module")
def readings(tmp_path_factory) -> dict[str, list[str]]:
    """Results of reading many files in a new Python process, with the schema plugins and without."""
    folder = tmp_path_factory.mktemp("readings")
    files = []
    for text in (*GOOD.values(), *map(actuator, HINTS), *(text for text, _ in PROBLEMS.values()), *OWN):
        files.append(folder / f"robot{len(files)}.usda")
        files[-1].write_text(f"#usda 1.0\n{world(robot(text))}")
    # type and value disagree only across layers
    strong = folder / "strong.usda"
    rows = override("double newton:kp").ExportToString()
    strong.write_text(rows.replace("#usda 1.0", f"#usda 1.0\n(\nsubLayers = [@./{files[0].name}@]\n)"))
    return {plugins: fresh_python(plugins, ROOT, " ".join(JOINTS), *map(str, [*files, strong])) for plugins in PLUGINS}


def fresh_python(*arguments: str) -> list:
    """Run the script in a new process, because a plugin cannot be unregistered."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = ran([sys.executable, "-W", "error", "-c", SCRIPT, *arguments], env=environment)
    assert done.returncode == 0, done.stderr
    return ast.literal_eval(done.stdout)


@pytest.mark.slow
def test_plugin_changes_nothing(readings):
    assert readings["all"][1:] == readings["newton's"][1:] == readings["none"][1:]


@pytest.mark.parametrize("plugins", PLUGINS)
def test_plugin_is_registered_where_it_should_be(readings, plugins):
    assert readings[plugins][0] == PLUGINS[plugins]


def test_plugin_comparison_reads_specs_and_problems(readings):
    texts = [*readings["all"][1 : -1 - len(OWN)], readings["all"][-1]]
    good = [text.startswith("[ActuatorSpec(") for text in texts]
    assert good == [*(True for _ in (*GOOD, *HINTS)), *(False for _ in PROBLEMS), True]
    assert all(any(config.__name__ in text for text in readings["all"][-1 - len(OWN) :]) for config in OURS)
    expected = [False] * len(GOOD) + [True] * len(HINTS) + [False] * len(PROBLEMS)
    assert ["has it, so it has no effect" in text for text in texts[:-1]] == expected


@pytest.mark.parametrize(
    ("stall", "speed", "idle"),
    [("inf", "8", True), ("inf", "inf", False), ("20", "8", False), ("20", "inf", False), (None, "8", True)],
)
def test_speed_limit_without_a_stall_effort_is_warned_of(stall, speed, idle) -> None:
    values = [f"float newton:velocityLimit = {speed}"]
    if stall is not None:
        values.append(f"float newton:saturationEffort = {stall}")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        discover(stage_of(actuator(*values, schemas=(PD, "NewtonDCMotorClampingAPI"))), ROOT, JOINTS)
    assert [str(warning.message) for warning in caught] == [
        f"<{ACT}>: newton:velocityLimit = 8 has no effect, for an infinite newton:saturationEffort switches the speed "
        "curve off. Author the stall effort."
    ] * idle


def test_marker_schemas_are_ignored() -> None:
    stage = Usd.Stage.CreateInMemory()
    UsdPhysics.ArticulationRootAPI.Apply(stage.DefinePrim("/Robot", "Xform"))
    UsdPhysics.RevoluteJoint.Define(stage, "/Robot/knee")
    prim = add_actuator("/Robot", "knee", "knee", PDControlConfig(1.0, 2.0), stage=stage)
    for marker in ("NewtonActuatorControlBaseAPI", "NewtonActuatorClampingBaseAPI"):
        prim.AddAppliedSchema(marker)
    (spec,) = discover(stage, "/Robot", ["/Robot/knee"])
    assert spec.controller == PDControlConfig(1.0, 2.0)


def stage_with(*joints: str, roots: tuple[str, ...], doors: tuple[str, ...] = ()) -> Usd.Stage:
    stage = Usd.Stage.CreateInMemory()
    for path in roots:
        UsdPhysics.ArticulationRootAPI.Apply(stage.DefinePrim(path, "Xform"))
    for path in (*joints, *doors):
        hinge = UsdPhysics.RevoluteJoint.Define(stage, path)
        robot = path.rsplit("/", 1)[0]
        for side, link in zip((hinge.CreateBody0Rel(), hinge.CreateBody1Rel()), ("base", "link"), strict=True):
            side.SetTargets([stage.DefinePrim(f"{robot}/{link}", "Xform").GetPath()])
    return stage


# one robot at each of these places: its root, one joint, and where its actuators may lie
PLACES = {
    "root is the robot": ("/World/R", "/World/R/hip", "/World/R/Actuators/act"),
    "root is a link": ("/World/R/base", "/World/R/hip", "/World/R/Actuators/act"),
    "root is a joint": ("/World/R/joints/fix", "/World/R/joints/hip", "/World/R/Actuators/act"),
    "all lies deeper": ("/World/R/body/base", "/World/R/body/base/hip", "/World/R/Actuators/act"),
    "robot is a root prim": ("/R/base", "/R/base/hip", "/R/Actuators/act"),
    "actuators below the root": ("/World/R/base", "/World/R/hip", "/World/R/base/Actuators/act"),
}
every_place = pytest.mark.parametrize(("root", "joint", "actuator"), PLACES.values(), ids=PLACES)
BROKEN = pytest.mark.parametrize("targets", [[], ["/Nowhere"], ["/World"]], ids=["empty", "no prim", "no joint"])


@every_place
@BROKEN
def test_broken_prim_belongs_to_its_robot(root, joint, actuator, targets):
    stage = stage_with(joint, roots=(root, "/World/Other/base", "/Third"))
    assert Ownership(stage, root, [joint]).of(actuator, targets) == "ours"


@every_place
@BROKEN
def test_broken_prim_concerns_no_other_robot(root, joint, actuator, targets):
    stage = stage_with(joint, "/World/Other/base/hip", roots=(root, "/World/Other/base"))
    assert Ownership(stage, "/World/Other/base", ["/World/Other/base/hip"]).of(actuator, targets) == "another's"


def test_driver_of_a_joint_belongs_to_its_robot_wherever_it_lies():
    stage = stage_with("/World/A/hip", "/World/B/hip", roots=("/World/A", "/World/B"))
    owner = Ownership(stage, "/World/A", ["/World/A/hip"])
    places = ("/World/A/act", "/World/B/act", "/World/act", "/act")
    assert [owner.of(place, ["/World/A/hip"]) for place in places] == ["ours"] * 4


def test_robot_is_asked_about_its_prim_that_drives_another_one():
    stage = stage_with("/World/A/base/hip", "/World/B/base/hip", roots=("/World/A/base", "/World/B/base"))
    owner = Ownership(stage, "/World/A/base", ["/World/A/base/hip"])
    assert owner.of("/World/A/Actuators/act", ["/World/B/base/hip"]) == "ours"


def test_only_robot_claims_the_whole_world():
    stage = stage_with("/World/A/hip", roots=("/World/A",))
    assert Ownership(stage, "/World/A", ["/World/A/hip"]).of("/World/Actuators/act", []) == "ours"


def test_prim_between_robots_goes_to_the_one_it_points_at():
    stage = stage_with("/World/A/hip", "/World/B/hip", roots=("/World/A", "/World/B"))
    owners = [Ownership(stage, f"/World/{name}", [f"/World/{name}/hip"]) for name in "AB"]
    assert [owner.of("/World/act", ["/World/B/hp"]) for owner in owners] == ["another's", "ours"]


@pytest.mark.parametrize("path", ["/World/act", "/act", "/Elsewhere/act"])
@BROKEN
def test_prim_between_robots_belongs_to_nobody(path, targets):
    stage = stage_with("/World/A/hip", "/World/B/hip", roots=("/World/A", "/World/B"))
    owners = [Ownership(stage, f"/World/{name}", [f"/World/{name}/hip"]) for name in "AB"]
    assert [owner.of(path, targets) for owner in owners] == ["nobody's", "nobody's"]


@pytest.mark.parametrize(
    ("path", "owner"), [("/World/A/Actuators/act", "/World/A"), ("/World/A/hand/Actuators/act", "/World/A/hand/base")]
)
def test_prim_of_a_robot_in_a_robot_belongs_to_the_inner_one(path, owner):
    roots = ("/World/A", "/World/A/hand/base", "/World/B")
    stage = stage_with(roots=roots)
    assert [root for root in roots if Ownership(stage, root, [f"{root}/hip"]).of(path, []) == "ours"] == [owner]


@pytest.mark.parametrize("roots", [("/World/A",), ("/World/A", "/World/B")], ids=["one robot", "two robots"])
def test_actuator_of_a_door_belongs_to_nobody(roots):
    """Refuse no robot because a mechanism without articulation root has an actuator."""
    stage = stage_with("/World/A/hip", roots=roots, doors=("/World/Door/hinge",))
    owner = Ownership(stage, "/World/A", ["/World/A/hip"])
    assert owner.of("/World/Door/Actuators/act", ["/World/Door/hinge"]) == "nobody's"


def test_joint_of_the_robot_that_is_not_its_own_is_no_door():
    stage = stage_with("/World/A/hip", "/World/A/loop", roots=("/World/A",))
    assert Ownership(stage, "/World/A", ["/World/A/hip"]).of("/World/act", ["/World/A/loop"]) == "ours"


@pytest.mark.parametrize(
    ("schema", "root"),
    [((), "/World/R"), (("/World/R/base",), "/World/R"), (("/World/R",), "/World/R/base")],
    ids=["nowhere", "below", "above"],
)
def test_root_may_lack_the_schema(schema, root):
    stage = stage_with("/World/R/hip", roots=schema)
    stage.DefinePrim("/World/R/base")
    assert Ownership(stage, root, ["/World/R/hip"]).of("/World/R/Actuators/act", []) == "ours"


@pytest.mark.parametrize(("path", "near"), [("/World/A/mesh", True), ("/World/B/mesh", False), ("/mesh", False)])
def test_nearness_is_a_matter_of_place(path, near):
    assert Ownership(stage_with(roots=("/World/A", "/World/B")), "/World/A", []).is_near(path) is near
