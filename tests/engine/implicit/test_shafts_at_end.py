"""Efforts of the end of the step of motors that move several joints: solved at the shaft, of inertia 1/(G·M⁻¹·Gᵀ)."""

# MuJoCo ships no type stubs
# pyright: reportAttributeAccessIssue=false

from pathlib import Path
from typing import Any

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from driven import driven
from isaacsim.core.experimental.actuators.base.errors import HostError
from isaacsim.core.experimental.actuators.laws.contract.coupling import Shafts, coupled_inertias
from isaacsim.core.experimental.actuators.simulators.mujoco.address import mujoco
from one_inertia import signals_of

NAMES, DT = ["a", "b", "c"], 2e-3
MASS = np.array([[3.0, 0.8, 0.3], [0.8, 1.5, 0.2], [0.3, 0.2, 0.9]]) * 1e-3
KP, KD, MOST = 40.0, 0.5, 1.5


def motor(shaft: aa.LinkageConfig, *stages: Any, **mode: Any) -> list[Any]:
    return [aa.PDControlConfig(KP, KD), aa.MaxEffortClampingConfig(MOST), *stages, shaft, aa.ImplicitConfig(**mode)]


def solved(inverse: np.ndarray, rows: np.ndarray, state: list[np.ndarray], pulls: bool) -> np.ndarray:
    """Efforts of shafts by bisection, each with its coupled inertia among all of them."""
    q, qd, target, load = state
    gain = DT / coupled_inertias(rows @ inverse @ rows.T)
    known = rows @ inverse @ load / np.diagonal(rows @ inverse @ rows.T)

    def law(effort: np.ndarray) -> np.ndarray:
        speed = rows @ qd + gain * (effort - known)
        wanted = KP * (rows @ (target - q) - DT * speed) - KD * speed
        return np.maximum(np.clip(wanted, -MOST, MOST), 0.0 if pulls else -np.inf)

    low, high = np.full(len(rows), -2 * MOST), np.full(len(rows), 2 * MOST)
    for _ in range(80):
        middle = 0.5 * (low + high)
        rises = law(middle) > middle
        low, high = np.where(rises, middle, low), np.where(rises, high, middle)
    return 0.5 * (low + high)


@pytest.mark.usefixtures("backend")
@pytest.mark.slow("Warp")
@pytest.mark.parametrize("pulls", [False, True])
@pytest.mark.parametrize("count", [1, 2])
def test_effort_is_that_of_the_end_of_the_step_at_the_shaft(count: int, pulls: bool) -> None:
    rows = np.array([[1.0, 0.6, 0.3], [0.0, 1.0, -0.5]])[:count]
    shafts = [aa.LinkageConfig(NAMES, row.tolist(), unilateral=pulls) for row in rows]
    robots, rng = 7, np.random.default_rng(3)
    arrays = aa.ActuatedArrays(NAMES, dict(zip(NAMES, map(motor, shafts), strict=False)), robots)
    arrays.set_mass_matrix(MASS)
    slack = 0
    for _ in range(12):
        q, qd, target, load = 0.05 * rng.normal(size=(4, robots, 3)).astype(np.float32)
        qd *= 20
        arrays.set_loads(load, are_whole=True)
        efforts = np.array(arrays.step(q, qd, target, DT), float)
        for at in range(robots):
            state = [one[at].astype(float) for one in (q, qd, target, load)]
            expected = solved(np.linalg.inv(MASS), rows, state, pulls)
            np.testing.assert_allclose(efforts[at], rows.T @ expected, rtol=2e-4, atol=2e-4)
            np.testing.assert_allclose(qd[at] @ efforts[at], (rows @ qd[at]) @ expected, rtol=1e-3, atol=1e-3)
            slack += int((np.abs(expected) < 1e-9).sum())
    assert not arrays.faults and (slack > 10) == pulls


