"""Gradients by Warp's adjoint: custom laws compared with float64 differences, built-in laws with the core."""

from collections.abc import Callable, Sequence
from typing import ClassVar

import isaacsim.core.experimental.actuators as actuators
import numpy as np
import oracle
import pytest
import warp as wp
from isaacsim.core.experimental.actuators.base import native
from isaacsim.core.experimental.actuators.laws.contract import catalogue
from isaacsim.core.experimental.actuators.specs.fields import parameters_of
from isaacsim.core.experimental.actuators.specs.stages import parts_of
from late_rollout import States, in_place, one_each, swapped
from tapes import LAWS, gradients

N, STEPS, DEPTH, DT = 40, 6, 3, 0.02
SIGNALS = ("joint_q", "joint_qd", "joint_target_q", "joint_target_qd", "joint_act")
TABLE = [-1.0, -0.2, 0.5, 1.0], [2.0, 6.0, 3.0, 4.0]
Values = dict[str, np.ndarray]


@wp.func
def soft_prepare(gain: float, damping: float):
    return gain * gain, damping


@wp.func
def soft_effort(
    q: float,
    qd: float,
    q_target: float,
    qd_target: float,
    ff: float,
    dt: float,
    level: float,
    count: float,
    stiffness: float,
    damping: float,
):
    error = q_target - q
    now = 0.7 * level + dt * error
    return wp.tanh(stiffness * error) * 8.0 + 30.0 * now + damping * (qd_target - qd) + ff, now, count + 1.0


class Soft(actuators.Controller):
    PARAMETERS: ClassVar = ("gain", "damping")
    STATE: ClassVar = ("level", "count")
    PREPARE = soft_prepare
    LAW = soft_effort


@wp.func
def grip_prepare(share: float, most: float, rate: float):
    return share, wp.min(most, 6.0), rate


@wp.func
def grip_clamp(
    effort: float, q: float, qd: float, dt: float, last: float, share: float, most: float, rate: float, curve: float
):
    """At most a share of what a table gives here, and so much more than at the step before."""
    bound = wp.min(share * curve, most - 0.1 * wp.abs(qd))
    limited = wp.clamp(effort, -bound, bound)
    limited = wp.clamp(limited, last - rate * dt, last + rate * dt)
    return limited, limited


class Grip(actuators.Clamping):
    PARAMETERS: ClassVar = ("share", "most", "rate")
    STATE: ClassVar = ("last",)
    CURVES: ClassVar = ("table",)
    PREPARE = grip_prepare
    LAW = grip_clamp

    def curve(self, name: str):
        return TABLE


def array(values, dtype=wp.float32, device: str = "cpu") -> wp.array:
    return wp.array(np.asarray(values), dtype=dtype, device=device, requires_grad=dtype is wp.float32)


def own_values(rng: np.random.Generator) -> Values:
    ranges = {
        "gain": (0.5, 1.5),
        "damping": (0.1, 0.5),
        "share": (0.5, 1.5),
        "most": (3.0, 8.0),
        "rate": (100.0, 400.0),
        "limit": (2.0, 9.0),
    }
    values = {name: rng.uniform(*ends, N) for name, ends in ranges.items()}
    values |= {f"{name} {k}": rng.normal(0, 1, N) for k in range(STEPS) for name in SIGNALS}
    values |= {name: rng.normal(0, 0.1, N) for name in ("level", "last")}
    return {name: value.astype(np.float32) for name, value in values.items()}


