"""Kinds of stages, and the ordered list of stages that an actuator is.

An actuator is a list of stages, each of one of the `KINDS`; the order of that table is the order in which they act.
`controller`, `clamping` and `delay` are names for parts of the list. What reads, writes, saves, inspects or runs stages
goes through the list, and asks the table what it has to know of a kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, Final, TypeAlias

from ..base.errors import shown
from .fields import complaint

AnyStage: TypeAlias = Any
"""A config of a stage, its component, or the class of either: each has the values of its own law."""


@dataclass(frozen=True)
class Kind:
    """A line of the table, with the name as configs and components have it in `KIND`, and files of motors as a key."""

    name: str
    # base class of its components, which newton has too where it knows the kind
    family: str
    # what errors call one
    words: str
    # signals that its laws get, in their order; `dt` besides if one remembers something; one may ask for more, see
    # `laws/contract/law.py`
    takes: tuple[str, ...]
    # an actuator may have several
    many: bool = False
    # it bounds the effort, so that `limited_by` may name it
    is_limit: bool = False
    # a joint may have it without a controller, which makes a passive joint
    alone: bool = False
    # how many numbers its laws return before their state: 0 for a kind that changes no effort
    gives: int = 1
    # its law needs the signals and efforts of several joints, and so runs on all of them together
    couples: bool = False
    # of the signals that its laws get: of the `motor`, of the `joint`, or of the `shaft` before a kind that couples
    # joints; `both` is between motor and joint, which are the same without a stage of such a kind
    coordinates: str = "joint"

    takes_effort: bool = field(init=False)
    """True if it gets the effort, as all kinds after the controller do."""
    changes_effort: bool = field(init=False)
    """True if it changes the effort."""
    senses: bool = field(init=False)
    """True if it returns the position and velocity that the controller reads."""
    commands: bool = field(init=False)
    """True if it returns the commands that the controller gets."""
    changes_loop: bool = field(init=False)
    """True if it changes the input of the controller, or the effort other than by a limit."""
    converts: bool = field(init=False)
    """True if it converts between motor and joint coordinates."""
    is_before_joint: bool = field(init=False)
    """True if stages before it act in other coordinates than those of the joint."""

    def __post_init__(self) -> None:
        takes_effort = self.takes[:1] == ("effort",)
        changes_effort, senses = takes_effort and self.gives > 0, self.takes == _MEASURED
        converts = self.coordinates == "both"
        vars(self).update(
            takes_effort=takes_effort,
            changes_effort=changes_effort,
            senses=senses,
            commands=self.takes == _COMMANDED and self.gives == 3,
            changes_loop=senses or (changes_effort and not self.is_limit),
            converts=converts,
            is_before_joint=converts or self.couples,
        )


_COMMANDED = ("position", "velocity", "position_target", "velocity_target", "feedforward", "dt")
_MEASURED = ("position", "velocity")
_EFFORT = ("effort", *_MEASURED)

KINDS: Final[dict[str, Kind]] = {
    kind.name: kind
    for kind in (
        # what the controller, and nothing else, sees of the joint
        Kind("feedback", "Feedback", "a sensor", _MEASURED, gives=2),
        Kind("delay", "Delay", "a command delay", (), gives=0),
        # what the controller gets in place of the commands: by the shorter way round, with a lag
        Kind("command", "Command", "a law of commands", _COMMANDED, many=True, gives=3),
        Kind("controller", "Controller", "a control law", _COMMANDED, coordinates="motor"),
        # how often all of this runs; in between, its effort is held
        Kind("rate", "Rate", "a rate", _EFFORT, coordinates="motor"),
        # what the controller returns, on its way to the motor
        Kind("effort_delay", "EffortDelay", "an effort delay", _EFFORT, coordinates="motor"),
        Kind("effort_lag", "EffortLag", "a lag of the effort", _EFFORT, coordinates="motor"),
        # the effort that the winding gives of the one that is asked for
        Kind("electrical", "Electrical", "an electrical law", _EFFORT, coordinates="motor"),
        Kind("clamping", "Clamping", "an effort limit", _EFFORT, many=True, is_limit=True, coordinates="motor"),
        # what the motor loses beside the heat of its current: it publishes signals, as the two after it
        Kind("losses", "Losses", "a law of losses", _EFFORT, gives=0, coordinates="motor"),
        # how warm the motor gets of its effort, and what the supply is left with: they publish signals
        Kind("thermal", "Thermal", "a thermal law", _EFFORT, gives=0, coordinates="motor"),
        Kind("supply", "Supply", "a law of the supply", _EFFORT, gives=0, coordinates="motor"),
        # signals of the joint become those of the motor, and the effort of the motor that at the joint
        Kind("transmission", "Transmission", "a transmission", _EFFORT, coordinates="both"),
        # what acts on the shaft that moves joints, or on the joint where a shaft moves it alone
        Kind("shaft", "Shaft", "a law of the shaft", _EFFORT, many=True, alone=True, coordinates="shaft"),
        # shafts of several motors and the joints that they move together
        Kind("linkage", "Linkage", "a linkage", _EFFORT, couples=True, alone=True),
        # friction and cogging of the joint: after all limits, and no limit
        Kind("passive", "Passive", "a passive law", _EFFORT, many=True, alone=True),
        # at which end of the step all efforts are computed: last, as it remembers the effort of the joint
        Kind("effort_mode", "EffortMode", "an effort mode", _EFFORT, gives=0),
    )
}
"""The kinds by name, in the order in which their stages act."""

NAMED: Final = ("controller", "clamping", "delay")
"""The kinds that have a name of their own in what holds a list of stages."""


LISTED: Final = (*(kind for kind in KINDS if kind != "delay"), "delay")
"""The kinds in the order in which files list them: newton has the delay last."""

_PLACES: Final = {kind: place for place, kind in enumerate(KINDS)}
_BEFORE_JOINT: Final = {kind: place for kind, place in _PLACES.items() if KINDS[kind].is_before_joint}


def place_of(kind: str | None) -> int:
    """Return the place of a kind in the order in which stages act; unknown kinds come last."""
    return _PLACES.get(kind or "", len(KINDS))


def follows_limits(kind: str) -> bool:
    """Return True if stages of a kind act after all limits and the transmission, on the effort at the joint."""
    return place_of(kind) > max(place_of(one) for one, line in KINDS.items() if line.is_limit or line.is_before_joint)


def kind_of(stage: object) -> str | None:
    """Return the kind of a config or component, or of its class; None for anything else."""
    kind = getattr(stage, "KIND", None)
    return kind if isinstance(kind, str) and kind in KINDS else None


def acts_at_joint(stage: object) -> bool:
    """Return True if a stage, or its class, acts in the coordinates of the joint or shaft, not in those of a motor."""
    return (getattr(stage, "COORDINATES", "") or KINDS[kind_of(stage) or "passive"].coordinates) in ("joint", "shaft")


def moves_behind(stage: object) -> bool:
    """Return True if a stage acts at the joint although its kind acts at the motor: it follows a transmission."""
    kind = kind_of(stage)
    return kind is not None and KINDS[kind].coordinates == "motor" and acts_at_joint(stage)


class Staged:
    """What has stages: the ordered list of them, made of parts with names of their own and of the others."""

    controller: AnyStage
    clamping: Any
    delay: AnyStage
    others: Any
    """Stages of the kinds without a name of their own."""

    def with_switches(self) -> tuple[AnyStage, Any]:
        """Controller and other stages, with a stage in place of a switch of the controller that is on."""
        if not (wrap := getattr(self.controller, "wrap", False)):
            return self.controller, self.others
        # configs import this module
        from .command import WrapConfig

        if why := complaint("wrap", wrap, self.controller.SWITCHES["wrap"]):
            raise ValueError(why)
        is_there = any(isinstance(one, WrapConfig) for one in self.others)
        return replace(self.controller, wrap=False), [*self.others, *([] if is_there else [WrapConfig()])]

    @property
    def by_kind(self) -> list[tuple[str, AnyStage]]:
        """Kind and stage of each, in the order in which they act."""
        parts: list[tuple[str, AnyStage]] = [(kind_of(stage) or "", stage) for stage in self.others]
        for name in NAMED:
            part = getattr(self, name)
            parts += [(name, one) for one in (part or () if KINDS[name].many else () if part is None else (part,))]
        behind = max((_BEFORE_JOINT.get(kind, 0) for kind, _ in parts), default=0)
        # those at the joint act behind the transmission, where there is one
        return sorted(parts, key=lambda part: max(place_of(part[0]), behind and behind * moves_behind(part[1])))

    @property
    def stages(self) -> tuple[AnyStage, ...]:
        """The stages in the order in which they act."""
        return tuple(stage for _, stage in self.by_kind)

    def each(self, change: Callable[[AnyStage], object]) -> dict[str, Any]:
        """What `change` makes of each stage, as arguments of what holds stages: see `parts_of`."""
        parts: dict[str, Any] = {}
        for name in (*NAMED, "others"):
            part = getattr(self, name)
            several = name not in NAMED or KINDS[name].many
            parts[name] = [change(one) for one in part or ()] if several else part if part is None else change(part)
        return parts

    @property
    def as_listed(self) -> tuple[AnyStage, ...]:
        """The stages in the order in which files list them, which is that of `LISTED`."""
        return tuple(sorted(self.stages, key=lambda stage: LISTED.index(kind_of(stage) or "")))

    @property
    def sensing(self) -> tuple[AnyStage, ...]:
        """The stages that say what the controller sees of the joint."""
        return tuple(stage for kind, stage in self.by_kind if kind in KINDS and KINDS[kind].senses)

    @property
    def commanding(self) -> tuple[AnyStage, ...]:
        """The stages that change commands before the controller, in the order in which they act."""
        return tuple(stage for kind, stage in self.by_kind if kind in KINDS and KINDS[kind].commands)

    @property
    def after_controller(self) -> tuple[AnyStage, ...]:
        """The stages that get the effort, in the order in which they act; those of some kinds leave it as it is."""
        return tuple(stage for kind, stage in self.by_kind if KINDS[kind].takes_effort)


def is_geared(staged: Staged) -> bool:
    """Return True if a transmission or linkage is before the joint: gains and limits are then the motor's."""
    return any(kind in _BEFORE_JOINT for kind, _ in staged.by_kind)


