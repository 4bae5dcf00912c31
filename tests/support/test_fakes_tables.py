"""The fakes do what is documented of Isaac Sim 6 and Kit: order of events, lives of callbacks and tensors, units."""

import gc
import inspect
import sys

import numpy as np
import pytest
import warp as wp
from fakes.carb import IEvent
from fakes.contract import ROBOTS, stage_with_robots
from fakes.isaac_articulation import Articulation
from fakes.kit_world import ISAAC, KINDS, KitWorld
from fakes.physics import PhysicsStepContext
from fakes.simulation_manager import IsaacEvents, SimulationEvent
from pxr import Sdf, Usd, UsdPhysics
from refusals import cases, refused


@pytest.fixture
def world():
    with KitWorld("isaac-physx") as made:
        made.open(stage_with_robots())
        yield made


def hear(heard: list):
    """A function that writes down what it is called with; a method of the list would be held weakly."""

    def append(what) -> None:
        heard.append(what)

    return append


@cases("change", "open", "close")
def test_stage_change_clears_callbacks_and_ids(world, change) -> None:
    heard: list[str] = []
    manager = world.simulation_manager
    manager.register_callback(hear(heard), IsaacEvents.PHYSICS_READY)
    manager.register_callback(hear(heard), SimulationEvent.SIMULATION_STOPPED)
    if change == "close":
        world.close()
    world.open(stage_with_robots())
    world.play()
    world.stop()
    assert heard == [] and manager.register_callback(print, IsaacEvents.PHYSICS_READY) == 0


def test_default_callbacks_count_from_0_and_overwrite(world) -> None:
    heard: list[str] = []
    manager = world.simulation_manager
    for name in ("first", "second"):
        manager.register_callback(lambda _, name=name: heard.append(name), IsaacEvents.PHYSICS_READY)
    manager.enable_default_callbacks()
    world.play()
    assert heard == ["first", "second"] and manager.register_callback(print, SimulationEvent.SIMULATION_STOPPED) == 0
    world.stop()
    world.play()
    assert heard == ["first", "second", "second"]


def test_default_callbacks_overwrite_an_articulations_own(world) -> None:
    robots = world.articulation_class(ROBOTS)
    world.simulation_manager.enable_default_callbacks()
    world.simulation_manager.register_callback(print, SimulationEvent.SIMULATION_PAUSED)
    world.play()
    assert not robots.is_physics_tensor_entity_valid()


def test_deregistering_says_whether_there_was_one(world) -> None:
    manager = world.simulation_manager
    for event in (IsaacEvents.PHYSICS_READY, SimulationEvent.PRIM_DELETED):
        uid = manager.register_callback(print, event)
        assert manager.deregister_callback(uid) is True
        assert (manager.deregister_callback(uid), len(world.log.warn)) == (False, 1)
        world.log.warn.clear()


def test_deregistering_all_leaves_deletion_callbacks(world) -> None:
    manager, heard = world.simulation_manager, []
    manager.register_callback(hear(heard), SimulationEvent.SIMULATION_STARTED)
    manager.register_callback(hear(heard), SimulationEvent.PRIM_DELETED)
    manager.deregister_all_callbacks()
    world.play()
    world.delete("/World")
    assert heard == ["/World"]


class Owner:
    def __init__(self) -> None:
        self.heard: list[str] = []

    def on_event(self, _event) -> None:
        self.heard.append("method")


def test_bound_methods_are_held_weakly(world) -> None:
    owner = Owner()
    world.simulation_manager.register_callback(owner.on_event, IsaacEvents.PHYSICS_READY)
    heard = owner.heard
    del owner
    gc.collect()
    world.play()
    assert heard == []


def test_bound_methods_are_looked_up_by_name(world) -> None:
    owner = Owner()
    world.simulation_manager.register_callback(owner.on_event, IsaacEvents.PHYSICS_READY)
    owner.on_event = lambda _event: owner.heard.append("replaced")
    world.play()
    assert owner.heard == ["replaced"]


def test_used_stage_is_one_that_the_context_does_not_know(world) -> None:
    utils, opened, used = sys.modules["isaacsim.core.experimental.utils.stage"], world.usd_context, stage_with_robots(3)
    assert utils.get_current_stage(backend="usd") is opened.get_stage()
    with utils.use_stage(used):
        assert utils.get_current_stage(backend="usd") is used and opened.get_stage() is not used
        assert len(world.articulation_class(ROBOTS)) == 3
    assert utils.get_current_stage(backend="usd") is opened.get_stage()


