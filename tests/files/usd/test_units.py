"""Units of a stage, and the numbers of configs between them and SI."""

import dataclasses
import math
import warnings

import pytest
from isaacsim.core.experimental.actuators import add_actuator, add_motors, motors_of, parse_actuator_prim
from isaacsim.core.experimental.actuators.base.errors import ActuatorParseError, UnsupportedSceneError
from isaacsim.core.experimental.actuators.files.usd.units import StageUnits, from_stage, to_stage, units_of
from isaacsim.core.experimental.actuators.specs import configs
from isaacsim.core.experimental.actuators.specs.fields import FLOAT32_MAX, Parameter, parameters_of
from isaacsim.core.experimental.actuators.specs.motors import MotorConfig
from isaacsim.core.experimental.actuators.tools.inspection.inspect import robots_of_stage
from pxr import Sdf, Usd, UsdGeom, UsdPhysics
from refusals import cases
from small_stages import pendulum
from valid_configs import numbered

# in centimeters and grams, 1 N is 1e5 units of force, 1 N·m is 1e7 units of torque
CGS = StageUnits(0.01, 0.001)
ANGULAR, LINEAR = 1e7, 1e5
# metres, centimetres, and millimetres and grams
STAGES = [(1.0, 1.0), (0.01, 1.0), (0.001, 0.001)]
ROBOT = "/World/Robot"


def stage(length: float | None = None, mass: float | None = None) -> Usd.Stage:
    made = Usd.Stage.CreateInMemory()
    if length is not None:
        UsdGeom.SetStageMetersPerUnit(made, length)
    if mass is not None:
        UsdPhysics.SetStageKilogramsPerUnit(made, mass)
    return made


@cases(
    "length, mass, units",
    (None, None, StageUnits(1.0, 1.0)),
    (0.01, None, StageUnits(0.01, 1.0)),
    (None, 0.001, StageUnits(1.0, 0.001)),
    (1.0 + 1e-12, 1.0, StageUnits(1.0, 1.0)),
)
def test_units_are_those_authored_or_si(length, mass, units) -> None:
    assert units_of(stage(length, mass)) == units and units.si is (units == StageUnits(1.0, 1.0))


@cases("unit", 0.0, -1.0, math.nan, math.inf)
def test_unit_that_is_none_is_refused(unit) -> None:
    for name, made in (("metersPerUnit", stage(unit)), ("kilogramsPerUnit", stage(1.0, unit))):
        with pytest.raises(UnsupportedSceneError, match=f"{name} = {unit:g}: must be finite and > 0"):
            units_of(made)


def test_force_and_torque() -> None:
    assert (CGS.force, CGS.torque) == (pytest.approx(1e-5), pytest.approx(1e-7))


@cases(
    "config, angular, linear",
    (configs.PDControlConfig(2.0, 3.0, 4.0), (2 * ANGULAR, 3 * ANGULAR, 4 * ANGULAR), (2e3, 3e3, 4 * LINEAR)),
    (
        configs.PIDControlConfig(2.0, 3.0, 4.0, 5.0, 6.0),
        (2 * ANGULAR, 3 * ANGULAR, 4 * ANGULAR, 5.0, 6 * ANGULAR),
        (2e3, 3e3, 4e3, 5e2, 6 * LINEAR),
    ),
    (
        configs.GearedPIDControlConfig(2.0, 3.0, 4.0, 5.0, 7.0, 6.0),
        (2 * ANGULAR, 3 * ANGULAR, 4 * ANGULAR, 5.0, 7.0, 6 * ANGULAR),
        (2e3, 3e3, 4e3, 5e2, 7.0, 6 * LINEAR),
    ),
    (
        configs.StartupPDControlConfig(2.0, 3.0, 4.0, 6.0),
        (2 * ANGULAR, 3 * ANGULAR, 4 * ANGULAR, 6 * ANGULAR),
        (2e3, 3e3, 4 * LINEAR, 6 * LINEAR),
    ),
    (
        configs.SlewedPIDControlConfig(2.0, 3.0, 4.0, 8.0, 5.0, 6.0),
        (2 * ANGULAR, 3 * ANGULAR, 4 * ANGULAR, 8.0, 5.0, 6 * ANGULAR),
        (2e3, 3e3, 4e3, 8e2, 5e2, 6 * LINEAR),
    ),
    (configs.MaxEffortClampingConfig(2.0), (2 * ANGULAR,), (2 * LINEAR,)),
    (configs.DCMotorClampingConfig(2.0, 3.0, math.inf), (2 * ANGULAR, 3.0, math.inf), (2 * LINEAR, 3e2, math.inf)),
    (
        configs.PositionBasedClampingConfig([-1.0, 2.0], [3.0, 4.0]),
        ([-1.0, 2.0], [3 * ANGULAR, 4 * ANGULAR]),
        ([-1e2, 2e2], [3 * LINEAR, 4 * LINEAR]),
    ),
    (
        configs.ElasticTransmissionConfig(
            50.0, 0.5, rotor_inertia=2.0, stiffness=3.0, damping=4.0, backlash=5.0, rotor_damping=6.0
        ),
        (50.0, 0.5, "joint", 2 * ANGULAR, 1.0, 0.0, *(one * ANGULAR for one in (3.0, 4.0)), 5.0, 6 * ANGULAR, 0.0),
        (50.0, 50.0, "joint", 2e3, 1.0, 0.0, 3e3, 4e3, 5e2, 6e3, 0.0),
    ),
    (configs.DelayConfig(3), (3,), (3,)),
    (configs.NeuralControlConfig("net.pt"), ("net.pt",), ("net.pt",)),
)
def test_numbers_are_converted_by_their_unit(config, angular, linear) -> None:
    for turns, expected in ((True, angular), (False, linear)):
        written = to_stage(config, CGS, [turns])
        assert [getattr(written, name) for name in parameters_of(written)] == [
            pytest.approx(value) if not isinstance(value, str) else value for value in expected
        ]
        assert list(vars(from_stage(written, CGS, [turns])).values()) == [
            pytest.approx(value) if not isinstance(value, str) else value for value in vars(config).values()
        ]


