"""Faults, resets and live parameters on both engines; `twins/` checks the laws."""

import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators import ClampingMaxEffort, ClampingPositionBased, ControllerPD, Delay, Uniform
from isaacsim.core.experimental.actuators.engine.assembly import Assembly
from isaacsim.core.experimental.actuators.engine.entry import ActuatorEntry

pytestmark = pytest.mark.usefixtures("engine_kind")
ROBOTS = 3


def full(value: float, dtype=wp.float32, robots: int = ROBOTS) -> wp.array:
    return wp.full(robots, value, dtype=dtype, device="cpu")


class Bench:
    """Two joints (one delayed by 2), three robots, and the arrays they are bound to."""

    def __init__(self, robots: int = ROBOTS) -> None:
        hip = ControllerPD(full(10, robots=robots), full(1, robots=robots))
        knee = ControllerPD(full(20, robots=robots), full(2, robots=robots))
        limit, delay = ClampingMaxEffort(full(50, robots=robots)), Delay(full(2, wp.int32, robots), 2)
        self.actuators = [
            ActuatorEntry("/A/hip", ("hip",), hip, [limit], None),
            ActuatorEntry("/A/knee", ("knee",), knee, [], delay),
        ]
        self.engine = Assembly(self.actuators, robots, "cpu")
        self.inputs = [np.zeros((robots, 2), np.float32) for _ in range(5)]
        self.efforts = np.zeros((robots, 2), np.float32)
        self.engine.bind([0, 1], self.inputs, self.efforts)

    def step(self, rng: np.random.Generator) -> np.ndarray:
        for array in self.inputs:
            array[:] = rng.normal(size=array.shape)
        self.engine.step(0.01)
        return self.efforts.copy()


def test_strided_rows_are_read_and_written_in_place() -> None:
    bench = Bench()
    wide = [np.zeros((ROBOTS, 9), np.float32) for _ in range(6)]
    bench.engine.bind([0, 1], [array[:, 3:5] for array in wide[:5]], wide[5][:, 3:5])
    wide[2][:, 3] = 2.0
    bench.engine.step(0.01)
    expected = np.zeros((ROBOTS, 9))
    expected[:, 3] = 20.0
    np.testing.assert_array_equal(wide[5], expected)


def test_indices_of_actuators_follow_the_columns() -> None:
    engine = Bench().engine
    held = [actuator.indices for actuator in engine.actuators]
    wide = [np.zeros((ROBOTS, 5), np.float32) for _ in range(6)]
    engine.bind([3, 1], wide[:5], wide[5])
    assert [indices.numpy().tolist() for indices in held] == [[3, 8, 13], [1, 6, 11]] and engine.columns == [3, 1]


def test_many_robots_equal_single_runs() -> None:
    together = Bench()
    results = [together.step(np.random.default_rng(step)) for step in range(6)]
    for robot in range(ROBOTS):
        alone = Bench(robots=1)
        for step, expected in enumerate(results):
            draws = np.random.default_rng(step)
            for array in alone.inputs:
                array[:] = draws.normal(size=(ROBOTS, 2))[robot]
            alone.engine.step(0.01)
            np.testing.assert_array_equal(alone.efforts[0], expected[robot])


def test_efforts_are_observed_on_request() -> None:
    bench, silent = Bench(), Bench()
    bench.engine.observe(True)
    for one in (bench, silent):
        one.inputs[2][:] = [[1, 1], [9, 9], [-9, 1]]
        one.engine.step(0.01)
    np.testing.assert_array_equal(bench.efforts, silent.efforts)
    computed, limited_by = bench.engine.observed()
    assert computed.tolist() == [[10, 20], [90, 180], [-90, 20]]
    assert limited_by.tolist() == [["", ""], ["ClampingMaxEffort", ""], ["ClampingMaxEffort", ""]]
    bench.engine.observe(False)
    bench.engine.step(0.01)
    np.testing.assert_array_equal(bench.efforts, silent.efforts)


def test_limits_of_some_joints_are_told() -> None:
    pd = [ControllerPD(full(10), full(0)) for _ in range(3)]
    table = ClampingPositionBased(None, [-1.0, 1.0], [4.0, 4.0])
    limits: list[list] = [[table], [ClampingMaxEffort(full(5))], []]
    names = ["hip", "knee", "ankle"]
    entries = [ActuatorEntry(f"/A/{n}", (n,), pd[k], limits[k], None) for k, n in enumerate(names)]
    engine = Assembly(entries, ROBOTS, "cpu")
    inputs = [np.zeros((ROBOTS, 3), np.float32) for _ in range(5)]
    efforts = np.zeros((ROBOTS, 3), np.float32)
    engine.bind([0, 1, 2], inputs, efforts)
    engine.observe(True)
    # beyond all limits, and within them
    inputs[2][:] = [[1.0], [0.1], [-1.0]]
    engine.step(0.01)
    np.testing.assert_allclose(efforts, [[4, 5, 10], [1, 1, 1], [-4, -5, -10]], rtol=1e-6)
    _, told = engine.observed()
    limited = ["ClampingPositionBased", "ClampingMaxEffort", ""]
    assert told.tolist() == [limited, ["", "", ""], limited]


def test_delays_are_drawn_anew_at_each_reset() -> None:
    robots = 200
    bench, twin = Bench(robots), Bench(robots)
    for one in (bench, twin):
        one.engine.randomize({"delay_steps": Uniform(1, 2, per_robot=True)}, 7, True, 0, None)
    knee = bench.actuators[1].delay
    assert knee is not None
    first = knee.delay_steps.numpy().copy()
    assert set(first) == {1, 2}
    np.testing.assert_array_equal(first, twin.actuators[1].delay.delay_steps.numpy())
    bench.engine.reset(list(range(100)))
    second = knee.delay_steps.numpy()
    np.testing.assert_array_equal(first[100:], second[100:])
    assert (first[:100] != second[:100]).any()
    # what was drawn is what acts: the command of so many steps ago
    for step in range(6):
        bench.inputs[2][:] = step
        bench.engine.step(0.01)
    np.testing.assert_array_equal(bench.efforts[:, 1], 20.0 * (5 - second))
