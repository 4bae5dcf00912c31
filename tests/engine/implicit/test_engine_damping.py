"""Efforts of the end of the step of which the simulator takes over the slope: steps, contacts, and the end of it."""

from contextlib import contextmanager
from types import SimpleNamespace

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators.base.errors import HostError
from isaacsim.core.experimental.actuators.engine.implicit.engine_damping import hand_damping_over
from isaacsim.core.experimental.actuators.laws.contract.coupling import inertias_of
from laden import hold
from physics_engines import ENGINES, ROOT, floating_pair, installed, telescope, weightless
from pxr import UsdPhysics

DT, KP, KD = 0.005, 40000.0, 400.0


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    return installed(request.param)


def in_engine(*limits, kp: float = KP, **mode) -> dict[str, list]:
    return {".*": [aa.PDControlConfig(kp, KD), *limits, aa.ImplicitConfig(in_engine=True, **mode)]}


@contextmanager
def running(engine: str, motors: dict, made=None, num_envs: int = 1):
    stage = (telescope() if made is None else made).stage
    with aa.Simulation(stage, DT, num_envs, engine=engine) as sim:
        actuators = aa.ArticulationActuators.from_configs(ROOT, motors)
        sim.play()
        yield SimpleNamespace(sim=sim, actuators=actuators, robot=sim.articulation(ROOT))


def numbers(array) -> np.ndarray:
    return np.asarray(array.numpy(), np.float64)


@pytest.mark.parametrize("made", [telescope, floating_pair])
def test_step_is_the_backward_euler_step_of_the_robot(engine, made, rng) -> None:
    """(M + h·kd + h²·kp)·(v⁺ − v) = h·(kp·(target − q − h·v) − kd·v − bias), with all joints and a free base."""
    small = made()
    weightless(small)
    with running(engine, in_engine(), small) as its:
        robot, count = its.robot, its.robot.num_dofs
        mass = numbers(robot.get_mass_matrices())[0]
        # a free base that turns has a bias, which is not told
        turning = rng.normal(size=count) if len(mass) == count else np.zeros(count)
        target = rng.normal(size=count).astype(np.float32)
        robot.set_dof_velocities(turning.astype(np.float32)[None])
        robot.set_dof_position_targets(target[None])
        robot.set_dof_velocity_targets(0.0)
        q, v = (numbers(one())[0] for one in (robot.get_dof_positions, robot.get_dof_velocities))
        bias = numbers(robot.get_dof_coriolis_and_centrifugal_compensation_forces())[0]
        its.sim.step()
        found = numbers(robot.get_dof_velocities())[0]
    push = np.zeros(len(mass))
    push[-count:] = KP * (target - q - DT * v) - KD * v - bias
    mass[range(-count, 0), range(-count, 0)] += DT * (KD + DT * KP)
    np.testing.assert_allclose(found, v + DT * np.linalg.solve(mass, push)[-count:], rtol=1e-3, atol=1e-4)


BALANCED = """
<mujoco><option gravity="0 0 0"/><worldbody>
  <body name="left"><joint name="a" axis="0 0 1"/><inertial pos="0 0 0" mass="0.1" diaginertia="0.1 0.1 0.1"/></body>
  <body name="right"><joint name="a2" axis="0 0 1"/><inertial pos="0 0 0" mass="0.1" diaginertia="0.3 0.3 0.3"/></body>
</worldbody></mujoco>
"""


@pytest.mark.parametrize("num_envs", [1, 3])
@pytest.mark.parametrize("engine", ["mujoco", "mujoco_warp"])
def test_link_may_be_balanced(engine, num_envs, tmp_path) -> None:
    if engine == "mujoco_warp":
        pytest.importorskip(engine)
        if num_envs > 1:
            pytest.skip("mujoco_warp has one environment")
    file = tmp_path / "balanced.xml"
    file.write_text(BALANCED)
    kp, target, inertias = 2e4, 0.02, {"left": 0.1, "right": 0.3}
    with aa.Simulation(file, DT, num_envs, engine=engine) as sim:
        robots = {name: sim.articulation(f"/{name}" if num_envs == 1 else f"/envs/.*/{name}") for name in inertias}
        sets = [
            aa.ArticulationActuators.from_configs(
                robot.paths, {".*": [aa.PDControlConfig(kp, KD)]}, effort_mode="in_engine"
            )
            for robot in robots.values()
        ]
        sim.play()

        def require_own_inertias(more: float = 0.0) -> None:
            for name, robot in robots.items():
                signals = robot.joint_signals(["inertia", "coupled_inertia"])
                signals.refresh()
                for found in (*map(np.asarray, signals.arrays.values()), numbers(robot.get_mass_matrices())):
                    np.testing.assert_allclose(np.ravel(found), [inertias[name] + more] * num_envs, rtol=1e-5)

        for robot in robots.values():
            robot.set_dof_position_targets(target)
        sim.step()
        for name, robot in robots.items():
            speed = DT * kp * target / (inertias[name] + DT * (KD + DT * kp))
            np.testing.assert_allclose(numbers(robot.get_dof_positions()), DT * speed, rtol=1e-5)
        require_own_inertias()
        sim.step(400)
        robots["left"].set_dof_armatures(0.5)
        robots["right"].set_dof_armatures(0.5)
        sim.step(400)
        require_own_inertias(0.5)
        for robot, actuators in zip(robots.values(), sets, strict=True):
            np.testing.assert_allclose(numbers(robot.get_dof_positions()), target, rtol=1e-5)
            actuators.close()
            robot.set_dof_gains(0.0, 0.0)
            robot.set_dof_velocities(0.0)
            robot.set_dof_efforts(1.0)
        sim.step()
        for name, robot in robots.items():
            np.testing.assert_allclose(numbers(robot.get_dof_velocities()), DT / (inertias[name] + 0.5), rtol=1e-5)


