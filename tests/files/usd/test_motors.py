"""Motors authored into USD by `add_motors`, and read back by `motors_of`."""

import warnings

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from isaacsim.core.experimental.actuators.base.errors import ActuatorParseError, HostError, UnsupportedSceneError
from isaacsim.core.experimental.actuators.files.usd import author
from isaacsim.core.experimental.actuators.files.usd.schema import applied_schemas
from neural_twin import random_network, write_network
from places import ROBOTS
from pxr import Sdf, Usd, UsdPhysics
from refusals import cases, refused
from small_stages import SmallStage, pendulum, two_robots

# robots with motors for some joints only
pytestmark = pytest.mark.filterwarnings("ignore:.* have no motor, and nothing else moves them")
LEG = "/World/Leg"
PD = aa.PDControlConfig(20.0, 2.0)


def leg():
    """A robot with joints `L_HAA`, `L_KFE`, `R_HAA`, `R_KFE` in a chain, and a slide."""
    made = SmallStage()
    made.root(LEG)
    names = ["L_HAA", "L_KFE", "R_HAA", "R_KFE"]
    for at, below in enumerate(["base", *names]):
        made.body(f"{LEG}/{below}_link")
        if at:
            made.joint(f"{LEG}/{below}", "Revolute", f"{LEG}/{['base', *names][at - 1]}_link", f"{LEG}/{below}_link")
    made.body(f"{LEG}/sole_link")
    made.joint(f"{LEG}/slide", "Prismatic", f"{LEG}/R_KFE_link", f"{LEG}/sole_link")
    return made.stage


@pytest.fixture
def stage():
    return leg()


def text(stage) -> str:
    return stage.GetRootLayer().ExportToString()


def shared(prims: list) -> list[str | None]:
    classes = [prim.GetInherits().GetAllDirectInherits() for prim in prims]
    return [found[0].name if found else None for found in classes]


def test_joints_that_nothing_moves_are_named(stage) -> None:
    UsdPhysics.DriveAPI.Apply(stage.GetPrimAtPath(f"{LEG}/L_KFE"), "angular").CreateStiffnessAttr(1.0)
    stage.GetPrimAtPath(f"{LEG}/R_HAA").AddAppliedSchema("NewtonMimicAPI")
    aa.add_actuator(LEG, "R_KFE", "knee", PD, stage=stage)
    with pytest.warns(UserWarning) as caught:
        aa.add_motors(LEG, {"L_HAA": [PD]}, stage=stage)
    assert [str(one.message) for one in caught] == [
        f"<{LEG}>: joints slide have no motor, and nothing else moves them. Give them one, if they are to be driven."
    ]
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        aa.add_motors(LEG, {"slide": [PD]}, stage=stage)


def test_motors_come_back_as_they_went_in(stage) -> None:
    motors = {
        ".*_HAA": aa.MotorConfig(
            PD, [aa.DCMotorClampingConfig(9.0, 2.0, 5.0), aa.MaxEffortClampingConfig(4.0)], aa.DelayConfig(3)
        ),
        ".*_KFE": [aa.PIDControlConfig(1, 2, 3, 4.0, 5.0), aa.PositionBasedClampingConfig([-1.0, 1.0], [3.0, 4.0])],
        "slide": [PD],
    }
    prims = aa.add_motors(LEG, motors, stage=stage)
    names = ("L_HAA", "R_HAA", "L_KFE", "R_KFE", "slide")
    assert [str(prim.GetPath()) for prim in prims] == [f"{LEG}/Actuators/{name}" for name in names]
    expected = {
        "L_HAA|R_HAA": motors[".*_HAA"],
        "L_KFE|R_KFE": aa.MotorConfig(motors[".*_KFE"][0], [motors[".*_KFE"][1]]),
        "slide": aa.MotorConfig(PD),
    }
    assert aa.motors_of(stage) == expected
    other = leg()
    aa.add_motors(LEG, aa.motors_of(stage), stage=other)
    assert aa.motors_of(other) == expected


def test_joints_with_other_values_get_prims_of_their_own(stage) -> None:
    kp = {".*_HAA": 1.0, "L_KFE": 2.0, "R_KFE|slide": 3.0}
    prims = aa.add_motors(LEG, {".*": [aa.PDControlConfig(kp, 0.0)]}, stage=stage)
    assert [prim.GetName() for prim in prims] == ["L_HAA", "R_HAA", "L_KFE", "R_KFE", "slide"]
    assert shared(prims) == ["_HAA", "_HAA", None, "_joints", "_joints"]
    gains = {joints: motor.controller.kp for joints, motor in aa.motors_of(stage).items()}
    assert gains == {"L_HAA|R_HAA": 1.0, "L_KFE": 2.0, "R_KFE|slide": 3.0}
    with aa.use_stage(leg()):
        again = {"L_.*": [aa.PDControlConfig({"L_HAA": 1.0, "L_KFE": 2.0}, 0.0)], "R.*": [PD], r"\w+de": [PD]}
        assert shared(aa.add_motors(LEG, again)) == [None, None, "_R", "_R", None]


