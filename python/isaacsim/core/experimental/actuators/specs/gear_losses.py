"""Losses of a gear: dry friction of the joint under load, which takes power and never gives any.

A joint that is held back by |k_e·τ_e − k_m·τ_m|, τ_m the effort of the motor at the joint and τ_e what else acts on it,
moves at τ_e = −η·τ_m where the motor drives and at τ_m = −η_b·τ_e where it is driven:

    k_m + η·k_e = 1 − η,  k_e + η_b·k_m = 1 − η_b        η  efficiency, η_b  backdriving efficiency

Where the efficiencies differ much, as near self-locking, the smaller of k_m and k_e is negative: the level is not.
Beside `LuGreFrictionConfig`, the losses are those of its bristles, without a jump at rest.

Source: the gearbox term of model M5 of Duclusaud et al., ICRA 2025, solved for the two efficiencies.
"""

from __future__ import annotations

import dataclasses

from .configs import Config, FrictionConfig, LuGreFrictionConfig
from .engine_friction import is_friction, is_in_engine
from .fields import entries_of
from .stages import Staged
from .transmission import ROUNDING, TransmissionConfig, transmission_of


def losses(efficiency: float, backdriving_efficiency: float) -> tuple[float, ...]:
    """Return the dry friction per effort of the motor, k_m, and per external effort, k_e; a second 0 is the first."""
    backdriving = backdriving_efficiency + efficiency * (backdriving_efficiency == 0.0)
    both = efficiency * backdriving
    # no loss in either direction: 0/0
    rest = 1.0 - both + (both == 1.0)
    lost = [1.0 - 2.0 * share + both for share in (efficiency, backdriving)]
    # efficiencies in files have single precision: what is 0 but for that is 0
    return tuple(value * (abs(value) > ROUNDING) / rest for value in lost)


def with_losses(stages: Staged) -> list[Config]:
    """Return the other stages of an actuator, with what its gear loses in their friction.

    An actuator without friction gets a `FrictionConfig`, which assumes the inertia that its transmission assumes.
    """
    gear = transmission_of(stages)
    if gear is None or not _loses(gear):
        return list(stages.others)
    of_motor, external = losses(gear.efficiency, gear.backdriving_efficiency)
    none = FrictionConfig(assumed_inertia=getattr(gear, "assumed_inertia", 0.0))
    friction = next((one for one in stages.others if isinstance(one, FrictionConfig | LuGreFrictionConfig)), none)
    whole = dataclasses.replace(
        friction, motor_load=friction.motor_load + of_motor, external_load=friction.external_load + external
    )
    return [*(one for one in stages.others if one is not friction), whole]


def loss_problems(staged: Staged, subject: str) -> list[str]:
    """Return what is wrong between a gear that loses something and another friction of its joint."""
    gear = transmission_of(staged)
    if gear is None or not _loses(gear):
        return []
    for one in filter(is_friction, staged.others):
        if not isinstance(one, FrictionConfig | LuGreFrictionConfig):
            return [
                f"{subject} has {type(one).__name__} and a transmission with losses: must have FrictionConfig or "
                "LuGreFrictionConfig, which take both. Use one, or set the efficiencies to 1."
            ]
        if is_in_engine(one):
            return [
                f"{subject} has FrictionConfig.in_engine and a transmission with losses, which no simulator has: must "
                "be computed by the actuator. Set in_engine to False, or the efficiencies to 1."
            ]
    return []


def _loses(gear: TransmissionConfig) -> bool:
    # 0 means the other efficiency
    return any(share not in (0.0, 1.0) for share in entries_of([gear.efficiency, gear.backdriving_efficiency]))
