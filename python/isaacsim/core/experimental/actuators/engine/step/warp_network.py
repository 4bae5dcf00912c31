"""A network of a plan in Warp, which runs between the two phases of a step."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import warp as wp

from ...laws.networks.network_law import NetworkLaw
from ...laws.networks.network_run import NetworkRun
from ..plan import Plan, StatefulLaw
from .binding import places_of
from .warp_functions import write_efforts_kernel


class WarpNetwork:
    """A network for the slots of a plan that have it."""

    def __init__(self, stateful: StatefulLaw[NetworkLaw], plan: Plan, device: wp.DeviceLike) -> None:
        self._at = places_of(np.flatnonzero(stateful.used), plan.num_robots, plan.num_slots, device)
        self._run, self._device = NetworkRun(stateful.law, len(self._at), device), device

    def compute(self, handed: Sequence[wp.array], now: Sequence[wp.array]) -> None:
        """Replace the efforts of the first phase by those of the network."""
        *signals, bad, efforts, computed = handed
        self._run.compute(signals[:4], [self._at] * 4, now)
        given = [self._at, bad, self._run.efforts, self._run.efforts]
        wp.launch(write_efforts_kernel, len(self._at), given, [computed, efforts], device=self._device)

    def advance(self, handed: Sequence[wp.array], now: Sequence[wp.array], after: Sequence[wp.array]) -> None:
        """Write the next state, after the second phase has added its faults to the fault codes."""
        self._run.advance(now, after, handed[5], self._at)
