"""Custom laws as scalar `wp.func`: a plan runs them, with the same results as outside a plan."""

from types import SimpleNamespace
from typing import Any, ClassVar

import curved_laws
import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators.engine.assembly import Assembly
from isaacsim.core.experimental.actuators.engine.entry import ActuatorEntry
from isaacsim.core.experimental.actuators.files.usd.schema import foreign_config
from isaacsim.core.experimental.actuators.laws.contract.base import Passive
from isaacsim.core.experimental.actuators.simulators.arrays import ArraysHost
from pxr import Sdf
from refusals import cases, refused
from small_stages import SmallStage
from warp_arrays import listed

ROBOTS, DT = 3, 0.01


@wp.func
def filtered_pd(
    q: float,
    qd: float,
    q_target: float,
    qd_target: float,
    ff: float,
    dt: float,
    filtered: float,
    steps: float,
    kp: float,
    rate: float,
):
    now = filtered + wp.min(rate * dt, 1.0) * (q_target - q - filtered)
    return kp * now + qd_target - qd + ff, now, steps + 1.0


@wp.func
def one_sided(effort: float, q: float, qd: float, most: float):
    """A motor that pulls and never pushes, more weakly the faster it turns."""
    return wp.clamp(effort, 0.0, most / (1.0 + wp.abs(qd)))


class FilteredPD(aa.Controller):
    PARAMETERS: ClassVar = ("kp", "rate")
    STATE: ClassVar = ("filtered", "steps")
    LAW = filtered_pd


class OneSided(aa.Clamping):
    PARAMETERS: ClassVar = ("most",)
    LAW = one_sided


def parts() -> tuple[aa.Controller, aa.Clamping, aa.Delay]:
    lags = wp.array([0, 1, 3], dtype=wp.int32, device="cpu")
    return FilteredPD(listed(20, 30, 40), rate=listed(5, 50, 500)), OneSided(listed(9, 8, 7)), aa.Delay(lags, 3)


class Bench:
    """An engine on its arrays: joint 0 has laws of our own, joint 1 is built in."""

    def __init__(self, own: ActuatorEntry | None = None) -> None:
        controller, clamp, delay = parts()
        own = own or ActuatorEntry(
            "/A/own", ("own",), controller, [clamp, aa.ClampingMaxEffort(listed(5, 5, 5))], delay
        )
        known = ActuatorEntry("/A/known", ("known",), aa.ControllerPD(listed(1, 2, 3), listed(4, 5, 6)), [], None)
        self.entries = [own, known]
        self.engine = Assembly(self.entries, ROBOTS, "cpu")
        self.inputs = [np.zeros((ROBOTS, 2), np.float32) for _ in range(5)]
        self.efforts = np.zeros((ROBOTS, 2), np.float32)
        self.engine.bind([0, 1], self.inputs, self.efforts)

    def step(self, draws: np.random.Generator) -> np.ndarray:
        for values in self.inputs:
            values[:] = draws.normal(size=values.shape)
        self.engine.step(DT)
        return self.efforts.copy()


class Twin:
    """The same laws in float64, one robot."""

    def __init__(self, kp: float, rate: float, most: float, lag: int) -> None:
        self.kp, self.rate, self.most, self.lag = kp, rate, most, lag
        self.commands: list = []
        self.filtered = 0.0

    def step(self, q: float, qd: float, q_target: float, qd_target: float, ff: float) -> float:
        self.commands.append((q_target, qd_target, ff))
        q_target, qd_target, ff = self.commands[max(len(self.commands) - 1 - self.lag, 0)]
        self.filtered += min(self.rate * DT, 1.0) * (q_target - q - self.filtered)
        effort = self.kp * self.filtered + qd_target - qd + ff
        return min(float(np.clip(effort, 0.0, self.most / (1.0 + abs(qd)))), 5.0)


