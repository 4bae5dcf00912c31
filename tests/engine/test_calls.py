"""Calls of public actuators: errors, lifetime of bindings, and lookup of the arrays of a simulation."""

import contextlib
import gc
import itertools
import warnings
import weakref
from collections import UserDict
from types import SimpleNamespace
from typing import Any

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators.base import native
from isaacsim.core.experimental.actuators.engine import calls
from isaacsim.core.experimental.actuators.engine.calls import Calls, contents, unchanged
from refusals import cases, refused
from warp_arrays import floats, indices

N, DT = 4, 0.01
pytestmark = pytest.mark.usefixtures("backend")
STATE, CONTROL = ("joint_q", "joint_qd"), ("joint_target_pos", "joint_target_vel", "joint_act", "joint_f")


def full(value: float, dtype=wp.float32, count: int = N) -> wp.array:
    return wp.full(count, value, dtype=dtype, device="cpu")


def frame(rng: np.random.Generator, count: int = N) -> tuple[SimpleNamespace, SimpleNamespace]:
    q, qd, *control = (floats(rng.normal(size=count)) for _ in range(5))
    return SimpleNamespace(joint_q=q, joint_qd=qd), SimpleNamespace(
        **dict(zip(CONTROL, (*control, full(0, count=count)), strict=True))
    )


def made(count: int = N, **options) -> aa.Actuator:
    gains = [full(value, count=count) for value in (9, 40, 1, 0.1)]
    clamps = [
        aa.ClampingDCMotor(*(full(value, count=count) for value in (20, 2, 15))),
        aa.ClampingPositionBased(None, [-1.0, 0.0, 1.0], [5.0, 20.0, 10.0]),
        aa.ClampingMaxEffort(full(12, count=count)),
    ]
    at = options.pop("indices", indices(range(count)))
    return aa.Actuator(at, aa.ControllerPID(*gains), aa.Delay(full(2, wp.int32, count), 3), clamps, **options)


def pd(kp: float = 1, count: int = N, **options) -> aa.Actuator:
    at = options.pop("indices", indices(range(count)))
    return aa.Actuator(at, aa.ControllerPD(full(kp, count=count), full(0, count=count)), **options)


def memory_of(state) -> list[np.ndarray]:
    return [array.numpy() for array in (*vars(state.delay_state).values(), state.controller_state.integral)]


def assign(name: str, value):
    return lambda a, s, c: setattr(s if name in STATE else c, name, value)


def doubles(count: int = N) -> wp.array:
    return wp.zeros(count, dtype=wp.float64, device="cpu")


@cases(
    "change, words",
    (lambda a, s, c: a.indices.assign(np.array([0, 1, 2, 4], np.uint32)), "actuator: index 4 into joint_q.*below"),
    (lambda a, s, c: a.indices.assign(np.array([0, 1, 2, 2**32 - 1], np.uint32)), "index 4294967295 into joint_q"),
    (assign("joint_f", floats([0, 0, 0])), "index 3 into joint_f: must be below 3"),
    (assign("joint_act", floats([0, 0])), "index 3 into joint_act: must be below 2"),
    (assign("joint_q", doubles()), "joint_q has dtype float64: must be float32"),
    (assign("joint_qd", wp.zeros((N, 1), dtype=float, device="cpu")), "joint_qd has shape .*one-dimensional"),
    (assign("joint_target_pos", [0.0] * N), "joint_target_q is a list"),
    (assign("joint_target_vel", None), "SimpleNamespace has no array 'joint_target_qd' or 'joint_target_vel'"),
    (assign("joint_act", doubles()), "joint_act has dtype float64"),
    (lambda a, s, c: delattr(c, "joint_f"), "SimpleNamespace has no array 'joint_f'"),
    (lambda a, s, c: delattr(s, "joint_q"), "SimpleNamespace has no array 'joint_q'"),
    (lambda a, s, c: setattr(a.controller, "kp", floats([1])), "kp has 1 elements: must be 4, one per joint"),
    (lambda a, s, c: setattr(a.controller, "kp", doubles()), "kp has dtype float64: must be float32"),
    (lambda a, s, c: setattr(a.clamping[2], "max_effort", floats([1, 1])), "max_effort has 2 elements"),
    (lambda a, s, c: setattr(a.delay, "delay_steps", full(1)), "delay_steps has dtype float32: must be int32"),
    (lambda a, s, c: setattr(a, "pos_indices", full(0)), "pos_indices has dtype float32: must be uint32"),
    (lambda a, s, c: setattr(a, "effort_indices", indices([0, 1])), r"effort_indices has shape \(2,\)"),
    (lambda a, s, c: setattr(a, "control_computed_output_attr", "computed"), "has no array 'computed'"),
)
def test_what_does_not_fit_is_refused(change: Any, words: str, rng: np.random.Generator) -> None:
    actuator = made()
    now, after = actuator.state(), actuator.state()
    state, control = frame(rng)
    actuator.step(state, control, after, now, DT)
    before = [control.joint_f.numpy().copy(), *(values.copy() for state in (now, after) for values in memory_of(state))]
    efforts = control.joint_f
    change(actuator, state, control)
    for _ in range(2):
        refused(ValueError, lambda: actuator.step(state, control, now, after, DT), words)
    np.testing.assert_equal([efforts.numpy(), *memory_of(now), *memory_of(after)], before)


