"""A folder for ROS 2: `ros2_control` of the joints, their limits, gains of a controller, and gains as a message.

ros2_control.xacro   the system, with effort commands, to be included in the robot's description
joint_limits.yaml    limits by joint
controllers.yaml     gains of a `joint_trajectory_controller` with effort commands
gains.yaml           the same gains as `sensor_msgs/JointState`: position holds kp, velocity kd, NaN keeps
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from ...base.saving import whole_file
from ...base.values import is_number, shortest
from ...files.motor_files import formats
from ...specs.configs import MaxEffortClampingConfig, PDControlConfig, PIDControlConfig
from ...specs.motors import MotorConfig
from .robot import ExportedJoint, ExportedRobot, text_of

SAYS = frozenset({"kp", "kd", "ki", "integral_max", "max_effort", "position_limits", "velocity_limit"})
_CONTROLLER = "joint_trajectory_controller"
_PARAMETERS = "ros__parameters"


def write_ros2(robot: ExportedRobot, out: Path, losses: Sequence[str]) -> None:
    """Write the folder, with what it does not say, a sentence each; files of these names are replaced."""
    gains = {
        key: [shortest(joint.value(name)) if joint.has_gains else math.nan for joint in robot.joints]
        for key, name in {"position": "kp", "velocity": "kd"}.items()
    }
    message = {"name": [joint.name for joint in robot.joints], **gains, "effort": []}
    comments = "".join(f"# {' '.join(loss.split())}\n" for loss in losses)
    pids = {joint.name: _pid(joint) for joint in robot.joints if joint.has_gains}
    parameters = {
        "joints": list(pids),
        "command_interfaces": ["effort"],
        "state_interfaces": ["position", "velocity"],
        "gains": pids,
    }
    texts = {
        "ros2_control.xacro": _xacro(robot, losses),
        "joint_limits.yaml": comments + formats.render({"joint_limits": _limits(robot)}, ".yaml"),
        "controllers.yaml": comments + formats.render({_CONTROLLER: {_PARAMETERS: parameters}}, ".yaml"),
        "gains.yaml": formats.render(message, ".yaml"),
    }
    out.mkdir(exist_ok=True)
    for name, text in texts.items():
        with whole_file(out / name) as written:
            written.write_text(text, encoding="utf-8")


def read_ros2(folder: str | os.PathLike[str]) -> dict[str, MotorConfig]:
    """Return the motors of a folder that `export` wrote for `ros2`, by the names of their joints.

    Args:
        folder: Folder with `controllers.yaml` and `joint_limits.yaml`. Gains of `gains.yaml`, if it exists, replace
            those of the controller.

    Raises:
        ValueError: The content of a file is invalid; the message names the file.
        OSError: A file cannot be read.
    """
    place = Path(folder)
    gains = _part(place / "controllers.yaml", _CONTROLLER, _PARAMETERS, "gains")
    limits = _part(place / "joint_limits.yaml", "joint_limits")
    message = _gains_of_message(place / "gains.yaml")
    return {name: _motor(one, limits.get(name, {}), message.get(name, {})) for name, one in gains.items()}


def _limits(robot: ExportedRobot) -> dict[str, object]:
    found: dict[str, object] = {}
    for joint in robot.joints:
        said: dict[str, object] = {"has_position_limits": joint.position_limits is not None}
        if joint.position_limits is not None:
            said["min_position"], said["max_position"] = map(shortest, joint.position_limits)
        speed = joint.features.get("velocity_limit", math.inf)
        for name, most in {"velocity": speed, "effort": joint.largest_effort}.items():
            said[f"has_{name}_limits"] = math.isfinite(most)
            said |= {f"max_{name}": shortest(most)} if math.isfinite(most) else {}
        found[joint.name] = said
    return found


def _pid(joint: ExportedJoint) -> dict[str, float]:
    ki = joint.value("ki")
    found = {"p": shortest(joint.value("kp")), "i": shortest(ki), "d": shortest(joint.value("kd"))}
    if "integral_max" in joint.features:
        # the clamp of ROS is that of the effort of the integral
        found["i_clamp"] = ki * joint.value("integral_max")
    return found


def _xacro(robot: ExportedRobot, losses: Sequence[str]) -> str:
    lines = [
        f'<robot xmlns:xacro="http://www.ros.org/wiki/xacro" name={quoteattr(robot.name)}>',
        *(f"  <!-- {loss.replace('--', '- -')} -->" for loss in losses),
        f'  <ros2_control name={quoteattr(robot.name)} type="system">',
        "    <hardware>",
        "      <!-- the driver of the robot in place of this stand-in -->",
        "      <plugin>mock_components/GenericSystem</plugin>",
        "    </hardware>",
    ]
    for joint in robot.joints:
        most = joint.largest_effort
        bounds = {"min": -most, "max": most} if math.isfinite(most) else {}
        lines += [
            f"    <joint name={quoteattr(joint.name)}>",
            '      <command_interface name="effort">',
            *(f'        <param name="{name}">{text_of(value)}</param>' for name, value in bounds.items()),
            "      </command_interface>",
            *(f'      <state_interface name="{name}"/>' for name in ("position", "velocity", "effort")),
            "    </joint>",
        ]
    return "\n".join([*lines, "  </ros2_control>", "</robot>", ""])


def _parsed(file: Path) -> Any:
    with file.open("rb") as stream:
        content = stream.read(formats.MAX_BYTES + 1)
    if len(content) > formats.MAX_BYTES:
        raise ValueError(f"{file}: must be at most {formats.MAX_BYTES} bytes. Leave out other controllers.")
    try:
        return formats.parse(content.decode("utf-8-sig"), ".yaml")
    except ValueError as error:
        raise ValueError(f"{file}: must be YAML, but {error}") from None


def _part(file: Path, *keys: str) -> dict[str, dict[str, object]]:
    """Return the dictionary of dictionaries below some keys."""
    found = _parsed(file)
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    if not isinstance(found, dict) or not all(isinstance(one, dict) for one in found.values()):
        raise ValueError(f"{file}: must have {'/'.join(keys)}, with a dictionary by joint. Write it.")
    return found


def _gains_of_message(file: Path) -> dict[str, dict[str, float]]:
    """Return p and d by joint of a message, without those that it keeps."""
    if not file.exists():
        return {}
    given = _parsed(file)
    keys = ("name", "position", "velocity")
    lists: list[Any] = [given.get(key) for key in keys] if isinstance(given, dict) else [None]
    if not all(isinstance(one, list) and len(one) == len(lists[0]) for one in lists):
        raise ValueError(f"{file}: must have name, position and velocity, lists of one length. Write them.")
    return {
        str(name): {
            key: number
            for key, value in zip(("p", "d"), values, strict=True)
            if not math.isnan(number := _number(value, f"{file}: {key} of {name}"))
        }
        for name, *values in zip(*lists, strict=True)
    }


def _number(value: object, subject: str) -> float:
    if not is_number(value):
        raise ValueError(f"{subject} = {value!r:.60}: must be a number. Correct it.")
    return float(value)


def _motor(gains: Mapping[str, object], limits: Mapping[str, object], message: Mapping[str, float]) -> MotorConfig:
    p, i, d, clamp = (_number({**gains, **message}.get(key, 0.0), key) for key in ("p", "i", "d", "i_clamp"))
    has_clamp = "i_clamp" in gains and i > 0.0
    controller = PIDControlConfig(p, i, d, clamp / i if has_clamp else math.inf) if i else PDControlConfig(p, d)
    most = _number(limits["max_effort"], "max_effort") if limits.get("has_effort_limits") is True else math.inf
    return MotorConfig(controller, [MaxEffortClampingConfig(most)] if math.isfinite(most) else [])
