"""The Warp step: comparison with float64, bit-identical in all ways to call it."""

from typing import Any, ClassVar

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators.base import native
from isaacsim.core.experimental.actuators.engine.entry import ActuatorEntry
from isaacsim.core.experimental.actuators.engine.plan import compile_plan
from isaacsim.core.experimental.actuators.engine.step.binding import Columns, Indices
from isaacsim.core.experimental.actuators.engine.step.warp import WarpStep, _words, mask_of
from isaacsim.core.experimental.actuators.engine.step.warp_functions import BITS, advance_kernel
from one_inertia import signals_of
from refusals import cases, refused
from step_bench import DT, NAMES, ROBOTS, Bench, Twin, draw, floats, full, mixed_plan

KINDS = pytest.mark.parametrize("kind", ["columns", "indices"])


def made(kind: str = "columns") -> tuple[WarpStep, Bench]:
    step = WarpStep(mixed_plan(), "cpu")
    return step, Bench(step, kind)


def of_one_joint(kp: float = 1, clamping=(), delay: aa.Delay | None = None) -> WarpStep:
    entry = ActuatorEntry("a", ("a",), aa.ControllerPD(full(kp), full(0)), list(clamping), delay)
    return WarpStep(compile_plan([entry], ROBOTS), "cpu")


def in_columns(step: WarpStep, value: float = 0) -> tuple[list[np.ndarray], np.ndarray]:
    """Inputs of its joint, all of them this value, and its efforts."""
    inputs, efforts = [np.full((ROBOTS, 1), value, np.float32) for _ in range(5)], np.zeros((ROBOTS, 1), np.float32)
    step.bind(Columns([0], inputs, efforts))
    return inputs, efforts


@KINDS
def test_efforts_agree_with_float64(kind, rng) -> None:
    step, bench = made(kind)
    twins = [Twin(robot) for robot in range(ROBOTS)]
    for number in range(60):
        if number in (20, 41):
            mask = np.array([number == 20, True, False])
            step.reset(np.flatnonzero(mask).tolist())
            twins = [Twin(robot) if mask[robot] else twin for robot, twin in enumerate(twins)]
        inputs = draw(rng)
        expected = [twin.step(inputs[:, robot]) for robot, twin in enumerate(twins)]
        np.testing.assert_allclose(bench.step(inputs), expected, rtol=2e-5, atol=2e-4, err_msg=str(number))
    assert 1 < np.abs(expected).max() <= 12


def run(kind: str = "columns", apart: bool = False, phases: bool = False) -> tuple[list[np.ndarray], Any]:
    step, bench = made(kind)
    states = step.new_state(), step.new_state()
    if phases:
        shape = (ROBOTS, len(NAMES))
        floats_there = [wp.zeros(shape, dtype=wp.float32, device="cpu") for _ in range(7)]
        step.hand_over(floats_there[:5], wp.zeros(shape, dtype=wp.int32, device="cpu"), *floats_there[5:])
    rng, found = np.random.default_rng(5), []
    for number in range(30):
        now, after = (states[number % 2], states[1 - number % 2]) if apart else states[:1] * 2
        step.use(now, after)
        if number == 17:
            step.reset([1])
        bench.feed(draw(rng))
        if phases:
            step.command(DT)
            step.limit()
        else:
            step.step(DT)
        found.append(bench.efforts())
    return found, step.faults()


@cases(
    "other", {"kind": "indices"}, {"apart": True}, {"phases": True}, {"kind": "indices", "apart": True, "phases": True}
)
def test_however_it_is_called_the_bits_are_the_same(other) -> None:
    efforts, faults = run()
    others, other_faults = run(**other)
    np.testing.assert_array_equal(np.array(others), np.array(efforts))
    assert other_faults == faults and len(faults) > 3


def test_the_state_before_a_step_is_only_read(rng) -> None:
    step, bench = made()
    states = [step.new_state() for _ in range(2)]
    whole = step.new_state()
    for number in range(12):
        now, after = states[number % 2], states[1 - number % 2]
        before = [array.numpy().copy() for array in now.arrays()]
        for array in (after.buffer_pos, after.buffer_vel, after.buffer_act, *(a for law in after.laws for a in law)):
            array.fill_(np.nan)
        step.use(now, after)
        inputs = draw(rng, faults=number > 0)
        bench.step(inputs)
        for array, values in zip(now.arrays(), before, strict=True):
            np.testing.assert_array_equal(array.numpy(), values)
        step.use(whole, whole)
        bench.step(inputs)
        for array, expected in zip(after.arrays(), whole.arrays(), strict=True):
            np.testing.assert_array_equal(array.numpy(), expected.numpy())


