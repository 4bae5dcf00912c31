"""Rules on degrees where radians are meant, and vice versa."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ....specs.joint_side import bounds_at_joint
from ..described import InspectedJoint, gains, largest_effort
from ..findings import Checked, Remark

# a full turn written as 6.28 and read as degrees, in radians
_TURN_AS_DEGREES = math.radians(2 * math.pi) * (1 + 1e-3)
# [rad/s]: faster than joints with stops, and slower than motors
_FASTEST, _SLOWEST = 100.0, 0.1
# [rad]: errors at which motors reach their limit, with a margin of two powers of ten
_LARGEST_ERROR, _SMALLEST_ERROR = 10.0, 1e-3


def limits_in_radians(checked: Checked) -> Iterator[Remark]:
    """Limits of a joint are degrees in USD, and in MJCF by default: a range of 3.14° was meant in radians."""
    for joint in checked.robot.joints:
        lower, upper = joint.value("lower_limit"), joint.value("upper_limit")
        if not joint.linear and 0.0 < upper - lower <= _TURN_AS_DEGREES:
            yield Remark(
                joint.path,
                f"joint {joint.name} may move from {math.degrees(lower):.4g}° to {math.degrees(upper):.4g}° only.",
                f"If radians were meant, write {math.degrees(math.degrees(lower)):.4g} and "
                f"{math.degrees(math.degrees(upper)):.4g}: the file has degrees.",
            )


def speed_in_degrees(checked: Checked) -> Iterator[Remark]:
    """Speeds of actuators are rad/s: more than 100 of a joint with stops was given in deg/s."""
    for where, whose, speed, joints in _speeds(checked):
        ranges = [joint.value("upper_limit") - joint.value("lower_limit") for joint in joints]
        if _FASTEST < speed < math.inf and all(map(math.isfinite, ranges)):
            yield _speed(where, whose, speed, math.radians(speed), "too fast for a joint between stops", "degrees")


def speed_in_radians(checked: Checked) -> Iterator[Remark]:
    """Speeds of joints are deg/s in USD: a limit of 4.7 there, which is 0.08 rad/s, was meant in rad/s."""
    for where, whose, speed, _ in _speeds(checked):
        if 0.0 < speed < _SLOWEST:
            yield _speed(where, whose, speed, math.degrees(speed), "too slow for a motor", "radians")


def gains_in_degrees(checked: Checked) -> Iterator[Remark]:
    """Gains per degree read as per radian are 57 times too small, and vice versa.

    The error at which a motor reaches its limit is neither several turns nor less than a backlash.
    """
    for actuator, joints in checked.usable:
        kp, most = (gains(actuator) or (0.0, 0.0))[0], largest_effort(actuator)
        if kp and 0.0 < most < math.inf and not all(joint.linear for joint in joints):
            if not _SMALLEST_ERROR <= most / kp <= _LARGEST_ERROR:
                error = most / kp
                if error > _LARGEST_ERROR:
                    word, unit, meant = "soft", "degree", math.degrees(kp)
                else:
                    word, unit, meant = "stiff", "radian, and converted twice", math.radians(kp)
                yield Remark(
                    actuator.path,
                    f"kp = {kp:g} N·m/rad reaches the limit of {most:g} N·m at an error of {error:.3g} rad, "
                    f"{math.degrees(error):.3g}°: too {word} for a motor.",
                    f"If it was meant per {unit}, write {meant:.4g}.",
                )


def _speeds(checked: Checked) -> Iterator[tuple[str, str, float, list[InspectedJoint]]]:
    """Iterate over the speed limits of joints and actuators: path, words for it, limit, and the joints that turn."""
    for joint in checked.robot.joints:
        if not joint.linear:
            yield joint.path, f"joint {joint.name}", joint.value("velocity_limit"), [joint]
    for actuator, joints in checked.usable:
        turning = [joint for joint in joints if not joint.linear]
        for _, _, speed in bounds_at_joint(actuator, "speed") if turning else ():
            yield actuator.path, "its motor", speed, turning


def _speed(where: str, whose: str, speed: float, meant: float, word: str, unit: str) -> Remark:
    return Remark(
        where,
        f"the speed limit of {whose} is {speed:.4g} rad/s, {speed * 30 / math.pi:.3g} rpm: {word}.",
        f"If {unit} were meant, it is {meant:.4g} rad/s.",
    )
