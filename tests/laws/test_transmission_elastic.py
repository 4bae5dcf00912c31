"""Two masses on a spring with backlash: period, energy, contact, load, statics, and the same system in MuJoCo."""

import math

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from one_inertia import joints_of, state_of
from two_masses import Cases, TwoMasses, energies

DT, REFERENCE = 1e-3, 5e-5
ROTOR, JOINT = 0.03, 0.05


def gear(count: int = 1, *, ratio: float = 50.0, rotor=ROTOR, **values) -> aa.ElasticTransmissionConfig:
    given = {"stiffness": 100.0, "assumed_inertia": JOINT} | values
    wide = {name: np.broadcast_to(np.asarray(one, float), count).copy() for name, one in given.items()}
    return aa.ElasticTransmissionConfig(ratio, rotor_inertia=np.full(count, rotor) / ratio**2, **wide)


def stiffness_of(product, dt: float):
    return (np.asarray(product) / dt) ** 2 / (1 / ROTOR + 1 / JOINT)


def periods(stiffness: np.ndarray, dt: float) -> np.ndarray:
    """Periods of the deflection of springs that are let go, from its zero crossings [s]."""
    count = len(stiffness)
    free = TwoMasses(gear(count, stiffness=stiffness), np.full(count, JOINT), dt, deflection=0.01)
    crossings: list[list[float]] = [[] for _ in range(count)]
    before = np.full(count, 0.01)
    for number in range(1, round(2.1 * 2 * math.pi / math.sqrt(stiffness.min() * (1 / ROTOR + 1 / JOINT)) / dt)):
        free.step()
        now = free.rotors[0] - free.q
        for at in np.flatnonzero(before * now < 0):
            crossings[at].append((number - now[at] / (now[at] - before[at])) * dt)
        before = now
    assert min(map(len, crossings)) >= 4
    return np.array([(one[3] - one[0]) * 2 / 3 for one in crossings])


def eigenvalue_period(product: float) -> float:
    """Period in steps of an oscillator whose spring acts of the position a share of a step later."""
    # v⁺ = v - a·(x + ahead·v⁺), x⁺ = x + v⁺, in steps
    a = product**2
    ahead = 0.9 * np.clip((16 * a - 1) / 3, 0, 1)
    after = np.array([-a, 1.0]) / (1 + ahead * a)
    return 2 * math.pi / abs(np.angle(np.linalg.eigvals(np.array([np.array([1.0, 0.0]) + after, after]))[0]))


def test_period_is_that_of_a_fine_step() -> None:
    """Within 0.3 % up to h·ω = 0.25 and 7 % up to 0.5, as the eigenvalues of the step have it."""
    products = np.array([0.1, 0.12, 0.15, 0.2, 0.24, 0.25, 0.3, 0.4, 0.5])
    stiffness = stiffness_of(products, DT)
    error = periods(stiffness, DT) / periods(stiffness, REFERENCE) - 1
    steps = [eigenvalue_period(product) * product / (2 * math.pi) for product in products]
    np.testing.assert_allclose(error, np.array(steps) - 1, atol=1e-3)
    assert (np.abs(error[:6]) < 0.003).all() and (np.abs(error[6:]) < 0.07).all()


def ratio_of_decay(product: float, asked: float) -> float:
    """Damping ratio of a free oscillation, from its energy after twelve periods."""
    stiffness, reduced = stiffness_of(product, DT), 1 / (1 / ROTOR + 1 / JOINT)
    config = gear(stiffness=stiffness, damping=2 * asked * math.sqrt(stiffness * reduced))
    free = TwoMasses(config, np.array([JOINT]), DT, deflection=0.01)
    first, count = free.energy(), round(24 * math.pi / product)
    for _ in range(count):
        free.step()
    return math.log((first / free.energy(0.5)).item()) / (2 * count * product)


@pytest.mark.parametrize("product", [0.03, 0.1, 0.2, 0.249])
def test_damping_is_what_is_asked_for(product) -> None:
    """A ratio of 0.02 within 2 % up to h·ω = 1/4, and none without damping."""
    assert ratio_of_decay(product, 0.02) == pytest.approx(0.02, rel=0.02)
    assert ratio_of_decay(product, 0.0) == pytest.approx(0.0, abs=2e-4)


@pytest.mark.parametrize(("product", "added"), [(0.3, 0.0198), (0.35, 0.0504), (0.4, 0.0936)])
def test_a_faster_spring_is_damped(product, added) -> None:
    """By half of ϑ·h·ω."""
    assert ratio_of_decay(product, 0.0) == pytest.approx(added, rel=0.05)


