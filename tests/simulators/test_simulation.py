"""The public simulation: life cycle, edits of the stage, environments, who is current, pictures."""

import ctypes
import gc
import os
import subprocess
import sys
import weakref
from pathlib import Path

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from isaacsim.core.experimental.actuators.base.errors import HostError, SimulationDivergedError, UnsupportedSceneError
from isaacsim.core.experimental.actuators.simulators.current import current_host, current_stage
from isaacsim.core.experimental.actuators.simulators.mujoco import picture
from physics_engines import ENGINES, installed, qpos_of, qvel_of
from places import REPOSITORY, ROBOTS
from played import played, played_robot
from pxr import Usd, UsdGeom, UsdPhysics
from refusals import cases, refused
from small_stages import SmallStage, pendulum, two_robots
from stages import stage_of

ARM = ROBOTS / "arm_2dof.usda"


@pytest.fixture
def sim():
    with aa.Simulation(stage_of(ARM)) as made:
        yield made


@pytest.fixture
def playing(sim):
    sim.play()
    return sim


@pytest.fixture
def batch():
    with played(stage_of(ARM), num_envs=3) as made:
        made.articulation("/World/Arm").set_dof_velocities([[0.3, 0.05], [-0.7, 0.11], [1.1, 0.02]])
        made.step(7)
        yield made


@pytest.mark.parametrize("source", [str, Path, lambda path: Usd.Stage.Open(str(path))])
def test_source_is_a_path_or_a_stage(source) -> None:
    with aa.Simulation(source(ARM)) as sim:
        assert sim.articulation("/World/Arm").dof_names == ["shoulder", "extension"]


def test_stage_given_is_the_one_simulated() -> None:
    stage = stage_of(ARM)
    with aa.Simulation(stage) as sim:
        assert sim.stage is stage


def test_missing_file_is_named(tmp_path) -> None:
    with pytest.raises(FileNotFoundError, match=r"nowhere\.usda: no such file\. Give the path of a USD \(\.usd"):
        aa.Simulation(tmp_path / "nowhere.usda")


def test_file_that_is_no_usd_is_named(tmp_path) -> None:
    path = tmp_path / "broken.usda"
    path.write_text("hello")
    refused(ValueError, lambda: aa.Simulation(path), r"broken\.usda: USD cannot read this file")


@pytest.mark.parametrize("dt", [0.0, -0.01, float("nan"), float("inf")])
def test_wrong_dt_is_refused(dt) -> None:
    refused(ValueError, lambda: aa.Simulation(ARM, dt=dt), rf"dt = {dt}: must be a finite number of seconds > 0")


@pytest.mark.parametrize("num_envs", [0, -1, 1.5, float("nan"), float("inf")])
def test_wrong_number_of_environments_is_refused(num_envs) -> None:
    with pytest.raises(ValueError, match=rf"num_envs = {num_envs}: must be an integer >= 1"):
        aa.Simulation(ARM, num_envs=num_envs)


@pytest.mark.parametrize("num_envs", [2, np.int64(2), 2.0])
def test_number_of_environments_is_any_whole_number(num_envs) -> None:
    with aa.Simulation(ARM, num_envs=num_envs) as sim:
        assert (sim.num_envs, type(sim.num_envs)) == (2, int)


def test_unknown_engine_is_refused() -> None:
    with pytest.raises(ValueError, match="engine = 'bullet': must be 'mujoco', 'mujoco_warp' or 'physx'"):
        aa.Simulation(ARM, engine="bullet")


def test_engine_that_is_not_installed_is_told(monkeypatch) -> None:
    for name in ("host", "scene"):
        monkeypatch.delitem(sys.modules, f"isaacsim.core.experimental.actuators.simulators.physx.{name}", raising=False)
    # Python takes for missing what it finds to be None
    monkeypatch.setitem(sys.modules, "ovphysx", None)
    refused(HostError, lambda: aa.Simulation(ARM, engine="physx"), r"needs ovphysx, .*pip install .*\[physx\]'`")


def test_stage_that_cannot_be_simulated_is_a_value_error() -> None:
    refused(UnsupportedSceneError, lambda: aa.Simulation(pendulum(kind="Distance").stage), "distance joint")
    refused(HostError, current_host)


