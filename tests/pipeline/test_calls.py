"""The native step over flat arrays: what it refuses, and that nothing but the core is called."""

from __future__ import annotations

import gc
import weakref
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators import (
    Actuator,
    ActuatorGroup,
    ClampingDCMotor,
    ClampingMaxEffort,
    ClampingPositionBased,
    ControllerPID,
    Delay,
)
from isaacsim.core.experimental.actuators.native import core
from isaacsim.core.experimental.actuators.pipeline import flat

if core is None:
    pytest.skip("the native core was not built", allow_module_level=True)

N, DT = 4, 0.01


def floats(values: Any) -> wp.array:
    return wp.array(np.asarray(values, np.float32), dtype=wp.float32, device="cpu")


def full(value: float, dtype: Any = wp.float32) -> wp.array:
    return wp.full(N, value, dtype=dtype, device="cpu")


def frame(rng: np.random.Generator) -> tuple[SimpleNamespace, SimpleNamespace]:
    signals = [floats(rng.normal(size=N)) for _ in range(5)]
    names = ("joint_target_pos", "joint_target_vel", "joint_act", "joint_f")
    state = SimpleNamespace(joint_q=signals[0], joint_qd=signals[1])
    return state, SimpleNamespace(**dict(zip(names, (*signals[2:], full(0)), strict=True)))


def made(count: int = N) -> Actuator:
    """All parts that an actuator may have."""
    gains = [wp.full(count, value, dtype=wp.float32, device="cpu") for value in (9, 40, 1, 0.1)]
    clamps = [
        ClampingDCMotor(*(wp.full(count, value, dtype=wp.float32, device="cpu") for value in (20, 2, 15))),
        ClampingPositionBased(None, [-1.0, 0.0, 1.0], [5.0, 20.0, 10.0]),
        ClampingMaxEffort(wp.full(count, 12, dtype=wp.float32, device="cpu")),
    ]
    at = wp.array(np.arange(count), dtype=wp.uint32, device="cpu")
    return Actuator(at, ControllerPID(*gains), Delay(wp.full(count, 2, dtype=wp.int32, device="cpu"), 3), clamps)


def memory_of(state: Any) -> list[np.ndarray]:
    return [array.numpy() for array in (*vars(state.delay_state).values(), state.controller_state.integral)]


def test_steps_launch_nothing(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    """No kernel, no copy by Warp."""
    actuator = made()
    now, after = actuator.state(), actuator.state()
    state, control = frame(rng)
    for name in ("launch", "copy", "clone"):
        monkeypatch.setattr(wp, name, None)
    actuator.step(state, control, now, after, DT)
    actuator.step(state, control, after, now, DT)
    assert control.joint_f.numpy().any()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda a, s, c: a.indices.assign(np.array([0, 1, 2, 4], np.uint32)), "index 4 into joint_q.*below 4"),
        (lambda a, s, c: setattr(c, "joint_f", floats([0, 0, 0])), "index 3 into joint_f: must be below 3"),
        (lambda a, s, c: setattr(c, "joint_act", floats([0, 0])), "index 3 into joint_act: must be below 2"),
        (
            lambda a, s, c: setattr(s, "joint_q", wp.zeros(N, dtype=wp.float64, device="cpu")),
            "joint_q has dtype float64",
        ),
        (lambda a, s, c: setattr(s, "joint_q", wp.zeros((N, 1), dtype=float, device="cpu")), "one-dimensional"),
        (lambda a, s, c: setattr(s, "joint_q", [0.0] * N), "copy"),
        (lambda a, s, c: setattr(a.controller, "kp", floats([1])), "kp has 1 elements: must be 4, one per joint"),
        (lambda a, s, c: setattr(a.delay, "delay_steps", full(1)), "delay_steps has dtype float32: must be int32"),
        (lambda a, s, c: setattr(a, "pos_indices", full(0)), "pos_indices has dtype float32: must be uint32"),
    ],
)
def test_what_does_not_fit_is_refused(change: Any, words: str, rng: np.random.Generator) -> None:
    """By name, and before anything is written, also when it comes after good steps."""
    actuator = made()
    now, after = actuator.state(), actuator.state()
    state, control = frame(rng)
    actuator.step(state, control, after, now, DT)
    before = [control.joint_f.numpy().copy(), *(values.copy() for values in memory_of(after))]
    efforts = control.joint_f
    change(actuator, state, control)
    with pytest.raises(ValueError, match=words):
        actuator.step(state, control, now, after, DT)
    for values, copy in zip((efforts.numpy(), *memory_of(after)), before, strict=True):
        np.testing.assert_array_equal(values, copy)


