"""Rules on values that no motor has, each within the range of its parameter."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator

from ....files.usd.edits import ParameterEdit
from ....specs.arguments import DEFAULT_DT
from ....specs.dry_friction import breakaway
from ....specs.fields import parameters_of
from ....specs.joint_side import bounds_at_joint
from ....specs.stages import KINDS
from ....specs.supply import SupplyConfig
from ....specs.thermal import ThermalConfig
from ..figures import gains, largest_effort, passive_stages
from ..findings import Finding
from .rule import Checked

_LARGEST_EFFORT = 1e5
_LARGEST_GAIN = 1e7
_LONGEST_DELAY = 1.0
# schemas of the laws that read the voltage of a supply and the derating of a motor
_READERS = ("ActuatorElectricalAPI", "ActuatorEnvelopeClampingAPI")


def undamped(checked: Checked) -> Iterator[Finding]:
    """Stiffness without any damping: the joint oscillates about its target."""
    for joint, actuator in checked.actuated:
        law = gains(actuator)
        # a friction stage may damp it
        if any(KINDS[kind].alone and not KINDS[kind].couples for kind, _ in actuator.by_kind):
            continue
        if law is not None and law[0] > 0.0 == law[1] == joint.value("viscous_friction"):
            yield Finding(
                "undamped",
                "warning",
                actuator.path,
                f"kp = {law[0]:g} with kd = 0, and joint {joint.name} has no viscous friction.",
                "Give it a kd, 2·√(kp·inertia) for the fastest motion without overshoot.",
            )


def stall_below_peak(checked: Checked) -> Iterator[Finding]:
    """A motor has its largest effort at stall; a higher peak is never reached, and one of the two is wrong."""
    for actuator, _ in checked.usable:
        for stage in actuator.stages:
            bounds = stage.bounds("effort")
            stall = min(bounds, key=lambda name: bounds[name], default="")
            for peak, most in bounds.items():
                if parameters_of(stage)[peak].or_joint and bounds[stall] < most < math.inf:
                    yield Finding(
                        "stall-below-peak",
                        "warning",
                        actuator.path,
                        f"{stall} = {bounds[stall]:g} is below {peak} = {most:g}, which is never reached.",
                        "Raise the stall effort to that of the data sheet, or lower the peak to it.",
                        # the effort of the motor stays the same
                        (ParameterEdit(actuator.path, dataclasses.replace(stage, **{peak: bounds[stall]}), peak),),
                    )


def zero_limit(checked: Checked) -> Iterator[Finding]:
    """An actuator with a limit of 0 never moves its joint."""
    for actuator, _ in checked.usable:
        if largest_effort(actuator) == 0.0:
            yield Finding(
                "zero-limit",
                "warning",
                actuator.path,
                "an effort limit is 0, so that it never gives any effort.",
                "Give the limit of the motor, or deactivate the prim.",
            )
    for joint in checked.robot.joints:
        if joint.driven_by != "nothing" and joint.value("effort_limit") == 0.0:
            yield Finding(
                "zero-limit",
                "warning",
                joint.path,
                f"joint {joint.name} has an effort limit (maxForce) of 0, so that nothing drives it.",
                "Give the limit of the motor, or remove it.",
            )


def huge_value(checked: Checked) -> Iterator[Finding]:
    """Efforts above 1e5 or gains above 1e7: placeholders for "no limit", or numbers of other units."""
    for actuator, _ in checked.usable:
        law = gains(actuator) or (0.0, 0.0)
        found = {"kp": law[0], "kd": law[1]}
        large = {name: value for name, value in found.items() if value > _LARGEST_GAIN}
        efforts = bounds_at_joint(actuator, "effort")
        large |= {name: value for _, name, value in efforts if _LARGEST_EFFORT < value < math.inf}
        for name, value in large.items():
            yield Finding(
                "huge-value",
                "warning",
                actuator.path,
                f"{name} = {value:g} is more than any motor has.",
                "Give the figure of the data sheet, or inf for no limit." if "effort" in name else "Lower the gain.",
            )


def long_delay(checked: Checked) -> Iterator[Finding]:
    """A delay of more than a second was given in other units than physics steps."""
    dt = DEFAULT_DT if checked.dt is None else checked.dt
    for actuator, _ in checked.usable:
        if actuator.delay is None:
            continue
        steps, seconds = actuator.delay.delay_parts()
        if steps * dt + seconds > _LONGEST_DELAY:
            yield Finding(
                "long-delay",
                "warning",
                actuator.path,
                f"the delay of up to {steps:g} steps is {steps * dt + seconds:.3g} s at a physics step of {dt:.4g} s.",
                "Give the delay in physics steps; a command takes some milliseconds to a motor.",
            )


def stuck_joint(checked: Checked) -> Iterator[Finding]:
    """The dry friction of a joint is at least the largest effort: the motor cannot move it."""
    for joint, actuator in checked.actuated:
        # a friction of the joint beside that of the actuator stands in for it
        own = breakaway(passive_stages(actuator))
        most, friction = largest_effort(actuator), max(joint.value("friction"), own)
        if 0.0 < most <= friction:
            unit = joint.values["friction"].unit
            yield Finding(
                "stuck-joint",
                "warning",
                actuator.path if own >= joint.value("friction") else joint.path,
                f"joint {joint.name} has a dry friction of {friction:g} {unit}, its actuator gives at most {most:g}.",
                "Lower the friction, or raise the limit of the actuator.",
            )


def unread_supply(checked: Checked) -> Iterator[Finding]:
    """A supply of a robot without a winding or a torque-speed limit: its voltage has no effect."""
    stages = [(actuator, stage) for actuator, _ in checked.usable for stage in actuator.stages]
    supplied = [actuator for actuator, stage in stages if isinstance(stage, SupplyConfig)]
    if supplied and not any(stage.SCHEMA in _READERS for _, stage in stages):
        yield Finding(
            "unread-supply",
            "warning",
            supplied[0].path,
            "the robot has a supply, and no actuator has a winding or a torque-speed limit that follows its voltage.",
            "Give the actuators an ElectricalConfig, or remove the supply.",
        )


def unread_derating(checked: Checked) -> Iterator[Finding]:
    """A derating of a motor without a winding or a torque-speed limit: its temperature limits nothing."""
    for actuator, _ in checked.usable:
        derates = any(
            isinstance(stage, ThermalConfig) and stage.max_temperature < math.inf for stage in actuator.stages
        )
        if derates and not any(stage.SCHEMA in _READERS for stage in actuator.stages):
            yield Finding(
                "unread-derating",
                "warning",
                actuator.path,
                "its temperature derates the motor, and it has no winding or torque-speed limit that follows.",
                "Give it an ElectricalConfig with max_current, or remove max_temperature.",
            )
