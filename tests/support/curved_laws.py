"""Laws of every kind with several curves, over position, velocity and speed, some of them prepared for the step."""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import oracle
import warp as wp
from isaacsim.core.experimental.actuators import Clamping, ClampingMaxEffort, ClampingPositionBased, Controller
from isaacsim.core.experimental.actuators.engine.entry import ActuatorEntry
from isaacsim.core.experimental.actuators.laws.contract.base import Feedback, Passive
from isaacsim.core.experimental.actuators.laws.contract.law import bounded
from step_bench import ROBOTS, TABLE, entry, full

Table = tuple[list[float], list[float]]
STIFF: Table = [-1.0, 0.0, 0.0, 1.0], [0.5, 1.0, 2.0, 1.5]
DROOP: Table = [0.2, 1.0, 2.0], [0.0, 0.4, 0.1]
# of so many rows that they are searched
LONG: Table = np.linspace(-2.5, 2.5, 60).tolist(), (0.75 + 0.25 * np.cos(np.arange(60.0))).tolist()
FADE: Table = np.linspace(0.0, 3.0, 40).tolist(), np.linspace(0.0, 1.5, 40).tolist()
COGS: Table = [-1.0, -0.5, 0.0, 0.5, 1.0], [0.0, 0.4, 0.0, -0.4, 0.0]
VISCOUS: Table = [-2.0, -0.1, 0.1, 2.0], [-1.5, -0.5, 0.5, 1.5]
ONE: Table = [0.25], [0.75]


class Tabled:
    def __init__(self, *values: wp.array, **tables: Table) -> None:
        super().__init__(*values)
        self.tables = tables

    def curve(self, name: str) -> Table:
        return self.tables[name]


@wp.func
def curved_prepare(gain: float, dt: float):
    return 20.0 * gain * dt, gain


@wp.func
def curved_effort(
    q: float,
    qd: float,
    q_target: float,
    qd_target: float,
    ff: float,
    dt: float,
    step: float,
    gain: float,
    stiffness: float,
    droop: float,
):
    return gain * stiffness * (q_target - q) - droop * qd + ff + step + 0.0 * qd_target


class ControllerCurved(Tabled, Controller):
    PARAMETERS: ClassVar = ("gain",)
    CURVES: ClassVar = {"stiffness": "position", "droop": "speed"}
    PREPARE = curved_prepare
    LAW = curved_effort


@wp.func
def pushed_prepare(dt: float):
    return 0.01 / dt


@wp.func
def pushed_effort(
    q: float, qd: float, q_target: float, qd_target: float, ff: float, dt: float, rate: float, push: float
):
    return push + rate + ff + 0.0 * (q + q_target + qd_target)


class ControllerPushed(Tabled, Controller):
    CURVES: ClassVar = {"push": "velocity"}
    PREPARE = pushed_prepare
    LAW = pushed_effort


@wp.func
def curved_most(most: float, dt: float):
    return most - 4.0 * dt


@wp.func
def curved_clamp(effort: float, position: float, velocity: float, most: float, share: float, fade: float):
    bound = most * share - fade
    return bounded(effort, -bound, bound)


class ClampingCurved(Tabled, Clamping):
    PARAMETERS: ClassVar = ("most",)
    CURVES: ClassVar = {"share": "position", "fade": "speed"}
    PREPARE = curved_most
    LAW = curved_clamp


@wp.func
def faded_clamp(effort: float, position: float, velocity: float, most: float, fade: float):
    bound = most - fade
    return bounded(effort, -bound, bound)


class ClampingFaded(Tabled, Clamping):
    PARAMETERS: ClassVar = ("most",)
    CURVES: ClassVar = {"fade": "velocity"}
    LAW = faded_clamp


@wp.func
def curved_scale(scale: float, dt: float):
    return scale + 10.0 * dt


@wp.func
def curved_drag(
    effort: float,
    position: float,
    velocity: float,
    dt: float,
    last: float,
    scale: float,
    cogging: float,
    viscous: float,
):
    return effort - scale * cogging - 0.5 * (viscous + last), viscous


class PassiveCurved(Tabled, Passive):
    PARAMETERS: ClassVar = ("scale",)
    STATE: ClassVar = ("last",)
    CURVES: ClassVar = {"cogging": "position", "viscous": "velocity"}
    PREPARE = curved_scale
    LAW = curved_drag


@wp.func
def curved_sensor(position: float, velocity: float, share: float, offset: float, lag: float):
    return position + share * offset, velocity - lag


class FeedbackCurved(Tabled, Feedback):
    PARAMETERS: ClassVar = ("share",)
    CURVES: ClassVar = {"offset": "position", "lag": "speed"}
    LAW = curved_sensor


CURVED = (FeedbackCurved, ControllerCurved, ControllerPushed, ClampingCurved, ClampingFaded, PassiveCurved)
"""All of them."""


