from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hidden_motors import hidden_log, hidden_motor, known_motor
from isaacsim.core.experimental.actuators.base.native import core
from isaacsim.core.experimental.actuators.tools.identification.choice import Choice
from isaacsim.core.experimental.actuators.tools.identification.decoupling import Links
from isaacsim.core.experimental.actuators.tools.identification.joints import BIASES, GAINS_TOO, Joints
from isaacsim.core.experimental.actuators.tools.identification.log import MotorLog
from isaacsim.core.experimental.actuators.tools.identification.options import FitOptions
from refusals import cases

pytest.importorskip("scipy")
pytestmark = pytest.mark.skipif(core is None, reason="the native core is not built")
NAMES = ["upper", "lower"]
ARM = """<mujoco model="arm"><worldbody><body name="base"><geom size="0.01" contype="0" conaffinity="0"/>
<body name="one"><joint name="upper" axis="0 1 0"/><inertial pos="0 0 -0.1" mass="0.4" diaginertia="1e-3 1e-3 1e-3"/>
<body name="two" pos="0 0 -0.2"><joint name="lower" axis="0 1 0"/>
<inertial pos="0 0 -0.1" mass="0.3" diaginertia="1e-3 1e-3 1e-3"/></body></body></body></worldbody></mujoco>"""


@pytest.mark.slow
@cases(
    "bias, kp, wanted",
    pytest.param(0.0, 18.0, (), id="all right"),
    pytest.param(0.0, 9.0, (GAINS_TOO,), id="wrong gains"),
    pytest.param(0.0, 36.0, (GAINS_TOO,), id="larger gains"),
    pytest.param(0.1, 18.0, (BIASES,), id="bias"),
    pytest.param(0.1, 9.0, (BIASES, GAINS_TOO), id="both"),
)
def test_what_is_wrong_is_fitted(tmp_path, bias, kp, wanted) -> None:
    """Of hobby servos, whose logs are coarse: 50 samples per second, in ticks."""
    arm = tmp_path / "arm.xml"
    arm.write_text(ARM)
    logs = [servo_log(arm, bias, kp, seed) for seed in (0, 1)]
    links = Links(arm, NAMES)
    try:
        motors = {name: replace(known_motor(kp=18.0, kd=0.6), armature=0.03) for name in NAMES}
        joints = Joints(motors, FitOptions(), links.armatures, logs, lambda _words, _share: None)
        found = Choice(joints, links, logs, np.full(2, 4e-4)).made()
    finally:
        links.close()
    assert tuple(sorted(found.joints.groups)) == wanted
    for fit in found.fits:
        assert fit.values["coulomb"] == pytest.approx(0.1, rel=0.15)
        assert fit.values["encoder_bias"] == pytest.approx(bias, rel=0.2)
        if GAINS_TOO in wanted:
            assert fit.values["kp"] == pytest.approx(kp, rel=0.06)
    said = [one for one in found.joints.warnings(found.fits) if "known gains do not fit" in one]
    assert bool(said) is (GAINS_TOO in wanted)


def servo_log(arm: Path, bias: float, kp: float, seed: int) -> MotorLog:
    generator, tick = np.random.default_rng(seed), 2 * np.pi / 4096
    places = generator.uniform(-1.2, 1.2, (12, 2))
    share = np.clip(np.arange(60)[:, None] / 40, 0.0, 1.0)
    rise = share**3 * (10 - 15 * share + 6 * share**2)
    before = np.concatenate([np.zeros((1, 2)), places[:-1]])
    command = np.concatenate([a + (b - a) * rise for a, b in zip(before, places, strict=True)])
    command = np.round(command / tick) * tick
    hidden = hidden_motor(bias=bias, kp=kp, kd=0.6, viscous=0.1, coulomb=0.1, delay=0.015)
    log = hidden_log(str(arm), dict.fromkeys(NAMES, hidden), NAMES, dt=0.02, noise=0.0, seed=seed, command=command)
    position = np.round(log.position / tick) * tick
    return MotorLog(log.time, log.joints, {"command": log.command, "position": position}, log.source)
