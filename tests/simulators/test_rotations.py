"""Rotations, many at once."""

import numpy as np
from isaacsim.core.experimental.actuators.simulators.rotations import matrices, quaternion_of


def test_quarter_turns() -> None:
    half = np.sqrt(0.5)
    found = matrices(np.array([[half, half, 0, 0], [half, 0, half, 0], [half, 0, 0, half]]))
    for i, turn in enumerate(found):
        there, back = (i + 1) % 3, (i + 2) % 3
        np.testing.assert_allclose(turn @ np.eye(3)[i], np.eye(3)[i], atol=1e-15)
        np.testing.assert_allclose(turn @ np.eye(3)[there], np.eye(3)[back], atol=1e-15)
        np.testing.assert_allclose(turn @ np.eye(3)[back], -np.eye(3)[there], atol=1e-15)


def test_any_turn_is_that_of_the_quaternion() -> None:
    turns = np.random.default_rng(1).normal(size=(4, 3, 4))
    turns /= np.linalg.norm(turns, axis=-1, keepdims=True)
    vector = np.array([0.3, -1.2, 0.7])
    w, axis = turns[..., :1], turns[..., 1:]
    expected = vector + 2 * np.cross(axis, np.cross(axis, vector) + w * vector)
    np.testing.assert_allclose(matrices(turns) @ vector, expected, atol=1e-14)
    assert matrices(np.zeros((0, 4))).shape == (0, 3, 3)


def test_quaternion_of_a_matrix_is_that_of_its_turn() -> None:
    turns = np.vstack([np.random.default_rng(2).normal(size=(20, 4)), np.eye(4)])
    turns /= np.linalg.norm(turns, axis=-1, keepdims=True)
    for turn in turns:
        found = quaternion_of(matrices(turn))
        assert found[0] >= 0
        np.testing.assert_allclose(matrices(found), matrices(turn), atol=1e-14)