def test_empty_stage_can_be_played() -> None:
    with played(Usd.Stage.CreateInMemory()) as sim:
        sim.step(3)
        assert sim.step_count == 3


def test_steps_and_time_are_counted_from_play(playing) -> None:
    playing.step(5)
    playing.stop()
    playing.play()
    playing.step()
    playing.step(2)
    assert (playing.step_count, playing.time) == (3, pytest.approx(3 / 240))


def test_time_is_in_steps_of_dt() -> None:
    with played(ARM, dt=0.002) as sim:
        sim.step(10)
        assert (sim.dt, sim.time) == (0.002, pytest.approx(0.02))


def test_playing_tells_whether_physics_runs(sim) -> None:
    seen = [sim.playing]
    sim.play()
    seen.append(sim.playing)
    sim.stop()
    assert [*seen, sim.playing] == [False, True, False]


def test_playing_twice_goes_on(playing) -> None:
    playing.step(5)
    before = aa.Articulation("/World/Arm").get_dof_positions().numpy()
    playing.play()
    assert playing.step_count == 5
    np.testing.assert_array_equal(aa.Articulation("/World/Arm").get_dof_positions().numpy(), before)


def test_no_steps_are_no_steps(playing) -> None:
    playing.step(0)
    assert playing.step_count == 0


def test_negative_steps_are_refused(playing) -> None:
    refused(ValueError, lambda: playing.step(-1), "steps = -1: must be an integer >= 0")


@pytest.mark.parametrize("name", ["anymal_c", "pendulum"])
@pytest.mark.parametrize("listening", ["nobody", "actuators", "callback"])
def test_steps_at_once_are_single_steps(name, listening) -> None:
    path = {"anymal_c": "/World/Anymal", "pendulum": "/World/Pendulum"}[name]
    reached, times = [], []
    for calls in ([150], [1] * 150):
        with aa.Simulation(ROBOTS / f"{name}.usda", dt=1 / 200, num_envs=2) as sim:
            robots = aa.Articulation(path)
            if listening == "actuators":
                actuators = aa.ArticulationActuators(path)
            if listening == "callback":
                sim.bus.on_pre_step(lambda dt, context: times.append(current_host().step_count * dt))
            sim.play()
            robots.set_dof_velocities(0.3, indices=[1])
            robots.set_dof_efforts(0.2)
            for steps in calls:
                sim.step(steps)
            state = [array.numpy() for array in (*robots.get_link_world_poses(), *robots.get_velocities())]
            state += [robots.get_dof_velocities().numpy(), robots.get_dof_drive_efforts().numpy()]
            assert sim.step_count == 150
            if listening == "actuators":
                actuators.close()
        reached.append(state)
    assert times == ([count * (1 / 200) for count in range(150)] * 2 if listening == "callback" else [])
    np.testing.assert_equal(*reached)


def test_a_callback_that_stops_physics_ends_the_steps() -> None:
    with aa.Simulation(ARM) as sim:
        seen: list[int] = []

        def stop_at_third(dt: float, context: object) -> None:
            seen.append(sim.step_count)
            if len(seen) == 3:
                sim.stop()

        sim.bus.on_pre_step(stop_at_third)
        sim.play()
        refused(HostError, lambda: sim.step(5), "physics is not running")
    assert seen == [0, 1, 2]


@pytest.mark.parametrize("listening", [False, True])
def test_reset_of_one_environment_leaves_the_others(listening) -> None:
    reached = []
    for resets in (False, True):
        with aa.Simulation(ROBOTS / "anymal_c.usda", dt=1 / 200, num_envs=4) as sim:
            robots = aa.Articulation("/World/Anymal")
            actuators = aa.ArticulationActuators("/World/Anymal") if listening else None
            sim.play()
            robots.set_dof_positions(np.linspace(-0.2, 0.2, 48).reshape(4, 12))
            robots.set_world_poses([[1.0, 0.0, 2.0]], indices=[3])
            for _ in range(3):
                sim.step(7)
                if resets:
                    sim.reset([2, 0])
            state = [array.numpy() for array in (*robots.get_link_world_poses(), *robots.get_link_velocities())]
            state += [robots.get_dof_efforts().numpy(), robots.get_dof_position_targets().numpy()]
            if actuators is not None:
                actuators.close()
        reached.append(state)
    for one, other in zip(*reached, strict=True):
        np.testing.assert_array_equal(one[[1, 3]], other[[1, 3]])
    assert not np.array_equal(reached[0][0][[0, 2]], reached[1][0][[0, 2]])


