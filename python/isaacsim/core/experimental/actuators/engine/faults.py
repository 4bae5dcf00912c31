"""Faults in words: the laws that have no inertia, and the signals that are not finite.

A law with a parameter `assumed_inertia` takes it where nobody tells the inertia of the joint; without either, each of
its steps is a fault. Other laws that ask for the inertia go on with a neutral value.
"""

from __future__ import annotations

import dataclasses
import functools
import operator
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

import numpy as np

from ..base.memory import on_host
from ..laws.contract.catalogue import described_type
from ..specs.signals import INERTIAS, SHAFT_INERTIA, SIGNALS
from .step.fault import EFFORT_FAULT, SIGNAL_FAULT, Fault, fault_of
from .step.interface import Step

_ASSUMED = "assumed_inertia"
_TOLD = (*INERTIAS, SHAFT_INERTIA)
# with the numbers of MuJoCo a law takes no inertia
_TAKES_NONE = "mujoco_discretization"
Parts = Sequence[tuple[list[int], Step]]


def without_inertia(parts: Parts, told: Collection[str], remedy: str = "") -> str:
    """Return which joints have a law that needs the inertia, and what helps; empty if none."""
    names: dict[type, list[str]] = {}
    for _, step in parts:
        names_of = step.plan.names_of_signals
        untold = {name: array for name, array in step.signals.items() if names_of.get(name, name) not in told}
        # laws that need an inertia ask for one
        if untold.keys().isdisjoint(_TOLD):
            continue
        known = dict.fromkeys(step.signals, True) | {name: on_host(array) != 0.0 for name, array in untold.items()}
        for law, lacks in _lacking(step, known.__getitem__):
            slots = np.flatnonzero(lacks.any(axis=0))
            names.setdefault(law, []).extend(step.plan.dof_names[slot] for slot in slots)
    return " ".join(f"Joints {', '.join(joints)}: {_cause(law)}{remedy}." for law, joints in names.items() if joints)


def found_faults(parts: Parts) -> list[Fault]:
    """The first fault of each joint and robot since its reset, with signals and causes as of now; reads the device."""
    return [fault for _, step in parts for fault in _faults_of(step)]


def in_words(fault: Fault) -> str:
    """Return what happened to a joint, and why if that is known."""
    where = f"<{fault.robot_path}>" if fault.robot_path else f"robot {fault.robot}"
    inputs = ", ".join(fault.inputs)
    what = f"{where}: {fault.dof_name}: {inputs} not finite in step {fault.step}: it got no effort then."
    return f"{what} {fault.cause}".rstrip()


def _faults_of(step: Step) -> Iterator[Fault]:
    plan, rows = step.plan, step.faults()
    codes = functools.reduce(operator.or_, map(operator.itemgetter(2), rows), 0)
    lacking = list(_lacking(step, lambda name: on_host(step.signals[name]) > 0.0)) if codes & EFFORT_FAULT else []
    odd = dict(_not_finite(step)) if codes & SIGNAL_FAULT else {}
    for robot, slot, code, when in rows:
        fault = fault_of(plan.labels[slot], plan.dof_names[slot], robot, when, code)
        laws = [law for law, lacks in lacking if code & EFFORT_FAULT and lacks[robot, slot]]
        signals = [name for name, bad in odd.items() if code & SIGNAL_FAULT and bad[robot, slot]]
        yield _explained(fault, laws, signals)


def _explained(fault: Fault, laws: Sequence[type], signals: Sequence[str]) -> Fault:
    if laws:
        signals, cause = [name for name in _TOLD if name in laws[0].ASKS], f"{_cause(laws[0])}."
    else:
        cause = f"Not finite: {', '.join(SIGNALS[name].words for name in signals)}."
    return dataclasses.replace(fault, signals=tuple(signals), cause=cause) if signals else fault


def _lacking(step: Step, told: Callable[[str], object]) -> Iterator[tuple[Any, np.ndarray]]:
    """Yield laws that need an inertia, and for which joints nobody tells or assumes one, `(robots, slots)`."""
    for stage in step.plan.stages:
        if _ASSUMED not in stage.rows:
            continue
        lacks = ~(step.values(stage.rows[_ASSUMED]) > 0.0) & stage.used
        if _TAKES_NONE in stage.rows:
            lacks &= ~(step.values(stage.rows[_TAKES_NONE]) > 0.5)
        for name in _TOLD:
            if name in stage.law.ASKS and lacks.any():
                lacks = lacks & ~np.asarray(told(name), bool)
        yield stage.law, lacks


def _not_finite(step: Step) -> Iterator[tuple[str, np.ndarray]]:
    """Yield signals that laws ask for, each with True where it is a fault, `(robots, slots)`."""
    for name, asking in step.plan.asked.items():
        values = on_host(step.signals[name])
        bad = ~np.isfinite(values) & ~(SIGNALS[name].is_unbounded & np.isposinf(values))
        yield name, bad & asking


def _cause(law: type) -> str:
    known = described_type(law)
    also = ", or in_engine=True in a simulator that takes it over" if hasattr(known, "in_engine") else ""
    return f"{known.__name__} needs the effective inertia of the joint, which is not known here. Set {_ASSUMED}=…{also}"
