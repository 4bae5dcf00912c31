"""Simulations of a model: `mujoco.batch.Batch` where MuJoCo has it as 4.0 has, or the part of it that is used here.

The latter runs `mj_step` for each simulation, in threads for several; one simulation has the same bits as in the batch.
"""

# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

import copy
import operator
import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import mujoco
import numpy as np

_STATE = mujoco.mjtState.mjSTATE_INTEGRATION
# components of the state in the order of their bits, by field of the data
_COMPONENTS = {
    **{"time": "TIME", "qpos": "QPOS", "qvel": "QVEL", "act": "ACT", "qacc_warmstart": "WARMSTART", "ctrl": "CTRL"},
    **{"qfrc_applied": "QFRC_APPLIED", "xfrc_applied": "XFRC_APPLIED", "eq_active": "EQ_ACTIVE"},
    **{"mocap_pos": "MOCAP_POS", "mocap_quat": "MOCAP_QUAT", "userdata": "USERDATA"},
}
# fields that `mj_setConst` computes
_CONSTANTS = (
    *("body_subtreemass", "body_invweight0", "dof_invweight0", "dof_M0", "tendon_length0", "tendon_lengthspring"),
    *("tendon_invweight0", "actuator_length0", "actuator_acc0", "actuator_biasprm", "cam_pos0", "cam_poscom0"),
    *("cam_mat0", "light_pos0", "light_poscom0", "light_dir0", "qpos_spring"),
)


class Loop:
    """Simulations of a copy of a model, with the names and meaning of `mujoco.batch.Batch`."""

    def __init__(self, model: mujoco.MjModel, nsim: int, nthread: int = 0) -> None:
        self.model, self.nsim = copy.copy(model), nsim
        count = min(nthread or os.cpu_count() or 1, nsim)
        self._datas = [mujoco.MjData(self.model) for _ in range(count)]
        self._pool = ThreadPoolExecutor(count) if count > 1 else None
        state = np.empty(mujoco.mj_stateSize(self.model, _STATE))
        mujoco.mj_getState(self.model, self._datas[0], state, _STATE)
        self.state = np.tile(state, (nsim, 1))
        self._outputs: dict[str, np.ndarray] = {}
        # fields of the model by simulation, and a model each once there are some
        self._own: dict[str, np.ndarray] = {}
        self._models: list[mujoco.MjModel] = []

    def bind(self, name: str) -> np.ndarray:
        """A field of the data by simulation: of the state a view, of anything else what the last call computed."""
        data = self._datas[0]
        shape = np.shape(getattr(data, name))
        if name in _COMPONENTS:
            bit = int(getattr(mujoco.mjtState, f"mjSTATE_{_COMPONENTS[name]}"))
            start = mujoco.mj_stateSize(self.model, int(_STATE) & (bit - 1))
            return self.state[:, start : start + mujoco.mj_stateSize(self.model, bit)].reshape(self.nsim, *shape)
        if name not in self._outputs:
            self._outputs[name] = np.zeros((self.nsim, *shape), np.asarray(getattr(data, name)).dtype)
        return self._outputs[name]

    def expand(self, name: str) -> np.ndarray:
        """A field of the model by simulation, to be written."""
        if name not in self._own:
            self._models = self._models or [copy.copy(self.model) for _ in range(self.nsim)]
            read = operator.attrgetter(name)
            self._own[name] = np.array([np.array(read(one)) for one in self._models])
        return self._own[name]

    def expanded(self, name: str) -> np.ndarray | None:
        """A field of the model by simulation, or None while all have the same."""
        return self._own.get(name)

    def set_const(self, ids: Iterable[int] | None = None) -> None:
        """Compute the constants of the model of simulations."""
        # without a field of its own there is one model
        names = [name for name in _CONSTANTS if hasattr(self.model, name)]
        for name in names:
            self.expand(name)
        for sim in range(self.nsim) if ids is None else ids:
            model = self.get_model(sim)
            mujoco.mj_setConst(model, mujoco.MjData(model))
            for name in names:
                self._own[name][sim] = getattr(model, name)

    def step(self, ids: np.ndarray | None = None, nstep: int = 1) -> None:
        """Step simulations, all by default."""

        def run(model: mujoco.MjModel, data: mujoco.MjData) -> None:
            mujoco.mj_step(model, data, nstep)

        self._run(run, ids)

    def forward(self, ids: np.ndarray | None = None, stage: int = int(mujoco.mjtStage.mjSTAGE_ACC)) -> None:
        """Compute the forward stages of simulations, all by default, up to one of them."""

        def run(model: mujoco.MjModel, data: mujoco.MjData) -> None:
            if stage >= int(mujoco.mjtStage.mjSTAGE_ACC):
                return mujoco.mj_forward(model, data)
            mujoco.mj_fwdPosition(model, data)
            mujoco.mj_sensorPos(model, data)
            if stage >= int(mujoco.mjtStage.mjSTAGE_VEL):
                mujoco.mj_fwdVelocity(model, data)
                mujoco.mj_sensorVel(model, data)

        self._run(run, ids)

    def get_data(self, sim: int) -> mujoco.MjData:
        """Data with the state of a simulation."""
        data = mujoco.MjData(self.model)
        mujoco.mj_setState(self.model, data, self.state[sim], _STATE)
        return data

    def get_model(self, sim: int) -> mujoco.MjModel:
        """The model of a simulation, with the fields of now."""
        if not self._models:
            return self.model
        model = self._models[sim]
        for name, values in self._own.items():
            owner, _, own = name.rpartition(".")
            where = operator.attrgetter(owner)(model) if owner else model
            if np.ndim(values[sim]):
                getattr(where, own)[...] = values[sim]
            else:
                setattr(where, own, values[sim].item())
        return model

    def _run(self, act: Callable[[mujoco.MjModel, mujoco.MjData], None], ids: np.ndarray | None) -> None:
        """Let a function act on simulations, and take over what it leaves."""
        sims = range(self.nsim) if ids is None else np.asarray(ids).tolist()

        def part(thread: int) -> None:
            data = self._datas[thread]
            for sim in sims[thread :: len(self._datas)]:
                model = self.get_model(sim)
                mujoco.mj_setState(model, data, self.state[sim], _STATE)
                act(model, data)
                mujoco.mj_getState(model, data, self.state[sim], _STATE)
                for name, values in self._outputs.items():
                    values[sim] = getattr(data, name)

        if self._pool is None:
            part(0)
        else:
            list(self._pool.map(part, range(len(self._datas))))


try:
    from mujoco.batch import Batch as _Batch
except ModuleNotFoundError as error:
    # another name is that of a broken wheel
    if error.name != "mujoco.batch":
        raise
    _Batch = Loop
# those of 3.17 do not tell what differs between simulations
Batch: Any = _Batch if hasattr(_Batch, "expanded") else Loop
"""What runs simulations."""
