"""Peers, cases of the comparison with them, and intended differences."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

import numpy as np

from .laws import Motor, Part, Step
from .signals import COMMANDS, Signals

Make = Callable[[Motor, int, Collection[str]], Step]
"""Makes a law of a peer from a motor of ours, for a number of robots; the last argument names the commands."""


class NotComparableError(Exception):
    """An installed peer, or a law of it, that cannot be compared here, with the reason."""


@dataclass(frozen=True)
class Peer:
    """A library with laws of its own.

    Args:
        name: Name on the command line, which is that of its distribution.
        install: Command that installs it.
        laws: Returns the names of the laws of the installed version. It raises `ImportError` for a library that is
            missing, and `NotComparableError` for a peer that does not run here.
    """

    name: str
    install: str
    laws: Callable[[], Collection[str]]

    @property
    def version(self) -> str | None:
        """Installed version; None if it is not installed."""
        try:
            return version(self.name)
        except PackageNotFoundError:
            return None


@dataclass(frozen=True)
class Difference:
    """An intended difference that a line of the documentation describes, and its size.

    Args:
        page: Page in `docs/`.
        line: Beginning of its line there.
        where: Where both differ, in words.
        largest: Returns the largest difference of efforts that the line explains in a step [N·m], of the shape of the
            signals: 0 where both must agree, inf where any difference is intended. Its arguments are the motor, the
            signals and the number of the step.
    """

    page: str
    line: str
    where: str
    largest: Callable[[Motor, Signals, int], np.ndarray]


@dataclass(frozen=True)
class Case:
    """A law of a peer beside one of ours.

    Args:
        peer: Name of the peer.
        laws: Names of its laws, in the order in which they act.
        ours: Functions that draw our stages at random, in order.
        make: Makes the peer's law.
        commands: Names of the signals that command it; the others are 0.
        unlike: The intended difference; None if both laws are the same.
        options: Options of the peer's law, in words; empty for none.
        precision: Type of the numbers that the peer computes with.
    """

    peer: str
    laws: tuple[str, ...]
    ours: tuple[Part, ...]
    make: Make
    commands: tuple[str, ...] = COMMANDS
    unlike: Difference | None = None
    options: str = ""
    precision: str = "float32"

    @property
    def law(self) -> str:
        """The peer's law in words."""
        return ", ".join(filter(None, (" + ".join(self.laws), self.options)))


@dataclass(frozen=True)
class LeftOut:
    """A law of a peer that is not compared.

    Args:
        peer: Name of the peer.
        laws: Names of its laws.
        reason: The reason, a clause.
    """

    peer: str
    laws: tuple[str, ...]
    reason: str
