"""Arguments, shapes and index arrays of the components; their laws are checked in `twins/`."""

from __future__ import annotations

import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators import ClampingMaxEffort, ControllerPD, Delay, DelayConfig, PDControlConfig
from isaacsim.core.experimental.actuators.components.base import Clamping, Component, Controller
from isaacsim.core.experimental.actuators.components.catalogue import build


def array(values, dtype=wp.float32) -> wp.array:
    return wp.array(np.asarray(values), dtype=dtype, device="cpu")


@pytest.mark.parametrize(
    ("component", "given", "expected"),
    [
        (ControllerPD, {}, {"kp": 0.0, "kd": 0.0, "const_effort": 0.0}),
        (ControllerPD, {"kp": 2.0, "gear": 9}, {"kp": 2.0, "kd": 0.0, "const_effort": 0.0}),
        (ClampingMaxEffort, {}, {"max_effort": np.inf}),
        (Delay, {}, {"delay_steps": 1}),
        (Delay, {"delay_steps": 0}, {"delay_steps": 0}),
    ],
)
def test_arguments_get_their_defaults(component: type[Component], given: dict, expected: dict) -> None:
    """Absent arguments take the schema's fallback, unknown ones are dropped."""
    assert component.resolve_arguments(given) == expected


@pytest.mark.parametrize(
    ("component", "given"),
    [
        (ControllerPD, {"kp": -1.0}),
        (ControllerPD, {"kd": np.nan}),
        (ControllerPD, {"const_effort": np.inf}),
        (ClampingMaxEffort, {"max_effort": -0.5}),
        (ClampingMaxEffort, {"max_effort": -np.inf}),
        (Delay, {"delay_steps": -1}),
        (Delay, {"delay_steps": 1.5}),
        (Delay, {"delay_steps": 2**31 - 1}),
    ],
)
def test_bad_arguments_are_refused_by_name(component: type[Component], given: dict) -> None:
    """The message names parameter and value."""
    ((name, value),) = given.items()
    with pytest.raises(ValueError, match=name) as error:
        component.resolve_arguments(given)
    assert repr(value) in str(error.value)


def test_arrays_of_different_shape_are_refused() -> None:
    """Constructors check shapes, and say which array is wrong."""
    with pytest.raises(ValueError, match=r"kd has shape \(3,\).*\(2,\)"):
        ControllerPD(array([1, 2]), array([1, 2, 3]))


def test_negative_largest_delay_is_refused() -> None:
    """0 is no delay; less is nothing."""
    with pytest.raises(ValueError, match="max_delay = -1"):
        Delay(array([0], wp.int32), -1)


def test_config_becomes_a_component() -> None:
    """Each value is repeated for every actuator."""
    controller = build(PDControlConfig(3.0, 0.5), 4, "cpu")
    assert controller.kp.numpy().tolist() == [3.0] * 4
    delay = build(DelayConfig(2), 4, "cpu")
    assert (delay.delay_steps.numpy().tolist(), delay.max_delay) == ([2] * 4, 2)


def test_pd_gathers_by_its_index_arrays() -> None:
    """Positions, velocities and both targets each have an index array of their own; feedforward goes with velocity."""
    controller = ControllerPD(array([10, 20]), array([1, 2]))
    signals = [array(np.arange(8) + 10 * n) for n in range(5)]
    q, qd, q_target, qd_target, feedforward = signals
    indices = [array(pair, wp.uint32) for pair in ([1, 2], [3, 4], [5, 6], [7, 0])]
    efforts = wp.zeros(2, dtype=wp.float32, device="cpu")
    controller.compute(q, qd, q_target, qd_target, feedforward, *indices, efforts, None, None)
    expected = [47 + 10 * (25 - 1) + 1 * (37 - 13), 40 + 20 * (26 - 2) + 2 * (30 - 14)]
    assert efforts.numpy().tolist() == expected


def test_base_classes_are_contracts() -> None:
    """A family's base computes nothing by itself."""
    with pytest.raises(NotImplementedError):
        Clamping().modify_forces(*[None] * 6)
    assert not Controller().is_stateful()