def test_no_current_stage_is_an_error(world) -> None:
    utils = sys.modules["isaacsim.core.experimental.utils.stage"]
    refused(ValueError, lambda: utils.get_current_stage(backend="nonsense"))
    world.close()
    refused(ValueError, lambda: utils.get_current_stage(backend="usd"))


TRANSPORTS = [
    *[(event, "event") for event in (IsaacEvents.PHYSICS_WARMUP, IsaacEvents.SIMULATION_VIEW_CREATED)],
    *[(event, "event") for event in (IsaacEvents.PHYSICS_READY, IsaacEvents.POST_RESET)],
    *[(event, "event") for event in (SimulationEvent.SIMULATION_SETUP, SimulationEvent.SIMULATION_STARTED)],
    (SimulationEvent.SIMULATION_RESUMED, "event"),
    *[(event, "step") for event in (SimulationEvent.PHYSICS_PRE_STEP, SimulationEvent.PHYSICS_POST_STEP)],
    *[(event, "step") for event in (IsaacEvents.PRE_PHYSICS_STEP, IsaacEvents.POST_PHYSICS_STEP)],
    *[(event, "timeline") for event in (SimulationEvent.SIMULATION_PAUSED, SimulationEvent.SIMULATION_STOPPED)],
    (IsaacEvents.TIMELINE_STOP, "timeline"),
    *[(event, "path") for event in (SimulationEvent.PRIM_DELETED, IsaacEvents.PRIM_DELETION)],
]


def run_everything(world: KitWorld) -> None:
    world.play()
    world.update()
    world.pause()
    world.play()
    world.dispatcher.dispatch_event(IsaacEvents.POST_RESET.value)
    world.delete("/World/Robot_1")
    world.stop()


@cases("event, transport", *TRANSPORTS, ids=[str(event) for event, _ in TRANSPORTS])
def test_callback_receives_what_its_transport_carries(world, event, transport) -> None:
    received: list[tuple] = []
    world.simulation_manager.register_callback(lambda *args: received.append(args), event)
    run_everything(world)
    assert len(received) == 1
    (args,) = received
    if transport == "event":
        assert (args[0].event_name, args[0].payload) == (event.value, {})
    elif transport == "step":
        assert args == (0.01, PhysicsStepContext()) and {"scene_path", "simulation_id"} == set(vars(args[1]))
    elif transport == "timeline":
        kinds = sys.modules["omni.timeline"].TimelineEventType
        expected = kinds.PAUSE if event is SimulationEvent.SIMULATION_PAUSED else kinds.STOP
        assert isinstance(args[0], IEvent) and args[0].type == expected
    else:
        assert args == ("/World/Robot_1",)


@cases("event", *[event for event, transport in TRANSPORTS if transport != "path"], ids=str)
def test_callbacks_run_by_order_then_by_registration(world, event) -> None:
    heard: list[str] = []
    for name, order in (("late", 5), ("first of 0", 0), ("second of 0", 0), ("early", -5)):
        world.simulation_manager.register_callback(lambda *_, name=name: heard.append(name), event, order=order)
    run_everything(world)
    assert heard == ["early", "first of 0", "second of 0", "late"]


LIFE = {
    "fresh play": ("play", ["SIMULATION_SETUP", "PHYSICS_WARMUP", "SIMULATION_VIEW_CREATED", "PHYSICS_READY"]),
    "pause": ("pause", ["SIMULATION_PAUSED"]),
    "play after pause": ("play", ["SIMULATION_RESUMED"]),
    "stop": ("stop", ["SIMULATION_STOPPED", "TIMELINE_STOP"]),
    "play after stop": ("play", ["SIMULATION_SETUP", "PHYSICS_WARMUP", "SIMULATION_VIEW_CREATED", "PHYSICS_READY"]),
}


def test_events_of_a_life_come_in_order(world) -> None:
    heard: list[str] = []
    for enumeration in (SimulationEvent, IsaacEvents):
        for event in enumeration:
            if "STEP" not in event.name:
                name = event.name
                world.simulation_manager.register_callback(lambda *_, name=name: heard.append(name), event)
    for action, events in LIFE.values():
        getattr(world, action)()
        assert heard == events + ["SIMULATION_STARTED"] * ("PHYSICS_READY" in events)
        heard.clear()


