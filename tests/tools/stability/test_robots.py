"""Stability of robots, compared with their motion in a simulator; and the warning when physics starts."""

import json
import warnings
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators.base.errors import HostError
from isaacsim.core.experimental.actuators.simulators.mujoco.host import MujocoArticulation
from leg import Leg
from own_components import OwnController
from physics_engines import ENGINES, installed, set_iterations
from places import ROBOTS
from pxr import Sdf, Usd, UsdPhysics
from refusals import cases, refused

# with limits, growth would become a vibration of constant amplitude
pytestmark = pytest.mark.filterwarnings("ignore:.*have no effort limit:UserWarning")
STEPS = [1 / 60, 1 / 120, 1 / 240, 1 / 500, 1 / 1000]
# shares of stiffness; from 0.5 on, PhysX is unstable at any gains
STIFF, DELAYS = {"mujoco": [0.01, 0.3, 0.8], "physx": [0.01, 0.25, 0.4]}, [0, 3]
ARM = "shoulder", "extension"
# [rad/s]: far above the resolution of float32, and too slow to change a pose
PUSH = 0.03
# gains of the documentation, and of its table for each rate
PANDA_GAINS, PANDA_ARMATURE = (400.0, 40.0), {60: 0.5, 120: 0.2, 240: 0.1, 480: 0.05, 960: 0.02}


def weightless(name: str) -> Usd.Stage:
    stage = Usd.Stage.Open(Usd.Stage.Open(str(ROBOTS / f"{name}.usda")).Flatten())
    UsdPhysics.Scene(stage.GetPrimAtPath("/World/physicsScene")).CreateGravityMagnitudeAttr(0.0)
    return stage


class Bench:
    def __init__(
        self,
        name: str,
        path: str,
        rest: list[float],
        dt: float,
        delay: int,
        engine: str = "mujoco",
        stage: Usd.Stage | None = None,
        more: Sequence[Any] = (),
    ) -> None:
        self.rest = np.array(rest, np.float32)
        self.sim = aa.Simulation(weightless(name) if stage is None else stage, dt, engine=installed(engine))
        motor = {".*": [aa.PDControlConfig(0.0, 0.0), aa.DelayConfig(delay), *more]}
        self.actuators = aa.ArticulationActuators.from_configs(path, motor)
        self.sim.play()
        self.robot: Any = self.actuators.articulation

    def set_gains(self, kp: np.ndarray, kd: np.ndarray) -> None:
        for number, actuator in enumerate(self.actuators.actuators):
            controller: Any = actuator.controller
            mine = slice(number, number + 1) if len(self.actuators.actuators) > 1 else slice(None)
            for name, values in (("kp", kp), ("kd", kd)):
                setattr(controller, name, wp.array(values[mine], dtype=wp.float32, device="cpu"))

    def grows(self, steps: int = 100) -> bool:
        """Return True if a small push grows within some steps."""
        self.sim.reset()
        self.robot.set_dof_position_targets(self.rest)
        self.robot.set_dof_positions(self.rest)
        # a push that excites every motion
        self.robot.set_dof_velocities(PUSH * np.array([1.0, -0.7, 0.4, -0.9, 0.6, -0.3, 0.8][: len(self.rest)]))
        speeds = []
        for _ in range(steps):
            self.sim.step()
            speeds.append(float(np.abs(self.robot.get_dof_velocities().numpy()).max()))
            if speeds[-1] > 100 * PUSH:
                return True
        # a decayed motion is noise
        part = steps // 10
        return max(speeds[-part:]) > max(*speeds[2 * part : 3 * part], PUSH / 10)

    def grows_from(self, factor: float, kp: np.ndarray, kd: np.ndarray, within: float, steps: int = 100) -> bool:
        """Return True if motion begins to grow with both gains multiplied by `factor`, within a share."""
        found = []
        for tried in (factor * (1 - within), factor * (1 + within)):
            self.set_gains(tried * kp, tried * kd)
            found.append(self.grows(steps))
        return found == [False, True]


def gains(inertia: np.ndarray, dt: float, stiff: float) -> tuple[np.ndarray, np.ndarray]:
    return stiff * 4 * inertia / dt**2, (1 - stiff) * 2 * inertia / dt