def test_reset_is_the_state_of_play() -> None:
    reached = []
    for before in (0, 30):
        with aa.Simulation(ROBOTS / "anymal_c.usda", dt=1 / 200, num_envs=2) as sim:
            robots = aa.Articulation("/World/Anymal")
            sim.play()
            start = sim._host._batch.state.copy()
            if before:
                robots.set_dof_efforts(3.0)
                sim.step(before)
                sim.reset([1])
                assert not robots.get_dof_drive_efforts(indices=[1]).numpy().any()
                sim.reset()
                # what the solver starts from, and MuJoCo's time, among it
                np.testing.assert_array_equal(sim._host._batch.state, start)
            sim.step(40)
            reached.append([a.numpy() for a in (*robots.get_link_world_poses(), *robots.get_link_velocities())])
    np.testing.assert_equal(*reached)


def test_divergence_within_steps_is_told_at_once(batch) -> None:
    arm = batch.articulation("/World/envs/env_1/Arm")
    arm.set_dof_efforts(1e30)
    with pytest.raises(SimulationDivergedError) as caught:
        batch.step(100)
    assert caught.value.robots == ("/World/envs/env_1/Arm",)


def test_step_that_diverges_is_not_counted(batch) -> None:
    arm = batch.articulation("/World/envs/env_1/Arm")
    with pytest.raises(SimulationDivergedError):
        for _ in range(100):
            arm.set_dof_efforts(1e30)
            count = batch.step_count
            batch.step()
    assert batch.step_count == count


def test_play_starts_from_the_stage_again(playing) -> None:
    arm = aa.Articulation("/World/Arm")
    arm.set_dof_positions(0.3)
    playing.stop()
    playing.play()
    assert arm.get_dof_positions().numpy().tolist() == [[0, 0]]


def test_close_stops_physics(sim) -> None:
    heard: list[int] = []
    sim.bus.on_stop(lambda: heard.append(1))
    sim.play()
    sim.close()
    sim.close()
    assert (heard, sim.playing) == ([1], False)


def test_simulation_nobody_holds_is_gone() -> None:
    sim = aa.Simulation(ARM)
    sim.play()
    ghost = weakref.ref(sim)
    del sim
    gc.collect()
    assert ghost() is None


def test_open_simulation_is_current(sim) -> None:
    assert (current_host(), current_stage()) == (sim, sim.stage)


def test_articulation_of_the_current_simulation(sim) -> None:
    assert aa.Articulation("/World/Arm").paths == ["/World/Arm"]


def test_closed_simulation_is_not_current(sim) -> None:
    sim.close()
    refused(HostError, lambda: aa.Articulation("/World/Arm"), "no simulation is open")


def test_block_ends_with_close() -> None:
    with pytest.raises(ArithmeticError), played(ARM) as sim:
        raise ArithmeticError
    assert not sim.playing


def test_inner_simulation_is_current_and_gives_way() -> None:
    with aa.Simulation(ARM) as outer:
        with aa.Simulation(ROBOTS / "pendulum.usda") as inner:
            assert current_host() is inner
        assert current_host() is outer


def test_forgotten_simulation_is_not_current(sim) -> None:
    forgotten = aa.Simulation(ROBOTS / "pendulum.usda")
    del forgotten
    gc.collect()
    assert current_host() is sim


def heavier(stage: Usd.Stage) -> None:
    mass = stage.GetPrimAtPath("/World/Arm/boom").GetAttribute("physics:mass")
    mass.Set(10 * mass.Get())


def after(sim: aa.Simulation, steps: int = 60) -> np.ndarray:
    sim.step(steps)
    return sim.articulation("/World/Arm").get_dof_velocities().numpy()


