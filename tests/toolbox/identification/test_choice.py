from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hidden_motors import PENDULUM, hidden_log, hidden_motor, known_motor
from isaacsim.core.experimental.actuators.native import core
from isaacsim.core.experimental.actuators.toolbox.identification.choice import Choice
from isaacsim.core.experimental.actuators.toolbox.identification.decoupling import Links
from isaacsim.core.experimental.actuators.toolbox.identification.joints import BIASES, GAINS_TOO, Joints
from isaacsim.core.experimental.actuators.toolbox.identification.log import MotorLog
from isaacsim.core.experimental.actuators.toolbox.identification.options import FitOptions

pytest.importorskip("scipy")
pytestmark = pytest.mark.skipif(core is None, reason="the native core is not built")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bias", "kp", "wanted"),
    [
        pytest.param(0.0, 40.0, (), id="all right"),
        pytest.param(0.0, 25.0, (GAINS_TOO,), id="wrong gains"),
        pytest.param(0.1, 40.0, (BIASES,), id="bias"),
        pytest.param(0.1, 25.0, (BIASES, GAINS_TOO), id="both"),
    ],
)
def test_what_is_wrong_is_fitted(bias: float, kp: float, wanted: tuple[str, ...]) -> None:
    """Of hobby servos, whose logs are coarse: 50 samples per second, in ticks."""
    logs = [servo_log(bias, kp, seed) for seed in (0, 1)]
    links = Links(PENDULUM, ["hinge"])
    try:
        motors = {"hinge": replace(known_motor(), armature=0.03)}
        joints = Joints(motors, FitOptions(), links.armatures, logs, lambda _words, _share: None)
        found = Choice(joints, links, logs[:1], logs[1:]).made()
    finally:
        links.close()
    assert tuple(sorted(found.joints.groups)) == wanted
    values = found.fits[0].values
    assert values["coulomb"] == pytest.approx(0.4, rel=0.15)
    if BIASES in wanted:
        assert values["encoder_bias"] == pytest.approx(bias, rel=0.15)
    if GAINS_TOO in wanted:
        assert values["kp"] == pytest.approx(kp, rel=0.05)
    said = [one for one in found.joints.warnings(found.fits) if "gains that were given do not fit" in one]
    assert bool(said) is (GAINS_TOO in wanted)


def servo_log(bias: float, kp: float, seed: int) -> MotorLog:
    """Return a log of moves between places, with rests, of a pendulum."""
    generator, tick = np.random.default_rng(seed), 2 * np.pi / 4096
    places = generator.uniform(-1.2, 1.2, 12)
    share = np.clip(np.arange(60) / 40, 0.0, 1.0)
    rise = share**3 * (10 - 15 * share + 6 * share**2)
    command = np.concatenate([a + (b - a) * rise for a, b in zip(np.r_[0.0, places[:-1]], places, strict=True)])
    command = np.round(command / tick)[:, None] * tick
    true = hidden_motor(bias=bias, kp=kp, delay=0.015)
    log = hidden_log(PENDULUM, {"hinge": true}, ["hinge"], dt=0.02, noise=0.0, seed=seed, command=command)
    position = np.round(log.position / tick) * tick
    return MotorLog(log.time, log.joints, {"command": log.command, "position": position}, log.source)
