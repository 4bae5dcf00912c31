"""Gains that come with a reason: what a robot, its motors and its physics step allow, and what bounds it.

For each joint there is a range of inertias over poses: from `1/(M⁻¹)ᵢᵢ`, all other joints free, up to `Mᵢᵢ`, all others
held. Each of them closes the loop of the step map, see `stability/loop.py`, with latency, rates, filters and effort
modes as they are. With gains kp and kd, natural frequency ω and damping ratio ζ at inertia I are

    ω = √(kp/I)      ζ = kd/(2·√(kp·I))      so that half the inertia moves both by √2.

Margins, overshoot, settling time and bandwidth of a joint are therefore functions on one plane (ω, ζ), and the poses of
a joint lie on a diagonal of it. They are computed once for each kind of timing, and joints choose among their gains
those with gain margin >= 2 and phase margin >= 45° over the whole diagonal, that saturate no longer than asked and do
not chatter with the resolution of the encoder. Then all loops are closed at once, in each pose, and each is opened by
itself while the others stay closed: gains that lose their margin there are lowered. At the end the robot follows steps
in simulation, joint by joint, from all of these poses, with gravity.
"""

from __future__ import annotations

import dataclasses
import math
import os
import time
from collections.abc import Mapping, Sequence
from typing import Final, Literal

import numpy as np

from ...base.errors import listed
from ...simulators.simulation import is_model_file
from ...specs.motors import MotorConfig
from ..plots.units import units_of
from ..progress import Progress
from ..stability.frequency import closed_margins
from ..stability.loop import Loop
from .plant import LATER, LEFT, Plant, by_pattern, opened, plant_of, round_to, with_gains, with_law
from .steps import not_shown, verified
from .tuned import RULES, Tuned, TunedJoint, Wish

GAIN_MARGIN: Final = 2.0
"""Smallest gain margin of a loop, the others closed."""
PHASE_MARGIN: Final = 45.0
"""Smallest phase margin of a loop, the others closed [deg]."""

# share of the effort limit that chatter of the velocity term may have, where friction is less
_CHATTER = 0.05
# most of the frequency of a held rotor on its spring that a motor can damp
_OF_SPRING = 0.5
# share of a margin that rounded gains may have
_ROUNDED = 0.995
# share by which gains are stable a step later with all loops closed, for poses that were not looked at, per joint: the
# more joints, the sparser are the poses that were
_UNSEEN = 0.002
# poses over which inertias are taken, at least, and rounds in which gains are lowered, at most
_POSES, _ROUNDS = 200, 16
# sets of gains that are tried for better ones, at most, times joints
_TRIES = 300
# time to settle that is none [s], sag that holds nothing [rad or m], and tolerance of times
_FALLS, _LIMP, _LATE = 60.0, 0.5, 1e-9
# share of a step that friction may leave, and with rounded gains
_STOPS, _ROUNDED_STOPS = 0.05, 0.051
# of `--rule armature`: natural frequency [Hz], and share of the effort limit in an action of 1
_NATURAL, _ACTION = 10.0, 0.25


def best_gains(plant: Plant, joint: int, ask: Wish, without: str = "") -> tuple[float, float, bool]:
    """Return the best gains of a joint that margins and bounds allow, and whether they are as asked.

    Of those that are as asked, the smallest; without a wish or where none is, the best. Without one of `_REMEDIES`, it
    does not bound them.
    """
    frequency, ratio = np.geomspace(2e-3, 1.4, 110) / plant.dt, ask.ratio()
    ratios = np.geomspace(0.4, 4.0, 16) if ratio is None else np.array([ratio])
    # then nearer to what is best of these
    for spread in (1.06, 1.0):
        grid = np.meshgrid(frequency, ratios, indexing="ij")
        kp = plant.highest[joint] * grid[0].ravel() ** 2
        kd = np.maximum(plant.damping(joint, kp, grid[1].ravel()), plant.viscous[joint])
        at, is_asked = _best_of(plant, joint, ask, kp, kd, without)
        here, there = grid[0].ravel()[at], grid[1].ravel()[at]
        frequency = here * np.geomspace(1.0 / spread, spread, 13)
        ratios = ratios if ratio is not None else there * np.geomspace(1.0 / 1.16, 1.16, 9)
    return float(kp[at]), float(kd[at]), is_asked


