"""What was asked of gains, and what was found."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from ...specs.motors import MotorConfig

RULES: Final = ("inertia", "armature")
"""Rules by name: gains of the nominal inertia, and gains of the armature alone, as learned locomotion has them."""

# damping ratio of `--rule armature`
_RATIO = 2.0


@dataclass(frozen=True)
class TunedJoint:
    """Gains of a joint, what they do over all poses, and why they are what they are.

    Args:
        joint: Name of the joint.
        kp: Proportional gain at the joint [N·m/rad or N/m].
        kd: Derivative gain at the joint [N·m·s/rad or N·s/m].
        ki: Integral gain at the joint [N·m/(rad·s) or N/(m·s)].
        inertia: Smallest inertia over poses, all other joints free; nominal one, the median over poses with the others
            held; and the largest, others held, with the armature [kg·m² or kg].
        armature: Armature within these [kg·m² or kg].
        frequency: Natural frequency at the nominal inertia [Hz].
        damping_ratio: Smallest and largest damping ratio over the range of inertias.
        bandwidth: Smallest frequency over poses up to which the joint follows, within 3 dB [Hz].
        overshoot: Largest predicted overshoot, of the step.
        settling: Longest predicted settling time, to 2 % [s].
        gain_margin: Smallest gain margin over poses, the loops of all others closed.
        phase_margin: Smallest phase margin over poses, likewise [deg].
        gravity: Largest effort over poses that holds gravity [N·m or N].
        effort_limit: Largest effort of the motor [N·m or N]; infinite for none.
        sag: Largest distance below the target by gravity, `gravity/kp` [rad or m]; 0 with an integral.
        stuck: Distance from the target at which dry friction holds it, `friction/kp` [rad or m]; 0 with an integral.
        saturated: How long a step saturates [s].
        bound: What bounds the gains: `asked`, `torque`, `delay`, `physics step`, `inertia range`, `encoder`,
            `elasticity`, `friction`, `coupling` of the joints, or `rule`.
        remedy: What would have to change for more, in words; empty for nothing.
        more: By how much kp could then be larger, a factor; 1 for nothing.
        verdict: `as asked`, `best`, `missed`, or of gains that are judged: `good`, `soft`, `stiff`, `underdamped`,
            `beyond the margin`, `vibrates`.
        reason: Why, of gains that are judged.
        integral_max: Bound of the integral against windup [rad·s or m·s]; infinite without an integral.
        action_scale: Of a policy, `0.25·effort_limit/kp` [rad or m]; with `rule="armature"`, else NaN.
        turns: True if the joint turns, False if it slides.
        measured: What the simulation showed, by name: `rise`, `settling` [s], `overshoot`, `sag`, `saturated` [s],
            `chatter`, `effort_noise`, and `sine_error`, the mean error of a sine of 0.5 Hz of all joints together, of
            its size; the worst over poses. Empty if it was not simulated.
    """

    joint: str
    kp: float
    kd: float
    ki: float
    inertia: tuple[float, float, float]
    armature: float
    frequency: float
    damping_ratio: tuple[float, float]
    bandwidth: float
    overshoot: float
    settling: float
    gain_margin: float
    phase_margin: float
    gravity: float
    effort_limit: float
    sag: float
    stuck: float
    saturated: float
    bound: str
    remedy: str
    more: float
    verdict: str
    reason: str = ""
    integral_max: float = math.inf
    action_scale: float = math.nan
    turns: bool | None = None
    measured: Mapping[str, float] = field(default_factory=dict[str, float])


@dataclass(frozen=True, eq=False)
class Tuned:
    """The result of `tune`.

    Args:
        robot: Path of the robot file.
        motors: The motors with their gains, by pattern of joint names, as `save_motors` and `add_motors` take them.
        joints: A row for each joint with a control law.
        warnings: What to know, worst first, a sentence each.
        missed: What was asked for and cannot be had, or did not show in simulation, a sentence each.
        dt: Physics step [s].
        seconds: How long it took [s].
        responses: Of each joint, the steps of all poses from 0 to 1: times [s], shape `(samples,)`, and positions,
            shape `(samples, poses)`; empty without simulation.
    """

    robot: str
    motors: Mapping[str, MotorConfig]
    joints: tuple[TunedJoint, ...]
    warnings: tuple[str, ...]
    missed: tuple[str, ...]
    dt: float
    seconds: float
    responses: Mapping[str, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)

    @property
    def is_wrong(self) -> bool:
        """True if it misses what was asked."""
        return bool(self.missed)


@dataclass(frozen=True)
class Wish:
    """What was asked for; see `tune`."""

    bandwidth: float | None
    settle: float | None
    damping_ratio: float | None
    step: float | None
    saturation: float
    frequency: float | None
    rule: str | None
    integral: bool = False

    def ratio(self) -> float | None:
        """The damping ratio of all poses at least; None for a free one."""
        if self.damping_ratio is not None:
            return self.damping_ratio
        if self.rule == "armature":
            return _RATIO
        return 1.0 if self.rule or self.bandwidth or self.settle else None
