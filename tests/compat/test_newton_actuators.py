"""Code written for newton-actuators 0.1.1 runs here: beside the real package, and by known numbers without it."""

import importlib.util
import inspect
import itertools
import re
import sys
import types
import unittest
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import oracle
import pytest
import warp as wp
from closeness import assert_close
from isaacsim.core.experimental import actuators as package
from isaacsim.core.experimental.actuators import ActuatedArrays
from isaacsim.core.experimental.actuators.compat import newton_actuators as ours
from neural_twin import Twin, random_motion, random_network, write_network
from peers import newton_actuators
from places import REPOSITORY
from pxr import Sdf, Usd
from refusals import cases, refused

PAGE = REPOSITORY / "docs" / "tutorials" / "migrate_from_newton_actuators.md"
CLASSES = [name for name in ours.__all__ if name.startswith("Actuator")]
N, SIZE, DT = 6, 11, 0.01
TABLE = [-1.0, -0.5, 0.0, 0.0, 0.4, 1.0], [5.0, 80.0, 60.0, 20.0, 20.0, 5.0]


@pytest.fixture(autouse=True)
def _on_cpu() -> Iterator[None]:
    with wp.ScopedDevice("cpu"):
        yield


def floats(*values) -> wp.array:
    return wp.array(np.ravel(values).astype(np.float32), dtype=wp.float32, device="cpu")


def places(*values: int) -> wp.array:
    return wp.array(np.array(values, np.uint32), dtype=wp.uint32, device="cpu")


def control_of(*targets: float, **more) -> SimpleNamespace:
    nothing = {name: floats(np.zeros(len(targets))) for name in ("joint_target_vel", "joint_f")}
    return SimpleNamespace(joint_target_pos=floats(targets), **nothing | more)


def at_rest(count: int, speeds=0.0) -> SimpleNamespace:
    return SimpleNamespace(joint_q=floats(np.zeros(count)), joint_qd=floats(np.full(count, 1.0) * speeds))


def made(module, name: str, at: wp.array, out: wp.array, p: SimpleNamespace, **more):
    """An actuator of a class of the real package or of ours, of the same parameters."""
    delayed = {"delay": p.lag, "lookup_angles": TABLE[0], "lookup_torques": TABLE[1]}
    given = vars(p) | delayed | more
    names = inspect.signature(getattr(module, name)).parameters
    return getattr(module, name)(at, out, **{key: value for key, value in given.items() if key in names})


def parameters(rng: np.random.Generator, lag: int, extras: bool) -> SimpleNamespace:
    drawn = {
        "kp": rng.uniform(0, 90, N),
        "ki": rng.uniform(0, 900, N),
        "kd": rng.uniform(0, 9, N),
        "integral_max": rng.uniform(0, 0.05, N),
        "max_force": rng.uniform(10, 60, N),
        "saturation_effort": np.where(np.arange(N) == 2, np.inf, rng.uniform(20, 90, N)),
        "velocity_limit": rng.uniform(0.5, 2, N),
        "constant_force": rng.normal(size=N),
    }
    found = SimpleNamespace(**{name: floats(values) for name, values in drawn.items()}, lag=lag)
    if not extras:
        found.constant_force = None
    return found


def test_their_own_tests_pass(monkeypatch) -> None:
    """The suite in the wheel, with the one import line changed; what needs Torch is skipped by itself without it."""
    found = importlib.util.find_spec("newton_actuators")
    if found is None or found.origin is None:
        pytest.skip("newton-actuators is not installed")
    path = Path(found.origin).parent / "tests" / "test_actuators.py"
    module = types.ModuleType("their_suite")
    monkeypatch.setitem(sys.modules, "their_suite", module)
    monkeypatch.setitem(sys.modules, "newton_actuators", ours)
    exec(compile(path.read_text("utf-8"), str(path), "exec"), vars(module))
    result = unittest.TestResult()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        unittest.defaultTestLoader.loadTestsFromModule(module).run(result)
    assert [text for _, text in result.errors + result.failures] == []
    assert result.testsRun == 44 and len(result.skipped) == (0 if importlib.util.find_spec("torch") else 13)


