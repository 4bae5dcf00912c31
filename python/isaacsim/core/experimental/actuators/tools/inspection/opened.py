"""The stability of a file's robots, which needs physics."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from pathlib import Path

from ...extension.articulation_actuators import ArticulationActuators
from ...simulators.authoring import motors_of
from ...simulators.simulation import Simulation
from ..stability.table import Stability


def stabilities(file: Path, robots: Iterable[str], dt: float) -> dict[str, Stability]:
    """Return the stability of robots of a file at a physics step, by path; of their actuators, without drives.

    Raises:
        ValueError: The file cannot be simulated, or its actuators cannot be used.
        HostError: The simulator is not installed.
    """
    found = {}
    with warnings.catch_warnings():
        # the rules report on the file
        warnings.simplefilter("ignore", UserWarning)
        with Simulation(file, dt=dt) as sim:
            wrappers = {path: _wrapper(sim, path) for path in robots}
            sim.play()
            for path, wrapper in wrappers.items():
                if wrapper.actuators:
                    found[path] = wrapper.stability(dt=dt)
    return found


def _wrapper(sim: Simulation, path: str) -> ArticulationActuators:
    if sim.stage is not None:
        return ArticulationActuators(path)
    return ArticulationActuators.from_configs(path, motors_of(sim, path))
