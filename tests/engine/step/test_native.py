"""The native step: errors of the core, and results that depend only on the inputs, to the bit."""

from __future__ import annotations

import copy
import gc
import itertools
import os
import pickle
import subprocess
import sys
import textwrap
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from isaacsim.core.experimental.actuators.base.native import core
from isaacsim.core.experimental.actuators.laws.contract.curve import prepare_curve
from places import TESTS
from processes import ran
from refusals import cases, refused

if core is None:
    pytest.skip("the native core was not built", allow_module_level=True)
DT, ROBOTS = 0.005, 97
DC, TABLE, MAX = "ClampingDCMotor", "ClampingPositionBased", "ClampingMaxEffort"
PD, PID = ("ControllerPD", [0, 1, 2]), ("ControllerPID", [0, 3, 1, 4, 2])
CONTROL = 5
"""Rows before those of the limits."""
ROWS = {DC: 3, TABLE: 0, MAX: 1}


def floats(shape, value: float = 0) -> np.ndarray:
    return np.full(shape, value, np.float32)


def state(robots: int, delayed: int, depth: int, laws=(), *, pitch: int = 0) -> tuple:
    """A fresh state and its arrays: three buffers, number of commands, newest row, states of laws."""
    count = robots * delayed
    buffers = [floats((depth, pitch or count))[:, :count] for _ in range(3)] if pitch else core.ring(depth, count)
    arrays = [*buffers, np.zeros(count, np.int32), np.full(1, depth - 1, np.int32), *(floats(size) for size in laws)]
    return core.State(arrays[:3], *arrays[3:5], arrays[5:]), arrays


class Made:
    """A plan of the core with states and arrays; `rows` are parameters, 1 by default, infinite for limits."""

    def __init__(
        self,
        robots: int = 2,
        slots: int = 3,
        limits=(MAX,),
        *,
        integral=(),
        delayed=(),
        depth: int = 1,
        tabled=None,
        rows=None,
        lag=None,
    ) -> None:
        self.robots, self.slots, every = robots, slots, list(range(slots))
        integral, delayed = [int(slot) for slot in integral], [int(slot) for slot in delayed]
        others = [slot for slot in every if slot not in integral]
        controllers = [(*law, used) for law, used in ((PD, others), (PID, integral)) if used]
        members, neutral, at = [], [0.0] * CONTROL, CONTROL
        for name in limits:
            members.append((name, list(range(at, at + ROWS[name])), every))
            neutral += [np.inf] * ROWS[name]
            at += ROWS[name]
        self.core = core.Plan("leg", robots, slots, neutral, controllers, members, delayed, depth)
        tabled = every if tabled is None else [int(slot) for slot in tabled]
        for number, name in enumerate(limits):
            if name == TABLE and tabled:
                curve = prepare_curve([-1.0, -0.2, 0.3, 0.3, 1.5], [3.0, 8.0, 5.0, 9.0, 1.0])
                self.core.add_curve(len(controllers) + number, 0, curve, tabled)
        if rows is None:
            rows = [floats(slots, 1.0 if number < CONTROL else np.inf) for number in range(at)]
        for number, values in enumerate(rows):
            self.core.share(number, np.ascontiguousarray(values))
        lag = np.zeros(slots, np.int32) if lag is None else lag
        self.core.share_lag(np.ascontiguousarray(lag, np.int32))
        self.laws = [robots * len(integral)] if integral else []
        self.state, self.memory = state(robots, len(delayed), depth, self.laws)
        self.core.use(self.state, self.state)

    def bind(self, width: int = 0, columns=None, fill: float = 0.0) -> Made:
        self.columns = list(range(self.slots)) if columns is None else [int(column) for column in columns]
        self.width = width or max(self.columns) + 1
        self.inputs = [floats((self.robots, self.width), fill) for _ in range(5)]
        self.efforts = floats((self.robots, self.width), 7.5)
        self.core.bind_columns(self.inputs, self.efforts, self.columns)
        return self

    def feed(self, values: np.ndarray) -> None:
        """Lay inputs `(5, robots, slots)` down."""
        for array, given in zip(self.inputs, values, strict=True):
            array[:, self.columns] = given

    def step(self, values: np.ndarray | None = None) -> np.ndarray:
        if values is not None:
            self.feed(values)
        self.core.step(DT)
        return self.efforts[:, self.columns].copy()

    def hand_over(self) -> list[np.ndarray]:
        """Step in two halves from now on; five signals, efforts and those before the limits."""
        shape = (self.robots, self.slots)
        handed = [floats(shape) for _ in range(7)]
        self.core.hand_over(handed[:5], np.zeros(shape, np.int32), handed[5], handed[6])
        return handed


class Case:
    """Random parameters and inputs of some slots: PD and PID, delayed or not, with limits."""

    def __init__(self, seed: int, slots: int, limits: tuple[str, ...] = (DC, TABLE, MAX), mixed: bool = True) -> None:
        rng = np.random.default_rng(seed)
        self.limits, self.slots = limits, slots
        self.integral = rng.random(slots) < (0.5 if mixed else 0.0)
        self.delayed = rng.random(slots) < (0.5 if mixed else 0.0)
        self.lag = np.where(self.delayed, rng.integers(0, 5, slots), 0).astype(np.int32)
        count = CONTROL + sum(ROWS[name] for name in limits)
        self.rows = rng.uniform(0.5, 40.0, (count, slots)).astype(np.float32)
        self.tabled = rng.random(slots) < 0.7
        self.inputs = rng.normal(size=(12, 5, ROBOTS, slots)).astype(np.float32)
        self.inputs[rng.random(self.inputs.shape) < 0.0005] = np.nan

    def made(self, robots: int, slots: np.ndarray) -> Made:
        return Made(
            robots,
            len(slots),
            self.limits,
            integral=np.flatnonzero(self.integral[slots]),
            delayed=np.flatnonzero(self.delayed[slots]),
            depth=5,
            tabled=np.flatnonzero(self.tabled[slots]),
            rows=self.rows[:, slots],
            lag=self.lag[slots],
        )

    def run(
        self,
        picked=None,
        *,
        robots=None,
        pitch: int = 0,
        columns=None,
        own: bool = False,
        halves: bool = False,
        apart: bool = False,
    ) -> np.ndarray:
        """Efforts of some slots and robots over all steps, in a layout of one's choice."""
        slots = np.arange(self.slots) if picked is None else np.asarray(picked)
        rows = np.arange(ROBOTS) if robots is None else np.asarray(robots)
        made = self.made(len(rows), slots)
        if own:
            for number, values in enumerate(self.rows):
                made.core.own(number, np.tile(values[slots], (len(rows), 1)))
            made.core.own_lag(np.tile(self.lag[slots], (len(rows), 1)))
        made.bind(pitch, columns, np.nan)
        if halves:
            made.hand_over()
        delayed = int(self.delayed[slots].sum())
        states = [state(len(rows), delayed, 5, made.laws, pitch=len(rows) * delayed + 3)[0] for _ in range(2)]
        found = []
        for number, now in enumerate(self.inputs):
            made.feed(now[:, rows][:, :, slots])
            if apart:
                made.core.use(states[number % 2], states[1 - number % 2])
            if halves:
                made.core.command(DT)
                made.core.limit()
            else:
                made.core.step(DT)
            found.append(made.efforts[:, made.columns].copy())
        others = np.delete(made.efforts, made.columns, axis=1)
        assert (others == 7.5).all(), "a column that is not driven was written"
        self.layout, self.faults = made.core.layout, made.core.faults()
        return np.array(found)


