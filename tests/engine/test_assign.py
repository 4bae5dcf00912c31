"""In-place copies of states."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import warp as wp
from isaacsim.core.experimental.actuators import Actuator, Controller, ControllerPD, ControllerPID, Delay
from isaacsim.core.experimental.actuators.engine.assign import assign_state
from refusals import cases, refused
from warp_arrays import listed

N, DT = 2, 0.01


def made(steps: int = 2) -> Actuator:
    gains = [listed(value, 2 * value) for value in (9.0, 40.0, 1.0, 0.1)]
    delay = Delay(wp.full(N, steps, dtype=wp.int32, device="cpu"), steps)
    return Actuator(wp.array([0, 1], dtype=wp.uint32, device="cpu"), ControllerPID(*gains), delay)


def run(actuator: Actuator, now, after, targets) -> list[list[float]]:
    found = []
    for target in targets:
        state = SimpleNamespace(joint_q=listed(0, 0), joint_qd=listed(0, 0))
        control = SimpleNamespace(
            joint_target_q=listed(target, -target), joint_target_qd=listed(0, 0), joint_f=listed(0, 0)
        )
        actuator.step(state, control, now, after, DT)
        found.append(control.joint_f.numpy().tolist())
        now, after = after, now
    return found


def test_assigned_state_goes_on() -> None:
    actuator = made()
    now, after = actuator.state(), actuator.state()
    run(actuator, now, after, (1.0, 2.0, 3.0))
    copied = actuator.state()
    arrays = [*vars(copied.delay_state).values(), *vars(copied.controller_state).values()]
    copied.assign(after)
    assert [*vars(copied.delay_state).values(), *vars(copied.controller_state).values()] == arrays
    expected = run(actuator, after, now, (4.0, 5.0, 6.0))
    assert run(actuator, copied, actuator.state(), (4.0, 5.0, 6.0)) == expected and np.ptp(expected) > 10


@dataclass
class Own(Controller.State):
    value: Any = None


class Undecorated(Controller.State):
    """A state that declares nothing."""


class Assigning(Undecorated):
    def assign(self, other) -> None:
        self.value.assign(other.value)


class Tensor:
    shape = (2,)


def test_own_states_are_copied() -> None:
    for mine, other in (
        (Own(listed(0, 0)), Own(listed(1, 2))),
        (Assigning(value=listed(0, 0)), Assigning(value=listed(1, 2))),
    ):
        kept = mine.value
        Actuator.State(drive_state=mine).assign(Actuator.State(drive_state=other))
        assert mine.value is kept and kept.numpy().tolist() == [1.0, 2.0]
    assign_state(Own(), Own(), "state")


def with_more() -> Own:
    state = Own(listed(0, 0))
    state.more = None  # pyright: ignore[reportAttributeAccessIssue]
    return state


@cases(
    "mine, other, kind, said",
    (Own(), None, ValueError, r"controller_state \(drive_state\) is a NoneType: must be a Own"),
    (Own(listed(1, 2)), Own(listed(1)), ValueError, r"value is array of shape \(1,\): must be array of \(2,\)"),
    (Own(listed(1, 2)), Own(), ValueError, "value is NoneType of shape None"),
    (Own(), Own(listed(1, 2)), ValueError, r"value is array of shape \(2,\): must be NoneType of None"),
    (Own(listed(1, 2)), Own(np.ones(2)), ValueError, r"value is ndarray of shape \(2,\): must be array of \(2,\)"),
    (Own(Tensor()), Own(Tensor()), ValueError, "value is Tensor: must be an array of Warp or Torch"),
    (with_more(), Own(listed(0, 0)), ValueError, "undeclared state attributes: more"),
    (Undecorated(), Undecorated(), NotImplementedError, "Undecorated must be decorated with @dataclass"),
)
def test_states_that_do_not_fit_are_refused(mine, other, kind, said) -> None:
    refused(kind, lambda: Actuator.State(drive_state=mine).assign(Actuator.State(drive_state=other)), said)


def test_states_of_clamps_are_copied_too() -> None:
    mine, other = (Actuator.State(clamping_states=(None, Own(listed(v, v)))) for v in (1.0, 2.0))
    mine.assign(other)
    assert mine.clamping_states[1].value.numpy().tolist() == [2.0, 2.0]
    refused(ValueError, lambda: mine.assign(Actuator.State()), "clamping_states has 0 states: must have 2")


def test_stateless_actuators_have_nothing_to_assign() -> None:
    assert Actuator(wp.array([0], dtype=wp.uint32, device="cpu"), ControllerPD(listed(1), listed(1))).state() is None
