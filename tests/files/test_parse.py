"""`parse_actuator_prim`, and components registered for custom schemas."""

import math

import isaacsim.core.experimental.actuators as aa
import pytest
import warp as wp
from isaacsim.core.experimental.actuators.base.errors import ActuatorParseError
from isaacsim.core.experimental.actuators.files.usd import schema
from isaacsim.core.experimental.actuators.laws.contract import catalogue
from isaacsim.core.experimental.actuators.simulators.arrays import ArraysHost
from pxr import Sdf, Usd, UsdPhysics

ROOT = "/Robot"


@pytest.fixture
def stage() -> Usd.Stage:
    made = Usd.Stage.CreateInMemory()
    UsdPhysics.ArticulationRootAPI.Apply(made.DefinePrim(ROOT, "Xform"))
    for name in ("knee", "ankle"):
        UsdPhysics.RevoluteJoint.Define(made, f"{ROOT}/joints/{name}")
    return made


def test_prim_becomes_classes_and_arguments(stage) -> None:
    clamps = [aa.MaxEffortClampingConfig(5.0), aa.DCMotorClampingConfig(9.0, 8.0, 7.0)]
    law, delay = aa.PIDControlConfig(1.0, 2.0, 3.0), aa.DelayConfig(4)
    prim = aa.add_actuator(ROOT, ["knee", "ankle"], "act", law, clamping=clamps, delay=delay, stage=stage)
    parsed = aa.parse_actuator_prim(prim)
    assert parsed.controller_class is aa.ControllerPID
    assert parsed.controller_kwargs == {"kp": 1, "ki": 2, "kd": 3, "integral_max": math.inf, "const_effort": 0}
    assert parsed.component_specs == [
        (aa.ClampingMaxEffort, {"max_effort": 5}),
        (aa.ClampingDCMotor, {"saturation_effort": 9, "velocity_limit": 8, "max_motor_effort": 7}),
        (aa.Delay, {"delay_steps": 4}),
    ]
    assert parsed.target_path == f"{ROOT}/joints/knee"
    assert parsed.target_paths == [f"{ROOT}/joints/knee", f"{ROOT}/joints/ankle"]


def test_arguments_make_the_component(stage) -> None:
    table = aa.PositionBasedClampingConfig([0.0, 1.0], [2.0, 3.0])
    prim = aa.add_actuator(ROOT, "knee", "act", aa.PDControlConfig(1.0, 2.0), clamping=[table], stage=stage)
    parsed = aa.parse_actuator_prim(prim)
    assert parsed.controller_class.resolve_arguments(parsed.controller_kwargs) == parsed.controller_kwargs
    ((clamp, arguments),) = parsed.component_specs
    assert clamp is aa.ClampingPositionBased
    assert clamp(**clamp.resolve_arguments(arguments)).lookup_efforts == [2.0, 3.0]


def test_other_prims_are_none(stage) -> None:
    assert aa.parse_actuator_prim(stage.GetPrimAtPath(ROOT)) is None


def test_every_problem_is_reported_at_once(stage) -> None:
    prim = aa.add_actuator(ROOT, "knee", "act", aa.PDControlConfig(1.0, 2.0), stage=stage)
    prim.GetAttribute("newton:kp").Set(-1.0)
    prim.GetAttribute("newton:kd").Set(math.nan)
    prim.GetRelationship("newton:targets").SetTargets([ROOT])
    with pytest.raises(ActuatorParseError) as error:
        aa.parse_actuator_prim(prim)
    assert len(error.value.issues) == 3


def test_network_that_is_not_there_is_refused(stage) -> None:
    """Its file is read with the prim; see `test_neural_actuators` for one that is there."""
    prim = aa.add_actuator(ROOT, "knee", "act", aa.NeuralControlConfig("knee.onnx"), stage=stage)
    with pytest.raises(ActuatorParseError, match=r"<.*/act>.newton:modelPath = 'knee.onnx' .*no such file"):
        aa.parse_actuator_prim(prim)


@wp.kernel
def _constant_kernel(value: wp.array[float], efforts: wp.array[float]):
    efforts[wp.tid()] = value[wp.tid()]


