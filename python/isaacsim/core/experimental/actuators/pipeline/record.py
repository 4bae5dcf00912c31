"""What the steps of an `Actuator` leave behind besides efforts and states."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import warp as wp

from .fault import Fault, faults_of


class Record:
    """Efforts before the clamps, and the first fault of each joint.

    Args:
        num_actuators: Number of joints, `N`.
        device: Warp device.
    """

    def __init__(self, num_actuators: int, device: Any) -> None:
        self.computed = wp.zeros(num_actuators, dtype=wp.float32, device=device)
        self.fault = wp.zeros(num_actuators, dtype=wp.int32, device=device)
        self.fault_step = wp.zeros(num_actuators, dtype=wp.int64, device=device)
        # one count per joint, so that kernels need no order among their threads
        self.steps = wp.zeros(num_actuators, dtype=wp.int64, device=device)

    def clear(self) -> None:
        """Forget faults and count steps from 0 again."""
        self.fault.zero_()
        self.steps.zero_()

    def faults(self, label: str, dof_names: Sequence[str]) -> list[Fault]:
        """The faults by joint and robot; joints without names are robots of one joint each. Reads the device."""
        names = list(dof_names) if dof_names and len(self.fault) % len(dof_names) == 0 else [""]
        shape = (-1, len(names))
        steps = self.fault_step.numpy().reshape(shape)
        return faults_of([(label, name) for name in names], self.fault.numpy().reshape(shape), steps)