def test_own_laws_agree_with_their_float64_twin(rng) -> None:
    bench, values = Bench(), [(20, 5, 9, 0), (30, 50, 8, 1), (40, 500, 7, 3)]
    twins = [Twin(*row) for row in values]
    for step in range(40):
        if step == 20:
            bench.engine.reset([1])
            twins[1] = Twin(*values[1])
        efforts = bench.step(rng)[:, 0]
        wide = [values[:, 0].astype(np.float64) for values in bench.inputs]
        expected = [twin.step(*(values[robot] for values in wide)) for robot, twin in enumerate(twins)]
        np.testing.assert_allclose(efforts, expected, atol=2e-4)
    assert 0.1 < np.abs(expected).max() <= 5.0


def test_plan_runs_them() -> None:
    assert "custom" not in Bench().engine.name
    assert bench_of(FilteredPD(listed(1, 1, 1), listed(1, 1, 1)), [OneSided(listed(1, 1, 1))]).engine.name != "custom"


def bench_of(controller: aa.Controller, clamps: list[aa.Clamping]) -> Bench:
    return Bench(ActuatorEntry("/A/own", ("own",), controller, clamps, None))


def test_by_itself_a_law_gives_the_same_bits(rng) -> None:
    bench, (controller, clamp, delay) = Bench(), parts()
    every = wp.array(np.arange(ROBOTS), dtype=wp.uint32, device="cpu")
    alone = aa.Actuator(every, controller, delay, [clamp, aa.ClampingMaxEffort(listed(5, 5, 5))])
    now, after = alone.state(), alone.state()
    assert now is not None and after is not None
    for _ in range(12):
        expected = bench.step(rng)[:, 0]
        q, qd, q_target, qd_target, ff = (listed(*values[:, 0]) for values in bench.inputs)
        control = SimpleNamespace(
            joint_target_pos=q_target, joint_target_vel=qd_target, joint_act=ff, joint_f=listed(0, 0, 0)
        )
        alone.step(SimpleNamespace(joint_q=q, joint_qd=qd), control, now, after, DT)
        np.testing.assert_array_equal(control.joint_f.numpy(), expected)
        now, after = after, now
    assert now.controller_state.steps.numpy().tolist() == [12.0] * ROBOTS
    now.reset(wp.array([True, False, True], dtype=wp.bool, device="cpu"))
    assert now.controller_state.steps.numpy().tolist() == [0.0, 12.0, 0.0]


@pytest.mark.parametrize("which", ["kp", "rate", "most"])
def test_parameter_that_becomes_nan_stops_its_joint_only(which, rng) -> None:
    """Effort 0 and a fault, also where the law would lose the NaN in a minimum; every other joint keeps its bits."""
    clean, faulty = Bench(), Bench()
    part = faulty.entries[0].clamping[0] if which == "most" else faulty.entries[0].controller
    for step in range(6):
        draws = rng.integers(2**31)
        if step == 4:
            getattr(part, which).numpy()[2] = np.nan
        expected = clean.step(np.random.default_rng(draws))
        if step >= 4:
            expected[2, 0] = 0.0
        np.testing.assert_array_equal(faulty.step(np.random.default_rng(draws)), expected)
    (fault,) = faulty.engine.faults()
    assert (fault.dof_name, fault.robot, fault.step, fault.inputs) == ("own", 2, 4, ("effort",))


def test_state_that_is_not_finite_is_a_fault(rng) -> None:
    bench = bench_of(Overflowing(listed(1, 1, 1)), [])
    for step in range(3):
        assert bench.step(rng)[0, 0] == (1.0 if step < 1 else 0.0)
    assert [fault.step for fault in bench.engine.faults()] == [1, 1, 1]


@wp.func
def overflowing(
    q: float, qd: float, q_target: float, qd_target: float, ff: float, dt: float, grown: float, gain: float
):
    return gain, (grown + 1.0e15) * 1.0e15


class Overflowing(aa.Controller):
    PARAMETERS: ClassVar = ("gain",)
    STATE: ClassVar = ("grown",)
    LAW = overflowing


def test_saved_state_holds_what_own_laws_remember(rng) -> None:
    bench, later = Bench(), Bench()
    for _ in range(5):
        bench.step(rng)
    later.engine.restore(bench.engine.save())
    for _ in range(5):
        draws = rng.integers(2**31)
        expected = bench.step(np.random.default_rng(draws))
        np.testing.assert_array_equal(later.step(np.random.default_rng(draws)), expected)