def read_only() -> np.ndarray:
    array = np.zeros(N, np.float32)
    array.flags.writeable = False
    return array


@cases(
    "array, words",
    (np.zeros(N), "joint_f has dtype float64"),
    (np.zeros(N, ">f4"), "joint_f has dtype >f4"),
    (np.zeros(N + 1, np.uint8)[1:].view(np.uint8), "joint_f has dtype uint8"),
    (np.zeros(4 * N + 1, np.uint8)[1:].view(np.float32), "joint_f: must be aligned"),
    (read_only(), "joint_f: must be writeable"),
    (np.zeros((N, 1), np.float32), "joint_f has shape"),
    (np.zeros(N, np.float32)[::-1], "joint_f: must be of whole numbers in a row"),
    (np.broadcast_to(np.float32(0), N), "joint_f: must be"),
)
def test_output_that_cannot_be_written_in_place_is_refused(array, words, rng) -> None:
    actuator, (state, control) = pd(), frame(rng)
    control.joint_f = array
    refused(ValueError, lambda: actuator.step(state, control), words)
    control.joint_f = np.zeros(2 * N, np.float32)[::2]
    actuator.step(state, control)
    assert control.joint_f.all()


def test_states_of_another_actuator_are_refused(rng) -> None:
    actuator = made()
    controller = actuator.state().controller_state
    deeper = aa.Actuator.State(aa.Delay(full(1, wp.int32), 9).state(N, "cpu"), controller)
    doubled = actuator.state()
    doubled.controller_state.integral = doubles()
    for other, words in (
        (aa.Actuator.State(), "delay_state = None: must be one of this actuator"),
        (aa.Actuator.State(actuator.state().delay_state), "controller_state.integral has None: must be one of"),
        (made(1).state(), r"has shape \(3, 1\): must be one of this actuator, of shape \(3, 4\)"),
        (deeper, r"delay_state.buffer_pos has shape \(9, 4\)"),
        (doubled, "controller_state.integral has dtype float64: must be float32"),
    ):
        for pair in ((actuator.state(), other), (other, actuator.state())):
            with pytest.raises(ValueError, match=words):
                actuator.step(*frame(rng), *pair, DT)


@pytest.mark.parametrize("dt", [None, -1.0, np.nan, np.inf, -np.inf, -1e-9])
def test_time_step_that_is_none_is_refused(dt, rng) -> None:
    actuator = made()
    now, after = actuator.state(), actuator.state()
    state, control = frame(rng)
    for _ in range(2):
        refused(ValueError, lambda: actuator.step(state, control, now, after, dt), f"dt = {dt}: must be")
        assert not control.joint_f.numpy().any()
    actuator.step(state, control, now, after, DT)
    before = control.joint_f.numpy().copy()
    refused(ValueError, lambda: actuator.step(state, control, now, after, dt), f"dt = {dt}")
    np.testing.assert_array_equal(control.joint_f.numpy(), before)


