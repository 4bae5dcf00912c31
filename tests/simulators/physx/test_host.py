"""The PhysX host: state, efforts and drives of running robots, with MuJoCo as the second opinion on one step."""

import functools
import gc
import warnings
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from isaacsim.core.experimental.actuators.base.errors import HostError, SimulationDivergedError, UnsupportedSceneError
from places import ROBOTS
from played import played, played_robot, playing_robot
from pxr import Gf, Sdf, Usd, UsdGeom, UsdPhysics
from refusals import cases, refused
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
    return aa.Simulation(stage, dt, engine="physx")


def running(stage: Usd.Stage) -> tuple[aa.Simulation, aa.Articulation]:
    sim = physx(stage)
    sim.play()
    return sim, sim.articulation("/World/(Robot|Panda|Anymal|Left)")


def scene_of(sim: aa.Simulation) -> Any:
    return sim._host._scene


def values(array: object) -> np.ndarray:
    return array.numpy()[0]


@pytest.fixture
def swing() -> Iterator[tuple[aa.Simulation, aa.Articulation]]:
    sim, robot = running(weightless(pendulum()).stage)
    yield sim, robot
    sim.close()


@pytest.fixture
def arm() -> Iterator[tuple[aa.Simulation, aa.Articulation]]:
    sim, robot = running(stage_of(ROBOTS / "franka_panda.usda"))
    yield sim, robot
    sim.close()


def test_play_that_fails_is_undone(swing) -> None:
    sim, _ = swing
    sim.stop()
    heard: list[str] = []
    sim.bus.on_stop(lambda: heard.append("stop"))
    sim.bus.on_ready(lambda: 1 / 0)
    refused(ZeroDivisionError, sim.play)
    assert (heard, sim.playing) == (["stop"], False)


def test_stage_is_read_again_at_the_next_play(swing) -> None:
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
    made = pendulum()
    sim = physx(made.stage)
    UsdGeom.SetStageMetersPerUnit(made.stage, 0.01)
    for _ in range(2):
        with pytest.raises(UnsupportedSceneError, match="metersPerUnit"):
            sim.play()


def test_empty_stage_can_be_played() -> None:
    with physx(Usd.Stage.CreateInMemory()) as sim:
        sim.play()
        sim.step(3)
        sim.reset()
        assert sim.step_count == 3
        refused(ValueError, lambda: sim.articulation("/.*"), "there are none")


def test_several_environments_are_refused() -> None:
    with pytest.raises(ValueError, match=r"num_envs = 4: must be 1 with engine='physx'.*engine='mujoco'"):
        aa.Simulation(pendulum().stage, num_envs=4, engine="physx")


def test_pictures_are_refused(swing) -> None:
    refused(HostError, swing[0].render, r"engine = 'physx': has no render\. Use engine='mujoco'")


def test_two_simulations_run_side_by_side(swing) -> None:
    sim, robot = swing
    other_sim, other = running(pendulum().stage)
    robot.set_dof_positions(0.5)
    other.set_dof_positions(-0.25)
    other_sim.close()
    sim.step()
    np.testing.assert_allclose(values(robot.get_dof_positions()), [0.5], rtol=1e-6)


@pytest.mark.parametrize("name", ["positions", "velocities"])
def test_state_set_is_there_and_the_rest_keeps_its_bits(arm, name: str) -> None:
    sim, robot = arm
    sim.step(50)
    before = values(getattr(robot, f"get_dof_{name}")())
    getattr(robot, f"set_dof_{name}")([[0.5, -1.5]], dof_indices=[1, 3])
    expected = before.copy()
    expected[[1, 3]] = [0.5, -1.5]
    column = {"positions": "jointPosition", "velocities": "jointVelocity"}[name]
    (held,) = scene_of(sim).read(column)
    np.testing.assert_array_equal(values(getattr(robot, f"get_dof_{name}")()), expected)
    np.testing.assert_allclose(held, expected, rtol=3e-7)
    np.testing.assert_array_equal(np.delete(held, [1, 3]), np.delete(before, [1, 3]))


