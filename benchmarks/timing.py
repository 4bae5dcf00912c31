"""Time several functions side by side, so that load and throttling affect all of them equally."""

from __future__ import annotations

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