def is_linked(staged: Staged) -> bool:
    """Return True if a linkage is before the joint: its motor then moves other joints as well."""
    return any(KINDS[kind].couples for kind, _ in staged.by_kind if kind in KINDS)


def without_idle(staged: Staged) -> list[AnyStage]:
    """Return the stages of an actuator without a linkage that nothing turns, which is made of those of the motors."""
    is_idle = staged.controller is None and {"shaft", "transmission"}.isdisjoint(kind for kind, _ in staged.by_kind)
    return [stage for kind, stage in staged.by_kind if not (is_idle and kind == "linkage")]


def places_of(staged: Staged) -> list[tuple[str, AnyStage]]:
    """What to call each stage, and the stage, in the order in which files list them: `controller`, `clamping[0]`, …"""
    count: dict[str, int] = {}
    found: list[tuple[str, AnyStage]] = []
    for kind, stage in sorted(staged.by_kind, key=lambda part: [*LISTED, ""].index(part[0])):
        number = count[kind] = count.get(kind, -1) + 1
        found.append((f"{kind}[{number}]" if KINDS[kind].many else kind, stage))
    return found


def parts_of(stages: Iterable[object], subject: str = "stages") -> dict[str, Any]:
    """Stages as arguments of what holds them: `controller`, `clamping`, `delay` and `others`."""
    found: dict[str, list[object]] = {kind: [] for kind in KINDS}
    for stage in stages:
        kind = kind_of(stage)
        if kind is None:
            raise TypeError(f"{subject} has {shown(stage)}: must be a config or component. Pass one of those.")
        found[kind].append(stage)
    for kind, some in found.items():
        if len(some) > 1 and not KINDS[kind].many:
            named = " and ".join(type(one).__name__ for one in some)
            raise ValueError(f"{subject} has {len(some)} {kind}s, {named}: must be at most one. Remove the others.")
    parts: dict[str, Any] = {}
    for name in NAMED:
        mine = found.pop(name)
        parts[name] = mine if KINDS[name].many else next(iter(mine), None)
    return parts | {"others": [*chain.from_iterable(found.values())]}
