"""Totals of robots: what their joints publish, added up over all steps that run joints of one robot.

One step adds up by itself what its own slots publish. Where joints of a robot are spread over several steps, of one
wrapper or of several, a total is added up here at the start of each step that asks for it. Nothing is done here for
robots that no law asks for a total of.

Every term is what the state before the step publishes, in whichever order the steps come. A step that was already made
in this round has the signal as it found it; one that is still to come publishes it now. A round ends when a step comes
a second time, so steps need no common clock. Without one, a step that was left out of some rounds and comes again ahead
of the others counts as the end of the round before, until all of them are reset.

Terms are added in the order of the columns of the articulation, in float32 from 0, so that the bits of a total do not
depend on the engine or on how joints are spread.
"""

# Warp kernels are no Python types
# pyright: reportGeneralTypeIssues=false, reportIndexIssue=false, reportArgumentType=false, reportOperatorIssue=false
# pyright: reportAttributeAccessIssue=false, reportAssignmentType=false

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import warp as wp

from ..specs.signals import SIGNALS

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
    """A step that runs joints of robots.

    Args:
        step: The step.
        robots: What names its robots, in the order of its rows.
        columns: Column of each of its slots in the articulation.
        device: Where its arrays are.
    """

    step: Any
    robots: Sequence[Hashable]
    columns: Sequence[int]
    device: Any

    @property
    def totals(self) -> list[str]:
        """The totals that its laws ask for."""
        return [name for name, _, _ in self.step.plan.totals]

    def publishing(self, signal: str) -> list[int]:
        """The slots that publish a signal."""
        published = [one.used for one in self.step.plan.published if one.signal == signal]
        return [slot for used in published for slot in np.flatnonzero(used).tolist()]


class Shared(Protocol):
    """The steps of a wrapper."""

    columns: list[int]
    device: Any

    @property
    def parts(self) -> list[tuple[list[int], Any]]:
        """Joints of each step, and the step itself."""
        ...

    def join_rounds(self, found: Mapping[int, tuple[Round, Member]]) -> None:
        """Take part in these rounds from now on, by identity of the step, and in no others."""
        ...


class _Sum:
    """A total of some robots.

    Args:
        name: Of the total.
        members: Those that publish a term of it, or ask for it.
        rows: Row of each robot among all of these.
    """

    def __init__(self, name: str, members: Sequence[Member], rows: Mapping[Hashable, int]) -> None:
        self._device = members[0].device
        part = SIGNALS[name].total_of
        terms = sorted((one.columns[slot], n, slot) for n, one in enumerate(members) for slot in one.publishing(part))
        self._terms = wp.zeros((len(rows), len(terms)), dtype=wp.float32, device=self._device)
        self._rows = {id(member): self._ints([rows[robot] for robot in member.robots]) for member in members}
        # launches that put the terms of each member into their places, and what they read
        self._gathering: list[tuple[Any, list[wp.array]]] = []
        for number, member in enumerate(members):
            mine = [(place, slot) for place, (_, owner, slot) in enumerate(terms) if owner == number]
            if mine:
                places, slots = map(self._ints, zip(*mine, strict=True))
                inputs = [member.step.signals[part], slots, self._rows[id(member)], places]
                shape = len(member.robots), len(mine)
                self._gathering.append((self._recorded(_gather_kernel, shape, inputs, self._terms), inputs))
        # by identity of the member, those that write the total where its laws read it
        self._adding: dict[int, Any] = {}
        for member in members:
            if name in member.totals:
                inputs = [self._terms, self._rows[id(member)]]
                total = member.step.signals[name]
                self._adding[id(member)] = self._recorded(_add_kernel, len(member.robots), inputs, total)

    def give(self, member: Member) -> None:
        """Add up, and write the total where the laws of a step read it."""
        for launch, _ in self._gathering:
            launch.launch()
        self._adding[id(member)].launch()

    def _recorded(self, kernel: wp.Kernel, dim: Any, inputs: list[wp.array], output: wp.array) -> Any:
        return wp.launch(kernel, dim, inputs, [output], device=self._device, record_cmd=True)

    def _ints(self, values: Any) -> wp.array:
        return wp.array(np.asarray(values, np.int32), dtype=wp.int32, device=self._device)


class Round:
    """Steps that run joints of the same robots, and which of them were made since one of them came again.

    Args:
        members: The steps.
    """

    def __init__(self, members: Sequence[Member]) -> None:
        self._members, self._made = list(members), set[int]()
        robots = dict.fromkeys(robot for member in members for robot in member.robots)
        rows = {robot: row for row, robot in enumerate(robots)}
        sums = {name: _Sum(name, members, rows) for member in members for name in member.totals}
        self._asked = {id(member): [sums[name] for name in member.totals] for member in members}
        # now, as the first step may be one that a graph captures
        wp.load_module(module=__name__, device=members[0].device)

    def begin(self, member: Member) -> None:
        """Note that a step is about to be made, and give it its totals."""
        if id(member) in self._made:
            self._made.clear()
        sums = self._asked[id(member)]
        if sums:
            for one in self._members:
                if id(one) not in self._made:
                    one.step.publish()
        self._made.add(id(member))
        for one in sums:
            one.give(member)

    def forget(self, member: Member) -> None:
        """Take a step for one that is still to come: it was given another state."""
        self._made.discard(id(member))


def share_totals(
    shared: Sequence[tuple[Shared, Sequence[Hashable]]], changed: Sequence[Hashable] | None = None
) -> None:
    """Let steps that run joints of the same robots add up their totals together, from the next step on.

    Args:
        shared: The steps of each wrapper, and what names its robots.
        changed: Robots whose wrappers have changed: others are as they were. None means all.
    """
    chosen = list(shared) if changed is None else _linked(shared, changed)
    found: dict[int, tuple[Round, Member]] = {}
    for group in _together([member for one, robots in chosen for member in _members_of(one, robots)]):
        if len(group) > 1 and any(member.totals for member in group):
            together = Round(group)
            found |= {id(member.step): (together, member) for member in group}
    for one, _ in chosen:
        one.join_rounds(found)


def _linked(
    shared: Sequence[tuple[Shared, Sequence[Hashable]]], robots: Sequence[Hashable]
) -> list[tuple[Shared, Sequence[Hashable]]]:
    """The wrappers that have some of these robots, or are linked to them by others."""
    known, found = set(robots), list[tuple[Shared, Sequence[Hashable]]]()
    while near := [one for one in shared if one not in found and not known.isdisjoint(one[1])]:
        found += near
        known.update(*(own for _, own in near))
    return found


def _members_of(shared: Shared, robots: Sequence[Hashable]) -> list[Member]:
    """The steps of a wrapper that ask for a total or publish what one adds up."""
    return [
        Member(step, robots, [shared.columns[joint] for joint in joints], shared.device)
        for joints, step in shared.parts
        if step.plan.has_totals
    ]


def _together(members: Sequence[Member]) -> list[list[Member]]:
    """Groups of those that have robots in common, or are linked by others that have."""
    groups: list[tuple[set[Hashable], list[Member]]] = []
    for member in members:
        robots = set(member.robots)
        linked = [group for group in groups if group[0] & robots]
        merged = robots.union(*(group[0] for group in linked)), [*(one for group in linked for one in group[1]), member]
        groups = [*(group for group in groups if not group[0] & robots), merged]
    return [group for _, group in groups]
