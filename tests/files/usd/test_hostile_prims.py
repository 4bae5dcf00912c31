"""Thousands of random prims: each is read exactly as authored, or refused by name.

The rules are written here a second time, from the schema's documentation, and decide the expected result.
`tests/hardening/prims.py` reads as many more as it is asked for.
"""

import json
import math
import os
import sys
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from isaacsim.core.experimental.actuators.base.errors import ActuatorParseError
from isaacsim.core.experimental.actuators.files.usd.discover import discover, parse_prim
from isaacsim.core.experimental.actuators.files.usd.plugin import register_schemas
from isaacsim.core.experimental.actuators.specs.actuator_spec import ActuatorSpec
from processes import ran
from pxr import Sdf, Ts, Usd

# prims of a stage: each is read by itself, which looks through all of its stage
BATCH = 50
FLOAT32_MAX = float(np.finfo(np.float32).max)
INF = math.inf


@dataclass
class Rule:
    kind: str
    fallback: Any = None
    low: float = -INF
    zero: bool = True
    infinite: bool = False

    def allows(self, value) -> bool:
        if math.isnan(value):
            return False
        if math.isinf(value):
            return self.infinite and value > 0
        if self.kind == "steps":
            return isinstance(value, int) and 0 <= value <= 4096
        return self.low <= value and abs(value) <= FLOAT32_MAX and (self.zero or np.float32(value) > 0)


GAIN, BIAS, LIMIT = Rule("number", 0.0, 0.0), Rule("number", 0.0), Rule("number", INF, 0.0, infinite=True)
RULES = {
    "kp": GAIN,
    "ki": GAIN,
    "kd": GAIN,
    "constEffort": BIAS,
    "integralMax": LIMIT,
    "maxEffort": LIMIT,
    "saturationEffort": LIMIT,
    "velocityLimit": Rule("number", INF, 0.0, zero=False, infinite=True),
    "maxMotorEffort": LIMIT,
    "lookupPositions": Rule("table", []),
    "lookupEfforts": Rule("table", [], 0.0),
    "delaySteps": Rule("steps", 1),
    "modelPath": Rule("file"),
}
CONTROLLERS = {
    "NewtonPDControlAPI": (aa.PDControlConfig, ["kp", "kd", "constEffort"]),
    "NewtonPIDControlAPI": (aa.PIDControlConfig, ["kp", "ki", "kd", "integralMax", "constEffort"]),
    "NewtonNeuralControlAPI": (aa.NeuralControlConfig, ["modelPath"]),
}
CLAMPS = {
    "NewtonMaxEffortClampingAPI": (aa.MaxEffortClampingConfig, ["maxEffort"]),
    "NewtonDCMotorClampingAPI": (aa.DCMotorClampingConfig, ["saturationEffort", "velocityLimit", "maxMotorEffort"]),
    "NewtonPositionBasedClampingAPI": (aa.PositionBasedClampingConfig, ["lookupPositions", "lookupEfforts"]),
}
DELAY = {"NewtonActuatorDelayAPI": (aa.DelayConfig, ["delaySteps"])}
SCHEMAS = CONTROLLERS | CLAMPS | DELAY
HARMLESS = ["PhysxJointAPI", "CollectionAPI:links", "AcmeControlAPI", "NewtonActuatorControlBaseAPI"]
UNKNOWN = ["NewtonPDControllAPI", "NewtonPDControlAPI:left", "NewtonMagicClampingAPI", "NewtonMimicAPI", "NewtonThing"]
MISSPELLED = ["Kp", "max_effort", "gain", "kp:gain", "delaysteps"]
TYPES = {
    name: kind
    for name in dir(Sdf.ValueTypeNames)
    if isinstance(kind := getattr(Sdf.ValueTypeNames, name), Sdf.ValueTypeName)
}
STORED: dict[str, Callable[[float], Any]] = {
    "Half": np.errstate(over="ignore")(lambda value: float(np.float16(np.float32(value)))),
    "Float": np.errstate(over="ignore")(lambda value: float(np.float32(value))),
    "Double": float,
    **dict.fromkeys(("Int", "UInt", "Int64", "UInt64", "UChar"), int),
}
TEXTS = ("String", "Token", "Asset")
HOSTILE = [math.nan, INF, -INF, 1e308, -1e308, FLOAT32_MAX, 3.5e38, 5e-324, 1e-60, -1e-60, -0.0, -1.0, 65504.0, 7e4]
HOSTILE_INTS = {
    "Int": [-(2**31), -1, 2**31 - 1, 4096, 4097],
    "UInt": [2**32 - 1, 4096, 4097],
    "Int64": [-(2**63), 2**40, 2**63 - 1, 4096],
    "UInt64": [2**40, 2**64 - 1, 4096],
    "UChar": [255],
}
NOTHING, BLOCK = object(), object()


