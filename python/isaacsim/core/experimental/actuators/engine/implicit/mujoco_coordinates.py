"""Inverse mass matrices of MuJoCo in the joint velocities of newton.

    A ← T·A·Tᵀ,   q̇ = T·q̇_MuJoCo                       T is the identity but for free and ball joints
    free:  ω = Pᵀ·R·ω_M,   v = Pᵀ·(v_M + R·ω_M × R·c)
    ball:  ω = Q·Cᵀ·ω_M

MuJoCo moves the origin of a free body in the world, and turns it in its own frame; newton moves its center of mass c,
and turns it, in the frame P of the parent. R is the orientation of the body, Q the rotation of a ball joint, and C its
frame in the body.
"""

# kernels read arrays as numbers
# pyright: reportArgumentType=false, reportAssignmentType=false, reportCallIssue=false, reportAttributeAccessIssue=false
# pyright: reportGeneralTypeIssues=false, reportIndexIssue=false, reportOperatorIssue=false

from __future__ import annotations

import sys

import numpy as np
import warp as wp

wp.set_module_options({"enable_backward": False})


def to_newton(model: object, state: object, block: wp.array, place: wp.array, inverse: wp.array) -> None:
    """Convert inverse mass matrices, float32 `(articulations, rows, rows)`, in place.

    Given are a model and a state of newton, and by degree of freedom its matrix and its row there, int32.
    """
    kinds, device = sys.modules["newton"].JointType, inverse.device
    types = model.joint_type.numpy()
    for name, kernel, given in (
        ("FREE", _free_kernel, [model.joint_parent, model.joint_child, model.joint_X_p, model.body_com, state.body_q]),
        ("BALL", _ball_kernel, [model.joint_q_start, model.joint_X_c, state.joint_q]),
    ):
        found = np.flatnonzero(types == int(kinds[name])).astype(np.int32)
        if not len(found):
            continue
        joints = wp.array(found, dtype=wp.int32, device=device)
        for rows in (1, 0):
            inputs = [joints, model.joint_qd_start, block, place, rows, *given]
            wp.launch(kernel, (len(found), inverse.shape[1]), inputs, [inverse], device=device)


@wp.func
def part_of(inverse: wp.array3d[float], b: int, first: int, line: int, rows: int) -> wp.vec3:
    """Return three entries of a column, or with `rows` of a row, of a matrix."""
    if rows != 0:
        return wp.vec3(inverse[b, line, first], inverse[b, line, first + 1], inverse[b, line, first + 2])
    return wp.vec3(inverse[b, first, line], inverse[b, first + 1, line], inverse[b, first + 2, line])


@wp.func
def set_part(inverse: wp.array3d[float], b: int, first: int, line: int, rows: int, values: wp.vec3):
    """Replace what `part_of` returns."""
    for k in range(3):
        if rows != 0:
            inverse[b, line, first + k] = values[k]
        else:
            inverse[b, first + k, line] = values[k]


@wp.kernel
def _free_kernel(
    joints: wp.array[int],
    first_dofs: wp.array[int],
    block: wp.array[int],
    place: wp.array[int],
    rows: int,
    parents: wp.array[int],
    children: wp.array[int],
    parent_frames: wp.array[wp.transform],
    centers: wp.array[wp.vec3],
    bodies: wp.array[wp.transform],
    inverse: wp.array3d[float],
):
    number, line = wp.tid()
    joint = joints[number]
    dof = first_dofs[joint]
    b = block[dof]
    if b < 0:
        return
    frame = wp.transform_get_rotation(parent_frames[joint])
    if parents[joint] >= 0:
        frame = wp.transform_get_rotation(bodies[parents[joint]]) * frame
    body = wp.transform_get_rotation(bodies[children[joint]])
    center = wp.quat_rotate(body, centers[children[joint]])
    first = place[dof]
    turn = wp.quat_rotate(body, part_of(inverse, b, first + 3, line, rows))
    move = part_of(inverse, b, first, line, rows) + wp.cross(turn, center)
    set_part(inverse, b, first, line, rows, wp.quat_rotate_inv(frame, move))
    set_part(inverse, b, first + 3, line, rows, wp.quat_rotate_inv(frame, turn))


@wp.kernel
def _ball_kernel(
    joints: wp.array[int],
    first_dofs: wp.array[int],
    block: wp.array[int],
    place: wp.array[int],
    rows: int,
    first_positions: wp.array[int],
    child_frames: wp.array[wp.transform],
    positions: wp.array[float],
    inverse: wp.array3d[float],
):
    number, line = wp.tid()
    joint = joints[number]
    dof = first_dofs[joint]
    b = block[dof]
    if b < 0:
        return
    at = first_positions[joint]
    turned = wp.quat(positions[at], positions[at + 1], positions[at + 2], positions[at + 3])
    frame = turned * wp.quat_inverse(wp.transform_get_rotation(child_frames[joint]))
    first = place[dof]
    set_part(inverse, b, first, line, rows, wp.quat_rotate(frame, part_of(inverse, b, first, line, rows)))
