"""`actuators train`: a network learned from a log of an actuator."""

from __future__ import annotations

from ...base.saving import require_place
from ..plots.units import heading
from ..training.log import ActuatorLog
from ..training.train import train_actuator
from ..training.trained import WRITERS
from .answer import Answer, Table, written
from .arguments import Train

_ERRORS = {"on": "on", "rms": "rms", "largest": "largest", "relative": "of effort RMS [%]"}
_EFFORTS = ("rms", "largest")


def answer(arguments: Train) -> Answer:
    """Answer `actuators train`."""
    require_place(arguments.out)
    if arguments.out.suffix.lower() not in WRITERS:
        raise ValueError(f"--out {arguments.out}: must end with {' or '.join(WRITERS)}. Rename the file.")
    log = ActuatorLog.load(arguments.log, arguments.dt)
    other = None if arguments.test is None else ActuatorLog.load(arguments.test, arguments.dt)
    trained = train_actuator(
        log, arguments.kind, epochs=arguments.epochs, seed=arguments.seed, progress=not arguments.json
    )
    trained.save(arguments.out)
    errors = trained.errors | ({} if other is None else {"test": trained.errors_on(other)})
    rows = [
        {"on": name, "rms": one.rms, "largest": one.largest, "relative": 100 * one.relative}
        for name, one in errors.items()
    ]
    notes = [f"The network is in {arguments.out}."]
    notes += written(arguments.report, "report is", lambda path: trained.report(path, test=other))
    columns = _ERRORS | {name: heading(_ERRORS[name], "effort", [log.turns]) for name in _EFFORTS}
    return Answer([Table("errors", columns, rows, title=f"{arguments.log}: errors of the {arguments.kind}")], notes)
