"""Launches of kernels whose arguments are packed once: most of the time of a small kernel is that of its arguments."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import warp as wp


def recorded(
    kernel: object,
    dim: int | tuple[int, ...],
    inputs: Sequence[object],
    outputs: Sequence[object],
    device: wp.DeviceLike,
    *,
    record_tape: bool = True,
) -> wp.Launch:
    """Return the launch of a kernel with its arguments packed; it is not launched."""
    # Warp's own type is that of a launch which may have happened
    launch: Any = wp.launch(kernel, dim, inputs, outputs, device=device, record_tape=record_tape, record_cmd=True)
    return launch


class Launches:
    """Launches by name, each with the arguments of the first time."""

    def __init__(self, device: wp.DeviceLike) -> None:
        self._device = device
        self._given: tuple[object, ...] = ()
        # with the arrays, which a launch does not keep
        self._recorded: dict[Hashable, tuple[wp.Launch, object]] = {}

    def for_arguments(self, *given: object) -> None:
        """Pack all arguments again if one of these, which launches have in common, is another one than before."""
        known = self._given
        same = len(known) == len(given) and all(
            one is other or (isinstance(one, float) and one == other) for one, other in zip(given, known, strict=True)
        )
        if not same:
            self._recorded.clear()
            self._given = given

    def run(
        self, name: Hashable, kernel: object, size: int, inputs: Sequence[object], outputs: Sequence[object]
    ) -> None:
        """Launch a kernel; later calls of the same name have the same arguments, and need not give them."""
        known = self._recorded.get(name)
        if known is None:
            command = recorded(kernel, size, inputs, outputs, self._device, record_tape=False)
            known = self._recorded[name] = command, (inputs, outputs)
        known[0].launch()
