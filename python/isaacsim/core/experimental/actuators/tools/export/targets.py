"""The table of targets."""

from __future__ import annotations

import dataclasses
import os
import warnings
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from xml.dom.minidom import Document

import numpy as np

from ...base.saving import whole_file
from ...base.values import shortest
from ...engine.linkages import idle_shafts
from ...files.motor_files.files import save_with
from ...specs.actuator_spec import ActuatorSpec
from ...specs.arguments import MODEL_FILES, path_of
from ...specs.configs import Config
from ...specs.linkage import LinkageConfig
from ...specs.motors import MotorConfig
from ...specs.patterns import pattern_of
from . import c_carried, c_header, lab, mjcf, mjlab, ros2, urdf
from .losses import (
    Loss,
    left_of,
    losses_of,
    on_one_side,
    rounded_delays,
    said_together,
    without_actuator,
    without_motor,
)
from .robot import FEATURES, OF_JOINT, ExportedRobot
from .xml_file import add_comments, read_xml, root_of, xml_text


@dataclass(frozen=True)
class Target:
    """A line of the table; `write` also gets sentences on what the file does not say."""

    words: str
    # those of `FEATURES`
    says: frozenset[str]
    write: Callable[[ExportedRobot, Path, Sequence[str]], None]
    # what it does not say of a robot, what it leaves to the robot, which has it by itself, and says otherwise
    losses: Callable[[ExportedRobot], list[Loss]] = lambda _: []
    left: Callable[[ExportedRobot], list[Loss]] = lambda _: []
    changed: Callable[[ExportedRobot], list[str]] = lambda _: []
    # what it cannot say of any robot
    always_lost: tuple[str, ...] = ()
    is_folder: bool = False
    # it has actuators with gains at the joint alone
    only_gains: bool = False
    # outermost element of the robot files that it can fill; empty for none
    root: str = ""
    # puts motors into the content of such a file, given its path and the folder it is written to; returns notes, a
    # sentence each
    fill: Callable[[ExportedRobot, Document, Path, Path], list[str]] | None = None


def _text(text: Callable[[ExportedRobot, Sequence[str]], str]) -> Callable[[ExportedRobot, Path, Sequence[str]], None]:
    """Return what writes the text of a robot into a file."""
    return lambda robot, out, losses: _write(out, text(robot, losses))


def _write(out: Path, content: str) -> None:
    """Write a file, all of it or nothing."""
    with whole_file(out) as written:
        Path(written).write_text(content, encoding="utf-8")


def _yaml(robot: ExportedRobot, out: Path, losses: Sequence[str]) -> None:
    motors = robot.motors
    turned = [one for one in motors.items() if one[1].controller is not None]
    specs = [ActuatorSpec("", (), one.controller, others=one.others, dof_names=(name,)) for name, one in turned]
    # shafts that nothing turns are made anew of the file
    for name, shaft in idle_shafts(specs).items():
        others = [stage for stage in motors[name].others if not _is_same(stage, shaft)]
        motors[name] = dataclasses.replace(motors[name], others=others)
    # names of joints are patterns in the file
    save_with(out, {pattern_of(name): motor for name, motor in motors.items() if motor != MotorConfig()}, shortest)


def _is_same(stage: Config, shaft: LinkageConfig) -> bool:
    """Return True for a linkage that is another one, up to single precision."""
    if not (isinstance(stage, LinkageConfig) and np.allclose(stage.coefficients, shaft.coefficients, atol=1e-5)):
        return False
    return dataclasses.replace(stage, coefficients=shaft.coefficients) == shaft


def _says_limits(says: Set[str], left: Set[str] = frozenset()) -> Callable[[ExportedRobot], list[Loss]]:
    return lambda robot: losses_of(robot, says, left=left) + on_one_side(robot)


# the robot in the simulator has these itself
_OF_MODEL = frozenset({"position_limits", "velocity_limit"})

TARGETS: dict[str, Target] = {
    "yaml": Target("motor file of this package", frozenset(FEATURES) - _OF_MODEL, _yaml),
    "mjcf": Target(
        "actuators of MuJoCo",
        mjcf.SAYS,
        _text(mjcf.mjcf_text),
        lambda robot: losses_of(robot, mjcf.SAYS | _OF_MODEL, mjcf.WITH_GAINS),
        always_lost=mjcf.ALWAYS_LOST,
        only_gains=True,
        root=mjcf.ROOT,
        fill=mjcf.fill,
    ),
    "c": Target("C99 header with a step of the motors", c_header.SAYS, _text(c_header.c_text), left=c_carried.left),
    "ros2": Target(
        "folder for ros2_control",
        ros2.SAYS,
        ros2.write_ros2,
        _says_limits(ros2.SAYS, OF_JOINT),
        lambda robot: left_of(robot, OF_JOINT),
        is_folder=True,
        only_gains=True,
    ),
    "lab": Target(
        "actuator cfgs of Isaac Lab", lab.SAYS, _text(lab.lab_text), lab.losses, changed=rounded_delays, only_gains=True
    ),
    "urdf": Target(
        "limits and friction of joints",
        urdf.SAYS,
        _text(urdf.urdf_text),
        _says_limits(urdf.SAYS),
        root=urdf.ROOT,
        fill=urdf.fill,
    ),
    "mjlab": Target(
        "actuator cfgs of mjlab",
        mjlab.SAYS,
        _text(mjlab.mjlab_text),
        mjlab.losses,
        changed=rounded_delays,
        only_gains=True,
    ),
}


