"""Rotations, many at once."""

from __future__ import annotations

import numpy as np


def _matrix_of_products() -> np.ndarray:
    """Entries of a rotation matrix by products of two components of a unit quaternion (w, x, y, z)."""
    made = np.zeros((4, 4, 3, 3))
    for i in range(3):
        made[0, 0, i, i] = made[i + 1, i + 1, i, i] = 1.0
        j, k = (i + 1) % 3, (i + 2) % 3
        made[j + 1, j + 1, i, i] = made[k + 1, k + 1, i, i] = -1.0
        made[i + 1, j + 1, i, j] = made[i + 1, j + 1, j, i] = 2.0
        made[0, k + 1, i, j], made[0, k + 1, j, i] = -2.0, 2.0
    return made.reshape(16, 9)


_PRODUCTS = _matrix_of_products()


def matrices(turns: np.ndarray) -> np.ndarray:
    """Rotation matrices, `(…, 3, 3)`, of unit quaternions (w, x, y, z), `(…, 4)`."""
    shape = turns.shape[:-1]
    products = turns[..., :, None] * turns[..., None, :]
    return (products.reshape(*shape, 16) @ _PRODUCTS).reshape(*shape, 3, 3)


def unit(vector: np.ndarray) -> np.ndarray:
    """Its direction, of length 1; zeros of a vector of zeros."""
    return vector / (np.linalg.norm(vector) or 1.0)


def seen_from(turns: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """A vector of the world, `(3,)`, in frames turned by quaternions `(…, 4)`: shape `(…, 3)`."""
    # by the inverse of each rotation
    return np.einsum("i,...ij->...j", vector, matrices(turns))


def quaternion_of(matrix: np.ndarray) -> np.ndarray:
    """Unit quaternion (w, x, y, z), w >= 0, of a rotation matrix."""
    products = np.empty((4, 4))
    products[0, 0] = np.trace(matrix)
    products[0, 1:] = products[1:, 0] = matrix[[2, 0, 1], [1, 2, 0]] - matrix[[1, 2, 0], [2, 0, 1]]
    products[1:, 1:] = matrix + matrix.T - np.trace(matrix) * np.eye(3)
    found = np.linalg.eigh(products)[1][:, 3]
    return found if found[0] >= 0 else -found