@pytest.mark.parametrize("dt", ["0.01", object(), [0.01]])
def test_time_step_that_is_no_number_is_refused(dt, rng) -> None:
    actuator = made()
    now = actuator.state()
    given = frame(rng)
    for _ in range(2):
        refused(TypeError, lambda: actuator.step(*given, now, now, dt), r"^dt = .* must be a number, not ")
        actuator.step(*given, now, now, DT)


def test_time_step_may_be_nothing(rng) -> None:
    actuator, state = made(), made().state()
    actuator.step(*frame(rng), state, state, 0)
    assert not state.controller_state.integral.numpy().any()
    control = frame(rng)[1]
    pd().step(frame(rng)[0], control)
    pd().step(frame(rng)[0], control, dt=0)
    assert control.joint_f.numpy().all()
    refused(ValueError, lambda: pd().step(*frame(rng), dt=-1), "dt = -1")


def test_steps_launch_nothing(backend, rng, monkeypatch) -> None:
    if backend == "Warp":
        pytest.skip("Warp launches")
    actuator, group = made(), aa.ActuatorGroup([made(), pd()])
    now, after, states = actuator.state(), actuator.state(), group.state()
    frames = [frame(rng) for _ in range(3)]
    for name in ("launch", "copy", "clone"):
        monkeypatch.setattr(wp, name, None)
    for state, control in frames:
        actuator.step(state, control, now, after, DT)
        actuator.step(state, control, after, now, DT)
        group.step(state, control, states, states, DT)
        assert control.joint_f.numpy().any()


def as_slots(source):
    one = type("Slots", (), {"__slots__": (*vars(source), "__weakref__")})()
    for name, value in vars(source).items():
        setattr(one, name, value)
    return one


def as_properties(source):
    return type("Properties", (), {name: property(lambda _, v=value: v) for name, value in vars(source).items()})()


@cases(
    "kind",
    *(lambda source: dict(vars(source)), lambda source: UserDict(vars(source)), as_slots, as_properties),
    ids=["dict", "mapping", "slots", "properties"],
)
def test_whatever_holds_the_arrays_they_are_found(kind, rng) -> None:
    actuators, states = (made(), made()), (made().state(), made().state())
    for _ in range(5):
        state, control = frame(rng)
        other = SimpleNamespace(**vars(control) | {"joint_f": full(0)})
        actuators[0].step(state, control, states[0], states[0], DT)
        actuators[1].step(kind(state), kind(other), states[1], states[1], DT)
        np.testing.assert_array_equal(control.joint_f.numpy(), other.joint_f.numpy())
        assert other.joint_f.numpy().any()


def test_renamed_arrays_are_found(rng) -> None:
    """Targets have other names since newton 1.3; the one that is asked for comes first."""
    state, control = frame(rng)
    renamed = SimpleNamespace(
        joint_target_q=control.joint_target_pos,
        joint_target_qd=control.joint_target_vel,
        joint_act=control.joint_act,
        joint_f=full(0),
    )
    pd().step(state, renamed)
    one = pd()
    one.step(state, control)
    np.testing.assert_array_equal(control.joint_f.numpy(), renamed.joint_f.numpy())
    control.joint_target_q, control.joint_f = full(100), full(0)
    one.step(state, control)
    assert (control.joint_f.numpy() > 50).all()


def test_an_attribute_that_raises_is_heard(rng) -> None:
    state, control = frame(rng)

    class Angry:
        calm = True

        @property
        def joint_q(self) -> wp.array:
            if not self.calm:
                raise RuntimeError("not now")
            return state.joint_q

        joint_qd = state.joint_qd

    actuator, angry = pd(), Angry()
    actuator.step(angry, control)
    angry.calm = False
    for one in (actuator, pd()):
        with pytest.raises(RuntimeError, match="not now"):
            one.step(angry, control)


