"""MJCF files as they are: the motion of MuJoCo's own actuators, on the host that USD has."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import isaacsim.core.experimental.actuators as aa
import mujoco
import numpy as np
import pytest
from driven import driven
from isaacsim.core.experimental.actuators.base.errors import HostError
from isaacsim.core.experimental.actuators.compat.isaac_lab import IdealPDActuatorCfg
from isaacsim.core.experimental.actuators.simulators.mujoco import file_reader
from physics_engines import qpos_of, qvel_of
from places import ROBOTS
from played import models_of, played, played_robot
from quadruped import BREADTH_FIRST, DEPTH_FIRST, quadruped, quadruped_stage
from quadruped import HOME as QUADRUPED_HOME
from refusals import cases, refused
from stages import stage_of

ARM = ROBOTS / "arm_2dof.xml"
since_4 = pytest.mark.skipif(mujoco.__version__ < "4", reason="MuJoCo 4 integrates limited actuators so")
GOAL = [0.5, 0.2]
LIMITED = [aa.PDControlConfig(5.0, 1.0), aa.MaxEffortClampingConfig(9.0)]
# actuators of every kind that a drive stands for, a joint limited by itself, one with nothing, and bodies without names
LEG = """
<mujoco>
  <option timestep="0.003" integrator="{integrator}"><flag contact="disable"/></option>
  <default><geom size="0.05" mass="1"/></default>
  <worldbody>
    <light pos="0 0 3"/>
    <body name="leg" pos="0 0 1">
      <joint name="hip" axis="0 1 0" damping="0.5"/><geom pos="0.2 0 0"/>
      <body pos="0.4 0 0">
        <joint name="knee" axis="0 1 0" actuatorfrcrange="-30 30"/><geom pos="0.2 0 0"/>
        <body name="foot" pos="0.4 0 0">
          <joint name="ankle" axis="0 1 0" armature="0.1"/><joint type="slide" axis="1 0 0" stiffness="50"/>
          <geom type="box" size="0.1 0.03 0.02"/>
        </body>
      </body>
    </body>
    <body name="box" pos="2 0 1"><freejoint/><geom/></body>
  </worldbody>
  <actuator>
    <position name="hip" joint="hip" kp="80" kv="8" forcerange="-5 5" gear="2"/>
    <general name="knee" joint="knee" gainprm="90" biastype="affine" biasprm="0 -90 -9"/>
    <velocity name="ankle" joint="ankle" kv="3" gear="2" armature="0.05" damping="0.1"/>
  </actuator>
  <sensor><actuatorfrc actuator="knee"/><touch site="sole"/><jointpos joint="hip"/></sensor>
  <keyframe><key name="bent" qpos="0.3 0.2 0.1 0 2 0 1 1 0 0 0" ctrl="1 2 3"/></keyframe>
</mujoco>
""".replace('<touch site="sole"/>', "")
# what is known of a file before play, as it is afterwards
READABLE = {
    *("get_dof_gains", "get_dof_max_efforts", "get_dof_limits", "get_dof_max_velocities", "get_dof_armatures"),
    *("get_dof_friction_properties", "get_dof_drive_model_properties", "get_dof_position_targets"),
    "get_dof_velocity_targets",
}


def written(folder: Path, text: str, name: str = "robot.xml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def leg(folder: Path, integrator: str = "Euler") -> Path:
    return written(folder, LEG.format(integrator=integrator))


def test_drives_do_not_take_the_defaults_of_a_file(tmp_path) -> None:
    text = LEG.format(integrator="Euler")
    everywhere = (
        '<general gear="5" ctrlrange="-1 1" ctrllimited="true" forcerange="-1 1" forcelimited="true"/></default>'
    )
    text = text.replace("</default>", everywhere).replace('joint="knee"', 'joint="knee" gear="1"')
    with played(written(tmp_path, text)) as sim:
        model = sim.model
        # but for targets of the joints that have the actuators, and in units of the joint
        limited = {model.actuator(drive).name for drive in np.flatnonzero(model.actuator_ctrllimited)}
        assert limited == {"hip/position", "knee/position", "ankle/velocity"} and not model.actuator_forcelimited.any()
        assert (model.actuator_gear[:, 0] == 1).all()


@pytest.mark.parametrize("integrator", ["Euler", pytest.param("implicitfast", marks=since_4), "RK4"])
def test_drives_move_a_robot_as_its_own_actuators_do(tmp_path, integrator) -> None:
    """Targets to drives are what controls are to the actuators that these replace, within float32 precision."""
    path = leg(tmp_path, integrator)
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    # in units of the actuators: gear 2
    data.ctrl[:] = [2 * 0.5, -0.75, 1.5]
    with played_robot("leg", path) as (sim, robot):
        assert robot.dof_names == ["hip", "knee", "ankle", "joint_3"]
        robot.set_dof_position_targets([0.5, -0.75, 0.0, 0.0])
        robot.set_dof_velocity_targets([0.0, 0.0, 0.75, 0.0])
        saturated = 0
        for _ in range(300):
            mujoco.mj_step(model, data)
            sim.step()
            saturated += abs(robot.get_dof_drive_efforts().numpy()[0, 0]) > 9.999
        assert sim.dt == 0.003 and sim.time == pytest.approx(0.9)
        np.testing.assert_allclose(robot.get_dof_positions().numpy()[0], data.qpos[:4], atol=2e-6)
        np.testing.assert_allclose(robot.get_dof_velocities().numpy()[0], data.qvel[:4], atol=2e-5)
    assert saturated > 3 and np.abs(data.qpos[:4]).min() > 1e-3


RANGED = """
<mujoco>
  <option timestep="0.002" integrator="implicitfast"/>
  <worldbody><body name="leg">
    <joint name="knee" axis="0 1 0" damping="0.5"/><geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03" mass="1"/>
  </body></worldbody>
  <actuator>{actuator}</actuator>
