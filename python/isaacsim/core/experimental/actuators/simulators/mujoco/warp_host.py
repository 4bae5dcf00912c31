"""MuJoCo Warp as the physics of a robot that MuJoCo's host reads: same model, same properties, steps of mujoco_warp.

It runs on the CPU, in single precision and in one environment, for comparisons of simulators.
"""

# pyright: reportAttributeAccessIssue=false, reportMissingImports=false

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np
import warp as wp

from ...base.errors import HostError
from .host import MujocoHost
from .switches import WITHOUT_FORCE

if TYPE_CHECKING:
    from ...files.usd.handles import Stage
    from ..scene.scene import Scene
    from .simulations import Batch

_IN = ("qpos", "qvel", "ctrl", "qfrc_applied")
_OUT = ("qpos", "qvel", "qfrc_actuator", "sensordata")
# state beside motion, which a model may have none of: a reset puts it back, and a model that changes keeps it
_STATE = ("act", "history", "plastic")
_MODULE = "mujoco_warp"


class MujocoWarpHost(MujocoHost):
    """`MujocoHost` stepped by mujoco_warp; a `HostError` without it, for several environments or unknown elements."""

    engine = "MuJoCo Warp"

    def __init__(self, source: Scene | Stage, dt: float, num_envs: int, **options: Any) -> None:
        if num_envs != 1:
            raise HostError(f"num_envs = {num_envs}: must be 1 with engine='mujoco_warp'. Use engine='mujoco'.")
        self._library = mujoco_warp_for("engine = 'mujoco_warp'")
        super().__init__(source, dt, num_envs, **options)

    def _open_batch(self) -> Batch:
        self._packed, self._worlds = b"", None
        batch = super()._open_batch()
        # those of the batch are read-only
        self._outputs = drive, sensors = [np.array(one) for one in self._outputs]
        self._bound = {
            "qpos": self._qpos,
            "qvel": self._qvel,
            "ctrl": self._ctrl,
            "qfrc_applied": self._applied,
            "qfrc_actuator": drive,
            "sensordata": sensors,
        }
        states = {name: batch.bind(name) for name in _STATE}
        self._states = [name for name, values in states.items() if values.size]
        self._bound |= states
        return batch

    def _step_batch(self, batch: Batch, count: int) -> None:
        with wp.ScopedDevice("cpu"):
            model, data = self._of_now(batch)
            for name in (*_IN, *self._states):
                getattr(data, name).assign(np.ascontiguousarray(self._bound[name], np.float32))
            for _ in range(count):
                self._library.step(model, data)
            # as in MuJoCo, that of a disabled actuator stays
            still = self._bound["act"][:, self._silent_acts].copy()
            for name in (*_OUT, *self._states):
                self._bound[name][:] = getattr(data, name).numpy()
            self._bound["act"][:, self._silent_acts] = still
        self._update_signals(np.arange(1))

    def _of_now(self, batch: Batch) -> tuple[Any, Any]:
        """Model and data of mujoco_warp for the model as it is now: properties may have changed since a step."""
        model = batch.get_model(0)
        # it never resets by itself, and refuses the flag
        model.opt.disableflags &= ~int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
        # nor has it disabled groups of actuators
        disabled = (1 << np.clip(model.actuator_group, 0, 31)) & model.opt.disableactuator != 0
        for name, value in WITHOUT_FORCE.items():
            getattr(model, name)[disabled] = value
        packed = np.empty(mujoco.mj_sizeModel(model), np.uint8)
        mujoco.mj_saveModel(model, None, packed)
        if self._worlds is None or packed.tobytes() != self._packed:
            try:
                there = self._library.put_model(model), self._library.put_data(model, batch.get_data(0), nworld=1)
            except (NotImplementedError, ValueError) as error:
                raise HostError(f"mujoco_warp cannot simulate this robot: {error} Use engine='mujoco'.") from error
            self._worlds, self._packed = there, packed.tobytes()
            ranges = zip(model.actuator_actadr[disabled], model.actuator_actnum[disabled], strict=True)
            self._silent_acts = [first + k for first, count in ranges for k in range(count)]
        return self._worlds


def mujoco_warp_for(subject: str) -> ModuleType:
    """Return mujoco_warp; if it is not installed, raise a `HostError` that begins with the subject it is for."""
    try:
        import mujoco_warp
    except ModuleNotFoundError as missing:
        if missing.name != _MODULE:
            raise
        major = mujoco.__version__.rpartition(".")[0]
        raise HostError(
            f"{subject} needs mujoco_warp, which is not installed. Run `pip install "
            f"'mujoco-warp~={major}.0'`: its version is that of MuJoCo."
        ) from missing
    return mujoco_warp
