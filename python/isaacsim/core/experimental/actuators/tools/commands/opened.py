"""Robots of a file, opened for a subcommand."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ...extension.articulation_actuators import ArticulationActuators
from ...files.motor_files.files import load_motors
from ...simulators.simulation import Simulation
from ...specs.motors import MotorConfig
from .arguments import Simulated

if TYPE_CHECKING:
    from ...simulators.physics_articulation import PhysicsArticulation

_NONE_FOUND, _VIBRATES = r"<.*>: no actuator found", r".* (will vibrate at dt|may chatter)"


def simulate(
    arguments: Simulated, file: Path, dt: float | None = None, engine: str = "mujoco", strict_inertia: bool = False
) -> Simulation:
    """Open the simulation of a file, with the placement of robots of a subcommand."""
    keyframe = arguments.keyframe
    return Simulation(
        file,
        dt,
        floating_base=arguments.floating_base,
        ground=arguments.ground,
        keyframe=int(keyframe) if keyframe is not None and keyframe.isdecimal() else keyframe,
        initial_positions=initial_positions(arguments.initial_positions),
        engine=engine,
        strict_inertia=strict_inertia,
    )


def initial_positions(given: Sequence[str]) -> dict[str, float] | None:
    """Return positions [rad or m] by pattern of joint names, of texts PATTERN=VALUE; None if there are none."""
    return dict(map(_position, given)) or None


def _position(text: str) -> tuple[str, float]:
    """Return pattern and position [rad or m] of PATTERN=VALUE."""
    pattern, _, value = text.rpartition("=")
    with contextlib.suppress(ValueError):
        if pattern:
            return pattern, float(value)
    raise ValueError(f"--initial-positions {text!r}: must be PATTERN=VALUE. Write '.*_knee=-1.6', say.")


@dataclass(frozen=True)
class Opened:
    """Robots of a simulation before `play`, and their actuators of the file or of a configuration, or None."""

    simulation: Simulation
    robots: PhysicsArticulation
    actuators: ArticulationActuators | None


@contextlib.contextmanager
def opened(
    simulation: Simulation, path: str | None, config: Path | None = None, *, warn: bool = True
) -> Iterator[Opened]:
    """Open the robots of a simulation with the actuators of its file or of a configuration."""
    where = "/" if path is None else path
    with simulation, contextlib.ExitStack() as stack, warnings.catch_warnings():
        # subcommands have notes of their own for it
        warnings.filterwarnings("ignore", _NONE_FOUND)
        if not warn:
            warnings.filterwarnings("ignore", _VIBRATES)
        robots, actuators = simulation.articulation(where), None
        if config is not None or simulation.stage is not None:
            actuators = stack.enter_context(actuators_of(where, config))
        yield Opened(simulation, robots, actuators if actuators is not None and actuators.actuators else None)


def actuators_of(path: str, config: Path | None) -> ArticulationActuators:
    """Return the actuators of robots at a path: those of their file, or of a configuration."""
    if config is None:
        return ArticulationActuators(path)
    return ArticulationActuators.from_configs(path, load_motors(config))


def motors_in(config: Path | None) -> dict[str, MotorConfig] | None:
    """Return the motors in a file; None without one."""
    return None if config is None else load_motors(config)


def require_actuators(one: Opened, file: Path) -> ArticulationActuators:
    """Return the actuators of opened robots; ValueError if there are none."""
    if one.actuators is None:
        raise ValueError(
            f"{file}: <{one.robots.paths[0]}> has no actuators: must have some for this. Describe them in a file and "
            "give it by --config, or add them to a USD file by add_motors()."
        )
    return one.actuators


def columns_of(columns: dict[str, str], robots: PhysicsArticulation) -> dict[str, str]:
    """Return the columns of a table of joints, without the robot if there is one only."""
    return {key: heading for key, heading in columns.items() if key != "robot" or len(robots.paths) > 1}
