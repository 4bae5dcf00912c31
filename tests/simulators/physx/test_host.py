"""The PhysX host: state, efforts and drives of running robots, with MuJoCo as the second opinion on one step."""

import functools
from importlib.util import find_spec
from pathlib import Path

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from isaacsim.core.experimental.actuators.base.errors import HostError, SimulationDivergedError, UnsupportedSceneError
from places import ROBOTS
from pxr import Gf, Usd, UsdGeom, UsdPhysics
from refusals import refused
from small_stages import SmallStage, many_axes, pendulum, two_robots, weightless
from stages import stage_of

pytestmark = pytest.mark.skipif(find_spec("ovphysx") is None, reason="the PhysX wheel is not installed")
DT = 1 / 240
# of the pendulum of `small_stages`, about its hinge [kg m²]
INERTIA = 0.01 + 0.5**2
ROOT, HINGE = "/World/Robot", "/World/Robot/hinge"
ROOTS = {"pendulum": "Pendulum", "arm_2dof": "Arm", "franka_panda": "Panda", "anymal_c": "Anymal"}
NEWTON = Path(find_spec("newton").submodule_search_locations[0]) / "examples" / "assets"


def physx(stage: Usd.Stage | Path, dt: float = DT) -> aa.Simulation:
    """A stage on PhysX."""
    return aa.Simulation(stage, dt, engine="physx")


def running(stage: Usd.Stage) -> tuple[aa.Simulation, aa.Articulation]:
    """Physics of a stage, played, and its first robot."""
    sim = physx(stage)
    sim.play()
    return sim, sim.articulation(sim._host.robots()[0].path)


def values(array: object) -> np.ndarray:
    """The only row of what a getter returns."""
    return array.numpy()[0]


@pytest.fixture
def swing():
    """A weightless pendulum without drive."""
    sim, robot = running(weightless(pendulum()).stage)
    yield sim, robot
    sim.close()


@pytest.fixture
def arm():
    """The seven-joint arm."""
    sim, robot = running(stage_of(ROBOTS / "franka_panda.usda"))
    yield sim, robot
    sim.close()


# life cycle


def test_robots_are_known_before_play() -> None:
    """Names, paths and counts need no running physics."""
    robot = physx(ROBOTS / "arm_2dof.usda").articulation("/World/Arm")
    assert (robot.paths, robot.dof_names, robot.num_dofs) == (["/World/Arm"], ["shoulder", "extension"], 2)


@pytest.mark.parametrize("call", ["step", "reset"])
@pytest.mark.parametrize("stopped", [False, True])
def test_nothing_runs_unless_playing(call, stopped) -> None:
    """Neither before play nor after stop."""
    sim = physx(pendulum().stage)
    if stopped:
        sim.play()
        sim.stop()
    refused(HostError, getattr(sim, call), r"physics is not running: call play\(\)")


@pytest.mark.parametrize("call", ["get_dof_gravity_compensation_forces", "get_world_poses", "get_dof_positions"])
def test_articulation_needs_running_physics(call) -> None:
    """Everything that physics knows."""
    refused(HostError, getattr(physx(pendulum().stage).articulation(ROOT), call), "physics is not running")


def test_events_come_in_order(swing) -> None:
    """Stop and a second play: each is announced once, steps with the physics dt."""
    sim, _ = swing
    heard: list[object] = []
    sim.bus.on_ready(lambda: heard.append("ready"))
    sim.bus.on_pre_step(lambda dt, _context: heard.append(dt))
    sim.bus.on_reset(heard.append)
    sim.bus.on_stop(lambda: heard.append(("stop", sim.playing)))
    sim.step(2)
    sim.reset()
    sim.reset([0])
    sim.stop()
    sim.stop()
    sim.play()
    assert heard == [DT, DT, None, [0], ("stop", False), "ready"]