def test_outside_states_lead_nowhere_else(rng) -> None:
    step, bench = made()
    step.now.write_idx.fill_(2**31 - 1)
    step.now.num_pushes.assign(np.array([2**31 - 1, -(2**31), 7, 0, 1, 2], np.int32))
    assert np.isfinite(bench.step(draw(rng, faults=False))).all()
    assert step.now.write_idx.numpy()[0] in range(step.plan.depth)


def test_a_ring_that_is_not_full_gives_its_oldest_command() -> None:
    step = of_one_joint(delay=aa.Delay(wp.array([4] * ROBOTS, dtype=wp.int32, device="cpu"), 4))
    inputs, efforts = in_columns(step)
    step.now.buffer_pos.assign(np.array([[7] * 3, [5] * 3, [6] * 3, [-1] * 3], np.float32))
    step.now.write_idx.fill_(2)
    step.now.num_pushes.fill_(2)
    found = []
    for target in (1, 2, 3, 4, 5, 6):
        inputs[2][:] = target
        step.step(DT)
        found.append(efforts[0, 0])
    assert found == [5, 5, 5, 6, 1, 2]


def test_indices_add_to_what_is_there(rng) -> None:
    step, bench = made("indices")
    inputs = draw(rng, faults=False)
    expected = bench.step(inputs)
    before = bench.computed.numpy()[bench.at].reshape(ROBOTS, -1)
    assert (np.abs(before) >= np.abs(expected) - 1e-6).all() and (before != expected).any()
    step.reset()
    bench.feed(inputs)
    bench.arrays[5].fill_(100.0)
    bench.arrays[0].numpy()[bench.at[0]] = np.nan
    step.step(DT)
    found = bench.arrays[5].numpy()
    np.testing.assert_allclose(found[bench.at].reshape(ROBOTS, -1).ravel()[1:], 100 + expected.ravel()[1:], rtol=1e-6)
    assert found[bench.at[0]] == 100 and bench.computed.numpy()[bench.at[0]] == 0
    assert (found[np.setdiff1d(np.arange(len(found)), bench.at)] == 100).all()


def test_columns_write_their_own_only(rng) -> None:
    step, bench = made()
    bench.feed(draw(rng))
    bench.arrays[5].fill_(7.0)
    step.step(DT)
    assert (bench.arrays[5].numpy()[:, [1, 4]] == 7).all()


def test_feedforward_may_be_absent() -> None:
    step = of_one_joint(2)
    q, target, efforts = floats(0, 0, 0), floats(1, 2, 3), floats(0, 0, 0)
    at = wp.array([2, 1, 0], dtype=wp.uint32, device="cpu")
    step.bind(Indices([q, q, target, q, None], [at] * 4 + [None], efforts, at))
    step.step(DT)
    assert efforts.numpy().tolist() == [2, 4, 6]


def test_joints_that_share_a_place_add_up() -> None:
    step = of_one_joint()
    q, target, efforts = floats(0, 0, 0), floats(1, 2, 3), floats(0, 0)
    at, out = (wp.array(one, dtype=wp.uint32, device="cpu") for one in ([0, 1, 2], [1, 1, 0]))
    step.bind(Indices([q, q, target, q, None], [at] * 5, efforts, out))
    step.step(DT)
    assert efforts.numpy().tolist() == [3, 3]


def test_indices_that_grow_too_large_are_refused_before_anything_is_written(rng) -> None:
    step, bench = made("indices")
    bench.step(draw(rng))
    at = step._binding.indices[0]
    before = [array.numpy().copy() for array in step.now.arrays()]
    at.numpy()[3] = 99
    refused(ValueError, lambda: step.step(DT), "index 99 into positions: must be below 15, its length")
    for array, values in zip(step.now.arrays(), before, strict=True):
        np.testing.assert_array_equal(array.numpy(), values)


def test_spread_row_acts_at_the_next_step(rng) -> None:
    step, bench = made()
    row = step.plan.control["kp"]
    inputs = draw(rng, faults=False)
    bench.step(inputs)
    step.materialize(row).numpy()[1, 0] = 0.0
    step.materialize(step.plan.control["kd"]).numpy()[1, 0] = 0.0
    assert bench.step(inputs)[1, 0] == np.clip(inputs[4, 1, 0], -9, 9)