@cases(
    "columns, layout",
    ([0, 2, 3, 7], "gaps"),
    # within eight neighbours, twice eight, and more
    ([3, 0, 1, 2], "eights"),
    ([7, 0, 1, 2], "eights"),
    ([8, 0, 1, 2], "eights"),
    ([9, 0, 13, 2], "eights"),
    ([9, 0, 16, 7], "eights"),
    ([9, 0, 17, 7], "gather"),
    ([19, 0, 12, 4], "eights"),
    ([20, 0, 12, 4], "gather"),
    ([30, 0, 10, 20], "gather"),
)
def test_layout_follows_the_arrays_bound_last(columns, layout) -> None:
    made = Made(robots=3, slots=4)
    found = []
    for chosen in (None, columns, None):
        made.bind(columns=chosen)
        made.step()
        found.append(made.core.layout)
    assert found == ["direct", layout, "direct"]


CASES = [
    pytest.param(Case(1, 12), id="mixed"),
    pytest.param(Case(2, 7, (MAX,), mixed=False), id="PD max"),
    pytest.param(Case(3, 29, (MAX, DC, MAX)), id="clamps in a user's order"),
    pytest.param(Case(4, 1, (TABLE,)), id="one joint"),
    pytest.param(Case(6, 5, ()), id="no limit"),
    pytest.param(Case(7, 9, (TABLE, MAX), mixed=False), id="table max"),
]


@pytest.mark.parametrize("case", CASES)
def test_layout_changes_no_bit(case) -> None:
    rng, expected, slots = np.random.default_rng(0), case.run(), case.slots
    assert case.layout == "direct"
    spread = np.sort(rng.choice(slots + 4, slots, replace=False))
    layouts, faults = set(), sorted(case.faults)
    for pitch, columns, own in (
        (slots, range(slots), True),
        (slots + 4, spread, False),
        (slots + 4, spread, True),
        (slots + 7, range(7, slots + 7), False),
        (9 * slots + 1, range(slots), False),
        (slots, rng.permutation(slots), False),
    ):
        np.testing.assert_array_equal(case.run(pitch=pitch, columns=columns, own=own), expected)
        assert sorted(case.faults) == faults
        layouts.add(case.layout)
    assert layouts >= ({"direct", "gaps"} if slots > 1 else {"direct"}) and layouts & {"gather", "eights"}


@pytest.mark.parametrize("case", CASES)
def test_a_step_in_two_halves_changes_no_bit(case) -> None:
    expected, order = case.run(), np.random.default_rng(5).permutation(case.slots)
    np.testing.assert_array_equal(case.run(halves=True), expected)
    np.testing.assert_array_equal(case.run(halves=True, pitch=case.slots + 4, own=True), expected)
    np.testing.assert_array_equal(case.run(halves=True, columns=order), expected)


@pytest.mark.parametrize("case", CASES)
def test_from_one_state_into_another_changes_no_bit(case) -> None:
    expected = case.run()
    np.testing.assert_array_equal(case.run(apart=True), expected)
    np.testing.assert_array_equal(case.run(apart=True, halves=True), expected)
    np.testing.assert_array_equal(case.run(apart=True, pitch=case.slots + 4), expected)


@pytest.mark.parametrize("case", CASES)
def test_splitting_permuting_and_single_robots_change_no_bit(case) -> None:
    expected, rng = case.run(), np.random.default_rng(1)
    order = rng.permutation(case.slots)
    np.testing.assert_array_equal(case.run(order), expected[:, :, order])
    for part in np.array_split(order, min(3, case.slots)):
        np.testing.assert_array_equal(case.run(part), expected[:, :, part])
    for robot in (0, 31, 96):
        np.testing.assert_array_equal(case.run(robots=[robot]), expected[:, [robot]])


@pytest.mark.skipif(core is not None and len(core.variants()) < 2, reason="the core has one instruction set")
@pytest.mark.parametrize("case", CASES)
def test_instruction_sets_agree_in_every_bit(case, monkeypatch) -> None:
    results, order = {}, np.random.default_rng(5).permutation(case.slots)
    for name in core.variants():
        monkeypatch.setenv("ACTUATORS_ISA", name)
        results[name] = case.run().tobytes() + case.run(columns=order, own=True).tobytes()
    assert len(set(results.values())) == 1