@pytest.mark.parametrize("name", [*CLASSES, "parse_actuator_prim", "ParsedActuator"])
def test_same_signatures(name) -> None:
    peer = newton_actuators()
    assert set(ours.__all__) == set(peer.__all__) and ours.__version__ == peer.__version__

    def arguments(of) -> list[tuple[str, Any]]:
        taken = inspect.signature(of).parameters.values()
        return [(one.name, one.default) for one in taken if one.kind is not one.KEYWORD_ONLY]

    mine, theirs = getattr(ours, name), getattr(peer, name)
    assert arguments(mine) == arguments(theirs)
    if name in CLASSES:
        assert mine.SCALAR_PARAMS == theirs.SCALAR_PARAMS
        for hook in ("step", "_run_controller", "_run_state_manager", "_run_transmission", "resolve_arguments"):
            assert arguments(getattr(mine, hook)) == arguments(getattr(theirs, hook))


@pytest.mark.parametrize("extras", [True, False], ids=["bias and feedforward", "neither"])
@pytest.mark.parametrize(
    ("name", "lag"),
    [("ActuatorPD", 1), ("ActuatorPID", 1), ("ActuatorDCMotor", 1)]
    + [(name, lag) for name in ("ActuatorDelayedPD", "ActuatorRemotizedPD") for lag in (1, 4, 23)],
)
@pytest.mark.parametrize("hooked", [False, True], ids=["in one call", "hook by hook"])
def test_same_efforts(name, lag, extras, hooked, rng) -> None:
    peer, p = newton_actuators(), parameters(rng, lag, extras)
    at, out = (places(*rng.permutation(SIZE)[:N]) for _ in range(2))
    module = ours
    if hooked:
        hook = {"_run_state_manager": lambda self, *a: getattr(ours, name)._run_state_manager(self, *a)}
        module = SimpleNamespace(**{name: type(name, (getattr(ours, name),), hook)})
        module.__dict__[name].__signature__ = inspect.signature(getattr(ours, name))
    actuators = made(peer, name, at, out, p), made(module, name, at, out, p)
    assert [one.is_stateful() for one in actuators] == [name not in ("ActuatorPD", "ActuatorDCMotor")] * 2
    states = [[one.state(), one.state()] for one in actuators]
    given, moved = random_motion(rng, SIZE, 71)[1:], 0
    for step, (q, qd, target, target_vel, act) in enumerate(given):
        if step == 40:
            for now, _ in states:
                if now is not None:
                    now.reset()
        state = SimpleNamespace(joint_q=floats(q), joint_qd=floats(2 * qd))
        control = control_of(*target, joint_target_vel=floats(target_vel))
        if extras:
            control.joint_act = floats(act)
        before = rng.normal(size=SIZE).astype(np.float32)
        found = []
        for actuator, pair in zip(actuators, states, strict=True):
            control.joint_f = floats(before)
            actuator.step(state, control, *pair, DT)
            found.append(control.joint_f.numpy())
            pair.reverse()
        theirs, mine = found
        # the largest summand, kp·(q* − q), sets the rounding
        assert_close(mine, theirs.astype(np.float64), np.full(SIZE, 400.0))
        moved += (mine != before).any()
        if "integral" in vars(states[0][0] or at):
            np.testing.assert_array_equal(*[pair[0].integral.numpy() for pair in states])
        if hasattr(states[0][0], "is_filled"):
            one, other = (pair[0] for pair in states)
            assert (one.write_idx, one.is_filled) == (other.write_idx, other.is_filled)
            if one.is_filled:
                for buffer in ("buffer_pos", "buffer_vel", "buffer_act"):
                    np.testing.assert_array_equal(getattr(one, buffer).numpy(), getattr(other, buffer).numpy())
    silent = 2 * lag if name in ("ActuatorDelayedPD", "ActuatorRemotizedPD") else 0
    assert moved == len(given) - silent


@pytest.mark.parametrize("same", [True, False], ids=["one state", "two states"])
def test_nothing_until_the_delay_is_full(same) -> None:
    at = places(0)
    for lag, wanted in ((2, [0, 0, 10, 20, 30]), (0, [10, 20, 30, 40, 50]), (5, [0] * 5)):
        actuator = ours.ActuatorDelayedPD(at, at, floats(1), floats(0), lag, floats(99))
        now = actuator.state()
        after = now if same else actuator.state()
        for _ in range(2):
            found = []
            for target in (10, 20, 30, 40, 50):
                control = control_of(target)
                actuator.step(at_rest(1), control, now, after)
                found.append(control.joint_f.numpy()[0])
                now, after = after, now
            assert found == wanted
            now.reset()


