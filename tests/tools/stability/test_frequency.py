"""Frequency response of a joint, compared with the loop stepped with a sine."""

import math

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from isaacsim.core.experimental.actuators.tools.stability.frequency import closed_margins, frequency_response
from isaacsim.core.experimental.actuators.tools.stability.loop import Loop
from isaacsim.core.experimental.actuators.tools.stability.timing import Timing
from isaacsim.core.experimental.actuators.tools.trials.bode import loop_response
from late_loop import Joint
from places import REPOSITORY
from refusals import cases, refused

CASES = [(20.0, 2.0, 0.0, 0.26, 1 / 240), (50.0, 5.0, 40.0, 0.3, 0.01), (0.0, 5.0, 0.0, 0.3, 0.01)]


def stepped(case: tuple[float, ...], frequency: float, delay: int, seconds: float, weight: float) -> complex:
    """Position over target in the steady state, from the loop stepped with a sine."""
    kp, kd, ki, inertia, dt = case
    steps = round(seconds / dt)
    times = dt * np.arange(steps)
    target = np.sin(2 * np.pi * frequency * times)
    q = v = total = 0.0
    positions = np.empty(steps)
    for n in range(steps):
        positions[n] = q
        error = (target[n - delay] if n >= delay else 0.0) - q
        total += dt * error
        gained = dt * (kp * error - kd * v + ki * total) / inertia
        q += dt * (v + weight * gained)
        v += gained
    half = steps // 2
    basis = np.exp(2j * np.pi * frequency * times[half:])
    fit, *_ = np.linalg.lstsq(np.stack([basis.real, basis.imag], axis=1), positions[half:], rcond=None)
    # sin is the imaginary part of the exponential
    return complex(fit[1], fit[0])


@cases("case", *CASES[:2])
@cases("frequency", 0.5, 2.0, 17.0)
@cases("weight", 1.0, 33 / 64)
def test_closed_loop_is_what_a_sine_does(case, frequency, weight) -> None:
    found = frequency_response("joint", case[:3], *case[3:], 3, weight)
    at = np.argmin(np.abs(found.frequencies - frequency))
    expected = stepped(case, found.frequencies[at], 3, 40.0, weight)
    assert abs(found.closed_loop[at] - expected) < 2e-3 * abs(expected)


@cases("case", *CASES)
def test_gain_margin_is_that_of_the_table_and_of_the_curve(case) -> None:
    """With all gains multiplied by it, the open loop passes through -1."""
    kp, kd, ki, inertia, dt = case
    found = frequency_response("joint", case[:3], *case[3:])
    assert found.gain_margin == aa.stability_of([[inertia]], dt, kp, kd, ki).robots[0].margin
    assert found.phase_crossover == pytest.approx(0.5 / dt)
    assert abs(found.gain_margin * found.open_loop[-1] + 1) < 1e-3


@cases("case", *CASES)
def test_phase_margin_is_what_a_lag_may_take(case) -> None:
    """At the gain crossover, the phase differs from -180° by the margin."""
    found = frequency_response("joint", case[:3], *case[3:])
    assert found.gain_crossover is not None and found.phase_margin is not None and 0 < found.phase_margin < 90
    at = np.argmin(np.abs(found.frequencies - found.gain_crossover))
    assert abs(found.open_loop[at]) == pytest.approx(1.0, abs=0.01)
    assert abs(found.open_loop[at] * np.exp(-1j * np.radians(found.phase_margin)) + 1) < 0.01


def test_delay_turns_the_closed_loop_alone() -> None:
    at_once, late = (frequency_response("joint", CASES[0][:3], *CASES[0][3:], steps) for steps in (0, 4))
    np.testing.assert_array_equal(at_once.open_loop, late.open_loop)
    np.testing.assert_allclose(np.abs(at_once.closed_loop), np.abs(late.closed_loop))
    turned = np.unwrap(np.angle(late.closed_loop / at_once.closed_loop))
    np.testing.assert_allclose(turned, -2 * np.pi * late.frequencies * 4 * CASES[0][4], atol=1e-9)
    assert (late.gain_margin, late.phase_margin) == (at_once.gain_margin, at_once.phase_margin)


def test_loop_that_vibrates_follows_nothing() -> None:
    """Because its gains are too large, or an integral is unstable."""
    for case in [(900.0, 25.0, 0.0, 0.0746, 0.02), (400.0, 2.0, 5000.0, 0.3, 0.01)]:
        found = frequency_response("joint", case[:3], *case[3:])
        assert found.gain_margin < 1 and found.bandwidth is None


@cases("case", (0.0, 0.0, 0.0, 1.0, 0.01), (1.0, 1.0, 0.0, 0.0, 0.01), (1.0, 1.0, 0.0, 1.0, 0.0))
def test_what_is_no_loop_is_refused(case) -> None:
    refused(ValueError, lambda: frequency_response("knee", case[:3], *case[3:]), r"knee: kp = .*: must have a gain")


