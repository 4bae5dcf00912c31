"""Everything that is measured, one file per library; a file is imported only where its library is installed."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..problem import Problem

# no rivals: measured memory bandwidth, passing arrays to physics, and this project's other way
STREAM, PASSING, TICK = "stream", "refresh and commit", "wrapper's tick"
NO_RIVALS = STREAM, PASSING, TICK


class Candidate:
    """One way of computing the efforts of a problem, built for it and nothing else."""

    step: Callable[[], Any]
    """Compute the efforts of the inputs as they are now; this is what is timed."""
    efforts: np.ndarray
    """The efforts, shape `(robots, columns)`."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    def take_inputs(self) -> None:
        """Called when the problem's inputs have changed; only what does not read them in place has to do something."""

    def comparable(self, step: int) -> Any:
        """For which `(robots, joints)` the law of this step is the same as ours, all by default."""
        return True

    def close(self) -> None:
        """Called at the end."""


@dataclass(frozen=True)
class Known:
    """A candidate as tables and notes name it.

    Args:
        name: Short name.
        module: File of this folder.
        kind: Class in it.
        note: What is timed, and what is a restatement.
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
    Known(Known.OURS, "ours", "OurEngine", "the engine bound to the arrays; writes efforts, guards against faults"),
    Known("newton per joint", "newton_18", "NewtonPerJoint", "newton 1.8, one object per joint as Isaac Sim has it"),
    Known("newton one object", "newton_18", "NewtonPerLaw", "newton 1.8, one object per kind of joint: its best use"),
    Known("newton CPU graph", "newton_18", "NewtonGraph", "the same, replayed as a Warp CPU graph"),
    Known(
        "newton-actuators",
        "newton_actuators",
        "NewtonActuators",
        "newton-actuators 0.1.1, one object per kind; its table comes with a delay of one step; compared with float64 "
        "where both laws agree: once its delay is full, below the no-load speed, and with the table when targets hold",
    ),
    Known("Torch", "torch_lab", "TorchLab", "a restatement of Isaac Lab's explicit actuators in eager Torch"),
    Known("NumPy", "numpy_vectorised", "NumpyVectorised", "a restatement in vectorised NumPy; one lag for all robots"),
)

ARRAYS_TICKS = (
    Known(Known.OURS, "ticks", "ArraysTick", "ArticulationActuators.step_actuators on arrays"),
    Known(
        "Isaac Sim per joint",
        "isaac_tick",
        "IsaacPerJoint",
        "a restatement of Isaac Sim's tick over newton 1.8, one object per joint; getters cost nothing here",
    ),
    Known("Isaac Sim one object", "isaac_tick", "IsaacPerLaw", "the same tick, one newton object per kind of joint"),
)

MUJOCO_TICKS = (
    Known(Known.OURS, "ticks", "MujocoTick", "refresh from MuJoCo, step_actuators, commit to MuJoCo; no physics"),
    Known(
        "Isaac Sim per joint",
        "isaac_tick",
        "MujocoIsaacPerJoint",
        "the restated tick with the same refresh and commit",
    ),
    Known(PASSING, "ticks", "MujocoPassing", "these two alone, in percent of our time"),
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