@dataclass
class Opinion:
    type: str
    default: Any = NOTHING
    samples: bool = False
    spline: bool = False
    connected: bool = False
    relationship: bool = False


@dataclass
class Prim:
    name: str
    type: str = "NewtonActuator"
    specifier: Any = Sdf.SpecifierDef
    active: bool = True
    schemas: list[str] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    properties: dict[str, list[Opinion | None]] = field(default_factory=dict)
    targets: list[str] | None = None
    targets_are_attribute: bool = False


def any_number(rng: np.random.Generator, kind: str, calm: bool):
    if kind in HOSTILE_INTS:
        is_small = calm or rng.random() < 0.4
        return int(rng.integers(0, 200) if is_small else rng.choice(np.array(HOSTILE_INTS[kind], object)))
    return float(rng.uniform(0, 100)) if calm or rng.random() < 0.4 else float(rng.choice(HOSTILE))


def any_value(rng: np.random.Generator, rule: Rule, calm: bool) -> tuple[str, Any]:
    if calm or rng.random() < 0.6:
        if rule.kind == "number":
            kind = str(rng.choice(list(STORED)))
        elif rule.kind == "steps":
            kind = str(rng.choice(list(HOSTILE_INTS)))
        elif rule.kind == "file":
            files = ["net.onnx", "../../etc/passwd", "@x@", " "][: 3 if calm else 4]
            return str(rng.choice(TEXTS)), str(rng.choice(files))
        else:
            # sorted whole numbers, so that both columns are good
            kind = str(rng.choice(["Half", "Float", "Double", "Int", "UChar"])) + "Array"
            return kind, sorted(int(each) for each in rng.integers(0, 100, 3 if calm else rng.integers(0, 4)))
        return kind, any_number(rng, kind, calm)
    kind = str(rng.choice(list(TYPES)))
    element = kind.removesuffix("Array")
    if element in STORED:
        values = [any_number(rng, element, False) for _ in range(3)]
        return kind, values if kind.endswith("Array") else values[0]
    if kind in ("Opaque", "Group"):
        return kind, NOTHING
    if element in TEXTS:
        text = str(rng.choice(["", " ", "1.0", "nan", "ü.onnx"]))
        return kind, [text] * int(rng.integers(0, 3)) if kind.endswith("Array") else text
    default = TYPES[element].defaultValue
    return kind, [default] * int(rng.integers(0, 3)) if kind.endswith("Array") else default


def any_opinion(rng: np.random.Generator, rule: Rule, calm: bool) -> Opinion:
    """A random opinion of a layer on a property, a valid one if `calm`."""
    kind, value = any_value(rng, rule, calm)
    opinion = Opinion(kind, value)
    # some types hold no value at all
    if calm or value is NOTHING:
        return opinion
    forms = ["plain", "block", "declared", "samples", "spline", "connected", "relationship"]
    form = rng.choice(forms, p=[0.76] + [0.04] * 6)
    if form == "block":
        opinion.default = BLOCK
    elif form == "declared":
        opinion.default = NOTHING
    elif form == "relationship":
        return Opinion("", relationship=True)
    if form == "samples":
        opinion.samples = True
    if form == "spline":
        opinion.type, opinion.spline, opinion.default = "Double", True, NOTHING
    if form == "connected" or rng.random() < 0.05:
        opinion.connected = True
    if form in ("samples", "connected") and rng.random() < 0.7:
        opinion.default = NOTHING
    return opinion


