"""Which simulator `ArticulationActuators`, `Articulation` and `add_actuator` mean."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..errors import HostError
from .port import ArticulationPort, Host

# innermost last; a simulation that nobody holds any more drops out by itself
_open: list[Callable[[], Host | None]] = []


def enter(host: Host) -> None:
    """Make `host` the current one until `leave`; it is held weakly."""
    leave(host)
    _open.append(weakref.ref(host))


def leave(host: Host) -> None:
    """Take `host` out, wherever it stands; calling it again does nothing."""
    _open[:] = [entry for entry in _open if entry() not in (None, host)]


@contextlib.contextmanager
def use_host(host: Host) -> Iterator[Host]:
    """Make `host` the current one inside a `with` block."""
    entry = lambda: host  # noqa: E731  (held strongly while the block runs)
    _open.append(entry)
    try:
        yield host
    finally:
        # the host may have been closed in the block
        _open[:] = [other for other in _open if other is not entry]


def current_host() -> Host:
    """The innermost open host.

    Raises:
        HostError: There is none.
    """
    for entry in reversed(_open):
        if (host := entry()) is not None:
            return host
    raise HostError(
        "no simulation is open. Open one first: `sim = Simulation('robot.usda')`, "
        "or plug in your own simulator: `with use_host(my_host): ...`."
    )


def current_stage() -> Any:
    """The stage of the current host.

    Raises:
        HostError: There is no host, or it has no stage.
    """
    stage = current_host().stage
    if stage is None:
        raise HostError("the current host has no USD stage. Pass the stage explicitly: `stage=...`.")
    return stage


def Articulation(paths: str | Sequence[str]) -> ArticulationPort:
    """Return the robots at `paths` in the current simulation.

    Args:
        paths: Path of an articulation root or of a prim above it, or several; each segment may be a regular expression.

    Raises:
        HostError: No simulation is open.
        ValueError: Nothing matches, or the robots differ in their joints.
    """
    return current_host().articulation(paths)
