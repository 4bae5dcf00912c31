"""Actuators on fixed tendons, whose lengths are sums of joint positions, as motors that move several joints together.

Those that share joints make a linkage. One tendon over two joints, as in fingers, leaves a motion of them free.
"""

# MuJoCo ships no type stubs
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from ...specs.linkage import MOST_JOINTS, LinkageConfig
from .address import element_name
from .own_library import mujoco


@dataclass(frozen=True)
class TendonMotor:
    """The motor of a linkage.

    Args:
        actuator: The actuator.
        joint: The joint at which the motor is.
        joints: All joints of the linkage.
        coefficients: Length of the tendon per position of each joint.
    """

    actuator: int
    joint: int
    joints: tuple[int, ...]
    coefficients: tuple[float, ...]

    def shaft(self, model: mujoco.MjModel) -> LinkageConfig:
        """The length of the tendon as a function of the joints."""
        return LinkageConfig([element_name(model, "joint", joint) for joint in self.joints], list(self.coefficients))


def tendon_motors(model: mujoco.MjModel, driven: Collection[int]) -> tuple[list[TendonMotor], dict[int, str]]:
    """Return the motors of linkages, and why other actuators on tendons are none, by actuator.

    Args:
        model: The model.
        driven: Joints with actuators of their own.
    """
    tendons = np.flatnonzero(np.array(model.actuator_trntype) == int(mujoco.mjtTrn.mjTRN_TENDON)).tolist()
    parts = {actuator: own for actuator in tendons if (own := _parts(model, int(model.actuator_trnid[actuator, 0])))}
    motors: list[TendonMotor] = []
    problems: dict[int, str] = {}
    for group in _groups(parts):
        joints = tuple(sorted({joint for actuator in group for joint in parts[actuator]}))
        matrix = np.array([[parts[actuator].get(joint, 0.0) for joint in joints] for actuator in group])
        if why := _problem(joints, matrix, driven):
            problems |= dict.fromkeys(group, why)
            continue
        # each motor is at a joint that its tendon moves much
        share = np.abs(matrix) / np.abs(matrix).max(axis=1, keepdims=True)
        rows = range(len(group))
        best = max(
            itertools.permutations(range(len(joints)), len(group)), key=lambda columns: share[rows, columns].min()
        )
        motors += [
            TendonMotor(actuator, joints[column], joints, tuple(matrix[row].tolist()))
            for row, (actuator, column) in enumerate(zip(group, best, strict=True))
        ]
    return motors, problems


def _parts(model: mujoco.MjModel, tendon: int) -> dict[int, float]:
    """Coefficients of a fixed tendon by joint; empty for a tendon of another kind."""
    first, found = int(model.tendon_adr[tendon]), dict[int, float]()
    for part in range(first, first + int(model.tendon_num[tendon])):
        if mujoco.mjtWrap(model.wrap_type[part]).name != "mjWRAP_JOINT":
            return {}
        joint = int(model.wrap_objid[part])
        found[joint] = found.get(joint, 0.0) + float(model.wrap_prm[part])
    return found


def _groups(parts: Mapping[int, Mapping[int, float]]) -> list[list[int]]:
    """Actuators that have joints in common, directly or through others."""
    groups: list[tuple[list[int], set[int]]] = []
    for actuator, own in parts.items():
        mine, joints = [actuator], set(own)
        for group in [one for one in groups if one[1] & joints]:
            groups.remove(group)
            mine, joints = group[0] + mine, group[1] | joints
        groups.append((mine, joints))
    return [sorted(mine) for mine, _ in groups]


def _problem(joints: tuple[int, ...], matrix: np.ndarray, driven: Collection[int]) -> str:
    """Why actuators on tendons are no linkage; empty if they are one."""
    count, width = matrix.shape
    if count > width:
        return f"acts on a tendon of {width} joints with {count} such actuators, more than joints"
    if width > MOST_JOINTS:
        return f"acts on tendons that connect {width} joints, where a linkage has {MOST_JOINTS} at most"
    if any(joint in driven for joint in joints):
        return "acts on a tendon of joints that have actuators of their own"
    return "" if np.linalg.matrix_rank(matrix) == count else "acts on tendons that depend on each other"
