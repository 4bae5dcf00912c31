"""A custom law in NumPy: this module has no Warp kernel."""

import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators import ActuatorConfig, ArticulationActuators, Controller, use_host
from isaacsim.core.experimental.actuators.simulators.arrays import ArraysHost
from played import played_arrays


class Sign(Controller):
    """Effort 5 towards the position target."""

    def compute(self, positions: wp.array, _: wp.array, target_pos: wp.array, *rest, device=None) -> None:
        _target_vel, _feedforward, pos_indices, _, target_pos_indices, _, forces, _state, _dt = rest
        error = target_pos.numpy()[target_pos_indices.numpy()] - positions.numpy()[pos_indices.numpy()]
        forces.assign(5 * np.sign(error))


def test_law_in_numpy_drives_its_joint() -> None:
    with played_arrays(["hip", "knee"], 2) as host:
        with ArticulationActuators.from_actuators("/Robot_.*", [(ActuatorConfig(Sign()), "knee")]):
            host.arrays().position_targets[:] = [1, 1, -1, -1]
            host.step(0.01)
            assert host.arrays().efforts.tolist() == [0, 5, 0, -5]


class Counting(Sign):
    class State:
        def __init__(self) -> None:
            self.steps = np.zeros(2)

    def is_stateful(self) -> bool:
        return True

    def state(self, num_actuators: int, device) -> State:
        return self.State()


def test_memory_that_cannot_be_held_is_refused_when_bound() -> None:
    """A fault has to leave it as it was: the message names actuator and array, and says what to do."""
    with use_host(ArraysHost(["hip", "knee"], 2)):
        with pytest.raises(ValueError, match=r"'knee': controller_state\.steps is a ndarray.*Keep the state in such"):
            ArticulationActuators.from_actuators("/Robot_.*", [(ActuatorConfig(Counting()), "knee")])
