"""Validation of arguments of public functions."""

from __future__ import annotations

import json
import operator
import os
from collections.abc import Iterable
from numbers import Real
from pathlib import Path
from typing import Any, SupportsIndex, cast

from ..base.errors import shown

# the longest path that Linux takes
_LONGEST_PATH = 4096


def number_of(name: str, value: Any) -> float:
    """Return a number, also from an array without dimensions."""
    is_scalar = getattr(value, "shape", None) == () and getattr(getattr(value, "dtype", None), "kind", "") in "biuf"
    if not (isinstance(value, Real) or is_scalar):
        raise TypeError(f"{name} = {shown(value)}: must be a number, not {type(value).__name__}. Give one.")
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{name} = {shown(value)}: is too large. Give a smaller number.") from None


def whole_of(name: str, value: SupportsIndex, least: int = 0) -> int:
    """Return an integer."""
    # fast path of `Simulation.step`
    if type(value) is int and value >= least:
        return value
    try:
        number = operator.index(value)
    except TypeError:
        kind = type(value).__name__
        raise TypeError(f"{name} = {shown(value)}: must be an integer >= {least}, not {kind}. Give one.") from None
    if number < least:
        raise ValueError(f"{name} = {number}: must be an integer >= {least}.")
    return number


def names_of(name: str, given: str | Iterable[object], what: str = "a name") -> list[str]:
    """Return strings, from one or several."""
    if isinstance(given, str):
        return [given]
    found: list[str] = []
    try:
        # one by one: a large array may hold no strings
        for one in given:
            if not isinstance(one, str):
                break
            found.append(one)
        else:
            return found
    # Warp arrays have rows, but refuse iteration
    except (TypeError, RuntimeError):
        pass
    kind = type(given).__name__
    raise TypeError(f"{name} = {shown(given)}: must be {what} or a list of them, not {kind}. Give one.")


def path_of(name: str, given: object, what: str = "the path of a file") -> Path:
    """Return a path."""
    require_type(name, given, (str, os.PathLike), what)
    fspath: Any = os.fspath
    found: Any = fspath(given)
    require_type(name, found, str, f"{what}, as text")
    text: str = found
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        fits = False
    else:
        fits = "\0" not in text and len(text) <= _LONGEST_PATH
    if not fits:
        rule = f"must be a path that a system can have, of {_LONGEST_PATH} characters at most"
        raise ValueError(f"{name} = {shown(text)}: {rule}. Correct it.")
    return Path(text)


def require_one(name: str, value: object, later: str, other: object) -> Any:
    """Return an argument that has two names."""
    if (value is None) == (other is None):
        raise TypeError(f"{name} = {value!r}, {later} = {other!r}: must be given under one of the names. Give one.")
    return other if value is None else value


# physics step [s] of files without one: USD and URDF
DEFAULT_DT = 1 / 240
MODEL_FILES = (".xml", ".mjcf", ".urdf")
"""Endings of robot files that are no USD, which MuJoCo reads by itself."""
HAVE_MOTORS = r".*no joint drive stands for: .* drive their joints with motors: "
"""Pattern of the warning of actuators in a file that are no drives of a joint, but motors of ours."""

ROBOT_FILES = "a USD (.usd, .usda, .usdc, .usdz), MJCF (.xml, .mjcf) or URDF (.urdf) file"
"""Formats of robot files, for errors and help texts."""


def require_file(path: Path) -> None:
    """Raise for a device or a pipe, which may block forever."""
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise ValueError(f"{path}: must be a file, not a device or a pipe. Give the path of a file.")


def json_of(file: Path, most: int, what: str) -> dict[str, Any]:
    """Return the object in a JSON file, of so many bytes at most; `what` says in errors what the file must be."""
    require_file(file)
    if (size := file.stat().st_size) > most:
        raise ValueError(f"{file} has {size} bytes: must be {what}, of {most} at most. Give one.")
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{file}: {error}: must be JSON. Give {what}.") from error
    if not isinstance(content, dict) or not content:
        raise ValueError(f"{file} holds {shown(content)}: must be a JSON object. Give {what}.")
    return cast(dict[str, Any], content)


def flag_of(name: str, value: object) -> bool:
    """Return a Boolean, also from an array without dimensions."""
    try:
        return bool(number_of(name, value))
    except (TypeError, ValueError):
        kind = type(value).__name__
        raise TypeError(f"{name} = {shown(value)}: must be True or False, not {kind}. Give one.") from None


def require_type(name: str, given: object, wanted: type | tuple[type, ...], what: str) -> None:
    """Raise for an argument of another type."""
    if not isinstance(given, wanted):
        raise TypeError(f"{name} = {shown(given)}: must be {what}, not {type(given).__name__}. Give one.")
