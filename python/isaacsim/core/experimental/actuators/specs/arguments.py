"""Arguments of public functions, looked at before anything is done with them."""

from __future__ import annotations

import operator
import os
from numbers import Real
from pathlib import Path
from typing import Any

from .fields import shown

# of a path: Linux takes no longer one
_LONGEST_PATH = 4096


def number_of(name: str, value: Any) -> float:
    """The number that an argument is; an array of no dimensions is one too.

    Raises:
        TypeError: It is none.
        ValueError: It is too large.
    """
    is_scalar = getattr(value, "shape", None) == () and getattr(getattr(value, "dtype", None), "kind", "") in "biuf"
    if not (isinstance(value, Real) or is_scalar):
        raise TypeError(f"{name} = {shown(value)}: must be a number, not {type(value).__name__}. Give one.")
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{name} = {shown(value)}: is too large. Give a smaller number.") from None


def whole_of(name: str, value: Any, least: int = 0) -> int:
    """The integer that an argument is.

    Raises:
        TypeError: It is none.
        ValueError: It is too small.
    """
    # a plain int in half the time, for `Simulation.step`
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


def names_of(name: str, given: Any, what: str = "a name") -> list[str]:
    """The texts that an argument is: one, or several.

    Raises:
        TypeError: It is something else.
    """
    if isinstance(given, str):
        return [given]
    found: list[str] = []
    try:
        # not all at once: there may be very many things that are no texts
        for one in given:
            if not isinstance(one, str):
                break
            found.append(one)
        else:
            return found
    # arrays of Warp have rows, and refuse to give them
    except (TypeError, RuntimeError):
        pass
    kind = type(given).__name__
    raise TypeError(f"{name} = {shown(given)}: must be {what} or a list of them, not {kind}. Give one.")


def path_of(name: str, given: Any, what: str = "the path of a file") -> Path:
    """The path that an argument is.

    Raises:
        TypeError: It is none.
        ValueError: No file can have it.
    """
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


def require_one(name: str, value: Any, later: str, other: Any) -> Any:
    """Return an argument that has two names.

    Raises:
        TypeError: It is given under both, or under none.
    """
    if (value is None) == (other is None):
        raise TypeError(f"{name} = {value!r}, {later} = {other!r}: must be given under one of the names. Give one.")
    return other if value is None else value


# physics step [s] of files that state none: USD and URDF
DEFAULT_DT = 1 / 240
ROBOT_FILES = "a USD (.usd, .usda, .usdc, .usdz), MJCF (.xml, .mjcf) or URDF (.urdf) file"
"""What robots are read from, as errors and help say it."""


def require_file(path: Path) -> None:
    """Refuse to read what is there and is no file, but for folders, which the system refuses itself.

    Raises:
        ValueError: It is a device or a pipe, which would wait for its other end.
    """
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise ValueError(f"{path}: must be a file, not a device or a pipe. Give the path of a file.")


def flag_of(name: str, value: Any) -> bool:
    """Whether an argument is true; an array of no dimensions is a number too.

    Raises:
        TypeError: It is neither truth nor falsehood.
    """
    try:
        return bool(number_of(name, value))
    except (TypeError, ValueError):
        kind = type(value).__name__
        raise TypeError(f"{name} = {shown(value)}: must be True or False, not {kind}. Give one.") from None


def require_type(name: str, given: Any, wanted: type | tuple[type, ...], what: str) -> None:
    """Refuse an argument that is of another type.

    Raises:
        TypeError: It is.
    """
    if not isinstance(given, wanted):
        raise TypeError(f"{name} = {shown(given)}: must be {what}, not {type(given).__name__}. Give one.")
