"""What MuJoCo tells of one robot's equations of motion, in Isaac Sim's coordinates."""

# MuJoCo ships no type stubs
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

from ..rotations import matrices


@dataclass(frozen=True)
class Layout:
    """Where a robot stands in MuJoCo's arrays.

    Args:
        bodies: Of its links, the root first.
        joints: Frames of the joints that carry them, in the links: places [m] and quaternions, `(links, 7)`.
        dofs: Of its axes, among velocities.
        floating: Whether the root body has a free joint.
        fixed: Whether the root body is fixed to the world.
    """

    bodies: np.ndarray
    joints: np.ndarray
    dofs: np.ndarray
    floating: bool
    fixed: bool


class Equations:
    """The equations of motion of one environment at a time.

    Args:
        data: To compute in.
    """

    def __init__(self, data: mujoco.MjData) -> None:
        self._data = data
        # each asking makes an array anew
        self._qpos, self._qvel, self._moving = data.qpos, data.qvel, (data.cvel, data.cdof_dot)

    def at(self, model: mujoco.MjModel, qpos: np.ndarray, qvel: np.ndarray) -> Equations:
        """Itself, of an environment in a state.

        Args:
            model: Of that environment.
            qpos: Positions.
            qvel: Velocities.
        """
        self._model = model
        self._qpos[:], self._qvel[:] = qpos, qvel
        mujoco.mj_kinematics(model, self._data)
        mujoco.mj_comPos(model, self._data)
        return self

    def mass_matrix(self, layout: Layout) -> np.ndarray:
        """Of the robot's coordinates."""
        mujoco.mj_makeM(self._model, self._data)
        turn = self._coordinates(layout)
        # column by column: the whole matrix of a stage of many robots is large
        moved = np.empty(turn.T.shape)
        for column, out in zip(np.ascontiguousarray(turn.T), moved, strict=True):
            mujoco.mj_mulM(self._model, self._data, out, column)
        return moved @ turn

    def jacobian(self, layout: Layout) -> np.ndarray:
        """Of each link that can move."""
        turn = self._coordinates(layout)
        bodies = layout.bodies[1:] if layout.fixed else layout.bodies
        return np.array([self._jacobian(body) @ turn for body in bodies]).reshape(-1, 6, turn.shape[1])

    def gravity(self) -> np.ndarray:
        """Efforts that balance gravity, of all of MuJoCo's coordinates."""
        efforts = np.empty(self._model.nv)
        # of bodies at rest, the recursive Newton-Euler pass gives gravity alone
        for numbers in self._moving:
            numbers[:] = 0.0
        mujoco.mj_rne(self._model, self._data, 0, efforts)
        return efforts

    def coriolis(self, layouts: list[Layout]) -> np.ndarray:
        """Efforts that balance Coriolis and centrifugal forces, of all of MuJoCo's coordinates."""
        model, data = self._model, self._data
        efforts = np.empty(model.nv)
        mujoco.mj_comVel(model, data)
        data.qacc[:] = 0.0
        for layout in layouts:
            if layout.floating:
                # where the centre of mass of a turning root has no acceleration, its origin has
                root = layout.bodies[0]
                base = base_of(model, root)
                turning = data.xmat[root].reshape(3, 3) @ data.qvel[base][3:]
                arm = data.xipos[root] - data.xpos[root]
                data.qacc[base][:3] = -np.cross(turning, np.cross(turning, arm))
        mujoco.mj_rne(model, data, 1, efforts)
        data.qacc[:] = 0.0
        return efforts - self.gravity()

    # inside

    def _jacobian(self, body: int) -> np.ndarray:
        both = np.empty((6, self._model.nv))
        mujoco.mj_jacBodyCom(self._model, self._data, both[:3], both[3:], body)
        return both

    def _coordinates(self, layout: Layout) -> np.ndarray:
        """MuJoCo's velocities by the robot's coordinates."""
        first = 6 if layout.floating else 0
        turn = np.zeros((self._model.nv, first + len(layout.dofs)))
        turn[layout.dofs, first + np.arange(len(layout.dofs))] = 1.0
        if layout.floating:
            turn[base_of(self._model, layout.bodies[0]), :6] = self._base_coordinates(layout)
        return turn

    def _base_coordinates(self, layout: Layout) -> np.ndarray:
        """MuJoCo's free joint (origin, world; angular, body) by velocities of the centre of mass, in the world."""
        root = layout.bodies[0]
        x, y, z = self._data.xipos[root] - self._data.xpos[root]
        turn = np.eye(6)
        turn[:3, 3:] = [[0, -z, y], [z, 0, -x], [-y, x, 0]]
        turn[3:, 3:] = self._data.xmat[root].reshape(3, 3).T
        return turn


def link_inertias(model: mujoco.MjModel, layout: Layout) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Masses; centres of mass and principal axes in the link frame; inertias along the link's axes."""
    bodies = layout.bodies
    inertias = np.empty((len(bodies), 3, 3))
    for i, body in enumerate(bodies):
        axes = np.empty(9)
        mujoco.mju_quat2Mat(axes, model.body_iquat[body])
        inertias[i] = axes.reshape(3, 3) * model.body_inertia[body] @ axes.reshape(3, 3).T
    places = np.concatenate([model.body_ipos[bodies], model.body_iquat[bodies]], axis=1)
    return model.body_mass[bodies].copy(), places, inertias


def incoming_forces(model: mujoco.MjModel, data: mujoco.MjData, layout: Layout) -> np.ndarray:
    """Force and torque that its joint exerts on each link, in the frame of the joint, `(links, 6)`.

    Args:
        model: Of the environment.
        data: Of it, with what `mj_rnePostConstraint` computes.
        layout: Of the robot.
    """
    bodies = layout.bodies
    frames = data.xmat[bodies].reshape(-1, 3, 3)
    places = data.xpos[bodies] + np.einsum("lij,lj->li", frames, layout.joints[:, :3])
    # MuJoCo has the torque first, about the centre of mass of the whole tree
    torques, forces = data.cfrc_int[bodies, :3], data.cfrc_int[bodies, 3:]
    torques = torques + np.cross(data.subtree_com[model.body_rootid[bodies]] - places, forces)
    turns = frames @ matrices(layout.joints[:, 3:])
    return np.hstack([np.einsum("lij,li->lj", turns, one) for one in (forces, torques)])


def projected_forces(model: mujoco.MjModel, data: mujoco.MjData) -> np.ndarray:
    """What the joints' forces and torques are along each of MuJoCo's coordinates; arguments as above."""
    return np.einsum("di,di->d", data.cdof, data.cfrc_int[model.dof_bodyid])


def base_of(model: mujoco.MjModel, root: int) -> slice:
    """Places of a floating root among velocities."""
    start = int(model.body_dofadr[root])
    return slice(start, start + 6)
