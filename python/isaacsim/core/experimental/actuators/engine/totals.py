"""Totals of robots: sums of the published values of their joints over all steps that run joints of one robot.

A step adds up the values that its own slots publish. If several steps, of one wrapper or of several, run joints of a
robot, a total is added up here at the start of each step that asks for it. Robots without a law that asks for a total
need nothing from this file.

Every term is the value that the state before the step publishes, in any order of the steps. A step that has run in this
round keeps its published signal; a step that has not run publishes it now. A round ends when a step runs a second time,
so steps need no common clock. Without a clock, a step that missed some rounds and runs before the others ends the
previous round, until all steps are reset.

Terms are added in the order of the columns of the articulation, in float32 from 0. The bits of a total therefore do not
depend on the engine or on the distribution of joints.
"""

# Warp kernels are no Python types
# pyright: reportGeneralTypeIssues=false, reportIndexIssue=false, reportArgumentType=false, reportOperatorIssue=false
# pyright: reportAttributeAccessIssue=false, reportAssignmentType=false

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
import warp as wp

from ..specs.signals import SIGNALS
from .launches import recorded

if TYPE_CHECKING:
    from .step.interface import Step

wp.set_module_options({"enable_backward": False})


@wp.kernel
def _gather_kernel(
    signal: wp.array2d[float],
    slots: wp.array[int],
    rows: wp.array[int],
    places: wp.array[int],
    terms: wp.array2d[float],
):
    robot, k = wp.tid()
    terms[rows[robot], places[k]] = signal[robot, slots[k]]


@wp.kernel
def _add_kernel(terms: wp.array2d[float], rows: wp.array[int], total: wp.array2d[float]):
    robot = wp.tid()
    added = wp.float32(0.0)
    for place in range(terms.shape[1]):
        added += terms[rows[robot], place]
    for slot in range(total.shape[1]):
        total[robot, slot] = added


@dataclass(frozen=True, eq=False)
class Member:
    """A step of joints of robots; robots are in the order of its rows, and columns in that of its slots."""

    step: Step
    robots: Sequence[Hashable]
    columns: Sequence[int]
    device: wp.DeviceLike

    @property
    def totals(self) -> list[str]:
        """Totals that its laws ask for."""
        return [name for name, _, _ in self.step.plan.totals]

    def publishing(self, signal: str) -> list[int]:
        """Slots that publish a signal."""
        published = [one.used for one in self.step.plan.published if one.signal == signal]
        return [slot for used in published for slot in np.flatnonzero(used).tolist()]


class Shared(Protocol):
    """The steps of a wrapper."""

    columns: list[int]
    device: wp.Device

    @property
    def parts(self) -> list[tuple[list[int], Step]]:
        """Joints of each step, and the step itself."""
        ...

    def join_rounds(self, rounds: Mapping[int, tuple[Round, Member]]) -> None:
        """Replace the rounds of its steps, by identity of the step."""


class _Sum:
    """A total of some robots; `rows` has the row of each among all robots of the steps."""

    def __init__(self, name: str, members: Sequence[Member], rows: Mapping[Hashable, int]) -> None:
        self._device = members[0].device
        self._rows = {id(member): self._ints([rows[robot] for robot in member.robots]) for member in members}
        signal = SIGNALS[name].total_of
        # place among all terms, which are in the order of the columns, and slot of each term, by number of the member
        terms = sorted((one.columns[slot], n, slot) for n, one in enumerate(members) for slot in one.publishing(signal))
        places: dict[int, list[tuple[int, int]]] = {}
        for place, (_, number, slot) in enumerate(terms):
            places.setdefault(number, []).append((place, slot))
        shape = len(rows), sum(map(len, places.values()))
        self._terms = wp.zeros(shape, dtype=wp.float32, device=self._device)
        # launches that gather the terms of each member, and their inputs
        self._gathering = [
            self._gather(member, member.step.signals[signal], places[number])
            for number, member in enumerate(members)
            if number in places
        ]
        # launches that write the total into the signal of a member, by identity of the member
        self._adding = {id(member): self._add(member, name) for member in members if name in member.totals}

    def _gather(
        self, member: Member, signal: wp.array, mine: Sequence[tuple[int, int]]
    ) -> tuple[wp.Launch, list[wp.array]]:
        places, slots = map(self._ints, zip(*mine, strict=True))
        inputs = [signal, slots, self._rows[id(member)], places]
        return self._recorded(_gather_kernel, (len(member.robots), len(mine)), inputs, self._terms), inputs

    def _add(self, member: Member, name: str) -> wp.Launch:
        inputs = [self._terms, self._rows[id(member)]]
        return self._recorded(_add_kernel, len(member.robots), inputs, member.step.signals[name])

    def write(self, member: Member) -> None:
        """Add up the total, and write it into the signal of a step."""
        for launch, _ in self._gathering:
            launch.launch()
        self._adding[id(member)].launch()

    def _recorded(
        self, kernel: wp.Kernel, dim: int | tuple[int, int], inputs: list[wp.array], output: wp.array
    ) -> wp.Launch:
        return recorded(kernel, dim, inputs, [output], self._device)

    def _ints(self, values: object) -> wp.array:
        return wp.array(np.asarray(values, np.int32), dtype=wp.int32, device=self._device)