def test_state_of_a_delay_can_be_written() -> None:
    at = places(0)
    actuator = ours.ActuatorDelayedPD(at, at, floats(1), floats(0), 3, floats(99))
    state, control = actuator.state(), control_of(40)
    assert (state.write_idx, state.is_filled, state.buffer_act.shape) == (2, False, (3, 1))
    state.buffer_pos = floats(7, 8, 9).reshape((3, 1))
    state.write_idx, state.is_filled = 0, True
    actuator.step(at_rest(1), control, state, state)
    assert control.joint_f.numpy() == [8.0] and state.write_idx == 1


def test_motor_gives_nothing_beyond_no_load_speed() -> None:
    """Neither drive nor brake, whatever is asked for; an infinite stall effort keeps the speed limit."""
    speeds = [0, 5, 10, 12, 20, 100, -12]
    at = places(*range(len(speeds)))
    for stall, target, wanted in (
        (100, 1000, [50, 50, 0, 0, 0, 0, 50]),
        (100, 0, [0] * 7),
        (100, -1000, [-50] * 6 + [0]),
        (np.inf, 1000, [50, 50, 0, 0, 0, 0, 50]),
    ):
        one, zero, peak, top, speed = (floats([v] * len(speeds)) for v in (1, 0, 50, stall, 10))
        control = control_of(*[target] * len(speeds))
        ours.ActuatorDCMotor(at, at, one, zero, peak, top, speed).step(at_rest(len(speeds), speeds), control)
        np.testing.assert_allclose(control.joint_f.numpy(), wanted, atol=1e-4)


@pytest.mark.parametrize("name", ["ActuatorPD", "ActuatorPID", "ActuatorDelayedPD"])
def test_gear(name, rng) -> None:
    """All but the limit is the motor's: `clamp(G·(c + act + kp·(t − G·q) + …), ±max)`; a gear of 1 is none."""
    p, at = parameters(rng, 2, True), places(*range(N))
    gear = rng.uniform(-4, 6, N).astype(np.float32)
    geared, plain, by_one = (
        made(ours, name, at, at, p, **more) for more in ({"gear": floats(gear)}, {}, {"gear": floats(np.ones(N))})
    )
    np.testing.assert_array_equal(geared.gear.numpy(), gear)
    assert plain.gear is None
    states = [[one.state(), one.state()] for one in (geared, plain, by_one)]
    kp, kd, ki, top, limit, const = (
        getattr(p, key).numpy().astype(float)
        for key in ("kp", "kd", "ki", "integral_max", "max_force", "constant_force")
    )
    integral, commands = np.zeros(N), []
    for q, qd, target, target_vel, act in random_motion(rng, N, 60):
        found = []
        for actuator, pair in zip((geared, plain, by_one), states, strict=True):
            state = SimpleNamespace(joint_q=floats(q), joint_qd=floats(qd))
            control = control_of(*target, joint_target_vel=floats(target_vel), joint_act=floats(act))
            actuator.step(state, control, *pair, DT)
            found.append(control.joint_f.numpy())
            pair.reverse()
        np.testing.assert_allclose(found[1], found[2], atol=1e-4)
        commands.append((target, target_vel, act))
        if name == "ActuatorDelayedPD":
            if len(commands) <= p.lag:
                assert not found[0].any()
                continue
            target, target_vel, act = commands[-1 - p.lag]
        error, more = target - gear * q.astype(float), 0.0
        if name == "ActuatorPID":
            integral = np.clip(integral + error * DT, -top, top)
            more = ki * integral
        effort = gear * (const + act + kp * error + kd * (target_vel - gear * qd.astype(float)) + more)
        np.testing.assert_allclose(found[0], np.clip(effort, -limit, limit), rtol=1e-5, atol=2e-3)


