"""Friction of coupled joints, solved with the mass matrix: it rests where joint by joint takes long."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from isaacsim.core.experimental.actuators import ActuatedArrays, FrictionConfig
from isaacsim.core.experimental.actuators.pipeline.coupled_friction import swept
from resting import BASE, LOAD, chain, rest


def test_sweeps_find_the_friction_that_stops_all_joints() -> None:
    """Within the levels, many sweeps give the friction at which all velocities are zero."""
    rng = np.random.default_rng(0)
    factor = rng.normal(size=(3, 4, 4))
    response = factor @ factor.transpose(0, 2, 1) + 0.5 * np.eye(4)
    dry = rng.normal(size=(3, 4))
    velocities = rng.normal(size=(3, 4))
    found = swept(dry, velocities, response, np.full((3, 4), 1e9), 2000)
    after = velocities + np.einsum("rij,rj->ri", response, found - dry)
    assert np.abs(after).max() < 1e-9


def test_sweeps_keep_to_the_levels() -> None:
    """A joint beyond its level slips, with the friction at the level and against its velocity."""
    response, levels = np.array([[[2.0, 0.5], [0.5, 1.0]]]), np.array([[0.1, 5.0]])
    found = swept(np.zeros((1, 2)), np.array([[3.0, 0.2]]), response, levels, 100)
    after = np.array([3.0, 0.2]) + response[0] @ found[0]
    assert found[0, 0] == -0.1 and after[0] > 0 and abs(after[1]) < 1e-12


@pytest.mark.parametrize("load", [0.0, LOAD])
@pytest.mark.slow
def test_light_chain_rests(tmp_path: Path, load: float) -> None:
    """Six links with hardly any armature at 5 ms, which shake at 0.1 rad/s for long, joint by joint."""
    found = rest(chain(tmp_path, armature=0.001), BASE, "mujoco", 0.005, load, sweeps=5)
    assert found.rms <= 2e-3
    alone = rest(chain(tmp_path, armature=0.001), BASE, "mujoco", 0.005, load)
    assert alone.rms > 10 * found.rms


def test_loop_of_arrays_refuses_sweeps() -> None:
    """It has no mass matrices."""
    motors = {".*": [FrictionConfig(coulomb=0.1, assumed_inertia=0.1, sweeps=3)]}
    with pytest.raises(ValueError, match=r"FrictionConfig.sweeps = 3 of joints a: must be 0 here"):
        ActuatedArrays(["a"], motors)
