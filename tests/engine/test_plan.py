"""Plans of `compile_plan`: validation and layout."""

import isaacsim.core.experimental.actuators as aa
import numpy as np
import warp as wp
from isaacsim.core.experimental.actuators.engine.entry import ActuatorEntry
from isaacsim.core.experimental.actuators.engine.plan import array_stages, compile_plan
from refusals import cases, refused


def array(*values: float, dtype=wp.float32) -> wp.array:
    return wp.array(values, dtype=dtype, device="cpu")


def actuator(controller=None, clamping=(), delay=None, joints=("knee",)) -> ActuatorEntry:
    return ActuatorEntry(
        "knee_motor", joints, controller or aa.ControllerPD(array(1, 2), array(3, 4)), list(clamping), delay
    )


def delay_written_later(*steps: int) -> aa.Delay:
    """A delay of at most 3 steps whose array is changed after its constructor has looked."""
    made = aa.Delay(array(*[0] * len(steps), dtype=wp.int32), 3)
    made.delay_steps.assign(steps)
    return made


def test_no_actuators_make_an_empty_plan() -> None:
    assert compile_plan([], 3).num_slots == 0


def test_parameters_have_a_value_per_robot_and_slot() -> None:
    wide = aa.ControllerPD(array(1, 2, 3, 4), array(5, 6, 7, 8))
    plan = compile_plan([actuator(), actuator(wide, joints=("hip", "ankle"))], 2)
    np.testing.assert_array_equal(plan.control["kp"].own, [[1, 1, 2], [2, 3, 4]])


def test_slots_may_stand_anywhere() -> None:
    wide = aa.ControllerPD(array(1, 2, 3, 4), array(5, 6, 7, 8))
    plan = compile_plan([actuator(), actuator(wide, joints=("hip", "ankle"))], 2, [[1], [2, 0]])
    assert plan.dof_names == ("ankle", "knee", "hip")
    np.testing.assert_array_equal(plan.control["kp"].own, [[2, 1, 1], [4, 2, 3]])


def test_parameters_that_robots_share_are_held_once() -> None:
    shared = actuator()
    shared.shared = True
    plan = compile_plan([shared, actuator(clamping=[aa.ClampingMaxEffort(array(1, 2))])], 2)
    assert plan.control["kp"].own is not None and plan.control["const_effort"].own is None
    alone = compile_plan([shared], 2)
    assert [row.own for row in alone.rows] == [None] * len(alone.rows)


def test_missing_limits_are_neutral() -> None:
    bias, limit = aa.ControllerPD(array(1, 2), array(3, 4), array(5, 6)), aa.ClampingMaxEffort(array(7, 8))
    plan = compile_plan([actuator(), actuator(bias, [limit], aa.Delay(array(2, 3, dtype=wp.int32), 3))], 2)
    assert plan.stages[0].used.tolist() == [False, True]
    own = [plan.stages[0].rows["max_effort"].own, plan.control["const_effort"].own, plan.lag.own]
    assert [values[:, 0].tolist() for values in own if values is not None] == [[np.inf, np.inf], [0, 0], [0, 0]]


@cases(
    "orders, expected",
    (["m"], "m"),
    (["dm", "d", "pm"], "dpm"),
    (["md", "dm"], "dmd"),
    (["mm", "dd"], "dmdm"),
    (["pd", "dp", ""], "dpd"),
    (["mdpm"], "mdpm"),
)
def test_limits_keep_the_order_of_every_actuator(orders, expected) -> None:
    made = {
        "m": lambda: aa.ClampingMaxEffort(array(1, 1)),
        "d": lambda: aa.ClampingDCMotor(*[array(1, 1)] * 3),
        "p": lambda: aa.ClampingPositionBased(None, [0.0], [1.0]),
    }
    letters = {aa.ClampingMaxEffort: "m", aa.ClampingDCMotor: "d", aa.ClampingPositionBased: "p"}
    plan = compile_plan([actuator(clamping=[made[kind]() for kind in order]) for order in orders], 2)
    assert "".join(letters[limit.law] for limit in plan.stages) == expected
    for slot, order in enumerate(orders):
        assert "".join(letters[limit.law] for limit in plan.stages if limit.used[slot]) == order


