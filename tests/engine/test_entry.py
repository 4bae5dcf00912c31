"""Actuators built in Python."""

import numpy as np
from isaacsim.core.experimental.actuators import (
    ActuatedArrays,
    ActuatorConfig,
    FrictionConfig,
    ImplicitConfig,
    PDControlConfig,
)
from refusals import refused


def test_actuator_without_a_controller_is_refused() -> None:
    refused(ValueError, lambda: ActuatorConfig(None), "controller = None: must be a Controller")


def test_passive_joint_may_have_the_mode_of_the_others() -> None:
    passive = ActuatorConfig(others=[FrictionConfig(0.1, assumed_inertia=0.01)])
    pairs = [(ActuatorConfig(PDControlConfig(10.0, 0.5)), "hip"), (passive, "knee")]
    motors = {"hip": [PDControlConfig(10.0, 0.5)], "knee": passive.others}
    q, qd, target = np.zeros((1, 2), np.float32), np.full((1, 2), 0.3, np.float32), np.ones((1, 2), np.float32)
    efforts = []
    for given in (pairs, motors):
        arrays = ActuatedArrays(["hip", "knee"], given, effort_mode="implicit")
        arrays.set_mass_matrix([[0.01, 0.001], [0.001, 0.01]])
        efforts.append(np.array(arrays.step(q, qd, target, 0.002)))
    np.testing.assert_array_equal(*efforts)
    assert efforts[0].all()
    refused(ValueError, lambda: ActuatorConfig(others=[ImplicitConfig()]), "controller = None")
