"""Dry friction of coupled joints, solved together with the mass matrix of the robot.

A friction stage computes its joint alone, with the effective inertia. Joints of a light chain, which move each other
more than themselves, then come to rest late. With `FrictionConfig(sweeps=n)`, each step continues from the efforts that
the laws have found:

    v_f = 2v − v′ + h·A·(u − u′)               velocities after the step if dry friction stayed, A = M⁻¹
    n times, joint by joint:
        f_i⁺ = clip(f_i − v_i/(h·A_ii), −F_i, F_i);   v ← v + h·A_i·(f_i⁺ − f_i)

f, u and v′ are the dry friction, the other efforts and the velocities of the step before, F the level that the law of
the joint gives. Other joints of the robot take part with their efforts. After a reset v′ and u′ are those of the step.
Source: projected Gauss–Seidel iteration (Acary and Brogliato, Numerical Methods for Nonsmooth Dynamical Systems, 2008).
"""

# type checkers do not know the results of wp.func and the arrays of kernels
# pyright: reportArgumentType=false, reportIndexIssue=false, reportCallIssue=false

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import warp as wp

from ...base.errors import HostError
from ...base.memory import numpy_view
from ...base.values import as_numpy
from ...laws.contract.coupling import inverses_of
from ...laws.passive_friction import PassiveFriction, friction_level, friction_prepare
from ..step.state import mask_of

if TYPE_CHECKING:
    from ..assembly import Assembly
    from ..plan import Row
    from ..step.interface import Step

_VELOCITY = 1
_DRY = PassiveFriction.STATE.index("dry_effort")


class Robots(Protocol):
    """The part of an articulation that friction with sweeps reads, beside `get_mass_matrices`, which some lack."""

    @property
    def num_dofs(self) -> int:
        """Number of degrees of freedom of each robot."""
        ...


def swept(dry: np.ndarray, velocities: np.ndarray, response: np.ndarray, levels: np.ndarray, sweeps: int) -> np.ndarray:
    """Return dry friction `(robots, joints)` after some sweeps of projected Gauss–Seidel iteration.

    The iteration begins at `dry`; the velocities are those after the step with `dry`; the response is `h·M⁻¹`,
    `(robots, joints, joints)`; friction stays within the levels.
    """
    dry, velocities = dry.copy(), velocities.copy()
    for _ in range(sweeps):
        for joint in range(dry.shape[1]):
            wanted = dry[:, joint] - velocities[:, joint] / response[:, joint, joint]
            change = np.clip(wanted, -levels[:, joint], levels[:, joint]) - dry[:, joint]
            dry[:, joint] += change
            velocities += response[:, :, joint] * change[:, None]
    return dry


@dataclass(frozen=True, eq=False)
class _Stage:
    """Friction stages of one step that are solved together."""

    step: Step
    rows: Mapping[str, Row]
    law: int  # number among those with a state
    places: np.ndarray  # of their joints among those with the law
    slots: np.ndarray  # in the step
    columns: np.ndarray  # in the articulation

    def dry(self) -> np.ndarray:
        """Dry friction that the step has stored, live, `(robots, joints with the law)`."""
        return numpy_view(self.step.now.laws[self.law][_DRY]).reshape(self.step.plan.num_robots, -1)

    def parameters(self) -> list[np.ndarray]:
        """Values of the law's parameters, each `(robots, joints)`."""
        return [self.step.values(self.rows[name])[:, self.slots] for name in PassiveFriction.PARAMETERS]