def laid_out(kind: str, values: np.ndarray, at: np.ndarray) -> tuple[wp.array, wp.array]:
    step = 3 if kind == "strided" else 1
    base = np.full(step * 40, 77, np.float32)
    base[::step][at] = values
    array = wp.array(base, dtype=wp.float32, device="cpu")
    spread = np.zeros(step * len(at), np.uint32)
    spread[::step] = at
    return array[::step], wp.array(spread, dtype=wp.uint32, device="cpu")[::step]


PLACES = {
    "consecutive": np.arange(7, 7 + N),
    "scattered": np.array([2, 9, 30, 31]),
    "strided": np.arange(0, 4 * N, 4),
    "permuted": np.array([5, 3, 6, 4]),
}


@pytest.mark.parametrize("kind", PLACES)
def test_where_joints_stand_changes_no_bit(kind) -> None:
    rng, plain = np.random.default_rng(3), made(control_computed_output_attr="computed")
    at = PLACES[kind]
    _, index = laid_out(kind, np.zeros(N), at)
    other = made(indices=index, control_computed_output_attr="computed")
    states = plain.state(), other.state()
    for _ in range(8):
        state, control = frame(rng)
        control.computed = full(0)
        with_nan = control.joint_act.numpy()
        with_nan[rng.random(N) < 0.1] = np.nan
        plain.step(state, control, states[0], states[0], DT)
        one, two = (
            SimpleNamespace(**{name: laid_out(kind, array.numpy(), at)[0] for name, array in vars(source).items()})
            for source in (state, control)
        )
        outputs = two.joint_f.numpy(), two.computed.numpy()
        for output in outputs:
            output[at] = 0
        other.step(one, two, states[1], states[1], DT)
        for output, expected in zip(outputs, (control.joint_f, control.computed), strict=True):
            np.testing.assert_array_equal(output[at], expected.numpy())
            assert (np.delete(output, at) == 77).all()
    assert plain.faults == other.faults != []


def test_an_index_that_changes_acts_at_the_next_step() -> None:
    at = indices([0, 1])
    actuator = pd(count=2, indices=at)
    state = SimpleNamespace(joint_q=full(0, count=6), joint_qd=full(0, count=6))
    control = SimpleNamespace(joint_target_pos=floats(range(6)), joint_target_vel=full(0, count=6))
    for places in ([0, 1], [2, 3], [3, 2], [5, 0], [4, 4]):
        at.assign(np.array(places, np.uint32))
        control.joint_f = full(0, count=6)
        for _ in range(2):
            actuator.step(state, control)
        expected = np.zeros(6)
        np.add.at(expected, places, 2.0 * np.array(places))
        assert control.joint_f.numpy().tolist() == expected.tolist()


@pytest.mark.parametrize("count", [1, 150, 1000])
def test_an_actuator_sees_what_those_before_it_wrote(count) -> None:
    def chain() -> list[aa.Actuator]:
        names = [("joint_target_pos", "one"), ("one", "two"), ("two", "joint_f"), ("one", "joint_f")]
        return [
            pd(kp, count, control_target_pos_attr=target, control_output_attr=output)
            for kp, (target, output) in zip((2, 3, 5, 7), names, strict=True)
        ]

    group, singly, rng = aa.ActuatorGroup(chain()), chain(), np.random.default_rng(1)
    for _ in range(3):
        state, control = frame(rng, count)
        other = SimpleNamespace(**vars(control))
        for outputs in (control, other):
            outputs.one, outputs.two, outputs.joint_f = (full(0, count=count) for _ in range(3))
        group.step(state, control)
        for one in singly:
            one.step(state, other)
        for name in ("one", "two", "joint_f"):
            np.testing.assert_array_equal(getattr(control, name).numpy(), getattr(other, name).numpy())
        assert control.joint_f.numpy().any()