def test_mass_edited_while_stopped_counts_at_the_next_play(playing) -> None:
    light = after(playing)
    playing.stop()
    heavier(playing.stage)
    playing.play()
    heavy = after(playing)
    stage = stage_of(ARM)
    heavier(stage)
    with played(stage) as other:
        np.testing.assert_array_equal(heavy, after(other))
    assert abs(heavy - light).max() > 1e-3


def test_mass_edited_before_the_first_play_counts(sim) -> None:
    heavier(sim.stage)
    sim.play()
    edited = after(sim)
    with played(stage_of(ARM)) as other:
        assert abs(edited - after(other)).max() > 1e-3


def test_mass_edited_while_playing_waits_for_the_next_play(playing) -> None:
    playing.step(30)
    heavier(playing.stage)
    edited = after(playing, 30)
    with played(stage_of(ARM)) as other:
        np.testing.assert_array_equal(edited, after(other))
        playing.stop()
        playing.play()
        other.stop()
        other.play()
        assert abs(after(playing) - after(other)).max() > 1e-3


def test_joint_added_while_stopped_is_there_at_the_next_play(sim) -> None:
    arm = aa.Articulation("/World/Arm")
    sim.play()
    sim.stop()
    carriage = sim.stage.GetPrimAtPath("/World/Arm/carriage")
    UsdGeom.Xform.Define(sim.stage, "/World/Arm/hand")
    hand = sim.stage.GetPrimAtPath("/World/Arm/hand")
    for operation in UsdGeom.Xformable(carriage).GetOrderedXformOps():
        UsdGeom.Xformable(hand).AddXformOp(operation.GetOpType(), operation.GetPrecision()).Set(operation.Get())
    UsdPhysics.RigidBodyAPI.Apply(hand)
    properties = UsdPhysics.MassAPI.Apply(hand)
    properties.CreateMassAttr(0.2)
    properties.CreateDiagonalInertiaAttr((0.001, 0.001, 0.001))
    joint = UsdPhysics.RevoluteJoint.Define(sim.stage, "/World/Arm/joints/wrist")
    joint.CreateBody0Rel().SetTargets([carriage.GetPath()])
    joint.CreateBody1Rel().SetTargets([hand.GetPath()])
    sim.play()
    assert arm.dof_names == ["shoulder", "extension", "wrist"]
    arm.set_dof_positions([0.1, 0.2, 0.3])
    assert arm.get_dof_positions().numpy().tolist() == [np.float32([0.1, 0.2, 0.3]).tolist()]


def test_robot_removed_while_stopped_is_gone(sim) -> None:
    arm = aa.Articulation("/World/Arm")
    sim.play()
    sim.stop()
    sim.stage.GetPrimAtPath("/World/Arm").SetActive(False)
    sim.play()
    refused(ValueError, arm.get_dof_positions, "'/World/Arm' matches none")


def test_edit_that_cannot_be_simulated_is_told_at_play(sim) -> None:
    joint = next(prim for prim in sim.stage.Traverse() if prim.GetName() == "shoulder" and prim.IsA("PhysicsJoint"))
    joint.SetTypeName("PhysicsDistanceJoint")
    for _ in range(2):
        refused(UnsupportedSceneError, sim.play, "distance joint")
    joint.SetTypeName("PhysicsRevoluteJoint")
    sim.play()
    assert sim.playing


def test_environments_are_rows(batch) -> None:
    arms = aa.Articulation("/World/Arm")
    assert (len(arms), arms.paths) == (3, [f"/World/envs/env_{i}/Arm" for i in range(3)])


@cases(
    "paths, rows",
    ("/World/envs/env_.*/Arm", [0, 1, 2]),
    ("/World/envs/env_[12]/Arm", [1, 2]),
    ("/World/envs/env_(0|2)/A.m", [0, 2]),
    ("/World/envs/env_1", [1]),
    (["/World/envs/env_2/Arm", "/World/envs/env_0/Arm"], [2, 0]),
)
def test_regular_expressions_select_environments(batch, paths, rows) -> None:
    every = aa.Articulation("/World/Arm").get_dof_positions().numpy()
    np.testing.assert_array_equal(aa.Articulation(paths).get_dof_positions().numpy(), every[rows])


