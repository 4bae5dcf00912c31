"""Dry friction of a level that was measured over speed, on which joints rest.

    F(|v|) = efforts over speeds, linear between rows     speeds   [rad/s or m/s], from 0 on, not decreasing
    f⁺     = the dry friction of this step, |f⁺| <= F     efforts  [N·m or N], >= 0

A joint that slides is held back by F, one at rest stays there below F(0). The step is that of `passive_friction.py`;
F includes what grows with the speed. Edges: outside the table the end rows hold, where two rows share a speed, the
first of them holds at that very speed. An inertia that is not known gives NaN, which is a fault.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Self

import warp as wp

from ..specs.configs import FrictionCurveConfig
from .contract.base import Passive, repeated
from .contract.friction_step import friction_before, friction_step, inertia_of_step, known_inertia, lifted, step_before
from .contract.law import UNSET, started


@wp.func
def friction_of_curve(
    effort: float,
    position: float,
    velocity: float,
    dt: float,
    inertia: float,
    load: float,
    load_is_whole: float,
    coupled_inertia: float,
    motor_damping: float,
    motor_lift: float,
    dry_effort: float,
    previous_velocity: float,
    previous_effort: float,
    assumed_inertia: float,
    level: float,
):
    """Return `effort` [N·m or N] with the friction added, the dry part of it, the velocity and the rest."""
    known = known_inertia(inertia, assumed_inertia)
    share, carried = friction_before(load_is_whole, dry_effort)
    gained = velocity - started(previous_velocity, velocity)
    before, gained = step_before(load_is_whole, load - carried, started(previous_effort, effort), gained)
    stepped = inertia_of_step(load_is_whole, coupled_inertia, known)
    lift, damping = lifted(effort, 0.0, motor_damping, motor_lift)
    total, dry, rest = friction_step(level, lift, velocity, dt, damping, stepped, share, carried, before, gained)
    return total, dry, velocity, rest


class PassiveFrictionCurve(Passive):
    """Friction of `N` joints, one table for all of them.

    Args:
        lookup_speeds: Speeds [rad/s or m/s], from 0 on, not decreasing.
        lookup_efforts: Dry friction at each speed [N·m or N].
        assumed_inertia: Effective inertia [kg·m² or kg] where the simulator does not provide it, shape `(N,)`; None
            means none.

    Raises:
        ValueError: A bad table.
    """

    SHARED_PARAMS: ClassVar[set[str]] = {"lookup_speeds", "lookup_efforts"}
    CONFIG = FrictionCurveConfig
    PARAMETERS: ClassVar[tuple[str, ...]] = ("assumed_inertia",)
    NEUTRAL: ClassVar[tuple[float, ...]] = (1.0,)
    CURVES: ClassVar[Mapping[str, str]] = {"level": "speed"}
    STATE: ClassVar[tuple[str, ...]] = ("dry_effort", "previous_velocity", "previous_effort")
    START: ClassVar[Mapping[str, float]] = {"previous_velocity": UNSET, "previous_effort": UNSET}
    ASKS: ClassVar[tuple[str, ...]] = (
        *("inertia", "load", "load_is_whole", "coupled_inertia"),
        *("motor_damping", "motor_lift"),
    )
    LAW = friction_of_curve

    def __init__(
        self, lookup_speeds: Sequence[float], lookup_efforts: Sequence[float], assumed_inertia: wp.array | None = None
    ) -> None:
        super().__init__(assumed_inertia)
        table = FrictionCurveConfig(list(lookup_speeds), list(lookup_efforts))
        self.lookup_speeds, self.lookup_efforts = table.lookup_speeds, table.lookup_efforts

    @classmethod
    def from_config(cls, config: FrictionCurveConfig, num_actuators: int, device: wp.DeviceLike) -> Self:
        """Return the component of a config."""
        assumed = repeated(config.assumed_inertia, num_actuators, device)
        return cls(config.lookup_speeds, config.lookup_efforts, assumed)

    def curve(self, name: str) -> tuple[list[float], list[float]]:
        """Return speeds [rad/s or m/s] and levels [N·m or N] of the table."""
        return self.lookup_speeds, self.lookup_efforts
