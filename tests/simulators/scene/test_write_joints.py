"""Joints of a file on its stage."""

import numpy as np
import pytest
from converted import converted, saved
from isaacsim.core.experimental.actuators import Simulation
from isaacsim.core.experimental.actuators.base.errors import UnsupportedSceneError
from isaacsim.core.experimental.actuators.simulators.scene.write_joints import Names
from played import played
from pxr import Sdf
from refusals import cases, refused

LEG = """
<mujoco model="leg">
  <compiler angle="radian"/>
  <worldbody>
    <body name="thigh">
      <joint name="hip" axis="0 1 0" range="-1 0.5" armature="0.02" frictionloss="0.3" damping="0.7" ref="0.2"
        stiffness="4" springref="0.1" solreffriction="0.03 1"/>
      <geom size="0.1"/>
      <body name="shin" pos="0 0 -0.5">
        <joint name="knee" axis="0 0.6 0.8" ref="0.1" actuatorfrcrange="-9 9"/><geom size="0.1"/>
        <body name="foot" pos="0 0 -0.5"><joint name="toe" type="slide" axis="0 0 1"/><geom size="0.1"/></body>
      </body>
    </body>
  </worldbody>
  <equality>
    <joint joint1="knee" joint2="hip" polycoef="0.3 2 0.5 0 0"/>
    <connect name="rod" body1="foot" body2="thigh" anchor="0.1 0 0"/>
    <weld name="glue" body1="foot" body2="thigh"/>
  </equality>
  <actuator><position joint="hip" kp="50" kv="5" forcerange="-7 7"/></actuator>
</mujoco>
"""


@cases(
    "field, size",
    *((name, "nv") for name in ("dof_armature", "dof_frictionloss", "dof_damping", "dof_solref")),
    *((name, "njnt") for name in ("jnt_range", "jnt_limited", "jnt_stiffness", "jnt_actfrcrange", "qpos_spring")),
)
def test_a_model_of_the_stage_has_what_that_of_the_file_has(tmp_path, field, size) -> None:
    (tmp_path / "leg.xml").write_text(LEG)
    with converted(tmp_path / "leg.xml", tmp_path) as (before, after, _):
        rows = slice(2 if field == "dof_solref" else None)
        if field == "dof_solref":
            # solver parameters of friction are not written without friction
            rows = slice(1)
        assert getattr(before, size) == getattr(after, size) == 3
        np.testing.assert_allclose(getattr(after, field)[rows], getattr(before, field)[rows], rtol=1e-6, atol=1e-12)


def test_drives_have_gains_and_limits(tmp_path) -> None:
    saved(LEG, tmp_path)
    with Simulation(tmp_path / "robot.usda") as simulation:
        robot = simulation.articulation("/World/leg")
        simulation.play()
        stiffness, damping = (gains.numpy()[0] for gains in robot.get_dof_gains())
        np.testing.assert_allclose(stiffness, [50, 0, 0], rtol=1e-6)
        np.testing.assert_allclose(damping, [5, 0, 0], rtol=1e-6)
        np.testing.assert_allclose(robot.get_dof_max_efforts().numpy()[0, :2], [7, 9], rtol=1e-6)


def test_a_joint_follows_from_any_reference(tmp_path) -> None:
    """MuJoCo counts from the references, a stage from 0."""
    saved(LEG, tmp_path)
    with played(tmp_path / "robot.usda") as simulation:
        (row,) = np.flatnonzero(simulation.model.eq_type == 2)
        c = simulation.model.eq_data[row, :5]
    for hip in (-0.5, 0.2, 0.4):
        expected = 0.1 + 0.3 + 2 * (hip - 0.2) + 0.5 * (hip - 0.2) ** 2
        assert np.polynomial.Polynomial(c)(hip) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("power", [0.0, 0.5])
