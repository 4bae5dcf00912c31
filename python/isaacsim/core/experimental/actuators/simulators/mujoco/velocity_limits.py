"""Velocity limits of joints, which MuJoCo does not have.

After a physics step, an axis beyond its limit is given the limit for its velocity, sign kept, and the position that it
would have come to with that: MuJoCo moves a position by its new velocity times dt, or nearly so where its integrator is
RK4. Positions and velocities then are those of a joint that moved no faster.

This is no constraint that is solved along with the others. What a joint loses is not passed on to links beside it, and
forces of the step, of contacts and couplings for two, are those of the motion before. Only joints that follow another
linearly lose with it what it loses, and lend it their own limits: else a limit would tear the coupling.
"""

# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

from collections.abc import Callable, Sequence

import mujoco
import numpy as np

from ...base.native import core
from .address import AxisAddress

# files use the largest float32 for no limit, in any unit
_NO_LIMIT = 1e36


def velocity_limiter(
    limits: np.ndarray,
    at: AxisAddress,
    dt: float,
    qpos: np.ndarray,
    qvel: np.ndarray,
    couplings: Sequence[tuple[int, int, float]] = (),
) -> Callable[[], None] | None:
    """What is to be called after each physics step; None where no axis has a limit.

    Limits [rad/s or m/s] >= 0 are `(environments, axes)`, inf for none; positions and velocities change in place.
    Couplings are axes that follow, those that they follow, and how many times as fast they are.
    """
    limits = limits.copy()
    for follower, leader, ratio in couplings:
        if ratio:
            limits[:, leader] = np.minimum(limits[:, leader], limits[:, follower] / abs(ratio))
        limits[:, follower] = np.inf
    couplings = [one for one in couplings if (limits[:, one[1]] < _NO_LIMIT).any()]
    limited = np.flatnonzero((limits < _NO_LIMIT).any(axis=0))
    if not limited.size:
        return None
    if core is not None:
        place = {axis: number for number, axis in enumerate(limited.tolist())}
        coupled = [(at.position[f], at.velocity[f], place[leader], ratio) for f, leader, ratio in couplings]
        columns = at.position[limited].tolist(), at.velocity[limited].tolist()
        return core.VelocityLimits(limits[:, limited].copy(), *columns, coupled, qpos, qvel, dt).run
    # the columns from the first to the last, which need no gathering
    first, end = at.velocity[limited].min(), at.velocity[limited].max() + 1
    velocities, columns, places = qvel[:, first:end], at.velocity[limited] - first, at.position[limited]
    bounds = np.full(velocities.shape, np.inf)
    bounds[:, columns] = limits[:, limited]
    speeds, change, beyond = np.empty(bounds.shape), np.empty(bounds.shape), np.empty(bounds.shape, bool)

    def limit() -> None:
        np.absolute(velocities, out=speeds)
        np.greater(speeds, bounds, out=beyond)
        if np.count_nonzero(beyond):
            # infinite values stay, and are reported as divergence
            np.less(speeds, np.inf, out=beyond, where=beyond)
            np.copysign(bounds, velocities, out=speeds)
            change.fill(0.0)
            np.subtract(speeds, velocities, out=change, where=beyond)
            qpos[:, places] += change[:, columns] * dt
            np.copyto(velocities, speeds, where=beyond)
            for follower, leader, ratio in couplings:
                lost = ratio * change[:, at.velocity[leader] - first]
                qvel[:, at.velocity[follower]] += lost
                qpos[:, at.position[follower]] += lost * dt

    return limit


def linear_couplings(model: mujoco.MjModel, at: AxisAddress) -> list[tuple[int, int, float]]:
    """Axes that follow others linearly: their numbers, those of the others, and the ratio."""
    axes = {joint: number for number, joint in enumerate(at.joint.tolist())}
    found = []
    for row in np.flatnonzero((model.eq_type == mujoco.mjtEq.mjEQ_JOINT) & (model.eq_active0 != 0)).tolist():
        pair = axes.get(int(model.eq_obj1id[row])), axes.get(int(model.eq_obj2id[row]))
        if None not in pair and not model.eq_data[row, 2:5].any():
            found.append((*pair, float(model.eq_data[row, 1])))
    return found
