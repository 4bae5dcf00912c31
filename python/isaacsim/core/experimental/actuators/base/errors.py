"""The package's own exceptions, whose messages name subject, value, rule and remedy; how several are one; no copies."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, NoReturn, Self


class ActuatorParseError(ValueError):
    """Actuator prims of a stage cannot be used; `issues` lists every problem found, one line each."""

    def __init__(self, issues: Sequence[str]) -> None:
        self.issues = tuple(issues)
        super().__init__("\n".join(self.issues))

    def __reduce__(self) -> tuple[object, ...]:
        # other processes get what was given, and notes
        return type(self), (self.issues,), vars(self)


class HostError(RuntimeError):
    """No simulator is there to work with, or its physics is not running."""


class UnsupportedSceneError(ValueError):
    """The stage holds something the embedded physics cannot reproduce; the message names the prims."""


class NetworkError(ValueError):
    """A file holds no network that can be computed here; the message names the reason."""


class SimulationDivergedError(RuntimeError):
    """Physics produced a value that is not finite; `robots` holds the paths of the robots it happened to."""

    def __init__(self, message: str, robots: Sequence[str]) -> None:
        self.robots = tuple(robots)
        super().__init__(message)

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (str(self), self.robots), vars(self)


def diverged(robots: Sequence[str], loose: Sequence[str], dt: float) -> SimulationDivergedError:
    """Return the error of robots, and of loose bodies, whose state is not finite after a physics step of `dt` [s]."""
    names = [*robots, *loose]
    return SimulationDivergedError(
        f"the simulation diverged: {', '.join(names[:5])}{' …' if len(names) > 5 else ''} has positions or velocities "
        f"that are not finite. Lower the gains or dt = {dt:g} s, or raise the joints' armature; reset() starts over.",
        robots,
    )


class NotCopied:
    """Base class of objects that cannot be copied or pickled, for a copy would share live data."""

    _INSTEAD: ClassVar[str]
    """Alternative to a copy, a sentence or two."""

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"{type(self).__qualname__} cannot be copied or pickled: it is bound to arrays or to a simulation, which "
            f"a copy would share. {self._INSTEAD}"
        )


class Closing:
    """Base class of objects that a `with` block closes at its end."""

    def close(self) -> None:
        """Give back what the object holds."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def do_all(parts: Iterable[Callable[[], object]]) -> None:
    """Do every part, whatever the others do; the first error is raised at the end and mentions the rest."""
    first: BaseException | None = None
    for part in parts:
        try:
            part()
        except BaseException as error:
            if first is None:
                first = error
            else:
                first.add_note(f"Besides: {error!r}")
    try:
        if first is not None:
            raise first
    finally:
        # an error that this frame held would hold this frame, and with it who was called
        del first


def shown(value: Any) -> str:
    """Return a value for a message, with bounded length."""
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:200]}…"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the nearest known name, if any is near, and all there are."""
    known = list(known)
    near = difflib.get_close_matches(name, known, n=1)
    return (f"Did you mean {near[0]}? " if near else "") + f"Available: {', '.join(known) or 'none'}."


def listed(what: Sequence[str], most: int = 4) -> str:
    """A list of bounded length."""
    return ", ".join(what[:most]) + (f" and {len(what) - most} more" if len(what) > most else "")
