"""The MuJoCo host: state, efforts and drives of running robots, alone, merged in one stage and as rows of a batch."""

import math

import numpy as np
import pytest
from dynamics import Dynamics, Frame
from isaacsim.core.experimental.actuators.base.errors import HostError, SimulationDivergedError
from isaacsim.core.experimental.actuators.simulators.mujoco.host import MujocoArticulation, MujocoHost
from physics_engines import qpos_of, qvel_of
from places import ROBOTS
from pxr import Gf, Sdf, Usd, UsdGeom, UsdPhysics
from refusals import cases, refused
from small_stages import SmallStage, pendulum, two_robots, weightless
from stages import stage_of

DT = 1 / 240
# of the pendulum of `small_stages`, about its hinge [kg m²]
INERTIA = 0.01 + 0.5**2
HINGE = "/World/Robot/hinge"
ROOTS = {"pendulum": "Pendulum", "arm_2dof": "Arm", "franka_panda": "Panda", "anymal_c": "Anymal"}


def running(stage: Usd.Stage, num_envs: int = 1, dt: float = DT) -> MujocoHost:
    host = MujocoHost(stage, dt, num_envs)
    host.play()
    return host


def robot_file(name: str) -> Usd.Stage:
    return stage_of(ROBOTS / f"{name}.usda")


def merged(name: str) -> Usd.Stage:
    return two_robots(ROBOTS / f"{name}.usda", f"/World/{ROOTS[name]}")


def run(host: MujocoHost, steps: int) -> None:
    for _ in range(steps):
        host.step()


@pytest.fixture
def swing() -> tuple[MujocoHost, MujocoArticulation]:
    host = running(weightless(pendulum()).stage)
    return host, host.articulation("/World/Robot")


@pytest.fixture
def arms() -> tuple[MujocoHost, MujocoArticulation]:
    host = running(robot_file("arm_2dof"), num_envs=3)
    arms = host.articulation("/World/Arm")
    arms.set_dof_velocities([[0.3, 0.05], [-0.7, 0.11], [1.1, 0.02]])
    run(host, 7)
    return host, arms


@pytest.mark.parametrize("stopped", [False, True])
def test_data_and_drive_efforts_need_running_physics(stopped) -> None:
    host = MujocoHost(pendulum().stage, DT, 1)
    if stopped:
        host.play()
        host.stop()
    for call in (host.data, host.articulation("/World/Robot").get_dof_drive_efforts):
        refused(HostError, call, "physics is not running")


def test_play_is_announced_with_state_in_place() -> None:
    made = pendulum()
    made.state(HINGE, position=30.0)
    host = MujocoHost(made.stage, DT, 1)
    seen: list[float] = []
    host.bus.on_ready(lambda: seen.append(float(host.articulation("/World/Robot").get_dof_positions().numpy()[0, 0])))
    host.play()
    assert seen == [pytest.approx(np.radians(30), rel=1e-6)]


def test_stage_that_cannot_be_read_is_read_again_at_the_next_play() -> None:
    made = pendulum()
    host = MujocoHost(made.stage, DT, 1)
    made.stage.GetPrimAtPath("/World/Robot/hinge").SetTypeName("PhysicsDistanceJoint")
    for _ in range(2):
        refused(ValueError, host.play, "distance joint")


def test_free_robot_starts_in_its_place() -> None:
    stage = robot_file("anymal_c")
    place = UsdGeom.Xformable(stage.GetPrimAtPath("/World/Anymal/base")).ComputeLocalToWorldTransform(0)
    positions, quaternions = running(stage).articulation("/World/Anymal").get_world_poses()
    np.testing.assert_allclose(positions.numpy(), [place.ExtractTranslation()], atol=1e-6)
    np.testing.assert_allclose(quaternions.numpy(), [[1, 0, 0, 0]], atol=1e-6)


