"""A draft of an excitation: its parts, and the amplitude and pace of each joint, smaller where they must be."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .excitation_plan import ExcitationPlan
from .safety import MARGIN, SAFE, Break, Limits, Motion, broken
from .waves import WAVES, Span, paces

RAMP = "ramp"
"""Kind of the parts that lead from the first pose into the middle of the motion and back."""
REMEDY = "Begin in another pose, leave the joint out, or check its limits and its motor."
"""What to do where no motion holds."""

# amplitudes of joints without position limits [rad], [m]
_AMPLITUDES = (0.5, 0.05)
# rest before, between and after the parts, shortest ramp, and shortest part [s]
_REST, _RAMP, _PART = 0.5, 1.5, 3.0
# peak speed of a smooth move per mean speed, and share of the speed limit for a ramp
_PEAK, _RAMPS = 1.875, 0.5
# smallest steps to begin with, of the amplitude of the other motions
_STEPS = 0.15
# share of an amplitude below which a motion tells nothing
_SMALLEST = 0.05
# below this share of its amplitude, a joint is shaken by the others
_SHAKEN = 0.3
# least and most that a joint is reduced by at once, and the share of a limit that this aims at
_LEAST, _MOST, _AIM = 0.95, 0.5, 0.96


@dataclass(frozen=True)
class Part:
    """A part of an excitation.

    Args:
        kind: `ramp`, or the kind of motion: `chirp`, `multisine`, `steps`, `holds`.
        rows: Its samples, rows of `Excitation.command`, with those of the rest after it.
    """

    kind: str
    rows: slice


class Draft:
    """An excitation that is made smaller and slower until it holds."""

    def __init__(self, robot: str | os.PathLike[str], plan: ExcitationPlan, limits: Limits) -> None:
        self._robot, self._plan, self._limits = robot, plan, limits
        self._low, self._high = limits.within(MARGIN)
        largest = plan.amplitude
        free = np.where(limits.turns, *np.broadcast_to(_AMPLITUDES if largest is None else largest, 2))
        ranged = np.minimum((0.5 - MARGIN) * plan.share * limits.span, np.inf if largest is None else free)
        # wanted amplitudes [rad or m], shape `(joints,)`
        room = np.where(limits.span > 0.0, ranged, free)
        self._wanted, away = room, MARGIN * limits.span
        inside = np.clip(limits.start, limits.lower + away + room, limits.upper - away - room)
        self._away = inside - limits.start
        self._reach = np.ones(len(room))
        self._lay_out()
        self._size = {kind: room.copy() for kind in plan.kinds}
        self._pace: dict[str, np.ndarray] = {}
        self._why: dict[tuple[str, int], set[str]] = {}
        # the first pace and amplitude of each kind, with which commands keep the speed limits
        for kind in plan.kinds:
            slowest, fastest = paces(kind, self._span)
            size, most = self._size[kind], SAFE * limits.speed
            if kind == "steps":
                # the peak speed of a rise through all levels, which amplitude and pace share
                slower = np.minimum(1.0, most / (_PEAK * 2.0 * size * 2.0 * fastest))
                share = np.maximum(np.sqrt(slower), _STEPS)
                size *= share
                self._pace[kind] = np.clip(slower / share * fastest, slowest, fastest)
            else:
                # of a sine at its pace
                self._pace[kind] = np.clip(most / (2.0 * np.pi * size), slowest, fastest)
            for j in np.flatnonzero(self._pace[kind] < fastest):
                self._why[kind, int(j)] = {"speed"}
        self._first = {kind: size.copy() for kind, size in self._size.items()}

    def _lay_out(self) -> None:
        plan, limits = self._plan, self._limits
        ramp = max(_RAMP, float((_PEAK * np.abs(self._away) / (_RAMPS * limits.speed)).max()))
        count = len(plan.kinds)
        least = 2.0 * (ramp + _REST) + count * (_PART + _REST)
        if plan.seconds < least:
            raise ValueError(
                f"seconds = {plan.seconds:g}: must be {least:.3g} at least for {', '.join(plan.kinds)} and the way "
                "there and back. Give more, or fewer kinds."
            )
        each = (plan.seconds - 2.0 * (ramp + _REST)) / count - _REST
        # rounded down, so that there is time for the way back
        self._span = Span(int(each * plan.rate - count), 1.0 / plan.rate, len(limits.joints), plan.top, plan.seed)
        rest, total = round(_REST * plan.rate), round(plan.seconds * plan.rate)
        first = rest + round(ramp * plan.rate)
        parts = [Part(RAMP, slice(0, first))]
        for kind in plan.kinds:
            begin = parts[-1].rows.stop
            parts.append(Part(kind, slice(begin, begin + self._span.samples + rest)))
        self.parts = (*parts, Part(RAMP, slice(parts[-1].rows.stop, total)))
        self._rest = rest

    @property
    def _middle(self) -> np.ndarray:
        return self._limits.start + self._reach * self._away

    def _room(self) -> np.ndarray:
        """Return the largest amplitudes around the middle with which commands keep their margin [rad or m]."""
        return np.minimum(self._middle - self._low, self._high - self._middle)

    def _fitting(self, kind: str) -> np.ndarray:
        """Return the amplitudes of a kind [rad or m], where there is room for them."""
        return np.minimum(self._size[kind], self._room())

    def command(self) -> np.ndarray:
        """Return the commands as they are now, shape `(samples, joints)`."""
        start, middle = self._limits.start, self._middle
        there, back = self.parts[0].rows, self.parts[-1].rows
        found = np.tile(middle, (back.stop, 1))
        share = np.linspace(0.0, 1.0, there.stop - self._rest)
        way = np.r_[np.zeros(self._rest), share**3 * (10.0 - 15.0 * share + 6.0 * share**2)][:, None]
        found[there] = start + way * (middle - start)
        # what rounding leaves at the end is rest
        found[back] = start
        found[back.start : back.start + there.stop] = found[there][::-1]
        for part in self.parts[1:-1]:
            rows = slice(part.rows.start, part.rows.start + self._span.samples)
            found[rows] += self._fitting(part.kind) * WAVES[part.kind](self._span, self._pace[part.kind])
        return found

    def broken(self, motion: Motion) -> list[tuple[str, Break]]:
        """Return what a motion breaks, each with the kind of its part."""
        return [
            (part.kind, one)
            for part in self.parts
            for one in broken(motion, self._limits, part.rows, self._middle, 0.0 if part.kind == RAMP else 0.5 * MARGIN)
        ]

    def require_rest(self, motion: Motion) -> None:
        """Raise for a robot that breaks a limit where it begins, at rest, which nothing can reduce."""
        breaks = broken(motion, self._limits, slice(0, self._rest), self._limits.start, 0.0)
        # a joint whose motor is too weak falls, and so is fast, too
        for one in sorted(breaks, key=lambda one: one.limit != "effort"):
            raise ValueError(f"{self._robot}: at rest in the first pose, {one.words}: must hold. {REMEDY}")

    def reduce(self, breaks: Sequence[tuple[str, Break]]) -> None:
        """Make smaller or slower what breaks a limit."""
        worst: dict[tuple[str, int | None], Break] = {}
        for kind, one in breaks:
            if one.over > (worst[kind, one.joint].over if (kind, one.joint) in worst else 0.0):
                worst[kind, one.joint] = one
        for (kind, _), one in worst.items():
            factor = float(np.clip(_AIM / one.over, _MOST, _LEAST))
            if kind == RAMP:
                self._come_closer(factor, one)
            else:
                shares = np.full(len(self._reach), factor)
                if one.joint is not None:
                    is_shaken = self._size[kind][one.joint] < _SHAKEN * self._first[kind][one.joint]
                    shares[:] = math.sqrt(factor) if is_shaken else 1.0
                    shares[one.joint] = factor
                # all of them, not the first that can
                could = [self._shrink(kind, int(j), float(shares[j]), one) for j in np.flatnonzero(shares < 1.0)]
                if not any(could):
                    raise ValueError(
                        f"{self._robot}: {kind}, at {_SMALLEST:.0%} of the amplitude: {one.words}: must hold. {REMEDY}"
                    )

    def _come_closer(self, factor: float, one: Break) -> None:
        """Move the middle of the motion closer to the first pose: of the joint itself, else of all."""
        far = np.abs(self._reach * self._away) > 0.0
        joints = [one.joint] if one.joint is not None and far[one.joint] else np.flatnonzero(far).tolist()
        if not joints:
            raise ValueError(f"{self._robot}: at rest in the first pose, {one.words}: must hold. {REMEDY}")
        for j in joints:
            self._reach[j] = self._reach[j] * factor if self._reach[j] > _SMALLEST else 0.0
            self._why.setdefault((RAMP, j), set()).add(one.limit)
        if tight := np.flatnonzero(self._room() < _SMALLEST * self._wanted).tolist():
            names = ", ".join(self._limits.joints[j] for j in tight)
            where = f"{names} at its position limit in the first pose, and on the way from there"
            raise ValueError(f"{self._robot}: {where} {one.words}: must hold. {REMEDY}")

    def _shrink(self, kind: str, joint: int, factor: float, one: Break) -> bool:
        """Make a motion of a joint smaller or slower; returns False if it is the smallest and slowest already."""
        slowest, _ = paces(kind, self._span)
        size, pace = self._size[kind], self._pace[kind]
        smallest = _SMALLEST * self._first[kind][joint]
        before = float(size[joint]), float(pace[joint])
        self._why.setdefault((kind, joint), set()).add(one.limit)
        size[joint] = self._fitting(kind)[joint]
        of_size = of_pace = math.sqrt(factor)
        if before[1] <= slowest or one.limit in ("position", "collision"):
            of_size, of_pace = factor, 1.0
        elif before[0] <= smallest or (one.limit == "speed" and kind != "steps"):
            of_size, of_pace = 1.0, factor
        # else gravity follows the amplitude and inertia the pace, and small steps are as good as slow ones
        size[joint] = max(min(smallest, size[joint]), size[joint] * of_size)
        pace[joint] = max(slowest, pace[joint] * of_pace)
        return (float(size[joint]), float(pace[joint])) != before

    def notes(self) -> list[str]:
        """Return which joints were reduced, and why."""
        found = []
        if there := [(j, limits) for (kind, j), limits in self._why.items() if kind == RAMP]:
            names = ", ".join(f"{self._limits.joints[j]} ({', '.join(sorted(limits))})" for j, limits in sorted(there))
            found.append(f"They move closer to the first pose, for their limits: {names}.")
        for kind in self._plan.kinds:
            told = [self._reduced(kind, j) for j in range(len(self._reach))]
            if any(told):
                found.append(f"{kind}, reduced for limits: {'; '.join(filter(None, told))}.")
        return found

    def _reduced(self, kind: str, joint: int) -> str:
        """Return to what a motion of a joint was reduced, and why; empty if it was not."""
        share = self._fitting(kind)[joint] / self._wanted[joint]
        pace, fastest = self._pace[kind][joint], paces(kind, self._span)[1]
        told = [f"amplitude {share:.0%}"] if share < 0.995 else []
        if pace < 0.995 * fastest:
            told.append(f"rise {0.5 / pace:.2g} s" if kind == "steps" else f"in full up to {pace:.2g} Hz")
        why = ", ".join(sorted(self._why.get((kind, joint), {"position"})))
        return f"{self._limits.joints[joint]} {', '.join(told)} ({why})" if told else ""
