"""Networks as laws of a plan: both engines agree in every layout, and networks of one file are evaluated together."""

from collections.abc import Sequence

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators.base.native import core
from isaacsim.core.experimental.actuators.engine.entry import ActuatorEntry
from isaacsim.core.experimental.actuators.engine.plan import Plan, compile_plan
from isaacsim.core.experimental.actuators.engine.step.binding import Columns
from isaacsim.core.experimental.actuators.engine.step.native import NativeStep
from isaacsim.core.experimental.actuators.engine.step.state import restore, save
from isaacsim.core.experimental.actuators.engine.step.warp import WarpStep
from isaacsim.core.experimental.actuators.laws.networks.checkpoint import Checkpoint
from neural_twin import random_motion, random_network
from refusals import cases, refused

native_only = pytest.mark.skipif(core is None, reason="the native core was not built")
DT, JOINTS = 0.005, 8
MLP = Checkpoint(
    random_network("mlp", 6, layers=2), {"input_idx": [0, 3, 1], "effort_scale": 9.0, "pos_scale": 2.0}, "onnx", "a"
)
FILLED = Checkpoint(MLP.network, {**MLP.metadata, "history_fill": "first"}, "onnx", "a")
LSTM = Checkpoint(random_network("lstm", 2, layers=2), {"effort_scale": 30.0}, "onnx", "b")
GRU = Checkpoint(
    random_network("gru", 3),
    {"input_columns": ["velocity_error", "position", "target_position"], "effort_scale": 7.0},
    "onnx",
    "c",
)


def plan_of(robots: int) -> Plan:
    """Eight joints: PID, MLP, LSTM, GRU, the same MLP with a delay and a limit, on a prim of its own, PD, filled."""

    def full(value: float, joints: int = 1) -> wp.array:
        return wp.full(robots * joints, value, dtype=wp.float32, device="cpu")

    lag = aa.Delay(wp.full(robots, 2, dtype=wp.int32, device="cpu"), 3)
    limit = [aa.ClampingMaxEffort(full(1.5))]
    entries = [
        ActuatorEntry(
            "pid", ("0",), aa.ControllerPID(full(9.0), full(3.0), full(0.1), full(2.0)), [], None, shared=True
        ),
        ActuatorEntry("mlp", ("1", "4"), aa.ControllerNeuralMLP(MLP), [], None, shared=True),
        ActuatorEntry("lstm", ("2",), aa.ControllerNeuralLSTM(LSTM), limit, None, shared=True),
        ActuatorEntry("gru", ("3",), aa.ControllerNeuralGRU(GRU), [], None, shared=True),
        ActuatorEntry("late", ("5",), aa.ControllerNeuralMLP(MLP), limit, lag, shared=True),
        ActuatorEntry("pd", ("6",), aa.ControllerPD(full(9.0), full(0.3)), limit, None, shared=True),
        ActuatorEntry("filled", ("7",), aa.ControllerNeuralMLP(FILLED), [], None, shared=True),
    ]
    return compile_plan(entries, robots, [(0,), (1, 4), (2,), (3,), (5,), (6,), (7,)])


class Bench:
    def __init__(self, step, columns: Sequence[int], width: int) -> None:
        self.step, robots = step, step.plan.num_robots
        self.columns = list(columns)
        self.inputs = [np.zeros((robots, width), np.float32) for _ in range(5)]
        self.efforts = np.full((robots, width), 7.0, np.float32)
        step.bind(Columns(self.columns, self.inputs, self.efforts))

    def run(self, signals: np.ndarray) -> np.ndarray:
        """Efforts for signals `(5, robots · joints)`."""
        for array, values in zip(self.inputs, signals, strict=True):
            array[:, self.columns] = values.reshape(len(array), -1)
        self.step.step(DT)
        return self.efforts[:, self.columns].copy()


def signals_of(rng: np.random.Generator, robots: int, steps: int) -> np.ndarray:
    signals = random_motion(rng, robots * JOINTS, steps)
    ill = rng.random(signals.shape) < 0.002
    signals[ill] = rng.choice([np.nan, np.inf, -np.inf], ill.sum())
    return signals


def test_those_of_one_network_are_one_law() -> None:
    plan = plan_of(2)
    assert [one.used.tolist() for one in plan.networks] == [
        [slot in (1, 4, 5) for slot in range(JOINTS)],
        [slot == 2 for slot in range(JOINTS)],
        [slot == 3 for slot in range(JOINTS)],
        [slot == 7 for slot in range(JOINTS)],
    ]
    other = Checkpoint(MLP.network, {**MLP.metadata, "effort_scale": 8.0}, "onnx", "d")
    entries = [
        ActuatorEntry(str(n), (str(n),), aa.ControllerNeuralMLP(which), [], None)
        for n, which in enumerate((MLP, other))
    ]
    assert len(compile_plan(entries, 2).networks) == 2