def test_callback_may_stop_physics(swing) -> None:
    """The step it runs in does nothing more."""
    sim, _ = swing
    sim.bus.on_pre_step(lambda *_: sim.stop())
    sim.step()
    assert not sim.playing


def test_play_that_fails_is_undone(swing) -> None:
    """Listeners that became ready receive the stop."""
    sim, _ = swing
    sim.stop()
    heard: list[str] = []
    sim.bus.on_stop(lambda: heard.append("stop"))
    sim.bus.on_ready(lambda: 1 / 0)
    refused(ZeroDivisionError, sim.play)
    assert (heard, sim.playing) == (["stop"], False)


def test_stage_is_read_again_at_the_next_play(swing) -> None:
    """With the edits made while physics was stopped, and not before."""
    sim, robot = swing
    UsdPhysics.MassAPI(sim.stage.GetPrimAtPath("/World/Robot/bob")).GetMassAttr().Set(2.0)
    speeds = []
    for _ in range(2):
        robot.set_dof_efforts(3.0)
        sim.step()
        speeds.append(values(robot.get_dof_velocities())[0])
        sim.stop()
        sim.play()
    np.testing.assert_allclose(speeds, [3 * DT / INERTIA, 3 * DT / (INERTIA + 0.25)], rtol=1e-5)


def test_stage_that_cannot_be_read_is_read_again_at_the_next_play() -> None:
    """The physics before the edit does not come back by itself."""
    made = pendulum()
    sim = physx(made.stage)
    UsdGeom.SetStageMetersPerUnit(made.stage, 0.01)
    for _ in range(2):
        refused(UnsupportedSceneError, sim.play, "metersPerUnit")


def test_empty_stage_can_be_played() -> None:
    """There is nothing in it."""
    with physx(Usd.Stage.CreateInMemory()) as sim:
        sim.play()
        sim.step(3)
        sim.reset()
        assert (sim.step_count, sim._host.robots()) == (3, [])


def test_several_environments_are_refused() -> None:
    """With the ways there are instead."""
    with pytest.raises(ValueError, match=r"num_envs = 4: must be 1 with engine='physx'.*engine='mujoco'"):
        aa.Simulation(pendulum().stage, num_envs=4, engine="physx")


def test_pictures_are_refused(swing) -> None:
    """With the engine that draws them."""
    refused(HostError, swing[0].render, r"engine = 'physx': has no render\. Use engine='mujoco'")


def test_two_simulations_run_side_by_side(swing) -> None:
    """Each has its own state."""
    sim, robot = swing
    other_sim, other = running(pendulum().stage)
    robot.set_dof_positions(0.5)
    other.set_dof_positions(-0.25)
    other_sim.close()
    sim.step()
    np.testing.assert_allclose(values(robot.get_dof_positions()), [0.5], rtol=1e-6)


# state


def test_play_starts_in_the_authored_state() -> None:
    """Positions, velocities and targets, per degree in the file and per radian here."""
    made = pendulum()
    made.state(HINGE, position=30.0, velocity=-45.0)
    made.drive(HINGE, targetPosition=10.0, targetVelocity=20.0)
    _, robot = running(made.stage)
    getters = ("positions", "velocities", "position_targets", "velocity_targets")
    read = [values(getattr(robot, f"get_dof_{name}")())[0] for name in getters]
    np.testing.assert_allclose(np.degrees(read), [30, -45, 10, 20], rtol=1e-6)


