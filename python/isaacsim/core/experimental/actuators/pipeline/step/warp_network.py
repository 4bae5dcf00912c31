"""A network of a plan in Warp: between the phases of a step, on the arrays that they hand over."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import warp as wp

from ...components.network_law import NetworkLaw
from ...components.network_run import NetworkRun
from ..plan import Plan, StatefulLaw
from .binding import places_of
from .warp_functions import give_kernel


class WarpNetwork:
    """A network for those slots of a plan that have it.

    Args:
        remembering: Its law and slots.
        plan: The plan.
        device: Warp device.
    """

    def __init__(self, remembering: StatefulLaw[NetworkLaw], plan: Plan, device: Any) -> None:
        self._at = places_of(np.flatnonzero(remembering.used), plan.num_robots, plan.num_slots, device)
        self._run, self._device = NetworkRun(remembering.law, len(self._at), device), device

    def compute(self, handed: Sequence[wp.array], now: Sequence[wp.array]) -> None:
        """Put its efforts in the place of those of the first phase.

        Args:
            handed: What the phases hand over, flattened: five signals, fault codes, efforts, efforts before limits.
            now: What was remembered.
        """
        *signals, bad, efforts, computed = handed
        self._run.compute(signals[:4], [self._at] * 4, now)
        given = [self._at, bad, self._run.efforts, self._run.efforts]
        wp.launch(give_kernel, len(self._at), given, [computed, efforts], device=self._device)

    def advance(self, handed: Sequence[wp.array], now: Sequence[wp.array], after: Sequence[wp.array]) -> None:
        """Write its next state, once the second phase has added its faults to the fault codes.

        Args:
            handed: As for `compute`.
            now: What was remembered.
            after: Where what is remembered goes, maybe the same.
        """
        self._run.advance(now, after, handed[5], self._at)
