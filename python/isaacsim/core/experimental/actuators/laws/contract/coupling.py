"""Inertias of joints from the mass matrix of their robot.

With A = M⁻¹, the effective inertia of joint i is 1/A_ii: what its effort accelerates, with all other joints free. The
coupled inertia is less,

    1 / (A_ii · r_i),   r_i = Σ_j |A_ij| / √(A_ii·A_jj) >= 1

so that diag(A_ii·r_i) is at least A: joints that are stepped one by one, each as if alone, then do not overshoot
together. Source: Gershgorin, applied to the correlations of A.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...specs.signals import OF_SHAFTS

_INERTIA, _COUPLED, _LOAD, _IS_WHOLE = OF_SHAFTS.values()


def inertias_of(mass_matrix: np.ndarray, first: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return effective and coupled inertias [kg·m² or kg], float64 `(…, joints)`, of mass matrices with armatures.

    Before the joints come `first` coordinates, those of a floating base.
    """
    try:
        # fails unless it is positive definite
        factor = np.linalg.inv(np.linalg.cholesky(np.asarray(mass_matrix, np.float64)))
    except np.linalg.LinAlgError as error:
        raise ValueError(
            "mass_matrix: must be symmetric and positive definite. Give that of all joints, with their armatures."
        ) from error
    inverse = (np.swapaxes(factor, -1, -2) @ factor)[..., first:, first:]
    return 1.0 / np.diagonal(inverse, axis1=-2, axis2=-1), coupled_inertias(inverse)


def inverses_of(mass_matrices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return inverses of mass matrices `(robots, ·, ·)`, float64, and which are known; the others are the identity.

    A simulator does not know the matrix of a robot before its first step, or after it has diverged.
    """
    masses = np.array(mass_matrices, np.float64)
    identity = np.eye(masses.shape[-1])
    is_finite = np.isfinite(masses).all(axis=(1, 2))
    known = np.asarray(is_finite & (np.diagonal(masses, axis1=1, axis2=2) > 0.0).all(axis=1))
    masses[~known] = identity
    try:
        return np.linalg.inv(masses), known
    except np.linalg.LinAlgError:
        # the determinant itself may be too small for a number
        known &= np.linalg.slogdet(masses)[0] != 0.0
    masses[~known] = identity
    return np.linalg.inv(masses), known


@dataclass(frozen=True, eq=False)
class Shafts:
    """Shafts whose inertia laws need: their inverse mass matrix is R = G·A·Gᵀ.

    Joints i with an effort of the end of the step are stepped beside shafts s with one, each with its coupled inertia.
    In that of the joint is the sum b_i of its correlations with the joints of the linkage. So a shaft among m of a
    linkage has m·c²/b_i more in its own sum, with c = |(G·A)_si|/√(R_ss·A_ii): then all of them contract together, and
    a joint does not change with the linkages beside it.
    """

    motors: list[int]  # joint at which the motor of each shaft is
    rows: np.ndarray  # G, angle of each shaft per position of each joint, `(shafts, joints)`; of a table at its middle
    growth: np.ndarray  # by how much these are larger elsewhere in the table, `(shafts,)`; 1 for a constant
    linked: np.ndarray  # joints of the linkage of each shaft, `(shafts, joints)`
    at_end: np.ndarray  # shafts with an effort of the end of the step, `(shafts,)`
    alone: np.ndarray  # joints with one and without a linkage, `(joints,)`

    def signals(
        self, inverse: np.ndarray, columns: Sequence[int], loads: np.ndarray | None = None
    ) -> dict[str, np.ndarray]:
        """Return effective and coupled inertias, and loads if they are given, by name, float64 `(robots, shafts)`.

        Inverse mass matrices are `(robots, DOFs, DOFs)`, loads `(robots, DOFs)`, both with those of joints that have no
        motor; `columns` has the DOF of each joint. Loads of a table are estimates, which are not whole.
        """
        mine, rows = inverse[:, columns][:, :, columns], np.zeros((len(self.rows), inverse.shape[-1]))
        rows[:, columns] = self.rows
        whole = rows @ inverse
        among, across = whole @ rows.T, whole[:, :, columns]
        admittance, joints = (np.diagonal(one, axis1=1, axis2=2) for one in (among, mine))
        found = {_INERTIA: 1.0 / admittance, _COUPLED: coupled_inertias(among)}
        if self.alone.any() and self.at_end.any():
            correlated = np.abs(mine) / np.sqrt(joints[:, :, None] * joints[:, None, :])
            share = self.linked @ correlated[:, :, self.alone]
            count = ((self.linked @ self.linked.T.astype(int) > 0) & self.at_end).sum(axis=1)
            square = across[:, :, self.alone] ** 2 / (admittance[:, :, None] * joints[:, None, self.alone])
            # what is not correlated has no share
            more = count[:, None] * square / np.where(share > 0.0, share, 1.0)
            found[_COUPLED] = 1.0 / (1.0 / found[_COUPLED] + admittance * more.sum(axis=-1) * self.at_end)
        # with the smallest inertias of a table
        found = {name: values / self.growth**2 for name, values in found.items()}
        if loads is not None:
            found[_IS_WHOLE] = np.broadcast_to(self.growth <= 1.0, admittance.shape)
            found[_LOAD] = (whole @ loads[:, :, None])[:, :, 0] / admittance
        return found


def coupled_inertias(inverse: np.ndarray) -> np.ndarray:
    """Return coupled inertias [kg·m² or kg], float64 `(…, joints)`, of the inverse of a mass matrix."""
    admittance = np.diagonal(inverse, axis1=-2, axis2=-1)
    scale = 1.0 / np.sqrt(admittance)
    correlations = np.abs(inverse) * scale[..., :, None] * scale[..., None, :]
    return 1.0 / (admittance * correlations.sum(axis=-1))