@pytest.mark.parametrize("root", ["/World/Robot", "/Robot", "/World/deep/Robot", "/World/envs/env_0/Robot"])
def test_path_above_the_root_means_the_robots_of_every_copy(root) -> None:
    made = SmallStage()
    made.root(root)
    for name in ("base", "bob"):
        made.body(f"{root}/{name}", com=(0, 0, -0.5))
    made.joint(f"{root}/fix", "Fixed", None, f"{root}/base")
    made.joint(f"{root}/hinge", "Revolute", f"{root}/base", f"{root}/bob")
    pd = aa.PDControlConfig(10.0, 0.0)
    aa.add_actuator(root, "hinge", "act", pd, stage=made.stage)
    for above in {root.rpartition("/")[0] or "/", "/"} - {"/World/envs/env_0"}:
        for wrapped in (
            aa.ArticulationActuators,
            lambda path: aa.ArticulationActuators.from_configs(path, {".*": [pd]}),
        ):
            with aa.Simulation(made.stage, num_envs=3) as sim, wrapped(above) as actuators:
                sim.play()
                robots = aa.Articulation(above)
                assert (len(robots), actuators.articulation.paths) == (3, robots.paths)
                robots.set_dof_position_targets(1.0)
                sim.step()
                assert robots.get_dof_efforts().numpy().tolist() == [[10.0]] * 3
    with aa.Simulation(made.stage, num_envs=3):
        assert aa.Articulation("".join(robots.paths[1].rpartition("env_1")[:2])).paths == [robots.paths[1]]


def test_referenced_robots_are_all_there() -> None:
    with played_robot("/World/(Left|Right)", two_robots(ARM, "/World/Arm")) as (_, both):
        both.set_dof_positions([[0.1, 0.2], [0.3, 0.4]])
        assert both.paths == ["/World/Left", "/World/Right"]
        assert aa.Articulation("/World/Right").get_dof_positions().numpy().tolist() == [np.float32([0.3, 0.4]).tolist()]


def test_referenced_robots_stand_apart() -> None:
    with played(two_robots(ROBOTS / "anymal_c.usda", "/World/Anymal", apart=3.0)):
        positions = aa.Articulation(["/World/Left", "/World/Right"]).get_world_poses()[0].numpy()
        np.testing.assert_allclose(positions[1] - positions[0], [0, 3, 0], atol=1e-6)


def test_different_robots_share_a_stage() -> None:
    made = SmallStage()
    made.reference("/World/Arm", ARM, "/World/Arm")
    made.reference("/World/Panda", ROBOTS / "franka_panda.usda", "/World/Panda", (0, 3, 0))
    with played(made.stage) as sim:
        sim.step(5)
        assert [aa.Articulation(path).num_dofs for path in ("/World/Arm", "/World/Panda")] == [2, 7]


def test_robots_on_one_stage_touch() -> None:
    heights = []
    for other in (False, True):
        made = SmallStage()
        made.ground()
        for path, z in (("/World/lower", 0.2), ("/World/upper", 1.0))[0 if other else 1 :]:
            UsdPhysics.ArticulationRootAPI.Apply(made.body(path, (0, 0, z), inertia=(0.02, 0.02, 0.02)))
            made.shape(f"{path}/g", "Cube", size=0.4)
        with played(made.stage) as sim:
            sim.step(480)
            heights.append(aa.Articulation("/World/upper").get_world_poses()[0].numpy()[0, 2])
    np.testing.assert_allclose(heights, [0.2, 0.6], atol=5e-3)


def test_environments_do_not_touch() -> None:
    made = SmallStage()
    made.ground()
    UsdPhysics.ArticulationRootAPI.Apply(made.body("/World/box", (0, 0, 0.5), inertia=(0.02, 0.02, 0.02)))
    made.shape("/World/box/g", "Cube", size=0.4)
    with played(made.stage, num_envs=3) as sim:
        sim.step(480)
        np.testing.assert_allclose(aa.Articulation("/World/box").get_world_poses()[0].numpy()[:, 2], 0.2, atol=2e-3)