def test_states_of_another_actuator_are_refused(rng: np.random.Generator) -> None:
    """One with other parts, and one of another size."""
    actuator = made()
    deeper = Actuator.State(Delay(full(1, wp.int32), 9).state(N, "cpu"), actuator.state().controller_state)
    for other, words in (
        (Actuator.State(), "controller_state: must be one of this actuator"),
        (Actuator.State(None, actuator.state().controller_state), "delay_state: must be one of this actuator"),
        (made(1).state(), r"integral has shape \(1,\): must be contiguous, of shape \(4,\)"),
        (deeper, "both of the same depth"),
    ):
        with pytest.raises(ValueError, match=words):
            actuator.step(*frame(rng), actuator.state(), other, DT)


def test_law_with_an_integral_needs_the_time_step(rng: np.random.Generator) -> None:
    """The message names it."""
    actuator = made()
    with pytest.raises(ValueError, match="dt = None"):
        actuator.step(*frame(rng), actuator.state(), actuator.state())


def read_only() -> np.ndarray:
    array = np.zeros(N, np.float32)
    array.flags.writeable = False
    return array


def add(**changed: Any) -> Any:
    """Tell a core of an actuator with some arguments changed."""
    zeros, at = np.zeros(N, np.float32), np.arange(N, dtype=np.uint32)
    arguments = {
        "label": "knee",
        "indices": [at, at, None, at],
        "arrays": [0, 1, 2, 3, -1, 4, -1],
        "integral": False,
        "parameters": [zeros, zeros, None, None, None],
        "lag": None,
        "limits": [],
        "record": [np.zeros(N, np.int32), np.zeros(N, np.int64), np.zeros(N, np.int64), zeros.copy()],
    }
    told = core.Flat()
    told.add(**arguments | changed)
    return told


def run(arrays: list[Any], states: int = 1) -> None:
    nothing = core.Memory([(0, None, [])] * states)
    add().step(core.Frame([(f"array {n}", array) for n, array in enumerate(arrays)]), nothing, nothing, DT)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: add(indices=[]), "4 index arrays, 7 arrays, 5 parameters and 4 records"),
        (lambda: add(indices=[None] * 4), "indices: must be an array"),
        (lambda: add(parameters=[np.zeros(3, np.float32)] + [None] * 4), "knee: kp has 3 elements: must be 4"),
        (lambda: add(parameters=[np.zeros(N)] + [None] * 4), "knee: kp has dtype float64: must be float32"),
        (lambda: add(lag=np.zeros(N, np.int64)), "delay_steps has dtype int64: must be int32"),
        (lambda: add(limits=[(3, [])]), "limit of kind 3"),
        (lambda: add(limits=[(0, [])]), "limit of kind 0: must be 0 .DC motor. with 3"),
        (lambda: add(limits=[(1, [np.zeros(0, np.float32)] * 2)]), "at least one"),
        (lambda: add(limits=[(1, [np.zeros(2, np.float32), np.zeros(1, np.float32)])]), "as many efforts"),
        (lambda: add(record=[read_only()] * 4), "fault codes has dtype float32: must be int32"),
        (lambda: core.Frame([("joint_q", [1.0])]), "joint_q = .* must be a NumPy array"),
        (lambda: core.Memory([(N, None, [np.zeros((2, N), np.float32)])]), "three buffers"),
        (lambda: core.Memory([(N, None, [np.zeros((0, N), np.float32)] * 5)]), "depth of the delay's buffers"),
        (lambda: core.Memory([(N, np.zeros((N, 1), np.float32), [])]), "integral has shape"),
        (lambda: run([np.zeros(N, np.float32)] * 4), "knee: arrays: must be of the frame"),
        (lambda: run([np.zeros(N, np.float32), None, *[np.zeros(N, np.float32)] * 3]), "array 1: must be there"),
        (lambda: run([*[np.zeros(N, np.float32)] * 4, read_only()]), "array 4: must be writeable"),
        (lambda: run([np.zeros(N, np.float32)] * 5, states=2), "states: must be one per actuator"),
        (lambda: core.unchanged([1]), "1: must be a pair"),
        (lambda: core.unchanged([({}, [])]), "must be a tuple"),
    ],
)
def test_bad_arguments_are_refused_by_name(call: Any, words: str) -> None:
    """The binding checks type, shape and range: nothing reaches memory that it should not."""
    with pytest.raises(ValueError, match=words):
        call()


