"""Simulations that play, for as long as a test needs them."""

from collections.abc import Iterator
from contextlib import contextmanager

import isaacsim.core.experimental.actuators as aa
from isaacsim.core.experimental.actuators.simulators.arrays import ArraysHost


@contextmanager
def played(*arguments: object, **options: object) -> Iterator[aa.Simulation]:
    with aa.Simulation(*arguments, **options) as sim:
        sim.play()
        yield sim


@contextmanager
def played_robot(path: str, *arguments: object, **options: object) -> Iterator[tuple[aa.Simulation, aa.Articulation]]:
    with played(*arguments, **options) as sim:
        yield sim, sim.articulation(path)


@contextmanager
def played_arrays(*arguments: object, **options: object) -> Iterator[ArraysHost]:
    host = ArraysHost(*arguments, **options)
    with aa.use_host(host):
        host.play()
        yield host


def playing_robot(path: str, *arguments: object, **options: object) -> tuple[aa.Simulation, aa.Articulation]:
    sim = aa.Simulation(*arguments, **options)
    sim.play()
    return sim, sim.articulation(path)


def models_of(sim: aa.Simulation) -> list:
    """MuJoCo's model of each environment as it is now."""
    return [sim._host.model_now(env) for env in range(sim.num_envs)]
