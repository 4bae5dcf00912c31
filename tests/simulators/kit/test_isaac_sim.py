"""Actuators in Isaac Sim, beyond what holds in any order of events."""

import gc
import importlib
import re
import sys
import weakref

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
import warp as wp
from fakes.contract import ROBOTS, our_callbacks, our_step_callbacks, stage_with_robots
from fakes.kit_world import ISAAC, KitWorld
from fakes.simulation_manager import IsaacEvents, SimulationEvent, SimulationManager
from isaacsim.core.experimental.actuators.base.errors import HostError
from isaacsim.core.experimental.actuators.simulators import current
from isaacsim.core.experimental.actuators.simulators.current import current_host
from refusals import refused


@pytest.fixture(params=ISAAC)
def world(request: pytest.FixtureRequest):
    with KitWorld(request.param) as made:
        made.open(stage_with_robots())
        yield made


class BrokenError(Exception):
    """Error that a getter raises."""


def break_getter(wrapper: aa.ArticulationActuators) -> None:
    def fail(**_: object) -> None:
        raise BrokenError("no positions today")

    wrapper.articulation.get_dof_positions = fail


def test_articulation_is_isaac_sims_own(world) -> None:
    robots = aa.Articulation(ROBOTS)
    assert isinstance(robots, world.articulation_class) and robots.paths == ["/World/Robot_0", "/World/Robot_1"]
    world.play()
    robots.set_dof_armatures(0.1)
    assert robots.get_dof_armatures().numpy().max() == np.float32(0.1)


def test_default_gains_stay(world) -> None:
    world.play()
    robots = aa.Articulation(ROBOTS)
    before = [gains.numpy().copy() for gains in robots.get_dof_gains()]
    wrapper = aa.ArticulationActuators(ROBOTS)
    wrapper.articulation.switch_dof_control_mode("position")
    for gains, authored in zip(wrapper.articulation.get_dof_gains(), before, strict=True):
        np.testing.assert_array_equal(gains.numpy(), authored)


def test_friction_of_a_replaced_actuator_is_gone_until_close(world) -> None:
    stage = current_host().stage
    motor = [aa.PDControlConfig(10.0, 1.0), aa.MaxEffortClampingConfig(5.0)]
    stage.SetMetadata("metersPerUnit", 0.01)
    rubbing = {"hip": [*motor, aa.FrictionConfig(0.5, 0.25)]}
    aa.add_motors("/World/Robot_0", rubbing, stage=stage, overwrite_existing=True)
    fallback = 5000.0, 5000.0, 2500.0
    with aa.ArticulationActuators.from_configs(ROBOTS, {".*": motor}) as wrapper:
        robots = wrapper.articulation
        hip, knee = robots.dof_names.index("hip"), robots.dof_names.index("knee")
        robots.set_dof_friction_properties(*fallback, dof_indices=[hip, knee])
        world.play()
        for part, value in zip(robots.get_dof_friction_properties(), fallback, strict=True):
            np.testing.assert_array_equal(part.numpy()[:, [hip, knee]], [[0.0, value]] * 2)
    for part, value in zip(robots.get_dof_friction_properties(), fallback, strict=True):
        np.testing.assert_allclose(part.numpy()[:, [hip, knee]], value, rtol=1e-6)


@pytest.mark.parametrize(("in_engine", "expected"), [(False, [0.0] * 3), (True, [0.75, 0.5, 0.25])])
def test_friction_acts_in_a_stage_or_in_physx(world, in_engine, expected) -> None:
    friction = aa.FrictionConfig(0.5, 0.25, 0.75, in_engine=in_engine, assumed_inertia=0.1)
    motor = [aa.PDControlConfig(10.0, 1.0), aa.MaxEffortClampingConfig(5.0), friction]
    with aa.ArticulationActuators.from_configs(ROBOTS, {".*": motor}) as wrapper:
        robots = wrapper.articulation
        robots.set_dof_friction_properties(0.375, 0.25, 0.125)
        world.play()
        for part, value in zip(robots.get_dof_friction_properties(), expected, strict=True):
            assert (part.numpy() == value).all()
    for part, value in zip(robots.get_dof_friction_properties(), (0.375, 0.25, 0.125), strict=True):
        assert (part.numpy() == value).all()


