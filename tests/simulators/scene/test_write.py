"""A file of another format and its stage have the same equations of motion."""

from importlib.util import find_spec
from pathlib import Path

import mujoco
import numpy as np
import pytest
from converted import converted, differences, saved
from isaacsim.core.experimental.actuators import Simulation
from isaacsim.core.experimental.actuators.files.usd.stage import open_stage
from places import ROBOTS
from played import played
from pxr import UsdGeom, UsdPhysics

# joints of every kind, several of one body with references, turned frames, centers of mass off the origin
MANY = """
<mujoco model="many">
  <compiler angle="radian"/>
  <option gravity="0 1 -9"/>
  <worldbody>
    <body name="base" pos="0 0 1" quat="0.9 0.1 -0.2 0.3">
      <joint name="free" type="free" armature="0.3"/>
      <inertial pos="0.1 0.02 -0.03" mass="3" diaginertia="0.03 0.05 0.06" quat="0.8 0.2 0.1 0.4"/>
      <body name="thigh" pos="0.2 0.1 -0.1" quat="0.7 0.1 0.6 -0.2">
        <joint name="hip_z" axis="0.2 0.3 1" ref="0.4" armature="0.1" range="-1 2"/>
        <joint name="hip_slide" type="slide" axis="0 1 0.4" ref="0.1" pos="0.1 0 0"/>
        <joint name="hip_x" axis="1 0 0.1" pos="0 0.1 0.05" ref="-0.3"/>
        <inertial pos="0.1 0 -0.2" mass="2" fullinertia="0.05 0.06 0.03 0.01 -0.005 0.002"/>
        <body name="shin" pos="0 0 -0.4">
          <joint name="ankle" type="ball" pos="0 0.01 0" armature="0.02"/>
          <geom type="box" size="0.1 0.05 0.02" pos="0.05 0 0"/>
          <body name="sensor" pos="0.1 0 0" euler="0.1 0.2 0.3"><geom size="0.02" mass="0.1"/></body>
        </body>
      </body>
    </body>
    <body name="rail"><joint name="cart" type="slide" axis="0 0 -1"/><geom size="0.1"/></body>
  </worldbody>
</mujoco>
"""
NO_MASS = "<inertial><mass value='0'/></inertial>"
TREE = """
<robot name="tree">
  <link name="base"/>
  {links}
</robot>
"""
PACKAGES = {
    "newton": ("examples/assets/nv_ant.xml", "examples/assets/quadruped.urdf", "examples/assets/cartpole.urdf"),
    "gymnasium": ("envs/mujoco/assets/walker2d_v5.xml", "envs/mujoco/assets/pusher_v5.xml"),
}


def link(name: str, parent: str, inertia: str = "0.01") -> str:
    return f"""
  <link name="{name}"><inertial><origin xyz="0.1 0 0.05" rpy="0.1 0.2 0.3"/><mass value="1.5"/>
    <inertia ixx="{inertia}" iyy="0.02" izz="0.015" ixy="0.001" ixz="-0.002" iyz="0"/></inertial></link>
  <joint name="to_{name}" type="revolute"><parent link="{parent}"/><child link="{name}"/>
    <origin xyz="0.1 0.2 0.3" rpy="0.5 0.4 0.3"/><axis xyz="0 0.6 0.8"/>
    <limit lower="-1" upper="1.5" effort="20" velocity="3"/><dynamics damping="0.2" friction="0.1"/></joint>"""


URDF = TREE.format(links=link("b", "base") + link("b_tip", "b") + link("a", "base") + link("a_tip", "a"))


@pytest.mark.parametrize(("text", "ending"), [(MANY, "xml"), (URDF, "urdf")])
def test_mass_matrix_and_bias_are_those_of_the_file(tmp_path, text, ending) -> None:
    file = tmp_path / f"robot.{ending}"
    file.write_text(text)
    with converted(file, tmp_path) as (before, after, _):
        assert max(differences(before, after)) < 1e-6


@pytest.mark.parametrize(("package", "path"), [(name, path) for name, paths in PACKAGES.items() for path in paths])
@pytest.mark.filterwarnings("ignore:.*joints begin outside their limits")
def test_robots_of_installed_packages(tmp_path, package, path) -> None:
    found = find_spec(package)
    file = Path(*found.submodule_search_locations) / path if found and found.submodule_search_locations else Path()
    if not file.is_file():
        pytest.skip(f"no {path} of {package}")
    with converted(file, tmp_path) as (before, after, _):
        assert max(differences(before, after)) < 1e-6


def test_dofs_are_breadth_first(tmp_path) -> None:
    saved(URDF, tmp_path, "urdf")
    with Simulation(tmp_path / "robot.usda") as simulation:
        assert simulation.articulation("/World/tree").dof_names == ["to_a", "to_b", "to_a_tip", "to_b_tip"]