def test_resonance_is_as_high_as_the_damper_lets_it() -> None:
    """Of J 0.02 and I 0.05 on 300 N·m/rad at 0.2 ms: 1/(2·ζ) of the effort that a rigid gear would have."""
    rotor, stiffness, dt, asked = 0.02, 300.0, 2e-4, 0.02
    reduced = 1 / (1 / rotor + 1 / JOINT)
    frequency = math.sqrt(stiffness / reduced)
    config = gear(rotor=rotor, stiffness=stiffness, damping=2 * asked * math.sqrt(stiffness * reduced))
    masses, efforts = TwoMasses(config, np.array([JOINT]), dt), []
    for number in range(12000):
        masses.step(effort=math.cos(frequency * number * dt))
        efforts.append(masses.effort[0])
    assert max(efforts[-500:]) == pytest.approx(JOINT / (rotor + JOINT) / (2 * asked), rel=0.02)


@pytest.mark.parametrize("told", [False, True])
def test_energy_is_never_above_its_start(told) -> None:
    """But for (h·ω)²/2 of it, in the middle of steps: soft and too stiff springs, other inertias and held joints."""
    cases = Cases(1e-3, (0.1, 0.25, 0.4, 0.5, 10.0), told).make()
    least, largest = energies(cases, 3000 if told else 20000, every=40, dense=800)
    assert (largest <= cases.most_energy + 1e-6).all()
    assert cases.keeps_energy.sum() == 2 * 3 * 4 * 2 and (least[cases.keeps_energy] > 1 - 1e-4).all()
    assert cases.arrays.faults == []


def test_energy_of_a_motor_that_stops_goes_into_the_joint() -> None:
    stiffness = stiffness_of([0.1, 0.5, 0.5, 5.0, 50.0], DT)
    config = gear(5, stiffness=stiffness, backlash=[0.0, 0.0, 0.02, 0.0, 0.02])
    masses = TwoMasses(config, np.full(5, JOINT), DT, rotor_velocity=2.0, velocity=-0.5)
    for _ in range(500):
        masses.step()
        np.testing.assert_allclose(ROTOR * masses.rotors[1] + JOINT * masses.v, ROTOR * 2.0 - JOINT * 0.5, rtol=2e-5)


def test_rotor_flies_through_the_gap() -> None:
    backlash = 0.02
    masses = TwoMasses(gear(backlash=backlash), np.array([JOINT]), 1e-3, rotor_velocity=1.0)
    seen = []
    for _ in range(200):
        ahead = masses.rotors[0][0] - masses.q[0]
        masses.step()
        # by the deflection that it has at the end, at which it moves
        seen.append((ahead, state_of(masses.arrays, "rotor_position")[0] - masses.q[0], masses.effort[0]))
    found = np.array(seen)
    inside = np.abs(found[:, 1]) < backlash / 2 - 1e-6
    assert inside.sum() > 20 and (found[inside, 2] == 0).all() and (found[:, 2] * found[:, 1] >= 0).all()
    # forward over half the gap, then back over all of it
    assert found[:9, 2].max() == 0 < found[12, 2] and found[:, 2].min() < 0


def test_damped_teeth_stop_where_they_touch() -> None:
    for damping in (0.0, 1.0, 100.0):
        masses = TwoMasses(
            gear(backlash=0.02, damping=damping, stiffness=1.0), np.array([np.inf]), 0.015, rotor_velocity=1.0
        )
        masses.step()
        assert 0.01 - 1e-7 <= masses.rotors[0][0] < 0.015 and masses.effort[0] < 0.0 + ROTOR / 0.015


def test_drag_alone_slows_the_rotor_in_the_gap() -> None:
    masses = TwoMasses(gear(backlash=10.0, rotor_damping=2e-4), np.array([JOINT]), DT, rotor_velocity=1.0)
    drag = 2e-4 * 50.0**2
    for number in range(1, 50):
        masses.step()
        np.testing.assert_allclose(masses.rotors[1], (1 + DT * drag / ROTOR) ** -number, rtol=1e-5)


@pytest.mark.parametrize("told", [False, True])
@pytest.mark.parametrize("backlash", [0.0, 0.02])
def test_spring_carries_a_load(told, backlash) -> None:
    stiffness = stiffness_of([0.1, 0.3], DT)
    config = gear(2, stiffness=stiffness, backlash=backlash, damping=1.0)
    masses = TwoMasses(config, np.full(2, JOINT), DT, told=told)
    theta = np.zeros(2)
    for _ in range(2000):
        theta, omega = masses.rotors
        # a stiff motor holds the rotor
        masses.step(effort=-20.0 * theta - 2.0 * omega, load=3.0)
    np.testing.assert_allclose(masses.effort, -3.0, rtol=1e-4)
    np.testing.assert_allclose(masses.q - theta, 3.0 / stiffness + backlash / 2, rtol=2e-3)
    one = aa.ElasticTransmissionConfig(50.0, rotor_inertia=1e-5, stiffness=float(stiffness[0]), backlash=backlash)
    assert one.at_rest(-3.0) == pytest.approx(-3.0 / stiffness[0] - backlash / 2) and one.at_rest(0.0) == 0.0