def test_same_state_gives_the_same_future(arm) -> None:
    futures = []
    for sim, robot in (arm, running(stage_of(ROBOTS / "franka_panda.usda"))):
        robot.set_dof_velocities([[0.1, -0.2, 0.3, -0.4, 0.5, -0.6, 0.7]])
        sim.step(100)
        futures.append(values(robot.get_dof_positions()))
    np.testing.assert_array_equal(*futures)


def test_robot_at_rest_wakes_up_where_it_is_put() -> None:
    sim, robot = running(pendulum().stage)
    sim.step(480)
    robot.set_dof_positions(0.5)
    sim.step(10)
    expected = -0.5 * 9.81 * np.sin(0.5) / INERTIA * 10 * DT
    np.testing.assert_allclose(values(robot.get_dof_velocities()), [expected], rtol=1e-2)


def test_robots_of_one_stage_are_told_apart() -> None:
    sim = physx(two_robots(ROBOTS / "anymal_c.usda", "/World/Anymal"))
    sim.play()
    robots = sim.articulation(["/World/Right", "/World/Left"])
    wanted = np.arange(24, dtype=np.float32).reshape(2, 12) / 64
    robots.set_dof_positions(wanted)
    held = dict(zip([path for row in robots.dof_paths for path in row], wanted.ravel(), strict=True))
    every = sim.articulation("/.*")
    flat = [path for row in every.dof_paths for path in row]
    expected = [held[path] for path in flat]
    np.testing.assert_allclose(scene_of(sim).read("jointPosition")[0], expected, rtol=1e-6, atol=1e-9)
    assert every.paths == ["/World/Left", "/World/Right"]


def test_instanced_robot_is_found() -> None:
    made = SmallStage()
    made.reference("/World/Arm", ROBOTS / "arm_2dof.usda", "/World/Arm")
    made.stage.GetPrimAtPath("/World/Arm").SetInstanceable(True)
    assert physx(made.stage).articulation("/World/Arm").dof_names == ["shoulder", "extension"]
    assert made.stage.GetPrimAtPath("/World/Arm").IsInstance()


def test_small_constant_effort_keeps_the_robot_awake(swing) -> None:
    sim, robot = swing
    robot.set_dof_efforts(1e-4)
    sim.step(960)
    np.testing.assert_allclose(values(robot.get_dof_velocities()), [1e-4 * 960 * DT / INERTIA], rtol=1e-2)


def lifted(name: str) -> Usd.Stage:
    stage = stage_of(ROBOTS / f"{name}.usda")
    UsdGeom.XformCommonAPI(stage.GetPrimAtPath(f"/World/{ROOTS[name]}")).SetTranslate(Gf.Vec3d(0, 0, 5))
    for prim in stage.Traverse():
        for attribute in ("newton:friction", "physxJoint:jointFriction"):
            if prim.HasAttribute(attribute):
                prim.GetAttribute(attribute).Set(0.0)
    return stage


STAGES = {name: functools.partial(lifted, name) for name in ROOTS} | {"many_axes": lambda: many_axes().stage}


@pytest.fixture(params=STAGES)
def both(request) -> Iterator[list[tuple[aa.Simulation, aa.Articulation]]]:
    pairs = []
    for engine in ("mujoco", "physx"):
        sim = aa.Simulation(STAGES[request.param](), 1e-4, engine=engine)
        sim.play()
        pairs.append((sim, sim.articulation(f"/World/{ROOTS.get(request.param, 'Robot')}")))
    yield pairs
    for sim, _ in pairs:
        sim.close()