def test_a_joint_that_follows_several_is_followed_or_named(tmp_path, power) -> None:
    links = "".join(
        f'<body name="b{n}"><joint name="j{n}" axis="0 1 0" ref="0.{n}"/><geom size="0.1" pos="0.2 {n} 0"/></body>'
        for n in range(4)
    )
    couplings = "".join(
        f'<joint joint1="j{a}" joint2="j{b}" polycoef="0.1 {slope} {power} 0 0"/>'
        for a, b, slope in ((0, 1, 2), (2, 3, -1), (0, 2, 0.5))
    )
    text = f"<mujoco><worldbody><body>{links}</body></worldbody><equality>{couplings}</equality></mujoco>"
    (tmp_path / "four.xml").write_text(text)
    with converted(tmp_path / "four.xml", tmp_path) as (before, after, told):
        assert (before.neq, after.neq) == (3, 2 if power else 3)
        assert ("couplings of joints that follow several others: j0 of j2" in told) == bool(power)
        if power:
            return
        expected, found = (_lines(model) for model in (before, after))
    assert expected.keys() == found.keys()
    for pair, line in expected.items():
        np.testing.assert_allclose(found[pair], line, rtol=1e-6)


def _lines(model) -> dict[frozenset[str], list[float]]:
    """Straight lines on which the coupled joints of a model are, as a·(one of them) + b·(the other) = 1, by name."""
    lines = {}
    for first, second, (c, slope) in zip(model.eq_obj1id, model.eq_obj2id, model.eq_data[:, :2], strict=True):
        here, there = (model.qpos0[model.jnt_qposadr[one]] for one in (first, second))
        offset = here + c - slope * there
        names = [model.joint(one).name.rsplit("/", 1)[-1] for one in (first, second)]
        line = dict(zip(names, (1 / offset, -slope / offset), strict=True))
        lines[frozenset(names)] = [line[name] for name in sorted(line)]
    return lines


def test_constraints_close_loops(tmp_path) -> None:
    (tmp_path / "leg.xml").write_text(LEG.replace('<joint joint1="knee" joint2="hip" polycoef="0.3 2 0.5 0 0"/>', ""))
    with converted(tmp_path / "leg.xml", tmp_path) as (before, after, _):
        assert sorted(after.eq_type) == sorted(before.eq_type)
    with played(tmp_path / "robot.usda") as simulation:
        assert np.abs(simulation.data().efc_pos[: 3 + 6]).max() < 1e-6


def test_a_velocity_limit_is_carried(tmp_path) -> None:
    text = """<robot name="one"><link name="base"/><link name="arm"><inertial><mass value="1"/>
      <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <joint name="turn" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
      <limit effort="12" velocity="3"/></joint></robot>"""
    stage = saved(text, tmp_path, "urdf")
    joint = stage.GetPrimAtPath("/World/one/joints/turn")
    assert joint.GetAttribute("drive:angular:physics:maxForce").Get() == 12
    for name in ("physxJointAxis:angular:maxJointVelocity", "newton:velocityLimit", "physxJoint:maxJointVelocity"):
        assert np.radians(joint.GetAttribute(name).Get()) == pytest.approx(3, rel=1e-6)


def test_two_hinges_about_one_direction_are_refused(tmp_path) -> None:
    """Readers of USD would take the second one for a loop."""
    text = LEG.replace('<joint name="toe" type="slide" axis="0 0 1"/>', '<joint name="toe"/><joint name="nail"/>')
    refused(UnsupportedSceneError, lambda: saved(text, tmp_path), "'toe' and 'nail' turn body 'foot'")
    assert not (tmp_path / "robot.usda").exists()


ROOT = Sdf.Path("/World")


def test_names_are_valid_and_one_each() -> None:
    names = Names()
    assert [names.below(ROOT, name).name for name in ("/hip", "hip", "leg-2")] == ["hip", "hip_2", "leg_2"]
    assert names.below(ROOT.AppendChild("leg"), "hip").name == "hip"
    assert names.renamed == ["hip → hip_2", "leg-2 → leg_2"]


def test_names_that_nobody_gave_are_not_noted() -> None:
    names = Names()
    names.below(ROOT, "left box", noted=False)
    assert not names.renamed