@pytest.mark.parametrize("product", [0.3, 1.0, 10.0])
def test_a_stiff_spring_is_a_rigid_gear(product) -> None:
    """Rotor and joint move as one mass under a slow effort, whether the step resolves the spring or not."""
    masses = TwoMasses(gear(stiffness=stiffness_of(product, DT)), np.array([JOINT]), DT)
    rigid = np.zeros(2)
    for number in range(1000):
        effort = 0.4 * math.sin(2 * math.pi * number * DT)
        masses.step(effort=effort)
        rigid[1] += DT * effort / (ROTOR + JOINT)
        rigid[0] += DT * rigid[1]
    assert abs(masses.q[0] - rigid[0]) < 2e-3 * abs(rigid[0])


def test_light_rotor_hands_on_its_effort() -> None:
    masses = TwoMasses(gear(rotor=JOINT / 1000, stiffness=50.0), np.array([JOINT]), DT)
    for _ in range(25):
        masses.step(effort=0.7)
    np.testing.assert_allclose(masses.effort, 0.7 * 1000 / 1001, rtol=1e-3)


def test_motor_is_the_rotor() -> None:
    config = aa.ElasticTransmissionConfig(
        -20.0, offset=0.3, rotor_inertia=1e-4, stiffness=50.0, damping=0.1, backlash=0.01, assumed_inertia=JOINT
    )
    stages = [aa.PDControlConfig(0.02, 0.004), aa.MaxEffortClampingConfig(0.05), config]
    arrays = aa.ActuatedArrays(["j"], {"j": stages})
    q = v = 0.0
    for _ in range(300):
        saved = arrays.save_state()
        theta, omega = (float(saved[f"j.transmission.rotor_{name}"][0]) for name in ("position", "velocity"))
        theta, omega = (q, v) if math.isnan(theta) else (theta, omega)
        motor = 0.02 * (-20.0 * 0.2 - -20.0 * theta) - 0.004 * -20.0 * omega
        given = [np.array([one], np.float32) for one in (q, v, 0.2)]
        effort = float(arrays.step(*given, DT)[0])
        after = float(arrays.save_state()["j.transmission.rotor_velocity"][0])
        expected = (0.04 * (after - omega) / DT + effort) / -20.0
        assert np.clip(motor, -0.05, 0.05) == pytest.approx(expected, abs=2e-4)
        v += DT * effort / JOINT
        q += DT * v


def test_targets_may_be_those_of_the_motor() -> None:
    efforts = []
    for targets, target in (("joint", 0.2), ("motor", 20.0 * 0.2 + 0.3)):
        config = aa.ElasticTransmissionConfig(
            20.0, offset=0.3, targets=targets, rotor_inertia=1e-4, stiffness=50.0, assumed_inertia=JOINT
        )
        arrays = aa.ActuatedArrays(["j"], {"j": [aa.PDControlConfig(0.02, 0.004), config]})
        given = [np.array([one], np.float32) for one in (0.0, 0.0, target)]
        efforts.append([float(arrays.step(*given, DT)[0]) for _ in range(5)])
    np.testing.assert_allclose(efforts[0], efforts[1], rtol=1e-5)
    assert efforts[0][-1] != 0.0


def test_reset_puts_the_rotor_on_the_joint() -> None:
    arrays = joints_of(gear(2), 2)
    q, v = np.array([[0.3], [0.3]], np.float32), np.array([[1.0], [1.0]], np.float32)
    for _ in range(5):
        arrays.step(q, v, q, DT, feedforward=q)
    kept = state_of(arrays, "rotor_position")[1]
    arrays.reset(indices=[0])
    found = arrays.step(q + 1, v, q, DT)
    # unloaded, but for what it moves ahead in the step
    assert abs(found[0, 0]) < 1e-3 * abs(found[1, 0])
    np.testing.assert_allclose(state_of(arrays, "rotor_position")[0], 1.3 + DT, rtol=1e-6)
    assert abs(state_of(arrays, "rotor_position")[1] - kept) < 0.1