class Constant(aa.Controller):
    """A law of the host program: the same effort always, from `newton:holdEffort`."""

    def __init__(self, hold_effort: wp.array) -> None:
        self.hold_effort = hold_effort

    @classmethod
    def resolve_arguments(cls, args: dict) -> dict:
        if args.get("hold_effort", 0.0) < 0:
            raise ValueError(f"hold_effort = {args['hold_effort']}: must be >= 0.")
        return {"hold_effort": args.get("hold_effort", 0.0)}

    def compute(self, *args, device=None) -> None:
        forces = args[9]
        wp.launch(_constant_kernel, len(forces), [self.hold_effort], [forces], device=device)


class Doubling(aa.Clamping):
    @classmethod
    def resolve_arguments(cls, args: dict) -> dict:
        return {}

    def modify_forces(self, src_forces: wp.array, dst_forces: wp.array, *_, device=None) -> None:
        dst_forces.assign(src_forces.numpy() * 2)


def own_prim(stage: Usd.Stage, hold: float) -> Usd.Prim:
    """An actuator prim with schemas of the host program's own, and a plain limit."""
    prim = stage.DefinePrim(f"{ROOT}/Actuators/own", aa.SchemaNames.ACTUATOR)
    for token in ("NewtonHoldControlAPI", aa.SchemaNames.MAX_EFFORT_CLAMPING, "AcmeDoublingAPI"):
        prim.AddAppliedSchema(token)
    prim.CreateAttribute("newton:holdEffort", Sdf.ValueTypeNames.Float).Set(hold)
    prim.CreateAttribute("newton:maxEffort", Sdf.ValueTypeNames.Float).Set(7.0)
    prim.CreateRelationship("newton:targets").SetTargets([f"{ROOT}/joints/knee"])
    return prim


def test_registered_component_is_parsed_and_driven_from_usd(stage) -> None:
    own_prim(stage, 3.0)
    aa.add_actuator(ROOT, "ankle", "ankle", aa.PDControlConfig(4.0, 0.0), stage=stage)
    aa.register_actuator_component("NewtonHoldControlAPI", Constant, aa.ComponentKind.CONTROLLER)
    aa.register_actuator_component("AcmeDoublingAPI", Doubling, aa.ComponentKind.CLAMPING)
    parsed = aa.parse_actuator_prim(stage.GetPrimAtPath(f"{ROOT}/Actuators/own"))
    assert (parsed.controller_class, parsed.controller_kwargs) == (Constant, {"hold_effort": 3.0})
    host = ArraysHost(["knee", "ankle"], 2, path=ROOT, stage=stage)
    with aa.use_host(host):
        wrapper = aa.ArticulationActuators(f"{ROOT}_.*")
        host.play()
        host.arrays().position_targets[:] = 1.0
        host.step(0.01)
        assert host.arrays().efforts.tolist() == [6, 4, 6, 4]
        wrapper.actuators[0].controller.hold_effort.fill_(5.0)
        host.step(0.01)
        assert host.arrays().efforts.tolist() == [7, 4, 7, 4]
        wrapper.close()


def test_unregistered_schema_is_refused(stage) -> None:
    with (
        pytest.warns(UserWarning, match="applies NewtonHoldControlAPI, which has no effect"),
        pytest.warns(UserWarning, match="newton:holdEffort .* It may be of NewtonHoldControlAPI"),
    ):
        with pytest.raises(ActuatorParseError, match=r"NewtonHoldControlAPI.*: must have a controller schema"):
            aa.parse_actuator_prim(own_prim(stage, 3.0))


def test_value_that_the_component_refuses_names_the_prim(stage) -> None:
    own_prim(stage, -3.0)
    aa.register_actuator_component("NewtonHoldControlAPI", Constant, aa.ComponentKind.CONTROLLER)
    aa.register_actuator_component("AcmeDoublingAPI", Doubling, aa.ComponentKind.CLAMPING)
    with aa.use_host(ArraysHost(["knee", "ankle"], path=ROOT, stage=stage)):
        with pytest.raises(ActuatorParseError, match=r"</Robot/Actuators/own>: hold_effort = -3.0"):
            aa.ArticulationActuators(ROOT)


