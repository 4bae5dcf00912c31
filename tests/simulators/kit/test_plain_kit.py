"""Actuators in Kit without Isaac Sim, beyond what holds in any order of events."""

import gc
import sys
import weakref

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
import warp as wp
from fakes.contract import ROBOTS, our_callbacks, stage_with_robots
from fakes.kit_world import PLAIN, KitWorld
from isaacsim.core.experimental.actuators.base.errors import HostError
from isaacsim.core.experimental.actuators.simulators import current
from isaacsim.core.experimental.actuators.simulators.current import current_host
from pxr import Sdf, Usd, UsdPhysics
from refusals import refused


@pytest.fixture(params=PLAIN)
def world(request: pytest.FixtureRequest):
    with KitWorld(request.param) as made:
        made.open(stage_with_robots())
        yield made


@pytest.fixture
def playing(world: KitWorld) -> KitWorld:
    """With one step done, so that physics is ready."""
    current_host().bus.on_ready(lambda: None)
    world.play()
    world.update()
    return world


def ones(count: int = 2) -> wp.array:
    return wp.ones(count, dtype=wp.float32, device="cpu")


def test_friction_cannot_be_set_here(world) -> None:
    limited = [aa.PDControlConfig(10.0, 1.0), aa.MaxEffortClampingConfig(5.0)]
    with pytest.raises(HostError, match=r"in_engine = True of joints .*: KitArticulation has no set_dof_friction_prop"):
        aa.ArticulationActuators.from_configs(ROBOTS, {".*": [*limited, aa.FrictionConfig(0.5, in_engine=True)]})
    motor = [*limited, aa.FrictionConfig(0.5, assumed_inertia=0.1)]
    aa.ArticulationActuators.from_configs(ROBOTS, {".*": motor}).close()
    stage = current_host().stage
    joint = next(prim for prim in stage.Traverse() if prim.IsA(UsdPhysics.RevoluteJoint))
    joint.CreateAttribute("newton:friction", Sdf.ValueTypeNames.Float).Set(0.5)
    words = rf"joints {joint.GetName()} have a friction stage, .*: KitArticulation has no"
    with pytest.warns(UserWarning, match=words):
        aa.ArticulationActuators.from_configs(ROBOTS, {".*": motor}).close()


def test_friction_of_a_replaced_actuator_cannot_be_taken_back_here(playing) -> None:
    stage = current_host().stage
    motor = [aa.PDControlConfig(10.0, 1.0), aa.MaxEffortClampingConfig(5.0)]
    aa.add_motors("/World/Robot_0", {"hip": [*motor, aa.FrictionConfig(0.5)]}, stage=stage, overwrite_existing=True)
    words = r" friction of joints hip stays that of the replaced actuator: KitArticulation has no .*add"
    with pytest.warns(UserWarning, match=words):
        aa.ArticulationActuators.from_configs(ROBOTS, {".*": motor}).close()
    aa.add_motors("/World/Robot_0", {"hip": motor}, stage=stage, overwrite_existing=True)
    aa.ArticulationActuators.from_configs(ROBOTS, {".*": motor}).close()


def test_without_a_stage_nothing_is_found(world) -> None:
    world.close()
    refused(ValueError, lambda: aa.Articulation(ROBOTS), "there are none")


def test_joints_are_known_before_play(world) -> None:
    robots = aa.Articulation(ROBOTS)
    assert (len(robots), robots.num_dofs, robots.dof_names) == (2, 3, ["ankle", "hip", "knee"])
    assert robots.dof_paths[1] == ["/World/Robot_1/ankle", "/World/Robot_1/hip", "/World/Robot_1/knee"]


def test_joints_are_the_engines_while_physics_runs(playing) -> None:
    robots = aa.Articulation(ROBOTS)
    assert robots.dof_names == ["knee", "hip", "ankle"] and robots.get_dof_positions().shape == (2, 3)
    assert robots.dof_paths[0] == ["/World/Robot_0/knee", "/World/Robot_0/hip", "/World/Robot_0/ankle"]


