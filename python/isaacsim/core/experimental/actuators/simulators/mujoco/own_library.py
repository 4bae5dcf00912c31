"""MuJoCo where it is installed: who has a model of it has it, and the names of this package import without."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import mujoco
else:
    try:
        import mujoco
    except ModuleNotFoundError:
        mujoco = None
