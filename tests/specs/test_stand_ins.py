"""What stands in for laws that newton does not know: the table, and prims that carry it."""

import math

import isaacsim.core.experimental.actuators as aa
import pytest
from isaacsim.core.experimental.actuators.base.errors import ActuatorParseError
from isaacsim.core.experimental.actuators.files.usd.discover import parse_prim
from isaacsim.core.experimental.actuators.files.usd.schema import applied_schemas
from isaacsim.core.experimental.actuators.specs.configs import OURS
from isaacsim.core.experimental.actuators.specs.stages import NAMED
from isaacsim.core.experimental.actuators.specs.stand_ins import LISTED, STAND_INS, stand_ins
from pxr import Sdf, Usd
from refusals import cases, refused
from small_stages import pendulum

ROOT = "/World/Robot"
CUTOFF = aa.DCMotorCutoffClampingConfig(60.0, 2.0, 40.0)
WINDING = aa.ElectricalConfig(0.5, 0.25, voltage=24.0, max_current=20.0)
GEARED = aa.GearedPDControlConfig(2.0, 0.1, 5.0, 1.5)


@pytest.fixture
def stage():
    return pendulum().stage


def prim_with(stage, controller, *clamping):
    return aa.add_actuator(ROOT, "hinge", "act", controller, clamping=clamping, stage=stage)


def read(prim):
    return parse_prim(prim)


def test_every_law_that_newton_does_not_know_has_a_line() -> None:
    """Without one it would be lost elsewhere without a word."""
    assert set(STAND_INS) == {config for config in OURS if config.KIND in NAMED} | {aa.ElectricalConfig}
    assert all(line.otherwise for line in STAND_INS.values())


@cases(
    "ours, theirs",
    (GEARED, aa.PDControlConfig(50.0, 2.5, 7.5)),
    (aa.GearedPIDControlConfig(2.0, 3.0, 0.1, 0.5, -5.0, 1.5), aa.PIDControlConfig(50.0, 75.0, 2.5, 0.1, -7.5)),
    (aa.GearedPIDControlConfig(2.0, 3.0, 0.1, 0.5, 0.0), aa.PIDControlConfig(0.0, 0.0, 0.0, math.inf)),
    (CUTOFF, aa.DCMotorClampingConfig(60.0, 2.0, 40.0)),
    (aa.DCMotorCutoffClampingConfig(math.inf, 2.0, 40.0), aa.MaxEffortClampingConfig(40.0)),
    (WINDING, aa.DCMotorClampingConfig(48.0, 48.0, 10.0)),
    (aa.ElectricalConfig(0.5, 0.3, max_current=20.0), aa.MaxEffortClampingConfig(10.0)),
    (aa.ElectricalConfig(0.5, 0.25, voltage=24.0, command="voltage"), aa.DCMotorClampingConfig(48.0, 48.0, 48.0)),
)
def test_the_nearest_law_of_newton(ours, theirs) -> None:
    assert stand_ins([aa.DelayConfig(2), ours]) == {1: theirs}


def test_what_is_there_already_is_left() -> None:
    assert stand_ins([aa.MaxEffortClampingConfig(30.0), aa.DCMotorCutoffClampingConfig(math.inf, 2.0, 40.0)]) == {}
    assert stand_ins([aa.GearedPDControlConfig(1e30, 0.0, 1e10)]) == {}


@cases(
    "config",
    GEARED,
    aa.GearedPIDControlConfig(0.1, 0.3, 0.7, math.inf, 9.7),
    CUTOFF,
    aa.DCMotorCutoffClampingConfig(math.inf, 2, 40),
)
def test_prims_read_back_as_written(config, stage) -> None:
    limit = aa.MaxEffortClampingConfig(30.0)
    is_law = config.KIND == "controller"
    prim = prim_with(stage, config if is_law else GEARED, *([] if is_law else [config]), limit)
    spec = read(prim)
    assert spec.clamping == (() if is_law else (config,)) + (limit,)
    expected = config if is_law else GEARED
    assert vars(spec.controller) == pytest.approx(vars(expected), rel=1e-7)
    assert aa.PDControlConfig.SCHEMA in applied_schemas(prim) or aa.PIDControlConfig.SCHEMA in applied_schemas(prim)


