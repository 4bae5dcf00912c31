"""Armature and friction of motors: in the simulator while attached, given back after."""

import shutil
from pathlib import Path

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from isaacsim.core.experimental.actuators.compat.isaac_lab import IdealPDActuatorCfg
from isaacsim.core.experimental.actuators.files.usd.stage import open_stage
from physics_engines import ENGINES, installed
from places import ROBOTS
from played import played_arrays, played_robot
from pxr import Sdf
from refusals import cases

PANDA = "/World/Panda"
PD = aa.PDControlConfig(100.0, 10.0)
ARMATURE = {"panda_joint[1-4]": 0.3, "panda_joint[5-7]": 0.05}
WANTED = np.array([0.3] * 4 + [0.05] * 3)


def inertias(robot) -> np.ndarray:
    return np.diagonal(robot.get_mass_matrices().numpy()[0]).copy()


def frictions(robot) -> list[np.ndarray]:
    return [part.numpy()[0] for part in robot.get_dof_friction_properties()]


def wrap(**properties) -> aa.ArticulationActuators:
    motor = aa.MotorConfig(PD, [aa.MaxEffortClampingConfig("joint")], **properties)
    return aa.ArticulationActuators.from_configs(PANDA, {"panda_joint.*": motor})


@pytest.mark.parametrize("early", [True, False])
def test_armature_is_in_the_mass_matrix_until_close(early) -> None:
    with aa.Simulation(ROBOTS / "franka_panda.usda") as sim:
        made = wrap(armature=ARMATURE) if early else None
        sim.play()
        robot = aa.Articulation(PANDA)
        authored = np.full(7, 0.1)
        made = made or wrap(armature=ARMATURE)
        for _ in range(2):
            with_motors = inertias(robot)
            np.testing.assert_allclose(robot.get_dof_armatures().numpy()[0], WANTED, rtol=1e-6)
            sim.stop()
            sim.play()
        made.close()
        np.testing.assert_allclose(with_motors - inertias(robot), WANTED - authored, atol=1e-6)
        np.testing.assert_allclose(robot.get_dof_armatures().numpy()[0], authored, rtol=1e-6)


@cases(
    "given, expected",
    ({"friction": 0.5}, ([0.5] * 7, [0.5] * 7, [0.02] * 7)),
    (
        {"viscous_friction": {"panda_joint[1-4]": 0.5, "panda_joint[5-7]": 0.1}},
        ([0.01] * 7, [0.01] * 7, [0.5] * 4 + [0.1] * 3),
    ),
    ids=["static and dynamic", "viscous"],
)
def test_friction_is_given_back(given, expected) -> None:
    with played_robot(PANDA, ROBOTS / "franka_panda.usda") as (_, robot):
        robot.set_dof_friction_properties(0.01, 0.01, 0.02)
        made = wrap(**given)
        np.testing.assert_allclose(frictions(robot), expected, rtol=1e-6)
        made.close()
        np.testing.assert_allclose(frictions(robot), [[0.01] * 7, [0.01] * 7, [0.02] * 7], rtol=1e-6)


def test_what_somebody_set_since_stays() -> None:
    with played_robot(PANDA, ROBOTS / "franka_panda.usda") as (_, robot):
        made = wrap(armature=0.3)
        robot.set_dof_armatures(0.7, dof_indices=[2])
        made.close()
        np.testing.assert_allclose(robot.get_dof_armatures().numpy()[0], [0.1, 0.1, 0.7, 0.1, 0.1, 0.1, 0.1], rtol=1e-6)


def test_the_last_of_several_wrappers_restores() -> None:
    with played_robot(PANDA, ROBOTS / "franka_panda.usda") as (_, robot):
        first = wrap(armature=0.3)
        with pytest.warns(UserWarning, match="driven by two actuator wrappers"):
            second = wrap(armature=0.4)
        first.close()
        np.testing.assert_allclose(robot.get_dof_armatures().numpy(), 0.4, rtol=1e-6)
        second.close()
        np.testing.assert_allclose(robot.get_dof_armatures().numpy(), 0.1, rtol=1e-6)


def test_values_per_robot() -> None:
    with played_robot("/World/envs/env_.*/Pendulum", ROBOTS / "pendulum.usda", num_envs=3) as (_, robots):
        before = robots.get_dof_armatures().numpy()
        motor = aa.MotorConfig(PD, armature=[0.1, 0.2, 0.3])  # pyright: ignore[reportArgumentType]
        with aa.ArticulationActuators.from_configs(robots.paths, {"hinge": motor}):
            np.testing.assert_allclose(robots.get_dof_armatures().numpy()[:, 0], [0.1, 0.2, 0.3], rtol=1e-6)
        assert (robots.get_dof_armatures().numpy() == before).all()


@pytest.mark.parametrize("way", ["motors", "pairs"])
def test_rotor_before_a_gear_is_the_armature_until_close(way) -> None:
    with played_robot("/World/envs/env_.*/Pendulum", ROBOTS / "pendulum.usda", num_envs=3) as (_, robots):
        before, inertia = robots.get_dof_armatures().numpy(), np.array([1e-4, 2e-4, 3e-4])
        gear = aa.TransmissionConfig(-10.0, rotor_inertia=inertia)  # pyright: ignore[reportArgumentType]
        law = aa.PDControlConfig(1.0, 0.02)
        by_pattern = {"hinge": [law, gear]}
        with (
            aa.ArticulationActuators.from_configs(robots.paths, by_pattern)
            if way == "motors"
            else aa.ArticulationActuators.from_actuators(
                robots.paths, [(aa.ActuatorConfig(law, others=[gear]), "hinge")]
            )
        ):
            np.testing.assert_allclose(robots.get_dof_armatures().numpy()[:, 0], 100.0 * inertia, rtol=1e-6)
        assert (robots.get_dof_armatures().numpy() == before).all()