def test_two_steps_run_before_ready(world) -> None:
    steps: list[int] = []
    world.simulation_manager.register_callback(
        lambda _: steps.append(world.physics.num_steps), IsaacEvents.PHYSICS_READY
    )
    world.play()
    assert steps == [2]


@cases("deprecated", False, True)
def test_steps_are_gated_until_views_exist(deprecated) -> None:
    with KitWorld("isaac-physx", has_deprecated_view=deprecated) as world:
        world.open(stage_with_robots())
        heard: list[float] = []
        world.simulation_manager.register_callback(lambda dt, _: heard.append(dt), SimulationEvent.PHYSICS_PRE_STEP)
        world.play()
        assert heard == []
        world.stop()
        world.play()
        assert len(heard) == (0 if deprecated else 2)


def test_views_are_gone_before_stop_callbacks(world) -> None:
    views = []
    manager = world.simulation_manager
    manager.register_callback(
        lambda _: views.append(manager.get_physics_simulation_view()), SimulationEvent.SIMULATION_STOPPED
    )
    world.play()
    assert manager.get_physics_simulation_view() is not None
    world.stop()
    assert views == [None]


def test_initialising_by_hand_makes_ready_again(world) -> None:
    heard: list[str] = []
    for event in (IsaacEvents.PHYSICS_READY, SimulationEvent.SIMULATION_STARTED):
        world.simulation_manager.register_callback(lambda *_, name=event.name: heard.append(name), event)
    world.play()
    world.simulation_manager.initialize_physics()
    assert heard == ["PHYSICS_READY", "SIMULATION_STARTED", "PHYSICS_READY"]


def test_engine_switch_keeps_callbacks_and_drops_views(world) -> None:
    manager, heard = world.simulation_manager, []
    manager.register_callback(hear(heard), IsaacEvents.PHYSICS_READY)
    world.play()
    assert (manager.switch_physics_engine("nonsense"), manager.switch_physics_engine("newton")) == (False, True)
    assert (manager.get_active_physics_engine(), manager.get_physics_simulation_view()) == ("newton", None)
    world.stop()
    world.play()
    assert len(heard) == 2


def test_play_without_a_stage_does_nothing(world) -> None:
    world.close()
    world.timeline.play()
    assert world.simulation_manager.get_physics_simulation_view() is None


@cases("kind", *KINDS)
def test_newton_logs_errors_of_callbacks_and_others_pass_them_on(kind) -> None:
    def fail(*_) -> None:
        raise ArithmeticError("broken")

    with KitWorld(kind) as world:
        world.open(stage_with_robots())
        world.play()
        held = world.physics.subscribe(fail, True, 0)
        if kind == "isaac-newton":
            world.update(steps=3)
            assert len(world.log.error) == 3
        else:
            refused(ArithmeticError, world.update)
        held.unsubscribe()


def test_physx_passes_the_step_alone() -> None:
    with KitWorld("kit-physx") as world:
        world.open(stage_with_robots())
        heard: list[tuple] = []
        interface = sys.modules["omni.physx"].get_physx_interface()
        held = interface.subscribe_physics_on_step_events(lambda *args: heard.append(args), True, 0)
        world.play()
        world.update()
        assert heard == [(0.01,)]
        del held
        world.update()
        assert len(heard) == 1


METADATA = ["paths", "prims", "valid", "num_dofs", "dof_names", "dof_paths", "dof_types", "num_joints"]
METADATA += ["joint_names", "joint_paths", "num_links", "link_names", "link_paths"]


@cases("name", *METADATA)
def test_metadata_is_there_before_play(world, name) -> None:
    assert isinstance(inspect.getattr_static(Articulation, name), property)
    assert getattr(world.articulation_class(ROBOTS), name)


def test_paths_lead_to_the_root_at_or_below(world) -> None:
    assert world.articulation_class("/World/Robot_.*").paths == ["/World/Robot_0", "/World/Robot_1"]
    assert world.articulation_class("/Wor.d").paths == ["/World/Robot_0"]


def test_tensors_live_from_ready_to_stop(world) -> None:
    robots = world.articulation_class(ROBOTS)
    lives = [robots.is_physics_tensor_entity_valid()]
    world.play()
    lives.append(robots.is_physics_tensor_entity_valid())
    world.stop()
    assert [*lives, robots.is_physics_tensor_entity_valid()] == [False, True, False]


