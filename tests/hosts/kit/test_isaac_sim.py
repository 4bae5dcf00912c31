"""Actuators in Isaac Sim, beyond what holds in any order of events."""

from __future__ import annotations

import gc
import re
import weakref
from collections.abc import Iterator

import numpy as np
import pytest
import warp as wp
from fakes.contract import ROBOTS, empty_stage, our_callbacks, our_step_callbacks, stage_with_robots
from fakes.kit_world import ISAAC, KitWorld
from fakes.simulation_manager import IsaacEvents, SimulationEvent, SimulationManager
from isaacsim.core.experimental.actuators import Articulation, ArticulationActuators
from isaacsim.core.experimental.actuators.errors import HostError
from isaacsim.core.experimental.actuators.hosts import current
from isaacsim.core.experimental.actuators.hosts.current import current_host


@pytest.fixture(params=ISAAC)
def world(request: pytest.FixtureRequest) -> Iterator[KitWorld]:
    with KitWorld(request.param) as made:
        made.open(stage_with_robots())
        yield made


class BrokenError(Exception):
    """What a getter raises."""


def break_getter(wrapper: ArticulationActuators) -> None:
    """Let the next steps fail."""

    def fail(**_: object) -> None:
        raise BrokenError("no positions today")

    wrapper.articulation.get_dof_positions = fail


def test_articulation_is_isaac_sims_own(world: KitWorld) -> None:
    """Offer users the class they know, with everything it can do."""
    robots = Articulation(ROBOTS)
    assert isinstance(robots, world.articulation_class)
    assert robots.paths == ["/World/Robot_0", "/World/Robot_1"]
    world.play()
    robots.set_dof_armatures(0.1)
    assert robots.get_dof_armatures().numpy().max() == np.float32(0.1)


@pytest.mark.parametrize("paths", ["/World/Nobody", ["/World/Robot_0", "/Nowhere"], "/World/Robot_0/base"])
def test_missing_robot_is_named(world: KitWorld, paths: str | list[str]) -> None:
    """Say which path matches nothing and what there is."""
    with pytest.raises(ValueError, match=r"matches none of the articulations here: \['/World/Robot_0'"):
        Articulation(paths)


def test_default_gains_stay(world: KitWorld) -> None:
    """Leave the articulation's stored gains alone, so that position control comes back with them."""
    world.play()
    robots = Articulation(ROBOTS)
    before = [gains.numpy().copy() for gains in robots.get_dof_gains()]
    wrapper = ArticulationActuators(ROBOTS)
    wrapper.articulation.switch_dof_control_mode("position")
    for gains, authored in zip(wrapper.articulation.get_dof_gains(), before, strict=True):
        np.testing.assert_array_equal(gains.numpy(), authored)


def test_error_is_logged_once_and_raised_by_the_next_explicit_step(world: KitWorld) -> None:
    """Keep an error out of the physics loop, and show it to whoever steps by hand."""
    wrapper = ArticulationActuators(ROBOTS)
    world.play()
    break_getter(wrapper)
    world.update(steps=5)
    assert len(world.log.error) == 1
    assert world.log.error[0].startswith("no positions today\nTraceback")
    assert not world.physics.arrays["actuation_forces"].any()
    with pytest.raises(BrokenError, match="no positions today"):
        wrapper.step_actuators(0.01)


def test_reset_starts_over_after_an_error(world: KitWorld) -> None:
    """Step again by itself once the user has reset the wrapper."""
    wrapper = ArticulationActuators(ROBOTS)
    world.play()
    break_getter(wrapper)
    world.update()
    del wrapper.articulation.get_dof_positions
    wrapper.reset()
    wrapper.articulation.set_dof_position_targets(1.0)
    world.update()
    assert world.physics.arrays["actuation_forces"].any()
    assert len(world.log.error) == 1


