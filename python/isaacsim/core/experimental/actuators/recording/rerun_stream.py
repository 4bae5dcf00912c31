"""Recordings in Rerun, a viewer of what robots log: in a file of its own, or among what somebody else logs.

Each joint is an entity, `robot/joint`. Below it stand its quantities; what is below one of them is drawn together.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..extras import needs

_APPLICATION = "actuators"

# where each array stands below its joint
_ENTITIES = {
    "positions": "position/measured",
    "position_targets": "position/target",
    "delayed_position_targets": "position/delayed_target",
    "velocities": "velocity/measured",
    "velocity_targets": "velocity/target",
    "delayed_velocity_targets": "velocity/delayed_target",
    "computed_efforts": "effort/computed",
    "motor_efforts": "effort/motor",
    "applied_efforts": "effort/applied",
    "power": "power",
    "limited_by": "limited_by",
    "faults": "faults",
}
_PANELS = ("position", "velocity", "effort", "power")


def save_rrd(path: Path, steps: np.ndarray, subject: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
    """Write a file that `rerun` shows, with a tab for each joint.

    Raises:
        ModuleNotFoundError: rerun-sdk is missing.
    """
    rerun = _rerun()
    stream = rerun.RecordingStream(_APPLICATION)
    # rerun would wait for ever for room on a full disk
    kept = stream.memory_recording()
    stream.send_blueprint(_tabs(subject, arrays))
    send(stream, steps, subject, arrays)
    path.write_bytes(kept.drain_as_bytes())
    stream.disconnect()


def send(stream: Any, steps: np.ndarray, subject: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
    """Send numbers at every step, on the timelines `time` and `step`; what limits and what fails only where it changes.

    Args:
        stream: A `rerun.RecordingStream`, or None for the one that is current.
        steps: Seconds of each step.
        subject: What was recorded.
        arrays: Arrays by name, `time` among them.

    Raises:
        ModuleNotFoundError: rerun-sdk is missing.
    """
    rerun = _rerun()
    time = arrays["time"]
    number = np.arange(len(steps))

    def times(at: Any) -> list[Any]:
        return [
            rerun.TimeColumn("time", duration=time[at]),
            rerun.TimeColumn("step", sequence=number[at]),
        ]

    for row, robot in enumerate(subject["robots"]):
        for column, joint in enumerate(subject["joints"]):
            here = _entity(robot, joint)
            limit = subject["max_efforts"][row, column]
            for name, where in _ENTITIES.items():
                if name not in arrays or not len(steps):
                    continue
                values, place = arrays[name][:, row, column], rerun.new_entity_path([*here, *where.split("/")])
                if name in ("limited_by", "faults"):
                    at = np.flatnonzero(np.r_[bool(values[0]), values[1:] != values[:-1]])
                    words = [str(value) if value else "nothing" for value in values[at].tolist()]
                    sent = rerun.TextLog.columns(text=words)
                else:
                    at, sent = slice(None), rerun.Scalars.columns(scalars=values.astype(np.float64))
                rerun.send_columns(place, times(at), sent, recording=stream)
            if np.isfinite(limit) and len(steps):
                for sign, which in ((1, "largest"), (-1, "least")):
                    place = rerun.new_entity_path([*here, "effort", which])
                    sent = rerun.Scalars.columns(scalars=np.full(2, sign * limit, np.float64))
                    rerun.send_columns(place, times(np.array([0, -1])), sent, recording=stream)


def _tabs(subject: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> Any:
    """A tab for each joint, in it a panel for each quantity, and below them what is told in words."""
    import rerun.blueprint as blueprint  # pyright: ignore[reportMissingImports]

    rerun = _rerun()
    there = {where.partition("/")[0] for name, where in _ENTITIES.items() if name in arrays}

    def tab(robot: str, joint: str) -> Any:
        here = _entity(robot, joint)
        panels: list[Any] = [
            blueprint.TimeSeriesView(origin=rerun.new_entity_path([*here, panel]), name=panel)
            for panel in _PANELS
            if panel in there
        ]
        if there & {"limited_by", "faults"}:
            panels.append(blueprint.TextLogView(origin=rerun.new_entity_path(here), name="limits and faults"))
        name = joint if len(subject["robots"]) == 1 else f"{robot} {joint}"
        return blueprint.Vertical(*panels, name=name)

    tabs = [tab(robot, joint) for robot in subject["robots"] for joint in subject["joints"]]
    return blueprint.Blueprint(blueprint.Tabs(*tabs), collapse_panels=True)


def _entity(robot: str, joint: str) -> list[str]:
    """The parts of a joint's path."""
    return [*robot.strip("/").split("/"), joint]


def _rerun() -> Any:
    with needs("A recording in Rerun", "rerun"):
        import rerun  # pyright: ignore[reportMissingImports]
    return rerun