@pytest.mark.parametrize("name", CLASSES)
def test_same_arguments(name) -> None:
    peer = newton_actuators()
    full = {
        **{"kp": -1.0, "kd": 2, "ki": 3, "max_force": 4, "integral_max": 1, "constant_force": 5, "delay": 2},
        **{"velocity_limit": 0, "saturation_effort": 3, "lookup_angles": [0, 1], "lookup_torques": [1, 2], "other": 3},
        **{"network_path": "x", "pos_scale": 3, "torque_scale": 2, "input_order": "q", "input_idx": [0]},
    }
    needed = ("delay", "velocity_limit", "lookup_angles", "lookup_torques", "network_path")
    for given in ({}, {name: full[name] for name in needed}, full, *({needed[0]: 1, one: full[one]} for one in needed)):
        found = []
        for module in (peer, ours):
            try:
                found.append(getattr(module, name).resolve_arguments(dict(given)))
            except (ValueError, NotImplementedError) as error:
                found.append(type(error))
        assert found[0] == found[1]
    if name in ("ActuatorPD", "ActuatorPID", "ActuatorDelayedPD"):
        assert getattr(ours, name).resolve_arguments(full | {"gear": 2.0})["gear"] == 2.0


@cases("short", "output_indices", "kp", "kd", "ki", "max_force", "constant_force", "integral_max", "velocity_limit")
@pytest.mark.parametrize("name", [name for name in CLASSES if "Net" not in name and name != "Actuator"])
def test_lengths_are_compared_with_the_number_of_actuators(name, short, rng) -> None:
    p, at, out = parameters(rng, 2, True), places(*range(N)), places(*range(N))
    if short == "output_indices":
        out = places(0)
    elif short not in inspect.signature(getattr(ours, name)).parameters:
        return
    else:
        setattr(p, short, floats(1))
    for module in (ours, newton_actuators()):
        with pytest.raises(ValueError, match=short):
            made(module, name, at, out, p)


@cases(
    "wrong, message",
    ({"delay": -1}, "max_delay = -1"),
    ({"delay": 1.5}, "delay = 1.5: must be a whole number"),
    ({"lookup_angles": [1.0, 0.0], "lookup_torques": [1.0, 1.0]}, "must not decrease"),
    ({"lookup_angles": [0.0, 1.0], "lookup_torques": [1.0]}, "equally many"),
    ({"lookup_angles": [0.0], "lookup_torques": [-1.0]}, "-1"),
)
def test_what_cannot_be_used_is_refused(wrong, message) -> None:
    at = places(0)
    given = {"delay": 1, "lookup_angles": [0.0], "lookup_torques": [1.0]} | wrong
    refused(ValueError, lambda: ours.ActuatorRemotizedPD(at, at, floats(1), floats(1), **given), message)


def test_what_is_missing_in_a_step_is_told() -> None:
    at = places(0)
    pid = ours.ActuatorPID(at, at, *(floats(1) for _ in range(5)))
    delayed = ours.ActuatorDelayedPD(at, at, floats(1), floats(1), 2, floats(1))
    control, state = control_of(5), at_rest(1)
    for actuator in (pid, delayed):
        for states in ((None, None), (actuator.state(), None)):
            with pytest.raises(ValueError, match="requires both"):
                actuator.step(state, control, *states, DT)
    refused(ValueError, lambda: pid.step(state, control, pid.state(), pid.state()), "dt = None")
    with pytest.raises(ValueError, match="joint_q"):
        pid.step(SimpleNamespace(joint_qd=floats(0)), control, pid.state(), pid.state(), DT)
    assert not control.joint_f.numpy().any()


def test_parameters_are_retuned_in_place_and_by_assignment() -> None:
    at = places(0)
    actuator = ours.ActuatorPD(at, at, floats(1), floats(0), floats(99))

    def effort() -> float:
        control = control_of(10, other_act=floats(5))
        actuator.step(at_rest(1), control)
        return float(control.joint_f.numpy()[0])

    assert effort() == 10 and actuator.constant_force is None
    actuator.kp.fill_(2)
    assert effort() == 20
    actuator.kp = floats(3)
    assert effort() == 30 and actuator.kp.numpy() == [3]
    actuator.max_force = floats(12)
    assert effort() == 12
    actuator.max_force, actuator.constant_force = floats(99), floats(4)
    assert effort() == 34
    actuator.control_input_attr = "other_act"
    assert effort() == 39
    actuator.control_input_attr = None
    assert effort() == 34


def test_absent_feedforward_is_none() -> None:
    at = places(0)
    actuator = ours.ActuatorPD(at, at, floats(1), floats(0), floats(99))
    for more in ({}, {"joint_act": None}):
        control = control_of(10, **more)
        actuator.step(at_rest(1), control)
        assert control.joint_f.numpy() == [10]


