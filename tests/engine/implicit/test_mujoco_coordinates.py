"""Inverse mass matrices of MuJoCo in newton's velocities, by the words of both libraries in NumPy."""

import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators import JointSpaceResponse
from isaacsim.core.experimental.actuators.base.quiet_warp import quiet_warp


def rotation(quaternion) -> np.ndarray:
    x, y, z, w = (float(one) for one in quaternion)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + 2 * w * cross + 2 * cross @ cross


def turned(axis, angle: float) -> wp.quat:
    return wp.quat_from_axis_angle(wp.normalize(wp.vec3(*axis)), angle)


def test_free_and_ball_joints_are_converted() -> None:
    """T·A·Tᵀ is the matrix of newton's own mass matrix, for A of velocities as MuJoCo has them."""
    newton = pytest.importorskip("newton")
    frames = turned((1.0, 0.3, 0.2), 0.9), turned((0.0, 0.0, 1.0), 0.5), turned((1.0, 0.0, 0.0), 0.4)
    center = np.array([0.3, -0.2, 0.25])
    with quiet_warp():
        builder = newton.ModelBuilder()
        inertia = wp.mat33(0.2, 0.01, 0.0, 0.01, 0.3, 0.02, 0.0, 0.02, 0.25)
        base = builder.add_link(com=wp.vec3(*center), inertia=inertia, mass=2.0)
        arm = builder.add_link(com=wp.vec3(0.4, 0.0, 0.05), inertia=wp.mat33(0.05 * np.eye(3)), mass=1.0)
        tip = builder.add_link(com=wp.vec3(0.1, 0.2, 0.0), inertia=wp.mat33(0.03 * np.eye(3)), mass=0.7)
        joints = [
            builder.add_joint_free(
                parent=-1, child=base, parent_xform=wp.transform(wp.vec3(0.4, -0.7, 1.1), frames[0])
            ),
            builder.add_joint_revolute(parent=base, child=arm, axis=(0.0, 1.0, 0.0)),
            builder.add_joint_ball(
                parent=arm,
                child=tip,
                parent_xform=wp.transform(wp.vec3(0.5, 0.0, 0.0), frames[1]),
                child_xform=wp.transform(wp.vec3(), frames[2]),
            ),
        ]
        builder.add_articulation(joints)
        builder.joint_q[3:7] = list(turned((0.2, 1.0, -0.4), 0.7))
        builder.joint_q[7] = 0.6
        builder.joint_q[8:12] = list(turned((0.5, -0.3, 1.0), 0.8))
        model = builder.finalize(device="cpu")
    state = model.state()
    newton.eval_fk(model, state.joint_q, state.joint_qd, state)
    expected = np.linalg.inv(newton.eval_mass_matrix(model, state).numpy()[0].astype(float))
    parent, body = rotation(frames[0]), rotation(state.body_q.numpy()[0][3:])
    x, y, z = body @ center
    across = np.array([[0, z, -y], [-z, 0, x], [y, -x, 0]])
    convert = np.eye(10)
    convert[:3, :3], convert[:3, 3:6] = parent.T, parent.T @ across @ body
    convert[3:6, 3:6] = parent.T @ body
    convert[7:, 7:] = rotation(model.joint_q.numpy()[8:12]) @ rotation(frames[2]).T
    back = np.linalg.inv(convert)
    of_mujoco = back @ expected @ back.T

    def solve(solution: wp.array, right: wp.array) -> None:
        solution.assign(right.numpy() @ of_mujoco.T)

    response = JointSpaceResponse(model)
    response.refresh_from_solve(solve, state=state)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(response.inverse_blocks.numpy()[0], expected, rtol=1e-4, atol=1e-5 * scale)