def _best_of(plant: Plant, joint: int, ask: Wish, kp: np.ndarray, kd: np.ndarray, without: str) -> tuple[int, bool]:
    """Return which of some gains are best, and whether they are as asked."""
    values = plant.values(joint, kp, kd, without)
    good = (values["gain"] >= GAIN_MARGIN) & (values["phase"] >= PHASE_MARGIN) & (values["late"] > 0.999)
    good &= _is_bounded(plant, joint, ask, kp, kd, without)
    if not good.any():
        # the softest, which is judged by its margins
        return 0, False
    as_asked = good & (ask.bandwidth is not None or ask.settle is not None)
    if ask.bandwidth is not None:
        as_asked &= values["bandwidth"] >= ask.bandwidth
    if ask.settle is not None:
        as_asked &= values["settling"] <= ask.settle
        stuck = 0.0 if ask.integral else plant.friction[joint]
        as_asked &= stuck <= _STOPS * kp * plant.step(joint, ask.step)
    if as_asked.any():
        return int(np.argmin(np.where(as_asked, kp, np.inf))), True
    return int(np.argmin(np.where(good, _cost(values, ask), np.inf))), False


def _is_bounded(plant: Plant, joint: int, ask: Wish, kp: np.ndarray, kd: np.ndarray, without: str = "") -> np.ndarray:
    """Return which of some gains torque, encoder and spring allow."""
    good = np.ones(len(kp), bool)
    if without != "torque":
        good &= plant.saturated(joint, kp, kd, plant.step(joint, ask.step)) <= ask.saturation + _LATE
    if without != "encoder":
        noise = (kd - plant.viscous[joint]) * plant.quantum[joint]
        good &= noise <= max(plant.friction[joint], _CHATTER * plant.effort_limit[joint])
    if without != "elasticity":
        good &= kp <= plant.highest[joint] * (_OF_SPRING * plant.spring[joint]) ** 2
    return good


def _cost(values: Mapping[str, np.ndarray], ask: Wish) -> np.ndarray:
    """Return what is smallest of the best gains."""
    return -values["bandwidth"] if ask.bandwidth is not None else values["settling" if ask.settle else "itae"]