def at_indices(count: int, kind: str, own: np.ndarray) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Seven arrays and their index arrays, which lead to `own` in the first five and to 0 in the last two."""
    rng = np.random.default_rng(11)
    arrays, indices = [], []
    for k in range(7):
        at = np.arange(3, 3 + count)
        if kind == "permuted":
            at = rng.permutation(count + 5)[:count]
        step = 2 if kind == "strided" else 1
        array = floats(step * (count + 9), 0)[::step]
        if k < 5:
            array[at] = own[k]
        arrays.append(array)
        spread = np.zeros(step * count, np.uint32)[::step]
        spread[:] = at
        indices.append(spread)
    return arrays, indices


KINDS = ("consecutive", "permuted", "strided")
ENDS = ["q", "qd", "target_q", "target_qd", "act", "f", "computed"]


def run_by_indices(kind: str, robots: int = ROBOTS) -> np.ndarray:
    case = Case(12, 1)
    case.integral[:] = case.delayed[:] = case.tabled[:] = True
    case.lag[:] = 3
    made = case.made(robots, np.arange(1))
    own = np.random.default_rng(2).uniform(1, 9, (robots, 1)).astype(np.float32)
    made.core.own(0, own)
    computed = floats((robots, 1))
    made.core.observe(computed, None)
    found = []
    for now in case.inputs:
        arrays, indices = at_indices(robots, kind, now[:, :robots, 0])
        made.core.bind_indices(ENDS, arrays, indices)
        made.core.step(DT)
        found.append([arrays[5][indices[5]], arrays[6][indices[6]]])
        np.testing.assert_array_equal(found[-1][1], computed[:, 0])
    assert made.core.layout == "indexed" and np.any(found) and made.core.faults()
    return np.array(found)


def test_indices_change_no_bit(monkeypatch) -> None:
    results = set()
    for name in core.variants():
        monkeypatch.setenv("ACTUATORS_ISA", name)
        results |= {run_by_indices(kind).tobytes() for kind in KINDS}
    assert len(results) == 1


def test_instruction_set_is_chosen_by_the_environment(monkeypatch) -> None:
    assert Made().core.variant == core.variants()[0] or os.environ.get("ACTUATORS_ISA")
    last = core.variants()[-1]
    monkeypatch.setenv("ACTUATORS_ISA", last)
    assert Made().core.variant == last
    monkeypatch.setenv("ACTUATORS_ISA", "mmx")
    refused(ValueError, Made, rf"ACTUATORS_ISA = mmx: must be one of .*{last}")


def test_a_helping_thread_changes_no_bit(monkeypatch) -> None:
    def run() -> tuple[np.ndarray, list]:
        robots, slots, rng = 16384, 12, np.random.default_rng(3)
        every, rows = range(slots), rng.uniform(1, 9, (CONTROL + 1, slots)).astype(np.float32)
        made = Made(robots, slots, integral=every, delayed=every, depth=3, rows=rows, lag=[2] * slots).bind()
        made.feed(rng.normal(size=(5, robots, slots)))
        made.inputs[0][[5, 16000], 3] = np.nan
        for _ in range(30):
            made.core.step(DT)
        return made.efforts, sorted(made.core.faults())

    alone = run()
    monkeypatch.setenv("ACTUATORS_HELPER", "1")
    helped = run()
    np.testing.assert_array_equal(helped[0], alone[0])
    assert helped[1] == alone[1] == [(5, 3, 1, 0), (16000, 3, 1, 0)]


def plan(**changed):
    arguments = {
        "label": "leg",
        "robots": 2,
        "slots": 3,
        "neutral": [0.0] * 5 + [np.inf] * 4,
        "controllers": [(*PD, [0, 1]), (*PID, [2])],
        "limits": [(MAX, [5], [0, 1, 2]), (TABLE, [], [1])],
        "delayed": [0, 2],
        "depth": 3,
    }
    return core.Plan(**arguments | changed)


def read_only(shape=(2, 3), dtype=np.float32) -> np.ndarray:
    array = np.zeros(shape, dtype)
    array.flags.writeable = False
    return array


def crooked(shape=(2, 3), dtype=np.float32) -> np.ndarray:
    size = np.dtype(dtype).itemsize
    memory = np.zeros(int(np.prod(shape)) * size + 1, np.uint8)
    return np.frombuffer(memory.data, np.uint8)[1:].view(dtype).reshape(shape)


def swapped(shape=(2, 3), dtype: str = ">f4") -> np.ndarray:
    return np.zeros(shape, dtype)


def overlapping(shape=(2, 3), rows: int = 4) -> np.ndarray:
    return np.lib.stride_tricks.as_strided(floats(32), shape, (rows, 4))


SLOT_ERRORS = [([3], "one of the slots"), ([-1], "one of the slots"), ([1, 1], "ascending"), ([2, 1], "ascending")]


@cases(
    "changed, words",
    ({"robots": 0}, "robots x slots = 0 x 3: must be at least 1 x 1"),
    ({"robots": -1}, "at least 1 x 1"),
    ({"slots": 0}, "at least 1 x 1"),
    ({"robots": 2**50}, r"robots x slots: must be at most 2\^31"),
    ({"robots": 2**62, "slots": 4}, r"at most 2\^31"),
    ({"depth": 0}, "depth = 0: must be >= 1"),
    ({"depth": 65537}, "depth = 65537: must be .*<= 65536"),
    ({"depth": 2**40}, "<= 65536"),
    ({"controllers": [("ControllerX", [], [])]}, "law = ControllerX: must be one of the core's controllers"),
    ({"controllers": [(MAX, [5], [0])]}, "one of the core's controllers"),
    ({"controllers": [("ControllerPD", [0, 1], [0])]}, "rows of ControllerPD: must be 3"),
    ({"controllers": [("ControllerPD", [0, 1, 9], [0])]}, "row = 9: must be below 9"),
    ({"controllers": [("ControllerPD", [0, 1, -1], [0])]}, "row = -1: must be below 9"),
    *(({"controllers": [(*PD, slots)]}, f"slots of ControllerPD.*{words}") for slots, words in SLOT_ERRORS),
    ({"limits": [("ControllerPD", [0, 1, 2], [0])]}, "law = ControllerPD: must be one of the core's stages"),
    ({"limits": [(MAX, [], [0])]}, "rows of ClampingMaxEffort: must be 1"),
    ({"limits": [(MAX, [99], [0])]}, "row = 99"),
    *(({"limits": [(MAX, [5], slots)]}, f"slots of {MAX}.*{words}") for slots, words in SLOT_ERRORS),
    *(({"delayed": slots}, f"delayed slots.*{words}") for slots, words in SLOT_ERRORS),
)
def test_a_plan_that_cannot_be_is_refused(changed, words) -> None:
    plan()
    refused(ValueError, lambda: plan(**changed), words)


@cases("argument", "label", "robots", "slots", "neutral", "controllers", "limits", "delayed", "depth")
def test_arguments_of_another_kind_are_refused(argument) -> None:
    refused(TypeError, lambda: plan(**{argument: object()}))


def gave(method: str, *arguments):
    return lambda: getattr(plan(), method)(*arguments)


def columns(at: int, given, columns=(0, 1, 2)):
    arrays = [floats((2, 3)) for _ in range(6)]
    arrays[at] = given
    return gave("bind_columns", arrays[:5], arrays[5], list(columns))


def one():
    return plan(slots=1, controllers=[(*PD, [0])], limits=[], delayed=[])


def by_index(at: int = 0, array="good", index="good", which=one):
    arrays = [floats(4) for _ in range(7)]
    indices = [np.array([0, 1], np.uint32) for _ in range(7)]
    arrays[at] = arrays[at] if isinstance(array, str) else array
    indices[at] = indices[at] if isinstance(index, str) else index
    return lambda: which().bind_indices(ENDS, arrays, indices)


def between(at: int, given):
    arrays = [*(floats((2, 3)) for _ in range(5)), np.zeros((2, 3), np.int32), floats((2, 3)), floats((2, 3))]
    arrays[at] = given
    return gave("hand_over", arrays[:5], *arrays[5:])


def of_state(at: int, given):
    _, arrays = state(2, 2, 3, [2])
    arrays = [np.array(array) for array in arrays]
    arrays[at] = given
    return lambda: core.State(arrays[:3], arrays[3], arrays[4], arrays[5:])


@cases(
    "call, words",
    (gave("share", 9, floats(3)), "row = 9: must be below 9"),
    (gave("share", 0, floats(2)), r"values of row 0 has shape \(2,\): must be contiguous, of shape \(3,\)"),
    (gave("share", 0, floats((1, 3))), r"values of row 0 has shape \(1, 3\)"),
    (gave("share", 0, np.zeros(3)), "values of row 0 has dtype float64: must be float32"),
    (gave("share", 0, swapped(3)), "values of row 0 has dtype >f4: must be float32"),
    (gave("share", 0, crooked((3,))), "values of row 0: must be aligned"),
    (gave("share", 0, floats(6)[::2]), "contiguous"),
    (gave("share", 0, [1.0, 2.0, 3.0]), "must be a NumPy array"),
    (gave("own", 9, floats((2, 3))), "row = 9"),
    (gave("own", 0, floats((2, 6))[:, ::2]), "values of row 0 has shape .*contiguous"),
    (gave("own", 0, floats((3, 2)).T), "contiguous"),
    (gave("own", 0, floats((3, 3))), r"\(3, 3\)"),
    (gave("own", 0, floats(3)), r"\(3,\)"),
    (gave("own", 0, np.zeros((2, 3), np.int32)), "dtype int32: must be float32"),
    (gave("own", 0, crooked()), "aligned"),
    (gave("own", 0, None), "values of row 0 = None: must be a NumPy array"),
    (gave("share_lag", np.zeros(3, np.int64)), "lag has dtype int64: must be int32"),
    (gave("share_lag", np.zeros(2, np.int32)), r"lag has shape \(2,\)"),
    (gave("share_lag", np.zeros(3, ">i4")), "lag has dtype >i4"),
    (gave("own_lag", np.zeros((2, 3), np.int64)), "lag has dtype int64: must be int32"),
    (gave("own_lag", np.zeros((3, 3), np.int32)), r"lag has shape \(3, 3\)"),
    (gave("own_lag", crooked((2, 3), np.int32)), "lag: must be aligned"),
    (gave("add_curve", 0, 0, floats((2, 3)), [1]), "law of a curve: must be one that has this curve"),
    (gave("add_curve", 2, 0, floats((2, 3)), [1]), "law of a curve"),
    (gave("add_curve", 4, 0, floats((2, 3)), [1]), "law of a curve"),
    (gave("add_curve", 3, 1, floats((2, 3)), [1]), "law of a curve"),
    (gave("add_curve", 3, -1, floats((2, 3)), [1]), "law of a curve"),
    (gave("add_curve", 3, 0, floats((0, 3)), [1]), "curve: must be of at least one row"),
    (gave("add_curve", 3, 0, floats((2, 2)), [1]), r"curve has shape \(2, 2\): must be contiguous, of shape \(2, 3\)"),
    (gave("add_curve", 3, 0, floats(3), [1]), "curve: must be of rows of point, value and slope"),
    (gave("add_curve", 3, 0, np.zeros((2, 3)), [1]), "curve has dtype float64"),
    (gave("add_curve", 3, 0, crooked(), [1]), "curve: must be aligned"),
    (gave("add_curve", 3, 0, [[0, 0, 0]], [1]), "curve = .*must be a NumPy array"),
    (gave("add_curve", 3, 0, np.eye(3, dtype=np.float32), [1]), "curve: must be of points that do not decrease"),
    (gave("add_curve", 3, 0, floats((2, 3), np.nan), [1]), "curve: must be of points that do not decrease"),
    *((gave("add_curve", 3, 0, floats((2, 3)), slots), f"slots of a curve.*{words}") for slots, words in SLOT_ERRORS),
    (gave("bind_columns", [floats((2, 3))] * 4, floats((2, 3)), [0, 1, 2]), "inputs: must be positions, velocities"),
    (columns(0, floats((2, 3)), (0, 1)), "columns: must be one per slot"),
    (columns(0, floats((2, 3)), (0, 1, 3)), "column = 3: must be one of the 3 columns of input 0"),
    (columns(0, floats((2, 3)), (0, 1, -1)), "column = -1"),
    (columns(0, floats((2, 3)), (0, 1, 1)), "columns: must be all different"),
    (columns(2, np.zeros((2, 3))), "input 2 has dtype float64: must be float32"),
    (columns(2, swapped()), "input 2 has dtype >f4: must be float32"),
    (columns(4, crooked()), "input 4: must be aligned"),
    (columns(0, floats((3, 3))), r"input 0 has shape \(3, 3\)"),
    (columns(0, floats(6)), r"input 0 has shape \(6,\)"),
    (columns(1, floats((2, 6))[:, ::2]), "input 1: must be contiguous within a row"),
    (columns(1, floats((2, 3))[:, ::-1]), "input 1: must be contiguous within a row"),
    (columns(1, floats((2, 3))[::-1]), "input 1: must be made of rows in ascending order"),
    (columns(3, overlapping(rows=6)), "input 3: must be aligned, its numbers a multiple of 4 bytes apart"),
    (columns(3, [[0.0] * 3] * 2), "must be a NumPy array"),
    (columns(5, read_only()), "efforts: must be writeable"),
    (columns(5, overlapping()), "efforts: must be made of rows that do not overlap"),
    (columns(5, overlapping(rows=0)), "efforts: must be made of rows that do not overlap"),
    (columns(5, floats((2, 2))), "column = 2: must be one of the 2 columns of efforts"),
    (columns(5, np.zeros((2, 3))), "efforts has dtype float64"),
    (lambda: one().bind_indices(ENDS[:6], [floats(4)] * 7, [None] * 7), "arrays: must be five signals and two outputs"),
    (lambda: one().bind_indices(ENDS, [floats(4)] * 6, [None] * 7), "five signals and two outputs"),
    (lambda: one().bind_indices(ENDS, [floats(4)] * 7, [None] * 6), "five signals and two outputs"),
    (by_index(which=plan), "slots: must be 1 where robots are found by index"),
    (by_index(0, np.zeros(4)), "q has dtype float64: must be float32"),
    (by_index(1, swapped(4)), "qd has dtype >f4"),
    (by_index(2, floats((4, 1))), r"target_q has shape \(4, 1\): must be one-dimensional"),
    (by_index(3, crooked((4,))), "target_qd: must be aligned"),
    (by_index(4, [0.0] * 4), "act = .*must be a NumPy array"),
    (by_index(5, read_only(4)), "f: must be writeable"),
    (by_index(6, read_only(4)), "computed: must be writeable"),
    (by_index(0, index=None), "leg: indices of q = None: must be a NumPy array"),
    (by_index(5, index=np.zeros(2, np.int32)), "leg: indices of f has dtype int32: must be uint32"),
    (by_index(5, index=np.zeros((2, 1), np.uint32)), "leg: indices of f has shape"),
    (by_index(5, index=np.zeros(3, np.uint32)), "leg: indices of f has 3 elements: must be 2, one per joint"),
    (by_index(5, index=crooked((2,), np.uint32)), "leg: indices of f: must be aligned"),
    # what stands between the halves
    (gave("hand_over", [floats((2, 3))] * 4, np.zeros((2, 3), np.int32), *[floats((2, 3))] * 2), "signals: must be"),
    (between(0, floats((3, 2))), r"signal 0 has shape \(3, 2\)"),
    (between(4, read_only()), "signal 4: must be writeable"),
    (between(2, np.zeros((2, 3))), "signal 2 has dtype float64"),
    (between(5, np.zeros((2, 3), np.int64)), "bad has dtype int64: must be int32"),
    (between(5, read_only(dtype=np.int32)), "bad: must be writeable"),
    (between(6, floats(6)), "efforts has shape"),
    (between(6, crooked()), "efforts: must be aligned"),
    (between(7, floats((2, 6))[:, ::2]), "computed has shape"),
    (gave("observe", floats((2, 2)), None), "computed has shape"),
    (gave("observe", read_only(), None), "computed: must be writeable"),
    (gave("observe", None, np.zeros((2, 3), np.int8)), "limited_by has dtype int8: must be uint8"),
    (gave("observe", None, np.zeros(6, np.uint8)), "limited_by has shape"),
    (
        lambda: core.State([floats((3, 4))] * 2, np.zeros(4, np.int32), np.zeros(1, np.int32), []),
        "buffers: must be three",
    ),
    (of_state(0, np.zeros((3, 4))), "buffer_pos has dtype float64"),
    (of_state(0, floats(4)), r"buffer_pos has shape \(4,\): must be \(depth, N\)"),
    (of_state(0, floats((0, 4))), "depth >= 1"),
    (of_state(0, read_only((3, 4))), "buffer_pos: must be writeable"),
    (of_state(0, overlapping((3, 4))), "buffer_pos: must be contiguous within a row, its rows one after the other"),
    (of_state(0, floats((3, 8))[:, ::2]), "buffer_pos: must be contiguous within a row"),
    (of_state(1, floats((3, 8))[:, :4]), "buffer_vel: must be shaped and laid out like buffer_pos"),
    (of_state(1, floats((2, 4))), "buffer_vel: must be shaped and laid out like buffer_pos"),
    (of_state(2, swapped((3, 4))), "buffer_act has dtype >f4"),
    (of_state(2, crooked((3, 4))), "buffer_act: must be aligned"),
    (of_state(3, np.zeros(3, np.int32)), "num_pushes has shape"),
    (of_state(3, np.zeros(4, np.int64)), "num_pushes has dtype int64"),
    (of_state(3, read_only(4, np.int32)), "num_pushes: must be writeable"),
    (of_state(4, np.zeros(2, np.int32)), "write_idx has shape"),
    (of_state(4, None), "write_idx = None: must be a NumPy array"),
    (of_state(5, np.zeros(2)), "number 0 that is remembered has dtype float64"),
    (of_state(5, floats((2, 2))[:, 0]), "number 0 that is remembered has shape"),
    (of_state(5, read_only(2)), "number 0 that is remembered: must be writeable"),
    (
        lambda: plan().use(*[state(2, 2, 2, [2])[0]] * 2),
        "leg: delay_state of depth 2 for 4: must be one of this actuator, of",
    ),
    (lambda: plan().use(*[state(2, 1, 3, [2])[0]] * 2), "leg: delay_state of depth 3 for 2"),
    (lambda: plan().use(*[core.State([], None, None, [floats(2)])] * 2), "leg: delay_state"),
    (lambda: plan().use(*[state(2, 2, 3)[0]] * 2), "leg: state of its laws"),
    (lambda: plan().use(state(2, 2, 3, [2])[0], state(2, 2, 3, [3])[0]), "leg: state of its laws"),
    (gave("reset", [2]), "robot = 2: must be below 2"),
    (gave("reset", [0, -1]), "robot = -1"),
    (gave("set_faults", [(2, 0, 1, 0)], 0), "faults: must be of these robots"),
    (gave("set_faults", [(0, 3, 1, 0)], 0), "faults"),
    (gave("set_faults", [(0, -1, 1, 0)], 0), "faults"),
    (lambda: core.ring(0, 4), "ring of 0 x 4"),
    (lambda: core.ring(65537, 4), "ring of 65537"),
    (lambda: core.ring(65536, 2**40), "ring of"),
    (lambda: core.ring(2, -1), "ring of 2 x -1"),
    (lambda: core.time_stream(2, 9, 1), "1, 5 or 8 arrays"),
    (lambda: core.time_stream(5, 0, 1), "1, 5 or 8 arrays"),
    (lambda: core.time_stream(8, 9, 0), "1, 5 or 8 arrays"),
)
def test_bad_arguments_are_refused_by_name(call, words) -> None:
    """The binding checks type, shape, pitch and range: nothing reaches memory that it should not."""
    refused(ValueError, call, words)


@pytest.mark.parametrize("count", [1, 5, 8])
def test_streams_are_timed(count) -> None:
    assert core.time_stream(count, 1, 1) >= 0.0


@pytest.mark.parametrize("given", [None, 3, "state"])
def test_what_is_no_state_is_refused(given) -> None:
    made = Made()
    for pair in ((given, made.state), (made.state, given)):
        with pytest.raises((TypeError, RuntimeError)):
            made.core.use(*pair)


@pytest.mark.parametrize("of", [lambda array: pickle.loads(pickle.dumps(array)), copy.deepcopy])
def test_the_same_type_of_another_making_is_taken(of) -> None:
    inputs, efforts = [of(floats((2, 3), 2)) for _ in range(5)], of(floats((2, 3)))
    made = Made()
    made.core.bind_columns(inputs, efforts, [0, 1, 2])
    made.core.step(DT)
    assert (efforts == 3).all()


def test_half_a_step_with_nothing_between_is_refused() -> None:
    made = Made().bind()
    for half in (lambda: made.core.command(DT), made.core.limit):
        refused(RuntimeError, half, r"Call hand_over\(\) first")


def test_a_step_without_arrays_or_states_is_refused() -> None:
    refused(RuntimeError, lambda: Made().core.step(DT), r"Call bind\(\) first")
    made = plan()
    made.bind_columns([floats((2, 3)) for _ in range(5)], floats((2, 3)), [0, 1, 2])
    refused(RuntimeError, lambda: made.step(DT), r"Call use\(\) first")


@pytest.mark.parametrize("end", range(7))
def test_an_index_beyond_its_array_is_refused_before_anything_is_written(end) -> None:
    made = Made(2, 1, (), integral=[0], delayed=[0], depth=2)
    arrays, indices = [floats(4, 1) for _ in range(7)], [np.array([0, 1], np.uint32) for _ in range(7)]
    made.core.bind_indices(ENDS, arrays, indices)
    made.core.step(DT)
    before = [array.copy() for array in (*arrays, *made.memory)]
    for index in (4, 2**32 - 1):
        indices[end][1] = index
        with pytest.raises(ValueError, match=rf"leg: index {index} into {ENDS[end]}: must be below 4, its length"):
            made.core.step(DT)
        np.testing.assert_equal([*arrays, *made.memory], before)
    indices[end][1] = 3
    made.core.step(DT)
    assert made.core.steps == 2


def test_what_was_bound_stays_alive() -> None:
    made = Made(delayed=[0], depth=2, integral=[1]).bind()
    made.core.own(0, floats((2, 3)))
    made.core.own_lag(np.zeros((2, 3), np.int32))
    made.hand_over()
    made.core.observe(floats((2, 3)), np.zeros((2, 3), np.uint8))
    watched = [weakref.ref(array) for array in (*made.inputs, made.efforts, *made.memory)]
    made.inputs, made.efforts, made.memory, made.state = [], floats(0), [], None
    garbage = [floats((2, 3), np.nan) for _ in range(200)]
    gc.collect()
    assert all(array() is not None for array in watched)
    made.core.step(DT)
    assert made.core.faults() == [] and len(garbage) == 200
    again = Made(delayed=[0], depth=2, integral=[1])
    made.bind()
    made.core.use(again.state, again.state)
    assert [array() for array in watched] == [None] * len(watched)


def test_a_ring_lives_as_long_as_any_of_its_arrays() -> None:
    *_, last = core.ring(3, 500)
    gc.collect()
    last[:] = 1
    assert last.shape == (3, 500) and last.sum() == 1500


def test_memory_beyond_the_arrays_is_small() -> None:
    """Parameters that robots share are held once: with feedforward less than 1 MB for 16384 robots of 12 joints."""
    made = Made(16384, 12).bind()
    made.core.step(DT)
    assert made.core.memory + made.inputs[4].nbytes < 1_000_000


PAGE = """
import ctypes, mmap, sys
import numpy as np
from isaacsim.core.experimental.actuators.base.native import core

