"""Rules that depend on the physics step and the inertia at the motors."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ....specs.dry_friction import breakaway
from ....specs.encoder import EncoderConfig
from ....specs.fields import parameters_of
from ....specs.implicit import ImplicitConfig
from ....specs.rate import RateConfig
from ....specs.stages import is_linked
from ....specs.transmission import TransmissionConfig, transmission_of
from ...stability.chatter import AssumedInertia
from ...stability.table import IMPLICIT_REMEDY, JointStability, RobotStability, Stability, least_damping, lowered
from ..described import gains, largest_effort, passive_stages
from ..findings import Checked, Remark

# share of the largest effort by which an encoder may move it
_RATTLES = 0.1
# [Hz]: no position loop oscillates slower or faster
_SLOWEST, _FASTEST = 0.02, 500.0


def unstable_gains(checked: Checked) -> Iterator[Remark]:
    """Gains that are too high for the physics step: the robot vibrates, see `ArticulationActuators.stability`."""
    table = checked.stability
    if table is None or table.stable:
        return
    robot = next(robot for robot in table.robots if not robot.stable)
    for joint in _vibrating(table, robot):
        text = ", or ".join(_remedies(joint, robot, table))
        yield Remark(
            checked.robot.joint(joint.joint).path,
            f"joint {joint.joint} will vibrate at dt = {table.dt:.4g} s: kp = {joint.kp:.4g}, kd = {joint.kd:.4g}, "
            f"inertia {joint.inertia:.3g}, armature {joint.armature:.3g}"
            + (f", latency {joint.latency:.3g} s." if joint.latency else "."),
            f"{text[0].upper()}{text[1:]}.",
            severity="error",
        )


def unchecked_gains(checked: Checked) -> Iterator[Remark]:
    """Motors whose gains are not known, so that nothing says whether they vibrate at this physics step."""
    table = checked.stability
    passive = {one.name for one, stages in checked.actuated if stages.controller is None and not is_linked(stages)}
    if table is not None and (joints := [joint for joint in table.unknown if joint not in passive]):
        yield Remark(
            checked.robot.path,
            f"the stability of {', '.join(joints)} at dt = {table.dt:.4g} s is not checked: behind a network, a law of "
            "one's own or a linkage, or implicit without an inertia, gains are not known.",
            "Try it with `actuators run --dt`; for a law of one's own, check law: pd with its slopes in its place.",
            severity="note",
        )


def _vibrating(table: Stability, robot: RobotStability) -> list[JointStability]:
    """Return the joints whose armature is too small for their gains."""
    short = [joint for joint in table.joints if joint.smallest_armature > joint.armature]
    if robot.margin:
        return short
    # no armature helps, not even of the joints that are in order
    return [joint for joint in short if joint.margin < 1.0] or short


def _remedies(joint: JointStability, robot: RobotStability, table: Stability) -> list[str]:
    """Return what stops a joint from vibrating."""
    step = min(robot.largest_step for robot in table.robots)
    armature = joint.smallest_armature
    return [
        *([f"raise the armature to {armature:.3g}"] if armature < math.inf else ()),
        *([f"step with dt <= {step:.3g} s"] if step else ()),
        *([f"use {IMPLICIT_REMEDY}"] if robot.implicit_helps else ()),
        _other_gains(joint, robot, table.dt),
    ]


def _other_gains(joint: JointStability, robot: RobotStability, dt: float) -> str:
    """Return the remedy that gains are."""
    if robot.margin:
        return f"multiply all gains by {robot.margin:.3g}, here to {lowered(joint, robot)}"
    least = least_damping(joint, robot, dt)
    return f"damp it with more than kd = {least:.3g}" if joint.kd <= least else "damp it"


def assumed_inertia_too_large(checked: Checked) -> Iterator[Remark]:
    """Friction that assumes more than twice the inertia of its joint, or an effort mode that assumes more than it.

    Both chatter where the simulator provides no inertia.
    """
    inertias = {} if checked.stability is None else {one.joint: one.inertia for one in checked.stability.joints}
    for joint, actuator in checked.actuated:
        inertia = inertias.get(joint.name, math.inf)
        modes = [stage for stage in actuator.stages if isinstance(stage, ImplicitConfig)]
        # friction of an implicit joint has the inertia of the effort mode
        for stage in modes or actuator.stages:
            implicit = bool(modes)
            one = AssumedInertia("", joint.name, getattr(stage, "assumed_inertia", 0.0), inertia, implicit)
            if one.is_too_large:
                law = "effort at the end of the step" if implicit else "friction"
                yield Remark(
                    actuator.path,
                    f"assumed_inertia = {one.assumed:.4g} is {one.assumed / inertia:.3g} times the inertia of joint "
                    f"{joint.name}, {inertia:.4g}: its {law} chatters on simulators that provide no inertia.",
                    one.remedy,
                )


def unresolved_spring(checked: Checked) -> Iterator[Remark]:
    """A spring of a transmission that oscillates so fast that the physics step damps it, and may make it softer."""
    for spring in () if checked.stability is None else checked.stability.springs:
        yield Remark(
            checked.robot.joint(spring.joint).path,
            f"the spring of joint {spring.joint}, {spring.stiffness:.4g}, has {spring.in_words}.",
            f"Step with dt <= {spring.largest_step:.3g} s, or use TransmissionConfig, a rigid gear.",
        )


def gains_against_inertia(checked: Checked) -> Iterator[Remark]:
    """A stiffness with which the joint would oscillate once a minute or a thousand times a second: units are wrong."""
    for joint in checked.stability.joints if checked.stability is not None else ():
        frequency = math.sqrt(joint.kp / joint.inertia) / (2 * math.pi)
        if joint.kp and not _SLOWEST <= frequency <= _FASTEST:
            soft = frequency < _SLOWEST
            yield Remark(
                checked.robot.joint(joint.joint).path,
                f"with kp = {joint.kp:.4g} and inertia {joint.inertia:.3g}, joint {joint.joint} swings at "
                f"{frequency:.3g} Hz.",
                f"Check the units of kp: {'per degree it is' if soft else 'per radian it is'} "
                f"{(math.degrees if soft else math.radians)(joint.kp):.4g}; and those of the masses.",
            )


def coarse_encoder(checked: Checked) -> Iterator[Remark]:
    """An encoder whose velocity jumps so far from one of its steps to the next that the derivative gain rattles."""
    for joint, actuator in checked.actuated:
        encoder = next((stage for stage in actuator.stages if isinstance(stage, EncoderConfig)), None)
        if encoder is None or checked.dt is None or (law := gains(actuator)) is None:
            continue
        rate = next((stage for stage in actuator.stages if isinstance(stage, RateConfig)), None)
        period = checked.dt if rate is None else rate.period(checked.dt)
        jump = law[1] * _velocity_step(encoder, transmission_of(actuator), period)
        friction = joint.value("friction") + breakaway(passive_stages(actuator))
        # a limit of 0 has a rule of its own
        most = largest_effort(actuator)
        if jump > max(friction, _RATTLES * most) and most:
            share = jump / most
            slower = (encoder.velocity_filter + period) * share / _RATTLES - period
            yield Remark(
                actuator.path,
                f"one step of the encoder of joint {joint.name} moves the effort by {jump:.3g} at dt = "
                f"{checked.dt:.4g} s, {share:.0%} of its limit: with kd = {law[1]:.4g} it rattles.",
                f"Filter the velocity, velocity_filter = {slower:.2g} s, or take a finer encoder or a smaller kd.",
            )


def _velocity_step(encoder: EncoderConfig, gear: TransmissionConfig | None, period: float) -> float:
    """Return by how much one step of an encoder moves the measured velocity of its joint [rad/s or m/s]."""
    # motors of a program have the number of a word
    described = parameters_of(EncoderConfig)
    velocity, side = (described[name].word(getattr(encoder, name)) for name in ("velocity", "side"))
    step = encoder.resolution / period if velocity == "difference" else encoder.velocity_resolution
    ratio = 1.0 if gear is None or side == "joint" else abs(gear.ratio)
    return step / ratio * period / (encoder.velocity_filter + period)
