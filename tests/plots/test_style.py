"""The style of plots: labels that are apart, and pictures that are saved."""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from isaacsim.core.experimental.actuators.plots import style


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=12).map(sorted))
def test_labels_are_apart_and_inside(places: list[float]) -> None:
    """In the order of their curves; those that have room stay where they are."""
    moved = style.spread(places, 0.08)
    assert (np.diff(moved) >= 0.08 - 1e-9).all() and moved[0] >= -1e-9 and moved[-1] <= 1 + 1e-9
    if all(after - before >= 0.08 for before, after in pairwise(places)):
        np.testing.assert_allclose(moved, places, atol=1e-9)


def test_close_labels_share_the_room_around_their_mean() -> None:
    """And no other moves."""
    np.testing.assert_allclose(style.spread([0.1, 0.5, 0.5, 0.9], 0.1), [0.1, 0.45, 0.55, 0.9])


def test_curves_are_named_where_they_end(tmp_path: Path) -> None:
    """In their colours; on a scale of logarithms too; one without numbers is left out."""
    drawn = style.figure(4, 3)
    panel: Any = drawn.subplots()
    style.dress([panel])
    panel.set_yscale("log")
    panel.set_ylim(1.0, 100.0)
    curves = {"low": [5.0, 1.0], "middle": [1.0, 10.0], "none": [np.nan, np.nan]}
    style.label_ends(panel, [(np.array(values), name, style.RED) for name, values in curves.items()])
    assert {text.get_text(): round(text.xy[1], 6) for text in panel.texts} == {"low": 0.0, "middle": 0.5}
    assert style.save(drawn, tmp_path / "out.svg") is drawn and (tmp_path / "out.svg").exists()


def test_missing_matplotlib_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """With what to install."""
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ModuleNotFoundError, match=r"A plot needs matplotlib.*pip install"):
        style.figure(1, 1)