@cases("dt, delay", *list(product(STEPS, DELAYS)))
@cases("engine", *ENGINES)
def test_pendulum_vibrates_from_the_limit_on(engine: str, dt: float, delay: int) -> None:
    """Within 5 %, at any step, share of stiffness and delay of targets: 30 combinations on each simulator."""
    bench = Bench("pendulum", "/World/Pendulum", [0.0], dt, delay, engine)
    for stiff in STIFF[engine]:
        # the inertia from masses and lengths, not from the code under test
        kp, kd = gains(np.array([0.3]), dt, stiff)
        bench.set_gains(kp, kd)
        told = bench.actuators.stability()
        assert told.robots[0].margin == told.joints[0].margin
        assert bench.grows_from(told.robots[0].margin, kp, kd, within=0.05)


@cases("iterations", 1, 2, 4, 32, 255)
def test_iterations_of_physx_count(iterations: int) -> None:
    """Each has its own limit, within 5 %."""
    stage = weightless("pendulum")
    set_iterations(stage, "/World/Pendulum", iterations)
    bench = Bench("pendulum", "/World/Pendulum", [0.0], 1 / 240, 0, "physx", stage)
    for stiff in (0.1, 0.4):
        kp, kd = gains(np.array([0.3]), 1 / 240, stiff)
        bench.set_gains(kp, kd)
        told = bench.actuators.stability().robots[0]
        assert told.velocity_weight == pytest.approx((iterations + 1) / (2 * iterations))
        assert bench.grows_from(told.margin, kp, kd, within=0.05)


@cases("dt", 1 / 60, 1 / 240, 1 / 1000)
def test_stiffness_demands_damping_on_physx(dt: float) -> None:
    """Below it motion grows at any gains of that proportion, above it decays; within 5 %."""
    bench = Bench("pendulum", "/World/Pendulum", [0.0], dt, 0, "physx")
    kp, _ = gains(np.array([0.3]), dt, 0.2)
    demanded = (1 - 33 / 64) * kp * dt
    for factor in (0.3, 1.0):
        bench.set_gains(factor * kp, factor * demanded * 0.95)
        assert bench.actuators.stability().robots[0].margin == 0.0 and bench.grows()
        bench.set_gains(factor * kp, factor * demanded * 1.05)
        assert bench.actuators.stability().stable and not bench.grows()


LATE: dict[str, list[Any]] = {
    "encoder in seconds": [aa.EncoderConfig(latency=0.008)],
    "encoder in steps": [aa.EncoderConfig(latency_steps=1.5, velocity="register")],
    "filtered velocity": [aa.EncoderConfig(velocity_filter=0.01)],
    "effort": [aa.EffortDelayConfig(seconds=0.003, steps=1.5)],
    "lagged effort": [aa.EffortLagConfig(0.004), aa.EffortDelayConfig(steps=1.0)],
    "both": [aa.EncoderConfig(latency=0.0033), aa.EffortDelayConfig(steps=1.25)],
    "rate": [aa.RateConfig(4)],
    "rate, and what counts in its steps": [aa.RateConfig(frequency=250.0), aa.EncoderConfig(latency_steps=1.5)],
    "rate and effort": [aa.RateConfig(3), aa.EncoderConfig(latency=0.004), aa.EffortDelayConfig(steps=1.5)],
}
LATENCIES = {
    "encoder in seconds": 0.008,
    "encoder in steps": 0.003,
    "filtered velocity": 0.0,
    "effort": 0.006,
    "lagged effort": 0.006,
    "both": 0.0058,
    "rate": 0.003,
    "rate, and what counts in its steps": 0.007,
    "rate and effort": 0.009,
}


@cases("delay", *DELAYS)
@cases("name", *LATE)
def test_late_pendulum_vibrates_from_the_limit_on(name: str, delay: int) -> None:
    """Within 5 %, with latency of the encoder and of the effort; the delay of targets does not enter."""
    bench = Bench("pendulum", "/World/Pendulum", [0.0], 1 / 500, delay, more=LATE[name])
    kp, kd = np.array([400.0]), np.array([12.0])
    bench.set_gains(kp, kd)
    told = bench.actuators.stability()
    assert told.left_out == () and told.joints[0].latency == pytest.approx(LATENCIES[name], rel=1e-5)
    assert bench.grows_from(told.robots[0].margin, kp, kd, within=0.05, steps=500)


