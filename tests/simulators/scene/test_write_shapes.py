"""Shapes of a file on a stage."""

import mujoco
import numpy as np
import pytest
from converted import converted, saved
from pxr import UsdGeom, UsdPhysics

ARM = """
<mujoco model="arm">
  <asset><mesh name="tip" vertex="0 0 0 0.1 0 0 0 0.1 0 0 0 0.2"/></asset>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1" friction="0.6"/>
    <body name="arm" pos="0 0 1">
      <joint name="turn"/>
      <geom type="sphere" size="0.1" pos="1 0 0"/>
      <geom type="capsule" size="0.1 0.3" quat="0.9 0.1 0.2 0.3"/>
      <geom type="cylinder" size="0.1 0.2"/>
      <geom type="box" size="0.1 0.2 0.3" quat="0.9 0.3 0.2 0.1" friction="0.6"/>
      <geom type="ellipsoid" size="0.1 0.2 0.3"/>
      <geom type="mesh" mesh="tip" pos="0 0.5 0"/>
      <geom type="mesh" mesh="tip" contype="0" conaffinity="0" rgba="1 0 0 0.5"/>
      <geom name="inner" size="0.05" group="3"/>
    </body>
  </worldbody>
</mujoco>
"""


@pytest.mark.parametrize("field", ["geom_type", "geom_aabb", "geom_pos", "geom_quat", "geom_friction"])
def test_colliders_are_those_of_the_file(tmp_path, field) -> None:
    """In MuJoCo's model of the stage; quaternions may have the opposite sign, a plane and meshes differ."""
    (tmp_path / "arm.xml").write_text(ARM)
    with converted(tmp_path / "arm.xml", tmp_path) as (before, after, _):
        found = [
            getattr(model, field)[(model.geom_contype > 0) & ~np.isin(model.geom_type, (0, 7))].astype(float)
            for model in (before, after)
        ]
    both = [np.sort(np.abs(one.reshape(len(one), -1)), axis=0) for one in found]
    np.testing.assert_allclose(both[1], both[0], atol=1e-6)


def test_a_mesh_is_where_the_file_has_it(tmp_path) -> None:
    """In any frame that MuJoCo gives it."""
    (tmp_path / "arm.xml").write_text(ARM)
    found = []
    with converted(tmp_path / "arm.xml", tmp_path) as (before, after, _):
        for model in (before, after):
            geom = int(np.flatnonzero((model.geom_type == 7) & (model.geom_contype > 0))[0])
            data = mujoco.MjData(model)
            mujoco.mj_kinematics(model, data)
            points = model.mesh_vert[model.mesh_vertadr[model.geom_dataid[geom]] :][:4]
            placed = points @ data.geom_xmat[geom].reshape(3, 3).T + data.geom_xpos[geom]
            found.append(sorted(placed.round(5).tolist()))
    np.testing.assert_allclose(found[1], found[0], atol=2e-5)


def test_a_mesh_stands_there_once(tmp_path) -> None:
    """Shapes refer to it."""
    saved(ARM, tmp_path)
    assert (tmp_path / "robot.usda").read_text().count("point3f[] points") == 1


def test_what_is_only_seen_does_not_collide(tmp_path) -> None:
    """It has a color, and a hidden collider is a guide."""
    stage = saved(ARM, tmp_path)
    seen = stage.GetPrimAtPath("/World/arm/arm/tip_2")
    assert not seen.HasAPI(UsdPhysics.CollisionAPI)
    assert UsdGeom.Mesh(seen).GetDisplayColorAttr().Get()[0] == (1, 0, 0)
    assert UsdGeom.Imageable(stage.GetPrimAtPath("/World/arm/arm/inner")).GetPurposeAttr().Get() == "guide"