@pytest.mark.parametrize("free", [True, False])
def test_world_pose_is_that_of_the_root_body(free) -> None:
    """Quaternions are (w, x, y, z), whether the base is fixed or not."""
    made = weightless(SmallStage())
    made.root(ROOT)
    made.body("/World/Robot/base", (1, 2, 3), turn=((0, 0, 1), 90), com=(0.1, 0, 0))
    made.body("/World/Robot/bob", (1, 2, 3), turn=((0, 0, 1), 90), mass=0.1)
    made.joint(HINGE, "Revolute", "/World/Robot/base", "/World/Robot/bob")
    if not free:
        made.joint("/World/Robot/fix", "Fixed", None, "/World/Robot/base", at=(1, 2, 3), turn=((0, 0, 1), 90))
    positions, quaternions = running(made.stage)[1].get_world_poses()
    np.testing.assert_allclose(positions.numpy(), [[1, 2, 3]], atol=1e-6)
    np.testing.assert_allclose(quaternions.numpy(), [[np.sqrt(0.5), 0, 0, np.sqrt(0.5)]], atol=1e-6)


@pytest.mark.parametrize("name", ["positions", "velocities"])
def test_state_set_is_there_and_the_rest_keeps_its_bits(arm, name) -> None:
    """Joints that are not set are not written in PhysX either."""
    sim, robot = arm
    sim.step(50)
    before = values(getattr(robot, f"get_dof_{name}")())
    getattr(robot, f"set_dof_{name}")([[0.5, -1.5]], dof_indices=[1, 3])
    expected = before.copy()
    expected[[1, 3]] = [0.5, -1.5]
    column = {"positions": "jointPosition", "velocities": "jointVelocity"}[name]
    (held,) = sim._host._scene.read(column)
    np.testing.assert_array_equal(values(getattr(robot, f"get_dof_{name}")()), expected)
    np.testing.assert_allclose(held, expected, rtol=3e-7)
    np.testing.assert_array_equal(np.delete(held, [1, 3]), np.delete(before, [1, 3]))


def test_same_state_gives_the_same_future(arm) -> None:
    """To the bit, in a second simulation."""
    futures = []
    for sim, robot in (arm, running(stage_of(ROBOTS / "franka_panda.usda"))):
        robot.set_dof_velocities([[0.1, -0.2, 0.3, -0.4, 0.5, -0.6, 0.7]])
        sim.step(100)
        futures.append(values(robot.get_dof_positions()))
    np.testing.assert_array_equal(*futures)


def test_robot_at_rest_wakes_up_where_it_is_put() -> None:
    """PhysX lets resting robots sleep."""
    sim, robot = running(pendulum().stage)
    sim.step(480)
    robot.set_dof_positions(0.5)
    sim.step(10)
    expected = -0.5 * 9.81 * np.sin(0.5) / INERTIA * 10 * DT
    np.testing.assert_allclose(values(robot.get_dof_velocities()), [expected], rtol=1e-2)


def test_robots_of_one_stage_are_told_apart() -> None:
    """PhysX has its own order of robots and of joints."""
    sim = physx(two_robots(ROBOTS / "anymal_c.usda", "/World/Anymal"))
    sim.play()
    robots = sim.articulation(["/World/Right", "/World/Left"])
    wanted = np.arange(24, dtype=np.float32).reshape(2, 12) / 64
    robots.set_dof_positions(wanted)
    held = dict(zip([path for row in robots.dof_paths for path in row], wanted.ravel(), strict=True))
    flat = [path for robot in sim._host.robots() for path in robot.dof_paths]
    np.testing.assert_allclose(
        sim._host._scene.read("jointPosition")[0], [held[path] for path in flat], rtol=1e-6, atol=1e-9
    )
    assert [robot.path for robot in sim._host.robots()] == ["/World/Left", "/World/Right"]


def test_instanced_robot_is_found() -> None:
    """PhysX itself sees no joints in instances; the stage keeps its instance."""
    made = SmallStage()
    made.reference("/World/Arm", ROBOTS / "arm_2dof.usda", "/World/Arm")
    made.stage.GetPrimAtPath("/World/Arm").SetInstanceable(True)
    assert physx(made.stage).articulation("/World/Arm").dof_names == ["shoulder", "extension"]
    assert made.stage.GetPrimAtPath("/World/Arm").IsInstance()


# efforts