def test_late_joints_of_an_arm_have_their_own_latency() -> None:
    """Within 10 %, for any of its joints; the order is that of the columns."""
    stages = [aa.EncoderConfig(latency=0.008)], [aa.EffortDelayConfig(steps=1.0)]
    with aa.Simulation(weightless("arm_2dof"), 1 / 500) as sim:
        motors = {name: [aa.PDControlConfig(80.0, 8.0), *more] for name, more in zip(ARM, stages, strict=True)}
        actuators = aa.ArticulationActuators.from_configs("/World/Arm", motors)
        sim.play()
        table = actuators.stability()
    assert [joint.joint for joint in table.joints] == list(ARM)
    assert [joint.latency for joint in table.joints] == pytest.approx([0.008, 0.002], rel=1e-5)
    assert "Latency" in str(table)


def test_gains_that_a_latency_makes_vibrate_are_told_at_play() -> None:
    with aa.Simulation(weightless("pendulum"), 1 / 500) as sim:
        motor = {".*": [aa.PDControlConfig(400.0, 2.0), *LATE["encoder in seconds"]]}
        actuators = aa.ArticulationActuators.from_configs("/World/Pendulum", motor)
        with pytest.warns(UserWarning, match="will vibrate") as told:
            sim.play()
        assert actuators.stability().robots[0].margin == 0.0
    (text,) = (str(one.message) for one in told if "will vibrate" in str(one.message))
    assert "needs kd >= 3.2, as its effort acts 0.008 s late. Raise the damping; stability()" in text


@cases("dt, delay", (1 / 60, 0), (1 / 240, 2), (1 / 1000, 0))
@cases("engine", *ENGINES)
def test_arm_vibrates_from_the_limit_on(engine: str, dt: float, delay: int) -> None:
    """Within 10 %, for any of its joints: 12 combinations on each simulator."""
    bench = Bench("arm_2dof", "/World/Arm", [0.3, 0.2], dt, delay, engine)
    for stiff, shares in product((0.1, {"mujoco": 0.7, "physx": 0.4}[engine]), ([1.0, 0.4], [0.4, 1.0])):
        kp, kd = gains(np.array([0.5, 1.0]) * shares, dt, stiff)
        bench.set_gains(kp, kd)
        bench.robot.set_dof_positions(bench.rest)
        assert bench.grows_from(bench.actuators.stability().robots[0].margin, kp, kd, within=0.1)


@cases("engine", *ENGINES)
def test_coupled_arm_vibrates_from_the_limit_on(engine: str) -> None:
    bench = Bench("franka_panda", "/World/Panda", [0.0, -0.6, 0.0, -2.2, 0.5, 1.6, 0.8], 1 / 240, 0, engine)
    bench.robot.set_dof_armatures(0.0)
    # growth is measured by velocity
    bench.robot.set_dof_max_velocities(np.inf)
    bench.robot.set_dof_positions(bench.rest)
    kp, kd = gains(np.array([row.inertia for row in bench.actuators.stability().joints]), 1 / 240, 0.1)
    bench.set_gains(kp, kd)
    told = bench.actuators.stability()
    assert min(joint.margin for joint in told.joints) > 1.2 * told.robots[0].margin
    # `reset` restores neither armatures of the stage nor gains
    assert bench.grows_from(told.robots[0].margin, kp, kd, within=0.05)


@cases("stiff", 0.4, 0.8)
@cases("engine", *ENGINES)
def test_implicit_coupled_arm_vibrates_from_the_limit_on(engine: str, stiff: float) -> None:
    """Coupled joints that follow loads at once have a limit of stiffness, within 5 %; each of them alone has none."""
    pose = [0.0, -0.6, 0.0, -2.2, 0.5, 1.6, 0.8]
    bench = Bench("franka_panda", "/World/Panda", pose, 1 / 240, 0, engine, more=[aa.ImplicitConfig(load_share=1.0)])
    bench.robot.set_dof_max_velocities(np.inf)
    bench.robot.set_dof_positions(bench.rest)
    kp, kd = gains(np.array([row.inertia for row in bench.actuators.stability().joints]), 1 / 240, stiff)
    bench.set_gains(kp, kd)
    told = bench.actuators.stability()
    assert all(joint.margin == np.inf for joint in told.joints)
    assert bench.grows_from(told.robots[0].margin, kp, kd, within=0.05, steps=500)