def test_each_joint_has_a_prim_that_says_no_more_than_its_target(stage) -> None:
    left, right = aa.add_motors(LEG, {".*_HAA": [PD, aa.MaxEffortClampingConfig(4.0)]}, stage=stage)
    for prim, joint in ((left, "L_HAA"), (right, "R_HAA")):
        assert prim.GetRelationship("newton:targets").GetTargets() == [f"{LEG}/{joint}"]
        assert prim.GetAttribute("newton:kp").Get() == 20.0
        spec = stage.GetRootLayer().GetPrimAtPath(prim.GetPath())
        assert [one.name for one in spec.properties] == ["newton:targets"]
    assert stage.GetPrimAtPath(f"{LEG}/Actuators/_HAA").GetTypeName() == "", "nobody takes it for an actuator"
    left.GetAttribute("newton:kp").Set(30.0)
    gains = {joints: motor.controller.kp for joints, motor in aa.motors_of(stage).items()}
    assert gains == {"L_HAA": 30.0, "R_HAA": 20.0}


def test_limits_and_delays_are_authored_as_newton_takes_them(stage) -> None:
    """The plain limit last, for newton keeps the order; no delay of 0, which newton refuses."""
    limits = [aa.MaxEffortClampingConfig(4.0), aa.DCMotorClampingConfig(9.0, 2.0, 5.0)]
    motors = {"L.*": aa.MotorConfig(PD, limits, aa.DelayConfig({".*HAA": 0, ".*KFE": 3}))}
    hip, knee = aa.add_motors(LEG, motors, stage=stage)
    clamps = ["NewtonPDControlAPI", "NewtonDCMotorClampingAPI", "NewtonMaxEffortClampingAPI"]
    assert applied_schemas(hip) == clamps and applied_schemas(knee) == [*clamps, "NewtonActuatorDelayAPI"]


def test_a_class_goes_with_the_last_prim_that_inherits_from_it(stage) -> None:
    aa.add_motors(LEG, {"L_.*": [PD]}, stage=stage)
    assert shared(aa.add_motors(LEG, {"R_.*": [PD], "slide": [PD]}, stage=stage)) == ["_R", "_R", None]
    again = aa.add_motors(LEG, {"[LR]_HAA": [aa.PDControlConfig(1.0, 1.0)]}, stage=stage, overwrite_existing=True)
    assert shared(again) == ["_LR_HAA", "_LR_HAA"]
    children = stage.GetPrimAtPath(f"{LEG}/Actuators").GetAllChildrenNames()
    assert {"_L", "_R", "_LR_HAA"} < set(children), "one joint of each is left"
    aa.add_motors(LEG, {"[LR]_.*": [PD]}, stage=stage, overwrite_existing=True)
    children = stage.GetPrimAtPath(f"{LEG}/Actuators").GetAllChildrenNames()
    assert [name for name in children if name.startswith("_")] == ["_LR"]


def test_a_robot_that_is_referred_to_brings_the_class_along(stage) -> None:
    sets = stage.GetPrimAtPath(LEG).GetVariantSets().AddVariantSet("Physics")
    sets.AddVariant("motors")
    sets.SetVariantSelection("motors")
    with sets.GetVariantEditContext():
        prims = aa.add_motors(LEG, {".*": [PD]}, stage=stage)
    assert shared(prims) == ["_joints"] * 5
    scene = Usd.Stage.CreateInMemory()
    scene.DefinePrim("/Two").GetReferences().AddReference(stage.GetRootLayer().identifier, LEG)
    assert list(aa.motors_of(scene)) == ["L_HAA|L_KFE|R_HAA|R_KFE|slide"]
    assert next(iter(aa.motors_of(scene).values())) == aa.MotorConfig(PD)


def test_joints_that_turn_and_slide_share_a_motor_in_other_units() -> None:
    stage = leg()
    stage.SetMetadata("metersPerUnit", 0.01)
    prims = aa.add_motors(LEG, {"L_HAA|slide": [PD]}, stage=stage)
    assert shared(prims) == [None, None]
    assert [prim.GetAttribute("newton:kp").Get() for prim in prims] == pytest.approx([200_000.0, 20.0])


