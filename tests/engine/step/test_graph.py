"""The Warp step in a graph: captured once, replayed repeatedly. The tests run on the CPU; CUDA runs the same kernel."""

import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators import ClampingMaxEffort, ControllerPID, Delay
from isaacsim.core.experimental.actuators.engine.entry import ActuatorEntry
from isaacsim.core.experimental.actuators.engine.plan import compile_plan
from isaacsim.core.experimental.actuators.engine.step.binding import Columns
from isaacsim.core.experimental.actuators.engine.step.state import restore, save
from isaacsim.core.experimental.actuators.engine.step.warp import WarpStep

ROBOTS, DT = 3, 0.01


def make() -> tuple[WarpStep, list[wp.array]]:
    """A joint with integral, delay and limit, bound to arrays of its own."""

    def full(value: float) -> wp.array:
        return wp.full(ROBOTS, value, dtype=wp.float32, device="cpu")

    law = ControllerPID(full(9), full(3), full(1), full(2))
    lag = Delay(wp.array([0, 1, 3], dtype=wp.int32, device="cpu"), 3)
    engine = WarpStep(compile_plan([ActuatorEntry("a", ("a",), law, [ClampingMaxEffort(full(7))], lag)], ROBOTS), "cpu")
    arrays = [wp.zeros((ROBOTS, 1), dtype=wp.float32, device="cpu") for _ in range(6)]
    engine.bind(Columns([0], arrays[:5], arrays[5]))
    return engine, arrays


@pytest.mark.parametrize("length", [1, 2, 3])
def test_graph_of_odd_and_even_length_equals_eager_steps(length, rng) -> None:
    """State is updated in place: one graph suffices, however many steps it holds and wherever a reset falls."""
    eager, graphed = make(), make()
    with wp.ScopedCapture(device="cpu") as capture:
        for _ in range(length):
            graphed[0].step(DT)
    restore([([0], graphed[0])], save([([0], make()[0])]))
    for replay in range(6):
        inputs = rng.normal(size=(5, ROBOTS, 1)).astype(np.float32)
        for _, arrays in (eager, graphed):
            for array, values in zip(arrays[:5], inputs, strict=True):
                array.assign(values)
        if replay == 3:
            eager[0].reset([1])
            graphed[0].reset([1])
        for _ in range(length):
            eager[0].step(DT)
        wp.capture_launch(capture.graph)
        np.testing.assert_array_equal(graphed[1][5].numpy(), eager[1][5].numpy())
    assert np.abs(eager[1][5].numpy()).max() > 0


def test_faults_in_a_replayed_graph_tell_their_step() -> None:
    """Though Python counts no step of a replay; counted from the last reset of all."""
    engine, arrays = make()
    with wp.ScopedCapture(device="cpu") as capture:
        for _ in range(3):
            engine.step(DT)
    for before in (0, 4):
        engine.reset()
        for array in arrays[:5]:
            array.zero_()
        for _ in range(before):
            engine.step(DT)
        for _ in range(2):
            wp.capture_launch(capture.graph)
        arrays[0].fill_(np.nan)
        wp.capture_launch(capture.graph)
        assert {step for *_, step in engine.faults()} == {before + 6}


def test_steps_are_counted_where_warp_answers_with_its_captures(monkeypatch) -> None:
    captures = {"graph": 1}
    monkeypatch.setattr(type(wp.get_device("cpu")), "is_capturing", property(lambda self: captures))
    engine, arrays = make()
    engine.step(DT)
    captures.clear()
    engine.step(DT)
    arrays[0].fill_(np.nan)
    engine.step(DT)
    engine.step(DT)
    assert engine.steps == 4 and {step for *_, step in engine.faults()} == {2}
    engine.set_faults([(1, 0, 3, 1)], 7)
    engine.step(DT)
    assert engine.steps == 8 and (1, 0, 3, 1) in engine.faults()


@pytest.mark.parametrize("mask", [[True, False, True], [False] * 3])
def test_a_mask_on_the_device_resets_its_robots(mask, rng) -> None:
    found = []
    for given in (np.flatnonzero(mask).tolist(), wp.array(mask, dtype=wp.bool, device="cpu")):
        engine, arrays = make()
        draws = np.random.default_rng(4)
        for step in range(8):
            for array in arrays[:5]:
                array.assign(draws.normal(size=(ROBOTS, 1)).astype(np.float32))
            if step == 5:
                with pytest.MonkeyPatch.context() as patch:
                    patch.delattr(wp.array, "numpy")
                    engine.reset(given)
            engine.step(DT)
        found.append(arrays[5].numpy().copy())
    np.testing.assert_array_equal(*found)
