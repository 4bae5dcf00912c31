"""Winding of a motor: the demand within the supply, the exact current, energy, saturation at any step, driver off."""

import math
import warnings

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from matrix_exponential import expm
from one_inertia import Plant, efforts_of, state_of, tell
from places import ROBOTS

K, R, L, INERTIA, VOLTS = 0.5, 0.2, 1e-4, 0.01, 24.0
# joints whose current settles in half a millisecond, and joints with hardly any inductance
DT = 0.005


def config(**values) -> aa.ElectricalConfig:
    return aa.ElectricalConfig(**{"torque_constant": K, "resistance": R, "voltage": VOLTS} | values)


def known(inertia: float, count: int) -> dict[str, np.ndarray]:
    """Inertia of a joint that is coupled with no other; 0 for one that is not known."""
    return dict.fromkeys(("inertia", "coupled_inertia"), np.full(count, inertia))


def unknown(count: int) -> dict[str, np.ndarray]:
    return known(0.0, count)


def test_unsaturated_demand_is_the_effort_exactly(rng) -> None:
    velocities, efforts = (rng.normal(size=4000).astype(np.float32) * scale for scale in (15.0, 20.0))
    for inertia in (0.0, 0.02):
        after = velocities + DT * efforts / inertia if inertia else velocities
        within = np.abs(R / K * efforts + K * after) < VOLTS * (1 - 1e-5)
        assert 0.2 < within.mean() < 0.99
        found, state = efforts_of(config(), velocities, efforts, DT, known(inertia, len(efforts)))
        np.testing.assert_array_equal(found[within], efforts[within])
        np.testing.assert_allclose(state["current"][within], efforts[within] / K, rtol=1e-6)
        assert (np.abs(found[~within]) < np.abs(efforts[~within])).any()
    # a regulated demand keeps what an implicit back-EMF would take from it
    found, _ = efforts_of(config(), np.zeros(1), np.full(1, 5.0), DT, known(INERTIA, 1))
    assert found == 5.0


