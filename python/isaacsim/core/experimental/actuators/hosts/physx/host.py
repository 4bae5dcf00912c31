"""The PhysX host: a stage, its physics, and float32 mirrors of all joints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...errors import HostError, SimulationDivergedError
from ...usd.joint_properties import axis_of
from ...usd.stage import StageEdits, require_meters
from ..articulation import DofArrays, Robot
from ..bus import EventBus
from ..physics_articulation import PhysicsArticulation
from ..values import resolve_indices
from .scene import UNLIMITED, PhysxScene

_STATE = {"positions": "jointPosition", "velocities": "jointVelocity"}
_TARGETS = {"position_targets": "jointPositionTarget", "velocity_targets": "jointVelocityTarget"}


class PhysxHost:
    """Physics of a USD stage on PhysX: one simulation, however many robots the stage holds.

    Args:
        stage: USD stage in metres.
        dt: Physics step [s].
        num_envs: 1.
    """

    engine = "PhysX"

    def __init__(self, stage: Any, dt: float, num_envs: int = 1) -> None:
        if num_envs != 1:
            raise ValueError(
                f"num_envs = {num_envs}: must be 1 with engine='physx', which simulates the stage as it is. "
                "Put copies of the robot on the stage, or use engine='mujoco'."
            )
        self.stage, self.dt, self.num_envs = stage, dt, num_envs
        self.bus = EventBus()
        self.generation = 0
        self._edits = StageEdits(stage)
        self._arrays: DofArrays | None = None
        self._scene: PhysxScene | None = self._load()

    # host protocol

    def articulation(self, paths: str | Sequence[str]) -> PhysicsArticulation:
        """The robots at `paths`; each segment may be a regular expression."""
        return PhysicsArticulation(self, paths)

    # simulation

    @property
    def playing(self) -> bool:
        """Whether physics runs."""
        return self._arrays is not None

    def play(self) -> None:
        """Start physics in the state the stage authors; edits made since the last play count."""
        if self.playing:
            return
        if self._scene is None or self._edits.pending:
            self._scene = self._load()
        scene = self._scene
        arrays = DofArrays.zeros(sum(len(robot.dof_names) for robot in self._robots))
        arrays.stiffnesses[:], arrays.dampings[:] = scene.read("jointStiffness", "jointDamping")
        # a joint without a drive gets one whose gains are zero
        self._max_force, kinds = scene.read("jointMaxForce", "jointDriveType")
        self._max_force[kinds == 0] = UNLIMITED
        scene.write({"jointDriveType": np.maximum(kinds, 1)})
        self._authored_targets = scene.read(*_TARGETS.values())
        self._sent = dict.fromkeys(_TARGETS, np.full(arrays.efforts.shape, np.nan))
        self._pushed = False
        self._arrays = arrays
        self.write_gains()
        self.generation += 1
        self._initialise(scene, arrays)
        try:
            self.bus.emit_ready()
        except BaseException:
            # play is all or nothing: what became ready is told of the stop
            self.stop()
            raise

    def step(self) -> None:
        """Run the pre-step callbacks, then one physics step.

        Raises:
            SimulationDivergedError: A joint is not finite any more; names the robots.
        """
        self._running()
        self.bus.emit_pre_step(self.dt, None)
        if not self.playing:
            # a callback stopped physics
            return
        scene, arrays = self._running()
        self._commit(scene, arrays)
        scene.step(self.dt)
        arrays.positions[:], arrays.velocities[:] = scene.read("jointPosition", "jointVelocity")
        if not (np.isfinite(arrays.positions).all() and np.isfinite(arrays.velocities).all()):
            raise self._divergence(arrays)

    def reset(self, env_ids: Any = None) -> None:
        """Put everything back to the state and targets the stage authors; None and 0 name the one environment."""
        scene, arrays = self._running()
        if len(envs := resolve_indices(env_ids, 1, "environment")):
            scene.restore()
            self._initialise(scene, arrays)
        self.bus.emit_reset(None if env_ids is None else envs.tolist())

    def stop(self) -> None:
        """End physics; its state is lost."""
        if self._scene is None or not self.playing:
            return
        self._scene.close()
        self._scene = self._arrays = None
        self.bus.emit_stop()

    # backend of the articulations

    def robots(self) -> list[Robot]:
        """All robots, in stage order."""
        return self._robots

    def arrays(self) -> DofArrays | None:
        """The mirrors, or None while physics does not run."""
        return self._arrays

    def write_state(self, name: str, at: np.ndarray) -> None:
        """Take positions or velocities over from the mirrors, at the joints that were set and nowhere else."""
        scene, arrays = self._running()
        scene.write({_STATE[name]: getattr(arrays, name)}, at)

    def write_gains(self) -> None:
        """Take drive gains over from the mirrors."""
        scene, arrays = self._running()
        # PhysX limits the sum of drive and effort; where the drive is off, its limit has nothing to limit
        off = (arrays.stiffnesses == 0) & (arrays.dampings == 0)
        limits = np.where(off, UNLIMITED, self._max_force)
        scene.write({"jointStiffness": arrays.stiffnesses, "jointDamping": arrays.dampings, "jointMaxForce": limits})

    def gravity_efforts(self) -> np.ndarray:
        """Efforts that balance gravity, in the order of the mirrors."""
        return self._running()[0].gravity_efforts()

    def root_pose(self, robot: Robot) -> np.ndarray:
        """Position and quaternion (w, x, y, z) of a robot's root body."""
        return self._running()[0].root_pose(robot.path)

    # inside

    def _load(self) -> PhysxScene:
        """Read the stage."""
        require_meters(self.stage)
        scene = PhysxScene(self.stage)
        self._robots, offset = [], 0
        for path, axes in scene.robots:
            joints = tuple(axis.joint for axis in axes)
            names = tuple(axis.name for axis in axes)
            usd_axes = tuple(axis_of(self.stage, axis.joint, axis.name) for axis in axes)
            self._robots.append(Robot(path, joints, names, (path, joints), env=0, offset=offset, axes=usd_axes))
            offset += len(axes)
        self.generation += 1
        # not before: a stage that could not be read stays to be read
        self._edits.clear()
        return scene

    def _running(self) -> tuple[PhysxScene, DofArrays]:
        if self._scene is None or self._arrays is None:
            raise HostError("physics is not running: call play() first.")
        return self._scene, self._arrays

    def _initialise(self, scene: PhysxScene, arrays: DofArrays) -> None:
        """Take over the state of the scene and the targets of the stage."""
        arrays.positions[:], arrays.velocities[:] = scene.read("jointPosition", "jointVelocity")
        for name, values in zip(_TARGETS, self._authored_targets, strict=True):
            getattr(arrays, name)[:] = values
        arrays.efforts[:] = 0.0

    def _commit(self, scene: PhysxScene, arrays: DofArrays) -> None:
        """Pass on what changed, in one call: it costs more than the physics of a robot."""
        changed = {}
        for name, column in _TARGETS.items():
            values = getattr(arrays, name)
            if not np.array_equal(values, self._sent[name]):
                changed[column] = self._sent[name] = values.copy()
        # PhysX applies an effort until it gets another one, and where one is set no robot must fall asleep
        if (pushing := bool(arrays.efforts.any())) or self._pushed:
            changed["jointActuationForce"] = arrays.efforts
        self._pushed = pushing
        if changed:
            scene.write(changed)

    def _divergence(self, arrays: DofArrays) -> SimulationDivergedError:
        bad = ~(np.isfinite(arrays.positions) & np.isfinite(arrays.velocities))
        robots = [robot.path for robot in self._robots if bad[robot.offset :][: len(robot.dof_names)].any()]
        return SimulationDivergedError(
            f"the simulation diverged: {', '.join(robots[:5])}{' …' if len(robots) > 5 else ''} has positions or "
            f"velocities that are not finite. Lower the gains or dt = {self.dt:g} s, or raise the joints' armature; "
            "reset() starts over.",
            robots,
        )
