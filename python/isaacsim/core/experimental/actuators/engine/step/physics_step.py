"""Requirements of laws on the physics step: that of a network's training, and enough history for delays.

Both count in periods of the controller, where it has a rate.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ...laws.contract.late import SPARE_ROWS
from ...laws.rate_hold import steps_in_period
from ...specs.stages import KINDS, AnyStage

if TYPE_CHECKING:
    from ...laws.networks.network_law import NetworkLaw
    from ..plan import PlannedStage, StatefulLaw
    from .interface import Step

# part of a step that rounding may add
_ROUNDING = 1e-3


class Check(Protocol):
    """Interface of what checks physics steps."""

    def require_dt(self, dt: float | None) -> None:
        """Raise for a physics step."""


def checks_of(step: Step) -> list[Check]:
    """Return what checks the physics steps of a plan."""
    plan = step.plan
    trained = [TrainedStep(step, one) for one in plan.networks if one.law.sample_dt is not None]
    # the built-in stages whose results act late
    late = [stage for stage in (*plan.stages, *plan.feedback) if stage.depth and hasattr(stage.law, "SECONDS")]
    return [*trained, *([KeptDelays(step, late)] if late else [])]


class TrainedStep:
    """Requires the step that a network was trained for."""

    def __init__(self, step: Step, network: StatefulLaw[NetworkLaw]) -> None:
        self._step, self._network = step, network
        self._has_rate = any(stage.law.TICK is not None for stage in step.plan.stages)

    def require_dt(self, dt: float | None) -> None:
        """Raise for another step."""
        if dt is None or not self._has_rate:
            return self._network.law.require_dt(dt)
        steps = np.broadcast_to(periods_of(self._step, dt), self._step.plan.shape)
        for period in np.unique(steps[:, self._network.used]):
            self._network.law.require_dt(float(period) * dt)


class KeptDelays:
    """Requires steps for which the past is kept for all delays; a shorter step makes a delay in seconds longer."""

    def __init__(self, step: Step, late: Sequence[PlannedStage]) -> None:
        self._step, self._late, self._known = step, late, 0.0

    def require_dt(self, dt: float | None) -> None:
        """Raise for a shorter step; the same step is checked once."""
        if dt is None or dt == self._known:
            return
        for stage in self._late:
            self._require(stage, dt if KINDS[stage.law.KIND].takes_effort else dt * periods_of(self._step, dt))
        self._known = dt

    def _require(self, stage: PlannedStage, dt: np.ndarray | float) -> None:
        law: AnyStage = stage.law
        steps, seconds = (self._step.values(stage.rows[name]) for name in (law.STEPS, law.SECONDS))
        delays, most = steps + seconds / dt, stage.depth - SPARE_ROWS
        late = np.argwhere(stage.used & (delays > most + _ROUNDING))
        if len(late):
            at = tuple(late[0])
            subject = f"joint {self._step.plan.dof_names[at[1]]!r}: {law.__name__}"
            raise ValueError(
                f"{subject}: a delay of {delays[at]:.4g} steps of {np.broadcast_to(dt, delays.shape)[at]:.4g} s: must "
                f"be at most {most}. Give max_steps, or take a longer physics step."
            )


def periods_of(step: Step, dt: float) -> np.ndarray | float:
    """Return the number of physics steps in a period of each controller, `(robots, slots)`; 1 without a rate."""
    for stage in step.plan.stages:
        if stage.law.TICK is not None and {"decimation", "frequency"} <= stage.rows.keys():
            decimation, frequency = (step.values(stage.rows[name]) for name in ("decimation", "frequency"))
            return steps_in_period(decimation, frequency, dt)
    return 1.0
