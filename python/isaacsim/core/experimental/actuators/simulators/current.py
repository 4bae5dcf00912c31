"""The current simulator of `ArticulationActuators`, `Articulation` and `add_actuator`."""

from __future__ import annotations

import contextlib
import sys
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from ..base.errors import HostError, do_all
from .opened import opened as _open
from .port import Host, require_host

if TYPE_CHECKING:
    from ..files.usd.handles import Stage
    from .physics_articulation import PhysicsArticulation


@dataclass(frozen=True, eq=False)
class _StageOnly:
    """Stands among the hosts for a stage without physics."""

    stage: Stage


# host of the Kit application of this process, made on first use
_kit: list[Any] = []

# of the same application before Isaac Sim was there; what was made with one goes on with it
_former: weakref.WeakSet[Any] = weakref.WeakSet()

_ISAAC_SIM = ("isaacsim.core.simulation_manager", "isaacsim.core.experimental.prims")


@contextlib.contextmanager
def use_host(host: Host) -> Iterator[Host]:
    """Make `host` the current one in a `with` block; HostError if it, or its bus, lacks a member of the protocol."""
    require_host(host)
    with _held(host):
        yield host


@contextlib.contextmanager
def use_stage(stage: Stage) -> Iterator[Stage]:
    """Make `stage` the one `add_actuator` edits inside a `with` block; no physics is needed, and none starts.

    Example:
        >>> from pxr import Usd
        >>> from isaacsim.core.experimental.actuators import PDControlConfig, add_actuator, use_stage
        >>> with use_stage(Usd.Stage.Open("data/robots/pendulum.usda")):
        ...     prim = add_actuator("/World/Pendulum", "hinge", "soft_hinge", PDControlConfig(kp=5.0, kd=0.5))
    """
    with _held(_StageOnly(stage)):
        yield stage


def current_host() -> Host:
    """The innermost open host; with none open, that of the Kit application this process is, else a `HostError`."""
    for entry in reversed(_open):
        if (host := entry()) is not None and not isinstance(host, _StageOnly):
            return host
    if (kit := _kit_host()) is not None:
        return kit
    raise HostError(
        "no simulation is open. Open one first: `sim = Simulation('robot.usda')`, "
        "or plug in your own simulator: `with use_host(my_host): ...`."
    )


def current_stage() -> Stage:
    """The stage of the innermost open host or `use_stage`; with none open, that of Kit, else a `HostError`."""
    innermost = next((host for entry in reversed(_open) if (host := entry()) is not None), None) or _kit_host()
    if innermost is None or innermost.stage is None:
        opened = "" if innermost is None else " (the open simulation came from URDF or MJCF, or is one of your own)"
        raise HostError(
            f"no USD stage is current{opened}. Pass one: `stage=...`, make one current: `with use_stage(stage): ...`, "
            "or open a simulation that has one: `sim = Simulation('robot.usda')`, `with use_host(my_host): ...`."
        )
    return innermost.stage


def Articulation(paths: str | Sequence[str]) -> PhysicsArticulation:
    """Return the robots at `paths` in the current simulation.

    With embedded physics their `buffers()` are the arrays of the simulator itself: joints read and targets written
    without a copy. Type checkers take them for a `PhysicsArticulation`. In Isaac Sim they are its own, with the same
    methods and more; in a user's own simulator they may have fewer, those of `ArticulationPort`.

    Args:
        paths: Path of an articulation root, or of a prim above some: then all of them; or several paths. Each segment
            may be a regular expression.

    Raises:
        HostError: No simulation is open.
        ValueError: Nothing matches, or the robots differ in their joints.
    """
    return cast("PhysicsArticulation", current_host().articulation(paths))


def close_kit_host() -> None:
    """Close Kit's host; the next use makes a new one."""
    hosts = [*_kit, *_former]
    _kit.clear()
    _former.clear()
    do_all([host.close for host in hosts])


def _kit_host() -> Host | None:
    if _kit and not _kit[0].is_isaac_sim and all(name in sys.modules for name in _ISAAC_SIM):
        # its extensions were switched on since
        _former.add(_kit.pop())
    if not _kit and _is_kit():
        try:
            from .kit.isaac_sim import IsaacSimHost as KitHost
        except ModuleNotFoundError as error:
            # a Kit without Isaac Sim, or with its extensions switched off
            if error.name not in _ISAAC_SIM:
                raise
            from .kit.plain_kit import KitHost
        _kit.append(KitHost())
    return _kit[0] if _kit else None


def _is_kit() -> bool:
    """True if a Kit application runs in this process; imports nothing."""
    app = sys.modules.get("omni.kit.app")
    try:
        return app is not None and app.get_app() is not None
    except RuntimeError:
        # the module is there, the application is not
        return False


@contextlib.contextmanager
def _held(entry: Host | _StageOnly) -> Iterator[None]:
    """Keep `entry` innermost, and alive, inside a `with` block."""
    get = lambda: entry  # noqa: E731  (an object of its own for each block)
    _open.append(get)
    try:
        yield
    finally:
        # the host may have been closed in the block
        _open[:] = [other for other in _open if other is not get]
