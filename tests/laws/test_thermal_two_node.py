"""Heat of a motor: the exact step in float32, runaway, derating, I²t, and what a reset keeps."""

import math

import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators import ActuatedArrays, ElectricalConfig, PDControlConfig, ThermalConfig
from isaacsim.core.experimental.actuators.laws.contract import functions
from isaacsim.core.experimental.actuators.laws.contract.law import generated_kernel
from isaacsim.core.experimental.actuators.laws.thermal_two_node import slope_of_means
from matrix_exponential import expm
from one_inertia import joints_of, state_of

C_W, C_H, R_W, R_H, AMBIENT, CONSTANT = 20.0, 150.0, 1.0, 4.0, 25.0, 0.5
HOT = 30.0


def config(**values) -> ThermalConfig:
    usual = {"housing_capacity": C_H, "housing_resistance": R_H, "motor_constant": CONSTANT}
    return ThermalConfig(C_W, R_W, **usual | {"temperature_coefficient": 0.0} | values)


def effort_of(power: float) -> float:
    """Effort whose loss at 25 °C is a power [W]."""
    return CONSTANT * math.sqrt(power)


def run(arrays: ActuatedArrays, effort: float, dt: float, steps: int) -> None:
    rest = np.zeros((arrays.num_robots, len(arrays.dof_names)), np.float32)
    given = np.full_like(rest, effort)
    for _ in range(steps):
        arrays.step(rest, rest, rest, dt, feedforward=given)


def temperatures(arrays: ActuatedArrays) -> np.ndarray:
    """Temperatures of winding and housing, with their rounding errors, float64 `(2, joints)`."""
    states = [("temperature", "temperature_rest"), ("housing_temperature", "housing_rest")]
    return np.array([sum(state_of(arrays, name).astype(np.float64) for name in names) for names in states])


def rises(power: float, time: float) -> np.ndarray:
    """Rises of both temperatures under a constant power, by the matrix exponential [K]."""
    rate = np.zeros((3, 3))
    rate[0] = [-1 / (R_W * C_W), 1 / (R_W * C_W), power / C_W]
    rate[1, :2] = [1 / (R_W * C_H), -(1 / R_W + 1 / R_H) / C_H]
    return (expm(rate * time) @ [0.0, 0.0, 1.0])[:2]


# the hour itself is in tests/hardening/heat.py
@pytest.mark.parametrize(
    ("dt", "steps", "most"),
    [(1e-3, 60000, 1e-5), (5e-3, 20000, 1e-5), (1.0, 3600, 1e-4), (80.0, 10, 1e-4), (600.0, 6, 1e-4)],
)
def test_float32_is_the_matrix_exponential(dt, steps, most) -> None:
    """Of a step of power, at steps far below the last digit of a temperature, of some time constants and of many."""
    arrays = joints_of(config(), 1)
    effort = effort_of(HOT)
    run(arrays, effort, dt, steps)
    expected = AMBIENT + rises(float(np.float32(effort)) ** 2 / CONSTANT**2, float(np.float32(dt)) * steps)
    np.testing.assert_allclose(temperatures(arrays)[:, 0], expected, atol=most, rtol=0)


def test_slope_of_means_is_that_of_its_integral() -> None:
    text = """
def call(large: wp.array[float], small: wp.array[float], out: wp.array[float]):
    i = wp.tid()
    of_large = mean(large[i], exp(-large[i]))
    of_small = mean(small[i], exp(-small[i]))
    out[i] = slope(large[i], small[i], of_large, of_small)
"""
    means = {"slope": slope_of_means, "mean": functions.mean_of_decay, "exp": functions.exp}
    points = np.r_[0.0, np.geomspace(1e-6, 0.49999, 60), np.geomspace(0.5, 30.0, 40)].astype(np.float32)
    large, small = np.array([(x, y) for x in points for y in points if y <= x and (y < x or x < 0.5)]).T
    out = wp.zeros(len(large), dtype=wp.float32, device="cpu")
    given = [wp.array(one, dtype=wp.float32, device="cpu") for one in (large, small)]
    wp.launch(generated_kernel("call", text, means), len(large), given, [out], device="cpu")
    # g(x) is the integral of e^(-x·t) for t from 0 to 1, so the slope is that of t·e^(-(y + s·(x - y))·t)
    nodes, weights = np.polynomial.legendre.leggauss(40)
    t, s = 0.5 * (nodes + 1.0), 0.5 * (nodes[:, None] + 1.0)
    x, y = large.astype(np.float64)[:, None, None], small.astype(np.float64)[:, None, None]
    wanted = np.einsum("ist,s,t->i", t * np.exp(-(y + s * (x - y)) * t), 0.5 * weights, 0.5 * weights)
    apart = np.where(large < 0.5, np.inf, large - small)
    off = np.abs(out.numpy() - wanted)
    assert (off <= 1e-6 * wanted + 3e-7 / apart).all(), (off / (1e-6 * wanted + 3e-7 / apart)).max()


