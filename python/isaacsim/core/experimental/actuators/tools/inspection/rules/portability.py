"""Rules on files that newton and Isaac Sim read differently: they know newton's schemas, and one target of a prim."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePath

from ....files.usd.edits import PropertyEdit, SplitEdit, StandInEdit
from ....specs.configs import (
    Config,
    DCMotorClampingConfig,
    DelayConfig,
    EnvelopeClampingConfig,
    ForeignConfig,
    NeuralControlConfig,
)
from ....specs.engine_friction import is_friction, portable_levels
from ....specs.envelope import physx_limits
from ....specs.fields import parameters_of
from ....specs.stages import is_linked
from ....specs.stand_ins import stand_in_for, stand_ins
from ....specs.transmission import TransmissionConfig, armature
from ..described import InspectedActuator, InspectedJoint
from ..findings import Checked, Remark

# relative tolerance of equal numbers: files have single precision
_SAME = 1e-5


def several_targets(checked: Checked) -> Iterator[Remark]:
    """A prim drives several joints: this package drives all of them, others the first."""
    for actuator, joints in _prims(checked):
        if len(actuator.joints) < 2:
            continue
        first, *limp = actuator.joints
        edits = () if actuator.unsplit else (SplitEdit(actuator.path),)
        remedy = "Give each joint a prim of its own, as add_motors does."
        if actuator.unsplit:
            remedy = f"{remedy[:-1]}; it cannot be split in a layer over the file, for {actuator.unsplit}."
        yield Remark(
            actuator.path,
            f"drives {len(joints)} joints. newton and Isaac Sim drive the first, {first}, and leave {', '.join(limp)} "
            "limp.",
            remedy,
            edits,
        )


def no_stand_in(checked: Checked) -> Iterator[Remark]:
    """A law unknown to newton has no law of newton's beside it, or one with other numbers."""
    for actuator, _ in _prims(checked):
        for law, nearest, authored in _laws_of_ours(actuator):
            if nearest is None or (authored is not None and _alike(nearest, authored)):
                continue
            edits = checked.edits(actuator, [StandInEdit(actuator.path, actuator.as_listed)])
            if authored is None:
                does = "refuses the file" if law.KIND == "controller" else "leaves it out"
                problem = f"applies {law.SCHEMA}, which newton does not know: it {does}."
                remedy = f"Apply {nearest.SCHEMA} beside it, as add_motors does."
            else:
                problem = f"{nearest.SCHEMA} stands in for {law.SCHEMA}, and has other numbers than that comes to."
                remedy = f"Correct them to {_shown(nearest)}, or author the motor anew."
            yield Remark(actuator.path, problem, remedy, edits)


def approximated(checked: Checked) -> Iterator[Remark]:
    """A law unknown to newton, which others approximate by a law of newton's; nothing is wrong."""
    by_difference: dict[str, list[InspectedActuator]] = {}
    for actuator, joints in _prims(checked):
        for law, nearest, authored in _laws_of_ours(actuator):
            for does in _differences(joints, law, nearest, authored):
                by_difference.setdefault(does, []).append(actuator)
    for does, actuators in by_difference.items():
        joints = ", ".join(joint for actuator in actuators for joint in actuator.joints)
        yield Remark(
            actuators[0].path,
            f"at {joints}, newton and Isaac Sim {does}.",
            "Expect other efforts there.",
            severity="note",
        )


def _differences(
    joints: Sequence[InspectedJoint], law: Config, nearest: Config | None, authored: Config | None
) -> Iterator[str]:
    """Yield what others do in place of a law, by its nearest stand-in and the authored one."""
    line = stand_in_for(law)
    if nearest is not None and line is not None and authored is not None:
        yield f"go by {nearest.SCHEMA} instead of {law.SCHEMA}: they {line.otherwise}"
    if isinstance(law, EnvelopeClampingConfig) and physx_limits(law) is None:
        yield f"limit a drive of PhysX differently: its envelope cannot express this {law.SCHEMA}"
    # friction of the joints has a rule of its own
    if isinstance(law, TransmissionConfig):
        yield (
            f"go without {law.SCHEMA}, by newton's values, which are at the joint: they have neither losses of a gear "
            "nor targets of the motor"
        )
    elif nearest is None and not (is_friction(law) and all(map(has_friction, joints))):
        yield f"go without {law.SCHEMA}"


def friction_fallback(checked: Checked) -> Iterator[Remark]:
    """A friction stage replaces the friction of its joint, which other simulators have; both should be the same."""
    for actuator, joints in _prims(checked):
        for stage in filter(is_friction, actuator.stages):
            for joint in joints:
                if has_friction(joint):
                    yield _fallback(checked, actuator, joint, stage)


def unmarked_fallback(checked: Checked) -> Iterator[Remark]:
    """Values of joints are those that their motors write for other programs, and no mark says so.

    Files of version 0.9 and before have none. The values then count as those of the joint's author.
    """
    unmarked = [(joint, names) for actuator, joints in _prims(checked) for joint, names in _unmarked(actuator, joints)]
    if not unmarked:
        return
    values = "; ".join(f"{joint.name} ({' and '.join(names)})" for joint, names in unmarked)
    yield Remark(
        unmarked[0][0].path,
        "joints have values that their motors write for other programs, without a mark, as in files of version 0.9 "
        f"and before: {values}. They count as the joints' own, and stay when other motors replace these.",
        "Nothing to do if they are the joints' own; else remove them and author the motors again with add_motors.",
        severity="note",
    )


