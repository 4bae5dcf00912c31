"""Measured against simulated positions: curves and errors of each joint."""

import numpy as np
from isaacsim.core.experimental.actuators.tools.plots.identified import (
    Comparison,
    TwoMotions,
    draw_comparison,
    draw_two_motions,
)
from refusals import cases


def test_each_joint_has_positions_and_errors() -> None:
    time = np.linspace(0.0, 1.0, 50)
    measured = np.stack([np.sin(time), np.cos(time)], axis=1)
    simulated, kinds = measured + [0.002, -0.03], [True, False]
    panels = draw_comparison(Comparison("robot", ["hip", "slide"], time, measured, measured, simulated, kinds)).axes
    titles = [panel.get_title(loc="left") for panel in panels]
    assert titles[::2] == ["hip: mean absolute error 2 mrad", "slide: mean absolute error 30 mm"]
    named = ["position [rad]", "error\n[mrad]", "position [m]", "error\n[mm]"]
    assert [panel.get_ylabel() for panel in panels] == named
    assert {text.get_text() for text in panels[0].texts} == {"target", "measured", "simulated"}
    np.testing.assert_array_equal(panels[2].lines[1].get_ydata(), measured[:, 1])
    np.testing.assert_allclose(panels[3].lines[1].get_ydata(), -30.0)


@cases("parted", None, 0.25)
def test_each_joint_has_positions_and_differences(parted: float | None) -> None:
    """Differences are in thousandths; a line stands where the motions part."""
    time = np.linspace(0.0, 1.0, 50)
    first = np.stack([np.sin(time), np.cos(time)], axis=1)
    errors = np.full_like(first, 0.002)
    motions = first, first, first + errors, errors, 0 * errors
    found = TwoMotions("title", ("here", "there"), ["hip", "slide"], time, *motions, parted)
    panels = draw_two_motions(found).axes
    assert [panel.get_title(loc="left") for panel in panels] == ["hip", "", "slide", ""]
    assert {text.get_text() for text in panels[0].texts} == {"target", "here", "there"}
    np.testing.assert_allclose(panels[1].lines[0].get_ydata(), 2.0)
    np.testing.assert_allclose(panels[3].lines[1].get_ydata(), 0.0)
    assert len(panels[0].lines) == (3 if parted is None else 4)


@cases("turns, units", ([True, False], [("rad", "mrad"), ("m", "mm")]), (None, [("rad or m", "mrad or mm")] * 2))
def test_panels_have_the_unit_of_their_joint(turns: list[bool | None] | None, units: list[tuple[str, str]]) -> None:
    time, motion = np.linspace(0.0, 1.0, 5), np.zeros((5, 2))
    found = TwoMotions("title", ("a", "b"), ["hip", "slide"], time, *[motion] * 5, None, turns)
    panels = draw_two_motions(found).axes
    assert [(one.get_ylabel(), other.get_ylabel()) for one, other in zip(panels[::2], panels[1::2], strict=True)] == [
        (f"position [{unit}]", f"difference\n[{milli}]") for unit, milli in units
    ]


def test_labels_of_a_low_panel_are_apart() -> None:
    time, motion = np.linspace(0.0, 1.0, 5), np.zeros((5, 1))
    _, below = draw_two_motions(TwoMotions("title", ("a", "b"), ["hip"], time, *[motion] * 5, None)).axes
    low, high = sorted(text.xy[1] for text in below.texts)
    assert high - low >= 0.149
