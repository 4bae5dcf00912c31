"""Performance targets of this project, and their check. One thread, CPU; ratios are theirs over ours."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from .candidates import ENGINES, STREAM, TICK, Known
from .measure import Case

PEERS = tuple(known.name for known in ENGINES if known.name != Known.OURS)


@dataclass
class Target:
    """One target.

    Args:
        text: Description of the comparison.
        goal: The target value, as text.
        value: The measured value, or None.
        where: The decisive case, if there are several.
        reached: True if the target is reached, or None if it was not measured.
    """

    text: str
    goal: str
    value: float | None
    where: str
    reached: bool | None


def targets(cases: Sequence[Case], memory: int | None) -> list[Target]:
    """Return all targets with their results from the cases; `memory` in bytes."""
    shared = [case for case in cases if not case.per_robot and case.robot in ("12", "12free")]
    per_joint = "Isaac Sim per joint"
    ticks = {"arrays": "tick on arrays", "mujoco": "tick on MuJoCo with refresh and commit"}

    def tick(section: str, size: int, goal: float) -> Target:
        found = _ratios(shared, section, size, [per_joint], ["PD+max"])
        return _at_least(f"{ticks[section]}, 12 x {size} PD+max, vs {per_joint}", goal, found, min)

    one_object = _ratios(shared, "engine", 1024, ["newton one object"])
    large = _ratios(shared, "engine", 16384, PEERS)
    every = _ratios(cases, "engine", None, PEERS)
    stream = _ratios(shared, "engine", 16384, [STREAM], ["PD+max"])
    actuator = _ratios(shared, "actuator", 1, ["newton one object"])
    ticks_per_actuator = _ratios(shared, "actuator", 1024, [TICK], ["PD+max"])
    return [
        tick("arrays", 1, 1000),
        tick("mujoco", 1, 300),
        tick("arrays", 4096, 100),
        _at_least(
            "engine, 12 x 1024 vs newton one object, geometric mean of pipelines", 50, one_object, geometric_mean
        ),
        _at_least("engine, 12 x 16384 vs the best peer of each pipeline, worst", 3, large, min),
        _at_least("engine, any case vs any peer, worst", 1, every, min),
        _at_least("engine, 12 x 16384 PD+max, part of the measured stream bandwidth", 0.85, stream, min),
        _at_least("Actuator.step of 12 joints vs newton one object, worst pipeline", 30, actuator, min),
        _at_most(
            f"Actuator.step of 12 x 1024 joints PD+max, times the {TICK} on arrays",
            5,
            {where: 1 / ratio for where, ratio in ticks_per_actuator.items()},
        ),
        Target(
            "memory beyond the arrays, 12 x 16384 PD+max, feedforward counted",
            "<= 1 MB",
            None if memory is None else memory / 1e6,
            "",
            None if memory is None else memory <= 1e6,
        ),
    ]


def geometric_mean(values: Iterable[float]) -> float:
    """Return the geometric mean of ratios."""
    return float(np.exp(np.mean(np.log(list(values)))))


def _ratios(
    cases: Sequence[Case], section: str, size: int | None, names: Sequence[str], pipelines: Sequence[str] | None = None
) -> dict[str, float]:
    """Return the ratios of some candidates in the cases of a section, by case."""
    return {
        f"{name}, {case}": ratio
        for case in cases
        if case.section == section and size in (None, case.num_robots)
        if pipelines is None or case.pipeline in pipelines
        for name in names
        if (ratio := case.ratio(name)) is not None
    }


def _at_least(text: str, goal: float, found: dict[str, float], of: Callable[[Iterable[float]], float]) -> Target:
    if not found:
        return Target(text, f">= {goal:g}", None, "", None)
    value = of(found.values())
    where = min(found, key=lambda name: found[name]) if len(found) > 1 else ""
    return Target(text, f">= {goal:g}", value, where, value >= goal)


def _at_most(text: str, goal: float, found: dict[str, float]) -> Target:
    value = max(found.values(), default=None)
    return Target(text, f"<= {goal:g}", value, "", None if value is None else value <= goal)