@pytest.mark.filterwarnings("ignore:joints begin outside their limits.* /ant/")
@cases("file", *(ROBOTS / f"{name}.usda" for name in ROOTS), NEWTON / "humanoid.usda", NEWTON / "ant.usda")
def test_joints_have_the_names_and_the_order_they_have_on_mujoco(file: Path) -> None:
    one, other = (aa.Simulation(file, engine=engine)._host.robots() for engine in ("mujoco", "physx"))
    assert one == other


def test_state_is_that_of_mujoco(both) -> None:
    for name in ("positions", "velocities", "position_targets", "velocity_targets"):
        one, other = (values(getattr(robot, f"get_dof_{name}")()) for _, robot in both)
        np.testing.assert_allclose(other, one, rtol=1e-6, atol=1e-7, err_msg=name)


def test_gains_are_those_of_mujoco(both) -> None:
    (_, one), (_, other) = both
    for expected, read in zip(one.get_dof_gains(), other.get_dof_gains(), strict=True):
        np.testing.assert_allclose(read.numpy(), expected.numpy(), rtol=3e-7)


def test_efforts_move_the_joints_as_on_mujoco(both, rng: np.random.Generator) -> None:
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
    one, other = (values(robot.get_dof_gravity_compensation_forces()) for _, robot in both)
    np.testing.assert_allclose(other, one, rtol=1e-4, atol=1e-5)


