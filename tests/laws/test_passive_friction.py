"""Friction on joints of one inertia: models M1 … M6, energy, stopping, sticking, and joints that rest."""

import isaacsim.core.experimental.actuators as aa
import numpy as np
import oracle
import pytest
import warp as wp
from isaacsim.core.experimental.actuators.laws.contract import catalogue
from one_inertia import Plant, efforts_of, tell

INERTIA = 0.02
LEVELS = {"coulomb": 0.5, "static": 0.7, "stribeck_velocity": 0.1, "assumed_inertia": INERTIA}
BAM: dict[str, dict[str, float]] = {
    "M1": {},
    "M2": {"static": 0.62, "stribeck_velocity": 2.9, "stribeck_exponent": 1.7},
}
BAM["M3"] = {"motor_load": 0.2, "external_load": 0.2}
BAM["M4"] = BAM["M2"] | BAM["M3"] | {"stribeck_motor_load": 0.15, "stribeck_external_load": 0.15}
BAM["M5"] = BAM["M4"] | {"external_load": 0.03, "stribeck_external_load": 0.08}
BAM["M6"] = BAM["M5"] | {"quadratic_motor_load": 0.01, "quadratic_external_load": 0.005}
BAM = {name: {"coulomb": 0.4, "viscous": 0.03} | given for name, given in BAM.items()}


@pytest.mark.parametrize("opposed", [False, True])
@pytest.mark.parametrize("model", [*BAM])
def test_level_is_that_of_the_model(model, opposed, rng) -> None:
    """Of joints that slide under a known load: the friction is the level of the paper's equations."""
    config = aa.FrictionConfig(**BAM[model], quadratic_when_opposed=opposed)
    count, dt = 4000, 1e-3
    qd = rng.choice([-1, 1], count) * rng.uniform(0.5, 6, count)
    tau_m, tau_e = rng.normal(size=(2, count)) * 2
    signals = {"inertia": np.full(count, 100.0), "load": -tau_e, "load_is_whole": np.ones(count)}
    found, state = efforts_of(config, qd, tau_m, dt, signals)
    expected = level_of(config, np.float32(tau_m), np.float32(tau_e), np.float32(qd))
    np.testing.assert_allclose(-np.sign(qd) * state["dry_effort"], expected, rtol=1e-6, atol=1e-6)
    viscous = (
        config.viscous * (qd + dt * (tau_m + tau_e - np.sign(qd) * expected) / 100) / (1 + dt * config.viscous / 100)
    )
    np.testing.assert_allclose(found, tau_m - np.sign(qd) * expected - viscous, rtol=2e-6, atol=2e-6)


def level_of(config: aa.FrictionConfig, tau_m, tau_e, qd):
    """Level of model M6 as published, in float64; the others are cases of it."""
    wide = (np.asarray(one, np.float64) for one in (tau_m, tau_e, qd))
    return oracle.dry_friction_level(
        *wide,
        *(config.coulomb, max(config.static - config.coulomb, 0.0), config.stribeck_velocity, config.stribeck_exponent),
        *(config.motor_load, config.external_load, config.stribeck_motor_load, config.stribeck_external_load),
        *(config.quadratic_motor_load, config.quadratic_external_load, float(config.quadratic_when_opposed)),
    )


def test_readings_of_the_quadratic_term_differ() -> None:
    efforts, loads = np.array([1.0, 1.0, -2.0, 2.0]), np.array([2.0, -2.0, 1.0, 1.0])
    found = []
    for opposed in (False, True):
        config = aa.FrictionConfig(
            quadratic_motor_load=0.5, quadratic_external_load=0.25, quadratic_when_opposed=opposed
        )
        signals = {"inertia": np.ones(4), "load": -loads, "load_is_whole": np.ones(4)}
        _, state = efforts_of(config, np.full(4, 1e-12), efforts, 1e-6, signals)
        # what would stop the joint is more than the level
        found.append(np.abs(state["dry_effort"]))
    np.testing.assert_allclose(found, [[0.5, 0.5, 0.25, 0.25], [0, 0.5, 0.25, 0]])


