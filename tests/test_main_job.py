"""The main job on real physics: robots driven by the actuators in their own USD files."""

import math
from importlib.util import find_spec
from pathlib import Path

import isaacsim.core.experimental.actuators as aa
import numpy as np
import oracle
import pytest
from closeness import assert_close
from pxr import Usd, UsdPhysics
from refusals import cases
from stages import stage_of

PANDA, ANYMAL, PENDULUM = "/World/Panda", "/World/Anymal", "/World/Pendulum"
HOME = np.array([0.0, -0.4, 0.0, -2.0, 0.0, 1.6, 0.785])
# at least 0.5 rad away from home on every joint, within the published limits
REACH = [
    HOME + [0.6, 0.6, -0.6, 0.6, 0.6, 0.6, 0.6],
    HOME + [-1.0, 0.9, 0.8, -0.55, -0.7, -0.9, -1.5],
    HOME + [1.5, -0.5, 1.2, 1.2, 1.4, 1.2, 1.1],
]


def deactivate(stage: Usd.Stage, *actuators: str) -> None:
    for path in actuators:
        prim = stage.GetPrimAtPath(path)
        assert prim
        prim.SetActive(False)


@cases("targets", *REACH)
def test_arm_reaches_its_targets(robots, targets) -> None:
    with aa.Simulation(robots / "franka_panda.usda") as sim:
        arm, actuators = aa.Articulation(PANDA), aa.ArticulationActuators(PANDA)
        sim.play()
        assert (np.abs(targets - arm.get_dof_positions().numpy()[0]) >= 0.5 - 1e-6).all()
        arm.set_dof_position_targets(targets)
        for _ in range(720):
            actuators.set_dof_feedforward_effort_targets(arm.get_dof_gravity_compensation_forces())
            sim.step()
        np.testing.assert_allclose(arm.get_dof_positions().numpy()[0], targets, atol=0.01)
        assert np.abs(arm.get_dof_velocities().numpy()).max() < 0.01 and actuators.faults == []


@cases("targets", *REACH)
def test_arm_misses_its_targets_without_actuators(robots, targets) -> None:
    with aa.Simulation(robots / "franka_panda.usda") as sim:
        arm = aa.Articulation(PANDA)
        sim.play()
        arm.set_dof_position_targets(targets)
        sim.step(1440)
        assert np.abs(arm.get_dof_positions().numpy()[0] - targets).max() > 0.1


def test_arm_has_the_published_figures(robots) -> None:
    """Gravity 9.81, armature at most 0.1, effort limits 87 and 12 N·m on every actuator."""
    stage = stage_of(robots / "franka_panda.usda")
    assert UsdPhysics.Scene.Get(stage, "/World/physicsScene").GetGravityMagnitudeAttr().Get() == pytest.approx(9.81)
    for number in range(1, 8):
        joint = stage.GetPrimAtPath(f"{PANDA}/joints/panda_joint{number}")
        actuator = stage.GetPrimAtPath(f"{PANDA}/Actuators/panda_joint{number}")
        assert joint.GetAttribute("newton:armature").Get() <= 0.1 + 1e-6
        assert actuator.GetAttribute("newton:maxEffort").Get() == (87 if number < 5 else 12)


def contacts(sim: aa.Simulation) -> set[str]:
    data, model = sim.data(), sim.model
    names = {model.geom(geom).name for contact in data.contact for geom in (contact.geom1, contact.geom2)}
    return {name for name in names if "ground" not in name}


def heights(sim: aa.Simulation, steps: int) -> np.ndarray:
    robot, found = aa.Articulation(ANYMAL), []
    for _ in range(steps):
        sim.step()
        found.append(robot.get_world_poses()[0].numpy()[0, 2])
    return np.array(found)


def test_quadruped_stands(robots) -> None:
    """Free base, four feet on the ground and nothing else: the height stays within 2 cm for 5 s."""
    with aa.Simulation(robots / "anymal_c.usda") as sim:
        actuators = aa.ArticulationActuators(ANYMAL)
        sim.play()
        start = aa.Articulation(ANYMAL).get_world_poses()[0].numpy()[0, 2]
        assert np.abs(heights(sim, 1200) - start).max() < 0.02
        touching = contacts(sim)
        assert len(touching) == 4 and all("SHANK" in name for name in touching)
        assert len(actuators.actuated_dof_indices) == 12


