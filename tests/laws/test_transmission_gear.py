"""A rigid gear: signals and efforts of the motor, power, and laws that are the same at the joint."""

import warnings

import isaacsim.core.experimental.actuators as aa
import numpy as np
import oracle
import places
import pytest
from isaacsim.core.experimental.actuators.laws.contract import catalogue
from isaacsim.core.experimental.actuators.specs.configs import Config
from isaacsim.core.experimental.actuators.specs.fields import parameters_of
from isaacsim.core.experimental.actuators.specs.stages import KINDS
from isaacsim.core.experimental.actuators.specs.transmission import at_joint

DT, ROBOTS = 0.002, 5
PD = aa.PDControlConfig(0.8, 0.02, 0.05)
WINDING = {"torque_constant": 0.03, "resistance": 0.4, "inductance": 1e-4, "voltage": 24.0}
# every test runs with each engine
pytestmark = pytest.mark.usefixtures("engine_kind")


def efforts(stages: list, signals: np.ndarray, feedforward: bool = True, **options) -> tuple[np.ndarray, np.ndarray]:
    """Applied and computed efforts under signals `(steps, 5, robots)`."""
    arrays = aa.ActuatedArrays(["j"], {"j": stages}, num_robots=signals.shape[-1], **options)
    arrays.observe_efforts()
    found = []
    for q, qd, target, target_velocity, feed in signals.astype(np.float32)[..., None]:
        feed = feed if feedforward else np.zeros_like(feed)
        applied = arrays.step(q, qd, target, DT, qd_target=target_velocity, feedforward=feed)
        found.append((np.array(applied)[:, 0], arrays.computed_efforts[:, 0]))
    applied, computed = np.moveaxis(np.array(found), 1, 0)
    return applied, computed


def drawn(rng: np.random.Generator, steps: int = 40) -> np.ndarray:
    """Signals that change slowly, so that laws with states follow them."""
    return np.cumsum(0.03 * rng.normal(size=(steps, 5, ROBOTS)), axis=0) + 0.3 * rng.normal(size=(5, ROBOTS))


@pytest.mark.parametrize("targets", ["joint", "motor"])
@pytest.mark.parametrize("ratio", [13.5, -0.4, -200.0])
def test_motor_gets_its_own_signals(ratio, targets, rng) -> None:
    signals = drawn(rng)
    applied, computed = efforts([PD, aa.TransmissionConfig(ratio, 0.7, targets)], signals)
    of_motor = oracle.gear_signals(
        *np.moveaxis(np.float32(signals).astype(float), 1, 0), ratio, 0.7, targets == "motor"
    )
    expected = oracle.pd_effort(*of_motor, PD.kp, PD.kd, PD.const_effort)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(computed, expected, rtol=2e-6, atol=2e-6 * scale)
    np.testing.assert_allclose(applied, ratio * expected, rtol=2e-6, atol=2e-6 * abs(ratio) * scale)


def test_power_of_the_motor_is_that_of_the_joint(rng) -> None:
    """τ·N·q̇ = effort·q̇, also at a limit."""
    signals, ratio = drawn(rng), -37.0
    for most in (1e6, 0.02):
        stages = [aa.PDControlConfig(0.8, 0.02), aa.MaxEffortClampingConfig(most), aa.TransmissionConfig(ratio, 0.2)]
        applied, computed = efforts(stages, signals)
        velocity = signals[:, 1]
        np.testing.assert_allclose(applied * velocity, np.clip(computed, -most, most) * ratio * velocity, rtol=1e-6)


def sample(config: type[Config]) -> Config:
    if config is aa.ElectricalConfig:
        return aa.ElectricalConfig(**WINDING, max_current=3.0)
    if config is aa.SupplyConfig:
        return aa.SupplyConfig(24.0, 0.8, 2.0, 5.0)
    if config is aa.ThermalConfig:
        return aa.ThermalConfig(3.0, 2.0, 20.0, 3.0, motor_constant=0.05, derating_start=26.0, max_temperature=40.0)
    values = {}
    for at, (name, one) in enumerate(parameters_of(config).items()):
        if one.type == "float":
            values[name] = min(max(0.9 + 0.07 * at, one.lower), 0.95 * one.upper)
        elif one.type == "float[]":
            values[name] = [0.3 + 0.05 * at, 0.5 + 0.05 * at, 0.6 + 0.05 * at]
    if config is aa.ServoControlConfig:
        values["kd"] = 0.02
    return config(**values)


def motor_of(config: Config) -> list[Config]:
    if isinstance(config, aa.ServoControlConfig):
        return [config, aa.ElectricalConfig(**WINDING, command="voltage")]
    needs_winding = isinstance(config, aa.ThermalConfig | aa.SupplyConfig)
    others = [aa.ElectricalConfig(**WINDING, temperature_coefficient=0.004)] if needs_winding else []
    return [config] if config.KIND == "controller" else [PD, *others, config]


