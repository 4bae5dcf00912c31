"""What actuators in a loop of one's own are, apart from their arrays: names, faults, state, components."""

import gc
import weakref
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators.loops.actuated import Changes
from refusals import cases, refused

NAMES, ROBOTS, DT = ["hip", "knee"], 3, 0.01


def config(lag: int = 0) -> aa.ActuatorConfig:
    def full(value: float, dtype: Any = wp.float32) -> wp.array:
        return wp.full(ROBOTS, value, dtype=dtype, device="cpu")

    delay = aa.Delay(full(lag, wp.int32), lag) if lag else None
    return aa.ActuatorConfig(aa.ControllerPD(full(10), full(1)), [aa.ClampingMaxEffort(full(5))], delay)


def arrays(target: float = 0.1) -> list[np.ndarray]:
    zero = np.zeros((ROBOTS, len(NAMES)), np.float32)
    return [zero, zero, zero + np.float32(target)]


@cases(
    "names, driven, message",
    (NAMES, ["ankle"], r"joint 'ankle': not in the joints. Available: \['hip', 'knee'\]"),
    (["hip", "hip"], ["hip"], "joint 'hip' is found 2 times"),
    (NAMES, ["hip", "hip"], "joint 'hip' is given two actuators"),
    (NAMES, [], r"motors = \[\]: must drive at least one of"),
    ("hip", ["hip"], "dof_names = 'hip': must be a list of names"),
)
def test_names_that_do_not_fit_are_refused(names: Any, driven: list[str], message: str) -> None:
    refused(ValueError, lambda: aa.ActuatedArrays(names, [(config(), name) for name in driven], ROBOTS), message)


def test_there_is_a_robot_at_least() -> None:
    with pytest.raises(ValueError, match="num_robots = 0: must be an integer >= 1"):
        aa.ActuatedArrays(NAMES, [(config(), "hip")], 0)


def test_it_tells_what_it_consists_of() -> None:
    actuated = aa.ActuatedArrays(NAMES, [(config(), "knee"), (config(), "hip")], ROBOTS)
    assert (actuated.dof_names, actuated.num_robots, actuated.device) == (NAMES, ROBOTS, "cpu")
    assert [one.label for one in actuated.actuators] == NAMES and actuated.actuated_dof_indices == [0, 1]
    assert repr(actuated) == "<ActuatedArrays: 2 joints x 3 robots on cpu>"


def test_motors_are_given_by_pattern() -> None:
    kp = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    motors = {"ankle": [aa.PDControlConfig(7.0, 0.0)], "hip|knee": [aa.PDControlConfig(kp, {".*": 0.0})]}
    actuated = aa.ActuatedArrays(["knee", "ankle", "hip"], motors, ROBOTS)
    zero = np.zeros((ROBOTS, 3), np.float32)
    assert actuated.step(zero, zero, zero + 1, DT).tolist() == [[1, 7, 2], [3, 7, 4], [5, 7, 6]]
    actuated.observe_efforts()
    np.testing.assert_array_equal(actuated.step(zero, zero, zero + 1, DT), actuated.computed_efforts)
    refused(ValueError, lambda: aa.ActuatedArrays(NAMES, {"toe": [aa.PDControlConfig(1.0, 0.0)]}, ROBOTS), "toe")


def test_what_belongs_into_the_simulator_is_told() -> None:
    motors = {"knee": aa.MotorConfig(aa.PDControlConfig(1.0, 0.0), armature=0.25), "hip": aa.MotorConfig(friction=2.0)}
    motors["hip"].viscous_friction = 3.0
    found = aa.ActuatedArrays(NAMES, motors, 2).joint_properties
    nan = float("nan")
    np.testing.assert_array_equal(found["armature"], [[nan, 0.25]] * 2)
    np.testing.assert_array_equal(found["friction"], [[2.0, nan]] * 2)
    np.testing.assert_array_equal(found["viscous_friction"], [[3.0, nan]] * 2)
    assert aa.ActuatedArrays(NAMES, {"hip": [aa.PDControlConfig(1.0, 0.0)]}).joint_properties == {}


def test_a_fault_is_told_and_held_off_others() -> None:
    actuated = aa.ActuatedArrays(NAMES, [(config(), name) for name in NAMES], ROBOTS)
    q, qd, target = arrays()
    q = q.copy()
    q[1, 1] = np.nan
    assert actuated.step(q, qd, target, DT).tolist() == [[1, 1], [1, 0], [1, 1]]
    (fault,) = actuated.faults
    assert (fault.label, fault.robot, fault.step, fault.inputs) == ("knee", 1, 0, ("position",))
    actuated.reset(indices=[0, 2])
    assert actuated.faults
    actuated.reset(indices=np.array([False, True, False]))
    assert not actuated.faults
    refused(ValueError, lambda: actuated.reset(indices=[3]), "robot index 3")


def test_reset_forgets_what_is_under_way() -> None:
    actuated = aa.ActuatedArrays(NAMES, [(config(lag=2), "hip")], ROBOTS)
    for target in (0.1, 0.2):
        actuated.step(*arrays(target), DT)
    actuated.reset(indices=[1])
    assert actuated.step(*arrays(0.3), DT)[:, 0].tolist() == pytest.approx([1, 3, 1])
    actuated.reset()
    assert actuated.step(*arrays(0.4), DT)[:, 0].tolist() == pytest.approx([4, 4, 4])