def test_world_pose_moves_with_its_own_robot() -> None:
    made = SmallStage()
    UsdPhysics.ArticulationRootAPI.Apply(made.body("/World/Robot", (0, 0, 5)))
    host = running(made.stage, num_envs=2)
    run(host, 240)
    host.reset([0])
    positions, _ = host.articulation("/World/Robot").get_world_poses()
    np.testing.assert_allclose(positions.numpy()[:, 2], [5, 5 - 9.81 / 2], atol=0.03)


@pytest.mark.parametrize("paths", ["/World/Arm", "/World/envs/env_1/Arm"])
def test_mirrors_are_the_state_in_float32(arms, paths) -> None:
    host, _ = arms
    robots = host.articulation(paths)
    for _ in range(5):
        host.step()
        rows = slice(None) if len(robots) == 3 else slice(1, 2)
        columns = host.model.joint("/World/Arm/joints/shoulder").qposadr[0], 1
        np.testing.assert_array_equal(robots.get_dof_positions().numpy(), np.float32(qpos_of(host)[rows, columns]))
        np.testing.assert_array_equal(robots.get_dof_velocities().numpy(), np.float32(qvel_of(host)[rows, columns]))


@pytest.mark.parametrize(("setter", "state"), [("set_dof_positions", "_qpos"), ("set_dof_velocities", "_qvel")])
def test_state_set_is_exact_and_the_rest_keeps_its_bits(arms, setter, state) -> None:
    host, robots = arms
    expected = {name: getattr(host, name).copy() for name in ("_qpos", "_qvel")}
    expected[state][[0, 2], 1] = np.float32([0.1, 0.2])
    getattr(robots, setter)([[0.1], [0.2]], indices=[0, 2], dof_indices=[1])
    for name, values in expected.items():
        np.testing.assert_array_equal(getattr(host, name), values, err_msg=name)


@pytest.mark.parametrize("name", ["positions", "velocities"])
def test_setting_what_was_read_is_exact_too(arms, name) -> None:
    host, robots = arms
    read = getattr(robots, f"get_dof_{name}")().numpy()
    getattr(robots, f"set_dof_{name}")(read)
    state = qpos_of(host) if name == "positions" else qvel_of(host)
    np.testing.assert_array_equal(state, read.astype(np.float64))


def test_efforts_of_two_writers_stand_side_by_side() -> None:
    host = running(robot_file("arm_2dof"))
    robot = host.articulation("/World/Arm")
    robot.set_dof_efforts(3.0, dof_indices=[0])
    robot.set_dof_efforts(4.0, dof_indices=[1])
    assert robot.get_dof_efforts().numpy().tolist() == [[3.0, 4.0]]


def test_buffers_follow_the_state(swing) -> None:
    host, robot = swing
    buffers = robot.buffers()
    robot.set_dof_velocities(1.0)
    run(host, 10)
    buffers.refresh()
    assert buffers.positions.tolist() == robot.get_dof_positions().numpy().tolist() != [[0.0]]


LAYOUTS = {
    "merged": (lambda: merged("anymal_c"), 1, ["/World/Left", "/World/Right"]),
    "batch": (lambda: robot_file("anymal_c"), 3, [f"/World/envs/env_{i}/Anymal" for i in range(3)]),
}


def lifted(stage: Usd.Stage) -> Usd.Stage:
    """The same robots in the air and without joint friction, so that the response to an effort is linear."""
    for prim in stage.Traverse():
        if prim.HasAPI(UsdPhysics.ArticulationRootAPI):
            translate = prim.GetAttribute("xformOp:translate")
            old = translate.Get() if translate else None
            if old is None:
                UsdGeom.Xformable(prim).AddTranslateOp().Set(Gf.Vec3d(0, 0, 5))
            else:
                translate.Set(old + Gf.Vec3d(0, 0, 5))
        for name in ("newton:friction", "physxJoint:jointFriction"):
            if prim.HasAttribute(name):
                prim.GetAttribute(name).Set(0.0)
    return stage


