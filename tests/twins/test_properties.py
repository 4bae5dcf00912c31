"""What holds for every actuator, whatever its parameters and signals: hypothesis looks for counterexamples.

Everything runs through the wrapper, on arrays, with each engine.
"""

import itertools
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
import warp as wp
from bare_stages import bare_robot
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from isaacsim.core.experimental.actuators.simulators.arrays import ArraysHost
from played import played_arrays

ROBOTS, JOINTS, STEPS, DT, LONGEST = 3, 2, 12, 0.01, 4
ROOT = "/Robot"
SIGNALS = ("positions", "velocities", "position_targets", "velocity_targets")
pytestmark = [pytest.mark.usefixtures("engine_kind"), pytest.mark.slow]
# the engine stays the same through all examples of a test
search = settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
seeds = st.integers(0, 2**32 - 1)
# ordinary numbers, where most rules act together, and the whole range of float32
any_effort = st.floats(-100, 100, width=32) | st.floats(width=32, allow_nan=False, allow_infinity=False)
any_limit = st.floats(0, 100, width=32) | st.sampled_from([0.0, np.inf]) | st.floats(0, width=32)
positive = st.floats(0.125, 10, width=32) | st.just(np.inf) | st.floats(0, width=32, exclude_min=True)


def floats(values) -> wp.array:
    return wp.array(np.asarray(values, np.float32).ravel(), dtype=wp.float32, device="cpu")


@dataclass(frozen=True)
class Pipeline:
    """Numbers of one joint on `ROBOTS` robots: a row each of the controller, of each clamp, and the delays."""

    gains: Mapping[str, np.ndarray]
    clamps: tuple[tuple[type, Any], ...]
    delays: np.ndarray | None

    def config(self, robots=slice(None)) -> aa.ActuatorConfig:
        controller = aa.ControllerPID if "ki" in self.gains else aa.ControllerPD
        clamps = [
            clamp(None, *rows) if clamp is aa.ClampingPositionBased else clamp(*(floats(row[robots]) for row in rows))
            for clamp, rows in self.clamps
        ]
        delay = None
        if self.delays is not None:
            delay = aa.Delay(wp.array(self.delays[robots], dtype=wp.int32, device="cpu"), LONGEST)
        return aa.ActuatorConfig(controller(**{n: floats(row[robots]) for n, row in self.gains.items()}), clamps, delay)


@st.composite
def pipelines(draw: st.DrawFn, integral: bool, kinds: Sequence[type]) -> Pipeline:
    """PD or PID, these clamps, and a delay or none; numbers differ from robot to robot."""

    def row(low: float, high: float) -> np.ndarray:
        return draw(arrays(np.float32, ROBOTS, elements=st.floats(low, high, width=32)))

    gains = {"kp": row(0, 100), "kd": row(0, 10), "const_effort": row(-5, 5)}
    if integral:
        gains |= {"ki": row(0, 1000), "integral_max": row(0, 0.125)}
    made = {
        aa.ClampingMaxEffort: lambda: (row(0, 100),),
        aa.ClampingDCMotor: lambda: (row(0, 100), row(0.125, 4), row(0, 100)),
        aa.ClampingPositionBased: lambda: ([-1.0, 0.0, 0.5], [50.0, 5.0, 80.0]),
    }
    delays = draw(st.none() | arrays(np.int32, ROBOTS, elements=st.integers(0, LONGEST)))
    return Pipeline(gains, tuple((kind, made[kind]()) for kind in kinds), delays)


PLAIN, MOTOR, TABLE = aa.ClampingMaxEffort, aa.ClampingDCMotor, aa.ClampingPositionBased
# Each combination is a kernel, which Warp compiles in a second: it has these and their reverses, the core has all.
# Each of two clamps follows the other in one of them; a joint has none to three, the next one others or the same.
FEW = [
    ((False, []), (True, [PLAIN])),
    ((True, [MOTOR, TABLE]), (False, [PLAIN, PLAIN, MOTOR])),
    ((False, [TABLE, MOTOR, PLAIN]), (True, [PLAIN, TABLE, TABLE])),
    ((True, []), (False, [MOTOR, MOTOR])),
    ((True, [TABLE, PLAIN]), (False, [MOTOR, PLAIN])),
    ((True, [MOTOR, TABLE]), (True, [MOTOR, TABLE])),
]
shape = st.tuples(st.booleans(), st.lists(st.sampled_from([PLAIN, MOTOR, TABLE]), max_size=3))
shapes = {
    "native": st.tuples(*[shape] * JOINTS),
    "warp": st.sampled_from([*FEW, *(joints[::-1] for joints in FEW[:-1])]),
}
several = {
    engine: of.flatmap(lambda joints: st.tuples(*(pipelines(*joint) for joint in joints)))
    for engine, of in shapes.items()
}
resets = st.dictionaries(st.integers(1, STEPS - 1), st.lists(st.integers(0, ROBOTS - 1), unique=True), max_size=3)


