"""What `compile_plan` accepts, refuses and lays out."""

from __future__ import annotations

import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators import ClampingMaxEffort, ControllerPD, Delay
from isaacsim.core.experimental.actuators.components.base import Clamping, Controller
from isaacsim.core.experimental.actuators.components.clamping_dc_motor import ClampingDCMotor
from isaacsim.core.experimental.actuators.components.controller_pid import ControllerPID
from isaacsim.core.experimental.actuators.pipeline.entry import ActuatorEntry
from isaacsim.core.experimental.actuators.pipeline.plan import compile_plan


def array(*values: float, dtype=wp.float32) -> wp.array:
    return wp.array(values, dtype=dtype, device="cpu")


def actuator(controller=None, clamping=(), delay=None, joints=("knee",)) -> ActuatorEntry:
    return ActuatorEntry(
        "knee_motor", joints, controller or ControllerPD(array(1, 2), array(3, 4)), list(clamping), delay
    )


def test_no_actuators_make_an_empty_plan() -> None:
    """An articulation without actuators is legal."""
    assert compile_plan([], 3).num_slots == 0


def test_parameters_are_robot_major_per_actuator() -> None:
    """`base + robot · pitch` finds the value of each slot and robot."""
    wide = ControllerPD(array(1, 2, 3, 4), array(5, 6, 7, 8))
    plan = compile_plan([actuator(), actuator(wide, joints=("hip", "ankle"))], 2)
    at = plan.base + plan.pitch * np.arange(2)[:, None]
    np.testing.assert_array_equal(plan.parameters["control"][0][at], [[1, 1, 2], [2, 3, 4]])


def test_missing_stages_are_neutral() -> None:
    """Beside an actuator that has everything, one that has nothing runs no clamp and adds nothing."""
    bias, limit = ControllerPD(array(1, 2), array(3, 4), array(5, 6)), ClampingMaxEffort(array(7, 8))
    plan = compile_plan([actuator(), actuator(bias, [limit], Delay(array(2, 3, dtype=wp.int32), 3))], 2)
    assert plan.clamp_kind[:, 0].tolist() == [0]
    assert plan.parameters["control"][2, :2].tolist() == plan.parameters["lag"][:2].tolist() == [0, 0]


def test_ring_holds_the_largest_delay() -> None:
    """The ring has one row more than the largest delay, so that a delay of 0 needs no branch."""
    delays = [Delay(array(0, 3, dtype=wp.int32), 3), Delay(array(1, 1, dtype=wp.int32), 5), None]
    assert compile_plan([actuator(delay=delay) for delay in delays], 2).depth == 6


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (actuator(ControllerPD(array(1), array(1))), ["knee_motor", "kp", "(1,)", "(2,)"]),
        (actuator(ControllerPD(array(1, np.nan), array(1, 1))), ["kp = nan", "finite"]),
        (actuator(ControllerPD(array(1, 1), array(np.inf, 1))), ["kd = inf", "finite"]),
        (actuator(clamping=[ClampingMaxEffort(array(5, np.nan))]), ["max_effort = nan"]),
        (actuator(clamping=[ClampingMaxEffort(array(5, -1))]), ["max_effort = -1", ">= 0"]),
        (actuator(clamping=[ClampingDCMotor(array(5, 5), array(1, 0), array(5, 5))]), ["velocity_limit = 0", "> 0"]),
        (actuator(ControllerPID(*[array(1, 1)] * 3, array(1, -1))), ["integral_max = -1", ">= 0"]),
        (actuator(delay=Delay(array(0, 4, dtype=wp.int32), 3)), ["delay_steps = 4", "max_delay = 3"]),
        (actuator(delay=Delay(array(-1, 0, dtype=wp.int32), 3)), ["delay_steps = -1"]),
    ],
)
def test_bad_parameters_are_refused_by_name(wrong: ActuatorEntry, words: list[str]) -> None:
    """The error names actuator, parameter, value and rule."""
    with pytest.raises(ValueError) as error:
        compile_plan([wrong], 2)
    assert all(word in str(error.value) for word in words), error.value


class OwnController(Controller):
    """A user's law without a scalar form."""


class OwnClamping(Clamping):
    """A user's limit without a scalar form."""


@pytest.mark.parametrize("wrong", [actuator(OwnController()), actuator(clamping=[OwnClamping()])])
def test_components_without_a_law_are_refused_by_name(wrong: ActuatorEntry) -> None:
    """A component that no plan can run is never skipped silently."""
    with pytest.raises(TypeError, match="Own"):
        compile_plan([wrong], 2)
