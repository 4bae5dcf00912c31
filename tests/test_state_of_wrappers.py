"""Saved states of wrappers: one layout whatever runs, and nothing changed by one that does not fit."""

from __future__ import annotations

import contextlib
from typing import Any

import isaacsim.core.experimental.actuators as aa
import isaacsim.core.experimental.actuators.base.native as native
import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators.engine.step import state
from isaacsim.core.experimental.actuators.simulators.arrays import ArraysHost
from refusals import cases

NAMES = ["hip", "knee", "ankle"]
ROBOTS, DT = 3, 0.01
State = dict[str, Any]


class Own(aa.ControllerPID):
    """A law with a memory that computes arrays, and so stands between the phases of a step."""

    def compute(self, *args, **named) -> None:
        super().compute(*args, **named)


def array(value: float, dtype=wp.float32) -> wp.array:
    return wp.full(ROBOTS, value, dtype=dtype, device="cpu")


@contextlib.contextmanager
def running_on(kind: str):
    """Make wrappers that run on `kind`; Warp runs where the native core was not built."""
    if kind == "native" and native.core is None:
        pytest.skip("the native core was not built")
    with pytest.MonkeyPatch.context() as patch:
        if kind == "warp":
            patch.setattr(native, "core", None)
        yield


class Legs:
    """Three robots: a delayed PD law on the hip, an integral on the knee, a law of one's own with both on the ankle."""

    def __init__(self, kind: str = "native", delay: int = 3, law: type = Own) -> None:
        def pid(made: type):
            return made(array(3.0), array(20.0), array(0.5), array(1.0))

        pairs = [
            (
                aa.ActuatorConfig(
                    aa.ControllerPD(array(5.0), array(0.5)), [], aa.Delay(array(delay - 1, wp.int32), delay)
                ),
                "hip",
            ),
            (aa.ActuatorConfig(pid(aa.ControllerPID), [aa.ClampingMaxEffort(array(4.0))]), "knee"),
            (aa.ActuatorConfig(pid(law), [], aa.Delay(array(1, wp.int32), 1)), "ankle"),
        ]
        self.host = ArraysHost(NAMES, ROBOTS)
        with running_on(kind), aa.use_host(self.host):
            self.host.play()
            self.wrapper = aa.ArticulationActuators.from_actuators("/Robot_.*", pairs)
        assert kind in self.wrapper.engine

    def run(self, rng: np.random.Generator, steps: int = 9) -> np.ndarray:
        seen = []
        for step in range(steps):
            for name in ("positions", "velocities", "position_targets", "velocity_targets"):
                getattr(self.host.arrays(), name)[:] = rng.uniform(-1, 1, ROBOTS * 3)
            if step == 2:
                self.host.arrays().velocities[4] = np.nan
                self.host.arrays().position_targets[6] = np.inf
            self.host.step(DT)
            seen.append(self.host.arrays().efforts.copy())
        return np.array(seen)

    def lived(self) -> Legs:
        """With a past: steps, faults, one robot just reset, and one whose first command was not finite."""
        self.run(np.random.default_rng(5))
        self.wrapper.reset(indices=[2])
        self.host.arrays().position_targets[6] = np.nan
        self.host.step(DT)
        self.wrapper.reset(indices=[1])
        return self


def same(first: State, second: State) -> bool:
    """Whether two saved states are alike in names, types and bits."""
    return first.keys() == second.keys() and all(
        np.asarray(first[name]).dtype == np.asarray(second[name]).dtype
        and np.array_equal(first[name], second[name], equal_nan=np.asarray(first[name]).dtype.kind == "f")
        for name in first
    )


def require_refused(legs: Legs, saved, *words: str) -> None:
    before = legs.wrapper.save_state()
    with pytest.raises(ValueError) as error:
        legs.wrapper.restore_state(saved)
    assert [word for word in words if word not in str(error.value)] == [], error.value
    assert same(legs.wrapper.save_state(), before)


KINDS = ["native", "warp"]
PLAIN = ("layout", "version", "steps", "faults")


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def legs(kind: str) -> Legs:
    return Legs(kind).lived()


@pytest.fixture
def saved(legs: Legs) -> State:
    return legs.wrapper.save_state()


def states(saved: State) -> State:
    return {name: values for name, values in saved.items() if name not in PLAIN}


def test_restoring_replaces_all_of_a_past(legs, saved, kind) -> None:
    other = Legs(kind)
    other.run(np.random.default_rng(77), steps=14)
    other.wrapper.restore_state(saved)
    np.testing.assert_array_equal(other.run(np.random.default_rng(8)), legs.run(np.random.default_rng(8)))
    assert other.wrapper.faults == legs.wrapper.faults


def test_saved_state_is_a_copy(legs, saved) -> None:
    np.savez("state.npz", **saved)
    legs.run(np.random.default_rng(1))
    with np.load("state.npz", allow_pickle=False) as read:
        assert same(saved, dict(read))
        legs.wrapper.restore_state(read)
    assert same(legs.wrapper.save_state(), saved)


def test_missing_name_is_refused(legs, saved) -> None:
    for name in saved:
        require_refused(legs, {other: values for other, values in saved.items() if other != name}, name.split(".")[-1])


