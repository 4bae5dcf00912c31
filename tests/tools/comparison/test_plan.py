"""Plans for two sides."""

import numpy as np
import pytest
from isaacsim.core.experimental.actuators.base.native import core
from isaacsim.core.experimental.actuators.tools.comparison.plan import plan_of, sweep
from isaacsim.core.experimental.actuators.tools.comparison.side import side_of
from places import ROBOTS
from seeded_faults import ARM, ARM_XML

pytestmark = pytest.mark.skipif(core is None, reason="the native core is not built")


def test_amplitudes_are_those_of_hinges_and_slides() -> None:
    side = side_of(ARM)
    plan = plan_of(side, side)
    assert (plan.joints, plan.seconds) == (("shoulder", "extension"), 3.0)
    assert np.ptp(plan.targets(np.linspace(0, 3, 1000)), axis=0) == pytest.approx([0.6, 0.06], rel=0.1)
    assert np.ptp(plan_of(side, side, amplitude=0.1).targets(np.linspace(0, 3, 1000)), axis=0)[0] < 0.21


def test_targets_of_a_file(tmp_path) -> None:
    path = tmp_path / "targets.csv"
    path.write_text("time,extension\n0,0.1\n2,0.3\n")
    plan = plan_of(side_of(ARM), side_of(ARM_XML), targets=path)
    assert plan.seconds == 2.0 and plan.start == pytest.approx([0.0, 0.1])
    assert plan.targets(np.array([1.0, 2.0])) == pytest.approx(np.array([[0.0, 0.2], [0.0, 0.3]]))


def test_other_joints_are_refused() -> None:
    with pytest.raises(ValueError, match="must have some in common"):
        plan_of(side_of(ARM), side_of(ROBOTS / "pendulum.usda"))


LOWER, UPPER = np.array([-1.0, 0.0, -np.inf]), np.array([1.0, 0.1, np.inf])
AMPLITUDE = np.array([0.3, 0.3, 0.3])


def test_a_sweep_stays_within_limits_and_starts_at_rest() -> None:
    plan = sweep(["a", "b", "c"], np.zeros(3), (LOWER, UPPER), AMPLITUDE, 3.0)
    targets = plan.targets(np.linspace(0.0, 3.0, 700))
    assert targets.shape == (700, 3) and (targets >= LOWER).all()
    assert (targets <= UPPER).all() and targets[0] == pytest.approx(plan.start)
    assert plan.start == pytest.approx([0.0, 0.05, 0.0])
    assert np.ptp(targets, axis=0) == pytest.approx([0.6, 0.1, 0.6], rel=0.15)


def test_joints_move_differently_and_always_the_same() -> None:
    plans = [sweep(list("abcdef"), np.zeros(6), (np.full(6, -9), np.full(6, 9)), np.ones(6), 2.0) for _ in range(2)]
    first, second = (plan.targets(np.linspace(0.0, 2.0, 400)) for plan in plans)
    assert np.array_equal(first, second) and np.abs(np.corrcoef(first.T) - np.eye(6)).max() < 0.95


@pytest.mark.parametrize(("amplitude", "seconds"), [(0.0, 1.0), (np.nan, 1.0), (0.1, 0.0), (0.1, np.inf)])
def test_numbers_out_of_range_are_refused(amplitude: float, seconds: float) -> None:
    with pytest.raises(ValueError, match="must be a finite number > 0"):
        sweep(["a"], np.zeros(1), (np.full(1, -1), np.ones(1)), np.full(1, amplitude), seconds)