@pytest.mark.parametrize("effort", [3.0, -3.0])
def test_effort_accelerates_by_its_inertia(swing, effort) -> None:
    """In the step that follows."""
    sim, robot = swing
    robot.set_dof_efforts(effort)
    sim.step()
    np.testing.assert_allclose(values(robot.get_dof_velocities()), [effort * DT / INERTIA], rtol=1e-5)


def test_effort_acts_until_another_is_set(swing) -> None:
    """In every step; PhysX's default damping of links takes 8e-6 of the speed in one."""
    sim, robot = swing
    robot.set_dof_efforts(3.0)
    sim.step(5)
    assert values(robot.get_dof_efforts()).tolist() == [3.0]
    np.testing.assert_allclose(values(robot.get_dof_velocities()), [5 * 3.0 * DT / INERTIA], rtol=1e-4)
    robot.set_dof_efforts(0.0)
    before = values(robot.get_dof_velocities())
    sim.step(5)
    np.testing.assert_allclose(values(robot.get_dof_velocities()), before, rtol=1e-4)


@pytest.mark.parametrize("again", [lambda sim: sim.reset(), lambda sim: (sim.stop(), sim.play())])
def test_effort_ends_with_reset_and_stop(swing, again) -> None:
    """The robot starts over without a push."""
    sim, robot = swing
    robot.set_dof_efforts(3.0)
    sim.step()
    again(sim)
    sim.step()
    assert (values(robot.get_dof_efforts()).tolist(), values(robot.get_dof_velocities()).tolist()) == ([0.0], [0.0])


def test_small_constant_effort_keeps_the_robot_awake(swing) -> None:
    """Below the speed at which PhysX takes a robot for resting, too."""
    sim, robot = swing
    robot.set_dof_efforts(1e-4)
    sim.step(960)
    np.testing.assert_allclose(values(robot.get_dof_velocities()), [1e-4 * 960 * DT / INERTIA], rtol=1e-2)


def test_effort_set_in_a_callback_acts_in_that_step(swing) -> None:
    """Which is how actuators work."""
    sim, robot = swing
    sim.bus.on_pre_step(lambda *_: robot.set_dof_efforts(3.0))
    sim.step()
    np.testing.assert_allclose(values(robot.get_dof_velocities()), [3.0 * DT / INERTIA], rtol=1e-5)


def test_effort_written_to_buffers_acts(swing) -> None:
    """The plan writes there."""
    sim, robot = swing
    buffers = robot.buffers()
    buffers.refresh()
    buffers.efforts[:] = 3.0
    buffers.commit()
    sim.step()
    buffers.refresh()
    np.testing.assert_allclose(buffers.velocities, [[3.0 * DT / INERTIA]], rtol=1e-5)


def test_effort_is_not_limited_by_a_drive_that_is_off() -> None:
    """PhysX would cut it at `maxForce`; with gains again, the limit is back."""
    made = weightless(pendulum())
    made.drive(HINGE, maxForce=1.0)
    sim, robot = running(made.stage)
    robot.set_dof_efforts(30.0)
    sim.step()
    np.testing.assert_allclose(values(robot.get_dof_velocities()), [30.0 * DT / INERTIA], rtol=1e-5)
    robot.set_dof_velocities(0.0)
    robot.set_dof_gains(1000.0, 0.0)
    robot.set_dof_position_targets(1.0)
    sim.step()
    np.testing.assert_allclose(values(robot.get_dof_velocities()), [1.0 * DT / INERTIA], rtol=1e-3)


# the second opinion


def lifted(name: str) -> Usd.Stage:
    """A robot of this repository in the air and without joint friction."""
    stage = stage_of(ROBOTS / f"{name}.usda")
    UsdGeom.XformCommonAPI(stage.GetPrimAtPath(f"/World/{ROOTS[name]}")).SetTranslate(Gf.Vec3d(0, 0, 5))
    for prim in stage.Traverse():
        for attribute in ("newton:friction", "physxJoint:jointFriction"):
            if prim.HasAttribute(attribute):
                prim.GetAttribute(attribute).Set(0.0)
    return stage


