"""The native core: what it refuses, and that nothing but the numbers given decides a single bit of what comes out."""

from __future__ import annotations

import itertools
import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

core = pytest.importorskip("isaacsim.core.experimental.actuators.native").core
if core is None:
    pytest.skip("the native core was not built", allow_module_level=True)

DT, ROBOTS = 0.005, 97
DC, TABLE, MAX = 0, 1, 2
CONTROL = 5
"""Rows before those of the stages."""


class Case:
    """Random parameters and inputs of some slots: PD and PID, delayed or not, with stages."""

    def __init__(self, seed: int, slots: int, stages: tuple[int, ...] = (DC, TABLE, MAX), mixed: bool = True) -> None:
        rng = np.random.default_rng(seed)
        self.stages, self.slots = stages, slots
        self.integral = rng.random(slots) < (0.5 if mixed else 0.0)
        self.delayed = rng.random(slots) < (0.5 if mixed else 0.0)
        self.lag = np.where(self.delayed, rng.integers(0, 5, slots), 0).astype(np.int32)
        rows = CONTROL + 3 * len(stages)
        self.rows = rng.uniform(0.5, 40.0, (rows, slots)).astype(np.float32)
        self.rows[3, ~self.integral] = 0.0
        self.table = [-1.0, -0.2, 0.3, 0.3, 1.5], [3.0, 8.0, 5.0, 9.0, 1.0]
        self.tabled = rng.random(slots) < 0.7
        self.inputs = rng.normal(size=(12, 5, ROBOTS, slots)).astype(np.float32)

    def run(
        self,
        picked: Any = None,
        *,
        robots: Any = None,
        pitch: int = 0,
        columns: Any = None,
        own: bool = False,
        halves: bool = False,
    ):
        """Efforts of some slots and robots over all steps, in a layout of one's choice."""
        slots = np.arange(self.slots) if picked is None else np.asarray(picked)
        rows = np.arange(ROBOTS) if robots is None else np.asarray(robots)
        columns = list(range(len(slots))) if columns is None else list(columns)
        width = pitch or max(columns) + 1
        tables = [
            (number, *self.table, self.tabled[slots].tolist())
            for number, kind in enumerate(self.stages)
            if kind == TABLE
        ]
        made = core.Core(
            len(rows),
            len(slots),
            self.integral[slots].tolist(),
            self.delayed[slots].tolist(),
            5,
            list(self.stages),
            tables,
        )
        for number, values in enumerate(self.rows):
            if own:
                made.own(number, np.tile(values[slots], (len(rows), 1)))
            else:
                made.share(number, np.ascontiguousarray(values[slots]))
        if own:
            made.own_lag(np.tile(self.lag[slots], (len(rows), 1)))
        else:
            made.share_lag(np.ascontiguousarray(self.lag[slots]))
        arrays = [np.full((len(rows), width), np.nan, np.float32) for _ in range(5)]
        efforts = np.full((len(rows), width), 7.5, np.float32)
        made.bind(arrays, efforts, columns)
        if halves:
            handed = [np.zeros((len(rows), len(slots)), np.float32) for _ in range(6)]
            made.hand_over(handed[:5], np.zeros((len(rows), len(slots)), np.int32), handed[5])
        found = []
        for now in self.inputs:
            for array, values in zip(arrays, now, strict=True):
                array[:, columns] = values[np.ix_(rows, slots)]
            if halves:
                made.command(DT)
                made.limit()
            else:
                made.step(DT)
            found.append(efforts[:, columns].copy())
        others = np.delete(efforts, columns, axis=1)
        assert (others == 7.5).all(), "a column that is not driven was written"
        self.layout = made.layout
        return np.array(found)


CASES = [
    pytest.param(Case(1, 12), id="mixed"),
    pytest.param(Case(2, 7, (MAX,), mixed=False), id="PD max"),
    pytest.param(Case(3, 29, (MAX, DC, MAX)), id="clamps in a user's order"),
    pytest.param(Case(4, 1, (TABLE,)), id="one joint"),
]


