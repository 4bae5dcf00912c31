"""Gradients of actuators on a tape, compared with float64 finite differences and, where available, with newton.

Every test runs on the core, and by Warp's adjoint, which is used without the core.
"""

from collections.abc import Callable, Sequence

import isaacsim.core.experimental.actuators as actuators
import numpy as np
import oracle
import pytest
import warp as wp
from isaacsim.core.experimental.actuators import Actuator, ActuatorGroup, Delay
from isaacsim.core.experimental.actuators.base import native
from isaacsim.core.experimental.actuators.engine.gradients import actuator_gradients
from isaacsim.core.experimental.actuators.laws.contract import catalogue
from isaacsim.core.experimental.actuators.laws.contract.base import Feedback
from isaacsim.core.experimental.actuators.laws.contract.late import LateComponent
from isaacsim.core.experimental.actuators.specs.fields import parameters_of
from isaacsim.core.experimental.actuators.specs.signals import SIGNALS as STAGE_SIGNALS
from isaacsim.core.experimental.actuators.specs.stages import KINDS, acts_at_joint, parts_of
from late_rollout import array, in_place, one_each, swapped
from neural_twin import random_network, write_network
from own_components import Loaded, OwnLimit
from refusals import cases
from step_bench import FeedbackSkewed
from tapes import LAWS, backward, gradients

N, DT, LAGS = 48, 0.02, 3
SIGNALS = ("joint_q", "joint_qd", "joint_target_q", "joint_target_qd", "joint_act")
# over what a curve runs
TABLES = {
    "position": ([-1.0, -0.2, 0.5, 1.0], [2.0, 9.0, 4.0, 7.0]),
    "speed": ([0.0, 0.3, 0.9, 2.0], [0.9, 0.3, 0.4, 0.7]),
    "velocity": ([-2.0, -0.5, 0.4, 1.5], [5.0, 9.0, 4.0, 1.0]),
}
# ranges of parameters that make each limit act on some joints and not on others; beside an inductance no bandwidth
RANGES = """
    kp 5 20, ki 5 20, kd 0.5 2, gear 0.5 2, integral_max 0.01 0.06, const_effort -1 1, max_effort 2 15,
    saturation_effort 4 20, velocity_limit 1 4, max_motor_effort 2 12, error_gain 0.002 0.02, voltage 4 24,
    max_duty 0.1 0.3, min_duty 0 0.09, deadband 0 0.3, max_duty_rate 0.5 10, profile_velocity 1 5, max_rate 1 5,
    startup 0 2, profile_acceleration 10 100, stall_effort 4 20, no_load_velocity 1 4, nominal_voltage 20 30,
    max_power 2 9, max_driving_effort 2 12, coulomb 0.1 1, viscous 0.1 1, static 1 2, stribeck_velocity 0.5 2,
    stribeck_exponent 1.5 2.5, assumed_inertia 0.001 0.01, load 0.1 0.5, inertia 0.001 0.02, motor_load 0.05 0.2,
    external_load 0.05 0.2, stribeck_motor_load 0.05 0.2, stribeck_external_load 0.05 0.2,
    quadratic_motor_load 0.01 0.05, quadratic_external_load 0.01 0.05, bristle_stiffness 5 20,
    bristle_damping 0.1 0.5, amplitude 0.1 1, periods 1 5, phase -1 1, torque_constant 0.5 2, resistance 0.5 2,
    inductance 0.001 0.01, driver_resistance 0.05 0.2, saturation_current 5 50, bandwidth inf inf, dead_zone 0 0.01,
    max_current 20 40, max_current_rate 1000 2000, rotor_inertia 0.01 0.1, stiffness 5 20, damping 0.1 0.5,
    backlash 0.01 0.1, rotor_damping 0.01 0.1, temperature_coefficient 0.001 0.01, magnet_coefficient 0.001 0.01,
    ratio 0.5 3, offset -0.5 0.5, targets 0 1, command 0 0.4, driver 0 0.4, discretization 0 0.4,
    quadratic_when_opposed 0 0.4, mujoco_discretization 0 0.4, time_constant 0.002 0.05, torque 0.5 3,
    release_time 0.005 0.03, engage_time 0.005 0.03, engaged 0.6 1, holding_effort 0.5 3, steps 4 12
"""
RANGES = {name: (float(low), float(high)) for name, low, high in map(str.split, RANGES.split(","))}
Values = dict[str, np.ndarray]
pytestmark = pytest.mark.usefixtures("backend")
# gradients by central differences, and how often limits acted
KNOWN: dict[tuple, tuple[Values, np.ndarray]] = {}


