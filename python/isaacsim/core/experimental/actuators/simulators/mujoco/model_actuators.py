"""The actuators that a MuJoCo model has of its own, read as motors; see `specs.linear_actuators`.

A DC motor of torque constant `K` and resistance `R` alone has `gain = K/R` and `b2 = −K²/R`; for others see
`specs.dc_motors`.
Source: MuJoCo XML reference, actuator/dcmotor.

Actuators on fixed tendons, whose lengths are sums of joint positions, are motors that move several joints together.
Those that share joints make a linkage. One tendon over two joints, as in fingers, leaves a motion of them free.
"""

# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

import dataclasses
import itertools
import math
import warnings
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...specs.arguments import require_type
from ...specs.configs import CommandLagConfig, DelayConfig, PIDControlConfig, SlewedPIDControlConfig
from ...specs.dc_motors import INPUTS, DCMotor, imported
from ...specs.effort_modes import damped_at_end
from ...specs.linear_actuators import Law, law_of, motor_of, ranges_without_motor, refused
from ...specs.linkage import MOST_JOINTS, LinkageConfig, led_by_tendon
from ...specs.motors import MotorConfig
from ...specs.patterns import pattern_of
from .address import element_name, mujoco, parts_of_tendon

_KINDS = {"mjTRN_TENDON": "a tendon", "mjTRN_SITE": "a site", "mjTRN_BODY": "a body", "mjTRN_SLIDERCRANK": "a crank"}
_AFFINE_GAINS, _AFFINE_BIASES = ("mjGAIN_FIXED", "mjGAIN_AFFINE", "mjGAIN_PID"), ("mjBIAS_NONE", "mjBIAS_AFFINE")
_ON_JOINTS = ("mjTRN_JOINT", "mjTRN_JOINTINPARENT")


def motors_of_model(model: mujoco.MjModel) -> dict[str, MotorConfig]:
    """Return what the model's own actuators do as motors, by joint, for `ArticulationActuators.from_configs`.

    Position, velocity, motor, general, PID and DC-motor actuators on hinges and slides, gear included; the limits are
    those of forces, of the joint, and of controls that set efforts. With the position or velocity target `u / gear`, or
    the feedforward effort that the control stood for, a motor computes what its actuator did, once a step: as MuJoCo
    does it with its Euler integrator. Implicit integrators know the damping of the model's actuators: where the model
    has one, motors with damping have an `ImplicitConfig`, an effort for the end of the step.
    Actuators on fixed tendons are motors with a `LinkageConfig`, which takes targets of the joints.

    Args:
        model: The model; it is not changed.

    Returns:
        A motor by joint name, which is a pattern too. Armature and friction are those of the joint.

    Warns:
        UserWarning: Actuators that no motor stands for, by name, with the reason; their joints are left out, and these
            actuators go on acting. Or actuators whose range of position targets motors do not have, by name; or motors
            that are explicit in a model with an implicit integrator.
    """
    motors, warned = read_motors(model)
    warn_of(warned, stacklevel=3)
    return motors


def warn_of(warned: Sequence[str], stacklevel: int) -> None:
    """Tell of what motors of a model do not do that its actuators did."""
    for what in warned:
        warnings.warn(what, stacklevel=stacklevel)