@pytest.mark.parametrize("case", CASES)
def test_layout_changes_no_bit(case: Case) -> None:
    """Whether columns are neighbours, have gaps, are in disorder, or each robot has parameters of its own."""
    rng, expected, slots = np.random.default_rng(0), case.run(), case.slots
    assert case.layout == "direct"
    spread = np.sort(rng.choice(slots + 4, slots, replace=False))
    layouts = set()
    for pitch, columns, own in (
        (slots, range(slots), True),
        (slots + 4, spread, False),
        (slots + 4, spread, True),
        (slots + 7, range(7, slots + 7), False),
        (9 * slots + 1, range(slots), False),
        (slots, rng.permutation(slots), False),
    ):
        np.testing.assert_array_equal(case.run(pitch=pitch, columns=columns, own=own), expected)
        layouts.add(case.layout)
    assert layouts >= ({"direct", "gaps", "gather"} if slots > 1 else {"direct", "gather"})


@pytest.mark.parametrize("case", CASES)
def test_a_step_in_two_halves_changes_no_bit(case: Case) -> None:
    """Whether in place, from columns in disorder, or with parameters per robot."""
    expected, order = case.run(), np.random.default_rng(5).permutation(case.slots)
    np.testing.assert_array_equal(case.run(halves=True), expected)
    np.testing.assert_array_equal(case.run(halves=True, pitch=case.slots + 4, own=True), expected)
    np.testing.assert_array_equal(case.run(halves=True, columns=order), expected)


@pytest.mark.parametrize("case", CASES)
def test_splitting_permuting_and_single_robots_change_no_bit(case: Case) -> None:
    """A joint's effort does not depend on which joints and robots it is computed with."""
    expected, rng = case.run(), np.random.default_rng(1)
    order = rng.permutation(case.slots)
    np.testing.assert_array_equal(case.run(order), expected[:, :, order])
    for part in np.array_split(order, min(3, case.slots)):
        np.testing.assert_array_equal(case.run(part), expected[:, :, part])
    for robot in (0, 31, 96):
        np.testing.assert_array_equal(case.run(robots=[robot]), expected[:, [robot]])


