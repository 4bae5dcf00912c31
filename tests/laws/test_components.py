"""Arguments, shapes and index arrays of the components; their laws are checked in `twins/`."""

from typing import Any, ClassVar

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators import ControllerPID, Delay
from isaacsim.core.experimental.actuators.laws.contract.base import Clamping, Controller, actuator_axis
from isaacsim.core.experimental.actuators.laws.contract.catalogue import build
from refusals import cases, refused


def array(values, dtype=wp.float32) -> wp.array:
    return wp.array(np.asarray(values), dtype=dtype, device="cpu")


@cases(
    "component, given, expected",
    (aa.ControllerPD, {}, {"kp": 0.0, "kd": 0.0, "const_effort": 0.0}),
    (aa.ControllerPD, {"kp": 2.0, "gear": 9}, {"kp": 2.0, "kd": 0.0, "const_effort": 0.0}),
    (aa.ClampingMaxEffort, {}, {"max_effort": np.inf}),
    (Delay, {}, {"delay_steps": 1}),
    (Delay, {"delay_steps": 0}, {"delay_steps": 0}),
)
def test_arguments_get_their_defaults(component, given, expected) -> None:
    assert component.resolve_arguments(given) == expected


@cases(
    "component, given",
    (aa.ControllerPD, {"kp": -1.0}),
    (aa.ControllerPD, {"kd": np.nan}),
    (aa.ControllerPD, {"const_effort": np.inf}),
    (aa.ClampingMaxEffort, {"max_effort": -0.5}),
    (aa.ClampingMaxEffort, {"max_effort": -np.inf}),
    (Delay, {"delay_steps": -1}),
    (Delay, {"delay_steps": 1.5}),
    (Delay, {"delay_steps": 2**31 - 1}),
)
def test_bad_arguments_are_refused_by_name(component, given) -> None:
    ((name, value),) = given.items()
    assert repr(value) in refused(ValueError, lambda: component.resolve_arguments(given), name)


def test_arrays_of_different_shape_are_refused() -> None:
    refused(ValueError, lambda: aa.ControllerPD(array([1, 2]), array([1, 2, 3])), r"kd has shape \(3,\).*\(2,\)")


def test_negative_largest_delay_is_refused() -> None:
    refused(ValueError, lambda: Delay(array([0], wp.int32), -1), "max_delay = -1")


def test_config_becomes_a_component() -> None:
    assert build(aa.PDControlConfig(3.0, 0.5), 4, "cpu").kp.numpy().tolist() == [3.0] * 4
    delay = build(aa.DelayConfig(2), 4, "cpu")
    assert (delay.delay_steps.numpy().tolist(), delay.max_delay) == ([2] * 4, 2)


def test_pd_gathers_by_its_index_arrays() -> None:
    controller = aa.ControllerPD(array([10, 20]), array([1, 2]))
    q, qd, q_target, qd_target, feedforward = [array(np.arange(8) + 10 * n) for n in range(5)]
    indices = [array(pair, wp.uint32) for pair in ([1, 2], [3, 4], [5, 6], [7, 0])]
    efforts = wp.zeros(2, dtype=wp.float32, device="cpu")
    controller.compute(q, qd, q_target, qd_target, feedforward, *indices, efforts, None, None)
    expected = [47 + 10 * (25 - 1) + 1 * (37 - 13), 40 + 20 * (26 - 2) + 2 * (30 - 14)]
    assert efforts.numpy().tolist() == expected


def test_base_classes_are_contracts() -> None:
    refused(NotImplementedError, lambda: Clamping().modify_forces(*[None] * 6))
    assert not Controller().is_stateful()


@wp.func
def halved(effort: float, position: float, velocity: float, dt: float, seen: float, share: float):
    return effort * share, seen + dt


@wp.func
def inverse(divisor: float) -> float:
    return 1.0 / divisor


class Divided(Clamping):
    PARAMETERS = ("divisor",)
    STATE = ("seen",)
    PREPARE = inverse
    LAW = halved


