"""Totals of robots: their terms, independent of the order of steps and of the distribution of joints."""

import itertools
from collections.abc import Sequence
from typing import ClassVar

import heated
import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
import warp as wp
from heated import DT, NAMES, ROBOTS
from isaacsim.core.experimental.actuators.engine.assembly import Assembly
from isaacsim.core.experimental.actuators.engine.entry import ActuatorEntry
from isaacsim.core.experimental.actuators.engine.plan import compile_plan
from isaacsim.core.experimental.actuators.engine.totals import share_totals
from isaacsim.core.experimental.actuators.laws.contract.base import Passive, Supply
from isaacsim.core.experimental.actuators.simulators.arrays import ArraysHost
from own_components import OwnController
from refusals import cases, refused


def array(value: float, robots: int = ROBOTS) -> wp.array:
    return wp.full(robots, value, dtype=wp.float32, device="cpu")


@cases(
    "law, said, words",
    (heated.ThermalWinding, {"PUBLISHES": {"heat": "heat"}}, r"PUBLISHES: \['heat'\]: must be some of .*'derating'"),
    (heated.ThermalWinding, {"PUBLISHES": {"robot_power": "heat"}}, r"PUBLISHES: \['robot_power'\]: must be"),
    (heated.ThermalWinding, {"PUBLISHES": {"power": "warmth"}}, r"PUBLISHES has \['warmth'\]: must be some of STATE"),
    (heated.ThermalWinding, {"LAW": None}, r"/A/hip.*ThermalOdd: must have a law"),
    (heated.ClampingDerated, {"LAW": None, "PUBLISHES": {"power": "x"}}, r"publishes \['power'\] and computes arrays"),
)
def test_a_class_that_says_other_things_is_refused(law, said, words) -> None:
    odd = type("ThermalOdd", (law,), said)(*[array(1.0)] * len(law.PARAMETERS))
    own = {"clamping": [odd]} if law is heated.ClampingDerated else {"others": [odd]}
    entry = ActuatorEntry("/A/hip", ("hip",), aa.ControllerPD(array(1), array(1)), own.pop("clamping", []), None, **own)
    refused(TypeError, lambda: compile_plan([entry], ROBOTS), words)


def test_a_law_that_gives_nothing_remembers_something() -> None:
    """Else it would be nothing."""

    @wp.func
    def nothing(effort: float, position: float, velocity: float):
        return effort

    odd = type("SupplyNone", (Supply,), {"LAW": nothing})()
    entry = ActuatorEntry("/A/hip", ("hip",), aa.ControllerPD(array(1), array(1)), [], None, others=[odd])
    with pytest.raises(TypeError, match=r"SupplyNone.STATE is empty: must be something, as a law of kind supply"):
        compile_plan([entry], ROBOTS)


def test_two_laws_of_a_joint_do_not_publish_the_same_signal() -> None:
    class PassiveMetered(Passive):
        PARAMETERS: ClassVar = ("resistance",)
        STATE: ClassVar = ("drawn",)
        PUBLISHES: ClassVar = {"power": "drawn"}
        LAW = heated.metered

    compile_plan([heated.entry("hip"), heated.entry("knee")], ROBOTS)
    words = r"/A/knee.*ElectricalMetered and PassiveMetered publish the power of .*'knee'"
    with pytest.raises(ValueError, match=words):
        compile_plan([heated.entry("hip"), heated.entry("knee", more=[PassiveMetered(array(1))])], ROBOTS)
    own = [PassiveMetered(array(1)), PassiveMetered(array(2))]
    entry = ActuatorEntry("/A/hip", ("hip",), aa.ControllerPD(array(1), array(1)), [], None, others=own)
    refused(ValueError, lambda: compile_plan([entry], ROBOTS), "PassiveMetered and PassiveMetered publish the power")


def test_a_plan_keeps_what_is_read() -> None:
    plan = compile_plan([heated.entry("hip", supplied=False)], ROBOTS)
    assert plan.signals == ["derating", "power"] and plan.has_totals and not plan.totals
    plan = compile_plan([heated.entry("hip")], ROBOTS)
    assert plan.signals == ["derating", "supply_voltage", "power", "robot_power"]
    assert [(name, part, slots.tolist()) for name, part, slots in plan.totals] == [("robot_power", "power", [0])]
    pd = ActuatorEntry("/A/hip", ("hip",), aa.ControllerPD(array(1), array(1)), [aa.ClampingMaxEffort(array(1))], None)
    plan = compile_plan([pd], ROBOTS)
    assert not plan.signals and not plan.has_totals and not Assembly([pd], ROBOTS, "cpu").has_totals