</mujoco>
"""
# an actuator, what of its control is the target of a drive, and in which unit
RANGES = {
    "position": ('<position joint="knee" kp="60" kv="3" ctrlrange="-2.6 -0.7"/>', "position", 1.0),
    "gear": ('<position joint="knee" kp="60" kv="3" gear="-2" ctrlrange="-2.6 -0.7"/>', "position", -2.0),
    "limited too": ('<position joint="knee" kp="60" ctrlrange="-1 0.5" forcerange="-8 8"/>', "position", 1.0),
    "other gain": (
        '<general joint="knee" gainprm="30" biastype="affine" biasprm="0 -60 -3" ctrlrange="-2.6 -0.7"/>',
        *("position", 2.0),
    ),
    "velocity": ('<velocity joint="knee" kv="3" gear="2" ctrlrange="-0.5 1"/>', "velocity", 2.0),
}


@since_4
@pytest.mark.parametrize(("actuator", "target", "unit"), RANGES.values(), ids=list(RANGES))
@pytest.mark.parametrize("control", [None, -5.0, -0.25, 4.0])
def test_drives_hold_targets_within_the_range_of_the_actuator(tmp_path, actuator, target, unit, control) -> None:
    path = written(tmp_path, RANGED.format(actuator=actuator))
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    data.ctrl[:] = control or 0.0
    with played_robot("leg", path) as (sim, robot):
        if control is not None:
            getattr(robot, f"set_dof_{target}_targets")(control / unit)
        for _ in range(500):
            mujoco.mj_step(model, data)
        sim.step(500)
        assert robot.get_dof_positions().numpy()[0, 0] == pytest.approx(data.qpos[0], abs=1e-5)


def test_actuators_with_different_ranges_are_no_drive(tmp_path) -> None:
    two = '<position name="a" joint="knee" kp="60" ctrlrange="-1 1"/><position joint="knee" kp="5"/>'
    path = written(tmp_path, RANGED.format(actuator=two))
    with pytest.warns(UserWarning, match=r"'a' \(one of 2 on joint 'knee', with other ranges of positions\)"):
        aa.Simulation(path).close()


def test_motors_that_do_not_hold_targets_within_a_range_are_told_of(tmp_path) -> None:
    said = r"hold position targets within their ctrlrange, which motors do not: 'knee_servo' \(-1.3 … -0.35\), in rad"
    path = written(tmp_path, RANGED.format(actuator=RANGES["gear"][0].replace('-2"', '2" name="knee_servo"')))
    model = mujoco.MjModel.from_xml_path(str(path))
    with aa.Simulation(path) as sim, aa.MujocoSimulation(model, mujoco.MjData(model)) as own:
        for ask in (lambda: aa.motors_of(sim), lambda: aa.motors_of(own), lambda: aa.motors_of_model(model)):
            with pytest.warns(UserWarning, match=said) as warned:
                assert list(ask()) == ["knee"]
            assert warned[0].filename == __file__


CALF = """
<mujoco><compiler angle="radian"/><worldbody><body name="leg">
  <joint name="thigh" axis="0 1 0" range="-1 1"/><geom size="0.1"/>
  <body pos="0 0 -0.3"><joint name="calf" axis="0 1 0" range="-2.7 -0.84"/><geom size="0.1"/></body>
</body></worldbody>{keyframe}</mujoco>
"""
CALF_URDF = """
<robot name="leg"><link name="leg"/><link name="foot"><inertial><mass value="1"/>
  <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="calf" type="revolute"><parent link="leg"/><child link="foot"/><axis xyz="0 1 0"/>
    <limit lower="-2.7" upper="-0.84" effort="1" velocity="1"/></joint></robot>