def test_felt_load_is_the_load_of_the_step_before() -> None:
    config = aa.FrictionConfig(**BAM["M6"], assumed_inertia=INERTIA)
    told, felt = (Plant(config, INERTIA, 1e-3, robots=3, velocity=4.0, told=told) for told in (True, False))
    load = np.array([-1.5, 0.3, 2.0])
    for plant in (told, felt):
        plant.run(20, effort=0.8, load=load)
        level = level_of(config, np.full(3, 0.8), load, plant.v)
        plant.run(1, effort=0.8, load=load)
        np.testing.assert_allclose(np.abs(plant.state("dry_effort")), level, rtol=1e-4)


@pytest.mark.parametrize("coupled", [0.0, 0.3 * INERTIA])
@pytest.mark.parametrize("whole", [0.0, 1.0])
def test_first_step_is_half_of_what_stops_the_joint(whole, coupled) -> None:
    dt, speeds = 0.005, np.array([1.0, -0.4])
    signals = {
        "inertia": np.full(2, INERTIA),
        "coupled_inertia": np.full(2, coupled),
        "load_is_whole": np.full(2, whole),
    }
    _, state = efforts_of(aa.FrictionConfig(coulomb=1e3), speeds, np.zeros(2), dt, signals)
    share = INERTIA if whole else 0.5 * (coupled or INERTIA)
    np.testing.assert_allclose(state["dry_effort"], -share * speeds / dt, rtol=1e-6)


def test_external_effort_is_told_by_the_effective_inertia() -> None:
    config, loads = aa.FrictionConfig(external_load=0.2), np.array([-1.5, 2.0])
    plant = Plant(config, INERTIA, 1e-3, robots=2, velocity=4.0)
    tell(plant.arrays, {"inertia": INERTIA, "coupled_inertia": 0.3 * INERTIA})
    plant.run(20, effort=0.8, load=loads)
    np.testing.assert_allclose(np.abs(plant.state("dry_effort")), 0.2 * np.abs(loads), rtol=1e-4)


def test_friction_takes_energy_at_the_right_inertia(rng) -> None:
    """Of a million random steps under known loads: ½·p·(v_free + v⁺) <= 0."""
    count, dt = 1_000_000, 0.002
    qd, tau_m, tau_e = rng.normal(size=(3, count)).astype(np.float32) * np.array([[2], [1], [1]], np.float32)
    inertia = (10.0 ** rng.uniform(-3, 0, count)).astype(np.float32)
    config = aa.FrictionConfig(**BAM["M6"] | {"viscous": 0.0, "coulomb": 0.1, "static": 0.3})
    signals = {"inertia": inertia, "load": -tau_e, "load_is_whole": np.ones(count)}
    efforts, state = efforts_of(config, qd, tau_m, dt, signals)
    qd, tau_m, tau_e, inertia = (one.astype(np.float64) for one in (qd, tau_m, tau_e, inertia))
    free = qd + dt * (tau_m + tau_e) / inertia
    after = qd + dt * (efforts.astype(np.float64) + tau_e) / inertia
    p = dt * state["dry_effort"].astype(np.float64)
    # float32 rounds the velocity at which a joint stops
    rounding = 1e-6 * np.abs(p) * (np.abs(qd) + dt * (np.abs(tau_m) + np.abs(tau_e)) / inertia)
    assert (p * (free + after) / 2 <= rounding).all()
    assert ((np.abs(after) < 1e-4).mean() > 0.05) and ((np.abs(after) > 0.1).mean() > 0.05)