class OverridingPD(aa.ControllerPD):
    def compute(self, *arguments, **more) -> None:
        arguments[9].fill_(2.5)


def test_a_subclass_that_overrides_the_computation_is_obeyed(rng) -> None:
    bench = bench_of(OverridingPD(listed(1, 1, 1), listed(1, 1, 1)), [])
    assert bench.step(rng)[:, 0].tolist() == [2.5] * ROBOTS


class StiffPD(aa.ControllerPD):
    """Inherits everything."""


def test_a_subclass_keeps_the_rules_of_its_base() -> None:
    refused(ValueError, lambda: bench_of(StiffPD(listed(1, -1, 1), listed(1, 1, 1)), []), r"kp = -1.*>= 0")
    with pytest.raises(ValueError, match=r"rate = nan: must be a number"):
        bench_of(FilteredPD(listed(1, 1, 1), listed(1, np.nan, 1)), [])


def constant_controller(value: float) -> aa.Controller:
    """A law whose name is always the same and whose body is not, as when a notebook cell is run again."""
    number = wp.constant(value)

    @wp.func
    def law(q: float, qd: float, q_target: float, qd_target: float, ff: float, dt: float, gain: float):
        return gain * number

    return type("Same", (aa.Controller,), {"PARAMETERS": ("gain",), "LAW": law})(listed(1, 1, 1))


@pytest.mark.slow
def test_laws_of_the_same_name_are_distinguished(rng) -> None:
    benches = [bench_of(constant_controller(value), []) for value in (2.0, 3.0)]
    for _ in range(2):
        assert [bench.step(rng)[0, 0] for bench in benches] == [2.0, 3.0]
    both = bench_of(constant_controller(4.0), [])
    assert [bench.step(rng)[0, 0] for bench in (*benches, both)] == [2.0, 3.0, 4.0]


@wp.func
def short(effort: float, most: float):
    return wp.min(effort, most)


@wp.func
def returns_nothing(effort: float, q: float, qd: float, most: float):
    wp.printf("")


@cases(
    "law, words",
    (short, ["Broken.LAW takes 2 arguments", "4 (effort, position, velocity, most)"]),
    (staticmethod(lambda *_: 0.0), ["Broken.LAW", "@wp.func"]),
    (returns_nothing, ["Broken", "do not compile"]),
)
def test_a_law_that_cannot_run_is_refused_at_once(law: Any, words: list[str]) -> None:
    broken = type("Broken", (aa.Clamping,), {"PARAMETERS": ("most",), "LAW": law})(listed(1, 1, 1))
    text = refused(TypeError, lambda: bench_of(aa.ControllerPD(*[listed(1, 1, 1)] * 2), [broken]))
    assert all(word in text for word in words), text


@pytest.mark.parametrize(("values", "named"), [((), {}), ((1, 2, 3), {}), ((1,), {"kp": 2}), ((1,), {"speed": 2})])
def test_the_inherited_constructor_takes_each_parameter_once(values, named) -> None:
    with pytest.raises(TypeError, match="FilteredPD takes the arrays"):
        FilteredPD(*(listed(value) for value in values), **{name: listed(value) for name, value in named.items()})


def test_the_inherited_constructor_checks_shapes() -> None:
    refused(ValueError, lambda: FilteredPD(listed(1, 2), listed(1)), r"rate has shape \(1,\).*kp, \(2,\)")


def test_arguments_without_defaults_are_required() -> None:
    assert FilteredPD.resolve_arguments({"kp": 1.0, "rate": 2.0, "other": 3.0}) == {"kp": 1.0, "rate": 2.0}
    refused(ValueError, lambda: FilteredPD.resolve_arguments({"kp": 1.0}), r"FilteredPD lacks \['rate'\]")


