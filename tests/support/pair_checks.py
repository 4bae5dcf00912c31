"""What is compared: a joint alone and beside others, a robot and the others, both engines, and float64."""

import dataclasses
import functools
import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from pair_covering import pairs_in_groups
from pair_joints import MODES, Joint, all_joints, joints_of_three, refused, varied
from pair_oracle import expected_efforts, has_formulas
from pair_worlds import Actuators, Arrays, Binding, Record, Script, Wrapper, engine, plain, run, script

ROBOTS = 17
IMPLICIT_TOLERANCE, FRICTION_TOLERANCE, NETWORK_TOLERANCE = 1e-5, 1e-4, 2e-5
"""How far implicit efforts of the two engines are apart, relative to the largest effort of the robot's joint."""
JUMPING, JUMPS, OFTEN = ("ClampingEnvelope", "ControllerServo"), ("quadratic_when_opposed", "dead_zone"), 0.15
"""Laws and parameters with a jump: an effort of the end of the step that is on it may be on either side, and a driver
with a dead zone remembers which. Part of the efforts that are."""
FEW, NEAR = 0.05, 10.0
"""Part of the efforts of the end of the step that may be further apart, by this factor."""


@dataclasses.dataclass
class Tally:
    relation: str
    ran: int = 0
    differ: list[tuple[str, str, str]] = dataclasses.field(default_factory=list)

    def add(self, joint: object, beside: object, compare: Callable[[], str]) -> None:
        self.ran += 1
        try:
            difference = compare()
        except (TypeError, ValueError) as error:
            difference = f"{type(error).__name__}: {error}"
        if difference:
            self.differ.append((str(joint), str(beside), difference))

    def __str__(self) -> str:
        lines = [f"{self.relation}: {self.ran} compared, {len(self.differ)} differ"]
        shown: dict[str, int] = {}
        for joint, beside, text in self.differ:
            shown[joint] = shown.get(joint, 0) + 1
            if shown[joint] == 1 and len(lines) < 60:
                lines.append(f"  {joint} beside {beside}: {text}")
        return "\n".join(lines)


@functools.cache
def usable_joints(seed: int = 0) -> tuple[Joint, ...]:
    every = [joint.in_mode(mode) for joint in all_joints(seed) for mode in MODES]
    return tuple(joint for joint in every if not refused(joint))


class Baselines:
    """What joints do by themselves, computed once; others do nothing where random numbers go by joint."""

    def __init__(self, robots: int = ROBOTS, binding: Binding = Arrays) -> None:
        self.robots, self.binding = robots, binding
        self._known: dict[tuple[Joint, int, int], Record] = {}

    def of(self, joint: Joint, before: int = 0, after: int = 0) -> Record:
        places = (before, after) if joint.asks_number else (0, 0)
        key = joint, *places
        if key not in self._known:
            beside = [*([plain(places[0])] if places[0] else []), joint, *([plain(places[1])] if places[1] else [])]
            self._known[key] = run(beside, self.robots, self.binding)[beside.index(joint)]
        return self._known[key]


def compare(joints: Sequence[Joint], baselines: Baselines, tally: Tally) -> None:
    try:
        records = run(joints, baselines.robots, baselines.binding)
    except (TypeError, ValueError) as error:
        text = f"{type(error).__name__}: {error}"
        tally.add(joints, "each other", lambda: text)
        return
    axes = [len(joint.axes) for joint in joints]
    for at, (joint, record) in enumerate(zip(joints, records, strict=True)):
        others = [*joints[:at], *joints[at + 1 :]]
        if not any(joint.sums(other) for other in others):
            places = sum(axes[:at]), sum(axes[at + 1 :])
            beside = others[0] if len(others) == 1 else f"{len(others)} others"
            tally.add(joint, beside, lambda: record.differs_from(baselines.of(joint, *places)))  # noqa: B023


def by_pairs(part: int = 0, parts: int = 1, seed: int = 0) -> Tally:
    """Every joint beside every joint, as a plan of two; a joint beside itself has other values there."""
    tally, joints, baselines = Tally("(a) alone, and in pairs"), usable_joints(seed), Baselines()
    others = {one.name: one for one in usable_joints(seed + 1)}
    for first in range(part, len(joints), parts):
        for second in range(first, len(joints)):
            one, two = joints[first], joints[second] if second > first else others.get(joints[first].name)
            if two is not None:
                # which of them is first in the plan changes from pair to pair
                compare([one, two] if (first + second + seed) % 2 else [two, one], baselines, tally)
    return tally