@pytest.mark.filterwarnings("ignore:.*have no effort limit:UserWarning")
@pytest.mark.slow
def test_joint_of_a_robot(tmp_path) -> None:
    shoulder, extension = aa.PDControlConfig(200.0, 20.0), aa.PDControlConfig(2000.0, 100.0)
    motors = {"shoulder": [shoulder, aa.DelayConfig(2)], "extension": [extension]}
    with aa.Simulation(REPOSITORY / "data" / "robots" / "arm_2dof.usda") as simulation:
        actuators = aa.ArticulationActuators.from_configs("/World/Arm", motors)
        simulation.play()
        (shoulder, _) = actuators.stability().joints
        found = loop_response(actuators, "shoulder")
        expected = frequency_response("shoulder", (200.0, 20.0, 0.0), shoulder.inertia, simulation.dt, 2)
        np.testing.assert_allclose(found.closed_loop, expected.closed_loop)
        aa.plot_bode(actuators, "shoulder", path=tmp_path / "out.png")
        refused(ValueError, lambda: aa.plot_bode(actuators, "wrist"), "joint = 'wrist': must be driven")
    assert (tmp_path / "out.png").stat().st_size > 10000


def test_late_joint_of_a_robot() -> None:
    stages = [aa.EncoderConfig(latency=0.008), aa.RateConfig(2), aa.TimedDelayConfig(seconds=0.006, steps=1.0)]
    with aa.Simulation(REPOSITORY / "data" / "robots" / "arm_2dof.usda", 0.002) as simulation:
        limit = aa.MaxEffortClampingConfig("joint")
        motors = {
            "shoulder": [aa.PDControlConfig(200.0, 20.0), limit, *stages],
            "extension": [aa.PDControlConfig(800.0, 80.0), limit],
        }
        actuators = aa.ArticulationActuators.from_configs("/World/Arm", motors)
        simulation.play()
        (shoulder, _), found = actuators.stability().joints, loop_response(actuators, "shoulder")
    assert shoulder.latency == pytest.approx(0.009, rel=1e-5) and found.gain_margin == shoulder.margin
    timing = Timing.of(stages, 1)
    expected = frequency_response("shoulder", (200.0, 20.0, 0.0), shoulder.inertia, 0.002, 2.5, timing=timing)
    np.testing.assert_allclose(found.closed_loop, expected.closed_loop, rtol=1e-4)


@cases("weight", 1.0, 33 / 64)
@cases(
    "joint",
    Joint((100.0, 8.0, 0.0), latency=4.7),
    Joint((100.0, 8.0, 50.0), effort_delay=2.3),
    Joint((100.0, 8.0, 0.0), latency=0.5, difference=True, filter_time=0.004),
    Joint((100.0, 8.0, 20.0), 1.25, 0.5, True, 0.004, 3),
    Joint((100.0, 8.0, 0.0), effort_delay=5.25, decimation=4),
)
def test_open_loop_reaches_minus_one_at_the_margin(joint, weight) -> None:
    found = frequency_response("hip", joint.gains, 0.25, 1 / 500, 0, weight, Timing.of(joint.configs(), 1))
    assert found.phase_crossover is not None
    at = np.argmin(np.abs(found.frequencies - found.phase_crossover))
    assert found.gain_margin * found.open_loop[at] == pytest.approx(-1.0, abs=0.02)
    assert found.frequencies[-1] == pytest.approx(0.5 / (joint.decimation / 500))


def test_late_effort_turns_the_closed_loop_and_a_late_measurement_does_not() -> None:
    gains = 400.0, 8.0, 0.0
    effort, measured = (
        frequency_response("hip", gains, 0.25, 1 / 500, timing=Timing.of([config], 1))
        for config in (aa.EffortDelayConfig(steps=2.0), aa.EncoderConfig(latency_steps=2))
    )
    np.testing.assert_allclose(effort.open_loop, measured.open_loop, rtol=1e-9)
    turned = np.exp(-4j * np.pi * effort.frequencies / 500)
    np.testing.assert_allclose(effort.closed_loop, measured.closed_loop * turned, rtol=1e-6, atol=1e-9)


@cases(
    "stages",
    [],
    [aa.EncoderConfig(latency=0.012)],
    [aa.EncoderConfig(latency=0.004, velocity_filter=0.003), aa.EffortDelayConfig(steps=1.5)],
    [aa.RateConfig(decimation=4), aa.EffortLagConfig(0.006)],
    "rates",
)
def test_margins_of_a_loop_are_where_it_vibrates_with_all_others_closed(stages) -> None:
    mixed = np.random.default_rng(0).normal(size=(4, 4))
    inverse = np.linalg.inv(mixed @ mixed.T + 2.0 * np.eye(4))
    timing = Timing.of([] if stages == "rates" else stages, 4)
    if stages == "rates":
        timing = Timing.of([aa.RateConfig(decimation=np.array([1.0, 2.0, 4.0, 1.0]))], 4)
    inertia = 1.0 / np.diag(inverse)
    loop = Loop(inverse, np.array([400.0 * inertia, 32.0 * inertia, 30.0 * inertia]), 1.0, timing)
    gain, phase = closed_margins(loop, 0.005)
    for joint in range(4):
        for factors, is_good in (
            ([0.999 * gain[joint], 1.001 * gain[joint]], [True, False]),
            ([np.exp(-1j * np.radians(phase[joint] + off)) for off in (-0.1, 0.1)], [True, False]),
        ):
            for factor, expected in zip(factors, is_good, strict=True):
                gains = loop.gains.astype(complex)
                gains[:, joint] *= factor
                assert loop.changed(gains).is_stable(0.005) == expected


def test_a_robot_that_vibrates_has_no_margins() -> None:
    loop = Loop(np.eye(2), np.array([[4e5, 0.0], [10.0, 0.0], [0.0, 0.0]]))
    assert closed_margins(loop, 0.005)[0].tolist() == [0.0, math.inf]
