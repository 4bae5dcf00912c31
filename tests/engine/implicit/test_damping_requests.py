"""Efforts that a simulator is to take over, where none is attached."""

import isaacsim.core.experimental.actuators as aa
import pytest
import warp as wp


def test_loop_of_arrays_refuses_it() -> None:
    with pytest.raises(ValueError, match=r"ImplicitConfig.in_engine = True of joints a: must be False here"):
        aa.ActuatedArrays(["a"], {".*": [aa.PDControlConfig(10.0, 1.0), aa.ImplicitConfig(in_engine=True)]})


def test_actuator_of_its_own_refuses_it() -> None:
    one = wp.ones(1, dtype=wp.float32, device="cpu")
    with pytest.raises(ValueError, match=r"ImplicitConfig.in_engine = True of joints knee: must be False here"):
        aa.Actuator(
            wp.zeros(1, dtype=wp.uint32, device="cpu"),
            aa.ControllerPD(one, one, None),
            label="knee",
            others=[aa.ImplicitEffort(one, one, one)],
        )
