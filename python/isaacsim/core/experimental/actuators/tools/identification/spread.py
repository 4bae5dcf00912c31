"""Work on all cores of this machine, or on a cluster of Ray."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from ...base.extras import needs

_T = TypeVar("_T")


def each(function: Callable[[int], _T], count: int, on_ray: bool = False) -> list[_T]:
    """Return the results of a function for the numbers 0 … count - 1."""
    if not on_ray:
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            return list(pool.map(function, range(count)))
    with needs("identification on Ray", "ray"):
        import ray  # pyright: ignore[reportMissingImports]
    if not ray.is_initialized():
        if "RAY_ADDRESS" in os.environ:
            ray.init()
        else:
            ray.init("local", num_cpus=os.cpu_count(), log_to_driver=False)
    task = ray.remote(function)
    return ray.get([task.remote(number) for number in range(count)])