def test_ring_holds_the_largest_delay() -> None:
    delays = [aa.Delay(array(0, 3, dtype=wp.int32), 3), aa.Delay(array(1, 1, dtype=wp.int32), 5), None]
    assert compile_plan([actuator(delay=delay) for delay in delays], 2).depth == 5
    assert compile_plan([actuator()], 2).depth == 1


class OwnPD(aa.ControllerPD):
    def compute(self, *arguments, **more) -> None:
        arguments[9].zero_()


def wide(*values: float) -> wp.array:
    return array(*values, dtype=wp.float64)


def table(*values: float) -> wp.array:
    return array(*values).reshape((1, len(values)))


def late(**values: wp.array) -> aa.DelayTimed:
    return aa.DelayTimed(**{name: values.get(name, array(1, 1)) for name in aa.DelayTimed.PARAMETERS})


@cases(
    "wrong, words",
    (actuator(aa.ControllerPD(array(1), array(1))), ["knee_motor", "kp has 1 elements: must be 2, one per joint"]),
    (actuator(OwnPD(array(1), array(1))), ["knee_motor", "kp has 1 elements: must be 2, one per joint"]),
    (actuator(OwnPD(array(1, np.nan), array(1, 1))), ["kp = nan"]),
    (actuator(aa.ControllerPD(wide(1, 1), array(1, 1))), ["kp has dtype float64: must be float32"]),
    (actuator(aa.ControllerPD(table(1, 1), table(1, 1))), ["kp has shape (1, 2): must be 2"]),
    (actuator(delay=aa.Delay(array(1, 1), 3)), ["delay_steps has dtype float32: must be int32"]),
    (actuator(aa.ControllerPD(array(1, np.nan), array(1, 1))), ["kp = nan", "finite"]),
    (actuator(aa.ControllerPD(array(1, 1), array(np.inf, 1))), ["kd = inf", "finite"]),
    (actuator(clamping=[aa.ClampingMaxEffort(array(5, np.nan))]), ["max_effort = nan"]),
    (actuator(clamping=[aa.ClampingMaxEffort(array(5, -1))]), ["max_effort = -1", ">= 0"]),
    (actuator(clamping=[aa.ClampingDCMotor(array(5, 5), array(1, 0), array(5, 5))]), ["velocity_limit = 0", "> 0"]),
    (actuator(aa.ControllerPID(*[array(1, 1)] * 3, array(1, -1))), ["integral_max = -1", ">= 0"]),
    (actuator(delay=delay_written_later(0, 4)), ["delay_steps = 4", "max_delay = 3"]),
    (actuator(delay=delay_written_later(-1, 0)), ["delay_steps = -1"]),
    (actuator(delay=late(hold_probability=array(0, 1.5))), ["hold_probability = 1.5", "<= 1"]),
)
def test_bad_parameters_are_refused_by_name(wrong, words) -> None:
    text = refused(ValueError, lambda: compile_plan([wrong], 2))
    assert all(word in text for word in words), text


class OwnController(aa.Controller):
    """A user's law without a scalar form."""


class OwnClamping(aa.Clamping):
    """A user's limit without a scalar form."""


OWN_CLAMP, OWN_DELAY = OwnClamping(), type("OwnDelay", (aa.Delay,), {})(array(1, 1, dtype=wp.int32), 1)
LIMIT = aa.ClampingMaxEffort(array(1, 1))


@cases(
    "entry, names",
    (actuator(), None),
    (actuator(OwnController(), [LIMIT]), ["OwnController"]),
    (actuator(clamping=[LIMIT, OWN_CLAMP, LIMIT]), ["ClampingMaxEffort", "OwnClamping"]),
    (actuator(delay=OWN_DELAY), ["OwnDelay", "ControllerPD"]),
)
def test_components_that_compute_arrays_stand_between_the_phases(entry, names) -> None:
    apart = array_stages(entry)
    if names is None:
        assert apart is None
        return
    assert [type(part).__name__ for part in (apart.delay, apart.controller, *apart.stages) if part] == names
    plan = compile_plan([entry], 2)
    assert len(plan.stages) == len(entry.clamping) - len(apart.stages)
    assert plan.controller_kind.tolist() == [0 if apart.controller is None else -1]