def own_loss(values: Values, lag: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Weighted sum of the efforts of each joint, in float64."""
    level, last, total = values["level"], values["last"], np.zeros(N)
    for k in range(STEPS):
        q, qd = values[f"joint_q {k}"], values[f"joint_qd {k}"]
        source = np.maximum(k - lag, 0)
        target, velocity, forward = (
            np.choose(source, [values[f"{name} {n}"] for n in range(STEPS)]) for name in SIGNALS[2:]
        )
        level = 0.7 * level + DT * (target - q)
        effort = 8 * np.tanh(values["gain"] ** 2 * (target - q)) + 30 * level + forward
        effort = effort + values["damping"] * (velocity - qd)
        curve = np.array([oracle.table_limit(each, *TABLE) for each in q])
        bound = np.minimum(values["share"] * curve, np.minimum(values["most"], 6) - 0.1 * np.abs(qd))
        effort = np.minimum(np.maximum(effort, -bound), bound)
        step = values["rate"] * DT
        last = effort = np.minimum(np.maximum(effort, last - step), last + step)
        total += weights[k] * np.minimum(np.maximum(effort, -values["limit"]), values["limit"])
    return total


def differences(loss: Callable[[Values], np.ndarray], values: Values) -> Values:
    exact = {name: value.astype(np.float64) for name, value in values.items()}
    width = 1e-6
    return {
        name: (loss(exact | {name: value + width}) - loss(exact | {name: value - width})) / (2 * width)
        for name, value in exact.items()
    }


@pytest.mark.parametrize("states", [swapped, in_place, one_each])
@pytest.mark.parametrize("depth", [0, DEPTH])
@pytest.mark.parametrize("device", ["cpu", "cuda:0"])
@pytest.mark.slow
def test_laws_of_ones_own_have_the_gradients_of_finite_differences(device, depth, states) -> None:
    if device != "cpu" and not wp.is_cuda_available():
        pytest.skip("this machine has no GPU")
    rng = np.random.default_rng(1)
    values, weights = own_values(rng), rng.normal(size=(STEPS, N))
    lag = rng.integers(0, depth + 1, N)
    expected = differences(lambda changed: own_loss(changed, lag, weights), values)
    assert all(0 < (expected[name] != 0).sum() for name in values if not name.startswith("joint_target_qd"))
    given = {name: array(value, device=device) for name, value in values.items()}
    soft = Soft(given["gain"], given["damping"])
    clamping = [Grip(given["share"], given["most"], given["rate"]), actuators.ClampingMaxEffort(given["limit"])]
    delay = actuators.Delay(array(lag, wp.int32, device), depth) if depth else None
    actuator = actuators.Actuator(array(np.arange(N), wp.uint32, device), soft, delay, clamping, requires_grad=True)
    pairs = states(actuator, STEPS)
    pairs[0][0].controller_state.level.assign(given["level"])
    pairs[0][0].clamping_states[0].last.assign(given["last"])
    efforts = [array(np.zeros(N), device=device) for _ in range(STEPS)]
    with wp.Tape() as tape:
        for k, (now, after) in enumerate(pairs):
            arrays = {name: given[f"{name} {k}"] for name in SIGNALS} | {"joint_f": efforts[k]}
            actuator.step(arrays, arrays, now, after, DT)
    # nothing but our own functions: Warp would warn of a kernel without gradients
    assert all(callable(one) for one in tape.launches)
    for effort, by in zip(efforts, weights, strict=True):
        effort.grad.assign(by.astype(np.float32))
    tape.backward()
    given["level"] = pairs[0][0].controller_state.level
    given["last"] = pairs[0][0].clamping_states[0].last
    for name, right in expected.items():
        scale = max(1.0, float(np.abs(right).max()))
        np.testing.assert_allclose(given[name].grad.numpy(), right, atol=3e-4 * scale, rtol=0, err_msg=name)


def rolled_out(laws: Sequence[str], values: Values, states: States, weights: np.ndarray) -> Values:
    given = {name: array(value) for name, value in values.items()}
    made = []
    for law in laws:
        component = getattr(actuators, law)
        names = {name: given[f"{law} {name}"] for name in component.PARAMETERS}
        if component.CURVES:
            described = parameters_of(catalogue.law_of(component).config)
            columns = [(name, one.lower) for name, one in described.items() if one.type == "float[]"]
            # speeds are not negative
            names |= {name: np.maximum(values, lower) for (name, lower), values in zip(columns, TABLE, strict=True)}
        made.append(component(**names))
    delay = actuators.Delay(array(np.arange(N) % (DEPTH + 1), wp.int32), DEPTH)
    parts = parts_of(made) | {"delay": delay}
    actuator = actuators.Actuator(array(np.arange(N), wp.uint32), **parts, requires_grad=True)
    pairs = states(actuator, STEPS)
    efforts, computed = ([array(np.zeros(N)) for _ in range(STEPS)] for _ in range(2))
    actuator.control_computed_output_attr = "before"
    with wp.Tape() as tape:
        for k, (now, after) in enumerate(pairs):
            arrays = {name: given[f"{name} {k}"] for name in SIGNALS}
            arrays |= {"joint_f": efforts[k], "before": computed[k]}
            actuator.step(arrays, arrays, now, after, DT)
    for k in range(STEPS):
        efforts[k].grad.assign(weights[0, k])
        computed[k].grad.assign(weights[1, k])
    # a ring that goes on has gradients too
    last = pairs[-1][1]
    last.delay_state.buffer_pos.grad.assign(weights[2, :DEPTH])
    tape.backward()
    found = {name: one.grad.numpy().copy() for name, one in given.items()}
    first = pairs[0][0]
    for place, state in enumerate((first.delay_state, *first._law_states())):
        arrays = {} if state is None else vars(state)
        found |= {f"before: {place} {name}": one.grad.numpy().copy() for name, one in arrays.items() if one.grad}
    return found


@pytest.mark.parametrize("special", [0.0, 1e-3, 1e30, np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.slow
def test_gradients_are_the_cores(law, special, monkeypatch) -> None:
    if native.core is None:
        pytest.skip("the native core was not built")
    if getattr(actuators, law).KIND in ("passive", "shaft", "electrical", "transmission"):
        # what cancels in products of three parameters has to be small beside the rest
        special = min(special, 1e3) if special < np.inf else special
    # where rotor and joint have no inertia, as no config says, gradients of Warp are NaN: numbers without such joints
    rng = np.random.default_rng(17 if law == "TransmissionElastic" else LAWS.index(law))
    laws = [law] if law.startswith("Controller") else ["ControllerPID", law]
    values = {f"{name} {k}": rng.normal(0, 1, N) for k in range(STEPS) for name in SIGNALS}
    for one in laws:
        values |= {f"{one} {name}": rng.uniform(0.5, 8.0, N) for name in getattr(actuators, one).PARAMETERS}
    if "ControllerPID" in laws:
        values["ControllerPID integral_max"] *= 0.01
    for name, value in values.items():
        value[rng.random(N) < (0.2 if name.startswith(law) else 0.03)] = special
    values = {name: value.astype(np.float32) for name, value in values.items()}
    # a slope of a large number has the size of that number, and so has its rounding
    odd = np.any([value == np.float32(special) for value in values.values()], axis=0) & (special > 1)
    # the laws of controllers and limits keep to the tighter bound
    odd &= getattr(actuators, law).KIND in ("passive", "shaft")
    weights = rng.normal(size=(3, STEPS, N)).astype(np.float32)
    for states in (swapped, in_place):
        expected = rolled_out(laws, values, states, weights)
        with monkeypatch.context() as without:
            without.setattr(native, "core", None)
            found = rolled_out(laws, values, states, weights)
        for name, right in expected.items():
            assert np.isfinite(right).all(), name
            atol = 2e-3 * np.where(odd, max(1.0, np.abs(right).max()), 1.0)
            assert (np.abs(found[name] - right) <= atol + 1e-3 * np.abs(right)).all(), name
        assert any(right.any() for right in expected.values())


@wp.func
def reckless_effort(q: float, qd: float, q_target: float, qd_target: float, ff: float, dt: float, gain: float) -> float:
    return wp.sqrt(gain * (q_target - q)) + qd


class Reckless(actuators.Controller):
    PARAMETERS: ClassVar = ("gain",)
    LAW = reckless_effort


def test_fault_of_a_law_of_ones_own_has_no_gradient() -> None:
    target, gain = array([1.0, -1.0, 4.0]), array([1.0, 1.0, np.nan])
    arrays = {name: array(np.zeros(3)) for name in (*SIGNALS, "joint_f")} | {"joint_target_q": target}
    actuator = actuators.Actuator(array(np.arange(3), wp.uint32), Reckless(gain), requires_grad=True)
    gradients(actuator, arrays)
    assert target.grad.numpy().tolist() == [0.5, 0.0, 0.0] and gain.grad.numpy().tolist() == [0.5, 0.0, 0.0]
    assert arrays["joint_qd"].grad.numpy().tolist() == [1.0, 0.0, 0.0]


@wp.func
def deaf_effort(q: float, qd: float, q_target: float, qd_target: float, ff: float, dt: float, gain: float) -> float:
    if gain > 0.0:
        return gain * qd
    return qd


class Deaf(actuators.Controller):
    PARAMETERS: ClassVar = ("gain",)
    LAW = deaf_effort


def test_parameter_that_is_none_has_no_gradient_whatever_the_law_makes_of_it() -> None:
    gain = array([2.0, -1.0, np.nan])
    arrays = {name: array(np.zeros(3)) for name in (*SIGNALS, "joint_f")} | {"joint_qd": array(np.full(3, 0.5))}
    actuator = actuators.Actuator(array(np.arange(3), wp.uint32), Deaf(gain), requires_grad=True)
    gradients(actuator, arrays)
    assert arrays["joint_f"].numpy().tolist() == [1.0, 0.5, 0.0]
    assert arrays["joint_qd"].grad.numpy().tolist() == [2.0, 1.0, 0.0]
    assert gain.grad.numpy().tolist() == [0.5, 0.0, 0.0]


def test_one_array_as_two_parameters_gets_both_gradients() -> None:
    shared, zero = array(np.full(4, 10.0)), np.zeros(4)
    arrays = {name: array(zero) for name in (*SIGNALS, "joint_f")} | {"joint_target_q": array(np.full(4, 0.5))}
    arrays["joint_qd"] = array(np.full(4, -0.25))
    actuator = actuators.Actuator(array(np.arange(4), wp.uint32), Soft(shared, shared), requires_grad=True)
    state = actuator.state()
    gradients(actuator, arrays, state, state, DT)
    # the spring is as hard as can be
    np.testing.assert_allclose(shared.grad.numpy(), 0.25, rtol=1e-5)


def test_law_without_an_adjoint_is_refused() -> None:
    class Wrong(actuators.Controller):
        PARAMETERS: ClassVar = ("gain",)

        @wp.func
        def law(q: float, qd: float, q_target: float, qd_target: float, ff: float, dt: float, gain: float) -> float:
            return gain + unknown  # noqa: F821

        LAW = law

    with pytest.raises(TypeError, match=r"the laws of Wrong do not compile together: .*Correct the wp.func"):
        actuators.Actuator(array([0], wp.uint32), Wrong(array([1.0])), requires_grad=True)


def test_launches_stay_off_the_tape_and_arrays_where_they_are() -> None:
    pid = actuators.ControllerPID(*(array(np.ones(2)) for _ in range(4)))
    motor = actuators.ClampingDCMotor(*(array(np.full(2, 50.0)) for _ in range(3)))
    for law in (pid, Soft(array(np.ones(2)), array(np.ones(2)))):
        actuator = actuators.Actuator(array([1, 0], wp.uint32), law, clamping=[motor], requires_grad=True)
        state = actuator.state()
        arrays = {name: np.zeros(2, np.float32) for name in SIGNALS[:4]}
        arrays |= {"joint_act": None, "joint_f": array(np.zeros(2)), "joint_target_q": array([0.1, 0.2])}
        with wp.Tape() as tape:
            actuator.step(arrays, arrays, state, state, DT)
        assert len(tape.launches) == 1
        arrays["joint_f"].grad.assign(np.array([1.0, 0.0], np.float32))
        tape.backward()
        target = arrays["joint_target_q"].grad.numpy()
        assert target[0] > 0 and target[1] == 0
