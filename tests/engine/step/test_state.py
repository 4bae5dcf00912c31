"""Saved states: one layout per actuator, restored completely or not at all."""

import io

import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators import ControllerPD, Delay
from isaacsim.core.experimental.actuators.engine.entry import ActuatorEntry
from isaacsim.core.experimental.actuators.engine.plan import compile_plan
from isaacsim.core.experimental.actuators.engine.step import state
from isaacsim.core.experimental.actuators.engine.step.binding import Columns
from isaacsim.core.experimental.actuators.engine.step.native import NativeStep, has_native_core
from isaacsim.core.experimental.actuators.engine.step.warp import WarpStep
from refusals import cases, refused
from step_bench import NAMES, ROBOTS, Bench, built_in_entries, draw, entries, full, mixed_plan


def warp(entries: list[ActuatorEntry]) -> WarpStep:
    return WarpStep(compile_plan(entries, ROBOTS), "cpu")


def native(entries: list[ActuatorEntry]) -> NativeStep:
    if not has_native_core():
        pytest.skip("the native core was not built")
    return NativeStep(compile_plan(entries, ROBOTS))


ENGINES = cases(
    "engines",
    (entries, warp, warp),
    (built_in_entries, native, native),
    (built_in_entries, native, warp),
    (built_in_entries, warp, native),
    ids=["warp", "native", "native to warp", "warp to native"],
)
WARP = entries, warp


class Whole:
    def __init__(self, entries, engine) -> None:
        step = engine(entries())
        self.bench, self.parts = Bench(step), [(list(range(len(NAMES))), step)]

    def step(self, inputs: np.ndarray) -> np.ndarray:
        return self.bench.step(inputs)


class Split:
    """The same actuators in two steps, in another order, so that rings have other depths and rows other places."""

    def __init__(self, entries, engine) -> None:
        made, self.parts, self.arrays = entries(), [], []
        for joints in ([2, 0], [3, 1]):
            step = engine([made[joint] for joint in joints])
            arrays = [wp.zeros((ROBOTS, 2), dtype=wp.float32, device="cpu") for _ in range(6)]
            step.bind(Columns([0, 1], arrays[:5], arrays[5]))
            self.parts.append((joints, step))
            self.arrays.append(arrays)

    def step(self, inputs: np.ndarray) -> np.ndarray:
        efforts = np.zeros((ROBOTS, len(NAMES)), np.float32)
        for (joints, step), arrays in zip(self.parts, self.arrays, strict=True):
            for array, values in zip(arrays, inputs[:, :, joints], strict=False):
                array.assign(np.ascontiguousarray(values))
            step.step(0.01)
            efforts[:, joints] = arrays[5].numpy()
        return efforts


def through_a_file(saved: dict[str, np.ndarray]):
    file = io.BytesIO()
    np.savez(file, **saved)
    file.seek(0)
    return np.load(file)


def faults(made) -> list[tuple[int, int, int, int]]:
    return sorted((robot, joints[slot], *rest) for joints, part in made.parts for robot, slot, *rest in part.faults())


@pytest.mark.parametrize("steps", [0, 1, 2, 7])
@pytest.mark.parametrize(("first", "second"), [(Whole, Whole), (Whole, Split), (Split, Whole)])
@ENGINES
@pytest.mark.slow("warp")
def test_it_goes_on_bit_for_bit(engines, first, second, steps, rng) -> None:
    of, before, after = engines
    source, target = first(of, before), second(of, after)
    for _ in range(steps):
        source.step(draw(rng))
    for _ in range(3):
        target.step(draw(rng))
    state.restore(target.parts, through_a_file(state.save(source.parts)))
    for _ in range(8):
        inputs = draw(rng)
        np.testing.assert_array_equal(target.step(inputs), source.step(inputs))
    assert faults(source) == faults(target) and len(faults(source)) > 2
    saved, other = state.save(source.parts), state.save(target.parts)
    assert {*saved} == {*other}
    for name in saved:
        np.testing.assert_array_equal(saved[name], other[name], err_msg=name)


def test_names_say_whose_what_is(rng) -> None:
    made = Whole(*WARP)
    commands = []
    for _ in range(4):
        inputs = draw(rng, faults=False)
        commands.append(inputs[2, :, 1])
        made.step(inputs)
    saved = state.save(made.parts)
    ring = [f"delay.{name}" for name in ("buffer_act", "buffer_pos", "buffer_vel", "num_pushes")]
    assert sorted(saved) == sorted(
        [
            *("faults", "layout", "steps", "version"),
            *(f"/A/knee.{name}" for name in (*ring, "controller.integral")),
            *(f"/A/ankle.{name}" for name in (*ring, "controller.count", "controller.level", "clamping.0.last")),
            "/A/toe.clamping.0.last",
        ]
    )
    np.testing.assert_array_equal(saved["/A/knee.delay.buffer_pos"], commands[1:])
    # four commands in a ring of five: the row before them has what is as old as any
    assert saved["/A/ankle.delay.buffer_pos"].shape == (5, ROBOTS)
    assert saved["/A/ankle.delay.num_pushes"].tolist() == [5] * ROBOTS
    assert saved["/A/ankle.controller.count"].tolist() == [4] * ROBOTS
    assert saved["steps"].tolist() == [4] and saved["layout"].tolist() == [state.LAYOUT]


