"""Inverse mass matrices of models of newton and of matrices of the caller, and the bias force by their rows."""

from types import SimpleNamespace

import numpy as np
import pytest
import warp as wp
from chains import mass_matrices, newton_chain
from isaacsim.core.experimental import actuators as ours
from isaacsim.core.experimental.actuators import Actuator, ControllerPD, JointSpaceResponse
from isaacsim.core.experimental.actuators.base.quiet_warp import quiet_warp
from isaacsim.core.experimental.actuators.engine.implicit.joint_space_response import BiasForce, blocks_of
from refusals import cases, refused
from warp_arrays import floats, indices


def newton():
    found = pytest.importorskip("newton")
    if not hasattr(pytest.importorskip("newton.actuators"), "JointSpaceResponse"):
        pytest.skip("newton has an implicit effort mode from 1.6 on")
    return found


@pytest.mark.parametrize("kind", ["NumPy", "Warp", "list"])
def test_matrices_of_the_caller_are_inverted(kind) -> None:
    masses, armature = mass_matrices(3, 4), np.linspace(0.1, 0.4, 4)
    convert = {"NumPy": lambda one: one, "Warp": floats, "list": lambda one: one.tolist()}[kind]
    response = JointSpaceResponse.from_matrices(convert(masses), armature)
    for factor in (1.0, 3.0):
        expected = np.linalg.inv(factor * masses + np.diag(armature))
        np.testing.assert_allclose(response.inverse_blocks.numpy(), expected, rtol=1e-5, atol=1e-5)
        response.refresh_from_matrices(convert(3.0 * masses))


def test_a_joint_without_mass_moves_by_a_finite_amount() -> None:
    found = JointSpaceResponse.from_matrices(np.zeros((1, 2, 2))).inverse_blocks.numpy()
    np.testing.assert_allclose(found, [np.eye(2) / np.finfo(np.float32).eps])


@cases(
    "given, said",
    ({"matrices": np.eye(2)}, r"shape \(2, 2\): must be \(articulations, rows, rows\)"),
    ({"matrices": np.ones((1, 2, 3))}, r"shape \(1, 2, 3\): must be"),
    ({"dofs": [0]}, "dofs has 1 indices: must have 4, one per row"),
    ({"dofs": [[0, 1], [1, 2]]}, "dofs has an index twice"),
)
def test_arrays_that_do_not_fit_are_refused(given, said) -> None:
    refused(ValueError, lambda: JointSpaceResponse.from_matrices(**{"matrices": np.ones((2, 2, 2))} | given), said)


def test_a_refresh_has_the_shape_of_the_first_matrices_and_no_state() -> None:
    response = JointSpaceResponse.from_matrices(np.ones((2, 2, 2)))
    with pytest.raises(ValueError, match=r"shape \(1, 2, 2\): must be \(2, 2, 2\)"):
        response.refresh_from_matrices(np.ones((1, 2, 2)))
    for call in (response.refresh, lambda state: response.refresh_from_solve(print, state=state)):
        with pytest.raises(TypeError, match="has no model: must have its matrices given"):
            call(None)
    refused(TypeError, lambda: JointSpaceResponse(3), "model = 3: must be a Model of newton")


def test_matrices_of_a_model_are_newtons() -> None:
    theirs = newton().actuators.JointSpaceResponse
    model = newton_chain(3, robots=2, armature=0.02)
    state = model.state()
    state.joint_q.assign(np.linspace(-1.0, 1.0, 6))
    bodies = state.body_q.numpy().copy()
    found = []
    for kind in (JointSpaceResponse, theirs):
        response = kind(model)
        assert not response.inverse_blocks.numpy().any()
        response.refresh(state)
        found.append(response.inverse_blocks.numpy())
    np.testing.assert_allclose(found[0], found[1], rtol=1e-5)
    np.testing.assert_array_equal(state.body_q.numpy(), bodies)


def test_matrices_of_a_solver_are_read_by_columns() -> None:
    newton()
    model, masses = newton_chain(2, robots=2), mass_matrices(2, 3)

    def solve(solution: wp.array, right: wp.array) -> None:
        solution.assign(np.stack([np.linalg.solve(*pair) for pair in zip(masses, right.numpy(), strict=True)]))

    response = JointSpaceResponse(model)
    response.refresh_from_solve(solve, wp.array([[1, -1, 0], [3, -1, 2]], dtype=wp.int32, device="cpu"))
    expected = np.linalg.inv(masses)[:, [2, 0]][:, :, [2, 0]]
    np.testing.assert_allclose(response.inverse_blocks.numpy(), expected, rtol=1e-5)
    masses = mass_matrices(2, 2, 5)
    response.refresh_from_solve(solve)
    np.testing.assert_allclose(response.inverse_blocks.numpy(), np.linalg.inv(masses), rtol=1e-5)


