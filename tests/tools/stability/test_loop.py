"""The closed loop, compared with the formula of one joint, and with the step itself."""

import numpy as np
import pytest
from isaacsim.core.experimental.actuators.tools.stability.loop import Loop, StepMatrix
from late_loop import Joint, Reference, timing_of
from refusals import cases


def loop(inverse: np.ndarray, kp: object, kd: object, ki: object = 0.0, weight: float = 1.0) -> Loop:
    gains = [np.broadcast_to(np.asarray(gain, float), len(inverse)) for gain in (kp, kd, ki)]
    return Loop(inverse, np.array(gains), weight)


def coupled(rng: np.random.Generator, joints: int) -> np.ndarray:
    root = rng.normal(size=(joints, joints))
    return np.linalg.inv(root @ root.T + np.diag(rng.uniform(0.01, 1.0, joints)))


@cases("dt, kp, limit", (1 / 200, 100.0, 99.79), (1 / 1000, 100.0, 500.15), (1 / 200, 2000, 95.04))
def test_one_joint_is_stable_up_to_the_known_damping(dt, kp, limit) -> None:
    """`kd·dt + kp·dt²/2 < 2·I`, of an inertia of 0.2501 kg·m²."""
    inverse = np.array([[1 / 0.2501]])
    assert loop(inverse, kp, limit * 0.999).is_stable(dt) and not loop(inverse, kp, limit * 1.001).is_stable(dt)


@cases("gain", 1e308, np.inf)
def test_gains_that_no_number_holds_are_unstable(gain) -> None:
    unstable = loop(np.array([[1e6]]), gain, 0.0)
    assert unstable.radius(1.0) == np.inf and not unstable.is_stable(1.0)


def test_joints_together_are_stable_where_their_demand_is_below_two(rng) -> None:
    """For PD laws the largest eigenvalue of `M⁻¹·(Kd·dt + Kp·dt²/2)` decides."""
    for joints in (2, 7, 20):
        inverse, dt = coupled(rng, joints), 1 / 240
        kp, kd = rng.uniform(0, 1e4, joints), rng.uniform(0, 100, joints)
        kd[0] = kp[-1] = 0.0
        largest = np.linalg.eigvals(inverse * (kd * dt + kp * dt**2 / 2)).real.max()
        assert loop(inverse, kp, kd).margin(dt) == pytest.approx(2 / largest, rel=2e-4)


@cases("weight", 1.0, 0.75, 33 / 64, 0.5)
def test_one_joint_with_positions_between_two_velocities(weight) -> None:
    """`kd·dt + (2·w − 1)·kp·dt²/2 <= 2·I`, and `kd >= (1 − w)·kp·dt`, independent of the inertia."""
    inertia, dt, kp = 0.25, 1 / 200, 2000.0
    most = (2 * inertia - (2 * weight - 1) * kp * dt**2 / 2) / dt
    least = (1 - weight) * kp * dt
    for kd, stable in ((most * 0.999, True), (most * 1.001, False), (least * 1.001 + 1e-3, True)):
        assert loop(np.array([[1 / inertia]]), kp, kd, weight=weight).is_stable(dt) is stable
    if weight < 1:
        short = loop(np.array([[1 / inertia]]), kp, least * 0.999, weight=weight)
        assert short.margin(dt) == 0.0 and short.smallest_armatures(dt, np.zeros(1)) == np.inf
        assert short.largest_step(dt) == pytest.approx(0.999 * dt, rel=2e-4)
    beyond = loop(np.array([[1 / inertia]]), kp, most * 1.1, weight=weight)
    mended = inertia + beyond.smallest_armatures(dt, np.zeros(1))[:, None]
    assert loop(1 / mended, kp, most * 1.1, weight=weight).margin(dt) == pytest.approx(1, rel=1e-3)


@cases("weight", 1.0, 33 / 64)
@cases("ki", 0.0, 300.0, 1e5)
@pytest.mark.slow
def test_radius_is_the_growth_of_steps_taken_one_by_one(rng, ki, weight) -> None:
    inverse, dt = coupled(rng, 3), 1 / 100
    kp, kd, kis = np.array([400.0, 50.0, 0.0]), np.array([4.0, 1.0, 2.0]), np.array([ki, 0.0, ki])
    q, v, z = rng.normal(size=(3, 3))
    log = 0.0
    for step in range(8000):
        z = z - dt * q
        before = v
        v = v + dt * inverse @ (-kp * q - kd * v + kis * z)
        q = q + dt * ((1 - weight) * before + weight * v)
        # an unused integral only accumulates
        size = np.linalg.norm([q, v, z * (kis > 0)])
        q, v, z = q / size, v / size, z / size
        log += np.log(size) if step >= 4000 else 0.0
    assert loop(inverse, kp, kd, kis, weight).radius(dt) == pytest.approx(np.exp(log / 4000), abs=2e-3)


def test_joints_without_gains_are_free() -> None:
    both = loop(np.linalg.inv(np.array([[2.0, 0.9], [0.9, 1.0]])), [100.0, 0.0], [10.0, 0.0])
    assert both.margin(0.01) == pytest.approx(both.joint(0).margin(0.01), rel=1e-9)
    assert both.joint(1).margin(0.01) == both.joint(1).largest_step(0.01) == np.inf