def test_a_prim_chooses_an_own_law_once_it_is_registered() -> None:
    made = SmallStage()
    made.root("/World/R")
    for link in ("base", "arm"):
        made.body(f"/World/R/{link}")
    made.joint("/World/R/joints/hinge", "Revolute", "/World/R/base", "/World/R/arm")
    prim = made.stage.DefinePrim("/World/R/Actuators/hinge", "NewtonActuator")
    for schema in ("AcmeFilteredAPI", "NewtonMaxEffortClampingAPI"):
        prim.AddAppliedSchema(schema)
    for name, value in (("newton:kp", 2.0), ("newton:rate", 1000.0), ("newton:maxEffort", 5.0)):
        prim.CreateAttribute(name, Sdf.ValueTypeNames.Float).Set(value)
    prim.CreateRelationship("newton:targets").SetTargets(["/World/R/joints/hinge"])
    aa.register_actuator_component("AcmeFilteredAPI", FilteredPD, aa.ComponentKind.CONTROLLER)
    host = ArraysHost(["hinge"], path="/World/R", stage=made.stage)
    with aa.use_host(host), aa.ArticulationActuators("/World/R") as wrapper:
        host.play()
        host.arrays().position_targets[:] = 1.5
        host.step(DT)
        assert host.arrays().efforts.tolist() == [3.0]
        wrapper.actuators[0].controller.kp.fill_(4.0)
        host.step(DT)
        assert host.arrays().efforts.tolist() == [5.0]
    # what the limit has is none of its values
    assert foreign_config(prim, "AcmeFilteredAPI").values == {"kp": 2.0, "rate": 1000.0}


# ---- curves, and what is prepared for the step


@pytest.mark.parametrize("sensed", [False, True])
def test_own_laws_with_curves_agree_with_their_float64_twin(sensed, rng) -> None:
    engine = Assembly(curved_laws.curved_entries(sensed=sensed), ROBOTS, "cpu")
    arrays = [np.zeros((ROBOTS, 4), np.float32) for _ in range(6)]
    engine.bind(range(4), arrays[:5], arrays[5])
    twin = curved_laws.CurvedTwin(sensed=sensed)
    for number in range(20):
        for values in arrays[:5]:
            values[:] = 2 * rng.normal(size=values.shape)
        if number == 10:
            arrays[0][1, 0] = np.nan
        dt = (0.01, 0.25)[number % 2]
        engine.step(dt)
        np.testing.assert_allclose(arrays[5], twin.step(np.stack(arrays[:5]), dt), atol=2e-4, rtol=2e-5)
    assert [fault.dof_name for fault in engine.faults()] == ["hip"]


@wp.func
def narrowing(effort: float, position: float, velocity: float, share: float, most: float, fade: float) -> float:
    bound = share * most - fade
    return wp.clamp(effort, -bound, bound)


class Narrowing(curved_laws.Tabled, aa.Clamping):
    PARAMETERS: ClassVar = ("share",)
    CURVES: ClassVar = {"most": "position", "fade": "speed"}
    LAW = narrowing


def test_curves_by_themselves_give_the_same_bits(rng) -> None:
    gains, shares = listed(3, 4, 5), listed(0.5, 1, 2)
    controller = curved_laws.ControllerCurved(gains, stiffness=curved_laws.STIFF, droop=curved_laws.DROOP)
    bench = bench_of(controller, [Narrowing(shares, most=curved_laws.LONG, fade=curved_laws.FADE)])
    every = wp.array(np.arange(ROBOTS), dtype=wp.uint32, device="cpu")
    alone = (
        curved_laws.ControllerCurved(gains, stiffness=curved_laws.STIFF, droop=curved_laws.DROOP),
        Narrowing(shares, most=curved_laws.LONG, fade=curved_laws.FADE),
    )
    for number in range(6):
        expected = bench.step(rng)[:, 0]
        if number == 3:
            for one in alone:
                one.finalize("cpu", ROBOTS)
        q, qd, q_target, qd_target, ff = (listed(*values[:, 0]) for values in bench.inputs)
        efforts, limited = listed(0, 0, 0), listed(0, 0, 0)
        alone[0].compute(q, qd, q_target, qd_target, ff, *[every] * 4, efforts, None, DT)
        alone[1].modify_forces(efforts, limited, q, qd, every, every)
        np.testing.assert_array_equal(limited.numpy(), expected)


