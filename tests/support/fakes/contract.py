"""What must hold in Kit whatever happens: a world, a wrapper, somebody else's callbacks, and the checks."""

from __future__ import annotations

import contextlib
import functools
import gc
import importlib
import weakref
from collections.abc import Sequence

import numpy as np
from fakes.kit_world import ISAAC, PACKAGE, KitWorld
from fakes.simulation_manager import IsaacEvents, SimulationEvent
from isaacsim.core.experimental.actuators import ArticulationActuators, PDControlConfig, __version__, add_actuator
from isaacsim.core.experimental.actuators.base.errors import HostError
from pxr import Sdf, Usd, UsdPhysics

EXT_ID = f"{PACKAGE}-{__version__}"
ROBOTS = "/World/Robot_.*"
JOINTS = ("ankle", "hip", "knee")
# the third joint keeps its drive
ACTUATED = {"hip": (10.0, 1.0), "knee": (20.0, 2.0)}
TARGET = 1.0
ACTIONS = (
    *("play", "pause", "stop", "frame", "open", "open_empty", "close", "delete", "reload"),
    *("wrap", "unwrap", "drop", "disable", "enable", "stop_closing"),
)
ISAAC_ACTIONS = (*ACTIONS, "switch", "initialize", "defaults")


def stage_with_robots(count: int = 2) -> Usd.Stage:
    layer = Sdf.Layer.CreateAnonymous(".usda")
    layer.TransferContent(_written(count).GetRootLayer())
    return Usd.Stage.Open(layer)


@functools.cache
def _written(count: int) -> Usd.Stage:
    stage = Usd.Stage.CreateInMemory()
    stage.DefinePrim("/World", "Xform")
    for robot in range(count):
        root = f"/World/Robot_{robot}"
        UsdPhysics.ArticulationRootAPI.Apply(stage.DefinePrim(root, "Xform"))
        parent = stage.DefinePrim(f"{root}/base", "Xform").GetPath()
        for number, name in enumerate(JOINTS):
            joint = UsdPhysics.RevoluteJoint.Define(stage, f"{root}/{name}")
            child = stage.DefinePrim(f"{root}/{name}_link", "Xform").GetPath()
            joint.CreateBody0Rel().SetTargets([parent])
            joint.CreateBody1Rel().SetTargets([child])
            drive = UsdPhysics.DriveAPI.Apply(joint.GetPrim(), "angular")
            drive.CreateStiffnessAttr(0.1 * (number + 1))
            drive.CreateDampingAttr(0.01 * (number + 1))
            parent = child
    for name, (kp, kd) in ACTUATED.items():
        add_actuator("/World/Robot_0", name, f"{name}_motor", PDControlConfig(kp, kd), stage=stage)
    return stage


class Foreign:
    """Somebody else's callbacks, registered anew with each stage as one should."""

    def __init__(self, world: KitWorld) -> None:
        self.world, self.uids, self.steps, self.subscriptions = world, [], 0, []
        self.close_at_stop: ArticulationActuators | None = None
        if world.is_isaac:
            name = world.usd_context.stage_event_name(importlib.import_module("omni.usd").StageEventType.OPENED)
            self.subscriptions.append(
                world.dispatcher.observe_event(event_name=name, on_event=lambda _: self.register())
            )
            self.register()
        else:
            stream = world.timeline.get_timeline_event_stream()
            stop = int(importlib.import_module("omni.timeline").TimelineEventType.STOP)
            self.subscriptions = [
                world.physics.subscribe(self.on_step, True, -1),
                stream.create_subscription_to_pop_by_type(stop, self.on_stop),
            ]

    def register(self) -> None:
        register = self.world.simulation_manager.register_callback
        self.uids = [
            register(self.on_step, SimulationEvent.PHYSICS_PRE_STEP, order=-1),
            register(self.on_stop, SimulationEvent.SIMULATION_STOPPED),
        ]

    def on_step(self, dt: float, context=None) -> None:
        self.steps += 1
        if self.world.physics.is_loaded:
            self.world.physics.arrays["position_targets"][:] = TARGET

    def on_stop(self, _event) -> None:
        if self.close_at_stop is not None:
            self.close_at_stop.close()


