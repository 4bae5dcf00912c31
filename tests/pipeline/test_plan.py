"""What `compile_plan` accepts, refuses and lays out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators import ClampingMaxEffort, ControllerPD, Delay
from isaacsim.core.experimental.actuators.components.base import Clamping, Controller
from isaacsim.core.experimental.actuators.components.clamping_dc_motor import ClampingDCMotor
from isaacsim.core.experimental.actuators.components.clamping_position_based import ClampingPositionBased
from isaacsim.core.experimental.actuators.components.controller_pid import ControllerPID
from isaacsim.core.experimental.actuators.pipeline.entry import ActuatorEntry
from isaacsim.core.experimental.actuators.pipeline.plan import between, compile_plan


def array(*values: float, dtype=wp.float32) -> wp.array:
    return wp.array(values, dtype=dtype, device="cpu")


def actuator(controller=None, clamping=(), delay=None, joints=("knee",)) -> ActuatorEntry:
    return ActuatorEntry(
        "knee_motor", joints, controller or ControllerPD(array(1, 2), array(3, 4)), list(clamping), delay
    )


def delay_written_later(*steps: int) -> Delay:
    """A delay of at most 3 steps whose array is changed after its constructor has looked."""
    made = Delay(array(*[0] * len(steps), dtype=wp.int32), 3)
    made.delay_steps.assign(steps)
    return made


def test_no_actuators_make_an_empty_plan() -> None:
    """An articulation without actuators is legal."""
    assert compile_plan([], 3).num_slots == 0


def test_parameters_have_a_value_per_robot_and_slot() -> None:
    """Those of an actuator with several joints are given robot by robot."""
    wide = ControllerPD(array(1, 2, 3, 4), array(5, 6, 7, 8))
    plan = compile_plan([actuator(), actuator(wide, joints=("hip", "ankle"))], 2)
    np.testing.assert_array_equal(plan.control["kp"].own, [[1, 1, 2], [2, 3, 4]])


def test_slots_may_stand_anywhere() -> None:
    """The slots of an actuator follow its joints, not its place in the list."""
    wide = ControllerPD(array(1, 2, 3, 4), array(5, 6, 7, 8))
    plan = compile_plan([actuator(), actuator(wide, joints=("hip", "ankle"))], 2, [[1], [2, 0]])
    assert plan.dof_names == ("ankle", "knee", "hip")
    np.testing.assert_array_equal(plan.control["kp"].own, [[2, 1, 1], [4, 2, 3]])


def test_parameters_that_robots_share_are_held_once() -> None:
    """As those of a prim are; one actuator with values per robot spreads the rows it has, no other."""
    shared = actuator()
    shared.shared = True
    plan = compile_plan([shared, actuator(clamping=[ClampingMaxEffort(array(1, 2))])], 2)
    assert plan.control["kp"].own is not None and plan.control["const_effort"].own is None
    alone = compile_plan([shared], 2)
    assert [row.own for row in alone.rows()] == [None] * len(list(alone.rows()))


def test_missing_stages_are_neutral() -> None:
    """Beside an actuator that has everything, one that has nothing has no limit and adds nothing."""
    bias, limit = ControllerPD(array(1, 2), array(3, 4), array(5, 6)), ClampingMaxEffort(array(7, 8))
    plan = compile_plan([actuator(), actuator(bias, [limit], Delay(array(2, 3, dtype=wp.int32), 3))], 2)
    assert plan.stages[0].used.tolist() == [False, True]
    own = [plan.stages[0].rows["max_effort"].own, plan.control["const_effort"].own, plan.lag.own]
    assert [values[:, 0].tolist() for values in own if values is not None] == [[np.inf, np.inf], [0, 0], [0, 0]]


@pytest.mark.parametrize(
    ("orders", "expected"),
    [
        (["m"], "m"),
        (["dm", "d", "pm"], "dpm"),
        (["md", "dm"], "dmd"),
        (["mm", "dd"], "dmdm"),
        (["pd", "dp", ""], "dpd"),
        (["mdpm"], "mdpm"),
    ],
)
def test_stages_keep_the_order_of_every_actuator(orders: list[str], expected: str) -> None:
    """They are as few as that allows when each clamp goes as early as it can."""
    made = {
        "m": lambda: ClampingMaxEffort(array(1, 1)),
        "d": lambda: ClampingDCMotor(*[array(1, 1)] * 3),
        "p": lambda: ClampingPositionBased(None, [0.0], [1.0]),
    }
    letters = {ClampingMaxEffort: "m", ClampingDCMotor: "d", ClampingPositionBased: "p"}
    plan = compile_plan([actuator(clamping=[made[kind]() for kind in order]) for order in orders], 2)
    assert "".join(letters[stage.clamp] for stage in plan.stages) == expected
    for slot, order in enumerate(orders):
        assert "".join(letters[stage.clamp] for stage in plan.stages if stage.used[slot]) == order


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
        (actuator(delay=delay_written_later(0, 4)), ["delay_steps = 4", "max_delay = 3"]),
        (actuator(delay=delay_written_later(-1, 0)), ["delay_steps = -1"]),
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


OWN_CLAMP, OWN_DELAY = OwnClamping(), type("OwnDelay", (Delay,), {})(array(1, 1, dtype=wp.int32), 1)
LIMIT = ClampingMaxEffort(array(1, 1))


@pytest.mark.parametrize(
    ("entry", "names"),
    [
        (actuator(), None),
        (actuator(OwnController(), [LIMIT]), ["OwnController"]),
        (actuator(clamping=[LIMIT, OWN_CLAMP, LIMIT]), ["ClampingMaxEffort", "OwnClamping"]),
        (actuator(delay=OWN_DELAY), ["OwnDelay", "ControllerPD"]),
    ],
)
def test_components_that_compute_arrays_stand_between_the_phases(entry: ActuatorEntry, names: Any) -> None:
    """So do clamps that come before one of them, and the controller after a delay; the plan has the rest."""
    apart = between(entry)
    if names is None:
        assert apart is None
        return
    assert [type(part).__name__ for part in (apart.delay, apart.controller, *apart.clamping) if part] == names
    plan = compile_plan([entry], 2)
    assert len(plan.stages) == len(entry.clamping) - len(apart.clamping)
    assert plan.controller_kind.tolist() == [0 if apart.controller is None else -1]
