"""Actuators on arrays of one's own: what the wrapper computes, where the arrays lie, without a copy."""

import gc
import subprocess
import sys
import tracemalloc
import warnings
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators import ActuatedArrays, ActuatorConfig, ClampingMaxEffort
from isaacsim.core.experimental.actuators.base import native as package_native
from isaacsim.core.experimental.actuators.base.native import core
from isaacsim.core.experimental.actuators.simulators.arrays import ArraysHost
from own_components import Loaded
from refusals import cases, refused

NAMES, ROBOTS, DT = ["hip", "free", "knee", "ankle"], 3, 0.005
Make = Callable[[np.ndarray], Any]


def full(value: float, robots: int = ROBOTS, dtype=wp.float32) -> wp.array:
    return wp.full(robots, value, dtype=dtype, device="cpu")


def motors(robots: int = ROBOTS) -> list[tuple[ActuatorConfig, str]]:
    """PD with a motor, PID with a delay, PD with a limit; one joint has none."""
    kp, kd, ki, most = (full(value, robots) for value in (10, 1, 2, 8))
    dc = aa.ClampingDCMotor(full(9, robots), full(5, robots), full(9, robots))
    lag = aa.Delay(full(2, robots, wp.int32), 2)
    return [
        (ActuatorConfig(aa.ControllerPD(kp, kd), [ClampingMaxEffort(most)]), "ankle"),
        (ActuatorConfig(aa.ControllerPD(kp, kd), [dc]), "hip"),
        (ActuatorConfig(aa.ControllerPID(kp, kd, ki, most), [ClampingMaxEffort(most)], lag), "knee"),
    ]


def signals(count: int, robots: int = ROBOTS) -> Iterator[list[np.ndarray]]:
    random = np.random.default_rng(7)
    for _ in range(count):
        yield [random.normal(size=(robots, len(NAMES))).astype(np.float32) for _ in range(5)]


def of_wrapper(count: int) -> list[np.ndarray]:
    host, efforts = ArraysHost(NAMES, ROBOTS), []
    with aa.use_host(host):
        host.play()
        with aa.ArticulationActuators.from_actuators("/Robot_.*", motors()) as wrapper:
            arrays = host.arrays()
            assert arrays is not None
            names = ("positions", "velocities", "position_targets", "velocity_targets")
            for given in signals(count):
                for name, values in zip(names, given, strict=False):
                    getattr(arrays, name)[:] = values.ravel()
                wrapper.set_dof_feedforward_effort_targets(given[4])
                wrapper.step_actuators(DT)
                efforts.append(arrays.efforts.reshape(ROBOTS, -1).copy())
    return efforts


def make_of(library: str) -> Make:
    if library == "numpy":
        return np.array
    if library == "warp":
        return lambda values: wp.array(values, dtype=wp.float32, device="cpu")
    module = pytest.importorskip(library)
    return module.tensor if library == "torch" else module.numpy.asarray


def pointer(array) -> int:
    if isinstance(array, wp.array):
        return int(array.ptr or 0)
    for name in ("data_ptr", "unsafe_buffer_pointer"):
        if hasattr(array, name):
            return getattr(array, name)()
    return array.ctypes.data


LIBRARIES = ["numpy", "warp", "torch", "jax"]


@pytest.mark.parametrize("library", LIBRARIES)
def test_every_library_gets_the_efforts_of_the_wrapper(library) -> None:
    make = make_of(library)
    actuated = ActuatedArrays(NAMES, motors(), ROBOTS)
    for (q, qd, target, qd_target, feedforward), expected in zip(signals(20), of_wrapper(20), strict=True):
        arrays = [make(one) for one in (q, qd, target)]
        more = {"qd_target": make(qd_target), "feedforward": make(feedforward)}
        efforts = actuated.step(*arrays, DT, **more)
        assert type(efforts) is type(arrays[0])
        values = efforts.numpy() if hasattr(efforts, "numpy") else np.asarray(efforts)
        np.testing.assert_array_equal(values, expected)
    assert np.abs(expected).max() > 1


