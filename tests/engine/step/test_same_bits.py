"""The native step and Warp on the CPU are bit-identical, and each continues from the state of the other."""

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators.base.native import core
from isaacsim.core.experimental.actuators.engine.entry import ActuatorEntry
from isaacsim.core.experimental.actuators.engine.plan import Plan, compile_plan
from isaacsim.core.experimental.actuators.engine.step.binding import Columns, Indices
from isaacsim.core.experimental.actuators.engine.step.native import NativeStep
from isaacsim.core.experimental.actuators.engine.step.state import restore, save
from isaacsim.core.experimental.actuators.engine.step.warp import WarpStep
from refusals import cases
from step_bench import DT, NAMES, Bench, built_in_entries, built_in_plan, draw
from warp_arrays import listed

if core is None:
    pytest.skip("the native core was not built", allow_module_level=True)
ROBOTS, STEPS = 3, 50
JOINTS = list(range(len(NAMES)))


def native(plan: Plan) -> NativeStep:
    return NativeStep(plan)


def warp(plan: Plan) -> WarpStep:
    return WarpStep(plan, "cpu")


LAWS = {
    "PD": lambda: aa.ControllerPD(listed(30, 0, 1e-3), listed(2, 1, 0)),
    "PD const": lambda: aa.ControllerPD(listed(30, 20, 10), listed(2, 1, 3), listed(1, -2, 1e30)),
    "PID": lambda: aa.ControllerPID(listed(30, 20, 10), listed(2, 90, 0), listed(1, 0, 3), listed(0.05, np.inf, 0)),
}
LIMITS = {
    "max": lambda: aa.ClampingMaxEffort(listed(4, 0, np.inf)),
    "motor": lambda: aa.ClampingDCMotor(listed(9, 20, 0), listed(2, 0.3, 1e-3), listed(7, 30, 5)),
    # a brake, no slope, no speed to speak of
    "odd motor": lambda: aa.ClampingDCMotor(
        listed(np.inf, 1e-38, 3e38), listed(1e-38, np.inf, 3e38), listed(5, 3, np.inf)
    ),
    "table": lambda: aa.ClampingPositionBased(None, [-1.0, 0.0, 0.0, 0.7, 1.0], [5.0, 20.0, 9.0, 1e-3, 10.0]),
    "point": lambda: aa.ClampingPositionBased(None, [0.1], [6.0]),
}


class Pair:
    def __init__(self, plan) -> None:
        self.steps = NativeStep(plan()), WarpStep(plan(), "cpu")
        self.benches = [Bench(step) for step in self.steps]

    def step(self, inputs: np.ndarray) -> None:
        found, expected = (bench.step(inputs) for bench in self.benches)
        np.testing.assert_array_equal(found.view(np.uint32), expected.view(np.uint32))

    def compare(self) -> None:
        saved, other = (save([(JOINTS, step)]) for step in self.steps)
        assert {*saved} == {*other}
        for name in saved:
            np.testing.assert_array_equal(saved[name], other[name], err_msg=name)


@pytest.mark.parametrize("per_robot", [False, True])
def test_all_laws_together_give_the_same_bits(per_robot, rng) -> None:
    def plan() -> Plan:
        entries = built_in_entries()
        for entry in entries:
            entry.shared = not per_robot and entry.label != "/A/knee"
        return compile_plan(entries, ROBOTS)

    pair = Pair(plan)
    for number in range(STEPS):
        if number in (17, 31):
            for step in pair.steps:
                step.reset([1] if number == 17 else None)
        pair.step(draw(rng))
    pair.compare()
    assert len(pair.steps[0].faults()) > 3


def joint(law: str, limits: tuple[str, ...], delay) -> ActuatorEntry:
    lags = None if delay is None else aa.Delay(wp.array(delay[0], dtype=wp.int32, device="cpu"), delay[1])
    return ActuatorEntry("a", ("a",), LAWS[law](), [LIMITS[name]() for name in limits], lags)


