"""Effort at the end of the physics step: what a joint does in a step without its motor, and how it yields to it.

    v⁺ = v₀ + g·τ,   q⁺ = q + h·v⁺              velocity and position at the end of a step under the effort τ
    g  = h/I                                    gain of velocity per effort, I an inertia of the joint
    v₀ = v + g·(ℓ − load)                       velocity without the motor; load balances what the simulator tells
    ℓ⁺ = ℓ + w·(I·(v − v′)/h − u′ + load − ℓ)   what else acts, as the step before shows; w = load_share·(I/I_e)², 1
                                                where the joint has friction
    τ  = F(q⁺, v⁺)                              F: controller, winding and limits, one after the other

h is the physics step; v′ and u′ are velocity and effort of the step before. The load in v₀ makes a joint rest where it
rests with an explicit effort. ℓ is 0 in the first step after a reset, and where the load is whole; w is below the
smallest ratio of I to the inertia that the joint really moves, for a load that is followed faster makes coupled joints,
and joints in contact, vibrate. Not so those with friction, which can hold a joint only against what really acts. Each
stage s of F is solved by one step of Newton's method from the effort e that solves
those before it, with the slope F′ of all of them by v⁺ (q⁺ moves with it):

    τ = e + (s(e, q⁺, v⁺) − e) / (1 − g·F′),    F′ = ∂s/∂e·F′ + ∂s/∂v + h·∂s/∂q,   at most 0

which is exact for PD and PID with limits that are constant, or lines where they act. The core solves the bounds of a DC
motor directly. A slope above zero, which would be a motor that drives itself, counts as 0. Friction behind the limits
gets this slope: see `friction_step.py`.

I is `coupled_inertia`: less than the effective inertia I_e, so that joints of a chain that are stepped one by one do
not overshoot together; without it half the effective inertia, and else what is assumed.

With `in_engine` the simulator takes over how the effort falls with the final velocity, and finds that with contacts and
coupling. It gets, for this step, a damping d and the effort p at a final velocity of zero:

    d = −F′,   p = τ + d·v⁺;   the simulator gets the effort p − d·v and h·d more armature, which solves
    (M + h·d)·(v̇) = p − d·v + …,   so that p − d·v⁺ acts, with the v⁺ that it finds: F there, for a line

The effort of the step before is then p′ − d′·v, with today's velocity. Where a limit acts at the end, d is 0. Where one
would act if the joint kept its velocity, d is that of the chord between there and the end, at most −F′: so the effort
stays within the limit as long as v⁺ is between the velocity that is kept and the one that is predicted.
Without `in_engine`, d is 0 and p the effort: the states `previous_effort` and `engine_damping` are p and d.
A motor with a linkage is solved at its shaft: v and q are those of the shaft, R = G·M⁻¹·Gᵀ takes the place of M⁻¹, and
its load is G·M⁻¹·load/R_ss. All motors of a linkage have the mode. A cable that would push is slack: τ = 0. The joints
get Gᵀ·τ, and `in_engine` Gᵀ·(p − d·v) with h·d more armature of the tendon that the shaft is.
Edges: an inertia that is not known gives NaN, which the plan's guard turns into zero and a fault.
Source: backward Euler in the velocity; a diagonal R·D with the row sums R of the correlations of D⁻½·M⁻¹·D⁻½,
D = diag(M⁻¹), bounds M⁻¹ from above (Gershgorin), which makes the steps contract.
"""

# wp.func returns what Warp says
# pyright: reportReturnType=false

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import warp as wp

from ..specs.implicit import ImplicitConfig
from .contract.base import EffortMode
from .contract.law import UNSET


@wp.func
def stepped_inertia(coupled_inertia: float, inertia: float, assumed_inertia: float) -> float:
    """Return the inertia with which joints may be stepped one by one; NaN where none is known."""
    assumed = assumed_inertia if assumed_inertia > 0.0 else wp.nan
    alone = 0.5 * inertia if inertia > 0.0 else assumed
    return coupled_inertia if coupled_inertia > 0.0 else alone


