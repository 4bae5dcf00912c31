"""`MjcActuator` prims of a stage, with or without MuJoCo's schemas in USD."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pxr import Sdf, Usd

from ...specs.dc_motors import INPUTS, DCMotor
from ...specs.linear_actuators import Bounds, Law, law_of, refused, target_ranges
from .articulation import axes_of, every_prim
from .authored import authored, authored_number, authored_numbers, targets

ACTUATOR, TENDON = "MjcActuator", "MjcTendon"


@dataclass(frozen=True)
class Drive:
    """The joint drive that does what actuators of a joint do, in SI."""

    stiffness: float
    damping: float
    effort: float
    """Constant effort."""
    limit: float
    armature: float
    """Armature of the actuators, in addition to that of the joint."""
    position_range: Bounds
    velocity_range: Bounds


def mjc_prims(stage: Usd.Stage) -> tuple[list[Usd.Prim], list[Usd.Prim]]:
    """The actuators and the tendons of MuJoCo."""
    found: dict[str, list[Usd.Prim]] = {ACTUATOR: [], TENDON: []}
    for prim in every_prim(stage.GetPseudoRoot()):
        if (kind := prim.GetTypeName()) in found:
            found[kind].append(prim)
    return found[ACTUATOR], found[TENDON]


def joint_of(actuator: Usd.Prim) -> Sdf.Path | None:
    """The target of an actuator, a joint or another prim; None for none."""
    return next(iter(targets(actuator, "mjc:target")), None)


def acting_on(stage: Usd.Stage) -> tuple[dict[str, list[Usd.Prim]], list[str]]:
    """Actuators by the path of their joint, and problems of those without a joint of one axis."""
    acting: dict[str, list[Usd.Prim]] = {}
    problems: list[str] = []
    for prim in mjc_prims(stage)[0]:
        path = joint_of(prim)
        if path is not None and len(axes_of(stage.GetPrimAtPath(path))) == 1:
            acting.setdefault(str(path), []).append(prim)
        else:
            problems.append(f"<{prim.GetPath()}> (acts on {f'<{path}>' if path else 'nothing'}: no joint of one axis)")
    return acting, problems


def drives_of(
    actuators: Mapping[Sdf.Path, Sequence[Usd.Prim]], names: Mapping[Sdf.Path, str]
) -> tuple[dict[Sdf.Path, Drive], list[tuple[Usd.Prim, str]]]:
    """Return the drives that actuators are, by joint, and the actuators that no drive stands for, with reasons.

    Those of one joint are one drive, as in MJCF: gains and constant efforts add up.

    Args:
        actuators: By the joint on which they act, which has one axis and no other drive.
        names: Of the joints, for messages.
    """
    drives: dict[Sdf.Path, Drive] = {}
    others: list[tuple[Usd.Prim, str]] = []
    for joint, acting in actuators.items():
        laws = {prim: law_of_prim(prim) for prim in acting}
        linear = {prim: law for prim, law in laws.items() if isinstance(law, Law)}
        if wrong := refused(laws, names[joint]) or _constants_alone(linear):
            others += wrong
        else:
            drives[joint] = _drive(linear)
    return drives, others


def _constants_alone(laws: Mapping[Usd.Prim, Law]) -> list[tuple[Usd.Prim, str]]:
    """Actuators of one joint with a constant effort that no drive has, for it would be without gains."""
    if any(law.kp or law.kd for law in laws.values()):
        return []
    return [(prim, "it pushes with a constant alone") for prim, law in laws.items() if law.const_effort]


def _drive(laws: Mapping[Usd.Prim, Law]) -> Drive:
    own = list(laws.values())
    stiffness, damping, effort = (sum(getattr(law, name) for law in own) for name in ("kp", "kd", "const_effort"))
    limit = min(max(map(abs, law.bounds)) for law in own)
    return Drive(stiffness, damping, effort, limit, sum(map(armature_of, laws)), *target_ranges(own))


def law_of_prim(actuator: Usd.Prim) -> Law | str:
    """An actuator as a law of its joint, or the reason why it is none."""
    if (motor := dc_motor_of_prim(actuator)) is not None and motor.problem:
        return motor.problem
    kinds = [str(authored(actuator, f"mjc:{name}Type", "none")) for name in ("dyn", "bias")]
    gain = [*authored_numbers(actuator, "mjc:gainPrm", (1.0,)), 0.0, 0.0, 0.0]
    bias = [*authored_numbers(actuator, "mjc:biasPrm", ()), 0.0, 0.0, 0.0] if kinds[1] == "affine" else [0.0] * 3
    known = kinds[0] == "none" and kinds[1] in ("none", "affine")
    if not known or str(authored(actuator, "mjc:gainType", "fixed")) not in ("fixed", "affine") or any(gain[1:3]):
        return "its force is more than a constant times its control, its position and its velocity"
    return law_of(gear_of(actuator), gain[0], bias[:3], bounds(actuator, "force"), bounds(actuator, "ctrl"))


def dc_motor_of_prim(actuator: Usd.Prim) -> DCMotor | None:
    """A DC motor in the packing of MuJoCo 4.0; None for other actuators.

    Prims have no kind of control: one with gains is commanded by targets, others by a voltage.
    """
    if str(authored(actuator, "mjc:gainType", "fixed")) != "dcmotor":
        return None
    dynamics, gain, bias = (authored_numbers(actuator, f"mjc:{name}Prm", ()) for name in ("dyn", "gain", "bias"))
    inputs = INPUTS["pos"] | INPUTS["vel"] if any(gain[4:7]) else INPUTS["voltage"]
    forces, controls = bounds(actuator, "force"), bounds(actuator, "ctrl")
    return DCMotor(dynamics, gain, bias, inputs, gear_of(actuator), forces, controls)


def gear_of(actuator: Usd.Prim) -> float:
    """Transmission of an actuator on a joint of one axis."""
    return [*authored_numbers(actuator, "mjc:gear", ()), 1.0][0]


def armature_of(actuator: Usd.Prim) -> float:
    """Armature that an actuator adds to its joint."""
    return authored_number(actuator, "mjc:armature", 0.0) * gear_of(actuator) ** 2


def bounds(prim: Usd.Prim, of: str, ends: tuple[str, str] = ("Range", "Limited")) -> Bounds | None:
    """A range of MuJoCo, such as that of the control (`of`); None if it is not active."""
    low, high = (authored_number(prim, f"mjc:{of}{ends[0]}:{side}", 0.0) for side in ("min", "max"))
    is_limited = str(authored(prim, f"mjc:{of}{ends[1]}", "auto")) != "false"
    return (low, high) if low < high and is_limited else None


def joint_bounds(joint: Usd.Prim) -> Bounds | None:
    """Bounds of the total actuator force on a joint; None for none."""
    return bounds(joint, "actuatorfrc", ("range", "limited"))