class Round:
    """Steps that run joints of the same robots, and those of them that have run in the current round."""

    def __init__(self, members: Sequence[Member]) -> None:
        self._members, self._done = list(members), set[int]()
        robots = dict.fromkeys(robot for member in members for robot in member.robots)
        rows = {robot: row for row, robot in enumerate(robots)}
        sums = {name: _Sum(name, members, rows) for member in members for name in member.totals}
        self._asked = {id(member): [sums[name] for name in member.totals] for member in members}
        # compile now: a graph may capture the first step
        wp.load_module(module=__name__, device=members[0].device)

    def begin(self, member: Member) -> None:
        """Write the totals of a step that is about to run."""
        if id(member) in self._done:
            self._done.clear()
        sums = self._asked[id(member)]
        if sums:
            for one in self._members:
                if id(one) not in self._done:
                    one.step.publish()
        self._done.add(id(member))
        for one in sums:
            one.write(member)

    def forget(self, member: Member) -> None:
        """Treat a step as one that has not run in this round, because its state was replaced."""
        self._done.discard(id(member))


def share_totals(
    shared: Sequence[tuple[Shared, Sequence[Hashable]]], changed: Sequence[Hashable] | None = None
) -> None:
    """Form rounds of the steps that run joints of the same robots."""
    chosen = list(shared) if changed is None else _linked(shared, changed)
    rounds: dict[int, tuple[Round, Member]] = {}
    for group in _groups([member for one, robots in chosen for member in _members_of(one, robots)]):
        if len(group) > 1 and any(member.totals for member in group):
            together = Round(group)
            rounds |= {id(member.step): (together, member) for member in group}
    for one, _ in chosen:
        one.join_rounds(rounds)


def _linked(
    shared: Sequence[tuple[Shared, Sequence[Hashable]]], robots: Sequence[Hashable]
) -> list[tuple[Shared, Sequence[Hashable]]]:
    """Wrappers that share robots with `robots`, directly or through other wrappers."""
    known, found = set(robots), list[tuple[Shared, Sequence[Hashable]]]()
    while near := [one for one in shared if one not in found and not known.isdisjoint(one[1])]:
        found += near
        known.update(*(own for _, own in near))
    return found


def _members_of(shared: Shared, robots: Sequence[Hashable]) -> list[Member]:
    """Steps of a wrapper that ask for a total, or publish a term of one."""
    return [
        Member(step, robots, [shared.columns[joint] for joint in joints], shared.device)
        for joints, step in shared.parts
        if step.plan.has_totals
    ]


def _groups(members: Sequence[Member]) -> list[list[Member]]:
    groups: list[tuple[set[Hashable], list[Member]]] = []
    for member in members:
        robots = set(member.robots)
        linked = [group for group in groups if group[0] & robots]
        merged = robots.union(*(group[0] for group in linked)), [*(one for group in linked for one in group[1]), member]
        groups = [*(group for group in groups if not group[0] & robots), merged]
    return [group for _, group in groups]
