"""`actuators run`: see a robot move, or what the action graphs of a file do, without a line of code."""

from __future__ import annotations

import contextlib
import itertools
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import tyro
from rich.console import Console
from rich.progress import track

from ..errors import HostError
from ..graphs.load import has_graphs
from ..hosts.dof_properties import DofType
from ..networks.trust import trust_checkpoints
from ..plots.style import require_picture
from ..recording.recording import FORMATS
from ..saving import require_place
from ..simulation import Simulation
from ..trials.targets import KINDS, Targets, from_csv, hold, sine, step
from ..trials.trial import Trial, follow, room_of
from .command import Answer, Command, Table
from .opened import Opened, columns_of, opened
from .run_graph import run_graph

_SECONDS, _FREQUENCY, _FRAME_RATE = 3.0, 0.5, 60.0
# default amplitudes [rad], [m]
_TURN, _SLIDE = 0.2, 0.02
# what of a delay of a view is made up for [s of wall clock]
_CATCH_UP = 0.1
_JOINT = {
    "robot": "robot",
    "joint": "joint",
    "target": "target [rad or m]",
    "position": "position",
    "largest_error": "largest error",
    "rms_error": "rms error",
    "largest_effort": "largest effort [N·m or N]",
    "limited": "time limited [%]",
    "clamps": "by",
}


@dataclass(kw_only=True)
class Run(Command):
    """See a robot move, or run the action graphs of a file."""

    file: tyro.conf.Positional[Path]
    """A USD (.usd, .usda, .usdc, .usdz), MJCF (.xml, .mjcf) or URDF (.urdf) file with robots, or a USD file with
    action graphs."""
    config: Path | None = None
    """Motors by pattern of joint names, .yaml, .yml, .toml or .json, in place of those of the file."""
    targets: str | None = None
    """What the joints are to do: `hold` their pose (default), `sine` or `step` around it, or a CSV file with a column
    `time [s]` and one per joint."""
    seconds: float | None = None
    """How long [s]; by default 3, or as long as the CSV file. With `--view` and no CSV file until the window is closed,
    or Ctrl+C."""
    steps: int | None = None
    """How long, in physics steps instead."""
    dt: float | None = None
    """Physics step [s]; by default that of the file, 1/240 for USD."""
    robot: str | None = None
    """Path of the robot, or of a prim above several equal ones; by default all."""
    amplitude: float | None = None
    """Of `sine` and `step` [rad or m]; by default 0.2 rad and 0.02 m, less where limits are near."""
    frequency: float | None = None
    """Of `sine` [Hz]; by default 0.5."""
    engine: Literal["mujoco", "physx"] = "mujoco"
    """What computes physics."""
    record: Path | None = None
    """Write what happened to a file: .npz, .csv, .parquet, or .rrd for the viewer Rerun."""
    plot: Path | None = None
    """Draw what happened."""
    view: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Show it live, as fast as the clock; what `hold` holds can be moved there."""
    strict: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Refuse inertias that no body can have, in place of taking the closest."""
    frame_rate: float | None = None
    """Of action graphs: frames per second, rounded to whole steps; by default 60."""
    watch: tyro.conf.UseAppendAction[list[str]] = field(default_factory=list)
    """Of action graphs: a port to draw, /World/Graph/Node.outputs:x; repeat."""
    trust: tyro.conf.UseAppendAction[list[str]] = field(default_factory=list)
    """Let Torch run networks that are not recognised, of this file or folder; repeat."""

    def answer(self) -> Answer:
        """See the class."""
        for name, value, least in (("steps", self.steps, 0), ("seconds", self.seconds, 0)):
            if value is not None and not least <= value < float("inf"):
                raise ValueError(f"--{name} {value}: must be a finite number >= {least}.")
        if self.record is not None:
            require_place(self.record)
            if self.record.suffix.lower() not in FORMATS:
                raise ValueError(f"--record {self.record}: must end with {', '.join(FORMATS)}. Rename the file.")
        if self.plot is not None:
            require_picture(self.plot)
        with trust_checkpoints(self.trust):
            simulation = Simulation(self.file, self.dt, engine=self.engine, strict_inertia=self.strict)
            if simulation.stage is not None and has_graphs(simulation.stage):
                with simulation:
                    self._refuse("robots", ("targets", "config", "robot", "amplitude", "frequency", "record", "view"))
                    rate = _FRAME_RATE if self.frame_rate is None else self.frame_rate
                    return run_graph(simulation, rate, self._counted(simulation, _SECONDS), self.watch, self.plot)
            with opened(simulation, self.robot, self.config) as one:
                self._refuse("action graphs", ("frame_rate", "watch"))
                simulation.play()
                return self._run_robots(one)

    def _run_robots(self, one: Opened) -> Answer:
        targets, seconds = self._targets(one.robots)
        steps = self._counted(one.simulation, seconds)
        with contextlib.closing(_view(one.simulation)) if self.view else contextlib.nullcontext() as view:
            if view is not None and (self.seconds, self.steps) == (None, None) and self.targets in (None, *KINDS):
                steps = _while_open(view)
            after_step = None if view is None else _in_real_time(view.sync, one.simulation.dt)
            trial = follow(one.simulation, one.robots, one.actuators, targets, steps, after_step)
        notes = [*_driven_by(one), *_told(trial)]
        if self.record is not None:
            trial.recording.save(self.record)
            notes.append(f"The recording is in {self.record}.")
        if self.plot is not None:
            trial.recording.plot(path=self.plot)
            notes.append(f"The picture is in {self.plot}.")
        rows = [
            vars(joint) | {"limited": None if joint.limited is None else 100 * joint.limited} for joint in trial.joints
        ]
        ran = one.simulation.step_count
        title = f"{self.file}: {ran} physics steps of {one.simulation.dt:.6g} s"
        return Answer([Table("joints", columns_of(_JOINT, one.robots), rows, title=title)], notes, trial.is_wrong)

    def _targets(self, robots: Any) -> tuple[Targets, float]:
        """Targets, and for how long they are meant [s]."""
        kind, room = self.targets or KINDS[0], room_of(robots)
        if kind not in KINDS and Path(kind).suffix.lower() != ".csv":
            raise ValueError(f"--targets {kind}: must be one of {', '.join(KINDS)}, or a file .csv. Correct it.")
        turns = np.array([one is DofType.Rotation for one in robots.dof_types])
        amplitude = np.where(turns, _TURN, _SLIDE) if self.amplitude is None else self.amplitude
        if kind == "sine":
            return sine(room, amplitude, _FREQUENCY if self.frequency is None else self.frequency), _SECONDS
        if kind == "step":
            return step(room, amplitude), _SECONDS
        return (hold(room), _SECONDS) if kind == "hold" else from_csv(Path(kind), robots.dof_names, room)

    def _counted(self, simulation: Simulation, seconds: float) -> Iterable[int]:
        """Physics steps, with a bar that shows how far they are."""
        seconds = seconds if self.seconds is None else self.seconds
        steps = round(seconds / simulation.dt) if self.steps is None else self.steps
        console = Console(stderr=True)
        return track(range(steps), "running", console=console, transient=True, disable=not sys.stderr.isatty())

    def _refuse(self, what: str, names: tuple[str, ...]) -> None:
        """Options that would do nothing.

        Raises:
            ValueError: One of them was given.
        """
        if given := [name for name in names if getattr(self, name)]:
            option = f"--{given[0].replace('_', '-')}"
            other = "action graphs, which run instead" if what == "robots" else "no action graphs"
            raise ValueError(f"{option} is for {what}: {self.file} has {other}. Leave it out.")