def test_metres_and_kilograms_change_nothing() -> None:
    config = configs.PDControlConfig(2.0, 3.0)
    assert from_stage(config, StageUnits(1.0, 1.0), [True, False]) is config


def test_joints_that_turn_and_that_slide_have_no_number_in_common() -> None:
    with pytest.raises(ValueError, match=r"PDControlConfig\.kp is of joints that turn and .* metersPerUnit = 0\.01 "):
        from_stage(configs.PDControlConfig(2.0, 3.0), CGS, [True, False])
    assert from_stage(configs.PDControlConfig(2.0, 3.0), StageUnits(1.0, 0.001), [True, False]).kp == 0.002
    assert from_stage(configs.DelayConfig(3), CGS, [True, False]) == configs.DelayConfig(3)


def test_every_parameter_has_a_dimension_that_fits_its_unit() -> None:
    known = {
        (1, -1): ("N·m/rad or N/m", "N·m·s/rad or N·s/m", "N·m/(rad·s) or N/(m·s)", "kg·m² or kg"),
        (1, 0): ("N·m or N", "N·m/A or N/A", "N·m/√W or N/√W"),
        (1, 1): ("W",),
        (-1, 0): ("1/(N·m) or 1/N", "V/(N·m) or V/N"),
        (0, -1): ("1/rad or 1/m",),
        (0, 1): ("rad or m", "rad/s or m/s", "rad/s² or m/s²", "rad·s or m·s"),
        (0, 0): ("", "rad", "physics steps", *"s 1/s Hz V A A/s Ω H °C 1/K J/K K/W A·h".split()),
    }
    found = {one.unit: one.dimension for config in configs.CONFIGS for one in parameters_of(config).values()}
    assert found == {unit: dimension for dimension, units in known.items() for unit in units}


def robot(length: float, mass: float, kind: str) -> Usd.Stage:
    made = pendulum(kind=kind).stage
    UsdGeom.SetStageMetersPerUnit(made, length)
    UsdPhysics.SetStageKilogramsPerUnit(made, mass)
    return made


def authored(stage: Usd.Stage, config) -> tuple[str, str]:
    parts = {"controller": {}, "clamping": {"clamping": [config]}, "delay": {"delay": config}}
    law = config if config.KIND == "controller" else configs.PDControlConfig(30.0, 2.0)
    prim = add_actuator(ROBOT, "hinge", "act", law, stage=stage, **parts.get(config.KIND, {"others": [config]}))
    holders = (one for one in stage.Traverse() if config.SCHEMA in one.GetPrimTypeInfo().GetAppliedAPISchemas())
    return str(prim.GetPath()), str(next(holders).GetPath())


def broken(stage: Usd.Stage, prim: str, name: str, value_type: str):
    for value in (Sdf.ValueBlock(), math.nan, (1.0, 2.0, 3.0)):
        layer = Sdf.Layer.CreateAnonymous(".usda")
        layer.TransferContent(stage.GetRootLayer())
        if value == (1.0, 2.0, 3.0):
            layer.GetPrimAtPath(prim).RemoveProperty(layer.GetAttributeAtPath(f"{prim}.{name}"))
            Sdf.AttributeSpec(layer.GetPrimAtPath(prim), name, Sdf.ValueTypeNames.Color3f).default = value
        elif value_type == "float" or isinstance(value, Sdf.ValueBlock):
            layer.GetAttributeAtPath(f"{prim}.{name}").default = value
        else:
            continue
        yield Usd.Stage.Open(layer)