@wp.func
def scaled(
    position: float,
    velocity: float,
    position_target: float,
    velocity_target: float,
    feedforward: float,
    dt: float,
    share: float,
) -> float:
    return (position_target - position) * share


class Scaled(Controller):
    PARAMETERS = ("divisor",)
    PREPARE = inverse
    LAW = scaled


def test_limit_may_have_a_state() -> None:
    clamp = Divided(array([2.0, 4.0]))
    assert clamp.is_stateful() and not aa.ClampingMaxEffort(array([1.0])).is_stateful()
    assert aa.ClampingMaxEffort(array([1.0])).state(1, "cpu") is None
    state = clamp.state(2, "cpu")
    state.seen.fill_(3.0)
    state.reset(array([True, False], wp.bool))
    assert state.seen.numpy().tolist() == [0.0, 3.0]
    efforts = array([1.0, 1.0])
    with pytest.raises(NotImplementedError, match=r"Divided remembers .*runs in a plan only"):
        clamp.modify_forces(efforts, efforts, None, None, None, None)


def test_own_law_is_prepared_when_called_by_itself() -> None:
    q, q_target, every = array([0.0, 0.0]), array([1.0, 1.0]), array([0, 1], wp.uint32)
    efforts = wp.zeros(2, dtype=wp.float32, device="cpu")
    Scaled(array([2.0, 4.0])).compute(q, q, q_target, q, None, *[every] * 4, efforts, None, 0.01)
    assert efforts.numpy().tolist() == [0.5, 0.25]


@cases(
    "names, words",
    ({"PREPARE": scaled}, r"Scaled2.PREPARE takes 7 arguments .*must take 1 \(divisor\)"),
    ({"PREPARE": None, "PARAMETERS": ("one", "two")}, "Scaled2.LAW takes 7 arguments .*must take 8"),
    ({"PREPARE": 3}, "Scaled2.PREPARE = 3: must be a wp.func"),
    ({"CURVES": ("one", "two"), "PARAMETERS": (), "PREPARE": None}, "must take 8"),
)
def test_law_that_does_not_fit_is_refused(names: dict, words: str) -> None:
    refused(TypeError, lambda: type("Scaled2", (Scaled,), names).kernel(), words)


def test_neutral_values_are_those_of_the_family_or_the_class() -> None:
    """0 for controllers, inf for limits, unless the class says otherwise."""
    assert (Scaled.neutral(), Divided.neutral()) == ((0.0,), (np.inf,))
    assert type("Own", (Divided,), {"NEUTRAL": (1.0,)}).neutral() == (1.0,)
    refused(NotImplementedError, lambda: Divided(array([1.0])).curve("limit"), "Divided has no curve 'limit'")


def test_axis_of_a_state_array_is_declared() -> None:
    """By the component, or by the state class for each array; the last one otherwise."""

    class State:
        ACTUATOR_AXIS: ClassVar[dict[str, int]] = {"counts": 0}

    component = type("Recurrent", (Controller,), {"STATE_AXIS": 1})()
    assert actuator_axis(component, State(), "counts") == 0 and actuator_axis(component, State(), "hidden") == 1
    assert actuator_axis(Controller(), Controller.State(), "integral") == -1
    assert actuator_axis(object(), object(), "integral") == -1


@cases(
    "make, name",
    (lambda: aa.ClampingMaxEffort(None), "ClampingMaxEffort: max_effort"),
    (lambda: aa.ClampingDCMotor(array([1.0]), None, array([1.0])), "ClampingDCMotor: velocity_limit"),
    (lambda: aa.ControllerPD(None, array([1.0])), "ControllerPD: kp"),
    (lambda: ControllerPID(*[array([1.0])] * 3, None), "ControllerPID: integral_max"),
    (lambda: Delay(None, 3), "Delay: delay_steps"),
)
def test_array_that_is_not_given_is_refused(make, name) -> None:
    refused(ValueError, make, f"{name} = None: must be an array")