def test_unknown_dof_name_is_an_assertion(world) -> None:
    """List the names there are; return int32 columns otherwise."""
    robots = world.articulation_class(ROBOTS)
    assert robots.get_dof_indices(["hip", "ankle"]).dtype == wp.int32
    refused(AssertionError, lambda: robots.get_dof_indices("wing"), "ankle")


# what can be read, and of it what needs tensors
LIVE = {
    *("get_dof_positions", "get_dof_velocities", "get_dof_efforts", "get_dof_projected_joint_forces"),
    *("get_dof_gravity_compensation_forces", "get_dof_coriolis_and_centrifugal_compensation_forces"),
    *("get_mass_matrices", "get_jacobian_matrices", "get_link_coms", "get_link_inertias"),
}
STORED = {
    *("get_dof_position_targets", "get_dof_velocity_targets", "get_dof_gains", "get_dof_armatures", "get_dof_limits"),
    *("get_dof_friction_properties", "get_dof_drive_model_properties", "get_dof_max_efforts"),
    *("get_dof_max_velocities", "get_link_masses"),
}


@cases("name", *sorted(LIVE | STORED))
def test_getter_returns_float32_of_all_robots(world, name) -> None:
    """Return contiguous Warp arrays with a row per robot; assert where tensors are needed and physics does not run."""
    robots = world.articulation_class(ROBOTS)
    if name in LIVE:
        refused(AssertionError, getattr(robots, name))
    world.play()
    found = getattr(robots, name)()
    for array in found if isinstance(found, tuple) else (found,):
        assert (array.dtype, array.shape[0], array.is_contiguous) == (wp.float32, 2, True)


@cases("name", "positions", "velocities")
def test_state_setter_writes_the_target_too(world, name) -> None:
    robots = world.articulation_class(ROBOTS)
    world.play()
    getattr(robots, f"set_dof_{name}")(2.0, indices=[0], dof_indices=[1])
    targets = getattr(robots, f"get_dof_{name.removesuffix('s').replace('velocitie', 'velocity')}_targets")()
    assert targets.numpy()[0].tolist() == [0.0, 2.0, 0.0]


def test_full_read_is_the_buffer_and_indexed_read_a_copy(world) -> None:
    robots = world.articulation_class(ROBOTS)
    world.play()
    assert robots.get_dof_positions().ptr == robots.get_dof_positions().ptr
    assert robots.get_dof_positions(indices=[0, 1]).ptr != robots.get_dof_positions().ptr


# name of the accessors, attribute on the stage, its value there, and what that is in radians
STOPPED = [
    ("position_targets", "drive:angular:physics:targetPosition", 90.0, np.pi / 2),
    ("velocity_targets", "drive:angular:physics:targetVelocity", 180.0, np.pi),
    ("armatures", "physxJoint:armature", 0.25, 0.25),
    ("max_efforts", "drive:angular:physics:maxForce", 7.0, 7.0),
    ("max_velocities", "physxJoint:maxJointVelocity", 360.0, 2 * np.pi),
]
HIP = "/World/Robot_1/hip"


def hip_attribute(world: KitWorld, name: str) -> Usd.Attribute:
    return world.usd_context.get_stage().GetPrimAtPath(HIP).CreateAttribute(name, Sdf.ValueTypeNames.Float)


@cases("name, attribute, authored, radians", *STOPPED, ids=[row[0] for row in STOPPED])
def test_stopped_the_stage_is_read_and_written(world, name, attribute, authored, radians) -> None:
    robots = world.articulation_class(ROBOTS)
    get, set_ = (getattr(robots, f"{verb}_dof_{name}") for verb in ("get", "set"))
    hip_attribute(world, attribute).Set(authored)
    found = get(indices=[1], dof_indices=robots.get_dof_indices("hip"))
    np.testing.assert_allclose(found.numpy(), [[radians]], rtol=1e-6)
    set_(2 * radians, indices=[1], dof_indices=robots.get_dof_indices("hip"))
    np.testing.assert_allclose(hip_attribute(world, attribute).Get(), 2 * authored, rtol=1e-6)
    world.play()
    found = get(indices=[1], dof_indices=robots.get_dof_indices("hip"))
    np.testing.assert_allclose(found.numpy(), [[2 * radians]], rtol=1e-6)