def test_quadruped_collapses_with_its_actuators_deactivated(robots) -> None:
    stage = stage_of(robots / "anymal_c.usda")
    deactivate(stage, *[str(prim.GetPath()) for prim in stage.GetPrimAtPath(f"{ANYMAL}/Actuators").GetChildren()])
    with aa.Simulation(stage) as sim:
        with pytest.warns(UserWarning, match="no actuator found"):
            actuators = aa.ArticulationActuators(ANYMAL)
        sim.play()
        assert actuators.actuators == [] and heights(sim, 480)[-1] < 0.3


def first_efforts(path: Path) -> np.ndarray:
    """Efforts [N·m] of the first step towards a small displacement."""
    with aa.Simulation(path) as sim:
        arm, actuators = aa.Articulation(PANDA), aa.ArticulationActuators(PANDA)
        sim.play()
        arm.set_dof_position_targets(HOME + 0.01)
        actuators.step_actuators(sim.dt)
        return arm.get_dof_efforts().numpy()[0]


def test_the_file_decides(robots, tmp_path) -> None:
    """`kp` of one joint, changed in the saved file with a text editor, changes that joint's effort alone."""
    head, tail = (robots / "franka_panda.usda").read_text().split('def NewtonActuator "panda_joint3"')
    edited = tmp_path / "edited.usda"
    tail = tail.replace("newton:kp = 400", "newton:kp = 800", 1)
    edited.write_text(f'{head}def NewtonActuator "panda_joint3"{tail}')
    before, after = first_efforts(robots / "franka_panda.usda"), first_efforts(edited)
    expected = before.copy()
    expected[2] *= 2
    np.testing.assert_allclose(after, expected, rtol=1e-5)
    assert before[2] == pytest.approx(4.0, rel=1e-3)


def test_logged_states_through_the_oracle_give_the_applied_efforts(robots, rng) -> None:
    log: list[tuple[np.ndarray, ...]] = []
    with aa.Simulation(robots / "franka_panda.usda") as sim:
        arm, actuators = aa.Articulation(PANDA), aa.ArticulationActuators(PANDA)
        sim.play()
        getters = (arm.get_dof_positions, arm.get_dof_velocities, arm.get_dof_position_targets)
        feedforward = np.zeros(7, np.float32)

        def record(dt: float, context: object) -> None:
            signals = [get().numpy()[0] for get in (*getters, arm.get_dof_velocity_targets)]
            log.append((*signals, feedforward.copy(), arm.get_dof_efforts().numpy()[0]))

        subscription = sim.bus.on_pre_step(record, order=1)
        for _ in range(300):
            arm.set_dof_position_targets(HOME + rng.normal(size=7) * 0.3)
            arm.set_dof_velocity_targets(rng.normal(size=7) * 0.1)
            feedforward[:] = rng.normal(size=7) * 5
            actuators.set_dof_feedforward_effort_targets(feedforward)
            sim.step()
        subscription.close()
    strong = np.arange(7) < 4
    law = oracle.Pipeline(
        kp=np.where(strong, 400.0, 100.0),
        kd=np.where(strong, 40.0, 10.0),
        max_effort=np.where(strong, 87.0, 12.0),
        delay_steps=np.where(strong, 0, 2),
    )
    limited = 0
    for *signals, effort in log:
        expected = law.step(*signals)
        limited += int((np.abs(expected) == law.max_effort).any())
        assert_close(effort, expected, law.kp * 4, law.kd * 20)
    assert 0 < limited < len(log)


def test_drive_is_off_on_owned_joints_and_on_elsewhere(robots) -> None:
    stage = stage_of(robots / "franka_panda.usda")
    deactivate(stage, f"{PANDA}/Actuators/panda_joint2", f"{PANDA}/Actuators/panda_joint6")
    owned = np.array([0, 2, 3, 4, 6])
    with aa.Simulation(stage) as sim:
        arm, actuators = aa.Articulation(PANDA), aa.ArticulationActuators(PANDA)
        sim.play()
        assert actuators.actuated_dof_indices == owned.tolist()
        arm.set_dof_position_targets(HOME + 0.2)
        for _ in range(300):
            sim.step()
            drive = arm.get_dof_drive_efforts().numpy()[0]
            assert (drive[owned] == 0).all() and (np.delete(drive, owned) != 0).all()


