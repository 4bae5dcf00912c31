"""Degrees where radians are meant, and the other way round."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ..described import InspectedActuator
from ..figures import gains, largest_effort
from ..findings import Finding
from .rule import Checked

# a full turn written as 6.28 where degrees are read is this many radians
_TURN_AS_DEGREES = math.radians(2 * math.pi) * (1 + 1e-3)
# [rad/s]: faster than joints that do not turn on and on, and slower than what anybody has a motor for
_FASTEST, _SLOWEST = 100.0, 0.1
# [rad]: errors at which motors reach their limit, with two powers of ten to spare
_LARGEST_ERROR, _SMALLEST_ERROR = 10.0, 1e-3
_SPEEDS = {"speed-in-degrees": "too fast for a joint between stops", "speed-in-radians": "too slow for a motor"}


def limits_in_radians(checked: Checked) -> Iterator[Finding]:
    """Limits of a joint are degrees in USD, and in MJCF by default: a range of 3.14° was meant in radians."""
    for joint in checked.robot.joints:
        lower, upper = joint.value("lower_limit"), joint.value("upper_limit")
        if not joint.linear and 0.0 < upper - lower <= _TURN_AS_DEGREES:
            yield Finding(
                "limits-in-radians",
                "warning",
                joint.path,
                f"joint {joint.name} may move from {math.degrees(lower):.4g}° to {math.degrees(upper):.4g}° only.",
                f"If radians were meant, write {math.degrees(math.degrees(lower)):.4g} and "
                f"{math.degrees(math.degrees(upper)):.4g}: the file has degrees.",
            )


def speed_in_degrees(checked: Checked) -> Iterator[Finding]:
    """Speeds of actuators are rad/s: what turns between stops at more than 100 of them was given in deg/s."""
    for joint in checked.robot.joints:
        between_stops = math.isfinite(joint.value("upper_limit") - joint.value("lower_limit"))
        if not joint.linear and between_stops and _FASTEST < (speed := joint.value("velocity_limit")) < math.inf:
            yield _speed("speed-in-degrees", joint.path, f"joint {joint.name}", speed)
    for actuator, joints in checked.usable:
        turning = [joint for joint in joints if not joint.linear]
        ranges = [joint.value("upper_limit") - joint.value("lower_limit") for joint in turning]
        if ranges and all(map(math.isfinite, ranges)):
            for speed in _speeds(actuator):
                if _FASTEST < speed < math.inf:
                    yield _speed("speed-in-degrees", actuator.path, "its motor", speed)


def speed_in_radians(checked: Checked) -> Iterator[Finding]:
    """Speeds of joints are deg/s in USD: a limit of 4.7 there, which is 0.08 rad/s, was meant in rad/s."""
    for joint in checked.robot.joints:
        if not joint.linear and 0.0 < (speed := joint.value("velocity_limit")) < _SLOWEST:
            yield _speed("speed-in-radians", joint.path, f"joint {joint.name}", speed)
    for actuator, joints in checked.usable:
        if not all(joint.linear for joint in joints):
            for speed in _speeds(actuator):
                if speed < _SLOWEST:
                    yield _speed("speed-in-radians", actuator.path, "its motor", speed)


def gains_in_degrees(checked: Checked) -> Iterator[Finding]:
    """Gains per degree read as per radian are 57 times too small, and the other way round.

    The error at which a motor reaches its limit tells: it is neither several turns nor less than a backlash.
    """
    for actuator, joints in checked.usable:
        law, most = gains(actuator), largest_effort(actuator)
        if law is None or not law[0] or not 0.0 < most < math.inf or all(joint.linear for joint in joints):
            continue
        error = most / law[0]
        if _SMALLEST_ERROR <= error <= _LARGEST_ERROR:
            continue
        small = error > _LARGEST_ERROR
        meant = math.degrees(law[0]) if small else math.radians(law[0])
        yield Finding(
            "gains-in-degrees",
            "warning",
            actuator.path,
            f"kp = {law[0]:g} N·m/rad reaches the limit of {most:g} N·m at an error of {error:.3g} rad, "
            f"{math.degrees(error):.3g}°: too {'soft' if small else 'stiff'} for a motor.",
            f"If it was meant per {'degree' if small else 'radian, and converted twice'}, write {meant:.4g}.",
        )


def _speeds(actuator: InspectedActuator) -> list[float]:
    return [speed for stage in actuator.stages for speed in stage.bounds("speed").values()]


def _speed(rule: str, where: str, whose: str, speed: float) -> Finding:
    other = math.radians(speed) if rule == "speed-in-degrees" else math.degrees(speed)
    return Finding(
        rule,
        "warning",
        where,
        f"the speed limit of {whose} is {speed:.4g} rad/s, {speed * 30 / math.pi:.3g} rpm: {_SPEEDS[rule]}.",
        f"If {'degrees were' if rule == 'speed-in-degrees' else 'radians were'} meant, it is {other:.4g} rad/s.",
    )
