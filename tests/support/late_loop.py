"""Joints with latency, rate and measured velocity, stepped one step at a time in float64."""

import math
from dataclasses import dataclass

import numpy as np
from isaacsim.core.experimental.actuators import EffortDelayConfig, EncoderConfig, RateConfig
from isaacsim.core.experimental.actuators.tools.stability.timing import Timing


@dataclass
class Joint:
    """How a joint is measured and driven; its latency in steps of its controller, the effort delay in physics steps."""

    gains: tuple[float, float, float]
    latency: float = 0.0
    effort_delay: float = 0.0
    difference: bool = False
    filter_time: float = 0.0
    decimation: int = 1

    def configs(self) -> list:
        kind = "difference" if self.difference else "register"
        encoder = EncoderConfig(latency_steps=self.latency, velocity=kind, velocity_filter=self.filter_time)
        return [encoder, EffortDelayConfig(steps=self.effort_delay), RateConfig(self.decimation)]


class Reference:
    """Joints stepped one step at a time in float64, with rings of measurements and of efforts, as a controller is."""

    def __init__(self, inverse: np.ndarray, joints: list[Joint], dt: float, weight: float) -> None:
        self.inverse, self.joints, self.dt, self.weight = inverse, joints, dt, weight
        count = len(joints)
        self.measured = [[(0.0, 0.0)] * 40 for _ in range(count)]
        self.efforts = [[0.0] * 40 for _ in range(count)]
        self.last, self.filtered, self.integral, self.held = np.zeros((4, count))

    @staticmethod
    def _at(ring: list, steps: float):
        whole, part = int(steps), steps - int(steps)
        return (1 - part) * np.array(ring[whole]) + part * np.array(ring[whole + 1])

    def compute(self, at: int, q: float, v: float) -> None:
        joint = self.joints[at]
        time = joint.decimation * self.dt
        share = time / (joint.filter_time + time)
        raw = (q - self.last[at]) / time if joint.difference else v
        self.last[at] = q
        self.filtered[at] += share * (raw - self.filtered[at])
        self.measured[at] = [(q, self.filtered[at]), *self.measured[at][:-1]]
        seen_q, seen_v = self._at(self.measured[at], joint.latency)
        self.integral[at] -= time * seen_q
        kp, kd, ki = joint.gains
        self.held[at] = -kp * seen_q - kd * seen_v + ki * self.integral[at]

    def growth(self, steps: int = 3000) -> float:
        q, v = np.random.default_rng(3).normal(size=(2, len(self.joints)))
        kept, sizes = 0.0, []
        for step in range(steps):
            for at, joint in enumerate(self.joints):
                if step % joint.decimation == 0:
                    self.compute(at, q[at], v[at])
                self.efforts[at] = [self.held[at], *self.efforts[at][:-1]]
            effort = [self._at(ring, joint.effort_delay) for ring, joint in zip(self.efforts, self.joints, strict=True)]
            before = v
            v = v + self.dt * self.inverse @ effort
            q = q + self.dt * ((1 - self.weight) * before + self.weight * v)
            size = float(np.abs([q, self.dt * v]).max())
            sizes.append(kept + math.log(size))
            if step % 60 == 59:
                # it is linear: all of it is scaled, so that it neither overflows nor vanishes
                kept += math.log(size)
                q, v = q / size, v / size
                self.scale(1.0 / size)
        last = sizes[steps // 2 :]
        return math.exp(np.polyfit(np.arange(len(last)), last, 1)[0])

    def scale(self, factor: float) -> None:
        self.measured = [[(factor * a, factor * b) for a, b in ring] for ring in self.measured]
        self.efforts = [[factor * one for one in ring] for ring in self.efforts]
        for state in (self.last, self.filtered, self.integral, self.held):
            state *= factor


def timing_of(joints: list[Joint]) -> Timing:
    return Timing(np.concatenate([Timing.of(joint.configs(), 1).values for joint in joints], axis=1))
