"""Tapes of Warp: laws that have gradients there, and the gradients of efforts."""

import numpy as np
import warp as wp
from isaacsim.core.experimental.actuators.laws.contract import catalogue
from isaacsim.core.experimental.actuators.specs.stages import KINDS

# laws that only publish signals have no gradients, nor linkages, which couple joints, and laws of commands; delays,
# sensors that act late, and rates have tests of their own
LAWS = sorted(
    law.name
    for law in catalogue.laws()
    if KINDS[law.kind].gives and not KINDS[law.kind].couples and not KINDS[law.kind].commands
    if law.component.LAW is not None and not law.component.LATE and law.component.TICK is None
)


def backward(tape: wp.Tape, arrays: dict[str, wp.array], efforts: str = "joint_f") -> dict[str, np.ndarray]:
    """All gradients, for one of 1 of each effort."""
    arrays[efforts].grad.fill_(1.0)
    tape.backward()
    return {name: one.grad.numpy().copy() for name, one in arrays.items() if one.grad is not None}


def gradients(actuator, arrays: dict[str, wp.array], *states_and_dt, efforts: str = "joint_f") -> dict[str, np.ndarray]:
    """Those of one step, whose signals and efforts are in `arrays`."""
    with wp.Tape() as tape:
        actuator.step(arrays, arrays, *states_and_dt)
    return backward(tape, arrays, efforts)
