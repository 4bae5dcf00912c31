"""Fixed tendons of robots on MuJoCo, as the file has them."""

from pathlib import Path

import numpy as np
import pytest
from isaacsim.core.experimental.actuators import Simulation
from isaacsim.core.experimental.actuators.base.errors import HostError

GRIPPERS = """
<mujoco>
  <worldbody>
    {}
  </worldbody>
  <tendon>
    <fixed name="left_split" stiffness="2" damping="3" springlength="0.1" range="-1 2" limited="true">
      <joint joint="left_a" coef="0.5"/><joint joint="left_b" coef="0.5"/>
    </fixed>
    <fixed name="between"><joint joint="left_a" coef="1"/><joint joint="right_a" coef="1"/></fixed>
    <fixed name="right_split" stiffness="5"><joint joint="right_a" coef="1"/><joint joint="right_b" coef="-1"/></fixed>
    <spatial name="string"><site site="left_site"/><site site="right_site"/></spatial>
  </tendon>
</mujoco>
"""
GRIPPER = """
<body name="{0}"><geom size="0.1"/><site name="{0}_site"/>
  <body name="{0}_one" pos="0 0 1"><joint name="{0}_a"/><geom size="0.1"/></body>
  <body name="{0}_two" pos="0 0 -1"><joint name="{0}_b"/><geom size="0.1"/></body>
</body>
"""


@pytest.fixture
def sim(tmp_path: Path) -> Simulation:
    file = tmp_path / "grippers.xml"
    file.write_text(GRIPPERS.format(GRIPPER.format("left") + GRIPPER.format("right")))
    return Simulation(file, num_envs=2)


def test_a_robot_has_the_tendons_of_its_own_joints(sim) -> None:
    assert sim.articulation("/left").fixed_tendon_names == ["left_split"]
    assert sim.articulation("/right").fixed_tendon_names == ["right_split"]
    assert sim.articulation("/right").num_fixed_tendons == 1


def test_numbers_are_those_of_the_file(sim) -> None:
    sim.play()
    left = sim.articulation("/left")
    np.testing.assert_array_equal(left.get_fixed_tendon_stiffnesses().numpy(), [[2], [2]])
    np.testing.assert_array_equal(left.get_fixed_tendon_dampings(indices=[1]).numpy(), [[3]])
    np.testing.assert_array_equal(left.get_fixed_tendon_limits(indices=0).numpy(), [[[-1, 2]]])
    np.testing.assert_allclose(left.get_fixed_tendon_rest_lengths().numpy(), [[0.1], [0.1]])
    right = sim.articulation("/right")
    np.testing.assert_array_equal(right.get_fixed_tendon_limits().numpy(), [[[-np.inf, np.inf]]] * 2)


def test_they_need_running_physics(sim) -> None:
    with pytest.raises(HostError, match="physics is not running"):
        sim.articulation("/left").get_fixed_tendon_stiffnesses()