def random_signals(seed: int, steps: int = STEPS, joints: int = JOINTS) -> np.ndarray:
    """Position, velocity, both targets and feedforward, shape `(steps, 5, ROBOTS, joints)`."""
    return np.random.default_rng(seed).normal(size=(steps, 5, ROBOTS, joints)).astype(np.float32)


def step(host: ArraysHost, wrapper: aa.ArticulationActuators, signals: np.ndarray) -> np.ndarray:
    """Bits of the efforts `(robots, joints)` for the signals `(5, robots, joints)` of one step."""
    memory = host.arrays()
    assert memory is not None
    for name, values in zip(SIGNALS, signals, strict=False):
        getattr(memory, name)[:] = values.ravel()
    wrapper.set_dof_feedforward_effort_targets(signals[4])
    host.step(DT)
    return memory.efforts.reshape(signals[4].shape).view(np.int32).copy()


def run(configs: Sequence[aa.ActuatorConfig], signals: np.ndarray, reset=None) -> np.ndarray:
    """Bits of the efforts `(steps, robots, joints)`; before step `k`, the robots `reset[k]` start over."""
    with played_arrays([f"joint_{n}" for n in range(signals.shape[3])], signals.shape[2]) as host:
        pairs = [(config, f"joint_{n}") for n, config in enumerate(configs)]
        with aa.ArticulationActuators.from_actuators("/Robot.*", pairs) as wrapper:
            found = []
            for number, now in enumerate(signals):
                if reset and number in reset:
                    wrapper.reset(indices=reset[number])
                found.append(step(host, wrapper, now))
            assert wrapper.faults == []
    return np.array(found)


@search
@given(st.data(), seeds, resets)
def test_delay_is_an_older_command(engine_kind, data, seed, reset) -> None:
    joints = data.draw(several[engine_kind])
    signals = random_signals(seed)
    older = signals.copy()
    for robot, (column, joint) in itertools.product(range(ROBOTS), enumerate(joints)):
        lag, start = 0 if joint.delays is None else int(joint.delays[robot]), 0
        for number in range(STEPS):
            start = number if robot in reset.get(number, []) else start
            older[number, 2:, robot, column] = signals[max(number - lag, start), 2:, robot, column]
    undelayed = [replace(joint, delays=None).config() for joint in joints]
    expected = run(undelayed, older, reset)
    np.testing.assert_array_equal(run([joint.config() for joint in joints], signals, reset), expected)


@search
@given(st.data(), seeds, st.integers(1, STEPS - 1), st.lists(st.booleans(), min_size=ROBOTS, max_size=ROBOTS))
@pytest.mark.parametrize("as_mask", [True, False])
def test_reset_is_a_fresh_start_for_its_robots_and_nothing_for_the_others(
    engine_kind, as_mask, data, seed, at, mask
) -> None:
    joints = data.draw(several[engine_kind])
    signals, picked = random_signals(seed), np.array(mask)

    def configs() -> list[aa.ActuatorConfig]:
        return [joint.config() for joint in joints]

    found = run(configs(), signals, {at: picked if as_mask else np.flatnonzero(picked)})
    undisturbed, fresh = run(configs(), signals), run(configs(), signals[at:])
    np.testing.assert_array_equal(found[:at], undisturbed[:at])
    np.testing.assert_array_equal(found[at:, ~picked], undisturbed[at:, ~picked])
    np.testing.assert_array_equal(found[at:, picked], fresh[:, picked])


@search
@given(st.data(), seeds)
def test_robots_and_joints_do_not_know_each_other(engine_kind, data, seed) -> None:
    joints = data.draw(several[engine_kind])
    signals = random_signals(seed)
    together = run([joint.config() for joint in joints], signals)
    for robot in range(ROBOTS):
        one = slice(robot, robot + 1)
        alone = run([joint.config(one) for joint in joints], signals[:, :, one])
        np.testing.assert_array_equal(alone, together[:, one])
    for column, joint in enumerate(joints):
        one = slice(column, column + 1)
        np.testing.assert_array_equal(run([joint.config()], signals[..., one]), together[..., one])
    backwards = run([joint.config() for joint in joints[::-1]], signals[..., ::-1])
    np.testing.assert_array_equal(backwards, together[..., ::-1])


