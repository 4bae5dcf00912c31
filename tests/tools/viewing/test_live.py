"""Data and requests of a live view, without a screen."""

import isaacsim.core.experimental.actuators as aa
import mujoco
import numpy as np
import pytest
from isaacsim.core.experimental.actuators.tools.viewing.live import Live
from places import ROBOTS
from small_stages import two_robots

ARM = ROBOTS / "arm_2dof.usda"


@pytest.fixture
def sim():
    with aa.Simulation(ARM, num_envs=3) as made:
        made.play()
        yield made


@pytest.fixture
def actuators(sim: aa.Simulation) -> aa.ArticulationActuators:
    return aa.ArticulationActuators("/World/Arm")


def live_of(sim: aa.Simulation) -> Live:
    return Live(sim, sim._host)


def test_bodies_are_where_mujoco_has_them(sim, actuators) -> None:
    aa.Articulation("/World/Arm").set_dof_positions([[0.1, 0.1], [0.7, 0.3], [-0.4, 0.2]])
    live = live_of(sim)
    for env in range(3):
        live.select(env, 0)
        data = sim.data(env)
        np.testing.assert_allclose(live.poses(), np.hstack([data.xpos, data.xquat]), atol=1e-12)


def test_ghost_is_where_the_targets_are(sim, actuators) -> None:
    aa.Articulation("/World/Arm").set_dof_position_targets([[0.0, 0.0], [0.9, 0.25], [0.0, 0.0]])
    live = live_of(sim)
    live.select(1, 0)
    before = sim.data(1).qpos.copy()
    there = mujoco.MjData(sim.model)
    there.qpos[:] = np.float32([0.9, 0.25])
    mujoco.mj_forward(sim.model, there)
    np.testing.assert_allclose(live.target_poses(), np.hstack([there.xpos, there.xquat]), atol=1e-12)
    np.testing.assert_array_equal(sim.data(1).qpos, before)


def test_joints_without_anything_to_hold_them_have_no_ghost() -> None:
    with aa.Simulation(ARM) as sim:
        sim.play()
        robot = aa.Articulation("/World/Arm")
        robot.set_dof_gains(0.0, 0.0)
        robot.set_dof_position_targets([0.9, 0.25])
        live = live_of(sim)
        np.testing.assert_array_equal(live.target_poses(), live.poses())
        robot.set_dof_gains(100.0, 1.0)
        assert (live.target_poses() != live.poses()).any()


def test_efforts_are_those_of_the_recorder(sim, actuators) -> None:
    live = live_of(sim)
    live.select(1, 0)
    aa.Articulation("/World/Arm").set_dof_position_targets([[0.0, 0.0], [2.0, 0.3], [0.0, 0.0]])
    with actuators.record() as log:
        sim.step(5)
    shown = live.efforts()
    for name, recorded in (("computed", log.computed_efforts), ("applied", log.applied_efforts)):
        assert [getattr(effort, name) for effort in shown] == recorded[-1, 1].tolist()
    assert [effort.limited_by for effort in shown] == log.limited_by[-1, 1].tolist()
    assert any(effort.limited_by for effort in shown)
    time, _, applied = live.history(0)
    assert applied.tolist() == log.applied_efforts[:, 1, 0].tolist() and time[-1] == 0.0


def test_applied_efforts_are_within_the_envelope_and_limited_ones_at_its_end(sim, actuators) -> None:
    live, limited = live_of(sim), 0
    for target in (2.0, -2.0):
        aa.Articulation("/World/Arm").set_dof_position_targets([[target, 0.3]])
        for _ in range(60):
            sim.step()
            for effort in live.efforts():
                assert effort.lower <= effort.applied <= effort.upper
                if effort.limited_by:
                    limited += 1
                    assert effort.applied in (pytest.approx(effort.lower), pytest.approx(effort.upper))
    assert limited > 10


def test_motor_of_a_tendon_has_no_ends_at_its_joints(sim) -> None:
    tendon = aa.LinkageConfig.tendon({"shoulder": 1.0, "extension": 0.8})
    motor = [aa.PDControlConfig(4.0, 0.4), aa.MaxEffortClampingConfig(60.0), tendon]
    actuators = aa.ArticulationActuators.from_configs("/World/Arm", {"shoulder": motor})
    live = live_of(sim)
    sim.step()
    first, second = live.efforts()
    assert (first.lower, first.upper, second.lower, second.upper) == (-np.inf, np.inf) * 2
    assert second.applied == pytest.approx(0.8 * first.applied) and live.gain(0, "kp") == 4.0
    actuators.close()


