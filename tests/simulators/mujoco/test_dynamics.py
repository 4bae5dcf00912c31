"""Equations of motion of many environments, beside MuJoCo's functions called for one environment at a time."""

from collections.abc import Callable

import mujoco
import numpy as np
import pytest
from isaacsim.core.experimental.actuators.simulators.mujoco import dynamics
from isaacsim.core.experimental.actuators.simulators.mujoco.dynamics import Equations, Kinematics, Layout, State, cross
from isaacsim.core.experimental.actuators.simulators.mujoco.fields import CONSTANTS, ModelFields
from isaacsim.core.experimental.actuators.simulators.mujoco.simulations import Batch
from isaacsim.core.experimental.actuators.simulators.rotations import seen_from, unit
from physics_engines import ROOT, floating_pair, telescope
from played import playing_robot

INERTIAL = '<inertial pos="0.1 0.05 0.2" quat="0.9 0.1 0.2 0.3" mass="{}" diaginertia="0.1 0.15 0.2"/>'
# a robot that floats, with a fork and a branch; one that stands; a loose body; a tendon with armature
MODEL = f"""<mujoco><worldbody>
  <body pos="0 0 1"><freejoint/>{INERTIAL.format(2)}
    <body pos="0.3 0 0" quat="0.8 0.6 0 0"><joint name="a" axis="0 1 1" pos="0 0.1 0" armature="0.2"/>
      {INERTIAL.format(1)}<body pos="0 0 0.4"><joint type="slide" axis="1 0 0"/>{INERTIAL.format(0.5)}</body></body>
    <body pos="-0.3 0 0"><joint name="b" axis="1 0 0"/>{INERTIAL.format(1.5)}</body></body>
  <body pos="2 0 0">{INERTIAL.format(3)}
    <body pos="0 0 0.5"><joint axis="0 1 0"/>{INERTIAL.format(1)}
      <body pos="0 0 0.5"><joint axis="1 0 0"/>{INERTIAL.format(0.7)}</body></body></body>
  <body pos="4 0 0"><freejoint/>{INERTIAL.format(1)}</body>
</worldbody><tendon><fixed armature="0.3"><joint joint="a" coef="1"/><joint joint="b" coef="-0.5"/></fixed></tendon>
</mujoco>"""
NO_JOINTS = np.zeros((0, 7))
FLOATING = Layout(np.array([1, 2, 3, 4]), NO_JOINTS, np.array([6, 8, 7]), floating=True, fixed=False)
STANDING = Layout(np.array([5, 6, 7]), NO_JOINTS, np.array([9, 10]), floating=False, fixed=True)
LAYOUTS = [FLOATING, STANDING]
ENVS = np.array([3, 0, 2])


@pytest.fixture(params=["shared", "differing"])
def opened(request: pytest.FixtureRequest, rng: np.random.Generator) -> tuple[Batch, ModelFields]:
    """Five environments in motion; masses, places and armatures may be each its own."""
    spec = mujoco.MjSpec.from_string(MODEL)
    for body in spec.bodies[1:]:
        body.simple = False
    model = spec.compile()
    batch = Batch(model, 5)
    fields, qpos, qvel = ModelFields(model, batch), batch.bind("qpos"), batch.bind("qvel")
    for env in range(5):
        mujoco.mj_integratePos(model, qpos[env], rng.normal(size=model.nv), 1.0)
    qvel[:] = rng.normal(size=qvel.shape)
    if request.param == "differing":
        for name in CONSTANTS:
            values = fields.own(name)
            values[:] *= rng.uniform(0.9, 1.1, (5, *[1] * (values.ndim - 1)))
            if name in ("body_quat", "body_iquat"):
                values /= np.linalg.norm(values, axis=-1, keepdims=True)
            fields.written(name, np.arange(5))
    return batch, fields


def state(opened: tuple[Batch, ModelFields]) -> State:
    batch, fields = opened
    return State(fields, np.arange(5), batch.bind("qpos"), batch.bind("qvel"))


def one_by_one(batch: Batch, envs, compute: Callable) -> np.ndarray:
    found = []
    for env in envs:
        model, data = batch.get_model(env), batch.get_data(env)
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        found.append(compute(model, data))
    return np.array(found)


def coordinates(layout: Layout, model, data) -> np.ndarray:
    """MuJoCo's velocities by those of a robot: root at its centre of mass and in the world, then the axes."""
    turn = np.zeros((model.nv, layout.first + len(layout.dofs)))
    turn[layout.dofs, layout.first + np.arange(len(layout.dofs))] = 1.0
    if layout.floating:
        root = layout.bodies[0]
        arm = data.xipos[root] - data.xpos[root]
        turn[:3, :3] = np.eye(3)
        turn[:3, 3:6] = np.cross(arm, np.eye(3)).T
        turn[3:6, 3:6] = data.xmat[root].reshape(3, 3).T
    return turn


