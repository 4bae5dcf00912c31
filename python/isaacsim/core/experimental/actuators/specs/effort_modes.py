"""When efforts are computed: the argument `effort_mode` of wrappers, as a stage of each actuator."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Final, Literal, TypeVar, get_args

from .implicit import ImplicitConfig
from .patterns import assigned
from .stages import KINDS, AnyStage, kind_of

EffortMode = Literal["explicit", "implicit", "in_engine"]
"""At the start of the physics step, or at its end; there, the simulator may take over the slope of the effort."""
EffortModes = EffortMode | Mapping[str, EffortMode]
"""One for all actuators, or by pattern of joint names; those that no pattern matches keep theirs."""

_MODES: Final[tuple[str, ...]] = get_args(EffortMode)
_Staged = TypeVar("_Staged")


def in_effort_mode(
    parts: Sequence[_Staged], joints: Sequence[Sequence[str]], modes: EffortModes | None
) -> list[_Staged]:
    """Return actuators with an `ImplicitConfig` where their mode is implicit, and none where it is explicit."""
    if modes is None:
        return list(parts)
    names = list(dict.fromkeys(name for some in joints for name in some))
    by_joint: dict[str, str]
    if isinstance(modes, str):
        by_joint = dict.fromkeys(names, modes)
    else:
        patterns, problems = assigned(modes, names, "effort_mode", every=False)
        if problems:
            raise ValueError("\n".join(problems))
        by_joint = {name: modes[pattern] for name, pattern in patterns.items()}
    for mode in by_joint.values():
        if mode not in _MODES:
            raise ValueError(f"effort_mode = {mode!r}: must be one of {', '.join(map(repr, _MODES))}. Choose one.")
    return [_with_mode(part, names, by_joint) for part, names in zip(parts, joints, strict=True)]


def explicit(motors: Mapping[str, _Staged]) -> dict[str, _Staged]:
    """Return motors by pattern with the explicit mode: motors of a file whose simulator, and not they, is implicit."""
    names = [[pattern] for pattern in motors]
    return dict(zip(motors, in_effort_mode([*motors.values()], names, "explicit"), strict=True))


def damped_at_end(motors: Mapping[str, _Staged], *, in_engine: bool) -> tuple[dict[str, _Staged], list[str]]:
    """Return motors of a file with an implicit integrator, and of what is to be warned.

    Such an integrator computes the damping of motors for the end of the step, as it moves the joint. A motor whose
    effort does not fall with speed is the same at both ends.
    """
    at_end = {pattern: _damped_at_end(motor, in_engine) for pattern, motor in motors.items()}
    stay = [pattern for pattern, motor in at_end.items() if motor is None]
    warned = (
        f"motors of joints {', '.join(stay)} have a transmission or linkage, and so an effort of the start of the "
        "step; the implicit integrator of the file has that of its end. Take a shorter step where they vibrate."
    )
    found = {pattern: motor for pattern, motor in at_end.items() if motor is not None}
    return {**motors, **found}, [warned] if stay else []


def _damped_at_end(motor: _Staged, in_engine: bool) -> _Staged | None:
    """Return a motor that is damped at the end of the step; None for one with something between motor and joint."""
    stages: AnyStage = motor
    if not (getattr(stages.controller, "kd", 0.0) or any(kind_of(one) == "electrical" for one in stages.others)):
        return motor
    if any(KINDS[kind_of(one) or ""].is_before_joint for one in stages.others):
        return None
    return dataclasses.replace(stages, others=[*stages.others, ImplicitConfig(in_engine=in_engine)])


def _with_mode(part: AnyStage, joints: Sequence[str], by_joint: Mapping[str, str]) -> AnyStage:
    found = {by_joint.get(name) for name in joints}
    if len(found) > 1:
        raise ValueError(
            f"effort_mode of joints {', '.join(joints)}: must be one for all joints of an actuator. Give joints of "
            "another mode a motor of their own."
        )
    mode = next(iter(found), None)
    modes = [stage for stage in part.others if kind_of(stage) == ImplicitConfig.KIND]
    components = [stage for stage in modes if not isinstance(stage, ImplicitConfig)]
    if mode is None or {"explicit": not modes, "implicit": bool(components)}.get(mode):
        return part
    others = [stage for stage in part.others if kind_of(stage) != ImplicitConfig.KIND]
    return dataclasses.replace(part, others=[*others, *([] if mode == "explicit" else [_mode(mode, modes, joints)])])


def _mode(mode: str, given: Sequence[object], joints: Sequence[str]) -> ImplicitConfig:
    found = given[0] if given else ImplicitConfig()
    if not isinstance(found, ImplicitConfig):
        raise ValueError(
            f"effort_mode = {mode!r} of joints {', '.join(joints)}: must be for configs, and they have a "
            f"{type(found).__name__}. Give it in_engine, or take an ImplicitConfig."
        )
    return dataclasses.replace(found, in_engine=mode == "in_engine")
