"""Write identified motors: a USD layer over the robot file, or a motor file."""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from ...base.extras import needs
from ...base.saving import whole_file
from ...base.values import shortest
from ...files.motor_files.files import load_motors, save_with
from ...files.motor_files.formats import ENDINGS
from ...simulators.authoring import add_motors, motors_of
from ...specs.arguments import MODEL_FILES, path_of
from ...specs.configs import NeuralControlConfig
from ...specs.distributions import Distribution, Uniform
from ...specs.fields import parameters_of
from ...specs.motors import MotorConfig
from ...specs.patterns import pattern_of
from ...specs.servo import ServoControlConfig
from ..plots.units import Units, unit_of, units_of
from .identified import ColumnUse, Estimate, Identified
from .intervals import LEAST

_LAYERS = (".usda", ".usd", ".usdc")


def save_identified(identified: Identified, path: str | os.PathLike[str]) -> None:
    """Write identified motors with the intervals of their values, and standard errors, logs and errors as comments.

    Args:
        identified: Result of `identify`.
        path: File to write; an existing one is replaced. Its ending sets the format. `.usda`, `.usd` or `.usdc` is a
            layer over the robot file: the robot with the identified motors in place of its own, and the comments as
            documentation. `.yaml`, `.yml`, `.toml` or `.json` is a motor file for `load_motors`, with comments on top,
            which JSON does not have.

    Raises:
        ValueError: The path has another ending, the layer would be part of the robot file, a layer is wanted and the
            robot is not a USD file, or motors cannot be written.
        ImportError: The library of the format is missing.
        OSError: The file cannot be written.
    """
    motors = {pattern_of(name): motor for name, motor in identified.motors.items()}
    save_with_comments(identified.robot, identified.joints, motors, path, summary(identified))


def save_with_comments(
    robot: str | os.PathLike[str],
    joints: Sequence[str],
    motors: Mapping[str, MotorConfig],
    path: str | os.PathLike[str],
    comments: Sequence[str],
) -> None:
    """Write motors of joints of a robot, by pattern, with comments; path and errors are those of `save_identified`."""
    place = path_of("path", path)
    require_output(robot, place)
    ending = place.suffix.lower()
    if ending in _LAYERS:
        with needs("a USD layer", "usd"):
            from ...files.usd.overlay import motor_overlay
        with motor_overlay(Path(robot), place, joints, "\n".join(comments)) as (stage, root):
            add_motors(root, {name: _beside(motor, place) for name, motor in motors.items()}, stage=stage)
        return
    save_with(place, motors, shortest)
    if ending != ".json":
        content = "".join(f"# {line}".rstrip() + "\n" for line in comments) + place.read_text("utf-8")
        with whole_file(place) as written:
            written.write_text(content, "utf-8")


def from_identified(
    source: str | os.PathLike[str] | Identified, articulation_root: str | None = None
) -> dict[str, dict[str, Distribution]]:
    """Return the distributions of identified values for `ArticulationActuators.randomize`: uniform in their intervals.

    Args:
        source: Result of `identify`, or a file that `save_identified` wrote: USD or a motor file.
        articulation_root: Path of the robot in a USD file; None means the only one.

    Returns:
        `Uniform` by name of the parameter and pattern of joint names (SI). `armature` is a property of joints, which a
        simulator has to have.

    Raises:
        ValueError: No value has an interval, or the file has problems.
        ImportError: The library of the format is missing.
        OSError: The file cannot be read.
    """
    if isinstance(source, Identified):
        motors = {pattern_of(name): motor for name, motor in source.motors.items()}
    elif Path(source).suffix.lower() in _LAYERS:
        motors = motors_of(source, articulation_root)
    else:
        motors = load_motors(source)
    found: dict[str, dict[str, Distribution]] = {}
    for pattern, motor in motors.items():
        for name, (low, high) in motor.intervals.items():
            found.setdefault(name, {})[pattern] = Uniform(low, high)
    if not found:
        where = source.robot if isinstance(source, Identified) else source
        raise ValueError(
            f"{where}: no value has an interval: must have one to be drawn from. Identify from {LEAST} logs or more."
        )
    return found


def default_output(robot: str | os.PathLike[str]) -> Path:
    """Return the file that fits a robot: a USD layer over a USD file, else a motor file."""
    return Path("motors.yaml" if Path(robot).suffix.lower() in MODEL_FILES else "motors.usda")


