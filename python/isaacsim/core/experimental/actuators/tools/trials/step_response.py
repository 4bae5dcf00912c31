"""Step response of a joint on its robot, with its actuator and with an ideal drive instead."""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...base.errors import shown
from ...engine.bounds import converts, known_of_motor
from ...engine.entry import ActuatorConfig
from ...extension.articulation_actuators import ArticulationActuators
from ...simulators.simulation import Simulation
from ...specs.arguments import number_of
from ...specs.stages import parts_of
from ..plots.step_response import Response, StepResponse
from ..recording.recording import Recording
from .envelope import bounds, find_actuator, one_joint, require_own_motor, turns_of
from .targets import step
from .trial import follow, room_of, steps_in

# time to settle before the jump [s], and the part of it that is plotted
_REST, _BEFORE = 1.0, 0.05


def step_response(
    open_simulation: Callable[[], Simulation],
    path: str,
    joint: str,
    *,
    amplitude: float,
    seconds: float,
    open_actuators: Callable[[str], ArticulationActuators] = ArticulationActuators,
) -> StepResponse:
    """Return the response of a joint to a jump [rad or m], less if a limit is near, for some seconds after it.

    The other joints hold their pose. A simulation is opened per response; actuators default to those of its file.
    """
    if not callable(open_simulation):
        raise TypeError(f"open_simulation = {shown(open_simulation)}: must be a function. Give one that opens a file.")
    for name, number in {"amplitude": amplitude, "seconds": seconds}.items():
        if not math.isfinite(number_of(name, number)):
            raise ValueError(f"{name} = {number}: must be finite. Correct it.")
    with open_simulation() as simulation, open_actuators(path) as actuators:
        actuator, column = find_actuator(actuators, joint)
        if actuator.controller is None:
            raise ValueError(f"joint = {joint!r} is passive: must have a control law to follow a target. Name another.")
        require_own_motor(actuator, joint)
        stages = [one_joint(stage, actuator, 0, column) for stage in known_of_motor(actuator)]
        actual, log = _respond(simulation, actuators, joint, amplitude, seconds)
        turns = turns_of(actuators, joint)
    at = log.joints.index(joint)
    seen = slice(len(log) - len(actual.time), None)
    limits = bounds(stages, log.positions[seen, 0, at], log.velocities[seen, 0, at])
    with open_simulation() as simulation, _ideal(path, joint, open_actuators) as actuators:
        ideal, _ = _respond(simulation, actuators, joint, amplitude, seconds)
    return StepResponse(joint, actual, ideal, limits, turns)


@contextlib.contextmanager
def _ideal(
    path: str, joint: str, open_actuators: Callable[[str], ArticulationActuators]
) -> Iterator[ArticulationActuators]:
    """Open the robot's actuators, that of one joint with its control law alone."""
    with open_actuators(path) as actuators:
        count = len(actuators.articulation.paths)
        if count != 1:
            raise ValueError(f"{path} means {count} robots: must be one. Name it.")
        names = [name for actuator in actuators.actuators for name in actuator.dof_names]
        pairs = []
        for name in names:
            actuator, column = find_actuator(actuators, name)
            own = functools.partial(one_joint, actuator=actuator, robot=0, column=column)
            # a control law with the transmission that gives it the coordinates of its motor
            alone = (own(stage) for stage in actuator.stages if stage is actuator.controller or converts(stage))
            parts = parts_of(alone) if name == joint else actuator.each(own)
            pairs.append((ActuatorConfig(**parts), name))
    with ArticulationActuators.from_actuators(path, pairs) as ideal:
        yield ideal


def _respond(
    simulation: Simulation, actuators: ArticulationActuators, joint: str, amplitude: float, seconds: float
) -> tuple[Response, Recording]:
    simulation.play()
    robots: Any = actuators.articulation
    dt, column = simulation.dt, robots.dof_names.index(joint)
    only = np.where(np.arange(robots.num_dofs) == column, amplitude, 0.0)
    rest = round(_REST / dt)
    # between two steps, independent of rounding
    targets = step(room_of(robots), only, (rest - 0.5) * dt)
    trial = follow(simulation, robots, actuators, targets, range(rest + max(1, steps_in(seconds, dt))))
    if trial.diverged or trial.faults:
        raise RuntimeError("\n".join([*trial.faults, *([trial.diverged] if trial.diverged else [])]))
    log = trial.recording
    at = log.joints.index(joint)
    shown = slice(rest - round(_BEFORE / dt), None)
    time = (np.arange(len(log)) - rest)[shown] * dt
    target, position, effort = (
        values[shown, 0, at] for values in (log.position_targets, log.positions, log.motor_efforts)
    )
    friction = log.passive_efforts[shown, 0, at] if "passive_efforts" in log.signals else None
    has_friction = friction is not None and friction.any()
    return Response(time, target, position, effort, friction if has_friction else None), log
