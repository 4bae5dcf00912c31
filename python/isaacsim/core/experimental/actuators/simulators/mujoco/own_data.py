"""A user's MuJoCo data as environments: several `MjData` of one model, or a `mujoco.batch.Batch`.

What is changed of a model here, its actuators switched off or a property of a joint set, is given back by `restore`.
"""

# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.errors import HostError
from .address import Fields, mujoco
from .fields import CONSTANTS
from .joint_signals import COMPUTED
from .switches import Switches

if TYPE_CHECKING:
    from mujoco.batch import Batch


class DataList:
    """Environments that are `MjData` of one model, which they share."""

    def __init__(self, model: mujoco.MjModel, datas: Sequence[mujoco.MjData]) -> None:
        self.model, self._datas, self.count = model, list(datas), len(datas)
        self.fields = _SharedFields(model, self.count)
        # of signals that the data do not have
        self._scratch: Any = None

        def write_bits(bits: np.ndarray) -> None:
            model.opt.disableactuator = int(bits[0])

        self._switches = Switches(
            lambda: model.actuator_group[None], lambda: np.array([model.opt.disableactuator]), write_bits
        )

    @property
    def dt(self) -> float:
        """Physics step [s]."""
        return self.model.opt.timestep

    def blocks(self, name: str) -> list[tuple[int, np.ndarray]]:
        """A field of the data in place: pieces `(environments, columns)`, and the first environment of each."""
        return [(env, getattr(data, name)[None]) for env, data in enumerate(self._datas)]

    def step(self) -> None:
        """One physics step of every environment."""
        for data in self._datas:
            mujoco.mj_step(self.model, data)

    def compute(self, envs: np.ndarray) -> None:
        """Fill the fields of the data that signals of joints come from, at the state now; no other field is written."""
        if self._scratch is None:
            self._scratch = mujoco.MjData(self.model)
        there = self._scratch
        for env in envs:
            data = self._datas[env]
            for name in ("qpos", "qvel"):
                getattr(there, name)[:] = getattr(data, name)
            mujoco.mj_fwdPosition(self.model, there)
            mujoco.mj_comVel(self.model, there)
            mujoco.mj_rne(self.model, there, 0, there.qfrc_bias)
            for name in COMPUTED:
                getattr(data, name)[:] = getattr(there, name)

    def reset(self, envs: np.ndarray, key: int) -> None:
        """Put environments back to a keyframe, or to the model's defaults where it is negative."""
        for env in envs:
            # no keyframe of that number is the defaults
            mujoco.mj_resetDataKeyframe(self.model, self._datas[env], key)

    def switch_off(self, off: np.ndarray) -> None:
        """Switch exactly these actuators off, `(environments, actuators)`; off in one data is off in all."""
        self._switches.set(np.asarray(off.any(axis=0))[None])

    def restore(self) -> None:
        """Give everything back that was changed of the model."""
        self._switches.set(np.zeros((1, len(self.model.actuator_group)), bool))
        self.fields.restore()


class BatchData:
    """Simulations of a batch, with a model each; a `ValueError` for different steps, a `HostError` below MuJoCo 4."""

    def __init__(self, batch: Batch) -> None:
        if not hasattr(batch, "expanded"):
            raise HostError(
                f"data is a batch of MuJoCo {mujoco.__version__}, which does not tell what its simulations have of "
                "their own: must be of MuJoCo 4 or later. Run `pip install 'mujoco>=4'`, or give a list of MjData."
            )
        self.model, self._batch, self.count = batch.model, batch, batch.nsim
        self.fields = _BatchFields(batch)
        # the batch has a copy of the model of its own
        steps = np.unique(self.fields.read("opt.timestep"))
        if len(steps) > 1:
            raise ValueError(
                f"opt.timestep of the batch is {steps[0]:g} … {steps[-1]:g} s: must be the same in all simulations, "
                "which are stepped together. Make it one."
            )
        self.dt = self.fields.dt
        bits = batch.expand("opt.disableactuator")

        def write_bits(values: np.ndarray) -> None:
            bits[:] = values

        groups = batch.expand("actuator_group")
        self._switches = Switches(lambda: groups, bits.copy, write_bits)

    def blocks(self, name: str) -> list[tuple[int, np.ndarray]]:
        """A field of the state in place, as one piece."""
        return [(0, self._batch.bind(name))]

    def step(self) -> None:
        """One physics step of every environment."""
        self._batch.step()

    def compute(self, envs: np.ndarray) -> None:
        """Fill the fields of the data that signals of joints come from, at the state now."""
        self._batch.forward(ids=envs, stage=int(mujoco.mjtStage.mjSTAGE_VEL))

    def reset(self, envs: np.ndarray, key: int) -> None:
        """Put environments back to a keyframe, or to the model's defaults where it is negative."""
        self._batch.reset(ids=envs, keyframe=key, stage=mujoco.mjtStage.mjSTAGE_NONE)

    def switch_off(self, off: np.ndarray) -> None:
        """Switch exactly these actuators off, `(environments, actuators)`."""
        self._switches.set(off)

    def restore(self) -> None:
        """Give everything back that was changed of the models."""
        self._switches.set(np.zeros((self.count, len(self.model.actuator_group)), bool))
        self.fields.restore()