def test_feedforward_given_before_play_reaches_its_joint(world) -> None:
    pair = (aa.ActuatorConfig(aa.ControllerPD(ones(), ones())), "ankle")
    wrapper = aa.ArticulationActuators.from_actuators(ROBOTS, [pair])
    before = wrapper.articulation.get_dof_indices("ankle").numpy()
    wrapper.set_dof_feedforward_effort_targets(3.0, dof_indices=before)
    world.play()
    world.update()
    after = wrapper.articulation.get_dof_indices("ankle").numpy()
    assert after != before
    assert wrapper.articulation.get_dof_efforts(dof_indices=after).numpy().tolist() == [[3.0], [3.0]]


def test_unknown_joint_is_named(world) -> None:
    with pytest.raises(ValueError, match=r"joint 'wing': not in </World/Robot_0>. Available: \['ankle', 'hip'"):
        aa.Articulation(ROBOTS).get_dof_indices("wing")


def test_engine_that_has_robots_with_different_joints_is_told(playing) -> None:
    playing.stop()
    playing.usd_context.get_stage().RemovePrim("/World/Robot_1/ankle")
    playing.play()
    playing.update()
    refused(ValueError, lambda: aa.Articulation(ROBOTS), r"Select them apart: '/World/Robot_0'; '/World/Robot_1'\.")


def test_robot_that_physics_does_not_know_is_refused(playing) -> None:
    stage: Usd.Stage = playing.usd_context.get_stage()
    UsdPhysics.ArticulationRootAPI.Apply(stage.DefinePrim("/World/Late", "Xform"))
    with pytest.raises(ValueError, match=r"physics runs without some of \['/World/Late'\]. Play again"):
        aa.Articulation("/World/Late")


def test_state_before_the_first_step_is_refused(world) -> None:
    robots = aa.Articulation(ROBOTS)
    world.play()
    refused(HostError, robots.get_dof_positions, "from the first physics step after play until stop")


@pytest.mark.parametrize("name", ["positions", "velocities", "position_targets", "velocity_targets", "efforts"])
def test_written_values_are_read_back(playing, name) -> None:
    robots = aa.Articulation(ROBOTS)
    before = getattr(robots, f"get_dof_{name}")().numpy().copy()
    getattr(robots, f"set_dof_{name}")([[7.0, 8.0]], indices=[1], dof_indices=[2, 0])
    expected = before.copy()
    expected[1, [2, 0]] = 7.0, 8.0
    np.testing.assert_array_equal(getattr(robots, f"get_dof_{name}")().numpy(), expected)
    assert getattr(robots, f"get_dof_{name}")(indices=[1], dof_indices=[2, 0]).numpy().tolist() == [[7.0, 8.0]]


def test_positions_set_are_targets_too(playing) -> None:
    robots = aa.Articulation(ROBOTS)
    robots.set_dof_positions(2.0)
    robots.set_dof_velocities(3.0)
    assert (robots.get_dof_position_targets().numpy() == 2.0).all()
    assert (robots.get_dof_velocity_targets().numpy() == 3.0).all()


@pytest.mark.parametrize("name", ["stiffnesses", "dampings"])
def test_one_gain_is_set_without_the_other(playing, name) -> None:
    robots = aa.Articulation(ROBOTS)
    before = [gains.numpy().copy() for gains in robots.get_dof_gains()]
    robots.set_dof_gains(**{name: 5.0}, dof_indices=[1])
    before[("stiffnesses", "dampings").index(name)][:, 1] = 5.0
    for gains, expected in zip(robots.get_dof_gains(), before, strict=True):
        np.testing.assert_array_equal(gains.numpy(), expected)


def test_efforts_act_in_the_first_step(world) -> None:
    wrapper = aa.ArticulationActuators(ROBOTS)
    wrapper.set_dof_feedforward_effort_targets(2.0)
    world.play()
    world.update(dt=0.1)
    hip = wrapper.articulation.dof_names.index("hip")
    np.testing.assert_allclose(world.physics.arrays["velocities"][:, hip], 0.2, rtol=1e-6)


def test_wrapper_made_while_physics_runs_waits_for_a_step(world) -> None:
    world.play()
    world.update()
    wrapper = aa.ArticulationActuators(ROBOTS)
    refused(HostError, lambda: wrapper.step_actuators(0.01), "physics is not running")
    world.update()
    wrapper.step_actuators(0.01)


