"""Networks for what physical models leave."""

from dataclasses import replace

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from hidden_motors import PENDULUM, hidden_log, hidden_motor, known_motor
from isaacsim.core.experimental.actuators.base.native import core
from isaacsim.core.experimental.actuators.tools.identification.decoupling import Decoupled, Links
from isaacsim.core.experimental.actuators.tools.identification.identify import identify
from isaacsim.core.experimental.actuators.tools.identification.learned import left_over, unfit, with_network
from isaacsim.core.experimental.actuators.tools.identification.log import MotorLog
from isaacsim.core.experimental.actuators.tools.identification.options import FitOptions
from isaacsim.core.experimental.actuators.tools.training.log import ActuatorLog

pytest.importorskip("scipy")
pytestmark = pytest.mark.skipif(core is None, reason="the native core is not built")
VALUES = {"armature": 0.03, "delay": 0.008, "encoder_bias": 0.0}
SPEEDS, EFFORTS = [0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 12.0], [0.2, 0.2, 1.5, 0.3, 2.0, 0.5, 0.5]
COULOMB = ("Coulomb friction",)


def odd_motor() -> aa.MotorConfig:
    motor = hidden_motor(bias=0.0)
    curve = aa.FrictionCurveConfig(lookup_speeds=SPEEDS, lookup_efforts=EFFORTS)
    return replace(motor, others=[curve, motor.others[1]])


@pytest.fixture(scope="module")
def case() -> Decoupled:
    log = hidden_log(PENDULUM, {"hinge": odd_motor()}, ["hinge"], noise=1e-5)
    links = Links(PENDULUM, ["hinge"])
    try:
        return links.decouple(log, np.zeros(1))
    finally:
        links.close()


def test_what_is_left_is_the_friction_that_a_motor_lacks(case) -> None:
    left = left_over(known_motor(), [case], 0, VALUES)
    speed = left.velocity[:, 0]
    friction = -np.sign(speed) * np.interp(np.abs(speed), SPEEDS, EFFORTS)
    assert np.median(np.abs(left.effort[:, 0] - friction)) < 0.1
    assert np.corrcoef(left.effort[:, 0], friction)[0, 1] > 0.95
    assert np.abs(left_over(odd_motor(), [case], 0, VALUES).effort).mean() < 0.15 * np.abs(left.effort).mean()


def test_a_joint_that_hardly_moves_is_refused(case) -> None:
    log = case.log
    short = MotorLog(log.time[:100], log.joints, {name: one[:100] for name, one in log.signals.items()})
    parts = {name: getattr(case, name)[:100] for name in ("inertia", "load", "slope", "place", "velocity")}
    with pytest.raises(ValueError, match=r"hinge moves faster than 0.05 rad/s or m/s in .* samples: must be 500"):
        left_over(known_motor(), [replace(case, log=short, **parts)], 0, VALUES)


def test_a_network_needs_pd_control_of_its_own(case) -> None:
    assert unfit(known_motor(), [case]) == ""
    pid = aa.MotorConfig(aa.PIDControlConfig(40.0, 1.0, 1.0))
    assert unfit(pid, [case]) == "its controller is a PIDControlConfig, not a PDControlConfig"
    log = case.log
    other = replace(case, log=MotorLog(log.time, log.joints, log.signals, settings={"kp": 40.0}))
    assert unfit(known_motor(), [other]) == "logs differ in kp, which a network has in itself"


@pytest.mark.slow
def test_the_network_has_the_gains_in_itself(tmp_path) -> None:
    pytest.importorskip("torch")
    position, velocity, target = np.random.default_rng(0).uniform(-1.0, 1.0, (3, 3000))
    effort = 2.0 * np.tanh(3.0 * velocity) + (target - position) ** 2
    path = tmp_path / "hinge.safetensors"
    pd = aa.MotorConfig(aa.PDControlConfig(40.0, 3.0, const_effort=0.5), armature=0.1)
    made = with_network(pd, ActuatorLog(0.004, position, velocity, target, effort), path, 0)
    assert made == replace(pd, controller=aa.NeuralControlConfig(path))
    arrays = aa.ActuatedArrays(["hinge"], {"hinge": made}, 3000)
    given = [one.astype(np.float32)[:, None] for one in (position, velocity, target)]
    found = [np.array(arrays.step(*given, dt))[:, 0] for dt in (0.004, 0.0007)]
    np.testing.assert_array_equal(*found)
    wanted = 40.0 * (target - position) - 3.0 * velocity + 0.5 + effort
    assert np.sqrt(np.mean((found[0] - wanted) ** 2)) < 0.05 * np.sqrt(np.mean(effort**2))


@pytest.mark.slow
def test_a_network_is_kept_where_it_pays(tmp_path) -> None:
    pytest.importorskip("torch")
    logs = [hidden_log(PENDULUM, {"hinge": odd_motor()}, ["hinge"], seed=seed) for seed in (0, 1)]
    options = FitOptions(models=COULOMB, residual=tmp_path / "networks")
    found = identify(PENDULUM, logs, {"hinge": known_motor()}, options)
    plain, learned = found.models
    assert found.chosen == learned.name == "Coulomb friction, and networks"
    assert learned.validation < 0.6 * plain.validation
    assert found.error == pytest.approx(learned.validation, rel=0.3) and not found.disagrees
    assert [one.rpartition(": ")[2] for one in found.networks] == ["it pays.", "they are kept."]
    assert found.motors["hinge"].controller == aa.NeuralControlConfig(tmp_path / "networks" / "hinge.safetensors")


@pytest.mark.slow
def test_a_network_that_does_not_pay_is_not_kept(tmp_path) -> None:
    pytest.importorskip("torch")
    logs = [hidden_log(PENDULUM, {"hinge": hidden_motor()}, ["hinge"], seed=seed) for seed in (0, 1)]
    options = FitOptions(models=COULOMB, residual=tmp_path / "networks")
    found = identify(PENDULUM, logs, {"hinge": known_motor()}, options)
    assert found.chosen == "Coulomb friction"
    (said,) = found.networks
    assert said.endswith("it does not pay.") and isinstance(found.motors["hinge"].controller, aa.PDControlConfig)
    assert not list(tmp_path.rglob("*.safetensors"))


def test_without_torch_the_package_is_named(tmp_path, monkeypatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    log = hidden_log(PENDULUM, {"hinge": hidden_motor()}, ["hinge"], seconds=1.0)
    with pytest.raises(ModuleNotFoundError, match="Training needs torch, which is not installed"):
        identify(PENDULUM, [log], {"hinge": known_motor()}, FitOptions(residual=tmp_path / "networks"))
    assert not list(tmp_path.iterdir())
