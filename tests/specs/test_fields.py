"""A value enters a config through one gate, and the gate says what the USD schema says."""

import importlib.util
import inspect
import math
import re
from array import array
from collections import deque
from decimal import Decimal
from fractions import Fraction
from pathlib import Path, PureWindowsPath

import numpy as np
import pytest
from isaacsim.core.experimental.actuators.specs import configs
from isaacsim.core.experimental.actuators.specs.fields import FLOAT32_MAX, Parameter, parameters_of, violations
from pxr import Gf, Sdf, Vt
from refusals import cases

GAIN = parameters_of(configs.PDControlConfig)["kp"]
BIAS = parameters_of(configs.PDControlConfig)["const_effort"]
LIMIT = parameters_of(configs.MaxEffortClampingConfig)["max_effort"]
STEPS = parameters_of(configs.DelayConfig)["delay_steps"]
SPEED = parameters_of(configs.DCMotorClampingConfig)["velocity_limit"]
TABLE = parameters_of(configs.PositionBasedClampingConfig)["lookup_positions"]
FILE = parameters_of(configs.NeuralControlConfig)["model_path"]
FIELDS = [(config, name, described) for config in configs.CONFIGS for name, described in parameters_of(config).items()]
every_field = pytest.mark.parametrize(
    ("config", "name", "described"), FIELDS, ids=[f"{config.__name__}.{name}" for config, name, _ in FIELDS]
)


def value_id(value: object) -> str:
    return value.attribute if isinstance(value, Parameter) else f"{type(value).__name__}:{str(value)[:12]}"


@cases(
    "described, value",
    *((GAIN, value) for value in (0, 0.0, -0.0, 1, 5.5, 1e-60, FLOAT32_MAX, 10**38, Fraction(1, 3))),
    *((GAIN, value) for value in (np.float16(2), np.float32(2), np.float64(2), np.int8(2), np.uint64(2))),
    *((BIAS, value) for value in (-1, -1.5, -FLOAT32_MAX, np.float32(-3))),
    *((LIMIT, value) for value in (0, 3.0, math.inf, np.float32("inf"), np.float64("inf"))),
    *((STEPS, value) for value in (0, 1, 4096, np.int32(3), np.int64(4096), np.uint8(0))),
    ids=value_id,
)
def test_accepts_numbers_in_range(described, value):
    assert described.accepts(value)


@pytest.mark.parametrize("described", [GAIN, BIAS, LIMIT, STEPS], ids=value_id)
@cases(
    "value",
    *(math.nan, np.float16("nan"), np.float32("nan"), np.float64("nan"), Decimal("nan"), Decimal("snan")),
    *(-math.inf, np.float32("-inf"), 1e308, -1e308, 10**400, -(10**400), math.nextafter(FLOAT32_MAX, math.inf)),
    *(True, False, np.bool_(True), np.bool_(False)),
    *(None, "1", "abc", b"1", np.str_("1"), np.bytes_(b"1"), 1j, np.complex64(1), object(), int),
    *([1.0], (1.0,), np.array(2), np.array(2.5), np.array([2.0]), np.datetime64("2020-01-01")),
    *(Decimal(1), np.timedelta64(1, "ms"), np.timedelta64(1, "s"), np.timedelta64("NaT", "s")),
    ids=value_id,
)
def test_refuses_what_no_parameter_may_be(described, value):
    assert not described.accepts(value)


@cases(
    "described, value",
    *((GAIN, value) for value in (-1, -1e-30, -5e-324, np.float32(-1), np.int8(-1), math.inf, np.float32("inf"))),
    *((BIAS, value) for value in (math.inf, np.float64("inf"))),
    *((LIMIT, value) for value in (-1, -1e-30, np.float64(-1))),
    *((STEPS, value) for value in (-1, 4097, 2**31, 2**64, 1.0, 2.5, Fraction(2), np.float32(1), math.inf)),
    ids=value_id,
)
def test_refuses_numbers_out_of_range(described, value):
    assert not described.accepts(value)


@pytest.mark.parametrize("value", [0.0, -0.0, 1e-60, 5e-324, 7e-46, -1.0, math.nan])
def test_refuses_what_single_precision_takes_for_zero(value):
    assert not SPEED.accepts(value)


@pytest.mark.parametrize("value", [1e-45, 8e-46, 1e-30, FLOAT32_MAX, math.inf, Fraction(1, 3)])
def test_accepts_what_single_precision_holds(value):
    assert SPEED.accepts(value)


@pytest.mark.parametrize(
    "value",
    [[], [0.0], (1, 2), range(3), np.array([1.0]), np.int64([1]), array("f", [1.0]), deque([1.0]), Vt.FloatArray([1])],
    ids=value_id,
)
def test_accepts_tables(value):
    assert TABLE.accepts(value)


@cases(
    "value",
    *(None, 1.0, "1", b"1", bytearray(b"1"), {1.0}, {1.0: 2.0}, iter([1.0]), (each for each in (1.0,)), list[float]),
    *(np.array(1.0), np.zeros((2, 2)), [math.nan], [1.0, math.inf], [True], ["1"], [None], [[1.0]], [1e39]),
    *([np.timedelta64(1, "s")], Vt.BoolArray([True]), Vt.StringArray(["1"]), Gf.Vec2f(0, 1)),
    ids=value_id,
)
def test_refuses_what_is_no_table(value):
    assert not TABLE.accepts(value)


@cases("value", "knee.onnx", " a b ", "@x@", "n\u00e4t.onnx", Path("a/b"), PureWindowsPath("a/b"), ids=value_id)
def test_accepts_paths(value):
    assert FILE.accepts(value)