STAGES = {name: functools.partial(lifted, name) for name in ROOTS} | {"many_axes": lambda: many_axes().stage}


@pytest.fixture(params=STAGES)
def both(request):
    """A robot on MuJoCo and on PhysX, playing, in the air."""
    pairs = []
    for engine in ("mujoco", "physx"):
        sim = aa.Simulation(STAGES[request.param](), 1e-4, engine=engine)
        sim.play()
        pairs.append((sim, sim.articulation(f"/World/{ROOTS.get(request.param, 'Robot')}")))
    yield pairs
    for sim, _ in pairs:
        sim.close()


@pytest.mark.filterwarnings("ignore:joints begin outside their limits.* /ant/")
@pytest.mark.parametrize(
    "file", [*(ROBOTS / f"{name}.usda" for name in ROOTS), NEWTON / "humanoid.usda", NEWTON / "ant.usda"]
)
def test_joints_have_the_names_and_the_order_they_have_on_mujoco(file) -> None:
    """Breadth-first, axes of many-axis joints one by one."""
    one, other = (aa.Simulation(file, engine=engine)._host.robots() for engine in ("mujoco", "physx"))
    assert one == other


def test_state_is_that_of_mujoco(both) -> None:
    """In SI on every axis, linear ones too."""
    for name in ("positions", "velocities", "position_targets", "velocity_targets"):
        one, other = (values(getattr(robot, f"get_dof_{name}")()) for _, robot in both)
        np.testing.assert_allclose(other, one, rtol=1e-6, atol=1e-7, err_msg=name)


def test_gains_are_those_of_mujoco(both) -> None:
    """Per radian and per metre."""
    (_, one), (_, other) = both
    for expected, read in zip(one.get_dof_gains(), other.get_dof_gains(), strict=True):
        np.testing.assert_allclose(read.numpy(), expected.numpy(), rtol=3e-7)


def test_efforts_move_the_joints_as_on_mujoco(both, rng) -> None:
    """One step of random efforts: the same accelerations, joint by joint, sign and unit right."""
    changes = []
    efforts = rng.uniform(-5, 5, both[0][1].num_dofs)
    for sim, robot in both:
        robot.set_dof_velocities(0.0)
        before = values(robot.get_dof_velocities())
        robot.set_dof_efforts(efforts)
        sim.step()
        changes.append((values(robot.get_dof_velocities()) - before) / sim.dt)
    np.testing.assert_allclose(changes[1], changes[0], rtol=2e-3, atol=2e-3 * np.abs(changes[0]).max())


def test_gravity_efforts_are_those_of_mujoco(both) -> None:
    """Those of the joints, without a free base's own."""
    one, other = (values(robot.get_dof_gravity_compensation_forces()) for _, robot in both)
    np.testing.assert_allclose(other, one, rtol=1e-4, atol=1e-5)


def test_gravity_efforts_are_those_of_the_pose_set(arm) -> None:
    _, robot = arm
    pose = [[0.3, 0.5, -0.2, -1.2, 0.4, 1.0, 0.1]]
    with aa.Simulation(ROBOTS / "franka_panda.usda") as sim:
        sim.play()
        other = sim.articulation("/World/Panda")
        for panda in (robot, other):
            panda.set_dof_positions(pose)
        expected = values(other.get_dof_gravity_compensation_forces())
    np.testing.assert_allclose(values(robot.get_dof_gravity_compensation_forces()), expected, rtol=1e-4, atol=1e-4)


# drives


