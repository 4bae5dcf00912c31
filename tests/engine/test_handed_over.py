"""Friction is computed once: by a stage of the actuator, or by the simulator, which gets its own back afterwards."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from driven import driven
from isaacsim.core.experimental.actuators.base.errors import ActuatorParseError, HostError
from isaacsim.core.experimental.actuators.simulators.arrays import ArraysHost
from isaacsim.core.experimental.actuators.simulators.mujoco.fields import hard
from physics_engines import ENGINES, ROOT, installed
from places import ROBOTS
from played import played, played_arrays, played_robot
from pxr import Usd
from refusals import refused
from small_stages import SmallStage, pendulum

mujoco = pytest.importorskip("mujoco")
HINGE = f"{ROOT}/hinge"
PD = aa.PDControlConfig(0.0, 0.0)
SOFT = [0.9, 0.95, 0.001, 0.5, 2.0]
# the largest effort of gravity is 4.905 N·m
ARM = """
<mujoco>
  <option timestep="0.005"/>
  <worldbody><body name="arm">
    <joint name="hinge" axis="0 1 0" {joint}/><geom type="box" size="0.5 0.05 0.05" pos="0.5 0 0" mass="1"/>
  </body></worldbody>
</mujoco>
"""


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    return installed(request.param)


@contextmanager
def playing(made: SmallStage | Path, engine: str = "mujoco", dt: float = 0.005, **options) -> Iterator:
    with played(made.stage if isinstance(made, SmallStage) else made, dt, engine=engine, **options) as sim:
        yield sim, sim.articulation(ROOT if isinstance(made, SmallStage) else "arm")


def in_engine(coulomb, **values) -> dict[str, aa.MotorConfig]:
    return {"hinge": aa.MotorConfig(PD, others=[aa.FrictionConfig(coulomb, in_engine=True, **values)])}


def frictions(robot) -> list[float]:
    return [float(part.numpy()[0, 0]) for part in robot.get_dof_friction_properties()]


def same(values: list[float], engine: str):
    """The same to the bit; to single precision on PhysX, which has viscous friction per degree."""
    return values if engine == "mujoco" else pytest.approx(values, rel=1e-6)


def with_friction(friction: float = 0.0, damping: float = 0.0, begin: float = 0.0) -> SmallStage:
    made = pendulum()
    made.state(HINGE, position=begin)
    made.attribute(HINGE, "newton:friction", friction)
    made.attribute(HINGE, "newton:damping", np.radians(damping))
    return made


def write_arm(folder: Path, joint: str) -> Path:
    path = folder / "arm.xml"
    path.write_text(ARM.format(joint=joint))
    return path


def test_engine_has_the_friction_until_close(engine) -> None:
    with playing(with_friction(0.1, 0.3), engine) as (_, robot):
        before = frictions(robot)
        assert before == pytest.approx([0.1, 0.1, 0.3])
        actuators = driven(ROOT, in_engine(0.5, viscous=0.2))
        assert frictions(robot) == pytest.approx([0.5, 0.5, 0.2])
        assert [type(one).__name__ for one in actuators.actuators[0].stages] == ["ControllerPD"]
        actuators.close()
        assert frictions(robot) == same(before, engine)


def test_values_are_per_joint_and_per_robot() -> None:
    with played_robot("/World/envs/env_.*/Arm", ROBOTS / "arm_2dof.usda", num_envs=2) as (_, robots):
        own = aa.FrictionConfig({"shoulder": 0.5, "extension": 0.7}, [0.1, 0.2], in_engine=True)
        with driven(robots.paths, {".*": aa.MotorConfig(PD, [aa.MaxEffortClampingConfig(5.0)], others=[own])}):
            static, dynamic, viscous = (part.numpy() for part in robots.get_dof_friction_properties())
            np.testing.assert_allclose(static, [[0.5, 0.7]] * 2)
            np.testing.assert_allclose(dynamic, [[0.5, 0.7]] * 2)
            np.testing.assert_allclose(viscous, [[0.1, 0.1], [0.2, 0.2]])


def test_a_prim_of_a_file_has_it_too(engine) -> None:
    for controller in (None, aa.PDControlConfig(5.0, 0.5)):
        made = with_friction(0.1)
        aa.add_actuator(
            ROOT, "hinge", "own", controller, others=[aa.FrictionConfig(0.5, 0.2, in_engine=True)], stage=made.stage
        )
        made.attribute(HINGE, "newton:friction", 0.1)
        made.attribute(HINGE, "newton:damping", 0.0)
        with playing(made, engine) as (_, robot):
            actuators = aa.ArticulationActuators(ROOT)
            assert frictions(robot) == pytest.approx([0.5, 0.5, 0.2])
            assert len(actuators.actuators) == (0 if controller is None else 1)
            actuators.close()
            assert frictions(robot) == pytest.approx([0.1, 0.1, 0.0])


def test_a_file_that_asks_too_much_is_refused() -> None:
    for stage_velocity in (0.1, 0.3):
        made = with_friction()
        friction = aa.FrictionConfig(0.5, stribeck_velocity=stage_velocity)
        prim = aa.add_actuator(ROOT, "hinge", "own", PD, others=[friction], stage=made.stage)
        prim.GetAttribute("actuator:friction:inEngine").Set(True)
        with playing(made):
            if stage_velocity == 0.1:
                assert aa.motors_of(made.stage)["hinge"].others[0].in_engine
                driven(ROOT, aa.motors_of(made.stage)).close()
                continue
            words = r"own>\..*stribeckVelocity = 0.3.*: must keep its default 0.1"
            with pytest.raises(ActuatorParseError, match=words):
                aa.ArticulationActuators(ROOT)


def test_made_before_play_it_acts_from_play_on(engine) -> None:
    with aa.Simulation(with_friction(0.1).stage, 0.005, engine=engine) as sim:
        actuators = driven(ROOT, in_engine(0.5))
        for _ in range(2):
            sim.play()
            assert frictions(sim.articulation(ROOT)) == pytest.approx([0.5, 0.5, 0.0])
            sim.stop()
        actuators.close()


def test_physx_has_a_breakaway_level_of_its_own() -> None:
    installed("physx")
    with playing(with_friction(), "physx") as (_, robot), driven(ROOT, in_engine(0.5, static=0.7)):
        assert frictions(robot) == pytest.approx([0.7, 0.5, 0.0])


def test_an_arm_rests_on_the_friction_of_physx() -> None:
    installed("physx")
    with playing(with_friction(begin=90.0), "physx") as (sim, robot), driven(ROOT, in_engine(8.0)):
        sim.step(100)
        before = robot.get_dof_positions().numpy()
        sim.step(200)
        np.testing.assert_array_equal(robot.get_dof_positions().numpy(), before)


@pytest.mark.parametrize("own", [6.0, 8.0])
def test_it_is_hard_where_the_file_has_the_same_value(tmp_path, own) -> None:
    """Else an MJCF file would creep; it does again after `close`."""
    with playing(write_arm(tmp_path, f'frictionloss="{own}"')) as (sim, _):
        actuators = driven("arm", in_engine(8.0))
        model = sim.model
        expected = tuple(list(hard(0.005)[name]) for name in ("solimp", "solref"))
        assert (model.dof_solimp[0].tolist(), model.dof_solref[0].tolist()) == expected
        actuators.close()
        assert sim.model.dof_solimp[0].tolist() == SOFT


def test_a_model_of_the_user_comes_back_to_the_bit() -> None:
    model = mujoco.MjModel.from_xml_string(ARM.format(joint='frictionloss="0.1" damping="0.3" armature="0.7"'))
    data = mujoco.MjData(model)
    before = {name: value.copy() for name in dir(model) if isinstance(value := getattr(model, name), np.ndarray)}
    with aa.MujocoSimulation(model, data):
        motor = aa.MotorConfig(PD, armature=0.9, others=[aa.FrictionConfig(0.5, 0.2, in_engine=True)])
        actuators = driven("arm", {"hinge": motor})
        assert (model.dof_frictionloss[0], model.dof_damping[0]) == (0.5, pytest.approx(0.2))
        assert model.dof_invweight0[0] != before["dof_invweight0"][0] and model.dof_solimp[0, 0] == 0.9999
        actuators.close()
        changed = [name for name, value in before.items() if not np.array_equal(getattr(model, name), value, True)]
    assert changed == []


def test_arrays_refuse_it() -> None:
    with pytest.raises(ValueError, match=r"joints hinge: FrictionConfig.in_engine = True: must be False here, for no"):
        aa.ActuatedArrays(["hinge"], in_engine(0.5))


def test_a_simulator_without_friction_refuses_it() -> None:
    with aa.use_host(ArraysHost(["hinge"])), pytest.raises(HostError) as error:
        driven("/Robot", in_engine(0.5))
    text = str(error.value)
    assert "FrictionConfig.in_engine = True of joints hinge: ArrayArticulation has no set_dof_friction" in text
    assert text.endswith("Otherwise set in_engine = False, for the actuator to compute the friction.")


def test_mujoco_refuses_a_breakaway_level_of_its_own() -> None:
    with playing(with_friction(0.1)) as (_, robot):
        words = r"in_engine = True of joints hinge: static friction 0.7 with dynamic .* 0.5"
        refused(HostError, lambda: driven(ROOT, in_engine(0.5, static=0.7)), words)
        assert frictions(robot) == pytest.approx([0.1, 0.1, 0.0])


def test_components_and_newtons_form_refuse_it() -> None:
    stage = Usd.Stage.Open(str(ROBOTS / "pendulum.usda"))
    friction = aa.FrictionConfig(0.5, in_engine=True)
    prim = aa.add_actuator("/World/Pendulum", "hinge", "own", PD, others=[friction], stage=stage)
    with pytest.raises(ActuatorParseError, match=r"FrictionConfig.in_engine = True: must be False here"):
        aa.parse_actuator_prim(prim)
    with aa.Simulation(ROBOTS / "pendulum.usda"):
        pair = aa.ActuatorConfig(PD, [aa.MaxEffortClampingConfig(5.0)], others=[friction]), "hinge"
        with pytest.raises(ValueError, match=r"actuator 'hinge': FrictionConfig.in_engine = True: must be False here"):
            aa.ArticulationActuators.from_actuators("/World/Pendulum", [pair])


# a stage in place of the engine's friction


def test_a_stage_replaces_the_friction_of_the_file(engine) -> None:
    with playing(with_friction(0.1, 0.3), engine) as (_, robot):
        before = frictions(robot)
        bare = driven(ROOT, {"hinge": aa.MotorConfig(PD)})
        assert frictions(robot) == before
        bare.close()
        actuators = driven(ROOT, {"hinge": aa.MotorConfig(PD, others=[aa.FrictionConfig(0.5)])})
        assert frictions(robot) == [0.0, 0.0, 0.0]
        actuators.close()
        assert frictions(robot) == same(before, engine)


def test_components_replace_it_too() -> None:
    with playing(with_friction(0.1, 0.3)) as (_, robot):
        pair = aa.ActuatorConfig(PD, others=[aa.FrictionConfig(0.5)]), "hinge"
        with aa.ArticulationActuators.from_actuators(ROOT, [pair]):
            assert frictions(robot) == [0.0, 0.0, 0.0]


def test_a_stage_without_the_files_friction_coasts_the_same(engine) -> None:
    def coast(made: SmallStage) -> np.ndarray:
        motor = aa.MotorConfig(PD, others=[aa.FrictionConfig(0.4, 0.05, assumed_inertia=0.2)])
        with playing(made, engine) as (sim, robot), driven(ROOT, {"hinge": motor}) as actuators:
            rows = []
            for _ in range(300):
                sim.step()
                rows.append(robot.get_dof_positions().numpy()[0, 0])
            assert not actuators.faults
        return np.array(rows)

    alone = coast(with_friction(begin=60.0))
    np.testing.assert_array_equal(coast(with_friction(0.6, 0.2, 60.0)), alone)
    assert np.ptp(alone) > 1.0 and np.ptp(alone[-50:]) < 1.5


def test_friction_of_a_model_becomes_a_stage_on_demand(tmp_path) -> None:
    urdf = """<robot name="arm"><link name="base"/>
      <link name="arm"><inertial><origin xyz="0.5 0 0"/><mass value="1"/>
        <inertia ixx="0.01" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <joint name="hinge" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
        <dynamics friction="0.5" damping="0.25"/></joint></robot>"""
    (tmp_path / "arm.urdf").write_text(urdf)
    for path, root in ((write_arm(tmp_path, 'frictionloss="0.5" damping="0.25"'), "arm"), ("arm.urdf", "base")):
        with played(tmp_path / path, 0.005) as sim:
            (motor,) = aa.motors_of(sim).values() or [aa.MotorConfig(friction=0.5, viscous_friction=0.25)]
            assert (motor.friction, motor.viscous_friction, motor.others) == (0.5, 0.25, [])
            motors = aa.motors_of(sim, friction_stages=True)
            assert [one.others for one in motors.values()] == [[aa.FrictionConfig(0.5, 0.25)]] * len(motors)
            with driven(root, motors):
                assert frictions(sim.articulation(root)) == ([0.0] * 3 if motors else [0.5, 0.5, 0.25])


@pytest.mark.parametrize("given", [{"friction": 0.25}, {"viscous_friction": {"hinge": 0.25}}, {"friction": [0.25]}])
def test_friction_of_a_motor_beside_a_stage_is_refused(given) -> None:
    ((name, _),) = given.items()
    for friction in (aa.FrictionConfig(0.5), aa.FrictionConfig(0.5, in_engine=True)):
        with aa.Simulation(with_friction().stage), pytest.raises(ValueError) as error:
            driven(ROOT, {"hinge": aa.MotorConfig(PD, others=[friction], **given)})
        assert f"motors['hinge'].{name} = " in str(error.value)
        assert "beside FrictionConfig: must not be given, for the stage is the whole friction" in str(error.value)


def test_a_motor_without_friction_may_have_a_stage() -> None:
    with playing(with_friction(0.1)) as (_, robot):
        motor = aa.MotorConfig(PD, friction=0.0, viscous_friction=0.0, others=[aa.FrictionConfig(0.5, in_engine=True)])
        with driven(ROOT, {"hinge": motor}):
            assert frictions(robot) == [0.5, 0.5, 0.0]


def test_a_simulator_whose_friction_cannot_be_set_is_left_alone() -> None:
    with played_arrays(["hinge"]):
        motor = aa.MotorConfig(PD, others=[aa.FrictionConfig(0.5, assumed_inertia=0.1)])
        aa.ArticulationActuators.from_configs("/Robot", {"hinge": motor}).close()