class Spread:
    def __init__(self, *spread: Sequence[ActuatorEntry], robots: Sequence = range(ROBOTS)) -> None:
        self.arrays = [np.zeros((ROBOTS, len(NAMES)), np.float32) for _ in range(6)]
        self.assemblies: list[Assembly] = []
        for entries in spread:
            columns = [NAMES.index(name) for entry in entries for name in entry.dof_names]
            self.assemblies.append(Assembly(entries, ROBOTS, "cpu", columns))
            self.assemblies[-1].bind(columns, self.arrays[:5], self.arrays[5])
        share_totals([(one, list(robots)) for one in self.assemblies])

    def feed(self, inputs: np.ndarray) -> None:
        for values, read in zip(inputs, self.arrays, strict=False):
            read[:] = values

    def step(self, inputs: np.ndarray, order: Sequence[int]) -> np.ndarray:
        self.feed(inputs)
        for at in order:
            self.assemblies[at].step(DT)
        return self.arrays[5].copy()

    def total(self, at: int = 0) -> np.ndarray:
        (_, values), *_ = self.assemblies[at].signals["robot_power"]
        return values.numpy()[:, 0]

    def drawn(self, *names: str) -> np.ndarray:
        saved = {name: values for one in self.assemblies for name, values in one.save().items()}
        power = [np.nan_to_num(saved[f"/A/{name}.electrical.drawn"]) for name in names]
        return np.cumsum(power, axis=0, dtype=np.float32)[-1]


def test_order_of_steps_may_change_at_any_time(rng) -> None:
    one = Spread([heated.entry(name) for name in NAMES])
    three = Spread(*([heated.entry(name) for name in some] for some in (("toe", "hip"), ("ankle",), ("knee",))))
    for order in itertools.chain(*itertools.repeat(list(itertools.permutations(range(3))), 4)):
        inputs = heated.draw(rng)
        np.testing.assert_array_equal(one.step(inputs, [0]), three.step(inputs, order))


def test_a_step_that_comes_more_often_reads_the_latest(rng) -> None:
    both = Spread([heated.entry("hip")], [heated.entry("knee", supplied=False)])

    def run(*orders: Sequence[int]) -> None:
        for order in orders:
            expected = both.drawn("hip", "knee")
            both.step(heated.draw(rng, faults=False), order)
            if 0 in order:
                np.testing.assert_array_equal(both.total(), expected)

    run([0, 1], [0], [0], [0, 1], [1], [1], [1, 0], [1, 0], [0, 1], [0, 1], [0], [0])
    # one that comes again ahead of the other is taken for the end of the round before
    refused(AssertionError, lambda: run([1, 0]))
    for one in both.assemblies:
        one.reset()
    run([1, 0], [1, 0], [0, 1])


def test_a_reset_between_steps_of_a_round_counts_for_both_orders(rng) -> None:
    both = Spread([heated.entry("hip")], [heated.entry("knee", supplied=False)])
    both.step(heated.draw(rng, faults=False), [1, 0])
    before = both.drawn("knee")
    both.feed(heated.draw(rng, faults=False))
    both.assemblies[1].step(DT)
    for one in both.assemblies:
        one.reset([1])
    both.assemblies[0].step(DT)
    hip = both.total() - before
    assert before.all() and hip[[0, 2]].all() and both.total()[1] == 0
    for one in both.assemblies:
        one.reset()
    both.assemblies[0].step(DT)
    assert not both.total().any()


def test_restored_states_begin_a_round(rng) -> None:
    one, other = (Spread([heated.entry("hip")], [heated.entry("knee", supplied=False)]) for _ in range(2))
    for _ in range(5):
        one.step(heated.draw(rng), [0, 1])
    saved = [assembly.save() for assembly in one.assemblies]
    inputs = heated.draw(rng)
    expected = one.step(inputs, [0, 1])
    # in the middle of a round of its own
    other.step(heated.draw(rng), [0, 1])
    other.assemblies[1].step(DT)
    for assembly, state in zip(other.assemblies, saved, strict=True):
        assembly.restore(state)
    np.testing.assert_array_equal(other.step(inputs, [0, 1]), expected)


