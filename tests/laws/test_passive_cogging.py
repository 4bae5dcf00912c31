"""Cogging: the sign of MuJoCo, and no work over a period."""

import numpy as np
import pytest
from isaacsim.core.experimental.actuators import CoggingConfig
from one_inertia import Plant, joints_of

MODEL = """
<mujoco>
  <worldbody>
    <body><joint name="j" axis="0 0 1"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body>
  </worldbody>
  <actuator><dcmotor joint="j" motorconst="1 1e-9" resistance="1" input="none" cogging="0.3 6 0.4"/></actuator>
</mujoco>
"""
CONFIG = CoggingConfig(amplitude=0.3, periods=6.0, phase=0.4)


def efforts_at(positions: np.ndarray) -> np.ndarray:
    q = positions.astype(np.float32)[:, None].copy()
    zero = np.zeros_like(q)
    return np.array(joints_of(CONFIG, len(q)).step(q, zero, q, 0.01), np.float64)[:, 0]


def test_has_the_numbers_of_mujoco() -> None:
    mujoco = pytest.importorskip("mujoco")
    try:
        model = mujoco.MjModel.from_xml_string(MODEL)
    except ValueError:
        pytest.skip("this MuJoCo has no dcmotor")
    data = mujoco.MjData(model)
    positions = np.linspace(-7, 7, 301).astype(np.float32)
    expected = []
    for position in positions:
        data.qpos[0] = position
        mujoco.mj_forward(model, data)
        expected.append(data.actuator_force[0])
    np.testing.assert_allclose(efforts_at(positions), expected, atol=2e-6)


def test_work_over_a_period_is_zero() -> None:
    for start in (0.0, 0.7, -3.0):
        assert abs(efforts_at(start + np.arange(3000) * (2 * np.pi / 6 / 3000)).mean()) < 1e-6


def test_joint_keeps_its_energy() -> None:
    """Kinetic energy and A·cos(p·q + φ)/p together, of a joint that turns slowly and of one that turns fast."""
    plant = Plant(CONFIG, 0.02, 1e-3, robots=2, velocity=[1.0, 8.0])

    def energy() -> np.ndarray:
        return 0.01 * plant.v**2 + 0.3 * np.cos(6 * plant.q + 0.4) / 6

    before = energy()
    plant.run(5000)
    np.testing.assert_allclose(energy(), before, atol=6e-3)
    assert plant.q[1] > 30


def test_joint_that_has_turned_for_hours_is_no_fault() -> None:
    assert (np.abs(efforts_at(np.array([1e7, 3e9, -1e20]))) <= 0.3001).all()