def test_each_stands_where_its_law_does_and_is_listed(stage) -> None:
    prim = prim_with(stage, GEARED, CUTOFF, aa.MaxEffortClampingConfig(30.0))
    assert applied_schemas(prim) == [
        *("ActuatorGearedPDControlAPI", "NewtonPDControlAPI"),
        *("ActuatorDCMotorCutoffClampingAPI", "NewtonDCMotorClampingAPI"),
        "NewtonMaxEffortClampingAPI",
    ]
    assert list(prim.GetAttribute(LISTED).Get()) == ["NewtonPDControlAPI", "NewtonDCMotorClampingAPI"]
    assert prim.GetAttribute("newton:kp").Get() == 50.0 and prim.GetAttribute("actuator:geared:kp").Get() == 2.0


def test_winding_has_the_curve_of_its_motor_beside_it(stage) -> None:
    prim = aa.add_actuator(ROOT, "hinge", "act", aa.PDControlConfig(50.0, 1.0), others=[WINDING], stage=stage)
    assert list(prim.GetAttribute(LISTED).Get()) == ["NewtonDCMotorClampingAPI"]
    spec = read(prim)
    assert spec.clamping == () and spec.others == (WINDING,)


def test_prims_of_older_files_are_read(stage) -> None:
    prim = stage.DefinePrim(f"{ROOT}/Actuators/act", "NewtonActuator")
    prim.CreateRelationship("newton:targets").SetTargets([f"{ROOT}/hinge"])
    prim.AddAppliedSchema("ArticulationGearedPDControlAPI")
    for name, value in {"kp": 2.0, "kd": 0.5, "gear": 5.0, "constEffort": 1.5}.items():
        prim.CreateAttribute(f"newton:{name}", Sdf.ValueTypeNames.Float).Set(value)
    assert read(prim).controller == aa.GearedPDControlConfig(2.0, 0.5, 5.0, 1.5)


def test_a_stand_in_holds_where_the_law_is_not_known(stage) -> None:
    prim = prim_with(stage, aa.PDControlConfig(50.0, 2.5), aa.DCMotorClampingConfig(60.0, 2.0, 40.0))
    listed = prim.CreateAttribute(LISTED, Sdf.ValueTypeNames.TokenArray)
    listed.Set(["NewtonPDControlAPI", "NewtonDCMotorClampingAPI"])
    assert read(prim).clamping == (aa.DCMotorClampingConfig(60.0, 2.0, 40.0),)
    prim.AddAppliedSchema("ActuatorCascadeControlAPI")
    with pytest.warns(UserWarning, match="ActuatorCascadeControlAPI, which has no effect"):
        spec = parse_prim(prim)
    assert spec is not None and spec.controller == aa.PDControlConfig(50.0, 2.5)


def test_a_law_and_one_that_is_not_listed_are_two(stage) -> None:
    prim = prim_with(stage, GEARED)
    prim.RemoveProperty(LISTED)
    refused(ActuatorParseError, lambda: parse_prim(prim), r"has controller schemas .* must have exactly one")
    prim.CreateAttribute(LISTED, Sdf.ValueTypeNames.String).Set("NewtonPDControlAPI")
    refused(ActuatorParseError, lambda: parse_prim(prim), "must have exactly one")


def test_attributes_before_the_gear_that_nobody_reads_are_named(stage) -> None:
    prim = prim_with(stage, GEARED)
    prim.CreateAttribute("actuator:geared:kq", Sdf.ValueTypeNames.Float).Set(1.0)
    prim.CreateAttribute("newton:gear", Sdf.ValueTypeNames.Float).Set(1.0)
    with pytest.warns(UserWarning) as caught:
        parse_prim(prim)
    said = str(caught[0].message)
    assert "actuator:geared:kq" in said and "newton:gear" in said and ".newton:kp (" not in said


def test_values_of_a_class_prim_stand_in_too(stage) -> None:
    prim = prim_with(stage, GEARED, CUTOFF)
    stage.DefinePrim(f"{ROOT}/Actuators/other", "NewtonActuator").GetInherits().AddInherit(prim.GetPath())
    spec = read(Usd.Stage.GetPrimAtPath(stage, f"{ROOT}/Actuators/other"))
    assert (spec.controller, spec.clamping) == (read(prim).controller, (CUTOFF,))


def test_a_value_that_is_blocked_is_not_named(stage) -> None:
    """It is as if nothing were authored, whoever would have read it."""
    prim = prim_with(stage, GEARED)
    prim.CreateAttribute("newton:gear", Sdf.ValueTypeNames.Float).Block()
    assert read(prim).controller.gear == 5.0