def test_a_motor_without_controller_is_no_more_than_its_properties() -> None:
    with played_robot(PANDA, ROBOTS / "franka_panda.usda") as (sim, robot):
        robot.set_dof_gains(30.0, 3.0)
        made = aa.ArticulationActuators.from_configs(PANDA, {".*": aa.MotorConfig(armature=0.3)})
        assert made.actuators == [] and (robot.get_dof_gains()[0].numpy() == 30.0).all()
        np.testing.assert_allclose(robot.get_dof_armatures().numpy(), 0.3, rtol=1e-6)
        sim.step()
        made.close()
        np.testing.assert_allclose(robot.get_dof_armatures().numpy(), 0.1, rtol=1e-6)


def test_a_host_that_cannot_take_them_is_named_once() -> None:
    with played_arrays(["hip", "knee"]):
        motors = {"hip": aa.MotorConfig(PD, armature=0.1), "knee": aa.MotorConfig(PD, armature=0.2)}
        words = "armature of joints hip, knee has no effect: .* set_dof_armatures"
        with pytest.warns(UserWarning, match=words) as caught:
            made = aa.ArticulationActuators.from_configs("/Robot", motors)
        assert len(caught) == 1 and caught[0].filename == __file__ and made.actuated_dof_indices == [0, 1]
        made.close()


ROTOR = aa.ElasticTransmissionConfig(50.0, rotor_inertia=2e-5, stiffness=60.0, damping=0.2, backlash=0.01)


def pendulum(tmp_path: Path) -> Path:
    file = Path(shutil.copy(ROBOTS / "pendulum.usda", tmp_path))
    stage = open_stage(file)
    stage.GetPrimAtPath("/World/Pendulum/joints/hinge").CreateAttribute(
        "newton:armature", Sdf.ValueTypeNames.Float
    ).Set(0.03)
    stage.Save()
    return file


@pytest.mark.parametrize("early", [True, False])
def test_rotor_behind_a_spring_is_no_armature_while_attached(early, tmp_path) -> None:
    motors = {".*": [aa.PDControlConfig(0.01, 0.001), ROTOR]}
    with aa.Simulation(pendulum(tmp_path)) as sim:
        made = aa.ArticulationActuators.from_configs("/World/Pendulum", motors) if early else None
        sim.play()
        robot = aa.Articulation("/World/Pendulum")
        made = made or aa.ArticulationActuators.from_configs("/World/Pendulum", motors)
        assert robot.get_dof_armatures().numpy().item() == 0.0
        assert inertias(robot).item() == pytest.approx(0.26, rel=1e-5)
        robot.set_dof_position_targets(0.5)
        for _ in range(100):
            sim.step()
        assert robot.get_dof_positions().numpy().item() > 0.1
        made.close()
        assert robot.get_dof_armatures().numpy().item() == pytest.approx(0.03, rel=1e-6)


def test_file_has_the_rotor_as_armature(tmp_path) -> None:
    file = pendulum(tmp_path)
    stage = open_stage(file)
    motors = {".*": [aa.PDControlConfig(0.01, 0.001), ROTOR]}
    aa.add_motors("/World/Pendulum", motors, stage=stage, overwrite_existing=True)
    stage.Save()
    with played_robot("/World/Pendulum", file) as (sim, robot):
        alone = robot.get_dof_armatures().numpy().item()
        made = aa.ArticulationActuators("/World/Pendulum")
        assert robot.get_dof_armatures().numpy().item() == 0.0
        (motor,) = aa.motors_of(sim, "/World/Pendulum").values()
        (found,) = motor.others
        assert isinstance(found, aa.ElasticTransmissionConfig)
        expected = [one if isinstance(one, str) else pytest.approx(one, rel=1e-6) for one in vars(ROTOR).values()]
        assert list(vars(found).values()) == expected
        made.close()
        assert alone == robot.get_dof_armatures().numpy().item() == pytest.approx(0.05, rel=1e-6)


@pytest.mark.parametrize(("before", "given"), [((5.0, 4.0), (2.0, 1.0)), ((1.0, 0.5), (6.0, 5.0))])
@pytest.mark.parametrize("engine", ENGINES)
def test_static_and_dynamic_friction_of_groups(engine, before, given) -> None:
    is_one = engine == "mujoco"
    static, dynamic = given
    frictions_of = {"friction": static, "dynamic_friction": dynamic}
    group = IdealPDActuatorCfg(joint_names_expr=[".*"], stiffness=1.0, damping=1.0, **frictions_of)
    with played_robot("/World/Arm", ROBOTS / "arm_2dof.usda", engine=installed(engine)) as (_, robot):
        robot.set_dof_friction_properties(before[0], before[0] if is_one else before[1])
        former = frictions(robot)
        actuators = aa.ArticulationActuators.from_groups("/World/Arm", {"all": group})
        assert [part[0] for part in frictions(robot)[:2]] == [dynamic if is_one else static, dynamic]
        actuators.close()
        np.testing.assert_array_equal(frictions(robot), former)