def require_output(robot: str | os.PathLike[str], path: Path) -> None:
    """Raise for a file that `save_identified` cannot write, before anything is identified."""
    ending, model = path.suffix.lower(), Path(robot)
    if ending not in (*_LAYERS, *ENDINGS):
        raise ValueError(f"{path}: must end in {', '.join((*_LAYERS, *ENDINGS))}. Rename it.")
    if ending in _LAYERS and model.suffix.lower() in MODEL_FILES:
        raise ValueError(f"{model}: no layer can lie over it, for it is not USD. Write a motor file, such as .yaml.")


def _beside(motor: MotorConfig, layer: Path) -> MotorConfig:
    """Return a motor whose network is named relative to a layer in whose folder, or below, it is."""
    if not isinstance(motor.controller, NeuralControlConfig):
        return motor
    path, folder = Path(motor.controller.model_path).resolve(), layer.resolve().parent
    if not path.is_relative_to(folder):
        return motor
    named = f"./{path.relative_to(folder).as_posix()}"
    return dataclasses.replace(motor, controller=NeuralControlConfig(named))


def summary(identified: Identified) -> list[str]:
    """Return what is known of identified motors: errors, logs, a table of estimates and warnings, a line each."""
    logs = [f"{_line(one.log.source)} ({'held out' if one.held_out else 'fitted'})" for one in identified.replays]
    units = [unit_at_joint(identified, one) for one in identified.estimates]
    heads = ("joint", "parameter", "value", "standard error", "90 % interval", "unit")
    rows = [heads, *map(_row, identified.estimates, units)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        f"Motors of {_line(Path(identified.robot).name)}, identified from logs.",
        f"Model: {_line(identified.chosen)}.",
        f"Position error {error_words(identified)}: {_milli(identified.error)} {units_of_errors(identified).milli}; "
        f"with the motors of the robot file {_milli(identified.shipped)}.",
        f"Logs: {', '.join(logs) or 'none'}.",
        f"Columns: {', '.join(identified.fitted_columns)}.",
        *(_line(one) for one in (*identified.unused_columns, *identified.networks)),
        *("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows),
        *(f"Warning: {_line(one)}" for one in identified.warnings),
    ]


def units_of_errors(identified: Identified) -> Units:
    """Return the units of position errors of all joints together; those of both kinds where their kind is unknown."""
    return units_of(_turns(identified).values())


def unit_at_joint(identified: Identified, one: Estimate | ColumnUse) -> str:
    """Return the unit of an estimate or column at its joint; that of both kinds for what such joints share."""
    turns = _turns(identified)
    kinds = set(turns.values())
    motor = identified.motors.get(one.joint)
    if one.name in ("kp", "kd") and motor is not None and isinstance(motor.controller, ServoControlConfig):
        # numbers as in the register of the servo
        return parameters_of(ServoControlConfig)[one.name].unit
    return unit_of(one.unit, turns.get(one.joint, kinds.pop() if len(kinds) == 1 else None))


def _turns(identified: Identified) -> dict[str, bool | None]:
    """Return which joints turn, by name; nothing without a replay that knows."""
    known = next((one for one in identified.replays if one.turns is not None), None)
    return {} if known is None else dict(zip(known.log.joints, known.turns or [], strict=True))


def error_words(identified: Identified) -> str:
    """Return on which logs the error of identified motors was taken."""
    return "on the logs held out" if any(one.held_out for one in identified.replays) else "on the fitted logs"


def _row(one: Estimate, unit: str) -> tuple[str, ...]:
    # of what no log determines there is none
    error = f"{one.standard_error:.2g}" if math.isfinite(one.standard_error) else "unknown"
    return _line(one.joint), one.name, f"{one.value:.6g}", error, interval_words(one), unit


def interval_words(one: Estimate) -> str:
    """Return the ends of the interval of an estimate; a hyphen if it has none."""
    low, high = one.interval
    return f"{low:.4g} … {high:.4g}" if math.isfinite(low) else "-"


def _milli(error: float) -> str:
    return f"{1000 * error:.3g}"


def _line(text: str) -> str:
    """Return a text without line breaks and control characters, which would end a comment."""
    return "".join(letter if letter.isprintable() else " " for letter in text)
