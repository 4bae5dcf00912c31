"""The map of physics steps, compared with joints that are stepped one step at a time."""

import numpy as np
import pytest
from isaacsim.core.experimental.actuators.tools.stability.step_matrix import StepMatrix
from late_loop import Joint, Reference, timing_of

DT = 1 / 500


def radius(inverse: np.ndarray, joints: list[Joint], dt: float, weight: float) -> float:
    """Growth in a physics step, from the map of all physics steps until they repeat."""
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


@pytest.mark.parametrize("weight", [1.0, 33 / 64])
@pytest.mark.parametrize("name", ALONE)
def test_radius_is_the_growth_of_a_joint_stepped_one_by_one(name, weight) -> None:
    """With an inertia of 0.25, at 500 Hz."""
    inverse = np.array([[4.0]])
    grown = Reference(inverse, [ALONE[name]], DT, weight).growth()
    assert radius(inverse, [ALONE[name]], DT, weight) == pytest.approx(grown, abs=2e-4)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (Joint((400.0, 8.0, 0.0), latency=3.5), Joint((100.0, 2.0, 0.0), latency=0.25)),
        (Joint((400.0, 8.0, 200.0), latency=1.0, difference=True), Joint((100.0, 2.0, 0.0))),
        (Joint((400.0, 8.0, 0.0), effort_delay=1.5, decimation=2), Joint((100.0, 2.0, 0.0), 2.0, decimation=3)),
        (Joint((400.0, 8.0, 0.0)), Joint((300.0, 1.0, 0.0), latency=4.0)),
    ],
)
def test_coupled_joints_with_latencies_of_their_own(first, second) -> None:
    """Also at rates of their own, which repeat after some steps."""
    inverse = np.linalg.inv([[0.5, 0.1], [0.1, 0.05]])
    joints = [first, second]
    assert radius(inverse, joints, DT, 1.0) == pytest.approx(Reference(inverse, joints, DT, 1.0).growth(), abs=2e-4)


def test_states_are_only_those_that_are_needed() -> None:
    """Position and velocity alone without latency; two more efforts for one and a half steps."""
    sizes = {
        name: len(StepMatrix(np.array([joint.gains]).T, DT, 1.0, timing_of([joint])).repeated(np.eye(1))[0])
        for name, joint in {"prompt": Joint((1.0, 1.0, 0.0)), **ALONE}.items()
    }
    assert sizes["prompt"] == 2 and sizes["whole steps"] == 5 and sizes["part of a step"] == 3
    assert sizes["difference"] == 4 and sizes["integral"] == 6 and sizes["rate"] == 3