def test_geared_motor_is_shown_at_the_joint() -> None:
    geared = [aa.PDControlConfig(2.0, 0.2), aa.MaxEffortClampingConfig(6.0), aa.TransmissionConfig(-10.0, 0.4)]
    direct = [aa.PDControlConfig(200.0, 20.0), aa.MaxEffortClampingConfig(60.0)]
    shown = []
    for motor in (geared, direct):
        with aa.Simulation(ARM, 0.005) as sim:
            sim.play()
            actuators = aa.ArticulationActuators.from_configs("/World/Arm", {".*": motor})
            live = live_of(sim)
            actuators.articulation.set_dof_position_targets([0.5, 0.1])
            sim.step(3)
            shown.append((live.efforts(), live.history(0)))
            actuators.close()
    (efforts, history), (expected, of_direct) = shown
    for one, other in zip(efforts, expected, strict=True):
        assert (one.lower, one.upper, one.limited_by) == (pytest.approx(-60.0), pytest.approx(60.0), other.limited_by)
        assert one.computed == pytest.approx(other.computed, rel=1e-4, abs=1e-4)
        assert one.applied == pytest.approx(other.applied, rel=1e-4, abs=1e-4)
    np.testing.assert_allclose(history, of_direct, rtol=1e-4, atol=1e-4)


def test_temperatures_are_those_of_the_recorder() -> None:
    motor = [aa.PDControlConfig(200.0, 20.0), aa.MaxEffortClampingConfig(60.0)]
    heat = aa.ThermalConfig(0.5, 1.0, motor_constant=0.5, derating_start=90.0, max_temperature=130.0)
    for law, ends in ((heat, (90.0, 130.0)), (aa.ThermalConfig(0.5, 1.0, motor_constant=0.5), (np.inf, np.inf))):
        with aa.Simulation(ARM, 0.005) as sim:
            sim.play()
            motors = {"shoulder": [*motor, law], "extension": motor}
            actuators = aa.ArticulationActuators.from_configs("/World/Arm", motors)
            live = live_of(sim)
            assert [joint.derating for joint in live.joints] == [ends, None]
            actuators.articulation.set_dof_position_targets([2.0, 0.1])
            with actuators.record() as log:
                sim.step(5)
                shoulder, extension = live.efforts()
                assert shoulder.temperature == log.winding_temperatures[-1, 0, 0] > 30.0
                assert extension.temperature is None
            actuators.close()


def test_efforts_of_motor_and_friction_are_shown_apart() -> None:
    motor = [aa.PDControlConfig(200.0, 20.0), aa.MaxEffortClampingConfig(60.0)]
    with aa.Simulation(ARM, 0.005) as sim:
        sim.play()
        stages = {"shoulder": [*motor, aa.FrictionConfig(coulomb=6.0, static=8.0)], "extension": motor}
        actuators = aa.ArticulationActuators.from_configs("/World/Arm", stages)
        live = live_of(sim)
        assert [joint.passive for joint in live.joints] == [True, False]
        actuators.articulation.set_dof_position_targets([2.0, 0.1])
        with actuators.record() as log:
            sim.step(2)
            shoulder, extension = live.efforts()
            assert shoulder.motor == log.motor_efforts[-1, 0, 0] == shoulder.upper == 60.0
            assert shoulder.friction == log.passive_efforts[-1, 0, 0] < 0.0 and not shoulder.sticking
            assert shoulder.applied == pytest.approx(shoulder.motor + shoulder.friction)
            assert (extension.motor, extension.friction) == (extension.applied, None)
            actuators.articulation.set_dof_position_targets([0.1, 0.1])
            sim.step(400)
            assert live.efforts()[0].sticking
            kept = len(live.history(0)[0])
            for shown, signal in zip(live.history(0)[1:], ("computed", "motor", "passive"), strict=True):
                np.testing.assert_array_equal(shown, getattr(log, f"{signal}_efforts")[-kept:, 0, 0])
        assert len(live.history(1)) == 3