def test_an_actuator_sees_the_one_number_it_shares_with_another() -> None:
    count, found = 1000, []
    for group in (True, False):
        chain = [pd(2, count, control_output_attr="one"), pd(3, count, control_target_pos_attr="two")]
        state, control = frame(np.random.default_rng(1), count)
        memory = np.zeros(2 * count - 1, np.float32)
        control.one, control.two = (
            wp.array(part, dtype=wp.float32, device="cpu", copy=False) for part in (memory[:count], memory[count - 1 :])
        )
        for one in [aa.ActuatorGroup(chain)] if group else chain:
            one.step(state, control)
        assert memory[count - 1] != 0.0
        found.append(control.joint_f.numpy())
    np.testing.assert_array_equal(*found)


def test_nothing_is_written_when_one_of_several_cannot_step(rng) -> None:
    """Everything is looked through first: an index of the last stops the first."""
    last = pd()
    group = aa.ActuatorGroup([made(), pd(), last])
    states = group.state()
    given = frame(rng)
    group.step(*given, states, states, DT)
    before = [given[1].joint_f.numpy().copy(), *(array.copy() for array in memory_of(states[0]))]
    last.indices.numpy()[2] = 17
    if native.core is None:
        pytest.skip("one after the other, those before it have stepped")
    refused(ValueError, lambda: group.step(*given, states, states, DT), "index 17 into joint_q")
    np.testing.assert_equal([given[1].joint_f.numpy(), *memory_of(states[0])], before)


def test_more_arrays_than_one_actuator_has() -> None:
    group = aa.ActuatorGroup([pd(control_output_attr=f"f{n}", control_target_pos_attr=f"t{n}") for n in range(20)])
    state = SimpleNamespace(joint_q=full(0), joint_qd=full(0))
    control = SimpleNamespace(joint_target_vel=full(0))
    for n in range(20):
        setattr(control, f"f{n}", full(0))
        setattr(control, f"t{n}", full(n))
    for _ in range(3):
        group.step(state, control)
    assert [getattr(control, f"f{n}").numpy()[0] for n in range(20)] == [3 * n for n in range(20)]


def test_what_is_known_is_not_looked_for_again(rng, monkeypatch) -> None:
    actuator = made()
    frames, states = [frame(rng) for _ in range(5)], [actuator.state() for _ in range(5)]
    looked: list[str] = []
    for name in ("_binding", "_step_state"):
        known = getattr(calls, name)
        monkeypatch.setattr(calls, name, lambda *given, n=name, k=known: looked.append(n) or k(*given))
    for one, state in zip(frames[:4], states[:4], strict=True):
        actuator.step(*one, state, state, DT)
    assert looked == ["_binding", "_step_state"] * 4
    looked.clear()
    for one, state in itertools.product(frames[:4], states[:4]):
        actuator.step(*one, state, state, DT)
    assert looked == []
    actuator.step(*frames[4], states[4], states[4], DT)
    actuator.step(*frames[3], states[3], states[3], DT)
    assert looked == ["_binding", "_step_state"]
    actuator.step(*frames[0], states[0], states[0], DT)
    assert looked == ["_binding", "_step_state"] * 2


def test_states_before_are_distinguished(rng) -> None:
    given = frame(rng)

    def effort(actuator: aa.Actuator, now, after) -> np.ndarray:
        given[1].joint_f.zero_()
        actuator.step(*given, now, after, DT)
        return given[1].joint_f.numpy().copy()

    actuator, alone = made(), made()
    one, two, after, state = *(actuator.state() for _ in range(3)), alone.state()
    expected = [effort(alone, state, state) for _ in range(4)]
    for _ in range(3):
        effort(actuator, two, two)
    for now, right in ((one, expected[0]), (two, expected[3])) * 2:
        np.testing.assert_array_equal(effort(actuator, now, after), right)
    assert (expected[0] != expected[3]).any()


def test_other_arrays_in_the_same_state_are_seen(rng) -> None:
    actuator, state = made(), made().state()
    given = frame(rng)
    actuator.step(*given, state, state, DT)
    gone = state.controller_state.integral
    before = gone.numpy().copy()
    for number in range(6):
        if number % 2:
            state.controller_state = made().controller.state(N, "cpu")
        else:
            state.controller_state.integral = full(0)
        actuator.step(*given, state, state, DT)
        assert state.controller_state.integral.numpy().any()
    np.testing.assert_array_equal(gone.numpy(), before)
    state.delay_state = None
    refused(ValueError, lambda: actuator.step(*given, state, state, DT), "delay_state = None")