@pytest.mark.parametrize(("stage", "num_envs", "paths"), LAYOUTS.values(), ids=list(LAYOUTS))
def test_effort_reaches_its_joint_and_no_other(stage, num_envs, paths) -> None:
    """Δq̈ = M⁻¹ eᵢ τ for every joint of every floating robot; other environments keep their bits."""
    import mujoco

    host = running(lifted(stage()), num_envs)
    robots = host.articulation(paths)
    run(host, 3)
    start = qpos_of(host), qvel_of(host)
    host.step()
    undisturbed = qvel_of(host)
    data = mujoco.MjData(host.model)
    data.qpos[:], data.qvel[:] = start[0][0], start[1][0]
    mujoco.mj_forward(host.model, data)
    for row, path in enumerate(robots.paths):
        env = row if num_envs > 1 else 0
        for column, name in enumerate(robots.dof_names):
            for effort in (4.0, -4.0):
                host._qpos[:], host._qvel[:] = start
                robots.set_dof_efforts(0.0)
                robots.set_dof_efforts(effort, indices=[row], dof_indices=[column])
                host.step()
                prim = f"/World/Anymal/joints/{name}" if num_envs > 1 else f"{path}/joints/{name}"
                unit = np.zeros(host.model.nv)
                unit[host.model.joint(prim).dofadr[0]] = effort
                response = np.zeros((1, host.model.nv))
                mujoco.mj_solveM(host.model, data, response, unit[None])
                change = (qvel_of(host) - undisturbed) / DT
                np.testing.assert_allclose(change[env], response[0], atol=1e-9 * np.abs(response).max(), err_msg=prim)
                np.testing.assert_array_equal(np.delete(qvel_of(host), env, 0), np.delete(undisturbed, env, 0))


@pytest.mark.parametrize(("stage", "num_envs", "paths"), LAYOUTS.values(), ids=list(LAYOUTS))
def test_joint_set_is_the_joint_that_moves(stage, num_envs, paths) -> None:
    host = running(stage(), num_envs)
    robots = host.articulation(paths)
    values = np.arange(1, 12 * len(robots) + 1, dtype=np.float32).reshape(-1, 12) / 64
    robots.set_dof_positions(values)
    for row, path in enumerate(robots.paths):
        env, root = (row, "/World/Anymal") if num_envs > 1 else (0, path)
        addresses = [host.model.joint(f"{root}/joints/{name}").qposadr[0] for name in robots.dof_names]
        np.testing.assert_array_equal(qpos_of(host)[env, addresses], values[row])


def driven(**drive: float) -> tuple[MujocoHost, MujocoArticulation]:
    made = weightless(pendulum())
    made.drive(HINGE, **drive)
    made.state(HINGE, position=np.degrees(0.2), velocity=np.degrees(0.5))
    host = running(made.stage)
    return host, host.articulation("/World/Robot")


@pytest.mark.parametrize(
    ("stiffness", "damping", "target", "velocity_target"),
    [(40, 0, 0.7, 0.0), (0, 3, 0.0, 0.0), (0, 3, 0.0, 2.0), (40, 3, 0.7, -2.0)],
)
def test_drive_is_a_pd_law_on_both_targets(stiffness, damping, target, velocity_target) -> None:
    host, robot = driven(stiffness=np.pi / 180 * stiffness, damping=np.pi / 180 * damping)
    robot.set_dof_position_targets(target)
    robot.set_dof_velocity_targets(velocity_target)
    host.step()
    expected = stiffness * (target - 0.2) + damping * (velocity_target - 0.5)
    np.testing.assert_allclose(robot.get_dof_drive_efforts().numpy(), [[expected]], rtol=1e-5)


@pytest.mark.parametrize(("limit", "target"), [(3.0, 5.0), (3.0, -5.0), (0.0, 5.0)])
def test_drive_stops_at_its_limit(limit, target) -> None:
    host, robot = driven(stiffness=1.0, maxForce=limit)
    robot.set_dof_position_targets(target)
    host.step()
    np.testing.assert_allclose(robot.get_dof_drive_efforts().numpy(), [[np.sign(target) * limit]], atol=1e-6)


def test_drive_below_its_limit_is_not_touched() -> None:
    host, robot = driven(stiffness=np.pi / 180, maxForce=3.0)
    robot.set_dof_position_targets(1.0)
    host.step()
    np.testing.assert_allclose(robot.get_dof_drive_efforts().numpy(), [[0.8]], rtol=1e-5)