def without(name: str):
    return lambda saved: {key: values for key, values in saved.items() if key != name}


def with_(**changed):
    return lambda saved: saved | changed


KNEE = "/A/knee.controller.integral"


@pytest.mark.parametrize("engine", [warp, native])
@cases(
    "change, words",
    (without("layout"), "saved state has no layout number, as those that versions up to 0.2.0 wrote: must be 2"),
    (with_(layout=np.array([7]), version=np.array(["9.1.0"])), "has layout 7, of version 9.1.0: must be 2"),
    (with_(layout=np.array([])), "has layout None"),
    (without(KNEE), f"{KNEE} is missing"),
    (lambda saved: saved | {"/A/elbow.x": np.zeros(3)}, "/A/elbow.x is of no actuator here"),
    (lambda saved: saved | {KNEE: np.zeros(3)}, f"{KNEE} is float64"),
    (lambda saved: saved | {KNEE: np.zeros(4, np.float32)}, rf"{KNEE} is float32 \(4,\), not float32 \(3,\)"),
    (lambda saved: saved | {KNEE: [0.0, 0.0, 0.0]}, f"{KNEE} is float64"),
    (lambda saved: saved | {KNEE: None}, f"{KNEE} is object"),
    (lambda saved: saved | {KNEE: "text"}, f"{KNEE} is <U4"),
    (without("steps"), "saved steps"),
    (with_(steps=np.array([-1])), "saved steps = .*>= 0"),
    (with_(steps=np.array([2**40])), "saved steps"),
    (with_(steps=np.array([2**31])), "saved steps"),
    (with_(steps="abc"), "saved steps"),
    (without("faults"), "saved faults"),
    (with_(faults=np.array([[0, 9, 1, 0]])), "saved faults"),
    (with_(faults=np.array([[3, 0, 1, 0]])), "saved faults"),
    (with_(faults=np.array([[0, 0, 128, 0]])), "saved faults"),
    (with_(faults=np.array([[0.0, 0.0, 1.0, 0.0]])), "saved faults"),
    (with_(faults=np.array([1, 2, 3])), "saved faults"),
)
def test_what_does_not_fit_is_refused_and_changes_nothing(change, words, engine, rng) -> None:
    made = Split(built_in_entries, engine)
    for _ in range(3):
        made.step(draw(rng))
    wrong = change(state.save(made.parts))
    for _ in range(3):
        made.step(draw(rng))
    before = state.save(made.parts)
    refused(ValueError, lambda: state.restore(made.parts, wrong), words)
    after = state.save(made.parts)
    assert {*before} == {*after} and all(np.array_equal(before[name], after[name]) for name in before)


def test_another_longest_delay_is_refused() -> None:
    for longest in (3, 4):
        delay = Delay(wp.array([2] * ROBOTS, dtype=wp.int32, device="cpu"), longest)
        step = WarpStep(compile_plan([ActuatorEntry("a", ("a",), ControllerPD(full(1), full(0)), [], delay)], 3), "cpu")
        if longest == 3:
            saved = state.save([([0], step)])
    with pytest.raises(ValueError, match=r"a.delay.buffer_pos is float32 \(3, 3\), not float32 \(4, 3\)"):
        state.restore([([0], step)], saved)


def test_nothing_to_save_is_saved_too() -> None:
    saved = state.save([])
    state.restore([], saved)
    assert saved["steps"].tolist() == [0] and saved["faults"].shape == (0, 4)


def test_states_of_both_kinds_of_arrays_are_laid_out_alike() -> None:
    plan = mixed_plan()
    native, on_device = state.new_state(plan), state.new_state(plan, "cpu")
    for mine, other in zip(native.arrays(), on_device.arrays(), strict=True):
        assert isinstance(mine, np.ndarray) and isinstance(other, wp.array)
        np.testing.assert_array_equal(mine, other.numpy())
        assert mine.dtype == other.numpy().dtype
    assert native.write_idx.tolist() == [plan.depth - 1] == [4]
    assert [[len(values) for values in law] for law in native.laws] == [[3], [3, 3], [6]]


@pytest.mark.parametrize("device", [None, "cpu"])
def test_states_are_copied_whole(device) -> None:
    plan = mixed_plan()
    source, target = state.new_state(plan, device), state.new_state(plan, device)
    for number, array in enumerate(source.arrays()):
        (array.fill if device is None else array.fill_)(number)
    state.copy_state(source, target)
    assert isinstance(target, state.StepState)
    for number, array in enumerate(target.arrays()):
        assert (np.asarray(array if device is None else array.numpy()) == number).all()


def test_two_actuators_of_one_name_are_ambiguous() -> None:
    entry = ActuatorEntry("/A/knee", ("knee",), ControllerPD(full(1), full(0)), [], None)
    parts = [([joint], WarpStep(compile_plan([entry], ROBOTS), "cpu")) for joint in range(2)]
    refused(ValueError, lambda: state.save(parts), "two actuators are called '/A/knee'")
