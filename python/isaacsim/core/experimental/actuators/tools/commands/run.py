"""`actuators run`: simulation of robots that follow targets, or of the action graphs of a file."""

from __future__ import annotations

import contextlib
import itertools
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console
from rich.progress import track

from ...base.errors import HostError
from ...base.saving import require_place
from ...extension.action_graphs.runner.load import has_graphs
from ...files.networks.trust import trust_checkpoints
from ...simulators.dof_properties import DofType
from ...simulators.port import turning
from ...simulators.simulation import Simulation
from ..interrupts import Interruptible
from ..plots.style import require_picture
from ..plots.units import units_of
from ..recording.recording import FORMATS
from ..trials.targets import KINDS, Targets, clipped, from_csv, hold, sine, step
from ..trials.trial import MOST_STEPS, Trial, follow, room_of, steps_in
from .answer import Answer, Table, headings, written
from .arguments import Run
from .opened import Opened, columns_of, opened, simulate
from .run_graph import run_graph
from .show import with_units

if TYPE_CHECKING:
    from ...simulators.physics_articulation import PhysicsArticulation
    from ..viewing.view import View

_SECONDS, _FREQUENCY, _FRAME_RATE = 3.0, 0.5, 60.0
# default amplitudes [rad], [m]
_TURN, _SLIDE = 0.2, 0.02
# largest delay of a view that is caught up [s of wall clock]
_CATCH_UP = 0.1
_SHARES = ("limited", "sticking", "at_voltage_limit")
# columns of joints with passive stages
_FRICTION = {"largest_friction": "largest friction", "sticking": "time sticking [%]"}
# columns of joints with windings or heat
_ELECTRICAL = {
    "largest_current": "largest current [A]",
    "at_voltage_limit": "time at voltage limit [%]",
    "hottest": "hottest [°C]",
}
_JOINT = headings(
    "robot | joint | target | position | largest_error | rms_error | largest_effort | limited: time limited [%] | "
    "clamps: by"
)
_QUANTITIES = {
    **dict.fromkeys(("target", "position", "largest_error", "rms_error"), "position"),
    **dict.fromkeys(("largest_effort", "largest_friction"), "effort"),
}


def answer(arguments: Run) -> Answer:
    """Answer `actuators run`."""
    steps = "steps", arguments.steps, MOST_STEPS, f"from 0 to {MOST_STEPS:g}"
    seconds = "seconds", arguments.seconds, sys.float_info.max, "a finite number >= 0"
    for name, value, most, rule in (steps, seconds):
        if value is not None and not 0 <= value <= most:
            raise ValueError(f"--{name} {value}: must be {rule}.")
    if arguments.record is not None:
        require_place(arguments.record)
        if arguments.record.suffix.lower() not in FORMATS:
            raise ValueError(f"--record {arguments.record}: must end with {', '.join(FORMATS)}. Rename the file.")
    require_picture(arguments.plot)
    with trust_checkpoints(arguments.trust):
        simulation = simulate(
            arguments, arguments.file, arguments.dt, engine=arguments.engine, strict_inertia=arguments.strict
        )
        if simulation.stage is not None and has_graphs(simulation.stage):
            with simulation:
                _refuse(arguments, "robots", ("targets", "config", "robot", "amplitude", "frequency", "record", "view"))
                rate = _FRAME_RATE if arguments.frame_rate is None else arguments.frame_rate
                steps = _counted(arguments, simulation, _SECONDS)
                found = run_graph(simulation, rate, steps, arguments.watch, arguments.plot)
                return _with_interrupt(found, steps, simulation.step_count)
        with opened(simulation, arguments.robot, arguments.config) as one:
            _refuse(arguments, "action graphs", ("frame_rate", "watch"))
            simulation.play()
            return _run_robots(arguments, one)


def _run_robots(arguments: Run, one: Opened) -> Answer:
    targets, seconds, notes = _targets(arguments, one.robots)
    steps, ends = _counted(arguments, one.simulation, seconds), True
    with contextlib.closing(_view(one.simulation)) if arguments.view else contextlib.nullcontext() as view:
        if (
            view is not None
            and (arguments.seconds, arguments.steps) == (None, None)
            and arguments.targets in (None, *KINDS)
        ):
            running = itertools.takewhile(lambda _: view.is_running, itertools.count())
            steps, ends = Interruptible(running, lambda: setattr(view, "paused", False)), False
        after_step = None if view is None else _in_real_time(view.sync, one.simulation.dt)
        trial = follow(one.simulation, one.robots, one.actuators, targets, steps, after_step)
    notes = [*_driven_by(one), *notes, *_notes(trial, _turns(one.robots))]
    notes += written(arguments.record, "recording is", trial.recording.save)
    notes += written(arguments.plot, "picture is", lambda path: trial.recording.plot(path=path))
    ran = one.simulation.step_count
    title = f"{arguments.file}: {ran} physics steps of {one.simulation.dt:.4g} s"
    found = Answer([_table(trial, one.robots, title)], notes, trial.is_wrong)
    return _with_interrupt(found, steps, ran) if ends else found