@pytest.mark.parametrize("factor", [0.3, 0.6, 1.0, 1.5, 1.9])
def test_kinetic_energy_never_rises_without_an_effort(factor) -> None:
    speeds = np.array([0.01, 0.1, 0.5, 2.0, 7.0])
    for dt, told in ((0.005, False), (0.001, False), (0.005, True)):
        config = aa.FrictionConfig(**LEVELS | {"assumed_inertia": factor * INERTIA, "viscous": 0.02})
        plant = Plant(config, INERTIA, dt, robots=len(speeds), velocity=speeds, told=told)
        energies = [INERTIA * plant.v**2 / 2]
        for _ in range(600):
            plant.run(1)
            energies.append(INERTIA * plant.v**2 / 2)
        gains = np.diff(np.array(energies), axis=0)
        late = 5e-5 if factor >= 1 else (dt * 0.7) ** 2 / INERTIA
        assert gains.max() <= (1e-12 if told else late), (dt, told, gains.max())
        assert (energies[-1] <= 1e-14).all()


@pytest.mark.parametrize("told", [False, True])
def test_stop_angle_is_of_first_order(told) -> None:
    """A coasting joint stops after v²·I/2F, up to a part of the step."""
    errors = []
    for dt in (0.005, 0.002, 0.001):
        plant = Plant(aa.FrictionConfig(coulomb=0.5, assumed_inertia=INERTIA), INERTIA, dt, velocity=2.0, told=told)
        plant.run(round(1.0 / dt))
        assert abs(plant.v[0]) < 1e-9
        errors.append(plant.q[0] - 2.0**2 * INERTIA / (2 * 0.5))
    # half a step of the first velocity, and less than another for the stop
    assert np.all(np.abs(errors) <= 1.6 * 2.0 * np.array([0.005, 0.002, 0.001]))
    np.testing.assert_allclose(np.abs(errors) / np.abs(errors[0]), [1, 0.4, 0.2], atol=0.06)


def test_viscous_friction_has_the_decay_of_its_equation() -> None:
    for dt, within in ((0.005, 0.02), (0.001, 0.004)):
        plant = Plant(aa.FrictionConfig(viscous=0.05, assumed_inertia=INERTIA), INERTIA, dt, velocity=2.0)
        plant.run(round(0.4 / dt))
        assert plant.v[0] == pytest.approx(2 * np.exp(-0.4 * 0.05 / INERTIA), rel=within)


@pytest.mark.parametrize("told", [False, True])
@pytest.mark.parametrize("dt", [0.005, 0.002, 0.001])
def test_joint_holds_below_breakaway_and_leaves_above(dt, told) -> None:
    """Five seconds of a motor that gives 0.6 N·m, with 0.7 N·m of static friction, do not move it; 0.75 N·m do."""
    config = aa.FrictionConfig(**LEVELS)
    held = Plant(config, INERTIA, dt, told=told)
    held.run(2)
    held.run(round(1.0 / dt), effort=0.6)
    before = held.q[0]
    assert abs(before) < (1e-12 if told else 3e-3)
    held.run(round(4.0 / dt), effort=0.6)
    # float32 has no finer efforts
    assert abs(held.v[0]) < 2e-8 and abs(held.q[0] - before) < 1e-7
    left = Plant(config, INERTIA, dt, told=told)
    left.run(2)
    left.run(round(0.1 / dt), effort=0.75)
    assert left.v[0] > 0.1


@pytest.mark.slow
def test_period_of_stick_and_slip() -> None:
    """A joint pulled by a spring of 20 N·m/rad at 0.2 rad/s; reference: the same at a tenth of a millisecond."""
    config = aa.FrictionConfig(**LEVELS | {"viscous": 0.02})
    reference = period_of_stick_and_slip(config, 1e-4, told=True)
    for dt in (0.002, 0.001):
        for told in (False, True):
            assert period_of_stick_and_slip(config, dt, told) == pytest.approx(reference, rel=0.02)


