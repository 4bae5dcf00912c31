"""Where joint axes stand in MuJoCo's arrays, and how its fields say what has no number."""

# MuJoCo ships no type stubs
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .own_library import mujoco

# half the play [rad or m] of an axis whose limits are equal: MuJoCo wants them apart
LOCKED = 1e-6
# a drive without force, [N·m or N]: MuJoCo takes 0 for no limit
NO_FORCE = 1e-300
# where the open end of a one-sided limit is put, out of reach [rad or m]
OPEN_END = 1e6


@dataclass(frozen=True)
class AxisAddress:
    """Where axes stand: among joints, in `qpos`, and in `qvel`."""

    joint: np.ndarray
    position: np.ndarray
    velocity: np.ndarray


def address_of(model: mujoco.MjModel, joints: Sequence[int]) -> AxisAddress:
    """The places of some hinges and slides of a model."""
    at = np.array(joints, np.int64)
    return AxisAddress(at, model.jnt_qposadr[at].astype(np.int64), model.jnt_dofadr[at].astype(np.int64))