libc = ctypes.CDLL(None, use_errno=True)
pages, held = 4 * mmap.PAGESIZE, []

def before_a_guard(shape):
    memory = mmap.mmap(-1, pages + mmap.PAGESIZE)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    assert libc.mprotect(ctypes.c_void_p(start + pages), mmap.PAGESIZE, 0) == 0, ctypes.get_errno()
    held.append(memory)
    size = int(np.prod(shape)) * 4
    array = np.frombuffer(memory, np.float32, size // 4, pages - size).reshape(shape)
    array[:] = 1.0
    return array

for width in (8, 9, 12, 19, 33):
    for slots in sorted({1, 3, 7, 8, 9, 12} & set(range(1, width + 1))):
        for seed in range(6):
            rng = np.random.default_rng(seed)
            columns = rng.permutation(width)[:slots]
            if seed > 3:
                columns = np.sort(columns)
            if width - 1 not in columns:
                columns[-1] = width - 1
            for robots in (1, 2, 5):
                law = "ControllerPD", [0, 1, 2], list(range(slots))
                plan = core.Plan("", robots, slots, [0.0] * 3, [law], [], [], 1)
                for row in range(3):
                    plan.share(row, np.ones(slots, np.float32))
                arrays = [before_a_guard((robots, width)) for _ in range(6)]
                plan.bind_columns(arrays[:5], arrays[5], columns.tolist())
                plan.step(0.01)
                assert (arrays[5][:, columns] == 2.0).all() and not plan.faults()
print("done")
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="pages are guarded by Linux's mprotect")
def test_nothing_beyond_the_last_row_is_read() -> None:
    """Columns are gathered in eights, which may reach into the next row: there is none after the last."""
    for variant in core.variants():
        found = run_apart(PAGE, ACTUATORS_ISA=variant)
        assert found.stdout.split()[-1:] == ["done"], found.stderr


