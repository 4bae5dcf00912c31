"""Switch actuators of a MuJoCo model off, and on again as they were."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ...base.errors import HostError

# a fixed gain and no bias: cogging and friction of a DC motor act beyond the limit of its force
WITHOUT_FORCE = {
    "actuator_gaintype": 0,
    "actuator_biastype": 0,
    "actuator_forcelimited": True,
    "actuator_forcerange": 0.0,
}
"""Fields of an actuator that has no force, for mujoco_warp, which has no disabled groups."""


class Switches:
    """Switches actuators off by moving them to a group that no other is in, and disabling the group.

    That holds for every kind of actuator and for derivatives of implicit integrators; armature and damping stay.
    `groups` gives those of the actuators, a model a row, in place; `read_bits` and `write_bits` the disabled ones.
    """

    def __init__(
        self,
        groups: Callable[[], np.ndarray],
        read_bits: Callable[[], np.ndarray],
        write_bits: Callable[[np.ndarray], None],
    ) -> None:
        self._groups, self._read_bits, self._write_bits = groups, read_bits, write_bits
        self._former = groups().copy()
        self._off = np.zeros(self._former.shape, bool)

    def set(self, off: np.ndarray) -> None:
        """Switch exactly these actuators off, a model per row."""
        newly, back = off & ~self._off, self._off & ~off
        if not (newly.any() or back.any()):
            return
        if not self._off.any():
            # MuJoCo can disable groups 0 … 30
            free = sorted(set(range(31)) - set(self._groups().ravel().tolist()))
            if not free:
                raise HostError(
                    "the model's actuators are in all of the groups 0 … 30: one must be free, to switch off in it "
                    "those whose joints are driven. Put two groups into one."
                )
            self._group = free[-1]
            self._was_disabled = self._read_bits() & (1 << self._group)
        groups = self._groups()
        self._former[newly] = groups[newly]
        groups[newly] = self._group
        groups[back] = self._former[back]
        self._off = off.copy()
        bit, bits = 1 << self._group, self._read_bits()
        self._write_bits(np.where(off.any(axis=1), bits | bit, (bits & ~bit) | self._was_disabled))


def actuators_off(silent: np.ndarray, actuators: Mapping[int, Sequence[int]], count: int) -> np.ndarray:
    """Which of `count` actuators are off, `(environments, actuators)`: those of the silent axes."""
    off = np.zeros((len(silent), count), bool)
    for axis, own in actuators.items():
        off[:, own] = silent[:, axis, None]
    return off