@cases("value", "", " ", "\t", "a\nb", "a\0b", "a\x7fb", "\ud800", b"a", None, 1, ["a"], ids=value_id)
def test_refuses_what_is_no_path(value):
    assert not FILE.accepts(value)


@cases(
    "described, rule",
    (GAIN, "must be finite and >= 0 in single precision"),
    (BIAS, "must be finite in single precision"),
    (LIMIT, "must be a number and >= 0 in single precision (inf switches it off)"),
    (STEPS, "must be an integer and >= 0 and <= 4096"),
    ids=value_id,
)
def test_words_the_rule(described, rule):
    assert described.rule == rule


def test_violation_names_field_value_rule_and_remedy():
    expected = ["knee.kp = nan: must be finite and >= 0 in single precision. Give a value in that range."]
    assert violations(configs.PDControlConfig(math.nan, 1.0), "knee") == expected


def test_violations_are_all_reported():
    found = violations(configs.PDControlConfig(-1.0, "stiff", math.inf), "knee")
    assert [message.split(":")[0] for message in found] == [
        "knee.kp = -1.0",
        "knee.kd = 'stiff'",
        "knee.const_effort = inf",
    ]


@cases("config", configs.PDControlConfig(20, 2), configs.MaxEffortClampingConfig(math.inf), configs.DelayConfig(0))
def test_good_config_has_no_violations(config):
    assert violations(config, "knee") == []


@every_field
def test_fallback_obeys_the_rule(config, name, described):
    assert described.fallback is None or described.accepts(described.fallback)


PUBLISHED = Sdf.Layer.FindOrOpen(
    str(Path(importlib.util.find_spec("newton_usd_schemas").origin).with_name("generatedSchema.usda"))
)
# a schema of our own is not published
PUBLISHED_FIELDS = [field for field in FIELDS if field[0].SCHEMA in PUBLISHED.rootPrims]


@pytest.mark.parametrize("config", configs.OURS, ids=lambda config: config.__name__)
def test_schema_of_our_own_has_a_name_of_ours(config):
    assert re.fullmatch(r"Actuator[A-Z]\w+API", config.SCHEMA)
    newtons = [described for other, _, described in PUBLISHED_FIELDS if other.KIND == config.KIND]
    for described in parameters_of(config).values():
        assert re.fullmatch(r"actuator:[a-z]\w*:\w+", described.attribute) or described in newtons


def test_every_published_actuator_schema_has_a_config():
    names = {name for name in PUBLISHED.rootPrims.keys() if re.fullmatch("Newton.*(Control|Clamping|Delay)API", name)}
    assert names and names <= {config.SCHEMA for config in configs.CONFIGS}


@pytest.mark.parametrize(
    ("config", "name", "described"),
    PUBLISHED_FIELDS,
    ids=[f"{config.__name__}.{name}" for config, name, _ in PUBLISHED_FIELDS],
)
def test_field_says_what_the_schema_says(config, name, described):
    attribute = PUBLISHED.GetAttributeAtPath(f"/{config.SCHEMA}.{described.attribute}")
    hard = (attribute.GetInfo("limits") or {}).get("hard", {})
    default = tuple(attribute.default) if described.type == "float[]" else attribute.default
    # the schema bounds no element of a list; that efforts are not negative is newton's rule
    lower = 0.0 if name == "lookup_efforts" else hard.get("minimum", -math.inf)
    assert (described.type, described.fallback, described.lower) == (attribute.typeName, default, lower)


@pytest.mark.parametrize(
    "config", dict.fromkeys(field[0] for field in PUBLISHED_FIELDS), ids=lambda config: config.__name__
)
def test_config_describes_every_attribute_of_its_schema(config):
    names = {attribute.name for attribute in PUBLISHED.GetPrimAtPath(f"/{config.SCHEMA}").attributes}
    assert {described.attribute for described in parameters_of(config).values()} == names


@cases(
    "config, signature",
    (
        configs.PDControlConfig,
        {**dict.fromkeys(("kp", "kd"), inspect.Parameter.empty), "const_effort": 0.0, "wrap": False},
    ),
    (configs.MaxEffortClampingConfig, {"max_effort": inspect.Parameter.empty}),
    (configs.DelayConfig, {"delay_steps": inspect.Parameter.empty}),
)
def test_config_keeps_its_documented_signature(config, signature):
    assert {name: p.default for name, p in inspect.signature(config).parameters.items()} == signature


def test_constructor_does_not_validate():
    assert configs.PDControlConfig("stiff", None).kp == "stiff"


def test_config_is_mutable():
    config = configs.PDControlConfig(1.0, 2.0)
    config.kp = 7.0
    assert (config.kp, config.kd, config.const_effort) == (7.0, 2.0, 0.0)


@pytest.mark.parametrize("kind", [list, np.array, tuple])
def test_table_has_a_largest_size(kind) -> None:
    rows = kind([0.0] * configs.MAX_TABLE_ROWS)
    assert len(configs.PositionBasedClampingConfig(rows, rows).lookup_efforts) == configs.MAX_TABLE_ROWS
    more = kind([0.0] * (configs.MAX_TABLE_ROWS + 1))
    with pytest.raises(ValueError, match="100000 of them at most") as caught:
        configs.PositionBasedClampingConfig(more, more)
    assert len(str(caught.value)) < 1000


def test_help_has_units() -> None:
    text = inspect.getdoc(configs.ThermalConfig) or ""
    assert text.startswith("The heat of a motor")
    assert "Units: `winding_capacity` [J/K], `winding_resistance` [K/W]" in text and "`magnet_time` [s]." in text
