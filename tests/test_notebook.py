"""The notebook runs, and shows what is stored in it."""

import json
import re
from itertools import chain

import notebook
import pytest
from places import REPOSITORY


def test_notebook_shows_what_it_stores(monkeypatch) -> None:
    monkeypatch.chdir(REPOSITORY)
    content = json.loads(notebook.NOTEBOOK.read_text("utf-8"))
    stored = [cell["outputs"] for cell in content["cells"] if cell["cell_type"] == "code"]
    found = notebook.shown(content)
    kinds = [[(one["output_type"], *one.get("data", ())) for one in outputs] for outputs in stored]
    assert kinds == [[(one["output_type"], *one.get("data", ())) for one in outputs] for outputs in found]
    assert [("display_data", "image/png", "text/plain")] in kinds
    for before, now in zip(chain(*stored), chain(*found), strict=True):
        words, same = ("".join(one.get("text", [])).split() for one in (before, now))
        assert len(words) == len(same)
        for word, other in zip(words, same, strict=True):
            number = re.fullmatch(r"-?[\d.]+%?", word)
            expected = pytest.approx(float(word.rstrip("%")), rel=0.02) if number else word
            assert (float(other.rstrip("%")) if number else other) == expected
