"""Friction of coupled joints, solved with the mass matrix: it rests where joint by joint takes long."""

from types import SimpleNamespace

import numpy as np
import oracle
import pytest
from chains import mass_matrices
from isaacsim.core.experimental.actuators import ActuatedArrays, FrictionConfig, PDControlConfig
from isaacsim.core.experimental.actuators.engine.implicit.coupled_friction import CoupledFriction, swept
from resting import BASE, LOAD, chain, rest


def test_sweeps_find_the_friction_that_stops_all_joints() -> None:
    rng = np.random.default_rng(0)
    factor = rng.normal(size=(3, 4, 4))
    response = factor @ factor.transpose(0, 2, 1) + 0.5 * np.eye(4)
    dry = rng.normal(size=(3, 4))
    velocities = rng.normal(size=(3, 4))
    found = swept(dry, velocities, response, np.full((3, 4), 1e9), 2000)
    assert np.abs(velocities + np.einsum("rij,rj->ri", response, found - dry)).max() < 1e-9


def test_sweeps_keep_to_the_levels() -> None:
    response, levels = np.array([[[2.0, 0.5], [0.5, 1.0]]]), np.array([[0.1, 5.0]])
    found = swept(np.zeros((1, 2)), np.array([[3.0, 0.2]]), response, levels, 100)
    after = np.array([3.0, 0.2]) + response[0] @ found[0]
    assert found[0, 0] == -0.1 and after[0] > 0 and abs(after[1]) < 1e-12


def test_steps_are_those_of_the_equations(rng) -> None:
    robots, joints, h = 3, 4, 0.01
    masses, kp = mass_matrices(robots, joints).astype(np.float32), 2.0
    loads = {"motor_load": 0.3, "external_load": 0.2, "stribeck_motor_load": 0.1, "stribeck_external_load": 0.15}
    levels = np.array([0.3, 0.5, 0.2, 0.4])
    # one sweep: more hide where they began
    friction = [FrictionConfig(level, static=2 * level, **loads, assumed_inertia=0.1) for level in levels]
    names = list("abcd")
    motors = {name: [PDControlConfig(kp, 0.0), one] for name, one in zip(names, friction, strict=True)}
    arrays = ActuatedArrays(names, motors, robots)
    robot = SimpleNamespace(num_dofs=joints, get_mass_matrices=lambda: masses)
    arrays._assembly.watch(CoupledFriction(arrays._assembly, robot, [1] * joints))
    response = h * np.linalg.inv(masses.astype(np.float64))
    alone = np.diagonal(response, axis1=1, axis2=2)
    dry, before = np.zeros((robots, joints)), None
    for number in range(6):
        if number == 4:
            arrays.reset(indices=[1])
            dry[1] = 0.0
        q, qd, target = rng.normal(size=(3, robots, joints)).astype(np.float32)
        found = arrays.step(q, qd, target, h)
        u, v = kp * (target - q).astype(np.float64), qd.astype(np.float64)
        u_before, v_before = (u.copy(), v.copy()) if before is None else before
        if number == 4:
            u_before[1], v_before[1] = u[1], v[1]
        external = (v - v_before) / alone - u_before - dry
        most = oracle.dry_friction_level(u, external, v, levels, levels, 0.1, 2.0, *loads.values(), *[0.0] * 3)
        expected = 2 * v - v_before + np.einsum("rij,rj->ri", response, u - u_before)
        dry = swept(dry, expected, response, most, 1)
        np.testing.assert_allclose(found, u + dry, rtol=1e-4, atol=1e-4)
        assert (np.abs(dry) < 0.99 * most).any()
        before = u, v


@pytest.mark.parametrize("load", [0.0, LOAD])
@pytest.mark.slow
def test_light_chain_rests(tmp_path, load) -> None:
    """Six links with hardly any armature at 5 ms, which shake at 0.1 rad/s for long, joint by joint."""
    found = rest(chain(tmp_path, armature=0.001), BASE, "mujoco", 0.005, load, sweeps=5)
    assert found.rms <= 2e-3
    assert rest(chain(tmp_path, armature=0.001), BASE, "mujoco", 0.005, load).rms > 10 * found.rms


def test_loop_of_arrays_refuses_sweeps() -> None:
    motors = {".*": [FrictionConfig(coulomb=0.1, assumed_inertia=0.1, sweeps=3)]}
    with pytest.raises(ValueError, match=r"FrictionConfig.sweeps = 3 of joints a: must be 0 here"):
        ActuatedArrays(["a"], motors)