def held(mode: aa.ImplicitConfig, engine: str, steps: int) -> np.ndarray:
    """Shares of its effort that a joint has in each step, with S = 100, while something holds it."""
    inertia, error = 3.0, 1e-3
    kp = 50.0 * inertia / DT**2
    motors = {"reach": [aa.PDControlConfig(kp, kp * DT), mode], "turn": [aa.PDControlConfig(1.0, 0.1)]}
    with running(engine, motors) as its:
        efforts = []
        for _ in range(steps):
            its.robot.set_dof_positions(0.0)
            its.robot.set_dof_velocities(0.0)
            its.robot.set_dof_position_targets(error)
            its.sim.step()
            efforts.append(its.actuators.applied_efforts[0, 1])
        return np.array(efforts) / (kp * error)


def test_joint_that_is_held_has_its_effort_at_once(engine) -> None:
    """Else it begins with 1/(1 + S) of it and needs thousands of steps."""
    np.testing.assert_allclose(held(aa.ImplicitConfig(in_engine=True), engine, 5), 1.0, rtol=1e-4)
    alone = held(aa.ImplicitConfig(), engine, 100)
    assert alone[0] == pytest.approx(1 / 101, rel=0.01) and alone[-1] < 0.1


def test_joint_at_a_stop_has_the_effort_of_its_law() -> None:
    kp, reach = 4e6, 0.01
    made = telescope()
    joint = UsdPhysics.PrismaticJoint(made.stage.GetPrimAtPath(f"{ROOT}/reach"))
    joint.CreateLowerLimitAttr(-reach)
    joint.CreateUpperLimitAttr(reach)
    with running(installed("physx"), in_engine(kp=kp), made) as its:
        its.robot.set_dof_position_targets([[0.0, 2 * reach]])
        its.sim.step(200)
        (q, v) = (numbers(one())[0, 1] for one in (its.robot.get_dof_positions, its.robot.get_dof_velocities))
        assert abs(q - reach) < 0.1 * reach
        assert its.actuators.applied_efforts[0, 1] == pytest.approx(kp * (2 * reach - q) - KD * v, rel=0.02)


def test_humanoid_stands_with_stiff_gains() -> None:
    found = hold("G1", "mujoco", "in_engine", 1.0)
    assert not found.chatters and not found.faults and abs(found.fallen) < 0.005


def test_limit_ends_it_where_it_acts(engine) -> None:
    with running(engine, in_engine(aa.MaxEffortClampingConfig(3.0))) as its:
        its.robot.set_dof_position_targets(5.0)
        mass = numbers(its.robot.get_mass_matrices())[0]
        bias = numbers(its.robot.get_dof_gravity_compensation_forces())[0]
        its.sim.step()
        np.testing.assert_allclose(its.actuators.applied_efforts, 3.0)
        wanted = DT * np.linalg.solve(mass, 3.0 - bias)
        np.testing.assert_allclose(numbers(its.robot.get_dof_velocities())[0], wanted, rtol=5e-3)


def test_signals_and_properties_are_those_of_the_robot_alone(engine) -> None:
    """Armature, mass matrix and inertias leave out what the simulator has for the step; setting one keeps it."""
    # PhysX simulates the stage as it is
    with running(engine, in_engine(), num_envs=2 if engine == "mujoco" else 1) as its:
        robot, sim = its.robot, its.sim
        last = len(robot.paths) - 1
        before = numbers(robot.get_mass_matrices())
        sim.step(3)
        np.testing.assert_array_equal(robot.get_dof_armatures().numpy(), 0.0)
        np.testing.assert_allclose(numbers(robot.get_mass_matrices()), before, rtol=1e-3)
        robot.set_dof_armatures([[0.5, 0.25]], indices=[last])
        sim.step(2)
        np.testing.assert_allclose(robot.get_dof_armatures().numpy()[last], [0.5, 0.25])
        after = before.copy()
        after[last] += np.diag([0.5, 0.25])
        np.testing.assert_allclose(numbers(robot.get_mass_matrices()), after, rtol=1e-3)
        if engine == "mujoco":
            np.testing.assert_array_equal(robot.get_dof_armatures().numpy()[0], 0.0)
            views = robot.joint_signals(["inertia", "coupled_inertia"])
            views.refresh()
            found = [np.asarray(views.arrays[name]) for name in ("inertia", "coupled_inertia")]
            np.testing.assert_allclose(found, inertias_of(after), rtol=1e-3)