def read_motors(model: mujoco.MjModel, *, in_engine: bool = False) -> tuple[dict[str, MotorConfig], list[str]]:
    """Motors and their losses, see `motors_of_model`; `in_engine` if the simulator takes over slopes of efforts."""
    dc_motors, lost = dc_motors_by_joint(model)
    pid_motors, ranges = pid_motors_by_joint(model)
    lagged, own_ranges, own_lost = lagged_motors_by_joint(model)
    ranges += own_ranges
    lost += own_lost
    alone = dc_motors | pid_motors | lagged
    coupled, reasons, held = coupled_motors(model)
    ranges += held
    laws_of, problems = laws_by_joint(model, alone, reasons)
    motors: dict[str, MotorConfig] = {_pattern(model, joint): one for joint, one in (alone | coupled).items()}
    for joint, laws in laws_of.items():
        if wrong := _not_a_motor(model, joint, laws):
            problems += with_names(model, wrong)
        else:
            motors.update([motor_of_joint(model, joint, list(laws.values()))])
            by_name = {repr(element_name(model, "actuator", actuator)): law for actuator, law in laws.items()}
            ranges += ranges_without_motor(by_name)
    warned = []
    if problems:
        warned.append(
            f"actuators of the model that no motor stands for: {', '.join(problems)}. They go on acting; take them out "
            "of the model, or write the motors of their joints by hand."
        )
    if lost:
        warned.append(
            f"actuators of the model have what motors have not: {', '.join(lost)}. Compare both where that matters."
        )
    if ranges:
        warned.append(
            f"actuators of the model hold position targets within their ctrlrange, which motors do not: "
            f"{', '.join(ranges)}, in rad or m. Keep the targets of their joints within it."
        )
    if model.opt.integrator in (mujoco.mjtIntegrator.mjINT_IMPLICIT, mujoco.mjtIntegrator.mjINT_IMPLICITFAST):
        motors, stay = damped_at_end(motors, in_engine=in_engine)
        warned += stay
    return motors, warned


def _not_a_motor(model: mujoco.MjModel, joint: int, laws: Mapping[int, Law]) -> list[tuple[int, str]]:
    """Actuators that keep a joint from having a motor, with the reasons."""
    wrong = [(actuator, why) for actuator, law in laws.items() if (why := law.asymmetry)]
    if not wrong and (why := _joint_limit_problem(model, joint)):
        return [(next(iter(laws)), why)]
    return wrong


def with_names(model: mujoco.MjModel, reasons: Iterable[tuple[int, str]]) -> list[str]:
    """Return reasons by actuator as text with the names of the actuators."""
    return [f"{element_name(model, 'actuator', actuator)!r} ({why})" for actuator, why in reasons]


def motor_of_joint(model: mujoco.MjModel, joint: int, laws: Sequence[Law]) -> tuple[str, MotorConfig]:
    """The pattern and the motor of a joint with actuators that have symmetric bounds; none of them is a motor too."""
    return _pattern(model, joint), motor_of(laws, _limit_of(model, joint), _properties_of(model, joint))


def _pattern(model: mujoco.MjModel, joint: int) -> str:
    """The pattern that matches the name of a joint."""
    return pattern_of(element_name(model, "joint", joint))


def _limit_of(model: mujoco.MjModel, joint: int) -> float:
    """Effort limit of a joint; inf for none."""
    return float(model.jnt_actfrcrange[joint, 1]) if model.jnt_actfrclimited[joint] else math.inf


def _properties_of(model: mujoco.MjModel, joint: int) -> dict[str, float | None]:
    """Armature, friction and viscous friction of a joint, by the fields of `MotorConfig`."""
    dof = int(model.jnt_dofadr[joint])
    columns = {"armature": "dof_armature", "friction": "dof_frictionloss", "viscous_friction": "dof_damping"}
    # newer versions may have polynomials, which begin with the damping
    return {name: float(np.ravel(getattr(model, column)[dof])[0]) for name, column in columns.items()}


def coupled_motors(model: mujoco.MjModel) -> tuple[dict[int, MotorConfig], dict[int, str], list[str]]:
    """Motors of linkages, why actuators on tendons are none, empty for a motor, and ranges of targets not in motors."""
    found, reasons = tendon_motors(model, actuators_by_joint(model))
    motors: dict[int, MotorConfig] = {}
    ranges: list[str] = []
    for joints in dict.fromkeys(one.joints for one in found):
        mine = [one for one in found if one.joints == joints]
        laws = [_linear(model, one.actuator) for one in mine]
        why = _limits_problem(model, joints, laws)
        reasons |= {one.actuator: why for one in mine}
        for one, law in zip(mine, laws, strict=True):
            if not why and isinstance(law, Law):
                motor = motor_of([law], math.inf, _properties_of(model, one.joint))
                motors[one.joint] = dataclasses.replace(motor, others=[*motor.others, one.shaft(model)])
                ranges += ranges_without_motor({repr(element_name(model, "actuator", one.actuator)): law})
    return motors, reasons, ranges


