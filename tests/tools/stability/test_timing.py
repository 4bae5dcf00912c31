"""Latency, rate and measured velocity in the closed loop: published numbers, and robots stepped one step at a time."""

import json
import math

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from isaacsim.core.experimental.actuators.tools.stability.loop import Loop
from isaacsim.core.experimental.actuators.tools.stability.table import cures_of, late_joints, least_damping
from isaacsim.core.experimental.actuators.tools.stability.timing import Timing
from late_loop import Joint, Reference, timing_of
from refusals import cases, refused

DT = 1 / 500
# of a loop delayed by n steps: largest b = kd·h/I without kp, largest a = kp·h²/I and its b, and largest ω·h at a
# damping ratio of 0.5, 0.7 and 1
DELAYED = [
    (0, 2.0, None, None, (1.236, 1.041, 0.828)),
    (1, 1.0, 0.25, 0.5, (0.5, 0.473, 0.4)),
    (2, 0.618, 0.0887, 0.333, (0.296, 0.289, 0.249)),
    (3, 0.445, 0.0451, 0.248, (0.209, 0.208, 0.18)),
    (4, 0.3473, 0.0272, 0.197, (0.162, 0.162, 0.141)),
    (5, 0.2846, 0.0182, 0.163, (0.132, 0.133, 0.116)),
    (6, 0.2411, 0.013, 0.139, (0.111, 0.113, 0.098)),
]


def late(steps: float) -> aa.EncoderConfig:
    return aa.EncoderConfig(latency_steps=steps)


@cases("steps, largest_b, largest_a, at, omegas", *DELAYED)
@pytest.mark.slow
def test_delayed_loops_are_stable_as_far_as_the_table_says(steps, largest_b, largest_a, at, omegas) -> None:
    """Within 2 %, for an inertia of 1 and, for `a` and `b`, a step of 1."""
    damped = aa.stability_of([[1.0]], 1.0, 0.0, 0.1, stages=[late(steps)])
    assert 0.1 * damped.robots[0].margin == pytest.approx(largest_b, rel=0.02)
    for ratio, largest in zip((0.5, 0.7, 1.0), omegas, strict=True):
        # natural frequency of 1 rad/s: the step is ω·h
        told = aa.stability_of([[1.0]], 0.05, 1.0, 2.0 * ratio, stages=[late(steps)])
        assert told.joints[0].largest_step == pytest.approx(largest, rel=0.02)
    if largest_a is not None and at is not None:
        ratios = at / largest_a * np.linspace(0.97, 1.03, 7)
        tables = [aa.stability_of([[1.0]], 1.0, 0.01, 0.01 * one, stages=[late(steps)]) for one in ratios]
        factors = [table.robots[0].margin for table in tables]
        assert 0.01 * max(factors) == pytest.approx(largest_a, rel=0.02)
        assert 0.01 * factors[3] * ratios[3] == pytest.approx(at, rel=0.02)


def test_margin_is_where_motion_begins_to_grow() -> None:
    inverse = np.linalg.inv([[0.5, 0.1], [0.1, 0.05]])
    joints = [Joint((400.0, 16.0, 0.0), latency=3.5), Joint((100.0, 2.0, 0.0), latency=1.25)]
    margin = Loop(inverse, np.array([joint.gains for joint in joints]).T, timing=timing_of(joints)).margin(DT)
    for factor, grows in ((0.98 * margin, False), (1.02 * margin, True)):
        gains = [(factor * joint.gains[0], factor * joint.gains[1], 0.0) for joint in joints]
        scaled = [Joint(one, latency=joint.latency) for one, joint in zip(gains, joints, strict=True)]
        assert (Reference(inverse, scaled, DT, 1.0).growth(6000) > 1.0) is grows


def test_without_latency_numbers_are_those_of_no_timing(rng) -> None:
    root = rng.normal(size=(4, 4))
    matrix, gains = root @ root.T + np.eye(4), (rng.uniform(0, 400, 4), rng.uniform(0, 20, 4), [0.0, 3.0, 0.0, 9.0])
    prompt = aa.stability_of(matrix, DT, *gains)
    encoder = aa.EncoderConfig.from_bits(12, noise=1e-3)
    stages = [aa.PDControlConfig(1.0, 1.0), encoder, aa.EffortDelayConfig(), aa.RateConfig()]
    assert aa.stability_of(matrix, DT, *gains, latency=0.0, stages=stages) == prompt
    assert "Latency" not in str(prompt) and [joint.latency for joint in prompt.joints] == [0.0] * 4


def test_latency_in_seconds_is_one_of_steps() -> None:
    matrix = [[0.5, 0.1], [0.1, 0.05]]
    seconds = aa.stability_of(matrix, DT, 40.0, 2.0, latency=3 * DT, joints=["hip", "toe"])
    assert aa.stability_of(matrix, DT, 40.0, 2.0, stages=[late(3)]).robots[0].margin == seconds.robots[0].margin
    both = aa.stability_of(matrix, DT, 40.0, 2.0, latency=[2 * DT, 0.0], stages=[aa.EncoderConfig(latency=DT)])
    assert [joint.latency for joint in both.joints] == pytest.approx([3 * DT, DT])
    assert seconds.joints[0].margin == pytest.approx(both.joints[0].margin)
    assert seconds.joints[1].margin < both.joints[1].margin
    _, header, _, hip, _ = str(seconds).splitlines()
    assert "Latency" in header and hip.split()[3] == "0.006"
    assert json.loads(seconds.to_json())["joints"][0]["latency"] == pytest.approx(0.006)


