"""Inertias of joints from mass matrices: those of single joints, and a bound on the coupling."""

import numpy as np
import pytest
from isaacsim.core.experimental.actuators.laws.contract.coupling import inertias_of, inverses_of


def matrices(rng: np.random.Generator, count: int, size: int) -> np.ndarray:
    factors = rng.normal(size=(count, size, size)) * 10.0 ** rng.uniform(-2, 1, (count, 1, size))
    return factors @ np.swapaxes(factors, -1, -2) + np.eye(size) * 1e-3


def test_joint_without_others_has_its_inertia() -> None:
    for found in inertias_of(np.diag([0.5, 2.0])):
        np.testing.assert_allclose(found, [0.5, 2.0])


def test_effective_inertia_is_that_of_a_joint_with_the_others_free(rng) -> None:
    mass = matrices(rng, 20, 5)
    effective, _ = inertias_of(mass)
    accelerations = np.linalg.solve(mass, np.broadcast_to(np.eye(5), mass.shape))
    np.testing.assert_allclose(1 / effective, np.diagonal(accelerations, axis1=1, axis2=2), rtol=1e-6)


@pytest.mark.parametrize("size", [2, 7, 30])
def test_coupled_inertias_bound_the_matrix(size, rng) -> None:
    mass = matrices(rng, 40, size)
    effective, coupled = inertias_of(mass)
    assert (coupled <= effective * (1 + 1e-9)).all()
    scale = 1 / np.sqrt(coupled)
    # eigenvalues of what a step of all joints takes of an error
    share = np.linalg.eigvalsh(scale[:, :, None] ** -1 * np.linalg.inv(mass) * scale[:, None] ** -1)
    assert share.min() > 0 and share.max() <= 1 + 1e-6


@pytest.mark.parametrize("mass", [np.array([[1.0, 2.0], [2.0, 1.0]]), np.zeros((2, 2))], ids=["indefinite", "zero"])
def test_what_is_no_mass_matrix_is_refused(mass) -> None:
    with pytest.raises(ValueError, match="mass_matrix: must be symmetric and positive definite"):
        inertias_of(mass)


def test_matrices_that_are_not_known_have_the_identity(rng) -> None:
    good = matrices(rng, 3, 4)
    wrong = np.stack([np.zeros((4, 4)), np.full((4, 4), np.nan), -np.eye(4), np.ones((4, 4))])
    for bad in (wrong, wrong[:3]):
        inverse, known = inverses_of(np.concatenate([good, bad]))
        np.testing.assert_array_equal(known, [True] * 3 + [False] * len(bad))
        np.testing.assert_array_equal(inverse[:3], np.linalg.inv(good))
        np.testing.assert_array_equal(inverse[3:], np.broadcast_to(np.eye(4), bad.shape))


def test_small_masses_are_known() -> None:
    light = np.eye(40) * 1e-9
    assert np.linalg.det(light) == 0.0
    for masses in (light[None], np.stack([light, np.ones((40, 40))])):
        inverse, known = inverses_of(masses)
        assert known[0] and known.sum() == 1
        np.testing.assert_allclose(np.diagonal(inverse[0]), 1e9, rtol=1e-12)
