"""Actuators of models that are switched off, and come back."""

import numpy as np
from isaacsim.core.experimental.actuators.base.errors import HostError
from isaacsim.core.experimental.actuators.simulators.mujoco.switches import Switches, actuators_off
from refusals import refused


def switches_of(groups: np.ndarray, bits: np.ndarray) -> Switches:
    def write(values: np.ndarray) -> None:
        bits[:] = values

    return Switches(lambda: groups, bits.copy, write)


def test_those_of_silent_axes_are_off() -> None:
    off = actuators_off(np.array([[True, False, True], [False, True, False]]), {0: [1, 3], 1: [0]}, 4)
    np.testing.assert_array_equal(off, [[False, True, False, True], [True, False, False, False]])


def test_groups_come_back(rng) -> None:
    groups, bits = rng.integers(0, 31, (3, 5)), rng.integers(0, 1 << 31, 3)
    before = groups.copy(), bits.copy()
    switches = switches_of(groups, bits)
    off = np.zeros((3, 5), bool)
    for _ in range(50):
        off ^= rng.random((3, 5)) < 0.3
        switches.set(off)
        np.testing.assert_array_equal((bits[:, None] >> groups & 1)[off], 1)
        np.testing.assert_array_equal(groups[~off], before[0][~off])
    switches.set(np.zeros((3, 5), bool))
    np.testing.assert_array_equal(groups, before[0])
    np.testing.assert_array_equal(bits, before[1])


def test_no_group_is_free() -> None:
    groups, bits = np.arange(31)[None].copy(), np.zeros(1, int)
    refused(HostError, lambda: switches_of(groups, bits).set(np.ones((1, 31), bool)), "one must be free")
    assert (groups == np.arange(31)).all() and not bits.any()