class CoupledFriction:
    """Solves friction of coupled joints after each step; joints with 0 sweeps are left to their law."""

    def __init__(self, assembly: Assembly, articulation: Robots, sweeps: Sequence[int]) -> None:
        joints = ", ".join(name for name, number in zip(assembly.dof_names, sweeps, strict=True) if number)
        subject, remedy = f"FrictionConfig.sweeps = {max(sweeps)} of joints {joints}", "Set sweeps to 0."
        if not hasattr(articulation, "get_mass_matrices"):
            raise HostError(
                f"{subject}: {type(articulation).__name__} gives no mass matrices, which it needs. {remedy}"
            )
        if not assembly.device.is_cpu:
            raise HostError(f"{subject}: the arrays are on {assembly.device}: must be in CPU memory. {remedy}")
        self._assembly, self._articulation = assembly, articulation
        self._sweeps = max(sweeps)
        self._stages = [stage for part in assembly.parts for stage in _stages_of(part, assembly, sweeps)]
        self._columns = np.concatenate([stage.columns for stage in self._stages])
        shape = assembly.num_robots, articulation.num_dofs
        # of the step before; NaN where there was none
        self._efforts, self._velocities = np.full(shape, np.nan), np.full(shape, np.nan)
        self._dry = np.zeros((assembly.num_robots, len(self._columns)))

    def before(self) -> None:
        """Store the dry friction of the step before."""
        self._dry = self._stored()

    def after(self, dt: float) -> None:
        """Replace the dry friction that the laws have found, in efforts and states."""
        binding = self._assembly.bound[0]
        efforts = numpy_view(binding.efforts)
        velocities = numpy_view(binding.inputs[_VELOCITY]).astype(np.float64)
        found = self._stored()
        columns, good = self._columns, np.isfinite(velocities)
        others = efforts.astype(np.float64)
        others[:, columns] -= found
        before = np.where(np.isnan(self._efforts), others, self._efforts)
        gained = np.where(good & np.isfinite(self._velocities), velocities - self._velocities, 0.0)
        # inverse mass matrices, whose first rows and columns a free base has
        num_dofs = efforts.shape[1]
        articulation: Any = self._articulation
        inverse, _ = inverses_of(as_numpy(articulation.get_mass_matrices()))
        response = dt * inverse[:, -num_dofs:, -num_dofs:]
        expected = np.where(good, velocities, 0.0) + gained + np.einsum("rij,rj->ri", response, others - before)
        solvable = good[:, columns] & np.isfinite(found)
        bounds = np.where(solvable, self._levels(velocities, gained, others, before, response), 0.0)
        coupling = response[:, columns[:, None], columns]
        dry = swept(np.where(solvable, self._dry, 0.0), expected[:, columns], coupling, bounds, self._sweeps)
        dry = np.where(solvable, dry, found).astype(np.float32)
        efforts[:, columns] = others[:, columns] + dry
        for stage, mine in zip(self._stages, self._split(dry), strict=True):
            stage.dry()[:, stage.places] = mine
        self._efforts, self._velocities = others, velocities

    def reset(self, robots: Sequence[int] | wp.array | None) -> None:
        """Forget the step before."""
        chosen = mask_of(robots, self._assembly.num_robots, self._assembly.device).numpy()
        for array in (self._efforts, self._velocities):
            array[chosen] = np.nan

    def _stored(self) -> np.ndarray:
        """Dry friction of all stages, as the steps have stored it, float64."""
        return np.concatenate([stage.dry()[:, stage.places] for stage in self._stages], axis=1).astype(np.float64)

    def _split(self, values: np.ndarray) -> list[np.ndarray]:
        """The columns of each stage."""
        return np.split(values, np.cumsum([len(stage.columns) for stage in self._stages])[:-1], axis=1)

    def _levels(
        self, velocities: np.ndarray, gained: np.ndarray, others: np.ndarray, before: np.ndarray, response: np.ndarray
    ) -> np.ndarray:
        """Largest dry friction of each joint."""
        found = []
        for stage, dry in zip(self._stages, self._split(self._dry), strict=True):
            columns = stage.columns
            # what else acts on the joint, by its effective inertia
            external = gained[:, columns] / response[:, columns, columns] - before[:, columns]
            arrays = [velocities[:, columns], others[:, columns], external - dry, *stage.parameters()]
            rows = wp.array(np.stack([np.ravel(values) for values in arrays]), dtype=wp.float32, device="cpu")
            levels = wp.zeros(rows.shape[1], dtype=wp.float32, device="cpu")
            wp.launch(_level_kernel, levels.size, [rows], [levels], device="cpu")
            found.append(levels.numpy().reshape(external.shape).astype(np.float64))
        return np.concatenate(found, axis=1)


def _stages_of(part: tuple[list[int], Step], assembly: Assembly, sweeps: Sequence[int]) -> Iterator[_Stage]:
    """The friction stages of a step whose joints take part."""
    joints, step = part
    for number, having, rows in step.plan.uses_of(PassiveFriction):
        places = np.array([place for place, slot in enumerate(having) if sweeps[joints[slot]]], int)
        if len(places):
            slots = having[places]
            columns = np.array([assembly.columns[joints[slot]] for slot in slots], int)
            yield _Stage(step, rows, number, places, slots, columns)


@wp.kernel
def _level_kernel(given: wp.array2d[float], level: wp.array[float]):
    i = wp.tid()
    velocity = given[0, i]
    effort = given[1, i]
    external = given[2, i]
    f, _b, excess, factor, exponent, _inertia, k_m, k_e, k_ms, k_es, k_mq, k_eq, opposed, has_load = friction_prepare(
        given[3, i],
        given[4, i],
        given[5, i],
        given[6, i],
        given[7, i],
        given[8, i],
        given[9, i],
        given[10, i],
        given[11, i],
        given[12, i],
        given[13, i],
        given[14, i],
        given[15, i],
    )
    level[i] = friction_level(
        effort, external, velocity, f, excess, factor, exponent, k_m, k_e, k_ms, k_es, k_mq, k_eq, opposed, has_load
    )