def any_prim(rng: np.random.Generator, name: str) -> Prim:
    mood = rng.choice(["calm", "one", "wild"], p=[0.2, 0.5, 0.3])
    calm = mood != "wild"
    prim = Prim(name)
    if not calm and rng.random() < 0.1:
        prim.type = str(rng.choice(["", "Scope", "NewtonActuatorX", "newtonActuator"]))
    if rng.random() < 0.06:
        prim.specifier = Sdf.SpecifierOver if rng.random() < 0.5 else Sdf.SpecifierClass
    prim.active = bool(rng.random() > 0.04)
    prim.schemas = [str(rng.choice(list(CONTROLLERS))), *(schema for schema in (CLAMPS | DELAY) if rng.random() < 0.4)]
    if rng.random() < 0.2:
        prim.schemas.append(str(rng.choice(HARMLESS)))
    if not calm and rng.random() < 0.25:
        change = rng.integers(4)
        if change == 0:
            prim.schemas.append(str(rng.choice(UNKNOWN)))
        elif change == 1:
            prim.schemas.pop(0)
        elif change == 2:
            prim.schemas.append(next(schema for schema in CONTROLLERS if schema not in prim.schemas))
        else:
            prim.deleted.append(str(rng.choice(prim.schemas)))
    rng.shuffle(prim.schemas)
    needed = {name for schema in prim.schemas if schema in SCHEMAS for name in SCHEMAS[schema][1]}
    odd = rng.choice(sorted(needed)) if mood == "one" else None
    for attribute, rule in RULES.items():
        quiet = calm and attribute != odd
        must = attribute == odd or (calm and rule.kind in ("table", "file"))
        if (attribute in needed and (must or rng.random() < 0.6)) or rng.random() < 0.01:
            weak = any_opinion(rng, rule, quiet)
            prim.properties[attribute] = [any_opinion(rng, rule, quiet) if rng.random() < 0.2 else None, weak]
    if rng.random() < 0.05:
        prim.properties[str(rng.choice(MISSPELLED))] = [None, any_opinion(rng, GAIN, calm)]
    own, shared = f"/Robot/joints/j_{name}", "/Robot/joints/shared"
    prim.targets = [own, shared] if rng.random() < 0.01 else [own]
    if not calm and rng.random() < 0.25:
        wrong = [f"/Robot/{place}" for place in ("joints/none", f"Actuators/{name}", "joints/weld", "base")]
        wrong.append(f"{own}.physics:axis")
        wrong += [
            *("/Robot/joints/off", "/Robot/joints/over", "/Robot/joints/class", "/Robot"),
            *("/Elsewhere", "/Outside/hinge"),
        ]
        choice = rng.integers(5)
        if choice == 0:
            prim.targets = None if rng.random() < 0.5 else []
        elif choice == 1:
            prim.targets_are_attribute = True
        elif choice == 2:
            # a relationship that forwards, or one that runs in a circle
            prim.targets = [f"/Robot/Actuators/{name}.{'forward' if rng.random() < 0.5 else 'circle'}"]
        else:
            prim.targets = [str(each) for each in rng.choice(wrong, rng.integers(1, 4), replace=False)]
            prim.targets += [own] if rng.random() < 0.5 else []
    return prim


def write_opinion(spec: Sdf.PrimSpec, name: str, opinion: Opinion) -> None:
    if opinion.relationship:
        Sdf.RelationshipSpec(spec, f"newton:{name}").targetPathList.explicitItems = [Sdf.Path("/Robot/base")]
        return
    attribute = Sdf.AttributeSpec(spec, f"newton:{name}", TYPES[opinion.type])
    if opinion.default is BLOCK:
        attribute.default = Sdf.ValueBlock()
    elif opinion.default is not NOTHING:
        attribute.default = opinion.default
    if opinion.samples:
        value = attribute.typeName.defaultValue if opinion.default in (BLOCK, NOTHING) else attribute.default
        spec.layer.SetTimeSample(attribute.path, 0.0, value)
    if opinion.spline:
        spline, knot = Ts.Spline("double"), Ts.Knot("double")
        knot.SetTime(0.0)
        knot.SetValue(5.0)
        spline.SetKnot(knot)
        attribute.SetSpline(spline)
    if opinion.connected:
        attribute.connectionPathList.explicitItems = [Sdf.Path("/Robot/joints/shared.physics:axis")]