@pytest.fixture
def panda() -> Iterator[Any]:
    """The Panda with the documentation's gains and without armature; a function of step and armature."""
    sims = []

    def make(dt: float, armature: float) -> aa.ArticulationActuators:
        sim = aa.Simulation(ROBOTS / "franka_panda.usda", dt)
        sims.append(sim)
        sim.play()
        sim.articulation("/World/Panda").set_dof_armatures(armature)
        return aa.ArticulationActuators.from_configs("/World/Panda", {".*": [aa.PDControlConfig(*PANDA_GAINS)]})

    yield make
    for sim in sims:
        sim.close()


@cases("rate", *PANDA_ARMATURE)
@pytest.mark.filterwarnings("ignore:.*will vibrate")
@pytest.mark.slow
def test_panda_needs_the_armature_that_it_was_measured_to_need(panda: Any, rate: int) -> None:
    armatures = (0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
    verdicts = {armature: panda(1 / rate, armature).stability().stable for armature in armatures}
    assert next(armature for armature, stable in verdicts.items() if stable) == PANDA_ARMATURE[rate]


@pytest.mark.filterwarnings("ignore:.*will vibrate")
@pytest.mark.slow
def test_cures_cure(panda: Any) -> None:
    table = panda(1 / 240, 0.0).stability()
    assert not table.stable and table.robots[0].robot == table.joints[0].robot == "/World/Panda"
    needed = np.array([joint.smallest_armature for joint in table.joints])
    assert [joint.armature for joint in table.joints] == [0.0] * 7
    assert panda(1 / 240, needed * 1.001).stability().stable and not panda(1 / 240, needed * 0.99).stability().stable
    step = table.robots[0].largest_step
    assert panda(step, 0.0).stability().stable and not panda(step * 1.01, 0.0).stability().stable


def test_warning_gives_the_numbers_once(panda: Any) -> None:
    actuators = panda(1 / 240, 0.0)
    with pytest.warns(UserWarning, match="will vibrate") as told:
        actuators.step_actuators(1 / 240)
    (one,) = (each for each in told if "will vibrate" in str(each.message))
    words = ("/World/Panda> will vibrate at dt = 0.00417 s", "panda_joint7 has kp = 400, kd = 40, inertia 0.0047")
    assert all(word in str(one.message) for word in (*words, "dt <= 0.000233 s", "needs an armature of 0.12"))
    assert Path(one.filename) == Path(__file__)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        actuators.physics_ready()


def pendulums(dt: float, kd: float, num_envs: int = 1, *more: Any) -> tuple[aa.Simulation, aa.ArticulationActuators]:
    sim = aa.Simulation(ROBOTS / "pendulum.usda", dt, num_envs)
    motor = {"hinge": [aa.PDControlConfig(100.0, kd), aa.MaxEffortClampingConfig(10.0), *more]}
    return sim, aa.ArticulationActuators.from_configs("/World/Pendulum", motor)


def test_warning_comes_with_play_and_once() -> None:
    sim, actuators = pendulums(1 / 60, 60.0)
    with pytest.warns(UserWarning, match="will vibrate") as told:
        sim.play()
        sim.stop()
        sim.play()
    assert [Path(one.filename) for one in told] == [Path(__file__)] and not actuators.stability().stable
    with pytest.warns(UserWarning, match="the first of 3 and the only one looked at"):
        many = pendulums(1 / 60, 60.0, 3)
        many[0].play()


@cases("viscous, warns", (0.0, True), (2.0, False))
def test_too_little_damping_is_told_where_the_simulator_divides_its_step(viscous: float, warns: bool) -> None:
    stage = weightless("pendulum")
    hinge = stage.GetPrimAtPath("/World/Pendulum/joints/hinge")
    hinge.CreateAttribute("newton:damping", Sdf.ValueTypeNames.Float).Set(np.radians(viscous))
    sim = aa.Simulation(stage, 1 / 240, engine=installed("physx"))
    motor = {"hinge": [aa.PDControlConfig(400.0, 0.5), aa.MaxEffortClampingConfig(10.0)]}
    actuators = aa.ArticulationActuators.from_configs("/World/Pendulum", motor)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        sim.play()
    robot: Any = actuators.articulation
    assert robot.get_dof_friction_properties()[2].numpy() == pytest.approx(viscous)
    texts = [str(one.message) for one in told if "will vibrate" in str(one.message)]
    assert bool(texts) is warns
    if warns:
        # (1 - 33 / 64) * kp * dt, and half the step is enough
        assert "needs kd >= 0.807" in texts[0] and "Raise the damping, or step with dt <= 0.00258 s" in texts[0]
    assert actuators.stability().joints[0].smallest_armature == np.inf


def test_quiet_robots_are_not_spoken_of() -> None:
    sim, actuators = pendulums(1 / 60, 5.0, 1, aa.DelayConfig(4))
    sim.play()
    assert actuators.stability().stable


def test_integral_that_swings_up_is_shown_and_not_warned_of() -> None:
    sim = aa.Simulation(ROBOTS / "pendulum.usda")
    motor = {"hinge": [aa.PIDControlConfig(100.0, 10.0, 0.0)]}
    actuators = aa.ArticulationActuators.from_configs("/World/Pendulum", motor)
    sim.play()
    table = actuators.stability()
    assert not table.stable and table.robots[0].largest_step == 0.0 and table.joints[0].smallest_armature == np.inf


def test_robots_with_gains_of_their_own_have_rows_of_their_own() -> None:
    sim, actuators = pendulums(1 / 60, 5.0, 4)
    sim.play()
    controller: Any = actuators.actuators[0].controller
    controller.kd = wp.array([5.0, 60.0, 5.0, 5.0], dtype=wp.float32, device="cpu")
    table = actuators.stability()
    assert [robot.stable for robot in table.robots] == [True, False, True, True]
    assert [joint.robot for joint in table.joints] == [f"/World/envs/env_{i}/Pendulum" for i in range(4)]
    assert table.joints[0].margin == table.joints[3].margin
    assert [row.robot for row in actuators.stability(indices=[1]).robots] == ["/World/envs/env_1/Pendulum"]
    assert actuators.stability(indices=[1], dt=1 / 1000).stable


def test_joints_without_known_law_are_named(robots: Path) -> None:
    sim = aa.Simulation(robots / "arm_2dof.usda")
    ones = [wp.ones(1, dtype=wp.float32, device="cpu") for _ in range(5)]
    pairs = [(aa.ActuatorConfig(OwnController(*ones)), "shoulder")]
    actuators = aa.ArticulationActuators.from_actuators("/World/Arm", pairs)
    sim.play()
    table = actuators.stability()
    assert table.unknown == ("shoulder",) and table.joints == () and table.robots[0].verdict == "unknown"
    assert "unknown at dt" in str(table) and '"verdict": "unknown"' in table.to_json()


def test_floating_robot_is_free_to_recoil() -> None:
    sim = aa.Simulation(ROBOTS / "anymal_c.usda")
    actuators = aa.ArticulationActuators("/World/Anymal")
    sim.play()
    whole = actuators.articulation.get_mass_matrices().numpy()[0].astype(float)  # pyright: ignore[reportAttributeAccessIssue]
    assert whole.shape == (18, 18)
    expected = 1 / np.diag(np.linalg.inv(whole))[6:]
    assert [row.inertia for row in actuators.stability().joints] == pytest.approx(expected, rel=1e-6)


def test_simulator_without_mass_matrices_says_so(leg: Leg) -> None:
    actuators = leg.wrap("hip")
    leg.host.play()
    with pytest.raises(HostError, match=r"ArrayArticulation tells no mass matrices .* stability_of\(\)"):
        actuators.stability(dt=0.01)


def test_a_wrapper_without_actuators_says_so() -> None:
    with aa.Simulation(ROBOTS / "arm_2dof.xml") as sim, pytest.warns(UserWarning, match="no actuator found"):
        actuators = aa.ArticulationActuators("arm")
        sim.play()
        with pytest.raises(HostError, match="has no actuators: must have some"):
            actuators.stability()


def test_stopped_physics_says_so() -> None:
    refused(HostError, pendulums(1 / 60, 5.0)[1].stability, "play")


@cases("assumed, chatters", (0.5, False), (1.9, False), (2.6, True))
def test_friction_that_assumes_too_much_inertia_is_named(assumed, chatters, monkeypatch) -> None:
    stage = ROBOTS / "pendulum.usda"
    monkeypatch.delattr(MujocoArticulation, "joint_signals")
    motor = [aa.PDControlConfig(100.0, 5.0), aa.MaxEffortClampingConfig(10.0)]
    with aa.Simulation(stage, 1 / 240) as sim:
        sim.play()
        without = aa.ArticulationActuators.from_configs("/World/Pendulum", {"hinge": motor}).stability()
    friction = aa.FrictionConfig(coulomb=0.5, viscous=0.1, assumed_inertia=assumed * without.joints[0].inertia)
    with aa.Simulation(stage, 1 / 240) as sim, warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        actuators = aa.ArticulationActuators.from_configs("/World/Pendulum", {"hinge": [*motor, friction]})
        sim.play()
        table = actuators.stability()
    assert table.joints == without.joints and table.robots == without.robots and table.stable
    texts = [str(one.message) for one in told if "chatter" in str(one.message)]
    assert len(texts) == len(table.chatter) == chatters
    if chatters:
        (one,) = table.chatter
        assert (one.robot, one.joint) == ("/World/Pendulum", "hinge")
        assert one.assumed / one.inertia == pytest.approx(assumed, rel=1e-5)
        assert "hinge has assumed_inertia = " in texts[0] and "2.6 times its inertia" in texts[0]
        assert "Give at most 2 times the inertia; less is safe" in texts[0]
        assert str(table).splitlines()[-1].startswith("may chatter: hinge has assumed_inertia")
        assert json.loads(table.to_json())["chatter"][0]["joint"] == "hinge"


def test_inertia_of_the_simulator_is_not_assumed() -> None:
    """MuJoCo gives it, so that the parameter has no effect."""
    sim, actuators = pendulums(1 / 240, 5.0, 1, aa.FrictionConfig(coulomb=0.5, assumed_inertia=1e3))
    sim.play()
    assert actuators.stability().chatter == ()


def test_viscous_friction_of_an_actuator_counts_as_damping(monkeypatch: pytest.MonkeyPatch) -> None:
    # a simulator that divides its step needs damping
    weight = 33 / 64
    monkeypatch.setattr(MujocoArticulation, "get_velocity_weights", lambda _, *, indices: np.full(len(indices), weight))
    stage, motor = ROBOTS / "pendulum.usda", [aa.PDControlConfig(400.0, 0.5), aa.MaxEffortClampingConfig(10.0)]
    for viscous in (0.0, 2.0):
        sim = aa.Simulation(stage, 1 / 240)
        friction = aa.FrictionConfig(viscous=viscous, assumed_inertia=0.1)
        actuators = aa.ArticulationActuators.from_configs("/World/Pendulum", {"hinge": [*motor, friction]})
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            sim.play()
        assert any("will vibrate" in str(one.message) for one in told) is (viscous == 0.0)
        assert not actuators.stability().stable
        sim.close()


def test_geared_motor_is_the_same_motor_at_the_joint() -> None:
    gear = aa.TransmissionConfig(-20.0, 0.3, rotor_inertia=1e-5)
    motors = [aa.PDControlConfig(0.5, 0.02), gear], aa.MotorConfig(aa.PDControlConfig(200.0, 8.0), armature=4e-3)
    tables = []
    for motor in motors:
        with aa.Simulation(ROBOTS / "pendulum.usda") as sim:
            sim.play()
            with aa.ArticulationActuators.from_configs("/World/Pendulum", {".*": motor}) as actuators:
                tables.append(actuators.stability())
    geared, direct = tables
    assert geared.left_out == direct.left_out == geared.unknown == ()
    for one, other in zip(geared.joints, direct.joints, strict=True):
        names = ("kp", "kd", "inertia", "margin", "largest_step")
        values = [(getattr(one, name), getattr(other, name)) for name in names]
        np.testing.assert_allclose(*zip(*values, strict=True), rtol=1e-5)


GRIPPER = """<mujoco model="gripper"><option timestep="0.002" gravity="0 0 0"/><worldbody><body name="palm" pos="0 0 1">
  {}<geom size=".05" contype="0" mass="1"/>
  <body><joint name="left" type="slide" axis="1 0 0"/><geom size=".01" contype="0" mass=".05"/></body>
  <body><joint name="right" type="slide" axis="-1 0 0"/><geom size=".01" contype="0" mass=".45"/></body>
</body></worldbody><equality>
  <joint joint1="right" joint2="left" polycoef="0 1 0 0 0"/><weld body1="palm" solref="0.004 1" active="{}"/>
</equality></mujoco>"""


@pytest.mark.filterwarnings("ignore:.*will vibrate:UserWarning")
@cases("is_sparse", False, True)
@cases("joints", "left", ".*")
@cases("base, is_held", ("", "false"), ("<freejoint/>", "true"))
def test_stability_of_joints_that_are_tied(base, is_held, joints, is_sparse, tmp_path) -> None:
    """A follower counts, and a loop, as soft as MuJoCo has them: robots are at rest up to the margin."""
    text = GRIPPER.format(base, is_held).replace("<option", f'<option jacobian="{"sparse" if is_sparse else "dense"}"')
    (file := tmp_path / "gripper.xml").write_text(text)
    with aa.Simulation(file) as sim:
        sim.play()
        actuators = aa.ArticulationActuators.from_configs("palm", {joints: [aa.PDControlConfig(0.0, 100.0)]})
        margin = actuators.stability().robots[0].margin
        # alone, the finger has 0.05 kg, and a margin of 0.5
        assert 1.5 < margin < 3.0
        actuators.close()
        for share in (0.9, 1.25):
            sim.reset()
            gains = aa.PDControlConfig(0.0, share * margin * 100.0)
            actuators = aa.ArticulationActuators.from_configs("palm", {joints: [gains]})
            assert actuators.stability().stable is (share < 1.0)
            actuators.articulation.set_dof_velocities([[PUSH, PUSH]])
            actuators.articulation.set_dof_velocity_targets(0.0)
            sim.step(200)
            speed = np.abs(actuators.articulation.get_dof_velocities().numpy()).max()
            assert not speed > 0.1 * PUSH if share < 1.0 else not speed < PUSH
            actuators.close()


@cases(
    "encoder, factor",
    (aa.EncoderConfig(velocity="register"), 0.58),
    (aa.EncoderConfig(velocity="register"), 0.72),
    (aa.EncoderConfig(latency=0.004), 0.65),
    (aa.EncoderConfig(latency=0.004), 0.8),
    (aa.EncoderConfig(velocity="register", latency=0.004, side="motor"), 4.8),
)
def test_loops_have_the_spring_of_an_elastic_gear(encoder, factor) -> None:
    gear = aa.ElasticTransmissionConfig(1.0, rotor_inertia=0.05, stiffness=100.0, damping=0.2)
    law = aa.PDControlConfig(60.0 * factor, 2.0 * factor)
    with aa.Simulation(ROBOTS / "pendulum.usda", 1 / 240) as sim:
        actuators = aa.ArticulationActuators.from_configs("/World/Pendulum", {"hinge": [law, gear, encoder]})
        sim.play()
        (loop,) = actuators._loops().loops(np.zeros(1, int))
        sim.articulation("/").set_dof_position_targets(0.001)
        with actuators.record() as log:
            sim.step(3000)
    speed = np.abs(log.velocities[:, 0, 0]).astype(float)
    # gravity and rounding are a small part of it
    growth = (speed[1700:2000].max() / speed[700:1000].max()) ** (1 / 1000)
    assert growth == pytest.approx(loop.radius(1 / 240), abs=6e-4)