def test_rotors_are_recorded() -> None:
    config = aa.ElasticTransmissionConfig(30.0, rotor_inertia=3e-5, stiffness=80.0, assumed_inertia=JOINT)
    arrays = aa.ActuatedArrays(
        ["a", "b"], {"a": [aa.PDControlConfig(0.05, 0.004), config], "b": [aa.PDControlConfig(1, 0)]}
    )
    rest, expected = np.zeros(2, np.float32), []
    with arrays.record() as log:
        for _ in range(10):
            arrays.step(rest, rest, rest + 1, DT)
            saved = arrays.save_state()
            expected.append([saved[f"a.transmission.rotor_{name}"][0] for name in ("position", "velocity")])
    found = np.stack([log.rotor_positions, log.rotor_velocities], axis=-1)[:, 0]
    np.testing.assert_array_equal(found[:, 0], expected)
    assert not found[:, 1].any() and found[-1, 0, 0] > 0


def test_losses_are_friction_behind_the_spring() -> None:
    """A joint that the motor turns steadily gets its share of the power, with the inertia that the gear assumes."""
    config = aa.ElasticTransmissionConfig(
        20.0,
        **{"efficiency": 0.8, "backdriving_efficiency": 0.8, "assumed_inertia": JOINT},
        **{"rotor_inertia": 1e-4, "stiffness": 200.0, "damping": 1.0},
    )
    arrays = aa.ActuatedArrays(["j"], {"j": [aa.PDControlConfig(0.0, 0.0), config]})
    arrays.observe_efforts()
    q = v = effort = 0.0
    for _ in range(4000):
        given = [np.array([one], np.float32) for one in (q, v, 0.0, 2.0)]
        effort = float(arrays.step(*given[:3], DT, feedforward=given[3])[0])
        v += DT * (effort - 1.5 * v) / JOINT
        q += DT * v
    assert arrays.motor_efforts.item() == pytest.approx(2.0, rel=1e-3)
    assert effort == pytest.approx(0.8 * 2.0, rel=1e-3)


def test_armature_of_the_joint_is_none() -> None:
    rigid = aa.TransmissionConfig(50.0, rotor_inertia=2e-5)
    elastic = aa.ElasticTransmissionConfig(50.0, rotor_inertia=2e-5, stiffness=100.0, assumed_inertia=JOINT)
    law = aa.PDControlConfig(1.0, 0.1)
    arrays = aa.ActuatedArrays(["a", "b", "c"], {"a": [law, rigid], "b": [law, elastic], "c": [law]})
    np.testing.assert_allclose(arrays.joint_properties["armature"], [[0.05, 0.0, np.nan]], rtol=1e-6)


MODEL = """
<mujoco>
  <option timestep="5e-5" gravity="0 0 0" integrator="implicit"/>
  <worldbody>
    <body>
      <joint name="joint" axis="0 0 1" stiffness="20" damping="0.2"/>
      <inertial pos="0 0 0" mass="1" diaginertia="{joint} {joint} {joint}"/>
    </body>
    <body>
      <joint name="rotor" axis="0 0 1" damping="{drag}"/>
      <inertial pos="0 0 0" mass="1" diaginertia="{rotor} {rotor} {rotor}"/>
    </body>
  </worldbody>
  <tendon>
    <fixed stiffness="{stiffness}" damping="{damping}" springlength="-{half} {half}">
      <joint joint="rotor" coef="1"/><joint joint="joint" coef="-1"/>
    </fixed>
  </tendon>
  <actuator><motor joint="rotor"/></actuator>
</mujoco>
"""


@pytest.mark.parametrize(("backlash", "damping"), [(0.0, 0.3), (0.02, 0.0)])
def test_moves_as_two_bodies_in_mujoco(backlash, damping) -> None:
    """Rotor and joint as bodies on a spring with a dead band, at a twentieth of our step: within 3 % over a second."""
    mujoco = pytest.importorskip("mujoco")
    drag, stiffness = 0.05, 150.0
    numbers = {"joint": JOINT, "rotor": ROTOR, "drag": drag, "stiffness": stiffness, "damping": damping}
    model = mujoco.MjModel.from_xml_string(MODEL.format(**numbers, half=backlash / 2))
    data, dt = mujoco.MjData(model), 1e-3
    config = gear(stiffness=stiffness, damping=damping, backlash=backlash, rotor_damping=drag / 50.0**2)
    masses = TwoMasses(config, np.array([JOINT]), dt)
    found, expected = np.zeros((2, 1000, 2))
    for number in range(1000):
        data.ctrl[:] = effort = 2.0 * math.sin(2 * math.pi * 1.5 * number * dt) + 0.5
        for _ in range(20):
            mujoco.mj_step(model, data)
        expected[number] = data.qpos
        masses.step(effort=effort, load=-20.0 * masses.q - 0.2 * masses.v)
        found[number] = masses.q[0], masses.rotors[0][0]
    assert np.abs(expected).max() > 0.1
    error = np.sqrt(((found - expected) ** 2).mean(axis=0)) / np.sqrt((expected**2).mean(axis=0))
    assert (error < 0.03).all(), error
