import numpy as np
import pytest
from isaacsim.core.experimental.actuators.tools.plots.excitation import Prediction, draw_prediction

pytest.importorskip("matplotlib")


def test_limits_that_are_near_are_drawn() -> None:
    time = np.arange(100) * 0.01
    command = np.sin(2 * np.pi * time)[:, None] * [1.0, 1.0]
    limits = np.array([[-1.2, -np.inf], [8.0, np.inf]])
    shares = np.abs(command) * 0.5
    drawn = draw_prediction(
        Prediction(
            *("arm", ["hip", "knee"], time, command, 0.9 * command, shares, shares, limits, {0.2: "chirp"}, 0.9),
            turns=[True, False],
        )
    )
    hip, knee, speed, effort = drawn.axes
    assert [hip.get_ylabel(), knee.get_ylabel()] == ["position [rad]", "position [m]"]
    # command, position, and the lower limit, and the begin of the part
    assert len(hip.lines) == 4 and len(knee.lines) == 3
    assert [text.get_text() for text in hip.texts if text.get_text() == "chirp"] == ["chirp"]
    for panel in (speed, effort):
        assert [text.get_text() for text in panel.get_legend().get_texts()] == ["used at most, 90%"]
        assert panel.get_ylim() == (0.0, 105.0)
        assert max(line.get_ydata().max() for line in panel.lines[1:3]) == pytest.approx(50.0)
