"""`MjcActuator` prims of a stage, with or without MuJoCo's schemas in USD."""

from __future__ import annotations

from pxr import Sdf, Usd

from ..specs.dc_motors import INPUTS, DCMotor
from ..specs.linear_actuators import Bounds, Law, law_of
from .articulation import every_prim
from .authored import authored, authored_number, authored_numbers, targets

ACTUATOR, TENDON = "MjcActuator", "MjcTendon"


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
