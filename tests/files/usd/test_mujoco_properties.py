"""Properties of joints as MuJoCo takes them from a stage: before play they are those after it."""

import math

import numpy as np
import pytest
from isaacsim.core.experimental.actuators import Simulation
from isaacsim.core.experimental.actuators.base.errors import HostError
from physics_engines import ENGINES, installed
from pxr import Sdf, Usd
from small_stages import SmallStage, pendulum

ROBOT, HINGE = "/World/Robot", "/World/Robot/hinge"


def driven(**values) -> SmallStage:
    """A pendulum whose actuator of MuJoCo is a drive of gains 40 and 4, limit 6 and armature 1, through its gear."""
    made = pendulum()
    prim = made.stage.DefinePrim("/World/drive", "MjcActuator")
    prim.CreateRelationship("mjc:target").SetTargets([HINGE])
    numbers = {"gainPrm": [10.0], "biasPrm": [0.0, -10.0, -1.0], "gear": [2.0]} | values
    for name, value in numbers.items():
        prim.CreateAttribute(f"mjc:{name}", Sdf.ValueTypeNames.DoubleArray).Set(value)
    for name, value in {"armature": 0.25, "forceRange:min": -3.0, "forceRange:max": 3.0}.items():
        prim.CreateAttribute(f"mjc:{name}", Sdf.ValueTypeNames.Double).Set(value)
    prim.CreateAttribute("mjc:biasType", Sdf.ValueTypeNames.Token).Set("affine")
    return made


def found(robot) -> list[float]:
    """Gains, largest effort, armature and friction of the hinge."""
    arrays = (
        *robot.get_dof_gains(),
        robot.get_dof_max_efforts(),
        robot.get_dof_armatures(),
        *robot.get_dof_friction_properties(),
    )
    return [float(one.numpy().item()) for one in arrays]


@pytest.mark.parametrize("engine", ENGINES)
def test_actuators_of_mujoco_count_before_play(engine) -> None:
    """On MuJoCo, which has them; PhysX does not know them."""
    with Simulation(driven().stage, engine=installed(engine)) as sim:
        robot = sim.articulation(ROBOT)
        expected = [40.0, 4.0, 6.0, 1.0, 0.0, 0.0, 0.0]
        if engine == "physx":
            expected = [0.0, 0.0, math.inf, 0.0, 0.0, 0.0, 0.0]
        assert found(robot) == expected
        sim.play()
        assert found(robot) == pytest.approx(expected)


def test_control_modes_come_back_to_gains_of_an_actuator() -> None:
    """They had no gains to come back to."""
    with Simulation(driven().stage) as sim:
        sim.play()
        robot = sim.articulation(ROBOT)
        for mode, gains in (("effort", [0.0, 0.0]), ("velocity", [0.0, 4.0]), ("position", [40.0, 4.0])):
            robot.switch_dof_control_mode(mode)
            assert found(robot)[:2] == gains


def test_attributes_of_mujoco_on_joints_count_before_play() -> None:
    """They apply where no other attribute of the property is authored."""
    made = pendulum()
    values = {"armature": 0.5, "frictionloss": 0.25, "damping": 0.75}
    for name, value in values.items():
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


@pytest.mark.parametrize(
    ("setter", "values", "expected"),
    [
        ("armatures", (0.0,), [0.0, 0.25, 0.25, 0.75]),
        ("friction_properties", (0.0, 0.0, 0.0), [0.5, 0.0, 0.0, 0.0]),
        ("friction_properties", (None, None, 0.0), [0.5, 0.25, 0.25, 0.0]),
    ],
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
    """Nothing is written then."""
    made = pendulum()
    made.attribute(HINGE, "mjc:armature", 0.5)
    stage = made.stage
    weak = Sdf.Layer.CreateAnonymous()
    stage.GetRootLayer().subLayerPaths.append(weak.identifier)
    with Simulation(stage) as sim, Usd.EditContext(stage, weak):
        with pytest.raises(HostError, match=r"mjc:armature: setting it at the edit target .* has no effect"):
            sim.articulation(ROBOT).set_dof_armatures(0.0)
        assert not weak.rootPrims


@pytest.mark.parametrize(
    ("setter", "values", "expected"),
    [
        ("gains", (5.0,), [5.0, 4.0, 6.0, 1.0]),
        ("gains", (None, 0.5), [40.0, 0.5, 6.0, 1.0]),
        ("armatures", (1.5,), [40.0, 4.0, 6.0, 1.5]),
        ("max_efforts", (2.0,), [40.0, 4.0, 2.0, 1.0]),
    ],
)
def test_what_is_set_before_play_beside_an_actuator_holds(setter, values, expected) -> None:
    """Properties that are not set keep their values, also where a drive with gains replaces the actuator."""
    with Simulation(driven().stage) as sim:
        robot = sim.articulation(ROBOT)
        getattr(robot, f"set_dof_{setter}")(*values)
        assert found(robot)[:4] == pytest.approx(expected)
        sim.play()
        assert found(robot)[:4] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("setter", "values", "words"),
    [
        ("gains", (0.0, 0.0), "gains of 0 leave the MjcActuator prims that drive the joint. Deactivate the prims"),
        ("armatures", (0.5,), "an armature of 0.5 is below that of the MjcActuator prims"),
        ("max_efforts", (9.0,), "a largest effort of 9 is above that of the MjcActuator prims"),
    ],
)
def test_what_has_no_effect_beside_an_actuator_is_refused(setter, values, words) -> None:
    """Nothing is written then; while physics runs it can be set."""
    stage = driven().stage
    before = stage.GetRootLayer().ExportToString()
    with Simulation(stage) as sim:
        robot = sim.articulation(ROBOT)
        with pytest.raises(HostError, match=words):
            getattr(robot, f"set_dof_{setter}")(*values)
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
