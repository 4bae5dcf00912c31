"""Addresses of joint axes in MuJoCo's arrays, model fields by environment, and MuJoCo's encodings of limits."""

# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import mujoco
else:
    # who has a model of MuJoCo has it, and the names of this package import without
    try:
        import mujoco
    except ModuleNotFoundError:
        mujoco = None

# half the play [rad or m] of an axis whose limits are equal: MuJoCo wants them apart
LOCKED = 1e-6
# a drive without force, [N·m or N]: MuJoCo takes 0 for no limit
NO_FORCE = 1e-300
# where the open end of a one-sided limit is put, out of reach [rad or m]
OPEN_END = 1e6
# default softness of constraints, taken as not chosen by the user
SOFTNESS = {"solref": (0.02, 1.0), "solimp": (0.9, 0.95, 0.001, 0.5, 2.0)}


@dataclass(frozen=True)
class AxisAddress:
    """Indices of axes among joints, in `qpos` and in `qvel`."""

    joint: np.ndarray
    position: np.ndarray
    velocity: np.ndarray


class Fields(ABC):
    """Fields of a model by environment."""

    @property
    def dt(self) -> float:
        """Physics step [s], the same in all environments."""
        return float(self.read("opt.timestep")[0])

    @functools.cached_property
    def unchosen(self) -> np.ndarray | None:
        """DOFs whose friction is as soft as by default, an environment a row, before anything is written; or None."""
        solref, solimp = ((self.read(f"dof_{name}") == values).all(axis=-1) for name, values in SOFTNESS.items())
        return found if (found := solref & solimp).any() else None

    @functools.cached_property
    def hardened(self) -> np.ndarray:
        """DOFs whose friction is to be hard even where it is the model's own, an environment a row; to be written."""
        return np.zeros(self.read("dof_frictionloss").shape, bool)

    @abstractmethod
    def read(self, name: str) -> np.ndarray:
        """Values of a field, an environment a row; not to be written."""

    @abstractmethod
    def former(self, name: str) -> np.ndarray:
        """Values of a field before anything was written."""

    @abstractmethod
    def own(self, name: str) -> np.ndarray:
        """Values of a field by environment, to be written; then call `written`."""

    @abstractmethod
    def written(self, name: str, envs: np.ndarray | slice) -> None:
        """Update the model's constants after a field was written."""


def address_of(model: mujoco.MjModel, joints: Sequence[int]) -> AxisAddress:
    """The places of some hinges and slides of a model."""
    at = np.array(joints, np.int64)
    return AxisAddress(at, model.jnt_qposadr[at].astype(np.int64), model.jnt_dofadr[at].astype(np.int64))


def parts_of_tendon(model: mujoco.MjModel, tendon: int) -> dict[int, float]:
    """Return coefficients of a fixed tendon by joint; empty for a tendon of another kind."""
    first, found = int(model.tendon_adr[tendon]), dict[int, float]()
    for part in range(first, first + int(model.tendon_num[tendon])):
        if mujoco.mjtWrap(model.wrap_type[part]).name != "mjWRAP_JOINT":
            return {}
        joint = int(model.wrap_objid[part])
        found[joint] = found.get(joint, 0.0) + float(model.wrap_prm[part])
    return found


def element_name(model: mujoco.MjModel, kind: str, number: int) -> str:
    """Name of an element of a model, a body or joint for example; one without a name is named by its number."""
    return getattr(model, kind)(int(number)).name or f"{kind}_{number}"
