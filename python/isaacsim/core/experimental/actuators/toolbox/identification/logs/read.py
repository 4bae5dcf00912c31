"""`read_logs`: logs of robots in files of all formats."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from ....specs.arguments import names_of, path_of, require_file
from ...recording.files import Found
from ...recording.tables import parquet_columns, recording_of
from ..log import MotorLog
from .asked import Asked
from .csv_file import read_csv
from .long import widened
from .npz_file import read_npz
from .recorded import recorded
from .table import RULE, Table
from .wide import wide


def read_logs(
    paths: Sequence[str | os.PathLike[str]], joints: Sequence[str], robot: int | None = None
) -> list[MotorLog]:
    """Read logs of a robot.

    A table has a row per sample and columns `time`, `<joint>/command`, `<joint>/position` and optionally other signals,
    such as `<joint>/velocity`; see `SIGNALS` for names and units. Units may follow a name, as in `time [s]`. For a
    robot of one joint the name of the joint may be left out. Columns that are not read are listed in a warning. A table
    may also have a row per sample and joint, with columns `time`, `joint`, `command`, `position`.

    - `.csv`: a table with one line of names. Lines before it that start with `#`, such as `# kp = 400`, are settings.
    - `.npz`: columns by name, or `time`, `joints` (names) and matrices `(samples, joints)` by signal. Scalars are
      settings.
    - `.parquet`: a table.
    - A file that `Recording.save` wrote, in one of these formats: `position_targets` are the command, `motor_efforts`
      the effort, `supply_voltages` the volts and `winding_temperatures` the temperature. Electrical and thermal signals
      that are 0 throughout, as for motors without such a law, are left out.

    Args:
        paths: The files.
        joints: Names of the joints of the robot. A log has those of them that are in its file, in this order.
        robot: Number of the robot in recordings of several.

    Returns:
        The logs, in the order of the paths.

    Raises:
        ValueError: There is no path; a format is unknown; a file has none of the joints, or lacks a required column; a
            cell is empty or no number; a recording has several robots and none was chosen; or a log is invalid, see
            `MotorLog`.
        OSError: A file is missing or cannot be read.
        ModuleNotFoundError: The library of a format is missing.

    Example:
        >>> import tempfile
        >>> text = "# kp = 400\\ntime,hip/command,hip/position\\n0.00,0.1,0.0\\n0.01,0.1,0.02\\n"
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder) / "log.csv"
        ...     written = path.write_text(text)
        ...     (log,) = read_logs([path], ["hip", "knee"])
        >>> log.joints, log.position[:, 0], log.settings
        (('hip',), array([0.  , 0.02]), {'kp': 400.0})
    """
    files = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    if not files:
        raise ValueError("paths = []: must have one at least. Give the path of a log.")
    asked = Asked(names_of("joints", joints), robot)
    return [log for path in files for log in _read(path_of("paths", path), asked)]


def _read(path: Path, asked: Asked) -> list[MotorLog]:
    if (read := _TABLES.get(path.suffix.lower())) is None:
        raise ValueError(f"{path}: must end with {', '.join(_TABLES)}. Convert the log to one of them.")
    require_file(path)
    return [_log_of(path, read(path), asked)]


def _log_of(path: Path, found: Table | Found, asked: Asked) -> MotorLog:
    """Return the log in a table or a recording."""
    if not isinstance(found, Table):
        return recorded(path, found, {}, asked)
    if "joint" not in found.columns:
        return wide(found, asked.joints)
    if "robot" in found.columns:
        return recorded(path, recording_of(path, found.columns), found.settings, asked)
    return wide(widened(found, asked.joints), asked.joints)


def _read_parquet(path: Path) -> Table:
    return Table(path, parquet_columns(path, RULE))


_TABLES: dict[str, Callable[[Path], Table | Found]] = {
    ".csv": read_csv,
    ".npz": read_npz,
    ".parquet": _read_parquet,
}