@wp.func
def what_acts(
    velocity: float,
    dt: float,
    inertia: float,
    load: float,
    coupled_inertia: float,
    has_friction: float,
    previous_velocity: float,
    previous_effort: float,
    unmodelled: float,
    engine_damping: float,
    assumed_inertia: float,
    load_share: float,
):
    """Return the inertia of the step, and what acts besides the motor and the load that is known; 0 after a reset."""
    known = stepped_inertia(coupled_inertia, inertia, assumed_inertia)
    # the simulator may have damped a part of the effort of the step before
    acted = previous_effort - engine_damping * velocity if engine_damping != 0.0 else previous_effort
    is_first = wp.isnan(previous_velocity)
    gained = 0.0 if is_first else velocity - previous_velocity
    told = load - (0.0 if is_first else acted)
    # what is known early is summed first, and divided by inertia and not by what is known: the core does not wait then
    moved = known * (gained * (1.0 / dt))
    part = coupled_inertia / inertia if coupled_inertia > 0.0 else 0.5
    coupling = part if inertia > known else 1.0
    followed = (0.0 if is_first else load_share) * coupling * coupling
    learned = unmodelled + followed * (moved + (told - unmodelled))
    return known, moved + told if has_friction > 0.5 and not is_first else learned


@wp.func
def end_of_step(
    position: float,
    velocity: float,
    dt: float,
    inertia: float,
    load: float,
    load_is_whole: float,
    coupled_inertia: float,
    motor_damping: float,
    motor_lift: float,
    has_friction: float,
    previous_velocity: float,
    previous_effort: float,
    unmodelled: float,
    engine_damping: float,
    assumed_inertia: float,
    load_share: float,
    in_engine: float,
):
    """Return the velocity after the step without the motor, and the gain of velocity per effort of it."""
    known, rest = what_acts(
        velocity,
        dt,
        inertia,
        load,
        coupled_inertia,
        has_friction,
        previous_velocity,
        previous_effort,
        unmodelled,
        engine_damping,
        assumed_inertia,
        load_share,
    )
    gain = dt / known
    return velocity + gain * ((0.0 if load_is_whole > 0.5 else rest) - load), gain


@wp.func
def remember(
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
    has_friction: float,
    previous_velocity: float,
    previous_effort: float,
    unmodelled: float,
    engine_damping: float,
    assumed_inertia: float,
    load_share: float,
    in_engine: float,
):
    """Return velocity, effort, what acted besides it, and what the simulator is to damp, for the next step."""
    _known, rest = what_acts(
        velocity,
        dt,
        inertia,
        load,
        coupled_inertia,
        has_friction,
        previous_velocity,
        previous_effort,
        unmodelled,
        engine_damping,
        assumed_inertia,
        load_share,
    )
    hands_over = in_engine > 0.5
    whole = effort + motor_lift if hands_over else effort
    return velocity, whole, rest, motor_damping if hands_over else 0.0


class ImplicitEffort(EffortMode):
    """Effort at the end of the step, of `N` joints.

    Args:
        assumed_inertia: Effective inertia [kg·m² or kg] where the simulator does not provide it, shape `(N,)`.
        load_share: Share of the load that a step shows that the next one takes over, shape `(N,)`.
        in_engine: 1 where the simulator takes over the slope of the effort, else 0, shape `(N,)`; None means 0.

    Raises:
        TypeError: An array is missing.
        ValueError: The arrays differ in shape.
    """

    CONFIG = ImplicitConfig
    PARAMETERS: ClassVar[tuple[str, ...]] = ("assumed_inertia", "load_share", "in_engine")
    NEUTRAL: ClassVar[tuple[float, ...]] = (1.0, 1.0, 0.0)
    STATE: ClassVar[tuple[str, ...]] = ("previous_velocity", "previous_effort", "unmodelled_load", "engine_damping")
    START: ClassVar[Mapping[str, float]] = {"previous_velocity": UNSET, "previous_effort": UNSET}
    ASKS: ClassVar[tuple[str, ...]] = (
        *("inertia", "load", "load_is_whole", "coupled_inertia"),
        *("motor_damping", "motor_lift", "has_friction"),
    )
    LAW = remember
    END = end_of_step

    def __init__(
        self, assumed_inertia: wp.array | None, load_share: wp.array | None, in_engine: wp.array | None = None
    ) -> None:
        super().__init__(assumed_inertia, load_share, in_engine)