@pytest.mark.parametrize("library", LIBRARIES)
def test_arrays_are_read_where_they_lie(library) -> None:
    make = make_of(library)
    actuated = ActuatedArrays(NAMES, motors(), ROBOTS)
    arrays = [make(one) for one in next(signals(1))[:3]]
    seen = []
    rebind = actuated._assembly.rebind
    actuated._assembly.rebind = lambda bindings: (seen.append(bindings[0]), rebind(bindings))[1]
    efforts = actuated.step(*arrays, DT)
    assert [pointer(one) for one in seen[0].inputs[:3]] == [pointer(one) for one in arrays]
    assert (pointer(efforts) == pointer(seen[0].efforts)) is (library != "jax")


@pytest.mark.parametrize("library", ["numpy", "warp", "torch"])
def test_what_is_written_into_arrays_counts(library) -> None:
    make = make_of(library)
    actuated = ActuatedArrays(["hip"], [(ActuatorConfig(aa.ControllerPD(full(10, 1), full(1, 1))), "hip")])
    q, qd, target = (make(np.zeros((1, 1), np.float32)) for _ in range(3))
    first = actuated.step(q, qd, target, DT)
    assert float(first.numpy()[0, 0] if library != "numpy" else first[0, 0]) == 0.0
    target.fill_(0.5) if library != "numpy" else target.fill(0.5)
    assert actuated.step(q, qd, target, DT) is first
    assert float(first.numpy()[0, 0] if library != "numpy" else first[0, 0]) == 5.0


def test_jax_gets_a_new_array_each_time() -> None:
    make = make_of("jax")
    actuated = ActuatedArrays(["hip"], [(ActuatorConfig(aa.ControllerPD(full(10, 1), full(1, 1))), "hip")])
    zero, far = make(np.zeros(1, np.float32)), make(np.ones(1, np.float32))
    first = actuated.step(zero, zero, far, DT)
    second = actuated.step(zero, zero, zero, DT)
    third = actuated.step(zero, zero, far, DT)
    assert [float(one[0]) for one in (first, second, third)] == [10.0, 0.0, 10.0]


def test_tensors_that_require_gradients_are_taken_detached() -> None:
    torch = pytest.importorskip("torch")
    actuated = ActuatedArrays(["hip"], [(ActuatorConfig(aa.ControllerPD(full(10, 1), full(1, 1))), "hip")])
    target = torch.ones(1, 1, requires_grad=True)
    efforts = actuated.step(torch.zeros(1, 1), torch.zeros(1, 1), target, DT)
    assert efforts.item() == 10.0 and not efforts.requires_grad


def test_tensor_that_is_given_other_memory_is_followed() -> None:
    torch = pytest.importorskip("torch")
    actuated = ActuatedArrays(["hip"], [(ActuatorConfig(aa.ControllerPD(full(10, 1), full(1, 1))), "hip")])
    q, qd, target = (torch.zeros(1, 1) for _ in range(3))
    actuated.step(q, qd, target, DT)
    target.data = torch.ones(1, 1)
    assert actuated.step(q, qd, target, DT).item() == 10.0


RESHAPED: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "every other row": ("numpy", lambda q: set_strides(q, (32, 4))),
    "the same row": ("numpy", lambda q: set_strides(q, (0, 4))),
    "every other row of a tensor": ("torch", lambda q: q.as_strided_((ROBOTS, 4), (8, 1))),
    "other memory": ("torch", lambda q: q.set_(q.clone() + 1.0)),
}


def set_strides(array, strides: tuple[int, int]) -> None:
    with warnings.catch_warnings():
        # later versions of NumPy say not to
        warnings.simplefilter("ignore", DeprecationWarning)
        array.strides = strides