def write(prims: list[Prim]) -> tuple[Sdf.Layer, Sdf.Layer]:
    """A robot with these prims: the layer to open, and a weaker one that holds most of it."""
    strong, weak = (Sdf.Layer.CreateAnonymous(f"{name}.usda") for name in ("strong", "weak"))
    strong.subLayerPaths = [weak.identifier]
    with Sdf.ChangeBlock():
        for path, kind in (("", "Xform"), ("/base", "Xform"), ("/joints", "Scope"), ("/Actuators", "Scope")):
            define(weak, path, kind)
        schemas = Sdf.TokenListOp.Create(prependedItems=["PhysicsArticulationRootAPI"])
        weak.GetPrimAtPath("/Robot").SetInfo("apiSchemas", schemas)
        for name in ("shared", "off", "over", "class"):
            define(weak, f"/Robot/joints/{name}", "PhysicsPrismaticJoint")
        weak.GetPrimAtPath("/Robot/joints/off").active = False
        weak.GetPrimAtPath("/Robot/joints/over").specifier = Sdf.SpecifierOver
        weak.GetPrimAtPath("/Robot/joints/class").specifier = Sdf.SpecifierClass
        define(weak, "/Robot/joints/weld", "PhysicsFixedJoint")
        for prim in prims:
            define(weak, f"/Robot/joints/j_{prim.name}", "PhysicsRevoluteJoint")
            write_prim(prim, strong, weak)
    return strong, weak


def define(layer: Sdf.Layer, path: str, kind: str) -> Sdf.PrimSpec:
    spec = Sdf.CreatePrimInLayer(layer, path)
    spec.specifier = Sdf.SpecifierDef
    if kind:
        spec.typeName = kind
    return spec


def write_prim(prim: Prim, strong: Sdf.Layer, weak: Sdf.Layer) -> None:
    path = f"/Robot/Actuators/{prim.name}"
    spec = define(weak, path, prim.type)
    spec.specifier = prim.specifier
    spec.customData = {"newton": {"kp": math.nan}}
    if not prim.active:
        spec.active = False
    spec.SetInfo("apiSchemas", Sdf.TokenListOp.Create(prependedItems=prim.schemas))
    over = Sdf.CreatePrimInLayer(strong, path)
    if prim.deleted:
        over.SetInfo("apiSchemas", Sdf.TokenListOp.Create(deletedItems=prim.deleted))
    for name, opinions in prim.properties.items():
        for holder, opinion in zip((over, spec), opinions, strict=True):
            if opinion:
                write_opinion(holder, name, opinion)
    if prim.targets_are_attribute:
        Sdf.AttributeSpec(spec, "newton:targets", Sdf.ValueTypeNames.String).default = "hinge"
    elif prim.targets is not None:
        relationship = Sdf.RelationshipSpec(spec, "newton:targets")
        relationship.targetPathList.explicitItems = [Sdf.Path(target) for target in prim.targets]
    for name, target in (("forward", f"/Robot/joints/j_{prim.name}"), ("circle", f"{path}.circle")):
        Sdf.RelationshipSpec(spec, name).targetPathList.explicitItems = [Sdf.Path(target)]


SCENES = {
    "itself": "",
    "reference": 'def "Copy" (\nprepend references = @FILE@</Robot>\n)\n{\n}',
    "instance": 'def "Copy" (\ninstanceable = true\nprepend references = @FILE@</Robot>\n)\n{\n}',
    "payload": 'def "Copy" (\nprepend payload = @FILE@</Robot>\n)\n{\n}',
    "variant": 'def "Copy" (\nvariants = {\nstring v = "a"\n}\nprepend variantSets = "v"\n)\n{\nvariantSet "v" = {\n'
    '"a" (\nprepend references = @FILE@</Robot>\n) {\n}\n"b" {\n}\n}\n}',
}