def test_stopped_gains_and_limits_are_the_stages(world) -> None:
    robots = world.articulation_class(ROBOTS)
    hip = robots.get_dof_indices("hip").numpy()
    stiffness = UsdPhysics.DriveAPI(world.usd_context.get_stage().GetPrimAtPath(HIP), "angular").GetStiffnessAttr()
    before = stiffness.Get()
    np.testing.assert_allclose(robots.get_dof_gains()[0].numpy()[1, hip], np.degrees(before), rtol=1e-6)
    robots.set_dof_gains(np.degrees(2.0), dof_indices=hip, update_default_gains=False)
    assert stiffness.Get() == pytest.approx(2.0)
    robots.switch_dof_control_mode("effort")
    assert stiffness.Get() == 0.0
    robots.switch_dof_control_mode("position")
    assert stiffness.Get() == pytest.approx(before)
    robots.set_dof_limits(-np.pi, np.pi, dof_indices=hip)
    assert hip_attribute(world, "physics:upperLimit").Get() == pytest.approx(180.0)
    np.testing.assert_allclose(robots.get_dof_limits()[0].numpy()[1, hip], -np.pi, rtol=1e-6)


def test_masks_are_indices_and_floats_are_cut(world) -> None:
    robots = world.articulation_class(ROBOTS)
    world.play()
    robots.set_dof_positions([[1.0, 2.0, 3.0]])
    positions = robots.get_dof_positions(indices=[0], dof_indices=np.array([False, True, True]))
    assert positions.numpy().tolist() == [[1.0, 2.0, 2.0]]
    assert robots.get_dof_positions(indices=[0], dof_indices=np.array([2.9, 0.1])).numpy().tolist() == [[3.0, 1.0]]
    assert robots.get_dof_positions(indices=1, dof_indices=2).numpy().tolist() == [[3.0]]


def test_efforts_are_the_last_command_and_those_of_a_session(world) -> None:
    robots = world.articulation_class(ROBOTS)
    world.play()
    robots.set_dof_efforts(2.0, indices=[1], dof_indices=[0])
    robots.set_dof_position_targets(1.0)
    world.update(steps=3)
    assert robots.get_dof_efforts().numpy().tolist() == [[0.0] * 3, [2.0, 0.0, 0.0]]
    world.stop()
    world.play()
    assert not robots.get_dof_efforts().numpy().any()


def test_device_is_the_cpu_until_ready_and_dof_types_come_from_drives(world) -> None:
    robots = world.articulation_class(ROBOTS)
    assert str(robots._device) == "cpu"
    kinds = sys.modules["omni.physics.tensors"].DofType
    assert set(robots.dof_types) == {kinds.Rotation}
    world.usd_context.get_stage().GetPrimAtPath("/World/Robot_0/hip").RemoveAPI(UsdPhysics.DriveAPI, "angular")
    assert robots.dof_types[robots.dof_names.index("hip")] == kinds.Invalid


def test_paths_of_joints_are_a_list_for_each_robot(world) -> None:
    robots = world.articulation_class(ROBOTS)
    assert [[path.rsplit("/", 1)[1] for path in row] for row in robots.dof_paths] == [robots.dof_names] * 2
    assert robots.dof_paths[1][0].startswith("/World/Robot_1/")


def test_default_gains_come_back_with_position_control(world) -> None:
    robots = world.articulation_class(ROBOTS)
    world.play()
    before = robots.get_dof_gains()[0].numpy().copy()
    robots.set_dof_gains(0.0, 0.0, update_default_gains=False)
    robots.switch_dof_control_mode("position")
    np.testing.assert_array_equal(robots.get_dof_gains()[0].numpy(), before)
    robots.set_dof_gains(0.0, 0.0)
    robots.switch_dof_control_mode("position")
    assert not robots.get_dof_gains()[0].numpy().any()


@cases("kind", *ISAAC)
def test_efforts_stay_until_they_are_set_again(kind) -> None:
    with KitWorld(kind) as world:
        world.open(stage_with_robots())
        robots = world.articulation_class(ROBOTS)
        world.play()
        robots.set_dof_gains(0.0, 0.0)
        robots.set_dof_efforts(1.0)
        world.update(steps=10)
        np.testing.assert_allclose(robots.get_dof_velocities().numpy(), 0.1, rtol=1e-5)
        assert (robots.get_dof_efforts().numpy() == 1.0).all()
