"""A user's MuJoCo model and data as a host: joints from MJCF, no stage, stepped here or in the user's loop.

MuJoCo computes in float64 and actuators in float32: state and efforts are copied between the two, natively and for the
joints of one wrapper only.
"""

# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

import dataclasses
import weakref
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import warp as wp

from ...base.errors import Closing, HostError, NotCopied, shown
from ...base.quiet_warp import start_warp
from ...base.values import ArrayLike, Indices, resolve_indices
from ...specs.arguments import require_type, whole_of
from ...specs.motors import MotorConfig
from ..articulation import DofArrays, Robot
from ..bus import EventBus
from ..dof_properties import DofProperties
from ..opened import enter, leave
from ..port import Buffers, JointViews
from ..transfer import Item, transfer, warp_copy
from .address import address_of, mujoco
from .fields import KNOWN, follow_step, harden, read_property, write_properties
from .joint_signals import JointSignals, mass_entries
from .model_actuators import drives_by_joint, followers_of_model, own_actuators, read_motors, warn_of
from .model_robots import ModelRobots
from .own_data import BatchData, DataList
from .switches import actuators_off

if TYPE_CHECKING:
    from mujoco.batch import Batch

_open: weakref.WeakSet[MujocoSimulation] = weakref.WeakSet()

_STATE = {
    "positions": ("qpos", "position"),
    "velocities": ("qvel", "velocity"),
    "efforts": ("qfrc_applied", "velocity"),
}