def test_a_transmission_takes_the_efforts_of_the_actuators(rng) -> None:
    found = []
    for module in (newton_actuators(), ours):

        class Differential(module.ActuatorPID):
            def has_transmission(self) -> bool:
                return True

            def _run_transmission(self, actuation_forces: wp.array, sim_control) -> None:
                sim_control.joint_f.assign(sim_control.joint_f.numpy() + actuation_forces.numpy().sum())
                sim_control.seen.append(actuation_forces.numpy().copy())

        drive = Differential(places(2, 1), places(0, 0), *(floats(v, v) for v in (2, 30, 0, 99, 1)))
        if module is ours:
            with pytest.raises(ValueError, match="_actuation_forces = None"):
                drive.step(at_rest(3), control_of(0, 1, 2), drive.state(), drive.state(), DT)
        drive._actuation_forces = floats(0, 0)
        now, after, control = drive.state(), drive.state(), control_of(0, 1, 2, seen=[])
        for _ in range(3):
            drive.step(at_rest(3), control, now, after, DT)
            now, after = after, now
        found.append([control.joint_f.numpy(), now.integral.numpy(), *control.seen])
    for theirs, mine in zip(*found, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-6)
    assert found[0][2].tolist() == pytest.approx([4.6, 2.3])


def test_base_class_runs_hooks_of_a_subclass() -> None:
    for module in (newton_actuators(), ours):

        class Constant(module.Actuator):
            stateful = False
            seen: ClassVar[list[str]] = []

            def is_stateful(self) -> bool:
                return self.stateful

            def _run_controller(self, sim_state, sim_control, controller_output, output_indices, current_state, dt):
                self.seen.append("controller")
                assert controller_output is sim_control.joint_f and output_indices is self.output_indices

            def _run_state_manager(self, sim_state, sim_control, current_state, next_state, dt):
                self.seen.append("state manager")
                assert (current_state, next_state, dt) == ("now", "after", DT)

        actuator = Constant(places(0, 1), places(1, 0))
        assert (actuator.state(), actuator.is_graphable(), actuator.has_transmission()) == (None, True, False)
        actuator.step(None, control_of(1, 1))
        assert actuator.seen == ["controller"]
        actuator.stateful = True
        actuator.step(None, control_of(1, 1), "now", "after", DT)
        assert actuator.seen == ["controller", "controller", "state manager"]
        module.Actuator(places(0), places(0)).step(None, control_of(1))


@pytest.mark.parametrize("order", ["pos_vel", "vel_pos"])
def test_network_of_a_file(order, tmp_path, rng) -> None:
    network = random_network("mlp", 6)
    said = {"input_idx": [0, 1, 3], "pos_scale": 2.0, "vel_scale": 0.3, "torque_scale": 20.0, "input_order": order}
    path = write_network(tmp_path / "mlp.safetensors", network, {"input_idx": [0, 1, 2], "history_fill": "first"})
    at, limit = places(*range(N)), 2.0
    actuator = ours.ActuatorNetMLP(at, at, floats([limit] * N), network_path=path, **said)
    told = [actuator.pos_scale, actuator.vel_scale, actuator.torque_scale, actuator.history_length, actuator.input_idx]
    assert told == [2.0, 0.3, 20.0, 4, [0, 1, 3]] and actuator.network_path is path
    with pytest.raises(AttributeError, match="torque_scale is part of its law"):
        actuator.torque_scale = 1.0
    twin = Twin(network, said, N)
    now, after, limited = actuator.state(), actuator.state(), 0
    for step, (q, qd, target, *_) in enumerate(random_motion(rng, N, 50)):
        if step == 25:
            now.reset()
            twin.reset(np.ones(N))
        control = SimpleNamespace(joint_target_pos=floats(target), joint_f=floats(np.zeros(N)))
        actuator.step(SimpleNamespace(joint_q=floats(q), joint_qd=floats(qd)), control, now, after)
        expected = twin.step(q, qd, target, target)
        np.testing.assert_allclose(control.joint_f.numpy(), np.clip(expected, -limit, limit), atol=2e-4)
        limited += (np.abs(expected) > limit).sum()
        now, after = after, now
    assert 0 < limited < 50 * N and tuple(now.pos_error_history.shape) == tuple(now.vel_history.shape) == (4, N)


