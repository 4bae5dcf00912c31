"""Poses and velocities of bodies and equations of motion of robots on MuJoCo, in Isaac Sim's coordinates."""

# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, NamedTuple

import mujoco
import numpy as np

from ...base.native import core
from ..articulation import RootArrays
from ..rotations import matrices, seen_from, unit
from .fields import ModelFields
from .joint_signals import mass_entries
from .simulations import Batch
from .user_warnings import ignore, warnings_to

# each axis, and the two whose cross product it is
CYCLES = ((0, 1, 2), (1, 2, 0), (2, 0, 1))


class Kinematics:
    """Poses and velocities of the bodies of a model, which may be placed elsewhere in some environments.

    Forward kinematics alone: `mujoco.batch.Batch.forward` adds contacts and constraints, and copies what is bound.
    """

    def __init__(self, model: mujoco.MjModel) -> None:
        self._model, self._data = copy.copy(model), mujoco.MjData(model)

    def poses(self, fields: ModelFields, envs: np.ndarray, qpos: np.ndarray) -> np.ndarray:
        """Position and quaternion of each body, `(environments, bodies, 7)`, from positions of all environments."""
        model, data = self._model, self._data
        found = np.empty((len(envs), model.nbody, 7))
        # what is used again and again is looked up once
        forward, here = mujoco.mj_kinematics, data.qpos
        positions, turns = data.xpos, data.xquat
        places = self._places(fields)
        for env, state, row in zip(envs.tolist(), qpos[envs], found, strict=True):
            here[:] = state
            for ours, theirs in places:
                ours[:] = theirs[env]
            forward(model, data)
            row[:, :3] = positions
            row[:, 3:] = turns
        return found

    def velocities(self, fields: ModelFields, envs: np.ndarray, qpos: np.ndarray, qvel: np.ndarray) -> np.ndarray:
        """Linear velocity of the center of mass, and angular velocity, of each body, `(environments, bodies, 6)`."""
        model, data = self._model, self._data
        moving, arms = np.empty((len(envs), model.nbody, 6)), np.empty((len(envs), model.nbody, 3))
        here, speed = data.qpos, data.qvel
        velocities, centers, trees = data.cvel, data.xipos, data.subtree_com
        places, top = self._places(fields), model.body_rootid
        rows = zip(envs.tolist(), qpos[envs], qvel[envs], moving, arms, strict=True)
        for env, state, rate, row, arm in rows:
            here[:], speed[:] = state, rate
            for ours, theirs in places:
                ours[:] = theirs[env]
            mujoco.mj_kinematics(model, data)
            mujoco.mj_comPos(model, data)
            mujoco.mj_comVel(model, data)
            row[:] = velocities
            np.subtract(centers, trees[top], out=arm)
        # MuJoCo has angular velocities first, and linear ones at the center of mass of the whole tree
        spins = moving[..., :3]
        return np.concatenate([moving[..., 3:] + cross(spins, arms), spins], axis=-1)

    def _places(self, fields: ModelFields) -> list[tuple[np.ndarray, np.ndarray]]:
        """Fields of the model that differ between environments: here, and of all of them."""
        found = []
        for name in ("body_pos", "body_quat", "body_ipos", "body_iquat"):
            if fields.differs(name):
                found.append((getattr(self._model, name), fields.read(name)))
        if fields.differs("body_ipos"):
            # MuJoCo takes centers of mass for origins where they were so
            self._model.body_sameframe[:] = 0
        return found


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Products of vectors along the last axis, in less time than `numpy.cross`."""
    found = np.empty(np.broadcast_shapes(a.shape, b.shape))
    for i, j, k in CYCLES:
        np.subtract(a[..., j] * b[..., k], a[..., k] * b[..., j], out=found[..., i])
    return found


# AUTORESET would reset a state that is not finite
_OFF = ("CONTACT", "CONSTRAINT", "SENSOR", "ACTUATION", "SPRING", "DAMPER", "AUTORESET")


class Forward:
    """Forward stages of many environments in MuJoCo's own threads, without contacts, constraints, springs and gravity.

    The batch is apart from that of the physics: what is bound of a batch is copied in every step. `stage` is the last
    one that is computed, an `mjtStage`, and `outputs` are the fields of MuJoCo's data that are read.
    """

    def __init__(self, model: mujoco.MjModel, num_envs: int, stage: int, outputs: Sequence[str]) -> None:
        own = copy.copy(model)
        for name in _OFF:
            own.opt.disableflags |= int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{name}", 0))
        own.opt.gravity[:] = 0.0
        # centers of mass may be moved, see `movable_coms`
        own.body_sameframe[:] = 0
        self._batch = Batch(own, num_envs, nthread=1 if num_envs == 1 else 0)
        self._qpos, self._qvel = self._batch.bind("qpos"), self._batch.bind("qvel")
        self._stage, self._outputs = int(stage), {name: self._batch.bind(name) for name in outputs}
        # environments whose outputs are computed
        self._envs: np.ndarray | None = None

    def at(self, fields: ModelFields, envs: np.ndarray, qpos: np.ndarray, qvel: np.ndarray) -> SimpleNamespace:
        """Outputs by name of environments at a `State`, valid until the next call; the same state again is free."""
        if not self.is_at(fields, envs, qpos, qvel):
            fields.bodies_to(self._batch)
            self._qpos[:], self._qvel[:] = qpos, qvel
            # the physics step reports divergence
            with warnings_to(ignore):
                self._batch.forward(ids=envs, stage=self._stage)
            self._envs = None if fields.has_own_bodies else envs
        return SimpleNamespace(**self._outputs)

    def is_at(self, fields: ModelFields, envs: np.ndarray, qpos: np.ndarray, qvel: np.ndarray) -> bool:
        """Return True if the outputs are those of this state; arguments as above."""
        return (
            self._envs is not None
            and not fields.has_own_bodies
            and np.array_equal(envs, self._envs)
            and np.array_equal(qpos, self._qpos)
            and (self._stage < int(mujoco.mjtStage.mjSTAGE_VEL) or np.array_equal(qvel, self._qvel))
        )


@dataclass(frozen=True)
class Layout:
    """Indices of a robot in MuJoCo's arrays: bodies of its links, the root first, and axes among velocities.

    `joints` are the frames of the joints that carry the links, in these: places [m] and quaternions, `(links, 7)`. The
    root body is `floating` with a free joint, or `fixed` to the world.
    """

    bodies: np.ndarray
    joints: np.ndarray
    dofs: np.ndarray
    floating: bool
    fixed: bool

    @property
    def first(self) -> int:
        """Place of the first axis among the robot's coordinates."""
        return 6 if self.floating else 0