@pytest.mark.parametrize("case", CASES)
def test_instruction_sets_agree_in_every_bit(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """All that this processor has."""
    results = {}
    for name in core.variants():
        monkeypatch.setenv("ACTUATORS_ISA", name)
        results[name] = case.run().tobytes()
    assert "baseline" in results and len(set(results.values())) == 1


def test_instruction_set_is_chosen_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that does not exist is refused with those that do."""
    assert small().variant == core.variants()[0] or os.environ.get("ACTUATORS_ISA")
    monkeypatch.setenv("ACTUATORS_ISA", "baseline")
    assert small().variant == "baseline"
    monkeypatch.setenv("ACTUATORS_ISA", "mmx")
    with pytest.raises(ValueError, match=r"ACTUATORS_ISA = mmx: must be one of .*baseline"):
        small()


def test_a_helping_thread_changes_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Large problems may be shared with a second thread that has time; faults of both are found."""

    def run() -> tuple[np.ndarray, list]:
        robots, slots, rng = 16384, 12, np.random.default_rng(3)
        made = core.Core(robots, slots, [True] * slots, [True] * slots, 3, [MAX], [])
        for row in range(CONTROL + 1):
            made.share(row, rng.uniform(1, 9, slots).astype(np.float32))
        made.share_lag(np.full(slots, 2, np.int32))
        bound = [rng.normal(size=(robots, slots)).astype(np.float32) for _ in range(6)]
        bound[0][[5, 16000], 3] = np.nan
        made.bind(bound[:5], bound[5], list(range(slots)))
        for _ in range(30):
            made.step(DT)
        return bound[5], sorted(made.faults())

    alone = run()
    monkeypatch.setenv("ACTUATORS_HELPER", "1")
    helped = run()
    np.testing.assert_array_equal(helped[0], alone[0])
    assert helped[1] == alone[1] == [(5, 3, 1, 0), (16000, 3, 1, 0)]


def small(robots: int = 2, slots: int = 3) -> Any:
    return core.Core(robots, slots, [False] * slots, [False] * slots, 1, [MAX], [])


def arrays(shape: tuple[int, int] = (2, 3), dtype: Any = np.float32) -> list[np.ndarray]:
    return [np.zeros(shape, dtype) for _ in range(6)]


def bind(made: Any, columns: Any = (0, 1, 2), at: int = 0, bad: Any = None) -> None:
    given: list[Any] = arrays()
    if bad is not None:
        given[at] = bad
    made.bind(given[:5], given[5], list(columns))


def read_only() -> np.ndarray:
    array = np.zeros((2, 3), np.float32)
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: small(0), "at least 1 x 1"),
        (lambda: small(1, 0), "at least 1 x 1"),
        (lambda: small(2**50, 3), "fewer"),
        (lambda: core.Core(1, 2, [True], [False, False], 1, [], []), "one flag per slot"),
        (lambda: core.Core(1, 1, [True], [False], 0, [], []), "depth = 0: must be >= 1"),
        (lambda: core.Core(1, 1, [True], [False], 1, [3], []), "stage = 3"),
        (lambda: core.Core(1, 1, [True], [False], 1, [1], [(0, [], [], [])]), "at least one"),
        (lambda: core.Core(1, 1, [True], [False], 1, [2], [(0, [1.0], [1.0], [])]), "a table stage"),
        (lambda: core.Core(1, 1, [True], [False], 1, [1], [(0, [1.0], [1.0], [True, True])]), "one flag per slot"),
        (lambda: small().share(8, np.zeros(3, np.float32)), "row = 8: must be below 8"),
        (lambda: small().share(0, np.zeros(2, np.float32)), r"shape \(2,\): must be contiguous, of shape \(3,\)"),
        (lambda: small().share(0, np.zeros(3)), "dtype float64: must be float32"),
        (lambda: small().share(0, [1.0, 2.0, 3.0]), "a NumPy array"),
        (lambda: small().own(0, np.zeros((2, 6), np.float32)[:, ::2]), "contiguous"),
        (lambda: small().own_lag(np.zeros((2, 3), np.int64)), "dtype int64: must be int32"),
        (lambda: bind(small(), columns=(0, 1)), "one per slot"),
        (lambda: bind(small(), columns=(0, 1, 3)), "column = 3: must be one of the 3 columns"),
        (lambda: bind(small(), columns=(0, 1, -1)), "column = -1"),
        (lambda: bind(small(), columns=(0, 1, 1)), "all different"),
        (lambda: bind(small(), at=2, bad=np.zeros((2, 3))), "input 2 has dtype float64: must be float32"),
        (lambda: bind(small(), at=0, bad=np.zeros((3, 3), np.float32)), r"shape \(3, 3\)"),
        (lambda: bind(small(), at=0, bad=np.zeros(6, np.float32)), r"shape \(6,\)"),
        (lambda: bind(small(), at=1, bad=np.zeros((2, 6), np.float32)[:, ::2]), "contiguous within a row"),
        (lambda: bind(small(), at=5, bad=read_only()), "efforts: must be writeable"),
        (lambda: bind(small(), at=3, bad=[[0.0] * 3] * 2), "a NumPy array"),
        (lambda: small().reset([2]), "robot = 2: must be below 2"),
        (lambda: small().hand_over(arrays()[:4], np.zeros((2, 3), np.int32), arrays()[0]), "signals"),
        (lambda: small().hand_over(arrays((3, 2))[:5], np.zeros((2, 3), np.int32), arrays()[0]), "signal 0"),
        (lambda: small().hand_over(arrays()[:5], np.zeros((2, 3), np.int64), arrays()[0]), "bad has dtype int64"),
        (lambda: small().hand_over(arrays()[:5], np.zeros((2, 3), np.int32), np.zeros(6, np.float32)), "efforts"),
        (lambda: small().observe(np.zeros((2, 2), np.float32), np.zeros((2, 3), np.uint8)), "computed"),
    ],
)
def test_bad_arguments_are_refused_by_name(call: Any, words: str) -> None:
    """The binding checks type, shape, pitch and range: nothing reaches memory that it should not."""
    with pytest.raises(ValueError, match=words):
        call()


def test_half_a_step_with_nothing_between_is_refused() -> None:
    """The halves have to hand something over."""
    made = small()
    bind(made)
    for half in (lambda: made.command(DT), made.limit):
        with pytest.raises(RuntimeError, match=r"Call hand_over\(\) first"):
            half()
    with pytest.raises(RuntimeError, match=r"Call command\(\) first"):
        made.take_back()


