"""Derived quantities of MuJoCo for the states of many environments, computed in its own threads.

The batch is apart from that of the physics: what is bound of a batch is copied in every step.
"""

# MuJoCo ships no type stubs
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

import copy
from collections.abc import Sequence
from types import SimpleNamespace

import mujoco
import numpy as np
from mujoco.batch import Batch

from .fields import ModelFields
from .user_warnings import ignore, warnings_to

# AUTORESET would reset a state that is not finite
_OFF = ("CONTACT", "CONSTRAINT", "SENSOR", "ACTUATION", "SPRING", "DAMPER", "AUTORESET")


class Forward:
    """Forward stages without contacts, constraints, springs and gravity.

    Args:
        model: What the environments are copies of.
        num_envs: Number of environments.
        stage: Last stage that is computed, an `mjtStage`.
        outputs: Fields of MuJoCo's data that are read.
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
        """The outputs by name, valid until the next call; rows are all environments, computed are those asked for.

        The same state again takes no time while bodies are those of the model.

        Args:
            fields: Of the model, whose masses, inertias and places of bodies are taken.
            envs: Environments asked for, sorted, each once.
            qpos: Positions of all environments.
            qvel: Velocities of all environments.
        """
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
