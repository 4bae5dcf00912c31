"""The comparison: every case of the table through both laws, step by step."""

from __future__ import annotations

import zlib
from collections.abc import Collection
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

import numpy as np
from isaacsim.core.experimental.actuators.specs.arguments import whole_of
from isaacsim.core.experimental.actuators.tools.progress import Progress

from .cases import CASES, LEFT_OUT, PEERS
from .laws import Motor, edges_of, names_of, our_step
from .peer import Case, LeftOut, NotComparableError, Peer
from .signals import random_signals

SAME: Final = 1e-6
"""Largest difference of laws that are the same, relative to the largest effort."""
SETS: Final = 8
"""Sets of random numbers of a law, each with its share of the states."""
UNKNOWN: Final = "new in this version: the table has no case for it"


@dataclass(frozen=True)
class Compared:
    """Result of a case: the largest difference of the efforts of both laws.

    Args:
        case: The case.
        ours: Names of our configs.
        states: Number of states in a step.
        steps: Number of steps.
        largest: Largest effort of either [N·m].
        difference: Largest difference of efforts [N·m].
        unexplained: Largest difference beyond the intended one of the case [N·m].
    """

    case: Case
    ours: list[str]
    states: int
    steps: int
    largest: float
    difference: float
    unexplained: float

    @property
    def relative(self) -> float:
        """Difference relative to the largest effort."""
        return self.difference / self.largest

    @property
    def is_same(self) -> bool:
        """True if both laws agree to 1e-6 of the largest effort."""
        return self.relative <= SAME

    @property
    def is_explained(self) -> bool:
        """True if the intended difference of the case explains all but 1e-6 of the largest effort."""
        return self.unexplained / self.largest <= SAME


@dataclass(frozen=True)
class Missing:
    """A peer that is not compared.

    Args:
        peer: The peer.
        reason: The reason, such as "not installed".
    """

    peer: Peer
    reason: str


@dataclass(frozen=True)
class Failed:
    """A case that raised an error.

    Args:
        case: The case.
        error: Class and message of the error.
    """

    case: Case
    error: str


@dataclass
class Parity:
    """Result of `parity`, in the order of its tables.

    Args:
        versions: Versions of the peers that were compared, by name.
        compared: Cases that ran.
        failed: Cases that raised an error.
        left_out: Laws of these peers that are not compared.
        missing: Peers that are not compared.
    """

    versions: dict[str, str] = field(default_factory=dict)
    compared: list[Compared] = field(default_factory=list)
    failed: list[Failed] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    missing: list[Missing] = field(default_factory=list)


def parity(
    peers: Collection[str] = (),
    *,
    states: int = 1000,
    steps: int = 100,
    seed: int = 0,
    progress: Progress | None = None,
) -> Parity:
    """Compare the laws of installed peers with ours, on the same random states.

    Args:
        peers: Names of peers: `newton`, `newton-actuators`, `isaaclab`, `mujoco`, `mjlab`; empty for all.
        states: Number of random states in each step, rounded up to a multiple of eight, the number of random sets of
            parameters of a law.
        steps: Number of steps, each with new states and commands.
        seed: Seed of parameters and states.
        progress: Called with the peer's name and the share of finished work, 0 … 1; None means no call.

    Returns:
        The compared laws, and those that are not compared with the reasons.

    Raises:
        ValueError: A number of states or steps below 1, a negative seed, or a name that is none of `PEERS`.
    """
    for name, value, least in (("states", states, 1), ("steps", steps, 1), ("seed", seed, 0)):
        whole_of(name, value, least)
    if unknown := sorted(set(peers).difference(one.name for one in PEERS)):
        known = ", ".join(one.name for one in PEERS)
        raise ValueError(f"peers = {unknown[0]!r}: must be one of {known}. Correct the name.")
    found, told = Parity(), progress or (lambda _words, _share: None)
    for peer in PEERS:
        if peers and peer.name not in peers:
            continue
        if (laws := _laws(found, peer)) is not None:
            _compare(found, peer, (states, steps, seed), told)
            _leave_out(found, peer, laws)
    return found


def _laws(found: Parity, peer: Peer) -> Collection[str] | None:
    """Return the laws of a peer and note its version, or note why it is missing."""
    version = peer.version
    if version is None:
        found.missing.append(Missing(peer, "not installed"))
        return None
    try:
        laws = peer.laws()
    except Exception as error:
        # whatever keeps it from being imported is its own
        found.missing.append(Missing(peer, f"{version} is installed, not comparable {_why(error)}"))
        return None
    found.versions[peer.name] = version
    return laws


def _compare(found: Parity, peer: Peer, run: tuple[int, int, int], progress: Progress) -> None:
    """Run the cases of a peer."""
    mine = [one for one in CASES if one.peer == peer.name]
    for number, case in enumerate(mine):
        progress(peer.name, number / len(mine))
        try:
            found.compared.append(compare(case, *run))
        except NotComparableError as error:
            found.left_out.append(LeftOut(peer.name, case.laws, str(error)))
        except Exception as error:
            # another version may have other classes, which the rest of the table does not depend on
            found.failed.append(Failed(case, f"{type(error).__name__}: {error}"))


def _leave_out(found: Parity, peer: Peer, laws: Collection[str]) -> None:
    """Name the laws of a peer that have no case."""
    named = [one for one in LEFT_OUT if one.peer == peer.name]
    known = {law for one in (*CASES, *named) if one.peer == peer.name for law in one.laws}
    new = [LeftOut(peer.name, (law,), UNKNOWN) for law in laws if law not in known]
    found.left_out += named + new


def _why(error: Exception) -> str:
    """Return what a peer that cannot be imported lacks, or the error."""
    if isinstance(error, NotComparableError):
        return str(error)
    if isinstance(error, ModuleNotFoundError) and error.name:
        return f"without {error.name}"
    return f"here: {type(error).__name__}: {error}"


def compare(case: Case, states: int, steps: int, seed: int) -> Compared:
    """Run a case.

    Args:
        case: The case.
        states: Number of states in each step, rounded up to a multiple of the sets of numbers.
        steps: Number of steps.
        seed: Seed; each case has random numbers of its own.

    Raises:
        NotComparableError: The installed version has no such law.
    """
    words = " ".join((case.peer, *case.laws, *(part.__name__ for part in case.ours)))
    random = np.random.default_rng([seed, zlib.crc32(words.encode())])
    motors: list[Motor] = [[part(random) for part in case.ours] for _ in range(min(states, SETS))]
    robots = -(-states // len(motors))
    ours = our_step(motors, robots)
    theirs = [case.make(motor, robots, case.commands) for motor in motors]
    signals = random_signals(random, robots, [edges_of(motor) for motor in motors], case.commands)
    largest = difference = unexplained = 0.0
    for number, given in enumerate(islice(signals, steps)):
        mine = ours(given).astype(np.float64)
        for column, (motor, step) in enumerate(zip(motors, theirs, strict=True)):
            part = given.column(column)
            other = np.asarray(step(part), np.float64)
            apart = np.abs(mine[:, column] - other)
            explained = 0.0 if case.unlike is None else case.unlike.largest(motor, part, number)
            largest = np.fmax(largest, np.fmax.reduce(np.abs([mine[:, column], other]), axis=None))
            # a maximum that keeps NaN
            difference = np.maximum(difference, apart.max())
            unexplained = np.maximum(unexplained, (apart - explained).max())
    sizes = map(float, (largest, difference, unexplained))
    return Compared(case, names_of(motors[0]), robots * len(motors), steps, *sizes)