def test_error_is_logged_once_and_raised_by_the_next_explicit_step(world) -> None:
    wrapper = aa.ArticulationActuators(ROBOTS)
    world.play()
    break_getter(wrapper)
    world.update(steps=5)
    assert len(world.log.error) == 1 and world.log.error[0].startswith("no positions today\nTraceback")
    assert not world.physics.arrays["actuation_forces"].any()
    refused(BrokenError, lambda: wrapper.step_actuators(0.01), "no positions today")


def test_reset_starts_over_after_an_error(world) -> None:
    wrapper = aa.ArticulationActuators(ROBOTS)
    world.play()
    break_getter(wrapper)
    world.update()
    del wrapper.articulation.get_dof_positions
    wrapper.reset()
    wrapper.articulation.set_dof_position_targets(1.0)
    world.update()
    assert world.physics.arrays["actuation_forces"].any() and len(world.log.error) == 1


def test_wrapper_of_another_stage_stays_where_it_was(world) -> None:
    wrapper, held = aa.ArticulationActuators(ROBOTS), world.usd_context.get_stage()
    world.play()
    world.update()
    world.open(stage_with_robots())
    # the stage that had them is still referenced
    assert held.GetPrimAtPath("/World/Robot_0")
    for playing in (False, True):
        if playing:
            world.play()
        assert not wrapper.articulation.valid
        with pytest.raises(HostError, match=r"robots are no longer there: .* another stage was opened\. Close it and"):
            wrapper.step_actuators(0.01)
        wrapper.reset()
        wrapper.set_dof_feedforward_effort_targets(5.0)
        wrapper.enable_auto_step_pre_physics()
        wrapper.disable_auto_step_pre_physics()
        world.update()
    before = world.physics.arrays["stiffnesses"].copy()
    assert before.all()
    wrapper.close()
    world.update()
    np.testing.assert_array_equal(world.physics.arrays["stiffnesses"], before)
    assert not world.physics.arrays["actuation_forces"].any() and (world.log.error, world.log.warn) == ([], [])


def test_wrapper_made_on_the_next_stage_drives(world) -> None:
    old = aa.ArticulationActuators(ROBOTS)
    world.open(stage_with_robots())
    wrapper = aa.ArticulationActuators(ROBOTS)
    world.play()
    wrapper.articulation.set_dof_position_targets(1.0)
    world.update()
    assert world.physics.arrays["actuation_forces"].any()
    assert (wrapper.articulation.valid, old.articulation.valid) == (True, False)


def test_explicit_step_after_an_engine_switch_says_what_to_do(world) -> None:
    wrapper = aa.ArticulationActuators(ROBOTS)
    world.play()
    world.simulation_manager.switch_physics_engine("physx" if world.physics.engine == "newton" else "newton")
    refused(HostError, lambda: wrapper.step_actuators(0.01), r"physics is not running. Call play\(\)")


def test_explicit_step_after_deletion_says_what_to_do(world) -> None:
    wrapper = aa.ArticulationActuators(ROBOTS)
    world.play()
    world.delete("/World")
    refused(HostError, lambda: wrapper.step_actuators(0.01), "robots are no longer there")


def test_warm_up_never_reaches_actuators(world) -> None:
    wrapper = aa.ArticulationActuators(ROBOTS)
    steps: list[float] = []
    subscription = current_host().bus.on_pre_step(lambda dt, _context: steps.append(dt))
    wrapper.enable_auto_step_pre_physics()
    for _ in range(3):
        world.play()
        world.update(dt=0.01)
        world.stop()
    subscription.close()
    assert steps == [0.01] * 3