@pytest.mark.parametrize("drive", [None, {}, {"stiffness": 5.0, "damping": 1.0}])
def test_gains_can_be_set_while_running(drive) -> None:
    """Whatever the stage has: no drive, one without gains, or others."""
    made = weightless(pendulum())
    if drive is not None:
        made.drive(HINGE, **drive)
    sim, robot = running(made.stage)
    robot.set_dof_gains(100.0, 10.0)
    robot.set_dof_position_targets(0.7)
    sim.step(960)
    np.testing.assert_allclose(values(robot.get_dof_positions()), [0.7], atol=1e-3)


def test_damping_alone_keeps_a_velocity() -> None:
    """A drive without stiffness is a velocity drive."""
    made = weightless(pendulum())
    made.drive(HINGE, damping=np.pi / 180 * 10)
    sim, robot = running(made.stage)
    robot.set_dof_velocity_targets(2.0)
    sim.step(480)
    np.testing.assert_allclose(values(robot.get_dof_velocities()), [2.0], rtol=1e-3)


def test_gains_are_read_back_bit_equal(arm, rng) -> None:
    """Each in its place."""
    _, robot = arm
    stiffnesses, dampings = rng.uniform(1, 500, (2, 1, 7)).astype(np.float32)
    robot.set_dof_gains(stiffnesses, dampings)
    for expected, read in zip((stiffnesses, dampings), robot.get_dof_gains(), strict=True):
        np.testing.assert_array_equal(read.numpy(), expected)


def test_actuators_take_the_drives_and_give_them_back(arm) -> None:
    """PhysX holds the same bits after close as before, the limits too."""
    sim, robot = arm
    columns = ("jointStiffness", "jointDamping", "jointMaxForce")
    before = sim._host._scene.read(*columns)
    actuators = aa.ArticulationActuators("/World/Panda")
    assert not any(gains.any() for gains in sim._host._scene.read(*columns[:2]))
    sim.step(20)
    actuators.close()
    assert not robot.get_dof_efforts().numpy().any()
    for name, expected, read in zip(columns, before, sim._host._scene.read(*columns), strict=True):
        np.testing.assert_array_equal(read, expected, err_msg=name)


def test_drive_is_off_on_owned_joints_and_on_elsewhere() -> None:
    """Actuators without gains: owned joints follow gravity, the others their drives."""
    made = weightless(pendulum())
    made.body("/World/Robot/tip", (0, 0, -1))
    made.joint("/World/Robot/elbow", "Revolute", "/World/Robot/bob", "/World/Robot/tip", at=(0, 0, -1))
    for joint in (HINGE, "/World/Robot/elbow"):
        made.drive(joint, stiffness=1.0, damping=0.1)
    aa.add_actuator(ROOT, "hinge", "idle", aa.PDControlConfig(kp=0.0, kd=0.0), stage=made.stage)
    sim, robot = running(made.stage)
    actuators = aa.ArticulationActuators(ROOT)
    assert actuators.actuated_dof_indices == [0]
    robot.set_dof_position_targets(0.5)
    sim.step(480)
    hinge, elbow = values(robot.get_dof_positions())
    assert elbow == pytest.approx(0.5, abs=1e-2)
    # nothing but the reaction to the elbow's own motion
    assert abs(hinge) > 1e-3 and abs(hinge - 0.5) > 0.1


# reset


def test_reset_is_a_new_beginning() -> None:
    """Base, joints and targets; gains stay."""
    sim, robot = running(stage_of(ROBOTS / "anymal_c.usda"))

    def state() -> list[np.ndarray]:
        names = ("positions", "velocities", "position_targets")
        joints = [getattr(robot, f"get_dof_{name}")() for name in names]
        return [array.numpy() for array in (*robot.get_world_poses(), *joints)]

    before = state()
    robot.set_dof_gains(123.0, 4.0)
    robot.set_dof_position_targets(0.3)
    sim.step(100)
    assert all(np.abs(now - then).max() > 1e-3 for now, then in zip(state(), before, strict=True))
    robot.set_dof_efforts(5.0)
    sim.reset()
    for now, then in zip(state(), before, strict=True):
        np.testing.assert_allclose(now, then, atol=1e-6)
    assert not robot.get_dof_efforts().numpy().any()
    assert set(robot.get_dof_gains()[0].numpy().ravel()) == {123.0}