def _missing_egl() -> str:
    try:
        ctypes.CDLL("libEGL.so.1")
    except OSError as error:
        return f"no EGL: {error}"
    return ""


needs_egl = pytest.mark.skipif(bool(_missing_egl()), reason=_missing_egl() or "EGL is there")


@needs_egl
def test_picture_shows_something(playing) -> None:
    picture = playing.render(160, 120)
    assert (picture.shape, picture.dtype) == ((120, 160, 3), np.uint8)
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 50


@needs_egl
@pytest.mark.slow
def test_picture_follows_the_robot(playing) -> None:
    before = playing.render(160, 120)
    aa.Articulation("/World/Arm").set_dof_positions([1.0, 0.3])
    assert (playing.render(160, 120) != before).any()


@needs_egl
@pytest.mark.slow
def test_camera_can_be_placed(playing) -> None:
    here = playing.render(160, 120, lookat=(0, 0, 1), distance=3.0, azimuth=0.0, elevation=-10.0)
    assert (here != playing.render(160, 120, lookat=(0, 0, 1), distance=3.0, azimuth=90.0, elevation=-10.0)).any()


@needs_egl
@pytest.mark.parametrize("name", ["pendulum", "franka_panda", "anymal_c", "unitree_g1"])
@pytest.mark.slow
def test_picture_is_filled_by_the_robot(name) -> None:
    with played(ROBOTS / f"{name}.usda") as sim:
        drawn = sim._host.drawn()
        # they may go on outside
        drawn.light_castshadow[:] = False
        shown = sim.render(320, 240).astype(int)
        ground = [geom for geom in range(drawn.ngeom) if drawn.geom_type[geom] == picture.mujoco.mjtGeom.mjGEOM_PLANE]
        assert len(ground) == 1 and drawn.geom_matid[ground[0]] >= 0
        drawn.geom_rgba[np.arange(drawn.ngeom) != ground[0], 3] = 0.0
        # without robots the same camera, which nothing but these sees
        is_shown = lambda model: np.arange(model.ngeom) != ground[0]  # noqa: E731
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(picture, "is_shown", is_shown)
            empty = sim.render(320, 240).astype(int)
    rows, columns = np.nonzero(np.abs(shown - empty).max(axis=2) > 25)
    assert max(np.ptp(rows) / 240, np.ptp(columns) / 320) > 0.6
    assert min(rows.min(), 239 - rows.max(), columns.min(), 319 - columns.max()) >= 3
    # fields of the ground, in the lower half
    assert len(np.unique(empty[200].round(-1), axis=0)) > 2


def test_model_and_data_are_those_of_the_simulation(batch) -> None:
    robots = batch.articulation("/World/Arm")
    robots.set_dof_gains(50.0, 5.0)
    robots.set_dof_position_targets([[0.0, 0.0], [0.5, 0.2], [0.0, 0.0]])
    data, model = batch.data(1), batch.model
    np.testing.assert_allclose(data.qpos, robots.get_dof_positions(indices=[1]).numpy()[0], rtol=1e-7)
    for _ in range(20):
        picture.mujoco.mj_step(model, data)
    batch.step(20)
    np.testing.assert_allclose(data.qpos, batch.data(1).qpos, rtol=0, atol=1e-12)


def test_model_and_data_are_copies(batch) -> None:
    before = batch.data(0).qpos.copy()
    batch.data(0).qpos[:] = 9.0
    batch.model.opt.gravity[:] = 100.0
    np.testing.assert_array_equal(batch.data(0).qpos, before)
    assert batch.model.opt.gravity[2] == pytest.approx(-9.81, abs=1e-3)


@pytest.mark.parametrize("ask", [lambda sim: sim.model, lambda sim: sim.data(), lambda sim: sim.render()])
def test_model_data_and_picture_are_there_when_physics_runs(sim, ask) -> None:
    refused(HostError, lambda: ask(sim), r"physics is not running: call play\(\)")