class OwnArticulation(DofProperties):
    """Robots of a user's MuJoCo model, live; properties of joints are those of the model, until it is closed."""

    SETTABLE_GAINS = False
    ONE_DRY_FRICTION = True

    _backend: MujocoSimulation  # pyright: ignore[reportIncompatibleVariableOverride]

    def get_dof_drive_constants(self, *, indices: Indices = None, dof_indices: Indices = None) -> wp.array:
        """Constant efforts [N·m or N] of the model's own actuators of the joints."""
        self._live()
        return warp_copy(self._backend.drive_constants()[self._index(indices, dof_indices)])

    def following_dofs(self, driven: Collection[str]) -> set[str]:
        """Names of joints that follow others."""
        return followers_of_model(self._backend.model, driven)

    def joint_signals(self, names: Sequence[str]) -> JointViews:
        """Inertias (`inertia`, `coupled_inertia`) [kg·m² or kg], and the efforts of gravity and Coriolis (`load`).

        After a step, they are those before it, as with `Simulation`; before the first one, those at the state now.
        """
        self._live()
        views, update = self._following(self._backend.joint_signals(names)), self._backend.update_signals

        def refresh() -> None:
            update()
            views.refresh()

        return JointViews(views.arrays, refresh)

    def get_mass_matrices(self, *, indices: Indices = None) -> wp.array:
        """Mass matrices of the data with armatures, `(robots, C, C)`; the DOFs are the last coordinates."""
        self._live()
        host, count = self._backend, self._at.shape[1]
        found = []
        for robot in resolve_indices(indices, len(self._robots), "robot"):
            env, first = divmod(self._robots[robot].offset, host.width)
            found.append(host.mass_matrix(env, host.columns("velocities")[first : first + count]))
        return warp_copy(np.array(found, np.float32))

    def dof_admittances(self, indices: Indices) -> np.ndarray | None:
        """As `MujocoArticulation.dof_admittances`: with the equalities of the model, None in one without."""
        # imported here: Kit, which has these names as well, has no MuJoCo
        from .dynamics import admittance

        self._live()
        host, count, found = self._backend, self._at.shape[1], list[np.ndarray]()
        if not host.model.neq:
            return None
        for robot in resolve_indices(indices, len(self._robots), "robot"):
            env, first = divmod(self._robots[robot].offset, host.width)
            dofs = host.columns("velocities")[first : first + count]
            found.append(admittance(host.model, host.data_at(env))[np.ix_(dofs, dofs)])
        return np.array(found)

    def silence_drives(self, silent: bool, *, indices: Indices = None, dof_indices: Indices = None) -> None:
        """Keep the model's own actuators of some joints from acting, or let them act again."""
        self._live()
        if silent:
            self._driven = resolve_indices(dof_indices, self.num_dofs, "DOF").tolist()
            self._push = self._make_push()
        self._backend.silence(self._index(indices, dof_indices).ravel(), silent)

    def set_dof_gains(self, *_: object, **__: object) -> None:
        """Refused: joint drives are the model's own actuators."""
        raise HostError(
            "gains of joint drives: these are the actuators of your MuJoCo model, several to a joint maybe. Write "
            "model.actuator_gainprm and model.actuator_biasprm."
        )

    def switch_dof_control_mode(self, *_: object, **__: object) -> None:
        """Refused like `set_dof_gains`."""
        self.set_dof_gains()

    def get_dof_indices(self, names: str | Sequence[str]) -> wp.array:
        """Return the columns of the named joints, int32."""
        for name in [names] if isinstance(names, str) else names:
            if name in self._backend.other_joints:
                raise ValueError(
                    f"joint {name!r} is a {self._backend.other_joints[name]} joint: actuators drive hinges and slides. "
                    f"Available: {self.dof_names}."
                )
        return super().get_dof_indices(names)

    def buffers(self) -> Buffers:
        """Arrays that `refresh` fills from the data; `commit` writes the efforts of the driven joints there."""
        views = super().buffers()

        def refresh() -> None:
            self._backend.follow_step()
            self._pull()
            views.refresh()

        def commit() -> None:
            views.commit()
            self._push()

        return dataclasses.replace(views, refresh=refresh, commit=commit)

    def _resolve(self) -> None:
        self._generation = self._backend.generation
        self._take(self._backend.find(self._patterns))
        self._driven = list(range(self._at.shape[1]))
        self._pull = transfer(*self._items("positions", True), *self._items("velocities", True))
        self._push = self._make_push()

    def _make_push(self) -> Callable[[], object]:
        """A function that writes the efforts of the driven joints and leaves those of the others."""
        return transfer(*self._items("efforts", False, self._driven))

    def _items(self, name: str, read: bool, columns: Sequence[int] | None = None) -> list[Item]:
        """Items for `transfer` that read a field of these robots from the data, or write it there."""
        host = self._backend
        mirror = host.grid(name)
        items = []
        for first, count, block, envs, rows in self._runs(_STATE[name][0]):
            picked = np.arange(count) if columns is None else np.array(columns, np.int64)
            there = host.columns(name)[first + picked]
            inside, outside = (mirror[envs], first + picked), (block[rows], there)
            items.append((*outside, *inside) if read else (*inside, *outside))
        return items

    def _runs(self, field: str) -> list[tuple[int, int, np.ndarray, slice, slice]]:
        """First axis, count, block, and slices of mirror and block, for each run of consecutive environments."""
        width, count = self._backend.width, self._at.shape[1]
        starts, blocks = zip(*self._backend.data.blocks(field), strict=True)
        found: list[list[int]] = []
        for robot in self._robots:
            env, first = divmod(robot.offset, width)
            number = int(np.searchsorted(starts, env, side="right")) - 1
            if found and found[-1][:2] == [first, number] and found[-1][3] == env:
                found[-1][3] = env + 1
            else:
                found.append([first, number, env, env + 1])
        return [
            (first, count, blocks[number], slice(a, b), slice(a - starts[number], b - starts[number]))
            for first, number, a, b in found
        ]

    def _is_stopped(self) -> bool:
        # there is no stage to author on
        return False

    def _live(self) -> DofArrays:
        arrays = self._backend.arrays()
        if arrays is None:
            raise HostError("the simulation is closed: its joints are no longer read and written here. Make a new one.")
        return arrays

    def _get(self, name: str, indices: Indices, dof_indices: Indices) -> wp.array:
        self._live()
        if name in _STATE and name != "efforts":
            self._pull()
        return super()._get(name, indices, dof_indices)

    def _set(self, name: str, values: ArrayLike, indices: Indices, dof_indices: Indices) -> None:
        self._live()
        super()._set(name, values, indices, dof_indices)
        if name == "efforts":
            self._state_was_set(name, indices, dof_indices)


