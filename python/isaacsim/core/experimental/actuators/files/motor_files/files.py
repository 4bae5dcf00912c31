"""Read and write a file of motors."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from ...base.saving import whole_file
from ...specs.arguments import path_of, require_file
from ...specs.fields import parameters_of
from ...specs.motors import MotorConfig, Motors, motor_of
from ...specs.stages import places_of
from ..networks import trust
from . import formats, layout


def load_motors(path: str | os.PathLike[str]) -> dict[str, MotorConfig]:
    """Return the motors of a file, by pattern of joint names.

    Args:
        path: A file that ends in .yaml, .yml, .toml or .json. Paths of networks in it are relative to its folder, and
            absolute in what is returned. They lead into its folder or below it, symbolic links resolved, unless
            `allow_checkpoints` permits more or this process saved them. YAML needs the extra `files`.

    Raises:
        ValueError: The content is not motors: a line for each problem, with its place; or one line for a file that is
            no such format, too large, too deep, or has a key twice, a tag or a reference, and for no regular file, as
            a pipe.
        ImportError: The library of the format is missing.
        OSError: The file cannot be read.
    """
    file = path_of("path", path)
    ending = _ending(file)
    require_file(file)
    with file.open("rb") as stream:
        content = stream.read(formats.MAX_BYTES + 1)
    plain = _parsed(content, file, ending)
    try:
        motors = layout.motors_of(plain, _folder(file))
    except ValueError as error:
        raise ValueError("\n".join(f"{file}: {line}" for line in str(error).splitlines())) from None
    own, permitted = os.path.realpath(file.parent), trust.roots()
    if refused := [
        f"{file}: {place} = {path!r}: leads to {real}: must lie in the folder of the motor file, links resolved. Move "
        "the file beside it, or permit its folder by allow_checkpoints."
        for place, path in _named_files(motors)
        if not trust.may_name(real := os.path.realpath(path), own, permitted)
    ]:
        raise ValueError("\n".join(refused))
    return motors


def _named_files(motors: Motors) -> Iterator[tuple[str, str]]:
    """Iterate over the files that motors name, each with its place."""
    for pattern, given in motors.items():
        for where, stage in places_of(motor_of(given)):
            for name, rule in parameters_of(stage).items():
                if rule.type == "asset":
                    yield f"{pattern!r}.{where}.{name}", os.fspath(getattr(stage, name))


def save_motors(path: str | os.PathLike[str], motors: Motors) -> None:
    """Write motors into a file, from which `load_motors` returns the same.

    Nothing is written unless all of it can be. Values at their default are left out.

    Args:
        path: A file that ends in .yaml, .yml, .toml or .json; an existing one is replaced. YAML and TOML need
            the extra `files`.
        motors: Motors, or lists of configs, by pattern of joint names. Paths of networks become relative to the folder
            of the file.

    Raises:
        TypeError: Something is no motor.
        ValueError: A value is out of range, or cannot be in a file: arrays with a value per robot, configs of laws
            that are not the package's own, and more than `load_motors` reads; a line for each problem.
        ImportError: The library of the format is missing.
        OSError: The file cannot be written.
    """
    file = path_of("path", path)
    ending = _ending(file)
    content = formats.render(layout.plain_of(motors, _folder(file)), ending).encode()
    # raises if it could not be read again
    _parsed(content, file, ending)
    with whole_file(file) as written:
        written.write_bytes(content)
    for _, path in _named_files(motors):
        trust.note_named(path)


def _parsed(content: bytes, file: Path, ending: str) -> object:
    if len(content) > formats.MAX_BYTES:
        raise ValueError(
            f"{file}: must be at most {formats.MAX_BYTES} bytes. Leave to Python what differs from robot to robot."
        )
    try:
        return formats.parse(content.decode("utf-8-sig"), ending)
    except ValueError as error:
        raise ValueError(f"{file}: must be {ending[1:].upper()}, but {error}") from None


def _ending(file: Path) -> str:
    ending = file.suffix.lower()
    if ending not in formats.ENDINGS:
        raise ValueError(f"{file}: must end in {', '.join(formats.ENDINGS)}. Rename it.")
    return ending


def _folder(file: Path) -> str:
    return os.path.abspath(file.parent)