class State(NamedTuple):
    """The fields of a model, environments asked for, sorted and each once, and positions and velocities of all."""

    fields: ModelFields
    envs: np.ndarray
    qpos: np.ndarray
    qvel: np.ndarray


class Equations:
    """The equations of motion of many copies of a model at once."""

    def __init__(self, model: mujoco.MjModel, num_envs: int) -> None:
        self._model, self._num_envs = model, num_envs
        self._weight = model.opt.gravity * (not model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_GRAVITY)

    def mass_matrices(self, state: State, layout: Layout, envs: np.ndarray) -> np.ndarray:
        """Mass matrices of a robot, `(environments, C, C)`."""
        found = self._at_positions(state)
        rows, columns, entries = self._entries(layout)
        size = layout.first + len(layout.dofs)
        matrices = np.zeros((len(envs), size, size))
        matrices[:, rows, columns] = matrices[:, columns, rows] = found.M[envs].take(entries, 1)
        if layout.floating:
            # MuJoCo's free joint (origin, world; angular, body) by velocities of the center of mass, in the world
            root = layout.bodies[0]
            turn = np.zeros((len(envs), 6, 6))
            turn[:, np.arange(3), np.arange(3)] = 1.0
            arm = found.xipos[envs, root] - found.xpos[envs, root]
            for i, j, k in CYCLES:
                turn[:, k, 3 + j], turn[:, j, 3 + k] = arm[:, i], -arm[:, i]
            turn[:, 3:, 3:] = found.xmat[envs, root].reshape(-1, 3, 3).transpose(0, 2, 1)
            moved = turn.transpose(0, 2, 1) @ matrices[:, :6]
            matrices[:, :6, 6:] = moved[:, :, 6:]
            matrices[:, 6:, :6] = moved[:, :, 6:].transpose(0, 2, 1)
            matrices[:, :6, :6] = moved[:, :, :6] @ turn
        return matrices

    def jacobians(self, state: State, layout: Layout, envs: np.ndarray) -> np.ndarray:
        """Jacobians of the links that can move, `(environments, links, 6, C)`; arguments as above."""
        found, model = self._at_positions(state), self._model
        links = layout.bodies[1:] if layout.fixed else layout.bodies
        jacobians = np.zeros((len(envs), len(links), 6, layout.first + len(layout.dofs)))
        link, axis = np.nonzero(self._carried(links, model.dof_bodyid[layout.dofs]))
        # rows, then columns: in half the time of both at once
        centers = found.xipos[envs].take(links, 1)
        arms = centers.take(link, 1) - found.subtree_com[envs].take(model.body_rootid[links[link]], 1)
        turns = found.cdof[envs].take(layout.dofs[axis], 1)
        spins = turns[..., :3]
        linear = turns[..., 3:] + cross(spins, arms)
        for coordinate in range(3):
            jacobians[:, link, coordinate, layout.first + axis] = linear[..., coordinate]
            jacobians[:, link, 3 + coordinate, layout.first + axis] = spins[..., coordinate]
        if layout.floating:
            root = layout.bodies[0]
            on_root = np.flatnonzero(self._carried(links, np.array([root])))
            from_root = centers.take(on_root, 1) - found.xipos[envs, None, root]
            for i, j, k in CYCLES:
                jacobians[:, on_root, i, i] = jacobians[:, on_root, 3 + i, 3 + i] = 1.0
                jacobians[:, on_root, j, 3 + k] = from_root[..., i]
                jacobians[:, on_root, k, 3 + j] = -from_root[..., i]
        return jacobians

    def gravity(self, state: State) -> np.ndarray:
        """Efforts that balance gravity, of all coordinates and environments; those of free joints have no meaning."""
        return -self._momenta(self._at_positions(state), state.fields) @ self._weight

    def gravity_slopes(self, state: State) -> np.ndarray:
        """Changes of the efforts that balance gravity, each with the position of its own coordinate; see `gravity`."""
        found = self._at_positions(state)
        # a turning axis turns the momentum of what it moves
        turned = cross(found.cdof[..., :3], self._momenta(found, state.fields))
        return -turned @ self._weight

    def coriolis(self, state: State, layouts: Sequence[Layout]) -> np.ndarray:
        """Efforts that balance Coriolis and centrifugal forces; see `gravity`."""
        found, qvel = self._moving.at(*state), state.qvel
        efforts = found.qfrc_bias.copy()
        roots = [layout.bodies[0] for layout in layouts if layout.floating]
        momenta = self._momenta(found, state.fields)
        for root in roots:
            # where the center of mass of a turning root has no acceleration, its origin has
            frames = found.xmat[:, root].reshape(-1, 3, 3)
            spins = np.einsum("eij,ej->ei", frames, qvel[:, base_of(self._model, root)][:, 3:])
            arms = found.xipos[:, root] - found.xpos[:, root]
            above = np.flatnonzero(self._model.body_rootid[self._model.dof_bodyid] == root)
            efforts[:, above] -= np.einsum("edi,ei->ed", momenta[:, above], cross(spins, cross(spins, arms)))
        return efforts

    def _at_positions(self, state: State) -> SimpleNamespace:
        """Quantities that depend on positions; those that the velocities needed, where they are of this state."""
        if "_moving" in vars(self) and self._moves_as_placed and self._moving.is_at(*state):
            return self._moving.at(*state)
        return self._placed.at(*state)

    @functools.cached_property
    def _moves_as_placed(self) -> bool:
        """True if `_moving` has the mass matrices of the model."""
        return not self._model.tendon_armature.any()

    @functools.cached_property
    def _placed(self) -> Forward:
        """Quantities that depend on positions."""
        outputs = "xpos", "xmat", "xipos", "cdof", "subtree_com", "M"
        return Forward(self._model, self._num_envs, mujoco.mjtStage.mjSTAGE_POS, outputs)

    @functools.cached_property
    def _moving(self) -> Forward:
        """Quantities that depend on velocities, without tendon armatures, which MuJoCo adds to the bias forces."""
        outputs = "xpos", "xmat", "xipos", "cdof", "subtree_com", "M", "qfrc_bias"
        model = copy.copy(self._model)
        model.tendon_armature[:] = 0.0
        return Forward(model, self._num_envs, mujoco.mjtStage.mjSTAGE_VEL, outputs)

    def _momenta(self, found: SimpleNamespace, fields: ModelFields) -> np.ndarray:
        """Linear momenta of what each coordinate moves, by its velocity, `(environments, coordinates, 3)`."""
        bodies = self._model.dof_bodyid
        trees = self._model.body_rootid[bodies]
        arms = found.subtree_com[:, bodies] - found.subtree_com[:, trees]
        motion = found.cdof[..., 3:] + cross(found.cdof[..., :3], arms)
        return fields.constant("body_subtreemass")[:, bodies, None] * motion

    def _carried(self, bodies: np.ndarray, by: np.ndarray) -> np.ndarray:
        """Mask of the bodies that are, or descend from, some others, `(bodies, others)`."""
        parents, found = self._model.body_parentid, np.zeros((len(bodies), len(by)), bool)
        at = bodies
        while at.any():
            found |= at[:, None] == by
            at = parents[at]
        return found

    def _entries(self, layout: Layout) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Rows and columns of a robot's mass matrix, and where MuJoCo's sparse one, which is a lower half, has them."""
        model = self._model
        place = np.full(model.nv, -1)
        place[layout.dofs] = layout.first + np.arange(len(layout.dofs))
        if layout.floating:
            place[base_of(model, layout.bodies[0])] = np.arange(6)
        all_rows, all_columns, entries = mass_entries(model)
        rows, columns = place[all_rows], place[all_columns]
        kept = (rows >= 0) & (columns >= 0)
        return rows[kept], columns[kept], entries[kept]


def admittance(model: mujoco.MjModel, data: mujoco.MjData) -> np.ndarray:
    """Acceleration of each coordinate of MuJoCo per effort on each, with equality constraints, `(C, C)`.

    These are as soft as MuJoCo has them: with their Jacobian J and regularization R, the effort of a constraint for an
    acceleration a is `−(J·M⁻¹·Jᵀ + R)⁻¹·J·a`. `data` has what `mj_forward` computes. Source: MuJoCo, Computation,
    Constraint solver.
    """
    mass = np.zeros((model.nv, model.nv))
    rows, columns, entries = mass_entries(model)
    mass[rows, columns] = mass[columns, rows] = data.M[entries]
    inverse, count = np.linalg.inv(mass), data.ne
    jacobian = np.zeros((data.nefc, model.nv))
    if mujoco.mj_isSparse(model):
        mujoco.mju_sparse2dense(jacobian, data.efc_J, data.efc_J_rownnz, data.efc_J_rowadr, data.efc_J_colind)
    else:
        jacobian[:] = data.efc_J.reshape(jacobian.shape)
    # constraints begin with the equalities
    moved = jacobian[:count] @ inverse
    return inverse - moved.T @ np.linalg.solve(moved @ jacobian[:count].T + np.diag(data.efc_R[:count]), moved)


def incoming_forces(model: mujoco.MjModel, data: mujoco.MjData, layout: Layout) -> np.ndarray:
    """Force and torque of the joint on each link, in its frame, `(links, 6)`; needs `mj_rnePostConstraint`."""
    bodies = layout.bodies
    frames = data.xmat[bodies].reshape(-1, 3, 3)
    places = data.xpos[bodies] + np.einsum("lij,lj->li", frames, layout.joints[:, :3])
    # MuJoCo has the torque first, about the center of mass of the whole tree
    torques, forces = data.cfrc_int[bodies, :3], data.cfrc_int[bodies, 3:]
    torques = torques + np.cross(data.subtree_com[model.body_rootid[bodies]] - places, forces)
    turns = frames @ matrices(layout.joints[:, 3:])
    return np.hstack([np.einsum("lij,li->lj", turns, one) for one in (forces, torques)])


def projected_forces(model: mujoco.MjModel, data: mujoco.MjData) -> np.ndarray:
    """Joint forces and torques projected on MuJoCo's coordinates; arguments as above."""
    return np.einsum("di,di->d", data.cdof, data.cfrc_int[model.dof_bodyid])


