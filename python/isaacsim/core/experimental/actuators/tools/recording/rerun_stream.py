"""Recordings in Rerun, a viewer of logs of robots: in a file of their own, or in the log of a program.

Each joint is an entity, `robot/joint`, with its quantities below it; entities below one of them share a plot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from ...base.extras import needs
from ...engine.recorded_signals import FLAGS
from .files import Subject

_APPLICATION = "actuators"

# entity of each array, below that of its joint
_ENTITIES = {
    "positions": "position/measured",
    "rotor_positions": "position/rotor",
    "position_targets": "position/target",
    "delayed_position_targets": "position/delayed_target",
    "measured_positions": "position/encoder",
    "velocities": "velocity/measured",
    "measured_velocities": "velocity/encoder",
    "rotor_velocities": "velocity/rotor",
    "velocity_targets": "velocity/target",
    "delayed_velocity_targets": "velocity/delayed_target",
    "computed_efforts": "effort/computed",
    "motor_efforts": "effort/motor",
    "applied_efforts": "effort/applied",
    "passive_efforts": "effort/friction",
    "shaft_positions": "shaft_position",
    "shaft_velocities": "shaft_velocity",
    "shaft_efforts": "shaft_effort",
    "currents": "current",
    "terminal_voltages": "voltage/winding",
    "supply_voltages": "voltage/supply",
    "winding_temperatures": "temperature/winding",
    "housing_temperatures": "temperature/housing",
    "electrical_power": "power/electrical",
    "losses": "power/losses",
    "power": "power",
    "passive_power": "power/friction",
    "sticking": "sticking",
    "at_voltage_limit": "at_voltage_limit",
    "limited_by": "limited_by",
    "faults": "faults",
}
# sent as text, when they change
_EVENTS = ("limited_by", "faults", *FLAGS)
# text of a flag while it is true and while it is false
_WORDS = {"sticking": ("sticks", "moves"), "at_voltage_limit": ("voltage at its limit", "voltage within its limit")}
_PANELS = (
    *("position", "velocity", "effort", "power", "current", "voltage", "temperature"),
    *("shaft_position", "shaft_velocity", "shaft_effort"),
)


def save_rrd(path: Path, steps: np.ndarray, subject: Subject, arrays: Mapping[str, np.ndarray]) -> None:
    """Write a file that `rerun` shows, with a tab for each joint; ModuleNotFoundError if rerun-sdk is missing."""
    rerun = _rerun()
    stream = rerun.RecordingStream(_APPLICATION)
    # rerun waits forever on a full disk
    kept = stream.memory_recording()
    stream.send_blueprint(_tabs(subject, arrays))
    send(stream, steps, subject, arrays)
    path.write_bytes(kept.drain_as_bytes())
    stream.disconnect()


def send(stream: object, steps: np.ndarray, subject: Subject, arrays: Mapping[str, np.ndarray]) -> None:
    """Send numbers at every step, on the timelines `time` and `step`; limits, faults and sticking only on a change.

    The stream is a `rerun.RecordingStream`, or None for the current one; `steps` are seconds, and `time` is an array.
    """
    rerun = _rerun()
    if not len(steps):
        return
    time, number = arrays["time"], np.arange(len(steps))

    def put(place: Sequence[str], at: slice | np.ndarray, sent: object) -> None:
        times = [rerun.TimeColumn("time", duration=time[at]), rerun.TimeColumn("step", sequence=number[at])]
        rerun.send_columns(rerun.new_entity_path([*place]), times, sent, recording=stream)

    for row, robot in enumerate(subject.robots):
        for column, joint in enumerate(subject.joints):
            here = _entity(robot, joint)
            for name, where in _ENTITIES.items():
                if name in arrays:
                    put([*here, *where.split("/")], *_columns(rerun, name, arrays[name][:, row, column]))
            limit = subject.max_efforts[row, column]
            for sign, word in ((1, "largest"), (-1, "least")) if np.isfinite(limit) else ():
                ends = rerun.Scalars.columns(scalars=np.full(2, sign * limit, np.float64))
                put([*here, "effort", word], np.array([0, -1]), ends)


def _columns(rerun: ModuleType, name: str, values: np.ndarray) -> tuple[slice | np.ndarray, object]:
    """Return the steps at which a signal of one joint is sent, and its content."""
    if name not in _EVENTS:
        return slice(None), rerun.Scalars.columns(scalars=values.astype(np.float64))
    at = np.flatnonzero(np.r_[bool(values[0]), values[1:] != values[:-1]])
    on, off = _WORDS.get(name, ("", "nothing"))
    words = [(on or str(value)) if value else off for value in values[at].tolist()]
    return at, rerun.TextLog.columns(text=words)


def _tabs(subject: Subject, arrays: Mapping[str, np.ndarray]) -> object:
    """Return a tab for each joint, with a panel for each quantity, and limits, faults and sticking as text below."""
    import rerun.blueprint as blueprint  # pyright: ignore[reportMissingImports]

    rerun = _rerun()
    there = {where.partition("/")[0] for name, where in _ENTITIES.items() if name in arrays}

    def tab(robot: str, joint: str) -> Any:
        here = _entity(robot, joint)
        places = {panel: rerun.new_entity_path([*here, panel]) for panel in _PANELS if panel in there}
        panels: list[Any] = [blueprint.TimeSeriesView(origin=at, name=panel) for panel, at in places.items()]
        if there & {*_EVENTS}:
            name = "limits, faults and sticking" if "sticking" in there else "limits and faults"
            panels.append(blueprint.TextLogView(origin=rerun.new_entity_path(here), name=name))
        name = joint if len(subject.robots) == 1 else f"{robot} {joint}"
        return blueprint.Vertical(*panels, name=name)

    tabs = [tab(robot, joint) for robot in subject.robots for joint in subject.joints]
    return blueprint.Blueprint(blueprint.Tabs(*tabs), collapse_panels=True)


def _entity(robot: str, joint: str) -> list[str]:
    """Return the parts of a joint's path."""
    return [*robot.strip("/").split("/"), joint]


def _rerun() -> ModuleType:
    with needs("A recording in Rerun", "rerun"):
        import rerun  # pyright: ignore[reportMissingImports]
    return rerun