@pytest.mark.parametrize("drive", [None, {}, {"stiffness": 5.0, "damping": 1.0}])
def test_gains_can_be_set_while_running(drive) -> None:
    made = weightless(pendulum())
    if drive is not None:
        made.drive(HINGE, **drive)
    host = running(made.stage)
    robot = host.articulation("/World/Robot")
    run(host, 2)
    robot.set_dof_positions(0.0)
    robot.set_dof_velocities(0.0)
    robot.set_dof_gains(50.0, 4.0)
    robot.set_dof_position_targets(0.5)
    robot.set_dof_velocity_targets(1.0)
    host.step()
    np.testing.assert_allclose(robot.get_dof_drive_efforts().numpy(), [[50 * 0.5 + 4 * 1.0]], rtol=1e-6)


def test_gains_of_zero_switch_the_drive_off() -> None:
    host, robot = driven(stiffness=1.0, damping=1.0)
    robot.set_dof_gains(0.0, 0.0)
    robot.set_dof_position_targets(1.0)
    host.step()
    assert robot.get_dof_drive_efforts().numpy().tolist() == [[0.0]]


def test_authored_gains_are_read_back_in_si() -> None:
    _, robot = driven(stiffness=3.0, damping=0.5)
    gains = [gain.numpy()[0, 0] for gain in robot.get_dof_gains()]
    np.testing.assert_allclose(gains, [3 * 180 / np.pi, 0.5 * 180 / np.pi], rtol=1e-6)


def test_gains_are_those_of_their_row(arms) -> None:
    host, robots = arms
    robots.set_dof_positions(0.1)
    robots.set_dof_velocities(0.0)
    robots.set_dof_position_targets(0.2)
    robots.set_dof_gains(stiffnesses=[[10.0, 20.0], [30.0, 40.0], [50.0, 60.0]])
    host.step()
    expected = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    np.testing.assert_allclose(robots.get_dof_drive_efforts().numpy(), expected, rtol=1e-5)


def test_drive_efforts_are_selected_by_indices(arms) -> None:
    host, robots = arms
    robots.set_dof_gains(20.0, 1.0)
    host.step()
    every = robots.get_dof_drive_efforts().numpy()
    expected = every[np.ix_([2, 0], [1])]
    np.testing.assert_array_equal(robots.get_dof_drive_efforts(indices=[2, 0], dof_indices=[1]).numpy(), expected)


@pytest.mark.parametrize("name", ["arm_2dof", "franka_panda"])
def test_gravity_compensation_holds_the_arm_still(name) -> None:
    host = running(robot_file(name))
    robot = host.articulation(f"/World/{ROOTS[name]}")
    robot.set_dof_gains(0.0, 0.0)
    if name == "arm_2dof":
        # off the end stop, and leaning
        robot.set_dof_positions([0.4, 0.2])
    start = robot.get_dof_positions().numpy()
    for _ in range(240):
        robot.set_dof_efforts(robot.get_dof_gravity_compensation_forces())
        host.step()
    np.testing.assert_allclose(robot.get_dof_positions().numpy(), start, atol=1e-4)


@pytest.mark.parametrize("name", ["arm_2dof", "franka_panda"])
def test_gravity_compensation_is_that_of_the_stage(name) -> None:
    stage = robot_file(name)
    host, twin = running(stage, num_envs=2), Dynamics(stage)
    robots = host.articulation(f"/World/{ROOTS[name]}")
    positions = np.linspace(0.1, 0.9, 2 * robots.num_dofs).reshape(2, -1)
    robots.set_dof_positions(positions)
    robots.set_dof_velocities(3.0)
    expected = [twin.equations({}, row, np.zeros(robots.num_dofs))[1] for row in positions]
    np.testing.assert_allclose(robots.get_dof_gravity_compensation_forces().numpy(), expected, rtol=1e-5, atol=1e-4)