def open_scene(robot: Sdf.Layer, scene: str) -> tuple[Usd.Stage, str]:
    if scene == "itself":
        return Usd.Stage.Open(robot), "/Robot"
    layer = Sdf.Layer.CreateAnonymous("scene.usda")
    layer.ImportFromString("#usda 1.0\n" + SCENES[scene].replace("FILE", robot.identifier))
    return Usd.Stage.Open(layer), "/Copy"


def expected_value(rule: Rule, opinions: list[Opinion | None]) -> tuple[bool, Any]:
    stack = [opinion for opinion in opinions if opinion]
    if any(opinion.relationship for opinion in stack):
        return False, None
    first = next((each for each in stack if each.samples or each.spline or each.default is not NOTHING), None)
    varies = first is not None and (first.samples or first.spline)
    if first is None or (first.default is BLOCK and not varies):
        return not any(opinion.connected for opinion in stack) and rule.kind != "file", rule.fallback
    winner = next((opinion for opinion in stack if opinion.default is not NOTHING), None)
    if winner is None or winner.default is BLOCK:
        return False, None
    kind, value = winner.type, winner.default
    element = kind.removesuffix("Array")
    if rule.kind == "file":
        return kind in TEXTS and bool(value.strip()), value
    if rule.kind == "table":
        if not kind.endswith("Array"):
            return False, None
        if not value:
            return True, []
        numbers = [float(STORED[element](each)) for each in value] if element in STORED else [math.nan]
        return all(rule.allows(number) for number in numbers), numbers
    if kind not in STORED:
        return False, None
    number = STORED[kind](value)
    if rule.kind == "steps":
        return isinstance(number, int) and rule.allows(number), number
    return rule.allows(float(number)), float(number)


def expected_spec(prim: Prim, root: str) -> ActuatorSpec | None:
    applied = [schema for schema in prim.schemas if schema not in prim.deleted]
    if sum(schema in CONTROLLERS for schema in applied) != 1:
        return None
    forward, joint = f"Actuators/{prim.name}.forward", f"joints/j_{prim.name}"
    targets = [target.replace(forward, joint) for target in prim.targets or []]
    good = ("/Robot/joints/shared", f"/Robot/joints/j_{prim.name}")
    # a reference leaves out what lies beyond the robot
    targets = [target for target in targets if root == "/Robot" or target.startswith("/Robot")]
    if not targets or prim.targets_are_attribute or any(target not in good for target in targets):
        return None
    configs = []
    for schema in applied:
        if schema not in SCHEMAS:
            continue
        config, attributes = SCHEMAS[schema]
        readings = [expected_value(RULES[name], prim.properties.get(name, [])) for name in attributes]
        values = [value for _, value in readings]
        if not all(good for good, _ in readings):
            return None
        if config is aa.PositionBasedClampingConfig:
            positions, efforts = values
            if not positions or len(positions) != len(efforts) or sorted(positions) != positions:
                return None
        configs.append(config(*values))
    names = ("controller", "clamping", "delay")
    kinds = {kind: [config for config in configs if config.KIND == kind] for kind in names}
    return ActuatorSpec(
        f"{root}/Actuators/{prim.name}",
        tuple(target.replace("/Robot", root, 1) for target in targets),
        kinds["controller"][0],
        tuple(kinds["clamping"]),
        next(iter(kinds["delay"]), None),
    )


def refusal(call: Callable, *arguments) -> tuple[Any, tuple[str, ...]]:
    try:
        return call(*arguments), ()
    except ActuatorParseError as error:
        assert error.issues
        return None, error.issues


def as_text(prim: Usd.Prim) -> str:
    return "".join(spec.GetAsText() for spec in prim.GetPrimStack())


def named(issue: str) -> str:
    assert issue.startswith("<") and "\n" not in issue and issue.endswith(".") and len(issue) < 600, issue
    return issue[1:].split(">", maxsplit=1)[0]


