"""`actuators identify`: from logs of a robot to its motors."""

from __future__ import annotations

from collections.abc import Sequence

from ...base.saving import require_place
from ...simulators.simulation import Simulation
from ..identification.checks import check_log, notes_on_all, too_fast
from ..identification.identified import ColumnUse, Identified
from ..identification.identify import identify
from ..identification.log import MotorLog
from ..identification.logs.read import read_logs
from ..identification.models import MODELS
from ..identification.options import FitOptions, published_priors
from ..identification.output import (
    default_output,
    error_words,
    require_output,
    save_identified,
    unit_at_joint,
    units_of_errors,
)
from ..identification.report import plot_identified, write_report
from ..identification.verdict import EXPLAINED, NOT, PARTLY, Verdict, verdicts
from .answer import Answer, Table, headings, shortened, written
from .arguments import Identify
from .opened import motors_in
from .show import progress_bar

_MODEL = {"name": "model", "parameters": "parameters", "training": "error, fitted", "validation": "error, held out"}
_ESTIMATE = headings(
    "joint | name: parameter | value | standard_error | interval: 90 % interval | unit | start: in the file"
)

# number of warnings that people are shown
_MOST_WARNINGS = 5
_COLUMN = headings("joint | name: column | unit | size: standard deviation | error: simulated - measured, RMS | use")


def answer(arguments: Identify) -> Answer:
    """Answer `actuators identify`."""
    out = arguments.out or default_output(arguments.robot)
    for path in (out, arguments.report, arguments.plot):
        if path is not None:
            require_place(path)
    require_output(arguments.robot, out)
    options = FitOptions(
        gains=_gains(arguments),
        parameters=arguments.fit,
        shared=arguments.shared,
        bounds=_pairs("--bounds", arguments.bounds),
        priors=_published(arguments.motor) | _pairs("--prior", arguments.prior),
        models=arguments.model or tuple(MODELS),
        held_out=arguments.held_out,
        refine=arguments.refine,
        search=arguments.search,
        seed=arguments.seed,
        mass_error=arguments.mass_error,
        residual=out.with_name(f"{out.stem}_networks") if arguments.residual else None,
        ray=arguments.ray,
    )
    logs, notes = _logs(arguments)
    motors = motors_in(arguments.config)
    with progress_bar("identifying", hidden=arguments.json) as progress:
        found = identify(arguments.robot, logs, motors, options, progress)
    save_identified(found, out)
    judged = verdicts(found)
    said = _warnings(found, judged, notes)
    option = "" if arguments.report else ": --report"
    notes = shortened(said, None if arguments.json else _MOST_WARNINGS, f"in the report{option}")
    notes.append(f"Model: {found.chosen}. The motors are in {out}. It took {found.seconds:.1f} s.")
    notes += written(arguments.report, "report is", lambda path: write_report(found, path))
    notes += written(arguments.plot, "plot is", lambda path: plot_identified(found, path))
    return Answer(_tables(found, judged), notes, found.disagrees or any(verdict.word == NOT for verdict in judged))


def _gains(arguments: Identify) -> bool | None:
    """Return whether gains are fitted; None if that follows from the logs."""
    if arguments.gains and arguments.keep_gains:
        raise ValueError("--gains, --keep-gains: must not be given together. Give one of them.")
    return True if arguments.gains else False if arguments.keep_gains else None


