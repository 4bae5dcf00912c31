"""The package's own exceptions, whose messages name subject, value, rule and remedy; and how several are one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence


class ActuatorParseError(ValueError):
    """Actuator prims of a stage cannot be used; `issues` lists every problem found, one line each."""

    def __init__(self, issues: Sequence[str]) -> None:
        self.issues = tuple(issues)
        super().__init__("\n".join(self.issues))


class HostError(RuntimeError):
    """No simulator is there to work with, or its physics is not running."""


class UnsupportedSceneError(ValueError):
    """The stage holds something the embedded physics cannot reproduce; the message names the prims."""


class NetworkError(ValueError):
    """A file holds no network that can be computed here; the message says what of it."""


class SimulationDivergedError(RuntimeError):
    """Physics produced a value that is not finite; `robots` holds the paths of the robots it happened to."""

    def __init__(self, message: str, robots: Sequence[str]) -> None:
        self.robots = tuple(robots)
        super().__init__(message)


def no_copy(thing: object, remedy: str) -> TypeError:
    """What to say to who copies or pickles something that a running simulation knows."""
    return TypeError(
        f"{type(thing).__name__} cannot be copied or pickled: it is tied to a running simulation, and the end of the "
        f"copy would be its end. {remedy}"
    )


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
