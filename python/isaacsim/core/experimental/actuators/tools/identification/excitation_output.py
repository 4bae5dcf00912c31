"""Write excitations: commands as a table or as arrays, and a picture."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...base.saving import require_place, whole_file
from ...specs.arguments import path_of
from ..plots.excitation import Prediction, draw_prediction
from ..plots.style import require_picture, save
from .draft import RAMP
from .excitation import Excitation
from .safety import SAFE

if TYPE_CHECKING:
    from ..plots.style import Figure

_ENDINGS = (".csv", ".npz")


def save_excitation(excitation: Excitation, path: str | os.PathLike[str]) -> None:
    """Write commands to a file, for the program that sends them to the robot.

    Args:
        excitation: Result of `excitation`.
        path: File to write; an existing one is replaced. Its ending sets the format. `.csv` is a table with columns
            `time` [s] and `<joint>/command` [rad or m]; with the measured positions added in columns
            `<joint>/position`, it is a log for `read_logs`. `.npz` has the arrays `time`, `joints` and `command`.

    Raises:
        ValueError: The path has another ending.
        OSError: The file cannot be written.

    Example:
        >>> import tempfile
        >>> from isaacsim.core.experimental.actuators.tools.identification import ExcitationPlan, excitation
        >>> found = excitation("data/robots/pendulum.usda", plan=ExcitationPlan(seconds=8.0, kinds=["holds"]))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     save_excitation(found, f"{folder}/excitation.csv")
        ...     print(Path(f"{folder}/excitation.csv").read_text()[:19])
        time,hinge/command
    """
    place = path_of("path", path)
    require_excitation(place)
    with whole_file(place) as written:
        if place.suffix.lower() == ".npz":
            # a stream keeps the name as it is
            with written.open("wb") as stream:
                joints = np.array(excitation.joints)
                np.savez(stream, time=excitation.time, joints=joints, command=excitation.command)
        else:
            names = ",".join(["time", *(f"{joint}/command" for joint in excitation.joints)])
            rows = np.c_[excitation.time, excitation.command]
            np.savetxt(written, rows, fmt="%.6f", delimiter=",", header=names, comments="", encoding="utf-8")


def require_excitation(path: Path) -> None:
    """Raise for a file that `save_excitation` cannot write."""
    if path.suffix.lower() not in _ENDINGS:
        raise ValueError(f"{path}: must end in {', '.join(_ENDINGS)}. Rename it.")
    require_place(path)


def plot_excitation(excitation: Excitation, path: str | os.PathLike[str] | None = None) -> Figure:
    """Plot commands and predicted positions of each joint, and speeds and efforts as shares of their limits.

    Args:
        excitation: Result of `excitation`.
        path: Picture to write, with an extension that Matplotlib knows, such as `.png` or `.svg`; None writes none.

    Returns:
        The figure of Matplotlib.

    Raises:
        ValueError: Matplotlib does not know the extension.
        ModuleNotFoundError: Matplotlib is missing.
        OSError: The file cannot be written.
    """
    if path is not None:
        require_picture(path)
    limits = excitation.limits
    begins = {float(excitation.time[part.rows.start]): part.kind for part in excitation.parts if part.kind != RAMP}
    title, bounds = f"{Path(excitation.robot).stem}: excitation", np.stack([limits.lower, limits.upper])
    shares = np.abs(excitation.velocities) / limits.speed, np.abs(excitation.efforts) / limits.effort
    motion = excitation.time, excitation.command, excitation.positions, *shares
    prediction = Prediction(title, excitation.joints, *motion, bounds, begins, SAFE, limits.turns.tolist())
    return save(draw_prediction(prediction), path)
