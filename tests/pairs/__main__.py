"""Compare joints alone and in company, and count: `./python.sh -m tests.pairs [--seed N] [--only RELATION]`.

| relation | what is compared |
|---|---|
| pairs | (a) every joint beside every joint, in a plan of two on the core, with itself alone: the same bits |
| groups | (a) all joints in one plan, and random ones; in wrappers and groups of actuators, too |
| rows | (b) a robot beside robots that are reset, have a fault or other parameters, and by itself: the same bits |
| classes | a joint in `ArticulationActuators`, in `Actuator` and in `ActuatedArrays`: the same bits |
| float64 | (d) explicit efforts, and the published formulas one after the other |
| three | (a), (b) and (d) of joints with each three choices of stages |
| warp | (c) at most sixty plans on Warp, and the core: the same bits, or as close as implicit efforts are |

A joint is a law of the table with one of its choices, alone, behind a gear and in each effort mode. A round trip
through a file is not among the relations; it is in `tests/files/usd` and the conformance of kinds.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

import pair_checks
import warp as wp
from pair_checks import Tally, usable_joints
from pair_joints import joints_of_three
from pair_worlds import Actuators, Wrapper, engine
from quick_kernels import compile_quickly


def pairs(seed: int) -> Iterator[Tally]:
    yield pair_checks.by_pairs(seed=seed)


def groups(seed: int) -> Iterator[Tally]:
    joints = usable_joints(seed)
    yield pair_checks.by_groups(joints, seed=seed)
    yield pair_checks.by_groups(joints, Wrapper, count=3, seed=seed)
    yield pair_checks.by_groups([one for one in joints if not one.is_linkage], Actuators, count=3, seed=seed)


def rows(seed: int) -> Iterator[Tally]:
    joints, others = usable_joints(seed), usable_joints(seed + 1)
    for robots in (5, 37):
        plans = [*([joint] for joint in joints), *pair_checks.groups(joints, 20, seed + robots)]
        yield pair_checks.by_rows(plans, others, robots=robots)
    yield pair_checks.by_rows([[joint] for joint in joints], binding=Wrapper)


def classes(seed: int) -> Iterator[Tally]:
    yield pair_checks.by_bindings(seed)


def float64(seed: int) -> Iterator[Tally]:
    yield pair_checks.by_oracle(usable_joints(seed))


def three(seed: int) -> Iterator[Tally]:
    (joints, impossible), (others, _) = joints_of_three(seed), joints_of_three(seed, 1)
    print(f"{len(joints)} joints of three stages; {impossible} threes cannot be on a joint")
    yield pair_checks.by_oracle(joints)
    yield pair_checks.by_rows([[joint] for joint in joints], others)
    yield pair_checks.by_groups(joints, count=2, seed=seed, most=30)


def warp(seed: int) -> Iterator[Tally]:
    plans = pair_checks.warp_plans(seed)
    plans += pair_checks.warp_plans_of_three(seed)
    print(f"{len(plans)} plans on Warp")
    yield pair_checks.by_engines(plans)


RELATIONS: dict[str, Callable[[int], Iterator[Tally]]] = {
    one.__name__: one for one in (pairs, groups, rows, classes, float64, three, warp)
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0, help="of all values and inputs (default 0, as in the tests)")
    parser.add_argument("--only", nargs="+", choices=RELATIONS, default=list(RELATIONS), metavar="RELATION")
    given = parser.parse_args()
    wp.config.quiet = True
    compile_quickly()
    differ = 0
    with engine("native"):
        print(f"{len(usable_joints(given.seed))} joints", flush=True)
        for name in given.only:
            begin = time.process_time()
            for tally in RELATIONS[name](given.seed):
                differ += len(tally.differ)
                print(f"{name}, {time.process_time() - begin:.0f} s of processor time: {tally}", flush=True)
    return int(differ > 0)


if __name__ == "__main__":
    sys.exit(main())
