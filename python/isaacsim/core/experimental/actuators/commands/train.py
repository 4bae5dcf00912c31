"""`actuators train`: a log of an actuator made into the network that stands in for it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from ..saving import require_place
from ..training.log import ActuatorLog
from ..training.train import train_actuator
from ..training.trained import WRITERS
from .command import Answer, Command, Table

_ERRORS = {"on": "on", "rms": "rms [N·m or N]", "largest": "largest [N·m or N]", "relative": "of effort RMS [%]"}


@dataclass(kw_only=True)
class Train(Command):
    """Learn a network from a log of an actuator, and save it for a robot's file."""

    log: tyro.conf.Positional[Path]
    """The log, .npz or .csv with columns time, position, velocity, position_target, effort, and joint where there are
    several."""
    out: Annotated[Path, tyro.conf.arg(aliases=["-o"])] = Path("actuator.safetensors")
    """Where the network goes, .safetensors or .onnx."""
    kind: Literal["mlp", "lstm", "gru"] = "mlp"
    """Kind of network."""
    dt: float | None = None
    """Step of the logs [s], where their times are rounded or missing."""
    test: Path | None = None
    """Another log, of other motion, to tell errors on."""
    epochs: int = 100
    """How often the log is gone through at most."""
    seed: int = 0
    """Of weights and of the order in which the log is gone through."""
    report: Path | None = None
    """Folder for a picture and the figures."""

    def answer(self) -> Answer:
        """See the class."""
        require_place(self.out)
        if self.out.suffix.lower() not in WRITERS:
            raise ValueError(f"--out {self.out}: must end with {' or '.join(WRITERS)}. Rename the file.")
        log = ActuatorLog.load(self.log, self.dt)
        other = None if self.test is None else ActuatorLog.load(self.test, self.dt)
        trained = train_actuator(log, self.kind, epochs=self.epochs, seed=self.seed, progress=not self.json)
        trained.save(self.out)
        errors = trained.errors | ({} if other is None else {"test": trained.errors_on(other)})
        rows = [
            {"on": name, "rms": one.rms, "largest": one.largest, "relative": 100 * one.relative}
            for name, one in errors.items()
        ]
        notes = [f"The network is in {self.out}."]
        if self.report is not None:
            trained.report(self.report, test=other)
            notes.append(f"The report is in {self.report}.")
        return Answer([Table("errors", _ERRORS, rows, title=f"{self.log}: errors of the {self.kind}")], notes)