def _limits_problem(model: mujoco.MjModel, joints: Iterable[int], laws: Iterable[Law | str]) -> str:
    """Why motors of a linkage with these laws, or reasons, have no limits of their own; empty if they have."""
    whys = [law if isinstance(law, str) else law.asymmetry for law in laws]
    # limits of joints bound the sum of both motors
    whys += ["a joint of its tendon has a limit on its actuators" for one in joints if model.jnt_actfrclimited[one]]
    return next(filter(None, whys), "")


def own_actuators(model: mujoco.MjModel) -> dict[int, list[int]]:
    """The model's actuators that a motor of a joint replaces, by joint."""
    found = actuators_by_joint(model)
    for one in tendon_motors(model, found)[0]:
        found.setdefault(one.joint, []).append(one.actuator)
    return found


def dc_motors_by_joint(model: mujoco.MjModel) -> tuple[dict[int, MotorConfig], list[str]]:
    """Motors of the joints whose one actuator is a DC motor; and what they have not, by name."""
    motors: dict[int, MotorConfig] = {}
    lost: list[str] = []
    for joint, actuators in actuators_by_joint(model).items():
        actuator = _dc_motor(model, actuators[0]) if len(actuators) == 1 else None
        if actuator is None or actuator.problem or _joint_limit_problem(model, joint):
            continue
        found = imported(actuator, _properties_of(model, joint), _limit_of(model, joint))
        motors[joint] = found.motor
        lost += with_names(model, ((actuators[0], why) for why in found.lost))
    return motors, lost


def pid_motors_by_joint(model: mujoco.MjModel) -> tuple[dict[int, MotorConfig], list[str]]:
    """Motors of joints whose one actuator is a PID with an integral or a slew rate, and ranges of targets not in them.

    Integral, its limit and slew rate of the joint's error are those of the motor's over the gear.
    """
    motors: dict[int, MotorConfig] = {}
    ranges: list[str] = []
    for joint, actuator, law in _alone(model, _PID):
        _, motor = motor_of_joint(model, joint, [law])
        gear = gear_of(model, actuator)
        most, slew = model.actuator_dynprm[actuator, :2].tolist()
        ki = float(model.actuator_gainprm[actuator, 0]) * gear**2
        bound = most / abs(gear) if ki and most else math.inf
        if slew:
            motor.controller = SlewedPIDControlConfig(
                *(law.kp, ki, law.kd, slew / abs(gear), bound), const_effort=law.const_effort
            )
        elif ki:
            motor.controller = PIDControlConfig(law.kp, ki, law.kd, bound, law.const_effort)
        motors[joint] = motor
        ranges += ranges_without_motor({repr(element_name(model, "actuator", actuator)): law})
    return motors, ranges


def lagged_motors_by_joint(model: mujoco.MjModel) -> tuple[dict[int, MotorConfig], list[str], list[str]]:
    """Motors of joints whose one actuator has a filter of first order, ranges of targets, and what else they have not.

    MuJoCo's activation follows the control, of which targets and feedforward are linear functions: it is a lag of the
    commands. Without `actearly` it acts a step later.
    """
    motors: dict[int, MotorConfig] = {}
    ranges: list[str] = []
    lost: list[str] = []
    for joint, actuator, law in _alone(model, ("mjDYN_FILTER", "mjDYN_FILTEREXACT"), filtered=True):
        name = repr(element_name(model, "actuator", actuator))
        _, motor = motor_of_joint(model, joint, [law])
        delay = None if model.actuator_actearly[actuator] else DelayConfig(1)
        lag = CommandLagConfig(float(model.actuator_dynprm[actuator, 0]))
        motors[joint] = dataclasses.replace(motor, delay=delay, others=[*motor.others, lag])
        ranges += ranges_without_motor({name: law})
        if model.actuator_actlimited[actuator]:
            lost.append(f"{name} (actrange, bounds of its activation)")
        elif _controls_of(model, actuator) and not (law.kp or law.kd):
            lost.append(f"{name} (ctrlrange before its filter: its motor has it behind)")
    return motors, ranges, lost


# dynamics of a PID with an integral or a slew rate; those without are linear laws
_PID = ("mjDYN_PID",)


