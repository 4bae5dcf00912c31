"""Masses, centres of mass and inertias of links set while physics runs, beside MuJoCo's own model of these values."""

from pathlib import Path

import mujoco
import numpy as np
import pytest
from isaacsim.core.experimental.actuators import Simulation
from played import models_of
from refusals import cases, refused

FILE = """
<mujoco><option timestep="0.002" integrator="implicitfast"><flag contact="disable"/></option><worldbody>
  <body name="base" pos="0 0 1"><freejoint/><inertial pos="{com}" mass="{mass}" fullinertia="{inertia}"/>
    <body name="arm"><joint name="arm" axis="0 1 0"/>
      <inertial pos="0.1 0 0.2" mass="1" diaginertia="0.1 0.1 0.1"/></body>
    <body name="leg" pos="0 0 0.2"><joint name="leg" axis="1 0 0"/>
      <inertial pos="{com}" mass="{mass}" fullinertia="{inertia}"/></body>
  </body>
</worldbody></mujoco>
"""
OLD = FILE.format(com="0 0 0", mass=1, inertia="0.1 0.1 0.1 0 0 0")
NEW = FILE.format(com="0.1 0.05 -0.2", mass=2.5, inertia="0.2 0.25 0.3 0.01 0.02 0.03")
COM = [0.1, 0.05, -0.2]
INERTIA = [0.2, 0.01, 0.02, 0.01, 0.25, 0.03, 0.02, 0.03, 0.3]
LINKS = [0, 2]


@pytest.fixture
def robots(tmp_path: Path):
    path = tmp_path / "robot.xml"
    path.write_text(OLD)
    with Simulation(path, num_envs=2) as sim:
        sim.play()
        found = sim.articulation("base")
        assert found.link_names == ["base", "arm", "leg"]
        found.set_dof_velocities([[2.0, 3.0]] * 2)
        found.set_velocities([[0.1, 0.2, 0.3]] * 2, [[1.0, -2.0, 0.5]] * 2)
        yield sim, found


def change(robots) -> None:
    robots.set_link_masses(2.5, indices=[1], link_indices=LINKS)
    robots.set_link_inertias(INERTIA, indices=[1], link_indices=LINKS)
    robots.set_link_coms(COM, indices=[1], link_indices=LINKS)


def test_a_changed_robot_moves_as_a_file_with_these_values(robots) -> None:
    sim, found = robots
    change(found)
    models = [mujoco.MjModel.from_xml_string(text) for text in (OLD, NEW)]
    data = [mujoco.MjData(model) for model in models]
    for env, one in enumerate(data):
        one.qpos[:], one.qvel[:] = sim.data(env).qpos, sim.data(env).qvel
    masses = found.get_mass_matrices().numpy()
    sim.step(200)
    for env, (model, one) in enumerate(zip(models, data, strict=True)):
        mujoco.mj_step(model, one, nstep=200)
        np.testing.assert_allclose(sim.data(env).qpos, one.qpos, atol=1e-7)
        np.testing.assert_allclose(sim.data(env).qvel, one.qvel, atol=1e-7)
        for name in ("body_invweight0", "dof_invweight0", "dof_M0", "body_subtreemass"):
            np.testing.assert_allclose(getattr(models_of(sim)[env], name), getattr(model, name), rtol=1e-6)
    assert np.trace(masses[1, :3, :3]) == pytest.approx(3 * (2.5 + 1 + 2.5)) != np.trace(masses[0, :3, :3])


def test_velocities_are_those_of_the_moved_centre_of_mass(robots) -> None:
    sim, found = robots
    change(found)
    root = np.concatenate([array.numpy()[1] for array in found.get_velocities()])
    links = np.concatenate([array.numpy()[1, 0] for array in found.get_link_velocities()])
    own = np.empty(6)
    model, data = models_of(sim)[1], sim.data(1)
    mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_BODY, model.body("base").id, own, 0)
    arm = data.body("base").xipos - data.body("base").xpos
    expected = [*(data.qvel[:3] + np.cross(own[:3], arm)), *own[:3]]
    np.testing.assert_allclose(root, expected, atol=1e-6)
    np.testing.assert_allclose(links, expected, atol=1e-6)
    found.set_velocities([[1, 2, 3]], [[3, 2, 1]], indices=[1])
    np.testing.assert_allclose(found.get_velocities()[0].numpy()[1], [1, 2, 3], atol=1e-6)


def test_getters_tell_what_was_set(robots) -> None:
    sim, found = robots
    before = found.get_link_masses().numpy()
    change(found)
    sim.reset()
    np.testing.assert_allclose(found.get_link_masses().numpy(), [[1, 1, 1], [2.5, 1, 2.5]])
    np.testing.assert_allclose(found.get_link_coms()[0].numpy()[1, LINKS], [COM] * 2, atol=1e-7)
    np.testing.assert_allclose(found.get_link_inertias().numpy()[1, LINKS], [INERTIA] * 2, atol=1e-7)
    np.testing.assert_array_equal(found.get_link_inertias().numpy()[0], [np.eye(3).ravel() * np.float32(0.1)] * 3)
    sim.stop()
    sim.play()
    np.testing.assert_array_equal(found.get_link_masses().numpy(), before)


def test_principal_axes_turn_with_their_moments(robots) -> None:
    _, found = robots
    found.set_link_inertias(np.diag([0.1, 0.2, 0.25]).ravel())
    found.set_link_coms(orientations=[np.sqrt(0.5), 0, 0, np.sqrt(0.5)])
    np.testing.assert_allclose(found.get_link_inertias().numpy()[0, 0], np.diag([0.2, 0.1, 0.25]).ravel(), atol=1e-7)


@cases(
    "setter, value, said",
    ("masses", [[1, 0, 1]] * 2, r"masses\[0, 1\] = 0: must be finite and > 0"),
    ("masses", -1.0, r"masses\[0, 0\] = -1: must be finite and > 0"),
    ("inertias", np.diag([1.0, 1.0, 3.0]).ravel(), r"inertias\[0, 0\]: must be finite, symmetric and positive"),
    ("inertias", [1.0, 0.5, 0, 0, 1, 0, 0, 0, 1], r"inertias\[0, 0\]: must be finite, symmetric"),
    ("coms", [0.0, 0.0, float("nan")], r"positions.* must be finite"),
)
def test_what_no_link_can_have_is_refused(robots, setter, value, said) -> None:
    _, found = robots
    refused(ValueError, lambda: getattr(found, f"set_link_{setter}")(value), said)
    np.testing.assert_array_equal(found.get_link_masses().numpy(), 1)


def test_drives_of_files_are_forces(robots) -> None:
    assert robots[1].get_dof_drive_types(indices=[1], dof_indices=[0]) == [["force"]]