def _table(trial: Trial, robots: PhysicsArticulation, title: str) -> Table:
    """Return the table of joints, with columns of friction, windings and heat where there are some."""
    rows = [
        vars(joint) | {name: None if (share := getattr(joint, name)) is None else 100 * share for name in _SHARES}
        for joint in trial.joints
    ]
    others = _FRICTION | _ELECTRICAL
    there = {name: words for name, words in others.items() if any(row[name] is not None for row in rows)}
    columns = columns_of(_JOINT | there, robots)
    turns = _turns(robots)
    return with_units(
        Table("joints", columns, rows, title=title), _QUANTITIES, [turns.get(one.joint) for one in trial.joints]
    )


def _turns(robots: PhysicsArticulation) -> dict[str, bool | None]:
    """Return which joints turn, by name."""
    return dict(zip(robots.dof_names, turning(robots) or [], strict=False))


def _targets(arguments: Run, robots: PhysicsArticulation) -> tuple[Targets, float, list[str]]:
    """Return targets, their duration [s], and notes on joint limits."""
    kind, room = arguments.targets or KINDS[0], room_of(robots)
    if kind not in KINDS and Path(kind).suffix.lower() != ".csv":
        raise ValueError(f"--targets {kind}: must be one of {', '.join(KINDS)}, or a file .csv. Correct it.")
    turns = np.array([one is DofType.Rotation for one in robots.dof_types])
    amplitude = np.where(turns, _TURN, _SLIDE) if arguments.amplitude is None else arguments.amplitude
    notes = clipped(room, robots.dof_names)
    if kind == "sine":
        frequency = _FREQUENCY if arguments.frequency is None else arguments.frequency
        return sine(room, amplitude, frequency), _SECONDS, notes
    if kind == "step":
        jump = step(room, amplitude)
        return jump, _SECONDS, clipped(room, robots.dof_names, (jump, amplitude))
    return *((hold(room), _SECONDS) if kind == "hold" else from_csv(Path(kind), robots.dof_names, room)), notes


def _counted(arguments: Run, simulation: Simulation, seconds: float) -> Interruptible[int]:
    """Return physics steps, with a progress bar."""
    seconds = seconds if arguments.seconds is None else arguments.seconds
    steps = steps_in(seconds, simulation.dt) if arguments.steps is None else arguments.steps
    console = Console(stderr=True)
    counted = track(range(steps), "running", console=console, transient=True, disable=not sys.stderr.isatty())
    return Interruptible(counted)


def _refuse(arguments: Run, what: str, names: tuple[str, ...]) -> None:
    """Raise a ValueError if one of some options was given, which would have no effect."""
    if given := [name for name in names if getattr(arguments, name)]:
        option = f"--{given[0].replace('_', '-')}"
        other = "action graphs, which run instead" if what == "robots" else "no action graphs"
        raise ValueError(f"{option} is for {what}: {arguments.file} has {other}. Leave it out.")


def _view(simulation: Simulation) -> View:
    """Return the live view; HostError if there is none."""
    view: Callable[[], View] | None = getattr(simulation, "view", None)
    if view is None:
        raise HostError("--view: this version has no live view. Use --plot or --record instead.")
    # standard output is for the answer alone
    with contextlib.redirect_stdout(sys.stderr):
        return view()


def _with_interrupt(answer: Answer, steps: Interruptible[int], ran: int) -> Answer:
    """Return an answer that says first if Ctrl+C has ended it early, which is a finding."""
    if not steps.interrupted:
        return answer
    said = f"Interrupted after {ran} physics steps: the results are those up to there."
    return Answer(answer.tables, [said, *answer.notes], is_wrong=True)


def _in_real_time(sync: Callable[[], None], dt: float) -> Callable[[], None]:
    """Return a function that shows a step and waits for the wall clock; short delays are caught up."""
    due = time.perf_counter()

    def after_step() -> None:
        nonlocal due
        sync()
        due = max(due + dt, time.perf_counter() - _CATCH_UP)
        time.sleep(max(0.0, due - time.perf_counter()))

    return after_step


def _driven_by(one: Opened) -> list[str]:
    """Return notes on joints without an actuator."""
    names = np.array(one.robots.dof_names)
    rest = np.ones(len(names), bool)
    if one.actuators is not None:
        rest[one.actuators.actuated_dof_indices] = False
    has_drive = np.any([gains.numpy()[0] for gains in one.robots.get_dof_gains()], axis=0)
    drives, nothing = ", ".join(names[rest & has_drive]), ", ".join(names[rest & ~has_drive])
    notes = []
    if drives:
        subject = "No actuator found: the" if one.actuators is None else "The"
        notes.append(f"{subject} simulator's joint drives move {drives}; their efforts are unknown.")
    if nothing:
        notes.append(f"Nothing drives {nothing}: they have neither an actuator nor a drive with gains.")
    return notes


def _notes(trial: Trial, turns: dict[str, bool | None]) -> list[str]:
    """Return notes on vibrations, limits, faults and divergence."""

    def unit(joint: str) -> str:
        return units_of([turns.get(joint)]).position

    notes = [
        f"{joint} of <{robot}> vibrates: {one.frequency:.3g} Hz, amplitude {one.amplitude:.2g} {unit(joint)}."
        for (robot, joint), one in trial.buzzing.items()
    ]
    notes += [
        f"{joint.joint} of <{joint.robot}> was {joint.beyond:.3g} {unit(joint.joint)} beyond its limit."
        for joint in trial.joints
        if joint.beyond
    ]
    notes += [f"faults of joints: {len(trial.faults)}", *trial.faults] if trial.faults else []
    return notes + ([trial.diverged] if trial.diverged else [])