def curved_entries(*, sensed: bool) -> list[ActuatorEntry]:
    gains = wp.array([3.0, 4.0, 5.0], dtype=wp.float32, device="cpu")
    hip = [ClampingCurved(full(6), share=LONG, fade=FADE), ClampingMaxEffort(full(4))]
    knee = [ClampingPositionBased(None, *TABLE), ClampingCurved(gains, share=ONE, fade=DROOP)]
    sensor = [FeedbackCurved(full(0.5), offset=LONG, lag=DROOP)] if sensed else []
    drag = PassiveCurved(full(0.5), cogging=COGS, viscous=VISCOUS)
    toe = [ClampingCurved(full(5), share=STIFF, fade=DROOP), ClampingFaded(full(4), fade=VISCOUS)]
    return [
        entry("hip", ControllerCurved(gains, stiffness=STIFF, droop=DROOP), *hip, drag),
        entry("knee", ControllerPushed(push=VISCOUS), *knee),
        entry("ankle", PassiveCurved(full(2), cogging=LONG, viscous=FADE)),
        entry("toe", ControllerCurved(gains, stiffness=LONG, droop=ONE), *toe, *sensor),
    ]


def table(points_and_values: Table) -> Callable[[Any], np.ndarray]:
    """A table as a function of arrays, in float64."""
    stored = [[float(np.float32(number)) for number in column] for column in points_and_values]
    return np.vectorize(lambda x: oracle.table_limit(float(x), *stored), otypes=[float])


class CurvedTwin:
    """The same in float64, of all robots."""

    def __init__(self, *, sensed: bool, shared: bool = False) -> None:
        self.sensed, self.last = sensed, np.zeros((ROBOTS, 2))
        self.gains = np.full(3, 3.0) if shared else np.array([3.0, 4.0, 5.0])

    def step(self, inputs: np.ndarray, dt: float) -> np.ndarray:
        """Efforts `(robots, joints)` of inputs `(5, robots, joints)`."""
        inputs = inputs.astype(np.float64)
        good = np.isfinite(inputs).all(axis=0)
        q, qd, target, _, ff = np.where(good, inputs, 0.0)
        hip = self._curved(q, qd, target, ff, dt, 0, (STIFF, DROOP))
        hip = np.clip(self._clamped(hip, q, qd, 6, dt, 0, (LONG, FADE)), -4, 4)
        hip = self._dragged(hip, q, qd, 0.5 + 10 * dt, 0, (COGS, VISCOUS), good)
        knee = table(VISCOUS)(qd[:, 1]) + 0.01 / dt + ff[:, 1]
        bound = table(TABLE)(q[:, 1])
        knee = self._clamped(np.clip(knee, -bound, bound), q, qd, self.gains, dt, 1, (ONE, DROOP))
        ankle = self._dragged(np.zeros(ROBOTS), q, qd, 2 + 10 * dt, 2, (LONG, FADE), good)
        seen, seen_qd = q.copy(), qd.copy()
        if self.sensed:
            seen[:, 3] += 0.5 * table(LONG)(q[:, 3])
            seen_qd[:, 3] -= table(DROOP)(np.abs(qd[:, 3]))
        toe = self._curved(seen, seen_qd, target, ff, dt, 3, (LONG, ONE))
        bound = 4 - table(VISCOUS)(qd[:, 3])
        toe = np.clip(self._clamped(toe, q, qd, 5, dt, 3, (STIFF, DROOP)), -bound, bound)
        return np.where(good, np.stack([hip, knee, ankle, toe], axis=1), 0.0)

    def reset(self, robot: int) -> None:
        self.last[robot] = 0

    def _curved(self, q, qd, target, ff, dt: float, joint: int, tables: tuple[Table, Table]) -> np.ndarray:
        q, qd, target, ff = (one[:, joint] for one in (q, qd, target, ff))
        stiffness, droop = table(tables[0])(q), table(tables[1])(np.abs(qd))
        return self.gains * stiffness * (target - q) - droop * qd + ff + 20 * self.gains * dt

    @staticmethod
    def _clamped(effort, q, qd, most, dt: float, joint: int, tables: tuple[Table, Table]) -> np.ndarray:
        bound = (most - 4 * dt) * table(tables[0])(q[:, joint]) - table(tables[1])(np.abs(qd[:, joint]))
        return np.clip(effort, -bound, bound)

    def _dragged(self, effort, q, qd, scale: float, joint: int, tables: tuple[Table, Table], good) -> np.ndarray:
        last, viscous = self.last[:, joint // 2].copy(), table(tables[1])(qd[:, joint])
        self.last[:, joint // 2] = np.where(good[:, joint], viscous, last)
        return effort - scale * table(tables[0])(q[:, joint]) - 0.5 * (viscous + last)