class MujocoSimulation(Closing, NotCopied):
    """Your own MuJoCo model and data: MJCF or `MjSpec`, no USD.

    It is the current simulation until it is closed. Every body is an articulation by its name, with the hinges and
    slides of its subtree as DOFs in MuJoCo's order; `world` has those of the whole model. Call `step`, or, in a loop of
    your own, `actuators.step_actuators(dt)` before each `mujoco.mj_step`. While actuators are attached, the model's own
    actuators of their joints are switched off; their values in `data.ctrl` have no effect. Position targets begin
    where the joints are. Efforts go to `data.qfrc_applied`, and no other DOFs of it are written.

    Args:
        model: The model.
        data: Its data; several of them, or a `mujoco.batch.Batch` of the model, are environments: body `arm` of
            environment `i` is `/envs/env_i/arm`. Several `MjData` share their model, so an actuator that is off in one
            is off in all.

    Raises:
        TypeError: One of them is something else.
        ValueError: Data are of another model, there are none, the model has neither hinge nor slide, or the physics
            steps of a batch differ.
        HostError: The model is open already.

    Example:
        >>> import mujoco
        >>> from isaacsim.core.experimental.actuators import MujocoSimulation
        >>> model = mujoco.MjModel.from_xml_path("data/robots/arm_2dof.xml")
        >>> with MujocoSimulation(model, mujoco.MjData(model)) as sim:
        ...     print(sim.articulation("arm").dof_names)
        ['shoulder', 'extension']
    """

    _INSTEAD = "Hand the simulation itself on, or make another one of a copy of the model."

    engine = "MuJoCo"
    stage = None
    generation = 0

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData | Sequence[mujoco.MjData] | Batch) -> None:
        if not isinstance(model, mujoco.MjModel):
            raise TypeError(f"model is a {type(model).__name__}: must be a mujoco.MjModel. Compile or load one.")
        self.data = _environments(model, data)
        if any(other.model is model and isinstance(other.data, DataList) for other in _open):
            raise HostError(
                "the model is open in another MujocoSimulation, and its actuators can be switched off by one only. "
                "Give that one all data of the model, or close it."
            )
        start_warp()
        self.model, self.num_envs = model, self.data.count
        self.bus = EventBus()
        self.step_count = 0
        self._dt = self.data.dt
        self._robots = ModelRobots(model, self.num_envs)
        joints, self.other_joints = self._robots.joints, self._robots.other_joints
        self.width = len(joints)
        self._address = address_of(model, joints)
        self._signals = JointSignals(model, self.num_envs, self._address.velocity)
        self._arrays: DofArrays | None = DofArrays.zeros(self.num_envs * self.width)
        own = own_actuators(model)
        self._actuators = {axis: own.get(joint, []) for axis, joint in enumerate(joints)}
        self._silent = np.zeros((self.num_envs, self.width), bool)
        found = drives_by_joint(model)
        drives = np.array([found.get(joint, (0.0, 0.0, 0.0)) for joint in joints], np.float32)
        self._gains, self._constants = drives[:, :2], drives[:, 2]
        self._fill_gains()
        self._hold(np.arange(self.num_envs))
        self.bus.ready = True
        _open.add(self)
        enter(self)

    # host protocol

    def articulation(self, paths: str | Sequence[str]) -> OwnArticulation:
        """The robots whose root bodies `paths` name, in every environment; each segment may be a regular expression.

        Raises:
            ValueError: No body has such a name, or none of its subtree's joints is a hinge or slide.
        """
        if self._arrays is None:
            raise self._closed()
        return OwnArticulation(self, paths)

    # simulation

    @property
    def dt(self) -> float:
        """Physics step [s], that of the model's options; of a batch, as it was when the simulation was made."""
        return self.data.dt

    @property
    def playing(self) -> bool:
        """True if the simulation is open: physics runs from the beginning."""
        return self._arrays is not None

    def step(self, steps: int = 1) -> None:
        """Advance by `steps` steps of `dt`: actuators, then `mj_step` of every data.

        Raises:
            HostError: The simulation is closed.
            ValueError: `steps` is negative.
        """
        for _ in range(whole_of("steps", steps)):
            if self._arrays is None:
                raise self._closed()
            self.bus.emit_pre_step(self.data.dt, None)
            if self._arrays is None:
                # a callback closed it
                return
            self.data.step()
            self.step_count += 1

    def reset(self, env_ids: Indices = None, *, keyframe: str | int | None = None) -> None:
        """Put environments back as `mujoco.mj_resetData` does, with efforts 0 and targets where the joints are.

        The state of their actuators is reset too. Call this, or, after a reset of your own, `actuators.reset`.

        Args:
            env_ids: Environment indices or a boolean mask; None means all.
            keyframe: Name or number of a keyframe of the model; None means its defaults.

        Raises:
            HostError: The simulation is closed.
            KeyError: There is no keyframe of that name.
            IndexError: There is none of that number.
        """
        if self._arrays is None:
            raise self._closed()
        envs = np.unique(resolve_indices(env_ids, self.num_envs, "environment"))
        number = -1
        if keyframe is not None:
            require_type("keyframe", keyframe, (str, int), "the name or number of a keyframe")
            try:
                number = self.model.key(keyframe).id
            except (KeyError, IndexError) as error:
                there = [self.model.key(at).name or at for at in range(self.model.nkey)]
                raise type(error)(f"keyframe = {shown(keyframe)}: must be one of {there}. Correct it.") from None
        self.data.reset(envs, number)
        self.grid("efforts")[envs] = 0.0
        self._hold(envs)
        self.bus.emit_reset(None if env_ids is None else envs.tolist())

    def close(self) -> None:
        """Detach everything and give the model back as it was, bit for bit; calling it again does nothing."""
        if self._arrays is None:
            return
        driven = np.flatnonzero(self._silent)
        self.grid("efforts").flat[driven] = 0.0
        self.write_state("efforts", driven)
        self.data.restore()
        self._arrays = None
        _open.discard(self)
        leave(self)
        self.bus.emit_stop()

    # backend of the articulations

    def find(self, patterns: str | Sequence[str]) -> list[Robot]:
        """Return the robots that paths match, environment by environment."""
        return self._robots.find(patterns)

    def robots(self) -> list[Robot]:
        """Return the whole model in each environment."""
        return self._robots.whole_model()

    def arrays(self) -> DofArrays | None:
        """The mirrors, or None when closed; what they hold of the state is as old as the last look at it."""
        return self._arrays

    def grid(self, name: str) -> np.ndarray:
        """A mirror as (environments, axes)."""
        return getattr(self._arrays, name).reshape(self.num_envs, self.width)

    def columns(self, name: str) -> np.ndarray:
        """Columns of the axes in the data's field of that name."""
        return getattr(self._address, _STATE[name][1])

    def write_state(self, name: str, at: np.ndarray) -> None:
        """Take positions, velocities or efforts over from the mirrors, at the places that were set and nowhere else."""
        values = getattr(self._arrays, name)[at].ravel()
        envs, axes = np.divmod(at.ravel(), self.width)
        columns = self.columns(name)[axes]
        for start, block in self.data.blocks(_STATE[name][0]):
            here = (envs >= start) & (envs < start + len(block))
            block[envs[here] - start, columns[here]] = values[here]

    def drive_constants(self) -> np.ndarray:
        """Constant efforts of the model's own actuators, in the order of the mirrors."""
        return np.tile(self._constants, self.num_envs)

    def write_gains(self) -> None:
        """Nothing to pass on: gains are the model's."""

    def silence(self, at: np.ndarray, silent: bool) -> None:
        """Switch the model's own actuators of some joints off, or on again."""
        wanted = self._silent.copy()
        wanted.flat[at] = silent
        self.data.switch_off(actuators_off(wanted, self._actuators, len(self.model.actuator_group)))
        self._silent = wanted
        self._fill_gains()

    def follow_step(self) -> None:
        """Adapt to a physics step that the user's loop has changed."""
        if self._dt != (now := self.data.dt):
            self._dt = now
            follow_step(self.data.fields)

    def joint_signals(self, names: Sequence[str]) -> dict[str, np.ndarray]:
        """Signals of all axes that laws ask for, in the order of the mirrors, as far as they are known."""
        if self._signals.ask(names):
            self._signals.bind(self.data.blocks)
            self.update_signals()
        return {name: self._signals.arrays[name].reshape(-1) for name in names if name in self._signals.arrays}

    def data_at(self, env: int) -> mujoco.MjData:
        """Data at the state of an environment, with all that `mj_forward` computes."""
        found = mujoco.MjData(self.model)
        for name in ("qpos", "qvel", "eq_active"):
            start, block = next(one for one in reversed(self.data.blocks(name)) if one[0] <= env)
            getattr(found, name)[:] = block[env - start]
        mujoco.mj_forward(self.model, found)
        return found

    def mass_matrix(self, env: int, dofs: np.ndarray) -> np.ndarray:
        """Mass matrix of an environment, of the coordinates of the trees of some, which are the last."""
        model = self.model
        start, block = next(one for one in reversed(self.data.blocks("M")) if one[0] <= env)
        if not block[env - start].any():
            self.data.compute(np.array([env]))
        rows, columns, entries = mass_entries(model)
        whole = np.zeros((model.nv, model.nv))
        whole[rows, columns] = whole[columns, rows] = block[env - start][entries]
        # other trees do not couple, but by armatures of tendons
        near = np.isin(model.dof_treeid, model.dof_treeid[dofs]) | bool(model.tendon_armature.any())
        order = [*np.setdiff1d(np.flatnonzero(near), dofs), *dofs]
        return whole[np.ix_(order, order)]

    def update_signals(self) -> None:
        """Take the signals over from the data; they are computed where the data have none."""
        self._signals.update()
        if not (known := self._signals.known).all():
            self.data.compute(np.flatnonzero(~known))
            self._signals.update()

    def read_property(self, name: str) -> np.ndarray:
        """A property of all axes, flat.

        Raises:
            HostError: MuJoCo has no such property.
        """
        if name == "max_velocities":
            return np.full(self.num_envs * self.width, np.inf)
        if name not in KNOWN:
            raise HostError(f"{name.replace('_', ' ')}: MuJoCo does not have them. Leave them out.")
        return read_property(self.data.fields, self._address, name).reshape(-1)

    def write_properties(self, values: Mapping[str, np.ndarray], at: np.ndarray) -> None:
        """Set properties at some places of the mirrors; data of one model must be given the same."""
        # what is there already stays to the bit, in float64
        new = {
            name: given
            for name, given in values.items()
            if not np.array_equal(self.read_property(name)[at].astype(np.float32), given)
        }
        if "max_velocities" in new:
            raise HostError(
                "max velocities: MuJoCo has none, and in a loop of your own nothing would keep them. Open the model's "
                "file by Simulation, which keeps them, or leave them out."
            )
        envs, axes = np.divmod(at, self.width)
        if isinstance(self.data, DataList) and self.num_envs > 1:
            for name, given in new.items():
                for axis in np.unique(axes):
                    shared = given[axes == axis]
                    if len(shared) != self.num_envs or (shared != shared[0]).any():
                        raise HostError(
                            f"{name.replace('_', ' ')} would differ between data of one model: they share it. "
                            "Set the same for all environments, or simulate a mujoco.batch.Batch, whose simulations "
                            "have a model each."
                        )
        write_properties(self.data.fields, self._address, new, envs, axes)

    def harden_friction(self, at: np.ndarray, hard: bool) -> None:
        """Keep dry frictions as hard as MuJoCo allows at some places of the mirrors, or end that."""
        envs, axes = np.divmod(at, self.width)
        harden(self.data.fields, self._address, hard, envs, axes)

    def motors(self) -> dict[str, MotorConfig]:
        """Motors that do the same as the model's own actuators, by pattern; see `motors_of_model`."""
        motors, warned = read_motors(self.model)
        warn_of(warned, stacklevel=6)
        return motors

    def _closed(self) -> HostError:
        return HostError("the simulation is closed. Make a new one of the same model and data.")

    def _hold(self, envs: np.ndarray) -> None:
        """Let position targets be where the joints are."""
        for start, block in self.data.blocks("qpos"):
            here = envs[(envs >= start) & (envs < start + len(block))]
            positions = block[here - start][:, self._address.position]
            for name in ("positions", "position_targets"):
                self.grid(name)[here] = positions
        self.grid("velocity_targets")[envs] = 0.0

    def _fill_gains(self) -> None:
        """Write the gains of the model's own actuators, 0 where they are off."""
        for number, name in enumerate(("stiffnesses", "dampings")):
            self.grid(name)[:] = np.where(self._silent, 0.0, self._gains[:, number])