def period_of_stick_and_slip(config: aa.FrictionConfig, dt: float, told: bool) -> float:
    plant = Plant(config, INERTIA, dt, told=told)
    slips, moved = [], False
    for step in range(round(4.0 / dt)):
        plant.run(1, load=20 * (0.2 * step * dt - plant.q))
        moving = abs(plant.v[0]) > 0.02
        slips += [step * dt] if moving and not moved else []
        moved = moving
    times = np.diff(slips[1:])
    assert len(times) >= 6
    return float(np.mean(times))


def test_more_friction_never_coasts_farther() -> None:
    ways = {
        "coulomb": np.linspace(0.02, 2, 40),
        "viscous": np.linspace(0, 0.5, 40),
        "motor_load": np.linspace(0, 0.6, 40),
    }
    for name, values in ways.items():
        config = aa.FrictionConfig(**{"coulomb": 0.1, "assumed_inertia": INERTIA} | {name: values})
        plant = Plant(config, INERTIA, 0.002, robots=len(values), velocity=2.0)
        plant.run(3000, effort=0.0 if name != "motor_load" else -0.05)
        assert (plant.farthest - np.minimum.accumulate(plant.farthest) <= 1e-6).all(), name
        assert plant.farthest[0] > plant.farthest[-1]


def test_joint_rests_on_a_moving_load_that_stays_below_friction() -> None:
    plant = Plant(aa.FrictionConfig(coulomb=0.5, assumed_inertia=INERTIA), INERTIA, 0.002)
    for step in range(2000):
        plant.run(1, load=0.3 * np.sin(2 * np.pi * 0.5 * step * 0.002))
    assert np.abs(plant.v).max() < 5e-3 and abs(plant.q[0]) < 2e-3


def test_reset_starts_over_at_the_velocity_and_effort_of_then() -> None:
    config = aa.FrictionConfig(**LEVELS)
    plant = Plant(config, INERTIA, 0.005)
    plant.run(400, load=0.6)
    plant.arrays.reset()
    plant.v[:] = 1.0
    plant.run(1, load=0.0)
    fresh = Plant(config, INERTIA, 0.005, velocity=1.0)
    fresh.run(1, load=0.0)
    np.testing.assert_array_equal(plant.v, fresh.v)


def test_state_goes_on_with_another_time_step() -> None:
    plant = Plant(aa.FrictionConfig(coulomb=0.7, assumed_inertia=INERTIA), INERTIA, 0.005)
    plant.run(2000, load=0.6)
    before = plant.q.copy()
    plant.dt = 0.001
    plant.run(2000, load=0.6)
    np.testing.assert_allclose(plant.q, before, atol=1e-7)


@pytest.mark.parametrize(("velocity", "sticks"), [(1.0, False), (0.0, True)])
def test_gradients_of_sliding_and_of_sticking(velocity, sticks) -> None:
    at = wp.array([0], dtype=wp.uint32, device="cpu")
    component = catalogue.build(aa.FrictionConfig(**LEVELS), 1, "cpu")
    assert isinstance(component, aa.PassiveFriction)
    coulomb = wp.array([0.5], dtype=wp.float32, device="cpu", requires_grad=True)
    component.coulomb = coulomb
    actuator = aa.Actuator(at, None, others=[component], requires_grad=True)
    zero, out, force = (wp.zeros(1, dtype=wp.float32, device="cpu", requires_grad=True) for _ in range(3))
    qd = wp.array([velocity], dtype=wp.float32, device="cpu", requires_grad=True)
    states = [actuator.state(), actuator.state()]
    control = {"joint_target_q": zero, "joint_target_qd": zero, "joint_act": force, "joint_f": out}
    with wp.Tape() as tape:
        actuator.step({"joint_q": zero, "joint_qd": qd}, control, *states, dt=0.005)
    tape.backward(grads={out: wp.full(1, 1.0, dtype=wp.float32, device="cpu")})
    assert np.isfinite([coulomb.grad.numpy(), qd.grad.numpy()]).all()
    if sticks:
        assert coulomb.grad.numpy()[0] == 0
    else:
        np.testing.assert_allclose(coulomb.grad.numpy(), -1.0, rtol=1e-4)
