"""Time several functions side by side, so that load and throttling affect all of them equally."""

from __future__ import annotations

import argparse
import gc
import itertools
import math
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

Block = Callable[[int], float]
"""Run a number of steps and return the seconds per step."""


def steps(step: Callable[[], Any]) -> Block:
    """Blocks of a function, in CPU time of this thread, which excludes other processes on a shared machine."""

    def block(count: int) -> float:
        start = time.thread_time()
        for _ in itertools.repeat(None, count):
            step()
        return (time.thread_time() - start) / count

    return block


def interleave(blocks: Mapping[str, Block], rounds: int, block_seconds: float) -> dict[str, np.ndarray]:
    """Return the seconds per step of every block, one value per round; rounds visit all blocks in random order.

    Args:
        blocks: The blocks to time.
        rounds: Number of rounds.
        block_seconds: Minimum time of a block.
    """
    shuffle = np.random.default_rng(0).permuted
    found: dict[str, list[float]] = {name: [] for name in blocks}
    gc.collect()
    gc.disable()
    try:
        counts = {name: _steps_per_block(block, block_seconds) for name, block in blocks.items()}
        for _ in range(rounds):
            for name in shuffle(list(blocks)):
                found[name].append(blocks[name](counts[name]))
    finally:
        gc.enable()
    return {name: np.array(values) for name, values in found.items()}


def _steps_per_block(block: Block, seconds: float) -> int:
    """Return the number of steps that take this long; this also warms caches and loads lazy modules."""
    count = 1
    block(count)
    while (each := block(count)) * count < seconds / 4:
        count *= 4
    return math.ceil(seconds / max(each, 1e-9))


def print_ratios(about: str | None, head: str, candidates: Callable[[int], Mapping[str, Callable[[], Any]]]) -> None:
    """Print a table: microseconds per step of 12 joints, and the ratio to the first candidate.

    Args:
        about: Description of the benchmark for `--help`.
        head: Heading of the names.
        candidates: Checks the candidates of a number of robots, and returns what makes a step of each, by name.
    """
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    quick, sizes = parser.parse_args().quick, (1, 1024, 4096)
    print(f"| {head} | " + " | ".join(f"{robots} x 12 | ratio" for robots in sizes) + " |\n" + "|---" * 7 + "|")
    rows: dict[str, list[str]] = {}
    for robots in sizes:
        blocks = {name: steps(step) for name, step in candidates(robots).items()}
        seconds = interleave(blocks, 5 if quick else 21, 0.005)
        first = next(iter(seconds.values()))
        for name, values in seconds.items():
            cell = f"{np.median(values) * 1e6:.3g} µs | {float(np.median(values / first)):.3g}"
            rows.setdefault(name, []).append(cell)
    for name, cells in rows.items():
        print(f"| {name} | " + " | ".join(cells) + " |")
