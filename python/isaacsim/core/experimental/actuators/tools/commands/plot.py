"""`actuators plot`: effort envelope of a motor, step response and frequency response of a joint."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...simulators.dof_properties import DofType
from ...simulators.simulation import Simulation
from ..plots.bode import draw_bode
from ..plots.envelope import draw_envelope
from ..plots.step_response import draw_step_response
from ..plots.style import require_picture, save
from ..plots.units import units_of
from ..trials.bode import loop_response
from ..trials.envelope import envelope, find_actuator
from ..trials.step_response import step_response
from ..trials.targets import clipped, step
from ..trials.trial import room_of
from .answer import Answer, Table, headings
from .arguments import Plot
from .opened import actuators_of, opened, require_actuators, simulate
from .show import with_units

if TYPE_CHECKING:
    from ..plots.style import Figure

# default jumps [rad], [m], and their duration [s]
_TURN, _SLIDE, _SECONDS = 0.2, 0.02, 2.0
_ENVELOPE = headings("joint | stall_effort | corner_speed | no_load_speed: no-load speed | delay: delay [s] | clamps")
_STEP = headings(
    "drive | rise_time: rise time [s] | overshoot: overshoot [%] | settling_time: settling time [s] | "
    "error: final error | largest_effort"
)
_FRICTION = {"largest_friction": "largest friction"}
_QUANTITIES = {
    **dict.fromkeys(("stall_effort", "largest_effort", "largest_friction"), "effort"),
    **dict.fromkeys(("corner_speed", "no_load_speed"), "velocity"),
    "error": "position",
}
_BODE = headings(
    "joint | gain_margin | phase_crossover: at [Hz] | phase_margin: phase margin [deg] | gain_crossover: at [Hz] | "
    "bandwidth: bandwidth [Hz]"
)


def answer(arguments: Plot) -> Answer:
    """Answer `actuators plot`."""
    if not 0 < arguments.seconds < float("inf"):
        raise ValueError(f"--seconds {arguments.seconds}: must be a finite number > 0.")
    require_picture(arguments.out)
    drawn, table, is_wrong, notes = {"envelope": _envelope, "step": _step, "bode": _bode}[arguments.what](arguments)
    save(drawn, arguments.out)
    return Answer([table], [*notes, f"The picture is in {arguments.out}."], is_wrong)


def _open(arguments: Plot) -> Simulation:
    return simulate(arguments, arguments.file, arguments.dt)


def _envelope(arguments: Plot) -> tuple[Figure, Table, bool, list[str]]:
    with opened(_open(arguments), arguments.robot, arguments.config, warn=False) as one:
        actuators, robots = require_actuators(one, arguments.file), one.robots
        find_actuator(actuators, arguments.joint)
        column = robots.dof_names.index(arguments.joint)
        lower, upper = (float(limits.numpy()[0, column]) for limits in robots.get_dof_limits())
        largest = float(robots.get_dof_max_efforts().numpy()[0, column])
        found = envelope(
            actuators,
            arguments.joint,
            limits=(lower, upper),
            dt=one.simulation.dt,
            drive_limit=largest,
            turns=robots.dof_types[column] is DofType.Rotation,
        )
    row = {name: list(found.clamps) if name == "clamps" else getattr(found, name) for name in _ENVELOPE}
    table = with_units(Table("envelope", _ENVELOPE, [row]), _QUANTITIES, [found.turns])
    return draw_envelope(found), table, False, []


def _step(arguments: Plot) -> tuple[Figure, Table, bool, list[str]]:
    with opened(_open(arguments), arguments.robot, arguments.config, warn=False) as one:
        require_actuators(one, arguments.file)
        path, names = one.robots.paths[0], one.robots.dof_names
        kinds = dict(zip(names, one.robots.dof_types, strict=True))
        one.simulation.play()
        room = room_of(one.robots)
    usual = _TURN if kinds.get(arguments.joint) is DofType.Rotation else _SLIDE
    amplitude = usual if arguments.amplitude is None else arguments.amplitude
    found = step_response(
        lambda: _open(arguments),
        path,
        arguments.joint,
        amplitude=amplitude,
        seconds=arguments.seconds,
        open_actuators=lambda robot: actuators_of(robot, arguments.config),
    )
    rows = [
        {
            "drive": name,
            "rise_time": one.rise_time,
            "overshoot": None if one.overshoot is None else round(100 * one.overshoot, 2),
            "settling_time": one.settling_time,
            "error": float(one.target[-1]) - one.final,
            "largest_effort": float(abs(one.effort).max()),
            "largest_friction": None if one.friction is None else float(abs(one.friction).max()),
        }
        for name, one in (("actuator", found.actual), ("ideal", found.ideal))
    ]
    columns = _STEP if found.actual.friction is None else _STEP | _FRICTION
    only = np.where(np.array(names) == arguments.joint, amplitude, 0.0)
    notes = clipped(room, names, (step(room, only), only))
    jump = found.actual.target[-1] - found.actual.target[0]
    title = f"{arguments.joint}, a jump by {jump:.3g} {units_of([found.turns]).position}"
    table = with_units(Table("step", columns, rows, title=title), _QUANTITIES, [found.turns] * len(rows))
    return draw_step_response(found), table, False, notes


def _bode(arguments: Plot) -> tuple[Figure, Table, bool, list[str]]:
    with opened(_open(arguments), arguments.robot, arguments.config, warn=False) as one:
        actuators = require_actuators(one, arguments.file)
        one.simulation.play()
        found = loop_response(actuators, arguments.joint)
    row = {name: getattr(found, name) for name in _BODE}
    return draw_bode(found), Table("bode", _BODE, [row]), found.gain_margin < 1, []