def test_gravity_compensation_of_a_floating_robot_is_that_of_its_joints() -> None:
    stage = robot_file("anymal_c")
    host, twin = running(stage), Dynamics(stage)
    robot = host.articulation("/World/Anymal")
    q = np.concatenate([np.zeros(6), robot.get_dof_positions().numpy()[0]])
    base = Frame(origin=robot.get_world_poses()[0].numpy()[0].astype(float))
    expected = twin.equations({"/World/Anymal/base": base}, q, np.zeros(18))[1][6:]
    np.testing.assert_allclose(robot.get_dof_gravity_compensation_forces().numpy()[0], expected, rtol=1e-4, atol=1e-4)


def test_robot_in_a_merged_stage_moves_as_it_does_alone() -> None:
    alone, both = running(robot_file("franka_panda")), running(merged("franka_panda"))
    one, two = alone.articulation("/World/Panda"), both.articulation(["/World/Left", "/World/Right"])
    for step in range(100):
        efforts = 5 * np.sin(step / 10 + np.arange(7))
        one.set_dof_efforts(efforts)
        two.set_dof_efforts(efforts)
        alone.step()
        both.step()
    expected = np.repeat(one.get_dof_positions().numpy(), 2, 0)
    np.testing.assert_allclose(two.get_dof_positions().numpy(), expected, atol=1e-6)


def test_rows_of_a_batch_are_bit_identical_to_one_robot() -> None:
    alone, batch = running(robot_file("anymal_c")), running(robot_file("anymal_c"), num_envs=5)
    run(alone, 100)
    run(batch, 100)
    np.testing.assert_array_equal(qpos_of(batch), np.repeat(qpos_of(alone), 5, 0))


@cases(
    "root, expected",
    ("/World/Robot", "/World/envs/env_{}/Robot"),
    ("/Robot", "/envs/env_{}/Robot"),
    ("/World/envs/env_0/Robot", "/World/envs/env_{}/Robot"),
    ("/World/deep/Robot", "/World/envs/env_{}/deep/Robot"),
)
def test_rows_are_named_as_isaac_sim_clones_are(root, expected) -> None:
    made = SmallStage()
    made.root(root)
    made.body(f"{root}/base")
    made.body(f"{root}/bob")
    made.joint(f"{root}/fix", "Fixed", None, f"{root}/base")
    made.joint(f"{root}/hinge", "Revolute", f"{root}/base", f"{root}/bob")
    rows = [expected.format(i) for i in range(2)]
    robots = MujocoHost(made.stage, DT, 2).articulation(rows)
    assert (robots.paths, robots.dof_paths) == (rows, [[f"{row}/hinge"] for row in rows])


def test_rows_know_their_prototype() -> None:
    robots = MujocoHost(robot_file("arm_2dof"), DT, 3).articulation("/World/envs/env_2/Arm")
    joints = [f"/World/Arm/joints/{name}" for name in ("shoulder", "extension")]
    assert (robots.prototype_path, robots.prototype_dof_paths) == ("/World/Arm", joints)


def test_robots_of_one_stage_share_an_environment() -> None:
    host = MujocoHost(merged("arm_2dof"), DT, 1)
    assert host.articulation(["/World/Left", "/World/Right"]).envs_to_rows([0]) == [0, 1]


def test_two_robots_per_row_are_all_found() -> None:
    host = MujocoHost(merged("arm_2dof"), DT, 2)
    expected = [f"/World/envs/env_{env}/{name}" for env in range(2) for name in ("Left", "Right")]
    assert [robot.path for robot in host.robots()] == expected


def test_two_robots_per_row_are_set_apart() -> None:
    host = running(merged("arm_2dof"), 2)
    host.articulation("/World/Right").set_dof_positions([[0.1, 0.2], [0.3, 0.25]])
    assert host.articulation("/World/Left").get_dof_positions().numpy().tolist() == [[0, 0], [0, 0]]


def test_reset_puts_targets_back_and_drops_efforts(arms) -> None:
    host, robots = arms
    robots.set_dof_position_targets(1.0)
    robots.set_dof_velocity_targets(1.0)
    robots.set_dof_efforts(4.0)
    host.reset([2])
    read = [robots.get_dof_position_targets(), robots.get_dof_velocity_targets(), robots.get_dof_efforts()]
    assert [values.numpy()[2].tolist() for values in read] == [[0, 0]] * 3


