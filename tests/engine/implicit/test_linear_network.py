"""Networks in the implicit effort mode: linear about the start of the step, and advanced once."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from isaacsim.core.experimental import actuators as ours
from isaacsim.core.experimental.actuators import Actuator, ClampingMaxEffort, JointSpaceResponse
from isaacsim.core.experimental.actuators.laws.networks.network import Linear, Network
from neural_twin import random_network, write_network
from warp_arrays import floats, indices

DT, OWN = 0.01, np.array([4.0, 9.0])


def actuator_of(path: Path, kind: str, **parts) -> Actuator:
    return Actuator(indices([0, 1]), getattr(ours, f"ControllerNeural{kind.upper()}")(path), **parts)


def response() -> JointSpaceResponse:
    return JointSpaceResponse.from_matrices((1 / OWN)[:, None, None])


def stepped(actuator: Actuator, q, v, states=None) -> np.ndarray:
    """Efforts at positions and velocities, with the targets at 1."""
    state = SimpleNamespace(joint_q=floats(q), joint_qd=floats(v))
    control = SimpleNamespace(
        joint_target_q=floats([1.0, 1.0]), joint_target_qd=floats([0.0, 0.0]), joint_f=floats([0.0, 0.0])
    )
    actuator.step(state, control, *(states or [actuator.state() for _ in range(2)]), dt=DT)
    return control.joint_f.numpy().astype(float)


Q, V = np.array([0.2, -0.4], np.float32), np.array([0.5, 2.0], np.float32)


def expected_of(actuator: Actuator) -> tuple[np.ndarray, np.ndarray]:
    """Effort at the end of the step of the linear law, by differences of explicit efforts; and its slope there."""
    step = np.float32(2.0**-6)
    at = stepped(actuator, Q, V)
    a = (stepped(actuator, Q + step, V) - stepped(actuator, Q - step, V)) / (2 * step)
    b = (stepped(actuator, Q, V + step) - stepped(actuator, Q, V - step)) / (2 * step)
    slope = DT * a + b
    factor = np.minimum(1.0, 0.9 / np.maximum(DT * OWN * slope, 1e-9))
    return (at + DT * factor * a * V) / (1 - DT * OWN * factor * slope), slope


@pytest.mark.parametrize("kind", ["mlp", "lstm", "gru"])
def test_efforts_are_those_of_the_linear_law(backend, kind, tmp_path) -> None:
    path = write_network(tmp_path / "net.safetensors", random_network(kind, 2), {"effort_scale": 20.0})
    actuator, explicit = (actuator_of(path, kind) for _ in range(2))
    wanted, _ = expected_of(explicit)
    actuator.set_effort_mode_implicit(response())
    for in_place in (False, True):
        states = [[one.state(), one.state()] for one in (actuator, explicit)]
        if in_place:
            states = [[both[0], both[0]] for both in states]
        found = stepped(actuator, Q, V, states[0])
        stepped(explicit, Q, V, states[1])
        np.testing.assert_allclose(found, wanted, rtol=2e-3, atol=2e-3)
        for own, expected in zip(*(vars(both[1].controller_state).values() for both in states), strict=True):
            np.testing.assert_array_equal(own.numpy(), expected.numpy())


def test_a_linear_network_is_solved_exactly(backend, tmp_path) -> None:
    weights = np.array([[400.0, -8.0]], np.float32)
    path = write_network(tmp_path / "net.safetensors", Network(2, (Linear(0, weights, np.float32([2.5])),)), {})
    slack = 400.0 * (1 - Q - DT * V) - 8.0 * V + 2.5
    wanted = slack / (1 + DT * OWN * (400.0 * DT + 8.0))
    actuator = actuator_of(path, "mlp")
    actuator.set_effort_mode_implicit(response())
    np.testing.assert_allclose(stepped(actuator, Q, V), wanted, rtol=1e-4)
    limited = actuator_of(path, "mlp", clamping=[ClampingMaxEffort(floats([1e4, 30.0]))])
    limited.set_effort_mode_implicit(response())
    np.testing.assert_allclose(stepped(limited, Q, V), [wanted[0], 30.0], rtol=1e-4)


def test_a_network_that_drives_itself_is_bounded(tmp_path) -> None:
    """Its slopes are scaled joint by joint, so that the equations stay regular."""
    path = write_network(
        tmp_path / "net.safetensors", Network(2, (Linear(0, np.float32([[0.0, 400.0]]), np.float32([0.0])),)), {}
    )
    actuator = actuator_of(path, "mlp")
    wanted, slope = expected_of(actuator)
    assert (DT * OWN * slope > 0.9).all()
    actuator.set_effort_mode_implicit(response())
    np.testing.assert_allclose(stepped(actuator, Q, V), wanted, rtol=2e-3)
    np.testing.assert_allclose(wanted, 10.0 * 400.0 * V, rtol=1e-5)
    assert actuator.drive.IMPLICIT_JACOBIAN_MARGIN == 0.1


def test_an_effort_of_a_network_that_is_not_finite_is_a_fault(tmp_path) -> None:
    path = write_network(tmp_path / "net.safetensors", random_network("mlp", 2), {"effort_scale": 20.0})
    actuator = actuator_of(path, "mlp")
    actuator.set_effort_mode_implicit(response())
    found = stepped(actuator, [np.inf, 0.25], V)
    assert found[0] == 0.0 != found[1]
    (fault,) = actuator.faults
    assert (fault.robot, fault.inputs) == (0, ("position",))