@pytest.mark.parametrize("longest", [True, 2.0, np.nan, "3", None, 4097, 2**58, -1])
def test_largest_delay_out_of_range_is_refused(longest) -> None:
    refused(ValueError, lambda: Delay(array([0], wp.int32), longest), "max_delay = ")


@pytest.mark.parametrize(("steps", "wrong"), [([0, 5], "5"), ([-3, 0], "-3")])
def test_delay_out_of_range_is_refused(steps, wrong) -> None:
    with pytest.raises(ValueError, match=f"delay_steps = {wrong}: must be >= 0 and <= max_delay = 2"):
        Delay(array(steps, wp.int32), 2)


@pytest.mark.parametrize(("longest", "depth"), [(0, 1), (1, 1), (7, 7), (np.int64(4096), 4096)])
def test_depth_of_a_delay(longest, depth) -> None:
    delay = Delay(array([0], wp.int32), longest)
    assert delay.buf_depth == len(delay.state(1, "cpu").buffer_pos) == depth and delay.is_stateful()


def test_delay_has_the_names_of_newton() -> None:
    delay, every = Delay(array([1], wp.int32), max_delay=1), array([0], wp.uint32)
    delay.finalize(device="cpu", num_actuators=1, requires_grad=True)
    assert delay.state(num_actuators=1, device="cpu").buffer_pos.requires_grad
    delay.finalize(device="cpu", num_actuators=1, requires_grad=False)
    now = delay.state(num_actuators=1, device="cpu")
    given = {name: array([number]) for number, name in enumerate(("target_pos", "target_vel", "feedforward"), 1)}
    indices = {"pos_indices": every, "vel_indices": every}
    delay.update_state(**given, **indices, current_state=now, next_state=None)
    assert now.num_pushes.numpy().tolist() == [0]
    delay.update_state(**given, **indices, current_state=now, next_state=now)
    delayed = delay.get_delayed_targets(**{name: array([9.0]) for name in given}, **indices, current_state=now)
    assert [values.numpy().tolist() for values in delayed] == [[1.0], [2.0], [3.0]]


def test_corner_velocity_follows_the_parameters() -> None:
    """v0·(1 + peak/stall), v0 without a stall effort; never an old value."""
    clamp = aa.ClampingDCMotor(array([2.0, 0.0, np.inf]), array([3.0, 5.0, 7.0]), array([4.0, 4.0, np.inf]))
    assert clamp.corner_velocity.numpy().tolist() == [9.0, 5.0, 7.0]
    clamp.saturation_effort.fill_(4.0)
    assert clamp.corner_velocity.numpy().tolist() == [6.0, 10.0, np.inf]


@pytest.mark.parametrize(
    "mask",
    [[True, False], np.array([True, False]), array([1, 0], wp.int32), array([True], wp.bool), True],
    ids=["list", "numpy", "int", "short", "bool"],
)
@pytest.mark.parametrize("kind", ["controller", "delay"])
def test_mask_of_wrong_type_or_shape_is_refused(kind: str, mask: Any) -> None:
    component = ControllerPID(*[array([1.0, 1.0])] * 4) if kind == "controller" else Delay(array([0, 0], wp.int32), 1)
    words = r"mask .*must (be a one-dimensional Boolean array|match \w+ length \(2\)|be 2)"
    refused(ValueError, lambda: component.state(2, "cpu").reset(mask), words)


def test_repr_says_what_it_is() -> None:
    assert repr(aa.ControllerPD(array([1, 2]), array([3, 3]))) == "ControllerPD(kp=1…2, kd=3)"
    assert repr(aa.ClampingMaxEffort(array([np.inf, np.inf]))) == "ClampingMaxEffort(max_effort=inf)"
    assert repr(Delay(array([1, 2], wp.int32), 3)) == "Delay(delay_steps=1…2)"
    assert repr(aa.ClampingMaxEffort(array([]))) == "ClampingMaxEffort(max_effort=-)"
    # of one that was never made
    assert repr(aa.ControllerPD.__new__(aa.ControllerPD)) == "ControllerPD()"
