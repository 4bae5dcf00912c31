"""The MuJoCo host: a stage, `num_envs` copies of its physics, and float32 mirrors of all joints."""

# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

import copy
import ctypes
import functools
import os
import weakref
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np
import warp as wp

from ...base.errors import HostError, NotCopied, SimulationDivergedError, diverged
from ...base.values import Indices, resolve_indices
from ...specs.motors import MotorConfig
from ..articulation import DofArrays, Robot, RootArrays
from ..bus import EventBus
from ..port import JointViews
from ..rotations import matrices
from ..scene.scene import FIELDS, Articulation, Scene
from ..transfer import in_turn, transfer, warp_copy
from .dynamics import (
    Equations,
    Kinematics,
    Layout,
    RootMirrors,
    State,
    admittance,
    base_of,
    cross,
    incoming_forces,
    projected_forces,
)
from .fields import KNOWN, ModelFields, harden, read_property, write_properties
from .joint_signals import JointSignals
from .model import CONTACT, build_model, initial_state
from .model_actuators import followers, warn_of
from .simulations import Batch
from .switches import Switches, actuators_off
from .tendons import FixedTendons
from .user_warnings import MUTE, ignore, warnings_to
from .velocity_limits import linear_couplings, velocity_limiter

if TYPE_CHECKING:
    from ...files.usd.handles import Stage

# fields of the model by what `write_link_inertias` sets
_INERTIAS = {"masses": ("body_mass",), "places": ("body_ipos", "body_iquat"), "moments": ("body_inertia",)}
# the disabled groups of actuators, as bits
_DISABLED = "opt.disableactuator"
# physics steps in one call while there are no listeners
_AT_ONCE = 64
# inertia of a base on a stand [kg or kg·m²]
_OF_STAND = 1e8

# a forked child has the memory of its parent and none of its threads
_with_threads: weakref.WeakSet[MujocoHost] = weakref.WeakSet()


def _after_fork() -> None:
    # to destroy simulations of the parent would wait for their threads
    for host in _with_threads:
        host._has_threads = False
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(tuple(vars(host).values())))


os.register_at_fork(after_in_child=_after_fork)


class MujocoArticulation(FixedTendons):
    """Robots on MuJoCo, with efforts of joint drives and signals for laws."""

    ONE_DRY_FRICTION = True
    READS_MJC = True

    _backend: MujocoHost  # pyright: ignore[reportIncompatibleVariableOverride]

    def get_dof_drive_efforts(self, *, indices: Indices = None, dof_indices: Indices = None) -> wp.array:
        """Efforts [N·m or N] that the joints' own drives produced in the last physics step."""
        self._live()
        return warp_copy(self._backend.drive_efforts()[self._index(indices, dof_indices)])

    def get_dof_drive_constants(self, *, indices: Indices = None, dof_indices: Indices = None) -> wp.array:
        """Constant efforts [N·m or N] of the joints' own drives, which act while these have gains."""
        return warp_copy(self._backend.drive_constants()[self._index(indices, dof_indices)])

    def silence_drives(self, silent: bool, *, indices: Indices = None, dof_indices: Indices = None) -> None:
        """Keep actuators of a file that are no drives of some joints from acting, or let them act again."""
        self._live()
        self._backend.silence(self._index(indices, dof_indices).ravel(), silent)

    def gravity_slopes(self) -> np.ndarray:
        """Changes of gravity forces with the position of their own axis [N·m/rad or N/m], `(robots, DOFs)`."""
        self._live()
        return self._backend.gravity_slopes()[self._index(None, None)]

    def following_dofs(self, driven: Collection[str]) -> set[str]:
        """Names of joints of a file that follow others; none of a stage, whose prims tell."""
        file = self._backend.file
        return set() if file is None else followers(file.spec, driven)

    def dof_admittances(self, indices: Indices) -> np.ndarray | None:
        """Acceleration of DOFs per effort with couplings and loops, `(robots, DOFs, DOFs)`; None without these."""
        return self._read(self._backend.admittances, indices) if self._backend.model.neq else None

    def joint_signals(self, names: Sequence[str]) -> JointViews:
        """Effective inertias (`inertia`) [kg·m² or kg] and the efforts that balance gravity and Coriolis (`load`)."""
        self._live()
        return self._following(self._backend.joint_signals(names))