def _pairs(option: str, texts: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Return pairs of numbers by name, from `name=1:2`."""
    pairs = {}
    for text in texts:
        name, _, pair = text.partition("=")
        try:
            first, second = map(float, pair.split(":"))
        except ValueError:
            raise ValueError(f"{option} {text}: must be a name and two numbers, such as armature=0.001:0.1.") from None
        pairs[name] = first, second
    return pairs


def _published(motors: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Return priors of the catalogue, from `pattern/motor`."""
    priors = {}
    for one in motors:
        pattern, slash, motor = one.rpartition("/")
        priors |= {f"{pattern}{slash}{name}": prior for name, prior in published_priors(motor).items()}
    return priors


def _logs(arguments: Identify) -> tuple[list[MotorLog], list[str]]:
    """Return the logs and notes on them; ValueError if one seems to be wrong, and is not forced."""
    with Simulation(arguments.robot) as simulation:
        robot = simulation.articulation("/")
        names = list(robot.dof_names)
        lower, upper = (one.numpy()[0].tolist() for one in robot.get_dof_limits())
        speeds = dict(zip(names, robot.get_dof_max_velocities().numpy()[0].tolist(), strict=True))
    limits = dict(zip(names, zip(lower, upper, strict=True), strict=True))
    logs = read_logs(
        arguments.logs,
        names,
        arguments.robot_index,
        topics=arguments.topics,
        units=arguments.units,
        calibration=arguments.calibration,
        columns=arguments.columns,
    )
    problems = [problem for log in logs for problem in check_log(log, limits)]
    if problems and not arguments.force:
        raise ValueError("\n".join([*problems, "Correct the logs."]))
    fast = [note for log in logs for note in too_fast(log, speeds)]
    return logs, [*problems, *fast, *notes_on_all(logs)]


def _verdicts(found: Identified, judged: Sequence[Verdict], unit: str) -> Table:
    """Return the table of joints."""
    rows = [
        {
            "joint": verdict.joint,
            "word": verdict.word or "at rest",
            "error": 1e3 * verdict.error if verdict.word else None,
            "before": 1e3 * verdict.before if verdict.word else None,
            "changed": verdict.changed or "nothing",
            "look": verdict.look,
        }
        for verdict in judged
    ]
    heads = {"joint": "joint", "word": "verdict", "errors": f"error [{unit}]", "changed": "what changed"}
    brief = [
        {
            **row,
            "word": verdict.word.removesuffix(" explained") or "at rest",
            "errors": f"{1e3 * verdict.before:.3g} → {1e3 * verdict.error:.3g}" if verdict.word else "-",
        }
        for row, verdict in zip(rows, judged, strict=True)
    ]
    return Table("joints", heads, rows, _headline(found, judged), brief)


def _tables(found: Identified, judged: Sequence[Verdict]) -> list[Table]:
    models = [
        {
            "name": one.name,
            "parameters": len(one.parameters),
            "training": 1e3 * one.training,
            "validation": 1e3 * one.validation,
        }
        for one in found.models
    ]
    estimates = [
        {name: None if (value := getattr(one, name)) != value else value for name in _ESTIMATE}
        for one in found.estimates
    ]
    unit = units_of_errors(found).milli
    columns = _MODEL | {name: f"{_MODEL[name]} [{unit}]" for name in ("training", "validation")}
    shown = [row | {"unit": unit_at_joint(found, one)} for row, one in zip(estimates, found.estimates, strict=True)]
    tables = [
        _verdicts(found, judged, unit),
        Table("models", columns, models, title="mean absolute position errors, joint by joint", is_detail=True),
        Table("parameters", _ESTIMATE, estimates, f"{found.robot}: {found.chosen}", shown, is_detail=True),
    ]
    if found.columns:
        title = "columns besides positions, on the fitted logs"
        rows = [_column(found, column) for column in found.columns]
        tables.append(Table("columns", _COLUMN, rows, title=title, is_detail=True))
    return tables


def _headline(found: Identified, judged: Sequence[Verdict]) -> str:
    """Return what was learned, and whether the motors may be used."""
    moved = [verdict for verdict in judged if verdict.word]
    worst = max((verdict.word for verdict in moved), key=(EXPLAINED, PARTLY, NOT).index, default=NOT)
    unit = units_of_errors(found).milli
    errors = f"{1e3 * found.shipped:.3g} → {1e3 * found.error:.3g} {unit} {error_words(found)}"
    share = max((verdict.error / verdict.noise for verdict in moved), default=float("nan"))
    noise = f"{errors}, {'within' if share < 1.0 else f'{share:.0f} times'} the noise."
    if worst == NOT or found.disagrees:
        return f"Not explained by any model: {noise}\nDo not use these motors before you know why."
    if worst == PARTLY:
        return f"Partly explained: {noise}\nYou may use these motors; what they do not do is below."
    return f"Explained: {noise}\nYou may use these motors."


def _column(found: Identified, one: ColumnUse) -> dict[str, object]:
    """Return the row of a column of logs."""
    is_fitted = not one.unused
    return {
        "joint": one.joint,
        "name": one.name,
        "unit": unit_at_joint(found, one),
        "size": one.size if is_fitted else None,
        "error": one.error if is_fitted else None,
        "use": "fitted" if is_fitted else "not fitted",
    }


def _warnings(found: Identified, judged: Sequence[Verdict], of_logs: Sequence[str]) -> list[str]:
    """Return what to know about the motors, worst first."""
    missed = ", ".join(verdict.joint for verdict in judged if verdict.word == NOT)
    said = [f"Not explained: {missed}."] if missed else []
    if found.disagrees:
        said.append(
            "The whole robot is far worse than its joints alone: masses, limits or an order of joints are wrong."
        )
    worst = sorted(judged, key=lambda verdict: -verdict.error / verdict.noise)
    said += [f"{verdict.joint} {verdict.look}." for verdict in worst if verdict.look]
    return [*said, *found.warnings, *found.networks, *found.unused_columns, *of_logs]