def test_joints_with_a_quaternion_are_refused_by_their_type() -> None:
    with quiet_warp():
        builder = newton().ModelBuilder()
        link = builder.add_link(mass=1.0, inertia=wp.mat33(np.eye(3)))
        builder.add_articulation([builder.add_joint_ball(parent=-1, child=link)])
        model = builder.finalize(device="cpu")
    three = floats([1.0] * 3)
    actuator = Actuator(indices(range(3)), ControllerPD(three, three))
    with pytest.raises(ValueError, match="DOF 0 is of a BALL joint: must have one position coordinate per degree"):
        actuator.set_effort_mode_implicit(JointSpaceResponse(model))


def test_what_is_no_response_is_refused() -> None:
    refused(ValueError, lambda: blocks_of(7), "response = 7: must be a JointSpaceResponse, ours or newton's")


def free_robot():
    with quiet_warp():
        builder = newton().ModelBuilder(gravity=(0.0, 0.0, -9.81))
        shape = wp.mat33(0.2, 0.01, 0.0, 0.01, 0.3, 0.02, 0.0, 0.02, 0.25)
        base = builder.add_link(com=wp.vec3(0.1, -0.05, 0.08), inertia=shape, mass=2.0)
        turn = wp.quat_from_axis_angle(wp.normalize(wp.vec3(1.0, 0.3, 0.2)), 0.9)
        root = builder.add_joint_free(parent=-1, child=base, parent_xform=wp.transform(wp.vec3(0.3, -0.2, 0.5), turn))
        link = builder.add_link(com=wp.vec3(0.4, 0.0, 0.05), inertia=wp.mat33(0.01 * np.eye(3)), mass=1.0)
        hinge = builder.add_joint_revolute(
            parent=base, child=link, axis=(0.0, 1.0, 0.0), parent_xform=wp.transform(wp.vec3(0.2, 0.0, 0.0))
        )
        builder.add_articulation([root, hinge])
        builder.joint_q[7] = 0.6
        return builder.finalize(device="cpu")


def test_wrenches_of_a_free_base_are_turned_as_newton_turns_them() -> None:
    model, library = free_robot(), newton()
    state = model.state()
    library.eval_fk(model, state.joint_q, state.joint_qd, state)
    gravity = wp.zeros(7, dtype=wp.float32, device="cpu")
    library.eval_inverse_dynamics_passive(model, state, gravity_force=gravity)
    found = {}
    for package in (ours, library.actuators):
        for number, bias in enumerate((None, gravity, floats(np.linspace(-30.0, 40.0, 7)))):
            gains = floats([500.0]), floats([5.0])
            actuator = package.Actuator(indices([6]), package.DrivePD(*gains), pos_indices=indices([7]))
            response = package.JointSpaceResponse(model)
            response.refresh(state)
            actuator.set_effort_mode_implicit(response)
            control = model.control()
            actuator.step(state, control, dt=0.01, bias_force=bias)
            found.setdefault(number, []).append(control.joint_f.numpy()[6])
    for own, expected in found.values():
        np.testing.assert_allclose(own, expected, rtol=1e-5)
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-4)
    assert abs(found[2][0] - found[0][0]) > 1.0


def test_a_moving_parent_of_a_free_joint_needs_the_poses_of_bodies() -> None:
    library = newton()
    with quiet_warp():
        builder = library.ModelBuilder()
        links = [builder.add_link(mass=1.0, inertia=wp.mat33(np.eye(3))) for _ in range(2)]
        joints = [
            builder.add_joint_revolute(parent=-1, child=links[0], axis=(0.0, 0.0, 1.0)),
            builder.add_joint_free(parent=links[0], child=links[1]),
        ]
        builder.add_articulation(joints)
        model = builder.finalize(device="cpu")
    bias = BiasForce(JointSpaceResponse(model))
    given = floats([0.0, 1.0, 0.0, 0.0, 0.0, 2.0, 0.0])
    with pytest.raises(ValueError, match="SimpleNamespace has no array 'body_q': must have one with bias_force"):
        bias.at_rows(given, SimpleNamespace())
    half = np.sqrt(0.5).astype(np.float32)
    turned = wp.array([[0, 0, 0, 0, 0, half, half], [0, 0, 0, 0, 0, 0, 1]], dtype=wp.transform, device="cpu")
    found = bias.at_rows(given, SimpleNamespace(body_q=turned)).numpy()
    np.testing.assert_allclose(found, [0.0, 0.0, -1.0, 0.0, 2.0, 0.0, 0.0], atol=1e-6)
