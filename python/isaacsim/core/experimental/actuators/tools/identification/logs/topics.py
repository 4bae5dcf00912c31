"""Choice of the topics of a ROS 2 bag: that of measured positions, and that of commands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...recording.bags import Topic
from ..log import REQUIRED
from .joint_messages import COMMANDS, NAMELESS, STATES

_KINDS = {"command": tuple(COMMANDS), "position": (STATES,)}
# by convention of ROS, of several
_USUAL = "joint_states"
_REMEDY = "Give --topics command=/NAME position=/NAME"


@dataclass(frozen=True)
class Chosen:
    """The topic of a role."""

    name: str
    kind: str
    joints: tuple[str, ...] = ()


def choose(path: Path, topics: Mapping[str, Topic], given: Mapping[str, str]) -> dict[str, Chosen]:
    """Return the topics of commands and of measured positions.

    Without choice of the caller the positions are those of the only topic of joint states, or of the only one called
    `joint_states`, and the commands those of the only other topic that may have some. Joint states with `state` in
    their name are no commands.
    """
    if unknown := ", ".join(role for role in given if role not in _KINDS):
        raise ValueError(f"topics = {unknown}: must be of {' and '.join(REQUIRED)}. {_REMEDY}.")
    chosen = {role: _given(path, topics, role, words) for role, words in given.items()}
    # joint states may be commands, too
    for role in ("position", "command"):
        if role not in chosen:
            taken = [one.name for one in chosen.values()]
            chosen[role] = _only(path, topics, taken, role)
    _require_joints(path, chosen["command"])
    return chosen


def _require_joints(path: Path, command: Chosen) -> None:
    if command.kind == NAMELESS and not command.joints:
        raise ValueError(
            f"{path}: {command.name} has {command.kind}, which names no joints: must be told them, in the order of the "
            f"parameter joints of its controller. Give --topics command={command.name}:JOINT,JOINT."
        )


def _given(path: Path, topics: Mapping[str, Topic], role: str, words: str) -> Chosen:
    name, _, joints = words.partition(":")
    if name not in topics or topics[name].kind not in _KINDS[role] or not topics[name].count:
        rule = f"must be a topic with messages of {' or '.join(_KINDS[role])}"
        raise ValueError(f"{path}: topics {role} = {name}: {rule}. The bag has {_listed(topics)}. {_REMEDY}.")
    return Chosen(name, topics[name].kind, tuple(joints.split(",")) if joints else ())


def _only(path: Path, topics: Mapping[str, Topic], taken: Sequence[str], role: str) -> Chosen:
    """Return the only topic that may have a role, without those that have another."""
    found = [name for name, one in topics.items() if one.kind in _KINDS[role] and one.count and name not in taken]
    found = _usual(found) if role == "position" else [name for name in found if not _measured(name, topics[name])]
    if len(found) != 1:
        told = f"{', '.join(found) or 'no topic'} may have the {role}s"
        rule = f"must be one topic with messages of {' or '.join(_KINDS[role])}"
        raise ValueError(f"{path}: {told}: {rule}. The bag has {_listed(topics)}. {_REMEDY}.")
    return Chosen(found[0], topics[found[0]].kind)


def _usual(names: Sequence[str]) -> Sequence[str]:
    """Return those of several topics of joint states that are called so, all if none is."""
    return [name for name in names if name.rpartition("/")[2] == _USUAL] or names


def _measured(name: str, topic: Topic) -> bool:
    """Return True for joint states that are states by their name, such as those of a gripper."""
    return topic.kind == STATES and "state" in name.rpartition("/")[2]


def _listed(topics: Mapping[str, Topic]) -> str:
    told = [f"{name} ({one.count} {one.kind})" for name, one in sorted(topics.items())]
    return ", ".join(told) or "no topics"
