"""Style of plots: labels without overlap, and saved pictures."""

import sys
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from isaacsim.core.experimental.actuators.tools.plots import style


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=12).map(sorted))
def test_labels_are_apart_and_inside(places) -> None:
    moved = style.separate(places, 0.08)
    assert (np.diff(moved) >= 0.08 - 1e-9).all() and moved[0] >= -1e-9 and moved[-1] <= 1 + 1e-9
    if all(after - before >= 0.08 for before, after in pairwise(places)):
        np.testing.assert_allclose(moved, places, atol=1e-9)


def test_close_labels_share_the_room_around_their_mean() -> None:
    np.testing.assert_allclose(style.separate([0.1, 0.5, 0.5, 0.9], 0.1), [0.1, 0.45, 0.55, 0.9])


def test_curves_are_named_where_they_end(tmp_path) -> None:
    drawn = style.figure(4, 3)
    panel = drawn.subplots()
    style.dress([panel])
    panel.set_yscale("log")
    panel.set_ylim(1.0, 100.0)
    curves = {"low": [5.0, 1.0], "middle": [1.0, 10.0], "none": [np.nan, np.nan]}
    style.label_ends(panel, [(np.array(values), name, style.RED) for name, values in curves.items()])
    assert {text.get_text(): round(text.xy[1], 6) for text in panel.texts} == {"low": 0.0, "middle": 0.5}
    assert style.save(drawn, tmp_path / "out.svg") is drawn and (tmp_path / "out.svg").exists()


def test_many_curves_differ() -> None:
    panel = style.figure(4, 3).subplots()
    style.lines(panel, np.arange(2), np.random.default_rng(0).random((2, 28)))
    assert len({(line.get_color(), str(line._dash_pattern)) for line in panel.lines}) == 28
    style.lines(panel, np.arange(2), np.zeros((2, 9)), colors=[style.GREY])
    assert {line.get_linestyle() for line in panel.lines[28:]} == {"-"}


def test_curves_that_end_alike_are_named_in_their_order() -> None:
    _, (panel,) = style.panels(4, 3)
    panel.set_ylim(0.0, 1.0)
    found = panel
    style.lines(panel, [0.0, 1.0], np.array([[1.0, 0.0], [0.5, 0.5001]]), ["first", "second"])
    places = {text.get_text(): text.xy[1] for text in found.texts}
    assert places["first"] - places["second"] == pytest.approx(0.075)
    assert [line.get_color() for line in found.lines] == [style.COLORS[0], style.COLORS[1]]


@given(st.lists(st.floats(-3.0, 3.0), min_size=1, max_size=9, unique_by=lambda end: round(end, 2)))
@pytest.mark.slow
def test_labels_have_the_order_of_their_curves(ends) -> None:
    _, (panel,) = style.panels(4, 3)
    panel.set_ylim(0.0, 1.0)
    found = panel
    style.label_ends(panel, [(np.array([0.0, end]), str(number), style.RED) for number, end in enumerate(ends)])
    named = {int(text.get_text()): text.xy[1] for text in found.texts}
    # closer than a line is wide they are equal
    for lower, upper in pairwise(sorted(range(len(ends)), key=lambda number: ends[number])):
        assert named[lower] < named[upper] or ends[upper] - ends[lower] <= 0.004


def test_key_explains_lines_and_areas_above_the_panel() -> None:
    drawn, (panel,) = style.panels(4, 3)
    style.key(panel, {})
    assert panel.get_legend() is None
    style.key(panel, {"target": {"linestyle": "--"}}, {"sticks": style.RED})
    legend = panel.get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["target", "sticks"]
    drawn.draw_without_rendering()
    assert legend.get_window_extent().y0 >= panel.get_window_extent().y1


def test_a_mark_is_a_dashed_line_with_its_words() -> None:
    _, (panel, other) = style.panels(6, 4, "panels", rows=2)
    style.mark(panel, "target", y=0.5)
    style.mark(other, x=0.2)
    assert [line.get_linestyle() for one in (panel, other) for line in one.lines] == ["--", "--"]
    assert list(panel.lines[0].get_ydata()) == [0.5, 0.5] and list(other.lines[0].get_xdata()) == [0.2, 0.2]
    legend = panel.get_legend()
    assert legend is not None and [text.get_text() for text in legend.get_texts()] == ["target"]
    assert other.get_legend() is None


def test_panels_share_axes_and_have_a_headline() -> None:
    drawn, (upper, lower) = style.panels(4, 3, "What it shows", rows=2, heights=[2, 1])
    found = drawn
    upper.set_xlim(0.0, 7.0)
    upper.set_ylim(0.0, 7.0)
    assert lower.get_xlim() == (0.0, 7.0) != lower.get_ylim() and found.get_suptitle() == "What it shows"
    _, (left, right) = style.panels(4, 3, columns=2)
    left.set_ylim(0.0, 7.0)
    assert right.get_ylim() == (0.0, 7.0)


def test_what_is_shown_ends_when_all_curves_rest() -> None:
    time = np.arange(0.0, 10.0, 0.01)
    quick, slow = np.exp(-4.0 * time), np.exp(-2.0 * time)
    rests = np.log(50.0) / 2.0
    assert time[style.until_rest(time, np.stack([quick, slow], axis=1))][-1] == pytest.approx(1.6 * rests, abs=0.05)
    assert style.until_rest(time, np.stack([quick, np.sin(9.0 * time)], axis=1)) == slice(0, len(time))


def test_bands_hold_their_share_of_the_samples() -> None:
    _, (panel,) = style.panels(4, 3)
    found = panel
    style.bands(panel, [0.0, 1.0], np.tile(np.arange(101.0), (2, 1)), "robots", (50, 100))
    reached = [band.get_paths()[0].get_extents().intervaly.tolist() for band in found.collections]
    assert reached == [[25.0, 75.0], [0.0, 100.0]] and found.lines[0].get_ydata().tolist() == [50.0, 50.0]
    assert [text.get_text() for text in found.texts] == ["median", "50 % of robots", "all robots"]


def test_shades_are_of_one_family() -> None:
    lightness = [sum(int(color[at : at + 2], 16) for at in (1, 3, 5)) for color in style.shades(5)]
    assert lightness == sorted(lightness) and lightness[-1] < 600


def test_missing_matplotlib_is_said(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ModuleNotFoundError, match=r"A plot needs matplotlib.*pip install"):
        style.figure(1, 1)
