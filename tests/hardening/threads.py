"""Several Python threads with the native core at once: plans of their own, and the same one.

    ./python.sh tests/hardening/threads.py --seconds 20
    tools/sanitize.sh --threads                            # the same on a core built with the thread sanitizer

Large plans let other threads run while they step, small ones do not; both are stepped, read, reset, recorded and bound
anew by all threads. What plans of their own compute is what they compute alone.
"""

import argparse
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from core_objects import DT, Bench, Chain, OneJoint, floats
from isaacsim.core.experimental.actuators.base.native import core

THREADS = 4
# robots of four joints: steps of the second let other threads run
SIZES = {"small": 3, "large": 4096}


def efforts_alone(robots: int) -> list[np.ndarray]:
    """Of some steps after a reset, of a plan that is stepped alone."""
    bench = Bench(robots)
    inputs, efforts, columns = bench.column_arguments()
    bench.plan.bind_columns(inputs, efforts, columns)
    bench.plan.reset()
    found = []
    for _ in range(4):
        bench.plan.step(DT)
        found.append(efforts.copy())
    return found


def own_plan(robots: int) -> Callable[[int], None]:
    known = efforts_alone(robots)

    def work(_thread: int) -> None:
        bench = Bench(robots)
        inputs, efforts, columns = bench.column_arguments()
        bench.plan.bind_columns(inputs, efforts, columns)
        bench.plan.reset()
        for wanted in known:
            bench.plan.step(DT)
            assert np.array_equal(efforts, wanted), "another plan's thread changed efforts"

    return work


def helped(robots: int) -> Callable[[int], None]:
    known = efforts_alone(5 * robots)
    os.environ["ACTUATORS_HELPER"] = "1"
    try:
        benches = [Bench(5 * robots) for _ in range(THREADS)]
    finally:
        del os.environ["ACTUATORS_HELPER"]
    given = [bench.column_arguments() for bench in benches]
    for bench, arrays in zip(benches, given, strict=True):
        bench.plan.bind_columns(*arrays)

    def work(thread: int) -> None:
        plan, (_, efforts, _) = benches[thread].plan, given[thread]
        plan.reset()
        for wanted in known:
            efforts[:] = np.nan
            plan.step(DT)
            assert np.array_equal(efforts[:, ::2], wanted[:, ::2]), "efforts are not those without help"

    return work


def race(robots: int) -> Callable[[int], None]:
    """What nobody may do, so that a sanitizer has something to find: plans of two threads write to the same array."""
    benches = [Bench(robots) for _ in range(THREADS)]
    given = benches[0].column_arguments()
    for bench in benches:
        bench.plan.bind_columns(*given)
    return lambda thread: benches[thread].plan.step(DT)


def same_plan(robots: int) -> Callable[[int], None]:
    bench = Bench(robots)
    given = [bench.column_arguments() for _ in range(2)]
    states = [bench.state, core.State(*bench.state_arguments())]
    tapes = threading.local()

    def record(_turn: int) -> None:
        tapes.own = core.Tape(*bench.tape_arguments())
        bench.plan.record(tapes.own)
        bench.plan.step(DT)
        bench.plan.read(tapes.own, 3)
        bench.plan.stop_recording(tapes.own)

    actions: list[Callable] = [
        lambda _: bench.plan.step(DT),
        lambda _: bench.plan.step(DT),
        lambda _: bench.plan.faults(),
        lambda turn: bench.plan.bind_columns(*given[turn % 2]),
        lambda turn: bench.plan.use(states[turn % 2], states[0]),
        lambda turn: bench.plan.reset([turn % robots]),
        lambda _: bench.plan.reset(),
        lambda turn: bench.plan.share(0, floats(4, value=turn % 5)),
        lambda turn: bench.plan.own(1, floats(robots, 4, value=turn % 5)),
        lambda turn: bench.plan.observe(floats(robots, 4) if turn % 2 else None, None),
        record,
        lambda _: (bench.plan.steps, bench.plan.layout, bench.plan.memory, bench.plan.variant),
        lambda turn: bench.plan.set_faults([(0, 0, 1, turn)], turn),
        lambda _: bench.plan.unsettle(),
    ]

    def work(thread: int) -> None:
        rng = np.random.default_rng(thread)
        for _ in range(20):
            actions[rng.integers(len(actions))](int(rng.integers(100)))

    return work


def same_calls(_robots: int) -> Callable[[int], None]:
    one = OneJoint()

    def work(_thread: int) -> None:
        one.calls.add_frame(*one.frame())
        one.calls.add_states(*one.states())
        for _ in range(5):
            one.run()

    return work


def same_network(robots: int) -> Callable[[int], None]:
    network = core.Network(*Bench().recurrent_arguments())
    rows = 4 * robots

    def work(_thread: int) -> None:
        now, after = ([floats(1, rows, 2, value=0.5) for _ in range(2)] for _ in range(2))
        y = floats(rows)
        network.bind(floats(rows, 1), y, now, after).run()
        assert (y == y[0]).all(), "another thread's rows"

    return work


def gradients(_robots: int) -> Callable[[int], None]:
    chain = Chain()

    def work(_thread: int) -> None:
        for one in [chain.gradients.note(*chain.noting()) for _ in range(3)]:
            chain.gradients.back(one, *chain.backing())

    return work


CASES = [own_plan, helped, same_plan, same_calls, same_network, gradients]


def run(name: str, work: Callable[[int], None], seconds: float) -> tuple[int, list[str]]:
    rounds, errors = Counter[int](), []
    end = time.monotonic() + seconds
    ready = threading.Barrier(THREADS)

    def loop(thread: int) -> None:
        ready.wait()
        try:
            while not rounds[thread] or time.monotonic() < end:
                work(thread)
                rounds[thread] += 1
        except Exception as error:
            errors.append(f"{name}, thread {thread}: {error!r}")

    threads = [threading.Thread(target=loop, args=(number,), daemon=True) for number in range(THREADS)]
    for one in threads:
        one.start()
    for one in threads:
        one.join(seconds + 300)
        if one.is_alive():
            errors.append(f"{name}: locked up")
    return rounds.total(), errors


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--race", action="store_true", help="do what a sanitizer has to find, and nothing else")
    options = parser.parse_args()
    if core is None:
        print("the native core was not built", file=sys.stderr)
        return 2
    print(f"{THREADS} threads, {options.seconds:g} s, {core.__file__}")
    sys.setswitchinterval(1e-5)
    cases = [race] if options.race else CASES
    errors: list[str] = []
    for case in cases:
        for size, robots in SIZES.items():
            rounds, found = run(f"{case.__name__}, {size}", case(robots), options.seconds / len(cases) / len(SIZES))
            print(f"{case.__name__:14}{size:8}{rounds:8} rounds", flush=True)
            errors += found
    print(*errors, f"{len(errors)} wrong", sep="\n")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