"""
OUT = '<key name="out" qpos="0.5 -2.8"/>'
POSITIONS = r"Give Simulation initial_positions, or the command line --initial-positions\.$"
HOME = f'<keyframe>{OUT}<key name="home" qpos="0.5 -1.5"/></keyframe>'


@cases(
    "name, text, remedy",
    ("leg.xml", CALF.format(keyframe=""), POSITIONS),
    ("leg.xml", CALF.format(keyframe=f"<keyframe>{OUT}</keyframe>"), POSITIONS),
    (
        "leg.xml",
        CALF.format(keyframe=HOME),
        r"keyframe='home' or initial_positions, or the command line --keyframe home or --initial-positions\.$",
    ),
    ("leg.urdf", CALF_URDF, POSITIONS),
)
def test_joint_that_begins_outside_its_limits_is_named(tmp_path, name, text, remedy) -> None:
    said = r": joints begin outside their limits, .*: calf \(0, limits -2\.7 … -0\.84\)\. "
    with pytest.warns(UserWarning, match=name + said + ".*" + remedy) as warned:
        aa.Simulation(written(tmp_path, text, name)).close()
    assert [warning.filename for warning in warned] == [__file__]


def test_gains_limits_and_options_are_those_of_the_file(tmp_path) -> None:
    with played_robot("/leg", leg(tmp_path, "RK4"), dt=0.001) as (sim, robot):
        stiffnesses, dampings = robot.get_dof_gains()
        np.testing.assert_allclose(stiffnesses.numpy(), [[320, 90, 0, 0]])
        np.testing.assert_allclose(dampings.numpy(), [[32, 9, 12, 0]])
        np.testing.assert_allclose(robot.get_dof_max_efforts().numpy(), [[10, 30, np.inf, np.inf]])
        np.testing.assert_allclose(robot.get_dof_max_velocities().numpy(), np.full((1, 4), np.inf))
        assert sim.dt == 0.001 and sim.model.opt.integrator == mujoco.mjtIntegrator.mjINT_RK4
        # the light is the file's own, and what measured an actuator went with it
        assert (sim.model.nlight, sim.model.nsensor, sim.model.nkey) == (1, 1, 1)
        np.testing.assert_allclose(sim.model.key("bent").qpos[:3], [0.3, 0.2, 0.1])


def test_a_file_is_found_by_its_kind_of_name_and_needs_no_play(tmp_path) -> None:
    with aa.Simulation(leg(tmp_path)) as sim:
        robot = sim.articulation("leg")
        assert robot.paths == sim.articulation("/l.*").paths == ["/leg"]
        assert robot.dof_paths == [["/leg/hip", "/body_2/knee", "/foot/ankle", "/foot/joint_3"]]
        assert robot.link_paths == [["/leg", "/body_2", "/foot"]]
        assert robot.joint_names == ["hip", "knee", "ankle", "joint_3"]
        refused(ValueError, lambda: sim.articulation("box"), r"articulations here: \['/leg'\]\. Give one of these;")


def test_many_environments(tmp_path) -> None:
    with played_robot("/leg", leg(tmp_path), num_envs=3) as (sim, robots):
        assert robots.paths == [f"/envs/env_{env}/leg" for env in range(3)]
        assert aa.Articulation("/envs/env_1/leg").link_paths[0][1] == "/envs/env_1/body_2"
        robots.set_dof_position_targets([[0.0, 0.1, 0, 0], [0.2, 0, 0, 0], [0.4, 0, 0, 0]])
        sim.step(100)
        hips = robots.get_dof_positions().numpy()[:, 0]
        assert (np.diff(hips) > 0.1).all()
        sim.reset([1])
        np.testing.assert_allclose(robots.get_dof_positions().numpy()[:, 0], [hips[0], 0, hips[2]])


def test_names_with_slashes(tmp_path) -> None:
    path = written(tmp_path, LEG.format(integrator="Euler").replace('"leg"', '"a/leg"').replace('"hip"', '"a/hip"'))
    with aa.Simulation(path, num_envs=2) as sim:
        assert sim.articulation("a/leg").paths == ["/envs/env_0/a/leg", "/envs/env_1/a/leg"]
        assert sim.articulation("a/leg").dof_names[0] == "a/hip"


def test_actuators_take_drives_over_and_give_them_back(tmp_path) -> None:
    with played_robot("leg", leg(tmp_path)) as (_, robot):
        before = [gains.numpy() for gains in robot.get_dof_gains()]
        actuators = aa.ArticulationActuators.from_configs("leg", {".*": LIMITED})
        assert not np.any([gains.numpy() for gains in robot.get_dof_gains()])
        actuators.close()
        robot.switch_dof_control_mode("effort")
        assert not np.any([gains.numpy() for gains in robot.get_dof_gains()])
        robot.switch_dof_control_mode("position")
        np.testing.assert_array_equal([gains.numpy() for gains in robot.get_dof_gains()], before)


def test_default_gains_are_those_of_the_file_whoever_took_them_before(tmp_path) -> None:
    with played(leg(tmp_path)):
        actuators = aa.ArticulationActuators.from_configs("leg", {".*": LIMITED})
        robot = aa.Articulation("leg")
        robot.switch_dof_control_mode("velocity")
        np.testing.assert_allclose(robot.get_dof_gains()[1].numpy(), [[32, 9, 12, 0]])
        actuators.close()


def test_motors_of_the_file_move_it_as_its_actuators_do() -> None:
    model = mujoco.MjModel.from_xml_path(str(ARM))
    data = mujoco.MjData(model)
    data.ctrl[:] = GOAL
    with aa.Simulation(ARM) as sim:
        motors = aa.motors_of(sim)
        assert motors == aa.motors_of(sim, "/arm")
        assert motors["shoulder"] == aa.MotorConfig(
            aa.PDControlConfig(200.0, 20.0),
            [aa.MaxEffortClampingConfig(60.0)],
            armature=0.0,
            friction=0.0,
            viscous_friction=0.0,
        )
        sim.play()
        actuators = aa.ArticulationActuators.from_configs("arm", motors)
        aa.Articulation("arm").set_dof_position_targets(GOAL)
        for _ in range(300):
            mujoco.mj_step(model, data)
        sim.step(300)
        np.testing.assert_allclose(aa.Articulation("arm").get_dof_positions().numpy()[0], data.qpos, atol=1e-4)
        assert np.abs(data.qpos - GOAL).max() < 0.3 and actuators.actuated_dof_indices == [0, 1]


# an arm whose gains are far too stiff for an effort of the start of the step
STIFF = """<mujoco><option timestep="0.002" integrator="{}"/><worldbody><body name="arm">
<joint name="lift" axis="0 1 0" armature="0.1"/><geom type="capsule" fromto="0 0 0 0.4 0 0" size="0.05" mass="4"/>
<body name="fore" pos="0.4 0 0"><joint name="elbow" axis="0 1 0" armature="0.1"/>
<geom type="capsule" fromto="0 0 0 0.4 0 0" size="0.04" mass="2"/>
<body name="hand" pos="0.4 0 0"><joint name="wrist" axis="0 1 0" armature="0.01" damping="0.5"/>
<geom type="box" size="0.05 0.05 0.05" pos="0.1 0 0" mass="0.1"/></body></body></body></worldbody><actuator>
<position joint="lift" kp="2000" kv="400" forcerange="-150 150"/>
<position joint="elbow" kp="2000" kv="400" forcerange="-150 150"/><motor joint="wrist"/></actuator></mujoco>"""


@pytest.mark.parametrize("integrator", ["implicit", "implicitfast"])
def test_motors_of_a_file_with_an_implicit_integrator_move_it_as_its_actuators_do(tmp_path, integrator) -> None:
    path = written(tmp_path, STIFF.format(integrator))
    model = mujoco.MjModel.from_xml_path(str(path))
    data, steps = mujoco.MjData(model), 250
    mujoco.mj_step(model, data, steps)
    with played(path) as sim:
        motors = aa.motors_of(sim)
        modes = {
            name: [one for one in motor.others if isinstance(one, aa.ImplicitConfig)] for name, motor in motors.items()
        }
        assert modes == {
            "lift": [aa.ImplicitConfig(in_engine=True)],
            "elbow": [aa.ImplicitConfig(in_engine=True)],
            "wrist": [],
        }
        _held = aa.ArticulationActuators.from_configs("arm", motors)
        sim.step(steps)
        np.testing.assert_allclose(aa.Articulation("arm").get_dof_positions().numpy()[0], data.qpos, rtol=0, atol=3e-4)
    with aa.MujocoSimulation(model, own := mujoco.MjData(model)) as sim:
        assert aa.motors_of(sim) == aa.motors_of_model(model)
        assert aa.motors_of_model(model)["lift"].others == [aa.ImplicitConfig()]
        _held = driven("arm", aa.motors_of(sim))
        sim.step(steps)
        np.testing.assert_allclose(own.qpos, data.qpos, rtol=0, atol=5e-3)


@pytest.mark.parametrize("integrator", ["Euler", "RK4"])
def test_motors_of_a_file_with_an_explicit_integrator_are_explicit(tmp_path, integrator) -> None:
    with aa.Simulation(path := written(tmp_path, STIFF.format(integrator))) as sim:
        found = [aa.motors_of(sim), aa.motors_of_model(mujoco.MjModel.from_xml_path(str(path)))]
        assert not [one for motors in found for motor in motors.values() for one in motor.others]


@since_4
def test_motors_that_must_be_explicit_beside_an_implicit_integrator_are_named(tmp_path) -> None:
    actuator = '<dcmotor joint="wrist" motorconst="0.1" resistance="0.5" gear="20"/>'
    path = written(tmp_path, STIFF.format("implicitfast").replace('<motor joint="wrist"/>', actuator))
    with pytest.warns(UserWarning, match="motors of joints wrist have a transmission") as warned:
        motors = aa.motors_of_model(mujoco.MjModel.from_xml_path(str(path)))
    assert warned[0].filename == __file__
    assert not [one for one in motors["wrist"].others if isinstance(one, aa.ImplicitConfig)]


def test_motors_of_one_robot_of_several(tmp_path) -> None:
    other = '<body name="other"><joint name="swing" axis="0 1 0"/><geom/></body></worldbody>'
    text = LEG.format(integrator="Euler").replace("</worldbody>", other)
    text = text.replace("</actuator>", '<motor joint="swing" ctrlrange="-4 4"/></actuator>')
    with aa.Simulation(written(tmp_path, text)) as sim:
        assert list(aa.motors_of(sim, "leg")) == ["hip", "knee", "ankle"]
        assert aa.motors_of(sim, "other")["swing"].clamping == [aa.MaxEffortClampingConfig(4.0)]
        refused(ValueError, lambda: aa.motors_of(sim), r"there are 2 articulations, \['/leg', '/other'\]")


def test_motors_of_a_model_and_of_a_stage() -> None:
    model = mujoco.MjModel.from_xml_path(str(ARM))
    with aa.MujocoSimulation(model, mujoco.MjData(model)) as own, aa.Simulation(ARM) as sim:
        assert aa.motors_of(own) == aa.motors_of(own, "arm") == aa.motors_of(sim)
    with aa.Simulation(stage_of(ROBOTS / "franka_panda.usda")) as sim:
        by_prim = aa.motors_of(sim.stage)
        assert aa.motors_of(sim) == by_prim and len(by_prim) == 7
        robot = sim.articulation("/World/Panda")
        gains, limits = [values.numpy()[0] for values in robot.get_dof_gains()], robot.get_dof_max_efforts().numpy()[0]
        sim.stage.RemovePrim("/World/Panda/Actuators")
        motors = aa.motors_of(sim, "/World")
        assert list(motors) == robot.dof_names[: len(motors)] and len(motors) == 7
        for name, stiffness, damping, most in zip(motors, *gains, limits, strict=False):
            law = motors[name].controller
            assert isinstance(law, aa.PDControlConfig) and stiffness > 0
            assert (np.float32(law.kp), np.float32(law.kd)) == (stiffness, damping)
            assert motors[name].clamping == [aa.MaxEffortClampingConfig(most)]
            assert motors[name].armature == pytest.approx(0.1)


def test_what_no_drive_stands_for_stays_with_a_warning(tmp_path) -> None:
    text = LEG.format(integrator="Euler").replace(
        "</actuator>",
        """
        <position name="pull" tendon="string" kp="100"/>
        <general name="slow" joint="joint" dyntype="filter" dynprm="0.1" gainprm="3"/>
        <general name="held" joint="shin" biastype="affine" biasprm="7"/></actuator>
        <tendon><fixed name="string"><joint joint="ankle" coef="1"/></fixed></tendon>""",
    )
    text = text.replace('<joint type="slide"', '<joint name="joint" type="slide"')
    text = text.replace("</worldbody>", '<body><joint name="shin"/><geom pos="0.1 0 0"/></body></worldbody>')
    path = written(
        tmp_path,
        text.replace('<velocity name="ankle" joint="ankle" kv="3" gear="2" armature="0.05" damping="0.1"/>', ""),
    )
    names = (
        r"'pull' \(acts on a tendon\), 'slow' \(activation dynamics of kind filter\), "
        r"'held' \(it pushes with a constant alone\)"
    )
    with pytest.warns(UserWarning, match=rf"robot\.xml: actuators that no joint drive stands for: {names}") as warned:
        sim = aa.Simulation(path)
    assert warned[0].filename == __file__ and "drive their joints with motors" in str(warned[0].message)
    with sim:
        sim.play()
        kept = {sim.model.actuator(number).name for number in range(sim.model.nu)}
        assert {"pull", "slow", "held"} <= kept and not {"hip", "knee"} & kept
        motors = aa.motors_of(sim, "leg")
        assert sorted(motors) == ["ankle", "hip", "joint", "knee"]
        assert aa.CommandLagConfig(0.1) in motors["joint"].others


def test_constant_effort_acts_once(tmp_path) -> None:
    text = """<mujoco><option gravity="0 0 0"/><worldbody><body name="leg"><joint name="shin" damping="0.5"/>
    <geom size="0.1" pos="0.1 0 0"/></body></worldbody><actuator>
    <general name="held" joint="shin" biastype="affine" gainprm="90" biasprm="7 -90 -9"/></actuator></mujoco>"""
    sim = aa.Simulation(written(tmp_path, text))
    with sim:
        sim.play()
        robot = sim.articulation("/leg")
        robot.set_dof_position_targets(0.3)

        def settled() -> float:
            sim.step(2000)
            return float(robot.get_dof_positions().numpy()[0, 0])

        assert settled() == pytest.approx(0.3 + 7 / 90, abs=1e-5)
        motors = aa.motors_of(sim)
        assert motors["shin"].controller == aa.PDControlConfig(90.0, 9.0, 7.0)
        actuators = aa.ArticulationActuators.from_configs("/leg", motors)
        assert settled() == pytest.approx(0.3 + 7 / 90, abs=1e-5) and not robot.get_dof_drive_efforts().numpy().any()
        actuators.close()
        assert settled() == pytest.approx(0.3 + 7 / 90, abs=1e-5)
        np.testing.assert_allclose(robot.get_dof_drive_efforts().numpy(), 0.0, atol=1e-3)


# actuators that no drive stands for and a motor does
OTHERS = {
    "PID": '<pid name="own" joint="shin" kp="10" ki="4" kv="2" imax="3"/>',
    "slewed PID": '<pid joint="shin" kp="10" kv="2" slewmax="1.5" gear="-2"/>',
    "DC motor": '<dcmotor joint="shin" motorconst="0.1" resistance="0.5" gear="20" inductance="0.002" '
    'cogging="0.5 3 0.4"/>',
    "DC motor with a controller": '<dcmotor joint="shin" motorconst="0.1" resistance="0.5" gear="-2" input="pos" '
    'controller="3 0 0.4 0 0 4"/>',
    "constant alone": '<general joint="shin" biastype="affine" biasprm="7"/>',
}
SHIN = """<mujoco><option timestep="0.002" gravity="0 0 0"/><worldbody><body name="leg">
<joint name="shin" axis="0 1 0" armature="0.5" damping="0.1"/><geom size="0.1" mass="1" pos="0.2 0 0"/>
<body name="foot" pos="0.4 0 0"><joint name="toe" axis="0 1 0" armature="0.2" damping="0.1"/>
<geom size="0.05" mass="0.5" pos="0.1 0 0"/></body></body></worldbody><actuator>{}</actuator></mujoco>"""


def with_shin(tmp_path: Path, *actuators: str) -> Path:
    return written(tmp_path, SHIN.format("".join(actuators)))


@contextmanager
def opened(path: Path, **options) -> Iterator[aa.Simulation]:
    with pytest.warns(UserWarning, match="actuators that no joint drive stands for"):
        sim = aa.Simulation(path, 0.002, **options)
    with sim:
        sim.play()
        yield sim


def settings_of(sim: aa.Simulation) -> list[tuple[bytes | int, ...]]:
    return [
        (
            *(getattr(model, f"actuator_{name}").tobytes() for name in ("group", "gainprm", "biasprm", "dynprm")),
            model.opt.disableactuator,
        )
        for model in models_of(sim)
    ]


@since_4
@pytest.mark.parametrize("kind", OTHERS)
def test_actuator_of_the_file_is_silent_while_its_motor_runs(tmp_path, kind) -> None:
    path = with_shin(tmp_path, OTHERS[kind])
    model = mujoco.MjModel.from_xml_path(str(path))
    data, expected = mujoco.MjData(model), []
    with aa.MujocoSimulation(model, data) as own:
        held = driven("leg", aa.motors_of_model(model))
        robot = own.articulation("leg")
        robot.set_dof_positions([[0.7, 0.2]])
        robot.set_dof_position_targets([[0.3, 0.0]])
        for _ in range(300):
            own.step()
            expected.append(data.qpos[:2].copy())
        assert held.actuated_dof_indices
    with opened(path) as sim:
        robot = sim.articulation("/leg")
        before, activations = settings_of(sim), sim.data().act
        actuators = driven("/leg", aa.motors_of(sim))
        robot.set_dof_positions([[0.7, 0.2]])
        robot.set_dof_position_targets([[0.3, 0.0]])
        seen = [(sim.step(), robot.get_dof_positions().numpy()[0])[1] for _ in range(300)]
        np.testing.assert_allclose(seen, expected, rtol=0, atol=1e-6)
        assert not robot.get_dof_drive_efforts().numpy().any()
        actuators.close()
        assert settings_of(sim) == before
        np.testing.assert_array_equal(sim.data().act, activations)


@since_4
def test_actuators_on_tendons_are_silent_while_their_linkage_runs(tmp_path) -> None:
    fixed = '<fixed name="{}"><joint joint="shin" coef="1"/><joint joint="toe" coef="{}"/></fixed>'
    tendons = f"<tendon>{fixed.format('left', 0.5)}{fixed.format('right', -0.5)}</tendon></mujoco>"
    actuator = '<position tendon="{}" kp="4" kv="0.2" gear="3" forcerange="-6 6"/>'
    text = SHIN.format(actuator.format("left") + actuator.format("right")).replace("</mujoco>", tendons)
    path = written(tmp_path, text)
    model = mujoco.MjModel.from_xml_path(str(path))
    data, ends = mujoco.MjData(model), []
    with aa.MujocoSimulation(model, data) as own:
        _held = driven("leg", aa.motors_of_model(model))
        own.articulation("leg").set_dof_position_targets([[0.3, -0.2]])
        own.step(300)
        ends.append(data.qpos.copy())
    with opened(path) as sim:
        before, motors = settings_of(sim), aa.motors_of(sim)
        assert motors == aa.motors_of_model(model) and list(motors) == ["shin", "toe"]
        actuators = driven("/leg", motors)
        robot = sim.articulation("/leg")
        robot.set_dof_position_targets([[0.3, -0.2]])
        sim.step(300)
        ends.append(robot.get_dof_positions().numpy()[0])
        actuators.close()
        assert settings_of(sim) == before
    assert np.abs(ends[0]).min() > 0.05
    np.testing.assert_allclose(*ends, rtol=0, atol=1e-6)


@since_4
def test_actuators_of_the_file_act_as_before_after_close(tmp_path) -> None:
    with opened(with_shin(tmp_path, OTHERS["PID"], OTHERS["constant alone"].replace("shin", "toe"))) as sim:

        def moved() -> np.ndarray:
            sim.reset()
            sim.articulation("/leg").set_dof_positions([[0.7, 0.2]])
            sim.step(200)
            return np.concatenate([qpos_of(sim), qvel_of(sim)])

        alone = moved()
        actuators = driven("/leg", aa.motors_of(sim))
        assert (moved() != alone).all()
        actuators.close()
        np.testing.assert_array_equal(moved(), alone)
        # and after physics was stopped while they ran
        _held = driven("/leg", aa.motors_of(sim))
        sim.step(3)
        sim.stop()
        _held.close()
        sim.play()
        np.testing.assert_array_equal(moved(), alone)


@since_4
def test_actuators_of_other_joints_go_on_acting(tmp_path) -> None:
    lift = '<general joint="toe" biastype="affine" biasprm="0.5"/>'
    path = with_shin(tmp_path, OTHERS["PID"], lift, '<adhesion body="foot" ctrlrange="0 1"/>')
    with opened(path, num_envs=3) as sim:
        with pytest.warns(UserWarning, match="that no motor stands for"):
            motors = {"shin": aa.motors_of(sim, "/leg")["shin"]}
        before = settings_of(sim)
        first = driven("/envs/env_1/leg", motors)
        models = models_of(sim)
        groups = [model.actuator_group[:3].tolist() for model in models]
        assert groups == [[0, 0, 0], [30, 0, 0], [0, 0, 0]]
        assert [model.opt.disableactuator for model in models] == [0, 1 << 30, 0]
        sim.articulation("/envs/env_.*/leg").set_dof_positions([[0.7, 0.0]])
        sim.step()
        efforts = sim.articulation("/envs/env_.*/leg").get_dof_drive_efforts().numpy()
        np.testing.assert_allclose(efforts[:, 1], 0.5)
        assert efforts[1, 0] == 0.0 and (efforts[[0, 2], 0] < -5).all()
        # a second one of the same joint: the last to go lets the actuator act
        with pytest.warns(UserWarning, match="driven by two actuator wrappers"):
            second = driven("/envs/env_1/leg", motors)
        first.close()
        assert settings_of(sim) != before
        second.close()
        assert settings_of(sim) == before


@since_4
def test_actuators_of_the_file_stay_silent_in_simulations_that_are_rebuilt(tmp_path) -> None:
    with opened(with_shin(tmp_path, OTHERS["constant alone"])) as sim:
        before = settings_of(sim)
        actuators = driven("/leg", aa.motors_of(sim))
        robot = sim.articulation("/leg")
        robot.observe_contact_forces(links=["foot"])
        sim.step()
        assert not robot.get_dof_drive_efforts().numpy().any()
        actuators.close()
        assert settings_of(sim) == before
        sim.step()
        assert robot.get_dof_drive_efforts().numpy()[0, 0] == pytest.approx(7.0)


@since_4
def test_targets_reach_drives_beside_actuators_with_several_controls(tmp_path) -> None:
    path = with_shin(tmp_path, '<pid joint="toe" kp="1" ki="1" kv="1"/><position joint="shin" kp="30" kv="9"/>')
    with opened(path) as sim:
        robot = sim.articulation("/leg")
        robot.set_dof_position_targets([[0.5, 0.9]])
        sim.step(3000)
        # the PID has no drive, and its own setpoint is 0
        np.testing.assert_allclose(robot.get_dof_positions().numpy(), [[0.5, 0.0]], atol=1e-3)


def test_without_a_stage(tmp_path) -> None:
    with aa.Simulation(leg(tmp_path)) as sim:
        robot = sim.articulation("leg")
        assert sim.stage is None and robot.valid
        for call in (lambda: robot.set_dof_gains(1.0), lambda: robot.set_dof_limits(-1, 1)):
            refused(HostError, call, r"there is no stage to author .* on while .* Call play\(\) first")
        getters = [name for name in dir(robot) if name in READABLE]
        assert len(getters) == len(READABLE)
        stopped = [getattr(robot, name)() for name in getters]
        with pytest.raises(HostError, match="has no prims"):
            _ = robot.prims
        with pytest.raises(HostError, match="no USD stage is current"):
            aa.add_actuator("/leg", "hip", "motor", aa.PDControlConfig(1.0, 1.0))
        with pytest.warns(UserWarning, match=r"no USD stage.*motors_of\(sim\).*from_configs\('/leg', motors\)"):
            assert not aa.ArticulationActuators("leg").actuated_dof_indices
        sim.play()
        for name, before in zip(getters, stopped, strict=True):
            found = getattr(robot, name)()
            pairs = zip(before, found, strict=True) if isinstance(found, tuple) else [(before, found)]
            for one, other in pairs:
                np.testing.assert_allclose(one.numpy(), other.numpy(), err_msg=name)
        robot.set_dof_armatures(0.3)
        np.testing.assert_allclose(robot.get_dof_armatures().numpy(), np.full((1, 4), 0.3), rtol=1e-6)
        sim.stop()
        sim.play()
        np.testing.assert_allclose(robot.get_dof_armatures().numpy(), [[0, 0, 0.3, 0]])


@pytest.mark.filterwarnings("ignore:.*will vibrate at dt")
def test_groups_are_made_before_play_too(tmp_path) -> None:
    groups = {
        "all": IdealPDActuatorCfg(joint_names_expr=[".*"], stiffness=None, damping=None, actuator_effort_limit=None)
    }
    with aa.Simulation(leg(tmp_path)) as sim:
        actuators = aa.ArticulationActuators.from_groups("leg", groups)
        sim.play()
        gains = [actuator.controller.kp.numpy()[0] for actuator in actuators.actuators]
        np.testing.assert_allclose(gains, [320, 90, 0, 0])


def test_groups_randomization_and_dynamics(tmp_path) -> None:
    with played(leg(tmp_path), num_envs=2) as sim:
        groups = {
            "all": IdealPDActuatorCfg(
                joint_names_expr=[".*"], stiffness=50.0, damping=5.0, actuator_effort_limit=80.0, rules="documentation"
            )
        }
        actuators = aa.ArticulationActuators.from_groups("leg", groups)
        robot = aa.Articulation("leg")
        robot.set_dof_position_targets(0.2)
        sim.step(50)
        data = sim.data(1)
        dense = np.zeros((data.model.nv, data.model.nv))
        mujoco.mj_fullM(data.model, data, dense)
        np.testing.assert_allclose(robot.get_mass_matrices().numpy()[1], dense[:4, :4], rtol=1e-5, atol=1e-6)
        places, _ = robot.get_link_world_poses()
        np.testing.assert_allclose(places.numpy()[1, 2], data.body("foot").xpos, atol=1e-6)
        actuators.randomize({"armature": aa.Uniform(0.1, 0.2), "kp": aa.Uniform(10.0, 20.0)}, seed=0)
        assert len(np.unique(robot.get_dof_armatures().numpy())) == 8
        sim.step(10)


def test_contacts_beside_sensors_of_the_file(tmp_path) -> None:
    text = """
    <mujoco><worldbody><geom type="plane" size="1 1 1"/>
      <body name="crate" pos="0 0 0.1"><freejoint/><geom type="box" size="0.1 0.1 0.1" mass="2"/>
        <body name="lid" pos="0 0 0.12"><joint name="lid" axis="0 1 0" range="-0.1 0.1"/>
          <geom type="box" size="0.1 0.1 0.01" mass="1"/></body></body></worldbody>
      <sensor><framepos objtype="body" objname="lid"/><contact name="crate" body1="crate" data="force"/></sensor>
    </mujoco>"""
    with aa.Simulation(written(tmp_path, text)) as sim:
        robot = sim.articulation("crate")
        robot.observe_contact_forces("crate")
        sim.play()
        sim.step(500)
        np.testing.assert_allclose(robot.get_link_contact_forces().numpy()[0, 0], [0, 0, 3 * 9.81], rtol=1e-2, atol=0.3)
        positions, _ = robot.get_world_poses()
        np.testing.assert_allclose(positions.numpy()[0], [0, 0, 0.1], atol=1e-2)
        robot.set_world_poses([[1.0, 0.0, 2.0]])
        sim.step(50)
        assert robot.get_world_poses()[0].numpy()[0, 2] < 1.99


BROKEN = {
    "unknown element": ("<mujoco><worldbody><bodi/></worldbody></mujoco>", r"unrecognized element.*'bodi'.*line 1"),
    "mass": (
        '<mujoco><worldbody><body name="thin"><joint/></body></worldbody></mujoco>',
        r"mass and inertia of moving bodies must be larger than mjMINVAL, Element name 'thin'",
    ),
    "mesh": (
        '<mujoco><asset><mesh file="gone.stl"/></asset><worldbody><geom type="mesh" mesh="gone"/></worldbody></mujoco>',
        r"gone\.stl",
    ),
    "another format": ("<sdf/>", "MuJoCo cannot open it: .*sdf"),
    "no XML": ("<mujoco>", "no XML"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_what_cannot_be_opened_says_where(tmp_path, case) -> None:
    text, said = BROKEN[case]
    path = written(tmp_path, text)
    message = refused(ValueError, lambda: aa.Simulation(path), said)
    assert message.startswith(f"{path}: ") and message.endswith(" the file.") and "\n" not in message


def test_files_that_are_not_there_and_other_simulators(tmp_path) -> None:
    refused(FileNotFoundError, lambda: aa.Simulation(tmp_path / "gone.xml"), r"gone\.xml: no such file")
    refused(ValueError, lambda: aa.Simulation(ARM, engine="physx"), "engine = 'physx' reads USD only")


@pytest.mark.slow
def test_needs_no_usd(tmp_path) -> None:
    script = f"""