def test_a_step_without_arrays_is_refused() -> None:
    """There is nothing to read yet."""
    with pytest.raises(RuntimeError, match="Call bind"):
        small().step(DT)


def test_what_was_bound_stays_alive() -> None:
    """The core keeps the arrays that it holds pointers to."""
    made = small()
    bind(made)
    garbage = [np.ones((2, 3), np.float32) for _ in range(50)]
    made.step(DT)
    assert made.faults() == [] and len(garbage) == 50


def test_computed_effort_and_what_limited_it_on_request() -> None:
    """The effort before the limits, and the last stage that changed it, counted from 1; 0 where none did."""
    made = core.Core(1, 3, [False] * 3, [False] * 3, 1, [DC, MAX], [])
    for row, values in enumerate([[1, 1, 1], [0] * 3, [0] * 3]):
        made.share(row, np.array(values, np.float32))
    for row, values in zip((5, 6, 7, 8), ([10] * 3, [100] * 3, [6, 6, 100], [5, 9, 9]), strict=True):
        made.share(row, np.array(values, np.float32))
    signals = arrays((1, 3))
    signals[2][:] = [[20, 7, 2]]
    made.bind(signals[:5], signals[5], [0, 1, 2])
    computed, limited_by = np.zeros((1, 3), np.float32), np.zeros((1, 3), np.uint8)
    made.observe(computed, limited_by)
    made.step(DT)
    assert (computed.tolist(), limited_by.tolist()) == ([[20, 7, 2]], [[2, 1, 0]])
    watched = signals[5].copy()
    made.observe(None, None)
    made.step(DT)
    np.testing.assert_array_equal(signals[5], watched)
    assert watched.tolist() == [[5, 6, 2]]


def test_memory_beyond_the_arrays_is_small() -> None:
    """Parameters that robots share are held once: with feedforward less than 1 MB for 16384 robots of 12 joints."""
    robots, slots = 16384, 12
    made = small(robots, slots)
    for row in range(8):
        made.share(row, np.ones(slots, np.float32))
    bound = arrays((robots, slots))
    made.bind(bound[:5], bound[5], list(range(slots)))
    made.step(DT)
    assert made.memory + bound[4].nbytes < 1_000_000


@pytest.mark.parametrize("slots", [1, 12])
def test_state_is_saved_and_restored_bit_for_bit(slots: int) -> None:
    """In the middle of delays, with a fault and with a robot that has not started."""
    rng = np.random.default_rng(5)

    def make() -> tuple[Any, list[np.ndarray]]:
        made = core.Core(3, slots, [True] * slots, [True] * slots, 4, [MAX], [])
        for row, value in enumerate([20.0, 2.0, 0.5, 5.0, 1.0, 30.0]):
            made.share(row, np.full(slots, value, np.float32))
        made.share_lag(np.full(slots, 3, np.int32))
        bound = arrays((3, slots))
        made.bind(bound[:5], bound[5], list(range(slots)))
        return made, bound

    first, bound = make()
    for step, array in itertools.product(range(6), range(5)):
        bound[array][:] = rng.normal(size=(3, slots))
        if step == 2 and array == 3:
            bound[array][1, 0] = np.nan
        if array == 4:
            first.step(DT)
    first.reset([2])
    second, other = make()
    second.restore(first.save())
    assert second.faults() == first.faults() != []
    for _ in range(6):
        for array, twin in zip(bound[:5], other[:5], strict=True):
            twin[:] = array[:] = rng.normal(size=array.shape)
        first.step(DT)
        second.step(DT)
        np.testing.assert_array_equal(bound[5], other[5])


def test_transfer_copies_columns_between_float_and_double() -> None:
    """What hosts keep their mirrors in step with; what float32 cannot hold becomes infinite."""
    source, target = np.array([[1.5, 1e300, 3.0]]), np.zeros((1, 4), np.float32)
    core.Transfer([(source, [2, 1], target, [0, 3])]).run()
    assert target.tolist() == [[3.0, 0.0, 0.0, np.inf]]
    back = np.zeros((1, 3))
    core.Transfer([(target, [0], back, [1])]).run()
    assert back.tolist() == [[0.0, 3.0, 0.0]]


