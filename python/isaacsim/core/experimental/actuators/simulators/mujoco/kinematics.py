"""Poses and velocities of bodies, environment by environment.

This is MuJoCo's forward kinematics and nothing else: `mujoco.batch.Batch.forward` finds contacts and builds constraints
too, and what is bound of a batch is copied in every step.
"""

# MuJoCo ships no type stubs
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

import copy

import mujoco
import numpy as np

from .fields import ModelFields

# each axis, and the two whose cross product it is
CYCLES = ((0, 1, 2), (1, 2, 0), (2, 0, 1))


class Kinematics:
    """The bodies of a model.

    Args:
        model: The model; bodies may be placed elsewhere in some environments.
    """

    def __init__(self, model: mujoco.MjModel) -> None:
        self._model, self._data = copy.copy(model), mujoco.MjData(model)

    def poses(self, fields: ModelFields, envs: np.ndarray, qpos: np.ndarray) -> np.ndarray:
        """Position and quaternion of each body, `(environments, bodies, 7)`.

        Args:
            fields: Of the model.
            envs: Environments asked for.
            qpos: Positions of all environments.
        """
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
        """Linear velocity of the center of mass, and angular velocity, of each body, `(environments, bodies, 6)`.

        Args:
            fields: Of the model.
            envs: Environments asked for.
            qpos: Positions of all environments.
            qvel: Velocities of all environments.
        """
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
