"""Chains of joints: by their mass matrices, and as models of newton; and actuators of newton's API on them."""

from types import SimpleNamespace

import numpy as np
import warp as wp
from isaacsim.core.experimental.actuators.base.quiet_warp import quiet_warp
from warp_arrays import floats


def mass_matrices(robots: int, joints: int, seed: int = 0) -> np.ndarray:
    """Positive definite matrices of light, strongly coupled chains, float64 `(robots, joints, joints)`."""
    parts = np.random.default_rng(seed).normal(size=(robots, joints, joints))
    return 0.05 * parts @ parts.transpose(0, 2, 1) + 0.01 * np.eye(joints)


def situation(count: int, seed: int = 0) -> tuple[SimpleNamespace, SimpleNamespace]:
    q, qd, goal, rate, act = np.random.default_rng(seed).normal(size=(5, count))
    state = SimpleNamespace(joint_q=floats(q), joint_qd=floats(3 * qd))
    targets = {"joint_target_q": floats(goal), "joint_target_qd": floats(rate), "joint_act": floats(act)}
    return state, SimpleNamespace(**targets, joint_f=floats(np.zeros(count)), computed=floats(np.zeros(count)))


def newton_chain(links: int, robots: int = 1, gravity: float = 0.0, armature: float = 0.0):
    """Model of newton: chains of links of 1 kg, whose joints turn in the plane of gravity."""
    with quiet_warp():
        import newton

        template = newton.ModelBuilder(gravity=(0.0, -gravity, 0.0))
        parent, joints = -1, []
        for number in range(links):
            inertia = wp.mat33(np.diag([0.01, 0.02, 0.03]).astype(np.float32))
            link = template.add_link(com=wp.vec3(0.25, 0.0, 0.0), inertia=inertia, mass=1.0)
            frame = wp.transform(wp.vec3(0.5 if number else 0.0, 0.0, 0.0), wp.quat_identity())
            joint = {"parent": parent, "child": link, "parent_xform": frame, "armature": armature}
            joints.append(template.add_joint_revolute(axis=newton.Axis.Z, **joint))
            parent = link
        template.add_articulation(joints)
        builder = newton.ModelBuilder(gravity=(0.0, -gravity, 0.0))
        builder.replicate(template, robots)
        return builder.finalize(device="cpu")