def test_motion_after_reset_is_that_after_play(arm) -> None:
    """The targets that PhysX holds are reset, too."""
    sim, robot = arm
    paths = []
    for _ in range(2):
        sim.step(50)
        paths.append(values(robot.get_dof_positions()))
        robot.set_dof_position_targets(1.0)
        sim.step(50)
        sim.reset()
    np.testing.assert_allclose(*paths, atol=1e-5)


def test_reset_puts_loose_bodies_back() -> None:
    """Kinematic ones stay where they are."""
    from ovphysx.types import SimObjectType

    made = pendulum()
    made.body("/World/ball", (5, 0, 3))
    UsdPhysics.RigidBodyAPI(made.body("/World/shelf", (9, 0, 1))).CreateKinematicEnabledAttr(True)
    sim, _ = running(made.stage)

    def heights() -> list[float]:
        rows = sim._host._scene._read(SimObjectType.RIGID_BODY, ["position"])
        return [float(z) for _, _, positions in rows for z in positions[:, 2]]

    sim.step(100)
    assert sorted(heights()) == [1.0, pytest.approx(3 - 9.81 / 2 * (100 * DT) ** 2, abs=0.05)]
    sim.reset()
    assert sorted(heights()) == [1.0, 3.0]


@pytest.mark.parametrize("env_ids", [1, [-1], [0, 1], 0.5])
def test_reset_refuses_environments_there_are_not(swing, env_ids) -> None:
    """There is the one."""
    refused(ValueError, lambda: swing[0].reset(env_ids), "environment")


def test_reset_of_nothing_changes_nothing(swing) -> None:
    """An empty list is no environment."""
    sim, robot = swing
    robot.set_dof_positions(0.5)
    sim.reset([])
    assert values(robot.get_dof_positions()).tolist() == [0.5]


# divergence


def test_diverged_robot_is_named_and_reset_recovers() -> None:
    """The other one goes on."""
    sim, left = running(two_robots(ROBOTS / "arm_2dof.usda", "/World/Arm"))
    left.set_dof_velocities([[3e38, 0.0]])
    with pytest.raises(SimulationDivergedError, match=r"diverged: /World/Left has .* reset\(\) starts over") as caught:
        sim.step(5)
    assert caught.value.robots == ("/World/Left",)
    sim.reset()
    sim.step(5)
    assert np.isfinite(left.get_dof_positions().numpy()).all()


# warnings about a stage


@pytest.mark.parametrize("limits", [(-150, -50), (None, -50)])
def test_joint_that_begins_outside_its_limits_is_named(limits) -> None:
    """With angle and limits in radians, as on MuJoCo."""
    said = rf"joints begin outside their limits, .*: {HINGE} \(0, limits .* … -0\.8727\)\. "
    with pytest.warns(UserWarning, match=said) as caught:
        physx(pendulum(limits=limits).stage).close()
    assert [warning.filename for warning in caught] == [__file__]


def test_tree_without_an_articulation_root_belongs_to_no_robot() -> None:
    """Its joint is named; those between links of a robot, those that are excluded or disabled are not."""
    made = pendulum()
    for name in ("a", "b"):
        made.body(f"/World/Door/{name}")
    for name in ("hinge", "off", "left_out"):
        joint = UsdPhysics.Joint(made.joint(f"/World/Door/{name}", "Revolute", "/World/Door/a", "/World/Door/b"))
        joint.CreateJointEnabledAttr(name != "off")
        joint.CreateExcludeFromArticulationAttr(name == "left_out")
    with pytest.warns(UserWarning, match=r"joints belong to no robot, .* root: /World/Door/hinge\. "):
        physx(made.stage).close()
