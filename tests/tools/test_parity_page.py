"""The tables of the page on parity are those of the command, and need all peers."""

import datetime
from pathlib import Path

import parity_page
import pytest
from isaacsim.core.experimental.actuators.tools.commands.answer import Answer, Table

LAWS = Table(
    "laws", {"peer": "peer", "difference": "difference [N·m]"}, [{}], shown=[{"peer": "a|b", "difference": 1.23456e-6}]
)
MISSING = Table(
    "missing", {"peer": "peer"}, [{"peer": "mjlab", "reason": "not installed", "install": "pip install it"}]
)
TEXT = "before\n<!-- generated: output -->\nold\n<!-- end of generated -->\nafter\n"


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "Parity.md"
    path.write_text(TEXT, encoding="utf-8")
    monkeypatch.setattr(parity_page, "PAGE", path)
    return path


@pytest.mark.usefixtures("file")
def test_tables_and_notes_replace_the_old_ones() -> None:
    answer = Answer([LAWS, Table("left_out", {"law": "law"}, [])], ["[1] a line"])
    lines = parity_page.page(answer, datetime.date(2026, 1, 31)).splitlines()
    assert lines[:2] == TEXT.splitlines()[:2] and lines[-2:] == TEXT.splitlines()[-2:]
    assert lines[2].endswith(", 2026-01-31.")
    assert lines[4:7] == ["| peer | difference [N·m] |", "|---|---|", "| a\\|b | 1.235e-06 |"]
    assert lines[8:-2] == ["- [1] a line"]


def test_nothing_is_written_without_all_peers(file, monkeypatch, capsys) -> None:
    monkeypatch.setattr(parity_page, "answer", lambda **_: Answer([LAWS, MISSING]))
    assert parity_page.main() == 1 and "mjlab: not installed. Run `pip install it`." in capsys.readouterr().out
    assert file.read_text("utf-8") == TEXT


@pytest.mark.parametrize("wrong", [False, True])
def test_a_difference_without_a_line_is_written_and_told(wrong, file, monkeypatch) -> None:
    monkeypatch.setattr(parity_page, "answer", lambda **_: Answer([LAWS], is_wrong=wrong))
    assert parity_page.main() == int(wrong) and "1.235e-06" in file.read_text("utf-8")