def test_failed_ready_is_raised_by_the_next_explicit_step(world: KitWorld) -> None:
    """Name the cause, not its consequence."""
    wrapper, held = ArticulationActuators(ROBOTS), world.usd_context.get_stage()
    world.open(empty_stage())
    world.play()
    # somebody still holds the stage that had them
    assert held.GetPrimAtPath("/World/Robot_0")
    assert len(world.log.error) == 1 and "its robots are no longer there" in world.log.error[0]
    with pytest.raises(HostError, match=r"robots are no longer there\. Close it and make a new one"):
        wrapper.step_actuators(0.01)


def test_explicit_step_after_an_engine_switch_says_what_to_do(world: KitWorld) -> None:
    """Explain that physics has to play again, whatever Isaac Sim's getters assert."""
    wrapper = ArticulationActuators(ROBOTS)
    world.play()
    world.simulation_manager.switch_physics_engine("physx" if world.physics.engine == "newton" else "newton")
    with pytest.raises(HostError, match=r"physics is not running. Call play\(\)"):
        wrapper.step_actuators(0.01)


def test_explicit_step_after_deletion_says_what_to_do(world: KitWorld) -> None:
    """Explain that the robots are gone."""
    wrapper = ArticulationActuators(ROBOTS)
    world.play()
    world.delete("/World")
    with pytest.raises(HostError, match="robots are no longer there"):
        wrapper.step_actuators(0.01)


def test_articulation_of_another_stage_comes_back_in_place(world: KitWorld) -> None:
    """Find the robots on the stage that is open now, although the old stage still lives."""
    wrapper, held = ArticulationActuators(ROBOTS), world.usd_context.get_stage()
    robots = wrapper.articulation
    world.open(stage_with_robots())
    world.play()
    assert wrapper.articulation is robots
    assert robots.prims[0].GetStage() != held
    robots.set_dof_position_targets(1.0)
    world.update()
    assert world.physics.arrays["actuation_forces"].any()


def test_warm_up_never_reaches_actuators(world: KitWorld) -> None:
    """Step with physics, not with the two steps Isaac Sim makes before it is ready."""
    wrapper = ArticulationActuators(ROBOTS)
    steps: list[float] = []
    subscription = current_host().bus.on_pre_step(lambda dt, _context: steps.append(dt))
    wrapper.enable_auto_step_pre_physics()
    for _ in range(3):
        world.play()
        world.update(dt=0.01)
        world.stop()
    subscription.close()
    assert steps == [0.01] * 3


def test_robots_deleted_and_made_again_are_driven_again(world: KitWorld) -> None:
    """Find them at the next play, on the same stage."""
    wrapper, stage = ArticulationActuators(ROBOTS), world.usd_context.get_stage()
    world.delete("/World")
    stage.GetRootLayer().TransferContent(stage_with_robots().GetRootLayer())
    world.play()
    wrapper.articulation.set_dof_position_targets(1.0)
    world.update()
    assert world.physics.arrays["actuation_forces"].any()