def test_components_that_compute_arrays_beside_laws(rng) -> None:
    def entries() -> list[ActuatorEntry]:
        given = [heated.entry(name) for name in NAMES]
        given[2].controller = OwnController(*map(array, (40, 0, 1, 0.05)))
        return given

    whole = Spread([heated.entry(name) for name in NAMES])
    cut = Spread(entries())
    assert [len(one.assemblies[0].parts) for one in (whole, cut)] == [1, 2]
    for _ in range(30):
        inputs = heated.draw(rng)
        np.testing.assert_allclose(cut.step(inputs, [0]), whole.step(inputs, [0]), rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(cut.total(), whole.total(), rtol=1e-5)
        for _, values in cut.assemblies[0].signals["robot_power"]:
            np.testing.assert_array_equal(values.numpy(), np.broadcast_to(cut.total()[:, None], values.shape))


def test_only_steps_with_common_robots_share_totals(rng) -> None:
    for robots in (["d", "e", "f"], ["c", "x", "a"]):
        one, other = Spread([heated.entry("hip")]), Spread([heated.entry("knee", supplied=False)])
        share_totals([(one.assemblies[0], ["a", "b", "c"]), (other.assemblies[0], robots)])
        for _ in range(3):
            expected = one.drawn("hip")
            for row, robot in enumerate("abc"):
                if robot in robots:
                    expected[row] += other.drawn("knee")[robots.index(robot)]
            inputs = heated.draw(rng, faults=False)
            other.step(inputs, [0])
            one.step(inputs, [0])
            np.testing.assert_array_equal(one.total(), expected)
        assert expected.all()


def test_total_that_nothing_is_added_to() -> None:
    """Is 0: laws ask for it, and none publishes its terms."""

    def asking(name: str) -> ActuatorEntry:
        entry = heated.entry(name)
        entry.others = [one for one in entry.others if not isinstance(one, heated.ElectricalMetered)]
        return entry

    both = Spread([asking("hip")], [asking("knee")])
    for one in both.assemblies:
        one.step(DT)
    assert not both.total(0).any() and not both.total(1).any()


def pairs(names: Sequence[str], robots: int) -> list[tuple[aa.ActuatorConfig, str]]:
    made = []
    for name in names:
        number = heated.NUMBERS[name]
        others = [
            heated.ElectricalMetered(array(number["resistance"], robots)),
            heated.SupplyDrained(array(heated.OPEN, robots), array(heated.INNER, robots)),
        ]
        limits = [heated.ClampingSagged(array(number["per_volt"], robots))]
        law = aa.ControllerPD(array(number["kp"], robots), array(1.0, robots))
        made.append((aa.ActuatorConfig(law, limits, others=others), name))
    return made


class Wrapped:
    def __init__(self, *spread: Sequence[str], robots: int = ROBOTS) -> None:
        self.host = ArraysHost(NAMES, ROBOTS)
        self.wrappers: list[aa.ArticulationActuators] = []
        self.host.play()
        for names in spread:
            self.add(names)

    def add(self, names: Sequence[str], paths: str = "/Robot_.*", robots: int = ROBOTS) -> aa.ArticulationActuators:
        with aa.use_host(self.host):
            made = aa.ArticulationActuators.from_actuators(paths, pairs(names, robots))
        self.wrappers.append(made)
        return made

    def step(self, inputs: np.ndarray) -> np.ndarray:
        arrays = self.host.arrays()
        names = ("positions", "velocities", "position_targets", "velocity_targets")
        for name, values in zip(names, inputs, strict=False):
            getattr(arrays, name)[:] = values.ravel()
        self.host.step(DT)
        return arrays.efforts.reshape(ROBOTS, -1).copy()


def test_wrappers_of_the_same_robots(rng) -> None:
    one, other = ("hip", "ankle"), ("knee", "toe")
    whole, split, turned = Wrapped(NAMES), Wrapped(one, other), Wrapped(other, one)
    for number in range(30):
        inputs = heated.draw(rng)
        if number == 10:
            for robots in (whole, split, turned):
                robots.host.stop()
                robots.host.play()
        if number == 20:
            for robots in (whole, split, turned):
                for wrapper in robots.wrappers:
                    wrapper.reset(indices=[2])
        found = [robots.step(inputs) for robots in (whole, split, turned)]
        np.testing.assert_array_equal(found[0], found[1])
        np.testing.assert_array_equal(found[0], found[2])
    # one goes: its joints draw nothing any more
    half = Wrapped(("hip", "ankle"))
    half.wrappers[0].restore_state(split.wrappers[0].save_state())
    split.wrappers[1].close()
    for _ in range(5):
        inputs = heated.draw(rng)
        np.testing.assert_array_equal(half.step(inputs)[:, ::2], split.step(inputs)[:, ::2])
    # it comes again, for one robot
    split.add(("knee",), "/Robot_1", 1)
    for _ in range(5):
        inputs = heated.draw(rng, faults=False)
        found = [robots.step(inputs)[:, ::2] for robots in (half, split)]
        np.testing.assert_array_equal(found[0][[0, 2]], found[1][[0, 2]])
    assert (found[0][1] != found[1][1]).any()
