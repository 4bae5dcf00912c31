"""Rules on actuator prims that are unusable, and on joints without a driver or with two."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterator

from ....files.usd.edits import Edit, ParameterEdit, PropertyEdit, SchemaEdit
from ....files.usd.similar_names import unescaped
from ....specs.configs import ForeignConfig, MaxEffortClampingConfig
from ....specs.fields import parameters_of
from ....specs.joint_side import bounds_at_joint, effort_factor, ratio_of
from ..described import InspectedActuator, InspectedJoint, at_shaft, before_linkage, gains, largest_effort
from ..findings import Checked, Remark, split_message

# relative tolerance of equal numbers: files have single precision, and degrees
_SAME = 1e-4


def undriven_joint(checked: Checked) -> Iterator[Remark]:
    """A joint without a driver hangs; usually its actuator is missing, or targets another name.

    A joint with an unusable actuator is reported by the reason instead.
    """
    broken = {name for actuator in checked.robot.actuators if not actuator.usable for name in actuator.joints}
    for joint in checked.robot.joints:
        if joint.driven_by == "nothing" and joint.name not in broken:
            yield Remark(
                joint.path,
                f"joint {joint.name} has no actuator, no drive with gains and follows no other joint.",
                "Give it an actuator or a drive, or lock it if it is not to move.",
            )


def drive_and_actuator(checked: Checked) -> Iterator[Remark]:
    """A drive that is stiffer or more damped than the actuator hides it in programs that keep the drive on.

    This package switches it off. An equal or softer drive is a fallback for programs that know no actuators.
    """
    for joint, actuator in checked.actuated:
        drive = joint.value("drive_stiffness"), joint.value("drive_damping")
        law = gains(actuator)
        most = law or (0.0, 0.0)
        if all(its <= ours * (1 + _SAME) for its, ours in zip(drive, most, strict=True)):
            continue
        has = at_shaft(actuator) or "no gains" if law is None else f"kp = {law[0]:g}, kd = {law[1]:g}"
        remedy = "Give the drive gains of 0, or at most those of the actuator."
        if checked.is_doubtful(actuator):
            remedy = "Correct the actuator first: something on its prim has no effect, and its gains may be others."
        off = (PropertyEdit(joint.path, joint.axis, name, 0.0) for name in ("stiffnesses", "dampings"))
        yield Remark(
            joint.path,
            f"joint {joint.name} has a drive with stiffness {drive[0]:g} and damping {drive[1]:g} (SI), and the "
            f"actuator <{actuator.path}> with {has}.",
            remedy,
            checked.edits(actuator, off),
        )


def no_effort_limit(checked: Checked) -> Iterator[Remark]:
    """An actuator has no limit and its joint has one, which bounds the drive only."""
    for actuator, joint, limit, edits in _beyond(checked):
        if math.isinf(largest_effort(before_linkage(actuator))):
            yield Remark(
                actuator.path,
                f"has no effort limit, and that of its joint {joint.name}, {limit}, bounds the drive only.",
                f"Apply {MaxEffortClampingConfig.SCHEMA} with the limit of the motor, or that of the joint.",
                edits,
            )


def limit_above_joint(checked: Checked) -> Iterator[Remark]:
    """The limit of an actuator exceeds that of its joint, which no simulator applies to it."""
    for actuator, joint, limit, edits in _beyond(checked):
        most = largest_effort(actuator)
        if math.isfinite(most):
            yield Remark(
                actuator.path,
                f"has a limit of {most:g} {joint.values['effort_limit'].unit}, and its joint {joint.name} one of "
                f"{limit}, which bounds the drive only.",
                f"Lower it to {joint.value('effort_limit'):g}, or raise that of the joint.",
                edits,
            )


def _beyond(checked: Checked) -> Iterator[tuple[InspectedActuator, InspectedJoint, str, tuple[Edit, ...]]]:
    """Iterate over actuators that exceed the limit of a joint: with the joint, its limit, and the corrections."""
    for actuator, joints in checked.usable:
        # a passive joint has no motor; stages of the host program are unknown
        foreign = any(isinstance(one, ForeignConfig) for one in actuator.after_controller)
        if actuator.controller is None or foreign:
            continue
        limits = {joint.value("effort_limit") for joint in joints}
        for joint in joints:
            limit = joint.value("effort_limit")
            if largest_effort(actuator) > limit * (1 + _SAME):
                # the limit of one joint is wrong for the others
                edits = checked.edits(actuator, _lowered(actuator, joint)) if limits == {limit} else ()
                yield actuator, joint, f"{limit:g} {joint.values['effort_limit'].unit} (maxForce of the drive)", edits


def _lowered(actuator: InspectedActuator, joint: InspectedJoint) -> Iterator[Edit]:
    limit = joint.value("effort_limit")
    for clamp, field, most in bounds_at_joint(actuator, "effort"):
        if parameters_of(clamp)[field].or_joint and most > limit:
            of_stage = limit / effort_factor(clamp, ratio_of(actuator))
            yield ParameterEdit(actuator.path, dataclasses.replace(clamp, **{field: of_stage}), field)
            return


# rules on actuator prims that are unusable, here or elsewhere

_MEANT = re.compile(r"applies ([!-~]+), which has no effect.* Did you mean (\w+)\?")


def unusable_actuator(checked: Checked) -> Iterator[Remark]:
    """The parser rejects the prim; no actuator of its robot is built."""
    for line in checked.robot.problems:
        where, problem, remedy = split_message(line)
        yield Remark(where or checked.robot.path, problem, remedy, severity="error")


def without_effect(checked: Checked) -> Iterator[Remark]:
    """An authored opinion is read by nothing: a misspelled name, a schema of another version, a prim without a robot.

    A schema with a name close to a known one is replaced by it.
    """
    for line in checked.robot.remarks:
        where, problem, remedy = split_message(line)
        meant = _MEANT.search(line)
        edits = (SchemaEdit(where, unescaped(meant[1]), meant[2]),) if meant and where else ()
        yield Remark(where or checked.robot.path, problem, remedy, edits)


def two_values(checked: Checked) -> Iterator[Remark]:
    """Two attributes, prims or elements describe the same of a joint or link and differ: programs take one of them."""
    for line in checked.robot.two_values:
        where, problem, remedy = split_message(line)
        yield Remark(where, problem, remedy)


def earlier_name(checked: Checked) -> Iterator[Remark]:
    """A schema has its name of version 0.9 and before, which is read here and unknown to USD."""
    for actuator in checked.robot.actuators:
        for schema, today in actuator.earlier:
            yield Remark(
                actuator.path,
                f"applies {schema}, as {today} was called until version 0.9: usdview and Kit do not know it.",
                f"Rename it to {today}.",
                (SchemaEdit(actuator.path, schema, today),),
                severity="note",
            )