def test_an_array_that_is_laid_out_anew_is_read_as_it_lies() -> None:
    actuator = aa.Actuator(indices(range(N)), aa.ControllerPD(full(-1.0), full(0.0)))
    state = SimpleNamespace(joint_q=np.arange(4 * N, dtype=np.float32)[:N], joint_qd=np.zeros(N, np.float32))
    targets = (np.zeros(N, np.float32) for _ in range(3))
    control = SimpleNamespace(**dict(zip(CONTROL, (*targets, np.zeros(N, np.float32)), strict=True)))
    for distance in (1, 4, 0, 1):
        with warnings.catch_warnings():
            # later versions of NumPy say not to
            warnings.simplefilter("ignore", DeprecationWarning)
            state.joint_q.strides = (4 * distance,)
        control.joint_f[:] = 0.0
        actuator.step(state, control)
        np.testing.assert_array_equal(control.joint_f, distance * np.arange(N))


def test_another_part_of_an_actuator_acts_at_the_next_step(rng) -> None:
    state, control = (SimpleNamespace(**{name: full(0) for name in names}) for names in (STATE, CONTROL))
    control.joint_target_pos.fill_(1.0)
    actuator = pd(6)

    def effort() -> float:
        control.joint_f = full(0)
        actuator.step(state, control)
        return float(control.joint_f.numpy()[1])

    state.joint_q.numpy()[0] = np.nan
    assert effort() == 6
    actuator.controller.kp = full(5)
    assert effort() == 5
    actuator.clamping.append(aa.ClampingMaxEffort(full(4)))
    assert effort() == 4
    actuator.clamping[0].max_effort = full(3)
    assert effort() == 3
    actuator.clamping[0] = aa.ClampingMaxEffort(full(2))
    assert effort() == 2
    actuator.clamping = []
    assert effort() == 5
    actuator.controller = aa.ControllerPD(full(1), full(0))
    assert effort() == 1
    actuator.effort_indices = indices([0, 2, 1, 3])
    control.joint_target_pos.numpy()[2] = 8
    assert effort() == 8
    state.joint_q.numpy()[3] = np.nan
    assert effort() == 8 and [(fault.robot, fault.step) for fault in actuator.faults] == [(0, 0), (3, 8)]


def test_what_was_bound_stays_alive(rng) -> None:
    """As long as it may be stepped again, and no longer: what was known by its identity has not become another."""
    actuator, state = made(), made().state()
    for _ in range(30):
        given = frame(rng)
        actuator.step(*given, state, state, DT)
        assert given[1].joint_f.numpy().copy().any()
        del given
        gc.collect()
    garbage = [floats(np.full(N, np.nan)) for _ in range(200)]
    actuator.step(*frame(rng), state, state, DT)
    assert actuator.faults == [] and len(garbage) == 200


def test_nothing_is_kept_alive_for_ever(backend, rng) -> None:
    """Actuators, groups and what they were bound to go when nobody holds them; old frames go before that."""
    actuator, other = made(), made()
    group = aa.ActuatorGroup([actuator, other])
    states = group.state()
    frames, pairs = [], []
    for _ in range(20):
        given, pair = frame(rng), group.state()
        group.step(*given, pair, pair, DT)
        actuator.step(*given, pair[0], pair[0], DT)
        frames.append(weakref.ref(given[0].joint_q))
        pairs.append(weakref.ref(pair[0]))
    del given, pair
    gc.collect()
    # launches stay recorded with what they stand on
    most = 4 if backend == "core" else 16
    assert sum(one() is not None for one in frames) <= most and sum(one() is not None for one in pairs) <= most
    watched = [*frames, *pairs, *map(weakref.ref, (actuator, other, group, states[0]))]
    del actuator, other, group, states
    gc.collect()
    assert [one() for one in watched] == [None] * len(watched)