def test_reset_drops_forces_applied_in_mujoco(arms) -> None:
    host, _ = arms
    forces = [host._batch.bind(name) for name in ("qfrc_applied", "xfrc_applied")]
    for values in forces:
        values[:] = 4.0
    host.reset([2])
    assert [[bool(row.any()) for row in values] for values in forces] == [[True, True, False]] * 2


def test_reset_keeps_gains(arms) -> None:
    host, robots = arms
    robots.set_dof_gains(5.0, 6.0)
    host.reset()
    assert [gain.numpy().tolist() for gain in robots.get_dof_gains()] == [[[5, 5]] * 3, [[6, 6]] * 3]


@pytest.mark.parametrize(
    ("env_ids", "heard"),
    [(None, None), ([0, 2], [0, 2]), ([2, 0], [0, 2]), ([1, 1], [1]), ([False, True, False], [1]), (1, [1]), ([], [])],
)
def test_reset_is_announced(arms, env_ids, heard) -> None:
    host, _ = arms
    told: list[object] = []
    host.bus.on_reset(told.append)
    host.reset(env_ids)
    assert told == [heard]


def blow_up(host: MujocoHost, path: str, steps: int = 100) -> SimulationDivergedError:
    """Push one robot beyond all numbers, which its limits of velocity would prevent."""
    robot = host.articulation(path)
    robot.set_dof_max_velocities(np.inf)
    with pytest.raises(SimulationDivergedError) as caught:
        for _ in range(steps):
            robot.set_dof_efforts(1e30)
            host.step()
    return caught.value


@pytest.mark.parametrize("name", ROOTS)
@pytest.mark.parametrize("victim", ["/World/Left", "/World/Right"])
def test_diverged_robot_of_a_merged_stage_is_named(name, victim) -> None:
    assert blow_up(running(merged(name)), victim).robots == (victim,)


@pytest.mark.parametrize("name", ROOTS)
@pytest.mark.parametrize("env", [0, 2])
def test_diverged_row_of_a_batch_is_named(name, env) -> None:
    path = f"/World/envs/env_{env}/{ROOTS[name]}"
    assert blow_up(running(robot_file(name), 3), path).robots == (path,)


def test_every_diverged_row_is_named(arms) -> None:
    host, _ = arms
    assert blow_up(host, "/World/envs/env_[02]").robots == ("/World/envs/env_0/Arm", "/World/envs/env_2/Arm")


def test_message_names_the_robot_and_what_to_do(arms) -> None:
    host, _ = arms
    message = str(blow_up(host, "/World/envs/env_1/Arm"))
    assert "/World/envs/env_1/Arm has positions or velocities that are not finite" in message
    assert f"Lower the gains or dt = {DT:g} s, or raise the joints' armature; reset() starts over" in message


def test_other_rows_stay_finite_and_right(arms) -> None:
    host, _ = arms
    twin = running(robot_file("arm_2dof"), num_envs=3)
    twin.articulation("/World/Arm").set_dof_velocities([[0.3, 0.05], [-0.7, 0.11], [1.1, 0.02]])
    run(twin, 7)
    steps: list[int] = []
    host.bus.on_pre_step(lambda *_: steps.append(1))
    blow_up(host, "/World/envs/env_1/Arm")
    run(twin, len(steps))
    np.testing.assert_array_equal(qpos_of(host)[[0, 2]], qpos_of(twin)[[0, 2]])


@pytest.mark.parametrize("layout", ["merged", "batch"])
def test_reset_recovers(layout) -> None:
    stage, envs = (merged("arm_2dof"), 1) if layout == "merged" else (robot_file("arm_2dof"), 3)
    host = running(stage, envs)
    blow_up(host, host.robots()[0].path)
    host.reset()
    fresh = running(stage, envs)
    run(host, 50)
    run(fresh, 50)
    np.testing.assert_array_equal(qpos_of(host), qpos_of(fresh))