def test_load_of_a_shaft_is_that_of_all_joints_with_a_motor_or_not() -> None:
    rng, row, found = np.random.default_rng(4), np.array([[1.0, 0.6, 0.0]]), []
    q, qd, target, load = 0.05 * rng.normal(size=(4, 3)).astype(np.float32)
    tendon = {"a": motor(aa.LinkageConfig.tendon({"a": 1.0, "b": 0.6}))}
    for others in ({}, {"c": [aa.PDControlConfig(1.0, 0.1)]}):
        arrays = aa.ActuatedArrays(NAMES, tendon | others)
        arrays.set_mass_matrix(MASS)
        arrays.set_loads(10 * load, are_whole=True)
        found.append(np.array(arrays.step(q, qd, target, DT))[:2])
    state = [one.astype(float) for one in (q, qd, target, 10 * load)]
    expected = solved(np.linalg.inv(MASS), row, state, pulls=False)
    np.testing.assert_allclose(found[0], [expected[0], 0.6 * expected[0]], rtol=2e-4)
    assert np.abs(expected[0]) < MOST and (found[0] == found[1]).all()


def test_what_was_limited_is_told_and_a_fault_is_that_of_the_linkage() -> None:
    shaft = aa.LinkageConfig.tendon({"a": 1.0, "b": 0.5}, unilateral=True)
    arrays = aa.ActuatedArrays(NAMES, {"a": motor(shaft), "c": [aa.PDControlConfig(1.0, 0.1), aa.ImplicitConfig()]}, 2)
    arrays.set_mass_matrix(MASS)
    zero, target = np.zeros((2, 3), np.float32), np.array([[-1.0, 0, 0.1], [1.0, 0, 0.1]], np.float32)
    with arrays.record() as log:
        efforts = np.array(arrays.step(zero, zero, target, DT))
    assert log.limited_by[0, :, 0].tolist() == ["LinkageShaft", "ClampingMaxEffort"] and not efforts[0, :2].any()
    np.testing.assert_allclose(log.motor_efforts[0], efforts)
    speeds = zero.copy()
    speeds[1, 1] = np.nan
    again = np.array(arrays.step(zero, speeds, target, DT))
    assert {one.dof_name for one in arrays.faults} == {"a", "b"} and {one.robot for one in arrays.faults} == {1}
    assert not again[1, :2].any() and again[1, 2] == again[0, 2] != 0.0


def test_shafts_and_joints_that_are_stepped_one_by_one_contract_together() -> None:
    """The inverse inertias of all of them, as a diagonal, are at least the inverse mass matrix G·M⁻¹·Gᵀ."""
    rng = np.random.default_rng(5)
    for _ in range(300):
        factor = rng.normal(size=(6, 6)) * 10.0 ** rng.uniform(-1, 1, 6)
        inverse = factor @ factor.T + 1e-3 * np.eye(6)
        rows, linked = np.zeros((3, 6)), np.zeros((3, 6), bool)
        rows[:2, :3], rows[2, 3:5] = rng.normal(size=(2, 3)), rng.normal(size=2)
        linked[:2, :3], linked[2, 3:5] = True, True
        alone = np.arange(6) == 5
        shafts = Shafts([0, 1, 3], rows, np.ones(3), linked, np.ones(3, bool), alone)
        found = shafts.signals(inverse[None], range(6))["shaft_inertia"][0]
        among = np.concatenate([rows, np.eye(6)[alone]])
        inertias = np.concatenate([found, coupled_inertias(inverse)[alone]])
        least = np.linalg.eigvalsh(np.eye(4) - (among @ inverse @ among.T) * np.sqrt(np.outer(inertias, inertias)))
        assert least.min() > -1e-9


FINGER = """
<mujoco><option timestep="0.002" gravity="0 0 -9.81"/><default><joint axis="0 1 0" damping=".0005"/>
<geom type="capsule" size=".008" fromto="0 0 0 .03 0 0" contype="0" conaffinity="0"/></default><worldbody>
<body name="finger"><joint name="a" stiffness=".05"/><geom/>
<body pos=".03 0 0"><joint name="b" stiffness=".05"/><geom/>
<body pos=".03 0 0"><joint name="c" stiffness=".02"/><geom/></body></body></body></worldbody></mujoco>
"""


