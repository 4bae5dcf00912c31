"""PD control with a startup force: its law, and how far from its target a joint with friction sticks."""

import numpy as np
import pytest
from isaacsim.core.experimental.actuators import ActuatedArrays, FrictionConfig, PDControlConfig, StartupPDControlConfig


def test_adds_an_effort_towards_the_target(backend) -> None:
    rng = np.random.default_rng(3)
    position, velocity, target = rng.uniform(-1.0, 1.0, (3, 50)).astype(np.float32)
    target[:5] = position[:5]
    joints = [f"j{k}" for k in range(50)]
    laws = [PDControlConfig(20.0, 1.0), *(StartupPDControlConfig(20.0, 1.0, startup) for startup in (0.0, 0.5))]
    plain, none, some = (
        ActuatedArrays(joints, {".*": [law]}).step(position, velocity, target, 1e-3).astype(float) for law in laws
    )
    np.testing.assert_array_equal(none, plain)
    np.testing.assert_allclose(some - plain, 0.5 * np.sign(target - position), atol=1e-5)


@pytest.mark.parametrize("startup", [0.0, 0.6])
def test_a_joint_sticks_closer_to_its_target(startup) -> None:
    """By the startup force over the gain: friction of 1 N·m holds 1 N·m less that force."""
    arrays = ActuatedArrays(["j"], {"j": [StartupPDControlConfig(20.0, 2.0, startup), FrictionConfig(coulomb=1.0)]})
    arrays.set_mass_matrix(np.full((1, 1), 0.05))
    position, velocity, target = (np.full(1, one, np.float32) for one in (0.0, 0.0, 1.0))
    for _ in range(5000):
        velocity += 1e-3 / 0.05 * arrays.step(position, velocity, target, 1e-3)
        position += 1e-3 * velocity
    assert velocity[0] == pytest.approx(0.0, abs=1e-4)
    assert target[0] - position[0] == pytest.approx((1.0 - startup) / 20.0, rel=0.02)
