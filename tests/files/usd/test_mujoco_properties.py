"""Properties of joints as MuJoCo takes them from a stage: before play they are those after it."""

import math
import re
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from isaacsim.core.experimental.actuators import Simulation
from isaacsim.core.experimental.actuators.base.errors import HostError
from isaacsim.core.experimental.actuators.simulators.authoring import motors_of_robot
from isaacsim.core.experimental.actuators.simulators.scene.read import read_scene
from physics_engines import ENGINES, installed
from pxr import Sdf, Usd, UsdPhysics
from refusals import cases, refused
from small_stages import SmallStage, pendulum

ROBOT, HINGE = "/World/Robot", "/World/Robot/hinge"


def driven(**values: Any) -> SmallStage:
    """A pendulum whose actuator of MuJoCo is a drive of gains 40 and 4, limit 6 and armature 1, through its gear."""
    made = pendulum()
    prim = made.stage.DefinePrim("/World/drive", "MjcActuator")
    prim.CreateRelationship("mjc:target").SetTargets([HINGE])
    for name, value in ({"gainPrm": [10.0], "biasPrm": [0.0, -10.0, -1.0], "gear": [2.0]} | values).items():
        prim.CreateAttribute(f"mjc:{name}", Sdf.ValueTypeNames.DoubleArray).Set(value)
    for name, value in {"armature": 0.25, "forceRange:min": -3.0, "forceRange:max": 3.0}.items():
        prim.CreateAttribute(f"mjc:{name}", Sdf.ValueTypeNames.Double).Set(value)
    prim.CreateAttribute("mjc:biasType", Sdf.ValueTypeNames.Token).Set("affine")
    return made


def found(robot: Any) -> list[float]:
    limits = robot.get_dof_max_efforts(), robot.get_dof_armatures()
    arrays = *robot.get_dof_gains(), *limits, *robot.get_dof_friction_properties()
    return [float(one.numpy().item()) for one in arrays]


@pytest.mark.parametrize("engine", ENGINES)
def test_actuators_of_mujoco_count_before_play(engine: str) -> None:
    with Simulation(driven().stage, engine=installed(engine)) as sim:
        robot = sim.articulation(ROBOT)
        expected = [40.0, 4.0, 6.0, 1.0, 0.0, 0.0, 0.0]
        if engine == "physx":
            expected = [0.0, 0.0, math.inf, 0.0, 0.0, 0.0, 0.0]
        assert found(robot) == expected
        sim.play()
        assert found(robot) == pytest.approx(expected)


def test_control_modes_come_back_to_gains_of_an_actuator() -> None:
    with Simulation(driven().stage) as sim:
        sim.play()
        robot = sim.articulation(ROBOT)
        for mode, gains in (("effort", [0.0, 0.0]), ("velocity", [0.0, 4.0]), ("position", [40.0, 4.0])):
            robot.switch_dof_control_mode(mode)
            assert found(robot)[:2] == gains


def test_attributes_of_mujoco_on_joints_count_before_play() -> None:
    made = pendulum()
    for name, value in {"armature": 0.5, "frictionloss": 0.25, "damping": 0.75}.items():
        made.attribute(HINGE, f"mjc:{name}", value)
    for side, value in (("min", -7.0), ("max", 7.0)):
        made.attribute(HINGE, f"mjc:actuatorfrcrange:{side}", value)
    with Simulation(made.stage) as sim:
        robot = sim.articulation(ROBOT)
        assert found(robot)[2:] == [7.0, 0.5, 0.25, 0.25, 0.75]
        robot.set_dof_armatures(0.1)
        before = found(robot)
        assert before[3] == pytest.approx(0.1)
        sim.play()
        assert found(robot) == pytest.approx(before)