def run_apart(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", textwrap.dedent(code)]
    return ran(command, env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)} | environment, timeout=60)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("width", [0, 4])
def test_observing_changes_no_effort(case, width) -> None:
    """The observed numbers are right: 0 for an effort that was not limited, and for a fault."""
    every = np.arange(case.slots)
    made, silent = (case.made(ROBOTS, every).bind(width and case.slots + width) for _ in range(2))
    shape = (ROBOTS, case.slots)
    computed, limited_by = floats(shape), np.zeros(shape, np.uint8)
    for both in (True, False):
        made.core.observe(computed, limited_by if both else None)
        for inputs in case.inputs:
            efforts = made.step(inputs)
            np.testing.assert_array_equal(efforts, silent.step(inputs))
            bad = ~np.isfinite(inputs).all(axis=0)
            assert not computed[bad].any()
            if both:
                same = limited_by == 0
                np.testing.assert_array_equal(computed[same], efforts[same])
                assert not limited_by[bad].any() and (computed[~same] != efforts[~same]).all()
                assert limited_by.max() <= len(case.limits)
    assert sorted(made.core.faults()) == sorted(silent.core.faults())


def test_faults_are_the_first_of_each_until_a_reset() -> None:
    """Robot, slot, code and step; a reset of some robots clears only theirs, a reset of all counts steps from 0."""
    made = Made().bind()
    made.inputs[1][1, 2] = made.inputs[4][1, 2] = np.nan
    made.inputs[2][0, 0] = 3e38
    made.core.share(0, floats(3, 3e38))
    made.core.step(DT)
    made.inputs[0][1, 2] = np.nan
    made.core.step(DT)
    expected = [(0, 0, 32, 0), (1, 2, 18, 0)]
    assert sorted(made.core.faults()) == expected and made.core.steps == 2
    made.core.reset([0])
    assert made.core.faults() == expected[1:] and made.core.steps == 2
    made.core.step(DT)
    assert sorted(made.core.faults()) == [(0, 0, 32, 2), expected[1]]
    made.core.reset()
    assert made.core.faults() == [] and made.core.steps == 0
    made.core.set_faults([(0, 1, 4, 3)], 9)
    made.core.step(DT)
    assert sorted(made.core.faults()) == [(0, 0, 32, 9), (0, 1, 4, 3), (1, 2, 19, 9)]


