"""Holding brake: dry friction of a level that is switched by a flag, and rises and falls with time.

    F*   = torque where the brake is engaged, else 0
    F⁺   = F moved towards F* by at most torque·h/engage_time up, torque·h/release_time down, at once for times of 0
    f⁺   = the dry friction of this step, |f⁺| <= F⁺

The step of the friction is that of `passive_friction.py`: a joint at rest stays there, without creeping, under any
effort below F. After a reset F is F*. Edges: a torque of 0 changes nothing; parameters out of range, and an inertia
that is not known where F is not 0, give NaN, which the plan's guard turns into zero and a fault.
"""

# wp.func returns what Warp says
# pyright: reportReturnType=false

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import warp as wp

from ..specs.brake import BrakeConfig
from .contract.base import Passive
from .contract.friction_step import friction_before, friction_step, inertia_of_step, known_inertia, lifted, step_before
from .contract.law import UNSET, started, within
from .contract.ranges import LARGEST, usable


@wp.func
def change_in(torque: float, seconds: float, dt: float) -> float:
    """Return the largest change of a level in a step, all of it for a time of 0."""
    return torque * dt / seconds if seconds > 0.0 else LARGEST + usable(seconds)


@wp.func
def brake_prepare(
    torque: float, release_time: float, engage_time: float, engaged: float, assumed_inertia: float, dt: float
):
    """Return the level that is approached, its largest changes up and down in a step, and the assumed inertia."""
    level = usable(torque)
    approached = level if engaged > 0.5 else 0.0 * level
    return approached, change_in(level, engage_time, dt), change_in(level, release_time, dt), assumed_inertia


@wp.func
def braked(
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
    level: float,
    dry_effort: float,
    previous_velocity: float,
    previous_effort: float,
    approached: float,
    most_up: float,
    most_down: float,
    assumed_inertia: float,
):
    """Return `effort` [N·m or N] with the brake added, its level, the dry part, the velocity and the rest."""
    before_step = started(level, approached)
    ramped = within(approached, before_step - most_down, before_step + most_up)
    now = 0.0 if ramped < 0.0 else ramped
    known = known_inertia(inertia, assumed_inertia)
    share, carried = friction_before(load_is_whole, dry_effort)
    gained = velocity - started(previous_velocity, velocity)
    before, gained = step_before(load_is_whole, load - carried, started(previous_effort, effort), gained)
    stepped = inertia_of_step(load_is_whole, coupled_inertia, known)
    lift, damping = lifted(effort, 0.0, motor_damping, motor_lift)
    total, dry, rest = friction_step(now, lift, velocity, dt, damping, stepped, share, carried, before, gained)
    return total, now, dry, velocity, rest


class PassiveBrake(Passive):
    """Holding brakes of `N` joints.

    Args:
        torque: Largest effort that an engaged brake holds [N·m or N], shape `(N,)`.
        release_time: Time from the whole effort to none [s], shape `(N,)`; 0 for at once.
        engage_time: Time from no effort to the whole [s], shape `(N,)`; 0 for at once.
        engaged: 1 where the brake is engaged, 0 where it is released, shape `(N,)`; set it at run time.
        assumed_inertia: Effective inertia [kg·m² or kg] where the simulator does not provide it, shape `(N,)`.
    """

    CONFIG = BrakeConfig
    PARAMETERS: ClassVar[tuple[str, ...]] = ("torque", "release_time", "engage_time", "engaged", "assumed_inertia")
    NEUTRAL: ClassVar[tuple[float, ...]] = (0.0, 0.0, 0.0, 0.0, 1.0)
    STATE: ClassVar[tuple[str, ...]] = ("level", "dry_effort", "previous_velocity", "previous_effort")
    START: ClassVar[Mapping[str, float]] = {"level": UNSET, "previous_velocity": UNSET, "previous_effort": UNSET}
    ASKS: ClassVar[tuple[str, ...]] = (
        *("inertia", "load", "load_is_whole", "coupled_inertia"),
        *("motor_damping", "motor_lift"),
    )
    PREPARE = brake_prepare
    LAW = braked