def groups(joints: Sequence[Joint], count: int, seed: int = 0, most: int = 1000) -> Iterator[list[Joint]]:
    rng = np.random.default_rng(seed)
    yield from (list(joints[first : first + most]) for first in range(0, len(joints), most))
    for _ in range(count):
        yield [joints[at] for at in rng.permutation(len(joints))[: rng.integers(3, 30)]]


def by_groups(
    joints: Sequence[Joint], binding: Binding = Arrays, count: int = 20, seed: int = 0, most: int = 1000
) -> Tally:
    tally = Tally(f"(a) alone, and in groups, {binding.__name__}")
    for robots in (1, 3, ROBOTS):
        baselines = Baselines(robots, binding)
        for some in groups(joints, count, seed + robots, most):
            compare(some, baselines, tally)
    return tally


def by_bindings(seed: int = 0) -> Tally:
    tally, arrays = Tally("the same joint in each public class"), Baselines()
    for joint in usable_joints(seed):
        for binding in (Wrapper, Actuators):
            # what a simulator gets of a mode in the engine is not the effort; a linkage needs the names of its joints
            if (binding is Wrapper and joint.mode == MODES[2]) or (binding is Actuators and joint.is_linkage):
                continue
            if binding is Actuators and joint.sums(joint):
                # the program adds up
                continue

            def differ(joint: Joint = joint, binding: Binding = binding) -> str:
                one, other = run([joint], ROBOTS, binding)[0], arrays.of(joint)
                if binding is Actuators:
                    # it adds its effort to zero, and counts steps otherwise
                    one, other = (Record(record.efforts + np.float32(0.0), ()) for record in (one, other))
                return one.differs_from(other)

            tally.add(joint, binding.__name__, differ)
    return tally


def by_rows(
    some: Sequence[Sequence[Joint]], others: Sequence[Joint] = (), binding: Binding = Arrays, robots: int = 5
) -> Tally:
    """Robots that nothing happens to; the second is reset, the last has faults, and `others` have other values."""
    tally, named = Tally(f"(b) rows, {binding.__name__}"), {one.name: one for one in others}
    rows = [row for row in range(robots) if row not in (1, robots - 1)]
    for joints in some:
        mixed = [varied(one, named[one.name], robots) if one.name in named else one for one in joints]
        try:
            quiet = _calm(joints, robots, binding)
            found = {
                "a reset and a fault of other robots": (run(joints, robots, binding), rows),
                "no other robot": (_calm(joints, 1, binding), [0]),
                "robots with other parameters": (_calm(mixed, robots, binding), [0]),
            }
        except (TypeError, ValueError) as error:
            tally.add(joints, "other robots", functools.partial(str, f"{type(error).__name__}: {error}"))
            continue
        for beside, (records, mine) in found.items():
            for joint, one, other in zip(joints, records, quiet, strict=True):
                kept = one if len(mine) == one.efforts.shape[1] else one.part(mine)
                where = f"{beside}, in a plan of {len(joints)}"
                tally.add(joint, where, functools.partial(kept.part(range(len(mine))).differs_from, other.part(mine)))
    return tally


def _calm(joints: Sequence[Joint], robots: int, binding: Binding) -> list[Record]:
    scripts = {joint: script(joint, robots, faults=False) for joint in joints}
    return run(joints, robots, binding, scripts=scripts, resets=())


WARP_PLANS = 60
"""How many plans Warp compiles at most."""
_SIZE, THREES = 30, 6
"""Number of joints of a plan, and of the plans for joints of three stages."""


@functools.cache
def warp_plans(seed: int = 0) -> list[list[Joint]]:
    """Plans in which each set of laws and mode stands beside each; joints of the same set take turns."""
    sets: dict[object, list[Joint]] = {}
    for joint in usable_joints(seed):
        sets.setdefault((joint.kernel, joint.mode), []).append(joint)
    alike = list(sets.values())
    groups = pairs_in_groups(len(alike), _SIZE, seed)
    assert len(groups) + THREES <= WARP_PLANS, f"{len(groups)} plans for Warp: raise _SIZE"
    return [[alike[one][number % len(alike[one])] for one in group] for number, group in enumerate(groups)]