MOTOR_SIDE = [
    law.config
    for law in catalogue.LAWS
    if law.name and KINDS[law.kind].coordinates == "motor" and law.config is not aa.NeuralControlConfig
]


@pytest.mark.parametrize("ratio", [7.0, -7.0])
@pytest.mark.parametrize("config", dict.fromkeys(MOTOR_SIDE), ids=lambda config: config.__name__)
@pytest.mark.slow("warp")
def test_every_law_is_one_of_the_joint(config, ratio, rng) -> None:
    signals = drawn(rng)
    stages = motor_of(sample(config))
    # what a servo is fed forward are volts
    is_effort = config is not aa.ServoControlConfig
    # a second gear turns without the offset
    offset = 0.0 if "gear" in parameters_of(config) else 0.25
    through, _ = efforts([*stages, aa.TransmissionConfig(ratio, offset)], signals, is_effort)
    there, plain = efforts([at_joint(one, ratio) for one in stages], signals, is_effort)
    assert np.abs(through).max() > 0.05
    np.testing.assert_allclose(through, there, rtol=3e-5, atol=3e-5 * np.abs(plain).max())


@pytest.mark.parametrize("ratio", [9.0, -9.0])
def test_table_of_positions_is_one_of_the_joint(ratio) -> None:
    q = np.linspace(-1.5, 1.5, 31)
    signals = np.zeros((1, 5, 31))
    signals[0, 0], signals[0, 2] = q, 50.0
    table = aa.PositionBasedClampingConfig([-1.0, 0.0, 1.0], [2.0, 8.0, 4.0])
    applied, _ = efforts([PD, table, aa.TransmissionConfig(ratio, 3.0)], signals)
    np.testing.assert_allclose(applied[0], np.interp(q, [-1.0, 0.0, 1.0], [2.0, 8.0, 4.0]), rtol=1e-6)


def test_values_differ_by_robot_and_can_be_written(rng) -> None:
    signals = np.zeros((1, 5, ROBOTS))
    signals[0, 4] = 3.0
    ratios = np.array([1.0, -2.0, 4.0, 8.0, 16.0], np.float32)
    arrays = aa.ActuatedArrays(
        ["j"], {"j": [aa.PDControlConfig(0.1, 0.0), aa.TransmissionConfig(ratios)]}, num_robots=ROBOTS
    )
    target, still = np.ones((ROBOTS, 1), np.float32), np.zeros((ROBOTS, 1), np.float32)
    np.testing.assert_allclose(np.array(arrays.step(still, still, target, DT))[:, 0], 0.1 * ratios**2, rtol=1e-6)
    (gear,) = [stage for stage in arrays.actuators[0].stages if isinstance(stage, aa.TransmissionGear)]
    gear.ratio.assign(np.full(ROBOTS, 3.0, np.float32))
    np.testing.assert_allclose(np.array(arrays.step(still, still, target, DT)), 0.9, rtol=1e-6)


def test_friction_is_that_of_the_joint() -> None:
    signals = np.zeros((1, 5, 1))
    signals[0, 1] = 2.0
    friction = aa.FrictionConfig(viscous=0.5, assumed_inertia=1e6)
    applied, _ = efforts([aa.PDControlConfig(0.0, 0.0), aa.TransmissionConfig(50.0), friction], signals)
    np.testing.assert_allclose(applied, -1.0, rtol=1e-5)


def test_winding_before_a_gear_feels_the_inertia_of_the_joint() -> None:
    """At its supply the back-EMF is that of the velocity after the step: it moves as with values at the joint."""
    ratio, law, winding = 20.0, aa.PDControlConfig(0.5, 0.002), aa.ElectricalConfig(0.05, 0.5, voltage=4.0)
    ends = []
    for motor in ([law, winding, aa.TransmissionConfig(ratio)], [at_joint(law, ratio), at_joint(winding, ratio)]):
        with aa.Simulation(places.ROBOTS / "pendulum.usda", dt=0.01) as sim:
            sim.play()
            with warnings.catch_warnings():
                # its gains shake without the limit of the winding
                warnings.simplefilter("ignore")
                actuators = aa.ArticulationActuators.from_configs("/World/Pendulum", {"hinge": motor})
                actuators.articulation.set_dof_position_targets(2.5)
                with actuators.record() as log:
                    sim.step(60)
            assert log.at_voltage_limit.sum() > 20
            ends.append(np.concatenate([log.positions.ravel(), log.motor_efforts.ravel()]))
    np.testing.assert_allclose(*ends, rtol=1e-4, atol=1e-4)
