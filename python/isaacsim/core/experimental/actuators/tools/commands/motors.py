"""`actuators motors`: the catalogue of real motors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields

from ...specs.motor_catalogue import MOTORS, MotorFigures, motor_figures
from .answer import Answer, Table, headings
from .arguments import Motors

_FIGURES = tuple(one.name for one in fields(MotorFigures) if one.name not in ("used_in", "sources", "motor"))
_UNITS = {
    **dict.fromkeys(("stall_torque", "max_torque", "braking_torque", "friction"), "N·m"),
    **dict.fromkeys(("no_load_speed", "max_speed", "full_effort_speed"), "rad/s"),
    "armature": "kg·m²",
    "viscous_friction": "N·m·s/rad",
    "torque_constant": "N·m/A",
    "resistance": "Ω",
    "voltage": "V",
}
_COLUMNS = headings(
    "motor | max_torque: max torque [N·m] | stall_torque: stall torque [N·m] | no_load_speed: no-load speed [rad/s] | "
    "max_speed: max speed [rad/s] | armature: armature [kg·m²] | used_in"
)
_SOURCES = {"motor": "motor", "figure": "figure", "value": "value", "unit": "unit", "source": "source"}


def answer(arguments: Motors) -> Answer:
    """Answer `actuators motors`."""
    found = {name: motor_figures(name) for name in arguments.names} or MOTORS
    rows = [
        {"motor": name, **{key: getattr(one, key) for key in _FIGURES}, "used_in": one.used_in}
        for name, one in found.items()
    ]
    tables = [Table("motors", _COLUMNS, rows, "figures at the joint, behind the gear")]
    if arguments.names:
        tables.append(Table("sources", _SOURCES, [row for name, one in found.items() for row in _sources(name, one)]))
    hint = (
        "`actuators motors NAME` shows all figures of a motor with their sources; a hyphen is a figure not published."
    )
    return Answer(tables, [] if arguments.names else [hint])


def _sources(name: str, figures: MotorFigures) -> Iterator[Mapping[str, object]]:
    """Yield a row per published figure."""
    for figure, source in figures.sources.items():
        value = getattr(figures, figure)
        yield {"motor": name, "figure": figure, "value": value, "unit": _UNITS.get(figure, ""), "source": source}
