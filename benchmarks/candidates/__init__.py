"""All candidates, one file per library; a file is imported only if its library is installed."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..problem import Problem

# not peers: measured memory bandwidth, array transfer to physics, and this project's alternative
STREAM, PASSING, TICK = "stream", "refresh and commit", "wrapper's tick"
NO_RIVALS = STREAM, PASSING, TICK


class Candidate:
    """An implementation of the efforts of one problem."""

    step: Callable[[], Any]
    """Compute the efforts of the current inputs; this call is timed."""
    efforts: np.ndarray
    """Return the efforts, shape `(robots, columns)`."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    def take_inputs(self) -> None:
        """Update inputs that are not read in place; called after the problem's inputs change."""

    def comparable(self, step: int) -> Any:
        """Return the `(robots, joints)` at which the law of this step equals ours, all by default."""
        return True

    def close(self) -> None:
        """Release resources at the end."""


@dataclass(frozen=True)
class Known:
    """Name, module and note of a candidate.

    Args:
        name: Short name.
        module: File of this folder.
        kind: Class in it.
        note: The timed code; notes a reimplementation.
    """

    name: str
    module: str
    kind: str
    note: str

    OURS: ClassVar[str] = "ours"

    def load(self) -> type[Candidate]:
        """Return the class.

        Raises:
            ImportError: The library is not installed.
        """
        return getattr(importlib.import_module(f".{self.module}", __package__), self.kind)


ENGINES = (
    Known(Known.OURS, "ours", "OurEngine", "the engine bound to the arrays; writes efforts, detects faults"),
    Known("newton per joint", "newton_18", "NewtonPerJoint", "newton 1.8, one object per joint, as in Isaac Sim"),
    Known("newton one object", "newton_18", "NewtonPerLaw", "newton 1.8, one object per kind of joint: its best use"),
    Known("newton CPU graph", "newton_18", "NewtonGraph", "the same, replayed as a Warp CPU graph"),
    Known(
        "newton-actuators",
        "newton_actuators",
        "NewtonActuators",
        "newton-actuators 0.1.1, one object per kind; its table has a delay of one step; compared with float64 "
        "where both laws agree: once its delay is full, below the no-load speed, and with the table when targets hold",
    ),
    Known("Torch", "torch_lab", "TorchLab", "reimplementation of Isaac Lab's explicit actuators in eager Torch"),
    Known(
        "NumPy", "numpy_vectorised", "NumpyVectorised", "reimplementation in vectorized NumPy; one lag for all robots"
    ),
)

ARRAYS_TICKS = (
    Known(Known.OURS, "ticks", "ArraysTick", "ArticulationActuators.step_actuators on arrays"),
    Known(
        "Isaac Sim per joint",
        "isaac_tick",
        "IsaacPerJoint",
        "a reimplementation of Isaac Sim's tick with newton 1.8, one object per joint; getters have no cost here",
    ),
    Known("Isaac Sim one object", "isaac_tick", "IsaacPerLaw", "the same tick, one newton object per kind of joint"),
)

MUJOCO_TICKS = (
    Known(Known.OURS, "ticks", "MujocoTick", "refresh from MuJoCo, step_actuators, commit to MuJoCo; no physics"),
    Known(
        "Isaac Sim per joint",
        "isaac_tick",
        "MujocoIsaacPerJoint",
        "the reimplemented tick with the same refresh and commit",
    ),
    Known(PASSING, "ticks", "MujocoPassing", "refresh and commit alone, in percent of our time"),
)

ACTUATORS = (
    Known(Known.OURS, "ours", "OurActuator", "a call of Actuator.step, one object for all joints; adds to the efforts"),
    Known("newton one object", "newton_18", "NewtonObject", "a call of newton 1.8's Actuator.step, on the same arrays"),
    Known(TICK, "ticks", "ArraysTick", "ArticulationActuators.step_actuators on arrays, in percent of our time"),
)

SECTIONS = {
    "engine": ("Engine: one step on arrays", ENGINES),
    "arrays": ("Wrapper: one tick on arrays", ARRAYS_TICKS),
    "mujoco": ("Wrapper: one tick on MuJoCo, without its physics", MUJOCO_TICKS),
    "actuator": ("Actuator: one step of the public object", ACTUATORS),
}
"""Title and candidates of each part of a run."""