def _alone(model: mujoco.MjModel, kinds: Collection[str], *, filtered: bool = False) -> Iterator[tuple[int, int, Law]]:
    """Yield the joints whose one actuator is a motor with such dynamics, with the actuator and its law, see `_law`."""
    for joint, (actuator, *more) in actuators_by_joint(model).items():
        kind = mujoco.mjtDyn(model.actuator_dyntype[actuator]).name
        if more or kind not in kinds or not gear_of(model, actuator):
            continue
        law = _law(model, actuator, filtered=filtered)
        if not (isinstance(law, str) or _not_a_motor(model, joint, {actuator: law})):
            yield joint, actuator, law


def _dc_motor(model: mujoco.MjModel, actuator: int) -> DCMotor | None:
    """A DC motor of the packing of MuJoCo 4.0, or None."""
    # versions without names for inputs have other numbers there
    inputs = model.actuator_ctrlspec if hasattr(mujoco, "mjtCtrlInput") else None
    is_dc = mujoco.mjtGain(model.actuator_gaintype[actuator]).name == "mjGAIN_DCMOTOR"
    if not is_dc or model.actuator_plugin[actuator] >= 0 or _delay_of(model, actuator):
        return None
    numbers = [getattr(model, f"actuator_{name}prm")[actuator] for name in ("dyn", "gain", "bias")]
    if inputs is None:
        # older versions pack what is more than motor constant and resistance otherwise
        if isinstance(_law(model, actuator), str):
            return None
        numbers = [(), numbers[1][:2], ()]
    return DCMotor(
        *numbers,
        inputs=INPUTS["voltage"] if inputs is None else int(inputs[actuator]),
        gear=gear_of(model, actuator),
        forces=_forces_of(model, actuator),
        controls=_controls_of(model, actuator),
    )


def _forces_of(model: mujoco.MjModel, actuator: int) -> tuple[float, float] | None:
    """Bounds of the force of an actuator, or None."""
    return tuple(model.actuator_forcerange[actuator].tolist()) if model.actuator_forcelimited[actuator] else None


def _controls_of(model: mujoco.MjModel, actuator: int) -> tuple[float, float] | None:
    """Bounds of the first control of an actuator, or None."""
    control = first_control(model, actuator)
    if control is None or not model.actuator_ctrllimited[control]:
        return None
    return tuple(model.actuator_ctrlrange[control].tolist())


def laws_by_joint(
    model: mujoco.MjModel, without: Collection[int] = (), reasons: Mapping[int, str] | None = None
) -> tuple[dict[int, dict[int, Law]], list[str]]:
    """The laws of the actuators on each axis not in `without`, all or none; and every other actuator, with its reason.

    `reasons` are of actuators elsewhere, empty for those that are motors.
    """
    laws_of: dict[int, dict[int, Law]] = {}
    by_joint = actuators_by_joint(model)
    problems = _elsewhere(model, by_joint, reasons or {})
    for joint, actuators in sorted(by_joint.items()):
        if joint in without:
            continue
        read = {actuator: _linear(model, actuator) for actuator in actuators}
        if wrong := refused(read, element_name(model, "joint", joint)):
            problems += with_names(model, wrong)
        else:
            laws_of[joint] = {actuator: law for actuator, law in read.items() if isinstance(law, Law)}
    return laws_of, problems


def _elsewhere(model: mujoco.MjModel, by_joint: Mapping[int, Sequence[int]], reasons: Mapping[int, str]) -> list[str]:
    """Every actuator that is on no hinge or slide, with the reason; without those of empty `reasons`."""
    covered = {actuator for found in by_joint.values() for actuator in found}
    elsewhere = sorted(set(range(len(model.actuator_group))) - covered)
    why = {actuator: _target(model, actuator) for actuator in elsewhere} | dict(reasons)
    return with_names(model, ((actuator, why[actuator]) for actuator in elsewhere if why[actuator]))


def actuators_by_joint(model: mujoco.MjModel) -> dict[int, list[int]]:
    """The model's actuators on each hinge or slide, of whatever kind."""
    require_type("model", model, mujoco.MjModel, "an MjModel")
    found: dict[int, list[int]] = {}
    single = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))
    for actuator, kind in enumerate(model.actuator_trntype):
        joint = int(model.actuator_trnid[actuator, 0])
        if mujoco.mjtTrn(kind).name in _ON_JOINTS and model.jnt_type[joint] in single:
            found.setdefault(joint, []).append(actuator)
    return found