def test_lstm_of_a_file(tmp_path, rng) -> None:
    network = random_network("lstm", 2, layers=2)
    path = write_network(tmp_path / "lstm.safetensors", network, {"model_type": "lstm"})
    at = places(*range(N))
    actuator = ours.ActuatorNetLSTM(at, at, floats([99] * N), network_path=path)
    twin, state = Twin(network, {}, N), actuator.state()
    for step, (q, qd, target, *_) in enumerate(random_motion(rng, N, 40)):
        if step == 20:
            state.reset()
            twin.reset(np.ones(N))
        control = control_of(*target)
        actuator.step(SimpleNamespace(joint_q=floats(q), joint_qd=floats(qd)), control, state, state)
        np.testing.assert_allclose(control.joint_f.numpy(), twin.step(q, qd, target, target), atol=1e-5)
    for mine, wanted in ((state.hidden, twin.hidden), (state.cell, twin.cell)):
        np.testing.assert_allclose(np.asarray(mine), wanted, atol=1e-5)


def test_what_is_no_network_is_refused(tmp_path) -> None:
    at = places(0)
    path = write_network(tmp_path / "mlp.safetensors", random_network("mlp", 2), {"model_type": "mlp"})
    for given, message in (
        ({}, "network = None and network_path = None"),
        ({"network_path": path, "input_order": "x"}, "input_order = 'x'"),
        ({"network_path": path, "input_idx": [-1]}, "input_idx"),
        ({"network_path": path, "input_idx": [0, 1]}, "input_idx"),
    ):
        with pytest.raises(ValueError, match=message):
            ours.ActuatorNetMLP(at, at, floats(1), **given)
    refused(ValueError, lambda: ours.ActuatorNetMLP(at, at, floats(1, 1), network_path=path), "max_force has length 2")
    refused(ValueError, lambda: ours.ActuatorNetLSTM(at, at, floats(1), network_path=path), "lstm")


@pytest.mark.parametrize("kind", ["mlp", "lstm"])
def test_module_of_the_program(kind, rng) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    peer = newton_actuators()

    class LSTM(torch.nn.Module):
        def __init__(self, **options) -> None:
            super().__init__()
            self.lstm = torch.nn.LSTM(
                **{"input_size": 2, "hidden_size": 5, "num_layers": 2, "batch_first": True} | options
            )
            self.head = torch.nn.Linear(5, 1)

        def forward(self, x, state):
            out, state = self.lstm(x, state)
            return self.head(out[:, -1, :]), state

    torch.manual_seed(3)
    at, out, limit = places(*rng.permutation(SIZE)[:N]), places(*rng.permutation(SIZE)[:N]), floats([0.2] * N)
    if kind == "mlp":
        net = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.ELU(), torch.nn.Linear(8, 1))
        said = {"pos_scale": 2.0, "vel_scale": 0.3, "torque_scale": 1.5, "input_idx": [0, 2, 1]}
    else:
        net, said = LSTM(), {}
    name = {"mlp": "ActuatorNetMLP", "lstm": "ActuatorNetLSTM"}[kind]
    actuators = [getattr(module, name)(at, out, limit, network=net, **said) for module in (peer, ours)]
    assert not any(one.is_graphable() for one in actuators) and actuators[1].network is net
    assert all(parameter.requires_grad for parameter in net.parameters())
    states = [[one.state(), one.state()] for one in actuators]
    for step, (q, qd, target, *_) in enumerate(random_motion(rng, SIZE, 60)):
        if step == 30:
            with torch.no_grad():
                next(net.parameters()).mul_(1.1)
            for now, _ in states:
                now.reset()
        found = []
        for actuator, pair in zip(actuators, states, strict=True):
            control = SimpleNamespace(joint_target_pos=floats(target), joint_f=floats(np.ones(SIZE)))
            actuator.step(SimpleNamespace(joint_q=floats(q), joint_qd=floats(qd)), control, *pair)
            found.append(control.joint_f.numpy())
            pair.reverse()
        np.testing.assert_allclose(found[1], found[0], atol=1e-6)
    if kind == "lstm":
        assert torch.allclose(states[0][0].hidden, states[1][0].hidden, atol=1e-6)
        states[1][0].cell[:, 1] = 0.0
        states[1][0].hidden = torch.zeros(2, N, 5)
        assert not states[1][0].hidden.any() and not states[1][0].cell[:, 1].any()
        for options in ({"input_size": 3}, {"batch_first": False}, {"bidirectional": True}, {"proj_size": 2}):
            for module in (peer, ours):
                with pytest.raises(ValueError, match=next(iter(options))):
                    module.ActuatorNetLSTM(at, out, limit, network=LSTM(**options))
        for module in (peer, ours):
            with pytest.raises(ValueError, match="lstm"):
                module.ActuatorNetLSTM(at, out, limit, network=torch.nn.Linear(2, 1))