def test_gravity_efforts_are_those_of_the_pose_set(arm) -> None:
    _, robot = arm
    pose = [[0.3, 0.5, -0.2, -1.2, 0.4, 1.0, 0.1]]
    with played_robot("/World/Panda", ROBOTS / "franka_panda.usda") as (_, other):
        for panda in (robot, other):
            panda.set_dof_positions(pose)
        expected = values(other.get_dof_gravity_compensation_forces())
    np.testing.assert_allclose(values(robot.get_dof_gravity_compensation_forces()), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("drive", [None, {}, {"stiffness": 5.0, "damping": 1.0}])
def test_gains_can_be_set_while_running(drive: dict | None) -> None:
    made = weightless(pendulum())
    if drive is not None:
        made.drive(HINGE, **drive)
    sim, robot = running(made.stage)
    robot.set_dof_gains(100.0, 10.0)
    robot.set_dof_position_targets(0.7)
    sim.step(960)
    np.testing.assert_allclose(values(robot.get_dof_positions()), [0.7], atol=1e-3)


def test_actuators_take_the_drives_and_give_them_back(arm) -> None:
    sim, robot = arm
    columns = ("jointStiffness", "jointDamping", "jointMaxForce")
    before = scene_of(sim).read(*columns)
    actuators = aa.ArticulationActuators("/World/Panda")
    assert not any(gains.any() for gains in scene_of(sim).read(*columns[:2]))
    sim.step(20)
    actuators.close()
    assert not robot.get_dof_efforts().numpy().any()
    for name, expected, read in zip(columns, before, scene_of(sim).read(*columns), strict=True):
        np.testing.assert_array_equal(read, expected, err_msg=name)


def test_drive_is_off_on_owned_joints_and_on_elsewhere() -> None:
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


def test_reset_is_a_new_beginning() -> None:
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
    assert not robot.get_dof_efforts().numpy().any() and set(robot.get_dof_gains()[0].numpy().ravel()) == {123.0}


def test_motion_after_reset_is_that_after_play(arm) -> None:
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
    from ovphysx.types import SimObjectType

    made = pendulum()
    made.body("/World/ball", (5, 0, 3))
    UsdPhysics.RigidBodyAPI(made.body("/World/shelf", (9, 0, 1))).CreateKinematicEnabledAttr(True)
    sim, _ = running(made.stage)

    def heights() -> list[float]:
        rows = scene_of(sim)._read(SimObjectType.RIGID_BODY, ["position"])
        return [float(z) for _, _, positions in rows for z in positions[:, 2]]

    sim.step(100)
    assert sorted(heights()) == [1.0, pytest.approx(3 - 9.81 / 2 * (100 * DT) ** 2, abs=0.05)]
    sim.reset()
    assert sorted(heights()) == [1.0, 3.0]


def test_reset_of_nothing_changes_nothing(swing) -> None:
    sim, robot = swing
    robot.set_dof_positions(0.5)
    sim.reset([])
    assert values(robot.get_dof_positions()).tolist() == [0.5]


def test_diverged_robot_is_named_and_reset_recovers() -> None:
    sim, left = running(two_robots(ROBOTS / "arm_2dof.usda", "/World/Arm"))
    left.set_dof_velocities([[3e38, 0.0]])
    with pytest.raises(SimulationDivergedError, match=r"diverged: /World/Left has .* reset\(\) starts over") as caught:
        sim.step(5)
    assert caught.value.robots == ("/World/Left",)
    sim.reset()
    sim.step(5)
    assert np.isfinite(left.get_dof_positions().numpy()).all()


@pytest.mark.parametrize("limits", [(-150, -50), (None, -50)])
def test_joint_that_begins_outside_its_limits_is_named(limits: tuple[float | None, float]) -> None:
    said = rf"joints begin outside their limits, .*: {HINGE} \(0, limits .* … -0\.8727\)\. "
    with pytest.warns(UserWarning, match=said) as caught:
        physx(pendulum(limits=limits).stage).close()
    assert [warning.filename for warning in caught] == [__file__]


def test_tree_without_an_articulation_root_belongs_to_no_robot() -> None:
    made = pendulum()
    for name in ("a", "b"):
        made.body(f"/World/Door/{name}")
    for name in ("hinge", "off", "left_out"):
        joint = UsdPhysics.Joint(made.joint(f"/World/Door/{name}", "Revolute", "/World/Door/a", "/World/Door/b"))
        joint.CreateJointEnabledAttr(name != "off")
        joint.CreateExcludeFromArticulationAttr(name == "left_out")
    with pytest.warns(UserWarning, match=r"joints belong to no robot, .* root: /World/Door/hinge\. "):
        physx(made.stage).close()


SCENE = "/World/physicsScene"
TYPES = {bool: Sdf.ValueTypeNames.Bool, int: Sdf.ValueTypeNames.Int, str: Sdf.ValueTypeNames.Token}
# settings of the solver by what positions move with; names without a schema are not looked at
CASES: list[tuple[dict[str, Any], float]] = [
    ({}, 33 / 64),
    ({"Articulation:solverPositionIterationCount": 0}, 1.0),
    ({"Articulation:solverPositionIterationCount": 1}, 1.0),
    ({"Articulation:solverPositionIterationCount": 4}, 5 / 8),
    ({"Articulation:solverPositionIterationCount": 4, "Scene:minPositionIterationCount": 8}, 9 / 16),
    ({"Scene:maxPositionIterationCount": 2}, 3 / 4),
    ({"Scene:solverType": "PGS"}, 1.0),
    ({"Scene:solverType": "TGS"}, 33 / 64),
    ({"Scene:enableExternalForcesEveryIteration": False}, 1.0),
]


def stage(name: str, root: str, settings: dict[str, Any], *, with_schemas: bool = True) -> Usd.Stage:
    made = Usd.Stage.Open(Usd.Stage.Open(str(ROBOTS / f"{name}.usda")).Flatten())
    UsdPhysics.Scene(made.GetPrimAtPath(SCENE)).CreateGravityMagnitudeAttr(0.0)
    for key, value in settings.items():
        schema, attribute = key.split(":")
        prim = made.GetPrimAtPath(SCENE if schema == "Scene" else root)
        if with_schemas:
            prim.AddAppliedSchema(f"Physx{schema}API")
        prim.CreateAttribute(f"physx{schema}:{attribute}", TYPES[type(value)]).Set(value)
    return made


def stepped(made: Usd.Stage, root: str, rest: list[float]) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """From rest, by efforts of a step: predicted velocities, measured velocities and travel; the weight."""
    dt = 1 / 240
    with played(made, dt, engine="physx") as sim:
        robot: Any = sim.articulation(root)
        robot.set_dof_gains(0.0, 0.0)
        robot.set_dof_positions(np.array(rest, np.float32))
        gained = 0.5 * np.resize([1.0, -0.7, 0.4], len(rest))
        mass = robot.get_mass_matrices().numpy()[0].astype(float)
        robot.set_dof_efforts(mass @ gained / dt)
        before = robot.get_dof_positions().numpy()[0].astype(float)
        sim.step()
        travel = (robot.get_dof_positions().numpy()[0] - before) / dt
        (weight,) = robot.get_velocity_weights().numpy()
        return gained, robot.get_dof_velocities().numpy()[0], travel, float(weight)


@pytest.mark.parametrize(("settings", "weight"), CASES, ids=str)
def test_settings_of_the_solver_are_those_in_force(settings: dict[str, Any], weight: float) -> None:
    root = "/World/Pendulum"
    gained, velocities, travel, told = stepped(stage("pendulum", root, settings), root, [0.0])
    assert told == pytest.approx(weight)
    np.testing.assert_allclose(velocities, gained, rtol=1e-4)
    np.testing.assert_allclose(travel, weight * gained, rtol=1e-3)


def test_settings_without_their_schemas_do_not_count() -> None:
    root = "/World/Pendulum"
    settings = {"Articulation:solverPositionIterationCount": 4, "Scene:maxPositionIterationCount": 2}
    gained, _, travel, told = stepped(stage("pendulum", root, settings, with_schemas=False), root, [0.0])
    assert told == pytest.approx(33 / 64)
    np.testing.assert_allclose(travel, told * gained, rtol=1e-3)


@pytest.mark.parametrize(
    ("name", "root", "rest"),
    [("arm_2dof", "/World/Arm", [0.3, 0.2]), ("franka_panda", "/World/Panda", [0.0, -0.6, 0.0, -2.2, 0.5, 1.6, 0.8])],
)
def test_joints_that_feel_each_other_share_it(name: str, root: str, rest: list[float]) -> None:
    gained, velocities, travel, told = stepped(stage(name, root, {}), root, rest)
    np.testing.assert_allclose(velocities, gained, rtol=2e-3, atol=2e-3)
    np.testing.assert_allclose(travel, told * gained, rtol=5e-3, atol=2e-3)


READ = ["jointPosition", "jointVelocity", "jointPositionTarget", "jointVelocityTarget"]
WRITTEN = ["jointPositionTarget", "jointVelocityTarget", "jointActuationForce", "jointStiffness", "jointDamping"]
LINKS = [("position", "orientation"), ("linearVelocity", "angularVelocity")]


@pytest.fixture
def zoo() -> Iterator[aa.Simulation]:
    """Robots of 3, 2, 12 and 7 axes in motion, fixed and floating; angular and linear axes, two of one joint."""
    made = many_axes()
    for i, (name, prim) in enumerate({"Arm": "arm_2dof", "Anymal": "anymal_c", "Panda": "franka_panda"}.items()):
        made.reference(f"/World/{name}", ROBOTS / f"{prim}.usda", f"/World/{name}", (5.0 * (i + 1), 0, 1))
    with played(made.stage, 1 / 240, engine="physx") as sim:
        arrays, numbers = sim._host.arrays(), np.linspace(-0.3, 0.3, len(scene_of(sim).joints))
        arrays.position_targets[:], arrays.velocity_targets[:] = numbers, -numbers
        scene_of(sim).write({"jointVelocity": numbers})
        sim.step(20)
        yield sim


@pytest.mark.parametrize("column", READ)
def test_axes_are_those_of_the_sessions(zoo: aa.Simulation, column: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (read,) = scene_of(zoo).read(column)
    monkeypatch.setattr(scene_of(zoo), "_tensors", None)
    np.testing.assert_allclose(read, scene_of(zoo).read(column)[0], rtol=3e-7, atol=1e-12)
    assert len(set(read)) == len(read), "any two axes differ"


@pytest.mark.parametrize("columns", LINKS)
def test_links_are_those_of_the_sessions(zoo: aa.Simulation, columns: tuple[str, str], monkeypatch) -> None:
    scene = scene_of(zoo)
    counts = [len(robot.links) for robot in scene.robots]
    read = [scene.of_links(np.array([robot]), count, columns) for robot, count in enumerate(counts)]
    monkeypatch.setattr(scene, "_tensors", None)
    for robot, count in enumerate(counts):
        np.testing.assert_array_equal(read[robot], scene.of_links(np.array([robot]), count, columns))


@pytest.mark.parametrize("column", WRITTEN)
def test_what_is_written_is_there(zoo: aa.Simulation, column: str, monkeypatch, rng: np.random.Generator) -> None:
    scene = scene_of(zoo)
    values = rng.uniform(1, 3, len(scene.joints)).astype(np.float32)
    values[5] = np.inf
    scene.write({column: values})
    (read,) = scene.read(column)
    np.testing.assert_array_equal(read, np.minimum(values, np.finfo(np.float32).max))
    monkeypatch.setattr(scene, "_tensors", None)
    np.testing.assert_allclose(np.delete(scene.read(column)[0], 5), np.delete(values, 5), rtol=3e-7)


def test_targets_are_in_si_for_physics(zoo: aa.Simulation) -> None:
    robot = zoo.articulation("/World/Panda")
    targets = robot.get_dof_positions().numpy() + 0.1
    robot.set_dof_gains(5000.0, 500.0)
    robot.set_dof_position_targets(targets)
    zoo.step(480)
    np.testing.assert_allclose(robot.get_dof_positions().numpy(), targets, atol=0.05)


def test_nothing_moves_before_the_first_step() -> None:
    """PhysX would step by itself before it lets a tensor be read or written."""
    made = pendulum()
    made.state("/World/Robot/hinge", position=30.0)
    with played_robot("/World/Robot", made.stage, engine="physx") as (sim, robot):
        robot.set_dof_efforts(1.0)
        robot.set_dof_position_targets(0.3)
        sim.reset()
        robot.get_world_poses()
        assert scene_of(sim).read("jointVelocity")[0].tolist() == [0.0]


def test_physics_goes_on_where_another_simulation_ends(zoo: aa.Simulation) -> None:
    with played(pendulum().stage, engine="physx") as other:
        other.step(3)
    before = scene_of(zoo).read("jointPosition")
    zoo.step()
    assert not np.array_equal(scene_of(zoo).read("jointPosition"), before)


def test_the_wheel_warns_as_it_does_today() -> None:
    """Where it says something else, or has no bindings any more, `RobotTensors` needs another way in."""
    from ovphysx.types import TensorType

    with played(pendulum().stage, engine="physx") as sim:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            physx, positions = scene_of(sim)._physx, TensorType.ARTICULATION_DOF_POSITION
            with physx.create_tensor_binding(prim_paths=["/World/Robot"], tensor_type=positions) as binding:
                assert binding.shape == (1, 1)
    assert [(warning.category, str(warning.message)) for warning in caught] == [
        (
            DeprecationWarning,
            "ovphysx tensor bindings are deprecated and will be removed in a future release; use PhysX.read for reads "
            "and PhysX.write for writes.",
        )
    ]


def test_nothing_is_said_of_it_here() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sim, robot = playing_robot("/World/Robot", pendulum().stage, engine="physx")
        sim.step(2)
        robot.set_dof_efforts(1.0)
        sim.step(2)
        robot.get_world_poses()
        del sim, robot
        gc.collect()
    assert [str(warning.message) for warning in caught if "binding" in str(warning.message)] == []