@pytest.mark.parametrize("with_core", [True, False], ids=["core", "no core"])
@pytest.mark.parametrize(("library", "change"), RESHAPED.values(), ids=RESHAPED)
def test_an_array_that_is_laid_out_anew_is_read_as_it_lies(library, change, with_core, monkeypatch) -> None:
    if not with_core:
        monkeypatch.setattr(package_native, "core", None)
    memory = make_of(library)(np.arange(2 * ROBOTS * 4, dtype=np.float32).reshape(-1, 4))
    actuated = ActuatedArrays(NAMES, {".*": [aa.PDControlConfig(1.0, 0.0)]}, ROBOTS)
    q, zero = memory[:ROBOTS], make_of(library)(np.zeros((ROBOTS, 4), np.float32))
    for _ in range(2):
        np.testing.assert_array_equal(actuated.step(q, zero, zero, DT), -np.asarray(q))
        change(q)


@pytest.mark.parametrize("with_core", [True, False], ids=["core", "no core"])
@pytest.mark.parametrize(
    ("library", "change"),
    [("numpy", lambda q: q.resize((4, 3), refcheck=False)), ("torch", lambda q: q.t_()), ("torch", lambda q: q.t_())],
    ids=["resized", "transposed", "square"],
)
def test_an_array_that_does_not_fit_any_more_is_refused(library, change, with_core, monkeypatch, request) -> None:
    """Instead of read as it lay."""
    if not with_core:
        monkeypatch.setattr(package_native, "core", None)
    robots = 4 if "square" in request.node.name else ROBOTS
    actuated = ActuatedArrays(NAMES, {".*": [aa.PDControlConfig(1.0, 0.0)]}, robots)
    arrays = [make_of(library)(np.zeros((robots, 4), np.float32)) for _ in range(3)]
    actuated.step(*arrays, DT)
    change(arrays[1])
    with pytest.raises(ValueError, match=r"qd has shape \(4, 3\): must be|qd: must be contiguous within a row"):
        actuated.step(*arrays, DT)


def test_arrays_take_turns() -> None:
    sets = list(signals(6))
    one, other = ActuatedArrays(NAMES, motors(), ROBOTS), ActuatedArrays(NAMES, motors(), ROBOTS)
    same = [np.zeros((ROBOTS, len(NAMES)), np.float32) for _ in range(3)]
    for _ in range(3):
        for given in sets:
            for array, values in zip(same, given, strict=False):
                array[:] = values
            np.testing.assert_array_equal(one.step(*given[:3], DT), other.step(*same, DT))


@pytest.mark.skipif(core is None, reason="the native core was not built")
@pytest.mark.parametrize("library", ["numpy", "torch", "jax"])
def test_new_arrays_that_lie_alike_are_looked_at_once(library, monkeypatch) -> None:
    make = make_of(library)
    if library == "torch" and not hasattr(sys.modules["torch"].Tensor, "__dlpack_c_exchange_api__"):
        pytest.skip("this version of Torch has no table of DLPack")
    one, other = ActuatedArrays(NAMES, motors(), ROBOTS), ActuatedArrays(NAMES, motors(), ROBOTS)
    looks = []
    look = one._bind
    monkeypatch.setattr(one, "_bind", lambda given: (looks.append(0), look(given))[1])
    same = [np.zeros((ROBOTS, len(NAMES)), np.float32) for _ in range(5)]
    first = None
    for values in signals(8):
        for array, new in zip(same, values, strict=True):
            array[:] = new
        q, qd, target, qd_target, feedforward = map(make, values)
        first = first or weakref.ref(q)
        found = one.step(q, qd, target, DT, qd_target=qd_target, feedforward=feedforward)
        expected = other.step(*same[:3], DT, qd_target=same[3], feedforward=same[4])
        np.testing.assert_array_equal(np.asarray(found), expected)
    gc.collect()
    assert len(looks) == 1 and first() is None


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_new_arrays_for_the_efforts_are_written(library) -> None:
    make = make_of(library)
    actuated = ActuatedArrays(["hip"], [(ActuatorConfig(aa.ControllerPD(full(10, 1), full(1, 1))), "hip")])
    zero, outs = make(np.zeros((1, 1), np.float32)), [make(np.zeros((1, 1), np.float32)) for _ in range(3)]
    for number, out in enumerate(outs):
        assert actuated.step(zero, zero, zero + float(number), DT, out=out) is out
    assert [float(out[0, 0]) for out in outs] == [0.0, 10.0, 20.0]


