"""Rules on values that no motor has, or that contradict its transmission or the catalogue of real motors."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterator, Sequence

from ....files.usd.edits import ParameterEdit, PropertyEdit
from ....specs.arguments import DEFAULT_DT
from ....specs.dry_friction import breakaway
from ....specs.fields import parameters_of
from ....specs.joint_side import bounds_at_joint
from ....specs.motor_catalogue import MOTORS
from ....specs.stages import KINDS, is_linked
from ....specs.supply import SupplyConfig
from ....specs.thermal import ThermalConfig
from ....specs.transmission import armature, transmission_of
from ..described import InspectedJoint, gains, largest_effort, passive_stages
from ..findings import Checked, Remark

_LARGEST_EFFORT = 1e5
_LARGEST_GAIN = 1e7
_LONGEST_DELAY = 1.0
# schemas of the laws that read the voltage of a supply and the derating of a motor
_READERS = ("ActuatorElectricalAPI", "ActuatorEnvelopeClampingAPI")


def undamped(checked: Checked) -> Iterator[Remark]:
    """Stiffness without any damping: the joint oscillates about its target."""
    for joint, actuator in checked.actuated:
        law = gains(actuator)
        # a friction stage may damp it
        if any(KINDS[kind].alone and not KINDS[kind].couples for kind, _ in actuator.by_kind):
            continue
        if law is not None and law[0] > 0.0 == law[1] == joint.value("viscous_friction"):
            yield Remark(
                actuator.path,
                f"kp = {law[0]:g} with kd = 0, and joint {joint.name} has no viscous friction.",
                "Give it a kd, 2·√(kp·inertia) for the fastest motion without overshoot.",
            )


def stall_below_peak(checked: Checked) -> Iterator[Remark]:
    """A motor has its largest effort at stall; a higher peak is never reached, and one of the two is wrong."""
    for actuator, _ in checked.usable:
        for stage in actuator.stages:
            bounds = stage.bounds("effort")
            stall = min(bounds, key=lambda name: bounds[name], default="")
            for peak, most in bounds.items():
                if parameters_of(stage)[peak].or_joint and bounds[stall] < most < math.inf:
                    yield Remark(
                        actuator.path,
                        f"{stall} = {bounds[stall]:g} is below {peak} = {most:g}, which is never reached.",
                        "Raise the stall effort to that of the data sheet, or lower the peak to it.",
                        # the effort of the motor stays the same
                        (ParameterEdit(actuator.path, dataclasses.replace(stage, **{peak: bounds[stall]}), peak),),
                    )


def zero_limit(checked: Checked) -> Iterator[Remark]:
    """An actuator with a limit of 0 never moves its joint."""
    for actuator, _ in checked.usable:
        if largest_effort(actuator) == 0.0:
            yield Remark(
                actuator.path,
                "an effort limit is 0, so that it never gives any effort.",
                "Give the limit of the motor, or deactivate the prim.",
            )
    for joint in checked.robot.joints:
        if joint.driven_by != "nothing" and joint.value("effort_limit") == 0.0:
            yield Remark(
                joint.path,
                f"joint {joint.name} has an effort limit (maxForce) of 0, so that nothing drives it.",
                "Give the limit of the motor, or remove it.",
            )


def huge_value(checked: Checked) -> Iterator[Remark]:
    """Efforts above 1e5 or gains above 1e7: placeholders for "no limit", or numbers of other units."""
    for actuator, _ in checked.usable:
        law = gains(actuator) or (0.0, 0.0)
        law_gains = {"kp": law[0], "kd": law[1]}
        large = {name: value for name, value in law_gains.items() if value > _LARGEST_GAIN}
        efforts = bounds_at_joint(actuator, "effort")
        large |= {name: value for _, name, value in efforts if _LARGEST_EFFORT < value < math.inf}
        for name, value in large.items():
            yield Remark(
                actuator.path,
                f"{name} = {value:g} is more than any motor has.",
                "Give the figure of the data sheet, or inf for no limit." if "effort" in name else "Lower the gain.",
            )


def long_delay(checked: Checked) -> Iterator[Remark]:
    """A delay of more than a second was given in other units than physics steps."""
    dt = DEFAULT_DT if checked.dt is None else checked.dt
    for actuator, _ in checked.usable:
        if actuator.delay is None:
            continue
        steps, seconds = actuator.delay.delay_parts()
        if steps * dt + seconds > _LONGEST_DELAY:
            yield Remark(
                actuator.path,
                f"the delay of up to {steps:g} steps is {steps * dt + seconds:.3g} s at a physics step of {dt:.4g} s.",
                "Give the delay in physics steps; a command takes some milliseconds to a motor.",
            )


def stuck_joint(checked: Checked) -> Iterator[Remark]:
    """The dry friction of a joint is at least the largest effort: the motor cannot move it."""
    for joint, actuator in checked.actuated:
        # a friction of the joint beside that of the actuator stands in for it
        own = breakaway(passive_stages(actuator))
        most, friction = largest_effort(actuator), max(joint.value("friction"), own)
        if 0.0 < most <= friction:
            unit = joint.values["friction"].unit
            yield Remark(
                actuator.path if own >= joint.value("friction") else joint.path,
                f"joint {joint.name} has a dry friction of {friction:g} {unit}, its actuator gives at most {most:g}.",
                "Lower the friction, or raise the limit of the actuator.",
            )


def unread_supply(checked: Checked) -> Iterator[Remark]:
    """A supply of a robot without a winding or a torque-speed limit: its voltage has no effect."""
    stages = [(actuator, stage) for actuator, _ in checked.usable for stage in actuator.stages]
    supplied = [actuator for actuator, stage in stages if isinstance(stage, SupplyConfig)]
    if supplied and not any(stage.SCHEMA in _READERS for _, stage in stages):
        yield Remark(
            supplied[0].path,
            "the robot has a supply, and no actuator has a winding or a torque-speed limit that follows its voltage.",
            "Give the actuators an ElectricalConfig, or remove the supply.",
        )


def unread_derating(checked: Checked) -> Iterator[Remark]:
    """A derating of a motor without a winding or a torque-speed limit: its temperature limits nothing."""
    for actuator, _ in checked.usable:
        derates = any(
            isinstance(stage, ThermalConfig) and stage.max_temperature < math.inf for stage in actuator.stages
        )
        if derates and not any(stage.SCHEMA in _READERS for stage in actuator.stages):
            yield Remark(
                actuator.path,
                "its temperature derates the motor, and it has no winding or torque-speed limit that follows.",
                "Give it an ElectricalConfig with max_current, or remove max_temperature.",
            )


# tolerance of the inertia of a rotor, relative
_SAME = 0.05


def transmission_armature(checked: Checked) -> Iterator[Remark]:
    """The armature of a joint is not that of its rotor: this package replaces it, other programs use that of the file.

    A difference of 5 % is allowed, for the rounding of data sheets.
    """
    for joint, actuator in checked.actuated:
        gear, rotor = transmission_of(actuator), armature(actuator)
        authored = joint.value("armature")
        # a motor file, which no other program reads, has no armature that differs
        if gear is None or rotor is None or joint.driven_by == "motor":
            continue
        # behind a linkage the joint has the rotors of other motors, too
        if is_linked(actuator) or abs(authored - rotor) <= _SAME * rotor:
            continue
        unit = joint.values["armature"].unit
        yield Remark(
            joint.path,
            f"joint {joint.name} has an armature of {authored:.4g} {unit}, and the transmission of <{actuator.path}> "
            f"comes to {rotor:.4g}, ratio²·rotor_inertia = {gear.ratio:g}²·{gear.rotor_inertia:.4g}. That acts here, "
            "the armature of the joint in other programs.",
            f"Give the joint {rotor:.4g}, as add_motors does, or correct the transmission.",
            checked.edits(actuator, [PropertyEdit(joint.path, joint.axis, "armatures", float(rotor))]),
        )


_HIPS = re.compile("hip|thigh|abad|haa|hfe", re.IGNORECASE)
_KNEES = re.compile("calf|knee|shank|kfe", re.IGNORECASE)
# limits are often rounded
_SAME_LIMIT = 0.02


def knee_without_linkage(checked: Checked) -> Iterator[Remark]:
    """Knees have the limit of their motor, although a linkage between them multiplies its torque.

    The motors are those of the catalogue that drive a joint through a linkage, of robots whose hips have the same motor
    without one. A robot with the name of such a robot in its path is compared with that one only.
    """
    knees, limits = _turning(checked, _KNEES), _limits(checked)
    hips = [joint for joint in _turning(checked, _HIPS) if joint not in knees]
    meant = _linkages(checked.robot.path, [*hips, *knees], limits) if knees and hips else []
    if not meant:
        return
    right = " or ".join(f"{MOTORS[name].max_torque:g} ({name})" for name in meant)
    yield Remark(
        knees[0].driver or knees[0].path,
        f"joints {', '.join(joint.name for joint in knees)} have the limit of the hips, {limits[knees[0].name]:g} N·m, "
        f"which is that of the motor. Through the linkage of the knee it is {right} N·m in the catalogue of motors.",
        f"Give them that limit, with MotorConfig.from_catalogue({meant[0]!r}, …) for instance.",
    )


def _linkages(robot: str, joints: Sequence[InspectedJoint], limits: dict[str, float]) -> list[str]:
    """Return the motors behind a linkage, of the robot with that name or of all, if all joints have their limit."""
    linkages = [name for name, figures in MOTORS.items() if figures.motor]
    candidates = [name for name in linkages if _have_limit(MOTORS[name].motor, joints, limits)]
    # `go2` of `unitree_go2_knee`
    return [name for name in candidates if name.split("_")[1] in robot.lower()] or candidates


def _turning(checked: Checked, names: re.Pattern[str]) -> list[InspectedJoint]:
    """Return the revolute joints with such names."""
    return [joint for joint in checked.robot.joints if not joint.linear and names.search(joint.name)]


def _limits(checked: Checked) -> dict[str, float]:
    """Return the largest effort of each joint, of its actuator or else of its drive."""
    limits = {joint.name: joint.value("effort_limit") for joint in checked.robot.joints}
    for joint, actuator in checked.actuated:
        if actuator.controller is not None:
            limits[joint.name] = largest_effort(actuator)
    return limits


def _have_limit(motor: str, joints: Sequence[InspectedJoint], limits: dict[str, float]) -> bool:
    """Return True if all joints have the limit of a motor of the catalogue."""
    most = MOTORS[motor].max_torque or math.inf
    return all(abs(limits[joint.name] - most) <= _SAME_LIMIT * most for joint in joints)
