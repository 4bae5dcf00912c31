"""Joints that nothing drives, or that two things do."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator

from ...specs.configs import MaxEffortClampingConfig
from ...usd.edits import Edit, ParameterEdit, PropertyEdit
from ..described import InspectedActuator, InspectedJoint
from ..figures import DC_MOTORS, gains, largest_effort
from ..findings import Finding
from .rule import Checked

# relative difference up to which numbers are the same: files hold single precision, and degrees
_SAME = 1e-4


def undriven_joint(checked: Checked) -> Iterator[Finding]:
    """A joint that nothing moves hangs; most often its actuator was forgotten, or targets another name.

    Of a joint whose actuator cannot be used, the reason is told instead.
    """
    broken = {name for actuator in checked.robot.actuators if actuator.controller is None for name in actuator.joints}
    for joint in checked.robot.joints:
        if joint.driven_by == "nothing" and joint.name not in broken:
            yield Finding(
                "undriven-joint",
                "warning",
                joint.path,
                f"joint {joint.name} has no actuator, no drive with gains and follows no other joint.",
                "Give it an actuator or a drive, or lock it if it is not to move.",
            )


def drive_and_actuator(checked: Checked) -> Iterator[Finding]:
    """A drive that is stiffer or more damped than the actuator: where it is not switched off, it hides the actuator.

    We switch it off. A drive that is softer, or the same, stands in where actuators are not known, and is let be.
    """
    for joint, actuator in checked.actuated:
        drive = joint.value("drive_stiffness"), joint.value("drive_damping")
        law = gains(actuator)
        most = law or (0.0, 0.0)
        if all(its <= ours * (1 + _SAME) for its, ours in zip(drive, most, strict=True)):
            continue
        has = "no gains" if law is None else f"kp = {law[0]:g}, kd = {law[1]:g}"
        yield Finding(
            "drive-and-actuator",
            "warning",
            joint.path,
            f"joint {joint.name} has a drive with stiffness {drive[0]:g} and damping {drive[1]:g} (SI), and the "
            f"actuator <{actuator.path}> with {has}.",
            "Give the drive gains of 0, or at most those of the actuator.",
            tuple(PropertyEdit(joint.path, joint.axis, name, 0.0) for name in ("stiffnesses", "dampings")),
        )


def limit_above_joint(checked: Checked) -> Iterator[Finding]:
    """An actuator that may give more than its joint or drive: MuJoCo cuts it there, and no record says so."""
    for actuator, joints in checked.usable:
        most = largest_effort(actuator)
        below = [joint for joint in joints if most > joint.value("effort_limit") * (1 + _SAME)]
        for joint in below:
            limit, unit = joint.value("effort_limit"), joint.values["effort_limit"].unit
            has = f"a limit of {most:g} {unit}" if math.isfinite(most) else "no effort limit"
            # what is right for one joint is not for the others
            alike = {one.value("effort_limit") for one in joints} == {limit}
            yield Finding(
                "limit-above-joint",
                "warning",
                actuator.path,
                f"has {has}, and its joint {joint.name} one of {limit:g} {unit} (maxForce of the drive).",
                f"Lower it to {limit:g}, or raise that of the joint.",
                tuple(_lowered(actuator, joint)) if alike else (),
            )


def _lowered(actuator: InspectedActuator, joint: InspectedJoint) -> Iterator[Edit]:
    limit = joint.value("effort_limit")
    for clamp in actuator.clamping:
        field = "max_motor_effort" if isinstance(clamp, DC_MOTORS) else "max_effort"
        if isinstance(clamp, (MaxEffortClampingConfig, *DC_MOTORS)) and getattr(clamp, field) > limit:
            yield ParameterEdit(actuator.path, dataclasses.replace(clamp, **{field: limit}), field)
            return