def test_largest_step_is_where_it_turns(rng) -> None:
    one = loop(coupled(rng, 4), 300.0, 20.0)
    step = one.largest_step(1e-2)
    assert one.largest_step(1e-6) == pytest.approx(step, rel=3e-4)
    assert one.is_stable(step) and not one.is_stable(step * 1.001)


def test_lacking_armature_is_just_enough(rng) -> None:
    inverse = coupled(rng, 5)
    kd = np.array([200.0, 100.0, 1e-3, 50.0, 0.0])
    one = loop(inverse, 50.0, kd)
    assert not one.is_stable(1 / 60)
    lacking = one.smallest_armatures(1 / 60, np.zeros(5))
    assert lacking[0] > 0.0 and lacking[2] == 0.0
    for share, stable in ((1.0, True), (0.998, False)):
        whole = np.linalg.inv(np.linalg.inv(inverse) + np.diag(lacking * share))
        assert loop(whole, 50.0, kd).is_stable(1 / 60) is stable
    assert not one.smallest_armatures(1e-5, np.zeros(5)).any()


def test_an_integral_against_no_damping_is_mended_by_no_step() -> None:
    one = loop(np.array([[4.0]]), 100.0, 0.0, 10.0)
    assert one.margin(0.005) == one.largest_step(0.005) == 0.0
    assert one.smallest_armatures(0.005, np.zeros(1)) == np.inf
    assert loop(np.array([[4.0]]), 100.0, 5.0, 10.0).is_stable(0.005)


DT = 1 / 500


def radius(inverse: np.ndarray, joints: list[Joint], dt: float, weight: float) -> float:
    with np.errstate(all="raise"):
        matrix = StepMatrix(np.array([joint.gains for joint in joints]).T, dt, weight, timing_of(joints))
        after, steps = matrix.repeated(inverse)
    return float(np.abs(np.linalg.eigvals(after)).max()) ** (1 / steps)


ALONE = {
    "whole steps": Joint((400.0, 8.0, 0.0), latency=3.0),
    "part of a step": Joint((400.0, 8.0, 0.0), latency=0.4),
    "between two steps": Joint((400.0, 8.0, 0.0), latency=4.7),
    "late effort": Joint((400.0, 8.0, 0.0), effort_delay=2.3),
    "both, of which parts do not add up to steps": Joint((400.0, 8.0, 0.0), latency=1.5, effort_delay=1.5),
    "integral": Joint((400.0, 8.0, 2000.0), latency=2.25),
    "difference": Joint((400.0, 8.0, 0.0), latency=1.5, difference=True),
    "filter": Joint((400.0, 8.0, 0.0), latency=1.0, filter_time=0.01),
    "filtered difference": Joint((900.0, 8.0, 300.0), latency=0.5, difference=True, filter_time=0.004),
    "rate": Joint((400.0, 8.0, 0.0), decimation=4),
    "rate and late effort": Joint((400.0, 8.0, 0.0), effort_delay=1.7, decimation=4),
    "rate and all else": Joint((400.0, 8.0, 500.0), 1.25, 0.5, True, 0.01, 3),
    "growing": Joint((4000.0, 8.0, 0.0), latency=3.5),
}


@cases("weight", 1.0, 33 / 64)
@cases("name", *ALONE)
def test_radius_is_the_growth_of_a_joint_stepped_one_by_one(name: str, weight: float) -> None:
    """With an inertia of 0.25, at 500 Hz."""
    inverse = np.array([[4.0]])
    grown = Reference(inverse, [ALONE[name]], DT, weight).growth()
    assert radius(inverse, [ALONE[name]], DT, weight) == pytest.approx(grown, abs=2e-4)


@cases(
    "first, second",
    (Joint((400.0, 8.0, 0.0), latency=3.5), Joint((100.0, 2.0, 0.0), latency=0.25)),
    (Joint((400.0, 8.0, 200.0), latency=1.0, difference=True), Joint((100.0, 2.0, 0.0))),
    (Joint((400.0, 8.0, 0.0), effort_delay=1.5, decimation=2), Joint((100.0, 2.0, 0.0), 2.0, decimation=3)),
    (Joint((400.0, 8.0, 0.0)), Joint((300.0, 1.0, 0.0), latency=4.0)),
)
def test_coupled_joints_with_latencies_of_their_own(first: Joint, second: Joint) -> None:
    inverse = np.linalg.inv([[0.5, 0.1], [0.1, 0.05]])
    joints = [first, second]
    assert radius(inverse, joints, DT, 1.0) == pytest.approx(Reference(inverse, joints, DT, 1.0).growth(), abs=2e-4)


def test_states_are_only_those_that_are_needed() -> None:
    sizes = {
        name: len(StepMatrix(np.array([joint.gains]).T, DT, 1.0, timing_of([joint])).repeated(np.eye(1))[0])
        for name, joint in {"prompt": Joint((1.0, 1.0, 0.0)), **ALONE}.items()
    }
    assert sizes["prompt"] == 2 and sizes["whole steps"] == 5 and sizes["part of a step"] == 3
    assert sizes["difference"] == 4 and sizes["integral"] == 6 and sizes["rate"] == 3