def test_unchanged_sees_every_change() -> None:
    one, two = object(), object()
    assert unchanged([({"a": one}, (one,)), ([one, two], (one, two)), contents([]), contents({"a": 1})])
    for container in ({"a": two}, {"a": one, "b": two}, {}, [two], [], [one, two]):
        assert not unchanged([(container, (one,))]) and unchanged([contents(container)])


class OfCore:
    def __init__(self, **changed) -> None:
        self.actuator = made()
        step = self.actuator.compiled()
        self.plan = step.core
        self.state = step.as_bound(step.new_state())
        arguments = {
            "plans": [self.plan],
            "state_names": [("joint_q",), ("joint_qd",)],
            "control_names": [(name,) for name in CONTROL],
            "watched": [],
            "stateful": True,
            "timed": True,
        }
        self.calls = native.core.Calls(**arguments | changed)
        self.state_object, self.control = frame(np.random.default_rng(1))
        self.objects = [*vars(self.state_object).values(), *vars(self.control).values()]
        arrays = [array.numpy() for array in self.objects]
        at = np.arange(N, dtype=np.uint32)
        self.frame = [self.objects, [[*STATE, *CONTROL, ""]], [[*arrays, None]], [[at] * 7]]

    def add_frame(self, at: int, given) -> None:
        self.frame[at] = given
        self.calls.add_frame(*self.frame)

    def step(self, dt=DT, now=None) -> bool:
        return self.calls.step(self.state_object, self.control, now, now, dt)


@pytest.fixture
def native_only(backend: str) -> None:
    if backend == "Warp":
        pytest.skip("the core's own")


@pytest.mark.usefixtures("native_only")
@cases(
    "call, words",
    (lambda: OfCore().add_frame(0, []), "objects: must be one per name"),
    (lambda: OfCore().add_frame(1, []), "arrays: must be those of each plan"),
    (lambda: OfCore().add_frame(2, []), "arrays: must be those of each plan"),
    (lambda: OfCore().add_frame(3, []), "arrays: must be those of each plan"),
    (lambda: OfCore().add_frame(1, [["q"]]), "five signals and two outputs, each with a name"),
    (lambda: OfCore().add_frame(2, [[np.zeros(N)] * 7]), "joint_q has dtype float64"),
    (lambda: OfCore().add_frame(2, [[read_only()] * 7]), "joint_f: must be writeable"),
    (lambda: OfCore().add_frame(3, [[np.zeros(N, np.int32)] * 7]), "indices of joint_q has dtype int32"),
    (lambda: OfCore().add_frame(3, [[np.zeros(2, np.uint32)] * 7]), "indices of joint_q has 2 elements: must be 4"),
    (lambda: OfCore().calls.add_states(None, None, [], [], []), "states: must be one per actuator"),
    (lambda: native.core.Calls([OfCore().plan] * 2, [], [], [], False, False), "plans: must be all different"),
    (lambda: native.core.unchanged([1]), "1: must be a pair"),
    (lambda: native.core.unchanged([(1, 2, 3)]), "must be a pair"),
    (lambda: native.core.unchanged([({}, [])]), "must be a tuple"),
)
def test_bad_arguments_are_refused_by_name(call, words) -> None:
    """The binding checks type, shape and range: nothing reaches memory that it should not."""
    refused(ValueError, call, words)


@pytest.mark.usefixtures("native_only")
@pytest.mark.parametrize("given", [None, 1, object()])
def test_arguments_of_another_kind_are_refused(given) -> None:
    one = OfCore()
    for call in (
        lambda: native.core.Calls([given], [], [], [], False, False),
        lambda: native.core.Calls([], [given], [], [], False, False),
        lambda: native.core.Calls([], [], [given], [], False, False),
        lambda: native.core.Calls([], [], [], given, False, False),
        lambda: one.calls.add_states(1, 2, [given], [one.state], []),
        lambda: one.calls.add_states(1, 2, [one.state], [given], []),
        lambda: one.calls.add_states(1, 2, [one.state], [one.state], given),
        lambda: native.core.unchanged(given),
    ):
        refused((TypeError, RuntimeError), call)