class Life:
    def __init__(self, kind: str, *, has_deprecated_view: bool = False) -> None:
        self.world = KitWorld(kind, has_deprecated_view=has_deprecated_view)
        self.wrapper: ArticulationActuators | None = None
        self.auto = True
        # what the wrapper should have met
        self.is_ready = self.is_attached = self.has_failed = False
        # made on another stage: it never comes back
        self.is_stale = False
        self.steps = self.errors = self.warnings = 0
        # of the articulation's lost callbacks it is warned once
        self.is_warned = False
        self.switched = False

    def __enter__(self) -> Life:
        self.world.__enter__()
        self.extension = importlib.import_module(f"{PACKAGE}.extension.entry").Extension()
        try:
            self.extension.on_startup(EXT_ID)
            self.foreign = Foreign(self.world)
            self.open()
            self.check()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.extension.on_shutdown()
        finally:
            self.world.__exit__()

    def run(self, actions: Sequence[str]) -> None:
        for action in actions:
            getattr(self, action)()
            self.check()

    def open(self) -> None:
        self._stage_goes()
        self.world.open(stage_with_robots())
        if self.world.is_isaac:
            assert self.foreign.uids == [0, 1], "ids start over with the stage"

    def open_empty(self) -> None:
        self._stage_goes()
        stage = Usd.Stage.CreateInMemory()
        stage.DefinePrim("/World", "Xform")
        self.world.open(stage)

    def close(self) -> None:
        self._stage_goes()
        self.world.close()

    def play(self) -> None:
        was_ready = self.is_ready
        if not self.world.timeline.is_playing():
            self._warms_up()
        self.world.play()
        if self.world.is_isaac and not was_ready and self.world.timeline.is_playing():
            if self.world.simulation_manager.get_physics_simulation_view() is not None:
                self._becomes_ready()

    def pause(self) -> None:
        self.world.pause()

    def stop(self) -> None:
        if not self.world.timeline.is_stopped():
            self.is_ready = self.is_attached = self.switched = False
        self.world.stop()

    def stop_closing(self) -> None:
        self.foreign.close_at_stop, stops = self.wrapper, not self.world.timeline.is_stopped()
        self.stop()
        self.foreign.close_at_stop = None
        if stops:
            self._gone()

    def frame(self) -> None:
        physics, world = self.world.physics, self.world
        runs = world.timeline.is_playing() and physics.is_loaded
        if runs and not world.is_isaac and not self.is_ready and self.wrapper is not None and not self.is_stale:
            self._becomes_ready()
        before = {name: array.copy() for name, array in physics.arrays.items()}
        if runs and self.is_stepping and not self._robots_are_there():
            self.errors += 1
            self.has_failed = True
        world.update()
        self.steps += runs
        if runs and self.is_stepping:
            q, qd = before["positions"], before["velocities"]
            efforts = physics.arrays["actuation_forces"]
            for robot, joints in enumerate(physics.robots.values()):
                for column, name in enumerate(joints.dof_names):
                    kp, kd = ACTUATED.get(name, (0.0, 0.0))
                    expected = kp * (TARGET - q[robot, column]) - kd * qd[robot, column]
                    np.testing.assert_allclose(efforts[robot, column], expected, rtol=1e-5, atol=1e-5)

    def delete(self) -> None:
        if self.world.usd_context.get_stage() is not None:
            self.world.delete("/World")

    def reload(self) -> None:
        self.extension.on_shutdown()
        self._gone()
        assert our_callbacks(self.world) == [], "shutdown leaves no callback"
        self.extension.on_startup(EXT_ID)
        if not self.world.is_isaac:
            # the next host waits for a step again
            self.is_ready = False

    def wrap(self) -> None:
        self.unwrap()
        try:
            self.wrapper = ArticulationActuators(ROBOTS)
        except ValueError as error:
            assert not self._robots_are_there() and "matches none" in str(error)
            return
        assert self._robots_are_there()
        self.auto, self.has_failed, self.is_warned = True, False, False
        self.is_attached = self.is_ready

    def unwrap(self) -> None:
        if self.wrapper is not None:
            self.wrapper.close()
        self._gone()

    def drop(self) -> None:
        """Without closing: nobody in Kit keeps a wrapper alive, nor its articulation."""
        if self.wrapper is not None:
            robots = weakref.ref(self.wrapper.articulation)
            self._gone()
            gc.collect()
            assert robots() is None

    def disable(self) -> None:
        if self.wrapper is not None:
            self.wrapper.disable_auto_step_pre_physics()
            if self.is_stepping and self._robots_are_there():
                assert not self.world.physics.arrays["actuation_forces"].any(), "nothing pushes on"
            self.auto = False

    def enable(self) -> None:
        if self.wrapper is not None:
            self.wrapper.enable_auto_step_pre_physics()
            self.auto = True

    def switch(self) -> None:
        other = "newton" if self.world.physics.engine == "physx" else "physx"
        self.world.simulation_manager.switch_physics_engine(other)
        self.switched |= self.is_ready
        self.is_ready = self.is_attached = False

    def initialize(self) -> None:
        if self.world.usd_context.get_stage() is None:
            return
        self._warms_up(again=True)
        self._becomes_ready()
        self.world.simulation_manager.initialize_physics()

    def defaults(self) -> None:
        """A script asks for the default callbacks of Isaac Sim; callbacks are numbered from 0 again."""
        manager = self.world.simulation_manager
        manager.enable_default_callbacks()
        self.foreign.register()
        assert self.foreign.uids == [0, 1], "ids start over"
        # somebody's callback takes the place of another
        manager.register_callback(lambda _: None, SimulationEvent.SIMULATION_STARTED)

    @property
    def is_stepping(self) -> bool:
        return self.is_attached and self.auto and not self.has_failed

    def _robots_are_there(self) -> bool:
        stage = self.world.usd_context.get_stage()
        return stage is not None and bool(stage.GetPrimAtPath("/World/Robot_0"))

    def _warms_up(self, again: bool = False) -> None:
        """Isaac Sim steps twice before physics is ready; callbacks hear of it when the gate was left open."""
        world = self.world
        if not world.is_isaac or world.usd_context.get_stage() is None:
            return
        manager = world.simulation_manager
        if manager._simulation_view_created and (again or manager.get_physics_simulation_view() is None):
            self.steps += 2
            if self.is_stepping and not self._robots_are_there():
                self.errors += 1

    def _becomes_ready(self) -> None:
        self.is_ready = True
        if self.wrapper is not None and not self.is_stale:
            if self.world.is_isaac and self._robots_are_there() and not self.is_warned and not self._is_told():
                self.is_warned = True
                self.warnings += 1
            self.is_attached = self._robots_are_there()
            self.has_failed = not self.is_attached
            self.errors += self.has_failed

    def _is_told(self) -> bool:
        for event, callback, _ in self.world.simulation_manager._callbacks.values():
            if event is IsaacEvents.PHYSICS_READY:
                with contextlib.suppress(ReferenceError):
                    if getattr(callback, "owner", None) == self.wrapper.articulation:
                        return True
        return False

    def _stage_goes(self) -> None:
        self.is_ready = self.is_attached = self.switched = False
        self.is_stale = (self.wrapper is not None and self.world.usd_context.get_stage() is not None) or self.is_stale

    def _gone(self) -> None:
        self.wrapper, self.is_attached, self.has_failed, self.is_stale = None, False, False, False

    def check(self) -> None:
        world, log = self.world, self.world.log
        assert len(log.error) == self.errors, log.error
        assert len(log.warn) == self.warnings, log.warn
        assert self.foreign.steps == self.steps, "others' callbacks run once per step"
        stepping = our_step_callbacks(world)
        if self.is_stepping:
            assert len(stepping) == 1, "one callback before each step"
        elif world.is_isaac and not self.switched and not self.has_failed:
            assert stepping == [], "no callback while nothing steps"
        elif self.wrapper is None or world.timeline.is_stopped():
            assert stepping == [] or self.switched, "no callback while nothing steps"
        else:
            assert len(stepping) <= 1
        assert world.physics.pre_step.changes_while_walked == 0, "Kit's callbacks must not change while they run"
        assert world.physics.writes_while_stopping == 0, "nothing is written while physics stops"
        if world.is_isaac and world.usd_context.get_stage() is not None:
            kept = [world.simulation_manager._callbacks[uid][1] for uid in self.foreign.uids]
            owners = [getattr(one, "owner", getattr(one, "__self__", None)) for one in kept]
            assert owners == [self.foreign, self.foreign], "others' callbacks are theirs"
        self._check_gains()
        if self.is_stale:
            assert not self.wrapper.articulation.valid
            if not self.has_failed:
                try:
                    self.wrapper.step_actuators(0.01)
                except HostError as error:
                    assert "its robots are no longer there" in str(error)
                else:
                    raise AssertionError("a wrapper of another stage must not step")

    def _check_gains(self) -> None:
        physics = self.world.physics
        if not physics.is_loaded or physics.deleted or not physics.robots or self.switched:
            return
        for robot, joints in enumerate(physics.robots.values()):
            for column, name in enumerate(joints.dof_names):
                off = self.is_attached and name in ACTUATED
                number = JOINTS.index(name) + 1
                for array, authored in (("stiffnesses", 0.1), ("dampings", 0.01)):
                    # as the stage holds it, and as engines read it
                    given = np.float32(float(np.float32(authored * number)) * np.degrees(1.0))
                    assert physics.arrays[array][robot, column] == (0 if off else given), (array, name)


