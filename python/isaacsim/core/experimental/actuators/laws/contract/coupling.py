"""Inertias of joints from the mass matrix of their robot.

With A = M⁻¹, the effective inertia of joint i is 1/A_ii: what its effort accelerates, with all other joints free. The
coupled inertia is less,

    1 / (A_ii · r_i),   r_i = Σ_j |A_ij| / √(A_ii·A_jj) >= 1

so that diag(A_ii·r_i) is at least A: joints that are stepped one by one, each as if alone, then do not overshoot
together. Source: Gershgorin, applied to the correlations of A.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np


def inertias_of(mass_matrix: np.ndarray, first: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return effective and coupled inertias [kg·m² or kg], float64 `(…, joints)`.

    Args:
        mass_matrix: Symmetric and positive definite, `(…, coordinates, coordinates)`, armatures included.
        first: Number of coordinates before the joints, those of a floating base.
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
    """Return inverse mass matrices, float64, and which are known; the others are the identity.

    A simulator does not know the matrix of a robot before its first step, or after it has diverged.

    Args:
        mass_matrices: Symmetric, `(robots, coordinates, coordinates)`.
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


def shaft_inertias(mass_matrices: np.ndarray, shafts: Mapping[int, np.ndarray], columns: Sequence[int]) -> np.ndarray:
    """Return coupled inertias of shafts among each other [kg·m² or kg], `(robots, shafts)`, 0 where they are not known.

    Args:
        mass_matrices: As for `inverses_of`; the DOFs are the last coordinates.
        shafts: Angle per position of each joint, `(joints,)`.
        columns: Columns of these joints among the DOFs, counted from the last one: negative.
    """
    inverse, known = inverses_of(mass_matrices)
    rows = np.array([*shafts.values()])
    return coupled_inertias(rows @ inverse[:, columns][:, :, columns] @ rows.T) * known[:, None]


def coupled_inertias(inverse: np.ndarray) -> np.ndarray:
    """Return coupled inertias [kg·m² or kg], float64 `(…, joints)`, of the inverse of a mass matrix."""
    admittance = np.diagonal(inverse, axis1=-2, axis2=-1)
    scale = 1.0 / np.sqrt(admittance)
    correlations = np.abs(inverse) * scale[..., :, None] * scale[..., None, :]
    return 1.0 / (admittance * correlations.sum(axis=-1))