def finger(kp: float, kd: float, *mode: Any, ticks: int = 1500) -> tuple[np.ndarray, np.ndarray]:
    """Angles of a tendon over two joints of a finger, beside a joint with a motor of its own, and all speeds."""
    shaft = aa.LinkageConfig.tendon({"a": 1.0, "b": 0.6})
    limit = aa.MaxEffortClampingConfig(0.5)
    motors = {"a": [aa.PDControlConfig(kp, kd), limit, shaft, *mode], "c": [aa.PDControlConfig(kp, kd), limit, *mode]}
    angles, speeds = [], []
    model = mujoco.MjModel.from_xml_string(FINGER)
    with aa.MujocoSimulation(model, data := mujoco.MjData(model)) as sim:
        robot, actuators = sim.articulation("finger"), driven("finger", motors)
        robot.set_dof_position_targets(np.array([[0.3, 0.2, -0.2]]))
        for _ in range(ticks):
            sim.step()
            angles.append(data.qpos[0] + 0.6 * data.qpos[1])
            speeds.append(np.abs(data.qvel).max())
        assert not actuators.faults
    return np.array(angles), np.array(speeds)


def test_stiff_tendon_is_at_rest_where_an_explicit_one_vibrates() -> None:
    for kp, kd in ((5.0, 0.1), (500.0, 10.0)):
        with pytest.warns(UserWarning, match="will vibrate"):
            _, restless = finger(kp, kd)
        angles, speeds = finger(kp, kd, aa.ImplicitConfig())
        assert restless[-200:].max() > 100.0 and speeds[-200:].max() < 1e-2
        # it holds the finger against gravity and springs
        assert abs(angles[-1] - 0.42) < 0.01 / kp