def drives_by_joint(model: mujoco.MjModel) -> dict[int, tuple[float, float, float]]:
    """Stiffness, damping and constant effort of the actuators on each joint, of those that have them."""
    found = {}
    for joint, actuators in actuators_by_joint(model).items():
        laws = [law for one in actuators if isinstance(law := _linear(model, one), Law)]
        found[joint] = sum(law.kp for law in laws), sum(law.kd for law in laws), sum(law.const_effort for law in laws)
    return found


def _linear(model: mujoco.MjModel, actuator: int) -> Law | str:
    """An actuator as a law of its joint, or the reason why it is none."""
    if (motor := _dc_motor(model, actuator)) is not None and motor.problem:
        return motor.problem
    law = _law(model, actuator)
    if isinstance(law, Law) and mujoco.mjtDyn(model.actuator_dyntype[actuator]).name in _PID:
        return law.asymmetry or "a PID with an integral or a slew rate"
    return law


def _law(model: mujoco.MjModel, actuator: int, *, filtered: bool = False) -> Law | str:
    """The linear part of an actuator, or why it has none; with `filtered`, a first-order filter counts as none."""
    if why := _state_problem(model, actuator, filtered=filtered):
        return why
    force = _affine_force(model, actuator)
    if isinstance(force, str):
        return force
    return law_of(gear_of(model, actuator), *force, _forces_of(model, actuator), _controls_of(model, actuator))


def _affine_force(model: mujoco.MjModel, actuator: int) -> tuple[float, tuple[float, float, float]] | str:
    """Gain and (b0, b1, b2) of a force `gain·u + b0 + b1·q + b2·q̇`, or why it is of another form."""
    gain_type = mujoco.mjtGain(model.actuator_gaintype[actuator]).name
    bias_type = mujoco.mjtBias(model.actuator_biastype[actuator]).name
    gain, bias = model.actuator_gainprm[actuator], model.actuator_biasprm[actuator]
    if gain_type == "mjGAIN_DCMOTOR":
        return _dc_force(model, actuator)
    if gain_type not in _AFFINE_GAINS or bias_type not in _AFFINE_BIASES:
        return f"its force is of kind {gain_type.removeprefix('mjGAIN_').lower()}"
    if gain_type == "mjGAIN_AFFINE" and gain[1:3].any():
        return "its gain depends on position or velocity"
    b0, b1, b2 = bias[:3] if bias_type == "mjBIAS_AFFINE" else np.zeros(3)
    if gain_type == "mjGAIN_PID":
        if b1 and not int(model.actuator_ctrlspec[actuator]) & INPUTS["pos"]:
            return "a PID whose position setpoint is fixed at 0"
        # its first control is the position setpoint, and its gain that of the integral
        return float(-b1), (b0, b1, b2)
    return float(gain[0]), (b0, b1, b2)


def _dc_force(model: mujoco.MjModel, actuator: int) -> tuple[float, tuple[float, float, float]] | str:
    """As `_affine_force`, of a DC motor."""
    gain, bias = model.actuator_gainprm[actuator], model.actuator_biasprm[actuator]
    inputs = getattr(mujoco, "mjtCtrlInput", None)
    # older versions encode it in the gain parameters, 0 for voltage
    takes_voltage = inputs is None or model.actuator_ctrlspec[actuator] == int(inputs.mjINPUT_VOLTAGE)
    if gain[2:].any() or bias.any() or not takes_voltage:
        return "a DC motor with more than motor constant and resistance"
    resistance, constant = gain[:2]
    return float(constant / resistance), (0.0, 0.0, -(constant**2) / resistance)


def _joint_limit_problem(model: mujoco.MjModel, joint: int) -> str:
    """Why the limit of a joint on its actuators is no motor limit; empty if it is."""
    if not model.jnt_actfrclimited[joint]:
        return ""
    low, high = model.jnt_actfrcrange[joint]
    if low != -high:
        return f"the actuatorfrcrange {low:g} … {high:g} of its joint is not symmetric"
    return "its joint limits actuators and gravity compensation as one" if model.jnt_actgravcomp[joint] else ""