def test_names_in_any_script_come_back() -> None:
    made = SmallStage()
    made.root("/World/Hand")
    names = ["グリッパー", "Gelenk_ü", "Gelenk__ö"]
    for at, name in enumerate(["base", *names]):
        made.body(f"/World/Hand/link_{at}")
        if at:
            made.joint(f"/World/Hand/{name}", "Revolute", f"/World/Hand/link_{at - 1}", f"/World/Hand/link_{at}")
    motors = {"グリッパー": aa.MotorConfig(PD), "Gelenk_+[üö]": aa.MotorConfig(aa.PDControlConfig(1.0, 0.5))}
    assert [prim.GetName() for prim in aa.add_motors("/World/Hand", motors, stage=made.stage)] == names
    assert aa.motors_of(made.stage) == {
        "グリッパー": motors["グリッパー"],
        "Gelenk_ü|Gelenk__ö": motors["Gelenk_+[üö]"],
    }


def test_armature_and_frictions_are_the_joints_own(stage) -> None:
    motors = {
        ".*_HAA": aa.MotorConfig(PD, armature={"L.*": 0.25, "R.*": 0.5}, friction=0.125),
        ".*_KFE": aa.MotorConfig(PD, friction=0.75, viscous_friction=0.5),
        "slide": aa.MotorConfig(armature=2.0, viscous_friction=3.0),
    }
    assert len(aa.add_motors(LEG, motors, stage=stage)) == 4
    assert stage.GetAttributeAtPath(f"{LEG}/slide.physxJointAxis:linear:armature").Get() == 2.0
    expected = {
        "L_HAA|R_HAA": aa.MotorConfig(PD, armature={"L_HAA": 0.25, "R_HAA": 0.5}, friction=0.125),
        "L_KFE|R_KFE": aa.MotorConfig(PD, friction=0.75, viscous_friction=pytest.approx(0.5, rel=1e-7)),
    }
    assert aa.motors_of(stage) == expected
    assert stage.GetAttributeAtPath(f"{LEG}/slide.physxJointAxis:linear:viscousFrictionCoefficient").Get() == 3.0
    stage.GetAttributeAtPath(f"{LEG}/L_KFE.physxJointAxis:angular:staticFrictionEffort").Set(1.0)
    # one friction is not what that joint has
    assert aa.motors_of(stage)["L_KFE"].friction is None and aa.motors_of(stage)["R_KFE"].friction == 0.75


@cases(
    "attributes, expected",
    ({"newton:friction": 0.5, "newton:damping": np.radians(0.25)}, aa.FrictionConfig(0.5, pytest.approx(0.25))),
    ({"mjc:frictionloss": 0.5, "mjc:damping": 0.25}, aa.FrictionConfig(0.5, 0.25)),
    ({"newton:friction": 0.5, "mjc:frictionloss": 0.75}, aa.FrictionConfig(0.5)),
    (
        {
            "physxJointAxis:angular:staticFrictionEffort": 0.75,
            "physxJointAxis:angular:dynamicFrictionEffort": 0.5,
            "physxJointAxis:angular:viscousFrictionCoefficient": np.radians(0.25),
        },
        aa.FrictionConfig(0.5, pytest.approx(0.25), 0.75),
    ),
    ({"mjc:damping": 0.25}, aa.FrictionConfig(0.0, 0.25)),
    ({}, None),
)
def test_friction_of_a_joint_becomes_a_stage_on_demand(stage, attributes, expected) -> None:
    joint = stage.GetPrimAtPath(f"{LEG}/L_KFE")
    joint.AddAppliedSchema("PhysxJointAxisAPI:angular")
    for name, value in attributes.items():
        joint.CreateAttribute(name, Sdf.ValueTypeNames.Float).Set(value)
    aa.add_motors(LEG, {".*_KFE": [PD]}, stage=stage)
    found = aa.motors_of(stage, friction_stages=True)
    if expected is None:
        assert found == {"L_KFE|R_KFE": aa.MotorConfig(PD)}
    else:
        assert found == {"L_KFE": aa.MotorConfig(PD, others=[expected]), "R_KFE": aa.MotorConfig(PD)}