def test_rest_is_the_sum_of_the_resistances() -> None:
    arrays = joints_of(config(), 1)
    run(arrays, effort_of(HOT), 30.0, 2000)
    expected = [AMBIENT + HOT * (R_W + R_H), AMBIENT + HOT * R_H]
    np.testing.assert_allclose(temperatures(arrays)[:, 0], expected, rtol=1e-6)
    run(arrays, 0.0, 30.0, 2000)
    np.testing.assert_allclose(temperatures(arrays)[:, 0], AMBIENT, atol=1e-4)


def test_single_node_of_mujoco() -> None:
    """Without a capacity of the housing: an exponential of R·C toward power times R, the housing at ambient."""
    arrays = joints_of(ThermalConfig(C_W, R_W, motor_constant=CONSTANT, temperature_coefficient=0.0, ambient=40.0), 1)
    run(arrays, effort_of(HOT), 0.01, 1500)
    expected = 40.0 - HOT * R_W * math.expm1(-15.0 / (R_W * C_W))
    np.testing.assert_allclose(temperatures(arrays)[:, 0], [expected, 40.0], atol=2e-5)


def test_uncooled_housing_keeps_the_heat() -> None:
    arrays = joints_of(config(housing_resistance=math.inf), 1)
    run(arrays, effort_of(HOT), 0.01, 5000)
    stored = temperatures(arrays)[:, 0] - AMBIENT
    assert C_W * stored[0] + C_H * stored[1] == pytest.approx(HOT * 50.0, rel=1e-5)


def test_motor_runs_away_from_the_bound_on() -> None:
    """The loss then grows faster with the temperature than the heat that leaves: effort²·a·(R_w + R_h) ≥ K²."""
    bound = CONSTANT / math.sqrt(0.00393 * (R_W + R_H))
    arrays = {share: joints_of(config(temperature_coefficient=0.00393), 1) for share in (0.95, 1.0)}
    for share, one in arrays.items():
        run(one, share * bound, 2.0, 50000)
    power = (0.95 * bound / CONSTANT) ** 2
    expected = power * (R_W + R_H) / (1 - 0.95**2)
    assert temperatures(arrays[0.95])[0, 0] - AMBIENT == pytest.approx(expected, rel=1e-3)
    assert temperatures(arrays[1.0])[0, 0] > 10 * expected
    # beyond all numbers it is a fault, and the state stays a number
    run(arrays[1.0], 20 * bound, 1e3, 1000)
    assert np.isfinite(temperatures(arrays[1.0])).all() and arrays[1.0].faults


def test_loss_of_the_winding_counts_without_a_motor_constant() -> None:
    """R/K² at the temperature of the winding, one step late; a motor constant of its own takes precedence."""
    winding = ElectricalConfig(torque_constant=0.5, resistance=1.0, temperature_coefficient=0.00393)
    arrays = joints_of([winding, config(motor_constant=math.inf, temperature_coefficient=0.00393)], 1)
    other = joints_of(config(temperature_coefficient=0.00393), 1)
    for one in (arrays, other):
        run(one, effort_of(HOT), 1e-3, 20000)
    np.testing.assert_allclose(temperatures(arrays), temperatures(other), atol=3e-3)
    both = joints_of([winding, config(motor_constant=5.0)], 1)
    run(both, effort_of(HOT), 1e-3, 2000)
    assert temperatures(both)[0, 0] - AMBIENT < 0.011 * (temperatures(other)[0, 0] - AMBIENT)