def test_efforts_before_the_limit_are_shown_when_observed() -> None:
    actuated = aa.ActuatedArrays(NAMES, [(config(), "knee")], ROBOTS)
    with pytest.raises(RuntimeError, match="does not observe its efforts"):
        _ = actuated.computed_efforts
    actuated.observe_efforts()
    assert actuated.step(*arrays(2.0), DT)[:, 1].tolist() == [5, 5, 5]
    assert actuated.computed_efforts.tolist() == [[20], [20], [20]]
    assert actuated.limited_by.tolist() == [["ClampingMaxEffort"]] * 3


def test_components_are_free_after_close() -> None:
    given = config()
    with aa.ActuatedArrays(NAMES, [(given, "hip")], ROBOTS) as first:
        assert first.actuators[0].controller is given.controller
        second = aa.ActuatedArrays(NAMES, [(given, "hip")], ROBOTS)
        assert second.actuators[0].controller is not given.controller
    assert aa.ActuatedArrays(NAMES, [(given, "hip")], ROBOTS).actuators[0].controller is given.controller


AFTER_CLOSE: dict[str, Callable[[Any], Any]] = {
    "save_state": lambda one: one.save_state(),
    "restore_state": lambda one: one.restore_state({}),
    "reset": lambda one: one.reset(),
    "reset of one": lambda one: one.reset(indices=[0]),
    "record": lambda one: one.record(),
    "randomize": lambda one: one.randomize({"kp": aa.Uniform(1.0, 2.0)}, seed=0),
    "draw_delays": lambda one: one.draw_delays(0, 1, seed=0),
    "observe_efforts": lambda one: one.observe_efforts(),
    "set_custom_input": lambda one: one.set_custom_input("load", None),
}


@pytest.mark.parametrize("call", AFTER_CLOSE.values(), ids=AFTER_CLOSE)
def test_a_closed_one_says_so(call: Callable[[Any], Any]) -> None:
    actuated = aa.ActuatedArrays(NAMES, [(config(), "hip")], ROBOTS)
    actuated.close()
    with pytest.raises(RuntimeError, match=r"<ActuatedArrays: 1 joints x 3 robots on cpu> is closed\. Make a new one"):
        call(actuated)
    assert actuated.faults == []
    actuated.close()


def test_one_that_nobody_holds_lets_go() -> None:
    given = config()
    actuated = aa.ActuatedArrays(NAMES, [(given, "hip")], ROBOTS)
    actuated.step(*arrays(), DT)
    del actuated
    assert aa.ActuatedArrays(NAMES, [(given, "hip")], ROBOTS).actuators[0].controller is given.controller


@pytest.mark.parametrize("whole", [False, True])
def test_loads_are_whole_where_one_says_so(whole: bool) -> None:
    """Otherwise friction does not go by them, and takes half of what stops the joint."""
    actuated = aa.ActuatedArrays(NAMES, {".*": [aa.FrictionConfig(coulomb=1e3)]}, ROBOTS)
    actuated.set_mass_matrix(np.eye(2))
    actuated.set_loads([0.5, -0.2], **({"are_whole": True} if whole else {}))
    zero, still, _ = arrays()
    expected = [0.5 - 1.0 / DT, -0.2 - 1.0 / DT] if whole else [-0.5 / DT] * 2
    np.testing.assert_allclose(actuated.step(zero, still + 1.0, zero, DT), [expected] * ROBOTS, rtol=1e-6)


class Model(SimpleNamespace):
    """Other than its base it can be referred to weakly, as models can."""


class Owner:
    def __init__(self, model: Model) -> None:
        self.model, self.changes = model, Changes(self)
        self.changes.set(model.gains, [1], 0.0)
        self.changes.set(model.gains, [1, 2], 9.0)
        self.changes.replace(model, "name", "changed")

    def __del__(self) -> None:
        self.changes.give_back()


def model() -> Model:
    return Model(gains=wp.array(np.arange(4), dtype=wp.float32, device="cpu"), name="own")


def test_the_last_change_is_given_back_first() -> None:
    one = model()
    owner = Owner(one)
    assert one.gains.numpy().tolist() == [0, 9, 9, 3] and one.name == "changed"
    owner.changes.give_back()
    assert one.gains.numpy().tolist() == [0, 1, 2, 3] and one.name == "own"
    one.gains.fill_(5.0)
    owner.changes.give_back()
    assert one.gains.numpy().tolist() == [5, 5, 5, 5]


def test_who_is_dropped_gives_back() -> None:
    one = model()
    owner = weakref.ref(Owner(one))
    gc.collect()
    assert owner() is None and one.gains.numpy().tolist() == [0, 1, 2, 3]


def test_no_freed_array_is_written_to(monkeypatch: pytest.MonkeyPatch) -> None:
    freed: list[int] = []
    delete = wp.array.__del__
    monkeypatch.setattr(wp.array, "__del__", lambda array: (freed.append(id(array)), delete(array))[0])
    gc.collect()
    gc.disable()
    try:
        one = model()
        owner, gains = Owner(one), id(one.gains)
        seen: list[bool] = []
        owner.changes.finally_do(lambda: seen.append(gains in freed))
        one.circle, freed[:] = owner, []
        del one, owner
    finally:
        gc.enable()
    gc.collect()
    assert seen == [False]