@pytest.mark.parametrize("how", ["close", "no steps", "reset"])
def test_simulator_gives_it_back(engine, how) -> None:
    with running(engine, in_engine()) as its:
        robot, sim, actuators = its.robot, its.sim, its.actuators
        robot.set_dof_armatures(0.5)
        sim.step(3)
        if how == "close":
            actuators.close()
        elif how == "reset":
            sim.reset()
            actuators.disable_auto_step_pre_physics()
        else:
            actuators.disable_auto_step_pre_physics()
        robot.set_dof_gains(0.0, 0.0)
        robot.set_dof_velocities(0.0)
        mass = numbers(robot.get_mass_matrices())[0]
        bias = numbers(robot.get_dof_gravity_compensation_forces())[0]
        push = np.array([4.0, 20.0])
        robot.set_dof_efforts(push.astype(np.float32)[None])
        sim.step()
        found = numbers(robot.get_dof_velocities())[0]
        np.testing.assert_allclose(found, DT * np.linalg.solve(mass, push - bias), rtol=5e-3)


@pytest.mark.parametrize("of", ["target", "gain"])
def test_fault_hands_nothing_over(engine, of, monkeypatch) -> None:
    with running(engine, in_engine()) as its:
        given: list[np.ndarray] = []
        robot = type(its.actuators.articulation)
        monkeypatch.setattr(robot, "set_step_armatures", lambda _, armatures, **__: given.append(armatures.copy()))
        its.robot.set_dof_position_targets(0.1)
        its.sim.step(2)
        assert (given[-1] > 0.0).all()
        if of == "target":
            its.robot.buffers().position_targets[0, 0] = np.nan
        else:
            its.actuators.actuators[0].controller.kp.numpy()[0] = np.nan
        its.actuators.step_actuators(DT)
        assert its.actuators.applied_efforts[0, 0] == 0.0 and its.actuators.applied_efforts[0, 1] != 0.0
        assert given[-1][0, 0] == 0.0 and given[-1][0, 1] > 0.0
        assert {fault.dof_name for fault in its.actuators.faults} == {"turn"}


def test_friction_of_the_actuator_acts_beside_it() -> None:
    motors = {".*": [aa.PDControlConfig(KP, KD), aa.FrictionConfig(coulomb=1.0), aa.ImplicitConfig(in_engine=True)]}
    with running("mujoco", motors) as its:
        its.sim.step(200)
        assert np.abs(numbers(its.robot.get_dof_velocities())).max() < 1e-4 and not its.actuators.faults


def test_file_has_it() -> None:
    made = telescope()
    motor = aa.MotorConfig(aa.PDControlConfig(KP, KD), others=[aa.ImplicitConfig(in_engine=True, load_share=0.25)])
    aa.add_motors(ROOT, {".*": motor}, stage=made.stage)
    with aa.Simulation(made.stage, DT) as sim:
        actuators = aa.ArticulationActuators(ROOT)
        sim.play()
        (mode,) = (one for one in actuators.actuators[0].others if isinstance(one, aa.ImplicitEffort))
        np.testing.assert_array_equal(mode.in_engine.numpy(), 1.0)


def test_mode_of_the_wrapper_is_the_config() -> None:
    with aa.Simulation(telescope().stage, DT) as sim:
        motors = {".*": [aa.PDControlConfig(KP, KD)]}
        actuators = aa.ArticulationActuators.from_configs(ROOT, motors, effort_mode="in_engine")
        sim.play()
        robot = sim.articulation(ROOT)
        robot.set_dof_position_targets(0.1)
        sim.step(200)
        np.testing.assert_allclose(robot.get_dof_positions().numpy()[0, 0], 0.1, atol=1e-4)
        assert not actuators.faults


def test_simulator_without_armatures_per_step_refuses_it() -> None:
    one = wp.ones(1, dtype=wp.float32, device="cpu")
    mode = aa.ImplicitEffort(one, one, one)
    assembly = SimpleNamespace()
    entry = SimpleNamespace(stages=[mode], dof_names=["knee"])
    with pytest.raises(HostError, match=r"joints knee: must be False on object, which takes no armatures per physics"):
        hand_damping_over(assembly, object(), [entry])
    on_gpu = SimpleNamespace(device=SimpleNamespace(is_cpu=False))
    with pytest.raises(HostError, match="must be in CPU memory"):
        hand_damping_over(on_gpu, SimpleNamespace(takes_step_armatures=True), [entry])