@cases("units", *STAGES)
@cases("kind", "Revolute", "Prismatic")
def test_required_value_that_is_missing_or_invalid_is_named_by_every_reader(kind, units) -> None:
    for config_type in configs.CONFIGS:
        required = [one for one in parameters_of(config_type).values() if one.fallback is None]
        if not required:
            continue
        stage = robot(*units, kind)
        actuator, holder = authored(stage, numbered(config_type))
        for one in required:
            for damaged in broken(stage, holder, one.attribute, one.type):
                where = f"<{holder}>.{one.attribute} "
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    with pytest.raises(ActuatorParseError) as from_motors:
                        motors_of(damaged)
                    with pytest.raises(ActuatorParseError) as from_prim:
                        parse_actuator_prim(damaged.GetPrimAtPath(actuator))
                    (inspected,) = robots_of_stage(damaged)
                lines = str(from_motors.value), str(from_prim.value), "\n".join(inspected.problems)
                assert all(where in text for text in lines), (where, lines)


def at_the_ends(one: Parameter) -> set[float]:
    ends = [one.lower, one.upper, math.nextafter(one.lower, math.inf), math.nextafter(one.upper, -math.inf)]
    return {*ends, 1e-30, 1e-6, 1e30, 3e35, FLOAT32_MAX, -FLOAT32_MAX}


def same(first: float, second: float) -> bool:
    """Return True if both are equal as far as single precision holds them."""
    return first == second or math.isclose(first, second, rel_tol=1e-5, abs_tol=1e-30)


@pytest.mark.filterwarnings("ignore:.*has no effect:UserWarning")
@cases("units", *STAGES, (1000.0, 1000.0))
@cases("geared", False, True)
def test_what_add_motors_accepts_reading_accepts(geared, units) -> None:
    empty, accepted = robot(*units, "Revolute"), 0
    for config_type in (
        *(configs.ElasticTransmissionConfig, configs.MaxEffortClampingConfig),
        *(configs.PDControlConfig, configs.ThermalConfig),
    ):
        whole = numbered(config_type)
        cases = [(name, one) for name, one in parameters_of(whole).items() if one.type == "float"]
        for name, number in (
            (name, number) for name, one in cases for number in at_the_ends(one) if one.accepts(number)
        ):
            config = dataclasses.replace(whole, **{name: number})
            stages = [config] if config.KIND == "controller" else [configs.PDControlConfig(30.0, 2.0), config]
            if geared and config.KIND != "transmission":
                stages.append(configs.TransmissionConfig(-50.0))
            layer = Sdf.Layer.CreateAnonymous(".usda")
            layer.TransferContent(empty.GetRootLayer())
            stage = Usd.Stage.Open(layer)
            try:
                add_motors(ROBOT, {"hinge": stages}, stage=stage)
            except ValueError as error:
                assert "must " in str(error)
                continue
            read = next(one for one in motors_of(stage)["hinge"].stages if type(one) is config_type)
            assert same(getattr(config, name), getattr(read, name)), (config_type, name, number)
            accepted += 1
    assert accepted > 40


def test_number_that_a_file_cannot_hold_is_refused_with_its_stage() -> None:
    """With the number that it becomes; where inf would switch a limit off, too."""
    for config, message in (
        (
            configs.PDControlConfig(1e35, 2.0),
            r"PDControlConfig\.kp = 1e\+35: would be inf, must be finite .* metersPerUnit = 0\.01",
        ),
        (configs.MaxEffortClampingConfig(1e35), r"MaxEffortClampingConfig\.max_effort = 1e\+35: would be inf, "),
    ):
        stage = robot(0.01, 1.0, "Revolute")
        before = stage.GetRootLayer().ExportToString()
        with pytest.raises(ValueError, match=message):
            authored(stage, config)
        assert stage.GetRootLayer().ExportToString() == before


def test_number_that_is_too_large_in_si_is_named_by_readers() -> None:
    stage = robot(1000.0, 1000.0, "Revolute")
    _, prim = authored(stage, configs.PDControlConfig(30.0, 2.0))
    stage.GetPrimAtPath(prim).GetAttribute("newton:kp").Set(1e38)
    with pytest.raises(
        ActuatorParseError, match=rf"<{prim}>\.newton:kp = 9\.99\d*e\+37: is 9\.99\d*e\+46 in SI, must be finite"
    ):
        motors_of(stage)


def test_armature_that_overflows_is_a_value_error() -> None:
    law = configs.PDControlConfig(30.0, 2.0)
    with pytest.raises(ValueError, match=r"ratio²·rotor_inertia = 1e\+40, that is finite in single precision"):
        motor = [law, configs.TransmissionConfig(1e10, rotor_inertia=1e20)]
        add_motors(ROBOT, {"hinge": motor}, stage=robot(1.0, 1.0, "Revolute"))
    stage = robot(0.001, 0.001, "Revolute")
    with pytest.raises(ValueError, match=r"physxJointAxis:angular:armature: 1e\+32 in SI is 1e\+41 in the units"):
        add_motors(ROBOT, {"hinge": MotorConfig(law, armature=1e32)}, stage=stage)