class Prim:
    """What `parse_actuator_prim` asks of a prim; a value of None is an attribute that is not authored."""

    def __init__(self, values: dict, targets: tuple[str, ...] = ("/hip",), kind: str = "Actuator") -> None:
        self._values = {f"newton:actuator:{name}": value for name, value in values.items()}
        self._targets, self._kind = targets, kind

    def GetTypeName(self) -> str:
        return self._kind

    def GetAttributes(self) -> list:
        return [
            SimpleNamespace(
                GetName=lambda name=name: name,
                Get=lambda value=value: value,
                HasAuthoredValue=lambda value=value: value is not None,
            )
            for name, value in self._values.items()
        ]

    def GetAttribute(self, name: str):
        return next((one for one in self.GetAttributes() if one.GetName() == name), None)

    def GetRelationship(self, name: str):
        return SimpleNamespace(GetTargets=lambda: list(self._targets)) if self._targets else None

    def GetAppliedSchemas(self) -> list[str]:
        return []


def test_prims_of_all_attributes_are_read_alike() -> None:
    peer = newton_actuators()
    said = {"kp": 1.0, "ki": 2.0, "delay": 3, "saturationEffort": 4.0, "velocityLimit": 5.0, "maxForce": 6.0}
    rest = {"kd": 7.0, "integralMax": 8.0, "constForce": 9.0, "transmission": (0.5, 1.0), "gear": 2.0, "other": 1.0}
    seen = set()
    for there in itertools.product((True, False), repeat=len(said)):
        for unauthored in (None, *said):
            values = {name: said[name] for name, is_there in zip(said, there, strict=True) if is_there}
            if unauthored in values:
                values[unauthored] = None
            for more in ({}, rest):
                prim = Prim(values | more)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    theirs, mine = peer.parse_actuator_prim(prim), ours.parse_actuator_prim(prim)
                assert theirs is not None and mine is not None
                seen.add(mine.actuator_class.__name__)
                assert theirs.actuator_class.__name__ == mine.actuator_class.__name__
                for name in ("target_paths", "kwargs", "transmission"):
                    assert getattr(mine, name) == getattr(theirs, name), (values, more)
    assert seen == {"ActuatorPD", "ActuatorPID", "ActuatorDelayedPD", "ActuatorDCMotor"}
    for nothing in (Prim(said, ()), Prim(said, kind="NewtonActuator")):
        assert peer.parse_actuator_prim(nothing) is ours.parse_actuator_prim(nothing) is None
    for speed in (0.0, -4.0):
        for module in (peer, ours):
            with pytest.raises(ValueError, match=r"velocity.*> 0"):
                module.parse_actuator_prim(Prim({"kp": 1.0, "saturationEffort": 1.0, "velocityLimit": speed}))


@cases(
    "values, lost",
    ({"kp": 1.0, "delay": 2, "maxForce": 3.0}, None),
    ({"kp": 1.0, "transmission": (1.0,)}, None),
    ({"ki": 1.0, "delay": 2}, r"delay = 2 of an actuator of /hip: .* becomes ActuatorPID"),
    ({"kp": 1.0, "delay": 2, "saturationEffort": 3.0, "velocityLimit": 4.0}, "delay = 2 .*ActuatorDCMotor"),
    ({"kp": 1.0, "saturationEffort": 3.0}, "saturationEffort = 3.0 .*ActuatorPD"),
    ({"ki": 1.0, "saturationEffort": 3.0, "velocityLimit": 4.0}, "saturationEffort = 3.0, velocityLimit = 4.0"),
    ({"kp": 1.0, "gear": 2.0}, "gear = 2.0"),
    ({"kp": 1.0, "stiffness": 2.0}, "stiffness = 2.0"),
)
def test_what_gets_lost_is_told(values, lost) -> None:
    if lost is None:
        ours.parse_actuator_prim(Prim(values))
    else:
        with pytest.warns(UserWarning, match=lost):
            ours.parse_actuator_prim(Prim(values))