# joints of three kinds and none on one link
BRANCHES = """<mujoco model="tree"><worldbody><body name="torso"><freejoint/><geom size="0.1"/>
 <body name="left"><geom size="0.1" pos="0 1 0"/><body name="left_tip"><joint name="l"/><geom size="0.1"/></body></body>
 <body name="back"><geom size="0.1" pos="0 2 0"/><body name="back_tip"><joint name="b"/><geom size="0.1"/></body></body>
  <body name="arm"><joint name="shoulder" type="ball"/><geom size="0.1" pos="1 0 0"/>
    <body name="hand"><joint name="wrist"/><geom size="0.1"/></body></body>
  <body name="head"><joint name="{}"/><geom size="0.1"/></body>
  <body name="tail"><joint name="neck1"/><geom size="0.1"/></body>
</body></worldbody></mujoco>"""


@pytest.mark.parametrize(("name", "is_same"), [("neck", True), ("neck-a", False)])
def test_dofs_have_the_order_of_the_file_or_it_is_named(tmp_path, name, is_same) -> None:
    """Links without a joint of their own, too, and ball joints, which keep their names; `-` is none of USD's."""
    (tmp_path / "tree.xml").write_text(BRANCHES.format(name))
    orders = []
    with converted(tmp_path / "tree.xml", tmp_path) as (_, after, told):
        assert after.njnt == 7
    for file in ("tree.xml", "robot.usda"):
        with Simulation(tmp_path / file) as simulation:
            orders.append(simulation.articulation("/").dof_names)
    assert (orders[0] == [name.replace("_", "-") for name in orders[1]]) == is_same
    assert ("the order of the DOFs of </World/tree>, which is neck1, neck_a, l, b, wrist." in told) != is_same
    stage = open_stage(tmp_path / "robot.usda")
    assert stage.GetPrimAtPath("/World/tree/joints/shoulder").IsA(UsdPhysics.SphericalJoint)


def test_one_robot_is_called_after_its_model(tmp_path) -> None:
    stage = saved(MANY, tmp_path)
    roots = [prim.GetName() for prim in stage.Traverse() if prim.HasAPI(UsdPhysics.ArticulationRootAPI)]
    assert roots == ["base", "rail"]
    assert stage.GetPrimAtPath("/World/base/base").HasAPI(UsdPhysics.ArticulationRootAPI)
    with Simulation(ROBOTS / "arm_2dof.xml") as simulation, pytest.warns(UserWarning, match="timestep"):
        simulation.save_usd(tmp_path / "arm.usdc")
    with Simulation(tmp_path / "arm.usdc") as simulation:
        assert simulation.articulation("/").paths == ["/World/arm_2dof"]


def test_names_that_usd_refuses_are_told(tmp_path) -> None:
    (tmp_path / "robot.xml").write_text(MANY.replace('"hip_z"', '"hip-x"').replace('"hip_slide"', '"hip.x"'))
    with Simulation(tmp_path / "robot.xml") as simulation, pytest.warns(UserWarning) as said:
        simulation.save_usd(tmp_path / "robot.usda")
    assert "hip-x → hip_x, hip.x → hip_x_2, hip_x → hip_x_3" in str(said[0].message)


def test_saved_again_is_opened_again(tmp_path) -> None:
    file, closed = tmp_path / "robot.usda", []
    for name in ("tip", "toe"):
        saved(URDF.replace("a_tip", name), tmp_path, "urdf")
        with Simulation(file) as simulation:
            assert f"to_{name}" in simulation.articulation("/World/tree").dof_names
            simulation.stage.GetPrimAtPath("/World/tree/base").SetDisplayName("edited")
            closed.append(simulation)


def test_a_link_without_mass_gets_next_to_none(tmp_path) -> None:
    """USD would make a mass of its shapes up, or of nothing."""
    shape = "<collision><geometry><sphere radius='1'/></geometry></collision>"
    stage = saved(URDF.replace('<link name="base"/>', f"<link name='base'>{shape}{NO_MASS}</link>"), tmp_path, "urdf")
    assert UsdPhysics.MassAPI(stage.GetPrimAtPath("/World/tree/base")).GetMassAttr().Get() == pytest.approx(1e-12)


@pytest.mark.parametrize("inertial", ['mass="0" diaginertia="2e-4 3e-4 4e-4"', 'mass="1e-5" diaginertia="0 0 0"', ""])
def test_a_link_weighs_in_usd_what_it_weighs(tmp_path, inertial) -> None:
    pin = f'<inertial pos="0 0 0" {inertial}/>' if inertial else ""
    (tmp_path / "robot.xml").write_text(f"""<mujoco model="hand"><worldbody><body name="palm"><body name="finger">
    <joint name="bend" axis="0 1 0"/><inertial pos="0.001 0 0" mass="1e-3" diaginertia="1e-6 1e-6 1e-6"/>
    <body name="pin" pos="0.001 0 0">{pin}</body></body></body></worldbody></mujoco>""")
    with converted(tmp_path / "robot.xml", tmp_path) as (before, after, _):
        assert max(differences(before, after)) < 1e-6


