"""Effects of single joints: a spring with backlash, a breakaway, and a startup force.

They are tried joint by joint, after the model of friction of all joints was chosen, where that does not explain the
positions. A joint takes one whose numbers its logs tell, if it makes its positions clearly better: on what is fitted,
on what is held out, and on logs left out in turn. A spring has to halve errors: what it does to a resonance, a delay
and an armature do in part. A startup force is told by a load alone; a joint without one shows it as less friction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .fit import Fit
from .joints import CLOSE, Joints, Rung
from .models import BETTER
from .parameters import SPRING

# smallest load that tells a startup force from friction, of the friction
_LOADED = 0.5


@dataclass(frozen=True)
class Effect:
    """An effect: its parameters, and `told`, the one that logs have to tell.

    It is tried from an error of `least` times the noise of the encoder on, and may leave a `share` of the errors.
    `rung` is the name of the model of friction that has its fits; empty for one that is fitted.
    """

    names: tuple[str, ...]
    told: str
    least: float = 3.0
    share: float = BETTER
    rung: str = ""


EFFECTS = (
    Effect(SPRING, "stiffness", 20.0, 0.5),
    Effect(("breakaway", "stribeck_velocity"), "stribeck_velocity", rung="breakaway"),
    Effect(("startup",), "startup"),
)
"""The effects, in the order in which they are tried."""


def with_effects(best: Rung, tried: Sequence[Rung], noise: np.ndarray) -> tuple[Joints, list[Fit]]:
    """Return joints with the effects that pay for them, and their fits; `noise` is of the encoders [rad or m]."""
    joints, fits, rungs = best.joints, best.fits, {rung.score.name: rung for rung in tried}
    for effect in EFFECTS:
        before = Rung(joints, fits, best.score, best.cases)
        at = [j for j in range(len(fits)) if _is_tried(effect, before, best, j, noise[j])]
        after = rungs.get(effect.rung) if effect.rung else _fitted(effect, before, at)
        if after is None:
            continue
        at = _better(effect, before, after, at)
        joints = joints.adding(effect.names, at, after.fits if effect.rung else None)
        fits = [(after if j in at else before).fits[j] for j in range(len(fits))]
    return joints, fits


def _is_tried(effect: Effect, before: Rung, best: Rung, j: int, noise: float) -> bool:
    """Return whether a joint has errors that an effect may explain, and may have it and lacks it."""
    if not before.fits[j].error > effect.least * noise or not before.joints.may_have(j, effect.names):
        return False
    has_it = {*effect.names} <= {*before.joints.names_of(j, best.score.name)}
    if has_it or effect.told != "startup":
        return not has_it
    # the load shows beside friction
    load = np.concatenate([case.load[:, j] for case in best.cases])
    return bool(np.percentile(np.abs(load), 95) > _LOADED * best.fits[j].values.get("coulomb", 0.0))


def _fitted(effect: Effect, before: Rung, at: Sequence[int]) -> Rung:
    """Return fits with an effect of some joints, by number; those with a spring start anew."""
    joints, model, fits = before.joints.adding(effect.names, at), before.score.name, list(before.fits)
    first = None if effect.names == SPRING else before.fits
    for j, fit in zip(
        at, joints.each(lambda k: joints.fit_of(at[k], model, before.cases, first, CLOSE), len(at)), strict=True
    ):
        fits[j] = fit
    return Rung(joints, fits, before.score, before.cases)


def _better(effect: Effect, before: Rung, after: Rung, at: Sequence[int]) -> list[int]:
    """Return the numbers of the joints, of some, that an effect pays for."""
    untold = after.joints.untold(after.fits)
    at = [j for j in at if effect.told not in untold.get(j, ())]
    for part in ("error", "held_out"):
        at = [j for j in at if getattr(after.fits[j], part) < effect.share * getattr(before.fits[j], part)]
    if not at or len(before.cases) == 1:
        return at
    new, old = (rung.joints.errors_left_out(rung.score.name, rung.fits, rung.cases, at) for rung in (after, before))
    return np.array(at)[new < effect.share * old].tolist()