@native_only
@cases(
    "columns, width, layout",
    (range(JOINTS), JOINTS, "direct"),
    ([0, 2, 3, 5, 6, 7, 9, 10], 11, "gaps"),
    ([9, 2, 3, 5, 6, 0, 7, 10], 11, "eights"),
    ids=["direct", "gaps", "eights"],
)
@pytest.mark.parametrize("robots", [1, 60, 97])
def test_engines_agree(columns, width, layout, robots, rng) -> None:
    steps = NativeStep(plan_of(robots)), WarpStep(plan_of(robots), "cpu")
    benches = [Bench(step, columns, width) for step in steps]
    largest = 0.0
    for number, signals in enumerate(signals_of(rng, robots, 40)):
        if number in (13, 21):
            for step in steps:
                step.reset([robots - 1] if number == 13 else None)
        if number == 30:
            saved = [save([(list(range(JOINTS)), step)]) for step in steps]
            for step, one in zip(steps, reversed(saved), strict=True):
                restore([(list(range(JOINTS)), step)], one)
        found, expected = (bench.run(signals) for bench in benches)
        assert np.isfinite(found).all()
        largest = max(largest, float(np.abs(expected).max()))
        np.testing.assert_allclose(found, expected, atol=1e-5 * largest, rtol=0)
    assert largest > 2.0
    if robots > 1 or layout == "eights":
        assert steps[0].core.layout == layout
    assert steps[0].faults() == steps[1].faults() and (robots == 1 or len(steps[0].faults()) > 20)
    of_native, of_warp = (save([(list(range(JOINTS)), step)]) for step in steps)
    assert {"mlp.controller.vel_history", "lstm.controller.cell", "gru.controller.hidden"} < {*of_native}
    for name, values in of_native.items():
        if values.dtype == np.float32:
            np.testing.assert_allclose(values, of_warp[name], atol=1e-5, rtol=1e-5, err_msg=name)
    assert (benches[0].efforts[:, [column for column in range(width) if column not in columns]] == 7.0).all()


@native_only
def test_number_of_robots_and_threads_change_no_bit(monkeypatch, rng) -> None:
    robots = 9500
    signals = signals_of(rng, robots, 6)
    monkeypatch.setenv("ACTUATORS_HELPER", "1")
    helped = Bench(NativeStep(plan_of(robots)), range(JOINTS), JOINTS)
    monkeypatch.setenv("ACTUATORS_HELPER", "0")
    many, alone = (Bench(NativeStep(plan_of(count)), range(JOINTS), JOINTS) for count in (robots, 1))
    for one in signals:
        found = many.run(one)
        np.testing.assert_array_equal(helped.run(one), found)
        mine = one.reshape(5, robots, JOINTS)[:, robots // 2].reshape(5, -1)
        np.testing.assert_array_equal(alone.run(mine)[0], found[robots // 2])


@pytest.mark.parametrize("kind", ["native", "warp"])
def test_observed_effort_is_that_of_the_network(kind, rng) -> None:
    if kind == "native" and core is None:
        pytest.skip("the native core was not built")
    step = NativeStep(plan_of(3)) if kind == "native" else WarpStep(plan_of(3), "cpu")
    bench = Bench(step, range(JOINTS), JOINTS)
    step.observe(True)
    limited = 0
    for signals in random_motion(rng, 3 * JOINTS, 30) * 3:
        efforts = bench.run(signals)
        computed, by = step.observed()
        expected = np.array(computed)
        expected[:, [2, 5, 6]] = np.clip(expected[:, [2, 5, 6]], -1.5, 1.5)
        np.testing.assert_array_equal(efforts, expected)
        assert ((np.array(by) != 0) == (efforts != computed)).all()
        limited += int((np.array(by)[:, [2, 5]] != 0).sum())
    assert limited > 10


@native_only
@cases(
    "change, message",
    ({"features": [(0, 0, 0, 0.0, 1.0)] * 5}, "features of a network: must be as many as its inputs"),
    ({"features": [(6, 0, 0, 0.0, 1.0)] * 6}, "column of a network: must be one that is known"),
    ({"features": [(0, 4, 0, 0.0, 1.0)] * 6}, "feature of a network: must be one that is remembered"),
    ({"features": [(0, 1, 2, 0.0, 1.0)] * 6}, "feature of a network: must be one that is remembered"),
    ({"histories": [2, 3, 3]}, "histories of a network: must be two at most"),
    ({"slots": [0, 0]}, "slots of a network: must be in ascending order"),
    ({"slots": [2]}, "slots of a network: 2: must be one of the slots"),
)
def test_core_refuses_what_would_lead_out_of_its_arrays(change, message) -> None:
    from isaacsim.core.experimental.actuators.laws.networks.evaluator import core_of
    from isaacsim.core.experimental.actuators.laws.networks.program import Program

    given = {
        "network": core_of(Program(MLP.network)),
        "features": [(2, back % 4, 0, 0.0, 1.0) for back in range(6)],
        "histories": [2, 3],
        "steps": 4,
        "scale": 1.0,
        "offset": 0.0,
        "slots": [0, 1],
        "first_fills": False,
    }
    assert core.Plan("leg", 3, 2, [], [], [], [], 1, [tuple(given.values())]) is not None
    refused(ValueError, lambda: core.Plan("leg", 3, 2, [], [], [], [], 1, [tuple((given | change).values())]), message)
