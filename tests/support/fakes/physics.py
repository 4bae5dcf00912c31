"""What the physics engines of the fakes have in common: joints of unit inertia, drives, efforts that stay, steps."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from fakes.callbacks import CallbackList, Subscription
from fakes.carb import Log
from pxr import Sdf, Usd, UsdPhysics

# what of a joint the stage holds too: attribute (with its axis), whether it is per radian there, what is without it
ON_STAGE = {
    "position_targets": ("drive:{}:physics:targetPosition", math.radians(1.0), 0.0),
    "velocity_targets": ("drive:{}:physics:targetVelocity", math.radians(1.0), 0.0),
    "stiffnesses": ("drive:{}:physics:stiffness", math.degrees(1.0), 0.0),
    "dampings": ("drive:{}:physics:damping", math.degrees(1.0), 0.0),
    "max_efforts": ("drive:{}:physics:maxForce", 1.0, math.inf),
    "lower_limits": ("physics:lowerLimit", math.radians(1.0), -math.inf),
    "upper_limits": ("physics:upperLimit", math.radians(1.0), math.inf),
    "armatures": ("physxJoint:armature", 1.0, 0.0),
    "max_velocities": ("physxJoint:maxJointVelocity", math.radians(1.0), math.inf),
}
STATE = ("positions", "velocities", "actuation_forces", *ON_STAGE)


@dataclass(frozen=True)
class PhysicsStepContext:
    scene_path: str = "/World/physicsScene"
    simulation_id: int = 1


@dataclass(frozen=True)
class Robot:
    path: str
    dof_paths: tuple[str, ...]

    @property
    def dof_names(self) -> tuple[str, ...]:
        return tuple(path.rsplit("/", 1)[1] for path in self.dof_paths)


class Physics:
    """All articulations of a stage; the engine keeps joints in reverse stage order."""

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
        # simulated since the stage was read [s]
        self.time = 0.0
        # writes to joints while physics stops, which engines do not survive
        self.is_stopping = False
        self.writes_while_stopping = 0

    def load(self, stage: Usd.Stage) -> None:
        found = articulations(stage)
        self.robots = {robot.path: robot for robot in found}
        width = max((len(robot.dof_paths) for robot in found), default=0)
        self.arrays = {name: np.zeros((len(found), width), np.float32) for name in STATE}
        for row, robot in enumerate(found):
            for column, path in enumerate(robot.dof_paths):
                for name in ON_STAGE:
                    self.arrays[name][row, column] = read_joint(stage.GetPrimAtPath(path), name)
        self.deleted.clear()
        self.time, self.is_loaded = 0.0, True
        self.session += 1

    def unload(self) -> None:
        self.is_loaded = False
        self.session += 1

    def delete(self, path: str) -> None:
        self.deleted |= {robot for robot in self.robots if (robot + "/").startswith(path + "/")}

    def rows(self, paths: list[str]) -> list[int]:
        known = list(self.robots)
        return [known.index(path) for path in paths if path in known]

    def subscribe(
        self, callback: Callable[..., None], pre_step: bool, order: int, registered: Callable[..., None] | None = None
    ) -> Subscription:
        return (self.pre_step if pre_step else self.post_step).add(callback, order, registered)

    def simulate(self, dt: float) -> None:
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
        self.time += dt
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
    found = []
    for prim in stage.Traverse():
        if prim.HasAPI(UsdPhysics.ArticulationRootAPI):
            kinds = ("PhysicsRevoluteJoint", "PhysicsPrismaticJoint")
            joints = [one for one in Usd.PrimRange(prim) if any(map(one.IsA, kinds))]
            found.append(Robot(str(prim.GetPath()), tuple(str(joint.GetPath()) for joint in reversed(joints))))
    return found


def read_joint(joint: Usd.Prim, name: str) -> np.float32:
    attribute, factor, default = _on_stage(joint, name)
    value = joint.GetAttribute(attribute).Get() if joint.HasAttribute(attribute) else None
    return np.float32(default if value is None else value * factor)


def write_joint(joint: Usd.Prim, name: str, value: float) -> None:
    attribute, factor, _ = _on_stage(joint, name)
    if attribute.startswith("drive:"):
        UsdPhysics.DriveAPI.Apply(joint, attribute.split(":")[1])
    joint.CreateAttribute(attribute, Sdf.ValueTypeNames.Float).Set(float(value) / factor)


def _on_stage(joint: Usd.Prim, name: str) -> tuple[str, float, float]:
    attribute, factor, default = ON_STAGE[name]
    angular = joint.IsA("PhysicsRevoluteJoint")
    return attribute.format("angular" if angular else "linear"), factor if angular else 1.0, default


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

    def subscribe_physics_on_step_events(self, *, on_update: Callable, pre_step: bool, order: int) -> Subscription:
        return self._physics.subscribe(on_update, pre_step, order)