@pytest.mark.usefixtures("native_only")
def test_core_steps_what_it_knows_and_nothing_else() -> None:
    """It returns True if it stepped; Python handles bad numbers of seconds, other arrays and other contents."""
    one, state = OfCore(watched=[]), object()
    assert not one.step()
    one.calls.add_frame(*one.frame)
    assert not one.step()
    one.calls.add_states(state, state, [one.state], [one.state], [])
    assert one.step(now=state) and one.control.joint_f.numpy().any()
    for dt in (None, -1.0, np.nan, np.inf):
        assert not one.step(dt, state)
    assert not one.step(now=object()) and not one.calls.step(one.state_object, {}, state, state, DT)
    one.control.joint_f = full(0)
    assert not one.step(now=state) and one.actuator.compiled().steps == 1


@pytest.mark.usefixtures("native_only")
def test_what_the_core_has_met_it_steps_alone(rng, monkeypatch) -> None:
    actuator = made()
    one, state = frame(rng), actuator.state()
    monkeypatch.setattr(actuator.compiled(), "step", lambda *_given: pytest.fail("step"))
    actuator.step(*one, state, state, DT)
    for name in ("_bind", "_use"):
        monkeypatch.setattr(Calls, name, lambda *_given, name=name: pytest.fail(name))
    actuator.step(*one, state, state, DT)
    assert actuator.compiled().steps == 2


@cases("dt", -1.0, np.nan, np.inf, -(10**400), 10**400, ids=["negative", "nan", "inf", "small", "large"])
def test_seconds_that_are_no_step_are_refused(rng, dt) -> None:
    actuator = made()
    state = actuator.state()
    refused(ValueError, lambda: actuator.step(*frame(rng), state, state, dt), "finite number of seconds >= 0")


@pytest.mark.usefixtures("native_only")
def test_a_group_on_a_tape_remembers_the_same() -> None:
    found = []
    for taped in (False, True):
        rng, group = np.random.default_rng(3), aa.ActuatorGroup([made(requires_grad=taped), made(requires_grad=taped)])
        now, after = group.state(), group.state()
        for _ in range(4):
            with wp.Tape() if taped else contextlib.nullcontext():
                group.step(*frame(rng), now, after, DT)
            now, after = after, now
        found.append([array.copy() for state in now for array in memory_of(state)])
    assert all(np.array_equal(plain, on_tape) for plain, on_tape in zip(*found, strict=True)) and found[0][-1].any()


@pytest.mark.usefixtures("native_only")
def test_a_plan_does_not_point_to_what_its_calls_kept() -> None:
    one, state = OfCore(), object()
    one.calls.add_frame(*one.frame)
    one.calls.add_states(state, state, [one.state], [one.state], [])
    assert one.step(now=state)
    del one.calls
    refused(RuntimeError, lambda: one.plan.step(DT), r"Call bind\(\) first")
    one.plan.bind_indices(*(arrays[0] for arrays in one.frame[1:]))
    refused(RuntimeError, lambda: one.plan.step(DT), r"Call use\(\) first")
    one.plan.reset()
    one.plan.reset([1])
    one.plan.use(one.state, one.state)
    one.plan.step(DT)
    assert one.plan.steps == 1


@pytest.mark.usefixtures("native_only")
def test_another_kind_of_container_is_a_change() -> None:
    one = object()
    assert not native.core.unchanged([((one,), (one,))]) and not native.core.unchanged([(object(), (one,))])


@pytest.mark.usefixtures("native_only")
def test_instruction_sets_agree_in_every_bit(monkeypatch) -> None:
    results = set()
    for name in native.core.variants():
        monkeypatch.setenv("ACTUATORS_ISA", name)
        rng, group = np.random.default_rng(4), aa.ActuatorGroup([made(1150), pd(3, 1150), made(1150)])
        now, after = group.state(), group.state()
        for _ in range(6):
            state, control = frame(rng, 1150)
            group.step(state, control, now, after, DT)
            now, after = after, now
        results.add(control.joint_f.numpy().tobytes())
    assert len(results) == 1
