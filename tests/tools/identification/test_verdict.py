from dataclasses import replace

import numpy as np
import pytest
from isaacsim.core.experimental.actuators.tools.identification.checks import noise_of
from isaacsim.core.experimental.actuators.tools.identification.identified import Estimate, Replay
from isaacsim.core.experimental.actuators.tools.identification.log import MotorLog
from isaacsim.core.experimental.actuators.tools.identification.verdict import EXPLAINED, NOT, PARTLY, verdicts
from made_up_identified import made_up

TIME = np.arange(2000) * 0.005


def log_of(noise: float, tick: float = 0.0) -> MotorLog:
    command = np.where(TIME % 2.0 < 1.0, 0.0, np.sin(np.pi * TIME) ** 2)[:, None]
    position = command + noise * np.random.default_rng(0).normal(size=command.shape)
    if tick:
        position = np.round(position / tick) * tick
    return MotorLog(TIME, ["hinge"], {"command": command, "position": position})


@pytest.mark.parametrize(("noise", "tick", "wanted"), [(2e-3, 0.0, 2e-3), (0.0, 6e-3, 1.73e-3), (0.0, 0.0, 5e-5)])
def test_noise_is_that_of_rests_or_ticks(noise, tick, wanted) -> None:
    assert noise_of(log_of(noise, tick), 0) == pytest.approx(wanted, rel=0.1)


@pytest.mark.parametrize(("error", "word"), [(2.9e-3, EXPLAINED), (3.1e-3, PARTLY), (19e-3, PARTLY), (21e-3, NOT)])
def test_errors_are_measured_by_noise(error, word) -> None:
    log = log_of(1e-3)
    replays = [Replay(log, log.position + off, held_out) for off, held_out in ((1.0, False), (error, True))]
    (one,) = verdicts(replace(made_up(), replays=replays, noise=(1e-3,), errors_before=(0.1,)))
    assert one.word == word and one.error == pytest.approx(error)
    assert one.before == 0.1 and one.changed == "coulomb 0.25 ± 0.05, armature 0.062"


def test_a_joint_at_rest_has_no_verdict() -> None:
    still = np.zeros((2000, 1))
    log = MotorLog(TIME, ["hinge"], {"command": still, "position": still})
    (one,) = verdicts(replace(made_up(), replays=[Replay(log, still + 1.0, True)], noise=(1e-3,)))
    assert one.word == "" and np.isnan(one.error)


def test_gains_come_first_and_what_stayed_none_is_left_out() -> None:
    log = log_of(1e-3)
    estimates = [
        Estimate("hinge", name, value, "", 0.1, (0.0, 100.0), start)
        for name, value, start in (("delay", 1e-9, 0.0), ("coulomb", 1e-9, 0.1), ("kp", 13.3, 17.8))
    ]
    replays = [Replay(log, log.position, False)]
    (one,) = verdicts(replace(made_up(), replays=replays, noise=(1e-3,), estimates=estimates))
    assert one.changed == "kp 17.8→13.3, coulomb 0"