def test_links_stand_where_the_robot_begins(tmp_path) -> None:
    stage = saved(MANY, tmp_path)
    place = UsdGeom.XformCache().GetLocalToWorldTransform(stage.GetPrimAtPath("/World/base/shin"))
    with played(tmp_path / "robot.xml") as simulation:
        np.testing.assert_allclose(place.ExtractTranslation(), simulation.data().body("shin").xpos, atol=1e-12)


# a chain that overlaps itself: all shapes that may touch do
CHAIN = """
<mujoco model="chain">
  <option gravity="0 0 0"/>
  <worldbody>
    <geom name="floor" type="box" size="1 1 1" pos="0 0 -0.95" {floor}/>
    <body name="a"><joint name="ja" axis="1 0 0"/><geom name="ga" size="0.1" {a}/>
      <body name="b"><joint name="jb"/><geom name="gb" size="0.1" {b}/>
        <body name="c"><joint name="jc" axis="0 1 0"/><geom name="gc" size="0.1"/><geom name="gd" size="0.1" {d}/>
          <body name="e"><joint name="je"/><geom name="ge" size="0.1"/></body>
        </body>
      </body>
    </body>
  </worldbody>
  {contact}
</mujoco>
"""
CASES = {
    "all": {},
    "excluded": {"contact": '<contact><exclude body1="a" body2="c"/></contact>'},
    "not the floor": {"floor": 'contype="2" conaffinity="2"'},
    "neither the floor nor another": {
        **{"floor": 'contype="2" conaffinity="2"', "contact": '<contact><exclude body1="b" body2="e"/></contact>'}
    },
    "one shape of two": {"d": 'contype="2" conaffinity="2"'},
    "nothing of the robot": dict.fromkeys("abd", 'contype="2" conaffinity="1"'),
    "off": {"contact": ""},
}


def touching(file: Path) -> set[frozenset[str]]:
    with played(file) as simulation:
        model, contacts = simulation.model, simulation.data().contact
    names = [[model.geom(geom).name.rsplit("/", 1)[-1].partition("#")[0] for geom in pair] for pair in contacts.geom]
    return {frozenset(pair) for pair in names}


@pytest.mark.parametrize("case", CASES)
def test_the_same_shapes_touch(tmp_path: Path, case: str) -> None:
    text = CHAIN.format_map(dict.fromkeys(["floor", "a", "b", "d", "contact"], "") | CASES[case])
    if case == "off":
        text = text.replace('gravity="0 0 0"/>', 'gravity="0 0 0"><flag contact="disable"/></option>')
    saved(text, tmp_path)
    before = touching(tmp_path / "robot.xml")
    assert bool(before) == (case != "off") and touching(tmp_path / "robot.usda") == before


def test_a_robot_that_never_touches_itself_says_so(tmp_path: Path) -> None:
    pairs = "".join(f'<exclude body1="{one[0]}" body2="{one[1]}"/>' for one in ("ac", "ae", "be"))
    text = CHAIN.format_map(dict.fromkeys(["floor", "a", "b", "d"], "") | {"contact": f"<contact>{pairs}</contact>"})
    stage = saved(text, tmp_path)
    assert stage.GetPrimAtPath("/World/chain").GetAttribute("newton:selfCollisionEnabled").Get() is False
    assert "filteredPairs" not in (tmp_path / "robot.usda").read_text()


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
def test_colliders_are_those_of_the_file(tmp_path: Path, field: str) -> None:
    (tmp_path / "arm.xml").write_text(ARM)
    with converted(tmp_path / "arm.xml", tmp_path) as (before, after, _):
        found = [
            getattr(model, field)[(model.geom_contype > 0) & ~np.isin(model.geom_type, (0, 7))].astype(float)
            for model in (before, after)
        ]
    both = [np.sort(np.abs(one.reshape(len(one), -1)), axis=0) for one in found]
    np.testing.assert_allclose(both[1], both[0], atol=1e-6)


def test_a_mesh_is_where_the_file_has_it(tmp_path: Path) -> None:
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


def test_a_mesh_stands_there_once(tmp_path: Path) -> None:
    saved(ARM, tmp_path)
    assert (tmp_path / "robot.usda").read_text().count("point3f[] points") == 1


def test_what_is_only_seen_does_not_collide(tmp_path: Path) -> None:
    stage = saved(ARM, tmp_path)
    seen = stage.GetPrimAtPath("/World/arm/arm/tip_2")
    assert not seen.HasAPI(UsdPhysics.CollisionAPI)
    assert UsdGeom.Mesh(seen).GetDisplayColorAttr().Get()[0] == (1, 0, 0)
    assert UsdGeom.Imageable(stage.GetPrimAtPath("/World/arm/arm/inner")).GetPurposeAttr().Get() == "guide"
