"""A step of dry friction of a given level, and viscous friction; `passive_friction.py` has the equations.

It goes on from the step before: from its dry friction, its effort without that and its velocity. Where the load of the
joint is whole, it is taken instead of these.

Where the effort of the motor is that of the end of the step, it falls with the velocity v⁺ there, by a damping s:
effort + lift − s·v⁺, with lift = s·v⁺ of the motor alone. The friction then is that of a joint with the effort
effort + lift and a viscous friction that is larger by s, and both are solved at once.
"""

# wp.func returns what Warp says
# pyright: reportReturnType=false

from __future__ import annotations

import warp as wp

from .law import bounded, within


@wp.func
def known_inertia(inertia: float, assumed_inertia: float) -> float:
    """Return the inertia that the simulator gives, the assumed one where it gives none, or NaN."""
    return inertia if inertia > 0.0 else assumed_inertia if assumed_inertia > 0.0 else wp.nan


@wp.func
def inertia_of_step(load_is_whole: float, coupled_inertia: float, known: float) -> float:
    """Return the inertia with which a joint is stepped by itself: the known one where the load tells what others do."""
    alone = load_is_whole > 0.5 or not (coupled_inertia > 0.0)
    return known if alone else coupled_inertia


@wp.func
def rate_of_momentum(known: float, dt: float) -> float:
    """Return the effort that changes the velocity by 1 in a step; finite, so that a level of zero stays zero."""
    return within(known * (1.0 / dt), 0.0, 1.0e37)


@wp.func
def lifted(effort: float, viscous: float, motor_damping: float, motor_lift: float):
    """Return the effort of the motor at a final velocity of zero, and all that damps; an effort that rises does not."""
    return effort + motor_lift, viscous + (0.0 if motor_damping < 0.0 else motor_damping)


@wp.func
def step_before(load_is_whole: float, load: float, before: float, gained: float):
    """Return effort and gain of velocity of the step before; with a load of all that acts, that which balances it."""
    told = load_is_whole > 0.0
    return load if told else before, 0.0 if told else gained


@wp.func
def friction_before(load_is_whole: float, dry_effort: float):
    """Return the share of a step in its dry friction, and the friction that it goes on from."""
    told = load_is_whole > 0.5
    return 1.0 if told else 0.5, 0.0 if told else dry_effort


@wp.func
def friction_step(
    level: float,
    effort: float,
    velocity: float,
    dt: float,
    viscous: float,
    known: float,
    share: float,
    carried: float,
    before: float,
    gained: float,
):
    """Return `effort` with the friction added, the dry part of it and the rest; `known` is the inertia of the step."""
    momentum_rate = rate_of_momentum(known, dt)
    drag = dt * viscous
    # as it would be if all that acts stayed
    next_velocity = velocity + gained
    wanted = -share * (momentum_rate * next_velocity + (effort - before))
    dry = bounded(carried + wanted, -level, level)
    change = within(wanted, -level - carried, level - carried)
    # viscous·v⁺ as a mean of what the joint would do with and without it, not as a difference of large numbers
    inverse = 1.0 / (known + drag)
    light = known * inverse if drag > 0.0 else 1.0
    heavy = drag * inverse
    left = effort - viscous * next_velocity
    rest = light * left + heavy * (before - change)
    total = light * (left + dry) + heavy * (before + carried)
    # a joint that stops in this step: v⁺ is zero, and what cancels is left out
    # a number first: compilers branch on a condition of `share`, one of two constants, and vectorize no branch
    whole_step = share if (change == wanted) and wp.isfinite(wanted) else 0.0
    stops = whole_step == 1.0
    total = before - momentum_rate * velocity if stops else total
    return total, dry, effort if stops else rest
