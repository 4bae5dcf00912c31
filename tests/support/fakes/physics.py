"""What the physics engines of the fakes have in common: joints of unit inertia, drives, efforts that stay, steps."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from fakes.callbacks import CallbackList, Subscription
from fakes.carb import Log
from pxr import Usd, UsdPhysics

STATE = (
    "positions",
    "velocities",
    "position_targets",
    "velocity_targets",
    "actuation_forces",
    "stiffnesses",
    "dampings",
)


@dataclass(frozen=True)
class PhysicsStepContext:
    """Second argument of step callbacks."""

    scene_path: str = "/World/physicsScene"
    simulation_id: int = 1


@dataclass(frozen=True)
class Robot:
    """One articulation."""

    path: str
    dof_paths: tuple[str, ...]

    @property
    def dof_names(self) -> tuple[str, ...]:
        return tuple(path.rsplit("/", 1)[1] for path in self.dof_paths)


class Physics:
    """All articulations of a stage; the engine keeps joints in reverse stage order.

    Args:
        log: Where the Newton engine logs errors of callbacks.
    """

    def __init__(self, log: Log) -> None:
        self.log = log
        # the engine that runs: physx passes errors of callbacks on, newton logs them
        self.engine = "physx"
        self.pre_step, self.post_step = CallbackList(), CallbackList()
        self.robots: dict[str, Robot] = {}
        self.deleted: set[str] = set()
        self.arrays: dict[str, np.ndarray] = {}
        # views of another session are dead
        self.session = 0
        self.is_loaded = False
        self.num_steps = 0
        # writes to joints while physics stops, which engines do not survive
        self.is_stopping = False
        self.writes_while_stopping = 0

    def load(self, stage: Usd.Stage) -> None:
        """Read the stage."""
        found = articulations(stage)
        self.robots = {robot.path: robot for robot in found}
        width = max((len(robot.dof_paths) for robot in found), default=0)
        self.arrays = {name: np.zeros((len(found), width), np.float32) for name in STATE}
        for row, robot in enumerate(found):
            for column, path in enumerate(robot.dof_paths):
                gains = drive_gains(stage.GetPrimAtPath(path))
                self.arrays["stiffnesses"][row, column], self.arrays["dampings"][row, column] = gains
        self.deleted.clear()
        self.is_loaded = True
        self.session += 1

    def unload(self) -> None:
        """Forget the stage; views are dead."""
        self.is_loaded = False
        self.session += 1

    def delete(self, path: str) -> None:
        """A prim has gone, and the robots below it."""
        self.deleted |= {robot for robot in self.robots if (robot + "/").startswith(path + "/")}

    def rows(self, paths: list[str]) -> list[int]:
        known = list(self.robots)
        return [known.index(path) for path in paths if path in known]

    def subscribe(
        self,
        callback: Callable[..., None],
        pre_step: bool,
        order: int,
        registered: Callable[..., None] | None = None,
    ) -> Subscription:
        return (self.pre_step if pre_step else self.post_step).add(callback, order, registered)

    def simulate(self, dt: float) -> None:
        """One physics step."""
        context = PhysicsStepContext()
        self._tell(self.pre_step, dt, context)
        if self.is_loaded:
            at = self.arrays
            effort = at["actuation_forces"].copy()
            effort += at["stiffnesses"] * (at["position_targets"] - at["positions"])
            effort += at["dampings"] * (at["velocity_targets"] - at["velocities"])
            at["velocities"] += effort * np.float32(dt)
            at["positions"] += at["velocities"] * np.float32(dt)
        self.num_steps += 1
        self._tell(self.post_step, dt, context)

    def _tell(self, callbacks: CallbackList, dt: float, context: PhysicsStepContext) -> None:
        for callback in callbacks.walk():
            try:
                callback(dt, context)
            except Exception as error:
                if self.engine != "newton":
                    raise
                self.log.log_error(f"physics callback failed: {error!r}")


def articulations(stage: Usd.Stage) -> list[Robot]:
    """Roots in stage order, the joints below each in reverse."""
    found = []
    for prim in stage.Traverse():
        if prim.HasAPI(UsdPhysics.ArticulationRootAPI):
            joints = [
                one
                for one in Usd.PrimRange(prim)
                if one.IsA("PhysicsRevoluteJoint") or one.IsA("PhysicsPrismaticJoint")
            ]
            found.append(Robot(str(prim.GetPath()), tuple(str(joint.GetPath()) for joint in reversed(joints))))
    return found


def drive_gains(joint: Usd.Prim) -> tuple[np.float32, np.float32]:
    """Stiffness and damping of a joint's drive, per radian."""
    angular = joint.IsA("PhysicsRevoluteJoint")
    drive = UsdPhysics.DriveAPI.Get(joint, "angular" if angular else "linear")
    if not drive:
        return np.float32(0), np.float32(0)
    unit = math.degrees(1.0) if angular else 1.0
    stiffness, damping = (attribute.Get() * unit for attribute in (drive.GetStiffnessAttr(), drive.GetDampingAttr()))
    return np.float32(stiffness), np.float32(damping)


class PhysxInterface:
    """`omni.physx.get_physx_interface()`: callbacks take the step alone."""

    def __init__(self, physics: Physics) -> None:
        self._physics = physics

    def subscribe_physics_on_step_events(self, fn: Callable[[float], None], pre_step: bool, order: int) -> Subscription:
        return self._physics.subscribe(lambda dt, _context: fn(dt), pre_step, order, fn)

    def subscribe_physics_step_events(self, fn: Callable[[float], None]) -> Subscription:
        return self.subscribe_physics_on_step_events(fn, False, 0)


class PhysicsSimulationInterface:
    """`omni.physics.core.get_physics_simulation_interface()`: callbacks take the step and a context."""

    def __init__(self, physics: Physics) -> None:
        self._physics = physics

    def subscribe_physics_on_step_events(
        self, *, on_update: Callable[[float, Any], None], pre_step: bool, order: int
    ) -> Subscription:
        return self._physics.subscribe(on_update, pre_step, order)