@pytest.mark.parametrize("layout", LAYOUTS)
def test_mass_matrices(layout, opened) -> None:
    def expected(model, data) -> np.ndarray:
        whole, turn = np.empty((model.nv, model.nv)), coordinates(layout, model, data)
        mujoco.mj_tendon(model, data)
        mujoco.mj_makeM(model, data)
        for column, direction in zip(whole, np.eye(model.nv), strict=True):
            mujoco.mj_mulM(model, data, column, direction)
        return turn.T @ whole @ turn

    found = Equations(batch_model(opened), 5).mass_matrices(state(opened), layout, ENVS)
    np.testing.assert_allclose(found, one_by_one(opened[0], ENVS, expected), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_jacobians(layout, opened) -> None:
    def expected(model, data) -> np.ndarray:
        both, rows = np.empty((6, model.nv)), []
        for body in layout.bodies[1 if layout.fixed else 0 :]:
            mujoco.mj_jacBodyCom(model, data, both[:3], both[3:], body)
            rows.append(both @ coordinates(layout, model, data))
        return np.array(rows)

    found = Equations(batch_model(opened), 5).jacobians(state(opened), layout, ENVS)
    np.testing.assert_allclose(found, one_by_one(opened[0], ENVS, expected), rtol=1e-12, atol=1e-12)


def at_rest(model, data) -> np.ndarray:
    efforts, data.cvel[:], data.cdof_dot[:] = np.empty(model.nv), 0.0, 0.0
    mujoco.mj_rne(model, data, 0, efforts)
    return efforts


def moving(model, data) -> np.ndarray:
    """Efforts of bodies whose floating root does not accelerate at its centre of mass, less those of gravity."""
    efforts, root = np.empty(model.nv), FLOATING.bodies[0]
    mujoco.mj_comVel(model, data)
    spin = data.xmat[root].reshape(3, 3) @ data.qvel[3:6]
    data.qacc[:] = 0.0
    data.qacc[:3] = -np.cross(spin, np.cross(spin, data.xipos[root] - data.xpos[root]))
    mujoco.mj_rne(model, data, 1, efforts)
    return efforts - at_rest(model, data)


@pytest.mark.parametrize(
    ("compute", "expected"),
    [(Equations.gravity, at_rest), (lambda equations, now: equations.coriolis(now, LAYOUTS), moving)],
    ids=["gravity", "Coriolis"],
)
def test_efforts(compute, expected, opened) -> None:
    axes = np.concatenate([layout.dofs for layout in LAYOUTS])
    found = compute(Equations(batch_model(opened), 5), state(opened))[:, axes]
    assert np.abs(found).max(axis=0).min() > 1e-2
    np.testing.assert_allclose(found, one_by_one(opened[0], range(5), expected)[:, axes], rtol=1e-12, atol=1e-12)


def test_gravity_slopes(opened) -> None:
    now, axes = state(opened), np.concatenate([layout.dofs for layout in LAYOUTS])
    equations, model = Equations(batch_model(opened), 5), batch_model(opened)
    found = equations.gravity_slopes(now)[:, axes]
    assert np.abs(found).max() > 1.0
    for k, axis in enumerate(axes):
        column = model.jnt_qposadr[model.dof_jntid[axis]]
        place = now.qpos[:, column].copy()
        ends = []
        for step in (-1e-5, 1e-5):
            now.qpos[:, column] = place + step
            ends.append(equations.gravity(now)[:, axis])
        now.qpos[:, column] = place
        np.testing.assert_allclose(found[:, k], (ends[1] - ends[0]) / 2e-5, atol=1e-6)


def test_what_is_known_of_a_state_is_not_computed_again(opened, monkeypatch) -> None:
    now, model = state(opened), batch_model(opened)
    equations, calls = Equations(model, 5), list[int]()
    forward = Batch.forward
    monkeypatch.setattr(Batch, "forward", lambda self, **given: (calls.append(1), forward(self, **given))[1])
    everything = np.arange(5)

    def asked() -> int:
        calls.clear()
        for _ in range(2):
            equations.coriolis(now, LAYOUTS)
            equations.mass_matrices(now, STANDING, everything)
            equations.gravity(now)
        return len(calls)

    # of which those without the tendon's armature are two
    assert asked() == (6 if now.fields.has_own_bodies else 2)
    model.tendon_armature[:] = 0.0
    equations = Equations(model, 5)
    assert asked() == (6 if now.fields.has_own_bodies else 1)
    before = equations.gravity(now).copy()
    now.qpos[:, -1] += 0.1
    after = equations.gravity(now).copy()
    assert not np.array_equal(before, after)
    now.fields.own("body_mass")[:] *= 2.0
    now.fields.written("body_mass", everything)
    np.testing.assert_allclose(equations.gravity(now), 2.0 * after)


def test_gravity_can_be_switched_off(opened) -> None:
    model = batch_model(opened)
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_GRAVITY
    assert not Equations(model, 5).gravity(state(opened)).any()


def test_what_diverged_is_not_begun_anew(opened) -> None:
    now, equations = state(opened), Equations(batch_model(opened), 5)
    before = equations.jacobians(now, STANDING, np.arange(5))
    now.qpos[1] = np.nan
    after = equations.jacobians(now, STANDING, np.arange(5))
    assert not np.isfinite(after[1]).all()
    np.testing.assert_array_equal(np.delete(after, 1, 0), np.delete(before, 1, 0))


def batch_model(opened: tuple[Batch, ModelFields]):
    return opened[1]._model


def _follows(robots) -> None:
    views, host = robots.buffers(), robots._backend
    views.refresh()
    numbers = robots._numbers
    poses = host.root_poses(numbers)
    np.testing.assert_allclose(views.root_poses, poses, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(views.root_velocities, host.root_velocities(numbers), rtol=1e-5, atol=1e-6)
    expected = seen_from(poses[:, 3:], unit(host.gravity))
    np.testing.assert_allclose(views.projected_gravity, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("with_core", [True, False])
def test_arrays_of_root_links_follow_whatever_moves_them(with_core, monkeypatch, rng) -> None:
    if not with_core:
        monkeypatch.setattr(dynamics, "core", None)
    sim, robots = playing_robot(ROOT, floating_pair().stage, num_envs=3)
    _follows(robots)
    robots.set_velocities(*rng.uniform(-1, 1, (2, 3, 3)))
    _follows(robots)
    sim.step(7)
    _follows(robots)
    robots.set_world_poses(rng.normal(size=(2, 3)), rng.normal(size=(2, 4)), indices=[0, 2])
    _follows(robots)
    robots.set_link_coms(rng.uniform(-0.1, 0.1, (3, 2, 3)))
    _follows(robots)
    sim.step(3)
    robots.observe_contact_forces(".*")
    _follows(robots)
    sim.reset([1])
    _follows(robots)
    sim.step(2)
    _follows(robots)
    sim.stop()
    sim.play()
    _follows(sim.articulation([f"/World/envs/env_{env}/Robot" for env in (2, 0)]))


def test_a_fixed_base_stands_in_the_arrays_where_it_was_put() -> None:
    sim, robots = playing_robot(ROOT, telescope().stage, num_envs=2)
    robots.set_world_poses([[1.0, 2.0, 3.0]], indices=[1])
    np.testing.assert_array_equal(robots.buffers().root_poses[:, :3], [[0, 0, 0], [1, 2, 3]])
    assert not robots.buffers().root_velocities.any()
    sim.reset([1])
    assert not robots.buffers().root_poses[:, :3].any()


KINEMATICS_MODEL = """<mujoco><worldbody>
  <body pos="0 0 1"><freejoint/><inertial pos="0.1 0 0.2" mass="2" diaginertia="0.1 0.1 0.1"/>
    <body pos="0.3 0 0" quat="0.8 0.6 0 0"><joint axis="0 1 1" pos="0 0.1 0"/><joint type="slide" axis="1 0 0"/>
      <inertial pos="0 0 0.4" mass="1" diaginertia="0.1 0.1 0.1"/></body></body>
  <body pos="2 0 0"><geom size="0.1"/>
    <body pos="0 0 0.5"><joint type="ball"/><geom size="0.1" pos="0.3 0 0"/></body></body>
</worldbody></mujoco>"""


def test_they_are_those_of_mujoco() -> None:
    model = mujoco.MjModel.from_xml_string(KINEMATICS_MODEL)
    batch = Batch(model, 4)
    fields, random = ModelFields(model, batch), np.random.default_rng(2)
    qpos, qvel = batch.bind("qpos"), batch.bind("qvel")
    for env in range(4):
        mujoco.mj_integratePos(model, qpos[env], random.normal(size=model.nv), 1.0)
    qvel[:] = random.normal(size=qvel.shape)
    fields.own("body_pos")[2, 3] = [5, 6, 7]
    fields.written("body_pos", np.array([2]))
    kinematics, envs = Kinematics(model), np.array([2, 0, 3])
    poses, velocities = kinematics.poses(fields, envs, qpos), kinematics.velocities(fields, envs, qpos, qvel)
    for env, pose, velocity in zip(envs, poses, velocities, strict=True):
        here, data = batch.get_model(env), batch.get_data(env)
        mujoco.mj_forward(here, data)
        np.testing.assert_array_equal(pose, np.hstack([data.xpos, data.xquat]))
        both = np.empty((2, 3, model.nv))
        for body in range(model.nbody):
            mujoco.mj_jacBodyCom(here, data, both[0], both[1], body)
            np.testing.assert_allclose(velocity[body], (both @ qvel[env]).ravel(), atol=1e-12)


def test_products_of_vectors() -> None:
    a, b = np.random.default_rng(3).normal(size=(2, 5, 3))
    np.testing.assert_allclose(cross(a, b), np.cross(a, b), atol=1e-15)
