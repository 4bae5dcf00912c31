"""Types of MuJoCo for annotations outside this folder, which alone imports MuJoCo."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import mujoco

    MjData: TypeAlias = mujoco.MjData
    MjModel: TypeAlias = mujoco.MjModel