def _view(simulation: Simulation) -> Any:
    """The live view.

    Raises:
        HostError: There is none.
    """
    view: Callable[[], Any] | None = getattr(simulation, "view", None)
    if view is None:
        raise HostError("--view: this version has no live view. Use --plot or --record instead.")
    # the answer alone goes to where answers go
    with contextlib.redirect_stdout(sys.stderr):
        return view()


def _while_open(view: Any) -> Iterator[int]:
    """Physics steps, until the window is closed or somebody presses Ctrl+C."""
    ended = False

    def end(*_: object) -> None:
        nonlocal ended
        ended, view.paused = True, False

    before = signal.signal(signal.SIGINT, end)
    try:
        for count in itertools.count():
            if ended or not view.is_running:
                return
            yield count
    finally:
        signal.signal(signal.SIGINT, before)


def _in_real_time(sync: Callable[[], None], dt: float) -> Callable[[], None]:
    """Show a step, and wait until the clock is where simulated time is; short delays are made up for."""
    due = time.perf_counter()

    def after_step() -> None:
        nonlocal due
        sync()
        due = max(due + dt, time.perf_counter() - _CATCH_UP)
        time.sleep(max(0.0, due - time.perf_counter()))

    return after_step


def _driven_by(one: Opened) -> list[str]:
    """What moves the joints, where that is not an actuator."""
    names = one.robots.dof_names
    driven = set() if one.actuators is None else {names[column] for column in one.actuators.actuated_dof_indices}
    stiffness, damping = (gains.numpy()[0] for gains in one.robots.get_dof_gains())
    rest = [
        (name, bool(kp or kd)) for name, kp, kd in zip(names, stiffness, damping, strict=True) if name not in driven
    ]
    drives = [name for name, has_drive in rest if has_drive]
    nothing = [name for name, has_drive in rest if not has_drive]
    notes = []
    if drives:
        said = "No actuator found: the" if one.actuators is None else "The"
        notes.append(f"{said} simulator's joint drives move {', '.join(drives)}; their efforts are not told.")
    if nothing:
        notes.append(f"Nothing moves {', '.join(nothing)}: neither an actuator nor a drive is there.")
    return notes


def _told(trial: Trial) -> list[str]:
    """What is worth a word."""
    notes = [
        f"{joint} of <{robot}> buzzes: {one.frequency:.3g} Hz, amplitude {one.amplitude:.2g} rad or m."
        for (robot, joint), one in trial.buzzing.items()
    ]
    notes += [
        f"{joint.joint} of <{joint.robot}> was {joint.beyond:.3g} rad or m beyond its limit."
        for joint in trial.joints
        if joint.beyond
    ]
    notes += trial.faults
    return notes + ([trial.diverged] if trial.diverged else [])