def our_callbacks(world: KitWorld) -> list:
    lists = [
        *world.dispatcher.observers.values(),
        world.timeline.get_timeline_event_stream().subscriptions,
        *(world.usd_context.get_stage_event_stream().subscriptions, world.physics.pre_step, world.physics.post_step),
    ]
    held = [registered for one in lists for *_, registered in one.entries]
    if world.is_isaac:
        held += [callback for _, callback, _ in world.simulation_manager._callbacks.values()]
    # one may be in a table and in the list the table is about
    return list({id(callback): callback for callback in held if callback.__module__.startswith(PACKAGE)}.values())


def our_step_callbacks(world: KitWorld) -> list:
    held = [registered for *_, registered in world.physics.pre_step.entries]
    return [callback for callback in held if callback.__module__.startswith(PACKAGE)]


def check_life(kind: str, actions: Sequence[str], *, has_deprecated_view: bool = False) -> None:
    with Life(kind, has_deprecated_view=has_deprecated_view) as life:
        try:
            life.run(actions)
        except BaseException as error:
            error.add_note(f"{kind}, deprecated view {has_deprecated_view}: {' '.join(actions)}")
            raise


def actions_of(kind: str) -> tuple[str, ...]:
    return ISAAC_ACTIONS if kind in ISAAC else ACTIONS