def _environments(model: mujoco.MjModel, data: Any) -> DataList | BatchData:
    """Data as environments; a `TypeError` if it is something else, a `ValueError` if of another model or none."""
    # a version of MuJoCo without batches has none to offer
    if all(hasattr(data, name) for name in ("bind", "expand", "nsim")):
        if data.model is not model:
            raise ValueError("data is a batch of another model: must be one of this model. Pass batch.model.")
        return BatchData(data)
    datas = [data] if isinstance(data, mujoco.MjData) else data
    if not isinstance(datas, list | tuple) or any(not isinstance(one, mujoco.MjData) for one in datas):
        raise TypeError(
            f"data is a {type(data).__name__}: must be a mujoco.MjData, a list of them or a mujoco.batch.Batch. Pass "
            "one of these."
        )
    if not datas or len({id(one) for one in datas}) < len(datas):
        raise ValueError(f"data holds {len(datas)} MjData: must be at least one, and each once. Correct the list.")
    sizes = model.nq, model.nv, model.nu
    for number, one in enumerate(datas):
        if (found := (len(one.qpos), len(one.qvel), len(one.ctrl))) != sizes:
            raise ValueError(
                f"data[{number}] has (nq, nv, nu) = {found}, the model {sizes}: must be data of this model. Make it by "
                "mujoco.MjData(model)."
            )
    return DataList(model, datas)