def base_of(model: mujoco.MjModel, root: int) -> slice:
    """Places of a floating root among velocities."""
    start = int(model.body_dofadr[root])
    return slice(start, start + 6)


class RootMirrors:
    """`RootArrays` of the robots of all environments; `columns` say where the free joints of floating robots begin."""

    def __init__(self, host: object, layouts: Sequence[Layout], columns: Sequence[tuple[int, int]]) -> None:
        self._host, self._layouts, self._columns = host, layouts, columns
        self._floating = [number for number, layout in enumerate(layouts) if layout.floating]
        self._fixed = [number for number, layout in enumerate(layouts) if layout.fixed]
        self.arrays = RootArrays.zeros(host.num_envs * len(layouts))
        self.follow: Callable[[], None] | None = None
        """To be called after each physics step; None where nothing floats."""
        self._native: Any = None

    def bind(self, qpos: np.ndarray, qvel: np.ndarray, centers: np.ndarray) -> None:
        """Follow positions and velocities by environment from now on; `centers` are those of mass, in body frames."""
        every = np.arange(self._host.num_envs)
        self.follow, self._native = None, None
        if self._floating and core is not None:
            items = [
                (number, *columns, centers[:, self._layouts[number].bodies[0]])
                for number, columns in zip(self._floating, self._columns, strict=True)
            ]
            arrays, down = self.arrays, unit(self._host.gravity).tolist()
            written = arrays.poses, arrays.velocities, arrays.gravity
            self._native = core.Roots(qpos, qvel, items, down, len(self._layouts), *written)
            self.follow = self._native.run
        elif self._floating:
            self.follow = lambda: self.update(every)
        self.update(every)
        self.update_fixed(every)

    def update(self, envs: np.ndarray) -> None:
        """Update the arrays of floating root links in some environments."""
        if self._native is not None:
            self._native.update(envs.tolist())
        else:
            self._take(self._floating, envs)

    def update_fixed(self, envs: np.ndarray) -> None:
        """Update the arrays of fixed root links in some environments."""
        self._take(self._fixed, envs)

    def _take(self, numbers: list[int], envs: np.ndarray) -> None:
        """Compute those of some robots of some environments."""
        robots = np.add.outer(envs * len(self._layouts), np.array(numbers, int)).ravel()
        if robots.size:
            arrays, host = self.arrays, self._host
            poses = host.root_poses(robots)
            # thrown bodies are too fast for float32; the step names them
            with np.errstate(over="ignore"):
                arrays.poses[robots], arrays.velocities[robots] = poses, host.root_velocities(robots)
            arrays.gravity[robots] = seen_from(poses[:, 3:], unit(host.gravity))