def _state_problem(model: mujoco.MjModel, actuator: int, *, filtered: bool) -> str:
    """State that an actuator carries from step to step; empty if none, or if it is that of a filter that counts."""
    dynamics = mujoco.mjtDyn(model.actuator_dyntype[actuator]).name
    if model.actuator_plugin[actuator] >= 0:
        return "a plugin"
    if filtered and model.actuator_actnum[actuator] == 1 and not _delay_of(model, actuator):
        return ""
    is_other = dynamics not in ("mjDYN_NONE", "mjDYN_DCMOTOR", "mjDYN_PID")
    if is_other or (model.actuator_actnum[actuator] and dynamics != "mjDYN_PID"):
        return f"activation dynamics of kind {dynamics.removeprefix('mjDYN_').lower()}"
    delay = _delay_of(model, actuator)
    return f"a delay of {delay:g} s" if delay else ""


def _delay_of(model: mujoco.MjModel, actuator: int) -> float:
    """Delay of an actuator [s]; older versions have none."""
    delays = getattr(model, "actuator_delay", None)
    return 0.0 if delays is None else float(delays[actuator])


def gear_of(model: mujoco.MjModel, actuator: int) -> float:
    """Transmission of an actuator on a hinge or slide."""
    # newer versions have actuators with several outputs, and gears by output
    outputs = getattr(model, "actuator_outadr", None)
    return float(model.actuator_gear[actuator if outputs is None else outputs[actuator], 0])


def first_control(model: mujoco.MjModel, actuator: int) -> int | None:
    """Index of an actuator's first control; newer versions have actuators with several, or none."""
    places = getattr(model, "actuator_ctrladr", None)
    if places is None:
        return actuator
    return int(places[actuator]) if model.actuator_ctrlnum[actuator] else None


def _target(model: mujoco.MjModel, actuator: int) -> str:
    """Target of an actuator that is no hinge or slide, in words."""
    kind = mujoco.mjtTrn(model.actuator_trntype[actuator]).name
    if kind in _ON_JOINTS:
        joint = int(model.actuator_trnid[actuator, 0])
        ball = model.jnt_type[joint] == int(mujoco.mjtJoint.mjJNT_BALL)
        return f"acts on the {'ball' if ball else 'free'} joint {element_name(model, 'joint', joint)!r}"
    return f"acts on {_KINDS.get(kind, kind)}"


def other_actuators(spec: mujoco.MjSpec) -> dict[str, str]:
    """Names of actuators that are left in a file, by the joint or else the thing they act on."""
    return {actuator.target: actuator.name or actuator.target for actuator in spec.actuators}


def followers(spec: mujoco.MjSpec, driven: Collection[str] = ()) -> set[str]:
    """Names of joints that an equality, or a tendon with a motor at or on it, ties to others; `driven` have motors."""
    acting, tied = defaultdict[str, set[str]](set), defaultdict[str, list[tuple[str, str]]](list)
    for one in spec.actuators:
        acting[mujoco.mjtTrn(one.trntype).name].add(one.target)
    for one in filter(lambda one: one.active, spec.equalities):
        tied[mujoco.mjtEq(one.type).name].append((one.name1, one.name2))
    on_joints = {*driven}.union(*map(acting.__getitem__, _ON_JOINTS))
    holding = {*itertools.chain(*tied["mjEQ_TENDON"])}
    found = {follower for follower, _ in tied["mjEQ_JOINT"]}
    for one in spec.tendons:
        joints = {part.target.name for part in one.path if part.type == mujoco.mjtWrap.mjWRAP_JOINT}
        holds = one.name in holding or np.ravel(one.stiffness)[0] > 0.0 or bool(np.any(one.range))
        found |= led_by_tendon(joints, on_joints, one.name in acting["mjTRN_TENDON"], holds)
    return found