def test_state_written_by_others_leads_nowhere_else(rng: np.random.Generator) -> None:
    """A row beyond the ring, and counts beyond its depth, are brought back into it."""
    actuator = made()
    now, after = actuator.state(), actuator.state()
    now.delay_state.write_idx.fill_(2**31 - 1)
    now.delay_state.num_pushes.assign(np.array([2**31 - 1, -(2**31), 7, 0], np.int32))
    actuator.delay.delay_steps.assign(np.array([2**31 - 1, 5, -(2**31), 1], np.int32))
    state, control = frame(rng)
    actuator.step(state, control, now, after, DT)
    assert after.delay_state.write_idx.numpy()[0] in range(3)
    assert np.isfinite(control.joint_f.numpy()).all()


def test_unchanged_sees_every_change() -> None:
    """In dicts and lists: another object, one more, one less, another kind of container."""
    one, two = object(), object()
    assert core.unchanged([({"a": one}, (one,)), ([one, two], (one, two))])
    for container in ({"a": two}, {"a": one, "b": two}, {}, [two], [], [one, two], (one,)):
        assert not core.unchanged([(container, (one,))])


def test_what_was_bound_stays_alive(rng: np.random.Generator) -> None:
    """The core keeps the arrays that it holds pointers to."""
    actuator = made()
    engine, states = flat.FlatEngine([actuator]), [actuator.state()]
    given = frame(rng)
    engine.step(*given, states, states, DT)
    efforts = given[1].joint_f.numpy().copy()
    bound = engine._frame(*given), engine._memory(states)
    del given
    gc.collect()
    garbage = [floats(np.full(N, np.nan)) for _ in range(200)]
    engine._flat.step(bound[0], bound[1], bound[1], DT)
    assert actuator.faults == [] and len(garbage) == 200 and efforts.any()


def test_nothing_is_kept_alive_for_ever(rng: np.random.Generator) -> None:
    """Actuators, groups and what they were bound to go when nobody holds them; old frames go before that."""
    actuator, other = made(), made()
    group = ActuatorGroup([actuator, other])
    states = group.state()
    frames = []
    for _ in range(8):
        given = frame(rng)
        group.step(*given, states, states, DT)
        actuator.step(*given, states[0], states[0], DT)
        frames.append(weakref.ref(given[0].joint_q))
    del given
    assert sum(one() is not None for one in frames) == 4
    watched = [*frames, *map(weakref.ref, (actuator, other, group, states[0]))]
    del actuator, other, group, states
    gc.collect()
    assert [one() for one in watched] == [None] * len(watched)


def test_instruction_sets_agree_in_every_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    """All that this processor has, on more joints than are stepped at a time."""
    results = set()
    for name in core.variants():
        monkeypatch.setenv("ACTUATORS_ISA", name)
        rng, actuator = np.random.default_rng(4), made(150)
        now, after = actuator.state(), actuator.state()
        for _ in range(6):
            source = {name: floats(rng.normal(size=150)) for name in ("joint_q", "joint_qd")}
            control = {name: floats(rng.normal(size=150)) for name in ("joint_target_pos", "joint_target_vel")}
            control["joint_f"] = floats(np.zeros(150))
            actuator.step(source, control, now, after, DT)
            now, after = after, now
        results.add(control["joint_f"].numpy().tobytes())
    assert len(results) == 1


def test_without_the_core_components_compute(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same efforts within rounding."""
    found = []
    state, control = frame(rng)
    for there in (True, False):
        if not there:
            monkeypatch.setattr(flat, "core", None)
        actuator, control.joint_f = made(), full(0)
        assert flat.runs_natively(actuator) == there
        actuator.step(state, control, actuator.state(), actuator.state(), DT)
        found.append(control.joint_f.numpy())
    np.testing.assert_allclose(*found, rtol=1e-5)
