"""Vibrations that a trial reports: those of a joint itself, large enough to be felt."""

from types import SimpleNamespace

import numpy as np
from isaacsim.core.experimental.actuators.tools.trials.trial import _buzzing
from refusals import cases

DT = 0.005
TIME = np.arange(0.0, 4.0, DT)
ROBOTS = SimpleNamespace(paths=["/R"], dof_names=["hip", "knee", "ankle"])


@cases(
    "amplitudes, reported",
    ((0.01, 0.0, 0.0), ["hip"]),
    # too little to be felt
    ((5e-5, 0.0, 0.0), []),
    # the hip shakes the others
    ((0.01, 5e-4, 5e-4), ["hip"]),
    ((0.01, 5e-3, 0.0), ["hip", "knee"]),
)
def test_what_is_reported(amplitudes, reported) -> None:
    positions = (np.sin(2 * np.pi * 30.0 * TIME)[:, None] * amplitudes)[:, None]
    found = _buzzing(ROBOTS, np.ones((1, 3), bool), positions, np.zeros_like(positions), DT)
    assert [joint for _, joint in found] == reported


def test_a_joint_with_a_tone_of_its_own_is_reported_beside_a_louder_one() -> None:
    tones = np.stack([0.01 * np.sin(2 * np.pi * 30.0 * TIME), 5e-4 * np.sin(2 * np.pi * 70.0 * TIME), 0 * TIME], 1)
    found = _buzzing(ROBOTS, np.ones((1, 3), bool), tones[:, None], np.zeros((len(TIME), 1, 3)), DT)
    assert [joint for _, joint in found] == ["hip", "knee"]
    # as a target asks for it
    assert not _buzzing(ROBOTS, np.ones((1, 3), bool), tones[:, None], tones[:, None], DT)