def test_a_fault_behind_the_limits_has_no_limiter() -> None:
    given = [aa.PDControlConfig(9.0, 0.0), aa.MaxEffortClampingConfig(2.0), aa.FrictionConfig(coulomb=0.5)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(native, "core", None)
        arrays = aa.ActuatedArrays(["a"], {"a": given})
    arrays.observe_efforts()
    zero, target = np.zeros((1, 1), np.float32), np.ones((1, 1), np.float32)
    # friction with an inertia that is no number
    (inertia,) = signals_of(arrays)["inertia"]
    inertia[:] = np.nan
    assert not arrays.step(zero, zero, target, 0.01).any() and arrays.limited_by.tolist() == [[""]]
    inertia[:] = 0.1
    assert arrays.step(zero, zero, target, 0.01).any() and arrays.limited_by.tolist() == [["ClampingMaxEffort"]]


def test_more_stages_than_a_word_has_bits() -> None:
    flags = [np.array([number % 2 == 0, number % 3 == 0]) for number in range(33)]
    words = _words(flags)
    assert len(words) == 2 and _words([]) == []
    found = [[bool(words[n // BITS][slot] >> n % BITS & 1) for slot in range(2)] for n in range(33)]
    assert found == [one.tolist() for one in flags]


@wp.func
def losing_clamp(effort: float, q: float, qd: float, dt: float, seen: float, most: float):
    return wp.min(effort, most), seen + 1.0e38


class Losing(aa.Clamping):
    PARAMETERS: ClassVar = ("most",)
    STATE: ClassVar = ("seen",)
    LAW = losing_clamp


def test_state_of_a_limit_is_held_where_anything_is_not_finite() -> None:
    step = of_one_joint(clamping=[Losing(floats(5, 5, 5))])
    inputs, efforts = in_columns(step, 1)
    inputs[0][1] = np.nan
    step.materialize(step.plan.stages[0].rows["most"]).numpy()[2] = np.nan
    for _ in range(5):
        step.step(DT)
    assert step.now.laws[0][0].numpy().tolist() == [np.float32(3e38), 0, 0] and efforts.ravel().tolist() == [0, 0, 0]
    assert step.faults() == [(0, 0, 32, 3), (1, 0, 1, 0), (2, 0, 32, 0)]


@wp.func
def timing_clamp(effort: float, q: float, qd: float, dt: float, seen: float):
    return effort, seen + dt


class Timing(aa.Clamping):
    PARAMETERS: ClassVar = ()
    STATE: ClassVar = ("seen",)
    LAW = timing_clamp


def test_limits_have_the_seconds_of_the_command_before_them() -> None:
    step, shape = of_one_joint(clamping=[Timing()]), (ROBOTS, 1)
    in_columns(step, 1)
    numbers = [wp.zeros(shape, dtype=wp.float32, device="cpu") for _ in range(7)]
    step.hand_over(numbers[:5], wp.zeros(shape, dtype=wp.int32, device="cpu"), *numbers[5:])
    for _ in range(4):
        step.command(0.25)
        step.limit()
    assert step.now.laws[0][0].numpy().tolist() == [1.0] * ROBOTS


@cases(
    "mask, words",
    (wp.zeros(ROBOTS, dtype=wp.int32, device="cpu"), "mask is int32"),
    (wp.zeros(ROBOTS + 1, dtype=wp.bool, device="cpu"), r"must be bool \(3,\)"),
)
def test_a_mask_that_does_not_fit_is_refused(mask: wp.array, words: str) -> None:
    refused(ValueError, lambda: mask_of(mask, ROBOTS, "cpu"), words)


def test_steps_allocate_nothing(rng, monkeypatch) -> None:
    step, bench = made("indices")
    states = step.new_state(), step.new_state()
    for now, after in (states, states[::-1]):
        step.use(now, after)
        bench.step(draw(rng))
    for name in ("launch", "zeros", "empty", "copy", "clone"):
        monkeypatch.setattr(wp, name, None)
    for now, after in (states, states[::-1]):
        step.use(now, after)
        step.step(DT)


def test_a_delay_goes_on_by_a_row() -> None:
    now, after = (wp.array(np.int32([value, 7]), dtype=wp.int32, device="cpu") for value in (4, 0))
    wp.launch(advance_kernel, 1, [5, now], [after], device="cpu")
    wp.launch(advance_kernel, 1, [6, now], [now], device="cpu")
    assert [array.numpy().tolist() for array in (after, now)] == [[0, 7], [5, 7]]