def delayed(lag, depth: int, slots: int = 3, **options) -> Made:
    rows = [floats(slots, value) for value in (3.0, 0.5, 0.0, 0.0, 0.0)]
    every = range(slots)
    return Made(2, slots, (), **{"delayed": every, "depth": depth, "rows": rows, "lag": lag} | options).bind()


@pytest.mark.parametrize("lag", [0, 1, 2, 4])
def test_delay_forms_agree_in_every_bit(lag) -> None:
    """The longest lag, a shorter one, one per slot, one per robot given in the middle, beside a slot without, apart."""
    rng, slots = np.random.default_rng(8), 3
    longest = max(lag, 1)
    whole = [lag] * slots
    forms = [delayed(whole, longest), delayed(whole, longest), delayed(whole, 7), delayed([lag, lag, 1], 7)]
    forms += [delayed(whole, 7, delayed=[0, 1]), delayed(whole, 7).bind(slots + 2, [3, 0, 2]), delayed(whole, longest)]
    forms += [delayed(whole, 7, delayed=[0, 1]).bind(slots + 2, [0, 2, 3]), delayed(whole, 9)]
    lags = np.full((2, slots), lag, np.int32)
    forms[-1].core.own_lag(lags)
    aside = [state(2, slots, longest)[0] for _ in range(2)]
    for step in range(16):
        inputs = rng.normal(size=(5, 2, slots)).astype(np.float32)
        if step in (3, 9, 10):
            inputs[2 + step % 3, 1, 1] = np.inf
        if step == 5:
            inputs[0, 0, 0] = np.nan
        if step == 6:
            forms[1].core.own_lag(lags)
        if step == 13:
            forms[1].core.share_lag(lags[0])
        if step == 11:
            [made.core.reset([0]) for made in forms]
            forms[6].core.reset([0])
        forms[6].core.use(aside[step % 2], aside[1 - step % 2])
        if step == 11:
            forms[6].core.reset([0])
        expected = forms[0].step(inputs)
        for made in forms[1:]:
            # the last slot is not delayed, or by another lag, in some
            np.testing.assert_array_equal(made.step(inputs)[:, :2], expected[:, :2])
            faults = [sorted(fault[:3] for fault in one.core.faults()) for one in (made, forms[0])]
            assert faults[0] == faults[1]