def test_largest_step_with_a_latency_in_seconds_and_in_steps() -> None:
    kp, kd = 100.0, 6.0
    stable = aa.stability_of([[0.25]], DT, kp, kd, latency=0.02).joints[0]
    assert stable.margin > 1.0 and stable.largest_step > DT
    assert aa.stability_of([[0.25]], stable.largest_step, kp, kd, latency=0.02).stable
    assert not aa.stability_of([[0.25]], 1.01 * stable.largest_step, kp, kd, latency=0.02).stable
    assert aa.stability_of([[0.25]], DT, kp, kd, latency=0.065).joints[0].largest_step == 0.0
    in_steps = aa.stability_of([[0.25]], 0.02, kp, kd, stages=[late(3.5)]).joints[0]
    assert in_steps.margin < 1.0 and 0.0 < in_steps.largest_step < 0.02
    assert aa.stability_of([[0.25]], in_steps.largest_step, kp, kd, stages=[late(3.5)]).stable


def test_more_latency_is_less_margin() -> None:
    tables = [aa.stability_of([[0.25]], DT, 100.0, 1.0, latency=one) for one in (0.0, 4e-3, 8e-3, 9.9e-3)]
    margins = [table.robots[0].margin for table in tables]
    assert margins == sorted(margins, reverse=True) and margins[-1] > 0.0
    table = aa.stability_of([[0.25]], DT, 100.0, 1.0, latency=10.1e-3)
    (joint,), (robot,) = table.joints, table.robots
    assert robot.margin == 0.0 and joint.smallest_armature == math.inf and cures_of(table, robot) == ""
    assert least_damping(joint, robot, DT) == pytest.approx(1.01)


def test_smallest_armature_counts_the_latency() -> None:
    matrix = np.array([[0.02, 0.004], [0.004, 0.01]])
    table = aa.stability_of(matrix, DT, 100.0, [6.0, 3.0], latency=[0.008, 0.004])
    needed = np.array([joint.smallest_armature for joint in table.joints])
    assert not table.stable and (needed > 0.0).all() and np.isfinite(needed).all()
    for share, stable in ((1.001, True), (0.99, False)):
        more = matrix + np.diag(share * needed)
        assert aa.stability_of(more, DT, 100.0, [6.0, 3.0], latency=[0.008, 0.004]).stable is stable


@cases("frequency", 125.0, 200.0, 333.0)
@pytest.mark.slow
def test_rate_in_hertz_is_kept_on_average(frequency) -> None:
    periods = 1 / (frequency * DT)

    def margin(rate: aa.RateConfig) -> float:
        return aa.stability_of([[0.25]], DT, 100.0, 6.0, stages=[rate]).robots[0].margin

    told = margin(aa.RateConfig(frequency=frequency))
    assert margin(aa.RateConfig(math.ceil(periods))) <= told <= margin(aa.RateConfig(math.floor(periods)))
    timing = Timing.of([aa.RateConfig(frequency=frequency)], 1)
    assert timing.pattern(DT).mean() == pytest.approx(frequency * DT, rel=0.02)
    assert timing.latencies(DT) == pytest.approx((periods - 1) / 2 * DT)


@cases("config", aa.EncoderConfig(latency=0.09), aa.EffortDelayConfig(steps=90.0))
@pytest.mark.slow
def test_very_late_joints_are_computed_with_fewer_steps(config) -> None:
    """Within 1 % of the exact numbers; other joints have all their steps."""
    alone = aa.stability_of([[1.0]], 1e-3, 10.0, 5.0, stages=[config]).joints[0]
    matrix, gains = np.diag([1.0, 0.25, 1.0, 1.0]), ([10.0, 100.0, 0.0, 0.0], [5.0, 60.0, 0.0, 0.0])
    mixed = aa.stability_of(matrix, 1e-3, *gains, latency=[0.09, 0.0, 0.0, 0.0])
    assert mixed.joints[0].margin == alone.margin == pytest.approx(mixed.robots[0].margin, rel=0.01)
    assert mixed.joints[1].margin == aa.stability_of([[0.25]], 1e-3, 100.0, 60.0).joints[0].margin


@cases(
    "change, error, words",
    ({"latency": -1.0}, ValueError, "latency = -1.0: must be a finite number >= 0"),
    ({"latency": [0.0, 0.0, 0.0]}, ValueError, "or 2 of them"),
    ({"stages": [aa.EncoderConfig(latency=-1.0)]}, ValueError, "EncoderConfig.latency = -1.0"),
    ({"stages": [aa.RateConfig(), aa.RateConfig(2)]}, ValueError, "stages has 2 rates"),
    ({"stages": [3]}, TypeError, "stages = 3: must be configs of stages"),
)
def test_latencies_that_cannot_be_are_refused(change, error, words) -> None:
    refused(error, lambda: aa.stability_of([[0.5, 0.1], [0.1, 0.05]], 0.01, 1.0, 1.0, **change), words)


def test_lack_of_damping_is_told_in_words() -> None:
    (words,) = late_joints(aa.stability_of([[0.25]], DT, 100.0, 1.0, latency=0.02, joints=["hip"]))
    assert words.startswith("The effort of hip acts 0.02 s late: its kp = 100 needs more than kd = 2, and it has 1.")
    assert late_joints(aa.stability_of([[0.25]], DT, 100.0, 3.0, latency=0.02)) == []
    assert late_joints(aa.stability_of([[0.25]], DT, 100.0, 0.0)) == []