def test_current_is_that_of_the_matrix_exponential() -> None:
    """A step of voltage at constant speed, at any step size, within 1e-6 of the current; its mean, too."""
    speed, volts = 7.0, 12.0
    for dt in (5e-3, 5e-4, 5e-5, 1e-6):
        plant = Plant(config(inductance=L, command="voltage"), math.inf, dt)
        for step in range(1, 6):
            plant.v[:] = speed
            plant.run(1, effort=volts)
            # current, its integral, and the constant
            rate = np.array([[-R / L, 0.0, (volts - K * speed) / L], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
            current, charge, _ = expm(rate * step * dt) @ [0.0, 0.0, 1.0]
            before = (expm(rate * (step - 1) * dt) @ [0.0, 0.0, 1.0])[1]
            assert plant.state("current")[0] == pytest.approx(current, rel=1e-6)
            assert plant.effort[0] == pytest.approx(K * (charge - before) / dt, rel=2e-6)


@pytest.mark.parametrize("inductance", [1e-3, L, 1e-5])
def test_energy_is_accounted_for(inductance, rng) -> None:
    """V·i = R·i² + d(L·i²/2)/dt + K·i·v over steps at constant speed, within 1e-6 of what flows."""
    plant = Plant(config(inductance=inductance, command="voltage"), math.inf, DT)
    drawn, heat, work, flow = 0.0, 0.0, 0.0, 0.0
    for _ in range(400):
        before, speed, volts = (
            plant.state("current")[0],
            *np.float32([rng.normal() * 20.0, np.clip(rng.normal() * 15.0, -VOLTS, VOLTS)]),
        )
        plant.v[:] = speed
        plant.run(1, effort=volts)
        settled, rate = (volts - K * speed) / R, R / inductance
        left = np.exp(-rate * DT)
        # of the square of a current that decays from `before` to `settled`
        decaying = 2 * settled * (before - settled) * (1 - left) / rate
        squares = settled**2 * DT + decaying + (before - settled) ** 2 * (1 - left**2) / (2 * rate)
        drawn += DT * plant.state("power")[0]
        heat += R * squares
        work += DT * plant.effort[0] * speed
        flow += abs(DT * plant.state("power")[0])
    stored = inductance * plant.state("current")[0] ** 2 / 2
    assert drawn == pytest.approx(heat + work + stored, abs=1e-6 * float(flow))


@pytest.mark.parametrize("inductance", [0.0, L, 1e-3])
@pytest.mark.parametrize("dt", [0.02, 0.005, 0.002, 0.0005])
def test_motor_at_its_supply_goes_to_no_load_speed(inductance, dt) -> None:
    plant = Plant(config(inductance=inductance), INERTIA, dt, told=True)
    highest = 0.0
    for _ in range(round(1.0 / dt)):
        plant.run(1, effort=1e3)
        highest = max(highest, plant.v[0])
    assert plant.v[0] == pytest.approx(VOLTS / K, rel=1e-4)
    # a winding of 5 ms swings with the joint
    swings = 4 * K**2 / INERTIA * inductance > R**2
    assert highest <= VOLTS / K * (1.1 if swings else 1.0001)


def test_speed_converges_to_that_of_the_motor_as_steps_get_short() -> None:
    rate = np.array([[-R / L, -K / L, VOLTS / L], [K / INERTIA, 0.0, 0.0], [0.0, 0.0, 0.0]])
    expected = (expm(rate * 0.02) @ [0.0, 0.0, 1.0])[1]
    for discretization in ("mean", "mujoco"):
        errors = []
        for dt in (5e-4, 2.5e-4, 1.25e-4):
            plant = Plant(config(inductance=L, discretization=discretization), INERTIA, dt, told=True)
            plant.run(round(0.02 / dt), effort=1e3)
            errors.append(abs(plant.v[0] - expected))
        assert errors[0] < 0.05 * expected and errors[2] < 0.35 * errors[0], (discretization, errors)


def test_limits_of_current_and_its_rate() -> None:
    found, _ = efforts_of(config(max_current=10.0), np.zeros(2), np.array([30.0, -30.0]), DT, unknown(2))
    np.testing.assert_allclose(found, [5.0, -5.0])
    derated = {"derating": np.full(2, 0.4)}
    found, _ = efforts_of(config(max_current=10.0), np.zeros(2), np.array([30.0, -30.0]), DT, unknown(2) | derated)
    np.testing.assert_allclose(found, [2.0, -2.0], rtol=1e-6)
    plant = Plant(config(max_current_rate=400.0), INERTIA, DT)
    efforts = []
    for _ in range(4):
        plant.run(1, effort=3.0)
        efforts.append(plant.effort[0])
    np.testing.assert_allclose(efforts, [1.0, 2.0, 3.0, 3.0], rtol=1e-6)


def test_braking_beyond_the_supply_exceeds_the_limit_of_the_driver() -> None:
    found, state = efforts_of(config(max_current=10.0), np.full(1, 2 * VOLTS / K), np.zeros(1), DT, unknown(1))
    assert found[0] == pytest.approx(-K * VOLTS / R, rel=1e-5) and state["power"][0] < 0.0


def test_driver_off_leaves_the_winding_open_or_shorted() -> None:
    """Open, the joint is free; shorted, it brakes with K²·v/R and settles at any step."""
    for driver, expected in (("open", 0.0), ("shorted", -(K**2) * 3.0 / R)):
        found, state = efforts_of(config(driver=driver), np.full(1, 3.0), np.full(1, 4.0), DT, unknown(1))
        assert found[0] == pytest.approx(expected, rel=1e-6) and state["power"][0] == 0.0
        assert state["terminal_voltage"][0] == pytest.approx(K * 3.0 if driver == "open" else 0.0)
    plant = Plant(config(driver="shorted"), 1e-4, 0.02, velocity=10.0, told=True)
    speeds = []
    for _ in range(50):
        plant.run(1)
        speeds.append(plant.v[0])
    assert min(speeds) >= -1e-6 and speeds[-1] < 1e-6


def test_driver_is_switched_at_run_time() -> None:
    """The parameter is a number in the plan: 0 on, 1 open, 2 shorted."""
    plant = Plant(config(), INERTIA, DT, robots=3)
    (actuator,) = plant.arrays.actuators
    winding = next(stage for stage in actuator.stages if type(stage).__name__ == "ElectricalWinding")
    winding.driver.assign(np.array([0.0, 1.0, 2.0], np.float32))
    plant.v[:] = 3.0
    plant.run(1, effort=4.0)
    np.testing.assert_allclose(plant.effort, [4.0, 0.0, -(K**2) * 3.0 / R], rtol=1e-6)


def test_warm_winding_has_more_resistance_and_less_torque() -> None:
    """The supply counts for less at 125 °C; the loss per effort² is published."""
    warm = config(temperature_coefficient=0.00393, magnet_coefficient=0.0011)
    signals = {"inertia": np.zeros(1), "temperature": np.full(1, 125.0), "magnet_rise": np.full(1, 50.0)}
    found, state = efforts_of(warm, np.full(1, 10.0), np.full(1, 1e3), DT, signals)
    hot_k, hot_r = K * (1 - 0.0011 * 50), R * 1.393
    assert found[0] == pytest.approx(hot_k * (VOLTS - hot_k * 10.0) / hot_r, rel=1e-5)
    assert state["winding_loss"][0] == pytest.approx(hot_r / hot_k**2, rel=1e-6)


def test_supply_counts_in_place_of_the_voltage() -> None:
    signals = {"inertia": np.zeros(1), "supply_voltage": np.full(1, 12.0)}
    found, _ = efforts_of(config(), np.full(1, 10.0), np.full(1, 1e3), DT, signals)
    assert found[0] == pytest.approx(K * (12.0 - K * 10.0) / R, rel=1e-6)


def test_command_in_volts() -> None:
    """A voltage makes a current, with the back-EMF of the velocity after the step."""
    told = known(INERTIA, 2)
    found, state = efforts_of(config(command="voltage"), np.array([0.0, 4.0]), np.array([6.0, 60.0]), DT, told)
    volts, velocity = np.array([6.0, 24.0]), np.array([0.0, 4.0])
    expected = K * (volts - K * velocity) / (R + K**2 * DT / INERTIA)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    np.testing.assert_allclose(state["terminal_voltage"], volts)
    # at the mean velocity of the step
    gained = expected * DT / INERTIA
    np.testing.assert_allclose(state["power"], volts * expected / K - expected * gained / 2, rtol=1e-6)


def test_winding_stands_between_controller_and_limits_on_every_engine(rng) -> None:
    stages = [config(inductance=L), aa.MaxEffortClampingConfig(8.0), aa.CoggingConfig(0.1, 6.0)]
    plant = Plant(stages, INERTIA, DT, robots=5, told=True)
    tell(plant.arrays, {"supply_voltage": np.linspace(2.0, 24.0, 5)})
    for _ in range(20):
        plant.run(1, effort=rng.normal(size=5) * 20.0)
    assert len(set(plant.effort)) == 5 and np.abs(plant.effort).max() <= 8.1
    plant.arrays.reset()
    plant.run(1)
    assert np.abs(state_of(plant.arrays, "current")).max() < 1e3


# ---- under load: a joint at its supply, hK²/(R·I) from .1 to 1000, with an inertia that is off by a factor
SUPPLIED = {"torque_constant": 0.5, "resistance": 0.4, "voltage": 24.0}
STALL = 0.5 * 24.0 / 0.4
FACTORS = np.array([0.1, 0.5, 1.0, 1.3])
ALPHAS = np.array([0.1, 1.0, 10.0, 100.0, 1000.0])


class Laden:
    """Joints under a load, every α = hK²/(R·I) with every factor of the told inertia; the host tells inertia alone."""

    def __init__(self, stages, alphas=ALPHAS, factors=FACTORS, host: str = "coupled_inertia") -> None:
        self.alphas, self.factors = (one.ravel() for one in np.meshgrid(alphas, factors))
        self.inertia = DT * 0.5**2 / (0.4 * self.alphas)
        self.plant = Plant(stages, self.inertia, DT, robots=len(self.alphas))
        told = self.factors * self.inertia * (2.0 if host == "inertia" else 1.0)
        tell(self.plant.arrays, {host: told})

    def run(self, steps: int, load: float = 0.0, held: bool = False) -> np.ndarray:
        """Efforts of the motors after steps in which more is asked of them than they have."""
        for _ in range(steps):
            if held:
                self.plant.v[:] = 0.0
            self.plant.run(1, effort=1e3, load=load)
        return self.plant.effort


@pytest.mark.parametrize("host", ["coupled_inertia", "inertia"])
@pytest.mark.parametrize("inductance", [0.0, 1e-3, 1e-2])
@pytest.mark.parametrize(("load", "speed"), [(-15.0, 24.0), (-29.0, 1.6), (0.0, 48.0)])
def test_speed_under_load_is_exact_whatever_the_inertia(load, speed, inductance, host) -> None:
    laden = Laden(config(**SUPPLIED, inductance=inductance), host=host)
    laden.run(3000, load)
    # float32, of which a light joint makes as much as its α
    assert (np.abs(laden.plant.v - speed) <= 1e-3 + 1e-4 * laden.alphas).all(), laden.plant.v


def test_held_joint_gets_the_torque_of_its_supply() -> None:
    """By α/(1 + α) a step, and draws no more than the winding turns to heat."""
    laden = Laden(config(**SUPPLIED))
    steps = 40
    found = laden.run(steps, held=True)
    alpha = laden.alphas / laden.factors
    np.testing.assert_allclose(found, STALL * (1 - (alpha / (1 + alpha)) ** steps), rtol=1e-4)
    heavy = Laden(config(**SUPPLIED), alphas=[0.1, 1.0])
    np.testing.assert_allclose(heavy.run(400, held=True), STALL, rtol=1e-5)
    np.testing.assert_allclose(heavy.plant.state("power"), 24.0**2 / 0.4, rtol=1e-5)


def test_whole_load_is_taken_as_it_is() -> None:
    plant = Plant(config(**SUPPLIED), 0.02, DT, told=True)
    plant.run(1, effort=1e3, load=-STALL)
    assert plant.effort[0] == pytest.approx(STALL, rel=1e-6) and abs(plant.v[0]) < 1e-4


def test_stop_does_not_kick() -> None:
    laden = Laden(config(**SUPPLIED), alphas=[0.1, 1.0, 10.0])
    laden.run(300)
    for _ in range(20):
        assert np.abs(laden.run(1, held=True)).max() <= STALL * (1 + 1e-6)


def test_limit_behind_a_winding_counts_as_load() -> None:
    laden = Laden([config(**SUPPLIED), aa.MaxEffortClampingConfig(10.0)], alphas=ALPHAS[:3])
    np.testing.assert_allclose(laden.run(2000, held=True), 10.0)
    np.testing.assert_allclose(laden.plant.state("current"), 60.0, rtol=1e-4)
    laden.run(3000, -9.0)
    np.testing.assert_allclose(laden.plant.v, (24.0 - 0.4 * 18.0) / 0.5, rtol=1e-3)


def test_load_shows_behind_a_gear() -> None:
    """A gear of 10 with a motor of a tenth of the torque: as without it."""
    geared = {**SUPPLIED, "torque_constant": 0.05}
    laden = [
        Laden([config(**geared), aa.TransmissionConfig(10.0)], alphas=ALPHAS[:3]),
        Laden(config(**SUPPLIED), alphas=ALPHAS[:3]),
    ]
    for load, steps in ((-15.0, 20), (-29.0, 2000)):
        for one in laden:
            one.run(steps, load)
        np.testing.assert_allclose(laden[0].plant.v, laden[1].plant.v, rtol=1e-3, atol=2e-3)


@pytest.mark.parametrize(("load", "speed"), [(-15.0, 24.0), (-29.0, 1.6)])
def test_rotor_on_a_spring_is_at_its_supply_too(load, speed) -> None:
    for drag, expected in ((0.0, speed), (0.1, (24.0 - 0.8 * -load) / (0.5 + 0.1 * 0.8))):
        gear = aa.ElasticTransmissionConfig(
            1.0, rotor_inertia=0.01, stiffness=300.0, damping=0.5, rotor_damping=drag, assumed_inertia=0.02
        )
        plant = Plant([config(**SUPPLIED), gear], 0.02, DT)
        plant.run(4000, effort=1e3, load=load)
        assert plant.v[0] == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("coupling", [0.5, 0.98, 1.5])
@pytest.mark.parametrize("alpha", [1.0, 10.0, 100.0])
def test_chain_with_strong_coupling_settles(coupling, alpha) -> None:
    joints = 6
    row = (coupling / (joints - 1)) * np.where(np.add.outer(range(joints), range(joints)) % 2, -1.0, 1.0)
    inverse = np.where(np.eye(joints) > 0, 1.0, np.clip(row, -0.97, 0.97)) * (0.4 * alpha / (DT * 0.5**2))
    arrays = aa.ActuatedArrays(
        [f"j{n}" for n in range(joints)], {".*": [aa.PDControlConfig(0.0, 0.0), config(**SUPPLIED)]}, num_robots=1
    )
    arrays.set_mass_matrix(np.linalg.inv(inverse))
    v, load = np.zeros(joints), np.linspace(-25.0, 25.0, joints)
    zero, asked = np.zeros((1, joints), np.float32), np.full((1, joints), 1e3, np.float32)
    for _ in range(4000):
        found = np.array(arrays.step(zero, np.float32(v)[None], zero, DT, feedforward=asked), np.float64)[0]
        v = v + DT * inverse @ (found + load)
    np.testing.assert_allclose(v, (24.0 + 0.8 * load) / 0.5, rtol=1e-3, atol=1e-2)


def test_state_of_an_earlier_version_is_restored() -> None:
    plant = Plant(config(**SUPPLIED), 0.02, DT, told=True)
    plant.run(3, effort=1e3)
    saved = plant.arrays.save_state()
    old = {name: one for name, one in saved.items() if not name.endswith((".previous_velocity", ".previous_effort"))}
    assert len(old) == len(saved) - 2
    plant.arrays.restore_state(old)
    now = plant.arrays.save_state()
    assert {name for name in now if not np.array_equal(now[name], saved[name])} == {*saved} - {*old}
    assert np.isnan(plant.state("previous_velocity")[0]) and plant.state("previous_effort")[0] == 0.0


@pytest.mark.usefixtures("backend")
@pytest.mark.slow("Warp")
def test_geared_joint_feels_the_same_beside_an_implicit_one() -> None:
    geared = [aa.PDControlConfig(0.0, 0.0), config(**SUPPLIED | {"torque_constant": 0.05}), aa.TransmissionConfig(10.0)]
    ends = []
    for other in (
        [aa.PDControlConfig(1.0, 0.1)],
        [aa.PDControlConfig(1.0, 0.1), aa.ImplicitConfig(assumed_inertia=0.02)],
    ):
        arrays = aa.ActuatedArrays(["a", "b"], {"a": geared, "b": other}, num_robots=1)
        tell(arrays, {"inertia": 0.05, "coupled_inertia": 0.02})
        zero = np.zeros((1, 2), np.float32)
        asked = np.array([[1e3, 0.0]], np.float32)
        for _ in range(3):
            found = np.array(arrays.step(zero, zero, zero, DT, feedforward=asked))[0, 0]
        ends.append(found)
    alpha = DT * 0.5**2 / (0.4 * 0.02)
    assert ends[0] == ends[1] == pytest.approx(STALL * (1 - (alpha / (1 + alpha)) ** 3), rel=1e-5)


def test_pendulum_rests_where_its_supply_holds_it() -> None:
    motor = [aa.PDControlConfig(1e4, 0.0), config(**SUPPLIED | {"voltage": 2.4})]
    with aa.Simulation(ROBOTS / "pendulum.usda", dt=DT) as sim, warnings.catch_warnings():
        # its gains shake without the limit of the winding
        warnings.simplefilter("ignore")
        actuators = aa.ArticulationActuators.from_configs("/World/Pendulum", {"hinge": motor})
        sim.play()
        actuators.articulation.set_dof_position_targets(2.5)
        sim.step(2000)
        with actuators.record() as log:
            sim.step(5)
    np.testing.assert_allclose(log.motor_efforts, 0.5 * 2.4 / 0.4, rtol=1e-4)
    np.testing.assert_allclose(log.electrical_power, 2.4**2 / 0.4, rtol=1e-4)
