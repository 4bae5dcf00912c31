"""Robots of a MuJoCo model: bodies by name, with the hinges and slides of their subtrees."""

import mujoco
from isaacsim.core.experimental.actuators.simulators.mujoco.model_robots import ModelRobots
from refusals import cases, refused

# a box that floats, and two arms; a body and a slide have no name, and joints alternate between subtrees
ARMS = """
<mujoco><worldbody>
  <body name="box"><freejoint name="loose"/><geom size="0.1"/></body>
  <body name="left">
    <joint name="hip"/><geom size="0.1"/>
    <body><joint type="slide"/><geom size="0.1"/></body>
    <body name="hand"><joint name="wrist" type="ball"/><geom size="0.1"/></body>
  </body>
  <body name="right"><joint name="shoulder"/><geom size="0.1"/></body>
</worldbody></mujoco>
"""


def arms(num_envs: int = 1) -> ModelRobots:
    return ModelRobots(mujoco.MjModel.from_xml_string(ARMS), num_envs)


def test_bodies_are_robots() -> None:
    robots = arms()
    assert robots.joints == [1, 2, 4] and robots.other_joints == {"loose": "free", "wrist": "ball"}
    assert {robot.path: (robot.dof_names, robot.axes, robot.offset) for robot in robots.find([".*"])} == {
        "/world": (("hip", "joint_2", "shoulder"), ("angular", "linear", "angular"), 0),
        "/left": (("hip", "joint_2"), ("angular", "linear"), 0),
        "/body_3": (("joint_2",), ("linear",), 1),
        "/right": (("shoulder",), ("angular",), 2),
    }
    assert robots.whole_model() == robots.find("world")


def test_environments() -> None:
    robots = arms(num_envs=2)
    right = robots.find("right")
    assert [(robot.path, robot.env, robot.offset) for robot in right] == [
        ("/envs/env_0/right", 0, 2),
        ("/envs/env_1/right", 1, 5),
    ]
    assert {robot.prototype for robot in right} == {("/right", ("/right/shoulder",))}
    assert robots.find("/envs/env_1/right") == right[1:] and right[1].dof_paths == ("/envs/env_1/right/shoulder",)


@cases(
    "path, error",
    ("hand", r"body 'hand': no joint of its subtree is a hinge or slide"),
    ("arm", r"'arm' matches none of the bodies .*\['world', 'left', 'body_3', 'right'\]"),
    ("/envs/env_7/left", r"'/envs/env_7/left' matches none of the bodies"),
    ([], r"articulation paths"),
)
def test_paths_that_match_nothing(path, error) -> None:
    refused(ValueError, lambda: arms(num_envs=2).find(path), error)


def test_model_without_axes() -> None:
    model = mujoco.MjModel.from_xml_string("<mujoco><worldbody><geom size='1'/></worldbody></mujoco>")
    refused(ValueError, lambda: ModelRobots(model, 1), "neither hinge nor slide joints, only fixed bodies")