class OneJoint:
    """A step of one joint per robot, by columns or by indices, with what it read last."""

    def __init__(self, made, entry: ActuatorEntry, kind: str) -> None:
        self.step, self.kind = made(compile_plan([entry], ROBOTS, live=kind == "indices")), kind
        self.step.observe(True)
        self.inputs = [np.zeros((ROBOTS, 1), np.float32) for _ in range(5)]
        self.efforts, self.computed = (np.zeros((ROBOTS, 1), np.float32) for _ in range(2))
        if kind == "indices":
            at = np.array([2, 0, 1], np.uint32)
            flat = [array.reshape(-1) for array in (*self.inputs, self.efforts, self.computed)]
            self.step.bind(Indices(flat[:5], [at] * 5, flat[5], at, flat[6]))
        else:
            self.step.bind(Columns([0], self.inputs, self.efforts))

    def take(self, inputs: np.ndarray) -> bytes:
        for array, values in zip(self.inputs, inputs, strict=True):
            array[:] = values
        self.efforts[:] = self.computed[:] = 0
        self.step.step(DT)
        computed, limited_by = self.step.observed()
        told = np.asarray(computed, np.float32), np.asarray(limited_by, np.uint8)
        return b"".join(array.tobytes() for array in (self.efforts, self.computed, *told))


@pytest.mark.parametrize("kind", ["columns", "indices"])
@pytest.mark.parametrize("delay", [None, ([0, 1, 3], 3), ([2, 2, 2], 2), ([1, 1, 1], 1), ([0, 0, 0], 1)], ids=str)
@cases(
    "law, limits",
    *((law, ()) for law in LAWS),
    *(("PD", (name,)) for name in LIMITS),
    *(("PID", (name, "max")) for name in ("motor", "table")),
    ("PD const", ("motor", "table", "max")),
    ("PID", ("max", "motor", "point", "motor")),
    ids=str,
)
def test_each_law_gives_the_same_bits(law, limits, delay, kind) -> None:
    rng = np.random.default_rng(5)
    one, other = (OneJoint(made, joint(law, limits, delay), kind) for made in (native, warp))
    for number in range(STEPS):
        inputs = draw(rng)[:, :, :1] * rng.choice(np.float32([1, 1, 1, 1e-38, 1e20]), (5, ROBOTS, 1))
        if number in (19, 33):
            for each in (one, other):
                each.step.reset([1] if number == 19 else None)
        assert one.take(inputs) == other.take(inputs), number
    assert one.step.faults() == other.step.faults() != []
    saved, restored = (save([([0], each.step)]) for each in (one, other))
    for name in saved:
        np.testing.assert_array_equal(saved[name], restored[name], err_msg=name)


@pytest.mark.parametrize(("position", "limit"), [(-1.0, 5), (0.0, 20), (1e-7, 9), (1.0, 10), (2.0, 10), (-3.0, 5)])
@pytest.mark.parametrize("made", [native, warp])
def test_where_two_rows_share_a_point_the_first_holds_there(made, position, limit) -> None:
    table = aa.ClampingPositionBased(None, [-1.0, 0.0, 0.0, 1.0], [5.0, 20.0, 9.0, 10.0])
    law = aa.ControllerPD(listed(0, 0, 0), listed(0, 0, 0), listed(1000, 1000, 1000))
    one = OneJoint(made, ActuatorEntry("a", ("a",), law, [table], None), "columns")
    inputs = np.zeros((5, ROBOTS, 1), np.float32)
    inputs[0] = position
    one.take(inputs)
    np.testing.assert_allclose(one.efforts, limit, rtol=1e-6)


@pytest.mark.parametrize("steps", [0, 1, 4, 23])
@pytest.mark.parametrize(("first", "second"), [(native, warp), (warp, native)])
def test_what_one_saved_the_other_continues(first, second, steps, rng) -> None:
    source, target = (Bench(made(built_in_plan())) for made in (first, second))
    for _ in range(steps):
        source.step(draw(rng))
    for _ in range(3):
        target.step(draw(rng))
    source.step_of_plan.reset([0])
    restore([(JOINTS, target.step_of_plan)], save([(JOINTS, source.step_of_plan)]))
    for _ in range(STEPS - steps):
        inputs = draw(rng)
        np.testing.assert_array_equal(target.step(inputs).view(np.uint32), source.step(inputs).view(np.uint32))
    assert target.step_of_plan.faults() == source.step_of_plan.faults()
    assert target.step_of_plan.steps == source.step_of_plan.steps == STEPS