def warp_plans_of_three(seed: int = 0) -> list[list[Joint]]:
    """All joints of three stages: their kernels have nearly all laws, so it does not matter which are together."""
    joints = joints_of_three(seed)[0]
    return [list(joints[first::THREES]) for first in range(THREES)]


def by_engines(plans: Sequence[Sequence[Joint]]) -> Tally:
    """Plans on Warp: each joint as on the core alone, and with the bits that it has in the other plans on Warp."""
    tally, baselines = Tally("(c) Warp, and the core"), Baselines()
    known: dict[tuple[Joint, int, int], Record] = {}
    for joints in plans:
        axes = [len(joint.axes) for joint in joints]
        places = [(sum(axes[:at]), sum(axes[at + 1 :])) for at in range(len(joints))]
        try:
            with engine("warp"):
                records = run(joints, ROBOTS)
        except (TypeError, ValueError) as error:
            tally.add(joints, "each other on Warp", functools.partial(str, f"{type(error).__name__}: {error}"))
            continue
        for joint, place, record in zip(joints, places, records, strict=True):
            if any(joint.sums(other) for other in joints if other is not joint):
                continue
            alone = functools.partial(baselines.of, joint, *place)
            tally.add(joint, "itself on the core", functools.partial(_as_promised, joint, record, alone))
            first = known.setdefault((joint, *(place if joint.asks_number else (0, 0))), record)
            if first is not record:
                tally.add(joint, "itself in another plan on Warp", functools.partial(record.differs_from, first))
    return tally


def _as_promised(joint: Joint, one: Record, alone: Callable[[], Record]) -> str:
    """How far two engines are apart beyond what they promise: no bit of explicit efforts."""
    other, names = alone(), [component.__name__ for component in joint.components]
    if any("Neural" in name for name in names):
        return off_by(one.efforts, other.efforts, NETWORK_TOLERANCE)
    if joint.mode == MODES[0]:
        return one.differs_from(other)
    has_friction = any("Friction" in name for name in names)
    most = FRICTION_TOLERANCE if has_friction else IMPLICIT_TOLERANCE
    if any(name in JUMPING for name in names) or any(map(joint.has_choice, JUMPS)):
        return off_by(one.efforts, other.efforts, NEAR * most, math.inf, OFTEN)
    # friction takes the motor as a line, of which the last one may be another
    furthest = NEAR * most if has_friction else 0.0
    return off_by(one.efforts, other.efforts, most, furthest) or ("" if one.faults == other.faults else "other faults")


def off_by(found: np.ndarray, expected: np.ndarray, most: float, furthest: float = 0.0, share: float = FEW) -> str:
    """How far efforts `(steps, robots, …)` are off, relative to the largest of their robot; else an empty text."""
    scale = np.maximum(np.abs(expected).max(axis=0, keepdims=True), 1e-6)
    off = np.abs(found.astype(np.float64) - expected) / scale
    if np.mean(~(off <= most)) <= share and (off <= max(most, furthest)).all():
        return ""
    at = np.unravel_index(np.argmax(np.where(np.isnan(off), np.inf, off)), off.shape)
    return f"{float(found[at])!r} for {float(expected[at])!r} at {tuple(map(int, at))}, by {off[at]:.2g}"


ORACLE_TOLERANCE, DIFFERENCE_TOLERANCE = 3e-5, 5e-4
"""How far explicit efforts are from float64, relative likewise; of encoders and springs, which subtract positions."""


def by_oracle(joints: Sequence[Joint], robots: int = 4) -> Tally:
    """Joints, and the formulas of their laws in float64, one after the other."""
    tally = Tally("(d) float64")
    for joint in filter(has_formulas, joints):
        told = script(joint, robots, faults=False)

        def differ(joint: Joint = joint, told: Script = told) -> str:
            subtracts = any(one.__name__ in ("FeedbackEncoder", "TransmissionElastic") for one in joint.components)
            (record,) = run([joint], robots, scripts={joint: told})
            exact = expected_efforts(joint, told, robots)
            return off_by(record.efforts[:, :, 0], exact, DIFFERENCE_TOLERANCE if subtracts else ORACLE_TOLERANCE)

        tally.add(joint, "float64", differ)
    return tally
