"""Losses of gears: steady motion both ways, and the friction that they are."""

import dataclasses
from pathlib import Path

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from isaacsim.core.experimental.actuators.specs.gear_losses import losses, with_losses
from isaacsim.core.experimental.actuators.specs.motors import motor_of
from refusals import cases, refused

MASS, GRAVITY, RATIO = 3.0, 9.81, -25.0
LOAD = MASS * GRAVITY
HOIST = f"""<mujoco><option timestep='0.002' gravity='0 0 {-GRAVITY}'/><worldbody><body name='hoist'>
<joint name='lift' type='slide' axis='0 0 1'/><geom type='sphere' size='.1' mass='{MASS}'/>
</body></worldbody></mujoco>"""


@pytest.fixture
def hoist(tmp_path: Path) -> Path:
    path = tmp_path / "hoist.xml"
    path.write_text(HOIST, "utf-8")
    return path


def moved(path: Path, speed: float, *stages, steps: int = 1500):
    with aa.Simulation(path) as sim:
        sim.play()
        # a gain this low has efforts of more digits: they are the gain times a difference of float32 speeds
        motor = [aa.PDControlConfig(0.0, 100.0 / RATIO**2), *stages]
        with aa.ArticulationActuators.from_configs(".*", {"lift": motor}) as made:
            made.articulation.set_dof_velocity_targets([[speed]])
            with made.record() as log:
                sim.step(steps)
    return log


@pytest.mark.parametrize(("efficiency", "backdriving"), [(0.8, 0.8), (0.7, 0.6), (0.95, 0.948)])
def test_steady_motion_has_the_efficiency_of_its_direction(hoist, efficiency, backdriving) -> None:
    """Lifting takes load/η of the motor, lowering leaves it η_b·load; both dissipate."""
    gear = aa.TransmissionConfig(RATIO, efficiency=efficiency, backdriving_efficiency=backdriving)
    for speed, expected in ((0.5, LOAD / efficiency), (-0.5, LOAD * backdriving)):
        log = moved(hoist, speed, gear)
        assert abs(log.velocities[-1].item() - log.velocities[-2].item()) < 1e-6
        assert np.sign(log.velocities[-1].item()) == np.sign(speed)
        assert log.motor_efforts[-1].item() == pytest.approx(expected, rel=1e-6)
        assert log.shaft_efforts[-1].item() == pytest.approx(expected / RATIO, rel=1e-6)
        assert log.passive_power[-1].item() < 0.0


def test_losses_are_a_friction_with_loads(hoist) -> None:
    """Model M5 in closed form: the same motion, and what the user gives adds up."""
    k_m, k_e = losses(0.7, 0.6)
    # the two lines meet where the motor drives and where it is driven
    assert k_m + 0.7 * k_e == pytest.approx(0.3, rel=1e-12) and k_e + 0.6 * k_m == pytest.approx(0.4, rel=1e-12)
    own = aa.FrictionConfig(coulomb=0.5, viscous=0.1, motor_load=0.02)
    lossy = moved(hoist, 0.4, aa.TransmissionConfig(RATIO, efficiency=0.7, backdriving_efficiency=0.6), own, steps=300)
    as_friction = aa.FrictionConfig(coulomb=0.5, viscous=0.1, motor_load=0.02 + k_m, external_load=k_e)
    other = moved(hoist, 0.4, aa.TransmissionConfig(RATIO), as_friction, steps=300)
    np.testing.assert_allclose(lossy.positions, other.positions, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(lossy.applied_efforts, other.applied_efforts, rtol=1e-6, atol=1e-5)


def test_equal_efficiencies_have_equal_loads() -> None:
    """η = η_b = 0.8 gives (1 − η)/(1 + η), not 1 − η."""
    assert losses(0.8, 0.8) == pytest.approx((0.2 / 1.8, 0.2 / 1.8), rel=1e-12) and losses(1.0, 1.0) == (0.0, 0.0)
    np.testing.assert_allclose(losses(np.array([0.8, 1.0]), np.array([0.8, 1.0])), [[0.2 / 1.8, 0.0]] * 2)


def test_losses_are_those_of_the_efficiencies() -> None:
    for high in np.linspace(0.05, 1.0, 20):
        edge = max((3.0 * high - 2.0) / high**2, 1e-3)
        for low in (high, 0.5 * (high + edge), edge):
            for efficiency, back in ((low, high), (high, low)):
                for one in ((efficiency, back), tuple(map(float, np.float32((efficiency, back))))):
                    k_m, k_e = losses(*one)
                    assert not aa.TransmissionConfig(3.0, efficiency=one[0], backdriving_efficiency=one[1]).conflicts()
                    # levels at τ_e = −η·τ_m and at τ_m = −η_b·τ_e
                    assert abs(-one[0] * k_e - k_m) == pytest.approx(1.0 - one[0], abs=3e-6)
                    assert abs(k_e + one[1] * k_m) == pytest.approx(1.0 - one[1], abs=3e-6)
                    assert min(k_m, k_e) >= max(one) - 1.0 - 1e-5


def test_stages_without_losses_stay() -> None:
    gear, lossy = aa.TransmissionConfig(3.0), aa.TransmissionConfig(3.0, efficiency=0.9, backdriving_efficiency=0.9)
    cogging, pd = aa.CoggingConfig(0.1, 7.0), aa.PDControlConfig(1.0, 0.1)
    assert with_losses(motor_of([pd, gear, cogging])) == [gear, cogging]
    found = with_losses(motor_of([pd, lossy, cogging]))
    assert found[:2] == [lossy, cogging] and isinstance(found[2], aa.FrictionConfig)
    assert found[2].motor_load == pytest.approx(0.1 / 1.9)


def test_losses_add_to_the_friction_of_the_user() -> None:
    lossy = aa.TransmissionConfig(3.0, efficiency=0.7, backdriving_efficiency=0.6)
    own = aa.FrictionConfig(0.5, viscous=0.1, static=0.6, motor_load=0.02, external_load=0.03, assumed_inertia=0.4)
    k_m, k_e = losses(0.7, 0.6)
    (_, whole) = with_losses(motor_of([aa.PDControlConfig(1.0, 0.1), lossy, own]))
    assert whole == dataclasses.replace(own, motor_load=0.02 + k_m, external_load=0.03 + k_e)


def test_friction_of_losses_assumes_the_inertia_of_the_gear() -> None:
    values = {"efficiency": 0.9, "backdriving_efficiency": 0.9}
    spring = aa.ElasticTransmissionConfig(3.0, rotor_inertia=1e-4, stiffness=100.0, assumed_inertia=0.2, **values)
    for gear, inertia in ((spring, 0.2), (aa.TransmissionConfig(3.0, **values), 0.0)):
        (_, friction) = with_losses(motor_of([aa.PDControlConfig(1.0, 0.1), gear]))
        assert isinstance(friction, aa.FrictionConfig) and friction.assumed_inertia == inertia


@cases(
    "friction, words",
    (
        aa.FrictionCurveConfig([0.0], [0.1]),
        "FrictionCurveConfig and a transmission with losses: must have FrictionConfig or LuGreFrictionConfig",
    ),
    (aa.FrictionConfig(0.2, in_engine=True), "FrictionConfig.in_engine and a transmission with losses"),
)
def test_other_frictions_beside_losses_are_refused(friction, words) -> None:
    lossy = aa.TransmissionConfig(3.0, efficiency=0.9, backdriving_efficiency=0.9)
    refused(ValueError, lambda: aa.ActuatedArrays(["j"], {"j": [aa.PDControlConfig(1.0, 0.1), lossy, friction]}), words)
