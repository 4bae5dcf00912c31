"""`actuators tune`: gains of a robot, with margins and reasons."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Sequence
from operator import itemgetter

from ...base.errors import listed
from ...specs.motors import MotorConfig
from ..identification.output import require_output, save_with_comments
from ..plots.step_response import draw_step_bands
from ..plots.style import require_picture, save
from ..plots.units import units_of
from ..tuning.plant import round_to
from ..tuning.tune import GAIN_MARGIN, PHASE_MARGIN, tune
from ..tuning.tuned import Tuned, TunedJoint
from .answer import Answer, Table, headings, shortened, written
from .arguments import Tune, by_pattern
from .opened import motors_in
from .show import progress_bar

_JOINT = headings("joint | kp | kd | bandwidth: up to [Hz] | overshoot | settling: rests in [s] | margins | word: why")
_MOST_WARNINGS = 5


def answer(arguments: Tune) -> Answer:
    """Answer `actuators tune`."""
    out = arguments.out
    if out is not None:
        require_output(arguments.robot, out)
    if arguments.plot is not None and arguments.quick:
        raise ValueError("--plot, --quick: must not be given together, as a plot shows simulated steps.")
    require_picture(arguments.plot)
    motors = _motors(arguments)
    with progress_bar("reading the robot", hidden=arguments.json) as progress:
        tuned = tune(
            arguments.robot,
            motors,
            bandwidth=arguments.bandwidth,
            settle=arguments.settle,
            damping_ratio=arguments.damping_ratio,
            step=arguments.step,
            saturation=arguments.saturation,
            integral=arguments.integral,
            rule=arguments.rule,
            frequency=arguments.frequency,
            explain=arguments.explain,
            verify=not arguments.quick,
            poses=arguments.poses,
            seed=arguments.seed,
            dt=arguments.dt,
            engine=arguments.engine,
            progress=progress,
        )
    notes = shortened([*tuned.missed, *tuned.warnings], None if arguments.json else _MOST_WARNINGS, "with --json")
    notes += _reasons(tuned.joints) if arguments.explain else _bounds(tuned.joints)
    joints, head = [row.joint for row in tuned.joints], _headline(tuned, arguments).splitlines()
    notes += written(out, "motors are", lambda path: save_with_comments(tuned.robot, joints, tuned.motors, path, head))
    notes += written(arguments.plot, "plot is", lambda path: save(draw_step_bands(tuned.responses), path))
    return Answer([_table(tuned, arguments)], notes, tuned.is_wrong)


def _motors(arguments: Tune) -> dict[str, MotorConfig] | None:
    """Return the motors of the catalogue or of a file; None for those of the robot."""
    if not arguments.motor:
        return motors_in(arguments.config)
    if arguments.config is not None:
        raise ValueError("--motor, --config: must not be given together. Give one of them.")
    # the gains follow
    names = by_pattern(arguments.motor)
    return {pattern: MotorConfig.from_catalogue(name, kp=0.0, kd=0.0) for pattern, name in names.items()}


def _table(tuned: Tuned, arguments: Tune) -> Table:
    rows = [dataclasses.asdict(row) for row in tuned.joints]
    shown = []
    for row in tuned.joints:
        seen = {name: row.measured.get(name, getattr(row, name)) for name in ("overshoot", "settling")}
        word = row.verdict if arguments.explain or row.bound == "rule" else row.bound
        numbers = {"kp": row.kp, "kd": row.kd, "bandwidth": round_to(row.bandwidth, 2)}
        margins = f"{row.gain_margin:.2g}, {row.phase_margin:.0f}°"
        shown.append(
            {"joint": row.joint, **numbers, "overshoot": f"{seen['overshoot']:.0%}", "margins": margins, "word": word}
            | {"settling": round_to(seen["settling"], 2)}
        )
    units = units_of([row.turns for row in tuned.joints])
    title = f"{_headline(tuned, arguments)}\nkp [{units.stiffness}], kd [{units.damping}]; the worst of all poses."
    return Table("joints", _JOINT, rows, title, shown)


def _headline(tuned: Tuned, arguments: Tune) -> str:
    """Return the verdict, and how far it was verified."""
    count, counts = len(tuned.joints), Counter(row.verdict for row in tuned.joints)
    margins = f"gain margin ≥ {GAIN_MARGIN:g} and phase margin ≥ {PHASE_MARGIN:g}° in {arguments.poses} poses"
    if arguments.explain or arguments.rule:
        what = "Gains that are there" if arguments.explain else f"Gains by --rule {arguments.rule}"
        first = f"{what}: {', '.join(f'{number} {word}' for word, number in counts.most_common())} of {count} joints."
    elif tuned.missed:
        first = f"Missed, see below: {count - counts['missed']} of {count} joints as asked, {margins}."
    else:
        first = f"{'As asked' if counts['as asked'] else 'The best there is'}, with {margins}."
    seen = list(filter(None, (row.measured for row in tuned.joints)))
    if not seen:
        return f"{first}\nNot simulated: overshoot and settling times are predicted."
    overshoot, settling = max(map(itemgetter("overshoot"), seen)), max(map(itemgetter("settling"), seen))
    return f"{first}\nSimulated from other poses: overshoot up to {overshoot:.0%}, settled within {settling:.2g} s."


def _reasons(rows: Sequence[TunedJoint]) -> Iterator[str]:
    """Yield why gains are judged as they are, of the first joint of each verdict."""
    for word in dict.fromkeys(row.verdict for row in rows if row.reason):
        mine = [row for row in rows if row.verdict == word]
        yield f"{word.capitalize()}: {listed([row.joint for row in mine])}. Of {mine[0].joint}, {mine[0].reason}."


def _bounds(rows: Sequence[TunedJoint]) -> Iterator[str]:
    """Yield what bounds joints, and what would have to change for more."""
    by_remedy: dict[tuple[str, str], list[TunedJoint]] = {}
    for row in rows:
        if row.remedy:
            by_remedy.setdefault((row.bound, row.remedy), []).append(row)
    for (bound, remedy), joints in by_remedy.items():
        names = listed([row.joint for row in joints], 3)
        factors = sorted({f"{row.more:.2g}" for row in joints}, key=float)
        more = f" kp times {' … '.join([factors[0], factors[-1]][: len(factors)])}" if factors[-1] != "1" else ""
        yield f"Bounded by {bound}: {names}. For more{more}: {remedy}."
