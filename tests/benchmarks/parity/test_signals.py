"""Random states: edges among them, and commands that a law does not get are 0."""

from itertools import islice

import numpy as np

from benchmarks.parity.signals import COMMANDS, LARGEST_ERROR, Edges, random_signals


def test_edges_occur(rng) -> None:
    (given,) = islice(random_signals(rng, 4000, [Edges([0.5], [3.0, -3.0]), Edges()]), 1)
    shares = [
        (given.velocities == 0.0).mean(),
        (given.position_targets == given.positions).mean(),
        (given.positions[:, 0] == 0.5).mean(),
        2 * (given.velocities[:, 0] == 3.0).mean(),
    ]
    np.testing.assert_allclose(shares, 0.1, atol=0.02)
    assert not (given.positions[:, 1] == 0.5).any()
    assert np.abs(given.position_targets - given.positions).max() < LARGEST_ERROR


def test_steps_are_independent_and_float32(rng) -> None:
    first, second = islice(random_signals(rng, 8, [Edges()]), 2)
    assert first.positions.dtype == np.float32 and (first.positions != second.positions).all()


def test_other_commands_are_zero(rng) -> None:
    for name in COMMANDS:
        (given,) = islice(random_signals(rng, 8, [Edges()], (name,)), 1)
        assert [one for one in COMMANDS if getattr(given, one).any()] == [name]


def test_a_column_is_that_of_one_motor(rng) -> None:
    (given,) = islice(random_signals(rng, 8, [Edges(), Edges()]), 1)
    column = given.column(1)
    for name in ("positions", *COMMANDS):
        np.testing.assert_array_equal(getattr(column, name), getattr(given, name)[:, 1])
