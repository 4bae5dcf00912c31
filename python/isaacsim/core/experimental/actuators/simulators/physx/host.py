"""The PhysX host: a stage, its physics, and float32 mirrors of all joints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...base.errors import HostError, NotCopied, diverged
from ...base.values import Indices, resolve_indices
from ...files.usd.joint_properties import authored, axis_of
from ...files.usd.stage import StageEdits, disable_collisions, require_si
from ..articulation import DofArrays, Robot
from ..bus import EventBus
from ..physics_articulation import PhysicsArticulation
from ..scene.scene import BEGIN_ELSEWHERE, warn_of_beginnings
from .properties import SceneProperties
from .scene import PhysxScene, velocity_weight

if TYPE_CHECKING:
    from ...files.usd.handles import Stage

_STATE = {"positions": "jointPosition", "velocities": "jointVelocity"}
_OPEN_ENDS = {"lower_limits": -np.inf, "upper_limits": np.inf}
_TARGETS = {"position_targets": "jointPositionTarget", "velocity_targets": "jointVelocityTarget"}


class PhysxHost(NotCopied):
    """Physics of a USD stage in meters on PhysX: one simulation, however many robots the stage holds."""

    _INSTEAD = "Open another simulation."

    engine = "PhysX"

    def __init__(self, stage: Stage, dt: float, num_envs: int = 1, *, fixed_base: bool = False) -> None:
        if num_envs != 1:
            raise ValueError(
                f"num_envs = {num_envs}: must be 1 with engine='physx', which simulates the stage as it is. "
                "Put copies of the robot on the stage, or use engine='mujoco'."
            )
        self.stage, self.dt, self.num_envs, self._holds = stage, dt, num_envs, fixed_base
        self.bus = EventBus()
        self.generation = self.step_count = 0
        self._edits = StageEdits(stage)
        self._arrays: DofArrays | None = None
        self._scene: PhysxScene | None = self._load()

    # host protocol

    def articulation(self, paths: str | Sequence[str]) -> PhysicsArticulation:
        """The robots at `paths`; each segment may be a regular expression. Edits made while stopped count."""
        if self._edits.pending and not self.playing:
            self._scene = self._load()
        return PhysicsArticulation(self, paths)

    # simulation

    @property
    def playing(self) -> bool:
        """True while physics runs."""
        return self._arrays is not None

    def play(self) -> None:
        """Start physics in the state the stage authors; edits made since the last play count."""
        if self.playing:
            return
        self.step_count = 0
        if self._scene is None or self._edits.pending:
            self._scene = self._load()
        scene = self._scene
        arrays = DofArrays.zeros(sum(len(robot.dof_names) for robot in self._robots))
        arrays.stiffnesses[:], arrays.dampings[:] = scene.read("jointStiffness", "jointDamping")
        self._properties = SceneProperties(scene, self._authored)
        self._authored_targets = scene.read(*_TARGETS.values())
        self._sent: dict[str, bytes] = {}
        self._waking = False
        self._arrays = arrays
        self.write_gains()
        self.generation += 1
        self._initialize(scene, arrays)
        self.bus.start(self.stop)

    def disable_contacts(self) -> None:
        """Let nothing touch from the next play on."""
        disable_collisions(self.stage)

    def step(self, steps: int = 1) -> None:
        """Run physics steps and pre-step callbacks; a `SimulationDivergedError` names robots that are not finite."""
        for left in reversed(range(steps)):
            self._running()
            self.bus.emit_pre_step(self.dt, None)
            if not self.playing:
                # a callback stopped physics
                continue
            scene, arrays = self._running()
            self._commit(scene, arrays)
            scene.step(self.dt)
            # without listeners, the state between steps is not needed
            if self.bus.has_pre_step or not left:
                arrays.positions[:], arrays.velocities[:] = scene.read("jointPosition", "jointVelocity")
                if not (np.isfinite(arrays.positions).all() and np.isfinite(arrays.velocities).all()):
                    bad = ~(np.isfinite(arrays.positions) & np.isfinite(arrays.velocities))
                    robots = [robot.path for robot in self._robots if bad[robot.offset :][: len(robot.dof_names)].any()]
                    raise diverged(robots, [], self.dt)
            self.step_count += 1

    def reset(self, env_ids: Indices = None) -> None:
        """Put everything back to the state and targets the stage authors; None and 0 name the one environment."""
        scene, arrays = self._running()
        if len(envs := resolve_indices(env_ids, 1, "environment")):
            scene.restore()
            self._initialize(scene, arrays)
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
        arrays = self._running()[1]
        self._properties.write_drives(arrays.stiffnesses, arrays.dampings)
        self._waking = True

    def read_property(self, name: str) -> np.ndarray:
        """A property in force, SI, flat; ±inf is no limit."""
        self._running()
        return self._properties.read(name)

    def write_properties(self, values: Mapping[str, np.ndarray], at: np.ndarray) -> None:
        """Set properties at the places `at` of the flat arrays, all of them or, with a `HostError` of PhysX, none."""
        self._running()
        self._properties.write(values, at)
        self.write_gains()

    def harden_friction(self, at: np.ndarray, hard: bool) -> None:
        """Dry friction of PhysX is hard."""

    def add_armatures(self, values: np.ndarray, at: np.ndarray) -> None:
        """Add to the armatures in the steps to come, at some places of the mirrors."""
        self._running()
        self._properties.add_armatures(values, at)

    def gravity_efforts(self) -> np.ndarray:
        """Efforts that balance gravity, in the order of the mirrors."""
        return self._running()[0].efforts("gravityForce")

    def coriolis_efforts(self) -> np.ndarray:
        """Efforts that balance Coriolis and centrifugal forces, in the order of the mirrors."""
        return self._running()[0].efforts("coriolisForce")

    def mass_matrices(self, robots: np.ndarray) -> np.ndarray:
        """Mass matrices of some robots, armature included."""
        some, scene = self._some(robots), self._running()[0]
        matrices = np.stack([scene.mass_matrix(robot.path) for robot in some])
        armatures = self._properties.read("armatures")
        dofs = len(some[0].dof_names)
        # PhysX leaves armatures out
        last = np.arange(matrices.shape[1] - dofs, matrices.shape[1])
        matrices[:, last, last] += np.stack([armatures[robot.offset :][:dofs] for robot in some])
        return matrices

    def velocity_weights(self, robots: np.ndarray) -> np.ndarray:
        """Weights of the velocity after a step in the step of positions."""
        self._running()
        return np.array([self._velocity_weights[robot.path] for robot in self._some(robots)])

    def jacobians(self, robots: np.ndarray) -> np.ndarray:
        """Jacobians of the links of some robots that can move."""
        scene = self._running()[0]
        return np.stack([scene.jacobian(robot.path) for robot in self._some(robots)])

    def incoming_forces(self, robots: np.ndarray) -> np.ndarray:
        """Force and torque that its joint exerts on each link of some robots."""
        return self._links(robots, "linkIncomingJointForce")

    def projected_forces(self) -> np.ndarray:
        """Joint forces projected on each axis, in the order of the mirrors."""
        return self._running()[0].read("jointProjectedForce")[0]

    def link_masses(self, robots: np.ndarray) -> np.ndarray:
        """Masses of the links of some robots."""
        return self._links(robots, "mass")[..., 0]

    def link_coms(self, robots: np.ndarray) -> np.ndarray:
        """Centres of mass and principal axes of the links of some robots."""
        return self._links(robots, "centerOfMassPosition", "centerOfMassOrientation")

    def link_inertias(self, robots: np.ndarray) -> np.ndarray:
        """Inertias of the links of some robots, along the axes of the links."""
        found = self._links(robots, "inertia")
        return found.reshape(*found.shape[:2], 3, 3)

    def write_link_inertias(self, robots: np.ndarray, links: np.ndarray, values: Mapping[str, np.ndarray]) -> None:
        """Refused: no tensor that is in use here sets them."""
        raise HostError(
            "engine = 'physx': must not run while masses of links are set. Author them while it is stopped, or use "
            "engine='mujoco'."
        )

    def link_poses(self, robots: np.ndarray) -> np.ndarray:
        """Position and quaternion (w, x, y, z) of each link of some robots."""
        return self._links(robots, "position", "orientation")

    def link_velocities(self, robots: np.ndarray) -> np.ndarray:
        """Linear and angular velocity of each link of some robots."""
        return self._links(robots, "linearVelocity", "angularVelocity")

    def root_arrays(self) -> None:
        """None: PhysX keeps them, and reading them in every step would cost what few ask for."""

    def root_poses(self, robots: np.ndarray) -> np.ndarray:
        """Position and quaternion of the root links of some robots."""
        return self._links(robots, "position", "orientation", root=True)[:, 0]

    def root_velocities(self, robots: np.ndarray) -> np.ndarray:
        """Linear and angular velocity of the root links of some robots."""
        return self._links(robots, "linearVelocity", "angularVelocity", root=True)[:, 0]

    def write_root_poses(self, robots: np.ndarray, poses: np.ndarray) -> None:
        """Place root links; their velocities in the world stay."""
        scene = self._running()[0]
        for robot, pose in zip(self._some(robots), poses, strict=True):
            scene.place_root(robot.path, pose)

    def write_root_velocities(self, robots: np.ndarray, velocities: np.ndarray) -> None:
        """Set the velocities of floating root links."""
        scene = self._running()[0]
        for robot in self._some(robots):
            if not robot.floating:
                raise HostError(
                    f"<{robot.path}>: its base is fixed and has no velocity to set. Set those of its joints."
                )
        for robot, velocity in zip(self._some(robots), velocities, strict=True):
            scene.move_root(robot.path, velocity)

    def observe_contacts(self, observer: object, robots: np.ndarray, links: Sequence[int]) -> None:
        """Refused but for no links."""
        if links:
            raise HostError("contact forces: not told of PhysX. Use engine='mujoco' for them.")

    def contact_forces(self, robots: np.ndarray, links: Sequence[int]) -> np.ndarray:
        """Not there: no link can be observed."""
        raise HostError("contact forces: not told of PhysX. Use engine='mujoco' for them.")

    def _some(self, robots: np.ndarray) -> list[Robot]:
        return [self._robots[number] for number in robots]

    def _links(self, robots: np.ndarray, *columns: str, root: bool = False) -> np.ndarray:
        """Columns of the links of some robots, or of their root links, side by side."""
        scene = self._running()[0]
        if not len(robots):
            return self._links(np.zeros(1, int), *columns, root=root)[:0]
        return scene.of_links(robots, 1 if root else len(self._robots[robots[0]].links), columns)

    def _load(self) -> PhysxScene:
        """Read the stage."""
        require_si(self.stage)
        scene = PhysxScene(self.stage)
        if floating := [known.links[0] for known in scene.robots if known.floating and self._holds]:
            scene.close()
            scene = PhysxScene(self.stage, floating)
        self.gravity = scene.gravity
        self._velocity_weights = {known.path: velocity_weight(self.stage, known.path) for known in scene.robots}
        self._robots, offset = [], 0
        for known in scene.robots:
            joints = tuple(axis.joint for axis in known.axes)
            self._robots.append(
                Robot(
                    known.path,
                    joints,
                    tuple(axis.name for axis in known.axes),
                    (known.path, joints),
                    env=0,
                    offset=offset,
                    axes=tuple(axis_of(self.stage, axis.joint, axis.name) for axis in known.axes),
                    links=known.links,
                    joints=known.joints,
                    floating=known.floating,
                )
            )
            offset += len(joints)
        self._warn_of_beginnings(scene)
        self.generation += 1
        # not before: a stage that could not be read stays to be read
        self._edits.clear()
        return scene

    def _warn_of_beginnings(self, scene: PhysxScene) -> None:
        """Tell of joints that begin outside their limits."""
        # with one limit alone, PhysX returns different ones
        ends = [np.nan_to_num(self._authored(name), nan=none) for name, none in _OPEN_ENDS.items()]
        joints = zip(scene.joints, scene.read("jointPosition")[0].tolist(), *ends, strict=True)
        warn_of_beginnings("", joints, BEGIN_ELSEWHERE, stacklevel=5)

    def _authored(self, name: str) -> np.ndarray:
        """A property as the stage authors it, flat; NaN where it does not."""
        axes = [axis for robot in self._robots for axis in zip(robot.dof_paths, robot.axes, strict=True)]
        return authored(self.stage, name, axes)

    def _running(self) -> tuple[PhysxScene, DofArrays]:
        if self._scene is None or self._arrays is None:
            raise HostError("physics is not running: call play() first.")
        return self._scene, self._arrays

    def _initialize(self, scene: PhysxScene, arrays: DofArrays) -> None:
        """Take over the state of the scene and the targets of the stage."""
        arrays.positions[:], arrays.velocities[:] = scene.read("jointPosition", "jointVelocity")
        for name, values in zip(_TARGETS, self._authored_targets, strict=True):
            getattr(arrays, name)[:] = values
        arrays.efforts[:] = 0.0

    def _commit(self, scene: PhysxScene, arrays: DofArrays) -> None:
        """Pass on what changed, in one call."""
        changed = {}
        for name, column in _TARGETS.items():
            values = getattr(arrays, name)
            # a tenth of the time that a comparison of arrays takes
            if self._sent.get(name) != (now := values.tobytes()):
                changed[column], self._sent[name] = values, now
        # robots are awake where an effort is written, and no robot must sleep that is pushed or was changed
        if (pushing := bool(arrays.efforts.any())) or self._waking:
            changed["jointActuationForce"] = arrays.efforts
        self._waking = pushing
        if changed:
            scene.write(changed)
