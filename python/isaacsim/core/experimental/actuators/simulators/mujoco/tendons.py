"""The fixed tendons of robots on MuJoCo: lengths that are sums of joint positions."""

# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import warp as wp

from ...base.errors import HostError
from ...base.values import Indices, resolve_indices
from ..articulation import name_in
from ..physics_articulation import PhysicsArticulation
from ..transfer import warp_copy
from .address import parts_of_tendon
from .joint_signals import mass_entries, tendon_rows


class FixedTendons(PhysicsArticulation):
    """Fixed tendons by Isaac Sim's names, to read; they need running physics.

    A fixed tendon belongs to the robot that has all of its joints. Its numbers are those of the file: lengths are sums
    of positions [m or rad] times coefficients. MuJoCo gives tendon limits a softness of their own and no stiffness, and
    has no offsets: a tendon of PhysX, of degrees times gearings, has the rest length less its offset, and its limits
    are a tendon beside it, slack within them.
    """

    _backend: Any  # pyright: ignore[reportIncompatibleVariableOverride]

    @property
    def num_fixed_tendons(self) -> int:
        """Number of fixed tendons of a robot."""
        return len(self.fixed_tendon_names)

    @property
    def fixed_tendon_names(self) -> list[str]:
        """Names of the fixed tendons, in the order of the getters."""
        model, ids = self._tendons()
        return [name_in(model.tendon(number).name) for number in ids]

    def get_fixed_tendon_stiffnesses(self, *, indices: Indices = None) -> wp.array:
        """Stiffnesses [N/m, N·m/rad], shape `(robots, tendons)`."""
        return self._numbers_of("tendon_stiffness", indices)

    def get_fixed_tendon_dampings(self, *, indices: Indices = None) -> wp.array:
        """Dampings [N·s/m, N·m·s/rad], shape `(robots, tendons)`."""
        return self._numbers_of("tendon_damping", indices)

    def get_fixed_tendon_limits(self, *, indices: Indices = None) -> wp.array:
        """Lower and upper limits of the lengths, shape `(robots, tendons, 2)`; ±inf where there are none."""
        model, ids = self._tendons()
        open_ended = np.array([-np.inf, np.inf])
        limits = np.where(model.tendon_limited[ids, None] != 0, model.tendon_range[ids], open_ended)
        return self._of_rows(limits, indices)

    def get_fixed_tendon_rest_lengths(self, *, indices: Indices = None) -> wp.array:
        """Lengths at which the springs pull no more, shape `(robots, tendons)`; of a dead band the lower end."""
        model, ids = self._tendons()
        return self._of_rows(model.tendon_lengthspring[ids, 0], indices)

    def set_step_tendon_armatures(self, armatures: np.ndarray, shafts: np.ndarray) -> None:
        """Add inertias at shafts, `(robots, shafts)` [kg·m² or kg], to armatures of tendons until others are given.

        `shafts`, `(shafts, DOFs)`, has the angle of each per position of each DOF, a multiple of a tendon's length.
        Raises HostError if physics does not run, or a shaft is no fixed tendon whose joints are on one chain.
        """
        self._live()
        model = self._backend.model
        if self._matched is None or self._matched[0] is not model or self._matched[1] is not shafts:
            self._matched = model, shafts, *self._tendons_of(model, shafts)
        _, _, tendons, squares = self._matched
        envs = np.array([[robot.env] for robot in self._robots])
        self._backend.add_tendon_armatures(squares * armatures, tendons, envs)

    _matched: tuple[mujoco.MjModel, np.ndarray, np.ndarray, np.ndarray] | None = None

    def _tendons_of(self, model: mujoco.MjModel, shafts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The tendon of each shaft, and the square of the shaft's angle per length, `(robots, shafts)` each."""
        lengths, (rows, columns, _) = tendon_rows(model), mass_entries(model)
        coupled = np.zeros((model.nv, model.nv), bool)
        coupled[rows, columns] = coupled[columns, rows] = True
        found = []
        for robot in self._robots:
            dofs = self._backend.layout_of(robot.prototype[0]).dofs
            for shaft in shafts:
                whole = np.zeros(model.nv)
                whole[dofs] = shaft
                scales = lengths @ whole / np.maximum((lengths**2).sum(axis=1), 1e-30)
                off = np.abs(whole - scales[:, None] * lengths).max(axis=1, initial=0.0)
                mine = np.flatnonzero(whole)
                is_tendon = (off < 1e-5 * np.abs(shaft).max()) & coupled[np.ix_(mine, mine)].all()
                if not is_tendon.any():
                    names = ", ".join(self.dof_names[at] for at in np.flatnonzero(shaft))
                    raise HostError(
                        f"ImplicitConfig.in_engine = True of a shaft over joints {names}: must be a fixed tendon of "
                        "the model whose joints are on one chain, which MuJoCo gives an armature. Set it to False."
                    )
                found.append((np.argmax(is_tendon), scales[np.argmax(is_tendon)] ** 2))
        tendons, squares = np.transpose(found).reshape(2, len(self._robots), -1)
        return tendons.astype(int), squares

    def _tendons(self) -> tuple[mujoco.MjModel, np.ndarray]:
        """The model, and which of its tendons are fixed tendons of this robot."""
        model, layout = self._backend.model, self._backend.layout_of(self._current()[0].prototype[0])
        parts = {tendon: list(parts_of_tendon(model, tendon)) for tendon in range(model.ntendon)}
        own = [one for one, joints in parts.items() if joints and np.isin(model.jnt_dofadr[joints], layout.dofs).all()]
        return model, np.array(own, int)

    def _numbers_of(self, field: str, indices: Indices) -> wp.array:
        model, ids = self._tendons()
        return self._of_rows(getattr(model, field)[ids], indices)

    def _of_rows(self, values: np.ndarray, indices: Indices) -> wp.array:
        """Equal values for each of some robots."""
        self._live()
        rows = resolve_indices(indices, len(self._robots), "robot")
        return warp_copy(np.broadcast_to(values, (len(rows), *values.shape)))