@needs_egl
@pytest.mark.slow
def test_picture_shows_the_environment_asked_for(batch) -> None:
    batch.articulation("/World/envs/env_2/Arm").set_dof_positions([1.0, 0.3])
    assert (batch.render(160, 120, env=0) != batch.render(160, 120, env=2)).any()


@needs_egl
def test_picture_leaves_physics_alone(batch) -> None:
    before = qpos_of(batch), qvel_of(batch)
    batch.render(64, 64, env=1)
    np.testing.assert_array_equal((qpos_of(batch), qvel_of(batch)), before)


def test_picture_of_no_environment_is_refused(batch) -> None:
    refused(ValueError, lambda: batch.render(64, 64, env=3), "environment index 3")


# how a process comes to have no way to draw
MUJOCO_FIRST = "import mujoco"
NO_EGL = """
import ctypes

class Without(ctypes.CDLL):
    def __init__(self, name, *args, **kwargs):
        if "EGL" in str(name):
            raise OSError(name)
        super().__init__(name, *args, **kwargs)

ctypes.CDLL = Without
"""
DRAW = f"""
from isaacsim.core.experimental.actuators import Simulation
sim = Simulation({str(ROBOTS / "pendulum.usda")!r})
sim.play()
sim.step()
try:
    sim.render(64, 64)
except RuntimeError as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has displays that may be missing")
@pytest.mark.parametrize("before", [MUJOCO_FIRST, NO_EGL], ids=["mujoco first", "no EGL"])
@pytest.mark.slow
def test_no_way_to_draw_is_an_error_of_render_alone(before) -> None:
    environment = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY", "MUJOCO_GL")}
    environment["PYTHONPATH"] = str(REPOSITORY / "python")
    code = [sys.executable, "-c", before + DRAW]
    done = subprocess.run(code, env=environment, capture_output=True, text=True, check=False)
    assert "MuJoCo draws to a display here and there is none" in done.stdout, done.stderr


def test_repr_says_what_it_is(robots) -> None:
    with aa.Simulation(robots / "pendulum.usda", 0.005, num_envs=2) as sim:
        assert repr(sim).endswith("pendulum.usda by mujoco: dt 0.005 s, 2 x, stopped>")
        sim.play()
        where = "/World/envs/env_0/Pendulum … /World/envs/env_1/Pendulum"
        assert repr(aa.Articulation("/World/Pendulum")) == f"<Articulation of {where}: 1 DOFs x 2 robots>"
        with aa.ArticulationActuators("/World/Pendulum") as actuators:
            (actuator,) = actuators.actuators
            shown = repr(actuator)
            assert shown.startswith("<Actuator /World/Pendulum/Actuators/hinge: ControllerPD(kp=")
            assert shown.endswith("), 2 x>") and not vars(actuator.controller).keys() & {"kp", "kd"}
        assert repr(sim).endswith("playing>")
    assert repr(sim).endswith("stopped>")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("file", ["unitree_go1.usda", "unitree_g1.usda"])
def test_without_contacts_robots_fall_through_the_ground(engine, file) -> None:
    with aa.Simulation(ROBOTS / file, engine=installed(engine)) as sim:
        robot = sim.articulation("/")
        sim.disable_contacts()
        sim.play()
        refused(HostError, sim.disable_contacts, "call stop")
        before = robot.get_world_poses()[0].numpy()[0, 2]
        sim.step(240)
        assert robot.get_world_poses()[0].numpy()[0, 2] - before == pytest.approx(-9.81 / 2, rel=0.05)


def test_without_contacts_of_a_file(tmp_path) -> None:
    path = tmp_path / "ball.xml"
    path.write_text(
        '<mujoco><worldbody><geom type="plane" size="1 1 1"/><body name="ball" pos="0 0 .1"><freejoint/>'
        '<geom size=".1"/><body name="arm"><joint name="hinge"/><geom size=".01"/></body></body></worldbody></mujoco>'
    )
    falls = []
    for touching in (True, False):
        with aa.Simulation(path, dt=0.005) as sim:
            if not touching:
                sim.disable_contacts()
            sim.play()
            sim.step(200)
            falls.append(sim.articulation("/").get_world_poses()[0].numpy()[0, 2])
    assert falls[0] > 0.05 and falls[1] < -4