def followers_of_model(model: mujoco.MjModel, driven: Collection[str] = ()) -> set[str]:
    """Names of joints that an equality, or a tendon with a motor at or on it, ties to others; `driven` have motors."""
    active = model.eq_active0 != 0
    with_motor = (joint for joint in range(model.njnt) if element_name(model, "joint", joint) in driven)
    on_joints, kinds = {*actuators_by_joint(model), *with_motor}, np.array(model.actuator_trntype)
    acting = model.actuator_trnid[kinds == int(mujoco.mjtTrn.mjTRN_TENDON), 0]
    tied = active & (model.eq_type == int(mujoco.mjtEq.mjEQ_TENDON))
    holding = {*model.eq_obj1id[tied], *model.eq_obj2id[tied]}
    found = {*model.eq_obj1id[active & (model.eq_type == int(mujoco.mjtEq.mjEQ_JOINT))]}
    for tendon in range(model.ntendon):
        holds = tendon in holding or np.ravel(model.tendon_stiffness[tendon])[0] > 0.0
        holds |= bool(model.tendon_limited[tendon])
        found |= led_by_tendon({*parts_of_tendon(model, tendon)}, on_joints, tendon in acting, holds)
    return {element_name(model, "joint", joint) for joint in found}


@dataclass(frozen=True)
class TendonMotor:
    """The motor at one joint of a linkage, with the lengths of its tendon per position of each of its joints."""

    actuator: int
    joint: int
    joints: tuple[int, ...]
    coefficients: tuple[float, ...] = ()
    table: LinkageConfig | None = None

    def shaft(self, model: mujoco.MjModel) -> LinkageConfig:
        """The length of the tendon as a function of the joints."""
        return self.table or LinkageConfig(
            [element_name(model, "joint", joint) for joint in self.joints], list(self.coefficients)
        )


def tendon_motors(model: mujoco.MjModel, driven: Collection[int]) -> tuple[list[TendonMotor], dict[int, str]]:
    """Motors of linkages, and why other actuators on tendons are none; `driven` joints have actuators themselves."""
    tendons = np.flatnonzero(np.array(model.actuator_trntype) == int(mujoco.mjtTrn.mjTRN_TENDON)).tolist()
    coefficients = (parts_of_tendon(model, int(model.actuator_trnid[actuator, 0])) for actuator in tendons)
    parts = {actuator: own for actuator, own in zip(tendons, coefficients, strict=True) if own}
    motors, problems = _spatial_motors(
        model, [one for one in tendons if one not in parts], {*driven}.union(*parts.values())
    )
    for group, joints in _groups(parts):
        matrix = np.array([[parts[actuator].get(joint, 0.0) for joint in joints] for actuator in group])
        if why := _problem(joints, matrix, driven):
            problems |= dict.fromkeys(group, why)
            continue
        motors += [
            TendonMotor(actuator, joints[column], joints, tuple(matrix[row].tolist()))
            for row, (actuator, column) in enumerate(zip(group, _columns(matrix), strict=True))
        ]
    return motors, problems


def _columns(matrix: np.ndarray) -> tuple[int, ...]:
    """The column of the joint of each motor, which its tendon, a row, moves much."""
    share, rows = np.abs(matrix) / np.abs(matrix).max(axis=1, keepdims=True), range(len(matrix))
    return max(
        itertools.permutations(range(matrix.shape[1]), len(matrix)), key=lambda columns: share[rows, columns].min()
    )


def _spatial_motors(
    model: mujoco.MjModel, actuators: Sequence[int], driven: Collection[int]
) -> tuple[list[TendonMotor], dict[int, str]]:
    """The motors on spatial tendons that are tables over their joints, and why others are none."""
    tendons = {actuator: int(model.actuator_trnid[actuator, 0]) for actuator in actuators}
    moved = _moved(model, tendons)
    motors: list[TendonMotor] = []
    problems: dict[int, str] = {}
    for group, joints in _groups(moved):
        why = _no_table(model, joints, len(group), driven)
        found = [] if why else _tables(model, [tendons[actuator] for actuator in group], joints)
        motors += [
            TendonMotor(actuator, joint, joints, table=table)
            for actuator, (joint, table) in zip(group, found, strict=bool(found))
        ]
        if not found:
            count = f"a group of {len(joints)} joints with {len(group)} such actuators"
            why = f"acts on a spatial tendon, of {count}{why or ', which has no moment arm somewhere'}"
            problems |= dict.fromkeys(group, why)
    return motors, problems


def _no_table(model: mujoco.MjModel, joints: Sequence[int], motors: int, driven: Collection[int]) -> str:
    """Why motors over joints are no table; empty if they may be one."""
    if len(joints) > 2 or motors != len(joints):
        return ": a table is over one or two joints, with as many"
    bounded = all(joint not in driven and model.jnt_limited[joint] for joint in joints)
    return "" if bounded else ", which have others, no range, or more axes than one"