def test_target_and_gain_are_set_where_asked_for(sim, actuators) -> None:
    live = live_of(sim)
    live.select(1, 0)
    live.set_target(0, 0.5)
    before = [actuator.controller.read("kp").copy() for actuator in actuators.actuators]
    assert live.gain(0, "kp") == before[0][1]
    live.set_gain(0, "kp", 7.0)
    assert live.gain(0, "kp") == 7.0
    assert aa.Articulation("/World/Arm").get_dof_position_targets().numpy()[:, 0].tolist() == [0.0, 0.5, 0.0]
    assert (actuators.actuators[0].controller.read("kp") != before[0]).tolist() == [False, True, False]
    sim.step()
    computed = {effort.column: effort.computed for effort in live.efforts()}
    assert computed[0] == pytest.approx(7.0 * 0.5, rel=1e-5)


def test_reset_is_that_of_the_environment_shown(sim, actuators) -> None:
    live = live_of(sim)
    live.select(1, 0)
    aa.Articulation("/World/Arm").set_dof_positions(0.3)
    live.reset()
    places = aa.Articulation("/World/Arm").get_dof_positions().numpy()[:, 0]
    assert places.tolist() == [np.float32(0.3), 0, np.float32(0.3)]


def test_robots_of_a_stage_are_shown_one_at_a_time() -> None:
    with aa.Simulation(two_robots(ARM, "/World/Arm")) as sim:
        sim.play()
        actuators = aa.ArticulationActuators("/World/Right")
        live = live_of(sim)
        assert live.robots == ["/World/Left", "/World/Right"]
        assert [joint.driven for joint in live.joints] == [False, False]
        live.select(0, 1)
        assert [joint.driven for joint in live.joints] == [True, True]
        live.set_target(0, 0.4)
        assert aa.Articulation("/World/Left").get_dof_position_targets().numpy()[0, 0] == 0.0
        assert aa.Articulation("/World/Right").get_dof_position_targets().numpy()[0, 0] == np.float32(0.4)
        actuators.close()
        assert not live.is_current
        live.refresh()
        assert [joint.driven for joint in live.joints] == [False, False]


def test_wrapper_is_not_kept_alive(sim) -> None:
    wrapper = aa.ArticulationActuators("/World/Arm")
    live = live_of(sim)
    assert live.joints[0].driven
    del wrapper
    live.refresh()
    assert not live.joints[0].driven


def test_a_floating_base_is_held_where_it_is_until_it_is_let_go() -> None:
    with aa.Simulation(ROBOTS / "unitree_go1.usda", 1 / 200) as sim:
        sim.play()
        robot = sim.articulation("/")
        live = live_of(sim)
        assert live.is_floating and live.title.endswith(", unitree_go1.usda")
        robot.set_world_poses([[0.0, 0.0, 2.0]])
        live.hold_base(True)
        sim.step(40)
        assert live.is_held and robot.get_world_poses()[0].numpy()[0, 2] == pytest.approx(2.0, abs=1e-6)
        # legs hang, as on a stand
        with aa.Simulation(ROBOTS / "unitree_go1.usda", 1 / 200, fixed_base=True) as stand:
            stand.play()
            stand.articulation("/").set_world_poses([[0.0, 0.0, 2.0]])
            stand.step(40)
            there = stand.articulation("/").get_dof_positions().numpy()
        np.testing.assert_allclose(robot.get_dof_positions().numpy(), there, atol=1e-5)
        live.hold_base(False)
        sim.step(40)
        assert not live.is_held and robot.get_world_poses()[0].numpy()[0, 2] < 1.9
        live.hold_base(True)
        live.close()
        assert not live.is_held
    with aa.Simulation(ARM) as sim:
        sim.play()
        live = live_of(sim)
        live.hold_base(True)
        assert not live.is_floating and not live.is_held and live.title == "Arm, arm_2dof.usda"


def test_motion_has_positions_and_targets(sim, actuators) -> None:
    live = live_of(sim)
    live.set_target(0, 0.3)
    sim.step(20)
    time, positions, targets = live.motion(0)
    assert time[-1] == 0.0 and len(time) == len(positions) == len(targets) == 20
    assert (targets == np.float32(0.3)).all() and positions[0] < positions[-1] < 0.4