@cases(
    "setter, values, expected",
    ("armatures", (0.0,), [0.0, 0.25, 0.25, 0.75]),
    ("friction_properties", (0.0, 0.0, 0.0), [0.5, 0.0, 0.0, 0.0]),
    ("friction_properties", (None, None, 0.0), [0.5, 0.25, 0.25, 0.0]),
)
def test_zero_that_is_set_before_play_replaces_attributes_of_mujoco(setter, values, expected) -> None:
    """They apply where the other attributes are 0, and still applied after a setter had written 0."""
    made = pendulum()
    for name, value in {"armature": 0.5, "frictionloss": 0.25, "damping": 0.75}.items():
        made.attribute(HINGE, f"mjc:{name}", value)
    with Simulation(made.stage) as sim:
        robot = sim.articulation(ROBOT)
        getattr(robot, f"set_dof_{setter}")(*values)
        assert found(robot)[3:] == pytest.approx(expected)
        sim.play()
        assert found(robot)[3:] == pytest.approx(expected)


def test_attribute_of_mujoco_in_a_stronger_layer_is_named() -> None:
    made = pendulum()
    made.attribute(HINGE, "mjc:armature", 0.5)
    stage = made.stage
    weak = Sdf.Layer.CreateAnonymous()
    stage.GetRootLayer().subLayerPaths.append(weak.identifier)
    with Simulation(stage) as sim, Usd.EditContext(stage, weak):
        with pytest.raises(HostError, match=r"mjc:armature: setting it at the edit target .* has no effect"):
            sim.articulation(ROBOT).set_dof_armatures(0.0)
        assert not weak.rootPrims


@cases(
    "setter, values, expected",
    ("gains", (5.0,), [5.0, 4.0, 6.0, 1.0]),
    ("gains", (None, 0.5), [40.0, 0.5, 6.0, 1.0]),
    ("armatures", (1.5,), [40.0, 4.0, 6.0, 1.5]),
    ("max_efforts", (2.0,), [40.0, 4.0, 2.0, 1.0]),
)
def test_what_is_set_before_play_beside_an_actuator_holds(setter, values, expected) -> None:
    with Simulation(driven().stage) as sim:
        robot = sim.articulation(ROBOT)
        getattr(robot, f"set_dof_{setter}")(*values)
        assert found(robot)[:4] == pytest.approx(expected)
        sim.play()
        assert found(robot)[:4] == pytest.approx(expected)


@cases(
    "setter, values, words",
    ("gains", (0.0, 0.0), "gains of 0 leave the MjcActuator prims that drive the joint. Deactivate the prims"),
    ("armatures", (0.5,), "an armature of 0.5 is below that of the MjcActuator prims"),
    ("max_efforts", (9.0,), "a largest effort of 9 is above that of the MjcActuator prims"),
)
def test_what_has_no_effect_beside_an_actuator_is_refused(setter: str, values: tuple[float, ...], words: str) -> None:
    stage = driven().stage
    before = stage.GetRootLayer().ExportToString()
    with Simulation(stage) as sim:
        robot = sim.articulation(ROBOT)
        refused(HostError, lambda: getattr(robot, f"set_dof_{setter}")(*values), words)
        assert stage.GetRootLayer().ExportToString() == before
        sim.play()
        getattr(robot, f"set_dof_{setter}")(*values)


def test_constant_effort_that_gains_end_is_named() -> None:
    with Simulation(driven(biasPrm=[1.5, -10.0, -1.0]).stage) as sim:
        with pytest.warns(
            UserWarning, match="constant effort 3 N·m or N of its MjcActuator prims acts no long"
        ) as seen:
            sim.articulation(ROBOT).set_dof_gains(5.0)
        assert seen[0].filename == __file__


def test_copies_share_what_their_stage_has() -> None:
    with Simulation(driven().stage, num_envs=2) as sim:
        robot = sim.articulation("/World/envs/env_.*/Robot")
        np.testing.assert_array_equal(robot.get_dof_gains()[0].numpy(), [[40.0], [40.0]])


def mjc_actuator(made: SmallStage, name: str, target: str | None = HINGE, **values: object) -> None:
    prim = made.stage.DefinePrim(f"/World/{name}", "MjcActuator")
    if target is not None:
        prim.CreateRelationship("mjc:target").SetTargets([target])
    for key, value in values.items():
        kinds = {str: Sdf.ValueTypeNames.Token, float: Sdf.ValueTypeNames.Double, list: Sdf.ValueTypeNames.DoubleArray}
        prim.CreateAttribute(f"mjc:{key.replace('_', ':')}", kinds[type(value)]).Set(value)


