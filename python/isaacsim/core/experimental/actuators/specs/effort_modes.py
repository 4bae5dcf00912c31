"""When efforts are computed: the argument `effort_mode` of wrappers, as a stage of each actuator."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, TypeVar, get_args

from .implicit import ImplicitConfig
from .patterns import assigned
from .stages import kind_of

EffortMode = Literal["explicit", "implicit", "in_engine"]
"""At the start of the physics step, or at its end; there, the simulator may take over the slope of the effort."""
EffortModes = EffortMode | Mapping[str, EffortMode]
"""One for all actuators, or by pattern of joint names; those that no pattern matches keep theirs."""

_MODES: Final[tuple[str, ...]] = get_args(EffortMode)
_Staged = TypeVar("_Staged")


def in_effort_mode(
    parts: Sequence[_Staged], joints: Sequence[Sequence[str]], modes: EffortModes | None
) -> list[_Staged]:
    """Return actuators with an `ImplicitConfig` where their mode is implicit, and none where it is explicit.

    Args:
        parts: Dataclasses with a list of stages, `others`.
        joints: Names of the joints of each.
        modes: A mode for all, or by pattern; None keeps what they have.

    Raises:
        ValueError: An unknown mode, a pattern that matches nothing, or joints of one actuator with several modes.
    """
    if modes is None:
        return list(parts)
    names = list(dict.fromkeys(name for some in joints for name in some))
    by_joint: dict[str, str] = dict.fromkeys(names, modes) if isinstance(modes, str) else _by_pattern(modes, names)
    for mode in by_joint.values():
        if mode not in _MODES:
            raise ValueError(f"effort_mode = {mode!r}: must be one of {', '.join(map(repr, _MODES))}. Choose one.")
    return [_with_mode(part, names, by_joint) for part, names in zip(parts, joints, strict=True)]


def _by_pattern(modes: Mapping[str, str], names: Sequence[str]) -> dict[str, str]:
    patterns, problems = assigned(modes, names, "effort_mode", every=False)
    if problems:
        raise ValueError("\n".join(problems))
    return {name: modes[pattern] for name, pattern in patterns.items()}


def _with_mode(part: Any, joints: Sequence[str], by_joint: Mapping[str, str]) -> Any:
    found = {by_joint.get(name) for name in joints}
    if len(found) > 1:
        raise ValueError(
            f"effort_mode of joints {', '.join(joints)}: must be one for all joints of an actuator. Give joints of "
            "another mode a motor of their own."
        )
    (mode,) = found or {None}
    modes = [stage for stage in part.others if kind_of(stage) == ImplicitConfig.KIND]
    if mode is None or (mode != "in_engine" and bool(modes) == (mode == "implicit")):
        return part
    others = [stage for stage in part.others if kind_of(stage) != ImplicitConfig.KIND]
    return dataclasses.replace(part, others=[*others, *([] if mode == "explicit" else [_mode(mode, modes, joints)])])


def _mode(mode: str, given: Sequence[object], joints: Sequence[str]) -> ImplicitConfig:
    """Return the config of a mode, with the values of the one that is given."""
    found = given[0] if given else ImplicitConfig()
    if not isinstance(found, ImplicitConfig):
        raise ValueError(
            f"effort_mode = {mode!r} of joints {', '.join(joints)}: must be for configs, and they have a "
            f"{type(found).__name__}. Give it in_engine, or take an ImplicitConfig."
        )
    return dataclasses.replace(found, in_engine=mode == "in_engine")
