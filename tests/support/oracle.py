"""The laws in float64, one page, written from the formulas of `components/` and nothing else: decides who is right."""

from __future__ import annotations

import numpy as np


def pd_effort(q, qd, q_target, qd_target, feedforward, kp, kd, const_effort):
    """PD law [N·m or N], element by element."""
    return const_effort + feedforward + kp * (q_target - q) + kd * (qd_target - qd)


def max_effort_clamp(effort, max_effort):
    """Symmetric limit [N·m or N]."""
    return np.minimum(np.maximum(effort, -max_effort), max_effort)


class Pipeline:
    """Delay, PD and limit for arrays of joints, each with its own parameters, in float64."""

    def __init__(self, kp, kd, const_effort=0.0, max_effort=np.inf, delay_steps=0) -> None:
        self.kp, self.kd, self.const_effort, self.max_effort, self.delay_steps = (
            np.asarray(value) for value in np.broadcast_arrays(kp, kd, const_effort, max_effort, delay_steps)
        )
        self.commands: list[list[tuple[float, float, float]]] = []
        self.reset()

    def reset(self, mask=None) -> None:
        """Forget the commands of the masked joints, all by default."""
        size = self.kp.size
        if not self.commands or mask is None:
            self.commands = [[] for _ in range(size)]
        else:
            for i in np.flatnonzero(mask):
                self.commands[i] = []

    def step(self, q, qd, q_target, qd_target, feedforward):
        """Return the efforts; a joint with an input that is not finite gets 0 and does not remember the command."""
        shape = np.shape(q)
        inputs = [np.asarray(x, np.float64).ravel() for x in (q, qd, q_target, qd_target, feedforward)]
        effort = np.zeros(self.kp.size)
        flat = (self.kp, self.kd, self.const_effort, self.max_effort, self.delay_steps)
        for i, (kp, kd, const, limit, delay) in enumerate(zip(*(p.ravel() for p in flat), strict=True)):
            now = [x[i] for x in inputs]
            if not np.isfinite(now).all():
                continue
            history = self.commands[i]
            history.append(tuple(now[2:]))
            delayed = history[max(len(history) - 1 - int(delay), 0)]
            raw = pd_effort(now[0], now[1], *delayed, kp, kd, const)
            # float32 overflows where float64 does not; tests stay away from there
            effort[i] = max_effort_clamp(raw, limit) if np.isfinite(raw) else 0.0
        return effort.reshape(shape)
