"""All that a file says, as data."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from isaacsim.core.experimental.actuators.errors import UnsupportedSceneError
from isaacsim.core.experimental.actuators.hosts.mujoco.file_reader import read_file
from isaacsim.core.experimental.actuators.hosts.mujoco.to_scene import whole_scene
from places import ROBOTS

BALLS = '<body name="wrist"><joint name="ball" type="ball"/>{}<geom size="0.1"/></body>'


def test_data_stands_in_the_place_of_the_spec() -> None:
    """Shapes and what does not touch come to what was there already."""
    scene = read_file(ROBOTS / "arm_2dof.xml")
    whole, _ = whole_scene(scene)
    assert whole.spec is None and scene.spec is not None
    assert whole.shapes and not scene.shapes
    assert [body.path for body in whole.bodies] == [body.path for body in scene.bodies]


def test_gravity_that_is_off_is_none(tmp_path: Path) -> None:
    """By MuJoCo's flag."""
    (tmp_path / "arm.xml").write_text(
        f'<mujoco><option><flag gravity="disable"/></option><worldbody>{BALLS.format("")}</worldbody></mujoco>'
    )
    assert not np.any(whole_scene(read_file(tmp_path / "arm.xml"))[0].gravity)


def test_a_ball_joint_beside_another_is_refused(tmp_path: Path) -> None:
    """A chain of joints between two bodies has hinges and slides only."""
    body = BALLS.format('<joint name="slide" type="slide"/>')
    (tmp_path / "arm.xml").write_text(f"<mujoco><worldbody>{body}</worldbody></mujoco>")
    with pytest.raises(UnsupportedSceneError, match="wrist have a ball joint beside others"):
        whole_scene(read_file(tmp_path / "arm.xml"))