def test_steps_come_only_while_joints_can_be_written(world) -> None:
    bus, seen = current_host().bus, []
    subscription = bus.on_pre_step(lambda _dt, _context: seen.append(bus.ready))
    world.play()
    world.simulation_manager.initialize_physics()
    world.update()
    assert seen and all(seen)
    subscription.close()


def test_stop_is_told_after_isaac_sim_has_stopped(world) -> None:
    seen: list[object] = []
    manager = world.simulation_manager
    subscription = current_host().bus.on_stop(lambda: seen.append(manager.get_physics_simulation_view()))
    world.play()
    world.stop()
    assert seen == [None]
    subscription.close()


def test_robots_deleted_and_made_again_are_others(world) -> None:
    wrapper, stage = aa.ArticulationActuators(ROBOTS), world.usd_context.get_stage()
    world.delete("/World")
    stage.GetRootLayer().TransferContent(stage_with_robots().GetRootLayer())
    world.play()
    assert len(world.log.error) == 1 and "its robots are no longer there" in world.log.error[0]
    refused(HostError, lambda: wrapper.step_actuators(0.01), "robots are no longer there")
    wrapper.close()
    aa.ArticulationActuators(ROBOTS).step_actuators(0.01)


def test_callbacks_of_ours_have_no_number(world) -> None:
    wrapper, manager = aa.ArticulationActuators(ROBOTS), world.simulation_manager
    world.play()
    owners = [callback.owner for _, callback, _ in manager._callbacks.values()]
    assert owners == [wrapper.articulation] * 2 and manager._callback_iter == 3


@pytest.mark.parametrize("deprecated", [False, True])
@pytest.mark.parametrize("kind", ISAAC)
def test_articulation_whose_callback_was_overwritten_is_told_by_us(kind, deprecated) -> None:
    with KitWorld(kind, has_deprecated_view=deprecated) as world:
        world.open(stage_with_robots())
        wrapper = aa.ArticulationActuators(ROBOTS)
        manager = world.simulation_manager
        manager.enable_default_callbacks()
        heard: list[str] = []
        for event in (SimulationEvent.SIMULATION_STARTED, SimulationEvent.SIMULATION_STOPPED):
            manager.register_callback(lambda _, name=event.name: heard.append(name), event)
        for _ in range(3):
            world.play()
            assert wrapper.articulation.is_physics_tensor_entity_valid()
            wrapper.articulation.set_dof_position_targets(1.0)
            world.update()
            assert world.physics.arrays["actuation_forces"].any()
            world.stop()
        assert len(world.log.warn) == 1
        assert re.match(
            r"articulation </World/Robot_0>: its callbacks in Isaac Sim were overwritten, .*enable_default_callbacks"
            r".*Call that function before",
            world.log.warn[0],
        )
        assert heard == ["SIMULATION_STARTED", "SIMULATION_STOPPED"] * 3, "others keep theirs"
        assert world.log.error == []


def test_articulation_that_was_told_is_not_warned_of(world) -> None:
    wrapper = aa.ArticulationActuators(ROBOTS)
    world.simulation_manager.enable_default_callbacks()
    for _ in range(2):
        world.play()
        world.simulation_manager.initialize_physics()
        world.update()
        world.stop()
    assert (world.log.warn, world.log.error) == ([], [])
    wrapper.close()


@pytest.mark.parametrize("kind", ISAAC)
@pytest.mark.parametrize("order", [0, -5000], ids=["as documented", "Isaac Sim clears first"])
def test_others_callbacks_outlive_ours(kind, order, monkeypatch) -> None:
    monkeypatch.setattr(SimulationManager, "_STAGE_ORDER", order)
    with KitWorld(kind) as world:
        world.open(stage_with_robots())
        wrapper, manager = aa.ArticulationActuators(ROBOTS), world.simulation_manager
        world.play()
        uids: list[int] = []

        def register(_event: object) -> None:
            uids.extend(manager.register_callback(lambda _: None, IsaacEvents.PHYSICS_READY) for _ in range(9))

        name, observe = "omni.usd.closed", world.dispatcher.observe_event
        held = [
            observe(event_name=name, on_event=register, order=order + 1),
            observe(event_name=name, on_event=lambda _: wrapper.close(), order=2),
        ]
        world.usd_context.close()
        assert sorted(manager._callbacks) == uids == list(range(9))
        held.clear()