def test_what_robots_share_is_what_the_first_has() -> None:
    given = actuator(aa.ControllerPD(array(5, 6), array(7, 8)))
    assert compile_plan([given], 2).control["kp"].shared.tolist() == [5]
    given.shared = True
    row = compile_plan([given], 2).control["kp"]
    assert (row.shared.tolist(), row.own) == ([5], None)


@wp.func
def squashed(effort: float, q: float, qd: float, dt: float, last: float, gain: float, most: float):
    return effort * gain, last


class Squash(aa.Clamping):
    PARAMETERS = ("gain", "most")
    NEUTRAL = (1.0, 9.0)
    STATE = ("last",)
    LAW = squashed


def test_slots_without_a_law_have_its_neutral_values() -> None:
    """Those its class names, else 0 for controllers and inf for limits; whatever comes or goes beside them."""
    plan = compile_plan([actuator(), actuator(clamping=[Squash(array(2, 3), array(4, 5))])], 2)
    rows = plan.stages[0].rows
    assert {name: row.neutral for name, row in rows.items()} == {"gain": 1, "most": 9}
    assert rows["gain"].own is not None
    assert rows["gain"].own.tolist() == [[1, 2], [1, 3]] and rows["gain"].shared.tolist() == [1, 2]
    assert {row.neutral for row in plan.control.values()} == {0} and plan.lag.neutral == 0
    assert compile_plan([actuator(clamping=[LIMIT])], 2).stages[0].rows["max_effort"].neutral == np.inf


def test_laws_with_a_state_have_one_order() -> None:
    pid = aa.ControllerPID(*[array(1, 1)] * 4)
    squash = Squash(array(1, 1), array(1, 1))
    plan = compile_plan([actuator(clamping=[squash, LIMIT, squash]), actuator(pid), actuator(pid, [squash])], 2)
    assert [one.law for one in plan.stateful] == [aa.ControllerPID, Squash, Squash]
    assert [one.stage for one in plan.stateful] == [None, 0, 2]
    assert [one.places.tolist() for one in plan.stateful] == [[-1, 0, 1], [0, -1, 1], [0, -1, -1]]
    assert [one.count for one in plan.stateful] == [2, 2, 1]


def test_the_plan_says_where_the_parts_of_an_actuator_are() -> None:
    delayed = actuator(clamping=[LIMIT, OWN_CLAMP, LIMIT], delay=aa.Delay(array(1, 2, dtype=wp.int32), 3))
    first, second = compile_plan([delayed, actuator(OwnController(), [LIMIT])], 2, [[1], [0]]).placements
    assert (first.slots, first.max_delay, first.controller) == ((1,), 3, aa.ControllerPD)
    assert (second.slots, second.max_delay, second.controller) == ((0,), None, None)
    assert (first.stages, second.stages) == ([("clamping", 2, 0)], [("clamping", 0, 0)])


def test_a_curve_is_held_once() -> None:
    tables = [aa.ClampingPositionBased(None, [0.0, 1.0], efforts) for efforts in ([1.0, 2.0], [3.0, 4.0], [1.0, 2.0])]
    (limit,) = compile_plan([actuator(clamping=[one]) for one in tables], 2).stages
    curves = [(one.number, one.rows[:, :2].T.tolist(), one.used.tolist()) for one in limit.curves]
    assert curves == [(0, [[0, 1], [1, 2]], [True, False, True]), (0, [[0, 1], [3, 4]], [False, True, False])]


def test_rows_may_read_the_arrays_of_their_components() -> None:
    gains, lags = array(1, 2), array(0, 1, dtype=wp.int32)
    plan = compile_plan([actuator(aa.ControllerPD(gains, array(3, 4)), [LIMIT], aa.Delay(lags, 1))], 2, live=True)
    assert plan.control["kp"].live is gains and plan.lag.live is lags
    assert plan.stages[0].rows["max_effort"].live is LIMIT.max_effort
    assert plan.control["const_effort"].live is None and plan.control["const_effort"].shared.tolist() == [0]
    refused(ValueError, lambda: compile_plan([actuator(), actuator()], 2, live=True), "a plan of 2 joints")