def test_a_friction_stage_of_a_file_is_the_whole_friction(stage) -> None:
    friction = aa.FrictionConfig(0.5, 0.25, 0.75, 0.5)
    aa.add_motors(LEG, {".*_KFE": aa.MotorConfig(PD, others=[friction])}, stage=stage)
    stage.GetPrimAtPath(f"{LEG}/L_KFE").CreateAttribute("newton:friction", Sdf.ValueTypeNames.Float).Set(2.0)
    for as_stages in (False, True):
        assert aa.motors_of(stage, friction_stages=as_stages) == {"L_KFE|R_KFE": aa.MotorConfig(PD, others=[friction])}


def test_every_problem_is_told_at_once_and_nothing_is_authored(stage) -> None:
    aa.add_actuator(LEG, "slide", "push", PD, stage=stage)
    before = text(stage)
    wrong = {"HAA": [PD], ".*_HAA": [aa.PDControlConfig(-1.0, 0.0)], ".*_KFE": aa.MotorConfig(PD, armature=-1.0)}
    message = refused(ValueError, lambda: aa.add_motors(LEG, wrong, stage=stage))
    for part in ("'HAA' matches no joint", "['.*_HAA'].controller.kp = -1.0", "['.*_KFE'].armature = -1.0"):
        assert part in message
    with pytest.raises(ValueError, match=r"slide> is driven by <.*/push> already. Deactivate that prim, or pass"):
        aa.add_motors(LEG, {".*": [PD]}, stage=stage)
    with pytest.raises(ValueError, match=r"kp has shape \(2,\): must be \(robots,\) = \(1,\)"):
        aa.add_motors(LEG, {".*": [aa.PDControlConfig(np.ones(2), 0.0)]}, stage=stage)
    assert text(stage) == before


def test_an_error_amid_writing_leaves_the_layer_as_it_was(stage, monkeypatch) -> None:
    before, write, calls = text(stage), author._write, []

    def second_fails(*args) -> None:
        calls.append(args)
        if len(calls) == 2:
            raise RuntimeError("disk is full")
        write(*args)

    monkeypatch.setattr(author, "_write", second_fails)
    with pytest.raises(RuntimeError, match="disk is full"):
        aa.add_motors(LEG, {".*_HAA": aa.MotorConfig(PD, armature=0.1), ".*_KFE": [PD]}, stage=stage)
    assert text(stage) == before and len(calls) == 2


def test_a_joint_property_that_cannot_be_authored_is_an_error(stage) -> None:
    with Usd.EditContext(stage, stage.GetSessionLayer()):
        aa.add_motors(LEG, {".*_HAA": aa.MotorConfig(armature=0.5)}, stage=stage)
    before = text(stage)
    with pytest.raises(HostError, match="has no effect, for a stronger layer authors it"):
        aa.add_motors(LEG, {".*_KFE": [PD], ".*_HAA": aa.MotorConfig(PD, armature=0.1)}, stage=stage)
    assert text(stage) == before


def test_overwrite_replaces_what_drives_the_joints(stage) -> None:
    aa.add_actuator(LEG, ["L_HAA", "L_KFE"], "left", PD, stage=stage)
    aa.add_actuator(LEG, "slide", "push", PD, stage=stage)
    aa.add_motors(LEG, {"L.*|slide": [aa.PIDControlConfig(1.0, 2.0, 3.0)]}, stage=stage, overwrite_existing=True)
    assert list(aa.motors_of(stage)) == ["L_HAA|L_KFE|slide"]
    aa.add_actuator(LEG, ["R_HAA", "R_KFE"], "right", PD, stage=stage)
    with pytest.raises(ValueError, match="which drives other joints too"):
        aa.add_motors(LEG, {"R_KFE": [PD]}, stage=stage, overwrite_existing=True)
    with Usd.EditContext(stage, stage.GetSessionLayer()):
        with pytest.raises(ValueError, match="in another layer than the edit target"):
            aa.add_motors(LEG, {".*": [PD]}, stage=stage, overwrite_existing=True)


def test_joints_outside_articulations_match_no_pattern(stage) -> None:
    stage.DefinePrim(f"{LEG}/loop", "PhysicsRevoluteJoint").CreateAttribute(
        "physics:excludeFromArticulation", Sdf.ValueTypeNames.Bool
    ).Set(True)
    stage.DefinePrim(f"{LEG}/weld", "PhysicsFixedJoint")
    prims = aa.add_motors(LEG, {".*": [PD]}, stage=stage)
    assert [prim.GetName() for prim in prims] == ["L_HAA", "L_KFE", "R_HAA", "R_KFE", "slide"]