class Rollout:
    """Steps of one pipeline with other inputs at each, in float64 and on a tape."""

    def __init__(self, laws: Sequence[str], steps: int, depth: int, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self.laws, self.steps, self.depth = laws, steps, depth
        self.lag = rng.integers(0, depth + 1, N) if depth else np.zeros(N, int)
        self.values: Values = {
            f"{name} {k}": rng.normal(0, 1, N).astype(np.float32) for k in range(steps) for name in SIGNALS
        }
        for law in laws:
            for name in getattr(actuators, law).PARAMETERS:
                low, high = RANGES[name]
                drawn = np.full(N, low) if low == high else rng.uniform(low, high, N)
                self.values[f"{law} {name}"] = drawn.astype(np.float32)
            for name in getattr(actuators, law).STATE:
                self.values[f"{law} before: {name}"] = rng.normal(0, 0.02, N).astype(np.float32)
        self.weights = rng.normal(0, 1, (steps, N)).astype(np.float32)
        self.limited = np.zeros(N, int)

    def loss(self, values: Values) -> np.ndarray:
        """Weighted sum of the efforts of each joint, in float64; joints do not know of each other."""
        states = {law: [values[f"{law} before: {name}"] for name in getattr(actuators, law).STATE] for law in self.laws}
        total = np.zeros(N)
        self.limited[:] = 0
        for k in range(self.steps):
            q, qd = values[f"joint_q {k}"], values[f"joint_qd {k}"]
            source = np.maximum(k - self.lag, 0)
            command = [np.choose(source, [values[f"{name} {n}"] for n in range(self.steps)]) for name in SIGNALS[2:]]
            effort = None
            motor, acting = (q, qd, *command), (q, qd)
            gears = [law for law in self.laws if law in oracle.MOTORS]
            for gear in gears:
                numbers = [*states[gear], *(values[f"{gear} {name}"] for name in getattr(actuators, gear).PARAMETERS)]
                motor = oracle.MOTORS[gear](q, qd, *command, *numbers)
                # the true state does not know of commands
                acting = oracle.MOTORS[gear](q, qd, 0.0 * q, 0.0 * q, 0.0 * q, *numbers)[:2]
            for law in self.laws:
                component = getattr(actuators, law)
                own = (q, qd) if law in gears or acts_at_joint(component) else acting
                numbers = [*states[law], *(values[f"{law} {name}"] for name in component.PARAMETERS)]
                asked = [np.full(N, STAGE_SIGNALS[name].neutral) for name in component.ASKS]
                if law.startswith("Controller"):
                    effort, *states[law] = oracle.LAWS[law](*motor, DT, *asked, *numbers)
                    continue
                for name, over in component.CURVES.items():
                    # the table of an effort against the axis is mirrored
                    at, speed = own
                    sign = -1 if name == "backward" else 1
                    places = {"position": at, "speed": np.abs(speed), "velocity": sign * speed}[over]
                    numbers.append(np.array([oracle.table_limit(each, *TABLES[over]) for each in places]))
                after, *states[law] = oracle.LAWS[law](effort, *own, DT, *asked, *numbers)
                self.limited += after != effort
                effort = after
            total += self.weights[k] * effort
        return total

    def differences(self) -> Values:
        """The gradients by central differences, computed once for both engines and all ways to hold states."""
        numbers = (*self.values.values(), self.lag, self.weights)
        key = (*self.laws, *(values.tobytes() for values in numbers))
        if key not in KNOWN:
            KNOWN[key] = self._differences(), self.limited.copy()
        found, self.limited = KNOWN[key]
        return found

    def _differences(self) -> Values:
        exact = {name: value.astype(np.float64) for name, value in self.values.items()}
        found: Values = {}
        for name, value in exact.items():
            width = 1e-6
            ends = [self.loss(exact | {name: value + sign * width}) for sign in (1, -1)]
            found[name] = (ends[0] - ends[1]) / (2 * width)
        return found

    def actuator(self, **more) -> tuple[Actuator, dict[str, wp.array]]:
        parameters = {name: array(self.values[name]) for name in self.values if name.split()[0] in self.laws}
        made = []
        for law in self.laws:
            component = getattr(actuators, law)
            given = {name: parameters[f"{law} {name}"] for name in component.PARAMETERS}
            if component.CURVES:
                described = parameters_of(catalogue.law_of(component).config)
                columns = [name for name, one in described.items() if one.type == "float[]"]
                given |= dict(zip(columns, TABLES[next(iter(component.CURVES.values()))], strict=True))
            made.append(component(**given))
        delay = Delay(array(self.lag, False, wp.int32), self.depth) if self.depth else None
        indices = array(np.arange(N), False, wp.uint32)
        actuator = Actuator(indices, **parts_of(made) | {"delay": delay}, requires_grad=True, **more)
        return actuator, {name: value for name, value in parameters.items() if "before" not in name}

    def on_tape(self, states: Callable[[Actuator, int], list[tuple]]) -> Values:
        """The gradients on a tape of Warp; `states` gives those before and after each step."""
        actuator, parameters = self.actuator()
        pairs = states(actuator, self.steps)
        first = pairs[0][0]
        stateful = [law for law in self.laws if getattr(actuators, law).STATE]
        held = [state for state in first._law_states() if state is not None]
        states_of_laws = {
            f"{law} before: {name}": getattr(state, name)
            for law, state in zip(stateful, held, strict=True)
            for name in getattr(actuators, law).STATE
        }
        for name, state in states_of_laws.items():
            state.assign(self.values[name])
        signals = {name: array(value) for name, value in self.values.items() if name.split()[0] in SIGNALS}
        efforts = [array(np.zeros(N)) for _ in range(self.steps)]
        tape = wp.Tape()
        with tape:
            for k, (now, after) in enumerate(pairs):
                control = {name: signals[f"{name} {k}"] for name in SIGNALS} | {"joint_f": efforts[k]}
                actuator.step(control, control, now, after, DT)
        for effort, weights in zip(efforts, self.weights, strict=True):
            effort.grad.assign(weights)
        tape.backward()
        found = {name: one.grad.numpy().copy() for name, one in (signals | parameters).items()}
        return found | {name: state.grad.numpy().copy() for name, state in states_of_laws.items()}


def assert_same(found: Values, expected: Values, tolerance: float = 2e-4) -> None:
    for name, values in expected.items():
        scale = max(1.0, float(np.abs(values).max()))
        np.testing.assert_allclose(found[name], values, atol=tolerance * scale, rtol=0, err_msg=name)


@pytest.mark.parametrize("states", [swapped, in_place, one_each])
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.slow("Warp")
def test_every_law_has_the_gradients_of_finite_differences(law, states) -> None:
    laws = [law] if law.startswith("Controller") else ["ControllerPID", law]
    rollout = Rollout(laws, 6, LAGS)
    expected = rollout.differences()
    if KINDS[getattr(actuators, law).KIND].is_limit:
        assert 0 < rollout.limited.sum() < 6 * N
    assert_same(rollout.on_tape(states), expected)


@pytest.mark.parametrize("depth", [0, 1, 4])
@pytest.mark.slow("Warp")
def test_all_limits_together(depth) -> None:
    clamps = [law for law in LAWS if law.startswith("Clamping")]
    rollout = Rollout(["ControllerGearedPID", *clamps], 3, depth, seed=1)
    assert_same(rollout.on_tape(swapped), rollout.differences())


GEARED = ["ClampingDCMotor", "TransmissionGear", "ClampingPositionBased", "PassiveFriction"]
"""A limit of the motor, its gear, and what acts at the joint."""


@pytest.mark.parametrize("targets", [0.0, 1.0])
@pytest.mark.parametrize("controller", ["ControllerPD", "ControllerPID"])
@pytest.mark.slow
def test_gear_between_motor_and_joint(controller, targets) -> None:
    rollout = Rollout([controller, *GEARED], 12, LAGS, seed=5)
    rollout.values["TransmissionGear ratio"][::3] *= -1
    rollout.values["TransmissionGear targets"][:] = targets
    expected = rollout.differences()
    assert 0 < (expected["joint_target_q 0"] != 0).sum() < N
    for name in (
        "TransmissionGear ratio",
        "TransmissionGear offset",
        f"{controller} kp",
        "ClampingDCMotor velocity_limit",
    ):
        assert expected[name].any(), name
    assert_same(rollout.on_tape(swapped), expected)


@pytest.mark.parametrize("backend", ["core"], indirect=True)
@pytest.mark.parametrize("isa", native.core.variants() if native.core else [])
def test_every_instruction_set(isa, monkeypatch) -> None:
    monkeypatch.setenv("ACTUATORS_ISA", isa)
    rollout = Rollout(["ControllerPID", *GEARED], 4, 2, seed=2)
    assert_same(rollout.on_tape(in_place), rollout.differences())


def pd(number: int = N, **more) -> tuple[Actuator, dict[str, wp.array]]:
    arrays = {name: array(np.linspace(-1, 1, number) * (1 + k)) for k, name in enumerate(SIGNALS)}
    arrays |= {"kp": array(np.full(number, 10.0)), "kd": array(np.ones(number)), "const": array(np.zeros(number))}
    arrays |= {"limit": array(np.full(number, 8.0)), "joint_f": array(np.zeros(number))}
    law = actuators.ControllerPD(arrays["kp"], arrays["kd"], arrays["const"])
    clamping = [actuators.ClampingMaxEffort(arrays["limit"])]
    return Actuator(array(np.arange(number), False, wp.uint32), law, clamping=clamping, **more), arrays


def test_without_a_tape_nothing_changes() -> None:
    plain, first = pd()
    differentiable, second = pd(requires_grad=True)
    plain.step(first, first)
    differentiable.step(second, second)
    with wp.Tape() as tape:
        plain.step(first, first)
    assert not tape.launches
    with wp.Tape() as tape:
        differentiable.step(second, second)
    assert len(tape.launches) == 1
    np.testing.assert_array_equal(first["joint_f"].numpy(), second["joint_f"].numpy())
    assert not any(one.grad.numpy().any() for one in second.values())


def test_inputs_may_be_overwritten_after_the_step() -> None:
    found = []
    for overwrite in (False, True):
        actuator, arrays = pd(requires_grad=True)
        with wp.Tape() as tape:
            actuator.step(arrays, arrays)
        if overwrite:
            for name in (*SIGNALS, "kp", "limit"):
                arrays[name].fill_(100.0)
        found.append(backward(tape, arrays))
    for name in found[0]:
        np.testing.assert_array_equal(*(one[name] for one in found), err_msg=name)
    assert found[0]["kp"].any() and found[0]["limit"].any()


def test_output_keeps_its_gradient_and_arrays_without_one_get_none() -> None:
    actuator, arrays = pd(requires_grad=True)
    for name in ("joint_qd", "kd", "joint_act"):
        arrays[name].requires_grad = False
    found = gradients(actuator, arrays)
    np.testing.assert_array_equal(found["joint_f"], 1.0)
    assert not {"joint_qd", "kd", "joint_act"} & {*found} and found["joint_q"].any()


def test_computed_efforts_have_gradients() -> None:
    actuator, arrays = pd(requires_grad=True, control_computed_output_attr="before")
    arrays["before"] = array(np.zeros(N))
    found = gradients(actuator, arrays, efforts="before")
    np.testing.assert_array_equal(found["joint_q"], -10.0)
    np.testing.assert_array_equal(found["limit"], 0.0)


def test_indices_may_come_twice_and_in_any_order() -> None:
    actuator, arrays = pd(4, requires_grad=True)
    actuator.pos_indices = array([2, 0, 2, 3], False, wp.uint32)
    arrays["limit"].fill_(1000.0)
    np.testing.assert_array_equal(gradients(actuator, arrays)["joint_q"], [-10.0, 0.0, -20.0, -10.0])


@pytest.mark.parametrize("kind", ["PID", "network"])
@pytest.mark.slow("Warp")
def test_two_tapes_in_a_row_do_not_know_of_each_other(kind, tmp_path) -> None:
    """A state that goes on has no gradient of the tape before: ring and integral, hidden and cell state."""
    rollout = Rollout(["ControllerPID"], 1, LAGS)
    file = write_network(tmp_path / "knee.safetensors", random_network("lstm", 2, layers=2), {"effort_scale": 30.0})
    found: list[Values] = []
    for earlier in (False, True):
        actuator, parameters = rollout.actuator()
        if kind == "network":
            law = actuators.ControllerNeuralLSTM(file)
            actuator, parameters = Actuator(actuator.indices, law, actuator.delay, requires_grad=True), {}
        now, after = actuator.state(), actuator.state()
        arrays = {name: array(rollout.values[f"{name} 0"]) for name in SIGNALS} | {"joint_f": array(np.zeros(N))}
        for wanted in (earlier, True):
            gradients = {**arrays, **parameters}
            for one in gradients.values():
                one.grad.zero_()
            with wp.Tape() as tape:
                for _ in range(5):
                    actuator.step(arrays, arrays, now, after, DT)
                    now, after = after, now
            if wanted:
                result = backward(tape, gradients)
        found.append(result)
    for name in found[0]:
        np.testing.assert_array_equal(found[0][name], found[1][name], err_msg=name)
    assert found[0]["joint_q"].all()


@pytest.mark.parametrize("whole", [True, False])
def test_reset_ends_what_goes_back(whole) -> None:
    rollout = Rollout(["ControllerPID"], 1, LAGS)
    actuator, parameters = rollout.actuator()
    parameters["ControllerPID integral_max"].fill_(np.inf)
    state = actuator.state()
    arrays = [{name: array(rollout.values[f"{name} 0"]) for name in SIGNALS} for _ in range(2)]
    mask = np.arange(N) % 2 == 0
    efforts = array(np.zeros(N))
    with wp.Tape() as tape:
        actuator.step(arrays[0], {**arrays[0], "joint_f": array(np.zeros(N))}, state, state, DT)
        state.reset(None if whole else array(mask, False, wp.bool))
        actuator.step(arrays[1], {**arrays[1], "joint_f": efforts}, state, state, DT)
    # nothing but our own functions: Warp would warn of a kernel without gradients
    assert all(callable(one) for one in tape.launches)
    backward(tape, {"joint_f": efforts})
    gone = np.ones(N, bool) if whole else mask
    for name in ("joint_q", "joint_target_q"):
        before = arrays[0][name].grad.numpy()
        assert not before[gone].any() and (whole or before[~gone].all()), name
    assert arrays[1]["joint_q"].grad.numpy().all()


@pytest.mark.parametrize("name", SIGNALS)
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_fault_has_no_gradient(name, value) -> None:
    found: list[Values] = []
    for bad in (False, True):
        rollout = Rollout(["ControllerPID", "ClampingMaxEffort"], 4, LAGS, seed=3)
        rollout.values["ControllerPID integral_max"][5] = rollout.values["ClampingMaxEffort max_effort"][5] = 100.0
        if bad:
            rollout.values[f"{name} 1"][5] = value
        with np.errstate(invalid="ignore"):
            found.append(rollout.on_tape(swapped))
    good = np.arange(N) != 5
    for key, values in found[1].items():
        assert np.isfinite(values).all(), key
        np.testing.assert_array_equal(values[good], found[0][key][good], err_msg=key)
        if key in ("joint_q 1", "joint_qd 1", f"{name} 1"):
            assert values[5] == 0, key
    # what was remembered before it goes on to act
    ki, weights = rollout.values["ControllerPID ki"][5], rollout.weights[[0, 2, 3], 5]
    np.testing.assert_allclose(found[1]["ControllerPID before: integral"][5], ki * weights.sum(), rtol=1e-5)


def test_command_that_is_not_finite_leaves_the_one_before_its_gradient() -> None:
    actuator, arrays = pd(1, requires_grad=True)
    actuator = Actuator(
        actuator.indices, actuator.controller, Delay(array([1], False, wp.int32), 1), requires_grad=True
    )
    state, targets = actuator.state(), [array([value]) for value in (1.0, np.nan, 3.0)]
    with wp.Tape() as tape:
        for target in targets:
            actuator.step(arrays, {**arrays, "joint_target_q": target}, state, state)
    backward(tape, arrays)
    # it acts at the first step, as none is older, and at the third
    assert [target.grad.numpy()[0] for target in targets] == [20.0, 0.0, 0.0]


@pytest.mark.parametrize("held", [0, 1, 2, 3])
def test_ring_that_is_not_full_gives_the_gradient_to_the_oldest_command(held) -> None:
    _, arrays = pd(1)
    law = actuators.ControllerPD(arrays["kp"], arrays["kd"], arrays["const"])
    delay = Delay(array([3], False, wp.int32), 3)
    actuator = Actuator(array([0], False, wp.uint32), law, delay, requires_grad=True)
    now, after = actuator.state(), actuator.state()
    assert now is not None and after is not None
    now.delay_state.num_pushes.fill_(held)
    with wp.Tape() as tape:
        actuator.step(arrays, arrays, now, after)
    # those of the ring after the step go back as well
    rows = after.delay_state.buffer_pos.grad.numpy()
    rows[:, 0] = [100.0, 200.0, 300.0]
    target = backward(tape, arrays)["joint_target_q"][0]
    # the newest row is the last, and the step has written the first one
    expected = {0: [0, 0, 0], 1: [0, 0, 510], 2: [0, 210, 300], 3: [10, 200, 300]}[held]
    assert now.delay_state.buffer_pos.grad.numpy()[:, 0].tolist() == expected
    assert target == (610.0 if held == 0 else 100.0) and not rows.any()


def test_group_steps_each_on_the_tape() -> None:
    (grouped, arrays), (alone, others) = (pd(requires_grad=True) for _ in range(2))
    with wp.Tape() as tape:
        ActuatorGroup([grouped]).step(arrays, arrays)
        alone.step(others, others)
    arrays["joint_f"].grad.fill_(1.0)
    expected = backward(tape, others)
    for name, values in expected.items():
        np.testing.assert_array_equal(arrays[name].grad.numpy(), values, err_msg=name)
    assert expected["kp"].any()


@pytest.mark.parametrize("kind", ["PD", "PID", "delay", "DC motor"])
def test_gradients_are_newtons(kind) -> None:
    newton = pytest.importorskip("newton.actuators", reason="newton is not installed")
    if not hasattr(newton, "DrivePD"):
        pytest.skip("this newton has other names")
    rng = np.random.default_rng(4)
    numbers = {name: rng.normal(size=N) for name in SIGNALS}
    kp, kd, zero, limit = rng.uniform(5, 9, N), np.ones(N), np.zeros(N), np.full(N, 6.0)
    found: list[Values] = []
    for library, of_pd, of_pid in (
        (actuators, actuators.ControllerPD, actuators.ControllerPID),
        (newton, newton.DrivePD, newton.DrivePID),
    ):
        arrays = {name: array(values) for name, values in numbers.items()} | {"joint_f": array(zero)}
        gains = {"kp": array(kp), "kd": array(kd), "const_effort": array(zero)}
        clamping = [library.ClampingMaxEffort(array(limit))]
        if kind == "PID":
            gains |= {"ki": array(kp), "integral_max": array(np.full(N, 0.01))}
        if kind == "DC motor":
            motor = {"saturation_effort": array(limit), "velocity_limit": array(2 * kd)}
            clamping = [library.ClampingDCMotor(**motor, max_motor_effort=array(limit))]
        delay = library.Delay(array(np.full(N, 2), False, wp.int32), 2) if kind == "delay" else None
        law = (of_pid if kind == "PID" else of_pd)(**gains)
        indices = array(np.arange(N), False, wp.uint32)
        actuator = library.Actuator(indices, law, delay=delay, clamping=clamping, requires_grad=True)
        states = actuator.state(), actuator.state()
        for _ in range(2):
            actuator.step(arrays, arrays, *states, dt=DT)
            states = states[::-1]
        with wp.Tape() as tape:
            actuator.step(arrays, arrays, *states, dt=DT)
        named = {
            **arrays,
            **gains,
            **{
                f"limit {k}": one
                for k, one in enumerate(vars(clamping[0]).values())
                if isinstance(one, wp.array) and one.grad is not None
            },
        }
        if delay is not None:
            named["ring"] = states[0].delay_state.buffer_pos
        found.append(backward(tape, named))
    assert_same(*found, tolerance=1e-5)
    assert found[0]["kp"].any() and (kind != "delay" or found[0]["ring"].any())


@pytest.mark.parametrize("kind", ["own law", "own limit", "column"])
def test_what_has_no_gradients_is_refused(kind, tmp_path) -> None:
    law, clamping = pd()[0].controller, []
    if kind == "own law":
        law = Loaded()
    elif kind == "own limit":
        clamping = [OwnLimit(array(np.ones(N)))]
    else:
        metadata = {"input_columns": ["velocity", "load"], "custom_inputs": ["load"]}
        file = write_network(tmp_path / "knee.safetensors", random_network("gru", 2), metadata)
        law = actuators.ControllerNeuralGRU(file)
    with pytest.raises(NotImplementedError, match=r"knee: requires_grad = True: .*code of its own.*column.*wp.func"):
        Actuator(array(np.arange(N), False, wp.uint32), law, clamping=clamping, requires_grad=True, label="knee")


@wp.func
def seen_late(position: float, velocity: float, lag: float):
    return position, velocity, lag


class FeedbackLate(LateComponent, Feedback):
    PARAMETERS = ("lag",)
    LATE = ("earlier_positions", "earlier_velocities")
    LAW = seen_late


@cases(
    "stages, why",
    ([actuators.CommandLag], r"a law of commands \(CommandLag\) has none"),
    ([actuators.CommandWrap], r"a law of commands \(CommandWrap\) has none"),
    ([FeedbackLate], r"a law of one's own that acts late, or is a rate \(FeedbackLate\), has none"),
    ([FeedbackSkewed, actuators.ImplicitEffort], r"a sensor of one's own \(FeedbackSkewed\) beside an effort of"),
)
def test_what_laws_of_ones_own_have_no_gradients_with_is_refused(stages, why) -> None:
    ones, law = array(np.ones(N)), pd()[0].controller
    # none in the engine of a simulator
    given = [{name: None if name == "in_engine" else ones for name in one.PARAMETERS} for one in stages]
    others = [one(**arrays) for one, arrays in zip(stages, given, strict=True)]
    with pytest.raises(NotImplementedError, match=f"knee: requires_grad = True: {why}"):
        Actuator(array(np.arange(N), False, wp.uint32), law, others=others, requires_grad=True, label="knee")


def test_what_has_no_gradients_on_a_gpu_is_refused_there() -> None:
    ones = array(np.ones(N))
    held = actuators.RateHold(ones, ones, ones)
    actuator = Actuator(array(np.arange(N), False, wp.uint32), pd()[0].controller, others=[held], requires_grad=True)
    plan = actuator.compiled().plan
    with pytest.raises(NotImplementedError, match=r"an encoder, a rate, and a delay .*\(RateHold\) have none on a GPU"):
        actuator_gradients._refuse_on_gpu("knee", plan)


def test_actuators_of_newton_with_gradients_are_taken() -> None:
    newton = pytest.importorskip("newton.actuators", reason="newton is not installed")
    if not hasattr(newton, "DrivePD"):
        pytest.skip("this newton has other names")
    _, arrays = pd()
    law = newton.DrivePD(kp=arrays["kp"], kd=arrays["kd"], const_effort=arrays["const"])
    group = ActuatorGroup([newton.Actuator(array(np.arange(N), False, wp.uint32), law, requires_grad=True)])
    np.testing.assert_array_equal(gradients(group, arrays)["joint_q"], -10.0)
