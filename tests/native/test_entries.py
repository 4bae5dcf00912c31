"""What reaches the native core is looked through: `tests/hardening/entries.py` tries odd arguments without end, these
are the ones that something was once wrong with."""

import math
import sys
from pathlib import Path

import numpy as np
import pytest
from isaacsim.core.experimental.actuators.base.native import core
from refusals import cases, refused

if core is None:
    pytest.skip("the native core was not built", allow_module_level=True)

import core_objects
from core_objects import DT, Bench, Chain, Entry, OneJoint, floats, ints

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "hardening"))
import entries as odd

# nothing to give them
WITHOUT_ARGUMENTS = {
    *("Calls.is_current", "Evaluation.run", "Network.variant", "Plan.arrays", "Plan.faults", "Plan.layout"),
    *("Plan.limit", "Plan.memory", "Plan.publish", "Plan.steps", "Plan.unsettle", "Plan.variant", "Transfer.run"),
    *("InTurn.run", "Roots.run", "EffectiveInertias.run", "VelocityLimits.run", "laws", "variants"),
}
# for the benchmarks: they take as long as they are told
MEASURES = {"Plan.time_steps", "time_stream"}
MADE = {"Noted", "Evaluation"}


def test_every_entry_is_tried() -> None:
    found = set()
    for name, value in vars(core).items():
        if isinstance(value, type):
            inside = {f"{name}.{one}" for one in vars(value) if not one.startswith("_")}
            found |= {name, *inside} - MADE
        elif callable(value):
            found.add(name)
    assert found == {name for name in core_objects.entries() if "," not in name} | WITHOUT_ARGUMENTS | MEASURES


@pytest.mark.parametrize("name", core_objects.entries())
def test_good_arguments_work(name) -> None:
    """So that what is refused is refused for what is odd in it."""
    entry: Entry = core_objects.entries()[name]()
    entry.after(entry.call(*entry.arguments))


def test_some_odd_arguments(capfd) -> None:
    outcomes = [odd.check(18, number) for number in range(100)]
    assert not [one for one in outcomes if one.startswith("WRONG")], capfd.readouterr().out
    assert {one.partition(",")[0] for one in outcomes} == {"worked", "refused"}


@pytest.mark.parametrize("kind", sorted(name for name, one in vars(core).items() if isinstance(one, type)))
def test_an_object_without_init_is_refused(kind) -> None:
    """`__new__` alone leaves memory in which there is nothing; its lock would never open."""
    empty = getattr(core, kind).__new__(getattr(core, kind))
    for name in dir(empty):
        if name.startswith("_"):
            continue
        with pytest.raises(TypeError):
            getattr(empty, name)(*{"step": [DT], "command": [DT], "read": [empty, 0]}.get(name, []))
    refused(TypeError, lambda: Bench().plan.use(empty, empty))


def tape(**changed):
    given = {"robots": [0], "slots": [0], "arrays": [0], "capacity": 5, "all_robots": 3, "all_slots": 4}
    return core.Tape(**given | changed)


def plan_with(steps: int):
    arguments = Bench().plan_arguments()
    network, features, history, _steps, *rest = arguments[-1][0]
    return core.Plan(*arguments[:-1], [(network, features, history, steps, *rest)])


@cases(
    "call, words",
    (lambda: tape(capacity=2**62, arrays=[0, 1, 2, 3]), "capacity = 4611686018427387904"),
    (lambda: tape(all_robots=-1), "of a plan"),
    (lambda: tape(all_robots=2**40, all_slots=2**40), "of a plan"),
    (lambda: core.Gradients(2**62, "ControllerPD", [], [], [[]], 0), "elements: must be at most 2"),
    (
        lambda: core.Gradients(3, "ControllerPD", [], ["ClampingPositionBased"], [[], [floats()]], 0),
        "curve: must be of rows",
    ),
    (lambda: core.Gradients(3, "ControllerPD", [], [], [], 0), "curves: must be those of the controller,"),
    (
        lambda: core.Gradients(3, "ControllerPD", [], ["ClampingPositionBased"], [[], []], 0),
        "curves of ClampingPositionBased: must be 1 of rows",
    ),
    (lambda: core.Gradients(3, "ControllerPD", [], [], [[floats(1, 3)]], 0), "curves of ControllerPD: must be 0"),
    (lambda: core.Gradients(3, "", [], [], [[floats(1, 3)]], 0), "curves of the controller: must be none"),
    (lambda: core.Gradients(3, "", [], 2 * ["TransmissionGear"], 3 * [[]], 0), "limits: must be with one transm"),
    (lambda: core.Gradients(3, "", [], [], [[], []], 0, "ControllerPD"), "law = ControllerPD: must be one of"),
    (lambda: core.Gradients(3, "", 2 * Bench().plan_arguments()[-1], [], [[]], 0), "networks: must be one at most"),
    (lambda: Bench().plan.set_faults([], 2**63 - 1), "steps = 9223372036854775807"),
    (lambda: Bench().plan.set_faults([], -1), "steps = -1"),
    (lambda: plan_with(2**62), "of 1 to 65536 steps"),
    (lambda: core.ring(3, 2**62), "ring of 3"),
    (lambda: core.Draws([(floats(1), floats(1), 0, 0, 0.0, 1.0, 1)], 1), "item: must be of eight parts"),
    (lambda: core.Draws([(floats(1), floats(1), 0, 0, 0.0, 1.0, 1, True, 1)], 1), "item: must be of eight parts"),
    # an array made of it would be gone by the time it is written to
    (lambda: core.Draws([([np.float32(1)], floats(1), 0, 0, 0.0, 1.0, 1, True)], 1), "values: must be a NumPy"),
)
def test_what_would_reach_foreign_memory_is_refused(call, words) -> None:
    refused(ValueError, call, words)