def _moved(model: mujoco.MjModel, tendons: Mapping[int, int]) -> dict[int, dict[int, float]]:
    """The hinges and slides that change the length of the tendon of each actuator, by number; none without any."""
    data, rng = mujoco.MjData(model), np.random.default_rng(0)
    single = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))
    axes = np.flatnonzero(np.isin(model.jnt_type, single)).tolist()
    places, limited = model.jnt_qposadr[axes], model.jnt_limited[axes, None] != 0
    ranges = np.where(limited, model.jnt_range[axes], (-1.0, 1.0))
    found: dict[int, dict[int, float]] = {}
    for _ in range(_POSES if tendons else 0):
        data.qpos[places] = rng.uniform(*ranges.T)
        mujoco.mj_fwdPosition(model, data)
        before = data.ten_length.copy()
        for joint, place in zip(axes, places, strict=True):
            data.qpos[place] += _SHIFT
            mujoco.mj_fwdPosition(model, data)
            data.qpos[place] -= _SHIFT
            moves = np.abs(data.ten_length - before) > _NO_ARM * _SHIFT
            for actuator in (one for one, tendon in tendons.items() if moves[tendon]):
                found.setdefault(actuator, {})[joint] = 1.0
    return found


def _tables(model: mujoco.MjModel, tendons: Sequence[int], joints: tuple[int, ...]) -> list[tuple[int, LinkageConfig]]:
    """The joint of the motor on each of these tendons, and a table; none if they leave the joints open somewhere."""
    tables = [_table(model, tendon, joints) for tendon in tendons]
    slopes = np.array([np.reshape(one.slopes, (len(joints), -1)) for one in tables])
    determined = np.linalg.det(np.moveaxis(slopes, -1, 0))
    if (np.abs(determined) <= _NO_ARM**2).any() or np.ptp(np.sign(determined)):
        return []
    return [(joints[column], table) for column, table in zip(_columns(slopes.mean(axis=-1)), tables, strict=True)]


# random poses, and a shift of a joint, that show which joints move a tendon; and moment arms [m] that are none
_POSES, _SHIFT, _NO_ARM = 16, 1e-4, 1e-7
# positions of each joint of a table over one or two joints
_NODES = (257, 65)


def _table(model: mujoco.MjModel, tendon: int, joints: Sequence[int]) -> LinkageConfig:
    """The length of a spatial tendon over the ranges of one or two joints."""
    data, names = mujoco.MjData(model), [element_name(model, "joint", joint) for joint in joints]

    def length(*positions: float) -> float:
        data.qpos[model.jnt_qposadr[list(joints)]] = positions
        mujoco.mj_fwdPosition(model, data)
        return float(data.ten_length[tendon])

    lower, upper = model.jnt_range[list(joints)].T.tolist()
    return LinkageConfig.table(names, length, lower, upper, _NODES[len(joints) - 1])


def _groups(parts: Mapping[int, Mapping[int, float]]) -> list[tuple[list[int], tuple[int, ...]]]:
    """Actuators that have joints in common, directly or through others, with all of these joints."""
    groups: list[tuple[list[int], set[int]]] = []
    for actuator, own in parts.items():
        mine, joints = [actuator], set(own)
        for group in [one for one in groups if one[1] & joints]:
            groups.remove(group)
            mine, joints = group[0] + mine, group[1] | joints
        groups.append((mine, joints))
    return [(sorted(mine), tuple(sorted(joints))) for mine, joints in groups]


def _problem(joints: tuple[int, ...], matrix: np.ndarray, driven: Collection[int]) -> str:
    """Why actuators on tendons are no linkage; empty if they are one."""
    count, width = matrix.shape
    if count > width:
        return f"acts on a tendon of {width} joints with {count} such actuators, more than joints"
    if width > MOST_JOINTS:
        return f"acts on tendons that connect {width} joints, where a linkage has {MOST_JOINTS} at most"
    if any(joint in driven for joint in joints):
        return "acts on a tendon of joints that have actuators of their own"
    return "" if np.linalg.matrix_rank(matrix) == count else "acts on tendons that depend on each other"
