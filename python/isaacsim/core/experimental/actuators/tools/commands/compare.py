"""`actuators compare`: the time at which two simulations of a robot part, and the causes."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np

from ...base.errors import listed
from ...compat.isaac_lab.load import load_groups
from ..comparison.compare import Comparison, compare
from ..comparison.notes import SHOWN, most_of, notes_on, rows_of, summary, text
from ..comparison.plan import plan_of
from ..comparison.side import Side, both_driven_alike, side_of
from ..plots.identified import TwoMotions, draw_two_motions
from ..plots.style import require_picture, save
from ..plots.units import units_of
from .answer import Answer, Table, headings, written
from .arguments import Compare
from .opened import motors_in
from .show import progress_bar

_BLAMES = headings("cause | joints: joints or links | first | second | before | after | share: explains [%] | alone")
_VALUES = {"cause": "cause", "joints": "joints or links", "property": "property", "first": "first", "second": "second"}


def answer(arguments: Compare) -> Answer:
    """Answer `actuators compare`; ValueError if the two simulations are the same, or an option is out of range."""
    require_picture(arguments.plot)
    if not 0 < arguments.tolerance < float("inf"):
        raise ValueError(f"--tolerance {arguments.tolerance}: must be a finite number > 0.")
    sides = _sides(arguments)
    first, second, changed = both_driven_alike(*sides)
    options = {"seconds": arguments.seconds, "amplitude": arguments.amplitude, "targets": arguments.targets}
    plan = plan_of(first, second, **options)
    if arguments.by_index:
        if len(first.joints) != len(second.joints):
            raise ValueError(
                f"--by-index: {second.file} has {len(second.joints)} joints: must have {len(first.joints)}, as "
                f"{first.file}. Leave it out."
            )
        second = dataclasses.replace(second, order=dict(zip(first.joints, second.joints, strict=True)))
    with progress_bar("comparing", hidden=arguments.json) as progress:
        comparison = compare(first, second, plan, arguments.tolerance, progress)
    notes = notes_on(comparison, plan, sides, changed)
    words = _names(arguments, comparison)
    notes += written(arguments.plot, "plot is", lambda path: save(draw_two_motions(_drawn(comparison, words)), path))
    return Answer(_tables(comparison, words), notes, comparison.differs)


def _sides(arguments: Compare) -> tuple[Side, Side]:
    """Return the two sides of the arguments; ValueError if they are the same."""
    engines = [one.strip() for one in arguments.engines.split(",")]
    files = [arguments.first] if arguments.second is None else [arguments.first, arguments.second]
    configs = [arguments.config] if arguments.config_b is None else [arguments.config, arguments.config_b]
    if len(engines) > 2:
        raise ValueError(f"--engines {arguments.engines}: must be one name or two, such as mujoco,physx.")
    if len(engines) == len(files) == len(configs) == 1 and arguments.lab is None:
        raise ValueError(
            f"{arguments.first}: must be compared with something. Give a second file, --engines mujoco,physx, "
            "--config-b with other motors, or --lab with a robot of Isaac Lab."
        )
    if arguments.lab is not None and arguments.config_b is not None:
        raise ValueError(f"--lab {arguments.lab}: must not be given with --config-b, for both move the second. Choose.")
    motors = list(map(motors_in, configs))
    own = side_of(files[0], motors[0], engine=engines[0], dt=arguments.dt)
    if arguments.lab is None:
        return own, side_of(files[-1], motors[-1], engine=engines[-1], dt=arguments.dt)
    options = {"groups": load_groups(*_file_and_name(arguments.lab)), "rules": arguments.lab_rules}
    return own, side_of(files[-1], engine=engines[-1], dt=arguments.dt, **options)


def _file_and_name(text: str) -> tuple[Path, str | None]:
    """Return the file and the name of `FILE.py:NAME`; None for no name."""
    file, colon, name = text.rpartition(":")
    return (Path(file), name) if colon and name.isidentifier() else (Path(text), None)


def _tables(comparison: Comparison, sides: tuple[str, str]) -> list[Table]:
    blames, values = [], []
    for blame in comparison.blames:
        rows = rows_of(blame.found)
        joints = list(dict.fromkeys(joint for row in rows for joint in row.joints))
        blames.append(
            {
                "cause": blame.cause,
                "joints": listed(joints, SHOWN),
                "first": summary(rows, second=False),
                "second": summary(rows, second=True),
                "before": 1e3 * blame.before,
                "after": 1e3 * blame.after,
                "share": 100 * blame.share,
                "alone": None if blame.alone is None else 1e3 * blame.alone,
            }
        )
        values += [
            {
                "cause": blame.cause,
                "joints": list(row.joints),
                "property": row.property,
                "first": row.first,
                "second": row.second,
            }
            for row in rows
            if not blame.is_switched_off
        ]
    if comparison.unexplained:
        blames.append(_rest(comparison))
    shown = [
        row | {"joints": listed(row["joints"], SHOWN), "first": text(row["first"]), "second": text(row["second"])}
        for row in values
    ]
    title = f"first: {sides[0]}; second: {sides[1]}"
    unit = units_of(comparison.first.motion.turns).milli
    columns = _BLAMES | {name: f"{_BLAMES[name]} [{unit}]" for name in ("before", "alone")}
    return [Table("causes", columns, blames, title=title), Table("values", _VALUES, values, shown=shown)]


def _rest(comparison: Comparison) -> dict[str, object]:
    """Return the row of what no cause explains."""
    first, second = comparison.first.side, comparison.second.side
    is_engine = first.engine != second.engine
    return {
        "cause": "engine (integrator, solver)" if is_engine else "not explained",
        "joints": listed(most_of(comparison.remaining.by_joint), SHOWN),
        "first": first.engine if is_engine else None,
        "second": second.engine if is_engine else None,
        "before": 1e3 * comparison.remaining.mean,
        "after": None,
        "share": 100 * comparison.unexplained,
        "alone": None,
    }


def _names(arguments: Compare, comparison: Comparison) -> tuple[str, str]:
    """Return the words that distinguish the two sides."""
    sides = comparison.first.side, comparison.second.side
    configs = arguments.config, arguments.config_b or arguments.config
    words = [[Path(side.file).name, f"{side.dt:.4g} s"] for side in sides]
    for at, (side, config) in enumerate(zip(sides, configs, strict=True)):
        if sides[0].engine != sides[1].engine:
            words[at].insert(1, side.engine)
        if at == 1 and arguments.lab is not None:
            words[at].insert(1, f"Isaac Lab's {Path(arguments.lab).name}")
        elif config is not None:
            words[at].insert(1, config.name)
    first, second = (", ".join(parts) for parts in words)
    return (first, second) if first != second else (f"{first} (first)", f"{second} (second)")


def _drawn(comparison: Comparison, sides: tuple[str, str]) -> TwoMotions:
    time, motion = comparison.difference.time, comparison.first.motion
    rows = len(time)
    remaining = np.full((rows, len(motion.joints)), np.nan)
    for column in range(len(motion.joints)):
        remaining[:, column] = np.interp(time, comparison.remaining.time, comparison.remaining.errors[:, column])
    return TwoMotions(
        "the same commands on two sides",
        sides,
        motion.joints,
        time,
        motion.targets[:rows],
        motion.positions[:rows],
        comparison.second.motion.positions_at(time),
        comparison.difference.errors,
        remaining,
        None if comparison.parting is None else comparison.parting.time,
        motion.turns,
    )