class _SharedFields(Fields):
    """The fields of one model, by environments that share it."""

    def __init__(self, model: mujoco.MjModel, count: int) -> None:
        self._model, self._count = model, count
        self._former: dict[str, np.ndarray] = {}

    def read(self, name: str) -> np.ndarray:
        """Values of a field, an environment a row; not to be written."""
        return self._rows(self._value(name))

    def former(self, name: str) -> np.ndarray:
        """Values of a field before anything was written."""
        return self._rows(self._former[name] if name in self._former else self._value(name))

    def own(self, name: str) -> np.ndarray:
        """Values of a field to be written, the same memory in each row; then call `written`."""
        value = getattr(self._model, name)
        self._former.setdefault(name, value.copy())
        return np.lib.stride_tricks.as_strided(value, (self._count, *value.shape), (0, *value.strides))

    def written(self, name: str, envs: np.ndarray | slice) -> None:
        """Update the model's constants after a field was written."""
        if name not in CONSTANTS:
            return
        before = {other: value.copy() for other, value in _arrays(self._model)}
        mujoco.mj_setConst(self._model, mujoco.MjData(self._model))
        for other, value in _arrays(self._model):
            if not np.array_equal(value, before[other], equal_nan=True):
                self._former.setdefault(other, before[other])

    def restore(self) -> None:
        """Write back what every field was before."""
        for name, value in self._former.items():
            getattr(self._model, name)[:] = value
        self._former.clear()

    def _value(self, name: str) -> np.ndarray:
        return np.asarray(operator.attrgetter(name)(self._model))

    def _rows(self, value: np.ndarray) -> np.ndarray:
        return np.broadcast_to(value, (self._count, *value.shape))


class _BatchFields(Fields):
    """The fields of the models of a batch."""

    def __init__(self, batch: Batch) -> None:
        self._batch = batch
        self._former: dict[str, np.ndarray] = {}

    def read(self, name: str) -> np.ndarray:
        """Values of a field, an environment a row; not to be written."""
        if (own := self._batch.expanded(name)) is not None:
            return own
        value = np.asarray(operator.attrgetter(name)(self._batch.model))
        return np.broadcast_to(value, (self._batch.nsim, *value.shape))

    def former(self, name: str) -> np.ndarray:
        """Values of a field before anything was written."""
        return self._former[name] if name in self._former else self.read(name)

    def own(self, name: str) -> np.ndarray:
        """Values of a field to be written; then call `written`."""
        values = self._batch.expand(name)
        self._former.setdefault(name, values.copy())
        return values

    def written(self, name: str, envs: np.ndarray | slice) -> None:
        """Update the models' constants after a field was written."""
        if name in CONSTANTS:
            self._batch.set_const(None if isinstance(envs, slice) else np.unique(envs))

    def restore(self) -> None:
        """Write back what every field was before."""
        for name, values in self._former.items():
            self._batch.expand(name)[:] = values
        for name in self._former:
            self.written(name, np.arange(self._batch.nsim))
        self._former.clear()


def _arrays(model: mujoco.MjModel) -> list[tuple[str, np.ndarray]]:
    """The numeric arrays of a model, in place."""
    names = [name for name in dir(model) if not name.startswith("_")]
    return [(name, value) for name in names if isinstance(value := getattr(model, name), np.ndarray)]