@pytest.mark.parametrize(
    ("item", "words"),
    [
        ((np.zeros((1, 2)), [0], np.zeros((1, 2)), [0, 1]), "as many of the source"),
        ((np.zeros((1, 2)), [0], np.zeros((2, 2)), [0]), "as many rows"),
        ((np.zeros((1, 2)), [2], np.zeros((1, 2)), [0]), "column = 2"),
        ((np.zeros((1, 2)), [0], np.zeros((1, 2)), [-1]), "column = -1"),
        ((np.zeros((1, 2), int), [0], np.zeros((1, 2)), [0]), "float32 or float64"),
        ((np.zeros(2), [0], np.zeros((1, 2)), [0]), "two-dimensional"),
        ((np.zeros((2, 3), np.float32), [0], read_only(), [0]), "writeable"),
    ],
)
def test_transfer_refuses_what_does_not_fit(item: tuple, words: str) -> None:
    """Before anything is copied."""
    with pytest.raises(ValueError, match=words):
        core.Transfer([item])


@pytest.mark.parametrize("lag", [1, 2, 4])
def test_delay_forms_agree_in_every_bit(lag: int) -> None:
    """All joints with the longest lag use a shorter ring; a lag per robot, given in the middle, changes nothing."""
    rng, slots = np.random.default_rng(8), 3

    def make(depth: int) -> tuple[Any, list[np.ndarray]]:
        made = core.Core(2, slots, [False] * slots, [True] * slots, depth, [], [])
        made.share(0, np.full(slots, 3.0, np.float32))
        made.share_lag(np.full(slots, lag, np.int32))
        bound = arrays((2, slots))
        made.bind(bound[:5], bound[5], list(range(slots)))
        return made, bound

    forms = [make(lag + 1), make(lag + 1), make(lag + 1), make(7)]
    lags = np.full((2, slots), lag, np.int32)
    for step in range(14):
        inputs = rng.normal(size=(5, 2, slots)).astype(np.float32)
        if step in (3, 9):
            inputs[2, 1, 2] = np.nan
        if step == 6:
            forms[1][0].own_lag(lags)
        if step == 8:
            # what one form saved the other takes over
            forms[2][0].restore(forms[1][0].save())
        if step == 11:
            [made.reset([0]) for made, _ in forms]
        for made, bound in forms:
            for array, values in zip(bound[:5], inputs, strict=True):
                array[:] = values
            made.step(DT)
        for made, bound in forms[1:]:
            np.testing.assert_array_equal(bound[5], forms[0][1][5])
            assert [fault[:2] for fault in made.faults()] == [fault[:2] for fault in forms[0][0].faults()]


def test_steps_and_setters_may_come_from_different_threads() -> None:
    """One thread steps a large problem, others give parameters, reset, save and read faults meanwhile."""
    robots, slots = 4096, 12
    made = core.Core(robots, slots, [True] * slots, [True] * slots, 3, [MAX], [])
    made.share(5, np.full(slots, 9.0, np.float32))
    bound = arrays((robots, slots))
    bound[2][:] = 1.0
    bound[0][7, 3] = np.nan
    made.bind(bound[:5], bound[5], list(range(slots)))
    rounds = range(60)

    def give() -> None:
        for value in rounds:
            made.own(0, np.full((robots, slots), 1.0 + value % 2, np.float32))
            made.own_lag(np.full((robots, slots), value % 3, np.int32))

    def look() -> None:
        for _ in rounds:
            made.reset([5, 7])
            made.restore(made.save())
            assert {fault[:2] for fault in made.faults()} <= {(7, 3)}

    def bind() -> None:
        for _ in rounds:
            made.bind(bound[:5], bound[5], list(range(slots)))

    with ThreadPoolExecutor() as pool:
        others = [pool.submit(job) for job in (give, look, bind)]
        while not all(other.done() for other in others):
            made.step(DT)
        for other in others:
            other.result()
    made.step(DT)
    efforts = np.delete(bound[5].ravel(), 7 * slots + 3)
    assert set(np.unique(efforts)) <= {1.0, 2.0} and bound[5][7, 3] == 0.0
