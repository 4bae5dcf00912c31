"""`actuators tune`: gains of a robot, with margins and reasons."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Sequence

from ...files.motor_files.files import load_motors
from ...specs.motors import MotorConfig
from ..identification.output import require_output, save_with_comments
from ..plots.step_response import draw_step_bands
from ..plots.style import require_picture, save
from ..plots.units import units_of
from ..tuning.plant import named, round_to
from ..tuning.tune import GAIN_MARGIN, PHASE_MARGIN, tune
from ..tuning.tuned import Tuned, TunedJoint
from .answer import Answer, Table, headings
from .arguments import Tune
from .show import progress_bar

_JOINT = headings("joint | kp | kd | bandwidth: up to [Hz] | overshoot | settling: rests in [s] | margins | word: why")
_MOST_WARNINGS = 5


def answer(arguments: Tune) -> Answer:
    """Answer `actuators tune`."""
    out = arguments.out
    if out is not None:
        require_output(arguments.robot, out)
    if arguments.plot is not None:
        if arguments.quick:
            raise ValueError("--plot, --quick: must not be given together, as a plot shows simulated steps.")
        require_picture(arguments.plot)
    if arguments.motor and arguments.config is not None:
        raise ValueError("--motor, --config: must not be given together. Give one of them.")
    motors = None if arguments.config is None else load_motors(arguments.config)
    if arguments.motor:
        parts = (text.rpartition("/") for text in arguments.motor)
        # the gains follow
        motors = {pattern or ".*": MotorConfig.from_catalogue(name, kp=0.0, kd=0.0) for pattern, _, name in parts}
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
    notes = [*tuned.missed, *tuned.warnings]
    more = 0 if arguments.json else len(notes) - _MOST_WARNINGS
    notes = [*notes[:_MOST_WARNINGS], f"{more} more with --json."] if more > 0 else notes
    notes += _reasons(tuned.joints) if arguments.explain else _bounds(tuned.joints)
    if out is not None:
        headline = _headline(tuned, arguments)
        save_with_comments(tuned.robot, [row.joint for row in tuned.joints], tuned.motors, out, headline.splitlines())
        notes.append(f"The motors are in {out}.")
    if arguments.plot is not None:
        save(draw_step_bands(tuned.responses), arguments.plot)
        notes.append(f"The plot is in {arguments.plot}.")
    return Answer([_table(tuned, arguments)], notes, tuned.is_wrong)


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
    seen = [row.measured for row in tuned.joints if row.measured]
    if not seen:
        return f"{first}\nNot simulated: overshoot and settling times are predicted."
    overshoot, settling = (max(steps[name] for steps in seen) for name in ("overshoot", "settling"))
    return f"{first}\nSimulated from other poses: overshoot up to {overshoot:.0%}, settled within {settling:.2g} s."


def _reasons(rows: Sequence[TunedJoint]) -> Iterator[str]:
    """Yield why gains are judged as they are, of the first joint of each verdict."""
    for word in dict.fromkeys(row.verdict for row in rows if row.reason):
        mine = [row for row in rows if row.verdict == word]
        yield f"{word.capitalize()}: {named([row.joint for row in mine])}. Of {mine[0].joint}, {mine[0].reason}."


def _bounds(rows: Sequence[TunedJoint]) -> Iterator[str]:
    """Yield what bounds joints, and what would have to change for more."""
    by_remedy: dict[tuple[str, str], list[TunedJoint]] = {}
    for row in rows:
        if row.remedy:
            by_remedy.setdefault((row.bound, row.remedy), []).append(row)
    for (bound, remedy), joints in by_remedy.items():
        names = named([row.joint for row in joints], 3)
        factors = sorted({f"{row.more:.2g}" for row in joints}, key=float)
        more = f" kp times {' … '.join([factors[0], factors[-1]][: len(factors)])}" if factors[-1] != "1" else ""
        yield f"Bounded by {bound}: {names}. For more{more}: {remedy}."
