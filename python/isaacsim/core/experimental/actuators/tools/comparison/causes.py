"""The causes for which two simulations of a robot can differ: how to read each, and how to put it equal."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ...specs.motors import MotorConfig
from ...specs.stages import parts_of
from .run import Link, Run
from .same import different, exchanged_joints, exchanged_motors, stage_values, with_motors_of, with_order
from .side import Side

Found = Mapping[tuple[str, str], tuple[object, object]]
"""Values of both sides that differ, by joint or link and property."""
Pair = tuple[Side, Side]

# of the size of the largest number of a link
_SAME_LINK = 1e-3


@dataclass(frozen=True)
class Cause:
    """Something that can differ between two sides; `find` returns what does between two runs.

    `put_equal` returns the two sides with it put equal; None if their simulators cannot do that. What simulators
    compute in ways of their own has no value to put equal, and `is_switched_off` on both. What `comes_first` decides by
    which joint the values of all others are compared.
    """

    name: str
    find: Callable[[Run, Run], Found]
    put_equal: Callable[[Run, Run, Found], Pair | None]
    is_switched_off: bool = False
    comes_first: bool = False


def _joint_order() -> Cause:
    def find(first: Run, second: Run) -> Found:
        places = exchanged_joints(first, second)
        motors = {} if places else exchanged_motors(first.values, second.values)
        what = "place" if places else "motor"
        others = places or {one: next(a for a, b in motors.items() if b == one) for one in motors}
        return {(joint, what): (f"of {joint}", f"of {other}") for joint, other in others.items()}

    def put_equal(first: Run, second: Run, found: Found) -> Pair:
        if places := exchanged_joints(first, second):
            return first.side, with_order(second.side, places)
        return first.side, with_motors_of(second.side, exchanged_motors(first.values, second.values))

    return Cause("joint order", find, put_equal, comes_first=True)


def _step() -> Cause:
    def find(first: Run, second: Run) -> Found:
        return different({("", "dt"): first.values.dt}, {("", "dt"): second.values.dt})

    def put_equal(first: Run, second: Run, _: Found) -> Pair:
        return first.side, dataclasses.replace(second.side, dt=first.side.dt)

    return Cause("physics step", find, put_equal)


def _law() -> Cause:
    """Control laws of different kinds, whose other stages belong to them."""

    def find(first: Run, second: Run) -> Found:
        both = [joint for joint in first.values.motors if joint in second.values.motors]
        laws = []
        for run in (first, second):
            names = {joint: type(run.values.motors[joint].controller).__name__ for joint in both}
            laws.append({(joint, "control law"): name.removesuffix("Config") for joint, name in names.items()})
        return different(*laws)

    def put_equal(first: Run, second: Run, found: Found) -> Pair:
        motors = {joint: first.values.motors[joint] for joint, _ in found if joint in first.values.motors}
        return first.side, second.side.with_motors(motors)

    return Cause("control law", find, put_equal)


def _stages(name: str, *, properties: Iterable[str] = (), of_drives: Iterable[str] = ()) -> Cause:
    """A cause that is stages of motors, properties of joints, and properties of the drives of joints."""
    kinds, properties, of_drives = STAGES.get(name, ()), tuple(properties), tuple(of_drives)

    def read(run: Run, other: Run) -> dict[tuple[str, str], object]:
        found: dict[tuple[str, str], object] = {}
        for joint in run.motion.joints:
            mine, theirs = (one.values.motors.get(joint) for one in (run, other))
            # gains of different laws cannot be compared
            if mine and theirs and (name != _GAINS or type(mine.controller) is type(theirs.controller)):
                found |= {(joint, key): value for key, value in _of_motor(mine, theirs, name, kinds).items()}
            is_driven = not run.side.has_motor(joint)
            for one in (*properties, *(of_drives if is_driven else ())):
                found[joint, one] = run.values.properties[one][joint]
        return found

    def put_equal(first: Run, second: Run, found: Found) -> Pair:
        side, changed = second.side, {joint for joint, _ in found}
        motors = {}
        for joint in changed:
            mine, wanted = second.values.motors.get(joint), first.values.motors.get(joint)
            if mine is not None and wanted is not None:
                motors[joint] = _with_stages(mine, wanted, name, kinds)
        side = side.with_motors(motors)
        for one in (*properties, *of_drives):
            if values := {joint: first.values.properties[one][joint] for joint, key in found if key == one}:
                side = side.with_property(one, values)
        return first.side, side

    return Cause(name, lambda first, second: different(read(first, second), read(second, first)), put_equal)


def _of_motor(motor: MotorConfig, other: MotorConfig, name: str, kinds: tuple[str, ...]) -> dict[str, object]:
    """Return the values of a motor that belong to a cause; the gear of a law belongs to that of the gear."""
    found = stage_values(motor, kinds, other)
    if name == _GAINS:
        return {key: value for key, value in found.items() if not key.endswith(_OF_GEAR)}
    if name == _GEAR:
        # the inertia of a rotor is the armature of its joint
        found.pop(_ROTOR, None)
        laws = stage_values(motor, ["controller"])
        found |= {key: value for key, value in laws.items() if key.endswith(_OF_GEAR)}
    return found


def _with_stages(motor: MotorConfig, wanted: MotorConfig, name: str, kinds: tuple[str, ...]) -> MotorConfig:
    """Return a motor with the stages of some kinds of another one."""
    kept = [stage for kind, stage in motor.by_kind if kind not in kinds]
    taken = [stage for kind, stage in wanted.by_kind if kind in kinds]
    if name == _GAINS:
        taken = _with_gear(taken, motor.controller)
    elif name == _GEAR:
        kept = _with_gear(kept, wanted.controller)
    fields = {one: getattr(wanted, one) for one in _FIELDS.get(name, ())}
    return dataclasses.replace(motor, **fields, **parts_of([*kept, *taken]))


def _with_gear(stages: Iterable[Any], law: object) -> list[Any]:
    """Return stages with the gear of a control law in place of that of theirs, where both laws have one."""
    gear = getattr(law, "gear", None)
    return [dataclasses.replace(one, gear=gear) if gear and hasattr(one, "gear") else one for one in stages]


def _inertia() -> Cause:
    def find(first: Run, second: Run) -> Found:
        found: dict[tuple[str, str], tuple[object, object]] = {}
        for name, mine in first.values.links.items():
            other = second.values.links.get(name)
            # the root of a robot with a fixed base moves nothing, and files call it differently
            if other is not None:
                found |= {(name, key): both for key, both in _of_links(mine, other)}
        return found

    def put_equal(first: Run, second: Run, found: Found) -> Pair | None:
        names = {name for name, _ in found}
        sides = [first.side, second.side]
        # PhysX cannot set inertias while it runs
        changed = next((at for at in (1, 0) if sides[at].engine != "physx"), None)
        if changed is None:
            return None
        source = (first, second)[1 - changed].values.links
        links = {**sides[changed].links, **{name: source[name] for name in names}}
        sides[changed] = dataclasses.replace(sides[changed], links=links)
        return sides[0], sides[1]

    return Cause("inertia", find, put_equal)


def _of_links(first: Link, second: Link) -> Iterable[tuple[str, tuple[object, object]]]:
    """Yield what differs between two links."""
    for key in ("mass", "com", "inertia"):
        one, other = getattr(first, key), getattr(second, key)
        scale = max(np.abs(one).max(), np.abs(other).max())
        if np.abs(one - other).max() > max(_SAME_LINK * scale, 1e-9):
            yield key, (np.asarray(one).tolist(), np.asarray(other).tolist())


def _contacts() -> Cause:
    def find(first: Run, second: Run) -> Found:
        one, other = first.side, second.side
        is_other = (one.engine, one.file) != (other.engine, other.file)
        if not (is_other and one.contacts and other.contacts):
            return {}
        return {("", "contacts"): (f"of {one.engine}", f"of {other.engine}")}

    def put_equal(first: Run, second: Run, _: Found) -> Pair:
        off = partial(dataclasses.replace, contacts=False)
        return off(first.side), off(second.side)

    return Cause("contact", find, put_equal, is_switched_off=True)


def _switched_off(name: str, none: Mapping[str, float]) -> Cause:
    """A part of two simulators that some values of properties of joints switch off."""

    def find(first: Run, second: Run) -> Found:
        one, other = first.side, second.side
        if one.engine == other.engine:
            return {}
        return {
            (joint, name): (f"of {one.engine}", f"of {other.engine}")
            for joint in first.motion.joints
            if any(run.values.properties[key][joint] != value for run in (first, second) for key, value in none.items())
        }

    def put_equal(first: Run, second: Run, found: Found) -> Pair:
        sides = [first.side, second.side]
        for key, value in none.items():
            sides = [side.with_property(key, {joint: value for joint, _ in found}) for side in sides]
        return sides[0], sides[1]

    return Cause(name, find, put_equal, is_switched_off=True)


_GAINS, _GEAR, _FRICTION = "gains", "gear ratio", "friction"
# a control law may have a gear of its own
_OF_GEAR = ".gear"
_ROTOR = "transmission.rotor_inertia"
# fields of a motor that exclude stages of a cause, or belong to them
_FIELDS = {_GEAR: ("armature",), _FRICTION: ("friction", "viscous_friction")}
_FRICTIONS = ("static friction", "dynamic friction", "viscous friction")

STAGES = {
    _GAINS: ("controller",),
    _GEAR: ("transmission", "shaft", "linkage"),
    "limits": ("clamping",),
    _FRICTION: ("passive",),
    "delay": ("command", "delay", "effort_delay", "effort_lag"),
    "rate": ("rate",),
    "sensor": ("feedback",),
    "winding": ("electrical", "losses"),
    "heat": ("thermal",),
    "supply": ("supply",),
    "effort mode": ("effort_mode",),
}
"""The kinds of stages that belong to a cause, by its name: all kinds there are."""

CAUSES = (
    # of causes that explain the same, the first one is blamed
    _joint_order(),
    _law(),
    _stages(_GAINS, of_drives=["stiffness", "damping"]),
    _stages(_GEAR),
    _stages("limits", properties=["velocity limit"], of_drives=["effort limit"]),
    _stages("armature", properties=["armature"]),
    _stages(_FRICTION, properties=_FRICTIONS),
    _stages("delay"),
    _stages("rate"),
    _step(),
    _stages("sensor"),
    _stages("winding"),
    _stages("heat"),
    _stages("supply"),
    _stages("effort mode"),
    _stages("range of joints", properties=["lower limit", "upper limit"]),
    _inertia(),
    _contacts(),
    _switched_off("speed limits", {"velocity limit": np.inf}),
    _switched_off("friction of joints", dict.fromkeys(_FRICTIONS, 0.0)),
    _switched_off("stops of joints", {"lower limit": -np.inf, "upper limit": np.inf}),
)
"""All causes, in the order in which they are tried."""