class MujocoHost(NotCopied):
    """Physics of a USD stage in whatever units, or of the scene of a file that MuJoCo reads by itself.

    With `num_envs = 1` the whole stage is one simulation, however many robots it holds. With more, the stage is a
    prototype of which `num_envs` isolated copies run; robot `/World/Arm` of copy `i` is `/World/envs/env_i/Arm`, and a
    path that already has a segment `env_0` has it replaced by `env_i`. Initial positions by pattern and `fixed_base`
    are for stages: scenes have them. `strict_inertia` raises for physically impossible inertias instead of repairing
    them.
    """

    _INSTEAD = "Open another simulation."

    engine = "MuJoCo"

    def __init__(
        self,
        source: Scene | Stage,
        dt: float,
        num_envs: int,
        *,
        strict_inertia: bool = False,
        initial_positions: Mapping[str, float] | None = None,
        fixed_base: bool = False,
    ) -> None:
        self.file = source if isinstance(source, Scene) else None
        self.stage: Any = None if self.file else source
        self.dt, self.num_envs = dt, num_envs
        self._options = {
            "strict_inertia": strict_inertia,
            "initial_positions": initial_positions,
            "fixed_base": fixed_base,
        }
        self._every_env = np.arange(num_envs)[:, None]
        self.bus = EventBus()
        self.generation = 0
        self.step_count = 0
        # paths of links with observed contacts, by observer
        self._observers: weakref.WeakKeyDictionary[object, set[str]] = weakref.WeakKeyDictionary()
        self._movable_coms = False
        self._without_contacts = False
        # a file is read once and has no edits
        self._edits: Any = SimpleNamespace(pending=False, clear=lambda: None)
        if self.stage is not None:
            from ...files.usd.stage import StageEdits

            self._edits = StageEdits(self.stage)
        self._batch: Batch | None = None
        # made when they are first asked for
        self._equations: Equations | None = None
        self._switches: Switches | None = None
        self._arrays: DofArrays | None = None
        self._build()

    # host protocol

    def articulation(self, paths: str | Sequence[str]) -> MujocoArticulation:
        """The robots at `paths`; each segment may be a regular expression. Edits made while stopped count."""
        if self._edits.pending and not self.playing:
            self._build()
        return MujocoArticulation(self, paths)

    # simulation

    @property
    def playing(self) -> bool:
        """True while physics runs."""
        return self._batch is not None

    def play(self) -> None:
        """Start physics in the state the stage authors; edits made since the last play count."""
        if self.playing:
            return
        self.step_count = 0
        if self._edits.pending:
            self._build()
        if self._observed() != self._sensed:
            self._compile()
        self._max_velocities = np.tile([axis.max_velocity for axis in self._axes], (self.num_envs, 1))
        self._batch = self._open_batch()
        MUTE.acquire(self)
        self._arrays = DofArrays.zeros(self.num_envs * self._width)
        self._grid(self._arrays.stiffnesses)[:] = [axis.drive_stiffness for axis in self._axes]
        self._grid(self._arrays.dampings)[:] = [axis.drive_damping for axis in self._axes]
        self._drive = np.zeros((self.num_envs, self._width), np.float32)
        self._silent, self._switches = np.zeros((self.num_envs, self._width), bool), None
        self._contact = np.zeros((self.num_envs, self.model.nsensordata), np.float32)
        self._signals = JointSignals(self.model, self.num_envs, self._address.velocity)
        self._connect(self._arrays)
        self.write_gains()
        self.generation += 1
        self._roots = self._root_mirrors()
        self._bind_roots()
        self._initialize(np.arange(self.num_envs))
        self.bus.start(self.stop)

    def disable_contacts(self) -> None:
        """Let nothing touch from the next play on."""
        self._without_contacts = True
        self._compile()

    def step(self, steps: int = 1) -> None:
        """Run physics steps and pre-step callbacks; a `SimulationDivergedError` names robots that are not finite."""
        listeners = self.bus.pre_step
        while steps > 0:
            if self._batch is None:
                raise HostError("physics is not running: call play() before step().")
            count = 1
            if listeners.entries:
                listeners.call(self.dt, None)
            elif self._limit_velocities is None:
                count = min(steps, _AT_ONCE)
            steps -= count
            # unless a callback stopped physics
            if self._batch is not None:
                self._advance(count)
                self.step_count += count

    def _advance(self, count: int) -> None:
        """Physics steps with the efforts and targets of now."""
        batch = self._batch if self._has_threads else self._working_batch()
        assert batch is not None
        self._commit()
        # of one robot alone there is no question which one diverged
        before = batch.state.copy() if self._has_several else None
        MUTE.on = True
        try:
            self._step_batch(batch, count)
            if not self._settle():
                raise self._divergence(before)
        finally:
            MUTE.on = False

    def _step_batch(self, batch: Batch, count: int) -> None:
        """Physics steps of the simulations."""
        if count == 1:
            # one robot's physics takes a few µs, and an argument is a part of one
            batch.step()
        else:
            batch.step(nstep=count)

    def reset(self, env_ids: Indices = None) -> None:
        """Put environments back to the state and targets the stage authors; the others are not touched."""
        if self._batch is None:
            raise HostError("physics is not running: call play() before reset().")
        # the batch wants them sorted, each once
        envs = np.unique(resolve_indices(env_ids, self.num_envs, "environment"))
        if envs.size:
            self._working_batch()
            moved = self._fields.restore_bases(envs)
            if self._roots is not None:
                self._roots.update_fixed(moved)
            self._initialize(envs)
        self.bus.emit_reset(None if env_ids is None else envs.tolist())

    def stop(self) -> None:
        """End physics; its state is lost."""
        if self._batch is None:
            return
        self._batch = self._arrays = self._equations = None
        MUTE.release(self)
        self.bus.emit_stop()

    def data(self, env: int = 0) -> mujoco.MjData:
        """A copy of one environment's MuJoCo data with all derived quantities computed."""
        batch, env = self._running(), self._env(env)
        self._commit()
        data, model = batch.get_data(env), batch.get_model(env)
        mujoco.mj_forward(model, data)
        mujoco.mj_rnePostConstraint(model, data)
        return data

    def _running(self) -> Batch:
        """The simulations, while physics runs."""
        if self._batch is None:
            raise HostError("physics is not running: call play() first.")
        return self._batch

    def _env(self, env: Indices) -> int:
        """The number of one environment."""
        found = resolve_indices(env, self.num_envs, "environment")
        if found.size != 1:
            raise ValueError(f"env = {env!r}: must be one environment, 0 … {self.num_envs - 1}. Give its number.")
        return int(found[0])

    def drawn(self) -> mujoco.MjModel:
        """A model with all that is to be seen; physics goes without it."""
        if self._drawn is None:
            self._drawn, _ = build_model(self._seen(), self.dt, look=True)
        return self._drawn

    def pose(self, drawn: mujoco.MjModel, seen: mujoco.MjData, env: int = 0) -> None:
        """Put positions, and the fixed bases of a drawn model, where one environment has them."""
        self._running()
        env = self._env(env)
        seen.qpos[:] = self._qpos[env]
        for name in ("body_pos", "body_quat"):
            getattr(drawn, name)[:] = self._fields.read(name)[env]

    def layout_of(self, prototype: str) -> Layout:
        """Layout of an articulation, by its path in the prototype."""
        return self._layouts[prototype]

    def bodies_of(self) -> dict[str, np.ndarray]:
        """MuJoCo's bodies of each articulation, by its path in the prototype."""
        return {path: layout.bodies for path, layout in self._layouts.items()}

    @property
    def position_columns(self) -> np.ndarray:
        """Columns of an environment's axes in `qpos`, in the order of the mirrors."""
        return self._address.position

    def model_now(self, env: int = 0) -> mujoco.MjModel:
        """A copy of one environment's MuJoCo model as it is."""
        # a loop of MuJoCo before version 4 computes on its own
        return copy.copy(self._running().get_model(self._env(env)))

    # backend of the articulations

    def robots(self) -> list[Robot]:
        """All robots: those of environment 0, then those of environment 1, and so on."""
        return self._robots

    def arrays(self) -> DofArrays | None:
        """The mirrors, or None while physics does not run."""
        return self._arrays

    def write_state(self, name: str, at: np.ndarray) -> None:
        """Take positions or velocities over from the mirrors, at the places that were set and nowhere else."""
        envs, axes = np.divmod(at, self._width)
        if name == "positions":
            self._qpos[envs, self._address.position[axes]] = getattr(self._arrays, name)[at]
        else:
            self._qvel[envs, self._address.velocity[axes]] = getattr(self._arrays, name)[at]

    def write_gains(self) -> None:
        """Take drive gains over from the mirrors."""
        arrays, at = self._arrays, self._address
        assert arrays is not None
        stiffness, damping = self._grid(arrays.stiffnesses), self._grid(arrays.dampings)
        self._gain[:, at.position_drive, 0] = stiffness
        constants = [axis.drive_effort for axis in self._axes]
        self._bias[:, at.position_drive, 0] = np.where((stiffness != 0) | (damping != 0), constants, 0.0)
        self._bias[:, at.position_drive, 1] = -stiffness
        self._gain[:, at.velocity_drive, 0] = damping
        self._bias[:, at.velocity_drive, 2] = -damping

    def silence(self, at: np.ndarray, silent: bool) -> None:
        """Switch actuators of a file that are no drives off, by the axes whose motors replace them, or on again."""
        if not self._others:
            return
        self._working_batch()
        if self._switches is None:

            def write_bits(bits: np.ndarray) -> None:
                self._fields.own(_DISABLED)[:] = bits

            self._switches = Switches(
                lambda: self._fields.own("actuator_group"), lambda: self._fields.own(_DISABLED).copy(), write_bits
            )
        self._silent.flat[at] = silent
        self._switches.set(actuators_off(self._silent, self._others, len(self.model.actuator_group)))

    def joint_signals(self, names: Sequence[str]) -> dict[str, np.ndarray]:
        """Signals of all axes that laws ask for, in the order of the mirrors, as far as they are known."""
        if self._signals.ask(names):
            self._connect_again()
            self._update_signals(np.arange(self.num_envs))
        return {name: self._signals.arrays[name].reshape(-1) for name in names if name in self._signals.arrays}

    def drive_constants(self) -> np.ndarray:
        """Constant efforts of the drives, in the order of the mirrors."""
        return np.tile(np.array([axis.drive_effort for axis in self._axes], np.float32), self.num_envs)

    def drive_efforts(self) -> np.ndarray:
        """Efforts of the drives in the last step, in the order of the mirrors."""
        return self._drive.reshape(-1)

    def read_property(self, name: str) -> np.ndarray:
        """A property in force, flat; properties that MuJoCo does not use have their authored values."""
        if name in KNOWN:
            return read_property(self._fields, self._address, name).reshape(-1)
        if name == "max_velocities":
            return self._max_velocities.reshape(-1)
        if self.file is not None:
            return self.property_of_file(name)
        from ...files.usd.joint_properties import read_property as authored_property

        return np.tile(authored_property(self.stage, name, [(a.joint, a.usd_name) for a in self._axes]), self.num_envs)

    def property_of_file(self, name: str) -> np.ndarray:
        """A property as a file has it, in the order of the mirrors; what no file has is without effect."""
        nothing = np.inf if name == "max_actuator_velocities" else 0.0
        values = [getattr(axis, FIELDS[name]) if name in FIELDS else nothing for axis in self._axes]
        return np.tile(np.array(values, float), self.num_envs)

    def motors(self) -> dict[str, MotorConfig]:
        """Motors of a file that MuJoCo's own parser read, by pattern; warns of actuators and ranges without a motor."""
        warn_of(self._scene.not_in_motors, stacklevel=6)
        return self._scene.motors

    def write_properties(self, values: Mapping[str, np.ndarray], at: np.ndarray) -> None:
        """Set properties at some places of the mirrors."""
        self._working_batch()
        own = {name: given for name, given in values.items() if name != "max_velocities"}
        envs, axes = np.divmod(at, self._width)
        # whole columns are written in a third of the time
        is_whole = len(at) == self.num_envs and (envs == self._every_env).all() and (axes == axes[0]).all()
        places = (np.s_[:], axes[0]) if is_whole else (envs, axes)
        write_properties(self._fields, self._address, own, *places)
        if "max_velocities" in values:
            self._max_velocities.reshape(-1)[at] = values["max_velocities"]
            self._watch_velocities()
            self._choose_settling()

    def harden_friction(self, at: np.ndarray, hard: bool) -> None:
        """Keep dry frictions as hard as MuJoCo allows at some places of the mirrors, or end that."""
        self._working_batch()
        envs, axes = np.divmod(at, self._width)
        harden(self._fields, self._address, hard, envs, axes)

    def add_armatures(self, values: np.ndarray, at: np.ndarray) -> None:
        """Add to the armatures in the steps to come, at some places of the mirrors."""
        self._working_batch()
        envs, axes = np.divmod(at, self._width)
        if self._fields.add_armatures(envs, self._address.velocity[axes], values):
            # signals of joints are without them
            self._connect_again()

    def add_tendon_armatures(self, values: np.ndarray, tendons: np.ndarray, envs: np.ndarray) -> None:
        """Add to the armatures of tendons in the steps to come, `(robots, tendons)` each; `envs` `(robots, 1)`."""
        self._working_batch()
        if self._fields.add_tendon_armatures(envs, tendons, values):
            self._connect_again()

    def _connect_again(self) -> None:
        assert self._arrays is not None
        self._connect(self._arrays)
        self._choose_settling()

    def gravity_efforts(self) -> np.ndarray:
        """Efforts that balance gravity, in the order of the mirrors."""
        return self._efforts(lambda equations, state: equations.gravity(state))

    def gravity_slopes(self) -> np.ndarray:
        """Changes of the efforts that balance gravity, each with the position of its own axis; as above."""
        return self._efforts(lambda equations, state: equations.gravity_slopes(state))

    def coriolis_efforts(self) -> np.ndarray:
        """Efforts that balance Coriolis and centrifugal forces, in the order of the mirrors."""
        layouts = list(self._layouts.values())
        return self._efforts(lambda equations, state: equations.coriolis(state, layouts))

    def mass_matrices(self, robots: np.ndarray) -> np.ndarray:
        """Mass matrices of some robots, armature included."""
        equations, state = self._equations_of(robots)
        return self._of_layouts(robots, lambda layout, envs: equations.mass_matrices(state, layout, envs))

    def admittances(self, robots: np.ndarray) -> np.ndarray:
        """Accelerations of the axes of some robots per effort, with equality constraints."""
        envs = self._envs_of(robots)
        of_env = {env: admittance(self.model, self.data(env)) for env in np.unique(envs).tolist()}
        dofs = [self.layout_of(self._robots[robot].prototype[0]).dofs for robot in robots]
        return np.stack([of_env[env][np.ix_(at, at)] for env, at in zip(envs.tolist(), dofs, strict=True)])

    def velocity_weights(self, robots: np.ndarray) -> np.ndarray:
        """Positions move with the velocity after the step."""
        return np.ones(len(robots))

    def jacobians(self, robots: np.ndarray) -> np.ndarray:
        """Jacobians of the links of some robots that can move."""
        equations, state = self._equations_of(robots)
        return self._of_layouts(robots, lambda layout, envs: equations.jacobians(state, layout, envs))

    def incoming_forces(self, robots: np.ndarray) -> np.ndarray:
        """Force and torque that its joint exerts on each link of some robots."""
        some = [(one.env, self.layout_of(one.prototype[0])) for one in map(self._robots.__getitem__, robots)]
        return np.stack([incoming_forces(self.model, self.data(env), layout) for env, layout in some])

    def projected_forces(self) -> np.ndarray:
        """Joint forces projected on each axis, in the order of the mirrors."""
        rows = [projected_forces(self.model, self.data(env))[self._address.velocity] for env in range(self.num_envs)]
        return np.concatenate(rows)

    def link_masses(self, robots: np.ndarray) -> np.ndarray:
        """Masses of the links of some robots."""
        return self._of_links(robots, "body_mass")

    def link_coms(self, robots: np.ndarray) -> np.ndarray:
        """Centres of mass and principal axes of the links of some robots."""
        return np.concatenate([self._of_links(robots, name) for name in _INERTIAS["places"]], axis=-1)

    def link_inertias(self, robots: np.ndarray) -> np.ndarray:
        """Inertias of the links of some robots, along the axes of the links."""
        axes = matrices(self._of_links(robots, "body_iquat"))
        return (axes * self._of_links(robots, "body_inertia")[..., None, :]) @ axes.swapaxes(-1, -2)

    def write_link_inertias(self, robots: np.ndarray, links: np.ndarray, values: Mapping[str, np.ndarray]) -> None:
        """Set masses of links until physics stops, and let the constants of the model follow."""
        self._working_batch()
        if "places" in values and not self._movable_coms:
            self._movable_coms = True
            self._compile()
            self._reopen()
        for layout, at, envs in self._by_layout(robots):
            place = np.ix_(envs, layout.bodies[links])
            for name, field in _INERTIAS.items():
                if name in values:
                    given = values[name][at]
                    for one, part in zip(field, np.split(given, [3], -1) if len(field) > 1 else [given], strict=True):
                        self._fields.own(one)[place] = part
        self._fields.written("body_mass", self._envs_of(robots))
        self._bind_roots()

    @property
    def gravity(self) -> np.ndarray:
        """Acceleration of free fall [m/s²]."""
        return self.model.opt.gravity

    def link_poses(self, robots: np.ndarray) -> np.ndarray:
        """Position and quaternion (w, x, y, z) of each link of some robots."""
        envs, rows, bodies = self._places(robots)
        return self._kinematics.poses(self._fields, envs, self._qpos)[rows, bodies]

    def link_velocities(self, robots: np.ndarray) -> np.ndarray:
        """Linear and angular velocity of each link of some robots."""
        envs, rows, bodies = self._places(robots)
        return self._kinematics.velocities(self._fields, envs, self._qpos, self._qvel)[rows, bodies]

    def root_arrays(self) -> RootArrays | None:
        """Arrays of the root links that follow physics; None where a root link hangs on a joint."""
        return self._roots.arrays if self._roots is not None else None

    def root_poses(self, robots: np.ndarray) -> np.ndarray:
        """Position and quaternion of the root links of some robots."""
        found = np.empty((len(robots), 7))
        for layout, at, envs in self._by_layout(robots):
            root = layout.bodies[0]
            if layout.floating:
                found[at] = self._qpos[envs, self._base_position(root)]
            elif layout.fixed:
                found[at, :3] = self._fields.read("body_pos")[envs, root]
                found[at, 3:] = self._fields.read("body_quat")[envs, root]
            else:
                found[at] = self.link_poses(robots[at])[:, 0]
        return found

    def root_velocities(self, robots: np.ndarray) -> np.ndarray:
        """Linear and angular velocity of the root links of some robots."""
        found = np.zeros((len(robots), 6))
        for layout, at, envs in self._by_layout(robots):
            root = layout.bodies[0]
            if layout.floating:
                # MuJoCo has the velocity of the origin, and turning in the frame of the body
                frames = matrices(self._qpos[envs, self._base_position(root)][:, 3:])
                rates = self._qvel[envs, base_of(self.model, root)]
                spins = np.einsum("rij,rj->ri", frames, rates[:, 3:])
                found[at, :3] = rates[:, :3] + cross(spins, self._com_of(frames, envs, root))
                found[at, 3:] = spins
            elif not layout.fixed:
                found[at] = self.link_velocities(robots[at])[:, 0]
        return found

    def write_root_poses(self, robots: np.ndarray, poses: np.ndarray) -> None:
        """Place root links; their velocities in the world stay."""
        for layout, at, _ in self._by_layout(robots):
            if not (layout.floating or layout.fixed):
                path = self._robots[robots[at[0]]].path
                raise HostError(f"<{path}>: its root link hangs on a joint that moves, and cannot be placed.")
        for layout, at, envs in self._by_layout(robots):
            root = layout.bodies[0]
            if layout.floating:
                velocities = self.root_velocities(robots[at])
                self._qpos[envs, self._base_position(root)] = poses[at]
                self.write_root_velocities(robots[at], velocities)
                continue
            self._working_batch()
            for name, values in (("body_pos", poses[at, :3]), ("body_quat", poses[at, 3:])):
                self._fields.own(name)[envs, root] = values
                self._fields.written(name, envs)
            if self._roots is not None:
                self._roots.update_fixed(np.unique(envs))

    def write_root_velocities(self, robots: np.ndarray, velocities: np.ndarray) -> None:
        """Set the velocities of floating root links."""
        for layout, at, _ in self._by_layout(robots):
            if not layout.floating:
                path = self._robots[robots[at[0]]].path
                raise HostError(f"<{path}>: its base is fixed and has no velocity to set. Set those of its joints.")
        for layout, at, envs in self._by_layout(robots):
            root = layout.bodies[0]
            frames = matrices(self._qpos[envs, self._base_position(root)][:, 3:])
            spins = velocities[at, 3:]
            origins = velocities[at, :3] - cross(spins, self._com_of(frames, envs, root))
            inside = np.einsum("rij,ri->rj", frames, spins)
            self._qvel[envs, base_of(self.model, root)] = np.hstack([origins, inside])
        if self._roots is not None:
            self._roots.update(np.unique(self._envs_of(robots)))

    def hold_root(self, robot: int, held: bool) -> None:
        """Hold a floating root link where it is, as a stand does, by an inertia that nothing moves; or let it go."""
        (layout, _, env), *_ = self._by_layout(np.array([robot]))
        columns = base_of(self.model, layout.bodies[0])
        if held:
            self._qvel[env, columns] = 0.0
        armatures = self._fields.own("dof_armature")
        armatures[env, columns] = _OF_STAND if held else self._fields.former("dof_armature")[env, columns]
        self._fields.written("dof_armature", env)

    def observe_contacts(self, observer: object, robots: np.ndarray, links: Sequence[int]) -> None:
        """Measure contact forces of these links of these robots, and of their copies, as long as the observer lives."""
        found = [layout.bodies[link] for layout, _, _ in self._by_layout(robots) for link in links]
        self._observers[observer] = {self.model.body(body).name for body in found}
        if self.playing and self._observed() != self._sensed:
            self._compile()
            self._contact = np.zeros((self.num_envs, self.model.nsensordata), np.float32)
            self._reopen()

    def contact_forces(self, robots: np.ndarray, links: Sequence[int]) -> np.ndarray:
        """Net forces of contacts on observed links in the last step, in the world."""
        forces = np.empty((len(robots), len(links), 3), np.float32)
        for layout, at, envs in self._by_layout(robots):
            columns = [self._contact_columns.get(int(layout.bodies[link])) for link in links]
            if None in columns:
                path = self._robots[robots[at[0]]].path
                raise HostError(f"<{path}>: its contacts are not observed. Call observe_contact_forces again.")
            # MuJoCo reports the force of the link on the others
            forces[at] = 0.0 - self._contact[envs[:, None, None], np.array(columns)[:, None] + np.arange(3)]
        return forces

    def _envs_of(self, robots: np.ndarray) -> np.ndarray:
        """Environments that robots are in."""
        return robots // len(self._layouts)

    def _build(self) -> None:
        """Read the stage and compile the model."""
        self._scene = scene = self.file or _read(self.stage, **self._options)
        self._axes = [axis for articulation in scene.articulations for axis in articulation.axes]
        self._width = len(self._axes)
        self._compile()
        self._robots = _robots(scene, self.num_envs, self._width)
        self.generation += 1
        # not before: a stage that could not be read stays to be read
        self._edits.clear()

    def _seen(self) -> Scene:
        """The scene with all that is to be seen; files are read with it."""
        if self.file is not None:
            return self.file
        from ..scene.read import with_drawn

        return with_drawn(self.stage, self._scene)

    def _compile(self) -> None:
        """Make the model of what was read of the stage, with sensors of what is observed."""
        scene, self._sensed, self._drawn = self._scene, self._observed(), None
        self.model, self._address = build_model(scene, self.dt, sorted(self._sensed), movable_coms=self._movable_coms)
        if self._without_contacts:
            self.model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
        self._others = {
            axis: [self.model.actuator(name).id for name in scene.actuators[one.name]]
            for axis, one in enumerate(self._axes)
            if one.name in scene.actuators
        }
        sensors = {path: self.model.sensor(path + CONTACT) for path in self._sensed}
        self._contact_columns = {self.model.body(path).id: int(sensor.adr[0]) for path, sensor in sensors.items()}
        self._initial = initial_state(scene, self.model)
        self._kinematics = Kinematics(self.model)
        self._layouts = _layouts(scene, self.model, self._address.velocity)
        self._owners = _joint_owners(scene, self.model)
        self._has_several = len(self._owners) > 1

    def _observed(self) -> set[str]:
        """Paths of the links of the stage with observed contacts."""
        there = {body.path for body in self._scene.bodies}
        return there.intersection(*[set().union(*self._observers.values())])

    def _open_batch(self) -> Batch:
        """Make the simulations, and bind what is read and written of them."""
        batch = Batch(self.model, self.num_envs, nthread=1 if self.num_envs == 1 else 0)
        self._qpos, self._qvel = batch.bind("qpos"), batch.bind("qvel")
        self._ctrl, self._applied = batch.bind("ctrl"), batch.bind("qfrc_applied")
        self._outputs = [batch.bind(name) for name in ("qfrc_actuator", "sensordata")]
        moving = mujoco.mjtState.mjSTATE_QPOS | mujoco.mjtState.mjSTATE_QVEL
        start = mujoco.mj_stateSize(self.model, mujoco.mjtState.mjSTATE_TIME)
        self._motion = batch.state[:, start : start + mujoco.mj_stateSize(self.model, moving)]
        # of a simulation that was not stepped yet
        self._origin = batch.state[0].copy()
        self._fields = ModelFields(self.model, batch)
        self._gain, self._bias = self._fields.own("actuator_gainprm"), self._fields.own("actuator_biasprm")
        self._watch_velocities()
        self._has_threads = True
        _with_threads.add(self)
        return batch

    def _watch_velocities(self) -> None:
        """Make what holds axes to the limits of velocity they have now; None without any."""
        couplings = linear_couplings(self.model, self._address)
        state = self._qpos, self._qvel
        self._limit_velocities = velocity_limiter(self._max_velocities, self._address, self.dt, *state, couplings)

    def _working_batch(self) -> Batch:
        """The simulations; rebuilt in a forked child, which has none of its parent's threads."""
        if not self._has_threads:
            self._reopen()
        assert self._batch is not None
        return self._batch

    def _reopen(self) -> None:
        """Rebuild the simulations with their current state."""
        batch, fields, arrays = self._batch, self._fields, self._arrays
        assert batch is not None and arrays is not None
        opened = self._open_batch()
        opened.state[:] = batch.state
        self._batch, self._equations = opened, None
        fields.copy_to(self._fields)
        self._connect(arrays)
        self._bind_roots()

    def _initialize(self, envs: np.ndarray) -> None:
        """Write the authored state and targets of some environments."""
        arrays, at, (qpos, qvel) = self._arrays, self._address, self._initial
        assert self._batch is not None and arrays is not None
        self._batch.state[envs] = self._origin
        self._qpos[envs], self._qvel[envs] = qpos, qvel
        self._grid(arrays.positions)[envs], self._grid(arrays.velocities)[envs] = qpos[at.position], qvel[at.velocity]
        self._grid(arrays.position_targets)[envs] = [axis.position_target for axis in self._axes]
        self._grid(arrays.velocity_targets)[envs] = [axis.velocity_target for axis in self._axes]
        for nothing in (self._grid(arrays.efforts), self._drive, self._contact):
            nothing[envs] = 0.0
        if self._roots is not None:
            self._roots.update(envs)
        self._update_signals(envs)

    def _update_signals(self, envs: np.ndarray) -> None:
        """Take over what laws ask of joints in some environments, without a step."""
        if self._signals.arrays:
            assert self._batch is not None
            with warnings_to(ignore):
                self._batch.forward(ids=envs, stage=int(mujoco.mjtStage.mjSTAGE_VEL))
            self._signals.update()

    def _connect(self, arrays: DofArrays) -> None:
        """Make what keeps MuJoCo's arrays and the mirrors in step: `_refresh` reads, `_commit` writes."""
        at, every = self._address, range(self._width)
        grid = {field.name: self._grid(getattr(arrays, field.name)) for field in fields(arrays)}
        drive, contact = self._outputs
        columns = range(self._contact.shape[1])
        bind = self._running().bind
        self._refresh = transfer(
            (self._qpos, at.position, grid["positions"], every),
            (self._qvel, at.velocity, grid["velocities"], every),
            (drive, at.velocity, self._drive, every),
            (contact, columns, self._contact, columns),
            *self._signals.bind(lambda name: [(0, bind(name))], self._fields.added, self._fields.added_to_tendons),
            watched=self._motion,
        )
        self._commit = transfer(
            (grid["position_targets"], every, self._ctrl, at.position_control),
            (grid["velocity_targets"], every, self._ctrl, at.velocity_control),
            (grid["efforts"], every, self._applied, at.velocity),
        )

    def _root_mirrors(self) -> RootMirrors | None:
        """Arrays for the root links, unless one hangs on a joint, which only kinematics of its robot can place."""
        layouts = list(self._layouts.values())
        if any(not (layout.floating or layout.fixed) for layout in layouts):
            return None
        roots = [layout.bodies[0] for layout in layouts if layout.floating]
        columns = [(self._base_position(root).start, base_of(self.model, root).start) for root in roots]
        return RootMirrors(self, layouts, columns)

    def _bind_roots(self) -> None:
        """Bind the arrays of the root links to the state."""
        self._follow_roots = None
        if self._roots is not None:
            self._roots.bind(self._qpos, self._qvel, self._fields.read("body_ipos"))
            self._follow_roots = self._roots.follow
        self._choose_settling()

    def _choose_settling(self) -> None:
        """Make what follows a physics step: limits of velocity, then the mirrors; it returns whether all is finite."""
        self._settle = in_turn([self._limit_velocities, self._follow_roots, self._signals.follow], self._refresh)

    def _equations_of(self, robots: np.ndarray) -> tuple[Equations, State]:
        """The equations of motion, and the state of the environments of some robots."""
        self._working_batch()
        if self._equations is None:
            self._equations = Equations(self.model, self.num_envs)
        return self._equations, State(self._fields, np.unique(self._envs_of(robots)), self._qpos, self._qvel)

    def _of_layouts(self, robots: np.ndarray, compute: Callable[[Layout, np.ndarray], np.ndarray]) -> np.ndarray:
        """Results of `compute` for the robots of each layout, in the order of the robots."""
        parts = [(at, compute(layout, envs)) for layout, at, envs in self._by_layout(robots)]
        if len(parts) == 1:
            return parts[0][1]
        found = np.empty((len(robots), *parts[0][1].shape[1:]))
        for at, part in parts:
            found[at] = part
        return found

    def _of_links(self, robots: np.ndarray, name: str) -> np.ndarray:
        """A field of the model, of the links of some robots."""
        envs, rows, bodies = self._places(robots)
        return self._fields.read(name)[envs[rows], bodies]

    def _by_layout(self, robots: np.ndarray) -> Iterator[tuple[Layout, np.ndarray, np.ndarray]]:
        """Each layout of some robots, the indices of its robots among these, and their environments."""
        envs, numbers = np.divmod(robots, len(self._layouts))
        for number, layout in enumerate(self._layouts.values()):
            at = np.flatnonzero(numbers == number)
            if at.size:
                yield layout, at, envs[at]

    def _places(self, robots: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Environments of some robots, each once; of each link of each robot, its number among them, and its body."""
        layouts = list(self._layouts.values())
        every, numbers = np.divmod(robots, len(layouts))
        envs, rows = np.unique(every, return_inverse=True)
        kinds, which = np.unique(numbers, return_inverse=True)
        bodies = np.array([layouts[kind].bodies for kind in (kinds if kinds.size else [0])])
        return envs, rows[:, None], bodies[which]

    def _base_position(self, root: int) -> slice:
        """Columns of a floating root among positions."""
        start = int(self.model.jnt_qposadr[self.model.body_jntadr[root]])
        return slice(start, start + 7)

    def _com_of(self, frames: np.ndarray, envs: np.ndarray, root: int) -> np.ndarray:
        """Centres of mass of a root link as seen from its origins, in the world."""
        places = self._fields.read("body_ipos")[envs, root]
        return np.einsum("rij,rj->ri", frames.reshape(-1, 3, 3), places)

    def _efforts(self, compute: Callable[[Equations, State], np.ndarray]) -> np.ndarray:
        """Efforts of all environments, in the order of the mirrors."""
        efforts = compute(*self._equations_of(np.arange(len(self._robots))))
        return efforts[:, self._address.velocity].reshape(-1)

    def _grid(self, flat: np.ndarray) -> np.ndarray:
        """A mirror as (environments, axes)."""
        return flat.reshape(self.num_envs, self._width)

    def _divergence(self, before: np.ndarray | None) -> SimulationDivergedError:
        """Name the robots and loose bodies that diverged since the state `before`; None if there is one robot only."""
        bad = np.logical_or.reduceat(~np.isfinite(self._qvel), self.model.jnt_dofadr, axis=1)
        bad |= np.logical_or.reduceat(~np.isfinite(self._qpos), self.model.jnt_qposadr, axis=1)
        path_of = {(robot.env, robot.prototype[0]): robot.path for robot in self._robots}
        robots: list[str] = []
        loose: list[str] = []
        for env in np.flatnonzero(bad.any(axis=1)).tolist():
            hit = [path for path, joints in self._owners.items() if bad[env, joints].any()]
            if len(hit) > 1 and before is not None:
                # MuJoCo spreads a NaN over the whole simulation: take the fastest in the last finite state
                speeds = self._last_speeds(env, before[env])
                if np.isfinite(speeds).all():
                    by_joint = np.maximum.reduceat(speeds, self.model.jnt_dofadr)
                    hit = [max(hit, key=lambda path: by_joint[self._owners[path]].max())]
            for path in hit:
                (robots if (env, path) in path_of else loose).append(path_of.get((env, path), path))
        return diverged(robots, loose, self.dt)

    def _last_speeds(self, env: int, before: np.ndarray) -> np.ndarray:
        """Speeds of an environment in the last state that was finite, found by simulating again from one before."""
        batch = self._working_batch()
        batch.state[env] = before
        speeds = np.abs(self._qvel[env])
        while np.isfinite(self._motion[env]).all():
            speeds = np.abs(self._qvel[env])
            batch.step(ids=np.array([env]))
        return speeds


def _read(stage: Stage, **options: Any) -> Scene:
    """The physics of a stage; imported here, for files need no USD."""
    from ..scene.read import read_scene

    return read_scene(stage, **options)


def _robots(scene: Scene, num_envs: int, width: int) -> list[Robot]:
    """Every robot of every environment, with its place in the mirrors."""
    prototypes, first = [], 0
    for articulation in scene.articulations:
        prototypes.append(_prototype(scene, articulation, first))
        first += len(articulation.axes)
    if num_envs == 1:
        return prototypes
    # names in a file may have slashes
    above = [int(scene.spec is None and one.path.count("/") > 1) for one in scene.articulations]
    return [
        _copy_in_env(robot, env, env * width + robot.offset, functools.partial(_path_in_env, env=env, above=depth))
        for env in range(num_envs)
        for robot, depth in zip(prototypes, above, strict=True)
    ]


def _prototype(scene: Scene, articulation: Articulation, offset: int) -> Robot:
    """A robot as the scene has it."""
    axes, bodies = articulation.axes, [scene.bodies[number] for number in articulation.bodies]
    joints = tuple(axis.joint for axis in axes)
    return Robot(
        _absolute([articulation.path])[0],
        _absolute(joints),
        tuple(axis.name for axis in axes),
        (articulation.path, joints),
        0,
        offset,
        axes=tuple(axis.usd_name for axis in axes),
        links=_absolute(body.path for body in bodies),
        # without a joint that fixes or frees the base
        joints=_absolute(
            joint for body in bodies if body.parent >= 0 or body.kind not in ("fixed", "free") for joint in body.joints
        ),
        floating=bodies[0].kind == "free",
    )


def _absolute(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(f"/{path.strip('/')}" for path in paths)


def _copy_in_env(robot: Robot, env: int, offset: int, place: Callable[[str], str]) -> Robot:
    """The copy of a robot in an environment, whose paths `place` derives from those of the prototype."""
    links, joints = tuple(map(place, robot.links)), tuple(map(place, robot.joints))
    dof_paths = tuple(map(place, robot.dof_paths))
    return replace(
        robot, path=place(robot.path), dof_paths=dof_paths, links=links, joints=joints, env=env, offset=offset
    )


def _path_in_env(path: str, env: int, above: int) -> str:
    """Path of a prototype's prim in one environment, as Isaac Sim's cloner would name it: below `above` segments."""
    segments = path.strip("/").split("/")
    if "env_0" in segments:
        segments[segments.index("env_0")] = f"env_{env}"
    else:
        segments[above:above] = ["envs", f"env_{env}"]
    return "/" + "/".join(segments)


def _layouts(scene: Scene, model: mujoco.MjModel, dofs: np.ndarray) -> dict[str, Layout]:
    """Layout of each articulation in one environment, by its path."""
    layouts, first = {}, 0
    for articulation in scene.articulations:
        links = [scene.bodies[number] for number in articulation.bodies]
        bodies = np.array([model.body(link.path).id for link in links])
        joints = np.array([[*link.anchor, *link.turn] for link in links])
        last, root = first + len(articulation.axes), links[0]
        layouts[articulation.path] = Layout(
            bodies, joints, dofs[first:last], root.kind == "free", root.kind == "fixed" and root.parent < 0
        )
        first = last
    return layouts


def _joint_owners(scene: Scene, model: mujoco.MjModel) -> dict[str, np.ndarray]:
    """MuJoCo's joints of each articulation, floating base included, and of every loose body."""
    top = list(range(len(scene.bodies)))
    for number, body in enumerate(scene.bodies):
        if body.parent >= 0:
            top[number] = top[body.parent]
    roots = {articulation.path: top[articulation.bodies[0]] for articulation in scene.articulations}
    roots |= {scene.bodies[number].path: number for number in sorted(set(top) - set(roots.values()))}
    owners = {}
    for path, root in roots.items():
        ids = [model.body(body.path).id for number, body in enumerate(scene.bodies) if top[number] == root]
        owners[path] = np.flatnonzero(np.isin(model.jnt_bodyid, ids))
    return owners