def shares(arrays: ActuatedArrays) -> np.ndarray:
    return state_of(arrays, "derating").astype(np.float64)


def test_derating_falls_linearly_to_the_continuous_share() -> None:
    """1 until it starts, the continuous share from the largest temperature on."""
    arrays = joints_of(config(derating_start=60.0, max_temperature=100.0, continuous_share=0.3), 1)
    seen = []
    for _ in range(300):
        run(arrays, effort_of(HOT), 2.0, 1)
        seen.append((temperatures(arrays)[0, 0], shares(arrays)[0]))
    hot, left = np.array(seen).T
    np.testing.assert_allclose(left, 0.3 + 0.7 * np.clip((100.0 - hot) / 40.0, 0, 1), atol=1e-6)
    assert left.max() == 1.0 and left.min() == pytest.approx(0.3, rel=1e-6)
    off = joints_of(config(continuous_share=0.3), 1)
    run(off, effort_of(HOT), 1.0, 300)
    assert shares(off)[0] == 1.0


def test_derating_limits_the_current_of_the_winding() -> None:
    winding = ElectricalConfig(torque_constant=0.5, resistance=1.0, max_current=10.0)
    heat = config(motor_constant=math.inf, derating_start=25.0, max_temperature=45.0, continuous_share=0.5)
    arrays = joints_of([winding, heat], 1)
    rest, given = np.zeros((1, 1), np.float32), np.full((1, 1), 5.0, np.float32)
    before = 1.0
    for _ in range(20):
        effort = np.array(arrays.step(rest, rest, rest, 0.5, feedforward=given))[0, 0]
        assert effort == pytest.approx(5.0 * before, rel=1e-6)
        before = shares(arrays)[0]
    assert before < 0.9


def test_i2t_gives_the_peak_for_its_time_and_the_continuous_effort_for_ever() -> None:
    limit = ThermalConfig.i2t(continuous_effort=10.0, peak_effort=30.0, peak_time=3.0)
    peak, for_ever = joints_of(limit, 1), joints_of(limit, 1)
    run(peak, 30.0, 0.001, 3000)
    assert shares(peak)[0] == pytest.approx(1 / 3, abs=1e-4)
    assert temperatures(peak)[0, 0] == pytest.approx(125.0, abs=1e-2)
    run(for_ever, 10.0, 1.0, 1000)
    assert temperatures(for_ever)[0, 0] == pytest.approx(125.0, abs=1e-3)
    run(for_ever, 0.0, 1.0, 1000)
    assert shares(for_ever)[0] == 1.0


@pytest.mark.parametrize("wrong", [(10.0, 10.0, 3.0), (0.0, 10.0, 3.0), (10.0, math.inf, 3.0), (1.0, 2.0, 0.0)])
def test_i2t_of_other_numbers_is_refused(wrong) -> None:
    with pytest.raises(ValueError, match=r"ThermalConfig.i2t\(.*must have 0 < continuous_effort < peak_effort"):
        ThermalConfig.i2t(*wrong)


NAMES = ["cool", "warm"]


def two_joints(robots: int = 2) -> ActuatedArrays:
    heat = config(
        ambient=30.0,
        derating_start=35.0,
        max_temperature=50.0,
        temperature_coefficient=0.00393,
        reset={"cool": "ambient", "warm": "kept"},
    )
    return ActuatedArrays(NAMES, {".*": [PDControlConfig(0.0, 0.0), heat]}, num_robots=robots)


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("robots", [None, [1]])
def test_reset_cools_the_joints_that_are_not_kept(robots) -> None:
    arrays, fresh = two_joints(), two_joints()
    run(arrays, effort_of(HOT), 0.1, 300)
    before = {name: state_of(arrays, name).reshape(2, 2).copy() for name in ("temperature", "derating")}
    assert (before["temperature"] > 40.0).all() and (before["derating"] < 0.9).all()
    arrays.reset(indices=robots)
    arrays.reset(indices=robots)
    chosen = [0, 1] if robots is None else robots
    for name, started in (("temperature", math.nan), ("derating", 1.0)):
        expected = before[name].copy()
        expected[chosen, 0] = started
        np.testing.assert_array_equal(state_of(arrays, name).reshape(2, 2), expected)
    run(arrays, effort_of(HOT), 0.1, 1)
    run(fresh, effort_of(HOT), 0.1, 1)
    found, first = (temperatures(one)[0].reshape(2, 2) for one in (arrays, fresh))
    np.testing.assert_array_equal(found[chosen, 0], first[chosen, 0])
    assert (found[:, 1] > before["temperature"][:, 1]).all()


