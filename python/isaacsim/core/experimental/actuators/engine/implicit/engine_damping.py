"""Efforts of the end of the step of which the simulator takes over the slope, `ImplicitConfig.in_engine`.

Of each such joint the law leaves a damping d and the effort p at a final velocity of zero. The simulator gets, for the
coming physics step, the effort p − d·v and h·d more armature; `laws/implicit_effort.py` says why. Those of a shaft
that moves several joints are the effort Gᵀ·(p − d·v) at these, and an armature of the tendon that the shaft is in the
simulator. In NumPy, on the CPU.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.errors import HostError
from ...base.memory import numpy_view
from ...laws.implicit_effort import ImplicitEffort
from .damping_requests import joints_in_engine, subject_of

if TYPE_CHECKING:
    import warp as wp

    from ..assembly import Assembly
    from ..entry import ActuatorEntry
    from ..plan import Row
    from ..step.interface import Step

_VELOCITY = 1
_STATES = [ImplicitEffort.STATE.index(name) for name in ("previous_velocity", "previous_effort", "engine_damping")]


@dataclass(frozen=True, eq=False)
class _Part:
    """The effort modes of one step."""

    step: Step
    law: int
    slots: np.ndarray
    columns: np.ndarray
    in_engine: Row
    shafts: np.ndarray | None
    """Angles of shafts per position of each joint of the step, `(joints, joints)`; None without linkages."""
    together: np.ndarray
    """True for joints of one linkage, likewise."""

    def is_handed(self) -> np.ndarray:
        """True for the joints whose damping the simulator computes, `(robots, joints)`."""
        return self.step.values(self.in_engine)[:, self.slots] > 0.5

    @functools.cached_property
    def of_tendons(self) -> np.ndarray:
        """True for the shafts that are tendons of the simulator: those that were handed over at first, `(joints,)`."""
        return np.asarray(self.is_handed().any(axis=0))

    def states(self) -> Iterator[np.ndarray]:
        """Velocity at the start of the last step without a fault, effort and damping, each `(robots, joints)`."""
        arrays = self.step.now.laws[self.law]
        return (numpy_view(arrays[at]).reshape(self.step.plan.num_robots, -1) for at in _STATES)


class EngineDamping:
    """Hands over to the simulator after each step of the actuators."""

    def __init__(self, assembly: Assembly, articulation: Any) -> None:
        self._assembly, self._articulation = assembly, articulation
        self._parts = [one for part in assembly.parts for one in _parts_of(part, assembly.columns)]
        self._joints = [part for part in self._parts if part.shafts is None]
        self._linked = [part for part in self._parts if part.shafts is not None and part.of_tendons.any()]
        self._columns = np.concatenate([np.zeros(0, int), *(part.columns for part in self._joints)])
        rows = [np.zeros((0, int(self._articulation.num_dofs) if self._linked else 0))]
        for part in self._linked:
            mine: Any = part.shafts
            mine = mine[part.of_tendons]
            rows.append(np.zeros((len(mine), rows[0].shape[1])))
            rows[-1][:, part.columns] = mine
        self._shafts = np.concatenate(rows)

    @property
    def has_shafts(self) -> bool:
        """True if there are shafts of several joints among them."""
        return len(self._shafts) > 0

    def before(self) -> None:
        """Nothing is to be done before a step."""

    def after(self, dt: float) -> None:
        """Replace the efforts, and set the armatures of the coming physics step."""
        binding = self._assembly.bound[0]
        efforts, inputs = numpy_view(binding.efforts), [numpy_view(one) for one in binding.inputs]
        armatures, of_shafts = [], [self._after_linkage(part, dt, efforts, inputs) for part in self._linked]
        for part in self._joints:
            velocities = inputs[_VELOCITY][:, part.columns]
            stepped, whole, damping = part.states()
            # a joint with a fault has no effort, and the states of a step before
            good = part.is_handed() & (damping > 0.0) & (stepped == velocities)
            for one in inputs:
                good &= np.isfinite(one[:, part.columns])
            with np.errstate(invalid="ignore", over="ignore"):
                handed = whole - damping.astype(np.float64) * velocities
            efforts[:, part.columns] = np.where(good, handed, efforts[:, part.columns])
            armatures.append(np.where(good, dt * damping, 0.0))
        if armatures:
            self._set(np.concatenate(armatures, axis=1))
        if len(self._shafts):
            self._set_shafts(np.concatenate(of_shafts, axis=1))

    def _after_linkage(self, part: _Part, dt: float, efforts: np.ndarray, inputs: Sequence[np.ndarray]) -> np.ndarray:
        """Replace the efforts of joints that shafts move, and return the armatures of those that are handed over."""
        slopes: Any = part.shafts
        joints, (stepped, whole, damping) = inputs[_VELOCITY][:, part.columns].astype(np.float64), part.states()
        # what is not finite is of its linkage alone
        joints = np.where(np.isfinite(joints), joints, 0.0)
        with np.errstate(invalid="ignore", over="ignore"):
            velocities = joints @ slopes.T
            good = np.abs(stepped - velocities) <= 1e-5 * (np.abs(joints) @ np.abs(slopes.T))
            for one in inputs:
                good &= np.isfinite(one[:, part.columns])
            # a fault of one is one of all joints of its linkage
            good = ~(~good @ part.together)
            handed = np.where(
                part.is_handed() & part.of_tendons & good & (damping > 0.0), damping.astype(np.float64), 0.0
            )
            pulled = np.where(good, whole - handed * velocities, 0.0) @ slopes
        mine = handed @ part.together > 0.0
        efforts[:, part.columns] = np.where(mine, pulled, efforts[:, part.columns])
        return dt * handed[:, part.of_tendons]

    def reset(self, robots: Sequence[int] | wp.array | None) -> None:
        """Take it back; the next step hands over again."""
        self.take_back()

    def take_back(self) -> None:
        """Leave the joints the armatures that they have of their own, as far as physics runs."""
        if self._articulation.is_physics_tensor_entity_valid():
            if self._joints:
                self._set(np.zeros((self._assembly.num_robots, len(self._columns))))
            if self._linked:
                self._set_shafts(np.zeros((self._assembly.num_robots, len(self._shafts))))

    def _set(self, armatures: np.ndarray) -> None:
        self._articulation.set_step_armatures(armatures.astype(np.float32), dof_indices=self._columns)

    def _set_shafts(self, armatures: np.ndarray) -> None:
        self._articulation.set_step_tendon_armatures(armatures, self._shafts)


def hand_damping_over(
    assembly: Assembly, articulation: object, entries: Sequence[ActuatorEntry]
) -> EngineDamping | None:
    """Have the simulator take over how efforts fall with the final velocity, where configs say so."""
    if not (joints := joints_in_engine(entries)):
        return None
    subject = subject_of(joints)
    if not getattr(articulation, "takes_step_armatures", False):
        raise HostError(
            f"{subject} must be False on {type(articulation).__name__}, which takes no armatures per physics step. Set "
            "it to False, or use a Simulation on MuJoCo or PhysX."
        )
    if not assembly.device.is_cpu:
        raise HostError(f"{subject} the arrays are on {assembly.device}: must be in CPU memory. Set it to False.")
    watcher = EngineDamping(assembly, articulation)
    if watcher.has_shafts and not hasattr(articulation, "set_step_tendon_armatures"):
        raise HostError(
            f"{subject} must be False for motors with a linkage on {type(articulation).__name__}, which takes no "
            "armatures of tendons. Set it to False, or use a Simulation on MuJoCo."
        )
    assembly.watch(watcher)
    return watcher


def _parts_of(part: tuple[list[int], Any], columns: Sequence[int]) -> Iterator[_Part]:
    """The effort modes of a step."""
    joints, step = part
    for number, having, rows in step.plan.uses_of(ImplicitEffort):
        places = np.array([columns[joints[slot]] for slot in having], int)
        slopes, together = step.plan.shafts
        yield _Part(step, number, having, places, rows["in_engine"], slopes if step.plan.linkages else None, together)
