from dataclasses import replace

import isaacsim.core.experimental.actuators as aa
import pytest
from hidden_motors import PENDULUM, hidden_log, hidden_motor, known_motor
from isaacsim.core.experimental.actuators.base.native import core
from isaacsim.core.experimental.actuators.tools.identification.effects import EFFECTS
from isaacsim.core.experimental.actuators.tools.identification.identified import Identified
from isaacsim.core.experimental.actuators.tools.identification.identify import identify
from isaacsim.core.experimental.actuators.tools.identification.options import FitOptions
from isaacsim.core.experimental.actuators.tools.identification.parameters import value_of

pytest.importorskip("scipy")
pytestmark = [pytest.mark.skipif(core is None, reason="the native core is not built"), pytest.mark.slow]
NAMES = {name for effect in EFFECTS for name in effect.names}


def identified(true: aa.MotorConfig, noise: float = 1e-4) -> Identified:
    logs = [hidden_log(PENDULUM, {"hinge": true}, ["hinge"], seed=seed, noise=noise) for seed in (0, 1)]
    return identify(PENDULUM, logs, {"hinge": known_motor()}, FitOptions(models=["Coulomb friction"]))


def test_a_spring_is_found_in_place_of_a_delay_and_other_gains() -> None:
    gear = aa.ElasticTransmissionConfig(1.0, rotor_inertia=0.3, stiffness=150.0, damping=0.3)
    encoder = aa.EncoderConfig(velocity="register", side="motor")
    true = replace(hidden_motor(), armature=None, delay=None, others=[aa.FrictionConfig(coulomb=0.4), encoder, gear])
    found = identified(true)
    motor = found.motors["hinge"]
    for name, wanted in (("stiffness", 150.0), ("rotor_inertia", 0.3), ("coulomb", 0.4)):
        assert value_of(motor, name) == pytest.approx(wanted, rel=0.1), name
    assert value_of(motor, "kp") == 40.0 and motor.delay is None and found.error < 1e-3


def test_a_startup_force_is_found() -> None:
    others = [aa.FrictionConfig(coulomb=1.5, viscous=0.2), aa.EncoderConfig(velocity="register")]
    found = identified(replace(hidden_motor(), controller=aa.StartupPDControlConfig(40.0, 1.0, 0.8), others=others))
    assert value_of(found.motors["hinge"], "startup") == pytest.approx(0.8, rel=0.1)
    assert value_of(found.motors["hinge"], "coulomb") == pytest.approx(1.5, rel=0.1) and found.error < 1e-3


def test_what_friction_explains_has_no_other_effects() -> None:
    assert not NAMES & {one.name for one in identified(hidden_motor(bias=0.0)).estimates}
