"""`actuators identify`: from logs of a robot to its motors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...motor_files.files import load_motors
from ...saving import require_place
from ...simulation import Simulation
from ..identification.checks import check_log, notes_on_all
from ..identification.identified import ColumnUse, Identified
from ..identification.identify import identify
from ..identification.log import MotorLog
from ..identification.logs.read import read_logs
from ..identification.models import MODELS
from ..identification.options import FitOptions
from ..identification.output import require_output, save_identified, unit_at_joint, units_of_errors
from ..identification.published import published_priors
from ..identification.report import plot_identified, write_report
from .answer import Answer, Table
from .arguments import Identify
from .show import progress_bar

_MODEL = {
    "name": "model",
    "parameters": "parameters",
    "training": "error, fitted",
    "validation": "error, held out",
}
_ESTIMATE = {
    "joint": "joint",
    "name": "parameter",
    "value": "value",
    "standard_error": "standard error",
    "unit": "unit",
    "start": "in the file",
}

_COLUMN = {
    "joint": "joint",
    "name": "column",
    "unit": "unit",
    "size": "standard deviation",
    "error": "simulated - measured, RMS",
    "use": "use",
}


def answer(arguments: Identify) -> Answer:
    """Answer `actuators identify`."""
    for path in (arguments.out, arguments.report, arguments.plot):
        if path is not None:
            require_place(path)
    require_output(arguments.robot, arguments.out)
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
        residual=arguments.out.with_name(f"{arguments.out.stem}_networks") if arguments.residual else None,
        ray=arguments.ray,
    )
    logs, notes = _logs(arguments)
    motors = None if arguments.config is None else load_motors(arguments.config)
    with progress_bar("identifying", hidden=arguments.json) as progress:
        found = identify(arguments.robot, logs, motors, options, progress)
    save_identified(found, arguments.out)
    notes += _notes(found, arguments.out)
    if arguments.report is not None:
        write_report(found, arguments.report)
        notes.append(f"The report is in {arguments.report}.")
    if arguments.plot is not None:
        plot_identified(found, arguments.plot)
        notes.append(f"The plot is in {arguments.plot}.")
    return Answer(_tables(found), notes, found.disagrees)


def _gains(arguments: Identify) -> bool | None:
    """Return whether gains are fitted; None if that follows from the logs.

    Raises:
        ValueError: They are to be fitted and to be kept.
    """
    if arguments.gains and arguments.keep_gains:
        raise ValueError("--gains, --keep-gains: must not be given together. Give one of them.")
    return True if arguments.gains else False if arguments.keep_gains else None


def _pairs(option: str, given: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Return pairs of numbers by name, from `name=1:2`.

    Raises:
        ValueError: Something else.
    """
    found = {}
    for one in given:
        name, _, pair = one.partition("=")
        try:
            first, second = map(float, pair.split(":"))
        except ValueError:
            raise ValueError(f"{option} {one}: must be a name and two numbers, such as armature=0.001:0.1.") from None
        found[name] = first, second
    return found


def _published(motors: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Return priors of the catalogue, from `pattern/motor`."""
    found = {}
    for one in motors:
        pattern, slash, motor = one.rpartition("/")
        found |= {f"{pattern}{slash}{name}": prior for name, prior in published_priors(motor).items()}
    return found


def _logs(arguments: Identify) -> tuple[list[MotorLog], list[str]]:
    """Return the logs and notes on them.

    Raises:
        ValueError: One seems to be wrong, and is not forced.
    """
    with Simulation(arguments.robot) as simulation:
        robot = simulation.articulation("/")
        names = list(robot.dof_names)
        lower, upper = (one.numpy()[0].tolist() for one in robot.get_dof_limits())
    limits = dict(zip(names, zip(lower, upper, strict=True), strict=True))
    logs = read_logs(
        arguments.logs,
        names,
        arguments.robot_index,
        topics=arguments.topics,
        units=arguments.units,
        calibration=arguments.calibration,
    )
    problems = [problem for log in logs for problem in check_log(log, limits)]
    if problems and not arguments.force:
        raise ValueError("\n".join([*problems, "Correct the logs, or give --force to fit them as they are."]))
    return logs, [*problems, *notes_on_all(logs)]


def _tables(found: Identified) -> list[Table]:
    models = [
        {
            "name": one.name,
            "parameters": len(one.parameters),
            "training": 1e3 * one.training,
            "validation": 1e3 * one.validation,
        }
        for one in found.models
    ]
    estimates = [{name: getattr(one, name) for name in _ESTIMATE} for one in found.estimates]
    unit = units_of_errors(found).milli
    columns = _MODEL | {name: f"{_MODEL[name]} [{unit}]" for name in ("training", "validation")}
    shown = [row | {"unit": unit_at_joint(found, one)} for row, one in zip(estimates, found.estimates, strict=True)]
    tables = [
        Table("models", columns, models, title="mean absolute position errors, joint by joint"),
        Table("parameters", _ESTIMATE, estimates, title=f"{found.robot}: {found.chosen}", shown=shown),
    ]
    if found.columns:
        title = "columns besides positions, on the fitted logs"
        tables.append(Table("columns", _COLUMN, [_column(found, one) for one in found.columns], title=title))
    return tables


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


def _notes(found: Identified, out: Path) -> list[str]:
    said = [
        f"Kept: {found.chosen}. The whole robot, simulated on what was held out: {1e3 * found.error:.3g} "
        f"{units_of_errors(found).milli}; with the motors it had: {1e3 * found.shipped:.3g}.",
        "Standard errors are those of the noise; errors of the masses of links come on top of it.",
    ]
    return [
        *said,
        *found.unused_columns,
        *found.networks,
        *found.warnings,
        f"The motors are in {out}. It took {found.seconds:.1f} s.",
    ]