def test_prim_of_a_stage_becomes_an_actuator() -> None:
    stage = Usd.Stage.CreateInMemory()
    prim = stage.DefinePrim("/Robot/hip_drive", "Actuator")
    prim.CreateRelationship("newton:actuator:target").AddTarget("/Robot/hip")
    for name, value in {"kp": 2.0, "gear": 3.0}.items():
        prim.CreateAttribute(f"newton:actuator:{name}", Sdf.ValueTypeNames.Float).Set(value)
    parsed = ours.parse_actuator_prim(prim, gear=True)
    assert parsed is not None and parsed.target_paths == ["/Robot/hip"]
    arguments = parsed.actuator_class.resolve_arguments(parsed.kwargs)
    actuator = parsed.actuator_class
    driven = actuator(places(0), places(0), **{name: floats(value) for name, value in arguments.items()})
    control = control_of(10)
    driven.step(at_rest(1), control)
    assert control.joint_f.numpy() == [60]


def test_import_warns_once_and_says_where_to_read_on(monkeypatch) -> None:
    monkeypatch.delitem(sys.modules, ours.__name__)
    with pytest.warns(DeprecationWarning, match=re.escape(str(PAGE.relative_to(REPOSITORY)))) as told:
        importlib.import_module(ours.__name__)
    assert len(told) == 1 and PAGE.exists()
    monkeypatch.setattr(sys.modules[ours.__name__.rpartition(".")[0]], "newton_actuators", ours)


ROWS = re.findall(r"^\| `(Actuator.*)` \| `(\[.*\])` \|$", PAGE.read_text("utf-8"), re.MULTILINE)


@pytest.mark.parametrize(("old", "new"), ROWS)
def test_rows_of_the_migration_page_give_the_same_efforts(old, new, tmp_path, rng) -> None:
    metadata = {"pos_scale": 2.0, "vel_scale": 0.3, "torque_scale": 20.0, "input_idx": [0, 1, 3]}
    write_network(tmp_path / "mlp.safetensors", random_network("mlp", 6), {"model_type": "mlp"} | metadata)
    write_network(tmp_path / "lstm.safetensors", random_network("lstm", 2), {"model_type": "lstm"})

    def build(cls: Callable) -> Callable:
        whole = ("delay", "pos_scale", "vel_scale", "torque_scale")
        return lambda *at, **said: cls(
            *at,
            **{
                name: floats([value] * N) if isinstance(value, float) and name not in whole else value
                for name, value in said.items()
            },
        )

    actuator = eval(old, {name: build(getattr(ours, name)) for name in CLASSES} | {"at": places(*range(N))})
    names = [f"joint{n}" for n in range(N)]
    arrays = ActuatedArrays(names, {".*": eval(new, {name: getattr(package, name) for name in package.__all__})})
    state, largest = actuator.state(), 0.0
    for step, (q, qd, target, target_vel, act) in enumerate(random_motion(rng, N, 80)):
        control = control_of(*target, joint_target_vel=floats(target_vel), joint_act=floats(act))
        actuator.step(SimpleNamespace(joint_q=floats(q), joint_qd=floats(qd)), control, state, state, DT)
        efforts = arrays.step(q, qd, target, DT, qd_target=target_vel, feedforward=act)
        if step >= 3:
            np.testing.assert_array_equal(control.joint_f.numpy(), efforts)
            largest = max(largest, np.abs(efforts).max())
    arrays.close()
    assert largest > 0


def test_every_class_has_a_row() -> None:
    assert {old.partition("(")[0] for old, _ in ROWS} == {*CLASSES} - {"Actuator"}
    assert sum("gear=" in old for old, _ in ROWS) == 3


def test_cutoff_is_the_curve_of_the_oracle(rng) -> None:
    count = 400
    effort, speed = rng.normal(size=count) * 60, rng.normal(size=count) * 15
    values = [rng.uniform(10, 90, count), rng.uniform(2, 20, count), rng.uniform(10, 60, count)]
    at, (top, limit, peak) = places(*range(count)), values
    motor = ours.ActuatorDCMotor(at, at, *(floats(v) for v in (np.ones(count), np.zeros(count), peak, top, limit)))
    control = control_of(*effort)
    motor.step(at_rest(count, speed), control)
    (wanted,) = oracle.LAWS["ClampingDCMotorCutoff"](effort, effort, speed, DT, top, limit, peak)
    assert_close(control.joint_f.numpy(), wanted, np.full(count, 200.0))