@pytest.mark.parametrize("name", ["q", "qd", "q_target", "qd_target", "feedforward", "out"])
def test_one_other_array_is_noticed(name) -> None:
    actuated = ActuatedArrays(["hip"], [(ActuatorConfig(aa.ControllerPD(full(10, 1), full(1, 1))), "hip")])
    names = ("q", "qd", "q_target", "qd_target", "feedforward", "out")
    arrays = {each: np.zeros((1, 1), np.float32) for each in names}
    actuated.step(**arrays, dt=DT)
    arrays[name] = np.ones((1, 1), np.float32)
    efforts = actuated.step(**arrays, dt=DT)
    expected = {"q": -10, "qd": -1, "q_target": 10, "qd_target": 1, "feedforward": 1, "out": 0}
    assert efforts is arrays["out"] and efforts.item() == expected[name]


def test_one_robot_may_leave_its_row_out() -> None:
    actuated, rows = ActuatedArrays(NAMES, motors(1)), ActuatedArrays(NAMES, motors(1))
    for q, qd, target, *_ in signals(5, 1):
        flat = actuated.step(q[0], qd[0], target[0], DT)
        assert flat.shape == (len(NAMES),)
        np.testing.assert_array_equal(flat[None], rows.step(q, qd, target, DT))


@pytest.mark.parametrize("library", ["numpy", "warp", "torch"])
def test_out_takes_the_efforts(library) -> None:
    make = make_of(library)
    actuated, own = ActuatedArrays(NAMES, motors(), ROBOTS), ActuatedArrays(NAMES, motors(), ROBOTS)
    q, qd, target, *_ = next(signals(1))
    out = make(np.full((ROBOTS, len(NAMES)), 7, np.float32))
    assert actuated.step(*(make(one) for one in (q, qd, target)), DT, out=out) is out
    expected = own.step(q, qd, target, DT).copy()
    assert not expected[:, 1].any()
    expected[:, 1] = 7
    np.testing.assert_array_equal(out if library == "numpy" else out.numpy(), expected)


@pytest.mark.parametrize("name", ["q", "qd", "q_target", "qd_target", "feedforward"])
def test_out_may_be_an_input_and_overlaps_none_in_part(name) -> None:
    """Where it is another's memory by part, what is written would be read again."""
    actuated, own = ActuatedArrays(NAMES, motors(), ROBOTS), ActuatedArrays(NAMES, motors(), ROBOTS)
    given = dict(zip(("q", "qd", "q_target", "qd_target", "feedforward"), next(signals(1)), strict=True))
    memory = np.zeros((2 * ROBOTS, 8), np.float32)
    rows = memory[:ROBOTS, :4]
    for out in (memory[:ROBOTS, 1:5], memory[1 : ROBOTS + 1, :4], memory.reshape(-1, 4)[1 : ROBOTS + 1]):
        with pytest.raises(ValueError, match=f"^out overlaps {name}: must share no memory with it, or be the same"):
            actuated.step(**(given | {name: rows}), dt=DT, out=out)
    expected = own.step(**given, dt=DT)
    rows[:] = given[name]
    found = actuated.step(**(given | {name: rows}), dt=DT, out=rows)
    np.testing.assert_array_equal(found[:, [0, 2, 3]], expected[:, [0, 2, 3]])
    rows[:] = given[name]
    found = actuated.step(**(given | {name: rows}), dt=DT, out=memory[:ROBOTS, 4:])
    np.testing.assert_array_equal(found[:, [0, 2, 3]], own.step(**given, dt=DT)[:, [0, 2, 3]])