import sys
import warnings
warnings.simplefilter("error")
warnings.filterwarnings("ignore", ".*will vibrate at dt")
for name in ("pxr", "newton_usd_schemas", "newton"):
    sys.modules[name] = None
from isaacsim.core.experimental.actuators import Articulation, ArticulationActuators, Simulation, motors_of
with Simulation({str(leg(tmp_path))!r}, num_envs=2) as sim:
    sim.play()
    robot = Articulation("leg")
    robot.set_dof_gains(100.0, 10.0)
    robot.set_dof_armatures(0.1)
    assert robot.get_dof_max_velocities().numpy().shape == (2, 4)
    robot.switch_dof_control_mode("position")
    actuators = ArticulationActuators.from_configs("leg", motors_of(sim) | {{"joint_3": motors_of(sim)["knee"]}})
    robot.set_dof_position_targets(0.3)
    sim.step(20)
    picture = sim.render(160, 120, lookat=(0.4, 0, 1), distance=1.5)
    assert picture.shape == (120, 160, 3) and picture.std() > 5
    sim.reset()
    actuators.close()
try:
    Simulation("robot.usda")
except Exception as error:
    print(type(error).__name__, error)
"""
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    assert "a USD stage needs pxr, which is not installed" in found.stdout or "needs newton_usd_schemas" in found.stdout


def test_dofs_are_in_one_order_however_a_robot_is_opened(tmp_path) -> None:
    path = quadruped(tmp_path)
    with aa.Simulation(quadruped_stage()) as stage:
        names = stage.articulation("/quadruped").dof_names
        links = stage.articulation("/quadruped").link_names
    with played_robot("trunk", path, initial_positions=QUADRUPED_HOME) as (sim, robot):
        assert robot.dof_names == names == BREADTH_FIRST and robot.link_names == links
        # MuJoCo's own order is that of the file
        assert [sim.model.joint(joint).name for joint in range(12)] == DEPTH_FIRST


def test_targets_move_the_joints_that_names_say(tmp_path) -> None:
    with played_robot("trunk", quadruped(tmp_path), initial_positions=QUADRUPED_HOME) as (sim, robot):
        values = np.linspace(-0.9, -0.85, 12)
        robot.set_dof_positions(values)
        data = sim.data()
        assert [data.joint(name).qpos[0] for name in robot.dof_names] == values.astype(np.float32).tolist()
        jacobian, mass = robot.get_jacobian_matrices().numpy()[0], robot.get_mass_matrices().numpy()[0]
        dense = np.empty((12, 12))
        for column, unit in zip(dense, np.eye(12), strict=True):
            mujoco.mj_mulM(sim.model, data, column, unit)
        own = [int(sim.model.joint(name).dofadr[0]) for name in robot.dof_names]
        np.testing.assert_allclose(mass, dense[np.ix_(own, own)], atol=1e-6)
        of_body = np.empty((3, 12))
        mujoco.mj_jacBodyCom(sim.model, data, of_body, None, sim.model.body(robot.link_names[5]).id)
        np.testing.assert_allclose(jacobian[4, :3], of_body[:, own], atol=1e-6)


def test_links_of_fixed_joints_come_by_the_names_of_these(tmp_path) -> None:
    path = tmp_path / "arms.urdf"
    inertial = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
    links = "".join(f'<link name="{name}">{inertial}</link>' for name in ("base", "one", "two", "left", "right"))
    ends = '<parent link="{}"/><child link="{}"/><axis xyz="0 1 0"/>'.format
    joints = "".join(
        f'<joint name="{name}" type="{kind}">{ends(parent, child)}</joint>'
        for name, kind, parent, child in [
            ("z", "fixed", "base", "one"),
            ("a", "fixed", "base", "two"),
            ("left", "continuous", "one", "left"),
            ("right", "continuous", "two", "right"),
        ]
    )
    path.write_text(f'<robot name="arms">{links}{joints}</robot>')
    with aa.Simulation(path) as sim:
        robot = sim.articulation("base")
        assert robot.dof_names == ["right", "left"] and robot.joint_names == ["a", "z", "right", "left"]


# elements without names, in another order than that of the bodies they are in, and several of one
UNORDERED = """<mujoco><worldbody><body><joint/><geom size="0.1"/>
<frame pos="0 0 1"><body><joint name="second"/><geom size="0.1"/></body></frame>
<replicate count="2" offset="0 1 0"><body name="many"><joint type="slide"/><geom size="0.1"/></body></replicate>
<body><joint/><geom size="0.1"/></body></body></worldbody>
<actuator><position joint="second" kp="5"/><general joint="second" dyntype="filter"/></actuator></mujoco>"""


@pytest.mark.parametrize("text", [LEG.format(integrator="Euler"), UNORDERED, STIFF.format("implicit")])
def test_file_that_is_read_again_is_the_same(tmp_path, text) -> None:
    path, models = written(tmp_path, text), []
    spec = mujoco.MjSpec.from_file(str(path))
    spec.compile()
    file_reader._name_all(spec)
    for one in (spec, file_reader._read_again(path, spec)):
        model = one.copy().compile()
        mujoco.mj_saveModel(model, None, packed := np.empty(mujoco.mj_sizeModel(model), np.uint8))
        models.append(packed.tobytes())
    assert models[0] == models[1]


FOLLOWS = """<mujoco><worldbody><body name="arm" pos="0 0 1"><geom size=".1" contype="0"/>
  <body><joint name="leader"/><geom size=".1" contype="0"/></body>
  <body><joint name="follower"/><geom size=".1" contype="0"/></body>
</body></worldbody><equality><joint joint1="follower" joint2="leader"/></equality></mujoco>"""


def test_joints_of_a_file_that_follow_others_are_not_asked_for_a_motor(tmp_path) -> None:
    path = written(tmp_path, FOLLOWS)
    motors = {"leader": [aa.PDControlConfig(1.0, 0.1), aa.MaxEffortClampingConfig(1.0)]}
    model = mujoco.MjModel.from_xml_path(str(path))
    for opening in (lambda: aa.Simulation(path), lambda: aa.MujocoSimulation(model, mujoco.MjData(model))):
        with opening():
            aa.ArticulationActuators.from_configs("arm", motors).close()