def _raised(plant: Plant, ask: Wish, gains: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Return better gains of some joints: with the others closed, more may be stable than with them free or held."""
    tries, ratio = _TRIES // len(plant.joints), ask.ratio()
    raised = [(1.15, 1.15), (1.0, 1.15), (1.15, 1.0)]
    groups = list(filter(lambda group: chosen[group].all(), plant.alike))
    while groups:
        rising = []
        for group in groups:
            joint, viscous = group[0], plant.viscous[group[0]]
            kp, kd = (gains[:2, joint, None] * np.transpose([(1.0, 1.0), *raised])) + [[0.0], [viscous]]
            values = plant.values(joint, kp, kd)
            costs = np.where(_is_bounded(plant, joint, ask, kp, kd), _cost(values, ask), np.inf)
            if ratio is not None:
                costs[kd < 0.999 * plant.damping(joint, kp, ratio)] = np.inf
            # rounding may have put the gains that are there beyond a bound
            enough = costs[0] - 0.01 * abs(costs[0]) if math.isfinite(costs[0]) else -math.inf
            for at in np.argsort(costs):
                if tries == 0 or costs[at] > enough:
                    break
                tried, tries = gains.copy(), tries - 1
                tried[0, group], tried[1, group] = kp[at], kd[at] - viscous
                if _is_safe(plant, tried):
                    gains = tried
                    rising.append(group)
                    break
        groups = rising
    return gains


def _is_safe(plant: Plant, gains: np.ndarray) -> bool:
    """Return True if all loops keep their margins, and are stable a step later, in the poses that are closed."""
    if any(_later(loop.changed(gains), plant.dt).max() > 1.0 for loop in plant.loops[: plant.closed]):
        return False
    gain, phase = _closed(plant, gains)
    return bool((gain >= _ROUNDED * GAIN_MARGIN).all() and (phase >= _ROUNDED * PHASE_MARGIN).all())


_REMEDIES: Final = {
    "torque": "a smaller --step, a longer --saturation, or more torque",
    "delay": "no delay between measurement and effort",
    "physics step": "half the physics step",
    "inertia range": "gains that follow the pose",
    "encoder": "a finer encoder, or a filter of its velocity",
    "elasticity": "a stiffer gear",
}


def bound_of(plant: Plant, joint: int, ask: Wish, kp: float) -> tuple[str, str, float]:
    """Return what bounds the gains of a joint, what would have to change for more, and how much more: of all that may
    bound them, that which allows most.
    """
    allowed = {name: best_gains(plant, joint, ask, name)[0] for name in _REMEDIES}
    name = max(allowed, key=allowed.__getitem__)
    more = allowed[name] / kp
    if more < 1.02:
        return "coupling", "less gain of the joints that move it", 1.0
    loop = plant.loops[0]
    is_late = loop.implicit.mask[joint] or loop.timing[[joint]].latencies(plant.dt)[0]
    mode = ', or effort_mode="implicit"' if name == "physics step" and not is_late else ""
    return name, _REMEDIES[name] + mode, more


def _by_rule(plant: Plant, joint: int, ask: Wish) -> tuple[float, float]:
    """Return the gains of a rule: kp = I·ω², kd = 2·ζ·I·ω of the nominal inertia or of the armature alone."""
    inertia = plant.armature[joint] if ask.rule == "armature" else plant.nominal[joint]
    frequency = 2.0 * math.pi * (_NATURAL if ask.frequency is None else ask.frequency)
    return inertia * frequency**2, 2.0 * (ask.ratio() or 1.0) * inertia * frequency


def _closed(plant: Plant, gains: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the smallest gain and phase margins over poses, the loops of all others closed."""
    pairs = [closed_margins(loop.changed(gains), plant.dt) for loop in plant.loops[: plant.closed]]
    gain, phase = np.array(pairs).min(axis=0)
    return gain, phase


def _later(loop: Loop, dt: float) -> np.ndarray:
    """Return how fast each joint takes part in motions that grow with one more step of latency, factors from 1 on.

    Efforts of the end of the step are not late.
    """
    late = loop.timing.later(np.where(loop.implicit.mask, 0.0, dt))
    gains = (1.0 + _UNSEEN * len(loop.inertias)) * LATER * loop.gains
    after, _, _, used = Loop(loop.inverse, gains, loop.weight, late, loop.implicit, loop.viscous).opened(dt)
    values, modes = np.linalg.eig(after)
    growing, growth = np.abs(values) > 1.0 + _LATE, np.ones(len(loop.inertias))
    # the velocities, by energy
    speeds = np.abs(modes[len(used) : 2 * len(used), growing]) * np.sqrt(loop.held_inertias[used])[:, None]
    takes_part = speeds > 0.4 * speeds.max(axis=0, initial=0.0)
    growth[used] = np.where(takes_part, np.abs(values[growing]), 1.0).max(axis=1, initial=1.0)
    return growth


def _settled(plant: Plant, gains: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return gains that keep their margins in all poses, and are stable there a step later, and these margins."""
    for _ in range(_ROUNDS):
        gain, phase = (plant.together(margin, np.min) for margin in _closed(plant, gains))
        short = (gain < GAIN_MARGIN) | (phase < PHASE_MARGIN)
        if short.any():
            slower = np.clip(np.minimum(gain / GAIN_MARGIN, 1.0 - (PHASE_MARGIN - phase) / 90.0), 0.7, 0.98)
            # a loop with gain to spare lacks damping
            damped = np.where(gain > 1.3 * GAIN_MARGIN, 1.0, slower)
            gains = gains * np.where(short, np.stack([slower * damped, damped, slower * slower * damped]), 1.0)
            continue
        # unlike margins, this is cheap to look at in more poses
        before, growing = gains, plant.loops
        while growing:
            growths = [_later(loop.changed(gains), plant.dt) for loop in growing]
            growing = [loop for loop, growth in zip(growing, growths, strict=True) if growth.max() > 1.0]
            growth = plant.together(np.max(growths, axis=0), np.max)
            later = np.clip(growth**-0.5, 0.92, 0.99)
            gains = gains * np.where(growth > 1.0, np.stack([later**2, later, later**3]), 1.0)
        if (gains == before).all():
            break
    return gains, *_closed(plant, gains)


def tune(
    robot: str | os.PathLike[str],
    motors: Mapping[str, MotorConfig] | None = None,
    *,
    bandwidth: float | None = None,
    settle: float | None = None,
    damping_ratio: float | None = None,
    step: float | None = None,
    saturation: float = 0.0,
    integral: bool = False,
    rule: Literal["inertia", "armature"] | None = None,
    frequency: float | None = None,
    explain: bool = False,
    verify: bool = True,
    poses: int = 20,
    seed: int = 0,
    dt: float | None = None,
    engine: Literal["mujoco", "physx"] = "mujoco",
    progress: Progress | None = None,
) -> Tuned:
    """Return gains for the motors of a robot, with their margins over poses and what bounds them.

    Gains are such that in all poses the loop of each joint has a gain margin of 2 and a phase margin of 45°, the other
    loops closed, computed for the physics step, delays, rates, filters and effort modes that the motors have. A
    floating base is held. Without a wish, gains are the best that margins and bounds allow: those with the smallest
    integral of time times error after a step, over the inertias of the poses.

    Args:
        robot: Path of a USD, MJCF or URDF file of one robot.
        motors: Motors by pattern of joint names, also those that `identify` wrote, whose intervals of the armature
            count: the worst of them; None means those of the file. Joints without a control law get a PD law if no
            joint has one.
        bandwidth: Frequency up to which each joint follows within 3 dB in all poses [Hz]; None for no wish.
        settle: Time to settle to 2 % of a step in all poses, and with dry friction within 5 % of its target [s]; None
            for no wish.
        damping_ratio: Smallest damping ratio over poses; None means 1 with a wish, and a free one without.
        step: Step that must not saturate the motor longer than `saturation`, with what gravity leaves of its effort
            [rad or m]; None means 0.05 rad and 0.005 m.
        saturation: How long such a step may saturate [s].
        integral: Add an integral gain, with a bound against windup that holds gravity.
        rule: Gains by a rule, judged in the same way: `"inertia"`, kp = I·ω² and kd = 2·ζ·I·ω with the nominal inertia,
            or `"armature"`, with the armature alone, as learned locomotion has them.
        frequency: Natural frequency of the rule [Hz]; None means 10.
        explain: Judge the gains that are there instead.
        verify: Simulate steps of each joint, with gravity, from as many other poses.
        poses: Number of poses, the first that of the file, the others random within the limits.
        seed: Seed of these poses.
        dt: Physics step [s]; None means that of the file, 1/240 for USD.
        engine: Simulator of these steps; margins are of the inertias that MuJoCo computes.
        progress: Called with a description and the share of finished work, 0 … 1; None means no call.

    Raises:
        ValueError: A number is out of range, two wishes exclude each other, or no joint has a law with gains.

    Example:
        >>> tuned = tune("data/robots/pendulum.usda", bandwidth=1.5, poses=5)
        >>> (hinge,) = tuned.joints
        >>> hinge.bound, tuned.is_wrong, hinge.gain_margin > 2
        ('asked', False, True)
    """
    began, report = time.perf_counter(), progress or (lambda _words, _share: None)
    ask = Wish(bandwidth, settle, damping_ratio, step, saturation, frequency, rule, integral)
    _require(ask, explain, poses)
    is_model_file(robot, engine)
    report("reading the robot", 0.0)
    known = with_law(robot, motors, dt)
    with opened(robot, by_pattern(known), dt, max(poses, _POSES), seed) as (simulation, robots, actuators):
        plant = plant_of(actuators, robots, simulation.dt, known, poses)
    tuner = _Tuner(plant, ask, report)
    rows = tuner.judged() if explain else tuner.tuned(integral)
    made = dict(known)
    if not explain:
        for row in rows:
            made[row.joint] = with_gains(known[row.joint], (row.kp, row.kd, row.ki), row.integral_max)
    warned, missed, responses = list(tuner.warnings), tuner.missed(rows), {}
    if verify:
        steps = [plant.step(joint, ask.step) for joint in range(len(rows))]
        rows, seen, responses = verified(robot, made, rows, steps, (poses, seed + 1, plant.dt, engine), report)
        warned, missed = [*seen, *warned], [*missed, *([] if explain else not_shown(rows, ask))]
    report("done", 1.0)
    seconds = time.perf_counter() - began
    return Tuned(
        os.fspath(robot), by_pattern(made), tuple(rows), tuple(warned), tuple(missed), plant.dt, seconds, responses
    )


def _require(ask: Wish, explain: bool, poses: int) -> None:
    for name in ("bandwidth", "settle", "damping_ratio", "step", "frequency"):
        value = getattr(ask, name)
        if value is not None and not 0.0 < value < math.inf:
            raise ValueError(f"{name} = {value}: must be a finite number > 0. Leave it out for none.")
    if not ask.saturation >= 0.0:
        raise ValueError(f"saturation = {ask.saturation}: must be a time >= 0 [s]. Correct it.")
    if ask.rule not in (None, *RULES):
        raise ValueError(f"rule = {ask.rule!r}: must be one of {', '.join(RULES)}. Correct it.")
    wishes = [*filter(lambda name: getattr(ask, name) is not None, ("bandwidth", "settle", "rule"))]
    wishes += ["explain"] * bool(explain)
    if len(wishes) > 1:
        raise ValueError(f"{', '.join(wishes)}: must not be given together. Give one of them.")
    if ask.frequency is not None and ask.rule is None:
        raise ValueError(f"frequency = {ask.frequency}: must be given with a rule. Give bandwidth instead.")
    if poses < 1:
        raise ValueError(f"poses = {poses}: must be >= 1. Correct it.")


class _Tuner:
    """Gains of all joints of a plant, and rows about them."""

    def __init__(self, plant: Plant, ask: Wish, report: Progress) -> None:
        self._plant, self._ask, self._report, self.warnings = plant, ask, report, list[str]()

    def tuned(self, integral: bool) -> list[TunedJoint]:
        """Return the row of each joint with the gains that were asked for, or the best."""
        plant, ask = self._plant, self._ask
        count = len(plant.joints)
        gains, is_asked = np.zeros((3, count)), np.zeros(count, bool)
        for joint in range(count):
            self._report(plant.joints[joint], 0.1 + 0.2 * joint / count)
            kp, kd, is_asked[joint] = (
                (*_by_rule(plant, joint, ask), True) if ask.rule else best_gains(plant, joint, ask)
            )
            gains[:2, joint] = kp, max(kd - (0.0 if ask.rule else plant.viscous[joint]), 0.0)
        self._report("closing all loops", 0.3)
        if integral:
            # a tenth of the natural frequency costs few degrees
            gains[2] = 0.1 * gains[0] * np.sqrt(gains[0] / plant.nominal)
        alone = gains = np.vectorize(round_to)(gains)
        if ask.rule:
            gain, phase = _closed(plant, gains)
        else:
            gains, gain, phase = _settled(plant, gains)
            if not integral:
                raised = _raised(plant, ask, gains, ~is_asked)
                gains, gain, phase = (gains, gain, phase) if raised is gains else _settled(plant, raised)
            gains = np.vectorize(round_to)(gains)
        rows = []
        for joint in range(count):
            row = self._row(joint, gains[:, joint], gain[joint], phase[joint])
            words = self._bounded(joint, row, bool(is_asked[joint]), float(alone[0, joint]))
            rows.append(dataclasses.replace(row, bound=words[0], remedy=words[1], more=words[2], verdict=words[3]))
        self._warn(rows)
        return rows

    def _bounded(self, joint: int, row: TunedJoint, is_asked: bool, alone: float) -> tuple[str, str, float, str]:
        """Return what bounds the gains of a joint, the remedy, how much more it allows, and the verdict."""
        if self._ask.rule:
            return "rule", "", 1.0, self._word(joint, row)[0] if self._is_beyond(row) else "by rule"
        stops = self._ask.settle is not None and self._stops(joint, row) > _ROUNDED_STOPS
        if is_asked and self._has(row) and not stops:
            return "asked", "", 1.0, "as asked"
        if stops:
            return "friction", "less friction, or --integral", 1.0, "missed"
        asks = self._ask.bandwidth is not None or self._ask.settle is not None
        return *bound_of(self._plant, joint, self._ask, alone), "missed" if asks else "best"

    def judged(self) -> list[TunedJoint]:
        """Return the row of each joint with the gains that are there, and a verdict on them."""
        plant = self._plant
        gains = plant.loops[0].gains
        gain, phase = _closed(plant, gains)
        rows = []
        for joint in range(len(plant.joints)):
            self._report(plant.joints[joint], 0.3 + 0.1 * joint / len(plant.joints))
            row = self._row(joint, gains[:, joint], gain[joint], phase[joint])
            kp, _, _ = best_gains(plant, joint, self._ask)
            bound, remedy, more = bound_of(plant, joint, self._ask, kp)
            # beside what is there, not beside the best
            more *= kp / max(row.kp, 1e-12)
            word, reason = self._word(joint, dataclasses.replace(row, bound=bound), kp)
            words = {"bound": bound, "remedy": remedy, "more": more, "verdict": word, "reason": reason}
            rows.append(dataclasses.replace(row, **words))
        self._warn(rows)
        return rows

    def missed(self, rows: Sequence[TunedJoint]) -> list[str]:
        """Return what was asked for and cannot be had, with the best there is; and gains beyond the margins."""
        said = [] if self._ask.settle is None else self._stopped(rows, ", with the best there is", "")
        if short := [row for row in rows if row.verdict == "missed" and row.bound != "friction"]:
            best = [f"{row.joint} {self._reached(row)}" for row in short]
            said.append(f"Cannot be had, with the best there is: {listed(best)}.")
        if beyond := [row.joint for row in rows if self._is_beyond(row)]:
            least = f"gain margin {GAIN_MARGIN:g} or phase margin {PHASE_MARGIN:g}°"
            said.append(f"Below {least} in some pose: {listed(beyond)}.")
        return said

    def _has(self, row: TunedJoint) -> bool:
        """Return True if a joint still has what was asked for, within what rounding changes."""
        ask = self._ask
        as_asked = ask.bandwidth is None or row.bandwidth >= 0.98 * ask.bandwidth
        return as_asked and (ask.settle is None or row.settling <= 1.02 * ask.settle)

    def _stops(self, joint: int, row: TunedJoint) -> float:
        """Return the share of its step by which dry friction stops a joint short of it."""
        return row.stuck / self._plant.step(joint, self._ask.step)

    def _stopped(self, rows: Sequence[TunedJoint], condition: str, remedy: str) -> list[str]:
        """Return a sentence on joints that friction stops short of their step, and by which share of it, if any."""
        shares = {row.joint: min(self._stops(joint, row), 1.0) for joint, row in enumerate(rows)}
        stopped = [f"{joint} by {share:.0%}" for joint, share in shares.items() if share > _ROUNDED_STOPS]
        return [f"Friction stops steps short{condition}: {listed(stopped)}{remedy}."] if stopped else []

    def _reached(self, row: TunedJoint) -> str:
        """Return what a joint has of what was asked for, in words."""
        if row.settling > _FALLS:
            # gravity pulls harder than these gains
            return "falls"
        return f"{row.settling:.2g} s" if self._ask.bandwidth is None else f"{row.bandwidth:.2g} Hz"

    @staticmethod
    def _is_beyond(row: TunedJoint) -> bool:
        return row.gain_margin < _ROUNDED * GAIN_MARGIN or row.phase_margin < _ROUNDED * PHASE_MARGIN

    def _word(self, joint: int, row: TunedJoint, best: float = math.inf) -> tuple[str, str]:
        """Return the verdict on gains that are there, beside the best proportional gain, and why."""
        plant, step = self._plant, self._plant.step(joint, self._ask.step)
        if row.gain_margin < GAIN_MARGIN:
            word = "vibrates" if row.gain_margin < 1.0 else "beyond the margin"
            light = f"kd·dt is {row.kd * plant.dt / row.inertia[0]:.2g} of its inertia with all other joints free"
            return word, f"its gains may be {row.gain_margin:.2g} times as much until it vibrates, as {light}"
        if row.damping_ratio[0] < 0.4:
            needed = float(plant.damping(joint, np.array([row.kp]), 0.6)[0] - plant.viscous[joint])
            heavy = f"where its inertia is {row.inertia[2]:.2g}"
            return (
                "underdamped",
                f"its damping ratio is {row.damping_ratio[0]:.2g} {heavy}; kd = {needed:.2g} makes it 0.6",
            )
        if row.phase_margin < PHASE_MARGIN:
            return "underdamped", f"with the other loops closed its phase margin is {row.phase_margin:.0f}°: lower kp"
        if row.saturated > self._ask.saturation:
            left = f"and gravity leaves {plant.available[joint]:.2g}"
            return "stiff", f"a step of {step:g} asks for an effort of {row.kp * step:.2g}, {left}"
        if row.kp < 0.2 * best:
            return "soft", f"its kp is {row.kp / best:.0%} of what the {row.bound} allows"
        return "good", ""

    def _row(self, joint: int, gains: np.ndarray, gain: float, phase: float) -> TunedJoint:
        plant, (kp, kd, ki) = self._plant, gains.tolist()
        damping = kd + float(plant.viscous[joint])
        values = {
            name: value.item() for name, value in plant.values(joint, np.array([kp]), np.array([damping])).items()
        }
        nominal, limit = float(plant.nominal[joint]), float(plant.effort_limit[joint])
        gravity = float(np.abs(plant.gravity[:, joint]).max())
        lightest, highest = float(plant.lightest[joint]), float(plant.highest[joint])
        step = plant.step(joint, self._ask.step)
        return TunedJoint(
            joint=plant.joints[joint],
            kp=kp,
            kd=kd,
            ki=ki,
            inertia=(float(plant.lowest[joint]), nominal, highest),
            armature=float(plant.armature[joint]),
            frequency=math.sqrt(kp / nominal) / (2.0 * math.pi),
            damping_ratio=tuple(
                damping / (2.0 * math.sqrt(max(kp, 1e-12) * inertia)) for inertia in (highest, lightest)
            ),
            bandwidth=values["bandwidth"],
            overshoot=max(values["overshoot"], 0.0),
            settling=values["settling"],
            gain_margin=float(gain),
            phase_margin=float(phase),
            gravity=gravity,
            effort_limit=limit,
            sag=0.0 if ki else gravity / max(kp, 1e-12),
            stuck=0.0 if ki else float(plant.friction[joint]) / max(kp, 1e-12),
            saturated=float(plant.saturated(joint, np.array([kp]), np.array([damping]), step)[0]),
            bound="",
            remedy="",
            more=1.0,
            verdict="",
            integral_max=round_to(min(1.5 * gravity, limit) / ki) if ki and gravity else math.inf,
            action_scale=_ACTION * limit / kp if self._ask.rule == "armature" else math.nan,
            turns=bool(plant.turns[joint]),
        )

    def _warn(self, rows: Sequence[TunedJoint]) -> None:
        weak = [row.joint for row in rows if row.gravity > (1.0 - LEFT) * row.effort_limit]
        if weak:
            self.warnings.append(f"Gravity takes 90 % of the effort limit or more in some pose: {listed(weak)}.")
        if limp := [row.joint for row in rows if row.sag > _LIMP]:
            self.warnings.append(f"Too soft to hold against gravity in some pose: {listed(limp)}.")
        if self._ask.settle is None:
            remedy = "; margins and settling times leave it out. Use stiffer gains or --integral"
            self.warnings += self._stopped(rows, "", remedy)
        worst = max(rows, key=lambda row: row.sag if row.sag <= _LIMP else -1.0)
        if worst.sag > 0.005:
            unit = units_of([worst.turns]).position
            self.warnings.append(
                f"PD sags under gravity, {worst.joint} by up to {worst.sag:.2g} {unit}: feed gravity forward where the "
                "host gives it (`get_dof_gravity_compensation_forces`), or use --integral."
            )