def targets(made: Made, *values: float, signal: int = 2) -> list[float]:
    """Efforts of the first joint for targets given to both robots, one after the other."""
    found = []
    for value in values:
        for array in made.inputs:
            array[:] = 0
        made.inputs[signal][:] = value
        found.append(float(made.step()[0, 0]))
    return found


@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("lag", [0, 1, 3])
@pytest.mark.parametrize("signal", [2, 3, 4])
def test_first_command_that_is_not_finite_waits(signal, lag, depth) -> None:
    made = delayed([lag] * 3, depth, rows=[floats(3, 1)] * 2 + [floats(3)] * 3)
    for _ in range(2):
        acts = min(lag, depth)
        commands = [3, 3, 4, 4, 5, 6, 7]
        expected = [0.0, *(float(commands[max(1, step - acts)]) for step in range(1, 7))]
        expected[3] = 0
        assert targets(made, np.nan, 3, 4, np.inf, 5, 6, 7, signal=signal) == expected
        assert sorted(fault[3] for fault in made.core.faults()) == [0] * 6
        made.core.reset()


@pytest.mark.parametrize("into", ["itself", "another"])
@pytest.mark.parametrize("pushes", [1, 2, 3])
def test_a_ring_that_is_not_full_gives_its_oldest_command(pushes, into) -> None:
    made = delayed([4] * 3, 4, rows=[floats(3, 1)] + [floats(3)] * 4)
    other = state(2, 3, 4)[0]
    for buffer in made.memory[:3]:
        buffer[:] = -1
    held = [7, 5, 6][3 - pushes :]
    for row, value in zip(range(3 - pushes, 3), held, strict=True):
        made.memory[0][row] = value
        made.memory[1][row] = made.memory[2][row] = 0
    made.memory[3][:] = pushes
    made.memory[4][:] = 2
    pairs = itertools.cycle([(made.state, other), (other, made.state)] if into == "another" else [(made.state,) * 2])
    found = []
    for target, pair in zip((1, 2, 3, 4, 5, 6), pairs, strict=False):
        made.core.use(*pair)
        found += targets(made, target)
    assert found == [held[0]] * (4 - pushes) + held + [1, 2]