def test_another_stage_ends_subscriptions(world) -> None:
    heard: list[str] = []
    bus = current_host().bus
    held = [
        bus.on_ready(lambda: heard.append("ready")),
        bus.on_pre_step(lambda _dt, _context: heard.append("step")),
        bus.on_stop(lambda: heard.append("stop")),
    ]
    world.open(stage_with_robots())
    assert heard == ["stop", "stop"][: len(heard)] and heard
    heard.clear()
    later = bus.on_pre_step(lambda _dt, _context: heard.append("later"))
    for subscription in held:
        subscription.close()
    world.play()
    world.update()
    world.stop()
    assert heard == ["later"]
    later.close()


def test_current_stage_is_isaac_sims(world) -> None:
    opened, used = world.usd_context.get_stage(), stage_with_robots(1)
    used.RemovePrim("/World/Robot_0/Actuators")
    utils = importlib.import_module("isaacsim.core.experimental.utils.stage")
    with utils.use_stage(used):
        prim = aa.add_actuator("/World/Robot_0", "ankle", "ankle_motor", aa.PDControlConfig(1.0, 0.1))
        assert prim.GetStage() is used
        wrapper = aa.ArticulationActuators("/World/Robot_0")
        assert wrapper.articulation.prims[0].GetStage() is used
        assert [wrapper.articulation.dof_names[column] for column in wrapper.actuated_dof_indices] == ["ankle"]
        refused(ValueError, lambda: aa.Articulation("/World/Robot_1"), "'/World/Robot_1' matches none")
    assert not opened.GetPrimAtPath("/World/Robot_0/Actuators/ankle_motor")
    assert len(aa.ArticulationActuators("/World/Robot_0").actuated_dof_indices) == 2
    wrapper.close()


def test_without_the_stage_utilities_the_open_stage_is_current(world, monkeypatch) -> None:
    with monkeypatch.context() as patch:
        for name in ("isaacsim.core.experimental.utils", "isaacsim.core.experimental.utils.stage"):
            patch.delitem(sys.modules, name)
        assert current_host().stage is world.usd_context.get_stage()


def test_prim_above_robots_means_all_of_them(world) -> None:
    """Though Isaac Sim would take the first."""
    assert world.articulation_class("/World").paths == ["/World/Robot_0"]
    for paths in ("/World", "/.*", ["/World/Robot_1", "/World"]):
        assert sorted(aa.Articulation(paths).paths) == ["/World/Robot_0", "/World/Robot_1"]
    wrapper = aa.ArticulationActuators("/World")
    world.play()
    wrapper.articulation.set_dof_position_targets(1.0)
    world.update()
    assert (world.physics.arrays["actuation_forces"] != 0).sum(axis=1).tolist() == [2, 2]


@pytest.mark.parametrize("playing", [False, True])
def test_robots_with_different_joints_are_refused(world, playing) -> None:
    world.usd_context.get_stage().RemovePrim("/World/Robot_1/ankle")
    if playing:
        world.play()
    refused(ValueError, lambda: aa.Articulation("/World"), r"Select them apart: '/World/Robot_0'; '/World/Robot_1'\.")
    assert aa.Articulation("/World/Robot_1").num_dofs == 2


def test_kit_does_not_keep_the_host_alive(world) -> None:
    host = current_host()
    host.bus.on_pre_step(lambda _dt, _context: None)
    world.play()
    assert len(our_step_callbacks(world)) == 1
    gone = weakref.ref(host)
    del host
    current._kit.clear()
    gc.collect()
    assert gone() is None