SUPPLIED = ElectricalConfig(0.5, 1.0, voltage=10.0, temperature_coefficient=0.004, magnet_coefficient=0.001)
AMBIENTS = np.array([-20.0, 25.0, 60.0], np.float32)


def of_supply(ambient):
    """Effort of a winding at its supply, at rest and at one temperature, float64."""
    rise = np.asarray(ambient, np.float64) - 25.0
    return 0.5 * (1.0 - 0.001 * rise) * 10.0 / (1.0 + 0.004 * rise)


def supplied(stages, robots: int, dt: float = 1e-3) -> tuple:
    """Joints at rest that ask for more than their supply gives, and a function that steps them."""
    arrays = joints_of([SUPPLIED, *stages], robots)
    rest, given = np.zeros((robots, 1), np.float32), np.full((robots, 1), 1e3, np.float32)
    return arrays, lambda: np.array(arrays.step(rest, rest, rest, dt, feedforward=given), np.float64)[:, 0]


@pytest.mark.usefixtures("backend")
def test_winding_begins_at_the_temperature_of_its_surroundings() -> None:
    for ambient in (-20.0, 60.0):
        arrays, step = supplied([config(ambient=ambient)], 2)
        np.testing.assert_allclose(step(), of_supply(ambient), rtol=1e-6)
        for _ in range(2000):
            warm = step()
        assert (warm < 0.99 * of_supply(ambient)).all()
        arrays.reset(indices=[1])
        found = step()
        assert found[0] == pytest.approx(warm[0], rel=1e-4)
        assert found[1] == pytest.approx(of_supply(ambient), rel=1e-6)
    _, step = supplied([], 2)
    np.testing.assert_allclose(step(), of_supply(25.0), rtol=1e-6)


@pytest.mark.usefixtures("backend")
def test_surroundings_may_be_those_of_each_robot() -> None:
    _, step = supplied([config(ambient=AMBIENTS)], 3)
    np.testing.assert_allclose(step(), of_supply(AMBIENTS), rtol=1e-6)
    arrays, step = supplied([config(ambient=40.0)], 3)
    (actuator,) = arrays.actuators
    (heat,) = (one for one in actuator.others if type(one).__name__ == "ThermalTwoNode")
    heat.ambient = wp.array(AMBIENTS, dtype=wp.float32, device="cpu")
    np.testing.assert_allclose(step(), of_supply(AMBIENTS), rtol=1e-6)
    heat.ambient = wp.array(AMBIENTS[::-1].copy(), dtype=wp.float32, device="cpu")
    arrays.reset()
    np.testing.assert_allclose(step(), of_supply(AMBIENTS[::-1]), rtol=1e-6)


@pytest.mark.usefixtures("backend")
def test_joints_of_one_robot_have_surroundings_of_their_own() -> None:
    first = PDControlConfig(0.0, 0.0)
    motors = {name: [first, SUPPLIED, config(ambient=value)] for name, value in (("a", -20.0), ("c", 60.0))}
    arrays = ActuatedArrays(["a", "b", "c"], motors | {"b": [first, SUPPLIED]}, num_robots=2)
    rest = np.zeros((2, 3), np.float32)
    found = arrays.step(rest, rest, rest, 1e-3, feedforward=np.full_like(rest, 1e3))
    np.testing.assert_allclose(found, [of_supply(AMBIENTS)] * 2, rtol=1e-6)


@pytest.mark.usefixtures("backend")
def test_kept_temperatures_stay_those_of_the_winding() -> None:
    arrays, step = supplied([config(ambient=60.0, reset="kept")], 1)
    for _ in range(2000):
        warm = step()
    arrays.reset()
    np.testing.assert_allclose(step(), warm, rtol=1e-4)