def test_error_is_logged_once_and_raised_by_the_next_explicit_step(world) -> None:
    wrapper = aa.ArticulationActuators(ROBOTS)
    world.play()
    world.update()
    world.delete("/World")
    world.update(steps=5)
    assert len(world.log.error) == 1
    assert (
        "its robots are no longer there: they were removed, or another stage was opened. Close it and make a "
        in world.log.error[0]
    )
    refused(HostError, lambda: wrapper.step_actuators(0.01), "robots are no longer there")


def test_prim_above_robots_means_all_of_them(world) -> None:
    assert aa.Articulation("/World").paths == ["/World/Robot_0", "/World/Robot_1"]


def test_articulation_of_another_stage_stays_where_it_was(playing) -> None:
    robots, wrapper = aa.Articulation(ROBOTS), aa.ArticulationActuators(ROBOTS)
    names = robots.dof_names
    playing.open(stage_with_robots())
    current_host().bus.on_ready(lambda: None)
    playing.play()
    playing.update()
    assert (robots.valid, robots.dof_names, robots.device) == (False, names, "cpu")
    refused(HostError, robots.get_dof_positions, r"'/World/Robot_\.\*': another stage was opened since\. Make a new")
    refused(HostError, lambda: wrapper.step_actuators(0.01), r"robots are no longer there: .*another stage was opened")
    wrapper.close()
    assert aa.Articulation(ROBOTS).valid and playing.log.error == []


def test_wrapper_made_when_a_stage_is_opened_stays(world) -> None:
    current_host().close()
    current._kit.clear()
    made: list[aa.ArticulationActuators] = []
    stream = world.usd_context.get_stage_event_stream()
    opened = int(sys.modules["omni.usd"].StageEventType.OPENED)
    make = lambda event: made.append(aa.ArticulationActuators(ROBOTS)) if event.type == opened else None  # noqa: E731
    held = stream.create_subscription_to_pop(make)
    current_host()
    world.open(stage_with_robots())
    assert made[0].articulation.valid
    world.play()
    made[0].set_dof_feedforward_effort_targets(2.0)
    world.update()
    assert world.physics.arrays["actuation_forces"].any()
    held.unsubscribe()


def test_view_that_cannot_be_created_is_logged_once(world, monkeypatch) -> None:
    def fail(_frontend: str) -> None:
        raise RuntimeError("no tensors in this Kit")

    monkeypatch.setattr(world, "_create_view", fail)
    wrapper = aa.ArticulationActuators(ROBOTS)
    world.play()
    world.update(steps=3)
    assert [text.partition("\n")[0] for text in world.log.error] == ["no tensors in this Kit"]
    assert world.physics.num_steps == 3
    wrapper.close()


def test_device_is_the_views(playing) -> None:
    robots = aa.Articulation(ROBOTS)
    assert robots.device == "cpu"
    playing.stop()
    assert robots.device == "cpu"


def test_closing_the_host_leaves_nothing(playing) -> None:
    wrapper = aa.ArticulationActuators(ROBOTS)
    assert our_callbacks(playing) != []
    host = current_host()
    wrapper.close()
    host.close()
    assert our_callbacks(playing) == []


def test_kit_does_not_keep_the_host_alive(playing) -> None:
    host = current_host()
    host.bus.on_pre_step(lambda _dt, _context: None)
    gone = weakref.ref(host)
    del host
    current._kit.clear()
    gc.collect()
    assert gone() is None


def test_pause_makes_nothing_ready_again(playing) -> None:
    times: list[str] = []
    current_host().bus.on_ready(lambda: times.append("ready"))
    current_host().bus.on_pre_step(lambda _dt, _context: None)
    playing.pause()
    playing.play()
    playing.update()
    assert times == []


def test_error_of_one_wrapper_leaves_the_others_stepping(playing) -> None:
    first = aa.ArticulationActuators("/World/Robot_0")
    second_pair = (aa.ActuatorConfig(aa.ControllerPD(ones(1), ones(1))), "hip")
    second = aa.ArticulationActuators.from_actuators("/World/Robot_1", [second_pair])

    def fail(**_: object) -> None:
        raise ArithmeticError("broken")

    first.articulation.get_dof_positions = fail
    second.articulation.set_dof_position_targets(1.0)
    playing.update()
    hip = second.articulation.dof_names.index("hip")
    assert second.articulation.get_dof_efforts().numpy()[0, hip] == 1.0 and len(playing.log.error) == 1