def test_rows_of_a_larger_array_are_read_in_place() -> None:
    state = np.zeros((ROBOTS, 7 + len(NAMES)), np.float32)
    actuated, own = ActuatedArrays(NAMES, motors(), ROBOTS), ActuatedArrays(NAMES, motors(), ROBOTS)
    for q, qd, target, *_ in signals(5):
        state[:, 7:] = q
        np.testing.assert_array_equal(actuated.step(state[:, 7:], qd, target, DT), own.step(q, qd, target, DT))


@cases(
    "change, message",
    ({"q": np.zeros((3, 4))}, "q has dtype float64: must be float32"),
    ({"qd": np.zeros((3, 5), np.float32)}, r"qd has shape \(3, 5\): must be \(robots, DOFs\) = \(3, 4\)"),
    ({"q_target": np.zeros((4, 3), np.float32).T}, "q_target: must be contiguous within a row"),
    ({"q_target": [0.0]}, "q_target is a list: must be an array of NumPy, Warp"),
    ({"qd_target": np.zeros(4, np.float32)}, r"qd_target has shape \(4,\)"),
    ({"feedforward": np.zeros((3, 4), ">f4")}, "feedforward has dtype >f4"),
    ({"out": np.broadcast_to(np.zeros(4, np.float32), (3, 4))}, "out: must be"),
    ({"dt": 0.0}, "dt = 0.0: must be a finite number of seconds > 0"),
    ({"dt": float("nan")}, "dt = nan: must be"),
)
def test_what_cannot_be_used_is_refused_by_name(change, message) -> None:
    actuated = ActuatedArrays(NAMES, motors(), ROBOTS)
    good = {name: np.zeros((3, 4), np.float32) for name in ("q", "qd", "q_target")} | {"dt": DT}
    for _ in range(3):
        with pytest.raises(ValueError, match=message):
            actuated.step(**(good | change))
        assert not actuated.step(**good).any()


def test_jax_arrays_cannot_be_written_to() -> None:
    out = make_of("jax")(np.zeros((3, 4), np.float32))
    arrays = next(signals(1))[:3]
    with pytest.raises(ValueError, match="out is an array of JAX: must be one that can be written to"):
        ActuatedArrays(NAMES, motors(), ROBOTS).step(*arrays, DT, out=out)


@pytest.mark.skipif(core is None, reason="the native core was not built")
def test_a_step_takes_no_memory() -> None:
    actuated = ActuatedArrays(NAMES, motors(), ROBOTS)
    first, second = (given[:3] for given in signals(2))
    for arrays in ([first, first], [first, second]):
        for _ in range(50):
            actuated.step(*arrays[0], DT), actuated.step(*arrays[1], DT)
        gc.collect()
        before = sys.getallocatedblocks()
        for _ in range(1000):
            actuated.step(*arrays[0], DT), actuated.step(*arrays[1], DT)
        # a handful that Python keeps for itself
        assert sys.getallocatedblocks() - before < 20
    tracemalloc.start()
    try:
        actuated.step(*first, DT)
        tracemalloc.reset_peak()
        start, _ = tracemalloc.get_traced_memory()
        for _ in range(100):
            actuated.step(*first, DT)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak - start < 1000