def test_close_gives_the_drives_back(robots) -> None:
    """Gains bit-equal to before, no effort left, and the arm comes to rest on its drives where it did before."""
    with aa.Simulation(robots / "franka_panda.usda") as sim:
        arm = aa.Articulation(PANDA)
        sim.play()
        sim.step(1440)
        resting = arm.get_dof_positions().numpy()
        before = [gains.numpy().tobytes() for gains in arm.get_dof_gains()]
        actuators = aa.ArticulationActuators(PANDA)
        assert not any(gains.numpy().any() for gains in arm.get_dof_gains())
        sim.step(200)
        actuators.close()
        assert [gains.numpy().tobytes() for gains in arm.get_dof_gains()] == before
        assert not arm.get_dof_efforts().numpy().any()
        sim.step(1440)
        np.testing.assert_allclose(arm.get_dof_positions().numpy(), resting, atol=1e-3)
        assert arm.get_dof_drive_efforts().numpy().any()


# mass 1 kg at 0.5 m, 0.01 kg·m² about its own centre; gains of the file
INERTIA, KP, KD = 0.26, 20.0, 2.0


def test_pendulum_follows_the_discrete_solution(robots) -> None:
    """The same law sampled once per step, as a linear recurrence: equal to float32 rounding."""
    target, dt = 0.3, 1 / 240
    angle = speed = 0.0
    stage = stage_of(robots / "pendulum.usda")
    UsdPhysics.Scene.Get(stage, "/World/physicsScene").GetGravityMagnitudeAttr().Set(0.0)
    with aa.Simulation(stage, dt=dt) as sim:
        robot, _actuators = aa.Articulation(PENDULUM), aa.ArticulationActuators(PENDULUM)
        sim.play()
        robot.set_dof_position_targets(target)
        for _ in range(240):
            sim.step()
            speed += dt * (KP * (target - angle) - KD * speed) / INERTIA
            angle += dt * speed
            assert robot.get_dof_positions().numpy()[0, 0] == pytest.approx(angle, abs=1e-6)


def test_pendulum_rests_where_gravity_balances_the_spring(robots) -> None:
    """At rest `kp·(θ* − θ) = m·g·L·sin θ`."""
    with aa.Simulation(robots / "pendulum.usda") as sim:
        robot, _actuators = aa.Articulation(PENDULUM), aa.ArticulationActuators(PENDULUM)
        sim.play()
        robot.set_dof_position_targets(0.8)
        sim.step(2400)
        angle = float(robot.get_dof_positions().numpy()[0, 0])
        assert KP * (0.8 - angle) == pytest.approx(1.0 * 9.81 * 0.5 * math.sin(angle), rel=1e-4)


WHEEL = Path(find_spec("newton").submodule_search_locations[0]) / "examples" / "assets"


@pytest.mark.filterwarnings("ignore:joints begin outside their limits")
@cases("file, root", ("ant.usda", "/ant"), ("humanoid.usda", "/nv_humanoid"), ("cartpole.usda", "/cartPole"))
def test_robots_nobody_here_wrote(file, root) -> None:
    if not (WHEEL / file).exists():
        pytest.skip(f"this newton does not ship {file}")
    with aa.Simulation(stage_of(WHEEL / file), dt=1 / 1000) as sim:
        robot = aa.Articulation(root)
        names = robot.dof_names
        assert any(":" in name for name in names) is (file == "humanoid.usda")
        for number, name in enumerate(names):
            config = aa.PDControlConfig(kp=5.0, kd=0.2)
            aa.add_actuator(root, name, f"motor_{number}", config, clamping=[aa.MaxEffortClampingConfig(20.0)])
        actuators = aa.ArticulationActuators(root)
        sim.play()
        owned = actuators.actuated_dof_indices
        assert owned == list(range(len(names)))
        before = robot.get_dof_positions().numpy()
        robot.set_dof_position_targets(before + 0.2)
        sim.step(100)
        moved = np.abs(robot.get_dof_positions().numpy() - before)[0]
        assert (moved[owned] > 1e-3).all() and not robot.get_dof_gains()[0].numpy()[:, owned].any()
        assert actuators.faults == []
