"""Joints that nothing drives, or that two things do."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator

from ...specs.configs import ForeignConfig, MaxEffortClampingConfig
from ...specs.fields import parameters_of
from ...specs.stages import is_geared
from ...usd.edits import Edit, ParameterEdit, PropertyEdit
from ..described import InspectedActuator, InspectedJoint
from ..figures import gains, largest_effort
from ..findings import Finding
from .rule import Checked

# relative difference up to which numbers are the same: files hold single precision, and degrees
_SAME = 1e-4


def undriven_joint(checked: Checked) -> Iterator[Finding]:
    """A joint that nothing moves hangs; most often its actuator was forgotten, or targets another name.

    Of a joint whose actuator cannot be used, the reason is told instead.
    """
    broken = {name for actuator in checked.robot.actuators if not actuator.usable for name in actuator.joints}
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
        remedy = "Give the drive gains of 0, or at most those of the actuator."
        if checked.is_doubtful(actuator):
            remedy = "Correct the actuator first: something on its prim has no effect, and its gains may be others."
        off = (PropertyEdit(joint.path, joint.axis, name, 0.0) for name in ("stiffnesses", "dampings"))
        yield Finding(
            "drive-and-actuator",
            "warning",
            joint.path,
            f"joint {joint.name} has a drive with stiffness {drive[0]:g} and damping {drive[1]:g} (SI), and the "
            f"actuator <{actuator.path}> with {has}.",
            remedy,
            checked.edits(actuator, off),
        )


def no_effort_limit(checked: Checked) -> Iterator[Finding]:
    """An actuator without a limit, at a joint that has one: that bounds the drive, and nothing cuts the actuator."""
    for actuator, joint, limit, edits in _beyond(checked):
        if math.isinf(largest_effort(actuator)):
            yield Finding(
                "no-effort-limit",
                "warning",
                actuator.path,
                f"has no effort limit, and that of its joint {joint.name}, {limit}, bounds the drive only.",
                f"Apply {MaxEffortClampingConfig.SCHEMA} with the limit of the motor, or that of the joint.",
                edits,
            )


def limit_above_joint(checked: Checked) -> Iterator[Finding]:
    """An actuator that may give more than its joint is made for: no simulator cuts it there."""
    for actuator, joint, limit, edits in _beyond(checked):
        most = largest_effort(actuator)
        if math.isfinite(most):
            yield Finding(
                "limit-above-joint",
                "warning",
                actuator.path,
                f"has a limit of {most:g} {joint.values['effort_limit'].unit}, and its joint {joint.name} one of "
                f"{limit}, which bounds the drive only.",
                f"Lower it to {joint.value('effort_limit'):g}, or raise that of the joint.",
                edits,
            )


def _beyond(checked: Checked) -> Iterator[tuple[InspectedActuator, InspectedJoint, str, tuple[Edit, ...]]]:
    """Actuators that may give more than the limit of a joint: with the joint, its limit, and what lowers theirs."""
    for actuator, joints in checked.usable:
        # a passive joint has no motor, and what a transmission or stages of the host program do is not known
        foreign = any(isinstance(one, ForeignConfig) for one in actuator.after_controller)
        if actuator.controller is None or foreign or is_geared(actuator):
            continue
        limits = {joint.value("effort_limit") for joint in joints}
        for joint in joints:
            limit = joint.value("effort_limit")
            if largest_effort(actuator) > limit * (1 + _SAME):
                # what is right for one joint is not for the others
                edits = checked.edits(actuator, _lowered(actuator, joint)) if limits == {limit} else ()
                yield actuator, joint, f"{limit:g} {joint.values['effort_limit'].unit} (maxForce of the drive)", edits


def _lowered(actuator: InspectedActuator, joint: InspectedJoint) -> Iterator[Edit]:
    limit = joint.value("effort_limit")
    for clamp in actuator.stages:
        for field, most in clamp.bounds("effort").items():
            if parameters_of(clamp)[field].or_joint and most > limit:
                yield ParameterEdit(actuator.path, dataclasses.replace(clamp, **{field: limit}), field)
                return