@search
@given(seeds, st.permutations(range(4)), st.sets(st.integers(1, 3)))
def test_grouping_of_joints_into_prims_changes_no_bit(seed, order, cuts) -> None:
    names = ["hip", "knee", "ankle", "toe"]
    edges = [0, *sorted(cuts), 4]
    grouped = [[names[n] for n in order[first:last]] for first, last in itertools.pairwise(edges)]
    signals = random_signals(seed, joints=4)
    results = []
    for groups in (grouped, [[name] for name in names]):
        stage = bare_robot(names, ROOT)
        for number, group in enumerate(groups):
            clamps = [
                aa.DCMotorClampingConfig(1, 1, 1),
                aa.MaxEffortClampingConfig(1),
                aa.PositionBasedClampingConfig([-1, 1], [20, 60]),
            ]
            controller, lag = aa.PIDControlConfig(1, 1, 1, 1), aa.DelayConfig(LONGEST)
            aa.add_actuator(ROOT, group, f"group_{number}", controller, clamping=clamps, delay=lag, stage=stage)
        host = ArraysHost(names, ROBOTS, path=ROOT, stage=stage)
        with aa.use_host(host), aa.ArticulationActuators(f"{ROOT}_.*") as wrapper:
            host.play()
            for actuator in wrapper.actuators:
                rng = np.random.default_rng(seed)
                columns = [names.index(name) for name in actuator.dof_names]
                for component in (actuator.controller, *actuator.clamping):
                    for name in sorted(component.PARAMETERS):
                        values = rng.uniform(0.1, 60, (ROBOTS, len(names))).astype(np.float32)
                        getattr(component, name).assign(values[:, columns].ravel())
                lags = rng.integers(0, LONGEST, (ROBOTS, len(names)), endpoint=True).astype(np.int32)
                actuator.delay.delay_steps.assign(lags[:, columns].ravel())
            found = []
            for number, now in enumerate(signals):
                if number == STEPS // 2:
                    wrapper.reset(indices=[1])
                found.append(step(host, wrapper, now))
            results.append(found)
    np.testing.assert_array_equal(*results)


@search
@given(st.data(), seeds, resets, st.integers(0, STEPS - 1), st.integers(0, STEPS - 1))
def test_saved_state_goes_on_as_if_nothing_had_happened(engine_kind, data, seed, reset, at, broken) -> None:
    joints = data.draw(several[engine_kind])
    signals = random_signals(seed)
    signals[broken, 0, 1, 0] = np.nan
    host = ArraysHost([f"joint_{n}" for n in range(JOINTS)], ROBOTS)
    saved: dict[str, np.ndarray] = {}
    results, faults = [], []
    with aa.use_host(host):
        host.play()
        for first in (0, at):
            pairs = [(joint.config(), f"joint_{n}") for n, joint in enumerate(joints)]
            with aa.ArticulationActuators.from_actuators("/Robot.*", pairs) as wrapper:
                found = []
                for number in range(first, STEPS):
                    if number == at:
                        if saved:
                            wrapper.restore_state(saved)
                        else:
                            saved = wrapper.save_state()
                    if number in reset:
                        wrapper.reset(indices=reset[number])
                    found.append(step(host, wrapper, signals[number]))
                results.append(found[at - first :])
                faults.append(wrapper.faults)
    np.testing.assert_array_equal(*results)
    assert faults[0] == faults[1]


@search
@given(
    arrays(np.float32, (ROBOTS, JOINTS), elements=any_effort),
    arrays(np.float32, (2, ROBOTS), elements=any_limit),
    seeds,
)
def test_without_gains_the_feedforward_is_the_effort(feedforward, limits, seed) -> None:
    signals = random_signals(seed, steps=2)
    signals[:, 4] = feedforward
    off = np.zeros(ROBOTS, np.float32)
    pd, pid = {"kp": off, "kd": off}, {"kp": off, "ki": off, "kd": off, "integral_max": off + 1}
    for number, gains in enumerate((pd, pid)):
        free = Pipeline(gains, (), None)
        limited = replace(free, clamps=((aa.ClampingMaxEffort, (limits[number],)),))
        found = run([free.config(), limited.config()], signals).view(np.float32)
        expected = feedforward.copy()
        expected[:, 1] = np.clip(expected[:, 1], -limits[number], limits[number])
        for efforts in found:
            np.testing.assert_array_equal(efforts, expected)


usd_clamps = {
    "max": st.builds(aa.MaxEffortClampingConfig, any_limit),
    "motor": st.builds(aa.DCMotorClampingConfig, any_limit, positive, any_limit),
    "table": st.integers(1, 4).flatmap(
        lambda rows: st.builds(
            aa.PositionBasedClampingConfig,
            st.lists(any_effort, min_size=rows, max_size=rows).map(sorted),
            st.lists(any_effort.map(abs), min_size=rows, max_size=rows),
        )
    ),
}
component_of = {
    aa.MaxEffortClampingConfig: aa.ClampingMaxEffort,
    aa.DCMotorClampingConfig: aa.ClampingDCMotor,
    aa.PositionBasedClampingConfig: aa.ClampingPositionBased,
}


