"""Measured against simulated positions: curves and errors of each joint."""

import numpy as np
from isaacsim.core.experimental.actuators.tools.plots.identified import Comparison, draw_comparison


def test_each_joint_has_positions_and_errors() -> None:
    """The error is in thousandths, and its mean is in the title of the joint."""
    time = np.linspace(0.0, 1.0, 50)
    measured = np.stack([np.sin(time), np.cos(time)], axis=1)
    simulated, kinds = measured + [0.002, -0.03], [True, False]
    drawn = draw_comparison(Comparison("robot", ["hip", "slide"], time, measured, measured, simulated, kinds))
    panels = drawn.axes
    titles = [panel.get_title(loc="left") for panel in panels]
    assert titles[::2] == ["hip: mean absolute error 2 mrad", "slide: mean absolute error 30 mm"]
    named = ["position [rad]", "error\n[mrad]", "position [m]", "error\n[mm]"]
    assert [panel.get_ylabel() for panel in panels] == named
    assert {text.get_text() for text in panels[0].texts} == {"target", "measured", "simulated"}
    np.testing.assert_array_equal(panels[2].lines[1].get_ydata(), measured[:, 1])
    np.testing.assert_allclose(panels[3].lines[1].get_ydata(), -30.0)