def _unmarked(
    actuator: InspectedActuator, joints: Iterable[InspectedJoint]
) -> Iterator[tuple[InspectedJoint, list[str]]]:
    """Iterate over joints without a mark that have values of their actuator, with the names of these."""
    rotor = None if is_linked(actuator) else armature(actuator)
    levels = [portable_levels(stage) for stage in actuator.stages if is_friction(stage)]
    for joint in joints:
        names = ["friction"] * any(_is_friction_of(joint, *level) for level in levels)
        names += ["armature"] if rotor and _near(joint.value("armature"), rotor) else []
        if names and not joint.is_marked:
            yield joint, names


def _is_friction_of(joint: InspectedJoint, coulomb: float, _static: float, damping: float) -> bool:
    """Return True if a joint has the friction of a stage, and any."""
    dry, viscous = joint.value("friction"), joint.value("viscous_friction")
    return has_friction(joint) and any((dry, viscous)) and _near(dry, coulomb) and _near(viscous, damping)


def has_friction(joint: InspectedJoint) -> bool:
    """Return True if a file has friction of a joint."""
    return any(joint.values[name].said for name in ("friction", "viscous_friction"))


def _fallback(checked: Checked, actuator: InspectedActuator, joint: InspectedJoint, stage: Config) -> Remark:
    dry, viscous = joint.value("friction"), joint.value("viscous_friction")
    coulomb, static, damping = portable_levels(stage)
    same = _near(viscous, damping) and (_near(dry, coulomb) or _near(dry, max(coulomb, static)))
    levels = {"static_frictions": coulomb, "dynamic_frictions": coulomb, "viscous_frictions": damping}
    off = (PropertyEdit(joint.path, joint.axis, name, float(value)) for name, value in levels.items())
    return Remark(
        joint.path,
        f"joint {joint.name} has newton:friction = {dry:g}, newton:damping = {viscous:g} (SI), and "
        f"{stage.SCHEMA} of <{actuator.path}> coulomb = {coulomb:g}, viscous = {damping:g}. The stage acts "
        "here, the joint's own in other simulators.",
        "Nothing to do." if same else "Give the joint those of the stage, as add_motors does.",
        () if same else checked.edits(actuator, off),
        severity="note" if same else "warning",
    )


def refused_elsewhere(checked: Checked) -> Iterator[Remark]:
    """A value that newton does not accept, so that it rejects the whole file."""
    for actuator, joints in _prims(checked):
        for problem, remedy in _refused(actuator):
            yield Remark(actuator.path, f"{problem}: newton refuses the file.", remedy)
        if axes := [joint.name for joint in joints if joint.axis not in ("angular", "linear")]:
            problem = f"drives {', '.join(axes)}, axes of a generic joint: newton refuses the file."
            remedy = "Nothing to do where newton is not meant; else make revolute joints of it."
            yield Remark(actuator.path, problem, remedy, severity="note")


def _refused(actuator: InspectedActuator) -> Iterator[tuple[str, str]]:
    if isinstance(actuator.delay, DelayConfig) and actuator.delay.delay_steps == 0:
        yield "has a delay of 0", "Remove NewtonActuatorDelayAPI, which means the same."
    law = actuator.controller
    if law is None:
        yield "has no control law, as passive joints do", "Leave the prim out of files for newton."
    if isinstance(law, NeuralControlConfig) and PurePath(law.model_path).suffix != ".onnx":
        yield (
            f"has the network {PurePath(law.model_path).name}, not an ONNX file",
            "Convert it with convert_checkpoint.",
        )
    for clamp in actuator.clamping:
        if type(clamp) is DCMotorClampingConfig and clamp.idle():
            yield "has a velocity limit and no stall effort", "Author the stall effort, or remove the velocity limit."


def _prims(checked: Checked) -> Iterator[tuple[InspectedActuator, list[InspectedJoint]]]:
    """Iterate over the actuators that are prims, with their joints."""
    for actuator, joints in checked.usable:
        if all(joint.driven_by == "actuator" for joint in joints):
            yield actuator, joints


def _laws_of_ours(actuator: InspectedActuator) -> Iterator[tuple[Config, Config | None, Config | None]]:
    """Iterate over laws unknown to newton, with the correct stand-in of each, and the authored one."""
    configs = actuator.stages
    nearest = stand_ins(configs)
    authored = {config.SCHEMA: config for config in actuator.stand_ins}
    for at, law in enumerate(configs):
        # newton's own have names of newton's; those of the host program are unknown
        ours = not (law.SCHEMA.startswith("Newton") or isinstance(law, ForeignConfig))
        if ours or stand_in_for(law) is not None:
            yield law, nearest.get(at), authored.get(nearest[at].SCHEMA) if at in nearest else None


def _near(first: float, second: float) -> bool:
    return math.isclose(first, second, rel_tol=_SAME, abs_tol=1e-9)


def _alike(first: Config, second: Config) -> bool:
    return all(_near(getattr(first, name), getattr(second, name)) for name in parameters_of(first))


def _shown(config: Config) -> str:
    return ", ".join(f"{one.attribute} = {getattr(config, name):g}" for name, one in parameters_of(config).items())