def test_name_too_many_is_refused(legs, saved) -> None:
    require_refused(legs, saved | {"toe.controller.integral": np.zeros(ROBOTS, np.float32)}, "toe")


@cases("dtype", "f8", "i8", "f2", ">f4", "U4", "O")
def test_other_type_is_refused(dtype, legs, saved) -> None:
    for name, values in states(saved).items():
        require_refused(legs, saved | {name: values.astype(dtype)}, name)


def test_other_shape_is_refused(legs, saved) -> None:
    for name, values in states(saved).items():
        for odd in (values[..., :-1], np.concatenate([values, values]), values[None], values[:0], values.ravel()[0]):
            require_refused(legs, saved | {name: odd}, name)


@cases("odd", None, "text", {}, [[1.0], [2.0, 3.0]], [object()], ids=["none", "text", "dict", "ragged", "object"])
def test_what_is_no_array_is_refused(odd, legs, saved) -> None:
    for name in saved:
        require_refused(legs, saved | {name: odd})


def test_list_is_refused_or_taken_for_what_it_holds(legs, saved) -> None:
    for name, values in states(saved).items():
        with contextlib.suppress(ValueError):
            legs.wrapper.restore_state(saved | {name: values.tolist()})
        assert same(legs.wrapper.save_state(), saved)


@cases("layout", 0, 1, 3, 2**40, -2)
def test_another_layout_is_refused(layout, legs, saved) -> None:
    require_refused(legs, saved | {"layout": np.array([layout])}, "layout", str(layout), "anew")


OLD = {
    "0.ring": np.zeros((3, 3, 8), np.float32),
    "0.head": np.zeros(1, np.int64),
    "0.integral": np.zeros((ROBOTS, 1), np.float32),
    "0.fresh": np.zeros(ROBOTS, np.uint8),
    "0.waiting": np.zeros((0, 2), np.int64),
    "0.faults": np.zeros((0, 4), np.int64),
    "0.step": np.zeros(1, np.int64),
}


@cases("old", OLD, {}, ids=["0.2.0", "empty"])
def test_state_of_an_older_version_is_refused_by_name(old, legs) -> None:
    require_refused(legs, old, "no layout number", "0.2.0", "anew")


@cases("value", -1, 2, 2**31 - 1, -(2**31))
def test_numbers_out_of_range_lead_nowhere_else(value, legs, saved) -> None:
    for name in [name for name, values in saved.items() if values.dtype.kind == "i" and name != "layout"]:
        before = legs.wrapper.save_state()
        try:
            legs.wrapper.restore_state(saved | {name: np.full_like(saved[name], value)})
        except ValueError:
            assert same(legs.wrapper.save_state(), before)
        assert np.isfinite(legs.run(np.random.default_rng(3), steps=6)).all() and len(legs.wrapper.faults) < 9


def test_number_that_is_not_finite_gives_no_effort(legs, saved) -> None:
    for name in [name for name, values in states(saved).items() if values.dtype.kind == "f"]:
        before = legs.wrapper.save_state()
        try:
            legs.wrapper.restore_state(saved | {name: np.full_like(saved[name], np.nan)})
        except ValueError:
            assert same(legs.wrapper.save_state(), before)
        assert np.isfinite(legs.run(np.random.default_rng(3), steps=6)).all()


@cases("odd", np.nan, np.inf, -np.inf)
def test_number_that_is_not_finite_is_refused(odd, legs, saved) -> None:
    numbers = [name for name, values in states(saved).items() if values.dtype.kind == "f"]
    for name in [name for name in numbers if not name.startswith("ankle.controller")]:
        values = saved[name].copy()
        values.flat[-1] = odd
        require_refused(legs, saved | {name: values}, f"saved {name} holds {odd}: must be finite")


@cases(
    "version, words",
    (["9.0.0"], "saved state is of version 9.0.0: must be of 0.2.0, as this package is, or older. Install"),
    (["0.2.1"], "saved state is of version 0.2.1"),
    (["0.10.0rc1"], "saved state is of version 0.10.0rc1"),
    (["new"], "saved version = ['new']: must be that of the package that wrote the state"),
    ([], "saved version = []"),
    (["0.2.0", "0.2.0"], "saved version = ["),
    ([3.5], "saved state is of version 3.5"),
)
def test_state_of_a_later_version_is_refused(version, words, legs, saved, monkeypatch) -> None:
    """Though its layout is the same: what it means may have changed."""
    monkeypatch.setattr(state, "__version__", "0.2.0")
    require_refused(legs, saved | {"version": np.array(version)}, words)


@cases("version", "0.2.0", "0.9.7", "0.10.0.dev3", "0.10.0")
def test_state_of_an_older_version_with_this_layout_is_taken(version, legs, saved, monkeypatch) -> None:
    monkeypatch.setattr(state, "__version__", "0.10.0")
    legs.run(np.random.default_rng(1))
    legs.wrapper.restore_state(saved | {"version": np.array([version])})
    assert states(legs.wrapper.save_state()).keys() == states(saved).keys()
    assert same(states(legs.wrapper.save_state()), states(saved))