def check_batch(rng: np.random.Generator, scene: str, number: int, counts: Counter[str]) -> None:
    prims = [any_prim(rng, f"p{number}_{index}") for index in range(BATCH)]
    robot, _weak = write(prims)
    stage, root = open_scene(robot, scene)
    specs: list[ActuatorSpec] = []
    refused: set[str] = set()
    shared = False
    for prim in prims:
        path = f"{root}/Actuators/{prim.name}"
        usd_prim = stage.GetPrimAtPath(path)
        found, issues = refusal(parse_prim, usd_prim)
        wanted = expected_spec(prim, root) if prim.type == "NewtonActuator" else None
        assert repr(found) == repr(wanted), f"read {found} {issues}, expected {wanted}:\n{as_text(usd_prim)}"
        assert {named(issue) for issue in issues} == ({path} if prim.type == "NewtonActuator" and not wanted else set())
        check_public_parser(usd_prim, wanted, issues)
        if prim.type != "NewtonActuator":
            counts["other"] += 1
            continue
        counts["accepted" if wanted else "refused"] += 1
        if not prim.active or prim.specifier != Sdf.SpecifierDef:
            continue
        targets = () if prim.targets_are_attribute else prim.targets or ()
        drives_shared = any(target.endswith("/shared") for target in targets)
        if wanted and not (drives_shared and shared):
            specs.append(wanted)
        else:
            refused.add(path)
        shared |= drives_shared
    joints = [f"{root}/joints/shared", *(f"{root}/joints/j_{prim.name}" for prim in prims)]
    found, issues = refusal(discover, stage, root, joints)
    assert found is None and {named(issue) for issue in issues} == refused
    if scene != "instance":
        for path in refused:
            stage.GetPrimAtPath(path).SetActive(False)
        assert repr(discover(stage, root, joints)) == repr(specs)


def check_public_parser(prim: Usd.Prim, wanted: ActuatorSpec | None, issues: tuple[str, ...]) -> None:
    """The public parser has the same result, and refuses networks with missing files with a ValueError."""
    if wanted is not None and isinstance(wanted.controller, aa.NeuralControlConfig):
        with pytest.raises(ValueError, match="newton:modelPath = "):
            aa.parse_actuator_prim(prim)
        return
    parsed, same = refusal(aa.parse_actuator_prim, prim)
    # the public parser reads files of networks, which are missing
    files = {told for told in same if "newton:modelPath = " in told} - set(issues)
    assert tuple(told for told in same if told not in files) == issues
    if wanted is None:
        assert parsed is None
        return
    configs = [*wanted.clamping, *([wanted.delay] if wanted.delay else [])]
    arguments = [parsed.controller_kwargs, *(kwargs for _, kwargs in parsed.component_specs)]
    # a switch of a controller is a stage of its own
    expected = [vars(config).copy() for config in (wanted.controller, *configs)]
    assert expected[0].pop("wrap") is False and list(map(repr, arguments)) == list(map(repr, expected))
    assert parsed.target_paths == list(wanted.targets)


def check(seed: int, count: int) -> Counter[str]:
    """Check `count` prims; returns how many were accepted, refused, or of another type."""
    rng = np.random.default_rng(seed)
    counts: Counter[str] = Counter()
    with warnings.catch_warnings():
        # properties and limits without effect
        warnings.simplefilter("ignore", UserWarning)
        for number in range(math.ceil(count / BATCH)):
            check_batch(rng, list(SCENES)[number % len(SCENES)], number, counts)
    return counts


@pytest.mark.parametrize(("plugin", "count"), [("no plugin", 4_000), ("plugin", 1_500)])
@pytest.mark.slow
def test_hostile_prims(plugin, count):
    # a Python of its own: a schema plugin cannot be unregistered, and USD keeps a layer for each set of schemas
    done = ran(
        [sys.executable, "-W", "error", __file__, plugin, str(count)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert done.returncode == 0, done.stderr[-5000:]
    said = json.loads(done.stdout.splitlines()[-1])
    assert said["plugin"] is (plugin == "plugin") and said["accepted"] + said["refused"] + said["other"] == count
    assert min(said["accepted"], said["refused"]) > 0.3 * count and said["other"] > 0.02 * count, said


if __name__ == "__main__":
    if sys.argv[1] == "plugin":
        register_schemas()
    registered = Usd.SchemaRegistry().FindConcretePrimDefinition("NewtonActuator") is not None
    print(json.dumps({"plugin": registered, **check(20261121, int(sys.argv[2]))}))