def test_state_written_by_others_leads_nowhere_else() -> None:
    """A newest row beyond the ring and counts beyond its depth are brought back into it, whatever they are."""
    limits = [2**31 - 1, -(2**31), -1, 7, 0, 1]
    for row in limits:
        made = delayed([3, 1, 0], 3)
        made.memory[4][0] = row
        made.memory[3][:] = limits
        inputs = np.random.default_rng(1).normal(size=(5, 2, 3)).astype(np.float32)
        for _ in range(5):
            made.core.use(made.state, made.state)
            assert np.isfinite(made.step(inputs)).all() and made.memory[4][0] in range(3)
        assert (made.memory[3] == 3).all()


def test_steps_and_setters_may_come_from_different_threads() -> None:
    robots, slots = 4096, 12
    every = range(slots)
    rows = [floats(slots, value) for value in (1, 0, 0, 0, np.inf, 9)]
    made = Made(robots, slots, integral=every, delayed=every, depth=3, rows=rows).bind()
    made.inputs[2][:] = 1.0
    made.inputs[0][7, 3] = np.nan
    arrays, rounds = (made.inputs, made.efforts, made.columns), range(60)

    def give() -> None:
        for value in rounds:
            made.core.own(0, floats((robots, slots), 1.0 + value % 2))
            made.core.own_lag(np.full((robots, slots), value % 3, np.int32))

    def look() -> None:
        for _ in rounds:
            made.core.reset([5, 7])
            made.core.set_faults(made.core.faults(), made.core.steps)
            made.core.unsettle()
            assert {fault[:2] for fault in made.core.faults()} <= {(7, 3)}

    def bind() -> None:
        for _ in rounds:
            made.core.bind_columns(*arrays)
            made.core.use(made.state, made.state)
            made.core.observe(None, None)

    with ThreadPoolExecutor() as pool:
        others = [pool.submit(job) for job in (give, look, bind)]
        while not all(other.done() for other in others):
            made.core.step(DT)
        for other in others:
            other.result()
    made.core.step(DT)
    efforts = np.delete(made.efforts.ravel(), 7 * slots + 3)
    assert set(np.unique(efforts)) <= {1.0, 2.0} and made.efforts[7, 3] == 0.0


BLOCKING = """
import gc, sys, weakref
sys.path.insert(0, {here!r})
import numpy as np
from step_bench import Bench, NAMES, built_in_plan
from isaacsim.core.experimental.actuators.engine.step.native import NativeStep
from isaacsim.core.experimental.actuators.engine.step.state import restore, save

step = NativeStep(built_in_plan(40))
bench = Bench(step)
bench.arrays[0].numpy()[:] = np.nan
step.step(0.01)
assert len(step.faults()) == 40 * len(NAMES)
steps = []

def collected(phase, info):
    if phase == "start":
        step.step(0.01)
        steps.append(step.core.faults())

gc.callbacks.append(collected)
gc.set_threshold(1)
parts = [(list(range(len(NAMES))), step)]
for _ in range(20):
    step.core.faults(), step.faults(), step.core.steps, step.core.layout, step.core.memory
    restore(parts, save(parts))
    step.core.set_faults(step.core.faults(), 3)
    step.observe(True)
    step.observe(False)
gc.callbacks.clear()
gc.set_threshold(700)

class Last(np.ndarray):
    def __del__(self):
        step.step(0.01)
        steps.append(step.core.faults())

def dying(shape, dtype=np.float32):
    return np.zeros(shape, dtype).view(Last)

plan = step.core
before = len(steps)
for _ in range(5):
    size = (40, len(NAMES))
    plan.own(0, dying(size))
    plan.own(0, dying(size))
    plan.own_lag(dying(size, np.int32))
    plan.own_lag(dying(size, np.int32))
    plan.observe(dying(size), dying(size, np.uint8))
    plan.observe(None, None)
    plan.bind_columns([dying(size) for _ in range(5)], dying(size), [0, 1, 2, 3])
    plan.bind_columns([dying(size) for _ in range(5)], dying(size), [0, 1, 2, 3])
    step.reset()
assert len(steps) - before > 60, len(steps) - before
print("done")
"""


@pytest.mark.slow
def test_a_step_by_a_finaliser_or_the_garbage_collector_never_blocks() -> None:
    """While faults and states are read, and when arrays go that others take the place of."""
    found = run_apart(BLOCKING.format(here=str(TESTS / "support")))
    assert found.stdout.split()[-1:] == ["done"], found.stderr