def position(gear: float = 1.0) -> dict[str, Any]:
    """A position actuator of gains 10 and 1."""
    return {"gainPrm": [10.0], "biasPrm": [0.0, -10.0, -1.0], "biasType": "affine", "gear": [gear]}


def forces(low: float, high: float, of: str = "force") -> dict[str, Any]:
    return {f"{of}Range_min": low, f"{of}Range_max": high}


DC_MOTOR: dict[str, Any] = {"dynType": "dcmotor", "gainType": "dcmotor", "biasType": "dcmotor"}
CASES = [
    (position(-2.0) | forces(-3.0, 3.0), '<position joint="hinge" kp="10" kv="1" gear="-2" forcerange="-3 3"/>'),
    ({"gear": [5.0]} | forces(-1.0, 1.0, "ctrl"), '<motor joint="hinge" gear="5" ctrlrange="-1 1"/>'),
    ({"gear": [5.0]}, '<motor joint="hinge" gear="5"/>'),
    (
        {"gainPrm": [3.0], "biasPrm": [0.0, 0.0, -3.0], "biasType": "affine"} | forces(-2.0, 2.0, "ctrl"),
        '<velocity joint="hinge" kv="3" ctrlrange="-2 2"/>',
    ),
    (
        {"gainPrm": [3.0], "biasPrm": [1.0, -2.0, -3.0], "biasType": "affine"},
        '<general joint="hinge" gainprm="3" biasprm="1 -2 -3" biastype="affine"/>',
    ),
    (
        position() | forces(-3.0, 3.0) | {"forceLimited": "false"},
        '<position joint="hinge" kp="10" kv="1" forcelimited="false" forcerange="-3 3"/>',
    ),
    # packed as MuJoCo 4.0 does
    (
        {"gainPrm": [0.5, 0.25], "dynPrm": [0.004, 30.0], "gear": [2.0]} | DC_MOTOR | forces(-12.0, 12.0, "ctrl"),
        '<dcmotor joint="hinge" motorconst=".25" resistance=".5" inductance=".002" saturation="0 0 30" gear="2"'
        ' ctrlrange="-12 12"/>',
    ),
    (
        {"gainPrm": [0.5, 0.25, 0, 0, 3.0, 0.0, 0.5, 24.0], "biasPrm": [0.125, 6.0, 0.5], "gear": [-2.0]} | DC_MOTOR,
        '<dcmotor joint="hinge" motorconst=".25" resistance=".5" input="pos" controller="3 0 .5 0 0 24"'
        ' cogging=".125 6 .5" gear="-2"/>',
    ),
]


