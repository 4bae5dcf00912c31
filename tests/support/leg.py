"""A robot of arrays whose drives have gains."""

import isaacsim.core.experimental.actuators as aa
import warp as wp
from isaacsim.core.experimental.actuators.simulators.arrays import ArraysHost

NAMES = ["hip", "knee", "ankle"]


class Leg:
    def __init__(self) -> None:
        self.host = ArraysHost(NAMES)
        self.host.bus.on_ready(self.give_gains, order=-1)

    def give_gains(self) -> None:
        self.host.arrays().stiffnesses[:] = [1.1, 2.2, 3.3]
        self.host.arrays().dampings[:] = [0.1, 0.2, 0.3]

    def gains(self) -> list[float]:
        return [round(float(gain), 3) for gain in self.host.arrays().stiffnesses]

    def pairs(self, *joints: str) -> list[tuple[aa.ActuatorConfig, str]]:
        """A PD law with gains 1 for each joint."""
        one = wp.ones(1, dtype=wp.float32, device="cpu")
        return [(aa.ActuatorConfig(aa.ControllerPD(one, one)), joint) for joint in joints]

    def wrap(self, *joints: str) -> aa.ArticulationActuators:
        return aa.ArticulationActuators.from_actuators("/Robot", self.pairs(*joints))