def test_a_limit_that_is_prepared_for_the_step_runs_in_a_plan_only() -> None:
    limit, efforts = (
        curved_laws.ClampingCurved(listed(1, 1, 1), share=curved_laws.ONE, fade=curved_laws.DROOP),
        listed(1, 1, 1),
    )
    with pytest.raises(NotImplementedError, match=r"ClampingCurved is prepared for the physics step, .*a plan only"):
        limit.modify_forces(efforts, efforts, efforts, efforts, None, None)


def test_names_of_curves_alone_are_curves_over_the_position() -> None:
    older = type("Older", (Narrowing,), {"CURVES": ("most", "fade")})
    assert older.CURVES == type("Later", (older,), {}).CURVES == {"most": "position", "fade": "position"}
    assert aa.Clamping.CURVES == {} and Narrowing.CURVES == {"most": "position", "fade": "speed"}


@pytest.mark.parametrize("curves", [{"most": "position", "fade": "acceleration"}, ["most", "fade"], "most"])
def test_curves_over_something_else_are_refused(curves) -> None:
    with pytest.raises(TypeError, match=r"Odd.CURVES = .*\['position', 'velocity', 'speed'\]"):
        type("Odd", (Narrowing,), {"CURVES": curves})


@cases(
    "given, words",
    (([], []), r"has shapes \(0,\) and \(0,\): must be as many values as points, one at least"),
    (([0.0, 1.0], [1.0]), r"has shapes \(2,\) and \(1,\)"),
    (([[0.0]], [[1.0]]), r"has shapes \(1, 1\)"),
    (([1.0, 0.0], [1.0, 1.0]), "must be finite and not decrease"),
    (([0.0, np.nan], [1.0, 1.0]), "must be finite and not decrease"),
    (([0.0, 1e39], [1.0, 1.0]), "must be finite and not decrease"),
    (([0.0, 1.0], [1.0, np.nan]), "must be numbers"),
)
def test_what_is_no_curve_is_refused(given, words) -> None:
    odd = Narrowing(listed(1, 1, 1), most=curved_laws.ONE, fade=given)
    with pytest.raises(ValueError, match=r"Narrowing.curve\('fade'\) .*" + words):
        bench_of(aa.ControllerPD(*[listed(1, 1, 1)] * 2), [odd])


@pytest.mark.parametrize(("x", "expected"), [(-9.0, 1.5), (0.25, 1.5), (9.0, 1.5)])
def test_a_curve_of_one_row_is_a_number(x, expected) -> None:
    bench = bench_of(
        aa.ControllerPD(*[listed(0, 0, 0)] * 2), [Narrowing(listed(1, 1, 1), most=([0.0], [2.0]), fade=([1.0], [0.5]))]
    )
    bench.inputs[0][:], bench.inputs[1][:], bench.inputs[4][:] = x, x, 100
    bench.engine.step(DT)
    assert bench.efforts[:, 0].tolist() == [expected] * ROBOTS
    bench.inputs[1][0, 0] = np.inf
    bench.engine.step(DT)
    assert bench.efforts[:, 0].tolist() == [0.0, expected, expected]


@wp.func
def of_two(first: float, dt: float):
    return first * dt


@wp.func
def kept_as_it_is(effort: float, q: float, qd: float, product: float):
    return effort + product


def test_a_parameter_may_be_called_dt() -> None:
    kept = {"PARAMETERS": ("first", "dt"), "PREPARE": of_two, "LAW": kept_as_it_is}
    parameter = type("Product", (Passive,), kept)(listed(2, 2, 2), listed(5, 5, 5))
    step = type("Step", (Passive,), kept | {"PARAMETERS": ("first",)})(listed(2, 2, 2))
    for law, expected in ((parameter, 10.0), (step, 0.02)):
        bench = Bench(ActuatorEntry("/A/own", ("own",), None, [], None, others=[law]))
        bench.engine.step(DT)
        np.testing.assert_allclose(bench.efforts[:, 0], expected, rtol=1e-6)