@pytest.mark.parametrize(("values", "actuator"), CASES)
def test_motor_is_that_of_the_same_mjcf(values: dict[str, Any], actuator: str) -> None:
    mujoco = pytest.importorskip("mujoco")
    made = pendulum()
    mjc_actuator(made, "drive", **values)
    for name, value in (("armature", 0.5), ("frictionloss", 0.25), ("damping", 0.75)):
        made.stage.GetPrimAtPath(HINGE).CreateAttribute(f"mjc:{name}", Sdf.ValueTypeNames.Double).Set(value)
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><worldbody><body><joint name="hinge" armature="0.5" frictionloss="0.25" damping="0.75"/>
        <geom size="1"/></body></worldbody><actuator>{actuator}</actuator></mujoco>"""
    )
    assert aa.motors_of(made.stage) == aa.motors_of_model(model)


def test_dc_motors_of_prims() -> None:
    made = pendulum()
    ranged = {"gainPrm": [0.5, 0.25, 0.0, 0.0, 3.0], "dynPrm": [*[0.0] * 7, 5.0]} | DC_MOTOR
    mjc_actuator(made, "drive", **ranged, **forces(-1.0, 1.0, "ctrl"))
    with pytest.warns(UserWarning, match=r"have what motors have not: </World/drive> \(the range of") as caught:
        motors = aa.motors_of(made.stage)
    assert caught[0].filename == __file__ and isinstance(motors["hinge"].others[0], aa.ElectricalConfig)
    assert motors["hinge"].controller == aa.SlewedPIDControlConfig(3.0, 0.0, 0.0, 5.0)
    made = pendulum()
    mjc_actuator(made, "drive", **DC_MOTOR | {"gainPrm": [0.5, 0.25], "gear": [0.0]})
    with pytest.warns(UserWarning, match=r"no motor stands for: </World/drive> \(a DC motor with the gear 0"):
        assert aa.motors_of(made.stage) == {}


def test_range_of_position_targets_is_none_of_a_motor() -> None:
    made = pendulum()
    mjc_actuator(made, "drive", **position(-2.0), **forces(-1.0, 4.0, "ctrl"))
    with pytest.warns(
        UserWarning, match=r"ctrlRange, which motors do not: </World/drive> \(-2 … 0.5\), in rad"
    ) as caught:
        assert aa.motors_of(made.stage) == {"hinge": aa.MotorConfig(aa.PDControlConfig(40.0, 4.0))}
    assert caught[0].filename == __file__


@cases(
    "values, kind, expected",
    (position() | forces(-2.6, -0.7, "ctrl"), "position", (-2.6, -0.7)),
    (position(-2.0) | forces(-1.0, 4.0, "ctrl"), "position", (-2.0, 0.5)),
    (position() | forces(-2.6, -0.7, "ctrl") | {"ctrlLimited": "false"}, "position", None),
    (
        {"gainPrm": [3.0], "biasPrm": [0.0, 0.0, -3.0], "biasType": "affine"} | forces(-2.0, 2.0, "ctrl"),
        *("velocity", (-2.0, 2.0)),
    ),
)
def test_range_of_an_actuator_is_that_of_the_targets_of_a_drive(values, kind, expected) -> None:
    pytest.importorskip("mujoco")
    made = pendulum()
    mjc_actuator(made, "drive", **values)
    with aa.Simulation(made.stage) as sim:
        sim.play()
        drive = sim.model.actuator(f"{HINGE}/{kind}")
        assert (tuple(drive.ctrlrange) if drive.ctrllimited[0] else None) == expected
        assert sim.model.actuator_ctrllimited.sum() == (expected is not None)


@pytest.mark.filterwarnings("ignore:joints belong to no robot")
def test_drives_of_what_is_no_robot_hold_targets_within_the_range_too() -> None:
    pytest.importorskip("mujoco")
    made = pendulum()
    made.body("/World/Door/frame")
    made.body("/World/Door/leaf")
    made.joint("/World/Door/hinge", "Revolute", "/World/Door/frame", "/World/Door/leaf")
    mjc_actuator(made, "drive", "/World/Door/hinge", **position(), **forces(-2.6, -0.5, "ctrl"))
    with aa.Simulation(made.stage) as sim:
        sim.play()
        sim.step(2400)
        assert sim.data().joint("/World/Door/hinge").qpos[0] == pytest.approx(-0.5, abs=1e-3)


def test_what_the_joint_has_counts() -> None:
    made = pendulum()
    mjc_actuator(made, "drive", **position(2.0))
    assert aa.motors_of(made.stage) == {"hinge": aa.MotorConfig(aa.PDControlConfig(40.0, 4.0))}
    made.drive(HINGE, maxForce=7.0)
    made.attribute(HINGE, "newton:friction", 0.5)
    made.stage.GetPrimAtPath("/World/drive").CreateAttribute("mjc:armature", Sdf.ValueTypeNames.Double).Set(0.25)
    limit = [aa.MaxEffortClampingConfig(7.0)]
    law = aa.PDControlConfig(40.0, 4.0)
    assert aa.motors_of(made.stage)["hinge"] == aa.MotorConfig(law, limit, armature=1.0, friction=0.5)
    made.attribute(HINGE, "newton:armature", 0.5)
    joint = made.stage.GetPrimAtPath(HINGE)
    for side, value in (("min", -6.0), ("max", 6.0)):
        joint.CreateAttribute(f"mjc:actuatorfrcrange:{side}", Sdf.ValueTypeNames.Double).Set(value)
    limit = [aa.MaxEffortClampingConfig(6.0)]
    assert aa.motors_of(made.stage)["hinge"] == aa.MotorConfig(law, limit, armature=1.5, friction=0.5)


def test_several_on_a_joint_are_one_motor() -> None:
    made = pendulum()
    mjc_actuator(made, "p", gainPrm=[8.0], biasPrm=[0.0, -8.0], biasType="affine")
    mjc_actuator(made, "v", gainPrm=[2.0], biasPrm=[0.0, 0.0, -2.0], biasType="affine")
    assert aa.motors_of(made.stage) == {"hinge": aa.MotorConfig(aa.PDControlConfig(8.0, 2.0))}


def test_other_actuators_and_drives_come_first() -> None:
    made = pendulum()
    mjc_actuator(made, "drive", **position())
    with aa.Simulation(made.stage) as sim:
        assert aa.motors_of(sim) == {"hinge": aa.MotorConfig(aa.PDControlConfig(10.0, 1.0))}
    made.drive(HINGE, stiffness=0.0, damping=1.0)
    with aa.Simulation(made.stage) as sim:
        assert aa.motors_of(sim)["hinge"].controller.kp == 0.0
    own = aa.PDControlConfig(3.0, 0.5)
    aa.add_actuator(ROBOT, "hinge", "own", own, stage=made.stage)
    assert aa.motors_of(made.stage) == {"hinge": aa.MotorConfig(own)}


@cases(
    "actuators, why",
    ([{"target": None}], "acts on nothing: no joint of one axis"),
    ([{"target": "/World/Robot/bob"}], "acts on </World/Robot/bob>: no joint of one axis"),
    ([{"dynType": "filter"}], "its force is more than a constant times its control"),
    ([{"biasType": "muscle"}], "its force is more than a constant times its control"),
    ([{"gainType": "muscle"}], "its force is more than a constant times its control"),
    ([{"gainPrm": [1.0, 0.5]}], "its force is more than a constant times its control"),
    ([{"biasType": "affine", "biasPrm": [0.0, 2.0]}], "its stiffness -2 or damping -0 is negative"),
    ([forces(-1.0, 2.0)], "its forcerange -1 … 2 is not symmetric"),
    ([forces(0.0, 1.0, "ctrl")], "its ctrlrange 0 … 1, which limits the effort, is not symmetric"),
    ([forces(-1.0, 1.0), {}], "one of 2 on joint 'hinge', with limits of their own"),
)
def test_actuators_that_no_motor_stands_for(actuators: Sequence[dict[str, Any]], why: str) -> None:
    made = pendulum()
    for number, values in enumerate(actuators):
        mjc_actuator(made, f"a{number}", **values)
    with pytest.warns(UserWarning, match=rf"no motor stands for: </World/a0> \({re.escape(why)}") as caught:
        assert aa.motors_of(made.stage) == {}
    assert caught[0].filename == __file__


def test_limit_of_a_joint_that_is_none_of_a_motor() -> None:
    made = pendulum()
    mjc_actuator(made, "drive")
    joint = made.stage.GetPrimAtPath(HINGE)
    for side, value in (("min", -1.0), ("max", 2.0)):
        joint.CreateAttribute(f"mjc:actuatorfrcrange:{side}", Sdf.ValueTypeNames.Double).Set(value)
    with pytest.warns(UserWarning, match=r"\(the actuatorfrcrange -1 … 2 of its joint is not symmetric\)"):
        assert aa.motors_of(made.stage) == {}


def test_drive_of_a_joint_does_what_the_actuator_does() -> None:
    made = pendulum()
    mjc_actuator(made, "drive", **position(-2.0), **forces(-3.0, 2.0), armature=0.25)
    (axis,) = read_scene(made.stage).articulations[0].axes
    assert (axis.drive_stiffness, axis.drive_damping, axis.drive_limit, axis.armature) == (40.0, 4.0, 6.0, 1.0)
    made.drive(HINGE, stiffness=0.0, damping=0.0, maxForce=5.0)
    assert read_scene(made.stage).articulations[0].axes[0].drive_limit == 5.0
    made = pendulum()
    mjc_actuator(made, "drive", gear=[3.0], **forces(-2.0, 1.0, "ctrl"))
    assert read_scene(made.stage).articulations[0].axes[0].drive_limit == 6.0
    made = pendulum()
    values = {"gainPrm": [3.0], "biasPrm": [0.0, 0.0, -3.0], "biasType": "affine"}
    mjc_actuator(made, "drive", **values, **forces(-2.0, 2.0, "ctrl"))
    (axis,) = read_scene(made.stage).articulations[0].axes
    assert axis.drive_damping == 3.0 and axis.drive_limit == float("inf")
    assert aa.motors_of(made.stage)["hinge"].clamping == [aa.DCMotorClampingConfig(6.0, 2.0, float("inf"))]


PUSHED = {"gainPrm": [10.0], "biasPrm": [1.5, -10.0, -2.0], "biasType": "affine"}
PUSH = {"gainPrm": [0.0], "biasPrm": [1.5], "biasType": "affine"}
DAMPED = {"gainPrm": [10.0], "biasPrm": [0.0, -10.0, -2.0], "biasType": "affine"}
PUSHED_IN_MJCF = '<general joint="hinge" gainprm="10" biasprm="1.5 -10 -2" biastype="affine" gear="-2"/>'
PUSH_IN_MJCF = '<general joint="hinge" gainprm="0" biasprm="1.5" biastype="affine" gear="-2"/>'
DAMPED_IN_MJCF = '<general joint="hinge" gainprm="10" biasprm="0 -10 -2" biastype="affine" gear="-2"/>'


@pytest.mark.parametrize(
    ("prims", "in_mjcf"),
    [([PUSHED], PUSHED_IN_MJCF), ([PUSH, DAMPED], PUSH_IN_MJCF + DAMPED_IN_MJCF)],
    ids=["one", "the push apart"],
)
def test_constant_effort_belongs_to_the_drive(prims: list[dict[str, Any]], in_mjcf: str, tmp_path: Path) -> None:
    made = pendulum()
    for number, values in enumerate(prims):
        mjc_actuator(made, f"x{number}", **values, gear=[-2.0])
    file = tmp_path / "robot.xml"
    file.write_text(
        f"""<mujoco><worldbody><body name="rod"><joint name="hinge" axis="0 1 0"/><geom size=".1" pos=".5 0 0"/></body>
        </worldbody><actuator>{in_mjcf}</actuator></mujoco>"""
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (axis,) = read_scene(made.stage).articulations[0].axes
        with aa.Simulation(file) as sim:
            (there,) = sim._host._axes
    read = [(one.drive_stiffness, one.drive_damping, one.drive_effort) for one in (axis, there)]
    assert read == [(40.0, 8.0, -3.0)] * 2

    with aa.Simulation(made.stage, 0.002) as sim:
        sim.play()
        robot, host = sim.articulation(ROBOT), sim._host

        def effort() -> float:
            """The last effort minus that of the spring and the damper, at the state in which the step began."""
            robot.set_dof_positions(0.3)
            robot.set_dof_velocities(0.0)
            robot.set_dof_position_targets(0.7)
            sim.step()
            return float((host.drive_efforts() + robot.get_dof_efforts().numpy().ravel())[0]) - 40.0 * (0.7 - 0.3)

        assert effort() == pytest.approx(-3.0, abs=1e-4)
        actuators = aa.ArticulationActuators.from_configs(ROBOT, aa.motors_of(sim))
        assert effort() == pytest.approx(-3.0, abs=1e-4) and not host.drive_efforts().any()
        actuators.close()
        assert effort() == pytest.approx(-3.0, abs=1e-4)


def test_actuators_of_a_joint_with_limits_of_their_own_are_named() -> None:
    """No one drive is all of them; one of them alone would be something else."""
    made = pendulum()
    mjc_actuator(made, "x", **position(), **forces(-3.0, 3.0))
    mjc_actuator(made, "y", **position())
    with pytest.warns(UserWarning, match=r"do not act: </World/x> \(one of 2 on joint .hinge., with limits"):
        (axis,) = read_scene(made.stage).articulations[0].axes
    assert axis.drive_stiffness == 0.0


def test_constant_effort_of_a_joint_outside_robots() -> None:
    made = pendulum()
    mjc_actuator(made, "x", **PUSHED)
    made.stage.GetPrimAtPath(ROBOT).RemoveAppliedSchema("PhysicsArticulationRootAPI")
    with aa.Simulation(made.stage, 0.002) as sim:
        sim.play()
        sim.step(8000)
        (angle,) = sim.data().qpos
    assert 10.0 * angle + 9.81 * 0.5 * math.sin(angle) == pytest.approx(1.5, abs=1e-4)


def test_drive_of_the_joint_stays_where_it_has_gains() -> None:
    made = pendulum()
    made.drive(HINGE, stiffness=0.0, damping=1.0)
    mjc_actuator(made, "drive", **position(), armature=0.25)
    (axis,) = read_scene(made.stage).articulations[0].axes
    assert axis.drive_stiffness == 0.0 and axis.drive_damping > 50.0 and axis.armature == 0.0


@cases(
    "values, why",
    ({"target": None}, "acts on nothing, which is no joint of a robot"),
    ({"target": "/World/Elsewhere"}, "acts on </World/Elsewhere>, which is no joint of a robot"),
    ({"dynType": "filter"}, "its force is more than a constant times its control"),
    ({"biasType": "affine", "biasPrm": [1.0]}, "it pushes with a constant alone)"),
)
def test_actuators_that_no_drive_stands_for(values: dict[str, Any], why: str) -> None:
    made = pendulum()
    mjc_actuator(made, "x", **values)
    with pytest.warns(UserWarning, match=rf"do not act: </World/x> \({re.escape(why)}"):
        read_scene(made.stage)


def test_actuator_on_a_joint_of_several_axes_drives_none() -> None:
    made = pendulum(kind="")
    mjc_actuator(made, "x")
    with pytest.warns(UserWarning, match=rf"</World/x> \(acts on <{HINGE}>, which has 6 axes\)"):
        read_scene(made.stage)
    with pytest.warns(UserWarning, match=rf"</World/x> \(acts on <{HINGE}>: no joint of one axis\)"):
        assert aa.motors_of(made.stage) == {}


def test_stage_without_such_prims_is_not_warned_about() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert aa.motors_of(pendulum().stage) == {}


def _modes(motors: dict[str, aa.MotorConfig]) -> list[object]:
    return [one for motor in motors.values() for one in motor.others if isinstance(one, aa.ImplicitConfig)]


@pytest.mark.parametrize("is_drive", [False, True])
@pytest.mark.parametrize("integrator", ["implicitfast", "implicit", "euler", None])
def test_motors_have_the_effort_mode_of_the_integrator_that_the_stage_names(is_drive, integrator) -> None:
    """Those of `MjcActuator` prims and of drives; a robot has no integrator, so that an exported one is explicit."""
    made = pendulum()
    scene = made.stage.DefinePrim("/World/scene", "PhysicsScene")
    if integrator is not None:
        scene.CreateAttribute("mjc:option:integrator", Sdf.ValueTypeNames.Token).Set(integrator)
    if is_drive:
        drive = UsdPhysics.DriveAPI.Apply(made.stage.GetPrimAtPath(HINGE), "angular")
        drive.CreateStiffnessAttr(10.0), drive.CreateDampingAttr(1.0)
    else:
        mjc_actuator(made, "servo", **position())
    expected = [] if integrator in ("euler", None) else [aa.ImplicitConfig(in_engine=True)]
    with aa.Simulation(made.stage) as sim:
        motors = aa.motors_of(sim)
        assert _modes(motors) == expected and motors and _modes(motors_of_robot(sim)) == []
        sim.play()
        aa.ArticulationActuators.from_configs(ROBOT, motors).close()
    assert _modes(aa.motors_of(made.stage)) == ([] if is_drive or not expected else [aa.ImplicitConfig()])


def test_motor_that_must_be_explicit_beside_an_implicit_integrator_is_named() -> None:
    made = pendulum()
    scene = made.stage.DefinePrim("/World/scene", "PhysicsScene")
    scene.CreateAttribute("mjc:option:integrator", Sdf.ValueTypeNames.Token).Set("implicitfast")
    mjc_actuator(made, "motor", **DC_MOTOR, gainPrm=[0.5, 0.1], gear=[20.0])
    with pytest.warns(UserWarning, match="motors of joints hinge have a transmission"):
        assert _modes(aa.motors_of(made.stage)) == []
