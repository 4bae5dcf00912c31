"""Effort envelope of a motor, from its stages after the control law, run with saturating commands."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.errors import shown
from ...engine.actuator import Actuator
from ...engine.actuator_set import ActuatorSet
from ...engine.bounds import StageBounds, converts, copied
from ...simulators.port import turning
from ...specs.stages import KINDS, acts_at_joint, is_linked
from ..feedback import gears
from ..plots.envelope import Bounds, Envelope, draw_envelope
from ..plots.style import save

if TYPE_CHECKING:
    from ...laws.contract.base import Component
    from ..plots.style import Figure

_POINTS, _PROBES = 1201, 4001
# fastest speed at which bounds are computed [rad/s or m/s], and the range of bounds that depend on no speed
_FASTEST, _SHOWN = 1e4, 10.0
# range of speeds, of the last one at which bounds change
_BEYOND = 1.15


def plot_envelope(
    actuators: ActuatorSet, joint: str, *, robot: int = 0, path: str | os.PathLike[str] | None = None
) -> Figure:
    """Draw the effort envelope of the motor of a joint: effort over speed, of each stage and of all, at the joint.

    Nothing moves: copies of the stages after the control law run with saturating commands, over a grid of speeds, and
    of positions if a limit depends on them. A stage with state starts from its initial state at each point.

    Args:
        actuators: The actuator of the joint, and others.
        joint: Name of the joint.
        robot: Robot whose parameters are used.
        path: File of the picture, with an extension that Matplotlib knows; None saves none.

    Returns:
        The figure. It belongs to no window; a notebook shows it.

    Raises:
        ValueError: No actuator drives such a joint, or there is no such robot.
        ModuleNotFoundError: Matplotlib is missing.

    Example:
        >>> from isaacsim.core.experimental.actuators import (
        ...     ActuatedArrays, DCMotorClampingConfig, PDControlConfig, plot_envelope,
        ... )
        >>> motor = [PDControlConfig(80.0, 2.0), DCMotorClampingConfig(60.0, 9.0, 40.0)]
        >>> knee = ActuatedArrays(["knee"], {"knee": motor})
        >>> print(plot_envelope(knee, "knee").get_suptitle())
        knee: effort envelope
    """
    return save(draw_envelope(envelope(actuators, joint, robot=robot, turns=turns_of(actuators, joint))), path)


def turns_of(actuators: ActuatorSet, joint: str) -> bool | None:
    """Return True if a joint turns, False if it slides, None if its articulation does not provide it."""
    articulation: Any = getattr(actuators, "articulation", None)
    kinds = turning(articulation)
    names = [] if kinds is None else list(articulation.dof_names)
    return kinds[names.index(joint)] if kinds is not None and joint in names else None


def envelope(
    actuators: ActuatorSet,
    joint: str,
    *,
    robot: int = 0,
    limits: tuple[float, float] = (-np.inf, np.inf),
    dt: float = np.nan,
    drive_limit: float = np.inf,
    turns: bool | None = None,
) -> Envelope:
    """Return the effort envelope of the motor of a joint, in its coordinates, with the parameters of one robot.

    `limits` are those of the position [rad or m], `drive_limit` that of the joint's own drive; `turns` is False if it
    slides, None if unknown.
    """
    actuator, column = find_actuator(actuators, joint)
    require_own_motor(actuator, joint)
    # what a motor can give does not depend on when it is computed
    bounding = (stage for stage in actuator.after_controller if stage.END is None)
    stages = [one_joint(stage, actuator, robot, column) for stage in bounding]
    ends = limits if np.isfinite(limits).all() else (-np.pi, np.pi)
    middle = float(np.mean(ends))
    speeds = _shown(lambda at: bounds(stages, np.full_like(at, middle), at), _FASTEST)
    fastest = _SHOWN if speeds is None else _BEYOND * speeds
    velocities = np.linspace(-fastest, fastest, _POINTS)
    there = np.full_like(velocities, middle)
    positions = np.linspace(*ends, _POINTS)
    over_position = bounds(stages, positions, np.zeros_like(positions))
    if not _changes(over_position).any():
        positions, over_position = np.zeros(0), np.zeros((2, 0))
    steps, seconds = delay_of(actuator, robot, column)
    delay_steps = steps + (seconds / dt if seconds and np.isfinite(dt) else 0.0)
    delay = steps * dt + seconds if steps else seconds
    whole, clamps = bounds(stages, there, velocities), _alone(stages, there, velocities)
    limit, ratio = float(drive_limit), float(gears(actuator)[0, robot, column])
    curves = velocities, whole, clamps, middle, positions, over_position
    return Envelope(joint, *curves, delay_steps, delay, limit, ratio, turns)


def _alone(stages: Sequence[Component], positions: np.ndarray, velocities: np.ndarray) -> dict[str, Bounds]:
    """Return the bounds of each stage alone, at the joint, by name."""
    # stages that change no effort take part in the whole by the signals that they publish
    changing = [stage for stage in stages if KINDS[stage.KIND].changes_effort and not converts(stage)]
    names = [type(stage).__name__ for stage in changing]
    total = Counter(names)
    # numbered if several are equal
    names = [f"{name} {names[: at + 1].count(name)}" if total[name] > 1 else name for at, name in enumerate(names)]
    gear = list(filter(converts, stages))
    return {
        name: bounds([stage] if acts_at_joint(stage) else [stage, *gear], positions, velocities)
        for name, stage in zip(names, changing, strict=True)
    }


def find_actuator(actuators: ActuatorSet, joint: str) -> tuple[Actuator, int]:
    """Return the actuator of a joint, and the number of the joint within it; ValueError if none drives it."""
    if not hasattr(actuators, "actuators"):
        raise TypeError(f"actuators = {shown(actuators)}: must be an ArticulationActuators or the like. Give one.")
    for actuator in actuators.actuators:
        if joint in actuator.dof_names:
            return actuator, actuator.dof_names.index(joint)
    names = [name for actuator in actuators.actuators for name in actuator.dof_names]
    raise ValueError(f"joint = {joint!r}: must be driven by an actuator, one of {names}. Correct the name.")


def require_own_motor(actuator: Actuator, joint: str) -> None:
    """Raise a ValueError for a joint that a linkage moves, whose motor has its limits at a shaft."""
    if is_linked(actuator):
        raise ValueError(
            f"joint = {joint!r}: must have a motor of its own, and a linkage moves it, whose motor has limits and "
            "targets at a shaft. Name another, or leave the linkage out of the motor."
        )


def delay_of(actuator: Actuator, robot: int, column: int) -> tuple[float, float]:
    """Return the mean command delay of a joint in physics steps and in seconds; they add up."""
    if actuator.delay is None:
        return 0.0, 0.0
    found = one_joint(actuator.delay, actuator, robot, column).read_all()
    if "delay_steps" in found:
        return float(found["delay_steps"][0]), 0.0
    if "random_steps" in found:
        return float(found["steps"][0] + found["random_steps"][0] / 2), float(found["seconds"][0])
    return 0.0, 0.0


def one_joint(component: Component, actuator: Actuator, robot: int, column: int) -> Component:
    """Return a separate copy of a component for one joint of one robot; ValueError if there is no such robot."""
    robots = len(actuator.indices) // len(actuator.dof_names)
    if not 0 <= robot < robots:
        raise ValueError(f"robot = {robot}: must be below {robots}, and not negative. Correct it.")
    return copied(component, np.array([robot * len(actuator.dof_names) + column]))


def bounds(stages: Sequence[Component], positions: np.ndarray, velocities: np.ndarray) -> Bounds:
    """Return the lowest and highest effort that stages of `one_joint` let pass, by running them."""
    return StageBounds(stages, np.zeros(len(positions), int))(positions, velocities)


def _shown(read: Callable[[np.ndarray], Bounds], far: float) -> float | None:
    """Return the last place at which bounds change on either side, or None."""
    ahead = np.geomspace(1e-3, far, _PROBES)
    changing = [ahead[1:][_changes(read(sign * ahead))] for sign in (1.0, -1.0)]
    ends = [float(places.max()) for places in changing if len(places)]
    return max(ends) if ends else None


def _changes(found: Bounds) -> np.ndarray:
    """Return a mask of the intervals within which bounds change."""
    known = np.nan_to_num(found, nan=float(np.finfo(np.float32).max))
    return np.any(np.abs(np.diff(known)) > 1e-6 * np.abs(known[:, 1:]), axis=0)