@pytest.mark.parametrize("kind", ISAAC)
@pytest.mark.parametrize("order", [0, -5000], ids=["as documented", "Isaac Sim clears first"])
def test_stale_id_is_never_deregistered(kind: str, order: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave a number alone that was ours before the stage changed: it is somebody else's now."""
    monkeypatch.setattr(SimulationManager, "_STAGE_ORDER", order)
    with KitWorld(kind) as world:
        world.open(stage_with_robots())
        wrapper, manager = ArticulationActuators(ROBOTS), world.simulation_manager
        world.play()
        ours = max(manager._callbacks)
        uids: list[int] = []

        def register(_event: object) -> None:
            uids.extend(manager.register_callback(lambda _: None, IsaacEvents.PHYSICS_READY) for _ in range(ours + 1))

        name, observe = "omni.usd.closed", world.dispatcher.observe_event
        held = [
            observe(event_name=name, on_event=register, order=order + 1),
            observe(event_name=name, on_event=lambda _: wrapper.close(), order=2),
        ]
        world.usd_context.close()
        assert uids == list(range(ours + 1))
        assert sorted(manager._callbacks) == uids
        held.clear()


def test_callbacks_that_outlive_the_stage_are_silent(world: KitWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    """Step once per step, should Isaac Sim have been told not to clear callbacks with the stage."""
    monkeypatch.setattr(SimulationManager, "_reset", classmethod(lambda cls: cls.invalidate_physics()))
    wrapper = ArticulationActuators(ROBOTS)
    steps: list[float] = []
    subscription = current_host().bus.on_pre_step(lambda dt, _context: steps.append(dt))
    world.play()
    world.update()
    world.open(stage_with_robots())
    world.play()
    world.update()
    assert len(steps) == 2
    subscription.close()
    wrapper.close()


def test_kit_does_not_keep_the_host_alive(world: KitWorld) -> None:
    """Give Kit functions that know us weakly."""
    host = current_host()
    host.bus.on_pre_step(lambda _dt, _context: None)
    world.play()
    assert len(our_step_callbacks(world)) == 1
    gone = weakref.ref(host)
    del host
    current._kit.clear()
    gc.collect()
    assert gone() is None


def test_step_callback_alone_is_called(world: KitWorld) -> None:
    """Listen for whoever uses the bus without actuators."""
    steps: list[float] = []
    current_host().bus.on_pre_step(lambda dt, _context: steps.append(dt))
    world.play()
    world.update(steps=2)
    assert steps == [0.01, 0.01]


def test_wrapper_made_in_a_ready_callback_attaches(world: KitWorld) -> None:
    """Work where scripts set their scene up: in their own ready callback."""
    made: list[ArticulationActuators] = []
    current_host()
    register = world.simulation_manager.register_callback
    register(lambda _: made.append(ArticulationActuators(ROBOTS)), IsaacEvents.PHYSICS_READY)
    world.play()
    made[0].articulation.set_dof_position_targets(1.0)
    world.update()
    assert len(our_step_callbacks(world)) == 1
    assert world.physics.arrays["actuation_forces"].any()
    assert world.log.error == []


def test_targets_of_a_callback_registered_before_act_in_the_same_step(world: KitWorld) -> None:
    """Run in the order of registration, as the documented extension does."""
    robots = Articulation(ROBOTS)
    set_targets = lambda _dt, _context: robots.set_dof_position_targets(1.0)  # noqa: E731
    world.simulation_manager.register_callback(set_targets, SimulationEvent.PHYSICS_PRE_STEP)
    wrapper = ArticulationActuators(ROBOTS)
    world.play()
    world.update()
    hip = robots.dof_names.index("hip")
    assert world.physics.arrays["actuation_forces"][0, hip] == 10.0
    wrapper.close()


def test_device_is_where_physics_will_run(world: KitWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask the simulation before play: Isaac Sim's articulation names the CPU until then."""
    monkeypatch.setattr(SimulationManager, "get_device", classmethod(lambda cls: "cuda:0"))
    robots = Articulation(ROBOTS)
    assert (robots.device, str(robots._device)) == ("cuda:0", "cpu")


def test_closing_the_host_leaves_nothing(world: KitWorld) -> None:
    """Take every callback out, those before steps too."""
    wrapper = ArticulationActuators(ROBOTS)
    world.play()
    assert len(our_callbacks(world)) == 7
    host = current_host()
    wrapper.close()
    host.close()
    assert our_callbacks(world) == []


def test_metadata_is_there_before_play(world: KitWorld) -> None:
    """Build wrappers, and know their joints, before physics runs."""
    wrapper = ArticulationActuators(ROBOTS)
    names = wrapper.articulation.dof_names
    assert [names[column] for column in wrapper.actuated_dof_indices] == ["knee", "hip"]
    assert re.search("2 joints x 2 robots", repr(wrapper))


def test_full_reads_alias_the_view_and_actuators_do_not_mind(world: KitWorld) -> None:
    """Compute from the state of this step, although getters return one buffer, and another one after each play."""
    wrapper = ArticulationActuators(ROBOTS)
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