def test_registering_twice_warns_and_builtins_stay() -> None:
    aa.register_actuator_component("AcmeDoublingAPI", Doubling, aa.ComponentKind.CLAMPING)
    aa.register_actuator_component("AcmeDoublingAPI", Doubling, aa.ComponentKind.CLAMPING)
    with pytest.warns(UserWarning, match="AcmeDoublingAPI was registered for Doubling"):
        aa.register_actuator_component("AcmeDoublingAPI", aa.ClampingMaxEffort, aa.ComponentKind.CLAMPING)
    with pytest.raises(ValueError, match="built in"):
        aa.register_actuator_component(aa.SchemaNames.PD_CONTROL, aa.ControllerPD, aa.ComponentKind.CONTROLLER)


def test_function_chooses_the_component_of_a_prim(stage) -> None:
    own_prim(stage, 3.0)
    seen: list[dict] = []

    def choose(values: dict) -> type[aa.Controller]:
        seen.append(values)
        if values["hold_effort"] > 5:
            raise ValueError("hold_effort is too much for any law.")
        return Constant

    aa.register_actuator_component("NewtonHoldControlAPI", choose, aa.ComponentKind.CONTROLLER)
    aa.register_actuator_component("AcmeDoublingAPI", Doubling, aa.ComponentKind.CLAMPING)
    prim = stage.GetPrimAtPath(f"{ROOT}/Actuators/own")
    parsed = aa.parse_actuator_prim(prim)
    assert (parsed.controller_class, parsed.controller_kwargs) == (Constant, {"hold_effort": 3.0})
    assert seen[0]["hold_effort"] == 3.0
    with aa.use_host(ArraysHost(["knee", "ankle"], path=ROOT, stage=stage)):
        wrapper = aa.ArticulationActuators(ROOT)
        assert isinstance(wrapper.actuators[0].controller, Constant)
        wrapper.close()
    prim.GetAttribute("newton:holdEffort").Set(6.0)
    with pytest.raises(ActuatorParseError, match=r"</Robot/Actuators/own>: hold_effort is too much"):
        aa.parse_actuator_prim(prim)


@pytest.mark.parametrize(
    ("chosen", "words"),
    [(Constant(None), "must be a component class"), (Doubling, "must be a subclass of Controller")],
    ids=["object", "other kind"],
)
def test_what_a_function_chooses_is_checked(stage, chosen, words) -> None:
    own_prim(stage, 3.0)
    aa.register_actuator_component("NewtonHoldControlAPI", lambda _values: chosen, aa.ComponentKind.CONTROLLER)
    aa.register_actuator_component("AcmeDoublingAPI", Doubling, aa.ComponentKind.CLAMPING)
    with pytest.raises(ActuatorParseError, match=f"</Robot/Actuators/own>: .*{words}"):
        aa.parse_actuator_prim(stage.GetPrimAtPath(f"{ROOT}/Actuators/own"))


@pytest.mark.parametrize(
    ("component", "words"),
    [(None, "component_class = None"), (3, "component_class = 3"), (int, "int"), (Doubling, "Doubling")],
)
def test_what_is_no_component_is_not_registered(component, words) -> None:
    with pytest.raises(ValueError, match=f"{words}.*must be a subclass of .*Controller"):
        aa.register_actuator_component("AcmeHoldAPI", component, aa.ComponentKind.CONTROLLER)
    assert "AcmeHoldAPI" not in catalogue._registered and "AcmeHoldAPI" not in schema._foreign


def test_schema_names_follow_from_the_configs() -> None:
    assert aa.SchemaNames.PD_CONTROL == aa.PDControlConfig.SCHEMA
    assert aa.SchemaNames.DC_MOTOR_CLAMPING == aa.DCMotorClampingConfig.SCHEMA
    assert aa.SchemaNames.DELAY == aa.DelayConfig.SCHEMA
    with pytest.raises(AttributeError, match="SchemaNames has no NONSENSE: known are ACTUATOR, PD_CONTROL"):
        aa.SchemaNames.NONSENSE  # noqa: B018
