"""`actuators compare`: where two simulations of a robot part, and what is to blame."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ...motor_files.files import load_motors
from ..comparison.commands import Plan
from ..comparison.compare import FINER, Comparison, compare
from ..comparison.plan import plan_of
from ..comparison.run import Values
from ..comparison.side import Side, both_driven_alike, side_of
from ..comparison.words import hints, names, rows_of, summary, text
from ..plots.compared import TwoMotions, draw_two_motions
from ..plots.style import require_picture, save
from .answer import Answer, Table
from .arguments import Compare
from .show import progress_bar

_BLAMES = {
    "cause": "cause",
    "joints": "joints or links",
    "first": "first",
    "second": "second",
    "before": "before [mrad or mm]",
    "after": "after",
    "share": "explains [%]",
    "alone": "alone [mrad or mm]",
}
_VALUES = {
    "cause": "cause",
    "joints": "joints or links",
    "property": "property",
    "first": "first",
    "second": "second",
}
# relative difference of what follows from masses and geometry
_SAME_DYNAMICS = 0.01


def answer(arguments: Compare) -> Answer:
    """Answer `actuators compare`.

    Raises:
        ValueError: The two simulations are the same, or an option is out of range.
    """
    if arguments.plot is not None:
        require_picture(arguments.plot)
    if not 0 < arguments.tolerance < float("inf"):
        raise ValueError(f"--tolerance {arguments.tolerance}: must be a finite number > 0.")
    sides = _sides(arguments)
    first, second, changed = both_driven_alike(*sides)
    options = {"seconds": arguments.seconds, "amplitude": arguments.amplitude, "targets": arguments.targets}
    plan = plan_of(first, second, **options)
    if arguments.by_index:
        second = _by_index(first, second)
    with contextlib.nullcontext() if arguments.json else progress_bar("comparing") as progress:
        found = compare(first, second, plan, arguments.tolerance, progress)
    notes = [*_said(found, plan), *_of_sides(sides, changed, found)]
    if arguments.plot is not None:
        save(draw_two_motions(_drawn(found)), arguments.plot)
        notes.append(f"The plot is in {arguments.plot}.")
    return Answer(_tables(found), notes, found.differs)


def _sides(arguments: Compare) -> tuple[Side, Side]:
    """Return the two sides of the arguments.

    Raises:
        ValueError: They are the same.
    """
    engines = [one.strip() for one in arguments.engines.split(",")]
    files = [arguments.first] if arguments.second is None else [arguments.first, arguments.second]
    configs = [arguments.config] if arguments.config_b is None else [arguments.config, arguments.config_b]
    if len(engines) > 2:
        raise ValueError(f"--engines {arguments.engines}: must be one name or two, such as mujoco,physx.")
    if len(engines) == len(files) == len(configs) == 1:
        raise ValueError(
            f"{arguments.first}: must be compared with something. Give a second file, --engines mujoco,physx, or "
            "--config-b with other motors."
        )
    motors = [None if one is None else load_motors(one) for one in configs]
    made = [
        side_of(files[min(at, len(files) - 1)], motors[min(at, len(motors) - 1)], engine=engine, dt=arguments.dt)
        for at, engine in enumerate((engines[0], engines[-1]))
    ]
    return made[0], made[1]


def _by_index(first: Side, second: Side) -> Side:
    """Return the second side with commands by the number of joints.

    Raises:
        ValueError: The sides have different numbers of joints.
    """
    if len(first.joints) != len(second.joints):
        raise ValueError(
            f"--by-index: {second.file} has {len(second.joints)} joints: must have {len(first.joints)}, as "
            f"{first.file}. Leave it out."
        )
    return dataclasses.replace(second, order=dict(zip(first.joints, second.joints, strict=True)))


def _tables(found: Comparison) -> list[Table]:
    blames, values = [], []
    for one in found.blames:
        rows = rows_of(one.found)
        joints = list(dict.fromkeys(joint for row in rows for joint in row.joints))
        blames.append(
            {
                "cause": one.cause,
                "joints": names(joints),
                "first": summary(rows, second=False),
                "second": summary(rows, second=True),
                "before": 1e3 * one.before,
                "after": 1e3 * one.after,
                "share": 100 * one.share,
                "alone": None if one.alone is None else 1e3 * one.alone,
            }
        )
        values += [
            {
                "cause": one.cause,
                "joints": list(row.joints),
                "property": row.property,
                "first": row.first,
                "second": row.second,
            }
            for row in rows
            if not one.is_switched_off
        ]
    if found.unexplained:
        blames.append(_rest(found))
    shown = [
        row | {"joints": names(row["joints"]), "first": text(row["first"]), "second": text(row["second"])}
        for row in values
    ]
    title = f"first: {_name(found, 0)}; second: {_name(found, 1)}"
    return [Table("causes", _BLAMES, blames, title=title), Table("values", _VALUES, values, shown=shown)]


def _rest(found: Comparison) -> dict[str, object]:
    """Return the row of what no cause explains."""
    first, second = found.first.side, found.second.side
    is_engine = first.engine != second.engine
    return {
        "cause": "engine (integrator, solver)" if is_engine else "not explained",
        "joints": names(_most(found.remaining.by_joint)),
        "first": first.engine if is_engine else None,
        "second": second.engine if is_engine else None,
        "before": 1e3 * found.remaining.mean,
        "after": None,
        "share": 100 * found.unexplained,
        "alone": None,
    }


def _most(by_joint: dict[str, float]) -> list[str]:
    """Return the joints with most of the difference, the largest first."""
    return sorted(by_joint, key=lambda name: -by_joint[name])[:3]


def _name(found: Comparison, at: int) -> str:
    """Return what tells a side from the other one."""
    sides = found.first.side, found.second.side
    side = sides[at]
    words = [Path(side.file).name]
    if sides[0].engine != sides[1].engine:
        words.append(side.engine)
    return " ".join([*words, f"dt {side.dt:.6g} s"])


def _said(found: Comparison, plan: Plan) -> list[str]:
    """Return notes on where the motions part and on what is left."""
    whole = found.difference
    said = []
    if found.parting is None:
        said.append(f"The motions agree: {plan.seconds:g} s, largest difference {1e3 * whole.largest:.3g} mrad or mm.")
    else:
        said.append(
            f"The motions part at {found.parting.time:.4g} s, {found.parting.joint} first: by more than "
            f"{1e3 * found.tolerance:g} mrad or mm. Mean difference {1e3 * whole.mean:.3g}, largest "
            f"{1e3 * whole.largest:.3g}, most of {names(_most(whole.by_joint))}."
        )
    for words, run in (("first", found.first), ("second", found.second)):
        if run.motion.diverged is not None:
            said.append(f"The {words} simulation diverged at {run.motion.diverged:.4g} s.")
    for blame in found.blames:
        said += [f"{blame.cause}: {hint}" for hint in hints(rows_of(blame.found))]
    if any(blame.share < 0 for blame in found.blames):
        said.append("A negative share: this cause made up for another one.")
    if off := [blame.cause for blame in found.blames if blame.is_switched_off]:
        said.append(f"Switched off on both sides, for simulators compute it in ways of their own: {', '.join(off)}.")
    if found.blames and not found.unexplained:
        said.append("With these causes equal the motions agree.")
    return [*said, *_left(found)]


def _left(found: Comparison) -> list[str]:
    """Return notes on what is left with all causes equal."""
    said = []
    if found.idle:
        said.append(
            f"Also different, without effect on this motion or explained by the above: {', '.join(found.idle)}."
        )
    said += [f"{name} differs and could not be put equal: {why}" for name, why in found.failed.items()]
    if found.unexplained and found.finer is not None:
        said.append(
            f"Of the {1e3 * found.remaining.mean:.3g} mrad or mm that remain, {1e3 * found.finer:.3g} remain with "
            f"1/{FINER} of the physics step on both sides; the integrators make the rest."
        )
        said += _dynamics(found.last[0].values, found.last[1].values)
    return said


def _dynamics(first: Values, second: Values) -> list[str]:
    """Return a note on joints whose load or inertia differs in the same pose."""
    said = []
    for words, one, other in (
        ("effort against gravity", first.gravity, second.gravity),
        ("inertia", first.inertias, second.inertias),
    ):
        scale = max(map(abs, one.values()))
        if wrong := [name for name in one if abs(one[name] - other[name]) > _SAME_DYNAMICS * scale]:
            name = wrong[0]
            said.append(
                f"In the same pose, the {words} of {names(wrong)} is {text(one[name])} and {text(other[name])} at "
                f"{name}: geometry, masses or gravity of the files differ."
            )
    return said


def _of_sides(sides: Sequence[Side], changed: Sequence[str], found: Comparison) -> list[str]:
    """Return notes on joints that only one side has, on their order, and on drives that became motors."""
    first, second = (side.joints for side in sides)
    said = []
    for words, own, other in (("first", first, second), ("second", second, first)):
        if lone := [name for name in own if name not in other]:
            said.append(f"Only the {words} has {names(lone)}: not compared.")
    common = [name for name in first if name in second], [name for name in second if name in first]
    if common[0] != common[1]:
        said.append(
            f"The joints have another order: {', '.join(common[0])}, and {', '.join(common[1])}. A program that goes "
            "by number moves other joints."
        )
    if changed:
        said.append(
            f"Drives of {names(changed)} are compared with motors, as motors with their gains, implicit as a drive is."
        )
    links = [set(run.values.links) for run in (found.first, found.second)]
    if lone := sorted(links[0] ^ links[1]):
        said.append(f"Links that only one side has, whose inertias are not compared: {names(lone)}.")
    return said


def _drawn(found: Comparison) -> TwoMotions:
    time, motion = found.difference.time, found.first.motion
    rows = len(time)
    remaining = np.full((rows, len(motion.joints)), np.nan)
    for column in range(len(motion.joints)):
        remaining[:, column] = np.interp(time, found.remaining.time, found.remaining.errors[:, column])
    return TwoMotions(
        "the same commands on two sides",
        (_name(found, 0), _name(found, 1)) if _name(found, 0) != _name(found, 1) else ("first", "second"),
        motion.joints,
        time,
        motion.targets[:rows],
        motion.positions[:rows],
        found.second.motion.positions_at(time),
        found.difference.errors,
        remaining,
        None if found.parting is None else found.parting.time,
    )