def test_motors_of_a_file_and_of_one_robot_of_several() -> None:
    assert aa.motors_of(ROBOTS / "pendulum.usda")["hinge"].controller is not None
    stage = two_robots(ROBOTS / "pendulum.usda", "/World/Pendulum")
    refused(ValueError, lambda: aa.motors_of(stage), r"stands for \[.*\], must for one")
    assert aa.motors_of(stage, "/World/Left") == aa.motors_of(ROBOTS / "pendulum.usda")
    refused(ValueError, lambda: aa.motors_of(stage, "/World/Middle"), "matches none")


def test_networks_come_with_full_paths_that_the_stage_may_name(tmp_path) -> None:
    (tmp_path / "robot").mkdir()
    write_network(tmp_path / "robot" / "net.safetensors", random_network("mlp", 2), {"model_type": "mlp"})
    made = leg()
    made.GetRootLayer().Export(str(tmp_path / "robot" / "leg.usda"))
    stage = Usd.Stage.Open(str(tmp_path / "robot" / "leg.usda"))
    aa.add_motors(LEG, {".*": [aa.NeuralControlConfig("./net.safetensors")]}, stage=stage)
    found = next(iter(aa.motors_of(stage).values()))
    assert found.controller == aa.NeuralControlConfig(str((tmp_path / "robot" / "net.safetensors").resolve()))
    write_network(tmp_path / "outside.safetensors", random_network("mlp", 2), {"model_type": "mlp"})
    stage.GetAttributeAtPath(f"{LEG}/Actuators/_joints.newton:modelPath").Set("../outside.safetensors")
    refused(ActuatorParseError, lambda: aa.motors_of(stage), "must lie in the folder of the layer")


@pytest.mark.filterwarnings("ignore:.*performance envelope:UserWarning")
@cases("max_force", 20.0, None)
def test_the_envelope_of_a_drive_is_a_limit_of_its_motor(max_force) -> None:
    made = pendulum()
    made.drive("/World/Robot/hinge", stiffness=1.0, **({} if max_force is None else {"maxForce": max_force}))
    made.stage.GetPrimAtPath("/World/Robot/hinge").AddAppliedSchema("PhysxDrivePerformanceEnvelopeAPI:angular")
    for name, value in {"maxActuatorVelocity": 90.0, "velocityDependentResistance": np.radians(2.0)}.items():
        made.attribute("/World/Robot/hinge", f"physxDrivePerformanceEnvelope:angular:{name}", float(value))
    with aa.Simulation(made.stage) as sim:
        if max_force is None:
            with pytest.warns(
                UserWarning, match="</World/Robot/hinge>: the performance env.*\n.*max_force = inf: must"
            ):
                assert aa.motors_of(sim)["hinge"].clamping == []
            return
        (limit,) = aa.motors_of(sim)["hinge"].clamping
    assert isinstance(limit, aa.EnvelopeClampingConfig)
    assert limit.to_physx() == pytest.approx((20.0, 2.0, np.pi / 2, 0.0))


def test_the_limit_of_the_joint_is_authored_as_a_number(stage) -> None:
    UsdPhysics.DriveAPI.Apply(stage.GetPrimAtPath(f"{LEG}/L_HAA"), "angular").CreateMaxForceAttr(40.0)
    knee = stage.GetPrimAtPath(f"{LEG}/L_KFE")
    for side, value in (("min", -20.0), ("max", 20.0)):
        knee.CreateAttribute(f"mjc:actuatorfrcrange:{side}", Sdf.ValueTypeNames.Double).Set(value)
    limit = aa.MaxEffortClampingConfig("joint")
    prims = aa.add_motors(LEG, {"L_.*": [PD, limit]}, stage=stage)
    assert [prim.GetAttribute("newton:maxEffort").Get() for prim in prims] == [40.0, 20.0]
    with pytest.raises(ValueError, match="max_effort = 'joint': joints R_HAA, R_KFE have no effort limit"):
        aa.add_motors(LEG, {"R_.*": [PD, limit]}, stage=stage)


def test_intervals_stand_beside_the_values(stage) -> None:
    motors = {f"{side}_HAA": aa.MotorConfig(PD, intervals={"kp": (1.0, 1.5 + at)}) for at, side in enumerate("LR")}
    prims = aa.add_motors(LEG, motors, stage=stage)
    assert prims[1].GetAttribute("interval:kp").Get() == (1.0, 2.5) and aa.motors_of(stage) == motors
    aa.add_motors(LEG, {"L_HAA": [PD]}, stage=stage, overwrite_existing=True)
    assert aa.motors_of(stage)["L_HAA"].intervals == {}
    prims[1].CreateAttribute("interval:kd", Sdf.ValueTypeNames.String).Set("wide")
    refused(UnsupportedSceneError, lambda: aa.motors_of(stage), "interval:kd")