TENDON = (
    """<tendon><fixed name="rope"><joint joint="a" coef="2"/><joint joint="b" coef="1.2"/></fixed></tendon></mujoco>"""
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "finger.xml"
    path.write_text(FINGER.replace("</mujoco>", TENDON))
    return path


@pytest.mark.parametrize("num_envs", [1, 2])
def test_simulator_takes_the_slope_of_a_tendon_over(file: Path, num_envs: int) -> None:
    """(M + h·(h·kp + kd)·gᵀg)·(v⁺ − v) = h·(gᵀ·(kp·(target − φ − h·φ̇) − kd·φ̇) − bias), of all joints together."""
    g, kp, kd = np.array([1.0, 0.6, 0.0]), 500.0, 10.0
    shaft = aa.LinkageConfig.tendon({"a": 1.0, "b": 0.6})
    motors = {"a": [aa.PDControlConfig(kp, kd), shaft, aa.ImplicitConfig(in_engine=True)]}
    with aa.Simulation(file, DT, num_envs) as sim:
        with pytest.warns(UserWarning, match="joints c have no motor"):
            actuators = aa.ArticulationActuators.from_configs(".*", motors)
        sim.play()
        robot = actuators.articulation
        free = np.array([[0.05, 0.02, 0.0]] * num_envs, np.float32)
        for tick in range(300):
            robot.set_dof_position_targets(free)
            q, v = (np.array(one().numpy(), float) for one in (robot.get_dof_positions, robot.get_dof_velocities))
            mass = np.array(robot.get_mass_matrices().numpy(), float)
            loads = (
                robot.get_dof_gravity_compensation_forces,
                robot.get_dof_coriolis_and_centrifugal_compensation_forces,
            )
            bias = sum(np.array(one().numpy(), float) for one in loads)
            springs = np.array([0.05, 0.05, 0.02]) * q
            sim.step()
            if tick in (0, 3, 299):
                pulled = kp * (free - q - DT * v) @ g - kd * v @ g
                push = pulled[:, None] * g - bias - springs - 5e-4 * v
                whole = mass + DT * (5e-4 * np.eye(3) + (kd + DT * kp) * np.outer(g, g))
                expected = v + DT * np.linalg.solve(whole, push[:, :, None])[:, :, 0]
                found = np.array(robot.get_dof_velocities().numpy(), float)
                np.testing.assert_allclose(found, expected, rtol=2e-3, atol=2e-3)
        assert np.abs(found).max() < 0.1 and abs(g @ q[0] - g @ free[0]) < 1e-4 and not actuators.faults


def test_taking_over_a_tendon_can_be_switched_off_and_on(file: Path) -> None:
    motors = {"a": motor(aa.LinkageConfig.tendon({"a": 1.0, "b": 0.6}), in_engine=True)}
    with aa.Simulation(file, DT) as sim:
        actuators = driven(".*", motors)
        sim.play()
        robot = actuators.articulation
        robot.set_dof_position_targets(np.array([[0.05, 0.02, 0.0]], np.float32))
        (mode,) = [stage for stage in actuators.actuators[0].stages if isinstance(stage, aa.ImplicitEffort)]
        for switch, has_armature in ((1.0, True), (0.0, False), (1.0, True)):
            mode.in_engine.fill_(switch)
            sim.step(50)
            assert bool(sim._host._fields.added_to_tendons.any()) == has_armature
        assert not actuators.faults


def test_cable_in_the_simulator_pulls_within_its_limits(file: Path) -> None:
    shaft = aa.LinkageConfig.tendon({"a": 1.0, "b": 0.6}, unilateral=True)
    mode = aa.ImplicitConfig(in_engine=True)
    cable = [aa.PDControlConfig(20.0, 0.4), aa.MaxEffortClampingConfig(0.2), shaft, mode]
    found = []
    for motors in ({"a": cable, "c": [aa.PDControlConfig(20.0, 0.4), mode]}, {"a": cable}):
        with aa.Simulation(file, DT) as sim:
            actuators = driven(".*", motors)
            sim.play()
            with actuators.record() as log:
                for target in (0.6, -0.2, 0.3):
                    actuators.articulation.set_dof_position_targets(np.array([[target, 0.5 * target, 0.0]], np.float32))
                    sim.step(400)
            pulled = log.applied_efforts[:, 0]
            np.testing.assert_allclose(pulled[:, 1], 0.6 * pulled[:, 0], rtol=1e-5, atol=1e-6)
            assert -1e-6 < pulled[:, 0].min() < 1e-6 and pulled[:, 0].max() < 0.2 + 1e-5
            assert "LinkageShaft" in log.limited_by[600:, 0, 0] and not actuators.faults
            assert np.abs(log.velocities[-1]).max() < 0.05
            if "c" in motors:
                # signals of joints are without the armature of the step
                mass = np.array(actuators.articulation.get_mass_matrices().numpy(), float)[0]
                told = signals_of(actuators)["inertia"][0]
                np.testing.assert_allclose(told.ravel(), 1 / np.linalg.inv(mass)[2, 2], rtol=1e-2)
            found.append(log.positions[-1, 0, :2] @ [1.0, 0.6])
    np.testing.assert_allclose(found, 0.39, atol=0.01)


def test_four_bar_knee_is_solved_at_its_crank_and_carries_a_load() -> None:
    bar = aa.LinkageConfig.four_bar("a", 0.05, 0.2, 0.06, 0.2, 0.7, 2.5, nodes=33)
    arrays = aa.ActuatedArrays(["a"], {"a": motor(bar)})
    arrays.set_mass_matrix([[2e-3]])
    # a table says what it is at its middle alone: the rest is learned
    arrays.set_loads([0.2], are_whole=True)
    q, speed, effort = 1.2, 0.0, 0.0
    for _ in range(3000):
        effort = float(arrays.step(*(np.full((1, 1), one, np.float32) for one in (q, speed, 1.25)), DT)[0, 0])
        speed += DT * (effort - 0.2) / 2e-3
        q += DT * speed
    assert abs(effort - 0.2) < 1e-3 and abs(q - 1.25) < 0.02 and abs(speed) < 1e-3 and not arrays.faults


def test_what_has_no_effort_at_the_end_of_the_step_is_named(tmp_path: Path) -> None:
    shaft = aa.LinkageConfig.tendon({"a": 1.0, "b": 0.5})
    for stage, remedy in (
        (aa.TransmissionConfig(2.0), "the other"),
        (aa.ShaftFrictionConfig(0.1), "the other"),
        (aa.FrictionConfig(0.1), "in_engine=True"),
    ):
        said = f"ImplicitConfig beside {type(stage).__name__}: must be left out.*{remedy}"
        with pytest.raises(ValueError, match=said):
            aa.ActuatedArrays(NAMES, {"a": motor(shaft, stage)})
    model = mujoco.MjModel.from_xml_string(FINGER)
    with aa.MujocoSimulation(model, mujoco.MjData(model)), pytest.raises(HostError, match="no armatures per physics"):
        driven("finger", {"a": motor(shaft, in_engine=True)})
    # no tendon, and one across branches, of which MuJoCo has the diagonal alone
    branch = '<geom/></body></body><body pos="0 .03 0"><joint name="d"/><geom/></body></body>'
    forked = FINGER.replace("<geom/></body></body></body>", branch).replace(
        "</mujoco>", TENDON.replace('"b"', '"d"', 1)
    )
    forked = forked.replace('joint="a"', 'joint="b"')
    for text, joints in ((FINGER, "ab"), (forked, "bd")):
        (tmp_path / "other.xml").write_text(text)
        shaft = aa.LinkageConfig.tendon(dict(zip(joints, (1.0, 0.6), strict=True)))
        with aa.Simulation(tmp_path / "other.xml", DT) as sim:
            actuators = driven(".*", {joints[0]: motor(shaft, in_engine=True)})
            with pytest.raises(HostError, match=f"over joints {joints[0]}, {joints[1]}: must be a fixed tendon"):
                sim.play()
            actuators.close()


def test_motors_of_a_linkage_have_one_mode_and_an_inertia() -> None:
    first, second = aa.LinkageConfig.differential("a", "b")
    explicit = [aa.PDControlConfig(1.0, 0.1), second]
    with pytest.raises(ValueError, match="effort modes of the motors of joints a, b: must be the same"):
        aa.ActuatedArrays(NAMES, {"a": motor(first), "b": explicit})
    arrays = aa.ActuatedArrays(NAMES, {"a": motor(first), "b": motor(second)})
    zero = np.zeros((1, 3), np.float32)
    with pytest.raises(ValueError, match=r"Joints a, b: ImplicitConfig needs the effective inertia"):
        arrays.step(zero, zero, zero, DT)


@pytest.mark.filterwarnings("ignore:.*no joint drive stands for")
def test_a_hand_comes_to_rest_at_the_same_place_in_every_mode() -> None:
    path = Path(__file__).parents[3] / "data" / "robots" / "shadow_hand.xml"
    motors = aa.motors_of_model(mujoco.MjModel.from_xml_path(str(path)))
    places = []
    for mode in ("explicit", "implicit", "in_engine"):
        with aa.Simulation(path) as sim:
            actuators = aa.ArticulationActuators.from_configs(".*", motors, effort_mode=mode)
            sim.play()
            robot = actuators.articulation
            robot.set_dof_position_targets(np.full((1, robot.num_dofs), 0.3, np.float32))
            sim.step(1500)
            places.append(np.array(robot.get_dof_positions().numpy())[0])
            assert not actuators.faults
    assert np.abs(np.array(places[1:]) - places[0]).max() < 2e-3
