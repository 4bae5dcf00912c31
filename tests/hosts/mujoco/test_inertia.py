"""Inertias that no body has: the nearest that one can have."""

from __future__ import annotations

import numpy as np
import pytest
from isaacsim.core.experimental.actuators.hosts.mujoco.inertia import repaired

TURN = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]


@pytest.mark.parametrize("moments", [(1.0, 2.0, 2.5), (1.0, 1.0, 2.0), (3.0, 3.0, 3.0)])
def test_what_is_right_stays(moments: tuple[float, float, float]) -> None:
    """To the bit."""
    inertia = TURN * np.array(moments) @ TURN.T
    new, change = repaired(inertia)
    assert new is inertia and change == 0


@pytest.mark.parametrize(
    ("moments", "nearest"),
    [
        # along the normal of the plane A + B = C
        ((1.0, 2.0, 6.0), (2.0, 3.0, 5.0)),
        ((0.0, 1.0, 1.0), (1e-6, 1.0, 1.0)),
        ((-0.5, 1.0, 1.0), (1e-6, 1.0, 1.0)),
        # MuJoCo takes the first for 0
        ((1e-15, 1e-7, 1e-7), (1e-9, 1e-7, 1e-7)),
    ],
)
def test_the_nearest_is_taken(moments: tuple[float, float, float], nearest: tuple[float, float, float]) -> None:
    """Along the same principal axes."""
    new, change = repaired(TURN * np.array(moments) @ TURN.T)
    np.testing.assert_allclose(TURN.T @ new @ TURN, np.diag(nearest), atol=1e-9 * max(nearest))
    assert change == pytest.approx(np.abs(np.subtract(moments, nearest)).max(), rel=1e-5)
    found = np.linalg.eigvalsh(new)
    assert found[0] > 0 and found[0] + found[1] >= found[2]