@st.composite
def clamps_from_usd(draw: st.DrawFn) -> list:
    others = draw(st.sets(st.sampled_from(["motor", "table"])))
    return [draw(usd_clamps[kind]) for kind in draw(st.permutations(sorted({"max"} | others)))]


gains = st.floats(0, 100, width=32) | st.floats(0, 2.0**100, width=32)
any_signals = arrays(np.float32, (2, 5, 1, 1), elements=any_effort)


def efforts_on_one_joint(wrapper: aa.ArticulationActuators, host: ArraysHost, signals: np.ndarray) -> np.ndarray:
    host.play()
    with wrapper:
        return np.array([step(host, wrapper, now) for now in signals]).view(np.float32)


@settings(search, max_examples=150)
@given(clamps_from_usd(), gains, gains, any_signals)
def test_no_effort_exceeds_the_plain_limit_of_a_prim(clamps, kp, kd, signals) -> None:
    limit = next(clamp.max_effort for clamp in clamps if isinstance(clamp, aa.MaxEffortClampingConfig))
    stage = bare_robot(["knee"], ROOT)
    aa.add_actuator(ROOT, "knee", "knee", aa.PDControlConfig(kp, kd), clamping=clamps, stage=stage)
    host = ArraysHost(["knee"], path=ROOT, stage=stage)
    with aa.use_host(host), warnings.catch_warnings():
        # an infinite stall effort beside a finite speed limit is told
        warnings.simplefilter("ignore", UserWarning)
        found = efforts_on_one_joint(aa.ArticulationActuators(ROOT), host, signals)
    assert np.isfinite(found).all() and (np.abs(found) <= limit).all()


@settings(search, max_examples=150)
@given(st.data(), any_limit, gains, gains, any_signals)
def test_no_effort_exceeds_the_limit_at_the_end_of_a_list(engine_kind, data, limit, kp, kd, signals) -> None:
    most = 4 if engine_kind == "native" else 2
    before = data.draw(st.lists(st.one_of(*usd_clamps.values()), max_size=most))
    clamps = [
        component_of[type(clamp)].from_config(clamp, 1, "cpu") for clamp in [*before, aa.MaxEffortClampingConfig(limit)]
    ]
    config = aa.ActuatorConfig(aa.ControllerPD(floats([kp]), floats([kd])), clamps)
    host = ArraysHost(["knee"], path=ROOT)
    with aa.use_host(host):
        wrapper = aa.ArticulationActuators.from_actuators(ROOT, [(config, "knee")])
        found = efforts_on_one_joint(wrapper, host, signals)
    assert np.isfinite(found).all() and (np.abs(found) <= limit).all()


def open_loop(clamps: Sequence[aa.Clamping], signals: np.ndarray) -> tuple[np.ndarray, set[int]]:
    efforts, positions, velocities = signals
    off = np.zeros(len(efforts), np.float32)
    now = np.stack([positions, velocities, off, off, efforts])[..., None]
    with played_arrays(["joint"], len(efforts)) as host:
        config = aa.ActuatorConfig(aa.ControllerPD(floats(off), floats(off)), list(clamps))
        with aa.ArticulationActuators.from_actuators("/Robot.*", [(config, "joint")]) as wrapper:
            return step(host, wrapper, now).view(np.float32)[:, 0], {fault.robot for fault in wrapper.faults}


@settings(search, max_examples=60)
@given(st.one_of(*usd_clamps.values()), arrays(np.float32, (3, 8), elements=any_effort))
def test_clamping_twice_is_clamping_once(config, signals) -> None:
    once, twice = (
        open_loop([component_of[type(config)].from_config(config, 8, "cpu") for _ in range(times)], signals)
        for times in (1, 2)
    )
    np.testing.assert_array_equal(once[0], twice[0])
    assert once[1] == twice[1]
    if not isinstance(config, aa.DCMotorClampingConfig):
        efforts = signals[0]
        assert (np.abs(once[0]) <= np.abs(efforts)).all() and (once[0] * np.sign(efforts) >= 0).all()


motor = st.tuples(any_effort, any_limit, positive, any_limit)


@settings(search, max_examples=60)
@given(st.lists(motor, min_size=8, max_size=8))
def test_bounds_of_a_motor_are_an_interval(motors) -> None:
    speeds, *parameters = np.array(motors, np.float32).T
    peak = parameters[2]
    bounds = []
    for effort in (-3e38, 3e38):
        signals = np.stack([np.full(8, effort, np.float32), np.zeros(8, np.float32), speeds])
        found, faulty = open_loop([aa.ClampingDCMotor(*map(floats, parameters))], signals)
        bounds.append(found)
        # without a peak the curve may reach infinity, which is no effort
        assert not np.isfinite(peak[list(faulty)]).any()
    assert (-peak <= bounds[0]).all() and (bounds[0] <= bounds[1]).all() and (bounds[1] <= peak).all()