def test_divergence_stays_visible_until_reset(arms) -> None:
    """MuJoCo would put the robot back by itself and go on."""
    host, _ = arms
    blow_up(host, "/World/envs/env_1/Arm")
    with pytest.raises(SimulationDivergedError) as caught:
        host.step()
    assert caught.value.robots == ("/World/envs/env_1/Arm",)


@pytest.mark.parametrize("armature", [None, 0.0])
def test_thrown_base_is_named(armature) -> None:
    stage = merged("anymal_c")
    for prim in stage.Traverse():
        if armature is not None and prim.IsA(UsdPhysics.RevoluteJoint):
            prim.CreateAttribute("newton:armature", Sdf.ValueTypeNames.Float).Set(armature)
    base = UsdPhysics.RigidBodyAPI(stage.GetPrimAtPath("/World/Left/base"))
    base.CreateVelocityAttr(Gf.Vec3f(1e30, 0, 0))
    base.CreateAngularVelocityAttr(Gf.Vec3f(1e30, 0, 0))
    host = running(stage)
    with pytest.raises(SimulationDivergedError) as caught:
        run(host, 200)
    assert caught.value.robots == ("/World/Left",)


def test_thrown_ball_is_no_robot() -> None:
    made = pendulum()
    ball = UsdPhysics.RigidBodyAPI(made.body("/World/ball", (5, 0, 0), inertia=(0.01, 0.02, 0.03)))
    ball.CreateAngularVelocityAttr(Gf.Vec3f(1e30, 1e30, 0))
    host = running(made.stage)
    with pytest.raises(SimulationDivergedError, match="/World/ball has positions or velocities") as caught:
        run(host, 200)
    assert caught.value.robots == ()


def test_huge_drive_gains_are_stable() -> None:
    host = running(robot_file("arm_2dof"))
    robot = host.articulation("/World/Arm")
    robot.set_dof_gains(1e12, 1e12)
    robot.set_dof_position_targets([1.0, 0.2])
    run(host, 240)
    assert np.isfinite(qpos_of(host)).all()


@pytest.mark.parametrize("diverging", [False, True])
def test_others_hear_their_own_warnings_and_none_of_a_step(heard, diverging) -> None:
    import mujoco

    host = running(robot_file("arm_2dof"))
    if diverging:
        blow_up(host, "/World/Arm")
    else:
        host.step()
    assert not heard
    model = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><body><freejoint/><geom size='1'/></body></worldbody></mujoco>"
    )
    for count in (1, 2):
        data = mujoco.MjData(model)
        data.qpos[0] = math.nan
        mujoco.mj_step(model, data)
        assert len(heard) == count
        host.stop()


def test_looking_at_a_diverged_robot_writes_no_log() -> None:
    host = running(merged("arm_2dof"))
    blow_up(host, "/World/Left")
    robot = host.articulation("/World/Left")
    robot.get_world_poses()
    assert np.isnan(robot.get_dof_gravity_compensation_forces().numpy()).any()


def test_data_is_a_copy_with_everything_computed(arms) -> None:
    host, _ = arms
    data = host.data(2)
    np.testing.assert_array_equal(data.qpos, host._qpos[2])
    before = qpos_of(host)
    data.qpos[:] = 9.0
    np.testing.assert_array_equal(qpos_of(host), before)


def test_data_shows_what_acts_now(swing) -> None:
    host, robot = swing
    robot.set_dof_efforts(3.0)
    host.step()
    robot.set_dof_efforts(-1.0)
    robot.set_dof_armatures(0.24)
    robot.set_dof_gains(0.0, 2.0)
    robot.set_dof_velocity_targets(float(robot.get_dof_velocities().numpy()[0, 0]) + 1.0)
    np.testing.assert_allclose(host.data().qacc, (2.0 - 1.0) / (INERTIA + 0.24), rtol=1e-6)


@pytest.mark.parametrize("env", [3, -1])
def test_data_of_no_environment_is_refused(arms, env) -> None:
    refused(ValueError, lambda: arms[0].data(env), f"environment index {env}")