def test_wrapper_made_in_a_ready_callback_attaches(world) -> None:
    made: list[aa.ArticulationActuators] = []
    current_host()
    register = world.simulation_manager.register_callback
    register(lambda _: made.append(aa.ArticulationActuators(ROBOTS)), IsaacEvents.PHYSICS_READY)
    world.play()
    made[0].articulation.set_dof_position_targets(1.0)
    world.update()
    assert len(our_step_callbacks(world)) == 1 and world.physics.arrays["actuation_forces"].any()
    assert world.log.error == []


def test_targets_of_a_callback_registered_before_act_in_the_same_step(world) -> None:
    robots = aa.Articulation(ROBOTS)
    set_targets = lambda _dt, _context: robots.set_dof_position_targets(1.0)  # noqa: E731
    world.simulation_manager.register_callback(set_targets, SimulationEvent.PHYSICS_PRE_STEP)
    wrapper = aa.ArticulationActuators(ROBOTS)
    world.play()
    world.update()
    assert world.physics.arrays["actuation_forces"][0, robots.dof_names.index("hip")] == 10.0
    wrapper.close()


def test_drive_classes_of_newton_drive(world) -> None:
    drive = getattr(pytest.importorskip("newton.actuators", reason="newton is not installed"), "DrivePD", None)
    if drive is None:
        pytest.skip("this newton has no drive classes")
    gains = [wp.full(2, value, dtype=wp.float32, device="cpu") for value in (10.0, 0.0)]
    pairs = [(aa.ActuatorConfig(drive(*gains)), name) for name in ("hip", "knee")]
    with aa.ArticulationActuators.from_actuators(ROBOTS, pairs) as one:
        world.play()
        for column, actuator in zip(one.actuated_dof_indices, one.actuators, strict=True):
            assert isinstance(actuator.controller, drive)
            actuator.controller.kp.assign([column + 1.0] * 2)
        one.articulation.set_dof_positions(0.0)
        one.articulation.set_dof_position_targets(1.0)
        world.update(steps=1)
        np.testing.assert_allclose(one.applied_efforts, [[column + 1.0 for column in one.actuated_dof_indices]] * 2)


def test_device_is_where_physics_will_run(world, monkeypatch) -> None:
    """Ask the simulation before play: Isaac Sim's articulation names the CPU until then."""
    monkeypatch.setattr(SimulationManager, "get_device", classmethod(lambda cls: "cuda:0"))
    robots = aa.Articulation(ROBOTS)
    assert (robots.device, str(robots._device)) == ("cuda:0", "cpu")


def test_closing_the_host_leaves_nothing(world) -> None:
    wrapper = aa.ArticulationActuators(ROBOTS)
    world.play()
    assert len(our_callbacks(world)) == 5
    host = current_host()
    wrapper.close()
    host.close()
    assert our_callbacks(world) == []


def test_metadata_is_there_before_play(world) -> None:
    wrapper = aa.ArticulationActuators(ROBOTS)
    names = wrapper.articulation.dof_names
    assert [names[column] for column in wrapper.actuated_dof_indices] == ["knee", "hip"]
    assert re.search("2 joints x 2 robots", repr(wrapper))


def test_full_reads_alias_the_view_and_actuators_do_not_mind(world) -> None:
    """Compute from the state of this step, although getters return one buffer, and another one after each play."""
    wrapper = aa.ArticulationActuators(ROBOTS)
    robots, pointers = wrapper.articulation, set()
    for _ in range(2):
        world.play()
        robots.set_dof_position_targets(1.0)
        pointers.add(robots.get_dof_positions().ptr)
        assert robots.get_dof_positions().ptr in pointers
        world.update(steps=3)
        q, qd = (world.physics.arrays[name].copy() for name in ("positions", "velocities"))
        world.update()
        hip = robots.dof_names.index("hip")
        expected = 10.0 * (1.0 - q[:, hip]) - qd[:, hip]
        np.testing.assert_allclose(world.physics.arrays["actuation_forces"][:, hip], expected, rtol=1e-5)
        # keeps the buffer's address from being used again
        held = robots.get_dof_positions()
        world.stop()
    assert isinstance(held, wp.array)