@cases(
    "call",
    lambda: Bench().plan.record(None),
    lambda: Bench().plan.stop_recording(None),
    lambda: Bench().plan.use(None, None),
    lambda: core.Calls([None], [], [], [], False, False),
    lambda: core.Calls([], [1], [], [], False, False),
    lambda: core.Draws([(floats(1), floats(1), None, 0, 0.0, 1.0, 1, True)], 1),
    lambda: core.Transfer([(floats(1, 1), None, floats(1, 1), [0])]),
    lambda: OneJoint().calls.add_states(1, 2, [object()], [object()], []),
    lambda: Chain().gradients.note(*[*Chain().noting()[:3], None, ints(3), DT]),
)
def test_another_kind_of_object_is_a_type_error(call) -> None:
    refused(TypeError, call)


def test_a_tape_notes_one_plan_at_a_time() -> None:
    """Two that note on it would write beyond its rows."""
    bench, other = Bench(), Bench()
    bench.plan.record(bench.tape)
    for one in (bench, other):
        with pytest.raises(ValueError, match="one on which nothing is noted yet"):
            one.plan.record(bench.tape)
    other.plan.stop_recording(bench.tape)
    bench.plan.step(DT)
    with pytest.raises(ValueError, match="one of this plan"):
        other.plan.read(bench.tape, 3)
    assert bench.plan.read(bench.tape, 3).shape == (1, 2, 3)
    bench.plan.stop_recording(bench.tape)
    other.plan.record(bench.tape)
    other.plan.step(DT)
    assert other.plan.read(bench.tape, 3).shape == (2, 2, 3)
    # one whose plan is gone is free
    del one, other
    bench.plan.record(bench.tape)


def test_limits_are_observed_alone() -> None:
    robots, slots = 5, 4
    plan = core.Plan(
        "leg", robots, slots, [1.0] * 4, [("ControllerPD", [0, 1, 2], [0, 1, 2, 3])],
        [("ClampingMaxEffort", [3], [0, 1, 2, 3])], [], 1,
    )  # fmt: skip
    plan.bind_columns([floats(robots, 8, value=9.0 * (k == 4)) for k in range(5)], floats(robots, 8), [0, 2, 4, 7])
    assert plan.layout == "gaps"
    memory = np.full(3 * robots * slots, 77, np.uint8)
    seen = memory[robots * slots : 2 * robots * slots].reshape(robots, slots)
    plan.observe(None, seen)
    plan.step(DT)
    assert (seen == 1).all() and (memory[: robots * slots] == 77).all() and (memory[2 * robots * slots :] == 77).all()


def test_states_in_a_list_stay_alive() -> None:
    one = OneJoint()
    one.calls.add_frame(*one.frame())

    class Given:
        gone = 0

        def __del__(self) -> None:
            Given.gone += 1

    given = [Given()]
    one.calls.add_states(given, given, [one.state], [one.state], [])
    given.clear()
    assert Given.gone == 0
    del one
    assert Given.gone == 1


def test_seconds_that_are_no_float_are_for_python_to_refuse() -> None:
    one = OneJoint()
    one.calls.add_frame(*one.frame())
    one.calls.add_states(*one.states())
    assert not one.calls.step(one.sim_state, one.sim_state, one.given, [one.given], 10**400)


def test_a_step_by_an_integer_that_no_double_holds_is_one_by_infinity() -> None:
    checked: list[float] = []
    core_objects.entries()["Plan.stepper"]().call(checked.append)(10**400)
    assert checked == [math.inf]


def test_numbers_may_be_one_byte_off() -> None:
    memory = np.zeros(4 * 8 + 8, np.uint8)
    rows, numbers = memory[1:25].view(np.int64), memory[1:17].view(np.float32)
    rows[:] = [0, 1, 2]
    values = floats(3)
    core.Draws([(values, floats(3), 0, 0, 2.0, 3.0, 1, True)], 3).draw(rows, rows, 0)
    assert ((values >= 2) & (values < 3)).all()
    arguments = Bench().network_arguments()
    core.Network(*arguments[:-1], numbers).set(numbers)
    with pytest.raises(ValueError, match=r"columns\[0\]: must be a contiguous NumPy array"):
        core.prepare("ClampingMaxEffort", [numbers, numbers])


def test_whole_numbers_beyond_the_largest_are_the_smallest() -> None:
    """As NumPy converts them on x86, whatever the processor."""
    values = ints(3)
    core.Draws([(values, floats(3), 0, 1, 1e300, 1e300, 1, True)], 3).draw(np.arange(3), np.zeros(3, np.int64), 2**62)
    assert (values == -(2**31)).all()


@cases(
    "change, said",
    ({"robots": []}, "tape"),
    ({"slots": []}, "tape"),
    ({"capacity": -1}, "tape"),
    ({"robots": [0, -1]}, "robot of a tape"),
    ({"robots": [4]}, "robot of a tape"),
    ({"slots": [-1]}, "slot of a tape"),
    ({"slots": [1, 3]}, "slot of a tape"),
    ({"arrays": [-1]}, "array of a tape"),
    ({"arrays": [99]}, "array of a tape"),
    ({"all_robots": 0}, "of a plan"),
    ({"all_slots": 0}, "of a plan"),
    ({"all_robots": 1 << 40}, "of a plan"),
    ({"capacity": 1 << 50}, "capacity = 1125899906842624"),
)
def test_a_tape_is_of_what_the_plan_has(change, said) -> None:
    good = {"robots": [0, 3], "slots": [2, 0], "arrays": [0, 1], "capacity": 5, "all_robots": 4, "all_slots": 3}
    core.Tape(**good)
    refused(ValueError, lambda: core.Tape(**good | change), said)