def export(
    robot: ExportedRobot,
    target: str,
    out: Path,
    strict: bool = False,
    into: str | os.PathLike[str] | None = None,
    *,
    lossy: bool = False,
) -> list[str]:
    """Write the motors of a robot for another system, and return what that system cannot say.

    No value is replaced by a zero in the file: what the system cannot say stays there as it is.

    Args:
        robot: The robot, from `read_robot`.
        target: `yaml` (motor file of this package), `mjcf` (actuators of MuJoCo), `c` (C99 header with a step of the
            motors), `ros2` (folder for ros2_control), `lab` (actuator cfgs of Isaac Lab), `urdf` (limits and friction
            of joints), `mjlab` (actuator cfgs of mjlab).
        out: File to write, or folder for `ros2`; existing files are replaced.
        strict: True raises an error instead of a file that does not say everything.
        into: MJCF file for `mjcf`, or URDF file for `urdf`, whose joints get the motors: `out` is all of it. None means
            the file of the robot if it is of that kind, else `out` is a fragment.
        lossy: True allows that something is lost, without a warning.

    Returns:
        Notes, a sentence each, and as the last ones what the file does not say, with sizes and joints; the file has the
        same sentences.

    Warns:
        UserWarning: Something is lost and `lossy` is False; a line for each.

    Raises:
        ValueError: The target is unknown, the file would not say everything and `strict` is True, the target cannot
            compute a law, or `into` is of another kind, lacks joints that have motors, or cannot be opened with them.
        OSError: A file cannot be read or written.

    Example:
        >>> import tempfile
        >>> from isaacsim.core.experimental.actuators.tools.export import export, read_robot
        >>> robot = read_robot("data/robots/pendulum.usda")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     export(robot, "yaml", Path(folder) / "motors.yaml")
        []
    """
    notes, lost = written(robot, target, out, strict, into)
    if lost and not lossy:
        warnings.warn("\n".join([*lost, f"{out}: allow that by lossy=True."]), stacklevel=2)
    return notes + lost


def written(
    robot: ExportedRobot, target: str, out: Path, strict: bool, into: str | os.PathLike[str] | None
) -> tuple[list[str], list[str]]:
    """Write as `export` does, without a warning, and return notes and losses."""
    if target not in TARGETS:
        raise ValueError(f"target = {target!r}: must be one of {', '.join(TARGETS)}. Correct the name.")
    line = TARGETS[target]
    whole = _whole(robot, target, into)
    losses = _lost(robot, line, None if whole is None else whole[0])
    if strict and losses:
        raise ValueError("\n".join([*losses, f"{out}: must say all, by --strict. Choose another target, or allow it."]))
    notes = without_motor(robot) + said_together(line.left(robot), "Left to the robot")
    notes += line.changed(robot)
    notes += [f"Not said of any robot: {one}." for one in line.always_lost]
    if line.fill is not None and whole is not None:
        file, document = whole
        notes += line.fill(robot, document, file, out.absolute().parent)
        add_comments(document, notes + losses)
        _write(out, xml_text(document))
        return notes, losses
    if line.fill is not None:
        notes.append(
            f"The file is a fragment, for bodies of other formats cannot be written as {target.upper()}: give the "
            f"{target.upper()} file of the robot as `into`, or by --into, to get it all."
        )
    line.write(robot, out, notes + losses)
    return notes, losses


def _lost(robot: ExportedRobot, line: Target, file: Path | None) -> list[str]:
    """Return what is lost in a file that gets the motors; an actuator that is not replaced there says all of it."""
    if line.root == mjcf.ROOT and file is not None and file == robot.file and not robot.is_given:
        return said_together([one for one in line.losses(robot) if one.joint.has_gains or one.joint.motor is None])
    return [*(without_actuator(robot) if line.only_gains else []), *said_together(line.losses(robot))]


def _whole(robot: ExportedRobot, target: str, into: str | os.PathLike[str] | None) -> tuple[Path, Document] | None:
    """Return the file that gets the motors, with its content; None for a fragment."""
    root = TARGETS[target].root
    if into is not None:
        if not root:
            fillable = ", ".join(name for name, line in TARGETS.items() if line.root)
            raise ValueError(f"into = {str(into)!r}: must be None for the target {target}. It is for {fillable}.")
        return (file := path_of("into", into)), read_xml(file, root)
    if not root or robot.file is None or robot.file.suffix.lower() not in MODEL_FILES:
        return None
    document = read_xml(robot.file)
    return (robot.file, document) if root_of(document).tagName == root else None
