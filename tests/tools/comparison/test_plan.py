"""Plans for two sides."""

import numpy as np
import pytest
from isaacsim.core.experimental.actuators.base.native import core
from isaacsim.core.experimental.actuators.tools.comparison.plan import plan_of
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
    """Joints without a column hold their pose."""
    path = tmp_path / "targets.csv"
    path.write_text("time,extension\n0,0.1\n2,0.3\n")
    plan = plan_of(side_of(ARM), side_of(ARM_XML), targets=path)
    assert plan.seconds == 2.0
    assert plan.start == pytest.approx([0.0, 0.1])
    assert plan.targets(np.array([1.0, 2.0])) == pytest.approx(np.array([[0.0, 0.2], [0.0, 0.3]]))


def test_other_joints_are_refused() -> None:
    with pytest.raises(ValueError, match="must have some in common"):
        plan_of(side_of(ARM), side_of(ROBOTS / "pendulum.usda"))