@pytest.mark.parametrize("imported", [[], ["numpy", "warp"]], ids=["alone", "after others"])
@pytest.mark.slow
def test_nothing_heavy_is_imported(imported) -> None:
    code = "\n".join(
        [
            *(f"import {name}" for name in imported),
            "import sys, numpy as np, warp as wp",
            "from isaacsim.core.experimental.actuators import ActuatedArrays, ActuatorConfig, ControllerPD",
            "gain = wp.array([4.0], dtype=float, device='cpu')",
            "leg = ActuatedArrays(['hip'], [(ActuatorConfig(ControllerPD(gain, gain)), 'hip')])",
            "print(leg.step(*np.float32([[0], [0], [0.5]]), 0.01), leg.faults, leg.engine)",
            "print('there:', {'pxr', 'mujoco', 'newton', 'torch', 'jax'} & set(sys.modules))",
        ]
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "[2.] []" in said and "there: set()" in said


def test_a_closed_one_does_not_step() -> None:
    actuated = ActuatedArrays(NAMES, motors(), ROBOTS)
    arrays = next(signals(1))[:3]
    actuated.step(*arrays, DT)
    actuated.close()
    refused(RuntimeError, lambda: actuated.step(*arrays, DT), r"<ActuatedArrays: 3 joints x 3 robots on cpu> is closed")


def test_warp_steps_where_the_core_was_not_built(monkeypatch) -> None:
    native = ActuatedArrays(NAMES, motors(), ROBOTS)
    monkeypatch.setattr(package_native, "core", None)
    warped = ActuatedArrays(NAMES, motors(), ROBOTS)
    assert warped.engine == "warp"
    sets = [given[:3] for given in signals(2)]
    for arrays in [*sets * 3, *([one.copy() for one in given] for given in sets)]:
        np.testing.assert_allclose(warped.step(*arrays, DT), native.step(*arrays, DT), rtol=1e-5, atol=1e-5)


@cases("kind", np.asarray, lambda one: wp.array(one, device="cpu", copy=False), ids=["numpy", "warp"])
def test_column_of_the_caller_is_read_where_it_lies(kind: Any) -> None:
    pairs = [(ActuatorConfig(Loaded(), [ClampingMaxEffort(full(2.5))]), "knee"), (ActuatorConfig(Loaded()), "hip")]
    # the same arrays at every step
    arrays = list(np.zeros((3, ROBOTS, len(NAMES)), np.float32))
    held = np.arange(ROBOTS * 6, dtype=np.float32).reshape(ROBOTS, 6)
    # rows that lie apart
    load = held[:, : len(NAMES)]
    with ActuatedArrays(NAMES, [*pairs, *motors()[:1]], ROBOTS) as loop:
        assert loop.step(*arrays, DT)[:, 0].tolist() == [-9.0] * ROBOTS
        loop.set_custom_input("load", kind(load))
        for _ in range(2):
            efforts = loop.step(*arrays, DT)
            assert efforts[:, 0].tolist() == (-load[:, 0]).tolist()
            assert efforts[:, 2].tolist() == (-load[:, 2]).clip(-2.5, 2.5).tolist()
            load[:] = load[::-1] + 1.0
        load[1, 0] = np.inf
        assert loop.step(*arrays, DT)[:, 0].tolist() == [-load[0, 0], 0.0, -load[2, 0]]
        assert [(fault.robot, fault.dof_name, fault.inputs) for fault in loop.faults] == [(1, "hip", ("effort",))]
        wrong: list[tuple[str, Any, str]] = [
            ("lod", load, r"custom input 'lod': must be one that a controller asks for, \['load'\]"),
            ("load", load[:2], r"load has shape \(2, 4\); expected \(3, 4\)"),
            ("load", load.astype(np.float64), "load has dtype float64: must be float32"),
            ("load", load.tolist(), "load is a list: must be a Warp array"),
        ]
        for name, given, told in wrong:
            with pytest.raises(ValueError, match=told):
                loop.set_custom_input(name, given)
        # another array in its place
        loop.set_custom_input("load", kind(np.full_like(load, 2.0)))
        assert loop.step(*arrays, DT)[:, 0].tolist() == [-2.0] * ROBOTS
        loop.set_custom_input("load", None)
        assert loop.step(*arrays, DT)[:, 0].tolist() == [-9.0] * ROBOTS
